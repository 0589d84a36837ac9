//! The types of `timers/v1/tx.proto` that contracts need.

use cosmwasm_std::Binary;

use super::{Any, Bid, OnUnfunded, Retry, Trigger, WatchKey};
use crate::describe::{enums, messages};

enums! {
    /// `ResumeAt` says when a timer that is resumed fires, if it was due while it was on hold.
    ResumeAt = "timers.v1.ResumeAt" {
        /// Means the default, now.
        0 Unspecified = "RESUME_AT_UNSPECIFIED",
        /// In the next block. Of several occurrences the latest fires, whatever its window.
        1 Now = "RESUME_AT_NOW",
        /// With its next repetition.
        2 Next = "RESUME_AT_NEXT",
    }
}

messages! {
    /// `MsgScheduleTimer` schedules a timer that the sender owns and whose handler will run as the sender.
    MsgScheduleTimer = "timers.v1.MsgScheduleTimer" {
        /// Sender.
        1 sender: String,
        /// `trigger` says when it is due: at a height above the current one, so many blocks after this one, at
        /// an interval, or when watched state changes.
        2 trigger: Option<Trigger>,
        /// `handler` is the named handler; empty means the default one. Not together with messages.
        3 handler: String,
        /// `payload` is what the handler receives. An account's timer states messages instead, or the same
        /// messages as an encoded timers.v1.AccountPayload.
        4 payload: Binary,
        /// `fee_payer` is charged at each fire; empty means the sender. Any other account must have granted the
        /// sender a fee allowance that covers this message.
        5 fee_payer: String,
        /// `gas_limit` is the cycles that one fire may use; 0 means the least cap of the policies in force and
        /// selected.
        6 gas_limit: u64,
        /// `cell_limit` is the cells that one fire may write; 0 means the default of the config.
        9 cell_limit: u64,
        /// `expires_at` is the last height at which it may fire; 0 means as late as the config allows, or none
        /// for a time or a calendar.
        7 expires_at: u64,
        /// `expires_time` is the last block time at which it may fire, in seconds since 1970; 0 means as
        /// late as the config allows for a time or a calendar, and none for other triggers. If both are
        /// stated it ends at whichever comes first.
        26 expires_time: i64,
        /// `renew` gives a timer that repeats the same life again with each fire.
        27 renew: bool,
        /// `bid` is what the timer is willing to pay; without one the default estimator applies.
        8 bid: Option<Bid>,
        /// `retry` repeats failed fires; without it they are not repeated.
        20 retry: Option<Retry>,
        /// `on_unfunded` says what happens when the payer lacks funds.
        21 on_unfunded: OnUnfunded,
        /// `max_charge` is the most that one fire may cost, in fee denom, whatever the prices; empty or 0 means
        /// no bound.
        22 max_charge: String,
        /// `messages` are run as the sender when it fires, in this order and atomically. The sender must be the
        /// only signer of each. They are stored and paid for as the payload: encoded as a
        /// timers.v1.AccountPayload.
        23 messages: Vec<Any>,
        /// `label` is shown with the timer by queries and events: at most 64 printable ASCII characters. It
        /// identifies nothing.
        24 label: String,
        /// `actor` owns the timer; empty means the sender. Another is a contract whose admin the sender is: the
        /// timer calls its sudo, never messages. The sender pays for it, and alone changes it.
        25 actor: String,
        /// `only_if` are conditions that must hold when it fires, at most 2, each on a whole key. While one does
        /// not, the handler is not run and the fire is guarded: neither a success nor a failure.
        28 only_if: Vec<WatchKey>,
    }
    /// `MsgScheduleTimerResponse` names the timer.
    MsgScheduleTimerResponse = "timers.v1.MsgScheduleTimerResponse" {
        /// `id` in lower-case hexadecimal.
        1 id: String,
    }
    /// `TimerCall` is what a timer does when it fires.
    TimerCall = "timers.v1.TimerCall" {
        /// `handler` and payload, or messages.
        1 handler: String,
        /// Payload.
        2 payload: Binary,
        /// `messages` are run as the owner, as those of MsgScheduleTimer.
        3 messages: Vec<Any>,
    }
    /// `TimerOptions` are what a timer states of bad moments, of its life and of when it does nothing, as
    /// those of MsgScheduleTimer.
    TimerOptions = "timers.v1.TimerOptions" {
        /// Retry.
        1 retry: Option<Retry>,
        /// On unfunded.
        2 on_unfunded: OnUnfunded,
        /// Renew.
        3 renew: bool,
        /// Only if.
        4 only_if: Vec<WatchKey>,
    }
    /// `MsgUpdateTimer` changes the fields that are set and keeps the others. The timer gets a new seq.
    MsgUpdateTimer = "timers.v1.MsgUpdateTimer" {
        /// Sender.
        1 sender: String,
        /// `id` in hexadecimal, all 64 digits.
        2 id: String,
        /// `call` replaces handler and payload together.
        3 call: Option<TimerCall>,
        /// `gas_limit` replaces the gas limit; 0 keeps it.
        4 gas_limit: u64,
        /// `cell_limit` replaces the cell limit; 0 keeps it.
        6 cell_limit: u64,
        /// `bid` replaces the bid; an empty bid selects the default estimator.
        5 bid: Option<Bid>,
        /// `max_charge` replaces the most that one fire may cost; empty keeps it, 0 removes the bound.
        7 max_charge: String,
        /// `actor` whose timer it is; empty means the sender. Another is a contract for which the sender has
        /// scheduled the timer.
        8 actor: String,
        /// `trigger` replaces the trigger. That of a timer that repeats is replaced by one of the same kind,
        /// whose occurrences lie after the last that was delivered and count on.
        9 trigger: Option<Trigger>,
        /// `options` replace retry, on_unfunded, renew and only_if together.
        10 options: Option<TimerOptions>,
    }
    /// `MsgUpdateTimerResponse` holds the new place in the order of insertion, and when the timer is due.
    MsgUpdateTimerResponse = "timers.v1.MsgUpdateTimerResponse" {
        /// Seq.
        1 seq: u64,
        /// Due.
        2 due: u64,
        /// `due_time` in seconds since 1970; 0 if it waits for no time.
        3 due_time: i64,
    }
    /// `MsgExtendTimer` sets the last height at which a timer may fire.
    MsgExtendTimer = "timers.v1.MsgExtendTimer" {
        /// Sender.
        1 sender: String,
        /// `id` in hexadecimal, all 64 digits.
        2 id: String,
        /// `expires_at` must be above the current height; beyond the largest TTL it is clamped. 0 keeps what
        /// it is.
        3 expires_at: u64,
        /// `expires_time` must be after the time of the block; beyond the largest TTL it is clamped. 0
        /// keeps what it is.
        5 expires_time: i64,
        /// `actor` whose timer it is; empty means the sender. Another is a contract for which the sender has
        /// scheduled the timer.
        4 actor: String,
    }
    /// `MsgExtendTimerResponse` holds what was set, after clamping.
    MsgExtendTimerResponse = "timers.v1.MsgExtendTimerResponse" {
        /// Expires at.
        1 expires_at: u64,
        /// `previous_expires_at` is what it was before.
        2 previous_expires_at: u64,
        /// Expires time.
        3 expires_time: i64,
        /// Previous expires time.
        4 previous_expires_time: i64,
    }
    /// `MsgPauseTimer` puts a timer on hold. Its expiry height does not change.
    MsgPauseTimer = "timers.v1.MsgPauseTimer" {
        /// Sender.
        1 sender: String,
        /// `id` in hexadecimal, all 64 digits.
        2 id: String,
        /// `actor` whose timer it is; empty means the sender. Another is a contract for which the sender has
        /// scheduled the timer.
        3 actor: String,
    }
    /// `MsgPauseTimerResponse` is empty.
    MsgPauseTimerResponse = "timers.v1.MsgPauseTimerResponse" {
    }
    /// `MsgResumeTimer` returns a paused, suspended or unfunded timer to the queue. If its due height has
    /// passed, it is due in the next block.
    MsgResumeTimer = "timers.v1.MsgResumeTimer" {
        /// Sender.
        1 sender: String,
        /// `id` in hexadecimal, all 64 digits.
        2 id: String,
        /// `actor` whose timer it is; empty means the sender. Another is a contract for which the sender has
        /// scheduled the timer.
        3 actor: String,
        /// `at` says what becomes of occurrences that came while it was on hold.
        4 at: ResumeAt,
    }
    /// `MsgResumeTimerResponse` holds its due height.
    MsgResumeTimerResponse = "timers.v1.MsgResumeTimerResponse" {
        /// Due.
        1 due: u64,
        /// `due_time` is the time at which it is due, in seconds since 1970; 0 if it waits for none.
        21 due_time: i64,
    }
    /// `MsgCancelTimer` removes a timer.
    MsgCancelTimer = "timers.v1.MsgCancelTimer" {
        /// Sender.
        1 sender: String,
        /// `id` in hexadecimal, all 64 digits.
        2 id: String,
        /// `actor` whose timer it is; empty means the sender. Another is a contract for which the sender has
        /// scheduled the timer. The contract may cancel it too.
        3 actor: String,
    }
    /// `MsgCancelTimerResponse` is empty.
    MsgCancelTimerResponse = "timers.v1.MsgCancelTimerResponse" {
    }
    /// `MsgSetAgent` registers or clears the sender's default bidding agent: a contract or a module. The
    /// sender trusts its agent with the price of its timers.
    MsgSetAgent = "timers.v1.MsgSetAgent" {
        /// Sender.
        1 sender: String,
        /// `agent` prices every timer of the sender that states no bid; empty clears it.
        2 agent: String,
    }
    /// `MsgSetAgentResponse` is empty.
    MsgSetAgentResponse = "timers.v1.MsgSetAgentResponse" {
    }
    /// `MsgSkipTimer` lets the next occurrences of a timer pass without a fire.
    MsgSkipTimer = "timers.v1.MsgSkipTimer" {
        /// Sender.
        1 sender: String,
        /// `id` in hexadecimal, all 64 digits.
        2 id: String,
        /// `count` of occurrences, 1 to 1,000.
        3 count: u32,
        /// `actor` whose timer it is; empty means the sender. Another is a contract for which the sender
        /// has scheduled the timer.
        4 actor: String,
        /// `from` is the next occurrence, in seconds since 1970 or as a height: if that is another by then,
        /// nothing is skipped. 0 means whichever is the next.
        5 from: u64,
    }
    /// `MsgSkipTimerResponse` says when the timer is due then.
    MsgSkipTimerResponse = "timers.v1.MsgSkipTimerResponse" {
        /// Due.
        1 due: u64,
        /// `due_time` in seconds since 1970; 0 if it waits for no time.
        2 due_time: i64,
    }
    /// `MsgRunTimer` makes the next occurrence of a timer due in the next block. It is paid like any other,
    /// and consumed by its fire.
    MsgRunTimer = "timers.v1.MsgRunTimer" {
        /// Sender.
        1 sender: String,
        /// `id` in hexadecimal, all 64 digits.
        2 id: String,
        /// `actor` whose timer it is; empty means the sender. Another is a contract for which the sender
        /// has scheduled the timer.
        3 actor: String,
    }
    /// `MsgRunTimerResponse` holds the height at which the timer is due.
    MsgRunTimerResponse = "timers.v1.MsgRunTimerResponse" {
        /// Due.
        1 due: u64,
    }
}
