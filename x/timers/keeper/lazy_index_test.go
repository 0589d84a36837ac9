package keeper_test

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// sorted is a chain whose window holds all that is ready, so that every block sorts all of it, and indexed one whose window holds
// next to nothing, so that every block reads the ready index. Both have room to admit and look at all that is ready.
type sorted struct {
	*fixture
	storms, blocks int
}

func newSorted(t *testing.T, window uint32, actors []sdk.AccAddress) *sorted {
	f := newFixture(t, withoutHeadroom, func(opts *lab.ChainOptions) {
		c := &opts.Genesis.Config
		c.Policy, c.CandidateWindow, c.FairnessWindowBlocks, c.MaxFiresPerBlock = types.PolicyEIP1559, window, 3, 4
		lab.SetOverhead(c, market.Refile, 5_000)
		for _, actor := range actors {
			opts.Balances = append(opts.Balances, lab.Balance{Address: actor, Amount: math.NewInt(rich)})
		}
	})
	f.robots.scripts["noop"] = func(sdk.Context, types.Delivery) error { return nil }
	f.quarantine()
	return &sorted{fixture: f}
}

// fires ends the block and returns what fired, in order.
func (s *sorted) fires() []string {
	events := s.NextBlock()
	s.blocks++
	if only[*types.TimerLaneSummary](s.fixture, events).Storm {
		s.storms++
	}
	return s.firedIDs(events)
}

// indexHistory is a random history of timers that come, change and leave, on both chains.
type indexHistory struct {
	chains [2]*sorted
	r      *rand.Rand
	actors []sdk.AccAddress
	bid    func(*rand.Rand) *types.Bid
	// ids of all timers, and whose they are.
	ids    []string
	owners []sdk.AccAddress
}

// tx runs a message on both chains, with the same outcome, and returns what was scheduled.
func (h *indexHistory) tx(msg sdk.Msg) (id string) {
	var failed [2]error
	for i, chain := range h.chains {
		results, _, err := chain.Tx(msg)
		if failed[i] = err; err != nil {
			continue
		}
		var response types.MsgScheduleTimerResponse
		if _, schedules := msg.(*types.MsgScheduleTimer); schedules {
			require.NoError(chain.t, chain.Codec.Unmarshal(results[0].MsgResponses[0].Value, &response))
			id = response.Id
		}
	}
	require.Equal(h.chains[0].t, fmt.Sprint(failed[0]), fmt.Sprint(failed[1]), "%T", msg)
	return id
}

func (h *indexHistory) schedule() {
	// The last two have no funds, the one before them is quarantined as soon as it is tried.
	actor := h.actors[min(h.r.IntN(len(h.actors)+6), 3*len(h.actors))%len(h.actors)]
	height := h.chains[0].Height()
	msg := scheduleMsg(actor, height+1+uint64(h.r.IntN(3)), []byte("noop"), limited(40_000), bidding(h.bid(h.r)))
	switch h.r.IntN(8) {
	case 0:
		expiring(msg.Spec.Trigger.Height + uint64(h.r.IntN(6)))(msg)
	case 1:
		every(uint64(1+h.r.IntN(4)), uint64(2+h.r.IntN(4)))(msg)
	case 2:
		// 40,000 cycles and 20,000 cells at the chain's prices are 640, the lane's least fee is 40 more.
		msg.Spec.MaxCharge = fmt.Sprint(600 + h.r.IntN(200))
	}
	if id := h.tx(msg); id != "" {
		h.ids, h.owners = append(h.ids, id), append(h.owners, actor)
	}
}

// change changes some timer whose payer is not looked at differently.
func (h *indexHistory) change() {
	if len(h.ids) == 0 {
		return
	}
	at := h.r.IntN(len(h.ids))
	if h.r.IntN(3) > 0 {
		at = max(0, len(h.ids)-1-h.r.IntN(20))
	}
	id, owner := h.ids[at], h.owners[at]
	if slices.ContainsFunc(h.actors[len(h.actors)-2:], func(poor sdk.AccAddress) bool { return poor.Equals(owner) }) {
		return
	}
	sender := owner.String()
	switch h.r.IntN(7) {
	case 0, 1:
		h.tx(&types.MsgCancelTimer{Sender: sender, Id: id})
	case 2:
		h.tx(&types.MsgPauseTimer{Sender: sender, Id: id})
	case 3:
		h.tx(&types.MsgResumeTimer{Sender: sender, Id: id})
	case 4:
		h.tx(&types.MsgUpdateTimer{Sender: sender, Id: id, Spec: types.TimerSpec{Bid: h.bid(h.r), GasLimit: 40_000}, Fields: []string{"bid", "gas_limit"}})
	case 5:
		h.tx(&types.MsgExtendTimer{Sender: sender, Id: id, ExpiresAt: h.chains[0].Height() + 1 + uint64(h.r.IntN(20))})
	default:
		h.tx(&types.MsgSysReleaseTimer{Authority: h.chains[0].Authority, Actor: sender, Id: id})
	}
}

// ranksByAnEarlierHeight reports whether a timer is ready, or will be in the next block, that was due before it had its place.
func (s *sorted) ranksByAnEarlierHeight(t *testing.T) bool {
	timers, err := s.Timers.Engine().Records.All(s.Ctx())
	require.NoError(t, err)
	return slices.ContainsFunc(timers, func(t types.Timer) bool { return t.Since > 0 || t.ReturnsByItself() })
}

// TestLazyIndex_ChoosesWhatAFullSortChooses: whatever timers come, change and leave, expire, repeat, lack funds or are
// quarantined while the weights of their actors change, the blocks of a chain that reads the ready index fire the same timers in
// the same order as those of one that sorts all that is ready. A history ends where a timer returns whose rank is that of an earlier
// height: under overload it ranks by its place in the queue.
//
// Rule: 5.4-index-exact, 5.4-index-lazy
func TestLazyIndex_ChoosesWhatAFullSortChooses(t *testing.T) {
	kinds := []string{"default", "lognormal", "equal", "near equal", "mixed"}
	fired, storms, blocks := 0, 0, 0
	for seed := range uint64(sized(40, 400)) {
		h := &indexHistory{r: rand.New(rand.NewPCG(seed, 7))}
		for i := range 2 + h.r.IntN(6) {
			h.actors = append(h.actors, sdk.AccAddress(fmt.Sprintf("robot_%014d", i)))
		}
		funded := h.actors
		h.actors = append(slices.Clone(funded), robot, sdk.AccAddress("poor_______________1"), sdk.AccAddress("poor_______________2"))
		h.bid = bidders[kinds[h.r.IntN(len(kinds))]]
		h.chains = [2]*sorted{newSorted(t, 1, funded), newSorted(t, 10_000, funded)}
		for range 20 + h.r.IntN(20) {
			for range h.r.IntN(12) {
				h.schedule()
			}
			for range h.r.IntN(8) {
				h.change()
			}
			if h.chains[1].ranksByAnEarlierHeight(t) {
				break
			}
			want := h.chains[1].fires()
			require.Equal(t, want, h.chains[0].fires(), "seed %d, height %d", seed, h.chains[0].Height())
			fired += len(want)
		}
		require.Zero(t, h.chains[1].storms)
		storms, blocks = storms+h.chains[0].storms, blocks+h.chains[0].blocks
	}
	t.Logf("%d fires in %d blocks, %d of them by the index", fired, blocks, storms)
	require.Greater(t, storms, blocks/2)
}

// TestLazyIndex_DropsJunkWithinItsBounds: whoever fills the index with the best bids and cancels them leaves entries of no timers
// before those of all others. Each block drops as many as a part of its overhead holds, at the least, and fires meanwhile what it
// finds; after as many blocks as that takes no one notices any more, and overload ends as if they had never been there.
//
// Rule: 5.4-stale-bounded, 5.4-index-lazy
func TestLazyIndex_DropsJunkWithinItsBounds(t *testing.T) {
	const honest, junk, fires = 400, 3_000, 40
	f := crowded(t, honest+junk, func(timer *types.Timer) {
		timer.Due, timer.Spec.Bid = 2, stated("50", "0.5")
		if timer.Seq > honest {
			timer.Actor, timer.Spec.Bid = robot, stated("50", "0.9")
			timer.Id = types.TimerID(timer.Actor, timer.Due, timer.Spec.Call.Payload, timer.Seq)
		}
	}, withConfig(expensive), withConfig(func(c *types.TimerConfig) {
		c.LanePaused, c.MaxFiresPerBlock = true, fires
	}))
	f.fund(robot, 100*rich)
	for i := range honest / 100 {
		f.fund(sdk.AccAddress(fmt.Sprintf("robot_%014d", i)), rich)
	}
	for blocks := 0; len(f.export().Ready) < honest+junk; blocks++ {
		require.Less(t, blocks, 80)
		f.endBlock()
	}
	f.setConfig(func(c *types.TimerConfig) { c.LanePaused = false })
	f.endBlock()
	for _, timer := range f.export().Timers {
		if timer.Owner().Equals(robot) {
			f.run(&types.MsgCancelTimer{Sender: robot.String(), Id: timer.IDHex()})
		}
	}
	config := f.config()
	// Two thirds of what is guaranteed to tries, where nothing is lent.
	perBlock := int(2 * (config.OverheadCyclesPerBlock - config.GcCyclesPerBlock) / 36 * 4 / 3 / (market.ReadRanked.Cycles + market.DropMet.Cycles))
	stale := func() int {
		live := map[uint64]bool{}
		state := f.export()
		for i := range state.Timers {
			live[state.Timers[i].Seq] = true
		}
		n := 0
		for _, entry := range state.Ready {
			if !live[entry.Seq] {
				n++
			}
		}
		return n
	}
	left, fired, storm := stale(), 0, true
	require.Greater(t, left, 5*perBlock)
	for blocks := 0; fired < honest; blocks++ {
		before := left
		events := f.endBlock()
		summary := only[*types.TimerLaneSummary](f, events)
		require.LessOrEqual(t, summary.OverheadCycles, config.OverheadCyclesPerBlock)
		n := len(f.firedIDs(events))
		if left = stale(); left > 0 {
			require.LessOrEqual(t, left, before-perBlock, "block %d", blocks)
		} else if before == 0 {
			require.Equal(t, min(fires, honest-fired), n, "block %d", blocks)
		}
		fired += n
		if storm = summary.Storm; honest-fired < int(config.CandidateWindow)-fires {
			require.False(t, storm)
		}
		require.Less(t, blocks, 2+junk/perBlock+honest/fires)
	}
	require.False(t, storm)
	require.NoError(t, f.Check())
}

// TestLazyIndex_ReadersLeaveNothing: while a block reads the index, and between blocks, whoever asks for the order of the next
// block, an estimate, the lane or a timer, on a branch that is dropped, changes nothing of the state, and nothing of what the
// next blocks do.
//
// Rule: 5.4-index-lazy, 2.3-session
func TestLazyIndex_ReadersLeaveNothing(t *testing.T) {
	ask := func(f *fixture, ctx sdk.Context, id string) {
		branch, _ := ctx.CacheContext()
		branch = branch.WithGasMeter(storetypes.NewInfiniteGasMeter())
		_, err := f.query().Ready(branch, &types.QueryReadyRequest{})
		require.NoError(f.t, err)
		_, err = f.query().Estimate(branch, &types.QueryEstimateRequest{Actor: robot.String(), GasLimit: 60_000, Tier: types.TierFast})
		require.NoError(f.t, err)
		_, err = f.query().Lane(branch, &types.QueryLaneRequest{})
		require.NoError(f.t, err)
		_, err = f.query().Timer(branch, &types.QueryTimerRequest{Actor: robot.String(), Id: id})
		require.NoError(f.t, err)
		// A preview that continues as the block would: it puts timers back, and drops what is stale.
		preview, b, err := f.Timers.Engine().Preview(branch)
		require.NoError(f.t, err)
		for more := true; more; {
			_, more, err = b.Contest.Next(preview)
			require.NoError(f.t, err)
		}
		_, err = keeper.NewMsgServer(f.Timers).CancelTimer(branch, &types.MsgCancelTimer{Sender: robot.String(), Id: id})
		require.NoError(f.t, err)
	}
	asked := 0
	run := func(asks bool) (history []string) {
		f := newFixture(t, withConfig(stormy(3, 40)), withConfig(func(c *types.TimerConfig) { c.MaxFiresPerBlock = 3 }))
		last := f.schedule(robot, 500, f.noop())
		look := f.script(func(ctx sdk.Context, _ types.Delivery) error {
			if asks {
				ask(f, ctx, last)
				asked++
			}
			return nil
		})
		agent := f.agent("curious", func(ctx sdk.Context, _ types.BidContext) (types.AgentQuote, error) {
			if asks {
				ask(f, ctx, last)
				asked++
			}
			return types.AgentQuote{MaxFeePerCycle: dec("2.5"), MaxPriorityFeePerCycle: dec("0.5"), MaxFeePerCell: dec("9")}, nil
		})
		for i := range 90 {
			actor, bid := []sdk.AccAddress{robot, robot2}[i%2], bidding(stated("2.9", fmt.Sprintf("0.%d", 1+i%8)))
			payload, change := f.noop(), bid
			switch i % 5 {
			case 0:
				payload = look
			case 1:
				change = byAgent(agent)
			}
			f.schedule(actor, 3+uint64(i%9), payload, change, limited(250_000))
		}
		for height := range 26 {
			if height%3 == 2 {
				timers, err := f.Timers.TimersOf(f.Ctx(), robot2)
				require.NoError(t, err)
				for i := 0; i < len(timers); i += 7 {
					f.run(&types.MsgCancelTimer{Sender: robot2.String(), Id: timers[i].IDHex()})
				}
			}
			if asks {
				before := f.stateBytes()
				ask(f, f.Ctx(), last)
				require.Equal(t, before, f.stateBytes(), "height %d", f.Height())
			}
			fired := f.firedIDs(f.NextBlock())
			history = append(history, fmt.Sprint(fired), f.stateBytes())
		}
		return history
	}
	require.Equal(t, run(false), run(true))
	require.Greater(t, asked, 20)
}

// stateBytes is a hash of all that the module has in its store.
func (f *fixture) stateBytes() string {
	hash := sha256.New()
	f.WalkState(func(store string, key, value []byte) {
		if store == types.StoreKey {
			hash.Write(append(append([]byte{byte(len(key))}, key...), value...))
		}
	})
	return fmt.Sprintf("%x", hash.Sum(nil))
}
