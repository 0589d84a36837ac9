//! The chain's vectors of messages and events, which the Go module and the TypeScript client read too.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use cosmwasm_std::{from_json, to_json_string};
use cw_timers::proto::{self, Message};
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, EnumDescriptorProto, FileDescriptorProto};
use serde::de::DeserializeOwned;
use serde::Serialize;
use serde_json::Value;

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn vectors(path: &str) -> Vec<Value> {
    serde_json::from_str(&fs::read_to_string(root().join(path)).unwrap()).unwrap()
}

fn hex(text: &Value) -> Vec<u8> {
    let text = text.as_str().unwrap();
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
}

/// The fields of a message whose fields are all delimited by their length, as those of a transaction are up to its messages.
fn delimited(mut bytes: &[u8]) -> Vec<(u64, &[u8])> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let (mut value, mut shift) = (0, 0);
        loop {
            let (first, rest) = bytes.split_first().unwrap();
            *bytes = rest;
            value |= u64::from(first & 0x7f) << shift;
            shift += 7;
            if first & 0x80 == 0 {
                return value;
            }
        }
    }
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        assert_eq!(tag & 7, 2);
        let length = varint(&mut bytes) as usize;
        let (value, rest) = bytes.split_at(length);
        fields.push((tag >> 3, value));
        bytes = rest;
    }
    fields
}

fn field(fields: &[(u64, &[u8])], number: u64) -> Vec<u8> {
    fields.iter().find(|(n, _)| *n == number).map(|(_, value)| value.to_vec()).unwrap_or_default()
}

/// What CosmJS encoded is read whole: nothing is lost on the way to the crate's types, to JSON and back. It returns whether
/// there is a JSON form: messages of other modules within a timer have none.
fn holds<M: Message + Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(name: &str, bytes: &[u8]) -> bool {
    let message = M::decode(bytes).unwrap_or_else(|err| panic!("{name}: {err}"));
    let encoded = message.encode();
    // Fields may come in another order than those of another encoder.
    assert_eq!(encoded.len(), bytes.len(), "{name}");
    assert_eq!(M::decode(&encoded).unwrap(), message, "{name}");
    match to_json_string(&message) {
        Ok(text) => {
            assert_eq!(from_json::<M>(&text).unwrap(), message, "{name}: {text}");
            true
        }
        Err(err) => {
            assert!(err.to_string().contains("has no JSON form: send it as protobuf"), "{name}: {err}");
            false
        }
    }
}

#[test]
fn messages_are_read_whole() {
    let (mut held, mut without_json) = (BTreeSet::new(), Vec::new());
    for v in vectors("x/timers/types/testdata/cosmjs.json") {
        let (name, kind) = (v["name"].as_str().unwrap(), v["type"].as_str().unwrap());
        // TxRaw's body, its first message, and of that an Any's value.
        let body = field(&delimited(&hex(&v["direct_tx"])), 1);
        let any = field(&delimited(&body), 1);
        let parts = delimited(&any);
        assert_eq!(field(&parts, 1), format!("/{kind}").as_bytes(), "{name}");
        let value = field(&parts, 2);
        let has_json = match kind.trim_start_matches("timers.v1.") {
            "MsgScheduleTimer" => holds::<proto::MsgScheduleTimer>(name, &value),
            "MsgUpdateTimer" => holds::<proto::MsgUpdateTimer>(name, &value),
            "MsgExtendTimer" => holds::<proto::MsgExtendTimer>(name, &value),
            "MsgPauseTimer" => holds::<proto::MsgPauseTimer>(name, &value),
            "MsgResumeTimer" => holds::<proto::MsgResumeTimer>(name, &value),
            "MsgCancelTimer" => holds::<proto::MsgCancelTimer>(name, &value),
            "MsgSkipTimer" => holds::<proto::MsgSkipTimer>(name, &value),
            "MsgRunTimer" => holds::<proto::MsgRunTimer>(name, &value),
            "MsgSetAgent" => holds::<proto::MsgSetAgent>(name, &value),
            // The authority's, which no contract is.
            "MsgSysCancelTimer" | "MsgSysReleaseTimer" | "MsgSysExtendTimer" | "MsgUpdateTimerConfig" => continue,
            other => panic!("{name} is a {other}, which this test does not know"),
        };
        if !has_json {
            without_json.push(name.to_string());
        }
        held.insert(kind.to_string());
    }
    assert_eq!(held.len(), 9, "{held:?}");
    assert_eq!(without_json, ["messages", "update_messages"]);
}

struct Files {
    messages: BTreeMap<String, DescriptorProto>,
    enums: BTreeMap<String, EnumDescriptorProto>,
    events: BTreeSet<String>,
}

fn files() -> Files {
    let mut files = Files { messages: BTreeMap::new(), enums: BTreeMap::new(), events: BTreeSet::new() };
    for name in ["config.proto", "core.proto", "events.proto"] {
        let path = root().join("proto/timers/v1").join(name);
        let file: FileDescriptorProto = protox_parse::parse(name, &fs::read_to_string(path).unwrap()).unwrap();
        for message in file.message_type {
            if name == "events.proto" {
                files.events.insert(message.name().to_string());
            }
            files.messages.insert(message.name().to_string(), message);
        }
        files.enums.extend(file.enum_type.into_iter().map(|e| (e.name().to_string(), e)));
    }
    files
}

impl Files {
    /// Checks that JSON is what protobuf's JSON of a message is: all fields, of their types.
    fn check(&self, kind: &str, value: &BTreeMap<String, Value>) {
        let message = &self.messages[kind];
        let names: BTreeSet<_> = message.field.iter().map(|f| f.name()).collect();
        assert_eq!(value.keys().map(String::as_str).collect::<BTreeSet<_>>(), names, "{kind}");
        for field in &message.field {
            let value = &value[field.name()];
            let what = format!("{kind}.{} {value}", field.name());
            let values = match field.label() {
                Label::Repeated => value.as_array().unwrap_or_else(|| panic!("{what}")).clone(),
                _ => vec![value.clone()],
            };
            for value in values {
                self.check_field(&what, field.r#type.and_then(|t| Type::try_from(t).ok()), field.type_name(), &value);
            }
        }
    }

    fn check_field(&self, what: &str, kind: Option<Type>, type_name: &str, value: &Value) {
        let text = value.as_str();
        let right = match kind {
            Some(Type::String) => text.is_some(),
            Some(Type::Bool) => value.is_boolean(),
            Some(Type::Uint32) => value.as_u64().is_some_and(|n| u32::try_from(n).is_ok()),
            Some(Type::Uint64) => text.is_some_and(|t| t.parse::<u64>().is_ok()),
            Some(Type::Int64) => text.is_some_and(|t| t.parse::<i64>().is_ok()),
            Some(Type::Bytes) => from_json::<cosmwasm_std::Binary>(value.to_string()).is_ok(),
            _ => {
                let name = type_name.rsplit('.').next().unwrap();
                match (self.enums.get(name), value) {
                    (Some(values), _) => values.value.iter().any(|v| Some(v.name()) == text),
                    (None, Value::Object(fields)) => {
                        self.check(name, &fields.clone().into_iter().collect());
                        true
                    }
                    _ => false,
                }
            }
        };
        assert!(right, "{what}");
    }
}

/// The crate has no types of events, since contracts see none of a block's end. Who reads them in Rust reads JSON.
#[test]
fn events_are_what_their_descriptions_say() {
    let files = files();
    let mut held = BTreeSet::new();
    for v in vectors("x/timers/report/testdata/events.json") {
        let kind = v["type"].as_str().unwrap().trim_start_matches("timers.v1.").to_string();
        let attributes = v["attributes"].as_array().unwrap().iter();
        let attributes = attributes.map(|a| {
            (a[0].as_str().unwrap().to_string(), serde_json::from_str::<Value>(a[1].as_str().unwrap()).unwrap())
        });
        files.check(&kind, &attributes.collect());
        held.insert(kind);
    }
    let events: BTreeSet<_> = files.events.iter().filter(|name| name.starts_with("Timer")).cloned().collect();
    assert_eq!(held, events);
}
