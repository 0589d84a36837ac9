package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cosmos-timers/timers/testutil/contracts"
	"github.com/cosmos-timers/timers/testutil/node"
)

const (
	// beatEvery is how many blocks lie between two beats.
	beatEvery = 3
	// leastBeats is how many of them are shown at least.
	leastBeats = 2
	// heartbeatFunds pay for the beats, in utmr.
	heartbeatFunds = 100_000
)

// heartbeat is a contract that schedules its own next call: clients/rust/fixtures/heartbeat.
type heartbeat struct {
	address string
	// timers are the ids of its timers so far, the last of them the one that waits.
	timers []string
	beats  int
}

// deploy stores the contract's code and makes one of it, which waits for its owner.
func (d *demo) deploy(ctx context.Context) error {
	file := filepath.Join(d.dir, "heartbeat.wasm")
	if err := os.WriteFile(file, contracts.Heartbeat, 0o600); err != nil {
		return err
	}
	fmt.Println("alice deploys a contract that will schedule itself:")
	stored, err := d.wasm(ctx, "store", file)
	if err != nil {
		return err
	}
	code := attribute(stored.Events, "store_code", "code_id")
	fmt.Printf("  %4d  heartbeat.wasm, %d bytes, is code %s\n", stored.Height, len(contracts.Heartbeat), code)
	made, err := d.wasm(ctx, "instantiate", code, fmt.Sprintf(`{"every":%d}`, beatEvery), "--label", "heartbeat", "--no-admin",
		"--amount", fmt.Sprintf("%dutmr", heartbeatFunds))
	if err != nil {
		return err
	}
	if d.heart.address = attribute(made.Events, "instantiate", "_contract_address"); d.heart.address == "" {
		return errors.New("no contract was made")
	}
	fmt.Printf("  %4d  contract %s has %d utmr to pay its beats from\n\n", made.Height, d.heart.address, heartbeatFunds)
	return nil
}

// startBeating lets the contract schedule its first beat; each beat schedules the next.
func (d *demo) startBeating(ctx context.Context) error {
	result, err := d.wasm(ctx, "execute", d.heart.address, `{"start":{}}`)
	if err != nil {
		return err
	}
	d.heart.timers = append(d.heart.timers, attribute(result.Events, "timers.v1.TimerScheduled", "id"))
	fmt.Printf("  %4d  alice: timerd tx wasm execute heartbeat '{\"start\":{}}'\n        the contract's first beat: due at %s, id %s; it beats every %d blocks\n",
		result.Height, attribute(result.Events, "timers.v1.TimerScheduled", "due"), short(d.heart.timers[0]), beatEvery)
	return nil
}

// stopBeating has the owner stop the contract, which cancels its timer, and shows what is left of both.
func (d *demo) stopBeating(ctx context.Context) error {
	result, err := d.wasm(ctx, "execute", d.heart.address, `{"stop":{}}`)
	if err != nil {
		return err
	}
	cancelled := attribute(result.Events, "timers.v1.TimerCancelled", "id")
	if cancelled == "" {
		return errors.New("the contract cancelled no timer when it was stopped")
	}
	// Those of blocks that no one was shown count too.
	count, err := d.beatsAt(ctx, result.Height)
	if err != nil {
		return err
	}
	var balance struct {
		Balance struct {
			Amount int64 `json:",string"`
		}
	}
	if err := d.query(ctx, &balance, "bank", "balance", d.heart.address, "utmr"); err != nil {
		return err
	}
	var left struct{ Timers []any }
	if err := d.query(ctx, &left, "timers", "list", d.heart.address); err != nil {
		return err
	}
	if d.heart.beats < leastBeats || len(left.Timers) > 0 {
		return fmt.Errorf("the contract beat %d times, want %d at least, and left %d timers, want none", d.heart.beats, leastBeats, len(left.Timers))
	}
	spent := heartbeatFunds - balance.Balance.Amount
	fmt.Printf("\n  %4d  alice stopped the contract: timer %s cancelled; %d beats cost it %d utmr, %d each\n",
		result.Height, short(cancelled), count, spent, spent/int64(count))
	return nil
}

// readBeat tells what a block's event says of the contract; false if the event is not about it.
func (d *demo) readBeat(ctx context.Context, height int64, kind string, a map[string]string) (string, bool, error) {
	if d.heart.address == "" || a["actor"] != d.heart.address {
		return "", false, nil
	}
	switch kind {
	case "TimerScheduled":
		d.heart.timers = append(d.heart.timers, a["id"])
		return fmt.Sprintf("the contract is called, and schedules its next beat %s for height %s", short(a["id"]), a["due"]), true, nil
	case "TimerFired":
		d.heart.beats++
		count, err := d.beatsAt(ctx, height)
		if err != nil {
			return "", true, err
		}
		if a["success"] != "true" || count != d.heart.beats {
			return "", true, fmt.Errorf("beat %d at height %d: the contract counts %d (%s/%s)", d.heart.beats, height, count, a["codespace"], a["code"])
		}
		return fmt.Sprintf("it counts %d: %s cycles, %s cells, paid %s, refunded %s",
			count, a["cycles"], a["cells"], a["paid"], a["refunded"]), true, nil
	}
	return "", true, fmt.Errorf("the contract's timer met %s at height %d", kind, height)
}

// beatsAt asks the contract how often it had beaten at a height.
func (d *demo) beatsAt(ctx context.Context, height int64) (int, error) {
	var beats struct{ Data struct{ Count int } }
	err := d.query(ctx, &beats, "wasm", "contract-state", "smart", d.heart.address, `{"beats":{}}`, "--height", fmt.Sprint(height))
	return beats.Data.Count, err
}

func (d *demo) query(ctx context.Context, into any, args ...string) error {
	out, err := d.node.CLI(ctx, append(append([]string{"query"}, args...), "--output", "json")...)
	if err != nil {
		return err
	}
	return json.Unmarshal(out, into)
}

// wasm sends one of alice's transactions about contracts, which must succeed.
func (d *demo) wasm(ctx context.Context, args ...string) (node.TxResult, error) {
	result, err := d.node.Tx(ctx, "alice", append([]string{"wasm"}, args...)...)
	if err == nil && result.Code != 0 {
		err = fmt.Errorf("%s/%d: %s", result.Codespace, result.Code, result.Log)
	}
	return result, err
}

// attribute of the first event of a type; "" if there is none.
func attribute(events []node.Event, kind, name string) string {
	for _, event := range events {
		if event.Type == kind {
			return event.Attributes[name]
		}
	}
	return ""
}
