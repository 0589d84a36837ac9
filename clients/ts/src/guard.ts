// What must hold when a timer fires, as people say it: "bank:balance:ADDRESS:DENOM < 100".
import { ConditionOp, WatchCondition, WatchKey } from "./gen/timers/v1/core.js";

/** maxOnlyIf bounds the conditions of a timer. */
const maxOnlyIf = 2;

/** ops are those of conditions, longer texts first. */
const ops: [text: string, op: ConditionOp][] = [
  ["exists", ConditionOp.EXISTS], ["absent", ConditionOp.ABSENT], ["==", ConditionOp.EQUAL],
  ["<=", ConditionOp.LESS_OR_EQUAL], [">=", ConditionOp.GREATER_OR_EQUAL], ["<", ConditionOp.LESS],
  [">", ConditionOp.GREATER],
];

/**
 * condition reads what is said of the value of a key: "< 1000000", "== open", "exists" or "absent". Whether the values
 * of the key can be compared so is for the chain to say.
 */
export function condition(text: string): WatchCondition {
  const said = text.trim();
  const [start, op] = ops.find(([start]) => said.startsWith(start)) ?? ["", ConditionOp.UNSPECIFIED];
  const value = said.slice(start.length).trim();
  const alone = op === ConditionOp.EXISTS || op === ConditionOp.ABSENT;
  if (op === ConditionOp.UNSPECIFIED || alone !== (value === "")) {
    throw new Error(`${JSON.stringify(text)}: want exists, absent, or one of ==, <, <=, > and >= with a value`);
  }
  return { op, value };
}

/** guards reads what must hold: each is KEY and what is said of it, where a text, whose key the chain is asked for. */
export async function guards(
  stated: (string | WatchKey)[] | undefined,
  keyOf: (text: string) => Promise<WatchKey>,
): Promise<WatchKey[]> {
  const all = stated ?? [];
  if (all.length > maxOnlyIf) throw new Error(`onlyIf has ${all.length} conditions, want at most ${maxOnlyIf}`);
  return Promise.all(all.map(async (one) => {
    if (typeof one !== "string") return one;
    const [key, ...said] = one.split(" ");
    return { ...(await keyOf(key)), when: condition(said.join(" ")) };
  }));
}
