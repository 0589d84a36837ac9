// Package fires measures what a fire costs in the whole application, beside what it does without a timer: time as a ratio,
// allocations, and store operations.
//
// Time is the processor's, not the clock's, so that what else the machine does counts little. A ratio is that of the best
// rounds of both, which take turns.
package fires

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	abci "github.com/cometbft/cometbft/abci/types"
	cmtproto "github.com/cometbft/cometbft/proto/tendermint/types"
	"github.com/stretchr/testify/require"

	sdkmath "cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/appchain"
	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/testutil/storecount"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Fires is what fires cost.
type Fires struct {
	// Count is how many fire in a block, Rounds how often each block is made.
	Count  int `json:"count"`
	Rounds int `json:"rounds"`
	// Rows are the ends of blocks by the kind of fire, without commit. Blocks are whole blocks.
	Rows   []Row   `json:"rows"`
	Blocks []Block `json:"blocks"`
}

// Row is what one kind of fire costs. All figures but the ratio are those of one fire, the work of the block shared out.
type Row struct {
	// What fires, and what the floor is.
	What  string `json:"what"`
	Floor string `json:"floor"`
	// Micros and FloorMicros are processor time in microseconds, Ratio is the former by the latter.
	Micros      float64 `json:"us"`
	FloorMicros float64 `json:"floor_us"`
	Ratio       float64 `json:"ratio"`
	// Allocs and FloorAllocs are allocations of memory.
	Allocs      float64 `json:"allocs"`
	FloorAllocs float64 `json:"floor_allocs"`
	// Module are operations on the timers store, All those on every store.
	Module storecount.Counts `json:"module_ops"`
	All    storecount.Counts `json:"all_ops"`
}

// Block is what a transaction or a fire takes in a whole block, less what an empty block takes: processor time in
// microseconds, of FinalizeBlock and of Commit, and of both to that of a signed send.
type Block struct {
	What     string  `json:"what"`
	Finalize float64 `json:"finalize_us"`
	Commit   float64 `json:"commit_us"`
	Ratio    float64 `json:"ratio"`
	Allocs   float64 `json:"allocs"`
}

// Options say how much is measured.
type Options struct {
	// Fires of a block, and Rounds of each kind.
	Fires, Rounds int
	// Only measures the kinds whose name contains it, and no whole blocks, unless it is empty.
	Only string
}

const (
	gasLimit   = 150_000
	firedEvent = "timers.v1.TimerFired"
	// due is when all timers of a chain are due.
	due = 3
)

// wide makes room for all fires of a block.
func wide(config *types.TimerConfig) {
	config.LaneTimerCycles, config.LaneTimerCells = 10_000_000_000, 10_000_000_000
}

// free takes the prices away.
func free(config *types.TimerConfig) {
	wide(config)
	config.CycleBasefee, config.CellBasefee = decimal.Of(sdkmath.LegacyZeroDec()), decimal.Of(sdkmath.LegacyZeroDec())
	config.Eip1559.LaneFeeMultiplier = decimal.Of(sdkmath.LegacyZeroDec())
}

// accounts of a chain. The sink receives what they send.
func accounts(n int) []string {
	names := []string{"sink"}
	for i := range n {
		names = append(names, fmt.Sprintf("account %d", i))
	}
	return names
}

// chain is an application on which timers are due. Its state stays as it is: what is measured runs on branches that are
// dropped.
type chain struct {
	*appchain.Chain
	names []string
}

func newChain(tb testing.TB, n int, change func(*types.TimerConfig)) *chain {
	tb.Helper()
	names := accounts(n)
	return &chain{appchain.NewUnder(tb, change, names...), names[1:]}
}

// at is a context of the committed state in a block of a height.
func (c *chain) at(height int64) sdk.Context {
	return c.App.NewUncachedContext(false, cmtproto.Header{
		ChainID: appchain.ChainID, Height: height, Time: time.Unix(1_700_000_000+height, 0).UTC(), ProposerAddress: c.Requests[0].ProposerAddress,
	})
}

// run runs a message through the router, as a transaction would: on a branch, with a gas limit.
func (c *chain) run(ctx sdk.Context, msg sdk.Msg) error {
	branch, commit := ctx.CacheContext()
	result, err := c.App.MsgServiceRouter().Handler(msg)(branch.WithGasMeter(storetypes.NewGasMeter(50*gasLimit)), msg)
	if err != nil {
		return err
	}
	branch.EventManager().EmitEvents(result.GetEvents())
	commit()
	return nil
}

// set sets the chain up, and commits it.
func (c *chain) set(tb testing.TB, msgs ...sdk.Msg) {
	tb.Helper()
	ctx := c.at(due - 1)
	for _, msg := range msgs {
		require.NoError(tb, c.run(ctx, msg))
	}
	c.App.CommitMultiStore().Commit()
}

func address(name string) sdk.AccAddress { return appchain.AccountOf(name).Address }

// send is a coin from an account to the sink.
func send(from string, amount int64) sdk.Msg {
	return banktypes.NewMsgSend(address(from), address("sink"), sdk.NewCoins(sdk.NewInt64Coin(app.FeeDenom, amount)))
}

// schedule is the message that schedules a timer of an account for messages.
func schedule(tb testing.TB, name string, trigger types.Trigger, msgs ...sdk.Msg) *types.MsgScheduleTimer {
	tb.Helper()
	payload, err := types.NewAccountPayload(msgs...)
	require.NoError(tb, err)
	bz, err := payload.Marshal()
	require.NoError(tb, err)
	return &types.MsgScheduleTimer{Sender: address(name).String(), Spec: types.TimerSpec{Trigger: trigger, Call: types.TimerCall{Payload: bz}, GasLimit: gasLimit}}
}

// cost is the time of a function, in seconds of the processor, and its allocations.
type cost struct{ seconds, allocs float64 }

func costOf(fn func()) cost {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := processorTime()
	fn()
	took := processorTime() - start
	runtime.ReadMemStats(&after)
	return cost{took.Seconds(), float64(after.Mallocs - before.Mallocs)}
}

func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// best keeps the least of each number.
func (c *cost) best(other cost) {
	c.seconds, c.allocs = min(c.seconds, other.seconds), min(c.allocs, other.allocs)
}

func worst() cost { return cost{math.Inf(1), math.Inf(1)} }

// Measure measures every kind of fire.
func Measure(tb testing.TB, opts Options) *Fires {
	tb.Helper()
	f := &Fires{Count: opts.Fires, Rounds: opts.Rounds}
	for _, k := range kinds() {
		if strings.Contains(k.what, opts.Only) {
			f.Rows = append(f.Rows, k.measure(tb, opts))
		}
	}
	if opts.Only == "" {
		f.Blocks = wholeBlocks(tb, opts)
	}
	return f
}

// blockCost is what a block costs.
type blockCost struct{ finalize, commit cost }

func (c *blockCost) best(other blockCost) {
	c.finalize.best(other.finalize)
	c.commit.best(other.commit)
}

// wholeBlocks compares fires with signed transactions that do the same: accounts schedule timers in one block, which fire in
// the next.
func wholeBlocks(tb testing.TB, opts Options) []Block {
	tb.Helper()
	c := newChain(tb, opts.Fires, wide)
	least := func() blockCost { return blockCost{worst(), worst()} }
	scheduled, fired, sent, empty := least(), least(), least(), least()
	for range opts.Rounds {
		next := uint64(c.App.LastBlockHeight()) + 2
		schedules, sends := make([][]byte, opts.Fires), make([][]byte, opts.Fires)
		for i, name := range c.names {
			schedules[i] = c.Sign(name, schedule(tb, name, types.Trigger{Height: next}, send(name, 1)))
		}
		scheduled.best(c.block(tb, schedules, 0))
		fired.best(c.block(tb, nil, opts.Fires))
		for i, name := range c.names {
			sends[i] = c.Sign(name, send(name, 1))
		}
		sent.best(c.block(tb, sends, 0))
		empty.best(c.block(tb, nil, 0))
	}
	each := func(what string, parts ...blockCost) Block {
		b := Block{What: what}
		n := float64(opts.Fires)
		for _, part := range parts {
			b.Finalize += (part.finalize.seconds - empty.finalize.seconds) / n * 1e6
			b.Commit += (part.commit.seconds - empty.commit.seconds) / n * 1e6
			b.Allocs += (part.finalize.allocs - empty.finalize.allocs + part.commit.allocs - empty.commit.allocs) / n
		}
		return b
	}
	all := []Block{
		each("a signed send", sent), each("a transaction that schedules a send", scheduled), each("the fire", fired),
		each("both", scheduled, fired),
	}
	for i := range all {
		all[i].Ratio = (all[i].Finalize + all[i].Commit) / (all[0].Finalize + all[0].Commit)
	}
	return all
}

// block runs a block with transactions, all of which must succeed, and in which so many timers must fire.
func (c *chain) block(tb testing.TB, txs [][]byte, fires int) (took blockCost) {
	tb.Helper()
	var response *abci.ResponseFinalizeBlock
	var commit func()
	took.finalize = costOf(func() { response, commit = c.Finalize(txs...) })
	took.commit = costOf(func() { commit() })
	for _, result := range response.TxResults {
		require.Zero(tb, result.Code, result.Log)
	}
	require.Len(tb, appchain.Events(response, firedEvent), fires)
	return took
}
