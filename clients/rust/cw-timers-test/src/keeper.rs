//! The module's messages: each checked as the chain checks it, in the same order, so that the same error is returned.

use std::collections::BTreeSet;

use cosmwasm_std::{from_json, Addr, Api, Binary, Storage};
use cw_multi_test::error::AnyResult;
use cw_timers::proto::{
    self, AccountPayload, Any, HoldReason, Message, MsgExtendTimer, MsgExtendTimerResponse, MsgResumeTimer,
    MsgResumeTimerResponse, MsgRunTimer, MsgRunTimerResponse, MsgScheduleTimer, MsgSkipTimer, MsgSkipTimerResponse,
    MsgUpdateTimer, MsgUpdateTimerResponse, OnUnfunded, Repeat, ResumeAt, TimerCall, TimerSpec, Trigger,
};
use cw_timers::{TimersError, DEFAULT_HANDLER};
use serde::de::IgnoredAny;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::config::{Config, MAX_MESSAGES_BYTES, MAX_RETRIES};
use crate::recur::{self, refuse, Passing};
use crate::store::{self, Books, Mark, Moment, Record, Timer};
use crate::watch;

/// Who has granted whom a fee allowance for the module's messages.
pub(crate) type Grants = BTreeSet<(String, String)>;

/// What the chain knows of an actor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Actor {
    pub is_contract: bool,
    pub admin: Option<String>,
}

/// The module while a message runs.
pub(crate) struct Keeper<'a> {
    pub api: &'a dyn Api,
    pub storage: &'a mut dyn Storage,
    pub height: u64,
    /// Of the block, in whole seconds since 1970.
    pub time: i64,
    /// Whether a handler runs.
    pub in_fire: bool,
    pub config: &'a Config,
    pub grants: &'a Grants,
    /// Of the actor that the message concerns.
    pub actor: Actor,
}

/// What a timer does.
#[derive(Default)]
struct Call {
    handler: String,
    payload: Binary,
    messages: bool,
}

/// A payload that names its handler.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Envelope {
    #[serde(rename = "_handler")]
    handler: String,
    #[serde(rename = "_payload")]
    payload: Binary,
}

fn stated_call(call: &TimerCall) -> AnyResult<Call> {
    let TimerCall { handler, payload, messages, .. } = call;
    if messages.is_empty() {
        return Ok(Call { handler: handler.clone(), payload: payload.clone(), messages: false });
    }
    if !handler.is_empty() || !payload.is_empty() {
        return refuse(TimersError::AmbiguousCall, "messages are stated together with a handler or a payload");
    }
    let payload = AccountPayload::with(|p| p.messages.clone_from(messages)).encode();
    Ok(Call { handler: String::new(), payload, messages: true })
}

/// The messages of a payload.
pub(crate) fn messages_of(payload: &[u8]) -> AnyResult<Vec<Any>> {
    match AccountPayload::decode(payload) {
        Ok(decoded) if !decoded.messages.is_empty() => Ok(decoded.messages),
        _ => refuse(TimersError::InvalidPayload, "the payload is no encoded timers.v1.AccountPayload"),
    }
}

/// The name of a handler whose timer asks for the delivery too.
pub(crate) fn without_delivery(handler: &str) -> Option<&str> {
    handler.strip_suffix("+delivery")
}

fn is_handler_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|c| c == b'_' || c.is_ascii_alphabetic())
        && bytes.all(|c| c == b'_' || c.is_ascii_alphanumeric())
}

fn price(text: &str) -> AnyResult<()> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |t: &str| !t.is_empty() && t.bytes().all(|c| c.is_ascii_digit());
    let whole_value: Option<u128> = whole.parse().ok();
    // At most 10^18, as on chain.
    let bounded = match whole_value {
        Some(n) if n < 1_000_000_000_000_000_000 => true,
        Some(1_000_000_000_000_000_000) => part.bytes().all(|c| c == b'0'),
        _ => false,
    };
    if !digits(whole) || !digits(part) || part.len() > 18 || !bounded {
        return refuse(TimersError::InvalidBid, format!("{text} is no price"));
    }
    Ok(())
}

fn check_bid(bid: &Option<proto::Bid>) -> AnyResult<()> {
    let Some(bid) = bid else { return Ok(()) };
    let stated = [
        bid.r#static.is_some(),
        bid.tier != proto::PriorityTier::Unspecified,
        !bid.agent.is_empty(),
        !bid.price.is_empty(),
    ];
    if stated.iter().filter(|s| **s).count() > 1 {
        return refuse(TimersError::InvalidBid, "a bid is stated in more than one way");
    }
    if let Some(prices) = &bid.r#static {
        price(&prices.max_fee_per_cycle)?;
        price(&prices.max_priority_fee_per_cycle)?;
    }
    if !bid.price.bytes().all(|c| c.is_ascii_digit()) || bid.price.len() > 78 {
        return refuse(TimersError::InvalidBid, "the integer bid is no integer from 0");
    }
    Ok(())
}

/// What of a bid is kept under policy fifo: not the integer one, nor one that says nothing.
fn kept(bid: Option<proto::Bid>) -> Option<proto::Bid> {
    bid.filter(|b| b.price.is_empty() && *b != proto::Bid::default())
}

fn check_name(name: &str) -> AnyResult<()> {
    if name.len() > 64 || !name.bytes().all(|c| (b' '..=b'~').contains(&c) && c != b'/') {
        return refuse(TimersError::InvalidName, "want at most 64 printable ASCII characters, no slash");
    }
    if name.trim() != name || !name.is_empty() && name.bytes().all(|c| c.is_ascii_hexdigit()) {
        return refuse(TimersError::InvalidName, "want no space at an end, and more than hexadecimal digits");
    }
    Ok(())
}

/// An integer that is stated as text; empty or 0 is none.
fn stored_max_charge(text: &str) -> AnyResult<String> {
    if text.is_empty() {
        return Ok(String::new());
    }
    match text.parse::<u128>() {
        Ok(0) => Ok(String::new()),
        Ok(n) if n < 1 << 96 => Ok(n.to_string()),
        _ => refuse(TimersError::InvalidBid, format!("max_charge {text}, want an integer below 2^96")),
    }
}

impl Keeper<'_> {
    /// Schedules a timer, and returns its id.
    pub(crate) fn schedule(&mut self, sender: &Addr, msg: MsgScheduleTimer) -> AnyResult<String> {
        let actor = if msg.actor.is_empty() { sender.to_string() } else { msg.actor.clone() };
        let spec = msg.spec.unwrap_or_default();
        let call = stated_call(&spec.call.clone().unwrap_or_default())?;
        let mut timer = Timer { actor: actor.clone(), spec: recur::canonical(spec), ..Timer::default() };
        (timer.status.expires_at, timer.status.expires_time) = (timer.spec.expires_at, timer.spec.expires_time);
        timer.status.schedule_height = self.height;
        recur::prepare(self.config, &mut timer, self.now())?;
        self.check_options(&timer)?;
        recur::check_life(self.config, &mut timer, self.now())?;
        recur::note_life(&mut timer, self.now());
        self.set_limits(&mut timer, true, true)?;
        if actor != sender.as_str() {
            self.check_admin(sender, call.messages)?;
            timer.scheduler = sender.to_string();
        }
        let call = self.check_call(&actor, call)?;
        set_call(&mut timer, call);
        self.set_payer(&mut timer, sender)?;
        self.check_intrinsic(&timer)?;
        timer.spec.max_charge = stored_max_charge(&timer.spec.max_charge)?;
        check_name(&timer.spec.name)?;
        check_bid(&timer.spec.bid)?;
        timer.spec.bid = kept(timer.spec.bid.take());
        let limit = match timer.scheduler.is_empty() {
            true => self.config.max_timers_per_actor,
            false => self.config.max_timers_per_actor / 2,
        };
        if Record::of(self.storage, &actor).len() >= limit as usize {
            return refuse(TimersError::TooManyTimers, format!("{actor} has {limit} timers"));
        }
        timer.status.seq = Books::next_seq(self.storage);
        timer.id = id_of(&timer);
        let marks = self.marks(&timer);
        self.claim(&timer)?;
        let id = timer.id.clone();
        Record { info: timer, hit: false, changed: 0, marks, owed: 0 }.save(self.storage);
        Ok(id)
    }

    /// Gives a timer those limits of its spec that are named, or the defaults.
    fn set_limits(&self, timer: &mut Timer, gas: bool, cells: bool) -> AnyResult<()> {
        let or = |stated: u64, default: u64| if stated == 0 { default } else { stated };
        if gas {
            timer.status.gas_limit = or(timer.spec.gas_limit, self.config.max_cycles_per_fire);
            self.check_gas_limit(timer.status.gas_limit)?;
        }
        if cells {
            timer.status.cell_limit = or(timer.spec.cell_limit, self.config.cell_limit());
            self.check_cell_limit(timer.status.cell_limit)?;
        }
        Ok(())
    }

    /// Gives a timer the payer of its spec: none if who scheduled it pays.
    fn set_payer(&self, timer: &mut Timer, principal: &Addr) -> AnyResult<()> {
        self.check_payer(principal, &timer.spec.fee_payer)?;
        timer.status.fee_payer = match timer.spec.fee_payer.as_str() {
            payer if payer == principal.as_str() => String::new(),
            payer => payer.to_string(),
        };
        Ok(())
    }

    /// Checks what a timer states of bad moments and of its conditions.
    fn check_options(&self, timer: &Timer) -> AnyResult<()> {
        if let Some(retry) = &timer.spec.retry {
            let most = match recur::by_time(timer) {
                true => self.config.max_ttl_seconds,
                false => self.config.max_ttl_blocks,
            };
            if retry.max == 0 || retry.max > MAX_RETRIES || !(1..=most).contains(&retry.after) {
                return refuse(TimersError::InvalidRetry, format!("{} retries {} apart", retry.max, retry.after));
            }
            let sound = |e: &proto::ErrorCode| (1..=64).contains(&e.codespace.len());
            if retry.backoff > 4 || retry.on.len() > 8 || !retry.on.iter().all(sound) {
                return refuse(
                    TimersError::InvalidRetry,
                    "want a backoff of at most 4, and at most 8 errors with codespaces",
                );
            }
        }
        let skips = recur::recurs(timer) && recur::kind_of(timer) != recur::Kind::Watch;
        match timer.spec.on_unfunded {
            OnUnfunded::Unspecified | OnUnfunded::Suspend => {}
            OnUnfunded::Skip if skips => {}
            _ => return refuse(TimersError::InvalidOnUnfunded, "want destroy or suspend; or skip, where it repeats"),
        }
        watch::check_only_if(&timer.spec.only_if)
    }

    /// The last time for which anything may be scheduled.
    fn last_time(&self) -> i64 {
        self.time + self.config.max_ttl_seconds as i64
    }

    fn now(&self) -> Moment {
        Moment { height: self.height, time: self.time }
    }

    /// The first height at which a timer may become due: the end of this block has not read yet what is, unless it runs.
    fn open_height(&self) -> u64 {
        self.height + u64::from(self.in_fire)
    }

    fn check_gas_limit(&self, gas_limit: u64) -> AnyResult<()> {
        let (least, most) = (self.config.min_gas_limit, self.config.max_cycles_per_fire);
        if !(least..=most).contains(&gas_limit) {
            return refuse(TimersError::GasLimitOutOfBounds, format!("{gas_limit}, want {least} to {most}"));
        }
        Ok(())
    }

    fn check_cell_limit(&self, cell_limit: u64) -> AnyResult<()> {
        let most = self.config.max_cells_per_fire;
        if cell_limit > most {
            return refuse(TimersError::CellLimitOutOfBounds, format!("{cell_limit}, want at most {most}"));
        }
        Ok(())
    }

    fn check_admin(&self, sender: &Addr, messages: bool) -> AnyResult<()> {
        if self.actor.admin.as_deref() != Some(sender.as_str()) {
            return refuse(TimersError::NotAdmin, format!("{sender} is not the actor's admin"));
        }
        if messages {
            return refuse(TimersError::ForeignSigner, "an admin schedules calls alone");
        }
        Ok(())
    }

    fn check_payer(&self, principal: &Addr, payer: &str) -> AnyResult<()> {
        if payer.is_empty() || payer == principal.as_str() {
            return Ok(());
        }
        if !self.grants.contains(&(payer.to_string(), principal.to_string())) {
            return refuse(TimersError::InvalidFeePayer, format!("{payer} has granted {principal} no fee allowance"));
        }
        Ok(())
    }

    /// The length of the messages that a timer decodes.
    fn message_bytes(&self, timer: &Timer) -> u64 {
        if timer.status.runs_messages || !self.actor.is_contract {
            timer.payload().len() as u64
        } else {
            0
        }
    }

    /// What a timer's watched keys hold.
    fn marks(&self, timer: &Timer) -> Vec<Mark> {
        match timer.spec.trigger.as_ref().and_then(|t| t.watch.as_ref()) {
            Some(watch) => watch::marks(self.storage, self.api, watch),
            None => Vec::new(),
        }
    }

    fn check_intrinsic(&self, timer: &Timer) -> AnyResult<()> {
        let (bytes, gas_limit) = (timer.payload().len() as u64, timer.status.gas_limit);
        let intrinsic = self.config.intrinsic(recur::trigger_cycles(timer), bytes, self.message_bytes(timer));
        if gas_limit <= intrinsic {
            return refuse(
                TimersError::GasLimitOutOfBounds,
                format!("{gas_limit} cycles leave nothing to the handler"),
            );
        }
        Ok(())
    }

    fn check_call(&self, actor: &str, mut call: Call) -> AnyResult<Call> {
        let most = self.config.max_payload_bytes;
        if call.payload.len() as u64 > most {
            return refuse(TimersError::PayloadTooLong, format!("{} bytes, want at most {most}", call.payload.len()));
        }
        if !call.messages {
            if let Ok(Envelope { handler, payload }) = from_json(&call.payload) {
                if !call.handler.is_empty() {
                    return refuse(TimersError::HandlerConflict, "a handler is stated beside a payload that names one");
                }
                call.handler = handler;
                call.payload = payload;
            }
        }
        if call.handler.len() > 256 {
            return refuse(TimersError::HandlerTooLong, format!("{} bytes", call.handler.len()));
        }
        if call.messages || !self.actor.is_contract {
            self.check_messages(actor, &call)?;
            return Ok(call);
        }
        if call.handler.is_empty() || call.handler == DEFAULT_HANDLER {
            call.handler = String::new();
            return Ok(call);
        }
        let name = without_delivery(&call.handler).unwrap_or(&call.handler);
        if !is_handler_name(name) || name == DEFAULT_HANDLER {
            return refuse(TimersError::InvalidHandler, format!("{} names no handler of a contract", call.handler));
        }
        if from_json::<IgnoredAny>(&call.payload).is_err() {
            return refuse(TimersError::InvalidPayload, "the payload for a named handler must be JSON");
        }
        Ok(call)
    }

    fn check_messages(&self, actor: &str, call: &Call) -> AnyResult<()> {
        if !call.handler.is_empty() && call.handler != DEFAULT_HANDLER {
            return refuse(TimersError::InvalidHandler, "an account has the default handler alone");
        }
        let messages = messages_of(&call.payload)?;
        if call.payload.len() as u64 > MAX_MESSAGES_BYTES {
            return refuse(TimersError::PayloadTooLong, format!("{} bytes of messages", call.payload.len()));
        }
        for message in &messages {
            // Every message that the model runs states its signer in its first field.
            let signer = crate::host::first_text(&message.value);
            if signer.as_deref() != Some(actor) {
                return refuse(TimersError::ForeignSigner, format!("{} is not signed by {actor}", message.type_url));
            }
        }
        Ok(())
    }

    /// The timer that a message names by its id, its name, or both.
    fn find(&self, sender: &Addr, actor: &str, (id, name): (&str, &str)) -> AnyResult<Record> {
        if !id.is_empty() {
            let record = Record::named(self.storage, actor, id)?;
            if !name.is_empty() && record.info.spec.name != name {
                return refuse(TimersError::Changed, format!("its name is {}", record.info.spec.name));
            }
            return Ok(record);
        }
        if name.is_empty() {
            return refuse(TimersError::InvalidTimerID, "want an id or a name");
        }
        Record::with_name(self.storage, self.now(), (actor, sender.as_str()), name)
    }

    /// A name is of one live timer of an actor's and a scheduler's.
    fn claim(&self, timer: &Timer) -> AnyResult<()> {
        let scheduler = if timer.scheduler.is_empty() { &timer.actor } else { &timer.scheduler };
        match Record::with_name(self.storage, self.now(), (&timer.actor, scheduler), &timer.spec.name) {
            Ok(other) if !timer.spec.name.is_empty() && other.info.id != timer.id => {
                refuse(TimersError::NameTaken, format!("timer {} has the name", other.info.id))
            }
            _ => Ok(()),
        }
    }

    /// A timer that can still fire, of which the sender is the principal.
    fn changeable(&self, sender: &Addr, actor: &str, which: (&str, &str)) -> AnyResult<Record> {
        let record = self.find(sender, actor, which)?;
        if record.expired_at(self.now()) {
            return refuse(
                TimersError::TimerExpired,
                format!("it could fire until height {}", record.info.status.expires_at),
            );
        }
        if record.principal() != sender.as_str() {
            return refuse(
                TimersError::NotScheduler,
                format!("{} scheduled it and alone changes it", record.principal()),
            );
        }
        if !record.info.scheduler.is_empty() {
            self.check_admin(sender, false)?;
        }
        Ok(record)
    }

    /// Changes a timer, and returns its new place and when it is due.
    pub(crate) fn update(&mut self, sender: &Addr, msg: MsgUpdateTimer) -> AnyResult<MsgUpdateTimerResponse> {
        let actor = if msg.actor.is_empty() { sender.to_string() } else { msg.actor.clone() };
        let (stated, fields) = (msg.spec.unwrap_or_default(), &msg.fields);
        named(TimerSpec::default(), fields, &stated)?;
        let names = |wanted: &[&str]| fields.iter().any(|field| wanted.contains(&field.as_str()));
        if let Some(name) = beyond(&stated, fields) {
            return refuse(TimersError::InvalidFields, format!("the spec states {name}, and fields does not name it"));
        }
        let call = match names(&["call"]) {
            true => Some(stated_call(&stated.call.clone().unwrap_or_default())?),
            false => None,
        };
        let before = self.changeable(sender, &actor, (&msg.id, &msg.name))?;
        if msg.if_seq != 0 && msg.if_seq != before.info.status.seq {
            return refuse(TimersError::Changed, format!("its seq is {}", before.info.status.seq));
        }
        let mut record = before.clone();
        if call.as_ref().is_some_and(|call| call.messages) && !record.info.scheduler.is_empty() {
            return refuse(TimersError::ForeignSigner, "an admin schedules calls alone");
        }
        check_bid(&stated.bid)?;
        let mut spec = named(record.info.spec.clone(), fields, &stated)?;
        // These are as they were accepted.
        spec.call.clone_from(&record.info.spec.call);
        spec.bid.clone_from(&record.info.spec.bid);
        let passed = self.retrigger(&mut record, spec, fields)?;
        let info = &mut record.info;
        self.set_limits(info, names(&["gas_limit"]), names(&["cell_limit"]))?;
        self.set_payer(info, sender)?;
        info.spec.max_charge = stored_max_charge(&info.spec.max_charge)?;
        check_name(&info.spec.name)?;
        self.claim(info)?;
        if let Some(call) = call {
            set_call(info, self.check_call(&actor, call)?);
        }
        if names(&["call", "gas_limit", "trigger", "fee_payer"]) {
            self.check_intrinsic(info)?;
        }
        if names(&["bid"]) {
            info.spec.bid = kept(stated.bid);
        }
        if info.spec.on_unfunded == OnUnfunded::Skip {
            record.owed = 0;
        }
        self.change(&before, &mut record);
        store::note_passed(self.storage, &record.info.id, &passed);
        Ok(MsgUpdateTimerResponse::with(|r| {
            (r.seq, r.due, r.due_time) = (record.info.status.seq, record.info.status.due, record.waits_until());
        }))
    }

    /// Writes a timer as an update leaves it. If nothing has changed its seq stays; so it does if what was stated of its
    /// trigger makes it due when it was.
    fn change(&mut self, before: &Record, record: &mut Record) {
        if record == before {
            return;
        }
        let mut same = record.clone();
        same.info.spec.trigger.clone_from(&before.info.spec.trigger);
        same.info.status.start = before.info.status.start;
        if &same == before && recur::same(&before.info, &record.info, self.now()) {
            return record.save(self.storage);
        }
        let info = &mut record.info;
        info.status.seq = Books::next_seq(self.storage);
        if recur::returns_by_itself(info) {
            info.status.hold_reason = match recur::by_time(info) && info.status.due_time > self.time {
                true => HoldReason::Timed,
                false => HoldReason::Unspecified,
            };
        }
        // One that is overdue is due in the next block.
        let open = self.height + u64::from(self.in_fire);
        if info.status.hold_reason == HoldReason::Unspecified && info.status.due < open {
            recur::place_at(info, self.height + 1);
        }
        record.save(self.storage);
    }

    /// Gives a timer another spec, and makes it due by that. The end is the one that it has unless it is stated, or where
    /// the clock of the trigger changes the default.
    fn retrigger(&self, record: &mut Record, mut spec: TimerSpec, fields: &[String]) -> AnyResult<Vec<Passing>> {
        let names = |wanted: &[&str]| fields.iter().any(|field| wanted.contains(&field.as_str()));
        let repeats = fields.iter().any(|field| field.starts_with("repeat."));
        let (before, now, mut passed) = (record.info.clone(), self.now(), Vec::new());
        if names(&["trigger"]) || repeats {
            let info = &mut record.info;
            passed = recur::replace(self.config, info, &spec, names(&["trigger"]), now)?;
            (spec.trigger, spec.repeat) = (info.spec.trigger.clone(), info.spec.repeat.clone());
            if info.spec.trigger != before.spec.trigger && !recur::watches_the_same(&before, info) {
                // What it had noticed is gone.
                let marks = self.marks(info);
                record.drop_hit();
                record.marks = marks;
            }
        }
        let info = &mut record.info;
        let mut lives = recur::by_time(info) != recur::by_time(&before);
        if lives && spec.retry.is_some() && !names(&["retry"]) {
            return refuse(TimersError::InvalidRetry, "the trigger counts by another clock: state the retries too");
        }
        if lives && !names(&["expires_at"]) {
            spec.expires_at = 0;
        }
        if lives && !names(&["expires_time"]) {
            spec.expires_time = 0;
        }
        // One that is stated as it stands changes nothing.
        let ends = (spec.expires_at, spec.expires_time);
        let stands = !lives && ends == (info.spec.expires_at, info.spec.expires_time);
        if names(&["expires_at", "expires_time"]) && !stands {
            (info.status.expires_at, info.status.expires_time) = ends;
            recur::check_end(self.config, info, now)?;
            lives = true;
        }
        info.spec = spec;
        if !names(&["trigger", "retry", "on_unfunded", "only_if"]) && !repeats && !lives {
            return Ok(passed);
        }
        self.check_options(info)?;
        if before.status.renewal.is_none() || lives {
            recur::note_life(info, now);
        }
        Ok(passed)
    }

    /// Sets a timer's last height, and returns what was set and what it was.
    pub(crate) fn extend(&mut self, sender: &Addr, msg: MsgExtendTimer) -> AnyResult<MsgExtendTimerResponse> {
        let actor = if msg.actor.is_empty() { sender.to_string() } else { msg.actor.clone() };
        let record = self.changeable(sender, &actor, (&msg.id, &msg.name))?;
        self.set_expiry(record, msg.expires_at, msg.expires_time, true)
    }

    /// The same for the authority, which gives no life that a timer renews itself by.
    pub(crate) fn set_expiry(
        &mut self,
        mut record: Record,
        expires_at: u64,
        expires_time: i64,
        owner: bool,
    ) -> AnyResult<MsgExtendTimerResponse> {
        let info = &mut record.info;
        let from = (info.status.expires_at, info.status.expires_time);
        if (expires_at, expires_time) == (0, 0) {
            return refuse(TimersError::ExpiresTooSoon, "no end is stated");
        }
        recur::check_clock(info, expires_at, expires_time)?;
        (info.status.expires_at, info.status.expires_time) = (0, 0);
        if expires_at != 0 {
            let to = expires_at.min(self.height + self.config.max_ttl_blocks);
            if expires_at <= self.height || to < info.status.due {
                return refuse(
                    TimersError::ExpiresTooSoon,
                    format!("expires_at {to}, at {}, and due is {}", self.height, info.status.due),
                );
            }
            info.status.expires_at = to;
        }
        if expires_time != 0 {
            let to = expires_time.min(self.last_time());
            if expires_time <= self.time || to < info.status.due_time {
                return refuse(
                    TimersError::ExpiresTooSoon,
                    format!("expires_time {to}, at {}, and due is {}", self.time, info.status.due_time),
                );
            }
            info.status.expires_time = to;
        }
        let to = (info.status.expires_at, info.status.expires_time);
        if owner {
            (info.spec.expires_at, info.spec.expires_time) = to;
            recur::note_life(info, Moment { height: self.height, time: self.time });
        }
        record.save(self.storage);
        Ok(MsgExtendTimerResponse::with(|r| {
            (r.expires_at, r.expires_time) = to;
            (r.previous_expires_at, r.previous_expires_time) = from;
        }))
    }

    /// Removes a timer.
    pub(crate) fn cancel(&mut self, sender: &Addr, actor: &str, which: (&str, &str)) -> AnyResult<()> {
        let actor = if actor.is_empty() { sender.as_str() } else { actor };
        let record = self.find(sender, actor, which)?;
        if sender.as_str() != record.info.actor && sender.as_str() != record.principal() {
            return refuse(TimersError::NotScheduler, "its scheduler and its actor cancel it");
        }
        record.remove(self.storage);
        Ok(())
    }

    /// Puts a timer on hold.
    pub(crate) fn pause(&mut self, sender: &Addr, actor: &str, which: (&str, &str)) -> AnyResult<()> {
        let actor = if actor.is_empty() { sender.as_str() } else { actor };
        let mut record = self.changeable(sender, actor, which)?;
        match record.info.status.hold_reason {
            HoldReason::Paused => return Ok(()),
            HoldReason::Quarantined => return refuse(TimersError::Quarantined, "only the authority releases it"),
            _ => {}
        }
        (record.info.status.hold_reason, record.info.look) = (HoldReason::Paused, None);
        record.save(self.storage);
        Ok(())
    }

    /// Returns a timer to the queue, and returns when it is due.
    pub(crate) fn resume(&mut self, sender: &Addr, msg: &MsgResumeTimer) -> AnyResult<MsgResumeTimerResponse> {
        if matches!(msg.at, ResumeAt::Unrecognized(_)) {
            return refuse(TimersError::UnsupportedTimerType, "want now or next");
        }
        let actor = if msg.actor.is_empty() { sender.as_str() } else { &msg.actor };
        let mut record = self.changeable(sender, actor, (&msg.id, &msg.name))?;
        use HoldReason::*;
        match record.info.status.hold_reason {
            Paused | Suspended | Unfunded | PricedOut | NotAdmin => {}
            Unspecified | Watching | Timed => return refuse(TimersError::NotOnHold, "it is in the queue, or watches"),
            Quarantined => return refuse(TimersError::Quarantined, "only the authority releases it"),
            _ => return refuse(TimersError::Unrunnable, "it comes back by itself, or after an update"),
        }
        (record.info.status.skips, record.owed) = (0, 0);
        let due = recur::due_since(&record.info);
        let mut passed = recur::resume(&mut record.info, msg.at, self.now())?;
        if msg.at == ResumeAt::Next && record.hit {
            // What a watch has noticed is given up.
            record.drop_hit();
            passed = recur::paused_at(due);
        }
        release(&mut record, Moment { height: self.height + 1, ..self.now() });
        record.save(self.storage);
        store::note_passed(self.storage, &record.info.id, &passed);
        Ok(MsgResumeTimerResponse::with(|r| (r.due, r.due_time) = (record.info.status.due, record.waits_until())))
    }

    /// Lets occurrences pass.
    pub(crate) fn skip(&mut self, sender: &Addr, msg: &MsgSkipTimer) -> AnyResult<MsgSkipTimerResponse> {
        if msg.count == 0 || msg.count > 1_000 {
            return refuse(TimersError::InvalidSkip, format!("count is {}, want 1 to 1,000", msg.count));
        }
        let actor = if msg.actor.is_empty() { sender.as_str() } else { &msg.actor };
        let mut record = self.changeable(sender, actor, (&msg.id, &msg.name))?;
        let passed = recur::skip(&mut record.info, u64::from(msg.count), msg.from, self.open_height(), self.now())?;
        record.save(self.storage);
        store::note_passed(self.storage, &record.info.id, &passed);
        Ok(MsgSkipTimerResponse::with(|r| (r.due, r.due_time) = (record.info.status.due, record.waits_until())))
    }

    /// Makes the next occurrence due in the next block.
    pub(crate) fn run(&mut self, sender: &Addr, msg: &MsgRunTimer) -> AnyResult<MsgRunTimerResponse> {
        let actor = if msg.actor.is_empty() { sender.as_str() } else { &msg.actor };
        let mut record = self.changeable(sender, actor, (&msg.id, &msg.name))?;
        match record.info.status.hold_reason {
            HoldReason::Unspecified if record.info.status.due <= self.height + 1 => {
                return refuse(TimersError::AlreadyDue, format!("it is due at height {}", record.info.status.due));
            }
            HoldReason::Timed if record.info.status.due_time <= self.time => {
                return refuse(TimersError::AlreadyDue, "it is due in this block");
            }
            HoldReason::Unspecified | HoldReason::Timed => {}
            reason => return refuse(TimersError::AlreadyOnHold, format!("it is on hold: {reason:?}")),
        }
        let passed = recur::run(&mut record.info, self.now())?;
        record.save(self.storage);
        store::note_passed(self.storage, &record.info.id, &passed);
        Ok(MsgRunTimerResponse::with(|r| r.due = record.info.status.due))
    }
}

/// Returns a timer to the queue, or to its watch, whose conditions are looked at first, or to the wait for its time. One that is overdue has its place at the
/// height, and counts as due since it was.
pub(crate) fn release(record: &mut Record, now: Moment) {
    // Its lateness counts from its due height.
    record.changed = 0;
    if recur::kind_of(&record.info) == recur::Kind::Watch && !record.hit {
        let from = record.info.status.due.max(now.height);
        return recur::watch_from(&mut record.info, from, true);
    }
    record.info.status.hold_reason =
        if record.waits_for_time(now.time) { HoldReason::Timed } else { HoldReason::Unspecified };
    if record.in_queue() {
        recur::place_at(&mut record.info, now.height);
    } else {
        record.info.status.due = record.info.status.due.max(now.height);
    }
}

fn set_call(timer: &mut Timer, call: Call) {
    let handler = if call.handler == DEFAULT_HANDLER { String::new() } else { call.handler };
    timer.status.payload_bytes = call.payload.len() as u64;
    timer.status.runs_messages = call.messages;
    timer.spec.call = Some(TimerCall::with(|c| (c.handler, c.payload) = (handler, call.payload)));
}

/// Applies something to the fields of a spec that an update can name: to each the name, what it has, and what another has.
macro_rules! each_field {
    ($a:expr, $b:expr, $do:ident) => {{
        let (a, b) = ($a, $b);
        $do!("name", a.name, b.name);
        $do!("trigger", a.trigger, b.trigger);
        $do!("call", a.call, b.call);
        $do!("only_if", a.only_if, b.only_if);
        $do!("gas_limit", a.gas_limit, b.gas_limit);
        $do!("cell_limit", a.cell_limit, b.cell_limit);
        $do!("bid", a.bid, b.bid);
        $do!("max_charge", a.max_charge, b.max_charge);
        $do!("fee_payer", a.fee_payer, b.fee_payer);
        $do!("expires_at", a.expires_at, b.expires_at);
        $do!("expires_time", a.expires_time, b.expires_time);
        $do!("retry", a.retry, b.retry);
        $do!("on_unfunded", a.on_unfunded, b.on_unfunded);
        let (stated, a) = (b.repeat.clone().unwrap_or_default(), a.repeat.get_or_insert_with(Repeat::default));
        $do!("repeat.remaining", a.remaining, stated.remaining);
        $do!("repeat.missed", a.missed, stated.missed);
        $do!("repeat.window", a.window, stated.window);
        $do!("repeat.jitter", a.jitter, stated.jitter);
        $do!("repeat.on_failure", a.on_failure, stated.on_failure);
        $do!("repeat.max_failures", a.max_failures, stated.max_failures);
        $do!("repeat.renew", a.renew, stated.renew);
    }};
}

/// Gives a spec those fields of another that are named, each at most once: one that is empty there takes its default.
fn named(mut spec: TimerSpec, fields: &[String], stated: &TimerSpec) -> AnyResult<TimerSpec> {
    if fields.is_empty() {
        return refuse(TimersError::NothingToUpdate, "fields names none");
    }
    let mut known = 0;
    macro_rules! take {
        ($name:literal, $to:expr, $from:expr) => {
            if fields.iter().any(|field| field == $name) {
                $to = $from.clone();
                known += 1;
            }
        };
    }
    each_field!(&mut spec, stated, take);
    if known != fields.len() {
        return refuse(TimersError::InvalidFields, "fields names one that a spec does not have, or one twice");
    }
    Ok(recur::canonical(spec))
}

/// A field that has a value and is not named.
fn beyond(stated: &TimerSpec, fields: &[String]) -> Option<&'static str> {
    let (mut empty, mut stated) = (TimerSpec::default(), stated.clone());
    // One that is empty says nothing.
    stated.trigger = stated.trigger.filter(|trigger| *trigger != Trigger::default());
    stated.call = stated.call.filter(|call| *call != TimerCall::default());
    let mut found = None;
    macro_rules! look {
        ($name:literal, $to:expr, $from:expr) => {
            if found.is_none() && $to != $from && !fields.iter().any(|field| field == $name) {
                found = Some($name);
            }
        };
    }
    each_field!(&mut empty, &stated, look);
    found
}

fn id_of(timer: &Timer) -> String {
    let mut hash = Sha256::new();
    hash.update(timer.actor.as_bytes());
    hash.update(timer.status.due.to_be_bytes());
    hash.update(timer.payload());
    hash.update(timer.status.seq.to_be_bytes());
    hex(&hash.finalize())
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
