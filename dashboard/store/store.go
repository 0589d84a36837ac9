// Package store keeps what a node said of its timers in a database: a row for each block, and one for each event of
// the module. A block is written as a whole or not at all, so that whoever follows the chain continues after the last one.
package store

import (
	"context"
	"database/sql"
	"errors"
	"math/big"
	"strings"
)

// Block is what a block did to the timers.
type Block struct {
	Height int64  `json:"height"`
	Hash   string `json:"-"`
	// Parent is the hash of the block before; it is not stored.
	Parent string `json:"-"`
	// Time is that of the block's header, in Unix seconds.
	Time int64 `json:"time"`
	// Missing says why the node has no results of the block; empty if it has.
	Missing  string  `json:"missing,omitempty"`
	Fired    int64   `json:"fired"`
	Failed   int64   `json:"failed"`
	Expired  int64   `json:"expired"`
	Unfunded int64   `json:"unfunded"`
	OnHold   int64   `json:"on_hold"`
	Deferred int64   `json:"deferred"`
	UsedSize int64   `json:"used_size"`
	Basefee  float64 `json:"basefee"`
	Storm    bool    `json:"storm"`
}

// Event is one event of the module.
type Event struct {
	Height   int64 `json:"height"`
	Position int64 `json:"position"`
	// Kind is a word or two: fired, failed, guarded, expired, unfunded, on hold, ...
	Kind  string `json:"kind"`
	Timer string `json:"timer"`
	Actor string `json:"actor"`
	// Paid is in the fee denom, empty for nothing.
	Paid string `json:"paid,omitempty"`
	// Why is what the codespace and code of a failure mean.
	Why string `json:"why,omitempty"`
	// Label is the timer's, where the event states it. Cycles are those of a fire.
	Label  string `json:"label,omitempty"`
	Cycles int64  `json:"cycles,omitempty"`
	// Time is that of its block, in Unix seconds; Put takes it from there.
	Time int64 `json:"time"`
	// Body is the event in JSON.
	Body string `json:"body"`
}

// Totals of an actor, since the first block that was read.
type Totals struct {
	Actor    string `json:"actor"`
	Fired    int64  `json:"fired"`
	Failed   int64  `json:"failed"`
	Expired  int64  `json:"expired"`
	Unfunded int64  `json:"unfunded"`
	Paid     string `json:"paid"`
}

// Store is the database.
type Store struct {
	db *sql.DB
	statements
	name string
}

// Name is how the database is called in messages.
func (s *Store) Name() string { return s.name }

// Close closes the database.
func (s *Store) Close() error { return s.db.Close() }

// Meta returns a value that SetMeta stored; empty if there is none.
func (s *Store) Meta(ctx context.Context, key string) (value string, err error) {
	err = s.row(ctx, "SELECT value FROM meta WHERE key = ?", key).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return value, err
}

// SetMeta stores a value.
func (s *Store) SetMeta(ctx context.Context, key, value string) error {
	return s.exec(ctx, "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", key, value)
}

// Last returns the height and hash of the last block; 0 if there is none.
func (s *Store) Last(ctx context.Context) (height int64, hash string, err error) {
	err = s.row(ctx, "SELECT height, hash FROM blocks ORDER BY height DESC LIMIT 1").Scan(&height, &hash)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, "", nil
	}
	return height, hash, err
}

// Hash returns the hash of a block; empty if it is not stored.
func (s *Store) Hash(ctx context.Context, height int64) (hash string, err error) {
	err = s.row(ctx, "SELECT hash FROM blocks WHERE height = ?", height).Scan(&hash)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return hash, err
}

// Put writes a block and its events, and adds them to the totals of their actors.
func (s *Store) Put(ctx context.Context, b *Block, events []Event) error {
	return s.within(ctx, func(tx statements) error {
		err := tx.exec(ctx, "INSERT INTO blocks VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)", b.Height, b.Hash, b.Time, b.Missing, b.Fired,
			b.Failed, b.Expired, b.Unfunded, b.OnHold, b.Deferred, b.UsedSize, b.Basefee, number(b.Storm))
		if err != nil {
			return err
		}
		for i := range events {
			e := &events[i]
			e.Height, e.Position, e.Time = b.Height, int64(i), b.Time
			if err := tx.exec(ctx, "INSERT INTO events ("+storedColumns+") VALUES (?,?,?,?,?,?,?,?,?,?)",
				e.Height, e.Position, e.Kind, e.Timer, e.Actor, e.Paid, e.Why, e.Body, e.Label, e.Cycles); err != nil {
				return err
			}
			if err := addTo(ctx, tx, e, 1); err != nil {
				return err
			}
			if e.Label == "" || e.Timer == "" {
				continue
			}
			if err := tx.exec(ctx, "INSERT INTO labels VALUES (?, ?) ON CONFLICT (timer) DO UPDATE SET folded = excluded.folded",
				e.Timer, strings.ToLower(e.Label)); err != nil {
				return err
			}
		}
		return nil
	})
}

// DropAbove removes the blocks above a height, and takes their events out of the totals: the chain has others there. It reads
// what it removes, and nothing else.
func (s *Store) DropAbove(ctx context.Context, height int64) error {
	return s.within(ctx, func(tx statements) error {
		if err := takeOut(ctx, tx, height); err != nil {
			return err
		}
		for _, statement := range []string{"DELETE FROM events WHERE height > ?", "DELETE FROM blocks WHERE height > ?"} {
			if err := tx.exec(ctx, statement, height); err != nil {
				return err
			}
		}
		return tx.exec(ctx, "DELETE FROM actors WHERE fired + expired + unfunded = 0 AND paid = '0'")
	})
}

// takeOut takes the events above a height out of the totals. Rows are read in pages, since a transaction has one connection.
func takeOut(ctx context.Context, tx statements, height int64) error {
	const page = 1_000
	for after := (Place{height, 1 << 62}); ; {
		events, err := tx.events(ctx, Filter{After: after, Limit: page, OldestFirst: true})
		if err != nil {
			return err
		}
		for i := range events {
			if err := addTo(ctx, tx, &events[i], -1); err != nil {
				return err
			}
		}
		if len(events) < page {
			return nil
		}
		after = Place{events[page-1].Height, events[page-1].Position}
	}
}

// counted are the columns of totals that kinds of events add to.
var counted = map[string][]int{"fired": {0}, "failed": {0, 1}, "guarded": {0}, "expired": {2}, "unfunded": {3}}

// addTo adds an event to the totals of its actor, by 1, or takes it out of them, by -1.
func addTo(ctx context.Context, tx statements, e *Event, by int64) error {
	columns, counts := counted[e.Kind]
	if !counts && e.Paid == "" || e.Actor == "" {
		return nil
	}
	var n [4]int64
	for _, column := range columns {
		n[column] = by
	}
	paid := "0"
	err := tx.row(ctx, "SELECT paid FROM actors WHERE actor = ?", e.Actor).Scan(&paid)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return tx.exec(ctx, `INSERT INTO actors VALUES (?,?,?,?,?,?) ON CONFLICT (actor) DO UPDATE SET
		fired = actors.fired + excluded.fired, failed = actors.failed + excluded.failed, expired = actors.expired + excluded.expired,
		unfunded = actors.unfunded + excluded.unfunded, paid = excluded.paid`, e.Actor, n[0], n[1], n[2], n[3], sum(paid, e.Paid, by))
}

// number is how a truth is stored.
func number(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// maxDigits bounds a sum: far above any. To read more digits takes time in the square of their number.
const maxDigits = 1_000

// sum adds an amount so many times to another, each of at most so many digits; what is no number counts as 0.
func sum(total, amount string, times int64) string {
	return new(big.Int).Add(number10(total), new(big.Int).Mul(number10(amount), big.NewInt(times))).String()
}

// number10 reads an amount.
func number10(text string) *big.Int {
	if len(text) <= maxDigits {
		if n, ok := new(big.Int).SetString(text, 10); ok {
			return n
		}
	}
	return new(big.Int)
}

func (s *Store) within(ctx context.Context, fn func(statements) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := fn(statements{tx, s.numbered}); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
