//! Periods, deposits and ends.

use std::collections::BTreeSet;

use cosmwasm_std::{coins, Addr};
use cw_multi_test::{BankSudo, ContractWrapper, Executor, SudoMsg as AppSudo};
use cw_timers::{TimerId, TimersError};
use cw_timers_test::{refusal_of, Timers, TimersApp, Usage};
use timers_subscription::{
    execute, instantiate, query, reply, sudo, ExecuteMsg, InstantiateMsg, QueryMsg, Subscription,
};

struct Shop {
    timers: Timers,
    app: TimersApp,
    contract: Addr,
    merchant: Addr,
    payer: Addr,
}

fn shop(fees: u128) -> Shop {
    let timers = Timers::default();
    let mut app = timers.app();
    let code =
        app.store_code(Box::new(ContractWrapper::new(execute, instantiate, query).with_reply(reply).with_sudo(sudo)));
    let (merchant, payer) = (app.api().addr_make("merchant"), app.api().addr_make("payer"));
    let plan = InstantiateMsg { denom: "uusd".into(), price: 10u128.into(), period: 5 };
    let contract = app.instantiate_contract(code, merchant.clone(), &plan, &[], "shop", None).unwrap();
    for (to, amount) in [(&contract, coins(fees, "utmr")), (&payer, coins(100, "uusd"))] {
        app.sudo(AppSudo::Bank(BankSudo::Mint { to_address: to.to_string(), amount })).unwrap();
    }
    Shop { timers, app, contract, merchant, payer }
}

impl Shop {
    fn pay(&mut self, msg: ExecuteMsg, uusd: u128) {
        let funds = if uusd == 0 { vec![] } else { coins(uusd, "uusd") };
        self.app.execute_contract(self.payer.clone(), self.contract.clone(), &msg, &funds).unwrap();
    }

    fn uusd(&self, of: &Addr) -> u128 {
        self.app.wrap().query_balance(of, "uusd").unwrap().amount.u128()
    }

    fn subscription(&self) -> Option<Subscription> {
        let payer = self.payer.to_string();
        self.app.wrap().query_wasm_smart(&self.contract, &QueryMsg::Subscription { payer }).unwrap()
    }

    fn timer(&self) -> TimerId {
        self.subscription().unwrap().timer.unwrap()
    }

    /// The periods of a subscription, each settled by a delivery of its own.
    fn settled(&self, timer: &TimerId) -> Vec<u64> {
        let query = QueryMsg::Settled { timer: timer.clone() };
        let settled: Vec<(u64, String)> = self.app.wrap().query_wasm_smart(&self.contract, &query).unwrap();
        let deliveries: BTreeSet<&String> = settled.iter().map(|(_, delivery)| delivery).collect();
        assert_eq!(deliveries.len(), settled.len());
        settled.iter().map(|(period, _)| *period).collect()
    }
}

#[test]
fn periods_are_charged_until_the_deposit_is_used_up() {
    let mut shop = shop(10_000);
    shop.pay(ExecuteMsg::Subscribe {}, 25);
    let timer = shop.timer();
    let blocks = shop.timers.run_to(&mut shop.app, 16);
    let fired: Vec<u64> = blocks.iter().filter(|b| !b.fires.is_empty()).map(|b| b.height).collect();
    assert_eq!(fired, [6, 11, 16]);
    assert!(blocks.iter().flat_map(|b| &b.fires).all(|f| f.success));
    // Two periods; the third was not covered, and 5 went back.
    assert_eq!((shop.uusd(&shop.merchant), shop.uusd(&shop.payer), shop.uusd(&shop.contract)), (20, 80, 0));
    assert_eq!(shop.settled(&timer), [1, 2]);
    assert_eq!(shop.subscription(), None);
    assert!(shop.timers.all(&shop.app).is_empty(), "no timer is left");
}

#[test]
fn a_period_is_settled_once_though_its_fire_is_late() {
    let mut shop = shop(10_000);
    shop.pay(ExecuteMsg::Subscribe {}, 50);
    shop.timers.change_config(|c| c.lane_paused = true).unwrap();
    shop.timers.run_to(&mut shop.app, 12);
    shop.timers.change_config(|c| c.lane_paused = false).unwrap();
    let late = shop.timers.run_to(&mut shop.app, 14).pop().unwrap();
    assert_eq!(late.only_fire().unwrap().late, 8);
    shop.timers.run_to(&mut shop.app, 19);
    assert_eq!(shop.settled(&shop.timer()), [1, 2]);
    assert_eq!(shop.uusd(&shop.merchant), 20);
}

#[test]
fn a_charge_that_fails_changes_nothing() {
    let mut shop = shop(10_000);
    shop.pay(ExecuteMsg::Subscribe {}, 50);
    shop.timers.set_usage(|_| Usage { cycles: 1_000_000, cells: 0 });
    let fire = shop.timers.run_to(&mut shop.app, 6).pop().unwrap();
    assert!(!fire.only_fire().success);
    assert_eq!((shop.uusd(&shop.merchant), shop.settled(&shop.timer()).len()), (0, 0));
    shop.timers.set_usage(|_| Usage { cycles: 100_000, cells: 300 });
    shop.timers.run_to(&mut shop.app, 11);
    assert_eq!((shop.uusd(&shop.merchant), shop.settled(&shop.timer())), (10, vec![1]));
}

#[test]
fn the_payer_cancels_and_tops_up() {
    let mut shop = shop(10_000);
    shop.pay(ExecuteMsg::Subscribe {}, 10);
    shop.pay(ExecuteMsg::Subscribe {}, 30);
    shop.timers.run_to(&mut shop.app, 7);
    assert_eq!(shop.subscription().unwrap().deposit.u128(), 30);
    shop.pay(ExecuteMsg::Cancel {}, 0);
    assert_eq!((shop.uusd(&shop.payer), shop.uusd(&shop.merchant)), (90, 10));
    assert!(shop.timers.run_to(&mut shop.app, 20).iter().all(|b| b.fires.is_empty()));
}

#[test]
fn it_outlives_the_longest_life_of_a_timer() {
    let mut shop = shop(100_000);
    shop.pay(ExecuteMsg::Subscribe {}, 100);
    shop.timers.change_config(|c| c.max_ttl_blocks = 12).unwrap();
    shop.timers.run_to(&mut shop.app, 51);
    assert_eq!(shop.uusd(&shop.merchant), 100);
}

#[test]
fn without_fees_the_timer_waits_for_the_merchant() {
    let mut shop = shop(1);
    shop.pay(ExecuteMsg::Subscribe {}, 50);
    let block = shop.timers.run_to(&mut shop.app, 6).pop().unwrap();
    assert_eq!((block.fires.len(), block.on_hold.len()), (0, 1));
    assert_eq!(shop.subscription().unwrap().periods, 0);
    // Money alone does not bring it back; anybody does who asks.
    let mint = BankSudo::Mint { to_address: shop.contract.to_string(), amount: coins(10_000, "utmr") };
    shop.app.sudo(AppSudo::Bank(mint)).unwrap();
    assert!(shop.timers.run_to(&mut shop.app, 12).iter().all(|b| b.fires.is_empty()));
    let resume = ExecuteMsg::Resume { payer: shop.payer.to_string() };
    let stranger = shop.app.api().addr_make("stranger");
    shop.app.execute_contract(stranger.clone(), shop.contract.clone(), &resume, &[]).unwrap();
    assert!(shop.timers.next_block(&mut shop.app).fires.is_empty(), "the block of the message");
    shop.timers.next_block(&mut shop.app).only_fire().unwrap();
    assert_eq!((shop.subscription().unwrap().periods, shop.uusd(&shop.merchant)), (1, 10));
    // One that runs is not resumed, nor one that is not there.
    let err = shop.app.execute_contract(stranger.clone(), shop.contract.clone(), &resume, &[]).unwrap_err();
    assert_eq!(refusal_of(&err), Some(TimersError::NotOnHold));
    let missing = ExecuteMsg::Resume { payer: stranger.to_string() };
    shop.app.execute_contract(stranger, shop.contract.clone(), &missing, &[]).unwrap_err();
}

#[test]
fn a_plan_in_the_fee_denom_is_refused() {
    let timers = Timers::default();
    let mut app = timers.app();
    let code = app.store_code(Box::new(ContractWrapper::new(execute, instantiate, query)));
    let merchant = app.api().addr_make("merchant");
    let plan = InstantiateMsg { denom: "utmr".into(), price: 10u128.into(), period: 5 };
    app.instantiate_contract(code, merchant, &plan, &[], "shop", None).unwrap_err();
}
