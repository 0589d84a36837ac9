use cosmwasm_std::{Reply, StdError, StdResult, SubMsgResult};

use crate::error::TimersError;
use crate::id::TimerId;
use crate::proto::{Message, MsgScheduleTimerResponse};

/// The response to a message of the module, in the reply to the submessage that sent it.
///
/// ```
/// # use cosmwasm_std::{Reply, StdResult};
/// use cw_timers::proto::MsgExtendTimerResponse;
/// # #[allow(dead_code)]
/// fn extended_to(reply: &Reply) -> StdResult<u64> {
///     Ok(cw_timers::response::<MsgExtendTimerResponse>(reply)?.expires_at)
/// }
/// ```
pub fn response<M: Message>(reply: &Reply) -> StdResult<M> {
    match &reply.result {
        SubMsgResult::Ok(ok) => {
            let first = ok.msg_responses.first().ok_or_else(|| StdError::generic_err("the reply has no response"))?;
            Ok(M::decode(&first.value)?)
        }
        SubMsgResult::Err(err) => Err(StdError::generic_err(err)),
    }
}

/// The id of the timer that a submessage has scheduled.
pub fn timer_id(reply: &Reply) -> StdResult<TimerId> {
    TimerId::new(response::<MsgScheduleTimerResponse>(reply)?.id)
}

/// The module's error with which a submessage failed; `None` if it succeeded, or failed with an error of another module.
pub fn refusal(reply: &Reply) -> Option<TimersError> {
    match &reply.result {
        SubMsgResult::Ok(_) => None,
        SubMsgResult::Err(err) => TimersError::parse(err),
    }
}
