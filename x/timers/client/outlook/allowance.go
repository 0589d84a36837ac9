package outlook

import (
	"fmt"
	"slices"
	"time"

	cmtproto "github.com/cometbft/cometbft/proto/tendermint/types"

	"cosmossdk.io/log"
	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"
	"cosmossdk.io/x/feegrant"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Sponsor is an account that lets another's timers be charged to it, by a fee allowance.
type Sponsor struct {
	payer, actor string
	grant        *feegrant.Grant
}

// CheckPayer asks for the allowance of a payer, and refuses one that does not name the scheduling of timers, or is too large
// to be read, as the chain would. The sponsor is nil if the actor pays, or where the node does not tell: then the chain will.
func (o *Outlook) CheckPayer(j *job.Job, payer, actor string) (*Sponsor, error) {
	if payer == "" || payer == actor {
		return nil, nil
	}
	url := sdk.MsgTypeURL(&types.MsgScheduleTimer{})
	found, err := feegrant.NewQueryClient(j.Context).Allowance(j.Ctx, &feegrant.QueryAllowanceRequest{Granter: payer, Grantee: actor})
	switch {
	case err != nil && plain.NoAllowance(err.Error()):
		return nil, fmt.Errorf("%s has granted %s no fee allowance: it would have to send tx feegrant grant ... --allowed-messages %s", payer, actor, url)
	case found == nil || found.Allowance == nil:
		return nil, nil
	}
	s := &Sponsor{payer: payer, actor: actor, grant: found.Allowance}
	// Its key holds both addresses, each with its length, and a prefix.
	const addresses = 2*(1+20) + 1
	if size := uint64(found.Allowance.Size()) + addresses; size > market.MaxPayerRecordBytes {
		return nil, fmt.Errorf("the fee allowance that %s has granted %s takes %d bytes, and this chain reads %d at most: name fewer messages in it",
			payer, actor, size, market.MaxPayerRecordBytes)
	}
	allowance, err := s.allowance(j)
	if err != nil {
		return nil, err
	}
	named, ok := allowance.(*feegrant.AllowedMsgAllowance)
	if !ok || !slices.Contains(named.AllowedMessages, url) {
		return nil, fmt.Errorf("the fee allowance that %s has granted %s does not name %s: one for everything pays for no timer", payer, actor, url)
	}
	return s, nil
}

func (s *Sponsor) allowance(j *job.Job) (allowance feegrant.FeeAllowanceI, err error) {
	// One that is asked changes: each look has its own.
	packed := *s.grant.Allowance
	if err := j.InterfaceRegistry.UnpackAny(&packed, &allowance); err != nil {
		return nil, fmt.Errorf("the fee allowance that %s has granted %s: %w", s.payer, s.actor, err)
	}
	return allowance, nil
}

// Covers objects to what the allowance will not cover when the timer is due, as the chain will ask it: with the clock of that
// block. An unset time stands for the next block.
func (s *Sponsor) Covers(j *job.Job, e *types.QueryEstimateResponse, at time.Time) error {
	amount, known := types.ParseAmount(e.PreCharge)
	if s == nil || !known {
		return nil
	}
	allowance, err := s.allowance(j)
	if err != nil {
		return err
	}
	c, err := j.Clock()
	if err != nil {
		return err
	}
	if at.IsZero() {
		at = c.Time
	}
	end, err := allowance.ExpiresAt()
	if err == nil && end != nil && end.Before(at) {
		j.Object("the fee allowance that %s has granted %s ends at %s, before the timer is due at about %s",
			j.Name(s.payer), j.Name(s.actor), c.Stamp(*end), c.Stamp(at))
		return nil
	}
	limit := limitOf(allowance, e.FeeDenom, at)
	if accept(allowance, sdk.NewCoins(sdk.NewCoin(e.FeeDenom, amount)), at) != nil {
		j.Object("the fee allowance that %s has granted %s covers %s by then, less than the %s%s pre-charged: the timer would not be run",
			j.Name(s.payer), j.Name(s.actor), limit, e.PreCharge, plain.Clean(e.FeeDenom))
	}
	return nil
}

// accept asks an allowance as x/feegrant does.
func accept(allowance feegrant.FeeAllowanceI, fee sdk.Coins, at time.Time) error {
	ctx := sdk.NewContext(nil, cmtproto.Header{Time: at}, false, log.NewNopLogger()).WithGasMeter(storetypes.NewInfiniteGasMeter())
	_, err := allowance.Accept(ctx, fee, []sdk.Msg{&types.MsgScheduleTimer{}})
	return err
}

// limitOf is what an allowance covers of a denom at a time: of one that renews itself, what is left of the period.
func limitOf(allowance feegrant.FeeAllowanceI, denom string, at time.Time) string {
	of := func(coins sdk.Coins) (math.Int, bool) { return coins.AmountOf(denom), len(coins) > 0 }
	switch a := allowance.(type) {
	case *feegrant.AllowedMsgAllowance:
		inner, err := a.GetAllowance()
		if err != nil {
			return "nothing"
		}
		return limitOf(inner, denom, at)
	case *feegrant.BasicAllowance:
		if limit, bounded := of(a.SpendLimit); bounded {
			return limit.String() + plain.Clean(denom)
		}
	case *feegrant.PeriodicAllowance:
		left := a.PeriodCanSpend
		if !at.Before(a.PeriodReset) {
			left = a.PeriodSpendLimit
		}
		amount := left.AmountOf(denom)
		if total, bounded := of(a.Basic.SpendLimit); bounded {
			amount = math.MinInt(amount, total)
		}
		return fmt.Sprintf("%s%s of its period of %s", amount, plain.Clean(denom), timespan.ForPeople(a.Period))
	}
	return "no limit"
}
