package actors

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"strings"

	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/baseapp"
	"github.com/cosmos/cosmos-sdk/codec"
	"github.com/cosmos/cosmos-sdk/codec/unknownproto"
	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkerrors "github.com/cosmos/cosmos-sdk/types/errors"

	"github.com/cosmos-timers/timers/x/timers/sandbox"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Accounts reports whether an account exists; the keeper of x/auth is one.
type Accounts interface {
	HasAccount(ctx context.Context, addr sdk.AccAddress) bool
}

// AccountRuntime serves accounts (x/timers/README.md, "1.3 Actor"). The payload is messages (Messages). The only handler
// is types.DefaultHandler.
type AccountRuntime struct {
	accounts Accounts
	messages *Messages
}

var _ types.MessageRuntime = (*AccountRuntime)(nil)

// NewAccountRuntime returns the runtime of accounts. Register it last: contracts and modules are accounts too.
func NewAccountRuntime(cdc codec.Codec, accounts Accounts, messages MessageRouter) *AccountRuntime {
	return &AccountRuntime{accounts, NewMessages(cdc, messages)}
}

// Name of the runtime in metrics.
func (*AccountRuntime) Name() string { return "account" }

// Serves implements types.Runtime: whether the account exists.
func (r *AccountRuntime) Serves(ctx context.Context, actor sdk.AccAddress) bool {
	return r.accounts.HasAccount(ctx, actor)
}

// RunsMessages implements types.MessageRuntime: accounts run nothing else.
func (*AccountRuntime) RunsMessages(types.Call) bool { return true }

// MessageBytes implements types.MessageRuntime.
func (r *AccountRuntime) MessageBytes(call types.Call) (uint64, error) { return r.messages.Bytes(call) }

// Validate implements types.Runtime. Errors are those of Messages.Validate.
func (r *AccountRuntime) Validate(_ context.Context, config *types.TimerConfig, call types.Call) error {
	return r.messages.Validate(config, call)
}

// Deliver implements types.Runtime. Errors are those of Messages.Run.
func (r *AccountRuntime) Deliver(ctx context.Context, config *types.TimerConfig, delivery types.Delivery) error {
	return r.messages.Run(ctx, config, delivery.Call)
}

// Deployer implements types.Runtime: the account itself, since accounts are not deployed.
func (*AccountRuntime) Deployer(_ context.Context, actor sdk.AccAddress) sdk.AccAddress { return actor }

const (
	// maxMessages bounds the messages of one payload, nested ones included. Each costs a signer check and a routing
	// before any gas is charged for it.
	maxMessages = 128
	// maxNesting bounds messages that carry messages.
	maxNesting = 4
)

// MessageRouter finds the handler of a message; the app's MsgServiceRouter is one.
type MessageRouter interface {
	Handler(msg sdk.Msg) baseapp.MsgServiceHandler
}

// Messages run SDK messages as an actor. The payload is a types.AccountPayload: messages whose only signer is the actor, at
// most 128 with those nested in others, on at most four levels. They run in order and atomically, through the chain's
// message router. They pass no ante handler. The parameters allowed_messages and denied_messages say which types may run,
// nested ones included, when the timer is scheduled and again when it fires.
type Messages struct {
	cdc     codec.Codec
	router  MessageRouter
	checked *verdicts
}

// NewMessages runs messages through the router, which is the app's.
func NewMessages(cdc codec.Codec, router MessageRouter) *Messages {
	return &Messages{cdc, router, newVerdicts(rememberedBytes)}
}

// Validate checks the messages of a call. Errors are ErrInvalidHandler, ErrInvalidPayload, ErrMessageNotAllowed and
// ErrForeignSigner of package types. That they are no longer than MAX_MESSAGES_BYTES is checked before: what they count as
// is charged by then.
func (m *Messages) Validate(config *types.TimerConfig, call types.Call) error {
	_, err := m.decode(config, call)
	return err
}

// Run checks the payload as Validate does, and runs the messages. Their events are kept if all of them succeed. An error
// is that of the first message that fails.
func (m *Messages) Run(ctx context.Context, config *types.TimerConfig, call types.Call) error {
	msgs, err := m.decode(config, call)
	if err != nil {
		return err
	}
	sdkCtx := sandbox.WithFire(ctx, nil)
	for i, msg := range msgs {
		result, err := m.router.Handler(msg)(sdkCtx, msg)
		if err != nil {
			return &failedMessage{err, msgs[:i+1]}
		}
		sdkCtx.EventManager().EmitEvents(result.GetEvents())
	}
	return nil
}

// failedMessage is the error of a message of a call, the last of those that it was run with.
type failedMessage struct {
	error
	msgs []sdk.Msg
}

var _ types.CoinsWanted = (*failedMessage)(nil)

// Cause and Unwrap are the message's own error.
func (f *failedMessage) Cause() error  { return f.error }
func (f *failedMessage) Unwrap() error { return f.error }

// CoinsWanted implements types.CoinsWanted. What the messages state is looked at once, coin by coin: they are anybody's.
func (f *failedMessage) CoinsWanted() (wanted []sdk.Coin) {
	if codespace, code := types.CodeOf(f.error); codespace != sdkerrors.RootCodespace || code != sdkerrors.ErrInsufficientFunds.ABCICode() {
		return nil
	}
	if inner, err := carried(f.msgs[len(f.msgs)-1]); err != nil || len(inner) > 0 {
		return nil
	}
	at := map[string]int{} // Looked up, never ranged over.
	for _, msg := range f.msgs {
		fields := reflect.Indirect(reflect.ValueOf(msg))
		if fields.Kind() != reflect.Struct {
			continue
		}
		for i := range fields.NumField() {
			for _, coin := range coinsIn(fields.Field(i)) {
				known, found := at[coin.Denom]
				switch {
				case coin.Validate() != nil:
				case !found:
					at[coin.Denom] = len(wanted)
					wanted = append(wanted, coin)
				default:
					wanted[known].Amount = sumOf(wanted[known].Amount, coin.Amount)
				}
			}
		}
	}
	return wanted
}

// sumOf is that of two amounts. One that is larger than any amount can be is the larger of them, which nobody has with the other.
func sumOf(a, b math.Int) math.Int {
	if sum, err := a.SafeAdd(b); err == nil {
		return sum
	}
	return math.MaxInt(a, b)
}

// coinsIn are the coins of a field.
func coinsIn(field reflect.Value) []sdk.Coin {
	if !field.CanInterface() {
		return nil
	}
	switch coins := field.Interface().(type) {
	case sdk.Coin:
		return []sdk.Coin{coins}
	case *sdk.Coin:
		if coins != nil {
			return []sdk.Coin{*coins}
		}
	case sdk.Coins:
		return coins
	case []sdk.Coin:
		return coins
	}
	return nil
}

// Bytes are what the messages of a call count as (types.MessageRuntime). It decodes nothing. Errors are ErrInvalidPayload
// and ErrMessageNotAllowed of package types.
func (m *Messages) Bytes(call types.Call) (uint64, error) {
	if known, found := m.checked.of(call.Payload); found {
		return known.weight, nil
	}
	shape, err := types.ScanPayload(call.Payload, func(typeURL []byte) error {
		if CheckedByAnte(string(typeURL)) {
			return errCheckedByAnte(string(typeURL))
		}
		return nil
	})
	if err != nil && !errors.Is(err, types.ErrMessageNotAllowed) {
		err = types.ErrInvalidPayload.Wrapf("want a timers.v1.AccountPayload: %.300s", err)
	}
	if err == nil {
		m.checked.put(call.Payload, verdict{weight: shape.Weight()})
	}
	return shape.Weight(), err
}

// CheckedByAnte reports whether messages of a type are checked in the chain's ante handlers alone: an Ethereum
// transaction carries the signature of another account, which its handler takes for checked. No timer runs them.
func CheckedByAnte(typeURL string) bool {
	return typeURL[strings.LastIndexAny(typeURL, "./")+1:] == "MsgEthereumTx"
}

func errCheckedByAnte(typeURL string) error {
	return types.ErrMessageNotAllowed.Wrapf("%.120s is checked in ante handlers alone, which no timer passes", typeURL)
}

// decode reads the payload and checks every message. It looks at the bytes before it decodes them. What has passed before,
// for this actor and under these lists of allowed types, is decoded alone: the messages are fresh, since handlers may
// change them.
func (m *Messages) decode(config *types.TimerConfig, call types.Call) ([]sdk.Msg, error) {
	if call.Handler != types.DefaultHandler {
		return nil, types.ErrInvalidHandler.Wrapf("messages are run by the handler %q alone, not by %.80q", types.DefaultHandler, call.Handler)
	}
	if known, _ := m.checked.of(call.Payload); known.passed(config, call.Actor) {
		return m.again(call.Payload)
	}
	weight, err := m.Bytes(call)
	if err != nil {
		return nil, err
	}
	// Unknown fields are rejected, as in a transaction: otherwise nodes that know different fields could disagree.
	if err := unknownproto.RejectUnknownFieldsStrict(call.Payload, &types.AccountPayload{}, m.cdc.InterfaceRegistry()); err != nil {
		return nil, types.ErrInvalidPayload.Wrap("want a timers.v1.AccountPayload")
	}
	msgs, err := m.unmarshal(call.Payload)
	if err != nil {
		return nil, err
	}
	if err := m.checkMessages(config, call.Actor, msgs); err != nil {
		return nil, err
	}
	m.checked.put(call.Payload, passedBy(config, call.Actor, weight))
	return msgs, nil
}

// unmarshal decodes the messages of a payload.
func (m *Messages) unmarshal(bz []byte) ([]sdk.Msg, error) {
	var payload types.AccountPayload
	if err := m.cdc.Unmarshal(bz, &payload); err != nil {
		return nil, types.ErrInvalidPayload.Wrap("want a timers.v1.AccountPayload")
	}
	if len(payload.Messages) == 0 {
		return nil, types.ErrInvalidPayload.Wrap("no messages")
	}
	msgs := make([]sdk.Msg, len(payload.Messages))
	for i, packed := range payload.Messages {
		msg, ok := packed.GetCachedValue().(sdk.Msg)
		if !ok {
			return nil, types.ErrInvalidPayload.Wrapf("message %d of type %.120q is not a message", i, packed.GetTypeUrl())
		}
		msgs[i] = msg
	}
	return msgs, nil
}

// again decodes the messages of a payload that passed before. That each of its types is registered as a message, and that it
// nests no deeper than may be, was found then.
func (m *Messages) again(bz []byte) ([]sdk.Msg, error) {
	var payload types.AccountPayload
	if err := payload.Unmarshal(bz); err != nil {
		return nil, types.ErrInvalidPayload.Wrap("want a timers.v1.AccountPayload")
	}
	msgs := make([]sdk.Msg, len(payload.Messages))
	for i, packed := range payload.Messages {
		msg, err := m.cdc.InterfaceRegistry().Resolve(packed.GetTypeUrl())
		if err == nil {
			err = m.cdc.Unmarshal(packed.GetValue(), msg)
		}
		if err != nil {
			return nil, types.ErrInvalidPayload.Wrapf("message %d of type %.120q does not decode", i, packed.GetTypeUrl())
		}
		msgs[i] = msg
	}
	return msgs, nil
}

// checkMessages checks each message of a payload, and the type of those that messages carry.
func (m *Messages) checkMessages(config *types.TimerConfig, actor sdk.AccAddress, msgs []sdk.Msg) error {
	left := maxMessages
	if err := checkAllowed(config, msgs, maxNesting, &left); err != nil {
		return err
	}
	for i, msg := range msgs {
		signers, _, err := m.cdc.GetMsgV1Signers(msg)
		if err != nil {
			return types.ErrInvalidPayload.Wrapf("message %d, %s: %s", i, sdk.MsgTypeURL(msg), types.ReasonOf(err))
		}
		if len(signers) != 1 || !bytes.Equal(signers[0], actor) {
			return types.ErrForeignSigner.Wrapf("message %d, %s: its only signer must be %s", i, sdk.MsgTypeURL(msg), actor)
		}
		if m.router.Handler(msg) == nil {
			return types.ErrInvalidPayload.Wrapf("message %d: no module handles %s", i, sdk.MsgTypeURL(msg))
		}
		if basic, ok := msg.(sdk.HasValidateBasic); ok {
			if err := basic.ValidateBasic(); err != nil {
				return types.ErrInvalidPayload.Wrapf("message %d, %s: %s", i, sdk.MsgTypeURL(msg), types.ReasonOf(err))
			}
		}
	}
	return nil
}

// carried returns the messages that a message carries: those that authz's MsgExec runs in its signer's name, and those
// of a proposal of x/gov or x/group.
func carried(msg sdk.Msg) ([]sdk.Msg, error) {
	switch outer := msg.(type) {
	case interface{ GetMessages() ([]sdk.Msg, error) }:
		return outer.GetMessages()
	case interface{ GetMsgs() ([]sdk.Msg, error) }:
		return outer.GetMsgs()
	default:
		return nil, nil
	}
}

// checkAllowed applies the config's lists, also to nested messages. Otherwise authz and proposals could be used to
// circumvent them.
func checkAllowed(config *types.TimerConfig, msgs []sdk.Msg, nesting int, left *int) error {
	if nesting == 0 {
		return types.ErrInvalidPayload.Wrapf("messages are nested more than %d deep", maxNesting)
	}
	for _, msg := range msgs {
		if *left--; *left < 0 {
			return types.ErrInvalidPayload.Wrapf("more than %d messages", maxMessages)
		}
		url := sdk.MsgTypeURL(msg)
		if CheckedByAnte(url) {
			return errCheckedByAnte(url)
		}
		if !config.MessageAllowed(url) {
			return types.ErrMessageNotAllowed.Wrap(url)
		}
		inner, err := carried(msg)
		if err != nil {
			return types.ErrInvalidPayload.Wrapf("%s: what it carries: %s", sdk.MsgTypeURL(msg), types.ReasonOf(err))
		}
		if len(inner) == 0 {
			continue
		}
		if err := checkAllowed(config, inner, nesting-1, left); err != nil {
			return err
		}
	}
	return nil
}

// FireMeter returns the meter of the fire that the context belongs to, if it belongs to one. It books what is consumed
// with the descriptor of written bytes as cells, all else as cycles (x/timers/README.md, "1.1 Units"). Code that runs a
// part of a handler on a meter of its own reports the two separately.
func FireMeter(ctx context.Context) (storetypes.GasMeter, bool) {
	fire := sandbox.ScopeOf(ctx).Fire
	return fire.Meter, fire.Meter != nil
}

// runsSudoOf reports whether the context belongs to a fire that runs the sudo of this contract.
func runsSudoOf(ctx context.Context, contract sdk.AccAddress) bool {
	return len(contract) > 0 && sandbox.ScopeOf(ctx).Fire.SudoOf.Equals(contract)
}
