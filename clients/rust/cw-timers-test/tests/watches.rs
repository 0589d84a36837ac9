//! Watches beyond the scenarios: what is looked at and when, what is noticed meanwhile, and what an owner makes of it.

use cosmwasm_std::{
    coins, Addr, Api, Binary, CosmosMsg, Deps, DepsMut, Empty, Env, MessageInfo, Response, StdError, StdResult,
};
use cw_multi_test::{BankSudo, ContractWrapper, Executor, SudoMsg as AppSudo};
use cw_timers::proto::{HoldReason, TimerPhase, TimerStatus};
use cw_timers::{Change, ResumeAt, SudoMsg, Timer, TimerId, TimersQuerier, Update, Watch, WatchKey};
use cw_timers_test::{refusal_of, Block, Reason, Timers, TimersApp, Usage};

/// A chain with one contract, which owns the timers and stores what they watch.
struct Chain {
    timers: Timers,
    app: TimersApp,
    contract: Addr,
}

fn instantiate(_: DepsMut, _: Env, _: MessageInfo, _: Empty) -> StdResult<Response> {
    Ok(Response::new())
}

/// Stores the value of a key.
fn execute(deps: DepsMut, _: Env, _: MessageInfo, (key, value): (String, String)) -> StdResult<Response> {
    deps.storage.set(key.as_bytes(), value.as_bytes());
    Ok(Response::new())
}

fn query(_: Deps, _: Env, _: Empty) -> StdResult<Binary> {
    Ok(Binary::default())
}

/// Fails if the payload says so.
fn sudo(_: DepsMut, _: Env, SudoMsg::HandleTimer(fired): SudoMsg) -> StdResult<Response> {
    match fired.payload.is_empty() {
        true => Ok(Response::new()),
        false => Err(StdError::generic_err("told to fail")),
    }
}

impl Chain {
    fn new() -> Self {
        let timers = Timers::default();
        timers.set_usage(|_| Usage { cycles: 1_000, cells: 0 });
        let mut app = timers.app();
        let code = app.store_code(Box::new(ContractWrapper::new(execute, instantiate, query).with_sudo(sudo)));
        let owner = app.api().addr_make("owner");
        let contract = app.instantiate_contract(code, owner, &Empty {}, &[], "c", None).unwrap();
        let mint = BankSudo::Mint { to_address: contract.to_string(), amount: coins(1_000_000, "utmr") };
        app.sudo(AppSudo::Bank(mint)).unwrap();
        Chain { timers, app, contract }
    }

    fn key(&self, name: &str) -> WatchKey {
        let canonical = self.app.api().addr_canonicalize(self.contract.as_str()).unwrap();
        WatchKey::contract_key(&canonical, name.as_bytes())
    }

    fn write(&mut self, key: &str, value: &str) {
        let by = self.contract.clone();
        self.app.execute_contract(by.clone(), by, &(key, value), &[]).unwrap();
    }

    fn send(&mut self, msg: CosmosMsg) -> Result<(), u32> {
        let sent = self.app.execute(self.contract.clone(), msg);
        sent.map(drop).map_err(|err| refusal_of(&err).unwrap_or_else(|| panic!("{err:#}")).code())
    }

    fn schedule(&mut self, timer: Timer) -> TimerId {
        self.send(timer.gas_limit(200_000).into_msg(&self.contract)).unwrap();
        let newest = self.timers.all(&self.app).into_iter().max_by_key(|t| t.status.clone().unwrap().seq);
        TimerId::new(newest.unwrap().id).unwrap()
    }

    fn status(&self, id: &TimerId) -> TimerStatus {
        TimersQuerier::new(&self.app.wrap()).timer(&self.contract, id).unwrap().status.unwrap()
    }

    fn next(&mut self) -> Block {
        self.timers.next_block(&mut self.app)
    }

    /// Ends the block, in which one timer fires; its matched keys, without the contract's address before each.
    fn fires(&mut self) -> Vec<String> {
        let block = self.next();
        let delivery = &block.only_fire().delivery;
        assert_eq!(delivery.late(), 0);
        delivery.matched.iter().map(|m| String::from_utf8(m.key[33..].to_vec()).unwrap()).collect()
    }

    #[track_caller]
    fn rests(&mut self, blocks: u64) {
        for block in self.timers.blocks(&mut self.app, blocks) {
            assert!(block.fires.is_empty(), "fires at height {}: {:?}", block.height, block.fires);
        }
    }
}

/// Whatever makes a condition begin to count lets it be looked at in the next block, and in that one alone.
#[test]
fn what_holds_is_due_in_the_next_block() {
    let mut c = Chain::new();
    c.write("price", "5");
    let above = |bound: u32, c: &Chain| Watch::key(c.key("price").greater(bound));
    let watch = above(4, &c);
    let id = c.schedule(Timer::on(watch).remaining(0));
    c.rests(1);
    assert_eq!(c.fires(), ["price"]);
    c.rests(2);
    assert_eq!(c.status(&id).phase, TimerPhase::Watching);
    // Of a pause.
    c.send(Change::pause(&id).into_msg(&c.contract)).unwrap();
    c.rests(1);
    c.send(Change::resume(&id).into_msg(&c.contract)).unwrap();
    c.rests(1);
    assert_eq!(c.fires(), ["price"]);
    // Of another condition: one that does not hold waits for a change.
    let watch = above(5, &c);
    c.send(Update::of(&id).trigger(watch).into_msg(&c.contract)).unwrap();
    c.rests(3);
    c.write("price", "6");
    assert_eq!(c.fires(), ["price"]);
    let watch = above(3, &c);
    c.send(Update::of(&id).trigger(watch).into_msg(&c.contract)).unwrap();
    c.rests(1);
    assert_eq!(c.fires(), ["price"]);
    // What came and went between two collections does not show, and what holds before the look is not due.
    c.write("price", "1");
    let watch = above(3, &c);
    let other = c.schedule(Timer::on(watch));
    c.write("price", "9");
    c.rests(1);
    c.write("price", "1");
    c.rests(1);
    assert_eq!(c.status(&other).phase, TimerPhase::Watching);
}

/// One key has one condition: two on the same key are two timers.
#[test]
fn a_key_is_stated_once() {
    let mut c = Chain::new();
    let twice = Watch::keys([c.key("k").greater(4), c.key("k").less(2)]);
    assert_eq!(c.send(Timer::on(twice).into_msg(&c.contract)), Err(61));
    let two = Watch::keys([c.key("k").greater(4), c.key("l").less(2)]);
    assert_eq!(c.send(Timer::on(two).into_msg(&c.contract)), Ok(()));
}

/// With level it is due while the condition holds, whatever became of the delivery.
#[test]
fn level_is_due_after_each_cooldown() {
    let mut c = Chain::new();
    c.write("low", "1");
    let low = |c: &Chain| Watch::key(c.key("low").exists());
    let plain = Watch::key(c.key("low")).cooldown(1).level();
    let (hasty, level) = (low(&c).level(), low(&c).cooldown(3).level());
    for refused in [plain, hasty] {
        assert_eq!(c.send(Timer::on(refused).into_msg(&c.contract)), Err(61));
    }
    let fails = Timer::on(level).remaining(3).payload(&"fail").unwrap();
    c.schedule(fails);
    let heights =
        |blocks: Vec<Block>| -> Vec<u64> { blocks.iter().flat_map(|b| &b.fires).map(|f| f.delivery.height).collect() };
    let blocks = c.timers.run_to(&mut c.app, 12);
    assert_eq!(blocks[1].only_fire().cycles, 20_000 + 5 * 3 + 8_000 + 1_000 + 3, "a look at one condition is counted");
    assert_eq!(heights(blocks), [2, 5, 8]);
    // A condition that ceases to hold ends it, until it holds again.
    c.write("n", "1");
    let holds = Watch::key(c.key("n").equal("1")).cooldown(2).level();
    c.schedule(Timer::on(holds).remaining(0));
    let mut found = heights(c.timers.run_to(&mut c.app, 16));
    c.write("n", "2");
    found.extend(heights(c.timers.run_to(&mut c.app, 20)));
    c.write("n", "1");
    found.extend(heights(c.timers.run_to(&mut c.app, 23)));
    assert_eq!(found, [14, 16, 21, 23]);
}

/// Another level lets it be looked at, another cooldown counts from its last delivery, and other keys wait for that too.
#[test]
fn an_update_keeps_the_cooldown() {
    let mut c = Chain::new();
    c.write("k", "1");
    let watch = |c: &Chain, cooldown| Watch::key(c.key("k").exists()).cooldown(cooldown);
    let begin = watch(&c, 9);
    let id = c.schedule(Timer::on(begin).remaining(0));
    c.rests(1);
    assert_eq!(c.fires(), ["k"]);
    assert_eq!(c.status(&id).due, 11);
    for (trigger, due) in [
        (watch(&c, 4), 6),
        (watch(&c, 20), 22),
        (watch(&c, 4).level(), 6),
        (Watch::key(c.key("k").equal("1")).cooldown(5), 7),
        (Watch::key(c.key("k")).cooldown(3), 5),
        (watch(&c, 4), 6),
    ] {
        c.send(Update::of(&id).trigger(trigger).into_msg(&c.contract)).unwrap();
        assert_eq!(c.status(&id).due, due);
    }
    c.rests(3);
    assert_eq!(c.fires(), ["k"], "at height 6, as the last of them says");
}

/// What is watched without a condition is noticed while the others wait for a look.
#[test]
fn changes_are_noticed_before_a_look() {
    let mut c = Chain::new();
    let watch = |c: &Chain| Watch::keys([c.key("a").equal("1"), c.key("b")]).cooldown(2);
    let begin = watch(&c);
    let id = c.schedule(Timer::on(begin).remaining(0));
    c.write("b", "0");
    c.rests(1);
    c.write("b", "7");
    assert_eq!(c.fires(), ["b"], "in the block of the look");
    c.rests(2);
    // Looked at in the next block, since its level is another.
    let level = watch(&c).level();
    c.send(Update::of(&id).trigger(level).into_msg(&c.contract)).unwrap();
    c.write("b", "1");
    c.rests(1);
    assert_eq!(c.status(&id).phase, TimerPhase::Watching);
    c.write("a", "1");
    assert_eq!(c.fires(), ["b", "a"]);
    // Within the cooldown nothing is.
    c.write("b", "2");
    c.write("a", "0");
    c.rests(1);
    c.rests(2);
    // One that is paused meanwhile keeps it.
    let edges = watch(&c);
    c.send(Update::of(&id).trigger(edges).into_msg(&c.contract)).unwrap();
    c.write("b", "3");
    c.rests(1);
    c.send(Change::pause(&id).into_msg(&c.contract)).unwrap();
    c.rests(2);
    assert_eq!(c.status(&id).hold_reason, HoldReason::Paused);
    c.send(Change::resume(&id).into_msg(&c.contract)).unwrap();
    c.rests(1);
    let block = c.next();
    assert_eq!(block.only_fire().delivery.matched.len(), 1);
}

/// One that is due and waits adds later changes to the same fire; resumed with the next it gives up what it noticed.
#[test]
fn what_is_noticed_is_delivered_once_or_given_up() {
    let mut c = Chain::new();
    let watch = Watch::keys([c.key("a"), c.key("b"), c.key("c").exists()]);
    let id = c.schedule(Timer::on(watch).remaining(0));
    c.rests(2);
    c.timers.change_config(|config| config.lane_paused = true).unwrap();
    c.rests(1);
    for key in ["a", "b", "c"] {
        c.write(key, "1");
        c.rests(1);
    }
    // While it is due no condition is judged.
    assert_eq!((c.status(&id).phase, c.status(&id).matched.len()), (TimerPhase::Ready, 2));
    let due = c.status(&id).due;
    c.send(Change::pause(&id).into_msg(&c.contract)).unwrap();
    c.send(Change::resume_at(&id, ResumeAt::Next).into_msg(&c.contract)).unwrap();
    assert!(c.status(&id).matched.is_empty());
    c.timers.change_config(|config| config.lane_paused = false).unwrap();
    let skipped = c.next().skipped;
    assert_eq!(skipped.iter().map(|s| (s.first, s.count, s.reason)).collect::<Vec<_>>(), [(due, 1, Reason::Paused)]);
    assert_eq!(c.fires(), ["c"], "its condition is looked at again");
    // The last repetition that was tried is not given up.
    let fails = Watch::key(c.key("a"));
    let last = c.schedule(Timer::on(fails).remaining(1).retry(1, 9).payload(&"fail").unwrap());
    c.rests(1);
    c.write("a", "2");
    let tried = c.next().fires.len();
    assert_eq!((tried, c.status(&last).tried), (2, true));
    c.send(Change::pause(&last).into_msg(&c.contract)).unwrap();
    assert_eq!(c.send(Change::resume_at(&last, ResumeAt::Next).into_msg(&c.contract)), Err(11));
}
