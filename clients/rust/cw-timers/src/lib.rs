//! Timers for CosmWasm contracts on chains with the x/timers module: a contract schedules a call of itself, and the chain
//! makes the call at the end of the block in which it is due. The contract pays from its own balance. No transaction and
//! no keeper bot is needed.
//!
//! # Scheduling
//!
//! A [`Timer`] makes the message, and the reply names the timer:
//!
//! ```
//! use cosmwasm_std::{DepsMut, Env, MessageInfo, Reply, Response, StdResult};
//! use cw_timers::{SudoMsg, Timer};
//!
//! # #[allow(dead_code)]
//! pub fn execute(_deps: DepsMut, env: Env, _info: MessageInfo) -> StdResult<Response> {
//!     let timer = Timer::after(10).payload(&"wake up")?.gas_limit(200_000);
//!     Ok(Response::new().add_submessage(timer.into_submsg(&env.contract.address, 1)))
//! }
//!
//! # #[allow(dead_code)]
//! pub fn reply(_deps: DepsMut, _env: Env, reply: Reply) -> StdResult<Response> {
//!     Ok(Response::new().add_attribute("timer", cw_timers::timer_id(&reply)?.as_str()))
//! }
//!
//! # #[allow(dead_code)]
//! pub fn sudo(_deps: DepsMut, _env: Env, msg: SudoMsg) -> StdResult<Response> {
//!     match msg {
//!         SudoMsg::HandleTimer(fired) => Ok(Response::new().add_attribute("payload", fired.payload::<String>()?)),
//!     }
//! }
//! ```
//!
//! [`Update`] and [`Change`] change a timer. [`Trigger`] has the kinds of triggers, [`WatchKey`] what can be watched.
//!
//! # Two ways on the wire
//!
//! The type of the contract's responses decides how it speaks ([`Wire`]), and that of its queries how it asks
//! ([`QueryWire`]):
//!
//! | | protobuf, on every chain with the module | JSON, on chains with the binding |
//! |---|---|---|
//! | messages | `Response`, which is `Response<Empty>` | `Response<TimersMsg>` |
//! | queries | `Deps`, which is `Deps<Empty>` | `Deps<TimersQuery>` |
//! | the contract exports | `requires_cosmwasm_2_0` | `requires_timers` ([`requires_timers!`](crate::requires_timers)) |
//!
//! # Being called
//!
//! [`SudoMsg`] is what `sudo` is called with. Only a timer that the contract itself or its admin scheduled calls it. The
//! writes and messages of the call are kept if it succeeds, and dropped if it fails; the fee is charged either way. A
//! timer that fires once is gone when its call runs.
//!
//! # Features
//!
//! - `schedule`: the module `schedule`, which computes when calendars are due as the chain does. It is off by default.
//!
//! # Tests
//!
//! The crate `cw-timers-test` is a model of the module for cw-multi-test.

#![forbid(unsafe_code)]

mod bid;
mod date;
mod describe;
mod error;
mod id;
mod msg;
mod query;
mod reply;
mod sudo;
mod timer;
mod trigger;
mod wire;

pub mod agent;
pub mod proto;
#[cfg(feature = "schedule")]
pub mod schedule;

pub use bid::{Bid, Tier};
pub use error::{TimersError, CODESPACE};
pub use id::{TimerId, Which};
pub use msg::{TimersCall, TimersMsg, Wire};
pub use query::{default_max_charge, Estimate, QueryWire, Request, TimersQuerier, TimersQuery, TimersRequest};
pub use reply::{refusal, response, timer_id};
pub use sudo::{Delivery, HandleTimer, Matched, SudoMsg, Told, TriggerKind};
pub use timer::{Change, Missed, OnUnfunded, ResumeAt, Timer, Update};
pub use trigger::{Calendar, Condition, Cron, Interval, Trigger, Watch, WatchKey};

/// The default handler: what a timer calls that names none.
pub const DEFAULT_HANDLER: &str = "handle_timer";

/// Makes a contract export `requires_timers`, so that only a chain with the JSON binding stores it. For contracts that
/// use [`TimersMsg`] or [`TimersQuery`].
///
/// ```
/// cw_timers::requires_timers!();
/// ```
#[macro_export]
macro_rules! requires_timers {
    () => {
        #[doc(hidden)]
        #[no_mangle]
        extern "C" fn requires_timers() {}
    };
}
