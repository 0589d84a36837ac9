use cosmwasm_std::{to_json_binary, Addr, Binary, CosmosMsg, StdResult, SubMsg, Timestamp, Uint128};
use serde::Serialize;

use crate::bid::Bid;
use crate::id::Which;
use crate::msg::{TimersCall, Wire};
use crate::proto::{self, Any, MsgScheduleTimer, MsgUpdateTimer, OnFailure, Repeat, Retry, TimerCall, TimerSpec};
use crate::trigger::{Interval, Trigger, WatchKey};

/// The suffix by which a named handler asks to be told of the delivery beside its payload.
const WITH_DELIVERY: &str = "+delivery";

/// What becomes of a timer whose payer lacks funds when its turn comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnUnfunded {
    /// It is removed. The default.
    Destroy,
    /// It is put on hold until its owner resumes it or its time ends.
    Suspend,
    /// This repetition of a calendar or an interval passes. After some in a row, whose number the config states, the timer is
    /// suspended.
    Skip,
}

/// Which of several occurrences that have come may fire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Missed {
    /// The latest; those before it pass. The default.
    Latest,
    /// All of them, the oldest first, at most one in a block.
    Each,
}

impl From<Missed> for proto::Missed {
    fn from(missed: Missed) -> Self {
        match missed {
            Missed::Latest => proto::Missed::Latest,
            Missed::Each => proto::Missed::Each,
        }
    }
}

/// The whole seconds of a time: the chain counts an end of life in them.
fn whole_seconds(time: Timestamp) -> i64 {
    // A time of 64 bits of nanoseconds is far from the end of an i64.
    time.seconds() as i64
}

/// When a timer that is resumed fires, if it was due while it was on hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResumeAt {
    /// In the next block. The default.
    Now,
    /// With its next repetition.
    Next,
}

impl From<ResumeAt> for proto::ResumeAt {
    fn from(at: ResumeAt) -> Self {
        match at {
            ResumeAt::Now => proto::ResumeAt::Now,
            ResumeAt::Next => proto::ResumeAt::Next,
        }
    }
}

impl From<OnUnfunded> for proto::OnUnfunded {
    fn from(on_unfunded: OnUnfunded) -> Self {
        match on_unfunded {
            OnUnfunded::Destroy => proto::OnUnfunded::Destroy,
            OnUnfunded::Suspend => proto::OnUnfunded::Suspend,
            OnUnfunded::Skip => proto::OnUnfunded::Skip,
        }
    }
}

/// What is stated of a call, of retries and of repetitions, to be stated further.
fn call_of(spec: &mut TimerSpec) -> &mut TimerCall {
    spec.call.get_or_insert_with(TimerCall::default)
}

fn retry_of(spec: &mut TimerSpec) -> &mut Retry {
    spec.retry.get_or_insert_with(Retry::default)
}

/// States something of repetitions. What is all defaults is left out.
fn repeat(spec: &mut TimerSpec, set: impl FnOnce(&mut Repeat)) {
    let mut repeat = spec.repeat.take().unwrap_or_default();
    set(&mut repeat);
    spec.repeat = Some(repeat).filter(|repeat| *repeat != Repeat::default());
}

/// What is stated of a timer, the same whether it is scheduled or updated: by `state`, with the names of the fields.
macro_rules! states {
    ($builder:ident) => {
        impl $builder {
            /// What the handler is given, as JSON.
            pub fn payload<T: Serialize + ?Sized>(self, payload: &T) -> StdResult<Self> {
                Ok(self.payload_bytes(to_json_binary(payload)?))
            }

            /// What the handler is given. A named handler takes JSON only.
            pub fn payload_bytes(self, payload: impl Into<Binary>) -> Self {
                self.state(&["call"], |spec| call_of(spec).payload = payload.into())
            }

            /// The handler: the contract's `sudo` is called with `{"<name>": <payload>}` in place of
            /// [`SudoMsg::HandleTimer`](crate::SudoMsg::HandleTimer). The payload must be JSON: `{}` if the handler needs
            /// nothing.
            pub fn handler(self, name: impl Into<String>) -> Self {
                self.state(&["call"], |spec| call_of(spec).handler = name.into())
            }

            /// A handler that is told of the delivery too: `sudo` is called with
            /// `{"<name>": {"delivery": …, "payload": …}}`, which is a [`Told`](crate::Told).
            pub fn handler_with_delivery(self, name: impl AsRef<str>) -> Self {
                let name = format!("{}{WITH_DELIVERY}", name.as_ref());
                self.handler(name)
            }

            /// Adds a message that runs as the contract when the timer fires. A timer with messages calls no handler: its
            /// messages run in order, all or none. The contract must be the only signer of each.
            pub fn message(self, message: impl Into<Any>) -> Self {
                self.state(&["call"], |spec| call_of(spec).messages.push(message.into()))
            }

            /// Who pays for each fire; by default who schedules it. The account must have granted that one a fee
            /// allowance for `/timers.v1.MsgScheduleTimer`.
            pub fn fee_payer(self, payer: impl Into<String>) -> Self {
                self.state(&["fee_payer"], |spec| spec.fee_payer = payer.into())
            }

            /// The cycles that one fire may use. What is not used is refunded, but the payer must have the whole when it
            /// fires.
            pub fn gas_limit(self, cycles: u64) -> Self {
                self.state(&["gas_limit"], |spec| spec.gas_limit = cycles)
            }

            /// The cells (bytes) that one fire may write.
            pub fn cell_limit(self, cells: u64) -> Self {
                self.state(&["cell_limit"], |spec| spec.cell_limit = cells)
            }

            /// The last height at which it may fire.
            pub fn expires_at(self, height: u64) -> Self {
                self.state(&["expires_at"], |spec| spec.expires_at = height)
            }

            /// The last block time at which it may fire, in whole seconds. Of two ends the first to come counts.
            ///
            /// ```
            /// # use cosmwasm_std::testing::mock_env;
            /// # use cw_timers::{Calendar, Timer};
            /// # let env = mock_env();
            /// let timer = Timer::on(Calendar::every_seconds(3_600)).expires_time(env.block.time.plus_days(7));
            /// ```
            pub fn expires_time(self, time: Timestamp) -> Self {
                self.state(&["expires_time"], |spec| spec.expires_time = whole_seconds(time))
            }

            /// How many occurrences of a calendar, an interval or a watch are delivered; 0 is until the timer expires.
            /// The retries of one count as one. In an update it counts from then on.
            ///
            /// ```
            /// # use cw_timers::Timer;
            /// let timer = Timer::every(100).remaining(12);
            /// ```
            pub fn remaining(self, deliveries: u64) -> Self {
                self.state(&["repeat.remaining"], |spec| repeat(spec, |r| r.remaining = deliveries))
            }

            /// Which of several occurrences that have come may fire. This, [`window`](Self::window) and
            /// [`jitter`](Self::jitter) are for occurrences that are known in advance: those of a
            /// [`Calendar`](crate::Calendar), in seconds, and those of an [`Interval`] from its schedule, in blocks.
            ///
            /// ```
            /// # use cw_timers::{Calendar, Missed, Timer};
            /// // Each hour, somewhere in its first minute; what is ten minutes late does not fire.
            /// let timer = Timer::on(Calendar::every_seconds(3_600)).missed(Missed::Latest).window(600).jitter(60);
            /// ```
            pub fn missed(self, missed: Missed) -> Self {
                self.state(&["repeat.missed"], |spec| repeat(spec, |r| r.missed = missed.into()))
            }

            /// How late an occurrence may fire. Without it one is open until the next comes, or with [`Missed::Each`]
            /// until the timer expires.
            pub fn window(self, length: u64) -> Self {
                self.state(&["repeat.window"], |spec| repeat(spec, |r| r.window = length))
            }

            /// By how much an occurrence may be due later. How much it is follows from the timer's id and the occurrence.
            pub fn jitter(self, length: u64) -> Self {
                self.state(&["repeat.jitter"], |spec| repeat(spec, |r| r.jitter = length))
            }

            /// An occurrence that fails, its retries included, ends the timer. Without this it goes on.
            pub fn stop_on_failure(self) -> Self {
                self.on_failure(OnFailure::Stop, 0)
            }

            /// So many occurrences in a row that fail, their retries included, suspend the timer until its owner resumes
            /// it.
            ///
            /// ```
            /// # use cw_timers::Timer;
            /// let timer = Timer::every(100).suspend_on_failure(3);
            /// ```
            pub fn suspend_on_failure(self, failures: u32) -> Self {
                self.on_failure(OnFailure::Suspend, failures)
            }

            fn on_failure(self, stated: OnFailure, most: u32) -> Self {
                self.state(&["repeat.on_failure", "repeat.max_failures"], |spec| {
                    repeat(spec, |r| (r.on_failure, r.max_failures) = (stated, most));
                })
            }

            /// Each fire of a timer that repeats gives it the same life again. So it ends when it can't fire for as long,
            /// and not before.
            ///
            /// ```
            /// # use cw_timers::Timer;
            /// let timer = Timer::every(100).renew();
            /// ```
            pub fn renew(self) -> Self {
                self.state(&["repeat.renew"], |spec| repeat(spec, |r| r.renew = true))
            }

            /// What it is willing to pay for its place.
            pub fn bid(self, bid: Bid) -> Self {
                let stated = Some(bid).filter(|bid| *bid != Bid::Default);
                self.state(&["bid"], |spec| spec.bid = stated.map(Into::into))
            }

            /// The most that one fire may cost, in fee denom, at any price; 0 is no bound. While it would cost more it
            /// waits.
            pub fn max_charge(self, amount: impl Into<Uint128>) -> Self {
                self.state(&["max_charge"], |spec| spec.max_charge = amount.into().to_string())
            }

            /// A failed fire is tried again at most so often, each time so much later: seconds for a time or a calendar,
            /// blocks for the others. Each try is paid. One that would come after the window of its occurrence, or when
            /// the next one has come, is not made, unless the timer makes up for [each](Missed::Each) that it missed.
            pub fn retry(self, max: u32, after: u64) -> Self {
                self.state(&["retry"], |spec| {
                    let retry = retry_of(spec);
                    (retry.max, retry.after) = (max, after);
                })
            }

            /// By what the distance to each further [`retry`](Self::retry) is multiplied, 1 to 4.
            ///
            /// ```
            /// # use cw_timers::Timer;
            /// // 5, 10 and 20 blocks after the fire before it.
            /// let timer = Timer::every(1_000).retry(3, 5).retry_backoff(2);
            /// ```
            pub fn retry_backoff(self, factor: u32) -> Self {
                self.state(&["retry"], |spec| retry_of(spec).backoff = factor)
            }

            /// Adds an error after which a fire is [tried again](Self::retry): a codespace and a code in it, or 0 for any.
            /// Without one it is after all errors.
            ///
            /// ```
            /// # use cw_timers::{Timer, TimersError, CODESPACE};
            /// let retried = Timer::every(1_000).retry(3, 5);
            /// // A contract's own errors are wasm 5.
            /// let timer = retried.retry_on("wasm", 5).retry_on(CODESPACE, TimersError::OutOfCycles.code());
            /// ```
            pub fn retry_on(self, codespace: impl Into<String>, code: u32) -> Self {
                let error = proto::ErrorCode { codespace: codespace.into(), code };
                self.state(&["retry"], |spec| retry_of(spec).on.push(error))
            }

            /// What becomes of it when its payer lacks funds.
            ///
            /// ```
            /// # use cw_timers::{OnUnfunded, Timer};
            /// let timer = Timer::every(100).on_unfunded(OnUnfunded::Skip);
            /// ```
            pub fn on_unfunded(self, on_unfunded: OnUnfunded) -> Self {
                self.state(&["on_unfunded"], |spec| spec.on_unfunded = on_unfunded.into())
            }

            /// Adds a condition that must hold when it fires, each retry included; at most 2. While one does not hold, the
            /// handler is not run: the fire is guarded, neither a success nor a failure, and costs what every fire counts
            /// before its handler and the reading. A timer that repeats goes on; any other leaves.
            ///
            /// ```
            /// # use cosmwasm_std::CanonicalAddr;
            /// # use cw_timers::{Timer, WatchKey};
            /// # let pool = CanonicalAddr::from([7u8; 32]);
            /// // Each hundred blocks, if the price that a pool stores is below 100 then.
            /// let timer = Timer::every(100).only_if(WatchKey::contract_key(&pool, b"price").less("100"));
            /// ```
            ///
            /// More than 2, or a key without a condition, is
            /// [`TimersError::InvalidOnlyIf`](crate::TimersError::InvalidOnlyIf).
            pub fn only_if(self, condition: WatchKey) -> Self {
                self.state(&["only_if"], |spec| spec.only_if.push(condition.into_proto()))
            }

            /// How its owner calls it: a text of at most 64 printable ASCII characters.
            pub fn name(self, name: impl Into<String>) -> Self {
                self.state(&["name"], |spec| spec.name = name.into())
            }

            /// The contract that owns it, whose admin the sender is; by default the sender itself. The sender pays.
            pub fn actor(mut self, contract: impl Into<String>) -> Self {
                self.0.actor = contract.into();
                self
            }
        }
    };
}

/// A timer to schedule.
///
/// ```
/// use cosmwasm_std::{Addr, Response, StdResult};
/// use cw_timers::Timer;
///
/// fn schedule(contract: &Addr) -> StdResult<Response> {
///     let timer = Timer::every(100).payload(&"rent")?.gas_limit(200_000).name("rent");
///     // The reply with id 1 names the timer: see `cw_timers::timer_id`.
///     Ok(Response::new().add_submessage(timer.into_submsg(contract, 1)))
/// }
/// # schedule(&Addr::unchecked("contract")).unwrap();
/// ```
///
/// What is not stated takes the chain's default. The chain checks everything when the message runs, and refuses what is
/// out of bounds with a [`TimersError`](crate::TimersError). A timer never fires in the block that schedules it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a timer is scheduled by the message that it makes"]
pub struct Timer(MsgScheduleTimer);

states!(Timer);

impl Timer {
    /// With any trigger. One on a [`Watch`](crate::Watch) fires once, unless [`remaining`](Timer::remaining) says more.
    pub fn on(trigger: impl Into<Trigger>) -> Self {
        let trigger = trigger.into();
        let remaining = u64::from(matches!(trigger, Trigger::Watch(_)));
        let spec = TimerSpec { trigger: Some(trigger.into()), ..Default::default() };
        Timer(MsgScheduleTimer { spec: Some(spec), ..Default::default() }).remaining(remaining)
    }

    /// Due once, at a height.
    pub fn at(height: u64) -> Self {
        Timer::on(Trigger::Height(height))
    }

    /// Due once, so many blocks after the one that schedules it.
    pub fn after(blocks: u64) -> Self {
        Timer::on(Trigger::After(blocks))
    }

    /// Due once, in the first block whose time is at or after a time, which is rounded up to a second.
    ///
    /// ```
    /// # use cosmwasm_std::testing::mock_env;
    /// # use cw_timers::Timer;
    /// # let env = mock_env();
    /// let timer = Timer::at_time(env.block.time.plus_hours(24));
    /// ```
    pub fn at_time(time: Timestamp) -> Self {
        Timer::on(Trigger::Time(time))
    }

    /// Due every so many blocks, until it expires. [`Interval`] has more to say.
    pub fn every(blocks: u64) -> Self {
        Timer::on(Interval::every(blocks))
    }

    fn state(mut self, _: &[&str], set: impl FnOnce(&mut TimerSpec)) -> Self {
        set(self.0.spec.get_or_insert_with(TimerSpec::default));
        self
    }

    /// The message of the module, without its sender.
    pub fn into_proto(self) -> MsgScheduleTimer {
        self.0
    }

    /// The message of this contract that schedules it, in the form that the contract's responses need (see [`Wire`]).
    pub fn into_msg<C: Wire>(self, contract: &Addr) -> CosmosMsg<C> {
        C::wrap(TimersCall::Schedule(Box::new(self.0)), contract)
    }

    /// The same as a submessage, whose reply names the timer (see [`timer_id`](crate::timer_id)).
    pub fn into_submsg<C: Wire>(self, contract: &Addr, reply_id: u64) -> SubMsg<C> {
        SubMsg::reply_on_success(self.into_msg(contract), reply_id)
    }

    /// The message as protobuf, for contracts with custom messages of other modules.
    pub fn into_any<T>(self, contract: &Addr) -> CosmosMsg<T> {
        TimersCall::Schedule(Box::new(self.0)).into_any(contract.as_str())
    }
}

/// A change of what was stated of a timer. What is not stated stays. Its id stays in any case, and it goes to the back of
/// those that are due with it.
///
/// ```
/// # use cosmwasm_std::{Addr, Response};
/// # use cw_timers::{TimerId, Update};
/// # let id = TimerId::new("ab".repeat(32)).unwrap();
/// # let me = Addr::unchecked("contract");
/// let msg = Update::of(&id).gas_limit(300_000).into_msg(&me);
/// let response: Response = Response::new().add_message(msg);
/// ```
///
/// The fields of a timer's spec are replaced one by one, and each as a whole: the call, which is the handler with its
/// payload or the messages; all conditions; the retries with their backoff and errors.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a change is made by the message that it makes"]
pub struct Update(MsgUpdateTimer);

states!(Update);

impl Update {
    /// A change of this timer.
    pub fn of(timer: impl Into<Which>) -> Self {
        let Which { id, name } = timer.into();
        Update(MsgUpdateTimer { id, name, ..Default::default() })
    }

    fn state(mut self, names: &[&str], set: impl FnOnce(&mut TimerSpec)) -> Self {
        for name in names {
            if !self.0.fields.iter().any(|field| field == name) {
                self.0.fields.push(name.to_string());
            }
        }
        set(self.0.spec.get_or_insert_with(TimerSpec::default));
        self
    }

    /// When it is due. A timer that fires once takes any trigger. That of one that repeats is replaced by one of the
    /// same kind: its occurrences lie after the last that was delivered, and count on. How it repeats and the ends of its
    /// life stay. What is refused is [`TimersError::UnsupportedTimerType`](crate::TimersError::UnsupportedTimerType).
    ///
    /// ```
    /// # use cw_timers::{Interval, TimerId, Update};
    /// # let id = TimerId::new("ab".repeat(32)).unwrap();
    /// let twice_as_often = Update::of(&id).trigger(Interval::every(50));
    /// ```
    pub fn trigger(self, trigger: impl Into<Trigger>) -> Self {
        self.state(&["trigger"], |spec| spec.trigger = Some(trigger.into().into()))
    }

    /// A field takes its default, by the chain's name for it: one of [`TimerSpec`], as `retry`, or of [`Repeat`], as
    /// `repeat.remaining`. Nothing else is stated of it then.
    ///
    /// ```
    /// # use cw_timers::{TimerId, Update};
    /// # let id = TimerId::new("ab".repeat(32)).unwrap();
    /// let change = Update::of(&id).reset("retry").reset("repeat.renew");
    /// ```
    pub fn reset(self, field: &str) -> Self {
        self.state(&[field], |_| {})
    }

    /// The change is made only if the timer's [`seq`](proto::TimerStatus::seq) is this one: nobody has changed it since. Else
    /// it is [`TimersError::Changed`](crate::TimersError::Changed).
    ///
    /// ```
    /// # use cw_timers::{TimerId, Update};
    /// # let id = TimerId::new("ab".repeat(32)).unwrap();
    /// let change = Update::of(&id).gas_limit(300_000).if_seq(7);
    /// ```
    pub fn if_seq(mut self, seq: u64) -> Self {
        self.0.if_seq = seq;
        self
    }

    /// The message of the module, without its sender.
    pub fn into_proto(self) -> MsgUpdateTimer {
        self.0
    }

    /// The message of this contract that makes the change.
    pub fn into_msg<C: Wire>(self, contract: &Addr) -> CosmosMsg<C> {
        C::wrap(TimersCall::Update(Box::new(self.0)), contract)
    }
}

/// A change of a timer's place: to cancel, extend, pause, resume, skip or run it; or of the contract's agent.
///
/// ```
/// # use cosmwasm_std::{Addr, Response};
/// # use cw_timers::{Change, TimerId};
/// # let id = TimerId::new("ab".repeat(32)).unwrap();
/// # let me = Addr::unchecked("contract");
/// let response: Response = Response::new().add_message(Change::cancel(&id).into_msg(&me));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a change is made by the message that it makes"]
pub struct Change(TimersCall);

impl Change {
    /// Removes a timer. One that is gone is [`TimersError::TimerNotFound`](crate::TimersError::TimerNotFound).
    pub fn cancel(timer: impl Into<Which>) -> Self {
        let Which { id, name } = timer.into();
        Change(TimersCall::Cancel(proto::MsgCancelTimer { id, name, ..Default::default() }))
    }

    /// Sets the last height at which a timer may fire. The chain clamps it to the longest life that it allows.
    pub fn extend(timer: impl Into<Which>, expires_at: u64) -> Self {
        let Which { id, name } = timer.into();
        Change(TimersCall::Extend(proto::MsgExtendTimer { id, name, expires_at, ..Default::default() }))
    }

    /// Sets the last block time at which a timer may fire, in whole seconds. The chain clamps it too.
    ///
    /// ```
    /// # use cosmwasm_std::{testing::mock_env, Addr, Response};
    /// # use cw_timers::{Change, TimerId};
    /// # let id = TimerId::new("ab".repeat(32)).unwrap();
    /// # let (env, me) = (mock_env(), Addr::unchecked("contract"));
    /// let change = Change::extend_time(&id, env.block.time.plus_days(30));
    /// let response: Response = Response::new().add_message(change.into_msg(&me));
    /// ```
    pub fn extend_time(timer: impl Into<Which>, time: Timestamp) -> Self {
        let Which { id, name } = timer.into();
        let expires_time = whole_seconds(time);
        Change(TimersCall::Extend(proto::MsgExtendTimer { id, name, expires_time, ..Default::default() }))
    }

    /// Puts a timer on hold until it is resumed or expires.
    pub fn pause(timer: impl Into<Which>) -> Self {
        let Which { id, name } = timer.into();
        Change(TimersCall::Pause(proto::MsgPauseTimer { id, name, ..Default::default() }))
    }

    /// Returns a paused, suspended or unfunded timer to the queue. One whose due height has passed is due in the next block.
    pub fn resume(timer: impl Into<Which>) -> Self {
        let Which { id, name } = timer.into();
        Change(TimersCall::Resume(proto::MsgResumeTimer { id, name, ..Default::default() }))
    }

    /// The same, and says when it fires if it was due while it was on hold.
    ///
    /// ```
    /// # use cosmwasm_std::{Addr, Response};
    /// # use cw_timers::{Change, ResumeAt, TimerId};
    /// # let id = TimerId::new("ab".repeat(32)).unwrap();
    /// # let me = Addr::unchecked("contract");
    /// let response: Response = Response::new().add_message(Change::resume_at(&id, ResumeAt::Next).into_msg(&me));
    /// ```
    pub fn resume_at(timer: impl Into<Which>, at: ResumeAt) -> Self {
        let Which { id, name } = timer.into();
        Change(TimersCall::Resume(proto::MsgResumeTimer { id, name, at: at.into(), ..Default::default() }))
    }

    /// Lets the next occurrences of a calendar or an interval pass, 1 to 1,000.
    ///
    /// ```
    /// # use cosmwasm_std::{Addr, Response};
    /// # use cw_timers::{Change, TimerId};
    /// # let id = TimerId::new("ab".repeat(32)).unwrap();
    /// # let me = Addr::unchecked("contract");
    /// let response: Response = Response::new().add_message(Change::skip(&id, 2).into_msg(&me));
    /// ```
    pub fn skip(timer: impl Into<Which>, count: u32) -> Self {
        let Which { id, name } = timer.into();
        Change(TimersCall::Skip(proto::MsgSkipTimer { id, name, count, ..Default::default() }))
    }

    /// The occurrence that a [`skip`](Change::skip) takes for the next, in seconds since 1970 or as a height: if it is another
    /// by then, nothing is skipped. 0 means whichever is the next. It changes nothing else.
    ///
    /// ```
    /// # use cosmwasm_std::{Addr, Response};
    /// # use cw_timers::{Change, TimerId};
    /// # let id = TimerId::new("ab".repeat(32)).unwrap();
    /// # let me = Addr::unchecked("contract");
    /// let change = Change::skip(&id, 1).skip_from(1_700_000_000);
    /// let response: Response = Response::new().add_message(change.into_msg(&me));
    /// ```
    pub fn skip_from(mut self, occurrence: u64) -> Self {
        if let TimersCall::Skip(skip) = &mut self.0 {
            skip.from = occurrence;
        }
        self
    }

    /// Makes the next occurrence of a calendar or an interval due in the next block. Its fire is paid, and consumes it.
    ///
    /// ```
    /// # use cosmwasm_std::{Addr, Response};
    /// # use cw_timers::{Change, TimerId};
    /// # let id = TimerId::new("ab".repeat(32)).unwrap();
    /// # let me = Addr::unchecked("contract");
    /// let response: Response = Response::new().add_message(Change::run(&id).into_msg(&me));
    /// ```
    pub fn run(timer: impl Into<Which>) -> Self {
        let Which { id, name } = timer.into();
        Change(TimersCall::Run(proto::MsgRunTimer { id, name, ..Default::default() }))
    }

    /// Registers a contract or a module as the agent that prices those of the sender's timers that state no bid.
    pub fn set_agent(agent: impl Into<String>) -> Self {
        Change(TimersCall::SetAgent(proto::MsgSetAgent { agent: agent.into(), ..Default::default() }))
    }

    /// Clears the sender's agent.
    pub fn clear_agent() -> Self {
        Change::set_agent("")
    }

    /// The contract whose timer it is, for which the sender has scheduled it; by default the sender. An agent is always the
    /// sender's own.
    pub fn actor(mut self, contract: impl Into<String>) -> Self {
        let contract = contract.into();
        match &mut self.0 {
            TimersCall::Cancel(msg) => msg.actor = contract,
            TimersCall::Extend(msg) => msg.actor = contract,
            TimersCall::Pause(msg) => msg.actor = contract,
            TimersCall::Resume(msg) => msg.actor = contract,
            TimersCall::Skip(msg) => msg.actor = contract,
            TimersCall::Run(msg) => msg.actor = contract,
            TimersCall::Schedule(_) | TimersCall::Update(_) | TimersCall::SetAgent(_) => {}
        }
        self
    }

    /// The message of this contract that makes the change.
    pub fn into_msg<C: Wire>(self, contract: &Addr) -> CosmosMsg<C> {
        C::wrap(self.0, contract)
    }

    /// The same as a submessage that may fail: a timer that is gone already can't be cancelled, and a contract that only wants
    /// it gone goes on. If it fails the contract gets a reply, which has nothing to do but succeed.
    pub fn into_optional<C: Wire>(self, contract: &Addr, reply_id: u64) -> SubMsg<C> {
        SubMsg::reply_on_error(self.into_msg(contract), reply_id)
    }
}
