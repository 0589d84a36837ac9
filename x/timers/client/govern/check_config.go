package govern

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/client/flags"

	"github.com/cosmos-timers/timers/x/timers/client/bids"
	"github.com/cosmos-timers/timers/x/timers/client/impact"
	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/outlook"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	flagMost = "limit"
	// defaultMost is how many timers check-config looks at, advisedMost how many the summary of a proposal.
	defaultMost, advisedMost = 10_000, 2_000
)

func newCheckConfigCmd() *cobra.Command {
	cmd := job.QueryCommand(&cobra.Command{
		Use:   "check-config [file]",
		Short: "Show which waiting timers a config would put on hold",
		Long: `Show which waiting timers a config would put on hold when they are due, since it can't run their gas limit or their cell limit,
and which it would let return. They are not lost: a config that can run them, or an update, brings them back. It also tells if the
chain refuses the config, since the lane would have no room for the largest timer while it is used below the target, and which
values would do. The config is a file, as update-timer-config takes
it, or the one in force with the parameters that are --set. The timers are those of the latest block, read in pages.`,
		Example: fmt.Sprintf(`%[1]s query timers check-config --set eip1559.max_cycles_per_fire_auction=400000
%[1]s query timers check-config config.json --limit 100000 -o json`, plain.App()),
		Args: job.AtMostOne("file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			clientCtx, err := client.GetClientQueryContext(cmd)
			if err != nil {
				return err
			}
			j := job.New(cmd, clientCtx)
			most, err := j.Flags.GetUint64(flagMost)
			if err != nil || most == 0 {
				return fmt.Errorf("--%s: want a whole number from 1 on", flagMost)
			}
			change, err := readConfig(j, args)
			if err != nil {
				return err
			}
			config := change.config
			ahead, err := outlook.Ask(j)
			if err != nil {
				return err
			}
			if change.from != nil {
				if _, names, err := configDiff(j.Codec, change.from, &config); err == nil {
					explain(j, &config, names)
				}
			}
			notifyHeadroom(j, &config)
			found, err := look(j, &config, ahead.Prices.Height, most)
			if err != nil {
				return err
			}
			if !found.Complete {
				j.Notef("there are more timers than were looked at: --%s N looks at more", flagMost)
			}
			return found.Print(j.Output, j.OutputFormat == flags.OutputFormatJSON, j.Name)
		},
	})
	addConfigFlags(cmd)
	cmd.Flags().Uint64(flagMost, defaultMost, "how many timers to look at")
	return cmd
}

// look reads all pages at one height.
func look(j *job.Job, config *types.TimerConfig, height, most uint64) (*impact.Impact, error) {
	at := j.WithHeight(int64(height))
	return impact.Of(j.Ctx, types.NewQueryClient(at), config, height, most)
}

// notifyHeadroom tells whether a config is one under which others can be kept out of the lane at a price that does not rise.
func notifyHeadroom(j *job.Job, config *types.TimerConfig) {
	if err := bids.CheckHeadroom(config); err != nil {
		j.Notef("the chain refuses it under eip1559, since a crowd could keep large timers out of the lane, and its price would not rise: %v", err)
	}
}

// notifyImpact tells who proposes a config what it would do.
func notifyImpact(j *job.Job, config *types.TimerConfig, height uint64) {
	found, err := look(j, config, height, advisedMost)
	if err != nil {
		j.Notef("not known which timers it would put on hold: %v", err)
		return
	}
	j.Notef("it %s", found.Summary())
	if len(found.OnHold) > 0 {
		j.Notef("which ones: query timers check-config")
	}
}
