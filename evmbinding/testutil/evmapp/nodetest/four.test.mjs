// Four validators of evmappd, which random transactions keep busy for DURATION seconds (300 by default): they agree on
// each block. Their state goes on in a new chain of four, where timers fire as they do in the old one.
// EVMAPPD=path/of/evmappd npm run four; SEED=n draws the same transactions, in the order in which nodes take them.
import assert from "node:assert/strict";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { decodeFunctionResult, encodeDeployData, encodeFunctionData, getContractAddress, stringToHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { callTo, hex, spec } from "./forms.mjs";
import { Node, compile, keys, sleep, until } from "./node.mjs";

const duration = Number(process.env.DURATION ?? 300);
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 32));
// blocks are compared after the export.
const blocks = 15;
const gasPrice = 20_000_000_000n;
const TIMERS = "0x0000000000000000000000000000000000001215";

const here = new URL(".", import.meta.url).pathname;
const contracts = compile(["Alarm.sol", "Booker.sol"], [`${here}../../../contracts`, `${here}../contracts`]);
const accounts = keys.map((key) => privateKeyToAccount(key));
const close = [];

after(async () => {
  for (const node of close) {
    await node.stop();
    if (process.env.KEEP) console.error(node.home);
    else await node.remove();
  }
});

// random is a small generator of numbers below a bound: the same seed gives the same.
let state = seed >>> 0;
function random(below) {
  state = (state + 0x9e3779b9) >>> 0;
  let x = state;
  x = Math.imul(x ^ (x >>> 16), 0x21f0aaad);
  x = Math.imul(x ^ (x >>> 15), 0x735a2d97);
  return ((x ^ (x >>> 15)) >>> 0) % below;
}
const pick = (all) => all[random(all.length)];

function nodes() {
  const all = Array.from({ length: 4 }, () => new Node(process.env.EVMAPPD));
  close.push(...all);
  return all;
}

async function startAll(all) {
  const peers = await Promise.all(all.map((node) => node.listen()));
  await Promise.all(all.map((node, i) => node.start({ peers: peers.filter((_, j) => j !== i) })));
}

const stopAll = (all) => Promise.all(all.map((node) => node.stop()));
const heightOf = async (node) => Number(await node.ask("eth_blockNumber"));
const nonceOf = async (node, { address }) => Number(await node.ask("eth_getTransactionCount", address, "latest"));

async function comet(node, path) {
  const { result, error } = await (await fetch(`${node.comet.replace("tcp", "http")}/${path}`)).json();
  assert.ok(!error, `${path}: ${JSON.stringify(error)}`);
  return result;
}

// sign signs a transaction; what is not stated has a default.
const sign = (account, nonce, { to, data = "0x", value = 0n, gas = 2_000_000n }) =>
  account.signTransaction({ type: "legacy", chainId: 9001, nonce, gasPrice, gas, to, data, value });

// sent sends transactions of an account to one node, one after the other, and waits until they are in blocks. A mempool
// may have two of an account in the wrong order, so that a block has them so, and the second fails: it is sent again.
async function sent(node, account, requests) {
  const first = await nonceOf(node, account);
  for (let nonce = first; nonce < first + requests.length; ) {
    for (let n = nonce; n < first + requests.length; n++)
      await node.ask("eth_sendRawTransaction", await sign(account, n, requests[n - first])).catch((error) => {
        if (!/already|cache|nonce/.test(error.message)) throw error;
      });
    const end = Date.now() + 15_000;
    while ((nonce = await nonceOf(node, account)) < first + requests.length && Date.now() < end) await sleep(150);
  }
}

// deploy deploys a contract and gives it coins.
async function deploy(node, account, name) {
  const { abi, bytecode } = contracts[name];
  const nonce = await nonceOf(node, account);
  const address = getContractAddress({ from: account.address, nonce: BigInt(nonce) });
  const value = 10n ** 18n;
  const made = { data: encodeDeployData({ abi, bytecode }), gas: 4_000_000n };
  await sent(node, account, [made, { to: address, value, gas: 100_000n }]);
  return { address, abi };
}

// watch is one of a slot or a balance of a contract.
const watch = (source, target, n = 1) => ({ source, target, slot: `0x${n.toString(16).padStart(64, "0")}` });

// The kinds of random transactions, each of an account and the alarms.
const call = (contract, functionName, args, more) => ({
  to: contract.address, data: encodeFunctionData({ abi: contract.abi, functionName, args }), ...more,
});
const dataOf = (functionName, ...args) => encodeFunctionData({ abi: contracts.Alarm.abi, functionName, args });
const payloads = ["", "", "r", "l", "n", "w", "u", "x", "s"];
const kinds = {
  schedule: (_, alarms) => call(pick(alarms), "start", [BigInt(1 + random(12)), 400_000n, stringToHex(pick(payloads))]),
  repeat: (_, alarms) => call(pick(alarms), "every", [BigInt(1 + random(5)), BigInt(1 + random(6)), 300_000n, "0x"]),
  watchSlot: (_, alarms) => call(pick(alarms), "schedule",
    [spec(300_000n, { watch: { keys: [watch(0, pick(alarms).address)] } }, { repeat: { remaining: BigInt(1 + random(3)) } })]),
  watchBalance: (_, alarms) => call(pick(alarms), "schedule",
    [spec(300_000n, { watch: { keys: [watch(1, pick(alarms).address)] } }, { repeat: { remaining: 1n } })]),
  set: (_, alarms) => call(pick(alarms), "set", [BigInt(random(1_000))]),
  // Cancels what the alarm scheduled last: that is there still, or the transaction reverts.
  cancelOwn: (_, alarms) => ({ cancels: pick(alarms) }),
  revert: (_, alarms) => call(pick(alarms), pick(["startAndRevert", "scheduleInACallThatReverts"]), [5n, 200_000n]),
  cancelAndRevert: (_, alarms) => call(pick(alarms), "cancelInACallThatReverts", []),
  send: (_, alarms) => ({
    to: pick([...alarms, ...accounts]).address, value: BigInt(1 + random(1_000)), gas: 100_000n,
  }),
  callTo: (_, alarms) => call({ address: TIMERS, abi: contracts.ITimers.abi }, "schedule", [
    spec(200_000n, { afterBlocks: BigInt(1 + random(5)) }, {
      call: callTo(pick(alarms).address, BigInt(random(50)), pick(["0x", dataOf("set", BigInt(random(99)))])),
    }),
  ]),
};

async function requestOf(node, account, alarms) {
  const name = pick(Object.keys(kinds));
  const request = kinds[name](account, alarms);
  if (!request.cancels) return [name, request];
  const last = await node.ask("eth_call", { to: request.cancels.address, data: dataOf("last") }, "latest");
  return [name, call(request.cancels, "cancel", [last])];
}

// busy sends random transactions to random nodes until the time is over, and counts them by kind.
async function busy(all, alarms, until) {
  const counts = {};
  while (Date.now() < until)
    await Promise.all(accounts.map(async (account) => {
      const node = pick(all);
      // Nonces are counted from what the node has: it must have all of the account's.
      const requests = [];
      for (let i = 1 + random(3); i > 0; i--) {
        const [name, request] = await requestOf(node, account, alarms);
        counts[name] = (counts[name] ?? 0) + 1;
        requests.push(request);
      }
      await sent(node, account, requests);
      const nonce = await nonceOf(node, account);
      for (const other of all)
        await wait(`${account.address} on all nodes`, async () => (await nonceOf(other, account)) >= nonce);
    }));
  return counts;
}
const wait = (what, ask) => until(what, ask, 120);

// agree compares what all nodes have of the heights from one to another, and counts what happened in them.
async function agree(all, from, to) {
  const seen = { fires: 0, failed: 0, signed: 0, reverted: 0 };
  for (let height = from; height <= to; height++) {
    const headers = [], shown = [];
    for (const node of all) {
      headers.push((await comet(node, `block?height=${height}`)).block.header);
      shown.push(await node.raw("eth_getBlockByNumber", hex(height), true));
    }
    for (const [i, header] of headers.entries()) {
      assert.equal(header.app_hash, headers[0].app_hash, `app hash of node ${i} at height ${height}`);
      assert.equal(header.last_results_hash, headers[0].last_results_hash, `results of node ${i} before ${height}`);
      assert.equal(shown[i], shown[0], `block ${height} of node ${i}`);
    }
    const { transactions } = JSON.parse(shown[0]).result;
    if (transactions.length === 0) continue;
    const receipts = await pick(all).ask("eth_getBlockReceipts", hex(height));
    for (const [i, { s }] of transactions.entries()) {
      const ok = receipts[i].status === "0x1";
      if (BigInt(s) === 0n) seen.fires++, (seen.failed += !ok);
      else seen.signed++, (seen.reverted += !ok);
    }
  }
  return seen;
}

// timersOf are the live timers of owners after a block, without what the ids of deliveries make different: prices.
async function timersOf(node, owners, height) {
  const { abi } = contracts.ITimers;
  const all = [];
  for (const { address } of owners) {
    const data = encodeFunctionData({ abi, functionName: "timersOf", args: [address, 0, 100] });
    const answer = await node.ask("eth_call", { to: TIMERS, data, gas: hex(20_000_000) }, hex(height));
    const [timers, total] = decodeFunctionResult({ abi, functionName: "timersOf", data: answer });
    assert.equal(timers.length, total, `${address} has ${total} timers: want at most 100`);
    all.push(...timers.map(({ lastPaid, ...timer }) => timer));
  }
  return all;
}

// firesOf are the fires of some blocks: what they call, and what became of them. The data of a callback has the id of
// its delivery, which follows from the app hash; a zero byte of it costs 12 less.
async function firesOf(node, from, to) {
  const all = [];
  for (let height = from; height <= to; height++) {
    const { transactions } = await node.ask("eth_getBlockByNumber", hex(height), true);
    const receipts = transactions.length ? await node.ask("eth_getBlockReceipts", hex(height)) : [];
    for (const [i, tx] of transactions.entries()) {
      assert.equal(BigInt(tx.s), 0n, `block ${height} has a signed transaction`);
      const { status, gasUsed, logs } = receipts[i];
      all.push({
        height, from: tx.from, to: tx.to, value: tx.value, nonce: tx.nonce, size: tx.input.length, gas: tx.gas, status,
        gasUsed: Number(gasUsed), logs: logs.map(({ address, topics }) => [address, topics]),
      });
    }
  }
  return all;
}

// goesOn waits until a network has run some blocks after a height.
async function goesOn(all, height) {
  for (const node of all) await wait(`block ${height + blocks}`, async () => (await heightOf(node)) > height + blocks);
}

// imported are homes of four nodes with the keys of others and an exported state.
function imported(old, genesis) {
  const all = nodes();
  for (const [i, node] of all.entries()) {
    node.configure();
    for (const file of ["priv_validator_key.json", "node_key.json"])
      cpSync(join(old[i].home, "config", file), join(node.home, "config", file));
    const nothingSigned = JSON.stringify({ height: "0", round: 0, step: 0 });
    writeFileSync(join(node.home, "data/priv_validator_state.json"), nothingSigned);
    writeFileSync(join(node.home, "config/genesis.json"), JSON.stringify(genesis));
  }
  return all;
}

const limits = { timeout: (duration + 600) * 1000 };
test(`four validators agree for ${duration} s, and their timers go on in another chain`, limits, async () => {
  console.log(`SEED=${seed}`);
  const all = nodes();
  all[0].init(accounts.map(({ address }) => address), all.slice(1));
  await startAll(all);
  const alarms = [];
  for (let i = 0; i < 6; i++) alarms.push(await deploy(all[0], accounts[i % accounts.length], "Alarm"));
  for (const account of accounts) {
    const nonce = await nonceOf(all[0], account);
    for (const node of all)
      await wait("the contracts on all nodes", async () => (await nonceOf(node, account)) >= nonce);
  }
  const counts = await busy(all, alarms, Date.now() + duration * 1000);
  console.log("transactions:", JSON.stringify(counts));

  // Timers for the time after the export: one in each block, some once, a watch that these set off, one of an account.
  const last = { abi: contracts.ITimers.abi, address: TIMERS };
  await sent(all[0], accounts[0], [
    call(alarms[5], "start", [1n, 300_000n, stringToHex("r")]),
    call(alarms[5], "startAndRevert", [5n, 200_000n]),
    call(alarms[0], "every", [1n, 0n, 300_000n, "0x"]),
    call(alarms[1], "schedule", [
      spec(300_000n, { watch: { keys: [watch(0, alarms[0].address, 0)], cooldown: 3n } }, { repeat: { remaining: 5n } }),
    ]),
    call(alarms[2], "every", [4n, 0n, 300_000n, stringToHex("w")]),
    ...[20n, 23n, 26n].map((n) => call(alarms[3], "start", [n, 300_000n, stringToHex(n === 23n ? "r" : "")])),
    ...[[25n, 7n], [900n, 8n]].map(([afterBlocks, value]) =>
      call(last, "schedule", [spec(200_000n, { afterBlocks }, { call: callTo(alarms[4].address, value) })])),
  ]);
  const owners = [...alarms, ...accounts];
  const quiet = Math.max(...(await Promise.all(all.map(heightOf)))) + 2;
  for (const node of all) await wait("quiet blocks", async () => (await heightOf(node)) >= quiet);
  const seen = await agree(all, 1, quiet);
  console.log(`${quiet} blocks: ${JSON.stringify(seen)}`);
  assert.ok(seen.fires > duration / 2 && seen.failed > 0 && seen.reverted > 0, "too little happened");
  await stopAll(all);

  const genesis = JSON.parse(all[0].run("export"));
  const height = Number(genesis.initial_height) - 1;
  assert.ok(height >= quiet);
  // The old chain goes on by itself, and so does the new one.
  await startAll(all);
  await goesOn(all, height);
  const time = (await comet(all[0], `block?height=${height}`)).block.header.time;
  const happened = async (node) => ({
    fires: await firesOf(node, height + 1, height + blocks), timers: await timersOf(node, owners, height + blocks),
  });
  const want = await happened(all[0]);
  await agree(all, height, height + blocks);
  await stopAll(all);
  assert.ok(want.fires.length >= blocks && want.timers.length >= 3, JSON.stringify(want.fires.length));

  const again = imported(all, { ...genesis, genesis_time: time });
  await startAll(again);
  await goesOn(again, height);
  await agree(again, height + 1, height + blocks);
  const got = await happened(again[0]);
  assert.deepEqual(got.timers, want.timers);
  for (const [i, fire] of got.fires.entries()) {
    const other = want.fires[i];
    assert.ok(other && Math.abs(fire.gasUsed - other.gasUsed) <= 48, JSON.stringify([fire, other]));
    for (const field of ["gas", "gasUsed"]) fire[field] = other[field];
  }
  assert.deepEqual(got.fires, want.fires);
  console.log(`after the export: ${got.fires.length} fires in ${blocks} blocks, ${got.timers.length} timers, in both`);

  // No state comes before a chain's first block: its fires are shown, and not traced.
  const first = await again[0].ask("eth_getBlockByNumber", hex(height + 1), true);
  assert.ok(first.transactions.length > 0);
  const tracer = { tracer: "callTracer" };
  const refused = again[0].ask("debug_traceTransaction", first.transactions[0].hash, tracer);
  await assert.rejects(refused, /the state before block/);
  const traces = await again[0].ask("debug_traceBlockByNumber", hex(height + 1), tracer);
  assert.equal(traces.length, first.transactions.length);
  for (const { error } of traces) assert.match(error, /the state before block/);
  const [second] = (await again[0].ask("eth_getBlockByNumber", hex(height + 2), true)).transactions;
  assert.equal((await again[0].ask("debug_traceTransaction", second.hash, tracer)).to, second.to);
});
