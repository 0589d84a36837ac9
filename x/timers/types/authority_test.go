package types_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// setting is a change of some fields of the default config.
func setting(t *testing.T, change func(*types.TimerConfig), fields ...string) *types.MsgUpdateTimerConfig {
	t.Helper()
	current, next := types.DefaultTimerConfig("stake"), types.DefaultTimerConfig("stake")
	change(&next)
	msg, err := types.ChangeConfig("gov", &current, &next, fields)
	require.NoError(t, err)
	return msg
}

// TestConfigHash_IsThatOfTheFieldsAlone: lane_timer_cycles is field 22, 2,000,000 by default, and eip1559.target the third of
// field 47, "0.5".
//
// Rule: 3.7-hash
func TestConfigHash_IsThatOfTheFieldsAlone(t *testing.T) {
	config := types.DefaultTimerConfig("stake")
	for encoded, fields := range map[string][]string{
		"b00180897a":                 {"lane_timer_cycles"},
		"fa02051a03302e35":           {"eip1559.target"},
		"b00180897afa02051a03302e35": {"eip1559.target", "lane_timer_cycles"},
		"":                           {"denied_messages"},
	} {
		raw, err := hex.DecodeString(encoded)
		require.NoError(t, err)
		want := sha256.Sum256(raw)
		hash, err := config.Hash(fields)
		require.NoError(t, err)
		require.Equal(t, want[:], hash, fields)
	}
	raw, err := config.Marshal()
	require.NoError(t, err)
	want := sha256.Sum256(raw)
	whole, err := config.Hash(nil)
	require.NoError(t, err)
	require.Equal(t, want[:], whole)
}

// TestApply_SetsTheFieldsAlone, of policies too, and fails once one of them has another value.
//
// Rule: 3.7-expected, 3.7-changed
func TestApply_SetsTheFieldsAlone(t *testing.T) {
	target := setting(t, func(c *types.TimerConfig) { c.Eip1559.Target = decimal.Of(math.LegacyNewDecWithPrec(4, 1)) }, "eip1559.target")
	require.NoError(t, target.ValidateBasic())
	raw, err := target.Marshal()
	require.NoError(t, err)
	var read types.MsgUpdateTimerConfig
	require.NoError(t, read.Unmarshal(raw))
	current := types.DefaultTimerConfig("stake")
	current.LaneTimerCycles, current.Eip1559.BidDeprecationBlocks = 3_000_000, 7
	next, err := read.Apply(&current)
	require.NoError(t, err)
	want := current
	want.Eip1559.Target = decimal.Of(math.LegacyNewDecWithPrec(4, 1))
	require.Equal(t, want, next)

	_, err = read.Apply(&next)
	require.ErrorIs(t, err, types.ErrConfigChanged)
	require.ErrorContains(t, err, "the hash of eip1559.target is ")
	whole, err := types.ChangeConfig("gov", &current, &want, nil)
	require.NoError(t, err)
	_, err = whole.Apply(&next)
	require.ErrorIs(t, err, types.ErrConfigChanged)
	require.ErrorContains(t, err, "the hash of the config is ")
	empty := setting(t, func(c *types.TimerConfig) { c.AllowedMessages = nil }, "allowed_messages")
	next, err = empty.Apply(&current)
	require.NoError(t, err)
	require.Empty(t, next.AllowedMessages)
}

// TestUpdateTimerConfig_RefusesWhatIsMalformed with a bounded error.
//
// Rule: 3.7-named-bounds, 3.7-beyond
func TestUpdateTimerConfig_RefusesWhatIsMalformed(t *testing.T) {
	wide := func(c *types.TimerConfig) { c.LaneTimerCycles = 3_000_000 }
	many := make([]string, 10_000)
	for i := range many {
		many[i] = fmt.Sprint("field_", i)
	}
	for want, change := range map[string]func(*types.MsgUpdateTimerConfig){
		"expected is 0 bytes long, want the 32 of the hash":                 func(m *types.MsgUpdateTimerConfig) { m.Expected = nil },
		"expected is 31 bytes long":                                         func(m *types.MsgUpdateTimerConfig) { m.Expected = m.Expected[:31] },
		"expected is 33 bytes long":                                         func(m *types.MsgUpdateTimerConfig) { m.Expected = append(m.Expected, 1) },
		`fields: there is no "lane"`:                                        func(m *types.MsgUpdateTimerConfig) { m.Fields = []string{"lane"} },
		`fields: there is no ""`:                                            func(m *types.MsgUpdateTimerConfig) { m.Fields = []string{""} },
		`fields: there is no "eip1559.target.x"`:                            func(m *types.MsgUpdateTimerConfig) { m.Fields = []string{"eip1559.target.x"} },
		"fields: eip1559 holds fields: name those, such as eip1559.auction": func(m *types.MsgUpdateTimerConfig) { m.Fields = []string{"eip1559"} },
		"fields: lane_timer_cycles is stated twice": func(m *types.MsgUpdateTimerConfig) {
			m.Fields = []string{"lane_timer_cycles", "lane_timer_cycles"}
		},
		"fields: 10000 paths, want at most ":                      func(m *types.MsgUpdateTimerConfig) { m.Fields = many },
		"config states lane_timer_cycles, which is not among the": func(m *types.MsgUpdateTimerConfig) { m.Fields = []string{"lane_paused"} },
		"lane_timer_cycles is 0, want 1 to":                       func(m *types.MsgUpdateTimerConfig) { m.Config.LaneTimerCycles = 0 },
		"policy 0 is unknown":                                     func(m *types.MsgUpdateTimerConfig) { m.Fields = nil },
	} {
		msg := setting(t, wide, "lane_timer_cycles")
		require.NoError(t, msg.ValidateBasic())
		change(msg)
		err := msg.ValidateBasic()
		require.ErrorIs(t, err, types.ErrInvalidConfig, want)
		require.ErrorContains(t, err, want)
		require.Less(t, len(err.Error()), 400)
	}
	long := setting(t, wide, "lane_timer_cycles")
	long.Fields = []string{strings.Repeat("a", 1<<20)}
	require.Less(t, len(long.ValidateBasic().Error()), 300)
}

// TestConfigFields_AreAllOfThem: each can be set by its path.
func TestConfigFields_AreAllOfThem(t *testing.T) {
	paths := types.ConfigFields.Paths()
	require.Contains(t, paths, "priority_tiers.fast")
	require.Contains(t, paths, "eip1559.target")
	require.NotContains(t, paths, "eip1559")
	require.NotContains(t, paths, "policy_params")
	require.NotContains(t, paths, "tier_tip_cap.LegacyDec")
	current := types.DefaultTimerConfig("stake")
	for _, path := range paths {
		msg, err := types.ChangeConfig("gov", &types.TimerConfig{}, &current, []string{path})
		require.NoError(t, err, path)
		next, err := msg.Apply(&types.TimerConfig{})
		require.NoError(t, err, path)
		other, err := current.Hash([]string{path})
		require.NoError(t, err)
		same, err := next.Hash([]string{path})
		require.NoError(t, err)
		require.Equal(t, other, same, path)
	}
	msg, err := types.ChangeConfig("gov", &types.TimerConfig{}, &current, paths)
	require.NoError(t, err)
	next, err := msg.Apply(&types.TimerConfig{})
	require.NoError(t, err)
	require.Equal(t, current, next)
}
