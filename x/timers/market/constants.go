package market

// The numbers that no config holds. A parameter is what governance decides, or what a chain will want to set in its first year:
// these follow from what work takes, as the weights of the meter do, or bound what is stored.
const (
	// FireBaseCycles of a block's lane are counted for every fire, in addition to what its handler uses: reading the timer, its
	// settlement and its receipt. Without them a lane of tiny timers would be unbounded work.
	FireBaseCycles uint64 = 20_000
	// PayloadCyclesPerByte, in cycles, are counted at each fire for a byte of payload that is read: what the SDK charges for
	// reading one.
	PayloadCyclesPerByte uint64 = 3
	// MessageCyclesPerByte, in cycles, are counted in addition for a byte of messages that is decoded and checked: what a
	// transaction pays for each byte of its own, for the same work.
	MessageCyclesPerByte uint64 = 10
	// CalendarCycles are counted for computing the next occurrence of a trigger by time, at scheduling and at each fire: some
	// three times what the worst cron rule takes to find its next day.
	CalendarCycles uint64 = 2_000
	// LapseCycles are what an occurrence costs its payer that lapsed, at the chain's cycle price, and the weight of the work: its
	// payer is charged, and the timer moves. Timers that never fire would be the chain's cheapest work otherwise.
	LapseCycles uint64 = 6_000
	// LookCycles are what a look at a condition of a watch costs whoever causes it: Notify, its weight, rounded up.
	LookCycles uint64 = 8_000
	// MaxMessagesBytes bounds the encoded messages of an account's timer, in bytes. It is far above what a transaction of a
	// person or a DAO holds; decoding so much takes about as long as two sends.
	MaxMessagesBytes uint64 = 65_536
	// MaxPayerRecordBytes bounds the account and the fee allowance that pay for a timer, in bytes of state with the key: each
	// fire reads and writes them. An account with a post-quantum key takes 2,103.
	MaxPayerRecordBytes uint64 = 2_560
	// MaxRetries bounds how many times a timer may ask that one failed fire be tried again. A retry is paid like any fire, so
	// that the bound protects the payer: what failed ten times in a row was not a bad moment.
	MaxRetries uint32 = 10
	// MaxWatchKeys bounds the keys that one timer watches. Every write to a watched store looks them up, and scheduling and
	// cancelling write them; who needs more schedules a second timer.
	MaxWatchKeys uint32 = 8
	// MaxMatchedKeys bounds the changed keys that one delivery names, and that are noted below a prefix until then: twice what a
	// timer watches, as most watches are of single keys. A receipt keeps them, at some 40 bytes each.
	MaxMatchedKeys uint32 = 16
)
