package evmbinding

import (
	"math"
	"math/big"
	"reflect"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"cosmossdk.io/core/address"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// What an owner states of a timer, as contracts do: the structs of contracts/ITimers.sol, for all who pack or unpack calls in Go,
// and what they are as the module's message. A row that the message gets later is added here and in ITimers.sol.

// TimerSpec is all that an owner states of a timer. Numbers of the EVM are not nil when it is packed.
type TimerSpec struct {
	Name                   string
	Trigger                Trigger
	Repeat                 Repeat
	Call                   TimerCall
	OnlyIf                 []WatchKey
	GasLimit, ByteLimit    uint64
	Bid                    Bid
	MaxCharge              *big.Int
	FeePayer               common.Address
	ExpiresAt, ExpiresTime uint64
	Retry                  Retry
	OnUnfunded             uint8
}

// Trigger is when a timer is due.
type Trigger struct {
	Height            uint64
	Interval          IntervalTrigger
	Watch             WatchTrigger
	Time, AfterBlocks uint64
	Calendar          CalendarTrigger
}

// IntervalTrigger is every so many blocks.
type IntervalTrigger struct {
	Every, First uint64
	From         uint8
}

// WatchTrigger is a change of state.
type WatchTrigger struct {
	Keys     []WatchKey
	Cooldown uint64
	Level    bool
}

// WatchKey is state that is watched, or compared.
type WatchKey struct {
	Source uint8
	Target common.Address
	Slot   [32]byte
	Name   string
	Key    []byte
	When   WatchCondition
}

// WatchCondition compares the value of a key.
type WatchCondition struct {
	Op    uint8
	Value *big.Int
}

// CalendarTrigger is by block time, again and again.
type CalendarTrigger struct {
	Every         EveryRule
	Cron          CronRule
	OffsetMinutes int32
	Transitions   []OffsetTransition
	OffsetFinal   bool
}

// EveryRule is every so many seconds.
type EveryRule struct{ Period, Anchor uint64 }

// CronRule is sets of local minutes.
type CronRule struct {
	MinuteSet                    uint64
	HourSet, DaySet              uint32
	LastDay                      bool
	MonthSet, WeekdaySet, NthSet uint32
}

// OffsetTransition is a change of the offset from UTC.
type OffsetTransition struct {
	From          uint64
	OffsetMinutes int32
}

// Repeat is what is stated of a trigger that repeats.
type Repeat struct {
	Remaining      uint64
	Missed         uint8
	Window, Jitter uint64
	OnFailure      uint8
	MaxFailures    uint32
	Renew          bool
}

// TimerCall is what a timer does. Its handlers are Callback, Call and OtherHandler.
type TimerCall struct {
	Handler uint8
	To      common.Address
	Value   *big.Int
	Payload []byte
}

// The handlers of contracts/ITimers.sol.
const (
	// Callback is HandlerCallback, and Call is HandlerCall.
	Callback uint8 = iota
	Call
	// OtherHandler is that of a timer which was scheduled otherwise.
	OtherHandler
)

// Bid is what a timer is willing to pay.
type Bid struct {
	StaticBid StaticBid
	Tier      uint8
	Agent     common.Address
	Price     *big.Int
}

// StaticBid states both prices.
type StaticBid struct{ MaxFeePerGas, MaxPriorityFeePerGas *big.Int }

// Retry repeats failed fires.
type Retry struct {
	Max     uint32
	Delay   uint64
	Backoff uint32
	On      []ErrorCode
}

// ErrorCode is a codespace and a code in it.
type ErrorCode struct {
	Codespace string
	Code      uint32
}

// timeOf is a second as the module has it.
func timeOf(second uint64) (int64, error) {
	if second > math.MaxInt64 {
		return 0, types.ErrInvalidTime.Wrapf("second %d", second)
	}
	return int64(second), nil
}

// seconds are a time of the module's, 0 if there is none.
func seconds(time int64) uint64 { return uint64(max(time, 0)) }

// states reports whether anything of what a contract states is neither zero nor empty.
func states(value any) bool { return statesAny(reflect.ValueOf(value)) }

func statesAny(value reflect.Value) bool {
	switch value.Kind() {
	case reflect.Struct:
		for i := range value.NumField() {
			if statesAny(value.Field(i)) {
				return true
			}
		}
		return false
	case reflect.Pointer:
		n := value.Interface().(*big.Int) //nolint:errcheck // the only pointers of the ABI
		return n != nil && n.Sign() != 0
	case reflect.Slice:
		return value.Len() > 0
	default:
		return !value.IsZero()
	}
}

// message is the spec as the module has it. What it states is checked there.
func (s *TimerSpec) message(addresses address.Codec) (spec types.TimerSpec, err error) {
	spec = types.TimerSpec{
		Name: s.Name, GasLimit: s.GasLimit, CellLimit: s.ByteLimit, ExpiresAt: s.ExpiresAt, Repeat: s.Repeat.message(),
		Retry: s.Retry.message(), OnUnfunded: types.OnUnfunded(s.OnUnfunded),
	}
	if spec.Trigger, err = s.Trigger.message(); err != nil {
		return spec, err
	}
	if spec.Call, err = s.Call.message(); err != nil {
		return spec, err
	}
	if spec.OnlyIf, err = keysOf(s.OnlyIf); err != nil {
		return spec, err
	}
	if spec.Bid, err = s.Bid.message(addresses); err != nil {
		return spec, err
	}
	if spec.MaxCharge, err = wholeUnits("maxCharge", s.MaxCharge); err != nil {
		return spec, err
	}
	if spec.FeePayer, err = textOf(addresses, s.FeePayer); err != nil {
		return spec, err
	}
	if spec.ExpiresTime, err = timeOf(s.ExpiresTime); err != nil {
		return spec, err
	}
	return spec, types.CheckText(types.ErrInvalidFields, &spec)
}

// specOf is a spec of the module's as contracts state it: the inverse of message. What an account has stated in other
// ways, and no contract can, it refuses.
func specOf(addresses address.Codec, spec *types.TimerSpec) (s TimerSpec, err error) {
	s = TimerSpec{
		Name: spec.Name, GasLimit: spec.GasLimit, ByteLimit: spec.CellLimit, ExpiresAt: spec.ExpiresAt,
		ExpiresTime: seconds(spec.ExpiresTime), Retry: retryOf(spec.Retry), OnUnfunded: uint8(spec.OnUnfunded), Repeat: repeatOf(spec.Repeat),
	}
	if s.Trigger, err = triggerOf(&spec.Trigger); err != nil {
		return s, err
	}
	s.Call = timerCallOf(&spec.Call)
	if s.OnlyIf, err = statedKeys(spec.OnlyIf); err != nil {
		return s, err
	}
	if s.Bid, err = bidOf(addresses, spec.Bid); err != nil {
		return s, err
	}
	if s.MaxCharge, err = weiOf(spec.MaxCharge); err != nil {
		return s, err
	}
	s.FeePayer, err = addressOf(addresses, spec.FeePayer)
	return s, err
}

func (t *Trigger) message() (types.Trigger, error) {
	all := types.Trigger{Height: t.Height, After: t.AfterBlocks}
	if states(t.Interval) {
		all.Interval = &types.IntervalTrigger{Every: t.Interval.Every, First: t.Interval.First, From: types.IntervalFrom(t.Interval.From)}
	}
	if states(t.Watch) {
		keys, err := keysOf(t.Watch.Keys)
		if err != nil {
			return all, err
		}
		all.Watch = &types.WatchTrigger{Keys: keys, Cooldown: t.Watch.Cooldown, Level: t.Watch.Level}
	}
	if t.Time != 0 {
		second, err := timeOf(t.Time)
		if err != nil {
			return all, err
		}
		at := time.Unix(second, 0).UTC()
		all.Time = &at
	}
	var err error
	if states(t.Calendar) {
		all.Calendar, err = t.Calendar.message()
	}
	return all, err
}

func triggerOf(t *types.Trigger) (all Trigger, err error) {
	all = Trigger{Height: t.Height, AfterBlocks: t.After}
	if i := t.Interval; i != nil {
		all.Interval = IntervalTrigger{Every: i.Every, First: i.First, From: uint8(i.From)}
	}
	if w := t.Watch; w != nil {
		all.Watch = WatchTrigger{Cooldown: w.Cooldown, Level: w.Level}
		if all.Watch.Keys, err = statedKeys(w.Keys); err != nil {
			return all, err
		}
	}
	if t.Time != nil {
		all.Time = seconds(t.Time.Unix())
	}
	if c := t.Calendar; c != nil {
		all.Calendar = calendarOf(c)
	}
	return all, nil
}

func (c *CalendarTrigger) message() (*types.CalendarTrigger, error) {
	all := &types.CalendarTrigger{OffsetMinutes: c.OffsetMinutes, OffsetFinal: c.OffsetFinal}
	if states(c.Every) {
		anchor, err := timeOf(c.Every.Anchor)
		if err != nil {
			return nil, err
		}
		all.Every = &types.EveryRule{Seconds: c.Every.Period, Anchor: anchor}
	}
	if r := c.Cron; states(r) {
		all.Cron = &types.CronRule{
			Minutes: r.MinuteSet, Hours: r.HourSet, Days: r.DaySet, LastDay: r.LastDay, Months: r.MonthSet, Weekdays: r.WeekdaySet, Nth: r.NthSet,
		}
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

func calendarOf(c *types.CalendarTrigger) CalendarTrigger {
	all := CalendarTrigger{OffsetMinutes: c.OffsetMinutes, OffsetFinal: c.OffsetFinal}
	if e := c.Every; e != nil {
		all.Every = EveryRule{Period: e.Seconds, Anchor: seconds(e.Anchor)}
	}
	if r := c.Cron; r != nil {
		all.Cron = CronRule{
			MinuteSet: r.Minutes, HourSet: r.Hours, DaySet: r.Days, LastDay: r.LastDay, MonthSet: r.Months, WeekdaySet: r.Weekdays, NthSet: r.Nth,
		}
	}
	for _, change := range c.Transitions {
		all.Transitions = append(all.Transitions, OffsetTransition{From: seconds(change.From), OffsetMinutes: change.OffsetMinutes})
	}
	return all
}

func (r Repeat) message() *types.Repeat {
	if r == (Repeat{}) {
		return nil
	}
	return &types.Repeat{
		Remaining: r.Remaining, Missed: types.Missed(r.Missed), Window: r.Window, Jitter: r.Jitter,
		OnFailure: types.OnFailure(r.OnFailure), MaxFailures: r.MaxFailures, Renew: r.Renew,
	}
}

func repeatOf(r *types.Repeat) Repeat {
	if r == nil {
		return Repeat{}
	}
	return Repeat{
		Remaining: r.Remaining, Missed: uint8(r.Missed), Window: r.Window, Jitter: r.Jitter,
		OnFailure: uint8(r.OnFailure), MaxFailures: r.MaxFailures, Renew: r.Renew,
	}
}

func (r *Retry) message() *types.Retry {
	if !states(*r) {
		return nil
	}
	all := &types.Retry{Max: r.Max, After: r.Delay, Backoff: r.Backoff}
	for _, on := range r.On {
		all.On = append(all.On, types.ErrorCode{Codespace: on.Codespace, Code: on.Code})
	}
	return all
}

func retryOf(r *types.Retry) (all Retry) {
	if r == nil {
		return Retry{}
	}
	for _, on := range r.On {
		all.On = append(all.On, ErrorCode{Codespace: on.Codespace, Code: on.Code})
	}
	all.Max, all.Delay, all.Backoff = r.Max, r.After, r.Backoff
	return all
}

func (c *TimerCall) message() (types.TimerCall, error) {
	switch c.Handler {
	case Callback:
		if c.To != (common.Address{}) || c.Value.Sign() != 0 {
			return types.TimerCall{}, types.ErrInvalidPayload.Wrap("to or value are stated for a Callback, which calls the owner: want handler Call")
		}
		return types.TimerCall{Handler: HandlerCallback, Payload: c.Payload}, nil
	case Call:
		payload, err := EncodeCall(c.To, c.Value, c.Payload)
		return types.TimerCall{Handler: HandlerCall, Payload: payload}, err
	default:
		return types.TimerCall{}, types.ErrInvalidHandler.Wrapf("handler %d: want Callback or Call", c.Handler)
	}
}

func timerCallOf(c *types.TimerCall) TimerCall {
	all := TimerCall{Handler: OtherHandler, Value: new(big.Int), Payload: c.Payload}
	switch c.Handler {
	case HandlerCallback:
		all.Handler = Callback
	case HandlerCall:
		if to, value, data, err := decodeCall(c.Payload); err == nil {
			all = TimerCall{Handler: Call, To: to, Value: value, Payload: data}
		}
	}
	return all
}

// message is a bid whose prices are in wei per unit of size.
func (b *Bid) message(addresses address.Codec) (bid *types.Bid, err error) {
	if !states(*b) {
		return nil, nil
	}
	bid = &types.Bid{Tier: types.PriorityTier(b.Tier)}
	if states(b.StaticBid) {
		fee, err := priceOf(b.StaticBid.MaxFeePerGas)
		if err != nil {
			return nil, err
		}
		priority, err := priceOf(b.StaticBid.MaxPriorityFeePerGas)
		if err != nil {
			return nil, err
		}
		bid.Static = &types.StaticBid{MaxFeePerCycle: decimal.Of(fee), MaxPriorityFeePerCycle: decimal.Of(priority)}
	}
	if bid.Agent, err = textOf(addresses, b.Agent); err != nil {
		return nil, err
	}
	bid.Price, err = wholeUnits("price", b.Price)
	return bid, err
}

// bidOf is a bid with its prices in whole wei, rounded up.
func bidOf(addresses address.Codec, bid *types.Bid) (b Bid, err error) {
	b = Bid{StaticBid: StaticBid{new(big.Int), new(big.Int)}, Price: new(big.Int)}
	if bid == nil {
		return b, nil
	}
	b.Tier = uint8(bid.Tier)
	if static := bid.Static; static != nil {
		if b.StaticBid.MaxFeePerGas, err = weiPriceOf(static.MaxFeePerCycle.Text()); err != nil {
			return b, err
		}
		if b.StaticBid.MaxPriorityFeePerGas, err = weiPriceOf(static.MaxPriorityFeePerCycle.Text()); err != nil {
			return b, err
		}
	}
	if b.Agent, err = addressOf(addresses, bid.Agent); err != nil {
		return b, err
	}
	b.Price, err = weiOf(bid.Price)
	return b, err
}

// wholeUnits is an amount in wei as text in units, rounded down; empty for none.
func wholeUnits(row string, wei *big.Int) (string, error) {
	if wei.Sign() == 0 {
		return "", nil
	}
	units := unitsOf(wei)
	if units.IsZero() {
		return "", types.ErrInvalidBid.Wrapf("%s of %s wei is less than one unit of the fee denom", row, wei)
	}
	return units.String(), nil
}

// textOf is an address as the module's messages write it, and empty for 0.
func textOf(addresses address.Codec, of common.Address) (string, error) {
	if of == (common.Address{}) {
		return "", nil
	}
	return addresses.BytesToString(of.Bytes())
}

// addressOf is an address that the module has written.
func addressOf(addresses address.Codec, text string) (common.Address, error) {
	if text == "" {
		return common.Address{}, nil
	}
	bz, err := addresses.StringToBytes(text)
	if err == nil && len(bz) != common.AddressLength {
		err = types.ErrUnknownActor.Wrapf("%.120q has %d bytes, and an address of the EVM %d", text, len(bz), common.AddressLength)
	}
	return common.BytesToAddress(bz), err
}
