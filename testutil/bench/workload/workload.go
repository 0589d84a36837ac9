// Package workload is what the chains of the benchmark are made of: owners, timers in a genesis, and the counts that are
// read off a block.
package workload

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/cosmos/gogoproto/proto"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/testutil/storecount"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	// GasLimit of the workload's timers: the smallest that the default config takes.
	GasLimit = 40_000
	// PayloadBytes of the workload's timers.
	PayloadBytes = 100
	// OwnerFunds pay for every fire of a run.
	OwnerFunds = 1_000_000_000
	// SendGasLimit holds a send with room.
	SendGasLimit = 100_000
	// FirstRecipient is where recipients begin, behind the owners.
	FirstRecipient = 1 << 20
	// QueueKeyBytes is the length of a queue key: the region, due and seq.
	QueueKeyBytes = 1 + 8 + 8
)

// Idle serves every account and does nothing, so that what is counted is the module's own work.
type Idle struct{}

var _ types.Runtime = Idle{}

// Serves implements types.Runtime.
func (Idle) Serves(context.Context, sdk.AccAddress) bool { return true }

// Validate implements types.Runtime.
func (Idle) Validate(context.Context, *types.TimerConfig, types.Call) error { return nil }

// Deliver implements types.Runtime.
func (Idle) Deliver(context.Context, *types.TimerConfig, types.Delivery) error { return nil }

// Deployer implements types.Runtime.
func (Idle) Deployer(_ context.Context, actor sdk.AccAddress) sdk.AccAddress { return actor }

// Owner returns the address of the i-th owner. Its first bytes are spread, as those of hashes are.
func Owner(i int) sdk.AccAddress {
	n := uint64(i)
	address := binary.BigEndian.AppendUint64(make([]byte, 0, 20), n*0x9E3779B97F4A7C15)
	return append(binary.BigEndian.AppendUint64(address, n), "ownr"...)
}

// Balances are the funds of so many owners.
func Balances(owners int) []lab.Balance {
	all := make([]lab.Balance, owners)
	for i := range all {
		all[i] = lab.Balance{Address: Owner(i), Amount: math.NewInt(OwnerFunds)}
	}
	return all
}

// WideGenesis is an empty genesis with a lane that holds as many fires as the workload has due.
func WideGenesis() *types.GenesisState {
	genesis := types.NewGenesis("stake")
	genesis.Config.LaneTimerCycles = 10_000_000_000
	genesis.Config.LaneTimerCells = 10_000_000_000
	return genesis
}

// AddTimer adds a timer to a genesis, as if it had been scheduled before the chain began.
func AddTimer(genesis *types.GenesisState, actor sdk.AccAddress, due uint64, payload []byte, gas uint64) *types.Timer {
	seq := genesis.NextSeq
	genesis.NextSeq++
	genesis.Timers = append(genesis.Timers, types.Timer{
		Id: types.TimerID(actor, due, payload, seq), Actor: actor,
		GasLimit: gas, CellLimit: genesis.Config.CellLimit(), ExpiresAt: due + genesis.Config.MaxTtlBlocks, Seq: seq, Due: due,
		Spec: types.TimerSpec{Trigger: types.Trigger{Height: due}, Call: types.TimerCall{Payload: payload}},
	})
	return &genesis.Timers[len(genesis.Timers)-1]
}

// Policy is a policy by its short name.
type Policy string

// The policies that are measured.
const (
	FIFO    Policy = "fifo"
	EIP1559 Policy = "eip1559"
	Auction Policy = "auction"
	Score   Policy = "score"
	Tip     Policy = "tip"
)

// Config is the policy as the config names it.
func (p Policy) Config() types.Policy {
	return types.Policy(types.Policy_value["POLICY_"+strings.ToUpper(string(p))])
}

// Indexed reports whether the policy keeps a storm in the ready index. Others read a window of what is ready.
func (p Policy) Indexed() bool { return p == EIP1559 || p == Score }

// Policies are the module's.
var Policies = []types.Policy{types.PolicyFIFO, types.PolicyEIP1559, types.PolicyAuction, types.PolicyScore, types.PolicyTip}

// NewRand draws what the seed says.
func NewRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// SendPayload encodes messages as an account's timer holds them.
func SendPayload(msgs ...sdk.Msg) ([]byte, error) {
	payload, err := types.NewAccountPayload(msgs...)
	if err != nil {
		return nil, err
	}
	return payload.Marshal()
}

// CountSuccesses counts the fires whose handler succeeded.
func CountSuccesses(events sdk.Events) int {
	n := 0
	for i := range events {
		if attribute, found := events[i].GetAttribute("success"); found && attribute.Value == "true" {
			n++
		}
	}
	return n
}

// CountEvents counts the typed events of one kind.
func CountEvents(events sdk.Events, kind proto.Message) int {
	name, n := proto.MessageName(kind), 0
	for i := range events {
		if events[i].Type == name {
			n++
		}
	}
	return n
}

// Operations are all of them.
func Operations(c storecount.Counts) int { return c.Reads() + c.Writes() }

// Median is the lower middle.
func Median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)/2]
}

// Repeat makes the timers of a chain repeat.
func Repeat(every uint64) func(*lab.ChainOptions) {
	return func(opts *lab.ChainOptions) {
		for i := range opts.Genesis.Timers {
			timer := &opts.Genesis.Timers[i]
			timer.Spec.Trigger = types.Trigger{Interval: &types.IntervalTrigger{Every: every, First: timer.Due}}
		}
	}
}
