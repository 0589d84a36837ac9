//! What the builders send, in both forms.

use std::fs;
use std::path::Path;

use cosmwasm_std::{
    coins, from_json, to_json_string, to_json_vec, Addr, AnyMsg, Binary, CanonicalAddr, CosmosMsg, Decimal, Empty,
    Uint128,
};
use cw_timers::proto::{self, Any, DecodeError, Message, MsgScheduleTimer};
use cw_timers::{
    Bid, Change, Condition, Interval, OnUnfunded, Tier, Timer, TimerId, TimersMsg, TimersQuery, TimersRequest, Trigger,
    Update, Watch, WatchKey,
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
    Timer::on(Interval::every(100).first(500).remaining(3).stop_on_failure())
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
        .label("rent")
        .actor("timer1other")
}

#[test]
fn a_schedule_in_json() {
    assert_eq!(
        custom(full().into_msg(&me())),
        json!({"timers": {"schedule": {
            "trigger": {"interval": {"every": "100", "first": "500", "remaining": "3", "on_failure": "ON_FAILURE_STOP"}},
            "handler": "tick+delivery", "payload": "eyJuIjo3fQ==", "fee_payer": "timer1payer", "gas_limit": "200000",
            "cell_limit": "1000", "expires_at": "90000",
            "bid": {"static": {"max_fee_per_cycle": "0.005", "max_priority_fee_per_cycle": "0.0001"}},
            "max_charge": "9000", "retry": {"max": 2, "after": "5"}, "on_unfunded": "ON_UNFUNDED_SUSPEND",
            "label": "rent", "actor": "timer1other",
        }}})
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
    let msg = any(Timer::at(300).payload_bytes(b"beat").gas_limit(200_000).label("x").into_msg(&me()));
    let mut want = vec![0x0a, 8];
    want.extend(b"timer1me");
    want.extend([0x12, 3, 0x08, 0xac, 0x02]); // trigger { height: 300 }
    want.extend([0x22, 4]);
    want.extend(b"beat");
    want.extend([0x30, 0xc0, 0x9a, 0x0c]); // gas_limit: 200000
    want.extend([0xc2, 0x01, 1, b'x']); // label, field 24
    assert_eq!(msg.value.as_slice(), want);

    let keys = Watch::keys([WatchKey::raw("bank", b"k"), WatchKey::raw("bank", b"l").when(Condition::Exists)]);
    let watch = Timer::on(keys.remaining(2).cooldown(3)).into_proto().trigger.unwrap().encode();
    assert_eq!(
        watch.as_slice(),
        [
            &[0x1a, 30, 0x0a, 9, 0x0a, 4][..],
            b"bank",
            &[0x12, 1, b'k', 0x0a, 13, 0x0a, 4],
            b"bank",
            &[0x12, 1, b'l', 0x1a, 2, 0x08, 1, 0x10, 2, 0x18, 3]
        ]
        .concat()
    );
}

#[test]
fn each_trigger() {
    let contract = CanonicalAddr::from([7u8; 32]);
    let trigger = |t: Timer| serde_json::to_value(t.into_proto().trigger).unwrap();
    assert_eq!(trigger(Timer::at(12)), json!({"height": "12"}));
    assert_eq!(trigger(Timer::on(Trigger::After(9))), json!({"after": "9"}));
    assert_eq!(trigger(Timer::every(2)), json!({"interval": {"every": "2"}}));
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
            json!({"watch": {"keys": [{"store": "wasm", "prefix": Binary::from(key.clone()), "when": want}], "remaining": "1"}})
        );
    }
}

#[test]
fn keys_of_stores() {
    let prefix =
        |key: WatchKey| Timer::on(Watch::key(key)).into_proto().trigger.unwrap().watch.unwrap().keys[0].clone();
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
    let bid = |b: Bid| serde_json::to_value(Timer::at(2).bid(b).into_proto().bid).unwrap();
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
            json!({"update": {"id": text, "call": {"handler": "tick", "payload": "e30="}, "gas_limit": "1", "cell_limit": "2", "bid": {}, "max_charge": "0"}}),
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
fn an_update_with_an_empty_bid_states_it() {
    let msg = any(Update::of(&id()).bid(Bid::Default).into_msg(&me()));
    let decoded = proto::MsgUpdateTimer::decode(&msg.value).unwrap();
    assert_eq!(decoded.bid, Some(proto::Bid::default()));
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
        json!({"timers": {"schedule": {"trigger": {"after": "9"}, "messages": [
            {"@type": "/cosmos.bank.v1beta1.MsgSend", "from_address": "timer1me", "to_address": "timer1to",
             "amount": [{"denom": "utmr", "amount": "5"}]},
            {"@type": "/cosmwasm.wasm.v1.MsgExecuteContract", "sender": "timer1me", "contract": "timer1pool",
             "msg": {"swap": {"min": "1", "path": [1, -2, null, true]}}, "funds": []},
        ]}}})
    );
    let decoded = MsgScheduleTimer::decode(&any(timer().into_msg(&me())).value).unwrap();
    assert_eq!(decoded.messages[0].type_url, "/cosmos.bank.v1beta1.MsgSend");
    assert_eq!(decoded.messages[0].value.as_slice(), b"\x0a\x08timer1me\x12\x08timer1to\x1a\x09\x0a\x04utmr\x12\x015");
    assert_eq!(decoded.messages[1].type_url, "/cosmwasm.wasm.v1.MsgExecuteContract");

    // A message that is known in protobuf only goes as protobuf, on the JSON wire too.
    let raw = AnyMsg { type_url: "/ibc.X".into(), value: Binary::from(b"x") };
    let msg: CosmosMsg<TimersMsg> = Timer::after(9).message(raw).into_msg(&me());
    assert!(matches!(msg, CosmosMsg::Any(_)), "{msg:?}");
    let nested = Any::timers(&full().into_proto());
    assert!(matches!(Timer::after(9).message(nested).into_msg::<TimersMsg>(&me()), CosmosMsg::Custom(_)));
}

/// Each line of the chain's documentation that is a message or a query is one of the crate's.
#[test]
fn the_documented_json_is_read() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../x/timers/docs/contracts.md");
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
    assert_eq!((messages, queries), (6, 7));
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
    let answer = r#"{"timers":[{"id":"ab","actor":"timer1me","status":"TIMER_STATUS_READY","tier":"TIMER_TIER_NEW","due":"12",
        "trigger":{"height":"12","interval":null,"watch":null,"time":null,"after":"0"},"payload":null,"payload_bytes":"600",
        "messages":[{"@type":"/x.Y","n":1}],"bid":{"static":null,"tier":"PRIORITY_TIER_FAST"},"fire_seq":3,"retry":null,
        "matched":[],"not_yet":{"known":[1]}}],"pagination":{"next_key":"AQI=","total":"0"},"total":1}"#;
    let read: proto::QueryTimersByActorResponse = from_json(answer).unwrap();
    let timer = &read.timers[0];
    assert_eq!((timer.due, timer.payload_bytes, timer.fire_seq, read.total), (12, 600, 3, 1));
    assert_eq!(timer.status, proto::TimerStatus::Ready);
    assert!(matches!(timer.tier, proto::TimerTier::Unrecognized(_)));
    assert_eq!(timer.trigger.as_ref().unwrap().height, 12);
    assert_eq!(timer.bid.as_ref().unwrap().tier, proto::PriorityTier::Fast);
    assert_eq!(timer.messages[0].type_url, "/x.Y");
    assert_eq!(read.pagination.unwrap().next_key.as_slice(), [1, 2]);
    for bad in [
        r#"{"total":"4294967296"}"#,
        r#"{"total":-1}"#,
        r#"{"timers":[{"due":"1x"}]}"#,
        r#"{"timers":[{"messages":[{}]}]}"#,
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
            t.trigger = Timer::on(Watch::key(WatchKey::raw("bank", b"k").when(Condition::Less("5".into()))))
                .into_proto()
                .trigger;
            t.messages = vec![Any::send(me(), "timer1to", &coins(5, "utmr"))];
            t.status = proto::TimerStatus::Watching;
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
