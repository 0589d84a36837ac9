//! Where the model keeps its state: in the app's own storage, so that a transaction that fails undoes it.

use cosmwasm_std::{from_json, to_json_vec, Addr, Binary, BlockInfo, Order, Storage, Uint128};
use cw_multi_test::error::AnyResult;
use cw_timers::proto::{DeliveryInfo, HoldReason, Message, TimerInfo, TimerSpec, TimerStatus, WatchedKey};
use cw_timers::{TimerId, TimersError};
use serde::{Deserialize, Serialize};

use crate::config::MAX_MATCHED_KEYS;
use crate::recur::{self, Passed, Passing};

const PREFIX: &[u8] = b"cw-timers-test/";
const BOOKS: &[u8] = b"books";
const TIMER: &[u8] = b"timer/";
const AGENT: &[u8] = b"agent/";
const RECEIPT: &[u8] = b"receipt/";
const PASSED: &[u8] = b"passed";

fn key(parts: &[&[u8]]) -> Vec<u8> {
    [PREFIX, &parts.concat()].concat()
}

/// What the lane carries from block to block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Books {
    pub seq: u64,
    pub burned: Uint128,
    pub cycles: u64,
    pub cells: u64,
    pub used_size: u64,
    /// The last block in which the lane was open, and the blocks in which it was paused last.
    pub open: Moment,
    pub pause: Option<Pause>,
}

/// When the lane was paused: after one block, up to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pause {
    pub after: Moment,
    pub last: Moment,
}

impl Books {
    pub(crate) fn load(storage: &dyn Storage) -> Books {
        storage.get(&key(&[BOOKS])).map_or_else(Books::default, |b| from_json(b).expect("books"))
    }

    pub(crate) fn save(&self, storage: &mut dyn Storage) {
        storage.set(&key(&[BOOKS]), &to_json_vec(self).expect("books"));
    }

    /// The last block that has ended.
    pub(crate) fn last(&self) -> Moment {
        match self.pause {
            Some(pause) if pause.last.height > self.open.height => pause.last,
            _ => self.open,
        }
    }

    pub(crate) fn next_seq(storage: &mut dyn Storage) -> u64 {
        let mut books = Books::load(storage);
        books.seq += 1;
        books.save(storage);
        books.seq
    }
}

/// The value of a watched key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    pub store: String,
    pub key: Binary,
    pub value: Binary,
}

/// A block's height, and its time in whole seconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Moment {
    pub height: u64,
    pub time: i64,
}

impl Moment {
    pub(crate) fn of(block: &BlockInfo) -> Moment {
        Moment { height: block.height, time: block.time.seconds() as i64 }
    }
}

/// A timer as the chain's record has it: its call in the form of a handler and a payload, its payer empty if that is who
/// scheduled it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Timer {
    pub id: String,
    pub actor: String,
    /// Empty if it is the actor.
    pub scheduler: String,
    pub spec: TimerSpec,
    pub status: TimerStatus,
    /// How many deliveries had been made when what remains was stated last.
    pub counted: u64,
    /// Of a watch whose conditions are looked at in the block of its due height: the height from which on changes of what
    /// it watches without one are noted meanwhile.
    pub look: Option<u64>,
}

impl Timer {
    pub(crate) fn handler(&self) -> &str {
        self.spec.call.as_ref().map_or("", |call| &call.handler)
    }

    pub(crate) fn payload(&self) -> &[u8] {
        self.spec.call.as_ref().map_or(&[], |call| &call.payload)
    }

    /// As it is told.
    pub(crate) fn to_info(&self) -> TimerInfo {
        let mut status = self.status.clone();
        status.left = recur::left(self);
        TimerInfo::with(|t| {
            (t.id, t.actor, t.scheduler) = (self.id.clone(), self.actor.clone(), self.scheduler.clone());
            (t.spec, t.status) = (Some(self.spec.clone()), Some(status));
        })
    }
}

/// A live timer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub info: Timer,
    /// A watch that has noticed something, which it will deliver.
    pub hit: bool,
    /// The height of that change; 0 if lateness counts from the due height.
    pub changed: u64,
    /// What the watched keys held at the last collection.
    pub marks: Vec<Mark>,
    /// How many of the tries that were prepaid have passed without funds: what restores them pays for them.
    pub owed: u32,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    info: Binary,
    counted: u64,
    look: Option<u64>,
    hit: bool,
    changed: u64,
    marks: Vec<Mark>,
    owed: u32,
}

impl Record {
    pub(crate) fn id(&self) -> TimerId {
        TimerId::new(self.info.id.clone()).expect("id")
    }

    /// Who pays.
    pub(crate) fn payer(&self) -> Addr {
        let info = &self.info;
        let payer = [&info.status.fee_payer, &info.scheduler, &info.actor].into_iter().find(|a| !a.is_empty());
        Addr::unchecked(payer.expect("actor"))
    }

    /// Who scheduled it.
    pub(crate) fn principal(&self) -> &str {
        if self.info.scheduler.is_empty() {
            &self.info.actor
        } else {
            &self.info.scheduler
        }
    }

    pub(crate) fn expired_at(&self, now: Moment) -> bool {
        recur::expired(&self.info, now)
    }

    /// The time for which it waits; 0 if it waits for none.
    pub(crate) fn waits_until(&self) -> i64 {
        match self.info.status.hold_reason {
            HoldReason::Timed => self.info.status.due_time,
            _ => 0,
        }
    }

    /// Whether its time is still to come.
    pub(crate) fn waits_for_time(&self, time: i64) -> bool {
        recur::by_time(&self.info) && self.info.status.due_time > time
    }

    /// Notes watched keys that it will deliver, as many as fit, each once.
    pub(crate) fn notice(&mut self, keys: Vec<WatchedKey>) {
        for key in keys {
            let matched = &mut self.info.status.matched;
            if matched.len() < MAX_MATCHED_KEYS as usize && !matched.contains(&key) {
                matched.push(key);
            }
            self.hit = true;
        }
    }

    /// What it had noticed is delivered, or gone.
    pub(crate) fn drop_hit(&mut self) {
        self.info.status.matched.clear();
        (self.hit, self.changed) = (false, 0);
    }

    /// What it had noticed is delivered once more. Its lateness counts from then.
    pub(crate) fn keep_hit(&mut self, before: &Record) {
        self.info.status.matched.clone_from(&before.info.status.matched);
        (self.hit, self.changed) = (before.hit, 0);
    }

    pub(crate) fn in_queue(&self) -> bool {
        self.info.status.hold_reason == HoldReason::Unspecified
    }

    /// Whether it is due and can fire.
    pub(crate) fn ready_at(&self, now: Moment) -> bool {
        self.in_queue() && self.info.status.due <= now.height && !self.expired_at(now)
    }

    pub(crate) fn save(&self, storage: &mut dyn Storage) {
        let stored = Stored {
            info: self.info.to_info().encode(),
            counted: self.info.counted,
            look: self.info.look,
            hit: self.hit,
            changed: self.changed,
            marks: self.marks.clone(),
            owed: self.owed,
        };
        storage.set(&key(&[TIMER, self.info.id.as_bytes()]), &to_json_vec(&stored).expect("timer"));
    }

    pub(crate) fn remove(&self, storage: &mut dyn Storage) {
        storage.remove(&key(&[TIMER, self.info.id.as_bytes()]));
    }

    fn read(bytes: &[u8]) -> Record {
        let Stored { info, counted, look, hit, changed, marks, owed } = from_json(bytes).expect("timer");
        let TimerInfo { id, actor, scheduler, spec, mut status, .. } = TimerInfo::decode(&info).expect("timer");
        if let Some(status) = &mut status {
            // It is computed where it is told.
            status.left = 0;
        }
        let (spec, status) = (spec.unwrap_or_default(), status.unwrap_or_default());
        let info = Timer { id, actor, scheduler, spec, status, counted, look };
        Record { info, hit, changed, marks, owed }
    }

    /// The timer with this id.
    pub(crate) fn load(storage: &dyn Storage, id: &str) -> Option<Record> {
        storage.get(&key(&[TIMER, id.as_bytes()])).map(|bytes| Record::read(&bytes))
    }

    /// All live timers, by (due, seq).
    pub(crate) fn all(storage: &dyn Storage) -> Vec<Record> {
        let mut all: Vec<Record> = entries(storage, &key(&[TIMER])).map(|(_, value)| Record::read(&value)).collect();
        all.sort_by_key(|r| (r.info.status.due, r.info.status.seq));
        all
    }

    /// The live timers of an actor.
    pub(crate) fn of(storage: &dyn Storage, actor: &str) -> Vec<Record> {
        Record::all(storage).into_iter().filter(|r| r.info.actor == actor).collect()
    }

    /// The timer of an actor to which a scheduler has given a name, and which can still fire.
    pub(crate) fn with_name(
        storage: &dyn Storage,
        now: Moment,
        (actor, scheduler): (&str, &str),
        name: &str,
    ) -> AnyResult<Record> {
        let named = |r: &Record| r.info.spec.name == name && r.principal() == scheduler && !r.expired_at(now);
        let found = Record::of(storage, actor).into_iter().find(named);
        found.ok_or_else(|| TimersError::TimerNotFound.into())
    }

    /// The timer of an actor whose id begins with these digits.
    pub(crate) fn named(storage: &dyn Storage, actor: &str, digits: &str) -> AnyResult<Record> {
        let digit = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
        if digits.is_empty() || digits.len() > 64 || !digits.bytes().all(digit) {
            return Err(TimersError::InvalidTimerID.into());
        }
        let mut found: Vec<Record> =
            Record::of(storage, actor).into_iter().filter(|r| r.info.id.starts_with(digits)).collect();
        match found.len() {
            0 => Err(TimersError::TimerNotFound.into()),
            1 => Ok(found.remove(0)),
            _ => Err(TimersError::AmbiguousTimerID.into()),
        }
    }
}

/// The entries whose keys begin with a prefix.
pub(crate) fn entries<'a>(
    storage: &'a dyn Storage,
    prefix: &[u8],
) -> Box<dyn Iterator<Item = (Vec<u8>, Vec<u8>)> + 'a> {
    let prefix = prefix.to_vec();
    let length = prefix.len();
    Box::new(
        storage
            .range(Some(&prefix.clone()), None, Order::Ascending)
            .take_while(move |(key, _)| key.starts_with(&prefix))
            .map(move |(key, value)| (key[length..].to_vec(), value)),
    )
}

pub(crate) fn agent(storage: &dyn Storage, actor: &str) -> String {
    storage.get(&key(&[AGENT, actor.as_bytes()])).map_or_else(String::new, |b| String::from_utf8(b).expect("agent"))
}

pub(crate) fn set_agent(storage: &mut dyn Storage, actor: &str, agent: &str) {
    let key = key(&[AGENT, actor.as_bytes()]);
    if agent.is_empty() {
        storage.remove(&key);
    } else {
        storage.set(&key, agent.as_bytes());
    }
}

/// Keeps the receipt of the n-th delivery of a block.
pub(crate) fn keep_receipt(storage: &mut dyn Storage, n: u32, delivery: &DeliveryInfo) {
    storage.set(&key(&[RECEIPT, &delivery.height.to_be_bytes(), &n.to_be_bytes()]), &delivery.encode());
}

/// Removes the receipts of the heights below one.
pub(crate) fn prune_receipts(storage: &mut dyn Storage, from: u64) {
    let old: Vec<Vec<u8>> = entries(storage, &key(&[RECEIPT]))
        .map(|(key, _)| key)
        .take_while(|key| key[..8] < from.to_be_bytes()[..])
        .collect();
    for rest in old {
        storage.remove(&key(&[RECEIPT, &rest]));
    }
}

/// All receipts that are kept, the oldest first.
pub(crate) fn receipts(storage: &dyn Storage) -> Vec<DeliveryInfo> {
    entries(storage, &key(&[RECEIPT])).map(|(_, value)| DeliveryInfo::decode(&value).expect("receipt")).collect()
}

/// Why occurrences passed without a fire, by the chain's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Reason {
    /// Their window had ended.
    Window,
    /// A later one fired in their place.
    Later,
    /// The owner skipped them.
    Requested,
    /// The payer lacked funds.
    Unfunded,
    /// They came while the timer was on hold.
    Paused,
    /// A retry would have come too late.
    Retry,
    /// The owner gave the timer another trigger, which does not have them.
    Updated,
}

/// Occurrences of a timer that passed without a fire, all from the first to the last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Skipped {
    /// The timer.
    pub timer: TimerId,
    /// The first, in seconds since 1970 or as a height.
    pub first: u64,
    /// The last.
    pub last: u64,
    /// How many; of a cron rule's 16 or more, 16.
    pub count: u64,
    /// Why.
    pub reason: Reason,
}

/// Notes occurrences that passed, until the block ends.
pub(crate) fn note_passed(storage: &mut dyn Storage, id: &str, passed: &[Passing]) {
    if passed.is_empty() {
        return;
    }
    let timer = TimerId::new(id.to_string()).expect("id");
    let mut all = peek_passed(storage);
    for Passing { passed: Passed { first, last, count }, reason } in passed.iter().cloned() {
        all.push(Skipped { timer: timer.clone(), first, last, count, reason });
    }
    storage.set(&key(&[PASSED]), &to_json_vec(&all).expect("skipped"));
}

fn peek_passed(storage: &dyn Storage) -> Vec<Skipped> {
    storage.get(&key(&[PASSED])).map_or_else(Vec::new, |b| from_json(b).expect("skipped"))
}

/// What was noted in this block.
pub(crate) fn take_passed(storage: &mut dyn Storage) -> Vec<Skipped> {
    let all = peek_passed(storage);
    storage.remove(&key(&[PASSED]));
    all
}
