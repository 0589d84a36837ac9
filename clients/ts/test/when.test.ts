// What people say of times is what the chain's command line makes of it, and refused as there.
import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";
import { MsgScheduleTimer, Trigger, type Repeating, type Timing, When, after, at, every,
  preview } from "../src/index.js";
import { isByTime, onUnfundedOf, retryOf } from "../src/when.js";

process.env.TZ = "UTC"; // as the machine of the vectors

interface Vector {
  now: string;
  flags: Record<string, string>;
  message?: { spec: object };
  fires?: number[];
  known_until?: number;
  refusal?: string;
}

const vectors: Vector[] = JSON.parse(fs.readFileSync("../../x/timers/schedule/testdata/when.json", "utf8"));

/** options are flags of the command line by the names that they have here. */
const options: Record<string, string> = {
  "expires-at": "until",
  "every-from": "from",
  "on-failure": "onFailure",
  "max-failures": "maxFailures",
  "on-unfunded": "onUnfunded",
  retries: "retry.max",
  "retry-after": "retry.after",
  "retry-backoff": "retry.backoff",
  "retry-on": "retry.on",
};

/**
 * refusalHere is a refusal of the command line, with the names of options for flags. What has no option is said
 * otherwise.
 */
const refusalHere = (text: string): string =>
  text
    .replace("; --in takes a number of blocks", "; a trigger { after } takes a number of blocks")
    .replace("; --expires-in takes a number of blocks", "; until takes a height")
    .replace(/--([a-z-]+)/g, (_, flag: string) => options[flag] ?? flag);

function stated({ now, flags }: Vector): { when: When; timing: Timing; message: object } {
  const { every: repeats, at: due, after: distance, retries: max, "retry-after": retryAfter, "retry-backoff": backoff,
    "retry-on": on, ...rest } = flags;
  const given: Repeating = { now: new Date(now) };
  for (const [flag, text] of Object.entries(rest)) {
    if (flag !== "renew" && flag !== "on-unfunded") Object.assign(given, { [options[flag] ?? flag]: text });
  }
  const when = repeats === undefined
    ? (due === undefined ? after(distance, given) : at(due, given))
    : every(repeats, { ...given, ...(due === undefined ? {} : { first: due }),
      ...(distance === undefined ? {} : { after: distance }) });
  const timing = when.compile();
  const { trigger, expiresAt, expiresTime } = timing;
  const repeat = flags.renew === "true" ? { ...timing.repeat, renew: true } : timing.repeat;
  const message = MsgScheduleTimer.fromPartial({ spec: { trigger, repeat, call: {}, expiresAt, expiresTime,
    onUnfunded: onUnfundedOf(flags["on-unfunded"] as "skip"),
    retry: retryOf({ max, after: retryAfter, backoff, on: on?.split(",") }, isByTime(trigger)),
  } });
  return { when, timing, message };
}

const seconds = (date: Date | undefined): number | undefined => date && date.getTime() / 1000;

test("times are what the command line makes of them", () => {
  const taken = vectors.filter((v) => v.message);
  assert.ok(taken.length > 60, String(taken.length));
  for (const v of taken) {
    const name = JSON.stringify(v);
    const { when, timing, message } = stated(v);
    assert.deepEqual(message, MsgScheduleTimer.fromJSON({ spec: { call: {}, ...v.message!.spec } }), name);
    assert.equal(seconds(timing.knownUntil), v.known_until, name);
    assert.deepEqual(preview(when, 5, { now: new Date(v.now) }).map(({ time }) => seconds(time)), v.fires ?? [], name);
  }
});

test("what can't be meant is refused in the words of the command line", () => {
  const refused = vectors.filter((v) => v.refusal);
  assert.ok(refused.length > 60, String(refused.length));
  for (const v of refused) {
    const want = v.flags.at !== undefined && v.flags.every !== undefined
      ? v.refusal!.replace("--at", "--first")
      : v.refusal!;
    assert.throws(() => stated(v), { message: refusalHere(want) }, JSON.stringify(v.flags));
  }
});

const now = new Date("2026-03-27T12:00:00Z");

test("the clocks of a zone are known for the life of the timer", () => {
  const rent = every("month@1 09:00", { zone: "Europe/Berlin" });
  const until = (ends: string): Timing => rent.compile({ now, ends: BigInt(Date.parse(ends) / 1000) });
  assert.deepEqual(until("2026-03-28T00:00:00Z").trigger.calendar!.transitions, []);
  assert.equal(until("2026-03-28T00:00:00Z").knownUntil!.toISOString(), "2026-03-29T01:00:00.000Z");
  assert.deepEqual(
    until("2026-12-31T00:00:00Z").trigger.calendar!.transitions.map((t) => [Number(t.from), t.offsetMinutes]),
    [[Date.UTC(2026, 2, 29, 1) / 1000, 120], [Date.UTC(2026, 9, 25, 1) / 1000, 60]],
  );
  assert.equal(until("2060-01-01T00:00:00Z").trigger.calendar!.transitions.length, 16);
  assert.equal(rent.compile({ now, longest: 86_400n }).trigger.calendar!.transitions.length, 0);
  // Far away, and quick where a zone does not change.
  const begin = Date.now();
  assert.equal(every("day@09:00", { zone: "Asia/Tokyo" }).compile({ now, ends: 253_402_300_799n }).knownUntil,
    undefined);
  assert.ok(Date.now() - begin < 5_000);
});

test("a time that is too soon is the soonest that may do", () => {
  const soon = BigInt(now.getTime() / 1000) + 4n;
  assert.equal(after("1s").compile({ now, soonest: soon }).trigger.time!.seconds, soon);
  assert.equal(after("1m").compile({ now, soonest: soon }).trigger.time!.seconds, soon + 56n);
});

test("a preview is in the zone of what is stated, or in another one", () => {
  const rent = every("weekday@09:00", { zone: "Europe/Berlin", now });
  assert.deepEqual(preview(rent, 3, { now }).map(({ text }) => text), ["Mon 2026-03-30 09:00:00 +02:00",
    "Tue 2026-03-31 09:00:00 +02:00", "Wed 2026-04-01 09:00:00 +02:00"]);
  assert.deepEqual(preview(rent, 1, { now, zone: "America/New_York" }).map(({ text }) => text), [
    "Mon 2026-03-30 03:00:00 -04:00",
  ]);
  assert.deepEqual(preview(every("day@09:00-05:00", { now, count: 1 }), 3, { now }).map(({ text }) => text), [
    "Fri 2026-03-27 09:00:00 -05:00",
  ]);
  assert.deepEqual(preview(at("2026-04-01 09:00", { zone: "Asia/Kolkata", now }), 3, { now }).map(({ text }) => text), [
    "Wed 2026-04-01 09:00:00 +05:30",
  ]);
  // A trigger as the chain has it, and as much of it as its life lets it make.
  const trigger = rent.compile({ now }).trigger;
  const ends = BigInt(Date.UTC(2026, 2, 31, 12) / 1000);
  assert.deepEqual(preview(trigger, 9, { now, ends, zone: "UTC" }).map(({ text }) => text), [
    "Mon 2026-03-30 07:00:00 +00:00",
    "Tue 2026-03-31 07:00:00 +00:00",
  ]);
  assert.deepEqual(preview(every(20), 3), []);
  assert.deepEqual(preview(Trigger.fromPartial({ watch: {} }), 3), []);
  assert.deepEqual(preview(rent, 0, { now }), []);
});

test("numbers and dates do as well as texts", () => {
  assert.equal(every(20).compile().trigger.interval!.every, 20n);
  assert.equal(
    every(20n, { first: 500, count: 3, from: "schedule", window: 5, jitter: 3n, maxFailures: 2, onFailure: "suspend" })
      .compile().repeat!.maxFailures,
    2,
  );
  assert.equal(at(500).compile().trigger.height, 500n);
  assert.equal(at(new Date("2030-01-31T08:00:00Z")).compile().trigger.time!.seconds,
    BigInt(Date.UTC(2030, 0, 31, 8) / 1000));
  assert.equal(every(20, { until: 900n }).compile().expiresAt, 900n);
  // A time from one fire to the next counts from its schedule, so that this may be said.
  assert.deepEqual(every("1h", { from: "schedule" }).compile().trigger, every("1h").compile().trigger);
  assert.throws(() => every(1.5), /"1.5" is no recurring time/);
  assert.throws(() => every(-1), /"-1" is no recurring time/);
  assert.throws(() => at(NaN), /"NaN" is no date, no time of day and no height/);
  assert.throws(() => every(20, { window: "10m", from: "schedule" }),
    /window "10m": every 20 counts blocks, want a number of blocks/);
  assert.throws(() => every(20, { first: "09:00" }),
    /first 09:00 is a time, and every 20 counts blocks: want a height/);
  assert.throws(() => every("constructor@09:00"), /"constructor" is no weekday/);
  assert.throws(() => every("day@09:00", { zone: "" }), /zone: "" is no time zone/);
});

test("an option that there is not is refused", () => {
  const misspelt = { fro: "1y" } as object;
  for (const make of [() => every("1h", misspelt), () => at("2030-01-31 09:00", misspelt), () => after("1h", misspelt)]) {
    assert.throws(make, /^Error: "fro" is no option: want .*\bfor\b/);
  }
});
