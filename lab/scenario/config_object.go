package scenario

import (
	"encoding/json"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// ApplyConfig sets the fields of a config that a JSON object names, in the form that scenarios use, and validates the
// result. Fields that are not named keep their values. A constant of the module may be stated as it is. The error is an
// *InputError, whose path begins with path.
func ApplyConfig(config *types.TimerConfig, object json.RawMessage, path string) error {
	r := &reader{}
	change := readConfigChange(value{r: r, path: path, raw: object})
	if r.err != nil {
		return r.err
	}
	if err := change.Apply(config); err != nil {
		return &InputError{Path: path, Reason: err.Error()}
	}
	if err := config.Validate(); err != nil {
		return &InputError{Path: path, Reason: err.Error()}
	}
	return nil
}
