package evmbinding

import (
	"math/big"
	"time"

	evmtypes "github.com/cosmos/evm/x/vm/types"
	"github.com/ethereum/go-ethereum/common"

	errorsmod "cosmossdk.io/errors"
	"cosmossdk.io/x/feegrant"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Calls that do several things at once, since x/vm allows 20 calls of precompiles in a transaction. Each member takes
// the gas of a call that does it alone, but for what any call takes, and nothing but gas bounds how many there are. What
// refuses one names its place in the list. What a member is refused for by itself refuses the list before anything is
// written.

func (c *invocation) scheduleAtHeights() ([]any, error) {
	return c.addEach(func(height uint64) Trigger { return Trigger{Height: height} })
}

func (c *invocation) scheduleAtTimes() ([]any, error) {
	return c.addEach(func(second uint64) Trigger { return Trigger{Time: second} })
}

// addEach schedules a callback for each of the list, or none.
func (c *invocation) addEach(at func(due uint64) Trigger) ([]any, error) {
	all, gasLimit, payload := c.args[0].([]uint64), c.args[1].(uint64), c.args[2].([]byte) //nolint:errcheck // the types of the ABI
	return c.addAll(len(all), func(i int) (types.TimerSpec, error) {
		if all[i] == 0 {
			return types.TimerSpec{}, types.ErrUnsupportedTimerType.Wrapf("%s: it is 0", c.method.Name)
		}
		return callback(at(all[i]), gasLimit, payload)
	})
}

// scheduleBatch schedules timers with specs of their own, or none.
func (c *invocation) scheduleBatch() ([]any, error) {
	args, err := arguments[struct{ Specs []TimerSpec }](c)
	if err != nil {
		return nil, err
	}
	return c.addAll(len(args.Specs), func(i int) (types.TimerSpec, error) { return args.Specs[i].message(c.addresses()) })
}

// addAll schedules so many timers, or none.
func (c *invocation) addAll(n int, member func(i int) (types.TimerSpec, error)) ([]any, error) {
	specs, ids := make([]types.TimerSpec, n), make([][32]byte, n)
	for i := range specs {
		var err error
		if specs[i], err = member(i); err != nil {
			return nil, inList(err, i)
		}
	}
	for i := range ids {
		added, err := c.add(specs[i])
		if err != nil {
			return nil, inList(err, i)
		}
		ids[i] = added[0].([32]byte) //nolint:errcheck // what add returns
	}
	return []any{ids}, nil
}

// inList is an error with the place, from 0, of what it refuses.
func inList(err error, i int) error { return errorsmod.Wrapf(err, "number %d of the list", i) }

// cancelEach cancels all of the list, or none.
func (c *invocation) cancelEach() ([]any, error) {
	for i, id := range c.args[0].([][32]byte) { //nolint:errcheck // the type of the ABI
		if err := c.cancelOne(id); err != nil {
			return nil, inList(err, i)
		}
	}
	return []any{true}, nil
}

// cancelAll cancels the first timers of the caller's list, in the order of timersOf, at most so many.
func (c *invocation) cancelAll() ([]any, error) {
	most, cancelled := c.args[0].(uint32), uint32(0) //nolint:errcheck // the type of the ABI
	engine := c.timers.Engine()
	entries, err := engine.Owners.Of(c.ctx, c.actor)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if cancelled == most {
			break
		}
		timer, err := engine.Records.Load(c.ctx, entry)
		if err != nil {
			return nil, err
		}
		// Owners whose hashes begin alike share their list.
		if !timer.Owner().Equals(c.actor) {
			continue
		}
		if err := c.cancelOne([32]byte(timer.Id)); err != nil {
			return nil, err
		}
		cancelled++
	}
	return []any{cancelled}, nil
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
		return types.ErrMessageNotAllowed.Wrapf("the chain has no %s", sdk.MsgTypeURL(msg))
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
