package schedule

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func hashOf[T Instant](occurrence T) [32]byte {
	return sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(occurrence)))
}

// list is a series by enumeration, which counts what it is asked.
type list struct {
	all   []uint64
	calls *int
}

func (l list) Next(after, horizon uint64) (uint64, bool) {
	*l.calls++
	for _, o := range l.all {
		if o > after {
			return found(o, o <= horizon)
		}
	}
	return 0, false
}

func (l list) Latest(after, now uint64) (latest uint64, ok bool) {
	*l.calls++
	for _, o := range l.all {
		if o > after && o <= now {
			latest, ok = o, true
		}
	}
	return latest, ok
}

func (l list) Count(after, to uint64) (n uint64, exact bool) {
	*l.calls++
	for _, o := range l.all {
		if o > after && o <= to {
			n++
		}
	}
	return n, true
}

// due is an occurrence with its delay, in big numbers.
func due(all []uint64, i int, jitter uint64) Occurrence[uint64] {
	most := jitter
	if i+1 < len(all) {
		most = min(jitter, all[i+1]-all[i]-1)
	}
	hash := hashOf(all[i])
	delay := new(big.Int).Mod(new(big.Int).SetBytes(hash[:]), new(big.Int).SetUint64(most+1))
	return Occurrence[uint64]{all[i], all[i] + delay.Uint64()}
}

// resolved is the second model: it asks each occurrence, one after the other, whether it has come and whether it may fire.
// It leaves Until out.
func resolved(all []uint64, terms Terms[uint64], after, now uint64) Resolution[uint64] {
	r := Resolution[uint64]{}
	var come []Occurrence[uint64]
	for i := range all {
		if o := due(all, i, terms.Jitter); o.At > after && o.Due <= min(now, terms.End) {
			come = append(come, o)
		}
	}
	last := after
	for i, o := range come {
		over := now > terms.End || (terms.Window > 0 && now > o.Due+terms.Window) || (terms.Missed == Latest && i < len(come)-1)
		if !over {
			r.Open, r.Fire, last = true, o, o.At
			break
		}
		if r.Passed.Count == 0 {
			r.Passed.First = o.At
		}
		r.Passed.Last, r.Passed.Exact, last = o.At, true, o.At
		r.Passed.Count++
	}
	for i := range all {
		if o := due(all, i, terms.Jitter); o.At > last {
			if o.Due <= terms.End {
				r.More, r.Next = true, o
			}
			break
		}
	}
	return r
}

// resolveProperty compares Resolve with the model. The open occurrence may fire until Until, and not later.
func resolveProperty(t *rapid.T) {
	calls := 0
	l := list{calls: &calls}
	last := uint64(0)
	for range rapid.IntRange(0, 12).Draw(t, "occurrences") {
		last += rapid.OneOf(rapid.Uint64Range(1, 3), rapid.Uint64Range(1, 40)).Draw(t, "gap")
		l.all = append(l.all, last)
	}
	small := rapid.OneOf(rapid.Just(uint64(0)), rapid.Uint64Range(1, 5), rapid.Uint64Range(1, 60))
	terms := Terms[uint64]{
		Missed: Missed(rapid.IntRange(0, 1).Draw(t, "missed")), Window: small.Draw(t, "window"), Jitter: small.Draw(t, "jitter"),
		Hash: hashOf[uint64], End: rapid.Uint64Range(0, last+60).Draw(t, "end"),
	}
	after, now := rapid.Uint64Range(0, last+10).Draw(t, "after"), rapid.Uint64Range(0, last+80).Draw(t, "now")
	got := Resolve(l, terms, after, now)
	require.LessOrEqual(t, calls, 16)
	if got.Open {
		for at := now; at <= terms.End+1; at++ {
			later := resolved(l.all, terms, after, at)
			require.Equal(t, at <= got.Until, later.Open && later.Fire == got.Fire, "at %d", at)
		}
	}
	got.Until = 0
	require.Equal(t, resolved(l.all, terms, after, now), got)
}

func TestResolve_AgreesWithAModel(t *testing.T) { rapid.Check(t, resolveProperty) }

func FuzzResolve(f *testing.F) { f.Fuzz(rapid.MakeFuzz(resolveProperty)) }

// lifeProperty is the life of a timer of which each fire, and what passed, is kept: every occurrence that is due within
// the life is fired or passed, once and in order, and a timer that is looked at each second misses none.
func lifeProperty(t *rapid.T) {
	c := Calendar{Rule: Every{rapid.Int64Range(60, 200).Draw(t, "seconds"), 1000}}
	terms := Terms[int64]{
		Missed: Missed(rapid.IntRange(0, 1).Draw(t, "missed")), Window: rapid.Int64Range(0, 300).Draw(t, "window"),
		Jitter: rapid.Int64Range(0, 300).Draw(t, "jitter"), Hash: hashOf[int64], End: rapid.Int64Range(0, 4000).Draw(t, "end"),
	}
	step := rapid.SampledFrom([]int64{1, 7, 150, 900}).Draw(t, "step")
	after, last, fired, passed := int64(500), int64(500), uint64(0), uint64(0)
	for now := int64(500); now <= terms.End+step; now += step {
		r := Resolve(c, terms, after, now)
		if r.Passed.Count > 0 {
			require.Greater(t, r.Passed.First, last)
			last, passed = r.Passed.Last, passed+r.Passed.Count
		}
		if r.Open {
			require.True(t, r.Fire.At > last && r.Fire.Due <= now && now <= r.Until)
			last, fired = r.Fire.At, fired+1
		}
		after = last
	}
	n := uint64(0)
	for _, o := range listed(c, 500, terms.End, math.MaxInt) {
		if o+terms.delay(c, o) <= terms.End {
			n++
		}
	}
	require.Equal(t, n, fired+passed)
	if step == 1 {
		require.Zero(t, passed)
	}
}

func TestResolve_ForgetsNoOccurrence(t *testing.T) { rapid.Check(t, lifeProperty) }

// What a timer of every 100 heights does that fired last at 300, whatever has happened since.
func TestResolve_CatchesUpAsStated(t *testing.T) {
	for _, c := range []struct {
		name   string
		missed Missed
		window uint64
		now    uint64
		want   Resolution[uint64]
	}{
		{"nothing has come", Latest, 0, 399, Resolution[uint64]{More: true, Next: at100(4)}},
		{"one has come", Latest, 0, 400, Resolution[uint64]{Open: true, Fire: at100(4), Until: 499, More: true, Next: at100(5)}},
		{
			"once after an outage", Latest, 0, 750,
			Resolution[uint64]{Open: true, Fire: at100(7), Until: 799, Passed: Passed[uint64]{400, 600, 3, true}, More: true, Next: at100(8)},
		},
		{"catch up with everything", Each, 0, 750, Resolution[uint64]{Open: true, Fire: at100(4), Until: 1000, More: true, Next: at100(5)}},
		{
			"catch up with the last day", Each, 200, 750,
			Resolution[uint64]{Open: true, Fire: at100(6), Until: 800, Passed: Passed[uint64]{400, 500, 2, true}, More: true, Next: at100(7)},
		},
		{"never late, in time", Latest, 5, 405, Resolution[uint64]{Open: true, Fire: at100(4), Until: 405, More: true, Next: at100(5)}},
		{"never late, too late", Latest, 5, 406, Resolution[uint64]{Passed: Passed[uint64]{400, 400, 1, true}, More: true, Next: at100(5)}},
		{"a window beyond the next", Latest, 500, 450, Resolution[uint64]{Open: true, Fire: at100(4), Until: 499, More: true, Next: at100(5)}},
		{
			"the last one", Latest, 0, 1000,
			Resolution[uint64]{Open: true, Fire: at100(10), Until: 1000, Passed: Passed[uint64]{400, 900, 6, true}},
		},
		{"the last one of each", Each, 50, 1000, Resolution[uint64]{Open: true, Fire: at100(10), Until: 1000, Passed: Passed[uint64]{400, 900, 6, true}}},
		{"after the end", Each, 0, 1001, Resolution[uint64]{Passed: Passed[uint64]{400, 1000, 7, true}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			terms := Terms[uint64]{Missed: c.missed, Window: c.window, End: 1000}
			require.Equal(t, c.want, Resolve(Interval{100, 100}, terms, 300, c.now))
		})
	}
}

// at100 is an occurrence without a delay, of a timer of every 100 heights.
func at100(k uint64) Occurrence[uint64] { return Occurrence[uint64]{100 * k, 100 * k} }

// A minute timer that was down for a year is resolved in as few questions as one that was down for an hour.
func TestResolve_CountsCronsAtLeast(t *testing.T) {
	c := Calendar{Rule: Cron{AllMinutes, AllHours, AllDays, false, AllMonths, AllWeekdays, 0}}
	r := Resolve(c, Terms[int64]{End: MaxTime}, 0, 365*86_400)
	require.Equal(t, Passed[int64]{60, 365*86_400 - 60, MaxCount, false}, r.Passed)
	require.Equal(t, int64(365*86_400), r.Fire.At)
	c.Rule = Every{60, 60}
	r = Resolve(c, Terms[int64]{End: MaxTime}, 0, 365*86_400)
	require.Equal(t, Passed[int64]{60, 365*86_400 - 60, 365*1440 - 1, true}, r.Passed)
}

// A chain whose clock is earlier than that of the state that it imported waits for what was not delivered yet.
func TestResolve_WaitsWhereTheClockIsEarlier(t *testing.T) {
	for _, missed := range []Missed{Latest, Each} {
		r := Resolve(Interval{100, 10}, Terms[uint64]{Missed: missed, End: 1000}, 250, 7)
		require.Equal(t, Resolution[uint64]{More: true, Next: Occurrence[uint64]{260, 260}}, r)
	}
}

func TestDelay_IsTheRemainderOfAllBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hash := [32]byte(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "hash"))
		jitter, gap := rapid.Uint64().Draw(t, "jitter"), rapid.Uint64().Draw(t, "gap")
		got := Delay(hash, jitter, gap)
		if gap == 0 {
			require.Zero(t, got)
			return
		}
		divisor := new(big.Int).SetUint64(min(jitter, gap-1))
		divisor.Add(divisor, big.NewInt(1))
		want := new(big.Int).Mod(new(big.Int).SetBytes(hash[:]), divisor)
		require.Equal(t, want.Uint64(), got)
		require.True(t, got <= jitter && got < gap)
	})
	full := [32]byte{}
	for i := range full {
		full[i] = 0xff
	}
	require.Zero(t, Delay(full, 100, 0), "there is no gap")
	require.Zero(t, Delay(full, 100, 1))
	require.Zero(t, Delay(full, 0, 100))
	require.Equal(t, uint64(1), Delay(full, 1, 100))
	require.Equal(t, Delay(full, 99, 1000), Delay(full, 1000, 100), "the lesser of the two counts")
	require.NotPanics(t, func() { Delay(full, math.MaxUint64, math.MaxUint64) })
}

// Without a hash there is nothing to draw a delay by.
func TestResolve_DelaysNothingWithoutAHash(t *testing.T) {
	r := Resolve(Interval{10, 10}, Terms[uint64]{Jitter: 5, End: 100}, 0, 10)
	require.Equal(t, Occurrence[uint64]{10, 10}, r.Fire)
	require.Equal(t, Occurrence[uint64]{20, 20}, r.Next)
}

// The delay of an occurrence stays what it is when the timer's life is extended.
func TestResolve_DelaysDoNotDependOnTheEnd(t *testing.T) {
	c := Calendar{Rule: Every{3600, 3600}}
	terms := Terms[int64]{Jitter: 86_400, Hash: hashOf[int64]}
	for end := int64(3600); end < 4*3600; end += 600 {
		terms.End = end
		r := Resolve(c, terms, 0, 0)
		delay := terms.delay(c, 3600)
		require.Equal(t, 3600+delay <= end, r.More)
		if r.More {
			require.Equal(t, Occurrence[int64]{3600, 3600 + delay}, r.Next)
		}
	}
}
