// Makes traces of the model smaller: what a test can observe, one state a line. Usage:
//   node traces.mjs '{"window": 64, …}' FROM.itf.json TO.itf.json
// What is left is still in the Informal Trace Format. Left out are ghosts, fields that a step does not use, and timers
// that have left.
import { readFileSync, writeFileSync } from "node:fs";

const [constants, from, to] = process.argv.slice(2);

// All integers of the model are exact as numbers: they are below 2^53.
function plain(value) {
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object") return value;
  if ("#bigint" in value) {
    const number = Number(value["#bigint"]);
    if (!Number.isSafeInteger(number)) throw new Error(`${value["#bigint"]} is no exact number`);
    return number;
  }
  if ("#map" in value) return { "#map": value["#map"].map(plain) };
  if ("#set" in value) return { "#set": value["#set"].map(plain) };
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, plain(part)]));
}

const used = (record) => Object.fromEntries(Object.entries(record).filter(([, v]) => v !== 0 && v !== "" && v !== false));
const observed = [
  "due", "seq", "gas", "expires", "remaining", "retries", "place", "reason", "fireSeq", "bid", "lock", "deferred", "at", "ends", "after", "trying",
  "since", "tried", "deliveries", "failures", "lapses", "forced", "lastMax", "lastTip",
];

function state(raw) {
  const s = Object.fromEntries(Object.entries(raw).map(([key, value]) => [key.split("::").pop(), value]));
  const live = plain(s.timers)["#map"].filter(([, t]) => t.place !== "left");
  return {
    step: used(plain(s.step_)),
    height: plain(s.height),
    minute: plain(s.minute),
    balances: plain(s.balances),
    burned: plain(s.burned),
    tips: plain(s.tips),
    timers: { "#map": live.map(([id, t]) => [id, used(Object.fromEntries(observed.map((key) => [key, t[key]])))]) },
    fires: plain(s.fires).map(used),
    exits: plain(s.exits),
    calls: plain(s.calls).map(used),
    questions: plain(s.questions).map(used),
  };
}

const states = JSON.parse(readFileSync(from, "utf8")).states.map(state);
const head = { "#meta": { format: "ITF", ...JSON.parse(constants) }, vars: Object.keys(states[0]) };
writeFileSync(to, JSON.stringify(head).slice(0, -1) + ',"states":[\n' + states.map((s) => JSON.stringify(s)).join(",\n") + "\n]}\n");
