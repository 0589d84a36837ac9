package scenario

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// readBid reads what the timer is willing to pay, and adds the agent that it names to agents. Whether the module
// accepts such a bid is decided when the op runs.
func readBid(v value, agents map[string]Agent) *types.Bid {
	if !v.present() || v.r.err != nil {
		return nil
	}
	if v.kind() != "an object" {
		return &types.Bid{Price: v.integer().String()}
	}
	o := v.object()
	tier, agent := o.get("tier"), o.get("agent")
	switch {
	case tier.present():
		o.end()
		return &types.Bid{Tier: readTier(tier)}
	case agent.present():
		o.end()
		a := readAgent(agent)
		address := a.Address()
		agents[string(address)] = a
		return &types.Bid{Agent: address.String()}
	default:
		static := readStaticBid(o)
		o.end()
		return &types.Bid{Static: static}
	}
}

func readStaticBid(o *object) *types.StaticBid {
	return &types.StaticBid{
		MaxFeePerCycle: decimal.Of(o.need("max_fee").decimal()), MaxPriorityFeePerCycle: decimal.Of(o.need("max_priority").decimal()),
	}
}

func readTier(v value) types.PriorityTier {
	text := v.text("a tier", maxNameBytes)
	tier, ok := types.PriorityTier_value["PRIORITY_TIER_"+strings.ToUpper(text)]
	if v.r.err == nil && (!ok || tier == 0 || text != strings.ToLower(text)) {
		v.r.fail(v.path, "want economy, standard, fast or urgent, not %.80q", text)
	}
	return types.PriorityTier(tier)
}

// anyCellPrice is above every price that a cell can have.
const anyCellPrice = 1_000_000_000_000_000_000

// Agent is a scripted bidding agent: it spends cycles and answers with prices that the module may refuse.
type Agent struct {
	Cycles uint64
	Answer types.AgentQuote
}

// Address is a hash of what the agent does: a handler that is read back from a payload names the same one.
func (a Agent) Address() sdk.AccAddress {
	sum := sha256.Sum256(fmt.Appendf(nil, "timers/scenario/agent/%d/%s/%s/%s",
		a.Cycles, a.Answer.MaxFeePerCycle, a.Answer.MaxPriorityFeePerCycle, a.Answer.MaxFeePerCell))
	return sum[:20]
}

// readAgent reads a bidding agent. Without max_fee_per_cell it accepts any price of a cell.
func readAgent(v value) Agent {
	o := v.object()
	static := readStaticBid(o)
	a := Agent{Cycles: o.get("cycles").uint64(maxCycles), Answer: types.AgentQuote{
		MaxFeePerCycle: static.MaxFeePerCycle.LegacyDec, MaxPriorityFeePerCycle: static.MaxPriorityFeePerCycle.LegacyDec,
		MaxFeePerCell: math.LegacyNewDec(anyCellPrice),
	}}
	if cell := o.get("max_fee_per_cell"); cell.present() {
		a.Answer.MaxFeePerCell = cell.decimal()
	}
	o.end()
	return a
}
