// Package questions asks a chain what handlers, bidding agents and users may ask, and tries changes, on branches of state that
// are dropped. None of it may change what remains: a chain that is asked goes through the same states as one that is not.
package questions

import (
	"context"
	"math/rand"

	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/baseapp"
	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkquery "github.com/cosmos/cosmos-sdk/types/query"

	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Asker asks random questions about the timers of some actors.
type Asker struct {
	Timers   *keeper.Keeper
	Messages baseapp.MessageRouter
	Actors   []sdk.AccAddress
	// Random draws the questions, the same for the same seed.
	Random *rand.Rand
	// Answered counts the questions that had an answer, Changed the changes that would have been made.
	Answered, Changed int
}

// Ask asks up to three questions, at no cost to who asks. What the answers say is not looked at.
func (a *Asker) Ask(ctx sdk.Context) {
	for range a.Random.Intn(4) {
		branch, _ := ctx.CacheContext()
		branch = branch.WithGasMeter(storetypes.NewInfiniteGasMeter()).WithEventManager(sdk.NewEventManager())
		if a.Random.Intn(3) == 0 && a.change(branch) == nil {
			a.Changed++
		}
		if a.question(branch) == nil {
			a.Answered++
		}
	}
}

// any returns an actor, and the name of one of its timers, or of none.
func (a *Asker) any(ctx context.Context) (actor sdk.AccAddress, id string) {
	actor, id = a.Actors[a.Random.Intn(len(a.Actors))], "00"
	if timers, err := a.Timers.TimersOf(ctx, actor); err == nil && len(timers) > 0 {
		id = timers[a.Random.Intn(len(timers))].IDHex()
	}
	return actor, id
}

func (a *Asker) question(ctx sdk.Context) (err error) {
	actor, id := a.any(ctx)
	server, text, height := keeper.NewQueryServer(a.Timers), actor.String(), types.HeightOf(ctx)
	page := &sdkquery.PageRequest{Limit: uint64(1 + a.Random.Intn(70))}
	all := []func(){
		func() { _, err = server.Timer(ctx, &types.QueryTimerRequest{Actor: text, Id: id}) },
		func() {
			_, err = server.TimersByActor(ctx, &types.QueryTimersByActorRequest{Actor: text, Pagination: page})
		},
		func() { _, err = server.OnHold(ctx, &types.QueryOnHoldRequest{Pagination: page}) },
		func() { _, err = server.Ready(ctx, &types.QueryReadyRequest{Pagination: page}) },
		func() {
			_, err = server.Estimate(ctx, &types.QueryEstimateRequest{Actor: text, GasLimit: 60_000, Tier: types.TierFast})
		},
		func() { _, err = server.Lane(ctx, &types.QueryLaneRequest{}) },
		func() {
			_, err = server.Due(ctx, &types.QueryDueRequest{Height: height + 3, Until: true, Pagination: page})
		},
		func() {
			_, err = server.Due(ctx, &types.QueryDueRequest{Time: types.MaxTime, Until: true, Pagination: page})
		},
		func() { _, err = server.Watches(ctx, &types.QueryWatchesRequest{Actor: text, Pagination: page}) },
		func() { _, err = server.Watches(ctx, &types.QueryWatchesRequest{Store: "bank", Pagination: page}) },
		func() { _, err = server.Fairness(ctx, &types.QueryFairnessRequest{Actor: text}) },
		func() { _, err = server.Params(ctx, &types.QueryParamsRequest{}) },
		func() { _, err = server.Agent(ctx, &types.QueryAgentRequest{Actor: text}) },
		func() { _, err = server.Deliveries(ctx, &types.QueryDeliveriesRequest{Actor: text, Pagination: page}) },
	}
	all[a.Random.Intn(len(all))]()
	return err
}

// change sends a message as a contract does whose call then fails: its changes are dropped with the branch.
func (a *Asker) change(ctx sdk.Context) error {
	actor, id := a.any(ctx)
	sender, height := actor.String(), types.HeightOf(ctx)
	msgs := []sdk.Msg{
		&types.MsgPauseTimer{Sender: sender, Id: id},
		&types.MsgResumeTimer{Sender: sender, Id: id},
		&types.MsgSkipTimer{Sender: sender, Id: id, Count: 2},
		&types.MsgRunTimer{Sender: sender, Id: id},
		&types.MsgCancelTimer{Sender: sender, Id: id},
		&types.MsgUpdateTimer{Sender: sender, Id: id, Spec: types.TimerSpec{GasLimit: 90_000}, Fields: []string{"gas_limit"}},
		&types.MsgExtendTimer{Sender: sender, Id: id, ExpiresAt: height + 9},
		&types.MsgSysReleaseTimer{Authority: a.Timers.Authority(ctx), Actor: sender, Id: id},
		&types.MsgSysCancelTimer{Authority: a.Timers.Authority(ctx), Actor: sender, Id: id},
		&types.MsgScheduleTimer{Sender: sender, Spec: types.TimerSpec{Trigger: types.Trigger{Height: height + 2}, Call: types.TimerCall{Payload: []byte("noop")}}},
	}
	msg := msgs[a.Random.Intn(len(msgs))]
	_, err := a.Messages.Handler(msg)(ctx, msg)
	return err
}
