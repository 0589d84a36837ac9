//! The module's messages as they lie on the wire, one type for each of `proto/timers` that a contract can send or be
//! answered with. Tests hold names, numbers and types to those files.
//!
//! Most contracts need none of these to schedule: [`Timer`](crate::Timer) and its kin build them. Answers to queries are
//! of these types. Messages can't be written as literals, since later versions of the chain add fields:
//! [`Message::with`] makes one.
//!
//! Amounts, decimals and addresses are texts here, as they are on the wire.

mod any;
mod config;
mod core;
mod policies;
mod query;
mod timestamp;
mod tx;

pub use self::any::{Any, Json};
pub use self::config::*;
pub use self::core::*;
pub use self::policies::*;
pub use self::query::*;
pub use self::timestamp::Timestamp;
pub use self::tx::*;
pub use crate::describe::{FieldInfo, FieldType, Message};
pub use crate::wire::{DecodeError, Value};

use crate::describe::messages;
use cosmwasm_std::Binary;

messages! {
    /// Which part of a list is asked for.
    PageRequest = "cosmos.base.query.v1beta1.PageRequest" {
        /// The `next_key` of the page before; empty for the first page.
        1 key: Binary,
        /// How many entries are passed over; not together with a key.
        2 offset: u64,
        /// How many entries the page may have.
        3 limit: u64,
        /// Whether all entries are counted.
        4 count_total: bool,
        /// Whether the list is read from its end.
        5 reverse: bool,
    }
    /// Where a list goes on.
    PageResponse = "cosmos.base.query.v1beta1.PageResponse" {
        /// What the next page is asked with; empty if this was the last.
        1 next_key: Binary,
        /// How many entries there are, if they were counted.
        2 total: u64,
    }
}

impl PageRequest {
    /// The first page, of at most so many entries.
    pub fn first(limit: u64) -> Self {
        PageRequest { limit, ..PageRequest::default() }
    }

    /// The page after one that was answered with this key.
    pub fn after(key: Binary, limit: u64) -> Self {
        PageRequest { key, limit, ..PageRequest::default() }
    }
}
