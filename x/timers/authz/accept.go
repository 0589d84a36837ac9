package authz

import (
	"context"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	errorsmod "cosmossdk.io/errors"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkerrors "github.com/cosmos/cosmos-sdk/types/errors"
	"github.com/cosmos/cosmos-sdk/x/authz"

	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	// maxMessages bounds the messages of a payload, as the runtime of accounts does.
	maxMessages = 128
	// gasPerComparison is charged for each type that a message is compared with, as x/staking's authorization does.
	gasPerComparison = 10
)

var _ authz.Authorization = (*TimerAuthorization)(nil)

// MsgTypeURL implements authz.Authorization.
func (a *TimerAuthorization) MsgTypeURL() string { return a.MsgTypeUrl }

// Accept implements authz.Authorization. It reads no state but the height: what it accepts keeps to its limits whatever
// the config is, and passes all checks of the message itself afterwards.
func (a *TimerAuthorization) Accept(ctx context.Context, msg sdk.Msg) (authz.AcceptResponse, error) {
	now := types.MomentOf(ctx)
	switch url := sdk.MsgTypeURL(msg); {
	case url != a.MsgTypeUrl:
		return authz.AcceptResponse{}, refused("it is for %s, not for %s", a.MsgTypeUrl, url)
	case now.Height > a.ExpiresAt:
		return authz.AcceptResponse{}, refused("it ended with height %d, now is %d", a.ExpiresAt, now.Height)
	case now.Time > a.ExpiresTime:
		return authz.AcceptResponse{}, refused("it ended at %s, now is %s", types.TimeText(a.ExpiresTime), types.TimeText(now.Time))
	case a.UsesLeft == 0:
		return authz.AcceptResponse{}, refused("it is used up")
	}
	if err := a.checkMessage(ctx, msg); err != nil {
		return authz.AcceptResponse{}, err
	}
	updated := *a
	updated.UsesLeft--
	return authz.AcceptResponse{Accept: true, Delete: updated.UsesLeft == 0, Updated: &updated}, nil
}

func (a *TimerAuthorization) checkMessage(ctx context.Context, msg sdk.Msg) error {
	if err := types.CheckText(sdkerrors.ErrInvalidRequest, msg); err != nil {
		return err
	}
	if of, ok := msg.(interface{ GetActor() string }); ok && of.GetActor() != "" {
		return refused("actor is %.120s, want none: the granter's own timers are granted, not those of its contracts", of.GetActor())
	}
	switch msg := msg.(type) {
	case *types.MsgScheduleTimer:
		return a.checkSchedule(ctx, msg)
	case *types.MsgUpdateTimer:
		return a.checkUpdate(msg)
	case *types.MsgExtendTimer:
		return a.checkExpiry(msg.ExpiresAt, msg.ExpiresTime)
	case *types.MsgPauseTimer, *types.MsgResumeTimer, *types.MsgCancelTimer, *types.MsgSkipTimer, *types.MsgRunTimer:
		return nil
	default:
		return refused("%s can't be granted", sdk.MsgTypeURL(msg))
	}
}

func (a *TimerAuthorization) checkSchedule(ctx context.Context, msg *types.MsgScheduleTimer) error {
	if msg.Spec.Repeat.GetRenew() {
		return refused("renew is set: a timer that renews itself would outlive the authorization, which ends at height %d and at %s",
			a.ExpiresAt, types.TimeText(a.ExpiresTime))
	}
	if msg.Spec.Name != "" {
		return refused("name is %.80q, want none: names are the granter's", msg.Spec.Name)
	}
	if len(msg.Spec.OnlyIf) > 0 {
		return refused("only_if is set: what a fire costs that it keeps from running is not counted among %d fires", a.MaxFires)
	}
	if err := msg.Spec.Trigger.CheckEnd(msg.Spec.ExpiresAt, msg.Spec.ExpiresTime); err != nil {
		return refused("%s", err)
	}
	if err := a.checkExpiry(msg.Spec.ExpiresAt, msg.Spec.ExpiresTime); err != nil {
		return err
	}
	if err := a.checkFires(msg); err != nil {
		return err
	}
	if msg.Spec.FeePayer != "" && msg.Spec.FeePayer != msg.Sender {
		return refused("fee_payer is %.120s, want none: the granter pays", msg.Spec.FeePayer)
	}
	if msg.Spec.GasLimit == 0 {
		return refused("gas_limit is missing: state at most %d", a.GasLimit)
	}
	if err := a.checkLimits(msg.Spec.GasLimit, msg.Spec.CellLimit); err != nil {
		return err
	}
	if err := a.checkBid(msg.Spec.Bid); err != nil {
		return err
	}
	if msg.Spec.Call.Handler != "" && msg.Spec.Call.Handler != types.DefaultHandler {
		return refused("handler is %.80q, want %s", msg.Spec.Call.Handler, types.DefaultHandler)
	}
	if len(msg.Spec.Call.Messages) > 0 {
		if len(msg.Spec.Call.Payload) > 0 {
			return refused("messages are stated together with a payload")
		}
		return a.checkMessages(ctx, msg.Spec.Call.Messages)
	}
	return a.checkPayload(ctx, msg.Spec.Call.Payload)
}

// checkMessages checks the types of stated messages, as checkPayload does those of a payload.
func (a *TimerAuthorization) checkMessages(ctx context.Context, messages []*codectypes.Any) error {
	if len(messages) > maxMessages {
		return refused("there are %d messages, want at most %d", len(messages), maxMessages)
	}
	for i, message := range messages {
		if err := a.checkType(ctx, i, message.GetTypeUrl()); err != nil {
			return err
		}
	}
	return nil
}

// checkType checks the type of one message, and charges the comparisons.
func (a *TimerAuthorization) checkType(ctx context.Context, position int, url string) error {
	sdk.UnwrapSDKContext(ctx).GasMeter().ConsumeGas(gasPerComparison*uint64(len(a.AllowedMessages)), "timer authorization")
	if !slices.Contains(a.AllowedMessages, url) {
		return refused("message %d of the payload is %.120q, which allowed_messages does not list", position, url)
	}
	return nil
}

// checkUpdate lets an update change what a fire may cost, not what it does: the timer may be one of the granter's own,
// which lives on after the authorization.
func (a *TimerAuthorization) checkUpdate(msg *types.MsgUpdateTimer) error {
	if err := types.CheckFields(msg.Fields); err != nil {
		return refused("%s", err)
	}
	for _, field := range msg.Fields {
		switch {
		case field == "bid":
			if err := a.checkBid(msg.Spec.Bid); err != nil {
				return err
			}
		case field == "gas_limit" && msg.Spec.GasLimit == 0, field == "cell_limit" && msg.Spec.CellLimit == 0:
			return refused("an update must not return %s to its default, which may be above what is granted: state it", field)
		case field != "gas_limit" && field != "cell_limit":
			return refused("an update must not state %.80q, but gas_limit, cell_limit and bid alone", field)
		}
	}
	return a.checkLimits(msg.Spec.GasLimit, msg.Spec.CellLimit)
}

// checkExpiry demands a stated end, since the default is as late as the config allows: in the clock of the timer, as the message
// itself checks.
func (a *TimerAuthorization) checkExpiry(height uint64, seconds int64) error {
	switch {
	case height == 0 && seconds == 0:
		return refused("the end is missing: state expires_at up to %d or, of a timer that ends at a time, expires_time up to %d, where the "+
			"authorization ends", a.ExpiresAt, a.ExpiresTime)
	case height > a.ExpiresAt:
		return refused("expires_at is %d, want at most %d, where the authorization ends", height, a.ExpiresAt)
	case seconds < 0 || seconds > a.ExpiresTime:
		return refused("expires_time is %d, want at most %d, where the authorization ends", seconds, a.ExpiresTime)
	}
	return nil
}

// checkFires bounds the repetitions of a timer, each with all its retries.
func (a *TimerAuthorization) checkFires(msg *types.MsgScheduleTimer) error {
	repetitions := msg.Spec.Repetitions()
	tries := uint64(1)
	if msg.Spec.Retry != nil {
		tries += uint64(msg.Spec.Retry.Max)
	}
	switch {
	case repetitions == 0:
		return refused("remaining is missing: the timer could fire without end, want at most %d fires", a.MaxFires)
	case repetitions > a.MaxFires/tries:
		return refused("%d repetitions of up to %d tries are more than %d fires", repetitions, tries, a.MaxFires)
	}
	return nil
}

func (a *TimerAuthorization) checkLimits(gas, cells uint64) error {
	switch {
	case gas > a.GasLimit:
		return refused("gas_limit is %d, want at most %d", gas, a.GasLimit)
	case cells > a.CellLimit && a.CellLimit == 0:
		return refused("cell_limit is %d, want none: the default of the config holds", cells)
	case cells > a.CellLimit:
		return refused("cell_limit is %d, want at most %d", cells, a.CellLimit)
	case cells == 0 && a.CellLimit > 0 && a.MsgTypeUrl == scheduleURL:
		return refused("cell_limit is missing: state at most %d", a.CellLimit)
	}
	return nil
}

// bidKind is one of the ways to bid, which can't be compared with each other.
type bidKind string

const (
	defaultBid bidKind = "no bid"
	staticBid  bidKind = "static prices"
	tierBid    bidKind = "a tier"
	agentBid   bidKind = "an agent"
	priceBid   bidKind = "a price"
)

func kindOf(bid *types.Bid) bidKind {
	switch {
	case bid == nil:
		return defaultBid
	case bid.Static != nil:
		return staticBid
	case bid.Tier != types.TierUnspecified:
		return tierBid
	case bid.Agent != "":
		return agentBid
	case bid.Price != "":
		return priceBid
	}
	return defaultBid
}

// checkBid demands a bid of the kind of the highest one, and not above it.
func (a *TimerAuthorization) checkBid(bid *types.Bid) error {
	for _, stated := range []*types.Bid{bid, a.MaxBid} {
		if err := stated.Validate(); err != nil {
			return err
		}
	}
	kind := kindOf(a.MaxBid)
	if stated := kindOf(bid); stated != kind {
		return refused("the bid states %s, want %s", stated, kind)
	}
	if (kind == staticBid && above(bid.Static, a.MaxBid.Static)) || (kind == tierBid && bid.Tier > a.MaxBid.Tier) ||
		(kind == agentBid && bid.Agent != a.MaxBid.Agent) || (kind == priceBid && exceeds(bid.Price, a.MaxBid.Price)) {
		return refused("the bid (%.200s) is not within %.200s", bid, a.MaxBid)
	}
	return nil
}

func above(bid, limit *types.StaticBid) bool {
	return bid.MaxFeePerCycle.GT(limit.MaxFeePerCycle.LegacyDec) || bid.MaxPriorityFeePerCycle.GT(limit.MaxPriorityFeePerCycle.LegacyDec)
}

// exceeds compares integers in decimal; what does not parse exceeds every limit.
func exceeds(price, limit string) bool {
	stated, statedOK := types.ParseAmount(price)
	most, mostOK := types.ParseAmount(limit)
	return !statedOK || !mostOK || stated.GT(most)
}

// checkPayload reads the types of the messages that an account's timer runs. It decodes none of them, and stops at the
// first that is not allowed. That each is well formed and signed by the granter alone is checked when the timer is
// scheduled.
func (a *TimerAuthorization) checkPayload(ctx context.Context, payload []byte) error {
	if len(payload) == 0 {
		return refused("the payload has no messages")
	}
	for n := 1; len(payload) > 0; n++ {
		if n > maxMessages {
			return refused("the payload has more than %d messages", maxMessages)
		}
		field, kind, size := protowire.ConsumeTag(payload)
		if size < 0 || field != 1 || kind != protowire.BytesType {
			return refused("the payload is no timers.v1.AccountPayload")
		}
		packed, length := protowire.ConsumeBytes(payload[size:])
		if length < 0 {
			return refused("the payload is no timers.v1.AccountPayload")
		}
		payload = payload[size+length:]
		var message codectypes.Any
		if err := message.Unmarshal(packed); err != nil {
			return refused("message %d of the payload: %.300v", n-1, err)
		}
		if err := a.checkType(ctx, n-1, message.TypeUrl); err != nil {
			return err
		}
	}
	return nil
}

func refused(format string, args ...any) error {
	return sdkerrors.ErrUnauthorized.Wrapf("timer authorization: "+format, args...)
}

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
	case a.ExpiresTime <= 0 || a.ExpiresTime > types.MaxTime:
		return invalid("expires_time is %d, want the last time at which a timer may fire, in seconds since 1970, at most %d", a.ExpiresTime, types.MaxTime)
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

// RegisterInterfaces registers the authorization.
func RegisterInterfaces(registry codectypes.InterfaceRegistry) {
	registry.RegisterImplementations((*authz.Authorization)(nil), &TimerAuthorization{})
}
