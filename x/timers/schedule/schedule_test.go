package schedule

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// terms are the terms of a progression that are not after an instant, added up one by one.
func terms[T Instant](p progression[T], to T) []T {
	var found []T
	for term := p.first; term <= to; term += p.step {
		found = append(found, term)
		if term > math.MaxInt64-p.step {
			break
		}
	}
	return found
}

// progressionProperty compares division with addition, near the lower end of the domain, near the upper one and between.
func progressionProperty[T Instant](t *rapid.T, s Series[T], p progression[T]) {
	span := p.step * 20
	room := func(name string) T {
		offset := T(rapid.Int64Range(0, int64(min(span, math.MaxInt64-p.first))).Draw(t, name))
		if rapid.Bool().Draw(t, name+" before") {
			return p.first - min(p.first, offset)
		}
		return p.first + offset
	}
	after, to := room("after"), room("to")
	var between []T
	for _, term := range terms(p, max(to, after)) {
		if term > after && term <= to {
			between = append(between, term)
		}
	}
	require.Equal(t, between, listed(s, after, to, 100))
	n, exact := s.Count(after, to)
	require.True(t, exact)
	require.Equal(t, uint64(len(between)), n)
	latest, ok := s.Latest(after, to)
	require.Equal(t, len(between) > 0, ok)
	if ok {
		require.Equal(t, between[len(between)-1], latest)
	} else {
		require.Zero(t, latest)
	}
}

// first is near either end of the domain, or anywhere.
func first(t *rapid.T, lowest int64) int64 {
	return rapid.OneOf(rapid.Int64Range(lowest, 1000), rapid.Int64Range(lowest, math.MaxInt64), rapid.Int64Range(math.MaxInt64-1000, math.MaxInt64)).Draw(t, "first")
}

func intervalProperty(t *rapid.T) {
	i := Interval{uint64(first(t, 1)), uint64(rapid.OneOf(rapid.Int64Range(1, 5), rapid.Int64Range(1, math.MaxInt64/20)).Draw(t, "every"))}
	require.NoError(t, i.Validate())
	progressionProperty(t, i, i.progression())
}

func TestInterval_AddsUp(t *testing.T) { rapid.Check(t, intervalProperty) }

func FuzzInterval(f *testing.F) { f.Fuzz(rapid.MakeFuzz(intervalProperty)) }

func TestEvery_AddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := Every{rapid.Int64Range(MinSeconds, 1_000_000).Draw(t, "seconds"), rapid.Int64Range(0, MaxTime-20_000_000).Draw(t, "anchor")}
		require.NoError(t, e.Validate())
		progressionProperty[int64](t, Calendar{Rule: e}, e.progression())
	})
}

func TestInterval_ReachesTheEndOfItsDomain(t *testing.T) {
	i := Interval{math.MaxInt64 - 5, 3}
	require.Equal(t, []uint64{math.MaxInt64 - 5, math.MaxInt64 - 2}, listed(i, 0, math.MaxUint64, 10))
	latest, ok := i.Latest(0, math.MaxUint64)
	require.True(t, ok)
	require.Equal(t, uint64(math.MaxInt64-2), latest)
	n, _ := i.Count(0, math.MaxUint64)
	require.Equal(t, uint64(2), n)
	n, _ = Interval{1, 1}.Count(0, math.MaxUint64)
	require.Equal(t, uint64(math.MaxInt64), n)
	_, ok = Interval{math.MaxInt64, math.MaxInt64}.Next(math.MaxInt64, math.MaxUint64)
	require.False(t, ok)
}

func TestInterval_IsValidated(t *testing.T) {
	require.EqualError(t, Interval{0, 1}.Validate(), "first is 0: want 1 to 9223372036854775807")
	require.EqualError(t, Interval{1, 0}.Validate(), "every is 0: want 1 to 9223372036854775807")
	require.ErrorContains(t, Interval{1 << 63, 1}.Validate(), "first is 9223372036854775808")
	require.NoError(t, Interval{math.MaxInt64, math.MaxInt64}.Validate())
}
