package keeper_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// perByte are the default prices of payloads and messages, which the fixture leaves out.
func perByte(c *types.TimerConfig) {
	plain(c)
	c.PayloadCyclesPerByte, c.MessageCyclesPerByte = 3, 10
}

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

// Rule: 1.1-intrinsic-counted, 1.11-small-account
func TestAFireCountsTheBytesOfItsPayload(t *testing.T) {
	f := newFixture(t, withConfig(perByte))
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
	f := newFixture(t, withConfig(perByte))
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
	f := newFixture(t, withConfig(perByte))
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
	f.refused(types.ErrGasLimitOutOfBounds, update(types.MsgUpdateTimer{GasLimit: 50_000}))
	f.refused(types.ErrGasLimitOutOfBounds, update(types.MsgUpdateTimer{Call: &types.TimerCall{Payload: f.long(10_001, done)}}))
	f.refused(types.ErrGasLimitOutOfBounds, update(types.MsgUpdateTimer{GasLimit: 40_000, Call: &types.TimerCall{Payload: f.long(9_000, done)}}))
	require.True(t, only[*types.TimerFired](f, f.blocksUntil(2)).Success)

	messages := f.emptyOutputs(alice, 1_000)
	_, _, err = f.Tx(scheduleMsg(alice, 9, messages, limited(150_000)))
	require.ErrorIs(t, err, types.ErrGasLimitOutOfBounds)
}

// Rule: 1.1-gas-limit-outgrown
func TestAGasLimitThatAConfigNoLongerCovers(t *testing.T) {
	for name, bytes := range map[string]int{"in the record": 400, "at its own key": 100_000} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, withConfig(plain))
			ran := false
			payload := f.long(bytes, func(sdk.Context, types.Delivery) error {
				ran = true
				return nil
			})
			f.schedule(robot, 4, payload, limited(60_000))
			f.setConfig(func(c *types.TimerConfig) { c.PayloadCyclesPerByte = 100 })
			fired := only[*types.TimerFired](f, f.blocksUntil(4))
			require.False(t, ran)
			require.False(t, fired.Success)
			require.Equal(t, types.ErrOutOfCycles.ABCICode(), fired.Code)
			require.Equal(t, "60000", fired.Paid)
			require.Equal(t, int64(rich-60_000), f.balance(robot))
		})
	}
}

// TestSchedulingPaysForDecodingBeforeItDecodes: the transaction's meter is charged, also for messages that are refused.
//
// Rule: 3-payload-cost
func TestSchedulingPaysForDecodingBeforeItDecodes(t *testing.T) {
	gasOf := func(cyclesPerByte uint64, allowed string) uint64 {
		f := newFixture(t, withConfig(func(c *types.TimerConfig) {
			c.MessageCyclesPerByte, c.AllowedMessages = cyclesPerByte, []string{allowed}
		}))
		_, gasUsed, err := f.Tx(scheduleMsg(alice, 9, f.emptyOutputs(alice, 500), limited(500_000)))
		require.Equal(t, allowed == "*", err == nil)
		return gasUsed
	}
	f := newFixture(t)
	shape, err := types.ScanPayload(f.emptyOutputs(alice, 500), func([]byte) error { return nil })
	require.NoError(t, err)
	for _, allowed := range []string{"*", "/cosmos.bank.v1beta1.MsgSend"} {
		// A varint of the config's own record differs by no gas: the config is read free of charge.
		require.Equal(t, 10*shape.Weight(), gasOf(10, allowed)-gasOf(0, allowed))
	}
}

// Rule: 1.3-account
func TestMessagesAreBoundedInAll(t *testing.T) {
	f := newFixture(t, withConfig(func(c *types.TimerConfig) { c.MaxMessagesBytes = 1_000 }))
	f.schedule(robot, 9, f.long(1_001, nil))
	f.schedule(alice, 9, f.emptyOutputs(alice, 400))
	_, _, err := f.Tx(scheduleMsg(alice, 9, f.emptyOutputs(alice, 500)))
	require.ErrorIs(t, err, types.ErrPayloadTooLong)
	require.ErrorContains(t, err, "bytes of messages, want at most 1000")

	exact := f.emptyOutputs(alice, 400)
	f.setConfig(func(c *types.TimerConfig) { c.MaxMessagesBytes = uint64(len(exact)) })
	f.NextBlock()
	f.schedule(alice, 9, exact)
	f.setConfig(func(c *types.TimerConfig) { c.MaxMessagesBytes-- })
	f.NextBlock()
	f.refused(types.ErrPayloadTooLong, scheduleMsg(alice, 9, exact))
}
