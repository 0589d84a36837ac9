package keeper_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// long is a payload of so many bytes for a robot: longer than one that a record holds.
func (f *fixture) long(bytes int, fn script) []byte {
	payload := strings.Repeat("x", bytes)
	f.robots.scripts[payload] = fn
	return []byte(payload)
}

// emptyOutputs is a message that takes long to decode for its length.
func (f *fixture) emptyOutputs(from sdk.AccAddress, n int) []byte {
	return f.payload(&banktypes.MsgMultiSend{
		Inputs:  []banktypes.Input{{Address: from.String(), Coins: f.coins(1)}},
		Outputs: make([]banktypes.Output, n),
	})
}

// oneOutput are messages of so many bytes, which take little to decode.
func (f *fixture) oneOutput(from sdk.AccAddress, bytes int) []byte {
	payload := []byte(nil)
	for address := bytes; len(payload) != bytes; address -= len(payload) - bytes {
		payload = f.payload(&banktypes.MsgMultiSend{
			Inputs:  []banktypes.Input{{Address: from.String(), Coins: f.coins(1)}},
			Outputs: []banktypes.Output{{Address: strings.Repeat("x", address)}},
		})
	}
	return payload
}

// Rule: 1.1-intrinsic-counted, 1.11-small-account
func TestAFireCountsTheBytesOfItsPayload(t *testing.T) {
	f := newFixture(t, withConfig(plain))
	done := func(sdk.Context, types.Delivery) error { return nil }
	for _, bytes := range []int{1, 512, 513, 20_000} {
		height := f.Height() + 1
		f.schedule(robot, height, f.long(bytes, done))
		fired := only[*types.TimerFired](f, f.blocksUntil(height))
		require.True(t, fired.Success)
		require.Equal(t, uint64(20_000+3*bytes), fired.Cycles)
	}
}

// TestAFireCountsTheMessagesThatItDecodes: 1,000 empty outputs took 381 µs at each fire, as long as 15 transfers, for the
// 22,000 cycles of a fire that does nothing.
//
// Rule: 1.1-intrinsic-counted, 1.1-message-weight
func TestAFireCountsTheMessagesThatItDecodes(t *testing.T) {
	f := newFixture(t, withConfig(plain))
	payload := f.emptyOutputs(alice, 1_000)
	shape, err := types.ScanPayload(payload, func([]byte) error { return nil })
	require.NoError(t, err)
	require.Greater(t, shape.Weight(), uint64(16_000), "an empty output counts as 16 bytes")
	f.schedule(alice, 2, payload, limited(250_000))
	fired := only[*types.TimerFired](f, f.blocksUntil(2))
	require.False(t, fired.Success, "what it does is refused by x/bank")
	require.Greater(t, fired.Cycles, 20_000+3*uint64(len(payload))+10*shape.Weight())
	require.Less(t, fired.Cycles, 30_000+3*uint64(len(payload))+10*shape.Weight())
}

// Rule: 1.1-gas-limit-leaves-something, 1.2-payload
func TestTheGasLimitCoversWhatComesBeforeTheHandler(t *testing.T) {
	f := newFixture(t, withConfig(plain))
	done := func(sdk.Context, types.Delivery) error { return nil }
	payload := f.long(10_000, done)
	_, _, err := f.Tx(scheduleMsg(robot, 9, payload, limited(50_000)))
	require.ErrorIs(t, err, types.ErrGasLimitOutOfBounds)
	require.ErrorContains(t, err, "50000 cycles do not reach the handler")
	require.ErrorContains(t, err, "a payload of 10000 bytes")
	require.ErrorContains(t, err, "want at least 50001")
	id := f.schedule(robot, 2, payload, limited(50_001))
	update := func(change types.MsgUpdateTimer) *types.MsgUpdateTimer {
		change.Sender, change.Id = robot.String(), id
		return &change
	}
	f.refused(types.ErrGasLimitOutOfBounds, update(types.MsgUpdateTimer{Spec: types.TimerSpec{GasLimit: 50_000}, Fields: []string{"gas_limit"}}))
	f.refused(types.ErrGasLimitOutOfBounds, update(types.MsgUpdateTimer{Spec: types.TimerSpec{Call: types.TimerCall{Payload: f.long(10_001, done)}}, Fields: []string{"call"}}))
	f.refused(types.ErrGasLimitOutOfBounds, update(types.MsgUpdateTimer{Spec: types.TimerSpec{GasLimit: 40_000, Call: types.TimerCall{Payload: f.long(9_000, done)}}, Fields: []string{"gas_limit", "call"}}))
	require.True(t, only[*types.TimerFired](f, f.blocksUntil(2)).Success)

	messages := f.emptyOutputs(alice, 1_000)
	_, _, err = f.Tx(scheduleMsg(alice, 9, messages, limited(150_000)))
	require.ErrorIs(t, err, types.ErrGasLimitOutOfBounds)
}

// Rule: 1.1-gas-limit-outgrown
func TestGasLimit_ThePayersAccountOutgrowsIt(t *testing.T) {
	for name, c := range map[string]struct {
		bytes    int
		gasLimit uint64
	}{"in the record": {400, 60_000}, "at its own key": {100_000, 360_000}} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, withConfig(plain))
			ran := false
			payload := f.long(c.bytes, func(sdk.Context, types.Delivery) error {
				ran = true
				return nil
			})
			f.schedule(robot, 4, payload, limited(c.gasLimit))
			require.Greater(t, f.vests(robot, 40), uint64(800))
			fired := only[*types.TimerFired](f, f.blocksUntil(4))
			require.False(t, ran)
			require.False(t, fired.Success)
			require.Equal(t, types.ErrOutOfCycles.ABCICode(), fired.Code)
			require.Equal(t, fmt.Sprint(c.gasLimit), fired.Paid)
			require.Equal(t, int64(rich-c.gasLimit), f.balance(robot))
		})
	}
}

// TestSchedulingPaysForDecodingBeforeItDecodes: the transaction's meter is charged, also for messages that are refused.
//
// Rule: 3-payload-cost
func TestSchedulingPaysForDecodingBeforeItDecodes(t *testing.T) {
	for _, allowed := range []string{"*", "/cosmos.bank.v1beta1.MsgSend"} {
		f := newFixture(t)
		// As many bytes, which take longer to decode where they are many outputs.
		heavy := f.emptyOutputs(alice, 500)
		light := f.oneOutput(alice, len(heavy))
		require.Len(t, light, len(heavy))
		measure := func(payload []byte) (gas, weight uint64) {
			fresh := newFixture(t, withConfig(func(c *types.TimerConfig) { c.AllowedMessages = []string{allowed} }))
			_, gas, err := fresh.Tx(scheduleMsg(alice, 9, payload, limited(500_000)))
			require.Equal(t, allowed == "*", err == nil)
			shape, err := types.ScanPayload(payload, func([]byte) error { return nil })
			require.NoError(t, err)
			return gas, shape.Weight()
		}
		heavyGas, heavyWeight := measure(heavy)
		lightGas, lightWeight := measure(light)
		require.Greater(t, heavyWeight, 5*lightWeight)
		require.Equal(t, 10*(heavyWeight-lightWeight), heavyGas-lightGas)
	}
}

// Rule: 1.3-account
func TestMessagesAreBoundedInAll(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) { c.MaxCyclesPerFire = c.LaneTimerCycles }))
	most := int(market.MaxMessagesBytes)
	f.schedule(robot, 9, f.long(most+1, nil), limited(1_000_000))
	f.schedule(alice, 9, f.oneOutput(alice, most), limited(1_000_000))
	_, _, err := f.Tx(scheduleMsg(alice, 9, f.oneOutput(alice, most+1), limited(1_000_000)))
	require.ErrorIs(t, err, types.ErrPayloadTooLong)
	require.ErrorContains(t, err, "65537 bytes of messages, want at most 65536")
}
