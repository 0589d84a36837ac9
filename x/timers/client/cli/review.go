package cli

import (
	"fmt"
	"strconv"
	"time"

	"cosmossdk.io/math"

	"github.com/cosmos/cosmos-sdk/client/flags"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/client/bids"
	"github.com/cosmos-timers/timers/x/timers/client/course"
	"github.com/cosmos-timers/timers/x/timers/client/draft"
	"github.com/cosmos-timers/timers/x/timers/client/dryrun"
	"github.com/cosmos-timers/timers/x/timers/client/outlook"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// review is a timer as it will be when the transaction is through, and what is found out about it before that is sent: what
// its messages would do now, what a fire costs, who pays, and what of all that could not come true. The latter are
// objections, which --force turns into warnings.
type review struct {
	d       *draft.Draft
	ahead   *outlook.Outlook
	plan    outlook.Plan
	spec    *types.TimerSpec
	sponsor *outlook.Sponsor
	result  dryrun.Result
	// keeps: neither what the timer does nor when changes. That its messages would fail now is no reason to refuse another change.
	keeps bool
	// maxCharge is what the plan's default for it comes to; empty where that is no bound, and without a default.
	maxCharge string
}

// try runs the messages as they are now, and returns the gas limit that they need if that is asked for, or none is stated for a
// new timer; otherwise the one that is stated.
func (r *review) try(stated uint64, isNew bool) (limit uint64, err error) {
	d := r.d
	if len(d.Messages) == 0 {
		if d.AutoGas {
			return 0, fmt.Errorf("--%s %s is for messages, which a node can try: state a number of cycles", bids.FlagGasLimit, bids.AutoGas)
		}
		return stated, nil
	}
	if r.plan.Actor != d.Signer.Text {
		// A dry run is a transaction of the signer's: it would say what the signer may do.
		d.Notef("its messages are not tried: they run as %s, for which %s can't sign", d.Name(r.plan.Actor), d.Name(d.Signer.Text))
		if d.AutoGas {
			return 0, fmt.Errorf("--%s %s: no node has tried the messages: state a number of cycles", bids.FlagGasLimit, bids.AutoGas)
		}
		return stated, nil
	}
	if !d.Offline && d.IsMultisig() {
		d.Notef("its messages are not tried: %s is a multisig, whose transactions no node simulates", d.Name(d.Signer.Text))
	}
	r.result, limit = dryrun.Try(d.Job, d.Messages, nil), stated
	if d.AutoGas || isNew && stated == 0 {
		found, err := r.result.GasLimit(&r.ahead.Config, d.Messages, r.ahead.Prices.MaxCyclesPerFire)
		switch {
		case err == nil:
			limit = found
			d.Notef("--%s %s: %s", bids.FlagGasLimit, bids.AutoGas, plain.Count(limit, "cycle"))
		case d.AutoGas && r.result.Failure == "":
			return 0, fmt.Errorf("--%s %s: %w: state a number of cycles", bids.FlagGasLimit, bids.AutoGas, err)
		}
	}
	if r.result.Failure != "" {
		r.fails("it would fail if it ran now: %s", r.result.Failure)
	}
	return limit, nil
}

// fails says that a dry run failed: an objection to what is new, and a warning of what the timer does already.
func (r *review) fails(format string, args ...any) {
	if r.keeps {
		r.d.Notef("warning: "+format+". This change is no cause of it", args...)
		return
	}
	r.d.Object(format, args...)
}

// judge says what a fire costs and how long it waits, and objects to what can't come true.
func (r *review) judge() error {
	d := r.d
	if r.spec != nil {
		warnOfOwnWatch(d, r.spec, r.result)
		if err := r.timeouts(); err != nil {
			return err
		}
	}
	r.plan.Leaves = outlook.LeavesOf(d.Codec, d.Messages, r.plan.Actor)
	if r.result.Tried && r.result.Failure == "" {
		r.plan.Leaves = outlook.LeftIn(r.result.Events, r.plan.Actor)
	}
	e, err := r.ahead.Advise(d.Job, r.plan)
	if err != nil {
		return err
	}
	if r.plan.Limits.DefaultCharge {
		r.maxCharge = r.ahead.DefaultMaxCharge(d.Job, e, r.plan.Bid)
	}
	if e == nil {
		return nil
	}
	at := time.Time{}
	if r.plan.Course.Known() {
		at = r.plan.Course.Next()
	}
	if err := r.sponsor.Covers(d.Job, e, at); err != nil {
		return err
	}
	if err := r.ahead.NoteCosts(d.Job, r.plan, r.sponsor, e); err != nil {
		return err
	}
	return r.holdPreCharge(e)
}

// holdPreCharge tries the messages again where the signer pays for the fire too: with what the fire and this transaction debit
// gone already.
func (r *review) holdPreCharge(e *types.QueryEstimateResponse) error {
	d := r.d
	if !r.result.Tried || r.result.Failure != "" {
		return nil
	}
	preCharge, known := types.ParseAmount(e.PreCharge)
	if r.plan.Payer != d.Signer.Text || !known || !preCharge.IsPositive() {
		d.Notef("it would succeed if it ran now")
		return nil
	}
	fee, err := feeOf(d)
	if err != nil {
		return err
	}
	held := fee.Add(sdk.NewCoin(e.FeeDenom, preCharge))
	if again := dryrun.Try(d.Job, d.Messages, held); again.Failure != "" {
		r.fails("it would fail if it ran now, once the %s%s pre-charged%s are debited: %s", e.PreCharge, plain.Clean(e.FeeDenom), beside(fee), again.Failure)
		return nil
	}
	d.Notef("it would succeed if it ran now, the pre-charge debited")
	return nil
}

func beside(fee sdk.Coins) string {
	if fee.IsZero() {
		return ""
	}
	return " and this transaction's fee of " + fee.String()
}

// feeOf is what the signer pays for the transaction itself, at the gas that is stated or the SDK's default: nothing where a granter
// pays.
func feeOf(d *draft.Draft) (sdk.Coins, error) {
	if !d.FeeGranter.Empty() && !d.FeeGranter.Equals(d.FromAddress) {
		return nil, nil
	}
	if text, err := d.Flags.GetString(flags.FlagFees); err != nil || text != "" {
		fee, parseErr := sdk.ParseCoinsNormalized(text)
		if err == nil {
			err = parseErr
		}
		return fee, err
	}
	text, err := d.Flags.GetString(flags.FlagGasPrices)
	if err != nil {
		return nil, err
	}
	prices, err := sdk.ParseDecCoins(text)
	if err != nil {
		return nil, err
	}
	gas := uint64(flags.DefaultGasLimit)
	if stated, err := strconv.ParseUint(d.Flags.Lookup(flags.FlagGas).Value.String(), 10, 63); err == nil {
		gas = stated
	}
	fee := sdk.Coins{}
	for _, price := range prices {
		fee = fee.Add(sdk.NewCoin(price.Denom, price.Amount.Mul(math.LegacyNewDecFromInt(math.NewIntFromUint64(gas))).Ceil().TruncateInt()))
	}
	return fee, nil
}

// timeouts objects to a transfer over IBC that gives up before a fire comes.
func (r *review) timeouts() error {
	ends, found := outlook.TimeoutOf(r.d.Codec, r.d.Messages)
	if !found {
		return nil
	}
	c, err := r.d.Clock()
	if err != nil {
		return err
	}
	due := r.plan.Course.Next()
	if !ends.After(due) {
		r.d.Object("the transfer gives up at %s, and the timer is due at about %s: it would come back at each fire; state a later timeout_timestamp",
			c.Stamp(ends), c.Stamp(due))
		return nil
	}
	fires := 0
	for at := range r.plan.Course.Fires() {
		if !ends.After(at) {
			r.d.Object("the transfer gives up at %s: of the fires, the first %d come before that, and each later one would come back", c.Stamp(ends), fires)
			return nil
		}
		if fires++; fires == mostFires {
			return nil
		}
	}
	return nil
}

// mostFires is how many fires are looked at one by one.
const mostFires = 10_000

// promises objects to a number of fires of which not all fit into the timer's life, and to a life in which none does.
func promises(d *draft.Draft, r *course.Course, msg *types.MsgScheduleTimer) {
	left := msg.Spec.Repetitions()
	if msg.Spec.Trigger.Interval == nil && msg.Spec.Trigger.Calendar == nil {
		return
	}
	fit, exact := r.Fit(r.Ends())
	if !exact || fit > 0 && fit >= left {
		return
	}
	apart := ""
	if i := msg.Spec.Trigger.Interval; i != nil {
		apart = fmt.Sprintf(", %s apart", plain.Count(i.Every, "block"))
	}
	fits := plain.Thousands(fit) + " fit"
	if fit == 1 {
		fits = "1 fits"
	}
	ends, why := lifeEnds(d, r, msg)
	if left == 0 {
		d.Object("it would never fire: it ends at %s, %s", ends, why)
		return
	}
	if msg.Spec.ExpiresAt == 0 && msg.Spec.ExpiresTime == 0 {
		why = "the longest that a timer lives; extend it before that"
	}
	d.Object("%s of %s%s: it ends at %s, %s", fits, plain.Count(left, "fire"), apart, ends, why)
}

// lifeEnds is when a timer ends at the latest, and why.
func lifeEnds(d *draft.Draft, r *course.Course, msg *types.MsgScheduleTimer) (ends, why string) {
	height, at := r.LastHeight(), r.LastTime()
	byHeight := at == 0
	why = "the longest life of a timer"
	if byHeight && msg.Spec.ExpiresAt != 0 || !byHeight && msg.Spec.ExpiresTime != 0 {
		why = "as stated"
	}
	if byHeight {
		return d.Date(height), why
	}
	return d.Stamp(at), why
}
