//! A contract that wakes itself: each beat counts and schedules the next. It can be its own bidding agent, and
//! then bids more the later it is.

mod cw;

use cw::{ask, custom, only_string, parse, quote, Json, Outcome, Response, Schedule};

entry_points!();

/// {"every": blocks between beats, "gas_limit": of one beat, "custom": JSON binding rather than protobuf, "start": now}
fn super_instantiate(env: &Json, info: &Json, msg: &Json) -> Outcome {
    let every = msg.get("every").number().unwrap_or(10);
    if every == 0 {
        return Err("every is 0, want at least 1 block".to_string());
    }
    let gas_limit = msg.get("gas_limit").number().unwrap_or(200_000);
    cw::write_u64("every", every);
    cw::write_u64("gas_limit", gas_limit);
    cw::write_u64("custom", msg.get("custom").is_true() as u64);
    cw::write(b"owner", info.get("sender").text().as_bytes());
    if msg.get("start").is_true() {
        return schedule_next(env);
    }
    Ok(Response::new())
}

/// {"start":{}}, {"stop":{}}, {"extend":{"expires_at"}}, {"update":{"gas_limit"}}, and {"be_agent":{}}, by which it becomes its
/// own bidding agent: of the owner alone.
fn super_execute(env: &Json, info: &Json, msg: &Json) -> Outcome {
    if info.get("sender").text() != cw::read_text("owner") {
        return Err("only the owner may do this".to_string());
    }
    let me = address(env);
    let id = cw::read_text("timer");
    let by_json = cw::read_u64("custom") == 1;
    let (call, args) = msg.call();
    let number = |name: &str| args.get(name).number().ok_or_else(|| format!("{name}: want a number"));
    match (call, by_json) {
        ("start", _) => schedule_next(env),
        ("stop", false) => Ok(Response::new().message(&cw::cancel_any(me, &id))),
        ("stop", true) => Ok(Response::new().message(&custom(&format!(r#"{{"cancel":{{"id":"{id}"}}}}"#)))),
        ("extend", false) => Ok(Response::new().message(&cw::extend_any(me, &id, number("expires_at")?))),
        ("extend", true) => Ok(Response::new()
            .message(&custom(&format!(r#"{{"extend":{{"id":"{id}","expires_at":{}}}}}"#, number("expires_at")?)))),
        ("be_agent", false) => Ok(Response::new().message(&cw::set_agent_any(me, me))),
        ("be_agent", true) => Ok(Response::new().message(&custom(&format!(r#"{{"set_agent":{{"agent":"{me}"}}}}"#)))),
        ("update", false) => Ok(Response::new().message(&cw::update_any(me, &id, number("gas_limit")?))),
        ("update", true) => Ok(Response::new()
            .message(&custom(&format!(r#"{{"update":{{"id":"{id}","gas_limit":{}}}}}"#, number("gas_limit")?)))),
        _ => Err(format!("unknown call {}", msg.show())),
    }
}

/// One beat: the chain calls it when the timer fires.
fn super_sudo(env: &Json, msg: &Json) -> Outcome {
    let (call, delivery) = msg.call();
    if call != "handle_timer" {
        return Err(format!("unknown call {}", msg.show()));
    }
    let count = cw::read_u64("count") + 1;
    cw::write_u64("count", count);
    cw::write(b"last", delivery.show().as_bytes());
    Ok(schedule_next(env)?.attribute("beat", count))
}

/// The chain's answer to the scheduling names the timer.
fn super_reply(_env: &Json, msg: &Json) -> Outcome {
    let response = msg.get("result").get("ok").get("msg_responses").first().get("value").text();
    let id = only_string(&cw::base64_decode(response)?).ok_or("the response names no timer")?;
    cw::write(b"timer", id.as_bytes());
    Ok(Response::new().attribute("next_timer", id))
}

fn super_migrate(_env: &Json, msg: &Json) -> Outcome {
    if let Some(every) = msg.get("every").number() {
        cw::write_u64("every", every);
    }
    Ok(Response::new())
}

/// {"beats":{}}, {"timer":{}} and {"get_gas_bid":{…}}.
fn super_query(env: &Json, msg: &Json) -> Result<String, String> {
    match msg.call() {
        ("beats", _) => {
            let last = cw::read(b"last").map_or(Ok(Json::Null), |l| parse(&l))?;
            let (count, timer) = (cw::read_u64("count"), quote(&cw::read_text("timer")));
            Ok(format!(r#"{{"count":{count},"timer_id":{timer},"last":{}}}"#, last.show()))
        }
        ("timer", _) => {
            let (me, id) = (address(env), cw::read_text("timer"));
            Ok(ask(&custom(&format!(r#"{{"timer":{{"actor":"{me}","id":"{id}"}}}}"#)))?.show())
        }
        ("get_gas_bid", context) => bid(context),
        _ => Err(format!("unknown query {}", msg.show())),
    }
}

fn address(env: &Json) -> &str {
    env.get("contract").get("address").text()
}

fn schedule_next(env: &Json) -> Outcome {
    let now = env.get("block").get("height").number().ok_or("no height")?;
    let every = cw::read_u64("every");
    let next = Schedule {
        height: now.checked_add(every).ok_or("every is too large")?,
        handler: "",
        payload: b"beat",
        gas_limit: cw::read_u64("gas_limit"),
    };
    let msg = if cw::read_u64("custom") == 1 { next.custom() } else { next.any(address(env)) };
    Ok(Response::new().submessage(1, &msg, "success", None))
}

/// Tips the median of the last block, and a tenth of the cycles' basefee more for each block that the beat is late.
fn bid(context: &Json) -> Result<String, String> {
    let price = |name: &str| decimal(context.get(name).text()).ok_or_else(|| format!("{name}: want a decimal"));
    let height = |name: &str| context.get(name).number().ok_or_else(|| format!("{name}: want a height"));
    let (cycle, cell, lane) = (price("basefee_cycle")?, price("basefee_cell")?, price("basefee_lane_timer")?);
    let late = height("current_block_height")?.saturating_sub(height("trigger_block_height")?);
    let tip = (cycle / 10)
        .checked_mul(u128::from(late))
        .and_then(|more| more.checked_add(price("previous_block_p50_priority_tip_per_cycle").ok()?))
        .ok_or("the tip overflows")?;
    let fee = lane.checked_mul(2).and_then(|fee| fee.checked_add(tip)).ok_or("the fee overflows")?;
    let cell = cell.checked_mul(2).ok_or("the cell's price overflows")?;
    Ok(format!(
        r#"{{"max_fee_per_cycle":"{}","max_priority_fee_per_cycle":"{}","max_fee_per_cell":"{}"}}"#,
        show_decimal(fee),
        show_decimal(tip),
        show_decimal(cell),
    ))
}

const ONE: u128 = 1_000_000_000_000_000_000;

/// Reads a decimal with at most 18 digits behind the point, in units of the last of them.
fn decimal(text: &str) -> Option<u128> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let only_digits = |t: &str| !t.is_empty() && t.bytes().all(|c| c.is_ascii_digit());
    if !only_digits(whole) || !only_digits(part) || part.len() > 18 {
        return None;
    }
    let part: u128 = format!("{part:0<18}").parse().ok()?;
    whole.parse::<u128>().ok()?.checked_mul(ONE)?.checked_add(part)
}

fn show_decimal(value: u128) -> String {
    format!("{}.{:018}", value / ONE, value % ONE)
}
