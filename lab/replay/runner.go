// Package replay runs scenarios on a chain of the lab, block by block, and says what each block did.
package replay

import (
	"fmt"
	"slices"
	"strings"

	errorsmod "cosmossdk.io/errors"
	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"

	"github.com/cosmos-timers/timers/lab/scenario"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Runner runs a scenario block by block.
type Runner struct {
	scenario *scenario.Scenario
	chain    *lab.Chain
	store    *store
	messages *messages
	// order of the ops that are still to run, as indices.
	order []int
	// jumps is by how many seconds the next block comes later.
	jumps int64
	// supply is the sum of all balances at the start.
	supply math.Int
	// Verbose lines say where each timer is after the block.
	Verbose bool
}

// NewRunner starts a chain for a scenario.
func NewRunner(s *scenario.Scenario) (*Runner, error) {
	store := newStore()
	messages := &messages{scenario: s, store: store, owners: s.Owners}
	r := &Runner{scenario: s, store: store, messages: messages, order: s.Order(), supply: math.ZeroInt()}
	genesis := types.NewGenesis(s.Config.FeeDenom)
	genesis.Config = s.Config
	opts := lab.ChainOptions{
		Genesis: genesis, Runtimes: []types.Runtime{newScript(s, store, messages)},
		Stores: []*storetypes.KVStoreKey{store.key}, Watch: store.watch, NoHeadroom: s.NoHeadroom, StartTime: s.StartTime,
	}
	for _, account := range s.Accounts {
		opts.Balances = append(opts.Balances, lab.Balance{Address: scenario.AccountAddress(account.Name), Amount: account.Balance})
		r.supply = r.supply.Add(account.Balance)
	}
	chain, err := lab.NewChain(opts)
	r.chain, messages.chain = chain, chain
	return r, err
}

// Run runs a scenario from its first block to its last, and hands every block's line to emit.
func Run(s *scenario.Scenario, emit func(*Line) error) error {
	r, err := NewRunner(s)
	if err != nil {
		return err
	}
	return r.Run(emit)
}

// Run runs what is left of the scenario, and hands every block's line to emit.
func (r *Runner) Run(emit func(*Line) error) error {
	for !r.Done() {
		line, err := r.Step()
		if err != nil {
			return err
		}
		if err := emit(line); err != nil {
			return err
		}
	}
	return nil
}

// Chain that the scenario runs on.
func (r *Runner) Chain() *lab.Chain { return r.chain }

// Done tells whether the last block has run.
func (r *Runner) Done() bool { return r.chain.Height() >= r.scenario.Blocks }

// Step runs one block: its ops, each a transaction of its own, then its timers. An error is a bug of the module or of
// the lab, never of the scenario.
func (r *Runner) Step() (*Line, error) {
	height := r.chain.Height() + 1
	r.chain.BlockSeconds, r.jumps = r.scenario.SecondsTo(height)+r.jumps, 0
	if err := r.chain.BeginBlock(); err != nil {
		return nil, err
	}
	line := newLine(height, r.chain.Now())
	for len(r.order) > 0 && r.scenario.Ops[r.order[0]].At == height {
		index := r.order[0]
		r.order = r.order[1:]
		if err := r.transact(&r.scenario.Ops[index]); err != nil {
			codespace, code, _ := errorsmod.ABCIInfo(err, false)
			line.Rejected = append(line.Rejected, Rejected{Op: index, Error: fmt.Sprintf("%s/%d", codespace, code)})
		}
	}
	events, err := r.chain.EndBlock()
	if err != nil {
		return nil, err
	}
	ctx := r.chain.Ctx()
	if err := line.readEvents(events, func(id string) (string, error) { return r.store.nameOf(ctx, id) }); err != nil {
		return nil, err
	}
	if err := r.readState(line); err != nil {
		return nil, err
	}
	if err := r.check(line); err != nil {
		return nil, fmt.Errorf("after block %d: %w", height, err)
	}
	return line, nil
}

// transact runs an op as a transaction.
func (r *Runner) transact(op *scenario.Op) error {
	ctx := r.chain.Ctx()
	switch op.Kind {
	case scenario.OpSet:
		return r.store.set(ctx, op)
	case scenario.OpJump:
		r.jumps += op.Seconds
		return nil
	}
	msg, err := r.messages.of(ctx, op)
	if err != nil {
		return err
	}
	results, _, err := r.chain.Tx(msg)
	if err != nil {
		return err
	}
	return r.store.bind(ctx, op, results[0])
}

// readState fills the part of the line that is read from state after the block.
func (r *Runner) readState(line *Line) (err error) {
	ctx := r.chain.Ctx()
	if line.Pending, line.Ready, err = r.chain.Timers.CountTimers(ctx); err != nil {
		return err
	}
	lane, err := keeper.NewQueryServer(r.chain.Timers).Lane(ctx, &types.QueryLaneRequest{})
	if err != nil {
		return err
	}
	line.Burned, line.Tips = lane.Burned, lane.Tips
	for _, account := range r.scenario.Accounts {
		line.Balances[account.Name] = r.balance(ctx, scenario.AccountAddress(account.Name)).String()
	}
	if !r.Verbose {
		return nil
	}
	line.Timers = []TimerLine{}
	err = r.chain.Timers.Engine().Records.Walk(types.Unmetered(ctx), state.Range{}, func(t *types.Timer) (bool, error) {
		name, err := r.store.nameOf(ctx, t.IDHex())
		line.Timers = append(line.Timers, timerLine(name, t, types.MomentOf(ctx)))
		return false, err
	})
	slices.SortFunc(line.Timers, func(a, b TimerLine) int { return strings.Compare(a.Timer, b.Timer) })
	return err
}

func (r *Runner) balance(ctx sdk.Context, address sdk.AccAddress) math.Int {
	return r.chain.Bank.GetBalance(ctx, address, r.chain.FeeDenom).Amount
}

// check checks the module's invariants and the balance: what the accounts hold, what was burned and what was tipped add
// up to what the accounts began with.
func (r *Runner) check(line *Line) error {
	if err := r.chain.Check(); err != nil {
		return err
	}
	ctx := r.chain.Ctx()
	held := r.balance(ctx, authtypes.NewModuleAddress(authtypes.FeeCollectorName))
	if held.String() != line.Tips {
		return fmt.Errorf("the fee collector holds %s, the tips are %s", held, line.Tips)
	}
	// Bids are locked in the module's account. The module's invariants check that it holds what its timers locked.
	held = held.Add(r.balance(ctx, authtypes.NewModuleAddress(types.ModuleName)))
	for _, account := range r.scenario.Accounts {
		held = held.Add(r.balance(ctx, scenario.AccountAddress(account.Name)))
	}
	supply := r.chain.Bank.GetSupply(ctx, r.chain.FeeDenom).Amount
	if !supply.Equal(held) || r.supply.Sub(supply).String() != line.Burned {
		return fmt.Errorf("of %s, %s are held in a supply of %s, and %s were burned", r.supply, held, supply, line.Burned)
	}
	return nil
}
