//! The end of a block: what is due fires, in the chain's order and at its price.

use std::collections::BTreeMap;
use std::panic::{catch_unwind, AssertUnwindSafe};

use cosmwasm_std::{coin, to_json_binary, Addr, Binary, Event, OverflowError, Uint128};
use cw_multi_test::error::AnyError;
use cw_multi_test::AppResponse;
use cw_timers::proto::{
    self, DeliveryInfo, HoldReason, Message, OnUnfunded, ReceiptInfo, TimerInfo, WatchKey, WatchTrigger,
};
use cw_timers::{Delivery, HandleTimer, Matched, SudoMsg, TimerId, TimersError, Told, TriggerKind, CODESPACE};
use sha2::{Digest, Sha256};

use crate::config::{Config, FIRE_BASE_CYCLES, LAPSE_CYCLES};
use crate::host::{coins_of, Host};
use crate::keeper::{hex, messages_of, release, without_delivery, Grants};
use crate::recur::{self, Kind, Next, Occurrence, Outcome, Turn};
use crate::settle::cost;
use crate::store::{self, Books, Mark, Moment, Pause, Record, Skipped, Timer};
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
    /// The cycles that reading its conditions took.
    pub reading: u64,
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
    /// Timers that were on hold, and why.
    pub on_hold: Vec<(TimerId, HoldReason)>,
    /// Occurrences that passed without a fire: at the end of the block, and by messages of it.
    pub skipped: Vec<Skipped>,
    /// What the fires and lapses were charged, all of which is burned.
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
    /// Whether a condition of [`only_if`](cw_timers::Timer::only_if) did not hold, so that its handler was not run. It
    /// is neither a success nor a failure.
    pub guarded: bool,
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
        assert!(!self.guarded, "the fire was guarded: a condition of only_if did not hold");
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
    pub reading: &'a dyn Fn(&WatchKey, Option<&[u8]>) -> u64,
    pub height: u64,
    pub now: Moment,
    pub block: Block,
    pub used: Books,
    fires_of: BTreeMap<String, u32>,
}

/// How a handler ended, or why it was not run.
#[derive(Default)]
struct Ended {
    events: Vec<Event>,
    guarded: bool,
    failure: Option<(String, u32, String)>,
    /// It failed since its actor lacks the coins that its own messages state.
    short: bool,
}

impl<'a, H: Host> Lane<'a, H> {
    pub(crate) fn new(
        host: &'a mut H,
        config: &'a Config,
        grants: &'a Grants,
        usage: &'a dyn Fn(&Firing<'_>) -> Usage,
        reading: &'a dyn Fn(&WatchKey, Option<&[u8]>) -> u64,
    ) -> Self {
        let now = Moment::of(&host.block());
        let height = now.height;
        let block = Block { height, ..Block::default() };
        let (used, fires_of) = (Books::default(), BTreeMap::new());
        Lane { host, config, grants, usage, reading, height, now, block, used, fires_of }
    }

    /// Runs the steps of the end of a block, in the chain's order.
    pub(crate) fn run(mut self) -> Block {
        self.collect_watches();
        self.collect_times();
        self.scan_on_hold();
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
            let Some(trigger) = record.info.spec.trigger.clone() else { continue };
            let Some(watched) = trigger.watch else { continue };
            let now = watch::marks(self.host.storage(), self.host.api(), &watched);
            if record.info.status.hold_reason != HoldReason::Watching {
                if record.hit {
                    // It delivers what changes until it does.
                    record.notice(watch::changed(&watched, &record.marks, &now));
                }
            } else if !record.expired_at(self.now) {
                self.notify(&mut record, &watched, &now);
            }
            record.marks = now;
            record.save(self.host.storage_mut());
        }
    }

    /// Makes a watch due by what has changed since the last collection, or, where it is looked at, by what holds.
    fn notify(&self, record: &mut Record, watched: &WatchTrigger, now: &[Mark]) {
        let comes = record.info.status.due <= self.height;
        match record.info.look {
            None if !comes => return,
            None => {
                record.notice(watch::changed(watched, &record.marks, now));
                record.notice(watch::became_true(watched, &record.marks, now));
            }
            Some(from) => {
                if from <= self.height {
                    record.notice(watch::changed(watched, &record.marks, now));
                }
                if !comes {
                    return;
                }
                record.notice(watch::holding(watched, now));
            }
        }
        record.info.look = None;
        if record.hit {
            record.info.status.hold_reason = HoldReason::Unspecified;
            (record.info.status.due, record.changed) = (self.height, self.height);
        }
    }

    /// Makes due the timers whose time has come.
    fn collect_times(&mut self) {
        for mut record in Record::all(self.host.storage()) {
            let waits = record.info.status.hold_reason == HoldReason::Timed;
            if waits && !record.waits_for_time(self.now.time) && !record.expired_at(self.now) {
                (record.info.status.hold_reason, record.info.status.due) = (HoldReason::Unspecified, self.height);
                record.save(self.host.storage_mut());
            }
        }
    }

    /// Looks at what is on hold: it returns, stays or expires.
    fn scan_on_hold(&mut self) {
        for record in Record::all(self.host.storage()).into_iter().filter(|r| !r.in_queue()) {
            if record.expired_at(self.now) {
                self.expire(&record);
            } else if record.info.status.hold_reason == HoldReason::Unrunnable && self.runnable(&record) {
                self.release(record);
            }
        }
    }

    /// Returns a timer to the queue. What may not fire any more has passed, for which nobody is charged.
    fn release(&mut self, mut record: Record) {
        release(&mut record, self.now);
        let occurrence = recur::occurrence(&record.info, self.now);
        if record.in_queue() && !occurrence.open && !occurrence.over && occurrence.passed.count > 0 {
            return self.go_on(&record, Turn::new(Outcome::LapsedFree, &occurrence));
        }
        record.save(self.host.storage_mut());
    }

    /// Removes what has expired in the queue, and puts on hold what the config can't run.
    fn sweep_queue(&mut self) {
        for mut record in Record::all(self.host.storage()) {
            if !record.in_queue() {
                continue;
            }
            if record.expired_at(self.now) {
                self.expire(&record);
            } else if record.info.status.due > self.height {
                continue;
            } else if !self.runnable(&record) {
                self.put_on_hold(&mut record, HoldReason::Unrunnable);
            }
        }
    }

    fn expire(&mut self, record: &Record) {
        record.remove(self.host.storage_mut());
        self.block.expired.push(record.id());
    }

    fn put_on_hold(&mut self, record: &mut Record, reason: HoldReason) {
        (record.info.status.hold_reason, record.info.look) = (reason, None);
        record.save(self.host.storage_mut());
        self.block.on_hold.push((record.id(), reason));
    }

    fn runnable(&self, record: &Record) -> bool {
        let info = &record.info;
        info.status.gas_limit > FIRE_BASE_CYCLES
            && info.status.gas_limit <= self.config.max_cycles_per_fire
            && info.status.cell_limit <= self.config.max_cells_per_fire
    }

    fn max_cost(&self, record: &Record) -> Uint128 {
        self.cost(record.info.status.gas_limit, record.info.status.cell_limit)
    }

    fn cost(&self, cycles: u64, cells: u64) -> Uint128 {
        cost(self.config.cycle_basefee, self.config.cell_basefee, cycles, cells)
    }

    fn covers(&self, record: &Record, amount: Uint128) -> bool {
        let sponsored = !record.info.status.fee_payer.is_empty();
        let consents =
            !sponsored || self.grants.contains(&(record.info.status.fee_payer.clone(), record.principal().to_string()));
        consents && self.host.balance(&record.payer(), &self.config.fee_denom) >= amount
    }

    fn fire_all(&mut self) {
        let mut ready: Vec<Record> =
            Record::all(self.host.storage()).into_iter().filter(|r| r.ready_at(self.now)).collect();
        ready.sort_by_key(|r| (recur::due_since(&r.info), r.info.status.seq));
        for seen in ready {
            let info = &seen.info;
            let size = self.config.size(info.status.gas_limit, info.status.cell_limit);
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
            let moved = record.info.status.seq != info.status.seq || record.info.status.due != info.status.due;
            if moved || !record.ready_at(self.now) {
                continue;
            }
            self.attempt(record);
        }
    }

    fn attempt(&mut self, record: Record) {
        let required = self.max_cost(&record);
        let ceiling: Option<u128> = record.info.spec.max_charge.parse().ok();
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
        let occurrence = recur::occurrence(&record.info, self.now);
        if !occurrence.open {
            self.pass(record, &occurrence);
        } else if self.covers(&record, required) {
            self.fire(record, occurrence, required);
        } else {
            self.lacks_funds(record);
        }
    }

    /// Takes a timer out of the contest whose payer can't cover it. What has come passes if it states so.
    fn lacks_funds(&mut self, mut record: Record) {
        match record.info.spec.on_unfunded {
            OnUnfunded::Suspend => self.put_on_hold(&mut record, HoldReason::Suspended),
            OnUnfunded::Skip => {
                let occurrence = recur::occurrence(&record.info, self.now);
                self.go_on(&record, Turn::new(Outcome::Unpaid, &occurrence));
            }
            _ => {
                record.remove(self.host.storage_mut());
                self.block.unfunded.push(record.id());
            }
        }
    }

    /// Takes a timer out of the contest whose occurrences have passed, or whose retry comes too late. An occurrence that
    /// lapsed is charged, unless its window ended while the lane was paused.
    fn pass(&mut self, record: Record, occurrence: &Occurrence) {
        let lapsed = occurrence.passed.count > 0 && !occurrence.over;
        let free = lapsed && self.was_paused(&record, occurrence.until);
        let charge = if lapsed && !free { self.cost(LAPSE_CYCLES, 0) } else { Uint128::zero() };
        if !self.covers(&record, charge) {
            return self.lacks_funds(record);
        }
        let payer = record.payer();
        if !charge.is_zero() {
            let coin = coin(charge.u128(), &self.config.fee_denom);
            self.host.burn(&payer, coin).expect("the payer was found to cover it");
            self.block.burned += charge;
        }
        let outcome = if free { Outcome::LapsedFree } else { Outcome::Lapsed };
        self.go_on(&record, Turn::new(outcome, occurrence));
    }

    /// Whether an instant of a timer's clock was over in a block in which the lane was paused.
    fn was_paused(&self, record: &Record, until: u64) -> bool {
        let Some(Pause { after, last }) = Books::load(self.host.storage()).pause else { return false };
        match recur::by_time(&record.info) {
            true => (after.time as u64..last.time as u64).contains(&until),
            false => (after.height..last.height).contains(&until),
        }
    }

    /// Makes a timer without a fire go on with what comes next: it is due again, suspended, or leaves.
    fn go_on(&mut self, record: &Record, turn: Turn<'_>) {
        let next = recur::after(record, turn, self.config, self.now);
        let _ = self.settle(record, next);
    }

    /// Stores a timer as what comes next says, and returns it if it stays.
    fn settle(&mut self, record: &Record, next: Next) -> Option<Record> {
        store::note_passed(self.host.storage_mut(), &record.info.id, &next.passed);
        if !next.stays {
            record.remove(self.host.storage_mut());
            return None;
        }
        let mut record = next.record;
        match next.suspended {
            true => self.put_on_hold(&mut record, HoldReason::Suspended),
            false => record.save(self.host.storage_mut()),
        }
        Some(record)
    }

    /// Reads the conditions of a fire: the cycles that this takes, and whether all hold. The first that does not is the
    /// last that is read.
    fn read_conditions(&self, info: &Timer) -> (u64, bool) {
        let mut cycles: u64 = 0;
        for key in &info.spec.only_if {
            let (value, holds) = watch::condition(self.host.storage(), self.host.api(), key);
            cycles = cycles.saturating_add((self.reading)(key, value.as_deref()));
            if !holds {
                return (cycles, false);
            }
        }
        (cycles, true)
    }

    fn fire(&mut self, record: Record, mut occurrence: Occurrence, required: Uint128) {
        let (payer, module) = (record.payer(), Addr::unchecked(MODULE));
        let info = &record.info;
        let is_contract = self.host.contract(&Addr::unchecked(&info.actor)).is_some();
        let runs_messages = info.status.runs_messages || !is_contract;
        let messages = if runs_messages { info.status.payload_bytes } else { 0 };
        let intrinsic = self.config.intrinsic(recur::trigger_cycles(info), info.status.payload_bytes, messages);
        // A condition on the payer's balance sees what the payer sees: the pre-charge comes after it.
        let (reading, holds) = self.read_conditions(info);
        let spent = intrinsic.saturating_add(reading);
        let guarded = !holds && spent <= info.status.gas_limit && intrinsic < info.status.gas_limit;
        if guarded && !info.status.tried {
            // Nothing is delivered.
            occurrence.index = 0;
        }
        let told = info.to_info();
        self.pay(&payer, &module, required);
        let rolled = self.roll(&record, &occurrence, guarded);
        let delivery = self.delivery(&record, &occurrence);
        let (cycles, cells, ended) = if intrinsic >= info.status.gas_limit || spent > info.status.gas_limit {
            (info.status.gas_limit, 0, failed(TimersError::OutOfCycles))
        } else if guarded {
            (spent, 0, Ended { guarded, ..Ended::default() })
        } else {
            let usage = (self.usage)(&Firing { timer: &told, delivery: &delivery, reading });
            let cycles = spent.saturating_add(usage.cycles).min(info.status.gas_limit);
            let cells = usage.cells.min(info.status.cell_limit);
            let ended = if usage.cycles > info.status.gas_limit - spent {
                failed(TimersError::OutOfCycles)
            } else if usage.cells > info.status.cell_limit {
                failed(TimersError::OutOfCells)
            } else {
                self.deliver(&record, &delivery, runs_messages)
            };
            (cycles, cells, ended)
        };
        // What was prepaid for the repetitions that passed without funds is restored, but by one that lacks its own coins.
        let waits = matches!(record.info.spec.on_unfunded, OnUnfunded::Skip | OnUnfunded::Suspend);
        let tries = if ended.short && waits { 0 } else { record.owed };
        let restored = LAPSE_CYCLES.saturating_mul(u64::from(tries));
        let cycles = cycles.saturating_add(restored).min(info.status.gas_limit);
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
        let (late, short) = (delivery.late(), ended.short);
        let (codespace, code, error) = match ended.failure {
            Some((codespace, code, error)) => (codespace, code, Some(error)),
            None => (String::new(), 0, None),
        };
        let fire = Fire {
            timer: told,
            delivery,
            success: error.is_none() && !ended.guarded,
            guarded: ended.guarded,
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
        let survivor = self.after_fire(&record, rolled, &occurrence, &fire, short);
        let next_due = survivor.filter(Record::in_queue).map(|r| r.info.status.due);
        self.keep_receipt(&record, &fire);
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
    fn roll(&mut self, record: &Record, occurrence: &Occurrence, guarded: bool) -> Next {
        let outcome = if guarded { Outcome::Guarded } else { Outcome::Succeeded };
        let next = recur::after(record, Turn::new(outcome, occurrence), self.config, self.now);
        match next.stays {
            true => next.record.save(self.host.storage_mut()),
            false => record.remove(self.host.storage_mut()),
        }
        next
    }

    fn delivery(&self, record: &Record, occurrence: &Occurrence) -> Delivery {
        let info = &record.info;
        let kind = match recur::kind_of(info) {
            Kind::Time => TriggerKind::Time,
            Kind::Calendar => TriggerKind::Calendar,
            Kind::Watch => TriggerKind::Watch,
            Kind::Interval => TriggerKind::Interval,
            Kind::After => TriggerKind::After,
            Kind::Height => TriggerKind::Height,
        };
        let mut hash = Sha256::new();
        hash.update(self.height.to_be_bytes());
        hash.update(info.id.as_bytes());
        hash.update(info.status.fire_seq.to_be_bytes());
        let mut delivery = Delivery::new(record.id(), hex(&hash.finalize()), self.height, kind);
        delivery.fire_seq = info.status.fire_seq;
        delivery.due = match record.changed {
            0 => recur::due_since(info),
            changed => changed.min(recur::due_since(info)),
        };
        delivery.matched =
            info.status.matched.iter().map(|m| Matched { store: m.store.clone(), key: m.key.clone() }).collect();
        delivery.occurrence = Some(occurrence.at).filter(|at| *at != 0);
        delivery.index = Some(occurrence.index).filter(|index| *index != 0);
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
                let responses = host.run(&actor, &messages_of(info.payload())?)?;
                let events = responses.into_iter().flat_map(|r| r.events).collect();
                return Ok(AppResponse { events, ..AppResponse::default() });
            }
            host.call(&actor, sudo_message(info, delivery)?)
        }));
        match ran {
            Ok(Ok(response)) => Ended { events: response.events, ..Ended::default() },
            Ok(Err(err)) => {
                let (codespace, code) = code_of(&err);
                let short = runs_messages && self.lacks_coins(&actor, info.payload(), &err);
                Ended { failure: Some((codespace, code, format!("{err:#}"))), short, ..Ended::default() }
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
                Ended { failure: Some(("wasm".to_string(), 29, text.to_string())), ..Ended::default() }
            }
        }
    }

    /// Whether a timer's own messages failed since its actor can spend less than they state at top level.
    fn lacks_coins(&self, actor: &Addr, payload: &[u8], err: &AnyError) -> bool {
        let of_bank = |cause: &(dyn std::error::Error + 'static)| cause.downcast_ref::<OverflowError>().is_some();
        let mut wanted: BTreeMap<String, Uint128> = BTreeMap::new();
        let coins = messages_of(payload).into_iter().flatten().flat_map(|any| coins_of(&any));
        for coin in coins {
            *wanted.entry(coin.denom).or_default() += coin.amount;
        }
        err.chain().any(of_bank) && wanted.iter().any(|(denom, amount)| self.host.balance(actor, denom) < *amount)
    }

    /// Applies the result to the timer, and returns the timer that remains. `short`: it failed since its actor lacks coins.
    fn after_fire(
        &mut self,
        record: &Record,
        rolled: Next,
        occurrence: &Occurrence,
        fire: &Fire,
        short: bool,
    ) -> Option<Record> {
        let outcome = proto::Outcome::with(|o| {
            o.success = fire.success;
            o.codespace = fire.codespace.clone();
            o.code = fire.code;
            o.height = self.height;
            o.cycles = fire.cycles;
            o.paid = fire.paid.to_string();
            o.guarded = fire.guarded;
        });
        if fire.success || fire.guarded {
            store::note_passed(self.host.storage_mut(), &record.info.id, &rolled.passed);
            if !rolled.stays {
                return None;
            }
            // Its handler may have cancelled or changed it.
            let mut survivor = Record::load(self.host.storage(), &record.info.id)?;
            survivor.info.status.last_outcome = Some(outcome);
            survivor.save(self.host.storage_mut());
            return Some(survivor);
        }
        let turn = Turn {
            outcome: if short { Outcome::ShortOfCoins } else { Outcome::Failed },
            occurrence,
            codespace: &fire.codespace,
            code: fire.code,
        };
        let mut next = recur::after(record, turn, self.config, self.now);
        next.record.info.status.last_outcome = Some(outcome);
        self.settle(record, next)
    }

    fn keep_receipt(&mut self, record: &Record, fire: &Fire) {
        if self.config.receipt_retention_blocks == 0 {
            return;
        }
        let receipt = ReceiptInfo::with(|r| {
            r.timer_id = fire.timer.id.clone();
            r.deliver_id = fire.delivery.deliver_id.clone();
            r.actor = fire.timer.actor.clone();
            r.fire_seq = record.info.status.fire_seq;
            r.success = fire.success;
            r.codespace = fire.codespace.clone();
            r.code = fire.code;
            r.cycles = fire.cycles;
            r.cells = fire.cells;
            r.paid = fire.paid.to_string();
            r.tip = "0".to_string();
            r.matched.clone_from(&record.info.status.matched);
            r.late = fire.late;
            (r.occurrence, r.index) = (fire.delivery.occurrence.unwrap_or(0), fire.delivery.index.unwrap_or(0));
            r.guarded = fire.guarded;
        });
        let n = self.block.fires.len() as u32;
        let delivery = DeliveryInfo::with(|d| (d.height, d.receipt) = (self.height, Some(receipt)));
        store::keep_receipt(self.host.storage_mut(), n, &delivery);
    }

    /// State for the next block.
    fn record(&mut self) {
        let from = (self.height + 1).saturating_sub(self.config.receipt_retention_blocks);
        let storage = self.host.storage_mut();
        self.block.skipped = store::take_passed(storage);
        store::prune_receipts(storage, from);
        let before = Books::load(storage);
        let (mut open, mut pause) = (before.open, before.pause);
        match self.config.lane_paused {
            true => {
                pause = Some(Pause { after: open, last: self.now });
            }
            false => open = self.now,
        }
        let (seq, burned) = (before.seq, before.burned + self.block.burned);
        let books = Books { seq, burned, open, pause, ..self.used.clone() };
        books.save(storage);
    }
}

fn failed(error: TimersError) -> Ended {
    Ended { failure: Some((CODESPACE.to_string(), error.code(), error.to_string())), ..Ended::default() }
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
fn sudo_message(timer: &Timer, delivery: &Delivery) -> cosmwasm_std::StdResult<Binary> {
    if timer.handler().is_empty() {
        let payload = Binary::from(timer.payload());
        return to_json_binary(&SudoMsg::HandleTimer(HandleTimer::new(delivery.clone(), payload)));
    }
    let call = |name: &str, body: &[u8]| Binary::from([b"{\"", name.as_bytes(), b"\":", body, b"}"].concat());
    match without_delivery(timer.handler()) {
        None => Ok(call(timer.handler(), timer.payload())),
        Some(name) => {
            // The payload is copied as it is.
            let empty = Told { delivery: delivery.clone(), payload: () };
            let text = to_json_binary(&empty)?;
            let head = text.strip_suffix(b"null}").unwrap_or(&text);
            Ok(call(name, &[head, timer.payload(), b"}"].concat()))
        }
    }
}
