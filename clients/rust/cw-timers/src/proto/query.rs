//! The types of `timers/v1/query.proto` that contracts need.

use cosmwasm_std::Binary;

use super::{
    Any, HoldReason, Outcome, PageRequest, PageResponse, Policy, PriorityTier, Recurrence, Renewal, TimerConfig,
    TimerSpec, TimerTier, Verdict, WatchedKey,
};
use crate::describe::{enums, messages};

enums! {
    /// `TimerPhase` is where a live timer stands.
    TimerPhase = "timers.v1.TimerPhase" {
        /// Unspecified.
        0 Unspecified = "TIMER_PHASE_UNSPECIFIED",
        /// Not due yet.
        1 Pending = "TIMER_PHASE_PENDING",
        /// Due, and waiting for the lane.
        2 Ready = "TIMER_PHASE_READY",
        /// Will never fire, and waits for cleanup.
        3 Expired = "TIMER_PHASE_EXPIRED",
        /// Not in the queue; hold_reason says why.
        4 OnHold = "TIMER_PHASE_ON_HOLD",
        /// Waits for watched state to change.
        40 Watching = "TIMER_PHASE_WATCHING",
    }
    /// `EstimateBasis` is what an estimated wait is based on.
    EstimateBasis = "timers.v1.EstimateBasis" {
        /// Unspecified.
        0 Unspecified = "ESTIMATE_BASIS_UNSPECIFIED",
        /// Every ready timer was ranked.
        1 AllReady = "ESTIMATE_BASIS_ALL_READY",
        /// The lane is overloaded, and not every ready timer was ranked. Those ahead are counted up to a bound;
        /// those not yet admitted are not counted.
        2 Storm = "ESTIMATE_BASIS_STORM",
        /// The bid is below the lane basefee, or the pre-charge is above max_charge. The wait is the time until
        /// the basefee has fallen so far, if the lane stays idle.
        3 PricedOut = "ESTIMATE_BASIS_PRICED_OUT",
        /// The lane is paused; no timer fires until governance resumes it.
        4 Paused = "ESTIMATE_BASIS_PAUSED",
        /// Timers that come before it return in every block and leave it no room. The wait counts them once: it
        /// is the least that is possible. It ends when they end or can't pay any more.
        5 Crowded = "ESTIMATE_BASIS_CROWDED",
    }
}

messages! {
    /// `TimerInfo` is a timer in a form for people: ids in hexadecimal. Lists leave out messages, and a
    /// payload of more than 512 bytes; the query Timer shows them.
    TimerInfo = "timers.v1.TimerInfo" {
        /// `id` in lower-case hexadecimal.
        1 id: String,
        /// Actor.
        2 actor: String,
        /// `scheduler` is who scheduled it, where that is not the actor: a contract's admin.
        3 scheduler: String,
        /// `spec` is what its owner stated. A payload of messages is stated as these; it is empty in a list if it
        /// is long.
        4 spec: Option<TimerSpec>,
        /// `status` is what became of it, and what follows from the spec.
        5 status: Option<TimerStatus>,
    }
    /// `TimerStatus` is the chain's part of a timer: no message states it.
    TimerStatus = "timers.v1.TimerStatus" {
        /// Phase.
        1 phase: TimerPhase,
        /// Tier.
        2 tier: TimerTier,
        /// `due` is the height at which it became due this time, or will; due_time the time, jitter included, in
        /// seconds since 1970, or 0.
        3 due: u64,
        /// Due time.
        4 due_time: i64,
        /// `since` is the height at which it became due this time, where due is a later one; 0 if that is due.
        5 since: u64,
        /// `expires_at` is the last height at which it may fire, and expires_time the last block time, in seconds
        /// since 1970; 0 means none.
        6 expires_at: u64,
        /// Expires time.
        7 expires_time: i64,
        /// `gas_limit` and cell_limit are those in force, and fee_payer is who pays.
        8 gas_limit: u64,
        /// Cell limit.
        9 cell_limit: u64,
        /// Fee payer.
        10 fee_payer: String,
        /// `start` is where the trigger begins, where the spec leaves that open: the first height of an interval,
        /// or the anchor of a calendar in seconds since 1970.
        11 start: u64,
        /// `left` is how many deliveries are left of the stated ones; 0 means that they are not counted.
        12 left: u64,
        /// `payload_bytes` is the length of the payload.
        13 payload_bytes: u64,
        /// `runs_messages`: a contract's payload is messages that run as the contract, as an account's always is.
        14 runs_messages: bool,
        /// Schedule height.
        15 schedule_height: u64,
        /// Seq.
        16 seq: u64,
        /// Hold reason.
        17 hold_reason: HoldReason,
        /// Fire seq.
        18 fire_seq: u32,
        /// `deliveries` is how many occurrences were tried by a fire that was not guarded, and tried whether the
        /// one in hand was.
        19 deliveries: u64,
        /// Tried.
        20 tried: bool,
        /// `retries` is the number of retries used, the next fire included.
        21 retries: u32,
        /// `failures` and skips in a row.
        22 failures: u32,
        /// Skips.
        23 skips: u32,
        /// `last_outcome` is that of its last delivery, if it stayed after one.
        24 last_outcome: Option<Outcome>,
        /// `recurrence` is what it keeps of its occurrences; none if its trigger has none.
        25 recurrence: Option<Recurrence>,
        /// `renewal` is the life that the last statement of its end gave it, if it repeats: what a fire gives
        /// again if it renews itself.
        26 renewal: Option<Renewal>,
        /// `bid_locked` is the bid that the module's account holds for it; empty means 0.
        27 bid_locked: String,
        /// `unfunded_since` is the height at which, under policy tip, its payer lacked funds. Since then it waits
        /// for the payer.
        28 unfunded_since: u64,
        /// `matched` are the watched keys that made it due; empty until one did.
        29 matched: Vec<WatchedKey>,
        /// `verdict` is what the next block makes of it if nothing changes until then. That of a timer which is
        /// ready, or due in that block, is unspecified unless the request asks for it.
        30 verdict: Verdict,
        /// `tip_cap` is the most that a fire tips per cycle, where that is less than the bid states: what its max
        /// fee left when it was stated.
        31 tip_cap: String,
    }
    /// `Opcodes` are the numbers by which tools identify the authority's messages.
    Opcodes = "timers.v1.Opcodes" {
        /// Sys cancel timer.
        1 sys_cancel_timer: u32,
        /// Sys update timer config.
        2 sys_update_timer_config: u32,
        /// Sys extend timer.
        3 sys_extend_timer: u32,
    }
    /// QueryParamsRequest.
    QueryParamsRequest = "timers.v1.QueryParamsRequest" {
        /// `fields` are the paths of parameters that a MsgUpdateTimerConfig is to set; none for the whole
        /// config.
        1 fields: Vec<String>,
    }
    /// QueryParamsResponse.
    QueryParamsResponse = "timers.v1.QueryParamsResponse" {
        /// Config.
        1 config: Option<TimerConfig>,
        /// `next_config` is a change that is in force from the next block.
        2 next_config: Option<TimerConfig>,
        /// Opcodes.
        3 opcodes: Option<Opcodes>,
        /// `authority` may send the Sys messages.
        4 authority: String,
        /// `expected` is what a MsgUpdateTimerConfig with these fields states as such if it is made from
        /// next_config, or from config if there is no change.
        5 expected: Binary,
    }
    /// QueryTimerRequest.
    QueryTimerRequest = "timers.v1.QueryTimerRequest" {
        /// Actor.
        1 actor: String,
        /// `id` is the id in hexadecimal or a unique prefix of it; empty where the name is stated.
        2 id: String,
        /// `verdict` asks what the next block makes of the timer if it is ready, which takes as long as to rank
        /// what is ready.
        3 verdict: bool,
        /// `name` that the timer has of its scheduler, who is the actor if none is stated. Not together with an
        /// id.
        4 name: String,
        /// Scheduler.
        5 scheduler: String,
    }
    /// QueryTimerResponse.
    QueryTimerResponse = "timers.v1.QueryTimerResponse" {
        /// Timer.
        1 timer: Option<TimerInfo>,
    }
    /// QueryTimersByActorRequest.
    QueryTimersByActorRequest = "timers.v1.QueryTimersByActorRequest" {
        /// Actor.
        1 actor: String,
        /// Pagination.
        2 pagination: Option<PageRequest>,
        /// `verdict` asks what the next block makes of those that are ready, which takes as long as to rank
        /// what is ready.
        3 verdict: bool,
    }
    /// QueryTimersByActorResponse.
    QueryTimersByActorResponse = "timers.v1.QueryTimersByActorResponse" {
        /// Timers.
        1 timers: Vec<TimerInfo>,
        /// Pagination.
        2 pagination: Option<PageResponse>,
        /// `total` is the number of the actor's live timers.
        3 total: u32,
    }
    /// QueryLaneRequest.
    QueryLaneRequest = "timers.v1.QueryLaneRequest" {
    }
    /// QueryLaneResponse.
    QueryLaneResponse = "timers.v1.QueryLaneResponse" {
        /// Height.
        1 height: u64,
        /// Policy.
        2 policy: Policy,
        /// Paused.
        3 paused: bool,
        /// `cycle_basefee` and cell_basefee that the next block charges.
        4 cycle_basefee: String,
        /// Cell basefee.
        5 cell_basefee: String,
        /// `basefee_codespace` and basefee_code are the error with which the chain's fee market gives no prices
        /// for the next block. Then cycle_basefee and cell_basefee are its last good ones, or the config's.
        /// Empty and 0 while it gives prices.
        50 basefee_codespace: String,
        /// Basefee code.
        51 basefee_code: u32,
        /// `lane_basefee` of the last block.
        6 lane_basefee: String,
        /// `next_lane_basefee` of the next block.
        7 next_lane_basefee: String,
        /// `used_size` is the sum of the sizes of the last block's fires, in cycles.
        19 used_size: u64,
        /// `cycles` and cells that the last block used, followed by the budgets of a block.
        8 cycles: u64,
        /// Lane timer cycles.
        9 lane_timer_cycles: u64,
        /// Cells.
        10 cells: u64,
        /// Lane timer cells.
        11 lane_timer_cells: u64,
        /// Gc cycles per block.
        12 gc_cycles_per_block: u64,
        /// Burned.
        13 burned: String,
        /// Tips.
        14 tips: String,
        /// `lane_burned` is the part of burned that was the lane's fee.
        20 lane_burned: String,
        /// Fee denom.
        15 fee_denom: String,
        /// `p50` is the usual tip per unit of size in the next block.
        16 p50: String,
        /// `admitted` is the number of timers in the ready index. Above 0, the lane is overloaded or was until
        /// recently.
        17 admitted: u64,
        /// `max_cycles_per_fire` is the largest gas limit that the policy in force in the next block can run.
        18 max_cycles_per_fire: u64,
        /// `of_policy` is what the policy in force adds, if anything: under auction an
        /// [`AuctionStanding`](super::AuctionStanding), which [`Any::to_message`] reads.
        30 of_policy: Option<Any>,
        /// `agent_cycles` are those of the calls of bidding agents in the last block. agents_unasked is how
        /// many timers with an agent it did not ask.
        60 agent_cycles: u64,
        /// Agents unasked.
        61 agents_unasked: u32,
        /// `agents_billed` is the sum of the bills since genesis for calls that no fire followed. It is
        /// included in burned.
        62 agents_billed: String,
    }
    /// QueryAgentRequest.
    QueryAgentRequest = "timers.v1.QueryAgentRequest" {
        /// Actor.
        1 actor: String,
    }
    /// QueryAgentResponse.
    QueryAgentResponse = "timers.v1.QueryAgentResponse" {
        /// `agent` of the actor; empty if it has none.
        1 agent: String,
    }
    /// QueryEstimateRequest.
    QueryEstimateRequest = "timers.v1.QueryEstimateRequest" {
        /// `gas_limit` in cycles; the default one if 0.
        1 gas_limit: u64,
        /// `cell_limit` in cells; the default one if 0.
        6 cell_limit: u64,
        /// Bid tier; the default estimator if unspecified. Not together with max_fee.
        2 tier: PriorityTier,
        /// `max_fee` per unit of size of a static bid, with max_priority.
        3 max_fee: String,
        /// Max priority.
        4 max_priority: String,
        /// `actor` that would schedule, for its fairness weight. Without one, the weight is that of an actor
        /// without recent fires.
        5 actor: String,
        /// `bid` in fee denom, under policies auction and score. Not together with a tier or max_fee.
        30 bid: String,
        /// `max_charge` is the most that one fire may cost, in fee denom; empty or 0 means no bound.
        31 max_charge: String,
        /// `payload_bytes` is the length of the payload, message_bytes that of the messages within, for the
        /// intrinsic cycles of the answer. An empty field of a message counts 16 bytes.
        32 payload_bytes: u64,
        /// Message bytes.
        33 message_bytes: u64,
    }
    /// QueryEstimateResponse.
    QueryEstimateResponse = "timers.v1.QueryEstimateResponse" {
        /// `height` of the block that the estimate is for: the next one.
        1 height: u64,
        /// Gas limit.
        2 gas_limit: u64,
        /// Cell limit.
        16 cell_limit: u64,
        /// `reserved_size` is what gas_limit and cell_limit reserve of the lane, in cycles.
        18 reserved_size: u64,
        /// The chain's basefee per cycle; the charged part of the lane basefee and the tip, per unit of size.
        3 cycle_basefee: String,
        /// Lane fee.
        4 lane_fee: String,
        /// Priority.
        5 priority: String,
        /// Cell basefee.
        6 cell_basefee: String,
        /// `pre_charge` is what the payer must have when it fires.
        7 pre_charge: String,
        /// `cost_of_cycles` is the cost of the whole gas limit without cells: the most that a handler without
        /// writes pays.
        8 cost_of_cycles: String,
        /// Fee denom.
        9 fee_denom: String,
        /// Weight.
        10 weight: String,
        /// Basis.
        11 basis: EstimateBasis,
        /// `ahead` is the number of ready timers that would be tried before it; ahead_size is the sum of the
        /// sizes that they reserve.
        12 ahead: u64,
        /// Ahead size.
        13 ahead_size: u64,
        /// `wait_blocks` is the expected wait in blocks: the timers ahead of it, at as many fires a block as
        /// their gas limits allow. Fires that use less than their limit make it shorter. Newcomers that bid
        /// more make it longer.
        14 wait_blocks: u64,
        /// Policy.
        15 policy: Policy,
        /// Under policy auction: the least bid that would fire it in the next block, and what it would pay of
        /// the bid that it states if it fired then.
        30 least_bid: String,
        /// Bid payment.
        31 bid_payment: String,
        /// `score_bid` is what a fire pays for its place under policy score. It is included in pre_charge and
        /// in cost_of_cycles; empty means 0.
        24 score_bid: String,
        /// `intrinsic_cycles` are counted before the handler runs, which has the rest of the gas limit: those
        /// of every fire, of payload_bytes and of message_bytes. Those of the payer's records are not included.
        32 intrinsic_cycles: u64,
        /// `returning` is the number of timers ahead that fired in the previous block and are due again in the
        /// next one. They are included in ahead, and their sizes are in every block that the estimate waits.
        33 returning: u64,
    }
    /// `ReceiptInfo` is a receipt in a form for people: ids in hexadecimal, the actor as an address.
    ReceiptInfo = "timers.v1.ReceiptInfo" {
        /// Timer id.
        1 timer_id: String,
        /// Deliver id.
        2 deliver_id: String,
        /// Actor.
        3 actor: String,
        /// Fire seq.
        4 fire_seq: u32,
        /// Success.
        5 success: bool,
        /// Codespace.
        6 codespace: String,
        /// Code.
        7 code: u32,
        /// Cycles.
        8 cycles: u64,
        /// Cells.
        9 cells: u64,
        /// Paid.
        10 paid: String,
        /// Tip.
        11 tip: String,
        /// `bid` is the bid that was locked for the fire; bid_paid is what the fire paid of it, in addition to
        /// paid. Empty means 0.
        21 bid: String,
        /// Bid paid.
        22 bid_paid: String,
        /// `matched` are the watched keys that the delivery carried, as many as take 12 KiB; matched_omitted
        /// counts the others.
        20 matched: Vec<WatchedKey>,
        /// Matched omitted.
        23 matched_omitted: u32,
        /// `score_bid` is what it paid for its place. It is included in paid and in tip; empty means 0.
        24 score_bid: String,
        /// `late` is the number of blocks from the due height, or from the change of what it watches, to the
        /// fire.
        25 late: u64,
        /// `occurrence` that was delivered, in seconds since 1970 or as a height, and its number from 1 on;
        /// 0 if the trigger has none.
        26 occurrence: u64,
        /// Index.
        27 index: u64,
        /// `guarded`: a condition of only_if did not hold, so that the handler was not run. It is neither a
        /// success nor a failure.
        28 guarded: bool,
    }
    /// QueryDeliveriesRequest.
    QueryDeliveriesRequest = "timers.v1.QueryDeliveriesRequest" {
        /// Actor.
        1 actor: String,
        /// `id` of a timer of the actor, which may be gone, or the first digits of it; empty for all of the
        /// actor's.
        2 id: String,
        /// `pagination`: reverse lists the first delivery first. There is no offset, and no count of all
        /// entries.
        3 pagination: Option<PageRequest>,
    }
    /// QueryDeliveriesResponse.
    QueryDeliveriesResponse = "timers.v1.QueryDeliveriesResponse" {
        /// Deliveries.
        1 deliveries: Vec<DeliveryInfo>,
        /// `pagination`.next_key continues the list; without it the list is complete.
        2 pagination: Option<PageResponse>,
        /// `kept_from` is the height from which on all receipts are kept; above the current height if none are.
        3 kept_from: u64,
    }
    /// QueryOccurrencesRequest.
    QueryOccurrencesRequest = "timers.v1.QueryOccurrencesRequest" {
        /// `actor` and id name a live timer, by the id in hexadecimal or a unique prefix of it. Not together with
        /// a spec.
        1 actor: String,
        /// Id.
        2 id: String,
        /// `spec` of a timer that is not scheduled yet, of which trigger, repeat and the end count.
        3 spec: Option<TimerSpec>,
        /// `limit` of the occurrences that are returned, at most 100; 0 means 5.
        4 limit: u32,
    }
    /// QueryOccurrencesResponse.
    QueryOccurrencesResponse = "timers.v1.QueryOccurrencesResponse" {
        /// `occurrences` in their order: at most as many as the timer still has, none for one that waits for a
        /// change.
        1 occurrences: Vec<OccurrenceInfo>,
        /// `by_time`: they are times, in seconds since 1970, and not heights.
        2 by_time: bool,
        /// `more`: there are further ones within its life.
        3 more: bool,
    }
    /// OccurrenceInfo.
    OccurrenceInfo = "timers.v1.OccurrenceInfo" {
        /// At.
        1 at: u64,
        /// `due` is when it is due, jitter included. That of a timer without an id leaves jitter aside.
        2 due: u64,
    }
    /// `DeliveryInfo` is one delivery of a timer.
    DeliveryInfo = "timers.v1.DeliveryInfo" {
        /// Height.
        1 height: u64,
        /// Receipt.
        2 receipt: Option<ReceiptInfo>,
    }
}
