package cli

import (
	"fmt"
	"strconv"

	"cosmossdk.io/math"

	"github.com/cosmos/cosmos-sdk/client/flags"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/client/bids"
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
	d     *draft.Draft
	ahead *outlook.Outlook
	plan  outlook.Plan
	// due is when it fires first; 0 if that is not known.
	due     uint64
	trigger *types.Trigger
	sponsor *outlook.Sponsor
	result  dryrun.Result
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
		d.Object("it would fail if it ran now: %s", r.result.Failure)
	}
	return limit, nil
}

// judge says what a fire costs and how long it waits, and objects to what can't come true.
func (r *review) judge() error {
	d := r.d
	if r.trigger != nil {
		warnOfOwnWatch(d, r.trigger.Watch, r.result)
		if err := r.timeouts(); err != nil {
			return err
		}
	}
	e, err := r.ahead.Advise(d.Job, r.plan)
	if e == nil || err != nil {
		return err
	}
	if err := r.sponsor.Covers(d.Job, e, r.due); err != nil {
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
		d.Object("it would fail if it ran now, once the %s%s pre-charged%s are debited: %s", e.PreCharge, plain.Clean(e.FeeDenom), beside(fee), again.Failure)
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

// feeOf is what the signer pays for the transaction itself, at the gas that is stated or the SDK's default.
func feeOf(d *draft.Draft) (sdk.Coins, error) {
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
	if due := c.Expected(r.due); !ends.After(due) {
		r.d.Object("the transfer gives up at %s, and the timer is due at about %s: it would come back at each fire; state a later timeout_timestamp",
			c.Stamp(ends), c.Stamp(due))
		return nil
	}
	if i := r.trigger.Interval; i != nil && r.due != 0 && c.PaceErr == nil {
		fires := uint64(0)
		for at := r.due; fires < mostFires && ends.After(c.Expected(at)) && (i.Remaining == 0 || fires < i.Remaining); at += i.Every {
			fires++
		}
		if fires < mostFires && (i.Remaining == 0 || fires < i.Remaining) {
			r.d.Object("the transfer gives up at %s: of the fires, the first %d come before that, and each later one would come back", c.Stamp(ends), fires)
		}
	}
	return nil
}

// mostFires is how many fires are looked at one by one.
const mostFires = 10_000

// promises objects to a number of fires of which not all fit into the timer's life.
func promises(d *draft.Draft, ahead *outlook.Outlook, msg *types.MsgScheduleTimer) {
	i := msg.Trigger.Interval
	if i == nil || i.Remaining == 0 {
		return
	}
	now := ahead.Prices.Height
	ends := now + 1 + ahead.Config.MaxTtlBlocks
	why := "the longest that a timer lives; extend it before that"
	if msg.ExpiresAt != 0 && msg.ExpiresAt < ends {
		ends, why = msg.ExpiresAt, "as stated"
	}
	fit := draft.Fit(draft.FirstDue(msg, now), i.Every, ends)
	if fit >= i.Remaining {
		return
	}
	fits := plain.Thousands(fit) + " fit"
	if fit == 1 {
		fits = "1 fits"
	}
	d.Object("%s of %s fires, %s apart: it ends at %s, %s", fits, plain.Thousands(i.Remaining), plain.Count(i.Every, "block"), d.Date(ends), why)
}
