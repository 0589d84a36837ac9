package cli

import (
	"fmt"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// outlook is what the chain will make of a timer, as far as its config and prices tell.
type outlook struct {
	config types.TimerConfig
	prices *types.QueryLaneResponse
}

// askOutlook asks for the config and the prices.
func (j *job) askOutlook() (*outlook, error) {
	query := types.NewQueryClient(j.Context)
	params, err := query.Params(j.ctx, &types.QueryParamsRequest{})
	if err != nil {
		return nil, err
	}
	prices, err := query.Lane(j.ctx, &types.QueryLaneRequest{})
	if err != nil {
		return nil, err
	}
	return &outlook{params.Config, prices}, nil
}

// lookAhead is the outlook where it serves advice alone: without a node, a transaction that is only to be printed is
// printed unchecked.
func (j *job) lookAhead() *outlook {
	if j.Offline {
		return nil
	}
	ahead, err := j.askOutlook()
	if err != nil {
		j.notef("not checked against the chain's config: %v", err)
	}
	return ahead
}

// checkCall refuses what the chain would refuse after the transaction's fee was paid.
func (o *outlook) checkCall(call *types.TimerCall, msgs []sdk.Msg) error {
	if call != nil && uint64(len(call.Payload)) > o.config.MaxPayloadBytes {
		return fmt.Errorf("the payload has %d bytes, want at most %d", len(call.Payload), o.config.MaxPayloadBytes)
	}
	for i, msg := range msgs {
		if url := sdk.MsgTypeURL(msg); !o.config.MessageAllowed(url) {
			return fmt.Errorf("message %d: this chain lets no timer run %s", i, url)
		}
	}
	return nil
}

// checkGasLimit does the same for a gas limit; 0 means none was stated. The largest is that of the policy in force.
func (o *outlook) checkGasLimit(limit uint64) error {
	if limit != 0 && (limit < o.config.MinGasLimit || limit > o.prices.MaxCyclesPerFire) {
		return fmt.Errorf("--%s %d is out of bounds: want %d to %d cycles (policy %s)",
			flagGasLimit, limit, o.config.MinGasLimit, o.prices.MaxCyclesPerFire, policyName(o.prices.Policy))
	}
	return nil
}

// market tells whether bids count in the next block.
func (o *outlook) market() bool { return o.prices.Policy == types.PolicyEIP1559 || o.tips() }

// tips tells whether policy tip is in force in the next block: a max fee covers the chain's basefee then, there being no other.
func (o *outlook) tips() bool { return o.prices.Policy == types.PolicyTip }

// checkFloor refuses a bid that no idle lane would ever be cheap enough for.
func (o *outlook) checkFloor(bid *types.Bid) error {
	if bid == nil || bid.Static == nil || !o.market() || o.tips() {
		return nil
	}
	floor := o.config.Eip1559.MinLaneBasefee.MulTruncate(o.config.Eip1559.LaneFeeMultiplier)
	if fee := bid.Static.MaxFeePerCycle; fee.LT(floor) {
		return fmt.Errorf("--%s %s is below %s, the least that the lane ever charges per cycle: such a timer can't fire",
			flagMaxFee, trimDec(fee.String()), trimDec(floor.String()))
	}
	return nil
}

// covered is what a max fee has to cover per cycle in the next block, and what that is called.
func (o *outlook) covered() (fee math.LegacyDec, called string, err error) {
	if o.tips() {
		fee, err = parsePrice(o.prices.CycleBasefee)
		return fee, "the chain's cycle basefee", err
	}
	fee, err = o.laneFee()
	return fee, "the lane's fee", err
}

// laneFee is what the lane charges per cycle in the next block.
func (o *outlook) laneFee() (math.LegacyDec, error) {
	basefee, err := parsePrice(o.prices.NextLaneBasefee)
	if err != nil {
		return basefee, err
	}
	return basefee.MulTruncate(o.config.Eip1559.LaneFeeMultiplier), nil
}

// plan is what a timer will be when the transaction is through, as far as its price depends on it.
type plan struct {
	gasLimit uint64
	bid      *types.Bid
	// bidStated: the transaction states the bid; one that the timer has already is not checked again.
	bidStated bool
	payer     string
	// repeats: it may fire more than once.
	repeats bool
}

// checkStatic refuses stated prices that the chain would refuse when the transaction arrives (SPEC §3), and says what would
// do. Where they leave less for the tip than is stated, it says to what the chain lowers it.
func (j *job) checkStatic(o *outlook, bid *types.Bid) error {
	fee, called, err := o.covered()
	if err != nil {
		return err
	}
	charges := "what the lane charges per cycle now"
	if o.tips() {
		charges = called + " now"
	}
	maxFee, priority := bid.Static.MaxFeePerCycle, bid.Static.MaxPriorityFeePerCycle
	left := maxFee.Sub(fee)
	switch {
	case left.IsNegative():
		return fmt.Errorf("--%s %s is below %s, %s: the chain would refuse it. Want that at least; "+
			"%s, twice that and the tip, leaves room for it to rise", flagMaxFee, trimDec(maxFee.String()), trimDec(fee.String()), charges,
			trimDec(fee.MulInt64(2).Add(priority).String()))
	case priority.GT(left):
		j.notef("--%s %s leaves %s beside %s: the chain lowers --%s %s to that",
			flagMaxFee, trimDec(maxFee.String()), trimDec(left.String()), called, flagMaxPriority, trimDec(priority.String()))
	}
	return nil
}

// advise says what a fire will cost at today's prices, how long it would wait, and whether the payer has enough now. It
// refuses a bid that the chain would refuse; what can't be told otherwise is said and does not stop anything.
func (j *job) advise(o *outlook, p plan) error {
	if p.bidStated {
		j.notePolicy(o, p.bid)
	}
	if p.bid != nil && p.bid.Agent != "" {
		j.notef("the agent %s says at each fire what the timer bids; what is said of its price here is the default bid's", p.bid.Agent)
	}
	if p.bidStated && o.market() && p.bid.Static != nil {
		if err := j.checkStatic(o, p.bid); err != nil {
			return err
		}
	}
	request := estimateRequest(p.gasLimit, p.bid)
	request.Actor = j.from.text
	e, err := j.estimate(request)
	if err != nil {
		j.notef("no estimate: %v", err)
		return nil
	}
	unit := clean(e.FeeDenom)
	fire := "the fire"
	if p.repeats {
		fire = "each fire"
	}
	j.notef("pre-charges at most %s%s at %s, and gives back what is not used", e.PreCharge, unit, fire)
	j.notef("pays %s a cycle now (chain %s, lane %s, tip %s), %s%s if it uses all of them",
		perCycle(e), trimDec(e.CycleBasefee), trimDec(e.LaneFee), trimDec(e.Priority), e.CostOfCycles, unit)
	if e.ScoreBid != "" {
		j.notef("pays its bid of %s%s at %s, within these sums", clean(e.ScoreBid), unit, fire)
	}
	c, err := j.clock()
	if err != nil {
		c.paceErr = err
	}
	j.notef("%s", waitNote(e, c))
	j.noteAuction(e, p)
	j.warnOfFunds(e, p.payer)
	return nil
}

// warnOfFunds tells when the payer has less now than the fire will ask for: there is time to change that.
func (j *job) warnOfFunds(e *types.QueryEstimateResponse, payer string) {
	response, err := banktypes.NewQueryClient(j.Context).SpendableBalanceByDenom(j.ctx,
		&banktypes.QuerySpendableBalanceByDenomRequest{Address: payer, Denom: e.FeeDenom})
	if err != nil || response.Balance == nil {
		// A chain may keep its balances to itself; the rest of the advice stands.
		return
	}
	required, known := math.NewIntFromString(e.PreCharge)
	if known && response.Balance.Amount.LT(required) {
		becomes := "the fire is lost for lack of funds"
		if e.Policy == types.PolicyTip {
			becomes = "the timer waits for it until it expires"
		}
		j.notef("warning: %s can spend %s now, less than the %s%s pre-charged: without more by then, %s",
			payer, response.Balance, e.PreCharge, clean(e.FeeDenom), becomes)
	}
}

// maxPrice is far above any price that a config can lead to, and small enough to reckon with.
var maxPrice = math.LegacyNewDec(1_000_000_000_000_000_000)

// parsePrice reads a price that a node answered.
func parsePrice(text string) (math.LegacyDec, error) {
	value, err := math.LegacyNewDecFromStr(text)
	if err != nil {
		return value, fmt.Errorf("price %.80q is no decimal: %w", text, err)
	}
	if value.IsNegative() || value.GT(maxPrice) {
		return value, fmt.Errorf("price %.80q is out of bounds: want 0 to %s", text, trimDec(maxPrice.String()))
	}
	return value, nil
}

// addPrices sums prices.
func addPrices(texts ...string) (math.LegacyDec, error) {
	sum := math.LegacyZeroDec()
	for _, text := range texts {
		value, err := parsePrice(text)
		if err != nil {
			return sum, err
		}
		sum = sum.Add(value)
	}
	return sum, nil
}
