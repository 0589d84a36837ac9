package govern

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/cosmos/cosmos-sdk/codec"

	"github.com/cosmos-timers/timers/x/timers/client/bids"
	"github.com/cosmos-timers/timers/x/timers/client/broadcast"
	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/outlook"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/types"
)

func newUpdateConfigCmd() *cobra.Command {
	cmd := broadcast.ProposalCommand(&cobra.Command{
		Use:   "update-timer-config [file]",
		Short: "Propose to change the module's config (opcode 49)",
		Long: `Submit a proposal to change the config. With --set it changes those parameters alone, and fails if one of them has been
changed when it passes. With a file it replaces the config whole, and fails if any has: the file is what the params query prints, with
other values in its "config". "-" reads the standard input. What would change is shown, which open proposals change the same, and how
many of the waiting timers it would put on hold. A change is in force from the block after the proposal passes.`,
		Example: fmt.Sprintf(`%[1]s tx timers update-timer-config --set lane_timer_cycles=3000000 --set eip1559.target=0.6 --title 'A wider lane' --summary 'Why' --from alice
%[1]s query timers params --output json > config.json
%[1]s tx timers update-timer-config config.json --title 'A wider lane' --summary 'Why' --deposit 1000stake --from alice`,
			plain.App()),
		Args: job.AtMostOne("file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := job.NewTx(cmd)
			if err != nil {
				return err
			}
			change, err := readConfig(j, args)
			if err == nil {
				err = proposeConfig(j, change)
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

// FlagSet names one parameter, and its value.
const FlagSet = "set"

func addConfigFlags(cmd *cobra.Command) {
	cmd.Flags().StringArray(FlagSet, nil, "parameter to change, as KEY=VALUE, such as lane_timer_cycles=3000000 or eip1559.target=0.6; may be repeated")
}

// configChange is a config that a command reads.
type configChange struct {
	config types.TimerConfig
	// from is the config that it would follow, a change that waits included; nil if no node answers and none is needed.
	from *types.TimerConfig
	// fields are those that are set; none if the config replaces the other whole, as expected says.
	fields   []string
	expected []byte
}

// readConfig reads a config from a file, or makes it of the one that it would follow.
func readConfig(j *job.Job, args []string) (*configChange, error) {
	settings, err := j.Flags.GetStringArray(FlagSet)
	switch {
	case err != nil:
		return nil, err
	case len(args) > 0 && len(settings) > 0:
		return nil, fmt.Errorf("%q is stated beside --%s: want a file, or parameters of the config in force", args[0], FlagSet)
	case len(args) > 0:
		content, err := j.ReadFile(args[0])
		if err != nil {
			return nil, err
		}
		change, err := parseConfig(j.Codec, content)
		if err == nil && !j.Offline {
			change.from, _ = latestConfig(j)
		}
		return change, err
	case len(settings) == 0:
		return nil, fmt.Errorf("the config is missing: want a file, or --%s KEY=VALUE", FlagSet)
	case j.Offline:
		return nil, fmt.Errorf("--%s needs a node, which knows the config in force: want a file", FlagSet)
	}
	from, err := latestConfig(j)
	if err != nil {
		return nil, fmt.Errorf("ask for the chain's config: %s", plain.ServerSays(err))
	}
	return changeConfig(j.Codec, from, settings)
}

// latestConfig is the config that a change would follow.
func latestConfig(j *job.Job) (*types.TimerConfig, error) {
	params, err := types.NewQueryClient(j.Context).Params(j.Ctx, &types.QueryParamsRequest{})
	if err != nil {
		return nil, err
	}
	if params.NextConfig != nil {
		return params.NextConfig, nil
	}
	return &params.Config, nil
}

// proposeConfig shows what a config would change, and proposes it.
func proposeConfig(j *job.Job, change *configChange) error {
	if change.from != nil {
		if err := showChange(j, change); err != nil {
			return err
		}
	}
	if err := bids.CheckConfig(&change.config); err != nil {
		return fmt.Errorf("the chain would refuse it: %w", err)
	}
	notifyHeadroom(j, &change.config)
	authority, err := govAccount(j)
	if err != nil {
		return err
	}
	msg, err := change.message(authority.Text)
	if err != nil {
		return err
	}
	if change.from != nil {
		if _, err := msg.Apply(change.from); err != nil {
			return fmt.Errorf("%s: make it from what the params query prints now", plain.NoPaths(err.Error()))
		}
		notifyRivals(j, msg)
	}
	return propose(j, msg)
}

func (c *configChange) message(authority string) (*types.MsgUpdateTimerConfig, error) {
	switch {
	case len(c.fields) > 0:
		return types.ChangeConfig(authority, c.from, &c.config, c.fields)
	case len(c.expected) == 0:
		return nil, fmt.Errorf(`it does not say which config it was made from: want it as the params query prints it, with "expected", or --%s`, FlagSet)
	}
	return &types.MsgUpdateTimerConfig{Authority: authority, Config: c.config, Expected: c.expected}, nil
}

// showChange shows what would change, and refuses what a chain would.
func showChange(j *job.Job, change *configChange) error {
	if err := change.from.ValidateChange(&change.config); err != nil {
		return err
	}
	lines, names, err := configDiff(j.Codec, change.from, &change.config)
	switch {
	case err != nil:
		return err
	case len(lines) == 0:
		return errors.New("that is the config in force: nothing would change")
	}
	for _, line := range lines {
		j.Notef("%s", line)
	}
	explain(j, &change.config, names)
	if ahead := outlook.Advisory(j); ahead != nil {
		notifyImpact(j, &change.config, ahead.Prices.Height)
	}
	return nil
}

// parseConfig reads a config, whole and valid: a parameter left out would be a parameter set to zero.
func parseConfig(cdc codec.Codec, content []byte) (*configChange, error) {
	content = bytes.TrimSpace(content)
	if len(content) == 0 || content[0] != '{' {
		return nil, errors.New(`want a config as a JSON object, or {"config": {...}, "expected": "..."}`)
	}
	var around struct {
		Config   json.RawMessage `json:"config"`
		Next     json.RawMessage `json:"next_config"`
		Expected []byte          `json:"expected"`
	}
	if err := json.Unmarshal(content, &around); err != nil {
		return nil, err
	}
	if around.Config != nil {
		content = around.Config
	}
	if next := string(around.Next); next != "" && next != "null" {
		return nil, errors.New("it has a change that was not yet in force, next_config: want what the params query prints in the next block")
	}
	change := &configChange{expected: around.Expected}
	content, err := plainPolicies(content)
	if err != nil {
		return nil, err
	}
	if err := cdc.UnmarshalJSON(content, &change.config); err != nil {
		return nil, err
	}
	return change, outOfRange(change.config.Validate())
}

// bounded is how the chain tells the bounds of a parameter.
var bounded = regexp.MustCompile(`^([\w.]+) is ([\d.-]+), want ([\d.]+) to ([\d.]+)`)

// outOfRange tells a value out of its bounds without the zeros that say nothing, and leaves any other error as it is.
func outOfRange(err error) error {
	if err == nil {
		return nil
	}
	m := bounded.FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	return fmt.Errorf("%s: %s is out of range: %s to %s", m[1], plain.Dec(m[2]), plain.Dec(m[3]), plain.Dec(m[4]))
}
