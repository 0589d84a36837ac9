package api

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/cosmos/cosmos-sdk/types/query"

	"github.com/cosmos-timers/timers/dashboard/store"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// status is what is known at all.
func (s *Server) status(r *http.Request) (any, error) {
	last, _, err := s.Store.Last(r.Context())
	if err != nil {
		return nil, err
	}
	chain, err := s.Store.Meta(r.Context(), "chain_id")
	return map[string]any{"chain_id": chain, "height": last}, err
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
	ID       string `json:"id"`
	Actor    string `json:"actor"`
	Due      uint64 `json:"due"`
	Expires  uint64 `json:"expires_at"`
	GasLimit uint64 `json:"gas_limit"`
	Bid      string `json:"bid"`
	Status   string `json:"status"`
	Label    string `json:"label"`
	Handler  string `json:"handler"`
}

func list(timers []types.TimerInfo) []listed {
	rows := make([]listed, len(timers))
	for i := range timers {
		t := &timers[i]
		rows[i] = listed{
			ID: t.Id, Actor: t.Actor, Due: t.Due, Expires: t.ExpiresAt, GasLimit: t.GasLimit, Bid: plain.TimerBid(t),
			Status: t.Status.String(), Label: t.Label, Handler: t.Handler,
		}
	}
	return rows
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
	timers, more, err := pages(maxTimers, func(p *query.PageRequest) ([]types.TimerInfo, *query.PageResponse, error) {
		found, err := s.Query.Due(r.Context(), &types.QueryDueRequest{Height: until, Until: true, Pagination: p})
		if err != nil {
			return nil, nil, err
		}
		return found.Timers, found.Pagination, nil
	})
	if err != nil {
		return nil, err
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
		if timers[i].Due <= lane.Height {
			overdue++
			continue
		}
		if at := (timers[i].Due - lane.Height - 1) / uint64(span); at < cells {
			coming[at].Timers++
			coming[at].Gas += timers[i].GasLimit
		}
	}
	return map[string]any{"height": lane.Height, "span": span, "cells": coming, "ready": overdue, "lane": lane.LaneTimerCycles, "more": more}, nil
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
	return map[string]any{"timers": list(timers), "more": more}, err
}

// events are the newest, of all timers.
func (s *Server) events(r *http.Request) (any, error) {
	before, err := number(r, "before", 0, 0, 1<<62)
	if err != nil {
		return nil, err
	}
	return s.Store.Events(r.Context(), store.Filter{Before: before, Limit: 100})
}

// timer is one timer's whole life: what the chain holds of it now, if it lives, and all that happened to it.
func (s *Server) timer(r *http.Request) (any, error) {
	actor, err := word(r, "actor")
	if err != nil {
		return nil, err
	}
	id, err := word(r, "id")
	if err != nil {
		return nil, err
	}
	if len(id) != 64 {
		return nil, problem{"id: want the 64 digits of a whole id"}
	}
	events, err := s.Store.Events(r.Context(), store.Filter{Timer: id, Limit: maxEvents})
	if err != nil {
		return nil, err
	}
	if actor == "" && len(events) > 0 {
		actor = events[0].Actor
	}
	var now json.RawMessage
	if actor != "" {
		// One that is gone has a history and no state.
		if now, err = s.raw(s.Query.Timer(r.Context(), &types.QueryTimerRequest{Actor: actor, Id: id})); err != nil {
			now = nil
		}
	}
	return map[string]any{"actor": actor, "id": id, "now": now, "events": events, "more": len(events) == maxEvents}, nil
}

// actor is an actor's totals, live timers and newest events.
func (s *Server) actor(r *http.Request) (any, error) {
	actor, err := word(r, "actor")
	if err != nil {
		return nil, err
	}
	if actor == "" {
		return nil, problem{"actor: missing"}
	}
	totals, err := s.Store.Totals(r.Context(), actor)
	if err != nil {
		return nil, err
	}
	events, err := s.Store.Events(r.Context(), store.Filter{Actor: actor, Limit: 200})
	if err != nil {
		return nil, err
	}
	timers, more, err := pages(maxTimers, func(p *query.PageRequest) ([]types.TimerInfo, *query.PageResponse, error) {
		found, err := s.Query.TimersByActor(r.Context(), &types.QueryTimersByActorRequest{Actor: actor, Pagination: p})
		if err != nil {
			return nil, nil, err
		}
		return found.Timers, found.Pagination, nil
	})
	if err != nil {
		return nil, err
	}
	return map[string]any{"totals": totals, "timers": list(timers), "more": more, "events": events}, nil
}

// tiers are those that an estimate compares.
var tiers = []types.PriorityTier{
	types.TierEconomy, types.TierStandard, types.TierFast, types.TierUrgent,
}

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
		Wait      uint64 `json:"wait_blocks"`
		Denom     string `json:"denom"`
		Why       string `json:"why,omitempty"`
	}
	var prices []price
	for _, tier := range tiers {
		for _, gas := range slices.Compact(limits) {
			p := price{Gas: gas, Tier: plain.TierName(tier)}
			switch found, err := s.estimateOf(r.Context(), gas, tier); {
			case r.Context().Err() != nil:
				return nil, r.Context().Err()
			case err != nil:
				p.Why = plain.ServerSays(err)
			default:
				p.PreCharge, p.Wait, p.Denom = found.PreCharge, found.WaitBlocks, found.FeeDenom
			}
			prices = append(prices, p)
		}
	}
	return prices, nil
}

func (s *Server) estimateOf(ctx context.Context, gas int64, tier types.PriorityTier) (*types.QueryEstimateResponse, error) {
	return s.Query.Estimate(ctx, &types.QueryEstimateRequest{GasLimit: uint64(gas), Tier: tier})
}
