// The requests of a public suite of JSON-RPC, in files as ethereum/execution-apis has them in tests: folders by method,
// and lines ">> request". They are for a chain of that suite: ours is asked about a block and a transaction of its own.
import assert from "node:assert/strict";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { equalButFires } from "./conformance.mjs";
import { hex } from "./forms.mjs";

// ofNoBlock: what the latest block decides, and so is compared by its kind.
const ofNoBlock = /"(latest|pending|safe|finalized|earliest)"|^eth_(syncing|blockNumber|feeHistory|simulateV1)/;

// askSuite asks all of a suite about a place, and returns the answers as texts, by the request and the file that has it
// first.
export async function askSuite(node, dir, place) {
  const answers = new Map();
  const asked = new Set();
  const methods = readdirSync(dir).filter((name) => statSync(join(dir, name)).isDirectory());
  for (const method of methods)
    for (const file of readdirSync(join(dir, method)))
      for (const line of readFileSync(join(dir, method, file), "utf8").split("\n"))
        if (line.startsWith(">> ")) {
          const params = (JSON.parse(line.slice(3)).params ?? []).map((value, i) => moved(method, value, i, place));
          // cosmos/evm looks for a receipt that is not there for 51 seconds.
          if (method === "eth_getTransactionReceipt" && params[0] !== place.tx) continue;
          const request = JSON.stringify(params);
          if (asked.has(method + request)) continue;
          asked.add(method + request);
          answers.set(`${method}/${file} ${request}`, await node.raw(method, ...params));
        }
  return answers;
}

// moved is an argument with our hashes, numbers and addresses in place of those of the suite's 55 blocks. What is a
// hash of nothing there stays one.
function moved(method, value, key, place) {
  if (Array.isArray(value)) return value.map((one) => moved(method, one, key, place));
  if (value && typeof value === "object")
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, moved(method, one, name, place)]));
  if (/^0x[0-9a-f]{64}$/i.test(value) && !/^0x0{56}/.test(value) && (key === 0 || key === "blockHash"))
    return /Transaction(ByHash|Receipt)$|traceTransaction|getRawTransaction/.test(method) ? place.tx : place.hash;
  if (/Block|Log|trace|feeHistory/.test(method) && /^0x[1-9a-f][0-9a-f]?$/.test(value)) return hex(place.number);
  if (/getLogs|getBalance|getCode|getStorage|getProof|Count$/.test(method) && /^0x[0-9a-f]{40}$/i.test(value))
    return place.address;
  return value;
}

const kindOf = (text) => {
  const { result, error } = JSON.parse(text);
  return error ? `error ${error.code}` : result === null ? "null" : Array.isArray(result) ? "list" : typeof result;
};

// compareSuite holds that the answers of a node with the namespace are those of one without it, but for the fires. It
// returns how many are the same to the byte, of the same kind, and the same without fires.
export function compareSuite(ours, stock, fires) {
  const count = { same: 0, kinds: 0, stripped: 0 };
  assert.deepEqual([...ours.keys()], [...stock.keys()]);
  for (const [name, answer] of ours) {
    const want = stock.get(name);
    const [, method, hash] = name.match(/^(\w+)\/\S+ \["?([^"]*)/) ?? name.match(/^(\w+)\//);
    if (answer === want) count.same++;
    else if (ofNoBlock.test(name)) {
      assert.equal(kindOf(answer), kindOf(want), name);
      count.kinds++;
    } else {
      count.stripped++;
      if (!fires.has(hash)) equalButFires(method, answer, want, fires, name);
      // A fire is found by its hash, and is not there without the namespace.
      else {
        assert.match(kindOf(answer), /^(object|string)$/, name);
        assert.match(kindOf(want), /^(null|error)/, name);
      }
    }
  }
  return count;
}
