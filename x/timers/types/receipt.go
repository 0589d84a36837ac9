package types

func (g *GenesisState) validateReceipts() error {
	last := uint64(0)
	for i, segment := range g.Receipts {
		if segment.Height <= last {
			return ErrInvalidGenesis.Wrapf("receipts %d: height %d is not above %d", i, segment.Height, last)
		}
		if segment.Height < g.Lane.ReceiptsFrom {
			return ErrInvalidGenesis.Wrapf("receipts %d: height %d lies before receipts_from %d", i, segment.Height, g.Lane.ReceiptsFrom)
		}
		last = segment.Height
		for j := range segment.Receipts {
			if r := &segment.Receipts[j]; r.Paid.IsNil() || r.Tip.IsNil() || r.Paid.IsNegative() || r.Tip.IsNegative() {
				return ErrInvalidGenesis.Wrapf("receipts %d: paid or tip of receipt %d is missing or negative", i, j)
			}
			if err := segment.Receipts[j].validateBid(); err != nil {
				return ErrInvalidGenesis.Wrapf("receipts %d: receipt %d: %v", i, j, err)
			}
		}
	}
	return nil
}

// validateBid checks that a receipt's amounts are such, and that no more was paid than was bid.
func (r *Receipt) validateBid() error {
	for _, text := range []string{r.Bid, r.BidPaid} {
		if text != "" && !integer.MatchString(text) {
			return ErrInvalidBid.Wrapf("%.80q is no amount", text)
		}
	}
	bid, _ := parseAmount(r.Bid)
	if paid, ok := parseAmount(r.BidPaid); ok && paid.GT(bid) {
		return ErrInvalidBid.Wrapf("%s paid of a bid of %s", paid, bid)
	}
	return nil
}

// ScoreBidText is what the fire paid for its place, empty for nothing.
func (r *Receipt) ScoreBidText() string {
	if r.ScoreBid == nil {
		return ""
	}
	return r.ScoreBid.String()
}
