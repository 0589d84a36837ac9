//! Bids, the end, and what comes late.

use cosmwasm_std::{coins, Addr};
use cw_multi_test::error::AnyResult;
use cw_multi_test::{AppResponse, BankSudo, ContractWrapper, Executor, SudoMsg as AppSudo};
use cw_timers_test::{Timers, TimersApp};
use timers_auction::{execute, instantiate, query, reply, sudo, Auction, ExecuteMsg, InstantiateMsg, QueryMsg};

struct House {
    timers: Timers,
    app: TimersApp,
    auction: Addr,
    seller: Addr,
}

fn house() -> House {
    let timers = Timers::default();
    let mut app = timers.app();
    let mint = |app: &mut TimersApp, to: &Addr, amount: u128, denom: &str| {
        let mint = BankSudo::Mint { to_address: to.to_string(), amount: coins(amount, denom) };
        app.sudo(AppSudo::Bank(mint)).unwrap();
    };
    let seller = app.api().addr_make("seller");
    mint(&mut app, &seller, 7, "ulot");
    for name in ["ann", "ben"] {
        let bidder = app.api().addr_make(name);
        mint(&mut app, &bidder, 1_000, "uusd");
    }
    let code =
        app.store_code(Box::new(ContractWrapper::new(execute, instantiate, query).with_reply(reply).with_sudo(sudo)));
    let msg = InstantiateMsg {
        denom: "uusd".into(),
        reserve: 100u128.into(),
        step: 10u128.into(),
        duration: 20,
        extension: 5,
    };
    let auction = app.instantiate_contract(code, seller.clone(), &msg, &coins(7, "ulot"), "auction", None).unwrap();
    mint(&mut app, &auction, 10_000, "utmr");
    House { timers, app, auction, seller }
}

impl House {
    fn bid(&mut self, who: &str, amount: u128) -> AnyResult<AppResponse> {
        let bidder = self.app.api().addr_make(who);
        self.app.execute_contract(bidder, self.auction.clone(), &ExecuteMsg::Bid {}, &coins(amount, "uusd"))
    }

    /// Ends the blocks below a height, so that the test's next transactions are in it.
    fn at(&mut self, height: u64) {
        self.timers.run_to(&mut self.app, height - 1);
    }

    fn has(&self, who: &str, denom: &str) -> u128 {
        let who = self.app.api().addr_make(who);
        self.app.wrap().query_balance(who, denom).unwrap().amount.u128()
    }

    fn state(&self) -> Auction {
        self.app.wrap().query_wasm_smart(&self.auction, &QueryMsg::Auction {}).unwrap()
    }
}

#[test]
fn the_highest_bidder_gets_the_lot_and_the_seller_the_price() {
    let mut house = house();
    house.bid("ann", 99).unwrap_err();
    house.bid("ann", 100).unwrap();
    house.bid("ben", 109).unwrap_err();
    house.bid("ben", 110).unwrap();
    assert_eq!((house.has("ann", "uusd"), house.has("ben", "uusd")), (1_000, 890), "who is outbid is paid back");
    let blocks = house.timers.run_to(&mut house.app, 21);
    blocks.last().unwrap().only_fire().unwrap();
    assert_eq!((house.has("ben", "ulot"), house.has("seller", "uusd")), (7, 110));
    assert!(house.state().settled);
    house.bid("ann", 500).unwrap_err();
    assert!(house.timers.all(&house.app).is_empty());
}

#[test]
fn anybody_settles_what_the_timer_did_not() {
    let mut house = house();
    house.bid("ann", 100).unwrap();
    house.timers.change_config(|c| c.lane_paused = true).unwrap();
    house.at(21);
    let settle = |house: &mut House| {
        let anybody = house.app.api().addr_make("anybody");
        house.app.execute_contract(anybody, house.auction.clone(), &ExecuteMsg::Settle {}, &[])
    };
    settle(&mut house).unwrap_err();
    house.at(22);
    settle(&mut house).unwrap();
    settle(&mut house).unwrap_err();
    assert_eq!((house.has("ann", "ulot"), house.has("seller", "uusd")), (7, 100));
    assert!(house.timers.all(&house.app).is_empty());
}

#[test]
fn without_a_bid_the_lot_returns() {
    let mut house = house();
    house.timers.run_to(&mut house.app, 21);
    assert_eq!(house.app.wrap().query_balance(&house.seller, "ulot").unwrap().amount.u128(), 7);
}

#[test]
fn a_late_bid_extends_the_time() {
    let mut house = house();
    house.at(16);
    house.bid("ann", 100).unwrap();
    assert_eq!(house.state().end, 21, "five blocks are left");
    house.at(21);
    house.bid("ben", 110).unwrap();
    assert_eq!(house.state().end, 26);
    assert!(house.timers.next_block(&mut house.app).fires.is_empty());
    house.at(26);
    house.bid("ann", 200).unwrap();
    let blocks = house.timers.run_to(&mut house.app, 31);
    assert_eq!(blocks.iter().map(|b| b.fires.len()).sum::<usize>(), 1);
    assert_eq!((house.has("ann", "ulot"), house.has("ann", "uusd"), house.has("ben", "uusd")), (7, 800, 1_000));
}

#[test]
fn no_bid_counts_after_the_end_though_it_settles_late() {
    let mut house = house();
    house.bid("ann", 100).unwrap();
    house.timers.change_config(|c| c.lane_paused = true).unwrap();
    house.at(25);
    house.bid("ben", 999).unwrap_err();
    assert_eq!(house.has("seller", "uusd"), 0);
    house.timers.change_config(|c| c.lane_paused = false).unwrap();
    let blocks = house.timers.run_to(&mut house.app, 26);
    assert_eq!(blocks.last().unwrap().only_fire().unwrap().late, 5);
    assert_eq!(house.has("ann", "ulot"), 7);
}

#[test]
fn anybody_resumes_an_end_that_could_not_be_paid() {
    let mut house = house();
    house.bid("ann", 100).unwrap();
    let anybody = house.app.api().addr_make("anybody");
    let resume = |house: &mut House| {
        house.app.execute_contract(anybody.clone(), house.auction.clone(), &ExecuteMsg::Resume {}, &[])
    };
    resume(&mut house).unwrap_err();
    // 250 + 90 are needed.
    house.app.send_tokens(house.auction.clone(), anybody.clone(), &coins(9_700, "utmr")).unwrap();
    let block = house.timers.run_to(&mut house.app, 21).pop().unwrap();
    assert_eq!((block.fires.len(), block.on_hold.len()), (0, 1));
    house.app.send_tokens(anybody.clone(), house.auction.clone(), &coins(9_700, "utmr")).unwrap();
    house.at(25);
    resume(&mut house).unwrap();
    house.timers.run_to(&mut house.app, 26).pop().unwrap().only_fire().unwrap();
    assert_eq!((house.has("ann", "ulot"), house.has("seller", "uusd")), (7, 100));
    resume(&mut house).unwrap_err();
}
