package actors

import (
	"bytes"
	"encoding/json"
	"io"
	"regexp"
	"unicode/utf8"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// MaxQuoteBytes bounds an agent's answer in JSON. An honest one is 200 bytes long.
const MaxQuoteBytes = 4_096

// priceText is a price as agents write it: no sign, no exponent, at most 18 places.
var priceText = regexp.MustCompile(`^[0-9]{1,20}(\.[0-9]{1,18})?$`)

// ParseQuote reads an agent's answer: a JSON object with exactly the string members max_fee_per_cycle,
// max_priority_fee_per_cycle and max_fee_per_cell, each a decimal with at most 18 places, in fee denom.
func ParseQuote(answer []byte) (types.AgentQuote, error) {
	var quote types.AgentQuote
	if len(answer) > MaxQuoteBytes {
		return quote, types.ErrInvalidQuote.Wrapf("%d bytes, want at most %d", len(answer), MaxQuoteBytes)
	}
	if !utf8.Valid(answer) {
		return quote, types.ErrInvalidQuote.Wrap("not UTF-8")
	}
	// It reads tokens and does not unmarshal, because unmarshalling folds case and accepts a member twice.
	dec := json.NewDecoder(bytes.NewReader(answer))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return quote, types.ErrInvalidQuote.Wrap("want a JSON object")
	}
	prices := map[string]*math.LegacyDec{
		"max_fee_per_cycle": &quote.MaxFeePerCycle, "max_priority_fee_per_cycle": &quote.MaxPriorityFeePerCycle,
		"max_fee_per_cell": &quote.MaxFeePerCell,
	}
	for range len(prices) {
		name, ok := stringToken(dec)
		price, known := prices[name]
		if !ok || !known || !price.IsNil() {
			return types.AgentQuote{}, types.ErrInvalidQuote.Wrapf("want max_fee_per_cycle, max_priority_fee_per_cycle and max_fee_per_cell once each, not %.80q", name)
		}
		text, ok := stringToken(dec)
		if !ok || !priceText.MatchString(text) {
			return types.AgentQuote{}, types.ErrInvalidQuote.Wrapf(`%s: want a decimal in a string, such as "0.002", with at most 18 places, not %.80q`, name, text)
		}
		value, err := math.LegacyNewDecFromStr(text)
		if err != nil {
			return types.AgentQuote{}, types.ErrInvalidQuote.Wrapf("%s: %.80q: %v", name, text, err)
		}
		*price = value
	}
	if tok, err := dec.Token(); err != nil || tok != json.Delim('}') {
		return types.AgentQuote{}, types.ErrInvalidQuote.Wrap("want three members and no more")
	}
	if _, err := dec.Token(); err != io.EOF {
		return types.AgentQuote{}, types.ErrInvalidQuote.Wrap("want one JSON object and nothing behind it")
	}
	return quote, quote.Validate()
}

func stringToken(dec *json.Decoder) (string, bool) {
	token, err := dec.Token()
	if err != nil {
		return "", false
	}
	text, ok := token.(string)
	return text, ok
}
