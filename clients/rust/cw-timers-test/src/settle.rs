//! What a fire costs: the arithmetic of the chain's settlement under policy `fifo`.

use cosmwasm_std::{Decimal, Uint128, Uint256};

const ONE: u128 = 1_000_000_000_000_000_000;

/// The size of a fire: its cycles, or its cells in proportion to the lane's, if those are more. Rounded down, and bounded by
/// the largest integer.
pub(crate) fn size(lane_cycles: u64, lane_cells: u64, cycles: u64, cells: u64) -> u64 {
    let in_cycles = u128::from(cells) * u128::from(lane_cycles) / u128::from(lane_cells);
    cycles.max(u64::try_from(in_cycles).unwrap_or(u64::MAX))
}

/// `ceil(cycles × cycle basefee + cells × cell basefee)`, rounded once.
pub(crate) fn cost(cycle_basefee: Decimal, cell_basefee: Decimal, cycles: u64, cells: u64) -> Uint128 {
    let part = |price: Decimal, n: u64| Uint256::from(price.atomics()) * Uint256::from(n);
    let atomics = part(cycle_basefee, cycles) + part(cell_basefee, cells);
    let one = Uint256::from(ONE);
    let whole = (atomics + one - Uint256::one()) / one;
    Uint128::try_from(whole).expect("a price at which no account can pay")
}

/// A decimal with all 18 places, as the chain's queries have it.
pub(crate) fn decimal(value: Decimal) -> String {
    let atomics = value.atomics().u128();
    format!("{}.{:018}", atomics / ONE, atomics % ONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_charge_is_rounded_up_once() {
        let (cycle, cell) = (Decimal::permille(1), Decimal::percent(3));
        for (cycles, cells, want) in [
            (20_001, 0, 21u128),
            (20_000, 34, 22),
            (20_970, 1, 21),
            (20_000, 550_000, 16_520),
            (20_000, 0, 20),
            (0, 0, 0),
        ] {
            assert_eq!(cost(cycle, cell, cycles, cells).u128(), want, "{cycles} {cells}");
        }
        let atom = Decimal::from_atomics(1u128, 18).unwrap();
        assert_eq!(cost(Decimal::percent(150), atom, 20_001, 1).u128(), 30_002);
        assert_eq!(cost(Decimal::zero(), atom, u64::MAX, u64::MAX).u128(), 19);
    }

    #[test]
    fn the_dominant_resource_is_the_size() {
        assert_eq!(size(200_000, 2_000_000, 20_000, 199_999), 20_000);
        assert_eq!(size(200_000, 2_000_000, 20_000, 300_009), 30_000);
        assert_eq!(size(u64::MAX, 1, 5, u64::MAX), u64::MAX);
    }

    #[test]
    fn decimals_have_all_places() {
        assert_eq!(decimal(Decimal::permille(1)), "0.001000000000000000");
        assert_eq!(decimal(Decimal::percent(150)), "1.500000000000000000");
    }
}
