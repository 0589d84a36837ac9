package keeper

import (
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/calendar"
	"github.com/cosmos-timers/timers/x/timers/policy/eip1559"
	"github.com/cosmos-timers/timers/x/timers/policy/score"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// A storm is when more timers are ready than CANDIDATE_WINDOW (SPEC §6, candidates). Then a block no longer reads all that
// is ready: it admits ADMISSIONS_PER_BLOCK timers to the ready index, and takes the best from there. Work is bounded,
// every timer gets in, and among the admitted the order is exact.

// maxPassedOver is how many timers that do not fit a block looks past in a storm for smaller ones: a nearly full lane must
// not read the whole backlog for one that fits.
const maxPassedOver = 32

// maxContestReads bounds the entries of the ready index that a block reads beyond the heads of its lists. Few are read for
// each fire as long as bids are what people make; this is for those who make others.
const maxContestReads = 4_096

// inStorm tells whether the ready index alone already holds more than the window.
func (k *Keeper) inStorm(ctx sdk.Context, b *block) (bool, error) {
	return b.ordersByIndex() && b.indexed > uint64(b.config.CandidateWindow), nil
}

// collectStorm admits timers and looks after those admitted. What lies before reached was read in this block already.
func (k *Keeper) collectStorm(ctx sdk.Context, b *block, reached calendar.Key) error {
	b.storm, b.ready = true, nil
	if reached == (calendar.Key{}) {
		if err := k.sweepReady(ctx, b); err != nil {
			return err
		}
	}
	admitted, err := k.admitFresh(ctx, b)
	if err != nil {
		return err
	}
	older, err := k.admitOldest(ctx, b, reached, b.config.AdmissionsPerBlock-admitted-b.filedAnew)
	if err != nil {
		return err
	}
	return k.countAdmitted(ctx, int64(admitted+older))
}

// admitFresh admits timers that became due in this block while older ones still wait for their admission, up to half of
// what a block admits: a storm must not shut out who comes after it.
func (k *Keeper) admitFresh(ctx sdk.Context, b *block) (uint32, error) {
	from := calendar.Key{Due: b.height}
	if calendarKey(b.state.Admit).Compare(from) >= 0 {
		return 0, nil
	}
	left := b.config.AdmissionsPerBlock / 2
	found, _, _, err := k.calendar.Page(ctx, from, b.height, func(calendar.Entry[types.Timer]) calendar.Verdict {
		if left == 0 {
			return calendar.Stop
		}
		left--
		return calendar.Take
	})
	if err != nil {
		return 0, err
	}
	return k.admit(ctx, b, found)
}

// admitOldest goes on with the oldest that are not admitted.
func (k *Keeper) admitOldest(ctx sdk.Context, b *block, reached calendar.Key, most uint32) (uint32, error) {
	from := calendarKey(b.state.Admit)
	if live := calendarKey(b.state.Live); from.Compare(live) < 0 {
		from = live
	}
	// Those admitted fresh are passed over, once each; so are expired ones, which the clean-up gets.
	left, reads := most, 2*b.config.AdmissionsPerBlock
	found, next, _, err := k.calendar.Page(ctx, from, b.height, func(e calendar.Entry[types.Timer]) calendar.Verdict {
		if left == 0 || reads == 0 {
			return calendar.Stop
		}
		reads--
		switch {
		case e.Value.ExpiredAt(b.height) && e.Key.Compare(reached) >= 0:
			return calendar.Take
		case e.Value.ExpiredAt(b.height) || e.Value.AdmittedWeight > 0:
			return calendar.Pass
		default:
			left--
			return calendar.Take
		}
	})
	if err != nil {
		return 0, err
	}
	b.state.Admit = queueKey(next)
	return k.admit(ctx, b, found)
}

// admit files timers under the weights of their actors, and returns how many; the caller counts them. One that the config
// can't run is set aside, an expired one goes to the clean-up.
func (k *Keeper) admit(ctx sdk.Context, b *block, found []calendar.Entry[types.Timer]) (admitted uint32, err error) {
	for i := range found {
		t := &found[i].Value
		switch {
		case t.ExpiredAt(b.height):
			b.expired = append(b.expired, *t)
			continue
		case !b.config.Runnable(b.height, t.GasLimit):
			k.setUnrunnableAside(ctx, b, t)
			continue
		case t.AdmittedWeight > 0:
			continue
		}
		at, err := k.quotedFiling(ctx, b, t)
		if err != nil {
			return admitted, err
		}
		if err := k.addEntries(ctx, t, at); err != nil {
			return admitted, err
		}
		if err := k.put(ctx, t); err != nil {
			return admitted, err
		}
		admitted++
	}
	return admitted, nil
}

// sweepReady looks at SWEEP_PER_BLOCK of the admitted, in rounds: expired ones leave, those whose actor's weight has
// changed get the new one, and agents are asked again. It is what moves the live cursor in a storm.
func (k *Keeper) sweepReady(ctx sdk.Context, b *block) error {
	from, end := calendarKey(b.state.Clean), calendarKey(b.state.Admit)
	first := from.Compare(calendarKey(b.state.Live)) <= 0
	if first {
		from = calendarKey(b.state.Live)
	}
	left, reachedEnd := b.config.SweepPerBlock, false
	found, next, complete, err := k.calendar.Page(ctx, from, b.height, func(e calendar.Entry[types.Timer]) calendar.Verdict {
		reachedEnd = e.Key.Compare(end) >= 0
		if left == 0 || reachedEnd {
			return calendar.Stop
		}
		left--
		return calendar.Take
	})
	if err != nil {
		return err
	}
	b.state.Clean = queueKey(next)
	if complete || reachedEnd {
		b.state.Clean = types.QueueKey{}
	}
	for i := range found {
		t := &found[i].Value
		if t.ExpiredAt(b.height) {
			b.expired = append(b.expired, *t)
			continue
		}
		if first {
			b.state.Live, first = queueKey(found[i].Key), false
		}
		if err := k.renew(ctx, b, t); err != nil {
			return err
		}
	}
	return nil
}

// refresh brings an admitted timer's place in the index up to date.
func (k *Keeper) refresh(ctx sdk.Context, b *block, t *types.Timer) error {
	if t.AdmittedWeight == 0 || t.AdmittedWeight == k.filedUnder(ctx, b, t.Actor) {
		return nil
	}
	return k.refile(ctx, t, k.filingNow(ctx, b, t))
}

// executeStorm tries the admitted in order while the lane lasts.
func (k *Keeper) executeStorm(ctx sdk.Context, b *block) error {
	for passedOver := 0; passedOver < maxPassedOver && b.lane.Fits(b.config.FireBaseCycles+1); {
		entry, found, err := b.contest.Next(ctx)
		if err != nil || !found {
			return err
		}
		t, found, err := k.calendar.Get(ctx, keyOf(entry.Due, entry.Seq))
		if err != nil {
			return err
		}
		if !found || t.AdmittedWeight == 0 {
			continue // A handler of this block cancelled or moved it.
		}
		if weight := k.filedUnder(ctx, b, t.Actor); weight != entry.List.Weight() {
			if err := k.refresh(ctx, b, &t); err != nil {
				return err
			}
			b.contest.Return(entry, weight)
			continue
		}
		if held, err := k.withhold(ctx, b, &t); held || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		switch {
		case t.ExpiredAt(b.height):
			k.expireOnSight(ctx, b, &t)
		case !b.config.Runnable(b.height, t.GasLimit):
			k.setUnrunnableAside(ctx, b, &t)
		case !b.lane.Fits(t.GasLimit):
			passedOver++
		case b.actorMayFire(t.Actor):
			k.attempt(ctx, b, &t)
		}
	}
	return nil
}

// expireOnSight removes an expired timer that the sweep has not come to. If the GC lane has nothing left it leaves the
// index at least, so that it does not stand in the way of live ones again.
func (k *Keeper) expireOnSight(ctx sdk.Context, b *block, t *types.Timer) {
	if b.cleanup.Take() {
		k.expire(ctx, b, t)
		return
	}
	k.guard(ctx, b, t, func(ctx sdk.Context) error {
		if err := k.unfile(ctx, t); err != nil {
			return err
		}
		return k.put(ctx, t)
	})
}

// openContest ranks the admitted at this block's prices.
func (k *Keeper) openContest(ctx sdk.Context, b *block) (err error) {
	if _, scored := b.policy.(score.Rules); scored {
		b.contest = k.openScoreContest(b)
		return nil
	}
	b.contest, err = eip1559.OpenIndex(ctx, readyStore{k.state.ready}, b.config.EIP1559(), b.prices, maxContestReads)
	return err
}
