//! What bidding agents are asked and answer.

use cosmwasm_std::{Decimal, Uint128};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The smart query that the chain makes of a bidding agent. A contract that has other queries too has this variant in its
/// own enum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentQuery {
    /// What does the timer bid in this block?
    GetGasBid(BidContext),
}

/// What an agent is told. Prices are in fee denom. What is not known here is passed over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct BidContext {
    /// The timer, in 64 hexadecimal digits.
    pub timer_id: String,
    /// Who owns it.
    pub owner_actor: String,
    /// What the owner has in fee denom.
    pub owner_actor_balance: Uint128,
    /// When the timer became due this time.
    pub trigger_block_height: u64,
    /// The block that is ending.
    pub current_block_height: u64,
    /// The chain's price of a cycle.
    pub basefee_cycle: Decimal,
    /// The chain's price of a cell.
    pub basefee_cell: Decimal,
    /// The lane's fee per unit of size.
    pub basefee_lane_timer: Decimal,
    /// The cycles that the lane used in the previous block.
    pub last_block_cycle_usage: u64,
    /// The median tip of the previous block's fires.
    pub previous_block_p50_priority_tip_per_cycle: Decimal,
}

impl BidContext {
    /// How many blocks the timer is late.
    pub fn late(&self) -> u64 {
        self.current_block_height.saturating_sub(self.trigger_block_height)
    }
}

/// What an agent answers: exactly these members.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GasBid {
    /// The most that the lane's fee and the tip together may cost.
    pub max_fee_per_cycle: Decimal,
    /// The most that the tip may be.
    pub max_priority_fee_per_cycle: Decimal,
    /// The most that a cell may cost. While it costs more the timer waits.
    pub max_fee_per_cell: Decimal,
}
