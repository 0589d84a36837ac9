// Package portable reads the config of a simulation without the SDK, so that a browser does it: the defaults of a chain
// and the fields that change what simulations show. Package simconfig reads all fields, and a test holds both to the
// same configs and the same refusals.
package portable

import (
	_ "embed"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/lab/sim/market"
	"github.com/cosmos-timers/timers/lab/sim/spec"
	"github.com/cosmos-timers/timers/lab/sim/strict"
	"github.com/cosmos-timers/timers/x/timers/decimal"
	rules "github.com/cosmos-timers/timers/x/timers/market"
)

// defaults is the market's part of the module's default config. The package's test rewrites it with -update.
//
//go:embed defaults.json
var defaults []byte

// Defaults returns the module's default config.
func Defaults() market.Config {
	var config market.Config
	if err := json.Unmarshal(defaults, &config); err != nil {
		panic(err) // The file is part of the binary.
	}
	return config
}

// Bounds of fields, as the module has them.
const (
	maxUnits          = 1 << 50
	maxWindow         = 1 << 16
	maxFairnessWindow = 1 << 20
	minOverhead       = 2_700
	// minLaneCells is the default of max_cells_per_fire, which is not read here.
	minLaneCells = 550_000
	maxBidBits   = 96
)

// config is what is read, and decs are decimals in it that one field states.
type (
	config = market.Config
	decs   = []*math.LegacyDec
)

// field is one field of a chain's config: how its text changes a market's.
type field func(c *config, text json.RawMessage) (reason string)

// fields by their full names. A field of a message within the config may be stated by its own name too.
var fields = map[string]field{
	"policy": oneOf(market.Policies, func(c *config, name string) { c.Policy = name }),
	"lane_timer_cycles": whole(1, maxUnits, func(c *config, n uint64) {
		c.Lane.Cycles, c.Eip1559.Basefee.Capacity = n, n
	}),
	"lane_timer_cells":          whole(minLaneCells, maxUnits, func(c *config, n uint64) { c.Lane.Cells = n }),
	"candidate_window":          whole(1, maxWindow, func(c *config, n uint64) { c.CandidateWindow = uint32(n) }),
	"overhead_cycles_per_block": whole(minOverhead, maxUnits, func(c *config, n uint64) { c.OverheadCycles = n }),
	"fairness_window_blocks":    whole(1, maxFairnessWindow, func(c *config, n uint64) { c.FairnessBlocks = n }),
	"fairness_unit": oneOf([]string{"actor", "deployer"}, func(c *config, name string) {
		c.ByDeployer = name == "deployer"
	}),
	"median_smoothing": dec("0.000001", "1", func(c *config) decs { return decs{&c.MedianSmoothing} }),
	"weight_min":       weight(func(c *config) *uint32 { return &c.Weights.Min }),
	"weight_max":       weight(func(c *config) *uint32 { return &c.Weights.Max }),
	"tier_tip_cap": dec("0", "1000", func(c *config) decs {
		return decs{&c.Eip1559.Tiers.TipCap, &c.Tip.Tiers.TipCap}
	}),
	"priority_tiers.economy": dec("0", "1000", func(c *config) decs {
		return decs{&c.Eip1559.Tiers.Economy, &c.Tip.Tiers.Economy}
	}),
	"priority_tiers.standard": dec("0", "1000", func(c *config) decs {
		return decs{&c.Eip1559.Tiers.Standard, &c.Tip.Tiers.Standard}
	}),
	"priority_tiers.fast": dec("0", "1000", func(c *config) decs {
		return decs{&c.Eip1559.Tiers.Fast, &c.Tip.Tiers.Fast}
	}),
	"priority_tiers.urgent": dec("0", "1000", func(c *config) decs {
		return decs{&c.Eip1559.Tiers.Urgent, &c.Tip.Tiers.Urgent}
	}),
	"eip1559.target": dec("0.01", "0.99", func(c *config) decs { return decs{&c.Eip1559.Basefee.Target} }),
	"eip1559.max_change": dec("0.000001", "1", func(c *config) decs {
		return decs{&c.Eip1559.Basefee.MaxChange}
	}),
	"eip1559.lane_fee_multiplier": dec("0", "2", func(c *config) decs { return decs{&c.Eip1559.Multiplier} }),
	"eip1559.basefee_response": oneOf([]string{"clip", "linear"}, func(c *config, name string) {
		c.Eip1559.Basefee.Response = map[string]rules.Response{"clip": rules.Clip, "linear": rules.Linear}[name]
	}),
	"auction.payment_rule": oneOf([]string{"vcg", "first_price"}, func(c *config, name string) {
		c.Auction.FirstPrice = name == "first_price"
	}),
	"auction.reserve_price": amount(func(c *config) *math.Int { return &c.Auction.Reserve }),
	"auction.lambda_start":  dec("0.0001", "10", func(c *config) decs { return decs{&c.Auction.Lambda} }),
	"auction.lambda_step":   dec("0", "0.5", func(c *config) decs { return decs{&c.Auction.Loop.Step} }),
}

// whole reads a whole number, which JSON may state as text.
func whole(least, most uint64, set func(*config, uint64)) field {
	return func(c *config, raw json.RawMessage) string {
		n, err := strconv.ParseUint(strings.Trim(string(raw), `"`), 10, 64)
		if err != nil || n < least || n > most {
			return "want a whole number from " + strconv.FormatUint(least, 10) + " to " + strconv.FormatUint(most, 10)
		}
		set(c, n)
		return ""
	}
}

// readDec reads a decimal in quotes.
func readDec(raw json.RawMessage, least, most string) (math.LegacyDec, string) {
	var value decimal.Dec
	if err := json.Unmarshal(raw, &value); err != nil || value.IsNil() ||
		value.LT(math.LegacyMustNewDecFromStr(least)) || value.GT(math.LegacyMustNewDecFromStr(most)) {
		return math.LegacyDec{}, "want a decimal from " + least + " to " + most + " in quotes"
	}
	return value.LegacyDec, ""
}

func dec(least, most string, of func(*config) decs) field {
	return func(c *config, raw json.RawMessage) string {
		value, reason := readDec(raw, least, most)
		if reason == "" {
			for _, target := range of(c) {
				*target = value
			}
		}
		return reason
	}
}

// weight is a decimal that the market holds in sixteenths.
func weight(of func(*config) *uint32) field {
	return func(c *config, raw json.RawMessage) string {
		value, reason := readDec(raw, "0.0625", "8")
		if reason == "" {
			*of(c) = rules.WeightInSixteenths(value)
		}
		return reason
	}
}

func amount(of func(*config) *math.Int) field {
	return func(c *config, raw json.RawMessage) string {
		var text string
		value, ok := math.Int{}, json.Unmarshal(raw, &text) == nil
		if ok {
			value, ok = math.NewIntFromString(text)
		}
		if !ok || value.IsNegative() || value.BigInt().BitLen() > maxBidBits {
			return "want a whole number of 0 to 2^96 - 1 in quotes"
		}
		*of(c) = value
		return ""
	}
}

func oneOf(names []string, set func(*config, string)) field {
	return func(c *config, raw json.RawMessage) string {
		var name string
		if json.Unmarshal(raw, &name) != nil || !slices.Contains(names, name) {
			return "want one of " + strings.Join(names, ", ") + " in quotes"
		}
		set(c, name)
		return ""
	}
}

// Read implements spec.Configure. A field that it does not know is an error.
func Read(changes []spec.Change) (market.Config, error) {
	config := Defaults()
	for _, change := range changes {
		if err := apply(&config, change); err != nil {
			return config, err
		}
	}
	return config, nil
}

func apply(to *config, change spec.Change) error {
	stated := map[string]bool{}
	one := func(full, path string, raw json.RawMessage) error {
		set, known := fields[full]
		switch {
		case !known:
			return strict.Failf(path, "is not read here; known: %s", strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
		case stated[full]:
			return strict.Failf(path, "stated twice")
		}
		stated[full] = true
		if reason := set(to, raw); reason != "" {
			return strict.Failf(path, "%s, not %.40s", reason, raw)
		}
		return nil
	}
	members, err := membersOf(change.Fields, change.Path)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		path, raw := change.Path+"."+name, members[name]
		if !isMessage(name) {
			if err := one(fullName(name), path, raw); err != nil {
				return err
			}
			continue
		}
		inner, err := membersOf(raw, path)
		if err != nil {
			return err
		}
		for _, below := range slices.Sorted(maps.Keys(inner)) {
			if err := one(name+"."+below, path+"."+below, inner[below]); err != nil {
				return err
			}
		}
	}
	return check(to, change.Path)
}

func membersOf(raw json.RawMessage, path string) (members map[string]json.RawMessage, err error) {
	if err := strict.Decode(raw, &members); err != nil {
		return nil, strict.Failf(path, "%v", err)
	}
	return members, nil
}

// isMessage reports whether a field holds a message whose fields are known.
func isMessage(name string) bool {
	for full := range fields {
		if strings.HasPrefix(full, name+".") {
			return true
		}
	}
	return false
}

// fullName of a field that may be stated without the message that it belongs to.
func fullName(name string) string {
	for full := range fields {
		if _, own, within := strings.Cut(full, "."); within && own == name {
			return full
		}
	}
	return name
}

// check holds fields to each other, as the module does.
func check(c *config, path string) error {
	tiers := &c.Eip1559.Tiers
	for _, rule := range []struct {
		broken bool
		reason string
	}{
		{c.Weights.Min > c.Weights.Max, "weight_min must not exceed weight_max"},
		{
			tiers.Economy.GT(tiers.Standard) || tiers.Standard.GT(tiers.Fast) || tiers.Fast.GT(tiers.Urgent),
			"priority_tiers must not fall from economy over standard and fast to urgent",
		},
		{
			c.MaxCycles > c.Lane.Cycles,
			"lane_timer_cycles must be at least max_cycles_per_fire, " + strconv.FormatUint(c.MaxCycles, 10),
		},
		{
			c.RemovalCycles > c.OverheadCycles,
			"overhead_cycles_per_block must be at least gc_cycles_per_block, " + strconv.FormatUint(c.RemovalCycles, 10),
		},
		{
			c.Auction.Lambda.LT(c.Auction.Loop.Min) || c.Auction.Lambda.GT(c.Auction.Loop.Max),
			"auction.lambda_start must be from " + c.Auction.Loop.Min.String() + " to " + c.Auction.Loop.Max.String(),
		},
	} {
		if rule.broken {
			return strict.Failf(path, "%s", rule.reason)
		}
	}
	return nil
}
