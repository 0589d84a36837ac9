//! Dollar-cost averaging: every so many blocks the contract sells the same amount to a pool, whatever the price, as long as
//! the pool gives at least a stated rate. A swap that the pool refuses costs one round and nothing else.
//!
//! The pool understands `{"swap": {"min_out": "…"}}` with the coins to sell, and sends what is bought to the sender.

use cosmwasm_schema::cw_serde;
use cosmwasm_std::{
    coins, ensure, entry_point, to_json_binary, Addr, BankMsg, Binary, Decimal, Deps, DepsMut, Env, MessageInfo, Reply,
    Response, StdError, StdResult, SubMsg, SubMsgResult, Uint128, WasmMsg,
};
use cw_storage_plus::Item;
use cw_timers::{timer_id, Change, OnUnfunded, SudoMsg, Timer, TimerId, TimersQuerier};

const GAS_LIMIT: u64 = 250_000;
const CELL_LIMIT: u64 = 4_000;
const SCHEDULED: u64 = 1;
const SWAPPED: u64 = 2;
/// The reply to a change that may fail, since the timer may be gone.
const QUIET: u64 = 3;

const PLAN: Item<Plan> = Item::new("plan");

/// What is bought, and what became of it so far.
#[cw_serde]
pub struct Plan {
    /// Whose plan it is.
    pub owner: Addr,
    /// Where it buys.
    pub pool: Addr,
    /// What is sold.
    pub sell: String,
    /// What is bought.
    pub buy: String,
    /// How much is sold each time.
    pub amount: Uint128,
    /// The least that one unit must bring.
    pub min_rate: Decimal,
    /// How many swaps succeeded, and how many the pool refused.
    pub swaps: u64,
    /// See `swaps`.
    pub refused: u64,
    /// What makes the rounds.
    pub timer: Option<TimerId>,
}

/// The funds that are sent are sold little by little.
#[cw_serde]
pub struct InstantiateMsg {
    /// Where it buys.
    pub pool: String,
    /// What is bought.
    pub buy: String,
    /// How much is sold each time.
    pub amount: Uint128,
    /// The least that one unit must bring.
    pub min_rate: Decimal,
    /// How often, in blocks.
    pub every: u64,
    /// How many rounds, refused ones included; 0 is until the funds are used up.
    pub rounds: u64,
}

/// What the owner may do.
#[cw_serde]
pub enum ExecuteMsg {
    /// Stops, and takes out what is left and what was bought.
    Stop {},
    /// Goes on with a timer that is suspended, since the contract could not pay a fire: of the owner, since who resumes
    /// chooses the block in which the next round sells, which is the next one.
    Resume {},
}

/// What anybody may ask.
#[cw_serde]
pub enum QueryMsg {
    /// The plan.
    Plan {},
}

/// What the pool is sent.
#[cw_serde]
pub enum PoolMsg {
    /// Sells the coins that come with it.
    Swap {
        /// The least that is taken for them.
        min_out: Uint128,
    },
}

/// Begins the plan.
#[entry_point]
pub fn instantiate(deps: DepsMut, env: Env, info: MessageInfo, msg: InstantiateMsg) -> StdResult<Response> {
    let [sells] = info.funds.as_slice() else { return Err(StdError::generic_err("send the coin to sell")) };
    let fee_denom = TimersQuerier::new(&deps.querier).lane()?.fee_denom;
    ensure!(sells.denom != fee_denom, StdError::generic_err("fees would be taken from what is sold"));
    ensure!(!msg.amount.is_zero(), StdError::generic_err("want an amount"));
    let plan = Plan {
        owner: info.sender,
        pool: deps.api.addr_validate(&msg.pool)?,
        sell: sells.denom.clone(),
        buy: msg.buy,
        amount: msg.amount,
        min_rate: msg.min_rate,
        swaps: 0,
        refused: 0,
        timer: None,
    };
    PLAN.save(deps.storage, &plan)?;
    let timer = Timer::every(msg.every)
        .remaining(msg.rounds)
        .gas_limit(GAS_LIMIT)
        .cell_limit(CELL_LIMIT)
        .on_unfunded(OnUnfunded::Suspend)
        .name("buying");
    Ok(Response::new().add_submessage(timer.into_submsg(&env.contract.address, SCHEDULED)))
}

/// A round: sells the amount, or what is left.
#[entry_point]
pub fn sudo(deps: DepsMut, env: Env, SudoMsg::HandleTimer(_): SudoMsg) -> StdResult<Response> {
    let plan = PLAN.load(deps.storage)?;
    let me = &env.contract.address;
    let left = deps.querier.query_balance(me, &plan.sell)?.amount;
    let amount = left.min(plan.amount);
    if amount.is_zero() {
        let cancel = plan.timer.iter().map(|id| Change::cancel(id).into_optional(me, QUIET));
        return Ok(Response::new().add_submessages(cancel));
    }
    let min_out = amount.mul_floor(plan.min_rate);
    let swap = WasmMsg::Execute {
        contract_addr: plan.pool.into(),
        msg: to_json_binary(&PoolMsg::Swap { min_out })?,
        funds: coins(amount.u128(), plan.sell),
    };
    // If the pool refuses, the round is over, and the plan goes on.
    Ok(Response::new().add_submessage(SubMsg::reply_always(swap, SWAPPED)))
}

/// Names the timer, and counts what became of a swap.
#[entry_point]
pub fn reply(deps: DepsMut, _: Env, reply: Reply) -> StdResult<Response> {
    let mut plan = PLAN.load(deps.storage)?;
    match (reply.id, &reply.result) {
        (SCHEDULED, _) => plan.timer = Some(timer_id(&reply)?),
        (SWAPPED, SubMsgResult::Ok(_)) => plan.swaps += 1,
        (SWAPPED, SubMsgResult::Err(_)) => plan.refused += 1,
        (QUIET, _) => {}
        (other, _) => return Err(StdError::generic_err(format!("unknown reply {other}"))),
    }
    PLAN.save(deps.storage, &plan)?;
    Ok(Response::new())
}

/// See [`ExecuteMsg`].
#[entry_point]
pub fn execute(deps: DepsMut, env: Env, info: MessageInfo, msg: ExecuteMsg) -> StdResult<Response> {
    let mut plan = PLAN.load(deps.storage)?;
    ensure!(info.sender == plan.owner, StdError::generic_err("only the owner stops and resumes it"));
    let me = &env.contract.address;
    if msg == (ExecuteMsg::Resume {}) {
        let id = plan.timer.ok_or_else(|| StdError::generic_err("it is stopped"))?;
        return Ok(Response::new().add_message(Change::resume(&id).into_msg(me)));
    }
    let cancel = plan.timer.take().map(|id| Change::cancel(&id).into_optional(me, QUIET));
    let mut response = Response::new().add_submessages(cancel);
    PLAN.save(deps.storage, &plan)?;
    for denom in [&plan.sell, &plan.buy] {
        let coin = deps.querier.query_balance(me, denom)?;
        if !coin.amount.is_zero() {
            response = response.add_message(BankMsg::Send { to_address: plan.owner.to_string(), amount: vec![coin] });
        }
    }
    Ok(response)
}

/// See [`QueryMsg`].
#[entry_point]
pub fn query(deps: Deps, _: Env, QueryMsg::Plan {}: QueryMsg) -> StdResult<Binary> {
    to_json_binary(&PLAN.load(deps.storage)?)
}
