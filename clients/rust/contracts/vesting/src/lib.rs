//! Vesting that releases by itself. Every so many blocks a timer sends the beneficiary what has vested since the last
//! time. What is released follows from the height alone: a release that is late, failed or never came is caught up with by
//! the next one, and anybody may ask for one.

use cosmwasm_schema::cw_serde;
use cosmwasm_std::{
    coins, ensure, entry_point, to_json_binary, Addr, BankMsg, Binary, Deps, DepsMut, Env, MessageInfo, Reply,
    Response, StdError, StdResult, Storage, Uint128,
};
use cw_storage_plus::Item;
use cw_timers::{timer_id, Change, OnUnfunded, SudoMsg, Timer, TimerId, TimersQuerier};

const GAS_LIMIT: u64 = 250_000;
const CELL_LIMIT: u64 = 2_000;
const SCHEDULED: u64 = 1;
/// The reply to a change that may fail, since the timer may be gone.
const QUIET: u64 = 2;

const GRANT: Item<Grant> = Item::new("grant");

/// What vests.
#[cw_serde]
pub struct Grant {
    /// Whose it becomes.
    pub beneficiary: Addr,
    /// What vests in all.
    pub total: Uint128,
    /// In which denom.
    pub denom: String,
    /// The height at which vesting begins.
    pub start: u64,
    /// Until this height nothing is released.
    pub cliff: u64,
    /// The height at which all has vested.
    pub end: u64,
    /// What was released.
    pub released: Uint128,
    /// What releases.
    pub timer: Option<TimerId>,
}

impl Grant {
    /// What has vested at a height.
    pub fn vested(&self, height: u64) -> Uint128 {
        match height {
            h if h < self.cliff => Uint128::zero(),
            h if h >= self.end => self.total,
            h => self.total.multiply_ratio(h.saturating_sub(self.start), self.end - self.start),
        }
    }
}

/// The funds that are sent vest.
#[cw_serde]
pub struct InstantiateMsg {
    /// Whose they become.
    pub beneficiary: String,
    /// Over how many blocks from now.
    pub duration: u64,
    /// How many blocks of these are the cliff.
    pub cliff: u64,
    /// How often they are released.
    pub every: u64,
}

/// What anybody may do.
#[cw_serde]
pub enum ExecuteMsg {
    /// Releases what has vested, without waiting for the timer.
    Release {},
    /// Goes on with a timer that is suspended, since the contract could not pay a fire: who has topped up the contract
    /// asks for it. It releases in the next block.
    Resume {},
}

/// What anybody may ask.
#[cw_serde]
pub enum QueryMsg {
    /// The grant.
    Grant {},
}

/// Begins to vest.
#[entry_point]
pub fn instantiate(deps: DepsMut, env: Env, info: MessageInfo, msg: InstantiateMsg) -> StdResult<Response> {
    let [vests] = info.funds.as_slice() else { return Err(StdError::generic_err("send one coin")) };
    let fee_denom = TimersQuerier::new(&deps.querier).lane()?.fee_denom;
    ensure!(vests.denom != fee_denom, StdError::generic_err("fees would be taken from what vests"));
    ensure!(msg.duration > 0 && msg.every > 0, StdError::generic_err("want a duration and an interval"));
    let start = env.block.height;
    let grant = Grant {
        beneficiary: deps.api.addr_validate(&msg.beneficiary)?,
        total: vests.amount,
        denom: vests.denom.clone(),
        start,
        cliff: start + msg.cliff,
        end: start + msg.duration,
        released: Uint128::zero(),
        timer: None,
    };
    GRANT.save(deps.storage, &grant)?;
    let timer = Timer::every(msg.every)
        .gas_limit(GAS_LIMIT)
        .cell_limit(CELL_LIMIT)
        .on_unfunded(OnUnfunded::Suspend)
        .name("vesting");
    Ok(Response::new().add_submessage(timer.into_submsg(&env.contract.address, SCHEDULED)))
}

/// Names the timer.
#[entry_point]
pub fn reply(deps: DepsMut, _: Env, reply: Reply) -> StdResult<Response> {
    if reply.id == QUIET {
        return Ok(Response::new());
    }
    let id = timer_id(&reply)?;
    GRANT.update(deps.storage, |grant| Ok::<_, StdError>(Grant { timer: Some(id), ..grant }))?;
    Ok(Response::new())
}

/// See [`ExecuteMsg`].
#[entry_point]
pub fn execute(deps: DepsMut, env: Env, _: MessageInfo, msg: ExecuteMsg) -> StdResult<Response> {
    match msg {
        ExecuteMsg::Release {} => release(deps.storage, &env),
        ExecuteMsg::Resume {} => {
            let id = GRANT.load(deps.storage)?.timer.ok_or_else(|| StdError::generic_err("all is released"))?;
            Ok(Response::new().add_message(Change::resume(&id).into_msg(&env.contract.address)))
        }
    }
}

/// It is time to release.
#[entry_point]
pub fn sudo(deps: DepsMut, env: Env, SudoMsg::HandleTimer(_): SudoMsg) -> StdResult<Response> {
    let response = release(deps.storage, &env)?;
    match GRANT.load(deps.storage)?.timer {
        // A timer lives as long as the chain allows at most: each release gives it that life again.
        Some(id) => {
            Ok(response.add_submessage(Change::extend(&id, u64::MAX).into_optional(&env.contract.address, QUIET)))
        }
        None => Ok(response),
    }
}

fn release(storage: &mut dyn Storage, env: &Env) -> StdResult<Response> {
    let mut grant = GRANT.load(storage)?;
    let amount = grant.vested(env.block.height) - grant.released;
    grant.released += amount;
    let mut response = Response::new().add_attribute("released", amount);
    if grant.released == grant.total {
        if let Some(id) = grant.timer.take() {
            response = response.add_submessage(Change::cancel(&id).into_optional(&env.contract.address, QUIET));
        }
    }
    GRANT.save(storage, &grant)?;
    if !amount.is_zero() {
        let amount = coins(amount.u128(), grant.denom);
        response = response.add_message(BankMsg::Send { to_address: grant.beneficiary.into(), amount });
    }
    Ok(response)
}

/// See [`QueryMsg`].
#[entry_point]
pub fn query(deps: Deps, _: Env, QueryMsg::Grant {}: QueryMsg) -> StdResult<Binary> {
    to_json_binary(&GRANT.load(deps.storage)?)
}
