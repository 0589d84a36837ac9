use core::fmt;

use cosmwasm_std::{StdError, StdResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The id of a timer: 64 hexadecimal digits in lower case. The chain answers a schedule with it, and every change names it.
///
/// ```
/// # use cw_timers::TimerId;
/// let id = TimerId::new("c6".repeat(32)).unwrap();
/// assert_eq!(id.as_str().len(), 64);
/// assert!(TimerId::new("c603").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct TimerId(String);

impl TimerId {
    /// Checks a text.
    pub fn new(text: impl Into<String>) -> StdResult<Self> {
        let text = text.into();
        let digit = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
        if text.len() != 64 || !text.bytes().all(digit) {
            return Err(StdError::generic_err("a timer's id has 64 hexadecimal digits in lower case"));
        }
        Ok(TimerId(text))
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The digits.
    pub fn into_string(self) -> String {
        self.0
    }
}

/// Which timer a change is of: by its id, or by the name that the sender has given it.
///
/// ```
/// # use cw_timers::{Change, TimerId};
/// let id = TimerId::new("c6".repeat(32)).unwrap();
/// assert_ne!(Change::cancel(&id), Change::cancel("rent"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Which {
    pub(crate) id: String,
    pub(crate) name: String,
}

impl From<&TimerId> for Which {
    fn from(id: &TimerId) -> Self {
        Which { id: id.0.clone(), name: String::new() }
    }
}

impl From<&str> for Which {
    fn from(name: &str) -> Self {
        Which { id: String::new(), name: name.to_string() }
    }
}

impl TryFrom<String> for TimerId {
    type Error = StdError;
    fn try_from(text: String) -> Result<Self, StdError> {
        TimerId::new(text)
    }
}

impl TryFrom<&str> for TimerId {
    type Error = StdError;
    fn try_from(text: &str) -> Result<Self, StdError> {
        TimerId::new(text)
    }
}

impl From<TimerId> for String {
    fn from(id: TimerId) -> Self {
        id.0
    }
}

impl AsRef<str> for TimerId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TimerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
