package state

import (
	"bytes"

	"github.com/cosmos-timers/timers/x/timers/schedule"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// encodeRecord encodes the record at a place, without what follows from that, which is a quarter of a short record: due and seq; the
// height of a trigger that has nothing else; and the id of a timer that is where it was scheduled. A record with a due height is
// whole, and so is one that has none in its place.
func encodeRecord(key schedule.Key, t types.Timer) ([]byte, error) {
	if t.HoldReason != types.NotOnHold || len(t.Id) == 0 || t.Trigger.Equal(types.Trigger{}) {
		return t.Marshal()
	}
	if t.Trigger.Equal(types.Trigger{Height: key.Due}) {
		t.Trigger.Height = 0
	}
	// Of a timer that has fired, or whose payload lies elsewhere, the id is another.
	if t.FireSeq == 0 && t.PayloadSeq == 0 && bytes.Equal(t.Id, idOf(key, &t)) {
		t.Id = nil
	}
	t.Due, t.Seq = 0, 0
	return t.Marshal()
}

// decode decodes the record at a place.
func decode(key schedule.Key, bz []byte) (t types.Timer, err error) {
	if err := t.Unmarshal(bz); err != nil || t.Due != 0 || t.HoldReason != types.NotOnHold {
		return t, err
	}
	if len(t.Id) == 0 {
		t.Id = idOf(key, &t)
	}
	if t.Trigger.Equal(types.Trigger{}) {
		t.Trigger.Height = key.Due
	}
	t.Due, t.Seq = key.Due, key.Seq
	return t, nil
}

func idOf(key schedule.Key, t *types.Timer) []byte {
	return types.TimerID(t.Actor, key.Due, t.Payload, key.Seq)
}
