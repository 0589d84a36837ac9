package app

import (
	wasmtypes "github.com/CosmWasm/wasmd/x/wasm/types"
	clienttypes "github.com/cosmos/ibc-go/v10/modules/core/02-client/types"
	channeltypes "github.com/cosmos/ibc-go/v10/modules/core/04-channel/types"
	channeltypesv2 "github.com/cosmos/ibc-go/v10/modules/core/04-channel/v2/types"
	ibcexported "github.com/cosmos/ibc-go/v10/modules/core/exported"

	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkerrors "github.com/cosmos/cosmos-sdk/types/errors"
)

// errNoIBC is what a contract's packet comes back with.
var errNoIBC = sdkerrors.ErrNotSupported.Wrap("this chain has no IBC")

// noIBC is IBC as x/wasm sees it on a chain that has none: there are no channels, and nothing can be sent. A chain with
// IBC passes its channel and transfer keepers instead.
type noIBC struct{}

var (
	_ wasmtypes.ChannelKeeper           = noIBC{}
	_ wasmtypes.ICS4Wrapper             = noIBC{}
	_ wasmtypes.ICS20TransferPortSource = noIBC{}
	_ wasmtypes.ChannelKeeperV2         = noIBC2{}
)

func (noIBC) GetChannel(sdk.Context, string, string) (channeltypes.Channel, bool) {
	return channeltypes.Channel{}, false
}

func (noIBC) GetNextSequenceSend(sdk.Context, string, string) (uint64, bool) { return 0, false }

func (noIBC) ChanCloseInit(sdk.Context, string, string) error { return errNoIBC }

func (noIBC) GetAllChannels(sdk.Context) []channeltypes.IdentifiedChannel { return nil }

func (noIBC) SetChannel(sdk.Context, string, string, channeltypes.Channel) {}

func (noIBC) GetAllChannelsWithPortPrefix(sdk.Context, string) []channeltypes.IdentifiedChannel {
	return nil
}

func (noIBC) SendPacket(sdk.Context, string, string, clienttypes.Height, uint64, []byte) (uint64, error) {
	return 0, errNoIBC
}

func (noIBC) WriteAcknowledgement(sdk.Context, ibcexported.PacketI, ibcexported.Acknowledgement) error {
	return errNoIBC
}

func (noIBC) GetPort(sdk.Context) string { return "" }

// noIBC2 is the same for IBC's second version.
type noIBC2 struct{}

func (noIBC2) WriteAcknowledgement(sdk.Context, string, uint64, channeltypesv2.Acknowledgement) error {
	return errNoIBC
}

func (noIBC2) GetAsyncPacket(sdk.Context, string, uint64) (channeltypesv2.Packet, bool) {
	return channeltypesv2.Packet{}, false
}
