package trace_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// trace is a file in the Informal Trace Format, as spec/traces.mjs writes it.
type trace struct {
	Meta   constants `json:"#meta"`
	States []state   `json:"states"`
}

// constants are those of the model's instance.
type constants struct {
	Window   uint32 `json:"window"`
	Removals uint64 `json:"removals"`
	// WeightMin in sixteenths.
	WeightMin int64 `json:"weightMin"`
}

// state is one of the model, and the step that led to it.
type state struct {
	Step     step           `json:"step"`
	Height   uint64         `json:"height"`
	Minute   int64          `json:"minute"`
	Balances mapOf[int64]   `json:"balances"`
	Burned   int64          `json:"burned"`
	Tips     int64          `json:"tips"`
	Timers   mapOf[modeled] `json:"timers"`
	Fires    []fire         `json:"fires"`
	Exits    []exit         `json:"exits"`
	// Calls of agents, and what questions saw, in their order.
	Calls     []call     `json:"calls"`
	Questions []question `json:"questions"`
}

// step has the fields of all operations; each uses some. Gas is in units of 10,000 cycles, prices are per cycle and in
// units of the 18th decimal.
type step struct {
	Op         string `json:"op"`
	OK         bool   `json:"ok"`
	ID         int    `json:"id"`
	Owner      int    `json:"owner"`
	To         int    `json:"to"`
	Amount     int64  `json:"amount"`
	Height     uint64 `json:"height"`
	Gas        uint64 `json:"gas"`
	Work       byte   `json:"work"`
	Fails      bool   `json:"fails"`
	Expires    uint64 `json:"expires"`
	Every      uint64 `json:"every"`
	Remaining  uint64 `json:"remaining"`
	Stops      bool   `json:"stops"`
	RetryMax   uint32 `json:"retryMax"`
	RetryAfter uint64 `json:"retryAfter"`
	Suspends   bool   `json:"suspends"`
	Form       string `json:"form"`
	MaxFee     int64  `json:"maxFee"`
	Tip        int64  `json:"tip"`
	Bid        int64  `json:"bid"`
	Policy     string `json:"policy"`
	Flag       bool   `json:"flag"`
	FirstPrice bool   `json:"firstPrice"`
	When       string `json:"when"`
	Than       int64  `json:"than"`
	Cooldown   uint64 `json:"cooldown"`
	Level      bool   `json:"level"`
	At         int64  `json:"at"`
	Latest     bool   `json:"latest"`
	Window     uint64 `json:"window"`
	Only       string `json:"only"`
	OnlyThan   int64  `json:"onlyThan"`
	Agent      string `json:"agent"`
	Effort     uint64 `json:"effort"`
	Asks       bool   `json:"asks"`
}

// modeled is what a state says of a timer that lives.
type modeled struct {
	Place     string `json:"place"`
	Reason    string `json:"reason"`
	Due       uint64 `json:"due"`
	Seq       uint64 `json:"seq"`
	Gas       uint64 `json:"gas"`
	Expires   uint64 `json:"expires"`
	Remaining uint64 `json:"remaining"`
	Retries   uint32 `json:"retries"`
	FireSeq   uint32 `json:"fireSeq"`
	Bid       int64  `json:"bid"`
	Lock      int64  `json:"lock"`
	Deferred  bool   `json:"deferred"`
	// Since is when it became due this time, if its place in the queue is a later one.
	Since    uint64 `json:"since"`
	Tried    bool   `json:"tried"`
	Failures uint32 `json:"failures"`
	// Times are in minutes, occurrences in minutes or as heights.
	At         int64  `json:"at"`
	Ends       int64  `json:"ends"`
	After      int64  `json:"after"`
	Trying     int64  `json:"trying"`
	Deliveries uint64 `json:"deliveries"`
	Lapses     uint32 `json:"lapses"`
	Forced     int64  `json:"forced"`
	// The last answer of its agent: prices in units of the 18th decimal.
	LastMax int64 `json:"lastMax"`
	LastTip int64 `json:"lastTip"`
}

// call is one of an agent: the gas that it used, whether it gave no answer, and whether its timer fired in the block.
type call struct {
	ID       int    `json:"id"`
	Used     uint64 `json:"used"`
	Failed   bool   `json:"failed"`
	Followed bool   `json:"followed"`
}

// question is what a handler (Fires) or an agent saw of its owner: its timers, those on hold, and what it could spend.
type question struct {
	ID    int   `json:"id"`
	Fires bool  `json:"fires"`
	Live  int64 `json:"live"`
	Held  int64 `json:"held"`
	Has   int64 `json:"has"`
}

type fire struct {
	ID int    `json:"id"`
	N  uint32 `json:"n"`
	OK bool   `json:"ok"`
	// Guarded: its condition did not hold.
	Guarded bool   `json:"guarded"`
	Paid    int64  `json:"paid"`
	Tip     int64  `json:"tip"`
	Next    uint64 `json:"next"`
	// What it had locked of its bid, and what it paid of that.
	Locked  int64 `json:"locked"`
	BidPaid int64 `json:"bidPaid"`
	// What a time, a calendar or an interval from its schedule delivered, and of how many retries the next fire is the last.
	Occurrence int64  `json:"occurrence"`
	Index      uint64 `json:"index"`
	Retries    uint32 `json:"retries"`
}

type exit struct {
	ID  int    `json:"id"`
	How string `json:"how"`
}

// mapOf is a map of the format, whose keys are integers.
type mapOf[T any] map[int]T

// UnmarshalJSON implements json.Unmarshaler.
func (m *mapOf[T]) UnmarshalJSON(bz []byte) error {
	var raw struct {
		Pairs [][2]json.RawMessage `json:"#map"`
	}
	if err := json.Unmarshal(bz, &raw); err != nil {
		return err
	}
	*m = mapOf[T]{}
	for _, pair := range raw.Pairs {
		var key int
		var value T
		if err := json.Unmarshal(pair[0], &key); err != nil {
			return err
		}
		if err := json.Unmarshal(pair[1], &value); err != nil {
			return err
		}
		(*m)[key] = value
	}
	return nil
}

func read(t *testing.T, file string) (tr trace) {
	t.Helper()
	bz, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(bz, &tr))
	return tr
}
