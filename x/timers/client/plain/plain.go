// Package plain writes values for people, within one line of a terminal.
package plain

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/grpc/status"

	errorsmod "cosmossdk.io/errors"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Dec writes a decimal without the zeros that say nothing: 0.001 for 0.001000000000000000.
func Dec(text string) string {
	if !strings.Contains(text, ".") {
		return text
	}
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// Thousands writes a number with commas: 2,000,000.
func Thousands(n uint64) string {
	digits := strconv.FormatUint(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Count writes a number of things: "1 block", "2,000 blocks".
func Count(n uint64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Thousands(n) + " " + thing + "s"
}

// Clean makes text from elsewhere fit for a terminal: what is not a printable ASCII character, an escape sequence's
// beginning among them, becomes a question mark.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text)
}

// Clip cuts text to a width in characters.
func Clip(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:max(width, 0)])
}

// Elide shortens text to a width by leaving out its middle: an address is told by its ends.
func Elide(text string, width int) string {
	if len(text) <= width {
		return text
	}
	const dots = ".."
	if width <= len(dots) {
		return Clip(text, width)
	}
	left := (width - len(dots) + 1) / 2
	return text[:left] + dots + text[len(text)-(width-len(dots)-left):]
}

// PolicyName is a policy as the config's documentation writes it: fifo, eip1559.
func PolicyName(p types.Policy) string {
	return strings.ToLower(strings.TrimPrefix(p.String(), "POLICY_"))
}

// TierName is a tier as people write it: economy, fast.
func TierName(tier types.PriorityTier) string {
	return strings.ToLower(strings.TrimPrefix(tier.String(), "PRIORITY_TIER_"))
}

// Bid is a bid in few words.
func Bid(bid *types.Bid) string {
	switch {
	case bid == nil:
		return "default"
	case bid.Static != nil:
		return Dec(bid.Static.MaxFeePerCycle.String()) + "+" + Dec(bid.Static.MaxPriorityFeePerCycle.String())
	case bid.Tier != types.TierUnspecified:
		return TierName(bid.Tier)
	case bid.Agent != "":
		return "agent"
	case bid.Price != "":
		return Clean(bid.Price)
	default:
		return "default"
	}
}

// TimerBid is a timer's bid in few words, with what is locked for it where that is another sum than it states.
func TimerBid(t *types.TimerInfo) string {
	stated := t.Spec.Bid.Stated().String()
	switch {
	case t.Status.BidLocked == "" && stated == "0":
		return Bid(t.Spec.Bid)
	case t.Status.BidLocked == "":
		return "0/" + stated
	case t.Status.BidLocked == stated:
		return Clean(t.Status.BidLocked)
	default:
		return Clean(t.Status.BidLocked) + "/" + stated
	}
}

// Shortfall is why a payer could not pay: its balance, or its fee allowance where the balance would do.
func Shortfall(required, available string, allowanceRefused bool) string {
	if allowanceRefused {
		return fmt.Sprintf("wants %s, which its payer's fee allowance does not cover", required)
	}
	return fmt.Sprintf("wants %s, has %s", required, available)
}

// End is why a timer that repeats ended, as people say it: end of life.
func End(r types.EndReason) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(r.String(), "END_REASON_")), "_", " ")
}

// Missing is how many fires were stated and not made; nothing if that is none.
func Missing(fires uint64) string {
	if fires == 0 {
		return ""
	}
	return ", " + Count(fires, "fire") + " short"
}

// Until is when a timer ends: at a height, at a time in seconds since 1970, or at whichever comes first. Stamp writes the time.
func Until(height uint64, seconds int64, stamp func(seconds int64) string) string {
	switch {
	case seconds == 0:
		return fmt.Sprintf("until %d", height)
	case height == 0:
		return "until " + stamp(seconds)
	default:
		return fmt.Sprintf("until %d or %s", height, stamp(seconds))
	}
}

// Next is when a timer is due: at a time in seconds since 1970 if it waits for one, else at a height; a dash for none.
// Stamp writes the time.
func Next(height uint64, seconds int64, stamp func(seconds int64) string) string {
	switch {
	case seconds > 0:
		return stamp(seconds)
	case height > 0:
		return fmt.Sprint(height)
	default:
		return "-"
	}
}

// Skipped is why occurrences passed without a fire.
func Skipped(r types.SkipReason) string {
	return strings.ToLower(strings.TrimPrefix(r.String(), "SKIP_REASON_"))
}

// Wrap breaks text into lines no wider than width, at spaces where there are any.
func Wrap(text string, width int) []string {
	width = max(width, 1)
	var lines []string
	for rest := []rune(text); ; {
		if len(rest) <= width {
			return append(lines, string(rest))
		}
		end := width
		for end > 0 && rest[end] != ' ' {
			end--
		}
		if end == 0 {
			lines, rest = append(lines, string(rest[:width])), rest[width:]
			continue
		}
		lines, rest = append(lines, string(rest[:end])), rest[end+1:]
	}
}

// Registered is the text that an error is registered with: state and events hold none. It is empty for one that this
// binary does not know.
func Registered(codespace string, code uint32) string {
	const mark = "?"
	text := strings.TrimPrefix(errorsmod.ABCIError(codespace, code, mark).Error(), mark+": ")
	if text == "unknown" {
		return ""
	}
	return Clean(text)
}

// sourcePath is where in the code an error arose, as the SDK and the libraries below it write it behind the error's text.
var sourcePath = regexp.MustCompile(`\s*\[[^\[\]\s]+\.go:\d+\]`)

// noAccount is how the chain says that it knows no account of an address.
var noAccount = regexp.MustCompile(`account ([a-z0-9]+1[a-z0-9]+) not found(?:: key not found)?`)

// NoPaths is the text of an error without the places in the code that it came from, and with what it means that there is no
// account: the chain makes one when it first receives coins.
func NoPaths(text string) string {
	parts := strings.Split(sourcePath.ReplaceAllString(text, ""), ": ")
	// An error that is wrapped in its own kind says it twice.
	return noAccount.ReplaceAllString(strings.Join(slices.Compact(parts), ": "), "the account $1 has never received coins")
}

// ServerSays is what the module's server answered, without what the transport wraps around it.
func ServerSays(err error) string {
	text := NoPaths(status.Convert(err).Message())
	if _, after, found := strings.Cut(text, "desc = "); found {
		text = after
	}
	for _, wrapping := range []string{": invalid request", ": unknown request"} {
		text = strings.TrimSuffix(text, wrapping)
	}
	return Clean(fmt.Sprintf("%.300s", Times(text)))
}

// chainTime is a time as the chain writes it.
var chainTime = regexp.MustCompile(`\b(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)Z\b`)

// Times writes the times of a refusal of the chain's as commands write them.
func Times(text string) string { return chainTime.ReplaceAllString(text, "$1 $2 +00:00") }

// gasUsed is what a node adds to the reason of a failure.
var gasUsed = regexp.MustCompile(`\s*[Ww]ith gas (?:wanted: '\d+' and gas )?used: '\d+'\s*`)

// NoAllowance reports whether x/feegrant says that there is no allowance. It has no code of its own for that: SDK 0.53 says the
// first, later lines the second.
func NoAllowance(text string) bool {
	return strings.Contains(text, "fee-grant not found") || strings.Contains(text, "collections: not found")
}

// Refusal is why a simulation failed, without what the node and the transport wrap around it.
func Refusal(err error) string {
	text := gasUsed.ReplaceAllString(ServerSays(err), "")
	for _, wrapping := range []string{"failed to execute message; ", "message index: 0: "} {
		if _, after, found := strings.Cut(text, wrapping); found {
			text = after
		}
	}
	return strings.TrimSuffix(strings.TrimSpace(text), ": unknown request")
}
