//! What comes next of a timer: the chain's `x/timers/recurrence/after.go`.

use cw_timers::proto::{HoldReason, OnFailure, OnUnfunded, Retry};

use super::*;
use crate::config::Config;
use crate::store::{Moment, Reason, Record, Timer};

/// What became of a timer whose turn it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Of a fire, which was paid for.
    Succeeded,
    Failed,
    Guarded,
    /// A fire that failed since its actor lacked the coins that its own messages state. Where `on_unfunded` is skip or
    /// suspend, that says what happens then.
    ShortOfCoins,
    /// What has come may fire no more.
    Lapsed,
    /// The same, where nobody is charged and nothing is counted.
    LapsedFree,
    /// The payer could not cover it, and `on_unfunded` is skip.
    Unpaid,
}

impl Outcome {
    fn fired(self) -> bool {
        use Outcome::*;
        matches!(self, Succeeded | Failed | Guarded | ShortOfCoins)
    }
}

/// What became of a timer, and of which occurrence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn<'a> {
    pub outcome: Outcome,
    pub occurrence: &'a Occurrence,
    /// Those of a failure.
    pub codespace: &'a str,
    pub code: u32,
}

impl<'a> Turn<'a> {
    pub(crate) fn new(outcome: Outcome, occurrence: &'a Occurrence) -> Self {
        Turn { outcome, occurrence, codespace: "", code: 0 }
    }
}

/// What comes next of a timer.
#[derive(Clone, Debug)]
pub(crate) struct Next {
    /// How it goes on, if it stays.
    pub record: Record,
    pub stays: bool,
    /// It stays, on hold until its owner resumes it.
    pub suspended: bool,
    /// What this has made pass.
    pub passed: Vec<Passing>,
}

/// First the renewal, then a retry, then the next occurrence, then the end, each judged by the renewed end.
pub(crate) fn after(before: &Record, mut turn: Turn<'_>, config: &Config, now: Moment) -> Next {
    let waits_for_coins = matches!(before.info.spec.on_unfunded, OnUnfunded::Skip | OnUnfunded::Suspend);
    if turn.outcome == Outcome::ShortOfCoins && !waits_for_coins {
        turn.outcome = Outcome::Failed;
    }
    let mut n = Next { record: before.clone(), stays: true, suspended: false, passed: Vec::new() };
    let (outcome, t) = (turn.outcome, &before.info);
    n.record.drop_hit();
    n.record.info.status.since = 0;
    if outcome.fired() {
        let next = &mut n.record.info;
        prepare::renew(config, next, now);
        next.status.fire_seq += 1;
        if outcome != Outcome::ShortOfCoins {
            // It restores none.
            (next.status.skips, n.record.owed) = (0, 0);
        }
        if next.status.recurrence.is_some() {
            edit(next, |r| r.lapses = 0);
            pass(&mut n.passed, turn.occurrence.passed.clone(), later_or(t, Reason::Window));
        }
    }
    let failed = matches!(outcome, Outcome::Failed | Outcome::ShortOfCoins);
    if (failed || outcome == Outcome::Succeeded) && !t.status.tried {
        n.record.info.status.deliveries += 1;
    }
    if failed && retried(&mut n.record.info, &turn, now) {
        n.record.keep_hit(before);
        return n;
    }
    if outcome == Outcome::ShortOfCoins && t.spec.on_unfunded == OnUnfunded::Suspend {
        hold(&mut n.record.info, turn.occurrence);
        n.record.keep_hit(before);
        n.suspended = true;
        return n;
    }
    let tried = t.status.tried || n.record.info.status.deliveries > t.status.deliveries;
    over(&mut n, t, &turn);
    n.stays = advance(&mut n, tried, &turn, now);
    if n.stays {
        count(&mut n, &turn, failed || outcome == Outcome::Lapsed && turn.occurrence.over, config);
    }
    n
}

/// Makes a timer due again after a fire that failed: the same occurrence, later. Whether that may be.
fn retried(timer: &mut Timer, turn: &Turn<'_>, now: Moment) -> bool {
    let Some(retry) = &timer.spec.retry else { return false };
    if timer.status.retries >= retry.max || !retries_after(retry, turn) {
        return false;
    }
    let distance = distance(retry, timer.status.retries);
    let (at, end) = match by_time(timer) {
        true => (now.time as u64, timer.status.expires_time as u64),
        false => (now.height, last_height(timer)),
    };
    if at > end || distance > end - at || expired(timer, now) {
        return false;
    }
    let at = at + distance;
    if timer.status.recurrence.is_some() && !series_of(timer, now).open(turn.occurrence.at, at) {
        return false;
    }
    hold(timer, turn.occurrence);
    timer.status.retries += 1;
    if by_time(timer) {
        wait_until(timer, at as i64, now);
    } else {
        (timer.status.hold_reason, timer.status.due) = (HoldReason::Unspecified, at);
    }
    true
}

/// The distance from a failed fire to its retry, after so many retries.
fn distance(retry: &Retry, retries: u32) -> u64 {
    u64::from(retry.backoff.max(1)).saturating_pow(retries).saturating_mul(retry.after)
}

/// Whether a fire that failed so is retried.
fn retries_after(retry: &Retry, turn: &Turn<'_>) -> bool {
    let matches = |codespace: &str, code: u32| codespace == turn.codespace && (code == 0 || code == turn.code);
    retry.on.is_empty() || retry.on.iter().any(|e| matches(&e.codespace, e.code))
}

/// Keeps an occurrence in hand that was tried.
fn hold(timer: &mut Timer, occurrence: &Occurrence) {
    timer.status.tried = true;
    edit(timer, |r| {
        r.trying = occurrence.at;
        if occurrence.passed.count > 0 {
            // What has passed is told once.
            r.after = occurrence.passed.last;
        }
    });
}

/// Ends the occurrence in hand, and says what has passed with it.
fn over(n: &mut Next, t: &Timer, turn: &Turn<'_>) {
    let next = &mut n.record.info;
    (next.status.tried, next.status.retries) = (false, 0);
    let unpaid = turn.outcome == Outcome::Unpaid;
    let short = turn.outcome == Outcome::ShortOfCoins;
    let Some(r) = &mut next.status.recurrence else {
        if unpaid || short {
            pass(&mut n.passed, Passed::one(last_due(t)), Reason::Unfunded);
        }
        return;
    };
    let (o, trying) = (turn.occurrence, r.trying);
    r.trying = 0;
    let passed = match turn.outcome {
        outcome if outcome.fired() => {
            r.after = o.at;
            short.then(|| (Passed::one(o.at), Reason::Unfunded))
        }
        _ if t.status.tried => {
            r.after = trying;
            Some((Passed::one(trying), if unpaid { Reason::Unfunded } else { Reason::Retry }))
        }
        Outcome::Unpaid if o.open => {
            r.after = o.at;
            Some((o.passed.clone().through(o.at, 1), Reason::Unfunded))
        }
        _ if o.passed.count > 0 => {
            r.after = o.passed.last;
            Some((o.passed.clone(), if unpaid { Reason::Unfunded } else { Reason::Window }))
        }
        _ => None,
    };
    if r.forced != 0 && r.forced <= r.after {
        r.forced = 0;
    }
    if let Some((passed, reason)) = passed {
        pass(&mut n.passed, passed, reason);
    }
}

/// Makes the timer due at what comes next, and reports whether there is something. `tried`: whether what is over was.
fn advance(n: &mut Next, tried: bool, turn: &Turn<'_>, now: Moment) -> bool {
    let timer = &mut n.record.info;
    if !recurs(timer) || tried && repetitions(timer) > 0 && left(timer) == 0 {
        return false;
    }
    let stops = match turn.outcome {
        Outcome::Failed => true,
        Outcome::Lapsed => turn.occurrence.over,
        _ => false,
    };
    let more = !expired(timer, now) && next_of(timer, &mut n.passed, turn, now);
    more && !(stops && on_failure(timer).0 == OnFailure::Stop)
}

/// Makes a timer that repeats due again, and reports whether it is within its life.
fn next_of(timer: &mut Timer, passed: &mut Vec<Passing>, turn: &Turn<'_>, now: Moment) -> bool {
    let left = last_height(timer).saturating_sub(now.height);
    if let Some(watch) = timer.spec.trigger.as_ref().and_then(|t| t.watch.as_ref()) {
        let (distance, level) = (watch.cooldown.max(1), watch.level);
        watch_from(timer, now.height + distance, level);
        return distance <= left;
    }
    let Some(every) = distance_of(timer) else {
        settle(timer, passed, now);
        return to_next(timer, now);
    };
    timer.status.hold_reason = HoldReason::Unspecified;
    if turn.outcome.fired() {
        timer.status.due = now.height + every;
        return every <= left;
    }
    operations::skip_from(timer, last_due(timer), 1, now)
}

/// Lets pass what may fire no more by now, and was never ready: nobody is charged for it.
fn settle(timer: &mut Timer, passed: &mut Vec<Passing>, now: Moment) {
    let series = series_of(timer, now);
    let r = series.resolve(timer.status.recurrence.as_ref().map_or(0, |r| r.after));
    if r.passed.count > 0 && (r.open.is_none() || series.each) {
        edit(timer, |recurrence| recurrence.after = r.passed.last);
        pass(passed, r.passed, Reason::Window);
    }
}

/// Counts failures and passings in a row, and suspends the timer after too many.
fn count(n: &mut Next, turn: &Turn<'_>, failed: bool, config: &Config) {
    let (most, next) = (config.max_unfunded_skips, &mut n.record.info);
    match turn.outcome {
        Outcome::ShortOfCoins | Outcome::Unpaid => {
            next.status.skips += 1;
            n.record.owed += u32::from(turn.outcome == Outcome::Unpaid);
            n.suspended = next.status.skips >= most;
        }
        _ if failed => {
            next.status.failures += 1;
            let limit = on_failure(next).1;
            n.suspended = limit > 0 && next.status.failures >= limit;
        }
        Outcome::Lapsed if !turn.occurrence.early() => {
            if let Some(r) = &mut next.status.recurrence {
                r.lapses += 1;
                if r.lapses >= most {
                    (r.lapses, n.suspended) = (0, true);
                }
            }
        }
        Outcome::Succeeded => next.status.failures = 0,
        _ => {}
    }
}

fn pass(all: &mut Vec<Passing>, passed: Passed, reason: Reason) {
    if passed.count > 0 {
        all.push(Passing { passed, reason });
    }
}

/// The height from which an interval that counts from its fires counts: that of the last try of the one in hand, or that
/// at which it became due.
pub(super) fn last_due(timer: &Timer) -> u64 {
    match &timer.status.last_outcome {
        Some(outcome) if timer.status.tried => outcome.height,
        _ => due_since(timer),
    }
}
