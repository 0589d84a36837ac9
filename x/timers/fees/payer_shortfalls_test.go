package fees_test

import (
	"context"
	"errors"
	"testing"

	cmtproto "github.com/cometbft/cometbft/proto/tendermint/types"
	dbm "github.com/cosmos/cosmos-db"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/log"
	"cosmossdk.io/math"
	"cosmossdk.io/store"
	"cosmossdk.io/store/metrics"
	"cosmossdk.io/x/feegrant"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/fees"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// holding is a bank with one balance for all, and allowances up to a limit. It counts how often it is asked.
type holding struct {
	types.BankKeeper
	spendable, limit int64
	looks, probes    int
}

func (p *holding) GetBalance(_ context.Context, _ sdk.AccAddress, denom string) sdk.Coin {
	p.looks++
	return sdk.NewInt64Coin(denom, p.spendable)
}

func (p *holding) UseGrantedFees(_ context.Context, _, _ sdk.AccAddress, fee sdk.Coins, _ []sdk.Msg) error {
	p.probes++
	if fee.AmountOf("stake").GT(math.NewInt(p.limit)) {
		return errors.New("beyond the limit")
	}
	return nil
}

// GetAllowance returns one that names the module's message.
func (*holding) GetAllowance(context.Context, sdk.AccAddress, sdk.AccAddress) (feegrant.FeeAllowanceI, error) {
	return feegrant.NewAllowedMsgAllowance(&feegrant.BasicAllowance{}, []string{sdk.MsgTypeURL(&types.MsgScheduleTimer{})})
}

// noAccounts is a chain on which no payer has an account's record.
type noAccounts struct{ types.AccountKeeper }

func (noAccounts) GetAccount(context.Context, sdk.AccAddress) sdk.AccountI { return nil }

func newContext() sdk.Context {
	return sdk.NewContext(store.NewCommitMultiStore(dbm.NewMemDB(), log.NewNopLogger(), metrics.NewNoOpMetrics()), cmtproto.Header{}, false, log.NewNopLogger())
}

var (
	own       = &types.Timer{Actor: sdk.AccAddress("actor_______________")}
	sponsored = &types.Timer{Actor: sdk.AccAddress("actor_______________"), FeePayer: sdk.AccAddress("sponsor_____________")}
	another   = &types.Timer{Actor: sdk.AccAddress("another_____________"), FeePayer: sdk.AccAddress("sponsor_____________")}
)

func newPurse(spendable, limit int64) (*holding, *fees.Shortfalls) {
	p := &holding{spendable: spendable, limit: limit}
	return p, (&fees.Fees{Bank: p, Feegrant: p, Accounts: noAccounts{}}).
		Shortfalls(&types.TimerConfig{FeeDenom: "stake"})
}

// Rule: 5.2-one-look-up
func TestAPayerFoundShortIsLookedUpOnce(t *testing.T) {
	ctx := newContext()
	p, s := newPurse(100, 0)
	require.True(t, s.Covers(ctx, own, math.NewInt(100)))
	require.False(t, s.Known(own, math.NewInt(101)), "it was not found short yet")
	require.False(t, s.Covers(ctx, own, math.NewInt(101)))
	require.True(t, s.Known(own, math.NewInt(101)))
	require.False(t, s.Known(own, math.NewInt(100)), "a smaller amount may be covered")
	looks := p.looks
	require.Equal(t, 2, looks, "once for each of the amounts")
	for amount := range int64(50) {
		require.False(t, s.Covers(ctx, own, math.NewInt(101+amount)))
	}
	require.Equal(t, "100", s.Spendable(ctx, own.Payer()).String())
	require.Equal(t, looks, p.looks)

	p.spendable = 1_000
	require.False(t, s.Covers(ctx, own, math.NewInt(101)), "whoever pays it in must say so")
	s.ForgetPayer(sdk.AccAddress("somebody else_______"))
	require.True(t, s.Known(own, math.NewInt(101)))
	s.ForgetPayer(own.Payer())
	require.True(t, s.Covers(ctx, own, math.NewInt(101)))
}

// TestARefusedAllowanceIsProbedOnce: a refusal holds for the amount and the actor for which it was given.
func TestARefusedAllowanceIsProbedOnce(t *testing.T) {
	ctx := newContext()
	p, s := newPurse(1_000, 60)
	require.True(t, s.Covers(ctx, sponsored, math.NewInt(60)))
	require.False(t, s.Covers(ctx, sponsored, math.NewInt(61)))
	probes := p.probes
	require.True(t, s.Known(sponsored, math.NewInt(61)))
	require.False(t, s.Covers(ctx, sponsored, math.NewInt(61)))
	require.Equal(t, probes, p.probes)
	require.False(t, s.Known(sponsored, math.NewInt(62)))
	require.False(t, s.Known(another, math.NewInt(61)))
	require.False(t, s.Known(own, math.NewInt(61)))

	p.limit = 100
	s.Forget()
	require.True(t, s.Covers(ctx, sponsored, math.NewInt(61)))
	// A payer without funds is not asked for its allowance.
	p.spendable = 60
	s.Forget()
	probes = p.probes
	require.False(t, s.Covers(ctx, sponsored, math.NewInt(61)))
	require.True(t, s.Known(another, math.NewInt(61)), "its payer is the same")
	require.Equal(t, probes, p.probes)
}

// countedAccounts are no accounts, and count how often they are asked for one.
type countedAccounts struct {
	noAccounts
	asked int
}

func (c *countedAccounts) GetAccount(context.Context, sdk.AccAddress) sdk.AccountI {
	c.asked++
	return nil
}

// TestTheAccountOfAPayerWithNothingIsNotRead: a crowd of such payers costs the chain a look at each balance, and no more.
func TestTheAccountOfAPayerWithNothingIsNotRead(t *testing.T) {
	ctx, accounts := newContext(), &countedAccounts{}
	for _, c := range []struct {
		has, amount int64
		covers      bool
		asked       int
	}{{0, 1, false, 0}, {1, 2, false, 1}, {2, 2, true, 1}, {0, 0, true, 1}} {
		accounts.asked = 0
		p := &holding{spendable: c.has}
		s := (&fees.Fees{Bank: p, Feegrant: p, Accounts: accounts}).
			Shortfalls(&types.TimerConfig{FeeDenom: "stake"})
		require.Equal(t, c.covers, s.Covers(ctx, own, math.NewInt(c.amount)), "%+v", c)
		require.Equal(t, c.asked, accounts.asked, "%+v", c)
		require.Equal(t, math.NewInt(c.has), s.Spendable(ctx, own.Payer()), "%+v", c)
	}
}
