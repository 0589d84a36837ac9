//! The crate's messages against `proto/timers`: names, numbers and types.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use cw_timers::proto::{self, FieldInfo, FieldType, Message};
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorProto};

/// Messages and enums of the chain that contracts neither send nor are answered with. Those of package `timers.v1` are
/// named without it.
const NOT_COVERED: &[&str] = &[
    // The authority's.
    "MsgSysCancelTimer",
    "MsgSysCancelTimerResponse",
    "MsgUpdateTimerConfig",
    "MsgUpdateTimerConfigResponse",
    "MsgSysExtendTimer",
    "MsgSysExtendTimerResponse",
    "MsgSysReleaseTimer",
    "MsgSysReleaseTimerResponse",
    // Queries that are not open to contracts.
    "QueryDueRequest",
    "QueryDueResponse",
    "QueryReadyRequest",
    "QueryReadyResponse",
    "QueryFairnessRequest",
    "QueryFairnessResponse",
    "timers.tip.v1.Standing",
    "QueryOnHoldRequest",
    "QueryOnHoldResponse",
    "QueryReceiptsRequest",
    "QueryReceiptsResponse",
    "QueryWatchableRequest",
    "QueryWatchableResponse",
    "WatchableStore",
    "WatchForm",
    "QueryWatchKeyRequest",
    "QueryWatchKeyResponse",
    "QueryWatchesRequest",
    "QueryWatchesResponse",
    "WatchInfo",
    // What the chain keeps in state.
    "WatchValue",
    "WatchSegment",
    "WatchHit",
    "WatchChange",
    "WatchRound",
    "WatchPending",
    "WatchCursors",
    "WatchTombstone",
    "WatchCount",
    "WatchNote",
    "Timer",
    "AgentQuote",
    "QueueKey",
    "LaneState",
    "LanePause",
    "timers.agent.v1.ActorAgent",
    "timers.agent.v1.DefaultAgents",
    "timers.agent.v1.State",
    "timers.auction.v1.State",
    "timers.score.v1.State",
    "timers.tip.v1.ActorWeight",
    "timers.tip.v1.State",
    "timers.tip.v1.Weight",
    "timers.tip.v1.Weights",
    "FairnessState",
    "BlockFires",
    "UnitFires",
    "Receipt",
];

/// Fields that the crate leaves out of messages that it has.
const FIELDS_NOT_COVERED: &[(&str, &str)] = &[];

/// Files whose messages are not the concern of contracts: events, and the genesis.
const FILES_NOT_COVERED: &[&str] = &["events.proto", "genesis.proto"];

/// Packages whose messages are not the concern of contracts: x/authz's authorizations, and how a chain wires the module.
const PACKAGES_NOT_COVERED: &[&str] = &["authz", "module"];

fn proto_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../proto/timers")
}

/// The directories of `timers.v1` and of the policies' packages.
fn packages() -> Vec<PathBuf> {
    let mut packages = vec![proto_dir().join("v1")];
    for entry in fs::read_dir(proto_dir()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        if name != "v1" && !PACKAGES_NOT_COVERED.contains(&name.as_str()) {
            packages.push(path.join("v1"));
        }
    }
    packages
}

/// What a message or an enum of a file is called here: its full name, without `timers.v1`.
fn name_here(file: &FileDescriptorProto, name: &str) -> String {
    match file.package() {
        "timers.v1" => name.to_string(),
        package => format!("{package}.{name}"),
    }
}

fn files() -> BTreeMap<String, FileDescriptorProto> {
    let mut files = BTreeMap::new();
    for entry in packages().iter().flat_map(|dir| fs::read_dir(dir).unwrap()) {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        if name.ends_with(".proto") && !FILES_NOT_COVERED.contains(&name.as_str()) {
            let parsed = protox_parse::parse(&name, &fs::read_to_string(&path).unwrap()).unwrap();
            files.insert(name, parsed);
        }
    }
    files
}

/// The types of fields as descriptions have them.
fn type_of(package: &str, field: &FieldDescriptorProto) -> String {
    match field.r#type.and_then(|t| Type::try_from(t).ok()) {
        Some(Type::String) => "string".into(),
        Some(Type::Bytes) => "bytes".into(),
        Some(Type::Uint64) => "uint64".into(),
        Some(Type::Uint32) => "uint32".into(),
        Some(Type::Int64) => "int64".into(),
        Some(Type::Int32) => "int32".into(),
        Some(Type::Bool) => "bool".into(),
        Some(Type::Message | Type::Enum) | None => {
            let name = field.type_name().trim_start_matches('.');
            if name.contains('.') {
                name.into()
            } else {
                format!("{package}.{name}")
            }
        }
        Some(other) => panic!("field {} has type {other:?}, which this test does not know", field.name()),
    }
}

/// A full name as [`name_here`] has it.
fn short(name: &'static str) -> &'static str {
    name.strip_prefix("timers.v1.").unwrap_or(name)
}

type Described = BTreeMap<&'static str, &'static [FieldInfo]>;

macro_rules! described {
    ($($name:ident)*) => {
        BTreeMap::from([$( (short(<proto::$name as Message>::NAME), <proto::$name as Message>::FIELDS), )*])
    };
}

fn messages() -> Described {
    described! {
        Trigger IntervalTrigger Retry Outcome WatchTrigger WatchKey WatchCondition WatchedKey Bid StaticBid AccountPayload
        MsgScheduleTimer MsgScheduleTimerResponse TimerSpec TimerCall MsgUpdateTimer MsgUpdateTimerResponse MsgExtendTimer
        MsgExtendTimerResponse MsgPauseTimer MsgPauseTimerResponse MsgResumeTimer MsgResumeTimerResponse MsgCancelTimer
        MsgCancelTimerResponse MsgSetAgent MsgSetAgentResponse MsgSkipTimer MsgSkipTimerResponse MsgRunTimer
        MsgRunTimerResponse CalendarTrigger EveryRule CronRule OffsetTransition Repeat Recurrence Renewal ErrorCode
        TimerInfo TimerStatus Opcodes QueryParamsRequest QueryParamsResponse QueryTimerRequest QueryTimerResponse
        QueryTimersByActorRequest QueryTimersByActorResponse QueryLaneRequest QueryLaneResponse QueryAgentRequest
        QueryAgentResponse QueryEstimateRequest QueryEstimateResponse ReceiptInfo QueryDeliveriesRequest
        QueryDeliveriesResponse DeliveryInfo QueryOccurrencesRequest QueryOccurrencesResponse
        OccurrenceInfo
        PriorityTiers TimerConfig Eip1559Params AgentParams AuctionParams AuctionStanding ScoreParams TipParams
    }
}

fn enums() -> BTreeMap<&'static str, &'static [(i32, &'static str)]> {
    macro_rules! values {
        ($($name:ident)*) => { BTreeMap::from([$( (short(proto::$name::NAME), proto::$name::VALUES), )*]) };
    }
    values! {
        OnFailure OnUnfunded ConditionOp TimerTier PriorityTier HoldReason TimerPhase EstimateBasis Policy
        BasefeeResponse FairnessUnit PaymentRule Missed IntervalFrom ResumeAt Verdict
    }
}

/// What differs between a message of the chain and the crate's description of it.
fn differences(package: &str, message: &DescriptorProto, fields: &[FieldInfo]) -> Vec<String> {
    let name = message.name();
    let chain: BTreeMap<i32, (String, String, bool)> = message
        .field
        .iter()
        .filter(|f| !FIELDS_NOT_COVERED.contains(&(name, f.name())))
        .map(|f| (f.number(), (f.name().to_string(), type_of(package, f), f.label() == Label::Repeated)))
        .collect();
    let crate_: BTreeMap<i32, (String, String, bool)> =
        fields.iter().map(|f| (f.number as i32, (f.name.to_string(), f.ty.name.to_string(), f.ty.repeated))).collect();
    let mut out = Vec::new();
    for number in chain.keys().chain(crate_.keys()).collect::<BTreeSet<_>>() {
        if chain.get(number) != crate_.get(number) {
            out.push(format!("{name}, field {number}: chain {:?}, crate {:?}", chain.get(number), crate_.get(number)));
        }
    }
    out
}

#[test]
fn messages_are_those_of_the_chain() {
    let covered = messages();
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    for file in files().values() {
        for message in &file.message_type {
            let name = &*name_here(file, message.name());
            seen.insert(name.to_string());
            match covered.get(name) {
                Some(fields) => wrong.extend(differences(file.package(), message, fields)),
                None if NOT_COVERED.contains(&name) => {}
                None => wrong.push(format!("{name} is neither covered nor listed as not covered")),
            }
            if covered.contains_key(name) && NOT_COVERED.contains(&name) {
                wrong.push(format!("{name} is covered, and listed as not covered"));
            }
        }
    }
    for name in covered.keys().copied().chain(NOT_COVERED.iter().copied()) {
        if !seen.contains(name) {
            wrong.push(format!("the chain has no message {name}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn enums_are_those_of_the_chain() {
    let covered = enums();
    let mut seen = BTreeSet::new();
    for file in files().values() {
        for chain in &file.enum_type {
            let name = &*name_here(file, chain.name());
            let values: Vec<(i32, &str)> = chain.value.iter().map(|v| (v.number(), v.name())).collect();
            assert_eq!(covered.get(name).map(|v| v.to_vec()), Some(values), "{name}");
            seen.insert(name.to_string());
        }
    }
    assert_eq!(seen.len(), covered.len());
}

#[test]
fn fields_that_are_left_out_exist() {
    let files = files();
    for (message, field) in FIELDS_NOT_COVERED {
        let found = files
            .values()
            .flat_map(|f| &f.message_type)
            .any(|m| m.name() == *message && m.field.iter().any(|f| f.name() == *field));
        assert!(found, "{message}.{field}");
    }
}

#[test]
fn queries_are_those_of_the_service() {
    use cw_timers::Request;
    let files = files();
    let service = &files["query.proto"].service[0];
    let paths: BTreeSet<String> = service.method.iter().map(|m| format!("/timers.v1.Query/{}", m.name())).collect();
    for path in [
        proto::QueryTimerRequest::PATH,
        proto::QueryTimersByActorRequest::PATH,
        proto::QueryDeliveriesRequest::PATH,
        proto::QueryAgentRequest::PATH,
        proto::QueryLaneRequest::PATH,
        proto::QueryEstimateRequest::PATH,
        proto::QueryParamsRequest::PATH,
        proto::QueryOccurrencesRequest::PATH,
    ] {
        assert!(paths.contains(path), "{path}");
    }
}

/// The check itself: each of these changes must be seen.
#[test]
fn a_difference_is_seen() {
    let files = files();
    let find = |name: &str| files.values().flat_map(|f| &f.message_type).find(|m| m.name() == name).unwrap();
    let chain = find("MsgExtendTimer");
    let fields = <proto::MsgExtendTimer as Message>::FIELDS;
    assert_eq!(differences("timers.v1", chain, fields), Vec::<String>::new());

    let missing = &fields[..fields.len() - 1];
    let mut renumbered = fields.to_vec();
    renumbered[1].number = 9;
    let mut renamed = fields.to_vec();
    renamed[1].name = "ids";
    let mut retyped = fields.to_vec();
    retyped[1].ty = FieldType { name: "bytes", repeated: false };
    let mut repeated = fields.to_vec();
    repeated[1].ty = FieldType { name: "string", repeated: true };
    let mut more = fields.to_vec();
    more.push(FieldInfo { number: 99, name: "more", ty: FieldType { name: "bool", repeated: false } });
    for changed in [missing, &renumbered, &renamed, &retyped, &repeated, &more] {
        assert!(!differences("timers.v1", chain, changed).is_empty(), "{changed:?}");
    }
}
