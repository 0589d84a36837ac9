//! A subscription: a payer deposits, and the merchant is paid the price of a period every so many blocks, as long as the
//! deposit lasts. Nobody has to ask for it: a timer does. A period is settled once, whatever is retried or late.
//!
//! The fires are paid from what the contract has of the fee denom. Deposits are in another, so that fees never eat them.

use cosmwasm_schema::cw_serde;
use cosmwasm_std::{
    coins, ensure, entry_point, to_json_binary, Addr, BankMsg, Binary, Deps, DepsMut, Env, MessageInfo, Order, Reply,
    Response, StdError, StdResult, Storage, Uint128,
};
use cw_storage_plus::{Item, Map};
use cw_timers::{timer_id, Change, Interval, OnUnfunded, SudoMsg, Timer, TimerId, TimersQuerier};

/// What a charge may use.
const GAS_LIMIT: u64 = 250_000;
const CELL_LIMIT: u64 = 2_000;
const SCHEDULED: u64 = 1;
/// The reply to a change that may fail, since the timer may be gone.
const QUIET: u64 = 2;

const PLAN: Item<Plan> = Item::new("plan");
const SUBSCRIPTIONS: Map<&Addr, Subscription> = Map::new("subscriptions");
/// Of each timer, period by period: the delivery that settled it.
const SETTLED: Map<(&str, u64), String> = Map::new("settled");
const BY_TIMER: Map<&str, Addr> = Map::new("by_timer");
/// Whose timer the reply will name.
const PENDING: Item<Addr> = Item::new("pending");

/// What the merchant offers.
#[cw_serde]
pub struct Plan {
    /// Who is paid.
    pub merchant: Addr,
    /// The denom of the price.
    pub denom: String,
    /// The price of a period.
    pub price: Uint128,
    /// The length of a period in blocks.
    pub period: u64,
}

/// What a payer has.
#[cw_serde]
pub struct Subscription {
    /// What is left of the deposit.
    pub deposit: Uint128,
    /// How many periods are settled.
    pub periods: u64,
    /// What charges it.
    pub timer: Option<TimerId>,
}

/// The plan.
#[cw_serde]
pub struct InstantiateMsg {
    /// The denom of the price.
    pub denom: String,
    /// The price of a period.
    pub price: Uint128,
    /// The length of a period in blocks.
    pub period: u64,
}

/// What a payer may do, and anybody for a payer.
#[cw_serde]
pub enum ExecuteMsg {
    /// Begins a subscription with the funds that are sent, or adds to its deposit. The first period is charged one period
    /// from now.
    Subscribe {},
    /// Ends it, and returns what is left of the deposit.
    Cancel {},
    /// Goes on with a subscription whose timer is suspended, since the contract could not pay a fire: anybody may ask
    /// for it who has topped up the contract. The period that was due is charged in the next block.
    Resume {
        /// Whose subscription.
        payer: String,
    },
}

/// What anybody may ask.
#[cw_serde]
pub enum QueryMsg {
    /// The subscription of a payer.
    Subscription {
        /// The payer.
        payer: String,
    },
    /// The periods of a subscription, each with the delivery that settled it.
    Settled {
        /// The subscription's timer.
        timer: TimerId,
    },
}

/// The sender is the merchant.
#[entry_point]
pub fn instantiate(deps: DepsMut, _: Env, info: MessageInfo, msg: InstantiateMsg) -> StdResult<Response> {
    ensure!(msg.period > 0 && !msg.price.is_zero(), StdError::generic_err("want a price and a period"));
    let fee_denom = TimersQuerier::new(&deps.querier).lane()?.fee_denom;
    ensure!(msg.denom != fee_denom, StdError::generic_err("fees would be taken from deposits: choose another denom"));
    let InstantiateMsg { denom, price, period } = msg;
    PLAN.save(deps.storage, &Plan { merchant: info.sender, denom, price, period })?;
    Ok(Response::new())
}

/// See [`ExecuteMsg`].
#[entry_point]
pub fn execute(deps: DepsMut, env: Env, info: MessageInfo, msg: ExecuteMsg) -> StdResult<Response> {
    match msg {
        ExecuteMsg::Subscribe {} => subscribe(deps, env, info),
        ExecuteMsg::Cancel {} => {
            let subscription = SUBSCRIPTIONS.load(deps.storage, &info.sender)?;
            end(deps.storage, &env, &info.sender, subscription)
        }
        ExecuteMsg::Resume { payer } => {
            let subscription = SUBSCRIPTIONS.load(deps.storage, &deps.api.addr_validate(&payer)?)?;
            let id = subscription.timer.ok_or_else(|| StdError::not_found("timer"))?;
            Ok(Response::new().add_message(Change::resume(&id).into_msg(&env.contract.address)))
        }
    }
}

fn subscribe(deps: DepsMut, env: Env, info: MessageInfo) -> StdResult<Response> {
    let plan = PLAN.load(deps.storage)?;
    let paid = match info.funds.as_slice() {
        [coin] if coin.denom == plan.denom => coin.amount,
        _ => return Err(StdError::generic_err(format!("send {}", plan.denom))),
    };
    if let Some(mut running) = SUBSCRIPTIONS.may_load(deps.storage, &info.sender)? {
        running.deposit += paid;
        SUBSCRIPTIONS.save(deps.storage, &info.sender, &running)?;
        return Ok(Response::new());
    }
    ensure!(paid >= plan.price, StdError::generic_err("the deposit does not cover a period"));
    let fresh = Subscription { deposit: paid, periods: 0, timer: None };
    SUBSCRIPTIONS.save(deps.storage, &info.sender, &fresh)?;
    PENDING.save(deps.storage, &info.sender)?;
    let timer = Timer::on(Interval::every(plan.period))
        .gas_limit(GAS_LIMIT)
        .cell_limit(CELL_LIMIT)
        .on_unfunded(OnUnfunded::Suspend);
    Ok(Response::new().add_submessage(timer.into_submsg(&env.contract.address, SCHEDULED)))
}

/// Names the timer of a new subscription.
#[entry_point]
pub fn reply(deps: DepsMut, _: Env, reply: Reply) -> StdResult<Response> {
    if reply.id == QUIET {
        return Ok(Response::new());
    }
    let (id, payer) = (timer_id(&reply)?, PENDING.load(deps.storage)?);
    PENDING.remove(deps.storage);
    BY_TIMER.save(deps.storage, id.as_str(), &payer)?;
    SUBSCRIPTIONS.update(deps.storage, &payer, |subscription| {
        let mut subscription = subscription.ok_or_else(|| StdError::not_found("subscription"))?;
        subscription.timer = Some(id);
        Ok::<_, StdError>(subscription)
    })?;
    Ok(Response::new())
}

/// A period is over.
#[entry_point]
pub fn sudo(deps: DepsMut, env: Env, SudoMsg::HandleTimer(fired): SudoMsg) -> StdResult<Response> {
    let plan = PLAN.load(deps.storage)?;
    let payer = BY_TIMER.load(deps.storage, fired.timer_id.as_str())?;
    let mut subscription = SUBSCRIPTIONS.load(deps.storage, &payer)?;
    if subscription.deposit < plan.price {
        return end(deps.storage, &env, &payer, subscription);
    }
    subscription.deposit -= plan.price;
    subscription.periods += 1;
    // A delivery never comes twice; what a failed one wrote is undone. So each period has one.
    SETTLED.save(deps.storage, (fired.timer_id.as_str(), subscription.periods), &fired.deliver_id)?;
    SUBSCRIPTIONS.save(deps.storage, &payer, &subscription)?;
    let pay = BankMsg::Send { to_address: plan.merchant.into(), amount: coins(plan.price.u128(), plan.denom) };
    // A timer lives as long as the chain allows at most: each period gives it that life again.
    let live_on = Change::extend(&fired.timer_id, u64::MAX).into_optional(&env.contract.address, QUIET);
    let period = subscription.periods.to_string();
    Ok(Response::new().add_message(pay).add_submessage(live_on).add_attribute("period", period))
}

fn end(storage: &mut dyn Storage, env: &Env, payer: &Addr, subscription: Subscription) -> StdResult<Response> {
    SUBSCRIPTIONS.remove(storage, payer);
    let cancel = subscription.timer.map(|id| {
        BY_TIMER.remove(storage, id.as_str());
        Change::cancel(&id).into_optional(&env.contract.address, QUIET)
    });
    let mut response = Response::new().add_submessages(cancel).add_attribute("ended", payer);
    if !subscription.deposit.is_zero() {
        let amount = coins(subscription.deposit.u128(), PLAN.load(storage)?.denom);
        response = response.add_message(BankMsg::Send { to_address: payer.into(), amount });
    }
    Ok(response)
}

/// See [`QueryMsg`].
#[entry_point]
pub fn query(deps: Deps, _: Env, msg: QueryMsg) -> StdResult<Binary> {
    match msg {
        QueryMsg::Subscription { payer } => {
            to_json_binary(&SUBSCRIPTIONS.may_load(deps.storage, &Addr::unchecked(payer))?)
        }
        QueryMsg::Settled { timer } => {
            let all = SETTLED.prefix(timer.as_str()).range(deps.storage, None, None, Order::Ascending);
            to_json_binary(&all.collect::<StdResult<Vec<_>>>()?)
        }
    }
}
