use core::fmt;

use cosmwasm_std::{from_json, Binary, StdResult};
use schemars::JsonSchema;
use serde::de::{self, DeserializeOwned};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::id::TimerId;

/// What the chain calls `sudo` with when a timer with the default handler fires.
///
/// ```
/// use cosmwasm_std::{DepsMut, Env, Response, StdResult};
/// use cw_timers::SudoMsg;
///
/// # #[allow(dead_code)]
/// pub fn sudo(_deps: DepsMut, _env: Env, msg: SudoMsg) -> StdResult<Response> {
///     match msg {
///         SudoMsg::HandleTimer(fired) => {
///             let work: String = fired.payload()?;
///             Ok(Response::new().add_attribute("work", work).add_attribute("late", fired.late().to_string()))
///         }
///     }
/// }
/// ```
///
/// A contract with handlers of its own names has an enum of its own, with a variant for each:
///
/// ```
/// use cw_timers::{HandleTimer, Told};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// #[serde(rename_all = "snake_case")]
/// enum SudoMsg {
///     HandleTimer(HandleTimer),
///     /// `Timer::handler("tick")`
///     Tick { n: u64 },
///     /// `Timer::handler_with_delivery("settle")`
///     Settle(Told<String>),
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SudoMsg {
    /// A timer has fired.
    HandleTimer(HandleTimer),
}

/// What the chain tells of a delivery. Later versions of the chain may tell more; what is not known here is passed over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Delivery {
    /// The timer.
    pub timer_id: TimerId,
    /// This delivery, in 64 hexadecimal digits. It never comes twice.
    pub deliver_id: String,
    /// The number of earlier deliveries of the timer.
    pub fire_seq: u32,
    /// The height of the block that is ending.
    pub height: u64,
    /// The height at which the timer became due; for a watch, that of the change.
    pub due: u64,
    /// What made it due.
    pub trigger: TriggerKind,
    /// For a watch: the keys that changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matched: Vec<Matched>,
    /// The contract's admin, if it scheduled the timer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
    /// The occurrence of a calendar, in seconds since 1970, or of an interval from its schedule, as a height. None comes
    /// twice, but for retries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occurrence: Option<u64>,
    /// The number of that occurrence among those that were delivered, from 1 on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u64>,
}

/// A delivery to the default handler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct HandleTimer {
    /// The timer.
    pub timer_id: TimerId,
    /// This delivery, in 64 hexadecimal digits. It never comes twice.
    pub deliver_id: String,
    /// The number of earlier deliveries of the timer.
    pub fire_seq: u32,
    /// The height of the block that is ending.
    pub height: u64,
    /// The height at which the timer became due; for a watch, that of the change.
    pub due: u64,
    /// What made it due.
    pub trigger: TriggerKind,
    /// For a watch: the keys that changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matched: Vec<Matched>,
    /// The contract's admin, if it scheduled the timer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
    /// The occurrence of a calendar, in seconds since 1970, or of an interval from its schedule, as a height. None comes
    /// twice, but for retries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occurrence: Option<u64>,
    /// The number of that occurrence among those that were delivered, from 1 on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u64>,
    /// What the timer was scheduled with.
    #[serde(default)]
    pub payload: Binary,
}

impl HandleTimer {
    /// A delivery with a payload.
    pub fn new(delivery: Delivery, payload: Binary) -> Self {
        let Delivery { timer_id, deliver_id, fire_seq, height, due, trigger, matched, scheduler, occurrence, index } =
            delivery;
        HandleTimer {
            timer_id,
            deliver_id,
            fire_seq,
            height,
            due,
            trigger,
            matched,
            scheduler,
            occurrence,
            index,
            payload,
        }
    }

    /// The payload, which the timer was scheduled with as JSON.
    pub fn payload<T: DeserializeOwned>(&self) -> StdResult<T> {
        from_json(&self.payload)
    }

    /// How many blocks the delivery is late.
    pub fn late(&self) -> u64 {
        self.height.saturating_sub(self.due)
    }
}

impl Delivery {
    /// A delivery of a timer that is due at the height at which it fires.
    pub fn new(timer_id: TimerId, deliver_id: String, height: u64, trigger: TriggerKind) -> Self {
        Delivery {
            timer_id,
            deliver_id,
            fire_seq: 0,
            height,
            due: height,
            trigger,
            matched: Vec::new(),
            scheduler: None,
            occurrence: None,
            index: None,
        }
    }

    /// How many blocks the delivery is late.
    pub fn late(&self) -> u64 {
        self.height.saturating_sub(self.due)
    }
}

/// A delivery to a named handler that asked to be told of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Told<P> {
    /// What the chain tells of the delivery.
    pub delivery: Delivery,
    /// What the timer was scheduled with.
    pub payload: P,
}

/// A watched key that changed: whole, where a prefix was watched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Matched {
    /// The store.
    pub store: String,
    /// The key.
    pub key: Binary,
}

/// What made a timer due.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String")]
#[non_exhaustive]
pub enum TriggerKind {
    /// A height.
    Height,
    /// A number of blocks.
    After,
    /// A repetition.
    Interval,
    /// A change of watched state.
    Watch,
    /// A time.
    Time,
    /// An occurrence of a calendar.
    Calendar,
    /// A kind of a later version of the chain.
    Other(String),
}

impl TriggerKind {
    /// The chain's name of the kind.
    pub fn as_str(&self) -> &str {
        match self {
            TriggerKind::Height => "height",
            TriggerKind::After => "after",
            TriggerKind::Interval => "interval",
            TriggerKind::Watch => "watch",
            TriggerKind::Time => "time",
            TriggerKind::Calendar => "calendar",
            TriggerKind::Other(name) => name,
        }
    }
}

impl From<&str> for TriggerKind {
    fn from(name: &str) -> Self {
        match name {
            "height" => TriggerKind::Height,
            "after" => TriggerKind::After,
            "interval" => TriggerKind::Interval,
            "watch" => TriggerKind::Watch,
            "time" => TriggerKind::Time,
            "calendar" => TriggerKind::Calendar,
            other => TriggerKind::Other(other.to_string()),
        }
    }
}

impl Serialize for TriggerKind {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for TriggerKind {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = TriggerKind;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a kind of trigger")
            }
            fn visit_str<E: de::Error>(self, name: &str) -> Result<TriggerKind, E> {
                Ok(TriggerKind::from(name))
            }
        }
        d.deserialize_str(Visitor)
    }
}
