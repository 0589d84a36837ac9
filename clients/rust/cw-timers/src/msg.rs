use cosmwasm_std::{Addr, CosmosMsg, CustomMsg, Empty};
use schemars::gen::SchemaGenerator;
use schemars::schema::{InstanceType, Schema, SchemaObject};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::proto::{
    Message, MsgCancelTimer, MsgExtendTimer, MsgPauseTimer, MsgResumeTimer, MsgRunTimer, MsgScheduleTimer, MsgSetAgent,
    MsgSkipTimer, MsgUpdateTimer, TimerSpec,
};

/// The custom message of contracts on chains with the JSON binding: `{"timers": {"schedule": {…}}}`.
///
/// A contract that has no other custom messages returns `Response<TimersMsg>`. One that has puts a `TimersMsg` into an
/// untagged enum of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimersMsg {
    /// A message of the module.
    Timers(TimersCall),
}

impl CustomMsg for TimersMsg {}

impl JsonSchema for TimersMsg {
    fn schema_name() -> String {
        "TimersMsg".to_string()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        // The members are those of the protobuf messages, which the chain describes.
        Schema::Object(SchemaObject { instance_type: Some(InstanceType::Object.into()), ..Default::default() })
    }
}

/// A message that a contract may send to the module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TimersCall {
    /// Schedules a timer.
    Schedule(Box<MsgScheduleTimer>),
    /// Changes what a timer does or bids.
    Update(Box<MsgUpdateTimer>),
    /// Sets the last height at which a timer may fire.
    Extend(MsgExtendTimer),
    /// Removes a timer.
    Cancel(MsgCancelTimer),
    /// Puts a timer on hold.
    Pause(MsgPauseTimer),
    /// Returns a timer to the queue.
    Resume(MsgResumeTimer),
    /// Lets the next occurrences of a timer pass.
    Skip(MsgSkipTimer),
    /// Makes the next occurrence of a timer due in the next block.
    Run(MsgRunTimer),
    /// Registers a bidding agent, or clears it.
    SetAgent(MsgSetAgent),
}

impl TimersCall {
    /// The message as a protobuf `Any` from this sender.
    pub fn into_any<T>(self, sender: impl Into<String>) -> CosmosMsg<T> {
        fn with<M: Message, T>(mut msg: M, set: impl FnOnce(&mut M)) -> CosmosMsg<T> {
            set(&mut msg);
            CosmosMsg::Any(msg.to_any())
        }
        let sender = sender.into();
        match self {
            TimersCall::Schedule(msg) => with(*msg, |m| m.sender = sender),
            TimersCall::Update(msg) => with(*msg, |m| m.sender = sender),
            TimersCall::Extend(msg) => with(msg, |m| m.sender = sender),
            TimersCall::Cancel(msg) => with(msg, |m| m.sender = sender),
            TimersCall::Pause(msg) => with(msg, |m| m.sender = sender),
            TimersCall::Resume(msg) => with(msg, |m| m.sender = sender),
            TimersCall::Skip(msg) => with(msg, |m| m.sender = sender),
            TimersCall::Run(msg) => with(msg, |m| m.sender = sender),
            TimersCall::SetAgent(msg) => with(msg, |m| m.sender = sender),
        }
    }

    /// Whether the message can be written as JSON: not if it holds messages that are known in protobuf only.
    fn has_json(&self) -> bool {
        match self {
            TimersCall::Schedule(msg) => has_json(&msg.spec),
            TimersCall::Update(msg) => has_json(&msg.spec),
            _ => true,
        }
    }
}

fn has_json(spec: &Option<TimerSpec>) -> bool {
    let call = spec.as_ref().and_then(|spec| spec.call.as_ref());
    call.is_none_or(|call| call.messages.iter().all(|any| any.json.is_some()))
}

/// How a contract speaks to the module: the type of its custom messages decides.
///
/// A contract that returns `Response`, which is `Response<Empty>`, speaks protobuf, which every chain with the module
/// understands. One that returns `Response<TimersMsg>` speaks JSON. The code is the same.
pub trait Wire: Sized {
    /// Makes a message of the contract.
    fn wrap(call: TimersCall, contract: &Addr) -> CosmosMsg<Self>;
}

impl Wire for Empty {
    fn wrap(call: TimersCall, contract: &Addr) -> CosmosMsg<Self> {
        call.into_any(contract.as_str())
    }
}

/// JSON; or protobuf for a schedule of messages that have no JSON form, which the same chain takes as well.
impl Wire for TimersMsg {
    fn wrap(call: TimersCall, contract: &Addr) -> CosmosMsg<Self> {
        if !call.has_json() {
            return call.into_any(contract.as_str());
        }
        CosmosMsg::Custom(TimersMsg::Timers(call))
    }
}
