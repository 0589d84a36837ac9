package evmbinding

import (
	"encoding/hex"
	"errors"
	"math/big"
	"reflect"

	"github.com/ethereum/go-ethereum/common"

	sdkmath "cosmossdk.io/math"

	sdkquery "github.com/cosmos/cosmos-sdk/types/query"

	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// ---- questions

// info is a timer by its owner and id.
func (c *invocation) info(owner common.Address, id [32]byte) (*types.TimerInfo, error) {
	actor, err := c.text(owner)
	if err != nil {
		return nil, err
	}
	response, err := c.queries.Timer(c.ctx, &types.QueryTimerRequest{Actor: actor, Id: hex.EncodeToString(id[:])})
	if err != nil {
		return nil, err
	}
	return &response.Timer, nil
}

// infoOf is what became of a timer, as contracts see it.
func infoOf(owner common.Address, t *types.TimerInfo) (info, error) {
	status, paid := &t.Status, new(big.Int)
	if status.LastOutcome != nil {
		paid.Mul(status.LastOutcome.Paid.BigInt(), weiPerUnit())
	}
	id, err := hex.DecodeString(t.Id)
	return info{
		Id: common.BytesToHash(id), Owner: owner, Name: t.Spec.Name, Status: uint8(status.Phase), HoldReason: uint8(status.HoldReason),
		Due: status.Due, DueTime: seconds(status.DueTime), ExpiresAt: status.ExpiresAt, ExpiresTime: seconds(status.ExpiresTime),
		GasLimit: status.GasLimit, ByteLimit: status.CellLimit, Seq: status.Seq, Fires: uint64(status.FireSeq),
		Deliveries: status.Deliveries, Left: status.Left,
		LastSuccess: status.LastOutcome != nil && status.LastOutcome.Success, LastPaid: paid,
	}, err
}

func (c *invocation) timer() ([]any, error) {
	owner := c.args[0].(common.Address)               //nolint:errcheck // the type of the ABI
	found, err := c.info(owner, c.args[1].([32]byte)) //nolint:errcheck // the type of the ABI
	if err != nil {
		return nil, err
	}
	answer, err := infoOf(owner, found)
	return []any{answer}, err
}

// specOf reads the record alone, with its payload: a question judges what the next block makes of the timer too. A byte of the
// answer costs what one of an input does.
func (c *invocation) specOf() ([]any, error) {
	owner, id := c.args[0].(common.Address), c.args[1].([32]byte) //nolint:errcheck // the types of the ABI
	records := c.timers.Engine().Records
	timer, err := records.Lookup(c.ctx, owner.Bytes(), id[:])
	if err != nil {
		return nil, err
	}
	stated := timer.Spec
	if stated.Call.Payload, err = records.Payload(c.ctx, &timer); err != nil {
		return nil, err
	}
	spec, err := specOf(c.addresses(), &stated)
	if err != nil {
		return nil, err
	}
	c.ctx.GasMeter().ConsumeGas(byteGas*encodedBytes(reflect.ValueOf(spec)), "encoding")
	return []any{spec}, nil
}

// idOf is the timer that an owner calls so, as its own functions find it.
func (c *invocation) idOf() ([]any, error) {
	owner, name := c.args[0].(common.Address).Bytes(), c.args[1].(string) //nolint:errcheck // the types of the ABI
	timer, err := c.timers.Engine().Records.Named(c.ctx, owner, owner, name)
	if errors.Is(err, types.ErrTimerNotFound) {
		return []any{[32]byte{}}, nil
	}
	return []any{common.BytesToHash(timer.Id)}, err
}

// maxListed bounds the timers of one answer.
const maxListed = 100

func (c *invocation) timersOf() ([]any, error) {
	owner, offset, limit := c.args[0].(common.Address), c.args[1].(uint32), c.args[2].(uint32) //nolint:errcheck // the types of the ABI
	actor, err := c.text(owner)
	if err != nil {
		return nil, err
	}
	response, err := c.queries.TimersByActor(c.ctx, &types.QueryTimersByActorRequest{
		Actor: actor, Pagination: &sdkquery.PageRequest{Offset: uint64(offset), Limit: uint64(min(max(limit, 1), maxListed))},
	})
	if err != nil {
		return nil, err
	}
	all := make([]info, len(response.Timers))
	for i := range response.Timers {
		if all[i], err = infoOf(owner, &response.Timers[i]); err != nil {
			return nil, err
		}
	}
	if limit == 0 {
		all = nil
	}
	return []any{all, response.Total}, nil
}

func (c *invocation) occurrences() ([]any, error) {
	args, err := arguments[struct {
		Spec  TimerSpec
		Limit uint32
	}](c)
	if err != nil {
		return nil, err
	}
	stated, err := args.Spec.message(c.addresses())
	if err != nil {
		return nil, err
	}
	return c.upcoming(args.Limit, types.QueryOccurrencesRequest{Spec: &stated})
}

func (c *invocation) occurrencesOf() ([]any, error) {
	args, err := arguments[struct {
		Owner common.Address
		Id    [32]byte
		Limit uint32
	}](c)
	if err != nil {
		return nil, err
	}
	actor, err := c.text(args.Owner)
	if err != nil {
		return nil, err
	}
	return c.upcoming(args.Limit, types.QueryOccurrencesRequest{Actor: actor, Id: hex.EncodeToString(args.Id[:])})
}

// upcoming are at most limit occurrences, and at most keeper.MaxOccurrences.
func (c *invocation) upcoming(limit uint32, request types.QueryOccurrencesRequest) ([]any, error) {
	// For the module 0 is its default.
	request.Limit = min(max(limit, 1), keeper.MaxOccurrences)
	response, err := c.queries.Occurrences(c.ctx, &request)
	if err != nil {
		return nil, err
	}
	found := response.Occurrences[:min(len(response.Occurrences), int(limit))]
	due := make([]uint64, len(found))
	for i := range due {
		due[i] = found[i].Due
	}
	return []any{due, response.ByTime, response.More || len(found) < len(response.Occurrences)}, nil
}

func (c *invocation) estimate() ([]any, error) {
	args, err := arguments[struct {
		GasLimit             uint64
		ByteLimit            uint64
		MaxFeePerGas         *big.Int
		MaxPriorityFeePerGas *big.Int
		Tier                 uint8
	}](c)
	if err != nil {
		return nil, err
	}
	actor, err := c.text(c.caller)
	if err != nil {
		return nil, err
	}
	stated := Bid{StaticBid: StaticBid{args.MaxFeePerGas, args.MaxPriorityFeePerGas}, Tier: args.Tier, Price: new(big.Int)}
	bid, err := stated.message(c.addresses())
	if err != nil {
		return nil, err
	}
	request := &types.QueryEstimateRequest{Actor: actor, GasLimit: args.GasLimit, CellLimit: args.ByteLimit}
	if bid != nil {
		if request.Tier = bid.Tier; bid.Static != nil {
			request.MaxFee, request.MaxPriority = bid.Static.MaxFeePerCycle.Text(), bid.Static.MaxPriorityFeePerCycle.Text()
		}
	}
	e, err := c.queries.Estimate(c.ctx, request)
	if err != nil {
		return nil, err
	}
	answer := quote{
		GasLimit: e.GasLimit, ByteLimit: e.CellLimit, IntrinsicGas: e.IntrinsicCycles, WaitBlocks: e.WaitBlocks,
		PricedOut: e.Basis == types.BasisPricedOut,
	}
	if answer.MaxCost, err = weiOf(e.PreCharge); err != nil {
		return nil, err
	}
	if answer.BytePrice, err = weiPriceOf(e.CellBasefee); err != nil {
		return nil, err
	}
	answer.GasPrice, err = gasPriceOf(e)
	return []any{answer}, err
}

// gasPriceOf is what a cycle of a fire that writes little costs, in wei.
func gasPriceOf(e *types.QueryEstimateResponse) (*big.Int, error) {
	sum := sdkmath.LegacyZeroDec()
	for _, price := range []string{e.CycleBasefee, e.LaneFee, e.Priority} {
		dec, err := sdkmath.LegacyNewDecFromStr(price)
		if err != nil {
			return nil, types.ErrInternal.Wrapf("%.80q is no price", price)
		}
		sum = sum.Add(dec)
	}
	return weiPriceOf(sum.String())
}
