package draft

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/cosmos/cosmos-sdk/client/flags"

	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/types"
	"github.com/cosmos-timers/timers/x/timers/watch/condition"
)

func addWatchFlags(f *pflag.FlagSet) {
	f.StringArray(flagWatch, nil, "state whose change makes it due, as STORE:FORM:ARGUMENT... or STORE:HEX; may be repeated")
	f.StringArray(flagWhen, nil, "condition on the value of what is watched, such as '< 1000000', '== open', exists or absent: a change that makes it true makes the timer due, and if it is true in the next block, that; one for each --"+flagWatch+" in their order, empty for none")
	f.String(FlagCooldown, "", "with --"+flagWatch+": blocks, or a time, from a fire to the next block whose changes count")
	f.Bool(flagLevel, false, "with --"+flagWhen+" and --"+FlagCooldown+": due again after each cooldown while a condition holds")
}

// watchTrigger reads what is watched. What a text means is for the chain to say, which knows its stores.
func (d *Draft) watchTrigger() (*types.WatchTrigger, error) {
	texts, err := d.Flags.GetStringArray(flagWatch)
	if err != nil {
		return nil, err
	}
	trigger := &types.WatchTrigger{}
	conditions, err := d.conditions(len(texts))
	if err != nil {
		return nil, err
	}
	var hold []string
	for i, text := range texts {
		var when *types.WatchCondition
		if conditions != nil {
			when = conditions[i]
		}
		key, holds, err := d.watchKey(text, when)
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", flagWatch, err)
		}
		if holds {
			hold = append(hold, plain.Clean(text+" "+condition.Op(when.Op).String()+" "+when.Value))
		}
		trigger.Keys = append(trigger.Keys, key)
		d.Watched = append(d.Watched, text)
	}
	if len(hold) > 0 {
		d.Notef("%s is true already: if it still is in the next block, the timer is due there", strings.Join(hold, " and "))
	}
	if text, given := d.Stated(FlagCooldown); given {
		if trigger.Cooldown, err = d.blocks(FlagCooldown, text); err != nil {
			return nil, err
		}
	}
	trigger.Level, err = d.Flags.GetBool(flagLevel)
	return trigger, err
}

// conditions reads --when, of which there is none or one for each key.
func (d *Draft) conditions(keys int) ([]*types.WatchCondition, error) {
	texts, err := d.Flags.GetStringArray(flagWhen)
	if err != nil || len(texts) == 0 {
		return nil, err
	}
	if len(texts) != keys {
		return nil, fmt.Errorf("--%s is stated %d times and --%s %d times: want one for each, '' for no condition", flagWhen, len(texts), flagWatch, keys)
	}
	conditions := make([]*types.WatchCondition, len(texts))
	for i, text := range texts {
		if text == "" {
			continue
		}
		op, value, err := condition.ParseText(text)
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", flagWhen, err)
		}
		conditions[i] = &types.WatchCondition{Op: types.ConditionOp(op), Value: value}
	}
	return conditions, nil
}

// watchOnly are the flags that mean nothing without --watch.
func (d *Draft) watchOnly() error {
	if _, watches := d.Stated(flagWatch); watches {
		return nil
	}
	for _, flag := range []string{flagWhen, FlagCooldown, flagLevel} {
		if value, given := d.Stated(flag); given {
			return fmt.Errorf("--%s %q is stated without --%s", flag, value, flagWatch)
		}
	}
	return nil
}

// WatchKey reads a key as --watch takes it.
func (d *Draft) WatchKey(text string) (types.WatchKey, error) {
	key, _, err := d.watchKey(text, nil)
	return key, err
}

// watchKey reads a key with its condition, which may be nil, and tells whether that is true now.
func (d *Draft) watchKey(text string, when *types.WatchCondition) (key types.WatchKey, holds bool, err error) {
	if d.Offline {
		// Without a node only what needs no reading: STORE:HEX.
		store, digits, _ := strings.Cut(text, ":")
		prefix, err := hex.DecodeString(digits)
		key := types.WatchKey{Store: store, Prefix: prefix, When: when}
		if err == nil {
			err = key.Validate()
		}
		if err != nil {
			return key, false, fmt.Errorf("%.200q needs a node: with --%s, want STORE:HEX: %w", text, flags.FlagOffline, err)
		}
		return key, false, nil
	}
	forms, err := d.watchForms()
	if err != nil {
		return key, false, fmt.Errorf("ask for what can be watched: %s", plain.ServerSays(err))
	}
	named, err := d.withAddresses(text, forms)
	if err != nil {
		return key, false, fmt.Errorf("%.200q: %w", text, err)
	}
	response, err := types.NewQueryClient(d.Context).WatchKey(d.Ctx, &types.QueryWatchKeyRequest{Text: named, When: when})
	if err != nil {
		return key, false, d.notWatched(text, named, forms, plain.ServerSays(err))
	}
	d.Notef("watches %s: %s:%x", named, response.Key.Store, response.Key.Prefix)
	return response.Key, response.Holds, nil
}

// notWatched says what is wrong with a text that the chain does not take as a key: once, with what may have been meant.
func (d *Draft) notWatched(text, named string, forms []string, says string) error {
	parts := strings.Split(text, ":")
	var stores, ofStore []string
	for _, form := range forms {
		usage := strings.Split(form, ":")
		if !slices.Contains(stores, usage[0]) {
			stores = append(stores, usage[0])
		}
		if usage[0] == parts[0] && len(usage) > 2 {
			ofStore = append(ofStore, usage[1])
		}
	}
	if !slices.Contains(stores, parts[0]) {
		return fmt.Errorf("%.200q: %s can't be watched on this chain: want %s", text, plain.Clean(parts[0]), strings.Join(stores, ", "))
	}
	says = strings.TrimPrefix(says, fmt.Sprintf("%q: ", named))
	says = strings.TrimSuffix(says, ": invalid watch")
	if len(parts) > 1 && !slices.Contains(ofStore, parts[1]) {
		if near := job.Nearest(parts[1], ofStore); len(near) > 0 {
			says = "did you mean " + strings.Join(near, " or ") + "? " + says
		}
	}
	if !strings.Contains(says, "want ") {
		says += "; want one of " + strings.Join(forms, ", ")
	}
	return fmt.Errorf("%.200q: %s", text, says)
}

// watchForms are the forms in which this chain takes keys to watch: bank:balance:ADDRESS:DENOM.
func (d *Draft) watchForms() ([]string, error) {
	watchable, err := types.NewQueryClient(d.Context).Watchable(d.Ctx, &types.QueryWatchableRequest{})
	if err != nil {
		return nil, err
	}
	var forms []string
	for _, store := range watchable.Stores {
		for _, form := range store.Forms {
			forms = append(forms, form.Usage)
		}
	}
	return forms, nil
}

// withAddresses puts addresses where a form has an address and a text the name of a key.
func (d *Draft) withAddresses(text string, forms []string) (string, error) {
	given := strings.Split(text, ":")
	for _, form := range forms {
		usage := strings.Split(form, ":")
		if len(usage) < 3 || len(given) < len(usage) || given[0] != usage[0] || given[1] != usage[1] {
			continue
		}
		for i, placeholder := range usage[2:] {
			switch part := &given[i+2]; placeholder {
			case "VALIDATOR":
				validator, err := d.LookupValidator(*part)
				if err != nil {
					return "", fmt.Errorf("%w; want %s", err, form)
				}
				*part = validator
			case "ADDRESS", "CONTRACT", "DELEGATOR":
				account, err := d.LookupAccount(*part)
				if err != nil {
					return "", fmt.Errorf("%w; want %s", err, form)
				}
				*part = account.Text
			}
		}
	}
	return strings.Join(given, ":"), nil
}
