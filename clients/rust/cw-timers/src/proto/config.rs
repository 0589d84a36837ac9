//! The types of `timers/v1/config.proto` that contracts need.

use super::Any;
use crate::describe::{enums, messages};

enums! {
    /// `Policy` decides which timers fire first, and what they pay.
    Policy = "timers.v1.Policy" {
        /// Never valid.
        0 Unspecified = "POLICY_UNSPECIFIED",
        /// Fires by (due, seq).
        1 Fifo = "POLICY_FIFO",
        /// The basefee-and-tips market with a fairness weight per actor; the default.
        2 Eip1559 = "POLICY_EIP1559",
        /// The knapsack auction in which waiting counts as bidding.
        3 Auction = "POLICY_AUCTION",
        /// The weighted sum of age, bid and rank, with turns between those of equal score.
        4 Score = "POLICY_SCORE",
        /// Fires by effective tip, ties by a weight per actor that follows the outcomes of its fires, and
        /// shares the lane among actors by those weights.
        5 Tip = "POLICY_TIP",
    }
    /// `BasefeeResponse` is how the lane basefee follows the lane's use.
    BasefeeResponse = "timers.v1.BasefeeResponse" {
        /// Never valid.
        0 Unspecified = "BASEFEE_RESPONSE_UNSPECIFIED",
        /// Changes it by (u − target) ÷ target, cut off at max_change either way: almost any use above or below
        /// the target moves it by the whole max_change.
        1 Clip = "BASEFEE_RESPONSE_CLIP",
        /// Scales the same deviation to max_change, as EIP-1559 itself does: only a full or an empty lane moves
        /// it by the whole of it.
        2 Linear = "BASEFEE_RESPONSE_LINEAR",
    }
    /// `FairnessUnit` is whose fires are counted together.
    FairnessUnit = "timers.v1.FairnessUnit" {
        /// Never valid.
        0 Unspecified = "FAIRNESS_UNIT_UNSPECIFIED",
        /// Counts each actor for itself.
        1 Actor = "FAIRNESS_UNIT_ACTOR",
        /// Counts the contracts of one creator together; accounts are their own.
        2 Deployer = "FAIRNESS_UNIT_DEPLOYER",
    }
}

messages! {
    /// `PriorityTiers` are the multiples of p50, the usual tip, that the tiers of a bid stand for.
    PriorityTiers = "timers.v1.PriorityTiers" {
        /// Economy.
        1 economy: String,
        /// Standard.
        2 standard: String,
        /// Fast.
        3 fast: String,
        /// Urgent.
        4 urgent: String,
    }
    /// `TimerConfig` holds every governed parameter: those that all policies share, and a message for each
    /// policy. Which policy reads what, defaults and bounds are in x/timers/README.md, "7. Parameters".
    /// MsgUpdateTimerConfig changes it whole or by fields; a change is in force from the next block. The
    /// unit is the last word of a name.
    TimerConfig = "timers.v1.TimerConfig" {
        /// `policy` decides which timers fire first, and what they pay.
        1 policy: Policy,
        /// `fee_denom` is the denom of all charges. It is fixed at genesis, so that no actor is charged in a
        /// denom that it did not agree to.
        2 fee_denom: String,
        /// `lane_paused` stops firing. Scheduling, cancelling and expiry continue.
        3 lane_paused: bool,
        /// `max_ttl_blocks` bounds expires_at: now + max_ttl_blocks.
        4 max_ttl_blocks: u64,
        /// `max_ttl_seconds` bounds expires_time: block time + max_ttl_seconds.
        72 max_ttl_seconds: u64,
        /// `time_triggers` allows triggers by time and calendar. Timers that have one stay when it is
        /// switched off.
        73 time_triggers: bool,
        /// `max_unfunded_skips` is how many occurrences in a row may lapse before their timer is suspended.
        76 max_unfunded_skips: u32,
        /// `max_timers_per_actor` bounds the live timers of one actor.
        5 max_timers_per_actor: u32,
        /// `max_payload_bytes` bounds a payload.
        6 max_payload_bytes: u64,
        /// `schedule_cycles` is the gas that scheduling, updating or extending consumes on the transaction's
        /// meter, in addition to what the store charges.
        9 schedule_cycles: u64,
        /// `cancel_cycles` is the same for cancelling.
        10 cancel_cycles: u64,
        /// `min_gas_limit` is the smallest gas limit, in cycles, that scheduling accepts. It exceeds the
        /// 20,000 cycles that every fire counts.
        11 min_gas_limit: u64,
        /// `max_cycles_per_fire` is the largest gas limit that may fire, and the default one. Policy eip1559
        /// has its own instead.
        13 max_cycles_per_fire: u64,
        /// `max_cells_per_fire` bounds the bytes that one fire may write.
        14 max_cells_per_fire: u64,
        /// `default_cell_limit` is the cell limit of a timer that states none.
        15 default_cell_limit: u64,
        /// `allowed_messages` are the type URLs that an account's timer may run; "*" allows all.
        19 allowed_messages: Vec<String>,
        /// `denied_messages` are the type URLs that no account's timer may run. They take precedence over
        /// allowed_messages.
        20 denied_messages: Vec<String>,
        /// `receipt_retention_blocks` is for how many blocks receipts are kept; 0 keeps none.
        21 receipt_retention_blocks: u64,
        /// `lane_timer_cycles` is the execution budget of a block.
        22 lane_timer_cycles: u64,
        /// `lane_timer_cells` is the write budget of a block.
        23 lane_timer_cells: u64,
        /// `gc_cycles_per_block` is the part of overhead_cycles_per_block for removals, which no other work may
        /// use. A removal takes 2,700.
        24 gc_cycles_per_block: u64,
        /// `overhead_cycles_per_block` bounds the work at the end of a block that no one is billed for: reading
        /// and ranking ready timers, tries without funds, scans, notifying watches, removals, pruning. Each
        /// kind of work has a weight and a share.
        25 overhead_cycles_per_block: u64,
        /// `max_fires_per_block` caps the fires of a block; 0 means no cap.
        26 max_fires_per_block: u32,
        /// `max_fires_per_actor` caps the fires of one actor in a block; 0 means no cap.
        27 max_fires_per_actor: u32,
        /// `reserved_share` is the share of the lane that the timers of reserved_actors may use before all
        /// others.
        29 reserved_share: String,
        /// `reserved_actors` are addresses; none means the authority alone.
        30 reserved_actors: Vec<String>,
        /// `cycle_basefee` is the chain's price of a cycle in fee_denom, read by the built-in basefee source.
        31 cycle_basefee: String,
        /// `cell_basefee` is the chain's price of a cell in fee_denom, read by the built-in basefee source.
        32 cell_basefee: String,
        /// `candidate_window` is how many ready timers a block reads and lets compete, oldest first. While no
        /// more are ready, their order is exact.
        38 candidate_window: u32,
        /// `priority_tiers` are the multiples of the usual tip that the tiers of a bid stand for.
        40 priority_tiers: Option<PriorityTiers>,
        /// `tier_tip_cap` bounds the tip of a tier, and every tip that a fee allowance pays, to this multiple
        /// of the lane basefee.
        41 tier_tip_cap: String,
        /// `fairness_window_blocks` is for how many blocks a fire counts against its actor.
        42 fairness_window_blocks: u64,
        /// `fairness_unit` is whose fires are counted together.
        43 fairness_unit: FairnessUnit,
        /// `weight_min` and weight_max bound the fairness weight. Weights are rounded down to sixteenths.
        44 weight_min: String,
        /// Weight max.
        45 weight_max: String,
        /// `median_smoothing` is the weight of a block's median against the smoothed one before it; 1 disables
        /// smoothing.
        46 median_smoothing: String,
        /// Eip1559.
        47 eip1559: Option<Eip1559Params>,
        /// `policy_params` are the parameters of the policies that the chain has registered in addition to fifo
        /// and eip1559, and of bidding agents: a message for each, in the order of their type URLs.
        /// [`Any::to_message`] reads one, such as an [`AuctionParams`](super::AuctionParams).
        48 policy_params: Vec<Any>,
        /// `ring_size` is the number of blocks of the near tier.
        52 ring_size: u64,
        /// `epoch_blocks` is the number of blocks of an epoch, and epoch_horizon the number of epochs of the
        /// middle tier.
        53 epoch_blocks: u64,
        /// Epoch horizon.
        54 epoch_horizon: u64,
    }
    /// `Eip1559Params` are the parameters of policy eip1559.
    Eip1559Params = "timers.v1.Eip1559Params" {
        /// `auction_activation_height` is the last height at which fifo is in force in the place of eip1559. A
        /// chain can start with fifo and change at a height that is known in advance.
        1 auction_activation_height: u64,
        /// `max_cycles_per_fire_auction` is the largest gas limit that may fire under eip1559, and the default
        /// one there.
        2 max_cycles_per_fire_auction: u64,
        /// `target` is the use of the lane, as a fraction of lane_timer_cycles, at which the lane basefee stays
        /// unchanged.
        3 target: String,
        /// `max_change` is the largest change of the lane basefee from one block to the next, as a fraction of
        /// it.
        4 max_change: String,
        /// `min_lane_basefee` is the floor of the lane basefee, in fee_denom per unit of size.
        5 min_lane_basefee: String,
        /// `basefee_response` is how the lane basefee follows the lane's use.
        6 basefee_response: BasefeeResponse,
        /// `lane_fee_multiplier` is the factor, 0 to 2, that a fire pays of the lane basefee. Below 1 the chain
        /// subsidises the lane.
        7 lane_fee_multiplier: String,
        /// `bid_deprecation_blocks` is how long after its activation eip1559 accepts and ignores the integer
        /// bid. After that it refuses it.
        8 bid_deprecation_blocks: u64,
    }
}
