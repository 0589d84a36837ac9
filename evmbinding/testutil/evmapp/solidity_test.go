package evmapp

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"
)

// What follows is contracts/ITimers.sol in Go, as a client would have it: the names and the order are those of the ABI.

type Trigger struct {
	Height, AfterBlocks, Every, Time uint64
	Calendar                         Calendar
	Watch                            []Watch
	Count, Cooldown                  uint64
	Repeat                           Repeat
}

type Calendar struct {
	EverySeconds, Anchor, MinuteSet uint64
	HourSet, DaySet                 uint32
	LastDay                         bool
	MonthSet, WeekdaySet            uint32
	OffsetMinutes                   int32
	Transitions                     []Transition
	OffsetFinal                     bool
}

type Transition struct {
	From          uint64
	OffsetMinutes int32
}

type Repeat struct {
	OnFailure          uint8
	MaxFailures        uint32
	FromSchedule, Each bool
	Window, Jitter     uint64
}

type Watch struct {
	Source uint8
	Target common.Address
	Slot   [32]byte
	Op     uint8
	Value  *big.Int
	Name   string
	Key    []byte
}

type Delivery struct {
	TimerId, DeliverId              [32]byte
	FireSeq, Due, Occurrence, Index uint64
	Trigger                         string
	Changed                         []Changed
}

type Changed struct {
	Source uint8
	Target common.Address
	Slot   [32]byte
	Name   string
	Key    []byte
}

type Options struct {
	GasLimit, ByteLimit, ExpiresAt, ExpiresTime   uint64
	Renew                                         bool
	MaxCharge, MaxFeePerGas, MaxPriorityFeePerGas *big.Int
	Tier                                          uint8
	FeePayer                                      common.Address
	Retries                                       uint32
	RetryAfter                                    uint64
	OnUnfunded                                    uint8
	Name                                          string
	OnlyIf                                        []Watch
}

// options with a gas limit, and what a test changes.
func options(gas uint64, change ...func(*Options)) Options {
	o := Options{GasLimit: gas, MaxCharge: new(big.Int), MaxFeePerGas: new(big.Int), MaxPriorityFeePerGas: new(big.Int), OnlyIf: []Watch{}}
	for _, f := range change {
		f(&o)
	}
	return o
}

// trigger of a kind.
func trigger(change func(*Trigger)) Trigger {
	t := Trigger{Watch: []Watch{}}
	change(&t)
	return t
}
