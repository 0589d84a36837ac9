package broadcast

import (
	"encoding/json"
	"fmt"

	coretypes "github.com/cometbft/cometbft/rpc/core/types"
	"github.com/spf13/cobra"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/client/flags"

	"github.com/cosmos-timers/timers/x/timers/client/job"
)

// Made is what the transaction of another module's command makes, which --wait prints: the value of an attribute.
type Made struct {
	Event, Attribute string
	// Name is the value's name in JSON, and Text what is said of it, with a verb for the value.
	Name, Text string
}

// Wait gives a command of another module that ends in one broadcast the flag --wait, with the meaning that it has for
// commands of this one. Without the flag the command does what it did.
func Wait(cmd *cobra.Command, made *Made) {
	addFlags(cmd.Flags())
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		waiting, err := cmd.Flags().GetBool(flagWait)
		if err != nil {
			return err
		}
		if !waiting {
			return run(cmd, args)
		}
		clientCtx, err := client.GetClientTxContext(cmd)
		if err != nil {
			return err
		}
		j := job.New(cmd, clientCtx)
		if j.Signer, err = j.AccountOf(clientCtx.GetFromAddress()); err != nil {
			return err
		}
		return send(j, func(via *job.Job) error {
			// The command takes its client from the context, unless a flag names another: it is that flag's client already.
			if node := cmd.Flags().Lookup(flags.FlagNode); node != nil {
				node.Changed = false
			}
			if err := client.SetCmdClientContext(cmd, via.Context); err != nil {
				return err
			}
			return run(cmd, args)
		}, "", func(j *job.Job, tx *coretypes.ResultTx) error { return printMade(j, tx, made) })
	}
}

// printMade prints that a transaction is included, and what it made.
func printMade(j *job.Job, tx *coretypes.ResultTx, made *Made) error {
	value := ""
	if made != nil {
		value = attributeOf(tx, made.Event, made.Attribute)
	}
	if value == "" {
		return printIncluded(j, tx)
	}
	if j.OutputFormat == flags.OutputFormatText {
		return j.PrintString(fmt.Sprintf(made.Text+": transaction %X is included at height %d\n", value, tx.Hash, tx.Height))
	}
	answer, err := json.Marshal(included{Status: statusIncluded, Height: tx.Height, TxHash: hashText(tx.Hash)})
	if err != nil {
		return err
	}
	if answer, err = job.Add(answer, made.Name, value); err != nil {
		return err
	}
	return j.PrintRaw(answer)
}

// attributeOf is the value of an attribute of the first event of a kind that has it; empty if there is none.
func attributeOf(tx *coretypes.ResultTx, kind, name string) string {
	for _, event := range tx.TxResult.Events {
		if event.Type != kind {
			continue
		}
		for _, attribute := range event.Attributes {
			if attribute.Key == name {
				return attribute.Value
			}
		}
	}
	return ""
}
