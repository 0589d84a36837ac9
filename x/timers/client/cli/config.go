package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cosmos/cosmos-sdk/codec"
	"github.com/cosmos/cosmos-sdk/version"

	"github.com/cosmos-timers/timers/x/timers/client/bids"
	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/outlook"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/types"
)

func newUpdateConfigCmd() *cobra.Command {
	cmd := txCommand(&cobra.Command{
		Use:   "update-timer-config [file]",
		Short: "Propose to replace the module's config (opcode 49)",
		Long: `Submit a proposal to replace the config whole. The file holds the config as JSON, as the params query prints it: as its
"config", or that alone. "-" reads the standard input. With --set no file is needed: the parameters that are set replace those of
the config in force. What would change is shown, and how many of the
waiting timers it would set aside. A change is in force from the block after the proposal passes.`,
		Example: fmt.Sprintf(`%[1]s tx timers update-timer-config --set lane_timer_cycles=3000000 --set eip1559.target=0.6 --title 'A wider lane' --summary 'Why' --from alice
%[1]s query timers params --output json > config.json
%[1]s tx timers update-timer-config config.json --title 'A wider lane' --summary 'Why' --deposit 1000stake --from alice`,
			version.AppName),
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := job.NewTx(cmd)
			if err != nil {
				return err
			}
			config, ahead, err := readConfig(j, args)
			if err == nil {
				err = proposeConfig(j, &config, ahead)
			}
			if err != nil && len(args) > 0 {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			return err
		},
	})
	addConfigFlags(cmd)
	addProposalFlags(cmd)
	return cmd
}

// flagSet names one parameter, and its value.
const flagSet = "set"

func addConfigFlags(cmd *cobra.Command) {
	cmd.Flags().StringArray(flagSet, nil, "parameter to change, as KEY=VALUE, such as lane_timer_cycles=3000000 or eip1559.target=0.6; may be repeated")
}

// readConfig reads a config from a file, or makes it of the one in force. The outlook is nil if no node answers and none is
// needed.
func readConfig(j *job.Job, args []string) (config types.TimerConfig, ahead *outlook.Outlook, err error) {
	settings, err := j.Flags.GetStringArray(flagSet)
	switch {
	case err != nil:
		return config, nil, err
	case len(args) > 0 && len(settings) > 0:
		return config, nil, fmt.Errorf("%q is stated beside --%s: want a file, or parameters of the config in force", args[0], flagSet)
	case len(args) > 0:
		content, err := j.ReadFile(args[0])
		if err != nil {
			return config, nil, err
		}
		config, err = parseConfig(j.Codec, content)
		return config, outlook.Advisory(j), err
	case len(settings) == 0:
		return config, nil, fmt.Errorf("the config is missing: want a file, or --%s KEY=VALUE", flagSet)
	case j.Offline:
		return config, nil, fmt.Errorf("--%s needs a node, which knows the config in force: want a file", flagSet)
	}
	if ahead, err = outlook.Ask(j); err != nil {
		return config, nil, fmt.Errorf("ask for the chain's config: %s", plain.ServerSays(err))
	}
	config, err = changeConfig(j.Codec, &ahead.Config, settings)
	return config, ahead, err
}

// proposeConfig shows what a config would change, and proposes it.
func proposeConfig(j *job.Job, config *types.TimerConfig, ahead *outlook.Outlook) error {
	if ahead != nil {
		if err := ahead.Config.ValidateChange(config); err != nil {
			return err
		}
		if config.Equal(&ahead.Config) {
			return errors.New("that is the config in force: nothing would change")
		}
		lines, err := configDiff(j.Codec, &ahead.Config, config)
		if err != nil {
			return err
		}
		for _, line := range lines {
			j.Notef("%s", line)
		}
		notifyImpact(j, config, ahead.Prices.Height)
	}
	if err := bids.CheckConfig(config); err != nil {
		return fmt.Errorf("the chain would refuse it: %w", err)
	}
	notifyHeadroom(j, config)
	authority, err := govAccount(j)
	if err != nil {
		return err
	}
	return propose(j, &types.MsgUpdateTimerConfig{Authority: authority.Text, Config: *config})
}

// parseConfig reads a config, whole and valid: a parameter left out would be a parameter set to zero.
func parseConfig(cdc codec.Codec, content []byte) (types.TimerConfig, error) {
	var config types.TimerConfig
	content = bytes.TrimSpace(content)
	if len(content) == 0 || content[0] != '{' {
		return config, errors.New(`want a config as a JSON object, or {"config": {...}}`)
	}
	var around struct {
		Config json.RawMessage `json:"config"`
	}
	if err := json.Unmarshal(content, &around); err != nil {
		return config, err
	}
	if around.Config != nil {
		content = around.Config
	}
	if err := cdc.UnmarshalJSON(content, &config); err != nil {
		return config, err
	}
	return config, config.Validate()
}
