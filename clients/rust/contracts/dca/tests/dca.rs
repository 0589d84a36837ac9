//! Rounds against a pool whose price moves.

use cosmwasm_std::{
    coin, coins, to_json_binary, Addr, BankMsg, Binary, Decimal, Deps, DepsMut, Empty, Env, MessageInfo, Response,
    StdError, StdResult, Uint128,
};
use cw_multi_test::{BankSudo, ContractWrapper, Executor, SudoMsg as AppSudo};
use cw_timers_test::{Timers, TimersApp};
use timers_dca::{execute, instantiate, query, reply, sudo, ExecuteMsg, InstantiateMsg, Plan, PoolMsg, QueryMsg};

/// A pool that sells ubtc for uusd at a rate that anybody sets.
mod pool {
    use super::*;
    use cosmwasm_schema::cw_serde;

    #[cw_serde]
    pub enum Msg {
        Rate { rate: Decimal },
        Swap { min_out: Uint128 },
    }

    pub fn instantiate(_: DepsMut, _: Env, _: MessageInfo, _: Empty) -> StdResult<Response> {
        Ok(Response::new())
    }

    pub fn execute(deps: DepsMut, _: Env, info: MessageInfo, msg: Msg) -> StdResult<Response> {
        match msg {
            Msg::Rate { rate } => {
                deps.storage.set(b"rate", rate.to_string().as_bytes());
                Ok(Response::new())
            }
            Msg::Swap { min_out } => {
                let rate: Decimal = String::from_utf8(deps.storage.get(b"rate").unwrap()).unwrap().parse()?;
                assert_eq!(info.funds[0].denom, "uusd");
                let out = info.funds[0].amount.mul_floor(rate);
                if out < min_out {
                    return Err(StdError::generic_err("slippage"));
                }
                let amount = coins(out.u128(), "ubtc");
                Ok(Response::new().add_message(BankMsg::Send { to_address: info.sender.into(), amount }))
            }
        }
    }

    pub fn query(_: Deps, _: Env, _: Empty) -> StdResult<Binary> {
        to_json_binary(&Empty {})
    }
}

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
    let pool = app.instantiate_contract(pools, owner.clone(), &Empty {}, &[], "pool", None).unwrap();
    for (to, coin) in [(&pool, coin(1_000_000, "ubtc")), (&owner, coin(funds, "uusd"))] {
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
    let mut market = Market { timers, app, pool, dca, owner };
    market.rate(100);
    market
}

impl Market {
    fn rate(&mut self, percent: u64) {
        let msg = pool::Msg::Rate { rate: Decimal::percent(percent) };
        self.app.execute_contract(self.owner.clone(), self.pool.clone(), &msg, &[]).unwrap();
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
        to_json_binary(&pool::Msg::Swap { min_out }).unwrap()
    );
}

#[test]
fn it_buys_at_each_price_and_passes_over_bad_ones() {
    let mut market = market(1_000, 5);
    for (height, percent) in [(4, 100), (7, 50), (10, 49), (13, 200), (16, 100)] {
        market.rate(percent);
        let blocks = market.timers.run_to(&mut market.app, height);
        blocks.last().unwrap().only_fire().unwrap();
    }
    // 100 + 50 + refused + 200 + 100.
    assert_eq!((market.has(&market.dca, "ubtc"), market.has(&market.dca, "uusd")), (450, 600));
    assert_eq!((market.plan().swaps, market.plan().refused), (4, 1));
    assert!(market.timers.run_to(&mut market.app, 30).iter().all(|b| b.fires.is_empty()), "five rounds");

    market.app.execute_contract(market.owner.clone(), market.dca.clone(), &ExecuteMsg::Stop {}, &[]).unwrap();
    assert_eq!((market.has(&market.owner, "ubtc"), market.has(&market.owner, "uusd")), (450, 600));
}

#[test]
fn it_ends_when_the_funds_are_used_up() {
    let mut market = market(250, 0);
    market.timers.run_to(&mut market.app, 13);
    assert_eq!((market.plan().swaps, market.has(&market.dca, "ubtc")), (3, 250));
    assert!(market.timers.all(&market.app).is_empty());
}

#[test]
fn the_owner_stops_it() {
    let mut market = market(1_000, 0);
    market.timers.run_to(&mut market.app, 4);
    let stranger = market.app.api().addr_make("stranger");
    market.app.execute_contract(stranger, market.dca.clone(), &ExecuteMsg::Stop {}, &[]).unwrap_err();
    market.app.execute_contract(market.owner.clone(), market.dca.clone(), &ExecuteMsg::Stop {}, &[]).unwrap();
    assert_eq!((market.has(&market.owner, "ubtc"), market.has(&market.owner, "uusd")), (100, 900));
    assert!(market.timers.run_to(&mut market.app, 20).iter().all(|b| b.fires.is_empty()));
}
