// What must hold when a timer fires, as people say it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { guards } from "../src/guard.js";
import { ConditionOp, condition } from "../src/index.js";

test("conditions are read as the command reads them", () => {
  for (const [text, op, value] of [
    ["< 100", ConditionOp.LESS, "100"], ["<=5", ConditionOp.LESS_OR_EQUAL, "5"],
    [" >  -0.5 ", ConditionOp.GREATER, "-0.5"],
    [">= 7", ConditionOp.GREATER_OR_EQUAL, "7"], ["== open now", ConditionOp.EQUAL, "open now"],
    ["exists", ConditionOp.EXISTS, ""], ["absent", ConditionOp.ABSENT, ""],
  ] as const) {
    assert.deepEqual(condition(text), { op, value }, text);
  }
  for (const text of ["", "100", "<", "==", "exists 5", "!= 4"]) {
    assert.throws(() => condition(text), /want exists, absent, or one of ==, <, <=, > and >= with a value/, text);
  }
});

test("guards ask the chain for their keys", async () => {
  const asked: string[] = [];
  const keyOf = async (text: string) => {
    asked.push(text);
    return { store: "bank", prefix: new Uint8Array([2]), when: undefined };
  };
  const stated = { store: "wasm", prefix: new Uint8Array([3]), when: condition("exists") };
  assert.deepEqual(await guards(["bank:balance:alice:utmr < 100", stated], keyOf), [
    { store: "bank", prefix: new Uint8Array([2]), when: condition("< 100") }, stated,
  ]);
  assert.deepEqual(asked, ["bank:balance:alice:utmr"]);
  assert.deepEqual(await guards(undefined, keyOf), []);
  await assert.rejects(guards(["a < 1", "b < 1", "c < 1"], keyOf), /3 conditions, want at most 2/);
  await assert.rejects(guards(["bank:balance:alice:utmr"], keyOf), /want exists, absent/);
});
