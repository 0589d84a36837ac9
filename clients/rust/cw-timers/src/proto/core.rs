//! The types of `timers/v1/core.proto` that contracts need.

use cosmwasm_std::Binary;

use super::{Any, Timestamp};
use crate::describe::{enums, messages};

enums! {
    /// `OnFailure` says what becomes of an interval when a repetition has failed, its retries included.
    OnFailure = "timers.v1.OnFailure" {
        /// Means the default, to go on.
        0 Unspecified = "ON_FAILURE_UNSPECIFIED",
        /// Goes on with the next repetition.
        1 Roll = "ON_FAILURE_ROLL",
        /// Removes the timer.
        2 Stop = "ON_FAILURE_STOP",
        /// Suspends it after max_failures failed repetitions in a row, until its owner resumes it.
        3 Suspend = "ON_FAILURE_SUSPEND",
    }
    /// `OnUnfunded` says what happens to a timer whose payer lacks funds when its turn comes.
    OnUnfunded = "timers.v1.OnUnfunded" {
        /// Means the default, to remove it.
        0 Unspecified = "ON_UNFUNDED_UNSPECIFIED",
        /// Removes it.
        1 Destroy = "ON_UNFUNDED_DESTROY",
        /// Puts it on hold until its owner resumes it or its time ends.
        2 Suspend = "ON_UNFUNDED_SUSPEND",
        /// Lets this repetition of a calendar or an interval pass; after max_unfunded_skips in a row it is
        /// suspended.
        3 Skip = "ON_UNFUNDED_SKIP",
    }
    /// `ConditionOp` is how a condition compares the value of a key with its own.
    ConditionOp = "timers.v1.ConditionOp" {
        /// Refused.
        0 Unspecified = "CONDITION_OP_UNSPECIFIED",
        /// The key is there.
        1 Exists = "CONDITION_OP_EXISTS",
        /// The key is not there.
        2 Absent = "CONDITION_OP_ABSENT",
        /// Its value is equal to that of the condition.
        3 Equal = "CONDITION_OP_EQUAL",
        /// Its value is less.
        4 Less = "CONDITION_OP_LESS",
        /// Its value is less or equal.
        5 LessOrEqual = "CONDITION_OP_LESS_OR_EQUAL",
        /// Its value is greater.
        6 Greater = "CONDITION_OP_GREATER",
        /// Its value is greater or equal.
        7 GreaterOrEqual = "CONDITION_OP_GREATER_OR_EQUAL",
    }
    /// `TimerTier` is the distance of a timer's due height. It is a function of (due, now) and the config
    /// alone.
    TimerTier = "timers.v1.TimerTier" {
        /// Never reported.
        0 Unspecified = "TIMER_TIER_UNSPECIFIED",
        /// Within ring_size blocks, or due already.
        1 Near = "TIMER_TIER_NEAR",
        /// Within epoch_horizon epochs.
        2 Epoch = "TIMER_TIER_EPOCH",
        /// Beyond them.
        3 Far = "TIMER_TIER_FAR",
    }
    /// `PriorityTier` is a named multiple of the usual tip.
    PriorityTier = "timers.v1.PriorityTier" {
        /// Means that no tier is stated.
        0 Unspecified = "PRIORITY_TIER_UNSPECIFIED",
        /// The cheapest tier.
        1 Economy = "PRIORITY_TIER_ECONOMY",
        /// The usual tip.
        2 Standard = "PRIORITY_TIER_STANDARD",
        /// Above the usual tip.
        3 Fast = "PRIORITY_TIER_FAST",
        /// The dearest tier.
        4 Urgent = "PRIORITY_TIER_URGENT",
    }
    /// `HoldReason` says why a timer left the queue without leaving the chain.
    HoldReason = "timers.v1.HoldReason" {
        /// HOLD_REASON_NONE means that the timer is in the queue.
        0 Unspecified = "HOLD_REASON_UNSPECIFIED",
        /// An unexpected error of the module itself concerned this timer. It waits for governance to release or
        /// cancel it.
        1 Quarantined = "HOLD_REASON_QUARANTINED",
        /// Its gas limit is outside what the config in force can run. It goes back to the queue by itself when
        /// a config can run it again.
        2 Unrunnable = "HOLD_REASON_UNRUNNABLE",
        /// Its payer could not cover it, and on_unfunded says to wait for its owner.
        3 Suspended = "HOLD_REASON_SUSPENDED",
        /// Its owner paused it.
        4 Paused = "HOLD_REASON_PAUSED",
        /// Its payer could not cover it when its turn came. It goes back to the queue by itself when its payer
        /// can cover it. It is removed, or suspended, if its payer could not cover it at the lowest price
        /// either.
        5 Unfunded = "HOLD_REASON_UNFUNDED",
        /// It was priced out while more timers were ready than a block reads. It goes back to the queue by
        /// itself when the prices allow it to fire.
        6 PricedOut = "HOLD_REASON_PRICED_OUT",
        /// Its scheduler was no longer the admin of its actor when its turn came. It is removed as soon as a
        /// block has room for that.
        7 NotAdmin = "HOLD_REASON_NOT_ADMIN",
        /// It waits for its time (due_time), and is pending like one whose height has not come.
        41 Timed = "HOLD_REASON_TIMED",
        /// It waits for watched state to change, and is listed with the watches.
        40 Watching = "HOLD_REASON_WATCHING",
    }
    /// `Verdict` is what the next block makes of a timer if nothing changes until then: that it fires, or why not.
    Verdict = "timers.v1.Verdict" {
        /// Not asked for.
        0 Unspecified = "VERDICT_UNSPECIFIED",
        /// Its turn comes, and it may fire.
        1 Fires = "VERDICT_FIRES",
        /// Its height or its time comes later.
        2 Pending = "VERDICT_PENDING",
        /// What it watches has not changed.
        3 Watching = "VERDICT_WATCHING",
        /// It is on hold; hold_reason says why.
        4 OnHold = "VERDICT_ON_HOLD",
        /// Its life is over.
        5 Expired = "VERDICT_EXPIRED",
        /// Nothing fires while lane_paused is set.
        6 LanePaused = "VERDICT_LANE_PAUSED",
        /// More timers are ready than a block reads, and the block does not reach it.
        7 NotRead = "VERDICT_NOT_READ",
        /// The price is above what it states at most, as its bid or its max_charge.
        8 PricedOut = "VERDICT_PRICED_OUT",
        /// Those that come before it may fill the lane, if they use what they state at most.
        9 NoRoom = "VERDICT_NO_ROOM",
        /// As many timers of its actor fire before it as may fire in a block.
        10 Capped = "VERDICT_CAPPED",
        /// Its payer can't cover what its fire may cost.
        11 NoFunds = "VERDICT_NO_FUNDS",
        /// Who scheduled it is no longer the admin of its actor. It leaves.
        12 NotAdmin = "VERDICT_NOT_ADMIN",
        /// Its occurrence may not fire any more. The next one is due, or the timer leaves.
        13 Passed = "VERDICT_PASSED",
        /// A condition of only_if does not hold: its fire is guarded.
        14 Guarded = "VERDICT_GUARDED",
    }
    /// `Missed` says which occurrences may fire when several have come.
    Missed = "timers.v1.Missed" {
        /// Means the default, latest.
        0 Unspecified = "MISSED_UNSPECIFIED",
        /// The latest; those before it pass.
        1 Latest = "MISSED_LATEST",
        /// All of them, oldest first, at most one in a block.
        2 Each = "MISSED_EACH",
    }
    /// `IntervalFrom` is what the distance of an interval counts from.
    IntervalFrom = "timers.v1.IntervalFrom" {
        /// Means the default, from the fire.
        0 Unspecified = "INTERVAL_FROM_UNSPECIFIED",
        /// From the height of the last fire: a late fire delays the next.
        1 Fire = "INTERVAL_FROM_FIRE",
        /// Due at first + k × every, whatever became of the ones before.
        2 Schedule = "INTERVAL_FROM_SCHEDULE",
    }
}

messages! {
    /// `Trigger` says when a timer becomes due. Exactly one field is set.
    Trigger = "timers.v1.Trigger" {
        /// `height` is the first block height at which the timer is due.
        1 height: u64,
        /// `interval` repeats the timer.
        2 interval: Option<IntervalTrigger>,
        /// `watch` makes it due when watched state changes.
        3 watch: Option<WatchTrigger>,
        /// `time` makes it due once, in the first block whose time is at or after it: a whole second after
        /// the time of the block that schedules it, at most max_ttl_seconds later.
        4 time: Option<Timestamp>,
        /// `after` makes it due once, so many blocks after the one that schedules it; 1 to max_ttl_blocks.
        5 after: u64,
        /// `calendar` repeats the timer by block time.
        6 calendar: Option<CalendarTrigger>,
    }
    /// `IntervalTrigger` repeats a timer every so many blocks.
    IntervalTrigger = "timers.v1.IntervalTrigger" {
        /// `every` is the distance in blocks: from the height of one fire to the next due height, or of the
        /// occurrences (from).
        1 every: u64,
        /// `first` is the first due height; 0 means that many blocks after the one that schedules it.
        2 first: u64,
        /// `from` says what the distance counts from.
        3 from: IntervalFrom,
    }
    /// `Retry` repeats a failed fire some time or some blocks later. Each try is paid.
    Retry = "timers.v1.Retry" {
        /// `max` is how often, at most; 1 to 10.
        1 max: u32,
        /// `after` is the distance from a failed fire to its first retry: seconds for a time or a calendar, blocks
        /// for the others.
        2 after: u64,
        /// `backoff` is by what each further distance is multiplied, 1 to 4; 0 means 1.
        3 backoff: u32,
        /// `on` are the errors after which a fire is retried, at most 8; none means all.
        4 on: Vec<ErrorCode>,
    }
    /// `Outcome` is what a timer that goes on knows of its last delivery. Errors are kept as codespace and
    /// code.
    Outcome = "timers.v1.Outcome" {
        /// Success.
        1 success: bool,
        /// Codespace.
        2 codespace: String,
        /// Code.
        3 code: u32,
        /// `height` at which it was delivered.
        4 height: u64,
        /// Cycles.
        5 cycles: u64,
        /// `paid` is what it cost, in fee denom.
        6 paid: String,
        /// `guarded`: a condition of only_if did not hold, so that the handler was not run.
        7 guarded: bool,
    }
    /// `WatchTrigger` makes a timer due when watched state changes.
    WatchTrigger = "timers.v1.WatchTrigger" {
        /// `keys` are what is watched.
        1 keys: Vec<WatchKey>,
        /// `cooldown` is the least distance in blocks from a fire to the next block whose changes count; 0
        /// means 1. Changes within it do not make the timer due.
        2 cooldown: u64,
        /// `level` looks at the conditions again when the cooldown after each delivery ends: so it is due
        /// while one of them holds, and not only when one becomes true. It needs a condition and a cooldown.
        3 level: bool,
    }
    /// `WatchKey` names a key prefix of a store.
    WatchKey = "timers.v1.WatchKey" {
        /// `store` is the name of the store.
        1 store: String,
        /// `prefix` is the beginning of the watched keys, of a form that the store's wiring declares.
        2 prefix: Binary,
        /// `when` is a condition on the value of one whole key: only a change that makes it true makes the
        /// timer due. Without it every change does. In only_if it is required.
        3 when: Option<WatchCondition>,
    }
    /// `WatchCondition` compares the value of a key.
    WatchCondition = "timers.v1.WatchCondition" {
        /// Op.
        1 op: ConditionOp,
        /// `value` is compared with: a decimal number such as 1000000 or -0.5, or bytes as text or, after 0x,
        /// in hexadecimal. At most 64 bytes; empty for exists and absent.
        2 value: String,
    }
    /// `WatchedKey` is a key of a store that changed.
    WatchedKey = "timers.v1.WatchedKey" {
        /// Store.
        1 store: String,
        /// Key.
        2 key: Binary,
    }
    /// `Bid` is what a timer is willing to pay. At most one field is set; none means the default estimator.
    /// Under policy fifo a bid is kept but not used.
    Bid = "timers.v1.Bid" {
        /// `static` states both prices.
        1 r#static: Option<StaticBid>,
        /// `tier` states a multiple of the usual tip.
        2 tier: PriorityTier,
        /// `agent` is a contract or a module that is asked for the prices in each block in which the timer
        /// competes.
        3 agent: String,
        /// `price` is the integer bid, in fee denom, below 2^96. Under policy auction it is what the timer bids
        /// for one fire, locked when it is stated; under policy score it is paid at each fire. Ignored under
        /// policies fifo and tip, and under eip1559 until bid_deprecation_blocks have passed; refused then.
        4 price: String,
    }
    /// `StaticBid` states the prices of a bid in fee denom per unit of size.
    StaticBid = "timers.v1.StaticBid" {
        /// `max_fee_per_cycle` is the most that the lane basefee and the tip together may cost.
        1 max_fee_per_cycle: String,
        /// `max_priority_fee_per_cycle` is the most that the tip may be.
        2 max_priority_fee_per_cycle: String,
    }
    /// `TimerSpec` is what an owner states of a timer: the same in the messages that schedule and update it, in
    /// queries, genesis, files and bindings. What is empty is its default. The chain never changes it.
    TimerSpec = "timers.v1.TimerSpec" {
        /// `name` is how its owner calls it: at most 64 printable ASCII characters.
        1 name: String,
        /// `trigger` says when it is due: at a height above the current one, so many blocks after this one, at an
        /// interval, at a time, by a calendar, or when watched state changes.
        2 trigger: Option<Trigger>,
        /// `repeat` is stated of a trigger that repeats alone.
        3 repeat: Option<Repeat>,
        /// `call` is what it does when it fires.
        4 call: Option<TimerCall>,
        /// `only_if` are conditions that must hold when it fires, at most 2, each on a whole key. While one does
        /// not, the handler is not run and the fire is guarded: neither a success nor a failure.
        5 only_if: Vec<WatchKey>,
        /// `gas_limit` is the cycles that one fire may use; 0 means the least cap of the policies in force and
        /// selected.
        6 gas_limit: u64,
        /// `cell_limit` is the cells that one fire may write; 0 means the default of the config.
        7 cell_limit: u64,
        /// `bid` is what it is willing to pay; without one the default estimator applies.
        8 bid: Option<Bid>,
        /// `max_charge` is the most that one fire may cost, in fee denom, whatever the prices; empty or 0 means
        /// no bound. While its pre-charge would be more it is priced out.
        9 max_charge: String,
        /// `fee_payer` is charged at each fire; empty means who schedules it. Any other account must have granted
        /// that one a fee allowance that covers MsgScheduleTimer.
        10 fee_payer: String,
        /// `expires_at` is the last height at which it may fire; 0 means as late as the config allows, or none
        /// for a time or a calendar.
        11 expires_at: u64,
        /// `expires_time` is the last block time at which it may fire, in seconds since 1970; 0 means as late as
        /// the config allows for a time or a calendar, and none for other triggers. If both are stated it ends at
        /// whichever comes first.
        12 expires_time: i64,
        /// `retry` repeats failed fires; without it they are not repeated.
        13 retry: Option<Retry>,
        /// `on_unfunded` says what happens when the payer lacks funds.
        14 on_unfunded: OnUnfunded,
    }
    /// `TimerCall` is what a timer does when it fires: a handler and a payload, or messages.
    TimerCall = "timers.v1.TimerCall" {
        /// `handler` is the named handler; empty means the default one. Not together with messages.
        1 handler: String,
        /// `payload` is what the handler receives. An account's timer states messages instead, or the same
        /// messages as an encoded timers.v1.AccountPayload.
        2 payload: Binary,
        /// `messages` are run as the owner when it fires, in this order and atomically. The owner must be the
        /// only signer of each. They are stored and paid for as the payload: encoded as a
        /// timers.v1.AccountPayload.
        3 messages: Vec<Any>,
    }
    /// `AccountPayload` is the payload of a timer that runs messages: their only signer is the actor, and
    /// they run atomically.
    AccountPayload = "timers.v1.AccountPayload" {
        /// Messages.
        1 messages: Vec<Any>,
    }
    /// `CalendarTrigger` repeats a timer by block time: every so many seconds, or at the local minutes of a
    /// cron rule. One of the two rules is set.
    CalendarTrigger = "timers.v1.CalendarTrigger" {
        /// Every.
        1 every: Option<EveryRule>,
        /// Cron.
        2 cron: Option<CronRule>,
        /// `offset_minutes` is local time less UTC before the first transition, at most 1,080 either way.
        /// For cron alone.
        3 offset_minutes: i32,
        /// `transitions` are changes of the offset, at most 16, in ascending order: a client compiles a
        /// time zone to them.
        4 transitions: Vec<OffsetTransition>,
        /// `offset_final` says that the offset of the last transition holds for ever: else a timer that
        /// renews itself ends with it.
        5 offset_final: bool,
    }
    /// `EveryRule` is anchor, and each so many seconds after it. It has no offset: local time does not
    /// concern it.
    EveryRule = "timers.v1.EveryRule" {
        /// `seconds` is the distance of the occurrences, 60 to max_ttl_seconds.
        1 seconds: u64,
        /// `anchor` is an occurrence, in seconds since 1970; 0 when scheduling means the time of the block
        /// that schedules it.
        2 anchor: i64,
    }
    /// `CronRule` is the sets of local minutes that match, as bits. A day matches by days, or as the last
    /// of its month if last_day, or by weekdays; where both days and weekdays are restricted, either is
    /// enough.
    CronRule = "timers.v1.CronRule" {
        /// `minutes` of the hour are bits 0 to 59, hours bits 0 to 23.
        1 minutes: u64,
        /// Hours.
        2 hours: u32,
        /// `days` of the month are bits 1 to 31. The set may be empty if last_day is set.
        3 days: u32,
        /// Last day.
        4 last_day: bool,
        /// `months` are bits 1 to 12, weekdays bits 0 for Sunday to 6.
        5 months: u32,
        /// Weekdays.
        6 weekdays: u32,
        /// `nth` keeps of a month's days in weekdays those at these positions; none keeps all. Bits 1 to 5 are
        /// the first to the fifth, bits 6 to 10 the last to the fifth from the end.
        7 nth: u32,
    }
    /// `OffsetTransition` is a change of the offset from UTC.
    OffsetTransition = "timers.v1.OffsetTransition" {
        /// `from` is the first second with the offset, in seconds since 1970: a whole minute.
        1 from: i64,
        /// `offset_minutes` is local time less UTC from then on, at most 1,080 either way.
        2 offset_minutes: i32,
    }
    /// `Repeat` is what a timer that repeats states of its occurrences: of a calendar, an interval or a watch.
    Repeat = "timers.v1.Repeat" {
        /// `remaining` is how many are delivered, from the message on that states it; 0 means until the end of
        /// life. Retries of one count as one.
        1 remaining: u64,
        /// `missed` says which of several occurrences that have come may fire. It, window and jitter are for
        /// those that are known in advance: of a calendar, in seconds, and of an interval from its schedule, in
        /// blocks.
        2 missed: Missed,
        /// `window` is how late an occurrence may fire, in seconds or blocks from when it is due; 0 means until
        /// the next comes, or with missed each until the timer expires.
        3 window: u64,
        /// `jitter` is by how much an occurrence may be due later, in seconds or blocks, at most 86,400 and less
        /// than the distance to the next. How much it is follows from the timer's id and the occurrence.
        4 jitter: u64,
        /// `on_failure` says what a failed occurrence means for the rest.
        5 on_failure: OnFailure,
        /// `max_failures` is after how many failed occurrences in a row on_failure suspend suspends; 0 means 1.
        6 max_failures: u32,
        /// `renew` gives the timer the same life again with each fire.
        7 renew: bool,
    }
    /// `Recurrence` is what a record keeps of its occurrences.
    Recurrence = "timers.v1.Recurrence" {
        /// `after` is the last occurrence that was delivered or has passed, or when the timer was
        /// scheduled, in seconds or as a height.
        1 after: u64,
        /// `trying` is the occurrence in hand that was tried; 0 if there is none.
        3 trying: u64,
        /// `lapses` is how many occurrences lapsed in a row since the last fire.
        4 lapses: u32,
        /// `forced` is an occurrence that is delivered whatever its time and window, since its owner ran or
        /// resumed the timer: next, or after the one that is being tried; 0 if there is none.
        5 forced: u64,
    }
    /// `Renewal` is the life that each fire gives again to a timer that renews itself.
    Renewal = "timers.v1.Renewal" {
        /// `blocks` and seconds are the distances to expires_at and expires_time; 0 if the life has no such
        /// end.
        1 blocks: u64,
        /// Seconds.
        2 seconds: u64,
    }
    /// `ErrorCode` is a codespace and a code in it, as a receipt has them.
    ErrorCode = "timers.v1.ErrorCode" {
        /// Codespace.
        1 codespace: String,
        /// `code` in the codespace; 0 means any.
        2 code: u32,
    }
}
