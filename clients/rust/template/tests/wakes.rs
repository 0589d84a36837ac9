//! The contract on a model of the module.

use cosmwasm_std::{coins, Addr};
use cw_multi_test::{BankSudo, ContractWrapper, Executor, SudoMsg as AppSudo};
use cw_timers_test::{Timers, TimersApp};
use {{crate_name}}::{execute, instantiate, query, reply, sudo, ExecuteMsg, InstantiateMsg, QueryMsg, State};

fn deployed(funds: u128) -> (Timers, TimersApp, Addr, Addr) {
    let timers = Timers::default();
    let mut app = timers.app();
    let owner = app.api().addr_make("owner");
    let code =
        app.store_code(Box::new(ContractWrapper::new(execute, instantiate, query).with_reply(reply).with_sudo(sudo)));
    let contract = app.instantiate_contract(code, owner.clone(), &InstantiateMsg {}, &[], "wakes", None).unwrap();
    if funds > 0 {
        let mint = BankSudo::Mint { to_address: contract.to_string(), amount: coins(funds, "utmr") };
        app.sudo(AppSudo::Bank(mint)).unwrap();
    }
    (timers, app, contract, owner)
}

fn state(app: &TimersApp, contract: &Addr) -> State {
    app.wrap().query_wasm_smart(contract, &QueryMsg::State {}).unwrap()
}

#[test]
fn it_wakes_until_it_is_stopped() {
    let (timers, mut app, contract, owner) = deployed(100_000);
    let start = ExecuteMsg::Start { every: 3, note: "hello".into() };
    app.execute_contract(owner.clone(), contract.clone(), &start, &[]).unwrap();
    let blocks = timers.run_to(&mut app, 10);
    assert_eq!(blocks.iter().flat_map(|block| &block.fires).filter(|fire| fire.success).count(), 3);
    assert_eq!((state(&app, &contract).woke, state(&app, &contract).latest), (3, 0));

    app.execute_contract(owner, contract.clone(), &ExecuteMsg::Stop {}, &[]).unwrap();
    timers.run_to(&mut app, 20);
    assert_eq!(state(&app, &contract).woke, 3);
    assert!(timers.all(&app).is_empty());
}

#[test]
fn a_second_start_takes_the_place_of_the_first() {
    let (timers, mut app, contract, owner) = deployed(100_000);
    for every in [5, 2] {
        let start = ExecuteMsg::Start { every, note: String::new() };
        app.execute_contract(owner.clone(), contract.clone(), &start, &[]).unwrap();
    }
    timers.run_to(&mut app, 7);
    assert_eq!((state(&app, &contract).woke, timers.all(&app).len()), (3, 1));
}

#[test]
fn without_funds_it_does_not_wake() {
    let (timers, mut app, contract, owner) = deployed(0);
    let start = ExecuteMsg::Start { every: 1, note: String::new() };
    app.execute_contract(owner, contract.clone(), &start, &[]).unwrap();
    timers.run_to(&mut app, 5);
    assert_eq!(state(&app, &contract).woke, 0);
    assert!(timers.all(&app).is_empty(), "it is removed");
}

#[test]
fn strangers_neither_start_nor_stop_it() {
    let (_, mut app, contract, _) = deployed(100_000);
    let stranger = app.api().addr_make("stranger");
    for msg in [ExecuteMsg::Start { every: 3, note: String::new() }, ExecuteMsg::Stop {}] {
        app.execute_contract(stranger.clone(), contract.clone(), &msg, &[]).unwrap_err();
    }
}
