package evmapp

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"testing"

	abci "github.com/cometbft/cometbft/abci/types"
	evmtypes "github.com/cosmos/evm/x/vm/types"
	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/evmbinding"
	timerstypes "github.com/cosmos-timers/timers/x/timers/types"
)

var refusalsFile = flag.String("refusals", "", "a file to which what refused calls return is written, to compare it with that of another build")

// builtBy finds in a text what depends on the machine that built the node: the place of a file, or a version of a module.
var builtBy = regexp.MustCompile(`\.go:|@v[0-9]|\[/|` + regexp.QuoteMeta(sourceDir()))

// sourceDir is the directory of this file as the compiler was told.
func sourceDir() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(file)
}

// refusals are calls of the precompiles that are refused, each for another reason, of a caller with an ether, a timer, and an
// allowance that it has given to spender.
func refusals(t *testing.T, c *Chain, own [32]byte, spender common.Address) map[string]Step {
	t.Helper()
	after := func(s *Spec) { s.Trigger.AfterBlocks = 9 }
	schedule := func(at func(*Spec), change ...func(*Spec)) Step {
		return step(evmbinding.Address, pack(t, "schedule", spec(200_000, nil, append([]func(*Spec){at}, change...)...)))
	}
	watch := func(w Watch) func(*Spec) {
		return func(s *Spec) { s.Trigger.Watch.Keys = []Watch{w} }
	}
	ours := func(name string, args ...any) Step { return step(evmbinding.Address, pack(t, name, args...)) }
	return map[string]Step{
		"a payer who granted nothing":  schedule(after, func(s *Spec) { s.FeePayer = common.Address{7} }),
		"a payer that is a module":     schedule(after, func(s *Spec) { s.FeePayer = common.BytesToAddress(authtypes.NewModuleAddress("gov")) }),
		"a payer that is blocked":      schedule(after, func(s *Spec) { s.FeePayer = common.BytesToAddress(authtypes.NewModuleAddress("feemarket")) }),
		"a payer that is a precompile": schedule(after, func(s *Spec) { s.FeePayer = evmbinding.Address }),
		"a height in the past":         schedule(func(s *Spec) { s.Trigger.Height = 1 }),
		"no trigger":                   schedule(func(*Spec) {}),
		"too much gas":                 ours("schedule", spec(900_000_000, nil, after)),
		"a name that is too long":      schedule(after, func(s *Spec) { s.Name = string(make([]byte, 5_000)) }),
		"an end too soon":              schedule(after, func(s *Spec) { s.ExpiresAt = 2 }),
		"an unknown tier":              schedule(after, func(s *Spec) { s.Bid.Tier = 99 }),
		"a price above all": schedule(after, func(s *Spec) {
			s.Bid.StaticBid.MaxFeePerGas = new(big.Int).Lsh(big.NewInt(1), 250)
			s.Bid.StaticBid.MaxPriorityFeePerGas = big.NewInt(1)
		}),
		"retries of too many":                 schedule(after, func(s *Spec) { s.Retry.Max, s.Retry.Delay = 1<<31, 1 }),
		"a denom that is none":                schedule(watch(Watch{Source: fromCoin, Name: "1"})),
		"a store that is not watchable":       schedule(watch(Watch{Source: fromRaw, Name: "staking", Key: []byte{1}})),
		"a key that is none":                  schedule(watch(Watch{Source: fromRaw, Name: "bank", Key: []byte{2, 20, 1}})),
		"a condition that is none":            schedule(watch(Watch{Source: fromSlot, When: when(99, nil)})),
		"a condition on a region":             schedule(watch(Watch{Source: fromRaw, Name: banktypes.StoreKey, Key: banktypes.BalancesPrefix.Bytes(), When: when(greater, nil)})),
		"a source that is none":               schedule(watch(Watch{Source: 7})),
		"a calendar that is none":             schedule(func(s *Spec) { s.Trigger.Calendar.Every.Period, s.Trigger.Calendar.Every.Anchor = 1<<62, 1<<62 }),
		"a calendar of impossible days":       schedule(func(s *Spec) { s.Trigger.Calendar.Cron.DaySet, s.Trigger.Calendar.Cron.MonthSet = 1<<31, 1<<2 }),
		"an interval too long":                schedule(func(s *Spec) { s.Trigger.Interval.Every = 1 << 60 }),
		"a failure policy that is none":       schedule(func(s *Spec) { s.Trigger.Interval.Every, s.Repeat.OnFailure = 5, 99 }),
		"a rule for the missed that is none":  schedule(func(s *Spec) { s.Trigger.Interval = evmbinding.IntervalTrigger{Every: 5, From: 2}; s.Repeat.Missed = 9 }),
		"a bid of two kinds":                  schedule(after, func(s *Spec) { s.Bid.Tier, s.Bid.Agent = 1, spender }),
		"an agent that is none":               schedule(after, func(s *Spec) { s.Bid.Agent = spender }),
		"a policy without funds that is none": schedule(after, func(s *Spec) { s.OnUnfunded = 9 }),
		"an origin that is none":              schedule(func(s *Spec) { s.Trigger.Interval = evmbinding.IntervalTrigger{Every: 5, From: 9} }),
		"a handler that is none":              schedule(after, func(s *Spec) { s.Call.Handler = 2 }),
		"a backoff of too much":               schedule(after, func(s *Spec) { s.Retry = evmbinding.Retry{Max: 1, Delay: 1, Backoff: 99} }),
		"the last of heights":                 ours("scheduleAtHeights", []uint64{c.Height() + 90, 1}, uint64(200_000), []byte{}),
		"the last of times":                   ours("scheduleAtTimes", []uint64{c.Now() + 90, 0}, uint64(200_000), []byte{}),
		"the last of a batch":                 ours("scheduleBatch", []Spec{spec(200_000, nil, after), spec(200_000, nil, func(s *Spec) { s.Trigger.Height = 1 })}),
		"the last of those to cancel":         ours("cancelEach", [][32]byte{own, {}}),
		"a timer that is none":                ours("timer", spender, [32]byte{}),
		"occurrences of none":                 ours("occurrencesOf", spender, [32]byte{}, uint32(3)),
		"a cancel of none":                    ours("cancel", [32]byte{}),
		"a resume of what runs":               ours("resume", own),
		"an update of nothing":                ours("update", own, spec(0, nil), []string{}, uint64(0)),
		"an extension of nothing":             ours("extend", own, uint64(0), uint64(0)),
		"a skip of a one-shot":                ours("skip", own, uint32(1)),
		"a run of none":                       ours("run", [32]byte{1}),
		"a second allowance":                  ours("sponsor", spender, Ether, uint64(0)),
		"an allowance that ended":             ours("sponsor", common.Address{8}, Ether, uint64(1)),
		"an allowance of nothing":             ours("sponsor", common.Address{8}, new(big.Int), uint64(0)),
		"no allowance to take back":           ours("unsponsor", common.Address{9}),
		"an estimate of too much":             ours("estimate", uint64(1<<62), uint64(1<<62), new(big.Int), new(big.Int), uint8(0)),
		"an estimate by no tier":              ours("estimate", uint64(100_000), uint64(0), new(big.Int), new(big.Int), uint8(99)),
		"no function":                         step(evmbinding.Address, []byte{1, 2, 3, 4}),
		"arguments that are none":             step(evmbinding.Address, append(evmbinding.ABI.Methods["schedule"].ID, 1)),
		"value":                               step(evmbinding.Address, pack(t, "lane"), worth(1)),
		"no function of HIP-1215":             step(evmbinding.HRC1215Address, []byte{1, 2, 3, 4}),
		"arguments that HIP-1215 has not":     step(evmbinding.HRC1215Address, append(evmbinding.HRC1215.Methods["scheduleCall"].ID, 1)),
		"no function of the seed":             step(evmbinding.PRNGAddress, []byte{1, 2, 3, 4}),
	}
}

// TestRefusals_AreTheSameInEachBuild: what a refused call returns is a result, and a contract can store it. It has no text that
// differs between builds of one version, such as the path of a file. `make two-builds` compares the bytes of two builds.
func TestRefusals_AreTheSameInEachBuild(t *testing.T) {
	c, account := chain(t), AccountOf("dave")
	delegated(c, account)
	delegate(c, account, c.Deploy(alice, "Puppet", nil).Address)
	spender := AccountOf("spender of refusals").Address
	call := func(s Step) (*evmtypes.MsgEthereumTxResponse, *abci.ResponseFinalizeBlock) {
		block := c.Block(c.Sign(account, 0, &s.To, s.Value, txGas, s.Data))
		return c.Result(block.TxResults[0]), block
	}
	for _, data := range [][]byte{
		pack(t, "scheduleAfter", uint64(5_000), uint64(200_000), []byte{}), pack(t, "sponsor", spender, Ether, uint64(0)),
	} {
		result, _ := call(step(evmbinding.Address, data))
		require.Empty(t, result.VmError, Reason(result.Ret))
	}
	all := refusals(t, c, [32]byte(c.TimersOf(account.Address)[0].Id), spender)
	var text bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(all)) {
		result, block := call(all[name])
		require.NotEmpty(t, result.VmError, name)
		fmt.Fprintf(&text, "%s: %x\n", name, block.TxResults[0].Data)
		t.Logf("%s: %s", name, Reason(result.Ret))
		require.NotRegexp(t, builtBy, string(result.Ret), name)
		require.Empty(t, Events[*timerstypes.TimerScheduled](t, block), name)
	}
	require.Len(t, c.TimersOf(account.Address), 1)
	if *refusalsFile != "" {
		fmt.Fprintf(&text, "%x\n", c.LastCommitID().Hash)
		require.NoError(t, os.WriteFile(*refusalsFile, text.Bytes(), 0o600))
	}
	cancelAll(c, &Deployed{chain: c, Address: account.Address})
	result, _ := call(step(evmbinding.Address, pack(t, "unsponsor", spender)))
	require.Empty(t, result.VmError)
}

// TestRefusals_OfGasThatReachesNoCode: a gas limit with which the EVM would end before its first instruction is refused with
// the least that would do, and with that much the call begins.
func TestRefusals_OfGasThatReachesNoCode(t *testing.T) {
	c, account := chain(t), AccountOf("dave")
	d := delegated(c, account)
	delegate(c, account, c.Deploy(alice, "Puppet", nil).Address)
	send := func(data []byte) string {
		result := c.Result(c.Block(c.Sign(account, 0, &evmbinding.Address, nil, 1_000_000, data)).TxResults[0])
		if result.VmError == "" {
			return ""
		}
		return Reason(result.Ret)
	}
	for name, schedule := range map[string]func(gas uint64) []byte{
		"a callback": func(gas uint64) []byte { return pack(t, "scheduleAfter", uint64(1), gas, []byte{}) },
		"a long payload": func(gas uint64) []byte {
			return pack(t, "scheduleAfter", uint64(1), gas, bytes.Repeat([]byte{1}, 4_000))
		},
		"a call": func(gas uint64) []byte {
			return pack(t, "schedule", spec(gas, nil, func(s *Spec) { s.Trigger.AfterBlocks = 1 }, callTo(d.Address, new(big.Int), d.dataOf("fires"))))
		},
	} {
		const least = `the handler takes at least \d+; want at least (\d+): gas limit out of bounds`
		reason := send(schedule(40_000))
		require.Regexp(t, least, reason, name)
		gas, err := strconv.ParseUint(regexp.MustCompile(least).FindStringSubmatch(reason)[1], 10, 64)
		require.NoError(t, err)
		require.Regexp(t, least, send(schedule(gas-1)), name)
		require.Empty(t, c.TimersOf(account.Address), name)
		require.Empty(t, send(schedule(gas)), name)
		fire := fired(c)
		require.False(t, fire.Success, name)
		require.Equal(t, gas, fire.Cycles, "it takes all: %s", name)
		require.Equal(t, timerstypes.ErrOutOfCycles.ABCICode(), fire.Code, "it begins, and ends without gas: %s", name)
	}
}
