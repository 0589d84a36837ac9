package state

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// MaxSegmentBytes bounds a segment, and MatchedBytes the watched keys of one receipt, so that a segment holds any receipt
// and a proof of it, as text, takes at most 32 KiB. Most segments of PerSegment receipts are below it.
const (
	MaxReceiptSegmentBytes = 16 << 10
	MatchedBytes           = 12 << 10
)

// usualBytes hold nearly every receipt.
const usualBytes = 192

// encodeReceipts writes a segment of the first receipts, as many as fit and at least one, and returns how many. It writes as
// protobuf does, byte for byte: the generated code turns each amount into text up to four times, to learn its length, which
// is most of what storing receipts takes.
func encodeReceipts(height uint64, receipts []types.Receipt) (segment []byte, n int, err error) {
	e := encoder{out: make([]byte, 0, usualBytes*(len(receipts)+1))}
	e.number(1, height)
	one := encoder{out: make([]byte, 0, usualBytes)}
	for i := range receipts {
		one.out = one.out[:0]
		if err := one.receipt(&receipts[i]); err != nil {
			return nil, 0, err
		}
		if i > 0 && len(e.out)+len(one.out)+4 > MaxReceiptSegmentBytes {
			return e.out, i, nil
		}
		e.always(2, one.out)
	}
	return e.out, len(receipts), nil
}

// encoder appends fields of a message.
type encoder struct{ out []byte }

// receipt appends the fields of a receipt, in the order of their numbers.
func (e *encoder) receipt(r *types.Receipt) error {
	var amount [80]byte
	e.bytes(1, r.TimerId)
	e.bytes(2, r.DeliverId)
	e.bytes(3, r.Actor)
	e.number(4, uint64(r.FireSeq))
	if r.Success {
		e.number(5, 1)
	}
	e.bytes(6, []byte(r.Codespace))
	e.number(7, uint64(r.Code))
	e.number(8, r.Cycles)
	e.number(9, r.Cells)
	e.always(10, decimal.AppendInt(amount[:0], r.Paid))
	e.always(11, decimal.AppendInt(amount[:0], r.Tip))
	matched, omitted := 0, uint64(r.MatchedOmitted)
	for i := range r.Matched {
		key, err := r.Matched[i].Marshal()
		if err != nil {
			return err
		}
		if matched += len(key) + 5; matched > MatchedBytes {
			omitted += uint64(len(r.Matched) - i)
			break
		}
		e.always(20, key)
	}
	e.bytes(21, []byte(r.Bid))
	e.bytes(22, []byte(r.BidPaid))
	e.number(23, omitted)
	if r.ScoreBid != nil {
		e.always(24, decimal.AppendInt(amount[:0], *r.ScoreBid))
	}
	e.number(25, r.Late)
	e.number(26, r.Occurrence)
	e.number(27, r.Index)
	if r.Guarded {
		e.number(28, 1)
	}
	return nil
}

// number appends a number, unless it is 0.
func (e *encoder) number(field protowire.Number, n uint64) {
	if n != 0 {
		e.out = protowire.AppendVarint(protowire.AppendTag(e.out, field, protowire.VarintType), n)
	}
}

// bytes appends bytes, unless there are none.
func (e *encoder) bytes(field protowire.Number, bz []byte) {
	if len(bz) > 0 {
		e.always(field, bz)
	}
}

// always appends bytes, even if there are none.
func (e *encoder) always(field protowire.Number, bz []byte) {
	e.out = protowire.AppendBytes(protowire.AppendTag(e.out, field, protowire.BytesType), bz)
}
