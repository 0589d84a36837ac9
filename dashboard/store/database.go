package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	// The drivers of PostgreSQL and of SQLite.
	_ "github.com/lib/pq"
	_ "github.com/mattn/go-sqlite3"
)

// statements run on a database, or within one of its transactions. They are written for both databases, with ? for an
// argument.
type statements struct {
	on interface {
		ExecContext(context.Context, string, ...any) (sql.Result, error)
		QueryContext(context.Context, string, ...any) (*sql.Rows, error)
		QueryRowContext(context.Context, string, ...any) *sql.Row
	}
	numbered bool
}

func (s statements) exec(ctx context.Context, statement string, args ...any) error {
	_, err := s.on.ExecContext(ctx, s.text(statement), args...)
	return err
}

func (s statements) query(ctx context.Context, statement string, args ...any) (*sql.Rows, error) {
	return s.on.QueryContext(ctx, s.text(statement), args...)
}

func (s statements) row(ctx context.Context, statement string, args ...any) *sql.Row {
	return s.on.QueryRowContext(ctx, s.text(statement), args...)
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

// version of the schema: SQLite states it in user_version, PostgreSQL in a comment on the table of blocks.
const version = 1

// tables are made for SQLite and PostgreSQL, which name their types and options otherwise.
const tables = `
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)%[1]s;
CREATE TABLE IF NOT EXISTS blocks (
	height %[2]s PRIMARY KEY, hash TEXT NOT NULL, time %[2]s NOT NULL, missing TEXT NOT NULL,
	fired %[2]s NOT NULL, failed %[2]s NOT NULL, expired %[2]s NOT NULL, unfunded %[2]s NOT NULL,
	set_aside %[2]s NOT NULL, deferred %[2]s NOT NULL, used_size %[2]s NOT NULL, basefee %[3]s NOT NULL,
	storm %[2]s NOT NULL);
CREATE TABLE IF NOT EXISTS events (
	height %[2]s NOT NULL, position %[2]s NOT NULL, kind TEXT NOT NULL, timer TEXT NOT NULL, actor TEXT NOT NULL,
	paid TEXT NOT NULL, why TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (height, position))%[1]s;
CREATE INDEX IF NOT EXISTS events_of_timer ON events (timer, height, position);
CREATE INDEX IF NOT EXISTS events_of_actor ON events (actor, height, position);
CREATE TABLE IF NOT EXISTS actors (
	actor TEXT PRIMARY KEY, fired %[2]s NOT NULL, failed %[2]s NOT NULL, expired %[2]s NOT NULL,
	unfunded %[2]s NOT NULL, paid TEXT NOT NULL)%[1]s;
`

// openSQLite opens a file.
func openSQLite(ctx context.Context, file string) (*sql.DB, error) {
	dsn := (&url.URL{Scheme: "file", Opaque: url.PathEscape(file), RawQuery: "_journal_mode=WAL&_busy_timeout=10000&_synchronous=NORMAL"}).String()
	db, err := sql.Open("sqlite3", dsn)
	if err != nil {
		return nil, err
	}
	return db, prepare(ctx, db, "PRAGMA user_version", fmt.Sprintf(tables+"PRAGMA user_version = %[4]d;", " WITHOUT ROWID", "INTEGER", "REAL", version))
}

// openPostgres opens a database by its URL.
func openPostgres(ctx context.Context, at string) (*sql.DB, error) {
	db, err := sql.Open("postgres", at)
	if err != nil {
		return nil, err
	}
	const found = "SELECT COALESCE(obj_description(to_regclass('blocks')), '0')"
	return db, prepare(ctx, db, found, fmt.Sprintf(tables+"COMMENT ON TABLE blocks IS '%[4]d';", "", "BIGINT", "DOUBLE PRECISION", version))
}

// prepare makes the tables unless they are there, and refuses those of another version.
func prepare(ctx context.Context, db *sql.DB, found, schema string) error {
	var is int
	if err := db.QueryRowContext(ctx, found).Scan(&is); err != nil {
		return err
	}
	if is != 0 && is != version {
		return fmt.Errorf("it is of version %d, and this program writes version %d: name another database", is, version)
	}
	_, err := db.ExecContext(ctx, schema)
	return err
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
	open := openSQLite
	if IsURL(name) {
		open = openPostgres
	}
	db, err := open(ctx, name)
	if err != nil {
		err = fmt.Errorf("open %s: %w", Named(name), err)
		if db != nil {
			err = errors.Join(err, db.Close())
		}
		return nil, err
	}
	db.SetMaxOpenConns(8)
	return &Store{db, statements{db, IsURL(name)}, Named(name)}, nil
}
