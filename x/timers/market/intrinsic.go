package market

// Intrinsic is what a fire counts in addition to the cycles of its handler (x/timers/README.md, "1.1 Units").
type Intrinsic struct {
	// Base is counted for every fire: FIRE_BASE_CYCLES.
	Base uint64
	// PerPayloadByte and PerMessageByte are counted for what is read, and for what is decoded and checked:
	// PAYLOAD_CYCLES_PER_BYTE and MESSAGE_CYCLES_PER_BYTE.
	PerPayloadByte, PerMessageByte uint64
}

// FireWork is the work of a fire before its handler runs.
type FireWork struct {
	// PayloadBytes are read.
	PayloadBytes uint64
	// MessageBytes are decoded as messages and checked; 0 for a payload that the handler itself reads.
	MessageBytes uint64
	// PayerCycles are what the payer's account and allowance take.
	PayerCycles uint64
}

// Cycles of the work. No sum here overflows: the config bounds the prices, and payloads are at most 1 MiB.
func (i Intrinsic) Cycles(work FireWork) uint64 {
	return i.Base + i.PerPayloadByte*work.PayloadBytes + i.PerMessageByte*work.MessageBytes + work.PayerCycles
}

// Affordable is the longest payload whose reading leaves a fire of gasLimit cycles anything for its handler; false if
// not even an empty one does.
func (i Intrinsic) Affordable(gasLimit, payerCycles uint64) (payloadBytes uint64, ok bool) {
	spent := i.Cycles(FireWork{PayerCycles: payerCycles})
	if spent >= gasLimit {
		return 0, false
	}
	if i.PerPayloadByte == 0 {
		return ^uint64(0), true
	}
	return (gasLimit - spent - 1) / i.PerPayloadByte, true
}
