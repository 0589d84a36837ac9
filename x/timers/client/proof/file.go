// Package proof checks proofs of receipts: that a timer was delivered in a block, or that it was not. Who checks needs the
// file of a proof and a header of the chain that it trusts, and no node. x/timers/docs/use/proofs.md says what can be proved, and
// describes the file. Package prove, next to this one, makes the files.
//
// It imports the library that checks proofs of stores (ICS-23) and protobuf's wire format, and nothing of the SDK.
package proof

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

const (
	// Version of the file.
	Version = 1
	// MaxDeliveryBytes bounds the file of a proof of a delivery.
	MaxDeliveryBytes = 32 << 10
	// MaxAbsenceBytes bounds that of a proof of absence, which holds all receipts of a block.
	MaxAbsenceBytes = 16 << 20
	// IDBytes is the length of a timer's id.
	IDBytes = 32
)

// What a file may prove.
const (
	Delivery = "delivery"
	Absence  = "absence"
)

// File is a proof as it is kept. Each proof within is a CommitmentProof of ICS-23 in protobuf, which holds the key and the
// value that it proves.
type File struct {
	// Version is 1.
	Version int `json:"version"`
	// Proves is Delivery or Absence.
	Proves string `json:"proves"`
	// ChainID and HeaderHeight name the header under which the proof holds.
	ChainID      string `json:"chain_id"`
	HeaderHeight Number `json:"header_height"`
	// TimerID of the timer.
	TimerID Hex `json:"timer_id"`
	// Height of the block in which the timer was delivered, or was not.
	Height Number `json:"height"`
	// Position of its receipt among those of the block; of a delivery only.
	Position *Number `json:"position,omitempty"`
	// Store proves the root of the module's store under the header's application hash.
	Store []byte `json:"store"`
	// Receipts prove values of receipts in the store: of a delivery the one that has its receipt, of absence all of the block.
	Receipts [][]byte `json:"receipts"`
	// End proves that the block has no more receipts; of absence only.
	End []byte `json:"end,omitempty"`
	// Lane proves the state of the lane, which says of which blocks all receipts are kept; of absence only.
	Lane []byte `json:"lane,omitempty"`
}

// Number is a height or a position. In JSON it is text, as protobuf has numbers of 64 bits.
type Number uint64

// MarshalJSON implements json.Marshaler.
func (n Number) MarshalJSON() ([]byte, error) {
	return []byte(`"` + strconv.FormatUint(uint64(n), 10) + `"`), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (n *Number) UnmarshalJSON(text []byte) error {
	var digits string
	if err := json.Unmarshal(text, &digits); err != nil {
		return fmt.Errorf("%.40s is no number as text: want digits in quotes", text)
	}
	value, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || strconv.FormatUint(value, 10) != digits {
		return fmt.Errorf("%.40q is no number: want digits, without leading zeros, below 2^64", digits)
	}
	*n = Number(value)
	return nil
}

// Hex is bytes, in JSON as hexadecimal digits in lower case.
type Hex []byte

// MarshalJSON implements json.Marshaler.
func (h Hex) MarshalJSON() ([]byte, error) { return json.Marshal(hex.EncodeToString(h)) }

// UnmarshalJSON implements json.Unmarshaler.
func (h *Hex) UnmarshalJSON(text []byte) error {
	var digits string
	if err := json.Unmarshal(text, &digits); err != nil {
		return fmt.Errorf("%.40s is no text: want hexadecimal digits in quotes", text)
	}
	value, err := hex.DecodeString(digits)
	if err != nil || hex.EncodeToString(value) != digits {
		return fmt.Errorf("%.80q is not hexadecimal in lower case", digits)
	}
	*h = value
	return nil
}

// Parse reads the file of a proof. It checks the form alone: Verify says whether it proves anything.
func Parse(text []byte) (*File, error) {
	if len(text) > MaxAbsenceBytes {
		return nil, fmt.Errorf("the proof has %d bytes, want at most %d", len(text), MaxAbsenceBytes)
	}
	f := &File{}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(f); err != nil {
		return nil, fmt.Errorf("the proof is not a file of version %d: %w", Version, err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the proof: want one JSON object")
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	if f.Proves == Delivery && len(text) > MaxDeliveryBytes {
		return nil, fmt.Errorf("the proof of a delivery has %d bytes, want at most %d", len(text), MaxDeliveryBytes)
	}
	return f, nil
}

// check tells whether the file has what it needs, and nothing else.
func (f *File) check() error {
	switch {
	case f.Version != Version:
		return fmt.Errorf("the proof is of version %d: want %d", f.Version, Version)
	case f.Proves != Delivery && f.Proves != Absence:
		return fmt.Errorf("the proof proves %.40q: want %q or %q", f.Proves, Delivery, Absence)
	case f.ChainID == "":
		return errors.New("the proof names no chain: chain_id is missing")
	case len(f.TimerID) != IDBytes:
		return fmt.Errorf("timer_id has %d bytes, want %d", len(f.TimerID), IDBytes)
	case f.Height == 0:
		return errors.New("height is 0 or missing: want that of a block")
	case f.HeaderHeight <= f.Height:
		return fmt.Errorf("header_height %d is not above height %d: the receipts of a block are under the next header", f.HeaderHeight, f.Height)
	case len(f.Store) == 0:
		return errors.New("store, the proof of the module's store, is missing")
	case f.Proves == Delivery && (f.Position == nil || len(f.Receipts) != 1 || f.End != nil || f.Lane != nil):
		return errors.New("a proof of a delivery has a position, one value of receipts, and neither end nor lane")
	case f.Proves == Absence && (f.Position != nil || len(f.End) == 0 || len(f.Lane) == 0):
		return errors.New("a proof of absence has no position, and has end and lane")
	}
	return nil
}

// Text is the file, as Parse reads it: JSON with a line for each field.
func (f *File) Text() ([]byte, error) {
	text, err := json.MarshalIndent(f, "", " ")
	return append(text, '\n'), err
}
