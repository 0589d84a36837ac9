package agents_test

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/policies/agents"
	"github.com/cosmos-timers/timers/x/timers/types"
)

func TestState_ValidateRefusesWhatNoBlockLeaves(t *testing.T) {
	genesis := types.DefaultGenesis()
	for name, c := range map[string]struct {
		state agents.State
		want  string
	}{
		"no bills":       {agents.State{}, "agent.State: billed is missing"},
		"negative bills": {agents.State{Billed: math.NewInt(-1)}, "agent.State: billed is -1"},
		"bills at their end": {
			agents.State{Billed: math.NewIntFromBigInt(new(big.Int).Lsh(big.NewInt(1), 192))}, "agent.State: billed is 6277",
		},
		"a long payer": {agents.State{Billed: math.ZeroInt(), Payer: make([]byte, 256)}, "agent.State: payer: "},
		"without any":  {agents.State{Billed: math.ZeroInt()}, ""},
		"with all":     {agents.State{Cycles: 7, Unasked: 1, Billed: math.NewInt(3), Payer: []byte("payer"), Turn: types.QueueKey{Due: 6, Seq: 1}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.state.Validate(genesis)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, types.ErrInvalidGenesis)
			require.ErrorContains(t, err, c.want)
		})
	}
}

// TestState_StartsAtTheFirstTimerAfterAMoveBack: the queue's order changes then. What was billed stays.
func TestState_StartsAtTheFirstTimerAfterAMoveBack(t *testing.T) {
	state := &agents.State{Cycles: 7, Billed: math.NewInt(3), Payer: []byte("payer"), Turn: types.QueueKey{Due: 6, Seq: 1}}
	require.Equal(t, &agents.State{Cycles: 7, Billed: math.NewInt(3), Payer: []byte("payer")}, state.MovedBack(9, 1))
	require.Equal(t, uint64(6), state.Turn.Due, "the state itself does not change")
}

// TestDefaults_ValidateRefusesDisorder: each actor has one agent, across the messages of a genesis.
func TestDefaultAgents_ValidateRefusesDisorder(t *testing.T) {
	agentOf := func(actor string) agents.ActorAgent {
		return agents.ActorAgent{Actor: []byte(actor), Agent: []byte("agent")}
	}
	for name, c := range map[string]struct {
		stated [][]agents.ActorAgent
		want   string
	}{
		"in order":              {[][]agents.ActorAgent{{agentOf("a"), agentOf("b")}, {agentOf("c")}}, ""},
		"an agent of no actor":  {[][]agents.ActorAgent{{{Agent: []byte("agent")}}}, "agent.DefaultAgents 0: actor: "},
		"an agent that is none": {[][]agents.ActorAgent{{{Actor: []byte("actor")}}}, "agent.DefaultAgents 0: agent: "},
		"an actor twice":        {[][]agents.ActorAgent{{agentOf("a"), agentOf("a")}}, "agent.DefaultAgents 1: not above"},
		"twice in two messages": {[][]agents.ActorAgent{{agentOf("a"), agentOf("b")}, {agentOf("b")}}, "agent.DefaultAgents 0: not above"},
		"below after a message without any": {
			[][]agents.ActorAgent{{agentOf("b")}, {}, {agentOf("a")}}, "agent.DefaultAgents 0: not above",
		},
	} {
		t.Run(name, func(t *testing.T) {
			genesis := types.DefaultGenesis()
			for _, list := range c.stated {
				genesis.AddPolicy(&agents.DefaultAgents{Agents: list})
			}
			err := genesis.ValidatePolicies()
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, types.ErrInvalidGenesis)
			require.ErrorContains(t, err, c.want)
		})
	}
}
