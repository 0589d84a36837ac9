package blocks

import (
	"fmt"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/testutil/bench/figure"
	"github.com/cosmos-timers/timers/testutil/bench/workload"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Sizes are bytes in state and gas of messages.
type Sizes struct {
	// RecordBytes is a timer with a payload of workload.PayloadBytes at its queue key; EntryBytes is its entry in the
	// owner index.
	RecordBytes int `json:"record_bytes"`
	EntryBytes  int `json:"entry_bytes"`
	// Gas of messages, each in a transaction of its own.
	Gas []MessageGas `json:"gas"`
}

// MessageGas is the gas of one message.
type MessageGas struct {
	Message string `json:"message"`
	Gas     uint64 `json:"gas"`
}

const (
	// sizesHeight is where the chain begins, sizesDue when the timers are due.
	sizesHeight = 10_000_000
	sizesDue    = sizesHeight + 1_000_000
)

// sizer schedules timers of one actor and takes note of the gas.
type sizer struct {
	chain *lab.Chain
	sizes Sizes
	ids   []string
}

// MeasureSizes schedules a hundred timers of one actor and, on the way, extends, updates and cancels some.
func MeasureSizes() (*Sizes, error) {
	genesis := types.NewGenesis("stake")
	// Heights and numbers of the length that they have on a chain that has run for months.
	genesis.NextSeq = 10_000_000
	chain, err := lab.NewChain(lab.ChainOptions{
		Genesis: genesis, Height: sizesHeight, Balances: workload.Balances(1), Runtimes: []types.Runtime{workload.Idle{}},
	})
	if err != nil {
		return nil, err
	}
	s := &sizer{chain: chain}
	if err := chain.BeginBlock(); err != nil {
		return nil, err
	}
	for _, step := range []struct {
		name string
		upTo int
	}{{"1st", 1}, {"2nd", 2}, {"10th", 10}, {"17th", 17}, {"100th", 100}} {
		if err := s.schedule(step.name, step.upTo); err != nil {
			return nil, err
		}
		if step.upTo == 2 || step.upTo == 17 {
			continue
		}
		if err := s.change(step.name); err != nil {
			return nil, err
		}
	}
	exported, err := chain.Timers.ExportGenesis(chain.Ctx())
	if err != nil {
		return nil, err
	}
	last := exported.Timers[len(exported.Timers)-1]
	s.sizes.RecordBytes = workload.QueueKeyBytes + last.Size()
	s.sizes.EntryBytes = state.EntryBytes(&last)
	return &s.sizes, nil
}

// schedule schedules until the actor has so many timers, and notes the gas of the last.
func (s *sizer) schedule(name string, upTo int) error {
	payload := make([]byte, workload.PayloadBytes)
	for len(s.ids) < upTo {
		results, gas, err := s.chain.Tx(&types.MsgScheduleTimer{
			Sender: workload.Owner(0).String(), Spec: types.TimerSpec{
				Call: types.TimerCall{Payload: payload}, GasLimit: workload.GasLimit,
				Trigger: types.Trigger{Height: sizesDue},
			},
		})
		if err != nil {
			return err
		}
		id, err := scheduledID(results[0])
		if err != nil {
			return err
		}
		s.ids = append(s.ids, id)
		if len(s.ids) == upTo {
			s.note("schedule the "+name, gas)
		}
	}
	return nil
}

func scheduledID(result *sdk.Result) (string, error) {
	var response types.MsgScheduleTimerResponse
	if err := response.Unmarshal(result.MsgResponses[0].Value); err != nil {
		return "", err
	}
	return response.Id, nil
}

// change extends, updates and cancels the last timer.
func (s *sizer) change(name string) error {
	last := s.ids[len(s.ids)-1]
	for _, step := range []struct {
		verb string
		msg  sdk.Msg
	}{
		{"extend", &types.MsgExtendTimer{Sender: workload.Owner(0).String(), Id: last, ExpiresAt: sizesDue + 1}},
		{"update", &types.MsgUpdateTimer{Sender: workload.Owner(0).String(), Id: last, Spec: types.TimerSpec{GasLimit: workload.GasLimit + 1}, Fields: []string{"gas_limit"}}},
		{"cancel", &types.MsgCancelTimer{Sender: workload.Owner(0).String(), Id: last}},
	} {
		_, gas, err := s.chain.Tx(step.msg)
		if err != nil {
			return err
		}
		s.note(step.verb+" the "+name, gas)
	}
	s.ids = s.ids[:len(s.ids)-1]
	return nil
}

func (s *sizer) note(message string, gas uint64) {
	s.sizes.Gas = append(s.sizes.Gas, MessageGas{message, gas})
}

// Table prints the gas.
func (s *Sizes) Table() *figure.Table {
	t := &figure.Table{Title: "Gas of messages, by how many timers the actor has", Columns: []string{"message", "gas"}}
	if s == nil {
		return t
	}
	for _, g := range s.Gas {
		t.Row(g.Message, g.Gas)
	}
	t.Notes = []string{
		fmt.Sprintf("%d-byte payloads, an actor whose handler is not looked at; what the ante handler and the runtime's own check cost comes on top.",
			workload.PayloadBytes),
		fmt.Sprintf("In state a timer is %d bytes, key included, and %d bytes in the owner index.", s.RecordBytes, s.EntryBytes),
	}
	return t
}
