package evmapp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"

	cmttypes "github.com/cometbft/cometbft/types"
	evmtypes "github.com/cosmos/evm/x/vm/types"
	"github.com/ethereum/go-ethereum/common"

	sdkmath "cosmossdk.io/math"

	simtestutil "github.com/cosmos/cosmos-sdk/testutil/sims"
	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
	stakingtypes "github.com/cosmos/cosmos-sdk/x/staking/types"

	"github.com/cosmos-timers/timers/evmbinding"
	timerstypes "github.com/cosmos-timers/timers/x/timers/types"
)

// Ether is 10^18 wei, a whole coin.
var Ether = new(big.Int).Exp(big.NewInt(10), big.NewInt(18), nil)

// Genesis is a state in which the given accounts, at least one, have 1,000 ether each, and the validators are bonded.
func (d *Description) Genesis(validators *cmttypes.ValidatorSet, funded []common.Address) (map[string]json.RawMessage, error) {
	accounts, balances := make([]authtypes.GenesisAccount, len(funded)), make([]banktypes.Balance, len(funded))
	funds := sdkmath.NewIntFromBigInt(Ether).MulRaw(1_000)
	for i, account := range funded {
		address := sdk.AccAddress(account.Bytes())
		accounts[i] = authtypes.NewBaseAccount(address, nil, uint64(i), 0)
		balances[i] = banktypes.Balance{Address: address.String(), Coins: sdk.NewCoins(sdk.NewCoin(Denom, funds))}
	}
	state, err := simtestutil.GenesisStateWithValSet(d.codec, d.basics.DefaultGenesis(d.codec), validators, accounts, balances...)
	if err != nil {
		return nil, err
	}

	var bankState banktypes.GenesisState
	d.codec.MustUnmarshalJSON(state[banktypes.ModuleName], &bankState)
	bankState.DenomMetadata = []banktypes.Metadata{{
		Base: Denom, Display: "example", Name: "Example", Symbol: "EXA",
		DenomUnits: []*banktypes.DenomUnit{{Denom: Denom}, {Denom: "example", Exponent: 18}},
	}}
	// The SDK's fixture gives the pool of bonded coins those of one validator.
	pool := authtypes.NewModuleAddress(stakingtypes.BondedPoolName).String()
	for i, balance := range bankState.Balances {
		if balance.Address == pool {
			bankState.Balances[i].Coins = balance.Coins.MulInt(sdkmath.NewInt(int64(validators.Size())))
		}
	}
	state[banktypes.ModuleName] = d.codec.MustMarshalJSON(&bankState)

	var evmState evmtypes.GenesisState
	d.codec.MustUnmarshalJSON(state[evmtypes.ModuleName], &evmState)
	evmState.Params.EvmDenom = Denom
	evmState.Params.ActiveStaticPrecompiles = []string{evmbinding.PRNGAddress.Hex(), evmbinding.HRC1215Address.Hex(), evmbinding.Address.Hex()}
	slices.Sort(evmState.Params.ActiveStaticPrecompiles)
	state[evmtypes.ModuleName] = d.codec.MustMarshalJSON(&evmState)

	// A fire may use more than the default of 250,000 cycles, as contracts do.
	capped, raised := []byte(`"max_cycles_per_fire_auction":"250000"`), []byte(`"max_cycles_per_fire_auction":"550000"`)
	if !bytes.Contains(state[timerstypes.ModuleName], capped) {
		return nil, fmt.Errorf("the genesis of timers lacks %s", capped)
	}
	var timers timerstypes.GenesisState
	d.codec.MustUnmarshalJSON(bytes.Replace(state[timerstypes.ModuleName], capped, raised, 1), &timers)
	timers.Config.DeniedMessages = evmbinding.UnmeteredMessages
	state[timerstypes.ModuleName] = d.codec.MustMarshalJSON(&timers)
	return state, nil
}
