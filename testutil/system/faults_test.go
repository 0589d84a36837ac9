package system

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/lab/life"
	"github.com/cosmos-timers/timers/testutil/ledger"
	"github.com/cosmos-timers/timers/testutil/node"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// How much of it is run; `make faults` runs more.
var (
	faultKills = flag.Int("faults.kills", 3, "how often a validator is killed at a random moment")
	faultAll   = flag.Bool("faults.all", false, "all faults, not only kills and a pause")
	faultSeed  = flag.Uint64("faults.seed", 1, "of the moments and the victims")
	faultOnly  = flag.String("faults.only", "", "with -faults.all: only faults whose name has this in it")
)

// stage is a network under load whose nodes fail. Its first node keeps everything, and is spared.
type stage struct {
	*node.Network
	t      *testing.T
	ctx    context.Context
	random *rand.Rand
	gates  []*node.Gate
	ledger ledger.Ledger
	// minutely fires at each minute, whatever fails; minutes are those that it has delivered.
	minutely string
	minutes  []int64
	// entered is the last height in the ledger, same the last at which all nodes had the same state.
	entered, same int64
	rows          []string
	// lives are the timers that transactions schedule, by the model's rules.
	recorder *life.Recorder
	lives    *life.Checker
	// releases are the binary that the nodes begin with, and the one that an upgrade asks for.
	older, newer release
	// kinds are the timers that an upgrade carries over.
	kinds kinds
	// strays counts the timers that failed, were held, or left without a fire, and were not meant to.
	strays    int
	proposals int
	// agent is a contract that bids.
	agent string
}

// TestFaults has validators killed, paused, cut off, filled up, emptied, upgraded and misled while timers fire. The chain
// continues when two thirds of its stake can; after each fault all nodes have the same state at every height, and every
// timer is accounted for over the whole history.
func TestFaults(t *testing.T) {
	s := newStage(t)
	s.fault("killed at a random moment", *faultKills, func() {
		victim := s.victim()
		s.pass()
		victim.Kill()
		s.goesOn()
		require.NoError(t, victim.Start())
		s.catchesUp(victim)
	})
	s.fault("paused, then continued", 1, func() {
		victim := s.victim()
		require.NoError(t, victim.Pause())
		s.goesOn()
		require.NoError(t, victim.Continue())
		s.catchesUp(victim)
	})
	if *faultAll {
		s.fault("two of four killed, then back", 2, s.twoDown)
		s.fault("cut off from its peers, then back", 2, s.cutOff)
		s.fault("disk full, then room again", 1, s.diskFull)
		s.fault("all killed at once", 2, s.allDown)
		s.fault("a fresh node by state sync", 1, s.freshNode)
		s.fault("an upgrade, for which one comes late", 1, s.upgrade)
		s.fault("one clock five minutes ahead, then right", 1, s.clockAhead)
		s.fault("one clock five minutes behind, then right", 1, s.clockBehind)
		s.fault("three of four clocks 40 seconds ahead, then right", 1, s.wrongClocks)
	}
	s.finish()
	t.Logf("fault | times | blocks until all agreed, most | seconds, most | losses\n%s", strings.Join(s.rows, "\n"))
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{t: t, ctx: testContext(t), random: rand.New(rand.NewPCG(*faultSeed, 0))}
	o := node.Options{
		Binary: binary, Dir: filepath.Join(t.TempDir(), "net"), Validators: 4, Accounts: []string{"alice", "bob", "poor"},
		TimeoutCommit: time.Second, Genesis: lenient,
	}
	if *faultAll {
		s.build()
		o.Binary = s.older.binary
	}
	var err error
	s.Network, err = node.New(s.ctx, o)
	require.NoError(t, err)
	t.Cleanup(func() { stopAndShow(t, s.Network) })
	// An archive, one that prunes all it can, one without fast nodes, one with the defaults. Two execute blocks
	// optimistically.
	s.configure(0, "app.toml", "", "pruning", `"nothing"`)
	s.configure(1, "app.toml", "", "pruning", `"everything"`)
	s.configure(2, "app.toml", "", "iavl-disable-fastnode", "true")
	s.configure(1, "app.toml", "execution", "optimistic", "true")
	s.configure(3, "app.toml", "execution", "optimistic", "true")
	if *faultAll {
		s.prepareAll()
	}
	if *faultAll {
		s.kinds = newKinds()
		require.NoError(t, s.ChangeGenesis(s.quarantined(addressOf(s.ctx, t, s.Nodes[0], "alice"))))
	}
	require.NoError(t, s.Start())
	require.NoError(t, s.WaitHeight(s.ctx, 2))
	s.recorder, s.lives = lifeOf(t, s.Nodes[0], types.DefaultTimerConfig("utmr"))
	s.recorder.Partial, s.lives.Partial = true, true
	s.load()
	return s
}

func (s *stage) configure(i int, file, section, option, value string) {
	s.t.Helper()
	require.NoError(s.t, s.Nodes[i].Configure(file, section, option, value))
}

// prepareAll prepares what only some faults need: gates, clocks, snapshots.
func (s *stage) prepareAll() {
	var err error
	s.gates, err = s.Gates(s.Nodes[3])
	require.NoError(s.t, err)
	s.t.Cleanup(func() {
		for _, gate := range s.gates {
			gate.Close()
		}
	})
	for i, n := range s.Nodes {
		require.NoError(s.t, n.SetClock(0))
		if i%2 == 0 {
			s.configure(i, "app.toml", "state-sync", "snapshot-interval", fmt.Sprint(snapshotInterval))
		}
	}
}

// load leaves timers that fire in every block from now on: of contracts, one of which bids for itself, at intervals, and at
// changes of a balance; one at each minute, and one at a time. One waits to the end.
func (s *stage) load() {
	first := s.Nodes[0]
	beating := instantiateHeartbeats(s.ctx, s.t, first, 4)
	result, err := first.Tx(s.ctx, "alice", "wasm", "execute", beating[0], `{"be_agent":{}}`)
	require.NoError(s.t, err)
	require.Zero(s.t, result.Code, result.Log)
	s.agent = beating[0]
	alice, bob := addressOf(s.ctx, s.t, first, "alice"), addressOf(s.ctx, s.t, first, "bob")
	send := sendFile(s.t, alice, bob, 1)
	schedule(s.ctx, s.t, first, "alice", "--msgs", send, "--every", "1")
	schedule(s.ctx, s.t, first, "alice", "--msgs", send, "--every", "3", "--count", "10")
	schedule(s.ctx, s.t, first, "alice", "--msgs", send, "--watch", "bank:balance:"+bob+":utmr", "--count", "100000")
	schedule(s.ctx, s.t, first, "alice", "--msgs", send, "--in", "90000")
	schedule(s.ctx, s.t, first, "alice", "--msgs", send, "--after", "90s")
	s.minutely, _ = schedule(s.ctx, s.t, first, "alice", "--msgs", send, "--every", "1m", "--missed", "each")
}

// victim is one of the nodes that are not spared.
func (s *stage) victim() *node.Node { return s.Nodes[1+s.random.IntN(len(s.Nodes)-1)] }

// pass lets up to two seconds go by: a block takes a little more than one.
func (s *stage) pass() { time.Sleep(time.Duration(s.random.IntN(2_000)) * time.Millisecond) }

func (s *stage) height() int64 {
	s.t.Helper()
	return heightOf(s.ctx, s.t, s.Nodes[0])
}

// goesOn waits for blocks of those that are left.
func (s *stage) goesOn() {
	s.t.Helper()
	require.NoError(s.t, s.Nodes[0].WaitHeight(s.ctx, s.height()+2))
}

// catchesUp waits until a node that was away has what the others had when it came back.
func (s *stage) catchesUp(n *node.Node) {
	s.t.Helper()
	require.NoError(s.t, n.WaitHeight(s.ctx, s.height()))
}

// connected waits until every node is connected with all others, so that a fault begins from a whole network: after one that
// takes several away they look for each other for a while.
func (s *stage) connected() {
	s.t.Helper()
	for _, n := range s.Nodes {
		for blocks := 0; ; blocks++ {
			peers, err := n.Peers(s.ctx)
			require.NoError(s.t, err)
			if peers == len(s.Nodes)-1 {
				break
			}
			require.Less(s.t, blocks, 300, "blocks for which %s has had %d peers, want %d", n.Name, peers, len(s.Nodes)-1)
			require.NoError(s.t, s.Nodes[0].WaitHeight(s.ctx, s.height()+1))
		}
	}
}

// allVote checks that no one has lost its voice: a fault takes one away from four.
func (s *stage) allVote() {
	s.t.Helper()
	validators, err := s.Nodes[0].Validators(s.ctx)
	require.NoError(s.t, err)
	require.Equal(s.t, len(s.Nodes), validators, "validators at the last height")
}

// fault has something fail so many times, and checks everything each time.
func (s *stage) fault(name string, times int, fail func()) {
	s.t.Helper()
	if !strings.Contains(name, *faultOnly) {
		return
	}
	var most int64
	var longest time.Duration
	for range times {
		s.connected()
		s.allVote()
		from, started := s.height(), time.Now()
		fail()
		require.NoError(s.t, s.WaitHeight(s.ctx, s.height()+1))
		s.check()
		most, longest = max(most, s.height()-from), max(longest, time.Since(started))
	}
	s.rows = append(s.rows, fmt.Sprintf("%s | %d | %d | %.0f | 0", name, times, most, longest.Seconds()))
	s.t.Log(s.rows[len(s.rows)-1])
}

// check compares the states of all nodes at all heights since the last check, and enters the blocks into the ledger.
func (s *stage) check() {
	s.t.Helper()
	// The hash of a height is in the next block.
	to := s.height()
	for _, n := range s.Nodes {
		to = min(to, heightOf(s.ctx, s.t, n))
	}
	to--
	if to > s.same {
		requireSameState(s.ctx, s.t, s.Network, s.same+1, to)
		s.same = to
	}
	s.enter(to)
}

func (s *stage) enter(to int64) {
	s.t.Helper()
	for ; s.entered < to; s.entered++ {
		events, err := s.Nodes[0].AllEvents(s.ctx, s.entered+1)
		require.NoError(s.t, err)
		entries := make([]ledger.Event, len(events))
		for i, event := range events {
			entries[i] = ledger.Event(event)
			s.kinds.note(event)
			if !s.kinds.mine[event.Attributes["id"]] && goesWrong(event) {
				s.strays++
			}
			if event.Type == "timers.v1.TimerFired" && event.Attributes["id"] == s.minutely {
				s.minute(s.entered+1, event.Attributes)
			}
		}
		block, err := s.recorder.Record(s.ctx, s.entered+1)
		require.NoError(s.t, err)
		if born := s.kinds.born; s.entered == 0 && born != nil {
			entries = append([]ledger.Event{ledger.Event(*born)}, entries...)
			block.Events = append([]life.Event{{Kind: "TimerScheduled", Attributes: born.Attributes}}, block.Events...)
		}
		require.NoError(s.t, s.ledger.Block(uint64(s.entered+1), entries))
		require.NoError(s.t, s.lives.Block(block), "the model's rules")
	}
}

// minute notes a delivery of the timer that fires at each minute: not before it, and none is left out.
func (s *stage) minute(height int64, fired map[string]string) {
	s.t.Helper()
	occurrence, err := strconv.ParseInt(fired["occurrence"], 10, 64)
	require.NoError(s.t, err)
	at, err := s.Nodes[0].BlockTime(s.ctx, height)
	require.NoError(s.t, err)
	require.LessOrEqual(s.t, occurrence, at.Unix(), "at height %d", height)
	if n := len(s.minutes); n > 0 {
		require.Equal(s.t, s.minutes[n-1]+60, occurrence, "at height %d", height)
	}
	s.minutes = append(s.minutes, occurrence)
	require.Equal(s.t, fmt.Sprint(len(s.minutes)), fired["index"], "at height %d", height)
}

// twoDown kills two of four: the chain waits, and continues when one is back.
func (s *stage) twoDown() {
	one := 1 + s.random.IntN(3)
	a, b := s.Nodes[one], s.Nodes[1+one%3]
	s.pass()
	a.Kill()
	b.Kill()
	// What was on its way may still be committed.
	time.Sleep(3 * time.Second)
	stood := s.height()
	time.Sleep(6 * time.Second)
	require.Equal(s.t, stood, s.height(), "half of the stake makes no block")
	require.NoError(s.t, a.Start())
	s.goesOn()
	require.NoError(s.t, b.Start())
	s.catchesUp(b)
}

// allDown kills all at once.
func (s *stage) allDown() {
	s.pass()
	for _, n := range s.Nodes {
		n.Kill()
	}
	require.NoError(s.t, s.Start())
	require.NoError(s.t, s.Nodes[0].WaitHeight(s.ctx, s.same+2))
	s.goesOn()
}

// cutOff shuts the gates of the last node: it stands, the others continue.
func (s *stage) cutOff() {
	away := s.Nodes[3]
	s.pass()
	s.shut(true)
	s.goesOn()
	stood := heightOf(s.ctx, s.t, away)
	s.goesOn()
	require.LessOrEqual(s.t, heightOf(s.ctx, s.t, away), stood+1, "it is alone")
	s.shut(false)
	s.catchesUp(away)
}

func (s *stage) shut(shut bool) {
	for _, gate := range s.gates {
		gate.Set(shut)
	}
}

// diskFull moves a node's data to a small disk and fills that up: the node ends, the others continue, and it comes back when
// there is room. Where nothing may be mounted this is not done, and said.
func (s *stage) diskFull() {
	n := s.Nodes[2]
	n.Stop()
	data := filepath.Join(n.Home, "data")
	moved := data + ".moved"
	require.NoError(s.t, os.Rename(data, moved))
	require.NoError(s.t, os.Mkdir(data, 0o700))
	if err := syscall.Mount("tmpfs", data, "tmpfs", 0, "size=64m"); err != nil {
		s.t.Logf("no small disk can be mounted here (%v): the node is only stopped", err)
		require.NoError(s.t, os.Remove(data))
		require.NoError(s.t, os.Rename(moved, data))
		require.NoError(s.t, n.Start())
		s.catchesUp(n)
		return
	}
	s.t.Cleanup(func() {
		n.Kill()
		require.NoError(s.t, syscall.Unmount(data, 0))
	})
	require.NoError(s.t, os.CopyFS(data, os.DirFS(moved)))
	require.NoError(s.t, n.Start())
	s.catchesUp(n)
	filler := filepath.Join(data, "filler")
	full, err := os.Create(filler)
	require.NoError(s.t, err)
	for err == nil {
		_, err = full.Write(make([]byte, 4<<10))
	}
	require.ErrorIs(s.t, err, syscall.ENOSPC)
	require.NoError(s.t, full.Close())
	for n.Running() && s.height() < s.same+40 {
		s.goesOn()
	}
	s.t.Logf("after the disk was full, %s ran: %t", n.Name, n.Running())
	n.Kill()
	require.NoError(s.t, os.Remove(filler))
	// For the blocks to come there must be room, too.
	require.NoError(s.t, syscall.Mount("tmpfs", data, "tmpfs", syscall.MS_REMOUNT, "size=2g"))
	require.NoError(s.t, n.Start())
	s.catchesUp(n)
}

// finish stops all nodes and holds the state that the first one exports to the ledger and to the conservation of coins.
func (s *stage) finish() {
	s.t.Helper()
	first := s.Nodes[0]
	// Without two more the height stays as it is.
	s.Nodes[1].Stop()
	s.Nodes[2].Stop()
	time.Sleep(3 * time.Second)
	last := s.height()
	s.enter(last)
	if until := s.blockTime().Unix(); len(s.minutes) > 0 || *faultAll {
		require.NotEmpty(s.t, s.minutes)
		require.Greater(s.t, s.minutes[len(s.minutes)-1], until-61, "every minute that has come was delivered")
	}
	for _, n := range s.Nodes {
		n.Stop()
	}
	file := filepath.Join(s.t.TempDir(), "exported.json")
	_, err := first.CLI(s.ctx, "export", "--height", fmt.Sprint(last), "--modules-to-export", "timers,bank", "--output-document", file)
	require.NoError(s.t, err)
	raw, err := os.ReadFile(file)
	require.NoError(s.t, err)
	var exported struct {
		State struct {
			Timers struct {
				Timers []struct {
					ID []byte `json:"id"`
				} `json:"timers"`
			} `json:"timers"`
			Bank struct {
				Supply   []coin `json:"supply"`
				Balances []struct {
					Coins []coin `json:"coins"`
				} `json:"balances"`
			} `json:"bank"`
		} `json:"app_state"`
	}
	require.NoError(s.t, json.Unmarshal(raw, &exported))
	var ids []string
	for _, timer := range exported.State.Timers.Timers {
		ids = append(ids, fmt.Sprintf("%x", timer.ID))
	}
	require.NoError(s.t, s.ledger.Is(ids))
	sum := new(big.Int)
	for _, balance := range exported.State.Bank.Balances {
		sum.Add(sum, amountOf(s.t, balance.Coins))
	}
	require.Equal(s.t, amountOf(s.t, exported.State.Bank.Supply), sum, "balances add up to the supply")
	c := s.ledger.Counts
	require.Zero(s.t, s.strays, "%+v", c)
	require.Greater(s.t, c.Fired, uint64(s.entered), "timers fired in every block")
	require.Greater(s.t, s.lives.Steps["TimerFired"], int(s.entered)/2)
	s.t.Logf("the model's rules: %v, %d waits; %d timers of contracts are not followed", s.lives.Steps, s.lives.Waits, s.lives.Unknown)
	s.t.Logf("%d blocks, state equal on %d nodes up to height %d: %d timers scheduled, %d deliveries, each once, %d timers live, all accounted for; "+
		"%d minutes, none left out", s.entered, len(s.Nodes), s.same, c.Scheduled, c.Fired, len(ids), len(s.minutes))
}

type coin struct {
	Denom  string `json:"denom"`
	Amount string `json:"amount"`
}

func amountOf(t *testing.T, coins []coin) *big.Int {
	t.Helper()
	sum := new(big.Int)
	for _, c := range coins {
		if c.Denom == "utmr" {
			amount, ok := new(big.Int).SetString(c.Amount, 10)
			require.True(t, ok, c.Amount)
			sum.Add(sum, amount)
		}
	}
	return sum
}
