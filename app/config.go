package app

import (
	"os"
	"path/filepath"

	sdk "github.com/cosmos/cosmos-sdk/types"
)

const (
	// Name of the chain's binary.
	Name = "timerd"
	// Bech32Prefix of the chain's addresses.
	Bech32Prefix = "timer"
	// FeeDenom is the smallest unit of the chain's one coin: fees, stake, and what timers pay.
	FeeDenom = "utmr"
	// DisplayDenom is the unit that people speak of: 10^DisplayExponent of FeeDenom.
	DisplayDenom    = "tmr"
	DisplayExponent = 6
)

// DefaultNodeHome is where a node keeps its files unless --home says otherwise.
var DefaultNodeHome = defaultNodeHome()

func defaultNodeHome() string {
	home, err := os.UserHomeDir()
	if err != nil {
		// Without a home directory the flag must name one; a relative default at least stays out of the root directory.
		return "." + Name
	}
	return filepath.Join(home, "."+Name)
}

// The SDK keeps addresses' prefixes and the bond denom in globals, which everything reads from the first line on.
func init() {
	config := sdk.GetConfig()
	config.SetBech32PrefixForAccount(Bech32Prefix, Bech32Prefix+sdk.PrefixPublic)
	config.SetBech32PrefixForValidator(Bech32Prefix+sdk.PrefixValidator+sdk.PrefixOperator,
		Bech32Prefix+sdk.PrefixValidator+sdk.PrefixOperator+sdk.PrefixPublic)
	config.SetBech32PrefixForConsensusNode(Bech32Prefix+sdk.PrefixValidator+sdk.PrefixConsensus,
		Bech32Prefix+sdk.PrefixValidator+sdk.PrefixConsensus+sdk.PrefixPublic)
	sdk.DefaultBondDenom = FeeDenom
}
