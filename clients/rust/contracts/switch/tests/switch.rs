//! The owner's signs of life, and their end.

use cosmwasm_std::{coins, Addr};
use cw_multi_test::{BankSudo, ContractWrapper, Executor, SudoMsg as AppSudo};
use cw_timers_test::{Timers, TimersApp, Usage};
use timers_switch::{execute, instantiate, query, reply, sudo, ExecuteMsg, InstantiateMsg, QueryMsg, State};

fn armed() -> (Timers, TimersApp, Addr, Addr, Addr) {
    let timers = Timers::default();
    let mut app = timers.app();
    let code =
        app.store_code(Box::new(ContractWrapper::new(execute, instantiate, query).with_reply(reply).with_sudo(sudo)));
    let (owner, heir) = (app.api().addr_make("owner"), app.api().addr_make("heir"));
    let msg = InstantiateMsg { heir: heir.to_string(), timeout: 10, denom: "utmr".into() };
    let contract = app.instantiate_contract(code, owner.clone(), &msg, &[], "switch", None).unwrap();
    let mint = BankSudo::Mint { to_address: contract.to_string(), amount: coins(10_000, "utmr") };
    app.sudo(AppSudo::Bank(mint)).unwrap();
    (timers, app, contract, owner, heir)
}

fn balance(app: &TimersApp, of: &Addr) -> u128 {
    app.wrap().query_balance(of, "utmr").unwrap().amount.u128()
}

#[test]
fn it_fires_when_the_owner_is_silent() {
    let (timers, mut app, contract, owner, heir) = armed();
    let blocks = timers.run_to(&mut app, 11);
    let fire = blocks[10].only_fire().unwrap();
    // 250 + 60 were held back.
    assert_eq!(balance(&app, &heir), 10_000 - 310);
    assert_eq!(balance(&app, &contract), 310 - fire.paid.u128());
    let state: State = app.wrap().query_wasm_smart(&contract, &QueryMsg::State {}).unwrap();
    assert_eq!((state.fired, state.timer), (Some(11), None));
    // The rest is the heir's, and nobody checks in any more.
    let rest = ExecuteMsg::Withdraw { amount: (310 - fire.paid.u128()).into() };
    app.execute_contract(owner.clone(), contract.clone(), &rest, &[]).unwrap_err();
    app.execute_contract(owner, contract.clone(), &ExecuteMsg::CheckIn {}, &[]).unwrap_err();
    app.execute_contract(heir, contract.clone(), &rest, &[]).unwrap();
    assert_eq!(balance(&app, &contract), 0);
}

#[test]
fn a_check_in_begins_the_time_anew() {
    let (timers, mut app, contract, owner, heir) = armed();
    for height in [5, 15, 25] {
        // In the last block of the time, and in the very block in which it ends.
        assert!(timers.run_to(&mut app, height - 1).iter().all(|b| b.fires.is_empty()));
        app.execute_contract(owner.clone(), contract.clone(), &ExecuteMsg::CheckIn {}, &[]).unwrap();
        assert_eq!(timers.all(&app).len(), 1);
    }
    app.execute_contract(heir.clone(), contract, &ExecuteMsg::CheckIn {}, &[]).unwrap_err();
    let blocks = timers.run_to(&mut app, 35);
    assert_eq!(blocks.last().unwrap().fires.len(), 1);
    assert_eq!(blocks.iter().map(|b| b.fires.len()).sum::<usize>(), 1);
}

#[test]
fn the_heir_claims_what_the_timer_could_not_hand_over() {
    let (timers, mut app, contract, owner, heir) = armed();
    timers.set_usage(|_| Usage { cycles: 1_000_000, cells: 0 });
    let fires: Vec<bool> = timers.run_to(&mut app, 41).iter().flat_map(|b| &b.fires).map(|f| f.success).collect();
    assert_eq!(fires, [false; 4], "the fire and its three retries");
    assert!(timers.all(&app).is_empty());
    app.execute_contract(owner.clone(), contract.clone(), &ExecuteMsg::Claim {}, &[]).unwrap_err();
    // The owner is back in time: the timer is gone, and that is no hindrance.
    app.execute_contract(owner, contract.clone(), &ExecuteMsg::CheckIn {}, &[]).unwrap();
    app.execute_contract(heir.clone(), contract.clone(), &ExecuteMsg::Claim {}, &[]).unwrap_err();
    timers.run_to(&mut app, 85);
    let left = balance(&app, &contract);
    app.execute_contract(heir.clone(), contract, &ExecuteMsg::Claim {}, &[]).unwrap();
    assert_eq!(balance(&app, &heir), left);
}

#[test]
fn a_withdrawal_is_a_sign_of_life() {
    let (timers, mut app, contract, owner, _) = armed();
    timers.run_to(&mut app, 9);
    app.execute_contract(owner.clone(), contract, &ExecuteMsg::Withdraw { amount: 100u128.into() }, &[]).unwrap();
    assert_eq!(balance(&app, &owner), 100);
    assert!(timers.run_to(&mut app, 19).iter().all(|b| b.fires.is_empty()));
    timers.next_block(&mut app).only_fire().unwrap();
}

#[test]
fn without_fees_it_waits_until_somebody_resumes_it() {
    let (timers, mut app, contract, owner, heir) = armed();
    // 310 are needed for the fire.
    app.send_tokens(contract.clone(), owner.clone(), &coins(9_900, "utmr")).unwrap();
    let block = timers.run_to(&mut app, 11).pop().unwrap();
    assert_eq!((block.fires.len(), block.on_hold.len()), (0, 1));
    app.send_tokens(owner.clone(), contract.clone(), &coins(900, "utmr")).unwrap();
    assert!(timers.run_to(&mut app, 15).iter().all(|b| b.fires.is_empty()), "it does not come back by itself");
    app.execute_contract(heir.clone(), contract.clone(), &ExecuteMsg::Resume {}, &[]).unwrap();
    let blocks = timers.run_to(&mut app, 17);
    blocks[1].only_fire().unwrap();
    assert_eq!(balance(&app, &heir), 1_000 - 310);
    app.execute_contract(owner, contract, &ExecuteMsg::Resume {}, &[]).unwrap_err();
}
