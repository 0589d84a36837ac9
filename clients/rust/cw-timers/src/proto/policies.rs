//! The types of `timers/agent/v1`, `timers/auction/v1`, `timers/score/v1` and `timers/tip/v1` that contracts need: what
//! bidding agents and the policies add to answers, each in an [`Any`](super::Any).

use crate::describe::{enums, messages};

enums! {
    /// `PaymentRule` is what a fire pays of its bid under policy auction.
    PaymentRule = "timers.auction.v1.PaymentRule" {
        /// Never valid.
        0 Unspecified = "PAYMENT_RULE_UNSPECIFIED",
        /// The least bid that would have kept the timer before the first one behind it that did not fit.
        1 Vcg = "PAYMENT_RULE_VCG",
        /// The bid.
        2 FirstPrice = "PAYMENT_RULE_FIRST_PRICE",
    }
}

messages! {
    /// `AgentParams` are the parameters of bidding agents.
    AgentParams = "timers.agent.v1.Params" {
        /// `cycles_per_call` bounds one call, including what the call costs before the agent runs.
        1 cycles_per_call: u64,
        /// `cycles_per_block` bounds all calls of a block; 0 asks no agent.
        2 cycles_per_block: u64,
    }
    /// `AuctionParams` are the parameters of policy auction.
    AuctionParams = "timers.auction.v1.Params" {
        /// `payment_rule` is what a fire pays of its bid.
        1 payment_rule: PaymentRule,
        /// `reserve_price` is the least that a fire pays if it bids as much, in fee_denom, below 2^96. A timer
        /// that bids less can still fire because of its bias. It pays its bid then.
        2 reserve_price: String,
        /// `lambda_start` is λ in the first block of the policy. The bias of a timer is e^(λ × blocks
        /// deferred). After each block with fires that had bid, λ is lowered by the fraction lambda_step if the
        /// value of the average bidder decays more slowly than its bias grows. It is raised by the same
        /// fraction if even at the raised λ the value decays at least as fast as the bias grows.
        3 lambda_start: String,
        /// `lambda_min` and lambda_max bound λ, 0.0001 to 10. After ln(2 × bid × ratio of sizes) ÷ lambda_min
        /// blocks no timer that becomes due comes before one that waits, whatever it bids up to that.
        4 lambda_min: String,
        /// Lambda max.
        5 lambda_max: String,
        /// `lambda_step` is the largest change of λ from one block to the next, as a fraction of it, 0 to 0.5;
        /// 0 fixes λ.
        6 lambda_step: String,
        /// `auction_window_blocks` is the number of blocks with fires that had bid over which the average
        /// bidder is observed. Each new block weighs one part in as many.
        7 auction_window_blocks: u64,
    }
    /// `AuctionStanding` is what the query Lane shows of policy auction.
    AuctionStanding = "timers.auction.v1.Standing" {
        /// `lambda` is λ in the next block.
        1 lambda: String,
        /// `value_decay` is what the average bidder's value loses in a block of waiting.
        2 value_decay: String,
        /// `deferral` is how many blocks the average bidder had waited.
        3 deferral: String,
    }
    /// `ScoreParams` are the parameters of policy score: score = w_age × age + w_bid × bid − w_fifo × seq.
    /// Only their ratios matter.
    ScoreParams = "timers.score.v1.Params" {
        /// `w_age` is the score of one block of waiting.
        1 w_age: String,
        /// `w_bid` is the score of one unit of fee_denom that a timer bids.
        2 w_bid: String,
        /// `w_fifo` is the score by which each timer precedes the one scheduled or updated next. Above 0 hardly
        /// two scores are equal, so that actors no longer take turns.
        3 w_fifo: String,
    }
    /// `TipParams` are the parameters of policy tip.
    TipParams = "timers.tip.v1.Params" {
        /// `epoch_blocks` is the length of an epoch. The weight of an actor changes from one epoch to the next.
        1 epoch_blocks: u64,
        /// `decay` is the weight of the last epoch's score: weight' = (1 − decay) × weight + decay × score.
        2 decay: String,
        /// `weight_min` and weight_max bound the weight, above 0 and at most 1, which is the largest score.
        3 weight_min: String,
        /// Weight max.
        4 weight_max: String,
        /// `weight_neutral` is the weight of an actor without a record. Weights return to it in epochs without
        /// anything to score.
        5 weight_neutral: String,
        /// `starvation_floor` is the least weight of a starved actor.
        6 starvation_floor: String,
        /// `starvation_blocks` is the number of blocks with a timer due and no fire after which an actor is
        /// starved.
        7 starvation_blocks: u64,
        /// `inactivity_decay` is the part of its distance from the neutral weight that an actor loses in an
        /// epoch without anything to score. After 64 such epochs in a row its record is removed.
        8 inactivity_decay: String,
        /// `share_tip` is the share of the score that follows the tips paid, relative to the usual tip. The
        /// four shares sum to 1.
        9 share_tip: String,
        /// `share_outcome` is the share that follows the outcomes of fires.
        10 share_outcome: String,
        /// `share_lateness` is the share that follows how late the fires were: delayed actors are compensated.
        11 share_lateness: String,
        /// `share_budget` is the share that follows how little of the lane the actor used.
        12 share_budget: String,
        /// `late_blocks` is the lateness of a fire that counts in full.
        13 late_blocks: u64,
    }
}
