//! Releases on time, late, and asked for.

use cosmwasm_std::{coins, Addr};
use cw_multi_test::{BankSudo, ContractWrapper, Executor, SudoMsg as AppSudo};
use cw_timers_test::{Timers, TimersApp, Usage};
use timers_vesting::{execute, instantiate, query, reply, sudo, ExecuteMsg, Grant, InstantiateMsg, QueryMsg};

fn vesting(duration: u64, cliff: u64, every: u64) -> (Timers, TimersApp, Addr, Addr) {
    let timers = Timers::default();
    let mut app = timers.app();
    let code =
        app.store_code(Box::new(ContractWrapper::new(execute, instantiate, query).with_reply(reply).with_sudo(sudo)));
    let (granter, beneficiary) = (app.api().addr_make("granter"), app.api().addr_make("beneficiary"));
    let mint = BankSudo::Mint { to_address: granter.to_string(), amount: coins(1_000, "uusd") };
    app.sudo(AppSudo::Bank(mint)).unwrap();
    let msg = InstantiateMsg { beneficiary: beneficiary.to_string(), duration, cliff, every };
    let funds = coins(1_000, "uusd");
    let contract = app.instantiate_contract(code, granter, &msg, &funds, "vesting", None).unwrap();
    let mint = BankSudo::Mint { to_address: contract.to_string(), amount: coins(100_000, "utmr") };
    app.sudo(AppSudo::Bank(mint)).unwrap();
    (timers, app, contract, beneficiary)
}

fn uusd(app: &TimersApp, of: &Addr) -> u128 {
    app.wrap().query_balance(of, "uusd").unwrap().amount.u128()
}

#[test]
fn it_releases_all_by_itself_and_ends() {
    let (timers, mut app, contract, beneficiary) = vesting(100, 30, 10);
    timers.run_to(&mut app, 30);
    assert_eq!(uusd(&app, &beneficiary), 0, "the cliff");
    timers.run_to(&mut app, 31);
    assert_eq!(uusd(&app, &beneficiary), 300);
    timers.run_to(&mut app, 100);
    assert_eq!(uusd(&app, &beneficiary), 900);
    timers.run_to(&mut app, 101);
    assert_eq!((uusd(&app, &beneficiary), uusd(&app, &contract)), (1_000, 0));
    assert!(timers.all(&app).is_empty());
    assert!(timers.run_to(&mut app, 150).iter().all(|b| b.fires.is_empty()));
}

#[test]
fn it_catches_up_after_releases_that_failed_or_were_late() {
    let (timers, mut app, _, beneficiary) = vesting(100, 0, 10);
    timers.set_usage(|firing| match firing.delivery.height {
        0..=31 => Usage { cycles: 1_000_000, cells: 0 },
        _ => Usage { cycles: 100_000, cells: 300 },
    });
    let fires: usize = timers.run_to(&mut app, 40).iter().map(|b| b.fires.iter().filter(|f| !f.success).count()).sum();
    assert_eq!((fires, uusd(&app, &beneficiary)), (3, 0));
    timers.change_config(|c| c.lane_paused = true).unwrap();
    timers.run_to(&mut app, 41);
    timers.run_to(&mut app, 77);
    timers.change_config(|c| c.lane_paused = false).unwrap();
    timers.run_to(&mut app, 79);
    assert_eq!(uusd(&app, &beneficiary), 780, "all that has vested, in one release");
}

#[test]
fn anybody_may_ask_for_a_release() {
    let (timers, mut app, contract, beneficiary) = vesting(100, 0, 10);
    timers.run_to(&mut app, 4);
    let anybody = app.api().addr_make("anybody");
    for _ in 0..2 {
        app.execute_contract(anybody.clone(), contract.clone(), &ExecuteMsg::Release {}, &[]).unwrap();
        assert_eq!(uusd(&app, &beneficiary), 40);
    }
    timers.run_to(&mut app, 11);
    assert_eq!(uusd(&app, &beneficiary), 100);
    let grant: Grant = app.wrap().query_wasm_smart(contract, &QueryMsg::Grant {}).unwrap();
    assert_eq!(grant.released.u128(), 100);
}

#[test]
fn it_outlives_the_longest_life_of_a_timer() {
    let (timers, mut app, _, beneficiary) = vesting(100, 0, 10);
    timers.change_config(|c| c.max_ttl_blocks = 25).unwrap();
    timers.run_to(&mut app, 101);
    assert_eq!(uusd(&app, &beneficiary), 1_000);
}

#[test]
fn anybody_resumes_what_could_not_be_paid() {
    let (timers, mut app, contract, beneficiary) = vesting(100, 0, 10);
    let anybody = app.api().addr_make("anybody");
    // 310 are needed.
    app.send_tokens(contract.clone(), anybody.clone(), &coins(99_700, "utmr")).unwrap();
    let block = timers.run_to(&mut app, 11).pop().unwrap();
    assert_eq!((block.fires.len(), block.on_hold.len()), (0, 1));
    app.send_tokens(anybody.clone(), contract.clone(), &coins(90_000, "utmr")).unwrap();
    assert!(timers.run_to(&mut app, 30).iter().all(|b| b.fires.is_empty()));
    app.execute_contract(anybody.clone(), contract.clone(), &ExecuteMsg::Resume {}, &[]).unwrap();
    timers.run_to(&mut app, 32).pop().unwrap().only_fire().unwrap();
    assert_eq!(uusd(&app, &beneficiary), 310, "all that has vested");
    timers.run_to(&mut app, 110);
    assert_eq!(uusd(&app, &beneficiary), 1_000, "it goes on");
    app.execute_contract(anybody, contract, &ExecuteMsg::Resume {}, &[]).unwrap_err();
}
