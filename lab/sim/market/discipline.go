package market

import (
	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/market/auction"
	"github.com/cosmos-timers/timers/x/timers/market/tip"
)

// discipline is what a policy keeps between blocks, and how its rules are used in one.
type discipline interface {
	// open returns the rules of a block.
	open(height uint64) market.Rules
	// accept clamps or refuses the bid of a timer that is being scheduled.
	accept(rules market.Rules, t *Timer) bool
	// usesTips reports whether the usual tip follows from whether a timer waits for room.
	usesTips() bool
	// indexed reports whether timers are admitted to an index under overload, and not the oldest alone compete.
	indexed() bool
	// weigh adds to a candidate what the policy knows of its actor.
	weigh(t *Timer, candidate *market.Candidate)
	// fill tries the timers in order.
	fill(b *block, rules market.Rules, timers []*Timer, candidates []market.Candidate)
	fired(b *block, t *Timer, candidate market.Candidate, price market.Price)
	close(b *block)
}

func newDiscipline(c *chain) discipline {
	config := &c.Config
	switch config.Policy {
	case FIFO:
		return &plain{chain: c, rules: market.FIFO{}}
	case Score:
		return &weighed{plain: plain{chain: c, rules: config.Score}, fires: newWindow(config)}
	case Tip:
		return &tips{plain: plain{chain: c}, rules: config.Tip, rule: config.TipWeights, actors: map[string]*standing{}}
	case Auction:
		return &auctioned{plain: plain{chain: c}}
	default:
		return &weighed{plain: plain{chain: c, rules: config.Eip1559}, fires: newWindow(config)}
	}
}

// plain is a policy without state.
type plain struct {
	chain *chain
	rules market.Rules
}

func (d *plain) open(uint64) market.Rules                             { return d.rules }
func (d *plain) accept(market.Rules, *Timer) bool                     { return true }
func (d *plain) usesTips() bool                                       { return false }
func (d *plain) indexed() bool                                        { return false }
func (d *plain) weigh(*Timer, *market.Candidate)                      {}
func (d *plain) fired(*block, *Timer, market.Candidate, market.Price) {}
func (d *plain) close(*block)                                         {}
func (d *plain) fill(b *block, rules market.Rules, timers []*Timer, candidates []market.Candidate) {
	for _, i := range rules.Order(d.chain.prices, candidates) {
		d.chain.try(b, rules, timers[i], candidates[i])
	}
}

// weighed is a policy that counts fires in the fairness window: eip1559 and score.
type weighed struct {
	plain
	fires *window
}

func (d *weighed) usesTips() bool { return d.chain.Config.Policy == EIP1559 }
func (d *weighed) indexed() bool  { return true }

func (d *weighed) accept(rules market.Rules, t *Timer) bool {
	eip, ok := rules.(market.EIP1559)
	return !ok || acceptAtMost(t, eip.Fee(d.chain.prices))
}

// MaxPassedOver bounds the timers without room that a block passes over under overload, as the chain does.
const MaxPassedOver = 32

// acceptAtMost refuses or clamps a stated bid as the chain does.
func acceptAtMost(t *Timer, fee math.LegacyDec) bool {
	if t.Ask.Kind != market.Stated || t.Requoted {
		return true
	}
	bid := t.Ask.Stated
	remaining := bid.MaxFee.Sub(fee)
	if remaining.IsNegative() {
		return false
	}
	t.Ask = market.StatedAsk(bid.MaxFee, math.LegacyMinDec(bid.MaxPriority, remaining))
	return true
}

func (d *weighed) unit(t *Timer) string {
	if d.chain.Config.ByDeployer {
		return t.Unit
	}
	return t.Actor
}

func (d *weighed) weigh(t *Timer, candidate *market.Candidate) {
	unit := d.unit(t)
	candidate.Unit, candidate.Recent = unit, d.fires.recent[unit]
	candidate.Weight = d.fires.weight(unit)
}

func (d *weighed) fill(b *block, rules market.Rules, timers []*Timer, candidates []market.Candidate) {
	overloaded, passedOver := len(d.chain.ready) > int(d.chain.Config.CandidateWindow), 0
	for _, i := range rules.Order(d.chain.prices, candidates) {
		if d.chain.try(b, rules, timers[i], candidates[i]) && overloaded {
			if passedOver++; passedOver == MaxPassedOver {
				return
			}
		}
	}
}

func (d *weighed) close(b *block) {
	units := map[string]uint64{}
	for _, t := range b.fired {
		units[d.unit(t)]++
	}
	d.fires.advance(b.height, units)
}

// auctioned is policy auction.
type auctioned struct {
	plain
	state *auction.LambdaState
	// bids of the block's fires, until their runner-ups are known.
	rules   auction.Rules
	winners []winner
	settled int
	seen    auction.Observation
}

type winner struct {
	timer     *Timer
	candidate market.Candidate
	runnerUp  *market.Candidate
}

// accept refuses a bid that can't be locked.
func (d *auctioned) accept(_ market.Rules, t *Timer) bool { return d.chain.affords(t, t.Locked) }

func (d *auctioned) open(uint64) market.Rules {
	d.rules = d.chain.Config.auction(d.state)
	d.winners, d.settled, d.seen = nil, 0, auction.Observation{}
	return d.rules
}

func (d *auctioned) fill(b *block, rules market.Rules, timers []*Timer, candidates []market.Candidate) {
	for _, i := range rules.Order(d.chain.prices, candidates) {
		if !d.chain.try(b, rules, timers[i], candidates[i]) {
			continue
		}
		for ; d.settled < len(d.winners); d.settled++ {
			d.winners[d.settled].runnerUp = &candidates[i]
		}
	}
}

func (d *auctioned) fired(_ *block, t *Timer, candidate market.Candidate, _ market.Price) {
	d.winners = append(d.winners, winner{timer: t, candidate: candidate})
}

func (d *auctioned) close(b *block) {
	for i := range d.winners {
		w := &d.winners[i]
		d.chain.payLump(w.timer, d.rules.Payment(b.height, w.candidate, w.runnerUp))
		d.seen.Add(b.height, w.candidate, w.timer.Expires)
	}
	before := auction.LambdaState{Lambda: d.rules.Lambda, ValueDecay: math.LegacyZeroDec(), Deferral: math.LegacyZeroDec()}
	if d.state != nil {
		before.ValueDecay, before.Deferral, before.Blocks = d.state.ValueDecay, d.state.Deferral, d.state.Blocks
	}
	after := d.rules.Loop.Next(before, d.seen)
	d.state = &after
}

// tips is policy tip.
type tips struct {
	plain
	rules  tip.Rules
	rule   tip.WeightRule
	height uint64
	actors map[string]*standing
	slices market.Slices
	second bool
	// used are the cycles that the actors' fires of this block used, in the order of their first fires.
	used   map[string]uint64
	inTurn []string
}

// standing is what the policy keeps of an actor.
type standing struct {
	history  tip.History
	lastFire uint64
	// known weight in this block, of the height known at.
	known   uint32
	knownAt uint64
}

func (d *tips) usesTips() bool { return true }

func (d *tips) open(height uint64) market.Rules {
	d.height, d.second, d.used, d.inTurn = height, false, map[string]uint64{}, nil
	return d.rules
}

func (d *tips) accept(_ market.Rules, t *Timer) bool { return acceptAtMost(t, d.chain.prices.Cycle) }

// epoch of the height: the first begins with the first block.
func (d *tips) epoch() uint64 { return 1 + (d.height-1)/d.chain.Config.TipEpochBlocks }

func (d *tips) of(actor string) *standing {
	s := d.actors[actor]
	if s == nil {
		s = &standing{history: tip.History{Weight: d.rule.Neutral, Stats: tip.NoStats()}}
		d.actors[actor] = s
	}
	return s
}

func (d *tips) weightIn(s *standing) math.LegacyDec {
	if s.history.Epoch == 0 {
		return d.rule.Neutral
	}
	return d.rule.WeightIn(s.history, d.epoch())
}

func (d *tips) weigh(t *Timer, candidate *market.Candidate) {
	s := d.of(t.Actor)
	if s.knownAt != d.height {
		s.known, s.knownAt = tip.Units(d.weightIn(s)), d.height
	}
	candidate.Weight = s.known
}

func (d *tips) fill(b *block, rules market.Rules, timers []*Timer, candidates []market.Candidate) {
	// Starved actors have the floor, before the order is made.
	for i, t := range timers {
		s := d.of(t.Actor)
		if floor := tip.Units(d.rule.Floor); s.known < floor && d.rule.Starved(t.Due, s.lastFire, d.height) {
			if _, willing := rules.Price(d.chain.prices, candidates[i]); willing {
				s.known = floor
			}
		}
	}
	for i, t := range timers {
		candidates[i].Weight = d.of(t.Actor).known
	}
	order := rules.Order(d.chain.prices, candidates)
	d.slices = market.NewSlices(d.chain.Config.Lane.Cycles, candidates, order)
	var putOff []int
	for _, i := range order {
		if !d.slices.Admits(candidates[i].Actor, candidates[i].Size) {
			putOff = append(putOff, i)
			continue
		}
		d.chain.try(b, rules, timers[i], candidates[i])
	}
	d.second = true
	for _, i := range putOff {
		d.chain.try(b, rules, timers[i], candidates[i])
	}
}

func (d *tips) fired(_ *block, t *Timer, candidate market.Candidate, price market.Price) {
	if !d.second {
		d.slices.Spend(candidate.Actor, t.Cycles)
	}
	s := d.of(t.Actor)
	if epoch := d.epoch(); s.history.Epoch != epoch {
		s.history = tip.History{Weight: d.weightIn(s), Epoch: epoch, Stats: tip.NoStats()}
	}
	if d.rule.Starved(t.Due, s.lastFire, d.height) {
		s.history.Stats.Starved = true
	}
	d.rule.Fire(&s.history.Stats, tip.Fire{Tip: price.Priority, P50: d.chain.p50, Success: true, Late: d.height - t.Due})
	if _, known := d.used[t.Actor]; !known {
		d.inTurn = append(d.inTurn, t.Actor)
	}
	d.used[t.Actor] += t.Cycles
}

func (d *tips) close(*block) {
	for _, actor := range d.inTurn {
		s := d.of(actor)
		d.rule.EndBlock(&s.history.Stats, d.used[actor], d.chain.Config.Lane.Cycles)
		s.lastFire = d.height
	}
}
