package evmrpc

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"

	abci "github.com/cometbft/cometbft/abci/types"
	evmtypes "github.com/cosmos/evm/x/vm/types"
	"github.com/cosmos/gogoproto/proto"
	"github.com/ethereum/go-ethereum/common"
	ethtypes "github.com/ethereum/go-ethereum/core/types"

	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/bech32"

	"github.com/cosmos-timers/timers/evmbinding"
	timerstypes "github.com/cosmos-timers/timers/x/timers/types"
)

// Fire is one fire in the EVM, as a transaction and its result.
type Fire struct {
	Hash common.Hash
	// From is msg.sender. The transaction has no signature that it could be recovered from.
	From common.Address
	Tx   *ethtypes.Transaction
	// Response is the result: EVM gas, logs, and the error of a fire that failed.
	Response *evmtypes.MsgEthereumTxResponse
}

// Failed reports whether the fire failed.
func (f *Fire) Failed() bool { return f.Response.VmError != "" }

var errNotFire = errors.New("not an event of a fire")

// Fires are those of a block, in order, by the events of its beginning and end (not of its transactions). The error names
// each event that looks like a fire's and isn't one; the fires are good nevertheless.
//
// What counts is an event that
//   - the end of a block emitted, with the ids of a timer and of a delivery that x/timers adds behind all other attributes,
//   - has a transaction of the runtime's form, whose place of the signature's r holds the delivery's id,
//   - and stands before x/timers' own event of that delivery, which must name the same actor and success.
//
// A delivery counts once. The runtime keeps handlers from emitting such events.
func Fires(events []abci.Event, chainID *big.Int) (fires []Fire, err error) {
	deliveries := settled(events)
	for _, event := range events {
		if event.Type != evmbinding.EventFire && event.Type != evmbinding.EventFailed {
			continue
		}
		fire, deliverID, why := parse(event, chainID)
		if why == nil {
			why = deliveries.take(deliverID, &fire)
		}
		if why != nil {
			err = errors.Join(err, fmt.Errorf("%w: %s: %w", errNotFire, event.Type, why))
			continue
		}
		fires = append(fires, fire)
	}
	return fires, err
}

// delivery is what x/timers' own event says of one.
type delivery struct {
	actor   []byte
	success bool
}

type deliveries map[string]delivery

var firedEvent = proto.MessageName(&timerstypes.TimerFired{})

// settled are the deliveries that x/timers reports in a block, by their ids.
func settled(events []abci.Event) deliveries {
	all := deliveries{}
	for _, event := range events {
		if event.Type != firedEvent || !atEnd(event) {
			continue
		}
		var id, actor string
		var d delivery
		for _, a := range event.Attributes {
			switch a.Key {
			case "deliver_id":
				_ = json.Unmarshal([]byte(a.Value), &id)
			case "actor":
				_ = json.Unmarshal([]byte(a.Value), &actor)
			case "success":
				d.success = a.Value == "true"
			}
		}
		if _, address, err := bech32.DecodeAndConvert(actor); err == nil && id != "" {
			d.actor = address
			all[id] = d
		}
	}
	return all
}

// take checks a fire against its delivery, which counts once.
func (all deliveries) take(id string, fire *Fire) error {
	d, ok := all[id]
	if !ok {
		return fmt.Errorf("delivery %q: want one that x/timers reports in this block, and one event of it", id)
	}
	actor := fire.From
	if actor == evmbinding.Address {
		actor = *fire.Tx.To()
	}
	if actor != common.BytesToAddress(d.actor) || len(d.actor) != common.AddressLength {
		return fmt.Errorf("delivery %s: its actor is %x, not %s", id, d.actor, actor)
	}
	if d.success == fire.Failed() {
		return fmt.Errorf("delivery %s: success is %t, and the error is %q", id, d.success, fire.Response.VmError)
	}
	delete(all, id)
	return nil
}

// atEnd reports whether the end of a block emitted an event: the SDK adds that as its last attribute.
func atEnd(event abci.Event) bool {
	n := len(event.Attributes)
	return n > 0 && event.Attributes[n-1].Key == "mode" && event.Attributes[n-1].Value == "EndBlock"
}

// parse reads an event of a fire. It checks what the event says by itself.
func parse(event abci.Event, chainID *big.Int) (fire Fire, deliverID string, err error) {
	n := len(event.Attributes)
	if !atEnd(event) || n < 3 || event.Attributes[n-2].Key != "deliver_id" || event.Attributes[n-3].Key != "timer_id" {
		return fire, "", errors.New("want timer_id, deliver_id and mode=EndBlock as the last attributes")
	}
	deliverID = event.Attributes[n-2].Value
	attributes := map[string]string{}
	for _, a := range event.Attributes[:n-3] {
		attributes[a.Key] = a.Value
	}
	if !common.IsHexAddress(attributes[evmbinding.AttributeFrom]) {
		return fire, "", fmt.Errorf("%s %.80q: want an address", evmbinding.AttributeFrom, attributes[evmbinding.AttributeFrom])
	}
	fire.From = common.HexToAddress(attributes[evmbinding.AttributeFrom])
	if fire.Tx, err = parseTx(attributes[evmbinding.AttributeTx], deliverID, chainID); err != nil {
		return fire, "", fmt.Errorf("%s: %w", evmbinding.AttributeTx, err)
	}
	fire.Hash = fire.Tx.Hash()
	if fire.Response, err = parseResponse(attributes[evmbinding.AttributeData]); err != nil {
		return fire, "", fmt.Errorf("%s: %w", evmbinding.AttributeData, err)
	}
	switch {
	case fire.Response.Hash != fire.Hash.Hex():
		return fire, "", fmt.Errorf("hash %.80q: want that of the transaction, %s", fire.Response.Hash, fire.Hash)
	case fire.Failed() != (event.Type == evmbinding.EventFailed):
		return fire, "", fmt.Errorf("error %.80q does not go with this event", fire.Response.VmError)
	case fire.Failed() && len(fire.Response.Logs) > 0:
		return fire, "", fmt.Errorf("%d logs of a fire that failed: want none", len(fire.Response.Logs))
	case fire.Response.GasUsed > fire.Tx.Gas():
		return fire, "", fmt.Errorf("gas %d: want at most the limit, %d", fire.Response.GasUsed, fire.Tx.Gas())
	}
	return fire, deliverID, nil
}

func parseTx(text, deliverID string, chainID *big.Int) (*ethtypes.Transaction, error) {
	rlp, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	id, err := hex.DecodeString(deliverID)
	if err != nil {
		return nil, err
	}
	tx := &ethtypes.Transaction{}
	if err := tx.UnmarshalBinary(rlp); err != nil {
		return nil, err
	}
	v, r, s := tx.RawSignatureValues()
	want := new(big.Int).Lsh(chainID, 1)
	if v.Cmp(want.Add(want, big.NewInt(35))) != 0 || r.Cmp(new(big.Int).SetBytes(id)) != 0 || s.Sign() != 0 {
		return nil, fmt.Errorf("v, r, s are %s, %x, %s: want %s, the delivery's id, 0", v, r, s, want)
	}
	if tx.Type() != ethtypes.LegacyTxType || tx.To() == nil || tx.GasPrice().Sign() != 0 || tx.Gas() > math.MaxInt64 {
		return nil, errors.New("want a legacy transaction to an address, at a gas price of 0")
	}
	return tx, nil
}

func parseResponse(text string) (*evmtypes.MsgEthereumTxResponse, error) {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	var all sdk.TxMsgData
	if err := proto.Unmarshal(data, &all); err != nil {
		return nil, err
	}
	response := &evmtypes.MsgEthereumTxResponse{}
	if len(all.MsgResponses) != 1 || all.MsgResponses[0].TypeUrl != sdk.MsgTypeURL(response) {
		return nil, fmt.Errorf("want one %s", sdk.MsgTypeURL(response))
	}
	return response, proto.Unmarshal(all.MsgResponses[0].Value, response)
}
