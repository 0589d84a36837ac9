package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"testing"
	"time"

	"github.com/cosmos/gogoproto/jsonpb"
	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/x/timers/client/course"
	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/client/when"
	"github.com/cosmos-timers/timers/x/timers/types"
)

var updateWhen = flag.Bool("when.update", false, "write "+whenFile)

const (
	whenFile = "../../schedule/testdata/when.json"
	// firesListed is how many fires a vector lists.
	firesListed = 5
)

// whenVector is what is stated of time to schedule, and what it makes of that without a node: for other
// implementations.
type whenVector struct {
	// Now is what the clock of the machine shows. Its zone is UTC.
	Now string `json:"now"`
	// Flags are those of schedule, without dashes.
	Flags map[string]string `json:"flags"`
	// Message is the message as protobuf's JSON, without what it does, who pays and who sends.
	Message json.RawMessage `json:"message,omitempty"`
	// Fires are the first times at which it is due, in seconds since 1970: none for heights.
	Fires []int64 `json:"fires,omitempty"`
	// KnownUntil is when the zone's clocks change next after what the message knows of them, in seconds since 1970.
	KnownUntil int64 `json:"known_until,omitempty"`
	// Refusal is the error; empty if there is a message.
	Refusal string `json:"refusal,omitempty"`
}

// The instants at which the vectors are stated: in winter, hours before and after the clocks of Europe change, and
// within a second.
const (
	inWinter     = "2023-11-14T22:13:30Z"
	beforeSpring = "2026-03-28T12:00:00Z"
	inAutumn     = "2026-10-25T00:30:00Z"
	withinSecond = "2026-07-01T08:00:00.5Z"
)

// whenStated are an instant and flags, in pairs.
var whenStated = [][]string{
	// Rules by the clock, in zones.
	{inWinter, "every", "month@1 09:00", "zone", "Europe/Berlin", "for", "1y"},
	{inWinter, "every", "month@1 09:00", "zone", "Europe/Berlin"},
	{inWinter, "every", "MONTH@LAST 18:00", "zone", "America/New_York", "count", "7"},
	{inWinter, "every", "  mon,thu@09:00 ", "zone", "Asia/Tokyo"},
	{inWinter, "every", "mon-fri@23:59", "zone", "Asia/Kolkata", "for", "30d"},
	{inWinter, "every", "fri-sun@00:00", "zone", "Australia/Lord_Howe"},
	{inWinter, "every", "weekday@9:30", "zone", "America/Santiago", "for", "2y"},
	{inWinter, "every", "weekend@02:30", "zone", "Europe/Berlin", "for", "10y"},
	{inWinter, "every", "day@02:30", "zone", "Europe/Berlin", "until", "2024-05-01 12:00"},
	{inWinter, "every", "jan,jul@1,15 09:00"},
	{inWinter, "every", "march@last 12:00"},
	{inWinter, "every", "feb@28-29 12:00"},
	{inWinter, "every", "hour@:30"},
	{inWinter, "every", "sunday@10:00"},
	{inWinter, "every", "month@31 09:00"},
	{inWinter, "every", "mon@09:00-05:00"},
	{inWinter, "every", "day@09:00Z", "zone", "Europe/Berlin"},
	{inWinter, "every", "day@09:00 +05:45"},
	{inWinter, "every", "day@09:00+18:00"},
	{beforeSpring, "every", "day@02:30", "zone", "Europe/Berlin", "for", "1w"},
	{beforeSpring, "every", "hour@:15", "zone", "Europe/Berlin", "for", "1d"},
	{inAutumn, "every", "day@02:30", "zone", "Europe/Berlin", "for", "1w"},
	{inAutumn, "every", "*/30 2 * * *", "zone", "Europe/Berlin", "for", "3d"},
	{"2026-10-25T02:30:00Z", "every", "day@02:30", "zone", "Europe/Berlin", "for", "1mo"},
	{"2026-02-10T00:00:00Z", "every", "day@08:00", "zone", "Africa/Casablanca", "for", "1y"},
	{"2026-04-04T14:00:00Z", "every", "*/15 1-2 * * *", "zone", "Australia/Lord_Howe", "for", "1w"},
	{"2026-01-31T12:00:00Z", "every", "day@09:00", "zone", "Pacific/Apia", "for", "1mo"},
	{"9999-06-01T00:00:00Z", "every", "day@09:00"},

	// Cron.
	{inWinter, "every", "0 9 * * 1-5", "zone", "Europe/Berlin", "for", "6mo"},
	{inWinter, "every", "0 9 * * 0"},
	{inWinter, "every", "0 9 * * 7"},
	{inWinter, "every", "0 9 * * sat-sun"},
	{inWinter, "every", "0 9 * * fri-0"},
	{inWinter, "every", "*/15 8-18/2 1,L * *"},
	{inWinter, "every", "5/20 0 * JAN-mar,december 1"},
	{inWinter, "every", "0 0 13 * friday"},
	{inWinter, "every", "0 12 29 2 *", "for", "5y"},
	{inWinter, "every", "* * * * *"},
	{inWinter, "every", "@hourly"},
	{inWinter, "every", "@daily", "zone", "America/New_York"},
	{inWinter, "every", "@weekly"},
	{inWinter, "every", "@yearly"},

	// Distances, and where they begin.
	{inWinter, "every", "1h"},
	{inWinter, "every", "90m", "count", "3"},
	{inWinter, "every", "1d12h", "for", "1w"},
	{inWinter, "every", "1.5h"},
	{inWinter, "every", "60s"},
	{inWinter, "every", "1h30m", "at", "22:20"},
	{inWinter, "every", "1h30m", "first", "2023-11-15 09:00", "zone", "Europe/Berlin"},
	{inWinter, "every", "1h", "after", "6m30s"},
	{inWinter, "every", "2d", "after", "1mo"},
	{withinSecond, "every", "1h", "after", "250ms"},
	{withinSecond, "every", "1h", "after", "750ms"},

	// Blocks.
	{inWinter, "every", "20"},
	{inWinter, "every", "20", "first", "500", "count", "3"},
	{inWinter, "every", "20", "every-from", "schedule", "missed", "each", "window", "5", "jitter", "3"},
	{inWinter, "every", "20", "every-from", "fire", "on-failure", "stop"},

	// Terms.
	{inWinter, "every", "day@09:00", "missed", "each", "window", "90m", "jitter", "1500ms"},
	{inWinter, "every", "day@09:00", "missed", "latest"},
	{inWinter, "every", "1h", "on-failure", "suspend", "max-failures", "3", "renew", "true"},
	{inWinter, "every", "1h", "on-failure", "roll", "on-unfunded", "skip"},
	{inWinter, "every", "1h", "on-unfunded", "suspend", "retries", "2", "retry-after", "5m"},
	{inWinter, "after", "1h", "retries", "2", "retry-after", "1500ms"},
	{inWinter, "at", "500", "retries", "2", "retry-after", "5", "retry-backoff", "4", "retry-on", "bank/5,wasm"},

	// Once.
	{inWinter, "at", "2030-01-31 09:00", "zone", "Europe/Berlin"},
	{inWinter, "at", "2030-01-31T09:00:30", "zone", "America/New_York"},
	{inWinter, "at", "2030-01-31T09:00:00Z"},
	{inWinter, "at", "2030-01-31 09:00+05:30"},
	{inWinter, "at", "2030-01-31T09:00:00.25Z"},
	{inWinter, "at", "09:00", "zone", "Europe/Berlin"},
	{inWinter, "at", "9:00:15", "zone", "Asia/Tokyo"},
	{inWinter, "at", "23:00-02:00"},
	{inWinter, "at", "500"},
	{inWinter, "at", "500", "expires-at", "900"},
	{inWinter, "at", "2024-01-31 09:00", "zone", "Asia/Tokyo", "expires-at", "2024-02-01 09:00"},
	{beforeSpring, "at", "2026-03-29 02:30", "zone", "Europe/Berlin"},
	{beforeSpring, "at", "2026-10-25 02:30", "zone", "Europe/Berlin"},
	{"2026-03-07T12:00:00Z", "at", "2026-03-08 02:30", "zone", "America/New_York"},
	{inAutumn, "at", "02:45", "zone", "Europe/Berlin"},
	{"2026-10-25T00:50:00Z", "at", "02:45", "zone", "Europe/Berlin"},
	{inWinter, "after", "10m"},
	{inWinter, "after", "1h30m", "for", "2d"},
	{inWinter, "after", "6mo"},
	{inWinter, "after", "1y6mo2w3d"},
	{"2024-01-31T12:00:00Z", "after", "1mo"},
	{withinSecond, "after", "10m"},

	// Refused: rules.
	{inWinter, "every", "*/90 * * * *"},
	{inWinter, "every", "0 */24 * * *"},
	{inWinter, "every", "0 9 */40 * *"},
	{inWinter, "every", "*/0 * * * *"},
	{inWinter, "every", "*/x * * * *"},
	{inWinter, "every", "60 * * * *"},
	{inWinter, "every", "0 24 * * *"},
	{inWinter, "every", "0 9 32 * *"},
	{inWinter, "every", "0 9 * 13 *"},
	{inWinter, "every", "0 9 * * 8"},
	{inWinter, "every", "0 9 * * mo"},
	{inWinter, "every", "30-10 * * * *"},
	{inWinter, "every", "0 9 * * fri-mon"},
	{inWinter, "every", "0 9 * *"},
	{inWinter, "every", "0 0 9 * * *"},
	{inWinter, "every", "0 9 30 2 *"},
	{inWinter, "every", "@reboot"},
	{inWinter, "every", "CRON_TZ=Europe/Berlin 0 9 * * *"},
	{inWinter, "every", "TZ=UTC  @daily "},
	{inWinter, "every", "day@9"},
	{inWinter, "every", "day@24:00"},
	{inWinter, "every", "day@09:60"},
	{inWinter, "every", "hour@09:00"},
	{inWinter, "every", "day@:30"},
	{inWinter, "every", "month@09:00"},
	{inWinter, "every", "jan@09:00"},
	{inWinter, "every", "mon@1 09:00"},
	{inWinter, "every", "month@32 09:00"},
	{inWinter, "every", "someday@09:00"},
	{inWinter, "every", "day@09:00+19:00"},
	{inWinter, "every", "day"},
	{inWinter, "every", "weekly"},
	{inWinter, "every", "daily"},
	{inWinter, "every", "monday"},
	{inWinter, "every", "sometimes"},
	{inWinter, "every", "a \"quoted\" rule\n"},

	// Refused: distances and blocks.
	{inWinter, "every", "30s"},
	{inWinter, "every", "90.5s"},
	{inWinter, "every", "0"},
	{inWinter, "every", "1d-1h"},
	{inWinter, "every", "99999999999999999999"},
	{inWinter, "every", "1h", "at", "500"},
	{inWinter, "every", "day@09:00", "first", "2023-12-01 09:00"},
	{inWinter, "every", "1h", "every-from", "fire"},
	{inWinter, "every", "20", "every-from", "start"},
	{inWinter, "every", "20", "missed", "each"},
	{inWinter, "every", "20", "window", "5", "every-from", "fire"},
	{inWinter, "every", "1h", "missed", "all"},
	{inWinter, "every", "1h", "window", "5"},
	{inWinter, "every", "1h", "window", "soon"},
	{inWinter, "every", "48h", "jitter", "25h"},
	{inWinter, "every", "100000", "every-from", "schedule", "jitter", "86401"},
	{inWinter, "every", "1h", "on-failure", "retry"},
	{inWinter, "every", "1h", "max-failures", "3"},
	{inWinter, "every", "1h", "count", "0"},
	{inWinter, "every", "1h", "first", "22:20", "after", "1h"},

	// Refused: terms.
	{inWinter, "at", "500", "retries", "2"},
	{inWinter, "at", "500", "retry-backoff", "2"},
	{inWinter, "at", "500", "retries", "2", "retry-after", "5", "retry-backoff", "5"},
	{inWinter, "at", "500", "retries", "2", "retry-after", "5", "retry-on", "/5"},
	{inWinter, "at", "500", "retries", "2", "retry-after", "5m"},
	{inWinter, "at", "500", "retries", "2", "retry-after", "soon"},
	{inWinter, "every", "1h", "retries", "2", "retry-after", "5"},
	{inWinter, "every", "1h", "retries", "2", "retry-after", "soon"},
	{inWinter, "at", "500", "on-unfunded", "wait"},

	// Refused: zones and times.
	{inWinter, "every", "day@09:00", "zone", "Europe/Berln"},
	{inWinter, "every", "day@09:00", "zone", "europe/berlin"},
	{inWinter, "every", "day@09:00", "zone", "Mars/Olympus"},
	{inWinter, "every", "day@09:00", "zone", "Local"},
	{inWinter, "every", "day@09:00", "zone", "+01:00"},
	{inWinter, "every", "1h", "zone", "Asia/Tokyo"},
	{inWinter, "at", "500", "zone", "Asia/Tokyo"},
	{inWinter, "at", "2020-01-01 09:00", "zone", "Europe/Berlin"},
	{inWinter, "at", "2030-02-30 09:00"},
	{inWinter, "at", "2028-02-30 09:00"},
	{inWinter, "at", "2030-13-01 09:00"},
	{inWinter, "at", "2030-00-01"},
	{inWinter, "at", "2030-02-30"},
	{inWinter, "at", "2030-01-31"},
	{inWinter, "at", "31/01/2030"},
	{inWinter, "at", "9am"},
	{inWinter, "at", "tomorrow"},
	{inWinter, "at", "25:00"},
	{inWinter, "at", "0"},
	{inWinter, "after", "10"},
	{inWinter, "after", "soon"},
	{inWinter, "after", "0s"},
	{inWinter, "after", "1h6mo"},
	{inWinter, "after", "106752d"},
	{inWinter, "every", "1h", "for", "5"},
	{inWinter, "every", "1h", "for", "long"},
	{inWinter, "every", "1h", "for", "1y", "expires-at", "2024-02-01 09:00"},
	{inWinter, "after", "1d", "for", "1h"},
	{inWinter, "at", "500", "expires-at", "400"},
	{inWinter, "every", "1h", "first", "2023-12-01 09:00", "expires-at", "2023-11-30 09:00"},
	{inWinter, "at", "500", "expires-at", "2020-01-01 09:00"},
}

// whenOf runs schedule without a node.
func whenOf(t *testing.T, r *rig, stated []string) whenVector {
	t.Helper()
	v := whenVector{Now: stated[0], Flags: map[string]string{}}
	now, err := time.Parse(time.RFC3339, v.Now)
	require.NoError(t, err)
	r.Late = 0
	r.Late = now.Sub(r.Now())
	line := []string{"schedule", "send", "bob", "5stake", "--gas-limit", "100000"}
	for i := 1; i < len(stated); i += 2 {
		name := stated[i]
		if name == "until" {
			name = "expires-at"
		}
		v.Flags[name] = stated[i+1]
		line = append(line, "--"+name+"="+stated[i+1])
	}
	made, err := r.offline(line...)
	if err != nil {
		v.Refusal = err.Error()
		return v
	}
	msg := scheduled(t, made)
	v.Fires, v.KnownUntil = firesOf(t, msg, now, v.Flags)
	bare := *msg
	bare.Sender, bare.Spec.Call.Messages, bare.Spec.Call.Payload, bare.Spec.GasLimit = "", nil, nil, 0
	text, err := (&jsonpb.Marshaler{OrigName: true}).MarshalToString(&bare)
	require.NoError(t, err)
	v.Message = json.RawMessage(text)
	return v
}

// firesOf are the first times at which a timer is due, and until when the clocks of its zone are known.
func firesOf(t *testing.T, msg *types.MsgScheduleTimer, now time.Time, flags map[string]string) (fires []int64, until int64) {
	t.Helper()
	config := types.DefaultTimerConfig("stake")
	clock := timespan.Clock{Height: 1, Time: now, PaceErr: errors.New("no node")}
	for at := range course.Of(msg, &config, clock, 1).Fires() {
		if fires = append(fires, at.Unix()); len(fires) == firesListed {
			break
		}
	}
	if msg.Spec.Trigger.Calendar == nil || msg.Spec.Trigger.Calendar.Cron == nil {
		return fires, 0
	}
	zone, err := when.Zone(map[bool]string{true: "UTC", false: flags["zone"]}[flags["zone"] == ""])
	require.NoError(t, err)
	ends := time.Time{}
	if msg.Spec.ExpiresTime != 0 {
		ends = time.Unix(msg.Spec.ExpiresTime, 0)
	}
	plan, err := when.Parse(flags["every"], zone, now, ends)
	require.NoError(t, err)
	if !plan.Until.IsZero() {
		until = plan.Until.Unix()
	}
	return fires, until
}

// What the command makes of times is what the vectors say, which other clients read. The zones in them are those whose
// rules have stood for years: tables of zones differ between machines. Rule: 9.1-by-clock
func TestVectors_AreWhatTheCommandMakesOfTimes(t *testing.T) {
	r := newRig(t)
	var made []whenVector
	for _, stated := range whenStated {
		made = append(made, whenOf(t, r, stated))
	}
	var text bytes.Buffer
	for i, v := range made {
		var line bytes.Buffer
		encoder := json.NewEncoder(&line)
		encoder.SetEscapeHTML(false)
		require.NoError(t, encoder.Encode(v))
		text.WriteString(map[bool]string{true: "[\n", false: ",\n"}[i == 0])
		text.Write(bytes.TrimSpace(line.Bytes()))
	}
	text.WriteString("\n]\n")
	if *updateWhen {
		require.NoError(t, os.WriteFile(whenFile, text.Bytes(), 0o600))
	}
	kept, err := os.ReadFile(whenFile)
	require.NoError(t, err)
	var all []whenVector
	require.NoError(t, json.Unmarshal(kept, &all))
	refused := 0
	for i, v := range all {
		require.Less(t, i, len(made))
		want, err := json.Marshal(made[i])
		require.NoError(t, err)
		got, err := json.Marshal(v)
		require.NoError(t, err)
		require.JSONEq(t, string(want), string(got), "run the test with -args -when.update if the change is meant")
		if v.Refusal != "" {
			refused++
		}
	}
	require.Len(t, all, len(made))
	require.Greater(t, len(all)-refused, 60)
	require.Greater(t, refused, 60)
}
