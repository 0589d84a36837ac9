package scenario

// Limits of a scenario file. They keep an untrusted file from exhausting the machine; useful files stay far below them.
const (
	// MaxInputBytes bounds the file.
	MaxInputBytes = 64 << 20
	// MaxBlocks bounds `blocks`.
	MaxBlocks = 1_000_000
	// MaxOps bounds all ops of a file, those of handlers included.
	MaxOps = 1_000_000
	// MaxAccounts bounds `accounts`; every line prints them all.
	MaxAccounts = 10_000
	// MaxCells bounds what a handler of a scenario may want to write.
	MaxCells = 16 << 20

	// maxCycles bounds what a handler may want to spend. No config allows a fire nearly as much.
	maxCycles = uint64(1) << 50
	// maxBalanceBits bounds a balance, so that no sum of them overflows.
	maxBalanceBits = 128
	maxNameBytes   = 128
	// maxLabelBytes, of a label and of a name, is far above what the module accepts.
	maxLabelBytes = 4_096
	// maxNesting bounds handlers that schedule handlers.
	maxNesting   = 16
	maxWatchKeys = 1_024

	// defaultStartTime is that of the first block, and defaultBlockSeconds the distance of the next ones.
	defaultStartTime    = int64(1_700_000_000)
	defaultBlockSeconds = int64(5)
	// maxStartTime and maxBlockSeconds keep the times of all blocks within what a trigger may state: a block may jump by years.
	maxStartTime      = uint64(1) << 36
	maxBlockSeconds   = uint64(1) << 32
	maxBlockDistances = 1_024
	// maxRetryErrors is above what the module accepts.
	maxRetryErrors = 16
)
