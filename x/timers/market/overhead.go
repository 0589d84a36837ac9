package market

// Share is a part of a block's overhead that is guaranteed to one group of works. What it leaves is lent to the works that
// come after it in the block.
type Share int

// The shares, in the order in which a block uses them.
const (
	// Times: timers whose time has come become ready.
	Times Share = iota
	// Watches are notified, and the entries of those that left are removed.
	Watches
	// Held timers are looked at.
	Held
	// NewlyDue timers are read and admitted, those that became due in this very block.
	NewlyDue
	// Contest: ready timers are read, ranked and admitted.
	Contest
	// Tries take the best of the admitted, some of which find no funds.
	Tries
	// Upkeep is the background scan for expired and misplaced timers, pruning and ageing.
	Upkeep
	shares
)

// parts of the overhead without removals, in 36ths: by default an eighth of OVERHEAD_CYCLES_PER_BLOCK are five.
var parts = [shares]uint64{Times: 5, Watches: 5, Held: 4, NewlyDue: 5, Contest: 8, Tries: 4, Upkeep: 5}

const whole = 36

// Work is a kind of work.
type Work struct {
	// kind is a bit of its own, for what a meter has seen.
	kind kind
	// Share that it is done on.
	Share Share
	// Cycles are its weight.
	Cycles uint64
}

type kind uint32

// The kinds, in the order of the works.
const (
	visitOwner kind = 1 << iota
	readCondition
	notify
	removeKey
	visitHeld
	visitWaiting
	moveTimed
	moveNewlyDue
	lapse
	readNewlyDue
	admitNewlyDue
	readWindow
	readReady
	lookAtPayer
	admit
	putOnHold
	refile
	readEntry
	readRanked
	dropMet
	try
	lookAtAdmin
	scan
	renew
	dropStale
	prune
	age
)

// RemovalCycles is what GC_CYCLES_PER_BLOCK is charged for each removal.
const RemovalCycles = 2_700

// tryCycles is the weight of a try that finds no funds, and of putting the timer on hold.
const tryCycles = 2_600

// The works.
var (
	// VisitOwner: an owner of watches is given a change. ReadCondition: a condition is compared. Notify: a timer becomes due
	// by a watch. RemoveKey: the entries of one watched key are removed.
	VisitOwner    = Work{visitOwner, Watches, 3_500}
	ReadCondition = Work{readCondition, Watches, 200}
	Notify        = Work{notify, Watches, 7_100}
	RemoveKey     = Work{removeKey, Watches, 11_500}

	// VisitHeld: a timer on hold is looked at. VisitWaiting: so is one that waits for a watch and has expired.
	VisitHeld    = Work{visitHeld, Held, 1_900}
	VisitWaiting = Work{visitWaiting, Held, 1_900}

	// MoveTimed: a timer whose time has come becomes ready. MoveNewlyDue is the same for one whose time came since the previous
	// block, while older ones still wait.
	MoveTimed    = Work{moveTimed, Times, 3_500}
	MoveNewlyDue = Work{moveNewlyDue, NewlyDue, 3_500}

	// ReadNewlyDue and AdmitNewlyDue are ReadReady and Admit for timers that became due in this very block.
	ReadNewlyDue  = Work{readNewlyDue, NewlyDue, 200}
	AdmitNewlyDue = Work{admitNewlyDue, NewlyDue, 1_800}

	// ReadWindow: one of the oldest ready timers is read. ReadReady: one is read to be admitted. LookAtPayer: its payer's
	// balance or allowance is read, once a block. Admit: it is ranked and enters the ready index. PutOnHold: it is put on hold
	// before it is tried. Refile: its index entry is replaced.
	ReadWindow  = Work{readWindow, Contest, 200}
	ReadReady   = Work{readReady, Contest, 200}
	LookAtPayer = Work{lookAtPayer, Contest, 1_400}
	Admit       = Work{admit, Contest, 1_800}
	PutOnHold   = Work{putOnHold, Contest, tryCycles}
	Refile      = Work{refile, Contest, 3_000}

	// ReadEntry: an index entry is read. ReadRanked: so is the timer that it names. DropMet: there is none, and the entry is
	// dropped. Try: it is tried at no one's cost, without funds or scheduled by who is the admin no more, and put on hold.
	// LookAtAdmin: it is looked up who is the admin of a timer's actor.
	ReadEntry   = Work{readEntry, Tries, 50}
	ReadRanked  = Work{readRanked, Tries, 200}
	DropMet     = Work{dropMet, Tries, 1_000}
	Try         = Work{try, Tries, tryCycles}
	LookAtAdmin = Work{lookAtAdmin, Tries, 1_400}
	// Lapse: an occurrence of a timer has passed, and it waits for the next.
	Lapse = Work{lapse, Tries, LapseCycles}

	// Scan: a ready timer is read in the background. Renew: so is one that the admission has passed, and ranked. DropStale: an
	// index entry is dropped whose timer was not met there. Prune: a segment of receipts is removed. Age: a fire leaves the
	// window of its unit, or an actor's record is forgotten.
	Scan      = Work{scan, Upkeep, 200}
	Renew     = Work{renew, Upkeep, 1_300}
	DropStale = Work{dropStale, Upkeep, 1_000}
	Prune     = Work{prune, Upkeep, 2_600}
	Age       = Work{age, Upkeep, 2_600}
)

// Overhead is what is left of one block's overhead. The first work of each kind always fits, so that every loop continues in
// every block, however little there is.
type Overhead struct {
	// own is what is left of each share, lent what is free for all.
	own  [shares]uint64
	lent uint64
	// begun are the kinds of which some work was done.
	begun kind
	// used cycles.
	used uint64
}

// NewOverhead returns the meter of a block with so many cycles, of which removals are not metered here.
func NewOverhead(cycles, removals uint64) *Overhead {
	m := &Overhead{lent: cycles - min(cycles, removals)}
	part := m.lent / whole
	for share := range m.own {
		m.own[share] = parts[share] * part
		m.lent -= m.own[share]
	}
	return m
}

// CyclesFor is how many cycles, in addition to those for removals, a block needs so that n works of a kind fit when no timer is
// due by time.
func CyclesFor(w Work, n int) uint64 {
	part := parts[w.Share]
	if w.Share != Times {
		part += parts[Times]
	}
	return whole * ((w.Cycles*uint64(n) + part - 1) / part)
}

// Used is how many cycles were consumed.
func (m *Overhead) Used() uint64 { return m.used }

// Left is how many works of a kind still fit.
func (m *Overhead) Left(w Work) int {
	n := (m.own[w.Share] + m.lent) / w.Cycles
	if n == 0 && m.begun&w.kind == 0 {
		return 1
	}
	return int(min(n, 1<<30))
}

// Fits reports whether one more work of a kind fits.
func (m *Overhead) Fits(w Work) bool { return m.Left(w) > 0 }

// TryConsume consumes one work, and reports whether it fits. If it does not, nothing is consumed.
func (m *Overhead) TryConsume(w Work) bool {
	if m.Left(w) == 0 {
		return false
	}
	m.Consume(w, 1)
	return true
}

// Consume consumes n works that are done, those of the share first. More than there is uses up what there is.
func (m *Overhead) Consume(w Work, n int) {
	if n <= 0 {
		return
	}
	cycles := w.Cycles * uint64(n)
	m.begun |= w.kind
	m.used += cycles
	own := min(cycles, m.own[w.Share])
	m.own[w.Share] -= own
	m.lent -= min(cycles-own, m.lent)
}

// Lend lets the works that follow use what a share has left: its own are done.
func (m *Overhead) Lend(share Share) {
	m.lent += m.own[share]
	m.own[share] = 0
}
