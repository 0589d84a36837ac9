package cli

import (
	"fmt"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/lane"
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
	if limit != 0 && (limit < o.config.MinGasLimit || limit > o.config.MaxCyclesPerFire) {
		return fmt.Errorf("--%s %d is out of bounds: want %d to %d cycles",
			flagGasLimit, limit, o.config.MinGasLimit, o.config.MaxCyclesPerFire)
	}
	return nil
}

// preCharge is what the payer must hold when the timer's turn comes (SPEC §5), at today's prices. Under other policies
// than fifo it depends on the bid, and nothing is said.
func (o *outlook) preCharge(gasLimit uint64) (string, bool) {
	if o.config.Policy != types.PolicyFIFO {
		return "", false
	}
	if gasLimit == 0 {
		gasLimit = o.config.MaxCyclesPerFire
	}
	cycle, err := math.LegacyNewDecFromStr(o.prices.CycleBasefee)
	if err != nil {
		return "", false
	}
	cell, err := math.LegacyNewDecFromStr(o.prices.CellBasefee)
	if err != nil {
		return "", false
	}
	price := lane.Price{Basefee: cycle, Priority: math.LegacyZeroDec(), Cell: cell}
	return price.Cost(gasLimit, o.config.MaxCellsPerFire).String() + o.prices.FeeDenom, true
}
