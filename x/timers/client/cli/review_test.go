package cli_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"
	"cosmossdk.io/x/feegrant"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// What would be left after the pre-charge is what a payment may take. Before, the dry run forgot it: "it would succeed", and
// the fire failed and was paid.
// Rule: 9.1-tried
func TestADryRunHoldsThePreCharge(t *testing.T) {
	r := newRig(t)
	r.Simulates(45_000)
	line := []string{"send", "bob", "9300stake", "--at", "500", "--gas-limit", "100000"}
	id := r.Schedule(400, 9300)
	r.Sends(r.Alice, r.Bob, 9_990_158)
	const want = "it would fail if it ran now, once the 800stake pre-charged are debited: spendable balance 9042stake is smaller than 9300stake: insufficient funds"
	require.ErrorContains(t, r.Refused(append([]string{"schedule"}, line...)...), want)
	require.ErrorContains(t, r.Refused("update", id, "--gas-limit", "100000"), want)
	require.ErrorContains(t, r.Refused("update", id, "--default-bid"), "stake pre-charged are debited: spendable balance ")
	_, notes := r.scheduleTx(append(line, "--generate-only", "--force")...)
	require.Contains(t, notes, "warning: "+want)

	// So with several messages, with this transaction's own fee, and for one that is put back.
	two := r.File("two.json", "["+r.JSON(r.Send(r.Alice, r.Bob, 9000))+","+r.JSON(r.Send(r.Alice, r.Bob, 300))+"]")
	require.ErrorContains(t, r.Refused("schedule", "--msgs", two, "--at", "500", "--gas-limit", "100000"), "once the 800stake pre-charged are debited")
	line[2] = "9000stake"
	_, notes = r.scheduleTx(append(line, "--generate-only")...)
	require.Contains(t, notes, "it would succeed if it ran now, the pre-charge debited\n")
	require.ErrorContains(t, r.Refused(append([]string{"schedule"}, append(line, "--fees", "50stake")...)...),
		"once the 800stake pre-charged and this transaction's fee of 50stake are debited: spendable balance 8992stake")
	require.ErrorContains(t, r.Refused(append([]string{"schedule"}, append(line, "--gas-prices", "0.0003stake")...)...), "fee of 60stake")
	_, _, err := r.Run("tx", "timers", "pause", id, "--from", "alice", "-y", "--wait")
	require.NoError(t, err)
	require.ErrorContains(t, r.Refused("resume", id), "it would fail if it ran now, once the 1100stake pre-charged are debited")

	// Where another pays for the fire, nothing of the signer's is held.
	r.allow(scheduling(t))
	line[2] = "9800stake"
	_, notes = r.scheduleTx(append(line, "--fee-payer", "bob", "--generate-only")...)
	require.Contains(t, notes, "it would succeed if it ran now\n")
}

// limited is an allowance for the scheduling of timers.
func limited(t *testing.T, allowance feegrant.FeeAllowanceI) feegrant.FeeAllowanceI {
	t.Helper()
	named, err := feegrant.NewAllowedMsgAllowance(allowance, []string{sdk.MsgTypeURL(&types.MsgScheduleTimer{})})
	require.NoError(t, err)
	return named
}

// What the allowance of a payer will not cover when the timer is due is told when the timer is scheduled.
// Rule: 9.1-allowance
func TestAnAllowanceIsAskedAsTheFireWillAskIt(t *testing.T) {
	stake := func(n int64) sdk.Coins { return sdk.NewCoins(sdk.NewInt64Coin("stake", n)) }
	at := func(seconds int64) *time.Time {
		moment := time.Unix(1_700_000_000+seconds, 0).UTC()
		return &moment
	}
	line := []string{"send", "bob", "5stake", "--at", "500", "--gas-limit", "100000", "--fee-payer", "bob"}
	for name, tc := range map[string]struct {
		allowance feegrant.FeeAllowanceI
		want      string
	}{
		"no limit":        {&feegrant.BasicAllowance{}, ""},
		"enough":          {&feegrant.BasicAllowance{SpendLimit: stake(800), Expiration: at(501)}, ""},
		"too little":      {&feegrant.BasicAllowance{SpendLimit: stake(100)}, "has granted alice covers 100stake by then, less than the 800stake pre-charged: the timer would not be run"},
		"of another coin": {&feegrant.BasicAllowance{SpendLimit: sdk.NewCoins(sdk.NewInt64Coin("other", 900))}, "covers 0stake by then"},
		"ends before":     {&feegrant.BasicAllowance{Expiration: at(499)}, "the fee allowance that bob has granted alice ends at 2023-11-14 22:21:39 +00:00, before the timer is due at about 2023-11-14 22:21:40 +00:00"},
		"period spent": {&feegrant.PeriodicAllowance{
			Period: time.Hour, PeriodSpendLimit: stake(900), PeriodCanSpend: stake(700), PeriodReset: *at(3_000),
		}, "covers 700stake of its period of 1h0m0s by then"},
		"period renewed by then": {&feegrant.PeriodicAllowance{
			Period: time.Minute, PeriodSpendLimit: stake(900), PeriodCanSpend: stake(700), PeriodReset: *at(400),
		}, ""},
		"period in all": {&feegrant.PeriodicAllowance{
			Basic: feegrant.BasicAllowance{SpendLimit: stake(300)}, Period: time.Minute, PeriodSpendLimit: stake(900), PeriodReset: *at(400),
		}, "covers 300stake of its period"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			require.NoError(t, r.Chain.BeginBlock())
			require.NoError(t, r.Chain.Feegrant.GrantAllowance(r.Chain.Ctx(), r.address(r.Bob), r.address(r.Alice), limited(t, tc.allowance)))
			require.NoError(t, r.End())
			if tc.want == "" {
				_, notes := r.scheduleTx(append(line, "--generate-only")...)
				require.NotContains(t, notes, "warning")
				return
			}
			require.ErrorContains(t, r.Refused(append([]string{"schedule"}, line...)...), tc.want)
			// The estimate tells it too, and so does an update.
			_, notes, err := r.Run("query", "timers", "estimate", "--gas-limit", "100000", "--actor", "alice", "--fee-payer", "bob", "--due", "500")
			require.NoError(t, err)
			require.Contains(t, notes, tc.want)
			if name == "of another coin" || name == "period in all" {
				return // The chain refuses it at once.
			}
			_, _, err = r.Run(append([]string{"tx", "timers", "schedule", "--from", "alice", "-y", "--wait", "--force"}, line...)...)
			require.NoError(t, err)
			require.ErrorContains(t, r.Refused("update", r.only(), "--gas-limit", "100001"), tc.want[:20])
			_, notes = r.Printed("update", r.only(), "--gas-limit", "100001", "--force")
			require.Contains(t, notes, "warning: ")
		})
	}
	// One that is too large to be read.
	r := newRig(t)
	urls := []string{sdk.MsgTypeURL(&types.MsgScheduleTimer{})}
	for range 60 {
		urls = append(urls, "/cosmos.bank.v1beta1.MsgSomethingThatIsLongEnough")
	}
	large, err := feegrant.NewAllowedMsgAllowance(&feegrant.BasicAllowance{}, urls)
	require.NoError(t, err)
	r.allow(large)
	require.ErrorContains(t, r.Refused(append([]string{"schedule"}, line...)...), "name fewer messages in it")
}

// only is the id of alice's one timer.
func (r *rig) only() string {
	r.T.Helper()
	out, _, err := r.Run("query", "timers", "list", "alice", "-o", "json")
	require.NoError(r.T, err)
	return regexp.MustCompile(`"id":"(\w+)"`).FindStringSubmatch(out)[1]
}

// How many fires fit is told, and more are refused.
// Rule: 9.1-promises
func TestScheduleKeepsWhatItPromises(t *testing.T) {
	r := newRig(t)
	line := []string{"schedule", "send", "bob", "5stake", "--gas-limit", "100000"}
	err := r.Refused(append(line, "--every", "2592000", "--count", "12")...)
	require.ErrorContains(t, err, "1 fits of 12 fires, 2,592,000 blocks apart: it ends at height 2592011 (2023-12-14 22:13:31 +00:00), the longest that a timer lives; extend it before that")
	err = r.Refused(append(line, "--every", "5", "--count", "10", "--expires-in", "22")...)
	require.ErrorContains(t, err, "4 fit of 10 fires, 5 blocks apart: it ends at height 32 (2023-11-14 22:13:52 +00:00), as stated")
	_, notes := r.scheduleTx(append(line[1:], "--every", "5", "--count", "10", "--expires-in", "22", "--force", "--generate-only")...)
	require.Contains(t, notes, "warning: 4 fit of 10 fires")
	_, notes = r.scheduleTx(append(line[1:], "--every", "5", "--count", "4", "--expires-in", "22", "--generate-only")...)
	require.NotContains(t, notes, "fit")
}

// What can't run is not scheduled by accident, whatever questions are answered beforehand.
// Rule: 9.1-objections, 9.1-force, 9.1-gas-limit
func TestWhatCannotRunIsRefused(t *testing.T) {
	r := newRig(t)
	r.Simulates(45_000)
	r.Sends(r.Alice, r.Bob, 1)
	for name, tc := range map[string]struct {
		line []string
		want string
	}{
		"more than there is": {[]string{"send", "bob", "50000000stake", "--at", "500"}, "it would fail if it ran now: spendable balance"},
		"max charge":         {[]string{"send", "bob", "5stake", "--at", "500", "--gas-limit", "100000", "--max-charge", "500stake"}, "--max-charge 500stake is less than the 800stake that one fire may cost now"},
		"a bid of no use":    {[]string{"send", "bob", "5stake", "--at", "500", "--bid", "500"}, "--bid has no use under policy eip1559"},
		"all at once": {
			[]string{"send", "bob", "50000000stake", "--every", "5", "--count", "10", "--expires-in", "22", "--bid", "500"},
			"4 fit of 10 fires, 5 blocks apart: it ends at height 33 (2023-11-14 22:13:53 +00:00), as stated; it would fail if it ran now: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			line := append([]string{"schedule"}, tc.line...)
			err := r.Refused(append(line, "-y")...)
			require.ErrorContains(t, err, tc.want)
			require.ErrorContains(t, err, ". Nothing was sent; --force sends it all the same")
			msg, notes := r.Printed(append(line, "--force")...)
			require.NotNil(t, msg)
			require.Contains(t, notes, "warning: ")
		})
	}
	_, notes := r.scheduleTx("send", "bob", "5stake", "--watch", "bank:balance:bob:stake", "--when", "> 5", "--watch", "bank:balance:bob:stake", "--when", "> 50000000", "--generate-only")
	require.Contains(t, notes, "bank:balance:bob:stake > 5 is true already: if it still is in the next block, the timer is due there")
	// The gas limit is what the messages need, unless it is stated.
	msg, notes := r.Printed("schedule", "send", "bob", "5stake", "--at", "500")
	require.Contains(t, notes, "--gas-limit auto: ")
	require.Less(t, scheduled(t, msg).Spec.GasLimit, uint64(150_000))
	require.NotZero(t, scheduled(t, msg).Spec.GasLimit)
}

const noPriceKnown = "no price of today is known, so that nothing bounds what one fire may cost: --max-charge would\n"

// never is what is said of the bound that scheduling states by itself.
func never(amount string) string {
	return "never costs more than " + amount + "stake a fire, ten times what it may cost today: above that it waits until prices fall " +
		"(--max-charge none removes the bound)\n"
}

// What others do to the price is bounded for who states nothing: 80 timers in each block drove what a fire could cost to 33,000
// times its price.
func TestSchedule_BoundsWhatAFireMayCost(t *testing.T) {
	r := newRig(t)
	r.Simulates(45_000)
	line := []string{"schedule", "send", "bob", "5stake", "--at", "500", "--gas-limit", "100000"}
	says := never("8000")
	msg, notes := r.Printed(line...)
	require.Equal(t, "8000", scheduled(t, msg).Spec.MaxCharge)
	require.Contains(t, notes, "pre-charges at most 800stake at the fire")
	require.Contains(t, notes, says)
	msg, _ = r.Printed(append(line, "--max-charge", "default")...)
	require.Equal(t, "8000", scheduled(t, msg).Spec.MaxCharge)
	for _, none := range []string{"none", "0", "0stake"} {
		msg, notes = r.Printed(append(line, "--max-charge", none)...)
		require.Equal(t, "0", scheduled(t, msg).Spec.MaxCharge, none)
		require.NotContains(t, notes, "never costs more")
	}
	msg, notes = r.Printed(append(line, "--max-charge", "900")...)
	require.Equal(t, "900", scheduled(t, msg).Spec.MaxCharge)
	require.NotContains(t, notes, "never costs more")

	// An update leaves it as it is, unless it is asked for.
	id := r.Schedule(400, 5)
	update, notes := r.Printed("update", id, "--gas-limit", "100000")
	require.Equal(t, []string{"gas_limit"}, updated(t, update).Fields)
	require.NotContains(t, notes, "never costs more")
	update, notes = r.Printed("update", id, "--gas-limit", "100000", "--max-charge", "default")
	require.Equal(t, "8000", updated(t, update).Spec.MaxCharge)
	require.Equal(t, []string{"gas_limit", "max_charge"}, updated(t, update).Fields)
	require.Contains(t, notes, says)
	update, _ = r.Printed("update", id, "--max-charge", "none")
	require.Equal(t, "0", updated(t, update).Spec.MaxCharge)
	require.Equal(t, []string{"max_charge"}, updated(t, update).Fields)

	// Where a fire costs nothing today, ten times that would be no bound: that which the timer has stays.
	r.Configure(func(c *types.TimerConfig) {
		zero := decimal.Of(math.LegacyZeroDec())
		c.Policy, c.CycleBasefee, c.CellBasefee = types.PolicyFIFO, zero, zero
	})
	update, _ = r.Printed("update", id, "--gas-limit", "100000", "--max-charge", "default")
	require.Equal(t, []string{"gas_limit"}, updated(t, update).Fields)
	require.Empty(t, updated(t, update).Spec.MaxCharge)
	r.Configure(func(*types.TimerConfig) {})

	// Without a node no price is known.
	offline := []string{"--at", "500", "--offline", "--account-number", "1", "--sequence", "1"}
	_, notes = r.Printed(append([]string{"schedule", "--payload", "00"}, offline...)...)
	require.Equal(t, noPriceKnown, notes)
}

// What is locked counts, since the bound counts it.
func TestSchedule_BoundHoldsTheBid(t *testing.T) {
	for policy, want := range map[types.Policy]string{types.PolicyAuction: "57000", types.PolicyScore: "57000", types.PolicyFIFO: "7000", types.PolicyTip: "7000"} {
		t.Run(policy.String(), func(t *testing.T) {
			r := newRig(t)
			r.Configure(func(c *types.TimerConfig) { c.Policy = policy })
			line := []string{"schedule", "send", "bob", "5stake", "--at", "500", "--gas-limit", "100000"}
			if policy == types.PolicyAuction || policy == types.PolicyScore {
				line = append(line, "--bid", "5000stake")
			}
			msg, notes := r.Printed(line...)
			require.Contains(t, notes, "never costs more than "+want+"stake a fire, ")
			require.Equal(t, want, scheduled(t, msg).Spec.MaxCharge)
		})
	}
}

// updated is a message that changes a timer.
func updated(t *testing.T, msg sdk.Msg) *types.MsgUpdateTimer {
	t.Helper()
	update, ok := msg.(*types.MsgUpdateTimer)
	require.True(t, ok)
	return update
}

// A balance lasts for what fires take from it, and not for their fees alone. Before, a rent of 2,000 from 6,000 lasted for 7 fires.
func TestFunds_LastForWhatMessagesMove(t *testing.T) {
	r := newRig(t)
	r.Simulates(45_000)
	r.Sends(r.Alice, r.Bob, 10_000_000-6_000)
	line := []string{"send", "bob", "2000stake", "--every", "1h", "--count", "12", "--gas-limit", "100000", "--name", "tight", "--generate-only"}
	const lasts = "alice's balance lasts for 2 fires at today's prices, until 2023-11-15 00:13:31 +00:00: the next, at 2023-11-15 01:13:31 +00:00, is not covered"
	msg, notes := r.scheduleTx(line...)
	require.Contains(t, notes, lasts)
	require.Contains(t, notes, "30 days cost at most 9600stake for 12 fires at today's prices, and move 24000stake\n")
	// So it is where no node tries it.
	r.send(msg)
	out, _, err := r.Run("query", "timers", "describe", "alice/tight")
	require.NoError(t, err)
	require.Contains(t, out, "alice's balance lasts for 2 fires at today's prices")
	out, _, err = r.Run("query", "timers", "list", "alice")
	require.NoError(t, err)
	require.Regexp(t, `tight .* RUNS DRY in 2`, out)
}

// Another coin runs out by itself, and is named.
func TestFunds_OfAnotherCoinAreNamed(t *testing.T) {
	r := newRig(t)
	r.names("zbb", "gold")
	_, notes := r.scheduleTx("send", "bob", "500000zbb", "--every", "1h", "--count", "12", "--gas-limit", "100000", "--generate-only", "--force")
	require.Contains(t, notes, "alice's balance of zbb lasts for no fire")
}
