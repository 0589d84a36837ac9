//! The calendar against the chain's vectors, which a walk minute by minute has checked.
#![cfg(feature = "schedule")]

use std::fs;
use std::path::Path;

use cw_timers::schedule::{Calendar, Cron, Every, Invalid, Rule, Transition, MAX_TIME};
use serde_json::Value;

fn vectors() -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../x/timers/schedule/testdata/vectors.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn calendar_of(v: &Value) -> Calendar {
    let int = |v: &Value| v.as_i64().unwrap();
    let rule = match v.get("every") {
        Some(every) => Rule::Every(Every { seconds: int(&every["seconds"]), anchor: int(&every["anchor"]) }),
        None => {
            let cron = &v["cron"];
            Rule::Cron(Cron {
                minutes: cron["minutes"].as_str().unwrap().parse().unwrap(),
                hours: int(&cron["hours"]) as u32,
                days: int(&cron["days"]) as u32,
                last_day: cron["last_day"].as_bool().unwrap(),
                months: int(&cron["months"]) as u16,
                weekdays: int(&cron["weekdays"]) as u8,
                nth: cron.get("nth").map_or(0, int) as u16,
            })
        }
    };
    let transitions = v["transitions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| Transition { from: int(&t["from"]), offset_minutes: int(&t["offset_minutes"]) as i32 })
        .collect();
    Calendar { rule, offset_minutes: int(&v["offset_minutes"]) as i32, transitions }
}

#[test]
fn calendars_are_due_when_the_chain_says() {
    let vectors = vectors();
    assert!(vectors.len() > 250, "{}", vectors.len());
    for v in &vectors {
        let name = &v["name"];
        let calendar = calendar_of(v);
        calendar.validate().unwrap_or_else(|err| panic!("{name}: {err}"));
        let (after, horizon) = (v["after"].as_i64().unwrap(), v["horizon"].as_i64().unwrap());
        let want: Vec<i64> = v["next"].as_array().unwrap().iter().map(|n| n.as_i64().unwrap()).collect();
        let mut found = Vec::new();
        let mut at = after;
        while found.len() < 4 {
            let Some(next) = calendar.next(at, horizon) else { break };
            assert_eq!(calendar.latest(next), Some(next), "{name}");
            assert_eq!(calendar.latest(next - 1), found.last().copied().or(calendar.latest(after)), "{name}");
            found.push(next);
            at = next;
        }
        assert_eq!(found, want, "{name}");
        assert_eq!(calendar.latest(after).unwrap_or(-1), v["latest"].as_i64().unwrap(), "{name}");
        if let Some(last) = want.last() {
            assert_eq!(calendar.count(after, *last, 10), (want.len() as u64, true), "{name}");
            assert_eq!(calendar.count(after, last - 1, 10), (want.len() as u64 - 1, true), "{name}");
        }
    }
}

/// Days that people know: the second Tuesday, Thanksgiving, and a fifth Friday of February, which may be 12 years away.
#[test]
fn positions_in_a_month() {
    let days = days(140);
    let start = |date: (i64, i64, i64)| days.iter().find(|day| day.date == date).unwrap().start;
    let all = Cron::ALL.months;
    for (months, weekdays, nth, after, want) in [
        (all, 1 << 2, 1 << 2, (2026, 1, 1), &[(2026, 1, 13), (2026, 2, 10), (2026, 3, 10)][..]),
        (all, 0b0111110, 1 << 6, (2026, 1, 1), &[(2026, 1, 30), (2026, 2, 27), (2026, 3, 31)]),
        (1 << 11, 1 << 4, 1 << 4, (2026, 1, 1), &[(2026, 11, 26), (2027, 11, 25)]),
        (all, 1 << 2, 1 << 5, (2026, 1, 1), &[(2026, 3, 31), (2026, 6, 30), (2026, 9, 29)]),
        (all, 0b0111110, 1 << 1 | 1 << 6, (2026, 5, 1), &[(2026, 5, 29), (2026, 6, 1), (2026, 6, 30)]),
        (1 << 2, 1 << 2, 1 << 5, (2001, 1, 1), &[(2028, 2, 29), (2056, 2, 29)]),
        (1 << 2, 1 << 5, 1 << 5, (2092, 3, 1), &[(2104, 2, 29)]),
    ] {
        let calendar = Calendar::cron(Cron { minutes: 1, hours: 1, months, weekdays, nth, ..Cron::ALL }, 0);
        assert_eq!(calendar.validate(), Ok(()));
        let mut at = start(after);
        for want in want {
            at = calendar.next(at, MAX_TIME).unwrap();
            assert_eq!(at, start(*want), "{want:?}");
            assert_eq!((calendar.latest(at), calendar.latest(at + 86_399)), (Some(at), Some(at)));
        }
    }
}

/// Whatever weekdays and positions, each day of 30 years at one of them is an occurrence, and no other.
#[test]
fn positions_are_those_of_a_day_by_day_model() {
    let days = days(30);
    for (weekdays, nth) in (1..1u32 << 7).zip((1..1u32 << 10).map(|n| n * 397 % 1_024).cycle()) {
        let (weekdays, nth) = (weekdays as u8, (nth.max(1) << 1) as u16);
        let calendar = Calendar::cron(Cron { minutes: 1, hours: 1, weekdays, nth, ..Cron::ALL }, 0);
        let mut want = Vec::new();
        for month in days.chunk_by(|a, b| a.date.1 == b.date.1) {
            let kept: Vec<&Day> = month.iter().filter(|day| weekdays >> day.weekday & 1 == 1).collect();
            for (i, day) in kept.iter().enumerate() {
                let (first, last) = (i + 1, kept.len() - i);
                if first <= 5 && nth >> first & 1 == 1 || last <= 5 && nth >> (5 + last) & 1 == 1 {
                    want.push(day.start);
                }
            }
        }
        let end = days.last().unwrap().start;
        let mut got = Vec::new();
        let mut at = -1;
        while let Some(next) = calendar.next(at, end) {
            got.push(next);
            at = next;
        }
        assert_eq!(got, want, "{weekdays:b} {nth:b}");
        let mut back = Vec::new();
        while let Some(latest) = calendar.latest(at) {
            back.push(latest);
            at = latest - 1;
        }
        back.reverse();
        assert_eq!(back, want, "{weekdays:b} {nth:b}");
    }
}

struct Day {
    start: i64,
    weekday: i64,
    /// Year, month and day.
    date: (i64, i64, i64),
}

/// The days of so many years from 1970 on, counted one after another.
fn days(years: i64) -> Vec<Day> {
    let (mut date, mut days) = ((1970, 1, 1), Vec::new());
    while date.0 < 1970 + years {
        let (year, month, day) = date;
        let number = days.len() as i64;
        // 1970-01-01 was a Thursday.
        days.push(Day { start: number * 86_400, weekday: (number + 4) % 7, date });
        let length = match month {
            2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        date = match (month, day) {
            (12, 31) => (year + 1, 1, 1),
            _ if day == length => (year, month + 1, 1),
            _ => (year, month, day + 1),
        };
    }
    days
}

#[test]
fn ends_of_the_domain() {
    let minutely = Calendar::cron(Cron::ALL, 0);
    assert_eq!(minutely.next(MAX_TIME - 59, i64::MAX), None);
    assert_eq!(minutely.next(MAX_TIME - 60, i64::MAX), Some(MAX_TIME - 59));
    assert_eq!(minutely.next(i64::MIN, i64::MAX), Some(0));
    assert_eq!((minutely.latest(i64::MAX), minutely.latest(i64::MIN)), (Some(MAX_TIME - 59), None));
    let every = Calendar::every(Every { seconds: MAX_TIME, anchor: MAX_TIME });
    assert_eq!((every.next(0, MAX_TIME), every.next(MAX_TIME, i64::MAX)), (Some(MAX_TIME), None));
    assert_eq!(every.count(i64::MIN, i64::MAX, 0), (1, true));
    assert_eq!(minutely.count(0, i64::MAX, 7), (7, false));
    for offset in [-18 * 60, 18 * 60] {
        let daily = Calendar::cron(Cron { minutes: 1, hours: 1, ..Cron::ALL }, offset);
        assert_eq!(daily.next(-5, MAX_TIME).map(|t| t % 86_400), Some(i64::from(-offset * 60).rem_euclid(86_400)));
    }
}

#[test]
fn what_the_chain_refuses_is_refused() {
    let cron = |change: fn(&mut Cron)| {
        let mut cron = Cron::ALL;
        change(&mut cron);
        Calendar::cron(cron, 0).validate()
    };
    assert_eq!(cron(|c| c.minutes = 0), Err(Invalid::Set));
    assert_eq!(cron(|c| c.minutes = 1 << 60), Err(Invalid::Set));
    assert_eq!(cron(|c| c.hours = 1 << 24), Err(Invalid::Set));
    assert_eq!(cron(|c| c.days = 1), Err(Invalid::Set));
    assert_eq!(cron(|c| c.months = 1), Err(Invalid::Set));
    assert_eq!(cron(|c| c.weekdays = 1 << 7), Err(Invalid::Set));
    assert_eq!(cron(|c| (c.days, c.months) = (1 << 30, 1 << 2)), Err(Invalid::NoDay));
    assert_eq!(cron(|c| (c.days, c.months) = (1 << 29, 1 << 2)), Ok(()));
    assert_eq!(cron(|c| (c.days, c.last_day) = (0, true)), Ok(()));
    assert_eq!(cron(|c| (c.weekdays, c.nth) = (1 << 2, 1 << 2)), Ok(()));
    assert_eq!(cron(|c| (c.days, c.nth) = (1 << 3, 1 << 2)), Err(Invalid::Nth));
    assert_eq!(cron(|c| (c.last_day, c.nth) = (true, 1 << 2)), Err(Invalid::Nth));
    assert_eq!(cron(|c| c.nth = 1), Err(Invalid::Set));
    assert_eq!(cron(|c| c.nth = 1 << 11), Err(Invalid::Set));
    for (seconds, anchor) in [(59, 0), (60, -1), (60, MAX_TIME + 1), (MAX_TIME + 1, 0)] {
        assert_eq!(Calendar::every(Every { seconds, anchor }).validate(), Err(Invalid::Every));
    }
    let mut local = Calendar::every(Every { seconds: 60, anchor: 0 });
    local.offset_minutes = 60;
    assert_eq!(local.validate(), Err(Invalid::Every));
    assert_eq!(Calendar::cron(Cron::ALL, 1_081).validate(), Err(Invalid::Offset));
    assert_eq!(Calendar::cron(Cron::ALL, i32::MIN).validate(), Err(Invalid::Offset));
    let changes = |froms: &[i64]| {
        let transitions = froms.iter().map(|&from| Transition { from, offset_minutes: 0 }).collect();
        Calendar { rule: Rule::Cron(Cron::ALL), offset_minutes: 0, transitions }.validate()
    };
    assert_eq!(changes(&[60, 120]), Ok(()));
    for froms in [&[61][..], &[120, 60], &[60, 60], &[-60], &[MAX_TIME + 1]] {
        assert_eq!(changes(froms), Err(Invalid::Transitions), "{froms:?}");
    }
    assert_eq!(changes(&(1..=17).map(|i| i * 60).collect::<Vec<_>>()), Err(Invalid::Transitions));
}
