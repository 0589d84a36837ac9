use cosmwasm_std::Decimal;
use cw_timers::proto::{Message, Policy, TimerConfig};
use cw_timers::TimersError;

use crate::settle::{decimal, size};

// What no chain sets. The chain's reference says why they are what they are.
pub(crate) const FIRE_BASE_CYCLES: u64 = 20_000;
pub(crate) const PAYLOAD_CYCLES_PER_BYTE: u64 = 3;
pub(crate) const MESSAGE_CYCLES_PER_BYTE: u64 = 10;
pub(crate) const CALENDAR_CYCLES: u64 = 2_000;
pub(crate) const LAPSE_CYCLES: u64 = 6_000;
pub(crate) const LOOK_CYCLES: u64 = 8_000;
pub(crate) const MAX_MESSAGES_BYTES: u64 = 65_536;
pub(crate) const MAX_RETRIES: u32 = 10;
pub(crate) const MAX_WATCH_KEYS: u32 = 8;
pub(crate) const MAX_MATCHED_KEYS: u32 = 16;

/// The parameters of the chain that the model follows, with the chain's names and defaults. The policy is always `fifo`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // They are the chain's, which describes them in `TimerConfig`.
pub struct Config {
    pub fee_denom: String,
    pub lane_paused: bool,
    pub max_ttl_blocks: u64,
    pub max_ttl_seconds: u64,
    pub max_timers_per_actor: u32,
    pub max_payload_bytes: u64,
    pub max_unfunded_skips: u32,
    pub min_gas_limit: u64,
    pub max_cycles_per_fire: u64,
    pub max_cells_per_fire: u64,
    pub default_cell_limit: u64,
    pub time_triggers: bool,
    pub receipt_retention_blocks: u64,
    pub lane_timer_cycles: u64,
    pub lane_timer_cells: u64,
    pub max_fires_per_block: u32,
    pub max_fires_per_actor: u32,
    pub cycle_basefee: Decimal,
    pub cell_basefee: Decimal,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            fee_denom: "utmr".to_string(),
            lane_paused: false,
            max_ttl_blocks: 2_592_000,
            max_ttl_seconds: 34_214_400,
            max_timers_per_actor: 1_024,
            max_payload_bytes: 1 << 20,
            max_unfunded_skips: 8,
            min_gas_limit: 40_000,
            max_cycles_per_fire: 550_000,
            max_cells_per_fire: 550_000,
            default_cell_limit: 20_000,
            time_triggers: true,
            receipt_retention_blocks: 1_000,
            lane_timer_cycles: 2_000_000,
            lane_timer_cells: 2_000_000,
            max_fires_per_block: 0,
            max_fires_per_actor: 0,
            cycle_basefee: Decimal::permille(1),
            cell_basefee: Decimal::percent(3),
        }
    }
}

impl Config {
    /// Checks what contradicts itself. The chain checks more.
    pub fn validate(&self) -> Result<(), TimersError> {
        let sound = !self.fee_denom.is_empty()
            && self.lane_timer_cycles > 0
            && self.lane_timer_cells > 0
            && self.max_ttl_blocks > 0
            && self.min_gas_limit > FIRE_BASE_CYCLES
            && self.max_cycles_per_fire >= self.min_gas_limit
            && self.max_cycles_per_fire <= self.lane_timer_cycles
            && self.max_cells_per_fire <= self.lane_timer_cells;
        sound.then_some(()).ok_or(TimersError::InvalidConfig)
    }

    pub(crate) fn cell_limit(&self) -> u64 {
        self.default_cell_limit.min(self.max_cells_per_fire)
    }

    /// The size of a fire.
    pub(crate) fn size(&self, cycles: u64, cells: u64) -> u64 {
        size(self.lane_timer_cycles, self.lane_timer_cells, cycles, cells)
    }

    /// The cycles that a fire counts before its handler runs, those for its trigger among them.
    pub(crate) fn intrinsic(&self, trigger_cycles: u64, payload_bytes: u64, message_bytes: u64) -> u64 {
        FIRE_BASE_CYCLES
            .saturating_add(trigger_cycles)
            .saturating_add(PAYLOAD_CYCLES_PER_BYTE.saturating_mul(payload_bytes))
            .saturating_add(MESSAGE_CYCLES_PER_BYTE.saturating_mul(message_bytes))
    }

    /// As the chain's query answers it; what the model does not follow is left at zero.
    pub(crate) fn to_proto(&self) -> TimerConfig {
        TimerConfig::with(|c| {
            c.policy = Policy::Fifo;
            c.fee_denom = self.fee_denom.clone();
            c.lane_paused = self.lane_paused;
            c.max_ttl_blocks = self.max_ttl_blocks;
            c.max_ttl_seconds = self.max_ttl_seconds;
            c.max_timers_per_actor = self.max_timers_per_actor;
            c.max_payload_bytes = self.max_payload_bytes;
            c.max_unfunded_skips = self.max_unfunded_skips;
            c.min_gas_limit = self.min_gas_limit;
            c.max_cycles_per_fire = self.max_cycles_per_fire;
            c.max_cells_per_fire = self.max_cells_per_fire;
            c.default_cell_limit = self.default_cell_limit;
            c.time_triggers = self.time_triggers;
            c.receipt_retention_blocks = self.receipt_retention_blocks;
            c.lane_timer_cycles = self.lane_timer_cycles;
            c.lane_timer_cells = self.lane_timer_cells;
            c.max_fires_per_block = self.max_fires_per_block;
            c.max_fires_per_actor = self.max_fires_per_actor;
            c.cycle_basefee = decimal(self.cycle_basefee);
            c.cell_basefee = decimal(self.cell_basefee);
        })
    }
}
