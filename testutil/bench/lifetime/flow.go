package lifetime

import (
	"encoding/hex"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"

	dbm "github.com/cosmos/cosmos-db"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/testutil/bench/workload"
	"github.com/cosmos-timers/timers/x/timers/testutil/storecount"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// nearBlocks and hourBlocks bound the first two thirds of the due distances; a block takes a second.
const nearBlocks, hourBlocks = 100, 3_600

// place names a live timer of the workload. A million of them hold no pointer, so that the garbage collector passes over them.
type place struct {
	// owner is the number of the owner.
	owner int
	id    [idBytes]byte
	due   uint64
}

// flow is the steady traffic of the workload: every block schedules, cancels and fires.
type flow struct {
	w       Workload
	rng     *rand.Rand
	subject subject
	height  uint64
	// live holds every live timer, and some that are gone; see cancel.
	live []place
	// fires and pendingSum add up over the measured blocks.
	fires, pendingSum, pending int
	// recordBytes of the timers that were pending before the run.
	recordBytes int
	// nodes that each measured block wrote.
	nodes []int
	// before are the store operations before the measured blocks.
	before storecount.Counts
}

// Workload is the traffic that nodes are counted under.
type Workload struct {
	// Pending is how many timers are live, on average over the run.
	Pending int `json:"pending"`
	// PerOwner is how many of them an owner has on average.
	PerOwner int `json:"per_owner"`
	// Schedules, Cancels and Fires of a block.
	Schedules int `json:"schedules_per_block"`
	Cancels   int `json:"cancels_per_block"`
	// Blocks that are counted, after Warmup blocks that are not.
	Warmup int `json:"warmup_blocks"`
	Blocks int `json:"blocks"`
	// Policy that fires them. Under eip1559 fires are counted by actor.
	Policy workload.Policy `json:"policy"`
	// ReceiptBlocks is RECEIPT_RETENTION_BLOCKS and FairnessBlocks FAIRNESS_WINDOW_BLOCKS. Both are shorter than Warmup, so
	// that what leaves them is counted with what enters.
	ReceiptBlocks  uint64 `json:"receipt_retention_blocks"`
	FairnessBlocks uint64 `json:"fairness_window_blocks"`
	// Named timers have a name.
	Named bool `json:"named,omitempty"`
	// Brisk timers are due soon: as many blocks ahead, at most, as keep Pending of them pending.
	Brisk bool   `json:"brisk,omitempty"`
	Seed  uint64 `json:"seed"`
}

// DefaultWorkload is the traffic of the published figures.
func DefaultWorkload(pending int, policy workload.Policy, receiptBlocks, seed uint64) Workload {
	return Workload{
		Pending: pending, PerOwner: 10, Schedules: 500, Cancels: 50, Warmup: 6, Blocks: 10,
		Policy: policy, ReceiptBlocks: receiptBlocks, FairnessBlocks: 4, Seed: seed,
	}
}

// steady is the workload over so many blocks that each kind of work that is put off is done in proportion.
func (w Workload) steady() Workload {
	w.Warmup, w.Blocks = 64, 64
	return w
}

// prompt is the workload of a subject that puts nothing off, and needs no blocks before those that are counted.
func (w Workload) prompt() Workload {
	w.Warmup, w.Blocks = 4, 16
	return w
}

// whole is the workload as it is.
func (w Workload) whole() Workload { return w }

// quiet is the workload with a tenth of the traffic. What a block writes however little happens is shared by few timers.
func (w Workload) quiet() Workload {
	w.Schedules, w.Cancels = w.Schedules/10, w.Cancels/10
	return w
}

// brisk is the workload with timers that are due soon. With distances as above, and more timers in a run than are pending
// before it, more than Pending would be pending after a few blocks.
func (w Workload) brisk() Workload {
	w.Brisk = true
	return w
}

// soon is the largest distance of timers that are due soon, if as many are pending as the workload has. Half of those that
// are cancelled had half of it before them.
func (w Workload) soon() uint64 {
	return uint64(2*w.Pending) / uint64(w.Schedules-w.Cancels/2)
}

// inMemory reports whether the database is kept in memory.
func (w Workload) inMemory() bool { return w.Pending <= 100_000 }

const (
	// memoryLimit while the database is open. Below it garbage may be three times what is in use: only counts are measured meanwhile.
	memoryLimit, garbagePercent = 1_600 << 20, 300
	// cachedNodes of a tree are kept in memory: the garbage collector comes by each of them.
	cachedNodes = 100_000
)

// onDisk are the options of a database that is written much and lives for minutes.
var onDisk = opt.Options{
	WriteBuffer: 32 << 20, BlockCacheCapacity: 128 << 20, CompactionTableSize: 8 << 20, CompactionTotalSize: 128 << 20,
	Compression: opt.NoCompression, Filter: filter.NewBloomFilter(10),
}

// database returns an empty database beneath the stores, and what removes it.
func (w Workload) database() (db dbm.DB, remove func(), err error) {
	limit, percent := debug.SetMemoryLimit(memoryLimit), debug.SetGCPercent(garbagePercent)
	restore := func() {
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(percent)
	}
	if w.inMemory() {
		return dbm.NewMemDB(), restore, nil
	}
	dir, err := os.MkdirTemp("", "lifetimes")
	if err == nil {
		db, err = dbm.NewGoLevelDBWithOpts("lifetimes", dir, &onDisk)
	}
	if err != nil {
		restore()
		return nil, nil, err
	}
	return db, func() {
		restore()
		_ = db.Close()
		_ = os.RemoveAll(dir)
	}, nil
}

func (w Workload) owners() int { return max(1, w.Pending/w.PerOwner) }

// distance draws how far ahead a timer is due: a third within nearBlocks, a third within an hour, a third within
// MAX_TTL_BLOCKS.
func (f *flow) distance(maxTTL uint64) uint64 {
	if f.w.Brisk {
		return 1 + f.rng.Uint64N(f.w.soon())
	}
	switch f.rng.IntN(3) {
	case 0:
		return 1 + f.rng.Uint64N(nearBlocks)
	case 1:
		return 1 + f.rng.Uint64N(hourBlocks)
	default:
		return 1 + f.rng.Uint64N(maxTTL)
	}
}

// loadChunk is how many timers of a workload that is not kept in memory are written in one block before it.
const loadChunk = 25_000

// preload opens the subject with the pending timers: in each block of the run as many are due as it schedules, counting
// those that the run itself schedules for it; the rest lies beyond the run, at the distances of the workload. They are in
// the genesis, or come in chunks if they are many.
func (f *flow) preload(open func(*types.GenesisState) (subject, error)) error {
	genesis := workload.WideGenesis()
	genesis.Config.Policy, genesis.Config.CandidateWindow = f.w.Policy.Config(), 2_048
	genesis.Config.ReceiptRetentionBlocks = f.w.ReceiptBlocks
	genesis.Config.FairnessWindowBlocks = f.w.FairnessBlocks
	run := f.w.Warmup + f.w.Blocks
	// What is cancelled beyond the fires makes the number of pending timers fall: begin as far above as the run ends below.
	total := f.w.Pending + f.w.Cancels*f.w.Warmup + f.w.Cancels*f.w.Blocks/2
	if f.w.Brisk {
		total = f.w.Pending
	}
	chunk := total
	if !f.w.inMemory() {
		chunk = loadChunk
		// The first chunk is the genesis, each further one takes a block.
		f.height = uint64((total+chunk-1)/chunk) - 1
	}
	add := func(height uint64) error {
		if f.pending == total {
			return nil
		}
		f.preloadOne(genesis, f.height+height)
		if f.pending++; f.pending%chunk > 0 && f.pending < total {
			return nil
		}
		err := f.load(genesis, open)
		genesis.Timers = genesis.Timers[:0]
		return err
	}
	for height := 1; height <= run; height++ {
		for range f.dueAt(height) {
			if err := add(uint64(height)); err != nil {
				return err
			}
		}
	}
	beyond := uint64(run)
	if f.w.Brisk {
		beyond = 0
	}
	for _, distance := range f.distances(total-f.pending, genesis.Config.MaxTtlBlocks-beyond) {
		if err := add(beyond + distance); err != nil {
			return err
		}
	}
	return nil
}

// distances draws how far ahead so many timers are due. Those that come in chunks come by height, in two rounds: a chunk of random
// keys would change much of a tree of a million, and a tree that grew at its end alone has another shape than a chain's.
func (f *flow) distances(n int, maxTTL uint64) []uint64 {
	drawn := make([]uint64, n)
	for i := range drawn {
		drawn[i] = f.distance(maxTTL)
	}
	if !f.w.inMemory() {
		slices.Sort(drawn[:n/2])
		slices.Sort(drawn[n/2:])
	}
	return drawn
}

// dueAt is how many of the pending timers are due at a height.
func (f *flow) dueAt(height int) int {
	if f.w.Brisk {
		// What a chain of this traffic would have pending: fewer for a height that is further away.
		soon := int(f.w.soon())
		return f.w.Schedules * max(0, soon-height) / soon
	}
	scheduled := f.w.Schedules * (height - 1)
	ownDue := scheduled / 3 * (hourBlocks + nearBlocks) / (hourBlocks * nearBlocks)
	// Some of them are cancelled before they are due.
	cancelled := scheduled * f.w.Cancels / f.w.Pending
	return f.w.Schedules - ownDue + cancelled
}

// load writes the timers of a genesis, with which the subject is opened if it is not yet.
func (f *flow) load(genesis *types.GenesisState, open func(*types.GenesisState) (subject, error)) (err error) {
	if f.subject != nil {
		return f.subject.load(genesis.Timers)
	}
	f.subject, err = open(genesis)
	return err
}

func (f *flow) preloadOne(genesis *types.GenesisState, due uint64) {
	// Every owner is equally likely, which is the worst locality: neighbours in the queue are strangers.
	owner := f.rng.IntN(f.w.owners())
	timer := addTimer(genesis, workload.Owner(owner), due, f.payload())
	if f.w.Named {
		timer.Spec.Name = nameOf(timer.Spec.Call.Payload)
	}
	f.live = append(f.live, place{owner, [idBytes]byte(timer.Id), due})
	f.recordBytes += timer.Size()
}

// nameOf is the name of the timer with a payload.
func nameOf(payload []byte) string { return "timer " + hex.EncodeToString(payload[:8]) }

func addTimer(genesis *types.GenesisState, owner sdk.AccAddress, due uint64, payload []byte) *types.Timer {
	return workload.AddTimer(genesis, owner, due, payload, workload.GasLimit)
}

func (f *flow) payload() []byte {
	bz := make([]byte, workload.PayloadBytes)
	for i := range bz {
		bz[i] = byte(f.rng.Uint32())
	}
	return bz
}

// block runs one block of the workload.
func (f *flow) block() error {
	if err := f.subject.begin(); err != nil {
		return err
	}
	f.height++
	for range f.w.Schedules {
		owner := f.rng.IntN(f.w.owners())
		due := f.height + f.distance(types.DefaultTimerConfig("x").MaxTtlBlocks)
		id, err := f.subject.schedule(workload.Owner(owner), due, f.payload())
		if err != nil {
			return err
		}
		f.live = append(f.live, place{owner, [idBytes]byte(id), due})
	}
	for range f.w.Cancels {
		if err := f.cancel(); err != nil {
			return err
		}
	}
	fired, err := f.subject.end()
	if err != nil {
		return err
	}
	f.fires += fired
	f.pending += f.w.Schedules - f.w.Cancels - fired
	f.pendingSum += f.pending
	return nil
}

// cancel cancels a live timer that is not due yet. Those that have fired meanwhile are dropped from the list when drawn.
func (f *flow) cancel() error {
	for {
		at := f.rng.IntN(len(f.live))
		drawn := f.live[at]
		f.live[at] = f.live[len(f.live)-1]
		f.live = f.live[:len(f.live)-1]
		if drawn.due > f.height {
			return f.subject.cancel(drawn)
		}
	}
}
