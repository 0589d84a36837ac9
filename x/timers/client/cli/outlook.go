package cli

import (
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// outlook is what the chain will make of a timer, as far as its config and prices tell.
type outlook struct {
	config types.TimerConfig
	prices *types.QueryLaneResponse
}

// lookAhead asks for the config and the prices. They serve advice alone: without a node, a transaction that is only to
// be printed is printed unchecked.
func (j *job) lookAhead() *outlook {
	if j.Offline {
		return nil
	}
	query := types.NewQueryClient(j.Context)
	params, err := query.Params(j.ctx, &types.QueryParamsRequest{})
	if err == nil {
		var prices *types.QueryLaneResponse
		if prices, err = query.Lane(j.ctx, &types.QueryLaneRequest{}); err == nil {
			return &outlook{params.Config, prices}
		}
	}
	j.notef("not checked against the chain's config: %v", err)
	return nil
}

// checkCall refuses what the chain would refuse after the transaction's fee was paid.
func (o *outlook) checkCall(call *types.TimerCall, msgs []sdk.Msg) error {
	if call != nil && uint64(len(call.Payload)) > o.config.MaxPayloadBytes {
		return fmt.Errorf("the payload has %d bytes, want at most %d", len(call.Payload), o.config.MaxPayloadBytes)
	}
	for i, msg := range msgs {
		if url := sdk.MsgTypeURL(msg); !o.config.MessageAllowed(url) {
			return fmt.Errorf("message %d: this chain lets no timer run %s", i, url)
		}
	}
	return nil
}

// checkGasLimit does the same for a gas limit; 0 means none was stated.
func (o *outlook) checkGasLimit(limit uint64) error {
	if most := o.prices.MaxCyclesPerFire; limit != 0 && (limit < o.config.MinGasLimit || limit > most) {
		return fmt.Errorf("--%s %d is out of bounds: want %d to %d cycles", flagGasLimit, limit, o.config.MinGasLimit, most)
	}
	return nil
}

// adviseFire tells what a fire would cost at the prices of the next block, and how long it would wait there. The timer may
// be due much later: this is said of now. fire is how the note calls what is paid for.
func (j *job) adviseFire(actor, payer string, limit uint64, bid *types.Bid, fire string) error {
	query := types.NewQueryClient(j.Context)
	request := estimateRequest(limit, bid)
	request.Actor = actor
	e, err := query.Estimate(j.ctx, request)
	switch {
	case status.Code(err) == codes.InvalidArgument:
		return fmt.Errorf("the chain would refuse it: %s", answerOf(err))
	case err != nil:
		j.notef("no estimate of its cost: %v", err)
		return nil
	}
	if e.Basis == types.BasisPricedOut {
		return fmt.Errorf("--%s %s is below %s, what the lane charges per cycle now: want more, or a --%s",
			flagMaxFee, trimDec(request.MaxFee), trimDec(e.LaneFee), flagTier)
	}
	j.notef("pre-charges at most %s%s at %s, and gives back what is not used", e.PreCharge, e.FeeDenom, fire)
	j.notef("at today's prices: %s%s a cycle, %s of it tip; %d timers ahead, a wait of about %d blocks (%s)",
		sum(e.CycleBasefee, e.LaneFee, e.Priority), e.FeeDenom, trimDec(e.Priority), e.Ahead, e.WaitBlocks, basisInWords(e.Basis))
	j.advisePayer(payer, e)
	return nil
}

// advisePayer warns of a payer who could not pay now; there may be time to change that.
func (j *job) advisePayer(payer string, e *types.QueryEstimateResponse) {
	need, ok := math.NewIntFromString(e.PreCharge)
	if !ok {
		return
	}
	balance, err := banktypes.NewQueryClient(j.Context).SpendableBalanceByDenom(j.ctx,
		&banktypes.QuerySpendableBalanceByDenomRequest{Address: payer, Denom: e.FeeDenom})
	if err != nil {
		j.notef("can't tell whether %s can pay: %v", payer, err)
		return
	}
	if balance.Balance == nil || balance.Balance.Amount.GTE(need) {
		return
	}
	j.notef("warning: %s can spend %s, less than the pre-charge: unfunded when its turn comes, the timer does not fire", payer, balance.Balance)
}

// fireOf is what notes call the fire of a timer.
func fireOf(repeats bool) string {
	if repeats {
		return "each fire"
	}
	return "the fire"
}
