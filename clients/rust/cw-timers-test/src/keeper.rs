//! The module's messages: each checked as the chain checks it, in the same order, so that the same error is returned.

use std::collections::BTreeSet;

use cosmwasm_std::{from_json, Addr, Api, Binary, Storage};
use cw_multi_test::error::AnyResult;
use cw_timers::proto::{
    self, AccountPayload, Any, HoldReason, Message, MsgExtendTimer, MsgExtendTimerResponse, MsgResumeTimer,
    MsgResumeTimerResponse, MsgRunTimer, MsgRunTimerResponse, MsgScheduleTimer, MsgSkipTimer, MsgSkipTimerResponse,
    MsgUpdateTimer, MsgUpdateTimerResponse, OnUnfunded, TimerInfo, TimerOptions, Trigger,
};
use cw_timers::{TimersError, DEFAULT_HANDLER};
use serde::de::IgnoredAny;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::config::{Config, MAX_MESSAGES_BYTES, MAX_RETRIES};
use crate::recur::{self, refuse, Passing};
use crate::store::{self, Books, Mark, Moment, Record};
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

fn stated_call(handler: &str, payload: &Binary, messages: &[Any]) -> AnyResult<Call> {
    if messages.is_empty() {
        return Ok(Call { handler: handler.to_string(), payload: payload.clone(), messages: false });
    }
    if !handler.is_empty() || !payload.is_empty() {
        return refuse(TimersError::AmbiguousCall, "messages are stated together with a handler or a payload");
    }
    let payload = AccountPayload::with(|p| p.messages = messages.to_vec()).encode();
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

fn check_label(label: &str) -> AnyResult<()> {
    if label.len() > 64 || !label.bytes().all(|c| (b' '..=b'~').contains(&c)) {
        return refuse(TimersError::InvalidLabel, "want at most 64 printable ASCII characters");
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
        let call = stated_call(&msg.handler, &msg.payload, &msg.messages)?;
        let mut timer = TimerInfo::with(|t| {
            t.actor = actor.clone();
            t.trigger = msg.trigger.clone();
            t.expires_at = msg.expires_at;
            t.expires_time = msg.expires_time;
            t.gas_limit = msg.gas_limit;
            t.cell_limit = msg.cell_limit;
            t.schedule_height = self.height;
        });
        recur::prepare(self.config, &mut timer, self.now())?;
        let options = TimerOptions::with(|o| {
            (o.retry, o.on_unfunded) = (msg.retry.clone(), msg.on_unfunded);
            (o.renew, o.only_if) = (msg.renew, msg.only_if.clone());
        });
        self.set_options(&mut timer, options)?;
        recur::check_life(self.config, &mut timer, self.now())?;
        recur::note_life(&mut timer, self.now());
        if timer.gas_limit == 0 {
            timer.gas_limit = self.config.max_cycles_per_fire;
        }
        if timer.cell_limit == 0 {
            timer.cell_limit = self.config.cell_limit();
        }
        self.check_gas_limit(timer.gas_limit)?;
        self.check_cell_limit(timer.cell_limit)?;
        if actor != sender.as_str() {
            self.check_admin(sender, call.messages)?;
            timer.scheduler = sender.to_string();
        }
        let call = self.check_call(&actor, call)?;
        self.check_payer(sender, &msg.fee_payer)?;
        if msg.fee_payer != sender.as_str() {
            timer.fee_payer = msg.fee_payer.clone();
        }
        self.check_intrinsic(&timer, timer.gas_limit, &call)?;
        set_call(&mut timer, call);
        timer.max_charge = stored_max_charge(&msg.max_charge)?;
        check_label(&msg.label)?;
        timer.label = msg.label;
        check_bid(&msg.bid)?;
        timer.bid = kept(msg.bid);
        let limit = match timer.scheduler.is_empty() {
            true => self.config.max_timers_per_actor,
            false => self.config.max_timers_per_actor / 2,
        };
        if Record::of(self.storage, &actor).len() >= limit as usize {
            return refuse(TimersError::TooManyTimers, format!("{actor} has {limit} timers"));
        }
        timer.seq = Books::next_seq(self.storage);
        timer.id = id_of(&timer);
        let marks = self.marks(&timer);
        let id = timer.id.clone();
        Record { info: timer, hit: false, changed: 0, fresh: true, marks, owed: 0 }.save(self.storage);
        Ok(id)
    }

    /// Checks what a timer states of bad moments, of its life and of its conditions, and fills in the defaults.
    fn set_options(&self, timer: &mut TimerInfo, options: TimerOptions) -> AnyResult<()> {
        if let Some(retry) = &options.retry {
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
        let repeats = recur::recurs(timer);
        let skips = repeats && recur::kind_of(timer) != recur::Kind::Watch;
        let on_unfunded = match options.on_unfunded {
            OnUnfunded::Unspecified | OnUnfunded::Destroy => OnUnfunded::Unspecified,
            OnUnfunded::Suspend => OnUnfunded::Suspend,
            OnUnfunded::Skip if skips => OnUnfunded::Skip,
            _ => return refuse(TimersError::InvalidOnUnfunded, "want destroy or suspend; or skip, where it repeats"),
        };
        if options.renew && !repeats {
            return refuse(TimersError::UnsupportedTimerType, "renew is stated for a timer that fires once");
        }
        watch::check_only_if(&options.only_if)?;
        (timer.retry, timer.on_unfunded, timer.only_if) = (options.retry, on_unfunded, options.only_if);
        timer.renewal = match timer.renewal.take() {
            _ if !options.renew => None,
            stated => Some(stated.unwrap_or_default()),
        };
        Ok(())
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

    /// The length of the messages that a call decodes.
    fn message_bytes(&self, call: &Call) -> u64 {
        if call.messages || !self.actor.is_contract {
            call.payload.len() as u64
        } else {
            0
        }
    }

    /// What a timer's watched keys hold.
    fn marks(&self, timer: &TimerInfo) -> Vec<Mark> {
        match timer.trigger.as_ref().and_then(|t| t.watch.as_ref()) {
            Some(watch) => watch::marks(self.storage, self.api, watch),
            None => Vec::new(),
        }
    }

    fn check_intrinsic(&self, timer: &TimerInfo, gas_limit: u64, call: &Call) -> AnyResult<()> {
        let intrinsic =
            self.config.intrinsic(recur::by_time(timer), call.payload.len() as u64, self.message_bytes(call));
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

    /// A timer that can still fire, of which the sender is the principal.
    fn changeable(&self, sender: &Addr, actor: &str, id: &str) -> AnyResult<Record> {
        let record = Record::named(self.storage, actor, id)?;
        if record.expired_at(self.now()) {
            return refuse(TimersError::TimerExpired, format!("it could fire until height {}", record.info.expires_at));
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
        let call = match &msg.call {
            Some(call) => Some(stated_call(&call.handler, &call.payload, &call.messages)?),
            None => None,
        };
        let before = self.changeable(sender, &actor, &msg.id)?;
        let mut record = before.clone();
        if call.as_ref().is_some_and(|call| call.messages) && !record.info.scheduler.is_empty() {
            return refuse(TimersError::ForeignSigner, "an admin schedules calls alone");
        }
        check_bid(&msg.bid)?;
        let retriggered = msg.trigger.is_some();
        let stated = call.is_some()
            || msg.gas_limit != 0
            || msg.cell_limit != 0
            || msg.bid.is_some()
            || !msg.max_charge.is_empty()
            || retriggered
            || msg.options.is_some();
        if !stated {
            return refuse(
                TimersError::NothingToUpdate,
                "state a call, a gas limit, a cell limit, a bid, a max_charge, a trigger or options",
            );
        }
        let passed = self.set_terms(&mut record, msg.trigger, msg.options)?;
        let max_charge = stored_max_charge(&msg.max_charge)?;
        if msg.gas_limit != 0 {
            self.check_gas_limit(msg.gas_limit)?;
        }
        self.check_cell_limit(msg.cell_limit)?;
        let call = match call {
            Some(call) => Some(self.check_call(&actor, call)?),
            None => None,
        };
        let info = &mut record.info;
        if call.is_some() || msg.gas_limit != 0 || retriggered {
            let gas_limit = if msg.gas_limit != 0 { msg.gas_limit } else { info.gas_limit };
            match &call {
                Some(call) => self.check_intrinsic(info, gas_limit, call)?,
                None => {
                    let kept = Call {
                        payload: info.payload.clone(),
                        messages: info.runs_messages,
                        handler: info.handler.clone(),
                    };
                    self.check_intrinsic(info, gas_limit, &kept)?;
                }
            }
            info.gas_limit = gas_limit;
        }
        if let Some(call) = call {
            set_call(info, call);
        }
        if msg.cell_limit != 0 {
            info.cell_limit = msg.cell_limit;
        }
        if let Some(bid) = msg.bid {
            info.bid = kept(Some(bid));
        }
        if !msg.max_charge.is_empty() {
            info.max_charge = max_charge;
        }
        if info.on_unfunded == OnUnfunded::Skip {
            record.owed = 0;
        }
        self.change(&before, &mut record);
        store::note_passed(self.storage, &record.info.id, &passed);
        Ok(MsgUpdateTimerResponse::with(|r| {
            (r.seq, r.due, r.due_time) = (record.info.seq, record.info.due, record.waits_until());
        }))
    }

    /// Writes a timer as an update leaves it. If nothing has changed its seq stays; so it does if what was stated of its
    /// trigger makes it due when it was.
    fn change(&mut self, before: &Record, record: &mut Record) {
        if record == before {
            return;
        }
        let mut same = record.clone();
        same.info.trigger.clone_from(&before.info.trigger);
        if &same == before && recur::same(&before.info, &record.info, self.now()) {
            return record.save(self.storage);
        }
        let info = &mut record.info;
        info.seq = Books::next_seq(self.storage);
        if recur::returns_by_itself(info) {
            info.hold_reason = HoldReason::Unspecified;
        }
        // One that is overdue is due in the next block.
        let open = self.height + u64::from(self.in_fire);
        if info.hold_reason == HoldReason::Unspecified && info.due < open {
            recur::place_at(info, self.height + 1);
        }
        record.save(self.storage);
    }

    /// Gives a timer another trigger, other options, or both.
    fn set_terms(
        &mut self,
        record: &mut Record,
        trigger: Option<Trigger>,
        options: Option<TimerOptions>,
    ) -> AnyResult<Vec<Passing>> {
        let mut passed = Vec::new();
        if trigger.is_none() && options.is_none() {
            return Ok(passed);
        }
        let (before, now) = (record.info.clone(), self.now());
        let info = &mut record.info;
        let options = options.unwrap_or_else(|| {
            TimerOptions::with(|o| {
                (o.retry, o.on_unfunded) = (before.retry.clone(), before.on_unfunded);
                (o.renew, o.only_if) = (before.renewal.is_some(), before.only_if.clone());
            })
        });
        if let Some(trigger) = trigger {
            passed = recur::replace(self.config, info, trigger, now)?;
            let marks = self.marks(info);
            if !recur::watches_the_same(&before, info) {
                // What it had noticed is gone.
                record.drop_hit();
                (record.fresh, record.marks) = (true, marks);
            }
        }
        let info = &mut record.info;
        self.set_options(info, options)?;
        let ends = (info.expires_at, info.expires_time) != (before.expires_at, before.expires_time);
        if before.renewal.is_none() || ends {
            recur::note_life(info, now);
        }
        Ok(passed)
    }

    /// Sets a timer's last height, and returns what was set and what it was.
    pub(crate) fn extend(&mut self, sender: &Addr, msg: MsgExtendTimer) -> AnyResult<MsgExtendTimerResponse> {
        let actor = if msg.actor.is_empty() { sender.to_string() } else { msg.actor.clone() };
        let record = self.changeable(sender, &actor, &msg.id)?;
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
        let from = (info.expires_at, info.expires_time);
        if (expires_at, expires_time) == (0, 0) {
            return refuse(TimersError::ExpiresTooSoon, "no end is stated");
        }
        if expires_at != 0 {
            let to = expires_at.min(self.height + self.config.max_ttl_blocks);
            if expires_at <= self.height || to < info.due {
                return refuse(
                    TimersError::ExpiresTooSoon,
                    format!("expires_at {to}, at {}, and due is {}", self.height, info.due),
                );
            }
            info.expires_at = to;
        }
        if expires_time != 0 {
            let to = expires_time.min(self.last_time());
            if expires_time <= self.time || to < info.due_time {
                return refuse(
                    TimersError::ExpiresTooSoon,
                    format!("expires_time {to}, at {}, and due is {}", self.time, info.due_time),
                );
            }
            info.expires_time = to;
        }
        let to = (info.expires_at, info.expires_time);
        if owner {
            recur::note_life(info, Moment { height: self.height, time: self.time });
        }
        record.save(self.storage);
        Ok(MsgExtendTimerResponse::with(|r| {
            (r.expires_at, r.expires_time) = to;
            (r.previous_expires_at, r.previous_expires_time) = from;
        }))
    }

    /// Removes a timer.
    pub(crate) fn cancel(&mut self, sender: &Addr, actor: &str, id: &str) -> AnyResult<()> {
        let actor = if actor.is_empty() { sender.as_str() } else { actor };
        let record = Record::named(self.storage, actor, id)?;
        if sender.as_str() != record.info.actor && sender.as_str() != record.principal() {
            return refuse(TimersError::NotScheduler, "its scheduler and its actor cancel it");
        }
        record.remove(self.storage);
        Ok(())
    }

    /// Puts a timer on hold.
    pub(crate) fn pause(&mut self, sender: &Addr, actor: &str, id: &str) -> AnyResult<()> {
        let actor = if actor.is_empty() { sender.as_str() } else { actor };
        let mut record = self.changeable(sender, actor, id)?;
        match record.info.hold_reason {
            HoldReason::Paused => return Ok(()),
            HoldReason::Quarantined => return refuse(TimersError::Quarantined, "only the authority releases it"),
            _ => {}
        }
        record.info.hold_reason = HoldReason::Paused;
        record.save(self.storage);
        Ok(())
    }

    /// Returns a timer to the queue, and returns when it is due.
    pub(crate) fn resume(&mut self, sender: &Addr, msg: &MsgResumeTimer) -> AnyResult<MsgResumeTimerResponse> {
        if matches!(msg.at, proto::ResumeAt::Unrecognized(_)) {
            return refuse(TimersError::UnsupportedTimerType, "want now or next");
        }
        let actor = if msg.actor.is_empty() { sender.as_str() } else { &msg.actor };
        let mut record = self.changeable(sender, actor, &msg.id)?;
        use HoldReason::*;
        match record.info.hold_reason {
            Paused | Suspended | Unfunded | PricedOut | NotAdmin => {}
            Unspecified | Watching | Timed => return refuse(TimersError::NotOnHold, "it is in the queue, or watches"),
            Quarantined => return refuse(TimersError::Quarantined, "only the authority releases it"),
            _ => return refuse(TimersError::Unrunnable, "it comes back by itself, or after an update"),
        }
        (record.info.skips, record.owed) = (0, 0);
        let passed = recur::resume(&mut record.info, msg.at, self.now())?;
        release(&mut record, Moment { height: self.height + 1, ..self.now() });
        record.save(self.storage);
        store::note_passed(self.storage, &record.info.id, &passed);
        Ok(MsgResumeTimerResponse::with(|r| (r.due, r.due_time) = (record.info.due, record.waits_until())))
    }

    /// Lets occurrences pass.
    pub(crate) fn skip(&mut self, sender: &Addr, msg: &MsgSkipTimer) -> AnyResult<MsgSkipTimerResponse> {
        if msg.count == 0 || msg.count > 1_000 {
            return refuse(TimersError::InvalidSkip, format!("count is {}, want 1 to 1,000", msg.count));
        }
        let actor = if msg.actor.is_empty() { sender.as_str() } else { &msg.actor };
        let mut record = self.changeable(sender, actor, &msg.id)?;
        let passed = recur::skip(&mut record.info, u64::from(msg.count), msg.from, self.open_height(), self.now())?;
        record.save(self.storage);
        store::note_passed(self.storage, &record.info.id, &passed);
        Ok(MsgSkipTimerResponse::with(|r| (r.due, r.due_time) = (record.info.due, record.waits_until())))
    }

    /// Makes the next occurrence due in the next block.
    pub(crate) fn run(&mut self, sender: &Addr, msg: &MsgRunTimer) -> AnyResult<MsgRunTimerResponse> {
        let actor = if msg.actor.is_empty() { sender.as_str() } else { &msg.actor };
        let mut record = self.changeable(sender, actor, &msg.id)?;
        match record.info.hold_reason {
            HoldReason::Unspecified if record.info.due <= self.height + 1 => {
                return refuse(TimersError::AlreadyDue, format!("it is due at height {}", record.info.due));
            }
            HoldReason::Timed if record.info.due_time <= self.time => {
                return refuse(TimersError::AlreadyDue, "it is due in this block");
            }
            HoldReason::Unspecified | HoldReason::Timed => {}
            reason => return refuse(TimersError::AlreadyOnHold, format!("it is on hold: {reason:?}")),
        }
        let passed = recur::run(&mut record.info, self.now())?;
        record.save(self.storage);
        store::note_passed(self.storage, &record.info.id, &passed);
        Ok(MsgRunTimerResponse::with(|r| r.due = record.info.due))
    }
}

/// Returns a timer to the queue, or to its watch, or to the wait for its time. One that is overdue has its place at the
/// height, and counts as due since it was.
pub(crate) fn release(record: &mut Record, now: Moment) {
    let watches = record.info.trigger.as_ref().is_some_and(|t| t.watch.is_some());
    record.info.hold_reason = if watches && !record.hit {
        HoldReason::Watching
    } else if record.waits_for_time(now.time) {
        HoldReason::Timed
    } else {
        HoldReason::Unspecified
    };
    if record.in_queue() {
        recur::place_at(&mut record.info, now.height);
    } else {
        record.info.due = record.info.due.max(now.height);
    }
    // Its lateness counts from its due height.
    record.changed = 0;
}

fn set_call(timer: &mut TimerInfo, call: Call) {
    timer.handler = if call.handler == DEFAULT_HANDLER { String::new() } else { call.handler };
    timer.payload_bytes = call.payload.len() as u64;
    timer.payload = call.payload;
    timer.runs_messages = call.messages;
}

fn id_of(timer: &TimerInfo) -> String {
    let mut hash = Sha256::new();
    hash.update(timer.actor.as_bytes());
    hash.update(timer.due.to_be_bytes());
    hash.update(timer.payload.as_slice());
    hash.update(timer.seq.to_be_bytes());
    hex(&hash.finalize())
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
