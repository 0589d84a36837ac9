package replay_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/lab/replay"
	"github.com/cosmos-timers/timers/lab/scenario"
)

// changed are another value for each parameter of the table. The default unit of fairness differs from the other one for
// contracts alone, of which the lab has none.
var changed = map[string]any{
	"max_cycles_per_fire":    90_000,
	"candidate_window":       50,
	"priority_tiers":         fields{"economy": "0", "standard": "0", "fast": "0", "urgent": "0"},
	"tier_tip_cap":           "0.000001",
	"fairness_window_blocks": 1,
	"fairness_unit":          nil,
	"weight_min":             "1",
	"weight_max":             "8",
	"median_smoothing":       "0.01",
	"agent.cycles_per_call":  10_000,
	"agent.cycles_per_block": 20_000,
}

// TestLongTheTableOfReadersIsTrue runs one workload under each policy, once for each parameter of the table with another
// value of it: the blocks differ where the table says that the policy reads it, and nowhere else.
//
// Rule: 7.6-readers
func TestLongTheTableOfReadersIsTrue(t *testing.T) {
	readers := readTableOfReaders(t)
	require.ElementsMatch(t, slices.Collect(maps.Keys(changed)), slices.Collect(maps.Keys(readers)))
	for _, policy := range []string{"fifo", "eip1559", "auction", "score", "tip"} {
		before := contest(t, policy, "", nil)
		for _, parameter := range slices.Sorted(maps.Keys(changed)) {
			if changed[parameter] == nil {
				continue
			}
			differs := before != contest(t, policy, parameter, changed[parameter])
			assert.Equal(t, readers[parameter][policy], differs, "README.md, 7.6: whether %s reads %s", policy, parameter)
		}
	}
}

// readTableOfReaders is the table of the README: for each parameter the policies that read it.
func readTableOfReaders(t *testing.T) map[string]map[string]bool {
	t.Helper()
	raw, err := os.ReadFile("../../x/timers/README.md")
	require.NoError(t, err)
	_, after, found := strings.Cut(string(raw), "| parameters | `fifo` |")
	require.True(t, found)
	table, _, _ := strings.Cut(after, "\n\n")
	rows := strings.Split(table, "\n")
	policies := regexp.MustCompile("`([a-z0-9]+)`").FindAllStringSubmatch("`fifo`"+rows[0], -1)
	readers := map[string]map[string]bool{}
	for _, row := range rows[2:] {
		cells := strings.Split(strings.Trim(row, "|"), "|")
		require.Len(t, cells, 1+len(policies), row)
		for _, parameter := range regexp.MustCompile("`([a-z0-9_.]+)`").FindAllStringSubmatch(cells[0], -1) {
			reads := map[string]bool{}
			for i, policy := range policies {
				reads[policy[1]] = strings.TrimSpace(cells[1+i]) == "yes"
			}
			readers[parameter[1]] = reads
		}
	}
	return readers
}

// contest is what a contest for a small lane prints. Its bids are of all kinds, and more wait than a block reads.
func contest(t *testing.T, policy, parameter string, value any) string {
	t.Helper()
	config := fields{
		"policy": policy, "lane_timer_cycles": 250_000, "max_cycles_per_fire": 200_000, "candidate_window": 6, "overhead_cycles_per_block": 315_000,
		"fairness_window_blocks": 100, "receipt_retention_blocks": 0, "weight_min": "0.0625",
		"agent_cycles_per_call": 20_000, "agent_cycles_per_block": 60_000,
	}
	if parameter != "" {
		config[strings.ReplaceAll(parameter, ".", "_")] = value
	}
	var ops []fields
	for i := range 80 {
		op := fields{
			"at": 1 + i/8, "op": "schedule", "as": fmt.Sprint("t", i), "actor": []string{"often", "often", "often", "seldom", "often", "rarely"}[i%6],
			"height": 4 + i/6, "gas_limit": 40_000 + 10_000*(i*5%8), "expires_at": 90, "do": fields{"cycles": 5_000 + 200*i, "cells": 0},
		}
		switch tip := fmt.Sprintf("0.%03d", 100+i*37%80); i % 3 {
		case 0:
			op["bid"] = fields{"max_fee": "2", "max_priority": tip}
		case 1:
			op["bid"] = fields{"agent": fields{"max_fee": "1", "max_priority": tip, "cycles": 15_000}}
		case 2:
			op["bid"] = fields{"tier": "fast"}
		}
		ops = append(ops, op)
	}
	// Of some that have nothing to tell them apart, those go first whose actor fired less.
	for i := range 6 {
		ops = append(ops, fields{
			"at": 50, "op": "schedule", "as": fmt.Sprint("late", i), "actor": []string{"often", "rarely"}[i%2], "height": 60,
			"gas_limit": 100_000, "expires_at": 90, "do": fields{"cycles": 5_000, "cells": 0},
		})
	}
	data, err := json.Marshal(fields{
		"config": config, "accounts": fields{"often": "1000000000", "seldom": "1000000000", "rarely": "1000000000"}, "blocks": 64, "no_headroom": true,
		"ops": ops,
	})
	require.NoError(t, err)
	s, err := scenario.Parse(data)
	require.NoError(t, err)
	var out strings.Builder
	require.NoError(t, replay.Run(s, func(line *replay.Line) error { return json.NewEncoder(&out).Encode(line) }))
	return out.String()
}
