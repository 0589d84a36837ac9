//! Rounds against a pool whose price moves.

use cosmwasm_std::{coin, coins, to_json_binary, Addr, Decimal, Uint128};
use cw_multi_test::{BankSudo, ContractWrapper, Executor, SudoMsg as AppSudo};
use cw_timers_test::{Timers, TimersApp};
use timers_dca::{execute, instantiate, query, reply, sudo, ExecuteMsg, InstantiateMsg, Plan, PoolMsg, QueryMsg};
use timers_pool as pool;

/// What the pool holds of each coin.
const RESERVE: u128 = 1_000_000;

struct Market {
    timers: Timers,
    app: TimersApp,
    pool: Addr,
    dca: Addr,
    owner: Addr,
}

fn market(funds: u128, rounds: u64) -> Market {
    let timers = Timers::default();
    let mut app = timers.app();
    let owner = app.api().addr_make("owner");
    let pools = app.store_code(Box::new(ContractWrapper::new(pool::execute, pool::instantiate, pool::query)));
    let pool = app
        .instantiate_contract(
            pools,
            owner.clone(),
            &pool::InstantiateMsg { pair: ["uusd".into(), "ubtc".into()] },
            &[],
            "pool",
            None,
        )
        .unwrap();
    for (to, coin) in [(&pool, coin(RESERVE, "ubtc")), (&pool, coin(RESERVE, "uusd")), (&owner, coin(funds, "uusd"))] {
        app.sudo(AppSudo::Bank(BankSudo::Mint { to_address: to.to_string(), amount: vec![coin] })).unwrap();
    }
    let code =
        app.store_code(Box::new(ContractWrapper::new(execute, instantiate, query).with_reply(reply).with_sudo(sudo)));
    let msg = InstantiateMsg {
        pool: pool.to_string(),
        buy: "ubtc".into(),
        amount: 100u128.into(),
        min_rate: Decimal::percent(50),
        every: 3,
        rounds,
    };
    let dca = app.instantiate_contract(code, owner.clone(), &msg, &coins(funds, "uusd"), "dca", None).unwrap();
    let mint = BankSudo::Mint { to_address: dca.to_string(), amount: coins(100_000, "utmr") };
    app.sudo(AppSudo::Bank(mint)).unwrap();
    Market { timers, app, pool, dca, owner }
}

impl Market {
    /// Lets somebody move the pool's price: to so many ubtc for 100 uusd, but for what the swap itself moves.
    fn price(&mut self, percent: u128) {
        let (usd, btc) = (self.has(&self.pool, "uusd"), self.has(&self.pool, "ubtc"));
        let (more_usd, more_btc) =
            ((btc * 100 / percent).saturating_sub(usd), (usd * percent / 100).saturating_sub(btc));
        let amount = if more_usd > 0 { coins(more_usd, "uusd") } else { coins(more_btc.max(1), "ubtc") };
        let mint = BankSudo::Mint { to_address: self.pool.to_string(), amount };
        self.app.sudo(AppSudo::Bank(mint)).unwrap();
    }

    fn has(&self, who: &Addr, denom: &str) -> u128 {
        self.app.wrap().query_balance(who, denom).unwrap().amount.u128()
    }

    fn plan(&self) -> Plan {
        self.app.wrap().query_wasm_smart(&self.dca, &QueryMsg::Plan {}).unwrap()
    }
}

#[test]
fn the_pools_message_is_the_contracts() {
    let min_out = Uint128::new(5);
    assert_eq!(
        to_json_binary(&PoolMsg::Swap { min_out }).unwrap(),
        to_json_binary(&pool::ExecuteMsg::Swap { min_out }).unwrap()
    );
}

#[test]
fn it_buys_at_each_price_and_passes_over_bad_ones() {
    let mut market = market(1_000, 5);
    for (height, percent) in [(4, 100), (7, 51), (10, 50), (13, 200), (16, 100)] {
        market.price(percent);
        let blocks = market.timers.run_to(&mut market.app, height);
        blocks.last().unwrap().only_fire().unwrap();
    }
    // 99 + 50 + refused + 199 + 99: a swap moves the price too.
    assert_eq!((market.has(&market.dca, "ubtc"), market.has(&market.dca, "uusd")), (447, 600));
    assert_eq!((market.plan().swaps, market.plan().refused), (4, 1));
    assert!(market.timers.run_to(&mut market.app, 30).iter().all(|b| b.fires.is_empty()), "five rounds");

    market.app.execute_contract(market.owner.clone(), market.dca.clone(), &ExecuteMsg::Stop {}, &[]).unwrap();
    assert_eq!((market.has(&market.owner, "ubtc"), market.has(&market.owner, "uusd")), (447, 600));
}

#[test]
fn it_ends_when_the_funds_are_used_up() {
    let mut market = market(250, 0);
    market.timers.run_to(&mut market.app, 13);
    assert_eq!((market.plan().swaps, market.has(&market.dca, "ubtc")), (3, 247));
    assert!(market.timers.all(&market.app).is_empty());
}

#[test]
fn the_owner_stops_it() {
    let mut market = market(1_000, 0);
    market.timers.run_to(&mut market.app, 4);
    let stranger = market.app.api().addr_make("stranger");
    market.app.execute_contract(stranger, market.dca.clone(), &ExecuteMsg::Stop {}, &[]).unwrap_err();
    market.app.execute_contract(market.owner.clone(), market.dca.clone(), &ExecuteMsg::Stop {}, &[]).unwrap();
    assert_eq!((market.has(&market.owner, "ubtc"), market.has(&market.owner, "uusd")), (99, 900));
    assert!(market.timers.run_to(&mut market.app, 20).iter().all(|b| b.fires.is_empty()));
}

#[test]
fn its_owner_resumes_what_could_not_be_paid() {
    let mut market = market(1_000, 0);
    let owner = market.owner.clone();
    // 250 + 120 are needed.
    market.app.send_tokens(market.dca.clone(), owner.clone(), &coins(99_800, "utmr")).unwrap();
    let block = market.timers.run_to(&mut market.app, 4).pop().unwrap();
    assert_eq!((block.fires.len(), block.on_hold.len()), (0, 1));
    market.app.send_tokens(owner.clone(), market.dca.clone(), &coins(9_800, "utmr")).unwrap();
    assert!(market.timers.run_to(&mut market.app, 9).iter().all(|b| b.fires.is_empty()));
    let stranger = market.app.api().addr_make("stranger");
    let resume = |market: &mut Market, who: Addr| {
        market.app.execute_contract(who, market.dca.clone(), &ExecuteMsg::Resume {}, &[])
    };
    resume(&mut market, stranger).unwrap_err();
    resume(&mut market, owner.clone()).unwrap();
    market.timers.run_to(&mut market.app, 11).pop().unwrap().only_fire().unwrap();
    assert_eq!((market.plan().swaps, market.has(&market.dca, "uusd")), (1, 900));
    market.app.execute_contract(owner.clone(), market.dca.clone(), &ExecuteMsg::Stop {}, &[]).unwrap();
    resume(&mut market, owner).unwrap_err();
}
