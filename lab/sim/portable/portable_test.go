package portable_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/lab/sim/market"
	"github.com/cosmos-timers/timers/lab/sim/portable"
	"github.com/cosmos-timers/timers/lab/sim/simconfig"
	"github.com/cosmos-timers/timers/lab/sim/spec"
)

var update = flag.Bool("update", false, "rewrite defaults.json")

// text of a config, by which configs are compared.
func text(t *testing.T, config market.Config) string {
	t.Helper()
	raw, err := json.MarshalIndent(config, "", " ")
	require.NoError(t, err)
	return string(raw) + "\n"
}

// FuzzRead: what is read here is read the same with all fields, and nothing is read that the module refuses.
func FuzzRead(f *testing.F) {
	for _, fields := range []string{
		`{"policy": "tip", "eip1559": {"target": "0.6"}}`, `{"lane_timer_cycles": "3000000", "weight_max": "1.06"}`,
		`{"urgent": "2.5", "payment_rule": "first_price", "reserve_price": "7"}`, `{"target": "+1"}`, `{"a": {}}`,
	} {
		f.Add(fields)
	}
	f.Fuzz(func(t *testing.T, fields string) {
		var raw bytes.Buffer
		if json.Compact(&raw, []byte(fields)) != nil {
			return // The reader of the file refuses it before, and hands on values without the space around them.
		}
		changes := []spec.Change{{Path: "config", Fields: raw.Bytes()}}
		got, err := portable.Read(changes)
		if err != nil {
			return
		}
		want, err := simconfig.Read(changes)
		require.NoError(t, err, fields)
		require.Equal(t, text(t, want), text(t, got), fields)
	})
}

// TestDefaults_AreThoseOfTheModule.
func TestDefaults_AreThoseOfTheModule(t *testing.T) {
	want, err := simconfig.Read(nil)
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.WriteFile("defaults.json", []byte(text(t, want)), 0o600))
		t.Skip("rewritten: run the test again, with the new file in the binary")
	}
	require.Equal(t, text(t, want), text(t, portable.Defaults()))
}

// TestRead_EverySimulationHasTheSameCases as with the reader of all fields.
func TestRead_EverySimulationHasTheSameCases(t *testing.T) {
	files, err := filepath.Glob("../../testdata/sims/*.json")
	require.NoError(t, err)
	require.Len(t, files, 17)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		_, want, err := spec.Parse(data, nil, simconfig.Read)
		require.NoError(t, err)
		_, got, err := spec.Parse(data, nil, portable.Read)
		require.NoError(t, err, file)
		require.Len(t, got, len(want))
		for i := range want {
			require.Equal(t, text(t, want[i].Config), text(t, got[i].Config), "%s, %s", file, want[i].Name)
			require.Equal(t, want[i].Limits, got[i].Limits)
		}
	}
}

// TestRead_TakesAndRefusesWhatTheModuleDoes: values at bounds and beyond, of each field.
func TestRead_TakesAndRefusesWhatTheModuleDoes(t *testing.T) {
	for _, c := range []struct {
		fields string
		taken  bool
	}{
		{`{}`, true},
		{`{"policy": "tip", "eip1559": {"target": "0.99"}}`, true},
		{`{"policy": "none"}`, false},
		{`{"policy": 3}`, false},
		{`{"policy": null}`, false},
		{`[]`, false},
		{`{"target": "0.01"}`, true},
		{`{"target": "0.009"}`, false},
		{`{"target": "0.991"}`, false},
		{`{"target": "-1"}`, false},
		{`{"target": "1e-1"}`, false},
		{`{"target": "0.5", "target": "0.5"}`, false},
		{`{"eip1559": {"target": "0.5"}, "target": "0.5"}`, false},
		{`{"max_change": "1"}`, true},
		{`{"max_change": "0"}`, false},
		{`{"max_change": "1.1"}`, false},
		{`{"lane_fee_multiplier": "2"}`, true},
		{`{"lane_fee_multiplier": "2.1"}`, false},
		{`{"basefee_response": "linear"}`, true},
		{`{"basefee_response": "cubic"}`, false},
		{`{"lane_timer_cycles": "550000"}`, true},
		{`{"lane_timer_cycles": 550000}`, true},
		{`{"lane_timer_cycles": "549999"}`, false},
		{`{"lane_timer_cycles": "1125899906842624"}`, true},
		{`{"lane_timer_cycles": "1125899906842625"}`, false},
		{`{"lane_timer_cycles": "1.5"}`, false},
		{`{"lane_timer_cycles": "-1"}`, false},
		{`{"lane_timer_cells": "550000"}`, true},
		{`{"lane_timer_cells": "549999"}`, false},
		{`{"candidate_window": 65536}`, true},
		{`{"candidate_window": 65537}`, false},
		{`{"candidate_window": 0}`, false},
		{`{"overhead_cycles_per_block": 300000}`, true},
		{`{"overhead_cycles_per_block": 299999}`, false},
		{`{"fairness_window_blocks": 1048576}`, true},
		{`{"fairness_window_blocks": 1048577}`, false},
		{`{"fairness_unit": "deployer"}`, true},
		{`{"fairness_unit": "chain"}`, false},
		{`{"median_smoothing": "0.000001"}`, true},
		{`{"median_smoothing": "0"}`, false},
		{`{"weight_max": "8"}`, true},
		{`{"weight_max": "8.1"}`, false},
		{`{"weight_max": "0.5"}`, false},
		{`{"weight_min": "0.0625"}`, true},
		{`{"tier_tip_cap": "1000"}`, true},
		{`{"tier_tip_cap": "1001"}`, false},
		{`{"priority_tiers": {"urgent": "1.5"}}`, true},
		{`{"priority_tiers": {"urgent": "1.4"}}`, false},
		{`{"fast": "2.5"}`, true},
		{`{"economy": "1.1"}`, false},
		{`{"standard": "1.6"}`, false},
		{`{"payment_rule": "first_price"}`, true},
		{`{"payment_rule": "third_price"}`, false},
		{`{"reserve_price": "400"}`, true},
		{`{"reserve_price": "-1"}`, false},
		{`{"reserve_price": "79228162514264337593543950335"}`, true},
		{`{"reserve_price": "79228162514264337593543950336"}`, false},
		{`{"lambda_start": "0.5"}`, true},
		{`{"lambda_start": "0.51"}`, false},
		{`{"lambda_start": "0.009"}`, false},
		{`{"lambda_step": "0.5"}`, true},
		{`{"lambda_step": "0.6"}`, false},
	} {
		changes := []spec.Change{{Path: "config", Fields: json.RawMessage(c.fields)}}
		want, wantErr := simconfig.Read(changes)
		got, err := portable.Read(changes)
		require.Equal(t, c.taken, wantErr == nil, "%s: %v", c.fields, wantErr)
		require.Equal(t, c.taken, err == nil, "%s: %v", c.fields, err)
		if c.taken {
			require.Equal(t, text(t, want), text(t, got), c.fields)
		} else {
			require.ErrorContains(t, err, "config")
		}
	}
	unknown := json.RawMessage(`{"time_triggers": false}`)
	_, err := portable.Read([]spec.Change{{Path: "variants[2].config", Fields: unknown}})
	require.ErrorContains(t, err, "variants[2].config.time_triggers: is not read here; known: auction.lambda_start, ")
	_, err = portable.Read([]spec.Change{{Path: "config", Fields: json.RawMessage(`{"target": "2"}`)}})
	require.EqualError(t, err, `config.target: want a decimal from 0.01 to 0.99 in quotes, not "2"`)
}
