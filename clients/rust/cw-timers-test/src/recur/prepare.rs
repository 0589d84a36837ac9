//! Checks the trigger of a timer and its life, and fills in their defaults: what the chain has in `x/timers/triggers`.

use cw_multi_test::error::AnyResult;
use cw_timers::proto::{
    CalendarTrigger, IntervalFrom, IntervalTrigger, Message, Missed, OnFailure, OnUnfunded, Recurrence, Renewal,
    Repeat, TimerSpec, Trigger,
};
use cw_timers::schedule::{Calendar, MAX_TIME};
use cw_timers::TimersError;

use super::{anchored, by_time, first_of, kind_of, recurs, refuse, repeat_of, trigger_of, wait_until, Kind};
use crate::config::{Config, MAX_WATCH_KEYS};
use crate::store::{Moment, Timer};
use crate::watch;

const MAX_JITTER: u64 = 86_400;

/// Refuses a trigger that states several of its kinds.
fn check_at_most_one(t: &Trigger) -> AnyResult<()> {
    let stated =
        [t.height != 0, t.after != 0, t.interval.is_some(), t.time.is_some(), t.calendar.is_some(), t.watch.is_some()];
    let kinds = stated.iter().filter(|s| **s).count();
    if kinds <= 1 {
        return Ok(());
    }
    let in_blocks = t.interval.is_some() && kinds == 2 && (t.height != 0 || t.after != 0);
    let error = if in_blocks { TimersError::InvalidInterval } else { TimersError::UnsupportedTimerType };
    refuse(error, format!("{kinds} triggers are stated"))
}

/// A spec with its defaults left out, so that what means the same is the same.
pub(crate) fn canonical(mut spec: TimerSpec) -> TimerSpec {
    if let Some(repeat) = &mut spec.repeat {
        if repeat.missed == Missed::Latest {
            repeat.missed = Missed::Unspecified;
        }
        if repeat.on_failure == OnFailure::Roll {
            repeat.on_failure = OnFailure::Unspecified;
        }
    }
    spec.repeat = spec.repeat.filter(|repeat| *repeat != Repeat::default());
    if let Some(interval) = spec.trigger.as_mut().and_then(|t| t.interval.as_mut()) {
        if interval.from == IntervalFrom::Fire {
            interval.from = IntervalFrom::Unspecified;
        }
    }
    if spec.on_unfunded == OnUnfunded::Destroy {
        spec.on_unfunded = OnUnfunded::Unspecified;
    }
    spec
}

/// Checks what is stated of repetitions against the trigger.
fn check_repeat(timer: &Timer) -> AnyResult<()> {
    let (repeat, trigger) = (repeat_of(timer), trigger_of(timer));
    if repeat == Repeat::default() {
        return Ok(());
    }
    if !recurs(timer) {
        return refuse(TimersError::InvalidRepeat, "repeat is stated for a timer that fires once");
    }
    let fails = (repeat.on_failure, repeat.max_failures) != (OnFailure::Unspecified, 0);
    if trigger.watch.is_some() && fails {
        return refuse(TimersError::InvalidRepeat, "on_failure is for a calendar or an interval");
    }
    let from_schedule = trigger.interval.is_some_and(|i| i.from == IntervalFrom::Schedule);
    let terms = (repeat.missed, repeat.window, repeat.jitter) != (Missed::Unspecified, 0, 0);
    if trigger.calendar.is_none() && !from_schedule && terms {
        return refuse(TimersError::InvalidRepeat, "its occurrences are not known in advance");
    }
    if repeat.max_failures > 0 && repeat.on_failure != OnFailure::Suspend {
        return refuse(TimersError::InvalidRepeat, "max_failures is stated without suspend");
    }
    let unknown = matches!(repeat.missed, Missed::Unrecognized(_));
    if unknown || matches!(repeat.on_failure, OnFailure::Unrecognized(_)) {
        return refuse(TimersError::InvalidRepeat, "missed or on_failure is unknown");
    }
    if repeat.window > MAX_TIME as u64 || repeat.jitter > MAX_JITTER {
        return refuse(TimersError::InvalidRepeat, "window or jitter is out of bounds");
    }
    assert!(repeat.jitter == 0, "cw-timers-test does not model jitter, which is drawn from the chain's own ids");
    Ok(())
}

fn check_calendar(calendar: &CalendarTrigger) -> AnyResult<()> {
    match Calendar::try_from(calendar) {
        Ok(_) => Ok(()),
        Err(err) => refuse(TimersError::InvalidCalendar, err.to_string()),
    }
}

fn check_interval(interval: &IntervalTrigger, config: &Config) -> AnyResult<()> {
    if interval.every == 0 || interval.every > config.max_ttl_blocks {
        return refuse(TimersError::InvalidInterval, format!("every is {}", interval.every));
    }
    if matches!(interval.from, IntervalFrom::Unrecognized(_)) {
        return refuse(TimersError::InvalidInterval, "want from fire or schedule");
    }
    Ok(())
}

/// Checks the trigger of a timer that is scheduled now, fills in its defaults, and sets when the timer is due.
pub(crate) fn prepare(config: &Config, timer: &mut Timer, now: Moment) -> AnyResult<()> {
    let trigger = trigger_of(timer);
    check_at_most_one(&trigger)?;
    timer.status.start = 0;
    match kind_of(timer) {
        Kind::Time => {
            let at = trigger.time.unwrap_or_default();
            check_time_triggers(config)?;
            if at.nanos != 0 || at.seconds <= now.time {
                return refuse(TimersError::InvalidTime, format!("time {}, now is {}", at.seconds, now.time));
            }
            let last = now.time + config.max_ttl_seconds as i64;
            if at.seconds > last {
                return refuse(TimersError::TTLTooLong, format!("time {} is after {last}", at.seconds));
            }
            wait_until(timer, at.seconds, now);
        }
        Kind::Calendar => {
            check_time_triggers(config)?;
            let calendar = trigger.calendar.expect("a calendar");
            check_calendar(&calendar)?;
            if calendar.every.is_some_and(|every| every.anchor == 0) {
                timer.status.start = now.time as u64;
            }
            let series = Calendar::try_from(&anchored(timer).expect("a calendar")).expect("it was checked");
            let Some(first) = series.next(now.time, now.time + config.max_ttl_seconds as i64) else {
                return refuse(TimersError::InvalidCalendar, "it has no occurrence within the longest life");
            };
            timer.status.recurrence = Some(Recurrence::with(|r| r.after = now.time as u64));
            wait_until(timer, first, now);
        }
        Kind::Watch => {
            let watched = trigger.watch.expect("a watch");
            watch::check(&watched, MAX_WATCH_KEYS, config.max_ttl_blocks)?;
            super::watch_from(timer, now.height + 1, true);
        }
        Kind::Interval => {
            let interval = trigger.interval.expect("an interval");
            check_interval(&interval, config)?;
            if interval.first == 0 {
                timer.status.start = now.height + interval.every;
            }
            timer.status.due = first_of(timer);
            if interval.from == IntervalFrom::Schedule {
                timer.status.recurrence = Some(Recurrence::with(|r| r.after = now.height));
            }
        }
        Kind::After => {
            if trigger.after > config.max_ttl_blocks {
                return refuse(TimersError::TTLTooLong, format!("after is {}", trigger.after));
            }
            timer.status.due = now.height + trigger.after;
        }
        Kind::Height => timer.status.due = trigger.height,
    }
    check_repeat(timer)
}

fn check_time_triggers(config: &Config) -> AnyResult<()> {
    match config.time_triggers {
        true => Ok(()),
        false => refuse(TimersError::UnsupportedTimerType, "this chain takes no triggers by time"),
    }
}

/// Checks when a timer is due first, and its end, or sets the default.
pub(crate) fn check_life(config: &Config, timer: &mut Timer, now: Moment) -> AnyResult<()> {
    let (due, last) = (timer.status.due, now.height + config.max_ttl_blocks);
    if due <= now.height {
        return refuse(TimersError::HeightNotInFuture, format!("height {due} is not above {}", now.height));
    }
    if due > last {
        return refuse(TimersError::TTLTooLong, format!("due height {due} is above {last}"));
    }
    check_end(config, timer, now)
}

/// An end is in the clock of the trigger: of a watch either, one of them.
pub(crate) fn check_clock(timer: &Timer, height: u64, seconds: i64) -> AnyResult<()> {
    let watches = kind_of(timer) == Kind::Watch;
    let wrong = match by_time(timer) {
        true => height != 0,
        false if watches => height != 0 && seconds != 0,
        false => seconds != 0,
    };
    match wrong {
        true => refuse(TimersError::InvalidEnd, format!("expires_at {height} and expires_time {seconds}")),
        false => Ok(()),
    }
}

/// Checks the end of a timer, in the clock of its trigger, or sets the default.
pub(crate) fn check_end(config: &Config, timer: &mut Timer, now: Moment) -> AnyResult<()> {
    check_clock(timer, timer.status.expires_at, timer.status.expires_time)?;
    default_end(config, timer, now);
    let (last, last_time) = (now.height + config.max_ttl_blocks, now.time + config.max_ttl_seconds as i64);
    let status = &timer.status;
    if status.expires_at > last {
        return refuse(TimersError::TTLTooLong, format!("expires_at {} is above {last}", status.expires_at));
    }
    if status.expires_at != 0 && (status.expires_at <= now.height || status.expires_at < status.due) {
        return refuse(TimersError::ExpiresTooSoon, format!("expires_at is below the due height {}", status.due));
    }
    if status.expires_time == 0 {
        return Ok(());
    }
    if status.expires_time <= now.time {
        return refuse(TimersError::ExpiresTooSoon, format!("expires_time is {}", status.expires_time));
    }
    if status.expires_time > last_time {
        return refuse(TimersError::TTLTooLong, format!("expires_time is after {last_time}"));
    }
    if status.expires_time < status.due_time {
        return refuse(TimersError::ExpiresTooSoon, format!("expires_time is before {}", status.due_time));
    }
    Ok(())
}

/// As late as the config allows, in the clock of the trigger.
pub(super) fn default_end(config: &Config, timer: &mut Timer, now: Moment) {
    match by_time(timer) {
        true if timer.status.expires_time == 0 => timer.status.expires_time = now.time + config.max_ttl_seconds as i64,
        false if (timer.status.expires_at, timer.status.expires_time) == (0, 0) => {
            timer.status.expires_at = now.height + config.max_ttl_blocks
        }
        _ => {}
    }
}

/// Notes the life that an end gives which is stated now: a timer that repeats may renew itself by it, from now on or later.
pub(crate) fn note_life(timer: &mut Timer, now: Moment) {
    let status = &timer.status;
    let life = Renewal::with(|r| match status.expires_at {
        0 => r.seconds = (status.expires_time - now.time) as u64,
        height => r.blocks = height - now.height,
    });
    timer.status.renewal = recurs(timer).then_some(life);
}

/// Gives a timer its life again.
pub(super) fn renew(config: &Config, timer: &mut Timer, now: Moment) {
    let Some(renewal) = timer.status.renewal.clone().filter(|_| repeat_of(timer).renew) else { return };
    if renewal.blocks > 0 {
        timer.status.expires_at = timer.status.expires_at.max(now.height + renewal.blocks.min(config.max_ttl_blocks));
    }
    if renewal.seconds == 0 {
        return;
    }
    let mut ends = now.time + renewal.seconds.min(config.max_ttl_seconds) as i64;
    // A calendar whose zone may change after its last transition lives no longer than that.
    let calendar = trigger_of(timer).calendar.filter(|c| !c.offset_final);
    if let Some(last) = calendar.and_then(|c| c.transitions.last().map(|t| t.from)) {
        ends = ends.min(last - 1);
    }
    timer.status.expires_time = timer.status.expires_time.max(ends);
}
