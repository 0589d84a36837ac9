// Package exact_test holds the simulator to the chain: the same timers, scheduled on both, fire in the same blocks, in
// the same order and at the same prices.
package exact_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/lab/replay"
	"github.com/cosmos-timers/timers/lab/scenario"
	"github.com/cosmos-timers/timers/lab/sim/market"
	"github.com/cosmos-timers/timers/lab/sim/simconfig"
	"github.com/cosmos-timers/timers/lab/sim/workload"
	rules "github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const blocks = 40

// groups congest the lane for a while. The bids of a requoted strategy can't be written as a scenario.
func groups() []workload.Group {
	return []workload.Group{
		{
			Name: "whale", Agents: 1, Rate: 12, Stop: 20, Cycles: 120_000, CyclesSigma: 0.3, Patience: 15,
			Value:    workload.Distribution{Kind: "lognormal", Median: 0.004, Sigma: 0.5},
			Strategy: workload.Strategy{Kind: market.Truthful, Shade: 0.8, Actors: 2},
		},
		{
			Name: "people", Agents: 8, Rate: 5, Cycles: 90_000, CyclesSigma: 0.5, Cells: 300, Patience: 20, WealthSigma: 0.7,
			Value:    workload.Distribution{Kind: "lognormal", Median: 0.004, Sigma: 1},
			Strategy: workload.Strategy{Kind: market.Estimator},
		},
		{
			Name: "hasty", Agents: 3, Rate: 2, Cycles: 60_000, Patience: 6,
			Value:    workload.Distribution{Kind: "pareto", Median: 0.006, Alpha: 1.5},
			Strategy: workload.Strategy{Kind: market.Tier, Tier: "fast"},
		},
		{
			Name: "hog", Agents: 1, Rate: 1, Cycles: 40_000, Cells: 150_000, Patience: 10,
			Value:    workload.Distribution{Kind: "fixed", Median: 0.005},
			Strategy: workload.Strategy{Kind: market.Minimal},
		},
	}
}

type fire struct {
	Timer, Paid, Tip string
	Late             uint64
}

type blockOf struct {
	Basefee, P50 string
	Fires        []fire
}

// simulate runs the workload, and writes what it scheduled as a scenario.
func simulate(w *workload.Workload, config market.Config) ([]blockOf, []map[string]any) {
	var ops []map[string]any
	lines := make([]blockOf, blocks+1)
	names := map[*market.Timer]string{}
	module := &market.Module{Config: config, Address: addressOf, Log: market.Log{
		Scheduled: func(height uint64, t *market.Timer) {
			names[t] = fmt.Sprintf("t%d", len(ops))
			ops = append(ops, opOf(height, names[t], t))
		},
		Fired: func(height uint64, t *market.Timer, charged, tip math.Int) {
			lines[height].Fires = append(lines[height].Fires, fire{names[t], charged.String(), tip.String(), height - t.Due})
		},
		Priced: func(height uint64, prices rules.Prices) {
			lines[height].Basefee, lines[height].P50 = prices.Lane.String(), prices.P50.String()
		},
	}}
	module.Run(context.Background(), w, blocks)
	return lines[1:], ops
}

// addressOf is the address of a scenario's account.
func addressOf(actor string) string { return string(scenario.AccountAddress(actor)) }

func opOf(height uint64, name string, t *market.Timer) map[string]any {
	op := map[string]any{
		"op": "schedule", "at": height, "as": name, "actor": t.Actor, "height": t.Due, "expires_at": t.Expires,
		"gas_limit": t.GasLimit, "cell_limit": t.CellLimit,
		"do": map[string]any{"cycles": t.Cycles - 20_000, "cells": t.Cells},
	}
	switch ask := t.Ask; {
	case !t.Locked.IsNil():
		op["bid"] = t.Locked.String()
	case !ask.Price.IsNil():
		op["bid"] = ask.Price.String()
	case ask.Kind == rules.Stated:
		op["bid"] = map[string]any{"max_fee": ask.Stated.MaxFee.String(), "max_priority": ask.Stated.MaxPriority.String()}
	case ask.Kind == rules.Fast:
		op["bid"] = map[string]any{"tier": "fast"}
	}
	if !t.MaxCharge.IsNil() {
		op["max_charge"] = t.MaxCharge.String()
	}
	return op
}

// onChain replays the scenario on the keeper.
func onChain(t *testing.T, w *workload.Workload, config string, ops []map[string]any) (lines []blockOf, rejected int) {
	t.Helper()
	accounts := map[string]string{}
	for i := range w.Jobs {
		accounts[w.Jobs[i].Actor] = "1000000000000"
	}
	file, err := json.Marshal(map[string]any{
		"accounts": accounts, "blocks": blocks, "config": json.RawMessage(config), "no_headroom": true, "ops": ops,
	})
	require.NoError(t, err)
	s, err := scenario.Parse(file)
	require.NoError(t, err)
	require.NoError(t, replay.Run(s, func(line *replay.Line) error {
		block := blockOf{Basefee: line.LaneBasefee, P50: line.P50}
		for _, f := range line.Fired {
			paid, tip := f.Paid, f.Tip
			if f.BidPaid != "" {
				paid, tip = sum(t, paid, f.BidPaid), sum(t, tip, f.BidPaid)
			}
			block.Fires = append(block.Fires, fire{f.Timer, paid, tip, f.Late})
		}
		rejected += len(line.Rejected)
		lines = append(lines, block)
		return nil
	}))
	return lines, rejected
}

func sum(t *testing.T, a, b string) string {
	t.Helper()
	x, err := strconv.ParseInt(a, 10, 64)
	require.NoError(t, err)
	y, err := strconv.ParseInt(b, 10, 64)
	require.NoError(t, err)
	return strconv.FormatInt(x+y, 10)
}

func TestTheSimulatorDoesWhatTheChainDoes(t *testing.T) {
	for name, config := range map[string]string{
		"fifo":        `{"policy": "fifo"}`,
		"eip1559":     `{"fairness_window_blocks": 10}`,
		"linear":      `{"basefee_response": "linear", "lane_fee_multiplier": "0.8", "median_smoothing": "0.3"}`,
		"vcg":         `{"policy": "auction", "reserve_price": "5"}`,
		"first price": `{"policy": "auction", "payment_rule": "first_price"}`,
		"score":       `{"policy": "score", "fairness_window_blocks": 10}`,
		"tip":         `{"policy": "tip", "tip": {"epoch_blocks": 5, "starvation_blocks": 8}}`,
	} {
		t.Run(name, func(t *testing.T) {
			parsed := types.DefaultTimerConfig("utmr")
			require.NoError(t, scenario.ApplyConfig(&parsed, json.RawMessage(config), "config"))
			rules := simconfig.Of(&parsed)
			fires, refused := 0, 0
			for seed := range uint64(3) {
				w := workload.Draw(groups(), rules.Limits(), blocks, seed)
				want, ops := simulate(w, rules)
				got, rejected := onChain(t, w, config, ops)
				refused += rejected
				for i := range want {
					fires += len(want[i].Fires)
					require.Equal(t, want[i], got[i], "seed %d, height %d", seed, i+1)
				}
			}
			require.Greater(t, fires, 500)
			if name == "eip1559" {
				require.Positive(t, refused, "bids below the basefee")
			}
		})
	}
}
