// Proofs of receipts: that a timer was delivered in a block, or was not. Who verifies needs the file of a proof and a
// header that it trusts, and no node. x/timers/docs/use/proofs.md describes the file; the Go package client/proof reads and
// refuses the same.
//
// The proofs within are checked here and not by a library. The one that is published, @confio/ics23 0.6.8, does not
// check the numbers with which nodes begin, nor the length of what follows a hash, as its counterpart in Go does. What
// is to check is small, for proofs of these stores have one form.
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { sha256 } from "@noble/hashes/sha2.js";
import { fromBase64, fromHex, toBase64, toHex } from "@cosmjs/encoding";
import { Comet38Client } from "@cosmjs/tendermint-rpc";
import {
  CommitmentProof, ExistenceProof, HashOp, InnerOp, LeafOp, LengthOp, NonExistenceProof,
} from "cosmjs-types/cosmos/ics23/v1/proofs";
import { LaneState, Receipt } from "./gen/timers/v1/core.js";

const version = 1;
/** maxDeliveryBytes bounds the file of a proof of a delivery, and maxAbsenceBytes that of a proof of absence. */
const maxDeliveryBytes = 32 << 10;
const maxAbsenceBytes = 16 << 20;
const storeName = "timers";
/** The regions of the store that proofs are about. */
const laneRegion = 4;
const receiptsRegion = 9;
const maxUint64 = (1n << 64n) - 1n;

/**
 * TrustedHeader is what is trusted of a header. Where it comes from decides what a proof is worth: a light client, or a
 * node of one's own.
 */
export interface TrustedHeader {
  chainId: string;
  height: bigint | number;
  /** appHash is the application hash, as bytes or in hexadecimal. */
  appHash: Uint8Array | string;
}

/** Fact is what a proof has shown. */
export interface Fact {
  chainId: string;
  /** headerHeight is the height of the header under which it was shown. */
  headerHeight: bigint;
  timerId: string;
  /** height of the block in which the timer was delivered or, if absent, was not. */
  height: bigint;
  absent: boolean;
  /** position of the receipt among those of its block, and the receipt, which says whether the delivery succeeded. */
  position?: bigint;
  receipt?: Receipt;
}

/** File is a proof as it is kept. */
interface File {
  proves: "delivery" | "absence";
  chainId: string;
  headerHeight: bigint;
  timerId: string;
  height: bigint;
  position?: bigint;
  store: Uint8Array;
  receipts: Uint8Array[];
  end?: Uint8Array;
  lane?: Uint8Array;
}

const fields = ["version", "proves", "chain_id", "header_height", "timer_id", "height", "position", "store", "receipts",
  "end", "lane"];

/** form is the error of a file whose form is wrong. */
const form = (why: string): Error => new Error(`the proof is not a file of version ${version}: ${why}`);

function numberIn(value: unknown): bigint {
  if (typeof value !== "string") throw form(`${JSON.stringify(value)} is no number as text: want digits in quotes`);
  if (!/^(0|[1-9][0-9]{0,19})$/.test(value) || BigInt(value) > maxUint64) {
    throw form(`${JSON.stringify(value.slice(0, 40))} is no number: want digits, without leading zeros, below 2^64`);
  }
  return BigInt(value);
}

function bytesIn(name: string, value: unknown): Uint8Array {
  if (typeof value !== "string") throw form(`${name} is no text`);
  try {
    return fromBase64(value);
  } catch {
    throw form(`${name} is not base64`);
  }
}

/** parse reads the file of a proof. It checks the form alone. */
function parse(text: string): File {
  const { length } = new TextEncoder().encode(text);
  if (length > maxAbsenceBytes) throw new Error(`the proof has ${length} bytes, want at most ${maxAbsenceBytes}`);
  let raw: Record<string, unknown>;
  try {
    raw = JSON.parse(text);
  } catch (error) {
    throw form((error as Error).message);
  }
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) throw form("it is no JSON object");
  for (const name of Object.keys(raw)) if (!fields.includes(name)) throw form(`unknown field ${JSON.stringify(name)}`);
  if (typeof raw.version !== "number" && raw.version !== undefined) throw form("version is no number");
  if (raw.version !== version) throw new Error(`the proof is of version ${raw.version ?? 0}: want ${version}`);
  if (raw.proves !== "delivery" && raw.proves !== "absence") {
    throw new Error(`the proof proves ${JSON.stringify(raw.proves)}: want "delivery" or "absence"`);
  }
  if (typeof raw.chain_id !== "string" || raw.chain_id === "") {
    throw new Error("the proof names no chain: chain_id is missing");
  }
  if (typeof raw.timer_id !== "string" || !/^([0-9a-f]{2})*$/.test(raw.timer_id)) {
    throw form(`${JSON.stringify(raw.timer_id)} is not hexadecimal in lower case`);
  }
  if (raw.timer_id.length !== 64) throw new Error(`timer_id has ${raw.timer_id.length / 2} bytes, want 32`);
  const height = numberIn(raw.height ?? "0");
  const headerHeight = numberIn(raw.header_height ?? "0");
  if (height === 0n) throw new Error("height is 0 or missing: want that of a block");
  if (headerHeight <= height) {
    throw new Error(`header_height ${headerHeight} is not above height ${height}: ` +
      "the receipts of a block are under the next header");
  }
  if (!raw.store) throw new Error("store, the proof of the module's store, is missing");
  if (!Array.isArray(raw.receipts)) throw form("receipts are no list");
  const file: File = {
    proves: raw.proves, chainId: raw.chain_id, headerHeight, timerId: raw.timer_id, height,
    position: raw.position === undefined ? undefined : numberIn(raw.position),
    store: bytesIn("store", raw.store),
    receipts: raw.receipts.map((proof) => bytesIn("receipts", proof)),
    end: raw.end === undefined ? undefined : bytesIn("end", raw.end),
    lane: raw.lane === undefined ? undefined : bytesIn("lane", raw.lane),
  };
  if (file.proves === "absence" ? file.position !== undefined || !file.end?.length || !file.lane?.length : false) {
    throw new Error("a proof of absence has no position, and has end and lane");
  }
  if (file.proves === "delivery") {
    if (file.position === undefined || file.receipts.length !== 1 || file.end || file.lane) {
      throw new Error("a proof of a delivery has a position, one value of receipts, and neither end nor lane");
    }
    if (length > maxDeliveryBytes) {
      throw new Error(`the proof of a delivery has ${length} bytes, want at most ${maxDeliveryBytes}`);
    }
  }
  return file;
}

/** write is the file as text, as the Go package writes it. */
function write(file: File): string {
  return JSON.stringify({
    version, proves: file.proves, chain_id: file.chainId, header_height: `${file.headerHeight}`,
    timer_id: file.timerId, height: `${file.height}`,
    ...(file.position === undefined ? {} : { position: `${file.position}` }),
    store: toBase64(file.store), receipts: file.receipts.map(toBase64),
    ...(file.end && { end: toBase64(file.end) }), ...(file.lane && { lane: toBase64(file.lane) }),
  }, undefined, 1) + "\n";
}

/** verifyProof returns what the file of a proof shows under a header. It throws, and says why, if that is nothing. */
export function verifyProof(trusted: TrustedHeader, text: string): Fact {
  const file = parse(text);
  if (trusted.chainId !== file.chainId) {
    throw new Error(`the proof is of chain ${JSON.stringify(file.chainId)}, and the header of ` +
      JSON.stringify(trusted.chainId));
  }
  if (BigInt(trusted.height) !== file.headerHeight) {
    throw new Error(`the proof is for the header of height ${file.headerHeight}: ` +
      `the one that is trusted is of ${trusted.height}`);
  }
  const appHash = typeof trusted.appHash === "string" ? fromHex(trusted.appHash) : trusted.appHash;
  if (appHash.length !== 32) {
    throw new Error(`the application hash of the header has ${appHash.length} bytes, want 32`);
  }
  const store = within("store", () => member(simple, appHash, file.store));
  if (new TextDecoder().decode(store.key) !== storeName) {
    throw new Error(`store: it is a proof of store ${JSON.stringify(new TextDecoder().decode(store.key))}, ` +
      `want "${storeName}"`);
  }
  const fact: Fact = { chainId: file.chainId, headerHeight: file.headerHeight, timerId: file.timerId,
    height: file.height, absent: file.proves === "absence" };
  if (fact.absent) verifyAbsence(file, store.value);
  else Object.assign(fact, verifyDelivery(file, store.value));
  return fact;
}

/** within says of an error which part of a proof it is about. */
function within<T>(part: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw new Error(`${part}: ${(error as Error).message}`);
  }
}

/** verifyDelivery returns the receipt that a file proves under the root of the store. */
function verifyDelivery(file: File, root: Uint8Array): { position: bigint; receipt: Receipt } {
  const { first, receipts } = within("receipts", () => segment(file, root, file.receipts[0]));
  const position = file.position!;
  if (position < first || position >= first + BigInt(receipts.length)) {
    throw new Error(`receipts: the value holds those of the positions ${first} to ` +
      `${first + BigInt(receipts.length) - 1n}, and not ${position}`);
  }
  const receipt = receipts[Number(position - first)];
  if (toHex(receipt.timerId) !== file.timerId) {
    throw new Error(`receipts: position ${position} is a delivery of timer ${toHex(receipt.timerId)}, and not of ` +
      file.timerId);
  }
  return { position, receipt };
}

/**
 * verifyAbsence checks that the file holds all receipts of its block, and that none is one of the timer: the values
 * follow one another from position 0 on, none follows the last, and none was removed or left out.
 */
function verifyAbsence(file: File, root: Uint8Array): void {
  const { key, value } = within("lane", () => member(iavl, root, file.lane!));
  if (!same(key, laneKey)) throw new Error(`lane: it is a proof of the key ${toHex(key)}, want ${toHex(laneKey)}`);
  const { receiptsFrom, receiptsUnkept } = within("lane", () => LaneState.decode(value));
  if (receiptsFrom >= file.height) {
    throw new Error(`receipts of height ${file.height} may be pruned: all are kept of heights above ` +
      `${receiptsFrom} only`);
  }
  if (receiptsUnkept >= file.height) {
    throw new Error(`receipts of height ${file.height} may not have been kept: all are kept of heights above ` +
      `${receiptsUnkept} only`);
  }
  let next = 0n;
  file.receipts.forEach((proof, i) => {
    const { first, receipts } = within(`receipts: value ${i}`, () => segment(file, root, proof));
    if (first !== next) throw new Error(`receipts: value ${i} begins at position ${first}, want ${next}`);
    receipts.forEach((receipt, j) => {
      if (toHex(receipt.timerId) === file.timerId) {
        throw new Error(`timer ${file.timerId} was delivered at height ${file.height}, position ${first + BigInt(j)}`);
      }
    });
    next += BigInt(receipts.length);
  });
  within("end", () => missing(root, file.end!, receiptsKey(file.height, next)));
}

/** segment returns the receipts of a value of the file's block, and the position of the first. */
function segment(file: File, root: Uint8Array, proof: Uint8Array): { first: bigint; receipts: Receipt[] } {
  const { key, value } = member(iavl, root, proof);
  const own = receiptsKey(file.height, 0n).subarray(0, 9);
  if (key.length !== 17 || !same(key.subarray(0, 9), own)) {
    throw new Error(`it is a proof of the key ${toHex(key)}, want one of the receipts of height ${file.height}, ` +
      `${toHex(own)} and a position`);
  }
  const { height, receipts } = blockReceipts(value);
  if (height !== file.height || receipts.length === 0) {
    throw new Error(`the value has ${receipts.length} receipts of height ${height}, want one or more of ` +
      `${file.height}`);
  }
  return { first: position(key), receipts };
}

/** blockReceipts reads a timers.v1.HeightReceipts. */
function blockReceipts(value: Uint8Array): { height: bigint; receipts: Receipt[] } {
  const reader = new BinaryReader(value);
  const receipts: Receipt[] = [];
  let height = 0n;
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 1) height = BigInt(reader.uint64());
    else if (field === 2) receipts.push(Receipt.decode(reader, reader.uint32()));
    else reader.skip(type);
  }
  return { height, receipts };
}

const laneKey = Uint8Array.of(laneRegion);

/** receiptsKey is the key of a value of receipts, the one whose first receipt has this position. */
function receiptsKey(height: bigint, first: bigint): Uint8Array {
  const key = new Uint8Array(17);
  key[0] = receiptsRegion;
  const view = new DataView(key.buffer);
  view.setBigUint64(1, height);
  view.setBigUint64(9, first);
  return key;
}

/** position is that in a key of receipts. */
const position = (key: Uint8Array): bigint => new DataView(key.buffer, key.byteOffset, key.length).getBigUint64(9);

const same = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((byte, i) => byte === b[i]);

/** before tells whether one key is before another. */
function before(a: Uint8Array, b: Uint8Array): boolean {
  for (let i = 0; i < Math.min(a.length, b.length); i++) if (a[i] !== b[i]) return a[i] < b[i];
  return a.length < b.length;
}

/** Step is one from a node of a tree to the one above it: the hash is left or right of its sibling. */
interface Step {
  left: boolean;
  prefix: Uint8Array;
  suffix: Uint8Array;
}

/** Tree is what proofs of a tree look like: each throws where a proof looks otherwise. */
interface Tree {
  leaf(prefix: Uint8Array): void;
  /** step reads the nth step from the leaf, from 1 on. */
  step(op: InnerOp, nth: number): Step;
}

/** maxSteps bounds the depth of a tree. */
const maxSteps = 128;

/** simple is the tree of the stores' roots (CometBFT's merkle trees). */
const simple: Tree = {
  leaf: (prefix) => {
    if (!same(prefix, Uint8Array.of(0))) throw new Error("the leaf has another prefix");
  },
  step: ({ prefix, suffix }) => {
    const left = prefix.length === 1 && suffix.length === 32;
    if (prefix[0] !== 1 || !(left || (prefix.length === 33 && suffix.length === 0))) {
      throw new Error("a step has another form");
    }
    return { left, prefix, suffix };
  },
};

/** iavl is the tree of a store: nodes begin with their height, their size and their version. */
const iavl: Tree = {
  leaf: (prefix) => {
    const { height, rest } = head(prefix);
    if (prefix[0] !== 0 || height !== 0n || rest.length > 0) throw new Error("the leaf has another prefix");
  },
  step: ({ prefix, suffix }, nth) => {
    const { height, rest } = head(prefix);
    // Each hash has its length before it.
    const left = rest.length === 1 && suffix.length === 33 && suffix[0] === 32;
    const right = rest.length === 34 && rest[33] === 32 && suffix.length === 0;
    if (height < BigInt(nth) || rest[0] !== 32 || !(left || right)) throw new Error("a step has another form");
    return { left, prefix, suffix };
  },
};

/** head reads the height of a node of a store, and what follows its size and version. */
function head(prefix: Uint8Array): { height: bigint; rest: Uint8Array } {
  const numbers: bigint[] = [];
  let at = 0;
  while (numbers.length < 3) {
    let number = 0n;
    for (let shift = 0n;; shift += 7n) {
      if (at >= prefix.length || shift > 63n) throw new Error("a node begins with no numbers");
      const byte = prefix[at++];
      number |= BigInt(byte & 127) << shift;
      if (byte < 128) break;
    }
    // An odd number is a negative one, after zigzag.
    if (number & 1n || number > maxUint64) throw new Error("a node begins with a negative number");
    numbers.push(number >> 1n);
  }
  return { height: numbers[0], rest: prefix.subarray(at) };
}

function concat(...parts: Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** counted is bytes after their length, as protobuf writes it. */
function counted(bytes: Uint8Array): Uint8Array {
  const length: number[] = [];
  let n = bytes.length;
  for (; n > 127; n >>>= 7) length.push((n & 127) | 128);
  return concat(Uint8Array.of(...length, n), bytes);
}

function checkLeaf(tree: Tree, leaf: LeafOp | undefined): LeafOp {
  if (!leaf) throw new Error("the leaf is missing");
  if (leaf.hash !== HashOp.SHA256 || leaf.prehashKey !== HashOp.NO_HASH || leaf.prehashValue !== HashOp.SHA256 ||
    leaf.length !== LengthOp.VAR_PROTO) {
    throw new Error("the leaf is hashed otherwise");
  }
  tree.leaf(leaf.prefix);
  return leaf;
}

/** exists checks that a key and a value are in the tree of a root, and returns the steps to it. */
function exists(tree: Tree, root: Uint8Array, proof: ExistenceProof): Step[] {
  const { key, value } = proof;
  const leaf = checkLeaf(tree, proof.leaf);
  if (key.length === 0 || value.length === 0) throw new Error("the key or the value is empty");
  if (proof.path.length > maxSteps) throw new Error(`it has ${proof.path.length} steps, want at most ${maxSteps}`);
  let hash = sha256(concat(leaf.prefix, counted(key), counted(sha256(value))));
  const steps = proof.path.map((op, i) => {
    if (op.hash !== HashOp.SHA256) throw new Error("a step is hashed otherwise");
    const step = tree.step(op, i + 1);
    hash = sha256(concat(step.prefix, hash, step.suffix));
    return step;
  });
  if (!same(hash, root)) throw new Error("it leads to another root");
  return steps;
}

/** read reads a proof of ICS-23, which must be of one kind. */
function read(bytes: Uint8Array): { exist?: ExistenceProof; nonexist?: NonExistenceProof } {
  let proof: CommitmentProof;
  try {
    proof = CommitmentProof.decode(bytes);
  } catch (error) {
    throw new Error(`it is no proof of ICS-23: ${(error as Error).message}`);
  }
  const { exist, nonexist, batch, compressed } = proof;
  return [exist, nonexist, batch, compressed].filter(Boolean).length === 1 ? { exist, nonexist } : {};
}

/** member checks a proof of existence against a root, and returns the key and the value that it proves. */
function member(tree: Tree, root: Uint8Array, bytes: Uint8Array): { key: Uint8Array; value: Uint8Array } {
  const { exist } = read(bytes);
  if (!exist) throw new Error("it is no proof that something exists");
  try {
    exists(tree, root, exist);
  } catch (error) {
    throw new Error(`the proof of key ${toHex(exist.key).slice(0, 80)} does not hold: ${(error as Error).message}`);
  }
  return { key: exist.key, value: exist.value };
}

/** missing checks a proof that a key of receipts is not in the store, nor any later one of its height. */
function missing(root: Uint8Array, bytes: Uint8Array, key: Uint8Array): void {
  const { nonexist } = read(bytes);
  if (!nonexist) throw new Error("it is no proof that something is missing");
  try {
    between(root, nonexist, key);
  } catch (error) {
    throw new Error(`the proof that there is no key ${toHex(key)} does not hold: ${(error as Error).message}`);
  }
  const after = nonexist.right;
  if (after && same(after.key.subarray(0, 9), key.subarray(0, 9))) {
    throw new Error(`there are more receipts, at the key ${toHex(after.key)}`);
  }
}

/** between checks that the two entries of a proof are in the tree of a root side by side, and the key between them. */
function between(root: Uint8Array, { left, right }: NonExistenceProof, key: Uint8Array): void {
  if (!left && !right) throw new Error("it has neither side");
  const toLeft = left ? exists(iavl, root, left).reverse() : [];
  const toRight = right ? exists(iavl, root, right).reverse() : [];
  if (left && !before(left.key, key)) throw new Error("its left side is not before the key");
  if (right && !before(key, right.key)) throw new Error("its right side is not after the key");
  let fork = 0;
  if (left && right) {
    const at = (steps: Step[]): Step => {
      if (fork >= steps.length) throw new Error("its sides are not side by side");
      return steps[fork];
    };
    while (same(at(toLeft).prefix, at(toRight).prefix) && same(at(toLeft).suffix, at(toRight).suffix)) fork++;
    if (!at(toLeft).left || at(toRight).left) throw new Error("its sides are not side by side");
    fork++;
  }
  if (toLeft.slice(fork).some((step) => step.left)) throw new Error("there is something after its left side");
  if (toRight.slice(fork).some((step) => !step.left)) throw new Error("there is something before its right side");
}

/** pollMs is how often a node is asked for a block that is not there yet. */
const pollMs = 200;
/** leastState is the first height whose state a node proves anything of. */
const leastState = 2;

/** Proving bounds how long a proof may take, most of it the wait for the next block: a minute unless stated. */
export interface Proving {
  timeoutMs?: number;
}

/**
 * prove returns the file of a proof that a timer was delivered in the block of a height, or was not. It proves the
 * state of the block before the latest, or of that height if that is the latest: then it waits for the next block,
 * whose header the proof is for. The proof has been verified under the header that the node gives.
 */
export async function prove(comet: Comet38Client, proves: File["proves"], timerId: string, at: bigint | number,
  { timeoutMs = 60_000 }: Proving = {}): Promise<string> {
  if (!/^[0-9a-f]{64}$/.test(timerId)) {
    throw new Error(`timer id ${JSON.stringify(timerId)} is not one: want 64 hexadecimal digits in lower case`);
  }
  const height = BigInt(at);
  if (height < 1n) throw new Error(`height ${height} is that of no block`);
  const header = await nextHeader(comet, height, Date.now() + timeoutMs);
  const file: File = { proves, chainId: header.chainId, headerHeight: BigInt(header.height), timerId, height,
    store: new Uint8Array(), receipts: [] };
  await collect(file, (key) => ask(comet, header.height - 1, key));
  const text = write(file);
  within(`what the node answered does not hold under its own header of height ${header.height}`,
    () => verifyProof(header, text));
  return text;
}

/** nextHeader waits for the header to prove under, and returns it. */
async function nextHeader(comet: Comet38Client, height: bigint, deadline: number): Promise<
  { chainId: string; height: number; appHash: Uint8Array }
> {
  for (let first = true;; first = false) {
    const latest = (await comet.abciInfo()).lastBlockHeight ?? 0;
    if (first && height > BigInt(latest)) {
      throw new Error(`height ${height} is in the future: the latest is ${latest}`);
    }
    if (BigInt(latest) > height && latest > leastState) {
      const { header } = await comet.commit(latest);
      return { chainId: header.chainId, height: header.height, appHash: header.appHash };
    }
    if (Date.now() > deadline) {
      throw new Error(`the receipts of height ${height} are under the header of the next block, and height ` +
        `${latest} is the latest`);
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

/** Answer is what the store has at a key, nothing if it has not, the proof of that, and the proof of the store. */
interface Answer {
  value: Uint8Array;
  proof: Uint8Array;
  store: Uint8Array;
}

/** ask queries the store for a key, with proof. */
async function ask(comet: Comet38Client, height: number, key: Uint8Array): Promise<Answer> {
  const answer = await comet.abciQuery({ path: `/store/${storeName}/key`, data: key, height, prove: true });
  if (answer.code) throw new Error(`the node refuses its state of height ${height}: ${answer.log}`);
  const [leaf, store] = answer.proof?.ops ?? [];
  if (answer.proof?.ops.length !== 2 || leaf.type !== "ics23:iavl" || store.type !== "ics23:simple") {
    throw new Error(`the node answered for height ${height} without a proof of a store`);
  }
  return { value: answer.value, proof: leaf.data, store: store.data };
}

/** collect enters the values that a proof needs, reading those of the block from the first on. */
async function collect(file: File, ask: (key: Uint8Array) => Promise<Answer>): Promise<void> {
  const { height, timerId } = file;
  for (let next = 0n;;) {
    const answer = await ask(receiptsKey(height, next));
    file.store = answer.store;
    if (answer.value.length === 0) {
      // The first values may be pruned, and others left.
      const after = next === 0n ? read(answer.proof).nonexist?.right?.key : undefined;
      if (after?.length === 17 && same(after.subarray(0, 9), receiptsKey(height, 0n).subarray(0, 9))) {
        next = position(after);
        continue;
      }
      file.end = answer.proof;
      break;
    }
    const { receipts } = blockReceipts(answer.value);
    const found = receipts.findIndex((receipt) => toHex(receipt.timerId) === timerId);
    if (found >= 0 && file.proves === "absence") {
      throw new Error(`the timer was delivered at height ${height}, position ${next + BigInt(found)}: ` +
        "that can be proved");
    }
    if (found >= 0) {
      file.position = next + BigInt(found);
      file.receipts = [answer.proof];
      return;
    }
    if (file.proves === "absence") file.receipts.push(answer.proof);
    if (receipts.length === 0) throw new Error(`the node answered with a value that holds no receipts`);
    next += BigInt(receipts.length);
  }
  const lane = await ask(laneKey);
  const { receiptsFrom, receiptsUnkept } = LaneState.decode(lane.value);
  const from = receiptsFrom > receiptsUnkept ? receiptsFrom : receiptsUnkept;
  if (from >= height) {
    throw new Error(`height ${height}: not all its receipts are kept: all are kept of heights above ${from} only`);
  }
  if (file.proves === "delivery") {
    throw new Error(`the timer was not delivered at height ${height}: that can be proved`);
  }
  file.lane = lane.proof;
}
