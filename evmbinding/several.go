package evmbinding

import (
	"math/big"
	"time"

	evmtypes "github.com/cosmos/evm/x/vm/types"
	"github.com/ethereum/go-ethereum/common"

	"cosmossdk.io/x/feegrant"

	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkerrors "github.com/cosmos/cosmos-sdk/types/errors"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Calls that do several things at once, since x/vm allows 20 calls of precompiles in a transaction. Their lists are of
// fixed-size elements: an ABI's list of byte strings may name one string many times, and decoding would copy it each time.

func (c *invocation) scheduleAtHeights() ([]any, error) {
	return c.addEach(func(height uint64) trigger { return trigger{Height: height} })
}

func (c *invocation) scheduleAtTimes() ([]any, error) {
	return c.addEach(func(second uint64) trigger { return trigger{Time: second} })
}

// addEach schedules a callback for each of the list, or none.
func (c *invocation) addEach(at func(due uint64) trigger) ([]any, error) {
	all, gasLimit, payload := c.args[0].([]uint64), c.args[1].(uint64), c.args[2].([]byte) //nolint:errcheck // the types of the ABI
	ids := make([][32]byte, len(all))
	for i, due := range all {
		if due == 0 {
			return nil, types.ErrUnsupportedTimerType.Wrapf("%s: number %d of the list is 0", c.method.Name, i)
		}
		added, err := c.add(HandlerCallback, at(due), payload, options{GasLimit: gasLimit})
		if err != nil {
			return nil, err
		}
		ids[i] = added[0].([32]byte) //nolint:errcheck // what add returns
	}
	return []any{ids}, nil
}

// cancelEach cancels all of the list, or none.
func (c *invocation) cancelEach() ([]any, error) {
	for _, id := range c.args[0].([][32]byte) { //nolint:errcheck // the type of the ABI
		if err := c.timers.Cancel(c.ctx, c.actor, id[:]); err != nil {
			return nil, err
		}
		if err := c.log("TimerCancelled", id); err != nil {
			return nil, err
		}
	}
	return []any{true}, nil
}

// ---- who pays for whom

// sponsor lets another address state the caller as the payer of its timers: an allowance of x/feegrant for scheduling
// alone, as HIP-1215 asks for too.
func (c *invocation) sponsor() ([]any, error) {
	spender, limit := c.args[0].(common.Address), c.args[1].(*big.Int) //nolint:errcheck // the types of the ABI
	amount := unitsOf(limit)
	if !amount.IsPositive() {
		return nil, types.ErrInvalidBid.Wrapf("limit of %s wei is less than one unit of the fee denom", limit)
	}
	basic := &feegrant.BasicAllowance{SpendLimit: sdk.NewCoins(sdk.NewCoin(evmtypes.GetEVMCoinDenom(), amount))}
	if second := c.args[2].(uint64); second != 0 { //nolint:errcheck // the type of the ABI
		at, err := timeOf(second)
		if err != nil {
			return nil, err
		}
		expiration := time.Unix(at, 0).UTC()
		basic.Expiration = &expiration
	}
	allowance, err := feegrant.NewAllowedMsgAllowance(basic, []string{sdk.MsgTypeURL(&types.MsgScheduleTimer{})})
	if err != nil {
		return nil, err
	}
	msg, err := feegrant.NewMsgGrantAllowance(allowance, c.actor, spender.Bytes())
	if err != nil {
		return nil, err
	}
	if msg.Granter, msg.Grantee, err = c.pair(spender); err != nil {
		return nil, err
	}
	return []any{true}, c.send(msg)
}

// unsponsor takes the allowance back.
func (c *invocation) unsponsor() ([]any, error) {
	granter, grantee, err := c.pair(c.args[0].(common.Address)) //nolint:errcheck // the type of the ABI
	if err != nil {
		return nil, err
	}
	return []any{true}, c.send(&feegrant.MsgRevokeAllowance{Granter: granter, Grantee: grantee})
}

// pair are the caller and a spender as text.
func (c *invocation) pair(spender common.Address) (caller, other string, err error) {
	if caller, err = c.text(c.caller); err != nil {
		return "", "", err
	}
	other, err = c.text(spender)
	return caller, other, err
}

// send runs a message whose signer is the caller.
func (c *invocation) send(msg sdk.Msg) error {
	handler := c.messages.Handler(msg)
	if handler == nil {
		return sdkerrors.ErrUnknownRequest.Wrapf("the chain has no %s", sdk.MsgTypeURL(msg))
	}
	_, err := handler(c.ctx, msg)
	return err
}

// ---- the lane

func (c *invocation) lane() ([]any, error) {
	state, err := c.queries.Lane(c.ctx, &types.QueryLaneRequest{})
	if err != nil {
		return nil, err
	}
	answer := lane{UsedGas: state.Cycles, BlockGas: state.LaneTimerCycles, MaxGas: state.MaxCyclesPerFire, Paused: state.Paused}
	for _, price := range []struct {
		to   **big.Int
		text string
	}{
		{&answer.GasPrice, state.CycleBasefee},
		{&answer.BytePrice, state.CellBasefee},
		{&answer.LaneFee, state.NextLaneBasefee},
		{&answer.UsualTip, state.P50},
	} {
		if *price.to, err = weiPriceOf(price.text); err != nil {
			return nil, err
		}
	}
	return []any{answer}, nil
}
