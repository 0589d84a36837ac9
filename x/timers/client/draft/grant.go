package draft

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/x/authz"

	timersauthz "github.com/cosmos-timers/timers/x/timers/authz"
	"github.com/cosmos-timers/timers/x/timers/client/bids"
	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// forSchedule is what a grant is for by default.
const forSchedule = "schedule"

// granted are the messages that can be granted, by the names of their commands.
var granted = map[string]sdk.Msg{
	forSchedule: &types.MsgScheduleTimer{}, "update": &types.MsgUpdateTimer{}, "extend": &types.MsgExtendTimer{},
	"pause": &types.MsgPauseTimer{}, "resume": &types.MsgResumeTimer{}, "cancel": &types.MsgCancelTimer{},
}

// AddGrantFlags adds the flags that Grant reads.
func AddGrantFlags(f *pflag.FlagSet) {
	f.String(FlagFor, forSchedule, "what the grantee may do: schedule, update, extend, pause, resume or cancel")
	f.StringSlice(flagAllow, nil, "types of the messages that a scheduled timer may run, such as /cosmos.gov.v1.MsgVote")
	f.String(flagMaxFires, "1", "how often a scheduled timer may fire, retries included")
	f.String(flagUses, "1", "how many messages the grantee may send")
	f.String(flagExpiresAt, "", "last height at which the grantee may act, and at which a timer that is scheduled or extended may fire")
	f.String(flagExpiresIn, "", "the same as a distance from now: a number of blocks, or a time such as 2d")
	f.String(flagExpiresTime, "", "last date and time for the same, of timers that end at a time (default: when that height is expected)")
	f.String(bids.FlagAgent, "", "the only agent that may be named for the bid")
	bids.AddFlags(f)
	f.Lookup(bids.FlagMaxCharge).Hidden = true
	f.Lookup(bids.FlagGasLimit).Usage = "most cycles that a fire may be allowed to use"
	f.Lookup(bids.FlagCellLimit).Usage = "most cells that a fire may be allowed to write (default: a timer may state no cell limit)"
}

// Grant reads what the signer lets a grantee do with its timers.
func (d *Draft) Grant(grantee string) (*authz.MsgGrant, error) {
	account, err := d.LookupAccount(grantee)
	if err != nil {
		return nil, err
	}
	authorization, err := d.authorization()
	if err != nil {
		return nil, err
	}
	flag, text, err := d.OneOf("until when the grant lasts", true, flagExpiresAt, flagExpiresIn)
	if err != nil {
		return nil, err
	}
	if authorization.ExpiresAt, err = d.height(flag, text); err != nil {
		return nil, err
	}
	expiration, err := d.expiration(authorization.ExpiresAt)
	if err != nil {
		return nil, err
	}
	authorization.ExpiresTime = timespan.Seconds(expiration)
	if err := authorization.ValidateBasic(); err != nil {
		return nil, err
	}
	msg := &authz.MsgGrant{Granter: d.Signer.Text, Grantee: account.Text, Grant: authz.Grant{Expiration: &expiration}}
	return msg, msg.SetAuthorization(authorization)
}

// authorization reads the limits of a grant, all but its end.
func (d *Draft) authorization() (*timersauthz.TimerAuthorization, error) {
	action, err := d.Flags.GetString(FlagFor)
	if err != nil {
		return nil, err
	}
	msg, known := granted[action]
	if !known {
		return nil, fmt.Errorf("--%s %.80q is unknown: want schedule, update, extend, pause, resume or cancel", FlagFor, action)
	}
	a := &timersauthz.TimerAuthorization{MsgTypeUrl: sdk.MsgTypeURL(msg)}
	if a.AllowedMessages, err = d.Flags.GetStringSlice(flagAllow); err != nil {
		return nil, err
	}
	if a.UsesLeft, err = d.number(flagUses, "number of messages"); err != nil {
		return nil, err
	}
	if _, stated := d.Stated(flagMaxFires); stated || action == forSchedule {
		if a.MaxFires, err = d.number(flagMaxFires, "number of fires"); err != nil {
			return nil, err
		}
	}
	limits, err := bids.ReadLimits(d.Job)
	if err != nil {
		return nil, err
	}
	if limits.MaxCharge != "" {
		return nil, fmt.Errorf("--%s: an authorization bounds limits and bids, and no charge", bids.FlagMaxCharge)
	}
	a.GasLimit, a.CellLimit = limits.Gas, limits.Cells
	a.MaxBid, err = bids.Read(d.Job)
	return a, err
}

// number reads a positive number.
func (d *Draft) number(flag, what string) (uint64, error) {
	n, err := timespan.ParseCount(d.Flags.Lookup(flag).Value.String(), what)
	if err != nil {
		return 0, fmt.Errorf("--%s: %w", flag, err)
	}
	return n, nil
}

// expiration is the time at which a grant ends: the one that is stated, or when the chain is expected to reach the height.
func (d *Draft) expiration(height uint64) (time.Time, error) {
	text, stated := d.Stated(flagExpiresTime)
	if stated {
		at, err := d.moment(flagExpiresTime, text)
		return at.UTC(), err
	}
	if d.Offline {
		return time.Time{}, fmt.Errorf("when height %d comes is not known without a node, and a grant ends at a time too: state --%s", height, flagExpiresTime)
	}
	c, err := d.Clock()
	switch {
	case err != nil:
		return time.Time{}, err
	case height <= c.Height:
		return time.Time{}, fmt.Errorf("height %d has passed: the latest block is %d", height, c.Height)
	case c.PaceErr != nil:
		return time.Time{}, fmt.Errorf("when height %d comes is not known: %w; state --%s", height, c.PaceErr, flagExpiresTime)
	}
	d.Notef("lasts until height %d, and so does every timer under it: %s", height, c.Describe(height))
	return c.Expected(height).UTC(), nil
}
