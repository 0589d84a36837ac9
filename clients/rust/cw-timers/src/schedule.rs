//! The calendar: when a rule is due, as the chain computes it. Tests hold it to the chain's own vectors
//! (`x/timers/schedule/testdata`). Integers alone, and a bounded number of steps: a contract may use it to tell which periods
//! have passed, or until when somebody has paid.
//!
//! ```
//! use cw_timers::schedule::{Calendar, Cron, Every};
//!
//! // At 09:00 of each first of the month, two hours ahead of UTC.
//! let rent = Calendar::cron(Cron { minutes: 1, hours: 1 << 9, days: 1 << 1, ..Cron::ALL }, 120);
//! assert_eq!(rent.next(1_709_208_000, i64::MAX), Some(1_709_276_400)); // 2024-03-01T07:00:00Z
//! // Each hour: how many have passed?
//! let hourly = Calendar::every(Every { seconds: 3_600, anchor: 1_000_000_000 });
//! assert_eq!(hourly.count(1_000_000_000, 1_000_010_800, 0), (3, true));
//! ```
//!
//! Instants are seconds since 1970, of block time. A timer's trigger is made from a calendar of this module, and the other way
//! round:
//!
//! ```
//! use cw_timers::schedule::{Calendar, Cron};
//! use cw_timers::Timer;
//!
//! let daily = Calendar::cron(Cron { minutes: 1, hours: 1 << 9, ..Cron::ALL }, 120);
//! let trigger = cw_timers::Calendar::from(daily.clone());
//! assert_eq!(Calendar::try_from(&trigger.clone().into_proto()), Ok(daily));
//! let timer = Timer::on(trigger);
//! ```

use core::cmp::{max, min};
use core::fmt;

use crate::date::{date_of, day_number, days_in, Date};

/// The last second of the domain, 9999-12-31T23:59:59Z; the first one is 0. What lies outside is never an occurrence.
pub const MAX_TIME: i64 = 253_402_300_799;
/// The least distance of the occurrences of [`Every`].
pub const MIN_SECONDS: i64 = 60;
/// The largest number of transitions of a calendar.
pub const MAX_TRANSITIONS: usize = 16;
/// Bounds offsets from UTC to either side.
pub const MAX_OFFSET_MINUTES: i32 = 18 * 60;

const MINUTE: i64 = 60;
const DAY_MINUTES: i64 = 24 * 60;
/// A search for a day looks into the month in which it starts, and into so many of its set in all: the longest is for a leap
/// day where the turn of a century has none.
const MAX_MONTHS: u32 = 9;
/// That of a rule with positions: the longest is for a fifth weekday of February, 40 years.
const MAX_NTH_MONTHS: u32 = 41;
/// The last position from either end of a month.
const MAX_NTH: u32 = 5;

/// Equal distances: an anchor, and each so many seconds after it. It knows no local time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Every {
    /// The distance, from [`MIN_SECONDS`].
    pub seconds: i64,
    /// The first occurrence, from 0.
    pub anchor: i64,
}

/// Sets of local time, as bits. A minute matches if minute, hour and month are in their sets, and the day is: by `days`, or
/// as the last of its month if `last_day`, or by `weekdays`. Where both days and weekdays are restricted, either is enough.
/// `nth` keeps some of the weekdays: the second Tuesday, or the last of Monday to Friday.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cron {
    /// Bits 0 to 59.
    pub minutes: u64,
    /// Bits 0 to 23.
    pub hours: u32,
    /// Bits 1 to 31.
    pub days: u32,
    /// The last day of a month, in addition to `days`.
    pub last_day: bool,
    /// Bits 1 to 12.
    pub months: u16,
    /// Bits 0 for Sunday to 6.
    pub weekdays: u8,
    /// Keeps of a month's days in `weekdays` those at these positions, all if it is 0: bits 1 to 5 are the first to the
    /// fifth, bits 6 to 10 the last to the fifth from the end. Not with `days` or `last_day`.
    pub nth: u16,
}

/// A change of the offset from UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The first second with the offset: a whole minute.
    pub from: i64,
    /// Local time less UTC.
    pub offset_minutes: i32,
}

/// What a calendar repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// Equal distances.
    Every(Every),
    /// Sets of local time.
    Cron(Cron),
}

/// A series of instants. A local minute is due when clocks that show local time first show it, or a later one: one that they
/// show twice counts the first time, and one that they leave out is due at that change, once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calendar {
    /// What is repeated.
    pub rule: Rule,
    /// Local time less UTC before the first transition.
    pub offset_minutes: i32,
    /// Changes of the offset, in ascending order.
    pub transitions: Vec<Transition>,
}

/// Why a calendar is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Invalid {
    /// A timer's trigger has no rule, or two.
    Rule,
    /// Seconds or anchor of [`Every`] are out of bounds, or it has an offset or transitions.
    Every,
    /// A set is empty, or has a bit without a meaning.
    Set,
    /// No month of the set has any of the days.
    NoDay,
    /// Positions are stated with days of the month, or with the last one.
    Nth,
    /// An offset is out of bounds.
    Offset,
    /// Transitions are too many, not in order, out of bounds or not at whole minutes.
    Transitions,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Invalid::Rule => "want one rule",
            Invalid::Every => "want 60 seconds or more, an anchor from 0, no offset and no transitions",
            Invalid::Set => "want sets that are not empty, of bits that have a meaning",
            Invalid::NoDay => "want a day that a month of the set has",
            Invalid::Nth => "want positions of days of the week alone, without days of the month",
            Invalid::Offset => "want an offset of at most 18 hours",
            Invalid::Transitions => "want at most 16 transitions at whole minutes, in ascending order",
        })
    }
}

impl std::error::Error for Invalid {}

impl Every {
    fn floor(&self, at: i64) -> Option<i64> {
        (self.seconds >= 1 && at >= self.anchor).then(|| at - (at - self.anchor) % self.seconds)
    }

    fn next(&self, after: i64) -> Option<i64> {
        if after < self.anchor {
            return Some(self.anchor);
        }
        self.floor(after)?.checked_add(self.seconds)
    }

    fn count_to(&self, at: i64) -> u64 {
        self.floor(at).map_or(0, |last| ((last - self.anchor) / self.seconds) as u64 + 1)
    }
}

/// The lowest bit of a set that is not below one.
fn lowest(set: u64, from: i64) -> Option<i64> {
    let rest = if from >= 64 { 0 } else { set >> from << from };
    (rest != 0).then(|| i64::from(rest.trailing_zeros()))
}

/// The highest bit of a set that is not above one.
fn highest(set: u64, to: i64) -> Option<i64> {
    let rest = match to {
        i64::MIN..=-1 => 0,
        0..=62 => set & ((1 << (to + 1)) - 1),
        _ => set,
    };
    (rest != 0).then(|| 63 - i64::from(rest.leading_zeros()))
}

impl Cron {
    /// Every minute: what sets are taken from that are not restricted.
    pub const ALL: Cron = Cron {
        minutes: (1 << 60) - 1,
        hours: (1 << 24) - 1,
        days: u32::MAX - 1,
        last_day: false,
        months: (1 << 13) - 2,
        weekdays: (1 << 7) - 1,
        nth: 0,
    };
    /// The first to the fifth, and the last to the fifth from the end.
    const ALL_NTH: u16 = (1 << 11) - 2;

    fn validate(&self) -> Result<(), Invalid> {
        let days = if self.last_day && self.days == 0 { Cron::ALL.days } else { self.days };
        for (set, all) in [
            (self.minutes, Cron::ALL.minutes),
            (u64::from(self.hours), u64::from(Cron::ALL.hours)),
            (u64::from(days), u64::from(Cron::ALL.days)),
            (u64::from(self.months), u64::from(Cron::ALL.months)),
            (u64::from(self.weekdays), u64::from(Cron::ALL.weekdays)),
        ] {
            if set == 0 || set & !all != 0 {
                return Err(Invalid::Set);
            }
        }
        if self.nth != 0 && (self.days != Cron::ALL.days || self.last_day) {
            return Err(Invalid::Nth);
        }
        if self.nth & !Cron::ALL_NTH != 0 {
            return Err(Invalid::Set);
        }
        self.next_day(0).map(drop).ok_or(Invalid::NoDay)
    }

    /// Into how many months a search for a day looks.
    fn months_searched(&self) -> u32 {
        if self.nth == 0 {
            MAX_MONTHS
        } else {
            MAX_NTH_MONTHS
        }
    }

    /// Those of a month's days that are at the positions of `nth`.
    fn at_positions(&self, mut days: u64) -> u64 {
        let (all, mut kept) = (days.count_ones(), 0);
        let stated = |position: u32, bit: u32| position <= MAX_NTH && self.nth >> bit & 1 == 1;
        for from_first in 1..=all {
            let first = days & days.wrapping_neg();
            let from_last = all - from_first + 1;
            if stated(from_first, from_first) || stated(from_last, MAX_NTH + from_last) {
                kept |= first;
            }
            days ^= first;
        }
        kept
    }

    /// The days of a month that match, as bits from 1 on.
    fn days_of(&self, year: i64, month: i64) -> u64 {
        if self.months >> month & 1 == 0 {
            return 0;
        }
        let length = days_in(year, month);
        let mut by_number = u64::from(self.days);
        if self.last_day {
            by_number |= 1 << length;
        }
        // 1970-01-01 was a Thursday.
        let first = (day_number(Date { year, month, day: 1 }) + 4).rem_euclid(7);
        let week = u64::from(self.weekdays & Cron::ALL.weekdays);
        let by_weekday =
            (1..=length).filter(|day| week >> ((first + day - 1) % 7) & 1 == 1).fold(0, |set, day| set | 1 << day);
        let restricted = self.days != Cron::ALL.days && self.weekdays != Cron::ALL.weekdays;
        let both = if restricted { by_number | by_weekday } else { by_number & by_weekday };
        let days = both & ((1 << (length + 1)) - 2);
        if self.nth == 0 {
            days
        } else {
            self.at_positions(days)
        }
    }

    fn next_day(&self, from: i64) -> Option<i64> {
        let Date { mut year, mut month, mut day } = date_of(from);
        for _ in 0..self.months_searched() {
            if let Some(day) = lowest(self.days_of(year, month), day) {
                return Some(day_number(Date { year, month, day }));
            }
            day = 1;
            match lowest(u64::from(self.months), month + 1) {
                Some(later) => month = later,
                None => (year, month) = (year + 1, lowest(u64::from(self.months), 1)?),
            }
        }
        None
    }

    fn previous_day(&self, to: i64) -> Option<i64> {
        let Date { mut year, mut month, mut day } = date_of(to);
        for _ in 0..self.months_searched() {
            if let Some(day) = highest(self.days_of(year, month), day) {
                return Some(day_number(Date { year, month, day }));
            }
            day = 31;
            match highest(u64::from(self.months), month - 1) {
                Some(earlier) => month = earlier,
                None => (year, month) = (year - 1, highest(u64::from(self.months), 12)?),
            }
        }
        None
    }

    /// The first minute of a day that matches, from one on.
    fn next_minute(&self, from: i64) -> Option<i64> {
        let (hour, minute) = (from / 60, from % 60);
        if self.hours >> hour & 1 == 1 {
            if let Some(minute) = lowest(self.minutes, minute) {
                return Some(hour * 60 + minute);
            }
        }
        Some(lowest(u64::from(self.hours), hour + 1)? * 60 + lowest(self.minutes, 0)?)
    }

    /// The last minute of a day that matches, up to one.
    fn previous_minute(&self, to: i64) -> Option<i64> {
        let (hour, minute) = (to / 60, to % 60);
        if self.hours >> hour & 1 == 1 {
            if let Some(minute) = highest(self.minutes, minute) {
                return Some(hour * 60 + minute);
            }
        }
        Some(highest(u64::from(self.hours), hour - 1)? * 60 + highest(self.minutes, 59)?)
    }

    /// The first local minute after another that matches. Local minutes count from 1970-01-01T00:00 of local time.
    fn next(&self, after: i64) -> Option<i64> {
        let (day, minute) = ((after + 1).div_euclid(DAY_MINUTES), (after + 1).rem_euclid(DAY_MINUTES));
        let mut found = self.next_day(day)?;
        if found == day {
            if let Some(minute) = self.next_minute(minute) {
                return Some(day * DAY_MINUTES + minute);
            }
            found = self.next_day(day + 1)?;
        }
        Some(found * DAY_MINUTES + self.next_minute(0)?)
    }

    /// The last local minute up to another that matches.
    fn previous(&self, to: i64) -> Option<i64> {
        let (day, minute) = (to.div_euclid(DAY_MINUTES), to.rem_euclid(DAY_MINUTES));
        let mut found = self.previous_day(day)?;
        if found == day {
            if let Some(minute) = self.previous_minute(minute) {
                return Some(day * DAY_MINUTES + minute);
            }
            found = self.previous_day(day - 1)?;
        }
        Some(found * DAY_MINUTES + self.previous_minute(DAY_MINUTES - 1)?)
    }
}

impl Calendar {
    /// Equal distances.
    pub fn every(every: Every) -> Self {
        Calendar { rule: Rule::Every(every), offset_minutes: 0, transitions: Vec::new() }
    }

    /// Sets of local time, at an offset from UTC that does not change.
    pub fn cron(cron: Cron, offset_minutes: i32) -> Self {
        Calendar { rule: Rule::Cron(cron), offset_minutes, transitions: Vec::new() }
    }

    /// Checks it as the chain does.
    pub fn validate(&self) -> Result<(), Invalid> {
        let within = |minutes: i32| minutes.unsigned_abs() <= MAX_OFFSET_MINUTES.unsigned_abs();
        match &self.rule {
            Rule::Every(Every { seconds, anchor }) => {
                let sound = (MIN_SECONDS..=MAX_TIME).contains(seconds) && (0..=MAX_TIME).contains(anchor);
                let bare = self.offset_minutes == 0 && self.transitions.is_empty();
                (sound && bare).then_some(()).ok_or(Invalid::Every)
            }
            Rule::Cron(cron) => {
                cron.validate()?;
                if !within(self.offset_minutes) {
                    return Err(Invalid::Offset);
                }
                let mut last = -1;
                for transition in &self.transitions {
                    let from = transition.from;
                    if from <= last || !(0..=MAX_TIME).contains(&from) || from % MINUTE != 0 {
                        return Err(Invalid::Transitions);
                    }
                    if !within(transition.offset_minutes) {
                        return Err(Invalid::Offset);
                    }
                    last = from;
                }
                (self.transitions.len() <= MAX_TRANSITIONS).then_some(()).ok_or(Invalid::Transitions)
            }
        }
    }

    /// The first occurrence after an instant and up to a horizon.
    pub fn next(&self, after: i64, horizon: i64) -> Option<i64> {
        let (after, horizon) = (max(after, -1), min(horizon, MAX_TIME));
        let next = match &self.rule {
            Rule::Every(every) => every.next(min(after, MAX_TIME))?,
            // Local minutes and instants ascend together: due after an instant is what was not reached by then.
            Rule::Cron(cron) => self.due(cron.next(self.reached(min(after, MAX_TIME)))?),
        };
        (next <= horizon).then_some(next)
    }

    /// The last occurrence up to an instant.
    pub fn latest(&self, now: i64) -> Option<i64> {
        let now = min(now, MAX_TIME);
        let latest = match &self.rule {
            Rule::Every(every) => every.floor(now)?,
            Rule::Cron(cron) => self.due(cron.previous(self.reached(max(now, -1)))?),
        };
        (latest >= 0).then_some(latest)
    }

    /// How many occurrences there are after an instant and up to another, and whether that is all: those of [`Cron`] are
    /// counted up to `most`, those of [`Every`] by a division.
    pub fn count(&self, after: i64, to: i64, most: u64) -> (u64, bool) {
        if let Rule::Every(every) = &self.rule {
            let (after, to) = (max(after, -1), min(to, MAX_TIME));
            return (if to <= after { 0 } else { every.count_to(to) - every.count_to(after) }, true);
        }
        let (mut n, mut after) = (0, after);
        while n < most {
            match self.next(after, to) {
                Some(next) => (n, after) = (n + 1, next),
                None => return (n, true),
            }
        }
        (n, false)
    }

    /// The last local minute that clocks have shown or passed at an instant.
    fn reached(&self, at: i64) -> i64 {
        let (mut passed, mut offset) = (i64::MIN, i64::from(self.offset_minutes));
        for transition in self.transitions.iter().take_while(|t| t.from <= at) {
            passed = max(passed, transition.from / MINUTE - 1 + offset);
            offset = i64::from(transition.offset_minutes);
        }
        max(passed, at.div_euclid(MINUTE) + offset)
    }

    /// The first instant at which clocks show a local minute, or have passed it.
    fn due(&self, local: i64) -> i64 {
        let (mut from, mut offset) = (i64::MIN, i64::from(self.offset_minutes));
        for transition in &self.transitions {
            let minute = max(from, local - offset);
            if minute < transition.from / MINUTE {
                return minute * MINUTE;
            }
            (from, offset) = (transition.from / MINUTE, i64::from(transition.offset_minutes));
        }
        max(from, local - offset) * MINUTE
    }
}
