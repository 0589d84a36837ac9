//! What a CosmWasm contract needs of its host, without crates: regions of memory, storage, queries, JSON, base64, and as
//! much of protobuf as the timers' messages take. Real contracts use cosmwasm-std; this exists so that the tests' contracts
//! build byte for byte with one compiler and nothing else.

#![allow(dead_code)]

use std::fmt::Write;

// ---- host

#[repr(C)]
struct Region {
    offset: u32,
    capacity: u32,
    length: u32,
}

extern "C" {
    fn db_read(key: u32) -> u32;
    fn db_write(key: u32, value: u32);
    fn query_chain(request: u32) -> u32;
}

#[no_mangle]
extern "C" fn interface_version_8() {}

#[no_mangle]
extern "C" fn allocate(size: u32) -> u32 {
    release(Vec::with_capacity(size as usize))
}

#[no_mangle]
unsafe extern "C" fn deallocate(pointer: u32) {
    drop(consume(pointer));
}

/// Hands bytes to the host, which frees them.
fn release(mut bytes: Vec<u8>) -> u32 {
    let region = Region { offset: bytes.as_mut_ptr() as u32, capacity: bytes.capacity() as u32, length: bytes.len() as u32 };
    std::mem::forget(bytes);
    Box::into_raw(Box::new(region)) as u32
}

/// Takes over bytes that the host handed in.
unsafe fn consume(pointer: u32) -> Vec<u8> {
    let region = Box::from_raw(pointer as *mut Region);
    Vec::from_raw_parts(region.offset as *mut u8, region.length as usize, region.capacity as usize)
}

fn lend(bytes: &[u8]) -> Region {
    Region { offset: bytes.as_ptr() as u32, capacity: bytes.len() as u32, length: bytes.len() as u32 }
}

pub fn read(key: &[u8]) -> Option<Vec<u8>> {
    match unsafe { db_read(&lend(key) as *const Region as u32) } {
        0 => None,
        found => Some(unsafe { consume(found) }),
    }
}

pub fn write(key: &[u8], value: &[u8]) {
    let (key, value) = (lend(key), lend(value));
    unsafe { db_write(&key as *const Region as u32, &value as *const Region as u32) }
}

pub fn read_text(key: &str) -> String {
    read(key.as_bytes()).map(|b| String::from_utf8_lossy(&b).into_owned()).unwrap_or_default()
}

pub fn read_u64(key: &str) -> u64 {
    read_text(key).parse().unwrap_or(0)
}

pub fn write_u64(key: &str, value: u64) {
    write(key.as_bytes(), value.to_string().as_bytes());
}

/// Asks the chain; the request is JSON, and so is the answer.
pub fn ask(request: &str) -> Result<Json, String> {
    let answer = unsafe { consume(query_chain(&lend(request.as_bytes()) as *const Region as u32)) };
    let answer = parse(&answer)?;
    match answer.get("ok").get("ok") {
        Json::Text(encoded) => parse(&base64_decode(encoded)?),
        _ => Err(format!("the query failed: {}", answer.show())),
    }
}

// ---- entry points

pub type Outcome = Result<Response, String>;

/// What a contract returns: messages for the chain, attributes of its event, data for its caller.
#[derive(Default)]
pub struct Response {
    messages: Vec<String>,
    attributes: Vec<(String, String)>,
}

impl Response {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn attribute(mut self, key: &str, value: impl ToString) -> Self {
        self.attributes.push((key.to_string(), value.to_string()));
        self
    }

    /// Adds a message whose failure fails the call, and of whose success nothing is heard.
    pub fn message(self, msg: &str) -> Self {
        self.submessage(0, msg, "never", None)
    }

    /// Adds each message of a list, as `message` does.
    pub fn messages(self, list: &Json) -> Self {
        list.items().iter().fold(self, |response, msg| response.message(&msg.show()))
    }

    /// Adds a message, of whose end `reply` hears: on "success", on "error", "always" or "never".
    pub fn submessage(mut self, id: u64, msg: &str, reply_on: &str, gas_limit: Option<u64>) -> Self {
        let gas = gas_limit.map_or("null".to_string(), |g| g.to_string());
        self.messages.push(format!(r#"{{"id":{id},"msg":{msg},"gas_limit":{gas},"reply_on":"{reply_on}"}}"#));
        self
    }

    fn encode(&self) -> String {
        let mut attributes = String::new();
        for (key, value) in &self.attributes {
            if !attributes.is_empty() {
                attributes.push(',');
            }
            let _ = write!(attributes, r#"{{"key":{},"value":{}}}"#, quote(key), quote(value));
        }
        let messages = self.messages.join(",");
        format!(r#"{{"ok":{{"messages":[{messages}],"attributes":[{attributes}],"events":[],"data":null}}}}"#)
    }
}

pub fn finish(outcome: Outcome) -> u32 {
    let text = match outcome {
        Ok(response) => response.encode(),
        Err(reason) => format!(r#"{{"error":{}}}"#, quote(&reason)),
    };
    release(text.into_bytes())
}

pub fn finish_query(answer: Result<String, String>) -> u32 {
    let text = match answer {
        Ok(answer) => format!(r#"{{"ok":"{}"}}"#, base64_encode(answer.as_bytes())),
        Err(reason) => format!(r#"{{"error":{}}}"#, quote(&reason)),
    };
    release(text.into_bytes())
}

pub unsafe fn take(pointer: u32) -> Json {
    parse(&consume(pointer)).unwrap_or(Json::Null)
}

/// Exports the functions of a contract that others call, under the names and with the signatures that the host knows.
#[macro_export]
macro_rules! calls {
    () => {
        #[no_mangle]
        unsafe extern "C" fn instantiate(env: u32, info: u32, msg: u32) -> u32 {
            cw::finish(super_instantiate(&cw::take(env), &cw::take(info), &cw::take(msg)))
        }
        #[no_mangle]
        unsafe extern "C" fn execute(env: u32, info: u32, msg: u32) -> u32 {
            cw::finish(super_execute(&cw::take(env), &cw::take(info), &cw::take(msg)))
        }
        #[no_mangle]
        unsafe extern "C" fn query(env: u32, msg: u32) -> u32 {
            cw::finish_query(super_query(&cw::take(env), &cw::take(msg)))
        }
        /// It returns protobuf messages.
        #[no_mangle]
        extern "C" fn requires_stargate() {}
    };
}

/// Exports a contract that also has sudo, reply and migrate, for a chain with timers.
#[macro_export]
macro_rules! entry_points {
    () => {
        calls!();
        #[no_mangle]
        unsafe extern "C" fn sudo(env: u32, msg: u32) -> u32 {
            cw::finish(super_sudo(&cw::take(env), &cw::take(msg)))
        }
        #[no_mangle]
        unsafe extern "C" fn reply(env: u32, msg: u32) -> u32 {
            cw::finish(super_reply(&cw::take(env), &cw::take(msg)))
        }
        #[no_mangle]
        unsafe extern "C" fn migrate(env: u32, msg: u32) -> u32 {
            cw::finish(super_migrate(&cw::take(env), &cw::take(msg)))
        }
        #[no_mangle]
        extern "C" fn requires_timers() {}
    };
}

// ---- JSON

/// A JSON value. Numbers are those that the host sends: natural ones.
pub enum Json {
    Null,
    Bool(bool),
    Number(u128),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

static NULL: Json = Json::Null;

impl Json {
    /// A member of an object; null if there is none.
    pub fn get(&self, name: &str) -> &Json {
        match self {
            Json::Object(members) => members.iter().find(|(n, _)| n == name).map_or(&NULL, |(_, v)| v),
            _ => &NULL,
        }
    }

    /// The only member of an object, as messages have it: what is called, and with what.
    pub fn call(&self) -> (&str, &Json) {
        match self {
            Json::Object(members) if members.len() == 1 => (&members[0].0, &members[0].1),
            _ => ("", &NULL),
        }
    }

    pub fn items(&self) -> &[Json] {
        match self {
            Json::List(items) => items,
            _ => &[],
        }
    }

    pub fn first(&self) -> &Json {
        self.items().first().unwrap_or(&NULL)
    }

    pub fn text(&self) -> &str {
        match self {
            Json::Text(t) => t,
            _ => "",
        }
    }

    pub fn is_null(&self) -> bool {
        matches!(self, Json::Null)
    }

    pub fn is_true(&self) -> bool {
        matches!(self, Json::Bool(true))
    }

    /// A natural number, also one that is written as text.
    pub fn number(&self) -> Option<u64> {
        match self {
            Json::Number(n) => u64::try_from(*n).ok(),
            Json::Text(t) => t.parse().ok(),
            _ => None,
        }
    }

    pub fn show(&self) -> String {
        match self {
            Json::Null => "null".to_string(),
            Json::Bool(b) => b.to_string(),
            Json::Number(n) => n.to_string(),
            Json::Text(t) => quote(t),
            Json::List(items) => format!("[{}]", items.iter().map(Json::show).collect::<Vec<_>>().join(",")),
            Json::Object(members) => {
                let members: Vec<_> = members.iter().map(|(n, v)| format!("{}:{}", quote(n), v.show())).collect();
                format!("{{{}}}", members.join(","))
            }
        }
    }
}

pub fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if (c as u32) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

pub fn parse(input: &[u8]) -> Result<Json, String> {
    let mut parser = Parser { input, at: 0 };
    let value = parser.value(32)?;
    parser.space();
    if parser.at != input.len() {
        return Err(format!("JSON: something follows at {}", parser.at));
    }
    Ok(value)
}

struct Parser<'a> {
    input: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.input.get(self.at).copied()
    }

    fn expect(&mut self, word: &[u8]) -> Result<(), String> {
        if self.input[self.at..].starts_with(word) {
            self.at += word.len();
            return Ok(());
        }
        Err(format!("JSON: unexpected at {}", self.at))
    }

    fn value(&mut self, depth: u32) -> Result<Json, String> {
        if depth == 0 {
            return Err("JSON: too deep".to_string());
        }
        self.space();
        match self.peek() {
            Some(b'n') => self.expect(b"null").map(|_| Json::Null),
            Some(b't') => self.expect(b"true").map(|_| Json::Bool(true)),
            Some(b'f') => self.expect(b"false").map(|_| Json::Bool(false)),
            Some(b'"') => self.string().map(Json::Text),
            Some(b'0'..=b'9') => self.natural(),
            Some(b'[') => self.list(depth),
            Some(b'{') => self.object(depth),
            _ => Err(format!("JSON: unexpected at {}", self.at)),
        }
    }

    fn natural(&mut self) -> Result<Json, String> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        let digits = String::from_utf8_lossy(&self.input[start..self.at]);
        digits.parse().map(Json::Number).map_err(|_| "JSON: number too large".to_string())
    }

    fn list(&mut self, depth: u32) -> Result<Json, String> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.space();
            match self.peek() {
                Some(b']') => break,
                Some(b',') if !items.is_empty() => self.at += 1,
                _ if items.is_empty() => {}
                _ => return Err(format!("JSON: unexpected at {}", self.at)),
            }
            items.push(self.value(depth - 1)?);
        }
        self.at += 1;
        Ok(Json::List(items))
    }

    fn object(&mut self, depth: u32) -> Result<Json, String> {
        self.at += 1;
        let mut members = Vec::new();
        loop {
            self.space();
            match self.peek() {
                Some(b'}') => break,
                Some(b',') if !members.is_empty() => self.at += 1,
                _ if members.is_empty() => {}
                _ => return Err(format!("JSON: unexpected at {}", self.at)),
            }
            self.space();
            let name = self.string()?;
            self.space();
            self.expect(b":")?;
            members.push((name, self.value(depth - 1)?));
        }
        self.at += 1;
        Ok(Json::Object(members))
    }

    fn string(&mut self) -> Result<String, String> {
        self.expect(b"\"")?;
        let mut out = Vec::new();
        loop {
            let c = self.peek().ok_or("JSON: unended string")?;
            self.at += 1;
            match c {
                b'"' => return String::from_utf8(out).map_err(|_| "JSON: not UTF-8".to_string()),
                b'\\' => out.extend(self.escape()?.to_string().bytes()),
                c => out.push(c),
            }
        }
    }

    fn escape(&mut self) -> Result<char, String> {
        let c = self.peek().ok_or("JSON: unended string")?;
        self.at += 1;
        Ok(match c {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'u' => {
                let digits = self.input.get(self.at..self.at + 4).ok_or("JSON: unended escape")?;
                self.at += 4;
                let code = u32::from_str_radix(&String::from_utf8_lossy(digits), 16).map_err(|_| "JSON: bad escape")?;
                char::from_u32(code).unwrap_or('\u{fffd}')
            }
            c => c as char,
        })
    }
}

// ---- base64

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub fn base64_encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() / 3 * 4 + 4);
    for chunk in bytes.chunks(3) {
        let mut word = 0u32;
        for i in 0..3 {
            word = word << 8 | u32::from(chunk.get(i).copied().unwrap_or(0));
        }
        for i in 0..4 {
            let digit = ALPHABET[(word >> (18 - 6 * i) & 63) as usize] as char;
            out.push(if i <= chunk.len() { digit } else { '=' });
        }
    }
    out
}

pub fn base64_decode(text: &str) -> Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut word, mut bits) = (0u32, 0);
    for c in text.bytes().filter(|c| *c != b'=') {
        let digit = ALPHABET.iter().position(|a| *a == c).ok_or("base64: unexpected character")?;
        word = (word << 6 | digit as u32) & 0xfff;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push((word >> bits) as u8);
        }
    }
    Ok(out)
}

// ---- protobuf

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn field_number(out: &mut Vec<u8>, field: u64, value: u64) {
    if value != 0 {
        varint(out, field << 3);
        varint(out, value);
    }
}

fn field_bytes(out: &mut Vec<u8>, field: u64, value: &[u8]) {
    if !value.is_empty() {
        varint(out, field << 3 | 2);
        varint(out, value.len() as u64);
        out.extend_from_slice(value);
    }
}

/// The string in field 1 of a message whose only field it is, such as timers.v1.MsgScheduleTimerResponse.
pub fn only_string(message: &[u8]) -> Option<String> {
    match message {
        [0x0a, length, rest @ ..] if rest.len() == *length as usize => String::from_utf8(rest.to_vec()).ok(),
        _ => None,
    }
}

// ---- timers

pub struct Schedule<'a> {
    pub height: u64,
    pub handler: &'a str,
    pub payload: &'a [u8],
    pub gas_limit: u64,
}

impl Schedule<'_> {
    /// The message as a protobuf Any, which every chain with the module takes.
    pub fn any(&self, sender: &str) -> String {
        let mut trigger = Vec::new();
        field_number(&mut trigger, 1, self.height);
        let mut msg = Vec::new();
        field_bytes(&mut msg, 1, sender.as_bytes());
        field_bytes(&mut msg, 2, &trigger);
        field_bytes(&mut msg, 3, self.handler.as_bytes());
        field_bytes(&mut msg, 4, self.payload);
        field_number(&mut msg, 6, self.gas_limit);
        any("/timers.v1.MsgScheduleTimer", &msg)
    }

    /// The message as JSON, which a chain takes that has the timers' binding.
    pub fn custom(&self) -> String {
        custom(&format!(
            r#"{{"schedule":{{"trigger":{{"height":{}}},"handler":{},"payload":"{}","gas_limit":{}}}}}"#,
            self.height,
            quote(self.handler),
            base64_encode(self.payload),
            self.gas_limit,
        ))
    }
}

/// MsgCancelTimer as a protobuf Any.
pub fn cancel_any(sender: &str, id: &str) -> String {
    let mut msg = Vec::new();
    field_bytes(&mut msg, 1, sender.as_bytes());
    field_bytes(&mut msg, 2, id.as_bytes());
    any("/timers.v1.MsgCancelTimer", &msg)
}

/// MsgSetAgent as a protobuf Any.
pub fn set_agent_any(sender: &str, agent: &str) -> String {
    let mut msg = Vec::new();
    field_bytes(&mut msg, 1, sender.as_bytes());
    field_bytes(&mut msg, 2, agent.as_bytes());
    any("/timers.v1.MsgSetAgent", &msg)
}

/// MsgExtendTimer as a protobuf Any.
pub fn extend_any(sender: &str, id: &str, expires_at: u64) -> String {
    let mut msg = Vec::new();
    field_bytes(&mut msg, 1, sender.as_bytes());
    field_bytes(&mut msg, 2, id.as_bytes());
    field_number(&mut msg, 3, expires_at);
    any("/timers.v1.MsgExtendTimer", &msg)
}

/// MsgUpdateTimer, of the gas limit alone, as a protobuf Any.
pub fn update_any(sender: &str, id: &str, gas_limit: u64) -> String {
    let mut msg = Vec::new();
    field_bytes(&mut msg, 1, sender.as_bytes());
    field_bytes(&mut msg, 2, id.as_bytes());
    field_number(&mut msg, 4, gas_limit);
    any("/timers.v1.MsgUpdateTimer", &msg)
}

fn any(url: &str, msg: &[u8]) -> String {
    format!(r#"{{"any":{{"type_url":"{url}","value":"{}"}}}}"#, base64_encode(msg))
}

/// A message in the timers' JSON binding.
pub fn custom(timers: &str) -> String {
    format!(r#"{{"custom":{{"timers":{timers}}}}}"#)
}

/// A call of a contract, without funds.
pub fn execute_msg(contract: &str, msg: &str) -> String {
    let msg = base64_encode(msg.as_bytes());
    format!(r#"{{"wasm":{{"execute":{{"contract_addr":"{contract}","msg":"{msg}","funds":[]}}}}}}"#)
}
