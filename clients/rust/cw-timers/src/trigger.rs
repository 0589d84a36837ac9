use cosmwasm_std::{Binary, CanonicalAddr, Timestamp};

use crate::proto;

/// What makes a timer due. Later versions of the chain have more kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trigger {
    /// Once, at a height above the current one.
    Height(u64),
    /// Once, so many blocks after the one that schedules it.
    After(u64),
    /// Again and again.
    Interval(Interval),
    /// When watched state changes.
    Watch(Watch),
    /// Once, in the first block whose time is at or after a time. A part of a second counts as a whole one.
    ///
    /// ```
    /// # use cosmwasm_std::testing::mock_env;
    /// # use cw_timers::{Timer, Trigger};
    /// # let env = mock_env();
    /// let timer = Timer::on(Trigger::Time(env.block.time.plus_days(30)));
    /// assert_eq!(timer, Timer::at_time(env.block.time.plus_days(30)));
    /// ```
    Time(Timestamp),
    /// Again and again, by block time.
    Calendar(Calendar),
}

impl From<Interval> for Trigger {
    fn from(interval: Interval) -> Self {
        Trigger::Interval(interval)
    }
}

impl From<Calendar> for Trigger {
    fn from(calendar: Calendar) -> Self {
        Trigger::Calendar(calendar)
    }
}

impl From<Watch> for Trigger {
    fn from(watch: Watch) -> Self {
        Trigger::Watch(watch)
    }
}

impl From<Trigger> for proto::Trigger {
    fn from(trigger: Trigger) -> Self {
        let mut out = proto::Trigger::default();
        match trigger {
            Trigger::Height(height) => out.height = height,
            Trigger::After(blocks) => out.after = blocks,
            Trigger::Interval(interval) => out.interval = Some(interval.0),
            Trigger::Watch(watch) => out.watch = Some(watch.0),
            Trigger::Time(time) => out.time = Some(proto::Timestamp::from_seconds(seconds_up(time))),
            Trigger::Calendar(calendar) => out.calendar = Some(calendar.0),
        }
        out
    }
}

/// The first whole second at or after a time.
fn seconds_up(time: Timestamp) -> i64 {
    // A time of 64 bits of nanoseconds is far from the end of an i64.
    (time.seconds() + u64::from(time.subsec_nanos() > 0)) as i64
}

/// An interval: due every so many blocks after a fire. A late fire delays the next.
///
/// ```
/// # use cw_timers::{Interval, Timer};
/// let timer = Timer::on(Interval::every(100).first(500)).remaining(12).stop_on_failure();
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interval(proto::IntervalTrigger);

impl Interval {
    /// Due so many blocks after now, and then after each fire, until the timer expires.
    pub fn every(blocks: u64) -> Self {
        Interval(proto::IntervalTrigger { every: blocks, ..Default::default() })
    }

    /// The height at which it is due first.
    #[must_use]
    pub fn first(mut self, height: u64) -> Self {
        self.0.first = height;
        self
    }

    /// Due at `first` and each so many blocks after it, whatever became of the ones before: a late fire delays none.
    ///
    /// ```
    /// # use cw_timers::{Interval, Missed, Timer};
    /// // Each of the periods once, also those that come while the lane is full.
    /// let timer = Timer::on(Interval::every(100).first(500).from_schedule()).missed(Missed::Each);
    /// ```
    #[must_use]
    pub fn from_schedule(mut self) -> Self {
        self.0.from = proto::IntervalFrom::Schedule;
        self
    }
}

/// A calendar: due by block time, every so many seconds or at local minutes.
///
/// ```
/// # use cw_timers::{Calendar, Cron, Timer};
/// // At 09:00 of each first of the month, for a year: in a zone that is an hour ahead of UTC and two in summer.
/// let rule = Cron::every_minute().minutes([0]).hours([9]).days([1]);
/// let zone = Calendar::cron(rule).offset_minutes(60).transition(1_774_746_000, 120).transition(1_792_890_000, 60);
/// let timer = Timer::on(zone).remaining(12).payload(&"rent");
/// ```
///
/// A chain may have switched triggers by time off: [`TimersError::UnsupportedTimerType`](crate::TimersError).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calendar(proto::CalendarTrigger);

impl Calendar {
    /// Every so many seconds, 60 at least, from the time of the block that schedules it.
    ///
    /// ```
    /// # use cw_timers::{Calendar, Timer};
    /// let hourly = Timer::on(Calendar::every_seconds(3_600).anchor(1_767_225_600)).remaining(24).stop_on_failure();
    /// ```
    pub fn every_seconds(seconds: u64) -> Self {
        let every = proto::EveryRule { seconds, anchor: 0 };
        Calendar(proto::CalendarTrigger { every: Some(every), ..Default::default() })
    }

    /// At the local minutes that match a rule; in UTC, if no offset is stated.
    pub fn cron(rule: impl Into<Cron>) -> Self {
        Calendar(proto::CalendarTrigger { cron: Some(rule.into().0), ..Default::default() })
    }

    /// An occurrence from which equal distances count, in seconds since 1970. [`Calendar::cron`] has none.
    #[must_use]
    pub fn anchor(mut self, seconds: u64) -> Self {
        if let Some(every) = &mut self.0.every {
            every.anchor = i64::try_from(seconds).unwrap_or(i64::MAX);
        }
        self
    }

    /// Local time less UTC, before the first transition.
    #[must_use]
    pub fn offset_minutes(mut self, minutes: i32) -> Self {
        self.0.offset_minutes = minutes;
        self
    }

    /// Adds a change of the offset: from a second since 1970 on, which is a whole minute. There are at most 16, in order.
    #[must_use]
    pub fn transition(mut self, from: i64, offset_minutes: i32) -> Self {
        self.0.transitions.push(proto::OffsetTransition { from, offset_minutes });
        self
    }

    /// The offset of the last transition holds for ever. Without this a timer that renews itself ends with it.
    #[must_use]
    pub fn offset_final(mut self) -> Self {
        self.0.offset_final = true;
        self
    }

    /// The trigger as it is on the wire.
    pub fn into_proto(self) -> proto::CalendarTrigger {
        self.0
    }
}

/// Sets of local time. A minute matches if its minute, hour and month are in their sets, and its day is: by `days`, or as the
/// last of its month, or by `weekdays`. Where both days and weekdays are restricted, either is enough. [`nth`](Cron::nth)
/// keeps of the weekdays of a month those at some positions.
///
/// ```
/// # use cw_timers::{Calendar, Cron, Timer};
/// let workdays_at_nine = Cron::every_minute().minutes([0]).hours([9]).weekdays(1..=5);
/// let end_of_quarter = Cron::every_minute().minutes([0]).hours([0]).last_day().months([3, 6, 9, 12]);
/// let timers = [workdays_at_nine, end_of_quarter].map(|rule| Timer::on(Calendar::cron(rule)));
/// ```
///
/// Each set replaces what was stated before. A chain refuses empty sets and numbers that a set can't have:
/// [`TimersError::InvalidCalendar`](crate::TimersError::InvalidCalendar).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cron(proto::CronRule);

/// A set as bits. A number that is not below the width of the set makes one that no chain takes.
fn set(numbers: impl IntoIterator<Item = u32>, below: u32, invalid: u64) -> u64 {
    numbers.into_iter().fold(0, |bits, n| bits | if n < below { 1 << n } else { invalid })
}

const ALL_DAYS: u32 = u32::MAX - 1;

impl Cron {
    /// Every minute: no set is restricted.
    pub fn every_minute() -> Self {
        Cron(proto::CronRule {
            minutes: (1 << 60) - 1,
            hours: (1 << 24) - 1,
            days: ALL_DAYS,
            last_day: false,
            months: (1 << 13) - 2,
            weekdays: (1 << 7) - 1,
            nth: 0,
        })
    }

    /// The minutes of the hour, 0 to 59.
    #[must_use]
    pub fn minutes(mut self, minutes: impl IntoIterator<Item = u32>) -> Self {
        self.0.minutes = set(minutes, 60, 1 << 63);
        self
    }

    /// The hours, 0 to 23.
    #[must_use]
    pub fn hours(mut self, hours: impl IntoIterator<Item = u32>) -> Self {
        self.0.hours = set(hours, 24, 1 << 31) as u32;
        self
    }

    /// The days of the month, 1 to 31.
    #[must_use]
    pub fn days(mut self, days: impl IntoIterator<Item = u32>) -> Self {
        // Bit 0 is no day.
        self.0.days = set(days, 32, 1) as u32;
        self
    }

    /// The last day of each month: alone, or in addition to days that are stated.
    #[must_use]
    pub fn last_day(mut self) -> Self {
        self.0.last_day = true;
        if self.0.days == ALL_DAYS {
            self.0.days = 0;
        }
        self
    }

    /// The months, 1 to 12.
    #[must_use]
    pub fn months(mut self, months: impl IntoIterator<Item = u32>) -> Self {
        self.0.months = set(months, 13, 1 << 31) as u32;
        self
    }

    /// The days of the week, 0 for Sunday to 6.
    #[must_use]
    pub fn weekdays(mut self, weekdays: impl IntoIterator<Item = u32>) -> Self {
        self.0.weekdays = set(weekdays, 7, 1 << 31) as u32;
        self
    }

    /// Of each month's [days of the week](Cron::weekdays) those at these positions: 1 to 5 from the first on, -1 to -5 from
    /// the last back. A chain refuses them where days of the month or the last one are stated.
    ///
    /// ```
    /// # use cw_timers::{Calendar, Cron, Timer};
    /// let second_tuesday = Cron::every_minute().minutes([0]).hours([17]).weekdays([2]).nth([2]);
    /// let last_workday = Cron::every_minute().minutes([0]).hours([18]).weekdays(1..=5).nth([-1]);
    /// let timers = [second_tuesday, last_workday].map(|rule| Timer::on(Calendar::cron(rule)));
    /// ```
    #[must_use]
    pub fn nth(mut self, positions: impl IntoIterator<Item = i32>) -> Self {
        // Bit 0 is no position.
        let bit = |position: i32| match position {
            1..=5 => position,
            -5..=-1 => 5 - position,
            _ => 0,
        };
        self.0.nth = positions.into_iter().fold(0, |bits, position| bits | 1 << bit(position));
        self
    }
}

#[cfg(feature = "schedule")]
mod schedule {
    use super::{proto, Calendar, Cron};
    use crate::schedule::{self, Invalid, Rule, Transition};

    impl From<schedule::Cron> for Cron {
        fn from(rule: schedule::Cron) -> Self {
            let schedule::Cron { minutes, hours, days, last_day, months, weekdays, nth } = rule;
            let (months, weekdays, nth) = (months.into(), weekdays.into(), nth.into());
            Cron(proto::CronRule { minutes, hours, days, last_day, months, weekdays, nth })
        }
    }

    /// What the module [`schedule`] computes, as a timer's trigger. On the chain an anchor of 0 is the time of the block: the
    /// same series has another anchor then.
    impl From<schedule::Calendar> for Calendar {
        fn from(calendar: schedule::Calendar) -> Self {
            match calendar.rule {
                Rule::Every(every) => {
                    let first = if every.anchor == 0 { every.seconds } else { every.anchor };
                    let seconds = u64::try_from(every.seconds).unwrap_or(0);
                    let rule = proto::EveryRule { seconds, anchor: first };
                    Calendar(proto::CalendarTrigger { every: Some(rule), ..Default::default() })
                }
                Rule::Cron(cron) => {
                    let zone = Calendar::cron(cron).offset_minutes(calendar.offset_minutes);
                    calendar.transitions.iter().fold(zone, |zone, t| zone.transition(t.from, t.offset_minutes))
                }
            }
        }
    }

    /// A timer's trigger, as the chain answers with it, to be computed. It is checked as the chain checks it.
    impl TryFrom<&proto::CalendarTrigger> for schedule::Calendar {
        type Error = Invalid;
        fn try_from(trigger: &proto::CalendarTrigger) -> Result<Self, Invalid> {
            let rule = match (&trigger.every, &trigger.cron) {
                (Some(every), None) => Rule::Every(schedule::Every {
                    seconds: i64::try_from(every.seconds).map_err(|_| Invalid::Every)?,
                    anchor: every.anchor,
                }),
                (None, Some(cron)) => Rule::Cron(schedule::Cron {
                    minutes: cron.minutes,
                    hours: cron.hours,
                    days: cron.days,
                    last_day: cron.last_day,
                    months: u16::try_from(cron.months).map_err(|_| Invalid::Set)?,
                    weekdays: u8::try_from(cron.weekdays).map_err(|_| Invalid::Set)?,
                    nth: u16::try_from(cron.nth).map_err(|_| Invalid::Set)?,
                }),
                _ => return Err(Invalid::Rule),
            };
            let transitions = trigger
                .transitions
                .iter()
                .map(|t| Transition { from: t.from, offset_minutes: t.offset_minutes })
                .collect();
            let calendar = schedule::Calendar { rule, offset_minutes: trigger.offset_minutes, transitions };
            calendar.validate().map(|()| calendar)
        }
    }
}

/// A watch: due in the block whose transactions change watched state. What changes in one block is one fire. A
/// [`Timer`](crate::Timer) on it fires once, unless it states how many fires [remain](crate::Timer::remaining).
///
/// ```
/// # use cosmwasm_std::CanonicalAddr;
/// # use cw_timers::{Condition, Timer, Watch, WatchKey};
/// # let pool = CanonicalAddr::from([7u8; 32]);
/// // Once, when the price that a pool stores at "price" falls below 100.
/// let timer = Timer::on(Watch::key(WatchKey::contract_key(&pool, b"price").when(Condition::Less("100".into()))));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watch(proto::WatchTrigger);

impl Watch {
    /// Watches one key.
    pub fn key(key: WatchKey) -> Self {
        Watch::keys([key])
    }

    /// Watches several keys. A change of any of them makes the timer due.
    pub fn keys(keys: impl IntoIterator<Item = WatchKey>) -> Self {
        let keys = keys.into_iter().map(WatchKey::into_proto).collect();
        Watch(proto::WatchTrigger { keys, ..Default::default() })
    }

    /// Due again after each cooldown while a condition holds, and not only when one becomes true.
    #[must_use]
    pub fn level(mut self) -> Self {
        self.0.level = true;
        self
    }

    /// The least distance in blocks from a fire to the next block whose changes count.
    #[must_use]
    pub fn cooldown(mut self, blocks: u64) -> Self {
        self.0.cooldown = blocks;
        self
    }
}

/// What is watched: a key of a store, or all keys with a prefix. Which stores can be watched is the chain's choice; timerd
/// has the storage of contracts, and balances.
///
/// Addresses are canonical: `deps.api.addr_canonicalize(address)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchKey(proto::WatchKey);

/// The regions of x/wasm's store.
const CONTRACT_INFO: u8 = 0x02;
const CONTRACT_STORAGE: u8 = 0x03;
/// The regions of x/bank's store.
const SUPPLY: u8 = 0x00;
const BALANCES: u8 = 0x02;

impl WatchKey {
    /// A key of any store, or a prefix of keys, of a form that the chain has declared for that store.
    pub fn raw(store: impl Into<String>, prefix: impl Into<Binary>) -> Self {
        WatchKey(proto::WatchKey { store: store.into(), prefix: prefix.into(), when: None })
    }

    fn wasm(region: u8, contract: &CanonicalAddr, key: &[u8]) -> Self {
        WatchKey::raw("wasm", [&[region], contract.as_slice(), key].concat())
    }

    fn bank(region: u8, address: &CanonicalAddr, denom: &str) -> Self {
        // An address has at most 255 bytes, which are preceded by their number.
        let length = address.as_slice().len() as u8;
        WatchKey::raw("bank", [&[region, length], address.as_slice(), denom.as_bytes()].concat())
    }

    /// One key of a contract's storage. With cw-storage-plus, an item's key is `ITEM.as_slice()`, and a map's entry is at
    /// `&*MAP.key(k)`.
    pub fn contract_key(contract: &CanonicalAddr, key: &[u8]) -> Self {
        WatchKey::wasm(CONTRACT_STORAGE, contract, key)
    }

    /// All that a contract stores.
    pub fn contract(contract: &CanonicalAddr) -> Self {
        WatchKey::wasm(CONTRACT_STORAGE, contract, &[])
    }

    /// Which code and admin a contract has.
    pub fn contract_info(contract: &CanonicalAddr) -> Self {
        WatchKey::wasm(CONTRACT_INFO, contract, &[])
    }

    /// The balance of an address in one denom.
    pub fn balance(address: &CanonicalAddr, denom: &str) -> Self {
        WatchKey::bank(BALANCES, address, denom)
    }

    /// All balances of an address.
    pub fn balances(address: &CanonicalAddr) -> Self {
        WatchKey::bank(BALANCES, address, "")
    }

    /// The supply of a denom.
    pub fn supply(denom: &str) -> Self {
        WatchKey::raw("bank", [&[SUPPLY], denom.as_bytes()].concat())
    }

    /// With a condition on its value. The key must be one whole key. In a watch only a change that makes the condition
    /// true makes the timer due; in [`Timer::only_if`](crate::Timer::only_if) it must hold when the timer fires.
    #[must_use]
    pub fn when(mut self, condition: Condition) -> Self {
        let (op, value) = match condition {
            Condition::Exists => (proto::ConditionOp::Exists, String::new()),
            Condition::Absent => (proto::ConditionOp::Absent, String::new()),
            Condition::Equal(value) => (proto::ConditionOp::Equal, value),
            Condition::Less(value) => (proto::ConditionOp::Less, value),
            Condition::LessOrEqual(value) => (proto::ConditionOp::LessOrEqual, value),
            Condition::Greater(value) => (proto::ConditionOp::Greater, value),
            Condition::GreaterOrEqual(value) => (proto::ConditionOp::GreaterOrEqual, value),
        };
        self.0.when = Some(proto::WatchCondition { op, value });
        self
    }

    /// [When](WatchKey::when) the key is there.
    #[must_use]
    pub fn exists(self) -> Self {
        self.when(Condition::Exists)
    }

    /// [When](WatchKey::when) the key is not there.
    #[must_use]
    pub fn absent(self) -> Self {
        self.when(Condition::Absent)
    }

    /// [When](WatchKey::when) its value is equal.
    #[must_use]
    pub fn equal(self, value: impl ToString) -> Self {
        self.when(Condition::Equal(value.to_string()))
    }

    /// [When](WatchKey::when) its value is less.
    ///
    /// ```
    /// # use cosmwasm_std::CanonicalAddr;
    /// # use cw_timers::{Condition, WatchKey};
    /// # let owner = CanonicalAddr::from([7u8; 20]);
    /// let poor = WatchKey::balance(&owner, "utmr").less(100);
    /// assert_eq!(poor, WatchKey::balance(&owner, "utmr").when(Condition::Less("100".into())));
    /// ```
    #[must_use]
    pub fn less(self, value: impl ToString) -> Self {
        self.when(Condition::Less(value.to_string()))
    }

    /// [When](WatchKey::when) its value is less or equal.
    #[must_use]
    pub fn less_or_equal(self, value: impl ToString) -> Self {
        self.when(Condition::LessOrEqual(value.to_string()))
    }

    /// [When](WatchKey::when) its value is greater.
    #[must_use]
    pub fn greater(self, value: impl ToString) -> Self {
        self.when(Condition::Greater(value.to_string()))
    }

    /// [When](WatchKey::when) its value is greater or equal.
    #[must_use]
    pub fn greater_or_equal(self, value: impl ToString) -> Self {
        self.when(Condition::GreaterOrEqual(value.to_string()))
    }

    /// The key as it is on the wire.
    pub fn into_proto(self) -> proto::WatchKey {
        self.0
    }
}

/// A condition on the value of a key. Values are decimal numbers such as `1000000` or `-0.5`, or bytes: as text, or after
/// `0x` in hexadecimal. A value has at most 64 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Condition {
    /// The key is there.
    Exists,
    /// The key is not there.
    Absent,
    /// Its value is equal.
    Equal(String),
    /// Its value is less.
    Less(String),
    /// Its value is less or equal.
    LessOrEqual(String),
    /// Its value is greater.
    Greater(String),
    /// Its value is greater or equal.
    GreaterOrEqual(String),
}
