import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";
import { fromHex, toBase64, toHex } from "@cosmjs/encoding";
import { Receipt } from "../src/gen/timers/v1/core.js";
import { Fact, verifyProof } from "../src/index.js";

interface Vectors {
  headers: { chain_id: string; height: string; app_hash: string }[];
  blocks: { height: string; receipts: string[] | null }[];
  cases: { name: string; header: number; error?: string; absent?: boolean; position?: string; proof: string }[];
}

// Those that Go writes, of a chain whose blocks they hold, and refuses with the same words.
const vectors: Vectors = JSON.parse(fs.readFileSync("../../x/timers/client/proof/testdata/vectors.json", "utf8"));
const headers = vectors.headers.map((h) => ({ chainId: h.chain_id, height: BigInt(h.height), appHash: h.app_hash }));

/** isTrue tells whether the chain of the vectors bears a fact out. */
function isTrue(fact: Fact): boolean {
  const receipts = vectors.blocks.find((block) => BigInt(block.height) === fact.height)?.receipts ?? [];
  if (fact.absent) {
    return !receipts.some((raw) => toHex(Receipt.decode(Buffer.from(raw, "base64")).timerId) === fact.timerId);
  }
  return receipts[Number(fact.position)] === toBase64(Receipt.encode(fact.receipt!).finish());
}

test("a proof shows what is true, and a changed one nothing", async (t) => {
  assert.ok(vectors.cases.length > 90);
  for (const { name, header, error, absent, position, proof } of vectors.cases) {
    await t.test(name, () => {
      if (error !== undefined) {
        assert.throws(() => verifyProof(headers[header], proof), (thrown: Error) => thrown.message.includes(error) ||
          assert.fail(`${thrown.message}\nwant ${error}`));
        return;
      }
      const fact = verifyProof(headers[header], proof);
      assert.equal(fact.absent, absent ?? false);
      assert.equal(fact.position, absent ? undefined : BigInt(position ?? 0));
      assert.ok(isTrue(fact));
    });
  }
  assert.equal(vectors.cases.filter((c) => c.error === undefined).length, 7);
});

test("whatever byte is changed, nothing untrue is shown", (t) => {
  let shown = 0;
  for (const { header, error, proof } of vectors.cases) {
    if (error !== undefined) continue;
    const step = 1 + Math.floor(proof.length / 300);
    for (let i = 0; i < proof.length; i += step) {
      for (const mask of [1, 2, 4, 16]) {
        const changed = proof.slice(0, i) + String.fromCharCode(proof.charCodeAt(i) ^ mask) + proof.slice(i + 1);
        let fact: Fact;
        try {
          fact = verifyProof(headers[header], changed);
        } catch (thrown) {
          assert.ok(thrown instanceof Error && !(thrown instanceof TypeError), `${thrown}`);
          continue;
        }
        assert.ok(isTrue(fact), `byte ${i}`);
        shown++;
      }
    }
  }
  t.diagnostic(`${shown} changed proofs show something: absence of another timer or at another height`);
});

test("the header is taken as bytes or in hexadecimal, and its height as either kind of number", () => {
  const { header, proof } = vectors.cases.find((c) => c.name === "a delivery")!;
  const { chainId, height, appHash } = headers[header];
  for (const hash of [appHash, appHash.toLowerCase(), fromHex(appHash)]) {
    for (const at of [height, Number(height)]) verifyProof({ chainId, height: at, appHash: hash }, proof);
  }
  assert.throws(() => verifyProof({ chainId, height, appHash: "xy" }, proof), Error);
});
