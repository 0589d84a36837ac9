//! A keeper of another contract: it calls that contract every so many blocks, or when a value that it stores falls below a
//! bound. The other contract needs no change: it is called as anybody would call it. A call that it refuses is counted, and
//! the keeper goes on.

use cosmwasm_schema::cw_serde;
use cosmwasm_std::{
    ensure, entry_point, to_json_binary, Addr, BankMsg, Binary, Deps, DepsMut, Env, MessageInfo, Reply, Response,
    StdError, StdResult, SubMsg, SubMsgResult, Uint128, WasmMsg,
};
use cw_storage_plus::{Item, Map};
use cw_timers::{timer_id, Change, Condition, OnUnfunded, SudoMsg, Timer, TimerId, Watch, WatchKey};

const CELL_LIMIT: u64 = 5_000;

const OWNER: Item<Addr> = Item::new("owner");
const JOBS: Map<&str, Job> = Map::new("jobs");
/// What the reply to a schedule concerns.
const PENDING: Item<Job> = Item::new("pending");
/// Whose call the reply concerns.
const CALLED: Item<TimerId> = Item::new("called");

const SCHEDULED: u64 = 1;
const ANSWERED: u64 = 2;
/// The reply to a change that may fail, since the timer may be gone.
const QUIET: u64 = 3;

/// What the keeper does for a contract.
#[cw_serde]
pub struct Job {
    /// Which contract.
    pub contract: Addr,
    /// What it is called with, JSON.
    pub msg: Binary,
    /// How often it took the call, and how often it refused.
    pub done: u64,
    /// See `done`.
    pub refused: u64,
}

/// When the contract is called.
#[cw_serde]
pub enum When {
    /// Every so many blocks.
    Every {
        /// How many.
        blocks: u64,
    },
    /// When a number that the contract stores falls below a bound. It is called again when the number was above it at the
    /// end of a block's transactions, and falls again. What the call itself stores counts in the block after it.
    Below {
        /// The key of its storage.
        key: Binary,
        /// The bound.
        bound: Uint128,
        /// How many blocks must lie between two calls at least.
        cooldown: u64,
    },
}

/// The sender is the owner.
#[cw_serde]
pub struct InstantiateMsg {}

/// What the owner may do.
#[cw_serde]
pub enum ExecuteMsg {
    /// Begins to keep a contract.
    Keep {
        /// Which.
        contract: String,
        /// What it is called with.
        msg: Binary,
        /// When.
        when: When,
        /// The cycles that a call may use, those of the keeper included.
        gas_limit: u64,
        /// The most that a call may cost. While it would cost more it waits.
        max_charge: Option<Uint128>,
    },
    /// Ends a job.
    Drop {
        /// The job's timer.
        timer: TimerId,
    },
    /// Goes on with a job whose timer is suspended, since the keeper could not pay a call. One that was due is called
    /// in the next block.
    Resume {
        /// The job's timer.
        timer: TimerId,
    },
    /// Takes out what the keeper has, less what the owner leaves for fees.
    Withdraw {
        /// How much.
        amount: Vec<cosmwasm_std::Coin>,
    },
}

/// What anybody may ask.
#[cw_serde]
pub enum QueryMsg {
    /// A job.
    Job {
        /// The job's timer.
        timer: TimerId,
    },
}

/// See [`InstantiateMsg`].
#[entry_point]
pub fn instantiate(deps: DepsMut, _: Env, info: MessageInfo, _: InstantiateMsg) -> StdResult<Response> {
    OWNER.save(deps.storage, &info.sender)?;
    Ok(Response::new())
}

/// See [`ExecuteMsg`].
#[entry_point]
pub fn execute(deps: DepsMut, env: Env, info: MessageInfo, msg: ExecuteMsg) -> StdResult<Response> {
    ensure!(info.sender == OWNER.load(deps.storage)?, StdError::generic_err("only the owner may"));
    let me = &env.contract.address;
    match msg {
        ExecuteMsg::Keep { contract, msg, when, gas_limit, max_charge } => {
            let contract = deps.api.addr_validate(&contract)?;
            let mut timer = match when {
                When::Every { blocks } => Timer::every(blocks),
                When::Below { key, bound, cooldown } => {
                    let place = WatchKey::contract_key(&deps.api.addr_canonicalize(contract.as_str())?, &key);
                    let below = place.when(Condition::Less(bound.to_string()));
                    Timer::on(Watch::key(below).cooldown(cooldown)).remaining(0)
                }
            };
            timer = timer.gas_limit(gas_limit).cell_limit(CELL_LIMIT).on_unfunded(OnUnfunded::Suspend);
            if let Some(most) = max_charge {
                timer = timer.max_charge(most);
            }
            PENDING.save(deps.storage, &Job { contract, msg, done: 0, refused: 0 })?;
            Ok(Response::new().add_submessage(timer.into_submsg(me, SCHEDULED)))
        }
        ExecuteMsg::Drop { timer } => {
            JOBS.remove(deps.storage, timer.as_str());
            Ok(Response::new().add_submessage(Change::cancel(&timer).into_optional(me, QUIET)))
        }
        ExecuteMsg::Resume { timer } => Ok(Response::new().add_message(Change::resume(&timer).into_msg(me))),
        ExecuteMsg::Withdraw { amount } => {
            Ok(Response::new().add_message(BankMsg::Send { to_address: info.sender.into(), amount }))
        }
    }
}

/// It is time to call.
#[entry_point]
pub fn sudo(deps: DepsMut, _: Env, SudoMsg::HandleTimer(fired): SudoMsg) -> StdResult<Response> {
    let job = JOBS.load(deps.storage, fired.timer_id.as_str())?;
    CALLED.save(deps.storage, &fired.timer_id)?;
    let call = WasmMsg::Execute { contract_addr: job.contract.into(), msg: job.msg, funds: vec![] };
    Ok(Response::new().add_submessage(SubMsg::reply_always(call, ANSWERED)))
}

/// Names a job's timer, and counts what became of a call.
#[entry_point]
pub fn reply(deps: DepsMut, _: Env, reply: Reply) -> StdResult<Response> {
    if reply.id == SCHEDULED {
        let id = timer_id(&reply)?;
        let job = PENDING.load(deps.storage)?;
        PENDING.remove(deps.storage);
        JOBS.save(deps.storage, id.as_str(), &job)?;
        return Ok(Response::new().add_attribute("timer", id.as_str()));
    }
    if reply.id == QUIET {
        return Ok(Response::new());
    }
    let id = CALLED.load(deps.storage)?;
    let mut job = JOBS.load(deps.storage, id.as_str())?;
    match reply.result {
        SubMsgResult::Ok(_) => job.done += 1,
        SubMsgResult::Err(_) => job.refused += 1,
    }
    JOBS.save(deps.storage, id.as_str(), &job)?;
    Ok(Response::new())
}

/// See [`QueryMsg`].
#[entry_point]
pub fn query(deps: Deps, _: Env, QueryMsg::Job { timer }: QueryMsg) -> StdResult<Binary> {
    to_json_binary(&JOBS.load(deps.storage, timer.as_str())?)
}
