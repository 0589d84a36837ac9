package main

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/bech32"

	"github.com/cosmos-timers/timers/testutil/ledger"
	"github.com/cosmos-timers/timers/testutil/node"
)

// kept are the fields of a timer that both formats have, and that an upgrade leaves as they are.
var kept = []string{
	"actor", "fee_payer", "handler", "payload", "gas_limit", "expires_at", "schedule_height", "seq", "due", "fire_seq",
	"set_aside", "retry", "retries", "on_unfunded", "last_outcome", "bid_locked",
}

// state is what is compared of an exported state.
type state struct {
	// timers by their ids in hexadecimal.
	timers map[string]map[string]any
	// balances by address, and the supply.
	balances map[string]sdk.Coins
	supply   sdk.Coins
}

// export reads the state of a node that is stopped, with the binary that it runs.
func export(ctx context.Context, n *node.Node, flags ...string) (*state, error) {
	raw, err := n.CLI(ctx, append([]string{"export"}, flags...)...)
	if err != nil {
		return nil, err
	}
	var genesis struct {
		AppState struct {
			Timers struct {
				Timers []map[string]any `json:"timers"`
			} `json:"timers"`
			Bank struct {
				Balances []struct {
					Address string    `json:"address"`
					Coins   sdk.Coins `json:"coins"`
				} `json:"balances"`
				Supply sdk.Coins `json:"supply"`
			} `json:"bank"`
		} `json:"app_state"`
	}
	if err := json.Unmarshal(raw, &genesis); err != nil {
		return nil, fmt.Errorf("the exported state: %w: %.300s", err, raw)
	}
	s := &state{timers: map[string]map[string]any{}, balances: map[string]sdk.Coins{}, supply: genesis.AppState.Bank.Supply}
	for _, timer := range genesis.AppState.Timers.Timers {
		id, err := base64.StdEncoding.DecodeString(text(timer["id"]))
		if err != nil {
			return nil, err
		}
		s.timers[hex.EncodeToString(id)] = timer
	}
	for _, balance := range genesis.AppState.Bank.Balances {
		s.balances[balance.Address] = balance.Coins
	}
	return s, nil
}

const denom = "utmr"

// live is the account of the timers of a state, for a ledger.
func (s *state) live() (timers []ledger.Timer, err error) {
	for id, timer := range s.timers {
		actor, err := base64.StdEncoding.DecodeString(text(timer["actor"]))
		if err != nil {
			return nil, err
		}
		address, err := bech32.ConvertAndEncode("timer", actor)
		if err != nil {
			return nil, err
		}
		entry := ledger.Timer{
			ID: id, Actor: address, Owner: address, Scheduled: number(timer["schedule_height"]), Expires: number(timer["expires_at"]),
			Fires: number(timer["fire_seq"]),
		}
		// What waits for a change or for its owner is due when it is.
		if text(timer["set_aside"]) == "SET_ASIDE_REASON_UNSPECIFIED" {
			entry.Due = number(timer["due"])
		}
		timers = append(timers, entry)
	}
	return timers, nil
}

// sameTimers compares the timers of two states but those of which events tell, and returns how many are the same.
func sameTimers(before, after *state, told map[string]bool) (same int, err error) {
	var errs []error
	for id, old := range before.timers {
		if told[id] {
			continue
		}
		now, found := after.timers[id]
		if !found {
			errs = append(errs, fmt.Errorf("timer %s is lost", id))
			continue
		}
		for _, field := range kept {
			if !reflect.DeepEqual(old[field], now[field]) {
				errs = append(errs, fmt.Errorf("timer %s: %s was %v, and is %v", id, field, old[field], now[field]))
			}
		}
		for _, trigger := range []string{"height", "interval", "watch"} {
			if err := sameTrigger(object(old["trigger"])[trigger], object(now["trigger"])[trigger]); err != nil {
				errs = append(errs, fmt.Errorf("timer %s: %s: %w", id, trigger, err))
			}
		}
		same++
	}
	return same, errors.Join(errs...)
}

// sameTrigger holds that what a trigger said is what it says: it may say more.
func sameTrigger(old, now any) error {
	switch old := old.(type) {
	case map[string]any:
		for name, value := range old {
			if err := sameTrigger(value, object(now)[name]); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	case []any:
		if len(old) != len(list(now)) {
			return fmt.Errorf("%d entries were %d", len(list(now)), len(old))
		}
		for i := range old {
			if err := sameTrigger(old[i], list(now)[i]); err != nil {
				return fmt.Errorf("%d: %w", i, err)
			}
		}
		return nil
	}
	if !reflect.DeepEqual(old, now) {
		return fmt.Errorf("was %v, and is %v", old, now)
	}
	return nil
}

// sameBalances holds that balances and supply moved by what the events of a block say and by nothing else.
func sameBalances(before, after *state, events []node.Event) error {
	moved, minted := map[string]math.Int{}, math.ZeroInt()
	var errs []error
	for _, event := range events {
		a := event.Attributes
		coins, err := sdk.ParseCoinsNormalized(a["amount"])
		if amount := coins.AmountOf(denom); err == nil {
			switch event.Type {
			case "coin_received":
				moved[a["receiver"]] = sum(moved[a["receiver"]], amount)
			case "coin_spent":
				moved[a["spender"]] = sum(moved[a["spender"]], amount.Neg())
			case "coinbase":
				minted = minted.Add(amount)
			case "burn":
				minted = minted.Sub(amount)
			}
		} else if strings.HasPrefix(event.Type, "coin") || event.Type == "burn" {
			errs = append(errs, fmt.Errorf("%s of %q: %w", event.Type, a["amount"], err))
		}
	}
	errs = append(errs, movedBy("the supply", before.supply, after.supply, minted))
	for address := range before.balances {
		moved[address] = sum(moved[address], math.ZeroInt())
	}
	for address := range after.balances {
		moved[address] = sum(moved[address], math.ZeroInt())
	}
	for address, amount := range moved {
		errs = append(errs, movedBy("the balance of "+address, before.balances[address], after.balances[address], amount))
	}
	return errors.Join(errs...)
}

// sum adds to an amount that may not have been begun.
func sum(to, amount math.Int) math.Int {
	if to.IsNil() {
		return amount
	}
	return to.Add(amount)
}

func movedBy(what string, before, after sdk.Coins, amount math.Int) error {
	want, now := before.AmountOf(denom).Add(amount), after.AmountOf(denom)
	if !want.Equal(now) {
		return fmt.Errorf("%s should be %s and is %s", what, want, now)
	}
	return nil
}

func text(value any) string {
	s, _ := value.(string)
	return s
}

// number reads a number of JSON, which holds large ones as text.
func number(value any) uint64 {
	if f, is := value.(float64); is {
		return uint64(f)
	}
	n, err := strconv.ParseUint(text(value), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
