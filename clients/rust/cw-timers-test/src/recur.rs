//! When a timer is due, and due again: what the chain has in `x/timers/triggers`, but for jitter, which is drawn from
//! the chain's ids.

use cw_multi_test::error::{AnyError, AnyResult};
use cw_timers::proto::{
    CalendarTrigger, HoldReason, IntervalFrom, IntervalTrigger, Message, Missed, OccurrenceInfo, OccurrenceTerms,
    OnFailure, Recurrence, Renewal, ResumeAt, TimerInfo, Trigger,
};
use cw_timers::schedule::{Calendar, MAX_TIME};
use cw_timers::TimersError;

use crate::config::{Config, MAX_WATCH_KEYS};
use crate::store::Moment;
use crate::watch;

/// The chain counts the occurrences of cron up to this; more are "at least" so many.
const MAX_COUNT: u64 = 16;
const MAX_JITTER: u64 = 86_400;
/// What heights and distances never reach.
const MAX_BLOCKS: u64 = i64::MAX as u64;

pub(crate) fn refuse<T>(error: TimersError, why: impl Into<String>) -> AnyResult<T> {
    Err(AnyError::new(error).context(why.into()))
}

fn trigger_of(timer: &TimerInfo) -> Trigger {
    timer.trigger.clone().unwrap_or_default()
}

/// What makes a timer due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Time,
    Calendar,
    Watch,
    Interval,
    After,
    Height,
}

pub(crate) fn kind_of(timer: &TimerInfo) -> Kind {
    match &timer.trigger {
        Some(t) if t.time.is_some() => Kind::Time,
        Some(t) if t.calendar.is_some() => Kind::Calendar,
        Some(t) if t.watch.is_some() => Kind::Watch,
        Some(t) if t.interval.is_some() => Kind::Interval,
        Some(t) if t.after != 0 => Kind::After,
        _ => Kind::Height,
    }
}

/// Whether block time makes it due.
pub(crate) fn by_time(timer: &TimerInfo) -> bool {
    matches!(kind_of(timer), Kind::Time | Kind::Calendar)
}

/// Whether a fire may make it due again, retries left aside.
pub(crate) fn recurs(timer: &TimerInfo) -> bool {
    matches!(kind_of(timer), Kind::Calendar | Kind::Watch | Kind::Interval)
}

/// The last height at which it may fire, as far as heights bound its life.
pub(crate) fn last_height(timer: &TimerInfo) -> u64 {
    match timer.expires_at {
        0 => MAX_BLOCKS,
        height => height,
    }
}

pub(crate) fn expired(timer: &TimerInfo, now: Moment) -> bool {
    timer.expires_at != 0 && timer.expires_at < now.height || timer.expires_time != 0 && timer.expires_time < now.time
}

/// Whether it waits for somebody to resume it, for funds, or for its removal.
pub(crate) fn on_hold(timer: &TimerInfo) -> bool {
    use HoldReason::*;
    !matches!(timer.hold_reason, Unspecified | Timed | Watching)
}

/// How often its trigger makes it due from now on; 0 means until it expires.
fn repetitions(timer: &TimerInfo) -> u64 {
    match trigger_of(timer) {
        Trigger { calendar: Some(c), .. } => c.remaining,
        Trigger { interval: Some(i), .. } => i.remaining,
        Trigger { watch: Some(w), .. } => w.remaining,
        _ => 1,
    }
}

fn recount(timer: &mut TimerInfo, count: impl Fn(u64) -> u64) {
    let Some(trigger) = &mut timer.trigger else { return };
    if let Some(calendar) = &mut trigger.calendar {
        calendar.remaining = count(calendar.remaining);
    }
    if let Some(interval) = &mut trigger.interval {
        interval.remaining = count(interval.remaining);
    }
    if let Some(watch) = &mut trigger.watch {
        watch.remaining = count(watch.remaining);
    }
}

fn count_down(timer: &mut TimerInfo) {
    recount(timer, |remaining| remaining.saturating_sub(1));
}

/// What the trigger states of failed fires, and after how many in a row it suspends; 0 if it never does.
pub(crate) fn on_failure(timer: &TimerInfo) -> (OnFailure, u32) {
    let (stated, most) = match trigger_of(timer) {
        Trigger { interval: Some(i), .. } => (i.on_failure, i.max_failures),
        Trigger { calendar: Some(c), .. } => (c.on_failure, c.max_failures),
        _ => (OnFailure::Roll, 0),
    };
    (stated, if stated == OnFailure::Suspend { most.max(1) } else { 0 })
}

fn terms_of(timer: &TimerInfo) -> OccurrenceTerms {
    let stated = match trigger_of(timer) {
        Trigger { calendar: Some(c), .. } => c.occurrences,
        Trigger { interval: Some(i), .. } => i.occurrences,
        _ => None,
    };
    stated.unwrap_or_default()
}

/// Whether all occurrences that have come may fire.
pub(crate) fn each(timer: &TimerInfo) -> bool {
    terms_of(timer).missed == Missed::Each
}

// ---- preparing

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

fn wait_until(timer: &mut TimerInfo, seconds: i64, now: Moment) {
    (timer.hold_reason, timer.due_time, timer.due) = (HoldReason::Timed, seconds, now.height + 1);
}

/// Checks when a timer is due first, and its ends, or sets their defaults.
pub(crate) fn check_life(config: &Config, timer: &mut TimerInfo, now: Moment) -> AnyResult<()> {
    if timer.due <= now.height {
        return refuse(TimersError::HeightNotInFuture, format!("height {} is not above {}", timer.due, now.height));
    }
    let (last, last_time) = (now.height + config.max_ttl_blocks, now.time + config.max_ttl_seconds as i64);
    if by_time(timer) && timer.expires_time == 0 {
        timer.expires_time = last_time;
    }
    if timer.due > last {
        return refuse(TimersError::TTLTooLong, format!("due height {} is above {last}", timer.due));
    }
    if timer.expires_at == 0 && !by_time(timer) {
        timer.expires_at = last;
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
fn renew(config: &Config, timer: &mut TimerInfo, now: Moment) {
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

// ---- occurrences

/// Occurrences that may fire no more: all from the first to the last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Passed {
    pub first: u64,
    pub last: u64,
    pub count: u64,
}

impl Passed {
    fn through(mut self, last: u64, more: u64) -> Passed {
        if self.count == 0 && self.first == 0 {
            self.first = last;
        }
        (self.last, self.count) = (last, self.count + more);
        self
    }
}

/// The occurrences of a timer, in seconds or as heights.
enum Series {
    Seconds(Calendar),
    Blocks { first: u64, every: u64 },
}

fn signed(instant: u64) -> i64 {
    instant.min(MAX_TIME as u64) as i64
}

impl Series {
    fn next(&self, after: u64, horizon: u64) -> Option<u64> {
        match self {
            Series::Seconds(calendar) => calendar.next(signed(after), signed(horizon)).map(|at| at as u64),
            Series::Blocks { first, every } => {
                let next = if after < *first { *first } else { after + every - (after - first) % every };
                Some(next).filter(|next| *next <= horizon)
            }
        }
    }

    /// The last one up to now, if it is after an instant.
    fn latest(&self, after: u64, now: u64) -> Option<u64> {
        let latest = match self {
            Series::Seconds(calendar) => calendar.latest(signed(now))? as u64,
            Series::Blocks { first, every } if now >= *first => now - (now - first) % every,
            Series::Blocks { .. } => return None,
        };
        Some(latest).filter(|latest| *latest > after)
    }

    fn count(&self, after: u64, to: u64) -> u64 {
        match self {
            Series::Seconds(calendar) => calendar.count(signed(after), signed(to), MAX_COUNT).0,
            Series::Blocks { first, every } => {
                let up_to = |at: u64| if at < *first { 0 } else { (at - first) / every + 1 };
                if to <= after {
                    0
                } else {
                    up_to(to) - up_to(after)
                }
            }
        }
    }
}

/// What an instant makes of a timer's occurrences.
#[derive(Default)]
struct Resolution {
    /// The one that may fire.
    open: Option<u64>,
    /// The last instant at which it may.
    until: u64,
    /// They lie before the open one, and before the next.
    passed: Passed,
    /// The one after.
    next: Option<u64>,
}

fn resolve_by(series: &Series, terms: &OccurrenceTerms, end: u64, after: u64, now: u64) -> Resolution {
    let come = series.latest(after, now.min(end)).unwrap_or(after);
    let mut passed = after;
    if now > end {
        passed = come;
    } else if terms.window > 0 && now > terms.window {
        passed = series.latest(after, now - terms.window - 1).unwrap_or(after);
    }
    let (each, mut last) = (terms.missed == Missed::Each, passed);
    let mut r = Resolution::default();
    if come != passed {
        if each {
            last = series.next(passed, come).unwrap_or(come);
        } else {
            last = come;
            passed = series.latest(passed, come - 1).unwrap_or(passed);
        }
        r.open = Some(last);
    }
    if let Some(first) = series.next(after, passed) {
        r.passed = Passed { first, last: passed, count: series.count(after, passed) };
    }
    r.next = series.next(last, end);
    if let Some(open) = r.open {
        r.until = end;
        if terms.window > 0 && terms.window < end - open {
            r.until = open + terms.window;
        }
        if let (false, Some(next)) = (each, r.next) {
            r.until = r.until.min(next - 1);
        }
    }
    r
}

/// The occurrences of a timer, the last instant of its life, and the present one, by its own clock.
fn series_of(timer: &TimerInfo, now: Moment) -> (Series, u64, u64) {
    let trigger = trigger_of(timer);
    if let Some(calendar) = &trigger.calendar {
        let series = Calendar::try_from(calendar).expect("it was checked");
        return (Series::Seconds(series), timer.expires_time as u64, now.time as u64);
    }
    let interval = trigger.interval.expect("an interval from its schedule");
    let series = Series::Blocks { first: interval.first, every: interval.every };
    (series, last_height(timer), now.height)
}

fn resolve(timer: &TimerInfo, now: Moment) -> Resolution {
    let (series, end, at) = series_of(timer, now);
    let (terms, recurrence) = (terms_of(timer), timer.recurrence.clone().unwrap_or_default());
    if recurrence.forced == 0 {
        return resolve_by(&series, &terms, end, recurrence.after, at);
    }
    let after = resolve_by(&series, &terms, end, recurrence.forced, at);
    Resolution { open: Some(recurrence.forced), until: end, passed: Passed::default(), next: after.open.or(after.next) }
}

/// What a fire of a timer delivers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Occurrence {
    /// Whether it may fire now.
    pub open: bool,
    /// The occurrence whose fire failed may not be retried any more.
    pub over: bool,
    /// Its instant and its number; 0 if the trigger has none.
    pub at: u64,
    pub index: u64,
    until: u64,
    pub passed: Passed,
}

impl Occurrence {
    /// None has come yet.
    pub(crate) fn early(&self) -> bool {
        !self.open && !self.over && self.passed.count == 0
    }

    /// Whether it can't be retried at a moment any more.
    pub(crate) fn bounds_retry(&self, timer: &TimerInfo, at: Moment) -> bool {
        match self.until {
            0 => false,
            until if kind_of(timer) == Kind::Calendar => at.time as u64 > until,
            until => at.height > until,
        }
    }
}

/// What a fire of a ready timer delivers now.
pub(crate) fn occurrence(timer: &TimerInfo, now: Moment) -> Occurrence {
    if let Some(at) = timer.trigger.as_ref().and_then(|t| t.time.as_ref()) {
        return Occurrence { open: true, at: at.seconds as u64, index: 1, ..Occurrence::default() };
    }
    let Some(recurrence) = &timer.recurrence else { return Occurrence { open: true, ..Occurrence::default() } };
    let r = resolve(timer, now);
    let over = timer.retries > 0 && r.open != Some(recurrence.trying);
    Occurrence {
        open: r.open.is_some() && !over,
        over,
        at: r.open.unwrap_or(0),
        index: recurrence.deliveries + 1,
        until: r.until,
        passed: r.passed,
    }
}

fn set_due(timer: &mut TimerInfo, at: u64, now: Moment) {
    if kind_of(timer) != Kind::Calendar {
        (timer.hold_reason, timer.due) = (HoldReason::Unspecified, at.max(now.height + 1));
        return;
    }
    wait_until(timer, at as i64, now);
    if timer.due_time <= now.time {
        timer.hold_reason = HoldReason::Unspecified;
    }
}

/// Ends the retries of an occurrence, which counts as delivered. Whether the timer states further ones.
fn end_retries(timer: &mut TimerInfo) -> bool {
    if timer.retries == 0 {
        return true;
    }
    timer.retries = 0;
    let before = timer.recurrence.clone().unwrap_or_default();
    timer.recurrence = Some(Recurrence::with(|r| (r.after, r.deliveries) = (before.trying, before.deliveries + 1)));
    if repetitions(timer) == 1 {
        return false;
    }
    count_down(timer);
    true
}

fn edit(timer: &mut TimerInfo, change: impl FnOnce(&mut Recurrence)) {
    if let Some(recurrence) = &mut timer.recurrence {
        change(recurrence);
    }
}

/// Makes a timer due at its next occurrence, after those that may not fire any more. Whether there is one within its
/// life.
pub(crate) fn pass(timer: &mut TimerInfo, now: Moment) -> bool {
    let retried = timer.retries > 0;
    if !end_retries(timer) {
        return false;
    }
    let r = resolve(timer, now);
    if !retried && r.passed.count > 0 {
        edit(timer, |recurrence| {
            recurrence.lapses += 1;
            recurrence.after = r.passed.last;
        });
    }
    match r.open.or(r.next) {
        Some(at) => {
            set_due(timer, at, now);
            true
        }
        None => false,
    }
}

/// Makes a timer due at the first occurrence after the last that was delivered or has passed.
fn to_next(timer: &mut TimerInfo, now: Moment) -> AnyResult<()> {
    let r = resolve(timer, now);
    match r.open.or(r.next) {
        Some(at) => set_due(timer, at, now),
        None => return refuse(TimersError::ExpiresTooSoon, "it has no further occurrence within its life"),
    }
    Ok(())
}

/// The distance of an interval from its fires.
fn distance_of(timer: &TimerInfo) -> Option<u64> {
    let interval = timer.trigger.as_ref()?.interval.as_ref()?;
    (interval.from != IntervalFrom::Schedule).then_some(interval.every)
}

const LAST: &str = "its last repetition is being retried: resume it now, or cancel it";

/// Makes a timer that was on hold due again, and returns the occurrences that pass.
pub(crate) fn resume(timer: &mut TimerInfo, at: ResumeAt, now: Moment) -> AnyResult<Passed> {
    let next = at == ResumeAt::Next;
    if timer.recurrence.is_none() {
        resume_plain(timer, next, now)?;
        return Ok(Passed::default());
    }
    if timer.retries > 0 && !next {
        return Ok(Passed::default());
    }
    if !end_retries(timer) {
        return refuse(TimersError::ExpiresTooSoon, LAST);
    }
    let (series, end, at) = series_of(timer, now);
    let after = timer.recurrence.as_ref().map_or(0, |r| r.after);
    let r = resolve_by(&series, &OccurrenceTerms::default(), end, after, at);
    let Some(open) = r.open else {
        to_next(timer, now)?;
        return Ok(Passed::default());
    };
    if !next {
        edit(timer, |recurrence| {
            recurrence.forced = open;
            if r.passed.count > 0 {
                recurrence.after = r.passed.last;
            }
        });
        set_due(timer, open, now);
        return Ok(r.passed);
    }
    let passed = r.passed.through(open, 1);
    edit(timer, |recurrence| (recurrence.after, recurrence.forced) = (passed.last, 0));
    to_next(timer, now)?;
    Ok(passed)
}

fn resume_plain(timer: &mut TimerInfo, next: bool, now: Moment) -> AnyResult<()> {
    if !next || kind_of(timer) == Kind::Watch {
        return Ok(());
    }
    let Some(every) = distance_of(timer) else {
        return refuse(TimersError::UnsupportedTimerType, "it fires once, and has no next repetition");
    };
    if timer.due > now.height {
        return Ok(());
    }
    if every > last_height(timer) - now.height {
        return refuse(TimersError::ExpiresTooSoon, "its next repetition lies beyond its life");
    }
    (timer.due, timer.retries) = (now.height + every, 0);
    Ok(())
}

/// Lets the next occurrences of a timer pass, and returns them. One that is on hold stays so.
pub(crate) fn skip(timer: &mut TimerInfo, count: u64, now: Moment) -> AnyResult<Passed> {
    let hold = on_hold(timer).then_some(timer.hold_reason);
    if timer.recurrence.is_none() {
        let Some(every) = distance_of(timer) else {
            return refuse(TimersError::UnsupportedTimerType, "only a calendar or an interval has occurrences");
        };
        let last = last_height(timer);
        if timer.due > last || (last - timer.due) / every < count {
            return refuse(TimersError::ExpiresTooSoon, "they leave none within its life");
        }
        let passed = Passed { first: timer.due, last: timer.due + every * (count - 1), count };
        (timer.due, timer.retries) = (timer.due + every * count, 0);
        return Ok(passed);
    }
    if !end_retries(timer) {
        return refuse(TimersError::ExpiresTooSoon, LAST);
    }
    let r = resolve(timer, now);
    let (series, end, _) = series_of(timer, now);
    let first = r.open.or(r.next);
    let mut last = first;
    for _ in 1..count {
        last = last.and_then(|at| series.next(at, end));
    }
    let (Some(first), Some(last)) = (first, last) else {
        return refuse(TimersError::ExpiresTooSoon, format!("it has not {count} more occurrences within its life"));
    };
    edit(timer, |recurrence| (recurrence.after, recurrence.forced) = (last, 0));
    let mut passed = r.passed;
    if passed.count == 0 {
        passed.first = first;
    }
    to_next(timer, now)?;
    if let Some(reason) = hold {
        timer.hold_reason = reason;
    }
    Ok(passed.through(last, count))
}

/// Makes the next occurrence of a timer due in the next block, and returns those that have passed before.
pub(crate) fn run(timer: &mut TimerInfo, now: Moment) -> AnyResult<Passed> {
    if timer.recurrence.is_none() {
        if distance_of(timer).is_none() {
            return refuse(TimersError::UnsupportedTimerType, "only a calendar or an interval has an occurrence");
        }
        timer.due = now.height + 1;
        return Ok(Passed::default());
    }
    let r = resolve(timer, now);
    let Some(forced) = r.open.or(r.next) else {
        return refuse(TimersError::ExpiresTooSoon, "it has no further occurrence within its life");
    };
    edit(timer, |recurrence| {
        recurrence.forced = forced;
        if r.passed.count > 0 {
            recurrence.after = r.passed.last;
        }
    });
    (timer.hold_reason, timer.due) = (HoldReason::Unspecified, now.height + 1);
    if timer.due_time > now.time {
        timer.due_time = now.time.max(1);
    }
    Ok(r.passed)
}

/// Makes the timer due again after a fire, one repetition on, and reports whether it is. `guarded`: its handler is not
/// run, and since only deliveries count, nothing is counted, unless the repetition was delivered by its first try.
pub(crate) fn roll(config: &Config, timer: &mut TimerInfo, guarded: bool, now: Moment) -> bool {
    if guarded && timer.retries == 0 {
        recount(timer, |remaining| if remaining == 0 { 0 } else { remaining.saturating_add(1) });
        edit(timer, |recurrence| recurrence.deliveries = recurrence.deliveries.wrapping_sub(1));
    }
    renew(config, timer, now);
    timer.skips = 0;
    if expired(timer, now) {
        return false;
    }
    timer.retries = 0;
    timer.fire_seq += 1;
    if !recurs(timer) || repetitions(timer) == 1 {
        return false;
    }
    count_down(timer);
    let left = last_height(timer) - now.height;
    match kind_of(timer) {
        Kind::Watch => {
            let cooldown = timer.trigger.as_ref().and_then(|t| t.watch.as_ref()).map_or(0, |w| w.cooldown);
            (timer.hold_reason, timer.due) = (HoldReason::Watching, now.height + cooldown.max(1));
            cooldown.max(1) <= left
        }
        Kind::Interval if timer.recurrence.is_none() => {
            let every = distance_of(timer).unwrap_or(0);
            timer.due = now.height + every;
            every <= left
        }
        _ => deliver(timer, now),
    }
}

/// Notes that the open occurrence is delivered, and makes the timer due at the next one.
fn deliver(timer: &mut TimerInfo, now: Moment) -> bool {
    let r = resolve(timer, now);
    let (Some(open), Some(next)) = (r.open, r.next) else { return false };
    let deliveries = timer.recurrence.as_ref().map_or(0, |r| r.deliveries).wrapping_add(1);
    timer.recurrence = Some(Recurrence::with(|r| (r.after, r.deliveries) = (open, deliveries)));
    set_due(timer, next, now);
    true
}

/// Gives a timer another trigger, checked as at scheduling.
pub(crate) fn replace(config: &Config, timer: &mut TimerInfo, trigger: Trigger, now: Moment) -> AnyResult<()> {
    let before = timer.clone();
    if trigger.watch.is_some() && Some(&trigger) == before.trigger.as_ref() {
        return Ok(());
    }
    (timer.trigger, timer.recurrence, timer.hold_reason) = (Some(trigger), None, HoldReason::Unspecified);
    (timer.due_time, timer.retries, timer.failures, timer.skips) = (0, 0, 0, 0);
    prepare(config, timer, now)?;
    let (from, to) = (kind_of(&before), kind_of(timer));
    if recurs(&before) && (from != to || before.recurrence.is_some() != timer.recurrence.is_some()) {
        return refuse(TimersError::UnsupportedTimerType, format!("it repeats by {from:?}, and not by {to:?}"));
    }
    check_life(config, timer, now)?;
    if timer.recurrence.is_some() {
        if let Some(r) = &before.recurrence {
            edit(timer, |recurrence| {
                recurrence.after = recurrence.after.max(r.after).max(r.trying);
                recurrence.deliveries = r.deliveries + u64::from(before.retries > 0);
            });
        }
        to_next(timer, now)?;
    }
    let back_by_itself = [HoldReason::Unfunded, HoldReason::PricedOut].contains(&before.hold_reason);
    if on_hold(&before) && !back_by_itself {
        timer.hold_reason = before.hold_reason;
    }
    Ok(())
}

/// Keeps the retries of a timer within what it states now.
pub(crate) fn limit_retries(timer: &mut TimerInfo) {
    match &timer.retry {
        _ if timer.retries == 0 => {}
        Some(retry) => timer.retries = timer.retries.min(retry.max),
        None => {
            timer.retries = 0;
            edit(timer, |recurrence| recurrence.trying = 0);
        }
    }
}

/// At most so many occurrences that a timer has from a moment on, and whether there are more within its life.
pub(crate) fn upcoming(timer: &TimerInfo, now: Moment, limit: u64) -> (Vec<OccurrenceInfo>, bool) {
    let one = |at: u64| OccurrenceInfo::with(|o| (o.at, o.due) = (at, at));
    let left = repetitions(timer);
    if recurs(timer) && left > 0 && left <= limit {
        let mut endless = timer.clone();
        recount(&mut endless, |_| 0);
        return (upcoming(&endless, now, left).0, false);
    }
    let mut found = Vec::new();
    match kind_of(timer) {
        Kind::Watch => return (found, false),
        Kind::Time => return (vec![one(timer.due_time as u64)], false),
        Kind::After | Kind::Height => return (vec![one(timer.due)], false),
        Kind::Calendar | Kind::Interval => {}
    }
    if let Some(every) = distance_of(timer) {
        let mut due = timer.due;
        while due <= last_height(timer) {
            if found.len() as u64 == limit {
                return (found, true);
            }
            found.push(one(due));
            due += every;
        }
        return (found, false);
    }
    let (mut next, mut now) = (timer.clone(), now);
    loop {
        let r = resolve(&next, now);
        let Some(at) = r.open.or(r.next) else { return (found, false) };
        if found.len() as u64 == limit {
            return (found, true);
        }
        found.push(one(at));
        next.recurrence = Some(Recurrence::with(|r| r.after = at));
        now = Moment { height: at, time: at as i64 };
    }
}
