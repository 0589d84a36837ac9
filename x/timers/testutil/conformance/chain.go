package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/cosmos/gogoproto/proto"
	"github.com/stretchr/testify/require"

	corestore "cosmossdk.io/core/store"
	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"

	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/testutil/storecount"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// rich pays for any number of fires.
const rich = 1_000_000_000_000

var (
	alice = sdk.AccAddress("alice_______________")
	bob   = sdk.AccAddress("bob_________________")
	carol = sdk.AccAddress("carol_______________")
	// The timers of robots run handlers of this package. Poor can pay for a few fires, the pauper for none.
	robot  = sdk.AccAddress("robot_______________")
	robot2 = sdk.AccAddress("robot2______________")
	poor   = sdk.AccAddress("robot_and_poor______")
	pauper = sdk.AccAddress("robot_and_pauper____")
	// agent is a robot that bids for others' timers.
	agent = sdk.AccAddress("robot_who_bids______")
)

// testingT is what *testing.T and *rapid.T share.
type testingT interface {
	require.TestingT
	Helper()
}

// chain is a lab chain with a block open, on which the policy is in force.
type chain struct {
	*lab.Chain
	t testingT
	// service is the module's store, which counts what is done to it.
	service corestore.KVStoreService
	counts  *storecount.Counts
	// minted is the supply that there would be if nothing were burned.
	minted math.Int
	// burned and collected are the sums of the burns and the tips up to the last block.
	burned, collected math.Int
	robots            *robots
}

// start begins a chain and opens its first block.
func start(t testingT, opts lab.ChainOptions) *chain {
	t.Helper()
	c := &chain{t: t}
	robots := &robots{}
	// A few timers are a backlog.
	opts.NoHeadroom = true
	opts.Runtimes = []types.Runtime{robots}
	opts.WrapStore = func(service corestore.KVStoreService) corestore.KVStoreService {
		c.service, c.counts = storecount.Wrap(service)
		return c.service
	}
	started, err := lab.NewChain(opts)
	require.NoError(t, err)
	c.Chain, robots.chain, c.robots = started, started, robots
	c.burned, c.collected = c.lane().Burned, c.collector()
	c.minted = c.supply().Add(c.burned)
	require.NoError(t, c.BeginBlock())
	return c
}

func (c *chain) lane() types.LaneState {
	lane, err := c.Timers.Engine().Lane.Get(c.Ctx())
	require.NoError(c.t, err)
	return lane
}

func (c *chain) supply() math.Int { return c.Bank.GetSupply(c.Ctx(), c.FeeDenom).Amount }

func (c *chain) balance(address sdk.AccAddress) math.Int {
	return c.Bank.GetBalance(c.Ctx(), address, c.FeeDenom).Amount
}

// collector is what the collector of the tips has.
func (c *chain) collector() math.Int {
	return c.balance(authtypes.NewModuleAddress(authtypes.FeeCollectorName))
}

func (c *chain) config() types.TimerConfig {
	config, err := c.Timers.Config(c.Ctx())
	require.NoError(c.t, err)
	return config
}

// policies are the ids of those that the chain can select.
func (c *chain) policies() (ids []types.Policy) {
	for _, p := range c.Timers.Engine().Policies.All() {
		ids = append(ids, p.ID())
	}
	return ids
}

func (c *chain) export() *types.GenesisState {
	c.t.Helper()
	genesis, err := c.Timers.ExportGenesis(c.Ctx())
	require.NoError(c.t, err)
	return genesis
}

// must runs messages in one transaction, which must succeed.
func (c *chain) must(msgs ...sdk.Msg) {
	c.t.Helper()
	_, _, err := c.Tx(msgs...)
	require.NoError(c.t, err)
}

// replaces is the authority's message that replaces the config.
func (c *chain) replaces(config types.TimerConfig) *types.MsgUpdateTimerConfig {
	msg, err := c.Timers.ReplaceConfig(c.Ctx(), config)
	require.NoError(c.t, err)
	return msg
}

// setConfig has the authority change the config from the next block on.
func (c *chain) setConfig(change func(*types.TimerConfig)) {
	c.t.Helper()
	config := c.config()
	change(&config)
	c.must(c.replaces(config))
}

// end ends the open block. Nothing is lost: what its fires and the calls of agents paid is what was burned and what
// was tipped.
func (c *chain) end() sdk.Events {
	c.t.Helper()
	events, err := c.EndBlock()
	require.NoError(c.t, err)
	require.Empty(c.t, eventsOf[*types.TimerLaneFailed](c.t, events), "height %d", c.Height())
	summary := eventsOf[*types.TimerLaneSummary](c.t, events)[0]
	burned, collected := c.lane().Burned, c.collector()
	require.Equal(c.t, summary.Burned, burned.Sub(c.burned).String(), "burned in block %d", c.Height())
	require.Equal(c.t, summary.Tips, collected.Sub(c.collected).String(), "tips of block %d", c.Height())
	require.Equal(c.t, c.minted.String(), c.supply().Add(burned).String(), "supply and burns at height %d", c.Height())
	basefees := math.ZeroInt()
	for _, fired := range eventsOf[*types.TimerFired](c.t, events) {
		basefees = basefees.Add(amount(c.t, fired.Paid)).Sub(amount(c.t, fired.Tip))
	}
	for _, billed := range eventsOf[*types.TimerAgentBilled](c.t, events) {
		basefees = basefees.Add(amount(c.t, billed.Paid))
	}
	require.Equal(c.t, summary.Burned, basefees.String(), "what fires paid and did not tip is burned, and calls without a fire")
	c.burned, c.collected = burned, collected
	return events
}

// next ends the open block, checks the invariants of the module and opens the next block.
func (c *chain) next() sdk.Events {
	c.t.Helper()
	events := c.end()
	require.NoError(c.t, c.Check(), "height %d", c.Height())
	require.NoError(c.t, c.BeginBlock())
	return events
}

// quick is next without the invariants, which read everything.
func (c *chain) quick() sdk.Events {
	c.t.Helper()
	events := c.end()
	require.NoError(c.t, c.BeginBlock())
	return events
}

func amount(t testingT, text string) math.Int {
	n, ok := math.NewIntFromString(text)
	require.True(t, ok, "%q is no amount", text)
	return n
}

// eventsOf returns the typed events of one type, in order.
func eventsOf[T proto.Message](t testingT, events sdk.Events) (found []T) {
	t.Helper()
	var kind T
	for _, event := range events {
		if event.Type != proto.MessageName(kind) {
			continue
		}
		parsed, err := sdk.ParseTypedEvent(abci.Event(event))
		require.NoError(t, err)
		of, ok := parsed.(T)
		require.True(t, ok, "%T", parsed)
		found = append(found, of)
	}
	return found
}

// robots is a runtime that stands for contracts: the payload names a handler.
type robots struct {
	chain *lab.Chain
	// asks is called by each handler and by the agent; nil for none.
	asks func(ctx sdk.Context)
}

var (
	_ types.Runtime = (*robots)(nil)
	_ types.Quoter  = (*robots)(nil)
)

// Serves implements types.Runtime.
func (*robots) Serves(_ context.Context, actor sdk.AccAddress) bool {
	return bytes.HasPrefix(actor, []byte("robot"))
}

// Validate implements types.Runtime.
func (*robots) Validate(context.Context, *types.TimerConfig, types.Call) error { return nil }

// Deployer implements types.Runtime.
func (*robots) Deployer(_ context.Context, actor sdk.AccAddress) sdk.AccAddress { return actor }

// Quotes implements types.Quoter: the agent answers for the timers that name it.
func (*robots) Quotes(_ context.Context, actor sdk.AccAddress) bool { return actor.Equals(agent) }

// Quote implements types.Quoter.
func (r *robots) Quote(ctx context.Context, _ sdk.AccAddress, _ types.BidContext) (types.AgentQuote, error) {
	sdkCtx := sdk.UnwrapSDKContext(ctx)
	sdkCtx.GasMeter().ConsumeGas(3_000, "conformance")
	if r.asks != nil {
		r.asks(sdkCtx)
	}
	return types.AgentQuote{MaxFeePerCycle: dec("0.02"), MaxPriorityFeePerCycle: dec("0.001"), MaxFeePerCell: dec("1")}, nil
}

// Deliver implements types.Runtime. A payload that names no handler fails.
func (r *robots) Deliver(ctx context.Context, _ *types.TimerConfig, d types.Delivery) error {
	pay := func() error {
		return r.chain.Bank.SendCoins(ctx, d.Actor, bob, sdk.NewCoins(sdk.NewInt64Coin(r.chain.FeeDenom, 1)))
	}
	if r.asks != nil {
		r.asks(sdk.UnwrapSDKContext(ctx))
	}
	switch string(d.Payload) {
	case "noop":
		return nil
	case "pays":
		return pay()
	case "fails":
		return errors.Join(pay(), errors.New("it fails"))
	default:
		return fmt.Errorf("%w: no such handler", types.ErrInvalidPayload)
	}
}
