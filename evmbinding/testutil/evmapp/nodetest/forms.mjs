import { readFileSync } from "node:fs";

const { ITimers } = JSON.parse(readFileSync(new URL("../../../contracts/abi.json", import.meta.url), "utf8"));
const [specOfABI] = ITimers.find(({ name }) => name === "schedule").inputs;

// stated is a value of the ABI, with the default of each member that is not stated.
function stated({ type, components, name }, value) {
  if (type.endsWith("[]")) return (value ?? []).map((one) => stated({ type: type.slice(0, -2), components, name }, one));
  if (type === "tuple") {
    const unknown = Object.keys(value ?? {}).filter((key) => !components.some((member) => member.name === key));
    if (unknown.length) throw new Error(`${name} has no ${unknown}`);
    return Object.fromEntries(components.map((member) => [member.name, stated(member, value?.[member.name])]));
  }
  if (value !== undefined) return value;
  if (type === "string") return "";
  if (type === "bool") return false;
  if (type === "address") return `0x${"0".repeat(40)}`;
  if (type.startsWith("bytes")) return `0x${"00".repeat(Number(type.slice(5)))}`;
  return Number(type.replace(/^u?int/, "")) > 48 ? 0n : 0;
}

// spec is one of ITimers.sol with a gas limit and a trigger.
export const spec = (gasLimit, trigger, more) => stated(specOfABI, { gasLimit, trigger, ...more });

// callTo is a call as the owner.
export const callTo = (to, value, payload = "0x") => ({ handler: 1, to, value, payload });

export const hex = (n) => `0x${BigInt(n).toString(16)}`;
