package evmapp

import (
	"github.com/cosmos/evm/encoding"
	"github.com/cosmos/evm/x/erc20"
	"github.com/cosmos/evm/x/feemarket"
	evm "github.com/cosmos/evm/x/vm"

	feegrantmodule "cosmossdk.io/x/feegrant/module"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/codec"
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	"github.com/cosmos/cosmos-sdk/types/module"
	"github.com/cosmos/cosmos-sdk/x/auth"
	"github.com/cosmos/cosmos-sdk/x/bank"
	"github.com/cosmos/cosmos-sdk/x/consensus"
	distr "github.com/cosmos/cosmos-sdk/x/distribution"
	"github.com/cosmos/cosmos-sdk/x/staking"

	"github.com/cosmos-timers/timers/x/timers"
)

// Description is what is known of the chain without a state: its encodings and its modules.
type Description struct {
	codec    codec.Codec
	registry codectypes.InterfaceRegistry
	amino    *codec.LegacyAmino
	txConfig client.TxConfig
	basics   module.BasicManager
}

// Describe describes the chain.
func Describe() *Description {
	config := encoding.MakeConfig(EVMChainID)
	d := &Description{config.Codec, config.InterfaceRegistry, config.Amino, config.TxConfig, module.NewBasicManager(
		auth.AppModuleBasic{}, bank.AppModuleBasic{}, staking.AppModuleBasic{}, distr.AppModuleBasic{},
		feegrantmodule.AppModuleBasic{}, consensus.AppModuleBasic{},
		feemarket.AppModuleBasic{}, evm.AppModuleBasic{}, erc20.AppModuleBasic{}, timers.AppModule{},
	)}
	d.basics.RegisterInterfaces(d.registry)
	d.basics.RegisterLegacyAminoCodec(d.amino)
	return d
}

// ClientContext is a context for commands, without a node.
func (d *Description) ClientContext() client.Context {
	return client.Context{}.WithCodec(d.codec).WithInterfaceRegistry(d.registry).WithLegacyAmino(d.amino).WithTxConfig(d.txConfig)
}
