//! A contract that other chains' schedulers know how to call: it has the entry points of a clock contract (Juno) and of a
//! callback contract (Archway), and schedules nothing itself.

mod cw;

use cw::{Json, Outcome, Response};

entry_points!();

fn super_instantiate(_env: &Json, _info: &Json, _msg: &Json) -> Outcome {
    Ok(Response::new())
}

/// {"cancel":{"id"}} cancels a timer of the contract: anyone may, the tests do.
fn super_execute(env: &Json, _info: &Json, msg: &Json) -> Outcome {
    match msg.call() {
        ("cancel", args) => {
            let me = env.get("contract").get("address").text();
            Ok(Response::new().message(&cw::cancel_any(me, args.get("id").text())))
        }
        _ => Err(format!("unknown call {}", msg.show())),
    }
}

/// A tick counts, a callback keeps its job and fails for job 0, and a delivery is kept whole.
fn super_sudo(_env: &Json, msg: &Json) -> Outcome {
    match msg.call() {
        ("clock_end_block", _) => cw::write_u64("ticks", cw::read_u64("ticks") + 1),
        ("callback", args) => match args.get("job_id").number() {
            Some(0) => return Err("job 0 fails, as asked".to_string()),
            Some(job) => cw::write_u64("job", job),
            None => return Err("job_id: want a number".to_string()),
        },
        ("handle_timer", delivery) => cw::write(b"last", delivery.show().as_bytes()),
        _ => return Err(format!("unknown call {}", msg.show())),
    }
    Ok(Response::new())
}

fn super_reply(_env: &Json, _msg: &Json) -> Outcome {
    Ok(Response::new())
}

fn super_migrate(_env: &Json, _msg: &Json) -> Outcome {
    Ok(Response::new())
}

/// {"heard":{}} is what it was told.
fn super_query(_env: &Json, msg: &Json) -> Result<String, String> {
    match msg.call() {
        ("heard", _) => {
            let last = match cw::read_text("last").as_str() {
                "" => "null".to_string(),
                told => told.to_string(),
            };
            Ok(format!(r#"{{"ticks":{},"job":{},"last":{}}}"#, cw::read_u64("ticks"), cw::read_u64("job"), last))
        }
        _ => Err(format!("unknown query {}", msg.show())),
    }
}
