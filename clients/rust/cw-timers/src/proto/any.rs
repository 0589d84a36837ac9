use cosmwasm_std::{from_json, to_json_vec, AnyMsg, Binary, Coin, StdResult};
use serde::de::{self, Deserialize, DeserializeOwned, Deserializer};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use crate::describe::{Element, Field, FieldType, Message};
use crate::wire::{self, DecodeError, Value};

/// JSON without floats: what a message within a message is written as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer of 64 bits.
    Number(i128),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Json>),
    /// An object, whose members keep their order.
    Object(Vec<(String, Json)>),
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Json::Null => s.serialize_unit(),
            Json::Bool(b) => s.serialize_bool(*b),
            Json::Number(n) => match (u64::try_from(*n), i64::try_from(*n)) {
                (Ok(n), _) => s.serialize_u64(n),
                (_, Ok(n)) => s.serialize_i64(n),
                _ => Err(serde::ser::Error::custom("a number of more than 64 bits")),
            },
            Json::Text(t) => s.serialize_str(t),
            Json::List(items) => {
                let mut list = s.serialize_seq(Some(items.len()))?;
                for item in items {
                    list.serialize_element(item)?;
                }
                list.end()
            }
            Json::Object(members) => {
                let mut object = s.serialize_map(Some(members.len()))?;
                for (name, value) in members {
                    object.serialize_entry(name, value)?;
                }
                object.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Json;
            fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str("JSON without floats")
            }
            fn visit_unit<E>(self) -> Result<Json, E> {
                Ok(Json::Null)
            }
            fn visit_none<E>(self) -> Result<Json, E> {
                Ok(Json::Null)
            }
            fn visit_bool<E>(self, b: bool) -> Result<Json, E> {
                Ok(Json::Bool(b))
            }
            fn visit_u64<E>(self, n: u64) -> Result<Json, E> {
                Ok(Json::Number(i128::from(n)))
            }
            fn visit_i64<E>(self, n: i64) -> Result<Json, E> {
                Ok(Json::Number(i128::from(n)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Json, E> {
                Ok(Json::Text(text.to_string()))
            }
            fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<Json, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element()? {
                    items.push(item);
                }
                Ok(Json::List(items))
            }
            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry::<String, Json>()? {
                    members.push(member);
                }
                Ok(Json::Object(members))
            }
        }
        d.deserialize_any(Visitor)
    }
}

/// A message of any module of the chain: `google.protobuf.Any`.
///
/// A timer that states messages runs them as the contract. The functions here make the usual ones:
///
/// ```
/// # use cosmwasm_std::{coins, Addr};
/// # use cw_timers::proto::Any;
/// let me = Addr::unchecked("timer1contract");
/// let pay = Any::send(&me, "timer1merchant", &coins(5, "utmr"));
/// let call = Any::execute(&me, "timer1pool", &"rebalance", &[]).unwrap();
/// assert_eq!(pay.type_url, "/cosmos.bank.v1beta1.MsgSend");
/// assert_eq!(call.type_url, "/cosmwasm.wasm.v1.MsgExecuteContract");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Any {
    /// A slash and the message's full name.
    pub type_url: String,
    /// The encoded message. Empty in the JSON answer to a query, which has the message's members instead.
    pub value: Binary,
    /// The message as JSON, with the member `@type`. A message without it can be sent in protobuf only.
    pub json: Option<Json>,
}

impl From<AnyMsg> for Any {
    fn from(msg: AnyMsg) -> Self {
        Any { type_url: msg.type_url, value: msg.value, json: None }
    }
}

const SEND: &str = "/cosmos.bank.v1beta1.MsgSend";
const EXECUTE: &str = "/cosmwasm.wasm.v1.MsgExecuteContract";

fn take_coin(mut bytes: &[u8]) -> Option<Coin> {
    let mut coin = Coin::default();
    while let Some((number, value)) = wire::next_field(&mut bytes).ok()? {
        match number {
            1 => coin.denom = value.text().ok()?,
            2 => coin.amount = value.text().ok()?.parse().ok()?,
            _ => {}
        }
    }
    Some(coin)
}

fn text(name: &str, value: &str) -> (String, Json) {
    (name.to_string(), Json::Text(value.to_string()))
}

fn coins_json(coins: &[Coin]) -> Json {
    Json::List(
        coins
            .iter()
            .map(|coin| Json::Object(vec![text("denom", &coin.denom), text("amount", &coin.amount.to_string())]))
            .collect(),
    )
}

fn put_coins(out: &mut Vec<u8>, field: u32, coins: &[Coin]) {
    for coin in coins {
        let mut encoded = Vec::new();
        wire::put_bytes(&mut encoded, 1, coin.denom.as_bytes());
        wire::put_bytes(&mut encoded, 2, coin.amount.to_string().as_bytes());
        wire::put_element(out, field, &encoded);
    }
}

impl Any {
    /// A bank send. The chain wants the coins in the order of their denoms.
    pub fn send(from: impl AsRef<str>, to: impl AsRef<str>, amount: &[Coin]) -> Self {
        let mut value = Vec::new();
        wire::put_bytes(&mut value, 1, from.as_ref().as_bytes());
        wire::put_bytes(&mut value, 2, to.as_ref().as_bytes());
        put_coins(&mut value, 3, amount);
        let json = Json::Object(vec![
            text("@type", SEND),
            text("from_address", from.as_ref()),
            text("to_address", to.as_ref()),
            ("amount".to_string(), coins_json(amount)),
        ]);
        Any { type_url: SEND.to_string(), value: value.into(), json: Some(json) }
    }

    /// A call of a contract. The error is that of writing `msg` as JSON.
    pub fn execute<T: Serialize + ?Sized>(
        sender: impl AsRef<str>,
        contract: impl AsRef<str>,
        msg: &T,
        funds: &[Coin],
    ) -> StdResult<Self> {
        let msg = to_json_vec(msg)?;
        let mut value = Vec::new();
        wire::put_bytes(&mut value, 1, sender.as_ref().as_bytes());
        wire::put_bytes(&mut value, 2, contract.as_ref().as_bytes());
        wire::put_bytes(&mut value, 3, &msg);
        put_coins(&mut value, 5, funds);
        let json = from_json::<Json>(&msg).ok().map(|msg| {
            Json::Object(vec![
                text("@type", EXECUTE),
                text("sender", sender.as_ref()),
                text("contract", contract.as_ref()),
                ("msg".to_string(), msg),
                ("funds".to_string(), coins_json(funds)),
            ])
        });
        Ok(Any { type_url: EXECUTE.to_string(), value: value.into(), json })
    }

    /// The receiver and the coins of a bank send; `None` if it is no such message.
    pub fn to_send(&self) -> Option<(String, Vec<Coin>)> {
        if self.type_url != SEND {
            return None;
        }
        let (mut to, mut amount) = (String::new(), Vec::new());
        let mut bytes = self.value.as_slice();
        while let Some((number, value)) = wire::next_field(&mut bytes).ok()? {
            match number {
                2 => to = value.text().ok()?,
                3 => amount.push(take_coin(value.bytes().ok()?)?),
                _ => {}
            }
        }
        Some((to, amount))
    }

    /// The contract, the message and the funds of a call; `None` if it is no such message.
    pub fn to_execute(&self) -> Option<(String, Binary, Vec<Coin>)> {
        if self.type_url != EXECUTE {
            return None;
        }
        let (mut contract, mut msg, mut funds) = (String::new(), Binary::default(), Vec::new());
        let mut bytes = self.value.as_slice();
        while let Some((number, value)) = wire::next_field(&mut bytes).ok()? {
            match number {
                2 => contract = value.text().ok()?,
                3 => msg = value.binary().ok()?,
                5 => funds.push(take_coin(value.bytes().ok()?)?),
                _ => {}
            }
        }
        Some((contract, msg, funds))
    }

    fn merge(&mut self, value: Value<'_>) -> Result<(), DecodeError> {
        let mut bytes = value.bytes()?;
        while let Some((number, value)) = wire::next_field(&mut bytes)? {
            match number {
                1 => self.type_url = value.text()?,
                2 => self.value = value.binary()?,
                _ => {}
            }
        }
        Ok(())
    }

    /// The message within, from the wire or from JSON; `None` if it is another message, or none can be read.
    ///
    /// ```
    /// # use cw_timers::proto::{Any, AuctionStanding, Message};
    /// let standing = AuctionStanding::with(|s| s.lambda = "0.01".to_string());
    /// assert_eq!(Any::from(standing.to_any()).to_message(), Some(standing));
    /// ```
    pub fn to_message<M: Message + DeserializeOwned>(&self) -> Option<M> {
        if self.type_url.strip_prefix('/') != Some(M::NAME) {
            return None;
        }
        match &self.json {
            // The member `@type` is none of the message's, and passed over.
            Some(json) if self.value.is_empty() => from_json(to_json_vec(json).ok()?).ok(),
            _ => M::decode(&self.value).ok(),
        }
    }

    /// Any message of this module, such as one that cancels another timer. It has to state its sender.
    pub fn timers<M: Message + Serialize>(msg: &M) -> Self {
        let AnyMsg { type_url, value } = msg.to_any();
        let json = match to_json_vec(msg).and_then(from_json::<Json>) {
            Ok(Json::Object(mut members)) => {
                members.insert(0, text("@type", &type_url));
                Some(Json::Object(members))
            }
            _ => None,
        };
        Any { type_url, value, json }
    }
}

impl Serialize for Any {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match &self.json {
            Some(json) => json.serialize(s),
            None => Err(serde::ser::Error::custom(format!("{} has no JSON form: send it as protobuf", self.type_url))),
        }
    }
}

impl<'de> Deserialize<'de> for Any {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let json = Json::deserialize(d)?;
        let url = match &json {
            Json::Object(members) => members.iter().find(|(name, _)| name == "@type"),
            _ => None,
        };
        match url {
            Some((_, Json::Text(url))) => Ok(Any { type_url: url.clone(), value: Binary::default(), json: Some(json) }),
            _ => Err(de::Error::custom("a message without its @type")),
        }
    }
}

impl Element for Any {
    const NAME: &'static str = "google.protobuf.Any";
    fn put_element(&self, number: u32, out: &mut Vec<u8>) {
        let mut encoded = Vec::new();
        wire::put_bytes(&mut encoded, 1, self.type_url.as_bytes());
        wire::put_bytes(&mut encoded, 2, &self.value);
        wire::put_element(out, number, &encoded);
    }
    fn take_element(value: Value<'_>) -> Result<Self, DecodeError> {
        let mut any = Any::default();
        any.merge(value)?;
        Ok(any)
    }
}

/// A message of any type within a message, which may be absent.
impl Field for Option<Any> {
    const TYPE: FieldType = FieldType { name: <Any as Element>::NAME, repeated: false };
    fn put(&self, number: u32, out: &mut Vec<u8>) {
        if let Some(any) = self {
            any.put_element(number, out);
        }
    }
    fn take(&mut self, value: Value<'_>) -> Result<(), DecodeError> {
        self.get_or_insert_with(Any::default).merge(value)
    }
    fn to_json<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        self.serialize(s)
    }
    fn from_json<'de, D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Option::deserialize(d)
    }
}
