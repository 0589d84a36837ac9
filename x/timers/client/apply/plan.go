package apply

import (
	"bytes"
	"errors"
	"slices"

	"github.com/cosmos/gogoproto/proto"

	"github.com/cosmos-timers/timers/x/timers/recurrence"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Computed are the fields that a client finds if they are not stated, by a dry run or by prices of today: they are compared where
// they are stated.
var computed = []string{"gas_limit", "max_charge"}

// Differs are the fields of a live timer's spec that are other ones than a file states, in the order of the proto file. Of a calendar
// that was compiled of a zone again nothing differs while it makes the timer due at the same times.
func Differs(live *types.TimerInfo, stated *types.TimerSpec, now types.Moment) (fields []string, err error) {
	if live.Spec.Name != stated.Name {
		return nil, errors.New("it has another name")
	}
	for _, field := range types.SpecFields() {
		next, err := live.Spec.Named([]string{field}, stated)
		if err != nil {
			return nil, err
		}
		same, err := equal(live.Spec.Canonical(), next)
		if err != nil {
			return nil, err
		}
		switch {
		case same:
		case field == "trigger" && recurrence.Same(record(live, live.Spec), record(live, next), now):
		case slices.Contains(computed, field) && unstated(stated, field):
		default:
			fields = append(fields, field)
		}
	}
	return fields, nil
}

// unstated tells whether a spec leaves a field that clients compute to them.
func unstated(spec *types.TimerSpec, field string) bool {
	if field == "gas_limit" {
		return spec.GasLimit == 0
	}
	return spec.MaxCharge == ""
}

// record is a timer with a spec, as far as its trigger says when it is due.
func record(live *types.TimerInfo, spec types.TimerSpec) *types.Timer {
	return &types.Timer{Spec: spec, Start: live.Status.Start, ExpiresAt: live.Status.ExpiresAt, ExpiresTime: live.Status.ExpiresTime, Tried: live.Status.Tried, Due: live.Status.Due}
}

// equal compares specs as they are written.
func equal(a, b types.TimerSpec) (bool, error) {
	one, err := proto.Marshal(&a)
	if err != nil {
		return false, err
	}
	other, err := proto.Marshal(&b)
	return bytes.Equal(one, other), err
}
