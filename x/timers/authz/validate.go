package authz

import (
	"slices"
	"strings"

	errorsmod "cosmossdk.io/errors"

	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkerrors "github.com/cosmos/cosmos-sdk/types/errors"

	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	// maxAllowedMessages bounds the comparisons of a use.
	maxAllowedMessages = 64
	// maxTypeURLBytes bounds one type URL, as in the config.
	maxTypeURLBytes = 256
)

// The types of messages that can be authorized.
var (
	scheduleURL = sdk.MsgTypeURL(&types.MsgScheduleTimer{})
	updateURL   = sdk.MsgTypeURL(&types.MsgUpdateTimer{})
	grantable   = []string{
		scheduleURL, updateURL, sdk.MsgTypeURL(&types.MsgExtendTimer{}), sdk.MsgTypeURL(&types.MsgPauseTimer{}),
		sdk.MsgTypeURL(&types.MsgResumeTimer{}), sdk.MsgTypeURL(&types.MsgCancelTimer{}),
		sdk.MsgTypeURL(&types.MsgSkipTimer{}), sdk.MsgTypeURL(&types.MsgRunTimer{}),
	}
)

// handsOn are prefixes of messages that hand on power: a timer that runs one of them could schedule or grant what
// outlives the authorization.
var handsOn = []string{"/timers.", "/cosmos.authz."}

// ValidateBasic implements authz.Authorization. It demands every limit that the type of message needs, and refuses one
// that it does not have, so that no one relies on a limit without effect.
func (a *TimerAuthorization) ValidateBasic() error {
	if err := types.CheckText(sdkerrors.ErrInvalidRequest, a); err != nil {
		return err
	}
	if err := a.validateEach(); err != nil {
		return err
	}
	schedules := a.MsgTypeUrl == scheduleURL
	bounded := schedules || a.MsgTypeUrl == updateURL
	switch {
	case schedules && a.MaxFires == 0:
		return invalid("max_fires is 0, want how often a timer may fire, retries included")
	case schedules && a.GasLimit == 0:
		return invalid("gas_limit is 0, want the largest gas limit of a timer")
	case !schedules && (a.MaxFires != 0 || len(a.AllowedMessages) > 0):
		return invalid("max_fires and allowed_messages are for %s, not for %s", scheduleURL, a.MsgTypeUrl)
	case !bounded && (a.GasLimit != 0 || a.CellLimit != 0 || a.MaxBid != nil):
		return invalid("gas_limit, cell_limit and max_bid are for %s and %s, not for %s", scheduleURL, updateURL, a.MsgTypeUrl)
	}
	if schedules {
		if err := validateAllowed(a.AllowedMessages); err != nil {
			return err
		}
	}
	if a.MaxBid != nil && kindOf(a.MaxBid) == defaultBid {
		return invalid("max_bid states nothing: leave it out for the default bid")
	}
	return errorsmod.Wrap(a.MaxBid.Validate(), "max_bid")
}

// validateEach checks what every authorization states.
func (a *TimerAuthorization) validateEach() error {
	switch {
	case !slices.Contains(grantable, a.MsgTypeUrl):
		return invalid("msg_type_url is %.120q, want one of %s", a.MsgTypeUrl, strings.Join(grantable, ", "))
	case a.ExpiresAt == 0:
		return invalid("expires_at is missing: want the last height at which a timer may fire")
	case a.UsesLeft == 0:
		return invalid("uses_left is 0, want at least 1")
	}
	return nil
}

// validateAllowed checks a list of types of messages. It has no wildcard: the types are what bounds the harm.
func validateAllowed(urls []string) error {
	if len(urls) == 0 || len(urls) > maxAllowedMessages {
		return invalid("allowed_messages has %d entries, want 1 to %d", len(urls), maxAllowedMessages)
	}
	for i, url := range urls {
		switch {
		case len(url) < 2 || len(url) > maxTypeURLBytes || url[0] != '/':
			return invalid("allowed_messages: %.120q is no type URL such as /cosmos.bank.v1beta1.MsgSend", url)
		case slices.Contains(urls[:i], url):
			return invalid("allowed_messages: %.120q is listed twice", url)
		case slices.ContainsFunc(handsOn, func(prefix string) bool { return strings.HasPrefix(url, prefix) }):
			return invalid("allowed_messages: %.120q could schedule or grant what outlives the authorization", url)
		}
	}
	return nil
}

func invalid(format string, args ...any) error {
	return sdkerrors.ErrInvalidRequest.Wrapf("timer authorization: "+format, args...)
}
