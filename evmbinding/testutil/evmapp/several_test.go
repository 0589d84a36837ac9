package evmapp

import (
	"math/big"
	"testing"

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

// TestSponsor_PaysForTheTimersOfAnother: up to the limit, and until it takes the allowance back.
func TestSponsor_PaysForTheTimersOfAnother(t *testing.T) {
	c := chain(t)
	sponsor, poor := alarm(c), c.Deploy(alice, "Alarm", nil)
	byOther := func(o *Options) { o.FeePayer = sponsor.Address }
	after := trigger(func(t *Trigger) { t.AfterBlocks = 1 })
	result, _ := poor.Try(alice, "schedule", after, []byte{}, options(200_000, byOther))
	require.NotEmpty(t, result.VmError, "without an allowance")

	result, _ = sponsor.Try(alice, "sponsor", poor.Address, new(big.Int), uint64(0))
	require.Contains(t, Reason(result.Ret), "less than one unit")
	result, _ = sponsor.Try(alice, "sponsor", poor.Address, Ether, uint64(1))
	require.NotEmpty(t, result.VmError, "an end in the past")
	sponsor.Call(alice, "sponsor", poor.Address, new(big.Int).Div(Ether, big.NewInt(10)), c.Now()+1_000)
	result, _ = sponsor.Try(alice, "sponsor", poor.Address, Ether, uint64(0))
	require.NotEmpty(t, result.VmError, "one is there")

	before := c.Balance(sponsor.Address)
	poor.Call(alice, "schedule", after, []byte{}, options(200_000, byOther))
	fire := fired(c)
	require.True(t, fire.Success)
	paid, _ := new(big.Int).SetString(fire.Paid, 10)
	require.Positive(t, paid.Sign())
	require.Equal(t, new(big.Int).Sub(before, paid), c.Balance(sponsor.Address))
	require.Zero(t, c.Balance(poor.Address).Sign())

	sponsor.Call(alice, "unsponsor", poor.Address)
	result, _ = poor.Try(alice, "schedule", after, []byte{}, options(200_000, byOther))
	require.NotEmpty(t, result.VmError)
	result, _ = sponsor.Try(alice, "unsponsor", poor.Address)
	require.NotEmpty(t, result.VmError, "there is none")
	// More than the limit allows.
	sponsor.Call(alice, "sponsor", poor.Address, big.NewInt(1), uint64(0))
	poor.Try(alice, "schedule", after, []byte{}, options(200_000, byOther))
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
