use cosmwasm_std::{Binary, CanonicalAddr};

use crate::proto;

/// What makes a timer due. Later versions of the chain have more kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trigger {
    /// Once, at a height above the current one.
    Height(u64),
    /// Once, so many blocks after the one that schedules it.
    After(u64),
    /// Again and again.
    Interval(Interval),
    /// When watched state changes.
    Watch(Watch),
}

impl From<Interval> for Trigger {
    fn from(interval: Interval) -> Self {
        Trigger::Interval(interval)
    }
}

impl From<Watch> for Trigger {
    fn from(watch: Watch) -> Self {
        Trigger::Watch(watch)
    }
}

impl From<Trigger> for proto::Trigger {
    fn from(trigger: Trigger) -> Self {
        let mut out = proto::Trigger::default();
        match trigger {
            Trigger::Height(height) => out.height = height,
            Trigger::After(blocks) => out.after = blocks,
            Trigger::Interval(interval) => out.interval = Some(interval.0),
            Trigger::Watch(watch) => out.watch = Some(watch.0),
        }
        out
    }
}

/// An interval: due every so many blocks after a fire. A late fire delays the next.
///
/// ```
/// # use cw_timers::{Interval, Timer};
/// let timer = Timer::on(Interval::every(100).first(500).remaining(12).stop_on_failure());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interval(proto::IntervalTrigger);

impl Interval {
    /// Due so many blocks after now, and then after each fire, until the timer expires.
    pub fn every(blocks: u64) -> Self {
        Interval(proto::IntervalTrigger { every: blocks, ..Default::default() })
    }

    /// The height at which it is due first.
    #[must_use]
    pub fn first(mut self, height: u64) -> Self {
        self.0.first = height;
        self
    }

    /// How many repetitions there are; 0, the default, is until the timer expires. The retries of one are no repetitions.
    #[must_use]
    pub fn remaining(mut self, repetitions: u64) -> Self {
        self.0.remaining = repetitions;
        self
    }

    /// A repetition that fails, its retries included, ends the timer. Without this it goes on.
    #[must_use]
    pub fn stop_on_failure(mut self) -> Self {
        self.0.on_failure = proto::OnFailure::Stop;
        self
    }
}

/// A watch: due in the block whose transactions change watched state. What changes in one block is one fire.
///
/// ```
/// # use cosmwasm_std::CanonicalAddr;
/// # use cw_timers::{Condition, Timer, Watch, WatchKey};
/// # let pool = CanonicalAddr::from([7u8; 32]);
/// // Once, when the price that a pool stores at "price" falls below 100.
/// let timer = Timer::on(Watch::key(WatchKey::contract_key(&pool, b"price").when(Condition::Less("100".into()))));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watch(proto::WatchTrigger);

impl Watch {
    /// Watches one key, for one fire.
    pub fn key(key: WatchKey) -> Self {
        Watch::keys([key])
    }

    /// Watches several keys, for one fire. A change of any of them makes the timer due.
    pub fn keys(keys: impl IntoIterator<Item = WatchKey>) -> Self {
        let keys = keys.into_iter().map(|key| key.0).collect();
        Watch(proto::WatchTrigger { keys, remaining: 1, ..Default::default() })
    }

    /// How many fires there are; 0 is until the timer expires.
    #[must_use]
    pub fn remaining(mut self, fires: u64) -> Self {
        self.0.remaining = fires;
        self
    }

    /// The least distance in blocks from a fire to the next block whose changes count.
    #[must_use]
    pub fn cooldown(mut self, blocks: u64) -> Self {
        self.0.cooldown = blocks;
        self
    }
}

/// What is watched: a key of a store, or all keys with a prefix. Which stores can be watched is the chain's choice; timerd
/// has the storage of contracts, and balances.
///
/// Addresses are canonical: `deps.api.addr_canonicalize(address)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchKey(proto::WatchKey);

/// The regions of x/wasm's store.
const CONTRACT_INFO: u8 = 0x02;
const CONTRACT_STORAGE: u8 = 0x03;
/// The regions of x/bank's store.
const SUPPLY: u8 = 0x00;
const BALANCES: u8 = 0x02;

impl WatchKey {
    /// A key of any store, or a prefix of keys, of a form that the chain has declared for that store.
    pub fn raw(store: impl Into<String>, prefix: impl Into<Binary>) -> Self {
        WatchKey(proto::WatchKey { store: store.into(), prefix: prefix.into(), when: None })
    }

    fn wasm(region: u8, contract: &CanonicalAddr, key: &[u8]) -> Self {
        WatchKey::raw("wasm", [&[region], contract.as_slice(), key].concat())
    }

    fn bank(region: u8, address: &CanonicalAddr, denom: &str) -> Self {
        // An address has at most 255 bytes, which are preceded by their number.
        let length = address.as_slice().len() as u8;
        WatchKey::raw("bank", [&[region, length], address.as_slice(), denom.as_bytes()].concat())
    }

    /// One key of a contract's storage. With cw-storage-plus, an item's key is `ITEM.as_slice()`, and a map's entry is at
    /// `&*MAP.key(k)`.
    pub fn contract_key(contract: &CanonicalAddr, key: &[u8]) -> Self {
        WatchKey::wasm(CONTRACT_STORAGE, contract, key)
    }

    /// All that a contract stores.
    pub fn contract(contract: &CanonicalAddr) -> Self {
        WatchKey::wasm(CONTRACT_STORAGE, contract, &[])
    }

    /// Which code and admin a contract has.
    pub fn contract_info(contract: &CanonicalAddr) -> Self {
        WatchKey::wasm(CONTRACT_INFO, contract, &[])
    }

    /// The balance of an address in one denom.
    pub fn balance(address: &CanonicalAddr, denom: &str) -> Self {
        WatchKey::bank(BALANCES, address, denom)
    }

    /// All balances of an address.
    pub fn balances(address: &CanonicalAddr) -> Self {
        WatchKey::bank(BALANCES, address, "")
    }

    /// The supply of a denom.
    pub fn supply(denom: &str) -> Self {
        WatchKey::raw("bank", [&[SUPPLY], denom.as_bytes()].concat())
    }

    /// Only a change that makes a condition true makes the timer due. The key must be one whole key.
    #[must_use]
    pub fn when(mut self, condition: Condition) -> Self {
        let (op, value) = match condition {
            Condition::Exists => (proto::ConditionOp::Exists, String::new()),
            Condition::Absent => (proto::ConditionOp::Absent, String::new()),
            Condition::Equal(value) => (proto::ConditionOp::Equal, value),
            Condition::Less(value) => (proto::ConditionOp::Less, value),
            Condition::LessOrEqual(value) => (proto::ConditionOp::LessOrEqual, value),
            Condition::Greater(value) => (proto::ConditionOp::Greater, value),
            Condition::GreaterOrEqual(value) => (proto::ConditionOp::GreaterOrEqual, value),
        };
        self.0.when = Some(proto::WatchCondition { op, value });
        self
    }
}

/// A condition on the value of a key. Values are decimal numbers such as `1000000` or `-0.5`, or bytes: as text, or after
/// `0x` in hexadecimal. A value has at most 64 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Condition {
    /// The key is there.
    Exists,
    /// The key is not there.
    Absent,
    /// Its value is equal.
    Equal(String),
    /// Its value is less.
    Less(String),
    /// Its value is less or equal.
    LessOrEqual(String),
    /// Its value is greater.
    Greater(String),
    /// Its value is greater or equal.
    GreaterOrEqual(String),
}
