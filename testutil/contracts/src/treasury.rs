//! A DAO's treasury with the messages of DAO DAO's core: it sends what one of its proposal modules, or its admin, hands
//! it. It knows nothing of timers, and has no sudo.

mod cw;

use cw::{Json, Outcome, Response};

calls!();

/// {"admin","proposal_module"}: an address each. The core makes its modules itself.
fn super_instantiate(_env: &Json, _info: &Json, msg: &Json) -> Outcome {
    for role in ["admin", "proposal_module"] {
        cw::write(role.as_bytes(), msg.get(role).text().as_bytes());
    }
    Ok(Response::new())
}

/// {"execute_proposal_hook":{"msgs"}} of the module; {"execute_admin_msgs":{"msgs"}} of the admin.
fn super_execute(_env: &Json, info: &Json, msg: &Json) -> Outcome {
    let (call, args) = msg.call();
    let role = match call {
        "execute_proposal_hook" => "proposal_module",
        "execute_admin_msgs" => "admin",
        _ => return Err(format!("unknown call {}", msg.show())),
    };
    if info.get("sender").text() != cw::read_text(role) {
        return Err("unauthorized".to_string());
    }
    Ok(Response::new().messages(args.get("msgs")))
}

fn super_query(_env: &Json, msg: &Json) -> Result<String, String> {
    Err(format!("unknown query {}", msg.show()))
}
