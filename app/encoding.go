package app

import (
	"fmt"

	"github.com/cosmos/gogoproto/proto"

	"cosmossdk.io/x/tx/signing"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/codec"
	"github.com/cosmos/cosmos-sdk/codec/address"
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	"github.com/cosmos/cosmos-sdk/std"
	sdk "github.com/cosmos/cosmos-sdk/types"
	authtx "github.com/cosmos/cosmos-sdk/x/auth/tx"
)

// Encoding is how the chain reads and writes messages.
type Encoding struct {
	Registry codectypes.InterfaceRegistry
	Codec    codec.Codec
	Amino    *codec.LegacyAmino
	TxConfig client.TxConfig
}

// newEncoding makes the codecs with the chain's address prefixes.
func newEncoding() Encoding {
	config := sdk.GetConfig()
	registry, err := codectypes.NewInterfaceRegistryWithOptions(codectypes.InterfaceRegistryOptions{
		ProtoFiles: proto.HybridResolver,
		SigningOptions: signing.Options{
			AddressCodec:          address.NewBech32Codec(config.GetBech32AccountAddrPrefix()),
			ValidatorAddressCodec: address.NewBech32Codec(config.GetBech32ValidatorAddrPrefix()),
		},
	})
	if err != nil {
		panic(fmt.Errorf("interface registry: %w", err))
	}
	cdc := codec.NewProtoCodec(registry)
	amino := codec.NewLegacyAmino()
	std.RegisterLegacyAminoCodec(amino)
	std.RegisterInterfaces(registry)
	return Encoding{Registry: registry, Codec: cdc, Amino: amino, TxConfig: authtx.NewTxConfig(cdc, authtx.DefaultSignModes)}
}
