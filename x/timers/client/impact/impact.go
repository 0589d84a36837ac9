// Package impact tells which waiting timers a config would put on hold: those whose limits it can't run.
package impact

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/cosmos/cosmos-sdk/types/query"

	"github.com/cosmos-timers/timers/x/timers/client/bids"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/client/words"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// pageTimers is how many timers a page is asked for.
const pageTimers = 500

// Verdict is what becomes of one timer.
type Verdict struct {
	Actor     string `json:"actor"`
	ID        string `json:"id"`
	Name      string `json:"name,omitempty"`
	Status    string `json:"status"`
	GasLimit  uint64 `json:"gas_limit"`
	CellLimit uint64 `json:"cell_limit"`
	// Reason is empty for a timer that returns.
	Reason string `json:"reason,omitempty"`
}

// Impact is what a config would do to the timers that wait.
type Impact struct {
	// Height at which the timers were looked at, and how many of them. Complete: there are no others.
	Height   uint64 `json:"height"`
	Examined uint64 `json:"examined"`
	Complete bool   `json:"complete"`
	// OnHold are those that would be put on hold when they are due; Returned are on hold now, and would return.
	OnHold   []Verdict `json:"on_hold"`
	Returned []Verdict `json:"returned"`
}

// Of looks at the waiting timers, at most so many, in pages: first at those with a due height, then at those that wait for a
// time, then at those that watch or are on hold. The queries should be of one height, or a timer that moves between two
// pages is seen twice or not at all.
func Of(ctx context.Context, client types.QueryClient, config *types.TimerConfig, height, most uint64) (*Impact, error) {
	i := &Impact{Height: height, OnHold: []Verdict{}, Returned: []Verdict{}}
	queue := func(page *query.PageRequest) ([]types.TimerInfo, *query.PageResponse, error) {
		answer, err := client.Due(ctx, &types.QueryDueRequest{Height: math.MaxInt64, Until: true, Pagination: page})
		return answer.GetTimers(), answer.GetPagination(), err
	}
	timed := func(page *query.PageRequest) ([]types.TimerInfo, *query.PageResponse, error) {
		answer, err := client.Due(ctx, &types.QueryDueRequest{Time: types.MaxTime, Until: true, Pagination: page})
		return answer.GetTimers(), answer.GetPagination(), err
	}
	onHold := func(page *query.PageRequest) ([]types.TimerInfo, *query.PageResponse, error) {
		answer, err := client.OnHold(ctx, &types.QueryOnHoldRequest{Pagination: page})
		return answer.GetTimers(), answer.GetPagination(), err
	}
	i.Complete = true
	for _, list := range []pages{queue, timed, onHold} {
		complete, err := i.walk(list, config, most)
		if err != nil {
			return nil, errors.New(plain.ServerSays(err))
		}
		i.Complete = i.Complete && complete
	}
	return i, nil
}

// pages asks for a page of a list.
type pages func(*query.PageRequest) ([]types.TimerInfo, *query.PageResponse, error)

func (i *Impact) walk(list pages, config *types.TimerConfig, most uint64) (complete bool, err error) {
	for page := (&query.PageRequest{}); ; {
		if page.Limit = min(pageTimers, most-i.Examined); page.Limit == 0 {
			return false, nil
		}
		timers, next, err := list(page)
		if err != nil {
			return false, err
		}
		for n := range timers {
			i.judge(&timers[n], config)
		}
		if len(next.GetNextKey()) == 0 {
			return true, nil
		}
		page = &query.PageRequest{Key: next.NextKey}
	}
}

func (i *Impact) judge(t *types.TimerInfo, config *types.TimerConfig) {
	i.Examined++
	verdict := Verdict{
		Actor: t.Actor, ID: t.Id, Name: t.Spec.Name, Status: words.Status(t), GasLimit: t.Status.GasLimit, CellLimit: t.Status.CellLimit,
		Reason: reason(t, config, i.Height),
	}
	switch unrunnable := t.Status.HoldReason == types.Unrunnable; {
	case verdict.Reason != "" && !unrunnable:
		i.OnHold = append(i.OnHold, verdict)
	case verdict.Reason == "" && unrunnable:
		i.Returned = append(i.Returned, verdict)
	}
}

// reason is why a config can't run a timer when it is due, as the registry of the policies decides it; empty if it can.
func reason(t *types.TimerInfo, config *types.TimerConfig, now uint64) string {
	most := bids.GasCap(config, max(t.Status.Due, now+1))
	switch {
	case t.Status.GasLimit > most:
		return fmt.Sprintf("its gas limit is %s, want at most %s", plain.Thousands(t.Status.GasLimit), plain.Thousands(most))
	case t.Status.GasLimit <= market.FireBaseCycles:
		return fmt.Sprintf("its gas limit is %s, want more than the %s of every fire", plain.Thousands(t.Status.GasLimit), plain.Thousands(market.FireBaseCycles))
	case t.Status.CellLimit > config.MaxCellsPerFire:
		return fmt.Sprintf("its cell limit is %s, want at most %s", plain.Thousands(t.Status.CellLimit), plain.Thousands(config.MaxCellsPerFire))
	default:
		return ""
	}
}

// Summary says it in a sentence.
func (i *Impact) Summary() string {
	text := fmt.Sprintf("would put on hold %d of %s", len(i.OnHold), plain.Count(i.Examined, "waiting timer"))
	if !i.Complete {
		text = fmt.Sprintf("would put on hold %d of the first %s", len(i.OnHold), plain.Count(i.Examined, "waiting timer"))
	}
	if len(i.Returned) > 0 {
		text += fmt.Sprintf("; %d that are on hold now would return", len(i.Returned))
	}
	return text
}

// Print writes a table and the summary, or JSON.
func (i *Impact) Print(out io.Writer, asJSON bool, name func(string) string) error {
	if asJSON {
		text, err := json.Marshal(i)
		if err == nil {
			_, err = fmt.Fprintf(out, "%s\n", text)
		}
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if len(i.OnHold)+len(i.Returned) > 0 {
		_, _ = fmt.Fprintln(table, "TIMER\tNAME\tSTATUS\tWHAT WOULD HAPPEN")
	}
	row := func(v *Verdict, what string) {
		called := plain.Clean(v.Name)
		if called == "" {
			called = "-"
		}
		_, _ = fmt.Fprintf(table, "%s/%s\t%s\t%s\t%s\n", plain.Clean(name(v.Actor)), plain.Clip(plain.Clean(v.ID), 8), called, v.Status, what)
	}
	for n := range i.OnHold {
		row(&i.OnHold[n], "on hold when it is due: "+i.OnHold[n].Reason)
	}
	for n := range i.Returned {
		row(&i.Returned[n], "returns")
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "%s\n", i.Summary())
	return err
}
