// The page for wallets on a node, without a browser: a wallet for tests signs, and each review is compared with what
// happens then. RPC, MNEMONIC, PREFIX, DENOM and GAS_PRICE are as for node.test.ts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { toBech32 } from "@cosmjs/encoding";
import { GasPrice, SigningStargateClient } from "@cosmjs/stargate";
import { type Planned, type Sending, TimersClient, timersAminoTypes, timersRegistry } from "@cosmos-timers/timers";
import { type Entered, type Review, type Row, Viewer, description, jobOf, signerOf } from "../examples/wallet/logic.js";
import { fakeWallet } from "./fake-wallet.js";

const env = (name: string): string => process.env[name] ?? assert.fail(`set ${name}`);
const zone = "Europe/Berlin";
const stamped = /^\w{3} \d{4}-\d\d-\d\d 09:00:00 \+0[12]:00$/;

for (const mode of ["direct", "amino"]) {
  test(`what a wallet signs ${mode} is what was reviewed`, { timeout: 300_000 }, async () => {
    const wallet = fakeWallet({ mnemonic: env("MNEMONIC"), prefix: env("PREFIX"), ledger: mode === "amino" });
    const chainId = (await (await TimersClient.connect(env("RPC"))).comet.status()).nodeInfo.network;
    await wallet.experimentalSuggestChain(description(chainId, env("DENOM"), env("RPC"), ""));
    const signer = await signerOf(wallet, chainId);
    const [{ address: owner }] = await signer.getAccounts();
    const registry = timersRegistry();
    const signing = await SigningStargateClient.connectWithSigner(env("RPC"), signer, {
      registry, aminoTypes: timersAminoTypes(registry), gasPrice: GasPrice.fromString(env("GAS_PRICE") + env("DENOM")),
    });
    const timers = await TimersClient.connect(env("RPC"), signing);
    const viewer = new Viewer(timers, owner, zone);
    const bob = toBech32(env("PREFIX"), new Uint8Array(20).fill(7));

    let review: Review | undefined;
    const options: Sending = { confirm: async (planned: Planned) => { review = await viewer.review(planned); } };
    const signed = (): number => wallet.signed.length;
    const rowOf = async (id: string): Promise<Row | undefined> => (await viewer.rows()).find(({ timer }) => timer.id === id)?.row;
    const until = async (what: () => Promise<boolean>): Promise<void> => {
      for (let tries = 0; !(await what()); tries++) {
        assert.ok(tries < 200, "it comes to that");
        await new Promise((resolve) => setTimeout(resolve, 250));
      }
    };
    const entered: Entered = {
      kind: "day", recipient: bob, amount: "5", zone, date: "", hour: "09:00", day: "1", blocks: "20", count: "4",
      until: "", onUnfunded: "skip", maxCharge: "9000000", name: `<i>rent ${mode}`,
    };

    const id = await timers.schedule(owner, jobOf(entered, owner, env("DENOM")), "auto", options);
    assert.deepEqual(review!.does[0], `Schedule "<i>rent ${mode}": send 5utmr to ${bob}, every day at 09:00 Europe/Berlin, 4 left`);
    assert.match(review!.costs[0], /^transaction: [1-9]\d*utmr, whatever becomes of it$/);
    assert.match(review!.costs[1], /^each fire: at most [1-9]\d*utmr at today's prices, for [\d,]+ cycles and [\d,]+ cells; never more than 9000000utmr/);
    assert.deepEqual(review!.objections, []);
    assert.equal(review!.next.length, 4); // three, and that there are more
    for (const line of review!.next.slice(0, 3)) assert.match(line, stamped);
    const row = (await rowOf(id))!;
    assert.equal(row.name, `<i>rent ${mode} (${id.slice(0, 8)})`);
    assert.equal(row.does, `send 5utmr to ${bob}`);
    assert.deepEqual(row.next, review!.next); // the preview was right
    assert.deepEqual([row.status, row.last, row.waits], ["pending", "none yet", `its turn, ${row.next[0]}`]);
    assert.match(row.cost, /never more than 9000000utmr$/);

    const { timer } = await timers.query.Timer({ actor: owner, id, name: "", scheduler: "", verdict: false });
    const due = await timers.query.Due({
      height: 0n, until: false, time: timer!.status!.dueTime, pagination: undefined, verdict: false,
    });
    assert.ok(due.timers.some((one) => one.id === id));

    await timers.skip(owner, id, 1, "auto", options);
    assert.match(review!.does[0], new RegExp(`^Skip .*: it does not send 5utmr to ${bob} ${row.next[0].replaceAll("+", "\\+")}$`));
    const skipped = (await rowOf(id))!;
    assert.deepEqual(skipped.next.slice(0, 2), row.next.slice(1, 3));
    assert.deepEqual(review!.next.slice(0, 2), skipped.next.slice(0, 2));

    await timers.pause(owner, id, "auto", options);
    assert.match(review!.does[0], /^Pause .* until it is resumed\. Its life goes on, and ends after /);
    const paused = (await rowOf(id))!;
    assert.deepEqual([paused.status, paused.waits, paused.next], ["on hold: paused", "its owner, who paused it and resumes it", ["not while it is on hold"]]);

    await timers.resume(owner, id, options);
    assert.match(review!.does[0], /^Resume .*, every day at 09:00 Europe\/Berlin/);
    assert.deepEqual((await rowOf(id))!.next, review!.next);

    const before = BigInt((await signing.getBalance(bob, env("DENOM"))).amount);
    await timers.run(owner, id, "auto", options);
    assert.equal(review!.next[0], "in the next block");
    assert.match(review!.costs[1], /^the fire: at most /);
    await until(async () => /: ok, \d+ paid$/.test((await rowOf(id))!.last));
    assert.equal(BigInt((await signing.getBalance(bob, env("DENOM"))).amount) - before, 5n);
    const run = (await rowOf(id))!;
    assert.equal(run.next[0], review!.next[1]);

    // Who goes back in the review signs nothing, and nothing changes.
    const count = signed();
    const declines: Sending = { confirm: () => { throw new Error("not signed"); } };
    await assert.rejects(timers.cancel(owner, [id], "auto", declines), /^Error: not signed$/);
    assert.equal(signed(), count);
    assert.deepEqual((await rowOf(id))!, run);

    await timers.cancel(owner, [id], "auto", options);
    assert.deepEqual(review!.next, ["never"]);
    assert.equal(await rowOf(id), undefined);
    assert.deepEqual(new Set(wallet.signed), new Set([mode]));

    // What the module refuses comes in its own words, before anything is to be signed.
    review = undefined;
    const late = { ...entered, kind: "once", date: "2999-01-01T09:00", count: "" };
    await assert.rejects(timers.schedule(owner, jobOf(late, owner, env("DENOM")), "auto", options),
      /^Error: the chain refused the transaction: (?!.*\.go:).*time to live too long$/);
    await assert.rejects(timers.run(owner, id, "auto", options), /^Error: the chain refused the transaction: (?!.*\.go:)/);
    assert.equal(review, undefined);

    // One whose recipient can't be paid says so, and one in blocks says about when.
    const poor = { ...entered, kind: "blocks", blocks: "3", count: "5", amount: "9".repeat(20), name: "", maxCharge: "" };
    const failing = await timers.schedule(owner, jobOf(poor, owner, env("DENOM")), "auto", options);
    assert.match(review!.objections[0], /^It would fail if it ran now: .*insufficient funds/);
    assert.match(review!.objections[1], /^This account's funds last for no fire: /);
    for (const line of review!.next.slice(0, 3)) assert.match(line, /^height \d+, about \w{3} \d{4}-/);
    await until(async () => (await rowOf(failing))?.last.includes("sdk/5 (insufficient funds)") ?? false);
    await timers.cancel(owner, [failing]);
    timers.disconnect();
    signing.disconnect();
  });
}
