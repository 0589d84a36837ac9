package types

// ScoreBidText is what the fire paid for its place, empty for nothing.
func (r *Receipt) ScoreBidText() string {
	if r.ScoreBid == nil {
		return ""
	}
	return r.ScoreBid.String()
}
