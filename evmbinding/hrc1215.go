package evmbinding

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"math/big"
	"time"

	evmtypes "github.com/cosmos/evm/x/vm/types"
	"github.com/ethereum/go-ethereum/common"

	sdkmath "cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// HRC1215Address is where HIP-1215's functions are, as on Hedera. x/vm wants it as HRC1215Address.Hex() writes it.
var HRC1215Address = common.HexToAddress("0x000000000000000000000000000000000000016b")

// HRC1215 is the ABI of contracts/IHRC1215.sol.
var HRC1215 = interfaceOf("IHRC1215")

// HandlerBooked makes a call as HandlerCall does, in a second for which HIP-1215's functions accepted it. They alone
// schedule it.
const HandlerBooked = "hip1215_call"

// Codes of Hedera that the functions answer.
const (
	CodeInsufficientPayerBalance int64 = 10
	CodeBusy                     int64 = 12 // the caller has as many timers as it may have
	CodeNotSupported             int64 = 13 // the chain's timers have no times
	CodeInvalidContract          int64 = 16
	CodeUnknown                  int64 = 21
	CodeSuccess                  int64 = 22
	CodeInsufficientGas          int64 = 30
	CodeMaxGasLimitExceeded      int64 = 111
	CodeInvalidScheduleID        int64 = 201
	CodeInvalidSchedulePayer     int64 = 203
	CodeExpiryTooFar             int64 = 306
	CodeExpiryNotInFuture        int64 = 307
	CodeExpiryIsBusy             int64 = 370
)

var hrc1215Methods = map[string]func(*invocation) ([]any, error){
	"scheduleCall":                (*invocation).scheduleCall,
	"scheduleCallWithPayer":       (*invocation).scheduleCallWithPayer,
	"executeCallOnPayerSignature": (*invocation).executeCallOnPayerSignature,
	"deleteSchedule":              (*invocation).deleteSchedule,
	"hasScheduleCapacity":         (*invocation).hasScheduleCapacity,
}

const (
	// bookGas is what the counts of a second take to be read, written, and written again when the timer leaves.
	bookGas = 14_000
	// capacityGas is the price of asking for capacity. Such a call reads 14 values, and takes as long as 15,000 to 23,000
	// gas of bank sends. What it writes is dropped, and costs the state nothing.
	capacityGas = 20_000
	// ownersShare of what is accepted for a second one owner may have: a quarter.
	ownersShare = 4
	// burnedShare of gas limit × lane basefee is burned when a call is accepted: a tenth.
	burnedShare = 10
)

// booked is a call to accept.
type booked struct {
	to, payer common.Address
	second    *big.Int
	gasLimit  *big.Int
	value     uint64
	data      []byte
}

func (c *invocation) scheduleCall() ([]any, error) {
	args, err := arguments[struct {
		To                     common.Address
		ExpirySecond, GasLimit *big.Int
		Value                  uint64
		CallData               []byte
	}](c)
	if err != nil {
		return nil, err
	}
	return c.answer(booked{args.To, c.caller, args.ExpirySecond, args.GasLimit, args.Value, args.CallData})
}

// withPayer are the arguments of the functions that name a payer.
type withPayer struct {
	To, Payer              common.Address
	ExpirySecond, GasLimit *big.Int
	Value                  uint64
	CallData               []byte
}

func (c *invocation) scheduleCallWithPayer() ([]any, error) {
	args, err := arguments[withPayer](c)
	if err != nil {
		return nil, err
	}
	return c.answer(booked{args.To, args.Payer, args.ExpirySecond, args.GasLimit, args.Value, args.CallData})
}

// executeCallOnPayerSignature takes the allowance for the signature, so that the call is due in the next second.
func (c *invocation) executeCallOnPayerSignature() ([]any, error) {
	args, err := arguments[withPayer](c)
	if err != nil {
		return nil, err
	}
	second := args.ExpirySecond
	if next := big.NewInt(c.ctx.BlockTime().Unix() + 1); second.Cmp(next) > 0 {
		second = next
	}
	return c.answer(booked{args.To, args.Payer, second, args.GasLimit, args.Value, args.CallData})
}

// answer accepts a call, and answers its code and the address of its timer. What was refused leaves nothing.
func (c *invocation) answer(b booked) ([]any, error) {
	own, events := sandbox.BranchOf(c.ctx.MultiStore()), sdk.NewEventManager()
	id, code := c.book(c.ctx.WithMultiStore(own).WithEventManager(events), b)
	if code != CodeSuccess {
		return []any{code, common.Address{}}, nil
	}
	own.Write()
	c.ctx.EventManager().EmitEvents(events.Events())
	return []any{code, scheduleAddress(id)}, nil
}

// hasScheduleCapacity accepts a call without data, and drops it: capacity and scheduling are one path. What that takes
// is bounded, so that its price is fixed.
func (c *invocation) hasScheduleCapacity() ([]any, error) {
	args, err := arguments[struct{ ExpirySecond, GasLimit *big.Int }](c)
	if err != nil {
		return nil, err
	}
	return []any{c.hasRoom(args.ExpirySecond, args.GasLimit)}, nil
}

// hasRoom accepts a call of the caller's without data, and drops it, at a price of its own.
func (c *invocation) hasRoom(second, gasLimit *big.Int) bool {
	c.ctx.GasMeter().ConsumeGas(capacityGas, "capacity of a second")
	dropped := free(c.ctx.WithMultiStore(sandbox.BranchOf(c.ctx.MultiStore())))
	_, code := c.book(dropped, booked{to: c.caller, payer: c.caller, second: second, gasLimit: gasLimit})
	return code == CodeSuccess
}

// capacity is the largest gas limit for which hasScheduleCapacity says yes to the caller, and what all may have
// together. The largest that may be is tried: where it is refused for another reason than room, nothing is free.
func (c *invocation) capacity() ([]any, error) {
	second := c.args[0].(*big.Int) //nolint:errcheck // the type of the ABI
	if c.seconds == nil {
		return nil, types.ErrUnsupportedTimerType.Wrap("the chain does not accept calls for a second")
	}
	config, err := c.timers.Config(c.ctx)
	if err != nil {
		return nil, err
	}
	total := bookable(&config)
	if !second.IsUint64() {
		return []any{uint64(0), total}, nil
	}
	all, own, err := c.seconds.booked(free(c.ctx), second.Uint64(), string(c.actor))
	if err != nil {
		return nil, err
	}
	left := min(less(total, all), less(total/ownersShare, own), config.MaxCyclesPerFire,
		c.timers.Engine().Policies.GasCap(&config, types.HeightOf(c.ctx)))
	if !c.hasRoom(second, new(big.Int).SetUint64(left)) {
		left = 0
	}
	return []any{left, total}, nil
}

// less is a difference, 0 where it would be negative: a config that shrank leaves counts above its bounds.
func less(a, b uint64) uint64 { return a - min(a, b) }

// bookable is how many cycles may be accepted for a second.
func bookable(config *types.TimerConfig) uint64 {
	share := sdkmath.LegacyOneDec().Sub(config.ReservedShare.LegacyDec)
	return share.MulInt(sdkmath.NewIntFromUint64(config.LaneTimerCycles)).TruncateInt().Uint64()
}

type bookingKey struct{}

// isBooking reports whether a context is that in which HIP-1215's functions schedule.
func isBooking(ctx context.Context) bool { return ctx.Value(bookingKey{}) != nil }

// book accepts a call for its second if there is room, and schedules it. The caller drops what it wrote unless it
// succeeds.
func (c *invocation) book(ctx sdk.Context, b booked) (id []byte, code int64) {
	ctx.GasMeter().ConsumeGas(bookGas, "room of a second")
	config, err := c.timers.Config(ctx)
	if err != nil {
		return nil, CodeUnknown
	}
	now := big.NewInt(ctx.BlockTime().Unix())
	last := new(big.Int).Add(now, new(big.Int).SetUint64(config.MaxTtlSeconds))
	switch {
	case b.to == (common.Address{}):
		return nil, CodeInvalidContract
	case b.second.Cmp(now) <= 0:
		return nil, CodeExpiryNotInFuture
	case b.second.Cmp(last) > 0:
		return nil, CodeExpiryTooFar
	case b.gasLimit.Cmp(new(big.Int).SetUint64(config.MaxCyclesPerFire)) > 0:
		return nil, CodeMaxGasLimitExceeded
	case b.gasLimit.Cmp(new(big.Int).SetUint64(config.MinGasLimit)) < 0:
		// 0 would be the default of the module.
		return nil, CodeInsufficientGas
	}
	second, gas := b.second.Uint64(), b.gasLimit.Uint64()
	if code := c.room(ctx, &config, second, gas); code != CodeSuccess {
		return nil, code
	}
	payload, err := EncodeCall(b.to, new(big.Int).SetUint64(b.value), b.data)
	if err != nil {
		return nil, CodeUnknown
	}
	at := time.Unix(b.second.Int64(), 0).UTC()
	request := keeper.ScheduleRequest{
		Actor: c.actor, Spec: types.TimerSpec{
			Trigger: types.Trigger{Time: &at}, Call: types.TimerCall{Handler: HandlerBooked, Payload: payload}, GasLimit: gas,
			CellLimit: cellsWithin(&config, gas),
		},
	}
	if b.payer != c.caller {
		if request.Spec.FeePayer, err = c.text(b.payer); err != nil {
			return nil, CodeUnknown
		}
	}
	timer, err := c.timers.Schedule(ctx.WithValue(bookingKey{}, true), request)
	if err != nil {
		return nil, codeOf(err, gas, c.timers.Engine().Policies.DefaultGasLimit(&config, types.HeightOf(ctx)))
	}
	return timer.Id, c.burn(ctx, gas)
}

// room is a success if a call of so many cycles has room in a second, for its caller too.
func (c *invocation) room(ctx sdk.Context, config *types.TimerConfig, second, gas uint64) int64 {
	all, own, err := c.seconds.booked(ctx, second, string(c.actor))
	if err != nil {
		return CodeUnknown
	}
	most := bookable(config)
	if all+gas > most || own+gas > most/ownersShare {
		return CodeExpiryIsBusy
	}
	return CodeSuccess
}

// cellsWithin is a limit of written bytes that makes the size of the fire what its gas limit is: the default, or less.
func cellsWithin(config *types.TimerConfig, gas uint64) uint64 {
	share := new(big.Int).Mul(new(big.Int).SetUint64(gas), new(big.Int).SetUint64(config.LaneTimerCells))
	share.Quo(share, new(big.Int).SetUint64(config.LaneTimerCycles))
	if cells := new(big.Int).SetUint64(config.CellLimit()); cells.Cmp(share) < 0 {
		return config.CellLimit()
	}
	return max(share.Uint64(), 1)
}

// burn takes the price of a booking from its caller and burns it.
func (c *invocation) burn(ctx sdk.Context, gas uint64) int64 {
	lane, err := c.timers.Engine().Lane.Get(ctx)
	if err != nil {
		return CodeUnknown
	}
	// The lane basefee of the last block; before the first there is none, and the place costs nothing.
	if lane.LaneBasefee == nil {
		return CodeSuccess
	}
	amount := lane.LaneBasefee.MulInt(sdkmath.NewIntFromUint64(gas)).QuoInt64(burnedShare).Ceil().TruncateInt()
	if !amount.IsPositive() {
		return CodeSuccess
	}
	coins := sdk.NewCoins(sdk.NewCoin(evmtypes.GetEVMCoinDenom(), amount))
	if err := c.bank.SendCoinsFromAccountToModule(ctx, c.actor, types.ModuleName, coins); err != nil {
		return CodeInsufficientPayerBalance
	}
	if err := c.bank.BurnCoins(ctx, types.ModuleName, coins); err != nil {
		return CodeUnknown
	}
	return CodeSuccess
}

// codeOf is the code for a refusal of the module, whose policies allow a fire at most so many cycles.
func codeOf(err error, gas, most uint64) int64 {
	switch {
	case errors.Is(err, types.ErrGasLimitOutOfBounds) && gas > most:
		return CodeMaxGasLimitExceeded
	case errors.Is(err, types.ErrGasLimitOutOfBounds):
		return CodeInsufficientGas
	case errors.Is(err, types.ErrInvalidFeePayer):
		return CodeInvalidSchedulePayer
	case errors.Is(err, types.ErrTooManyTimers):
		return CodeBusy
	case errors.Is(err, types.ErrUnsupportedTimerType):
		return CodeNotSupported
	default:
		return CodeUnknown
	}
}

// deleteSchedule cancels the caller's call whose address is that.
func (c *invocation) deleteSchedule() ([]any, error) {
	return c.deleteAt(c.args[0].(common.Address)) //nolint:errcheck // the type of the ABI
}

// deleteAt cancels the caller's call whose schedule has an address, and answers the code.
func (c *invocation) deleteAt(address common.Address) ([]any, error) {
	id := idWithin(address)
	if id == nil {
		return []any{CodeInvalidScheduleID}, nil
	}
	engine := c.timers.Engine()
	entries, err := engine.Owners.Named(c.ctx, c.actor, hex.EncodeToString(id))
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		timer, err := engine.Records.Load(c.ctx, entry)
		if err != nil {
			return nil, err
		}
		if bytes.HasPrefix(timer.Id, id) && timer.Owner().Equals(c.actor) && timer.Spec.Call.Handler == HandlerBooked {
			return []any{CodeSuccess}, c.timers.Cancel(c.ctx, c.actor, timer.Id)
		}
	}
	return []any{CodeInvalidScheduleID}, nil
}
