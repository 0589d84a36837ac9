// The most that one fire may cost, where an estimate says what that is.
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
