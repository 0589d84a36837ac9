//! What the builders send, in both forms.

use std::fs;
use std::path::Path;

use cosmwasm_std::{
    coins, from_json, to_json_string, to_json_vec, Addr, AnyMsg, Binary, CanonicalAddr, CosmosMsg, Decimal, Empty,
    Timestamp, Uint128,
};
use cw_timers::proto::{
    self, Any, AuctionParams, AuctionStanding, DecodeError, Message, MsgScheduleTimer, PaymentRule, QueryLaneResponse,
    TimerConfig,
};
use cw_timers::{
    default_max_charge, schedule, Bid, Calendar, Change, Condition, Cron, Interval, Missed, OnUnfunded, ResumeAt, Tier,
    Timer, TimerId, TimersMsg, TimersQuery, TimersRequest, Trigger, Update, Watch, WatchKey,
};
use serde_json::{json, Value};

fn me() -> Addr {
    Addr::unchecked("timer1me")
}

fn id() -> TimerId {
    TimerId::new("ab".repeat(32)).unwrap()
}

fn any(msg: CosmosMsg<Empty>) -> AnyMsg {
    match msg {
        CosmosMsg::Any(any) => any,
        other => panic!("{other:?}"),
    }
}

fn custom(msg: CosmosMsg<TimersMsg>) -> Value {
    match msg {
        CosmosMsg::Custom(msg) => {
            let text = to_json_string(&msg).unwrap();
            let read = from_json::<TimersMsg>(&text).unwrap();
            assert_eq!(to_json_string(&read).unwrap(), text);
            serde_json::from_str(&text).unwrap()
        }
        other => panic!("{other:?}"),
    }
}

fn full() -> Timer {
    Timer::on(Interval::every(100).first(500))
        .remaining(3)
        .stop_on_failure()
        .handler_with_delivery("tick")
        .payload(&json!({"n": 7}))
        .unwrap()
        .fee_payer("timer1payer")
        .gas_limit(200_000)
        .cell_limit(1_000)
        .expires_at(90_000)
        .bid(Bid::Static {
            max_fee_per_cycle: Decimal::permille(5),
            max_priority_fee_per_cycle: Decimal::from_ratio(1u128, 10_000u128),
        })
        .max_charge(9_000u128)
        .retry(2, 5)
        .on_unfunded(OnUnfunded::Suspend)
        .name("rent")
        .actor("timer1other")
}

#[test]
fn a_schedule_in_json() {
    assert_eq!(
        custom(full().into_msg(&me())),
        json!({"timers": {"schedule": {"actor": "timer1other", "spec": {
            "name": "rent", "trigger": {"interval": {"every": "100", "first": "500"}},
            "repeat": {"remaining": "3", "on_failure": "ON_FAILURE_STOP"},
            "call": {"handler": "tick+delivery", "payload": "eyJuIjo3fQ=="},
            "gas_limit": "200000", "cell_limit": "1000",
            "bid": {"static": {"max_fee_per_cycle": "0.005", "max_priority_fee_per_cycle": "0.0001"}},
            "max_charge": "9000", "fee_payer": "timer1payer", "expires_at": "90000",
            "retry": {"max": 2, "after": "5"}, "on_unfunded": "ON_UNFUNDED_SUSPEND",
        }}}})
    );
}

#[test]
fn a_schedule_in_protobuf() {
    let msg = any(full().into_msg(&me()));
    assert_eq!(msg.type_url, "/timers.v1.MsgScheduleTimer");
    let mut want = full().into_proto();
    want.sender = "timer1me".into();
    assert_eq!(MsgScheduleTimer::decode(&msg.value).unwrap(), want);
}

/// The bytes themselves, written by hand.
#[test]
fn the_bytes_of_protobuf() {
    let msg = any(Timer::at(300).payload_bytes(b"beat").gas_limit(200_000).name("x").into_msg(&me()));
    let mut want = vec![0x0a, 8];
    want.extend(b"timer1me");
    want.extend([0x1a, 20]); // spec
    want.extend([0x0a, 1, b'x']); // name
    want.extend([0x12, 3, 0x08, 0xac, 0x02]); // trigger { height: 300 }
    want.extend([0x22, 6, 0x12, 4]); // call { payload }
    want.extend(b"beat");
    want.extend([0x30, 0xc0, 0x9a, 0x0c]); // gas_limit: 200000
    assert_eq!(msg.value.as_slice(), want);

    let keys = Watch::keys([WatchKey::raw("bank", b"k"), WatchKey::raw("bank", b"l").when(Condition::Exists)]);
    let watch = spec(Timer::on(keys.cooldown(3)).remaining(2)).encode();
    assert_eq!(
        watch.as_slice(),
        [
            &[0x12, 30, 0x1a, 28, 0x0a, 9, 0x0a, 4][..],
            b"bank",
            &[0x12, 1, b'k', 0x0a, 13, 0x0a, 4],
            b"bank",
            &[0x12, 1, b'l', 0x1a, 2, 0x08, 1, 0x10, 3, 0x1a, 2, 0x08, 2]
        ]
        .concat()
    );

    let update = Update::of(&id()).remaining(7).if_seq(3).into_proto().encode();
    let fields = [&[0x22, 4, 0x1a, 2, 0x08, 7, 0x2a, 16][..], b"repeat.remaining", &[0x30, 3]].concat();
    assert_eq!(update[66..], fields, "after the id");
}

fn spec(timer: Timer) -> proto::TimerSpec {
    timer.into_proto().spec.unwrap()
}

/// What a timer states of its trigger and its repetitions.
fn trigger(timer: Timer) -> Value {
    let spec = spec(timer);
    json!([spec.trigger, spec.repeat])
}

#[test]
fn each_trigger() {
    let contract = CanonicalAddr::from([7u8; 32]);
    assert_eq!(trigger(Timer::at(12)), json!([{"height": "12"}, null]));
    assert_eq!(trigger(Timer::on(Trigger::After(9))), json!([{"after": "9"}, null]));
    assert_eq!(trigger(Timer::every(2)), json!([{"interval": {"every": "2"}}, null]));
    let key = [&[3u8][..], &[7; 32], b"price"].concat();
    for (condition, want) in [
        (Condition::Exists, json!({"op": "CONDITION_OP_EXISTS"})),
        (Condition::Absent, json!({"op": "CONDITION_OP_ABSENT"})),
        (Condition::Equal("5".into()), json!({"op": "CONDITION_OP_EQUAL", "value": "5"})),
        (Condition::Less("5".into()), json!({"op": "CONDITION_OP_LESS", "value": "5"})),
        (Condition::LessOrEqual("5".into()), json!({"op": "CONDITION_OP_LESS_OR_EQUAL", "value": "5"})),
        (Condition::Greater("5".into()), json!({"op": "CONDITION_OP_GREATER", "value": "5"})),
        (Condition::GreaterOrEqual("-0.5".into()), json!({"op": "CONDITION_OP_GREATER_OR_EQUAL", "value": "-0.5"})),
    ] {
        let watch = Watch::key(WatchKey::contract_key(&contract, b"price").when(condition));
        assert_eq!(
            trigger(Timer::on(watch)),
            json!([{"watch": {"keys": [{"store": "wasm", "prefix": Binary::from(key.clone()), "when": want}]}}, {"remaining": "1"}])
        );
    }
    let watch = Watch::key(WatchKey::contract_key(&contract, b"price"));
    assert_eq!(spec(Timer::on(watch).remaining(0)).repeat, None, "until it expires");
}

#[test]
fn triggers_by_time() {
    let at = Timestamp::from_seconds(1_772_355_600);
    assert_eq!(trigger(Timer::at_time(at)), json!([{"time": "2026-03-01T09:00:00Z"}, null]));
    assert_eq!(trigger(Timer::at_time(at.plus_nanos(1))), json!([{"time": "2026-03-01T09:00:01Z"}, null]));
    let every = Timer::on(Calendar::every_seconds(3_600).anchor(60)).remaining(4).suspend_on_failure(3);
    assert_eq!(
        trigger(every.missed(Missed::Each).window(600).jitter(30).renew()),
        json!([
            {"calendar": {"every": {"seconds": "3600", "anchor": "60"}}},
            {"remaining": "4", "missed": "MISSED_EACH", "window": "600", "jitter": "30",
             "on_failure": "ON_FAILURE_SUSPEND", "max_failures": 3, "renew": true},
        ])
    );
    let rule = Cron::every_minute().minutes([0, 59]).hours([9]).last_day().months([1, 12]).weekdays([0, 6]);
    let cron = Calendar::cron(rule).offset_minutes(-300).transition(600, -240).offset_final();
    assert_eq!(
        trigger(Timer::on(cron).suspend_on_failure(3).stop_on_failure()),
        json!([
            {"calendar": {
                "cron": {"minutes": "576460752303423489", "hours": 512, "last_day": true, "months": 4098, "weekdays": 65},
                "offset_minutes": -300, "transitions": [{"from": "600", "offset_minutes": -240}], "offset_final": true,
            }},
            {"on_failure": "ON_FAILURE_STOP"},
        ])
    );
    let interval = Timer::on(Interval::every(10).first(50).from_schedule()).missed(Missed::Latest);
    assert_eq!(
        trigger(interval.suspend_on_failure(2)),
        json!([
            {"interval": {"every": "10", "first": "50", "from": "INTERVAL_FROM_SCHEDULE"}},
            {"missed": "MISSED_LATEST", "on_failure": "ON_FAILURE_SUSPEND", "max_failures": 2},
        ])
    );
}

/// A number that a set can't have makes one that the chain refuses, and not another set.
#[test]
fn sets_have_no_other_numbers() {
    let any = Cron::every_minute;
    let calendar = |rule: Cron| schedule::Calendar::try_from(&Calendar::cron(rule).into_proto());
    for good in [
        any(),
        any().minutes(0..60).hours(0..24).days(1..32).months(1..13).weekdays(0..7),
        any().days([31]).last_day(),
        any().last_day().days([1]),
        any().nth([1, 5, -1, -5]).weekdays([2]),
        any().nth([]).last_day(),
    ] {
        assert!(calendar(good.clone()).is_ok(), "{good:?}");
    }
    for bad in [
        any().minutes([0, 60]),
        any().minutes([1, 64]),
        any().hours([1, 24]),
        any().hours([1, 32]),
        any().days([1, 0]),
        any().days([1, 32]),
        any().months([1, 0]),
        any().months([1, 13]),
        any().months([1, 99]),
        any().weekdays([1, 7]),
        any().weekdays([1, 40]),
        any().hours([]),
        any().nth([1, 0]),
        any().nth([6]),
        any().nth([-6]),
        any().nth([i32::MIN]),
    ] {
        assert_eq!(calendar(bad.clone()), Err(schedule::Invalid::Set), "{bad:?}");
    }
    assert_eq!(calendar(any().nth([2]).days([1])), Err(schedule::Invalid::Nth));
    let positions = Calendar::cron(any().weekdays([2]).nth([2, -1])).into_proto().cron.unwrap();
    assert_eq!((positions.weekdays, positions.nth), (1 << 2, 1 << 2 | 1 << 6));
}

#[test]
fn what_is_computed_is_what_is_scheduled() {
    use schedule::{Every, Invalid, Rule, Transition};
    let mut cron = schedule::Calendar::cron(schedule::Cron { hours: 1, last_day: true, ..schedule::Cron::ALL }, 60);
    cron.transitions =
        vec![Transition { from: 600, offset_minutes: 120 }, Transition { from: 1_200, offset_minutes: 60 }];
    let every = schedule::Calendar::every(Every { seconds: 600, anchor: 30 });
    let nth = schedule::Calendar::cron(schedule::Cron { weekdays: 1 << 2, nth: 1 << 6, ..schedule::Cron::ALL }, 0);
    for calendar in [cron.clone(), every, nth] {
        let trigger = Calendar::from(calendar.clone()).into_proto();
        assert_eq!(schedule::Calendar::try_from(&trigger), Ok(calendar));
    }
    // An anchor of 0 would be the time of the block.
    let from_0 = Calendar::from(schedule::Calendar::every(Every { seconds: 600, anchor: 0 })).into_proto();
    let read = schedule::Calendar::try_from(&from_0).unwrap();
    assert_eq!(read.rule, Rule::Every(Every { seconds: 600, anchor: 600 }));
    let mut two = from_0.clone();
    two.cron = Calendar::from(cron).into_proto().cron;
    for bad in [proto::CalendarTrigger::default(), two] {
        assert_eq!(schedule::Calendar::try_from(&bad), Err(Invalid::Rule));
    }
    let short = Calendar::every_seconds(59).into_proto();
    assert_eq!(schedule::Calendar::try_from(&short), Err(Invalid::Every));
}

/// Negative numbers take all 64 bits, and a time is a message.
#[test]
fn numbers_with_a_sign_and_times() {
    let zone = proto::OffsetTransition::with(|t| (t.from, t.offset_minutes) = (-60, -1));
    let minus = |last: u8| [&[last][..], &[0xff; 8], &[0x01]].concat();
    let want = [&[0x08][..], &minus(0xc4), &[0x10], &minus(0xff)].concat();
    assert_eq!(zone.encode().as_slice(), want);
    assert_eq!(proto::OffsetTransition::decode(&want), Ok(zone.clone()));
    assert_eq!(serde_json::to_value(&zone).unwrap(), json!({"from": "-60", "offset_minutes": -1}));
    for text in [r#"{"from":"-60","offset_minutes":-1}"#, r#"{"from":-60,"offset_minutes":"-1"}"#] {
        assert_eq!(from_json::<proto::OffsetTransition>(text).unwrap(), zone);
    }
    for bad in [r#"{"from":"9223372036854775808"}"#, r#"{"offset_minutes":2147483648}"#, r#"{"from":"x"}"#] {
        assert!(from_json::<proto::OffsetTransition>(bad).is_err(), "{bad}");
    }
    let trigger = spec(Timer::at_time(Timestamp::from_seconds(300))).trigger.unwrap();
    assert_eq!(trigger.encode().as_slice(), [0x22, 3, 0x08, 0xac, 0x02]);
    assert_eq!(proto::Trigger::decode(&trigger.encode()), Ok(trigger));
}

#[test]
fn times_in_json() {
    for (seconds, nanos, text) in [
        (0, 0, "1970-01-01T00:00:00Z"),
        (1_709_251_199, 0, "2024-02-29T23:59:59Z"),
        (-1, 500_000_000, "1969-12-31T23:59:59.500000000Z"),
        (-62_135_596_800, 0, "0001-01-01T00:00:00Z"),
        (253_402_300_799, 999_999_999, "9999-12-31T23:59:59.999999999Z"),
    ] {
        let time = proto::Timestamp { seconds, nanos };
        assert_eq!(serde_json::to_value(time).unwrap(), json!(text));
        assert_eq!(from_json::<proto::Timestamp>(json!(text).to_string()).unwrap(), time);
    }
    let half = from_json::<proto::Timestamp>(r#""1970-01-01T00:00:01.5Z""#).unwrap();
    assert_eq!((half.seconds, half.nanos), (1, 500_000_000));
    for bad in [
        "",
        "Z",
        "1970-01-01",
        "1970-01-01T00:00:00",
        "1970-01-01 00:00:00Z",
        "1970-13-01T00:00:00Z",
        "2023-02-29T00:00:00Z",
        "1970-01-00T00:00:00Z",
        "1970-01-01T24:00:00Z",
        "1970-01-01T00:60:00Z",
        "1970-01-01T00:00:60Z",
        "0000-01-01T00:00:00Z",
        "1970-01-01T00:00:00.Z",
        "1970-01-01T00:00:00.1234567890Z",
        "1970-01-01T00:00:00.+1Z",
        "+970-01-01T00:00:00Z",
        "1970-01-01T00:0é:00Z",
    ] {
        assert!(from_json::<proto::Timestamp>(json!(bad).to_string()).is_err(), "{bad}");
    }
    for (seconds, nanos) in [(-62_135_596_801, 0), (253_402_300_800, 0), (0, -1), (0, 1_000_000_000)] {
        assert!(serde_json::to_value(proto::Timestamp { seconds, nanos }).is_err(), "{seconds} {nanos}");
    }
}

#[test]
fn what_a_timer_survives() {
    let timer = Timer::every(5)
        .renew()
        .expires_time(Timestamp::from_seconds(900).plus_nanos(1))
        .retry_backoff(2)
        .retry_on("wasm", 5)
        .retry_on("timers", 0)
        .retry(3, 10)
        .on_unfunded(OnUnfunded::Skip);
    assert_eq!(
        custom(timer.clone().into_msg(&me())),
        json!({"timers": {"schedule": {"spec": {
            "trigger": {"interval": {"every": "5"}}, "repeat": {"renew": true}, "expires_time": "900",
            "retry": {"max": 3, "after": "10", "backoff": 2,
                "on": [{"codespace": "wasm", "code": 5}, {"codespace": "timers"}]},
            "on_unfunded": "ON_UNFUNDED_SKIP",
        }}}})
    );
    let mut want = timer.clone().into_proto();
    want.sender = "timer1me".into();
    assert_eq!(MsgScheduleTimer::decode(&any(timer.into_msg(&me())).value).unwrap(), want);
}

#[test]
fn keys_of_stores() {
    let prefix = |key: WatchKey| spec(Timer::on(Watch::key(key))).trigger.unwrap().watch.unwrap().keys[0].clone();
    let contract = CanonicalAddr::from([7u8; 32]);
    let account = CanonicalAddr::from([9u8; 20]);
    for (key, store, bytes) in [
        (WatchKey::contract(&contract), "wasm", [&[3u8][..], &[7; 32]].concat()),
        (WatchKey::contract_info(&contract), "wasm", [&[2u8][..], &[7; 32]].concat()),
        (WatchKey::balance(&account, "utmr"), "bank", [&[2u8, 20][..], &[9; 20], b"utmr"].concat()),
        (WatchKey::balances(&account), "bank", [&[2u8, 20][..], &[9; 20]].concat()),
        (WatchKey::supply("utmr"), "bank", b"\x00utmr".to_vec()),
    ] {
        let got = prefix(key);
        assert_eq!((got.store.as_str(), got.prefix.as_slice()), (store, bytes.as_slice()));
    }
}

#[test]
fn each_bid() {
    let bid = |b: Bid| serde_json::to_value(spec(Timer::at(2).bid(b)).bid).unwrap();
    assert_eq!(bid(Bid::Default), json!(null));
    assert_eq!(bid(Bid::Tier(Tier::Economy)), json!({"tier": "PRIORITY_TIER_ECONOMY"}));
    assert_eq!(bid(Bid::Tier(Tier::Standard)), json!({"tier": "PRIORITY_TIER_STANDARD"}));
    assert_eq!(bid(Bid::Tier(Tier::Fast)), json!({"tier": "PRIORITY_TIER_FAST"}));
    assert_eq!(bid(Bid::Tier(Tier::Urgent)), json!({"tier": "PRIORITY_TIER_URGENT"}));
    assert_eq!(bid(Bid::Agent("timer1a".into())), json!({"agent": "timer1a"}));
    assert_eq!(bid(Bid::Price(Uint128::new(5))), json!({"price": "5"}));
}

#[test]
fn each_change() {
    let id = id();
    let text = id.as_str();
    for (json_form, proto_form, want) in [
        (Change::cancel(&id).into_msg(&me()), Change::cancel(&id).into_msg(&me()), json!({"cancel": {"id": text}})),
        (
            Change::extend(&id, 90_000).actor("timer1c").into_msg(&me()),
            Change::extend(&id, 90_000).actor("timer1c").into_msg(&me()),
            json!({"extend": {"id": text, "expires_at": "90000", "actor": "timer1c"}}),
        ),
        (Change::pause(&id).into_msg(&me()), Change::pause(&id).into_msg(&me()), json!({"pause": {"id": text}})),
        (Change::resume(&id).into_msg(&me()), Change::resume(&id).into_msg(&me()), json!({"resume": {"id": text}})),
        (
            Change::resume_at(&id, ResumeAt::Next).into_msg(&me()),
            Change::resume_at(&id, ResumeAt::Next).into_msg(&me()),
            json!({"resume": {"id": text, "at": "RESUME_AT_NEXT"}}),
        ),
        (
            Change::extend_time(&id, Timestamp::from_seconds(90)).into_msg(&me()),
            Change::extend_time(&id, Timestamp::from_seconds(90)).into_msg(&me()),
            json!({"extend": {"id": text, "expires_time": "90"}}),
        ),
        (
            Change::skip(&id, 3).actor("timer1c").into_msg(&me()),
            Change::skip(&id, 3).actor("timer1c").into_msg(&me()),
            json!({"skip": {"id": text, "count": 3, "actor": "timer1c"}}),
        ),
        (
            Change::run(&id).actor("timer1c").into_msg(&me()),
            Change::run(&id).actor("timer1c").into_msg(&me()),
            json!({"run": {"id": text, "actor": "timer1c"}}),
        ),
        (
            Change::set_agent("timer1a").into_msg(&me()),
            Change::set_agent("timer1a").into_msg(&me()),
            json!({"set_agent": {"agent": "timer1a"}}),
        ),
        (Change::clear_agent().into_msg(&me()), Change::clear_agent().into_msg(&me()), json!({"set_agent": {}})),
        (
            Update::of(&id)
                .handler("tick")
                .payload(&json!({}))
                .unwrap()
                .gas_limit(1)
                .cell_limit(2)
                .bid(Bid::Default)
                .max_charge(0u128)
                .into_msg(&me()),
            Update::of(&id)
                .handler("tick")
                .payload(&json!({}))
                .unwrap()
                .gas_limit(1)
                .cell_limit(2)
                .bid(Bid::Default)
                .max_charge(0u128)
                .into_msg(&me()),
            json!({"update": {
                "id": text,
                "spec": {"call": {"handler": "tick", "payload": "e30="}, "gas_limit": "1", "cell_limit": "2", "max_charge": "0"},
                "fields": ["call", "gas_limit", "cell_limit", "bid", "max_charge"],
            }}),
        ),
    ] {
        assert_eq!(custom(json_form), json!({"timers": want}));
        let msg = any(proto_form);
        let (name, _) = want.as_object().unwrap().iter().next().unwrap();
        let camel = match name.as_str() {
            "set_agent" => "SetAgent".to_string(),
            verb => format!("{}{}Timer", verb[..1].to_uppercase(), &verb[1..]),
        };
        assert_eq!(msg.type_url, format!("/timers.v1.Msg{camel}"));
        assert_eq!(&msg.value[..10], b"\x0a\x08timer1me", "the sender is the contract");
    }
}

#[test]
fn messages_in_json_and_protobuf() {
    let timer = || {
        Timer::after(9).message(Any::send(me(), "timer1to", &coins(5, "utmr"))).message(
            Any::execute(me(), "timer1pool", &json!({"swap": {"min": "1", "path": [1, -2, null, true]}}), &[]).unwrap(),
        )
    };
    assert_eq!(
        custom(timer().into_msg(&me())),
        json!({"timers": {"schedule": {"spec": {"trigger": {"after": "9"}, "call": {"messages": [
            {"@type": "/cosmos.bank.v1beta1.MsgSend", "from_address": "timer1me", "to_address": "timer1to",
             "amount": [{"denom": "utmr", "amount": "5"}]},
            {"@type": "/cosmwasm.wasm.v1.MsgExecuteContract", "sender": "timer1me", "contract": "timer1pool",
             "msg": {"swap": {"min": "1", "path": [1, -2, null, true]}}, "funds": []},
        ]}}}}})
    );
    let decoded = MsgScheduleTimer::decode(&any(timer().into_msg(&me())).value).unwrap();
    let messages = decoded.spec.unwrap().call.unwrap().messages;
    assert_eq!(messages[0].type_url, "/cosmos.bank.v1beta1.MsgSend");
    assert_eq!(messages[0].value.as_slice(), b"\x0a\x08timer1me\x12\x08timer1to\x1a\x09\x0a\x04utmr\x12\x015");
    assert_eq!(messages[1].type_url, "/cosmwasm.wasm.v1.MsgExecuteContract");

    // A message that is known in protobuf only goes as protobuf, on the JSON wire too.
    let raw = AnyMsg { type_url: "/ibc.X".into(), value: Binary::from(b"x") };
    let msg: CosmosMsg<TimersMsg> = Timer::after(9).message(raw).into_msg(&me());
    assert!(matches!(msg, CosmosMsg::Any(_)), "{msg:?}");
    let nested = Any::timers(&full().into_proto());
    assert!(matches!(Timer::after(9).message(nested).into_msg::<TimersMsg>(&me()), CosmosMsg::Custom(_)));
}

/// What a policy adds to an answer is read from protobuf and from JSON, and from no other message.
#[test]
fn what_a_policy_adds_is_read() {
    let standing = AuctionStanding::with(|s| s.lambda = "0.01".to_string());
    let params = AuctionParams::with(|p| {
        p.payment_rule = PaymentRule::Vcg;
        p.auction_window_blocks = 20;
    });
    let lane = QueryLaneResponse::with(|r| {
        r.height = 7;
        r.of_policy = Some(standing.to_any().into());
    });
    let config = TimerConfig::with(|c| c.policy_params = vec![params.to_any().into()]);
    let lane_json: QueryLaneResponse =
        from_json(r#"{"height": "7", "of_policy": {"@type": "/timers.auction.v1.Standing", "lambda": "0.01"}}"#)
            .unwrap();
    let config_json: TimerConfig = from_json(
        r#"{"policy_params": [{"@type": "/timers.auction.v1.Params", "payment_rule": "PAYMENT_RULE_VCG",
            "auction_window_blocks": "20", "of_a_later_version": {}}]}"#,
    )
    .unwrap();

    for lane in [QueryLaneResponse::decode(&lane.encode()).unwrap(), lane_json] {
        let added = lane.of_policy.expect("what the policy adds");
        assert_eq!(added.to_message(), Some(standing.clone()));
        assert_eq!(added.to_message::<AuctionParams>(), None);
    }
    for config in [TimerConfig::decode(&config.encode()).unwrap(), config_json] {
        assert_eq!(config.policy_params[0].to_message(), Some(params.clone()));
    }
    assert_eq!(from_json::<QueryLaneResponse>(r#"{"of_policy": null}"#).unwrap().of_policy, None);
    let broken = AnyMsg { type_url: "/timers.auction.v1.Standing".into(), value: Binary::from(b"\x0a\x05x") };
    assert_eq!(Any::from(broken).to_message::<AuctionStanding>(), None);
}

/// Each line of the chain's documentation that is a message or a query is one of the crate's.
#[test]
fn the_documented_json_is_read() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../x/timers/docs/use/contracts.md");
    let (mut messages, mut queries) = (0, 0);
    for line in fs::read_to_string(path).unwrap().lines().filter(|l| l.starts_with(r#"{"timers": "#)) {
        let stated: Value = serde_json::from_str(line).unwrap();
        let again = if let Ok(msg) = from_json::<TimersMsg>(line) {
            messages += 1;
            serde_json::to_value(&msg).unwrap()
        } else {
            queries += 1;
            serde_json::to_value(from_json::<TimersQuery>(line).unwrap()).unwrap()
        };
        assert_eq!(texts(stated), texts(again), "{line}");
    }
    assert_eq!((messages, queries), (7, 8));
}

/// Numbers and numbers in quotes are alike.
fn texts(value: Value) -> Value {
    match value {
        Value::Number(n) => Value::String(n.to_string()),
        Value::Array(items) => items.into_iter().map(texts).collect(),
        Value::Object(members) => Value::Object(members.into_iter().map(|(k, v)| (k, texts(v))).collect()),
        other => other,
    }
}

/// An answer as the chain writes it: with defaults, nulls, and names of enums.
#[test]
fn answers_in_json_are_read() {
    let answer = r#"{"timers":[{"id":"ab","actor":"timer1me","scheduler":"",
        "spec":{"name":"","trigger":{"height":"12","interval":null,"watch":null,"time":null,"after":"0"},"repeat":null,
            "call":{"handler":"","payload":null,"messages":[{"@type":"/x.Y","n":1}]},
            "bid":{"static":null,"tier":"PRIORITY_TIER_FAST"},"retry":null},
        "status":{"phase":"TIMER_PHASE_READY","tier":"TIMER_TIER_NEW","due":"12","payload_bytes":"600","fire_seq":3,
            "matched":[]},"not_yet":{"known":[1]}}],"pagination":{"next_key":"AQI=","total":"0"},"total":1}"#;
    let read: proto::QueryTimersByActorResponse = from_json(answer).unwrap();
    let (spec, status) = (read.timers[0].spec.clone().unwrap(), read.timers[0].status.clone().unwrap());
    assert_eq!((status.due, status.payload_bytes, status.fire_seq, read.total), (12, 600, 3, 1));
    assert_eq!(status.phase, proto::TimerPhase::Ready);
    assert!(matches!(status.tier, proto::TimerTier::Unrecognized(_)));
    assert_eq!(spec.trigger.unwrap().height, 12);
    assert_eq!(spec.bid.unwrap().tier, proto::PriorityTier::Fast);
    assert_eq!(spec.call.unwrap().messages[0].type_url, "/x.Y");
    assert_eq!(read.pagination.unwrap().next_key.as_slice(), [1, 2]);
    for bad in [
        r#"{"total":"4294967296"}"#,
        r#"{"total":-1}"#,
        r#"{"timers":[{"status":{"due":"1x"}}]}"#,
        r#"{"timers":[{"spec":{"call":{"messages":[{}]}}}]}"#,
    ] {
        assert!(from_json::<proto::QueryTimersByActorResponse>(bad).is_err(), "{bad}");
    }
}

#[test]
fn answers_in_protobuf_survive_unknown_fields_and_refuse_garbage() {
    let mut bytes = proto::QueryTimersByActorResponse::with(|m| m.total = 7).encode().to_vec();
    bytes.extend([0xfa, 0x3f, 2, 1, 2]); // field 1023
    bytes.extend([0xf9, 0x3f, 1, 2, 3, 4, 5, 6, 7, 8]); // fixed64
    bytes.extend([0xfd, 0x3f, 1, 2, 3, 4]); // fixed32
    assert_eq!(proto::QueryTimersByActorResponse::decode(&bytes).unwrap().total, 7);
    for (bytes, want) in [
        (&[0x18][..], DecodeError::Truncated),
        (&[0x0a, 5, 1], DecodeError::Truncated),
        (&[0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01], DecodeError::Truncated),
        (&[0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02], DecodeError::Overlong),
        (&[0x1a, 0], DecodeError::WrongType),
        (&[0x08, 1], DecodeError::WrongType),
        (&[0x00], DecodeError::BadTag),
        (&[0x0b], DecodeError::BadTag),
        (&[0x0a, 3, 0x0a, 1, 0xff], DecodeError::NotUtf8),
    ] {
        assert_eq!(proto::QueryTimersByActorResponse::decode(bytes), Err(want), "{bytes:?}");
    }
}

/// Whatever an answer holds, nothing panics, and what is read is read again from its own encoding.
#[test]
fn any_bytes_are_read_or_refused() {
    let known = proto::QueryTimersByActorResponse::with(|m| {
        m.total = 3;
        m.pagination = Some(proto::PageResponse::default());
        m.timers = vec![proto::TimerInfo::with(|t| {
            t.id = id().into_string();
            let watch = Watch::key(WatchKey::raw("bank", b"k").when(Condition::Less("5".into())));
            t.spec = Some(spec(Timer::on(watch).message(Any::send(me(), "timer1to", &coins(5, "utmr")))));
            t.status = Some(proto::TimerStatus::with(|s| s.phase = proto::TimerPhase::Watching));
        })];
    })
    .encode()
    .to_vec();
    assert_eq!(proto::QueryTimersByActorResponse::decode(&known).unwrap().encode().as_slice(), known);
    let (mut seed, mut refused, mut read) = (1u64, 0, 0);
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    for _ in 0..20_000 {
        let mut bytes = known.clone();
        for _ in 0..=random(4) {
            match random(3) {
                0 => bytes.truncate(random(bytes.len() + 1)),
                1 if !bytes.is_empty() => {
                    let at = random(bytes.len());
                    bytes[at] = random(256) as u8;
                }
                _ => bytes.insert(random(bytes.len() + 1), random(256) as u8),
            }
        }
        match proto::QueryTimersByActorResponse::decode(&bytes) {
            Ok(message) => {
                read += 1;
                assert_eq!(proto::QueryTimersByActorResponse::decode(&message.encode()).unwrap(), message);
            }
            Err(_) => refused += 1,
        }
    }
    assert!(read > 1_000 && refused > 1_000, "{read} read, {refused} refused");
}

/// Conditions in the form of watched keys, in both forms of the message.
#[test]
fn conditions_of_a_fire() {
    let pool = CanonicalAddr::from([7u8; 32]);
    let price = || WatchKey::contract_key(&pool, b"p");
    let timer = Timer::every(5).only_if(price().less("100")).only_if(WatchKey::balance(&pool, "u").greater_or_equal(7));
    let contract_key = Binary::from([&[3u8][..], &[7; 32], b"p"].concat()).to_base64();
    let balance_key = Binary::from([&[2u8, 32][..], &[7; 32], b"u"].concat()).to_base64();
    assert_eq!(
        custom(timer.clone().into_msg(&me())),
        json!({"timers": {"schedule": {"spec": {
            "trigger": {"interval": {"every": "5"}},
            "only_if": [
                {"store": "wasm", "prefix": contract_key, "when": {"op": "CONDITION_OP_LESS", "value": "100"}},
                {"store": "bank", "prefix": balance_key, "when": {"op": "CONDITION_OP_GREATER_OR_EQUAL", "value": "7"}},
            ],
        }}}})
    );
    let decoded = MsgScheduleTimer::decode(&any(timer.into_msg(&me())).value).unwrap();
    assert_eq!(decoded.spec.unwrap().only_if.len(), 2);
    // Field 5, with a length.
    let bytes = spec(Timer::at(300).only_if(WatchKey::raw("bank", b"l").exists())).encode();
    let want = [&[0x12, 3, 0x08, 0xac, 0x02, 0x2a, 13, 0x0a, 4][..], b"bank", &[0x12, 1, b'l', 0x1a, 2, 0x08, 1]];
    assert_eq!(bytes.as_slice(), want.concat());
    for (built, condition) in [
        (price().exists(), Condition::Exists),
        (price().absent(), Condition::Absent),
        (price().equal("0x61"), Condition::Equal("0x61".into())),
        (price().less_or_equal(-3), Condition::LessOrEqual("-3".into())),
        (price().greater(Uint128::new(9)), Condition::Greater("9".into())),
    ] {
        assert_eq!(built, price().when(condition));
    }
}

/// What an update states it names, each field once; what it resets it names alone.
#[test]
fn an_update_names_what_it_states() {
    let (id, key) = (id(), WatchKey::raw("bank", b"l").absent());
    let update = || {
        let change = Update::of(&id).trigger(Interval::every(7).first(90)).retry(3, 5).retry_backoff(2);
        change.retry_on("wasm", 5).on_unfunded(OnUnfunded::Skip).renew().only_if(key.clone()).reset("repeat.remaining")
    };
    assert_eq!(
        custom(update().into_msg(&me())),
        json!({"timers": {"update": {
            "id": id.as_str(),
            "spec": {
                "trigger": {"interval": {"every": "7", "first": "90"}}, "repeat": {"renew": true},
                "only_if": [{"store": "bank", "prefix": "bA==", "when": {"op": "CONDITION_OP_ABSENT"}}],
                "retry": {"max": 3, "after": "5", "backoff": 2, "on": [{"codespace": "wasm", "code": 5}]},
                "on_unfunded": "ON_UNFUNDED_SKIP",
            },
            "fields": ["trigger", "retry", "on_unfunded", "repeat.renew", "only_if", "repeat.remaining"],
        }}})
    );
    let decoded = proto::MsgUpdateTimer::decode(&any(update().into_msg(&me())).value).unwrap();
    let mut want = update().into_proto();
    want.sender = "timer1me".into();
    assert_eq!(decoded, want);
    // The default is stated by the name alone.
    for (change, field) in [
        (Update::of(&id).bid(Bid::Default), "bid"),
        (Update::of(&id).remaining(0), "repeat.remaining"),
        (Update::of(&id).reset("retry"), "retry"),
    ] {
        let msg = change.into_proto();
        assert_eq!((msg.spec, msg.fields), (Some(proto::TimerSpec::default()), vec![field.to_string()]));
    }
}

/// Each method names a field that a spec has, and states that field alone.
#[test]
fn the_names_are_those_of_the_spec() {
    let key = || WatchKey::raw("bank", b"l").absent();
    let methods: Vec<fn(Update) -> Update> = vec![
        |u| u.name("rent"),
        |u| u.trigger(Trigger::After(9)),
        |u| u.remaining(4),
        |u| u.missed(Missed::Each),
        |u| u.window(600),
        |u| u.jitter(30),
        |u| u.suspend_on_failure(3),
        |u| u.renew(),
        |u| u.handler("tick"),
        |u| u.gas_limit(1),
        |u| u.cell_limit(2),
        |u| u.bid(Bid::Tier(Tier::Fast)),
        |u| u.max_charge(9u128),
        |u| u.fee_payer("timer1payer"),
        |u| u.expires_at(90),
        |u| u.expires_time(Timestamp::from_seconds(90)),
        |u| u.retry(1, 2),
        |u| u.on_unfunded(OnUnfunded::Skip),
    ];
    let updates = methods.into_iter().map(|state| state(Update::of(&id()))).chain([Update::of(&id()).only_if(key())]);
    let mut named = Vec::new();
    for update in updates {
        let msg = update.into_proto();
        let mut stated: Vec<String> = Vec::new();
        let Value::Object(members) = serde_json::to_value(msg.spec).unwrap() else { panic!("no spec") };
        for (name, value) in members {
            match (name.as_str(), value) {
                ("repeat", Value::Object(within)) => stated.extend(within.keys().map(|name| format!("repeat.{name}"))),
                _ => stated.push(name),
            }
        }
        let mut fields = msg.fields;
        fields.sort();
        stated.sort();
        assert_eq!(fields, stated);
        named.extend(fields);
    }
    let of =
        |fields: &[proto::FieldInfo], prefix| fields.iter().map(|f| format!("{prefix}{}", f.name)).collect::<Vec<_>>();
    let mut all = of(proto::TimerSpec::FIELDS, "");
    all.retain(|name| name != "repeat");
    all.extend(of(proto::Repeat::FIELDS, "repeat."));
    all.sort();
    named.sort();
    assert_eq!(named, all);
}

/// What the chain answers, in its own JSON and in protobuf.
#[test]
fn occurrences_in_both_forms() {
    let query = TimersQuery::Timers(TimersRequest::Occurrences(proto::QueryOccurrencesRequest::with(|q| {
        q.spec = Some(spec(Timer::at(9).expires_at(20)));
        q.limit = 3;
    })));
    let text = to_json_string(&query).unwrap();
    assert_eq!(text, r#"{"timers":{"occurrences":{"spec":{"trigger":{"height":"9"},"expires_at":"20"},"limit":3}}}"#);
    assert_eq!(from_json::<TimersQuery>(&text).unwrap(), query);
    let answer = r#"{"occurrences":[{"at":"1700000060","due":"1700000061"}],"by_time":true,"more":true}"#;
    let answer = from_json::<proto::QueryOccurrencesResponse>(answer).unwrap();
    assert_eq!((answer.occurrences[0].due, answer.by_time, answer.more), (1_700_000_061, true, true));
    assert_eq!(proto::QueryOccurrencesResponse::decode(&answer.encode()).unwrap(), answer);
}

#[test]
fn queries_in_json() {
    let query = TimersQuery::Timers(TimersRequest::Estimate(
        cw_timers::Estimate::gas_limit(100_000).payload_bytes(100).max_charge(5_000u128).into_proto(),
    ));
    assert_eq!(
        String::from_utf8(to_json_vec(&query).unwrap()).unwrap(),
        r#"{"timers":{"estimate":{"gas_limit":"100000","max_charge":"5000","payload_bytes":"100"}}}"#
    );
}

#[test]
fn the_default_of_a_bound_is_ten_times_what_a_fire_may_cost_today() {
    use proto::Policy;
    let today = |pre_charge: &str, policy| {
        let mut estimate = proto::QueryEstimateResponse::default();
        (estimate.pre_charge, estimate.policy) = (pre_charge.to_string(), policy);
        estimate
    };
    let bid = Bid::Price(5_000u128.into());
    for (estimate, bid, want) in [
        (today("800", Policy::Eip1559), &Bid::Default, 8_000u128),
        (today("800", Policy::Eip1559), &bid, 8_000),
        (today("700", Policy::Auction), &bid, 57_000),
        (today("0", Policy::Fifo), &Bid::Default, 0),
        (today(&(1u128 << 95).to_string(), Policy::Fifo), &Bid::Default, 0),
    ] {
        assert_eq!(default_max_charge(&estimate, bid).unwrap(), Uint128::from(want));
    }
    assert!(default_max_charge(&today("many", Policy::Fifo), &Bid::Default).unwrap_err().to_string().contains("many"));
}
