package storm

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/cosmos-timers/timers/testutil/bench/figure"
	"github.com/cosmos-timers/timers/testutil/bench/workload"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Newcomers is how long those wait who come after a storm: a new actor's timer at the default bid is due in each of the
// blocks after it.
type Newcomers struct {
	Policy workload.Policy `json:"policy"`
	// StormBids is what the storm bids.
	StormBids string `json:"storm_bids"`
	// Storm timers of Actors are due at once, each with the smallest gas limit and a handler that does nothing.
	Storm  int `json:"storm"`
	Actors int `json:"actors"`
	// Beside is how many more of the storm's kind, of as many other actors, are due with each newcomer and before it in line.
	Beside int `json:"beside"`
	// Newcomers is how many there are, one due in each block from the next on.
	Newcomers int `json:"newcomers"`
	// Longest and Median wait in blocks; 0 is to fire in the block in which one is due.
	Longest int `json:"longest"`
	Median  int `json:"median"`
	// Last is the height at which the last of them fired.
	Last int `json:"last"`
}

// RichBids are lognormal tips with fees that no lane's fee reaches in the run: a storm that outbids whoever pays the usual.
var RichBids = Bids{Name: "lognormal tips", Draw: func(r *rand.Rand) *types.Bid {
	return statedBid(1e6*laneFee, usualTip*math.Exp(r.NormFloat64()))
}}

// MeasureNewcomers has a storm at one height, and a newcomer in each of the next blocks, under the default lane and its
// moving fee. It runs until all newcomers have fired.
func MeasureNewcomers(policy workload.Policy, bids Bids, storm, actors, beside, newcomers int, seed uint64) (Newcomers, error) {
	n := Newcomers{Policy: policy, StormBids: bids.Name, Storm: storm, Actors: actors, Beside: beside, Newcomers: newcomers}
	rng, genesis := workload.NewRand(seed), types.NewGenesis("stake")
	genesis.Config.Policy = policy.Config()
	genesis.Config.ReceiptRetentionBlocks = 0
	payload := make([]byte, workload.PayloadBytes)
	for i := range storm {
		workload.AddTimer(genesis, workload.Owner(i%actors), 1, payload, workload.GasLimit).Spec.Bid = bids.Draw(rng)
	}
	dues := map[string]int{}
	for i := range newcomers {
		for j := range beside {
			workload.AddTimer(genesis, workload.Owner(actors+newcomers+j), uint64(2+i), payload, workload.GasLimit).Spec.Bid = bids.Draw(rng)
		}
		timer := workload.AddTimer(genesis, workload.Owner(actors+i), uint64(2+i), payload, workload.GasLimit)
		dues[hex.EncodeToString(timer.Id)] = 2 + i
	}
	chain, err := lab.NewChain(lab.ChainOptions{
		Genesis: genesis, Balances: workload.Balances(actors + newcomers + beside), Runtimes: []types.Runtime{workload.Idle{}},
	})
	if err != nil {
		return n, err
	}
	waits := make([]float64, 0, newcomers)
	for len(waits) < newcomers {
		if err := chain.BeginBlock(); err != nil {
			return n, err
		}
		height := int(chain.Height())
		events, err := chain.EndBlock()
		if err != nil {
			return n, err
		}
		for i := range events {
			id, fired := events[i].GetAttribute("id")
			success, _ := events[i].GetAttribute("success")
			due, newcomer := dues[strings.Trim(id.Value, `"`)]
			if !fired || !newcomer {
				continue
			}
			if success.Value != "true" {
				return n, fmt.Errorf("the newcomer due at %d left at %d without firing well: %s", due, height, events[i].Type)
			}
			wait := height - due
			waits = append(waits, float64(wait))
			n.Longest = max(n.Longest, wait)
		}
		if n.Last = height; height > storm {
			return n, fmt.Errorf("%d of %d newcomers have not fired after %d blocks", newcomers-len(waits), newcomers, height)
		}
	}
	n.Median = int(workload.Median(waits))
	return n, chain.Check()
}

// MeasureAllNewcomers measures newcomers behind storms of different bids.
func MeasureAllNewcomers(opts figure.Options) ([]Newcomers, error) {
	var all []Newcomers
	storm, newcomers := 20_000, 100
	if opts.Quick {
		storm, newcomers = 6_000, 20
	}
	for _, m := range []struct {
		policy workload.Policy
		bids   Bids
		beside int
	}{{workload.EIP1559, DefaultBids, 0}, {workload.EIP1559, RichBids, 0}, {workload.EIP1559, DefaultBids, 1_500}, {workload.FIFO, DefaultBids, 0}} {
		n, err := MeasureNewcomers(m.policy, m.bids, storm, 20, m.beside, newcomers, opts.Seed)
		if err != nil {
			return nil, fmt.Errorf("%s, %s bids: %w", m.policy, m.bids.Name, err)
		}
		all = append(all, n)
	}
	return all, nil
}

// NewcomersTable prints them.
func NewcomersTable(newcomers []Newcomers) *figure.Table {
	t := &figure.Table{
		Title:   "The wait of newcomers: a storm at one height, and one new actor's timer at the default bid due in each block after it",
		Columns: []string{"policy", "storm", "actors", "the storm bids", "beside each", "newcomers", "longest wait", "median wait", "last fired at"},
		Notes: []string{
			"In blocks, under the default lane and its moving fee; 0 is to fire in the block in which one is due (target: 2 at most",
			"under eip1559, the storm at the default bid too). The usual tip, which the default bid pays, is the median of what was paid.",
		},
	}
	for _, n := range newcomers {
		t.Row(n.Policy, n.Storm, n.Actors, n.StormBids, n.Beside, n.Newcomers, n.Longest, n.Median, n.Last)
	}
	return t
}
