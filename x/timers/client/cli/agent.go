package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cosmos/cosmos-sdk/version"

	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	flagAgent = "agent"
	flagClear = "clear"
)

func newSetAgentCmd() *cobra.Command {
	cmd := txCommand(&cobra.Command{
		Use:   "set-agent [address]",
		Short: "Have a contract price your timers that state no bid, or clear that",
		Long: "Have a contract or a module price your timers that state no bid: in each block in which one competes, it is asked what the timer " +
			"bids. Whose agent prices a timer pays what it says, up to what the payer can cover: name one that you trust. An agent that " +
			"fails is the default bid.",
		Example: fmt.Sprintf(`%[1]s tx timers set-agent CONTRACT --from alice
%[1]s tx timers set-agent --clear --from alice`, version.AppName),
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := newTxJob(cmd)
			if err != nil {
				return err
			}
			msg, err := j.setAgentMsg(args)
			if err != nil {
				return err
			}
			return j.send(msg)
		},
	})
	cmd.Flags().Bool(flagClear, false, "have no agent any more")
	return cmd
}

func (j *job) setAgentMsg(args []string) (*types.MsgSetAgent, error) {
	text, given := j.stated(flagClear)
	clears := given && text == "true"
	switch {
	case clears && len(args) > 0:
		return nil, fmt.Errorf("%q is stated beside --%s: want one of them", args[0], flagClear)
	case clears:
		return &types.MsgSetAgent{Sender: j.from.text}, nil
	case len(args) == 0:
		return nil, fmt.Errorf("the agent is missing: want the address of a contract, or --%s", flagClear)
	}
	agent, err := j.lookupAccount(args[0])
	if err != nil {
		return nil, err
	}
	return &types.MsgSetAgent{Sender: j.from.text, Agent: agent.text}, nil
}

// agentBid is the bid of --agent, nil if it is not given.
func (j *job) agentBid() (*types.Bid, error) {
	text, given := j.stated(flagAgent)
	if !given {
		return nil, nil
	}
	for _, other := range []string{flagMaxFee, flagMaxPriority, flagTier} {
		if value, given := j.stated(other); given {
			return nil, fmt.Errorf("--%s %q is stated beside --%s %q: want an agent or a bid", flagAgent, text, other, value)
		}
	}
	agent, err := j.lookupAccount(text)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", flagAgent, err)
	}
	return &types.Bid{Agent: agent.text}, nil
}
