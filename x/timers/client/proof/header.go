package proof

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// maxHeaderBytes bounds the text of a header. One with the signatures of 200 validators has 50 KiB.
const maxHeaderBytes = 1 << 20

// ParseHeader reads a header in JSON: {"chain_id", "height", "app_hash"}, alone or within what a node answers to /header,
// /commit or /block. It takes it at its word: who reads it trusts where it is from.
func ParseHeader(text []byte) (Header, error) {
	if len(text) > maxHeaderBytes {
		return Header{}, fmt.Errorf("the header has %d bytes, want at most %d", len(text), maxHeaderBytes)
	}
	for _, name := range []string{"result", "block", "signed_header", "header"} {
		var outer map[string]json.RawMessage
		if err := json.Unmarshal(text, &outer); err != nil {
			return Header{}, fmt.Errorf("the header is no JSON object: %w", err)
		}
		if inner, ok := outer[name]; ok {
			text = inner
		}
	}
	var header struct {
		ChainID string          `json:"chain_id"`
		Height  json.RawMessage `json:"height"`
		AppHash string          `json:"app_hash"`
	}
	if err := json.Unmarshal(text, &header); err != nil {
		return Header{}, fmt.Errorf("the header is not as a node answers it: %w", err)
	}
	if header.ChainID == "" || len(header.Height) == 0 || header.AppHash == "" {
		return Header{}, errors.New("the header lacks chain_id, height or app_hash: want what a node answers to /header, /commit or /block")
	}
	digits := string(header.Height)
	if unquoted, err := strconv.Unquote(digits); err == nil {
		digits = unquoted
	}
	height, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return Header{}, fmt.Errorf("the header's height is %.40s: want a number", header.Height)
	}
	hash, err := hex.DecodeString(header.AppHash)
	if err != nil || len(hash) != 32 {
		return Header{}, fmt.Errorf("the header's app_hash is %.80q: want 64 hexadecimal digits", header.AppHash)
	}
	return Header{ChainID: header.ChainID, Height: height, AppHash: hash}, nil
}
