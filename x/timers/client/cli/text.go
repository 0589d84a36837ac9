package cli

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/grpc/status"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// trimDec writes a decimal without the zeros that say nothing: 0.001 for 0.001000000000000000.
func trimDec(text string) string {
	if !strings.Contains(text, ".") {
		return text
	}
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// thousands writes a number with commas: 2,000,000.
func thousands(n uint64) string {
	digits := strconv.FormatUint(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// count writes a number of things: "1 block", "2,000 blocks".
func count(n uint64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return thousands(n) + " " + thing + "s"
}

// clean makes text from elsewhere fit for a terminal: what is not a printable ASCII character, an escape sequence's
// beginning among them, becomes a question mark.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text)
}

// clip cuts text to a width in characters.
func clip(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:max(width, 0)])
}

// elide shortens text to a width by leaving out its middle: an address is told by its ends.
func elide(text string, width int) string {
	if len(text) <= width {
		return text
	}
	const dots = ".."
	if width <= len(dots) {
		return clip(text, width)
	}
	left := (width - len(dots) + 1) / 2
	return text[:left] + dots + text[len(text)-(width-len(dots)-left):]
}

// policyName is a policy as the config's documentation writes it: fifo, eip1559.
func policyName(p types.Policy) string {
	return strings.ToLower(strings.TrimPrefix(p.String(), "POLICY_"))
}

// bidText is a bid in few words.
func bidText(bid *types.Bid) string {
	switch {
	case bid == nil:
		return "default"
	case bid.Static != nil:
		return trimDec(bid.Static.MaxFeePerCycle.String()) + "+" + trimDec(bid.Static.MaxPriorityFeePerCycle.String())
	case bid.Tier != types.TierUnspecified:
		return strings.ToLower(strings.TrimPrefix(bid.Tier.String(), tierPrefix))
	case bid.Agent != "":
		return "agent"
	case bid.Price != "":
		return clean(bid.Price)
	default:
		return "default"
	}
}

// serverSays is what the module's server answered, without what the transport wraps around it.
func serverSays(err error) string {
	text := status.Convert(err).Message()
	if _, after, found := strings.Cut(text, "desc = "); found {
		text = after
	}
	for _, wrapping := range []string{": invalid request", ": unknown request"} {
		text = strings.TrimSuffix(text, wrapping)
	}
	return clean(fmt.Sprintf("%.300s", text))
}
