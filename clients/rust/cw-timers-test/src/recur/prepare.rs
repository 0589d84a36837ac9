//! Checks the trigger of a timer and its life, and fills in their defaults: what the chain has in `x/timers/triggers`.

use cw_multi_test::error::AnyResult;
use cw_timers::proto::{
    CalendarTrigger, HoldReason, IntervalFrom, IntervalTrigger, Message, Missed, OccurrenceTerms, OnFailure,
    Recurrence, Renewal, TimerInfo, Trigger,
};
use cw_timers::schedule::{Calendar, MAX_TIME};
use cw_timers::TimersError;

use super::{by_time, kind_of, refuse, trigger_of, wait_until, Kind};
use crate::config::{Config, MAX_WATCH_KEYS};
use crate::store::Moment;
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

fn check_terms(terms: &Option<OccurrenceTerms>) -> AnyResult<()> {
    let Some(terms) = terms else { return Ok(()) };
    let known = !matches!(terms.missed, Missed::Unrecognized(_));
    if !known || terms.window > MAX_TIME as u64 || terms.jitter > MAX_JITTER {
        return refuse(TimersError::InvalidCalendar, "missed, window or jitter is out of bounds");
    }
    assert!(terms.jitter == 0, "cw-timers-test does not model jitter, which is drawn from the chain's own ids");
    Ok(())
}

fn check_calendar(calendar: &CalendarTrigger) -> AnyResult<Calendar> {
    let series = match Calendar::try_from(calendar) {
        Ok(series) => series,
        Err(err) => return refuse(TimersError::InvalidCalendar, err.to_string()),
    };
    if matches!(calendar.on_failure, OnFailure::Unrecognized(_)) {
        return refuse(TimersError::InvalidCalendar, "want roll, stop or suspend");
    }
    check_terms(&calendar.occurrences)?;
    Ok(series)
}

fn check_interval(interval: &IntervalTrigger, config: &Config) -> AnyResult<()> {
    if interval.every == 0 || interval.every > config.max_ttl_blocks {
        return refuse(TimersError::InvalidInterval, format!("every is {}", interval.every));
    }
    if matches!(interval.on_failure, OnFailure::Unrecognized(_)) {
        return refuse(TimersError::InvalidInterval, "want roll, stop or suspend");
    }
    if matches!(interval.from, IntervalFrom::Unrecognized(_)) {
        return refuse(TimersError::InvalidInterval, "want from fire or schedule");
    }
    if interval.occurrences.is_some() && interval.from != IntervalFrom::Schedule {
        return refuse(TimersError::InvalidInterval, "occurrences are those of an interval from its schedule");
    }
    check_terms(&interval.occurrences)
}

/// Checks the trigger of a timer that is scheduled now, fills in its defaults, and sets when the timer is due.
pub(crate) fn prepare(config: &Config, timer: &mut TimerInfo, now: Moment) -> AnyResult<()> {
    let mut trigger = trigger_of(timer);
    check_at_most_one(&trigger)?;
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
            let calendar = trigger.calendar.as_mut().expect("a calendar");
            if let Some(every) = calendar.every.as_mut().filter(|every| every.anchor == 0) {
                every.anchor = now.time;
            }
            if calendar.on_failure == OnFailure::Unspecified {
                calendar.on_failure = OnFailure::Roll;
            }
            let series = check_calendar(calendar)?;
            timer.trigger = Some(trigger);
            let Some(first) = series.next(now.time, now.time + config.max_ttl_seconds as i64) else {
                return refuse(TimersError::InvalidCalendar, "it has no occurrence within the longest life");
            };
            timer.recurrence = Some(Recurrence::with(|r| r.after = now.time as u64));
            wait_until(timer, first, now);
        }
        Kind::Watch => {
            let watched = trigger.watch.expect("a watch");
            watch::check(&watched, MAX_WATCH_KEYS, config.max_ttl_blocks)?;
            (timer.hold_reason, timer.due) = (HoldReason::Watching, now.height + 1);
        }
        Kind::Interval => {
            let interval = trigger.interval.as_mut().expect("an interval");
            check_interval(interval, config)?;
            if interval.first == 0 {
                interval.first = now.height + interval.every;
            }
            if interval.on_failure == OnFailure::Unspecified {
                interval.on_failure = OnFailure::Roll;
            }
            timer.due = interval.first;
            if interval.from == IntervalFrom::Schedule {
                timer.recurrence = Some(Recurrence::with(|r| r.after = now.height));
            }
            timer.trigger = Some(trigger);
        }
        Kind::After => {
            if trigger.after > config.max_ttl_blocks {
                return refuse(TimersError::TTLTooLong, format!("after is {}", trigger.after));
            }
            timer.due = now.height + trigger.after;
        }
        Kind::Height => timer.due = trigger.height,
    }
    Ok(())
}

fn check_time_triggers(config: &Config) -> AnyResult<()> {
    match config.time_triggers {
        true => Ok(()),
        false => refuse(TimersError::UnsupportedTimerType, "this chain takes no triggers by time"),
    }
}

/// Checks when a timer is due first, and its ends, or sets their defaults.
pub(crate) fn check_life(config: &Config, timer: &mut TimerInfo, now: Moment) -> AnyResult<()> {
    if timer.due <= now.height {
        return refuse(TimersError::HeightNotInFuture, format!("height {} is not above {}", timer.due, now.height));
    }
    let (last, last_time) = (now.height + config.max_ttl_blocks, now.time + config.max_ttl_seconds as i64);
    default_end(config, timer, now);
    if timer.due > last {
        return refuse(TimersError::TTLTooLong, format!("due height {} is above {last}", timer.due));
    }
    if timer.expires_at > last {
        return refuse(TimersError::TTLTooLong, format!("expires_at {} is above {last}", timer.expires_at));
    }
    if timer.expires_at != 0 && timer.expires_at < timer.due {
        return refuse(TimersError::ExpiresTooSoon, format!("expires_at is below the due height {}", timer.due));
    }
    if timer.expires_time == 0 {
        return Ok(());
    }
    if timer.expires_time <= now.time {
        return refuse(TimersError::ExpiresTooSoon, format!("expires_time is {}", timer.expires_time));
    }
    if timer.expires_time > last_time {
        return refuse(TimersError::TTLTooLong, format!("expires_time is after {last_time}"));
    }
    if timer.expires_time < timer.due_time {
        return refuse(TimersError::ExpiresTooSoon, format!("expires_time is before {}", timer.due_time));
    }
    Ok(())
}

/// As late as the config allows, in the clock of the trigger.
pub(super) fn default_end(config: &Config, timer: &mut TimerInfo, now: Moment) {
    match by_time(timer) {
        true if timer.expires_time == 0 => timer.expires_time = now.time + config.max_ttl_seconds as i64,
        false if timer.expires_at == 0 => timer.expires_at = now.height + config.max_ttl_blocks,
        _ => {}
    }
}

/// Notes the life that a timer renews itself by: from now to its ends.
pub(crate) fn note_life(timer: &mut TimerInfo, now: Moment) {
    if timer.renewal.is_none() {
        return;
    }
    timer.renewal = Some(Renewal::with(|r| {
        if timer.expires_at > 0 {
            r.blocks = timer.expires_at - now.height;
        }
        if timer.expires_time > 0 {
            r.seconds = (timer.expires_time - now.time) as u64;
        }
    }));
}

/// Gives a timer its life again.
pub(super) fn renew(config: &Config, timer: &mut TimerInfo, now: Moment) {
    let Some(renewal) = timer.renewal.clone() else { return };
    if renewal.blocks > 0 {
        timer.expires_at = timer.expires_at.max(now.height + renewal.blocks.min(config.max_ttl_blocks));
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
    timer.expires_time = timer.expires_time.max(ends);
}
