//! Gives timers another trigger: the chain's `x/timers/recurrence/update.go`, and `Replace` of its `x/timers/triggers`.

use cw_multi_test::error::AnyResult;
use cw_timers::proto::{CalendarTrigger, HoldReason, OffsetTransition, TimerInfo, Trigger};
use cw_timers::TimersError;

use super::*;
use crate::config::Config;
use crate::store::{Moment, Reason};

/// A trigger as it is stated for a timer that has one: an interval or a calendar that states no first occurrence keeps the
/// one that there is.
fn rhythm(before: &Trigger, mut stated: Trigger) -> Trigger {
    if let (Some(before), Some(stated)) = (&before.interval, &mut stated.interval) {
        if stated.first == 0 {
            stated.first = before.first;
        }
    }
    let before = before.calendar.as_ref().and_then(|c| c.every.as_ref());
    if let (Some(before), Some(stated)) = (before, stated.calendar.as_mut().and_then(|c| c.every.as_mut())) {
        if stated.anchor == 0 {
            stated.anchor = before.anchor;
        }
    }
    stated
}

/// Whether another trigger makes a timer due when the present one does, until its end. `after` states a height anew each
/// time.
pub(crate) fn same(before: &TimerInfo, after: &TimerInfo, now: Moment) -> bool {
    let (a, b) = (trigger_of(before), trigger_of(after));
    match (&a.calendar, &b.calendar) {
        (Some(a), Some(b)) => same_calendar(a, b, now.time, before.expires_time),
        _ if a.after > 0 && b.after > 0 => before.due == after.due,
        _ => a == b,
    }
}

/// Compares what calendars state, but their transitions as they take effect between now and an end.
fn same_calendar(a: &CalendarTrigger, b: &CalendarTrigger, now: i64, end: i64) -> bool {
    if a.cron.is_some() && effective(a, now, end) != effective(b, now, end) {
        return false;
    }
    let rest = |calendar: &CalendarTrigger| {
        let mut rest = calendar.clone();
        (rest.offset_minutes, rest.transitions, rest.offset_final) = Default::default();
        rest
    };
    rest(a) == rest(b)
}

/// The offset at an instant, and its changes until an end.
fn effective(calendar: &CalendarTrigger, now: i64, end: i64) -> (i32, Vec<OffsetTransition>) {
    let (mut offset, mut changes) = (calendar.offset_minutes, Vec::new());
    let mut at = offset;
    for t in &calendar.transitions {
        if t.from <= now {
            offset = t.offset_minutes;
        } else if t.from <= end && t.offset_minutes != at {
            changes.push(t.clone());
        }
        at = t.offset_minutes;
    }
    (offset, changes)
}

fn keys_of(timer: &TimerInfo) -> Option<&[cw_timers::proto::WatchKey]> {
    timer.trigger.as_ref()?.watch.as_ref().map(|w| w.keys.as_slice())
}

/// Whether two timers watch the same keys, under the same conditions.
pub(crate) fn watches_the_same(a: &TimerInfo, b: &TimerInfo) -> bool {
    keys_of(a).is_some() && keys_of(a) == keys_of(b)
}

/// Gives a timer another trigger, checked as at scheduling, but that what fixes the rhythm may have passed. One that is
/// stated as it stands changes nothing. One on hold stays so, unless it was its turn that put it there.
pub(crate) fn replace(
    config: &Config,
    timer: &mut TimerInfo,
    trigger: Trigger,
    now: Moment,
) -> AnyResult<Vec<Passing>> {
    let (before, mut next) = (timer.clone(), timer.clone());
    next.trigger = Some(trigger);
    if watches_the_same(&before, &next) {
        // What it has noticed stays.
        prepare::prepare(config, &mut next, now)?;
        timer.trigger = next.trigger;
        return Ok(Vec::new());
    }
    if !recurs(&before) && before.trigger == next.trigger && kind_of(&before) != Kind::After {
        // A height or a time as it stands, which may have come.
        return Ok(Vec::new());
    }
    next.trigger = next.trigger.map(|stated| rhythm(&trigger_of(&before), stated));
    (next.recurrence, next.hold_reason, next.due_time) = (None, HoldReason::Unspecified, 0);
    prepare::prepare(config, &mut next, now)?;
    let (from, to) = (kind_of(&before), kind_of(&next));
    let watch = |kind| kind == Kind::Watch;
    if recurs(&before) && (watch(from) != watch(to) || !recurs(&next) || by_time(&before) != by_time(&next)) {
        return refuse(TimersError::UnsupportedTimerType, format!("it repeats by {from:?}, and not by {to:?}"));
    }
    if same(&before, &next, now) {
        timer.trigger = next.trigger;
        return Ok(Vec::new());
    }
    if by_time(&before) != by_time(&next) {
        (next.expires_at, next.expires_time) = (0, 0);
    }
    prepare::default_end(config, &mut next, now);
    let passed = move_to(&before, &mut next, now)?;
    if due_since(&next) > now.height || !recurs(&next) {
        prepare::check_life(config, &mut next, now)?;
    }
    if on_hold(&before) && !returns_by_itself(&before) {
        next.hold_reason = before.hold_reason;
    }
    *timer = next;
    Ok(passed)
}

/// Says when a timer is due by another trigger, whose occurrences are those after this block and after the last that is
/// over. `next` has the trigger, and what scheduling makes of it. What is in hand stays if the trigger has it too, or if
/// of an interval the distance alone changes; else it has passed.
fn move_to(before: &TimerInfo, next: &mut TimerInfo, now: Moment) -> AnyResult<Vec<Passing>> {
    let mut passed = Vec::new();
    let in_hand = in_hand(before, now);
    if let Some(at) = in_hand {
        if keeps(before, next, at) {
            (next.due, next.due_time, next.since) = (before.due, before.due_time, before.since);
            (next.hold_reason, next.tried, next.retries) = (before.hold_reason, before.tried, before.retries);
            if next.recurrence.is_some() {
                passed = keep_in_hand(before, next, at, now);
            }
            return Ok(passed);
        }
        passed.push(Passing { passed: Passed::one(at), reason: Reason::Updated });
    }
    (next.tried, next.retries, next.since) = (false, 0, 0);
    if next.recurrence.is_some() {
        if let Some(r) = &before.recurrence {
            edit(next, |recurrence| {
                recurrence.after = recurrence.after.max(r.after).max(r.trying);
                recurrence.lapses = r.lapses;
            });
            if !before.tried {
                passed = came_before(before, in_hand, now);
            }
        }
        if !to_next(next, now) {
            return refuse(TimersError::ExpiresTooSoon, "it has no further occurrence within its life");
        }
        return Ok(passed);
    }
    if let Some(every) = distance_of(next).filter(|_| next.due <= now.height) {
        next.due = now.height + 1;
        if let Some(outcome) = before.last_outcome.as_ref().filter(|_| recurs(before)) {
            next.due = next.due.max(outcome.height + every);
        }
    }
    Ok(passed)
}

/// The occurrence that a timer has in hand, whose own time has come: an instant of its clock.
pub(super) fn in_hand(timer: &TimerInfo, now: Moment) -> Option<u64> {
    let Some(r) = timer.recurrence.as_ref().filter(|_| kind_of(timer) != Kind::Watch) else {
        return match kind_of(timer) {
            Kind::Watch => None,
            _ if by_time(timer) => Some(timer.due_time as u64).filter(|_| timer.tried || timer.due_time <= now.time),
            _ => Some(due_since(timer)).filter(|_| timer.tried || timer.due <= now.height),
        };
    };
    if timer.tried {
        return Some(r.trying);
    }
    if r.forced > 0 {
        return Some(r.forced);
    }
    series_of(timer, now).resolve(r.after).open
}

/// Whether another trigger has an occurrence too.
fn keeps(before: &TimerInfo, next: &TimerInfo, at: u64) -> bool {
    let interval = |timer: &TimerInfo| trigger_of(timer).interval;
    if let (Some(a), Some(b)) = (interval(before), interval(next)) {
        if a.from == b.from && a.first == b.first {
            return true;
        }
    }
    if before.recurrence.is_none() || next.recurrence.is_none() || at == 0 {
        return false;
    }
    series_of(next, Moment { height: 0, time: 0 }).rule.next(at - 1, at) == Some(at)
}

/// Keeps an occurrence in hand under another trigger, which may have other ones that have come: they are not its own.
/// Where only the latest fires, those before it have passed.
fn keep_in_hand(before: &TimerInfo, next: &mut TimerInfo, at: u64, now: Moment) -> Vec<Passing> {
    let mut passed = Vec::new();
    let Some(mut recurrence) = before.recurrence.clone() else { return passed };
    if !before.tried && recurrence.forced == 0 {
        let series = series_of(before, now);
        if !series.each {
            passed = series.passed_before(recurrence.after, at);
            passed.iter_mut().for_each(|p| p.reason = Reason::Later);
            recurrence.after = at - 1;
        }
        next.recurrence = Some(recurrence.clone());
        if series_of(next, now).came(recurrence.after) != at {
            recurrence.forced = at;
        }
    }
    next.recurrence = Some(recurrence);
    passed
}

/// The occurrences that have come of a timer, up to the one in hand.
fn came_before(timer: &TimerInfo, in_hand: Option<u64>, now: Moment) -> Vec<Passing> {
    let (series, after) = (series_of(timer, now), timer.recurrence.as_ref().map_or(0, |r| r.after));
    let last = series.came(after).max(in_hand.unwrap_or(0));
    if last <= after {
        return Vec::new();
    }
    let first = series.rule.next(after, last).unwrap_or(0);
    let passed = Passed { first, last, count: series.rule.count(after, last) };
    vec![Passing { passed, reason: Reason::Updated }]
}
