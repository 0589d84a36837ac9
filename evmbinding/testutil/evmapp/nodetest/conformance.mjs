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
      const [got, plain] = [JSON.parse(answer).result, JSON.parse(want).result];
      const [method] = JSON.parse(question);
      if (method.startsWith("debug_traceBlock")) {
        // The traces are named, as go-ethereum's are.
        assert.deepEqual(got.map(({ txHash }) => txHash), block.transactions.map(({ hash }) => hash), question);
        assert.equal(got.splice(plain.length).length, extra.length);
        for (const trace of got) delete trace.txHash;
        assert.deepEqual(got, plain, `block ${number}: ${question}`);
        named++;
        continue;
      }
      assert.ok(extra.length > 0, `block ${number} has no fires: ${question}\n${answer}\n${want}`);
      stripped++;
      const without = (all, hashOf) => all.filter((one) => !fires.has(hashOf(one)));
      switch (method) {
        case "eth_getBlockByNumber":
        case "eth_getBlockByHash":
        case "eth_getHeaderByNumber":
        case "eth_getHeaderByHash": {
          assert.equal(BigInt(got.logsBloom) & BigInt(plain.logsBloom), BigInt(plain.logsBloom), `bloom of block ${number}`);
          assert.ok(BigInt(got.gasUsed) > BigInt(plain.gasUsed));
          for (const field of headerOf) delete got[field], delete plain[field];
          if (got.transactions) got.transactions = without(got.transactions, (tx) => tx.hash ?? tx);
          break;
        }
        case "debug_getRawBlock":
          // The transactions in it are those of eth_getBlockByNumber.
          assert.ok(got.length > plain.length);
          continue;
        case "eth_getBlockTransactionCountByNumber":
        case "eth_getBlockTransactionCountByHash":
          assert.equal(BigInt(got), BigInt(plain) + BigInt(extra.length));
          continue;
        case "eth_getBlockReceipts":
        case "eth_getLogs":
          got.splice(0, got.length, ...without(got, (one) => one.transactionHash));
          break;
        default:
          assert.fail(`block ${number}: ${question}\n${answer}\n${want}`);
      }
      assert.deepEqual(got, plain, `block ${number}: ${question}`);
    }
  }
  return { same, stripped, named };
}
