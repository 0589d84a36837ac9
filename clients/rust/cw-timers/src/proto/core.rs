//! The types of `timers/v1/core.proto` that contracts need.

use cosmwasm_std::Binary;

use super::Any;
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
    }
    /// `OnUnfunded` says what happens to a timer whose payer lacks funds when its turn comes.
    OnUnfunded = "timers.v1.OnUnfunded" {
        /// Means the default, to remove it.
        0 Unspecified = "ON_UNFUNDED_UNSPECIFIED",
        /// Removes it.
        1 Destroy = "ON_UNFUNDED_DESTROY",
        /// Sets it aside until its owner resumes it or its time ends.
        2 Suspend = "ON_UNFUNDED_SUSPEND",
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
    /// `SetAsideReason` says why a timer left the queue without leaving the chain.
    SetAsideReason = "timers.v1.SetAsideReason" {
        /// SET_ASIDE_REASON_NONE means that the timer is in the queue.
        0 Unspecified = "SET_ASIDE_REASON_UNSPECIFIED",
        /// An unexpected error of the module itself concerned this timer. It waits for governance to release or
        /// cancel it.
        1 Quarantined = "SET_ASIDE_REASON_QUARANTINED",
        /// Its gas limit is outside what the config in force can run. It goes back to the queue by itself when
        /// a config can run it again.
        2 Unrunnable = "SET_ASIDE_REASON_UNRUNNABLE",
        /// Its payer could not cover it, and on_unfunded says to wait for its owner.
        3 Suspended = "SET_ASIDE_REASON_SUSPENDED",
        /// Its owner paused it.
        4 Paused = "SET_ASIDE_REASON_PAUSED",
        /// Its payer could not cover it when its turn came. It goes back to the queue by itself when its payer
        /// can cover it. It is removed, or suspended, if its payer could not cover it at the lowest price
        /// either.
        5 Unfunded = "SET_ASIDE_REASON_UNFUNDED",
        /// It was priced out while more timers were ready than a block reads. It goes back to the queue by
        /// itself when the prices allow it to fire.
        6 PricedOut = "SET_ASIDE_REASON_PRICED_OUT",
        /// Its scheduler was no longer the admin of its actor when its turn came. It is removed as soon as a
        /// block has room for that.
        7 NotAdmin = "SET_ASIDE_REASON_NOT_ADMIN",
        /// It waits for watched state to change, and is listed with the watches.
        40 Watching = "SET_ASIDE_REASON_WATCHING",
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
        /// `after` makes it due once, so many blocks after the one that schedules it; 1 to max_ttl_blocks.
        5 after: u64,
    }
    /// `IntervalTrigger` repeats a timer every so many blocks.
    IntervalTrigger = "timers.v1.IntervalTrigger" {
        /// `every` is the distance in blocks from the height of one fire to the next due height: a late fire
        /// delays the next.
        1 every: u64,
        /// `first` is the first due height; 0 when scheduling means that many blocks from now.
        2 first: u64,
        /// `remaining` is how many repetitions are left, the coming one included; 0 means until the timer
        /// expires. Retries of one repetition count as one.
        3 remaining: u64,
        /// `on_failure` says what a failed repetition means for the rest.
        4 on_failure: OnFailure,
    }
    /// `Retry` repeats a failed fire some blocks later. Each try is paid.
    Retry = "timers.v1.Retry" {
        /// `max` is how often, at most; 1 to max_retries.
        1 max: u32,
        /// `after` is the distance in blocks from a failed fire to its retry.
        2 after: u64,
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
    }
    /// `WatchTrigger` makes a timer due when watched state changes.
    WatchTrigger = "timers.v1.WatchTrigger" {
        /// `keys` are what is watched.
        1 keys: Vec<WatchKey>,
        /// `remaining` is how many fires are left; 0 means until the timer expires, 1 is one shot.
        2 remaining: u64,
        /// `cooldown` is the least distance in blocks from a fire to the next block whose changes count; 0
        /// means 1. Changes within it do not make the timer due.
        3 cooldown: u64,
    }
    /// `WatchKey` names a key prefix of a store.
    WatchKey = "timers.v1.WatchKey" {
        /// `store` is the name of the store.
        1 store: String,
        /// `prefix` is the beginning of the watched keys, of a form that the store's wiring declares.
        2 prefix: Binary,
        /// `when` is a condition on the value of one whole key: only a change that makes it true makes the
        /// timer due. Without it every change does.
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
    /// `AccountPayload` is the payload of a timer that runs messages: their only signer is the actor, and
    /// they run atomically.
    AccountPayload = "timers.v1.AccountPayload" {
        /// Messages.
        1 messages: Vec<Any>,
    }
}
