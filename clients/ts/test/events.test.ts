// Events are read as the chain writes them: each kind with all its fields, and with none.
import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";
import { eventOf, events, happenings } from "../src/index.js";

const vectors: { type: string; attributes: [string, string][]; bytes: string }[] = JSON.parse(
  fs.readFileSync("../../x/timers/report/testdata/events.json", "utf8"),
);

test("events are what the chain says", () => {
  const names = new Set(vectors.map(({ type }) => type.slice("timers.v1.".length)));
  // Of the generated code only messages have a decoder; those within an event are no events.
  const known = Object.entries(events).filter(([name, type]) =>
    /^Timer/.test(name) && typeof type === "object" && "fromJSON" in type
  );
  assert.deepEqual([...names].sort(), known.map(([name]) => name).sort());
  for (const { type, attributes, bytes } of vectors) {
    // What nodes add belongs to no message.
    const event = { type,
      attributes: [...attributes, ["mode", "EndBlock"], ["msg_index", "0"]].map(([key, value]) => ({ key, value })) };
    const read = eventOf(event)!;
    assert.equal(read.type, type.slice("timers.v1.".length));
    // Fields may come in another order than those of another encoder.
    const message = (events as any)[read.type];
    assert.deepEqual(read.value, message.decode(Uint8Array.from(Buffer.from(bytes, "hex"))), type);
    assert.equal(message.encode(read.value).finish().length, bytes.length / 2, type);
    const [happening] = happenings([event], 7);
    const keys = attributes.map(([key]) => key);
    assert.equal(happening !== undefined, keys.includes("id") && keys.includes("actor"), type);
    for (const [key, value] of happening ? attributes : [])
      assert.deepEqual(happening.attributes[key], JSON.parse(value));
  }
});

test("what is no event of the module has no message", () => {
  assert.equal(eventOf({ type: "transfer", attributes: [] }), undefined);
  assert.equal(eventOf({ type: "timers.v1.TimerFromTheFuture", attributes: [] }), undefined);
  assert.equal(eventOf({ type: "timers.v1.constructor", attributes: [] }), undefined);
});
