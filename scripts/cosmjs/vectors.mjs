// Writes what CosmJS signs for messages of timers, in amino JSON and direct, to standard output:
//
//   npm install && node vectors.mjs ../../proto ../../.protodeps > ../../x/timers/types/testdata/cosmjs.json
//
// It knows the messages from their .proto files alone. A Go test compares what the chain would verify.
import { makeSignDoc, serializeSignDoc } from "@cosmjs/amino";
import { makeSignBytes, makeSignDoc as makeDirectDoc } from "@cosmjs/proto-signing";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import protobuf from "protobufjs";

const [protoDir, depsDir] = process.argv.slice(2);
const bundled = path.dirname(createRequire(import.meta.url).resolve("protobufjs/package.json"));
const roots = [protoDir, ...fs.readdirSync(depsDir).map((name) => path.join(depsDir, name)), bundled];
const root = new protobuf.Root();
root.resolvePath = (origin, target) =>
  roots.map((dir) => path.join(dir, target)).find((file) => fs.existsSync(file)) ?? target;
root.loadSync(["timers/v1/tx.proto", "timers/tip/v1/tip.proto", "cosmos/bank/v1beta1/tx.proto", "cosmos/tx/v1beta1/tx.proto", "cosmos/crypto/secp256k1/keys.proto"], { keepCase: true });

const encode = (type, value) => {
  const message = root.lookupType(type);
  return message.encode(message.fromObject(value)).finish();
};
const any = (type, value) => ({ type_url: "/" + type, value: encode(type, value) });

const alice = "cosmos1qyqszqgpqyqszqgpqyqszqgpqyqszqgpjnp7du";
const bob = "cosmos1qgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpq8dahna";
const id = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
const big = "18446744073709551615";
const send = { from_address: alice, to_address: bob, amount: [{ denom: "stake", amount: "5" }] };
const schedule = "timers.v1.MsgScheduleTimer";

const policyOf = (packed, value) => packed ? any("timers.tip.v1.Params", value) : { type: "/timers.tip.v1.Params", value };

// A config with every field: numbers and enums that differ, decimals of every length, and what repeats twice. One of zeros
// has its decimals and large integers alone, which are never left out. Parameters of a policy are a message of a type of its own: as
// protobuf has them if packed, else as a wallet states them.
const decimals = ["0.0107", "12", "0.000000000000000001", "0.5"];
const isNumber = (field) => field.options?.["(gogoproto.customtype)"] !== undefined;
const configOf = (zeros, packed) => {
  let at = 0;
  const one = (field) => {
    at += 1;
    if (field.resolvedType instanceof protobuf.Enum) return Math.max(...Object.values(field.resolvedType.values));
    if (field.type !== "string") return { uint64: `${at}`, uint32: at, bool: true }[field.type];
    if (isNumber(field)) return zeros ? "0" : field.options["(cosmos_proto.scalar)"] ? `${at}` : decimals[at % decimals.length];
    return field.options?.["(cosmos_proto.scalar)"] === "cosmos.AddressString" ? alice : `text ${at}`;
  };
  const fill = (type) => Object.fromEntries(type.fieldsArray.flatMap((field) => {
    const { resolvedType, repeated, name } = field.resolve();
    if (name === "policy_params") return zeros ? [] : [[name, [policyOf(packed, fill(root.lookupType("timers.tip.v1.Params")))]]];
    if (resolvedType instanceof protobuf.Type) return [[name, fill(resolvedType)]];
    if (zeros && !isNumber(field)) return [];
    return [[name, repeated ? [one(field), one(field)] : one(field)]];
  }));
  return fill(root.lookupType("timers.v1.TimerConfig"));
};

const updateConfig = (zeros, packed) => ({ authority: alice, config: configOf(zeros, packed), ...zeros ? {} : {
  expected: Buffer.alloc(32, 7).toString("base64"), fields: ["lane_paused", "tip.decay"] } });

// Each has its amino type and value as a wallet states them, and its fields as protobuf has them, where they differ. A spec always has
// its trigger and its call there, empty if nothing is stated of them.
const cases = [
  { name: "decimals", type: schedule, amino: "timers/MsgScheduleTimer", value: { sender: alice, spec: {
    trigger: { height: big }, call: {}, bid: { static: { max_fee_per_cycle: "0.0107", max_priority_fee_per_cycle: "0.000000000000000001" } } } } },
  { name: "zero_decimals", type: schedule, amino: "timers/MsgScheduleTimer", value: { sender: alice, spec: {
    name: "rent <b>&", trigger: { after: "20" }, call: {}, bid: { static: { max_fee_per_cycle: "12", max_priority_fee_per_cycle: "0" } } } } },
  { name: "enums_and_numbers", type: schedule, amino: "timers/MsgScheduleTimer", value: { sender: alice, spec: {
    trigger: { interval: { every: "1", first: "2" } }, repeat: { remaining: "3", on_failure: 2 }, call: { handler: "tick", payload: "AP+A" },
    gas_limit: "550000", cell_limit: "1", bid: { tier: 3 }, max_charge: "5000", fee_payer: bob, expires_at: "99",
    retry: { max: 3, after: "5" }, on_unfunded: 2 } } },
  { name: "watch", type: schedule, amino: "timers/MsgScheduleTimer", value: { sender: alice, spec: {
    trigger: { watch: { keys: [{ store: "bank", prefix: "Ag==" }] } }, repeat: { remaining: "1" }, call: {} } } },
  { name: "messages", type: schedule, amino: "timers/MsgScheduleTimer",
    value: { sender: alice, spec: { trigger: { height: "7" }, call: { messages: [
      { type: "cosmos-sdk/MsgSend", value: send }, { type: "timers/MsgCancelTimer", value: { sender: alice, id } } ] } } },
    proto: { sender: alice, spec: { trigger: { height: "7" }, call: { messages: [
      any("cosmos.bank.v1beta1.MsgSend", send), any("timers.v1.MsgCancelTimer", { sender: alice, id }) ] } } } },
  { name: "update_messages", type: "timers.v1.MsgUpdateTimer", amino: "timers/MsgUpdateTimer",
    value: { sender: alice, id, fields: ["call", "max_charge"],
      spec: { trigger: {}, call: { messages: [{ type: "cosmos-sdk/MsgSend", value: send }] }, max_charge: "0" } },
    proto: { sender: alice, id, fields: ["call", "max_charge"],
      spec: { trigger: {}, call: { messages: [any("cosmos.bank.v1beta1.MsgSend", send)] }, max_charge: "0" } } },
  { name: "update_numbers", type: "timers.v1.MsgUpdateTimer", amino: "timers/MsgUpdateTimer", value: {
    sender: alice, id, name: "rent <b>&", actor: bob, if_seq: big, fields: ["call", "gas_limit", "cell_limit", "bid", "max_charge"], spec: {
      trigger: {}, call: { handler: "tock", payload: "e30=" }, gas_limit: big, cell_limit: "7", bid: { agent: bob },
      max_charge: "340282366920938463463" } } },
  { name: "update_to_defaults", type: "timers.v1.MsgUpdateTimer", amino: "timers/MsgUpdateTimer",
    value: { sender: alice, id, fields: ["call", "bid", "repeat.remaining"], spec: { trigger: {}, call: {} } } },
  { name: "for_a_contract", type: schedule, amino: "timers/MsgScheduleTimer", value: { sender: alice, actor: bob, spec: {
    trigger: { interval: { every: "5" } }, call: { handler: "tick", payload: "e30=" }, bid: { price: "17" } } } },
  { name: "conditions", type: schedule, amino: "timers/MsgScheduleTimer", value: { sender: alice, spec: { call: {},
    trigger: { watch: { cooldown: big, level: true, keys: [
      { store: "bank", prefix: "AhQ=", when: { op: 4, value: "-0.5" } }, { store: "wasm", prefix: "Aw==", when: { op: 1 } } ] } } } } },
  // A chain refuses it; a wallet signs it all the same.
  { name: "time", type: schedule, amino: "timers/MsgScheduleTimer",
    value: { sender: alice, spec: { trigger: { time: "2023-11-14T22:13:20.000000005Z" }, call: {} } },
    proto: { sender: alice, spec: { trigger: { time: { seconds: "1700000000", nanos: 5 } }, call: {} } } },
  { name: "calendar", type: schedule, amino: "timers/MsgScheduleTimer", value: { sender: alice, spec: {
    trigger: { calendar: {
      cron: { minutes: "1", hours: 512, days: 2, last_day: true, months: 8190, weekdays: 127, nth: 68 }, offset_minutes: -60,
      transitions: [{ from: "1711846800", offset_minutes: 120 }], offset_final: true } },
    repeat: { remaining: "12", missed: 2, window: "3600", jitter: "60", on_failure: 2, max_failures: 2 }, call: {},
    expires_time: "1800000000" } } },
  { name: "every", type: schedule, amino: "timers/MsgScheduleTimer", value: { sender: alice, spec: {
    trigger: { calendar: { every: { seconds: "3600", anchor: "1700000000" } } }, call: {} } } },
  { name: "interval_from_schedule", type: schedule, amino: "timers/MsgScheduleTimer", value: { sender: alice, spec: {
    trigger: { interval: { every: "5", from: 2 } }, repeat: { missed: 1 }, call: {} } } },
  { name: "bad_moments", type: schedule, amino: "timers/MsgScheduleTimer", value: { sender: alice, spec: {
    trigger: { interval: { every: "9" } }, repeat: { on_failure: 3, max_failures: 3, renew: true }, call: {},
    retry: { max: 1, after: "2", backoff: 3, on: [{ codespace: "bank", code: 5 }] }, on_unfunded: 3 } } },
  { name: "only_if", type: schedule, amino: "timers/MsgScheduleTimer", value: { sender: alice, spec: {
    trigger: { after: "7" }, call: {}, only_if: [
      { store: "bank", prefix: "AhQ=", when: { op: 4, value: "100" } }, { store: "wasm", prefix: "Aw==", when: { op: 2 } } ] } } },
  { name: "update_trigger", type: "timers.v1.MsgUpdateTimer", amino: "timers/MsgUpdateTimer", value: {
    sender: alice, id, fields: ["trigger", "repeat.renew", "only_if", "retry", "on_unfunded"], spec: {
      trigger: { after: "7" }, repeat: { renew: true }, call: {}, only_if: [{ store: "bank", prefix: "Ag==", when: { op: 1 } }],
      retry: { max: 1, after: "2" }, on_unfunded: 2 } } },
  { name: "resume_next", type: "timers.v1.MsgResumeTimer", amino: "timers/MsgResumeTimer", value: { sender: alice, name: "rent", at: 2 } },
  { name: "skip", type: "timers.v1.MsgSkipTimer", amino: "timers/MsgSkipTimer", value: { sender: alice, id, name: "rent", count: 7, actor: bob, from: "1700000000" } },
  { name: "run", type: "timers.v1.MsgRunTimer", amino: "timers/MsgRunTimer", value: { sender: alice, id, name: "rent", actor: bob } },
  { name: "extend_time", type: "timers.v1.MsgExtendTimer", amino: "timers/MsgExtendTimer", value: { sender: alice, id, expires_time: "1800000000" } },
  { name: "extend", type: "timers.v1.MsgExtendTimer", amino: "timers/MsgExtendTimer", value: { sender: alice, id, name: "rent", expires_at: big, actor: bob } },
  { name: "extend_to_nothing", type: "timers.v1.MsgExtendTimer", amino: "timers/MsgExtendTimer", value: { sender: alice, id } },
  ...["Pause", "Resume", "Cancel"].map((verb) => ({
    name: verb.toLowerCase(), type: `timers.v1.Msg${verb}Timer`, amino: `timers/Msg${verb}Timer`, value: { sender: alice, id, name: "rent", actor: bob } })),
  { name: "set_agent", type: "timers.v1.MsgSetAgent", amino: "timers/MsgSetAgent", value: { sender: alice, agent: bob } },
  { name: "clear_agent", type: "timers.v1.MsgSetAgent", amino: "timers/MsgSetAgent", value: { sender: alice } },
  ...["Cancel", "Release"].map((verb) => ({
    name: `sys_${verb.toLowerCase()}`, type: `timers.v1.MsgSys${verb}Timer`, amino: `timers/MsgSys${verb}Timer`,
    value: { authority: alice, actor: bob, id } })),
  { name: "sys_extend", type: "timers.v1.MsgSysExtendTimer", amino: "timers/MsgSysExtendTimer",
    value: { authority: alice, actor: bob, id, expires_at: big, expires_time: "1800000000" } },
  ...[false, true].map((zeros) => ({
    name: zeros ? "config_of_zeros" : "config", type: "timers.v1.MsgUpdateTimerConfig", amino: "timers/MsgUpdateTimerConfig",
    value: updateConfig(zeros, false), proto: updateConfig(zeros, true) })),
];

const hex = (bytes) => Buffer.from(bytes).toString("hex");
// A key's form is what matters: nothing is verified with it.
const key = any("cosmos.crypto.secp256k1.PubKey", { key: Buffer.alloc(33, 2) });
const fee = { amount: [], gas: "200000" };
const vectors = cases.map(({ name, type, amino, value, proto }) => {
  const body = encode("cosmos.tx.v1beta1.TxBody", { messages: [any(type, proto ?? value)], memo: "a memo" });
  const info = (mode) => encode("cosmos.tx.v1beta1.AuthInfo", {
    signer_infos: [{ public_key: key, mode_info: { single: { mode } }, sequence: "2" }], fee: { gas_limit: fee.gas } });
  const raw = (mode) => hex(encode("cosmos.tx.v1beta1.TxRaw", { body_bytes: body, auth_info_bytes: info(mode) }));
  const signed = makeSignDoc([{ type: amino, value }], fee, "chain", "a memo", 1, 2);
  return {
    name, type, amino_tx: raw("SIGN_MODE_LEGACY_AMINO_JSON"), amino_sign_bytes: hex(serializeSignDoc(signed)),
    direct_tx: raw("SIGN_MODE_DIRECT"), direct_sign_bytes: hex(makeSignBytes(makeDirectDoc(body, info("SIGN_MODE_DIRECT"), "chain", 1))),
  };
});
process.stdout.write(JSON.stringify(vectors, null, 1) + "\n");
