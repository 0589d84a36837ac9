package store

import (
	"context"
	"database/sql"
	"errors"
)

const eventColumns = "height, position, kind, timer, actor, paid, why, body"

func scanEvents(rows *sql.Rows) (events []Event, err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	events = []Event{}
	for rows.Next() {
		var e Event
		if err := rows.Scan(&e.Height, &e.Position, &e.Kind, &e.Timer, &e.Actor, &e.Paid, &e.Why, &e.Body); err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	return events, rows.Err()
}

// Place is where an event is.
type Place struct{ Height, Position int64 }

// Filter says which events are wanted: those of a timer, of an actor, or all.
type Filter struct {
	Timer, Actor string
	// Before is the height below which events are wanted; 0 means no bound.
	Before int64
	// After is the last event before those that are wanted.
	After Place
	Limit int
	// OldestFirst turns the order, which is newest first.
	OldestFirst bool
}

// Events returns events, newest first unless the filter says otherwise.
func (s *Store) Events(ctx context.Context, f Filter) ([]Event, error) {
	where, args := "(height, position) > (?, ?)", []any{f.After.Height, f.After.Position}
	add := func(clause string, arg any) { where, args = where+" AND "+clause, append(args, arg) }
	if f.Timer != "" {
		add("timer = ?", f.Timer)
	}
	if f.Actor != "" {
		add("actor = ?", f.Actor)
	}
	if f.Before > 0 {
		add("height < ?", f.Before)
	}
	order := " ORDER BY height DESC, position DESC LIMIT ?"
	if f.OldestFirst {
		order = " ORDER BY height, position LIMIT ?"
	}
	rows, err := s.query(ctx, "SELECT "+eventColumns+" FROM events WHERE "+where+order, append(args, f.Limit)...)
	if err != nil {
		return nil, err
	}
	return scanEvents(rows)
}

// Totals returns those of an actor; zeros for one that nothing is known of.
func (s *Store) Totals(ctx context.Context, actor string) (Totals, error) {
	t := Totals{Actor: actor, Paid: "0"}
	err := s.row(ctx, "SELECT fired, failed, expired, unfunded, paid FROM actors WHERE actor = ?", actor).
		Scan(&t.Fired, &t.Failed, &t.Expired, &t.Unfunded, &t.Paid)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return t, err
}

// Point is some blocks in a row.
type Point struct {
	Height   int64   `json:"height"`
	Time     int64   `json:"time"`
	Blocks   int64   `json:"blocks"`
	UsedSize float64 `json:"used_size"`
	Peak     int64   `json:"peak_size"`
	Basefee  float64 `json:"basefee"`
	Fired    int64   `json:"fired"`
	Failed   int64   `json:"failed"`
	Deferred int64   `json:"deferred"`
	Storm    bool    `json:"storm"`
}

// Series returns the last blocks, gathered into at most so many points, oldest first. A point's use and basefee are means,
// its peak and deferred the largest.
func (s *Store) Series(ctx context.Context, blocks, points int64) (_ []Point, err error) {
	last, _, err := s.Last(ctx)
	if err != nil {
		return nil, err
	}
	each := max(1, (blocks+points-1)/points)
	rows, err := s.query(ctx, `SELECT max(height), max(time), count(*), avg(used_size), max(used_size), avg(basefee),
		sum(fired), sum(failed), max(deferred), max(storm) FROM blocks WHERE height > ? AND missing = '' GROUP BY height / ? ORDER BY 1`, last-blocks, each)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	series := []Point{}
	for rows.Next() {
		var p Point
		if err := rows.Scan(&p.Height, &p.Time, &p.Blocks, &p.UsedSize, &p.Peak, &p.Basefee, &p.Fired, &p.Failed, &p.Deferred, &p.Storm); err != nil {
			return nil, err
		}
		series = append(series, p)
	}
	return series, rows.Err()
}
