package wait_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/lab/wait"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/market/auction"
	"github.com/cosmos-timers/timers/x/timers/market/score"
	"github.com/cosmos-timers/timers/x/timers/market/tip"
)

// hostile is an adversary whose moves are drawn.
type hostile struct {
	*rapid.T
	smallest, largest uint64
	actors            int
	// others is how many timers of the adversary live at a time, at most.
	others int
	// bid gives a timer what it offers.
	bid func(*timer)
}

func drawn(t *rapid.T) (*hostile, wait.Lane, uint64) {
	l := wait.Lane{Capacity: rapid.Uint64Range(8, 40).Draw(t, "lane")}
	l.Largest = rapid.Uint64Range(1, l.Capacity).Draw(t, "largest")
	h := &hostile{T: t, largest: l.Largest, smallest: rapid.Uint64Range(1, l.Largest).Draw(t, "smallest"), others: 60}
	h.actors = rapid.IntRange(1, 5).Draw(t, "actors")
	h.bid = func(*timer) {}
	return h, l, rapid.Uint64Range(h.smallest, l.Largest).Draw(t, "size")
}

// add schedules a timer of the adversary.
func (h *hostile) add(c *chain, due uint64) {
	actor := fmt.Sprint("b", rapid.IntRange(0, h.actors-1).Draw(h.T, "actor"))
	t := c.add(actor, due, rapid.Uint64Range(h.smallest, h.largest).Draw(h.T, "size"))
	if rapid.IntRange(0, 4).Draw(h.T, "modest") == 0 {
		t.uses = rapid.Uint64Range(1, t.Size).Draw(h.T, "uses")
	}
	t.every = rapid.Uint64Range(0, 3).Draw(h.T, "every")
	h.bid(t)
}

// older adds timers that are before x in age, and returns how many.
func (h *hostile) older(c *chain) uint64 {
	n := rapid.IntRange(0, 30).Draw(h.T, "older")
	for range n {
		h.add(c, start-rapid.Uint64Range(0, 9).Draw(h.T, "earlier"))
	}
	return uint64(n)
}

// move adds timers that are due at once.
func (h *hostile) move(c *chain) {
	for range min(rapid.IntRange(0, 6).Draw(h.T, "newly due"), h.others-len(c.ready)+1) {
		h.add(c, c.prices.Height)
	}
}

// fill adds timers that are due at a height and keep x out of one block, as few as can. They leave no room for one
// another.
func fill(c *chain, l wait.Lane, due uint64, actor string, bid func(*timer)) {
	k := l.PerBlock(c.x.Size)
	for i := range k {
		size := l.Largest
		if i == k-1 {
			size = min(l.Largest, l.Capacity-(k-1)*l.Largest)
		}
		bid(c.add(actor, due, size))
	}
}

// lanes are those of which workloads reach the bound.
var lanes = []struct {
	wait.Lane
	size uint64
}{
	{wait.Lane{Capacity: 16, Largest: 5}, 5},
	{wait.Lane{Capacity: 16, Largest: 10}, 7},
	{wait.Lane{Capacity: 2_000_000, Largest: 250_000}, 40_000},
	{wait.Lane{Capacity: 2_000_000, Largest: 550_000}, 550_000},
}

func none(*timer) {}

var fee = market.Basefee{
	Capacity: 16, Target: math.LegacyNewDecWithPrec(5, 1), MaxChange: math.LegacyNewDecWithPrec(125, 3),
	Min: math.LegacyOneDec(), Max: math.LegacyNewDec(1_000_000_000_000_000),
}

func eip(capacity uint64) market.EIP1559 {
	basefee := fee
	basefee.Capacity = capacity
	return market.EIP1559{Basefee: basefee, Multiplier: math.LegacyOneDec()}
}

// newestFirst is what fifo must not be.
type newestFirst struct{ market.FIFO }

func (r newestFirst) Order(p market.Prices, candidates []market.Candidate) []int {
	order := r.FIFO.Order(p, candidates)
	slices.Reverse(order)
	return order
}

func TestFIFO_NoWorkloadExceedsTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, l, size := drawn(t)
		l.MaxFires = rapid.Uint32Range(0, 4).Draw(t, "most fires")
		c := newChain(market.FIFO{}, l.Capacity)
		c.lane.MaxFires = l.MaxFires
		older := h.older(c)
		c.wait(size)
		bound := wait.FIFO(older, l.PerBlock(size))
		require.LessOrEqual(t, c.waits(bound, h.move), bound)
	})
}

// fifoWorst has the older timers keep x out for some blocks, and one that becomes due in each block.
func fifoWorst(rules market.Rules, l wait.Lane, size, blocks uint64) (waited, bound uint64) {
	c := newChain(rules, l.Capacity)
	c.wait(size)
	for i := range blocks {
		fill(c, l, start-1, fmt.Sprint("b", i), none)
	}
	bound = wait.FIFO(uint64(len(c.ready)-1), l.PerBlock(size))
	return c.waits(bound+5, func(c *chain) { fill(c, l, c.prices.Height, "b", none) }), bound
}

func TestFIFO_IsReached(t *testing.T) {
	for _, l := range lanes {
		for _, rules := range []market.Rules{market.FIFO{}, eip(l.Capacity)} {
			waited, bound := fifoWorst(rules, l.Lane, l.size, 7)
			require.EqualValues(t, 7, bound)
			require.Equal(t, bound, waited)
			waited, bound = fifoWorst(newestFirst{}, l.Lane, l.size, 7)
			require.Greater(t, waited, bound, "the newest first")
		}
	}
}

func TestEIP1559_NoWorkloadExceedsTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, l, size := drawn(t)
		c := newChain(eip(l.Capacity), l.Capacity)
		c.window = rapid.Uint64Range(1, 12).Draw(t, "window")
		h.bid = func(x *timer) { x.Ask = tips(rapid.Int64Range(0, 3).Draw(t, "tip")) }
		recent := rapid.IntRange(0, 4).Draw(t, "recent")
		for range recent {
			c.fired("a", 1, start-rapid.Uint64Range(1, c.window).Draw(t, "ago"))
		}
		for i := range h.actors {
			fires, ago := rapid.IntRange(0, 6).Draw(t, "fires"), rapid.Uint64Range(1, c.window).Draw(t, "ago")
			c.fired(fmt.Sprint("b", i), fires, start-ago)
		}
		older := h.older(c)
		c.wait(size).Ask = tips(3)
		bound := wait.EIP1559(older, l.PerBlock(size), c.window, uint64(h.actors)+1, uint64(recent))
		require.LessOrEqual(t, c.waits(bound, h.move), bound)
	})
}

// eipWorst has each other actor pass once with what it weighs more.
func eipWorst(window, remembered, actors uint64) (waited, bound uint64) {
	l := wait.Lane{Capacity: 16, Largest: 8}
	c := newChain(eip(l.Capacity), l.Capacity)
	c.window = remembered
	c.fired("a", 1, start-1)
	c.wait(4)
	next := 0
	bound = wait.EIP1559(0, l.PerBlock(4), window, actors, 1)
	return c.waits(bound+5, func(c *chain) {
		if next++; next < int(actors) {
			fill(c, l, c.prices.Height, fmt.Sprint("b", next), none)
		}
	}), bound
}

func TestEIP1559_IsReached(t *testing.T) {
	for _, n := range []uint64{1, 2, 5, 9} {
		waited, bound := eipWorst(100, 100, n)
		require.Equal(t, n-1, bound, "each other actor once")
		require.Equal(t, bound, waited)
	}
	waited, bound := eipWorst(3, 3, 20)
	require.EqualValues(t, 3, bound, "as long as the window holds the fires")
	require.Equal(t, bound, waited)
	waited, bound = eipWorst(3, 6, 20)
	require.Greater(t, waited, bound, "fires are remembered for longer")
}

// outbid has an attacker tip more than x until it has spent its money.
func outbid(money int64) (waited uint64) {
	c := newChain(eip(16), 16)
	c.wait(4)
	more := market.StatedAsk(math.LegacyNewDec(1_000_000_000_000), math.LegacySmallestDec())
	return c.waits(1_000, func(c *chain) {
		cost := c.prices.Lane.Add(math.LegacySmallestDec()).MulInt64(13)
		if c.spent.Add(cost).LTE(math.LegacyNewDec(money)) {
			c.add("b", c.prices.Height, 8).Ask = more
			c.add("b", c.prices.Height, 5).Ask = more
		}
	})
}

// TestEIP1559Spent_GrowsWithTheLogarithm: no bound holds whatever others tip, and the wait for a given sum is the
// bound. Ten times as much buys 20 blocks more.
func TestEIP1559Spent_GrowsWithTheLogarithm(t *testing.T) {
	last := uint64(0)
	for money := int64(1_000); money <= 1_000_000_000; money *= 10 {
		bound, ok := wait.EIP1559Spent(fee, math.LegacyOneDec(), math.LegacyOneDec(), 4, math.NewInt(money))
		require.True(t, ok)
		waited := outbid(money)
		require.Equal(t, bound, waited)
		require.Greater(t, waited, last+15)
		if last > 0 {
			require.Less(t, waited, last+25)
		}
		last = waited
	}
	capped, flat := fee, fee
	capped.MaxFires, flat.Max = 4, math.LegacyOneDec()
	for _, rule := range []market.Basefee{capped, flat} {
		_, ok := wait.EIP1559Spent(rule, math.LegacyOneDec(), math.LegacyOneDec(), 4, math.NewInt(1_000))
		require.False(t, ok, "where the basefee does not rise nothing bounds the wait")
	}
}

func scores(age, bid int64) score.Rules {
	return score.Rules{Age: math.LegacyNewDec(age), Bid: math.LegacyNewDec(bid), Rank: math.LegacyZeroDec()}
}

func bids(amount int64) func(*timer) {
	return func(t *timer) { t.Ask, t.Locked = market.Ask{Price: math.NewInt(amount)}, math.NewInt(amount) }
}

func TestScore_NoWorkloadExceedsTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, l, size := drawn(t)
		rules := scores(rapid.Int64Range(1, 4).Draw(t, "age"), rapid.Int64Range(0, 4).Draw(t, "weight"))
		c := newChain(rules, l.Capacity)
		highest, own := rapid.Int64Range(0, 9).Draw(t, "highest"), rapid.Int64Range(0, 9).Draw(t, "own")
		h.others = rapid.IntRange(30, 60).Draw(t, "others")
		h.bid = func(x *timer) { bids(rapid.Int64Range(0, highest).Draw(t, "bid"))(x) }
		h.older(c)
		bids(own)(c.wait(size))
		bound, ok := wait.Score(rules.Age, rules.Bid, math.NewInt(own), math.NewInt(highest), uint64(h.others),
			l.PerBlock(size))
		require.True(t, ok)
		require.LessOrEqual(t, c.waits(bound, h.move), bound)
	})
}

// scoreWorst bids 5 more than x as long as a block of waiting counts less, and in the last of these blocks much at
// once.
func scoreWorst(rules score.Rules, l wait.Lane, size uint64) (waited, bound uint64) {
	c := newChain(rules, l.Capacity)
	bids(0)(c.wait(size))
	c.fired("a", 9, start-1)
	c.window = 1_000
	k := l.PerBlock(size)
	bound, _ = wait.Score(math.LegacyOneDec(), math.LegacyOneDec(), math.ZeroInt(), math.NewInt(5), 4*k, k)
	return c.waits(bound+5, func(c *chain) {
		if c.prices.Height > start+5 && rules.Age.Equal(math.LegacyOneDec()) {
			return
		}
		times := 1
		if c.prices.Height == start+5 {
			times = 4
		}
		for range times {
			fill(c, l, c.prices.Height, fmt.Sprint("b", c.seq), bids(5))
		}
	}), bound
}

func TestScore_IsReached(t *testing.T) {
	for _, l := range lanes {
		waited, bound := scoreWorst(scores(1, 1), l.Lane, l.size)
		require.EqualValues(t, 9, bound)
		require.Equal(t, bound, waited)
		slow := scores(1, 1)
		slow.Age = math.LegacyNewDecWithPrec(1, 1)
		waited, bound = scoreWorst(slow, l.Lane, l.size)
		require.Greater(t, waited, bound, "waiting counts a tenth")
	}
	_, ok := wait.Score(math.LegacyZeroDec(), math.LegacyOneDec(), math.ZeroInt(), math.OneInt(), 1, 1)
	require.False(t, ok)
}

// TestScore_HasNoBoundWithoutOneOnBids: an attacker that states 2 more for each timer, all due a block after x, keeps
// it waiting for as long as it pays: ten times the money for ten times the wait.
func TestScore_HasNoBoundWithoutOneOnBids(t *testing.T) {
	l := wait.Lane{Capacity: 16, Largest: 8}
	for money := uint64(20); money <= 2_000; money *= 10 {
		c := newChain(scores(1, 1), l.Capacity)
		bids(0)(c.wait(4))
		fill(c, l, start, "b", bids(1))
		waited := c.waits(money, func(c *chain) {
			if c.prices.Height == start+1 {
				for range money / 4 {
					fill(c, l, c.prices.Height, "b", bids(2))
				}
			}
		})
		require.Equal(t, money/4+1, waited)
		require.Equal(t, math.LegacyNewDec(int64(money)+2), c.spent)
	}
}

func auctions(lambda math.LegacyDec) auction.Rules {
	return auction.Rules{Lambda: lambda, Reserve: math.ZeroInt()}
}

func TestAuction_NoWorkloadExceedsTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, l, size := drawn(t)
		least := math.LegacyNewDecWithPrec(rapid.Int64Range(2, 30).Draw(t, "lambda"), 1)
		rules := auctions(least)
		c := newChain(rules, l.Capacity)
		highest := rapid.Int64Range(0, 1_000).Draw(t, "highest")
		h.others = rapid.IntRange(30, 60).Draw(t, "others")
		h.bid = func(x *timer) { bids(rapid.Int64Range(0, highest).Draw(t, "bid"))(x) }
		h.older(c)
		c.wait(size)
		bound := wait.Auction(least, math.NewInt(highest), size, h.smallest, uint64(h.others), l.PerBlock(size))
		require.LessOrEqual(t, c.waits(bound, func(c *chain) {
			h.move(c)
			rules.Lambda = least.MulInt64(rapid.Int64Range(1, 3).Draw(t, "times"))
			c.rules = rules
		}), bound)
	})
}

// auctionWorst has a timer that becomes due in each block bid as much as any may.
func auctionWorst(lambda math.LegacyDec, highest int64) (waited, bound uint64) {
	l := wait.Lane{Capacity: 16, Largest: 9}
	c := newChain(auctions(lambda), l.Capacity)
	c.wait(9)
	bound = wait.Auction(math.LegacyOneDec(), math.NewInt(highest), 9, 9, 1, l.PerBlock(9))
	return c.waits(bound+5, func(c *chain) {
		if len(c.ready) < 2 {
			bids(highest)(c.add("b", c.prices.Height, 9))
		}
	}), bound
}

// TestAuction_GrowsWithTheLogarithm: the bound is at most 2 blocks too large for timers of one size, and 1,000 times as
// large bids buy 7 blocks more, ln 1,000 ÷ λ.
func TestAuction_GrowsWithTheLogarithm(t *testing.T) {
	last := uint64(0)
	for highest := int64(1); highest <= 1_000_000_000_000; highest *= 1_000 {
		waited, bound := auctionWorst(math.LegacyOneDec(), highest)
		require.LessOrEqual(t, waited, bound)
		require.GreaterOrEqual(t, waited+2, bound)
		if last > 0 {
			require.InDelta(t, 7, waited-last, 1)
		}
		last = waited
	}
	waited, bound := auctionWorst(math.LegacyNewDecWithPrec(1, 1), 1_000)
	require.Greater(t, waited, bound, "λ is a tenth of what was promised")
}

// TestAuction_TheLargestBidsAreOutwaited: by the bias of the largest exponent at the latest. The largest bid is below
// 2^96, and the largest ratio of sizes 2^50.
func TestAuction_TheLargestBidsAreOutwaited(t *testing.T) {
	largest := math.NewIntFromUint64(1 << 48).MulRaw(1 << 48)
	require.EqualValues(t, 102, wait.Auction(math.LegacyOneDec(), largest, 1<<50, 1, 0, 1))
	require.EqualValues(t, auction.MaxExponent, wait.Auction(math.LegacyOneDec(), largest.MulRaw(1<<62), 1<<60, 1, 0, 1))
}

func TestTip_NoTipsExceedTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, l, size := drawn(t)
		lightest := rapid.Uint64Range(1, 9).Draw(t, "lightest")
		heaviest := rapid.Uint64Range(lightest, 10).Draw(t, "heaviest")
		l.Capacity *= 10
		slice := wait.Slice(l.Capacity, uint64(h.actors)+1, lightest, heaviest)
		own := rapid.Uint64Range(0, 20).Draw(t, "own")
		bound, ok := wait.Tip(slice, size, l.Largest, own)
		if !ok {
			t.Skip("timers are larger than slices")
		}
		c := newChain(tip.Rules{}, l.Capacity)
		c.weights = map[string]uint32{}
		for _, actor := range []string{"a", "b0", "b1", "b2", "b3", "b4"} {
			c.weights[actor] = uint32(rapid.Uint64Range(lightest, heaviest).Draw(t, "weight"))
		}
		h.others = 200
		h.bid = func(x *timer) { x.Ask = tips(rapid.Int64Range(0, 9).Draw(t, "tip")) }
		h.older(c)
		for range own {
			c.add("a", start, rapid.Uint64Range(h.smallest, h.largest).Draw(t, "size"))
		}
		c.wait(size)
		require.LessOrEqual(t, c.waits(bound, func(c *chain) {
			h.move(c)
			h.move(c)
		}), bound)
	})
}

// withoutSlices orders as tip does.
type withoutSlices struct{ market.Rules }

// tipWorst has three others fill the lane with high tips, and own timers before x fill its actor's slice for some
// blocks.
func tipWorst(rules market.Rules) (waited, bound uint64) {
	own := wait.Lane{Capacity: 16, Largest: 6}
	c := newChain(rules, 64)
	c.weights = map[string]uint32{"a": 1, "b1": 1, "b2": 1, "b3": 1}
	c.wait(4)
	for range 5 {
		fill(c, own, start-1, "a", none)
	}
	bound, _ = wait.Tip(wait.Slice(64, 4, 1, 1), 4, 6, uint64(len(c.ready)-1))
	return c.waits(bound+5, func(c *chain) {
		for _, b := range []string{"b1", "b2", "b3"} {
			for range 6 {
				c.add(b, c.prices.Height, 4).Ask = tips(9)
			}
		}
	}), bound
}

func TestTip_IsReached(t *testing.T) {
	waited, bound := tipWorst(tip.Rules{})
	require.EqualValues(t, 5, bound)
	require.Equal(t, bound, waited)
	waited, bound = tipWorst(withoutSlices{tip.Rules{}})
	require.Greater(t, waited, bound, "without slices")
}

// TestTip_HasNoBoundForSmallSlices: five others of which each fires once a block, and tips a little, keep a sixth out
// for as long as they pay: ten times the money for ten times the wait.
func TestTip_HasNoBoundForSmallSlices(t *testing.T) {
	_, ok := wait.Tip(wait.Slice(16, 6, 1, 1), 4, 4, 0)
	require.False(t, ok)
	for money := uint64(80); money <= 8_000; money *= 10 {
		c := newChain(tip.Rules{}, 16)
		c.weights = map[string]uint32{"a": 1, "b0": 1, "b1": 1, "b2": 1, "b3": 1, "b4": 1}
		c.wait(4)
		waited := c.waits(money, func(c *chain) {
			for i := range 5 {
				if c.spent.LT(math.LegacyNewDec(int64(money))) {
					c.add(fmt.Sprint("b", i), c.prices.Height, 4).Ask = tips(1)
				}
			}
		})
		require.GreaterOrEqual(t, waited, money/16)
		require.LessOrEqual(t, waited, money/16+money/64+1)
	}
}

// TestTip_EqualTipsGoByAge: while no ready timer tips more and all weigh the same, the oldest fires in each block.
func TestTip_EqualTipsGoByAge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, l, size := drawn(t)
		c := newChain(tip.Rules{}, l.Capacity)
		c.weights = map[string]uint32{"a": 1, "b0": 1, "b1": 1, "b2": 1, "b3": 1, "b4": 1}
		h.bid = func(x *timer) { x.Ask = tips(rapid.Int64Range(0, 2).Draw(t, "tip")) }
		older := h.older(c)
		c.wait(size).Ask = tips(2)
		bound := wait.FIFO(older, 1)
		require.LessOrEqual(t, c.waits(bound, h.move), bound)
	})
}
