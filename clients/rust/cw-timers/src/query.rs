use cosmwasm_std::{CustomQuery, Empty, QuerierWrapper, QueryRequest, StdError, StdResult, Uint128};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::bid::Bid;
use crate::id::TimerId;
use crate::proto::{
    DeliveryInfo, Message, PageRequest, Policy, QueryAgentRequest, QueryAgentResponse, QueryDeliveriesRequest,
    QueryDeliveriesResponse, QueryEstimateRequest, QueryEstimateResponse, QueryLaneRequest, QueryLaneResponse,
    QueryOccurrencesRequest, QueryOccurrencesResponse, QueryParamsRequest, QueryParamsResponse, QueryTimerRequest,
    QueryTimerResponse, QueryTimersByActorRequest, QueryTimersByActorResponse, TimerInfo, TimerSpec,
};
use crate::trigger::Trigger;

/// The custom query of contracts on chains with the JSON binding: `{"timers": {"lane": {}}}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimersQuery {
    /// A query of the module.
    Timers(TimersRequest),
}

impl CustomQuery for TimersQuery {}

/// A query that the chain opens to contracts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
#[allow(clippy::large_enum_variant)] // A contract makes one at a time; a box would show in every use.
pub enum TimersRequest {
    /// One timer.
    Timer(QueryTimerRequest),
    /// The live timers of an actor.
    TimersByActor(QueryTimersByActorRequest),
    /// The deliveries of an actor's timers, the last one first.
    Deliveries(QueryDeliveriesRequest),
    /// The agent that prices those timers of an actor that state no bid.
    Agent(QueryAgentRequest),
    /// Prices, use and budgets of the lane.
    Lane(QueryLaneRequest),
    /// What a timer would pay, and how long it would likely wait.
    Estimate(QueryEstimateRequest),
    /// The config in force.
    Params(QueryParamsRequest),
    /// When a timer is due next.
    Occurrences(QueryOccurrencesRequest),
}

/// A request with the type of its answer.
pub trait Request: Message {
    /// The answer.
    type Response: Message + DeserializeOwned;
    /// Where the chain answers it.
    const PATH: &'static str;
    /// The request in the JSON binding.
    fn into_json(self) -> TimersRequest;
}

macro_rules! requests {
    ($( $variant:ident: $request:ty => $response:ty, )*) => {$(
        impl Request for $request {
            type Response = $response;
            const PATH: &'static str = concat!("/timers.v1.Query/", stringify!($variant));
            fn into_json(self) -> TimersRequest {
                TimersRequest::$variant(self)
            }
        }
    )*};
}

requests! {
    Timer: QueryTimerRequest => QueryTimerResponse,
    TimersByActor: QueryTimersByActorRequest => QueryTimersByActorResponse,
    Deliveries: QueryDeliveriesRequest => QueryDeliveriesResponse,
    Agent: QueryAgentRequest => QueryAgentResponse,
    Lane: QueryLaneRequest => QueryLaneResponse,
    Estimate: QueryEstimateRequest => QueryEstimateResponse,
    Params: QueryParamsRequest => QueryParamsResponse,
    Occurrences: QueryOccurrencesRequest => QueryOccurrencesResponse,
}

/// How a contract asks the module: the type of its custom queries decides, as [`Wire`](crate::Wire) does for messages.
pub trait QueryWire: CustomQuery {
    /// Asks.
    fn ask<Q: Request>(querier: &QuerierWrapper<'_, Self>, request: Q) -> StdResult<Q::Response>
    where
        Self: Sized;
}

/// Protobuf, which every chain answers that lets contracts make the module's queries.
impl QueryWire for Empty {
    fn ask<Q: Request>(querier: &QuerierWrapper<'_, Self>, request: Q) -> StdResult<Q::Response> {
        let answer = querier.query_grpc(Q::PATH.to_string(), request.encode())?;
        Ok(Q::Response::decode(&answer)?)
    }
}

/// JSON, on chains with the binding.
impl QueryWire for TimersQuery {
    fn ask<Q: Request>(querier: &QuerierWrapper<'_, Self>, request: Q) -> StdResult<Q::Response> {
        querier.query(&QueryRequest::Custom(TimersQuery::Timers(request.into_json())))
    }
}

/// Asks the module. Each query costs gas: `x/timers/docs/use/contracts.md` says how much.
///
/// ```
/// use cosmwasm_std::{Deps, Env, StdResult};
/// use cw_timers::{Estimate, TimersQuerier};
///
/// # #[allow(dead_code)]
/// fn what_must_i_hold(deps: Deps, _env: Env) -> StdResult<String> {
///     let estimate = TimersQuerier::new(&deps.querier).estimate(Estimate::gas_limit(200_000).payload_bytes(100))?;
///     Ok(estimate.pre_charge)
/// }
/// ```
#[derive(Clone, Copy)]
pub struct TimersQuerier<'a, C: QueryWire = Empty> {
    querier: &'a QuerierWrapper<'a, C>,
}

impl<'a, C: QueryWire> TimersQuerier<'a, C> {
    /// By a contract's querier: `&deps.querier`.
    pub fn new(querier: &'a QuerierWrapper<'a, C>) -> Self {
        TimersQuerier { querier }
    }

    /// Any request.
    pub fn ask<Q: Request>(&self, request: Q) -> StdResult<Q::Response> {
        C::ask(self.querier, request)
    }

    /// A timer of an actor.
    pub fn timer(&self, actor: impl Into<String>, id: &TimerId) -> StdResult<TimerInfo> {
        let answer = self.ask(QueryTimerRequest { actor: actor.into(), id: id.to_string(), ..Default::default() })?;
        Ok(answer.timer.unwrap_or_default())
    }

    /// A page of an actor's live timers. The chain's pages have at most 1,000 entries.
    pub fn timers(&self, actor: impl Into<String>, page: Option<PageRequest>) -> StdResult<QueryTimersByActorResponse> {
        self.ask(QueryTimersByActorRequest { actor: actor.into(), pagination: page, verdict: false })
    }

    /// A page of the deliveries of an actor's timers, or of one of them, the last one first; as long as receipts are kept. A
    /// page may have no entry and lead to another.
    pub fn deliveries(
        &self,
        actor: impl Into<String>,
        id: Option<&TimerId>,
        page: Option<PageRequest>,
    ) -> StdResult<QueryDeliveriesResponse> {
        let id = id.map(TimerId::to_string).unwrap_or_default();
        self.ask(QueryDeliveriesRequest { actor: actor.into(), id, pagination: page })
    }

    /// The last delivery of a timer, if its receipt is on the first page that the chain reads.
    pub fn last_delivery(&self, actor: impl Into<String>, id: &TimerId) -> StdResult<Option<DeliveryInfo>> {
        Ok(self.deliveries(actor, Some(id), Some(PageRequest::first(1)))?.deliveries.into_iter().next())
    }

    /// The agent of an actor; `None` if it has none.
    pub fn agent(&self, actor: impl Into<String>) -> StdResult<Option<String>> {
        let agent = self.ask(QueryAgentRequest { actor: actor.into() })?.agent;
        Ok(Some(agent).filter(|agent| !agent.is_empty()))
    }

    /// Prices, use and budgets of the lane.
    pub fn lane(&self) -> StdResult<QueryLaneResponse> {
        self.ask(QueryLaneRequest::default())
    }

    /// What a timer would pay, and how long it would likely wait, if it were due in the next block.
    pub fn estimate(&self, estimate: Estimate) -> StdResult<QueryEstimateResponse> {
        self.ask(estimate.0)
    }

    /// When a timer of an actor is due next: at most so many occurrences, 1 to 100; 0 means 5.
    ///
    /// ```
    /// use cosmwasm_std::{Deps, Env, StdResult};
    /// use cw_timers::{TimerId, TimersQuerier};
    ///
    /// # #[allow(dead_code)]
    /// fn next_rent(deps: Deps, env: Env, rent: &TimerId) -> StdResult<Option<u64>> {
    ///     let answer = TimersQuerier::new(&deps.querier).occurrences(env.contract.address, rent, 1)?;
    ///     Ok(answer.occurrences.first().map(|next| next.due))
    /// }
    /// ```
    pub fn occurrences(
        &self,
        actor: impl Into<String>,
        id: &TimerId,
        limit: u32,
    ) -> StdResult<QueryOccurrencesResponse> {
        self.ask(QueryOccurrencesRequest { actor: actor.into(), id: id.to_string(), limit, ..Default::default() })
    }

    /// When a timer with this trigger would be due if it were scheduled now, with the default ends of its life. Jitter,
    /// which follows from the id, is left aside. For other ends: [`ask`](TimersQuerier::ask).
    pub fn occurrences_of(&self, trigger: impl Into<Trigger>, limit: u32) -> StdResult<QueryOccurrencesResponse> {
        let spec = Some(TimerSpec { trigger: Some(trigger.into().into()), ..Default::default() });
        self.ask(QueryOccurrencesRequest { spec, limit, ..Default::default() })
    }

    /// The config in force.
    pub fn params(&self) -> StdResult<QueryParamsResponse> {
        self.ask(QueryParamsRequest::default())
    }
}

/// How many of today's pre-charges [`default_max_charge`] lets one fire cost.
const DEFAULT_CHARGES: u128 = 10;

/// The most that one fire may cost where nothing else is known of it, as the command line states it: ten times what it may
/// cost today, a bid that is locked included. It is 0, which is no bound, where a fire is free, and where the chain takes
/// no bound that large.
///
/// ```
/// use cosmwasm_std::{Deps, StdResult};
/// use cw_timers::{default_max_charge, Bid, Estimate, Timer, TimersQuerier};
///
/// # #[allow(dead_code)]
/// fn rent(deps: Deps) -> StdResult<Timer> {
///     let today = TimersQuerier::new(&deps.querier).estimate(Estimate::gas_limit(200_000))?;
///     let timer = Timer::every(100).payload(&"rent")?.gas_limit(200_000);
///     Ok(timer.max_charge(default_max_charge(&today, &Bid::Default)?))
/// }
/// ```
pub fn default_max_charge(today: &QueryEstimateResponse, bid: &Bid) -> StdResult<Uint128> {
    let no_amount = |_| StdError::generic_err(format!("pre_charge {:?} is no amount of 128 bits", today.pre_charge));
    let mut cost: u128 = today.pre_charge.parse().map_err(no_amount)?;
    if let (Policy::Auction, Bid::Price(locked)) = (today.policy, bid) {
        cost = cost.saturating_add(locked.u128());
    }
    let most = cost.saturating_mul(DEFAULT_CHARGES);
    Ok(if most >> 96 == 0 { most.into() } else { 0u128.into() })
}

/// What an estimate is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Estimate(QueryEstimateRequest);

impl Estimate {
    /// For a timer with the chain's default limits.
    pub fn new() -> Self {
        Estimate::default()
    }

    /// For a gas limit.
    pub fn gas_limit(cycles: u64) -> Self {
        Estimate(QueryEstimateRequest { gas_limit: cycles, ..Default::default() })
    }

    /// For a cell limit.
    #[must_use]
    pub fn cell_limit(mut self, cells: u64) -> Self {
        self.0.cell_limit = cells;
        self
    }

    /// For a payload of this length.
    #[must_use]
    pub fn payload_bytes(mut self, bytes: u64) -> Self {
        self.0.payload_bytes = bytes;
        self
    }

    /// For an actor, whose fairness weight counts.
    #[must_use]
    pub fn actor(mut self, actor: impl Into<String>) -> Self {
        self.0.actor = actor.into();
        self
    }

    /// For a tier of the usual tip.
    #[must_use]
    pub fn tier(mut self, tier: crate::Tier) -> Self {
        self.0.tier = tier.into();
        self
    }

    /// For a bound of the charge.
    #[must_use]
    pub fn max_charge(mut self, amount: impl Into<Uint128>) -> Self {
        self.0.max_charge = amount.into().to_string();
        self
    }

    /// The request.
    pub fn into_proto(self) -> QueryEstimateRequest {
        self.0
    }
}
