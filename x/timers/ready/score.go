package ready

import (
	"context"
	"math/big"

	"cosmossdk.io/math"
)

// Policy score has a static order: what timers differ in never changes while they wait. So all of them lie in one list, by
// that. A change of the weights begins a new list; what lies in an old one is filed anew bit by bit, and competes from then
// on.

// scoreMark is a weight that no actor has: those from it on name the lists of policy score.
const scoreMark = 1 << (16 - 1)

// ScoreBytes is the length of a score in the index.
const ScoreBytes = 24

// scoreOffset makes every score positive: W_AGE × due and W_FIFO × seq are below 2^144 units each, and 2^176 bounds
// W_BID × bid.
var scoreOffset = new(big.Int).Lsh(big.NewInt(1), 160)

// Scored tells whether the list, or one of this weight, is of policy score.
func (l List) Scored() bool { return l.Weight() >= scoreMark }

// ScoreUnsorted is the list of timers that changed where they lay, and were not given their new place yet.
func ScoreUnsorted() List { return listOf(scoreMark, 0) }

// ScoreList is the list of the timers that were filed since so many changes of the weights. Numbers repeat after 32,767.
func ScoreList(epoch uint64) List { return listOf(scoreMark+1+uint32(epoch%(scoreMark-1)), 0) }

// ListOfWeight is the list of a weight that names one of policy score; others are of many lists.
func ListOfWeight(weight uint32) List { return listOf(weight, 0) }

// ScoreKey is a static score, in units of the 18th decimal, as it lies in the index. Its bounds are those of the config.
func ScoreKey(static *big.Int) []byte {
	return new(big.Int).Add(static, scoreOffset).FillBytes(make([]byte, ScoreBytes))
}

// ScoreEntry is the entry of a timer in a list of policy score.
func ScoreEntry(list List, key []byte, due, seq uint64) Entry {
	price := math.LegacyNewDecFromBigIntWithPrec(new(big.Int).SetBytes(key), math.LegacyPrecision)
	return Entry{list, math.LegacyZeroDec(), price, due, seq}
}

// PriceBytes is the length of the prices by which the list is ordered.
func (l List) PriceBytes() int {
	if l.Scored() {
		return ScoreBytes
	}
	return priceBytes
}

// priceBytes holds every price: types bounds them below 2^120 units of the 18th decimal.
const priceBytes = 16

// Turns orders timers of equal score; those that are gone it leaves out.
type Turns func(ctx context.Context, equal []Entry) ([]Entry, error)

// largestPage is how many entries are read at a time at most where many scores are equal.
const largestPage = 64

// Queue hands out the timers of one list in its order, and those of equal score by turns. Like Merge, it holds no iterator
// open.
type Queue struct {
	store Store
	list  List
	turns Turns
	// next are handed out next, read come after them; both are in order.
	next, read []Entry
	// last is where reading goes on.
	last Entry
	// ended: the index holds no more of the list.
	ended bool
	// readsLeft is how many more entries may be read, turnsLeft how many more may be put in turns.
	readsLeft, turnsLeft int
	// Read counts the entries that were read.
	Read int
}

// NewQueue opens a list. At most maxReads entries are read, and at most maxTurns are put in turns: the first ones of equal
// score; those beyond come by (due, seq).
func NewQueue(store Store, list List, turns Turns, maxReads, maxTurns int) *Queue {
	return &Queue{store: store, list: list, turns: turns, readsLeft: maxReads, turnsLeft: maxTurns}
}

// Next hands out the best timer left; false if there is none, or no more may be read.
func (q *Queue) Next(ctx context.Context) (Entry, bool, error) {
	for len(q.next) == 0 {
		if q.ended && len(q.read) == 0 {
			return Entry{}, false, nil
		}
		if err := q.gather(ctx); err != nil {
			return Entry{}, false, err
		}
	}
	first := q.next[0]
	q.next = q.next[1:]
	return first, true, nil
}

// Return is for timers that were filed under an outdated weight: a list of policy score has none.
func (*Queue) Return(Entry, uint32) {}

// gather moves the best that were read to next: those of one score.
func (q *Queue) gather(ctx context.Context) error {
	equal, page := 0, pageEntries
	for most := max(1, q.turnsLeft); ; page = min(2*page, largestPage) {
		for equal < len(q.read) && equal < most && q.read[equal].MaxPriority.Equal(q.read[0].MaxPriority) {
			equal++
		}
		if equal < len(q.read) || equal == most || q.ended {
			break
		}
		if err := q.readOn(ctx, page); err != nil {
			return err
		}
	}
	q.next, q.read = q.read[:equal:equal], q.read[equal:]
	if equal < 2 {
		return nil
	}
	q.turnsLeft -= equal
	var err error
	q.next, err = q.turns(ctx, q.next)
	return err
}

// readOn reads at most n entries more.
func (q *Queue) readOn(ctx context.Context, n int) error {
	n = min(n, q.readsLeft)
	var page []Entry
	switch {
	case n == 0:
	case q.Read == 0:
		head, found, err := q.store.First(ctx, q.list)
		if err != nil {
			return err
		}
		if found && head.List == q.list {
			page = []Entry{head}
		}
	default:
		var err error
		if page, err = q.store.After(ctx, q.last, n); err != nil {
			return err
		}
	}
	q.Read += len(page)
	q.readsLeft -= len(page)
	q.read = append(q.read, page...)
	if q.ended = len(page) == 0; !q.ended {
		q.last = page[len(page)-1]
	}
	return nil
}
