package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cosmos/cosmos-sdk/codec"
	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/version"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	govcli "github.com/cosmos/cosmos-sdk/x/gov/client/cli"
	govtypes "github.com/cosmos/cosmos-sdk/x/gov/types"

	"github.com/cosmos-timers/timers/x/timers/client/broadcast"
	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/outlook"
	"github.com/cosmos-timers/timers/x/timers/types"
)

func newUpdateConfigCmd() *cobra.Command {
	cmd := txCommand(&cobra.Command{
		Use:   "update-timer-config [file]",
		Short: "Propose to replace the module's config (opcode 49)",
		Long: `Submit a proposal to replace the config whole. The file holds the config as JSON, as the params query prints it: as its
"config", or that alone. "-" reads the standard input. A change is in force from the block after the proposal passes.`,
		Example: fmt.Sprintf(`%[1]s query timers params --output json > config.json
%[1]s tx timers update-timer-config config.json --title 'A wider lane' --summary 'Why' --deposit 1000stake --from alice`,
			version.AppName),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := job.NewTx(cmd)
			if err != nil {
				return err
			}
			return proposeConfig(j, args[0])
		},
	})
	govcli.AddGovPropFlagsToCmd(cmd)
	return cmd
}

func proposeConfig(j *job.Job, path string) error {
	content, err := j.ReadFile(path)
	if err != nil {
		return err
	}
	config, err := parseConfig(j.Codec, content)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	authority, err := j.AccountOf(authtypes.NewModuleAddress(govtypes.ModuleName))
	if err != nil {
		return err
	}
	if ahead := outlook.Advisory(j); ahead != nil {
		if err := ahead.Config.ValidateChange(&config); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if config.Equal(&ahead.Config) {
			return fmt.Errorf("%s: that is the config in force: nothing would change", path)
		}
	}
	proposal, err := govcli.ReadGovPropCmdFlags(j.Signer.Text, j.Flags)
	if err != nil {
		return err
	}
	if err := proposal.SetMsgs([]sdk.Msg{&types.MsgUpdateTimerConfig{Authority: authority.Text, Config: config}}); err != nil {
		return err
	}
	return broadcast.Send(j, proposal)
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
