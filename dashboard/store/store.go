// Package store keeps what a node said of its timers in a database: a row for each block, and one for each event of
// the module. A block is written as a whole or not at all, so that whoever follows the chain continues after the last one.
package store

import (
	"context"
	"database/sql"
	"errors"
	"math/big"
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
	// Name is the timer's, where the event states it. Cycles are those of a fire.
	Name   string `json:"name,omitempty"`
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

// Asked lets a function be told each statement that reads from now on, as the database is given it: tests look at how it is
// answered.
func (s *Store) Asked(tell func(statement string, args []any)) { s.asked = tell }

// Meta returns a value that SetMeta stored; empty if there is none.
func (s *Store) Meta(ctx context.Context, key string) (value string, err error) {
	_, err = s.find(ctx, []any{&value}, "SELECT value FROM meta WHERE key = ?", key)
	return value, err
}

// SetMeta stores a value.
func (s *Store) SetMeta(ctx context.Context, key, value string) error {
	return s.exec(ctx, "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", key, value)
}

// Last returns the height and hash of the last block; 0 if there is none.
func (s *Store) Last(ctx context.Context) (height int64, hash string, err error) {
	_, err = s.find(ctx, []any{&height, &hash}, "SELECT height, hash FROM blocks ORDER BY height DESC LIMIT 1")
	return height, hash, err
}

// Hash returns the hash of a block; empty if it is not stored.
func (s *Store) Hash(ctx context.Context, height int64) (hash string, err error) {
	_, err = s.find(ctx, []any{&hash}, "SELECT hash FROM blocks WHERE height = ?", height)
	return hash, err
}

// Put writes a block and its events, and adds them to what follows from them.
func (s *Store) Put(ctx context.Context, b *Block, events []Event) error {
	return s.within(ctx, func(tx statements) error {
		err := tx.exec(ctx, "INSERT INTO blocks VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)", b.Height, b.Hash, b.Time, b.Missing, b.Fired,
			b.Failed, b.Expired, b.Unfunded, b.OnHold, b.Deferred, b.UsedSize, b.Basefee, number(b.Storm))
		if err != nil {
			return err
		}
		if err := addSpans(ctx, tx, b.Height, b.Height); err != nil {
			return err
		}
		known := errorIDs{}
		for i := range events {
			e := &events[i]
			e.Height, e.Position, e.Time = b.Height, int64(i), b.Time
			id, err := known.of(ctx, tx, e.Why)
			if err != nil {
				return err
			}
			if err := tx.exec(ctx, "INSERT INTO events ("+storedColumns+") VALUES (?,?,?,?,?,?,?,?,?,?,?)",
				e.Height, e.Position, e.Kind, e.Timer, e.Actor, e.Paid, e.Why, e.Body, e.Name, e.Cycles, id); err != nil {
				return err
			}
		}
		sum := newTally()
		sum.count(events, 1)
		return sum.add(ctx, tx)
	})
}

// DropAbove removes the blocks above a height, and takes them out of what follows from them: the chain has others there. It reads
// what it removes, and nothing else.
func (s *Store) DropAbove(ctx context.Context, height int64) error {
	return s.within(ctx, func(tx statements) error {
		sum := newTally()
		err := eachPage(ctx, tx, Place{height, 1 << 62}, func(events []Event) error {
			sum.count(events, -1)
			return sum.addFull(ctx, tx)
		})
		if err != nil {
			return err
		}
		if err := sum.add(ctx, tx); err != nil {
			return err
		}
		for _, statement := range []string{"DELETE FROM events WHERE height > ?", "DELETE FROM blocks WHERE height > ?"} {
			if err := tx.exec(ctx, statement, height); err != nil {
				return err
			}
		}
		if err := settle(ctx, tx, height); err != nil {
			return err
		}
		return tx.exec(ctx, "DELETE FROM actors WHERE fired + expired + unfunded = 0 AND paid = '0'")
	})
}

// eachPage reads the events behind a place in pages, since a transaction has one connection.
func eachPage(ctx context.Context, tx statements, after Place, fn func([]Event) error) error {
	const page = 1_000
	for {
		events, err := tx.events(ctx, Filter{After: after, Limit: page, OldestFirst: true})
		if err != nil {
			return err
		}
		if err := fn(events); err != nil || len(events) < page {
			return err
		}
		after = Place{events[page-1].Height, events[page-1].Position}
	}
}

// number is how a truth is stored.
func number(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// maxDigits bounds an amount: far above any. To read more digits takes time in the square of their number.
const maxDigits = 1_000

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
		return failed(err)
	}
	if err := fn(statements{on: tx, numbered: s.numbered}); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return failed(tx.Commit())
}
