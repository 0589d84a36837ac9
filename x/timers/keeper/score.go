package keeper

import (
	"bytes"
	"context"

	"cosmossdk.io/collections"
	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/lane"
	"github.com/cosmos-timers/timers/x/timers/merge"
	"github.com/cosmos-timers/timers/x/timers/policy"
	"github.com/cosmos-timers/timers/x/timers/policy/eip1559"
	"github.com/cosmos-timers/timers/x/timers/policy/score"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// This file serves policy score (SPEC §6): whose turn it is among timers of equal score, and what a fire paid for its place.

// recent is how often a unit fired in the fairness window.
type recent struct {
	unit  string
	fires uint64
}

// setTurn says how often the candidate's unit fired, if the policy asks for it.
func (k *Keeper) setTurn(ctx context.Context, b *block, actor sdk.AccAddress, candidate *policy.Candidate) {
	if _, turns := b.policy.(score.Rules); !turns {
		return
	}
	of := k.recentOf(ctx, b, actor)
	candidate.Unit, candidate.Recent = of.unit, of.fires
}

// recentOf is how often the actor's unit fired. A record that can't be read counts nothing: its timers can't fire.
func (k *Keeper) recentOf(ctx context.Context, b *block, actor sdk.AccAddress) recent {
	if of, known := b.recents[string(actor)]; known {
		return of
	}
	unit := k.unitOf(ctx, &b.config, actor)
	of := recent{unit: string(unit)}
	if page, err := k.actorPage(ctx, unit, 0); err == nil {
		of.fires = uint64(page.Recent)
	}
	b.recents[string(actor)] = of
	return of
}

// What follows serves it in a storm, where admitted timers lie in a list of their own in the order of their scores.

// maxTurns bounds the timers that are put in turns in a block of a storm, together with CANDIDATE_WINDOW: each is read. It is
// as many as an actor has by default, so that none can fill it alone.
const maxTurns = 1_024

// contest hands out the admitted, best first.
type contest interface {
	Next(ctx context.Context) (merge.Entry, bool, error)
	// Return puts a timer back that was handed out under an outdated weight.
	Return(entry merge.Entry, weight uint32)
}

var (
	_ contest = (*eip1559.Index)(nil)
	_ contest = (*score.Queue)(nil)
)

// filing is where in the ready index a timer lies; score is empty but under policy score, and quote what its agent answered.
type filing struct {
	weight uint32
	score  []byte
	quote  *types.AgentQuote
}

// filingOf is where the timer lies; of weight 0 if it does not.
func filingOf(t *types.Timer) filing { return filing{t.AdmittedWeight, t.AdmittedScore, t.Quote} }

// moved is where a timer lies after something about it was changed. What that makes of its score is for the end of a block
// to say: a transaction need not know the weights.
func (f filing) moved() filing {
	if !merge.ListOfWeight(f.weight).Wide() {
		return f
	}
	return filing{weight: score.UnsortedList().Weight(), score: make([]byte, score.KeyBytes)}
}

// filedUnder is the weight under which the policy in force has the actor's timers in the ready index.
func (k *Keeper) filedUnder(ctx context.Context, b *block, actor sdk.AccAddress) uint32 {
	if _, scored := b.policy.(score.Rules); scored {
		return score.ListOfEpoch(b.state.ScoreEpoch).Weight()
	}
	return k.weightOf(ctx, b, actor)
}

// filingNow is where the policy in force has the timer in the ready index.
func (k *Keeper) filingNow(ctx context.Context, b *block, t *types.Timer) filing {
	at := filing{weight: k.filedUnder(ctx, b, t.Actor), quote: t.Quote}
	if rules, scored := b.policy.(score.Rules); scored {
		at.score, at.quote = scoreKeyOf(rules, t), nil
	}
	return at
}

// quotedFiling is where the policy in force has the timer in the ready index, once its agent was asked where the policy asks.
func (k *Keeper) quotedFiling(ctx sdk.Context, b *block, t *types.Timer) (at filing, err error) {
	at = k.filingNow(ctx, b, t)
	if at.score == nil {
		at.quote, err = k.stormQuote(ctx, b, t)
	}
	return at, err
}

func scoreKeyOf(rules score.Rules, t *types.Timer) []byte {
	return score.Key(rules.TimelessScore(policy.Candidate{Due: t.Due, Seq: t.Seq, Ask: t.Bid.Ask()}))
}

// fileAnew gives admitted timers that lie where another policy, or other weights, had them their place under the policy in
// force: up to half of what a block admits. Until then they don't compete, like those not yet admitted.
func (k *Keeper) fileAnew(ctx sdk.Context, b *block) (err error) {
	if !b.ordersByIndex() {
		return nil
	}
	if b.indexed, _, err = findItem(ctx, k.state.admitted); err != nil || b.indexed == 0 {
		return err
	}
	entries, err := k.misfiled(ctx, b, int(b.config.AdmissionsPerBlock+1)/2)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		t, found, err := k.calendar.Get(ctx, keyOf(entry.Due, entry.Seq))
		if err != nil {
			return err
		}
		// The second entry of a timer is gone with the first.
		if !found || t.AdmittedWeight != entry.List.Weight() {
			continue
		}
		if err := k.refile(ctx, &t, k.filingNow(ctx, b, &t)); err != nil {
			return err
		}
		b.filedAnew++
	}
	return nil
}

// misfiled reads at most n entries of lists that are not those of the policy in force.
func (k *Keeper) misfiled(ctx context.Context, b *block, n int) ([]merge.Entry, error) {
	store := readyStore{k.state.ready}
	if _, scored := b.policy.(score.Rules); !scored {
		return store.from(ctx, score.UnsortedList(), n)
	}
	list := score.ListOfEpoch(b.state.ScoreEpoch)
	before, err := store.before(ctx, list, n)
	if err != nil || len(before) == n {
		return before, err
	}
	after, err := store.from(ctx, list+1, n-len(before))
	return append(before, after...), err
}

// from reads at most n entries of the named list and those after it.
func (s readyStore) from(ctx context.Context, list merge.List, n int) ([]merge.Entry, error) {
	return s.read(ctx, new(collections.Range[readyKey]).StartInclusive(listPrefix(list)), n)
}

// before reads at most n entries of the lists before the named one.
func (s readyStore) before(ctx context.Context, list merge.List, n int) ([]merge.Entry, error) {
	return s.read(ctx, new(collections.Range[readyKey]).EndExclusive(listPrefix(list)), n)
}

func listPrefix(list merge.List) readyKey {
	return collections.QuadPrefix[uint32, []byte, uint64, uint64](uint32(list))
}

// openScoreContest ranks the admitted by score, and by turns where it is equal.
func (k *Keeper) openScoreContest(b *block) *score.Queue {
	turns := func(ctx context.Context, equal []merge.Entry) ([]merge.Entry, error) {
		return k.takeTurns(ctx, b, equal)
	}
	list := score.ListOfEpoch(b.state.ScoreEpoch)
	return score.NewQueue(readyStore{k.state.ready}, list, turns, maxContestReads, min(maxTurns, int(b.config.CandidateWindow)))
}

// takeTurns orders timers of equal score. Those that have no turn, since they can't fire, come first: they leave the index.
func (k *Keeper) takeTurns(ctx context.Context, b *block, equal []merge.Entry) ([]merge.Entry, error) {
	out := make([]merge.Entry, 0, len(equal))
	var candidates []policy.Candidate
	var entries []merge.Entry
	for _, entry := range equal {
		t, found, err := k.calendar.Get(ctx, keyOf(entry.Due, entry.Seq))
		switch {
		case err != nil:
			return nil, err
		case !found:
		case t.ExpiredAt(b.height) || !b.config.Runnable(b.height, t.GasLimit):
			out = append(out, entry)
		default:
			candidates = append(candidates, k.candidateOf(sdk.UnwrapSDKContext(ctx), b, &t))
			entries = append(entries, entry)
		}
	}
	order := make([]int, len(candidates))
	for i := range order {
		order[i] = i
	}
	score.TakeTurns(candidates, order)
	for _, i := range order {
		out = append(out, entries[i])
	}
	return out, nil
}

// countScoreEpoch counts a change of the weights, which begins a new list.
func (k *Keeper) countScoreEpoch(ctx context.Context, next *types.TimerConfig) error {
	config, err := k.Config(ctx)
	if err != nil || config.SameScore(next) {
		return err
	}
	lane, err := k.state.lane.Get(ctx)
	if err != nil {
		return err
	}
	lane.ScoreEpoch++
	return k.state.lane.Set(ctx, lane)
}

// checkFiling: a record says where it lies in the ready index, and under the weights in force that is where its score is.
func checkFiling(t *types.Timer, config *types.TimerConfig, lane *types.LaneState) error {
	list := merge.ListOfWeight(t.AdmittedWeight)
	if (len(t.AdmittedScore) > 0) != list.Wide() {
		return types.ErrInternal.Wrapf("admitted with weight %d and a score of %d bytes", t.AdmittedWeight, len(t.AdmittedScore))
	}
	if list == score.ListOfEpoch(lane.ScoreEpoch) && !bytes.Equal(t.AdmittedScore, scoreKeyOf(config.Score(), t)) {
		return types.ErrInternal.Wrapf("its score lies at %x", t.AdmittedScore)
	}
	return nil
}

// bidPaid is what a fire at this price pays for its place, nil for nothing.
func bidPaid(price lane.Price) *math.Int {
	if price.LumpSum.IsNil() || price.LumpSum.IsZero() {
		return nil
	}
	bid := price.LumpSum
	return &bid
}

// scoreBidFits refuses what scheduling under policy score would refuse.
func scoreBidFits(b *block, price string) error {
	if _, scored := b.policy.(score.Rules); !scored || price == "" {
		return nil
	}
	_, err := (&types.Bid{Price: price}).ScoreBid()
	return err
}

// bidText is what the fire paid for its place, empty for nothing.
func bidText(r *types.Receipt) string {
	if r.ScoreBid == nil {
		return ""
	}
	return r.ScoreBid.String()
}
