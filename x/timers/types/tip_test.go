package types_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types"
)

func TestDefaultsOfTip(t *testing.T) {
	c := validConfig()
	c.Policy = types.PolicyTip
	require.NoError(t, c.Validate())
	require.Equal(t, "0.200000000000000000", c.Tip.Decay.String(), "half of the way in about three epochs")
}

// Rule: 7-checked-whatever
func TestTipRefusesDecimalsOutOfTheirBounds(t *testing.T) {
	dec := math.LegacyMustNewDecFromStr
	for name, c := range map[string]struct {
		field    func(*types.TimerConfig) *math.LegacyDec
		min, max string
	}{
		"tip.decay":            {func(c *types.TimerConfig) *math.LegacyDec { return &c.Tip.Decay.LegacyDec }, "0", "1"},
		"tip.inactivity_decay": {func(c *types.TimerConfig) *math.LegacyDec { return &c.Tip.InactivityDecay.LegacyDec }, "0", "1"},
		// The others are bounded by the extremes, which are 0.1 and 1 by default.
		"tip.weight_min":       {func(c *types.TimerConfig) *math.LegacyDec { return &c.Tip.WeightMin.LegacyDec }, "0.001", "1"},
		"tip.weight_max":       {func(c *types.TimerConfig) *math.LegacyDec { return &c.Tip.WeightMax.LegacyDec }, "0.001", "1"},
		"tip.weight_neutral":   {func(c *types.TimerConfig) *math.LegacyDec { return &c.Tip.WeightNeutral.LegacyDec }, "0.1", "1"},
		"tip.starvation_floor": {func(c *types.TimerConfig) *math.LegacyDec { return &c.Tip.StarvationFloor.LegacyDec }, "0.1", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, value := range []math.LegacyDec{dec(c.min).Sub(math.LegacySmallestDec()), dec(c.max).Add(math.LegacySmallestDec())} {
				config := validConfig()
				*c.field(&config) = value
				err := config.Validate()
				require.ErrorIs(t, err, types.ErrInvalidConfig)
				require.ErrorContains(t, err, name+" is "+value.String()+", want "+dec(c.min).String()+" to "+dec(c.max).String())
			}
			config := validConfig()
			*c.field(&config) = math.LegacyDec{}
			require.ErrorContains(t, config.Validate(), name+" is missing")
			for _, edge := range []string{c.min, c.max} {
				config := validConfig()
				if name == "tip.weight_min" || name == "tip.weight_max" {
					config.Tip.WeightMin, config.Tip.WeightMax, config.Tip.WeightNeutral, config.Tip.StarvationFloor = decimal.Of(dec(edge)), decimal.Of(dec(edge)), decimal.Of(dec(edge)), decimal.Of(dec(edge))
				}
				*c.field(&config) = dec(edge)
				require.NoError(t, config.Validate(), edge)
			}
		})
	}
	upsideDown := validConfig()
	upsideDown.Tip.WeightMax = decimal.Of(dec("0.05"))
	require.ErrorContains(t, upsideDown.Validate(), "tip.weight_min is 0.100000000000000000, want 0.001000000000000000 to 0.050000000000000000")
}

func TestTipRefusesSharesThatAreNoWhole(t *testing.T) {
	dec := math.LegacyMustNewDecFromStr
	for name, c := range map[string]struct {
		shares [4]string
		want   string
	}{
		"a unit too much":   {[4]string{"0.4", "0.3", "0.1", "0.200000000000000001"}, "sum to 1.000000000000000001, want 1"},
		"a unit too little": {[4]string{"0.4", "0.3", "0.1", "0.199999999999999999"}, "sum to 0.999999999999999999, want 1"},
		"negative":          {[4]string{"-0.1", "0.6", "0.3", "0.2"}, "tip.share_tip is -0.100000000000000000, want 0"},
		"more than all":     {[4]string{"0", "1.1", "0", "-0.1"}, "tip.share_outcome is 1.100000000000000000"},
	} {
		t.Run(name, func(t *testing.T) {
			config := validConfig()
			config.Tip.ShareTip, config.Tip.ShareOutcome = decimal.Of(dec(c.shares[0])), decimal.Of(dec(c.shares[1]))
			config.Tip.ShareLateness, config.Tip.ShareBudget = decimal.Of(dec(c.shares[2])), decimal.Of(dec(c.shares[3]))
			require.ErrorIs(t, config.Validate(), types.ErrInvalidConfig)
			require.ErrorContains(t, config.Validate(), c.want)
		})
	}
	config := validConfig()
	config.Tip.ShareBudget = decimal.Of(math.LegacyDec{})
	require.ErrorContains(t, config.Validate(), "tip.share_budget is missing")
	config.Tip.ShareTip, config.Tip.ShareOutcome, config.Tip.ShareLateness, config.Tip.ShareBudget = decimal.Of(dec("1")), decimal.Of(dec("0")), decimal.Of(dec("0")), decimal.Of(dec("0"))
	require.NoError(t, config.Validate())
}
