package keeper_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/types"
	"github.com/cosmos-timers/timers/x/timers/watch"
)

// openBank lets anybody send to every account.
type openBank struct{ types.BankKeeper }

func (openBank) BlockedAddr(sdk.AccAddress) bool { return false }

// TestNewKeeper_RefusesABankThatLetsAnybodySend: what the module's account has are locked bids, so that the chain names it among
// the bank's blocked addresses.
func TestNewKeeper_RefusesABankThatLetsAnybodySend(t *testing.T) {
	f := newFixture(t)
	wire := func(bank types.BankKeeper) func() {
		return func() {
			keeper.NewKeeper(f.Codec, watch.Ungassed(storetypes.NewKVStoreKey(types.StoreKey)), f.Accounts.AddressCodec(), f.Accounts, bank, nil, f.Authority)
		}
	}
	require.NotPanics(t, wire(f.Bank))
	require.Panics(t, wire(openBank{f.Bank}))
}
