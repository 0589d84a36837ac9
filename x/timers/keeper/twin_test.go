package keeper_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	errorsmod "cosmossdk.io/errors"
	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/testutil/histories"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/testutil/twin"
	"github.com/cosmos-timers/timers/x/timers/types"
)

var (
	twinHistories = flag.Int("twin.histories", 240, "how many histories of a timer the keeper and its twin live")
	twinSeed      = flag.Uint64("twin.seed", 0, "of the first of their chains")
)

// errTwin is what handlers fail with.
var errTwin = errorsmod.Register("twin", 7, "the handler failed")

// twinChain is a chain with several timers, each of an owner of its own, whose histories share its blocks.
type twinChain struct {
	*fixture
	timers []*twinTimer
	policy types.Policy
	paused bool
	// moved is how often it went on in another chain.
	moved int
}

// twinTimer is one of them, and its history in the twin.
type twinTimer struct {
	*histories.History
	chain *twinChain
	actor sdk.AccAddress
	name  string
	id    string
	fails bool
	words []string
}

var _ histories.Subject = (*twinTimer)(nil)

// Schedule implements histories.Subject. Each second timer has a name, by which its owner calls it.
func (s *twinTimer) Schedule(spec twin.Spec) error {
	msg := &types.MsgScheduleTimer{Sender: s.actor.String(), Spec: histories.SpecOf(spec)}
	msg.Spec.Call, msg.Spec.GasLimit, msg.Spec.CellLimit, msg.Spec.Name = types.TimerCall{Payload: []byte(s.actor)}, 60_000, 1, s.name
	results, _, err := s.chain.Tx(msg)
	if err != nil {
		return err
	}
	var response types.MsgScheduleTimerResponse
	require.NoError(s.chain.t, s.chain.Codec.Unmarshal(results[0].MsgResponses[0].Value, &response))
	s.id = response.Id
	return nil
}

// Operate implements histories.Subject.
func (s *twinTimer) Operate(op histories.Op) error {
	sender, id, name, height, at := s.actor.String(), s.id, s.name, op.End, int64(0)
	if name != "" {
		id = ""
	}
	if s.World.Spec.ByTime() {
		height, at = 0, int64(op.End)
	}
	var msg sdk.Msg
	switch op.Act {
	case histories.Pause:
		msg = &types.MsgPauseTimer{Sender: sender, Id: id, Name: name}
	case histories.ResumeNow:
		msg = &types.MsgResumeTimer{Sender: sender, Id: id, Name: name}
	case histories.ResumeNext:
		msg = &types.MsgResumeTimer{Sender: sender, Id: id, Name: name, At: types.ResumeNext}
	case histories.Skip:
		skip := &types.MsgSkipTimer{Sender: sender, Id: id, Name: name, Count: uint32(op.Count)}
		if op.From != nil {
			skip.From = *op.From
		}
		msg = skip
	case histories.Run:
		msg = &types.MsgRunTimer{Sender: sender, Id: id, Name: name}
	case histories.Cancel:
		msg = &types.MsgCancelTimer{Sender: sender, Id: s.id} // One that has expired has no name any more.
	case histories.Extend:
		msg = &types.MsgExtendTimer{Sender: sender, Id: id, Name: name, ExpiresAt: height, ExpiresTime: at}
	case histories.SysExtend:
		msg = &types.MsgSysExtendTimer{Authority: s.chain.Authority, Actor: sender, Id: s.id, ExpiresAt: height, ExpiresTime: at}
	case histories.Release:
		msg = &types.MsgSysReleaseTimer{Authority: s.chain.Authority, Actor: sender, Id: s.id}
	default:
		update := &types.MsgUpdateTimer{Sender: sender, Id: id, Name: name, Fields: histories.FieldsOf(op.Spec, op.Fields)}
		spec := histories.SpecOf(op.Spec)
		update.Spec, _ = types.TimerSpec{}.Named(update.Fields, &spec)
		msg = update
	}
	seen := len(s.chain.Ctx().EventManager().Events())
	_, _, err := s.chain.Tx(msg)
	s.hear(s.chain.Ctx().EventManager().Events()[seen:], s.Before)
	return err
}

// EndBlock implements histories.Subject: the chain has ended its block already.
func (s *twinTimer) EndBlock(twin.Block) []string {
	words := s.words
	s.words = nil
	return words
}

// Begin implements histories.Subject: the chain begins its blocks.
func (s *twinTimer) Begin(uint64, uint64) {}

// Status implements histories.Subject.
func (s *twinTimer) Status() histories.Status {
	all, err := s.chain.Timers.Engine().Records.Of(s.chain.Ctx(), s.actor)
	require.NoError(s.chain.t, err)
	if len(all) == 0 {
		return histories.Status{Gone: true}
	}
	status := histories.StatusOfRecord(&all[0])
	status.Left = s.World.Status.RemainingLeft // A record counts otherwise, which shows in when it ends.
	return status
}

// balances of owners: enough for any fire, for a lapse, and for nothing.
var balances = map[twin.Funds]int64{twin.CanPay: 1_000_000, twin.CanPayLapse: 6, twin.CanPayNothing: 0}

// fundFor gives the owner what a block is to find.
func (s *twinTimer) fundFor(funds twin.Funds) {
	switch has, want := s.chain.balance(s.actor), balances[funds]; {
	case has > want:
		s.chain.run(banktypes.NewMsgSend(s.actor, bob, s.chain.coins(has-want)))
	case has < want:
		s.chain.run(banktypes.NewMsgSend(alice, s.actor, s.chain.coins(want-has)))
	}
}

// hear keeps what events say of the timer, in words.
func (s *twinTimer) hear(events sdk.Events, spec twin.Spec) {
	f := s.chain.fixture
	say := func(id, word string) {
		if id == s.id {
			s.words = append(s.words, word)
		}
	}
	for _, e := range eventsOf[*types.TimerFired](f, events) {
		say(e.Id, histories.Fired(spec, map[bool]twin.OutcomeKind{true: twin.Success, false: twin.Failure}[e.Success], e.Occurrence))
		switch why := histories.EndOf(e.Ended); {
		case why != twin.Here:
			say(e.Id, histories.Left(why))
		case e.NextDue == 0:
			say(e.Id, histories.Left(map[bool]twin.Reason{true: twin.Fired, false: twin.Failed}[e.Success]))
		}
	}
	for _, e := range eventsOf[*types.TimerOccurrencesSkipped](f, events) {
		if e.Id == s.id {
			s.words = append(s.words, histories.Skipped(spec, e.First, e.Last, e.Count, histories.SkipReasonOf(e.Reason)))
		}
		if e.Ended != types.EndUnspecified {
			say(e.Id, histories.Left(histories.EndOf(e.Ended)))
		}
	}
	for _, e := range eventsOf[*types.TimerExpired](f, events) {
		say(e.Id, histories.Left(twin.Expired))
	}
	for _, e := range eventsOf[*types.TimerCancelledInsufficientFunds](f, events) {
		say(e.Id, histories.Left(twin.UnfundedEnd))
	}
	for _, e := range eventsOf[*types.TimerCancelled](f, events) {
		say(e.Id, histories.Left(twin.Cancelled))
	}
}

func newTwinChain(t *testing.T, seed uint64, m *histories.Matrix) *twinChain {
	c := &twinChain{policy: everyPolicy[seed%uint64(len(everyPolicy))]}
	for i := range 4 {
		s := &twinTimer{chain: c, actor: sdk.AccAddress(fmt.Sprintf("robot_of_the_twin_%d_", i))}
		if i%2 == 1 {
			s.name = "rent"
		}
		s.History = &histories.History{
			Rand: rand.New(rand.NewPCG(seed, uint64(i))), Subject: s, Verbose: true, Unsaid: map[twin.Unsaid]int{}, Matrix: m,
			Kinds: []twin.Kind{
				twin.Height, twin.AfterBlocks, twin.Time, twin.IntervalFire, twin.IntervalFire, twin.IntervalSchedule, twin.IntervalSchedule,
				twin.Every, twin.Listed,
			},
			Acts:  twinActs,
			Plain: true,
		}
		c.timers = append(c.timers, s)
	}
	c.fixture = newFixture(t, withConfig(func(config *types.TimerConfig) {
		limits := histories.Limits
		config.MaxTtlBlocks, config.MaxTtlSeconds, config.MaxUnfundedSkips = limits.MaxTTLBlocks, limits.MaxTTLSeconds, limits.MaxUnfundedSkips
		config.Policy = c.policy
	}), func(opts *lab.ChainOptions) {
		for _, s := range c.timers {
			opts.Balances = append(opts.Balances, lab.Balance{Address: s.actor, Amount: math.NewInt(1_000_000)})
		}
	})
	for _, s := range c.timers {
		c.robots.scripts[string(s.actor)] = func(sdk.Context, types.Delivery) error {
			if s.fails {
				return errTwin
			}
			return nil
		}
	}
	return c
}

// moveOn ends the block, exports the chain, and goes on in another one that imports it.
func (c *twinChain) moveOn(t *testing.T) sdk.Events {
	events, err := c.EndBlock()
	require.NoError(t, err)
	c.check()
	exported, old := c.export(), c.fixture
	require.NoError(t, c.Timers.ValidateGenesis(exported))
	c.fixture = newFixture(t, func(opts *lab.ChainOptions) {
		opts.Genesis, opts.Height, opts.StartTime = exported, int64(old.Height()), old.Now()
		for _, s := range c.timers {
			opts.Balances = append(opts.Balances, lab.Balance{Address: s.actor})
		}
		for i, balance := range opts.Balances {
			opts.Balances[i].Amount = math.NewInt(old.balance(balance.Address))
		}
	})
	c.robots.scripts = old.robots.scripts
	require.NoError(t, old.BeginBlock())
	return events
}

var twinActs = histories.Acts(histories.Quarantine, histories.Unrunnable, histories.BlockGuard, histories.BlockShort, histories.BlockNoRoom,
	histories.BlockWaits, histories.BlockDear, histories.BlockPaused)

// block ends a block of the chain, and with it one of each history.
func (c *twinChain) block(t *testing.T, r *rand.Rand) error {
	acts, blocks := make([]histories.Act, len(c.timers)), make([]twin.Block, len(c.timers))
	for i, s := range c.timers {
		acts[i] = []histories.Act{histories.BlockOK, histories.BlockOK, histories.BlockFails, histories.BlockBroke}[r.IntN(4)]
		blocks[i] = s.Block(acts[i])
		b := &blocks[i]
		if b.LanePaused = c.paused; b.LanePaused {
			acts[i] = histories.BlockPaused
		}
		if c.policy == types.PolicyTip { // Who lacks funds is deferred there, whatever on_unfunded says.
			b.Funds = twin.CanPay
		}
		s.fails = b.Result.Kind == twin.Fails
		s.fundFor(b.Funds)
	}
	paused := c.paused
	if r.IntN(8) == 0 {
		paused = !paused
		c.setConfig(func(config *types.TimerConfig) { config.LanePaused = paused })
	}
	c.BlockSeconds = []int64{0, 5, 20, 30, 30, 60, 100}[r.IntN(7)]
	seen := len(c.Ctx().EventManager().Events())
	var events sdk.Events
	if r.IntN(10) == 0 {
		events = c.moveOn(t)
		c.moved++
	} else {
		events = c.NextBlock()
	}
	for i, s := range c.timers {
		if s.Over || s.Ended {
			continue
		}
		s.hear(events[seen:], s.World.Spec)
		if err := s.StepOver(acts[i], blocks[i]); err != nil {
			return fmt.Errorf("%s, timer %d: %w\n%s", c.policy, i, err, strings.Join(s.Journal, "\n"))
		}
		s.Ended = s.World.Status.Gone
		s.Next(c.Height(), uint64(c.Now()))
	}
	c.paused = paused
	return nil
}

// TestTwin_LivesTheSameHistories: whatever owners do to their timers in whatever state, and whatever their blocks bring, under each
// policy, the keeper makes of it what a second implementation does that was written from the specification alone. Invariants hold
// after each block; now and then the chain is exported, and goes on in another one.
//
// Rule: 1.5-one-function
func TestTwin_LivesTheSameHistories(t *testing.T) {
	m := histories.NewMatrix(twinActs)
	unsaid, moved, chains := map[twin.Unsaid]int{}, 0, (*twinHistories+3)/4
	for n := range chains {
		seed := *twinSeed + uint64(n)
		if n > 0 && n%25 == 0 {
			fmt.Printf("%d of %d histories, %d exports, from seed %d\n", 4*n, 4*chains, moved, *twinSeed)
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := newTwinChain(t, seed, m)
			c.live(t, rand.New(rand.NewPCG(seed, 68)))
			moved += c.moved
			for _, s := range c.timers {
				for what, n := range s.Unsaid {
					unsaid[what] += n
				}
			}
		})
		if t.Failed() {
			return
		}
	}
	t.Logf("%d histories in %d chains from seed %d, %d exports", 4*chains, chains, *twinSeed, moved)
	t.Log(strings.Join(m.Lines(), "\n"))
	for _, what := range slices.Sorted(maps.Keys(unsaid)) {
		t.Logf("%9d times not said: %s", unsaid[what], what)
	}
}

// live lives the histories of a chain.
func (c *twinChain) live(t *testing.T, r *rand.Rand) {
	c.NextBlock()
	for _, s := range c.timers {
		require.NoError(t, s.Draw(twin.Block{Height: c.Height(), Time: uint64(c.Now())}))
	}
	require.NoError(t, c.block(t, r))
	for range 30 {
		if !slices.ContainsFunc(c.timers, func(s *twinTimer) bool { return !s.Over && !s.Ended }) {
			return
		}
		for _, s := range c.timers {
			for range r.IntN(3) {
				if s.Over || s.Ended || s.World.Status.Gone {
					break
				}
				if a := s.Choose(); !a.Ends() {
					require.NoError(t, s.Step(a), "%s\n%s", c.policy, strings.Join(s.Journal, "\n"))
				}
			}
		}
		require.NoError(t, c.block(t, r))
	}
}
