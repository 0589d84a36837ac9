// Package timespan converts what people say of time, such as 10m or 2d, to blocks and heights, and back, at the pace of
// a chain's last blocks.
package timespan

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// errNoDuration tells what is none from what is too long or does not lie ahead.
var errNoDuration = errors.New("is no duration")

// ParseDuration reads a Go duration that may begin with whole days: 10m, 1h30m, 2d, 1d12h. It must be positive.
func ParseDuration(text string) (time.Duration, error) {
	days, rest, hasDays := strings.Cut(text, "d")
	if !hasDays {
		days, rest = "0", text
	}
	const want = "want a duration such as 90s, 10m, 1h30m, 2d or 1d12h"
	whole, err := strconv.ParseUint(days, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%.80q %w: %s", text, errNoDuration, want)
	}
	if whole > uint64(math.MaxInt64/day) {
		return 0, fmt.Errorf("%.80q is too long: %d days are the most", text, math.MaxInt64/day)
	}
	total := time.Duration(whole) * day
	if rest != "" || !hasDays {
		part, err := time.ParseDuration(rest)
		// A sign after days would be a riddle: 1d-1h.
		if err != nil || (hasDays && strings.ContainsAny(rest, "+-")) {
			return 0, fmt.Errorf("%.80q %w: %s", text, errNoDuration, want)
		}
		if part > math.MaxInt64-total {
			return 0, fmt.Errorf("%.80q is too long: %d days are the most", text, math.MaxInt64/day)
		}
		total += part
	}
	if total <= 0 {
		return 0, fmt.Errorf("%.80q does not lie ahead: %s", text, want)
	}
	return total, nil
}

// ParseCount reads a positive number of blocks or cycles, or a height.
func ParseCount(text, what string) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, 63)
	if errors.Is(err, strconv.ErrRange) && IsDigits(text) {
		return 0, fmt.Errorf("%.80q is too large a %s: want at most %d", text, what, uint64(math.MaxInt64))
	}
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%.80q is no %s: want a whole number from 1 on", text, what)
	}
	return n, nil
}

// IsDigits reports whether a text is digits alone.
func IsDigits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// Span is a distance from now, stated in blocks or in time.
type Span struct {
	Blocks uint64
	// Time is set where Blocks is 0.
	Time time.Duration
}

// ParseSpan reads a distance: digits alone are blocks, anything else is a duration.
func ParseSpan(text string) (Span, error) {
	if IsDigits(text) {
		blocks, err := ParseCount(text, "number of blocks")
		return Span{Blocks: blocks}, err
	}
	d, err := ParseDuration(text)
	if err != nil {
		return Span{}, fmt.Errorf("%w; or a number of blocks", err)
	}
	return Span{Time: d}, nil
}

// In is the span in blocks at a pace.
func (s Span) In(p Pace) (uint64, error) {
	if s.Blocks > 0 {
		return s.Blocks, nil
	}
	return p.BlocksFor(s.Time)
}

// Pace is how fast the chain was lately: so many blocks in so much time. Invariant: both are positive.
type Pace struct {
	Blocks uint64
	Time   time.Duration
	// Spread is how far the time of one block was off: so far is a longer distance off for each block, if the chain continues
	// slower or faster.
	Spread time.Duration
}

// BlocksFor is how many blocks take at least d: rounded up, so that nothing is due earlier than was asked for.
func (p Pace) BlocksFor(d time.Duration) (uint64, error) {
	hi, lo := bits.Mul64(uint64(d), p.Blocks)
	total := uint64(p.Time)
	lo, carry := bits.Add64(lo, total-1, 0)
	hi += carry
	if hi >= total {
		return 0, fmt.Errorf("%s is too long at %s a block", d, p)
	}
	blocks, _ := bits.Div64(hi, lo, total)
	return blocks, nil
}

// TimeFor is about how long so many blocks take; the longest duration where that does not fit one.
func (p Pace) TimeFor(blocks uint64) time.Duration {
	hi, lo := bits.Mul64(uint64(p.Time), blocks)
	if hi >= p.Blocks {
		return math.MaxInt64
	}
	d, _ := bits.Div64(hi, lo, p.Blocks)
	return time.Duration(min(d, math.MaxInt64))
}

// SpreadFor is how far the time for so many blocks may be off; the longest duration where that does not fit one.
func (p Pace) SpreadFor(blocks uint64) time.Duration {
	if p.Spread <= 0 {
		return 0
	}
	return Pace{Blocks: 1, Time: p.Spread}.TimeFor(blocks)
}

// about is the time for so many blocks, and how far it may be off where that says anything.
func (p Pace) about(blocks uint64) string {
	text := ForPeople(p.TimeFor(blocks))
	if spread := p.SpreadFor(blocks); spread >= time.Second {
		text += " ± " + ForPeople(spread)
	}
	return text
}

// String is the time of a block, to the millisecond where that says anything.
func (p Pace) String() string {
	mean := p.TimeFor(1)
	if mean >= 10*time.Millisecond {
		mean = mean.Round(time.Millisecond)
	}
	return mean.String()
}

// Describe is a distance as people see it: "600 blocks, about 10m0s at 1.002s a block".
func (p Pace) Describe(blocks uint64) string {
	unit := "blocks"
	if blocks == 1 {
		unit = "block"
	}
	return fmt.Sprintf("%d %s, about %s at %s a block", blocks, unit, p.about(blocks), p)
}

// ForPeople writes a duration without the digits that an estimate can't back: 1.2s, 10m0s, 6d18h.
func ForPeople(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= 2*day:
		hours := d.Round(time.Hour)
		return fmt.Sprintf("%dd%dh", hours/day, hours%day/time.Hour)
	case d >= 10*time.Second:
		return d.Round(time.Second).String()
	default:
		return d.Round(100 * time.Millisecond).String()
	}
}
