package score

import (
	"context"
	"math/big"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/merge"
)

// Admitted timers are stored in one list, ordered by timeless score, which never changes while they wait. A change
// of the weights changes every score, and so begins a new list: an epoch. Timers of an old list are moved bit by
// bit, and compete from then on.

// scoreMark is a weight that no actor has: the weights from it on name the lists of policy score.
const scoreMark = merge.WideWeight

// epochs is how many lists there are for epochs; the mark itself names the unsorted list.
const epochs = scoreMark - 1

// KeyBytes is the length of a score in the index.
const KeyBytes = merge.WideBytes

// keyOffset makes every score positive, so that the bytes of keys order as scores do. W_AGE × due and W_FIFO × seq
// are below 2^144 units each, which is less than the offset; 2^176 bounds W_BID × bid, and a key holds 2^192.
var keyOffset = new(big.Int).Lsh(big.NewInt(1), 160)

// UnsortedList is the list of timers that were changed while they were in the index, and have no place in the
// present list yet. They are not read by a Queue.
func UnsortedList() merge.List { return merge.MakeList(scoreMark, 0) }

// ListOfEpoch is the list of the timers that were filed after so many changes of the weights. Names repeat after
// 32,767 changes.
func ListOfEpoch(epoch uint64) merge.List {
	return merge.MakeList(scoreMark+1+uint32(epoch%epochs), 0)
}

// Key is a timeless score, in units of the 18th decimal, as it is stored in the index. It has KeyBytes for every
// score that a valid config and a valid bid make.
func Key(timelessScore *big.Int) []byte {
	return new(big.Int).Add(timelessScore, keyOffset).FillBytes(make([]byte, KeyBytes))
}

// EntryOf is the entry of a timer with this key in a list of policy score.
func EntryOf(list merge.List, key []byte, due, seq uint64) merge.Entry {
	price := math.LegacyNewDecFromBigIntWithPrec(new(big.Int).SetBytes(key), math.LegacyPrecision)
	return merge.Entry{List: list, Price: price, Other: math.LegacyZeroDec(), Due: due, Seq: seq}
}

// Turns orders timers of equal score. It leaves out those that are gone. Turns depend on records, which the index
// does not hold, so that the caller supplies them.
type Turns func(ctx context.Context, equal []merge.Entry) ([]merge.Entry, error)

const (
	// firstPage is how many entries are read at a time at first: few, since what is read and not handed out is
	// wasted.
	firstPage = 4
	// largestPage is how many entries are read at a time at most, where many scores are equal.
	largestPage = 64
)

// Queue hands out the timers of one list in its order, and those of equal score by turns. It holds no iterator
// open: between two calls of Next the store may change.
type Queue struct {
	// store is read from the head of list on; turns orders what is equal there.
	store merge.Store
	list  merge.List
	turns Turns
	// next holds what is handed out next, read what comes after it. Both are in order.
	next, read []merge.Entry
	// last is where reading goes on.
	last merge.Entry
	// ended: the store holds no more of the list, or no more may be read.
	ended bool
	// readsLeft is how many more entries may be read, turnsLeft how many more may be put in turns.
	readsLeft, turnsLeft int
	// Read counts the entries that were read.
	Read int
}

// NewQueue opens a list. At most maxReads entries are read, and at most maxTurns are put in turns: the first ones
// of equal score. Those beyond are handed out by (due, seq), so that a crowd of equal scores costs a bounded amount
// of work.
func NewQueue(store merge.Store, list merge.List, turns Turns, maxReads, maxTurns int) *Queue {
	return &Queue{store: store, list: list, turns: turns, readsLeft: maxReads, turnsLeft: maxTurns}
}

// Next hands out the best timer left. It is false if there is none, or no more may be read.
func (q *Queue) Next(ctx context.Context) (merge.Entry, bool, error) {
	for len(q.next) == 0 {
		if q.ended && len(q.read) == 0 {
			return merge.Entry{}, false, nil
		}
		if err := q.gather(ctx); err != nil {
			return merge.Entry{}, false, err
		}
	}
	first := q.next[0]
	q.next = q.next[1:]
	return first, true, nil
}

// Return does nothing. It is for timers that were handed out under an outdated weight, and a score has no weight of
// an actor.
func (*Queue) Return(merge.Entry, uint32) {}

// gather moves the best that were read to next: those of one score. It reads on until it has all of them, or as
// many as may be put in turns.
func (q *Queue) gather(ctx context.Context) error {
	equal, page := 0, firstPage
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
	if equal < 2 {
		return nil
	}
	q.turnsLeft -= equal
	var err error
	q.next, err = q.turns(ctx, q.next)
	return err
}

// readOn reads at most n entries more, the head of the list first. It ends the queue where nothing more comes, and
// where no more may be read.
func (q *Queue) readOn(ctx context.Context, n int) error {
	n = min(n, q.readsLeft)
	var page []merge.Entry
	switch {
	case n == 0:
	case q.Read == 0:
		head, found, err := q.store.First(ctx, q.list)
		if err != nil {
			return err
		}
		if found && head.List == q.list {
			page = []merge.Entry{head}
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
