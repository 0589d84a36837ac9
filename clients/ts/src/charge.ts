// The most that one fire may cost and use, where an estimate and a dry run say what that is.
import { Policy } from "./gen/timers/v1/config.js";
import type { Bid } from "./gen/timers/v1/core.js";
import type { QueryEstimateResponse } from "./gen/timers/v1/query.js";

/** defaultCharges is how many of today's pre-charges the default lets one fire cost. */
const defaultCharges = 10n;
/** largestCharge bounds a maxCharge of the chain. */
const largestCharge = (1n << 96n) - 1n;

/**
 * defaultMaxCharge is what maxCharge "default" comes to, and what the command line states unless told otherwise: ten
 * times what one fire may cost today, a bid that is locked included. It is "", no bound, where a fire is free.
 */
export function defaultMaxCharge(estimate: Pick<QueryEstimateResponse, "preCharge" | "policy">,
  bid?: Partial<Bid>): string {
  const locked = estimate.policy === Policy.AUCTION ? BigInt(bid?.price || 0) : 0n;
  const most = defaultCharges * (BigInt(estimate.preCharge) + locked);
  return most === 0n || most > largestCharge ? "" : String(most);
}

/** fireCycles are those of each fire before its messages run, and byteCycles those of each byte of them. */
const fireCycles = 20_000n, byteCycles = 13n;

/**
 * gasLimitFor is what gasLimit "auto" comes to, as on the command line: what a dry run of the messages used as a
 * transaction and a tenth of it, and what each fire uses besides, within the chain's bounds. It errs on the safe side, by
 * what a transaction's own checks used.
 */
export function gasLimitFor(used: number, bytes: number, least: bigint, largest: bigint): bigint {
  const gas = BigInt(used);
  const cycles = gas + gas / 10n + fireCycles + byteCycles * BigInt(bytes);
  const atLeast = cycles > least ? cycles : least;
  return atLeast < largest ? atLeast : largest;
}
