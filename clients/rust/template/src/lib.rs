//! A contract that wakes itself: each wake-up counts, and what it was asked to remember is in an attribute of its event.

use cosmwasm_schema::{cw_serde, QueryResponses};
use cosmwasm_std::{
    ensure, entry_point, to_json_binary, Addr, Binary, Deps, DepsMut, Env, MessageInfo, Reply, Response, StdError,
    StdResult,
};
use cw_storage_plus::Item;
use cw_timers::{timer_id, Change, SudoMsg, Timer, TimerId};

/// What a wake-up may use, in the chain's cycles: 20,000 are the fire's and 60,000 the loading of a contract.
const GAS_LIMIT: u64 = 200_000;
/// The ids of replies.
const SCHEDULED: u64 = 1;
const CANCELLED: u64 = 2;

const STATE: Item<State> = Item::new("state");

/// What the contract remembers.
#[cw_serde]
pub struct State {
    /// Who may start and stop it.
    pub owner: Addr,
    /// How often it woke.
    pub woke: u64,
    /// Whether a wake-up was late, and by how many blocks at most.
    pub latest: u64,
    /// What wakes it.
    pub timer: Option<TimerId>,
}

/// The sender is the owner. Wake-ups are paid from what the contract has.
#[cw_serde]
pub struct InstantiateMsg {}

/// What the owner may do.
#[cw_serde]
pub enum ExecuteMsg {
    /// Wakes the contract every so many blocks, in place of what woke it before.
    Start {
        /// How many.
        every: u64,
        /// What it is told each time.
        note: String,
    },
    /// Lets it sleep.
    Stop {},
}

/// What anybody may ask.
#[cw_serde]
#[derive(QueryResponses)]
pub enum QueryMsg {
    /// What the contract remembers.
    #[returns(State)]
    State {},
}

/// Makes the contract.
#[entry_point]
pub fn instantiate(deps: DepsMut, _: Env, info: MessageInfo, _: InstantiateMsg) -> StdResult<Response> {
    STATE.save(deps.storage, &State { owner: info.sender, woke: 0, latest: 0, timer: None })?;
    Ok(Response::new())
}

/// See [`ExecuteMsg`].
#[entry_point]
pub fn execute(deps: DepsMut, env: Env, info: MessageInfo, msg: ExecuteMsg) -> StdResult<Response> {
    let mut state = STATE.load(deps.storage)?;
    ensure!(info.sender == state.owner, StdError::generic_err("only the owner may"));
    let me = &env.contract.address;
    // A timer may be gone already: without funds it is removed. So the change may fail.
    let cancel = state.timer.take().map(|id| Change::cancel(&id).into_optional(me, CANCELLED));
    let mut response = Response::new().add_submessages(cancel);
    if let ExecuteMsg::Start { every, note } = msg {
        let timer = Timer::every(every).payload(&note)?.gas_limit(GAS_LIMIT).name("wake-up");
        response = response.add_submessage(timer.into_submsg(me, SCHEDULED));
    }
    STATE.save(deps.storage, &state)?;
    Ok(response)
}

/// The chain's answer to the schedule names the timer.
#[entry_point]
pub fn reply(deps: DepsMut, _: Env, reply: Reply) -> StdResult<Response> {
    if reply.id == SCHEDULED {
        let timer = Some(timer_id(&reply)?);
        STATE.update(deps.storage, |state| Ok::<_, StdError>(State { timer, ..state }))?;
    }
    Ok(Response::new())
}

/// The chain wakes the contract. Only timers that the contract itself or its admin scheduled get here.
#[entry_point]
pub fn sudo(deps: DepsMut, _: Env, SudoMsg::HandleTimer(fired): SudoMsg) -> StdResult<Response> {
    let mut state = STATE.load(deps.storage)?;
    state.woke += 1;
    state.latest = state.latest.max(fired.late());
    STATE.save(deps.storage, &state)?;
    Ok(Response::new().add_attribute("note", fired.payload::<String>()?))
}

/// See [`QueryMsg`].
#[entry_point]
pub fn query(deps: Deps, _: Env, QueryMsg::State {}: QueryMsg) -> StdResult<Binary> {
    to_json_binary(&STATE.load(deps.storage)?)
}
