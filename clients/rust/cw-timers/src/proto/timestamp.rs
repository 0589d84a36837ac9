use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use crate::date::{date_of, day_number, days_in, Date};
use crate::describe::{Element, Field, FieldInfo, Message};
use crate::wire::{DecodeError, Value};

/// An instant: `google.protobuf.Timestamp`. In JSON it is a text such as `2026-03-01T09:00:00Z`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamp {
    /// Seconds since 1970.
    pub seconds: i64,
    /// Billionths of a second. A trigger has none.
    pub nanos: i32,
}

impl Timestamp {
    /// A whole second since 1970.
    pub const fn from_seconds(seconds: i64) -> Self {
        Timestamp { seconds, nanos: 0 }
    }
}

impl Message for Timestamp {
    const NAME: &'static str = "google.protobuf.Timestamp";
    const FIELDS: &'static [FieldInfo] = &[
        FieldInfo { number: 1, name: "seconds", ty: <i64 as Field>::TYPE },
        FieldInfo { number: 2, name: "nanos", ty: <i32 as Field>::TYPE },
    ];
    fn encode_to(&self, out: &mut Vec<u8>) {
        self.seconds.put(1, out);
        self.nanos.put(2, out);
    }
    fn merge_field(&mut self, number: u32, value: Value<'_>) -> Result<(), DecodeError> {
        match number {
            1 => self.seconds.take(value),
            2 => self.nanos.take(value),
            _ => Ok(()),
        }
    }
}

impl Element for Timestamp {
    const NAME: &'static str = <Timestamp as Message>::NAME;
    fn put_element(&self, number: u32, out: &mut Vec<u8>) {
        crate::wire::put_element(out, number, &self.encode());
    }
    fn take_element(value: Value<'_>) -> Result<Self, DecodeError> {
        Timestamp::decode(value.bytes()?)
    }
}

const DAY: i64 = 24 * 60 * 60;
/// 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z: JSON has no other instants.
const SECONDS: core::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        if !SECONDS.contains(&self.seconds) || !(0..1_000_000_000).contains(&self.nanos) {
            return Err(serde::ser::Error::custom("a time outside of the years 1 to 9999"));
        }
        let Date { year, month, day } = date_of(self.seconds.div_euclid(DAY));
        let of_day = self.seconds.rem_euclid(DAY);
        let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
        let mut text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
        if self.nanos != 0 {
            text.push_str(&format!(".{:09}", self.nanos));
        }
        text.push('Z');
        s.serialize_str(&text)
    }
}

/// The number that a text of digits alone is.
fn digits(text: Option<&str>) -> Option<i64> {
    let text = text.filter(|t| t.bytes().all(|c| c.is_ascii_digit()))?;
    text.parse().ok()
}

/// Reads `2026-03-01T09:00:00Z`, with at most nine digits of a fraction of a second. Chains write times in UTC.
fn parse(text: &str) -> Option<Timestamp> {
    let (whole, fraction) = match text.strip_suffix('Z')?.split_once('.') {
        Some((whole, fraction)) => (whole, fraction),
        None => (text.strip_suffix('Z')?, "0"),
    };
    let bytes = whole.as_bytes();
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if bytes.len() != 19 || marks.iter().any(|(at, mark)| bytes[*at] != *mark) {
        return None;
    }
    let part = |from: usize, to: usize| digits(whole.get(from..to));
    let (year, month, day) = (part(0, 4)?, part(5, 7)?, part(8, 10)?);
    let (hour, minute, second) = (part(11, 13)?, part(14, 16)?, part(17, 19)?);
    let in_order = year >= 1 && (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day);
    if !in_order || hour > 23 || minute > 59 || second > 59 || fraction.is_empty() || fraction.len() > 9 {
        return None;
    }
    let scale = 10i64.pow(9 - fraction.len() as u32);
    let nanos = i32::try_from(digits(Some(fraction))? * scale).ok()?;
    let seconds = day_number(Date { year, month, day }) * DAY + hour * 3_600 + minute * 60 + second;
    Some(Timestamp { seconds, nanos })
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        parse(&text).ok_or_else(|| de::Error::custom("want a time such as 2026-03-01T09:00:00Z"))
    }
}
