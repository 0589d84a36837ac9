package receipts

import (
	"google.golang.org/protobuf/encoding/protowire"

	collcodec "cosmossdk.io/collections/codec"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// segmentCodec writes a segment as protobuf does, byte for byte. The generated code turns each amount into text up to four
// times, to learn its length, which is most of what storing receipts takes.
type segmentCodec struct {
	collcodec.ValueCodec[types.HeightReceipts]
}

// usualBytes hold nearly every receipt.
const usualBytes = 192

// Encode implements codec.ValueCodec.
func (segmentCodec) Encode(segment types.HeightReceipts) ([]byte, error) {
	e := encoder{out: make([]byte, 0, usualBytes*(len(segment.Receipts)+1))}
	e.number(1, segment.Height)
	one := encoder{out: make([]byte, 0, usualBytes)}
	for i := range segment.Receipts {
		one.out = one.out[:0]
		if err := one.receipt(&segment.Receipts[i]); err != nil {
			return nil, err
		}
		e.always(2, one.out)
	}
	return e.out, nil
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
	for i := range r.Matched {
		key, err := r.Matched[i].Marshal()
		if err != nil {
			return err
		}
		e.always(20, key)
	}
	e.bytes(21, []byte(r.Bid))
	e.bytes(22, []byte(r.BidPaid))
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
