package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cosmos-timers/timers/testutil/node"
)

// maxFiresPerActor of the demo's chain: of two timers of bob's that are due at once and may fire in that block alone,
// the second expires.
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
	// form says what the timer does and when, as it is typed behind "timerd tx timers schedule".
	form []string
	// msgs go to a file for --msgs, where the form says neither.
	msgs    []any
	callOff bool
}

// Of the top-up: carol's balance in utmr after she spent, what is too low, and what she is sent then.
const (
	carolFunds = 10_000_000_000
	carolSpend = 9_999_000_000
	tooLow     = 2_000_000
	topUp      = 5_000_000
	// poorKeeps pays for one more transaction, and leaves less than a pre-charge.
	poorKeeps = node.TxFee + 100
	poorFunds = 10_000_000_000
)

// schedule makes the accounts' balances and schedules the timers.
func (d *demo) schedule(ctx context.Context) error {
	var err error
	if d.alice, err = d.node.Address(ctx, "alice"); err != nil {
		return err
	}
	if d.bob, err = d.node.Address(ctx, "bob"); err != nil {
		return err
	}
	if err := d.tx(ctx, "poor", "bank", "send", "poor", d.alice, fmt.Sprintf("%dutmr", poorFunds-node.TxFee-poorKeeps)); err != nil {
		return err
	}
	height, err := d.node.Status(ctx)
	if err != nil {
		return err
	}
	// Thirteen transactions, each awaited, take about as many blocks, or more of them on a slow machine: the three so far tell.
	first := height + 5 + 13*max(1, (height-d.begun+1)/3)
	at := func(height int64) []string { return []string{"--at", fmt.Sprint(height)} }
	once := func(height int64) []string { return append(at(height), "--expires-at", fmt.Sprint(height)) }
	jobs := []job{
		{name: "one payment", owner: "alice", form: []string{"send", "bob", "1000utmr", "--after", (30 * d.pause).String()}},
		{name: "three messages", owner: "alice", form: at(first + 1), msgs: []any{send(d.alice, d.bob, 1), send(d.alice, d.bob, 2), send(d.alice, d.bob, 3)}},
		{name: "more than she has", owner: "alice", form: append([]string{"send", "bob", fmt.Sprintf("%dutmr", int64(1)<<60), "--force"}, at(first+2)...)},
		{name: "schedules another", owner: "alice", form: at(first + 3), msgs: []any{d.plant(first + 6)}},
		{name: "payer too poor", owner: "poor", form: []string{"send", "bob", "1utmr", "--in", "20", "--force"}},
		{name: "bob's first", owner: "bob", form: append([]string{"send", "alice", "10utmr"}, once(first)...)},
		{name: "bob's second, too late", owner: "bob", form: append([]string{"send", "alice", "20utmr"}, once(first)...)},
		{name: "three times", owner: "alice", form: []string{"send", "bob", "3utmr", "--every", "2", "--count", "3", "--tier", "fast"}},
		{name: "called off", owner: "alice", form: []string{"send", "bob", "5utmr", "--at", "09:00"}, callOff: true},
		{name: "tops up carol", owner: "alice", form: []string{
			"send", "carol", fmt.Sprintf("%dutmr", topUp), "--watch", "bank:balance:carol:utmr", "--when", fmt.Sprintf("< %d", tooLow),
		}},
	}
	fmt.Println("what is typed behind \"timerd tx timers schedule\", with --gas-limit 100000 and --from:")
	for i, j := range jobs {
		if err := d.scheduleOne(ctx, i, j); err != nil {
			return fmt.Errorf("%q: %w", j.name, err)
		}
	}
	if err := d.startBeating(ctx); err != nil {
		return err
	}
	return d.spend(ctx)
}

// spend makes carol's balance too low, for which a timer waits.
func (d *demo) spend(ctx context.Context) error {
	if err := d.tx(ctx, "carol", "bank", "send", "carol", d.bob, fmt.Sprintf("%dutmr", carolSpend)); err != nil {
		return err
	}
	fmt.Printf("        carol spends %d utmr and has %d left\n", carolSpend, carolFunds-carolSpend-node.TxFee)
	return nil
}

func (d *demo) scheduleOne(ctx context.Context, i int, j job) error {
	form := j.form
	if j.msgs != nil {
		raw, err := json.Marshal(j.msgs)
		if err != nil {
			return err
		}
		file := filepath.Join(d.dir, fmt.Sprintf("msgs%d.json", i))
		if err := os.WriteFile(file, raw, 0o600); err != nil {
			return err
		}
		form = append([]string{"--msgs", file}, form...)
	}
	result, err := d.node.Tx(ctx, j.owner, append(append([]string{"timers", "schedule"}, form...), "--gas-limit", "100000")...)
	if err != nil {
		return err
	}
	if result.Code != 0 {
		return fmt.Errorf("%s/%d: %s", result.Codespace, result.Code, result.Log)
	}
	t := &timer{name: j.name, owner: j.owner, scheduled: result.Height}
	for _, event := range result.Events {
		if event.Type == "timers.v1.TimerScheduled" {
			a := event.Attributes
			t.id, t.due, t.expires = a["id"], heightOrTime(a["due"], a["due_time"]), heightOrTime(a["expires_at"], a["expires_time"])
		}
	}
	due := "due at " + t.due
	if slices.Contains(j.form, "--watch") {
		due, t.due = "due when that comes true", "watch"
	}
	d.timers = append(d.timers, t)
	fmt.Printf("  %4d  %s: %s\n        %q: %s, id %s\n", t.scheduled, j.owner, typed(form), t.name, due, short(t.id))
	if !j.callOff {
		return nil
	}
	if result, err = d.node.Tx(ctx, j.owner, "timers", "cancel", short(t.id)); err != nil {
		return err
	}
	if result.Code != 0 {
		return fmt.Errorf("cancel: %s", result.Log)
	}
	t.left, t.height = "cancelled", result.Height
	fmt.Printf("  %4d  %s: timerd tx timers cancel %s\n", t.height, t.owner, short(t.id))
	return nil
}

// heightOrTime is what an event states as a time in seconds since 1970, or as a height if that is 0.
func heightOrTime(height, seconds string) string {
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || n == 0 {
		return height
	}
	at := time.Unix(n, 0)
	if time.Until(at) > 24*time.Hour {
		return at.Format(time.DateOnly)
	}
	return at.Format(time.TimeOnly)
}

// typed is how arguments are typed: files by their names, what a shell would split or redirect in quotes.
func typed(args []string) string {
	words := make([]string, len(args))
	for i, arg := range args {
		if words[i] = filepath.Base(arg); strings.ContainsAny(arg, " <") {
			words[i] = "'" + arg + "'"
		}
	}
	return strings.Join(words, " ")
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
		"spec": map[string]any{
			"trigger": map[string]any{"height": fmt.Sprint(height)}, "gas_limit": "100000",
			"call": map[string]any{"payload": accountPayload(sendBytes(d.alice, d.bob, "utmr", "7"))},
		},
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
