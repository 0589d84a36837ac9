package cli

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// parseDuration reads a Go duration that may begin with whole days: 10m, 1h30m, 2d, 1d12h. It must be positive.
func parseDuration(text string) (time.Duration, error) {
	days, rest, hasDays := strings.Cut(text, "d")
	if !hasDays {
		days, rest = "0", text
	}
	const want = "want a duration such as 90s, 10m, 1h30m, 2d or 1d12h"
	whole, err := strconv.ParseUint(days, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%.80q is no duration: %s", text, want)
	}
	if whole > uint64(math.MaxInt64/day) {
		return 0, fmt.Errorf("%.80q is too long: %d days are the most", text, math.MaxInt64/day)
	}
	total := time.Duration(whole) * day
	if rest != "" || !hasDays {
		part, err := time.ParseDuration(rest)
		// A sign after days would be a riddle: 1d-1h.
		if err != nil || (hasDays && strings.ContainsAny(rest, "+-")) {
			return 0, fmt.Errorf("%.80q is no duration: %s", text, want)
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

// parseCount reads a positive number of blocks or cycles, or a height.
func parseCount(text, what string) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%.80q is no %s: want a whole number from 1 on", text, what)
	}
	return n, nil
}

func isDigits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// span is a distance from now, stated in blocks or in time.
type span struct {
	blocks uint64
	// time is set where blocks is 0.
	time time.Duration
}

// parseSpan reads a distance: digits alone are blocks, anything else is a duration.
func parseSpan(text string) (span, error) {
	if isDigits(text) {
		blocks, err := parseCount(text, "number of blocks")
		return span{blocks: blocks}, err
	}
	d, err := parseDuration(text)
	if err != nil {
		return span{}, fmt.Errorf("%w; or a number of blocks", err)
	}
	return span{time: d}, nil
}

// in is the span in blocks at a pace.
func (s span) in(p pace) (uint64, error) {
	if s.blocks > 0 {
		return s.blocks, nil
	}
	return p.blocksFor(s.time)
}

// pace is how fast the chain was lately: so many blocks in so much time. Invariant: both are positive.
type pace struct {
	blocks uint64
	time   time.Duration
}

// blocksFor is how many blocks take at least d: rounded up, so that nothing is due earlier than was asked for.
func (p pace) blocksFor(d time.Duration) (uint64, error) {
	hi, lo := bits.Mul64(uint64(d), p.blocks)
	total := uint64(p.time)
	lo, carry := bits.Add64(lo, total-1, 0)
	hi += carry
	if hi >= total {
		return 0, fmt.Errorf("%s is too long at %s a block", d, p)
	}
	blocks, _ := bits.Div64(hi, lo, total)
	return blocks, nil
}

// timeFor is about how long so many blocks take; the longest duration where that does not fit one.
func (p pace) timeFor(blocks uint64) time.Duration {
	hi, lo := bits.Mul64(uint64(p.time), blocks)
	if hi >= p.blocks {
		return math.MaxInt64
	}
	d, _ := bits.Div64(hi, lo, p.blocks)
	return time.Duration(min(d, math.MaxInt64))
}

// String is the mean time of a block, to the millisecond where that says anything.
func (p pace) String() string {
	mean := p.timeFor(1)
	if mean >= 10*time.Millisecond {
		mean = mean.Round(time.Millisecond)
	}
	return mean.String()
}

// roundForPeople drops the digits that an estimate can't back.
func roundForPeople(d time.Duration) time.Duration {
	if d >= 10*time.Second {
		return d.Round(time.Second)
	}
	return d.Round(100 * time.Millisecond)
}
