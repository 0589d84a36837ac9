package proof

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"

	ics23 "github.com/cosmos/ics23/go"
	"google.golang.org/protobuf/encoding/protowire"
)

// StoreName is that of the module's store.
const StoreName = "timers"

// The regions of the store that proofs are about (x/timers/README.md, "2. State").
const (
	laneRegion     = 4
	receiptsRegion = 9
)

// Header is what is trusted of a header. Where it comes from decides what a proof is worth: a light client, or a node of one's
// own.
type Header struct {
	ChainID string
	Height  uint64
	AppHash []byte
}

// Fact is what a proof has shown.
type Fact struct {
	ChainID string
	// HeaderHeight is the height of the header under which it was shown.
	HeaderHeight uint64
	TimerID      []byte
	// Height of the block in which the timer was delivered or, if Absent, was not.
	Height uint64
	Absent bool
	// Position of the receipt among those of its block, and the receipt: a timers.v1.Receipt in protobuf, byte for byte as the
	// chain stores it. It says whether the delivery succeeded. None if Absent.
	Position uint64
	Receipt  []byte
}

// Verify returns what the file of a proof shows under a header. An error says why it shows nothing; Verify never panics, whatever
// the file holds.
func Verify(trusted Header, text []byte) (fact *Fact, err error) {
	// The library's checks of neighbours index and panic where a proof has no path.
	defer func() {
		if r := recover(); r != nil {
			fact, err = nil, fmt.Errorf("the proof is malformed: %v", r)
		}
	}()
	f, err := Parse(text)
	if err != nil {
		return nil, err
	}
	switch {
	case trusted.ChainID != f.ChainID:
		return nil, fmt.Errorf("the proof is of chain %.80q, and the header of %.80q", f.ChainID, trusted.ChainID)
	case trusted.Height != uint64(f.HeaderHeight):
		return nil, fmt.Errorf("the proof is for the header of height %d: the one that is trusted is of %d", f.HeaderHeight, trusted.Height)
	case len(trusted.AppHash) != 32:
		return nil, fmt.Errorf("the application hash of the header has %d bytes, want 32", len(trusted.AppHash))
	}
	store, err := member(ics23.TendermintSpec, trusted.AppHash, f.Store)
	switch {
	case err != nil:
		return nil, fmt.Errorf("store: %w", err)
	case string(store.Key) != StoreName:
		return nil, fmt.Errorf("store: it is a proof of store %.40q, want %q", store.Key, StoreName)
	}
	fact = &Fact{ChainID: f.ChainID, HeaderHeight: trusted.Height, TimerID: f.TimerID, Height: uint64(f.Height), Absent: f.Proves == Absence}
	if fact.Absent {
		err = f.verifyAbsence(store.Value)
	} else {
		err = f.verifyDelivery(store.Value, fact)
	}
	if err != nil {
		return nil, err
	}
	return fact, nil
}

// verifyDelivery enters the receipt that the file proves under the root of the store.
func (f *File) verifyDelivery(root []byte, fact *Fact) error {
	first, receipts, err := f.segment(root, f.Receipts[0])
	if err != nil {
		return fmt.Errorf("receipts: %w", err)
	}
	fact.Position = uint64(*f.Position)
	if fact.Position < first || fact.Position-first >= uint64(len(receipts)) {
		return fmt.Errorf("receipts: the value holds those of the positions %d to %d, and not %d", first, first+uint64(len(receipts))-1, fact.Position)
	}
	fact.Receipt = receipts[fact.Position-first]
	id, err := TimerOf(fact.Receipt)
	if err != nil {
		return fmt.Errorf("receipts: position %d: %w", fact.Position, err)
	}
	if !bytes.Equal(id, f.TimerID) {
		return fmt.Errorf("receipts: position %d is a delivery of timer %x, and not of %x", fact.Position, id, f.TimerID)
	}
	return nil
}

// verifyAbsence checks that the file holds all receipts of its block, and that none is one of the timer: the values follow one
// another from position 0 on, none follows the last, and none was removed or left out.
func (f *File) verifyAbsence(root []byte) error {
	lane, err := member(ics23.IavlSpec, root, f.Lane)
	if err != nil {
		return fmt.Errorf("lane: %w", err)
	}
	if !bytes.Equal(lane.Key, []byte{laneRegion}) {
		return fmt.Errorf("lane: it is a proof of the key %x, want %x", lane.Key, []byte{laneRegion})
	}
	from, unkept, err := Watermark(lane.Value)
	switch height := uint64(f.Height); {
	case err != nil:
		return fmt.Errorf("lane: %w", err)
	case from >= height:
		return fmt.Errorf("receipts of height %d may be pruned: all are kept of heights above %d only", f.Height, from)
	case unkept >= height:
		return fmt.Errorf("receipts of height %d may not have been kept: all are kept of heights above %d only", f.Height, unkept)
	}
	next := uint64(0)
	for i, proof := range f.Receipts {
		first, receipts, err := f.segment(root, proof)
		if err != nil {
			return fmt.Errorf("receipts: value %d: %w", i, err)
		}
		if first != next {
			return fmt.Errorf("receipts: value %d begins at position %d, want %d", i, first, next)
		}
		for j, receipt := range receipts {
			id, err := TimerOf(receipt)
			if err != nil {
				return fmt.Errorf("receipts: position %d: %w", first+uint64(j), err)
			}
			if bytes.Equal(id, f.TimerID) {
				return fmt.Errorf("timer %x was delivered at height %d, position %d", f.TimerID, f.Height, first+uint64(j))
			}
		}
		next += uint64(len(receipts))
	}
	if err := notMember(root, f.End, ReceiptsKey(uint64(f.Height), next)); err != nil {
		return fmt.Errorf("end: %w", err)
	}
	return nil
}

// segment returns the receipts of a value of the file's block, and the position of the first.
func (f *File) segment(root, proof []byte) (first uint64, receipts [][]byte, err error) {
	value, err := member(ics23.IavlSpec, root, proof)
	if err != nil {
		return 0, nil, err
	}
	own := receiptsOf(uint64(f.Height))
	if !bytes.HasPrefix(value.Key, own) || len(value.Key) != len(own)+8 {
		return 0, nil, fmt.Errorf("it is a proof of the key %x, want one of the receipts of height %d, %x and a position", value.Key, f.Height, own)
	}
	first = binary.BigEndian.Uint64(value.Key[len(own):])
	height, receipts, err := Segment(value.Value)
	switch {
	case err != nil:
		return 0, nil, err
	case height != uint64(f.Height) || len(receipts) == 0:
		return 0, nil, fmt.Errorf("the value has %d receipts of height %d, want one or more of %d", len(receipts), height, f.Height)
	}
	return first, receipts, nil
}

// LaneKey is the key of the lane's state in the store.
func LaneKey() []byte { return []byte{laneRegion} }

// ReceiptsKey is the key of a value of receipts in the store, the one whose first receipt has this position.
func ReceiptsKey(height, first uint64) []byte {
	return binary.BigEndian.AppendUint64(receiptsOf(height), first)
}

func receiptsOf(height uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{receiptsRegion}, height)
}

// member checks a proof of existence against a root, and returns the key and the value that it proves.
func member(spec *ics23.ProofSpec, root, proof []byte) (*ics23.ExistenceProof, error) {
	parsed := &ics23.CommitmentProof{}
	if err := parsed.Unmarshal(proof); err != nil {
		return nil, fmt.Errorf("it is no proof of ICS-23: %w", err)
	}
	exists := parsed.GetExist()
	if exists == nil {
		return nil, errors.New("it is no proof that something exists")
	}
	if err := exists.Verify(spec, root, exists.Key, exists.Value); err != nil {
		return nil, fmt.Errorf("the proof of key %.80x does not hold: %w", exists.Key, err)
	}
	return exists, nil
}

// notMember checks a proof that a key of receipts is not in the store, nor any later one of its height.
func notMember(root, proof, key []byte) error {
	parsed := &ics23.CommitmentProof{}
	if err := parsed.Unmarshal(proof); err != nil {
		return fmt.Errorf("it is no proof of ICS-23: %w", err)
	}
	missing := parsed.GetNonexist()
	if missing == nil {
		return errors.New("it is no proof that something is missing")
	}
	if err := missing.Verify(ics23.IavlSpec, root, key); err != nil {
		return fmt.Errorf("the proof that there is no key %x does not hold: %w", key, err)
	}
	if right := missing.Right; right != nil && bytes.HasPrefix(right.Key, key[:len(key)-8]) {
		return fmt.Errorf("there are more receipts, at the key %x", right.Key)
	}
	return nil
}

// Segment reads a timers.v1.HeightReceipts.
func Segment(value []byte) (height uint64, receipts [][]byte, err error) {
	err = fields(value, func(field protowire.Number, number uint64, bytes []byte) {
		switch field {
		case 1:
			height = number
		case 2:
			receipts = append(receipts, bytes)
		default: // Later versions may add fields.
		}
	})
	return height, receipts, err
}

// TimerOf reads the id in a timers.v1.Receipt.
func TimerOf(receipt []byte) (id []byte, err error) {
	err = fields(receipt, func(field protowire.Number, _ uint64, bytes []byte) {
		if field == 1 {
			id = bytes
		}
	})
	if err == nil && len(id) != IDBytes {
		err = fmt.Errorf("the receipt names timer %s, want an id of %d bytes", hex.EncodeToString(id), IDBytes)
	}
	return id, err
}

// Watermark reads in a timers.v1.LaneState above which heights all receipts are kept.
func Watermark(lane []byte) (from, unkept uint64, err error) {
	err = fields(lane, func(field protowire.Number, number uint64, _ []byte) {
		switch field {
		case 7:
			from = number
		case 62:
			unkept = number
		default: // The rest says nothing of receipts.
		}
	})
	return from, unkept, err
}

// fields passes the fields of a message to fn: numbers, and bytes.
func fields(message []byte, fn func(field protowire.Number, number uint64, bytes []byte)) error {
	for len(message) > 0 {
		field, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		var number uint64
		var bytes []byte
		switch kind {
		case protowire.VarintType:
			number, n = protowire.ConsumeVarint(message)
		case protowire.BytesType:
			bytes, n = protowire.ConsumeBytes(message)
		default:
			n = protowire.ConsumeFieldValue(field, kind, message)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		fn(field, number, bytes)
	}
	return nil
}
