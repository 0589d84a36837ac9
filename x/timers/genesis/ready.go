package genesis

import (
	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// validateReady checks the ready index: its timers are in order, under a fairness weight or in a wide list (package market), with
// prices that keys of their lists hold. Whether a policy makes such entries is checked when they are imported.
func validateReady(g *types.GenesisState) error {
	limit, last := market.ListOfWeight(types.MaxWeight*market.OneWeight+1), schedule.Key{}
	for i := range g.Ready {
		e := &g.Ready[i]
		list, key := market.List(e.List), schedule.Key{Due: e.Due, Seq: e.Seq}
		switch {
		case i > 0 && key.Compare(last) <= 0:
			return types.ErrInvalidGenesis.Wrapf("ready %d at (%d, %d) is out of order", i, e.Due, e.Seq)
		case e.Seq == 0 || e.Seq >= g.NextSeq:
			return types.ErrInvalidGenesis.Wrapf("ready %d has seq %d, want 1 to %d", i, e.Seq, g.NextSeq-1)
		case list < market.ListOfWeight(1), !list.Wide() && list >= limit:
			return types.ErrInvalidGenesis.Wrapf("ready %d is in list %d, want one of weight 1 to %d, or a wide list", i, e.List, limit.Weight()-1)
		case !fits(e.Price, list.PriceBytes()), !fits(e.Other, market.NarrowBytes):
			return types.ErrInvalidGenesis.Wrapf("ready %d has the prices %s and %s, want numbers from 0 that its list holds", i, e.Price, e.Other)
		}
		last = key
	}
	return nil
}

func fits(price math.LegacyDec, bytes int) bool {
	return !price.IsNil() && !price.IsNegative() && price.BigIntMut().BitLen() <= 8*bytes
}
