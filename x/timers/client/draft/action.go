package draft

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
	distrtypes "github.com/cosmos/cosmos-sdk/x/distribution/types"
	stakingtypes "github.com/cosmos/cosmos-sdk/x/staking/types"

	"github.com/cosmos-timers/timers/x/timers/client/bids"
	"github.com/cosmos-timers/timers/x/timers/client/job"
)

const flagAmount = "amount"

// Action is a message that people schedule often, made of a few words instead of a file.
type Action struct {
	// Use are the words, as the usage of a command writes them.
	Use, Short, Example string
	// Flags are further ones, if any.
	Flags func(*pflag.FlagSet)

	message func(d *Draft, words []string) (sdk.Msg, error)
}

// Words is how many words it takes.
func (a *Action) Words() int { return strings.Count(a.Use, "[") }

// Take says that the timer does what the words say. They are read when what needs no node has been.
func (d *Draft) Take(a *Action, words []string) {
	d.take = func() error {
		msg, err := a.message(d, words)
		d.Messages = []sdk.Msg{msg}
		return err
	}
}

// Actions are the messages that need no file.
func Actions() []Action {
	return []Action{
		{
			Use: "send [recipient] [amount]", Short: "Schedule a transfer of coins", Example: "send bob 5utmr --after 10m",
			message: func(d *Draft, words []string) (sdk.Msg, error) {
				if err := inOrder("recipient", words); err != nil {
					return nil, err
				}
				to, err := d.LookupAccount(words[0])
				if err != nil {
					return nil, fmt.Errorf("recipient: %w", err)
				}
				amount, err := d.Coins(words[1])
				return &banktypes.MsgSend{FromAddress: d.Signer.Text, ToAddress: to.Text, Amount: amount}, err
			},
		},
		{
			Use: "exec [contract] [json]", Short: "Schedule a call of a contract", Example: `exec CONTRACT '{"claim":{}}' --every 1d`,
			Flags: func(f *pflag.FlagSet) {
				f.String(flagAmount, "", "coins that the call sends along, such as 5stake")
			},
			message: (*Draft).execute,
		},
		{
			Use: "delegate [validator] [amount]", Short: "Schedule a delegation", Example: "delegate VALIDATOR 5utmr --every day@09:00",
			message: func(d *Draft, words []string) (sdk.Msg, error) {
				if err := inOrder("validator", words); err != nil {
					return nil, err
				}
				validator, err := d.LookupValidator(words[0])
				if err != nil {
					return nil, err
				}
				amount, err := d.Coin(words[1])
				return &stakingtypes.MsgDelegate{DelegatorAddress: d.Signer.Text, ValidatorAddress: validator, Amount: amount}, err
			},
		},
		{
			Use: "withdraw-rewards [validator]", Short: "Schedule a withdrawal of a delegation's rewards",
			Example: "withdraw-rewards VALIDATOR --every monday@09:00",
			message: func(d *Draft, words []string) (sdk.Msg, error) {
				validator, err := d.LookupValidator(words[0])
				return &distrtypes.MsgWithdrawDelegatorReward{DelegatorAddress: d.Signer.Text, ValidatorAddress: validator}, err
			},
		},
	}
}

// inOrder refuses an amount in the place of an account, and the account in that of the amount.
func inOrder(first string, words []string) error {
	if job.IsAmount(words[0]) && !job.IsAmount(words[1]) {
		return fmt.Errorf("%.80q is an amount, and the %s comes first: did you mean %.80s %.80s?", words[0], first, words[1], words[0])
	}
	return nil
}

// Name is the first of its words.
func (a *Action) Name() string {
	name, _, _ := strings.Cut(a.Use, " ")
	return name
}

func actionNames() (names []string) {
	for _, a := range Actions() {
		names = append(names, a.Name())
	}
	return names
}

// TakeWords says that the timer does what words say, of which the first names an action; without words it does what it did.
func (d *Draft) TakeWords(words []string) error {
	if value, given := d.Stated(flagAmount); given && (len(words) == 0 || words[0] != "exec") {
		return fmt.Errorf("--%s %q is what a call of a contract sends along: want exec CONTRACT JSON beside it; a transfer is send RECIPIENT %.80s", flagAmount, value, value)
	}
	if len(words) == 0 {
		return nil
	}
	for _, flag := range []string{flagMsgs, flagPayload, flagPayloadFile, flagHandler} {
		if value, given := d.Stated(flag); given {
			return fmt.Errorf("--%s %.200q is stated beside %q, which says what the timer does: want one of them", flag, value, words[0])
		}
	}
	for _, action := range Actions() {
		if action.Name() != words[0] {
			continue
		}
		if n := len(words) - 1; n != action.Words() {
			return fmt.Errorf("%s has %d words after it: want %s", words[0], n, action.Use)
		}
		d.Take(&action, words[1:])
		return nil
	}
	hint := "want one of " + strings.Join(actionNames(), ", ")
	if near := job.Nearest(words[0], actionNames()); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return fmt.Errorf("%.80q says nothing that a timer can do: %s", words[0], hint)
}

// NoAction says what was meant by words of which the first names no action.
func NoAction(cmd *cobra.Command, words []string) error {
	if len(words) == 0 || cmd.Flags().Changed(flagMsgs) {
		return cobra.NoArgs(cmd, words) // The messages say what the timer does: this is too much.
	}
	names := actionNames()
	if near := job.Nearest(words[0], names); len(near) > 0 {
		return fmt.Errorf("%s knows no %.80q: did you mean %s?", cmd.CommandPath(), words[0], strings.Join(near, " or "))
	}
	if len(words) == 2 && (job.IsAmount(words[0]) || job.IsAmount(words[1])) {
		if job.IsAmount(words[0]) {
			words = []string{words[1], words[0]}
		}
		return fmt.Errorf("%s says what the timer does first: did you mean send %.80s %.80s?", cmd.CommandPath(), words[0], words[1])
	}
	return fmt.Errorf("%s knows no %.80q: want one of %s, or --%s", cmd.CommandPath(), words[0], strings.Join(names, ", "), flagMsgs)
}

// execute makes x/wasm's message from its JSON, since the module does not import x/wasm. A chain without it says so.
func (d *Draft) execute(words []string) (sdk.Msg, error) {
	contract, err := d.LookupAccount(words[0])
	if err != nil {
		return nil, fmt.Errorf("contract: %w", err)
	}
	if !json.Valid([]byte(words[1])) {
		return nil, fmt.Errorf("%.80q is no JSON: want the contract's message, in quotes, such as '{\"claim\":{}}'", words[1])
	}
	funds := sdk.Coins{}
	if text, given := d.Stated(flagAmount); given {
		if funds, err = d.Coins(text); err != nil {
			return nil, fmt.Errorf("--%s: %w", flagAmount, err)
		}
	}
	raw, err := json.Marshal(map[string]any{
		"@type": "/cosmwasm.wasm.v1.MsgExecuteContract", "sender": d.Signer.Text, "contract": contract.Text,
		"msg": json.RawMessage(words[1]), "funds": funds,
	})
	if err != nil {
		return nil, err
	}
	var msg sdk.Msg
	if err := d.Codec.UnmarshalInterfaceJSON(raw, &msg); err != nil {
		return nil, fmt.Errorf("this chain has no contracts of x/wasm: %w", err)
	}
	return msg, nil
}

// AddActionFlags adds the flags that Schedule reads when an Action says what the timer does.
func AddActionFlags(f *pflag.FlagSet, a *Action) {
	f.String(bids.FlagAgent, "", agentUsage)
	bids.AddFlags(f)
	addDueFlags(f)
	if a.Flags != nil {
		a.Flags(f)
	}
}
