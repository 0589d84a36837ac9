import assert from "node:assert/strict";
import { test } from "node:test";
import { TimersClient, defaultMaxCharge } from "../src/index.js";
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
      Timer: async () => ({ timer: { gasLimit: 300_000n, cellLimit: 70n, bid: { tier: 2 }, trigger: undefined } }),
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
    assert.equal(sent.at(-1).maxCharge, want, String(maxCharge));
  }
  assert.equal(asked.length, 1, "the price is asked where it is needed");
  assert.deepEqual([asked[0].gasLimit, asked[0].maxCharge, asked[0].actor], [100_000n, "", "me"]);
  await timers.update("me", "ab", { maxCharge: "default" });
  assert.equal(sent.at(-1).maxCharge, "8000");
  assert.deepEqual([asked[1].gasLimit, asked[1].cellLimit, asked[1].tier], [300_000n, 70n, 2], "what is not stated is the timer's");
  await timers.update("me", "ab", { gasLimit: 200_000n, maxCharge: "default" });
  assert.equal(asked[2].gasLimit, 200_000n);
  await timers.update("me", "ab", { gasLimit: 200_000n });
  assert.equal(sent.at(-1).maxCharge, "");
});
