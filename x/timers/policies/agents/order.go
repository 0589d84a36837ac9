package agents

import (
	"bytes"
	"slices"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// maxRefused bounds the payers of a block that asking out not to cover a call: each is found out by reading its account.
const maxRefused = 256

// asking is what is asked for one payer.
type asking struct {
	payer sdk.AccAddress
	// timers whose agents are to be called, and the agents.
	timers []*types.Timer
	agents []sdk.AccAddress
}

// AskAll implements types.AgentCalls: from the timer on at which the last block ended.
func (c *Calls) AskAll(ctx sdk.Context, timers []*types.Timer) error {
	if !c.asks {
		return nil
	}
	first := 0
	for c.before != nil && first < len(timers) && timers[first].IsBefore(c.before.Turn) {
		first++
	}
	unasked, err := c.askFairly(ctx, slices.Concat(timers[first:], timers[:first]))
	if err == nil && unasked != nil {
		c.nextTimer = unasked.Key()
	}
	return err
}

// askFairly calls agents, one for each payer before a second one for any, while the block has cycles for another call.
// The payers are in the order of their addresses, from the one on at whom the last block ended. So a crowd of timers of
// one payer does not take the calls of others. It returns the first timer that was not asked for lack of cycles.
func (c *Calls) askFairly(ctx sdk.Context, timers []*types.Timer) (unasked *types.Timer, err error) {
	askings, err := c.askingsOf(ctx, timers)
	if err != nil || len(askings) == 0 {
		return nil, err
	}
	for len(askings) > 0 {
		rest := askings[:0:0]
		for i, asking := range askings {
			if !c.hasRoom() {
				c.nextPayer = asking.payer
				c.countUnasked(append(rest, askings[i:]...))
				return c.firstUnasked(timers, append(rest, askings[i:]...)), nil
			}
			asked, err := c.ask(ctx, asking.timers[0], asking.agents[0])
			if err != nil {
				return nil, err
			}
			if !asked {
				c.refused[string(asking.payer)] = true
				c.countUnasked(askings[i : i+1])
				continue
			}
			asking.timers, asking.agents = asking.timers[1:], asking.agents[1:]
			if len(asking.timers) > 0 {
				rest = append(rest, asking)
			}
		}
		askings = rest
	}
	return nil, nil
}

// hasRoom reports whether another agent may be called. A preview of the next block calls none, so that whoever asks for one does
// not pay for what the agents of others compute, and calls do not nest.
func (c *Calls) hasRoom() bool {
	return !c.block.Preview && len(c.refused) < maxRefused && c.cycles+c.params.CyclesPerCall <= c.params.CyclesPerBlock
}

// askingsOf groups timers that have an agent by payer.
func (c *Calls) askingsOf(ctx sdk.Context, timers []*types.Timer) ([]*asking, error) {
	var askings []*asking
	byPayer := map[string]*asking{}
	for _, t := range timers {
		agent, err := c.agentOf(ctx, t)
		if err != nil {
			return nil, err
		}
		if len(agent) == 0 || c.answers[t.Seq] != nil || !c.mayCost(t) {
			continue
		}
		payer := t.Payer()
		of, known := byPayer[string(payer)]
		if !known {
			of = &asking{payer: payer}
			byPayer[string(payer)], askings = of, append(askings, of)
		}
		of.timers, of.agents = append(of.timers, t), append(of.agents, agent)
	}
	slices.SortFunc(askings, func(a, b *asking) int { return bytes.Compare(a.payer, b.payer) })
	if c.before != nil {
		first, _ := slices.BinarySearchFunc(askings, c.before.Payer, func(t *asking, payer []byte) int { return bytes.Compare(t.payer, payer) })
		askings = slices.Concat(askings[first:], askings[:first])
	}
	return askings, nil
}

// mayCost reports whether a timer's max_charge covers the largest call and, whatever the agent answers, a fire. Otherwise
// the call could cost more than the fire may, or be of no use.
func (c *Calls) mayCost(t *types.Timer) bool {
	if t.Spec.MaxCharge == "" {
		return true
	}
	most, _ := types.ParseAmount(t.Spec.MaxCharge)
	return c.cost(c.params.CyclesPerCall).LTE(most) && !market.SpendCapOf(most, c.block.Prices, t.GasLimit, t.CellLimit).Exhausted()
}

func (c *Calls) countUnasked(askings []*asking) {
	for _, asking := range askings {
		c.unaskedTimers += uint32(len(asking.timers))
		for _, t := range asking.timers {
			c.unasked[t.Seq] = true
		}
	}
}

// firstUnasked is the first of the timers, in their order, that still waits to be asked for.
func (c *Calls) firstUnasked(timers []*types.Timer, askings []*asking) *types.Timer {
	waits := map[uint64]bool{}
	for _, asking := range askings {
		for _, t := range asking.timers {
			waits[t.Seq] = true
		}
	}
	for _, t := range timers {
		if waits[t.Seq] {
			return t
		}
	}
	return nil
}
