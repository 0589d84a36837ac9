// The logic of the page for wallets, without a browser and without a node.
import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";
import { toBech32 } from "@cosmjs/encoding";
import { HoldReason, TimerInfo, TimerPhase, preview, timersRegistry, tx } from "@cosmos-timers/timers";
import { type Entered, Viewer, allowed, fundsOf, jobOf, kinds, nameOf, nodeOf, signerOf, walletsIn, whenOf } from "../examples/wallet/logic.js";
import { fakeWallet } from "./fake-wallet.js";

const owner = toBech32("timer", new Uint8Array(20).fill(1));
const bob = toBech32("timer", new Uint8Array(20).fill(2));
const empty: Entered = {
  kind: "once", recipient: bob, amount: "5", zone: "Europe/Berlin", date: "", hour: "", day: "", blocks: "", count: "",
  until: "", onUnfunded: "skip", maxCharge: "", name: "rent",
};
const now = new Date("2030-01-15T12:00:00Z");
const next = (entered: Partial<Entered>): string[] =>
  preview(whenOf({ ...empty, ...entered }), 2, { now, zone: "Europe/Berlin" }).map(({ text }) => text);

test("a link names no node but one at the page's own address", () => {
  const own = { rpc: "http://127.0.0.1:27001", rest: "http://127.0.0.1:27002" };
  const page = "https://wallet.example/timers/";
  assert.deepEqual(nodeOf(page, own), own);
  assert.deepEqual(nodeOf(page + "?rpc=/rpc&rest=/rest", own), { rpc: "https://wallet.example/rpc", rest: "https://wallet.example/rest" });
  assert.deepEqual(nodeOf(page + "?rpc=https://wallet.example/rpc", own), { rpc: "https://wallet.example/rpc", rest: own.rest });
  for (const link of [
    "https://evil.example/rpc", "//evil.example/rpc", "http://wallet.example/rpc", "https://wallet.example:444/rpc",
    "https://wallet.example@evil.example/", "https://wallet.example.evil.example/", "\\\\evil.example", "javascript:alert(1)", "http://", "http://127.0.0.1:27001",
  ]) {
    for (const name of ["rpc", "rest"]) {
      assert.throws(() => nodeOf(`${page}?${name}=${encodeURIComponent(link)}`, own), /names another node, .*its own address alone, https:\/\/wallet\.example$/, link);
    }
  }
  const policy = fs.readFileSync("examples/wallet/index.html", "utf8").match(/connect-src ([^;]*);/)![1];
  assert.equal(policy, `'self' ${own.rpc}`);
  assert.ok(fs.readFileSync("examples/wallet/wallet.ts", "utf8").includes(`rpc: "${own.rpc}"`));
});

test("what is entered is due at the hour of the zone", () => {
  assert.deepEqual(next({ date: "2030-06-01T09:00" }), ["Sat 2030-06-01 09:00:00 +02:00"]);
  assert.deepEqual(next({ kind: "day", hour: "09:00" }), ["Wed 2030-01-16 09:00:00 +01:00", "Thu 2030-01-17 09:00:00 +01:00"]);
  assert.deepEqual(next({ kind: "month", day: "last", hour: "18:30" }), ["Thu 2030-01-31 18:30:00 +01:00", "Thu 2030-02-28 18:30:00 +01:00"]);
  assert.deepEqual(next({ kind: "day", hour: "09:00", count: "1" }), ["Wed 2030-01-16 09:00:00 +01:00"]);
  assert.equal(whenOf({ ...empty, kind: "day", hour: "09:00", until: "2030-03-01T10:00" }).compile({ now }).expiresTime, 1_898_586_000n);
  const blocks = whenOf({ ...empty, kind: "blocks", blocks: "20", count: "3" }).compile({ now });
  assert.deepEqual([blocks.trigger.interval?.every, blocks.repeat?.remaining, blocks.expiresTime], [20n, 3n, 0n]);
  assert.equal(whenOf({ ...empty, kind: "blocks", blocks: "20", until: "2030-03-01T10:00" }).compile({ now }).expiresTime, 1_898_586_000n);
});

test("what can't be meant is refused, and named", () => {
  const refused = (entered: Partial<Entered>, message: RegExp): void => {
    assert.throws(() => jobOf({ ...empty, date: "2030-06-01T09:00", ...entered }, owner, "utmr"), message);
  };
  refused({ date: "" }, /^Error: When: want a date and a time$/);
  refused({ kind: "day" }, /want a time of day/);
  refused({ kind: "month", hour: "09:00" }, /want a day of the month/);
  refused({ kind: "blocks", blocks: "1h" }, /"1h" is no number of blocks/);
  refused({ kind: "blocks", blocks: "0" }, /every: /);
  refused({ kind: "toString" }, /"toString" is no way to repeat: want once, day, month, blocks/);
  refused({ zone: "Europe/Berln" }, /no time zone.*Europe\/Berlin/);
  refused({ kind: "day", hour: "09:00", count: "-1" }, /count: /);
  refused({ recipient: "timer1abc" }, /Recipient "timer1abc" is no address/);
  refused({ recipient: toBech32("cosmos", new Uint8Array(20)) }, /address of another chain: want one that begins with timer1/);
  for (const amount of ["", "0", "1.5", "-1", "1e6", "5utmr"]) refused({ amount }, /is no amount: want a whole number of utmr above 0/);
  refused({ maxCharge: "0" }, /no bound of costs/);
  refused({ onUnfunded: "" }, /want skip, suspend or destroy/);
});

test("the job is a transfer of the owner", () => {
  const job = jobOf({ ...empty, date: "2030-06-01T09:00", maxCharge: "700" }, owner, "utmr");
  assert.deepEqual(job.messages, [{ typeUrl: "/cosmos.bank.v1beta1.MsgSend",
    value: { fromAddress: owner, toAddress: bob, amount: [{ denom: "utmr", amount: "5" }] } }]);
  assert.deepEqual([job.name, job.onUnfunded, job.maxCharge], ["rent", "skip", "700"]);
  assert.equal(jobOf({ ...empty, date: "2030-06-01T09:00" }, owner, "utmr").maxCharge, "default");
});

test("a timer offers what makes sense for it", () => {
  const may = ({ trigger, ...status }: { trigger: object; phase: TimerPhase; holdReason?: HoldReason }): string =>
    Object.entries(allowed(TimerInfo.fromPartial({ spec: { trigger }, status }))).filter(([, yes]) => yes).map(([action]) => action).join();
  const trigger = { interval: { every: 20n } };
  assert.equal(may({ phase: TimerPhase.PENDING, trigger }), "skip,run,pause,cancel");
  assert.equal(may({ phase: TimerPhase.PENDING, trigger: { height: 7n } }), "run,pause,cancel");
  assert.equal(may({ phase: TimerPhase.ON_HOLD, holdReason: HoldReason.PAUSED, trigger }), "resume,cancel");
  assert.equal(may({ phase: TimerPhase.ON_HOLD, holdReason: HoldReason.QUARANTINED, trigger }), "cancel");
  assert.equal(may({ phase: TimerPhase.WATCHING, trigger: { watch: {} } }), "pause,cancel");
  assert.equal(may({ phase: TimerPhase.EXPIRED, trigger }), "");
});

test("a name is shown as what it is", () => {
  assert.equal(nameOf(TimerInfo.fromPartial({ spec: { name: "<img src=x onerror=alert(1)>\u202E" }, id: "3fa9c0de11" })), "<img src=x onerror=alert(1)>? (3fa9c0de)");
  assert.equal(nameOf({ id: "3fa9c0de11" }), "3fa9c0de");
});

test("the page makes no HTML of texts, and allows no script but its own", () => {
  const script = fs.readFileSync("examples/wallet/wallet.ts", "utf8");
  assert.doesNotMatch(script, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|setHTML|srcdoc|eval\(/);
  const html = fs.readFileSync("examples/wallet/index.html", "utf8");
  assert.match(html, /Content-Security-Policy" content="default-src 'none'; script-src 'self';/);
  assert.doesNotMatch(html, /\son\w+=/);
  for (const name of new Set(Object.values(kinds).flat())) assert.match(html, new RegExp(`<input name="${name}"`));
});

const mnemonic = "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about";
test("the signer of a wallet is of amino JSON for a Ledger, and direct otherwise", async () => {
  for (const ledger of [false, true]) {
    const wallet = fakeWallet({ mnemonic, prefix: "timer", ledger });
    await assert.rejects(signerOf(wallet, "timers-1"), /no modular chain info/);
    await wallet.experimentalSuggestChain({ chainId: "timers-1", bech32Config: { bech32PrefixAccAddr: "timer" } });
    assert.equal("signDirect" in (await signerOf(wallet, "timers-1")), !ledger);
  }
  assert.deepEqual(Object.keys(walletsIn({ leap: {} })), ["Leap"]);
  assert.deepEqual(Object.keys(walletsIn({ leap: {}, keplr: {} })), ["Keplr", "Leap"]);
  assert.deepEqual(walletsIn({}), {});
});

test("a review says what fires take and how many the funds cover, and objects where that is not all", () => {
  const [now, day] = [1_893_456_000, 86_400];
  const dues = [1, 11, 21, 31].map((n) => now + n * day);
  const funds = (takes: bigint, has: bigint, more = false): ReturnType<typeof fundsOf> =>
    fundsOf(new Map([["utmr", takes]]), new Map([["utmr", has]]), dues, more, now, "UTC");
  assert.deepEqual(funds(100n, 1_000n), { objections: [], costs: [
    "30 days take at most 300utmr for 3 fires, costs and transfers together", "this account's funds last for all 4 fires at today's prices",
  ] });
  assert.match(funds(100n, 1_000n, true).costs[1], /for more than 4 fires at today's prices$/);
  assert.deepEqual(funds(100n, 250n).objections, ["This account's funds last for 2 fires at today's prices, until Sat 2030-01-12 00:00:00 +00:00: " +
    "the next, at Tue 2030-01-22 00:00:00 +00:00, is not covered; each takes 100utmr, and 250utmr are left after this transaction"]);
  assert.match(funds(1_000_000_000_799n, 100_000n).objections[0], /^This account's funds last for no fire: the next, at Wed 2030-01-02 .* is not covered; each takes 1000000000799utmr/);
  assert.match(funds(1n, -5n).objections[0], /last for no fire/);
});

test("a review has the objections of the command line", async () => {
  const trigger = whenOf({ ...empty, kind: "month", day: "1", hour: "09:00" }).compile({ now: new Date() }).trigger;
  const first = Math.floor(Date.now() / 1000) + 3_600;
  const timers = {
    pace: async () => ({ height: 10, latest: new Date(), blockMs: 1_000 }),
    occurrencesOf: async () => ({ occurrences: [{ at: BigInt(first), due: BigInt(first) }], byTime: true, more: true }),
    costOf: async () => ({ feeDenom: "utmr", preCharge: "700", gasLimit: 200_000n, cellLimit: 1_000n }),
    spendable: async () => 100_000n,
    dryRun: async () => ({ gas: 0, failure: "spendable balance 100000utmr is smaller than 999999999999utmr: insufficient funds" }),
  };
  const viewer = new Viewer(timers as any, owner, "Asia/Tokyo");
  const { messages: [send], name } = jobOf({ ...empty, date: "2030-06-01T09:00", amount: "999999999999" }, owner, "utmr");
  const value = tx.MsgScheduleTimer.fromPartial({ sender: owner,
    spec: { name, trigger, call: { messages: [timersRegistry().encodeAsAny(send)] }, maxCharge: "7000" } });
  const review = await viewer.review({
    messages: [{ typeUrl: "/timers.v1.MsgScheduleTimer", value }], fee: { amount: [{ denom: "utmr", amount: "300" }], gas: "1" },
  }, "Europe/Berlin");
  assert.equal(review.does[0], `Schedule "rent": send 999999999999utmr to ${bob}, on the first of each month at 09:00 Europe/Berlin`);
  assert.deepEqual(review.costs.slice(1, 4), [
    "each fire: at most 700utmr at today's prices, for 200,000 cycles and 1,000 cells; never more than 7000utmr, limits that the chain chooses where none are stated",
    "each fire moves 999999999999utmr from this account, beside what it costs", "this account has 100000utmr to spend",
  ]);
  assert.equal(review.objections[0], "It would fail if it ran now: spendable balance 100000utmr is smaller than 999999999999utmr: insufficient funds");
  assert.match(review.objections[1], /^This account's funds last for no fire: .*; each takes 1000000000699utmr, and 99700utmr are left after this transaction$/);
});
