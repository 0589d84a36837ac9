//! Gives timers another trigger: the chain's `x/timers/recurrence/update.go`, and `Replace` of its `x/timers/triggers`.

use cw_multi_test::error::AnyResult;
use cw_timers::proto::{CalendarTrigger, HoldReason, IntervalFrom, OffsetTransition, TimerSpec};
use cw_timers::TimersError;

use super::*;
use crate::config::Config;
use crate::store::{Moment, Reason, Timer};

/// Says where a trigger begins that leaves it open, of a timer that has another one: where that does, if it is of the same
/// kind.
fn begin(before: &Timer, next: &mut Timer) {
    if next.status.start == 0 {
        return;
    }
    match (kind_of(before), kind_of(next)) {
        (Kind::Interval, Kind::Interval) => {
            let first = first_of(before);
            (next.status.start, next.status.due) = (first, first);
        }
        (Kind::Calendar, Kind::Calendar) => {
            if let Some(every) = anchored(before).and_then(|calendar| calendar.every) {
                next.status.start = every.anchor as u64;
            }
        }
        _ => {}
    }
}

/// Whether the triggers of two timers have the same occurrences.
fn same_series(before: &Timer, next: &Timer) -> bool {
    let (a, b) = (trigger_of(before), trigger_of(next));
    match (a.interval, b.interval, anchored(before), anchored(next)) {
        (Some(a), Some(b), ..) => {
            let scheduled = |from| from == IntervalFrom::Schedule;
            a.every == b.every && first_of(before) == first_of(next) && scheduled(a.from) == scheduled(b.from)
        }
        (_, _, Some(a), Some(b)) => a == b,
        _ => false,
    }
}

/// Whether another trigger makes a timer due when the present one does, until its end. `after` states a height anew each
/// time.
pub(crate) fn same(before: &Timer, after: &Timer, now: Moment) -> bool {
    let (a, b) = (trigger_of(before), trigger_of(after));
    match (anchored(before), anchored(after)) {
        (Some(a), Some(b)) => same_calendar(&a, &b, now.time, before.status.expires_time),
        _ if a.interval.is_some() && b.interval.is_some() => same_series(before, after),
        _ if a.after > 0 && b.after > 0 => !before.status.tried && due_since(before) == after.status.due,
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

fn keys_of(timer: &Timer) -> Option<&[cw_timers::proto::WatchKey]> {
    timer.spec.trigger.as_ref()?.watch.as_ref().map(|w| w.keys.as_slice())
}

/// Whether two timers watch the same keys, under the same conditions.
pub(crate) fn watches_the_same(a: &Timer, b: &Timer) -> bool {
    keys_of(a).is_some() && keys_of(a) == keys_of(b)
}

/// Gives a timer the trigger and the repetitions of another spec, checked as at scheduling, but that what fixes the rhythm
/// may have passed. What is stated as it stands changes nothing; `stated`: its owner named the trigger. One on hold stays
/// so, unless it was its turn that put it there.
pub(crate) fn replace(
    config: &Config,
    timer: &mut Timer,
    spec: &TimerSpec,
    stated: bool,
    now: Moment,
) -> AnyResult<Vec<Passing>> {
    let (before, mut next) = (timer.clone(), timer.clone());
    (next.spec.trigger, next.spec.repeat) = (spec.trigger.clone(), spec.repeat.clone());
    let again = stated && kind_of(&next) == Kind::After;
    if next.spec.trigger == before.spec.trigger && !again && next.spec.repeat == before.spec.repeat {
        return Ok(Vec::new());
    }
    if watches_the_same(&before, &next) {
        // What it has noticed stays.
        prepare::prepare(config, &mut next.clone(), now)?;
        if next.status.hold_reason == HoldReason::Watching {
            go_on_watching(&before, &mut next, now);
        }
        recount(&before, &mut next);
        *timer = next;
        return Ok(Vec::new());
    }
    (next.status.recurrence, next.status.hold_reason, next.status.due_time) = (None, HoldReason::Unspecified, 0);
    next.look = None;
    prepare::prepare(config, &mut next, now)?;
    let (from, to) = (kind_of(&before), kind_of(&next));
    let watch = |kind| kind == Kind::Watch;
    if recurs(&before) && (watch(from) != watch(to) || !recurs(&next) || by_time(&before) != by_time(&next)) {
        return refuse(TimersError::UnsupportedTimerType, format!("it repeats by {from:?}, and not by {to:?}"));
    }
    begin(&before, &mut next);
    if same(&before, &next, now) && next.spec.repeat == before.spec.repeat {
        (timer.spec.trigger, timer.status.start) = (next.spec.trigger, next.status.start);
        return Ok(Vec::new());
    }
    if by_time(&before) != by_time(&next) {
        (next.status.expires_at, next.status.expires_time) = (0, 0);
    }
    prepare::default_end(config, &mut next, now);
    let passed = move_to(&before, &mut next, now)?;
    if due_since(&next) > now.height || !recurs(&next) {
        prepare::check_life(config, &mut next, now)?;
    }
    if on_hold(&before) && !returns_by_itself(&before) {
        (next.status.hold_reason, next.look) = (before.status.hold_reason, None);
    }
    if next.status.hold_reason == HoldReason::Watching {
        let from = next.status.due.max(cooled(&next));
        watch_from(&mut next, from, true);
    }
    recount(&before, &mut next);
    *timer = next;
    Ok(passed)
}

/// Lets a watch wait on that watches the same as before: it is looked at if its level is another, and another cooldown counts
/// from its last delivery.
fn go_on_watching(before: &Timer, next: &mut Timer, now: Moment) {
    let terms = |timer: &Timer| trigger_of(timer).watch.map_or((0, false), |watch| (watch.cooldown, watch.level));
    let ((cooldown, level), (other_cooldown, other_level)) = (terms(before), terms(next));
    if cooldown != other_cooldown && next.status.last_outcome.is_some() {
        next.status.due = cooled(next).max(next.status.due.min(now.height + 1));
    }
    if level != other_level {
        let from = next.status.due.max(now.height + 1);
        watch_from(next, from, true);
        // What it was to notice, it notices.
        let noticed_from = before.look.unwrap_or(before.status.due.min(from));
        next.look = next.look.map(|_| noticed_from);
    }
}

/// The height at which the cooldown after the last delivery of a watch ends; 0 if it has made none.
fn cooled(timer: &Timer) -> u64 {
    let cooldown = trigger_of(timer).watch.map_or(0, |watch| watch.cooldown);
    timer.status.last_outcome.as_ref().map_or(0, |outcome| outcome.height + cooldown.max(1))
}

/// Counts from now on what another spec states of repetitions.
fn recount(before: &Timer, next: &mut Timer) {
    if repetitions(before) != repetitions(next) {
        count_anew(next);
    }
}

/// Says when a timer is due by another trigger, whose occurrences are those after this block and after the last that is
/// over. `next` has the trigger, and what scheduling makes of it. What is in hand stays if the trigger has it too, or if
/// of an interval the distance alone changes; else it has passed.
pub(super) fn move_to(before: &Timer, next: &mut Timer, now: Moment) -> AnyResult<Vec<Passing>> {
    let in_hand = in_hand(before, now);
    let same = same_series(before, next);
    let kept = in_hand.filter(|at| keeps(before, next, *at));
    if same || kept.is_some() {
        let (next_status, status) = (&mut next.status, &before.status);
        (next_status.due, next_status.due_time, next_status.since) = (status.due, status.due_time, status.since);
        next_status.hold_reason = status.hold_reason;
        (next_status.tried, next_status.retries) = (status.tried, status.retries);
        let occurs = status.recurrence.is_some() || next_status.recurrence.is_some();
        return Ok(match kept.filter(|_| !same && occurs) {
            Some(at) => keep_in_hand(before, next, at, now),
            None => {
                next_status.recurrence.clone_from(&status.recurrence);
                Vec::new()
            }
        });
    }
    let counted = |timer: &Timer| timer.spec.repeat.as_ref().map_or(0, |repeat| repeat.remaining);
    if before.status.tried && counted(before) > 0 && counted(before) == counted(next) && left(before) == 1 {
        // Given up, it would be over.
        return refuse(TimersError::ExpiresTooSoon, operations::LAST);
    }
    (next.status.tried, next.status.retries, next.status.since) = (false, 0, 0);
    let passed = match &before.status.recurrence {
        Some(r) => came_before(before, r, in_hand, now),
        None => in_hand.map_or_else(Vec::new, |at| vec![Passing { passed: Passed::one(at), reason: Reason::Updated }]),
    };
    let over = before.status.recurrence.as_ref().map(|r| r.after.max(r.trying).max(r.forced));
    if next.status.recurrence.is_some() {
        if let (Some(over), Some(r)) = (over, &before.status.recurrence) {
            edit(next, |recurrence| (recurrence.after, recurrence.lapses) = (recurrence.after.max(over), r.lapses));
        }
        if !to_next(next, now) {
            return refuse(TimersError::ExpiresTooSoon, "it has no further occurrence within its life");
        }
    } else if let Some(every) = distance_of(next) {
        if first_of(next) <= now.height {
            next.status.due = now.height + 1;
            if before.status.fire_seq > 0 && recurs(before) {
                next.status.due = next.status.due.max(last_try(before, now) + every);
            }
        }
        next.status.due = next.status.due.max(over.map_or(0, |over| over + 1));
    }
    Ok(passed)
}

/// The height at which a timer that repeats by heights fired last. Within its own handler it is not recorded yet.
fn last_try(timer: &Timer, now: Moment) -> u64 {
    match distance_of(timer) {
        Some(every) if timer.status.since == 0 && timer.status.due == now.height + every => now.height,
        _ => timer.status.last_outcome.as_ref().map_or(0, |outcome| outcome.height),
    }
}

/// The occurrence that a timer has in hand, whose own time has come: an instant of its clock.
pub(super) fn in_hand(timer: &Timer, now: Moment) -> Option<u64> {
    let Some(r) = timer.status.recurrence.as_ref().filter(|_| kind_of(timer) != Kind::Watch) else {
        return match kind_of(timer) {
            Kind::Watch => None,
            _ if by_time(timer) => {
                Some(timer.status.due_time as u64).filter(|_| timer.status.tried || timer.status.due_time <= now.time)
            }
            _ => Some(due_since(timer)).filter(|at| timer.status.tried || *at <= now.height),
        };
    };
    if timer.status.tried {
        return Some(r.trying);
    }
    if r.forced > 0 {
        return Some(r.forced);
    }
    series_of(timer, now).resolve(r.after).open
}

/// Whether another trigger has an occurrence too.
fn keeps(before: &Timer, next: &Timer, at: u64) -> bool {
    let interval = |timer: &Timer| trigger_of(timer).interval;
    if let (Some(a), Some(b)) = (interval(before), interval(next)) {
        if a.from == b.from && first_of(before) == first_of(next) {
            return true;
        }
    }
    let retried = before.status.tried && before.status.recurrence.is_none();
    if at == 0 || retried || by_time(before) != by_time(next) {
        return false;
    }
    if next.status.recurrence.is_none() {
        return interval(next).is_some() && first_of(next) == at;
    }
    series_of(next, Moment { height: 0, time: 0 }).rule.next(at - 1, at) == Some(at)
}

/// Keeps an occurrence in hand under another trigger, which may have other ones that have come: they are not its own.
/// Where only the latest fires, those before it have passed.
fn keep_in_hand(before: &Timer, next: &mut Timer, at: u64, now: Moment) -> Vec<Passing> {
    let mut passed = Vec::new();
    // One that was to fire once had no other.
    let alone = || Recurrence::with(|r| r.after = at - 1);
    let mut recurrence = before.status.recurrence.clone().unwrap_or_else(alone);
    let occurs = next.status.recurrence.is_some();
    if !before.status.tried && recurrence.forced == 0 {
        // Of each it is the oldest.
        if before.status.recurrence.is_some() && repeat_of(before).missed != Missed::Each {
            passed = series_of(before, now).passed_before(recurrence.after, at);
            passed.iter_mut().for_each(|p| p.reason = Reason::Later);
        }
        recurrence.after = at - 1;
        if occurs {
            next.status.recurrence = Some(recurrence.clone());
            if series_of(next, now).came(recurrence.after) != at {
                recurrence.forced = at;
            }
        }
    }
    next.status.recurrence = occurs.then_some(recurrence);
    passed
}

/// The occurrences that have come of a timer, up to the one in hand.
fn came_before(timer: &Timer, r: &Recurrence, in_hand: Option<u64>, now: Moment) -> Vec<Passing> {
    let series = series_of(timer, now);
    let at = in_hand.unwrap_or(0);
    let after = if timer.status.tried { r.after.max(at) } else { r.after };
    let after = operations::told(r, after);
    let came = series.came(after);
    let last = came.max(at);
    let latest = !series.each;
    let mut passed = match last {
        last if last <= after => Vec::new(),
        last if !latest => series.passed_before(after, last + 1),
        // Its owner had it run.
        last if last > series.now => series.passed_before(after, came.max(after) + 1),
        last => series.passed_before(after, last),
    };
    if timer.status.tried && (last > at || !latest) {
        // It was given up before those.
        match passed.first_mut() {
            Some(first) => (first.passed.first, first.passed.count) = (at, first.passed.count + 1),
            None => passed.push(Passing { passed: Passed::one(at), reason: Reason::Updated }),
        }
    }
    passed.iter_mut().for_each(|p| p.reason = if latest { Reason::Later } else { Reason::Updated });
    if latest && last > r.after {
        passed.push(Passing { passed: Passed::one(last), reason: Reason::Updated });
    }
    passed
}
