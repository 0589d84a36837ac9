package evmapp

import (
	"math"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/evmbinding"
	timerstypes "github.com/cosmos-timers/timers/x/timers/types"
)

// TestSeveral_ScheduledAndCancelledInOneCall: more than the twenty calls that a transaction may make, each with an id and a
// log of its own; all or none.
func TestSeveral_ScheduledAndCancelledInOneCall(t *testing.T) {
	c := chain(t)
	d := alarm(c)
	heights := make([]uint64, 25)
	for i := range heights {
		heights[i] = c.Height() + 100 + uint64(i)
	}
	block := d.Call(alice, "startEach", heights, uint64(200_000), []byte("one of many"))
	inReadme(t, "a transaction that schedules 25 callbacks in one call", c.Used)
	scheduled := map[common.Hash]bool{}
	for _, log := range c.Result(block.TxResults[0]).Logs {
		require.Equal(t, evmbinding.ABI.Events["TimerScheduled"].ID.Hex(), log.Topics[0])
		scheduled[common.HexToHash(log.Topics[1])] = true
	}
	require.Len(t, scheduled, len(heights))
	due := map[uint64]bool{}
	for _, timer := range c.TimersOf(d.Address) {
		require.True(t, scheduled[common.BytesToHash(timer.Id)])
		due[timer.Due] = true
	}
	for _, height := range heights {
		require.True(t, due[height])
	}
	kept := d.View("ids", big.NewInt(24))[0].([32]byte)
	require.True(t, scheduled[kept])
	d.Call(alice, "cancelIds")
	require.Empty(t, c.TimersOf(d.Address))
	// One that is gone: none is cancelled.
	d.Call(alice, "startEach", []uint64{c.Height() + 100, c.Height() + 101}, uint64(200_000), []byte{})
	d.Call(alice, "cancel", d.View("ids", big.NewInt(1))[0].([32]byte))
	result, _ := d.Try(alice, "cancelIds")
	require.NotEmpty(t, result.VmError)
	require.Len(t, c.TimersOf(d.Address), 1)
	d.Call(alice, "cancel", d.View("ids", big.NewInt(0))[0].([32]byte))

	// One in the past, or 0: none is scheduled.
	for _, bad := range []uint64{0, c.Height()} {
		result, block := d.Try(alice, "startEach", []uint64{c.Height() + 100, bad}, uint64(200_000), []byte{})
		require.NotEmpty(t, result.VmError)
		require.Empty(t, result.Logs)
		require.Empty(t, Events[*timerstypes.TimerScheduled](t, block))
		require.Empty(t, c.TimersOf(d.Address))
	}
	// By time: in the first blocks at or after the seconds.
	d.Call(alice, "startTimes", []uint64{c.Now() + 3, c.Now() + 4}, uint64(200_000), []byte{})
	c.Block()
	require.True(t, fired(c).Success)
	require.True(t, fired(c).Success)
	require.Equal(t, uint64(2), d.number("rings"))
}

// TestSeveral_BatchOfSpecs: each with its own, more than the calls that a transaction may make; all or none, and
// what is refused is named.
func TestSeveral_BatchOfSpecs(t *testing.T) {
	c := chain(t)
	p := puppet(c)
	second := c.Now() + 300
	specs := make([]Spec, 25)
	for i := range specs {
		specs[i] = spec(200_000, make([]byte, i), func(s *Spec) {
			s.OnUnfunded = uint8(timerstypes.OnUnfundedSuspend)
			switch i {
			case 0:
				s.Trigger.AfterBlocks = 300
			case 1:
				s.Trigger.Interval.Every, s.Repeat.Remaining = 50, 3
			case 2:
				s.Trigger.Time = second
			case 3:
				s.Trigger.Watch.Keys = []Watch{{Source: fromBalance, Target: p.Address}}
			default:
				s.Trigger.Height = c.Height() + 100 + uint64(i)
			}
		})
	}
	batch := func(specs []Spec) Step { return step(evmbinding.Address, pack(t, "scheduleBatch", specs)) }
	block := p.Call(alice, "run", []Step{batch(specs)})
	inReadme(t, "a transaction that schedules 25 callbacks with specs of their own", c.Used)
	logs := c.Result(block.TxResults[0]).Logs
	require.Len(t, logs, len(specs)+1, "with that of the puppet")
	byID := map[common.Hash]timerstypes.Timer{}
	for _, timer := range c.TimersOf(p.Address) {
		require.Equal(t, timerstypes.OnUnfundedSuspend, timer.Spec.OnUnfunded)
		byID[common.BytesToHash(timer.Id)] = timer
	}
	require.Len(t, byID, len(specs))
	for i := range specs {
		timer := byID[common.HexToHash(logs[i].Topics[1])]
		require.Len(t, timer.Spec.Call.Payload, i, "number %d", i)
		switch i {
		case 0:
			require.Equal(t, uint64(300), timer.Spec.Trigger.After)
		case 1:
			require.Equal(t, uint64(50), timer.Spec.Trigger.Interval.Every)
		case 2:
			require.Equal(t, second, uint64(timer.Spec.Trigger.Time.Unix()))
		case 3:
			require.Len(t, timer.Spec.Trigger.Watch.Keys, 1)
		default:
			require.Equal(t, specs[i].Trigger.Height, timer.Due)
		}
	}
	cancelAll(c, p)

	named := spec(200_000, nil, func(s *Spec) { s.Trigger.AfterBlocks, s.Name = 9, "of one timer" })
	for want, steps := range map[string]Step{
		"number 3 of the list: state a trigger": batch(append(slices.Clone(specs[:3]), spec(200_000, nil), specs[4])),
		"number 1 of the list: timer":           batch([]Spec{named, named}),
	} {
		result, block := p.Try(alice, "run", []Step{steps})
		require.Contains(t, string(p.outcomes(result)[0].Answer), want)
		require.Len(t, result.Logs, 1)
		require.Empty(t, Events[*timerstypes.TimerScheduled](t, block))
		require.Empty(t, c.TimersOf(p.Address))
	}
	p.Call(alice, "run", []Step{func() Step { s := batch(nil); s.Must = true; return s }()})
	require.Empty(t, c.TimersOf(p.Address))
}

// TestSeveral_CancelAll: the sender's timers of any kind, in the order of its list, and no one else's, as many as it states.
func TestSeveral_CancelAll(t *testing.T) {
	c := chain(t)
	p, other := puppet(c), alarm(c)
	other.Call(alice, "start", uint64(50), uint64(200_000), []byte{})
	all := func(most uint32) (uint32, []timerstypes.Timer) {
		result, _ := p.Try(alice, "run", []Step{step(evmbinding.Address, pack(t, "cancelAll", most), must)})
		require.Empty(t, result.VmError)
		values, err := evmbinding.ABI.Unpack("cancelAll", p.outcomes(result)[0].Answer)
		require.NoError(t, err)
		require.Len(t, result.Logs, int(values[0].(uint32))+1)
		return values[0].(uint32), c.TimersOf(p.Address)
	}
	cancelled, left := all(math.MaxUint32)
	require.Zero(t, cancelled)
	require.Empty(t, left)
	plain := func(s *Spec) { s.Trigger.AfterBlocks = 40 }
	kinds := func(s *Spec) { s.Trigger.Watch.Keys = []Watch{{Source: fromBalance, Target: bob.Address}} }
	p.Call(alice, "run", []Step{
		step(evmbinding.Address, pack(t, "scheduleAtTime", c.Now()+70, uint64(100_000), []byte{}), must),
		step(evmbinding.Address, pack(t, "scheduleAtHeights", []uint64{c.Height() + 60, c.Height() + 30}, uint64(100_000), []byte{}), must),
		step(evmbinding.Address, pack(t, "schedule", spec(100_000, nil, plain, callTo(bob.Address, new(big.Int), nil))), must),
		step(evmbinding.Address, pack(t, "schedule", spec(100_000, nil, kinds)), must),
	})
	was := c.TimersOf(p.Address)
	require.Len(t, was, 5)
	cancelled, left = all(0)
	require.Zero(t, cancelled)
	require.Equal(t, was, left)
	cancelled, left = all(2)
	require.Equal(t, uint32(2), cancelled)
	require.Equal(t, was[2:], left)
	cancelled, left = all(math.MaxUint32)
	require.Equal(t, uint32(3), cancelled)
	require.Empty(t, left)
	require.Len(t, c.TimersOf(other.Address), 1)
	cancelAll(c, other)
}

// TestAttack_BatchThatNamesOnePlaceAgainAndAgain: a short input whose 500 specs all are one with a payload of 60,000 bytes comes to 30
// million bytes. It is refused before it is decoded, for the price of what was counted.
func TestAttack_BatchThatNamesOnePlaceAgainAndAgain(t *testing.T) {
	c := chain(t)
	word := func(n int) []byte { return common.BigToHash(big.NewInt(int64(n))).Bytes() }
	const members, length = 500, 60_000
	selector := evmbinding.ABI.Methods["scheduleBatch"].ID
	// The place of the list, and so many specs in one place, which is that of the only one of a list as compilers write it.
	one := pack(t, "scheduleBatch", []Spec{spec(100_000, make([]byte, length))})
	data := slices.Concat(selector, word(32), word(members))
	for range members {
		data = append(data, word(32*members)...)
	}
	data = append(data, one[4+32+32+32:]...)
	before := time.Now()
	result := c.Result(c.Block(c.Sign(alice, 0, &evmbinding.Address, nil, txGas, data)).TxResults[0])
	t.Logf("%d bytes, refused with %q for %d gas, in %s", len(data), result.VmError, result.MaxUsedGas, time.Since(before))
	require.Contains(t, result.VmError, "out of gas")
	require.Equal(t, uint64(txGas), result.MaxUsedGas)
}

// TestAttack_CancelsAllWithLittleGas: without gas for all none is cancelled; in its own fire a timer that fires is among
// all, which it leaves as it does when it is cancelled by its id; in static and delegate calls it is refused.
func TestAttack_CancelsAllWithLittleGas(t *testing.T) {
	c := chain(t)
	p := puppet(c)
	heights := make([]uint64, 20)
	for i := range heights {
		heights[i] = c.Height() + 500
	}
	many := step(evmbinding.Address, pack(t, "scheduleAtHeights", heights, uint64(100_000), []byte{}), must)
	p.Call(alice, "run", []Step{many})
	all := step(evmbinding.Address, pack(t, "cancelAll", uint32(math.MaxUint32)))
	little := all
	little.GasLimit = big.NewInt(300_000)
	result, _ := p.Try(alice, "run", []Step{little})
	require.Empty(t, result.VmError)
	require.False(t, p.outcomes(result)[0].Ok)
	require.Len(t, result.Logs, 1)
	require.Len(t, c.TimersOf(p.Address), len(heights))
	p.Call(alice, "run", []Step{all})
	require.Empty(t, c.TimersOf(p.Address))

	// Its own, which repeats, and one that it has scheduled just before.
	mine := pack(t, "scheduleAfter", uint64(9), uint64(100_000), []byte{})
	payload := stepsOf(c, step(evmbinding.Address, mine, must), all, all)
	p.Call(alice, "run", []Step{step(evmbinding.Address, pack(t, "scheduleEvery", uint64(1), uint64(0), uint64(500_000), payload), must)})
	block := c.Block()
	fires := Events[*timerstypes.TimerFired](t, block)
	require.Len(t, fires, 1)
	require.True(t, fires[0].Success)
	_, _, fire := fireOf(c, block, fires[0].Id)
	did := p.outcomes(fire)
	require.Len(t, did, 3)
	for i, want := range []uint32{2, 0} {
		values, err := evmbinding.ABI.Unpack("cancelAll", did[i+1].Answer)
		require.NoError(t, err)
		require.Equal(t, want, values[0])
	}
	require.Empty(t, c.TimersOf(p.Address))
	require.Equal(t, uint64(1), p.number("fires"))
	none(c)

	d := alarm(c)
	d.Call(alice, "start", uint64(50), uint64(200_000), []byte{})
	batch := pack(t, "scheduleBatch", []Spec{spec(100_000, nil, func(s *Spec) { s.Trigger.AfterBlocks = 9 })})
	for _, data := range [][]byte{all.Data, batch} {
		for _, way := range []uint8{byStaticCall, byDelegateCall, withinStaticCall} {
			caught, reason := reasonOf(d, way, data)
			require.True(t, caught)
			require.Contains(t, reason, "write protection")
			require.Len(t, c.TimersOf(d.Address), 1)
		}
	}
	cancelAll(c, d)
}

// TestSponsor_PaysForTheTimersOfAnother: up to the limit, and until it takes the allowance back.
func TestSponsor_PaysForTheTimersOfAnother(t *testing.T) {
	c := chain(t)
	sponsor, poor := alarm(c), c.Deploy(alice, "Alarm", nil)
	byOther := func(s *Spec) { s.FeePayer = sponsor.Address }
	after := func(s *Spec) { s.Trigger.AfterBlocks = 1 }
	result, _ := poor.Try(alice, "schedule", spec(200_000, nil, after, byOther))
	require.NotEmpty(t, result.VmError, "without an allowance")

	result, _ = sponsor.Try(alice, "sponsor", poor.Address, new(big.Int), uint64(0))
	require.Contains(t, Reason(result.Ret), "less than one unit")
	result, _ = sponsor.Try(alice, "sponsor", poor.Address, Ether, uint64(1))
	require.NotEmpty(t, result.VmError, "an end in the past")
	sponsor.Call(alice, "sponsor", poor.Address, new(big.Int).Div(Ether, big.NewInt(10)), c.Now()+1_000)
	result, _ = sponsor.Try(alice, "sponsor", poor.Address, Ether, uint64(0))
	require.NotEmpty(t, result.VmError, "one is there")

	before := c.Balance(sponsor.Address)
	poor.Call(alice, "schedule", spec(200_000, nil, after, byOther))
	fire := fired(c)
	require.True(t, fire.Success)
	paid, _ := new(big.Int).SetString(fire.Paid, 10)
	require.Positive(t, paid.Sign())
	require.Equal(t, new(big.Int).Sub(before, paid), c.Balance(sponsor.Address))
	require.Zero(t, c.Balance(poor.Address).Sign())

	sponsor.Call(alice, "unsponsor", poor.Address)
	result, _ = poor.Try(alice, "schedule", spec(200_000, nil, after, byOther))
	require.NotEmpty(t, result.VmError)
	result, _ = sponsor.Try(alice, "unsponsor", poor.Address)
	require.NotEmpty(t, result.VmError, "there is none")
	// More than the limit allows.
	sponsor.Call(alice, "sponsor", poor.Address, big.NewInt(1), uint64(0))
	poor.Try(alice, "schedule", spec(200_000, nil, after, byOther))
	require.Empty(t, Events[*timerstypes.TimerFired](t, c.Block()))
	require.Zero(t, poor.number("rings")-1)
	require.Empty(t, c.TimersOf(poor.Address))
}

// TestLane_StatesPricesAndRoom as the module does.
func TestLane_StatesPricesAndRoom(t *testing.T) {
	c := chain(t)
	d := alarm(c)
	d.Call(alice, "start", uint64(1), uint64(200_000), []byte{})
	fire := fired(c)
	type answer struct {
		GasPrice, BytePrice, LaneFee, UsualTip *big.Int
		UsedGas, BlockGas, MaxGas              uint64
		Paused                                 bool
	}
	input, err := evmbinding.ABI.Pack("lane")
	require.NoError(t, err)
	values, err := evmbinding.ABI.Unpack("lane", c.Ask(evmbinding.Address, input))
	require.NoError(t, err)
	lane := abi.ConvertType(values[0], new(answer)).(*answer)
	require.Equal(t, fire.Cycles, lane.UsedGas)
	require.Equal(t, uint64(550_000), lane.MaxGas)
	require.GreaterOrEqual(t, lane.BlockGas, lane.MaxGas)
	require.False(t, lane.Paused)
	require.Positive(t, lane.GasPrice.Sign())
	require.Positive(t, lane.BytePrice.Sign())
	require.GreaterOrEqual(t, lane.LaneFee.Sign(), 0)
}
