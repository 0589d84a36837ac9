package agents

import (
	"bytes"
	"cmp"
	"slices"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// maxRefused bounds the payers of a block that turn out not to cover a call: each is found out by reading its account.
const maxRefused = 256

// turn is the turn of one payer.
type turn struct {
	payer sdk.AccAddress
	// timers whose agents are to be called, and the agents.
	timers []*types.Timer
	agents []sdk.AccAddress
}

// AskAll implements policies.Calls.
func (c *Calls) AskAll(ctx sdk.Context, timers []types.Timer) error {
	if !c.asks || len(timers) == 0 {
		return nil
	}
	ordered := make([]*types.Timer, len(timers))
	for i := range timers {
		ordered[i] = &timers[i]
	}
	return c.askFrom(ctx, ordered)
}

// askFrom calls the agents of timers in queue order, from the one on at which the last block ended.
func (c *Calls) askFrom(ctx sdk.Context, timers []*types.Timer) error {
	first := 0
	for c.before != nil && first < len(timers) && timers[first].IsBefore(c.before.Turn) {
		first++
	}
	unasked, err := c.takeTurns(ctx, slices.Concat(timers[first:], timers[:first]))
	if err == nil && unasked != nil {
		c.nextTimer = unasked.Key()
	}
	return err
}

// Note implements policies.Calls.
func (c *Calls) Note(t *types.Timer) {
	if c.asks {
		c.noted = append(c.noted, t)
	}
}

// AskNoted implements policies.Calls.
func (c *Calls) AskNoted(ctx sdk.Context) (asked []*types.Timer, err error) {
	if !c.asks {
		return nil, nil
	}
	slices.SortFunc(c.noted, func(a, b *types.Timer) int { return cmp.Or(cmp.Compare(a.Due, b.Due), cmp.Compare(a.Seq, b.Seq)) })
	if err := c.askFrom(ctx, c.noted); err != nil {
		return nil, err
	}
	for _, t := range c.noted {
		if c.answers[t.Seq] != nil {
			asked = append(asked, t)
		}
	}
	c.noted = nil
	return asked, nil
}

// takeTurns calls agents, one for each payer before a second one for any, while the block has cycles for another call.
// The payers are in the order of their addresses, from the one on at whom the last block ended. So a crowd of timers of
// one payer does not take the calls of others. It returns the first timer that was not asked for lack of cycles.
func (c *Calls) takeTurns(ctx sdk.Context, timers []*types.Timer) (unasked *types.Timer, err error) {
	turns, err := c.turnsOf(ctx, timers)
	if err != nil || len(turns) == 0 {
		return nil, err
	}
	for len(turns) > 0 {
		rest := turns[:0:0]
		for i, turn := range turns {
			if !c.hasRoom() {
				c.nextPayer = turn.payer
				c.countUnasked(append(rest, turns[i:]...))
				return c.firstUnasked(timers, append(rest, turns[i:]...)), nil
			}
			asked, err := c.ask(ctx, turn.timers[0], turn.agents[0])
			if err != nil {
				return nil, err
			}
			if !asked {
				c.refused[string(turn.payer)] = true
				c.countUnasked(turns[i : i+1])
				continue
			}
			turn.timers, turn.agents = turn.timers[1:], turn.agents[1:]
			if len(turn.timers) > 0 {
				rest = append(rest, turn)
			}
		}
		turns = rest
	}
	return nil, nil
}

// hasRoom reports whether another agent may be called. A preview of the next block calls none, so that whoever asks for one does
// not pay for what the agents of others compute, and calls do not nest.
func (c *Calls) hasRoom() bool {
	return !c.block.Preview && len(c.refused) < maxRefused && c.cycles+c.params.CyclesPerCall <= c.params.CyclesPerBlock
}

// turnsOf groups timers that have an agent by payer.
func (c *Calls) turnsOf(ctx sdk.Context, timers []*types.Timer) ([]*turn, error) {
	var turns []*turn
	byPayer := map[string]*turn{}
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
			of = &turn{payer: payer}
			byPayer[string(payer)], turns = of, append(turns, of)
		}
		of.timers, of.agents = append(of.timers, t), append(of.agents, agent)
	}
	slices.SortFunc(turns, func(a, b *turn) int { return bytes.Compare(a.payer, b.payer) })
	if c.before != nil {
		first, _ := slices.BinarySearchFunc(turns, c.before.Payer, func(t *turn, payer []byte) int { return bytes.Compare(t.payer, payer) })
		turns = slices.Concat(turns[first:], turns[:first])
	}
	return turns, nil
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

func (c *Calls) countUnasked(turns []*turn) {
	for _, turn := range turns {
		c.unaskedTimers += uint32(len(turn.timers))
		for _, t := range turn.timers {
			c.unasked[t.Seq] = true
		}
	}
}

// firstUnasked is the first of the timers, in their order, that still waits for its turn.
func (c *Calls) firstUnasked(timers []*types.Timer, turns []*turn) *types.Timer {
	waits := map[uint64]bool{}
	for _, turn := range turns {
		for _, t := range turn.timers {
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
