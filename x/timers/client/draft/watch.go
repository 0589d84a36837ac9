package draft

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/cosmos/cosmos-sdk/client/flags"

	"github.com/cosmos-timers/timers/x/timers/types"
)

func addWatchFlags(f *pflag.FlagSet) {
	f.StringArray(flagWatch, nil, "state whose change makes it due, as STORE:FORM:ARGUMENT... or STORE:HEX; may be repeated")
}

// watchTrigger reads what is watched. What a text means is for the chain to say, which knows its stores.
func (d *Draft) watchTrigger() (*types.WatchTrigger, error) {
	texts, err := d.Flags.GetStringArray(flagWatch)
	if err != nil {
		return nil, err
	}
	trigger := &types.WatchTrigger{Remaining: 1}
	flag, times, err := d.count()
	if err != nil {
		return nil, err
	}
	if times == "0" {
		trigger.Remaining = 0
	} else if flag != "" {
		if trigger.Remaining, err = parseFires(flag, times); err != nil {
			return nil, err
		}
	}
	for _, text := range texts {
		key, err := d.watchKey(text)
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", flagWatch, err)
		}
		trigger.Keys = append(trigger.Keys, key)
	}
	return trigger, nil
}

func (d *Draft) watchKey(text string) (types.WatchKey, error) {
	if d.Offline {
		// Without a node only what needs no reading: STORE:HEX.
		store, digits, _ := strings.Cut(text, ":")
		prefix, err := hex.DecodeString(digits)
		key := types.WatchKey{Store: store, Prefix: prefix}
		if err == nil {
			err = key.Validate()
		}
		if err != nil {
			return key, fmt.Errorf("%.200q needs a node: with --%s, want STORE:HEX: %w", text, flags.FlagOffline, err)
		}
		return key, nil
	}
	response, err := types.NewQueryClient(d.Context).WatchKey(d.Ctx, &types.QueryWatchKeyRequest{Text: text})
	if err != nil {
		return types.WatchKey{}, err
	}
	d.Notef("watches %s: %s:%x", text, response.Key.Store, response.Key.Prefix)
	return response.Key, nil
}
