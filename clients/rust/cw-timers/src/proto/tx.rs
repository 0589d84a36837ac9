//! The types of `timers/v1/tx.proto` that contracts need.

use super::TimerSpec;
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
        /// `actor` owns the timer; empty means the sender. Another is a contract whose admin the sender is: the
        /// timer calls its sudo, never messages. The sender pays for it, and alone changes it.
        2 actor: String,
        /// `spec` is what the sender states of it.
        3 spec: Option<TimerSpec>,
    }
    /// `MsgScheduleTimerResponse` names the timer.
    MsgScheduleTimerResponse = "timers.v1.MsgScheduleTimerResponse" {
        /// `id` in lower-case hexadecimal.
        1 id: String,
    }
    /// `MsgUpdateTimer` replaces what it names of a timer's spec, and nothing else. The timer gets a new seq,
    /// unless nothing changes.
    MsgUpdateTimer = "timers.v1.MsgUpdateTimer" {
        /// Sender.
        1 sender: String,
        /// `id` in hexadecimal, all 64 digits; it may be left out where name is stated.
        2 id: String,
        /// `actor` whose timer it is; empty means the sender. Another is a contract for which the sender has
        /// scheduled the timer.
        3 actor: String,
        /// `spec` holds what fields name.
        4 spec: Option<TimerSpec>,
        /// `fields` are the fields of the spec that are replaced, each once: name, trigger, call, only_if,
        /// gas_limit, cell_limit, bid, max_charge, fee_payer, expires_at, expires_time, retry, on_unfunded, and
        /// those of repeat, as repeat.remaining. One that the spec leaves empty takes its default.
        5 fields: Vec<String>,
        /// `if_seq` is the seq that the timer must have; 0 means any.
        6 if_seq: u64,
        /// `name` that the timer has; with an id, that it must have.
        7 name: String,
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
        /// `id` in hexadecimal, all 64 digits; it may be left out where name is stated.
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
        /// `name` that the timer has; with an id, that it must have.
        6 name: String,
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
        /// `id` in hexadecimal, all 64 digits; it may be left out where name is stated.
        2 id: String,
        /// `actor` whose timer it is; empty means the sender. Another is a contract for which the sender has
        /// scheduled the timer.
        3 actor: String,
        /// `name` that the timer has; with an id, that it must have.
        4 name: String,
    }
    /// `MsgPauseTimerResponse` is empty.
    MsgPauseTimerResponse = "timers.v1.MsgPauseTimerResponse" {
    }
    /// `MsgResumeTimer` returns a paused, suspended or unfunded timer to the queue. If its due height has
    /// passed, it is due in the next block.
    MsgResumeTimer = "timers.v1.MsgResumeTimer" {
        /// Sender.
        1 sender: String,
        /// `id` in hexadecimal, all 64 digits; it may be left out where name is stated.
        2 id: String,
        /// `actor` whose timer it is; empty means the sender. Another is a contract for which the sender has
        /// scheduled the timer.
        3 actor: String,
        /// `at` says what becomes of occurrences that came while it was on hold.
        4 at: ResumeAt,
        /// `name` that the timer has; with an id, that it must have.
        5 name: String,
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
        /// `id` in hexadecimal, all 64 digits; it may be left out where name is stated.
        2 id: String,
        /// `actor` whose timer it is; empty means the sender. Another is a contract for which the sender has
        /// scheduled the timer. The contract may cancel it too.
        3 actor: String,
        /// `name` that the timer has; with an id, that it must have.
        4 name: String,
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
        /// `id` in hexadecimal, all 64 digits; it may be left out where name is stated.
        2 id: String,
        /// `count` of occurrences, 1 to 1,000.
        3 count: u32,
        /// `actor` whose timer it is; empty means the sender. Another is a contract for which the sender
        /// has scheduled the timer.
        4 actor: String,
        /// `from` is the next occurrence, in seconds since 1970 or as a height: if that is another by then,
        /// nothing is skipped. 0 means whichever is the next.
        5 from: u64,
        /// `name` that the timer has; with an id, that it must have.
        6 name: String,
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
        /// `id` in hexadecimal, all 64 digits; it may be left out where name is stated.
        2 id: String,
        /// `actor` whose timer it is; empty means the sender. Another is a contract for which the sender
        /// has scheduled the timer.
        3 actor: String,
        /// `name` that the timer has; with an id, that it must have.
        4 name: String,
    }
    /// `MsgRunTimerResponse` holds the height at which the timer is due.
    MsgRunTimerResponse = "timers.v1.MsgRunTimerResponse" {
        /// Due.
        1 due: u64,
    }
}
