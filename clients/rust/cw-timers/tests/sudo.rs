//! What the chain calls a contract with, as the chain writes it.

use cosmwasm_std::{from_json, to_json_string, Binary, MsgResponse, Reply, SubMsgResponse, SubMsgResult};
use cw_timers::agent::{AgentQuery, GasBid};
use cw_timers::{refusal, timer_id, HandleTimer, SudoMsg, TimersError, Told, TriggerKind};
use serde::Deserialize;

fn sudo(more: &str) -> String {
    format!(
        r#"{{"handle_timer":{{"timer_id":"{}","deliver_id":"{}","fire_seq":2,"height":120,"due":118,"trigger":"watch"{more},"payload":"YmVhdA=="}}}}"#,
        "c6".repeat(32),
        "a5".repeat(32)
    )
}

#[test]
fn a_delivery() {
    let text = sudo(r#","matched":[{"store":"wasm","key":"A/c2"}],"scheduler":"timer1admin""#);
    let SudoMsg::HandleTimer(fired) = from_json(&text).unwrap();
    assert_eq!((fired.fire_seq, fired.height, fired.due, fired.late()), (2, 120, 118, 2));
    assert_eq!(fired.trigger, TriggerKind::Watch);
    assert_eq!((fired.matched[0].store.as_str(), fired.matched[0].key.as_slice()), ("wasm", &[3, 247, 54][..]));
    assert_eq!(fired.scheduler.as_deref(), Some("timer1admin"));
    assert_eq!(fired.payload.as_slice(), b"beat");
    assert_eq!(to_json_string(&SudoMsg::HandleTimer(fired)).unwrap(), text, "written as the chain writes it");
}

#[test]
fn a_later_chain_may_tell_more() {
    let text = sudo(r#","moon":{"phase":"17","of":[1,{"a":null}]}"#).replace(r#""watch""#, r#""tide""#);
    let SudoMsg::HandleTimer(fired) = from_json(text).unwrap();
    assert_eq!(fired.trigger, TriggerKind::Other("tide".into()));
    assert_eq!((fired.matched.len(), fired.scheduler), (0, None));
}

#[test]
fn an_occurrence() {
    let text = sudo(r#","occurrence":1772355600,"index":3"#).replace(r#""watch""#, r#""calendar""#);
    let SudoMsg::HandleTimer(fired) = from_json(&text).unwrap();
    assert_eq!((&fired.trigger, fired.occurrence, fired.index), (&TriggerKind::Calendar, Some(1_772_355_600), Some(3)));
    assert_eq!(to_json_string(&SudoMsg::HandleTimer(fired)).unwrap(), text, "written as the chain writes it");
    let SudoMsg::HandleTimer(fired) = from_json(sudo("").replace(r#""watch""#, r#""time""#)).unwrap();
    assert_eq!((fired.trigger, fired.occurrence, fired.index), (TriggerKind::Time, None, None));
}

#[test]
fn named_handlers() {
    #[derive(Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Sudo {
        HandleTimer(HandleTimer),
        Tick { n: u64 },
        Settle(Told<String>),
    }
    assert!(matches!(from_json(sudo("")).unwrap(), Sudo::HandleTimer(fired) if fired.fire_seq == 2));
    assert!(matches!(from_json(r#"{"tick":{"n":7}}"#).unwrap(), Sudo::Tick { n: 7 }));
    let text = format!(
        r#"{{"settle":{{"delivery":{{"timer_id":"{}","deliver_id":"a5","fire_seq":0,"height":9,"due":9,"trigger":"after"}},"payload":"x"}}}}"#,
        "c6".repeat(32)
    );
    let Sudo::Settle(told) = from_json(text).unwrap() else { panic!("settle") };
    assert_eq!((told.payload.as_str(), told.delivery.trigger.as_str(), told.delivery.late()), ("x", "after", 0));
}

fn reply(result: SubMsgResult) -> Reply {
    Reply { id: 1, payload: Binary::default(), gas_used: 0, result }
}

#[allow(deprecated)]
fn answered(value: Vec<u8>) -> Reply {
    let response = MsgResponse { type_url: "/timers.v1.MsgScheduleTimerResponse".into(), value: value.into() };
    reply(SubMsgResult::Ok(SubMsgResponse { events: vec![], data: None, msg_responses: vec![response] }))
}

#[test]
fn the_reply_names_the_timer() {
    let digits = "c6".repeat(32);
    let id = timer_id(&answered([&[0x0a, 0x40], digits.as_bytes()].concat())).unwrap();
    assert_eq!(id.as_str(), digits);
    assert!(timer_id(&answered(vec![])).is_err());
    assert!(timer_id(&answered(b"\x0a\x04c603".to_vec())).is_err());
    let refused = reply(SubMsgResult::Err("codespace: timers, code: 12".into()));
    assert!(timer_id(&refused).is_err());
    assert_eq!(refusal(&refused), Some(TimersError::GasLimitOutOfBounds));
    assert_eq!(refusal(&answered(vec![])), None);
}

/// The query of the chain's documentation.
#[test]
fn an_agent_is_asked() {
    let AgentQuery::GetGasBid(context) = from_json(
        r#"{"get_gas_bid": {
            "timer_id": "c603", "owner_actor": "timer1a", "owner_actor_balance": "1000000",
            "trigger_block_height": 1200, "current_block_height": 1203,
            "basefee_cycle": "0.001000000000000000", "basefee_cell": "0.030000000000000000",
            "basefee_lane_timer": "0.004000000000000000", "last_block_cycle_usage": 1840000,
            "previous_block_p50_priority_tip_per_cycle": "0.002000000000000000"}}"#,
    )
    .unwrap();
    assert_eq!(context.late(), 3);
    let bid = GasBid {
        max_fee_per_cycle: context.basefee_lane_timer + context.basefee_cell,
        max_priority_fee_per_cycle: context.previous_block_p50_priority_tip_per_cycle,
        max_fee_per_cell: context.basefee_cell,
    };
    assert_eq!(
        to_json_string(&bid).unwrap(),
        r#"{"max_fee_per_cycle":"0.034","max_priority_fee_per_cycle":"0.002","max_fee_per_cell":"0.03"}"#
    );
}
