//! A contract that remembers what its timers called it with.

mod cw;

use cw::{Json, Outcome, Response, Schedule};

entry_points!();

fn super_instantiate(_env: &Json, _info: &Json, _msg: &Json) -> Outcome {
    Ok(Response::new())
}

/// {"height", "handler", "payload", "gas_limit"}: schedules a call of itself. Anyone may, the tests do.
fn super_execute(env: &Json, _info: &Json, msg: &Json) -> Outcome {
    let payload = msg.get("payload").show().into_bytes();
    let timer = Schedule {
        height: msg.get("height").number().ok_or("height: want a number")?,
        handler: msg.get("handler").text(),
        payload: &payload,
        gas_limit: msg.get("gas_limit").number().unwrap_or(250_000),
    };
    Ok(Response::new().message(&timer.any(env.get("contract").get("address").text())))
}

/// Every handler is served: what was called is kept, and said in an event.
fn super_sudo(_env: &Json, msg: &Json) -> Outcome {
    cw::write(b"told", msg.show().as_bytes());
    Ok(Response::new().attribute("called", msg.call().0))
}

fn super_reply(_env: &Json, _msg: &Json) -> Outcome {
    Ok(Response::new())
}

fn super_migrate(_env: &Json, _msg: &Json) -> Outcome {
    Ok(Response::new())
}

/// Any query is answered with what the last call was.
fn super_query(_env: &Json, _msg: &Json) -> Result<String, String> {
    Ok(cw::read_text("told"))
}
