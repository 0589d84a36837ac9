package job

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cosmos/cosmos-sdk/client/flags"
	sdk "github.com/cosmos/cosmos-sdk/types"
)

var (
	// unknownFlag and negativeNumber are what the parser of flags says of a name that it does not know, and of a number below
	// 0, which it takes for a row of short flags.
	unknownFlag    = regexp.MustCompile(`^unknown flag: --([\w-]+)$`)
	negativeNumber = regexp.MustCompile(`^unknown shorthand flag: '\d' in (-\S+)$`)
	// none is a fee of nothing, which is no amount to send and yet one to pay.
	none = regexp.MustCompile(`^0+([a-zA-Z].*)?$`)
)

// ExplainFlag says what was meant by a flag that a command does not have.
func ExplainFlag(cmd *cobra.Command, err error) error {
	if m := negativeNumber.FindStringSubmatch(err.Error()); m != nil {
		return fmt.Errorf("%.80q is below 0: want more than 0, without a sign", m[1])
	}
	m := unknownFlag.FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	near := Nearest(m[1], names)
	if len(near) == 0 && cmd.Name() == "update" && slices.Contains(names, "msgs") {
		return fmt.Errorf("%w: %s has no such flag; what follows the name, or --msgs FILE, changes what the timer does", err, cmd.CommandPath())
	}
	if len(near) == 0 {
		return fmt.Errorf("%w; %q lists those there are", err, cmd.CommandPath()+" --help")
	}
	return fmt.Errorf("%w: did you mean --%s?", err, strings.Join(near, " or --"))
}

// exactFees makes --fees an amount that the SDK takes as it stands: it would cut off what is behind a point. Gas prices of
// the environment give way to it. What the SDK would panic at is refused.
func (j *Job) exactFees() error {
	fees, prices := j.Flags.Lookup(flags.FlagFees), j.Flags.Lookup(flags.FlagGasPrices)
	if _, err := sdk.ParseDecCoins(prices.Value.String()); err != nil {
		return fmt.Errorf("--%s %.80q is no price of gas: want one such as 0.001utmr", flags.FlagGasPrices, prices.Value)
	}
	text := fees.Value.String()
	if text == "" {
		return nil
	}
	if name := environmentOf("_GAS_PRICES", prices.Value.String()); name != "" {
		j.Notef("--%s %s counts, and not the gas prices of %s", flags.FlagFees, text, name)
		if err := prices.Value.Set(""); err != nil {
			return err
		}
	}
	if none.MatchString(text) {
		return nil
	}
	coins, err := j.Coins(text)
	if err != nil {
		return fmt.Errorf("--%s: %w", flags.FlagFees, err)
	}
	return fees.Value.Set(coins.String())
}

// environmentOf is the name of a variable of the environment that ends so and has a value; empty if there is none.
func environmentOf(suffix, value string) string {
	if value == "" {
		return ""
	}
	for _, line := range os.Environ() {
		if name, set, _ := strings.Cut(line, "="); strings.HasSuffix(name, suffix) && set == value {
			return name
		}
	}
	return ""
}
