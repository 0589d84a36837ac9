// Runs against a node: RPC is its endpoint, MNEMONIC that of an account with funds, PREFIX that of its address, DENOM and
// GAS_PRICE what fees are in.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Secp256k1HdWallet } from "@cosmjs/amino";
import { DirectSecp256k1HdWallet } from "@cosmjs/proto-signing";
import { GasPrice, SigningStargateClient } from "@cosmjs/stargate";
import { ConditionOp, Happening, TimersClient, timersAminoTypes, timersRegistry } from "../src/index.js";

const env = (name: string): string => process.env[name] ?? assert.fail(`set ${name}`);

for (const [mode, wallet] of [["direct", DirectSecp256k1HdWallet], ["amino", Secp256k1HdWallet]] as const) {
  test(`schedules, follows, watches and cancels, signing ${mode}`, { timeout: 120_000 }, async () => {
    const signer = await wallet.fromMnemonic(env("MNEMONIC"), { prefix: env("PREFIX") });
    const [{ address: owner }] = await signer.getAccounts();
    const registry = timersRegistry();
    const signing = await SigningStargateClient.connectWithSigner(env("RPC"), signer, {
      registry, aminoTypes: timersAminoTypes(registry), gasPrice: GasPrice.fromString(env("GAS_PRICE") + env("DENOM")),
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
    const id = await client.schedule(owner, { messages: [pay], trigger: { after: 2n }, label: "from TypeScript" });
    const seen: Happening[] = [(await first).value];
    while (!seen.some((h) => h.type === "TimerFired" && h.id === id)) seen.push((await follow.next()).value);
    abort.abort();
    assert.ok(seen.every((h) => h.actor === owner));
    assert.deepEqual(seen.filter((h) => h.id === id).map((h) => h.type), ["TimerScheduled", "TimerFired"]);
    const fired = seen.find((h) => h.type === "TimerFired")!;
    assert.equal(fired.attributes.success, true);
    assert.equal(fired.attributes.label, "from TypeScript");

    const key = await client.watchKey(`bank:balance:${owner}:${env("DENOM")}`);
    const low = { ...key, when: { op: ConditionOp.LESS, value: "1" } };
    const watching = await client.schedule(owner, { messages: [pay], trigger: { watch: { keys: [low], remaining: 1n, cooldown: 0n } } });
    assert.ok((await client.list(owner)).some((t) => t.id === watching));
    assert.deepEqual(await client.unwatch(owner, key), [watching]);
    assert.ok(!(await client.list(owner)).some((t) => t.id === watching));
    // A cancellation is the cheapest transaction: the fee is a large part of its gas.
    await client.cancel(owner, [await client.schedule(owner, { messages: [pay], trigger: { after: 10_000n } })]);
    await assert.rejects(client.cancel(owner, [watching]), /^Error: the chain refused the transaction: (?!.*\.go:).*timer/);
    client.disconnect();
    signing.disconnect();
  });
}
