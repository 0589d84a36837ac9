// The same questions, asked of a node with the namespace timers and of one without it.
import assert from "node:assert/strict";
import { hex } from "./forms.mjs";

const tracer = { tracer: "callTracer" };

// answers asks about all blocks up to one, in one order. The answers are texts, by questions, block by block; fires are the
// hashes of transactions without a signature.
export async function answers(node, last) {
  const blocks = [];
  const fires = [];
  for (let number = 1; number <= last; number++) {
    const asked = new Map();
    const ask = async (method, ...params) => {
      const answer = await node.raw(method, ...params);
      asked.set(JSON.stringify([method, ...params]), answer);
      return JSON.parse(answer).result;
    };
    const at = hex(number);
    const block = await ask("eth_getBlockByNumber", at, true);
    await ask("eth_getBlockByNumber", at, false);
    await ask("eth_getBlockByHash", block.hash, true);
    await ask("eth_getHeaderByNumber", at);
    await ask("eth_getHeaderByHash", block.hash);
    await ask("eth_getBlockTransactionCountByNumber", at);
    await ask("eth_getBlockTransactionCountByHash", block.hash);
    await ask("eth_getBlockReceipts", at);
    await ask("eth_getLogs", { fromBlock: at, toBlock: at });
    await ask("eth_getLogs", { blockHash: block.hash });
    await ask("eth_feeHistory", "0x4", at, [10, 50, 90]);
    await ask("eth_getUncleCountByBlockNumber", at);
    await ask("debug_getRawBlock", at);
    await ask("debug_traceBlockByNumber", at, tracer);
    await ask("debug_traceBlockByHash", block.hash, tracer);
    for (const [i, tx] of block.transactions.entries()) {
      if (BigInt(tx.s) === 0n) {
        fires.push(tx.hash);
        continue;
      }
      await ask("eth_getTransactionByHash", tx.hash);
      await ask("eth_getTransactionReceipt", tx.hash);
      await ask("eth_getTransactionLogs", tx.hash);
      await ask("eth_getTransactionByBlockNumberAndIndex", at, hex(i));
      await ask("eth_getTransactionByBlockHashAndIndex", block.hash, hex(i));
      await ask("debug_traceTransaction", tx.hash, tracer);
    }
    blocks.push({ number, asked });
  }
  return { blocks, fires };
}

// headerOf are the fields of a header that depend on a block's transactions.
const headerOf = ["logsBloom", "gasUsed", "transactionsRoot", "receiptsRoot", "size"];

// equalButFires holds that an answer is that of a node without the namespace but for the fires, and the names of the
// transactions in traces of blocks. hashes are those of the block's transactions and fires, where they are known.
export function equalButFires(method, answer, want, fires, what, hashes) {
  const [got, plain] = [JSON.parse(answer).result, JSON.parse(want).result];
  const without = (all, hashOf) => all.filter((one) => !fires.has(hashOf(one)));
  switch (method) {
    case "debug_traceBlock":
    case "debug_traceBlockByNumber":
    case "debug_traceBlockByHash": {
      const names = got.map(({ txHash }) => txHash);
      assert.deepEqual(names.map((name) => fires.has(name)), names.map((_, i) => i >= plain.length), what);
      if (hashes) assert.deepEqual(names, hashes, what);
      for (const trace of got) delete trace.txHash;
      got.splice(plain.length);
      break;
    }
    case "eth_getBlockByNumber":
    case "eth_getBlockByHash":
    case "eth_getHeaderByNumber":
    case "eth_getHeaderByHash":
      assert.equal(BigInt(got.logsBloom) & BigInt(plain.logsBloom), BigInt(plain.logsBloom), what);
      assert.ok(BigInt(got.gasUsed) > BigInt(plain.gasUsed), what);
      for (const field of headerOf) delete got[field], delete plain[field];
      if (got.transactions) got.transactions = without(got.transactions, (tx) => tx.hash ?? tx);
      break;
    case "debug_getRawBlock":
      // The transactions in it are those of eth_getBlockByNumber.
      assert.ok(got.length > plain.length, what);
      return;
    case "eth_getBlockTransactionCountByNumber":
    case "eth_getBlockTransactionCountByHash":
      assert.ok(hashes ? BigInt(got) === BigInt(hashes.length) : BigInt(got) > BigInt(plain), what);
      return;
    case "eth_getBlockReceipts":
    case "eth_getLogs":
      got.splice(0, got.length, ...without(got, (one) => one.transactionHash));
      break;
    default:
      assert.fail(`${what}\n${answer}\n${want}`);
  }
  assert.deepEqual(got, plain, what);
}

// compare holds that answers are equal to the byte, but for those about whole blocks with fires, which must be equal once
// the fires are left out, and traces of blocks, which must be once the names of their transactions are.
export function compare(ours, stock) {
  const fires = new Set(ours.fires);
  let [same, stripped, named] = [0, 0, 0];
  for (const [i, { number, asked }] of ours.blocks.entries()) {
    const own = stock.blocks[i].asked;
    assert.deepEqual([...asked.keys()], [...own.keys()], `questions about block ${number}`);
    const block = JSON.parse(asked.get(JSON.stringify(["eth_getBlockByNumber", hex(number), true]))).result;
    const signed = block.transactions.filter(({ hash }) => !fires.has(hash)).length;
    const extra = block.transactions.slice(signed);
    assert.ok(extra.every(({ hash }) => fires.has(hash)), `fires of block ${number} are behind its transactions`);
    for (const [question, answer] of asked) {
      const want = own.get(question);
      if (answer === want) {
        same++;
        continue;
      }
      assert.ok(extra.length > 0 || question.includes("debug_traceBlock"), `block ${number} has no fires: ${question}`);
      const [method] = JSON.parse(question);
      if (method.startsWith("debug_traceBlock")) named++;
      else stripped++;
      const hashes = block.transactions.map(({ hash }) => hash);
      equalButFires(method, answer, want, fires, `block ${number}: ${question}`, hashes);
    }
  }
  return { same, stripped, named };
}
