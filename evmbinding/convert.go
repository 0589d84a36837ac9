package evmbinding

import (
	"encoding/hex"
	"math"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"

	sdkmath "cosmossdk.io/math"

	sdkquery "github.com/cosmos/cosmos-sdk/types/query"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// timeOf is a second as the module has it.
func timeOf(second uint64) (int64, error) {
	if second > math.MaxInt64 {
		return 0, types.ErrInvalidTime.Wrapf("second %d", second)
	}
	return int64(second), nil
}

// rows are those of a spec that a trigger states: what it leaves zero has its default.
var rows = []string{
	"trigger", "repeat.remaining", "repeat.missed", "repeat.window", "repeat.jitter", "repeat.on_failure", "repeat.max_failures",
}

// stated is the trigger as the module has it, and how it repeats. That exactly one kind is stated the module checks.
func (t *trigger) stated() (types.TimerSpec, error) {
	spec := types.TimerSpec{Trigger: types.Trigger{After: t.AfterBlocks}}
	all := &spec.Trigger
	if t.Every == 0 {
		all.Height = t.Height
	}
	if t.Time != 0 {
		second, err := timeOf(t.Time)
		if err != nil {
			return spec, err
		}
		at := time.Unix(second, 0).UTC()
		all.Time = &at
	}
	if t.Every != 0 {
		all.Interval = &types.IntervalTrigger{Every: t.Every, First: t.Height}
		if t.Repeat.FromSchedule {
			all.Interval.From = types.FromSchedule
		}
	}
	var err error
	if t.Calendar.stated() {
		if all.Calendar, err = t.Calendar.rule(); err != nil {
			return spec, err
		}
	}
	if len(t.Watch) > 0 {
		keys, err := keysOf(t.Watch)
		if err != nil {
			return spec, err
		}
		all.Watch = &types.WatchTrigger{Keys: keys, Cooldown: t.Cooldown}
	}
	if repeat := t.repetitions(); repeat != (types.Repeat{}) {
		spec.Repeat = &repeat
	}
	return spec, t.checkUnused()
}

// repetitions are what a trigger states of them.
func (t *trigger) repetitions() types.Repeat {
	all := types.Repeat{
		Remaining: t.Count, Window: t.Repeat.Window, Jitter: t.Repeat.Jitter, OnFailure: types.OnFailure(t.Repeat.OnFailure),
		MaxFailures: t.Repeat.MaxFailures,
	}
	if t.Repeat.Each {
		all.Missed = types.MissedEach
	}
	return all
}

// checkUnused refuses what is stated and means nothing for the kind of trigger.
func (t *trigger) checkUnused() error {
	repeats := t.Every != 0 || t.Calendar.stated()
	switch {
	case t.Count != 0 && !repeats && len(t.Watch) == 0:
		return types.ErrUnsupportedTimerType.Wrap("count is stated for a trigger that fires once")
	case t.Cooldown != 0 && len(t.Watch) == 0:
		return types.ErrUnsupportedTimerType.Wrap("cooldown is stated without a watch")
	case t.Repeat != (repeat{}) && !repeats:
		return types.ErrUnsupportedTimerType.Wrap("repeat is stated for a trigger that is neither an interval nor a calendar")
	case t.Repeat.FromSchedule && t.Every == 0:
		return types.ErrUnsupportedTimerType.Wrap("fromSchedule is stated without an interval")
	}
	return nil
}

// cron is the rule for local minutes.
func (c *calendar) cron() types.CronRule {
	return types.CronRule{
		Minutes: c.MinuteSet, Hours: c.HourSet, Days: c.DaySet, LastDay: c.LastDay, Months: c.MonthSet, Weekdays: c.WeekdaySet,
	}
}

// stated reports whether anything of it is.
func (c *calendar) stated() bool {
	return c.EverySeconds != 0 || c.Anchor != 0 || c.cron() != (types.CronRule{}) ||
		c.OffsetMinutes != 0 || len(c.Transitions) > 0 || c.OffsetFinal
}

// rule is the calendar as the module has it.
func (c *calendar) rule() (*types.CalendarTrigger, error) {
	all := &types.CalendarTrigger{OffsetMinutes: c.OffsetMinutes, OffsetFinal: c.OffsetFinal}
	if c.EverySeconds != 0 || c.Anchor != 0 {
		anchor, err := timeOf(c.Anchor)
		if err != nil {
			return nil, err
		}
		all.Every = &types.EveryRule{Seconds: c.EverySeconds, Anchor: anchor}
	}
	if rule := c.cron(); rule != (types.CronRule{}) {
		all.Cron = &rule
	}
	for _, change := range c.Transitions {
		from, err := timeOf(change.From)
		if err != nil {
			return nil, err
		}
		all.Transitions = append(all.Transitions, types.OffsetTransition{From: from, OffsetMinutes: change.OffsetMinutes})
	}
	return all, nil
}

// state gives a spec what options come to.
func (o *options) state(c *invocation, spec *types.TimerSpec) (err error) {
	spec.GasLimit, spec.CellLimit, spec.ExpiresAt, spec.Name = o.GasLimit, o.ByteLimit, o.ExpiresAt, o.Name
	spec.OnUnfunded = types.OnUnfunded(o.OnUnfunded)
	if o.Renew {
		repeat := types.Repeat{}
		if spec.Repeat != nil {
			repeat = *spec.Repeat
		}
		repeat.Renew = true
		spec.Repeat = &repeat
	}
	if spec.ExpiresTime, err = timeOf(o.ExpiresTime); err != nil {
		return err
	}
	if o.MaxCharge != nil && o.MaxCharge.Sign() > 0 {
		most := unitsOf(o.MaxCharge)
		if most.IsZero() {
			return types.ErrInvalidBid.Wrapf("maxCharge of %s wei is less than one unit of the fee denom", o.MaxCharge)
		}
		spec.MaxCharge = most.String()
	}
	if spec.Bid, err = bidOf(o.MaxFeePerGas, o.MaxPriorityFeePerGas, o.Tier); err != nil {
		return err
	}
	if o.FeePayer != (common.Address{}) {
		if spec.FeePayer, err = c.text(o.FeePayer); err != nil {
			return err
		}
	}
	if o.Retries != 0 || o.RetryAfter != 0 {
		spec.Retry = &types.Retry{Max: o.Retries, After: o.RetryAfter}
	}
	spec.OnlyIf, err = keysOf(o.OnlyIf)
	return err
}

// stated are the fields of a spec that have a value: an update states no others, since 0 in the ABI is nothing.
func stated(spec *types.TimerSpec) (fields []string) {
	for {
		field := spec.Beyond(fields)
		if field == "" {
			return fields
		}
		fields = append(fields, field)
	}
}

// checkUpdate refuses options that an update does not change.
func (o *options) checkUpdate() error {
	if o.ExpiresAt != 0 || o.ExpiresTime != 0 || o.Renew || o.FeePayer != (common.Address{}) || o.Retries != 0 || o.RetryAfter != 0 ||
		o.OnUnfunded != 0 || o.Name != "" || len(o.OnlyIf) > 0 {
		return types.ErrNothingToUpdate.Wrap("an update changes payload, gasLimit, byteLimit, maxCharge and the bid; extend changes the ends")
	}
	return nil
}

// bidOf is a bid in wei per unit of size, or a tier; nil if neither is stated.
func bidOf(maxFee, maxPriority *big.Int, tier uint8) (*types.Bid, error) {
	if maxFee == nil || maxPriority == nil || maxFee.Sign() == 0 && maxPriority.Sign() == 0 {
		if tier == 0 {
			return nil, nil
		}
		return &types.Bid{Tier: types.PriorityTier(tier)}, nil
	}
	fee, err := priceOf(maxFee)
	if err != nil {
		return nil, err
	}
	priority, err := priceOf(maxPriority)
	if err != nil {
		return nil, err
	}
	return &types.Bid{
		Static: &types.StaticBid{MaxFeePerCycle: decimal.Of(fee), MaxPriorityFeePerCycle: decimal.Of(priority)},
		Tier:   types.PriorityTier(tier),
	}, nil
}

// ---- questions

// info is a timer by its owner and id.
func (c *invocation) info(owner common.Address, id [32]byte) (*types.TimerInfo, error) {
	actor, err := c.text(owner)
	if err != nil {
		return nil, err
	}
	response, err := c.queries.Timer(c.ctx, &types.QueryTimerRequest{Actor: actor, Id: hex.EncodeToString(id[:])})
	if err != nil {
		return nil, err
	}
	return &response.Timer, nil
}

// infoOf is a timer as contracts see it.
func infoOf(owner common.Address, t *types.TimerInfo) (info, error) {
	status := &t.Status
	maxCharge, err := weiOf(t.Spec.MaxCharge)
	if err != nil {
		return info{}, err
	}
	paid := new(big.Int)
	if status.LastOutcome != nil {
		paid.Mul(status.LastOutcome.Paid.BigInt(), weiPerUnit())
	}
	id, err := hex.DecodeString(t.Id)
	return info{
		Id: common.BytesToHash(id), Owner: owner, Status: uint8(status.Phase), HoldReason: uint8(status.HoldReason),
		Due: status.Due, DueTime: seconds(status.DueTime), ExpiresAt: status.ExpiresAt, ExpiresTime: seconds(status.ExpiresTime),
		Fires: uint64(status.FireSeq), GasLimit: status.GasLimit, ByteLimit: status.CellLimit, MaxCharge: maxCharge,
		LastSuccess: status.LastOutcome != nil && status.LastOutcome.Success, LastPaid: paid, Handler: t.Spec.Call.Handler, Name: t.Spec.Name,
	}, err
}

func (c *invocation) timer() ([]any, error) {
	owner := c.args[0].(common.Address)               //nolint:errcheck // the type of the ABI
	found, err := c.info(owner, c.args[1].([32]byte)) //nolint:errcheck // the type of the ABI
	if err != nil {
		return nil, err
	}
	answer, err := infoOf(owner, found)
	return []any{answer}, err
}

// maxListed bounds the timers of one answer.
const maxListed = 100

func (c *invocation) timersOf() ([]any, error) {
	owner, offset, limit := c.args[0].(common.Address), c.args[1].(uint32), c.args[2].(uint32) //nolint:errcheck // the types of the ABI
	actor, err := c.text(owner)
	if err != nil {
		return nil, err
	}
	response, err := c.queries.TimersByActor(c.ctx, &types.QueryTimersByActorRequest{
		Actor: actor, Pagination: &sdkquery.PageRequest{Offset: uint64(offset), Limit: uint64(min(max(limit, 1), maxListed))},
	})
	if err != nil {
		return nil, err
	}
	all := make([]info, len(response.Timers))
	for i := range response.Timers {
		if all[i], err = infoOf(owner, &response.Timers[i]); err != nil {
			return nil, err
		}
	}
	if limit == 0 {
		all = nil
	}
	return []any{all, response.Total}, nil
}

func (c *invocation) occurrences() ([]any, error) {
	args, err := arguments[struct {
		Trigger trigger
		Limit   uint32
	}](c)
	if err != nil {
		return nil, err
	}
	stated, err := args.Trigger.stated()
	if err != nil {
		return nil, err
	}
	return c.upcoming(args.Limit, types.QueryOccurrencesRequest{Spec: &stated})
}

func (c *invocation) occurrencesOf() ([]any, error) {
	args, err := arguments[struct {
		Owner common.Address
		Id    [32]byte
		Limit uint32
	}](c)
	if err != nil {
		return nil, err
	}
	actor, err := c.text(args.Owner)
	if err != nil {
		return nil, err
	}
	return c.upcoming(args.Limit, types.QueryOccurrencesRequest{Actor: actor, Id: hex.EncodeToString(args.Id[:])})
}

// upcoming are at most limit occurrences, and at most keeper.MaxOccurrences.
func (c *invocation) upcoming(limit uint32, request types.QueryOccurrencesRequest) ([]any, error) {
	// For the module 0 is its default.
	request.Limit = min(max(limit, 1), keeper.MaxOccurrences)
	response, err := c.queries.Occurrences(c.ctx, &request)
	if err != nil {
		return nil, err
	}
	found := response.Occurrences[:min(len(response.Occurrences), int(limit))]
	due := make([]uint64, len(found))
	for i := range due {
		due[i] = found[i].Due
	}
	return []any{due, response.ByTime, response.More || len(found) < len(response.Occurrences)}, nil
}

func (c *invocation) estimate() ([]any, error) {
	args, err := arguments[struct {
		GasLimit             uint64
		ByteLimit            uint64
		MaxFeePerGas         *big.Int
		MaxPriorityFeePerGas *big.Int
		Tier                 uint8
	}](c)
	if err != nil {
		return nil, err
	}
	actor, err := c.text(c.caller)
	if err != nil {
		return nil, err
	}
	bid, err := bidOf(args.MaxFeePerGas, args.MaxPriorityFeePerGas, args.Tier)
	if err != nil {
		return nil, err
	}
	request := &types.QueryEstimateRequest{Actor: actor, GasLimit: args.GasLimit, CellLimit: args.ByteLimit}
	if bid != nil {
		if request.Tier = bid.Tier; bid.Static != nil {
			request.MaxFee, request.MaxPriority = bid.Static.MaxFeePerCycle.Text(), bid.Static.MaxPriorityFeePerCycle.Text()
		}
	}
	e, err := c.queries.Estimate(c.ctx, request)
	if err != nil {
		return nil, err
	}
	answer := quote{
		GasLimit: e.GasLimit, ByteLimit: e.CellLimit, IntrinsicGas: e.IntrinsicCycles, WaitBlocks: e.WaitBlocks,
		PricedOut: e.Basis == types.BasisPricedOut,
	}
	if answer.MaxCost, err = weiOf(e.PreCharge); err != nil {
		return nil, err
	}
	if answer.BytePrice, err = weiPriceOf(e.CellBasefee); err != nil {
		return nil, err
	}
	answer.GasPrice, err = gasPriceOf(e)
	return []any{answer}, err
}

// gasPriceOf is what a cycle of a fire that writes little costs, in wei.
func gasPriceOf(e *types.QueryEstimateResponse) (*big.Int, error) {
	sum := sdkmath.LegacyZeroDec()
	for _, price := range []string{e.CycleBasefee, e.LaneFee, e.Priority} {
		dec, err := sdkmath.LegacyNewDecFromStr(price)
		if err != nil {
			return nil, types.ErrInternal.Wrapf("%.80q is no price", price)
		}
		sum = sum.Add(dec)
	}
	return weiPriceOf(sum.String())
}
