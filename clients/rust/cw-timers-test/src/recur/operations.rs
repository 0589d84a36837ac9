//! What an owner asks for, to skip, to run and to resume: the chain's `x/timers/recurrence/operations.go`. Each changes
//! the timer and returns what has passed by it; after an error the timer may have changed and is to be dropped.

use cw_multi_test::error::AnyResult;
use cw_timers::proto::{HoldReason, Message, Recurrence, ResumeAt};
use cw_timers::TimersError;

use super::after::last_due;
use super::update::in_hand;
use super::*;
use crate::store::{Moment, Reason, Timer};

const NONE_LEFT: &str = "it has no further occurrence within its life: cancel it, or extend it first";
pub(super) const LAST: &str = "its last repetition has been tried: resume it now, state how many more, or cancel it";

/// Ends the occurrence in hand of a timer that was tried. It stays counted, and is no failure.
fn give_up(timer: &mut Timer) -> AnyResult<()> {
    if !timer.status.tried {
        return Ok(());
    }
    if left(timer) == 1 {
        return refuse(TimersError::ExpiresTooSoon, LAST);
    }
    (timer.status.tried, timer.status.retries) = (false, 0);
    timer.status.recurrence = timer.status.recurrence.take().map(|before| {
        // Another one may wait behind it.
        let forced = if before.forced == before.trying { 0 } else { before.forced };
        Recurrence::with(|r| (r.after, r.lapses, r.forced) = (before.trying, before.lapses, forced))
    });
    Ok(())
}

/// Lets the next occurrences of a timer pass. One that is on hold stays so. `from` is the next one, or 0 for whichever that
/// is; `open` the first height at which a timer may become due.
pub(crate) fn skip(timer: &mut Timer, count: u64, from: u64, open: u64, now: Moment) -> AnyResult<Vec<Passing>> {
    let every = distance_of(timer);
    if timer.status.recurrence.is_none() && every.is_none() {
        return refuse(TimersError::UnsupportedTimerType, "only a calendar or an interval has occurrences");
    }
    let held = on_hold(timer).then_some(timer.status.hold_reason);
    let tried = timer.status.tried;
    let last = match &timer.status.recurrence {
        None => last_due(timer),
        Some(r) if tried => r.trying,
        Some(r) => {
            let r = series_of(timer, now).in_hand(r.after);
            r.open.or(r.next).unwrap_or(0)
        }
    };
    let first = if every.is_some() && tried { due_since(timer) } else { last };
    if from != 0 && from != first && (every.is_none() || from != timer.status.due) {
        return refuse(TimersError::InvalidSkip, format!("from is {from}, and the next occurrence is {first}"));
    }
    give_up(timer)?;
    let passed = match every {
        Some(every) => {
            if !skip_from(timer, last, count, now) {
                return refuse(TimersError::ExpiresTooSoon, "they leave none within its life");
            }
            let last = first.max(last + every * (count - 1));
            vec![Passing { passed: Passed { first, last, count }, reason: Reason::Requested }]
        }
        None => skip_series(timer, count, tried, now)?,
    };
    if let Some(after) = timer.status.recurrence.as_ref().map(|r| r.after).filter(|_| !by_time(timer)) {
        if series_of(timer, now).rule.next(after, open) == Some(open) {
            // It comes in this very block.
            timer.status.due = open;
        }
    }
    timer.status.since = 0;
    if let Some(reason) = held {
        timer.status.hold_reason = reason;
    }
    Ok(passed)
}

/// Makes an interval that counts from its fires due so many repetitions after a height, and reports whether that is within
/// its life.
pub(super) fn skip_from(timer: &mut Timer, height: u64, count: u64, now: Moment) -> bool {
    let (last, every) = (last_height(timer), distance_of(timer).unwrap_or(1));
    if height > last || (last - height) / every < count {
        return false;
    }
    timer.status.due = (height + every * count).max(now.height + 1);
    timer.status.due <= last
}

/// Lets occurrences pass that are known in advance. `tried`: the first of them has been given up.
fn skip_series(timer: &mut Timer, count: u64, tried: bool, now: Moment) -> AnyResult<Vec<Passing>> {
    let series = series_of(timer, now);
    let mut after = timer.status.recurrence.as_ref().map_or(0, |r| r.after);
    let mut asked = if tried { Passed::one(after) } else { Passed::default() };
    let mut later = Passed::default();
    if asked.count < count {
        let r = series_of(timer, now).in_hand(after);
        later = r.passed.clone();
        let mut next = r.open.or(r.next);
        while asked.count < count {
            let Some(at) = next else {
                return refuse(TimersError::ExpiresTooSoon, format!("it has not {count} more occurrences"));
            };
            after = at;
            asked = asked.through(at, 1);
            next = series.rule.next(at, series.end);
        }
    }
    edit(timer, |r| (r.after, r.forced) = (after, 0));
    if !to_next(timer, now) {
        return refuse(TimersError::ExpiresTooSoon, NONE_LEFT);
    }
    let reason = later_or(timer, Reason::Window);
    let all = [Passing { passed: later, reason }, Passing { passed: asked, reason: Reason::Requested }];
    Ok(all.into_iter().filter(|p| p.passed.count > 0).collect())
}

/// Makes the next occurrence of a timer due in the next block, whatever its time, without window.
pub(crate) fn run(timer: &mut Timer, now: Moment) -> AnyResult<Vec<Passing>> {
    let Some(recurrence) = &timer.status.recurrence else {
        if distance_of(timer).is_none() {
            return refuse(TimersError::UnsupportedTimerType, "only a calendar or an interval has an occurrence");
        }
        (timer.status.due, timer.status.since) = (now.height + 1, 0);
        return Ok(Vec::new());
    };
    let mut passed = Vec::new();
    if timer.status.tried {
        edit(timer, |r| {
            if r.forced == 0 {
                r.forced = r.trying;
            }
        });
    } else {
        let r = series_of(timer, now).resolve(recurrence.after);
        let Some(forced) = r.open.or(r.next) else {
            return refuse(TimersError::ExpiresTooSoon, "it has no further occurrence within its life");
        };
        edit(timer, |recurrence| recurrence.forced = forced);
        if r.passed.count > 0 {
            edit(timer, |recurrence| recurrence.after = r.passed.last);
            passed.push(Passing { passed: r.passed, reason: later_or(timer, Reason::Window) });
        }
    }
    at_once(timer, now);
    Ok(passed)
}

/// Makes a timer due in the next block.
fn at_once(timer: &mut Timer, now: Moment) {
    (timer.status.hold_reason, timer.status.due, timer.status.since) = (HoldReason::Unspecified, now.height + 1, 0);
    if timer.status.due_time > now.time {
        timer.status.due_time = now.time.max(1);
    }
}

/// Lets a timer go on that was on hold: now, as if nothing had been late, or with its next repetition.
pub(crate) fn resume(timer: &mut Timer, at: ResumeAt, now: Moment) -> AnyResult<Vec<Passing>> {
    let Some(recurrence) = timer.status.recurrence.clone() else {
        let due = in_hand(timer, now).filter(|_| at == ResumeAt::Next);
        resume_plain(timer, at, now)?;
        return Ok(due.map_or_else(Vec::new, paused_at));
    };
    if at == ResumeAt::Next {
        return resume_next(timer, now);
    }
    let series = series_of(timer, now);
    let after = if timer.status.tried { recurrence.trying } else { recurrence.after };
    let came = match recurrence.forced {
        forced if forced > after => series.came(after).max(forced),
        _ => series.came(after),
    };
    let mut passed = Vec::new();
    if timer.status.tried && (series.each || came == 0) {
        edit(timer, |r| r.forced = r.trying);
        at_once(timer, now);
    } else if timer.status.tried {
        passed = series.passed_before(told(&recurrence, after), came);
        edit(timer, |r| r.forced = came);
        at_once(timer, now);
    } else if came == 0 {
        if !to_next(timer, now) {
            return refuse(TimersError::ExpiresTooSoon, NONE_LEFT);
        }
    } else if came > series.now {
        // Its owner had it run.
        at_once(timer, now);
    } else if series.each {
        let first = series.rule.next(after, came).unwrap_or(0);
        edit(timer, |r| r.forced = first);
        set_due(timer, first, now);
    } else {
        passed = series.passed_before(told(&recurrence, after), came);
        edit(timer, |r| {
            if let Some(p) = passed.first() {
                r.after = p.passed.last;
            }
            r.forced = came;
        });
        set_due(timer, came, now);
    }
    timer.status.since = 0;
    Ok(passed)
}

/// The instant up to which it was told what has passed: when a timer was resumed, all before what it was to deliver.
pub(super) fn told(r: &Recurrence, after: u64) -> u64 {
    if r.forced > after {
        r.forced - 1
    } else {
        after
    }
}

/// What is given up that was in hand while its timer was on hold.
pub(crate) fn paused_at(due: u64) -> Vec<Passing> {
    vec![Passing { passed: Passed::one(due), reason: Reason::Paused }]
}

/// Gives up what is in hand and what came.
fn resume_next(timer: &mut Timer, now: Moment) -> AnyResult<Vec<Passing>> {
    let tried = timer.status.tried.then(|| timer.status.recurrence.as_ref().map_or(0, |r| r.trying));
    give_up(timer)?;
    let series = series_of(timer, now);
    let before = timer.status.recurrence.clone().unwrap_or_default();
    let came = series.came(before.after).max(before.forced);
    let mut passed = tried.map_or_else(Passed::default, Passed::one);
    if came > before.after {
        let more = series.passed_before(told(&before, before.after), came + 1).pop();
        // It stayed from another trigger if the present one has none.
        let more = more.map_or(Passed::one(came), |more| more.passed);
        passed = match passed.count {
            0 => more,
            _ => passed.through(came, more.count),
        };
    }
    edit(timer, |r| (r.after, r.forced) = (r.after.max(came), 0));
    timer.status.since = 0;
    if !to_next(timer, now) {
        return refuse(TimersError::ExpiresTooSoon, NONE_LEFT);
    }
    Ok(Some(Passing { passed, reason: Reason::Paused }).into_iter().filter(|p| p.passed.count > 0).collect())
}

/// The same for a timer whose occurrences are not known in advance.
fn resume_plain(timer: &mut Timer, at: ResumeAt, now: Moment) -> AnyResult<()> {
    if at != ResumeAt::Next {
        let came = if by_time(timer) { timer.status.due_time <= now.time } else { due_since(timer) <= now.height };
        if timer.status.tried || came {
            at_once(timer, now);
        }
        return Ok(());
    }
    if kind_of(timer) == Kind::Watch {
        return give_up(timer);
    }
    let Some(every) = distance_of(timer) else {
        return refuse(TimersError::UnsupportedTimerType, "it fires once, and has no next repetition");
    };
    if every > last_height(timer) - now.height {
        return refuse(TimersError::ExpiresTooSoon, "its next repetition lies beyond its life");
    }
    give_up(timer)?;
    (timer.status.due, timer.status.since) = (now.height + every, 0);
    Ok(())
}
