package types_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	maxBlocks = uint64(1) << 40
	maxUnits  = uint64(1) << 50
)

var maxPrice = math.LegacyNewDec(1_000_000_000_000_000_000)

func validConfig() types.TimerConfig { return types.DefaultTimerConfig("stake") }

// Rule: 1.2-payload, 1.7-default-policy
func TestDefaultsOfTheConfig(t *testing.T) {
	c := validConfig()
	require.NoError(t, c.Validate())
	// x/timers/README.md, "7. Parameters".
	require.Equal(t, types.PolicyEIP1559, c.Policy)
	require.Equal(t, uint64(2_592_000), c.MaxTtlBlocks)
	require.Equal(t, uint64(40_000), c.MinGasLimit)
	require.Equal(t, uint64(550_000), c.MaxCyclesPerFire)
	require.Equal(t, uint64(550_000), c.MaxCellsPerFire)
	require.Equal(t, uint32(1_024), c.MaxTimersPerActor)
	require.Equal(t, uint64(1_048_576), c.MaxPayloadBytes)
	require.Equal(t, uint64(2_000_000), c.LaneTimerCycles)
	require.Equal(t, uint64(2_000_000), c.LaneTimerCells)
	require.Equal(t, uint64(300_000), c.GcCyclesPerBlock)
	require.Equal(t, uint64(3_000_000), c.OverheadCyclesPerBlock)
	require.Equal(t, uint32(256), c.CandidateWindow)
	require.Equal(t, "0.001000000000000000", c.CycleBasefee.String())
	require.Equal(t, "0.030000000000000000", c.CellBasefee.String())
	require.Equal(t, uint64(1_000), c.ScheduleCycles)
	require.Equal(t, uint64(500), c.CancelCycles)
	require.Equal(t, []string{"*"}, c.AllowedMessages)
	require.Empty(t, c.DeniedMessages)
	require.False(t, c.LanePaused)
	require.Zero(t, c.Eip1559.AuctionActivationHeight)
	require.Equal(t, uint64(250_000), c.Eip1559.MaxCyclesPerFireAuction)
	require.Equal(t, "0.500000000000000000", c.Eip1559.Target.String())
	require.Equal(t, "0.125000000000000000", c.Eip1559.MaxChange.String())
	require.Equal(t, "0.001000000000000000", c.Eip1559.MinLaneBasefee.String())
	require.Equal(t, types.ResponseClip, c.Eip1559.BasefeeResponse)
	require.Equal(t, "1.000000000000000000", c.Eip1559.LaneFeeMultiplier.String())
	require.Equal(t, "0.800000000000000000", c.PriorityTiers.Economy.String())
	require.Equal(t, "1.000000000000000000", c.PriorityTiers.Standard.String())
	require.Equal(t, "1.500000000000000000", c.PriorityTiers.Fast.String())
	require.Equal(t, "2.500000000000000000", c.PriorityTiers.Urgent.String())
	require.Equal(t, uint64(1_000), c.FairnessWindowBlocks)
	require.Equal(t, types.UnitActor, c.FairnessUnit)
	require.Equal(t, "1.000000000000000000", c.WeightMin.String())
	require.Equal(t, "2.000000000000000000", c.WeightMax.String())
	require.Equal(t, "1.000000000000000000", c.MedianSmoothing.String())
}

// TestTheLongestPayloadAtTheDefaultGasLimit, under the default policy.
//
// Rule: 1.2-payload
func TestTheLongestPayloadAtTheDefaultGasLimit(t *testing.T) {
	c := validConfig()
	payload, ok := market.AffordablePayload(c.Eip1559.MaxCyclesPerFireAuction, 0)
	require.True(t, ok)
	require.Equal(t, uint64(76_666), payload)
}

// boundsOf are the bounds of every number of the config, by its Go name. A field that is not here must be named in
// unbounded, with the reason.
var boundsOf = map[string]struct{ min, max uint64 }{
	"MaxTtlBlocks":           {1, maxBlocks},
	"MaxTtlSeconds":          {60, 100 * 366 * 86_400},
	"MaxUnfundedSkips":       {0, 1 << 16},
	"MinGasLimit":            {20_001, maxUnits},
	"MaxCyclesPerFire":       {1, maxUnits},
	"MaxCellsPerFire":        {1, maxUnits},
	"MaxTimersPerActor":      {1, 2_048},
	"MaxPayloadBytes":        {1, 1 << 20},
	"DefaultCellLimit":       {1, maxUnits},
	"LaneTimerCycles":        {1, maxUnits},
	"LaneTimerCells":         {1, maxUnits},
	"GcCyclesPerBlock":       {2_700, maxUnits},
	"OverheadCyclesPerBlock": {2_700, maxUnits},
	"CandidateWindow":        {1, 1 << 16},
	"ScheduleCycles":         {0, maxUnits},
	"CancelCycles":           {0, maxUnits},
	"ReceiptRetentionBlocks": {0, maxBlocks},

	"Eip1559.AuctionActivationHeight": {0, maxBlocks},
	"Eip1559.MaxCyclesPerFireAuction": {1, maxUnits},
	"FairnessWindowBlocks":            {1, 1 << 20},
	"Eip1559.BidDeprecationBlocks":    {0, maxBlocks},
	"RingSize":                        {1, 1 << 30},
	"EpochBlocks":                     {1, 1 << 30},
	"EpochHorizon":                    {1, 1 << 30},
}

var unbounded = map[string]string{
	"Policy":           "TestConfigRefusesPolicies",
	"FeeDenom":         "TestConfigRefusesDenoms",
	"LanePaused":       "both values are valid",
	"TimeTriggers":     "both values are valid",
	"MaxFiresPerBlock": "a cap: any is valid, 0 is none",
	"MaxFiresPerActor": "a cap: any is valid, 0 is none",
	"CycleBasefee":     "TestConfigRefusesPrices",
	"CellBasefee":      "TestConfigRefusesPrices",
	"AllowedMessages":  "TestConfigRefusesMessageRules",
	"DeniedMessages":   "TestConfigRefusesMessageRules",

	"ReservedActors": "TestConfigRefusesReservedActors",
	"PolicyParams":   "TestPolicyParams_Refused",
	"ReservedShare":  "TestConfigRefusesDecimalsOutOfTheirBounds",
	"TierTipCap":     "TestConfigRefusesDecimalsOutOfTheirBounds",

	"Eip1559.Target":            "TestConfigRefusesDecimalsOutOfTheirBounds",
	"Eip1559.MaxChange":         "TestConfigRefusesDecimalsOutOfTheirBounds",
	"Eip1559.MinLaneBasefee":    "TestConfigRefusesDecimalsOutOfTheirBounds",
	"Eip1559.LaneFeeMultiplier": "TestConfigRefusesDecimalsOutOfTheirBounds",
	"PriorityTiers":             "TestConfigRefusesDecimalsOutOfTheirBounds",
	"WeightMin":                 "TestConfigRefusesDecimalsOutOfTheirBounds",
	"WeightMax":                 "TestConfigRefusesDecimalsOutOfTheirBounds",
	"MedianSmoothing":           "TestConfigRefusesDecimalsOutOfTheirBounds",
	"Eip1559.BasefeeResponse":   "TestConfigRefusesUnknownChoices",
	"FairnessUnit":              "TestConfigRefusesUnknownChoices",
}

// parameter is a field of the config, or of the message of a policy within it.
type parameter struct {
	// name in Go, and path in messages and in errors: Eip1559.Target and eip1559.target.
	name, path string
	kind       reflect.Kind
}

// parameters are all fields of the config; those of policies by themselves.
func parameters() (all []parameter) {
	path := func(f reflect.StructField) string {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		return name
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[types.TimerConfig]()) {
		if !strings.HasSuffix(f.Type.Name(), "Params") || f.Type.Kind() != reflect.Struct {
			all = append(all, parameter{f.Name, path(f), f.Type.Kind()})
			continue
		}
		for _, in := range reflect.VisibleFields(f.Type) {
			all = append(all, parameter{f.Name + "." + in.Name, path(f) + "." + path(in), in.Type.Kind()})
		}
	}
	return all
}

// field is the value of a parameter, by its name in Go.
func field(c *types.TimerConfig, name string) reflect.Value {
	value := reflect.ValueOf(c).Elem()
	for _, step := range strings.Split(name, ".") {
		value = value.FieldByName(step)
	}
	return value
}

// roomy is a config in which one field can take any value within its bounds without contradicting another.
func roomy(name string, value uint64) types.TimerConfig {
	c := validConfig()
	c.LaneTimerCycles, c.LaneTimerCells, c.OverheadCyclesPerBlock, c.MaxCyclesPerFire = maxUnits, maxUnits, maxUnits, maxUnits
	c.MaxCellsPerFire, c.GcCyclesPerBlock, c.MinGasLimit = 1, 2_700, 20_001
	c.Eip1559.MaxCyclesPerFireAuction = c.MaxCyclesPerFire
	switch name {
	case "MinGasLimit", "MaxCyclesPerFire", "LaneTimerCycles":
		c.MaxCyclesPerFire = max(1, min(c.MaxCyclesPerFire, value))
		c.Eip1559.MaxCyclesPerFireAuction = c.MaxCyclesPerFire
	}
	field(&c, name).SetUint(value)
	return c
}

// Rule: 7-bounds
func TestConfigRefusesEveryNumberOutOfItsBounds(t *testing.T) {
	for _, p := range parameters() {
		bounds, bounded := boundsOf[p.name]
		require.NotEqual(t, bounded, unbounded[p.name] != "", "%s needs bounds here, or a reason", p.name)
		if !bounded {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			refused := []uint64{bounds.max + 1, 1<<32 - 1}
			if p.kind == reflect.Uint64 {
				refused[1] = 1<<64 - 1
			}
			if bounds.min > 0 {
				refused = append(refused, bounds.min-1)
			}
			for _, value := range refused {
				c := roomy(p.name, value)
				err := c.Validate()
				require.ErrorIs(t, err, types.ErrInvalidConfig, "%d", value)
				require.ErrorContains(t, err, fmt.Sprintf("%s is %d, want %d to %d", p.path, value, bounds.min, bounds.max))
			}
		})
	}
}

// TestConfigAcceptsEveryNumberAtItsBounds: unless a cross-check stands against it, and then the error is not the bound's.
//
// Rule: 7-bounds
func TestConfigAcceptsEveryNumberAtItsBounds(t *testing.T) {
	crossed := map[string]bool{
		// The least of min_gas_limit is 20,001.
		"MaxCyclesPerFire min": true, "LaneTimerCycles min": true, "Eip1559.MaxCyclesPerFireAuction min": true,
	}
	for name, bounds := range boundsOf {
		for edge, value := range map[string]uint64{"min": bounds.min, "max": bounds.max} {
			c := roomy(name, value)
			err := c.Validate()
			if crossed[name+" "+edge] {
				require.ErrorContains(t, err, "must not exceed", "%s %s", name, edge)
				continue
			}
			require.NoError(t, err, "%s %s", name, edge)
		}
	}
}

// Rule: 7.2-cross-checks, 7.2-eip1559-cross-check
func TestConfigRefusesContradictions(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*types.TimerConfig)
		want   string
	}{
		"no cycle left for a handler": {
			func(c *types.TimerConfig) { c.MinGasLimit = market.FireBaseCycles },
			"min_gas_limit is 20000, want 20001 to 1125899906842624",
		},
		"no gas limit is accepted": {
			func(c *types.TimerConfig) { c.MinGasLimit = c.MaxCyclesPerFire + 1 },
			"min_gas_limit (550001) must not exceed max_cycles_per_fire (550000)",
		},
		"no gas limit is accepted under eip1559": {
			func(c *types.TimerConfig) { c.MinGasLimit = c.Eip1559.MaxCyclesPerFireAuction + 1 },
			"min_gas_limit (250001) must not exceed eip1559.max_cycles_per_fire_auction (250000)",
		},
		"a fire under eip1559 that no lane holds": {
			func(c *types.TimerConfig) { c.Eip1559.MaxCyclesPerFireAuction = c.LaneTimerCycles + 1 },
			"eip1559.max_cycles_per_fire_auction (2000001) must not exceed lane_timer_cycles (2000000)",
		},
		"weights upside down": {
			func(c *types.TimerConfig) { c.WeightMin = decimal.Of(math.LegacyNewDec(3)) },
			"weight_min (3.000000000000000000) must not exceed weight_max (2.000000000000000000)",
		},
		"a tier pricier than the one above it": {
			func(c *types.TimerConfig) { c.PriorityTiers.Fast = decimal.Of(math.LegacyNewDec(3)) },
			"priority_tiers must not fall",
		},
		"a fire that no lane holds": {
			func(c *types.TimerConfig) { c.MaxCyclesPerFire = c.LaneTimerCycles + 1 },
			"max_cycles_per_fire (2000001) must not exceed lane_timer_cycles (2000000)",
		},
		"cells that no lane holds": {
			func(c *types.TimerConfig) { c.MaxCellsPerFire = c.LaneTimerCells + 1 },
			"max_cells_per_fire (2000001) must not exceed lane_timer_cells (2000000)",
		},
		"removals that no overhead holds": {
			func(c *types.TimerConfig) { c.GcCyclesPerBlock = c.OverheadCyclesPerBlock + 1 },
			"gc_cycles_per_block (3000001) must not exceed overhead_cycles_per_block (3000000)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			config := validConfig()
			c.change(&config)
			err := config.Validate()
			require.ErrorIs(t, err, types.ErrInvalidConfig)
			require.ErrorContains(t, err, c.want)
		})
	}
	equal := validConfig()
	equal.MinGasLimit, equal.MaxCyclesPerFire, equal.LaneTimerCycles = 20_001, 20_001, 20_001
	equal.Eip1559.MaxCyclesPerFireAuction = 20_001
	equal.MaxCellsPerFire, equal.GcCyclesPerBlock = equal.LaneTimerCells, equal.OverheadCyclesPerBlock
	require.NoError(t, equal.Validate(), "equal is no contradiction")

	fifo := validConfig()
	fifo.Policy, fifo.Eip1559.MaxCyclesPerFireAuction = types.PolicyFIFO, fifo.LaneTimerCycles+1
	require.NoError(t, fifo.Validate(), "what fifo has no use for contradicts nothing")
}

// Rule: 7-checked-whatever
func TestConfigRefusesDecimalsOutOfTheirBounds(t *testing.T) {
	dec := math.LegacyMustNewDecFromStr
	for name, c := range map[string]struct {
		set      func(*types.TimerConfig, math.LegacyDec)
		min, max string
	}{
		"eip1559.target":              {func(c *types.TimerConfig, d math.LegacyDec) { c.Eip1559.Target = decimal.Of(d) }, "0.01", "0.99"},
		"eip1559.max_change":          {func(c *types.TimerConfig, d math.LegacyDec) { c.Eip1559.MaxChange = decimal.Of(d) }, "0.000001", "1"},
		"eip1559.min_lane_basefee":    {func(c *types.TimerConfig, d math.LegacyDec) { c.Eip1559.MinLaneBasefee = decimal.Of(d) }, "0", "1000000000000000000"},
		"eip1559.lane_fee_multiplier": {func(c *types.TimerConfig, d math.LegacyDec) { c.Eip1559.LaneFeeMultiplier = decimal.Of(d) }, "0", "2"},
		"priority_tiers.economy":      {func(c *types.TimerConfig, d math.LegacyDec) { c.PriorityTiers.Economy = decimal.Of(d) }, "0", "1000"},
		"priority_tiers.standard":     {func(c *types.TimerConfig, d math.LegacyDec) { c.PriorityTiers.Standard = decimal.Of(d) }, "0", "1000"},
		"priority_tiers.fast":         {func(c *types.TimerConfig, d math.LegacyDec) { c.PriorityTiers.Fast = decimal.Of(d) }, "0", "1000"},
		"priority_tiers.urgent":       {func(c *types.TimerConfig, d math.LegacyDec) { c.PriorityTiers.Urgent = decimal.Of(d) }, "0", "1000"},
		"reserved_share":              {func(c *types.TimerConfig, d math.LegacyDec) { c.ReservedShare = decimal.Of(d) }, "0", "0.5"},
		"tier_tip_cap":                {func(c *types.TimerConfig, d math.LegacyDec) { c.TierTipCap = decimal.Of(d) }, "0", "1000"},
		"weight_min":                  {func(c *types.TimerConfig, d math.LegacyDec) { c.WeightMin = decimal.Of(d) }, "0.0625", "8"},
		"weight_max":                  {func(c *types.TimerConfig, d math.LegacyDec) { c.WeightMax = decimal.Of(d) }, "0.0625", "8"},
		"median_smoothing":            {func(c *types.TimerConfig, d math.LegacyDec) { c.MedianSmoothing = decimal.Of(d) }, "0.000001", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, value := range []math.LegacyDec{dec(c.min).Sub(math.LegacySmallestDec()), dec(c.max).Add(math.LegacySmallestDec())} {
				config := validConfig()
				c.set(&config, value)
				err := config.Validate()
				require.ErrorIs(t, err, types.ErrInvalidConfig)
				require.ErrorContains(t, err, fmt.Sprintf("%s is %s, want %s to %s", name, value, dec(c.min), dec(c.max)))
			}
			config := validConfig()
			c.set(&config, math.LegacyDec{})
			require.ErrorContains(t, config.Validate(), name+" is missing")
			for _, edge := range []string{c.min, c.max} {
				config := validConfig()
				tiers := dec("0")
				if edge == c.max {
					tiers = dec("1000")
				}
				if strings.HasPrefix(name, "priority_tiers") {
					config.PriorityTiers = types.PriorityTiers{Economy: decimal.Of(tiers), Standard: decimal.Of(tiers), Fast: decimal.Of(tiers), Urgent: decimal.Of(tiers)}
				}
				if strings.HasPrefix(name, "weight") {
					config.WeightMin, config.WeightMax = decimal.Of(dec(edge)), decimal.Of(dec(edge))
				}
				c.set(&config, dec(edge))
				require.NoError(t, config.Validate(), "%s", edge)
			}
		})
	}
}

func TestConfigRefusesUnknownChoices(t *testing.T) {
	for _, value := range []int32{-1, 0, 3, 99} {
		c := validConfig()
		c.Eip1559.BasefeeResponse = types.BasefeeResponse(value)
		require.ErrorContains(t, c.Validate(), fmt.Sprintf("eip1559.basefee_response %d is unknown; want BASEFEE_RESPONSE_CLIP or BASEFEE_RESPONSE_LINEAR", value))
		c = validConfig()
		c.FairnessUnit = types.FairnessUnit(value)
		require.ErrorContains(t, c.Validate(), fmt.Sprintf("fairness_unit %d is unknown; want FAIRNESS_UNIT_ACTOR or FAIRNESS_UNIT_DEPLOYER", value))
	}
}

func TestConfigRefusesReservedActors(t *testing.T) {
	many := make([]string, 65)
	for i := range many {
		many[i] = fmt.Sprintf("actor%d", i)
	}
	for want, actors := range map[string][]string{
		"has 65 entries, want at most 64":        many,
		`"" is empty, too long or listed twice`:  {"a", ""},
		`"a" is empty, too long or listed twice`: {"a", "b", "a"},
		`"xxx`:                                   {strings.Repeat("x", 1_025)},
	} {
		c := validConfig()
		c.ReservedActors = actors
		err := c.Validate()
		require.ErrorIs(t, err, types.ErrInvalidConfig)
		require.ErrorContains(t, err, want)
	}
	c := validConfig()
	c.ReservedActors = many[:64]
	require.NoError(t, c.Validate())
}

func TestConfigRefusesPolicies(t *testing.T) {
	for value, name := range types.Policy_name {
		c := validConfig()
		c.Policy = types.Policy(value)
		err := c.Validate()
		switch c.Policy {
		case types.PolicyFIFO, types.PolicyEIP1559, types.PolicyTip, types.PolicyAuction, types.PolicyScore:
			require.NoError(t, err)
		case types.PolicyUnspecified:
			require.ErrorIs(t, err, types.ErrInvalidConfig)
			require.ErrorContains(t, err, "policy 0 is unknown; available: POLICY_FIFO")
		default:
			require.ErrorIs(t, err, types.ErrInvalidConfig)
			require.ErrorContains(t, err, "policy "+name+" is not available in this version; available: POLICY_FIFO")
		}
	}
	for _, value := range []types.Policy{-1, 99} {
		c := validConfig()
		c.Policy = value
		require.ErrorContains(t, c.Validate(), fmt.Sprintf("policy %d is unknown", value))
	}
}

func TestConfigRefusesDenoms(t *testing.T) {
	for _, denom := range []string{"", "x", "1stake", "sta ke", strings.Repeat("s", 129), "\xff\xff\xff"} {
		c := types.DefaultTimerConfig(denom)
		err := c.Validate()
		require.ErrorIs(t, err, types.ErrInvalidConfig, "%q", denom)
		require.ErrorContains(t, err, "fee_denom")
	}
	c := types.DefaultTimerConfig("ibc/27394FB092D2ECCD56123C74F36E4C1F926001CEADA9CA97EA622B25F41E5EB2")
	require.NoError(t, c.Validate())
}

// badPrices are prices that nothing may have.
func badPrices() map[string]math.LegacyDec {
	smallest := math.LegacySmallestDec()
	return map[string]math.LegacyDec{"missing": {}, "negative": smallest.Neg(), "above the largest": maxPrice.Add(smallest)}
}

func TestConfigRefusesPrices(t *testing.T) {
	for field, set := range map[string]func(*types.TimerConfig, math.LegacyDec){
		"cycle_basefee": func(c *types.TimerConfig, p math.LegacyDec) { c.CycleBasefee = decimal.Of(p) },
		"cell_basefee":  func(c *types.TimerConfig, p math.LegacyDec) { c.CellBasefee = decimal.Of(p) },
	} {
		for name, price := range badPrices() {
			c := validConfig()
			set(&c, price)
			err := c.Validate()
			require.ErrorIs(t, err, types.ErrInvalidConfig, "%s %s", field, name)
			require.ErrorContains(t, err, field+" is ")
		}
		for _, price := range []math.LegacyDec{math.LegacyZeroDec(), math.LegacySmallestDec(), maxPrice} {
			c := validConfig()
			set(&c, price)
			require.NoError(t, c.Validate(), "%s %s", field, price)
		}
	}
}

func TestConfigRefusesMessageRules(t *testing.T) {
	const send = "/cosmos.bank.v1beta1.MsgSend"
	lists := map[string]func(*types.TimerConfig, []string){
		"allowed_messages": func(c *types.TimerConfig, urls []string) { c.AllowedMessages = urls },
		"denied_messages":  func(c *types.TimerConfig, urls []string) { c.DeniedMessages = urls },
	}
	for name, set := range lists {
		for _, url := range []string{
			"", "/", "*.*", "cosmos.bank.v1beta1.MsgSend", "/cosmos..MsgSend", "/cosmos.bank.", "/.cosmos", "/1cosmos.MsgSend",
			send + " ", " " + send, send + "\n", send + "/", "/cosmos.bank.*", "/grüße.Msg", "type.googleapis.com" + send,
		} {
			c := validConfig()
			set(&c, []string{send, url})
			err := c.Validate()
			require.ErrorIs(t, err, types.ErrInvalidConfig, "%q", url)
			require.ErrorContains(t, err, name)
		}
		c := validConfig()
		many := make([]string, 257)
		for i := range many {
			many[i] = fmt.Sprintf("/chain.v1.Msg%d", i)
		}
		set(&c, many)
		require.ErrorContains(t, c.Validate(), name+" has 257 entries, want at most 256")
		set(&c, many[:256])
		require.NoError(t, c.Validate())
		set(&c, nil)
		require.NoError(t, c.Validate(), "an empty list is a list")
	}
}

// Rule: 1.3-message-lists
func TestMessageAllowed(t *testing.T) {
	const send, other = "/cosmos.bank.v1beta1.MsgSend", "/cosmos.bank.v1beta1.MsgMultiSend"
	for name, c := range map[string]struct {
		allowed, denied []string
		send, other     bool
	}{
		"all":                  {[]string{"*"}, nil, true, true},
		"none":                 {nil, nil, false, false},
		"one":                  {[]string{send}, nil, true, false},
		"all but one":          {[]string{"*"}, []string{send}, false, true},
		"denied beats allowed": {[]string{send, other}, []string{send}, false, true},
		"all are denied":       {[]string{"*", send}, []string{"*"}, false, false},
		"one among several":    {[]string{other, send}, []string{"/other.Msg"}, true, true},
	} {
		config := types.TimerConfig{AllowedMessages: c.allowed, DeniedMessages: c.denied}
		require.Equal(t, c.send, config.MessageAllowed(send), name)
		require.Equal(t, c.other, config.MessageAllowed(other), name)
	}
}

func TestConfigChangeKeepsTheFeeDenom(t *testing.T) {
	c, next := validConfig(), validConfig()
	next.MaxTtlBlocks++
	require.NoError(t, c.ValidateChange(&next))

	next.FeeDenom = "other"
	err := c.ValidateChange(&next)
	require.ErrorIs(t, err, types.ErrInvalidConfig)
	require.ErrorContains(t, err, `fee_denom is fixed at genesis: it is "stake" and can't become "other"`)

	next = validConfig()
	next.OverheadCyclesPerBlock = 0
	require.ErrorContains(t, c.ValidateChange(&next), "overhead_cycles_per_block", "the next config is checked whole")
}

func BenchmarkValidateConfig(b *testing.B) {
	c := validConfig()
	for range b.N {
		_ = c.Validate()
	}
}
