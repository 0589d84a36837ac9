package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cosmos/cosmos-sdk/client/flags"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// partOfUnit is an amount with something behind its point.
var partOfUnit = regexp.MustCompile(`^\d+\.0*[1-9]\d*[a-zA-Z][a-zA-Z0-9/:._-]{2,127}$`)

// wholeAmounts refuses amounts that the SDK's transactions would cut: they take 1.5utmr for 1utmr. Gas prices are no amounts,
// and the commands of the module read their own.
func wholeAmounts(cmd *cobra.Command, args []string) (err error) {
	path := cmd.CommandPath()
	if !strings.Contains(path, " tx ") || strings.Contains(path, " tx "+types.ModuleName+" ") {
		return nil
	}
	check := func(what, text string) {
		for _, amount := range strings.Split(text, ",") {
			if amount = strings.TrimSpace(amount); err == nil && partOfUnit.MatchString(amount) {
				err = fmt.Errorf("%s%.80q has a part of the smallest unit, which would be cut off: want a whole number, such as %s",
					what, amount, regexp.MustCompile(`\.\d+`).ReplaceAllString(amount, ""))
			}
		}
	}
	for _, arg := range args {
		check("", arg)
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name != flags.FlagGasPrices && f.Value.Type() == "string" {
			check("--"+f.Name+" ", f.Value.String())
		}
	})
	return err
}

// warnSponsor tells who grants an allowance for timers of the fault of x/feegrant that deletes it
// (x/timers/docs/extend/upstream/feegrant.md).
func warnSponsor(cmd *cobra.Command) {
	allowed := cmd.Flags().Lookup("allowed-messages")
	if allowed == nil || !strings.HasSuffix(cmd.CommandPath(), " feegrant grant") ||
		!strings.Contains(allowed.Value.String(), sdk.MsgTypeURL(&types.MsgScheduleTimer{})) {
		return
	}
	cmd.PrintErrln("note: x/feegrant 0.2.0 deletes an allowance that replaces an earlier one at the end of the earlier one. " +
		"Grant without --expiration, bounded by --spend-limit or --period, or renew only after the old one has ended")
}
