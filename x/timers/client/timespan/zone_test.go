package timespan

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func zoneOf(t *testing.T, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	require.NoError(t, err)
	return zone
}

// Moments are those that the clocks of a zone show, whatever changes before them.
func TestMoments_AroundChangesOfClocks(t *testing.T) {
	for _, c := range []struct{ zone, now, text, want string }{
		{"Europe/Berlin", "2026-10-24T12:00:00+02:00", "2026-10-25 02:30", "2026-10-25T02:30:00+02:00"},
		{"Europe/Berlin", "2026-10-25T02:40:00+02:00", "2026-10-25 02:30", "2026-10-25T02:30:00+01:00"},
		{"Europe/Berlin", "2026-10-25T02:40:00+02:00", "02:30", "2026-10-25T02:30:00+01:00"},
		{"America/New_York", "2026-03-07T12:00:00-05:00", "2026-03-08 02:30", "2026-03-08T03:30:00-04:00"},
		{"Europe/Berlin", "2026-03-28T12:00:00+01:00", "2026-03-29 02:30:10", "2026-03-29T03:30:10+02:00"},
		{"Australia/Sydney", "2026-10-03T12:00:00+10:00", "09:00", "2026-10-04T09:00:00+11:00"},
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		require.NoError(t, err)
		got, err := ParseMoment(c.text, now.In(zoneOf(t, c.zone)))
		require.NoError(t, err)
		require.Equal(t, c.want, got.In(zoneOf(t, c.zone)).Format(time.RFC3339), "%s in %s", c.text, c.zone)
	}
}

// The moments of a time of the clocks show it, all of them, and none is earlier than the clocks would come to it.
func TestMomentsAt_ShowTheTime(t *testing.T) {
	zones := Zones()
	rapid.Check(t, func(t *rapid.T) {
		zone, err := time.LoadLocation(rapid.SampledFrom(zones).Draw(t, "zone"))
		require.NoError(t, err)
		face := faceOf(time.Unix(rapid.Int64Range(1_700_000_000, 1_900_000_000).Draw(t, "face"), 0).UTC())
		found := momentsAt(face, zone)
		for _, moment := range found {
			require.False(t, faceOf(moment.In(zone)).Before(face), "%s at %s", moment, face)
		}
		// A clock is read every quarter of an hour: what shows the time is among them.
		for at := face.Add(-15 * time.Hour); at.Before(face.Add(15 * time.Hour)); at = at.Add(15 * time.Minute) {
			if faceOf(at.In(zone)).Equal(face) {
				require.True(t, found[0].Equal(at) || len(found) == 2 && found[1].Equal(at), "%s: %s of %s", face, at, found)
			}
		}
	})
}

// Every name that is suggested is known, without any file of the machine.
// Rule: 9.1-zones-within
func TestZones_AreKnown(t *testing.T) {
	t.Setenv("ZONEINFO", "")
	require.Greater(t, len(Zones()), 500)
	for _, name := range Zones() {
		zone, err := Machine{TZ: name, HasTZ: true}.Zone()
		require.NoError(t, err, name)
		require.Equal(t, name, zone.String())
	}
}

func TestMachine_RefusesAZoneThatNobodyKnows(t *testing.T) {
	for _, name := range []string{"Europe/Berln", "CET-1CEST", "Local", "/nowhere", "../UTC", ":Mars"} {
		_, err := Machine{TZ: name, HasTZ: true}.Zone()
		unknown := (*UnknownZoneError)(nil)
		require.True(t, errors.As(err, &unknown), name)
		require.Equal(t, name, unknown.Name)
	}
	noZone := filepath.Join(t.TempDir(), "zone")
	require.NoError(t, os.WriteFile(noZone, []byte("TZ"), 0o600))
	_, err := Machine{TZ: noZone, HasTZ: true}.Zone()
	require.ErrorContains(t, err, "is no time zone")
	for name, want := range map[string]string{"": "UTC", "UTC": "UTC", ":Europe/Berlin": "Europe/Berlin"} {
		zone, err := Machine{TZ: name, HasTZ: true}.Zone()
		require.NoError(t, err, name)
		require.Equal(t, want, zone.String())
	}
	zone, err := Machine{}.Zone()
	require.NoError(t, err)
	require.Equal(t, time.Local, zone)
	ctx := OnMachine(context.Background(), Machine{TZ: "Asia/Tokyo", HasTZ: true})
	require.Equal(t, "Asia/Tokyo", MachineOf(ctx).TZ)
}

// How long a chain may be silent: nothing that is worked out from now lies in the past.
// Rule: 9.1-halt, 9.1-expected
func TestClock_CountsFromNow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Clock{Height: 1000, Time: noon, Pace: Pace{Blocks: 1, Time: time.Duration(rapid.Int64Range(int64(time.Millisecond), int64(time.Minute)).Draw(t, "pace"))}}
		c.Now = noon.Add(time.Duration(rapid.Int64Range(-int64(time.Minute), int64(100*time.Hour)).Draw(t, "late")))
		d := time.Duration(rapid.Int64Range(1, int64(100*time.Hour)).Draw(t, "ahead"))
		now := c.Present()
		height, err := c.HeightAfter(Span{Time: d})
		require.NoError(t, err)
		require.False(t, c.Expected(height).Before(now.Add(d)), "%s after %s", c.Expected(height), now)
		if before := height - 1; before > c.Height {
			require.True(t, c.Expected(before).Before(now.Add(d)), "it could be earlier")
		}
		at, err := c.HeightAt(now.Add(d))
		require.NoError(t, err)
		require.False(t, c.Expected(at).Before(now.Add(d)))
		require.Equal(t, c.Expected(height).Sub(now), c.Until(height))
	})
	c := Clock{Height: 634, Time: noon, Zone: time.UTC, Pace: Pace{Blocks: 1, Time: time.Second}}
	for late, halted := range map[time.Duration]bool{-time.Hour: false, 0: false, 30 * time.Second: false, 31 * time.Second: true} {
		c.Now = noon.Add(late)
		require.Equal(t, halted, c.Halted(), "%s", late)
	}
	c.Now = noon.Add(80 * time.Second)
	require.Equal(t, "the last block, 634, is of 2026-03-02 12:00:00 +00:00, 1m20s ago by the clock of this machine: the chain may be halted, or "+
		"that clock be wrong. Times count from now, as if it went on", c.DescribeHalt())
	c.Pace.Time = 6 * time.Second
	require.False(t, c.Halted(), "20 blocks are waited for")
}
