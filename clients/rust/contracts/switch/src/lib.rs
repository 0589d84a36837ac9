//! A dead man's switch: as long as its owner checks in, nothing happens. When the owner has not for so many blocks, the
//! chain calls the contract, which sends all that it has to the heir.

use cosmwasm_schema::cw_serde;
use cosmwasm_std::{
    coins, ensure, entry_point, to_json_binary, Addr, BankMsg, Binary, Coin, Deps, DepsMut, Env, MessageInfo, Reply,
    Response, StdError, StdResult, Uint128,
};
use cw_storage_plus::Item;
use cw_timers::{timer_id, Change, OnUnfunded, SudoMsg, Timer, TimerId};

const GAS_LIMIT: u64 = 250_000;
const CELL_LIMIT: u64 = 2_000;
const SCHEDULED: u64 = 1;
/// The reply to a change that may fail, since the timer may be gone.
const QUIET: u64 = 2;

const STATE: Item<State> = Item::new("state");

/// The switch.
#[cw_serde]
pub struct State {
    /// Who checks in.
    pub owner: Addr,
    /// Who is sent everything otherwise.
    pub heir: Addr,
    /// After how many blocks without the owner.
    pub timeout: u64,
    /// What the contract holds.
    pub denom: String,
    /// The height at whose end it fires.
    pub deadline: u64,
    /// What fires if the owner does not check in.
    pub timer: Option<TimerId>,
    /// The height at which it fired.
    pub fired: Option<u64>,
}

/// The sender is the owner, and the switch is armed.
#[cw_serde]
pub struct InstantiateMsg {
    /// Who is sent everything.
    pub heir: String,
    /// After how many blocks without the owner.
    pub timeout: u64,
    /// The denom that the contract holds. It may be the one that fees are paid in.
    pub denom: String,
}

/// What the owner may do; after the switch has fired, the heir. Anybody may resume.
#[cw_serde]
pub enum ExecuteMsg {
    /// The owner is alive: the time begins again.
    CheckIn {},
    /// Takes funds out. Before the switch has fired the owner may, and this counts as a check-in; after that the heir.
    Withdraw {
        /// How much.
        amount: Uint128,
    },
    /// Does what the timer did not do: of the heir, after the deadline.
    Claim {},
    /// Goes on with a timer that is suspended, since the contract could not pay its fire: anybody may ask for it who
    /// has topped up the contract. It fires in the next block, unless the owner checks in before.
    Resume {},
}

/// What anybody may ask.
#[cw_serde]
pub enum QueryMsg {
    /// The switch.
    State {},
}

/// Arms the switch.
#[entry_point]
pub fn instantiate(deps: DepsMut, env: Env, info: MessageInfo, msg: InstantiateMsg) -> StdResult<Response> {
    let heir = deps.api.addr_validate(&msg.heir)?;
    let InstantiateMsg { timeout, denom, .. } = msg;
    let state = State { owner: info.sender, heir, timeout, denom, deadline: 0, timer: None, fired: None };
    arm(deps, &env, state)
}

/// Replaces the timer by one that is due the whole time from now. An update of its trigger would leave its life as it
/// is.
fn arm(deps: DepsMut, env: &Env, mut state: State) -> StdResult<Response> {
    let me = &env.contract.address;
    state.deadline = env.block.height + state.timeout;
    let cancel = state.timer.take().map(|id| Change::cancel(&id).into_optional(me, QUIET));
    let timer = Timer::after(state.timeout)
        .gas_limit(GAS_LIMIT)
        .cell_limit(CELL_LIMIT)
        .retry(3, 10)
        .on_unfunded(OnUnfunded::Suspend)
        .name("dead man's switch");
    STATE.save(deps.storage, &state)?;
    Ok(Response::new().add_submessages(cancel).add_submessage(timer.into_submsg(me, SCHEDULED)))
}

/// Names the timer.
#[entry_point]
pub fn reply(deps: DepsMut, _: Env, reply: Reply) -> StdResult<Response> {
    if reply.id == QUIET {
        return Ok(Response::new());
    }
    let id = timer_id(&reply)?;
    STATE.update(deps.storage, |state| Ok::<_, StdError>(State { timer: Some(id), ..state }))?;
    Ok(Response::new())
}

/// See [`ExecuteMsg`].
#[entry_point]
pub fn execute(deps: DepsMut, env: Env, info: MessageInfo, msg: ExecuteMsg) -> StdResult<Response> {
    let state = STATE.load(deps.storage)?;
    if msg == (ExecuteMsg::Claim {}) {
        let due = state.fired.is_none() && env.block.height > state.deadline;
        ensure!(due && info.sender == state.heir, StdError::generic_err("the heir claims after the deadline"));
        return inherit(deps, &env, state);
    }
    if msg == (ExecuteMsg::Resume {}) {
        let id = state.timer.ok_or_else(|| StdError::generic_err("the switch has fired"))?;
        return Ok(Response::new().add_message(Change::resume(&id).into_msg(&env.contract.address)));
    }
    let (may, fired) = match state.fired {
        None => (&state.owner, false),
        Some(_) => (&state.heir, true),
    };
    ensure!(info.sender == *may, StdError::generic_err(format!("only {may} may")));
    let payment = |amount: Uint128| BankMsg::Send {
        to_address: info.sender.to_string(),
        amount: coins(amount.u128(), &state.denom),
    };
    match msg {
        ExecuteMsg::Withdraw { amount } if fired => Ok(Response::new().add_message(payment(amount))),
        ExecuteMsg::Withdraw { amount } => {
            let payment = payment(amount);
            Ok(arm(deps, &env, state)?.add_message(payment))
        }
        _ if fired => Err(StdError::generic_err("the switch has fired")),
        _ => arm(deps, &env, state),
    }
}

/// The owner has not checked in. What the fire itself costs is held back while this runs; what is left of that comes
/// after it, and the heir may withdraw it.
#[entry_point]
pub fn sudo(deps: DepsMut, env: Env, SudoMsg::HandleTimer(fired): SudoMsg) -> StdResult<Response> {
    let state = STATE.load(deps.storage)?;
    ensure!(state.timer.as_ref() == Some(&fired.timer_id), StdError::generic_err("an old timer"));
    inherit(deps, &env, state)
}

fn inherit(deps: DepsMut, env: &Env, mut state: State) -> StdResult<Response> {
    (state.fired, state.timer) = (Some(env.block.height), None);
    STATE.save(deps.storage, &state)?;
    let estate: Coin = deps.querier.query_balance(&env.contract.address, &state.denom)?;
    let mut response = Response::new().add_attribute("estate", estate.to_string());
    if !estate.amount.is_zero() {
        response = response.add_message(BankMsg::Send { to_address: state.heir.into(), amount: vec![estate] });
    }
    Ok(response)
}

/// See [`QueryMsg`].
#[entry_point]
pub fn query(deps: Deps, _: Env, QueryMsg::State {}: QueryMsg) -> StdResult<Binary> {
    to_json_binary(&STATE.load(deps.storage)?)
}
