import assert from "node:assert/strict";
import { test } from "node:test";
import { TimerSpec, TimersClient, defaultMaxCharge, gasLimitFor } from "../src/index.js";
import { Policy } from "../src/gen/timers/v1/config.js";

test("the default is ten times what a fire may cost today", () => {
  assert.equal(defaultMaxCharge({ preCharge: "800", policy: Policy.EIP1559 }), "8000");
  assert.equal(defaultMaxCharge({ preCharge: "800", policy: Policy.EIP1559 }, { price: "50" }), "8000");
  assert.equal(defaultMaxCharge({ preCharge: "700", policy: Policy.AUCTION }, { price: "5000" }), "57000", "a locked bid counts");
  assert.equal(defaultMaxCharge({ preCharge: "0", policy: Policy.FIFO }), "", "what is free has no bound");
  assert.equal(defaultMaxCharge({ preCharge: String(1n << 95n), policy: Policy.FIFO }), "", "the chain takes no such bound");
});

// What is asked of the node, and what would be sent.
function client() {
  const asked: any[] = [], sent: any[] = [];
  const made = Object.assign(Object.create(TimersClient.prototype), {
    signing: { registry: { encodeAsAny: (message: object) => message } },
    query: {
      Estimate: async (request: any) => (asked.push(request), { preCharge: "800", policy: Policy.EIP1559 }),
      Timer: async () => ({ timer: { spec: { bid: { tier: 2 } }, status: { gasLimit: 300_000n, cellLimit: 70n } } }),
    },
    send: async (_: string, [{ value }]: any[]) => {
      sent.push(value);
      const attributes = { id: '"ab"', actor: '"me"' };
      return { height: 1, events: [{ type: "timers.v1.TimerScheduled",
        attributes: Object.entries(attributes).map(([key, value]) => ({ key, value })) }] };
    },
  }) as TimersClient;
  return { timers: made, asked, sent };
}

test("a job and a change take it by name", async () => {
  const { timers, asked, sent } = client();
  const job = { messages: [], trigger: { height: 9n }, gasLimit: 100_000n };
  for (const [maxCharge, want] of [["default", "8000"], ["none", "0"], ["900", "900"], [undefined, ""]] as const) {
    await timers.schedule("me", { ...job, maxCharge });
    assert.equal(sent.at(-1).spec.maxCharge, want, String(maxCharge));
  }
  assert.equal(asked.length, 1, "the price is asked where it is needed");
  assert.deepEqual([asked[0].gasLimit, asked[0].maxCharge, asked[0].actor], [100_000n, "", "me"]);
  await timers.update("me", "ab", { maxCharge: "default" });
  assert.equal(sent.at(-1).spec.maxCharge, "8000");
  assert.deepEqual([asked[1].gasLimit, asked[1].cellLimit, asked[1].tier], [300_000n, 70n, 2], "what is not stated is the timer's");
  await timers.update("me", "ab", { gasLimit: 200_000n, maxCharge: "default" });
  assert.equal(asked[2].gasLimit, 200_000n);
  await timers.update("me", "ab", { gasLimit: 200_000n });
  assert.equal(sent.at(-1).spec.maxCharge, "");
});

test("a gas limit is what a dry run used, a tenth more, and what each fire uses, within the chain's bounds", () => {
  assert.equal(gasLimitFor(100_000, 200, 40_000n, 250_000n), 132_600n);
  assert.equal(gasLimitFor(1_000, 0, 40_000n, 250_000n), 40_000n);
  assert.equal(gasLimitFor(900_000, 200, 40_000n, 250_000n), 250_000n);
});

test("gasLimit auto is asked of the node for messages, and left out where they would fail", async () => {
  const { timers, sent } = client();
  const dry = { gas: 100_000, failure: undefined as string | undefined };
  Object.assign(timers, { dryRun: async () => dry });
  Object.assign(timers.query, { Params: async () => ({ config: { minGasLimit: 40_000n } }), Lane: async () => ({ maxCyclesPerFire: 250_000n }) });
  const message = { typeUrl: "/a.Msg", value: new Uint8Array(96) };
  const job = { messages: [message], trigger: { height: 9n }, gasLimit: "auto" as const };
  await timers.schedule("me", job);
  assert.ok(sent.at(-1).spec.gasLimit > 131_000n && sent.at(-1).spec.gasLimit < 132_600n, String(sent.at(-1).spec.gasLimit));
  dry.failure = "insufficient funds";
  await timers.schedule("me", job);
  assert.equal(sent.at(-1).spec.gasLimit, 0n);
  await assert.rejects(timers.schedule("me", { ...job, messages: [] }), /"auto" is for messages, which a node can try: state a number/);
});

test("an update names a timer by its id, or by its name", async () => {
  const { timers, sent } = client();
  await timers.update("me", "ab".repeat(32), { name: "rent" });
  assert.deepEqual([sent.at(-1).id, sent.at(-1).name], ["ab".repeat(32), ""]);
  await timers.update("me", "rent", { name: "salary" });
  assert.deepEqual([sent.at(-1).id, sent.at(-1).name, sent.at(-1).spec.name], ["", "rent", "salary"]);
});

test("an update names what it states, and that alone", async () => {
  const { timers, sent } = client();
  const retry = { max: 1, after: 5n, backoff: 0, on: [] };
  await timers.update("me", "ab", {
    name: "", trigger: { after: 9n }, repeat: { remaining: 0n, onFailure: 0 }, messages: [], bid: { tier: 2 },
    gasLimit: undefined, expiresTime: 90n, retry, onUnfunded: "skip", onlyIf: [], reset: ["fee_payer", "retry"], ifSeq: 7n,
  });
  const { fields, ifSeq, spec } = sent.at(-1);
  assert.deepEqual([...fields].sort(), ["bid", "call", "expires_time", "fee_payer", "name", "on_unfunded", "only_if",
    "repeat.on_failure", "repeat.remaining", "retry", "trigger"]);
  assert.deepEqual([ifSeq, spec.trigger.after, spec.expiresTime, spec.bid.tier, spec.retry.max], [7n, 9n, 90n, 2, 1]);
  // All of them are fields of the chain.
  const all = Object.keys(TimerSpec.toJSON(TimerSpec.fromJSON(every)) as object).flatMap((name) =>
    name === "repeat" ? Object.keys(every.repeat).map((within) => `repeat.${within}`) : [name]);
  for (const field of fields) assert.ok(all.includes(field), field);
});

/** every is a spec in which each field has a value. */
const every = {
  name: "x", trigger: { after: "1" }, repeat: { remaining: "1", missed: 1, window: "1", jitter: "1", on_failure: 1, max_failures: 1, renew: true },
  call: { handler: "x" }, only_if: [{ store: "x" }], gas_limit: "1", cell_limit: "1", bid: { tier: 1 }, max_charge: "1", fee_payer: "x",
  expires_at: "1", expires_time: "1", retry: { max: 1 }, on_unfunded: 1,
};
