//! An auction that settles itself: the seller deposits what is sold, and at the end the chain calls the contract, which
//! pays the seller and hands the lot to the highest bidder. A bid in the last blocks extends the time, so that others can
//! answer.

use cosmwasm_schema::cw_serde;
use cosmwasm_std::{
    ensure, entry_point, to_json_binary, Addr, BankMsg, Binary, Coin, Deps, DepsMut, Env, MessageInfo, Reply, Response,
    StdError, StdResult, Uint128,
};
use cw_storage_plus::Item;
use cw_timers::{timer_id, Change, OnUnfunded, SudoMsg, Timer, TimerId, TimersQuerier};

const GAS_LIMIT: u64 = 250_000;
const CELL_LIMIT: u64 = 3_000;
const SCHEDULED: u64 = 1;
/// The reply to a change that may fail, since the timer may be gone.
const QUIET: u64 = 2;

const AUCTION: Item<Auction> = Item::new("auction");

/// The auction.
#[cw_serde]
pub struct Auction {
    /// Who sells.
    pub seller: Addr,
    /// What is sold.
    pub lot: Coin,
    /// The denom of bids.
    pub denom: String,
    /// The least first bid, and by how much a bid must exceed the one before.
    pub reserve: Uint128,
    /// See `reserve`.
    pub step: Uint128,
    /// The height at whose end it is settled.
    pub end: u64,
    /// A bid in so many last blocks extends the time to that.
    pub extension: u64,
    /// The highest bid.
    pub highest: Option<(Addr, Uint128)>,
    /// What settles it.
    pub timer: Option<TimerId>,
    /// Whether it is settled.
    pub settled: bool,
}

/// The coin that is sent is sold.
#[cw_serde]
pub struct InstantiateMsg {
    /// The denom of bids.
    pub denom: String,
    /// The least first bid.
    pub reserve: Uint128,
    /// By how much a bid must exceed the one before.
    pub step: Uint128,
    /// How many blocks it lasts.
    pub duration: u64,
    /// A bid in so many last blocks extends the time to that.
    pub extension: u64,
}

/// What anybody may do.
#[cw_serde]
pub enum ExecuteMsg {
    /// Bids the coin that is sent. Who is outbid is paid back at once.
    Bid {},
    /// Does what the timer did not do, if it is late or failed.
    Settle {},
    /// Goes on with a timer that is suspended, since the contract could not pay its fire: who has topped up the
    /// contract asks for it. It settles in the next block.
    Resume {},
}

/// What anybody may ask.
#[cw_serde]
pub enum QueryMsg {
    /// The auction.
    Auction {},
}

/// Opens the auction.
#[entry_point]
pub fn instantiate(deps: DepsMut, env: Env, info: MessageInfo, msg: InstantiateMsg) -> StdResult<Response> {
    let [lot] = info.funds.as_slice() else { return Err(StdError::generic_err("send the coin to sell")) };
    let fee_denom = TimersQuerier::new(&deps.querier).lane()?.fee_denom;
    let mixed = [&lot.denom, &msg.denom].contains(&&fee_denom);
    ensure!(!mixed, StdError::generic_err("fees would be taken from the lot or the bids"));
    ensure!(msg.duration > 0 && !msg.step.is_zero(), StdError::generic_err("want a duration and a step"));
    let auction = Auction {
        seller: info.sender,
        lot: lot.clone(),
        denom: msg.denom,
        reserve: msg.reserve,
        step: msg.step,
        end: env.block.height + msg.duration,
        extension: msg.extension,
        highest: None,
        timer: None,
        settled: false,
    };
    settle_later(deps, &env, auction, Response::new())
}

/// Schedules the end, in place of an earlier one, whose life an update of its height would leave as it is.
fn settle_later(deps: DepsMut, env: &Env, mut auction: Auction, mut response: Response) -> StdResult<Response> {
    let me = &env.contract.address;
    response = response.add_submessages(auction.timer.take().map(|id| Change::cancel(&id).into_optional(me, QUIET)));
    let timer = Timer::at(auction.end)
        .gas_limit(GAS_LIMIT)
        .cell_limit(CELL_LIMIT)
        .retry(5, 10)
        .on_unfunded(OnUnfunded::Suspend)
        .name("auction");
    AUCTION.save(deps.storage, &auction)?;
    Ok(response.add_submessage(timer.into_submsg(me, SCHEDULED)))
}

/// Names the timer.
#[entry_point]
pub fn reply(deps: DepsMut, _: Env, reply: Reply) -> StdResult<Response> {
    if reply.id == QUIET {
        return Ok(Response::new());
    }
    let id = timer_id(&reply)?;
    AUCTION.update(deps.storage, |auction| Ok::<_, StdError>(Auction { timer: Some(id), ..auction }))?;
    Ok(Response::new())
}

/// See [`ExecuteMsg`].
#[entry_point]
pub fn execute(deps: DepsMut, env: Env, info: MessageInfo, msg: ExecuteMsg) -> StdResult<Response> {
    let mut auction = AUCTION.load(deps.storage)?;
    if msg == (ExecuteMsg::Settle {}) {
        ensure!(env.block.height > auction.end, StdError::generic_err("the auction is not over"));
        let cancel = auction.timer.take().map(|id| Change::cancel(&id).into_optional(&env.contract.address, QUIET));
        return Ok(settle(deps, auction)?.add_submessages(cancel));
    }
    if msg == (ExecuteMsg::Resume {}) {
        ensure!(!auction.settled, StdError::generic_err("it is settled"));
        let id = auction.timer.ok_or_else(|| StdError::not_found("timer"))?;
        return Ok(Response::new().add_message(Change::resume(&id).into_msg(&env.contract.address)));
    }
    // The end is settled after the transactions of its block: these still count, and none after them, however late it fires.
    ensure!(!auction.settled && env.block.height <= auction.end, StdError::generic_err("the auction is over"));
    let bid = match info.funds.as_slice() {
        [coin] if coin.denom == auction.denom => coin.amount,
        _ => return Err(StdError::generic_err(format!("send {}", auction.denom))),
    };
    let least = auction.highest.as_ref().map_or(auction.reserve, |(_, highest)| *highest + auction.step);
    ensure!(bid >= least, StdError::generic_err(format!("bid at least {least}")));
    let mut response = Response::new();
    if let Some((outbid, amount)) = auction.highest.replace((info.sender, bid)) {
        response = response.add_message(send(outbid, Coin::new(amount, &auction.denom)));
    }
    if auction.end - env.block.height < auction.extension {
        auction.end = env.block.height + auction.extension;
        return settle_later(deps, &env, auction, response);
    }
    AUCTION.save(deps.storage, &auction)?;
    Ok(response)
}

/// The auction is over.
#[entry_point]
pub fn sudo(deps: DepsMut, _: Env, SudoMsg::HandleTimer(fired): SudoMsg) -> StdResult<Response> {
    let auction = AUCTION.load(deps.storage)?;
    ensure!(auction.timer.as_ref() == Some(&fired.timer_id), StdError::generic_err("not the end of this auction"));
    settle(deps, auction)
}

fn settle(deps: DepsMut, mut auction: Auction) -> StdResult<Response> {
    ensure!(!auction.settled, StdError::generic_err("it is settled"));
    auction.settled = true;
    AUCTION.save(deps.storage, &auction)?;
    let response = Response::new().add_attribute("settled", auction.lot.to_string());
    Ok(match auction.highest {
        None => response.add_message(send(auction.seller, auction.lot)),
        Some((winner, price)) => response
            .add_message(send(auction.seller, Coin::new(price, auction.denom)))
            .add_message(send(winner, auction.lot)),
    })
}

fn send(to: Addr, coin: Coin) -> BankMsg {
    BankMsg::Send { to_address: to.into(), amount: vec![coin] }
}

/// See [`QueryMsg`].
#[entry_point]
pub fn query(deps: Deps, _: Env, QueryMsg::Auction {}: QueryMsg) -> StdResult<Binary> {
    to_json_binary(&AUCTION.load(deps.storage)?)
}
