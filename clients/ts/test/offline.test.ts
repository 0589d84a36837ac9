import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";
import { makeSignDoc as makeAminoDoc, serializeSignDoc } from "@cosmjs/amino";
import { makeSignBytes, makeSignDoc } from "@cosmjs/proto-signing";
import { TxRaw, TxBody } from "cosmjs-types/cosmos/tx/v1beta1/tx";
import { happenings, messageTypes, reasonIn, timersAminoTypes, timersRegistry } from "../src/index.js";

// What CosmJS signed for the module's messages from their .proto files alone, and the chain verified in a test of its own.
const vectors: any[] = JSON.parse(fs.readFileSync("../../x/timers/types/testdata/cosmjs.json", "utf8"));
const registry = timersRegistry();
const amino = timersAminoTypes(registry);

for (const vector of vectors) {
  test(`signs ${vector.name} as the chain verifies it`, () => {
    const raw = TxRaw.decode(Buffer.from(vector.direct_tx, "hex"));
    const [packed] = TxBody.decode(raw.bodyBytes).messages;
    const message = { typeUrl: packed.typeUrl, value: registry.decode(packed) };

    // Direct: nothing of the message is lost. Fields may come in another order than those of another encoder.
    const encoded = registry.encode(message);
    assert.equal(encoded.length, packed.value.length);
    assert.deepEqual(registry.decode({ typeUrl: packed.typeUrl, value: encoded }), message.value);
    assert.equal(Buffer.from(makeSignBytes(makeSignDoc(raw.bodyBytes, raw.authInfoBytes, "chain", 1))).toString("hex"), vector.direct_sign_bytes);

    // Amino JSON: the document is the same, and reads back to the same message.
    const stated = amino.toAmino(message);
    const doc = makeAminoDoc([stated], { amount: [], gas: "200000" }, "chain", "a memo", 1, 2);
    assert.equal(Buffer.from(serializeSignDoc(doc)).toString(), Buffer.from(vector.amino_sign_bytes, "hex").toString());
    assert.deepEqual(Buffer.from(registry.encode(amino.fromAmino(stated))), Buffer.from(encoded));
  });
}

test("every message has an amino form", () => {
  for (const [typeUrl] of messageTypes) {
    assert.equal(amino.toAmino({ typeUrl, value: {} }).type, "timers/" + typeUrl.split(".").pop());
  }
});

test("events of a block are filtered by themselves", () => {
  const event = (type: string, attributes: Record<string, string>) =>
    ({ type, attributes: Object.entries(attributes).map(([key, value]) => ({ key, value })) });
  const found = happenings([
    event("transfer", { sender: "alice" }),
    event("timers.v1.TimerFired", { id: '"aa"', actor: '"alice"', success: "true", mode: "EndBlock" }),
    event("timers.v1.TimerLaneSummary", { fires: "1" }),
    event("timers.v1.TimerFired", { id: '"bb"', actor: '"bob"', success: "false", late: '"3"' }),
  ], 7);
  assert.deepEqual(found.map(({ type, id, actor, height }) => [type, id, actor, height]),
    [["TimerFired", "aa", "alice", 7], ["TimerFired", "bb", "bob", 7]]);
  assert.equal(found[0].attributes.success, true);
  assert.equal(found[0].attributes.mode, "EndBlock");
});

test("a refusal is the chain's own words, without what carries them", () => {
  const texts = {
    'failed to execute message; message index: 0: "beef" could be an id: invalid name [a/b.go:7] with gas used: \'41\'': '"beef" could be an id: invalid name',
    "failed to execute message; message index: 2: no coins": "message 2: no coins",
    "Query failed with (18): rpc error: code = InvalidArgument desc = max_charge is too low: invalid request": "max_charge is too low",
    "Query failed with (6): no coins: unknown request": "no coins",
    "network down": "network down",
  };
  for (const [text, says] of Object.entries(texts)) assert.equal(reasonIn(text), says);
});
