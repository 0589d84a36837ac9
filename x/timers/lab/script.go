package lab

import (
	"context"
	"encoding/binary"

	corestore "cosmossdk.io/core/store"
	errorsmod "cosmossdk.io/errors"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/runtime"
	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/query"
	"github.com/cosmos-timers/timers/x/timers/types"
	"github.com/cosmos-timers/timers/x/timers/watch"
)

// storeName is the lab's own store: real state, written and dropped with everything else.
const storeName = "lab"

// The regions of the lab's store.
const (
	// regionIDs: timer's name → its id. A binding is undone with what made it.
	regionIDs = 'i'
	// regionNames: timer's id → its name. Kept when the timer is gone, so that events can be read.
	regionNames = 'n'
	// regionCells: account → what its handlers wrote.
	regionCells = 'c'
	// regionSettings: scenario key → how often it was changed.
	regionSettings = 'k'
)

func settingKey(key string) []byte { return append([]byte{regionSettings}, key...) }

// unknownID names a timer that never came to be: no hash is zero.
const unknownID = "0000000000000000000000000000000000000000000000000000000000000000"

// script does what a scenario says: it makes ops into messages, and it is the runtime that serves the scenario's
// accounts, with handlers that spend exactly what they are told to.
type script struct {
	key   *storetypes.KVStoreKey
	store corestore.KVStoreService
	// names of the accounts by address, and the set of names.
	names    map[string]string
	accounts map[string]bool
	// owners of timers by the timer's name.
	owners map[string]string
	// agents are the bidding agents by address.
	agents map[string]agent
	// chain is set once it is made.
	chain *Chain
}

var _ types.Runtime = (*script)(nil)

// watch makes the scenario's keys watchable.
func (s *script) watch(watcher *watch.Watcher) {
	s.store = watcher.Service(s.store, watch.Store{
		Name:  storeName,
		Whole: func(key []byte) bool { return len(key) > 1 && key[0] == regionSettings },
		Forms: []watch.Form{{
			Name: "key", Arguments: []string{"KEY"}, Watches: "a key of the scenario",
			Build: func(arguments []string) ([]byte, error) { return settingKey(arguments[0]), nil },
		}},
	})
}

func newScript(s *Scenario) *script {
	key := storetypes.NewKVStoreKey(storeName)
	out := &script{
		key: key, store: runtime.NewKVStoreService(key),
		names: map[string]string{}, accounts: map[string]bool{}, owners: s.owners, agents: s.agents,
	}
	for _, account := range s.Accounts {
		out.names[string(AccountAddress(account.Name))] = account.Name
		out.accounts[account.Name] = true
	}
	return out
}

// Serves implements types.Runtime.
func (s *script) Serves(ctx context.Context, actor sdk.AccAddress) bool {
	_, known := s.names[string(actor)]
	return known || s.Quotes(ctx, actor)
}

// Deployer implements types.Runtime: a scenario's accounts are their own.
func (*script) Deployer(_ context.Context, actor sdk.AccAddress) sdk.AccAddress { return actor }

// Validate implements types.Runtime.
func (s *script) Validate(_ context.Context, _ *types.TimerConfig, call types.Call) error {
	_, err := s.handler(call)
	return err
}

func (s *script) handler(call types.Call) (*Handler, error) {
	if call.Handler != types.DefaultHandler {
		return nil, types.ErrInvalidHandler.Wrapf("a scenario's account has the handler %q alone", types.DefaultHandler)
	}
	h, err := parseHandler(call.Payload, s.names[string(call.Actor)], s.accounts)
	if err != nil {
		return nil, types.ErrInvalidPayload.Wrapf("want the JSON of a handler: %v", err)
	}
	return h, nil
}

// Deliver implements types.Runtime. Reading the payload is free, so that what is spent is what the scenario says.
func (s *script) Deliver(goCtx context.Context, _ *types.TimerConfig, delivery types.Delivery) error {
	h, err := s.handler(delivery.Call)
	if err != nil {
		return err
	}
	ctx := sdk.UnwrapSDKContext(goCtx)
	meter := ctx.GasMeter()
	meter.ConsumeGas(h.Cycles, "scenario")
	if err := s.writeCells(ctx, delivery, h.Cells); err != nil {
		return err
	}
	switch {
	case h.Fail:
		return errFailed
	case h.Panic:
		panic("the scenario says so")
	case h.SpendAll:
		meter.ConsumeGas(meter.GasRemaining()+1, "scenario")
	}
	for i := range h.Ops {
		if err := s.act(ctx, &h.Ops[i]); err != nil {
			return err
		}
	}
	return nil
}

// writeCells writes so many bytes, key and value together, and books them as the store would, without the flat cost
// that would come on top. They are booked first: what the meter refuses is never made.
func (s *script) writeCells(ctx sdk.Context, delivery types.Delivery, cells uint64) error {
	if cells == 0 {
		return nil
	}
	ctx.GasMeter().ConsumeGas(cells*ctx.KVGasConfig().WriteCostPerByte, storetypes.GasWritePerByteDesc)
	key := append([]byte{regionCells}, delivery.Actor...)
	key = key[:min(uint64(len(key)), cells)]
	value := make([]byte, cells-uint64(len(key)))
	copy(value, delivery.DeliverID)
	return s.open(ctx).Set(key, value)
}

// open returns the lab's store for the lab's own bookkeeping, which nobody pays for.
func (s *script) open(ctx sdk.Context) corestore.KVStore {
	return s.store.OpenKVStore(ctx.WithGasMeter(storetypes.NewInfiniteGasMeter()))
}

// act runs an op as a part of whatever ctx stands for, metered by its meter.
func (s *script) act(ctx sdk.Context, op *Op) error {
	if op.Kind == opSet {
		return s.set(ctx, op)
	}
	msg, err := s.message(ctx, op)
	if err != nil {
		return err
	}
	result, err := s.chain.Messages.Handler(msg)(ctx, msg)
	if err != nil {
		return err
	}
	for _, event := range result.GetEvents() {
		ctx.EventManager().EmitEvent(event)
	}
	return s.bind(ctx, op, result)
}

// message is the op as a message of the chain.
func (s *script) message(ctx sdk.Context, op *Op) (sdk.Msg, error) {
	by := AccountAddress(op.By).String()
	switch op.Kind {
	case opSchedule:
		return scheduleMessage(op), nil
	case opSend:
		return &banktypes.MsgSend{
			FromAddress: by, ToAddress: AccountAddress(op.To).String(), Amount: coins(s.chain.FeeDenom, op.Amount),
		}, nil
	case opConfig:
		return s.configMessage(ctx, op)
	}
	id, err := s.idOf(ctx, op.Timer)
	owner := AccountAddress(s.owners[op.Timer]).String()
	switch op.Kind {
	case opCancel:
		return &types.MsgCancelTimer{Sender: by, Id: id}, err
	case opExtend:
		return &types.MsgExtendTimer{Sender: by, Id: id, ExpiresAt: op.ExpiresAt}, err
	case opUpdate:
		msg := &types.MsgUpdateTimer{Sender: by, Id: id, GasLimit: op.GasLimit, Bid: op.Bid}
		if op.Do != nil {
			msg.Call = &types.TimerCall{Payload: op.Do.Payload}
		}
		return msg, err
	case opPause:
		return &types.MsgPauseTimer{Sender: by, Id: id}, err
	case opResume:
		return &types.MsgResumeTimer{Sender: by, Id: id}, err
	case opSysCancel:
		return &types.MsgSysCancelTimer{Authority: s.chain.Authority, Actor: owner, Id: id}, err
	case opSysExtend:
		return &types.MsgSysExtendTimer{Authority: s.chain.Authority, Actor: owner, Id: id, ExpiresAt: op.ExpiresAt}, err
	default:
		return nil, errorsmod.Wrapf(errNoHandler, "op %s", op.Kind)
	}
}

func scheduleMessage(op *Op) *types.MsgScheduleTimer {
	msg := &types.MsgScheduleTimer{
		Sender: AccountAddress(op.By).String(), Trigger: op.Trigger,
		GasLimit: op.GasLimit, ExpiresAt: op.ExpiresAt, Bid: op.Bid, Retry: op.Retry, OnUnfunded: op.OnUnfunded,
	}
	if op.Do != nil {
		msg.Payload = op.Do.Payload
	}
	if op.FeePayer != "" {
		msg.FeePayer = AccountAddress(op.FeePayer).String()
	}
	return msg
}

// configMessage applies the change to the config that the next block would have: changes of one block add up.
func (s *script) configMessage(ctx sdk.Context, op *Op) (sdk.Msg, error) {
	params, err := query.NewServer(s.chain.Timers).Params(ctx, &types.QueryParamsRequest{})
	if err != nil {
		return nil, err
	}
	config := params.Config
	if params.NextConfig != nil {
		config = *params.NextConfig
	}
	if err := op.Set.apply(&config); err != nil {
		return nil, err
	}
	return &types.MsgUpdateTimerConfig{Authority: s.chain.Authority, Config: config}, nil
}

// set changes a scenario key, through the store as it is metered.
func (s *script) set(ctx sdk.Context, op *Op) error {
	store, key := s.store.OpenKVStore(ctx), settingKey(op.Key)
	before, err := store.Get(key)
	if err != nil {
		return err
	}
	changes := uint64(1)
	if before != nil {
		changes += binary.BigEndian.Uint64(before)
	}
	return store.Set(key, binary.BigEndian.AppendUint64(nil, changes))
}

// bind remembers what the timer that an op scheduled is called.
func (s *script) bind(ctx sdk.Context, op *Op, result *sdk.Result) error {
	if op.Kind != opSchedule {
		return nil
	}
	response, ok := result.MsgResponses[0].GetCachedValue().(*types.MsgScheduleTimerResponse)
	if !ok {
		return errorsmod.Wrapf(errNoHandler, "unexpected response to %s", op.Kind)
	}
	store := s.open(ctx)
	if err := store.Set(append([]byte{regionIDs}, op.As...), []byte(response.Id)); err != nil {
		return err
	}
	return store.Set(append([]byte{regionNames}, response.Id...), []byte(op.As))
}

// idOf returns the id of a timer by its name, or one that no timer has.
func (s *script) idOf(ctx sdk.Context, name string) (string, error) {
	id, err := s.open(ctx).Get(append([]byte{regionIDs}, name...))
	if id == nil {
		return unknownID, err
	}
	return string(id), err
}

// nameOf returns the name of a timer by its id.
func (s *script) nameOf(ctx sdk.Context, id string) (string, error) {
	name, err := s.open(ctx).Get(append([]byte{regionNames}, id...))
	return string(name), err
}
