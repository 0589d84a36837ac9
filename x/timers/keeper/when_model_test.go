package keeper_test

import (
	"encoding/binary"
	"errors"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/sha3"
	"pgregory.net/rapid"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// dumbDelay is the delay of an occurrence by jitter, by the formula of the README.
func dumbDelay(id []byte, occurrence int64, jitter, distance uint64) int64 {
	if jitter == 0 {
		return 0
	}
	h := sha3.NewLegacyKeccak256()
	h.Write(id)
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(occurrence)))
	divisor := new(big.Int).SetUint64(min(jitter, distance-1) + 1)
	return new(big.Int).Mod(new(big.Int).SetBytes(h.Sum(nil)), divisor).Int64()
}

// occurrencesModel watches one timer that repeats every so many seconds, and knows of its occurrences by walking all of them.
type occurrencesModel struct {
	*fixture
	t      *rapid.T
	id     string
	every  uint64
	start  int64
	terms  types.Repeat
	life   int64
	fired  []*types.TimerFired
	passed map[int64]int
	// forced are occurrences that the owner ran, or resumed: they fire whatever their time and window.
	forced map[int64]bool
}

// tx sends a message, and notes what it forces.
func (m *occurrencesModel) tx(msg sdk.Msg) {
	if _, _, err := m.Tx(msg); err != nil {
		return
	}
	if info := m.timer(robot, m.id); info.Status.Recurrence.Forced != 0 {
		m.forced[int64(info.Status.Recurrence.Forced)] = true
	}
}

// due is when an occurrence is due.
func (m *occurrencesModel) due(occurrence int64) int64 {
	id, err := types.ParseID(m.id)
	require.NoError(m.t, err)
	return occurrence + dumbDelay(id, occurrence, m.terms.Jitter, m.every)
}

// observe checks what a block of a time says of the timer.
func (m *occurrencesModel) observe(now int64, events sdk.Events) {
	fired := eventsOf[*types.TimerFired](m.fixture, events)
	require.LessOrEqual(m.t, len(fired), 1, "at most one in a block")
	for _, e := range fired {
		at := int64(e.Occurrence)
		due := m.due(at)
		forced := m.forced[at]
		if !forced {
			require.LessOrEqual(m.t, due, now, "not before it is due")
		}
		require.LessOrEqual(m.t, now, m.life, "not after its life")
		require.Equal(m.t, uint64(max(0, now-at)), e.LateSeconds)
		if m.terms.Window > 0 && !forced {
			require.LessOrEqual(m.t, now, due+int64(m.terms.Window), "not after its window")
		}
		if next := at + int64(m.every); !forced && m.terms.Missed != types.MissedEach && m.due(next) <= m.life {
			require.Greater(m.t, m.due(next), now, "only the latest")
		}
		if n := len(m.fired); n > 0 {
			before := m.fired[n-1]
			if before.Occurrence == e.Occurrence {
				require.False(m.t, before.Success, "what succeeded never comes again")
				require.Equal(m.t, before.Index, e.Index)
			} else {
				require.Greater(m.t, e.Occurrence, before.Occurrence)
				require.Equal(m.t, before.Index+1, e.Index)
			}
		}
		m.fired = append(m.fired, e)
	}
	for _, e := range eventsOf[*types.TimerOccurrencesSkipped](m.fixture, events) {
		if e.Reason == types.SkipRetry {
			require.Equal(m.t, m.fired[len(m.fired)-1].Occurrence, e.First, "it was tried")
			continue
		}
		require.Equal(m.t, (e.Last-e.First)/m.every+1, e.Count)
		for at := e.First; at <= e.Last; at += m.every {
			if n := len(m.fired); n > 0 && m.fired[n-1].Occurrence == at && !m.fired[n-1].Success {
				require.Contains(m.t, []types.SkipReason{types.SkipPaused, types.SkipRequested}, e.Reason, "it was tried, and given up")
				continue
			}
			m.passed[int64(at)]++
		}
	}
}

// TestOccurrences_EachIsDeliveredOrToldOnce: whatever the distances of blocks, pauses and failures, each occurrence up to the last
// that is resolved was delivered, with its retries, or was told once to have passed; and each was delivered in its time.
//
// Rule: 1.4-once, 1.4-missed, 1.4-jitter, 1.4-retry-too-late
func TestOccurrences_EachIsDeliveredOrToldOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &occurrencesModel{fixture: newFixture(t), t: t, passed: map[int64]int{}, forced: map[int64]bool{}}
		m.every, m.start = rapid.Uint64Range(60, 300).Draw(t, "every"), m.Now()
		m.terms = types.Repeat{
			Missed: rapid.SampledFrom([]types.Missed{types.MissedLatest, types.MissedEach}).Draw(t, "missed"),
			Window: rapid.SampledFrom([]uint64{0, 0, 10, 90, 400, 2_000}).Draw(t, "window"),
			Jitter: rapid.SampledFrom([]uint64{0, 0, 30, 86_400}).Draw(t, "jitter"),
		}
		failing := rapid.IntRange(0, 2).Draw(t, "fails") == 0
		trigger := everySeconds(m.every)
		m.terms.Remaining = uint64(rapid.IntRange(0, 6).Draw(t, "remaining"))
		m.life = m.start + rapid.Int64Range(int64(2*m.every), 40*int64(m.every)).Draw(t, "life")
		m.id = m.schedule(robot, 0, m.script(func(sdk.Context, types.Delivery) error {
			if failing && rapid.Bool().Draw(t, "this one") {
				return errors.New("failure")
			}
			return nil
		}), func(msg *types.MsgScheduleTimer) {
			msg.Spec.Trigger, msg.Spec.Repeat, msg.Spec.ExpiresTime = trigger, &m.terms, m.life
			if failing {
				msg.Spec.Retry = &types.Retry{Max: uint32(rapid.IntRange(1, 3).Draw(t, "retries")), After: rapid.Uint64Range(1, 4).Draw(t, "after")}
			}
		})
		for range rapid.IntRange(10, 60).Draw(t, "blocks") {
			m.BlockSeconds = rapid.SampledFrom([]int64{0, 1, 5, 20, 60, 200, 1_500}).Draw(t, "seconds")
			switch sender := robot.String(); rapid.IntRange(0, 14).Draw(t, "what") {
			case 0, 1:
				m.tx(&types.MsgPauseTimer{Sender: sender, Id: m.id})
			case 2, 3:
				m.tx(&types.MsgResumeTimer{Sender: sender, Id: m.id, At: types.ResumeNow})
			case 4, 5:
				m.tx(&types.MsgResumeTimer{Sender: sender, Id: m.id, At: types.ResumeNext})
			case 6:
				m.tx(&types.MsgSkipTimer{Sender: sender, Id: m.id, Count: uint32(rapid.IntRange(1, 4).Draw(t, "skips"))})
			case 7:
				m.tx(&types.MsgRunTimer{Sender: sender, Id: m.id})
			}
			now := m.Now()
			m.observe(now, m.NextBlock())
		}
		m.check(t)
	})
}

// check holds that nothing is missing and nothing came twice.
func (m *occurrencesModel) check(t *rapid.T) {
	delivered := map[int64]bool{}
	last := m.start
	for _, e := range m.fired {
		delivered[int64(e.Occurrence)] = true
		last = max(last, int64(e.Occurrence))
	}
	if len(m.fired) > 0 {
		require.EqualValues(t, len(delivered), m.fired[len(m.fired)-1].Index)
	}
	for at := range m.passed {
		last = max(last, at)
	}
	var twice, lost []int64
	for at := m.start + int64(m.every); at <= last; at += int64(m.every) {
		switch n := m.passed[at]; {
		case n > 1, n == 1 && delivered[at]:
			twice = append(twice, at)
		case n == 0 && !delivered[at]:
			lost = append(lost, at)
		}
	}
	require.Empty(t, twice, "told twice")
	require.Empty(t, lost, "neither delivered nor told")
}
