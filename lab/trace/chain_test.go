package trace_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	corestore "cosmossdk.io/core/store"
	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/policies/agents"
	"github.com/cosmos-timers/timers/x/timers/policies/auction"
	"github.com/cosmos-timers/timers/x/timers/policies/score"
	"github.com/cosmos-timers/timers/x/timers/policies/tip"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/testutil/questions"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	// unit of gas in cycles, and that of what agents use.
	unit, callUnit = 2_000, 10_000
	// minute is how long one of the model's lasts.
	minute = 60
	// pricePrec: the model counts prices in units of this decimal.
	pricePrec = 18
	// tipUnit is what a unit of gas tips if it tips 1, in units of a price.
	tipUnit        = 100_000_000_000_000
	fairnessBlocks = 3
)

var (
	faucet = sdk.AccAddress("faucet______________")
	// watched: timers of the model watch its balance.
	watched = sdk.AccAddress("watched_____________")
	// agent is named by the bids of the model that name one.
	agent = sdk.AccAddress("agent_______________")
)

func owner(i int) sdk.AccAddress { return sdk.AccAddress(fmt.Sprintf("owner%d______________", i)) }

// chain is one of the lab, with the model's constants and its faults.
type chain struct {
	*lab.Chain
	t *testing.T
	// broken: the lane can't read its state. restricted is the owner from whom the bank takes nothing, −1 if there is none.
	broken     bool
	restricted int
	// ids of timers by their number in the model, and the reverse.
	ids     map[int]string
	numbers map[string]int
	key     types.WatchKey
	// started is minute 0, in seconds since 1970.
	started int64
	// plans are the steps that scheduled the timers, by their numbers in the model: they say what agents and handlers do.
	plans map[int]*step
	// called and asked are the agents' calls and the questions of the open block, in their order; asker asks what the
	// model does not count.
	called []int
	asked  []question
	asker  *questions.Asker
}

func newChain(t *testing.T, meta constants, first state) *chain {
	t.Helper()
	c := &chain{t: t, restricted: -1, ids: map[int]string{}, numbers: map[string]int{}, plans: map[int]*step{}}
	genesis := types.NewGenesis("stake")
	configure(&genesis.Config, meta)
	genesis.Config.Policy = policies[first.Step.Policy]
	require.NoError(t, genesis.Config.Validate())
	opts := lab.ChainOptions{
		Genesis: genesis, Runtimes: []types.Runtime{worker{c}},
		// Guards are read for nothing.
		KVGas:     &storetypes.GasConfig{},
		WrapStore: func(service corestore.KVStoreService) corestore.KVStoreService { return brittle{service, &c.broken} },
		Balances:  []lab.Balance{{Address: faucet, Amount: math.NewInt(1_000)}, {Address: watched, Amount: math.NewInt(3)}},
	}
	var owners []sdk.AccAddress
	for i := range len(first.Balances) {
		owners = append(owners, owner(i))
		opts.Balances = append(opts.Balances, lab.Balance{Address: owner(i), Amount: math.NewInt(first.Balances[i])})
	}
	var err error
	c.Chain, err = lab.NewChain(opts)
	require.NoError(t, err)
	c.asker = &questions.Asker{Timers: c.Timers, Messages: c.Messages, Actors: owners, Random: rand.New(rand.NewSource(1))}
	module := authtypes.NewModuleAddress(types.ModuleName)
	c.Bank.AppendSendRestriction(func(_ context.Context, from, to sdk.AccAddress, _ sdk.Coins) (sdk.AccAddress, error) {
		if c.restricted >= 0 && from.Equals(owner(c.restricted)) && to.Equals(module) {
			return to, types.ErrInternal.Wrap("restricted")
		}
		return to, nil
	})
	c.key, err = c.Watcher.Parse("bank:balance:" + watched.String() + ":" + c.FeeDenom)
	require.NoError(t, err)
	c.BlockSeconds = minute
	require.NoError(t, c.BeginBlock())
	c.started = c.now() - first.Minute*minute
	return c
}

// now is the time of the open block, in seconds since 1970.
func (c *chain) now() int64 { return c.Ctx().BlockTime().Unix() }

// at is a minute of the model, in seconds since 1970; 0 is none.
func (c *chain) at(minutes int64) int64 {
	if minutes == 0 {
		return 0
	}
	return c.started + minutes*minute
}

// minutes is what at makes of them.
func (c *chain) minutes(seconds int64) int64 {
	if seconds == 0 {
		return 0
	}
	return (seconds - c.started) / minute
}

// configure sets what the model has as constants.
func configure(config *types.TimerConfig, meta constants) {
	config.CandidateWindow = meta.Window
	lab.SetRemovals(config, int(meta.Removals))
	config.LaneTimerCycles, config.MaxCyclesPerFire, config.MinGasLimit = 80*unit, 50*unit, 20*unit
	config.Eip1559.MaxCyclesPerFireAuction = 40 * unit
	config.Eip1559.MinLaneBasefee, config.CycleBasefee = decimal.Of(math.LegacyNewDecWithPrec(1, 4)), decimal.Of(math.LegacyNewDecWithPrec(1, 4))
	config.CellBasefee, config.ReservedShare = decimal.Of(math.LegacyZeroDec()), decimal.Of(math.LegacyZeroDec())
	types.ChangeParams(config, func(p *agents.Params) { p.CyclesPerCall, p.CyclesPerBlock = 3*callUnit, 6*callUnit })
	config.MaxUnfundedSkips = 2
	config.FairnessWindowBlocks = fairnessBlocks
	config.WeightMin = decimal.Of(math.LegacyNewDec(meta.WeightMin).QuoInt64(16))
	half, one := decimal.Of(math.LegacyNewDecWithPrec(5, 1)), decimal.Of(math.LegacyOneDec())
	types.ChangeParams(config, func(p *score.Params) { p.WAge, p.WBid = one, half })
	types.ChangeParams(config, func(p *auction.Params) {
		p.LambdaStart, p.LambdaMax, p.LambdaStep, p.ReservePrice = one, one, decimal.Of(math.LegacyZeroDec()), decimal.IntOf(math.NewInt(2))
	})
	// All actors weigh the same.
	types.ChangeParams(config, func(p *tip.Params) {
		p.WeightMin, p.WeightMax, p.WeightNeutral, p.StarvationFloor = half, half, half, half
	})
}

// failing ends the name of a handler that fails.
const failing = " fails"

var policies = map[string]types.Policy{
	"fifo": types.PolicyFIFO, "eip1559": types.PolicyEIP1559, "auction": types.PolicyAuction, "score": types.PolicyScore,
	"tip": types.PolicyTip,
}

var conditions = map[string]types.ConditionOp{
	"<": types.ConditionLess, ">=": types.ConditionGreaterOrEqual, "==": types.ConditionEqual, "absent": types.ConditionAbsent,
}

// worker runs the timers of owners, and is their agent: the handler is how many units they work, and whether they fail
// afterwards. A payload would count its bytes.
type worker struct{ c *chain }

var _ types.Quoter = worker{}

// Serves implements types.Runtime.
func (worker) Serves(_ context.Context, actor sdk.AccAddress) bool {
	return bytes.HasPrefix(actor, []byte("owner")) || actor.Equals(agent)
}

// Quotes implements types.Quoter.
func (worker) Quotes(_ context.Context, actor sdk.AccAddress) bool { return actor.Equals(agent) }

// Quote implements types.Quoter: it does what the model says that the timer's agent does.
func (w worker) Quote(ctx context.Context, _ sdk.AccAddress, about types.BidContext) (types.AgentQuote, error) {
	c, number := w.c, w.c.numbers[fmt.Sprintf("%x", about.TimerID)]
	plan := c.plans[number]
	c.called = append(c.called, number)
	meter := sdk.UnwrapSDKContext(ctx).GasMeter()
	meter.ConsumeGas(callUnit*plan.Effort+callUnit-types.AgentBaseCycles, "effort")
	tip := plan.Tip
	if plan.Asks {
		tip = tipUnit * c.ask(ctx, number, false).Live
	}
	switch plan.Agent {
	case "errs":
		return types.AgentQuote{}, errors.New("the model says so")
	case "panics":
		panic("the model says so")
	case "writes":
		// The write ends the call: who comes back answers.
		require.NoError(c.t, c.Bank.SendCoins(ctx, faucet, agent, c.coins(1)))
	case "spends":
		meter.ConsumeGas(1<<40, "all")
	case "nonsense":
		tip = -1
	}
	price := func(n int64) math.LegacyDec { return math.LegacyNewDecWithPrec(n, pricePrec) }
	return types.AgentQuote{
		MaxFeePerCycle: price(plan.MaxFee), MaxPriorityFeePerCycle: price(tip), MaxFeePerCell: math.LegacyOneDec(),
	}, nil
}

// ask cancels the timer on a branch that is dropped, asks random questions on others, and returns what one sees of the
// timer's owner. All are free.
func (c *chain) ask(goCtx context.Context, number int, fires bool) question {
	free := sdk.UnwrapSDKContext(goCtx).WithGasMeter(storetypes.NewInfiniteGasMeter())
	free = free.WithEventManager(sdk.NewEventManager())
	own := owner(c.plans[number].Owner)
	branch, _ := free.CacheContext()
	msg := &types.MsgCancelTimer{Sender: own.String(), Id: c.ids[number]}
	if _, err := c.Messages.Handler(msg)(branch, msg); !fires {
		require.NoError(c.t, err, "the agent of timer %d cancels it", number)
	}
	c.asker.Ask(free)
	branch, _ = free.CacheContext()
	seen, err := keeper.NewQueryServer(c.Timers).TimersByActor(branch, &types.QueryTimersByActorRequest{Actor: own.String()})
	require.NoError(c.t, err)
	require.Len(c.t, seen.Timers, int(seen.Total))
	has := c.Bank.GetBalance(branch, own, c.FeeDenom).Amount.Int64()
	q := question{ID: number, Fires: fires, Live: int64(seen.Total), Has: has}
	for i := range seen.Timers {
		switch seen.Timers[i].Status.HoldReason {
		case types.NotOnHold, types.Watching, types.Timed:
		default:
			q.Held++
		}
	}
	c.asked = append(c.asked, q)
	return q
}

// Deployer implements types.Runtime.
func (worker) Deployer(_ context.Context, actor sdk.AccAddress) sdk.AccAddress { return actor }

// Validate implements types.Runtime.
func (worker) Validate(context.Context, *types.TimerConfig, types.Call) error { return nil }

// Deliver implements types.Runtime.
func (w worker) Deliver(ctx context.Context, _ *types.TimerConfig, delivery types.Delivery) error {
	if number := w.c.numbers[fmt.Sprintf("%x", delivery.TimerID)]; w.c.plans[number].Asks {
		w.c.ask(ctx, number, true)
	}
	text, fails := strings.CutSuffix(delivery.Handler, failing)
	work, err := strconv.ParseUint(text, 10, 64)
	require.NoError(w.c.t, err)
	sdk.UnwrapSDKContext(ctx).GasMeter().ConsumeGas(unit*work, "work")
	if fails {
		return errors.New("the model says so")
	}
	return nil
}

// brittle is a store in which the lane's state can't be read while it is broken.
type brittle struct {
	corestore.KVStoreService
	broken *bool
}

type brittleStore struct{ corestore.KVStore }

func (s brittle) OpenKVStore(ctx context.Context) corestore.KVStore {
	store := s.KVStoreService.OpenKVStore(ctx)
	if *s.broken {
		return brittleStore{store}
	}
	return store
}

func (s brittleStore) Get(key []byte) ([]byte, error) {
	if bytes.Equal(key, types.PrefixLane.Bytes()) {
		return nil, errors.New("the disk is broken")
	}
	return s.KVStore.Get(key)
}

// message is a step as a message; nil if it is none.
func (c *chain) message(s *step) sdk.Msg {
	sender, id, gas := owner(s.Owner).String(), c.ids[s.ID], s.Gas*unit
	switch s.Op {
	case "once", "every", "watch", "time", "calendar", "rhythm":
		return c.schedule(s)
	case "update":
		return &types.MsgUpdateTimer{Sender: sender, Id: id, Spec: types.TimerSpec{GasLimit: gas}, Fields: []string{"gas_limit"}}
	case "rebid":
		return &types.MsgUpdateTimer{Sender: sender, Id: id, Spec: types.TimerSpec{Bid: &types.Bid{Price: strconv.FormatInt(s.Bid, 10)}}, Fields: []string{"bid"}}
	case "extend":
		if s.Flag {
			return &types.MsgExtendTimer{Sender: sender, Id: id, ExpiresTime: c.at(int64(s.Expires))}
		}
		return &types.MsgExtendTimer{Sender: sender, Id: id, ExpiresAt: s.Expires}
	case "skip":
		return &types.MsgSkipTimer{Sender: sender, Id: id, Count: uint32(s.Amount)}
	case "pause":
		return &types.MsgPauseTimer{Sender: sender, Id: id}
	case "resume":
		return &types.MsgResumeTimer{Sender: sender, Id: id}
	case "cancel":
		return &types.MsgCancelTimer{Sender: sender, Id: id}
	case "sysCancel":
		return &types.MsgSysCancelTimer{Authority: c.Authority, Actor: sender, Id: id}
	case "release":
		return &types.MsgSysReleaseTimer{Authority: c.Authority, Actor: sender, Id: id}
	case "send":
		return banktypes.NewMsgSend(owner(s.Owner), owner(s.To), c.coins(s.Amount))
	case "touch":
		if s.Amount < 0 {
			return banktypes.NewMsgSend(watched, faucet, c.coins(-s.Amount))
		}
		return banktypes.NewMsgSend(faucet, watched, c.coins(s.Amount))
	case "config":
		config, err := c.Timers.Config(c.Ctx())
		require.NoError(c.t, err)
		config.Policy, config.LanePaused = policies[s.Policy], s.Flag
		types.ChangeParams(&config, func(p *auction.Params) {
			if p.PaymentRule = auction.PaymentVCG; s.FirstPrice {
				p.PaymentRule = auction.PaymentFirstPrice
			}
		})
		msg, err := c.Timers.ReplaceConfig(c.Ctx(), config)
		require.NoError(c.t, err)
		return msg
	default:
		return nil
	}
}

func (c *chain) coins(amount int64) sdk.Coins {
	return sdk.NewCoins(sdk.NewInt64Coin(c.FeeDenom, amount))
}

func (c *chain) schedule(s *step) sdk.Msg {
	msg := &types.MsgScheduleTimer{
		Sender: owner(s.Owner).String(), Spec: types.TimerSpec{
			Trigger: types.Trigger{Height: s.Height}, Call: types.TimerCall{Handler: fmt.Sprint(s.Work)}, GasLimit: s.Gas * unit,
			CellLimit: 1, ExpiresAt: s.Expires, OnUnfunded: types.OnUnfundedDestroy, Bid: &types.Bid{Price: strconv.FormatInt(s.Bid, 10)},
		},
	}
	if s.Form == "agent" {
		msg.Spec.Bid = &types.Bid{Agent: agent.String()}
	}
	if s.Form == "static" {
		msg.Spec.Bid = &types.Bid{Static: &types.StaticBid{
			MaxFeePerCycle: decimal.Of(math.LegacyNewDecWithPrec(s.MaxFee, pricePrec)), MaxPriorityFeePerCycle: decimal.Of(math.LegacyNewDecWithPrec(s.Tip, pricePrec)),
		}}
	}
	switch s.Op {
	case "every":
		msg.Spec.Trigger = types.Trigger{Interval: &types.IntervalTrigger{Every: s.Every, First: s.Height}}
		msg.Spec.Repeat = repeat(s)
	case "time":
		at := time.Unix(c.at(s.At), 0).UTC()
		msg.Spec.Trigger, msg.Spec.ExpiresAt, msg.Spec.ExpiresTime = types.Trigger{Time: &at}, 0, c.at(int64(s.Expires))
	case "calendar":
		msg.Spec.Trigger = types.Trigger{Calendar: &types.CalendarTrigger{Every: &types.EveryRule{Seconds: s.Every * minute}}}
		msg.Spec.Repeat = occurrences(s, minute)
		msg.Spec.ExpiresAt, msg.Spec.ExpiresTime = 0, c.at(int64(s.Expires))
	case "rhythm":
		msg.Spec.Trigger = types.Trigger{Interval: &types.IntervalTrigger{Every: s.Every, First: s.Height, From: types.FromSchedule}}
		msg.Spec.Repeat = occurrences(s, 1)
	case "watch":
		key := c.key
		if s.When != "" {
			key = c.condition(s.When, s.Than)
		}
		msg.Spec.Trigger = types.Trigger{Watch: &types.WatchTrigger{Keys: []types.WatchKey{key}, Cooldown: s.Cooldown, Level: s.Level}}
		msg.Spec.Repeat = &types.Repeat{Remaining: s.Remaining}
	}
	if s.Only != "" {
		msg.Spec.OnlyIf = []types.WatchKey{c.condition(s.Only, s.OnlyThan)}
	}
	if s.Fails {
		msg.Spec.Call.Handler += failing
	}
	if s.RetryMax > 0 {
		msg.Spec.Retry = &types.Retry{Max: s.RetryMax, After: s.RetryAfter}
		if msg.Spec.Trigger.ByTime() {
			msg.Spec.Retry.After *= minute
		}
	}
	if s.Suspends {
		msg.Spec.OnUnfunded = types.OnUnfundedSuspend
	}
	return msg
}

// condition on the watched balance.
func (c *chain) condition(op string, than int64) types.WatchKey {
	key := c.key
	key.When = &types.WatchCondition{Op: conditions[op]}
	if key.When.Op != types.ConditionAbsent {
		key.When.Value = strconv.FormatInt(than, 10)
	}
	return key
}

// repeat is how often a timer fires, and whether a failure ends it.
func repeat(s *step) *types.Repeat {
	stated := &types.Repeat{Remaining: s.Remaining}
	if s.Stops {
		stated.OnFailure = types.OnFailureStop
	}
	return stated
}

// occurrences are repetitions that come at so many units of their clock.
func occurrences(s *step, unit uint64) *types.Repeat {
	stated := repeat(s)
	stated.Missed, stated.Window = types.MissedEach, s.Window*unit
	if s.Latest {
		stated.Missed = types.MissedLatest
	}
	return stated
}

// do runs a step, and returns the events of the end of a block.
func (c *chain) do(s *step) sdk.Events {
	switch s.Op {
	case "end", "fail":
		c.broken, c.BlockSeconds = s.Op == "fail", s.Amount*minute
		c.called, c.asked = nil, nil
		before := len(c.Ctx().EventManager().Events())
		events, err := c.EndBlock()
		c.broken = false
		require.NoError(c.t, err)
		require.NoError(c.t, c.Check())
		require.NoError(c.t, c.BeginBlock())
		return events[before:]
	case "restrict":
		c.restricted = s.Owner
		return nil
	}
	msg := c.message(s)
	require.NotNil(c.t, msg, "step %s", s.Op)
	results, _, err := c.Tx(msg)
	if !s.OK {
		require.Error(c.t, err)
		return nil
	}
	require.NoError(c.t, err)
	if _, schedules := msg.(*types.MsgScheduleTimer); schedules {
		var response types.MsgScheduleTimerResponse
		require.NoError(c.t, c.Codec.Unmarshal(results[0].MsgResponses[0].Value, &response))
		c.ids[s.ID], c.numbers[response.Id], c.plans[s.ID] = response.Id, s.ID, s
	}
	return nil
}
