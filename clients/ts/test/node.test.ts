// Runs against a node: RPC is its endpoint, MNEMONIC that of an account with funds, PREFIX that of its address, DENOM
// and GAS_PRICE what fees are in. The tests hold for a node with an index of transactions and for one without.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { Secp256k1HdWallet } from "@cosmjs/amino";
import { toHex } from "@cosmjs/encoding";
import { DirectSecp256k1HdWallet } from "@cosmjs/proto-signing";
import { GasPrice, SigningStargateClient } from "@cosmjs/stargate";
import {
  ConditionOp,
  Happening,
  Missed,
  OnFailure,
  NodeAway,
  type Sent,
  type TimerInfo,
  TimerPhase,
  TimersClient,
  UnknownOutcome,
  after,
  every,
  preview,
  timersAminoTypes,
  timersRegistry,
  verifyProof,
} from "../src/index.js";
import { keep, show } from "../examples/receipts/receipts.js";

const env = (name: string): string => process.env[name] ?? assert.fail(`set ${name}`);

for (const [mode, wallet] of [["direct", DirectSecp256k1HdWallet], ["amino", Secp256k1HdWallet]] as const) {
  test(`schedules, follows, watches and cancels, signing ${mode}`, { timeout: 120_000 }, async () => {
    const signer = await wallet.fromMnemonic(env("MNEMONIC"), { prefix: env("PREFIX") });
    const [{ address: owner }] = await signer.getAccounts();
    const registry = timersRegistry();
    const signing = await SigningStargateClient.connectWithSigner(env("RPC"), signer, {
      registry,
      aminoTypes: timersAminoTypes(registry),
      gasPrice: GasPrice.fromString(env("GAS_PRICE") + env("DENOM")),
      broadcastPollIntervalMs: 300,
    });
    const client = await TimersClient.connect(env("RPC"), signing);
    const pay = {
      typeUrl: "/cosmos.bank.v1beta1.MsgSend",
      value: { fromAddress: owner, toAddress: owner, amount: [{ denom: env("DENOM"), amount: "1" }] },
    };

    const { preCharge } = await client.estimate({ actor: owner });
    assert.ok(BigInt(preCharge) > 0n);
    assert.ok((await client.blocks(10)) > 0n);

    const abort = new AbortController();
    const follow = client.follow(owner, { signal: abort.signal, pollMs: 200 });
    const first = follow.next();
    const id = await client.schedule(owner, { messages: [pay], trigger: { after: 2n }, name: "from TypeScript" });
    const seen: Happening[] = [(await first).value];
    while (!seen.some((h) => h.type === "TimerFired" && h.id === id)) seen.push((await follow.next()).value);
    abort.abort();
    assert.ok(seen.every((h) => h.actor === owner));
    assert.deepEqual(seen.filter((h) => h.id === id).map((h) => h.type), ["TimerScheduled", "TimerFired"]);
    const fired = seen.find((h) => h.type === "TimerFired")!;
    assert.equal(fired.attributes.success, true);
    assert.equal(fired.attributes.name, "from TypeScript");

    const key = await client.watchKey(`bank:balance:${owner}:${env("DENOM")}`);
    const low = { ...key, when: { op: ConditionOp.LESS, value: "1" } };
    const watching = await client.schedule(owner, { messages: [pay],
      trigger: { watch: { keys: [low], cooldown: 0n, level: false } }, repeat: { remaining: 1n } });
    assert.ok((await client.list(owner)).some((t) => t.id === watching));
    assert.deepEqual(await client.unwatch(owner, key), [watching]);
    assert.ok(!(await client.list(owner)).some((t) => t.id === watching));
    // A guard that does not hold: the messages are not run, and the timer goes on. Then it is changed.
    const guarded = await client.schedule(owner, {
      messages: [pay], trigger: every("1h"), name: "guarded", gasLimit: 200_000n,
      onlyIf: [`bank:balance:${owner}:${env("DENOM")} < 1`],
    });
    await client.run(owner, guarded);
    const outcome = async () => (await client.list(owner)).find((t) => t.id === guarded)?.status?.lastOutcome;
    for (let tries = 0; !(await outcome())?.guarded; tries++) {
      assert.ok(tries < 60, "it is guarded");
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    await client.update(owner, guarded, { trigger: every("2h"), onUnfunded: "skip", reset: ["only_if"] });
    const changed = (await client.list(owner)).find((t) => t.id === guarded)!;
    assert.equal(changed.spec!.trigger?.calendar?.every?.seconds, 7_200n);
    assert.deepEqual([changed.spec!.onlyIf, changed.spec!.name, changed.spec!.gasLimit], [[], "guarded", 200_000n]);
    const next = await client.occurrences(owner, guarded, 3);
    assert.ok(next.byTime && next.more);
    assert.equal(next.occurrences[1].at - next.occurrences[0].at, 7_200n);
    await client.cancel(owner, [guarded]);
    // A cancellation is the cheapest transaction: the fee is a large part of its gas.
    await client.cancel(owner, [await client.schedule(owner, { messages: [pay], trigger: { after: 10_000n } })]);
    await assert.rejects(client.cancel(owner, [watching]),
      /^Error: the chain refused the transaction: (?!.*\.go:).*timer/);
    client.disconnect();
    signing.disconnect();
  });
}

/** Line is the way to the node, which can be cut: as many of the next requests as it loses get no answer. */
class Line {
  lost = 0;
  /** loses says which requests are meant, by their method. */
  loses = (_: string): boolean => true;
  /** lateLoss lets the node have what is lost, and loses its answer. */
  lateLoss = false;
  private readonly server = http.createServer(async (request, response) => {
    const body = await new Response(request as any).text();
    const lose = this.lost > 0 && this.loses(JSON.parse(body).method);
    if (lose) this.lost--;
    if (lose && !this.lateLoss) return request.socket.destroy();
    const answer = await fetch(env("RPC"), { method: "POST", body, headers: { "content-type": "application/json" } });
    const text = await answer.text();
    if (lose) return request.socket.destroy();
    response.writeHead(answer.status, { "content-type": "application/json" }).end(text);
  });

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

const fixed = { amount: [{ denom: env("DENOM"), amount: "1000" }], gas: "400000" };

/** overLine runs a test with a client that reaches the node over a line. */
function overLine(name: string,
  run: (line: Line, client: TimersClient, owner: string, pay: object) => Promise<void>): void {
  test(name, { timeout: 120_000 }, async () => {
    const line = new Line();
    const endpoint = await line.open();
    const signer = await DirectSecp256k1HdWallet.fromMnemonic(env("MNEMONIC"), { prefix: env("PREFIX") });
    const [{ address: owner }] = await signer.getAccounts();
    const signing = await SigningStargateClient.connectWithSigner(endpoint, signer, { registry: timersRegistry() });
    const client = await TimersClient.connect(endpoint, signing);
    const pay = {
      typeUrl: "/cosmos.bank.v1beta1.MsgSend",
      value: { fromAddress: owner, toAddress: owner, amount: [{ denom: env("DENOM"), amount: "1" }] },
    };
    try {
      await run(line, client, owner, { messages: [pay], trigger: { after: 10_000n } });
    } finally {
      line.close();
    }
  });
}

overLine("times are said as people say them, and occurrences are skipped, run and resumed",
  async (_, client, owner, { messages }: any) => {
    const rent = every("day@09:00", { zone: "Europe/Berlin", for: "1y", missed: "each", window: "90m", jitter: "30s",
      onFailure: "suspend", maxFailures: 3 });
    const id = await client.schedule(owner, {
      messages,
      trigger: rent,
      repeat: { renew: true },
      retry: { max: 2, after: "25s", backoff: 2, on: ["bank/5"] },
      onUnfunded: "skip",
      name: "rent",
    }, fixed);
    const read = async (): Promise<TimerInfo> => (await client.list(owner)).find((timer) => timer.id === id)!;
    const made = await read();
    const timing = rent.compile();
    const calendar = made.spec!.trigger!.calendar!;
    assert.deepEqual([calendar.cron, calendar.transitions], [timing.trigger.calendar!.cron,
      timing.trigger.calendar!.transitions]);
    const { repeat, retry } = made.spec!;
    assert.deepEqual(repeat, { remaining: 0n, missed: Missed.EACH, window: 5400n, jitter: 30n,
      onFailure: OnFailure.SUSPEND, maxFailures: 3, renew: true });
    assert.deepEqual([retry!.on, retry!.backoff], [[{ codespace: "bank", code: 5 }], 2]);
    // The chain waits for what the preview says, but for the jitter.
    const next = preview(rent, 3).map(({ time }) => BigInt(time.getTime() / 1000));
    const waits = async (for_: bigint): Promise<void> => {
      const { dueTime } = (await read()).status!;
      assert.ok(dueTime >= for_ && dueTime <= for_ + 30n, `${dueTime} for ${for_}`);
    };
    await waits(next[0]);
    await client.skip(owner, id, 2, fixed);
    await waits(next[2]);
    await client.pause(owner, id, fixed);
    assert.equal((await read()).status!.phase, TimerPhase.ON_HOLD);
    await client.resume(owner, id, { at: "next" }, fixed);
    assert.equal((await read()).status!.phase, TimerPhase.PENDING);
    await waits(next[2]);
    const { latestBlockHeight } = (await client.comet.status()).syncInfo;
    await client.run(owner, id, fixed);
    for await (const { type, id: of, attributes } of client.follow(owner, { from: latestBlockHeight, pollMs: 100 })) {
      if (type !== "TimerFired" || of !== id) continue;
      assert.equal(attributes.success, true);
      assert.equal(BigInt(attributes.occurrence), next[2], "what was run is its next occurrence");
      break;
    }
    const { expiresTime } = (await read()).status!;
    await client.extend(owner, id, { expiresTime: expiresTime - 86_400n }, fixed);
    assert.equal((await read()).status!.expiresTime, expiresTime - 86_400n);
    await client.cancel(owner, [id], fixed);
    await assert.rejects(client.skip(owner, id, 0), /^Error: count 0 is out of bounds: want 1 to 1000$/);
    await assert.rejects(client.resume(owner, id, { at: "soon" as "now" }),
      /^Error: at "soon" is unknown: want now or next$/);
    await assert.rejects(client.schedule(owner, { messages, trigger: rent, expiresTime: 1n }, fixed),
      /states until when the timer may fire, and so does the job/);

    // A time is a lower bound: one that is too soon for the transaction is the soonest that may do.
    const soon = await client.schedule(owner, { messages, trigger: after("1ms") }, fixed);
    for await (const { type, id: of } of client.follow(owner, { from: latestBlockHeight, pollMs: 100 })) {
      if (type === "TimerFired" && of === soon) break;
    }
  });

overLine("a node that is away while a transaction is sent and looked for is waited for",
  async (line, client, owner, job: any) => {
    for (const lateLoss of [false, true]) {
      let sent: Sent | undefined;
      line.lateLoss = lateLoss;
      const id = await client.schedule(owner, job, fixed, {
        pollMs: 100,
        onSent: (given) => {
          sent = given;
          line.lost = 5;
        },
      });
      assert.match(sent!.hash, /^[0-9A-F]{64}$/);
      assert.equal(line.lost, 0, "the line was cut");
      assert.ok((await client.list(owner)).some((timer) => timer.id === id));
      const outcome = await client.outcome(sent!);
      assert.equal(outcome.end, "included");
      await client.cancel(owner, [id], fixed);
    }
  });

overLine("a transaction that failed is told from one that is in a block", async (_, client, owner) => {
  const message = { typeUrl: "/timers.v1.MsgCancelTimer", value: { sender: owner, id: "ab".repeat(32) } };
  const outcome = await client.outcome(await client.broadcast(owner, [message], fixed));
  assert.ok(outcome.end === "failed" && outcome.height > 0, JSON.stringify(outcome));
  assert.match(outcome.reason, /^(?!.*\.go:).*timer/);
});

overLine("what became of a transaction is unknown at the deadline, and found out later",
  async (line, client, owner, job: any) => {
    let sent: Sent | undefined;
    const lost = client.schedule(owner, job, fixed, {
      timeoutMs: 1_000,
      pollMs: 50,
      onSent: (given) => {
        sent = given;
        line.lost = Infinity;
        line.loses = (method) => method !== "broadcast_tx_sync";
      },
    });
    const error = await lost.then(() => assert.fail("it has an outcome"), (error) => error);
    assert.ok(error instanceof UnknownOutcome, String(error));
    assert.deepEqual([error.outcome.hash, error.outcome.since], [sent!.hash, sent!.since]);
    assert.match(error.message,
      new RegExp(
        `^transaction ${
          sent!.hash
        } was sent, and what became of it is unknown: the node is away: .* Ask again with outcome`,
      ));
    line.lost = 0;
    const outcome = await client.outcome(error.outcome);
    assert.equal(outcome.end, "included");
  });

overLine("following goes on after an outage without a gap, and ends if the node stays away",
  async (line, client, owner, job: any) => {
    const direct = await TimersClient.connect(env("RPC"), await SigningStargateClient.connectWithSigner(
      env("RPC"),
      await DirectSecp256k1HdWallet.fromMnemonic(env("MNEMONIC"), { prefix: env("PREFIX") }),
      { registry: timersRegistry() },
    ));
    const { latestBlockHeight } = (await direct.comet.status()).syncInfo;
    line.lost = 20;
    const follow = client.follow(owner, { from: latestBlockHeight + 1, pollMs: 50, maxPauseMs: 100 });
    const first = follow.next();
    const ids = [await direct.schedule(owner, job, fixed), await direct.schedule(owner, job, fixed)];
    const seen: Happening[] = [(await first).value, (await follow.next()).value];
    assert.equal(line.lost, 0, "the line was cut");
    assert.deepEqual(seen.map(({ type, id }) => [type, id]), ids.map((id) => ["TimerScheduled", id]));
    await direct.cancel(owner, ids, fixed);

    line.lost = Infinity;
    const away = client.follow(owner, { from: 1, pollMs: 50, timeoutMs: 500 });
    await assert.rejects(async () => {
      await away.next();
    }, NodeAway);
  });

/** stopNode ends the node, and returns when it has ended. */
async function stopNode(signal: NodeJS.Signals): Promise<void> {
  fs.writeFileSync(env("NODE_DOWN"), "");
  const pid = Number(fs.readFileSync(env("NODE_PID"), "utf8"));
  process.kill(pid, signal);
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

// A rent in small: each payment's proof is kept as it is made, and holds without the node that it was made with.
test("proofs of payments are kept, and verified by both implementations", { timeout: 120_000 }, async () => {
  const wallet = await DirectSecp256k1HdWallet.fromMnemonic(env("MNEMONIC"), { prefix: env("PREFIX") });
  const [{ address: owner }] = await wallet.getAccounts();
  const signing = await SigningStargateClient.connectWithSigner(env("RPC"), wallet, { registry: timersRegistry() });
  const client = await TimersClient.connect(env("RPC"), signing);
  const pay = {
    typeUrl: "/cosmos.bank.v1beta1.MsgSend",
    value: { fromAddress: owner, toAddress: owner, amount: [{ denom: env("DENOM"), amount: "1" }] },
  };
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "timers-receipts-"));
  const from = (await client.comet.status()).syncInfo.latestBlockHeight;
  const rent = every(2, { count: 3, from: "schedule" });
  const id = await client.schedule(owner, { messages: [pay], trigger: rent, name: "rent" }, fixed);
  const kept: string[] = [];
  for await (const name of keep(env("RPC"), owner, id, folder, { from })) kept.push(name);
  assert.equal(kept.length, 3);
  const lines = await show(env("RPC"), folder);
  assert.deepEqual(lines.map((line) => line.slice(0, 10)), ["payment 1,", "payment 2,", "payment 3,"]);
  assert.ok(lines.every((line) => line.includes(id)));

  const text = fs.readFileSync(kept[0], "utf8");
  assert.ok(text.length < 32 << 10);
  const { header } = await client.comet.commit(Number(JSON.parse(text).header_height));
  assert.throws(() => verifyProof({ ...header, chainId: "timers-other" }, text), /the proof is of chain "timers-ts"/);
  assert.throws(() => verifyProof({ ...header, appHash: new Uint8Array(32) }, text), /does not hold/);
  const height = BigInt(JSON.parse(text).height);
  const absence = await client.proveAbsence(id, height + 1n);
  const later = await client.comet.commit(Number(JSON.parse(absence).header_height));
  assert.equal(verifyProof(later.header, absence).absent, true);
  await assert.rejects(client.proveAbsence(id, height), /the timer was delivered at height \d+, position \d+/);
  await assert.rejects(client.proveDelivery(id, height + 1n), /the timer was not delivered at height/);
  await assert.rejects(client.proveDelivery(id, 1_000_000n), /height 1000000 is in the future/);
  await assert.rejects(client.proveDelivery("ab", height), /timer id "ab" is not one/);

  // The latest block's receipts are under a header that is not there yet. The chain's binary verifies the same files.
  const latest = (await client.comet.status()).syncInfo.latestBlockHeight;
  const waited = await client.proveAbsence(id, latest);
  fs.writeFileSync(path.join(folder, "absence.json"), waited);
  for (const [name, { header_height: at }] of [[kept[0], JSON.parse(text)],
    [path.join(folder, "absence.json"), JSON.parse(waited)]] as const) {
    const { header } = await client.comet.commit(Number(at));
    const out = execFileSync(env("TIMERD"), ["query", "timers", "verify", name, "--app-hash", toHex(header.appHash),
      "--header-height", at, "--chain-id", header.chainId, "-o", "json"], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
    assert.equal(JSON.parse(out).timer_id, id);
    assert.equal(JSON.parse(out).delivered, name === kept[0]);
  }
  fs.rmSync(folder, { recursive: true });
  client.disconnect();
  signing.disconnect();
});

const startNode = (): void => fs.rmSync(env("NODE_DOWN"));

// The last test, since it stops the node. A timer fires in each block, so that a block that is left out or read twice
// shows.
test("following goes on when the node is stopped and started again", { timeout: 240_000 }, async () => {
  const wallet = await DirectSecp256k1HdWallet.fromMnemonic(env("MNEMONIC"), { prefix: env("PREFIX") });
  const [{ address: owner }] = await wallet.getAccounts();
  const signing = await SigningStargateClient.connectWithSigner(env("RPC"), wallet, { registry: timersRegistry() });
  const client = await TimersClient.connect(env("RPC"), signing);
  const pay = {
    typeUrl: "/cosmos.bank.v1beta1.MsgSend",
    value: { fromAddress: owner, toAddress: owner, amount: [{ denom: env("DENOM"), amount: "1" }] },
  };
  const fires = 40n;
  const trigger = { interval: { every: 1n, first: 0n, from: 0 } };
  const abort = new AbortController();
  let outages = 0;
  const { latestBlockHeight } = (await client.comet.status()).syncInfo;
  const id = await client.schedule(owner, { messages: [pay], trigger, repeat: { remaining: fires } }, fixed);
  const follow = client.follow(owner, {
    from: latestBlockHeight,
    signal: abort.signal,
    pollMs: 100,
    maxPauseMs: 2_000,
    requestMs: 2_000,
    onAway: () => {
      outages++;
    },
  });
  const seen: Happening[] = [];
  const stops: Promise<void>[] = [];
  for await (const happening of follow) {
    if (happening.type !== "TimerFired" || happening.id !== id) continue;
    seen.push(happening);
    // It is stopped twice: as an operator does it, and as a crash does. Following goes on reading meanwhile.
    if (seen.length === 5 || seen.length === 20) {
      stops.push(
        stopNode(seen.length === 5 ? "SIGTERM" : "SIGKILL").then(() =>
          new Promise((resolve) => setTimeout(resolve, 1_500))
        ).then(startNode),
      );
    }
    if (happening.attributes.ended === "END_REASON_COMPLETED") break;
  }
  await Promise.all(stops);
  assert.equal(stops.length, 2);
  assert.ok(outages >= 2, `${outages} requests failed`);
  assert.deepEqual(seen.map((h) => h.attributes.fire_seq), Array.from({ length: Number(fires) }, (_, i) => i));
  const heights = seen.map((h) => h.height);
  assert.deepEqual(heights, heights.map((_, i) => heights[0] + i), "a fire in each block");
  client.disconnect();
  signing.disconnect();
});
