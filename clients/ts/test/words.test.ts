import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";
import {
  type Pace, HoldReason, TimerInfo, TimerPhase, type TimerSpec, TimerStatus, Verdict, clean, core, count, doesWords, dueWords, endsWords, every,
  heightWords, outcomeWords, repeatsWords, statusWords, timersRegistry, waitsWords,
} from "../src/index.js";

const registry = timersRegistry();
const pace: Pace = { height: 100, latest: new Date("2030-01-15T12:00:00Z"), blockMs: 2_000 };
const info = (status: object, call: object = {}): TimerInfo => TimerInfo.fromPartial({ spec: { call }, status });
const packed = (...messages: [string, object][]): core.AccountPayload["messages"] =>
  messages.map(([typeUrl, value]) => registry.encodeAsAny({ typeUrl, value }));
const send: [string, object] = ["/cosmos.bank.v1beta1.MsgSend", {
  fromAddress: "timer1a", toAddress: "timer1b", amount: [{ denom: "ufoo", amount: "2" }, { denom: "utmr", amount: "5" }],
}];

/** stated are the texts that words.go has for the values of an enum, by the names that Go and the .proto files give. */
function stated(table: string, file: string): Record<string, string> {
  const goNames = new Map([...fs.readFileSync("../../proto/timers/v1/core.proto", "utf8")
    .matchAll(/^ +([A-Z_]+) = \d+ \[\(gogoproto\.enumvalue_customname\) = "(\w+)"\]/gm)].map(([, name, go]) => [go, name]));
  const [, body] = new RegExp(`^var ${table} = map\\[types\\.\\w+\\]string\\{\n(.*?)^\\}`, "ms").exec(file)!;
  return Object.fromEntries([...body.matchAll(/types\.(\w+): +"(.*)",$/gm)].map(([, go, text]) =>
    [goNames.get(go)!.replace(/^(VERDICT|HOLD_REASON)_/, ""), text]));
}

test("what a timer waits for is said in the words of the command line", () => {
  const file = fs.readFileSync("../../x/timers/client/words/words.go", "utf8");
  const verdicts = stated("verdicts", file);
  assert.ok(Object.keys(verdicts).length >= 10);
  for (const [name, text] of Object.entries(verdicts)) {
    const t = info({ phase: TimerPhase.READY, verdict: (Verdict as any)[name], due: 99n });
    assert.equal(waitsWords(t, pace, "UTC"), `${text}; ready for 2 blocks`, name);
    const word = name === "FIRES" ? "ready" : `ready: ${name.toLowerCase().replaceAll("_", " ")}`;
    assert.equal(statusWords(t), word);
  }
  const reasons = stated("onHold", file);
  assert.ok(Object.keys(reasons).length >= 7);
  for (const [name, text] of Object.entries(reasons)) {
    const t = info({ phase: TimerPhase.ON_HOLD, holdReason: (HoldReason as any)[name] });
    assert.equal(waitsWords(t, pace, "UTC"), text, name);
    assert.equal(statusWords(t), `on hold: ${name.toLowerCase().replaceAll("_", " ")}`);
  }
  // A verdict of a newer chain is no empty text.
  const newer = info({ phase: TimerPhase.READY, verdict: 99, due: 100n });
  assert.equal(statusWords(newer), "ready: 99");
  assert.equal(waitsWords(newer, pace, "UTC"), "the lane; ready for 1 block");
});

test("when a timer is due and ends is said in a zone", () => {
  const timed = info({ phase: TimerPhase.PENDING, holdReason: HoldReason.TIMED, dueTime: 1_896_163_200n });
  assert.equal(dueWords(timed, pace, "Europe/Berlin"), "Fri 2030-02-01 09:00:00 +01:00");
  assert.equal(waitsWords(timed, pace, "Asia/Tokyo"), "its turn, Fri 2030-02-01 17:00:00 +09:00");
  const high = info({ phase: TimerPhase.PENDING, due: 130n, retries: 2 });
  assert.equal(waitsWords(high, pace, "UTC"), "its retry 2, height 130, about Tue 2030-01-15 12:01:00 +00:00");
  assert.equal(heightWords(2n ** 64n - 1n, pace, "UTC"), "height 18446744073709551615"); // its time is no date
  assert.equal(endsWords(TimerStatus.fromPartial({ expiresAt: 130n, expiresTime: 1_896_163_200n }), pace, "UTC"),
    "after height 130, about Tue 2030-01-15 12:01:00 +00:00; or after Fri 2030-02-01 08:00:00 +00:00");
  assert.equal(endsWords(TimerStatus.create(), pace, "UTC"), "");
});

test("what a timer does is said in words, from its messages or its payload", () => {
  assert.equal(doesWords(info({}, { messages: packed(send) }), registry), "send 2ufoo,5utmr to timer1b");
  const payload = core.AccountPayload.encode({ messages: packed(send, ["/cosmos.gov.v1.MsgVote", { proposalId: 7n, voter: "v", option: 1, metadata: "" }]) }).finish();
  const t = info({ payloadBytes: BigInt(payload.length) }, { payload });
  assert.equal(doesWords(t, registry), "send 2ufoo,5utmr to timer1b, then vote yes on proposal 7");
  // A long payload is left out of lists; that of another handler is its own business.
  assert.equal(doesWords(info({ payloadBytes: 1_234n }), registry), "handle_timer, 1,234 bytes");
  assert.equal(doesWords(info({ payloadBytes: BigInt(payload.length) }, { handler: "wake", payload }), registry), "wake");
  const unknown = { typeUrl: "/foo.v1.MsgBar", value: new Uint8Array([255]) };
  assert.equal(doesWords(info({}, { messages: [unknown] }), registry), "MsgBar");
  // A message that does not decode is called by its type.
  assert.equal(doesWords(info({}, { messages: [{ typeUrl: send[0], value: new Uint8Array([255, 255]) }] }), registry), "MsgSend");
});

test("what a chain says in hostile letters is made fit to show", () => {
  assert.equal(clean("a\u202Eb\u0000\u001b[2J\u200Bé😀"), "a?b??[2J???");
  const evil: [string, object] = [send[0], { fromAddress: "a", toAddress: "x\u202Ey", amount: [] }];
  assert.equal(doesWords(info({}, { messages: packed(evil) }), registry), "send  to x?y");
  assert.equal(outcomeWords({ success: false, guarded: false, codespace: "b\u0007", code: 3 }), "b?/3");
  assert.equal(outcomeWords({ success: false, guarded: false, codespace: "constructor", code: 3 }), "constructor/3");
});

test("how a timer repeats and what became of a fire", () => {
  const says = (trigger: object, remaining = 0n): string =>
    repeatsWords(core.TimerSpec.fromPartial({ trigger, repeat: { remaining } }));
  assert.equal(says({ height: 7n }), "once");
  assert.equal(says({ interval: { every: 20n } }, 3n), "every 20 blocks, 3 left");
  assert.equal(says({ calendar: { every: { seconds: 3_600n } } }), "every hour");
  assert.equal(says({ calendar: { every: { seconds: 5_400n } } }, 1_000n), "every 90 minutes, 1,000 left");
  const calendar = (text: string, zone: string): Pick<TimerSpec, "trigger" | "repeat"> => {
    const { trigger, repeat } = every(text, { zone }).compile({ now: new Date() });
    return { trigger, repeat };
  };
  for (const [text, words] of [
    ["month@1 09:00", "on the first of each month at 09:00"], ["month@last 18:30", "on the last day of each month at 18:30"],
    ["day@09:00", "every day at 09:00"], ["mon,thu@09:00", "on Mondays and Thursdays at 09:00"],
    ["weekday@09:00", "on Mondays to Fridays at 09:00"], ["month@1,22,31 09:00", "on the first, the 22nd and the 31st of each month that has one at 09:00"],
    ["hour@:30", "at minute 30 of every hour"], ["*/15 * * * *", "every 15 minutes"], ["0 9-17 1 3 *", "on the first of March at minute 0 of the hours 9 to 17"],
  ]) {
    assert.equal(repeatsWords(calendar(text, "Europe/Berlin"), "Europe/Berlin"), `${words} Europe/Berlin`);
    assert.equal(repeatsWords(calendar(text, "UTC")), `${words} UTC`);
  }
  assert.equal(repeatsWords(calendar("day@09:00", "Europe/Paris"), "Asia/Tokyo"), "every day at 09:00 as in Europe/Berlin");
  const odd = { cron: { minutes: 1n, hours: 1 << 9, days: 0xfffffffe, months: 0x1ffe, weekdays: 127 }, offsetMinutes: 7,
    transitions: [{ from: 1_775_131_200n, offsetMinutes: 120 }] };
  assert.equal(says({ calendar: odd }), "every day at 09:00 +00:07, +02:00 from 2026-04-02 12:00:00 +00:00");
  const once = { calendar: { cron: { minutes: 1n, hours: 1 << 9, days: 0xfffffffe, months: 0x1ffe, weekdays: 127 }, offsetMinutes: -210 } };
  assert.equal(says(once, 3n), "every day at 09:00 -03:30, 3 left");
  const keys = [{ store: "bank", prefix: new Uint8Array([2, 1]), when: { op: core.ConditionOp.LESS, value: "$&5" } }];
  assert.equal(says({ watch: { keys } }, 1n), "when bank:0201 falls below $&5");
  assert.equal(says({ watch: { keys } }), "when bank:0201 falls below $&5, each change");
  // What is left of a timer that goes on is less than what was stated.
  const interval = core.TimerSpec.fromPartial({ trigger: { interval: { every: 1n } }, repeat: { remaining: 5n } });
  assert.equal(repeatsWords(interval, "UTC", 0, 2n), "every 1 block, 2 left");
  assert.equal(outcomeWords({ success: true, guarded: false, codespace: "", code: 0 }), "ok");
  assert.equal(outcomeWords({ success: false, guarded: true, codespace: "", code: 0 }), "guarded");
  assert.equal(outcomeWords({ success: false, guarded: false, codespace: "sdk", code: 5 }), "sdk/5 (insufficient funds)");
  assert.equal(count(1n, "block"), "1 block");
});
