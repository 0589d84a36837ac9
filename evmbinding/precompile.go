package evmbinding

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"

	cmn "github.com/cosmos/evm/precompiles/common"
	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/tracing"
	ethtypes "github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"google.golang.org/grpc/status"

	"cosmossdk.io/core/address"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/actors"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Precompile is how contracts speak to the module: contracts/ITimers.sol, at Address. It is thin over the module's host
// API, messages and queries, which make the checks. The caller owns the timers.
type Precompile struct {
	cmn.Precompile
	abi     abi.ABI
	methods map[string]func(*invocation) ([]any, error)
	timers  *keeper.Keeper
	server  types.MsgServer
	queries types.QueryServer
	bank    BankKeeper
	// messages are the app's, for allowances.
	messages actors.MessageRouter
	// seconds are what HIP-1215's functions count; nil for a chain that does not speak it.
	seconds *Seconds
}

// BankKeeper is what the precompiles need of x/bank.
type BankKeeper interface {
	cmn.BankKeeper
	SendCoinsFromAccountToModule(ctx context.Context, sender sdk.AccAddress, module string, amount sdk.Coins) error
	BurnCoins(ctx context.Context, module string, amount sdk.Coins) error
}

var _ vm.PrecompiledContract = (*Precompile)(nil)

// NewPrecompile returns the precompile, which Wire registers with x/vm's keeper. The bank lets the EVM see what a bid
// that is locked or returned does to a balance. seconds are those of HIP-1215, whose room capacity states; nil for a
// chain that does not speak it.
func NewPrecompile(timers *keeper.Keeper, bank BankKeeper, messages actors.MessageRouter, seconds *Seconds) *Precompile {
	return &Precompile{
		Precompile: cmn.Precompile{
			KvGasConfig: storetypes.KVGasConfig(), TransientKVGasConfig: storetypes.TransientGasConfig(),
			ContractAddress: Address, BalanceHandlerFactory: cmn.NewBalanceHandlerFactory(bank),
		},
		abi: ABI, methods: methods,
		timers: timers, server: keeper.NewMsgServer(timers), queries: keeper.NewQueryServer(timers), bank: bank,
		messages: messages, seconds: seconds,
	}
}

// NewHRC1215 returns the precompile that speaks HIP-1215, at HRC1215Address. Its counts are the keeper's hooks
// (Wire).
func NewHRC1215(timers *keeper.Keeper, bank BankKeeper, seconds *Seconds) *Precompile {
	p := NewPrecompile(timers, bank, nil, seconds)
	p.abi, p.methods, p.ContractAddress = HRC1215, hrc1215Methods, HRC1215Address
	return p
}

const (
	// callGas is the price of any call, a refused one included: x/vm branches the state for it, which takes as long as
	// 6,900 gas of bank sends; no work costs less than a third of that. byteGas is the price of each byte of the input,
	// and of each that is decoded once more (decodedBytes): at worst as structs, as long as 4 gas.
	callGas, byteGas = 2_500, 2
)

// RequiredGas implements vm.PrecompiledContract: it is taken before Run.
func (Precompile) RequiredGas(input []byte) uint64 { return callGas + byteGas*uint64(len(input)) }

// Run implements vm.PrecompiledContract. What the module consumes is EVM gas; in a fire, the bytes that it writes are
// cells of the fire instead. A call that fails leaves nothing, takes what it consumed until then, and reverts with the
// module's reason (reasonOf).
func (p *Precompile) Run(evm *vm.EVM, contract *vm.Contract, readonly bool) ([]byte, error) {
	if hasValue(contract) {
		return cmn.ReturnRevertError(evm, errValue)
	}
	return p.RunNativeAction(evm, contract, func(ctx sdk.Context) ([]byte, error) {
		// The meter, which ends with the gas of the call, comes with what the transaction has consumed.
		meter, before := ctx.GasMeter(), ctx.GasMeter().GasConsumed()
		if fire := fireOf(ctx); fire != nil {
			ctx = ctx.WithGasMeter(cellMeter{ctx.GasMeter(), fire.cells, p.KvGasConfig.WriteCostPerByte})
		}
		// The multistore that a precompile is given hands out itself where it is asked for a branch, so that what a
		// preview drops would stay. A branch of ours is one.
		own, events := sandbox.BranchOf(ctx.MultiStore()), sdk.NewEventManager()
		answer, err := p.execute(ctx.WithMultiStore(own).WithEventManager(events), evm, contract, readonly)
		if err != nil {
			// x/vm takes the gas of an answer, and of a refusal nothing.
			if !contract.UseGas(meter.GasConsumed()-before, nil, tracing.GasChangeCallPrecompiledContract) {
				return nil, vm.ErrOutOfGas
			}
			return nil, reasonOf(err)
		}
		own.Write()
		ctx.EventManager().EmitEvents(events.Events())
		return answer, nil
	})
}

// reasonOf is an error as a caller may see it, whose contract can store it: the text of this module, of its queries, or
// of the EVM, and of any other error the codespace and the code. That is the same on all nodes, however they were built.
func reasonOf(err error) error {
	for _, own := range []error{errValue, errInput, vm.ErrExecutionReverted, vm.ErrWriteProtection, vm.ErrOutOfGas} {
		if errors.Is(err, own) {
			return own
		}
	}
	// An error of a query is one of gRPC and nothing else; what only contains one has another text.
	if answered, ok := status.FromError(err); ok && answered.Err().Error() == err.Error() {
		return errors.New(answered.Message())
	}
	return errors.New(types.ReasonOf(err))
}

// selectorBytes of an input name the function.
const selectorBytes = 4

var (
	errValue = errors.New("timers: the precompile takes no value")
	errInput = errors.New("timers: the input is of no function of the precompile, or not its arguments")
)

// hasValue reports whether a call carries value. It is refused before x/vm writes the balance that it would give the
// precompile: the bank refuses that, with a text of its own.
func hasValue(contract *vm.Contract) bool {
	value := contract.Value()
	return value != nil && value.Sign() != 0
}

// execute runs one call. The EVM says readonly for delegate calls, and for static ones of the precompile itself, but
// x/vm of 0.6 not for a call within a static one: the interpreter is asked.
func (p *Precompile) execute(ctx sdk.Context, evm *vm.EVM, contract *vm.Contract, readonly bool) ([]byte, error) {
	readonly = readonly || evm.Interpreter().ReadOnly()
	if len(contract.Input) < selectorBytes {
		return nil, vm.ErrExecutionReverted
	}
	p.payForOverlaps(ctx, contract.Input)
	method, args, err := cmn.SetupABI(p.abi, contract, readonly, func(m *abi.Method) bool { return !m.IsConstant() })
	switch {
	case errors.Is(err, vm.ErrWriteProtection):
		return nil, err
	case err != nil:
		return nil, errInput
	}
	if contract.Caller() != evm.Origin {
		ctx = ctx.WithValue(contractKey{}, true)
	}
	c := &invocation{
		Precompile: p, ctx: ctx, evm: evm, method: method, args: args,
		caller: contract.Caller(), actor: sdk.AccAddress(contract.Caller().Bytes()),
	}
	values, err := p.methods[method.Name](c)
	if err != nil {
		return nil, err
	}
	return method.Outputs.Pack(values...)
}

// payForOverlaps takes the price of what decoding reads more than once, before it is decoded.
func (p *Precompile) payForOverlaps(ctx sdk.Context, input []byte) {
	method, err := p.abi.MethodById(input[:selectorBytes])
	if err != nil {
		return
	}
	input = input[selectorBytes:]
	paid := uint64(len(input))
	if decoded := decodedBytes(method.Inputs, input, paid+ctx.GasMeter().GasRemaining()/byteGas); decoded > paid {
		ctx.GasMeter().ConsumeGas(byteGas*(decoded-paid), "decoding")
	}
}

// invocation is one call of the precompile.
type invocation struct {
	*Precompile
	ctx    sdk.Context
	evm    *vm.EVM
	method *abi.Method
	args   []any
	caller common.Address
	actor  sdk.AccAddress
}

// methods are the functions of contracts/ITimers.sol.
var methods = map[string]func(*invocation) ([]any, error){
	"schedule":          (*invocation).schedule,
	"scheduleAt":        (*invocation).scheduleAt,
	"scheduleAfter":     (*invocation).scheduleAfter,
	"scheduleAtTime":    (*invocation).scheduleAtTime,
	"scheduleEvery":     (*invocation).scheduleEvery,
	"scheduleCalendar":  (*invocation).scheduleCalendar,
	"update":            (*invocation).update,
	"extend":            (*invocation).extend,
	"pause":             (*invocation).pause,
	"resume":            (*invocation).resume,
	"skip":              (*invocation).skip,
	"run":               (*invocation).runNow,
	"cancel":            (*invocation).cancel,
	"updateNamed":       (*invocation).update,
	"extendNamed":       (*invocation).extend,
	"pauseNamed":        (*invocation).pause,
	"resumeNamed":       (*invocation).resume,
	"skipNamed":         (*invocation).skip,
	"runNamed":          (*invocation).runNow,
	"cancelNamed":       (*invocation).cancel,
	"idOf":              (*invocation).idOf,
	"timer":             (*invocation).timer,
	"specOf":            (*invocation).specOf,
	"timersOf":          (*invocation).timersOf,
	"estimate":          (*invocation).estimate,
	"scheduleAtHeights": (*invocation).scheduleAtHeights,
	"scheduleAtTimes":   (*invocation).scheduleAtTimes,
	"scheduleBatch":     (*invocation).scheduleBatch,
	"cancelEach":        (*invocation).cancelEach,
	"cancelAll":         (*invocation).cancelAll,
	"sponsor":           (*invocation).sponsor,
	"unsponsor":         (*invocation).unsponsor,
	"lane":              (*invocation).lane,
	"capacity":          (*invocation).capacity,
	"occurrences":       (*invocation).occurrences,
	"occurrencesOf":     (*invocation).occurrencesOf,
}

// arguments reads the call's arguments into a struct with fields of their names.
func arguments[T any](c *invocation) (T, error) {
	var all T
	err := c.method.Inputs.Copy(&all, c.args)
	return all, err
}

// text is an address as the module's messages write it.
func (c *invocation) text(address common.Address) (string, error) {
	return c.timers.Engine().Addresses.BytesToString(address.Bytes())
}

// addresses are how the module's messages write them.
func (c *invocation) addresses() address.Codec { return c.timers.Engine().Addresses }

func (c *invocation) schedule() ([]any, error) {
	args, err := arguments[struct{ Spec TimerSpec }](c)
	if err != nil {
		return nil, err
	}
	spec, err := args.Spec.message(c.addresses())
	if err != nil {
		return nil, err
	}
	return c.add(spec)
}

// simple are the arguments of the short forms, each of which states some.
type simple struct {
	Height, Blocks, Second, Every, Count, GasLimit uint64
	Payload                                        []byte
}

func (c *invocation) scheduleAt() ([]any, error)     { return c.addSimple() }
func (c *invocation) scheduleAfter() ([]any, error)  { return c.addSimple() }
func (c *invocation) scheduleAtTime() ([]any, error) { return c.addSimple() }
func (c *invocation) scheduleEvery() ([]any, error)  { return c.addSimple() }

func (c *invocation) addSimple() ([]any, error) {
	var s simple
	for i, input := range c.method.Inputs {
		if input.Name == "payload" {
			s.Payload = c.args[i].([]byte) //nolint:errcheck // the type of the ABI
			continue
		}
		*map[string]*uint64{
			"height": &s.Height, "blocks": &s.Blocks, "second": &s.Second, "every": &s.Every, "count": &s.Count, "gasLimit": &s.GasLimit,
		}[input.Name] = c.args[i].(uint64) //nolint:errcheck // the type of the ABI
	}
	if s.Height == 0 && s.Blocks == 0 && s.Second == 0 && s.Every == 0 {
		return nil, types.ErrUnsupportedTimerType.Wrapf("%s: the first argument is 0", c.method.Name)
	}
	return c.addCallback(Trigger{
		Height: s.Height, AfterBlocks: s.Blocks, Time: s.Second, Interval: IntervalTrigger{Every: s.Every},
	}, s.Count, s.GasLimit, s.Payload)
}

func (c *invocation) scheduleCalendar() ([]any, error) {
	args, err := arguments[struct {
		Rule            CalendarTrigger
		Count, GasLimit uint64
		Payload         []byte
	}](c)
	if err != nil {
		return nil, err
	}
	if !states(args.Rule) {
		return nil, types.ErrUnsupportedTimerType.Wrapf("%s: the first argument is 0", c.method.Name)
	}
	return c.addCallback(Trigger{Calendar: args.Rule}, args.Count, args.GasLimit, args.Payload)
}

// addCallback schedules a callback that states no more.
func (c *invocation) addCallback(at Trigger, count, gasLimit uint64, payload []byte) ([]any, error) {
	spec, err := callback(at, gasLimit, payload)
	if err != nil {
		return nil, err
	}
	spec.Repeat = Repeat{Remaining: count}.message()
	return c.add(spec)
}

func callback(at Trigger, gasLimit uint64, payload []byte) (spec types.TimerSpec, err error) {
	spec = types.TimerSpec{Call: types.TimerCall{Handler: HandlerCallback, Payload: payload}, GasLimit: gasLimit}
	spec.Trigger, err = at.message()
	return spec, err
}

// add schedules a timer of the caller's, and logs it.
func (c *invocation) add(spec types.TimerSpec) ([]any, error) {
	timer, err := c.timers.Schedule(c.ctx, keeper.ScheduleRequest{Actor: c.actor, Spec: spec})
	if err != nil {
		return nil, err
	}
	id := [32]byte(timer.Id)
	return []any{id}, c.log("TimerScheduled", id, timer.Due, seconds(timer.WaitsUntil()), timer.GasLimit)
}

// log adds an event of the precompile's, whose indexed fields are the timer and the caller.
func (c *invocation) log(name string, id [32]byte, values ...any) error {
	event := ABI.Events[name]
	data, err := event.Inputs.NonIndexed().Pack(values...)
	if err != nil {
		return err
	}
	c.evm.StateDB.AddLog(&ethtypes.Log{
		Address: Address, Data: data, BlockNumber: types.HeightOf(c.ctx),
		Topics: []common.Hash{event.ID, id, common.BytesToHash(c.caller.Bytes())},
	})
	return nil
}

// timerID is the timer that the first argument names: by its id, or by the name that the caller has given it.
func (c *invocation) timerID() ([32]byte, error) {
	name, is := c.args[0].(string)
	if !is {
		return c.args[0].([32]byte), nil //nolint:errcheck // the other type of the ABI
	}
	timer, err := c.timers.Engine().Records.Named(c.ctx, c.actor, c.actor, name)
	if err != nil {
		return [32]byte{}, err
	}
	return [32]byte(timer.Id), nil
}

// named are the timer of a message and its sender, also as text.
func (c *invocation) named() (id [32]byte, sender, text string, err error) {
	if id, err = c.timerID(); err != nil {
		return id, "", "", err
	}
	sender, err = c.text(c.caller)
	return id, sender, hex.EncodeToString(id[:]), err
}

// update names what it replaces as the message does. A call that states nothing and is not named is no callback.
func (c *invocation) update() ([]any, error) {
	args, err := arguments[struct {
		Id     [32]byte
		Name   string
		Spec   TimerSpec
		Fields []string
		IfSeq  uint64
	}](c)
	if err != nil {
		return nil, err
	}
	id, err := c.timerID()
	if err != nil {
		return nil, err
	}
	spec, err := args.Spec.message(c.addresses())
	if err != nil {
		return nil, err
	}
	if !slices.Contains(args.Fields, "call") && !states(args.Spec.Call) {
		spec.Call = types.TimerCall{}
	}
	timer, err := c.timers.Update(c.ctx, keeper.UpdateRequest{
		Actor: c.actor, ID: id[:], Spec: spec, Fields: args.Fields, IfSeq: args.IfSeq,
	})
	if err != nil {
		return nil, err
	}
	return []any{timer.Seq, timer.Due, seconds(timer.WaitsUntil())}, c.log("TimerChanged", id, "updated")
}

func (c *invocation) extend() ([]any, error) {
	id, sender, text, err := c.named()
	if err != nil {
		return nil, err
	}
	second := c.args[2].(uint64) //nolint:errcheck // the type of the ABI
	end, err := timeOf(second)
	if err != nil {
		return nil, err
	}
	response, err := c.server.ExtendTimer(c.ctx, &types.MsgExtendTimer{
		Sender: sender, Id: text, ExpiresAt: c.args[1].(uint64), ExpiresTime: end, //nolint:errcheck // the type of the ABI
	})
	if err != nil {
		return nil, err
	}
	return []any{response.ExpiresAt, seconds(response.ExpiresTime)}, c.log("TimerChanged", id, "extended")
}

func (c *invocation) pause() ([]any, error) {
	id, sender, text, err := c.named()
	if err != nil {
		return nil, err
	}
	if _, err := c.server.PauseTimer(c.ctx, &types.MsgPauseTimer{Sender: sender, Id: text}); err != nil {
		return nil, err
	}
	return []any{true}, c.log("TimerChanged", id, "paused")
}

func (c *invocation) resume() ([]any, error) {
	id, sender, text, err := c.named()
	if err != nil {
		return nil, err
	}
	response, err := c.server.ResumeTimer(c.ctx, &types.MsgResumeTimer{Sender: sender, Id: text})
	if err != nil {
		return nil, err
	}
	return []any{response.Due, seconds(response.DueTime)}, c.log("TimerChanged", id, "resumed")
}

func (c *invocation) skip() ([]any, error) {
	id, sender, text, err := c.named()
	if err != nil {
		return nil, err
	}
	count := c.args[1].(uint32) //nolint:errcheck // the type of the ABI
	response, err := c.server.SkipTimer(c.ctx, &types.MsgSkipTimer{Sender: sender, Id: text, Count: count})
	if err != nil {
		return nil, err
	}
	return []any{response.Due, seconds(response.DueTime)}, c.log("TimerChanged", id, "skipped")
}

func (c *invocation) runNow() ([]any, error) {
	id, sender, text, err := c.named()
	if err != nil {
		return nil, err
	}
	response, err := c.server.RunTimer(c.ctx, &types.MsgRunTimer{Sender: sender, Id: text})
	if err != nil {
		return nil, err
	}
	return []any{response.Due}, c.log("TimerChanged", id, "run")
}

func (c *invocation) cancel() ([]any, error) {
	id, err := c.timerID()
	if err != nil {
		return nil, err
	}
	return []any{true}, c.cancelOne(id)
}

// cancelOne cancels a timer of the caller's, and logs it.
func (c *invocation) cancelOne(id [32]byte) error {
	if err := c.timers.Cancel(c.ctx, c.actor, id[:]); err != nil {
		return err
	}
	return c.log("TimerCancelled", id)
}
