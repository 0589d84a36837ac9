package replay_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/lab/replay"
	"github.com/cosmos-timers/timers/lab/scenario"
)

type fields = map[string]any

// drawScenario draws a scenario with budgets and windows so small that timers queue, starve, expire and crowd the
// clean-up. It returns the JSON and, for every timer, the names of the timers that its handler schedules. A plain one
// is what the model can predict: its config stays, its windows are wide, its timers fire once, and its handlers don't
// act.
func drawScenario(t *rapid.T, plain bool) (data []byte, children map[string][]string) {
	d := &drawing{T: t, plain: plain, at: 1, children: map[string][]string{}, blocks: rapid.IntRange(8, 25).Draw(t, "blocks")}
	for range rapid.IntRange(10, 80).Draw(t, "ops") {
		d.draw()
	}
	blockSeconds := []int{5}
	if !plain {
		blockSeconds = []int{d.pick(5, 30, 60), d.pick(0, 1, 60, 200)}
	}
	accounts := fields{"rich": "1000000000", "poor": "4000", "broke": "3"}
	data, err := json.Marshal(fields{"config": d.config(true), "accounts": accounts, "blocks": d.blocks, "block_seconds": blockSeconds, "no_headroom": true, "ops": d.ops})
	require.NoError(t, err)
	return data, d.children
}

type drawing struct {
	*rapid.T
	plain      bool
	blocks, at int
	ops        []fields
	names      []string
	children   map[string][]string
}

var accountNames = []string{"rich", "poor", "broke"}

func (d *drawing) int(low, high int) int { return rapid.IntRange(low, high).Draw(d.T, "n") }

// pick draws one of a few values, all as likely: drawn ranges favour their ends.
func (d *drawing) pick(values ...int) int { return rapid.SampledFrom(values).Draw(d.T, "value") }

func (d *drawing) account() string { return rapid.SampledFrom(accountNames).Draw(d.T, "account") }

func (d *drawing) config(whole bool) fields {
	config := fields{
		"lane_timer_cycles": 600_000, "max_cycles_per_fire": d.pick(100_000, 250_000, 600_000), "lane_paused": d.pick(0, 0, 1) == 1,
		"gc_cycles_per_block": 2_700 * d.pick(1, 2, 3), "overhead_cycles_per_block": d.pick(30_000, 100_000, 3_000_000), "candidate_window": d.pick(1, 2, 5, 50),
		"max_fires_per_actor": d.pick(0, 0, 1, 2), "max_fires_per_block": d.pick(0, 0, 1, 4), "max_cells_per_fire": 1_000,
		"receipt_retention_blocks": d.pick(0, 1, 3), "policy": "fifo",
	}
	if !d.plain {
		// Windows and admissions are small, so that a few timers are a storm.
		for name, value := range (fields{
			"policy":                 rapid.SampledFrom([]string{"fifo", "eip1559", "eip1559", "tip", "tip", "auction", "auction", "score", "score"}).Draw(d.T, "policy"),
			"fairness_window_blocks": d.pick(1, 2, 5, 1_000),
			"median_smoothing":       rapid.SampledFrom([]string{"1", "0.5", "0.01"}).Draw(d.T, "smoothing"),
			"fairness_unit":          rapid.SampledFrom([]string{"actor", "deployer"}).Draw(d.T, "unit"),
			"weight_min":             rapid.SampledFrom([]string{"1", "0.0625"}).Draw(d.T, "least weight"),
			"weight_max":             rapid.SampledFrom([]string{"2", "8"}).Draw(d.T, "largest weight"),
			"eip1559": fields{
				"auction_activation_height": d.pick(0, 0, 3), "max_cycles_per_fire_auction": d.pick(100_000, 250_000, 600_000),
				"basefee_response":    rapid.SampledFrom([]string{"clip", "linear"}).Draw(d.T, "response"),
				"lane_fee_multiplier": rapid.SampledFrom([]string{"1", "0.8", "2", "0"}).Draw(d.T, "multiplier"),
			},
			"auction": fields{
				"payment_rule":          rapid.SampledFrom([]string{"vcg", "first_price"}).Draw(d.T, "rule"),
				"reserve_price":         strconv.Itoa(d.pick(0, 0, 5, 3_000)),
				"lambda_step":           rapid.SampledFrom([]string{"0.01", "0.5", "0"}).Draw(d.T, "step"),
				"auction_window_blocks": d.pick(1, 3, 100),
			},
			"score": fields{
				"w_age":  rapid.SampledFrom([]string{"1", "0", "1000000"}).Draw(d.T, "weight of age"),
				"w_bid":  rapid.SampledFrom([]string{"0.01", "0", "1"}).Draw(d.T, "weight of the bid"),
				"w_fifo": rapid.SampledFrom([]string{"0", "0", "0.5"}).Draw(d.T, "weight of the rank"),
			},
			"tip": fields{
				"epoch_blocks": d.pick(1, 2, 5), "starvation_blocks": d.pick(1, 3), "late_blocks": d.pick(1, 4),
				"decay": rapid.SampledFrom([]string{"0.2", "1", "0"}).Draw(d.T, "decay"),
			},
		}) {
			config[name] = value
		}
	}
	if whole {
		config["max_cycles_per_fire"] = 600_000
		if d.plain {
			config["candidate_window"], config["overhead_cycles_per_block"], config["lane_paused"] = 2_048, 3_000_000, d.pick(0, 0, 0, 1) == 1
		}
		return config
	}
	d.leaveOut(config)
	return config
}

// leaveOut deletes about half of the fields, those of policies one by one.
func (d *drawing) leaveOut(config fields) {
	for _, name := range slices.Sorted(maps.Keys(config)) { // In an order, so that a seed draws the same again.
		if nested, is := config[name].(fields); is {
			d.leaveOut(nested)
			continue
		}
		if d.int(0, 1) == 0 {
			delete(config, name)
		}
	}
}

// draw adds an op. Names are drawn from the timers of earlier ops, so that the block of an op is never below theirs.
func (d *drawing) draw() {
	d.at = min(d.at+d.pick(0, 0, 0, 1), d.blocks)
	op := fields{"at": d.at}
	kinds := []string{"schedule", "schedule", "schedule", "config", "send", "set", "cancel", "extend", "update", "sys_cancel", "sys_extend", "pause", "resume", "skip", "run", "jump"}
	if len(d.names) == 0 {
		kinds = kinds[:6]
	}
	if d.plain {
		kinds = slices.DeleteFunc(kinds, func(kind string) bool {
			return slices.Contains([]string{"config", "pause", "resume", "skip", "run", "jump"}, kind)
		})
	}
	op["op"] = rapid.SampledFrom(kinds).Draw(d.T, "op")
	switch op["op"] {
	case "schedule":
		for range d.pick(1, 1, 1, 1, 25) {
			d.scheduleOne()
		}
		return
	case "config":
		op["set"] = d.config(false)
	case "send":
		op["from"], op["to"], op["amount"] = d.account(), d.account(), d.int(0, 30_000)
	case "set":
		op["by"], op["key"] = d.account(), "k"
	case "cancel", "pause", "run":
		op["by"] = d.account()
	case "resume":
		op["by"], op["resume_at"] = d.account(), rapid.SampledFrom([]string{"now", "next"}).Draw(d.T, "resume at")
	case "skip":
		op["by"], op["count"] = d.account(), d.pick(0, 1, 2, 30)
	case "jump":
		op["seconds"] = d.pick(1, 50, 700, 90_000)
	case "update":
		op["by"], op["gas_limit"] = d.account(), d.gasLimit()
		if bid := d.bid(); bid != nil {
			op["bid"] = bid
		}
		if !d.plain {
			d.change(op)
		}
	case "extend":
		op["by"], op["expires_at"] = d.account(), d.int(1, d.blocks+2)
	case "sys_extend":
		op["expires_at"] = d.int(1, d.blocks+2)
	}
	if _, ofTimer := op["at"]; ofTimer && !slices.Contains([]any{"config", "send", "set", "jump"}, op["op"]) {
		op["timer"] = rapid.SampledFrom(d.names).Draw(d.T, "timer")
	}
	d.ops = append(d.ops, op)
}

// scheduleOne adds a timer with a handler.
func (d *drawing) scheduleOne() {
	name := fmt.Sprintf("t%d", len(d.ops))
	op := fields{"at": d.at, "actor": d.account()}
	d.schedule(op, name, d.at)
	op["do"] = d.handler(name, d.at, op["every"] != nil)
	d.names = append(d.names, name)
	d.names = append(d.names, d.children[name]...)
	d.ops = append(d.ops, op)
}

// bid draws what a timer is willing to pay: nothing stated, a tier, the integer that policy auction locks, or two
// prices near the basefee.
func (d *drawing) bid() any {
	prices := []string{"0", "0.0005", "0.001", "0.0011", "0.002", "0.01"}
	switch rapid.SampledFrom([]string{"", "", "tier", "price", "price", "static", "static"}).Draw(d.T, "bid") {
	case "tier":
		return fields{"tier": rapid.SampledFrom([]string{"economy", "standard", "fast", "urgent"}).Draw(d.T, "tier")}
	case "price":
		return rapid.SampledFrom([]string{"0", "7", "300", "2000", "1000000000000000000000"}).Draw(d.T, "price")
	case "static":
		return fields{
			"max_fee":      rapid.SampledFrom(prices).Draw(d.T, "max fee"),
			"max_priority": rapid.SampledFrom(prices).Draw(d.T, "max priority"),
		}
	default:
		return nil
	}
}

func (d *drawing) gasLimit() int { return d.pick(40_000, 100_000, 250_000, 600_000) }

func (d *drawing) schedule(op fields, name string, after int) {
	height := after + d.pick(0, 1, 1, 2, 3, 4)
	op["op"], op["as"], op["height"], op["gas_limit"] = "schedule", name, height, d.gasLimit()
	if bid := d.bid(); bid != nil {
		op["bid"] = bid
	}
	if !d.plain {
		d.recurrence(op, height)
	}
	if d.pick(0, 1, 1) == 1 {
		op["expires_at"] = height + d.pick(0, 1, 2, 3)
	}
	if op["height"] != nil && d.pick(0, 0, 1) == 1 {
		delete(op, "height")
		op["after"] = d.pick(0, 1, 1, 2, 4)
	}
	if d.pick(0, 0, 0, 1) == 1 {
		op["label"] = rapid.StringMatching(`[ -~]{0,70}`).Draw(d.T, "label")
	}
}

// recurrence lets a timer wait for a time, repeat, be tried again, be suspended, and do nothing.
func (d *drawing) recurrence(op fields, first int) {
	d.trigger(op, first)
	d.options(op)
}

// change draws another trigger and other options.
func (d *drawing) change(op fields) {
	if d.pick(0, 1) == 1 {
		op["height"] = d.at + d.pick(0, 1, 2, 4)
		d.trigger(op, d.at+d.pick(1, 2, 3))
	}
	if d.pick(0, 0, 1) == 1 {
		d.options(op)
	}
}

// trigger replaces the height by another kind, or not.
func (d *drawing) trigger(op fields, first int) {
	start := 1_700_000_000
	kind := rapid.SampledFrom([]string{"height", "height", "every", "every", "time", "calendar"}).Draw(d.T, "kind")
	if kind == "height" {
		return
	}
	delete(op, "height")
	switch kind {
	case "time":
		op["time"] = start + d.pick(0, 20, 70, 300, 1_000)
		return
	case "calendar":
		op["calendar"] = fields{"every": fields{"seconds": strconv.Itoa(d.pick(59, 60, 90, 600))}}
	default:
		op["every"], op["first"] = d.pick(0, 1, 1, 2, 3, 7), first
		if d.pick(0, 1) == 1 {
			op["from"] = "schedule"
		}
	}
	op["remaining"] = d.pick(0, 1, 2, 5)
	if op["on_failure"] = rapid.SampledFrom([]string{"roll", "stop", "suspend"}).Draw(d.T, "on failure"); op["on_failure"] == "suspend" {
		op["max_failures"] = d.pick(0, 1, 2)
	}
	if (kind == "calendar" || op["from"] != nil) && d.pick(0, 1) == 1 {
		op["missed"] = rapid.SampledFrom([]string{"latest", "each"}).Draw(d.T, "missed")
		op["window"], op["jitter"] = d.pick(0, 1, 2, 30, 100), d.pick(0, 0, 1, 3, 40)
	}
}

// options draws what becomes of bad moments, and what must hold at a fire.
func (d *drawing) options(op fields) {
	if d.pick(0, 0, 0, 1) == 1 {
		op["only_if"] = []fields{{"key": "k", "op": rapid.SampledFrom([]string{"<", ">=", "=="}).Draw(d.T, "condition"), "value": strconv.Itoa(d.pick(0, 1, 2, 4))}}
	}
	if d.pick(0, 0, 0, 1) == 1 {
		op["renew"] = true
	}
	if d.pick(0, 0, 1) == 1 {
		op["retry"] = fields{"max": d.pick(0, 1, 2, 3, 11), "after": d.pick(0, 1, 1, 2, 5)}
	}
	if d.pick(0, 1) == 1 {
		op["on_unfunded"] = rapid.SampledFrom([]string{"destroy", "suspend", "skip"}).Draw(d.T, "on unfunded")
	}
}

// handler draws what a timer does. One that repeats schedules nothing, since a name stands for one timer.
func (d *drawing) handler(owner string, after int, repeats bool) fields {
	do := fields{"cycles": d.pick(0, 1_234, 80_000, 300_000), "cells": d.pick(0, 1, 33, 1_000, 1_001)}
	endings := []string{"", "", "fail", "panic", "spend_all", "ops", "ops"}
	if d.plain {
		endings = endings[:5]
	}
	ending := rapid.SampledFrom(endings).Draw(d.T, "ending")
	if ending != "ops" {
		if ending != "" {
			do[ending] = true
		}
		return do
	}
	var ops []fields
	for j := range d.pick(1, 2, 3, 9) {
		op := fields{}
		kinds := []string{"schedule", "cancel", "update", "extend", "set", "pause", "resume", "run"}
		if repeats {
			kinds[0] = "set"
		}
		names := append(d.names[:len(d.names):len(d.names)], owner)
		switch kind := rapid.SampledFrom(kinds).Draw(d.T, "acts"); kind {
		case "schedule":
			name := fmt.Sprintf("%s.%d", owner, j)
			d.schedule(op, name, after+2)
			d.children[owner] = append(d.children[owner], name)
		case "set":
			op["op"], op["key"] = "set", strings.Repeat("k", d.pick(1, 128))
		default:
			op["op"], op["timer"] = kind, rapid.SampledFrom(names).Draw(d.T, "timer")
			if kind == "update" {
				op["gas_limit"] = d.gasLimit()
				d.change(op)
				if bid := d.bid(); bid != nil {
					op["bid"] = bid
				}
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
// to the one in which it fires for the last time, expires, is cancelled or can't be paid for, and to no other. Until
// then it fires at most once a block and never before it is due. The runner itself checks the module's invariants and
// the supply after every block.
//
// Rule: 1.1-due-until-left, 1.5-expired, 1.5-leaves-once, 1.5-leaves-by-last-fire, 1.5-leaves-by-expiry
// Rule: 1.5-never-lost, 2.2-conservation
func TestEveryTimerLeavesOnce(t *testing.T) {
	rapid.Check(t, checkRandomScenario)
}

// FuzzEveryTimerLeavesOnce is the same property under the native fuzzer.
func FuzzEveryTimerLeavesOnce(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkRandomScenario)) }

func checkRandomScenario(t *rapid.T) {
	data, children := drawScenario(t, false)
	s, err := scenario.Parse(data)
	require.NoError(t, err, "%s", data)
	alive, due := map[string]bool{}, map[string]uint64{}
	var lines []replay.Line
	err = replay.Run(s, func(line *replay.Line) error {
		lines = append(lines, *line)
		followTimers(t, s, children, alive, due, line)
		return nil
	})
	require.NoError(t, err, "%s", data)
	require.Len(t, lines, int(s.Blocks))
	checkBids(t, lines)

	again := 0
	require.NoError(t, replay.Run(s, func(line *replay.Line) error {
		require.Equal(t, lines[again], *line, "%s", data)
		again++
		return nil
	}))
}

// followTimers applies what a line says to the set of the timers that are alive, and to what fires said of the next
// ones.
func followTimers(
	t *rapid.T, s *scenario.Scenario, children map[string][]string, alive map[string]bool,
	due map[string]uint64, line *replay.Line,
) {
	born := func(name string) {
		require.False(t, alive[name], "%s was scheduled twice", name)
		alive[name] = true
	}
	left := func(name string) {
		require.True(t, alive[name], "%s left at height %d and was not alive", name, line.Height)
		delete(alive, name)
	}
	for i := range s.Ops {
		op := &s.Ops[i]
		rejected := slices.ContainsFunc(line.Rejected, func(r replay.Rejected) bool { return r.Op == i })
		switch {
		case op.At != line.Height || rejected:
		case op.Kind == "schedule":
			born(op.As)
		case op.Kind == "run" || op.Kind == "resume" || op.States("trigger"):
			due[op.Timer] = 0 // It may be earlier than the fire before has said.
		}
	}
	fired := map[string]bool{}
	for _, fire := range line.Fired {
		require.True(t, alive[fire.Timer], "%s fired at height %d and was not alive", fire.Timer, line.Height)
		require.False(t, fired[fire.Timer], "%s fired twice at height %d", fire.Timer, line.Height)
		fired[fire.Timer] = true
		require.GreaterOrEqual(t, line.Height, due[fire.Timer], "%s fired before its time", fire.Timer)
		require.True(t, fire.NextDue == 0 || fire.NextDue > line.Height)
		due[fire.Timer] = fire.NextDue
		// One whose own handler cancelled it left that way.
		if fire.NextDue == 0 && !slices.Contains(line.Cancelled, fire.Timer) {
			left(fire.Timer)
		}
		require.Equal(t, fire.OK, fire.Code == 0 && fire.Outcome == "")
		// The chain's part is 0.001 a cycle and 0.03 a cell, rounded up, computed here in thousandths. The lane's is
		// added.
		paid, err := strconv.ParseUint(fire.Paid, 10, 64)
		require.NoError(t, err)
		tip, err := strconv.ParseUint(fire.Tip, 10, 64)
		require.NoError(t, err)
		require.GreaterOrEqual(t, paid, tip+(fire.Cycles+30*fire.Cells)/1_000)
		for _, child := range children[fire.Timer] {
			if fire.OK {
				born(child)
			}
		}
	}
	ends := map[string]bool{}
	for _, ended := range line.Ended {
		require.False(t, ends[ended.Timer], "that %s ended at height %d is told twice", ended.Timer, line.Height)
		ends[ended.Timer] = true
		if alive[ended.Timer] && !fired[ended.Timer] {
			left(ended.Timer) // Its last occurrence has passed.
		}
	}
	for _, names := range [][]string{line.Expired, line.Unfunded, line.Cancelled} {
		for _, name := range names {
			left(name)
		}
	}
	require.Empty(t, line.Quarantined, "the module failed at height %d", line.Height)
	require.Len(t, alive, int(line.Pending), "height %d", line.Height)
	require.LessOrEqual(t, line.Ready, line.Pending)
}

// TestLongStateDoesNotDependOnTheMachine replays every scenario with one processor and with several, and compares the hash
// of the whole state after every block.
func TestLongStateDoesNotDependOnTheMachine(t *testing.T) {
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
	runner, err := replay.NewRunner(readScenario(t, file))
	require.NoError(t, err)
	for !runner.Done() {
		_, err := runner.Step()
		require.NoError(t, err)
		hashes = append(hashes, fmt.Sprintf("%X", runner.Chain().AppHash()))
	}
	return hashes
}

// checkBids: no fire pays more than its bid, and the tips are what the fires tipped and paid of their bids.
func checkBids(t require.TestingT, lines []replay.Line) {
	tips := math.ZeroInt()
	for _, line := range lines {
		for _, fired := range line.Fired {
			tips = tips.Add(amount(t, fired.Tip)).Add(amount(t, fired.BidPaid))
			require.True(t, amount(t, fired.BidPaid).LTE(amount(t, fired.Bid)), "%v", fired)
		}
		require.Equal(t, tips.String(), line.Tips)
	}
}

// amount is an amount of a line; nothing is none.
func amount(t require.TestingT, text string) math.Int {
	if text == "" {
		return math.ZeroInt()
	}
	value, ok := math.NewIntFromString(text)
	require.True(t, ok, text)
	return value
}
