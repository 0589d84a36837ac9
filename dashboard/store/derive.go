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

func newTally() *tally {
	return &tally{map[string]*totals{}, map[string]*totals{}, map[string]Place{}, map[string]string{}}
}

// count adds up events, by 1, or takes them out, by -1.
func (t *tally) count(events []Event, by int64) {
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
			if e.Name != "" {
				t.labels[e.Timer] = e.Name
			}
		}
	}
}

const (
	// atOnce is how many rows one statement reads or writes.
	atOnce = 500
	// maxTallied is how many actors and timers are added up before they are stored. PostgreSQL finds a row the slower the more often
	// the same transaction has changed it.
	maxTallied = 100_000
)

// addFull adds a tally to what is stored once it is large.
func (t *tally) addFull(ctx context.Context, tx statements) error {
	if len(t.actors)+len(t.timers) < maxTallied {
		return nil
	}
	err := t.add(ctx, tx)
	*t = *newTally()
	return err
}

// add adds a tally to what is stored.
func (t *tally) add(ctx context.Context, tx statements) error {
	for actors := range slices.Chunk(slices.Sorted(maps.Keys(t.actors)), atOnce) {
		if err := t.addActors(ctx, tx, actors); err != nil {
			return err
		}
	}
	for timers := range slices.Chunk(slices.Sorted(maps.Keys(t.timers)), atOnce) {
		if err := t.addTimers(ctx, tx, timers); err != nil {
			return err
		}
	}
	return nil
}

// places are those of so many rows of values.
func places(rows, values int) string {
	row := "(?" + strings.Repeat(",?", values-1) + ")"
	return row + strings.Repeat(","+row, rows-1)
}

func (t *tally) addActors(ctx context.Context, tx statements, actors []string) error {
	type is struct{ actor, paid string }
	rows, err := tx.query(ctx, "SELECT actor, paid FROM actors WHERE actor IN "+places(1, len(actors)), anys(actors)...)
	if err != nil {
		return err
	}
	stored, err := scan(rows, func(a *is) []any { return []any{&a.actor, &a.paid} })
	if err != nil {
		return err
	}
	paid := map[string]string{}
	for _, a := range stored {
		paid[a.actor] = a.paid
	}
	var values []any
	for _, actor := range actors {
		n := t.actors[actor]
		values = append(values, actor, n.counts[0], n.counts[1], n.counts[2], n.counts[3], plus(paid[actor], &n.paid))
	}
	return tx.exec(ctx, "INSERT INTO actors VALUES "+places(len(actors), 6)+` ON CONFLICT (actor) DO UPDATE SET
		fired = actors.fired + excluded.fired, failed = actors.failed + excluded.failed, expired = actors.expired + excluded.expired,
		unfunded = actors.unfunded + excluded.unfunded, paid = excluded.paid`, values...)
}

func (t *tally) addTimers(ctx context.Context, tx statements, timers []string) error {
	type is struct {
		timer, paid, label string
		last               Place
	}
	rows, err := tx.query(ctx, "SELECT timer, paid, label, height, position FROM timers WHERE timer IN "+places(1, len(timers)), anys(timers)...)
	if err != nil {
		return err
	}
	stored, err := scan(rows, func(a *is) []any { return []any{&a.timer, &a.paid, &a.label, &a.last.Height, &a.last.Position} })
	if err != nil {
		return err
	}
	before := map[string]is{}
	for _, one := range stored {
		before[one.timer] = one
	}
	var values []any
	for _, timer := range timers {
		n, now := t.timers[timer], before[timer]
		if label := t.labels[timer]; label != "" {
			now.label = label
		}
		if last, known := t.last[timer]; known {
			now.last = last
		}
		values = append(values, timer, now.label, strings.ToLower(now.label), n.counts[0], n.counts[1], plus(now.paid, &n.paid),
			now.last.Height, now.last.Position)
	}
	return tx.exec(ctx, "INSERT INTO timers VALUES "+places(len(timers), 8)+` ON CONFLICT (timer) DO UPDATE SET
		label = excluded.label, folded = excluded.folded, fired = timers.fired + excluded.fired,
		failed = timers.failed + excluded.failed, paid = excluded.paid, height = excluded.height, position = excluded.position`, values...)
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

// errorIDs are the numbers of errors that are known already, by their texts.
type errorIDs map[string]int64

// of is the number of the error in why something happened, under which its text is stored; 0 if there is none.
func (known errorIDs) of(ctx context.Context, tx statements, why string) (id int64, err error) {
	text := errorOf(why)
	if text == "" || known[text] != 0 {
		return known[text], nil
	}
	found, err := tx.find(ctx, []any{&id}, "SELECT id FROM errors WHERE text = ?", text)
	if err == nil && !found {
		if _, err = tx.find(ctx, []any{&id}, "SELECT COALESCE(max(id), 0) + 1 FROM errors"); err == nil {
			err = tx.exec(ctx, "INSERT INTO errors VALUES (?, ?, ?)", id, text, strings.ToLower(text))
		}
	}
	known[text] = id
	return id, err
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
	known, sum := errorIDs{}, newTally()
	err := eachPage(ctx, tx, Place{-1, 0}, func(events []Event) error {
		for i := range events {
			e := &events[i]
			id, err := known.of(ctx, tx, e.Why)
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
		sum.count(events, 1)
		return sum.addFull(ctx, tx)
	})
	if err != nil {
		return err
	}
	return sum.add(ctx, tx)
}
