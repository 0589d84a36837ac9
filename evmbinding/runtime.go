package evmbinding

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	rpctypes "github.com/cosmos/evm/rpc/types"
	evmkeeper "github.com/cosmos/evm/x/vm/keeper"
	"github.com/cosmos/evm/x/vm/statedb"
	evmtypes "github.com/cosmos/evm/x/vm/types"
	"github.com/cosmos/gogoproto/proto"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/tracing"
	ethtypes "github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/params"

	storetypes "cosmossdk.io/store/types"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/actors"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	// HandlerCallback calls the actor's onTimer(delivery, payload), from the precompile's address.
	HandlerCallback = "on_timer"
	// HandlerCall makes a call as the actor. The payload is that of EncodeCall.
	HandlerCall = "evm_call"
)

// goneGas is what it takes to find that an actor has no code, for each account that is looked at: the EVM's price of
// that.
const goneGas = 2_600

// call is what a timer does in the EVM.
type call struct {
	from, to common.Address
	value    *big.Int
	data     []byte
	// needsCode: to must have code, or the call would succeed and do nothing.
	needsCode bool
}

// Runtime serves the accounts of 20 bytes, with code or without: a chain puts it before the runtime of accounts, and
// behind that of Go modules (Wire). The handler says what runs, and not whether there is code, which may come, go or be
// delegated: by default messages of the SDK, as other accounts run them, or HandlerCallback, or HandlerCall. A cycle of
// such a fire is a unit of EVM gas, of which 21,000 and the price of the call's data are used before it starts, as in a
// transaction.
type Runtime struct {
	evm      machine
	accounts actors.Accounts
	// modules serves the addresses of Go modules, which are accounts of 20 bytes too; nil if there is none.
	modules  types.Runtime
	messages *actors.Messages
	slots    *Slots
}

// machine is what the runtime needs of x/vm's keeper.
type machine interface {
	statedb.Keeper
	EVMConfig(ctx sdk.Context, proposer sdk.ConsAddress) (*statedb.EVMConfig, error)
	TxConfig(ctx sdk.Context, txHash common.Hash) statedb.TxConfig
	ApplyMessageWithConfig(
		ctx sdk.Context, stateDB *statedb.StateDB, msg core.Message, tracer *tracing.Hooks, commit, callFromPrecompile bool,
		cfg *statedb.EVMConfig, txConfig statedb.TxConfig, internal bool, overrides *rpctypes.StateOverride,
	) (*evmtypes.MsgEthereumTxResponse, error)
}

var (
	_ types.MessageRuntime  = (*Runtime)(nil)
	_ types.GasRuntime      = (*Runtime)(nil)
	_ types.FailureReporter = (*Runtime)(nil)
)

// Name of the runtime in metrics.
func (*Runtime) Name() string { return "evm" }

// Serves implements types.Runtime.
func (r *Runtime) Serves(ctx context.Context, actor sdk.AccAddress) bool {
	return len(actor) == common.AddressLength && (r.modules == nil || !r.modules.Serves(ctx, actor)) &&
		r.accounts.HasAccount(ctx, actor)
}

// RunsMessages implements types.MessageRuntime.
func (*Runtime) RunsMessages(call types.Call) bool {
	return call.Messages || call.Handler == types.DefaultHandler || call.Handler == ""
}

// MessageBytes implements types.MessageRuntime.
func (r *Runtime) MessageBytes(call types.Call) (uint64, error) { return r.messages.Bytes(call) }

// Deployer implements types.Runtime: the EVM does not record who created a contract.
func (*Runtime) Deployer(_ context.Context, actor sdk.AccAddress) sdk.AccAddress { return actor }

// Validate implements types.Runtime. Errors are those of actors.Messages, ErrInvalidPayload for a HandlerCall that is
// not encoded as EncodeCall does, and ErrInvalidHandler.
func (r *Runtime) Validate(ctx context.Context, config *types.TimerConfig, call types.Call) error {
	if r.RunsMessages(call) {
		return r.messages.Validate(config, call)
	}
	if call.Handler == HandlerBooked && !isBooking(ctx) {
		return types.ErrInvalidHandler.Wrapf("%s is scheduled by the precompile %s alone", HandlerBooked, HRC1215Address)
	}
	made, err := callOf(types.Delivery{Call: call})
	if err != nil || !made.needsCode {
		return err
	}
	// Whether the code is a delegation to nothing is left to the fire.
	hash := r.evm.GetCodeHash(sdk.UnwrapSDKContext(ctx), made.to)
	if hash == common.BytesToHash(evmtypes.EmptyCodeHash) && !isContract(ctx) {
		return types.ErrInvalidHandler.Wrapf("%s has no code to call back: want %s, messages, or an account with code", made.to, HandlerCall)
	}
	return nil
}

// LeastCycles implements types.GasRuntime: what a transaction with the call's data takes before the EVM's first instruction. The
// ids of a delivery count as bytes that are not 0.
func (r *Runtime) LeastCycles(_ context.Context, call types.Call) (uint64, error) {
	if r.RunsMessages(call) {
		return 0, nil
	}
	id := bytes.Repeat([]byte{1}, common.HashLength)
	made, err := callOf(types.Delivery{Call: call, TimerID: id, DeliverID: id})
	if err != nil {
		return 0, err
	}
	before, err := core.IntrinsicGas(made.data, nil, nil, false, true, true, true)
	if err != nil {
		return 0, err
	}
	floor, err := core.FloorDataGas(made.data)
	return max(before, floor), err
}

type contractKey struct{}

// isContract reports whether the precompile was called by a contract, which in its constructor has no code yet.
func isContract(ctx context.Context) bool { return ctx.Value(contractKey{}) != nil }

// Deliver implements types.Runtime. Errors are those of actors.Messages, ErrActorGone for a callback to an address
// without code, ErrOutOfCycles, and x/vm's ErrVMExecution for a call that reverts.
func (r *Runtime) Deliver(ctx context.Context, config *types.TimerConfig, delivery types.Delivery) error {
	sdkCtx := sdk.UnwrapSDKContext(ctx)
	if r.RunsMessages(delivery.Call) {
		inner := sdkCtx.WithEventManager(sdk.NewEventManager())
		if err := r.messages.Run(inner, config, delivery.Call); err != nil {
			return err
		}
		emitOthers(sdkCtx, inner)
		return nil
	}
	call, err := callOf(delivery)
	if err != nil {
		return err
	}
	return r.run(sdkCtx, delivery, call)
}

// callOf is what a delivery does in the EVM.
func callOf(d types.Delivery) (call, error) {
	actor := common.BytesToAddress(d.Actor)
	switch d.Handler {
	case HandlerCallback:
		data, err := Receiver.Pack("onTimer", deliveryOf(d), d.Payload)
		return call{from: Address, to: actor, value: new(big.Int), data: data, needsCode: true}, err
	case HandlerCall, HandlerBooked:
		to, value, data, err := decodeCall(d.Payload)
		return call{from: actor, to: to, value: value, data: data}, err
	default:
		return call{}, types.ErrInvalidHandler.Wrapf("want %s or %s, or messages, not %.80q", HandlerCallback, HandlerCall, d.Handler)
	}
}

func deliveryOf(d types.Delivery) delivery {
	return delivery{
		TimerId: common.BytesToHash(d.TimerID), DeliverId: common.BytesToHash(d.DeliverID), FireSeq: uint64(d.FireSeq), Due: d.Due,
		Occurrence: d.Occurrence, Index: d.Index, Trigger: d.Trigger, Changed: changedOf(d.Matched),
	}
}

// run makes a call. The EVM works on gas of its own, the rest of the fire's cycles: the store charges nothing to it,
// and what it writes is counted beneath it, when it commits to the branch that the engine keeps or drops.
func (r *Runtime) run(ctx sdk.Context, d types.Delivery, c call) error {
	fire, prices := ctx.GasMeter(), ctx.KVGasConfig()
	gas, cells := fire.GasRemaining(), uint64(0)
	below := ctx.MultiStore()
	if r.slots != nil {
		below = r.slots.over(ctx)
	}
	tx := transactionOf(d, c, gas)
	inner := free(ctx).WithMultiStore(newCounted(below, &cells)).WithValue(fireKey{}, &fireContext{&cells, tx.Hash()})
	if c.needsCode {
		if runs, looks := r.runsCode(inner, c.to); !runs {
			fire.ConsumeGas(looks*goneGas, "account without code")
			return types.ErrActorGone.Wrapf("%s has no code to call back", c.to)
		}
	}
	res, err := r.charged(fire, inner, c, tx, func() uint64 { return cells * prices.WriteCostPerByte })
	switch {
	case errors.Is(err, core.ErrIntrinsicGas), errors.Is(err, core.ErrFloorDataGas):
		return types.ErrOutOfCycles
	case err != nil:
		// Such as that of a commit, when all work is done. Its text is another module's.
		return evmtypes.ErrVMExecution.Wrap(types.ReasonOf(err))
	case strings.HasPrefix(res.VmError, vm.ErrOutOfGas.Error()): // some end with why
		return &vmFailure{types.ErrOutOfCycles, tx, res}
	case res.Failed():
		return &vmFailure{evmtypes.ErrVMExecution.Wrap(res.VmError), tx, res}
	}
	emitOthers(ctx, inner)
	return emitFire(ctx, EventFire, d, c, tx, res)
}

// charged makes a call, and charges the fire for it whatever comes back, a panic too: what was used, or all that is left
// where that is unknown, as after an error of x/vm; and what was written.
func (r *Runtime) charged(
	fire storetypes.GasMeter, inner sdk.Context, c call, tx *ethtypes.Transaction, written func() uint64,
) (*evmtypes.MsgEthereumTxResponse, error) {
	used := fire.GasRemaining()
	defer func() {
		fire.ConsumeGas(used, "EVM gas")
		fire.ConsumeGas(written(), storetypes.GasWritePerByteDesc)
	}()
	res, err := apply(inner, r.evm, c.from, tx, nil)
	if err != nil {
		return nil, err
	}
	// x/vm refunds such a call in full. The lane counts what is used, and has no room for work that is refunded: the bound
	// is that of transactions.
	res.GasUsed = max(res.GasUsed, res.MaxUsedGas-res.MaxUsedGas/params.RefundQuotientEIP3529)
	used = res.GasUsed
	return res, nil
}

// runsCode reports whether a call of an address runs code: its own, or that of the account to which it delegates by
// EIP-7702, and at how many accounts it has looked. A delegation is followed once, and to a precompile runs nothing.
func (r *Runtime) runsCode(ctx sdk.Context, address common.Address) (runs bool, looks uint64) {
	none := common.BytesToHash(evmtypes.EmptyCodeHash)
	hash := r.evm.GetCodeHash(ctx, address)
	if hash == none {
		return false, 1
	}
	if to, ok := ethtypes.ParseDelegation(r.evm.GetCode(ctx, hash)); ok {
		return r.evm.GetCodeHash(ctx, to) != none, 2
	}
	return true, 1
}

// apply makes the call of a fire on a context, and commits to it. hooks are a tracer's, or nil.
func apply(
	ctx sdk.Context, evm machine, from common.Address, tx *ethtypes.Transaction, hooks *tracing.Hooks,
) (*evmtypes.MsgEthereumTxResponse, error) {
	cfg, err := evm.EVMConfig(ctx, ctx.BlockHeader().ProposerAddress)
	if err != nil {
		return nil, err
	}
	msg := core.Message{
		From: from, To: tx.To(), Value: tx.Value(), Data: tx.Data(), Nonce: tx.Nonce(), GasLimit: tx.Gas(),
		GasPrice: new(big.Int), GasFeeCap: new(big.Int), GasTipCap: new(big.Int),
	}
	txConfig := evm.TxConfig(ctx, tx.Hash())
	return evm.ApplyMessageWithConfig(ctx, statedb.New(ctx, evm, txConfig), msg, hooks, true, false, cfg, txConfig, true, nil)
}

// Replay makes the call of a fire again on the context of a query, which is that of the fire's block: for
// traces. What it does stays on the context if keep is set and the call succeeds. hooks are a tracer's, or nil.
func Replay(
	ctx sdk.Context, evm *evmkeeper.Keeper, from common.Address, tx *ethtypes.Transaction, hooks *tracing.Hooks, keep bool,
) error {
	branch, write := ctx.CacheContext()
	res, err := apply(free(branch).WithValue(fireKey{}, &fireContext{new(uint64), tx.Hash()}), evm, from, tx, hooks)
	if err == nil && keep && !res.Failed() {
		write()
	}
	return err
}

// free is a context on which the store charges nothing, and events are its own.
func free(ctx sdk.Context) sdk.Context {
	return ctx.WithGasMeter(storetypes.NewInfiniteGasMeter()).
		WithKVGasConfig(storetypes.GasConfig{}).WithTransientKVGasConfig(storetypes.GasConfig{}).
		WithEventManager(sdk.NewEventManager())
}

// vmFailure is an error of the EVM, with the call and its result.
type vmFailure struct {
	error
	tx  *ethtypes.Transaction
	res *evmtypes.MsgEthereumTxResponse
}

// Unwrap and Cause lead to the registered error: its code is what state and events have.
func (f *vmFailure) Unwrap() error { return f.error }
func (f *vmFailure) Cause() error  { return f.error }

const (
	// EventFire is emitted by each fire that ran in the EVM and succeeded.
	EventFire = "evm_timer_fire"
	// EventFailed is emitted by each that failed.
	EventFailed = "evm_timer_failed"

	// AttributeHash of both events is the fire's hash as a transaction.
	AttributeHash = "hash"
	// AttributeFrom of both is msg.sender of the call.
	AttributeFrom = "from"
	// AttributeGasUsed of both is the EVM gas that the call used.
	AttributeGasUsed = "gas_used"
	// AttributeTx of both is the call as a transaction (transactionOf), in base64.
	AttributeTx = "tx"
	// AttributeData of both is its result, as a transaction's result has it in its data, in base64: hash, gas, error and
	// logs. What the call returned is left out: it can be far larger than what it did.
	AttributeData = "data"

	// maxRevertBytes of what a call returned that failed are in its event.
	maxRevertBytes = 1024
)

// emitOthers emits what a handler emitted, but no events of fires: those are the runtime's own.
func emitOthers(ctx, handler sdk.Context) {
	for _, event := range handler.EventManager().Events() {
		if event.Type != EventFire && event.Type != EventFailed {
			ctx.EventManager().EmitEvent(event)
		}
	}
}

// emitFire emits what JSON-RPC shows (evmrpc): the call as a transaction, and its result with its logs, in the
// encodings that transactions have.
func emitFire(
	ctx sdk.Context, event string, d types.Delivery, c call, tx *ethtypes.Transaction, res *evmtypes.MsgEthereumTxResponse,
	more ...sdk.Attribute,
) error {
	res.Ret = nil
	packed, err := codectypes.NewAnyWithValue(res)
	if err != nil {
		return err
	}
	data, err := proto.Marshal(&sdk.TxMsgData{MsgResponses: []*codectypes.Any{packed}})
	if err != nil {
		return err
	}
	rlp, err := tx.MarshalBinary()
	if err != nil {
		return err
	}
	ctx.EventManager().EmitEvent(sdk.NewEvent(event,
		sdk.NewAttribute(AttributeHash, tx.Hash().Hex()),
		sdk.NewAttribute("timer_id", hex.EncodeToString(d.TimerID)),
		sdk.NewAttribute(AttributeFrom, c.from.Hex()), sdk.NewAttribute("to", c.to.Hex()),
		sdk.NewAttribute(AttributeGasUsed, strconv.FormatUint(res.GasUsed, 10)),
		sdk.NewAttribute(AttributeTx, base64.StdEncoding.EncodeToString(rlp)),
		sdk.NewAttribute(AttributeData, base64.StdEncoding.EncodeToString(data)),
	).AppendAttributes(more...))
	return nil
}

// Failed implements types.FailureReporter: it emits the call with a result without logs, why it failed, and the data
// that it reverted with.
func (r *Runtime) Failed(ctx context.Context, d types.Delivery, cycles, _ uint64, failure error) {
	if r.RunsMessages(d.Call) {
		return
	}
	c, err := callOf(d)
	if err != nil {
		return
	}
	sdkCtx := sdk.UnwrapSDKContext(ctx)
	codespace, code := types.CodeOf(failure)
	// A call that did not come to an end in the EVM is stated with the gas of the fire's meter.
	fire := sdkCtx.GasMeter()
	tx := transactionOf(d, c, fire.Limit())
	res := &evmtypes.MsgEthereumTxResponse{GasUsed: fire.GasConsumedToLimit(), VmError: fmt.Sprintf("%s error %d", codespace, code)}
	var returned []byte
	if failed := (*vmFailure)(nil); errors.As(failure, &failed) {
		tx, res.GasUsed, res.VmError = failed.tx, failed.res.GasUsed, failed.res.VmError
		returned = failed.res.Ret[:min(len(failed.res.Ret), maxRevertBytes)]
	}
	res.Hash = tx.Hash().Hex()
	_ = emitFire(sdkCtx, EventFailed, d, c, tx, res,
		sdk.NewAttribute("cycles", strconv.FormatUint(cycles, 10)),
		sdk.NewAttribute("codespace", codespace), sdk.NewAttribute("code", strconv.FormatUint(uint64(code), 10)),
		sdk.NewAttribute("returned", "0x"+hex.EncodeToString(returned)),
	)
}

// transactionOf is a fire as a transaction: a legacy one without a signature. The id of the delivery stands in the
// place of the signature's r, so that no two have one hash.
func transactionOf(d types.Delivery, c call, gas uint64) *ethtypes.Transaction {
	v := new(big.Int).Lsh(evmtypes.GetEthChainConfig().ChainID, 1)
	return ethtypes.NewTx(&ethtypes.LegacyTx{
		Nonce: uint64(d.FireSeq), GasPrice: new(big.Int), Gas: gas, To: &c.to, Value: c.value, Data: c.data,
		V: v.Add(v, big.NewInt(35)), R: new(big.Int).SetBytes(d.DeliverID), S: new(big.Int),
	})
}
