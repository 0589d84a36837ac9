package keeper_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
	"github.com/cosmos-timers/timers/x/timers/watch"
)

// openBank lets anybody send to every account.
type openBank struct{ types.BankKeeper }

func (openBank) BlockedAddr(sdk.AccAddress) bool { return false }

// TestNew_RefusesABankThatLetsAnybodySend: what the module's account has are locked bids, so that the chain names it among the
// bank's blocked addresses.
func TestNew_RefusesABankThatLetsAnybodySend(t *testing.T) {
	chain, err := lab.NewChain(lab.ChainOptions{})
	require.NoError(t, err)
	wire := func(bank types.BankKeeper) func() {
		return func() {
			service := watch.Ungassed(storetypes.NewKVStoreKey(types.StoreKey))
			timers.New(chain.Codec, service, chain.Accounts, bank, nil, chain.Messages, chain.Authority, keeper.WithFeeDenom(chain.FeeDenom))
		}
	}
	require.NotPanics(t, wire(chain.Bank))
	require.Panics(t, wire(openBank{chain.Bank}))
}
