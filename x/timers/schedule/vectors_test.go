package schedule

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("schedule.update", false, "write testdata/vectors.json")

const (
	vectorsFile = "testdata/vectors.json"
	// horizonDays is how far the vectors look, and nextLimit how many occurrences they list.
	horizonDays, nextLimit = 396, 4
)

// vector is a calendar and its occurrences after an instant, for other implementations. The set of minutes is written as
// text, since it does not fit the numbers of JavaScript.
type vector struct {
	Name          string             `json:"name"`
	Every         *vectorEvery       `json:"every,omitempty"`
	Cron          *vectorCron        `json:"cron,omitempty"`
	OffsetMinutes int32              `json:"offset_minutes"`
	Transitions   []vectorTransition `json:"transitions"`
	After         int64              `json:"after"`
	Horizon       int64              `json:"horizon"`
	// Next are the first occurrences after After and up to Horizon, nextLimit at most.
	Next []int64 `json:"next"`
	// Latest is the last occurrence up to After; -1 is none.
	Latest int64 `json:"latest"`
}

type vectorEvery struct {
	Seconds int64 `json:"seconds"`
	Anchor  int64 `json:"anchor"`
}

type vectorCron struct {
	Minutes  uint64 `json:"minutes,string"`
	Hours    uint32 `json:"hours"`
	Days     uint32 `json:"days"`
	LastDay  bool   `json:"last_day"`
	Months   uint16 `json:"months"`
	Weekdays uint8  `json:"weekdays"`
	Nth      uint16 `json:"nth,omitempty"`
}

type vectorTransition struct {
	From          int64 `json:"from"`
	OffsetMinutes int32 `json:"offset_minutes"`
}

// calendar is that of a vector.
func (v vector) calendar() Calendar {
	c := Calendar{OffsetMinutes: v.OffsetMinutes}
	if v.Every != nil {
		c.Rule = Every(*v.Every)
	} else {
		c.Rule = Cron(*v.Cron)
	}
	for _, t := range v.Transitions {
		c.Transitions = append(c.Transitions, Transition(t))
	}
	return c
}

func vectorOf(name string, c Calendar, after int64) vector {
	v := vector{Name: name, OffsetMinutes: c.OffsetMinutes, Transitions: []vectorTransition{}, After: after, Horizon: after + horizonDays*86_400}
	switch rule := c.Rule.(type) {
	case Every:
		v.Every = (*vectorEvery)(&rule)
	case Cron:
		v.Cron = (*vectorCron)(&rule)
	}
	for _, t := range c.Transitions {
		v.Transitions = append(v.Transitions, vectorTransition(t))
	}
	v.Next = append([]int64{}, listed(c, after, v.Horizon, nextLimit)...)
	v.Latest = -1
	if latest, ok := c.Latest(-1, after); ok {
		v.Latest = latest
	}
	return v
}

// namedRules are what people state.
func namedRules() []struct {
	name string
	rule Cron
} {
	with := func(hour, minute int, change func(*Cron)) Cron {
		c := daily(hour, minute)
		change(&c)
		return c
	}
	return []struct {
		name string
		rule Cron
	}{
		{"each minute", Cron{AllMinutes, AllHours, AllDays, false, AllMonths, AllWeekdays, 0}},
		{"each quarter of an hour", Cron{set(0, 15, 30, 45), AllHours, AllDays, false, AllMonths, AllWeekdays, 0}},
		{"day 00:00", daily(0, 0)},
		{"day 02:30", daily(2, 30)},
		{"weekdays 09:00", with(9, 0, func(c *Cron) { c.Weekdays = uint8(set(1, 2, 3, 4, 5)) })},
		{"first of the month 09:00", with(9, 0, func(c *Cron) { c.Days = 1 << 1 })},
		{"31st 23:59", with(23, 59, func(c *Cron) { c.Days = 1 << 31 })},
		{"last day 18:00", with(18, 0, func(c *Cron) { c.Days, c.LastDay = 0, true })},
		{"15th or last day 18:00", with(18, 0, func(c *Cron) { c.Days, c.LastDay = 1<<15, true })},
		{"13th or Friday 12:00", with(12, 0, func(c *Cron) { c.Days, c.Weekdays = 1<<13, 1<<5 })},
		{"last day or Sunday 02:30", with(2, 30, func(c *Cron) { c.Days, c.LastDay, c.Weekdays = 0, true, 1 })},
		{"leap day 12:00", with(12, 0, func(c *Cron) { c.Days, c.Months = 1<<29, 1<<2 })},
		{"quarters 08:30", with(8, 30, func(c *Cron) { c.Days, c.Months = 1<<1, uint16(set(1, 4, 7, 10)) })},
		{"second Tuesday 17:00", with(17, 0, func(c *Cron) { c.Weekdays, c.Nth = 1<<2, 1<<2 })},
		{"last workday 18:00", with(18, 0, func(c *Cron) { c.Weekdays, c.Nth = uint8(set(1, 2, 3, 4, 5)), 1<<6 })},
		{"first and second to last day 09:00", with(9, 0, func(c *Cron) { c.Nth = uint16(set(1, 7)) })},
		{"fifth Monday and fifth to last 09:00", with(9, 0, func(c *Cron) { c.Weekdays, c.Nth = 1<<1, uint16(set(5, 10)) })},
		{"fifth Friday of February 12:00", with(12, 0, func(c *Cron) { c.Weekdays, c.Months, c.Nth = 1<<5, 1<<2, 1<<5 })},
	}
}

// makeVectors makes all vectors: rules in UTC and beyond, zones around their transitions, transitions that are close
// together, and rules at random.
func makeVectors(t *testing.T) []vector {
	var all []vector
	for _, after := range []string{"1970-01-01T00:00:00Z", "2024-02-29T12:00:00Z", "2026-12-31T23:59:59Z", "2096-03-01T00:00:00Z", "9999-12-31T17:59:59Z"} {
		for _, r := range namedRules() {
			all = append(all, vectorOf(r.name+" after "+after, Calendar{Rule: r.rule}, at(t, after)))
		}
		all = append(all, vectorOf("each 90 minutes after "+after, Calendar{Rule: Every{5400, 1_000_000_000}}, at(t, after)))
	}
	for _, z := range []struct{ name, change string }{
		{"Europe/Berlin", "2026-03-29T01:00:00Z"},
		{"Europe/Berlin", "2026-10-25T01:00:00Z"},
		{"America/New_York", "2026-03-08T07:00:00Z"},
		{"America/New_York", "2026-11-01T06:00:00Z"},
		{"Australia/Lord_Howe", "2026-04-04T15:00:00Z"},
		{"Australia/Lord_Howe", "2026-10-03T15:30:00Z"},
		{"Pacific/Apia", "2011-12-30T10:00:00Z"},
		{"Africa/Casablanca", "2026-02-15T02:00:00Z"},
		{"Africa/Casablanca", "2026-03-22T02:00:00Z"},
		{"America/Santiago", "2026-04-05T03:00:00Z"},
		{"America/Santiago", "2026-09-06T04:00:00Z"},
	} {
		zone, err := time.LoadLocation(z.name)
		require.NoError(t, err)
		change := at(t, z.change)
		c := compiled(zone, change-86_400/2*60, change+400*86_400)
		for _, r := range namedRules()[:5] {
			for _, ahead := range []int64{86_400, 1, -1800} {
				c.Rule = r.rule
				all = append(all, vectorOf(fmt.Sprintf("%s %s at %s after %d", z.name, r.name, z.change, change-ahead), c, change-ahead))
			}
		}
	}
	// Clocks show 09:30 to 10:29 three times, and are set from 10:15 to 12:15 then.
	thrice := []Transition{{10*3600 + 1800, -60}, {11*3600 + 1800, -120}, {12*3600 + 900, 0}}
	for _, after := range []int64{9 * 3600, 10 * 3600, 10*3600 + 1800, 11*3600 + 1800, 12*3600 + 899, 12*3600 + 900} {
		c := Calendar{namedRules()[1].rule, 0, thrice}
		all = append(all, vectorOf(fmt.Sprintf("minutes that come three times after %d", after), c, after))
	}
	r := rand.New(rand.NewPCG(5, 6))
	for i := range 60 {
		after := r.Int64N(4_000_000_000)
		c := Calendar{Rule: randomCron(r)}
		c.OffsetMinutes, c.Transitions = randomTransitions(r, max(after-100_000, 0), after+100_000)
		all = append(all, vectorOf(fmt.Sprintf("random %d", i+1), c, after))
	}
	return all
}

// encoded is one vector a line.
func encoded(t *testing.T, all []vector) []byte {
	var text bytes.Buffer
	for i, v := range all {
		line, err := json.Marshal(v)
		require.NoError(t, err)
		separator := ",\n"
		if i == 0 {
			separator = "[\n"
		}
		text.WriteString(separator)
		text.Write(line)
	}
	text.WriteString("\n]\n")
	return text.Bytes()
}

// The code gives what the vectors say, and a walk does. They are not made again for each run: the tables of zones of the
// standard library change.
func TestVectors_AgreeWithTheCodeAndAWalk(t *testing.T) {
	if *update {
		require.NoError(t, os.WriteFile(vectorsFile, encoded(t, makeVectors(t)), 0o600))
	}
	text, err := os.ReadFile(vectorsFile)
	require.NoError(t, err)
	var all []vector
	require.NoError(t, json.Unmarshal(text, &all))
	require.Greater(t, len(all), 250)
	names := map[string]bool{}
	for _, v := range all {
		require.False(t, names[v.Name], "%s is there twice", v.Name)
		names[v.Name] = true
		c := v.calendar()
		require.NoError(t, c.Validate(), v.Name)
		require.Equal(t, v, vectorOf(v.Name, c, v.After), "run the test with -args -schedule.update if the change is meant")
		to := v.Horizon
		if len(v.Next) == nextLimit {
			to = v.Next[nextLimit-1]
		}
		if _, every := c.Rule.(Every); every || (to-v.After > 40*86_400 && !*long) {
			continue
		}
		require.Equal(t, v.Next, append([]int64{}, walked(c, v.After, min(to, MaxTime))...), v.Name)
	}
}
