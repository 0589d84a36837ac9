package api

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	sdkerrors "github.com/cosmos/cosmos-sdk/types/errors"
	"github.com/cosmos/cosmos-sdk/types/query"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/dashboard/store"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/client/words"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	// sceneFor is how long the live timers are shown as they were read, by whomever they are asked for.
	sceneFor = 3 * time.Second
	// recent is how many blocks back trouble and use are looked for; full is over how many the lane's use is judged.
	recent = 1_000
	full   = 10
	// fullShare is the share of the lane from which on it is full. Where each block leaves timers ready it is full from
	// crowdedShare on: what is left has no room for their limits.
	fullShare    = 0.9
	crowdedShare = 0.5
	// maxBehind is by how many blocks a history is behind its node while nothing is wrong.
	maxBehind = 20
	// paceBlocks are those over which the time between blocks is told.
	paceBlocks = 50
	// lateFrom is from how many blocks after its due height on a timer is late.
	lateFrom = 10
	// maxUsers, maxAffected and maxFailing bound what the overview lists.
	maxUsers    = 10
	maxAffected = 20
	maxFailing  = 500
	// actorEvents are those on one page of an actor's history.
	actorEvents = 200
)

// scene is what lives on the chain, read at most every few seconds.
type scene struct {
	mu    sync.Mutex
	taken time.Time
	found live
	err   error
	// funds are what accounts can spend, as they were asked for since.
	funds map[string]string
}

// lately is what the last blocks did, read once for each block.
type lately struct {
	mu      sync.Mutex
	known   bool
	height  int64
	hash    string
	sums    store.Sums
	users   []store.Use
	failing []store.Failing
}

// readLately reads what the last blocks did, unless it is known.
func (s *Server) readLately(ctx context.Context, height int64, hash string) (sums store.Sums, users []store.Use, failing []store.Failing, err error) {
	l, above := &s.lately, max(height-recent, 0)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known && l.height == height && l.hash == hash {
		return l.sums, l.users, l.failing, nil
	}
	l.known = false
	if l.sums, err = s.Store.Sums(ctx, above); err != nil {
		return sums, nil, nil, err
	}
	if l.users, err = s.Store.Users(ctx, above, maxUsers); err != nil {
		return sums, nil, nil, err
	}
	if l.failing, err = s.Store.Failing(ctx, above, maxFailing); err != nil {
		return sums, nil, nil, err
	}
	l.known, l.height, l.hash = true, height, hash
	return l.sums, l.users, l.failing, nil
}

// live are the chain's timers: those of the queue, those that wait for a time, those on hold, and how many wait for changes.
type live struct {
	lane     *types.QueryLaneResponse
	queue    []types.TimerInfo
	timed    []types.TimerInfo
	held     []types.TimerInfo
	watching int
	// more: there are others that were not read.
	more bool
}

// live reads the timers that live, or takes them as they were read a moment ago.
func (s *Server) live(ctx context.Context) (live, error) {
	s.seen.mu.Lock()
	defer s.seen.mu.Unlock()
	if now := s.Now(); now.Sub(s.seen.taken) >= sceneFor || now.Before(s.seen.taken) {
		found, err := s.readLive(ctx)
		if ctx.Err() != nil {
			return found, ctx.Err()
		}
		s.seen.found, s.seen.err, s.seen.taken, s.seen.funds = found, err, now, map[string]string{}
	}
	return s.seen.found, s.seen.err
}

func (s *Server) readLive(ctx context.Context) (l live, err error) {
	if l.lane, err = s.Query.Lane(ctx, &types.QueryLaneRequest{}); err != nil {
		return l, err
	}
	var more [3]bool
	l.queue, more[0], err = pages(maxTimers, func(p *query.PageRequest) ([]types.TimerInfo, *query.PageResponse, error) {
		found, err := s.Query.Due(ctx, &types.QueryDueRequest{Height: math.MaxUint64 - 1, Until: true, Pagination: p})
		return found.GetTimers(), found.GetPagination(), err
	})
	if err != nil {
		return l, err
	}
	l.timed, more[2], err = pages(maxTimers, func(p *query.PageRequest) ([]types.TimerInfo, *query.PageResponse, error) {
		found, err := s.Query.Due(ctx, &types.QueryDueRequest{Time: types.MaxTime, Until: true, Pagination: p})
		return found.GetTimers(), found.GetPagination(), err
	})
	if err != nil {
		return l, err
	}
	l.held, more[1], err = pages(maxTimers, func(p *query.PageRequest) ([]types.TimerInfo, *query.PageResponse, error) {
		found, err := s.Query.OnHold(ctx, &types.QueryOnHoldRequest{Pagination: p})
		return found.GetTimers(), found.GetPagination(), err
	})
	if err != nil {
		return l, err
	}
	l.more = more[0] || more[1] || more[2]
	return l, s.countWatching(ctx, &l)
}

// countWatching counts the timers that wait for changes. One is named once for each key that it watches.
func (s *Server) countWatching(ctx context.Context, l *live) error {
	stores, err := s.Query.Watchable(ctx, &types.QueryWatchableRequest{})
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, one := range stores.Stores {
		request := &query.PageRequest{Limit: 1_000}
		found, err := s.Query.Watches(ctx, &types.QueryWatchesRequest{Store: one.Store, Pagination: request})
		if err != nil {
			return err
		}
		for i := range found.Watches {
			if w := &found.Watches[i]; w.Phase == types.PhaseWatching {
				seen[w.Actor+"/"+w.TimerId] = true
			}
		}
		l.more = l.more || len(found.GetPagination().GetNextKey()) > 0
	}
	l.watching = len(seen)
	return nil
}

// trouble is something that an operator should look at.
type trouble struct {
	// Kind is what it is in a word or two.
	Kind string `json:"kind"`
	// Grave: it harms now. Otherwise it may, or it is wanted by someone.
	Grave bool   `json:"grave"`
	Says  string `json:"says"`
	// Timers that are affected, at most so many; More are others.
	Timers []affected `json:"timers,omitempty"`
	More   int        `json:"more,omitempty"`
}

// affected is a timer in trouble.
type affected struct {
	ID     string `json:"id"`
	Actor  string `json:"actor"`
	Name   string `json:"name,omitempty"`
	Does   string `json:"does,omitempty"`
	Why    string `json:"why"`
	Height int64  `json:"height,omitempty"`
	Time   int64  `json:"time,omitempty"`
}

// overview is what an operator wants to know first: what is wrong, how much waits, and who uses the lane.
func (s *Server) overview(r *http.Request) (any, error) {
	ctx := r.Context()
	last, hash, err := s.Store.Last(ctx)
	if err != nil {
		return nil, err
	}
	sums, users, failing, err := s.readLately(ctx, last, hash)
	if err != nil {
		return nil, err
	}
	found, unread := s.live(ctx)
	troubles, err := s.troubles(ctx, last, &found, unread, failing)
	if err != nil {
		return nil, err
	}
	answer := map[string]any{
		"height": last, "now": s.Now().Unix(), "node": s.nodeView(), "troubles": troubles, "sums": sums, "users": users,
	}
	if unread != nil {
		return answer, nil //nolint:nilerr // What can't be read of the node is among the troubles; the history is shown.
	}
	pending, err := s.pending(ctx, last, &found)
	if err != nil {
		return nil, err
	}
	answer["next"] = s.list(pending[:min(len(pending), maxAffected)])
	answer["counts"] = map[string]any{
		"pending": len(pending), "ready": len(found.queue) + len(found.timed) - len(pending), "held": len(found.held), "watching": found.watching, "more": found.more,
	}
	return answer, nil
}

// pending are the timers that are not due yet, by height and by time, in the order in which they come at the present pace.
func (s *Server) pending(ctx context.Context, last int64, l *live) ([]types.TimerInfo, error) {
	pace, err := s.Store.Pace(ctx, paceBlocks)
	if err != nil {
		return nil, err
	}
	all := slices.DeleteFunc(slices.Concat(l.queue, l.timed), func(t types.TimerInfo) bool { return t.Status.Phase == types.PhaseReady })
	now := float64(s.Now().Unix())
	comes := func(t *types.TimerInfo) float64 {
		if t.Status.DueTime > 0 {
			return float64(t.Status.DueTime)
		}
		return now + (float64(t.Status.Due)-float64(last))*pace
	}
	slices.SortStableFunc(all, func(a, b types.TimerInfo) int { return cmp.Compare(comes(&a), comes(&b)) })
	return all, nil
}

func (s *Server) nodeView() map[string]any {
	health := s.Node()
	view := map[string]any{"height": health.Last, "catching_up": health.CatchingUp, "away": health.Away}
	if !health.Time.IsZero() {
		view["time"] = health.Time.Unix()
	}
	return view
}

// troubles are all that is wrong, the grave ones first. They are never nil: the page goes through the list.
func (s *Server) troubles(ctx context.Context, last int64, l *live, unread error, failing []store.Failing) ([]trouble, error) {
	all, err := s.nodeTroubles(ctx, last)
	if err != nil {
		return nil, err
	}
	switch {
	case unread == nil:
		all = append(all, s.laneTroubles(l)...)
	case s.Node().Away == "":
		all = append(all, trouble{Kind: "node", Grave: true, Says: "The node does not tell of its timers: " + inWords(unread)})
	}
	ofLane, err := s.laneLately(ctx, last, l)
	if err != nil {
		return nil, err
	}
	unfunded, err := s.unfunded(ctx, last, l)
	if err != nil {
		return nil, err
	}
	all = slices.Concat(all, ofLane, s.failing(ctx, failing, l), unfunded, s.held(l), s.late(l))
	grave := slices.DeleteFunc(append([]trouble{}, all...), func(t trouble) bool { return !t.Grave })
	return append(grave, slices.DeleteFunc(all, func(t trouble) bool { return t.Grave })...), nil
}

// nodeTroubles are a node that is away, behind or halted, and a history that is behind it.
func (s *Server) nodeTroubles(ctx context.Context, last int64) (all []trouble, err error) {
	health, now := s.Node(), s.Now()
	pace, err := s.Store.Pace(ctx, paceBlocks)
	if err != nil {
		return nil, err
	}
	halted := timespan.Patience(time.Duration(pace * float64(time.Second)))
	silent := now.Sub(health.Time)
	switch {
	case health.Away != "":
		all = append(all, trouble{Kind: "node away", Grave: true, Says: fmt.Sprintf(
			"The node has not answered for %s; what is shown is of block %d. It says: %.200s", timespan.ForPeople(now.Sub(health.Since)), last, health.Away)})
	case health.Time.IsZero():
		all = append(all, trouble{Kind: "node", Grave: true, Says: "The node has not been reached yet."})
	case health.CatchingUp:
		all = append(all, trouble{Kind: "node behind", Grave: true, Says: fmt.Sprintf(
			"The node is catching up: its latest block, %d, is %s old.", health.Last, timespan.ForPeople(silent))})
	case silent > halted:
		all = append(all, trouble{Kind: "chain halted", Grave: true, Says: fmt.Sprintf(
			"No block for %s: the latest is %d. The chain has halted, or the node has lost its peers.", timespan.ForPeople(silent), health.Last)})
	}
	if behind := health.Last - last; behind > maxBehind {
		all = append(all, trouble{Kind: "history behind", Says: fmt.Sprintf(
			"This history ends at block %d, %d blocks before the node's latest; they are being read.", last, behind)})
	}
	return all, nil
}

// laneTroubles are what the lane says of itself.
func (s *Server) laneTroubles(l *live) (all []trouble) {
	if l.lane.Paused {
		all = append(all, trouble{Kind: "lane paused", Grave: true, Says: "Governance has paused the lane: no timer fires until it resumes it."})
	}
	if l.lane.BasefeeCode != 0 {
		all = append(all, trouble{Kind: "no prices", Grave: true, Says: fmt.Sprintf(
			"The chain's fee market gives no prices; its last good ones are charged (%s, code %d).", l.lane.BasefeeCodespace, l.lane.BasefeeCode)})
	}
	return all
}

// laneLately are a lane that failed as a whole, and one that is full.
func (s *Server) laneLately(ctx context.Context, last int64, l *live) (all []trouble, err error) {
	failed, err := s.Store.Events(ctx, store.Filter{Kinds: []string{"lane failed"}, After: store.Place{Height: last - recent}, Limit: maxFailing})
	if err != nil {
		return nil, err
	}
	if len(failed) > 0 {
		all = append(all, trouble{Kind: "lane failed", Grave: true, Says: fmt.Sprintf(
			"The end of %d of the last %d blocks failed as a whole, and no timer fired there; the last was block %d: %s",
			len(failed), recent, failed[0].Height, failed[0].Why)})
	}
	points, err := s.Store.Series(ctx, full, full)
	if err != nil || len(points) == 0 || l.lane == nil || l.lane.LaneTimerCycles == 0 {
		return all, err
	}
	used, crowded, overload := 0.0, len(points) >= full, points[len(points)-1].Storm
	for i := range points {
		used += points[i].UsedSize / float64(len(points))
		crowded = crowded && points[i].Deferred > 0
	}
	share := used / float64(l.lane.LaneTimerCycles)
	switch {
	case overload:
		all = append(all, trouble{Kind: "overload", Says: fmt.Sprintf(
			"More timers are ready than compete at once (candidate_window); %.0f %% of the lane was used over the last %d blocks.", 100*share, len(points))})
	case share >= fullShare, crowded && share >= crowdedShare:
		all = append(all, trouble{Kind: "lane full", Says: fmt.Sprintf(
			"%.0f %% of the lane was used over the last %d blocks: timers wait for room, and prices rise.", 100*share, len(points))})
	}
	return all, nil
}

// bounded writes a number that was counted up to a bound.
func bounded(n, most int) string {
	if n >= most {
		return "at least " + plain.Thousands(uint64(most))
	}
	return plain.Thousands(uint64(n))
}

// with cuts a list of affected timers to what is shown.
func (t trouble) with(timers []affected) trouble {
	t.Timers, t.More = timers[:min(len(timers), maxAffected)], max(len(timers)-maxAffected, 0)
	return t
}

// spends says what an account can spend of the fee denom, as the node told a moment ago; empty if it does not tell.
func (s *Server) spends(ctx context.Context, l *live, who, address string) string {
	if s.Bank == nil || l.lane == nil || address == "" {
		return ""
	}
	s.seen.mu.Lock()
	has, known := s.seen.funds[address]
	s.seen.mu.Unlock()
	if !known {
		answer, err := s.Bank.SpendableBalanceByDenom(ctx, &banktypes.QuerySpendableBalanceByDenomRequest{Address: address, Denom: l.lane.FeeDenom})
		if err != nil || answer.Balance == nil {
			return "" // The trouble is told without it.
		}
		has = plain.Clean(answer.Balance.String())
		s.seen.mu.Lock()
		s.seen.funds[address] = has
		s.seen.mu.Unlock()
	}
	return fmt.Sprintf("; %s can spend %s now", who, has)
}

// lacking is how the reason of a fire ends that failed since an account lacked what a message moves.
var lacking = fmt.Sprintf("(%s/%d)", sdkerrors.ErrInsufficientFunds.Codespace(), sdkerrors.ErrInsufficientFunds.ABCICode())

// failing are timers whose last fire failed.
func (s *Server) failing(ctx context.Context, found []store.Failing, l *live) []trouble {
	if len(found) == 0 {
		return nil
	}
	does := map[string]string{}
	for _, all := range [][]types.TimerInfo{l.queue, l.timed, l.held} {
		for i := range all {
			does[all[i].Id] = s.does(&all[i])
		}
	}
	timers := make([]affected, len(found))
	for i := range found {
		e := &found[i]
		timers[i] = affected{ID: e.Timer, Actor: e.Actor, Name: e.Name, Does: does[e.Timer], Why: e.Why, Height: e.Height, Time: e.Time}
		if e.Times > 1 {
			timers[i].Why = fmt.Sprintf("%d times: %s", e.Times, e.Why)
		}
		if i < maxAffected && strings.Contains(e.Why, lacking) {
			timers[i].Why += s.spends(ctx, l, "its owner", e.Actor)
		}
	}
	return []trouble{trouble{Kind: "failing", Grave: true, Says: fmt.Sprintf(
		"Timers whose last fire failed, within the last %s blocks: %s.", plain.Thousands(recent), bounded(len(found), maxFailing))}.with(timers)}
}

// unfunded are timers whose payers could not pay: those that were dropped for it lately, and those that wait.
func (s *Server) unfunded(ctx context.Context, last int64, l *live) ([]trouble, error) {
	var timers []affected
	for _, all := range [][]types.TimerInfo{l.held, l.queue} {
		for i := range all {
			t := &all[i]
			if why := lacksFunds(t); why != "" {
				if len(timers) < maxAffected {
					why += s.spends(ctx, l, "its payer", t.Status.FeePayer)
				}
				timers = append(timers, s.affected(t, why))
			}
		}
	}
	dropped, err := s.Store.Events(ctx, store.Filter{Kinds: []string{"unfunded"}, After: store.Place{Height: max(last-recent, 0)}, Limit: maxFailing})
	if err != nil {
		return nil, err
	}
	waiting := len(timers)
	for i := range dropped {
		e := &dropped[i]
		timers = append(timers, affected{ID: e.Timer, Actor: e.Actor, Name: e.Name, Why: "dropped: " + e.Why, Height: e.Height, Time: e.Time})
	}
	if len(timers) == 0 {
		return nil, nil
	}
	return []trouble{trouble{Kind: "unfunded", Grave: true, Says: fmt.Sprintf(
		"Timers that wait for their payers' funds: %s. Dropped for lack of them within the last %s blocks: %s.",
		bounded(waiting, maxTimers), plain.Thousands(recent), bounded(len(dropped), maxFailing))}.with(timers)}, nil
}

// lacksFunds says how a live timer shows that its payer lacks funds; empty if it does not.
func lacksFunds(t *types.TimerInfo) string {
	switch {
	case t.Status.HoldReason == types.Unfunded:
		return "on hold until its payer has funds"
	case t.Status.HoldReason == types.Suspended:
		return "suspended: its owner may resume it when its payer has funds"
	case t.Status.UnfundedSince > 0:
		return fmt.Sprintf("ready, and waits for its payer's funds since height %d", t.Status.UnfundedSince)
	default:
		return ""
	}
}

// held are timers on hold for another cause.
func (s *Server) held(l *live) []trouble {
	var timers []affected
	grave := false
	for i := range l.held {
		if t := &l.held[i]; lacksFunds(t) == "" {
			timers = append(timers, s.affected(t, holds[t.Status.HoldReason]))
			grave = grave || t.Status.HoldReason == types.Quarantined
		}
	}
	if len(timers) == 0 {
		return nil
	}
	return []trouble{trouble{Kind: "on hold", Grave: grave, Says: fmt.Sprintf(
		"Timers that do not fire until they are released or resumed: %s.", bounded(len(timers), maxTimers))}.with(timers)}
}

// holds say why a timer is on hold, and who ends it.
var holds = map[types.HoldReason]string{
	types.Quarantined: "quarantined, since its handler panicked: governance releases or cancels it",
	types.Unrunnable:  "its limits are above what the config can run: it returns when a config can",
	types.Paused:      "paused by its owner, who may resume it",
	types.PricedOut:   "its bid is below the price: it returns when the price has fallen",
	types.NotAdmin:    "its scheduler is no longer the admin of its contract",
}

// late are timers that are ready for long.
func (s *Server) late(l *live) []trouble {
	var timers []affected
	for i := range l.queue {
		t := &l.queue[i]
		if t.Status.Phase != types.PhaseReady || t.Status.UnfundedSince > 0 || l.lane.Height < words.DueSince(t)+lateFrom {
			continue
		}
		timers = append(timers, s.affected(t, fmt.Sprintf("%d blocks late, bid %s", l.lane.Height-words.DueSince(t), plain.TimerBid(t))))
	}
	if len(timers) == 0 {
		return nil
	}
	return []trouble{trouble{Kind: "late", Says: fmt.Sprintf(
		"Timers that have been due for %d blocks or more and did not fire: %s. The lane has no room, or they bid less than its price.",
		lateFrom, bounded(len(timers), maxTimers))}.with(timers)}
}

func (s *Server) affected(t *types.TimerInfo, why string) affected {
	return affected{ID: t.Id, Actor: t.Actor, Name: t.Spec.Name, Does: s.does(t), Why: why}
}
