//! The queries that the chain opens to contracts.

use cosmwasm_std::{Binary, Storage, Uint128};
use cw_multi_test::error::{AnyError, AnyResult};
use cw_timers::proto::{
    DeliveryInfo, EstimateBasis, HoldReason, Message, PageRequest, PageResponse, Policy, QueryAgentResponse,
    QueryDeliveriesRequest, QueryDeliveriesResponse, QueryEstimateRequest, QueryEstimateResponse, QueryLaneResponse,
    QueryOccurrencesRequest, QueryOccurrencesResponse, QueryParamsResponse, QueryTimerRequest, QueryTimerResponse,
    QueryTimersByActorRequest, QueryTimersByActorResponse, TimerCall, TimerInfo, TimerPhase, TimerTier, Verdict,
};

use crate::config::Config;
use crate::keeper::messages_of;
use crate::recur;
use crate::settle::{cost, decimal};
use crate::store::{self, Books, Moment, Record, Timer};

/// What a query reads.
pub(crate) struct View<'a> {
    pub storage: &'a dyn Storage,
    pub height: u64,
    pub time: i64,
    /// In force, and from the next block on.
    pub config: &'a Config,
    pub next_config: Option<&'a Config>,
}

/// The longest payload that a list shows.
const LISTED_BYTES: usize = 512;
const RING_SIZE: u64 = 256;
const EPOCHS: u64 = 720 * 3_600;

impl View<'_> {
    fn next(&self) -> &Config {
        self.next_config.unwrap_or(self.config)
    }

    fn shown(&self, record: &Record, whole: bool) -> TimerInfo {
        let mut info = record.info.clone();
        let mut status = std::mem::take(&mut info.status);
        status.fee_payer = record.payer().into_string();
        status.left = recur::left(&record.info);
        status.phase = match status.hold_reason {
            _ if record.expired_at(Moment { height: self.height + 1, time: self.time }) => TimerPhase::Expired,
            HoldReason::Watching => TimerPhase::Watching,
            HoldReason::Unspecified if status.due <= self.height => TimerPhase::Ready,
            HoldReason::Unspecified | HoldReason::Timed => TimerPhase::Pending,
            _ => TimerPhase::OnHold,
        };
        // What a block makes of a ready timer is not modelled: it stays unspecified, as where nobody asks.
        status.verdict = match status.phase {
            TimerPhase::Expired => Verdict::Expired,
            TimerPhase::Watching => Verdict::Watching,
            TimerPhase::OnHold => Verdict::OnHold,
            TimerPhase::Pending if status.hold_reason == HoldReason::Timed || status.due > self.height + 1 => {
                Verdict::Pending
            }
            _ => Verdict::Unspecified,
        };
        status.tier = match status.due.saturating_sub(self.height) {
            0..=RING_SIZE => TimerTier::Near,
            d if d <= EPOCHS => TimerTier::Epoch,
            _ => TimerTier::Far,
        };
        if let Some(call) = &mut info.spec.call {
            if !whole && call.payload.len() > LISTED_BYTES {
                call.payload = Binary::default();
            }
            if whole && status.runs_messages {
                let messages = messages_of(&call.payload).unwrap_or_default();
                *call = TimerCall::with(|c| c.messages = messages);
            }
        }
        TimerInfo::with(|t| {
            (t.id, t.actor, t.scheduler) = (info.id, info.actor, info.scheduler);
            (t.spec, t.status) = (Some(info.spec), Some(status));
        })
    }

    pub(crate) fn timer(&self, request: QueryTimerRequest) -> AnyResult<QueryTimerResponse> {
        let QueryTimerRequest { actor, id, name, scheduler, .. } = request;
        let record = if name.is_empty() {
            Record::named(self.storage, &actor, &id)?
        } else {
            let now = Moment { height: self.height, time: self.time };
            let scheduler = if scheduler.is_empty() { &actor } else { &scheduler };
            Record::with_name(self.storage, now, (&actor, scheduler), &name)?
        };
        Ok(QueryTimerResponse::with(|r| r.timer = Some(self.shown(&record, true))))
    }

    pub(crate) fn timers_by_actor(&self, request: QueryTimersByActorRequest) -> AnyResult<QueryTimersByActorResponse> {
        let mut records = Record::of(self.storage, &request.actor);
        // Those on hold first, the others by due height.
        records.sort_by_key(|r| (r.in_queue(), if r.in_queue() { r.info.status.due } else { 0 }, r.info.status.seq));
        let total = records.len() as u32;
        let (page, mut pagination) = page(records, &request.pagination.unwrap_or_default())?;
        pagination.total = u64::from(total);
        Ok(QueryTimersByActorResponse::with(|r| {
            r.timers = page.iter().map(|record| self.shown(record, false)).collect();
            r.pagination = Some(pagination);
            r.total = total;
        }))
    }

    pub(crate) fn deliveries(&self, request: QueryDeliveriesRequest) -> AnyResult<QueryDeliveriesResponse> {
        let pagination = request.pagination.unwrap_or_default();
        if pagination.offset != 0 || pagination.count_total {
            return Err(AnyError::msg("deliveries have no offset, and are not counted"));
        }
        let of = |d: &DeliveryInfo| {
            d.receipt.as_ref().is_some_and(|r| r.actor == request.actor && r.timer_id.starts_with(&request.id))
        };
        let mut found: Vec<DeliveryInfo> = store::receipts(self.storage).into_iter().filter(of).collect();
        // The last delivery comes first; reverse lists the first one first.
        found.reverse();
        let (deliveries, pagination) = page(found, &pagination)?;
        let kept_from = self.height.saturating_sub(self.config.receipt_retention_blocks).max(1);
        Ok(QueryDeliveriesResponse::with(|r| {
            r.deliveries = deliveries;
            r.pagination = Some(pagination);
            r.kept_from = kept_from;
        }))
    }

    pub(crate) fn occurrences(&self, request: QueryOccurrencesRequest) -> AnyResult<QueryOccurrencesResponse> {
        const MOST: u32 = 100;
        let limit = match request.limit {
            0 => 5,
            limit if limit <= MOST => limit,
            limit => return Err(AnyError::msg(format!("limit is {limit}, want at most {MOST}"))),
        };
        let named = !request.actor.is_empty() || !request.id.is_empty();
        let now = Moment { height: self.height, time: self.time };
        let timer = match request.spec {
            None if named => Record::named(self.storage, &request.actor, &request.id)?.info,
            Some(spec) if !named => {
                let mut timer = Timer::default();
                (timer.spec.trigger, timer.spec.repeat) = (spec.trigger, spec.repeat);
                (timer.status.expires_at, timer.status.expires_time) = (spec.expires_at, spec.expires_time);
                recur::prepare(self.config, &mut timer, now)?;
                recur::check_life(self.config, &mut timer, now)?;
                timer
            }
            _ => return Err(AnyError::msg("state an actor and the id of a timer of it, or a spec")),
        };
        let (occurrences, more) = recur::upcoming(&timer, now, u64::from(limit));
        let by_time = recur::by_time(&timer);
        Ok(QueryOccurrencesResponse::with(|r| (r.occurrences, r.by_time, r.more) = (occurrences, by_time, more)))
    }

    pub(crate) fn agent(&self, actor: &str) -> QueryAgentResponse {
        QueryAgentResponse::with(|r| r.agent = store::agent(self.storage, actor))
    }

    pub(crate) fn lane(&self) -> QueryLaneResponse {
        let (books, config) = (Books::load(self.storage), self.next());
        QueryLaneResponse::with(|r| {
            r.height = self.height;
            r.policy = Policy::Fifo;
            r.paused = config.lane_paused;
            r.cycle_basefee = decimal(config.cycle_basefee);
            r.cell_basefee = decimal(config.cell_basefee);
            // Under fifo the lane's basefee is reported as that of cycles, and not charged beside it.
            r.lane_basefee = decimal(self.config.cycle_basefee);
            r.next_lane_basefee = decimal(config.cycle_basefee);
            r.p50 = decimal(cosmwasm_std::Decimal::zero());
            r.used_size = books.used_size;
            r.cycles = books.cycles;
            r.lane_timer_cycles = config.lane_timer_cycles;
            r.cells = books.cells;
            r.lane_timer_cells = config.lane_timer_cells;
            r.burned = books.burned.to_string();
            r.tips = "0".to_string();
            r.lane_burned = "0".to_string();
            r.fee_denom = config.fee_denom.clone();
            r.max_cycles_per_fire = config.max_cycles_per_fire;
        })
    }

    pub(crate) fn params(&self) -> QueryParamsResponse {
        QueryParamsResponse::with(|r| {
            r.config = Some(self.config.to_proto());
            r.next_config = self.next_config.map(Config::to_proto);
        })
    }

    /// What a timer would pay in the next block, and how long it would wait behind those that are ready then.
    pub(crate) fn estimate(&self, request: QueryEstimateRequest) -> AnyResult<QueryEstimateResponse> {
        let config = self.next();
        let or = |stated: u64, default: u64| if stated == 0 { default } else { stated };
        let gas = or(request.gas_limit, config.max_cycles_per_fire);
        let cells = or(request.cell_limit, config.cell_limit());
        if !(config.min_gas_limit..=config.max_cycles_per_fire).contains(&gas) {
            return Err(cw_timers::TimersError::GasLimitOutOfBounds.into());
        }
        if cells > config.max_cells_per_fire {
            return Err(cw_timers::TimersError::CellLimitOutOfBounds.into());
        }
        if request.payload_bytes > config.max_payload_bytes {
            return Err(cw_timers::TimersError::PayloadTooLong.into());
        }
        let intrinsic = config.intrinsic(0, request.payload_bytes, request.message_bytes);
        if gas <= intrinsic {
            return Err(cw_timers::TimersError::GasLimitOutOfBounds.into());
        }
        let pre_charge = cost(config.cycle_basefee, config.cell_basefee, gas, cells);
        let size = config.size(gas, cells);
        let height = self.height + 1;
        let mut out = QueryEstimateResponse::with(|r| {
            r.height = height;
            r.gas_limit = gas;
            r.cell_limit = cells;
            r.reserved_size = size;
            r.cycle_basefee = decimal(config.cycle_basefee);
            r.lane_fee = decimal(cosmwasm_std::Decimal::zero());
            r.priority = decimal(cosmwasm_std::Decimal::zero());
            r.cell_basefee = decimal(config.cell_basefee);
            r.pre_charge = pre_charge.to_string();
            r.cost_of_cycles = cost(config.cycle_basefee, config.cell_basefee, gas, 0).to_string();
            r.fee_denom = config.fee_denom.clone();
            r.policy = Policy::Fifo;
            r.intrinsic_cycles = intrinsic;
        });
        let ceiling: u128 = request.max_charge.parse().unwrap_or(0);
        if config.lane_paused {
            out.basis = EstimateBasis::Paused;
            return Ok(out);
        }
        if ceiling != 0 && pre_charge > Uint128::new(ceiling) {
            return Err(AnyError::msg("max_charge is below the pre-charge"));
        }
        let mut once = 0u64;
        let mut always = 0u64;
        for record in Record::all(self.storage).iter().filter(|r| r.ready_at(Moment { height, time: self.time })) {
            let reserved = config.size(record.info.status.gas_limit, record.info.status.cell_limit);
            out.ahead += 1;
            out.ahead_size += reserved;
            match returning(&record.info, height) {
                Some(cycles) => {
                    out.returning += 1;
                    always += config.size(cycles, record.info.status.cell_limit);
                }
                None => once += reserved,
            }
        }
        let mut room = config.lane_timer_cycles;
        out.basis = EstimateBasis::AllReady;
        if always + size > room {
            out.basis = EstimateBasis::Crowded;
        } else {
            room -= always;
        }
        out.wait_blocks = (once + size - 1) / room;
        Ok(out)
    }
}

/// The cycles of the last fire of a timer that fires in every block.
fn returning(timer: &Timer, height: u64) -> Option<u64> {
    let interval = timer.spec.trigger.as_ref()?.interval.as_ref()?;
    let outcome = timer.status.last_outcome.as_ref()?;
    (interval.every == 1 && timer.status.due + 1 >= height && outcome.height + 1 == timer.status.due)
        .then_some(outcome.cycles)
}

/// A page of a list. Its keys are positions.
fn page<T>(mut all: Vec<T>, request: &PageRequest) -> AnyResult<(Vec<T>, PageResponse)> {
    const MOST: u64 = 1_000;
    if request.reverse {
        all.reverse();
    }
    let from = match request.key.len() {
        0 => request.offset,
        8 => u64::from_be_bytes(request.key.to_array()?),
        n => return Err(AnyError::msg(format!("a key of {n} bytes is none of this list"))),
    };
    let limit = match request.limit {
        0 => 100,
        limit => limit.min(MOST),
    };
    let rest: Vec<T> = all.into_iter().skip(usize::try_from(from).unwrap_or(usize::MAX)).collect();
    let more = rest.len() as u64 > limit;
    let page = rest.into_iter().take(limit as usize).collect();
    let response = PageResponse::with(|r| {
        if more {
            r.next_key = (from + limit).to_be_bytes().into();
        }
    });
    Ok((page, response))
}
