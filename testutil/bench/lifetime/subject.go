package lifetime

import (
	dbm "github.com/cosmos/cosmos-db"

	corestore "cosmossdk.io/core/store"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/testutil/bench/workload"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/testutil/storecount"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// subject keeps the timers of a workload: the module, or a layout that is compared with it.
type subject interface {
	// load adds pending timers in a block of its own.
	load(timers []types.Timer) error
	begin() error
	schedule(owner sdk.AccAddress, due uint64, payload []byte) (id []byte, err error)
	cancel(of place) error
	// end fires what is due, commits, and returns how many fired.
	end() (fired int, err error)
	// operations on its store so far.
	operations() storecount.Counts
	// check returns what is wrong with its state.
	check() error
}

// module is the module on a chain of the lab.
type module struct {
	chain  *lab.Chain
	counts *storecount.Counts
	// named: the timers that it schedules have a name.
	named bool
}

var _ subject = (*module)(nil)

func newModule(genesis *types.GenesisState, owners int, db dbm.DB) (*module, error) {
	m := &module{}
	opts := lab.ChainOptions{
		Genesis: genesis, Balances: workload.Balances(owners), Runtimes: []types.Runtime{workload.Idle{}}, DB: db,
		CachedNodes: cachedNodes,
		WrapStore: func(service corestore.KVStoreService) corestore.KVStoreService {
			service, m.counts = storecount.Wrap(service)
			return service
		},
	}
	var err error
	m.chain, err = lab.NewChain(opts)
	return m, err
}

func (m *module) load(timers []types.Timer) error {
	if err := m.chain.BeginBlock(); err != nil {
		return err
	}
	records := m.chain.Timers.Engine().Records
	for i := range timers {
		t := timers[i]
		var err error
		if t.Seq, err = records.NextSeq(m.chain.Ctx()); err != nil {
			return err
		}
		if err := records.Insert(m.chain.Ctx(), &t, state.Unlimited); err != nil {
			return err
		}
	}
	_, err := m.chain.EndBlock()
	return err
}

func (m *module) begin() error                  { return m.chain.BeginBlock() }
func (m *module) operations() storecount.Counts { return *m.counts }
func (m *module) check() error                  { return m.chain.Check() }

func (m *module) schedule(owner sdk.AccAddress, due uint64, payload []byte) ([]byte, error) {
	spec := types.TimerSpec{Trigger: types.Trigger{Height: due}, Call: types.TimerCall{Payload: payload}, GasLimit: workload.GasLimit}
	if m.named {
		spec.Name = nameOf(payload)
	}
	timer, err := m.chain.Timers.Schedule(m.chain.Ctx(), keeper.ScheduleRequest{Actor: owner, Spec: spec})
	return timer.Id, err
}

func (m *module) cancel(of place) error {
	return m.chain.Timers.Cancel(m.chain.Ctx(), workload.Owner(of.owner), of.id[:])
}

func (m *module) end() (int, error) {
	events, err := m.chain.EndBlock()
	return workload.CountEvents(events, &types.TimerFired{}), err
}
