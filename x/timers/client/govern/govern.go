// Package govern holds the commands of those who govern a chain's timers: proposals that change the config or intervene, and
// queries that tell what a config would do.
package govern

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	govcli "github.com/cosmos/cosmos-sdk/x/gov/client/cli"
	govtypes "github.com/cosmos/cosmos-sdk/x/gov/types"
	govv1 "github.com/cosmos/cosmos-sdk/x/gov/types/v1"

	"github.com/cosmos-timers/timers/x/timers/client/broadcast"
	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// TxCommands are the transactions: each submits a proposal.
func TxCommands() []*cobra.Command { return append(newSysCmds(), newUpdateConfigCmd()) }

// QueryCommands are the queries.
func QueryCommands() []*cobra.Command {
	return []*cobra.Command{newConfigDiffCmd(), newCheckConfigCmd()}
}

// flagNoProposal sends a message of the authority's as it is, for a chain whose authority signs itself.
const flagNoProposal = "no-proposal"

// governs is a message of the authority's about one timer.
type governs struct {
	use, short, long, example string
	// message of the authority about a timer; words are those behind the timer's name.
	message func(authority, actor, id string, words []string) (sdk.Msg, error)
	words   int
}

func newSysCmds() []*cobra.Command {
	const theID = " The id may be short, or the timer's name stand for it, where a node knows the timer."
	all := []governs{
		{
			use: "sys-cancel-timer [actor] [id]", short: "Propose to cancel any timer (opcode 48)",
			long:    "Submit a proposal to cancel a timer of any owner. The proposal also succeeds if the timer no longer exists when it passes." + theID,
			example: "sys-cancel-timer ACTOR ID",
			message: func(authority, actor, id string, _ []string) (sdk.Msg, error) {
				return &types.MsgSysCancelTimer{Authority: authority, Actor: actor, Id: id}, nil
			},
		},
		{
			use: "sys-extend-timer [actor] [id] [until]", short: "Propose to set until when a timer may fire (opcode 50)",
			long: "Submit a proposal to set the last height at which a timer of any owner may fire or, of one that ends at a time, the last date and time " +
				"(of UTC, such as '2031-01-31 09:00'). What is beyond the largest time to live is clamped." + theID,
			example: "sys-extend-timer ACTOR ID 250000", words: 1,
			message: func(authority, actor, id string, words []string) (sdk.Msg, error) {
				msg := &types.MsgSysExtendTimer{Authority: authority, Actor: actor, Id: id}
				if at, err := timespan.ParseMoment(words[0], time.Unix(0, 0).UTC()); err == nil && !timespan.IsDigits(words[0]) {
					msg.ExpiresTime = timespan.Seconds(at)
					return msg, nil
				}
				height, err := timespan.ParseCount(words[0], "height, nor a date and a time")
				msg.ExpiresAt = height
				return msg, err
			},
		},
		{
			use: "sys-release-timer [actor] [id]", short: "Propose to put a quarantined timer back into the queue",
			long:    "Submit a proposal to put a quarantined timer back into the queue." + theID,
			example: "sys-release-timer ACTOR ID",
			message: func(authority, actor, id string, _ []string) (sdk.Msg, error) {
				return &types.MsgSysReleaseTimer{Authority: authority, Actor: actor, Id: id}, nil
			},
		},
	}
	cmds := make([]*cobra.Command, len(all))
	for i := range all {
		cmds[i] = newSysCmd(&all[i])
	}
	return cmds
}

func newSysCmd(g *governs) *cobra.Command {
	cmd := broadcast.ProposalCommand(&cobra.Command{
		Use: g.use, Short: g.short, Long: g.long,
		Example: fmt.Sprintf("%s tx timers %s --title 'A title' --summary 'Why' --from alice", plain.App(), g.example),
		Args:    cobra.ExactArgs(2 + g.words),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := job.NewTx(cmd)
			if err != nil {
				return err
			}
			actor, id, err := anyTimer(j, args[0], args[1])
			if err != nil {
				return err
			}
			direct, err := j.Flags.GetBool(flagNoProposal)
			if err != nil {
				return err
			}
			authority := j.Signer
			if !direct {
				if authority, err = govAccount(j); err != nil {
					return err
				}
			}
			msg, err := g.message(authority.Text, actor, id, args[2:])
			if err == nil {
				err = checkPast(j, msg)
			}
			if err != nil {
				return err
			}
			if direct {
				return broadcast.Send(j, msg)
			}
			return propose(j, msg)
		},
	})
	addProposalFlags(cmd)
	cmd.Flags().Bool(flagNoProposal, false, "send the message itself, signed by --from, where that is the authority")
	return cmd
}

// checkPast refuses an end that is over: the message would fail once the proposal passes. Without a node no one knows.
func checkPast(j *job.Job, msg sdk.Msg) error {
	extend, ok := msg.(*types.MsgSysExtendTimer)
	if !ok || j.Offline {
		return nil
	}
	c, err := j.Clock()
	if err == nil && extend.ExpiresTime != 0 {
		if extend.ExpiresTime <= c.Present().Unix() {
			err = fmt.Errorf("%s is past", timespan.Stamp(time.Unix(extend.ExpiresTime, 0), time.UTC))
		}
		return err
	}
	if err == nil && extend.ExpiresAt <= c.Height {
		err = fmt.Errorf("height %d is past: want one after the latest, %d", extend.ExpiresAt, c.Height)
	}
	return err
}

// anyTimer reads the name of a timer of any actor.
func anyTimer(j *job.Job, actorText, idText string) (actor, id string, err error) {
	account, err := j.LookupAccount(actorText)
	if err != nil {
		return "", "", fmt.Errorf("actor: %w", err)
	}
	name := job.Name{Text: idText}
	switch {
	case strings.HasPrefix(idText, actorText+"/") || strings.HasPrefix(idText, account.Text+"/"):
		return "", "", fmt.Errorf("timer %.200q: the actor is stated before it: want the id or the name alone", idText)
	case idText == "":
		return "", "", fmt.Errorf("timer of %s has neither an id nor a name", plain.Clean(actorText))
	case name.Whole():
		return account.Text, name.ID(), nil
	case j.Offline:
		return "", "", errors.New("a short id and a name need a node")
	}
	timer, err := j.Find(account.Text, idText)
	if err != nil {
		return "", "", err
	}
	j.Notef("timer %s/%s: %s", account.Text, timer.Id, j.Says(&timer))
	return account.Text, timer.Id, nil
}

// govAccount is the account of x/gov, which is the authority unless a chain says otherwise.
func govAccount(j *job.Job) (job.Account, error) {
	return j.AccountOf(authtypes.NewModuleAddress(govtypes.ModuleName))
}

func addProposalFlags(cmd *cobra.Command) {
	govcli.AddGovPropFlagsToCmd(cmd)
	cmd.Flags().Lookup(govcli.FlagDeposit).Usage = "deposit of the proposal (default: the least with which the vote begins)"
}

// propose submits a proposal of messages. Without a deposit it takes the least with which the vote begins.
func propose(j *job.Job, msgs ...sdk.Msg) error {
	proposal, err := govcli.ReadGovPropCmdFlags(j.Signer.Text, j.Flags)
	if err != nil {
		return err
	}
	for _, flag := range []string{govcli.FlagTitle, govcli.FlagSummary} {
		if text, _ := j.Stated(flag); strings.TrimSpace(text) == "" {
			return fmt.Errorf("--%s is missing: x/gov wants a title and a summary of each proposal", flag)
		}
	}
	if err := proposal.SetMsgs(msgs); err != nil {
		return err
	}
	if _, stated := j.Stated(govcli.FlagDeposit); !stated && !j.Offline {
		answer, err := govv1.NewQueryClient(j.Context).Params(j.Ctx, &govv1.QueryParamsRequest{ParamsType: govv1.ParamDeposit})
		if err == nil && answer.Params != nil {
			proposal.InitialDeposit = answer.Params.MinDeposit
			j.Notef("deposits %s, with which the vote begins", proposal.InitialDeposit)
		}
	}
	return broadcast.SendProposal(j, proposal)
}
