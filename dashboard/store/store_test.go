package store_test

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/dashboard/store"
)

var postgres = flag.String("store.postgres", "", "URL of an empty PostgreSQL database to run the tests on, besides SQLite")

// databases are those that the tests run on. Each is opened by its name, as often as a test likes.
func databases(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{"sqlite": filepath.Join(t.TempDir(), "a file with #, ? and %")}
	if *postgres != "" {
		db, err := sql.Open("pgx", *postgres)
		require.NoError(t, err)
		_, err = db.Exec("DROP TABLE IF EXISTS meta, blocks, events, actors, timers, spans, errors")
		require.NoError(t, err)
		require.NoError(t, db.Close())
		all["postgres"] = *postgres
	}
	return all
}

// onEach runs a test on an empty store of each database.
func onEach(t *testing.T, test func(t *testing.T, name string, s *store.Store)) {
	t.Helper()
	for kind, name := range databases(t) {
		t.Run(kind, func(t *testing.T) {
			s, err := store.Open(t.Context(), name)
			require.NoError(t, err)
			t.Cleanup(func() { _ = s.Close() })
			test(t, name, s)
		})
	}
}

// put writes a block with two events: a fire of alice's timer that succeeded, and one of bob's that failed.
func put(t *testing.T, s *store.Store, height int64) {
	t.Helper()
	events := []store.Event{
		{Kind: "fired", Timer: "a1", Actor: "alice", Paid: "100000000000000000000", Body: `{"label":"\u0000 'quoted' ?"}`},
		{Kind: "failed", Timer: "b1", Actor: "bob", Paid: "7", Why: "out of gas", Body: "{}"},
	}
	block := &store.Block{
		Height: height, Hash: fmt.Sprint("hash", height), Time: 1_000 + height, Fired: 1, Failed: 1, Deferred: height,
		UsedSize: 10 * height, Basefee: 0.5, Storm: height%2 == 0,
	}
	require.NoError(t, s.Put(t.Context(), block, events))
}

func TestAnEmptyStore(t *testing.T) {
	onEach(t, func(t *testing.T, _ string, s *store.Store) {
		t.Helper()
		height, hash, err := s.Last(t.Context())
		require.NoError(t, err)
		require.Zero(t, height)
		require.Empty(t, hash)
		value, err := s.Meta(t.Context(), "chain")
		require.NoError(t, err)
		require.Empty(t, value)
		totals, err := s.Totals(t.Context(), "alice")
		require.NoError(t, err)
		require.Equal(t, store.Totals{Actor: "alice", Paid: "0"}, totals)
		events, err := s.Events(t.Context(), store.Filter{Limit: 5})
		require.NoError(t, err)
		require.NotNil(t, events)
		require.Empty(t, events)
		series, err := s.Series(t.Context(), 100, 10)
		require.NoError(t, err)
		require.Empty(t, series)
	})
}

func TestWhatIsPutIsRead(t *testing.T) {
	onEach(t, func(t *testing.T, name string, s *store.Store) {
		t.Helper()
		for height := range int64(6) {
			put(t, s, height+1)
		}
		require.NoError(t, s.SetMeta(t.Context(), "chain", "one"))
		require.NoError(t, s.SetMeta(t.Context(), "chain", "two"))

		again, err := store.Open(t.Context(), name)
		require.NoError(t, err)
		defer func() { require.NoError(t, again.Close()) }()
		height, hash, err := again.Last(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 6, height)
		require.Equal(t, "hash6", hash)
		value, err := again.Meta(t.Context(), "chain")
		require.NoError(t, err)
		require.Equal(t, "two", value)

		of := func(f store.Filter) (found []string) {
			events, err := again.Events(t.Context(), f)
			require.NoError(t, err)
			for _, e := range events {
				found = append(found, fmt.Sprintf("%d/%d %s", e.Height, e.Position, e.Actor))
			}
			return found
		}
		require.Equal(t, []string{"6/1 bob", "6/0 alice", "5/1 bob"}, of(store.Filter{Limit: 3}))
		require.Equal(t, []string{"1/0 alice", "2/0 alice"}, of(store.Filter{Timer: "a1", Limit: 2, OldestFirst: true}))
		require.Equal(t, []string{"2/1 bob", "1/1 bob"}, of(store.Filter{Actor: "bob", Before: store.Place{Height: 3}, Limit: 9}))
		require.Equal(t, []string{"5/1 bob", "6/0 alice", "6/1 bob"},
			of(store.Filter{After: store.Place{Height: 5}, Limit: 9, OldestFirst: true}))
		events, err := again.Events(t.Context(), store.Filter{Timer: "a1", Limit: 1})
		require.NoError(t, err)
		require.Equal(t, `{"label":"\u0000 'quoted' ?"}`, events[0].Body)

		totals, err := again.Totals(t.Context(), "alice")
		require.NoError(t, err)
		require.Equal(t, store.Totals{Actor: "alice", Fired: 6, Paid: "600000000000000000000"}, totals)
		totals, err = again.Totals(t.Context(), "bob")
		require.NoError(t, err)
		require.Equal(t, store.Totals{Actor: "bob", Fired: 6, Failed: 6, Paid: "42"}, totals)
	})
}

func TestASeriesGathersBlocks(t *testing.T) {
	onEach(t, func(t *testing.T, _ string, s *store.Store) {
		t.Helper()
		for height := range int64(6) {
			put(t, s, height+1)
		}
		require.NoError(t, s.Put(t.Context(), &store.Block{Height: 7, Missing: "pruned"}, nil))
		series, err := s.Series(t.Context(), 100, 4)
		require.NoError(t, err)
		require.Equal(t, []store.Point{
			{Height: 1, Time: 1_001, Blocks: 1, UsedSize: 10, Peak: 10, Basefee: 0.5, Fired: 1, Failed: 1, Deferred: 1},
			{Height: 3, Time: 1_003, Blocks: 2, UsedSize: 25, Peak: 30, Basefee: 0.5, Fired: 2, Failed: 2, Deferred: 3, Storm: true},
			{Height: 5, Time: 1_005, Blocks: 2, UsedSize: 45, Peak: 50, Basefee: 0.5, Fired: 2, Failed: 2, Deferred: 5, Storm: true},
			{Height: 6, Time: 1_006, Blocks: 1, UsedSize: 60, Peak: 60, Basefee: 0.5, Fired: 1, Failed: 1, Deferred: 6, Storm: true},
		}, series)
	})
}

func TestAForkIsTakenOutOfTheTotals(t *testing.T) {
	onEach(t, func(t *testing.T, _ string, s *store.Store) {
		t.Helper()
		for height := range int64(4) {
			put(t, s, height+1)
		}
		require.NoError(t, s.DropAbove(t.Context(), 1))
		height, hash, err := s.Last(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 1, height)
		require.Equal(t, "hash1", hash)
		hash, err = s.Hash(t.Context(), 2)
		require.NoError(t, err)
		require.Empty(t, hash)
		totals, err := s.Totals(t.Context(), "bob")
		require.NoError(t, err)
		require.Equal(t, store.Totals{Actor: "bob", Fired: 1, Failed: 1, Paid: "7"}, totals)
		put(t, s, 2)
	})
}

// A block is written once, and as a whole.
func TestABlockThatIsThereIsRefused(t *testing.T) {
	onEach(t, func(t *testing.T, _ string, s *store.Store) {
		t.Helper()
		put(t, s, 1)
		twice := []store.Event{{Kind: "fired", Timer: "c1", Actor: "carol", Paid: "1"}}
		require.Error(t, s.Put(t.Context(), &store.Block{Height: 1, Hash: "other"}, twice))
		totals, err := s.Totals(t.Context(), "carol")
		require.NoError(t, err)
		require.Zero(t, totals.Fired)
	})
}

func TestADatabaseOfAnotherVersionIsRefused(t *testing.T) {
	statements := map[string]string{"sqlite": "PRAGMA user_version = 9", "postgres": "COMMENT ON TABLE blocks IS '9'"}
	drivers := map[string]string{"sqlite": "sqlite3", "postgres": "pgx"}
	for kind, name := range databases(t) {
		t.Run(kind, func(t *testing.T) {
			if kind == "sqlite" {
				name = filepath.Join(t.TempDir(), "db")
			}
			s, err := store.Open(t.Context(), name)
			require.NoError(t, err)
			require.NoError(t, s.Close())
			db, err := sql.Open(drivers[kind], name)
			require.NoError(t, err)
			_, err = db.Exec(statements[kind])
			require.NoError(t, err)
			require.NoError(t, db.Close())
			_, err = store.Open(t.Context(), name)
			require.ErrorContains(t, err, "version 9, and this program writes version 5")
		})
	}
}

// A database of version 1 is opened and completed: labels and cycles come from the events' bodies, and what was set aside is
// called on hold.
func TestStore_CompletesVersion1(t *testing.T) {
	undo := map[string][]string{
		"sqlite":   {"PRAGMA user_version = 1"},
		"postgres": {"COMMENT ON TABLE blocks IS '1'"},
	}
	drivers := map[string]string{"sqlite": "sqlite3", "postgres": "pgx"}
	for kind, name := range databases(t) {
		t.Run(kind, func(t *testing.T) {
			if kind == "sqlite" {
				name = filepath.Join(t.TempDir(), "db")
			}
			s, err := store.Open(t.Context(), name)
			require.NoError(t, err)
			require.NoError(t, s.Put(t.Context(), &store.Block{Height: 7, Time: 70}, []store.Event{
				{Kind: "fired", Timer: "a1", Actor: "alice", Body: `{"label":"rent","cycles":38500}`}, {Kind: "set aside: paused", Timer: "b1", Actor: "bob", Body: "{}"},
			}))
			require.NoError(t, s.Close())
			db, err := sql.Open(drivers[kind], name)
			require.NoError(t, err)
			for _, statement := range append(undo[kind], "DROP TABLE timers", "DROP TABLE spans", "DROP TABLE errors", "DROP TABLE actors",
				"DROP INDEX events_of_error", "ALTER TABLE events DROP COLUMN error", "ALTER TABLE events DROP COLUMN label", "ALTER TABLE events DROP COLUMN cycles",
				"ALTER TABLE blocks RENAME COLUMN on_hold TO set_aside") {
				_, err = db.Exec(statement)
				require.NoError(t, err)
			}
			require.NoError(t, db.Close())

			s, err = store.Open(t.Context(), name)
			require.NoError(t, err)
			defer s.Close()
			events, err := s.Events(t.Context(), store.Filter{Limit: 9, OldestFirst: true})
			require.NoError(t, err)
			require.Len(t, events, 2)
			require.Equal(t, "rent", events[0].Name)
			require.EqualValues(t, 38_500, events[0].Cycles)
			require.EqualValues(t, 70, events[0].Time)
			require.Empty(t, events[1].Name)
			require.Equal(t, "on hold: paused", events[1].Kind)
			named, err := s.Matching(t.Context(), "", "REN", 9)
			require.NoError(t, err)
			require.Len(t, named, 1)
			require.Equal(t, "a1", named[0].Timer)
		})
	}
}

// What a page asks for: who uses the lane, whose last fire failed, and timers by label and id.
func TestStore_SumsAndFinds(t *testing.T) {
	onEach(t, func(t *testing.T, _ string, s *store.Store) {
		t.Helper()
		ctx := t.Context()
		fire := func(kind, timer, actor, label string, cycles int64) store.Event {
			return store.Event{Kind: kind, Timer: timer, Actor: actor, Name: label, Cycles: cycles, Paid: "3", Why: kind, Body: "{}"}
		}
		blocks := [][]store.Event{
			{fire("fired", "aa", "alice", "rent", 9), fire("failed", "bb", "bob", "100%_sure", 20)},
			{fire("failed", "aa", "alice", "rent", 9), fire("failed", "bb", "bob", "100%_sure", 20)},
			{fire("fired", "aa", "alice", "Rent", 9), fire("cancelled", "cc", "alice", "", 0)},
		}
		for i, events := range blocks {
			b := &store.Block{Height: int64(i) + 2, Time: 100 + 2*int64(i)}
			for _, e := range events {
				b.Fired += map[string]int64{"fired": 1, "failed": 1}[e.Kind]
				b.Failed += map[string]int64{"failed": 1}[e.Kind]
			}
			require.NoError(t, s.Put(ctx, b, events))
		}
		sums, err := s.Sums(ctx, 0)
		require.NoError(t, err)
		require.Equal(t, store.Sums{Blocks: 3, Fired: 5, Failed: 3, Cycles: 67}, sums)
		users, err := s.Users(ctx, 0, 5)
		require.NoError(t, err)
		require.Equal(t, []store.Use{{Actor: "bob", Fired: 2, Failed: 2, Cycles: 40}, {Actor: "alice", Fired: 3, Failed: 1, Cycles: 27}}, users)
		users, err = s.Users(ctx, 3, 5)
		require.NoError(t, err)
		require.Equal(t, []store.Use{{Actor: "alice", Fired: 1, Cycles: 9}}, users)
		failing, err := s.Failing(ctx, 0, 5)
		require.NoError(t, err)
		require.Len(t, failing, 1, "the other one has succeeded since")
		require.Equal(t, "bb", failing[0].Timer)
		require.EqualValues(t, 2, failing[0].Times)
		require.EqualValues(t, 3, failing[0].Height)
		require.EqualValues(t, 102, failing[0].Time)
		pace, err := s.Pace(ctx, 50)
		require.NoError(t, err)
		require.InDelta(t, 2, pace, 1e-9)
		life, label, err := s.Life(ctx, "aa")
		require.NoError(t, err)
		require.Equal(t, store.Life{Fired: 3, Failed: 1, Paid: "9"}, life)
		require.Equal(t, "Rent", label)
		found := func(prefix, label string) (timers []string) {
			events, err := s.Matching(ctx, prefix, label, 9)
			require.NoError(t, err)
			for _, e := range events {
				timers = append(timers, fmt.Sprintf("%s@%d", e.Timer, e.Height))
			}
			return timers
		}
		require.Equal(t, []string{"aa@4"}, found("", "RENT"))
		require.Equal(t, []string{"bb@3"}, found("", "%_"))
		require.Equal(t, []string{"cc@4"}, found("c", "c"))
		require.Empty(t, found("", "_ent"))
		kinds, err := s.Events(ctx, store.Filter{Kinds: []string{"cancelled", "failed"}, Before: store.Place{Height: 4, Position: 1}, Limit: 9})
		require.NoError(t, err)
		require.Len(t, kinds, 3)
	})
}

func TestADatabaseThatIsAway(t *testing.T) {
	_, err := store.Open(context.Background(), "postgres://someone:secret@127.0.0.1:1/timers?sslmode=disable&connect_timeout=2")
	require.ErrorContains(t, err, "127.0.0.1:1")
	require.False(t, strings.Contains(err.Error(), "secret"), "a password is shown: %s", err)
}

// TestStore_ReadsWhatItShows: with many events the first page and searches read through an index what they show, or each event of
// the blocks that they are about once. The plan of SQLite says so.
func TestStore_ReadsWhatItShows(t *testing.T) {
	name := filepath.Join(t.TempDir(), "db")
	s, err := store.Open(t.Context(), name)
	require.NoError(t, err)
	defer s.Close()
	for height := range int64(60) {
		events := make([]store.Event, 50)
		for i := range events {
			kind := []string{"fired", "failed"}[(i+int(height))%2]
			events[i] = store.Event{Kind: kind, Timer: fmt.Sprintf("%02x", i), Actor: "alice", Name: fmt.Sprintf("rent %d", i), Paid: "1", Body: "{}"}
		}
		require.NoError(t, s.Put(t.Context(), &store.Block{Height: height + 1, Time: height}, events))
	}
	failing, err := s.Failing(t.Context(), 0, 100)
	require.NoError(t, err)
	require.Len(t, failing, 25)
	found, err := s.Matching(t.Context(), "0", "rent 1", 100)
	require.NoError(t, err)
	require.Len(t, found, 20, "16 by id, and 11 by label, 7 of which are among them")
	require.NoError(t, s.DropAbove(t.Context(), 58))
	totals, err := s.Totals(t.Context(), "alice")
	require.NoError(t, err)
	require.EqualValues(t, 58*50, totals.Fired)
	require.Equal(t, "2900", totals.Paid)

	db, err := sql.Open("sqlite3", name)
	require.NoError(t, err)
	defer db.Close()
	for index, filter := range map[string]store.Filter{
		"events_of_timer": {Timer: "01", Kinds: []string{"failed", "fired"}, After: store.Place{Height: 1}, Before: store.Place{Height: 50}, Limit: 1},
		"events_of_actor": {Actor: "alice", Before: store.Place{Height: 50}, Limit: 200},
		"events_of_error": {Error: 1, Limit: 1_000},
		"PRIMARY KEY":     {Before: store.Place{Height: 50}, Limit: 100},
	} {
		s.Asked(func(statement string, args []any) {
			var id, parent, unused int
			var plan string
			require.NoError(t, db.QueryRow("EXPLAIN QUERY PLAN "+statement, args...).Scan(&id, &parent, &unused, &plan))
			require.Contains(t, plan, "SEARCH e USING", statement)
			require.Contains(t, plan, index, statement)
		})
		_, err := s.Events(t.Context(), filter)
		require.NoError(t, err)
	}
}

// TestStore_SumsOfBlocksAreTheBlocks: of many blocks the sums are read. They say what the blocks do, after a fork too.
func TestStore_SumsOfBlocksAreTheBlocks(t *testing.T) {
	onEach(t, func(t *testing.T, _ string, s *store.Store) {
		t.Helper()
		ctx := t.Context()
		block := func(height int64) *store.Block {
			b := &store.Block{
				Height: height, Time: 1_000 + height, Fired: height % 7, Failed: height % 3, Deferred: height % 11, UsedSize: height % 13,
				Basefee: 0.5, Storm: height == 150,
			}
			if height == 120 {
				b.Missing = "pruned"
			}
			return b
		}
		check := func(last, points int64, spans ...int64) {
			t.Helper()
			series, err := s.Series(ctx, last, points)
			require.NoError(t, err)
			require.Len(t, series, len(spans))
			height := int64(0)
			for i, until := range spans {
				want := store.Point{Height: until, Time: 1_000 + until, Basefee: 0.5}
				for height++; height <= until; height++ {
					if b := block(height); b.Missing == "" {
						want.Blocks++
						want.Fired, want.Failed, want.UsedSize = want.Fired+b.Fired, want.Failed+b.Failed, want.UsedSize+float64(b.UsedSize)
						want.Peak, want.Deferred, want.Storm = max(want.Peak, b.UsedSize), max(want.Deferred, b.Deferred), want.Storm || b.Storm
					}
				}
				height = until
				want.UsedSize /= float64(want.Blocks)
				require.InDelta(t, want.UsedSize, series[i].UsedSize, 1e-9)
				series[i].UsedSize = want.UsedSize
				require.Equal(t, want, series[i])
			}
		}
		for height := range int64(450) {
			require.NoError(t, s.Put(ctx, block(height+1), nil))
		}
		check(450, 4, 199, 399, 450)
		check(1_000_000, 2, 299, 450)
		require.NoError(t, s.DropAbove(ctx, 250))
		check(250, 2, 199, 250)
		require.NoError(t, s.Put(ctx, block(251), nil))
		check(251, 2, 199, 251)
		require.NoError(t, s.DropAbove(ctx, 0))
		check(9, 2)
	})
}

// TestStore_AForkIsTakenOutOfTimers: what is kept of a timer is what its events say, whatever was dropped.
func TestStore_AForkIsTakenOutOfTimers(t *testing.T) {
	onEach(t, func(t *testing.T, _ string, s *store.Store) {
		t.Helper()
		ctx := t.Context()
		for height, label := range []string{"rent", "rent", "rise"} {
			require.NoError(t, s.Put(ctx, &store.Block{Height: int64(height) + 1}, []store.Event{
				{Kind: "failed", Timer: "aa", Name: label, Paid: "3", Body: "{}"}, {Kind: "fired", Timer: fmt.Sprint("b", height), Paid: "3", Body: "{}"},
			}))
		}
		is := func(want store.Life, label, found string) {
			t.Helper()
			life, named, err := s.Life(ctx, "aa")
			require.NoError(t, err)
			require.Equal(t, want, life)
			require.Equal(t, label, named)
			timers := []string{}
			events, err := s.Matching(ctx, "b", "r", 9)
			require.NoError(t, err)
			for _, e := range events {
				timers = append(timers, fmt.Sprintf("%s@%d", e.Timer, e.Height))
			}
			require.Equal(t, found, strings.Join(timers, " "))
		}
		is(store.Life{Fired: 3, Failed: 3, Paid: "9"}, "rise", "b2@3 aa@3 b1@2 b0@1")
		require.NoError(t, s.DropAbove(ctx, 2))
		is(store.Life{Fired: 2, Failed: 2, Paid: "6"}, "rent", "b1@2 aa@2 b0@1")
		require.NoError(t, s.Derive(ctx))
		is(store.Life{Fired: 2, Failed: 2, Paid: "6"}, "rent", "b1@2 aa@2 b0@1")
		require.NoError(t, s.DropAbove(ctx, 0))
		is(store.Life{Paid: "0"}, "", "")
	})
}

// TestStore_FindsByError: by a part of its text in any case, or by its code, and by no other code that begins like it.
func TestStore_FindsByError(t *testing.T) {
	onEach(t, func(t *testing.T, _ string, s *store.Store) {
		t.Helper()
		ctx := t.Context()
		event := func(kind, timer, why string) store.Event {
			return store.Event{Kind: kind, Timer: timer, Why: why, Body: "{}"}
		}
		for height := range int64(3) {
			require.NoError(t, s.Put(ctx, &store.Block{Height: height + 1}, []store.Event{
				event("failed", "aa", "insufficient funds (sdk/5)"), event("failed", fmt.Sprint("b", height), "Execute 100% (wasm/50)"),
				event("agent failed", "", "insufficient funds (sdk/5)"), event("unfunded", "cc", "wants 720, has 700"),
			}))
		}
		require.NoError(t, s.Put(ctx, &store.Block{Height: 4}, []store.Event{event("failed", "dd", "insufficient funds (sdk/5); ended: failed")}))
		find := func(text string, limit int) (timers string, more bool) {
			found, more, err := s.WithError(ctx, text, limit)
			require.NoError(t, err)
			for _, f := range found {
				timers += fmt.Sprintf(" %s@%d x%d", f.Timer, f.Height, f.Times)
			}
			return timers, more
		}
		for range 2 { // And again with what is computed anew.
			for text, want := range map[string]string{
				"Insufficient": " dd@4 x1 aa@3 x3", "sdk/5": " dd@4 x1 aa@3 x3", "SDK/5": " dd@4 x1 aa@3 x3", "asm/50": "", "wasm/5": "",
				"100%": " b2@3 x1 b1@2 x1 b0@1 x1", "wants": "", "ended": "", "%_": "",
			} {
				timers, more := find(text, 9)
				require.Equal(t, want, timers, text)
				require.False(t, more, text)
			}
			timers, more := find("execute", 2)
			require.Equal(t, " b2@3 x1 b1@2 x1", timers)
			require.True(t, more)
			require.NoError(t, s.Derive(ctx))
		}
	})
}

// TestStore_ErrorsOfTheDatabaseAreMarked, so that no one is told them as another's.
func TestStore_ErrorsOfTheDatabaseAreMarked(t *testing.T) {
	onEach(t, func(t *testing.T, _ string, s *store.Store) {
		t.Helper()
		ctx := t.Context()
		require.NoError(t, s.Close())
		for name, ask := range map[string]func() error{
			"last":   func() error { _, _, err := s.Last(ctx); return err },
			"events": func() error { _, err := s.Events(ctx, store.Filter{Limit: 1}); return err },
			"series": func() error { _, err := s.Series(ctx, 9, 9); return err },
			"put":    func() error { return s.Put(ctx, &store.Block{Height: 1}, nil) },
			"drop":   func() error { return s.DropAbove(ctx, 1) },
			"meta":   func() error { return s.SetMeta(ctx, "a", "b") },
		} {
			require.ErrorIs(t, ask(), store.ErrDatabase, name)
		}
	})
}

// TestStore_CompletesVersion4: what follows from its events is computed when it is opened.
func TestStore_CompletesVersion4(t *testing.T) {
	undo := map[string]string{"sqlite": "PRAGMA user_version = 4", "postgres": "COMMENT ON TABLE blocks IS '4'"}
	drivers := map[string]string{"sqlite": "sqlite3", "postgres": "pgx"}
	for kind, name := range databases(t) {
		t.Run(kind, func(t *testing.T) {
			if kind == "sqlite" {
				name = filepath.Join(t.TempDir(), "db")
			}
			s, err := store.Open(t.Context(), name)
			require.NoError(t, err)
			for height := range int64(3) {
				require.NoError(t, s.Put(t.Context(), &store.Block{Height: height + 1, UsedSize: 7}, []store.Event{
					{Kind: "failed", Timer: "a1", Actor: "alice", Name: "rent", Paid: "2", Why: "insufficient funds (sdk/5)", Body: "{}"},
				}))
			}
			require.NoError(t, s.Close())
			db, err := sql.Open(drivers[kind], name)
			require.NoError(t, err)
			for _, statement := range []string{
				undo[kind], "CREATE TABLE labels (timer TEXT PRIMARY KEY, folded TEXT NOT NULL)", "DROP TABLE timers", "DROP TABLE spans",
				"DROP TABLE errors", "DROP INDEX events_of_error", "ALTER TABLE events DROP COLUMN error",
			} {
				_, err = db.Exec(statement)
				require.NoError(t, err)
			}
			require.NoError(t, db.Close())

			s, err = store.Open(t.Context(), name)
			require.NoError(t, err)
			defer s.Close()
			totals, err := s.Totals(t.Context(), "alice")
			require.NoError(t, err)
			require.Equal(t, store.Totals{Actor: "alice", Fired: 3, Failed: 3, Paid: "6"}, totals)
			life, label, err := s.Life(t.Context(), "a1")
			require.NoError(t, err)
			require.Equal(t, store.Life{Fired: 3, Failed: 3, Paid: "6"}, life)
			require.Equal(t, "rent", label)
			found, _, err := s.WithError(t.Context(), "sdk/5", 9)
			require.NoError(t, err)
			require.Len(t, found, 1)
			require.EqualValues(t, 3, found[0].Times)
		})
	}
}
