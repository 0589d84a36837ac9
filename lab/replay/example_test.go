package replay_test

import (
	"fmt"

	"github.com/cosmos-timers/timers/lab/replay"
	"github.com/cosmos-timers/timers/lab/scenario"
)

// A scenario is a workload written down, such as one from a bug report. It runs without a node, and says after each
// block what happened.
func Example() {
	workload, err := scenario.Parse([]byte(`{
		"accounts": {"alice": "1000000", "poor": "50"},
		"blocks": 2,
		"ops": [
			{"at": 1, "op": "schedule", "as": "first", "actor": "alice", "height": 2, "gas_limit": 100000, "do": {"cycles": 60000, "cells": 10}},
			{"at": 1, "op": "schedule", "as": "second", "actor": "poor", "height": 2}
		]
	}`))
	if err != nil {
		panic(err)
	}
	err = replay.Run(workload, func(line *replay.Line) error {
		for _, fired := range line.Fired {
			fmt.Printf("height %d: %s fired, %d cycles for %s\n", line.Height, fired.Timer, fired.Cycles, fired.Paid)
		}
		for _, timer := range line.Unfunded {
			fmt.Printf("height %d: %s can't be paid\n", line.Height, timer)
		}
		return nil
	})
	if err != nil {
		panic(err)
	}
	// Output:
	// height 2: first fired, 80000 cycles for 161
	// height 2: second can't be paid
}
