package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"regexp"
	"slices"
	"strings"
)

// storedColumns are those of an event; eventColumns add the time of its block.
const (
	storedColumns = "height, position, kind, timer, actor, paid, why, body, label, cycles, error"
	eventColumns  = "e.height, e.position, e.kind, e.timer, e.actor, e.paid, e.why, e.body, e.label, e.cycles, COALESCE(b.time, 0)"
	eventTables   = "events e LEFT JOIN blocks b ON b.height = e.height"
)

// scan reads all rows.
func scan[T any](rows *sql.Rows, fields func(*T) []any) (all []T, err error) {
	defer func() { err = errors.Join(err, failed(rows.Close())) }()
	all = []T{}
	for rows.Next() {
		var one T
		if err := rows.Scan(fields(&one)...); err != nil {
			return nil, failed(err)
		}
		all = append(all, one)
	}
	return all, failed(rows.Err())
}

func (e *Event) fields() []any {
	return []any{&e.Height, &e.Position, &e.Kind, &e.Timer, &e.Actor, &e.Paid, &e.Why, &e.Body, &e.Name, &e.Cycles, &e.Time}
}

// Place is where an event is.
type Place struct{ Height, Position int64 }

// Filter says which events are wanted: those of a timer, of an actor, or all.
type Filter struct {
	Timer, Actor string
	// Error is the number of the error that they tell of; 0 for any or none.
	Error int64
	// Kinds that are wanted; all if there are none.
	Kinds []string
	// Before is the first event behind those that are wanted; the zero Place means no bound.
	Before Place
	// After is the last event before those that are wanted.
	After Place
	Limit int
	// OldestFirst turns the order, which is newest first.
	OldestFirst bool
}

func (s statements) events(ctx context.Context, f Filter) ([]Event, error) {
	where, args := "(e.height, e.position) > (?, ?)", []any{f.After.Height, f.After.Position}
	add := func(clause string, values ...any) { where, args = where+" AND "+clause, append(args, values...) }
	if f.Timer != "" {
		add("e.timer = ?", f.Timer)
	}
	if f.Actor != "" {
		add("e.actor = ?", f.Actor)
	}
	if f.Error != 0 {
		add("e.error = ? AND e.error > 0", f.Error) // The index has no others.
	}
	if f.Before != (Place{}) {
		add("(e.height, e.position) < (?, ?)", f.Before.Height, f.Before.Position)
	}
	if len(f.Kinds) > 0 {
		add("e.kind IN (?"+strings.Repeat(",?", len(f.Kinds)-1)+")", anys(f.Kinds)...)
	}
	order := " ORDER BY e.height DESC, e.position DESC LIMIT ?"
	if f.OldestFirst {
		order = " ORDER BY e.height, e.position LIMIT ?"
	}
	rows, err := s.query(ctx, "SELECT "+eventColumns+" FROM "+eventTables+" WHERE "+where+order, append(args, f.Limit)...)
	if err != nil {
		return nil, err
	}
	return scan(rows, (*Event).fields)
}

// Events returns events, newest first unless the filter says otherwise.
func (s *Store) Events(ctx context.Context, f Filter) ([]Event, error) { return s.events(ctx, f) }

func anys(texts []string) []any {
	all := make([]any, len(texts))
	for i, text := range texts {
		all[i] = text
	}
	return all
}

// Totals returns those of an actor; zeros for one that nothing is known of.
func (s *Store) Totals(ctx context.Context, actor string) (Totals, error) {
	t := Totals{Actor: actor, Paid: "0"}
	_, err := s.find(ctx, []any{&t.Fired, &t.Failed, &t.Expired, &t.Unfunded, &t.Paid},
		"SELECT fired, failed, expired, unfunded, paid FROM actors WHERE actor = ?", actor)
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

// Series returns the last blocks, gathered into at most so many points and one, oldest first. A point's use and basefee are means,
// its peak and deferred the largest. Of many blocks it reads the sums: the first may be of up to spanBlocks more.
func (s *Store) Series(ctx context.Context, blocks, points int64) ([]Point, error) {
	last, _, err := s.Last(ctx)
	if err != nil {
		return nil, err
	}
	first := last
	if _, err := s.find(ctx, []any{&first}, "SELECT height FROM blocks ORDER BY height LIMIT 1"); err != nil {
		return nil, err
	}
	blocks = min(blocks, last-first+1)
	each, from := max(1, (blocks+points-1)/points), last-blocks+1
	statement := `SELECT max(height), max(time), count(*), avg(used_size), max(used_size), avg(basefee), sum(fired), sum(failed), max(deferred),
		max(storm) FROM blocks WHERE height >= ? AND missing = '' GROUP BY height / ? ORDER BY 1`
	if each >= spanBlocks {
		each, from = (each+spanBlocks-1)/spanBlocks, from/spanBlocks
		statement = `SELECT max(height), max(time), sum(blocks), sum(used_size) * 1.0 / sum(blocks), max(peak), sum(basefee) / sum(blocks),
			sum(fired), sum(failed), max(deferred), max(storm) FROM spans WHERE span >= ? GROUP BY span / ? ORDER BY 1`
	}
	rows, err := s.query(ctx, statement, from, each)
	if err != nil {
		return nil, err
	}
	return scan(rows, func(p *Point) []any {
		return []any{&p.Height, &p.Time, &p.Blocks, &p.UsedSize, &p.Peak, &p.Basefee, &p.Fired, &p.Failed, &p.Deferred, &p.Storm}
	})
}

// Pace is the mean time from one block to the next over the last blocks, in seconds; 0 if it is not known.
func (s *Store) Pace(ctx context.Context, blocks int64) (seconds float64, err error) {
	last, _, err := s.Last(ctx)
	if err != nil {
		return 0, err
	}
	// The first block carries the time of genesis, which may lie days before the chain started.
	_, err = s.find(ctx, []any{&seconds}, `SELECT COALESCE((max(time) - min(time)) * 1.0 / NULLIF(max(height) - min(height), 0), 0) FROM blocks
		WHERE height > ? AND height > 1`, last-blocks)
	return seconds, err
}

// Use is what an actor used of the lane over some blocks.
type Use struct {
	Actor  string `json:"actor"`
	Fired  int64  `json:"fired"`
	Failed int64  `json:"failed"`
	Cycles int64  `json:"cycles"`
}

// Users returns the actors that used the lane above a height, the one with the most cycles first.
func (s *Store) Users(ctx context.Context, above int64, limit int) ([]Use, error) {
	rows, err := s.query(ctx, `SELECT actor, count(*), sum(CASE kind WHEN 'failed' THEN 1 ELSE 0 END), sum(cycles) FROM events
		WHERE height > ? AND kind IN ('fired', 'failed', 'guarded') GROUP BY actor ORDER BY 4 DESC, 1 LIMIT ?`, above, limit)
	if err != nil {
		return nil, err
	}
	return scan(rows, func(u *Use) []any { return []any{&u.Actor, &u.Fired, &u.Failed, &u.Cycles} })
}

// Sums are what the blocks above a height did together.
type Sums struct {
	Blocks int64 `json:"blocks"`
	Fired  int64 `json:"fired"`
	Failed int64 `json:"failed"`
	Cycles int64 `json:"cycles"`
}

// Sums returns what the blocks above a height did together.
func (s *Store) Sums(ctx context.Context, above int64) (sums Sums, err error) {
	_, err = s.find(ctx, []any{&sums.Blocks, &sums.Fired, &sums.Failed},
		"SELECT count(*), COALESCE(sum(fired), 0), COALESCE(sum(failed), 0) FROM blocks WHERE height > ?", above)
	if err != nil {
		return sums, err
	}
	_, err = s.find(ctx, []any{&sums.Cycles},
		"SELECT COALESCE(sum(cycles), 0) FROM events WHERE height > ? AND kind IN ('fired', 'failed', 'guarded')", above)
	return sums, err
}

// Failing is a timer whose last fire failed.
type Failing struct {
	Event
	// Times is how often it failed since the height that was asked for.
	Times int64 `json:"times"`
}

// Failing returns timers that failed above a height and did not succeed since, the newest first. It reads each event above the
// height once.
func (s *Store) Failing(ctx context.Context, above int64, limit int) ([]Failing, error) {
	rows, err := s.query(ctx, "SELECT "+eventColumns+`, f.times FROM (
			SELECT timer, sum(CASE kind WHEN 'failed' THEN 1 ELSE 0 END) AS times,
				max(CASE kind WHEN 'failed' THEN height ELSE 0 END) AS failed, max(CASE kind WHEN 'fired' THEN height ELSE 0 END) AS fired
			FROM events WHERE height > ? AND kind IN ('failed', 'fired') GROUP BY timer) f
		JOIN events e ON e.timer = f.timer AND e.height = f.failed AND e.kind = 'failed' LEFT JOIN blocks b ON b.height = e.height
		WHERE f.failed > 0 AND f.fired <= f.failed ORDER BY e.height DESC, e.position DESC LIMIT ?`, above, limit)
	if err != nil {
		return nil, err
	}
	return scan(rows, func(f *Failing) []any { return append(f.fields(), &f.Times) })
}

// afterDigits comes after every hexadecimal digit.
const afterDigits = "g"

// contains is the pattern of texts that have one in them, which ! escapes.
func contains(text string) string {
	return "%" + strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(strings.ToLower(text)) + "%"
}

// Matching returns the last event of each timer whose id begins with a text, or whose label has it in it, the newest first. It
// reads the timers, not their events.
func (s *Store) Matching(ctx context.Context, idPrefix, label string, limit int) ([]Event, error) {
	clauses, args := []string{}, []any{}
	if idPrefix != "" {
		clauses, args = append(clauses, "timer >= ? AND timer < ?"), append(args, idPrefix, idPrefix+afterDigits)
	}
	if label != "" {
		clauses, args = append(clauses, "folded LIKE ? ESCAPE '!'"), append(args, contains(label))
	}
	rows, err := s.query(ctx, "SELECT "+eventColumns+` FROM (
			SELECT height, position FROM timers WHERE `+strings.Join(clauses, " OR ")+` ORDER BY height DESC, position DESC LIMIT ?) m
		JOIN events e ON e.height = m.height AND e.position = m.position
		LEFT JOIN blocks b ON b.height = e.height ORDER BY e.height DESC, e.position DESC`, append(args, limit)...)
	if err != nil {
		return nil, err
	}
	return scan(rows, (*Event).fields)
}

const (
	// maxErrors is how many errors a text may be in, and maxTold how many of their events are looked at.
	maxErrors = 20
	maxTold   = 1_000
)

// code is a codespace and a code.
var code = regexp.MustCompile(`^[a-z0-9_.-]+/[0-9]+$`)

// WithError returns timers with an event that tells of an error whose text has another in it, or whose codespace and code it is, the
// newest first. Times is how often each had such an event among those that were looked at; more reports whether there are others.
func (s *Store) WithError(ctx context.Context, text string, limit int) (found []Failing, more bool, err error) {
	text = strings.ToLower(text)
	if code.MatchString(text) {
		text = "(" + text + ")"
	}
	rows, err := s.query(ctx, "SELECT id FROM errors WHERE folded LIKE ? ESCAPE '!' ORDER BY id LIMIT ?", contains(text), maxErrors+1)
	if err != nil {
		return nil, false, err
	}
	ids, err := scan(rows, func(id *int64) []any { return []any{id} })
	if err != nil || len(ids) == 0 {
		return nil, false, err
	}
	more = len(ids) > maxErrors
	ids = ids[:min(len(ids), maxErrors)]
	var all []Event
	for _, id := range ids {
		each := maxTold / len(ids)
		events, err := s.Events(ctx, Filter{Error: id, Limit: each + 1})
		if err != nil {
			return nil, false, err
		}
		more = more || len(events) > each
		all = append(all, events[:min(len(events), each)]...)
	}
	slices.SortStableFunc(all, func(a, b Event) int {
		return cmp.Or(cmp.Compare(b.Height, a.Height), cmp.Compare(b.Position, a.Position))
	})
	at := map[string]int{}
	for i := range all {
		e := &all[i]
		if e.Timer == "" {
			continue
		}
		if i, known := at[e.Timer]; known {
			found[i].Times++
			continue
		}
		at[e.Timer] = len(found)
		found = append(found, Failing{Event: *e, Times: 1})
	}
	return found[:min(len(found), limit)], more || len(found) > limit, nil
}

// Life is what a timer's fires come to.
type Life struct {
	Fired  int64  `json:"fired"`
	Failed int64  `json:"failed"`
	Paid   string `json:"paid"`
}

// Life returns what a timer's fires come to, and what else it paid, and the last label that its events state.
func (s *Store) Life(ctx context.Context, timer string) (life Life, label string, err error) {
	life.Paid = "0"
	_, err = s.find(ctx, []any{&life.Fired, &life.Failed, &life.Paid, &label}, "SELECT fired, failed, paid, label FROM timers WHERE timer = ?", timer)
	return life, label, err
}
