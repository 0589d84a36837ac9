//! Scenario files that the chain runs too: `lab/testdata/scenarios`, and in `fifo` those that are about other policies, run by
//! the chain under policy fifo (`timerd lab replay FILE`). Each block of the model must be that of the chain: what fires, in
//! which order, with which outcome, how late, and what it is charged; what expires and what lacks funds; which operations are
//! refused, and with which error; what is pending and ready; what is burned, and every balance.
//!
//! An account of a scenario is a contract here, whose handlers do what the scenario says. What handlers use is what the
//! scenario says, or the chain's golden file where they send messages, whose gas the scenario does not state.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use cosmwasm_std::testing::MockStorage;
use cosmwasm_std::{
    coin, to_json_binary, Addr, Api, BankMsg, Binary, CustomMsg, CustomQuery, Deps, DepsMut, Empty, Env, MessageInfo,
    Reply, Response, StdError, StdResult, SubMsg, Timestamp, WasmMsg,
};
use cw_multi_test::error::AnyResult;
use cw_multi_test::{
    App, BankKeeper, BankSudo, ContractWrapper, DistributionKeeper, Executor, GovFailingModule, IbcFailingModule,
    MockApiBech32, Module, StakeKeeper, SudoMsg as AppSudo, WasmKeeper,
};
use cw_timers::{
    timer_id, Bid, Change, Interval, QueryWire, ResumeAt, SudoMsg, Tier, Timer, TimerId, TimersQuerier, Trigger,
    Update, Watch, WatchKey, Wire,
};
use cw_timers_test::{refusal_of, Block, Config, Timers, Usage};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Scenarios that the model can't express, and why.
const SKIPPED: &[(&str, &str)] = &[
    ("expiry_and_gc", "about the bound of clean-up, which the model does not have"),
    ("gc_full_keeps_the_unfunded", "about the bound of clean-up"),
    ("unpayable_bids", "about the bound of clean-up"),
    ("watch_fan_out", "about the meter, which the model does not have"),
    ("watch_conditions_fan_out", "about the meter"),
    ("buys_every_four_hours", "about jitter, which follows from the chain's own ids"),
    ("storm_expires_out_of_order", "about overload and the bound of clean-up, under another policy"),
    ("times_crowd", "about the bound of what becomes due in one block, under another policy"),
];

/// Timers that are left out of a scenario, and why.
const OMITTED: &[(&str, &str)] = &[
    // A key of the laboratory that is not there reads as 0; one of a contract is no number.
    ("watch_conditions", "below_2"),
    // Jitter is drawn from the chain's own ids.
    ("calendar_outage", "spread"),
    ("interval_from_schedule", "spread"),
];

/// Parameters that the model does not have, and that change nothing in the scenarios that state them.
const IGNORED: &[&str] = &[
    "policy",
    "eip1559",
    "reserved_share",
    "agent_cycles_per_call",
    "agent_cycles_per_block",
    "candidate_window",
    "score",
];

/// The time of the first block of a scenario.
const EPOCH: u64 = 1_700_000_000;
/// The time between blocks, where a scenario does not state it.
const BLOCK_SECONDS: u64 = 5;
const DENOM: &str = "utmr";
const UNKNOWN: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// The cycles of every fire of a scenario before its handler, but for those by time: no timer has a payload.
const INTRINSIC: u64 = 20_000;
/// A byte and the contract's address, before a key of its storage.
const CONTRACT_PREFIX: usize = 33;
/// What those by time count in addition.
const CALENDAR: u64 = 2_000;

// ---- what the scripted contracts share with the test

#[derive(Default)]
struct World {
    /// Account → its contract.
    contracts: BTreeMap<String, Addr>,
    /// Timer → the account that owns it.
    owners: BTreeMap<String, String>,
    /// The contract that holds the scenario's keys.
    board: Option<Addr>,
    /// Id → timer, and what it does.
    names: BTreeMap<String, String>,
    scripts: BTreeMap<String, Value>,
    /// The chain's fires: (height, timer) → its line.
    golden: BTreeMap<(u64, String), Value>,
    /// The time between blocks in the mean, in whole seconds, rounded up.
    mean_seconds: u64,
}

thread_local! {
    static WORLD: RefCell<World> = RefCell::default();
}

fn world<T>(f: impl FnOnce(&mut World) -> T) -> T {
    WORLD.with(|w| f(&mut w.borrow_mut()))
}

// ---- reading

fn number(v: &Value) -> u64 {
    match v {
        Value::Null => 0,
        Value::Number(n) => n.as_u64().unwrap(),
        Value::String(s) => s.parse().unwrap(),
        other => panic!("{other}"),
    }
}

fn text(v: &Value) -> String {
    match v {
        Value::String(s) => s.clone(),
        Value::Number(n) => n.to_string(),
        other => panic!("{other}"),
    }
}

fn contract_of(account: &Value) -> Addr {
    world(|w| w.contracts[account.as_str().unwrap()].clone())
}

fn key_of(name: &str) -> Vec<u8> {
    [b"k", name.as_bytes()].concat()
}

/// A key of the scenario, or a condition on one.
fn watched(key: &Value, api: &dyn Api) -> WatchKey {
    let board = api.addr_canonicalize(world(|w| w.board.clone()).unwrap().as_str()).unwrap();
    match key {
        Value::String(name) => WatchKey::contract_key(&board, &key_of(name)),
        condition => {
            let key = WatchKey::contract_key(&board, &key_of(condition["key"].as_str().unwrap()));
            let value = || text(&condition["value"]);
            match condition["op"].as_str().unwrap() {
                "exists" => key.exists(),
                "absent" => key.absent(),
                // A key of the laboratory that is not there reads as 0; one of a contract is no number, and none holds
                // 0.
                "==" if value() == "0" => key.absent(),
                "==" => key.equal(value()),
                "<" => key.less(value()),
                "<=" => key.less_or_equal(value()),
                ">" => key.greater(value()),
                ">=" => key.greater_or_equal(value()),
                other => panic!("{other}"),
            }
        }
    }
}

/// A trigger as it is on the wire: the builders make no calendar with two rules.
fn trigger(op: &Value, api: &dyn Api) -> cw_timers::proto::Trigger {
    use cw_timers::proto::Message;
    if !op["calendar"].is_null() {
        let calendar = cosmwasm_std::from_json(op["calendar"].to_string()).unwrap();
        return cw_timers::proto::Trigger::with(|t| t.calendar = Some(calendar));
    }
    let trigger = if let Some(keys) = op["watch"].as_array() {
        let keys = keys.iter().map(|key| watched(key, api));
        let watch = Watch::keys(keys).cooldown(number(&op["cooldown"]));
        if op["level"] == true { watch.level() } else { watch }.into()
    } else if !op["every"].is_null() {
        let interval = Interval::every(number(&op["every"])).first(number(&op["first"]));
        if op["from"] == "schedule" { interval.from_schedule() } else { interval }.into()
    } else if !op["time"].is_null() {
        Trigger::Time(Timestamp::from_seconds(number(&op["time"])))
    } else if !op["after"].is_null() {
        Trigger::After(number(&op["after"]))
    } else {
        Trigger::Height(number(&op["height"]))
    };
    trigger.into()
}

/// How a timer repeats. One that is scheduled on a watch fires once if nothing is stated.
fn repeat(op: &Value) -> Option<cw_timers::proto::Repeat> {
    use cw_timers::proto::{Message, Missed, OnFailure, Repeat};
    let repeat = Repeat::with(|r| {
        let once = op["op"] == "schedule" && op["remaining"].is_null() && !op["watch"].is_null();
        r.remaining = if once { 1 } else { number(&op["remaining"]) };
        r.missed = match op["missed"].as_str() {
            Some("each") => Missed::Each,
            Some("latest") => Missed::Latest,
            _ => Missed::Unspecified,
        };
        (r.window, r.jitter) = (number(&op["window"]), number(&op["jitter"]));
        r.on_failure = match op["on_failure"].as_str() {
            Some("stop") => OnFailure::Stop,
            Some("suspend") => OnFailure::Suspend,
            Some("roll") => OnFailure::Roll,
            _ => OnFailure::Unspecified,
        };
        r.max_failures = number(&op["max_failures"]) as u32;
        r.renew = op["renew"] == true;
    });
    Some(repeat).filter(|repeat| *repeat != Repeat::default())
}

/// Whether an operation states a leaf, or one of several.
fn states(op: &Value, names: &[&str]) -> bool {
    names.iter().any(|name| !op[*name].is_null())
}

/// The retries that an operation states, in the clock of a trigger.
fn retry(op: &Value, by_time: bool) -> cw_timers::proto::Retry {
    use cw_timers::proto::{ErrorCode, Message, Retry};
    let stated = &op["retry"];
    Retry::with(|r| {
        r.max = number(&stated["max"]) as u32;
        r.after = number(&stated["after"]) * if by_time { world(|w| w.mean_seconds) } else { 1 };
        r.backoff = number(&stated["backoff"]) as u32;
        for error in stated["on"].as_array().into_iter().flatten() {
            // The error of a handler that fails as the scenario says.
            let (codespace, code) = match (text(&error["codespace"]).as_str(), number(&error["code"]) as u32) {
                ("lab", 4) => ("wasm".to_string(), 5),
                (codespace, code) => (codespace.to_string(), code),
            };
            r.on.push(ErrorCode::with(|e| (e.codespace, e.code) = (codespace, code)));
        }
    })
}

fn on_unfunded(op: &Value) -> cw_timers::proto::OnUnfunded {
    use cw_timers::proto::OnUnfunded;
    match op["on_unfunded"].as_str() {
        Some("skip") => OnUnfunded::Skip,
        Some("suspend") => OnUnfunded::Suspend,
        Some(_) => OnUnfunded::Destroy,
        None => OnUnfunded::Unspecified,
    }
}

fn by_time(trigger: &cw_timers::proto::Trigger) -> bool {
    trigger.time.is_some() || trigger.calendar.is_some()
}

/// What an update states beyond what the builder has, and names.
fn restate(msg: &mut cw_timers::proto::MsgUpdateTimer, op: &Value, api: &dyn Api, was_by_time: bool) {
    let (spec, fields) = (msg.spec.get_or_insert_with(Default::default), &mut msg.fields);
    let mut by_time = was_by_time;
    if states(op, &["calendar", "height", "after", "every", "time", "watch"]) {
        let trigger = trigger(op, api);
        by_time = self::by_time(&trigger);
        spec.trigger = Some(trigger);
        fields.push("trigger".to_string());
    }
    spec.repeat = repeat(op);
    for name in ["remaining", "missed", "window", "jitter", "on_failure", "max_failures", "renew"] {
        if states(op, &[name]) {
            fields.push(format!("repeat.{name}"));
        }
    }
    if states(op, &["retry"]) {
        spec.retry = Some(retry(op, by_time));
        fields.push("retry".to_string());
    }
    if states(op, &["on_unfunded"]) {
        spec.on_unfunded = on_unfunded(op);
        fields.push("on_unfunded".to_string());
    }
    if states(op, &["only_if"]) {
        spec.only_if = op["only_if"].as_array().unwrap().iter().map(|key| watched(key, api).into_proto()).collect();
        fields.push("only_if".to_string());
    }
}

/// The bid of an operation. Prices that are no decimals of cosmwasm-std are put into the message as they are.
fn with_bid(timer: Timer, bid: &Value) -> cw_timers::proto::MsgScheduleTimer {
    use cw_timers::proto::{Message, StaticBid};
    let mut msg = match bid {
        Value::Object(b) if b.contains_key("tier") => timer.bid(Bid::Tier(tier(&bid["tier"]))).into_proto(),
        Value::Object(b) if b.contains_key("agent") => timer.bid(Bid::Agent("timer1agent".into())).into_proto(),
        _ => timer.into_proto(),
    };
    if bid.is_number() || bid.is_string() {
        msg.spec.as_mut().unwrap().bid = Some(cw_timers::proto::Bid::with(|b| b.price = text(bid)));
    }
    if !bid["max_fee"].is_null() {
        let prices = StaticBid::with(|s| {
            s.max_fee_per_cycle = text(&bid["max_fee"]);
            s.max_priority_fee_per_cycle = text(&bid["max_priority"]);
        });
        msg.spec.as_mut().unwrap().bid = Some(cw_timers::proto::Bid::with(|b| b.r#static = Some(prices)));
    }
    msg
}

fn tier(v: &Value) -> Tier {
    match v.as_str().unwrap() {
        "economy" => Tier::Economy,
        "standard" => Tier::Standard,
        "fast" => Tier::Fast,
        "urgent" => Tier::Urgent,
        other => panic!("{other}"),
    }
}

// ---- the contract of an account

#[derive(Debug, Serialize, Deserialize)]
struct ExecuteMsg {
    /// An operation as JSON.
    op: String,
}

/// What a reply has to know: which operation it answers.
fn answered<C>(mut msg: SubMsg<C>, op: &Value) -> SubMsg<C> {
    msg.payload = Binary::from(op.to_string().as_bytes());
    msg
}

fn lookup<Q: CustomQuery>(deps: Deps<Q>, op: &Value) -> TimerId {
    let name = op["timer"].as_str().unwrap();
    let owner = world(|w| w.owners.get(name).map(|owner| w.contracts[owner].clone()));
    let found = owner.and_then(|o| deps.querier.query_wasm_raw(o, [b"id/", name.as_bytes()].concat()).unwrap());
    let id = found.map_or(UNKNOWN.to_string(), |raw| String::from_utf8(raw).unwrap());
    TimerId::new(id).unwrap()
}

/// The name that an operation states. A label of an older file is no more than a word, unless its form is refused.
fn called(op: &Value) -> Option<&str> {
    let odd = |label: &&str| label.len() > 64 || !label.bytes().all(|c| (b' '..=b'~').contains(&c));
    op["name"].as_str().or_else(|| op["label"].as_str().filter(odd))
}

fn act<C: Wire, Q: QueryWire>(deps: Deps<Q>, env: &Env, op: &Value) -> StdResult<SubMsg<C>> {
    let me = &env.contract.address;
    Ok(match op["op"].as_str().unwrap() {
        "schedule" => {
            let mut timer = Timer::on(Trigger::Height(0))
                .gas_limit(number(&op["gas_limit"]))
                .cell_limit(number(&op["cell_limit"]))
                .expires_at(number(&op["expires_at"]));
            if !op["expires_time"].is_null() {
                timer = timer.expires_time(Timestamp::from_seconds(number(&op["expires_time"])));
            }
            if !op["fee_payer"].is_null() {
                timer = timer.fee_payer(contract_of(&op["fee_payer"]));
            }
            if !op["max_charge"].is_null() {
                timer = timer.max_charge(text(&op["max_charge"]).parse::<u128>().unwrap());
            }
            if let Some(name) = called(op) {
                timer = timer.name(name);
            }
            for condition in op["only_if"].as_array().into_iter().flatten() {
                timer = timer.only_if(watched(condition, deps.api));
            }
            let mut msg = with_bid(timer, &op["bid"]);
            let (trigger, spec) = (trigger(op, deps.api), msg.spec.as_mut().unwrap());
            spec.retry = states(op, &["retry"]).then(|| retry(op, by_time(&trigger)));
            (spec.on_unfunded, spec.repeat, spec.trigger) = (on_unfunded(op), repeat(op), Some(trigger));
            let call = cw_timers::TimersCall::Schedule(Box::new(msg));
            answered(SubMsg::reply_on_success(C::wrap(call, me), 1), op)
        }
        "update" => {
            let mut update = Update::of(&lookup(deps, op));
            if let Some(name) = op["name"].as_str() {
                update = update.name(name);
            }
            if !op["gas_limit"].is_null() {
                update = update.gas_limit(number(&op["gas_limit"]));
            }
            if !op["cell_limit"].is_null() {
                update = update.cell_limit(number(&op["cell_limit"]));
            }
            let bid = &op["bid"];
            update = match bid {
                Value::Null => update,
                Value::Object(b) if b.contains_key("agent") => update.bid(Bid::Agent("timer1agent".into())),
                Value::Object(b) if b.contains_key("tier") => update.bid(Bid::Tier(tier(&bid["tier"]))),
                Value::Object(_) => update.bid(Bid::Static {
                    max_fee_per_cycle: text(&bid["max_fee"]).parse().unwrap(),
                    max_priority_fee_per_cycle: text(&bid["max_priority"]).parse().unwrap(),
                }),
                price => update.bid(Bid::Price(text(price).parse().unwrap())),
            };
            if !op["max_charge"].is_null() {
                update = update.max_charge(text(&op["max_charge"]).parse::<u128>().unwrap());
            }
            if !op["do"].is_null() {
                // Scripts are no part of the message here: that another was stated shows in a bound that never binds.
                update = update.handler("");
                if op["max_charge"].is_null() {
                    update = update.max_charge((1u128 << 90) + u128::from(env.block.height));
                }
            }
            let mut msg = update.into_proto();
            let before = TimersQuerier::new(&deps.querier).timer(me, &lookup(deps, op)).unwrap_or_default();
            let was_by_time = before.spec.and_then(|spec| spec.trigger).is_some_and(|trigger| by_time(&trigger));
            restate(&mut msg, op, deps.api, was_by_time);
            let call = cw_timers::TimersCall::Update(Box::new(msg));
            answered(SubMsg::reply_on_success(C::wrap(call, me), 2), op)
        }
        "cancel" => SubMsg::new(Change::cancel(&lookup(deps, op)).into_msg(me)),
        "extend" if !op["expires_time"].is_null() => {
            let time = Timestamp::from_seconds(number(&op["expires_time"]));
            SubMsg::new(Change::extend_time(&lookup(deps, op), time).into_msg(me))
        }
        "extend" => SubMsg::new(Change::extend(&lookup(deps, op), number(&op["expires_at"])).into_msg(me)),
        "skip" => {
            let skip = Change::skip(&lookup(deps, op), number(&op["count"]) as u32);
            SubMsg::new(skip.skip_from(number(&op["from"])).into_msg(me))
        }
        "run" => SubMsg::new(Change::run(&lookup(deps, op)).into_msg(me)),
        "pause" => SubMsg::new(Change::pause(&lookup(deps, op)).into_msg(me)),
        "resume" if op["resume_at"] == "next" => {
            SubMsg::new(Change::resume_at(&lookup(deps, op), ResumeAt::Next).into_msg(me))
        }
        "resume" => SubMsg::new(Change::resume(&lookup(deps, op)).into_msg(me)),
        "set" => SubMsg::new(WasmMsg::Execute {
            contract_addr: world(|w| w.board.clone()).unwrap().into_string(),
            msg: to_json_binary(&ExecuteMsg { op: op["key"].as_str().unwrap().into() })?,
            funds: vec![],
        }),
        other => panic!("{other}"),
    })
}

fn instantiate<C, Q: CustomQuery>(_: DepsMut<Q>, _: Env, _: MessageInfo, _: Empty) -> StdResult<Response<C>> {
    Ok(Response::new())
}

fn query<Q: CustomQuery>(_: Deps<Q>, _: Env, _: Empty) -> StdResult<Binary> {
    Ok(Binary::default())
}

fn execute<C: Wire, Q: QueryWire>(
    deps: DepsMut<Q>,
    env: Env,
    _: MessageInfo,
    msg: ExecuteMsg,
) -> StdResult<Response<C>> {
    let op = serde_json::from_str(&msg.op).unwrap();
    Ok(Response::new().add_submessage(act(deps.as_ref(), &env, &op)?))
}

fn reply<C, Q: CustomQuery>(deps: DepsMut<Q>, _: Env, reply: Reply) -> StdResult<Response<C>> {
    let op: Value = serde_json::from_slice(&reply.payload).unwrap();
    if reply.id == 1 {
        let (id, name) = (timer_id(&reply)?.into_string(), op["as"].as_str().unwrap());
        deps.storage.set(&[b"id/", name.as_bytes()].concat(), id.as_bytes());
        world(|w| {
            w.names.insert(id.clone(), name.to_string());
            w.scripts.insert(id, op["do"].clone());
        });
    } else if !op["do"].is_null() {
        let id = lookup(deps.as_ref(), &op).into_string();
        world(|w| w.scripts.insert(id, op["do"].clone()));
    }
    Ok(Response::new())
}

fn sudo<C, Q: CustomQuery>(_: DepsMut<Q>, env: Env, SudoMsg::HandleTimer(fired): SudoMsg) -> StdResult<Response<C>> {
    assert!(fired.payload.is_empty());
    assert_eq!(fired.height, env.block.height);
    let script = world(|w| w.scripts[fired.timer_id.as_str()].clone());
    if script["fail"] == true {
        return Err(StdError::generic_err("as the scenario says"));
    }
    if script["panic"] == true {
        std::panic::resume_unwind(Box::new("as the scenario says"));
    }
    // Each operation is a call of its own, so that it sees what the ones before it did.
    let ops = script["ops"].as_array().cloned().unwrap_or_default();
    let calls = ops.iter().map(|op| {
        let msg = to_json_binary(&ExecuteMsg { op: op.to_string() })?;
        Ok(WasmMsg::Execute { contract_addr: env.contract.address.to_string(), msg, funds: vec![] })
    });
    Ok(Response::new().add_messages(calls.collect::<StdResult<Vec<_>>>()?))
}

/// The contract of the scenario's keys: each holds how often it was changed.
fn board<C, Q: CustomQuery>(deps: DepsMut<Q>, _: Env, _: MessageInfo, msg: ExecuteMsg) -> StdResult<Response<C>> {
    let key = key_of(&msg.op);
    let count: u64 = deps.storage.get(&key).map_or(0, |raw| String::from_utf8(raw).unwrap().parse().unwrap());
    deps.storage.set(&key, (count + 1).to_string().as_bytes());
    Ok(Response::new())
}

// ---- running

fn change_config(config: &mut Config, set: &Value) {
    for (name, value) in set.as_object().into_iter().flatten() {
        let decimal = || text(value).parse().unwrap();
        match name.as_str() {
            "fee_denom" => config.fee_denom = text(value),
            "lane_paused" => config.lane_paused = value.as_bool().unwrap(),
            "max_ttl_blocks" => config.max_ttl_blocks = number(value),
            "max_unfunded_skips" => config.max_unfunded_skips = number(value) as u32,
            "max_timers_per_actor" => config.max_timers_per_actor = number(value) as u32,
            "min_gas_limit" => config.min_gas_limit = number(value),
            "max_cycles_per_fire" => config.max_cycles_per_fire = number(value),
            "max_cells_per_fire" => config.max_cells_per_fire = number(value),
            "default_cell_limit" => config.default_cell_limit = number(value),
            "lane_timer_cycles" => config.lane_timer_cycles = number(value),
            "lane_timer_cells" => config.lane_timer_cells = number(value),
            "max_fires_per_block" => config.max_fires_per_block = number(value) as u32,
            "max_fires_per_actor" => config.max_fires_per_actor = number(value) as u32,
            "cycle_basefee" => config.cycle_basefee = decimal(),
            "cell_basefee" => config.cell_basefee = decimal(),
            ignored => assert!(IGNORED.contains(&ignored), "the model has no parameter {ignored}"),
        }
    }
}

/// What a handler uses: what its script says; or, if it sends messages, what the chain measured.
fn usage(firing: &cw_timers_test::Firing<'_>) -> Usage {
    world(|w| {
        let script = &w.scripts[&firing.timer.id];
        if script["spend_all"] == true {
            return Usage { cycles: u64::MAX, cells: 0 };
        }
        if script["ops"].is_null() {
            return Usage { cycles: number(&script["cycles"]), cells: number(&script["cells"]) };
        }
        let at = (firing.delivery.height, w.names[&firing.timer.id].clone());
        let Some(line) = w.golden.get(&at) else { return Usage { cycles: 0, cells: 0 } };
        let due_time = firing.timer.status.as_ref().map_or(0, |status| status.due_time);
        let by_time = if due_time == 0 { 0 } else { CALENDAR };
        let intrinsic = INTRINSIC + by_time + firing.reading;
        match number(&line["code"]) {
            41 => Usage { cycles: u64::MAX, cells: number(&line["cells"]) },
            42 => Usage { cycles: number(&line["cycles"]) - intrinsic, cells: u64::MAX },
            _ => Usage { cycles: number(&line["cycles"]) - intrinsic, cells: number(&line["cells"]) },
        }
    })
}

/// What reading a condition takes in the laboratory: its keys are those of a store of its own, and its values have 8
/// bytes.
fn reading(key: &cw_timers::proto::WatchKey, value: Option<&[u8]>) -> u64 {
    let own = key.prefix.len() - CONTRACT_PREFIX;
    1_000 + 3 * (own + value.map_or(0, |_| 8)) as u64
}

/// An app whose contracts speak as the module of their custom messages does.
type AppOf<M> = App<
    BankKeeper,
    MockApiBech32,
    MockStorage,
    M,
    WasmKeeper<<M as Module>::ExecT, <M as Module>::QueryT>,
    StakeKeeper,
    DistributionKeeper,
    IbcFailingModule,
    GovFailingModule,
    Timers,
>;

struct Runner<M: Module> {
    name: String,
    timers: Timers,
    app: AppOf<M>,
    ops: Vec<(usize, Value)>,
    /// The time between blocks, in seconds: these in turn.
    seconds: Vec<u64>,
}

/// The fields of operations that the test reads. A scenario with another one has to be taught or skipped.
const FIELDS: &[&str] = &[
    "at",
    "op",
    "as",
    "actor",
    "by",
    "timer",
    "from",
    "to",
    "amount",
    "key",
    "set",
    "height",
    "after",
    "every",
    "first",
    "remaining",
    "on_failure",
    "max_failures",
    "resume_at",
    "watch",
    "cooldown",
    "level",
    "gas_limit",
    "cell_limit",
    "expires_at",
    "expires_time",
    "calendar",
    "missed",
    "window",
    "jitter",
    "renew",
    "only_if",
    "count",
    "time",
    "seconds",
    "bid",
    "fee_payer",
    "max_charge",
    "label",
    "name",
    "retry",
    "on_unfunded",
    "do",
];

fn check_fields(op: &Value) {
    let inner = [
        (op, FIELDS),
        (&op["retry"], &["max", "after", "backoff", "on"]),
        (&op["do"], &["cycles", "cells", "fail", "panic", "spend_all", "ops"]),
    ];
    for (object, known) in inner {
        for (name, _) in object.as_object().into_iter().flatten() {
            assert!(
                known.contains(&name.as_str()),
                "the model does not know {name} of {op}: teach it, or list the scenario as skipped"
            );
        }
    }
    op["do"]["ops"].as_array().into_iter().flatten().for_each(check_fields);
}

fn introduce(op: &Value, owner: &str, owners: &mut BTreeMap<String, String>) {
    if let Some(name) = op["as"].as_str() {
        owners.insert(name.to_string(), owner.to_string());
    }
    for inner in op["do"]["ops"].as_array().into_iter().flatten() {
        introduce(inner, owner, owners);
    }
}

impl<M: Module> Runner<M>
where
    M::ExecT: Wire + CustomMsg + DeserializeOwned + 'static,
    M::QueryT: QueryWire + DeserializeOwned + 'static,
{
    fn new(name: &str, scenario: &Value, golden: &[Value], app: fn(&Timers) -> AppOf<M>) -> Self {
        let mut config = Config::default();
        change_config(&mut config, &scenario["config"]);
        let timers = Timers::new(config);
        let mut app = app(&timers);
        let code = app.store_code(Box::new(
            ContractWrapper::new(
                execute::<M::ExecT, M::QueryT>,
                instantiate::<M::ExecT, M::QueryT>,
                query::<M::QueryT>,
            )
            .with_reply(reply::<M::ExecT, M::QueryT>)
            .with_sudo(sudo::<M::ExecT, M::QueryT>),
        ));
        let keys = app.store_code(Box::new(ContractWrapper::new(
            board::<M::ExecT, M::QueryT>,
            instantiate::<M::ExecT, M::QueryT>,
            query::<M::QueryT>,
        )));
        let creator = app.api().addr_make("creator");
        let mut new = World::default();
        for (account, balance) in scenario["accounts"].as_object().unwrap() {
            let contract = app.instantiate_contract(code, creator.clone(), &Empty {}, &[], account, None).unwrap();
            let amount: u128 = text(balance).parse().unwrap();
            if amount > 0 {
                let mint = BankSudo::Mint { to_address: contract.to_string(), amount: vec![coin(amount, DENOM)] };
                app.sudo(AppSudo::Bank(mint)).unwrap();
            }
            new.contracts.insert(account.clone(), contract);
        }
        new.board = Some(app.instantiate_contract(keys, creator, &Empty {}, &[], "board", None).unwrap());
        let ops: Vec<(usize, Value)> = scenario["ops"].as_array().unwrap().iter().cloned().enumerate().collect();
        for (_, op) in &ops {
            check_fields(op);
            if let Some(owner) = op["actor"].as_str() {
                introduce(op, owner, &mut new.owners);
            }
            let owner = op["by"].as_str().unwrap_or_default();
            for inner in op["do"]["ops"].as_array().into_iter().flatten() {
                introduce(inner, op["actor"].as_str().unwrap_or(owner), &mut new.owners);
            }
        }
        for line in golden {
            for fired in line["fired"].as_array().unwrap() {
                new.golden.insert((number(&line["height"]), text(&fired["timer"])), fired.clone());
            }
        }
        let seconds = match &scenario["block_seconds"] {
            Value::Array(turns) => turns.iter().map(number).collect(),
            Value::Null => vec![BLOCK_SECONDS],
            same => vec![number(same)],
        };
        new.mean_seconds = seconds.iter().sum::<u64>().div_ceil(seconds.len() as u64);
        world(|w| *w = new);
        timers.set_usage(usage);
        timers.set_reading(reading);
        let start = scenario["start_time"].as_u64().unwrap_or(EPOCH);
        app.update_block(|block| block.time = Timestamp::from_seconds(start));
        Runner { name: name.to_string(), timers, app, ops, seconds }
    }

    /// Runs an operation as a transaction. The error is as golden files have it.
    fn transact(&mut self, op: &Value) -> Result<(), String> {
        let code = |result: AnyResult<()>| {
            result.map_err(|err| match refusal_of(&err) {
                Some(refusal) => format!("timers/{}", refusal.code()),
                None => format!("{err:#}"),
            })
        };
        match op["op"].as_str().unwrap() {
            "send" => {
                let amount = vec![coin(number(&op["amount"]).into(), DENOM)];
                let to_address = contract_of(&op["to"]).to_string();
                let sent = self.app.execute(contract_of(&op["from"]), BankMsg::Send { to_address, amount }.into());
                sent.map(drop).map_err(|_| "sdk".to_string())
            }
            "config" => {
                let changed = self.timers.change_config(|config| change_config(config, &op["set"]));
                changed.map_err(|err| format!("timers/{}", err.code()))
            }
            kind @ ("sys_cancel" | "sys_extend") => {
                let owner = world(|w| w.contracts[&w.owners[op["timer"].as_str().unwrap()]].clone());
                let id = self.id_of(&owner, op["timer"].as_str().unwrap());
                if kind == "sys_cancel" {
                    self.timers.sys_cancel(&mut self.app, &owner, &id);
                    return Ok(());
                }
                let expires_at = number(&op["expires_at"]);
                code(self.timers.sys_extend(&mut self.app, &owner, &id, expires_at).map(drop))
            }
            kind => {
                let by = contract_of(if kind == "schedule" { &op["actor"] } else { &op["by"] });
                let msg = ExecuteMsg { op: op.to_string() };
                code(self.app.execute_contract(by.clone(), by, &msg, &[]).map(drop))
            }
        }
    }

    fn id_of(&self, owner: &Addr, name: &str) -> TimerId {
        let raw = self.app.wrap().query_wasm_raw(owner, [b"id/", name.as_bytes()].concat()).unwrap();
        TimerId::new(raw.map_or(UNKNOWN.to_string(), |raw| String::from_utf8(raw).unwrap())).unwrap()
    }

    /// One block, as a golden file would have it.
    fn step(&mut self) -> Value {
        let height = self.app.block_info().height;
        let (mut rejected, mut jump) = (Vec::new(), 0);
        for (index, op) in self.ops.clone() {
            if number(&op["at"]) != height || OMITTED.contains(&(self.name.as_str(), op["as"].as_str().unwrap_or(""))) {
                continue;
            }
            if op["op"] == "jump" {
                jump += number(&op["seconds"]);
                continue;
            }
            if let Err(error) = self.transact(&op) {
                rejected.push(serde_json::json!({"op": index, "error": error}));
            }
        }
        let time = self.app.block_info().time;
        let block = self.timers.next_block(&mut self.app);
        let seconds = self.seconds[(height as usize - 1) % self.seconds.len()];
        self.app.update_block(|block| block.time = time.plus_seconds(seconds + jump));
        let mut line = self.line(&block, rejected);
        line["time"] = time.seconds().into();
        line
    }

    fn line(&self, block: &Block, rejected: Vec<Value>) -> Value {
        let names = |ids: &[TimerId]| {
            let mut names: Vec<String> = world(|w| ids.iter().map(|id| w.names[id.as_str()].clone()).collect());
            names.sort();
            names
        };
        let fired: Vec<Value> = block
            .fires
            .iter()
            .map(|fire| {
                let timer = world(|w| w.names[&fire.timer.id].clone());
                let mut line = serde_json::json!({
                    "timer": timer, "ok": fire.success, "code": [fire.codespace, fire.code], "cycles": fire.cycles,
                    "cells": fire.cells, "paid": fire.paid.to_string(), "late": fire.late,
                });
                if let Some(occurrence) = fire.delivery.occurrence {
                    line["occurrence"] = occurrence.into();
                }
                if fire.guarded {
                    line["outcome"] = "guarded".into();
                }
                line
            })
            .collect();
        let balances: BTreeMap<String, String> = world(|w| w.contracts.clone())
            .into_iter()
            .map(|(name, at)| (name, self.app.wrap().query_balance(at, DENOM).unwrap().amount.to_string()))
            .collect();
        let lane = cw_timers::TimersQuerier::new(&self.app.wrap()).lane().unwrap();
        let (pending, ready) = self.timers.count(&self.app);
        let mut skipped: Vec<Value> = block
            .skipped
            .iter()
            .map(|s| {
                let timer = world(|w| w.names[s.timer.as_str()].clone());
                let reason = format!("{:?}", s.reason).to_lowercase();
                serde_json::json!({"timer": timer, "count": s.count, "reason": reason})
            })
            .collect();
        skipped.sort_by_key(|s| text(&s["timer"]));
        serde_json::json!({
            "height": block.height, "cycles": lane.cycles, "rejected": rejected, "fired": fired,
            "skipped": skipped,
            "expired": names(&block.expired), "unfunded": names(&block.unfunded), "ready": ready, "pending": pending,
            "burned": lane.burned, "balances": balances,
        })
    }
}

/// What the model should say where the chain says this.
struct Expected {
    scripts: BTreeMap<String, Value>,
    /// Timers that are left out and have not left on the chain, each with its account.
    omitted: BTreeMap<String, String>,
    /// What these accounts were charged for such timers.
    charged: BTreeMap<String, u64>,
}

impl Expected {
    fn of(name: &str, ops: &[(usize, Value)]) -> Self {
        let mut by_name = BTreeMap::new();
        ops.iter().for_each(|(_, op)| scripts(op, &mut by_name));
        let is_omitted = |op: &Value| OMITTED.contains(&(name, op["as"].as_str().unwrap_or("")));
        let omitted = ops.iter().filter(|(_, op)| is_omitted(op)).map(|(_, op)| (text(&op["as"]), text(&op["actor"])));
        Expected { scripts: by_name, omitted: omitted.collect(), charged: BTreeMap::new() }
    }

    /// Takes a timer that is left out off a line of the chain.
    fn leave_out(&mut self, out: &mut Value, line: &Value, timer: &str, account: &str) {
        let is = |entry: &Value| entry == timer || entry["timer"] == timer;
        let mut take = |list: &str| -> Vec<Value> {
            let all = out[list].as_array_mut().unwrap();
            let taken = all.iter().filter(|entry| is(entry)).cloned().collect();
            all.retain(|entry| !is(entry));
            taken
        };
        let (fires, _) = (take("fired"), take("skipped"));
        let left = ["ended", "expired", "unfunded", "cancelled"]
            .iter()
            .any(|list| line[list].as_array().into_iter().flatten().any(is));
        *self.charged.entry(account.to_string()).or_default() += fires.iter().map(|f| number(&f["paid"])).sum::<u64>();
        let cycles: u64 = fires.iter().map(|f| number(&f["cycles"])).sum();
        out["cycles"] = (number(&out["cycles"]) - cycles).into();
        if left {
            self.omitted.remove(timer);
        }
    }

    /// Handlers of the laboratory fail and panic with codes of their own, contracts with those of x/wasm.
    fn line(&mut self, line: &Value) -> Value {
        let mut out = serde_json::json!({});
        for name in [
            "height", "time", "cycles", "rejected", "fired", "expired", "unfunded", "skipped", "ready", "pending",
            "burned", "balances",
        ] {
            out[name] = line[name].clone();
        }
        for (timer, account) in self.omitted.clone() {
            self.leave_out(&mut out, line, &timer, &account);
        }
        out["pending"] = (number(&line["pending"]) - self.omitted.len() as u64).into();
        for (account, charged) in &self.charged {
            out["burned"] = (number(&out["burned"]) - charged).to_string().into();
            let has = number(&out["balances"][account]);
            out["balances"][account] = (has + charged).to_string().into();
        }
        for fired in out["fired"].as_array_mut().unwrap() {
            let script = &self.scripts[fired["timer"].as_str().unwrap()];
            let code = match number(&fired["code"]) {
                0 => serde_json::json!(["", 0]),
                // No error of the module with this code is that of a fire.
                4 => serde_json::json!(["wasm", 5]),
                40 if script["panic"] == true => serde_json::json!(["wasm", 29]),
                code => serde_json::json!(["timers", code]),
            };
            let fired = fired.as_object_mut().unwrap();
            fired.insert("code".into(), code);
            // Nothing is tipped, and no bid is paid, under fifo.
            assert_eq!(fired.remove("tip").unwrap(), "0");
            fired.remove("bid");
            fired.remove("bid_paid");
        }
        for rejected in out["rejected"].as_array_mut().unwrap() {
            if rejected["error"].as_str().unwrap().starts_with("sdk/") {
                rejected["error"] = "sdk".into();
            }
        }
        out
    }
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect();
    files.sort();
    files
}

fn chain_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../lab/testdata/scenarios")
}

fn fifo_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fifo")
}

fn name_of(file: &Path) -> String {
    file.file_stem().unwrap().to_str().unwrap().to_string()
}

fn read(file: &Path) -> (Value, Vec<Value>) {
    let scenario = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let golden = fs::read_to_string(file.with_extension("golden.jsonl")).unwrap();
    (scenario, golden.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// Whether the chain runs the file under policy fifo.
fn is_fifo(scenario: &Value) -> bool {
    scenario["config"]["policy"] == "fifo"
}

/// Collects what timers do by their names: that of an update counts from then on, but no code depends on it.
fn scripts(op: &Value, out: &mut BTreeMap<String, Value>) {
    if let Some(name) = op["as"].as_str().or(op["timer"].as_str()) {
        if !op["do"].is_null() || !out.contains_key(name) {
            out.insert(name.to_string(), op["do"].clone());
        }
    }
    for inner in op["do"]["ops"].as_array().into_iter().flatten() {
        scripts(inner, out);
    }
}

/// Runs a scenario, and returns how many fires and blocks there were.
fn run<M: Module>(file: &Path, app: fn(&Timers) -> AppOf<M>) -> (usize, usize)
where
    M::ExecT: Wire + CustomMsg + DeserializeOwned + 'static,
    M::QueryT: QueryWire + DeserializeOwned + 'static,
{
    let name = name_of(file);
    let (scenario, golden) = read(file);
    assert_eq!(golden.len() as u64, number(&scenario["blocks"]), "{name}");
    let mut runner = Runner::new(&name, &scenario, &golden, app);
    let mut expected = Expected::of(&name, &runner.ops);
    let mut fires = 0;
    for line in &golden {
        let mut want = expected.line(line);
        let got = runner.step();
        // One that is left out may be among the chain's ready ones: the line does not say.
        let more = number(&want["ready"]).checked_sub(number(&got["ready"])).unwrap();
        if more <= expected.omitted.len() as u64 {
            want["ready"] = got["ready"].clone();
        }
        assert!(got == want, "{name}, block {}:\n model {got}\n chain {want}", line["height"]);
        fires += line["fired"].as_array().unwrap().len();
    }
    (fires, golden.len())
}

#[test]
fn the_model_does_what_the_chain_does_in_protobuf() {
    run_all(Timers::app);
}

#[test]
fn the_model_does_what_the_chain_does_in_json() {
    run_all(Timers::json_app);
}

fn run_all<M: Module>(app: fn(&Timers) -> AppOf<M>)
where
    M::ExecT: Wire + CustomMsg + DeserializeOwned + 'static,
    M::QueryT: QueryWire + DeserializeOwned + 'static,
{
    let mut ran = BTreeSet::new();
    let mut skipped = BTreeSet::new();
    let (mut fires, mut blocks) = (0, 0);
    for file in files(&chain_dir()).into_iter().chain(files(&fifo_dir())) {
        let name = name_of(&file);
        let chains = file.starts_with(chain_dir());
        let changes_policy = chains && name == "auction_policy_change";
        if SKIPPED.iter().any(|(skipped, _)| *skipped == name) {
            skipped.insert(name);
            continue;
        }
        if !is_fifo(&read(&file).0) || changes_policy {
            // About another policy: run under fifo, from the other directory.
            assert!(chains, "{name}");
            continue;
        }
        let (f, b) = run(&file, app);
        fires += f;
        blocks += b;
        assert!(ran.insert(name), "{}", file.display());
    }
    println!("{} scenarios, {blocks} blocks, {fires} fires", ran.len());
    let listed: BTreeSet<String> = SKIPPED.iter().map(|(name, _)| name.to_string()).collect();
    assert_eq!(skipped, listed, "every scenario that is listed as skipped is there");
    assert!(ran.len() >= 70, "{} scenarios ran: {ran:?}", ran.len());
}

/// Every scenario of the chain runs: as it is, or under fifo.
#[test]
fn no_scenario_is_forgotten() {
    let fifo: BTreeSet<String> = files(&fifo_dir()).iter().map(|file| name_of(file)).collect();
    for file in files(&chain_dir()) {
        let name = name_of(&file);
        // The workload of these is that of policies_fifo.
        let same = name.starts_with("policies_");
        let skipped = SKIPPED.iter().any(|(skipped, _)| *skipped == name);
        assert!(
            is_fifo(&read(&file).0) || same || skipped || fifo.contains(&name),
            "{name} has no form under fifo, and is not listed as skipped"
        );
    }
}

/// A wrong charge, order, outcome or error is seen: the comparison is of all.
#[test]
fn a_difference_is_seen() {
    let file = chain_dir().join("heartbeat.json");
    let (scenario, golden) = read(&file);
    for (field, wrong) in [
        ("paid", Value::from("1")),
        ("late", Value::from(9)),
        ("ok", Value::from(false)),
        ("timer", Value::from("thrice")),
        ("cycles", Value::from(1)),
    ] {
        let mut runner = Runner::new("heartbeat", &scenario, &golden, Timers::app);
        let mut expected = Expected::of("heartbeat", &runner.ops);
        assert_eq!(runner.step(), expected.line(&golden[0]));
        let mut line = golden[1].clone();
        line["fired"][0][field] = wrong;
        assert_ne!(runner.step(), expected.line(&line), "{field}");
    }
}

/// So is what passed without a fire, which occurrence fired, and what a condition kept from running.
#[test]
fn a_difference_of_occurrences_is_seen() {
    for (name, height, list, field, wrong) in [
        ("calendar_lapses", 4, "skipped", "count", Value::from(2)),
        ("calendar_lapses", 4, "skipped", "reason", Value::from("later")),
        ("calendar_lapses", 4, "fired", "occurrence", Value::from(1)),
        ("guards", 3, "fired", "outcome", Value::Null),
    ] {
        let (scenario, golden) = read(&chain_dir().join(name).with_extension("json"));
        let mut runner = Runner::new(name, &scenario, &golden, Timers::app);
        let mut expected = Expected::of(name, &runner.ops);
        let got = (0..height).map(|_| runner.step()).last().unwrap();
        let mut line = golden[height - 1].clone();
        assert_eq!(got, expected.line(&line), "{name}");
        line[list][0][field] = wrong;
        assert_ne!(got, expected.line(&line), "{name} {field}");
    }
}
