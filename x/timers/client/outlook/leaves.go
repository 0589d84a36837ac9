package outlook

import (
	"encoding/json"

	abci "github.com/cometbft/cometbft/abci/types"

	"cosmossdk.io/math"

	"github.com/cosmos/cosmos-sdk/codec"
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"
)

// coin is an amount as messages have it in JSON.
type coin struct {
	Denom  string `json:"denom"`
	Amount string `json:"amount"`
}

// LeavesOf is what messages take from an account with each fire, beside fees, as far as their own words tell: transfers, also
// over IBC, delegations, and what calls of contracts send along. What a contract does with it, no one knows beforehand.
func LeavesOf(cdc codec.Codec, msgs []sdk.Msg, account string) sdk.Coins {
	leaves := sdk.Coins{}
	add := func(of ...coin) {
		for _, c := range of {
			if amount, ok := math.NewIntFromString(c.Amount); ok && amount.IsPositive() && sdk.ValidateDenom(c.Denom) == nil {
				leaves = leaves.Add(sdk.NewCoin(c.Denom, amount))
			}
		}
	}
	for _, msg := range msgs {
		raw, err := cdc.MarshalInterfaceJSON(msg)
		if err != nil {
			continue
		}
		var kind struct {
			Type string `json:"@type"`
		}
		if json.Unmarshal(raw, &kind) != nil {
			continue
		}
		switch kind.Type {
		case "/cosmos.bank.v1beta1.MsgSend":
			var m struct {
				From   string `json:"from_address"`
				To     string `json:"to_address"`
				Amount []coin `json:"amount"`
			}
			if json.Unmarshal(raw, &m) == nil && m.From == account && m.To != account {
				add(m.Amount...)
			}
		case "/cosmos.staking.v1beta1.MsgDelegate":
			var m struct {
				From   string `json:"delegator_address"`
				Amount coin   `json:"amount"`
			}
			if json.Unmarshal(raw, &m) == nil && m.From == account {
				add(m.Amount)
			}
		case transferURL:
			var m struct {
				From  string `json:"sender"`
				Token coin   `json:"token"`
			}
			if json.Unmarshal(raw, &m) == nil && m.From == account {
				add(m.Token)
			}
		case "/cosmwasm.wasm.v1.MsgExecuteContract":
			var m struct {
				From  string `json:"sender"`
				Funds []coin `json:"funds"`
			}
			if json.Unmarshal(raw, &m) == nil && m.From == account {
				add(m.Funds...)
			}
		}
	}
	return leaves
}

// LeavesOfTimer is the same of the messages of a timer, as a query has them.
func LeavesOfTimer(cdc codec.Codec, registry codectypes.InterfaceRegistry, packed []*codectypes.Any, account string) sdk.Coins {
	var msgs []sdk.Msg
	for _, one := range packed {
		var msg sdk.Msg
		if registry.UnpackAny(one, &msg) == nil {
			msgs = append(msgs, msg)
		}
	}
	return LeavesOf(cdc, msgs, account)
}

// LeftIn is what left an account in a dry run, by its events: what it spent, less what it received.
func LeftIn(events []abci.Event, account string) sdk.Coins {
	spent, received := sdk.Coins{}, sdk.Coins{}
	for _, e := range events {
		of := map[string]string{}
		for _, a := range e.Attributes {
			of[a.Key] = a.Value
		}
		coins, err := sdk.ParseCoinsNormalized(of["amount"])
		switch {
		case err != nil:
		case e.Type == "coin_spent" && of["spender"] == account:
			spent = spent.Add(coins...)
		case e.Type == "coin_received" && of["receiver"] == account:
			received = received.Add(coins...)
		}
	}
	left := sdk.Coins{}
	for _, c := range spent {
		if net := c.Amount.Sub(received.AmountOf(c.Denom)); net.IsPositive() {
			left = left.Add(sdk.NewCoin(c.Denom, net))
		}
	}
	return left
}
