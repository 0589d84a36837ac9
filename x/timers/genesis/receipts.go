package genesis

import (
	"errors"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// validateReceipts checks that the heights of receipts ascend, from the oldest that is kept.
func validateReceipts(g *types.GenesisState) error {
	last := uint64(0)
	for i, segment := range g.Receipts {
		if segment.Height <= last {
			return types.ErrInvalidGenesis.Wrapf("receipts %d: height %d is not above %d", i, segment.Height, last)
		}
		if segment.Height < g.Lane.ReceiptsFrom {
			return types.ErrInvalidGenesis.Wrapf("receipts %d: height %d is before receipts_from %d", i, segment.Height, g.Lane.ReceiptsFrom)
		}
		last = segment.Height
		for j := range segment.Receipts {
			if err := validateReceipt(&segment.Receipts[j]); err != nil {
				return types.ErrInvalidGenesis.Wrapf("receipts %d: receipt %d: %s", i, j, err)
			}
		}
	}
	return nil
}

// validateReceipt checks the amounts of a receipt, and that no more was paid than was bid.
func validateReceipt(r *types.Receipt) error {
	if r.Paid.IsNil() || r.Tip.IsNil() || r.Paid.IsNegative() || r.Tip.IsNegative() {
		return errors.New("paid or tip is missing or negative")
	}
	for _, text := range []string{r.Bid, r.BidPaid} {
		if _, ok := types.ParseAmount(text); text != "" && !ok {
			return types.ErrInvalidBid.Wrapf("%.80q is no amount", text)
		}
	}
	bid, _ := types.ParseAmount(r.Bid)
	if paid, ok := types.ParseAmount(r.BidPaid); ok && paid.GT(bid) {
		return types.ErrInvalidBid.Wrapf("%s paid of a bid of %s", paid, bid)
	}
	return nil
}
