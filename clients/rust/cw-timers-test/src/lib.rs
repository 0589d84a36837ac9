//! A model of the x/timers module for cw-multi-test: it keeps timers, advances blocks, fires, charges and refunds, and
//! answers the queries that the chain opens to contracts.
//!
//! ```
//! use cosmwasm_std::{coins, Addr, Binary, Deps, DepsMut, Empty, Env, MessageInfo, Response, StdResult};
//! use cw_multi_test::{BankSudo, ContractWrapper, Executor, SudoMsg as AppSudo};
//! use cw_timers::{SudoMsg, Timer};
//! use cw_timers_test::Timers;
//!
//! fn instantiate(_: DepsMut, env: Env, _: MessageInfo, _: Empty) -> StdResult<Response> {
//!     Ok(Response::new().add_message(Timer::every(10).gas_limit(200_000).into_msg(&env.contract.address)))
//! }
//! fn execute(_: DepsMut, _: Env, _: MessageInfo, _: Empty) -> StdResult<Response> {
//!     Ok(Response::new())
//! }
//! fn query(_: Deps, _: Env, _: Empty) -> StdResult<Binary> {
//!     Ok(Binary::default())
//! }
//! fn sudo(_: DepsMut, _: Env, SudoMsg::HandleTimer(fired): SudoMsg) -> StdResult<Response> {
//!     Ok(Response::new().add_attribute("beat", fired.fire_seq.to_string()))
//! }
//!
//! let timers = Timers::default();
//! let mut app = timers.app();
//! let code = app.store_code(Box::new(ContractWrapper::new(execute, instantiate, query).with_sudo(sudo)));
//! let owner = app.api().addr_make("owner");
//! let beats = app.instantiate_contract(code, owner, &Empty {}, &[], "beats", None).unwrap();
//! let mint = BankSudo::Mint { to_address: beats.to_string(), amount: coins(10_000, "utmr") };
//! app.sudo(AppSudo::Bank(mint)).unwrap();
//!
//! let blocks = timers.run_to(&mut app, 11);
//! let fire = blocks[10].only_fire().unwrap();
//! assert_eq!((fire.delivery.height, fire.late, fire.next_due), (11, 0, Some(21)));
//! // 20,000 cycles of the fire and 100,000 of its handler, and 500 cells: 120 and 15.
//! assert_eq!(fire.paid.u128(), 135);
//! ```
//!
//! # Blocks
//!
//! A test's transactions run in the app's block. [`Timers::next_block`] ends it, fires what is due at its height, and begins
//! the next. It returns what happened: each [`Fire`] with its charge and its outcome, and what expired or lacked funds. A
//! timer never fires in the block that schedules it.
//!
//! # What is as on the chain
//!
//! Under policy `fifo`: the checks of messages and their errors, in their order; due heights; the order (due, seq); the
//! lane's room in cycles and cells, what does not fit waits; caps of fires; times, calendars, intervals from their
//! fires and from their schedule, which occurrences fire and which pass, what a lapse costs, `after`, retries with
//! backoff and by error, `on_failure`, `on_unfunded`, `max_charge`, `renew`, expiry; `only_if`; pause, resume now or
//! with the next, skip, run, updates of all that can be updated, extend, cancel; admins' timers; watches of contracts'
//! storage and of balances, with conditions, which are looked at when they begin to count, and level; pre-charge, charge
//! and refund; a handler's failure undoes all that it did; config changes; receipts and queries. Scenario files that the
//! chain runs too hold the model to it.
//!
//! # What is not
//!
//! These **panic** with a message that begins with `cw-timers-test`:
//!
//! - jitter, which is drawn from the chain's own ids;
//! - messages of a timer other than bank sends, calls of contracts and the module's own;
//! - watches of the bank's supplies, of the info of contracts, and of the staking store, and conditions on them;
//! - the authority's messages: [`Timers::sys_cancel`], [`Timers::sys_extend`] and [`Timers::change_config`] do the same.
//!
//! These differ:
//!
//! - **Usage.** cw-multi-test measures neither cycles nor cells. [`Timers::set_usage`] says what handlers use; the charge
//!   follows from it. [`Timers::set_reading`] says what reading a condition takes. Gas of transactions, of queries and
//!   of scheduling is not counted.
//! - **Policies.** There is no market: bids are checked, kept and not used, agents are kept and not asked.
//! - **Bounds of work.** Everything that is due is looked at in its block: there is no meter, no candidate window, no bound
//!   of clean-up or of what becomes due by time in one block, and no burst delays others, as far as the lane has room.
//! - **Coins.** Whether a timer's own messages failed for want of coins is judged by all that they state, not up to the
//!   one that failed.
//! - **Allowances** have no limit: [`Timers::grant`].
//! - **Ids** of timers and deliveries are SHA-256 hashes of what the chain hashes with Keccak, without the app hash.
//! - **Watches** compare what is stored: a write of the same value is no change. A watch that a handler schedules does not
//!   see what earlier handlers of its block changed. Matched keys are in their own order.
//! - **Entry points.** Whether a contract has `sudo` shows when its timer fires. An error of a contract is `wasm` 5, a panic
//!   `wasm` 29; errors of other modules are `wasm` 5 too.
//! - **Messages** count the cycles of their encoded length; the chain counts empty parts as 16 bytes more.
//! - The module emits no events.

#![forbid(unsafe_code)]

mod config;
mod host;
mod keeper;
mod lane;
mod module;
mod query;
mod recur;
mod settle;
mod store;
mod watch;

pub use config::Config;
pub use host::Host;
pub use lane::{refusal_of, Block, Fire, Firing, Usage};
pub use module::{JsonApp, Timers, TimersApp};
pub use store::{Reason, Skipped};
