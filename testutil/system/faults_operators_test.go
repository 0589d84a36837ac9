package system

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosmos-timers/timers/testutil/node"
)

// rehearsal is the upgrade for which one of the two binaries has a handler.
const rehearsal = "rehearsal"

// build builds the binary of the last release, with which the network begins, and the one that the upgrade asks for,
// from the source at hand. The clocks of both can be moved.
func (s *stage) build() {
	s.t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(s.t, err)
	commit := lastRelease(s.ctx, s.t, root)
	source := checkedOut(s.ctx, s.t, root, commit)
	s.older = buildRelease(s.ctx, s.t, source, versionOf(s.t, source), commit, "")
	head := git(s.ctx, s.t, root, "rev-parse", "HEAD")
	s.newer = buildRelease(s.ctx, s.t, root, versionOf(s.t, root)+"-next", head, rehearsal)
	require.NotEqual(s.t, s.older.version, s.newer.version)
	s.t.Logf("the nodes begin with timerd %s, of commit %s; the upgrade asks for timerd %s, of commit %s",
		s.older.version, s.older.commit, s.newer.version, s.newer.commit)
}

// lenient is a genesis for faults. A quarter of the stake passes a proposal: a second vote might come too late on a slow
// machine. And no one is jailed for blocks that a fault made it miss. With one of four in jail, two of three would be left
// when a fault takes the next one, and the chain would stand.
func lenient(state map[string]json.RawMessage) error {
	if err := setParam(state, "gov", "quorum", "0.2"); err != nil {
		return err
	}
	return setParam(state, "slashing", "signed_blocks_window", "100000")
}

func setParam(state map[string]json.RawMessage, module, name, value string) error {
	var genesis map[string]any
	if err := json.Unmarshal(state[module], &genesis); err != nil {
		return err
	}
	params, found := genesis["params"].(map[string]any)
	if !found {
		return fmt.Errorf("the genesis of %s has no params", module)
	}
	if _, found := params[name]; !found {
		return fmt.Errorf("%s has no parameter %s", module, name)
	}
	params[name] = value
	var err error
	state[module], err = json.Marshal(genesis)
	return err
}

// freshNode has a node lose all of its data. It gets the state from another's snapshot, and continues as one of the four.
func (s *stage) freshNode() {
	n, others := s.Nodes[1], &node.Network{Nodes: []*node.Node{s.Nodes[0], s.Nodes[2], s.Nodes[3]}}
	n.Stop()
	_, err := n.CLI(s.ctx, "comet", "unsafe-reset-all")
	require.NoError(s.t, err)
	snapshot := (s.height()/snapshotInterval + 1) * snapshotInterval
	require.NoError(s.t, others.WaitHeight(s.ctx, snapshot+3))
	syncFrom(s.ctx, s.t, n, s.Nodes[0], s.Nodes[2])
	require.NoError(s.t, n.Start())
	require.NoError(s.t, n.WaitHeight(s.ctx, snapshot+2))
	earliest, err := n.EarliestBlock(s.ctx)
	require.NoError(s.t, err)
	require.GreaterOrEqual(s.t, earliest, snapshot, "it has no blocks from before: they came as a snapshot")
	// What it does not have is compared among the others.
	requireSameState(s.ctx, s.t, others, s.same+1, earliest)
	s.same = earliest
}

// propose submits a proposal of one message, and votes for it with a quarter of the stake.
func (s *stage) propose(title string, message map[string]any) {
	s.t.Helper()
	first := s.Nodes[0]
	var authority struct {
		Account struct {
			Value struct{ Address string }
		}
	}
	cli(s.ctx, s.t, first, &authority, "query", "auth", "module-account", "gov")
	message["authority"] = authority.Account.Value.Address
	deposit := []any{map[string]string{"denom": "utmr", "amount": "1000000"}}
	voter := addressOf(s.ctx, s.t, first, "node0")
	s.proposals++
	result, err := first.Send(s.ctx, "node0", 2_000_000, map[string]any{
		"@type": "/cosmos.gov.v1.MsgSubmitProposal", "proposer": voter, "initial_deposit": deposit,
		"title": title, "summary": title, "messages": []any{message},
	}, map[string]any{
		"@type": "/cosmos.gov.v1.MsgVote", "proposal_id": fmt.Sprint(s.proposals), "voter": voter,
		"option": "VOTE_OPTION_YES",
	})
	require.NoError(s.t, err)
	require.Zero(s.t, result.Code, result.Log)
}

// upgrade plans an upgrade by governance, from the last release to the source at hand, with timers of each kind that
// the module knows: all nodes stop at its height, and continue with the next binary. One is down meanwhile. It comes to the
// height with the old binary, alone, and continues with the next one.
func (s *stage) upgrade() {
	const ahead = 45 // Blocks take a second at least, and the vote takes twenty.
	first, late := s.Nodes[0], s.Nodes[3]
	s.scheduleKinds()
	height := s.height() + ahead
	s.propose(rehearsal, map[string]any{
		"@type": "/cosmos.upgrade.v1beta1.MsgSoftwareUpgrade",
		"plan":  map[string]any{"name": rehearsal, "height": fmt.Sprint(height)},
	})
	for _, n := range s.Nodes {
		s.runs(n, s.older)
	}
	require.NoError(s.t, first.WaitHeight(s.ctx, height-10))
	s.enter(s.height() - 1)
	late.Kill()
	// Each continues at once: one that has not seen the last block before the upgrade gets it from those that have.
	for _, n := range s.Nodes[:3] {
		require.NoError(s.t, n.WaitUpgrade(s.ctx, rehearsal, height))
		n.Kill()
		if n == first {
			s.carriesOver(height - 1)
		}
		n.Swap(s.newer.binary)
		require.NoError(s.t, n.Start())
	}
	require.NoError(s.t, first.WaitHeight(s.ctx, height+2))
	require.NoError(s.t, late.Start())
	require.NoError(s.t, late.WaitUpgrade(s.ctx, rehearsal, height))
	late.Kill()
	late.Swap(s.newer.binary)
	require.NoError(s.t, late.Start())
	s.catchesUp(late)
	for _, n := range s.Nodes {
		s.runs(n, s.newer)
	}
	s.t.Logf("upgraded at height %d: all nodes run timerd %s", height, s.newer.version)
	s.livesOn()
}

// runs holds that a node runs a release.
func (s *stage) runs(n *node.Node, r release) {
	s.t.Helper()
	version, err := n.AppVersion(s.ctx)
	require.NoError(s.t, err)
	require.Equal(s.t, r.version, version, n.Name)
}

// clockAhead makes one validator's clock wrong for a while: the others' decide what time it is.
func (s *stage) clockAhead() {
	victim := s.victim()
	require.NoError(s.t, victim.SetClock(5*time.Minute))
	s.goesOn()
	s.goesOn()
	require.WithinDuration(s.t, time.Now(), s.blockTime(), time.Minute, "of the last block")
	require.NoError(s.t, victim.SetClock(0))
	s.goesOn()
}

// clockBehind makes one validator's clock so wrong that all blocks are of the future for it. CometBFT stops it when the others
// agree on one. With its clock set right and started again it continues.
func (s *stage) clockBehind() {
	victim := s.victim()
	require.NoError(s.t, victim.SetClock(-5*time.Minute))
	s.goesOn()
	s.goesOn()
	victim.Kill()
	require.NoError(s.t, victim.SetClock(0))
	require.NoError(s.t, victim.Start())
	s.catchesUp(victim)
}

// wrongClocks makes the clocks of most wrong: the chain's time is theirs. When they are right again, it stands until theirs is
// later, and blocks come as before. CometBFT refuses blocks more than a minute ahead: with clocks as wrong as that the chain
// would stand, too.
func (s *stage) wrongClocks() {
	const by = 40 * time.Second
	for _, n := range s.Nodes[1:] {
		require.NoError(s.t, n.SetClock(by))
	}
	s.goesOn()
	s.goesOn()
	require.Greater(s.t, time.Until(s.blockTime()), by/4, "of the last block")
	for _, n := range s.Nodes[1:] {
		require.NoError(s.t, n.SetClock(0))
	}
	s.goesOn()
	s.goesOn()
}

// blockTime is the time of the last block.
func (s *stage) blockTime() time.Time {
	s.t.Helper()
	at, err := s.Nodes[0].BlockTime(s.ctx, s.height())
	require.NoError(s.t, err)
	return at
}
