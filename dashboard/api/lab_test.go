package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	coretypes "github.com/cometbft/cometbft/rpc/core/types"
	cmttypes "github.com/cometbft/cometbft/types"
	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/dashboard/api"
	"github.com/cosmos-timers/timers/dashboard/follow"
	"github.com/cosmos-timers/timers/dashboard/store"
	"github.com/cosmos-timers/timers/x/timers/testutil/clienttest"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// desk is a dashboard of a chain in memory: a follower reads it into a store, and the server asks it.
type desk struct {
	*clienttest.Rig
	t         *testing.T
	follower  *follow.Follower
	server    *httptest.Server
	history   *store.Store
	notes     []string
	endpoints []string
	now       time.Time
}

// rpc adds to a node of the lab what a follower asks for.
type rpc struct{ *clienttest.Node }

func (n rpc) Status(ctx context.Context) (*coretypes.ResultStatus, error) {
	status, err := n.Node.Status(ctx)
	if err != nil {
		return nil, err
	}
	status.NodeInfo.Network = "lab"
	return status, nil
}

func (n rpc) Block(ctx context.Context, height *int64) (*coretypes.ResultBlock, error) {
	info, err := n.BlockchainInfo(ctx, *height, *height)
	if err != nil {
		return nil, err
	}
	hash := func(height int64) []byte { return fmt.Appendf(nil, "%032d", height) }
	header := info.BlockMetas[0].Header
	header.LastBlockID = cmttypes.BlockID{Hash: hash(*height - 1)}
	return &coretypes.ResultBlock{BlockID: cmttypes.BlockID{Hash: hash(*height)}, Block: &cmttypes.Block{Header: header}}, nil
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{Rig: clienttest.New(t), t: t}
	history, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "db"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = history.Close() })
	d.follower = &follow.Follower{Source: follow.Node{RPC: rpc{d.Node}}, Store: history, Note: t.Logf}
	d.serve(history)
	return d
}

// serve serves a history.
func (d *desk) serve(history *store.Store) {
	s := &api.Server{
		Store: history, Query: types.NewQueryClient(d.Ctx), Bank: banktypes.NewQueryClient(d.Ctx), Codec: d.Ctx.Codec, Names: map[string]string{d.Alice: "alice", d.Bob: "bob"},
		Node: d.follower.Health, Now: func() time.Time { return d.now },
		Note: func(format string, args ...any) { d.notes = append(d.notes, fmt.Sprintf(format, args...)) },
	}
	d.history, d.endpoints, d.server = history, s.Endpoints(), httptest.NewServer(s.Handler())
	d.t.Cleanup(d.server.Close)
}

// look reads what is new, some seconds after the latest block, and asks the dashboard.
func (d *desk) look(path string, into any) {
	d.t.Helper()
	if !d.Node.Down {
		require.NoError(d.t, d.follower.Once(d.t.Context()))
		status, err := d.Node.Status(d.t.Context())
		require.NoError(d.t, err)
		d.now = status.SyncInfo.LatestBlockTime.Add(5 * time.Second)
	}
	d.ask(path, into)
}

func (d *desk) ask(path string, into any) {
	d.t.Helper()
	response, body := ask(d.t, d.server, http.MethodGet, "/api/"+path, "")
	require.Equal(d.t, http.StatusOK, response.StatusCode, body)
	require.NoError(d.t, json.Unmarshal([]byte(body), into), body)
}

// refused asks for what is not there, and returns what is said of it.
func (d *desk) refused(path string) string {
	d.t.Helper()
	response, body := ask(d.t, d.server, http.MethodGet, "/api/"+path, "")
	require.Equal(d.t, http.StatusBadRequest, response.StatusCode, body)
	var said struct{ Error string }
	require.NoError(d.t, json.Unmarshal([]byte(body), &said))
	return said.Error
}

// do runs a message in a block of its own, and returns the id of the timer that it schedules.
func (d *desk) do(msg sdk.Msg) string {
	d.t.Helper()
	require.NoError(d.t, d.Chain.BeginBlock())
	results, _, err := d.Chain.Tx(msg)
	require.NoError(d.t, err)
	require.NoError(d.t, d.End())
	if made, ok := results[0].MsgResponses[0].GetCachedValue().(*types.MsgScheduleTimerResponse); ok {
		return made.Id
	}
	return ""
}

// schedule schedules a transfer of alice's.
func (d *desk) schedule(label string, amount int64, change func(*types.MsgScheduleTimer)) string {
	d.t.Helper()
	msg := &types.MsgScheduleTimer{
		Sender: d.Alice, Spec: types.TimerSpec{Name: label, Trigger: types.Trigger{Height: d.Chain.Height() + 3}, Call: types.TimerCall{Messages: d.Messages(d.Send(d.Alice, d.Bob, amount))}},
	}
	if change != nil {
		change(msg)
	}
	return d.do(msg)
}

type affected struct{ ID, Name, Why, Does string }

type trouble struct {
	Kind   string
	Grave  bool
	Says   string
	Timers []affected
}

type overview struct {
	Troubles []trouble
	Counts   *struct {
		Pending, Ready, Held, Watching int
		More                           bool
	}
	Sums  store.Sums
	Users []store.Use
	Next  []struct {
		ID, Does, When string
		DueTime        int64 `json:"due_time"`
	}
	Node struct{ Away string }
}

func (o *overview) kinds() (kinds []string) {
	for _, t := range o.Troubles {
		kinds = append(kinds, t.Kind)
	}
	return kinds
}

func (o *overview) trouble(t *testing.T, kind string) trouble {
	t.Helper()
	for _, found := range o.Troubles {
		if found.Kind == kind {
			return found
		}
	}
	require.Fail(t, "no trouble of kind "+kind, "%+v", o.Troubles)
	return trouble{}
}

// TestOverview_EmptyListsAreLists: the page goes through them, and null has no members.
func TestOverview_EmptyListsAreLists(t *testing.T) {
	d := newDesk(t)
	d.Blocks(2)
	var raw map[string]json.RawMessage
	d.look("overview", &raw)
	for _, list := range []string{"troubles", "users", "next"} {
		require.Equal(t, "[]", string(raw[list]), list)
	}
}

func TestOverview_IsCalmWhileAllIsWell(t *testing.T) {
	d := newDesk(t)
	d.schedule("rent", 5, nil)
	var o overview
	d.look("overview", &o)
	require.Empty(t, o.Troubles)
	require.Equal(t, 1, o.Counts.Pending)
	require.Len(t, o.Next, 1)
	require.Equal(t, "send 5"+d.Chain.FeeDenom+" to bob", o.Next[0].Does)
	require.Empty(t, o.Users)
	d.Blocks(3)
	d.now = d.now.Add(time.Hour) // A look is as old as a few seconds at most.
	d.look("overview", &o)
	require.Empty(t, o.Troubles)
	require.Zero(t, o.Counts.Pending)
	require.EqualValues(t, 1, o.Sums.Fired)
	require.Zero(t, o.Sums.Failed)
	require.Len(t, o.Users, 1)
	require.Equal(t, d.Alice, o.Users[0].Actor)
	require.Positive(t, o.Users[0].Cycles)
	require.Equal(t, o.Sums.Cycles, o.Users[0].Cycles, "she alone uses the lane")
}

// TestOverview_SeesTimersByTime: they are pending, and next in the order in which they come.
func TestOverview_SeesTimersByTime(t *testing.T) {
	d := newDesk(t)
	d.Blocks(3)
	d.schedule("last", 5, func(m *types.MsgScheduleTimer) { m.Spec.Trigger = types.Trigger{Height: d.Chain.Height() + 500} })
	at := d.Chain.Ctx().BlockTime().Add(40 * time.Second)
	first := d.schedule("first", 7, func(m *types.MsgScheduleTimer) { m.Spec.Trigger = types.Trigger{Time: &at} })
	failing := d.schedule("fails", 99_000_000, func(m *types.MsgScheduleTimer) {
		m.Spec.Trigger = types.Trigger{Calendar: &types.CalendarTrigger{Every: &types.EveryRule{Seconds: 3_600, Anchor: at.Unix() - 35}}}
	})
	var o overview
	d.look("overview", &o)
	require.Equal(t, 3, o.Counts.Pending)
	require.Len(t, o.Next, 3)
	d.Blocks(4)
	d.now = d.now.Add(time.Hour)
	o = overview{}
	d.look("overview", &o)
	require.Equal(t, first, o.Next[0].ID)
	require.Equal(t, at.Unix(), o.Next[0].DueTime, "the height is not its own")
	require.Zero(t, o.Next[1].DueTime, "it is due at a height")
	var coming struct {
		Ready int
		Cells []struct{ From, Timers, Gas uint64 }
	}
	d.ask("calendar?span=1000", &coming)
	require.EqualValues(t, 2, coming.Cells[0].Timers, "by height and by time")
	// An hour lies within the first thousand blocks or a few later ones, by the pace of this chain.
	timers := uint64(0)
	for _, cell := range coming.Cells {
		timers += cell.Timers
	}
	require.EqualValues(t, 3, timers)
	require.Zero(t, coming.Ready)
	found := o.trouble(t, "failing")
	require.Equal(t, failing, found.Timers[0].ID)
	require.Equal(t, "send 99000000"+d.Chain.FeeDenom+" to bob", found.Timers[0].Does, "it waits for its next occurrence")
}

func TestOverview_TellsOfTimersInTrouble(t *testing.T) {
	d := newDesk(t)
	failing := d.schedule("loan", 99_000_000, nil)
	paused := d.schedule("pause me", 5, func(m *types.MsgScheduleTimer) { m.Spec.Trigger.Height = 500 })
	d.do(&types.MsgPauseTimer{Sender: d.Alice, Id: paused})
	poor := d.schedule("poor", 5, func(m *types.MsgScheduleTimer) {
		m.Sender, m.Spec.Call.Messages = d.Bob, d.Messages(d.Send(d.Bob, d.Alice, 5))
		m.Spec.OnUnfunded = types.OnUnfundedSuspend
		m.Spec.Trigger = types.Trigger{Height: d.Chain.Height() + 5}
	})
	require.NoError(t, d.Chain.BeginBlock())
	_, _, err := d.Chain.Tx(d.Send(d.Bob, d.Alice, d.Chain.Bank.GetBalance(d.Chain.Ctx(), sdk.MustAccAddressFromBech32(d.Bob), d.Chain.FeeDenom).Amount.Int64()))
	require.NoError(t, err)
	require.NoError(t, d.End())
	d.Blocks(5)
	var o overview
	d.look("overview", &o)
	require.Equal(t, []string{"failing", "unfunded", "on hold"}, o.kinds(), "the grave ones are first: %+v", o.Troubles)
	found := o.trouble(t, "failing")
	require.Len(t, found.Timers, 1)
	require.Equal(t, failing, found.Timers[0].ID)
	require.Equal(t, "loan", found.Timers[0].Name)
	require.Regexp(t, `insufficient funds \(sdk/5\); its owner can spend \d{8}`+d.Chain.FeeDenom+` now$`, found.Timers[0].Why)
	require.Empty(t, found.Timers[0].Does, "it is gone")
	found = o.trouble(t, "unfunded")
	require.Len(t, found.Timers, 1)
	require.Equal(t, poor, found.Timers[0].ID)
	require.Contains(t, found.Timers[0].Why, "suspended")
	require.Contains(t, found.Timers[0].Why, "; its payer can spend 0"+d.Chain.FeeDenom+" now")
	found = o.trouble(t, "on hold")
	require.Equal(t, []affected{{paused, "pause me", "paused by its owner, who may resume it", "send 5" + d.Chain.FeeDenom + " to bob"}}, found.Timers)
	require.Equal(t, 2, o.Counts.Held)
}

func TestOverview_TellsOfLaneAndNode(t *testing.T) {
	d := newDesk(t)
	d.schedule("rent", 5, nil)
	d.Configure(func(c *types.TimerConfig) { c.LanePaused = true })
	d.Blocks(15)
	var o overview
	d.look("overview", &o)
	require.Equal(t, []string{"lane paused", "late"}, o.kinds(), "%+v", o.Troubles)
	require.Equal(t, 1, o.Counts.Ready)

	d.Node.Catching = true
	d.look("overview", &o)
	require.Contains(t, o.kinds(), "node behind")
	d.Node.Catching = false
	d.look("overview", &o)
	require.NotContains(t, o.kinds(), "node behind")

	d.now = d.now.Add(7 * time.Minute)
	d.ask("overview", &o)
	require.Contains(t, o.trouble(t, "chain halted").Says, "No block for 7m5s")

	// The history is shown while the node is away.
	d.Node.Down = true
	require.Error(t, d.follower.Once(t.Context()))
	o = overview{}
	d.now = d.follower.Health().Since.Add(90 * time.Second)
	d.ask("overview", &o)
	require.Contains(t, o.trouble(t, "node away").Says, "has not answered for 1m30s")
	require.Contains(t, o.Node.Away, "connection refused")
	require.Nil(t, o.Counts)
	require.Positive(t, o.Sums.Blocks)
}

// TestOverview_CountsLatenessSinceItWasDue: an update places what is overdue in the next block, and it stays as late as it was.
func TestOverview_CountsLatenessSinceItWasDue(t *testing.T) {
	d := newDesk(t)
	id := d.schedule("rent", 5, nil)
	d.Configure(func(c *types.TimerConfig) { c.LanePaused = true })
	d.Blocks(12)
	d.do(&types.MsgUpdateTimer{Sender: d.Alice, Id: id, Fields: []string{"gas_limit"}, Spec: types.TimerSpec{GasLimit: 90_000}})
	d.Blocks(2)
	var o overview
	d.look("overview", &o)
	require.Regexp(t, `^1[3-9] blocks late, bid `, o.trouble(t, "late").Timers[0].Why)
}

// A lane without room for the timers that are due is told of, and so are timers that wait for long.
func TestOverview_TellsOfAFullLane(t *testing.T) {
	d := newDesk(t)
	d.Configure(func(c *types.TimerConfig) { c.LaneTimerCycles = 1_200_000 })
	d.Crowd(500)
	d.Blocks(13)
	var o overview
	d.look("overview", &o)
	require.True(t, slices.Contains(o.kinds(), "lane full") || slices.Contains(o.kinds(), "overload"), "%v", o.kinds())
	late := o.trouble(t, "late")
	require.NotEmpty(t, late.Timers)
	require.Contains(t, late.Timers[0].Why, "blocks late")
}

func TestSearch_FindsByKeyAddressIDAndName(t *testing.T) {
	d := newDesk(t)
	rent := d.schedule("Rent of May", 5, nil)
	later := d.schedule("rent, 100 %", 5, func(m *types.MsgScheduleTimer) { m.Spec.Trigger.Height = 5_000 })
	d.Blocks(4)
	var found struct {
		Actors []string
		Timers []struct{ ID, Name, Status string }
	}
	search := func(text string) []string {
		found.Actors, found.Timers = nil, nil
		d.look("search?q="+url.QueryEscape(text), &found)
		ids := found.Actors
		for _, timer := range found.Timers {
			ids = append(ids, timer.ID)
		}
		return ids
	}
	require.Equal(t, []string{d.Alice}, search(d.Alice))
	require.Equal(t, []string{d.Alice}, search(" Alice "))
	require.Equal(t, []string{rent}, search("of may"))
	require.Equal(t, "last: fired", found.Timers[0].Status)
	require.ElementsMatch(t, []string{rent, later}, search("rent"))
	require.Equal(t, []string{later}, search("100 %"))
	require.Equal(t, []string{rent}, search(rent))
	require.Equal(t, []string{rent}, search(strings.ToUpper(rent[:12])))
	loan := d.schedule("loan", 99_000_000, func(m *types.MsgScheduleTimer) {
		m.Spec.Trigger = types.Trigger{Interval: &types.IntervalTrigger{Every: 1}}
	})
	d.Blocks(4)
	require.Equal(t, []string{loan}, search("Insufficient Funds"))
	require.Regexp(t, `^failed [234] times: .*insufficient funds \(sdk/5\)$`, found.Timers[0].Status)
	require.Equal(t, []string{loan}, search("sdk/5"))
	for _, none := range []string{"nobody", "%", "0_", "sdk/55"} {
		if none == "%" {
			require.Equal(t, []string{later}, search(none), "it is no wildcard")
			continue
		}
		require.Equal(t, fmt.Sprintf("no timer has %q in its name, at the beginning of its id or in an error that it met, and no actor has that name or address; "+
			"names of keys that are known here: alice, bob", none), d.refused("search?q="+none))
	}
	require.Contains(t, d.refused("search"), "what is looked for?")
	require.Equal(t, `actor "alice" is no address of this chain`, d.refused("actor?actor=alice"))
}

// A timer's page says in words what it does and is, has its whole history in pages, and knows the cost of all its fires.
func TestTimer_HasItsWholeLife(t *testing.T) {
	d := newDesk(t)
	id := d.schedule("rent", 5, func(m *types.MsgScheduleTimer) {
		m.Spec.Trigger = types.Trigger{Interval: &types.IntervalTrigger{Every: 1}}
	})
	d.Blocks(510)
	var life struct {
		Actor, Name string
		Events      []store.Event
		More        bool
		Sums        store.Life
		Now         *struct{ Does, When, Status string }
		Facts       []struct{ Name, Value string }
	}
	d.look("timer?id="+id, &life)
	require.Equal(t, d.Alice, life.Actor)
	require.Equal(t, "rent", life.Name)
	require.Len(t, life.Events, 500)
	require.True(t, life.More)
	require.Equal(t, "send 5"+d.Chain.FeeDenom+" to bob", life.Now.Does)
	require.Equal(t, "every 1 block", life.Now.When)
	for _, f := range life.Facts {
		require.NotRegexp(t, `[A-Z]+_[A-Z]+`, f.Value, "%s is an enum", f.Name)
	}
	require.NotZero(t, life.Events[0].Time)
	require.Equal(t, "rent", life.Events[0].Name)
	fires, last := life.Sums.Fired, life.Events[len(life.Events)-1]
	var older struct {
		Events []store.Event
		More   bool
	}
	d.look(fmt.Sprintf("timer?id=%s&before=%d/%d", id, last.Height, last.Position), &older)
	require.False(t, older.More)
	require.Len(t, older.Events, int(fires)+1-500, "its fires, and that it was scheduled")
	require.Equal(t, "scheduled", older.Events[len(older.Events)-1].Kind)

	d.do(&types.MsgCancelTimer{Sender: d.Alice, Id: id})
	life.Now = nil
	d.look("timer?id="+id, &life)
	require.Nil(t, life.Now)
	require.Equal(t, "cancelled", life.Events[0].Kind)

	for _, bad := range []string{"timer?id=abc", "timer?id=" + id + "&before=x", "timer?id=" + id + "&actor=alice"} {
		require.NotEmpty(t, d.refused(bad))
	}
}

// An actor's page is shown with its history while the node is away, and says that its timers are unknown.
func TestActor_IsShownWithoutTheNode(t *testing.T) {
	d := newDesk(t)
	d.schedule("rent", 5, nil)
	var page struct {
		Totals  store.Totals
		Timers  []struct{ Does string }
		Live    int
		Events  []store.Event
		Unknown string
	}
	d.look("actor?actor="+d.Alice, &page)
	require.Equal(t, 1, page.Live)
	require.Equal(t, "send 5"+d.Chain.FeeDenom+" to bob", page.Timers[0].Does)
	d.Node.Down = true
	page.Timers = nil
	d.look("actor?actor="+d.Alice, &page)
	require.Empty(t, page.Timers)
	require.Contains(t, page.Unknown, "connection refused")
	require.Len(t, page.Events, 1)
}

// TestAnswers_WithoutTheDatabase: it is called what it is, in words, and what it says is told who runs it alone.
func TestAnswers_WithoutTheDatabase(t *testing.T) {
	d := newDesk(t)
	id := d.schedule("rent", 5, nil)
	var answer map[string]json.RawMessage
	d.look("overview", &answer)
	require.NoError(t, d.history.Close())
	for _, path := range []string{"status", "series", "events", "overview", "timer?id=" + id, "actor?actor=" + d.Alice, "search?q=rent"} {
		d.notes = nil
		response, body := ask(t, d.server, http.MethodGet, "/api/"+path, "")
		require.Equal(t, http.StatusServiceUnavailable, response.StatusCode, body)
		require.Contains(t, body, "the history can't be read: the dashboard's database does not answer", path)
		require.NotContains(t, body, "closed", path)
		require.NotContains(t, body, "node", path)
		require.Len(t, d.notes, 1)
		require.Contains(t, d.notes[0], "database is closed")
	}
	d.ask("lane", &answer)
	require.Contains(t, answer, "lane_basefee", "the node answers")
}

// TestAnswers_InTime: who asks too much is told so.
func TestAnswers_InTime(t *testing.T) {
	d := newDesk(t)
	late := fmt.Errorf("%w: %w", store.ErrDatabase, context.DeadlineExceeded)
	require.Equal(t, "the history takes longer than 10s to answer: ask for less of it", api.InWords(late))
	require.Equal(t, "the node takes longer than 10s to answer", api.InWords(context.DeadlineExceeded))
	d.Node.Down = true
	_, body := ask(t, d.server, http.MethodGet, "/api/lane", "")
	require.NotContains(t, body, "history")
}

// TestEstimate_SaysWhatATimerWouldMeet: who waits behind others is told that, and not the blocks alone.
func TestEstimate_SaysWhatATimerWouldMeet(t *testing.T) {
	d := newDesk(t)
	d.Crowd(20)
	var prices []struct{ Tier, Says string }
	d.look("estimate?gas=200000", &prices)
	require.Len(t, prices, 20)
	require.Equal(t, "urgent", prices[19].Tier)
	require.Contains(t, prices[19].Says, "if it were due now: 20 ready timers")
}
