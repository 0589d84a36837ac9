package draft

import (
	"cmp"
	"fmt"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// FlagNext says that a timer that is resumed waits for its next repetition.
const FlagNext = "next"

// ResumeAt reads when a timer that is resumed fires.
func (d *Draft) ResumeAt() types.ResumeAt {
	if text, given := d.Stated(FlagNext); given && text == "true" {
		return types.ResumeNext
	}
	return types.ResumeUnspecified
}

// Skip reads of which of the signer's timers the next occurrences pass, and how many. It states which is the next: if that is another by
// the time the chain reads it, nothing passes. Without a node that is not known.
func (d *Draft) Skip(names []string) ([]sdk.Msg, error) {
	count := uint64(1)
	if text, given := d.Stated(flagCount); given {
		var err error
		if count, err = timespan.ParseCount(text, "number of occurrences"); err != nil {
			return nil, fmt.Errorf("--%s: %w", flagCount, err)
		}
		if count == 0 || count > uint64(types.MaxSkipped) {
			return nil, fmt.Errorf("--%s %d is out of bounds: want 1 to %d", flagCount, count, types.MaxSkipped)
		}
	}
	timers, err := d.chooseLive(choice{verb: "skip", names: names, takes: repeating})
	if err != nil {
		return nil, err
	}
	msgs := make([]sdk.Msg, len(timers))
	for i, timer := range timers {
		next, err := d.next(&timer)
		if err != nil {
			return nil, err
		}
		msgs[i] = &types.MsgSkipTimer{Sender: d.Signer.Text, Id: timer.ID, Name: timer.Name, Actor: timer.Actor, Count: uint32(count), From: next}
	}
	return msgs, nil
}

// next is the next occurrence of a timer that repeats, in seconds since 1970 or as a height; 0 without a node, and if it has none.
func (d *Draft) next(timer *job.Owned) (uint64, error) {
	live := timer.Live
	if live == nil {
		return 0, nil
	}
	if i := live.Spec.Trigger.Interval; i != nil && i.From != types.FromSchedule {
		return cmp.Or(live.Status.Since, live.Status.Due), nil
	}
	answer, err := types.NewQueryClient(d.Context).Occurrences(d.Ctx, &types.QueryOccurrencesRequest{
		Actor: cmp.Or(timer.Actor, d.Signer.Text), Id: timer.ID, Limit: 1,
	})
	if err != nil || len(answer.Occurrences) == 0 {
		return 0, err
	}
	return answer.Occurrences[0].At, nil
}

// Run reads of which of the signer's timers the next occurrence is due in the next block.
func (d *Draft) Run(names []string) ([]sdk.Msg, error) {
	timers, err := d.chooseLive(choice{verb: "run", names: names, takes: runnable})
	if err != nil {
		return nil, err
	}
	msgs := make([]sdk.Msg, len(timers))
	for i, timer := range timers {
		msgs[i] = &types.MsgRunTimer{Sender: d.Signer.Text, Id: timer.ID, Name: timer.Name, Actor: timer.Actor}
	}
	return msgs, nil
}

// repeating refuses a timer without occurrences to come.
func repeating(timer *types.TimerInfo) error {
	if timer.Spec.Trigger.Interval == nil && timer.Spec.Trigger.Calendar == nil {
		return fmt.Errorf("timer %s has no further occurrence: only a calendar or an interval has", timer.Id)
	}
	return nil
}

func runnable(timer *types.TimerInfo) error {
	if err := repeating(timer); err != nil {
		return err
	}
	if timer.Status.Phase != types.PhasePending {
		return fmt.Errorf("timer %s is not pending: only one that waits for its next occurrence can be run", timer.Id)
	}
	return nil
}
