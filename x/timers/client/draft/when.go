package draft

import (
	"fmt"
	"strings"

	"github.com/cosmos-timers/timers/x/timers/client/timespan"
)

// dueHeight reads when a timer is due.
func (d *Draft) dueHeight(flag, text string) (uint64, error) {
	due, err := d.height(flag, text)
	if err != nil || timespan.IsDigits(text) && flag != flagIn {
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
	d.noteHeight("due at", due, c)
	return due, nil
}

// noteHeight shows a height that was worked out, and when it is expected.
func (d *Draft) noteHeight(what string, height uint64, c timespan.Clock) {
	text := c.Describe(height)
	if moment := c.Moment(height); moment != "" {
		text += "; expected at " + moment
	}
	d.Notef("%s height %d: %s", what, height, text)
}

// The flags that say when a timer is due, and when it ends.
var (
	DueFlags = []string{flagAt, flagIn, flagAfter, flagFirst, flagAfterBlocks, flagEvery}
	EndFlags = []string{flagExpiresAt, flagExpiresIn, FlagFor}
)

// Said is what was stated of one of several flags, before what it came to: "--expires-in 100d: "; empty if none was.
func (d *Draft) Said(names []string) string {
	for _, name := range names {
		if text, given := d.Stated(name); given {
			return fmt.Sprintf("--%s %.80s: ", name, text)
		}
	}
	return ""
}

// Date is a height, and when it is expected where that is known: "height 500 (2030-01-31 09:00:00 +01:00)".
func (d *Draft) Date(height uint64) string {
	text := fmt.Sprintf("height %d", height)
	if c, err := d.Clock(); err == nil {
		if moment := c.Moment(height); moment != "" {
			text += " (" + moment + ")"
		}
	}
	return text
}

// height reads a height: stated as such, or as a distance from the latest block.
func (d *Draft) height(flag, text string) (uint64, error) {
	if isMoment(flag, text) {
		if d.AsFile {
			return 0, fmt.Errorf("--%s %s would be another height each time that the file is read: state a height", flag, text)
		}
		return d.heightOf(flag, text)
	}
	distance, err := d.parseWhen(flag, text)
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

// isMoment tells whether a flag that states a height states a date or a time of day instead.
func isMoment(flag, text string) bool {
	switch flag {
	case flagAt, flagFirst, flagExpiresAt, flagUntil:
		return strings.ContainsAny(text, ":-")
	default:
		return false
	}
}

// heightOf is the first height that is expected at a date and a time, or a time of day, or after it.
func (d *Draft) heightOf(flag, text string) (uint64, error) {
	c, err := d.Clock()
	if err != nil {
		return 0, fmt.Errorf("--%s %s: %w", flag, text, err)
	}
	moment, err := d.moment(flag, text)
	if err != nil {
		return 0, err
	}
	height, err := c.HeightAt(moment)
	if err != nil {
		return 0, fmt.Errorf("--%s %s: %w", flag, text, err)
	}
	return height, nil
}

// parseWhen reads the text of a flag that states a height or a distance; the distance is zero if it is a height.
func (d *Draft) parseWhen(flag, text string) (timespan.Span, error) {
	switch flag {
	case flagAt, flagFirst, flagExpiresAt, flagUntil:
		_, err := timespan.ParseCount(text, "height")
		if err != nil && !timespan.IsDigits(text) {
			err = fmt.Errorf("%.80q is no date, no time of day and no height: %s, or a height such as 5000", text, timespan.WantMoment)
		}
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
		now := timespan.MachineOf(d.Ctx).Now()
		at, err := timespan.Later(text, now)
		return timespan.Span{Time: at.Sub(now)}, err
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
