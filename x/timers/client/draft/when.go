package draft

import (
	"fmt"

	"github.com/cosmos-timers/timers/x/timers/client/timespan"
)

// dueHeight reads when a timer is due.
func (d *Draft) dueHeight(flag, text string) (uint64, error) {
	due, err := d.height(flag, text)
	if err != nil || flag == flagAt || flag == flagFirst {
		return due, err
	}
	c, err := d.Clock()
	if err != nil {
		return 0, err
	}
	if soonest := c.Height + timespan.LeadBlocks; due < soonest {
		if flag == flagIn {
			return 0, fmt.Errorf("--%s %s is too soon: the next block is the first that can take the transaction, "+
				"and nothing fires in the block that schedules it: want at least %d", flagIn, text, timespan.LeadBlocks)
		}
		// A time is a lower bound, so that a later block keeps to it.
		due = soonest
	}
	d.Notef("due at height %d: %s", due, c.Describe(due))
	return due, nil
}

// height reads a height: stated as such, or as a distance from the latest block.
func (d *Draft) height(flag, text string) (uint64, error) {
	distance, err := parseWhen(flag, text)
	if err != nil {
		return 0, fmt.Errorf("--%s: %w", flag, err)
	}
	if distance == (timespan.Span{}) {
		return timespan.ParseCount(text, "height")
	}
	c, err := d.Clock()
	if err != nil {
		return 0, fmt.Errorf("--%s %s: %w", flag, text, err)
	}
	height, err := c.HeightAfter(distance)
	if err != nil {
		return 0, fmt.Errorf("--%s %s: %w", flag, text, err)
	}
	return height, nil
}

// parseWhen reads the text of a flag that states a height or a distance; the distance is zero if it is a height.
func parseWhen(flag, text string) (timespan.Span, error) {
	switch flag {
	case flagAt, flagFirst, flagExpiresAt, flagTo:
		_, err := timespan.ParseCount(text, "height")
		return timespan.Span{}, err
	case flagIn:
		blocks, err := timespan.ParseCount(text, "number of blocks")
		if err != nil {
			err = fmt.Errorf("%w; --%s takes a time", err, flagAfter)
		}
		return timespan.Span{Blocks: blocks}, err
	case flagAfter:
		if timespan.IsDigits(text) {
			return timespan.Span{}, fmt.Errorf("%q has no unit: want a duration such as 10m; --%s takes a number of blocks", text, flagIn)
		}
		d, err := timespan.ParseDuration(text)
		return timespan.Span{Time: d}, err
	default:
		return timespan.ParseSpan(text)
	}
}

// blocks reads a distance in blocks. One that is stated as a time is converted with the chain's recent block time,
// rounded up, and shown back.
func (d *Draft) blocks(flag, text string) (uint64, error) {
	distance, err := timespan.ParseSpan(text)
	if err != nil {
		return 0, fmt.Errorf("--%s: %w", flag, err)
	}
	if distance.Blocks > 0 {
		return distance.Blocks, nil
	}
	c, err := d.Clock()
	if err == nil {
		err = c.PaceErr
	}
	if err != nil {
		return 0, fmt.Errorf("--%s %s: %w", flag, text, err)
	}
	blocks, err := distance.In(c.Pace)
	if err != nil {
		return 0, fmt.Errorf("--%s %s: %w", flag, text, err)
	}
	// A time shorter than a block is one block: a lower bound, as everywhere.
	blocks = max(blocks, 1)
	d.Notef("--%s %s: %s", flag, text, c.Pace.Describe(blocks))
	return blocks, nil
}
