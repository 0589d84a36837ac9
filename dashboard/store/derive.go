package store

import (
	"context"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strings"
)

// What follows from the blocks and events is kept beside them, so that an answer reads what it shows, however long the history is:
// the totals of actors and timers, sums of blocks, and the texts of errors.

// spanBlocks is how many blocks are summed up in one row.
const spanBlocks = 100

// totals are what events add up to: fires, failures, expiries, lacks of funds, and amounts paid.
type totals struct {
	counts [4]int64
	paid   big.Int
}

// counted are the columns of totals that kinds of events add to.
var counted = map[string][]int{"fired": {0}, "failed": {0, 1}, "guarded": {0}, "expired": {2}, "unfunded": {3}}

// tally is what some events add to actors and timers.
type tally struct {
	actors, timers map[string]*totals
	// last are the last events of the timers, and labels their last labels. They are not known of events that are taken out.
	last   map[string]Place
	labels map[string]string
}

// tallyOf adds up events, by 1, or takes them out, by -1.
func tallyOf(events []Event, by int64) *tally {
	t := &tally{map[string]*totals{}, map[string]*totals{}, map[string]Place{}, map[string]string{}}
	for i := range events {
		e := &events[i]
		columns, counts := counted[e.Kind]
		add := func(all map[string]*totals, key string) {
			if key == "" {
				return
			}
			one := all[key]
			if one == nil {
				one = &totals{}
				all[key] = one
			}
			for _, column := range columns {
				one.counts[column] += by
			}
			one.paid.Add(&one.paid, new(big.Int).Mul(number10(e.Paid), big.NewInt(by)))
		}
		if counts || e.Paid != "" {
			add(t.actors, e.Actor)
		}
		add(t.timers, e.Timer)
		if e.Timer != "" && by > 0 {
			t.last[e.Timer] = Place{e.Height, e.Position}
			if e.Label != "" {
				t.labels[e.Timer] = e.Label
			}
		}
	}
	return t
}

// add adds a tally to what is stored.
func (t *tally) add(ctx context.Context, tx statements) error {
	for _, actor := range slices.Sorted(maps.Keys(t.actors)) {
		n, paid := t.actors[actor], "0"
		if _, err := tx.find(ctx, []any{&paid}, "SELECT paid FROM actors WHERE actor = ?", actor); err != nil {
			return err
		}
		if err := tx.exec(ctx, `INSERT INTO actors VALUES (?,?,?,?,?,?) ON CONFLICT (actor) DO UPDATE SET
			fired = actors.fired + excluded.fired, failed = actors.failed + excluded.failed, expired = actors.expired + excluded.expired,
			unfunded = actors.unfunded + excluded.unfunded, paid = excluded.paid`,
			actor, n.counts[0], n.counts[1], n.counts[2], n.counts[3], plus(paid, &n.paid)); err != nil {
			return err
		}
	}
	for _, timer := range slices.Sorted(maps.Keys(t.timers)) {
		n, paid, label, last := t.timers[timer], "0", "", Place{}
		if _, err := tx.find(ctx, []any{&paid, &label, &last.Height, &last.Position},
			"SELECT paid, label, height, position FROM timers WHERE timer = ?", timer); err != nil {
			return err
		}
		if named := t.labels[timer]; named != "" {
			label = named
		}
		if behind, known := t.last[timer]; known {
			last = behind
		}
		if err := tx.exec(ctx, `INSERT INTO timers VALUES (?,?,?,?,?,?,?,?) ON CONFLICT (timer) DO UPDATE SET
			label = excluded.label, folded = excluded.folded, fired = timers.fired + excluded.fired,
			failed = timers.failed + excluded.failed, paid = excluded.paid, height = excluded.height, position = excluded.position`,
			timer, label, strings.ToLower(label), n.counts[0], n.counts[1], plus(paid, &n.paid), last.Height, last.Position); err != nil {
			return err
		}
	}
	return nil
}

// plus adds an amount to one that is stored.
func plus(stored string, n *big.Int) string { return new(big.Int).Add(number10(stored), n).String() }

// settle brings what is kept of timers and spans back to a height, above which there are no events and blocks any more.
func settle(ctx context.Context, tx statements, height int64) error {
	const page = 1_000
	for {
		rows, err := tx.query(ctx, "SELECT timer FROM timers WHERE height > ? LIMIT ?", height, page)
		if err != nil {
			return err
		}
		timers, err := scan(rows, func(timer *string) []any { return []any{timer} })
		if err != nil {
			return err
		}
		for _, timer := range timers {
			if err := settleTimer(ctx, tx, timer); err != nil {
				return err
			}
		}
		if len(timers) < page {
			break
		}
	}
	if err := tx.exec(ctx, "DELETE FROM spans WHERE span >= ?", height/spanBlocks); err != nil {
		return err
	}
	return addSpans(ctx, tx, height/spanBlocks*spanBlocks, height)
}

// settleTimer lets a timer end with its last event, or forgets it if it has none.
func settleTimer(ctx context.Context, tx statements, timer string) error {
	var last Place
	found, err := tx.find(ctx, []any{&last.Height, &last.Position},
		"SELECT height, position FROM events WHERE timer = ? ORDER BY height DESC, position DESC LIMIT 1", timer)
	if err != nil {
		return err
	}
	if !found {
		return tx.exec(ctx, "DELETE FROM timers WHERE timer = ?", timer)
	}
	label := ""
	if _, err := tx.find(ctx, []any{&label},
		"SELECT label FROM events WHERE timer = ? AND label <> '' ORDER BY height DESC, position DESC LIMIT 1", timer); err != nil {
		return err
	}
	return tx.exec(ctx, "UPDATE timers SET label = ?, folded = ?, height = ?, position = ? WHERE timer = ?",
		label, strings.ToLower(label), last.Height, last.Position, timer)
}

// addSpans adds the blocks from a height to another to the sums.
func addSpans(ctx context.Context, tx statements, from, to int64) error {
	greater := func(column string) string {
		return column + " = CASE WHEN excluded." + column + " > spans." + column + " THEN excluded." + column + " ELSE spans." + column + " END"
	}
	plus := func(column string) string { return column + " = spans." + column + " + excluded." + column }
	return tx.exec(ctx, `INSERT INTO spans SELECT height / ?, max(height), max(time), count(*), sum(used_size), max(used_size), sum(basefee),
		sum(fired), sum(failed), max(deferred), max(storm) FROM blocks WHERE height >= ? AND height <= ? AND missing = '' GROUP BY 1
		ON CONFLICT (span) DO UPDATE SET `+strings.Join([]string{
		greater("height"), greater("time"), plus("blocks"), plus("used_size"), greater("peak"), plus("basefee"), plus("fired"),
		plus("failed"), greater("deferred"), greater("storm"),
	}, ", "), spanBlocks, from, to)
}

// named ends with the codespace and the code of an error.
var named = regexp.MustCompile(`\([A-Za-z0-9_./-]+/[0-9]+\)$`)

// errorOf is the text of the error in why something happened; empty if there is none. How the timer ended may follow it.
func errorOf(why string) string {
	text, _, _ := strings.Cut(why, "; ended: ")
	if !named.MatchString(text) {
		return ""
	}
	return text
}

// errorID is the number of the error in why something happened, under which its text is stored; 0 if there is none.
func errorID(ctx context.Context, tx statements, why string) (id int64, err error) {
	text := errorOf(why)
	if text == "" {
		return 0, nil
	}
	if found, err := tx.find(ctx, []any{&id}, "SELECT id FROM errors WHERE text = ?", text); err != nil || found {
		return id, err
	}
	if _, err := tx.find(ctx, []any{&id}, "SELECT COALESCE(max(id), 0) + 1 FROM errors"); err != nil {
		return 0, err
	}
	return id, tx.exec(ctx, "INSERT INTO errors VALUES (?, ?, ?)", id, text, strings.ToLower(text))
}

// Derive computes anew what follows from the blocks and events.
func (s *Store) Derive(ctx context.Context) error {
	return s.within(ctx, func(tx statements) error { return derive(ctx, tx) })
}

func derive(ctx context.Context, tx statements) error {
	for _, table := range []string{"actors", "timers", "spans", "errors"} {
		if err := tx.exec(ctx, "DELETE FROM "+table); err != nil {
			return err
		}
	}
	if err := addSpans(ctx, tx, 0, 1<<62); err != nil {
		return err
	}
	return eachPage(ctx, tx, Place{-1, 0}, func(events []Event) error {
		for i := range events {
			e := &events[i]
			id, err := errorID(ctx, tx, e.Why)
			if err != nil {
				return err
			}
			if id == 0 {
				continue
			}
			if err := tx.exec(ctx, "UPDATE events SET error = ? WHERE height = ? AND position = ?", id, e.Height, e.Position); err != nil {
				return err
			}
		}
		return tallyOf(events, 1).add(ctx, tx)
	})
}
