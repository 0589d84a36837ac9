package timespan

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Years and months are those of the calendar, in the zone of the moment.
func TestLater_CountsByTheCalendar(t *testing.T) {
	berlin := zoneOf(t, "Europe/Berlin")
	for _, c := range []struct{ from, text, want string }{
		{"2026-03-02T12:00:00+01:00", "10m", "2026-03-02T12:10:00+01:00"},
		{"2026-03-02T12:00:00+01:00", "1d12h", "2026-03-04T00:00:00+01:00"},
		{"2026-03-02T12:00:00+01:00", "1y", "2027-03-02T12:00:00+01:00"},
		{"2026-03-02T12:00:00+01:00", "1y6mo2w1d1h", "2027-09-17T13:00:00+02:00"},
		{"2026-03-20T12:00:00+01:00", "1mo", "2026-04-20T12:00:00+02:00"}, // the clocks have changed
		{"2026-03-20T12:00:00+01:00", "31d", "2026-04-20T13:00:00+02:00"}, // a duration knows no clocks
		{"2026-01-31T12:00:00+01:00", "1mo", "2026-02-28T12:00:00+01:00"},
		{"2024-02-29T12:00:00+01:00", "1y", "2025-02-28T12:00:00+01:00"},
		{"2026-03-02T12:00:00+01:00", "2w", "2026-03-16T12:00:00+01:00"},
	} {
		from, err := time.Parse(time.RFC3339, c.from)
		require.NoError(t, err)
		got, err := Later(c.text, from.In(berlin))
		require.NoError(t, err, c.text)
		require.Equal(t, c.want, got.Format(time.RFC3339), "%s after %s", c.text, c.from)
	}
	for text, want := range map[string]string{
		"": "is no time: want a time such as 90s", "soon": "want a time such as 90s, 10m, 2d, 2w, 6mo or 1y", "1 year": `"1 year" is no time: want a time such as 90s, 10m, 2d, 2w, 6mo or 1y`, "1M": "2w, 6mo or 1y", "-5m": "does not lie ahead", "0y": "does not lie ahead",
		"1ysoon": "is no time: want a time", "1mo-1h": "is no time", "5": `"5" is no time`, "12345y": `is no time`,
	} {
		_, err := Later(text, noon)
		require.ErrorContains(t, err, want, "%q", text)
	}
}

func TestSeconds_RoundsUp(t *testing.T) {
	require.EqualValues(t, 5, Seconds(time.Unix(5, 0)))
	require.EqualValues(t, 6, Seconds(time.Unix(5, 1)))
}
