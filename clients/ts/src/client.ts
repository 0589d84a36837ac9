// A client of the module: it schedules, lists, asks for prices, and follows what becomes of timers.
import { DeliverTxResponse, QueryClient, SigningStargateClient, StdFee, createProtobufRpcClient } from "@cosmjs/stargate";
import { EncodeObject } from "@cosmjs/proto-signing";
import { Comet38Client } from "@cosmjs/tendermint-rpc";
import { Any } from "./gen/google/protobuf/any.js";
import { Bid, OnUnfunded, Retry, Trigger, WatchKey } from "./gen/timers/v1/core.js";
import { QueryClientImpl, QueryEstimateRequest, QueryEstimateResponse, TimerInfo } from "./gen/timers/v1/query.js";
import { MsgScheduleTimer, MsgScheduleTimerResponse } from "./gen/timers/v1/tx.js";

/** Job is what a timer does, and when. */
export interface Job {
  /** Messages that the chain runs as the owner. */
  messages: EncodeObject[];
  /** trigger says when: at a height, after so many blocks, every so many blocks, or when watched state changes. */
  trigger: Partial<Trigger>;
  label?: string;
  gasLimit?: bigint;
  cellLimit?: bigint;
  expiresAt?: bigint;
  bid?: Partial<Bid>;
  retry?: Retry;
  onUnfunded?: OnUnfunded;
  maxCharge?: string;
  feePayer?: string;
}

/** Happening is an event of a timer: its type, such as "TimerFired", and its attributes as the chain's JSON states them. */
export interface Happening {
  type: string;
  height: number;
  id: string;
  actor: string;
  attributes: Record<string, any>;
}

/** TimersClient reads the timers of a chain, and changes those of the signer's accounts if it has a signer. */
export class TimersClient {
  readonly query: QueryClientImpl;

  private constructor(readonly comet: Comet38Client, private readonly signing?: SigningStargateClient) {
    this.query = new QueryClientImpl(createProtobufRpcClient(QueryClient.withExtensions(comet)));
  }

  /**
   * connect reads from a node's RPC endpoint. The signing client, made with timersRegistry and timersAminoTypes, is needed
   * to change anything.
   */
  static async connect(endpoint: string, signing?: SigningStargateClient): Promise<TimersClient> {
    return new TimersClient(await Comet38Client.connect(endpoint), signing);
  }

  disconnect(): void {
    this.comet.disconnect();
  }

  /** schedule makes a timer of the sender, and returns its id. It throws with the chain's reason if that refuses. */
  async schedule(sender: string, job: Job, fee: StdFee | "auto" = "auto"): Promise<string> {
    const { messages, trigger, bid, ...rest } = job;
    const registry = this.signer().registry;
    const value = MsgScheduleTimer.fromPartial({
      sender, ...rest, trigger: Trigger.fromPartial(trigger), bid: bid && Bid.fromPartial(bid),
      messages: messages.map((message) => Any.fromPartial(registry.encodeAsAny(message))),
    });
    const result = await this.send(sender, [{ typeUrl: "/timers.v1.MsgScheduleTimer", value }], fee);
    return MsgScheduleTimerResponse.decode(result.msgResponses[0].value).id;
  }

  /** cancel removes timers of the sender, in one transaction. */
  async cancel(sender: string, ids: string[], fee: StdFee | "auto" = "auto"): Promise<void> {
    await this.send(sender, ids.map((id) => ({ typeUrl: "/timers.v1.MsgCancelTimer", value: { sender, id } })), fee);
  }

  /** unwatch cancels the timers of the sender that watch a key, and returns their ids. */
  async unwatch(sender: string, key: WatchKey, fee: StdFee | "auto" = "auto"): Promise<string[]> {
    const same = (a: WatchKey): boolean =>
      a.store === key.store && a.prefix.length === key.prefix.length && a.prefix.every((byte, i) => byte === key.prefix[i]);
    const ids = (await this.list(sender)).filter((t) => t.trigger?.watch?.keys.some(same)).map((t) => t.id);
    if (ids.length > 0) await this.cancel(sender, ids, fee);
    return ids;
  }

  /** list reads the timers of an actor, all pages, in the order in which they were scheduled. */
  async list(actor: string): Promise<TimerInfo[]> {
    const all: TimerInfo[] = [];
    for (let key = new Uint8Array(); ; ) {
      const page = await this.query.TimersByActor({
        actor, pagination: { key, offset: 0n, limit: 100n, countTotal: false, reverse: false },
      });
      all.push(...page.timers);
      key = new Uint8Array(page.pagination?.nextKey ?? []);
      if (key.length === 0) return all;
    }
  }

  /** estimate asks what a fire would cost, and how long it would wait. */
  estimate(request: Partial<QueryEstimateRequest> = {}): Promise<QueryEstimateResponse> {
    return this.query.Estimate(QueryEstimateRequest.fromPartial(request));
  }

  /** watchKey reads the friendly form of a key, such as "bank:balance:ADDRESS:DENOM". */
  async watchKey(text: string): Promise<WatchKey> {
    const { key } = await this.query.WatchKey({ text });
    return key!;
  }

  /**
   * blocks converts minutes to blocks, at least one, by the median time of the last blocks. Block times vary, so that a timer
   * of that many blocks fires about then.
   */
  async blocks(minutes: number): Promise<bigint> {
    const { syncInfo } = await this.comet.status();
    const last = syncInfo.latestBlockHeight;
    const { blockMetas } = await this.comet.blockchain(Math.max(1, last - 19), last);
    const times = blockMetas.map((meta) => meta.header.time.getTime()).sort((a, b) => a - b);
    const gaps = times.slice(1).map((time, i) => time - times[i]).sort((a, b) => a - b);
    if (gaps.length === 0) throw new Error("the chain has too few blocks to tell how long one takes");
    const median = Math.max(1, gaps[Math.floor(gaps.length / 2)]);
    return BigInt(Math.max(1, Math.round((minutes * 60_000) / median)));
  }

  /**
   * follow yields what becomes of an actor's timers, block by block from a height on (the next one unless stated), until the
   * signal aborts. No event is left out or given twice: blocks are read one after the other, also those made while the
   * program was elsewhere, as far back as the node keeps them. A subscription at a node matches across the events of a
   * block, so that what it tells has to be filtered again; here each event is filtered by its own actor.
   */
  async *follow(actor: string, options: { from?: number; signal?: AbortSignal; pollMs?: number } = {}): AsyncGenerator<Happening> {
    let height = options.from ?? (await this.comet.status()).syncInfo.latestBlockHeight + 1;
    const pause = () => new Promise((resolve) => setTimeout(resolve, options.pollMs ?? 500));
    while (!options.signal?.aborted) {
      const latest = (await this.comet.status()).syncInfo.latestBlockHeight;
      if (height > latest) {
        await pause();
        continue;
      }
      let block;
      try {
        block = await this.comet.blockResults(height);
      } catch (error) {
        if (height < latest) throw error; // pruned, or the connection
        await pause(); // the newest block has no results until it is executed
        continue;
      }
      const events = [...block.results.flatMap((result) => result.events), ...block.finalizeBlockEvents];
      for (const happening of happenings(events, height)) {
        if (happening.actor === actor) yield happening;
      }
      height++;
    }
  }

  private signer(): SigningStargateClient {
    if (!this.signing) throw new Error("this client only reads: give connect a SigningStargateClient");
    return this.signing;
  }

  private async send(sender: string, messages: EncodeObject[], fee: StdFee | "auto"): Promise<DeliverTxResponse> {
    const gas = fee === "auto" ? await this.gasFactor(sender, messages) : fee;
    const result = await this.signer().signAndBroadcast(sender, messages, gas);
    if (result.code !== 0) throw refused(result.rawLog ?? `code ${result.code}`);
    return result;
  }

  /** gasFactor is by how much a transaction's gas is to exceed what CosmJS simulates, which leaves out paying the fee. */
  private async gasFactor(sender: string, messages: EncodeObject[]): Promise<number> {
    const paying = 25_000;
    try {
      return 1.2 + paying / (await this.signer().simulate(sender, messages, ""));
    } catch (error) {
      const text = String((error as Error).message);
      throw text.startsWith("Query failed") ? refused(text) : error;
    }
  }
}

/** refused is an error with the chain's reason, without the places in the node's sources that are in its logs. */
function refused(log: string): Error {
  const reason = log.replace(/^.*? desc = /, "").replace(/\s*\[[^\s\]]*\.go:\d+\]/g, "").replace(/ with gas (wanted|used): .*$/, "");
  return new Error(`the chain refused the transaction: ${reason}`);
}

/** happenings are the events of timers among those of a block. */
export function happenings(
  events: readonly { type: string; attributes: readonly { key: string; value: string }[] }[], height: number,
): Happening[] {
  return events.filter((event) => event.type.startsWith("timers.v1.Timer")).flatMap((event) => {
    const attributes: Record<string, any> = {};
    for (const { key, value } of event.attributes) {
      try {
        attributes[key] = JSON.parse(value);
      } catch {
        attributes[key] = value; // added by the node, and no JSON
      }
    }
    if (typeof attributes.id !== "string" || typeof attributes.actor !== "string") return [];
    return [{ type: event.type.slice("timers.v1.".length), height, id: attributes.id, actor: attributes.actor, attributes }];
  });
}
