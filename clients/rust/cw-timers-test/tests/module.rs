//! What the scenarios don't reach: both ways on the wire, queries, replies, named handlers, messages, admins, allowances,
//! watches of balances, panics.

use cosmwasm_std::{
    coins, from_json, to_json_binary, Addr, Api, Binary, CosmosMsg, CustomMsg, CustomQuery, Deps, DepsMut, Empty, Env,
    MessageInfo, Reply, Response, StdError, StdResult, SubMsg, WasmMsg,
};
use cw_multi_test::error::AnyResult;
use cw_multi_test::{BankSudo, Contract, ContractWrapper, Executor, SudoMsg as AppSudo};
use cw_timers::proto::{
    Any, EstimateBasis, HoldReason, Message, PageRequest, QueryOccurrencesResponse, Repeat, TimerCall, TimerInfo,
    TimerPhase, TimerSpec, TimerStatus,
};
use cw_timers::{
    refusal, timer_id, Calendar, Change, Condition, Delivery, Estimate, HandleTimer, Interval, Missed, OnUnfunded,
    QueryWire, Timer, TimerId, TimersError, TimersQuerier, Told, Trigger, TriggerKind, Update, Watch, WatchKey, Wire,
};
use cw_timers_test::{refusal_of, Block, Config, Host, Reason, Timers, TimersApp, Usage};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A contract that does as it is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Do {
    Schedule {
        after: u64,
        payload: String,
    },
    Every {
        blocks: u64,
    },
    Watch {
        key: Watched,
    },
    Told {
        after: u64,
    },
    Messages {
        after: u64,
        to: String,
        pool: String,
    },
    /// A submessage that may be refused.
    Try {
        at: u64,
    },
    ScheduleAndFail {
        after: u64,
    },
    Cancel {
        id: TimerId,
    },
    Pause {
        id: TimerId,
    },
    Resume {
        id: TimerId,
    },
    Cheapen {
        id: TimerId,
        gas_limit: u64,
    },
    Write {
        key: String,
        value: String,
    },
    PaidBy {
        payer: String,
        after: u64,
    },
    AtMost {
        charge: u128,
        after: u64,
    },
    SetAgent {
        agent: String,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Watched {
    Balance { of: String, below: String },
    Contract { of: String },
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Ask {
    Log {},
    Last {},
    Estimate {},
    Lane {},
    Timers {},
    Timer { id: TimerId },
    Deliveries { key: Option<Binary>, limit: u64 },
    Agent {},
    MinGasLimit {},
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Sudo {
    HandleTimer(HandleTimer),
    Settle(Told<Work>),
    Tick { n: u64 },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Work {
    n: u64,
}

fn log(deps: DepsMut<impl CustomQuery>, line: String) {
    let mut log: Vec<String> = deps.storage.get(b"log").map_or_else(Vec::new, |raw| from_json(raw).unwrap());
    log.push(line);
    deps.storage.set(b"log", &to_json_binary(&log).unwrap());
}

fn instantiate<C, Q: CustomQuery>(_: DepsMut<Q>, _: Env, _: MessageInfo, _: Empty) -> StdResult<Response<C>> {
    Ok(Response::new())
}

fn execute<C: Wire, Q: CustomQuery>(deps: DepsMut<Q>, env: Env, _: MessageInfo, msg: Do) -> StdResult<Response<C>> {
    let me = &env.contract.address;
    let timer = |after| Timer::after(after).gas_limit(200_000).cell_limit(1_000);
    let schedule = |timer: Timer| Ok(Response::new().add_submessage(timer.into_submsg(me, 1)));
    let change = |change: Change| Ok(Response::new().add_message(change.into_msg(me)));
    match msg {
        Do::Schedule { after, payload } => schedule(timer(after).payload(&payload)?),
        Do::Every { blocks } => schedule(Timer::every(blocks).gas_limit(200_000).payload(&"every")?),
        Do::Watch { key: Watched::Balance { of, below } } => {
            let of = deps.api.addr_canonicalize(&of)?;
            let key = WatchKey::balance(&of, "utmr").when(Condition::Less(below));
            schedule(Timer::on(Watch::key(key)).remaining(0).gas_limit(200_000).payload(&"low")?)
        }
        Do::Watch { key: Watched::Contract { of } } => {
            let of = deps.api.addr_canonicalize(&of)?;
            schedule(Timer::on(Watch::key(WatchKey::contract(&of))).gas_limit(200_000).payload(&"changed")?)
        }
        Do::Told { after } => schedule(timer(after).handler_with_delivery("settle").payload(&Work { n: 7 })?),
        Do::Messages { after, to, pool } => {
            let write = Do::Write { key: "written".into(), value: "by a timer".into() };
            let timer = timer(after).message(Any::send(me, to, &coins(5, "utmr"))).message(Any::execute(
                me,
                pool,
                &write,
                &[],
            )?);
            schedule(timer)
        }
        Do::Try { at } => {
            let timer = Timer::at(at).gas_limit(200_000);
            Ok(Response::new().add_submessage(SubMsg::reply_always(timer.into_msg(me), 2)))
        }
        Do::ScheduleAndFail { after } => Ok(Response::new()
            .add_submessage(timer(after).into_submsg(me, 1))
            .add_submessage(SubMsg::new(Change::cancel(&TimerId::new("00".repeat(32))?).into_msg(me)))),
        Do::Cancel { id } => change(Change::cancel(&id)),
        Do::Pause { id } => change(Change::pause(&id)),
        Do::Resume { id } => change(Change::resume(&id)),
        Do::Cheapen { id, gas_limit } => {
            Ok(Response::new().add_message(Update::of(&id).gas_limit(gas_limit).into_msg(me)))
        }
        Do::Write { key, value } => {
            deps.storage.set(key.as_bytes(), value.as_bytes());
            Ok(Response::new())
        }
        Do::PaidBy { payer, after } => schedule(timer(after).fee_payer(payer).on_unfunded(OnUnfunded::Suspend)),
        Do::AtMost { charge, after } => schedule(timer(after).max_charge(charge)),
        Do::SetAgent { agent } => change(Change::set_agent(agent)),
    }
}

fn reply<C, Q: CustomQuery>(deps: DepsMut<Q>, _: Env, reply: Reply) -> StdResult<Response<C>> {
    match (reply.id, refusal(&reply)) {
        (2, Some(refused)) => log(deps, format!("refused: {}", refused.code())),
        _ => deps.storage.set(b"last", timer_id(&reply)?.as_str().as_bytes()),
    }
    Ok(Response::new())
}

fn sudo<C, Q: CustomQuery>(mut deps: DepsMut<Q>, env: Env, msg: Sudo) -> StdResult<Response<C>> {
    let line = match msg {
        Sudo::HandleTimer(fired) => {
            let payload: String = if fired.payload.is_empty() { String::new() } else { fired.payload()? };
            assert_eq!(fired.height, env.block.height);
            match payload.as_str() {
                "fail" => {
                    log(deps.branch(), "undone".into());
                    return Err(StdError::generic_err("told to fail"));
                }
                "panic" => panic!("told to panic"),
                _ => {}
            }
            let matched: Vec<String> = fired.matched.iter().map(|m| format!("{}:{}", m.store, m.key.len())).collect();
            format!("{} {} {payload} {}", fired.height, fired.trigger.as_str(), matched.join(","))
        }
        Sudo::Settle(Told { delivery, payload }) => told_line(&delivery, &payload),
        Sudo::Tick { n } => format!("tick {n}"),
    };
    log(deps, line);
    Ok(Response::new().add_attribute("fired", "yes"))
}

fn told_line(delivery: &Delivery, work: &Work) -> String {
    format!("settle {} {} {:?}", delivery.height, work.n, delivery.trigger == TriggerKind::After)
}

fn query<Q: QueryWire>(deps: Deps<Q>, env: Env, msg: Ask) -> StdResult<Binary> {
    let timers = TimersQuerier::new(&deps.querier);
    let me = env.contract.address;
    match msg {
        Ask::Log {} => Ok(deps.storage.get(b"log").map_or_else(|| Binary::from(b"[]"), Binary::from)),
        Ask::Last {} => to_json_binary(&String::from_utf8(deps.storage.get(b"last").unwrap_or_default()).unwrap()),
        Ask::Estimate {} => {
            to_json_binary(&timers.estimate(Estimate::gas_limit(200_000).cell_limit(1_000).payload_bytes(10))?)
        }
        Ask::Lane {} => to_json_binary(&timers.lane()?),
        Ask::Timers {} => to_json_binary(&timers.timers(me, Some(PageRequest::first(10)))?),
        Ask::Timer { id } => to_json_binary(&timers.timer(me, &id)?),
        Ask::Deliveries { key, limit } => {
            let page = PageRequest::after(key.unwrap_or_default(), limit);
            to_json_binary(&timers.deliveries(me, None, Some(page))?)
        }
        Ask::Agent {} => to_json_binary(&timers.agent(me)?),
        Ask::MinGasLimit {} => to_json_binary(&timers.params()?.config.unwrap().min_gas_limit),
    }
}

fn code<C, Q>() -> Box<dyn Contract<C, Q>>
where
    C: Wire + CustomMsg + DeserializeOwned + 'static,
    Q: QueryWire + DeserializeOwned + 'static,
{
    Box::new(
        ContractWrapper::new(execute::<C, Q>, instantiate::<C, Q>, query::<Q>)
            .with_reply(reply::<C, Q>)
            .with_sudo(sudo::<C, Q>),
    )
}

/// What a test does with an app, whichever way its contracts speak.
macro_rules! harness {
    ($app:expr) => {{
        let timers = Timers::default();
        let mut app = $app(&timers);
        let id = app.store_code(code());
        let owner = app.api().addr_make("owner");
        let contract =
            app.instantiate_contract(id, owner.clone(), &Empty {}, &[], "c", Some(owner.to_string())).unwrap();
        let mint = BankSudo::Mint { to_address: contract.to_string(), amount: coins(1_000_000, "utmr") };
        app.sudo(AppSudo::Bank(mint)).unwrap();
        (timers, app, owner, contract)
    }};
}

macro_rules! exec {
    ($app:expr, $contract:expr, $msg:expr) => {
        $app.execute_contract($contract.clone(), $contract.clone(), &$msg, &[])
    };
}

macro_rules! ask {
    ($app:expr, $contract:expr, $msg:expr) => {
        $app.wrap().query_wasm_smart(&$contract, &$msg).unwrap()
    };
}

macro_rules! both_ways {
    ($($name:ident => $body:ident;)*) => {$(
        mod $name {
            #[test]
            fn in_protobuf() {
                super::$body!(|t: &super::Timers| t.app());
            }
            #[test]
            fn in_json() {
                super::$body!(|t: &super::Timers| t.json_app());
            }
        }
    )*};
}

both_ways! {
    a_timer_from_schedule_to_receipt => schedule_to_receipt;
    queries => queries_of;
    changes => changes_of;
    messages_of_a_timer => messages_of;
}

macro_rules! schedule_to_receipt {
    ($app:expr) => {{
        use super::*;
        let (timers, mut app, _, contract) = harness!($app);
        exec!(app, contract, Do::Schedule { after: 2, payload: "work".into() }).unwrap();
        exec!(app, contract, Do::Told { after: 2 }).unwrap();
        let blocks = timers.run_to(&mut app, 3);
        assert!(blocks[..2].iter().all(|b| b.fires.is_empty()));
        let fires = &blocks[2].fires;
        assert_eq!(
            (fires[0].delivery.due, fires[0].late, call_of(&fires[1].timer).handler.as_str()),
            (3, 0, "settle+delivery")
        );
        assert!(fires.iter().all(|fire| fire.success), "{fires:?}");
        let log: Vec<String> = ask!(app, contract, Ask::Log {});
        assert_eq!(log, ["3 after work ", "settle 3 7 true"]);
        // 20,000 + 3 × 6 bytes of payload + 100,000 cycles, and 500 cells: 120.018 + 15 → 136.
        assert_eq!((fires[0].cycles, fires[0].paid.u128()), (120_018, 136));
        let balance = app.wrap().query_balance(&contract, "utmr").unwrap().amount.u128();
        assert_eq!(balance, 1_000_000 - 136 - fires[1].paid.u128());
        assert!(fires[0].events.iter().any(|e| e.attributes.iter().any(|a| a.key == "fired")));
        assert!(timers.all(&app).is_empty());
    }};
}
use schedule_to_receipt;

macro_rules! queries_of {
    ($app:expr) => {{
        use super::*;
        use cw_timers::proto::*;
        let (timers, mut app, _, contract) = harness!($app);
        exec!(app, contract, Do::Every { blocks: 1 }).unwrap();
        let id: String = ask!(app, contract, Ask::Last {});
        let id = TimerId::new(id).unwrap();
        let info: TimerInfo = ask!(app, contract, Ask::Timer { id: id.clone() });
        let (spec, status) = (info.spec.unwrap(), info.status.unwrap());
        assert_eq!((info.id.as_str(), status.due, status.phase), (id.as_str(), 2, TimerPhase::Pending));
        assert_eq!((status.fee_payer.as_str(), status.gas_limit, status.start), (contract.as_str(), 200_000, 2));
        // What is stated is told as it is, and no default with it.
        let stated = Timer::every(1).gas_limit(200_000).payload(&"every").unwrap().into_proto().spec;
        assert_eq!(Some(spec), stated);
        timers.run_to(&mut app, 4);

        let page: QueryTimersByActorResponse = ask!(app, contract, Ask::Timers {});
        assert_eq!(
            (page.total, page.timers[0].status.clone().unwrap().fire_seq, page.pagination.unwrap().total),
            (1, 3, 1)
        );
        let lane: QueryLaneResponse = ask!(app, contract, Ask::Lane {});
        assert_eq!((lane.policy, lane.cycles, lane.cells, lane.used_size), (Policy::Fifo, 120_021, 500, 120_021));
        assert_eq!((lane.burned.as_str(), lane.cycle_basefee.as_str()), ("408", "0.001000000000000000"));
        let estimate: QueryEstimateResponse = ask!(app, contract, Ask::Estimate {});
        // 200 + 30; the timer that fires in each block comes first.
        assert_eq!((estimate.pre_charge.as_str(), estimate.cost_of_cycles.as_str()), ("230", "200"));
        assert_eq!((estimate.intrinsic_cycles, estimate.ahead, estimate.returning), (20_030, 1, 1));
        assert_eq!((estimate.basis, estimate.wait_blocks), (EstimateBasis::AllReady, 0));
        let deliveries: QueryDeliveriesResponse = ask!(app, contract, Ask::Deliveries { key: None, limit: 2 });
        let heights: Vec<u64> = deliveries.deliveries.iter().map(|d| d.height).collect();
        assert_eq!(heights, [4, 3], "the last one first");
        let receipt = deliveries.deliveries[0].receipt.clone().unwrap();
        assert_eq!((receipt.success, receipt.paid.as_str(), receipt.fire_seq), (true, "136", 2));
        let key = Some(deliveries.pagination.unwrap().next_key);
        let rest: QueryDeliveriesResponse = ask!(app, contract, Ask::Deliveries { key, limit: 2 });
        assert_eq!((rest.deliveries[0].height, rest.pagination.unwrap().next_key.len()), (2, 0));
        let agent: Option<String> = ask!(app, contract, Ask::Agent {});
        assert_eq!(agent, None);
        exec!(app, contract, Do::SetAgent { agent: contract.to_string() }).unwrap();
        let agent: Option<String> = ask!(app, contract, Ask::Agent {});
        assert_eq!(agent, Some(contract.to_string()));
        let min: u64 = ask!(app, contract, Ask::MinGasLimit {});
        assert_eq!(min, 40_000);
        let missing: Result<TimerInfo, _> =
            app.wrap().query_wasm_smart(&contract, &Ask::Timer { id: TimerId::new("00".repeat(32)).unwrap() });
        assert!(missing.unwrap_err().to_string().contains("code: 3"));
    }};
}
use queries_of;

macro_rules! changes_of {
    ($app:expr) => {{
        use super::*;
        let (timers, mut app, _, contract) = harness!($app);
        exec!(app, contract, Do::Every { blocks: 2 }).unwrap();
        let id: String = ask!(app, contract, Ask::Last {});
        let id = TimerId::new(id).unwrap();
        exec!(app, contract, Do::Pause { id: id.clone() }).unwrap();
        assert!(timers.run_to(&mut app, 5).iter().all(|b| b.fires.is_empty()));
        exec!(app, contract, Do::Pause { id: id.clone() }).unwrap();
        exec!(app, contract, Do::Resume { id: id.clone() }).unwrap();
        exec!(app, contract, Do::Cheapen { id: id.clone(), gas_limit: 150_000 }).unwrap();
        let blocks = timers.run_to(&mut app, 9);
        let fired: Vec<u64> = blocks.iter().filter(|b| !b.fires.is_empty()).map(|b| b.height).collect();
        assert_eq!(fired, [7, 9], "overdue, it is due in the block after it is resumed");
        assert_eq!(blocks[2 - 1].only_fire().timer.status.clone().unwrap().gas_limit, 150_000);
        exec!(app, contract, Do::Cancel { id: id.clone() }).unwrap();
        let gone = exec!(app, contract, Do::Cancel { id }).unwrap_err();
        assert_eq!(refusal_of(&gone), Some(TimersError::TimerNotFound));
        assert!(timers.blocks(&mut app, 3).iter().all(|b| b.fires.is_empty()));
    }};
}
use changes_of;

macro_rules! messages_of {
    ($app:expr) => {{
        use super::*;
        let (timers, mut app, owner, contract) = harness!($app);
        let (to, pool) = (owner.to_string(), contract.to_string());
        exec!(app, contract, Do::Messages { after: 1, to: to.clone(), pool }).unwrap();
        timers.run_to(&mut app, 2)[1].only_fire().unwrap();
        assert_eq!(app.wrap().query_balance(&owner, "utmr").unwrap().amount.u128(), 5);
        let written = app.wrap().query_wasm_raw(&contract, b"written".to_vec()).unwrap();
        assert_eq!(written, Some(b"by a timer".to_vec()));

        // The second message fails: the first is undone.
        exec!(app, contract, Do::Messages { after: 1, to, pool: owner.to_string() }).unwrap();
        let blocks = timers.run_to(&mut app, 4);
        assert!(!blocks[1].only_fire().success);
        assert_eq!(app.wrap().query_balance(&owner, "utmr").unwrap().amount.u128(), 5);
    }};
}
use messages_of;

fn protobuf() -> (Timers, TimersApp, Addr, Addr) {
    harness!(|t: &Timers| t.app())
}

fn log_of(app: &TimersApp, contract: &Addr) -> Vec<String> {
    app.wrap().query_wasm_smart(contract, &Ask::Log {}).unwrap()
}

#[test]
fn a_transaction_that_fails_schedules_nothing() {
    let (timers, mut app, _, contract) = protobuf();
    let err = exec!(app, contract, Do::ScheduleAndFail { after: 1 }).unwrap_err();
    assert_eq!(refusal_of(&err), Some(TimersError::TimerNotFound));
    assert!(timers.all(&app).is_empty());
}

#[test]
fn a_contract_may_catch_a_refusal() {
    let (timers, mut app, _, contract) = protobuf();
    exec!(app, contract, Do::Try { at: 1 }).unwrap();
    exec!(app, contract, Do::Try { at: 2 }).unwrap();
    assert_eq!(log_of(&app, &contract), ["refused: 9"]);
    assert_eq!(timers.all(&app).len(), 1);
}

#[test]
fn a_fire_that_fails_or_panics_is_undone_and_paid() {
    let (timers, mut app, _, contract) = protobuf();
    for payload in ["fail", "panic", "ok"] {
        exec!(app, contract, Do::Schedule { after: 1, payload: payload.into() }).unwrap();
    }
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let fires = timers.run_to(&mut app, 2).pop().unwrap().fires;
    std::panic::set_hook(hook);
    let ends: Vec<_> = fires.iter().map(|f| (f.success, f.codespace.as_str(), f.code)).collect();
    assert_eq!(ends, [(false, "wasm", 5), (false, "wasm", 29), (true, "", 0)]);
    assert_eq!(fires[1].error.as_deref(), Some("told to panic"));
    assert_eq!(log_of(&app, &contract), ["2 after ok "]);
    assert!(fires.iter().all(|f| f.paid.u128() >= 135));
}

#[test]
fn usage_beyond_the_limits_fails() {
    let (timers, mut app, _, contract) = protobuf();
    for n in 0..3 {
        exec!(app, contract, Do::Schedule { after: 1, payload: n.to_string() }).unwrap();
    }
    timers.set_usage(|firing| match call_of(firing.timer).payload.as_slice() {
        b"\"0\"" => Usage { cycles: 180_000, cells: 0 },
        b"\"1\"" => Usage { cycles: 1, cells: 1_001 },
        _ => Usage { cycles: 179_991, cells: 1_000 },
    });
    let fires = timers.run_to(&mut app, 2).pop().unwrap().fires;
    let ends: Vec<_> = fires.iter().map(|f| (f.refusal(), f.cycles, f.cells)).collect();
    assert_eq!(
        ends,
        [
            (Some(TimersError::OutOfCycles), 200_000, 0),
            (Some(TimersError::OutOfCells), 20_010, 1_000),
            (None, 200_000, 1_000),
        ]
    );
    assert_eq!(log_of(&app, &contract), ["2 after 2 "]);
}

#[test]
fn a_watch_of_a_balance_with_a_condition() {
    let (timers, mut app, owner, contract) = protobuf();
    let mint = |app: &mut TimersApp, to: &Addr, amount| {
        app.sudo(AppSudo::Bank(BankSudo::Mint { to_address: to.to_string(), amount: coins(amount, "utmr") })).unwrap();
    };
    mint(&mut app, &owner, 150);
    let watched = Watched::Balance { of: owner.to_string(), below: "100".into() };
    exec!(app, contract, Do::Watch { key: watched }).unwrap();
    let spend = |app: &mut TimersApp, amount| app.send_tokens(owner.clone(), contract.clone(), &coins(amount, "utmr"));
    assert!(timers.next_block(&mut app).fires.is_empty());
    spend(&mut app, 40).unwrap();
    assert!(timers.next_block(&mut app).fires.is_empty(), "110 is not below 100");
    spend(&mut app, 11).unwrap();
    timers.next_block(&mut app).only_fire().unwrap();
    spend(&mut app, 50).unwrap();
    assert!(timers.next_block(&mut app).fires.is_empty(), "it was below before");
    mint(&mut app, &owner, 100);
    assert!(timers.next_block(&mut app).fires.is_empty());
    spend(&mut app, 149).unwrap();
    let block = timers.next_block(&mut app);
    let matched = &block.only_fire().unwrap().delivery.matched;
    assert_eq!((matched.len(), matched[0].store.as_str()), (1, "bank"));
    assert_eq!(log_of(&app, &contract).len(), 2);
}

#[test]
fn a_watch_of_all_that_a_contract_stores() {
    let (timers, mut app, owner, contract) = protobuf();
    let other = app.instantiate_contract(1, owner, &Empty {}, &[], "other", None).unwrap();
    exec!(app, contract, Do::Watch { key: Watched::Contract { of: other.to_string() } }).unwrap();
    timers.next_block(&mut app);
    exec!(app, contract, Do::Write { key: "own".into(), value: "1".into() }).unwrap();
    assert!(timers.next_block(&mut app).fires.is_empty());
    for key in ["a", "bc"] {
        exec!(app, other, Do::Write { key: key.into(), value: "1".into() }).unwrap();
    }
    timers.next_block(&mut app).only_fire().unwrap();
    // One byte, 32 of the address, and the whole key.
    assert_eq!(log_of(&app, &contract), ["3 watch changed wasm:34,wasm:35"]);
}

#[test]
fn an_admin_schedules_calls_and_pays() {
    let (timers, mut app, owner, contract) = protobuf();
    let schedule = |app: &mut TimersApp, sender: &Addr, timer: Timer| {
        app.execute(sender.clone(), timer.actor(&contract).into_msg(sender))
    };
    let tick = || Timer::after(1).gas_limit(100_000).handler("tick").payload(&Work { n: 3 }).unwrap();
    let stranger = app.api().addr_make("stranger");
    let err = schedule(&mut app, &stranger, tick()).unwrap_err();
    assert_eq!(refusal_of(&err), Some(TimersError::NotAdmin));
    let send = Any::send(&contract, &owner, &coins(1, "utmr"));
    let err = schedule(&mut app, &owner, Timer::after(1).message(send)).unwrap_err();
    assert_eq!(refusal_of(&err), Some(TimersError::ForeignSigner));
    app.sudo(AppSudo::Bank(BankSudo::Mint { to_address: owner.to_string(), amount: coins(10_000, "utmr") })).unwrap();
    timers.set_usage(|_| Usage { cycles: 50_000, cells: 0 });
    schedule(&mut app, &owner, tick()).unwrap();
    schedule(&mut app, &owner, tick()).unwrap();
    let fires = timers.run_to(&mut app, 2).pop().unwrap().fires;
    assert_eq!(fires[0].unwrap().delivery.scheduler.as_deref(), Some(owner.as_str()));
    assert_eq!(log_of(&app, &contract), ["tick 3", "tick 3"]);
    let paid: u128 = fires.iter().map(|f| f.paid.u128()).sum();
    assert_eq!(app.wrap().query_balance(&owner, "utmr").unwrap().amount.u128(), 10_000 - paid);
    assert_eq!(app.wrap().query_balance(&contract, "utmr").unwrap().amount.u128(), 1_000_000);

    schedule(&mut app, &owner, tick()).unwrap();
    let clear = WasmMsg::ClearAdmin { contract_addr: contract.to_string() };
    app.execute(owner, clear.into()).unwrap();
    let block = timers.run_to(&mut app, 4).pop().unwrap();
    assert_eq!((block.fires.len(), block.not_admin.len()), (0, 1));
}

#[test]
fn another_pays_who_allows_it() {
    let (timers, mut app, owner, contract) = protobuf();
    let paid_by = |app: &mut TimersApp, after| exec!(app, contract, Do::PaidBy { payer: owner.to_string(), after });
    assert_eq!(refusal_of(&paid_by(&mut app, 1).unwrap_err()), Some(TimersError::InvalidFeePayer));
    timers.grant(&owner, &contract);
    app.sudo(AppSudo::Bank(BankSudo::Mint { to_address: owner.to_string(), amount: coins(300, "utmr") })).unwrap();
    paid_by(&mut app, 1).unwrap();
    paid_by(&mut app, 2).unwrap();
    let blocks = timers.run_to(&mut app, 3);
    let paid = blocks[1].only_fire().unwrap().paid.u128();
    assert_eq!(app.wrap().query_balance(&owner, "utmr").unwrap().amount.u128(), 300 - paid);
    // 230 are needed.
    assert_eq!(blocks[2].on_hold.len(), 1);
    assert_eq!(blocks[2].on_hold[0].1, HoldReason::Suspended);
    timers.revoke(&owner, &contract);
    paid_by(&mut app, 1).unwrap_err();
}

#[test]
fn max_charge_waits_until_prices_fall() {
    let (timers, mut app, _, contract) = protobuf();
    exec!(app, contract, Do::AtMost { charge: 229, after: 1 }).unwrap();
    assert!(timers.run_to(&mut app, 3).iter().all(|b| b.fires.is_empty()));
    timers.change_config(|c| c.cell_basefee = cosmwasm_std::Decimal::percent(2)).unwrap();
    assert!(timers.next_block(&mut app).fires.is_empty(), "the change is in force from the next block");
    assert_eq!(timers.next_block(&mut app).only_fire().unwrap().late, 3);
}

#[test]
fn a_config_that_contradicts_itself_is_refused() {
    let timers = Timers::default();
    assert_eq!(timers.change_config(|c| c.lane_timer_cycles = 0), Err(TimersError::InvalidConfig));
    assert_eq!(timers.change_config(|c| c.fee_denom = "uother".into()), Err(TimersError::InvalidConfig));
    assert_eq!(*timers.config(), Config::default());
}

#[test]
#[should_panic(expected = "cw-timers-test runs bank sends")]
fn what_is_not_modelled_panics() {
    let (timers, mut app, _, contract) = protobuf();
    // Its first field is the signer, as in any message that the chain runs.
    let value = [&[0x0a, contract.as_str().len() as u8][..], contract.as_bytes()].concat();
    let foreign = cosmwasm_std::AnyMsg { type_url: "/cosmos.gov.v1.MsgVote".into(), value: value.into() };
    app.execute(contract.clone(), Timer::after(1).message(foreign).into_msg(&contract)).unwrap();
    timers.run_to(&mut app, 2);
}

/// Jitter is drawn from the chain's own ids: nothing of it is taken for something else.
#[test]
fn jitter_panics() {
    let timers =
        [Timer::on(Calendar::every_seconds(60)).jitter(5), Timer::on(Interval::every(5).from_schedule()).jitter(5)];
    for timer in timers {
        let (_, mut app, _, contract) = protobuf();
        let sent = std::panic::AssertUnwindSafe(|| send(&mut app, &contract, timer.into_msg(&contract)).unwrap());
        let panic = std::panic::catch_unwind(sent).unwrap_err();
        let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        assert!(text.unwrap().starts_with("cw-timers-test does not model jitter"), "{text:?}");
    }
}

fn send(app: &mut TimersApp, contract: &Addr, msg: CosmosMsg) -> AnyResult<()> {
    app.execute(contract.clone(), msg).map(drop)
}

/// Schedules as the contract, and returns the timer's id.
fn schedule(timers: &Timers, app: &mut TimersApp, contract: &Addr, timer: Timer) -> TimerId {
    send(app, contract, timer.gas_limit(200_000).cell_limit(1_000).into_msg(contract)).unwrap();
    let newest = timers.all(app).into_iter().max_by_key(|t| status_of(t).seq).unwrap();
    TimerId::new(newest.id).unwrap()
}

fn told(app: &TimersApp, contract: &Addr, id: &TimerId) -> TimerInfo {
    TimersQuerier::new(&app.wrap()).timer(contract, id).unwrap()
}

fn stored(app: &TimersApp, contract: &Addr, id: &TimerId) -> TimerStatus {
    status_of(&told(app, contract, id))
}

fn status_of(timer: &TimerInfo) -> TimerStatus {
    timer.status.clone().unwrap()
}

fn spec_of(timer: &TimerInfo) -> TimerSpec {
    timer.spec.clone().unwrap()
}

fn call_of(timer: &TimerInfo) -> TimerCall {
    spec_of(timer).call.unwrap()
}

/// A condition on the payer's balance sees what the payer has, before the pre-charge; and a guarded fire is no failure.
#[test]
fn a_condition_keeps_a_handler_from_running() {
    let (timers, mut app, _, contract) = protobuf();
    let canonical = app.api().addr_canonicalize(contract.as_str()).unwrap();
    let rich = || WatchKey::balance(&canonical, "utmr").greater_or_equal(1_000_000);
    let id = schedule(&timers, &mut app, &contract, Timer::every(1).retry(3, 1).only_if(rich()));
    let once = schedule(&timers, &mut app, &contract, Timer::after(2).only_if(rich()));
    let blocks = timers.run_to(&mut app, 3);
    let fire = blocks[1].only_fire().unwrap();
    assert_eq!(fire.cycles, 20_000 + 1_000 + 3 * (38 + 7) + 100_000, "what reading took is included");
    assert_eq!(log_of(&app, &contract).len(), 1);
    // What it paid for that is missing now.
    let [repeats, leaves] = &blocks[2].fires[..] else { panic!("{:?}", blocks[2].fires) };
    for fire in [repeats, leaves] {
        assert_eq!((fire.success, fire.guarded, fire.code, fire.cells), (false, true, 0, 0));
        assert_eq!((fire.cycles, fire.paid.u128()), (20_000 + 1_000 + 3 * (38 + 6), 22));
    }
    assert_eq!((leaves.timer.id.as_str(), leaves.next_due, repeats.next_due), (once.as_str(), None, Some(4)));
    assert_eq!(log_of(&app, &contract).len(), 1, "no handler ran");
    let timer = stored(&app, &contract, &id);
    assert_eq!((timer.failures, timer.retries, timer.fire_seq), (0, 0, 2));
    assert!(timer.last_outcome.is_some_and(|outcome| outcome.guarded && !outcome.success));
    let receipt = TimersQuerier::new(&app.wrap()).last_delivery(&contract, &once).unwrap().unwrap().receipt.unwrap();
    assert!(receipt.guarded && !receipt.success);
    // It fires again when the condition holds.
    let mint = BankSudo::Mint { to_address: contract.to_string(), amount: coins(1_000, "utmr") };
    app.sudo(AppSudo::Bank(mint)).unwrap();
    timers.next_block(&mut app).only_fire().unwrap();
    // What takes more than the limit to read is a failed fire.
    timers.set_reading(|_, _| 180_001);
    let fire = timers.next_block(&mut app).only_fire().clone();
    assert_eq!((fire.guarded, fire.refusal(), fire.cycles), (false, Some(TimersError::OutOfCycles), 200_000));
}

#[test]
fn conditions_that_the_chain_refuses() {
    let (_, mut app, _, contract) = protobuf();
    let canonical = app.api().addr_canonicalize(contract.as_str()).unwrap();
    let key = |name: &[u8]| WatchKey::contract_key(&canonical, name);
    for (conditions, want) in [
        (vec![key(b"a").exists(), key(b"b").exists(), key(b"c").exists()], TimersError::InvalidOnlyIf),
        (vec![key(b"a")], TimersError::InvalidOnlyIf),
        (vec![WatchKey::contract(&canonical).exists()], TimersError::InvalidWatch),
        (vec![key(b"a").less("many")], TimersError::InvalidWatch),
        (vec![WatchKey::raw("mint", b"k").exists()], TimersError::NotWatchable),
    ] {
        let timer = conditions.into_iter().fold(Timer::after(1), Timer::only_if);
        let err = send(&mut app, &contract, timer.into_msg(&contract)).unwrap_err();
        assert_eq!(refusal_of(&err), Some(want));
    }
}

#[test]
fn a_name_is_of_one_live_timer() {
    let (timers, mut app, _, contract) = protobuf();
    let refused = |app: &mut TimersApp, msg: CosmosMsg| refusal_of(&send(app, &contract, msg).unwrap_err());
    let id = schedule(&timers, &mut app, &contract, Timer::after(50).name("rent"));
    for (name, want) in [("rent", TimersError::NameTaken), ("beef", TimersError::InvalidName)] {
        assert_eq!(refused(&mut app, Timer::after(9).name(name).into_msg(&contract)), Some(want));
    }
    let other = schedule(&timers, &mut app, &contract, Timer::after(50).name("salary"));
    let twice = Update::of(&other).name("rent").into_msg(&contract);
    assert_eq!(refused(&mut app, twice), Some(TimersError::NameTaken));
    let nobody = Change::cancel("rant").into_msg(&contract);
    assert_eq!(refused(&mut app, nobody), Some(TimersError::TimerNotFound));
    send(&mut app, &contract, Update::of("rent").name("pay").into_msg(&contract)).unwrap();
    assert_eq!(spec_of(&told(&app, &contract, &id)).name, "pay");
    send(&mut app, &contract, Change::pause("pay").into_msg(&contract)).unwrap();
    send(&mut app, &contract, Change::cancel("pay").into_msg(&contract)).unwrap();
    let gone = Change::cancel(&id).into_msg(&contract);
    assert_eq!(refused(&mut app, gone), Some(TimersError::TimerNotFound));
    schedule(&timers, &mut app, &contract, Timer::after(9).name("pay"));
}

#[test]
fn an_update_replaces_what_it_names() {
    let (timers, mut app, _, contract) = protobuf();
    let canonical = app.api().addr_canonicalize(contract.as_str()).unwrap();
    let update = |app: &mut TimersApp, update: Update| {
        let sent = send(app, &contract, update.into_msg(&contract));
        sent.map_err(|err| refusal_of(&err).unwrap_or_else(|| panic!("{err:#}")))
    };
    let options = Timer::every(5).retry(2, 3).on_unfunded(OnUnfunded::Skip).name("rent");
    let id = schedule(&timers, &mut app, &contract, options.only_if(WatchKey::contract_key(&canonical, b"x").absent()));
    let before = told(&app, &contract, &id);
    update(&mut app, Update::of(&id).renew().max_charge(9_000u128).if_seq(status_of(&before).seq)).unwrap();
    let after = told(&app, &contract, &id);
    let mut want = spec_of(&before);
    want.repeat = Some(Repeat::with(|r| r.renew = true));
    want.max_charge = "9000".to_string();
    assert_eq!(spec_of(&after), want, "what is not named stays");
    assert_eq!(status_of(&after).renewal, status_of(&before).renewal, "the life of its scheduling");
    // What is named and not stated takes its default.
    let cleared =
        Update::of(&id).reset("repeat.renew").reset("only_if").reset("max_charge").reset("gas_limit").retry(1, 1);
    update(&mut app, cleared).unwrap();
    let after = told(&app, &contract, &id);
    assert_eq!(spec_of(&after).retry.map(|r| r.max), Some(1));
    assert_eq!((spec_of(&after).only_if.len(), spec_of(&after).repeat), (0, None));
    assert_eq!(status_of(&after).gas_limit, timers.config().max_cycles_per_fire);
    // Another change came between.
    let seq = status_of(&before).seq;
    assert_eq!(update(&mut app, Update::of(&id).name("x").if_seq(seq)), Err(TimersError::Changed));
    for field in ["repeat", "label"] {
        assert_eq!(update(&mut app, Update::of(&id).reset(field)), Err(TimersError::InvalidFields), "{field}");
    }
    let mut beyond = Update::of(&id).name("x").gas_limit(90_000).into_proto();
    (beyond.fields, beyond.sender) = (vec!["name".to_string()], contract.to_string());
    let err = send(&mut app, &contract, CosmosMsg::Any(beyond.to_any())).unwrap_err();
    assert_eq!(refusal_of(&err), Some(TimersError::InvalidFields));
    // An end that is stated is judged as at scheduling, and its default is as late as the config allows.
    let soon = app.block_info().height + 3;
    assert_eq!(update(&mut app, Update::of(&id).expires_at(soon)), Err(TimersError::ExpiresTooSoon));
    update(&mut app, Update::of(&id).expires_at(50)).unwrap();
    assert_eq!(stored(&app, &contract, &id).expires_at, 50);
    update(&mut app, Update::of(&id).reset("expires_at")).unwrap();
    assert_eq!(stored(&app, &contract, &id).expires_at, status_of(&before).expires_at);
    // It counts by heights, and goes on to do so; the id stays.
    let daily = || Calendar::every_seconds(86_400);
    assert_eq!(update(&mut app, Update::of(&id).trigger(daily())), Err(TimersError::UnsupportedTimerType));
    update(&mut app, Update::of(&id).trigger(Interval::every(5).first(9).from_schedule())).unwrap();
    assert_eq!((stored(&app, &contract, &id).due, told(&app, &contract, &id).id), (9, id.to_string()));
    update(&mut app, Update::of(&id).trigger(Interval::every(2).first(3))).unwrap();
    assert_eq!(timers.run_to(&mut app, 5).iter().map(|b| b.fires.len()).collect::<Vec<_>>(), [0, 0, 1, 0, 1]);
    // What fires once takes any trigger, and the life that this needs.
    let once = schedule(&timers, &mut app, &contract, Timer::after(100));
    assert_eq!(update(&mut app, Update::of(&once).trigger(Trigger::Height(6))), Err(TimersError::HeightNotInFuture));
    update(&mut app, Update::of(&once).trigger(daily()).remaining(2)).unwrap();
    let moved = stored(&app, &contract, &once);
    assert_eq!(moved.due_time, app.block_info().time.seconds() as i64 + 86_400);
    assert!(moved.expires_at == 0 && moved.expires_time != 0 && moved.recurrence.is_some());
    assert_eq!(update(&mut app, Update::of(&once)), Err(TimersError::NothingToUpdate));
}

/// A timer that repeats renews itself by the life that the last statement of its end gave it, whenever it states that it does.
#[test]
fn the_life_of_a_renewal_is_the_last_that_was_stated() {
    let (timers, mut app, _, contract) = protobuf();
    timers.set_usage(|_| Usage { cycles: 1, cells: 0 });
    let life = |app: &TimersApp, id: &TimerId| stored(app, &contract, id).renewal.map(|r| (r.blocks, r.seconds));
    let id = schedule(&timers, &mut app, &contract, Timer::every(10).expires_at(41));
    assert_eq!(life(&app, &id), Some((40, 0)));
    timers.run_to(&mut app, 11);
    assert_eq!(stored(&app, &contract, &id).expires_at, 41, "it does not renew itself");
    // Stated as it stands, the end gives no other life; renew alone begins by that of the scheduling.
    send(&mut app, &contract, Update::of(&id).expires_at(41).into_msg(&contract)).unwrap();
    send(&mut app, &contract, Update::of(&id).renew().into_msg(&contract)).unwrap();
    assert_eq!(life(&app, &id), Some((40, 0)));
    timers.run_to(&mut app, 21);
    assert_eq!(stored(&app, &contract, &id).expires_at, 61);
    // An extension states its end.
    send(&mut app, &contract, Change::extend(&id, 72).into_msg(&contract)).unwrap();
    let extended = told(&app, &contract, &id);
    assert_eq!((spec_of(&extended).expires_at, life(&app, &id)), (72, Some((50, 0))));
    send(&mut app, &contract, Update::of(&id).expires_at(72).into_msg(&contract)).unwrap();
    timers.run_to(&mut app, 31);
    assert_eq!(stored(&app, &contract, &id).expires_at, 81);
    // That of the authority does not.
    timers.sys_extend(&mut app, &contract, &id, 90).unwrap();
    assert_eq!((spec_of(&told(&app, &contract, &id)).expires_at, life(&app, &id)), (72, Some((50, 0))));
    // What fired once has the life that it has left; a watch may end by time alone.
    let once = schedule(&timers, &mut app, &contract, Timer::after(100).expires_at(232));
    assert_eq!(life(&app, &once), None);
    timers.blocks(&mut app, 10);
    send(&mut app, &contract, Update::of(&once).trigger(Interval::every(50)).into_msg(&contract)).unwrap();
    assert_eq!(life(&app, &once), Some((190, 0)));
    let ends = app.block_info().time.plus_seconds(600);
    let canonical = app.api().addr_canonicalize(contract.as_str()).unwrap();
    let watch = Watch::key(WatchKey::contract(&canonical));
    let watch = schedule(&timers, &mut app, &contract, Timer::on(watch).remaining(0).expires_time(ends));
    assert_eq!((stored(&app, &contract, &watch).expires_at, life(&app, &watch)), (0, Some((0, 600))));
}

/// A height that can't be comes before an end in the wrong clock, as the chain checks them.
#[test]
fn an_end_in_the_other_clock_is_refused() {
    let (_, mut app, _, contract) = protobuf();
    let ends = app.block_info().time.plus_seconds(600);
    for (timer, want) in [
        (Timer::at(0).expires_time(ends), TimersError::HeightNotInFuture),
        (Timer::at(9).expires_time(ends), TimersError::InvalidEnd),
        (Timer::every(9).expires_time(ends), TimersError::InvalidEnd),
        (Timer::at_time(ends).expires_at(9), TimersError::InvalidEnd),
    ] {
        let err = send(&mut app, &contract, timer.into_msg(&contract)).unwrap_err();
        assert_eq!(refusal_of(&err), Some(want));
    }
}

/// What is stated as it stands changes nothing, and so leaves its place.
#[test]
fn an_update_that_changes_nothing() {
    let (timers, mut app, _, contract) = protobuf();
    let id = schedule(&timers, &mut app, &contract, Timer::on(Interval::every(5).first(9)).retry(2, 3));
    let before = stored(&app, &contract, &id);
    let mut update = |update: Update| {
        send(&mut app, &contract, update.into_msg(&contract)).unwrap();
        stored(&app, &contract, &id)
    };
    let again = Update::of(&id).trigger(Interval::every(5)).retry(2, 3).gas_limit(before.gas_limit);
    let kept = update(again);
    assert_eq!((kept.seq, kept.due, kept.start), (before.seq, 9, 9), "an interval that states no first one keeps it");
    let after = update(Update::of(&id).gas_limit(before.gas_limit + 1));
    assert!(after.seq > before.seq);
    assert_eq!(after.due, before.due);
}

/// What is in hand stays if the new trigger has it too; else it has passed.
#[test]
fn an_update_of_what_is_in_hand() {
    let (timers, mut app, _, contract) = protobuf();
    let start = app.block_info().time.seconds();
    let every = |seconds| Calendar::every_seconds(seconds).anchor(start);
    let id = schedule(&timers, &mut app, &contract, Timer::on(every(60)).retry(1, 30));
    // Blocks are 5 seconds apart: the fire at 60 fails, and is tried again at 90.
    timers.set_usage(|_| Usage { cycles: u64::MAX, cells: 0 });
    timers.blocks(&mut app, 13);
    timers.set_usage(|_| Usage { cycles: 1, cells: 0 });
    let tried = stored(&app, &contract, &id);
    assert_eq!((tried.tried, tried.deliveries, tried.retries), (true, 1, 1));
    assert_eq!(tried.due_time, start as i64 + 90, "seconds, for a calendar");
    send(&mut app, &contract, Update::of(&id).trigger(every(120)).into_msg(&contract)).unwrap();
    let passed: Vec<_> = timers.next_block(&mut app).skipped.iter().map(|s| (s.first, s.count, s.reason)).collect();
    assert_eq!(passed, [(start + 60, 1, Reason::Updated)]);
    let moved = stored(&app, &contract, &id);
    assert_eq!((moved.tried, moved.deliveries, moved.due_time), (false, 1, start as i64 + 120));
    // The one at 120 fails too, and the new trigger has it.
    timers.set_usage(|_| Usage { cycles: u64::MAX, cells: 0 });
    timers.blocks(&mut app, 11);
    timers.set_usage(|_| Usage { cycles: 1, cells: 0 });
    let tried = stored(&app, &contract, &id);
    assert_eq!((tried.tried, tried.due_time), (true, start as i64 + 150));
    send(&mut app, &contract, Update::of(&id).trigger(every(60)).into_msg(&contract)).unwrap();
    let blocks = timers.blocks(&mut app, 10);
    let fires: Vec<_> = blocks.iter().flat_map(|b| &b.fires).collect();
    let [fire] = fires[..] else { panic!("{fires:?}") };
    assert_eq!((fire.delivery.occurrence, fire.delivery.index), (Some(start + 120), Some(2)));
    assert!(blocks.iter().all(|b| b.skipped.is_empty()));
}

#[test]
fn a_skip_may_state_what_it_takes_for_the_next() {
    let (timers, mut app, _, contract) = protobuf();
    let id = schedule(&timers, &mut app, &contract, Timer::on(Interval::every(5).first(9)));
    let err = send(&mut app, &contract, Change::skip(&id, 1).skip_from(8).into_msg(&contract)).unwrap_err();
    assert_eq!(refusal_of(&err), Some(TimersError::InvalidSkip));
    send(&mut app, &contract, Change::skip(&id, 1).skip_from(9).into_msg(&contract)).unwrap();
    assert_eq!(stored(&app, &contract, &id).due, 14);
}

/// What is on hold already may be paused, and lateness counts from when it was due.
#[test]
fn a_hold_leaves_lateness() {
    let (timers, mut app, _, contract) = protobuf();
    let id = schedule(&timers, &mut app, &contract, Timer::after(2));
    let pause = |app: &mut TimersApp| send(app, &contract, Change::pause(&id).into_msg(&contract));
    pause(&mut app).unwrap();
    pause(&mut app).unwrap();
    timers.run_to(&mut app, 5);
    timers.change_config(|c| c.max_cycles_per_fire = 150_000).unwrap();
    timers.next_block(&mut app);
    send(&mut app, &contract, Change::resume(&id).into_msg(&contract)).unwrap();
    timers.blocks(&mut app, 3);
    assert_eq!(stored(&app, &contract, &id).hold_reason, HoldReason::Unrunnable);
    timers.change_config(|c| c.max_cycles_per_fire = 550_000).unwrap();
    let blocks = timers.blocks(&mut app, 2);
    // Resumed at 7, it was due at 8; it could run again at 11.
    assert_eq!((blocks[1].only_fire().delivery.due, blocks[1].only_fire().late), (8, 3));
}

/// What was on hold by itself, and was skipped to a later time, waits for that when an update ends the hold: it can be run.
#[test]
fn an_update_ends_a_hold_before_its_time() {
    let (timers, mut app, _, contract) = protobuf();
    let start = app.block_info().time.seconds();
    let id = schedule(&timers, &mut app, &contract, Timer::on(Calendar::every_seconds(3_600).anchor(start + 1)));
    timers.change_config(|c| c.max_cycles_per_fire = 150_000).unwrap();
    timers.blocks(&mut app, 3);
    assert_eq!(stored(&app, &contract, &id).hold_reason, HoldReason::Unrunnable);
    let change = |app: &mut TimersApp, msg: CosmosMsg| send(app, &contract, msg).unwrap();
    change(&mut app, Change::skip(&id, 1).into_msg(&contract));
    change(&mut app, Update::of(&id).retry(1, 1).into_msg(&contract));
    assert_eq!(stored(&app, &contract, &id).hold_reason, HoldReason::Timed);
    change(&mut app, Change::run(&id).into_msg(&contract));
}

/// One that is resumed and paused again before its fire delivers the latest that came by then.
#[test]
fn a_second_hold_lets_the_older_one_pass() {
    let (timers, mut app, _, contract) = protobuf();
    let id = schedule(&timers, &mut app, &contract, Timer::on(Interval::every(4).first(4).from_schedule()));
    let change = |app: &mut TimersApp, change: Change| send(app, &contract, change.into_msg(&contract)).unwrap();
    change(&mut app, Change::pause(&id));
    timers.run_to(&mut app, 4);
    change(&mut app, Change::resume(&id));
    change(&mut app, Change::pause(&id));
    timers.run_to(&mut app, 9);
    change(&mut app, Change::resume(&id));
    let blocks = timers.blocks(&mut app, 2);
    let passed: Vec<_> = blocks[0].skipped.iter().map(|s| (s.first, s.count, s.reason)).collect();
    assert_eq!(passed, [(4, 1, Reason::Paused)]);
    assert_eq!(blocks[1].only_fire().delivery.occurrence, Some(8));
}

/// A lapse is free where its window ended while the lane was paused.
#[test]
fn a_lapse_of_a_pause_is_free() {
    for (paused, charged) in [(true, 0), (false, 6)] {
        let (timers, mut app, _, contract) = protobuf();
        let timer = Timer::on(Interval::every(50).first(3).from_schedule()).missed(Missed::Latest).window(1);
        timers.change_config(|c| c.max_fires_per_block = 1).unwrap();
        if !paused {
            // Others have their turns before it.
            (0..4).for_each(|_| drop(schedule(&timers, &mut app, &contract, Timer::after(1))));
        }
        let id = schedule(&timers, &mut app, &contract, timer);
        timers.run_to(&mut app, 2);
        if paused {
            timers.change_config(|c| c.lane_paused = true).unwrap();
            timers.run_to(&mut app, 5);
            timers.change_config(|c| c.lane_paused = false).unwrap();
            timers.run_to(&mut app, 6);
        }
        let blocks = timers.blocks(&mut app, 5);
        let burned: u128 = blocks.iter().filter(|b| !b.skipped.is_empty()).map(|b| b.burned.u128()).sum();
        let lapses = stored(&app, &contract, &id).recurrence.map(|r| r.lapses);
        assert_eq!((burned, lapses), (charged, Some(u32::from(charged > 0))), "{paused}");
    }
}

/// Rent that the actor lacks the coins for has passed as unfunded, or waits.
#[test]
fn a_timer_whose_actor_lacks_what_it_sends() {
    for (on_unfunded, reason, held) in [
        (OnUnfunded::Skip, Some(Reason::Unfunded), HoldReason::Unspecified),
        (OnUnfunded::Suspend, None, HoldReason::Suspended),
        (OnUnfunded::Destroy, None, HoldReason::Unspecified),
    ] {
        let (timers, mut app, _, contract) = protobuf();
        let rent = Any::send(&contract, &contract, &coins(10_000_000_000, "utmr"));
        let timer = Timer::every(3).message(rent).on_unfunded(on_unfunded);
        let id = schedule(&timers, &mut app, &contract, timer);
        let blocks = timers.run_to(&mut app, 4);
        assert!(!blocks[3].only_fire().success);
        assert_eq!(blocks[3].skipped.first().map(|s| s.reason), reason, "{on_unfunded:?}");
        let after = stored(&app, &contract, &id);
        assert_eq!(after.hold_reason, held, "{on_unfunded:?}");
        let failures = u32::from(on_unfunded == OnUnfunded::Destroy);
        assert_eq!((after.deliveries, after.failures), (1, failures), "{on_unfunded:?}");
    }
}

/// What has been delivered is not due again after a change of the trigger, and numbers go on.
#[test]
fn occurrences_count_on() {
    let (timers, mut app, _, contract) = protobuf();
    let start = app.block_info().time.seconds();
    let minutely = || Calendar::every_seconds(60).anchor(start);
    let id = schedule(&timers, &mut app, &contract, Timer::on(minutely()).remaining(5));
    let numbers = |blocks: Vec<Block>| -> Vec<(u64, u64)> {
        let fires = blocks.into_iter().flat_map(|b| b.fires);
        fires.map(|f| (f.delivery.occurrence.unwrap() - start, f.delivery.index.unwrap())).collect()
    };
    // Blocks are 5 seconds apart.
    assert_eq!(numbers(timers.blocks(&mut app, 25)), [(60, 1), (120, 2)]);
    assert_eq!(stored(&app, &contract, &id).left, 3);
    send(&mut app, &contract, Update::of(&id).remaining(2).into_msg(&contract)).unwrap();
    assert_eq!(stored(&app, &contract, &id).left, 2, "it counts from the message on that states it");
    send(&mut app, &contract, Change::skip(&id, 1).into_msg(&contract)).unwrap();
    let blocks = timers.blocks(&mut app, 60);
    let skipped: Vec<_> = blocks.iter().flat_map(|b| &b.skipped).map(|s| (s.count, s.reason)).collect();
    assert_eq!(skipped, [(1, Reason::Requested)]);
    assert_eq!(numbers(blocks), [(240, 3), (300, 4)]);
    assert!(timers.all(&app).is_empty());
}

#[test]
fn when_a_timer_is_due_next() {
    let (timers, mut app, _, contract) = protobuf();
    let id = schedule(&timers, &mut app, &contract, Timer::on(Interval::every(7).first(90)).remaining(2));
    let wrapped = app.wrap();
    let querier = TimersQuerier::new(&wrapped);
    let dues = |answer: QueryOccurrencesResponse| -> (Vec<u64>, bool, bool) {
        (answer.occurrences.iter().map(|o| o.due).collect(), answer.by_time, answer.more)
    };
    assert_eq!(dues(querier.occurrences(&contract, &id, 3).unwrap()), (vec![90, 97], false, false));
    assert_eq!(dues(querier.occurrences_of(Interval::every(7), 2).unwrap()), (vec![8, 15], false, true));
    let now = app.block_info().time.seconds();
    let want = vec![now + 60, now + 120];
    assert_eq!(dues(querier.occurrences_of(Calendar::every_seconds(60), 2).unwrap()), (want, true, true));
    querier.occurrences(&contract, &id, 101).unwrap_err();
    querier.occurrences_of(Calendar::every_seconds(59), 1).unwrap_err();
}

/// A trigger by time is due in the first block at or after it, and says which time it was.
#[test]
fn a_time_comes_with_its_block() {
    let (timers, mut app, _, contract) = protobuf();
    let now = app.block_info().time;
    let at = cosmwasm_std::Timestamp::from_seconds(now.seconds() + 12);
    app.execute(contract.clone(), Timer::at_time(at).into_msg(&contract)).unwrap();
    let blocks = timers.blocks(&mut app, 4);
    assert_eq!(blocks.iter().map(|b| b.fires.len()).collect::<Vec<_>>(), [0, 0, 0, 1], "5, 10 and 15 seconds later");
    let fire = blocks[3].only_fire();
    assert_eq!((fire.delivery.trigger.as_str(), fire.delivery.occurrence), ("time", Some(at.seconds())));
    assert_eq!(fire.cycles, 20_000 + 2_000 + 100_000);
}

#[test]
fn time_passes_with_blocks() {
    let (timers, mut app, ..) = protobuf();
    let before = Host::block(&app);
    timers.blocks(&mut app, 3);
    assert_eq!(app.block_info().height, before.height + 3);
    assert_eq!(app.block_info().time, before.time.plus_seconds(15));
}
