package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/envelope"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// The flags by which scheduling and updating say what a timer does and what it is willing to pay.
const (
	flagMsgs        = "msgs"
	flagPayload     = "payload"
	flagPayloadFile = "payload-file"
	flagHandler     = "handler"
	flagGasLimit    = "gas-limit"
	flagMaxFee      = "max-fee"
	flagMaxPriority = "max-priority"
	flagTier        = "tier"
)

func addCallFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.String(flagMsgs, "", `JSON file with the messages to run: an array, an object {"messages": [...]}, or an unsigned transaction; "-" reads the standard input`)
	f.String(flagPayload, "", "payload in hexadecimal or base64, instead of messages")
	f.String(flagPayloadFile, "", `file with the payload as it is; "-" reads the standard input`)
	f.String(flagHandler, "", fmt.Sprintf("handler to call (default %q; an account has no other)", types.DefaultHandler))
	f.String(flagAgent, "", "contract or module that is asked for the bid in each block in which the timer competes")
	addBidFlags(cmd)
}

// addBidFlags adds the flags of what a fire may use and what it is willing to pay.
func addBidFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.String(flagGasLimit, "", "cycles that one fire may use (default: the most that the chain allows)")
	f.String(flagMaxFee, "", "most that the lane's fee and the tip for a cycle may be together, in the fee denom; with --"+flagMaxPriority)
	f.String(flagMaxPriority, "", "most that the tip for a cycle may be, in the fee denom; with --"+flagMaxFee)
	addPriceFlag(f)
	f.String(flagTier, "", "tip by a named multiple of the usual one: "+strings.Join(tierNames(), ", "))
}

// call is what a timer does when it fires: from --msgs, --payload or --payload-file. It is nil if none was given and
// none is needed.
func (j *job) call(needed bool) (*types.TimerCall, error) {
	flag, value, err := j.oneOf("what the timer does", needed, flagMsgs, flagPayloadFile, flagPayload)
	if err != nil {
		return nil, err
	}
	handler, hasHandler := j.stated(flagHandler)
	if flag == "" {
		if hasHandler {
			return nil, fmt.Errorf("--%s %q replaces the payload with the handler: want one of %s beside it",
				flagHandler, handler, listFlags([]string{flagMsgs, flagPayloadFile, flagPayload}))
		}
		return nil, nil
	}
	if err := checkHandler(handler, flag == flagMsgs); err != nil {
		return nil, err
	}
	payload, err := j.payload(flag, value)
	if err != nil {
		return nil, fmt.Errorf("--%s %.200s: %w", flag, value, err)
	}
	if named, _, wrapped := envelope.Unwrap(payload); wrapped && handler != "" {
		return nil, fmt.Errorf("--%s %q is stated beside a payload that names the handler %q (_handler): want one of them",
			flagHandler, handler, named)
	}
	return &types.TimerCall{Handler: handler, Payload: payload}, nil
}

func checkHandler(handler string, ofAccount bool) error {
	switch {
	case ofAccount && handler != "" && handler != types.DefaultHandler:
		return fmt.Errorf("--%s %.80q: messages are run by the handler %q, the only one that an account has",
			flagHandler, handler, types.DefaultHandler)
	case len(handler) > types.MaxHandlerBytes:
		return fmt.Errorf("--%s has %d bytes, want at most %d", flagHandler, len(handler), types.MaxHandlerBytes)
	case !utf8.ValidString(handler):
		return fmt.Errorf("--%s %.80q is not UTF-8", flagHandler, handler)
	}
	return nil
}

func (j *job) payload(flag, value string) ([]byte, error) {
	if flag == flagPayload {
		return parseBytes(value)
	}
	content, err := j.readFile(value)
	if err != nil || flag == flagPayloadFile {
		return content, err
	}
	msgs, err := parseMessages(j.Codec, content)
	if err != nil {
		return nil, err
	}
	j.msgs = msgs
	return accountPayload(j.Codec, j.from, msgs)
}

// gasLimit is what --gas-limit says, or 0.
func (j *job) gasLimit() (uint64, error) {
	text, given := j.stated(flagGasLimit)
	if !given {
		return 0, nil
	}
	limit, err := parseCount(text, "number of cycles")
	if err != nil {
		return 0, fmt.Errorf("--%s: %w", flagGasLimit, err)
	}
	return limit, nil
}

// bid is what the timer is willing to pay, or nil if no flag says so.
func (j *job) bid() (*types.Bid, error) {
	if agent, err := j.agentBid(); agent != nil || err != nil {
		return agent, err
	}
	if price, err := j.price(); price != nil || err != nil {
		return price, err
	}
	maxFee, hasFee := j.stated(flagMaxFee)
	maxPriority, hasPriority := j.stated(flagMaxPriority)
	tier, hasTier := j.stated(flagTier)
	switch {
	case hasTier && (hasFee || hasPriority):
		return nil, fmt.Errorf("--%s %q is stated beside --%s or --%s: want a tier or prices", flagTier, tier, flagMaxFee, flagMaxPriority)
	case hasFee != hasPriority:
		return nil, fmt.Errorf("--%s and --%s go together: want both or neither", flagMaxFee, flagMaxPriority)
	case hasTier:
		return parseTier(tier)
	case hasFee:
		return parseStaticBid(maxFee, maxPriority)
	default:
		return nil, nil
	}
}

func parseStaticBid(maxFee, maxPriority string) (*types.Bid, error) {
	fee, err := math.LegacyNewDecFromStr(maxFee)
	if err != nil {
		return nil, fmt.Errorf("--%s %.80q is no decimal such as 0.002: %w", flagMaxFee, maxFee, err)
	}
	priority, err := math.LegacyNewDecFromStr(maxPriority)
	if err != nil {
		return nil, fmt.Errorf("--%s %.80q is no decimal such as 0.0005: %w", flagMaxPriority, maxPriority, err)
	}
	bid := &types.Bid{Static: &types.StaticBid{MaxFeePerCycle: fee, MaxPriorityFeePerCycle: priority}}
	if err := bid.Validate(); err != nil {
		return nil, fmt.Errorf("--%s and --%s: %w", flagMaxFee, flagMaxPriority, err)
	}
	return bid, nil
}

const tierPrefix = "PRIORITY_TIER_"

func parseTier(text string) (*types.Bid, error) {
	value, known := types.PriorityTier_value[tierPrefix+strings.ToUpper(text)]
	tier := types.PriorityTier(value)
	if !known || tier == types.TierUnspecified {
		return nil, fmt.Errorf("--%s %.80q is unknown: want one of %s", flagTier, text, strings.Join(tierNames(), ", "))
	}
	return &types.Bid{Tier: tier}, nil
}

// tierNames are the tiers as people write them, cheapest first.
func tierNames() []string {
	var names []string
	for _, value := range slices.Sorted(maps.Keys(types.PriorityTier_name)) {
		if types.PriorityTier(value) != types.TierUnspecified {
			names = append(names, strings.ToLower(strings.TrimPrefix(types.PriorityTier_name[value], tierPrefix)))
		}
	}
	return names
}
