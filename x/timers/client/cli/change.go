package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/version"

	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	flagTo         = "to"
	flagBy         = "by"
	flagDefaultBid = "default-bid"
)

const nameHelp = `

A timer is named ID-PREFIX or ACTOR/ID-PREFIX: as many digits of its id as tell it from the actor's other timers. All 64
digits need no look-up.`

func newUpdateCmd() *cobra.Command {
	cmd := txCommand(&cobra.Command{
		Use:   "update [id-prefix]",
		Short: "Change what one of your timers does, its gas limit or its bid",
		Long: "Change what one of your timers does, its gas limit or its bid. What is not stated stays. The id stays too, and the timer " +
			"goes to the back of those that are due at its height." + nameHelp,
		Example: fmt.Sprintf(`%[1]s tx timers update 3fa9 --msgs messages.json --from alice
%[1]s tx timers update alice/3fa9 --gas-limit 200000 --tier urgent --from alice
%[1]s tx timers update 3fa9 --default-bid --from alice`, version.AppName),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := newTxJob(cmd)
			if err != nil {
				return err
			}
			msg, err := j.updateMsg(args[0])
			if err != nil {
				return err
			}
			return j.send(msg)
		},
	})
	addCallFlags(cmd)
	cmd.Flags().Bool(flagDefaultBid, false, "go back to the default bid")
	return cmd
}

func (j *job) updateMsg(timer string) (*types.MsgUpdateTimer, error) {
	msg := &types.MsgUpdateTimer{Sender: j.from.text}
	var err error
	if msg.GasLimit, err = j.gasLimit(); err != nil {
		return nil, err
	}
	if msg.Bid, err = j.bid(); err != nil {
		return nil, err
	}
	if text, given := j.stated(flagDefaultBid); given && text == "true" {
		if msg.Bid != nil {
			return nil, fmt.Errorf("--%s is stated beside another bid: want one of them", flagDefaultBid)
		}
		msg.Bid = &types.Bid{}
	}
	if msg.Call, err = j.call(false); err != nil {
		return nil, err
	}
	if msg.Call == nil && msg.GasLimit == 0 && msg.Bid == nil {
		return nil, errors.New("nothing to change: want one of " + listFlags([]string{
			flagMsgs, flagPayloadFile, flagPayload, flagGasLimit, flagMaxFee, flagTier, flagBid, flagAgent, flagDefaultBid,
		}))
	}
	if msg.Id, err = j.ownTimer(timer); err != nil {
		return nil, err
	}
	ahead := j.lookAhead()
	if ahead == nil {
		return msg, nil
	}
	if err := ahead.checkGasLimit(msg.GasLimit); err != nil {
		return nil, err
	}
	if err := ahead.checkCall(msg.Call, j.msgs); err != nil {
		return nil, err
	}
	return msg, j.adviseUpdate(ahead, msg)
}

// adviseUpdate says what the timer will cost once it is changed, if its price changes: what is not stated stays as it is.
func (j *job) adviseUpdate(ahead *outlook, msg *types.MsgUpdateTimer) error {
	if msg.GasLimit == 0 && msg.Bid == nil {
		return nil
	}
	timer, err := resolve(j.ctx, types.NewQueryClient(j.Context), j.from.text, msg.Id)
	if err != nil {
		j.notef("no estimate: %v", err)
		return nil
	}
	p := plan{gasLimit: msg.GasLimit, bid: msg.Bid, bidStated: msg.Bid != nil, payer: timer.FeePayer}
	p.repeats = timer.Trigger.Interval != nil || timer.Retry != nil
	if p.gasLimit == 0 {
		p.gasLimit = timer.GasLimit
	}
	if p.bid == nil {
		p.bid = timer.Bid
	}
	return j.advise(ahead, p)
}

func newExtendCmd() *cobra.Command {
	cmd := txCommand(&cobra.Command{
		Use:   "extend [id-prefix]",
		Short: "Set the last height at which one of your timers may fire",
		Long: "Set the last height at which one of your timers may fire, as a height or as a distance from now. The chain clamps what is " +
			"beyond the longest life of a timer." + nameHelp,
		Example: fmt.Sprintf(`%[1]s tx timers extend 3fa9 --to 250000 --from alice
%[1]s tx timers extend 3fa9 --by 7d --from alice
%[1]s tx timers extend 3fa9 --by 5000 --from alice`, version.AppName),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := newTxJob(cmd)
			if err != nil {
				return err
			}
			msg, err := j.extendMsg(args[0])
			if err != nil {
				return err
			}
			return j.send(msg)
		},
	})
	cmd.Flags().String(flagTo, "", "last height at which it may fire")
	cmd.Flags().String(flagBy, "", "the same as a distance from now: a number of blocks, or a time such as 7d")
	return cmd
}

func (j *job) extendMsg(timer string) (*types.MsgExtendTimer, error) {
	flag, text, err := j.oneOf("until when the timer may fire", true, flagTo, flagBy)
	if err != nil {
		return nil, err
	}
	msg := &types.MsgExtendTimer{Sender: j.from.text}
	if msg.ExpiresAt, err = j.height(flag, text); err != nil {
		return nil, err
	}
	if flag == flagBy {
		c, err := j.clock()
		if err != nil {
			return nil, err
		}
		j.notef("may fire until height %d: %s", msg.ExpiresAt, c.describe(msg.ExpiresAt))
	}
	msg.Id, err = j.ownTimer(timer)
	return msg, err
}

func newCancelCmd() *cobra.Command {
	return newNamedCmd("cancel", "Cancel one of your timers", "Cancel one of your timers.",
		func(sender, id string) sdk.Msg { return &types.MsgCancelTimer{Sender: sender, Id: id} })
}

func newPauseCmd() *cobra.Command {
	return newNamedCmd("pause", "Set one of your timers aside until you resume it",
		"Set one of your timers aside until you resume it. Its time to live goes on: it expires when it would have.",
		func(sender, id string) sdk.Msg { return &types.MsgPauseTimer{Sender: sender, Id: id} })
}

func newResumeCmd() *cobra.Command {
	return newNamedCmd("resume", "Put one of your timers back that was paused or suspended",
		"Put one of your timers back that you paused, or that was suspended because its payer could not cover it. One that is overdue "+
			"is due in the next block.",
		func(sender, id string) sdk.Msg { return &types.MsgResumeTimer{Sender: sender, Id: id} })
}

// newNamedCmd is a command whose message names a timer and says nothing else.
func newNamedCmd(verb, short, long string, message func(sender, id string) sdk.Msg) *cobra.Command {
	return txCommand(&cobra.Command{
		Use:     verb + " [id-prefix]",
		Short:   short,
		Long:    long + nameHelp,
		Example: fmt.Sprintf("%s tx timers %s 3fa9 --from alice", version.AppName, verb),
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := newTxJob(cmd)
			if err != nil {
				return err
			}
			id, err := j.ownTimer(args[0])
			if err != nil {
				return err
			}
			return j.send(message(j.from.text, id))
		},
	})
}
