use cosmwasm_std::{Decimal, Uint128};

use crate::proto::{self, PriorityTier};

/// What a timer is willing to pay for its place. Without one the chain's default estimator bids. Under policy `fifo` a bid
/// is kept and not used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Bid {
    /// The chain's default estimator. In an update it takes the place of the bid that there was.
    Default,
    /// Stated prices, in fee denom per unit of size.
    Static {
        /// The most that the lane's fee and the tip together may cost.
        max_fee_per_cycle: Decimal,
        /// The most that the tip may be. The chain keeps it as stated. If the max fee left less to it when both were
        /// stated, that counts: [`TimerStatus::tip_cap`](crate::proto::TimerStatus::tip_cap).
        max_priority_fee_per_cycle: Decimal,
    },
    /// A multiple of the usual tip.
    Tier(Tier),
    /// A contract or a module that is asked for the prices in each block in which the timer competes.
    Agent(String),
    /// The integer bid of policies `auction` and `score`, in fee denom.
    Price(Uint128),
}

/// A named multiple of the usual tip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tier {
    /// The cheapest.
    Economy,
    /// The usual tip.
    Standard,
    /// Above the usual tip.
    Fast,
    /// The dearest.
    Urgent,
}

impl From<Tier> for PriorityTier {
    fn from(tier: Tier) -> Self {
        match tier {
            Tier::Economy => PriorityTier::Economy,
            Tier::Standard => PriorityTier::Standard,
            Tier::Fast => PriorityTier::Fast,
            Tier::Urgent => PriorityTier::Urgent,
        }
    }
}

impl From<Bid> for proto::Bid {
    fn from(bid: Bid) -> Self {
        let mut out = proto::Bid::default();
        match bid {
            Bid::Default => {}
            Bid::Static { max_fee_per_cycle, max_priority_fee_per_cycle } => {
                out.r#static = Some(proto::StaticBid {
                    max_fee_per_cycle: max_fee_per_cycle.to_string(),
                    max_priority_fee_per_cycle: max_priority_fee_per_cycle.to_string(),
                });
            }
            Bid::Tier(tier) => out.tier = tier.into(),
            Bid::Agent(agent) => out.agent = agent,
            Bid::Price(price) => out.price = price.to_string(),
        }
        out
    }
}
