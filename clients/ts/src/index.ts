export { defaultMaxCharge, gasLimitFor } from "./charge.js";
export * from "./client.js";
export { type EventName, type TimerEvent, eventOf, events } from "./events.js";
export { type Following, NodeAway } from "./follow.js";
export { condition } from "./guard.js";
export * from "./messages.js";
export { type Calendar, type Cron, latestOccurrence, maxTime, nextOccurrence } from "./schedule.js";
export {
  type Ending, type Life, type Occurrence, type Previewing, type Repeating, type RetryTerms, type Timing, When, after, at,
  calendarOf, every, preview,
} from "./when.js";
export { type Fact, type Proving, type TrustedHeader, verifyProof } from "./proof.js";
export { type Pace } from "./pace.js";
export {
  clean, count, doesWords, dueWords, endsWords, heightWords, messageWords, messagesWords, outcomeWords, repeatsWords,
  statusWords, timeWords, waitsWords,
} from "./words.js";
export { type BlockEvent, type Outcome, type Sent, UnknownOutcome, type Waiting, reasonIn } from "./outcome.js";
export {
  Bid, ConditionOp, IntervalFrom, Missed, OnFailure, OnUnfunded, PriorityTier, Repeat, Retry, HoldReason, StaticBid, TimerCall, TimerSpec,
  Trigger, Verdict,
  WatchCondition, WatchKey,
} from "./gen/timers/v1/core.js";
export { QueryEstimateRequest, QueryEstimateResponse, TimerInfo, TimerPhase, TimerStatus } from "./gen/timers/v1/query.js";
export { MsgScheduleTimer, MsgUpdateTimer } from "./gen/timers/v1/tx.js";
/** All messages and queries of the module, as they are generated. */
export * as core from "./gen/timers/v1/core.js";
export * as query from "./gen/timers/v1/query.js";
export * as tx from "./gen/timers/v1/tx.js";
