package types

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"regexp"
	"unicode/utf8"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/policy"
)

// AgentBaseCycles are counted for every call of an agent, before it runs: finding it, telling it what it may know and
// reading its answer are work too, and without them calls of agents that cost nothing would be unbounded.
const AgentBaseCycles = 5_000

// MaxQuoteBytes bounds an agent's answer in JSON. An honest one is 200 bytes long.
const MaxQuoteBytes = 4_096

// Quoter is a Runtime whose actors can be bidding agents (SPEC §7, §9). Both methods read state through ctx only and are
// metered by its gas meter; what Quote writes is dropped, and that it tried is a failure.
type Quoter interface {
	// Quotes tells whether the actor may be named as an agent.
	Quotes(ctx context.Context, agent sdk.AccAddress) bool
	// Quote asks the agent. An error, a panic or an answer that is none is the default bid.
	Quote(ctx context.Context, agent sdk.AccAddress, about BidContext) (AgentQuote, error)
}

// BidContext is what an agent is told of the timer that it prices, and of the block (SPEC §7).
type BidContext struct {
	TimerID []byte
	// Actor owns the timer; Balance is what it has, in units of the fee denom.
	Actor   sdk.AccAddress
	Balance math.Int
	// Due is the height at which the timer became due this time, Height the present one.
	Due, Height uint64
	// Prices of this block, in fee denom per cycle and per cell.
	Prices policy.Prices
	// LastCycles is what the lane used in the block before.
	LastCycles uint64
}

// Validate checks that the answer's prices are there and within the bounds of prices.
func (q *AgentQuote) Validate() error {
	for _, price := range []struct {
		name  string
		value math.LegacyDec
	}{
		{"max_fee_per_cycle", q.MaxFeePerCycle},
		{"max_priority_fee_per_cycle", q.MaxPriorityFeePerCycle},
		{"max_fee_per_cell", q.MaxFeePerCell},
	} {
		if err := validatePrice(ErrInvalidQuote, price.name, price.value); err != nil {
			return err
		}
	}
	return nil
}

// Ask is what the answer asks of the lane, as it was filed.
func (q *AgentQuote) Ask() policy.Ask {
	if q.Withheld {
		return policy.Ask{Kind: policy.Withheld}
	}
	return policy.StatedAsk(q.MaxFeePerCycle, q.MaxPriorityFeePerCycle)
}

// At is the answer at a price of a cell: withheld if that is more than it allows.
func (q *AgentQuote) At(cell math.LegacyDec) *AgentQuote {
	if q == nil {
		return nil
	}
	at := *q
	at.Withheld = cell.GT(q.MaxFeePerCell)
	return &at
}

// RecordedAsk is what the timer asks for by its record alone, with which it lies in the ready index.
func (t *Timer) RecordedAsk() policy.Ask {
	if t.Quote != nil {
		return t.Quote.Ask()
	}
	return t.Bid.Ask()
}

// priceText is a price as agents write it: no sign, no exponent, at most 18 places.
var priceText = regexp.MustCompile(`^[0-9]{1,20}(\.[0-9]{1,18})?$`)

// ParseQuote reads an agent's answer: a JSON object with exactly the string members max_fee_per_cycle,
// max_priority_fee_per_cycle and max_fee_per_cell, each a decimal with at most 18 places, in fee denom.
func ParseQuote(answer []byte) (AgentQuote, error) {
	var quote AgentQuote
	if len(answer) > MaxQuoteBytes {
		return quote, ErrInvalidQuote.Wrapf("%d bytes, want at most %d", len(answer), MaxQuoteBytes)
	}
	if !utf8.Valid(answer) {
		return quote, ErrInvalidQuote.Wrap("not UTF-8")
	}
	// It reads tokens and does not unmarshal, because unmarshalling folds case and accepts a member twice.
	dec := json.NewDecoder(bytes.NewReader(answer))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return quote, ErrInvalidQuote.Wrap("want a JSON object")
	}
	prices := map[string]*math.LegacyDec{
		"max_fee_per_cycle": &quote.MaxFeePerCycle, "max_priority_fee_per_cycle": &quote.MaxPriorityFeePerCycle,
		"max_fee_per_cell": &quote.MaxFeePerCell,
	}
	for range len(prices) {
		name, ok := stringToken(dec)
		price, known := prices[name]
		if !ok || !known || !price.IsNil() {
			return AgentQuote{}, ErrInvalidQuote.Wrapf("want max_fee_per_cycle, max_priority_fee_per_cycle and max_fee_per_cell once each, not %.80q", name)
		}
		text, ok := stringToken(dec)
		if !ok || !priceText.MatchString(text) {
			return AgentQuote{}, ErrInvalidQuote.Wrapf(`%s: want a decimal in a string, such as "0.002", with at most 18 places, not %.80q`, name, text)
		}
		value, err := math.LegacyNewDecFromStr(text)
		if err != nil {
			return AgentQuote{}, ErrInvalidQuote.Wrapf("%s: %.80q: %v", name, text, err)
		}
		*price = value
	}
	if tok, err := dec.Token(); err != nil || tok != json.Delim('}') {
		return AgentQuote{}, ErrInvalidQuote.Wrap("want three members and no more")
	}
	if _, err := dec.Token(); err != io.EOF {
		return AgentQuote{}, ErrInvalidQuote.Wrap("want one JSON object and nothing behind it")
	}
	return quote, quote.Validate()
}
