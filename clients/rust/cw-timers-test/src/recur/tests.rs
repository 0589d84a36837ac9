//! What the chain's own tests of `x/timers/recurrence` say, on the same timers.

use cw_timers::proto::{
    HoldReason, IntervalFrom, IntervalTrigger, Message, Missed, OnUnfunded, Outcome as Last, Recurrence, Repeat,
    ResumeAt, Trigger,
};

use super::update::move_to;
use super::*;
use crate::config::Config;
use crate::store::{Moment, Reason, Record, Timer};

const FIRE: IntervalFrom = IntervalFrom::Unspecified;
const SCHEDULE: IntervalFrom = IntervalFrom::Schedule;

/// A timer of heights, from its schedule or from its fires, and due.
fn interval(first: u64, every: u64, from: IntervalFrom, due: u64) -> Timer {
    let mut timer = Timer { id: "ab".to_string(), ..Timer::default() };
    let trigger = IntervalTrigger::with(|i| (i.first, i.every, i.from) = (first, every, from));
    timer.spec.trigger = Some(Trigger::with(|t| t.interval = Some(trigger)));
    (timer.status.due, timer.status.expires_at, timer.status.fire_seq) = (due, 100, 1);
    timer.status.recurrence = (from == SCHEDULE).then(|| Recurrence::with(|r| r.after = due - 1));
    timer
}

fn with(mut timer: Timer, change: impl FnOnce(&mut Timer)) -> Timer {
    change(&mut timer);
    timer
}

fn recurrence(after: u64, trying: u64, forced: u64) -> Option<Recurrence> {
    Some(Recurrence::with(|r| (r.after, r.trying, r.forced) = (after, trying, forced)))
}

fn passing(first: u64, last: u64, count: u64, reason: Reason) -> Passing {
    Passing { passed: Passed { first, last, count }, reason }
}

fn at(height: u64) -> Moment {
    Moment { height, time: 0 }
}

#[test]
fn what_was_run_is_due_in_the_next_block() {
    let mut timer = with(interval(10, 10, SCHEDULE, 21), |t| {
        (t.status.hold_reason, t.status.recurrence) = (HoldReason::Paused, recurrence(20, 0, 30));
    });
    resume(&mut timer, ResumeAt::Now, at(22)).unwrap();
    assert_eq!(timer.status.due, 23);
    assert!(occurrence(&timer, at(23)).open);
}

#[test]
fn the_latest_that_came_is_taken() {
    let mut timer = with(interval(10, 10, SCHEDULE, 21), |t| t.status.recurrence = recurrence(10, 0, 20));
    let passed = resume(&mut timer, ResumeAt::Now, at(45)).unwrap();
    assert_eq!(timer.status.recurrence, recurrence(30, 0, 40));
    assert_eq!(passed, [passing(20, 30, 2, Reason::Paused)]);
}

#[test]
fn what_has_passed_is_told_once() {
    for (how, want) in
        [(ResumeAt::Now, passing(40, 40, 1, Reason::Paused)), (ResumeAt::Next, passing(10, 50, 3, Reason::Paused))]
    {
        let mut timer = interval(10, 10, SCHEDULE, 10);
        (timer.status.tried, timer.status.recurrence) = (true, recurrence(9, 10, 0));
        let passed = resume(&mut timer, ResumeAt::Now, at(45)).unwrap();
        assert_eq!(passed, [passing(20, 30, 2, Reason::Paused)]);
        assert_eq!(resume(&mut timer, how, at(55)).unwrap(), [want]);
    }
    // What was tried is over, and what was to follow it was on hold.
    let mut timer = with(interval(10, 10, SCHEDULE, 10), |t| t.status.recurrence = recurrence(10, 0, 40));
    assert_eq!(resume(&mut timer, ResumeAt::Now, at(45)).unwrap(), []);
}

/// What a change of its trigger had put off is overdue, and competes at once.
#[test]
fn what_was_put_off_has_come() {
    let mut timer = interval(10, 5, FIRE, 23);
    (timer.status.since, timer.status.hold_reason) = (18, HoldReason::Paused);
    resume(&mut timer, ResumeAt::Now, at(20)).unwrap();
    assert_eq!((timer.status.due, timer.status.since), (21, 0));
}

/// A retry that its owner had made at once is forced no more when it is given up.
#[test]
fn what_is_given_up_is_not_forced() {
    let mut timer = interval(10, 10, SCHEDULE, 12);
    (timer.status.tried, timer.status.deliveries) = (true, 1);
    timer.status.recurrence = recurrence(9, 10, 10);
    let mut two = timer.clone();
    assert_eq!(skip(&mut timer, 1, 0, 20, at(20)).unwrap(), [passing(10, 10, 1, Reason::Requested)]);
    assert_eq!((timer.status.due, timer.status.recurrence), (20, recurrence(10, 0, 0)), "in this very block");
    assert_eq!(skip(&mut two, 2, 0, 20, at(20)).unwrap(), [passing(10, 20, 2, Reason::Requested)]);
}

/// An interval that counts from its fires comes in the next block at the earliest; who skips it may state either height.
#[test]
fn a_skip_is_not_due_in_its_block() {
    let late = || with(interval(10, 4, FIRE, 19), |t| t.status.since = 16);
    for from in [0, 16, 19] {
        let mut timer = late();
        assert_eq!(skip(&mut timer, 1, from, 20, at(20)).unwrap(), [passing(16, 16, 1, Reason::Requested)]);
        assert_eq!(timer.status.due, 21);
    }
    assert!(skip(&mut late(), 1, 18, 20, at(20)).is_err());
}

#[test]
fn what_lacks_coins_restores_no_skips() {
    for (on, want) in [(OnUnfunded::Skip, 3), (OnUnfunded::Suspend, 2), (OnUnfunded::Destroy, 0)] {
        let mut info = interval(10, 10, SCHEDULE, 10);
        (info.status.skips, info.spec.on_unfunded) = (2, on);
        let o = occurrence(&info, at(10));
        let record = Record { info, hit: false, changed: 0, marks: Vec::new(), owed: 0 };
        let next = after(&record, Turn::new(Outcome::ShortOfCoins, &o), &Config::default(), at(10));
        assert_eq!(next.record.info.status.skips, want, "{on:?}");
    }
}

/// What histories of the chain and its twin found to differ: where the timer stood, and what trigger it was given.
#[test]
fn another_trigger() {
    let one_shot = with(interval(1, 1, FIRE, 18), |t| t.spec.trigger = Some(Trigger::with(|t| t.height = 18)));
    let later_and_updated = [passing(15, 15, 1, Reason::Later), passing(20, 20, 1, Reason::Updated)];
    for (name, before, mut next, due, want) in [
        (
            "what was run has passed, and none before it comes",
            with(interval(10, 15, SCHEDULE, 21), |t| t.status.recurrence = recurrence(10, 0, 25)),
            interval(14, 4, SCHEDULE, 22),
            26,
            &[passing(25, 25, 1, Reason::Updated)][..],
        ),
        (
            "a skip is no try",
            with(interval(10, 4, FIRE, 23), |t| t.status.last_outcome = Some(Last::with(|o| o.height = 16))),
            interval(9, 6, FIRE, 9),
            22,
            &[],
        ),
        (
            "what came behind a retry has passed too",
            with(interval(10, 5, SCHEDULE, 21), |t| {
                (t.status.tried, t.status.recurrence) = (true, recurrence(9, 15, 0));
            }),
            interval(30, 7, SCHEDULE, 30),
            30,
            &later_and_updated,
        ),
        (
            "what is overdue, and was put off by a change, is in hand",
            with(interval(10, 3, FIRE, 21), |t| t.status.since = 18),
            interval(30, 5, FIRE, 30),
            30,
            &[passing(18, 18, 1, Reason::Updated)],
        ),
        (
            "to its fires: what came has passed, and none of it comes",
            interval(10, 5, SCHEDULE, 15),
            interval(40, 5, FIRE, 40),
            40,
            &later_and_updated,
        ),
        (
            "to its fires: none comes before what was run",
            with(interval(10, 15, SCHEDULE, 21), |t| t.status.recurrence = recurrence(10, 0, 25)),
            interval(21, 5, FIRE, 21),
            26,
            &[passing(25, 25, 1, Reason::Updated)],
        ),
        (
            "one shot in hand stays, where the other trigger has its height",
            one_shot,
            interval(8, 10, SCHEDULE, 28),
            18,
            &[],
        ),
    ] {
        next.status.fire_seq = before.status.fire_seq;
        next.status.last_outcome.clone_from(&before.status.last_outcome);
        next.status.tried = before.status.tried;
        if next.status.recurrence.is_some() {
            next.status.recurrence = recurrence(20, 0, 0);
        }
        assert_eq!(move_to(&before, &mut next, at(20)).unwrap(), want, "{name}");
        assert_eq!(next.status.due, due, "{name}");
    }
}

/// What is in hand stays alone, if the other trigger has it too; of each the oldest comes first.
#[test]
fn what_is_in_hand_stays() {
    for (first, every, other, want) in [(12, 3, 1, &[passing(12, 15, 2, Reason::Later)][..]), (18, 9, 3, &[][..])] {
        let before = with(interval(first, every, SCHEDULE, first), |t| {
            t.status.recurrence = recurrence(first - 3, 0, 0);
        });
        let mut next = before.clone();
        next.spec.trigger = interval(first, other, SCHEDULE, first).spec.trigger;
        assert_eq!(move_to(&before, &mut next, at(18)).unwrap(), want);
        let o = occurrence(&next, at(18));
        assert_eq!((o.open, o.at, o.passed.count), (true, 18, 0));
    }
    let mut before = interval(10, 10, SCHEDULE, 20);
    before.status.recurrence = recurrence(11, 0, 0);
    before.spec.repeat = Some(Repeat::with(|r| r.missed = Missed::Each));
    let mut next = before.clone();
    next.spec.trigger = interval(10, 5, SCHEDULE, 20).spec.trigger;
    move_to(&before, &mut next, at(20)).unwrap();
    assert_eq!(occurrence(&next, at(20)).at, 20);
}

/// Another trigger that would give up the last delivery, which waits for its retry, would end the timer. With a count that
/// is stated anew it does not.
#[test]
fn the_last_delivery_is_not_given_up() {
    let remaining = |count| Some(Repeat::with(|r| r.remaining = count));
    let mut before = interval(3, 3, SCHEDULE, 9);
    before.spec.repeat = remaining(3);
    (before.status.tried, before.status.retries, before.status.deliveries) = (true, 1, 3);
    before.status.recurrence = recurrence(8, 9, 0);
    let mut next = before.clone();
    next.spec.trigger = interval(20, 7, SCHEDULE, 20).spec.trigger;
    next.status.recurrence = recurrence(0, 0, 0);
    let refused = move_to(&before, &mut next, at(10)).unwrap_err();
    assert_eq!(crate::refusal_of(&refused), Some(TimersError::ExpiresTooSoon));
    next.spec.repeat = remaining(5);
    assert_eq!(move_to(&before, &mut next, at(10)).unwrap(), [passing(9, 9, 1, Reason::Updated)]);
}
