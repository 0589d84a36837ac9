package types

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/tx"
)

// UnwrapPayload applies the payload convention: if the payload is a JSON object with exactly the string members _handler and
// _payload, the latter in base64, they are the timer's handler and payload. Any other payload is delivered as it is, and
// ok is false.
func UnwrapPayload(payload []byte) (handler string, inner []byte, ok bool) {
	if len(payload) == 0 || !utf8.Valid(payload) {
		return "", nil, false
	}
	members, ok := twoStringMembers(payload)
	if !ok {
		return "", nil, false
	}
	handler, hasHandler := members["_handler"]
	encoded, hasPayload := members["_payload"]
	if !hasHandler || !hasPayload {
		return "", nil, false
	}
	inner, err := base64.StdEncoding.Strict().DecodeString(encoded)
	// The decoder skips line ends, which belong to no alphabet; another reader of the convention would not.
	if err != nil || strings.ContainsAny(encoded, "\r\n") {
		return "", nil, false
	}
	return handler, inner, true
}

// twoStringMembers reads a JSON object of exactly two members, both strings. It reads tokens and does not unmarshal,
// because unmarshalling folds case and accepts a member twice.
func twoStringMembers(object []byte) (map[string]string, bool) {
	dec := json.NewDecoder(strings.NewReader(string(object)))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return nil, false
	}
	members := make(map[string]string, 2)
	for range 2 {
		name, ok := stringToken(dec)
		if !ok {
			return nil, false
		}
		value, ok := stringToken(dec)
		if !ok {
			return nil, false
		}
		members[name] = value
	}
	if tok, err := dec.Token(); err != nil || tok != json.Delim('}') {
		return nil, false
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, false
	}
	return members, len(members) == 2
}

func stringToken(dec *json.Decoder) (string, bool) {
	tok, err := dec.Token()
	if err != nil {
		return "", false
	}
	s, ok := tok.(string)
	return s, ok
}

const (
	// MaxMessages bounds the messages that a scan accepts, those within others and other packed values included.
	MaxMessages = 256
	// MaxLevels bounds the levels of fields within fields. Each message within another takes two. What decodes messages
	// copies them at each level, so that the product of length and levels bounds its memory.
	MaxLevels = 32
	// FieldBytes is the least that a field counts for which is a message, a string or bytes. Such a field costs what so
	// many bytes of text cost, however short it is.
	FieldBytes = 16
)

// PayloadShape is what a scan of encoded messages found.
type PayloadShape struct {
	// Bytes of the encoding.
	Bytes int
	// Fields that hold a message, a string or bytes, at all levels.
	Fields int
	// Messages that are packed with their type, at all levels.
	Messages int
}

// Weight is the bytes that decoding the messages counts as: those of the encoding, and at least FieldBytes for each
// field.
func (s PayloadShape) Weight() uint64 { return uint64(max(s.Bytes, FieldBytes*s.Fields)) }

// ScanPayload looks at encoded messages before anything decodes them. It knows no message type: whatever may be a field within
// a field is followed, so that no message is hidden from it. It calls visit for the type of each packed message, and
// ends with its error. It takes time in proportion to the length, and allocates nothing.
//
// The error says which bound is exceeded, or that the bytes are no protobuf message.
func ScanPayload(encoded []byte, visit func(typeURL []byte) error) (PayloadShape, error) {
	s := scan{shape: PayloadShape{Bytes: len(encoded)}, visit: visit}
	whole, err := s.message(encoded, 0)
	if err == nil && !whole {
		err = errNotProtobuf
	}
	return s.shape, err
}

var errNotProtobuf = fmt.Errorf("the bytes are no protobuf message")

type scan struct {
	shape PayloadShape
	visit func(typeURL []byte) error
}

// The wire types of protobuf that messages use. Groups, the two others, occur in no message of this century.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

// message scans what may be a message, and reports whether the bytes are one. Bytes that turn out to be none count as
// far as they were scanned.
func (s *scan) message(data []byte, level int) (whole bool, err error) {
	if level > MaxLevels {
		return false, fmt.Errorf("messages are nested in more than %d levels of fields", MaxLevels)
	}
	for len(data) > 0 {
		tag, n := binary.Uvarint(data)
		if n <= 0 || tag>>3 == 0 {
			return false, nil
		}
		data = data[n:]
		length, ok := fieldLength(data, tag&7)
		if !ok {
			return false, nil
		}
		if tag&7 == wireBytes {
			_, n := binary.Uvarint(data)
			if err := s.field(data[n:length], tag>>3, level); err != nil {
				return false, err
			}
		}
		data = data[length:]
	}
	return true, nil
}

// fieldLength is how many bytes a field of a wire type takes after its tag; false if the data do not hold them.
func fieldLength(data []byte, wireType uint64) (int, bool) {
	length := 0
	switch wireType {
	case wireVarint:
		_, length = binary.Uvarint(data)
	case wireFixed64:
		length = 8
	case wireFixed32:
		length = 4
	case wireBytes:
		inner, n := binary.Uvarint(data)
		if n <= 0 || inner > uint64(len(data)-n) {
			return 0, false
		}
		return n + int(inner), true
	}
	return length, 0 < length && length <= len(data)
}

// field scans a field that holds a message, a string or bytes. The first field of a packed message is its type, which
// begins with a slash; no message does.
func (s *scan) field(content []byte, number uint64, level int) error {
	s.shape.Fields++
	if number != 1 || !bytes.HasPrefix(content, []byte{'/'}) {
		_, err := s.message(content, level+1)
		return err
	}
	if s.shape.Messages++; s.shape.Messages > MaxMessages {
		return fmt.Errorf("more than %d messages, those within others included", MaxMessages)
	}
	return s.visit(content)
}

// NewAccountPayload is the payload of an account's timer that runs these messages.
func NewAccountPayload(msgs ...sdk.Msg) (*AccountPayload, error) {
	anys, err := tx.SetMsgs(msgs)
	if err != nil {
		return nil, err
	}
	return &AccountPayload{Messages: anys}, nil
}

// UnpackInterfaces resolves the messages of the payload.
func (p *AccountPayload) UnpackInterfaces(unpacker codectypes.AnyUnpacker) error {
	return tx.UnpackInterfaces(unpacker, p.Messages)
}
