//! A multisig with the messages of cw3_fixed_multisig: members propose messages and vote, and who likes executes what has
//! passed. It knows nothing of timers, and has no sudo.

mod cw;

use cw::{Json, Outcome, Response};

calls!();

/// {"voters":[{"addr","weight"}],"threshold":{"absolute_count":{"weight"}}}
fn super_instantiate(_env: &Json, _info: &Json, msg: &Json) -> Outcome {
    for voter in msg.get("voters").items() {
        let weight = voter.get("weight").number().ok_or("weight: want a number")?;
        cw::write_u64(&format!("weight/{}", voter.get("addr").text()), weight);
    }
    let (kind, count) = msg.get("threshold").call();
    if kind != "absolute_count" {
        return Err(format!("threshold: no such kind: {kind}"));
    }
    cw::write_u64("threshold", count.get("weight").number().ok_or("threshold: want a weight")?);
    Ok(Response::new())
}

/// {"propose":{"msgs"}}, which is a vote for it; {"vote":{"proposal_id","vote"}}; {"execute":{"proposal_id"}}.
fn super_execute(_env: &Json, info: &Json, msg: &Json) -> Outcome {
    let sender = info.get("sender").text();
    let (call, args) = msg.call();
    let id = args.get("proposal_id").number().unwrap_or(0);
    match call {
        "propose" => {
            let id = cw::read_u64("proposals") + 1;
            cw::write_u64("proposals", id);
            cw::write(format!("msgs/{id}").as_bytes(), args.get("msgs").show().as_bytes());
            vote(id, sender)?;
            Ok(Response::new().attribute("proposal_id", id))
        }
        "vote" if args.get("vote").text() == "yes" => vote(id, sender).map(|_| Response::new()),
        "execute" => carry_out(id),
        _ => Err(format!("unknown call {}", msg.show())),
    }
}

fn vote(id: u64, sender: &str) -> Result<(), String> {
    let weight = cw::read_u64(&format!("weight/{sender}"));
    if weight == 0 {
        return Err("unauthorized".to_string());
    }
    let ballot = format!("ballot/{id}/{sender}");
    if cw::read_u64(&ballot) != 0 {
        return Err("already voted".to_string());
    }
    cw::write_u64(&ballot, weight);
    let tally = format!("tally/{id}");
    cw::write_u64(&tally, cw::read_u64(&tally) + weight);
    Ok(())
}

fn carry_out(id: u64) -> Outcome {
    let executed = format!("executed/{id}");
    if cw::read_u64(&format!("tally/{id}")) < cw::read_u64("threshold") || cw::read_u64(&executed) != 0 {
        return Err("wrong status".to_string());
    }
    cw::write_u64(&executed, 1);
    Ok(Response::new().messages(&cw::parse(cw::read_text(&format!("msgs/{id}")).as_bytes())?))
}

fn super_query(_env: &Json, msg: &Json) -> Result<String, String> {
    Err(format!("unknown query {}", msg.show()))
}
