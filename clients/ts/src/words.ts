// What a timer does, waits for and did, in the words of the chain's command line (x/timers/client/words). A test holds
// those of statuses and verdicts to it.
import { Registry } from "@cosmjs/proto-signing";
import { toHex } from "@cosmjs/encoding";
import { VoteOption } from "cosmjs-types/cosmos/gov/v1/gov";
import { MsgExecuteContract } from "cosmjs-types/cosmwasm/wasm/v1/tx";
import { Any } from "./gen/google/protobuf/any.js";
import { AccountPayload, ConditionOp, Outcome, HoldReason, TimerCall, TimerSpec, Verdict, WatchKey } from "./gen/timers/v1/core.js";
import { TimerInfo, TimerPhase, TimerStatus } from "./gen/timers/v1/query.js";
import { momentText } from "./span.js";
import { type Pace } from "./pace.js";
import { keepsZone, ruleWords } from "./rule.js";
import { calendarOf } from "./when.js";
import { machineZone, zoneOf } from "./zone.js";

/** clean makes text from a chain fit to show: each character that is no printable ASCII becomes a question mark. */
export function clean(text: string): string {
  return text.replace(/[^ -~]/gu, "?");
}

/** count is a number of things: "1 block", "1,234 blocks". */
export function count(n: bigint | number, thing: string): string {
  return `${n.toLocaleString("en-US")} ${thing}${BigInt(n) === 1n ? "" : "s"}`;
}

/** timeWords writes a second since 1970 in a zone (default: that of the machine): "Fri 2030-02-01 09:00:00 +01:00". */
export function timeWords(second: bigint | number, zone?: string): string {
  return momentText(Number(second), zone === undefined ? machineZone() : zoneOf(zone));
}

/** heightWords writes a height, and about when it comes or came, by the pace of the last blocks. */
export function heightWords(height: bigint | number, pace: Pace, zone?: string): string {
  const second = Math.round((pace.latest.getTime() + (Number(height) - pace.height) * pace.blockMs) / 1000);
  const about = second > 0 && second < 253_402_300_800 ? `, about ${timeWords(second, zone)}` : "";
  return `height ${height}${about}`;
}

/** shortType is the type of a message without its package: MsgSend. */
const shortType = (url: string): string => clean(url.slice(Math.max(url.lastIndexOf("."), url.lastIndexOf("/")) + 1));

const coins = (amount: readonly { amount: string; denom: string }[]): string =>
  amount.map((coin) => coin.amount + coin.denom).join(",");

/** messageWords says what a message does: "send 5utmr to timer1...". What it does not know it calls by its type. */
export function messageWords(message: Any, registry: Registry): string {
  const { typeUrl } = message;
  try {
    return clean(wordsOf(typeUrl, message, registry));
  } catch {
    return shortType(typeUrl); // no such type, or no such message
  }
}

function wordsOf(typeUrl: string, message: Any, registry: Registry): string {
  if (typeUrl === "/cosmwasm.wasm.v1.MsgExecuteContract") {
    const { contract, msg, funds } = MsgExecuteContract.decode(message.value);
    const text = `call ${contract} with ${new TextDecoder().decode(msg).slice(0, 120)}`;
    return funds.length > 0 ? `${text} and ${coins(funds)}` : text;
  }
  const m = registry.decode(message);
  switch (typeUrl) {
    case "/cosmos.bank.v1beta1.MsgSend":
      return `send ${coins(m.amount)} to ${m.toAddress}`;
    case "/cosmos.staking.v1beta1.MsgDelegate":
      return `delegate ${coins([m.amount])} to ${m.validatorAddress}`;
    case "/cosmos.staking.v1beta1.MsgUndelegate":
      return `undelegate ${coins([m.amount])} from ${m.validatorAddress}`;
    case "/cosmos.distribution.v1beta1.MsgWithdrawDelegatorReward":
      return `withdraw rewards from ${m.validatorAddress}`;
    case "/cosmos.gov.v1.MsgVote":
      return `vote ${VoteOption[m.option].replace("VOTE_OPTION_", "").toLowerCase()} on proposal ${m.proposalId}`;
    default:
      return shortType(typeUrl);
  }
}

/** messagesWords says what messages do, one after the other. */
export function messagesWords(messages: readonly Any[], registry: Registry): string {
  return messages.map((message) => messageWords(message, registry)).join(", then ");
}

/** doesWords says what a timer does. Lists leave out a long payload, of which only its length is known. */
export function doesWords(t: TimerInfo, registry: Registry): string {
  const call = TimerCall.fromPartial(t.spec?.call ?? {});
  if (call.messages.length > 0) return messagesWords(call.messages, registry);
  const [bytes, handler] = [t.status?.payloadBytes ?? 0n, clean(call.handler || defaultHandler)];
  if (BigInt(call.payload.length) < bytes) return `${handler}, ${count(bytes, "byte")}`;
  return messagesWords(payloadOf(call), registry) || handler;
}

/** defaultHandler is what a timer calls that names none. */
const defaultHandler = "handle_timer";

/** payloadOf are the messages of an account's timer; none if its payload is something else. */
function payloadOf({ handler, payload }: TimerCall): Any[] {
  try {
    const { messages } = AccountPayload.decode(payload);
    return handler === "" && messages.every(({ typeUrl }) => typeUrl.startsWith("/")) ? messages : [];
  } catch {
    return [];
  }
}

const left = (remaining: bigint): string => (remaining === 0n ? "" : `, ${remaining.toLocaleString("en-US")} left`);

const comesTrue: Partial<Record<ConditionOp, string>> = {
  [ConditionOp.EXISTS]: "comes to exist", [ConditionOp.ABSENT]: "is deleted", [ConditionOp.EQUAL]: "becomes %s",
  [ConditionOp.LESS]: "falls below %s", [ConditionOp.LESS_OR_EQUAL]: "falls to %s or below",
  [ConditionOp.GREATER]: "rises above %s", [ConditionOp.GREATER_OR_EQUAL]: "rises to %s or above",
};

function watched({ store, prefix, when }: WatchKey): string {
  const happens = when ? (comesTrue[when.op] ?? "changes").replace("%s", () => when.value) : "changes";
  return `${store}:${toHex(prefix)} ${happens}`;
}

/**
 * repeatsWords says how often a timer is due: "once", "every 20 blocks, 3 left", "every day at 09:00 Europe/Berlin". It
 * names the zone if the hours of the calendar are those of that until a second since 1970; else it writes offsets from
 * UTC. Remaining is how many deliveries are left: of a timer its status says so.
 */
export function repeatsWords(spec: Pick<TimerSpec, "trigger" | "repeat"> | undefined, zone?: string, until = 0,
  remaining = spec?.repeat?.remaining ?? 0n): string {
  const trigger = spec?.trigger;
  if (trigger?.interval) return `every ${count(trigger.interval.every, "block")}${left(remaining)}`;
  if (trigger?.calendar) {
    const { every } = trigger.calendar;
    if (every) return `every ${distance(every.seconds)}${left(remaining)}`;
    const now = Math.floor(Date.now() / 1000);
    const calendar = calendarOf(trigger.calendar, now);
    const named = zone !== undefined && keepsZone(calendar, zone, now, Math.max(now, until)) ? zone : undefined;
    return ruleWords(calendar, named) + left(remaining);
  }
  if (trigger?.watch) {
    const { keys } = trigger.watch;
    const again = spec?.repeat?.remaining === 1n ? "" : `, each change${left(remaining)}`;
    return clean(`when ${keys.map(watched).join(" or ")}${again}`);
  }
  return "once";
}

/** distance is a number of seconds in the largest unit that it is a multiple of: "90 minutes", and "hour" for one. */
function distance(seconds: bigint): string {
  const [size, unit] = seconds % 3600n === 0n ? [3600n, "hour"] : seconds % 60n === 0n ? [60n, "minute"] : [1n, "second"];
  return seconds === size ? unit : `${seconds / size} ${unit}s`;
}

/** onHold says what a timer that is on hold waits for, by the reason. */
const onHold: Partial<Record<HoldReason, string>> = {
  [HoldReason.QUARANTINED]: "governance, which releases or cancels it: the module failed on it",
  [HoldReason.UNRUNNABLE]: "a config that runs its gas limit, or an update of that",
  [HoldReason.SUSPENDED]:
    "its owner, who resumes it: its payer lacked funds, or its occurrences failed, lapsed or were skipped too often",
  [HoldReason.PAUSED]: "its owner, who paused it and resumes it",
  [HoldReason.UNFUNDED]:
    "its payer, who could not cover a fire when its turn came: it comes back when the payer can",
  [HoldReason.PRICED_OUT]: "prices that its bid covers: it comes back when they have fallen",
  [HoldReason.NOT_ADMIN]: "its removal: its scheduler is no longer the admin of its actor",
};

/** verdicts say why a ready timer does not fire in the next block. */
const verdicts: Partial<Record<Verdict, string>> = {
  [Verdict.FIRES]: "the next block, in which it fires if nothing changes",
  [Verdict.LANE_PAUSED]: "the lane, which governance has paused",
  [Verdict.NOT_READ]: "a block that reads it: more timers are ready than one reads",
  [Verdict.PRICED_OUT]: "a price that it may pay: it states less at most",
  [Verdict.NO_ROOM]: "room in the lane: those before it may fill the next block",
  [Verdict.CAPPED]: "its turn: as many timers of its actor fire before it as may in a block",
  [Verdict.NO_FUNDS]: "funds: its payer can't cover what a fire may cost",
  [Verdict.NOT_ADMIN]: "nothing: who scheduled it is no longer the admin, and it leaves",
  [Verdict.PASSED]: "its next occurrence: this one may not fire any more",
  [Verdict.GUARDED]: "nothing: the next block fires it, guarded, since what must hold does not",
};

/** spaced is the name of an enum's value as people write it; that of a newer chain is its number. */
const spaced = (names: Record<number, string>, value: number): string =>
  (names[value] ?? String(value)).toLowerCase().replaceAll("_", " ");

/** statusWords is the status of a timer, and why it does not fire: "pending", "on hold: paused", "ready: no room". */
export function statusWords({ status = TimerStatus.create() }: Pick<TimerInfo, "status">): string {
  const { phase, holdReason, verdict } = status;
  if (phase === TimerPhase.ON_HOLD) return `on hold: ${spaced(HoldReason, holdReason)}`;
  if (phase === TimerPhase.READY && verdict > Verdict.FIRES) return `ready: ${spaced(Verdict, verdict)}`;
  return spaced(TimerPhase, phase);
}

/** dueWords says when a timer is due. The time of a height is about when its block comes. */
export function dueWords({ status = TimerStatus.create() }: Pick<TimerInfo, "status">, pace: Pace, zone?: string): string {
  const { holdReason, due, dueTime } = status;
  return holdReason === HoldReason.TIMED ? timeWords(dueTime, zone) : heightWords(due, pace, zone);
}

/** waitsWords says what a timer waits for, and why: the answer to why it did not fire. */
export function waitsWords(t: TimerInfo, pace: Pace, zone?: string): string {
  const status = t.status ?? TimerStatus.create();
  switch (status.phase) {
    case TimerPhase.WATCHING:
      return "a change of what it watches";
    case TimerPhase.EXPIRED:
      return "nothing: its life is over, and it is removed when a block has room";
    case TimerPhase.ON_HOLD:
      return onHold[status.holdReason] ?? "";
    case TimerPhase.PENDING:
      return status.retries > 0 ? `its retry ${status.retries}, ${dueWords(t, pace, zone)}` : `its turn, ${dueWords(t, pace, zone)}`;
    default: {
      const since = BigInt(pace.height) - (status.since || status.due) + 1n;
      return (verdicts[status.verdict] ?? "the lane") + (since > 0n ? `; ready for ${count(since, "block")}` : "");
    }
  }
}

/** known are the errors that a fire fails with most often. */
const known: Record<string, string> = {
  "sdk/4": "unauthorized", "sdk/5": "insufficient funds", "sdk/11": "out of gas", "bank/5": "send transactions are disabled",
};

/** outcomeWords is what became of a fire: "ok", "guarded", "sdk/5 (insufficient funds)". */
export function outcomeWords({ success, guarded, codespace, code }: Pick<Outcome, "success" | "guarded" | "codespace" | "code">): string {
  if (success) return "ok";
  if (guarded) return "guarded";
  const text = clean(`${codespace}/${code}`);
  return Object.hasOwn(known, text) ? `${text} (${known[text]})` : text;
}

/** endsWords says when the life of a timer ends: at whichever comes first; empty if it has no end. */
export function endsWords(t: { expiresAt: bigint; expiresTime: bigint }, pace: Pace, zone?: string): string {
  const ends = [];
  if (t.expiresAt > 0n) ends.push(`after ${heightWords(t.expiresAt, pace, zone)}`);
  if (t.expiresTime > 0n) ends.push(`after ${timeWords(t.expiresTime, zone)}`);
  return ends.join("; or ");
}
