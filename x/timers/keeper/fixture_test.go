package keeper_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"

	abci "github.com/cometbft/cometbft/abci/types"
	dbm "github.com/cosmos/cosmos-db"
	"github.com/cosmos/gogoproto/proto"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"
	"cosmossdk.io/x/feegrant"

	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	largest = ^uint64(0)
	// rich is what named accounts start with: enough for any number of fires.
	rich = 1_000_000_000
	// gas is a gas limit that any handler of these tests is content with.
	gas = 200_000
)

var (
	alice = sdk.AccAddress("alice_______________")
	bob   = sdk.AccAddress("bob_________________")
	carol = sdk.AccAddress("carol_______________")
	// robot's timers run Go functions of the test: its payload names one.
	robot = sdk.AccAddress("robot_______________")
	// robot2 is another such actor.
	robot2 = sdk.AccAddress("robot2______________")
)

// testingT is what *testing.T and *rapid.T share.
type testingT interface {
	require.TestingT
	Helper()
	Cleanup(func())
	Skipf(format string, args ...any)
}

// fixture is a chain with a block open. The conservation of money is checked after every block, and invariants, too, but of
// a crowd less often in the short form; both are checked at the end of every test.
type fixture struct {
	*lab.Chain
	t      testingT
	robots *scripted
	// db is below the chain.
	db dbm.DB
	// minted is the supply that there would be if nothing were burned.
	minted math.Int
	// unchecked is how many blocks have passed since the invariants were checked.
	unchecked uint64
}

// checkedAt is how many timers scheduled so far put off the check of the invariants, which read everything, by a block.
const checkedAt = 25

func newFixture(t testingT, changes ...func(*lab.ChainOptions)) *fixture {
	t.Helper()
	f := &fixture{t: t, robots: &scripted{scripts: map[string]script{}, agents: map[string]agentScript{}}, minted: math.ZeroInt()}
	opts := lab.ChainOptions{Genesis: types.DefaultGenesis(), Runtimes: []types.Runtime{f.robots}, DB: dbm.NewMemDB()}
	// What is tested of every policy is tested under the simplest; inMarket chooses the other.
	opts.Genesis.Config.Policy = types.PolicyFIFO
	for _, address := range []sdk.AccAddress{alice, bob, carol, robot, robot2} {
		opts.Balances = append(opts.Balances, lab.Balance{Address: address, Amount: math.NewInt(rich)})
	}
	opts.PayerStores = *directDebits
	for _, change := range changes {
		change(&opts)
	}
	lab.SkipWithout(t, opts.Genesis.Config.Policy)
	chain, err := lab.NewChain(opts)
	require.NoError(t, err)
	f.Chain, f.db = chain, opts.DB
	f.minted = chain.Bank.GetSupply(chain.Ctx(), chain.FeeDenom).Amount.Add(f.lane().Burned)
	require.NoError(t, chain.BeginBlock())
	t.Cleanup(func() {
		_, err := f.EndBlock()
		require.NoError(t, err)
		f.check()
	})
	return f
}

// withConfig changes the config that the chain starts with.
func withConfig(change func(*types.TimerConfig)) func(*lab.ChainOptions) {
	return func(opts *lab.ChainOptions) { change(&opts.Genesis.Config) }
}

// inMarket puts policy eip1559 in force.
func inMarket(c *types.TimerConfig) { c.Policy = types.PolicyEIP1559 }

// NextBlock ends the open block, checks what must hold, opens the next one, and returns the events of the first.
func (f *fixture) NextBlock() sdk.Events {
	f.t.Helper()
	events, err := f.EndBlock()
	require.NoError(f.t, err)
	scheduled, err := f.Timers.Engine().Records.PeekSeq(f.Ctx())
	require.NoError(f.t, err)
	for _, event := range events {
		if event.Type == proto.MessageName(&types.TimerLaneSummary{}) {
			summary := f.parse(event).(*types.TimerLaneSummary)
			require.Less(f.t, uint64(summary.Deferred), scheduled, "more are left ready than were ever scheduled")
		}
	}
	if f.unchecked++; *long || f.unchecked*checkedAt > scheduled {
		f.check()
	} else {
		f.checkSupply()
	}
	require.NoError(f.t, f.BeginBlock())
	return events
}

// check holds the module's invariants, and that nothing is minted or lost: what is missing from the supply was burned,
// and the module's books say so (x/timers/README.md, "2.2 Invariants").
func (f *fixture) check() {
	f.t.Helper()
	f.unchecked = 0
	require.NoError(f.t, f.Check())
	f.checkSupply()
}

func (f *fixture) checkSupply() {
	f.t.Helper()
	supply := f.Bank.GetSupply(f.Ctx(), f.FeeDenom).Amount
	require.Equal(f.t, f.minted.String(), supply.Add(f.lane().Burned).String(), "supply and burns at height %d", f.Height())
}

// blocksUntil runs blocks until the one of that height has ended, and returns the events of them all.
func (f *fixture) blocksUntil(height uint64) (events sdk.Events) {
	f.t.Helper()
	for f.Height() <= height {
		events = append(events, f.NextBlock()...)
	}
	return events
}

// plain makes a cycle cost one unit and a cell nothing, so that a fire costs what its cycles say.
func plain(c *types.TimerConfig) {
	c.CycleBasefee, c.CellBasefee = decimal.Of(math.LegacyOneDec()), decimal.Of(math.LegacyZeroDec())
}

// vast lets fires run whose payload is as long as payloads get.
func vast(c *types.TimerConfig) { c.LaneTimerCycles, c.MaxCyclesPerFire = 8_000_000, 8_000_000 }

func (f *fixture) lane() types.LaneState {
	lane, err := f.Timers.LaneState(f.Ctx())
	require.NoError(f.t, err)
	return lane
}

func (f *fixture) config() types.TimerConfig {
	config, err := f.Timers.Config(f.Ctx())
	require.NoError(f.t, err)
	return config
}

// replaces is the authority's message that replaces the config.
func (f *fixture) replaces(config types.TimerConfig) *types.MsgUpdateTimerConfig {
	f.t.Helper()
	msg, err := f.Timers.ReplaceConfig(f.Ctx(), config)
	require.NoError(f.t, err)
	return msg
}

// setConfig has the authority change the config from the next block on.
func (f *fixture) setConfig(change func(*types.TimerConfig)) {
	f.t.Helper()
	config := f.config()
	change(&config)
	lab.SkipWithout(f.t, config.Policy)
	f.run(f.replaces(config))
}

// run runs messages in one transaction, which must succeed, and returns the gas used.
func (f *fixture) run(msgs ...sdk.Msg) uint64 {
	f.t.Helper()
	_, gasUsed, err := f.Tx(msgs...)
	require.NoError(f.t, err)
	return gasUsed
}

// refused runs messages in one transaction, which must fail with the error. Its text reaches state, as the reason for which
// a proposal failed.
func (f *fixture) refused(want error, msgs ...sdk.Msg) {
	f.t.Helper()
	_, _, err := f.Tx(msgs...)
	require.ErrorIs(f.t, err, want)
	f.sameInEachBuild(err)
}

// schedule schedules a timer of the actor and returns its id.
func (f *fixture) schedule(
	actor sdk.AccAddress, height uint64, payload []byte, changes ...func(*types.MsgScheduleTimer),
) string {
	f.t.Helper()
	results, _, err := f.Tx(scheduleMsg(actor, height, payload, changes...))
	require.NoError(f.t, err)
	var response types.MsgScheduleTimerResponse
	require.NoError(f.t, f.Codec.Unmarshal(results[0].MsgResponses[0].Value, &response))
	return response.Id
}

func scheduleMsg(
	actor sdk.AccAddress, height uint64, payload []byte, changes ...func(*types.MsgScheduleTimer),
) *types.MsgScheduleTimer {
	msg := &types.MsgScheduleTimer{
		Sender: actor.String(), Spec: types.TimerSpec{Trigger: types.Trigger{Height: height}, Call: types.TimerCall{Payload: payload}, GasLimit: gas},
	}
	// How long the name of a script is must not show: each byte of a payload counts. decode_test.go has such.
	if bytes.HasPrefix(payload, []byte(scriptName)) {
		msg.Spec.Call.Handler, msg.Spec.Call.Payload = string(payload), nil
	}
	for _, change := range changes {
		change(msg)
	}
	return msg
}

func expiring(height uint64) func(*types.MsgScheduleTimer) {
	return func(msg *types.MsgScheduleTimer) { msg.Spec.ExpiresAt = height }
}

func limited(gasLimit uint64) func(*types.MsgScheduleTimer) {
	return func(msg *types.MsgScheduleTimer) { msg.Spec.GasLimit = gasLimit }
}

func paidBy(payer sdk.AccAddress) func(*types.MsgScheduleTimer) {
	return func(msg *types.MsgScheduleTimer) { msg.Spec.FeePayer = payer.String() }
}

// pays is the payload by which an account's timer sends coins.
func (f *fixture) pays(from, to sdk.AccAddress, amount int64) []byte {
	return f.payload(banktypes.NewMsgSend(from, to, f.coins(amount)))
}

// payload is that of an account's timer that runs these messages.
func (f *fixture) payload(msgs ...sdk.Msg) []byte {
	payload, err := types.NewAccountPayload(msgs...)
	require.NoError(f.t, err)
	bz, err := f.Codec.Marshal(payload)
	require.NoError(f.t, err)
	return bz
}

func (f *fixture) coins(amount int64) sdk.Coins {
	return sdk.NewCoins(sdk.NewInt64Coin(f.FeeDenom, amount))
}

func (f *fixture) balance(address sdk.AccAddress) int64 {
	return f.Bank.GetBalance(f.Ctx(), address, f.FeeDenom).Amount.Int64()
}

// fund mints coins for an address, whose account is made if there is none.
func (f *fixture) fund(address sdk.AccAddress, amount int64) {
	f.t.Helper()
	require.NoError(f.t, f.Fund(lab.Balance{Address: address, Amount: math.NewInt(amount)}))
	f.minted = f.minted.AddRaw(amount)
}

// grant lets the payer pay for the actor's timers: the allowance is restricted to the module's message.
func (f *fixture) grant(payer, actor sdk.AccAddress, allowance feegrant.FeeAllowanceI) {
	f.t.Helper()
	f.grantAny(payer, actor, byMessage(f.t, allowance, &types.MsgScheduleTimer{}))
}

// grantAny grants an allowance as it is.
func (f *fixture) grantAny(payer, actor sdk.AccAddress, allowance feegrant.FeeAllowanceI) {
	f.t.Helper()
	msg, err := feegrant.NewMsgGrantAllowance(allowance, payer, actor)
	require.NoError(f.t, err)
	f.run(msg)
}

// query is the module's query server on the last committed state, between blocks, or on that of the open block.
func (f *fixture) query() types.QueryServer { return keeper.NewQueryServer(f.Timers) }

func (f *fixture) timer(actor sdk.AccAddress, id string) types.TimerInfo {
	f.t.Helper()
	response, err := f.query().Timer(f.Ctx(), &types.QueryTimerRequest{Actor: actor.String(), Id: id})
	require.NoError(f.t, err)
	return response.Timer
}

// total is how many live timers the actor has.
func (f *fixture) total(actor sdk.AccAddress) uint32 {
	response, err := f.query().TimersByActor(f.Ctx(), &types.QueryTimersByActorRequest{Actor: actor.String()})
	require.NoError(f.t, err)
	return response.Total
}

// eventsOf returns the typed events of one type, in order.
func eventsOf[T proto.Message](f *fixture, events sdk.Events) (found []T) {
	f.t.Helper()
	var kind T
	for _, event := range events {
		if event.Type != proto.MessageName(kind) {
			continue
		}
		parsed, err := sdk.ParseTypedEvent(abci.Event(event))
		require.NoError(f.t, err)
		found = append(found, parsed.(T))
	}
	return found
}

// only returns the one typed event of a type.
func only[T proto.Message](f *fixture, events sdk.Events) T {
	f.t.Helper()
	found := eventsOf[T](f, events)
	require.Len(f.t, found, 1)
	return found[0]
}

// firedIDs returns the ids of the timers that fired, in order.
func (f *fixture) firedIDs(events sdk.Events) (ids []string) {
	for _, fired := range eventsOf[*types.TimerFired](f, events) {
		ids = append(ids, fired.Id)
	}
	return ids
}

// script is a handler of the test.
type script func(ctx sdk.Context, delivery types.Delivery) error

// scripted is a runtime that stands for contracts: the payload names a Go function.
type scripted struct {
	scripts map[string]script
	// agents are those of the robots that answer as bidding agents.
	agents map[string]agentScript
}

var _ types.Runtime = (*scripted)(nil)

func (*scripted) Serves(_ context.Context, actor sdk.AccAddress) bool {
	return bytes.HasPrefix(actor, []byte("robot"))
}

// Deployer of a robot whose name begins with robot+ is the one robot that deployed them all.
func (*scripted) Deployer(_ context.Context, actor sdk.AccAddress) sdk.AccAddress {
	if bytes.HasPrefix(actor, []byte("robot+")) {
		return sdk.AccAddress("robot_deployer______")
	}
	return actor
}

func (*scripted) Validate(context.Context, *types.TimerConfig, types.Call) error { return nil }

func (s *scripted) Deliver(ctx context.Context, _ *types.TimerConfig, delivery types.Delivery) error {
	fn, known := s.scripts[cmp.Or(string(delivery.Payload), delivery.Handler)]
	if !known {
		return types.ErrInvalidPayload
	}
	return fn(sdk.UnwrapSDKContext(ctx), delivery)
}

// scriptName is how the name of a script begins.
const scriptName = "script "

// script registers a handler and returns what runs it, as a payload or as the name of a handler.
func (f *fixture) script(fn script) []byte {
	name := fmt.Sprint(scriptName, len(f.robots.scripts))
	f.robots.scripts[name] = fn
	return []byte(name)
}

// noop is the payload of a handler that does nothing.
func (f *fixture) noop() []byte {
	return f.script(func(sdk.Context, types.Delivery) error { return nil })
}

// burner is the payload of a handler that uses so many cycles.
func (f *fixture) burner(cycles uint64) []byte {
	return f.script(func(ctx sdk.Context, _ types.Delivery) error {
		ctx.GasMeter().ConsumeGas(cycles, "test")
		return nil
	})
}

// unlimited is an allowance without bounds.
func unlimited() feegrant.FeeAllowanceI { return &feegrant.BasicAllowance{} }

func price(amount string) *types.Bid { return &types.Bid{Price: amount} }

var (
	vault     = authtypes.NewModuleAddress(types.ModuleName)
	collector = authtypes.NewModuleAddress(authtypes.FeeCollectorName)
)
