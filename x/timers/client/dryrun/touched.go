package dryrun

import (
	"bytes"
	"slices"

	abci "github.com/cometbft/cometbft/abci/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// mostTouched bounds the keys that are looked up.
const mostTouched = 32

// Touched are the keys, in words, that events say were written: balances, delegations and validators, and of contracts all
// that they store. Events do not tell of everything; what they tell is written, or may be in the case of contracts.
func Touched(events []abci.Event) (keys []string) {
	add := func(key string) {
		if len(keys) < mostTouched && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	for _, e := range events {
		of := map[string]string{}
		for _, a := range e.Attributes {
			of[a.Key] = a.Value
		}
		switch e.Type {
		case "coin_spent", "coin_received":
			coins, err := sdk.ParseCoinsNormalized(of["amount"])
			for i := 0; err == nil && i < len(coins); i++ {
				add("bank:balance:" + of["spender"] + of["receiver"] + ":" + coins[i].Denom)
			}
		case "coinbase", "burn":
			coins, err := sdk.ParseCoinsNormalized(of["amount"])
			for i := 0; err == nil && i < len(coins); i++ {
				add("bank:supply:" + coins[i].Denom)
			}
		case "delegate", "unbond":
			add("staking:validator:" + of["validator"])
			add("staking:delegation:" + of["delegator"] + ":" + of["validator"])
			if e.Type == "unbond" {
				add("staking:unbondings:" + of["delegator"])
			}
		case "execute":
			if contract := of["_contract_address"]; contract != "" {
				add("wasm:contract:" + contract)
			}
		}
	}
	return keys
}

// OwnWatch is the first key, in words, that messages write and their own timer watches, and its place in the trigger; empty
// if there is none that events tell of. Sure is false for a contract, which may write another key.
func OwnWatch(j *job.Job, events []abci.Event, watched []types.WatchKey) (text string, at int, sure bool) {
	for _, text := range Touched(events) {
		answer, err := types.NewQueryClient(j.Context).WatchKey(j.Ctx, &types.QueryWatchKeyRequest{Text: text})
		if err != nil {
			continue // A chain that offers no such form has no one who watches it.
		}
		for i := range watched {
			if answer.Key.Store != watched[i].Store {
				continue
			}
			if bytes.HasPrefix(answer.Key.Prefix, watched[i].Prefix) {
				return text, i, true
			}
			if bytes.HasPrefix(watched[i].Prefix, answer.Key.Prefix) {
				return text, i, false
			}
		}
	}
	return "", 0, false
}
