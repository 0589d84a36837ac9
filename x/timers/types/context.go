package types

import (
	"context"
	"encoding/hex"

	"github.com/cosmos/gogoproto/proto"

	"cosmossdk.io/core/address"
	errorsmod "cosmossdk.io/errors"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkerrors "github.com/cosmos/cosmos-sdk/types/errors"
)

// HeightOf is the height of the block that ctx belongs to.
func HeightOf(ctx context.Context) uint64 { return uint64(sdk.UnwrapSDKContext(ctx).BlockHeight()) }

// Unmetered is a context in which the store charges nothing: for reads and writes of which the cost must not depend on
// what they happen to meet, and is charged apart or covered by another charge.
func Unmetered(ctx context.Context) sdk.Context {
	unwrapped := sdk.UnwrapSDKContext(ctx)
	if counting, counts := unwrapped.GasMeter().(interface{ Unmetered() storetypes.GasMeter }); counts {
		return unwrapped.WithGasMeter(counting.Unmetered())
	}
	return unwrapped.WithGasMeter(storetypes.NewInfiniteGasMeter())
}

// Emit emits a typed event.
func Emit(ctx context.Context, event proto.Message) error {
	return sdk.UnwrapSDKContext(ctx).EventManager().EmitTypedEvent(event)
}

// CodeOf is how state and events keep an error: without its text, which may differ between nodes.
func CodeOf(err error) (codespace string, code uint32) {
	codespace, code, _ = errorsmod.ABCIInfo(err, false)
	return codespace, code
}

// Addresses reads and writes addresses as messages, events and queries show them.
type Addresses struct{ address.Codec }

// Text is the bech32 form of an address. The codec refuses only an empty address, which no timer has.
func (a Addresses) Text(addr sdk.AccAddress) string {
	text, err := a.BytesToString(addr)
	if err != nil {
		return hex.EncodeToString(addr)
	}
	return text
}

// Parse reads the address in a field of a message or a query.
func (a Addresses) Parse(field, text string) (sdk.AccAddress, error) {
	addr, err := a.StringToBytes(text)
	if err != nil {
		return nil, errorsmod.Wrapf(sdkerrors.ErrInvalidAddress, "%s %.120q: %v", field, text, err)
	}
	return addr, nil
}

// ParseName reads how messages name a timer: its actor and its whole id.
func (a Addresses) ParseName(field, actor, id string) (sdk.AccAddress, []byte, error) {
	addr, err := a.Parse(field, actor)
	if err != nil {
		return nil, nil, err
	}
	parsed, err := ParseTimerID(id)
	return addr, parsed, err
}
