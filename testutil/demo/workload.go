package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// maxFiresPerActor of the demo's chain: of several timers that are due at once, one goes after the other, and the last
// of bob's expires before its turn.
const maxFiresPerActor = 1

func onePerActor(state map[string]json.RawMessage) error {
	var timers map[string]json.RawMessage
	if err := json.Unmarshal(state["timers"], &timers); err != nil {
		return err
	}
	var config map[string]any
	if err := json.Unmarshal(timers["config"], &config); err != nil {
		return err
	}
	config["max_fires_per_actor"] = maxFiresPerActor
	var err error
	if timers["config"], err = json.Marshal(config); err != nil {
		return err
	}
	state["timers"], err = json.Marshal(timers)
	return err
}

// job is a timer to schedule.
type job struct {
	name, owner string
	msgs        []any
	// in is how many blocks from the start it is due, life how many blocks more it may fire; 0 means the default.
	in, life int64
	// more are further flags; without in they say what makes it due.
	more    []string
	callOff bool
}

// schedule makes the accounts' balances and schedules the timers.
func (d *demo) schedule(ctx context.Context) error {
	var err error
	if d.alice, err = d.node.Address(ctx, "alice"); err != nil {
		return err
	}
	if d.bob, err = d.node.Address(ctx, "bob"); err != nil {
		return err
	}
	poor, err := d.node.Address(ctx, "poor")
	if err != nil {
		return err
	}
	// What is left after this and one more transaction does not cover a pre-charge.
	if err := d.tx(ctx, "poor", "bank", "send", "poor", d.alice, "9999990000utmr"); err != nil {
		return err
	}
	height, err := d.node.Status(ctx)
	if err != nil {
		return err
	}
	// Fourteen transactions, each awaited, take about as many blocks, or more of them on a slow machine: the three so far tell.
	first := 5 + 14*max(1, (height-d.begun+1)/3)
	jobs := []job{
		{name: "one payment", owner: "alice", in: first, msgs: []any{send(d.alice, d.bob, 1_000)}},
		{name: "three messages", owner: "alice", in: first + 1, msgs: []any{send(d.alice, d.bob, 1), send(d.alice, d.bob, 2), send(d.alice, d.bob, 3)}},
		{name: "more than she has", owner: "alice", in: first + 2, msgs: []any{send(d.alice, d.bob, 1<<60)}},
		{name: "schedules another", owner: "alice", in: first + 3, msgs: []any{d.plant(height + first + 6)}},
		{name: "payer too poor", owner: "poor", in: first + 1, msgs: []any{send(poor, d.bob, 1)}},
		{name: "bob's first", owner: "bob", in: first, life: 1, msgs: []any{send(d.bob, d.alice, 10)}},
		{name: "bob's second", owner: "bob", in: first, life: 1, msgs: []any{send(d.bob, d.alice, 20)}},
		{name: "bob's third, too late", owner: "bob", in: first, life: 1, msgs: []any{send(d.bob, d.alice, 30)}},
		{name: "every two blocks", owner: "alice", in: first, more: []string{"--every", "2", "--count", "3"}, msgs: []any{send(d.alice, d.bob, 3)}},
		{name: "called off", owner: "alice", in: first + 500, msgs: []any{send(d.alice, d.bob, 5)}, callOff: true},
		// Last, so that no transaction of bob's changes it: the first payment that a timer makes to him does.
		{name: "when bob's purse changes", owner: "alice", more: []string{"--watch", "bank:balance:" + d.bob + ":utmr"}, msgs: []any{send(d.alice, d.bob, 4)}},
	}
	fmt.Println("scheduling timers, each in a transaction of its own:")
	for i, j := range jobs {
		if err := d.scheduleOne(ctx, i, j, height); err != nil {
			return fmt.Errorf("%q: %w", j.name, err)
		}
	}
	if err := d.startBeating(ctx); err != nil {
		return err
	}
	d.start, err = d.node.Status(ctx)
	return err
}

func (d *demo) scheduleOne(ctx context.Context, i int, j job, start int64) error {
	file := filepath.Join(d.dir, fmt.Sprintf("msgs%d.json", i))
	raw, err := json.Marshal(j.msgs)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		return err
	}
	args := append([]string{"timers", "schedule", "--msgs", file, "--gas-limit", "100000"}, j.more...)
	if j.in > 0 {
		args = append(args, "--at", fmt.Sprint(start+j.in))
	}
	if j.life > 0 {
		args = append(args, "--expires-at", fmt.Sprint(start+j.in+j.life))
	}
	result, err := d.node.Tx(ctx, j.owner, args...)
	if err != nil {
		return err
	}
	if result.Code != 0 {
		return fmt.Errorf("%s/%d: %s", result.Codespace, result.Code, result.Log)
	}
	t := &timer{name: j.name, owner: j.owner, scheduled: result.Height}
	for _, event := range result.Events {
		if event.Type == "timers.v1.TimerScheduled" {
			t.id, t.due, t.expires = event.Attributes["id"], event.Attributes["due"], event.Attributes["expires_at"]
		}
	}
	d.timers = append(d.timers, t)
	due := "due at " + t.due
	if j.in == 0 {
		due = "waits for a change"
	}
	fmt.Printf("  %4d  %-24s %-6s %s, id %s\n", t.scheduled, t.name, t.owner, due, short(t.id))
	if !j.callOff {
		return nil
	}
	owner, err := d.node.Address(ctx, j.owner)
	if err != nil {
		return err
	}
	if result, err = d.node.Tx(ctx, j.owner, "timers", "cancel", owner+"/"+short(t.id)); err != nil {
		return err
	}
	if result.Code != 0 {
		return fmt.Errorf("cancel: %s", result.Log)
	}
	t.left, t.height = "cancelled", result.Height
	fmt.Printf("  %4d  %-24s %-6s cancelled by its owner\n", t.height, t.name, t.owner)
	return nil
}

func (d *demo) tx(ctx context.Context, from string, args ...string) error {
	result, err := d.node.Tx(ctx, from, args...)
	if err == nil && result.Code != 0 {
		err = fmt.Errorf("%s/%d: %s", result.Codespace, result.Code, result.Log)
	}
	return err
}

func send(from, to string, amount int64) any {
	return map[string]any{
		"@type": "/cosmos.bank.v1beta1.MsgSend", "from_address": from, "to_address": to,
		"amount": []any{map[string]string{"denom": "utmr", "amount": fmt.Sprint(amount)}},
	}
}

// plant is a message by which a timer schedules a further one. The inner payload is bytes, not messages in JSON, so it is
// encoded here.
func (d *demo) plant(height int64) any {
	return map[string]any{
		"@type": "/timers.v1.MsgScheduleTimer", "sender": d.alice,
		"trigger": map[string]any{"height": fmt.Sprint(height)}, "gas_limit": "100000",
		"payload": accountPayload(sendBytes(d.alice, d.bob, "utmr", "7")),
	}
}

// accountPayload and sendBytes write protobuf by hand: field, length, bytes. The demo does without the SDK.
func accountPayload(send []byte) []byte {
	message := append(field(1, []byte("/cosmos.bank.v1beta1.MsgSend")), field(2, send)...)
	return field(1, message)
}

func sendBytes(from, to, denom, amount string) []byte {
	coin := append(field(1, []byte(denom)), field(2, []byte(amount))...)
	return append(append(field(1, []byte(from)), field(2, []byte(to))...), field(3, coin)...)
}

// field is a length-delimited protobuf field; all of these are shorter than 16 KiB.
func field(number byte, value []byte) []byte {
	header := []byte{number<<3 | 2}
	if n := len(value); n < 0x80 {
		header = append(header, byte(n))
	} else {
		header = append(header, byte(n&0x7f|0x80), byte(n>>7))
	}
	return append(header, value...)
}
