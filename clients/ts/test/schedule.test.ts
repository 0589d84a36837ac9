import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";
import { type Calendar, latestOccurrence, nextOccurrence } from "../src/schedule.js";

// What the chain computes, which a walk minute by minute has checked.
const vectors: any[] = JSON.parse(fs.readFileSync("../../x/timers/schedule/testdata/vectors.json", "utf8"));

const calendarOf = (v: any): Calendar => ({
  every: v.every,
  cron: v.cron && { ...v.cron, minutes: BigInt(v.cron.minutes), lastDay: v.cron.last_day },
  offsetMinutes: v.offset_minutes,
  transitions: v.transitions.map((t: any) => ({ from: t.from, offsetMinutes: t.offset_minutes })),
});

test("calendars are due when the chain says", () => {
  assert.ok(vectors.length > 250);
  for (const v of vectors) {
    const calendar = calendarOf(v);
    const found: number[] = [];
    for (let after = v.after; found.length < 4;) {
      const next = nextOccurrence(calendar, after, v.horizon);
      if (next === undefined) break;
      found.push(after = next);
    }
    assert.deepEqual(found, v.next, v.name);
    assert.equal(latestOccurrence(calendar, v.after) ?? -1, v.latest, v.name);
  }
});

test("a calendar without a rule, or one that never matches, has no occurrence", () => {
  const never = { minutes: 1n, hours: 1, days: 1 << 30, lastDay: false, months: 1 << 2, weekdays: 0x7f };
  for (const calendar of [{ offsetMinutes: 0, transitions: [] }, { cron: never, offsetMinutes: 0, transitions: [] }]) {
    assert.equal(nextOccurrence(calendar, 0), undefined);
    assert.equal(latestOccurrence(calendar, 1e9), undefined);
  }
});
