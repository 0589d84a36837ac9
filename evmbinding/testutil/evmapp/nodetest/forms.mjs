// The structs of ITimers.sol, with the default of each field that is not stated.
const zero32 = `0x${"0".repeat(64)}`;
const zero20 = `0x${"0".repeat(40)}`;

export const trigger = (change) => ({
  height: 0n, afterBlocks: 0n, every: 0n, time: 0n,
  calendar: {
    everySeconds: 0n, anchor: 0n, minuteSet: 0n, hourSet: 0, daySet: 0, lastDay: false, monthSet: 0, weekdaySet: 0,
    offsetMinutes: 0, transitions: [], offsetFinal: false,
  },
  watch: [], count: 0n, cooldown: 0n,
  repeat: { onFailure: 0, maxFailures: 0, fromSchedule: false, each: false, window: 0n, jitter: 0n },
  ...change,
});

export const options = (gasLimit, change) => ({
  gasLimit, byteLimit: 0n, expiresAt: 0n, expiresTime: 0n, renew: false, maxCharge: 0n,
  maxFeePerGas: 0n, maxPriorityFeePerGas: 0n,
  tier: 0, feePayer: zero20, retries: 0, retryAfter: 0n, onUnfunded: 0, name: "", onlyIf: [], ...change,
});

export const watched = (change) => ({ source: 0, target: zero20, slot: zero32, op: 0, value: 0n, name: "", key: "0x", ...change });

export const hex = (n) => `0x${BigInt(n).toString(16)}`;
