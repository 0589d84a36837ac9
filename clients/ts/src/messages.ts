// The module's messages as CosmJS signs them: their types for a registry, and their form in amino JSON.
import {
  AminoConverter, AminoTypes, type AminoConverters, createDefaultAminoConverters, defaultRegistryTypes,
} from "@cosmjs/stargate";
import { GeneratedType, Registry } from "@cosmjs/proto-signing";
import { Any } from "./gen/google/protobuf/any.js";
import { Timestamp } from "./gen/google/protobuf/timestamp.js";
import { Params as AgentParams } from "./gen/timers/agent/v1/agent.js";
import { Params as AuctionParams } from "./gen/timers/auction/v1/auction.js";
import { Params as ScoreParams } from "./gen/timers/score/v1/score.js";
import { Params as TipParams } from "./gen/timers/tip/v1/tip.js";
import { TimerSpec } from "./gen/timers/v1/core.js";
import * as tx from "./gen/timers/v1/tx.js";

/** messageTypes are the messages of the module, for a Registry of CosmJS. */
export const messageTypes: ReadonlyArray<[string, GeneratedType]> = [
  ["/timers.v1.MsgScheduleTimer", tx.MsgScheduleTimer],
  ["/timers.v1.MsgUpdateTimer", tx.MsgUpdateTimer],
  ["/timers.v1.MsgExtendTimer", tx.MsgExtendTimer],
  ["/timers.v1.MsgPauseTimer", tx.MsgPauseTimer],
  ["/timers.v1.MsgResumeTimer", tx.MsgResumeTimer],
  ["/timers.v1.MsgCancelTimer", tx.MsgCancelTimer],
  ["/timers.v1.MsgSkipTimer", tx.MsgSkipTimer],
  ["/timers.v1.MsgRunTimer", tx.MsgRunTimer],
  ["/timers.v1.MsgSetAgent", tx.MsgSetAgent],
  ["/timers.v1.MsgSysCancelTimer", tx.MsgSysCancelTimer],
  ["/timers.v1.MsgSysExtendTimer", tx.MsgSysExtendTimer],
  ["/timers.v1.MsgSysReleaseTimer", tx.MsgSysReleaseTimer],
  ["/timers.v1.MsgUpdateTimerConfig", tx.MsgUpdateTimerConfig],
];

/**
 * policyTypes are the parameters of bidding agents and of the policies that come with the module: packed in policyParams of a TimerConfig. A chain
 * that has another policy adds the parameters of that to the registry.
 */
export const policyTypes: ReadonlyArray<[string, GeneratedType]> = [
  ["/timers.agent.v1.Params", AgentParams],
  ["/timers.auction.v1.Params", AuctionParams],
  ["/timers.score.v1.Params", ScoreParams],
  ["/timers.tip.v1.Params", TipParams],
];

/** timersRegistry is a Registry with the messages of CosmJS, those of the module, and more that the chain has. */
export function timersRegistry(more: Iterable<[string, GeneratedType]> = []): Registry {
  return new Registry([...defaultRegistryTypes, ...messageTypes, ...policyTypes, ...more]);
}

/**
 * timersAminoTypes are the amino forms of the messages of CosmJS, those of the module, and more that the chain
 * has: wallets that sign amino JSON, such as hardware wallets, need them. The messages within a timer are stated in their
 * own amino form, so that the wallet shows them. The registry must know their types.
 */
export function timersAminoTypes(registry: Registry = timersRegistry(), more: AminoConverters = {}): AminoTypes {
  const all: AminoConverters = { ...createDefaultAminoConverters(), ...more };
  const types = (): AminoTypes => new AminoTypes(all);
  Object.assign(all, {
    "/timers.v1.MsgScheduleTimer": converter(tx.MsgScheduleTimer, (m) => m.spec),
    "/timers.v1.MsgUpdateTimer": converter(tx.MsgUpdateTimer, (m) => m.spec),
    "/timers.v1.MsgExtendTimer": converter(tx.MsgExtendTimer),
    "/timers.v1.MsgPauseTimer": converter(tx.MsgPauseTimer),
    "/timers.v1.MsgResumeTimer": converter(tx.MsgResumeTimer),
    "/timers.v1.MsgCancelTimer": converter(tx.MsgCancelTimer),
    "/timers.v1.MsgSkipTimer": converter(tx.MsgSkipTimer),
    "/timers.v1.MsgRunTimer": converter(tx.MsgRunTimer),
    "/timers.v1.MsgSetAgent": converter(tx.MsgSetAgent),
    "/timers.v1.MsgSysCancelTimer": converter(tx.MsgSysCancelTimer),
    "/timers.v1.MsgSysExtendTimer": converter(tx.MsgSysExtendTimer),
    "/timers.v1.MsgSysReleaseTimer": converter(tx.MsgSysReleaseTimer),
    "/timers.v1.MsgUpdateTimerConfig": withPolicies(converter(tx.MsgUpdateTimerConfig)),
  });
  return types();

  /** The parameters of policies are stated under their type URL, with their values. */
  function withPolicies(config: AminoConverter): AminoConverter {
    const known = (url: string): tx.MessageFns<any> => {
      const type = registry.lookupType(url) as any;
      if (!type?.toJSON) throw new Error(`no generated type of ${url}: add it to the registry`);
      return type;
    };
    return {
      aminoType: config.aminoType,
      toAmino: (partial: tx.MsgUpdateTimerConfig) => {
        const message = tx.MsgUpdateTimerConfig.fromPartial(partial);
        const json = config.toAmino(message);
        const params = (message.config?.policyParams ?? []).map(({ typeUrl, value }) => {
          const type = known(typeUrl);
          return { type: typeUrl, value: type.toJSON(type.decode(value)) };
        });
        if (params.length > 0) json.config.policy_params = params;
        return json;
      },
      fromAmino: (json: any): tx.MsgUpdateTimerConfig => {
        const copy = structuredClone(json);
        const stated: any[] = copy.config?.policy_params ?? [];
        delete copy.config?.policy_params;
        const message: tx.MsgUpdateTimerConfig = config.fromAmino(copy);
        if (stated.length > 0) {
          message.config!.policyParams = stated.map(({ type: typeUrl, value }) => {
            const type = known(typeUrl);
            return Any.fromPartial({ typeUrl, value: type.encode(type.fromJSON(value)).finish() });
          });
        }
        return message;
      },
    };
  }

  /** The generated JSON has the names, numbers and omissions of amino JSON. Packed messages have not. */
  function converter<T>(
    type: tx.MessageFns<T>, specOf?: (message: T) => TimerSpec | undefined,
  ): AminoConverter {
    const packed = (json: any): any => json.spec?.call ?? {};
    return {
      aminoType: "timers/" + nameOf(type),
      toAmino: (partial: T) => {
        const message = type.fromPartial(partial as any);
        const json = type.toJSON(message) as any;
        if (specOf) json.spec = complete(json.spec ?? {}, specOf(message));
        const within = specOf?.(message)?.call?.messages ?? [];
        if (within.length > 0) {
          packed(json).messages = within.map((any) => types().toAmino({ typeUrl: any.typeUrl, value: registry.decode(any) }));
        }
        return json;
      },
      fromAmino: (json: any): T => {
        const copy = structuredClone(json);
        const within: any[] = packed(copy).messages ?? [];
        delete packed(copy).messages;
        const message = type.fromJSON(copy);
        if (within.length > 0) {
          specOf!(message)!.call!.messages = within.map((amino) => Any.fromPartial(registry.encodeAsAny(types().fromAmino(amino))));
        }
        return message;
      },
    };
  }
}

/** complete adds to a spec what the chain states always, and writes a time as it does. */
function complete(json: any, spec: TimerSpec | undefined): any {
  json.trigger ??= {};
  json.call ??= {};
  if (json.trigger.watch) json.trigger.watch.keys ??= [];
  if (spec?.trigger?.time) json.trigger.time = instant(spec.trigger.time);
  return json;
}

/** instant is a time as Go writes it: to the nanosecond, without zeros at the end. A Date knows milliseconds. */
function instant({ seconds, nanos }: Timestamp): string {
  const fraction = nanos === 0 ? "" : "." + String(nanos).padStart(9, "0").replace(/0+$/, "");
  return new Date(Number(seconds) * 1000).toISOString().replace(".000Z", fraction + "Z");
}

function nameOf(type: unknown): string {
  const [url] = messageTypes.find(([, known]) => known === type)!;
  return url.slice("/timers.v1.".length);
}
