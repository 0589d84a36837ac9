package types_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// fullSpec states every field, none of them as its default.
func fullSpec() types.TimerSpec {
	return types.TimerSpec{
		Name: "rent", Trigger: types.Trigger{Interval: &types.IntervalTrigger{Every: 9, From: types.FromSchedule}},
		Repeat: &types.Repeat{
			Remaining: 3, Missed: types.MissedEach, Window: 4, Jitter: 5, OnFailure: types.OnFailureSuspend, MaxFailures: 2, Renew: true,
		},
		Call:     types.TimerCall{Handler: "tick", Payload: []byte("{}")},
		OnlyIf:   []types.WatchKey{{Store: "bank", Prefix: []byte{2}, When: &types.WatchCondition{Op: types.ConditionExists}}},
		GasLimit: 50_000, CellLimit: 100, Bid: &types.Bid{Tier: types.TierFast}, MaxCharge: "900", FeePayer: alice, ExpiresAt: 77, ExpiresTime: 88,
		Retry: &types.Retry{Max: 1, After: 2}, OnUnfunded: types.OnUnfundedSkip,
	}
}

// clone is a spec that shares no memory with another.
func clone(t require.TestingT, s *types.TimerSpec) types.TimerSpec {
	raw, err := s.Marshal()
	require.NoError(t, err)
	var again types.TimerSpec
	require.NoError(t, again.Unmarshal(raw))
	return again
}

// fieldOf is a field of a spec, by the name that an update has for it.
func fieldOf(s *types.TimerSpec, name string) any {
	return map[string]any{
		"name": s.Name, "trigger": s.Trigger, "call": s.Call, "only_if": s.OnlyIf, "gas_limit": s.GasLimit, "cell_limit": s.CellLimit, "bid": s.Bid,
		"max_charge": s.MaxCharge, "fee_payer": s.FeePayer, "expires_at": s.ExpiresAt, "expires_time": s.ExpiresTime, "retry": s.Retry,
		"on_unfunded": s.OnUnfunded, "repeat.remaining": s.Repeat.GetRemaining(), "repeat.missed": s.Repeat.GetMissed(),
		"repeat.window": s.Repeat.GetWindow(), "repeat.jitter": s.Repeat.GetJitter(), "repeat.on_failure": s.Repeat.GetOnFailure(),
		"repeat.max_failures": s.Repeat.GetMaxFailures(), "repeat.renew": s.Repeat.GetRenew(),
	}[name]
}

// TestSpecFields_AreThoseOfTheProtoFile: in its order, those of repeat each by itself. A field that a spec gains is one
// of them.
func TestSpecFields_AreThoseOfTheProtoFile(t *testing.T) {
	require.Equal(t, []string{
		"name", "trigger", "repeat.remaining", "repeat.missed", "repeat.window", "repeat.jitter", "repeat.on_failure", "repeat.max_failures", "repeat.renew",
		"call", "only_if", "gas_limit", "cell_limit", "bid", "max_charge", "fee_payer", "expires_at", "expires_time", "retry", "on_unfunded",
	}, types.SpecFields())
	require.Len(t, types.SpecFields(), reflect.TypeFor[types.TimerSpec]().NumField()-1+reflect.TypeFor[types.Repeat]().NumField())
	full := fullSpec()
	for _, name := range types.SpecFields() {
		require.False(t, reflect.ValueOf(fieldOf(&full, name)).IsZero(), "fullSpec has no %s", name)
	}
}

// TestSpec_NamedReplacesOneField: each field by its name alone, to what is stated and back to its default; every other
// one stays.
func TestSpec_NamedReplacesOneField(t *testing.T) {
	full, none := fullSpec(), types.TimerSpec{}
	for _, name := range types.SpecFields() {
		for what, c := range map[string]struct{ from, to types.TimerSpec }{"stated": {none, full}, "default": {full, none}} {
			next, err := c.from.Named([]string{name}, &c.to)
			require.NoError(t, err)
			for _, field := range types.SpecFields() {
				want := fieldOf(&c.from, field)
				if field == name {
					want = fieldOf(&c.to, field)
				}
				require.Equal(t, want, fieldOf(&next, field), "%s, %s: %s", name, what, field)
			}
		}
	}
}

// TestSpec_NamedLeavesItsSpecs: neither the one that it changes nor the one that states is changed, though both hold
// pointers.
func TestSpec_NamedLeavesItsSpecs(t *testing.T) {
	before, stated := fullSpec(), fullSpec()
	before.Trigger.Interval.From = types.FromFire
	stated.Repeat = &types.Repeat{Remaining: 8, Missed: types.MissedLatest, OnFailure: types.OnFailureRoll}
	was, said := clone(t, &before), clone(t, &stated)
	for _, fields := range [][]string{types.SpecFields(), {"repeat.remaining"}, {"repeat.missed", "repeat.on_failure"}, {"trigger"}} {
		next, err := before.Named(fields, &stated)
		require.NoError(t, err)
		require.NotSame(t, before.Repeat, next.Repeat)
		require.NotSame(t, stated.Repeat, next.Repeat)
		next.Repeat.Remaining = 999
		require.Equal(t, was, before, fields)
		require.Equal(t, said, stated, fields)
	}
	bare := types.TimerSpec{}
	next, err := bare.Named([]string{"repeat.remaining"}, &stated)
	require.NoError(t, err)
	require.Equal(t, types.TimerSpec{Repeat: &types.Repeat{Remaining: 8}}, next)
	require.Equal(t, types.TimerSpec{}, bare)
}

// TestSpec_NamedRefusesWhatNamesNoField: nothing, what no spec has, repeat as a whole, and a field that is named twice.
func TestSpec_NamedRefusesWhatNamesNoField(t *testing.T) {
	full := fullSpec()
	for want, fields := range map[string][]string{
		`fields names "remaining", and a spec has no such field: want one of [name trigger repeat.remaining `: {"remaining"},
		`fields names "", and a spec has no such field`:                                                       {""},
		`fields names "Name", and a spec has no such field`:                                                   {"gas_limit", "Name"},
		`fields names "trigger.interval", and a spec has no such field`:                                       {"trigger.interval"},
		`fields names "repeat.", and a spec has no such field`:                                                {"repeat."},
		"fields names repeat, which holds fields: name those, such as repeat.remaining":                       {"repeat"},
		"fields names gas_limit twice: name it once":                                                          {"gas_limit", "bid", "gas_limit"},
		"fields names repeat.renew twice: name it once":                                                       {"repeat.renew", "repeat.renew"},
		"fields has 21 names, want at most 20":                                                                append(types.SpecFields(), "name"),
		`fields names "` + string(slices.Repeat([]byte("x"), 80)) + `", and a spec has no such f`:             {string(slices.Repeat([]byte("x"), 500))},
	} {
		_, err := full.Named(fields, &types.TimerSpec{})
		require.ErrorIs(t, err, types.ErrInvalidFields, fields)
		require.ErrorContains(t, err, want)
	}
	for _, fields := range [][]string{nil, {}} {
		_, err := full.Named(fields, &full)
		require.ErrorIs(t, err, types.ErrNothingToUpdate)
		require.ErrorContains(t, err, "fields names none: state those of the spec that change, such as gas_limit or repeat.remaining")
	}
}

// TestSpec_BeyondFindsWhatIsNotNamed: each field that has a value and no name; what is empty is none.
func TestSpec_BeyondFindsWhatIsNotNamed(t *testing.T) {
	full := fullSpec()
	require.Empty(t, full.Beyond(types.SpecFields()))
	require.Equal(t, "name", full.Beyond(nil))
	for i, name := range types.SpecFields() {
		others := slices.Delete(types.SpecFields(), i, i+1)
		require.Equal(t, name, full.Beyond(others))
		alone, err := types.TimerSpec{}.Named([]string{name}, &full)
		require.NoError(t, err)
		require.Equal(t, name, alone.Beyond(others))
		require.Empty(t, alone.Beyond([]string{name}))
	}
	empty := types.TimerSpec{
		Repeat: &types.Repeat{}, OnlyIf: []types.WatchKey{}, Call: types.TimerCall{Payload: []byte{}},
	}
	require.Empty(t, empty.Beyond([]string{"gas_limit"}), "a list and a payload of nothing state nothing")
	empty.Bid = &types.Bid{}
	require.Equal(t, "bid", empty.Beyond([]string{"gas_limit"}))
}

// TestSpec_CanonicalLeavesDefaultsOut: stated or not, a default is the same. What is no default stays.
func TestSpec_CanonicalLeavesDefaultsOut(t *testing.T) {
	stated := types.TimerSpec{
		Trigger: types.Trigger{Interval: &types.IntervalTrigger{Every: 9, From: types.FromFire}},
		Repeat:  &types.Repeat{Missed: types.MissedLatest, OnFailure: types.OnFailureRoll}, Bid: &types.Bid{}, MaxCharge: "0",
		OnUnfunded: types.OnUnfundedDestroy,
	}
	was := clone(t, &stated)
	require.Equal(t, types.TimerSpec{Trigger: types.Trigger{Interval: &types.IntervalTrigger{Every: 9}}}, stated.Canonical())
	require.Equal(t, was, stated, "the spec that states them is as it was")
	require.Equal(t, fullSpec(), fullSpec().Canonical())
	require.Equal(t, types.TimerSpec{}, types.TimerSpec{}.Canonical())
	require.Equal(t, types.TimerSpec{}, types.TimerSpec{Repeat: &types.Repeat{}}.Canonical())
}

// genSpec states any of the fields, as their defaults too.
var genSpec = rapid.Custom(func(t *rapid.T) (s types.TimerSpec) {
	drawn := func(name string) bool { return rapid.Bool().Draw(t, name) }
	number := rapid.Uint64Range(0, 3)
	s.Name = rapid.SampledFrom([]string{"", "rent"}).Draw(t, "name")
	switch rapid.IntRange(0, 4).Draw(t, "trigger") {
	case 0:
		s.Trigger.Height = number.Draw(t, "height")
	case 1:
		s.Trigger.Interval = &types.IntervalTrigger{
			Every: number.Draw(t, "every"), First: number.Draw(t, "first"), From: types.IntervalFrom(rapid.Int32Range(0, 2).Draw(t, "from")),
		}
	case 2:
		at := time.Unix(int64(number.Draw(t, "time"))+1, 0).UTC()
		s.Trigger.Time = &at
	case 3:
		s.Trigger.Calendar = &types.CalendarTrigger{Every: &types.EveryRule{Seconds: number.Draw(t, "seconds")}}
	case 4:
		s.Trigger.Watch = &types.WatchTrigger{Keys: []types.WatchKey{{Store: "bank", Prefix: []byte{2}}}}
	}
	if drawn("repeat") {
		s.Repeat = &types.Repeat{
			Remaining: number.Draw(t, "remaining"), Missed: types.Missed(rapid.Int32Range(0, 2).Draw(t, "missed")),
			Window: number.Draw(t, "window"), Jitter: number.Draw(t, "jitter"),
			OnFailure:   types.OnFailure(rapid.Int32Range(0, 3).Draw(t, "on failure")),
			MaxFailures: rapid.Uint32Range(0, 2).Draw(t, "max failures"), Renew: drawn("renew"),
		}
	}
	s.Call = types.TimerCall{Handler: rapid.SampledFrom([]string{"", types.DefaultHandler, "tick"}).Draw(t, "handler")}
	if drawn("only if") {
		s.OnlyIf = []types.WatchKey{{Store: "bank", Prefix: []byte{2}, When: &types.WatchCondition{Op: types.ConditionExists}}}
	}
	s.GasLimit, s.CellLimit = number.Draw(t, "gas limit"), number.Draw(t, "cell limit")
	s.Bid = rapid.SampledFrom([]*types.Bid{
		nil, {}, {Tier: types.TierFast}, {Price: "17"}, {Agent: alice}, staticBid(math.LegacyOneDec(), math.LegacyZeroDec()),
	}).Draw(t, "bid")
	s.MaxCharge = rapid.SampledFrom([]string{"", "0", "900"}).Draw(t, "max charge")
	s.FeePayer = rapid.SampledFrom([]string{"", alice}).Draw(t, "fee payer")
	s.ExpiresAt, s.ExpiresTime = number.Draw(t, "expires at"), int64(number.Draw(t, "expires time"))
	if drawn("retry") {
		s.Retry = &types.Retry{Max: 1, After: number.Draw(t, "after")}
	}
	s.OnUnfunded = types.OnUnfunded(rapid.Int32Range(0, 3).Draw(t, "on unfunded"))
	return s
})

// sameMeaning holds that two specs ask the same of a timer.
func sameMeaning(t require.TestingT, a, b *types.TimerSpec) {
	either := func(x, y int32) int32 { // The default has two writings: none, and the first value.
		if x == 0 {
			return y
		}
		return x
	}
	require.Equal(t, a.Recurs(), b.Recurs())
	require.Equal(t, a.Repetitions(), b.Repetitions())
	require.Equal(t, a.Repeat.SuspendsAfter(), b.Repeat.SuspendsAfter())
	require.Equal(t, a.Trigger.HasOccurrences(), b.Trigger.HasOccurrences())
	if a.CheckRepeat() == nil { // A default that is stated where it has no meaning is left out.
		require.NoError(t, b.CheckRepeat())
	}
	ra, rb := a.Repeat, b.Repeat
	require.Equal(t, either(int32(ra.GetMissed()), int32(types.MissedLatest)), either(int32(rb.GetMissed()), int32(types.MissedLatest)))
	require.Equal(t, either(int32(ra.GetOnFailure()), int32(types.OnFailureRoll)), either(int32(rb.GetOnFailure()), int32(types.OnFailureRoll)))
	require.Equal(t, either(int32(a.OnUnfunded), int32(types.OnUnfundedDestroy)), either(int32(b.OnUnfunded), int32(types.OnUnfundedDestroy)))
	require.Equal(t, []any{ra.GetWindow(), ra.GetJitter(), ra.GetMaxFailures(), ra.GetRenew()}, []any{rb.GetWindow(), rb.GetJitter(), rb.GetMaxFailures(), rb.GetRenew()})
	require.Equal(t, []any{a.Name, a.Call, a.OnlyIf, a.GasLimit, a.CellLimit, a.FeePayer, a.ExpiresAt, a.ExpiresTime, a.Retry},
		[]any{b.Name, b.Call, b.OnlyIf, b.GasLimit, b.CellLimit, b.FeePayer, b.ExpiresAt, b.ExpiresTime, b.Retry})
	require.Equal(t, a.Bid.String() == "" || a.Bid == nil, b.Bid.String() == "" || b.Bid == nil)
}

// TestSpec_CanonicalKeepsTheMeaning: once is enough, and the spec asks for the same as before.
func TestSpec_CanonicalKeepsTheMeaning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := genSpec.Draw(t, "spec")
		was := clone(t, &s)
		canonical := s.Canonical()
		require.True(t, s.Equal(was), "it is changed")
		require.True(t, canonical.Trigger.Same(&s.Trigger) || s.Trigger.Interval != nil && s.Trigger.Interval.From == types.FromFire)
		require.Equal(t, canonical, canonical.Canonical())
		sameMeaning(t, &s, &canonical)
		for _, name := range types.SpecFields() {
			if value := reflect.ValueOf(fieldOf(&canonical, name)); !value.IsZero() {
				require.Equal(t, reflect.ValueOf(fieldOf(&s, name)).IsZero(), false, "%s is invented", name)
			}
		}
	})
}

// TestSpec_NamedWithAllFieldsIsWhatIsStated: whatever the spec was before, in whichever order they are named; and what
// is named in two updates is as if it were named in one.
func TestSpec_NamedWithAllFieldsIsWhatIsStated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, stated := genSpec.Draw(t, "before").Canonical(), genSpec.Draw(t, "stated")
		fields := rapid.Permutation(types.SpecFields()).Draw(t, "fields")
		all, err := before.Named(fields, &stated)
		require.NoError(t, err)
		require.Equal(t, stated.Canonical(), all)
		require.Empty(t, stated.Beyond(fields))

		at := rapid.IntRange(1, len(fields)-1).Draw(t, "split")
		some, err := before.Named(fields[:at], &stated)
		require.NoError(t, err)
		for _, name := range fields[at:] {
			canonical := stated.Canonical()
			require.Equal(t, fieldOf(&before, name), fieldOf(&some, name), "%s is not named; stated is %v", name, fieldOf(&canonical, name))
		}
		both, err := some.Named(fields[at:], &stated)
		require.NoError(t, err)
		require.Equal(t, all, both)
	})
}

// TestSpec_CheckRepeat: what is stated of repetitions must go with the trigger.
func TestSpec_CheckRepeat(t *testing.T) {
	fires, schedule := types.Trigger{Interval: &types.IntervalTrigger{Every: 9}}, types.Trigger{Interval: &types.IntervalTrigger{Every: 9, From: types.FromSchedule}}
	calendar, watch := types.Trigger{Calendar: &types.CalendarTrigger{}}, types.Trigger{Watch: &types.WatchTrigger{}}
	at := time.Unix(5, 0)
	const advance, once = "missed, window and jitter are for occurrences that are known in advance", "repeat is stated for a timer that fires once"
	const suspends, watches = "max_failures is 3 and on_failure not suspend: state suspend, or leave max_failures out", "a watch goes back to watching"
	for name, c := range map[string]struct {
		trigger types.Trigger
		repeat  *types.Repeat
		want    string
	}{
		"nothing of a height":      {types.Trigger{Height: 5}, nil, ""},
		"nothing of an interval":   {fires, nil, ""},
		"empty of an interval":     {fires, &types.Repeat{}, ""},
		"a height":                 {types.Trigger{Height: 5}, &types.Repeat{Remaining: 1}, once},
		"blocks from now":          {types.Trigger{After: 5}, &types.Repeat{Renew: true}, once},
		"a time":                   {types.Trigger{Time: &at}, &types.Repeat{OnFailure: types.OnFailureStop}, once},
		"nothing":                  {types.Trigger{}, &types.Repeat{}, once},
		"a count of fires":         {fires, &types.Repeat{Remaining: 1<<64 - 1, OnFailure: types.OnFailureStop, Renew: true}, ""},
		"a watch":                  {watch, &types.Repeat{Remaining: 3, Renew: true}, ""},
		"a failure of a watch":     {watch, &types.Repeat{OnFailure: types.OnFailureRoll}, watches},
		"failures of a watch":      {watch, &types.Repeat{MaxFailures: 3}, watches},
		"a window of a watch":      {watch, &types.Repeat{Window: 1}, advance},
		"missed of fires":          {fires, &types.Repeat{Missed: types.MissedLatest}, advance},
		"a window of fires":        {fires, &types.Repeat{Window: 1}, advance},
		"jitter of fires":          {fires, &types.Repeat{Jitter: 1}, advance},
		"all of a schedule":        {schedule, &types.Repeat{Missed: types.MissedEach, Window: 1, Jitter: 1}, ""},
		"all of a calendar":        {calendar, &types.Repeat{Missed: types.MissedEach, Window: uint64(types.MaxTime), Jitter: types.MaxJitter}, ""},
		"a window beyond time":     {calendar, &types.Repeat{Window: uint64(types.MaxTime) + 1}, "window is 253402300800, want at most 253402300799"},
		"much jitter":              {calendar, &types.Repeat{Jitter: types.MaxJitter + 1}, "jitter is 86401, want at most 86400"},
		"failures of suspension":   {fires, &types.Repeat{OnFailure: types.OnFailureSuspend, MaxFailures: 3}, ""},
		"failures of no choice":    {fires, &types.Repeat{MaxFailures: 3}, suspends},
		"failures of roll":         {fires, &types.Repeat{OnFailure: types.OnFailureRoll, MaxFailures: 3}, suspends},
		"failures of stop":         {fires, &types.Repeat{OnFailure: types.OnFailureStop, MaxFailures: 3}, suspends},
		"an unknown failure":       {fires, &types.Repeat{OnFailure: 4}, "on_failure 4 is unknown, want roll, stop or suspend"},
		"a negative failure":       {fires, &types.Repeat{OnFailure: -1}, "on_failure -1 is unknown"},
		"an unknown missed":        {calendar, &types.Repeat{Missed: 3}, "missed 3 is unknown, want latest or each"},
		"a negative missed":        {schedule, &types.Repeat{Missed: -1}, "missed -1 is unknown"},
		"an unknown missed, fires": {fires, &types.Repeat{Missed: 3}, advance},
	} {
		t.Run(name, func(t *testing.T) {
			err := (&types.TimerSpec{Trigger: c.trigger, Repeat: c.repeat}).CheckRepeat()
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, types.ErrInvalidRepeat)
			require.ErrorContains(t, err, c.want)
		})
	}
}

// TestRepeat_SuspendsAfter: after one failure unless more are stated, and never where suspend is not.
func TestRepeat_SuspendsAfter(t *testing.T) {
	require.Zero(t, (*types.Repeat)(nil).SuspendsAfter())
	require.Zero(t, (&types.Repeat{OnFailure: types.OnFailureStop, MaxFailures: 3}).SuspendsAfter())
	require.EqualValues(t, 1, (&types.Repeat{OnFailure: types.OnFailureSuspend}).SuspendsAfter())
	require.EqualValues(t, 3, (&types.Repeat{OnFailure: types.OnFailureSuspend, MaxFailures: 3}).SuspendsAfter())
}

// TestTimer_LeftCountsTheOneInHand: of those that are stated, from where they were counted last; one that is tried
// again is not made yet.
func TestTimer_LeftCountsTheOneInHand(t *testing.T) {
	interval := types.Trigger{Interval: &types.IntervalTrigger{Every: 9}}
	for name, c := range map[string]struct {
		timer types.Timer
		want  uint64
	}{
		"new":                      {types.Timer{}, 5},
		"two made":                 {types.Timer{Deliveries: 2}, 3},
		"two, and one in hand":     {types.Timer{Deliveries: 3, Tried: true}, 3},
		"the first in hand":        {types.Timer{Deliveries: 1, Tried: true}, 5},
		"all but the last":         {types.Timer{Deliveries: 4}, 1},
		"the last in hand":         {types.Timer{Deliveries: 5, Tried: true}, 1},
		"all":                      {types.Timer{Deliveries: 5}, 0},
		"more than are stated":     {types.Timer{Deliveries: 9}, 0},
		"counted from the seventh": {types.Timer{Deliveries: 8, Counted: 7}, 4},
		"counted beyond all":       {types.Timer{Deliveries: 7, Counted: 9}, 5},
	} {
		c.timer.Spec = types.TimerSpec{Trigger: interval, Repeat: &types.Repeat{Remaining: 5}}
		require.Equal(t, c.want, c.timer.Left(), name)
	}
	require.Zero(t, (&types.Timer{Spec: types.TimerSpec{Trigger: interval}, Deliveries: 3}).Left(), "not counted")
	once := types.Timer{Spec: types.TimerSpec{Trigger: types.Trigger{Height: 5}}}
	require.EqualValues(t, 1, once.Left())
	once.Deliveries, once.Tried = 1, true
	require.EqualValues(t, 1, once.Left(), "its retry is the one fire that it has")
}

// TestTimer_CountAnewBeginsWithTheOneInHand: so many are left as are stated then, whatever was made before.
func TestTimer_CountAnewBeginsWithTheOneInHand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		timer := types.Timer{Tried: rapid.Bool().Draw(t, "tried"), Deliveries: rapid.Uint64Range(1, 20).Draw(t, "deliveries")}
		timer.Counted = rapid.Uint64Range(0, timer.Deliveries-1).Draw(t, "counted")
		stated := rapid.Uint64Range(1, 20).Draw(t, "stated")
		timer.Spec = types.TimerSpec{Trigger: types.Trigger{Watch: &types.WatchTrigger{}}, Repeat: &types.Repeat{Remaining: stated}}
		timer.CountAnew()
		require.Equal(t, stated, timer.Left())
		timer.Tried = false // The one in hand is made, or the next one is, of which none was.
		if timer.Counted == timer.Deliveries {
			timer.Deliveries++
		}
		require.Equal(t, stated-1, timer.Left())
	})
}
