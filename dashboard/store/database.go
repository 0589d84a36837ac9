package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	// The drivers of PostgreSQL and of SQLite.
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/mattn/go-sqlite3"
)

// statements run on a database, or within one of its transactions. They are written for both databases, with ? for an
// argument.
type statements struct {
	on interface {
		ExecContext(context.Context, string, ...any) (sql.Result, error)
		QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	}
	numbered bool
	// asked is told each statement that reads; nil tells no one.
	asked func(statement string, args []any)
}

// ErrDatabase is within each error of the database. What else such an error says is for who runs it, and not for visitors.
var ErrDatabase = errors.New("the database")

// failed marks an error of the database as one.
func failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrDatabase, err)
}

func (s statements) exec(ctx context.Context, statement string, args ...any) error {
	_, err := s.on.ExecContext(ctx, s.text(statement), args...)
	return failed(err)
}

func (s statements) query(ctx context.Context, statement string, args ...any) (*sql.Rows, error) {
	if s.asked != nil {
		s.asked(s.text(statement), args)
	}
	rows, err := s.on.QueryContext(ctx, s.text(statement), args...)
	return rows, failed(err)
}

// find reads the row that a statement finds, and reports whether there is one.
func (s statements) find(ctx context.Context, into []any, statement string, args ...any) (bool, error) {
	rows, err := s.query(ctx, statement, args...)
	if err != nil {
		return false, err
	}
	found := rows.Next()
	if found {
		err = rows.Scan(into...)
	}
	return found, failed(errors.Join(err, rows.Close(), rows.Err()))
}

// text numbers the arguments where the database wants them so.
func (s statements) text(statement string) string {
	if !s.numbered {
		return statement
	}
	var out strings.Builder
	for n := 1; ; n++ {
		before, after, found := strings.Cut(statement, "?")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		out.WriteString("$" + strconv.Itoa(n))
		statement = after
	}
}

// version of the schema: SQLite states it in user_version, PostgreSQL in a comment on the table of blocks. A database of
// version 1 has no labels and cycles; it gets them from the events' bodies. Those of versions 1 and 2 said "set aside" where
// it is "on hold" now. Version 4 had a table of labels. Since version 5 the tables of timers, spans and errors follow from the
// events and blocks.
const version = 5

// tables are made for SQLite and PostgreSQL, which name their types and options otherwise. Those from actors on follow from the
// blocks and events.
const tables = `
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)%[1]s;
CREATE TABLE IF NOT EXISTS blocks (
	height %[2]s PRIMARY KEY, hash TEXT NOT NULL, time %[2]s NOT NULL, missing TEXT NOT NULL,
	fired %[2]s NOT NULL, failed %[2]s NOT NULL, expired %[2]s NOT NULL, unfunded %[2]s NOT NULL,
	on_hold %[2]s NOT NULL, deferred %[2]s NOT NULL, used_size %[2]s NOT NULL, basefee %[3]s NOT NULL,
	storm %[2]s NOT NULL);
CREATE TABLE IF NOT EXISTS events (
	height %[2]s NOT NULL, position %[2]s NOT NULL, kind TEXT NOT NULL, timer TEXT NOT NULL, actor TEXT NOT NULL,
	paid TEXT NOT NULL, why TEXT NOT NULL, body TEXT NOT NULL, label TEXT NOT NULL DEFAULT '',
	cycles %[2]s NOT NULL DEFAULT 0, error %[2]s NOT NULL DEFAULT 0, PRIMARY KEY (height, position))%[1]s;
CREATE INDEX IF NOT EXISTS events_of_timer ON events (timer, height, position);
CREATE INDEX IF NOT EXISTS events_of_actor ON events (actor, height, position);
CREATE INDEX IF NOT EXISTS events_of_kind ON events (kind, height);
CREATE INDEX IF NOT EXISTS events_of_error ON events (error, height, position) WHERE error > 0;
CREATE TABLE IF NOT EXISTS actors (
	actor TEXT PRIMARY KEY, fired %[2]s NOT NULL, failed %[2]s NOT NULL, expired %[2]s NOT NULL,
	unfunded %[2]s NOT NULL, paid TEXT NOT NULL)%[1]s;
CREATE TABLE IF NOT EXISTS timers (
	timer TEXT PRIMARY KEY, label TEXT NOT NULL, folded TEXT NOT NULL, fired %[2]s NOT NULL, failed %[2]s NOT NULL,
	paid TEXT NOT NULL, height %[2]s NOT NULL, position %[2]s NOT NULL)%[1]s;
CREATE TABLE IF NOT EXISTS spans (
	span %[2]s PRIMARY KEY, height %[2]s NOT NULL, time %[2]s NOT NULL, blocks %[2]s NOT NULL, used_size %[2]s NOT NULL,
	peak %[2]s NOT NULL, basefee %[3]s NOT NULL, fired %[2]s NOT NULL, failed %[2]s NOT NULL, deferred %[2]s NOT NULL,
	storm %[2]s NOT NULL);
CREATE TABLE IF NOT EXISTS errors (id %[2]s PRIMARY KEY, text TEXT NOT NULL UNIQUE, folded TEXT NOT NULL);
`

// kind is what the two databases do in their own ways.
type kind struct {
	driver string
	// found reads the version of the schema, 0 if there is none; state writes it.
	found, state string
	// options are those of a table whose rows are in the order of its key; whole and broken are the types of numbers.
	options, whole, broken string
}

var (
	sqlite     = kind{"sqlite3", "PRAGMA user_version", "PRAGMA user_version = %d;", " WITHOUT ROWID", "INTEGER", "REAL"}
	postgreSQL = kind{
		"pgx", "SELECT COALESCE(obj_description(to_regclass('blocks')), '0')", "COMMENT ON TABLE blocks IS '%d';",
		"", "BIGINT", "DOUBLE PRECISION",
	}
)

// renamed brings the names of versions 1 and 2 to those of this one.
var renamed = []string{
	"ALTER TABLE blocks RENAME COLUMN set_aside TO on_hold",
	"UPDATE events SET kind = REPLACE(kind, 'set aside', 'on hold') WHERE kind LIKE 'set aside%'",
}

// prepare makes the tables unless they are there, brings those of earlier versions to this one, and refuses others.
func (s *Store) prepare(ctx context.Context, k kind) error {
	var is int
	if _, err := s.find(ctx, []any{&is}, k.found); err != nil {
		return err
	}
	if is < 0 || is > version {
		return fmt.Errorf("it is of version %d, and this program writes version %d: name another database", is, version)
	}
	return s.within(ctx, func(tx statements) error {
		if err := alter(ctx, tx, k, is); err != nil {
			return err
		}
		err := tx.exec(ctx, fmt.Sprintf(tables, k.options, k.whole, k.broken)+fmt.Sprintf(k.state, version))
		if err != nil || is == 0 || is == version {
			return err
		}
		return derive(ctx, tx)
	})
}

// alter gives the tables of earlier versions the columns that they have now.
func alter(ctx context.Context, tx statements, k kind, is int) error {
	if is > 0 && is < 3 {
		for _, statement := range renamed {
			if err := tx.exec(ctx, statement); err != nil {
				return err
			}
		}
	}
	if is == 1 {
		for _, column := range []string{"label TEXT NOT NULL DEFAULT ''", "cycles " + k.whole + " NOT NULL DEFAULT 0"} {
			if err := tx.exec(ctx, "ALTER TABLE events ADD COLUMN "+column); err != nil {
				return err
			}
		}
		if err := complete(ctx, tx); err != nil {
			return err
		}
	}
	if is > 0 && is < 5 {
		for _, statement := range []string{"DROP TABLE IF EXISTS labels", "ALTER TABLE events ADD COLUMN error " + k.whole + " NOT NULL DEFAULT 0"} {
			if err := tx.exec(ctx, statement); err != nil {
				return err
			}
		}
	}
	return nil
}

// complete states the labels and cycles of events that were stored without.
func complete(ctx context.Context, tx statements) error {
	const page = 1_000
	for at := (Place{-1, 0}); ; {
		events, err := tx.events(ctx, Filter{After: at, Limit: page, OldestFirst: true})
		if err != nil || len(events) == 0 {
			return err
		}
		for i := range events {
			e := &events[i]
			at = Place{e.Height, e.Position}
			var said struct {
				Name   string `json:"label"`
				Cycles int64  `json:"cycles"`
			}
			// A body that does not state them has none.
			if json.Unmarshal([]byte(e.Body), &said) != nil || said.Name == "" && said.Cycles == 0 {
				continue
			}
			err := tx.exec(ctx, "UPDATE events SET label = ?, cycles = ? WHERE height = ? AND position = ?", said.Name, said.Cycles, e.Height, e.Position)
			if err != nil {
				return err
			}
		}
	}
}

// IsURL reports whether a database is named by the URL of PostgreSQL. Otherwise it is a file.
func IsURL(name string) bool {
	return strings.HasPrefix(name, "postgres://") || strings.HasPrefix(name, "postgresql://")
}

// Named is how a database is called in messages: a URL without its password.
func Named(name string) string {
	if !IsURL(name) {
		return name
	}
	at, err := url.Parse(name)
	if err != nil {
		return "the URL of --db, which is malformed"
	}
	return at.Redacted()
}

// Open opens the database: an SQLite file, which it makes if there is none, or a PostgreSQL database by its URL.
func Open(ctx context.Context, name string) (*Store, error) {
	k := sqlite
	dsn := (&url.URL{Scheme: "file", Opaque: url.PathEscape(name), RawQuery: "_journal_mode=WAL&_busy_timeout=10000&_synchronous=NORMAL"}).String()
	if IsURL(name) {
		k, dsn = postgreSQL, name
	}
	db, err := sql.Open(k.driver, dsn)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", Named(name), err)
	}
	db.SetMaxOpenConns(8)
	s := &Store{db, statements{on: db, numbered: IsURL(name)}, Named(name)}
	if err := s.prepare(ctx, k); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", Named(name), err), db.Close())
	}
	return s, nil
}
