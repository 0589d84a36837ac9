package types

import "errors"

// Validate checks that a receipt's amounts are such, and that no more was paid than was bid.
func (r *Receipt) Validate() error {
	if r.Paid.IsNil() || r.Tip.IsNil() || r.Paid.IsNegative() || r.Tip.IsNegative() {
		return errors.New("paid or tip is missing or negative")
	}
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
