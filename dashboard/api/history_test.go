package api_test

import (
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/dashboard/store"
)

var (
	events   = flag.Int("events", 20_000, "events of the history that each endpoint is asked about; the times of more than that are printed")
	postgres = flag.String("postgres", "", "URL of an empty PostgreSQL database to keep that history in, besides SQLite")
)

// past is a history: four events a block, of which one is of the same timer each time, and a full lane in some of the last blocks.
type past struct {
	blocks, dense int64
	// beat is the timer that fires in each block, and owner whose it and each tenth of the others are.
	beat, owner string
}

const (
	// denseEvents are those of a block with a full lane.
	denseEvents = 50
	// perTimer is how many events a timer has, but for the one that beats.
	perTimer = 6
	// someBody is as long as that of a fire.
	someBody = `{"id":"%s","actor":"%s","deliver_id":"00000000000000000000000000000000","success":true,"cycles":38500,"cells":131,` +
		`"paid":"%d","late":1,"fire_seq":12,"next_due":%d,"expires_at":9999999,"name":"%s","seq":17}`
)

func pastOf(events int, owner string) past {
	p := past{dense: int64(events / 2_000), beat: strings.Repeat("be", 32), owner: owner}
	p.blocks = p.dense + (int64(events)-p.dense*denseEvents)/4 // What is left, four a block.
	return p
}

// at is how many events a block has.
func (p past) at(height int64) int64 {
	if height > p.blocks-p.dense {
		return denseEvents
	}
	return 4
}

// event is the values of an event of a block, the nth of all.
func (p past) event(height, position, n int64) []any {
	timer, actor, label := fmt.Sprintf("%016x%048x", uint64(n/perTimer)*0x9e3779b97f4a7c15, n/perTimer), fmt.Sprintf("tmr1owner%04d", n%1_000), ""
	kind, paid, why, cycles := "fired", fmt.Sprint(700+n%90), "", 38_500
	if n%10 == 3 {
		actor = p.owner
	}
	switch {
	case position == 0:
		timer, actor, label = p.beat, p.owner, "beat"
	case n%perTimer == 1:
		kind, paid, cycles = "scheduled", "", 0
	case n%19 == 0:
		kind, why = "failed", []string{"insufficient funds (sdk/5)", "out of cycles (timers/12)"}[n/19%2]
	case n%97 == 0:
		kind, paid, why, cycles = "unfunded", "", fmt.Sprintf("wants 720, has %d", n%700), 0
	case n%101 == 0:
		kind, paid, why, cycles = "missed", "", "2 occurrences: their window had ended", 0
	}
	if position != 0 && n%3 > 0 {
		label = fmt.Sprintf("rent of flat %d", n/perTimer)
	}
	return []any{height, position, kind, timer, actor, paid, why, fmt.Sprintf(someBody, timer, actor, n, height, label), label, cycles}
}

// fill writes a history into an empty database by statements of many rows, and lets the store compute what follows from it.
func (p past) fill(t *testing.T, driver, name string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), name)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	db, err := sql.Open(driver, name)
	require.NoError(t, err)
	defer db.Close()
	tx, err := db.Begin()
	require.NoError(t, err)
	n, blocks, rows := int64(0), []any{}, []any{}
	prepared := map[string]*sql.Stmt{}
	flush := func(table string, width int, values []any) {
		key := fmt.Sprint(table, len(values))
		if statement := prepared[key]; statement != nil {
			_, err := statement.Exec(values...)
			require.NoError(t, err)
			return
		}
		var places strings.Builder
		for i := range values {
			separator := ",("
			if i%width > 0 {
				separator = ","
			}
			fmt.Fprintf(&places, "%s$%d", separator, i+1)
			if i%width == width-1 {
				places.WriteByte(')')
			}
		}
		statement, err := tx.Prepare("INSERT INTO " + table + " VALUES " + places.String()[1:])
		require.NoError(t, err)
		prepared[key] = statement
		_, err = statement.Exec(values...)
		require.NoError(t, err)
	}
	const batch = 100
	for height := int64(1); height <= p.blocks; height++ {
		blocks = append(blocks, height, fmt.Sprint("hash", height), 1_700_000_000+5*height, "", p.at(height), 1, 0, 0, 0, 3, 38_500*p.at(height), 0.0025, 0)
		for position := range p.at(height) {
			rows = append(rows, p.event(height, position, n)...)
			if n++; len(rows) == 10*batch || height == p.blocks && position == p.at(height)-1 {
				flush("events (height, position, kind, timer, actor, paid, why, body, label, cycles)", 10, rows)
				rows = nil
			}
		}
		if len(blocks) == 13*batch || height == p.blocks {
			flush("blocks", 13, blocks)
			blocks = nil
		}
	}
	require.NoError(t, tx.Commit())
	t.Logf("%d events in %d blocks", n, p.blocks)
	began := time.Now()
	require.NoError(t, s.Derive(t.Context()))
	if driver == "pgx" {
		_, err := db.Exec("ANALYZE") // As PostgreSQL does by itself after a while.
		require.NoError(t, err)
	}
	t.Logf("what follows from them was computed in %s", time.Since(began).Round(time.Second/10))
	return s
}

// asked are requests that together go through each endpoint, with what costs most.
func (p past) asked() []string {
	middle := fmt.Sprint(p.blocks / 2)
	all := []string{
		"status", "lane", "params", "calendar", "ready", "estimate", "overview", "events", "events?before=" + middle,
		"timer?id=" + p.beat, "timer?id=" + p.beat + "&before=" + middle + "/1", "timer?id=" + strings.Repeat("0f", 32),
		"actor?actor=" + p.owner, "actor?actor=" + p.owner + "&before=" + middle,
	}
	for _, blocks := range []int{200, 1_000, 20_000, 39_999, 500_000, 1_000_000} {
		all = append(all, fmt.Sprint("series?blocks=", blocks))
	}
	for _, text := range []string{"rent", "rent of flat 7", "beat", p.beat[:8], "aaaa", "insufficient funds", "timers/12", "funds", "no such thing", "0"} {
		all = append(all, "search?q="+url.QueryEscape(text))
	}
	return all
}

// TestEndpoints_ReadNoHistory: with a history of millions of events each endpoint reads through an index what it shows, or the last
// blocks. The long form, with more events, prints how long each takes.
func TestEndpoints_ReadNoHistory(t *testing.T) {
	databases := map[string]string{"sqlite3": filepath.Join(t.TempDir(), "db")}
	if *postgres != "" {
		databases["pgx"] = *postgres
	}
	for driver, name := range databases {
		t.Run(driver, func(t *testing.T) {
			d := newDesk(t)
			p := pastOf(*events, d.Alice)
			s := p.fill(t, driver, name)
			d.serve(s)
			var answer json.RawMessage
			d.look("status", &answer)
			db, err := sql.Open(driver, name)
			require.NoError(t, err)
			defer db.Close()
			db.SetMaxOpenConns(1)

			left := slices.Clone(d.endpoints)
			for _, path := range p.asked() {
				statements := 0
				s.Asked(func(statement string, args []any) {
					statements++
					lines, read := planOf(t, db, driver, statement, args)
					for _, line := range lines {
						require.NotRegexp(t, wholeHistory, line, "%s asks %s", path, statement)
					}
					require.LessOrEqual(t, read, p.most(), "%s asks %s", path, statement)
				})
				response, body := ask(t, d.server, http.MethodGet, "/api/"+path, "")
				require.Contains(t, []int{http.StatusOK, http.StatusBadRequest}, response.StatusCode, "%s: %s", path, body)
				s.Asked(nil)
				took := [2]float64{}
				d.serve(s) // What is kept between two requests is empty in a new server.
				for i := range took {
					began := time.Now()
					_, _ = ask(t, d.server, http.MethodGet, "/api/"+path, "")
					took[i] = time.Since(began).Seconds() * 1e3
				}
				t.Logf("%8.0f ms, again %4.0f ms  %2d statements  %7d bytes  %s", took[0], took[1], statements, len(body), path)
				left = slices.DeleteFunc(left, func(name string) bool { return name == strings.Split(path, "?")[0] })
			}
			require.Empty(t, left, "not asked")
		})
	}
}

// most is the most events that a statement may read: those of the last thousand blocks.
func (p past) most() int64 { return 4*1_000 + (denseEvents-4)*p.dense }

// wholeHistory is how a plan of SQLite shows that all events are read.
var wholeHistory = regexp.MustCompile(`^SCAN (e|events)\b`)

// planOf is how SQLite answers a statement, or how many events PostgreSQL read for it, which tells.
func planOf(t *testing.T, db *sql.DB, driver, statement string, args []any) (plan []string, read int64) {
	t.Helper()
	if driver == "pgx" {
		// It reads a table in its order where that is small, unless it is told not to.
		_, err := db.Exec("SET enable_seqscan = off")
		require.NoError(t, err)
		var text string
		require.NoError(t, db.QueryRow("EXPLAIN (ANALYZE, FORMAT JSON) "+statement, args...).Scan(&text), statement)
		var explained []struct{ Plan step }
		require.NoError(t, json.Unmarshal([]byte(text), &explained), text)
		return nil, explained[0].Plan.read()
	}
	rows, err := db.Query("EXPLAIN QUERY PLAN "+statement, args...)
	require.NoError(t, err, statement)
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var line string
		require.NoError(t, rows.Scan(&id, &parent, &unused, &line))
		plan = append(plan, line)
	}
	require.NoError(t, rows.Err())
	require.NotEmpty(t, plan, statement)
	return plan, 0
}

// step is a step of a plan of PostgreSQL.
type step struct {
	Table string  `json:"Relation Name"`
	Rows  float64 `json:"Actual Rows"`
	Loops float64 `json:"Actual Loops"`
	// Removed and Rechecked were read, and are not among the rows.
	Removed   float64 `json:"Rows Removed by Filter"`
	Rechecked float64 `json:"Rows Removed by Index Recheck"`
	Plans     []step
}

// read is how many rows of the table of events a step and those below it read.
func (s step) read() (rows int64) {
	if s.Table == "events" {
		rows = int64((s.Rows + s.Removed + s.Rechecked) * s.Loops)
	}
	for _, below := range s.Plans {
		rows += below.read()
	}
	return rows
}
