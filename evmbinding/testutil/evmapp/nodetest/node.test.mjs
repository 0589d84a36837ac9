// Timers of the EVM on a node, as viem and ethers see them: EVMAPPD=path/of/evmappd npm test (INDEXER=1: with the
// node's own index of transactions; SUITE=path/of/execution-apis/tests: with the requests of that suite). The tests run
// in order, on one chain.
import assert from "node:assert/strict";
import { after, before, test as testOf } from "node:test";
import { ethers } from "ethers";
import { decodeEventLog, encodeFunctionData, keccak256, stringToHex, zeroAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { keys, sleep, until } from "./node.mjs";
import * as rig from "./rig.mjs";
import { answers, compare } from "./conformance.mjs";
import { askSuite, compareSuite } from "./suite.mjs";
import { asBlockscout, asGraph } from "./indexers.mjs";
import { tutorial } from "./tutorial.mjs";

const { TIMERS, accounts, callTo, contracts, deploy, firesOf, hex, node, read, send, spec, timersABI, write } = rig;
const timers = { address: TIMERS, abi: timersABI };
const rangEvent = contracts.Alarm.abi.find((e) => e.type === "event" && e.name === "Rang");
const gas = 200_000n;

// test fails if it takes longer than some ten times what it took on two idle cores.
const test = (name, run, more) => testOf(name, { timeout: 180_000, ...more }, run);

before(() => rig.start());
after(async () => {
  await rig.stop();
  if (process.env.KEEP) console.error(node.home);
  else await node.remove();
});

// ring schedules a callback of an alarm and returns its fire.
async function ring(alarm, payload = "", limit = gas, blocks = 2n) {
  const { blockNumber } = await write(rig.wallets[0], alarm, "start", [blocks, limit, stringToHex(payload)]);
  const [fire] = await firesOf(alarm.address, blockNumber, 1);
  assert.equal(fire.block.number, blockNumber + blocks);
  return fire;
}

// delegate gives an account the code of a contract, by EIP-7702; that of 0 is none.
async function delegate(account, contractAddress) {
  const authorization = await account.signAuthorization({ contractAddress });
  await send(rig.wallets[0], { to: account.account.address, authorizationList: [authorization], gas: 100_000n });
}

// goneCallback schedules a callback of an account that has no code any more when it is due.
async function goneCallback() {
  const account = rig.wallets[3];
  await delegate(account, (await deploy("Alarm", 0n)).address);
  const { blockNumber } = await write(account, timers, "scheduleAfter", [8n, gas, "0x"]);
  await delegate(account, zeroAddress);
  return [account.account.address, blockNumber + 1n];
}

test("an account schedules calls through the precompile", async () => {
  const to = "0x00000000000000000000000000000000000000aa";
  const account = rig.wallets[1];
  const nonce = async () => rig.pub.getTransactionCount({ address: account.account.address });
  const { blockNumber, logs } = await write(account, timers, "schedule", [spec(100_000n, { afterBlocks: 2n }, { call: callTo(to, 5n) })]);
  const scheduled = decodeEventLog({ abi: timersABI, ...logs[0] });
  assert.equal(scheduled.eventName, "TimerScheduled");
  assert.equal(scheduled.args.owner, account.account.address);
  const before = await nonce();
  const [{ tx, receipt }] = await firesOf(account.account.address, blockNumber + 1n, 1);
  assert.equal(tx.value, 5n);
  assert.equal(tx.to, to);
  assert.equal(tx.from, account.account.address.toLowerCase());
  assert.equal(receipt.status, "success");
  assert.equal(receipt.gasUsed, 21_000n);
  assert.equal(await rig.pub.getBalance({ address: to }), 5n);
  assert.equal(await nonce(), before, "a fire uses no nonce");
});

test("an account schedules several at once, of a coin and in a time zone, and cancels all", async () => {
  const account = rig.wallets[3];
  const cron = { minuteSet: 1n, hourSet: 1 << 9, daySet: 2 ** 32 - 2, monthSet: 2 ** 13 - 2, weekdaySet: 127 };
  const coin = { source: 2, target: account.account.address, name: "ibc/coin", when: { op: 6, value: 10n } };
  const specs = [
    spec(gas, { afterBlocks: 500n }, { call: callTo(TIMERS, 0n), name: "first" }),
    spec(gas, { watch: { keys: [coin] } }, { call: callTo(TIMERS, 1n, "0x01") }),
    spec(gas, { calendar: { cron, transitions: [{ from: 4_000_000_020n, offsetMinutes: -90 }] } }, { call: callTo(TIMERS, 0n, "0x0203") }),
  ];
  const batch = await write(account, timers, "scheduleBatch", [specs]);
  const ids = batch.logs.map((log) => decodeEventLog({ abi: timersABI, ...log }).args.id);
  for (const [i, id] of ids.entries()) {
    const kept = await rig.pub.readContract({ ...timers, functionName: "specOf", args: [account.account.address, id] });
    assert.deepEqual(kept, specs[i]);
  }
  const names = ({ logs }) => logs.map((log) => decodeEventLog({ abi: timersABI, ...log }).eventName);
  assert.deepEqual(names(batch), Array(3).fill("TimerScheduled"));
  assert.equal(await rig.pub.readContract({ ...timers, functionName: "idOf", args: [account.account.address, "first"] }), ids[0]);
  const paused = await write(account, timers, "pauseNamed", ["first"]);
  assert.deepEqual(decodeEventLog({ abi: timersABI, ...paused.logs[0] }).args.id, ids[0]);
  const cancelled = await write(account, timers, "cancelAll", [2 ** 32 - 1]);
  assert.deepEqual(names(cancelled), Array(3).fill("TimerCancelled"));
  const [free, total] = await rig.pub.readContract({
    ...timers, functionName: "capacity", args: [BigInt(Math.floor(Date.now() / 1000) + 600)], account: account.account,
  });
  assert.ok(free > 0n && free < total);
});

test("an account schedules messages from the command line", async () => {
  const keyring = ["--keyring-backend", "test"];
  node.run("keys", "unsafe-import-eth-key", "dave", keys[4].slice(2), ...keyring);
  const erin = `0x${"6".padStart(64, "0")}`;
  node.run("keys", "unsafe-import-eth-key", "erin", erin.slice(2), ...keyring);
  const out = node.run("tx", "timers", "schedule", "send", "erin", "7aexample", "--in", "4", "--from", "dave", ...keyring, "--gas", "400000",
    "--gas-prices", "2000000000aexample", "--chain-id", "evmapp", "--node", node.comet, "--yes", "--wait");
  assert.match(out, /timers\.v1\.TimerScheduled|scheduled/i);
  const { address } = privateKeyToAccount(erin);
  await until("the coins of a fire of messages", async () => (await rig.pub.getBalance({ address })) === 7n);
});

test("a contract schedules itself in its constructor", async () => {
  const born = await deploy("Born");
  const [{ receipt }] = await firesOf(born.address, 1, 1);
  assert.equal(receipt.status, "success");
  assert.equal(await read(born, "rings"), 1n);
});

test("an account that delegates by EIP-7702 is called back", async () => {
  const delegated = rig.wallets[2];
  const code = await deploy("Alarm", 0n);
  await delegate(delegated, code.address);
  const alarm = { address: delegated.account.address, abi: code.abi };
  const { blockNumber } = await write(delegated, alarm, "start", [2n, gas, "0x"]);
  const [{ receipt }] = await firesOf(alarm.address, blockNumber + 1n, 1);
  assert.equal(receipt.status, "success");
  assert.equal(receipt.logs[0].address, alarm.address.toLowerCase());
  assert.equal(await read(alarm, "rings"), 1n);
  assert.equal(await read(code, "rings"), 0n);
});

test("callbacks schedule the next one, and one cancels", async () => {
  const alarm = await deploy("Alarm");
  const { blockNumber } = await write(rig.wallets[0], alarm, "start", [2n, 400_000n, stringToHex("n")]);
  const chain = await firesOf(alarm.address, blockNumber, 4);
  for (const { receipt } of chain) {
    assert.equal(receipt.status, "success");
    const names = receipt.logs.map((log) => (log.address === TIMERS ? decodeEventLog({ abi: timersABI, ...log }).eventName : "Rang"));
    assert.deepEqual(names, ["Rang", "TimerScheduled"]);
  }
  await until("a cancel between two fires", async () => {
    const id = await read(alarm, "last");
    const data = encodeFunctionData({ abi: alarm.abi, functionName: "cancel", args: [id] });
    const hash = await rig.wallets[0].sendTransaction({ to: alarm.address, data, gas: 200_000n });
    await rig.pub.waitForTransactionReceipt({ hash });
    return (await rig.pub.readContract({ ...timers, functionName: "timersOf", args: [alarm.address, 0, 10] }))[1] === 0;
  });
});

test("a callback sends value", async () => {
  const to = "0x00000000000000000000000000000000000000bb";
  const alarm = await deploy("Alarm");
  const { blockNumber } = await write(rig.wallets[0], alarm, "start", [2n, gas, `0x76${to.slice(2)}`]);
  const [{ receipt }] = await firesOf(alarm.address, blockNumber, 1);
  assert.equal(receipt.status, "success");
  assert.equal(await rig.pub.getBalance({ address: to }), 1n);
});

test("a callback that reverts, and one that never ends, show as failed", async () => {
  const alarm = await deploy("Alarm");
  const reverted = await ring(alarm, "r");
  assert.equal(reverted.receipt.status, "reverted");
  assert.equal(reverted.receipt.logs.length, 0);
  assert.ok(reverted.receipt.gasUsed > 21_000n && reverted.receipt.gasUsed < reverted.tx.gas);
  const trace = await node.ask("debug_traceTransaction", reverted.tx.hash, { tracer: "callTracer" });
  assert.equal(trace.error, "execution reverted");
  assert.equal(trace.from, TIMERS);
  assert.equal(ethers.Interface.from(alarm.abi).parseError(trace.output).name, "Refused");
  const endless = await ring(alarm, "l", 120_000n);
  assert.equal(endless.receipt.status, "reverted");
  assert.equal(endless.receipt.gasUsed, endless.tx.gas);
  assert.equal(await read(alarm, "rings"), 0n);
  // To call back an account without code.
  const [gone] = await firesOf(...(await goneCallback()), 1);
  assert.equal(gone.receipt.status, "reverted");
  // To write more than its limit: the EVM itself succeeds.
  const limited = [spec(500_000n, { afterBlocks: 2n }, { call: { payload: stringToHex("w") }, byteLimit: 300n })];
  const { blockNumber: scheduled } = await write(rig.wallets[0], alarm, "schedule", limited);
  const [large] = await firesOf(alarm.address, scheduled + 1n, 1);
  assert.equal(large.receipt.status, "reverted");
  for (const { tx, receipt } of [gone, large]) {
    const call = await node.ask("debug_traceTransaction", tx.hash, { tracer: "callTracer" });
    assert.match(call.error, /^timers error \d+$/, "a trace shows the failure that the receipt shows");
    assert.equal(BigInt(call.gasUsed), receipt.gasUsed);
    assert.equal((await node.ask("debug_traceTransaction", tx.hash)).failed, true);
  }
});

test("watches of a slot and of a balance fire in the block of the change", async () => {
  const [alarm, other] = [await deploy("Alarm"), await deploy("Alarm", 0n)];
  const slot = `0x${"1".padStart(64, "0")}`;
  await write(rig.wallets[0], alarm, "schedule", [
    spec(gas, { watch: { keys: [{ source: 0, target: other.address, slot }] } }, { repeat: { remaining: 1n } }),
  ]);
  const set = await write(rig.wallets[0], other, "set", [7n]);
  const [bySlot] = await firesOf(alarm.address, set.blockNumber, 1);
  assert.equal(bySlot.block.number, set.blockNumber);
  assert.equal(bySlot.receipt.status, "success");
  assert.equal(await read(alarm, "changedTarget"), ethers.getAddress(other.address));
  await write(rig.wallets[0], alarm, "schedule", [
    spec(gas, { watch: { keys: [{ source: 1, target: other.address }] } }, { repeat: { remaining: 1n } }),
  ]);
  const paid = await send(rig.wallets[0], { to: other.address, value: 3n });
  const [byBalance] = await firesOf(alarm.address, paid.blockNumber, 1);
  assert.equal(byBalance.block.number, paid.blockNumber);
  assert.equal(await read(alarm, "changes"), 2n);
  // A trace finds what the block's transaction has changed: this callback sets the slot to zero again.
  await write(rig.wallets[0], alarm, "schedule", [
    spec(gas, { watch: { keys: [{ source: 0, target: alarm.address, slot }] } }, { repeat: { remaining: 1n }, call: { payload: stringToHex("u") } }),
  ]);
  const own = await write(rig.wallets[0], alarm, "set", [9n]);
  const [cleared] = await firesOf(alarm.address, own.blockNumber, 1);
  assert.equal(cleared.block.number, own.blockNumber);
  const found = await node.ask("debug_traceTransaction", cleared.tx.hash, { tracer: "prestateTracer" });
  assert.equal(BigInt(found[alarm.address.toLowerCase()].storage[slot]), 9n);
  assert.equal(await read(alarm, "slot"), 0n);
});

test("the trace of a fire finds what the beginning of its block did", async () => {
  // Each block begins with x/distribution taking the fees of the one before. The contract logs and returns its balance.
  const modules = "0x93354845030274cd4bf1686abd60ab28ec52e1a7";
  const code = `73${modules.slice(2)}315f5260205fa060205ff3`;
  const deployed = await send(rig.wallets[0], { data: `0x60208060095f395ff3${code}`, gas: 200_000n });
  const to = deployed.contractAddress;
  const once = [spec(100_000n, { afterBlocks: 1n }, { call: callTo(to, 0n) })];
  const { blockNumber, effectiveGasPrice, gasUsed } = await write(rig.wallets[1], timers, "schedule", once);
  const [{ tx, receipt }] = await firesOf(to, blockNumber, 1);
  assert.equal(receipt.blockNumber, blockNumber + 1n);
  const found = BigInt(receipt.logs[0].data);
  assert.ok(found - (await rig.pub.getBalance({ address: modules, blockNumber })) >= gasUsed * effectiveGasPrice);
  const trace = await node.ask("debug_traceTransaction", tx.hash, { tracer: "callTracer" });
  assert.equal(BigInt(trace.output), found);
});

test("a contract written for HIP-1215 is called at its second", async () => {
  const booker = await deploy("Booker");
  const { timestamp } = await rig.pub.getBlock();
  const second = timestamp + 4n;
  const { blockNumber } = await write(rig.wallets[0], booker, "book", [second, 300_000n]);
  assert.equal(await read(booker, "code"), 22n);
  assert.equal(await read(booker, "promised"), true);
  const [{ block, receipt }] = await firesOf(booker.address, blockNumber + 1n, 1);
  assert.equal(receipt.status, "success");
  assert.ok(block.timestamp >= second && block.timestamp <= second + 1n, `${block.timestamp} for ${second}`);
  assert.equal(await read(booker, "pings"), 1n);
  assert.equal(await read(booker, "caller"), ethers.getAddress(booker.address));
});

test("intervals, lists, estimates and cancels", async () => {
  const alarm = await deploy("Alarm");
  const { blockNumber } = await write(rig.wallets[0], alarm, "every", [3n, 3n, gas, "0x"]);
  const fires = await firesOf(alarm.address, blockNumber, 3);
  assert.deepEqual(fires.map(({ block }) => block.number - blockNumber), [3n, 6n, 9n]);
  assert.deepEqual(fires.map(({ tx }) => tx.nonce), [0, 1, 2], "the nonce is the number of earlier fires");
  await write(rig.wallets[0], alarm, "start", [500n, gas, "0x"]);
  const list = () => rig.pub.readContract({ ...timers, functionName: "timersOf", args: [alarm.address, 0, 10] });
  const [[info], total] = await list();
  assert.equal(total, 1);
  assert.equal(info.gasLimit, gas);
  assert.equal(info.deliveries, 0n);
  const quote = await rig.pub.readContract({ ...timers, functionName: "estimate", args: [gas, 0n, 0n, 0n, 0] });
  assert.ok(quote.maxCost >= quote.gasPrice * gas);
  assert.equal(quote.gasLimit, gas);
  const { logs } = await write(rig.wallets[0], alarm, "cancel", [info.id]);
  assert.equal(decodeEventLog({ abi: timersABI, ...logs[0] }).eventName, "TimerCancelled");
  assert.equal((await list())[1], 0);
});

test("viem: logs, watching, waiting, transactions and blocks", async () => {
  const alarm = await deploy("Alarm");
  const polled = [], pushed = [], filtered = [];
  const stops = [
    rig.pub.watchContractEvent({ ...alarm, eventName: "Rang", onLogs: (logs) => polled.push(...logs), poll: true }),
    rig.live.watchContractEvent({ ...alarm, eventName: "Rang", onLogs: (logs) => pushed.push(...logs) }),
  ];
  const filter = await rig.pub.createContractEventFilter({ ...alarm, eventName: "Rang" });
  await sleep(500);
  const { tx, block, receipt } = await ring(alarm, "hello");
  assert.equal(receipt.status, "success");
  const waited = await rig.pub.waitForTransactionReceipt({ hash: tx.hash });
  assert.deepEqual(waited, receipt);
  assert.deepEqual(await rig.pub.getTransaction({ hash: tx.hash }), await rig.pub.getTransaction({ blockHash: block.hash, index: tx.transactionIndex }));
  assert.deepEqual(
    await rig.pub.getTransaction({ hash: tx.hash }), await rig.pub.getTransaction({ blockNumber: block.number, index: tx.transactionIndex }));
  assert.equal(tx.from, TIMERS);
  assert.equal(tx.gasPrice, 0n);
  assert.equal(receipt.effectiveGasPrice, 0n);
  for (const at of [{ blockNumber: block.number }, { blockHash: block.hash }]) {
    assert.equal(await rig.pub.getBlockTransactionCount(at), block.transactions.length);
    assert.deepEqual((await rig.pub.getBlock(at)).transactions, block.transactions.map(({ hash }) => hash));
  }
  const queries = [
    { address: alarm.address, fromBlock: block.number, toBlock: block.number },
    { event: rangEvent, fromBlock: block.number, toBlock: block.number },
    { address: alarm.address, event: rangEvent, args: { id: receipt.logs[0].topics[1] }, fromBlock: 1n },
    { blockHash: block.hash },
  ];
  for (const query of queries) {
    const [log, ...others] = await rig.pub.getLogs(query);
    assert.equal(others.length, 0);
    assert.equal(log.transactionHash, tx.hash);
    assert.deepEqual([log.blockHash, log.logIndex, log.transactionIndex], [block.hash, receipt.logs[0].logIndex, tx.transactionIndex]);
    const decoded = decodeEventLog({ abi: alarm.abi, ...log });
    assert.deepEqual([decoded.eventName, decoded.args.sender, decoded.args.payload], ["Rang", TIMERS, stringToHex("hello")]);
  }
  await until("the log by polling, websocket and filter", async () => {
    filtered.push(...(await rig.pub.getFilterChanges({ filter })));
    return polled.length && pushed.length && filtered.length;
  });
  assert.equal((await rig.pub.getFilterLogs({ filter: await rig.pub.createContractEventFilter({ ...alarm, eventName: "Rang", fromBlock: 1n }) })).length, 1);
  await sleep(1_500);
  for (const [log, ...others] of [polled, pushed, filtered]) {
    assert.equal(others.length, 0, "once");
    assert.equal(log.transactionHash, tx.hash);
    assert.equal(log.logIndex, receipt.logs[0].logIndex);
    assert.equal(log.blockHash, block.hash);
  }
  for (const stop of stops) stop();
});

test("ethers: events, transactions, receipts and blocks", async () => {
  const alarm = await deploy("Alarm");
  const contract = new ethers.Contract(alarm.address, alarm.abi, rig.provider);
  const socket = new ethers.WebSocketProvider(node.ws, 9001);
  const seen = [], pushed = [];
  await contract.on("Rang", (...args) => seen.push(args.at(-1)));
  await new ethers.Contract(alarm.address, alarm.abi, socket).on("Rang", (...args) => pushed.push(args.at(-1)));
  await sleep(500);
  const { tx: shown, block: at } = await ring(alarm, "hi");
  const tx = await rig.provider.getTransaction(shown.hash);
  assert.equal(tx.from, TIMERS);
  assert.equal(tx.to, ethers.getAddress(alarm.address));
  const receipt = await rig.provider.waitForTransaction(shown.hash, 1, 20_000);
  assert.equal(receipt.status, 1);
  assert.equal(receipt.logs.length, 1);
  assert.equal(contract.interface.parseLog(receipt.logs[0]).name, "Rang");
  const block = await rig.provider.getBlock(Number(at.number), true);
  assert.ok(block.transactions.includes(shown.hash));
  assert.equal(block.getPrefetchedTransaction(shown.hash).from, TIMERS);
  assert.equal((await rig.provider.getLogs({ address: alarm.address, fromBlock: 1 })).length, 1);
  assert.equal((await contract.queryFilter("Rang", 1)).length, 1);
  await until("the event by polling and by websocket", async () => seen.length && pushed.length);
  assert.equal(seen[0].log.transactionHash, shown.hash);
  assert.equal(pushed[0].log.transactionHash, shown.hash);
  await contract.removeAllListeners();
  await socket.destroy();
});

test("a block with transactions and fires has no gaps", async () => {
  const wallet = rig.wallets[0];
  const alarms = [await deploy("Alarm"), await deploy("Alarm")];
  for (const alarm of alarms) await write(wallet, alarm, "every", [1n, 12n, gas, "0x"]);
  const failing = await deploy("Alarm");
  await write(wallet, failing, "every", [1n, 12n, gas, stringToHex("r")]);
  let nonce = await rig.pub.getTransactionCount({ address: wallet.account.address });
  const hashes = [];
  const data = encodeFunctionData({ abi: failing.abi, functionName: "start", args: [900n, gas, "0x"] });
  for (let i = 0; i < 5; i++) hashes.push(await wallet.sendTransaction({ to: failing.address, data, gas: 300_000n, nonce: nonce++ }));
  const sent = await Promise.all(hashes.map((hash) => rig.pub.waitForTransactionReceipt({ hash })));
  const number = sent.map((r) => r.blockNumber).sort().at(-1);
  const block = await rig.pub.getBlock({ blockNumber: number, includeTransactions: true });
  const signed = block.transactions.filter((tx) => BigInt(tx.s) !== 0n).length;
  assert.ok(signed >= 1 && block.transactions.length - signed === 3, `${signed} transactions, ${block.transactions.length - signed} fires`);
  const receipts = await node.ask("eth_getBlockReceipts", hex(number));
  assert.equal(receipts.length, block.transactions.length);
  let [cumulative, logIndex] = [0n, 0];
  const bloom = BigInt(block.logsBloom);
  for (const [i, receipt] of receipts.entries()) {
    assert.equal(Number(receipt.transactionIndex), i);
    assert.equal(receipt.transactionHash, block.transactions[i].hash);
    assert.equal(receipt.from, block.transactions[i].from);
    cumulative += BigInt(receipt.gasUsed);
    assert.equal(BigInt(receipt.cumulativeGasUsed), cumulative);
    for (const log of receipt.logs) {
      assert.equal(Number(log.logIndex), logIndex++);
      assert.equal(Number(log.transactionIndex), i);
      assert.equal(log.transactionHash, receipt.transactionHash);
      assert.equal(log.blockHash, block.hash);
      for (const part of [log.address, ...log.topics]) assert.ok(inBloom(bloom, part), `${part} is in the bloom`);
    }
    const single = await node.ask("eth_getTransactionReceipt", receipt.transactionHash);
    // cosmos/evm counts the gas of a single receipt alone.
    if (i < signed) single.cumulativeGasUsed = receipt.cumulativeGasUsed;
    assert.deepEqual(single, receipt);
  }
  assert.equal(BigInt(block.gasUsed), cumulative);
  assert.ok(logIndex >= signed + 2);
  assert.deepEqual(receipts.slice(signed).map((r) => r.status).sort(), ["0x0", "0x1", "0x1"]);
  const logs = await node.ask("eth_getLogs", { fromBlock: hex(number), toBlock: hex(number) });
  assert.deepEqual(logs, receipts.flatMap((r) => r.logs));
  const traces = await node.ask("debug_traceBlockByNumber", hex(number), { tracer: "callTracer" });
  assert.deepEqual(traces.map((t) => t.result.to), receipts.map((r) => r.to));
  assert.deepEqual(traces, await node.ask("debug_traceBlockByHash", block.hash, { tracer: "callTracer" }));
  assert.deepEqual(traces, await node.ask("debug_traceBlock", await node.ask("debug_getRawBlock", hex(number)), { tracer: "callTracer" }));
  for (const [i, { hash }] of block.transactions.entries()) {
    const trace = await node.ask("debug_traceTransaction", hash, { tracer: "callTracer" });
    assert.deepEqual([trace.from, trace.to, trace.input], [traces[i].result.from, traces[i].result.to, traces[i].result.input]);
    assert.equal(trace.error !== undefined, receipts[i].status === "0x0");
    if (i < signed) continue;
    assert.deepEqual(trace, traces[i].result);
    assert.equal(trace.gasUsed, receipts[i].gasUsed);
    const steps = await node.ask("debug_traceTransaction", hash);
    assert.equal(steps.failed, receipts[i].status === "0x0");
    assert.ok(steps.structLogs.length > 100);
  }
});

function inBloom(bloom, value) {
  const hash = Buffer.from(keccak256(value).slice(2), "hex");
  return [0, 2, 4].every((i) => (bloom >> BigInt(((hash[i] << 8) | hash[i + 1]) & 2047)) & 1n);
}

test("the tutorial of docs/evm.md leads to callbacks", async () => {
  const lines = tutorial(node, "Try it", 3).trim().split("\n");
  assert.match(lines[0], /^deployed at 0x[0-9a-f]{40} in block \d+$/);
  const deployed = Number(lines[0].match(/\d+$/)[0]);
  const beats = [1, 2, 3].map((n) => `beat ${n} in block ${deployed + 2 * n}: success, called by ${TIMERS}`);
  assert.deepEqual(lines.slice(1), beats);
});

test("Blockscout's requests find each fire with its block, receipt and trace", async () => {
  const [first, last] = await busyBlocks();
  const seen = await asBlockscout(node, first, last);
  console.log(`Blockscout: ${JSON.stringify(seen)}`);
  assert.ok(seen.fires >= 9 && seen.txs > seen.fires);
});

test("The Graph's requests find each fire with its logs, by the hashes of blocks", async () => {
  const [first, last, alarm] = await busyBlocks();
  const data = encodeFunctionData({ abi: alarm.abi, functionName: "rings" });
  const seen = await asGraph(node, first, last, { address: alarm.address, data });
  console.log(`The Graph: ${JSON.stringify(seen)}`);
  assert.ok(seen.fires >= 9 && seen.logs >= 6);
});

// busyBlocks are the first and the last of some blocks with transactions, deployments, and fires of which some fail.
async function busyBlocks() {
  const wallet = rig.wallets[0];
  const first = Number(await rig.pub.getBlockNumber()) + 1;
  const alarms = [await deploy("Alarm"), await deploy("Alarm")];
  for (const [i, alarm] of alarms.entries())
    await write(wallet, alarm, "every", [1n, 4n, gas, i ? stringToHex("r") : "0x"]);
  await write(wallet, alarms[0], "start", [2n, gas, stringToHex("w")]);
  await write(wallet, timers, "schedule", [spec(100_000n, { afterBlocks: 1n }, { call: callTo(accounts[1].address, 5n) })]);
  // A callback to an account without code.
  const [gone] = await goneCallback();
  for (const [address, count] of [[alarms[0].address, 5], [alarms[1].address, 4], [gone, 1]])
    await firesOf(address, first, count);
  return [first, Number(await rig.pub.getBlockNumber()), alarms[0]];
}

test("a node that restarts goes on, and finds earlier fires", async () => {
  const alarm = await deploy("Alarm");
  const early = await ring(alarm);
  const { blockNumber } = await write(rig.wallets[0], alarm, "start", [8n, gas, "0x"]);
  await rig.stop();
  await rig.start();
  assert.deepEqual(await rig.pub.getTransactionReceipt({ hash: early.tx.hash }), early.receipt);
  const [fire] = await firesOf(alarm.address, blockNumber + 1n, 1);
  assert.equal(fire.block.number, blockNumber + 8n);
  assert.equal(fire.receipt.status, "success");
  assert.equal(await read(alarm, "rings"), 2n);
});

test("on blocks without fires nothing differs from cosmos/evm's own JSON-RPC, on others the fires alone", async () => {
  const last = Number(await rig.pub.getBlockNumber()) - 1;
  const ours = await answers(node, last);
  const fires = new Set(ours.fires);
  assert.ok(fires.size > 30, `${fires.size} fires`);
  await rig.stop();
  await rig.start({ api: "eth,net,web3,debug" });
  const stock = await answers(node, last);
  assert.equal(stock.fires.length, 0);
  const { same, stripped, named } = compare(ours, stock);
  console.log(`${last} blocks: ${same} answers are the same to the byte, ${stripped} without their fires, ` +
    `${named} without the names of traces; ${fires.size} fires`);
  assert.ok(same > 1_000 && stripped > 100 && named > 100);
  for (const hash of ours.fires.slice(0, 3)) assert.equal(await node.ask("eth_getTransactionByHash", hash), null);
});

test("a public suite's requests are answered as by cosmos/evm, but for the fires", async () => {
  await rig.stop();
  await rig.start();
  const alarm = await deploy("Alarm");
  const { blockNumber, blockHash, transactionHash } = await write(rig.wallets[0], alarm, "every", [1n, 8n, gas, "0x"]);
  await write(rig.wallets[0], alarm, "set", [3n]);
  const found = await firesOf(alarm.address, blockNumber, 8);
  const all = new Set(found.map(({ tx }) => tx.hash));
  const own = (block) => block.transactions.find(({ hash }) => !all.has(hash))?.hash;
  const mixed = found.find(({ block }) => own(block)).block;
  const places = [
    { number: found[0].block.number, hash: found[0].block.hash, tx: found[0].tx.hash },
    { number: mixed.number, hash: mixed.hash, tx: own(mixed) },
    { number: blockNumber, hash: blockHash, tx: transactionHash },
  ].map((place) => ({ ...place, address: alarm.address }));
  const ask = async () => {
    const answers = [];
    for (const place of places) answers.push(await askSuite(node, process.env.SUITE, place));
    return answers;
  };
  const ours = await ask();
  await rig.stop();
  await rig.start({ api: "eth,net,web3,debug" });
  const stock = await ask();
  for (const [i, place] of places.entries()) {
    const count = compareSuite(ours[i], stock[i], all);
    console.log(`block ${place.number}: ${JSON.stringify(count)}`);
    assert.ok(count.same > 50);
  }
}, { skip: !process.env.SUITE });
