package app

import (
	"fmt"
	"slices"

	"github.com/cosmos/gogoproto/proto"

	txsigning "cosmossdk.io/x/tx/signing"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/codec"
	"github.com/cosmos/cosmos-sdk/codec/address"
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	"github.com/cosmos/cosmos-sdk/std"
	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/tx/signing"
	authtx "github.com/cosmos/cosmos-sdk/x/auth/tx"
	authtxconfig "github.com/cosmos/cosmos-sdk/x/auth/tx/config"
)

// Encoding is how the chain reads and writes messages.
type Encoding struct {
	Registry codectypes.InterfaceRegistry
	Codec    codec.Codec
	Amino    *codec.LegacyAmino
	TxConfig client.TxConfig
}

// wireSigning adds mode textual to those in which transactions are signed: its screens show coins as the bank says that they
// are displayed.
func (app *App) wireSigning() (err error) {
	app.encoding.TxConfig, err = authtx.NewTxConfigWithOptions(app.encoding.Codec, authtx.ConfigOptions{
		EnabledSignModes:           append(slices.Clone(authtx.DefaultSignModes), signing.SignMode_SIGN_MODE_TEXTUAL),
		TextualCoinMetadataQueryFn: authtxconfig.NewBankKeeperCoinMetadataQueryFn(app.Bank),
	})
	return err
}

// newEncoding makes the codecs with the chain's address prefixes.
func newEncoding() Encoding {
	config := sdk.GetConfig()
	registry, err := codectypes.NewInterfaceRegistryWithOptions(codectypes.InterfaceRegistryOptions{
		ProtoFiles: proto.HybridResolver,
		SigningOptions: txsigning.Options{
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
