package alert

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"cosmossdk.io/math"

	"github.com/cosmos/cosmos-sdk/codec"
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/query"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/dashboard/store"
	"github.com/cosmos-timers/timers/x/timers/client/outlook"
	"github.com/cosmos-timers/timers/x/timers/client/words"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	// standing is where the troubles are stored that were posted and have not ended.
	standing = "alerted_troubles"
	// lookBlocks is how many blocks apart the node is asked.
	lookBlocks = 10
)

// Owners asks a node for what no event says of an actor's timers: that one is overdue, and that the payer of one that repeats runs
// dry.
type Owners struct {
	Timers types.QueryClient
	Bank   banktypes.QueryClient
	// Codec and Registry read the messages of timers.
	Codec    codec.Codec
	Registry codectypes.InterfaceRegistry
}

// Look returns the troubles of an actor's timers, as events of the latest block.
func (o *Owners) Look(ctx context.Context, actor string) (troubles []store.Event, err error) {
	ahead, err := outlook.Of(ctx, o.Timers)
	if err != nil {
		return nil, err
	}
	add := func(t *types.TimerInfo, kind, why string) {
		troubles = append(troubles, store.Event{
			Height: int64(ahead.Prices.Height), Kind: kind, Timer: t.Id, Actor: t.Actor, Name: t.Spec.Name, Why: why, Body: "{}",
		})
	}
	leaves := func(t *types.TimerInfo) sdk.Coins {
		return outlook.LeavesOfTimer(o.Codec, o.Registry, words.MessagesIn(t), t.Actor)
	}
	for page := (&query.PageRequest{Limit: 200}); page != nil; {
		answer, err := o.Timers.TimersByActor(ctx, &types.QueryTimersByActorRequest{Actor: actor, Pagination: page})
		if err != nil {
			return nil, err
		}
		dry := ahead.RunDry(answer.Timers, leaves, func(payer string) (math.Int, bool) { return ahead.Balance(ctx, o.Bank, payer) })
		for i := range answer.Timers {
			t := &answer.Timers[i]
			if slices.Contains(words.Troubles(t, ahead.Prices.Height), words.Overdue) {
				add(t, "overdue", "its turn has not come since height "+fmt.Sprint(words.DueSince(t)))
			}
			if text := dry[i]; text != "" {
				add(t, "runs dry", strings.ToLower(text))
			}
		}
		page = nil
		if next := answer.Pagination.GetNextKey(); len(next) > 0 {
			page = &query.PageRequest{Limit: 200, Key: next}
		}
	}
	return troubles, nil
}

// look posts the troubles of the actors' timers that are new, every so many blocks. One that has ended and comes back is posted again.
func (a *Alerts) look(ctx context.Context) error {
	last, _, err := a.Store.Last(ctx)
	if soon := a.looked > 0 && last < a.looked+lookBlocks && last >= a.looked; err != nil || a.Look == nil || soon {
		return err
	}
	a.looked = last
	text, err := a.Store.Meta(ctx, standing)
	if err != nil {
		return err
	}
	before := map[string]bool{}
	if text != "" {
		if err := json.Unmarshal([]byte(text), &before); err != nil {
			return err
		}
	}
	now, fresh := map[string]bool{}, []store.Event{}
	for _, actor := range a.Actors {
		troubles, err := a.Look(ctx, actor)
		if err != nil {
			return err
		}
		for _, e := range troubles {
			name := e.Kind + " " + e.Timer
			if now[name] = true; !before[name] {
				fresh = append(fresh, e)
			}
		}
	}
	if len(fresh) > 0 {
		if err := a.deliver(ctx, fresh); err != nil {
			return err
		}
	}
	stands, err := json.Marshal(now)
	if err != nil {
		return err
	}
	return a.Store.SetMeta(ctx, standing, string(stands))
}
