package score

import (
	"context"
	"math/big"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
)

// Admitted timers are stored in one list, ordered by timeless score, which never changes while they wait. A change
// of the weights changes every score, and so begins a new list: an epoch. Each block moves a bounded number of timers
// out of the lists of earlier epochs. A timer competes again once it has been moved.

// scoreMark is above the weight of every actor. The weights from it on name the lists of policy score, so that these
// lists and those of eip1559 are apart in the store.
const scoreMark = market.WideWeight

// epochs is how many lists there are for epochs; the mark itself names none.
const epochs = scoreMark - 1

// KeyBytes is the length of a score in the index.
const KeyBytes = market.WideBytes

// keyOffset makes every score positive, so that the bytes of keys order as scores do. W_AGE × due and W_FIFO × seq
// are below 2^144 units each, which is less than the offset; 2^176 bounds W_BID × bid, and a key holds 2^192.
var keyOffset = new(big.Int).Lsh(big.NewInt(1), 160)

// ListOfEpoch is the list of the timers that were indexed after so many changes of the weights. Names repeat after
// 32,767 changes.
func ListOfEpoch(epoch uint64) market.List {
	return market.MakeList(scoreMark+1+uint32(epoch%epochs), 0)
}

// Key is the form in which the index stores a timeless score, in units of the 18th decimal. It has KeyBytes for every
// score that follows from a valid config and a valid bid.
func Key(timelessScore *big.Int) []byte {
	return new(big.Int).Add(timelessScore, keyOffset).FillBytes(make([]byte, KeyBytes))
}

// EntryOf is the entry of a timer with this key in a list of policy score. Its price is the key read as a number: the
// store keeps any price, and orders by it without knowing what it means.
func EntryOf(list market.List, key []byte, due, seq uint64) market.ListEntry {
	price := math.LegacyNewDecFromBigIntWithPrec(new(big.Int).SetBytes(key), math.LegacyPrecision)
	return market.ListEntry{List: list, Price: price, Other: math.LegacyZeroDec(), Due: due, Seq: seq}
}

// Turns orders timers of equal score. It leaves out those that no longer exist. It is supplied by the caller, because
// turns depend on records, which the index does not hold.
type Turns func(ctx context.Context, equal []market.ListEntry) ([]market.ListEntry, error)

const (
	// firstPage is the size of the first page. It is small, since entries that are read and not returned are wasted.
	// Each further page of one score is twice as large, so that few seeks read a long run of equal scores.
	firstPage = 4
	// largestPage bounds the size of a page, where many scores are equal.
	largestPage = 64
)

// Queue returns the timers of one list in its order, and those of equal score by turns. It holds no iterator open:
// between two calls of Next the store may change.
type Queue struct {
	// store is read from the head of list on; turns orders what is equal there.
	store market.ListStore
	list  market.List
	turns Turns
	// next holds the entries to return next, all of one score; read holds those after them. Both are in order.
	next, read []market.ListEntry
	// last is the last entry read; reading continues after it.
	last market.ListEntry
	// ended means that the list has no more entries, or that no more may be read. What was read is still returned.
	ended bool
	// readsLeft is how many more entries may be read, turnsLeft how many more may be put in turns. Invariant: neither
	// is negative.
	readsLeft, turnsLeft int
	// Read counts the entries that were read.
	Read int
}

// NewQueue opens a list. At most maxReads entries are read, and at most maxTurns are put in turns: the first ones of
// equal score. The others are returned by (due, seq). So even when very many scores are equal, the work is bounded.
func NewQueue(store market.ListStore, list market.List, turns Turns, maxReads, maxTurns int) *Queue {
	return &Queue{store: store, list: list, turns: turns, readsLeft: maxReads, turnsLeft: maxTurns}
}

// Next returns the best remaining timer. It is false if there is none, or no more may be read.
func (q *Queue) Next(ctx context.Context) (market.ListEntry, bool, error) {
	// Turns may leave out all entries of a score, so that gather may have to be called again. Each call uses up at
	// least one entry that was read, or ends the queue.
	for len(q.next) == 0 {
		if q.ended && len(q.read) == 0 {
			return market.ListEntry{}, false, nil
		}
		if err := q.gather(ctx); err != nil {
			return market.ListEntry{}, false, err
		}
	}
	first := q.next[0]
	q.next = q.next[1:]
	return first, true, nil
}

// Return does nothing. Other policies use it for timers that were returned under an outdated placement. A score does not
// become outdated.
func (*Queue) Return(market.ListEntry) {}

// gather moves the best entries that were read to next: those of one score. It reads on until it has all of them, or
// as many as may be put in turns.
func (q *Queue) gather(ctx context.Context) error {
	equal, page := 0, firstPage
	// Without turns left, entries are returned one by one in the order of the list. The loop ends: each round finds the
	// end of the run, reaches the limit, or reads at least one entry.
	for limit := max(1, q.turnsLeft); ; page = min(2*page, largestPage) {
		for equal < len(q.read) && equal < limit && q.read[equal].Price.Equal(q.read[0].Price) {
			equal++
		}
		if equal < len(q.read) || equal == limit || q.ended {
			break
		}
		if err := q.readOn(ctx, page); err != nil {
			return err
		}
	}
	q.next, q.read = q.read[:equal:equal], q.read[equal:]
	// A timer whose score no other has needs no turns, and no record is read for it here.
	if equal < 2 {
		return nil
	}
	q.turnsLeft -= equal
	var err error
	q.next, err = q.turns(ctx, q.next)
	return err
}

// readOn reads at most n more entries, the head of the list first. It ends the queue at the end of the list, and when
// no more may be read.
func (q *Queue) readOn(ctx context.Context, n int) error {
	n = min(n, q.readsLeft)
	var page []market.ListEntry
	switch {
	case n == 0:
	case q.Read == 0:
		head, found, err := q.store.First(ctx, q.list)
		if err != nil {
			return err
		}
		if found && head.List == q.list {
			page = []market.ListEntry{head}
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
	// A page without entries means that the list has ended, that it was empty, or that no reads are left.
	if q.ended = len(page) == 0; !q.ended {
		q.last = page[len(page)-1]
	}
	return nil
}
