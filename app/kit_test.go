package app_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"

	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"
	minttypes "github.com/cosmos/cosmos-sdk/x/mint/types"

	"github.com/cosmos-timers/timers/testutil/appchain"
	"github.com/cosmos-timers/timers/testutil/contracts"
	timerskeeper "github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// The contracts of clients/rust/contracts, compiled, do on the chain what their timers promise. Their own tests run on
// the model of the module.

// market is a chain of which everybody has uusd and ubtc, in addition to the coin that fees are paid in.
type market struct {
	*appchain.Chain
	t *testing.T
}

// wealth is what each account has of uusd and ubtc at the start.
const wealth = 1_000_000

func newMarket(t *testing.T) *market {
	t.Helper()
	names := []string{"alice", "bob", "carol"}
	m := &market{appchain.New(t, names...), t}
	for _, name := range names {
		m.mint(appchain.AccountOf(name).Address, wealth, "uusd")
		m.mint(appchain.AccountOf(name).Address, wealth, "ubtc")
	}
	return m
}

func (m *market) mint(to sdk.AccAddress, amount int64, denom string) {
	m.t.Helper()
	coins := sdk.NewCoins(sdk.NewInt64Coin(denom, amount))
	require.NoError(m.t, m.App.Bank.MintCoins(m.Ctx(), minttypes.ModuleName, coins))
	require.NoError(m.t, m.App.Bank.SendCoinsFromModuleToAccount(m.Ctx(), minttypes.ModuleName, to, coins))
}

// has is a balance.
func (m *market) has(who sdk.AccAddress, denom string) int64 {
	return m.App.Bank.GetBalance(m.Ctx(), who, denom).Amount.Int64()
}

// gained is what an account has more than at the start.
func (m *market) gained(name, denom string) int64 {
	return m.has(appchain.AccountOf(name).Address, denom) - wealth
}

// start makes a contract of a code with funds, and gives it what its fires cost.
func (m *market) start(name string, code []byte, msg any, funds ...sdk.Coin) sdk.AccAddress {
	m.t.Helper()
	contract := m.InstantiateWith(name, m.StoreCode(name, code), msg, sdk.NewCoins(funds...))
	m.mint(contract, 10_000_000, "utmr")
	return contract
}

// call runs a block with a call of a contract, and returns the error's text, which is empty if there is none.
func (m *market) call(name string, contract sdk.AccAddress, msg any, funds ...sdk.Coin) string {
	m.t.Helper()
	call := m.ExecuteMsg(name, contract, msg)
	call.Funds = sdk.NewCoins(funds...)
	result := m.NextBlock(m.Sign(name, call)).TxResults[0]
	if result.Code == 0 {
		return ""
	}
	return result.Log
}

// fires runs blocks up to a height, and returns the fires of each in which there were any. All succeed.
func (m *market) fires(to uint64) map[uint64][]map[string]string {
	m.t.Helper()
	fires := map[uint64][]map[string]string{}
	for m.height() < to {
		m.note(fires, m.NextBlock())
	}
	return fires
}

func (m *market) note(fires map[uint64][]map[string]string, block *abci.ResponseFinalizeBlock) {
	m.t.Helper()
	for _, fired := range appchain.Events(block, "timers.v1.TimerFired") {
		require.Equal(m.t, "true", fired["success"], fired)
		fires[m.height()] = append(fires[m.height()], fired)
	}
}

func (m *market) height() uint64 { return uint64(m.App.LastBlockHeight()) }

// pause stops and restarts the lane, as governance would.
func (m *market) pause(paused bool) {
	m.t.Helper()
	config, err := m.App.Timers.Config(m.Ctx())
	require.NoError(m.t, err)
	config.LanePaused = paused
	msg, err := m.App.Timers.ReplaceConfig(m.Ctx(), config)
	require.NoError(m.t, err)
	_, err = timerskeeper.NewMsgServer(m.App.Timers).UpdateTimerConfig(m.Ctx(), msg)
	require.NoError(m.t, err)
}

// starve takes from a contract what it has for fires, but for 1, and feed gives it back.
func (m *market) starve(contract sdk.AccAddress) {
	m.t.Helper()
	rest := sdk.NewCoins(sdk.NewInt64Coin("utmr", m.has(contract, "utmr")-1))
	require.NoError(m.t, m.App.Bank.SendCoins(m.Ctx(), contract, appchain.AccountOf("carol").Address, rest))
}

func (m *market) feed(contract sdk.AccAddress) { m.mint(contract, 10_000_000, "utmr") }

// revives starves a contract up to a height at which its timer is due, feeds it, and has a stranger or its owner resume
// it: it fires in the block after the message. Whoever may not resume it is refused.
func (m *market) revives(due uint64, contract sdk.AccAddress, resume, by, mayNot string) {
	m.t.Helper()
	m.starve(contract)
	require.Empty(m.t, m.fires(due))
	suspended := func() bool {
		timers := timersOf(m.t, m.Chain, contract)
		require.Len(m.t, timers, 1)
		return timers[0].Status.HoldReason == types.Suspended
	}
	require.True(m.t, suspended())
	m.feed(contract)
	require.Empty(m.t, m.fires(m.height()+5), "money alone does not bring it back")
	if mayNot != "" {
		require.NotEmpty(m.t, m.call(mayNot, contract, resume))
		require.True(m.t, suspended())
	}
	require.Empty(m.t, m.call(by, contract, resume))
	require.Len(m.t, m.fires(m.height()+1), 1)
	require.NotEmpty(m.t, m.call(by, contract, resume), "it is not suspended any more")
}

func TestKit_ResumesWhatCouldNotBePaid(t *testing.T) {
	t.Run("subscription", func(t *testing.T) {
		m := newMarket(t)
		contract := m.start("alice", contracts.Subscription, `{"denom":"uusd","price":"100","period":9}`)
		require.Empty(t, m.call("bob", contract, `{"subscribe":{}}`, uusd(450)))
		m.revives(m.height()+9, contract, fmt.Sprintf(`{"resume":{"payer":%q}}`, address("bob")), "carol", "")
		require.Equal(t, int64(100), m.gained("alice", "uusd"))
	})
	t.Run("dca", func(t *testing.T) {
		m := newMarket(t)
		pool := m.start("alice", contracts.Pool, `{"pair":["uusd","ubtc"]}`, uusd(10_000), ubtc(10_000))
		dca := m.start("bob", contracts.DCA, map[string]any{
			"pool": pool.String(), "buy": "ubtc", "amount": "400", "min_rate": "0.9", "every": 9, "rounds": 6,
		}, uusd(3_000))
		m.revives(timersOf(t, m.Chain, dca)[0].Status.Due, dca, `{"resume":{}}`, "bob", "carol")
		require.Equal(t, int64(2_600), m.has(dca, "uusd"))
	})
	t.Run("auction", func(t *testing.T) {
		m := newMarket(t)
		auction := m.start("alice", contracts.Auction,
			`{"denom":"uusd","reserve":"1000","step":"100","duration":8,"extension":4}`, ubtc(7))
		require.Empty(t, m.call("bob", auction, `{"bid":{}}`, uusd(1_000)))
		m.revives(timersOf(t, m.Chain, auction)[0].Status.Due, auction, `{"resume":{}}`, "carol", "")
		require.Equal(t, [2]int64{1_000, 7}, [2]int64{m.gained("alice", "uusd"), m.gained("bob", "ubtc")})
	})
	t.Run("switch", func(t *testing.T) {
		m := newMarket(t)
		estate := m.start("alice", contracts.Switch,
			fmt.Sprintf(`{"heir":%q,"timeout":6,"denom":"uusd"}`, address("bob")), uusd(5_000))
		m.revives(timersOf(t, m.Chain, estate)[0].Status.Due, estate, `{"resume":{}}`, "carol", "")
		require.Equal(t, int64(5_000), m.gained("bob", "uusd"))
	})
	t.Run("vesting", func(t *testing.T) {
		m := newMarket(t)
		grant := m.start("alice", contracts.Vesting,
			fmt.Sprintf(`{"beneficiary":%q,"duration":400,"cliff":0,"every":9}`, address("bob")), uusd(4_000))
		due := timersOf(t, m.Chain, grant)[0].Status.Due
		m.revives(due, grant, `{"resume":{}}`, "carol", "")
		// Five blocks in which it had money, one with the message, and the fire in the one after.
		require.Equal(t, int64(10*(9+5+1+1)), m.gained("bob", "uusd"), "all that has vested")
	})
	t.Run("keeper", func(t *testing.T) {
		m := newMarket(t)
		vault := m.start("alice", contracts.Vault, `{}`)
		keeper := m.start("bob", contracts.Keeper, `{}`)
		keep := fmt.Sprintf(
			`{"keep":{"contract":%q,"msg":"eyJyZWZpbGwiOnt9fQ==","when":{"every":{"blocks":9}},"gas_limit":250000}}`,
			vault.String())
		require.Empty(t, m.call("bob", keeper, keep))
		require.Empty(t, m.call("alice", vault, `{"set":{"level":3}}`))
		timer := timersOf(t, m.Chain, keeper)[0]
		m.revives(timer.Status.Due, keeper, fmt.Sprintf(`{"resume":{"timer":%q}}`, timer.Id), "bob", "carol")
		var level int
		m.QueryContract(vault, `{}`, &level)
		require.Equal(t, 1_000, level)
	})
}

func uusd(amount int64) sdk.Coin { return sdk.NewInt64Coin("uusd", amount) }
func ubtc(amount int64) sdk.Coin { return sdk.NewInt64Coin("ubtc", amount) }

func TestSubscription_SettlesEachPeriodOnce(t *testing.T) {
	m := newMarket(t)
	contract := m.start("alice", contracts.Subscription, `{"denom":"uusd","price":"100","period":3}`)
	require.Contains(t, m.call("bob", contract, `{"subscribe":{}}`, uusd(99)), "does not cover a period")
	require.Empty(t, m.call("bob", contract, `{"subscribe":{}}`, uusd(450)))
	begun := m.height()
	id := timersOf(t, m.Chain, contract)[0].Id

	fires := m.fires(begun + 6)
	require.Len(t, fires, 2)
	require.Len(t, fires[begun+3], 1)
	require.Equal(t, int64(200), m.gained("alice", "uusd"))
	// The lane rests: what comes late is settled once, and the next period is a whole one.
	m.pause(true)
	require.Empty(t, m.fires(begun+16))
	m.pause(false)
	late := m.fires(begun + 20)
	require.Len(t, late, 2)
	require.Equal(t, int64(400), m.gained("alice", "uusd"))

	var settled [][2]any
	m.QueryContract(contract, fmt.Sprintf(`{"settled":{"timer":%q}}`, id), &settled)
	var want [][2]any
	for _, height := range []uint64{begun + 3, begun + 6, begun + 17, begun + 20} {
		for _, fired := range append(fires[height], late[height]...) {
			want = append(want, [2]any{float64(len(want) + 1), fired["deliver_id"]})
		}
	}
	require.Len(t, want, 4)
	require.Equal(t, want, settled, "a delivery for each period")

	// The deposit covers no more, so that it ends: the rest goes back.
	require.Len(t, m.fires(begun+30), 1)
	require.Equal(t, [2]int64{400, -400}, [2]int64{m.gained("alice", "uusd"), m.gained("bob", "uusd")})
	require.Zero(t, m.has(contract, "uusd"))
	require.Empty(t, timersOf(t, m.Chain, contract))
}

func TestDCA_BuysWithinItsSlippage(t *testing.T) {
	m := newMarket(t)
	pool := m.start("alice", contracts.Pool, `{"pair":["uusd","ubtc"]}`, uusd(10_000), ubtc(10_000))
	// At least 9 for 10, of a pool where 100 for 10,000 brings 99, then ever less.
	dca := m.start("bob", contracts.DCA, map[string]any{
		"pool": pool.String(), "buy": "ubtc", "amount": "400", "min_rate": "0.9", "every": 2, "rounds": 6,
	}, uusd(3_000))
	begun := m.height()
	// The reserves of a constant product, and what the rounds bring.
	usd, btc, bought, spent, refused := int64(10_000), int64(10_000), int64(0), int64(0), 0
	for round := uint64(1); round <= 6; round++ {
		if round == 5 { // somebody sells, and the price is good again
			require.Empty(t, m.call("carol", pool, `{"swap":{"min_out":"0"}}`, ubtc(3_000)))
			out := usd * 3_000 / (btc + 3_000)
			usd, btc = usd-out, btc+3_000
		}
		require.Len(t, m.fires(begun+2*round), 1)
		if out := btc * 400 / (usd + 400); out >= 360 {
			usd, btc, bought, spent = usd+400, btc-out, bought+out, spent+400
		} else {
			refused++
		}
		require.Equal(t, [4]int64{usd, btc, bought, 3_000 - spent},
			[4]int64{m.has(pool, "uusd"), m.has(pool, "ubtc"), m.has(dca, "ubtc"), m.has(dca, "uusd")}, "round %d", round)
	}
	require.Positive(t, refused)
	require.Less(t, refused, 5)
	var plan struct {
		Swaps   int `json:"swaps"`
		Refused int `json:"refused"`
	}
	m.QueryContract(dca, `{"plan":{}}`, &plan)
	require.Equal(t, [2]int{6 - refused, refused}, [2]int{plan.Swaps, plan.Refused})
	require.Empty(t, m.fires(begun+20), "six rounds")
	require.Empty(t, m.call("bob", dca, `{"stop":{}}`))
	require.Equal(t, [2]int64{bought, -spent}, [2]int64{m.gained("bob", "ubtc"), m.gained("bob", "uusd")})
}

func TestAuction_SettlesItself(t *testing.T) {
	m := newMarket(t)
	auction := m.start("alice", contracts.Auction,
		`{"denom":"uusd","reserve":"1000","step":"100","duration":8,"extension":4}`, ubtc(7))
	end := timersOf(t, m.Chain, auction)[0].Status.Due
	require.Contains(t, m.call("bob", auction, `{"bid":{}}`, uusd(999)), "bid at least 1000")
	require.Empty(t, m.call("bob", auction, `{"bid":{}}`, uusd(1_000)))
	require.Empty(t, m.fires(end-2))
	// A late bid, which pays back the one before it and extends the time.
	require.Empty(t, m.call("carol", auction, `{"bid":{}}`, uusd(1_100)))
	require.Zero(t, m.gained("bob", "uusd"))
	timers := timersOf(t, m.Chain, auction)
	require.Len(t, timers, 1, "in place of the earlier end")
	require.Equal(t, end-1+4, timers[0].Status.Due)
	end = timers[0].Status.Due
	require.Empty(t, m.fires(end-1))
	require.Contains(t, m.call("bob", auction, `{"settle":{}}`), "not over", "its last block's transactions run before it")
	require.Equal(t, end, m.height())
	require.Equal(t, [2]int64{1_100 /* alice's */, 0}, [2]int64{m.gained("alice", "uusd"), m.has(auction, "ubtc")})
	require.Equal(t, [2]int64{-1_100, 7}, [2]int64{m.gained("carol", "uusd"), m.gained("carol", "ubtc")})
	require.Contains(t, m.call("bob", auction, `{"bid":{}}`, uusd(9_000)), "over")
	require.Contains(t, m.call("bob", auction, `{"settle":{}}`), "it is settled")
	require.Empty(t, timersOf(t, m.Chain, auction))
}

func TestSwitch_FiresWhenItsOwnerIsGone(t *testing.T) {
	m := newMarket(t)
	estate := m.start("alice", contracts.Switch,
		fmt.Sprintf(`{"heir":%q,"timeout":5,"denom":"uusd"}`, address("bob")), uusd(5_000))
	require.Empty(t, m.fires(m.height()+3))
	require.Empty(t, m.call("alice", estate, `{"check_in":{}}`))
	require.Empty(t, m.call("alice", estate, `{"withdraw":{"amount":"500"}}`), "which is a check-in too")
	last := m.height()
	require.Len(t, timersOf(t, m.Chain, estate), 1)
	require.Contains(t, m.call("bob", estate, `{"claim":{}}`), "after the deadline")
	fires := m.fires(last + 9)
	require.Equal(t, []uint64{last + 5}, slices.Sorted(maps.Keys(fires)))
	require.Equal(t, [2]int64{4_500, -4_500}, [2]int64{m.gained("bob", "uusd"), m.gained("alice", "uusd")})
	require.Contains(t, m.call("alice", estate, `{"check_in":{}}`), "only "+address("bob")+" may")
	m.mint(estate, 40, "uusd")
	require.Empty(t, m.call("bob", estate, `{"withdraw":{"amount":"40"}}`))
	require.Equal(t, int64(4_540), m.gained("bob", "uusd"))
}

func TestVesting_CatchesUp(t *testing.T) {
	m := newMarket(t)
	grant := m.start("alice", contracts.Vesting,
		fmt.Sprintf(`{"beneficiary":%q,"duration":40,"cliff":10,"every":5}`, address("bob")), uusd(4_000))
	info := timersOf(t, m.Chain, grant)[0]
	begun := info.Status.Due - 5
	vested := func(height uint64) int64 { return int64(100 * min(height-begun, 40)) }

	require.Len(t, m.fires(begun+5), 1)
	require.Zero(t, m.gained("bob", "uusd"), "the cliff")
	require.Len(t, m.fires(begun+10), 1)
	require.Equal(t, vested(begun+10), m.gained("bob", "uusd"))
	// Three releases do not come: the lane rests.
	m.pause(true)
	require.Empty(t, m.fires(begun+27))
	require.Equal(t, vested(begun+10), m.gained("bob", "uusd"))
	m.pause(false)
	require.Len(t, m.fires(begun+28), 1)
	require.Equal(t, vested(begun+28), m.gained("bob", "uusd"), "one release catches up")
	// Anybody may ask for one; the next one releases the rest alone.
	require.Empty(t, m.call("carol", grant, `{"release":{}}`))
	require.Equal(t, vested(begun+29), m.gained("bob", "uusd"))
	require.NotEmpty(t, m.fires(begun+50))
	require.Equal(t, [2]int64{4_000, 0}, [2]int64{m.gained("bob", "uusd"), m.has(grant, "uusd")})
	require.Empty(t, timersOf(t, m.Chain, grant), "all has vested")
}

func TestKeeper_CallsAnotherContract(t *testing.T) {
	m := newMarket(t)
	vault := m.start("alice", contracts.Vault, `{}`)
	keeper := m.start("bob", contracts.Keeper, `{}`)
	keep := func(when string) string {
		t.Helper()
		before := len(timersOf(t, m.Chain, keeper))
		require.Empty(t, m.call("bob", keeper, fmt.Sprintf(
			`{"keep":{"contract":%q,"msg":"eyJyZWZpbGwiOnt9fQ==","when":%s,"gas_limit":250000}}`, vault.String(), when)))
		timers := timersOf(t, m.Chain, keeper)
		require.Len(t, timers, before+1)
		return timers[before].Id
	}
	job := func(timer string) (done [2]int) {
		t.Helper()
		var job struct {
			Done    int `json:"done"`
			Refused int `json:"refused"`
		}
		m.QueryContract(keeper, fmt.Sprintf(`{"job":{"timer":%q}}`, timer), &job)
		return [2]int{job.Done, job.Refused}
	}
	level := func() (level int) {
		m.QueryContract(vault, `{}`, &level)
		return level
	}
	set := func(level int) { require.Empty(t, m.call("alice", vault, `{"set":{"level":`+strconv.Itoa(level)+`}}`)) }

	// Every so many blocks, also when the vault refuses.
	every := keep(`{"every":{"blocks":4}}`)
	begun := m.height()
	set(3)
	require.Len(t, m.fires(begun+8), 2)
	require.Equal(t, [3]int{1_000, 1, 1}, [3]int{level(), job(every)[0], job(every)[1]})
	require.NotEmpty(t, m.call("carol", keeper, fmt.Sprintf(`{"drop":{"timer":%q}}`, every)), "not the owner")
	require.Empty(t, m.call("bob", keeper, fmt.Sprintf(`{"drop":{"timer":%q}}`, every)))
	require.Empty(t, m.fires(begun+14))

	// When what the vault stores falls below a bound: in the same block.
	below := keep(`{"below":{"key":"bGV2ZWw=","bound":"100","cooldown":1}}`)
	m.NextBlock()
	set(100)
	require.Equal(t, [2]int{}, job(below))
	set(99)
	require.Equal(t, [3]int{1_000, 1, 0}, [3]int{level(), job(below)[0], job(below)[1]})
	// What the call stored counts in the next block, whose transactions must leave it so: the number has to be seen above.
	m.NextBlock()
	set(5)
	require.Equal(t, [3]int{1_000, 2, 0}, [3]int{level(), job(below)[0], job(below)[1]})
}
