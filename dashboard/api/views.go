package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cosmos/cosmos-sdk/types/query"

	"github.com/cosmos-timers/timers/dashboard/follow"
	"github.com/cosmos-timers/timers/dashboard/store"
	"github.com/cosmos-timers/timers/x/timers/client/outlook"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/client/words"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// status is what is known at all.
func (s *Server) status(r *http.Request) (any, error) {
	ctx := r.Context()
	last, _, err := s.Store.Last(ctx)
	if err != nil {
		return nil, err
	}
	chain, err := s.Store.Meta(ctx, follow.ChainKey)
	if err != nil {
		return nil, err
	}
	pace, err := s.Store.Pace(ctx, paceBlocks)
	return map[string]any{"chain_id": chain, "height": last, "pace": pace, "names": s.Names, "wallet": s.Wallet}, err
}

func (s *Server) lane(r *http.Request) (any, error) {
	return s.raw(s.Query.Lane(r.Context(), &types.QueryLaneRequest{}))
}

func (s *Server) params(r *http.Request) (any, error) {
	return s.raw(s.Query.Params(r.Context(), &types.QueryParamsRequest{}))
}

// series is use and basefee over the last blocks.
func (s *Server) series(r *http.Request) (any, error) {
	blocks, err := number(r, "blocks", 1_000, 1, maxBlocks)
	if err != nil {
		return nil, err
	}
	return s.Store.Series(r.Context(), blocks, maxPoints)
}

// listed is a timer as lists show it.
type listed struct {
	ID    string `json:"id"`
	Actor string `json:"actor"`
	Due   uint64 `json:"due"`
	// DueTime is when it is due, in seconds since 1970, if it waits for a time: no height says when.
	DueTime  int64  `json:"due_time,omitempty"`
	Expires  uint64 `json:"expires_at"`
	GasLimit uint64 `json:"gas_limit"`
	Bid      string `json:"bid"`
	Status   string `json:"status"`
	Name     string `json:"name"`
	// Does is what it does, and When what makes it due, both in words.
	Does string `json:"does"`
	When string `json:"when"`
}

func (s *Server) list(timers []types.TimerInfo) []listed {
	rows := make([]listed, len(timers))
	for i := range timers {
		t := &timers[i]
		rows[i] = listed{
			ID: t.Id, Actor: t.Actor, Due: due(t), DueTime: dueTime(t), Expires: t.Status.ExpiresAt, GasLimit: t.Status.GasLimit, Bid: plain.TimerBid(t),
			Status: words.Status(t), Name: t.Spec.Name, Does: s.does(t), When: s.when(t),
		}
	}
	return rows
}

// due is the height at which a timer is due, or became so.
func due(t *types.TimerInfo) uint64 {
	if t.Status.Phase == types.PhaseReady {
		return words.DueSince(t)
	}
	return t.Status.Due
}

// dueTime is when a timer that waits for a time is due; 0 for others.
func dueTime(t *types.TimerInfo) int64 {
	if t.Status.HoldReason == types.Timed {
		return t.Status.DueTime
	}
	return 0
}

// does says what a timer does.
func (s *Server) does(t *types.TimerInfo) string {
	return words.Writer{Codec: s.Codec, Who: s.who}.Timer(t)
}

// when says what makes a timer due.
func (s *Server) when(t *types.TimerInfo) string {
	switch {
	case t.Spec.Trigger.Watch != nil:
		return "when " + s.keys().Watched(t.Spec.Trigger.Watch.Keys, s.who)
	case t.Spec.Trigger.Interval != nil:
		return "every " + words.Repeats(t)
	case t.Spec.Trigger.Calendar != nil:
		return words.Rule(t.Spec.Trigger.Calendar, "")
	case t.Spec.Trigger.Time != nil:
		return "at " + timespan.Stamp(*t.Spec.Trigger.Time, time.UTC)
	default:
		return "once"
	}
}

// onlyIf says what must hold when a timer fires.
func (s *Server) onlyIf(t *types.TimerInfo) string { return s.keys().OnlyIf(t.Spec.OnlyIf, s.who) }

// keys writes watched keys in words.
func (s *Server) keys() words.Keys {
	signing := s.Codec.InterfaceRegistry().SigningContext()
	return words.Keys{Accounts: signing.AddressCodec(), Validators: signing.ValidatorAddressCodec()}
}

// pages reads pages of timers until there are enough; more reports whether there are others.
func pages(limit int, fn func(*query.PageRequest) ([]types.TimerInfo, *query.PageResponse, error)) (timers []types.TimerInfo, more bool, err error) {
	request := &query.PageRequest{Limit: 200}
	for {
		found, next, err := fn(request)
		if err != nil {
			return nil, false, err
		}
		timers = append(timers, found...)
		if next == nil || len(next.NextKey) == 0 {
			return timers[:min(len(timers), limit)], len(timers) > limit, nil
		}
		if len(timers) >= limit {
			return timers[:limit], true, nil
		}
		request = &query.PageRequest{Limit: 200, Key: next.NextKey}
	}
}

// calendar is how many timers become due in each of the coming spans of blocks.
func (s *Server) calendar(r *http.Request) (any, error) {
	span, err := number(r, "span", 10, 1, 100_000)
	if err != nil {
		return nil, err
	}
	lane, err := s.Query.Lane(r.Context(), &types.QueryLaneRequest{})
	if err != nil {
		return nil, err
	}
	const cells = 120
	until := lane.Height + uint64(span)*cells
	pace, err := s.Store.Pace(r.Context(), paceBlocks)
	if err != nil {
		return nil, err
	}
	now := s.Now().Unix()
	asked := []*types.QueryDueRequest{{Height: until, Until: true}, {Time: now + int64(math.Ceil(pace*float64(span)*cells)), Until: true}}
	var timers []types.TimerInfo
	more := false
	for _, request := range asked {
		some, others, err := pages(maxTimers, func(p *query.PageRequest) ([]types.TimerInfo, *query.PageResponse, error) {
			request.Pagination = p
			found, err := s.Query.Due(r.Context(), request)
			return found.GetTimers(), found.GetPagination(), err
		})
		if err != nil {
			return nil, err
		}
		timers, more = append(timers, some...), more || others
	}
	type cell struct {
		From   uint64 `json:"from"`
		Timers int    `json:"timers"`
		Gas    uint64 `json:"gas"`
	}
	coming, overdue := make([]cell, cells), 0
	for i := range coming {
		coming[i].From = lane.Height + 1 + uint64(i)*uint64(span)
	}
	for i := range timers {
		away := distance(&timers[i], lane.Height, now, pace)
		if away == 0 {
			overdue++
			continue
		}
		if at := (away - 1) / uint64(span); at < cells {
			coming[at].Timers++
			coming[at].Gas += timers[i].Status.GasLimit
		}
	}
	return map[string]any{"height": lane.Height, "span": span, "cells": coming, "ready": overdue, "lane": lane.LaneTimerCycles, "more": more}, nil
}

// distance is in how many blocks after a height a timer is due, at a pace where that is a time; 0 if it is due already.
func distance(t *types.TimerInfo, height uint64, now int64, pace float64) uint64 {
	switch seconds := dueTime(t); {
	case t.Status.Phase == types.PhaseReady:
		return 0
	case seconds > 0 && pace == 0:
		return math.MaxUint64 // No block tells how far away it is.
	case seconds > 0:
		return max(1, uint64(math.Ceil(max(0, float64(seconds-now))/pace)))
	case t.Status.Due <= height:
		return 0
	}
	return t.Status.Due - height
}

// ready is the backlog in the order of the next block.
func (s *Server) ready(r *http.Request) (any, error) {
	timers, more, err := pages(200, func(p *query.PageRequest) ([]types.TimerInfo, *query.PageResponse, error) {
		found, err := s.Query.Ready(r.Context(), &types.QueryReadyRequest{Pagination: p})
		if err != nil {
			return nil, nil, err
		}
		return found.Timers, found.Pagination, nil
	})
	return map[string]any{"timers": s.list(timers), "more": more}, err
}

// events are the newest, of all timers.
func (s *Server) events(r *http.Request) (any, error) {
	before, err := place(r)
	if err != nil {
		return nil, err
	}
	return s.Store.Events(r.Context(), store.Filter{Before: before, Limit: 100})
}

// fact is a property of a timer, in words.
type fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// timer is one timer's life: what the chain holds of it now, if it lives, a page of what happened to it, and its fires.
func (s *Server) timer(r *http.Request) (any, error) {
	ctx := r.Context()
	actor, err := s.account(r, "actor")
	if err != nil {
		return nil, err
	}
	id := strings.ToLower(r.URL.Query().Get("id"))
	if prefix, err := types.ParseIDPrefix(id); err != nil || len(prefix) != 2*types.IDBytes {
		return nil, problem{fmt.Sprintf("id %.80q: want the %d hexadecimal digits of a whole id", id, 2*types.IDBytes)}
	}
	before, err := place(r)
	if err != nil {
		return nil, err
	}
	events, err := s.Store.Events(ctx, store.Filter{Timer: id, Before: before, Limit: maxEvents + 1})
	if err != nil {
		return nil, err
	}
	more := len(events) > maxEvents
	events = events[:min(len(events), maxEvents)]
	if actor == "" && len(events) > 0 {
		actor = events[0].Actor
	}
	sums, name, err := s.Store.Life(ctx, id)
	if err != nil {
		return nil, err
	}
	answer := map[string]any{"actor": actor, "id": id, "events": events, "more": more, "sums": sums, "name": name}
	if actor == "" {
		return answer, nil
	}
	switch found, err := s.Query.Timer(ctx, &types.QueryTimerRequest{Actor: actor, Id: id, Verdict: true}); {
	case err == nil:
		answer["now"], answer["facts"], answer["name"] = s.list([]types.TimerInfo{found.Timer})[0], s.facts(&found.Timer), found.Timer.Spec.Name
	case status.Code(err) != codes.NotFound:
		// One that is gone has a history and no state. That is not said of a node that is away.
		answer["unknown"] = inWords(err)
	}
	return answer, nil
}

// facts are what the chain holds of a timer, in words.
func (s *Server) facts(t *types.TimerInfo) []fact {
	all := []fact{
		{"does", s.does(t)},
		{"when", s.when(t)},
		{"status", words.Status(t)},
		{"owner", s.who(t.Actor)},
		{"fee payer", s.who(t.Status.FeePayer)},
		{"bid", plain.TimerBid(t)},
		{"gas limit", plain.Thousands(t.Status.GasLimit)},
		{"cell limit", plain.Thousands(t.Status.CellLimit)},
		{"fires so far", plain.Thousands(uint64(t.Status.FireSeq))},
		{"expires", "after height " + plain.Thousands(t.Status.ExpiresAt)},
		{"only if", s.onlyIf(t)},
		{"without funds", map[types.OnUnfunded]string{types.OnUnfundedDestroy: "it is dropped", types.OnUnfundedSuspend: "it is suspended"}[t.Spec.OnUnfunded]},
	}
	if t.Spec.MaxCharge != "" {
		all = append(all, fact{"most that a fire may cost", plain.Clean(t.Spec.MaxCharge)})
	}
	if t.Scheduler != "" {
		all = append(all, fact{"scheduled by", s.who(t.Scheduler)})
	}
	if t.Status.Retries > 0 {
		all = append(all, fact{"retries used", plain.Thousands(uint64(t.Status.Retries))})
	}
	if t.Status.UnfundedSince > 0 {
		all = append(all, fact{"waits for its payer", "since height " + plain.Thousands(t.Status.UnfundedSince)})
	}
	return slices.DeleteFunc(all, func(f fact) bool { return f.Value == "" })
}

// place reads where a page of events ends: before=HEIGHT or before=HEIGHT/POSITION.
func place(r *http.Request) (at store.Place, err error) {
	text := r.URL.Query().Get("before")
	if text == "" {
		return at, nil
	}
	height, position, _ := strings.Cut(text, "/")
	if at.Height, err = strconv.ParseInt(height, 10, 64); err == nil && position != "" {
		at.Position, err = strconv.ParseInt(position, 10, 64)
	}
	if err != nil || at.Height < 0 || at.Position < 0 {
		return at, problem{fmt.Sprintf("before %.80q: want HEIGHT or HEIGHT/POSITION", text)}
	}
	return at, nil
}

// actor is an actor's totals, live timers and a page of its events.
func (s *Server) actor(r *http.Request) (any, error) {
	actor, err := s.account(r, "actor")
	if err != nil {
		return nil, err
	}
	if actor == "" {
		return nil, problem{"actor: missing"}
	}
	before, err := place(r)
	if err != nil {
		return nil, err
	}
	totals, err := s.Store.Totals(r.Context(), actor)
	if err != nil {
		return nil, err
	}
	events, err := s.Store.Events(r.Context(), store.Filter{Actor: actor, Before: before, Limit: actorEvents + 1})
	if err != nil {
		return nil, err
	}
	answer := map[string]any{"totals": totals, "events": events[:min(len(events), actorEvents)], "older": len(events) > actorEvents}
	timers, more, err := pages(maxTimers, func(p *query.PageRequest) ([]types.TimerInfo, *query.PageResponse, error) {
		found, err := s.Query.TimersByActor(r.Context(), &types.QueryTimersByActorRequest{Actor: actor, Pagination: p, Verdict: true})
		if err != nil {
			return nil, nil, err
		}
		answer["live"] = found.Total
		return found.Timers, found.Pagination, nil
	})
	if err != nil {
		// The history is known though the node is away.
		answer["unknown"] = inWords(err)
	}
	slices.SortStableFunc(timers, func(a, b types.TimerInfo) int { return cmp.Compare(a.Status.Due, b.Status.Due) })
	answer["timers"], answer["more"] = s.list(timers), more
	return answer, nil
}

// tiers are those that an estimate compares.
var tiers = []types.PriorityTier{
	types.TierEconomy, types.TierStandard, types.TierFast, types.TierUrgent,
}

// errNoPace lets waits be told in blocks.
var errNoPace = errors.New("waits are told in blocks")

// estimate is what a timer of some gas limits would pay, by tier.
func (s *Server) estimate(r *http.Request) (any, error) {
	most, err := number(r, "gas", 200_000, 40_000, 100_000_000)
	if err != nil {
		return nil, err
	}
	limits := []int64{40_000, most / 4, most / 2, most * 3 / 4, most}
	limits = slices.Compact(slices.DeleteFunc(limits, func(n int64) bool { return n < 40_000 }))
	type price struct {
		Gas       int64  `json:"gas"`
		Tier      string `json:"tier"`
		PreCharge string `json:"pre_charge"`
		// Says is what a timer that were due now would meet.
		Says  string `json:"says"`
		Denom string `json:"denom"`
		Why   string `json:"why,omitempty"`
	}
	var prices []price
	for _, tier := range tiers {
		for _, gas := range slices.Compact(limits) {
			p := price{Gas: gas, Tier: plain.TierName(tier)}
			switch found, err := s.estimateOf(r.Context(), gas, tier); {
			case r.Context().Err() != nil:
				return nil, r.Context().Err()
			case err != nil:
				p.Why = inWords(err)
			default:
				p.PreCharge, p.Denom = found.PreCharge, found.FeeDenom
				p.Says = outlook.WaitNote(found, timespan.Clock{PaceErr: errNoPace})
			}
			prices = append(prices, p)
		}
	}
	return prices, nil
}

func (s *Server) estimateOf(ctx context.Context, gas int64, tier types.PriorityTier) (*types.QueryEstimateResponse, error) {
	return s.Query.Estimate(ctx, &types.QueryEstimateRequest{GasLimit: uint64(gas), Tier: tier})
}
