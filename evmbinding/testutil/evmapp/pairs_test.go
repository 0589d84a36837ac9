package evmapp

import (
	"encoding/hex"
	"math/big"
	"slices"
	"testing"

	"github.com/cosmos/evm/contracts"
	erc20types "github.com/cosmos/evm/x/erc20/types"
	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	sdkmath "cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/evmbinding"
	timerskeeper "github.com/cosmos-timers/timers/x/timers/keeper"
	timerstypes "github.com/cosmos-timers/timers/x/timers/types"
)

// coinPair is an ERC20 token that x/erc20 answers for, a coin of the bank, of which an account has an amount.
func coinPair(c *Chain, denom string, owner common.Address, amount int64) *Deployed {
	c.tb.Helper()
	pair := erc20types.TokenPair{
		Erc20Address: AccountOf("the token of " + denom).Address.Hex(), Denom: denom, Enabled: true,
		ContractOwner: erc20types.OWNER_MODULE,
	}
	coins := sdk.NewCoins(sdk.NewInt64Coin(denom, amount))
	c.Do(func(ctx sdk.Context) error {
		if err := c.ERC20.SetToken(ctx, pair); err != nil {
			return err
		}
		if err := c.ERC20.EnableDynamicPrecompile(ctx, pair.GetERC20Contract()); err != nil {
			return err
		}
		if err := c.Bank.MintCoins(ctx, erc20types.ModuleName, coins); err != nil {
			return err
		}
		return c.Bank.SendCoinsFromModuleToAccount(ctx, erc20types.ModuleName, owner.Bytes(), coins)
	})
	return &Deployed{c, pair.GetERC20Contract(), contracts.ERC20MinterBurnerDecimalsContract.ABI}
}

// hookedPair is a new token that calls others when it moves, as a pair of x/erc20, which anyone may make.
func hookedPair(c *Chain) *Deployed {
	c.tb.Helper()
	token := c.Deploy(alice, "HookedToken", nil)
	c.Do(c.sent(&erc20types.MsgRegisterERC20{
		Signer: sdk.AccAddress(alice.Address.Bytes()).String(), Erc20Addresses: []string{token.Address.Hex()},
	}))
	require.True(c.tb, c.ERC20.IsERC20Registered(c.Ctx(), token.Address))
	return token
}

// TestPairs_MoveInFires: a scheduled transfer of a coin by its ERC20 token, and one by a callback between two of the
// native coin, do in the bank what they say in the EVM; what reverts leaves nothing.
func TestPairs_MoveInFires(t *testing.T) {
	const denom = "pairedcoin"
	c := chain(t)
	a := newAttack(c)
	d, receiver := puppet(c), AccountOf("receiver of pairs").Address
	token := coinPair(c, denom, d.Address, 100)
	check := func(own, received int64) {
		t.Helper()
		for address, want := range map[common.Address]int64{d.Address: own, receiver: received} {
			require.Equal(t, want, c.Bank.GetBalance(c.Ctx(), address.Bytes(), denom).Amount.Int64())
			require.Equal(t, uint64(want), token.number("balanceOf", address))
		}
		require.Equal(t, int64(100), c.Bank.GetSupply(c.Ctx(), denom).Amount.Int64())
	}
	check(100, 0)
	pay := func(amount int64) []byte { return token.dataOf("transfer", receiver, big.NewInt(amount)) }
	fire, result, _ := a.run(d, 150_000, func(height uint64) []byte {
		at := func(s *Spec) { s.Trigger.Height = height }
		call := pack(t, "schedule", spec(150_000, nil, at, callTo(token.Address, new(big.Int), pay(7))))
		return d.dataOf("run", []Step{step(evmbinding.Address, call, must)})
	})
	require.True(t, fire.Success, fire)
	require.Len(t, result.Logs, 1)
	require.Equal(t, token.Address, common.HexToAddress(result.Logs[0].Address))
	check(93, 7)

	supply, native, before := c.supply(), c.Balance(receiver), c.Balance(d.Address)
	fire, _, _ = a.callback(d, 500_000,
		step(receiver, nil, worth(3), must), step(token.Address, pay(5), must), step(receiver, nil, worth(4), must))
	require.True(t, fire.Success, fire)
	check(88, 12)
	paid, ok := new(big.Int).SetString(fire.Paid, 10)
	require.True(t, ok)
	require.Equal(t, native.Add(native, big.NewInt(7)), c.Balance(receiver))
	require.Equal(t, before.Sub(before, paid.Add(paid, big.NewInt(7))), c.Balance(d.Address))
	require.Equal(t, 1, supply.Cmp(c.supply()), "charges are burned")

	fire, _, _ = a.callback(d, 500_000, step(token.Address, pay(1), must), step(token.Address, pay(1_000), must))
	require.False(t, fire.Success)
	check(88, 12)
	fire, result, _ = a.callback(d, 500_000, step(token.Address, pay(1_000)), step(token.Address, pay(2)))
	require.Equal(t, []bool{false, true}, d.succeeded(result))
	require.True(t, fire.Success)
	check(86, 14)
}

// TestPairs_AreEnteredAgainByAHook: a token of a pair moves in a scheduled call. Its hook lets a thief try to change
// the timer that fires, to move a coin's token, and to schedule. It acts for itself alone.
func TestPairs_AreEnteredAgainByAHook(t *testing.T) {
	const denom = "anotherpair"
	c := chain(t)
	a := newAttack(c)
	token, victim, thief := hookedPair(c), puppet(c), puppet(c)
	coin, thieves := coinPair(c, denom, victim.Address, 50), int64(2)
	share := coin.dataOf("transfer", thief.Address, big.NewInt(thieves))
	victim.Call(alice, "run", []Step{step(coin.Address, share, must)})
	token.Call(alice, "mint", thief.Address, big.NewInt(1))
	token.Call(alice, "mint", victim.Address, big.NewInt(100))
	for _, before := range []bool{true, false} {
		later := c.Height() + 5
		at := func(s *Spec) { s.Trigger.Interval.First, s.Trigger.Interval.Every, s.Repeat.Remaining = later, 100, 2 }
		pay := token.dataOf("transfer", thief.Address, big.NewInt(7))
		call := pack(t, "schedule", spec(550_000, nil, at, callTo(token.Address, new(big.Int), pay)))
		victim.Call(alice, "run", []Step{step(evmbinding.Address, call, must)})
		id := [32]byte(c.TimersOf(victim.Address)[0].Id)
		hook := Hook{thief.Address, big.NewInt(1), thief.dataOf("run", []Step{
			step(evmbinding.Address, pack(t, "cancel", id)),
			step(evmbinding.Address, pack(t, "scheduleAfter", uint64(2), uint64(100_000), []byte{})),
			step(coin.Address, coin.dataOf("transferFrom", victim.Address, thief.Address, big.NewInt(1))),
			step(coin.Address, coin.dataOf("transfer", victim.Address, big.NewInt(1))),
			step(token.Address, token.dataOf("transfer", victim.Address, big.NewInt(1))),
		})}
		if before {
			token.Call(alice, "hook", hook, noHook)
		} else {
			token.Call(alice, "hook", noHook, hook)
		}
		c.Block(a.scheduleOthers(later)...)
		for c.Height() < later-1 {
			c.Block()
		}
		block := c.Block()
		require.Len(t, Events[*timerstypes.TimerFired](t, block), 1+len(a.others))
		name, _, result := fireOf(c, block, hex.EncodeToString(id[:]))
		require.Equal(t, evmbinding.EventFire, name)
		require.Equal(t, []bool{false, true, false, true, true}, thief.succeeded(result), "before: %v", before)
		require.Len(t, c.TimersOf(victim.Address), 1)
		require.Len(t, c.TimersOf(thief.Address), 1)
		thieves--
		for d, want := range map[*Deployed]int64{victim: 50 - thieves, thief: thieves} {
			require.Equal(t, want, c.Bank.GetBalance(c.Ctx(), d.Address.Bytes(), denom).Amount.Int64())
		}
		cancelAll(c, victim, thief)
	}
	require.Equal(t, uint64(100-2*7+2*1), token.number("balanceOf", victim.Address))
	for _, d := range a.others {
		require.Equal(t, uint64(2), d.number("rings"))
	}
}

// TestAttack_ConvertsATokenThatEatsGas: x/erc20 calls a token with 25 million gas, which took 70 ms of a block for a
// fire of 300,000. Such messages are refused when they are scheduled, and in a fire whoever schedules them.
func TestAttack_ConvertsATokenThatEatsGas(t *testing.T) {
	c := chain(t)
	token, bomb := hookedPair(c), c.Deploy(alice, "Bomb", nil)
	token.Call(alice, "mint", bob.Address, big.NewInt(100))
	token.Call(alice, "hook", Hook{bomb.Address, big.NewInt(1), bomb.dataOf("eatAll")}, noHook)
	owner := sdk.AccAddress(bob.Address.Bytes())
	convert := &erc20types.MsgConvertERC20{
		ContractAddress: token.Address.Hex(), Amount: sdkmath.NewInt(7), Receiver: owner.String(), Sender: bob.Address.Hex(),
	}
	back := &erc20types.MsgConvertCoin{
		Coin: sdk.NewInt64Coin(erc20types.CreateDenom(token.Address.String()), 1), Receiver: bob.Address.Hex(),
		Sender: owner.String(),
	}
	register := &erc20types.MsgRegisterERC20{Signer: owner.String(), Erc20Addresses: []string{bomb.Address.Hex()}}
	all := map[string]sdk.Msg{"to a coin": convert, "to a token": back, "registers": register}
	for _, message := range all {
		require.Contains(t, evmbinding.UnmeteredMessages, sdk.MsgTypeURL(message))
	}
	require.Len(t, evmbinding.UnmeteredMessages, len(all))
	schedule := func(message sdk.Msg) (failure error) {
		c.Do(func(ctx sdk.Context) error {
			messages, err := timerskeeper.NewMessages(message)
			require.NoError(t, err)
			_, failure = c.Timers.Keeper.Schedule(ctx, timerskeeper.ScheduleRequest{
				Actor: owner, Spec: timerstypes.TimerSpec{
					Trigger: timerstypes.Trigger{After: 1}, Call: timerstypes.TimerCall{Messages: messages}, GasLimit: 300_000,
				},
			})
			return nil
		})
		return failure
	}
	for name, message := range all {
		require.ErrorIs(t, schedule(message), timerstypes.ErrMessageNotAllowed, name)
	}

	// A chain that does not name them in its config.
	deny := func(types []string) {
		c.Do(func(ctx sdk.Context) error {
			config, err := c.Timers.Keeper.Config(ctx)
			require.NoError(t, err)
			config.DeniedMessages = types
			return c.Timers.Keeper.Engine().Configs.SetNext(ctx, config)
		})
		c.Block()
	}
	deny(nil)
	for name, message := range all {
		require.NoError(t, schedule(message), name)
		fires := Events[*timerstypes.TimerFired](t, c.Block())
		require.Len(t, fires, 1)
		require.Equal(t, timerstypes.ErrMessageNotAllowed.ABCICode(), fires[0].Code, "%s: %s", name, fires[0])
		require.Less(t, fires[0].Cycles, uint64(60_000), name)
	}
	require.Equal(t, uint64(100), token.number("balanceOf", bob.Address))
	deny(slices.Clone(evmbinding.UnmeteredMessages))
}
