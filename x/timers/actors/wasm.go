package actors

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// ContractKeeper calls a contract in the chain's name; wasmd's keeper is one.
type ContractKeeper interface {
	// Sudo calls the contract's privileged entry point. It does not undo what was written before it failed.
	Sudo(ctx context.Context, contract sdk.AccAddress, msg []byte) ([]byte, error)
}

// ContractView looks at contracts; wasmd's keeper is one.
type ContractView interface {
	HasContractInfo(ctx context.Context, contract sdk.AccAddress) bool
	// QuerySmart asks the contract, which can't write meanwhile.
	QuerySmart(ctx context.Context, contract sdk.AccAddress, req []byte) ([]byte, error)
}

// ContractCreator returns who instantiated a contract, or nothing if there is no such contract.
type ContractCreator func(ctx context.Context, contract sdk.AccAddress) sdk.AccAddress

// WasmRuntime serves CosmWasm contracts (x/timers/docs/use/contracts.md). The default handler is called with what is known
// of the delivery,
//
//	sudo {"handle_timer": {"timer_id", "deliver_id", "fire_seq", "height", "due", "trigger", "matched"?, "scheduler"?, "payload"}}
//
// any other by its name with the timer's payload unchanged, sudo {"<handler>": <payload>}. So contracts that were
// written without timers in mind can be called. A timer whose handler is "<handler>+delivery" calls the same handler with
// what is known of the delivery beside the payload,
//
//	sudo {"<handler>": {"delivery": {"timer_id", …}, "payload": <payload>}}
//
// Sudo is privileged: a contract trusts its caller. The module calls it only for timers that the contract itself
// scheduled, or its admin, who could migrate it.
//
// A timer that was stated as messages calls no code of the contract: they run as the contract (Messages).
type WasmRuntime struct {
	contracts ContractKeeper
	view      ContractView
	creator   ContractCreator
	admin     ContractAdmin
	messages  *Messages
	sudoCheck SudoCheck
	least     ContractLeast
}

var (
	_ types.MessageRuntime = (*WasmRuntime)(nil)
	_ types.AdminRuntime   = (*WasmRuntime)(nil)
	_ types.GasRuntime     = (*WasmRuntime)(nil)
)

// WasmOption adds what a chain may do without.
type WasmOption func(*WasmRuntime)

// WithMessages lets timers of contracts run messages. Without it messages are refused when they are scheduled.
func WithMessages(messages *Messages) WasmOption {
	return func(r *WasmRuntime) { r.messages = messages }
}

// ContractAdmin returns who may migrate a contract now, or nothing if no one may.
type ContractAdmin func(ctx context.Context, contract sdk.AccAddress) sdk.AccAddress

// WithAdmin lets the admins of contracts schedule calls of their sudo. Without it a contract schedules for itself alone.
func WithAdmin(admin ContractAdmin) WasmOption {
	return func(r *WasmRuntime) { r.admin = admin }
}

// SudoCheck returns an error unless the code of a contract has an entry point sudo. It charges what it reads to ctx.
type SudoCheck func(ctx context.Context, contract sdk.AccAddress) error

// WithSudoCheck checks, when a call of a contract is scheduled, that the contract can be called. A contract that schedules
// while its sudo runs in a fire has shown that it can. Without it such a call fails when it fires.
func WithSudoCheck(check SudoCheck) WasmOption {
	return func(r *WasmRuntime) { r.sudoCheck = check }
}

// ContractLeast returns the gas that a call of a contract with so many bytes takes before the contract's code begins. It charges
// what it reads to ctx.
type ContractLeast func(ctx context.Context, contract sdk.AccAddress, bytes int) uint64

// WithLeast refuses, when a call of a contract is scheduled, a gas limit with which the contract's code would never begin.
func WithLeast(least ContractLeast) WasmOption {
	return func(r *WasmRuntime) { r.least = least }
}

// NewWasmRuntime returns the runtime of contracts. Register it before the account runtime: a contract has an account
// too.
func NewWasmRuntime(contracts ContractKeeper, view ContractView, creator ContractCreator, options ...WasmOption) *WasmRuntime {
	r := &WasmRuntime{contracts: contracts, view: view, creator: creator}
	for _, option := range options {
		option(r)
	}
	return r
}

// Name of the runtime in metrics.
func (*WasmRuntime) Name() string { return "wasm" }

// Serves implements types.Runtime: whether there is such a contract.
func (r *WasmRuntime) Serves(ctx context.Context, actor sdk.AccAddress) bool {
	return r.view.HasContractInfo(ctx, actor)
}

// RunsMessages implements types.MessageRuntime: whether the call was stated as messages.
func (r *WasmRuntime) RunsMessages(call types.Call) bool { return call.Messages && r.messages != nil }

// MessageBytes implements types.MessageRuntime.
func (r *WasmRuntime) MessageBytes(call types.Call) (uint64, error) { return r.messages.Bytes(call) }

// Validate implements types.Runtime. Errors are ErrInvalidHandler and ErrInvalidPayload of package types, and those of
// Messages.Validate. Whether sudo knows the handler shows only when it fires, and so does that a contract was migrated.
func (r *WasmRuntime) Validate(ctx context.Context, config *types.TimerConfig, call types.Call) error {
	if call.Messages {
		return r.messages.Validate(config, call)
	}
	if _, err := sudoMessage(types.Delivery{Call: call}); err != nil {
		return err
	}
	if r.sudoCheck == nil || runsSudoOf(ctx, call.Actor) {
		return nil
	}
	return r.sudoCheck(ctx, call.Actor)
}

// Deliver implements types.Runtime. The error is the contract's, that of the first message that fails, or
// types.ErrActorGone if the contract no longer exists. The caller's sandbox undoes what was written before it failed.
func (r *WasmRuntime) Deliver(ctx context.Context, config *types.TimerConfig, delivery types.Delivery) error {
	if delivery.Messages {
		if r.messages == nil {
			return types.ErrInvalidPayload.Wrap("contracts of this chain run no messages any more")
		}
		return r.messages.Run(ctx, config, delivery.Call)
	}
	msg, err := sudoMessage(delivery)
	if err != nil {
		return err
	}
	if _, err = r.contracts.Sudo(sandbox.WithFire(ctx, delivery.Actor), delivery.Actor, msg); err == nil {
		return nil
	}
	// Checked only after a failure: a call that succeeds proves that the contract exists.
	if !r.view.HasContractInfo(ctx, delivery.Actor) {
		return types.ErrActorGone.Wrapf("there is no contract %s", delivery.Actor)
	}
	return err
}

// LeastCycles implements types.GasRuntime.
func (r *WasmRuntime) LeastCycles(ctx context.Context, call types.Call) (uint64, error) {
	if call.Messages || r.least == nil {
		return 0, nil
	}
	msg, err := sudoMessage(types.Delivery{Call: call})
	if err != nil {
		return 0, err
	}
	return r.least(ctx, call.Actor, len(msg)), nil
}

// Deployer implements types.Runtime: the address that instantiated the contract, or the contract itself if that is
// unknown.
func (r *WasmRuntime) Deployer(ctx context.Context, actor sdk.AccAddress) sdk.AccAddress {
	if creator := r.creator(ctx, actor); !creator.Empty() {
		return creator
	}
	return actor
}

// Admin implements types.AdminRuntime.
func (r *WasmRuntime) Admin(ctx context.Context, actor sdk.AccAddress) sdk.AccAddress {
	if r.admin == nil {
		return nil
	}
	return r.admin(ctx, actor)
}

// WithDelivery is the suffix by which the name of a contract's handler asks for the delivery beside the payload. No
// handler's own name has a plus sign.
const WithDelivery = "+delivery"

// deliveryFacts is what a contract is told of a delivery. The fields and their order are part of the protocol: a
// contract's gas depends on them.
type deliveryFacts struct {
	// TimerID and DeliverID in lower-case hexadecimal.
	TimerID   string `json:"timer_id"`
	DeliverID string `json:"deliver_id"`
	FireSeq   uint32 `json:"fire_seq"`
	Height    uint64 `json:"height"`
	// Due is the height at which the timer became due; the delivery is late if it is below Height.
	Due     uint64 `json:"due"`
	Trigger string `json:"trigger"`
	// Matched is absent unless the timer watches.
	Matched []matchedKey `json:"matched,omitempty"`
	// Scheduler is absent unless the contract's admin scheduled the timer.
	Scheduler string `json:"scheduler,omitempty"`
	// Occurrence and Index are absent unless the trigger has occurrences.
	Occurrence uint64 `json:"occurrence,omitempty"`
	Index      uint64 `json:"index,omitempty"`
}

// matchedKey is a key that changed: the name of its store, and its bytes in base64.
type matchedKey struct {
	Store string `json:"store"`
	Key   []byte `json:"key"`
}

// handleTimer is the message to the default handler.
type handleTimer struct {
	deliveryFacts
	// Payload in base64; "" if there is none.
	Payload []byte `json:"payload"`
}

func factsOf(delivery *types.Delivery) deliveryFacts {
	facts := deliveryFacts{
		TimerID: hex.EncodeToString(delivery.TimerID), DeliverID: hex.EncodeToString(delivery.DeliverID),
		FireSeq: delivery.FireSeq, Height: delivery.Height, Due: delivery.Due, Trigger: delivery.Trigger,
		Occurrence: delivery.Occurrence, Index: delivery.Index,
	}
	for _, match := range delivery.Matched {
		facts.Matched = append(facts.Matched, matchedKey{match.Store, match.Key})
	}
	if !delivery.Scheduler.Empty() {
		facts.Scheduler = delivery.Scheduler.String()
	}
	return facts
}

// sudoMessage builds the message for the contract's sudo entry point: one JSON object with the handler's name as its
// only member.
func sudoMessage(delivery types.Delivery) ([]byte, error) {
	if delivery.Handler == types.DefaultHandler {
		body, err := json.Marshal(handleTimer{factsOf(&delivery), append([]byte{}, delivery.Payload...)})
		return sudoCall(types.DefaultHandler, body), err
	}
	name, told := strings.CutSuffix(delivery.Handler, WithDelivery)
	switch {
	case !isHandlerName(name):
		return nil, types.ErrInvalidHandler.Wrapf(
			"a contract's handler is named with letters, digits and underscores, and begins with no digit; not %.80q", delivery.Handler)
	case told && name == types.DefaultHandler:
		return nil, types.ErrInvalidHandler.Wrapf("handler %q is told of the delivery without asking for it", name)
	case !json.Valid(delivery.Payload):
		return nil, types.ErrInvalidPayload.Wrapf(
			"the payload for a contract's handler %.80q must be JSON, {} if it wants nothing; handler %q alone takes any bytes",
			delivery.Handler, types.DefaultHandler)
	case !told:
		return sudoCall(name, delivery.Payload), nil
	}
	facts, err := json.Marshal(factsOf(&delivery))
	// The payload is copied as it is, and not through json.RawMessage, which would rewrite it.
	return sudoCall(name, slices.Concat([]byte(`{"delivery":`), facts, []byte(`,"payload":`), delivery.Payload, []byte("}"))), err
}

// sudoCall is {"name":body}.
func sudoCall(name string, body []byte) []byte {
	return slices.Concat([]byte(`{"`), []byte(name), []byte(`":`), body, []byte("}"))
}

// isHandlerName holds for names that JSON needs not escape and that a variant of a Rust enum can have.
func isHandlerName(name string) bool {
	for i := range len(name) {
		c := name[i]
		digit := '0' <= c && c <= '9'
		if c != '_' && !digit && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') || digit && i == 0 {
			return false
		}
	}
	return name != ""
}
