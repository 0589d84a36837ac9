//! What comes next of a timer: after a fire, after what its owner asks for, and when the block has come in which an
//! occurrence may fire no more. It is pure, and what the chain has in `x/timers/recurrence` and `x/timers/triggers`, but
//! for jitter, which is drawn from the chain's ids: without it an occurrence is due at its own time.
//!
//! An occurrence is in hand from its time on until it is over: delivered, or passed. One that was tried by a fire that
//! failed is over when it may be tried no more.

mod after;
mod operations;
mod prepare;
#[cfg(test)]
mod tests;
mod update;

use cw_multi_test::error::{AnyError, AnyResult};
use cw_timers::proto::{
    CalendarTrigger, HoldReason, IntervalFrom, Message, Missed, OccurrenceInfo, OnFailure, Recurrence, Repeat, Trigger,
};
use cw_timers::schedule::{Calendar, MAX_TIME};
use cw_timers::TimersError;

use crate::config::{CALENDAR_CYCLES, LOOK_CYCLES};
use crate::store::{Moment, Reason, Timer};
use crate::watch;

pub(crate) use after::{after, Next, Outcome, Turn};
pub(crate) use operations::{paused_at, resume, run, skip};
pub(crate) use prepare::{canonical, check_clock, check_end, check_life, note_life, prepare};
pub(crate) use update::{replace, same, watches_the_same};

/// The chain counts the occurrences of cron up to this; more are "at least" so many.
const MAX_COUNT: u64 = 16;
/// What heights and distances never reach.
const MAX_BLOCKS: u64 = i64::MAX as u64;

pub(crate) fn refuse<T>(error: TimersError, why: impl Into<String>) -> AnyResult<T> {
    Err(AnyError::new(error).context(why.into()))
}

fn trigger_of(timer: &Timer) -> Trigger {
    timer.spec.trigger.clone().unwrap_or_default()
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

pub(crate) fn kind_of(timer: &Timer) -> Kind {
    match &timer.spec.trigger {
        Some(t) if t.time.is_some() => Kind::Time,
        Some(t) if t.calendar.is_some() => Kind::Calendar,
        Some(t) if t.watch.is_some() => Kind::Watch,
        Some(t) if t.interval.is_some() => Kind::Interval,
        Some(t) if t.after != 0 => Kind::After,
        _ => Kind::Height,
    }
}

/// Whether block time makes it due.
pub(crate) fn by_time(timer: &Timer) -> bool {
    matches!(kind_of(timer), Kind::Time | Kind::Calendar)
}

/// Whether a fire may make it due again, retries left aside.
pub(crate) fn recurs(timer: &Timer) -> bool {
    matches!(kind_of(timer), Kind::Calendar | Kind::Watch | Kind::Interval)
}

/// The last height at which it may fire, as far as heights bound its life.
pub(crate) fn last_height(timer: &Timer) -> u64 {
    match timer.status.expires_at {
        0 => MAX_BLOCKS,
        height => height,
    }
}

pub(crate) fn expired(timer: &Timer, now: Moment) -> bool {
    timer.status.expires_at != 0 && timer.status.expires_at < now.height
        || timer.status.expires_time != 0 && timer.status.expires_time < now.time
}

/// Whether it waits for somebody to resume it, for funds, or for its removal.
pub(crate) fn on_hold(timer: &Timer) -> bool {
    use HoldReason::*;
    !matches!(timer.status.hold_reason, Unspecified | Timed | Watching)
}

/// Whether it is on hold until its payer or the prices let it fire, or the config can run it.
pub(crate) fn returns_by_itself(timer: &Timer) -> bool {
    use HoldReason::*;
    matches!(timer.status.hold_reason, Unfunded | PricedOut | Unrunnable)
}

/// What a fire counts for its trigger, in addition to its other intrinsic cycles: that by time is moved when its time comes,
/// and the conditions of a watch with level are looked at after it.
pub(crate) fn trigger_cycles(timer: &Timer) -> u64 {
    match &timer.spec.trigger {
        _ if by_time(timer) => CALENDAR_CYCLES,
        Some(Trigger { watch: Some(watch), .. }) if watch.level => LOOK_CYCLES * watch::conditions(watch),
        _ => 0,
    }
}

/// Lets a watch wait for changes from a height on. If it has conditions and `look` says so, they are looked at there first.
pub(crate) fn watch_from(timer: &mut Timer, from: u64, look: bool) {
    let conditions = timer.spec.trigger.as_ref().and_then(|t| t.watch.as_ref()).map_or(0, watch::conditions);
    (timer.status.hold_reason, timer.status.due) = (HoldReason::Watching, from);
    timer.look = (look && conditions > 0).then_some(from);
}

/// The height at which it became due this time, from which its rank and its lateness count.
pub(crate) fn due_since(timer: &Timer) -> u64 {
    match timer.status.since {
        0 => timer.status.due,
        since => since,
    }
}

/// Gives a timer that is due a later place in the queue. What counts from its due height goes on from that.
pub(crate) fn place_at(timer: &mut Timer, due: u64) {
    if due > timer.status.due {
        (timer.status.since, timer.status.due) = (due_since(timer), due);
    }
}

/// What it states of its occurrences.
fn repeat_of(timer: &Timer) -> Repeat {
    timer.spec.repeat.clone().unwrap_or_default()
}

/// How often it is to be delivered; 0 means until it expires.
fn repetitions(timer: &Timer) -> u64 {
    match recurs(timer) {
        true => repeat_of(timer).remaining,
        false => 1,
    }
}

/// How many deliveries are left of those that are stated, the one in hand included; 0 if they are not counted.
pub(crate) fn left(timer: &Timer) -> u64 {
    let left = repetitions(timer);
    if left == 0 || !recurs(timer) {
        return left;
    }
    let made = timer.status.deliveries - timer.counted;
    left.saturating_sub(made.saturating_sub(u64::from(timer.status.tried)))
}

/// Counts what is stated of repetitions from now on, the one in hand included.
fn count_anew(timer: &mut Timer) {
    timer.counted = timer.status.deliveries - u64::from(timer.status.tried);
}

/// What it states of failed fires, and after how many in a row it is suspended; 0 if it never is.
pub(crate) fn on_failure(timer: &Timer) -> (OnFailure, u32) {
    let Repeat { on_failure: stated, max_failures: most, .. } = repeat_of(timer);
    (stated, if stated == OnFailure::Suspend { most.max(1) } else { 0 })
}

/// The first height of an interval, where it begins if it leaves that open.
fn first_of(timer: &Timer) -> u64 {
    match timer.spec.trigger.as_ref().and_then(|t| t.interval.as_ref()) {
        Some(interval) if interval.first != 0 => interval.first,
        _ => timer.status.start,
    }
}

/// A calendar, with the anchor at which it begins if it leaves that open.
fn anchored(timer: &Timer) -> Option<CalendarTrigger> {
    let mut calendar = trigger_of(timer).calendar?;
    if let Some(every) = calendar.every.as_mut().filter(|every| every.anchor == 0) {
        every.anchor = timer.status.start as i64;
    }
    Some(calendar)
}

/// Why occurrences before the one that fires have passed.
fn later_or(timer: &Timer, reason: Reason) -> Reason {
    match repeat_of(timer).missed {
        Missed::Each => reason,
        _ => Reason::Later,
    }
}

/// Occurrences that may fire no more: all from the first to the last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Passed {
    pub first: u64,
    pub last: u64,
    pub count: u64,
}

/// Occurrences that have passed without a fire, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Passing {
    pub passed: Passed,
    pub reason: Reason,
}

impl Passed {
    fn one(at: u64) -> Passed {
        Passed { first: at, last: at, count: 1 }
    }

    /// These, and so many more up to another.
    fn through(mut self, last: u64, more: u64) -> Passed {
        if self.count == 0 {
            self.first = last;
        }
        (self.last, self.count) = (last, self.count + more);
        self
    }
}

/// The occurrences of a rule, in seconds or as heights.
enum Rule {
    Seconds(Calendar),
    Blocks { first: u64, every: u64 },
}

fn signed(instant: u64) -> i64 {
    instant.min(MAX_TIME as u64) as i64
}

impl Rule {
    fn next(&self, after: u64, horizon: u64) -> Option<u64> {
        match self {
            Rule::Seconds(calendar) => calendar.next(signed(after), signed(horizon)).map(|at| at as u64),
            Rule::Blocks { first, every } => {
                let next = if after < *first { *first } else { after + every - (after - first) % every };
                Some(next).filter(|next| *next <= horizon)
            }
        }
    }

    /// The last one up to now, if it is after an instant.
    fn latest(&self, after: u64, now: u64) -> Option<u64> {
        let latest = match self {
            Rule::Seconds(calendar) => calendar.latest(signed(now))? as u64,
            Rule::Blocks { first, every } if now >= *first => now - (now - first) % every,
            Rule::Blocks { .. } => return None,
        };
        Some(latest).filter(|latest| *latest > after)
    }

    fn count(&self, after: u64, to: u64) -> u64 {
        match self {
            Rule::Seconds(calendar) => calendar.count(signed(after), signed(to), MAX_COUNT).0,
            Rule::Blocks { first, every } => {
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
    /// They lie before the open one, and before the next.
    passed: Passed,
    /// The one after.
    next: Option<u64>,
}

/// The occurrences of a timer, measured by its clock.
struct Series {
    rule: Rule,
    each: bool,
    /// 0 if there is none.
    window: u64,
    /// The last instant of its life.
    end: u64,
    /// It is delivered whatever its window; 0 if there is none.
    forced: u64,
    /// The present instant.
    now: u64,
}

/// Those of a timer that has some.
fn series_of(timer: &Timer, now: Moment) -> Series {
    let stated = repeat_of(timer);
    let (rule, end, now) = match anchored(timer) {
        Some(calendar) => {
            let calendar = Calendar::try_from(&calendar).expect("it was checked");
            (Rule::Seconds(calendar), timer.status.expires_time as u64, now.time as u64)
        }
        None => {
            let interval = trigger_of(timer).interval.expect("an interval from its schedule");
            (Rule::Blocks { first: first_of(timer), every: interval.every }, last_height(timer), now.height)
        }
    };
    let forced = timer.status.recurrence.as_ref().map_or(0, |r| r.forced);
    Series { rule, each: stated.missed == Missed::Each, window: stated.window, end, forced, now }
}

impl Series {
    /// What the present instant makes of the occurrences after another.
    fn resolve(&self, after: u64) -> Resolution {
        match self.forced {
            0 => self.resolve_by_time(after),
            forced => {
                let following = self.resolve_by_time(forced);
                let (open, passed) = (Some(forced), Passed::default());
                Resolution { open, passed, next: following.open.or(following.next) }
            }
        }
    }

    /// The same without windows: what has come is in hand until it is over.
    fn in_hand(mut self, after: u64) -> Resolution {
        self.window = 0;
        self.resolve(after)
    }

    fn resolve_by_time(&self, after: u64) -> Resolution {
        let (rule, now) = (&self.rule, self.now);
        let come = rule.latest(after, now.min(self.end)).unwrap_or(after);
        let mut passed = after;
        if now > self.end {
            passed = come;
        } else if self.window > 0 && now > self.window {
            passed = rule.latest(after, now - self.window - 1).unwrap_or(after);
        }
        let mut last = passed;
        let mut r = Resolution::default();
        if come != passed {
            if self.each {
                last = rule.next(passed, come).unwrap_or(come);
            } else {
                last = come;
                passed = rule.latest(passed, come - 1).unwrap_or(passed);
            }
            r.open = Some(last);
        }
        if let Some(first) = rule.next(after, passed) {
            r.passed = Passed { first, last: passed, count: rule.count(after, passed) };
        }
        r.next = rule.next(last, self.end);
        r
    }

    /// Whether an occurrence that was tried may be tried again at an instant: before its window and the timer's life end
    /// and, where only the latest fires, before the next one comes. One that its owner had tried at once has no window;
    /// if another waits behind it, it has that one try.
    fn open(&self, at: u64, instant: u64) -> bool {
        match self.forced {
            forced if forced != 0 && forced != at => instant <= self.now,
            _ => instant <= self.until(at),
        }
    }

    /// The last instant at which an occurrence may be tried.
    fn until(&self, at: u64) -> u64 {
        let mut until = self.end;
        if self.window > 0 && self.forced == 0 {
            until = until.min(at.saturating_add(self.window));
        }
        match self.rule.next(at, self.end) {
            Some(next) if !self.each => until.min(next - 1),
            _ => until,
        }
    }

    /// The latest occurrence after an instant that has come; 0 if there is none.
    fn came(&self, after: u64) -> u64 {
        self.rule.latest(after, self.now.min(self.end)).unwrap_or(0)
    }

    /// The occurrences between two, which came while the timer was on hold.
    fn passed_before(&self, after: u64, at: u64) -> Vec<Passing> {
        let Some(first) = self.rule.next(after, at - 1) else { return Vec::new() };
        let last = self.rule.latest(after, at - 1).unwrap_or(first);
        let passed = Passed { first, last, count: self.rule.count(after, last) };
        vec![Passing { passed, reason: Reason::Paused }]
    }
}

/// What a fire of a timer delivers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Occurrence {
    /// Whether it may fire now: not if what has come has passed.
    pub open: bool,
    /// It was tried, and may not be tried again.
    pub over: bool,
    /// Its instant and its number; 0 if the trigger has none.
    pub at: u64,
    pub index: u64,
    /// Those that may fire no more, all before it.
    pub passed: Passed,
    /// The last instant at which it might fire, where that has passed.
    pub until: u64,
}

impl Occurrence {
    /// None has come yet.
    pub(crate) fn early(&self) -> bool {
        !self.open && !self.over && self.passed.count == 0
    }
}

/// What a fire of a ready timer delivers now.
pub(crate) fn occurrence(timer: &Timer, now: Moment) -> Occurrence {
    if let Some(at) = timer.spec.trigger.as_ref().and_then(|t| t.time.as_ref()) {
        return Occurrence { open: true, at: at.seconds as u64, index: 1, ..Occurrence::default() };
    }
    let Some(recurrence) = &timer.status.recurrence else { return Occurrence { open: true, ..Occurrence::default() } };
    let series = series_of(timer, now);
    if timer.status.tried {
        let open = series.open(recurrence.trying, series.now);
        let (at, index) = (recurrence.trying, timer.status.deliveries);
        return Occurrence { open, over: !open, at, index, ..Occurrence::default() };
    }
    let Resolution { open, passed, .. } = series.resolve(recurrence.after);
    let lapsed = open.is_none() && passed.count > 0;
    Occurrence {
        open: open.is_some(),
        over: false,
        at: open.unwrap_or(0),
        index: timer.status.deliveries + 1,
        until: if lapsed { series.until(passed.last) } else { 0 },
        passed,
    }
}

/// Makes a timer due at an occurrence: where that has come already, in the next block.
fn set_due(timer: &mut Timer, at: u64, now: Moment) {
    if kind_of(timer) != Kind::Calendar {
        (timer.status.hold_reason, timer.status.due) = (HoldReason::Unspecified, at.max(now.height + 1));
        return;
    }
    wait_until(timer, at as i64, now);
}

/// Makes a timer due at a time, from the next block on: it waits until that has come.
fn wait_until(timer: &mut Timer, seconds: i64, now: Moment) {
    (timer.status.hold_reason, timer.status.due_time, timer.status.due) = (HoldReason::Timed, seconds, now.height + 1);
    if seconds <= now.time {
        timer.status.hold_reason = HoldReason::Unspecified;
    }
}

/// Makes a timer due at the first occurrence that is not over, and reports whether there is one within its life.
fn to_next(timer: &mut Timer, now: Moment) -> bool {
    let r = series_of(timer, now).resolve(timer.status.recurrence.as_ref().map_or(0, |r| r.after));
    match r.open.or(r.next) {
        Some(at) => {
            set_due(timer, at, now);
            true
        }
        None => false,
    }
}

fn edit(timer: &mut Timer, change: impl FnOnce(&mut Recurrence)) {
    if let Some(recurrence) = &mut timer.status.recurrence {
        change(recurrence);
    }
}

/// The distance of an interval from its fires.
fn distance_of(timer: &Timer) -> Option<u64> {
    let interval = timer.spec.trigger.as_ref()?.interval.as_ref()?;
    (interval.from != IntervalFrom::Schedule).then_some(interval.every)
}

/// At most so many occurrences that a timer has from a moment on, the one in hand first, and whether there are more within
/// its life.
pub(crate) fn upcoming(timer: &Timer, now: Moment, limit: u64) -> (Vec<OccurrenceInfo>, bool) {
    let one = |at: u64| OccurrenceInfo::with(|o| (o.at, o.due) = (at, at));
    let left = left(timer);
    if recurs(timer) && left > 0 && left <= limit {
        let mut endless = timer.clone();
        endless.spec.repeat = Some(Repeat::with(|r| (*r, r.remaining) = (repeat_of(timer), 0)));
        return (upcoming(&endless, now, left).0, false);
    }
    let mut found = Vec::new();
    match kind_of(timer) {
        Kind::Watch => return (found, false),
        Kind::Time => {
            let at = trigger_of(timer).time.unwrap_or_default();
            return (vec![one(at.seconds as u64)], false);
        }
        Kind::After | Kind::Height => return (vec![one(timer.status.due)], false),
        Kind::Calendar | Kind::Interval => {}
    }
    if let Some(every) = distance_of(timer) {
        let mut due = timer.status.due;
        while due <= last_height(timer) {
            if found.len() as u64 == limit {
                return (found, true);
            }
            found.push(one(due));
            due += every;
        }
        return (found, false);
    }
    let recurrence = timer.status.recurrence.clone().unwrap_or_default();
    let (mut series, mut after) = (series_of(timer, now), recurrence.after);
    if timer.status.tried {
        series.forced = recurrence.trying;
    }
    loop {
        let r = series.resolve(after);
        let Some(at) = r.open.or(r.next) else { return (found, false) };
        if found.len() as u64 == limit {
            return (found, true);
        }
        found.push(one(at));
        (series.forced, series.now, after) = (0, at, at);
    }
}
