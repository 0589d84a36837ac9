// Package outlook tells what the chain will make of a timer: what it would refuse, what a fire costs, how long it waits.
package outlook

import (
	"context"
	"fmt"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/client/bids"
	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Outlook is what the chain will make of a timer, as far as its config and prices tell.
type Outlook struct {
	Config types.TimerConfig
	Prices *types.QueryLaneResponse
}

// Ask asks for the config and the prices.
func Ask(j *job.Job) (*Outlook, error) { return Of(j.Ctx, types.NewQueryClient(j.Context)) }

// Of asks a node for them.
func Of(ctx context.Context, query types.QueryClient) (*Outlook, error) {
	params, err := query.Params(ctx, &types.QueryParamsRequest{})
	if err != nil {
		return nil, err
	}
	prices, err := query.Lane(ctx, &types.QueryLaneRequest{})
	if err != nil {
		return nil, err
	}
	return &Outlook{params.Config, prices}, nil
}

// Advisory is the outlook where it serves advice alone: without a node, a transaction that is only to be printed is
// printed unchecked.
func Advisory(j *job.Job) *Outlook {
	if j.Offline {
		return nil
	}
	ahead, err := Ask(j)
	if err != nil {
		j.Notef("not checked against the chain's config: %v", err)
	}
	return ahead
}

// CheckCall refuses what the chain would refuse after the transaction's fee was paid.
func (o *Outlook) CheckCall(call *types.TimerCall, msgs []sdk.Msg) error {
	if call != nil && uint64(len(call.Payload)) > o.Config.MaxPayloadBytes {
		return fmt.Errorf("the payload has %d bytes, want at most %d", len(call.Payload), o.Config.MaxPayloadBytes)
	}
	payload := types.AccountPayload{Messages: call.GetMessages()}
	if size := uint64(payload.Size()); size > market.MaxMessagesBytes {
		return fmt.Errorf("the messages have %d bytes, want at most %d", size, market.MaxMessagesBytes)
	}
	for i, msg := range msgs {
		if url := sdk.MsgTypeURL(msg); !o.Config.MessageAllowed(url) {
			return fmt.Errorf("message %d: this chain lets no timer run %s", i, url)
		}
	}
	return nil
}

// CheckLimits does the same for the limits of a fire; 0 means that none was stated. The largest gas limit is that of the
// policy in force.
func (o *Outlook) CheckLimits(limits bids.Limits) error {
	if limits.Cells > o.Config.MaxCellsPerFire {
		return fmt.Errorf("--%s %d is out of bounds: want at most %d cells", bids.FlagCellLimit, limits.Cells, o.Config.MaxCellsPerFire)
	}
	if limit := limits.Gas; limit != 0 && (limit < o.Config.MinGasLimit || limit > o.Prices.MaxCyclesPerFire) {
		return fmt.Errorf("--%s %d is out of bounds: want %d to %d cycles (policy %s)",
			bids.FlagGasLimit, limits.Gas, o.Config.MinGasLimit, o.Prices.MaxCyclesPerFire, plain.PolicyName(o.Prices.Policy))
	}
	return nil
}

// bidRule is what the policy of the next block makes of bids.
func (o *Outlook) bidRule() bids.Rule { return bids.RuleOf(o.Prices.Policy) }

// CheckFloor refuses a bid that no idle lane would ever be cheap enough for.
func (o *Outlook) CheckFloor(bid *types.Bid) error {
	if bid == nil || bid.Static == nil || o.bidRule().MaxFee != bids.MaxFeeCoversLane {
		return nil
	}
	floor := bids.LaneFee(&o.Config, bids.LeastBasefee(&o.Config))
	if fee := bid.Static.MaxFeePerCycle; fee.LT(floor) {
		return fmt.Errorf("--%s %s is below %s, the least that the lane ever charges per cycle: such a timer can't fire",
			bids.FlagMaxFee, plain.Dec(fee.String()), plain.Dec(floor.String()))
	}
	return nil
}

// covered is what a max fee has to cover per cycle in the next block.
type covered struct {
	fee math.LegacyDec
	// name of the fee, and how an error calls it.
	name, now string
}

// covered is meant for policies that use prices.
func (o *Outlook) covered() (covered, error) {
	if o.bidRule().MaxFee == bids.MaxFeeCoversChain {
		fee, err := plain.ParsePrice(o.Prices.CycleBasefee)
		return covered{fee, "the chain's cycle basefee", "the chain's cycle basefee now"}, err
	}
	fee, err := o.laneFee()
	return covered{fee, "the lane's fee", "what the lane charges per cycle now"}, err
}

// laneFee is what the lane charges per cycle in the next block.
func (o *Outlook) laneFee() (math.LegacyDec, error) {
	basefee, err := plain.ParsePrice(o.Prices.NextLaneBasefee)
	if err != nil {
		return basefee, err
	}
	return bids.LaneFee(&o.Config, basefee), nil
}
