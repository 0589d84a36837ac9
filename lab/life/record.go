package life

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	abci "github.com/cometbft/cometbft/abci/types"
	coretypes "github.com/cometbft/cometbft/rpc/core/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Node is what the recorder asks a node for.
type Node interface {
	Block(ctx context.Context, height *int64) (*coretypes.ResultBlock, error)
	BlockResults(ctx context.Context, height *int64) (*coretypes.ResultBlockResults, error)
}

// Recorder reads blocks of a node: its events, and the terms of the timers that its transactions schedule.
type Recorder struct {
	Node   Node
	Decode sdk.TxDecoder
	// Lane is that of the chain's config.
	Lane market.Capacity
	// Partial records timers that are beyond the model, and those that handlers schedule, without their terms.
	Partial bool
}

// prefix of the module's events, and the attributes that the checker reads.
const prefix = "timers.v1."

var attributes = map[string]bool{
	"id": true, "due": true, "due_time": true, "expires_at": true, "expires_time": true, "reason": true,
	"count": true, "next_due": true, "next_time": true, "success": true, "guarded": true, "fire_seq": true,
	"late": true, "occurrence": true, "index": true, "retries": true, "used_size": true,
	"cycles": true, "paid": true,
}

// Record reads one block. It fails at transactions that it can't decode, and where a timer's terms are beyond the
// model.
func (r *Recorder) Record(ctx context.Context, height int64) (Block, error) {
	header, err := r.Node.Block(ctx, &height)
	if err != nil {
		return Block{}, err
	}
	results, err := r.Node.BlockResults(ctx, &height)
	if err != nil {
		return Block{}, err
	}
	b := Block{Height: height, Time: header.Block.Time.Unix()}
	if len(results.TxsResults) != len(header.Block.Txs) {
		return b, fmt.Errorf("block %d has %d transactions and %d results", height, len(header.Block.Txs),
			len(results.TxsResults))
	}
	for i, result := range results.TxsResults {
		if result.Code != 0 {
			continue
		}
		tx, err := r.Decode(header.Block.Txs[i])
		if err != nil {
			return b, fmt.Errorf("block %d, transaction %d: %w", height, i, err)
		}
		if err := r.add(&b, result.Events, tx.GetMsgs()); err != nil {
			return b, fmt.Errorf("block %d, transaction %d: %w", height, i, err)
		}
	}
	if err := r.add(&b, results.FinalizeBlockEvents, nil); err != nil {
		return b, fmt.Errorf("block %d: %w", height, err)
	}
	return b, nil
}

// add adds the module's events, and to those of schedules the terms, which the messages have.
func (r *Recorder) add(b *Block, events []abci.Event, msgs []sdk.Msg) error {
	for _, raw := range events {
		kind, mine := strings.CutPrefix(raw.Type, prefix)
		if !mine {
			continue
		}
		all, e := map[string]string{}, Event{Kind: kind, Attributes: map[string]string{}}
		for _, a := range raw.Attributes {
			all[a.Key] = strings.Trim(a.Value, `"`)
			if value := all[a.Key]; attributes[a.Key] && value != "" && value != "0" && value != "false" {
				e.Attributes[a.Key] = value
			}
		}
		if kind == "TimerScheduled" {
			msg, err := scheduled(msgs, all["msg_index"])
			if err == nil {
				e.Terms, err = r.terms(msg, all)
			}
			if err != nil && !r.Partial {
				return fmt.Errorf("timer %s: %w", all["id"], err)
			}
		}
		b.Events = append(b.Events, e)
	}
	return nil
}

// scheduled is the message of an event.
func scheduled(msgs []sdk.Msg, index string) (*types.MsgScheduleTimer, error) {
	i, err := strconv.Atoi(index)
	if err != nil || i < 0 || i >= len(msgs) {
		return nil, fmt.Errorf("a timer was scheduled by message %q of %d, want one of the transaction itself", index,
			len(msgs))
	}
	msg, ok := msgs[i].(*types.MsgScheduleTimer)
	if !ok {
		return nil, fmt.Errorf("a timer was scheduled by a %T, want a MsgScheduleTimer", msgs[i])
	}
	return msg, nil
}

// terms are those of a message, with what the event says of defaults.
func (r *Recorder) terms(msg *types.MsgScheduleTimer, a map[string]string) (*Terms, error) {
	t := &Terms{
		Kind: Once, Due: number(a["due"]), At: number(a["due_time"]), Expires: number(a["expires_at"]),
		Ends:      number(a["expires_time"]),
		Remaining: int64(msg.Spec.Repetitions()), Size: int64(r.Lane.Size(uint64(number(a["gas_limit"])), uint64(number(a["cell_limit"])))),
	}
	if msg.Spec.Retry != nil {
		if msg.Spec.Retry.Backoff > 1 || len(msg.Spec.Retry.On) > 0 {
			return nil, errors.New("its retries come at growing distances or for some errors, which the model does not know")
		}
		t.RetryMax, t.RetryAfter = int64(msg.Spec.Retry.Max), int64(max(1, msg.Spec.Retry.After))
	}
	repeat := msg.Spec.Repeat
	switch trigger := msg.Spec.Trigger; {
	case repeat.GetRenew():
		return nil, errors.New("it renews itself, which the model does not know")
	case trigger.Interval != nil:
		t.Kind, t.Every = Interval, int64(trigger.Interval.Every)
		if trigger.Interval.From == types.FromSchedule {
			t.Kind = Rhythm
		}
	case trigger.Calendar != nil:
		if trigger.Calendar.Every == nil {
			return nil, errors.New("its calendar is no rule of equal distances: the model knows no other")
		}
		t.Kind, t.Every = Calendar, int64(trigger.Calendar.Every.Seconds)
	case trigger.Watch != nil:
		t.Kind, t.Cooldown = OnChange, int64(trigger.Watch.Cooldown)
	case trigger.Time != nil || t.At > 0:
		t.Kind = AtTime
	}
	if repeat.GetJitter() > 0 || repeat.GetOnFailure() == types.OnFailureSuspend {
		return nil, errors.New("it has a jitter, or is suspended by failures, which the model does not know")
	}
	t.Latest = t.recurs() && repeat.GetMissed() != types.MissedEach
	t.Window, t.Stops = int64(repeat.GetWindow()), repeat.GetOnFailure() == types.OnFailureStop
	return t, nil
}
