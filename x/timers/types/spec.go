package types

import (
	"reflect"
	"slices"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/schedule"
)

// What an owner states of a timer, and what follows from it (x/timers/README.md, "1.2 Timer").

// specField is a field of a spec that an update can name.
type specField struct {
	name string
	// of is its index, and within that of the field in repeat.
	of, within int
}

// specFields are all, in the order of the proto file.
var specFields = func() (fields []specField) {
	spec, repeat := reflect.TypeFor[TimerSpec](), reflect.TypeFor[Repeat]()
	for i := range spec.NumField() {
		name, _ := tagOf(spec.Field(i).Tag.Get("protobuf"))
		if spec.Field(i).Type != reflect.PointerTo(repeat) {
			fields = append(fields, specField{name, i, -1})
			continue
		}
		for k := range repeat.NumField() {
			within, _ := tagOf(repeat.Field(k).Tag.Get("protobuf"))
			fields = append(fields, specField{name + "." + within, i, k})
		}
	}
	return fields
}()

// SpecFields are the names of the fields that an update can name, in the order of the proto file.
func SpecFields() []string {
	names := make([]string, len(specFields))
	for i, f := range specFields {
		names[i] = f.name
	}
	return names
}

// CheckFields checks the fields that an update names, each at most once. It is ErrInvalidFields for a name that no field has and for
// one that is stated twice, and ErrNothingToUpdate for none. What it takes does not grow with names that are too many.
func CheckFields(fields []string) error {
	if len(fields) == 0 {
		return ErrNothingToUpdate.Wrap("fields names none: state those of the spec that change, such as gas_limit or repeat.remaining")
	}
	if len(fields) > len(specFields) {
		return ErrInvalidFields.Wrapf("fields has %d names, want at most %d", len(fields), len(specFields))
	}
	for i, name := range fields {
		switch known := slices.ContainsFunc(specFields, func(f specField) bool { return f.name == name }); {
		case name == "repeat":
			return ErrInvalidFields.Wrap("fields names repeat, which holds fields: name those, such as repeat.remaining")
		case !known:
			return ErrInvalidFields.Wrapf("fields names %.80q, and a spec has no such field: want one of %v", name, SpecFields())
		case slices.Contains(fields[:i], name):
			return ErrInvalidFields.Wrapf("fields names %s twice: name it once", name)
		}
	}
	return nil
}

// Named gives a spec those fields of another that are named: one that is empty there takes its default. Its errors are those of
// CheckFields.
func (s TimerSpec) Named(fields []string, stated *TimerSpec) (TimerSpec, error) {
	if err := CheckFields(fields); err != nil {
		return s, err
	}
	repeat, other := Repeat{}, Repeat{}
	if s.Repeat != nil {
		repeat = *s.Repeat
	}
	if stated.Repeat != nil {
		other = *stated.Repeat
	}
	for _, f := range specFields {
		switch {
		case !slices.Contains(fields, f.name):
		case f.within < 0:
			reflect.ValueOf(&s).Elem().Field(f.of).Set(reflect.ValueOf(stated).Elem().Field(f.of))
		default:
			reflect.ValueOf(&repeat).Elem().Field(f.within).Set(reflect.ValueOf(&other).Elem().Field(f.within))
		}
	}
	s.Repeat = &repeat
	return s.Canonical(), nil
}

// Beyond is a field that has a value and is not named; empty if there is none.
func (s *TimerSpec) Beyond(fields []string) string {
	for _, f := range specFields {
		value := reflect.ValueOf(s).Elem().Field(f.of)
		if f.within >= 0 && !value.IsNil() {
			value = value.Elem().Field(f.within)
		}
		if !slices.Contains(fields, f.name) && states(value) {
			return f.name
		}
	}
	return ""
}

// states reports whether a field has a value: a message in place has one if it would be written at all.
func states(value reflect.Value) bool {
	if message, ok := value.Addr().Interface().(interface{ Size() int }); ok {
		return message.Size() > 0
	}
	return !value.IsZero() && (value.Kind() != reflect.Slice || value.Len() > 0)
}

// Canonical is the spec with its defaults left out, so that what means the same is the same.
func (s TimerSpec) Canonical() TimerSpec {
	if s.Repeat != nil {
		repeat := *s.Repeat
		if repeat.Missed == MissedLatest {
			repeat.Missed = MissedUnspecified
		}
		if repeat.OnFailure == OnFailureRoll {
			repeat.OnFailure = OnFailureUnspecified
		}
		s.Repeat = &repeat
		if repeat == (Repeat{}) {
			s.Repeat = nil
		}
	}
	if i := s.Trigger.Interval; i != nil && i.From == FromFire {
		interval := *i
		interval.From = FromUnspecified
		s.Trigger.Interval = &interval
	}
	if s.OnUnfunded == OnUnfundedDestroy {
		s.OnUnfunded = OnUnfundedUnspecified
	}
	if s.MaxCharge == "0" {
		s.MaxCharge = ""
	}
	if s.Bid != nil && *s.Bid == (Bid{}) {
		s.Bid = nil
	}
	return s
}

// CheckForm checks what is stated alone, by the same rule in messages and in genesis. How long a text may be at most is checked of
// all messages.
func (s *TimerSpec) CheckForm() error {
	return CheckName(s.Name)
}

// Recurs tells whether a fire may make the timer due again, retries left aside.
func (s *TimerSpec) Recurs() bool {
	return s.Trigger.Interval != nil || s.Trigger.Calendar != nil || s.Trigger.Watch != nil
}

// Repetitions is how often the timer is to be delivered; 0 means until it expires.
func (s *TimerSpec) Repetitions() uint64 {
	if !s.Recurs() {
		return 1
	}
	return s.Repeat.GetRemaining()
}

// CheckRepeat checks what is stated of repetitions against the trigger.
func (s *TimerSpec) CheckRepeat() error {
	r := s.Repeat
	switch {
	case r == nil:
		return nil
	case !s.Recurs():
		return ErrInvalidRepeat.Wrap("repeat is stated for a timer that fires once: want a calendar, an interval or a watch, or no repeat")
	case s.Trigger.Watch != nil && (r.OnFailure != OnFailureUnspecified || r.MaxFailures != 0):
		return ErrInvalidRepeat.Wrap("on_failure is for a calendar or an interval: a watch goes back to watching")
	case !s.Trigger.HasOccurrences() && (r.Missed != MissedUnspecified || r.Window != 0 || r.Jitter != 0):
		return ErrInvalidRepeat.Wrap("missed, window and jitter are for occurrences that are known in advance: want a calendar, or an interval from schedule")
	case r.MaxFailures > 0 && r.OnFailure != OnFailureSuspend:
		return ErrInvalidRepeat.Wrapf("max_failures is %d and on_failure not suspend: state suspend, or leave max_failures out", r.MaxFailures)
	case r.Window > uint64(MaxTime):
		return ErrInvalidRepeat.Wrapf("window is %d, want at most %d", r.Window, MaxTime)
	case r.Jitter > MaxJitter:
		return ErrInvalidRepeat.Wrapf("jitter is %d, want at most %d", r.Jitter, MaxJitter)
	}
	if _, known := OnFailure_name[int32(r.OnFailure)]; !known {
		return ErrInvalidRepeat.Wrapf("on_failure %d is unknown, want roll, stop or suspend", int32(r.OnFailure))
	}
	if _, known := Missed_name[int32(r.Missed)]; !known {
		return ErrInvalidRepeat.Wrapf("missed %d is unknown, want latest or each", int32(r.Missed))
	}
	return nil
}

// SuspendsAfter is after how many failed occurrences in a row a timer is suspended; 0 if it never is.
func (r *Repeat) SuspendsAfter() uint32 {
	if r.GetOnFailure() != OnFailureSuspend {
		return 0
	}
	return max(1, r.MaxFailures)
}

// Recurs tells whether a fire may make the timer due again, retries left aside.
func (t *Timer) Recurs() bool { return t.Spec.Recurs() }

// Left is how many deliveries are left of those that are stated, the one in hand included; 0 if they are not counted.
func (t *Timer) Left() uint64 {
	left := t.Spec.Repetitions()
	if left > 0 && t.Recurs() {
		left -= min(left, t.made())
	}
	return left
}

// made is how many deliveries were made of those that are stated, without the one in hand.
func (t *Timer) made() uint64 {
	made := t.Deliveries - min(t.Counted, t.Deliveries)
	if t.Tried && made > 0 {
		made--
	}
	return made
}

// CountAnew counts what is stated of repetitions from now on, the one in hand included.
func (t *Timer) CountAnew() {
	t.Counted = t.Deliveries
	if t.Tried {
		t.Counted--
	}
}

// Interval are the heights of an interval.
func (t *Timer) Interval() schedule.Interval {
	interval := schedule.Interval{Every: t.Spec.Trigger.Interval.Every, First: t.Spec.Trigger.Interval.First}
	if interval.First == 0 {
		interval.First = t.Start
	}
	return interval
}

// Calendar are the times of a calendar.
func (t *Timer) Calendar() schedule.Calendar {
	calendar := t.Spec.Trigger.Calendar.Series()
	if every, ok := calendar.Rule.(schedule.Every); ok && every.Anchor == 0 {
		every.Anchor = int64(t.Start)
		calendar.Rule = every
	}
	return calendar
}

// Cycles are what a fire counts for the trigger in addition to its other intrinsic cycles: a timer by time was moved from the
// order of time, and its next occurrence is computed; the conditions of a watch with level are looked at after it.
func (t *Trigger) Cycles() uint64 {
	switch {
	case t.ByTime():
		return market.CalendarCycles
	case t.Watch != nil && t.Watch.Level:
		return t.LookCycles()
	default:
		return 0
	}
}

// LookCycles are what one look at the trigger's conditions takes.
func (t *Trigger) LookCycles() uint64 { return market.LookCycles * uint64(t.Conditions()) }

// Conditions is how many conditions the trigger watches.
func (t *Trigger) Conditions() (n int) {
	for i := range t.Watch.GetKeys() {
		if t.Watch.Keys[i].When != nil {
			n++
		}
	}
	return n
}
