//! The end of a block: what is due fires, in the chain's order and at its price.

use std::collections::BTreeMap;
use std::panic::{catch_unwind, AssertUnwindSafe};

use cosmwasm_std::{coin, to_json_binary, Addr, Binary, Event, Uint128};
use cw_multi_test::error::AnyError;
use cw_multi_test::AppResponse;
use cw_timers::proto::{
    DeliveryInfo, Message, OnFailure, OnUnfunded, Outcome, ReceiptInfo, Retry, SetAsideReason, TimerInfo, Trigger,
    WatchedKey,
};
use cw_timers::{Delivery, HandleTimer, Matched, SudoMsg, TimerId, TimersError, Told, TriggerKind, CODESPACE};
use sha2::{Digest, Sha256};

use crate::config::Config;
use crate::host::Host;
use crate::keeper::{hex, messages_of, release, told, Grants};
use crate::settle::cost;
use crate::store::{self, Books, Moment, Record};
use crate::watch;

/// The address that holds what is charged before a fire.
const MODULE: &str = "cw-timers-test-module";

/// What a handler uses, beyond the cycles that every fire counts before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Cycles.
    pub cycles: u64,
    /// Cells: bytes written.
    pub cells: u64,
}

/// A fire that is about to run its handler.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Firing<'a> {
    /// The timer as it was when its turn came.
    pub timer: &'a TimerInfo,
    /// What its handler is told.
    pub delivery: &'a Delivery,
}

/// What one block's end did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Block {
    /// The block's height.
    pub height: u64,
    /// The fires, in their order.
    pub fires: Vec<Fire>,
    /// Timers whose life ended.
    pub expired: Vec<TimerId>,
    /// Timers that were removed since their payers lacked funds.
    pub unfunded: Vec<TimerId>,
    /// Timers that were removed since their scheduler was their contract's admin no more.
    pub not_admin: Vec<TimerId>,
    /// Timers that were set aside, and why.
    pub set_aside: Vec<(TimerId, SetAsideReason)>,
    /// What the fires were charged, all of which is burned.
    pub burned: Uint128,
}

impl Block {
    /// The block's only fire. Panics if there was none, or more than one.
    pub fn only_fire(&self) -> &Fire {
        assert_eq!(self.fires.len(), 1, "fires at height {}: {:?}", self.height, self.fires);
        &self.fires[0]
    }
}

/// One fire.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fire {
    /// The timer as it was when its turn came.
    pub timer: TimerInfo,
    /// What its handler was told.
    pub delivery: Delivery,
    /// Whether it succeeded. The writes and messages of a fire that failed are undone.
    pub success: bool,
    /// The codespace and the code of its failure, as the receipt has them; empty and 0 if it succeeded.
    pub codespace: String,
    /// See `codespace`.
    pub code: u32,
    /// The failure as cw-multi-test tells it, which no chain keeps.
    pub error: Option<String>,
    /// What it was charged for, intrinsic cycles included.
    pub cycles: u64,
    /// What it was charged for.
    pub cells: u64,
    /// What it was charged, in fee denom.
    pub paid: Uint128,
    /// How many blocks it was late.
    pub late: u64,
    /// When it is due again; `None` if it left, or watches.
    pub next_due: Option<u64>,
    /// The events of the handler, and of what it called.
    pub events: Vec<Event>,
}

impl Fire {
    /// The fire itself, if it succeeded. Panics with the failure otherwise.
    #[track_caller]
    pub fn unwrap(&self) -> &Self {
        assert!(
            self.success,
            "the fire failed: {}/{}: {}",
            self.codespace,
            self.code,
            self.error.as_deref().unwrap_or("")
        );
        self
    }

    /// The module's error with which it failed.
    pub fn refusal(&self) -> Option<TimersError> {
        (self.codespace == CODESPACE).then(|| TimersError::from_code(self.code)).flatten()
    }
}

/// The end of one block.
pub(crate) struct Lane<'a, H: Host> {
    pub host: &'a mut H,
    pub config: &'a Config,
    pub grants: &'a Grants,
    pub usage: &'a dyn Fn(&Firing<'_>) -> Usage,
    pub height: u64,
    pub now: Moment,
    pub block: Block,
    pub used: Books,
    fires_of: BTreeMap<String, u32>,
}

/// How a handler ended.
struct Ended {
    events: Vec<Event>,
    failure: Option<(String, u32, String)>,
}

impl<'a, H: Host> Lane<'a, H> {
    pub(crate) fn new(
        host: &'a mut H,
        config: &'a Config,
        grants: &'a Grants,
        usage: &'a dyn Fn(&Firing<'_>) -> Usage,
    ) -> Self {
        let now = Moment::of(&host.block());
        let height = now.height;
        let block = Block { height, ..Block::default() };
        Lane { host, config, grants, usage, height, now, block, used: Books::default(), fires_of: BTreeMap::new() }
    }

    /// Runs the steps of the end of a block, in the chain's order.
    pub(crate) fn run(mut self) -> Block {
        self.collect_watches();
        self.collect_times();
        self.sweep_set_aside();
        self.sweep_queue();
        if !self.config.lane_paused {
            self.fire_all();
        }
        self.record();
        self.block
    }

    /// Makes due the watches of what this block's transactions, and the timers of the block before, have changed.
    fn collect_watches(&mut self) {
        for mut record in Record::all(self.host.storage()) {
            let Some(trigger) = record.info.trigger.clone() else { continue };
            let Some(watched) = trigger.watch else { continue };
            let now = watch::marks(self.host.storage(), self.host.api(), &watched);
            let counts = record.info.set_aside == SetAsideReason::Watching
                && record.info.due <= self.height
                && !record.expired_at(self.now);
            if counts {
                let changed = watch::changed(&watched, &record.marks, &now);
                if !changed.is_empty() {
                    let most = self.config.max_matched_keys as usize;
                    record.info.matched = changed
                        .into_iter()
                        .take(most)
                        .map(|(store, key)| WatchedKey::with(|w| (w.store, w.key) = (store, key)))
                        .collect();
                    record.info.set_aside = SetAsideReason::Unspecified;
                    record.info.due = self.height;
                    (record.hit, record.changed) = (true, self.height);
                }
            }
            record.marks = match record.fresh {
                true => watch::settle_fresh(&watched, &record.marks, &now),
                false => now,
            };
            record.fresh = false;
            record.save(self.host.storage_mut());
        }
    }

    /// Makes due the timers whose time has come.
    fn collect_times(&mut self) {
        for mut record in Record::all(self.host.storage()) {
            let waits = record.info.set_aside == SetAsideReason::Timed;
            if waits && !record.waits_for_time(self.now.time) && !record.expired_at(self.now) {
                (record.info.set_aside, record.info.due) = (SetAsideReason::Unspecified, self.height);
                record.save(self.host.storage_mut());
            }
        }
    }

    /// Looks at what is set aside: it returns, stays or expires.
    fn sweep_set_aside(&mut self) {
        for mut record in Record::all(self.host.storage()).into_iter().filter(|r| !r.in_queue()) {
            if record.expired_at(self.now) {
                self.expire(&record);
            } else if record.info.set_aside == SetAsideReason::Unrunnable && self.runnable(&record) {
                release(&mut record, self.now);
                record.save(self.host.storage_mut());
            }
        }
    }

    /// Removes what has expired in the queue, and sets aside what the config can't run.
    fn sweep_queue(&mut self) {
        for mut record in Record::all(self.host.storage()) {
            if !record.in_queue() {
                continue;
            }
            if record.expired_at(self.now) {
                self.expire(&record);
            } else if record.info.due > self.height {
                continue;
            } else if !self.runnable(&record) {
                self.put_aside(&mut record, SetAsideReason::Unrunnable);
            }
        }
    }

    fn expire(&mut self, record: &Record) {
        record.remove(self.host.storage_mut());
        self.block.expired.push(record.id());
    }

    fn put_aside(&mut self, record: &mut Record, reason: SetAsideReason) {
        record.info.set_aside = reason;
        record.save(self.host.storage_mut());
        self.block.set_aside.push((record.id(), reason));
    }

    fn runnable(&self, record: &Record) -> bool {
        let info = &record.info;
        info.gas_limit > self.config.fire_base_cycles
            && info.gas_limit <= self.config.max_cycles_per_fire
            && info.cell_limit <= self.config.max_cells_per_fire
    }

    fn max_cost(&self, record: &Record) -> Uint128 {
        self.cost(record.info.gas_limit, record.info.cell_limit)
    }

    fn cost(&self, cycles: u64, cells: u64) -> Uint128 {
        cost(self.config.cycle_basefee, self.config.cell_basefee, cycles, cells)
    }

    fn covers(&self, record: &Record, amount: Uint128) -> bool {
        let sponsored = !record.info.fee_payer.is_empty();
        let consents =
            !sponsored || self.grants.contains(&(record.info.fee_payer.clone(), record.principal().to_string()));
        consents && self.host.balance(&record.payer(), &self.config.fee_denom) >= amount
    }

    fn fire_all(&mut self) {
        let ready: Vec<Record> =
            Record::all(self.host.storage()).into_iter().filter(|r| r.ready_at(self.now)).collect();
        for seen in ready {
            let info = &seen.info;
            let size = self.config.size(info.gas_limit, info.cell_limit);
            let fires = self.block.fires.len() as u64;
            let full = size > self.config.lane_timer_cycles - self.used.used_size
                || self.config.max_fires_per_block != 0 && fires >= u64::from(self.config.max_fires_per_block);
            let of_actor = self.fires_of.get(&info.actor).copied().unwrap_or(0);
            let capped = self.config.max_fires_per_actor != 0 && of_actor >= self.config.max_fires_per_actor;
            if full || capped {
                continue;
            }
            // An earlier handler may have changed it: then it is at another place in the queue, and not tried.
            let Some(record) = Record::load(self.host.storage(), &info.id) else { continue };
            let moved = record.info.seq != info.seq || record.info.due != info.due;
            if moved || !record.ready_at(self.now) {
                continue;
            }
            self.attempt(record);
        }
    }

    fn attempt(&mut self, mut record: Record) {
        let required = self.max_cost(&record);
        let ceiling: Option<u128> = record.info.max_charge.parse().ok();
        if ceiling.is_some_and(|most| required.u128() > most) {
            return;
        }
        if !record.info.scheduler.is_empty() {
            let admin = self.host.contract(&Addr::unchecked(&record.info.actor)).flatten();
            if admin.as_ref().map(Addr::as_str) != Some(record.info.scheduler.as_str()) {
                record.remove(self.host.storage_mut());
                self.block.not_admin.push(record.id());
                return;
            }
        }
        if !self.covers(&record, required) {
            if record.info.on_unfunded == OnUnfunded::Suspend {
                self.put_aside(&mut record, SetAsideReason::Suspended);
            } else if record.info.on_unfunded != OnUnfunded::Skip || !self.skip_unfunded(&mut record) {
                record.remove(self.host.storage_mut());
                self.block.unfunded.push(record.id());
            }
            return;
        }
        self.fire(record, required);
    }

    /// Lets the repetition pass that the payer can't cover; after some in a row the timer is suspended. Whether there is a
    /// further one within its life.
    fn skip_unfunded(&mut self, record: &mut Record) -> bool {
        let interval = record.info.trigger.as_ref().and_then(|t| t.interval.as_ref());
        let Some(every) = interval.map(|i| i.every) else { return false };
        let due = record.info.due + every;
        if due > record.info.expires_at {
            return false;
        }
        (record.info.due, record.info.retries) = (due.max(self.height + 1), 0);
        record.info.skips += 1;
        if record.info.skips >= self.config.max_unfunded_skips {
            record.info.skips = 0;
            self.put_aside(record, SetAsideReason::Suspended);
        } else {
            record.save(self.host.storage_mut());
        }
        true
    }

    fn fire(&mut self, record: Record, required: Uint128) {
        let (payer, module) = (record.payer(), Addr::unchecked(MODULE));
        self.pay(&payer, &module, required);
        let rolled = self.roll(&record);
        let delivery = self.delivery(&record);
        let info = &record.info;
        let is_contract = self.host.contract(&Addr::unchecked(&info.actor)).is_some();
        let runs_messages = info.runs_messages || !is_contract;
        let messages = if runs_messages { info.payload_bytes } else { 0 };
        let intrinsic = self.config.intrinsic(record.by_time(), info.payload_bytes, messages);
        let (cycles, cells, ended) = if intrinsic >= info.gas_limit {
            (info.gas_limit, 0, failed(TimersError::OutOfCycles))
        } else {
            let usage = (self.usage)(&Firing { timer: info, delivery: &delivery });
            let cycles = intrinsic.saturating_add(usage.cycles).min(info.gas_limit);
            let cells = usage.cells.min(info.cell_limit);
            let ended = if usage.cycles > info.gas_limit - intrinsic {
                failed(TimersError::OutOfCycles)
            } else if usage.cells > info.cell_limit {
                failed(TimersError::OutOfCells)
            } else {
                self.deliver(&record, &delivery, runs_messages)
            };
            (cycles, cells, ended)
        };
        let paid = self.cost(cycles, cells);
        self.pay(&module, &payer, required - paid);
        if !paid.is_zero() {
            self.host.burn(&module, coin(paid.u128(), &self.config.fee_denom)).expect("the charge is held");
        }
        self.block.burned += paid;
        self.used.used_size += self.config.size(cycles, cells);
        self.used.cycles += cycles;
        self.used.cells += cells;
        *self.fires_of.entry(record.info.actor.clone()).or_default() += 1;
        let late = delivery.late();
        let (codespace, code, error) = match ended.failure {
            Some((codespace, code, error)) => (codespace, code, Some(error)),
            None => (String::new(), 0, None),
        };
        let fire = Fire {
            timer: record.info.clone(),
            delivery,
            success: error.is_none(),
            codespace,
            code,
            error,
            cycles,
            cells,
            paid,
            late,
            next_due: None,
            events: ended.events,
        };
        let survivor = self.after_fire(record, rolled, &fire);
        let next_due = survivor.filter(Record::in_queue).map(|r| r.info.due);
        self.keep_receipt(&fire);
        self.block.fires.push(Fire { next_due, ..fire });
    }

    fn pay(&mut self, from: &Addr, to: &Addr, amount: Uint128) {
        if !amount.is_zero() {
            let coin = coin(amount.u128(), &self.config.fee_denom);
            self.host.send(from, to, coin).expect("the payer was found to cover it");
        }
    }

    /// Before the handler runs the timer is where a success leaves it: due again, or gone. So the handler finds it there,
    /// and can change it.
    fn roll(&mut self, record: &Record) -> Option<Record> {
        let ttl = record.last_height() - self.height;
        let trigger = record.info.trigger.clone().unwrap_or_default();
        let mut next = record.clone();
        (next.hit, next.changed) = (false, 0);
        next.info.matched.clear();
        (next.info.retries, next.info.skips) = (0, 0);
        next.info.fire_seq += 1;
        let one_less = |remaining: u64| remaining.saturating_sub(1);
        match (trigger.interval, trigger.watch) {
            (Some(mut interval), _) if interval.remaining != 1 && interval.every <= ttl => {
                interval.remaining = one_less(interval.remaining);
                next.info.due = self.height + interval.every;
                next.info.trigger = Some(Trigger::with(|t| t.interval = Some(interval)));
            }
            (_, Some(mut watched)) if watched.remaining != 1 && watched.cooldown.max(1) <= ttl => {
                watched.remaining = one_less(watched.remaining);
                next.info.due = self.height + watched.cooldown.max(1);
                next.info.set_aside = SetAsideReason::Watching;
                next.info.trigger = Some(Trigger::with(|t| t.watch = Some(watched)));
            }
            _ => {
                record.remove(self.host.storage_mut());
                return None;
            }
        }
        next.save(self.host.storage_mut());
        Some(next)
    }

    fn delivery(&self, record: &Record) -> Delivery {
        let info = &record.info;
        let trigger = info.trigger.clone().unwrap_or_default();
        let kind = match (&trigger.watch, &trigger.interval, trigger.after) {
            _ if trigger.time.is_some() => TriggerKind::Time,
            (Some(_), _, _) => TriggerKind::Watch,
            (_, Some(_), _) => TriggerKind::Interval,
            (_, _, 0) => TriggerKind::Height,
            _ => TriggerKind::After,
        };
        let mut hash = Sha256::new();
        hash.update(self.height.to_be_bytes());
        hash.update(info.id.as_bytes());
        hash.update(info.fire_seq.to_be_bytes());
        let mut delivery = Delivery::new(record.id(), hex(&hash.finalize()), self.height, kind);
        delivery.fire_seq = info.fire_seq;
        delivery.due = match record.changed {
            0 => info.due,
            changed => changed.min(info.due),
        };
        delivery.matched =
            info.matched.iter().map(|m| Matched { store: m.store.clone(), key: m.key.clone() }).collect();
        delivery.occurrence = trigger.time.map(|at| at.seconds as u64);
        delivery.scheduler = Some(info.scheduler.clone()).filter(|s| !s.is_empty());
        delivery
    }

    /// Runs the handler. What it did is undone if it fails, or panics.
    fn deliver(&mut self, record: &Record, delivery: &Delivery, runs_messages: bool) -> Ended {
        let info = &record.info;
        let actor = Addr::unchecked(&info.actor);
        let host = &mut *self.host;
        let ran = catch_unwind(AssertUnwindSafe(|| {
            if runs_messages {
                let responses = host.run(&actor, &messages_of(&info.payload)?)?;
                let events = responses.into_iter().flat_map(|r| r.events).collect();
                return Ok(AppResponse { events, ..AppResponse::default() });
            }
            host.call(&actor, sudo_message(info, delivery)?)
        }));
        match ran {
            Ok(Ok(response)) => Ended { events: response.events, failure: None },
            Ok(Err(err)) => {
                let (codespace, code) = code_of(&err);
                Ended { events: Vec::new(), failure: Some((codespace, code, format!("{err:#}"))) }
            }
            Err(panic) => {
                let text = panic
                    .downcast_ref::<String>()
                    .map(String::as_str)
                    .or_else(|| panic.downcast_ref::<&str>().copied())
                    .unwrap_or("a panic");
                // What the model can't do is no failure of the contract.
                if text.starts_with("cw-timers-test") {
                    std::panic::resume_unwind(panic);
                }
                Ended { events: Vec::new(), failure: Some(("wasm".to_string(), 29, text.to_string())) }
            }
        }
    }

    /// Applies the result to the timer, and returns the timer that remains.
    fn after_fire(&mut self, record: Record, rolled: Option<Record>, fire: &Fire) -> Option<Record> {
        let retry = record.info.retry.clone().filter(|retry| {
            let ttl = record.last_height() - self.height;
            let again = !fire.success && record.info.retries < retry.max && retries_after(retry, fire);
            again && distance(retry, record.info.retries) <= ttl
        });
        let outcome = Outcome::with(|o| {
            o.success = fire.success;
            o.codespace = fire.codespace.clone();
            o.code = fire.code;
            o.height = self.height;
            o.cycles = fire.cycles;
            o.paid = fire.paid.to_string();
        });
        let mut survivor = match (&rolled, &retry) {
            // A timer that does not repeat is gone.
            (None, None) => return None,
            (None, Some(_)) => record.clone(),
            // Its handler may have cancelled or changed it.
            (Some(rolled), _) => Record::load(self.host.storage(), &rolled.info.id)?,
        };
        let failed = !fire.success;
        match retry {
            Some(retry) if failed => {
                // The same repetition, later.
                survivor.info.trigger = record.info.trigger.clone();
                survivor.info.set_aside = record.info.set_aside;
                survivor.info.matched = record.info.matched.clone();
                (survivor.hit, survivor.changed) = (record.hit, 0);
                survivor.info.due = self.height + distance(&retry, record.info.retries);
                survivor.info.retries = record.info.retries + 1;
                survivor.info.fire_seq = record.info.fire_seq + 1;
            }
            _ if failed && stops_on_failure(&record.info) => {
                survivor.remove(self.host.storage_mut());
                return None;
            }
            _ if failed => self.count_failure(&record.info, &mut survivor),
            _ => survivor.info.failures = 0,
        }
        survivor.info.last_outcome = Some(outcome);
        survivor.save(self.host.storage_mut());
        Some(survivor)
    }

    /// Counts a repetition that failed, and suspends the timer after as many in a row as it states.
    fn count_failure(&mut self, timer: &TimerInfo, survivor: &mut Record) {
        let interval = timer.trigger.as_ref().and_then(|t| t.interval.as_ref());
        let Some(interval) = interval.filter(|i| i.on_failure == OnFailure::Suspend) else { return };
        survivor.info.failures += 1;
        if survivor.info.failures >= interval.max_failures.max(1) {
            survivor.info.failures = 0;
            self.put_aside(survivor, SetAsideReason::Suspended);
        }
    }

    fn keep_receipt(&mut self, fire: &Fire) {
        if self.config.receipt_retention_blocks == 0 {
            return;
        }
        let receipt = ReceiptInfo::with(|r| {
            r.timer_id = fire.timer.id.clone();
            r.deliver_id = fire.delivery.deliver_id.clone();
            r.actor = fire.timer.actor.clone();
            r.fire_seq = fire.timer.fire_seq;
            r.success = fire.success;
            r.codespace = fire.codespace.clone();
            r.code = fire.code;
            r.cycles = fire.cycles;
            r.cells = fire.cells;
            r.paid = fire.paid.to_string();
            r.tip = "0".to_string();
            r.matched = fire.timer.matched.clone();
            r.late = fire.late;
        });
        let n = self.block.fires.len() as u32;
        let delivery = DeliveryInfo::with(|d| (d.height, d.receipt) = (self.height, Some(receipt)));
        store::keep_receipt(self.host.storage_mut(), n, &delivery);
    }

    /// State for the next block.
    fn record(&mut self) {
        let from = (self.height + 1).saturating_sub(self.config.receipt_retention_blocks);
        let storage = self.host.storage_mut();
        store::prune_receipts(storage, from);
        let before = Books::load(storage);
        let books = Books { seq: before.seq, burned: before.burned + self.block.burned, ..self.used.clone() };
        books.save(storage);
    }
}

/// The distance from a failed fire to its retry, after so many retries.
fn distance(retry: &Retry, retries: u32) -> u64 {
    u64::from(retry.backoff.max(1)).saturating_pow(retries).saturating_mul(retry.after)
}

/// Whether a fire that failed so is retried.
fn retries_after(retry: &Retry, fire: &Fire) -> bool {
    retry.on.is_empty()
        || retry.on.iter().any(|e| e.codespace == fire.codespace && (e.code == 0 || e.code == fire.code))
}

fn stops_on_failure(timer: &TimerInfo) -> bool {
    let interval = timer.trigger.as_ref().and_then(|t| t.interval.as_ref());
    interval.is_some_and(|i| i.on_failure == OnFailure::Stop)
}

fn failed(error: TimersError) -> Ended {
    Ended { events: Vec::new(), failure: Some((CODESPACE.to_string(), error.code(), error.to_string())) }
}

/// The codespace and the code of a failure: the module's own, or that of x/wasm for an error of a contract.
fn code_of(err: &AnyError) -> (String, u32) {
    match refusal_of(err) {
        Some(refusal) => (CODESPACE.to_string(), refusal.code()),
        None => ("wasm".to_string(), 5),
    }
}

/// The module's error in an error of cw-multi-test; `None` if it is of something else.
pub fn refusal_of(err: &AnyError) -> Option<TimersError> {
    err.chain().find_map(|cause| cause.downcast_ref::<TimersError>().copied())
}

/// The message for `sudo`: one object with the handler's name as its only member.
fn sudo_message(timer: &TimerInfo, delivery: &Delivery) -> cosmwasm_std::StdResult<Binary> {
    if timer.handler.is_empty() {
        return to_json_binary(&SudoMsg::HandleTimer(HandleTimer::new(delivery.clone(), timer.payload.clone())));
    }
    let call = |name: &str, body: &[u8]| Binary::from([b"{\"", name.as_bytes(), b"\":", body, b"}"].concat());
    match told(&timer.handler) {
        None => Ok(call(&timer.handler, &timer.payload)),
        Some(name) => {
            // The payload is copied as it is.
            let empty = Told { delivery: delivery.clone(), payload: () };
            let text = to_json_binary(&empty)?;
            let head = text.strip_suffix(b"null}").unwrap_or(&text);
            Ok(call(name, &[head, timer.payload.as_slice(), b"}"].concat()))
        }
    }
}
