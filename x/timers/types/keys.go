package types

import "cosmossdk.io/collections"

const (
	// ModuleName is the module's name, its store key, its account and its errors' codespace.
	ModuleName = "timers"
	// StoreKey is the name of the module's store.
	StoreKey = ModuleName
	// DefaultHandler is the name of the handler that a timer calls unless it names another.
	DefaultHandler = "handle_timer"
	// MaxHandlerBytes bounds the name of a handler.
	MaxHandlerBytes = 256
	// InlinePayloadBytes is the longest payload that is kept within its timer's record. A longer one is written once at
	// its own key, so that moving the record stays cheap.
	InlinePayloadBytes = 512
)

// Opcodes are numbers of the authority's messages, for tools that address them so (x/timers/README.md, "3.7 Messages of
// the authority").
const (
	OpcodeSysCancelTimer       uint32 = 48
	OpcodeSysUpdateTimerConfig uint32 = 49
	OpcodeSysExtendTimer       uint32 = 50
)

// FirstPolicyPrefix is the least first byte of the regions that guests keep. All others are below it.
const FirstPolicyPrefix = 34

// First bytes of regions that are divided further. Notes are of what a block changes in watched stores, until it ends.
const (
	PrefixConditions = 29
	PrefixWatchNotes = 33
)

// The other regions of the module's store. x/timers/README.md shows what each holds; a test compares the two. Another
// holds that each has a number of its own, and that no package makes a prefix of a number that is not in this file.
var (
	PrefixConfig     = collections.NewPrefix(1)
	PrefixNextConfig = collections.NewPrefix(2)
	PrefixSeq        = collections.NewPrefix(3)
	PrefixLane       = collections.NewPrefix(4)
	PrefixRecords    = collections.NewPrefix(5)
	PrefixPayloads   = collections.NewPrefix(7)
	PrefixReceipts   = collections.NewPrefix(9)
	PrefixFires      = collections.NewPrefix(10)
	PrefixFireCounts = collections.NewPrefix(11)
	PrefixReady      = collections.NewPrefix(12)
	PrefixNames      = collections.NewPrefix(13)
	PrefixOwners     = collections.NewPrefix(14)
	PrefixRecents    = collections.NewPrefix(15)
	PrefixBounds     = collections.NewPrefix(17)

	PrefixWatched      = collections.NewPrefix(20)
	PrefixWatches      = collections.NewPrefix(21)
	PrefixWatchHits    = collections.NewPrefix(24)
	PrefixWatchPending = collections.NewPrefix(25)
	PrefixWatchCursors = collections.NewPrefix(26)
	PrefixWatchRounds  = collections.NewPrefix(27)
	PrefixWatchTurns   = collections.NewPrefix(28)
	PrefixTombstones   = collections.NewPrefix(30)

	PrefixTipWeights = collections.NewPrefix(34)
	PrefixTipEpochs  = collections.NewPrefix(35)
	PrefixAgents     = collections.NewPrefix(36)
)
