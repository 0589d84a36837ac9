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
