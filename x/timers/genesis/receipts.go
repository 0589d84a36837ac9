package genesis

import "github.com/cosmos-timers/timers/x/timers/types"

// validateReceipts checks that the heights of receipts ascend, from the oldest that is kept.
func validateReceipts(g *types.GenesisState) error {
	last := uint64(0)
	for i, segment := range g.Receipts {
		if segment.Height <= last {
			return types.ErrInvalidGenesis.Wrapf("receipts %d: height %d is not above %d", i, segment.Height, last)
		}
		if segment.Height < g.Lane.ReceiptsFrom {
			return types.ErrInvalidGenesis.Wrapf("receipts %d: height %d lies before receipts_from %d", i, segment.Height, g.Lane.ReceiptsFrom)
		}
		last = segment.Height
		for j := range segment.Receipts {
			if err := segment.Receipts[j].Validate(); err != nil {
				return types.ErrInvalidGenesis.Wrapf("receipts %d: receipt %d: %v", i, j, err)
			}
		}
	}
	return nil
}
