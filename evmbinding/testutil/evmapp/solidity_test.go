package evmapp

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"github.com/cosmos-timers/timers/evmbinding"
)

// What an owner states of a timer, as a client in Go would state it.
type (
	Spec     = evmbinding.TimerSpec
	Watch    = evmbinding.WatchKey
	Calendar = evmbinding.CalendarTrigger
)

// What follows is of contracts/ITimers.sol too: the names and the order are those of the ABI.

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

// spec of a callback with a gas limit, and what a test changes.
func spec(gas uint64, payload []byte, change ...func(*Spec)) Spec {
	s := Spec{GasLimit: gas, Call: evmbinding.TimerCall{Payload: payload}}
	for _, f := range change {
		f(&s)
	}
	numbers := []**big.Int{
		&s.MaxCharge, &s.Call.Value, &s.Bid.Price, &s.Bid.StaticBid.MaxFeePerGas, &s.Bid.StaticBid.MaxPriorityFeePerGas,
	}
	for _, keys := range [][]Watch{s.OnlyIf, s.Trigger.Watch.Keys} {
		for i := range keys {
			numbers = append(numbers, &keys[i].When.Value)
		}
	}
	for _, n := range numbers {
		if *n == nil {
			*n = new(big.Int)
		}
	}
	return s
}

// callTo makes it a call as its owner.
func callTo(to common.Address, value *big.Int, data []byte) func(*Spec) {
	return func(s *Spec) {
		s.Call = evmbinding.TimerCall{Handler: evmbinding.Call, To: to, Value: value, Payload: data}
	}
}

// when is a condition.
func when(op uint8, value *big.Int) evmbinding.WatchCondition {
	return evmbinding.WatchCondition{Op: op, Value: value}
}
