//! What watches see: the storage of contracts and balances, read where cw-multi-test keeps them.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use cosmwasm_std::{from_json, Api, Binary, CanonicalAddr, Coin, Storage};
use cw_multi_test::error::AnyResult;
use cw_timers::proto::{ConditionOp, Message, WatchCondition, WatchKey, WatchTrigger, WatchedKey};
use cw_timers::TimersError;

use crate::store::{entries, Mark};

const CONTRACT_STORAGE: u8 = 0x03;
const BALANCES: u8 = 0x02;
const CONTRACT_ADDRESS: usize = 32;
/// The chain's bound of the conditions of a timer.
const MAX_ONLY_IF: usize = 2;

/// What a watch can name in the model.
enum Place {
    /// A contract and the beginning of its keys.
    Contract(CanonicalAddr, Vec<u8>),
    /// An address and a denom; all denoms if it is empty.
    Balance(CanonicalAddr, String),
}

fn place(key: &WatchKey) -> Option<Place> {
    let bytes = key.prefix.as_slice();
    match (key.store.as_str(), bytes.first()) {
        ("wasm", Some(&CONTRACT_STORAGE)) if bytes.len() > CONTRACT_ADDRESS => {
            let (address, rest) = bytes[1..].split_at(CONTRACT_ADDRESS);
            Some(Place::Contract(CanonicalAddr::from(address), rest.to_vec()))
        }
        ("bank", Some(&BALANCES)) => {
            let length = usize::from(*bytes.get(1)?);
            let address = bytes.get(2..2 + length)?;
            Some(Place::Balance(CanonicalAddr::from(address), String::from_utf8(bytes[2 + length..].to_vec()).ok()?))
        }
        _ => None,
    }
}

/// Checks a watch as the chain does when it is scheduled.
pub(crate) fn check(watch: &WatchTrigger, most: u32, max_ttl_blocks: u64) -> AnyResult<()> {
    let level = watch.level && (watch.cooldown == 0 || conditions(watch) == 0);
    if watch.keys.is_empty() || watch.keys.len() > most as usize || watch.cooldown > max_ttl_blocks || level {
        return Err(TimersError::InvalidWatch.into());
    }
    for (i, key) in watch.keys.iter().enumerate() {
        check_key(key)?;
        if watch.keys[..i].iter().any(|other| (&other.store, &other.prefix) == (&key.store, &key.prefix)) {
            return Err(TimersError::InvalidWatch.into());
        }
    }
    Ok(())
}

/// Checks the conditions of a fire.
pub(crate) fn check_only_if(conditions: &[WatchKey]) -> AnyResult<()> {
    if conditions.len() > MAX_ONLY_IF || conditions.iter().any(|key| key.when.is_none()) {
        return Err(TimersError::InvalidOnlyIf.into());
    }
    conditions.iter().try_for_each(check_key)
}

fn check_key(key: &WatchKey) -> AnyResult<()> {
    match key.store.as_str() {
        "wasm" | "bank" => {}
        "staking" => panic!("cw-timers-test watches contracts' storage and balances; not the store {}", key.store),
        _ => return Err(TimersError::NotWatchable.into()),
    }
    let Some(place) = place(key) else {
        let region = key.prefix.first();
        if key.store == "wasm" && region == Some(&0x02) || key.store == "bank" && region == Some(&0x00) {
            panic!("cw-timers-test watches contracts' storage and balances; not the info of contracts, nor supplies");
        }
        return Err(TimersError::NotWatchable.into());
    };
    if let Some(when) = &key.when {
        let whole = match &place {
            Place::Contract(_, key) => !key.is_empty(),
            Place::Balance(_, denom) => !denom.is_empty(),
        };
        if !whole || !sound(when) {
            return Err(TimersError::InvalidWatch.into());
        }
    }
    Ok(())
}

/// The value of a whole key, and whether its condition holds of it.
pub(crate) fn condition(storage: &dyn Storage, api: &dyn Api, key: &WatchKey) -> (Option<Binary>, bool) {
    let value = read(storage, api, key).into_iter().next().map(|mark| mark.value);
    let met = key.when.as_ref().is_none_or(|when| holds(when, key.store == "bank", value.as_deref()));
    (value, met)
}

fn sound(when: &WatchCondition) -> bool {
    match when.op {
        ConditionOp::Exists | ConditionOp::Absent => when.value.is_empty(),
        ConditionOp::Equal if when.value.starts_with("0x") => bytes_of(&when.value).is_some(),
        ConditionOp::Equal
        | ConditionOp::Less
        | ConditionOp::LessOrEqual
        | ConditionOp::Greater
        | ConditionOp::GreaterOrEqual => when.value.len() <= 64 && Number::parse(&when.value).is_some(),
        _ => false,
    }
}

fn bytes_of(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("0x")?;
    if digits.is_empty() || digits.len() % 2 != 0 || !digits.is_ascii() {
        return None;
    }
    (0..digits.len()).step_by(2).map(|i| u8::from_str_radix(&digits[i..i + 2], 16).ok()).collect()
}

/// A decimal number of any length: its sign, and its digits before and behind the point without zeros at the ends.
#[derive(Debug, PartialEq, Eq)]
struct Number {
    negative: bool,
    whole: String,
    part: String,
}

impl Number {
    fn parse(text: &str) -> Option<Number> {
        let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (whole, part) = match digits.split_once('.') {
            Some((whole, part)) if !part.is_empty() => (whole, part),
            Some(_) => return None,
            None => (digits, ""),
        };
        let numeric = |t: &str| t.bytes().all(|c| c.is_ascii_digit());
        if whole.is_empty() || !numeric(whole) || !numeric(part) || whole.len() + part.len() > 78 {
            return None;
        }
        let whole = whole.trim_start_matches('0').to_string();
        let part = part.trim_end_matches('0').to_string();
        let zero = whole.is_empty() && part.is_empty();
        Some(Number { negative: negative && !zero, whole, part })
    }

    fn cmp(&self, other: &Number) -> Ordering {
        match (self.negative, other.negative) {
            (false, true) => return Ordering::Greater,
            (true, false) => return Ordering::Less,
            _ => {}
        }
        let size = self
            .whole
            .len()
            .cmp(&other.whole.len())
            .then_with(|| self.whole.cmp(&other.whole))
            .then_with(|| self.part.cmp(&other.part));
        if self.negative {
            size.reverse()
        } else {
            size
        }
    }
}

/// What a contract stores as a number: digits, in quotes or not.
fn json_number(value: &[u8]) -> Option<Number> {
    let text = core::str::from_utf8(value).ok()?;
    let text = text.strip_prefix('"').map_or(Some(text), |rest| rest.strip_suffix('"'))?;
    Number::parse(text)
}

/// Whether a condition is true of a value; `None` is a key that is not there.
fn holds(when: &WatchCondition, bank: bool, value: Option<&[u8]>) -> bool {
    let zero = b"0".as_slice();
    // A balance that is not there is 0.
    let number = || match value {
        None if bank => json_number(zero),
        None => None,
        Some(value) => json_number(value),
    };
    let compared = |wanted: &[Ordering]| match (number(), Number::parse(&when.value)) {
        (Some(number), Some(stated)) => wanted.contains(&number.cmp(&stated)),
        _ => false,
    };
    match when.op {
        ConditionOp::Exists => value.is_some(),
        ConditionOp::Absent => value.is_none(),
        ConditionOp::Equal => match bytes_of(&when.value) {
            Some(bytes) => value == Some(bytes.as_slice()),
            None => compared(&[Ordering::Equal]),
        },
        ConditionOp::Less => compared(&[Ordering::Less]),
        ConditionOp::LessOrEqual => compared(&[Ordering::Less, Ordering::Equal]),
        ConditionOp::Greater => compared(&[Ordering::Greater]),
        ConditionOp::GreaterOrEqual => compared(&[Ordering::Greater, Ordering::Equal]),
        _ => false,
    }
}

fn namespace(names: &[&[u8]]) -> Vec<u8> {
    names.iter().flat_map(|name| [&(name.len() as u16).to_be_bytes()[..], name].concat()).collect()
}

/// What a watched key, or each key of a watched prefix, holds.
pub(crate) fn read(storage: &dyn Storage, api: &dyn Api, key: &WatchKey) -> Vec<Mark> {
    let mark = |rest: &[u8], skip: usize, value: Vec<u8>| {
        let whole = [&key.prefix.as_slice()[..key.prefix.len() - skip], rest].concat();
        Mark { store: key.store.clone(), key: whole.into(), value: value.into() }
    };
    match place(key) {
        Some(Place::Contract(address, own)) => {
            let Ok(address) = api.addr_humanize(&address) else { return Vec::new() };
            let data = [b"contract_data/", address.as_bytes()].concat();
            let prefix = namespace(&[b"wasm", &data]);
            if own.is_empty() {
                return entries(storage, &prefix).map(|(rest, value)| mark(&rest, 0, value)).collect();
            }
            // A key that is stated is one whole key.
            let value = storage.get(&[prefix, own].concat());
            value.into_iter().map(|value| mark(&[], 0, value)).collect()
        }
        Some(Place::Balance(address, denom)) => {
            let Ok(address) = api.addr_humanize(&address) else { return Vec::new() };
            let at = [namespace(&[b"bank", b"balances"]), address.as_bytes().to_vec()].concat();
            let coins: Vec<Coin> = storage.get(&at).map_or_else(Vec::new, |b| from_json(b).expect("balance"));
            coins
                .into_iter()
                .filter(|coin| denom.is_empty() || coin.denom == denom)
                .filter(|coin| !coin.amount.is_zero())
                .map(|coin| mark(coin.denom.as_bytes(), denom.len(), coin.amount.to_string().into_bytes()))
                .collect()
        }
        None => Vec::new(),
    }
}

/// What all keys of a watch hold.
pub(crate) fn marks(storage: &dyn Storage, api: &dyn Api, watch: &WatchTrigger) -> Vec<Mark> {
    let mut out: Vec<Mark> = watch.keys.iter().flat_map(|key| read(storage, api, key)).collect();
    out.sort_by(|a, b| (&a.store, &a.key).cmp(&(&b.store, &b.key)));
    out.dedup();
    out
}

type Values<'a> = BTreeMap<(&'a str, &'a [u8]), &'a [u8]>;

fn values(marks: &[Mark]) -> Values<'_> {
    marks.iter().map(|m| ((m.store.as_str(), m.key.as_slice()), m.value.as_slice())).collect()
}

fn watched_key(store: &str, key: &[u8]) -> WatchedKey {
    WatchedKey::with(|w| (w.store, w.key) = (store.to_string(), key.into()))
}

/// The keys that a watch states without a condition, or as a prefix, and that changed from one collection to the next.
pub(crate) fn changed(watch: &WatchTrigger, before: &[Mark], now: &[Mark]) -> Vec<WatchedKey> {
    let (before, now) = (values(before), values(now));
    let places: BTreeSet<_> = before.keys().chain(now.keys()).copied().collect();
    let watched = |(store, key): (&str, &[u8])| {
        let names = |k: &WatchKey| k.when.is_none() && k.store == store && key.starts_with(k.prefix.as_slice());
        watch.keys.iter().any(names)
    };
    let changed = |place: &(&str, &[u8])| watched(*place) && before.get(place) != now.get(place);
    places.into_iter().filter(changed).map(|(store, key)| watched_key(store, key)).collect()
}

/// The keys of a watch whose conditions hold.
pub(crate) fn holding(watch: &WatchTrigger, marks: &[Mark]) -> Vec<WatchedKey> {
    let values = values(marks);
    let holds = |key: &&WatchKey| {
        let value = values.get(&(key.store.as_str(), key.prefix.as_slice())).copied();
        key.when.as_ref().is_some_and(|when| holds(when, key.store == "bank", value))
    };
    watch.keys.iter().filter(holds).map(|key| watched_key(&key.store, &key.prefix)).collect()
}

/// The keys of a watch whose conditions hold, and did not at the collection before.
pub(crate) fn became_true(watch: &WatchTrigger, before: &[Mark], now: &[Mark]) -> Vec<WatchedKey> {
    let held = holding(watch, before);
    holding(watch, now).into_iter().filter(|key| !held.contains(key)).collect()
}

/// How many conditions a watch states.
pub(crate) fn conditions(watch: &WatchTrigger) -> u64 {
    watch.keys.iter().filter(|key| key.when.is_some()).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_as_such() {
        let n = |t: &str| Number::parse(t).unwrap();
        for (a, b, want) in [
            ("9", "10", Ordering::Less),
            ("-9", "-10", Ordering::Greater),
            ("-1", "1", Ordering::Less),
            ("007", "7.0", Ordering::Equal),
            ("0.10", "0.09", Ordering::Greater),
            ("-0", "0", Ordering::Equal),
            ("1.5", "1.49999", Ordering::Greater),
        ] {
            assert_eq!(n(a).cmp(&n(b)), want, "{a} {b}");
            assert_eq!(n(b).cmp(&n(a)), want.reverse(), "{b} {a}");
        }
        for text in ["", "-", "1.", ".5", "1e3", "many", "+1", &"1".repeat(79)] {
            assert_eq!(Number::parse(text), None, "{text}");
        }
    }

    #[test]
    fn conditions_of_values() {
        let when = |op, value: &str| WatchCondition::with(|w| (w.op, w.value) = (op, value.to_string()));
        use ConditionOp::*;
        for (when, bank, value, want) in [
            (when(Exists, ""), false, Some(&b""[..]), true),
            (when(Absent, ""), false, None, true),
            (when(Equal, "100"), false, Some(b"\"100\""), true),
            (when(Equal, "0x6162"), false, Some(b"ab"), true),
            (when(Equal, "0x6162"), false, Some(b"abc"), false),
            (when(Less, "1"), true, None, true),
            (when(Less, "1"), false, None, false),
            (when(GreaterOrEqual, "3"), false, Some(b"3"), true),
            (when(Greater, "3"), false, Some(b"3"), false),
            (when(LessOrEqual, "3"), false, Some(b"{\"n\":1}"), false),
            (when(Unspecified, ""), false, Some(b"3"), false),
        ] {
            assert_eq!(holds(&when, bank, value), want, "{when:?} {value:?}");
        }
    }
}
