//! A contract that does, when its timer fires, what the timer's handler is called: everything that a fire must contain.

mod cw;

use cw::{execute_msg, Json, Outcome, Response, Schedule};

entry_points!();

fn super_instantiate(_env: &Json, _info: &Json, _msg: &Json) -> Outcome {
    Ok(Response::new())
}

/// {"schedule": {"height", "handler", "payload", "gas_limit"}}: anyone may, the tests do. {"bid": {"do", "answer"}} says what
/// it does when it is asked for a bid. Anything else is done at once.
fn super_execute(env: &Json, _info: &Json, msg: &Json) -> Outcome {
    match msg.call() {
        ("schedule", timer) => schedule(env, timer),
        ("bid", how) => {
            cw::write(b"bid_do", how.get("do").text().as_bytes());
            cw::write(b"bid_answer", how.get("answer").text().as_bytes());
            Ok(Response::new())
        }
        _ => act(env, msg),
    }
}

fn super_sudo(env: &Json, msg: &Json) -> Outcome {
    act(env, msg)
}

/// What came of a submessage is kept for the tests to look at.
fn super_reply(_env: &Json, msg: &Json) -> Outcome {
    let error = msg.get("result").get("error");
    let kept = if error.is_null() { "ok" } else { error.text() };
    cw::write(b"reply", kept.as_bytes());
    Ok(Response::new().attribute("reply", kept))
}

fn super_migrate(_env: &Json, _msg: &Json) -> Outcome {
    Ok(Response::new())
}

/// {"reply":{}} is what the last reply said, {"mark":{}} whether anything was written; {"loop":{}} and {"write":{}} misbehave.
fn super_query(_env: &Json, msg: &Json) -> Result<String, String> {
    match msg.call() {
        ("reply", _) => Ok(cw::quote(&cw::read_text("reply"))),
        ("mark", _) => Ok(cw::quote(&cw::read_text("mark"))),
        ("loop", _) => spin(),
        ("write", _) => {
            cw::write(b"mark", b"written by a query");
            Ok("\"\"".to_string())
        }
        ("get_gas_bid", _) => bid(),
        _ => Err(format!("unknown query {}", msg.show())),
    }
}

/// As a bidding agent it answers what it was told to, after it did what it was told to.
fn bid() -> Result<String, String> {
    match cw::read_text("bid_do").as_str() {
        "loop" => spin(),
        "hog" => hog(),
        "panic" => panic!("as asked"),
        "recurse" => drop(recurse(1)),
        "refuse" => return Err("no".to_string()),
        "write" => cw::write(b"mark", b"written by an agent"),
        _ => {}
    }
    Ok(cw::read_text("bid_answer"))
}

/// Takes memory without end: each block is touched.
fn hog() -> ! {
    let mut hoard: Vec<Vec<u8>> = Vec::new();
    loop {
        hoard.push(vec![hoard.len() as u8; 1 << 20]);
    }
}

fn act(env: &Json, msg: &Json) -> Outcome {
    // A failed fire must leave no trace of this.
    cw::write(b"mark", b"written");
    let (call, args) = msg.call();
    let me = env.get("contract").get("address").text();
    let number = |name: &str| args.get(name).number().unwrap_or(0);
    match call {
        "handle_timer" | "nothing" => Ok(Response::new()),
        "refuse" => Err("no".to_string()),
        "loop" => spin(),
        "panic" => panic!("as asked"),
        "recurse" => Ok(Response::new().attribute("depth", recurse(1))),
        "hog" => hog(),
        // Writes without end, of values of a size: small ones run out of cycles, large ones of cells.
        "flood" => {
            let value = vec![7u8; number("bytes") as usize];
            for i in 0u64.. {
                cw::write(format!("flood{i}").as_bytes(), &value);
            }
            Ok(Response::new())
        }
        // One write of a size.
        "write" => {
            cw::write(b"blob", &vec![7u8; number("bytes") as usize]);
            Ok(Response::new())
        }
        // Calls itself from the outside, again and again.
        "deep" => {
            let next = format!(r#"{{"deep":{{"left":{}}}}}"#, number("left").saturating_sub(1));
            Ok(match number("left") {
                0 => Response::new(),
                _ => Response::new().message(&execute_msg(me, &next)),
            })
        }
        // Runs something of itself as a submessage, with a gas limit if "gas" is stated, and takes whatever comes of it.
        "catch" => {
            let gas = args.get("gas").number();
            Ok(Response::new().submessage(2, &execute_msg(me, &args.get("msg").show()), "always", gas))
        }
        "many" => {
            let height = env.get("block").get("height").number().ok_or("no height")?;
            let mut response = Response::new();
            for i in 0..number("count") {
                let timer = Schedule { height: height + 1 + i % 7, handler: "", payload: b"", gas_limit: 100_000 };
                response = response.message(&timer.any(me));
            }
            Ok(response)
        }
        // Cancels a timer as a sender, which may be another.
        "cancel" => {
            let sender = args.get("sender").text();
            Ok(Response::new().message(&cw::cancel_any(sender, args.get("id").text())))
        }
        // Schedules as a sender, which may be another, or for the block that is running.
        "schedule" => schedule(env, args),
        // Spins within a query of itself.
        "ask" => {
            let query = cw::base64_encode(args.get("msg").show().as_bytes());
            let answer = cw::ask(&format!(r#"{{"wasm":{{"smart":{{"contract_addr":"{me}","msg":"{query}"}}}}}}"#));
            Ok(Response::new().attribute("answer", answer.map_or_else(|e| e, |a| a.show())))
        }
        _ => Err(format!("unknown call {}", msg.show())),
    }
}

fn schedule(env: &Json, args: &Json) -> Outcome {
    let sender = match args.get("sender").text() {
        "" => env.get("contract").get("address").text(),
        stated => stated,
    };
    let payload = match args.get("payload") {
        Json::Null => Vec::new(),
        payload => payload.show().into_bytes(),
    };
    let timer = Schedule {
        height: args.get("height").number().ok_or("height: want a number")?,
        handler: args.get("handler").text(),
        payload: &payload,
        gas_limit: args.get("gas_limit").number().unwrap_or(250_000),
    };
    Ok(Response::new().message(&timer.any(sender)))
}

/// The compiler must not see what it is, or it would optimize it away.
fn opaque(x: u64) -> u64 {
    unsafe { std::ptr::read_volatile(&x) }
}

fn spin() -> ! {
    let mut x = 1;
    loop {
        x = opaque(x).wrapping_add(1);
    }
}

#[allow(unconditional_recursion)]
fn recurse(depth: u64) -> u64 {
    opaque(recurse(opaque(depth) + 1)) + 1
}
