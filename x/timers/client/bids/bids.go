// Package bids reads what a timer is willing to pay, and knows what each policy makes of that.
package bids

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types"
)

var wholeNumber = regexp.MustCompile(`^(0|[1-9][0-9]*)$`)

// AddFlags adds the flags of what a fire may use and what it is willing to pay.
func AddFlags(f *pflag.FlagSet) {
	f.String(FlagGasLimit, "", "cycles that one fire may use (default: the most that the chain allows)")
	f.String(FlagCellLimit, "", "bytes of state that one fire may write, keys included (default: the chain's)")
	f.String(FlagMaxCharge, "", "most that one fire may cost, a whole amount in the fee denom; none for no bound")
	f.String(FlagMaxFee, "", "most that the lane's fee and the tip for a unit of size may be together, in the fee denom; with --"+FlagMaxPriority)
	f.String(FlagMaxPriority, "", "most that the tip for a unit of size may be, in the fee denom; with --"+FlagMaxFee)
	f.String(FlagBid, "", "bid for one fire, a whole amount in the fee denom: "+sumHelp())
	f.String(FlagTier, "", "tip by a named multiple of the usual one: "+strings.Join(TierNames(), ", "))
}

// withDenom is a number and a denom, as amounts are written.
var withDenom = regexp.MustCompile(`^([0-9.]+)([a-zA-Z][a-zA-Z0-9/:._-]{2,127})$`)

// feeDenomOf is the denom in which fires are paid. It is asked for because the text of a flag states a denom.
func feeDenomOf(j *job.Job, flag, text string) (string, error) {
	if j.Offline {
		return "", fmt.Errorf("--%s %.80q: no node says what the fee denom is: want a number alone", flag, text)
	}
	params, err := types.NewQueryClient(j.Context).Params(j.Ctx, &types.QueryParamsRequest{})
	if err != nil {
		return "", fmt.Errorf("--%s %.80q: ask for the fee denom: %s", flag, text, plain.ServerSays(err))
	}
	return params.Config.FeeDenom, nil
}

// withoutDenom is the number of a price that may state its denom: the fee denom of the chain is the only one.
func withoutDenom(j *job.Job, flag, text string) (string, error) {
	m := withDenom.FindStringSubmatch(text)
	if m == nil {
		return text, nil
	}
	fees, err := feeDenomOf(j, flag, text)
	if err == nil && m[2] != fees {
		err = fmt.Errorf("--%s %.80q: fires are paid in %s, and not in %s", flag, text, fees, m[2])
	}
	return m[1], err
}

// wholeAmount is an amount of the fee denom: a whole number of it, with or without the denom, or an amount of another of
// its units.
func wholeAmount(j *job.Job, flag, text string) (string, error) {
	if !withDenom.MatchString(text) {
		if !wholeNumber.MatchString(text) {
			return "", fmt.Errorf("--%s %.80q is no whole amount such as 5000", flag, text)
		}
		return text, nil
	}
	fees, err := feeDenomOf(j, flag, text)
	if err != nil {
		return "", err
	}
	if text == "0"+fees {
		return "0", nil
	}
	coin, err := j.Coin(text)
	if err != nil {
		return "", fmt.Errorf("--%s: %w; fires are paid in %s", flag, err, fees)
	}
	if coin.Denom != fees {
		return "", fmt.Errorf("--%s %.80q: fires are paid in %s, and not in %s", flag, text, fees, coin.Denom)
	}
	return coin.Amount.String(), nil
}

// price is what --bid says, or nil.
func price(j *job.Job) (*types.Bid, error) {
	text, given := j.Stated(FlagBid)
	if !given {
		return nil, nil
	}
	for _, other := range []string{FlagMaxFee, FlagMaxPriority, FlagTier} {
		if _, twice := j.Stated(other); twice {
			return nil, fmt.Errorf("--%s %.80q is stated beside --%s: want one kind of bid", FlagBid, text, other)
		}
	}
	text, err := wholeAmount(j, FlagBid, text)
	if err != nil {
		return nil, err
	}
	bid := &types.Bid{Price: text}
	if _, err := bid.Kept(); err != nil {
		return nil, fmt.Errorf("--%s: %w", FlagBid, err)
	}
	return bid, nil
}

// agentBid is the bid of --agent, nil if it is not given.
func agentBid(j *job.Job) (*types.Bid, error) {
	text, given := j.Stated(FlagAgent)
	if !given {
		return nil, nil
	}
	for _, other := range []string{FlagMaxFee, FlagMaxPriority, FlagTier, FlagBid} {
		if value, given := j.Stated(other); given {
			return nil, fmt.Errorf("--%s %q is stated beside --%s %q: want an agent or a bid", FlagAgent, text, other, value)
		}
	}
	agent, err := j.LookupAccount(text)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", FlagAgent, err)
	}
	return &types.Bid{Agent: agent.Text}, nil
}

// Limits are what one fire may use; 0 where none is stated. MaxCharge is the most that it may cost, empty if none is stated.
type Limits struct {
	Gas, Cells uint64
	MaxCharge  string
	// DefaultCharge: the most that it may cost is a multiple of what it costs at most today, which an estimate tells.
	DefaultCharge bool
}

// AutoGas is the gas limit that a dry run finds, in the commands that try the messages of a timer.
const AutoGas = "auto"

// ReadLimitsOrAuto does what ReadLimits does, and takes AutoGas: then no gas limit is returned.
func ReadLimitsOrAuto(j *job.Job) (limits Limits, auto bool, err error) {
	if text, _ := j.Stated(FlagGasLimit); text != AutoGas {
		limits, err = ReadLimits(j)
		return limits, false, err
	}
	limits, err = readOtherLimits(j)
	return limits, true, err
}

// ReadLimits returns what --gas-limit, --cell-limit and --max-charge say.
func ReadLimits(j *job.Job) (limits Limits, err error) {
	if limits, err = readOtherLimits(j); err != nil {
		return limits, err
	}
	limits.Gas, err = limit(j, FlagGasLimit, "number of cycles")
	return limits, err
}

// readOtherLimits are all but the gas limit.
func readOtherLimits(j *job.Job) (limits Limits, err error) {
	if limits.Cells, err = limit(j, FlagCellLimit, "number of cells"); err != nil {
		return limits, err
	}
	text, given := j.Stated(FlagMaxCharge)
	switch {
	case !given:
	case text == NoMaxCharge:
		limits.MaxCharge = "0"
	case text == DefaultMaxCharge:
		limits.DefaultCharge = true
	default:
		limits.MaxCharge, err = wholeAmount(j, FlagMaxCharge, text)
	}
	return limits, err
}

// limit is what a flag says, or 0.
func limit(j *job.Job, flag, what string) (uint64, error) {
	text, given := j.Stated(flag)
	if !given {
		return 0, nil
	}
	number, err := timespan.ParseCount(text, what)
	if err != nil {
		return 0, fmt.Errorf("--%s: %w", flag, err)
	}
	return number, nil
}

// Read returns what the timer is willing to pay, or nil if no flag says so.
func Read(j *job.Job) (*types.Bid, error) {
	if agent, err := agentBid(j); agent != nil || err != nil {
		return agent, err
	}
	if price, err := price(j); price != nil || err != nil {
		return price, err
	}
	maxFee, hasFee := j.Stated(FlagMaxFee)
	maxPriority, hasPriority := j.Stated(FlagMaxPriority)
	tier, hasTier := j.Stated(FlagTier)
	switch {
	case hasTier && (hasFee || hasPriority):
		return nil, fmt.Errorf("--%s %q is stated beside --%s or --%s: want a tier or prices", FlagTier, tier, FlagMaxFee, FlagMaxPriority)
	case hasFee != hasPriority:
		return nil, fmt.Errorf("--%s and --%s go together: want both or neither", FlagMaxFee, FlagMaxPriority)
	case hasTier:
		return parseTier(tier)
	case hasFee:
		var err error
		if maxFee, err = withoutDenom(j, FlagMaxFee, maxFee); err != nil {
			return nil, err
		}
		if maxPriority, err = withoutDenom(j, FlagMaxPriority, maxPriority); err != nil {
			return nil, err
		}
		return parseStaticBid(maxFee, maxPriority)
	default:
		return nil, nil
	}
}

// maxPriceBytes bounds the text of a price: more digits than any has.
const maxPriceBytes = 100

// parsePrice reads a price of any sign, which the bid refuses by its name.
func parsePrice(text string) (math.LegacyDec, error) {
	if len(text) > maxPriceBytes {
		return math.LegacyDec{}, fmt.Errorf("%d bytes, want at most %d", len(text), maxPriceBytes)
	}
	return math.LegacyNewDecFromStr(text)
}

func parseStaticBid(maxFee, maxPriority string) (*types.Bid, error) {
	fee, err := parsePrice(maxFee)
	if err != nil {
		return nil, fmt.Errorf("--%s %.80q is no decimal such as 0.002, of at most 18 digits behind the point", FlagMaxFee, maxFee)
	}
	priority, err := parsePrice(maxPriority)
	if err != nil {
		return nil, fmt.Errorf("--%s %.80q is no decimal such as 0.0005, of at most 18 digits behind the point", FlagMaxPriority, maxPriority)
	}
	bid := &types.Bid{Static: &types.StaticBid{MaxFeePerCycle: decimal.Of(fee), MaxPriorityFeePerCycle: decimal.Of(priority)}}
	if err := bid.Validate(); err != nil {
		return nil, fmt.Errorf("--%s and --%s: %w", FlagMaxFee, FlagMaxPriority, err)
	}
	return bid, nil
}

func parseTier(text string) (*types.Bid, error) {
	for _, tier := range tiers() {
		if plain.TierName(tier) == strings.ToLower(text) {
			return &types.Bid{Tier: tier}, nil
		}
	}
	return nil, fmt.Errorf("--%s %.80q is unknown: want one of %s", FlagTier, text, strings.Join(TierNames(), ", "))
}

// tiers are all tiers, cheapest first.
func tiers() []types.PriorityTier {
	var all []types.PriorityTier
	for _, value := range slices.Sorted(maps.Keys(types.PriorityTier_name)) {
		if tier := types.PriorityTier(value); tier != types.TierUnspecified {
			all = append(all, tier)
		}
	}
	return all
}

// TierNames are the tiers, cheapest first, as people write them.
func TierNames() []string {
	var names []string
	for _, tier := range tiers() {
		names = append(names, plain.TierName(tier))
	}
	return names
}
