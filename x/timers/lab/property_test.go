package lab_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cosmos-timers/timers/x/timers/lab"
)

type fields = map[string]any

// drawScenario draws a scenario with budgets and windows so small that timers queue, starve, expire and crowd the
// clean-up. It returns the JSON and, for every timer, the names of the timers that its handler schedules.
func drawScenario(t *rapid.T) (data []byte, children map[string][]string) {
	d := &drawing{T: t, children: map[string][]string{}, blocks: rapid.IntRange(3, 25).Draw(t, "blocks")}
	count := rapid.IntRange(1, 60).Draw(t, "ops")
	for i := range count {
		d.draw(i)
	}
	accounts := fields{"rich": "1000000000", "poor": "40000", "broke": "3"}
	data, err := json.Marshal(fields{"config": d.config(true), "accounts": accounts, "blocks": d.blocks, "ops": d.ops})
	require.NoError(t, err)
	return data, d.children
}

type drawing struct {
	*rapid.T
	blocks   int
	ops      []fields
	names    []string
	children map[string][]string
}

var accountNames = []string{"rich", "poor", "broke"}

func (d *drawing) int(low, high int) int { return rapid.IntRange(low, high).Draw(d.T, "n") }

func (d *drawing) account() string { return rapid.SampledFrom(accountNames).Draw(d.T, "account") }

func (d *drawing) config(whole bool) fields {
	config := fields{
		"lane_timer_cycles": 600_000, "max_cycles_per_fire": d.int(100_000, 600_000), "lane_paused": d.int(0, 4) == 0,
		"gc_cycles_per_block": 10_000 * d.int(1, 3), "candidate_window": d.int(1, 8), "sweep_per_block": d.int(1, 4),
		"max_fires_per_actor": d.int(0, 3), "max_fires_per_block": d.int(0, 5), "max_cells_per_fire": 1_000,
		"receipt_retention_blocks": d.int(0, 3),
	}
	if whole {
		return config
	}
	for name := range config {
		if d.int(0, 1) == 0 {
			delete(config, name)
		}
	}
	return config
}

// draw adds an op. Names are drawn from the timers of earlier ops, so that the block of an op is never below theirs.
func (d *drawing) draw(i int) {
	at := 1
	if i > 0 {
		at = d.int(d.ops[i-1]["at"].(int), min(d.blocks, d.ops[i-1]["at"].(int)+1))
	}
	op := fields{"at": at}
	kinds := []string{"schedule", "schedule", "schedule", "config", "send", "set", "cancel", "extend", "update", "sys_cancel", "sys_extend"}
	if len(d.names) == 0 {
		kinds = kinds[:6]
	}
	op["op"] = rapid.SampledFrom(kinds).Draw(d.T, "op")
	switch op["op"] {
	case "schedule":
		name := fmt.Sprintf("t%d", i)
		op["actor"] = d.account()
		d.schedule(op, name, at)
		op["do"] = d.handler(name, at)
		d.names = append(d.names, name)
		d.names = append(d.names, d.children[name]...)
	case "config":
		op["set"] = d.config(false)
	case "send":
		op["from"], op["to"], op["amount"] = d.account(), d.account(), d.int(0, 30_000)
	case "set":
		op["by"], op["key"] = d.account(), "k"
	case "cancel":
		op["by"] = d.account()
	case "update":
		op["by"], op["gas_limit"] = d.account(), d.int(40_000, 600_000)
	case "extend":
		op["by"], op["expires_at"] = d.account(), d.int(1, d.blocks+2)
	case "sys_extend":
		op["expires_at"] = d.int(1, d.blocks+2)
	}
	if kind := op["op"]; kind == "cancel" || kind == "update" || kind == "extend" || kind == "sys_cancel" || kind == "sys_extend" {
		op["timer"] = rapid.SampledFrom(d.names).Draw(d.T, "timer")
	}
	d.ops = append(d.ops, op)
}

func (d *drawing) schedule(op fields, name string, after int) {
	height := d.int(after, after+4)
	op["op"], op["as"], op["height"] = "schedule", name, height
	op["gas_limit"] = d.int(40_000, 600_000)
	if d.int(0, 2) > 0 {
		op["expires_at"] = d.int(height, height+3)
	}
}

func (d *drawing) handler(owner string, after int) fields {
	do := fields{"cycles": d.int(0, 300_000), "cells": d.int(0, 1_100)}
	ending := rapid.SampledFrom([]string{"", "", "fail", "panic", "spend_all", "ops", "ops"}).Draw(d.T, "ending")
	if ending != "ops" {
		if ending != "" {
			do[ending] = true
		}
		return do
	}
	var ops []fields
	for j := range d.int(1, 3) {
		op := fields{}
		switch kind := rapid.SampledFrom([]string{"schedule", "cancel", "update", "extend", "set"}).Draw(d.T, "acts"); {
		case kind == "schedule" || len(d.names) == 0:
			name := fmt.Sprintf("%s.%d", owner, j)
			d.schedule(op, name, after+2)
			d.children[owner] = append(d.children[owner], name)
		case kind == "set":
			op["op"], op["key"] = "set", "k"
		default:
			op["op"], op["timer"] = kind, rapid.SampledFrom(d.names).Draw(d.T, "timer")
			if kind == "update" {
				op["gas_limit"] = d.int(40_000, 200_000)
			}
			if kind == "extend" {
				op["expires_at"] = d.int(after+2, after+8)
			}
		}
		ops = append(ops, op)
	}
	do["ops"] = ops
	return do
}

// TestEveryTimerLeavesOnce runs random scenarios and follows every timer: it is alive from the block that schedules it
// to the one in which it fires, expires, is cancelled or can't be paid for, and to no other. The runner itself holds the
// module's invariants and the supply after every block.
func TestEveryTimerLeavesOnce(t *testing.T) {
	rapid.Check(t, checkRandomScenario)
}

// FuzzEveryTimerLeavesOnce is the same property under the native fuzzer.
func FuzzEveryTimerLeavesOnce(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkRandomScenario)) }

func checkRandomScenario(t *rapid.T) {
	data, children := drawScenario(t)
	scenario, err := lab.Parse(data)
	require.NoError(t, err, "%s", data)
	alive := map[string]bool{}
	var lines []lab.Line
	err = lab.Run(scenario, func(line *lab.Line) error {
		lines = append(lines, *line)
		followTimers(t, scenario, children, alive, line)
		return nil
	})
	require.NoError(t, err, "%s", data)
	require.Len(t, lines, int(scenario.Blocks)) //nolint:gosec // small

	again := 0
	require.NoError(t, lab.Run(scenario, func(line *lab.Line) error {
		require.Equal(t, lines[again], *line, "%s", data)
		again++
		return nil
	}))
}

// followTimers applies what a line says to the set of the timers that are alive.
func followTimers(
	t *rapid.T, scenario *lab.Scenario, children map[string][]string, alive map[string]bool, line *lab.Line,
) {
	born := func(name string) {
		require.False(t, alive[name], "%s came to be twice", name)
		alive[name] = true
	}
	left := func(name string) {
		require.True(t, alive[name], "%s left at height %d and was not alive", name, line.Height)
		delete(alive, name)
	}
	for i := range scenario.Ops {
		op := &scenario.Ops[i]
		rejected := slices.ContainsFunc(line.Rejected, func(r lab.Rejected) bool { return r.Op == i })
		if op.At == line.Height && op.Kind == "schedule" && !rejected {
			born(op.As)
		}
	}
	for _, fire := range line.Fired {
		left(fire.Timer)
		require.Equal(t, fire.OK, fire.Code == 0)
		for _, child := range children[fire.Timer] {
			if fire.OK {
				born(child)
			}
		}
	}
	for _, names := range [][]string{line.Expired, line.Unfunded, line.Cancelled} {
		for _, name := range names {
			left(name)
		}
	}
	require.Empty(t, line.Quarantined, "the module failed at height %d", line.Height)
	require.Len(t, alive, int(line.Pending), "height %d", line.Height) //nolint:gosec // small
	require.LessOrEqual(t, line.Ready, line.Pending)
}

// TestStateDoesNotDependOnTheMachine replays every scenario with one processor and with several, and compares the hash
// of the whole state after every block.
func TestStateDoesNotDependOnTheMachine(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	ends := map[string]string{}
	for _, file := range scenarioFiles(t) {
		runtime.GOMAXPROCS(1)
		want := appHashes(t, file)
		runtime.GOMAXPROCS(8)
		require.Equal(t, want, appHashes(t, file), file)
		end := want[len(want)-1]
		require.Empty(t, ends[end], "%s ends in the state of another", file)
		ends[end] = file
	}
}

func appHashes(t *testing.T, file string) (hashes []string) {
	t.Helper()
	runner, err := lab.NewRunner(readScenario(t, file))
	require.NoError(t, err)
	for !runner.Done() {
		_, err := runner.Step()
		require.NoError(t, err)
		hashes = append(hashes, fmt.Sprintf("%X", runner.Chain().AppHash()))
	}
	return hashes
}
