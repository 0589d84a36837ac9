// The requests that indexers send, in the forms in which they send them, and what they need of the answers:
// Blockscout's, of its variant geth, and those of The Graph's node. All answers about a block with fires are held to
// each other.
import assert from "node:assert/strict";
import { hex } from "./forms.mjs";

const quantity = /^0x(0|[1-9a-f][0-9a-f]*)$/;
const bytes = /^0x([0-9a-f]{2})*$/;
const hash = /^0x[0-9a-f]{64}$/;
const address = /^0x[0-9a-fA-F]{40}$/;
const bloom = /^0x[0-9a-f]{512}$/;
const nothing = { test: (value) => value === null };
const either = (...all) => ({ test: (value) => all.some((one) => one.test(value)), toString: () => all.join(" or ") });

// What a strict client needs of a header, a transaction, a receipt, a log, and a call in a trace.
const headerForm = {
  hash, parentHash: hash, sha3Uncles: hash, miner: address, stateRoot: hash, transactionsRoot: hash, receiptsRoot: hash,
  logsBloom: bloom, difficulty: quantity, number: quantity, gasLimit: quantity, gasUsed: quantity, timestamp: quantity,
  extraData: bytes, mixHash: hash, nonce: /^0x[0-9a-f]{16}$/, size: quantity, baseFeePerGas: quantity,
};
const txForm = {
  hash, type: quantity, nonce: quantity, blockHash: hash, blockNumber: quantity, transactionIndex: quantity,
  from: address, to: either(address, nothing), value: quantity, gas: quantity, gasPrice: quantity, input: bytes,
  v: quantity, r: quantity, s: quantity, chainId: quantity,
};
const receiptForm = {
  transactionHash: hash, transactionIndex: quantity, blockHash: hash, blockNumber: quantity, from: address,
  to: either(address, nothing), cumulativeGasUsed: quantity, gasUsed: quantity,
  contractAddress: either(address, nothing), logsBloom: bloom, type: quantity, status: /^0x[01]$/,
  effectiveGasPrice: quantity,
};
const logForm = {
  address, data: bytes, blockNumber: quantity, transactionHash: hash, transactionIndex: quantity, blockHash: hash,
  logIndex: quantity,
};
const callForm = { type: /^[A-Z0-9]+$/, from: address, gas: quantity, gasUsed: quantity, input: bytes };

function hasForm(value, form, what) {
  for (const [field, want] of Object.entries(form)) {
    const good = field in value && want.test(value[field]);
    assert.ok(good, `${what}: ${field} is ${JSON.stringify(value[field])}: want ${want}`);
  }
}

// batch posts requests in one body, and returns their results by their ids. An error is one of the whole.
async function batch(node, requests) {
  const body = requests.map(([method, ...params], id) => ({ jsonrpc: "2.0", id, method, params }));
  const answers = JSON.parse(await node.post(body));
  assert.equal(answers.length, requests.length);
  const results = [];
  for (const { id, result, error } of answers) {
    assert.ok(!error, `${JSON.stringify(requests[id]).slice(0, 200)}: ${error?.message}`);
    results[id] = result;
  }
  return results;
}

const isFire = (tx) => BigInt(tx.s) === 0n;

// checkBlock holds blocks, transactions, receipts and logs to each other, and returns how many fires it has seen.
function checkBlock(block, receipts) {
  hasForm(block, headerForm, `block ${block.number}`);
  assert.deepEqual(block.uncles, []);
  assert.equal(receipts.length, block.transactions.length);
  let [gas, logIndex, fires] = [0n, 0, 0];
  for (const [i, tx] of block.transactions.entries()) {
    const receipt = receipts[i];
    hasForm(tx, txForm, `transaction ${tx.hash}`);
    hasForm(receipt, receiptForm, `receipt of ${tx.hash}`);
    const place = { blockHash: block.hash, blockNumber: block.number, transactionIndex: hex(i) };
    for (const [field, want] of Object.entries(place)) {
      assert.equal(tx[field], want, `${field} of transaction ${tx.hash}`);
      assert.equal(receipt[field], want, `${field} of the receipt of ${tx.hash}`);
    }
    assert.equal(receipt.transactionHash, tx.hash);
    assert.deepEqual([receipt.from, receipt.to, receipt.type].map(lower), [tx.from, tx.to, tx.type].map(lower));
    // A fire that never ran in the EVM used less than a transaction does.
    const least = isFire(tx) && receipt.status === "0x0" ? 1n : 21_000n;
    assert.ok(BigInt(receipt.gasUsed) <= BigInt(tx.gas) && BigInt(receipt.gasUsed) >= least);
    gas += BigInt(receipt.gasUsed);
    assert.equal(BigInt(receipt.cumulativeGasUsed), gas, `cumulative gas of ${tx.hash}`);
    for (const log of receipt.logs) {
      hasForm(log, logForm, `log ${log.logIndex} of ${tx.hash}`);
      assert.ok(log.topics.length <= 4 && log.topics.every((topic) => hash.test(topic)) && log.removed === false);
      assert.deepEqual([log.blockHash, log.transactionHash, log.logIndex], [block.hash, tx.hash, hex(logIndex++)]);
    }
    fires += isFire(tx);
  }
  assert.equal(BigInt(block.gasUsed), gas, `gas of block ${block.number}`);
  return fires;
}

const lower = (text) => text?.toLowerCase() ?? null;

// checkCall holds the trace of a transaction to its receipt.
function checkCall(call, tx, receipt) {
  const what = `trace of ${tx.hash}`;
  const walk = (c) => {
    hasForm(c, callForm, what);
    for (const inner of c.calls ?? []) walk(inner);
  };
  walk(call);
  const parties = ({ from, to }) => [from, to ?? receipt.contractAddress].map(lower);
  assert.deepEqual(parties(call), parties(tx), what);
  assert.deepEqual([call.input, BigInt(call.value)], [tx.input, BigInt(tx.value)], what);
  assert.equal(call.error !== undefined, receipt.status === "0x0", what);
  if (isFire(tx)) assert.equal(call.gasUsed, receipt.gasUsed, what);
}

// asBlockscout indexes some blocks as Blockscout does: blocks, receipts, traces of transactions and of blocks, then
// balances, codes and nonces, each kind in one batch.
export async function asBlockscout(node, from, to) {
  const numbers = Array.from({ length: to - from + 1 }, (_, i) => hex(from + i));
  const [chainId, latest] = await batch(node, [["eth_chainId"], ["eth_getBlockByNumber", "latest", false]]);
  assert.equal(BigInt(chainId), 9001n);
  assert.ok(latest.transactions.every((tx) => hash.test(tx)) && BigInt(latest.number) >= to);
  const blocks = await batch(node, numbers.map((number) => ["eth_getBlockByNumber", number, true]));
  assert.deepEqual(await batch(node, blocks.map((block) => ["eth_getBlockByHash", block.hash, true])), blocks);
  for (const [i, block] of blocks.slice(1).entries()) assert.equal(block.parentHash, blocks[i].hash);
  assert.deepEqual(
    await batch(node, numbers.map((number) => ["eth_getBlockTransactionCountByNumber", number])),
    blocks.map((block) => hex(block.transactions.length)));

  const receipts = await batch(node, numbers.map((number) => ["eth_getBlockReceipts", number]));
  let fires = 0;
  for (const [i, block] of blocks.entries()) fires += checkBlock(block, receipts[i]);
  const txs = blocks.flatMap((block) => block.transactions);
  const all = receipts.flat();
  const single = await batch(node, txs.map((tx) => ["eth_getTransactionReceipt", tx.hash]));
  for (const [i, receipt] of single.entries()) {
    // cosmos/evm counts the gas of a single receipt of a transaction alone.
    const want = isFire(txs[i]) ? all[i] : { ...all[i], cumulativeGasUsed: receipt.cumulativeGasUsed };
    assert.deepEqual(receipt, want);
  }
  assert.deepEqual(await batch(node, txs.map((tx) => ["eth_getTransactionByHash", tx.hash])), txs);

  const options = { timeout: "5s", tracer: "callTracer" };
  const traced = (config) => batch(node, txs.map((tx) => ["debug_traceTransaction", tx.hash, config]));
  const traces = await traced(options);
  for (const [i, trace] of traces.entries()) checkCall(trace, txs[i], all[i]);
  const tops = await traced({ ...options, tracerConfig: { onlyTopCall: true } });
  for (const [i, { calls, ...top }] of traces.entries()) assert.deepEqual(tops[i], top);
  // A program in JavaScript in the place of a tracer's name.
  const program = `{
    n: 0, step: function() { this.n++ }, fault: function() {}, result: function(ctx) { return [ctx.type, this.n] }
  }`;
  for (const [kind, steps] of await traced({ timeout: "5s", tracer: program }))
    assert.ok(["CALL", "CREATE"].includes(kind) && steps >= 0);
  const structured = { enableMemory: true, disableStack: false, disableStorage: true, enableReturnData: false };
  for (const { structLogs, gas } of await traced({ timeout: "5s", ...structured }))
    assert.ok(Array.isArray(structLogs) && gas > 0);
  const perBlock = await batch(node, numbers.map((number) => ["debug_traceBlockByNumber", number, options]));
  for (const [i, block] of blocks.entries()) {
    const hashes = block.transactions.map((tx) => tx.hash);
    assert.deepEqual(perBlock[i].map(({ txHash }) => txHash), hashes, `traces of block ${block.number}`);
    for (const [j, { result, error }] of perBlock[i].entries()) {
      assert.equal(error, undefined);
      checkCall(result, block.transactions[j], receipts[i][j]);
    }
  }

  const seen = [...new Set(txs.flatMap((tx) => [tx.from, tx.to]).filter(Boolean))];
  for (const method of ["eth_getBalance", "eth_getTransactionCount", "eth_getCode"])
    for (const answer of await batch(node, seen.map((one) => [method, one, hex(to)])))
      assert.match(answer, method === "eth_getCode" ? bytes : quantity);
  // It calls again what has failed, for the reason. What a fire finds may be gone: any answer is good that says why.
  for (const [i, receipt] of all.entries()) {
    if (receipt.status === "0x1") continue;
    const { from, to, input: data, gas, gasPrice, value, blockNumber } = txs[i];
    const answer = JSON.parse(await node.raw("eth_call", { from, to, data, gas, gasPrice, value }, blockNumber));
    assert.ok(answer.result !== undefined || answer.error.message.length > 0, JSON.stringify(answer));
  }
  const logs = await batch(node, [["eth_getLogs", { fromBlock: hex(from), toBlock: hex(to) }]]);
  assert.deepEqual(logs[0], all.flatMap((receipt) => receipt.logs));
  return { blocks: blocks.length, txs: txs.length, fires };
}

// asGraph indexes some blocks as The Graph's node does: the identity of the network, the head, pointers by number, logs
// by ranges, then whole blocks, receipts and calls by the hashes of blocks.
export async function asGraph(node, from, to, contract) {
  assert.equal(await node.ask("net_version"), "9001");
  const genesis = await node.ask("eth_getBlockByNumber", "0x0", false);
  if (genesis) hasForm(genesis, headerForm, "the genesis");
  const head = await node.ask("eth_getBlockByNumber", "latest", false);
  hasForm(head, headerForm, "the head");
  const pointers = [];
  for (let number = from; number <= to; number++)
    pointers.push(await node.ask("eth_getBlockByNumber", hex(number), false));
  for (const [i, pointer] of pointers.slice(1).entries()) assert.equal(pointer.parentHash, pointers[i].hash);

  const range = { fromBlock: hex(from), toBlock: hex(to) };
  const every = await node.ask("eth_getLogs", range);
  const topics = [...new Set(every.map((log) => log.topics[0]).filter(Boolean))];
  const addresses = [...new Set(every.map((log) => log.address))];
  const logsOf = (filter) => node.ask("eth_getLogs", { ...range, ...filter });
  const named = every.filter((log) => log.topics.length > 0);
  assert.deepEqual(await logsOf({ topics: [topics] }), named);
  assert.deepEqual(await logsOf({ address: addresses, topics: [topics] }), named);
  for (const one of addresses)
    assert.deepEqual(await logsOf({ address: [one] }), every.filter((log) => log.address === one));

  let fires = 0;
  const seen = [];
  for (const pointer of pointers) {
    const block = await node.ask("eth_getBlockByHash", pointer.hash, true);
    assert.equal(block.number, pointer.number);
    const receipts = await node.ask("eth_getBlockReceipts", { blockHash: block.hash });
    assert.deepEqual(receipts, await node.ask("eth_getBlockReceipts", block.hash));
    fires += checkBlock(block, receipts);
    const logs = receipts.flatMap((receipt) => receipt.logs);
    seen.push(...logs);
    assert.deepEqual(await node.ask("eth_getLogs", { blockHash: block.hash }), logs);
    if (block.transactions.length === 0) continue;
    const batched = await batch(node, block.transactions.map((tx) => ["eth_getTransactionReceipt", tx.hash]));
    for (const receipt of batched) assert.equal(receipt.blockHash, block.hash);
  }
  assert.deepEqual(seen, every);

  // Calls, codes and balances at a block by its hash, as EIP-1898 writes it; a call states its data twice.
  const at = { blockHash: pointers.at(-1).hash };
  const data = contract.data;
  const answer = await node.ask("eth_call", { to: contract.address, data, input: data, gas: hex(50_000_000) }, at);
  assert.equal(answer, await node.ask("eth_call", { to: contract.address, data }, hex(to)));
  assert.match(await node.ask("eth_getCode", contract.address, at), /^0x[0-9a-f]{2,}$/);
  assert.match(await node.ask("eth_getBalance", contract.address, at), quantity);
  return { blocks: pointers.length, logs: every.length, fires };
}
