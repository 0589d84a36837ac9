package govern

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/codec"
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdkquery "github.com/cosmos/cosmos-sdk/types/query"
	govv1 "github.com/cosmos/cosmos-sdk/x/gov/types/v1"

	"github.com/cosmos-timers/timers/x/timers/client/completion"
	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// changeConfig is a config with parameters set as people state them: eip1559.target=0.6. Each keeps its kind of value.
func changeConfig(cdc codec.Codec, config *types.TimerConfig, settings []string) (*configChange, error) {
	fields, err := fieldsOf(cdc, config)
	if err != nil {
		return nil, err
	}
	var raw []byte
	var names []string
	for _, setting := range settings {
		key, value, found := strings.Cut(setting, "=")
		if !found {
			return nil, fmt.Errorf("--%s %.200q: want KEY=VALUE, such as lane_timer_cycles=3000000", FlagSet, setting)
		}
		if err := setField(fields, key, value); err != nil {
			return nil, fmt.Errorf("--%s %.200q: %w", FlagSet, setting, err)
		}
		names = append(names, key)
		if raw, err = json.Marshal(withPolicyParams(fields)); err != nil {
			return nil, err
		}
		// What is out of bounds is told at the end: parameters may bound each other.
		if err := cdc.UnmarshalJSON(raw, &types.TimerConfig{}); err != nil {
			return nil, fmt.Errorf("--%s %.200q: %w", FlagSet, setting, err)
		}
	}
	change, err := parseConfig(cdc, raw)
	if err == nil {
		change.from, change.fields = config, names
	}
	return change, err
}

const policyParams, typeField = "policy_params", "@type"

// fieldsOf are the values of a config as JSON, by name. The parameters of a registered policy are under the policy's name, as the
// module's own are.
func fieldsOf(cdc codec.Codec, config *types.TimerConfig) (fields map[string]any, err error) {
	raw, err := cdc.MarshalJSON(config)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&fields); err != nil {
		return nil, err
	}
	list, _ := fields[policyParams].([]any)
	delete(fields, policyParams)
	for _, element := range list {
		if params, ok := element.(map[string]any); ok {
			url, _ := params[typeField].(string)
			fields[types.PolicyName(url)] = params
		}
	}
	return fields, nil
}

// withPolicyParams is what fieldsOf returned, as a config is written in JSON.
func withPolicyParams(fields map[string]any) map[string]any {
	config, list := map[string]any{}, []any{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if params, ok := fields[name].(map[string]any); ok && params[typeField] != nil {
			list = append(list, params)
		} else {
			config[name] = fields[name]
		}
	}
	slices.SortFunc(list, func(a, b any) int {
		return strings.Compare(a.(map[string]any)[typeField].(string), b.(map[string]any)[typeField].(string))
	})
	config[policyParams] = list
	return config
}

// namesOf are the names of parameters.
func namesOf(fields map[string]any) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(fields)), func(name string) bool { return name == typeField })
}

// setField sets the field of a path of names with points between them.
func setField(fields map[string]any, path, value string) error {
	name, rest, deeper := strings.Cut(path, ".")
	old, known := fields[name]
	if !known || name == typeField {
		names := namesOf(fields)
		if near := job.Nearest(name, names); len(near) > 0 {
			return fmt.Errorf("there is no parameter %q: did you mean %s?", name, strings.Join(near, " or "))
		}
		return fmt.Errorf("there is no parameter %q: want one of %s", name, strings.Join(names, ", "))
	}
	inner, isObject := old.(map[string]any)
	switch {
	case isObject && deeper:
		return setField(inner, rest, value)
	case isObject:
		return fmt.Errorf("%s holds parameters: want one of %s", name, strings.Join(namesOf(inner), ", "))
	case deeper:
		return fmt.Errorf("%s holds no parameters", name)
	}
	switch old.(type) {
	case bool, json.Number, []any, nil:
		var parsed any
		decoder := json.NewDecoder(strings.NewReader(value))
		decoder.UseNumber()
		if err := decoder.Decode(&parsed); err != nil {
			return fmt.Errorf("%s is written as %s", name, example(old))
		}
		fields[name] = parsed
	default:
		fields[name] = value
	}
	return nil
}

// example is a value as it is written in a config.
func example(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return "JSON"
	}
	return string(text)
}

// configDiff lists what differs between two configs, a line for each parameter, and the names of these.
func configDiff(cdc codec.Codec, from, to *types.TimerConfig) (lines, names []string, err error) {
	flat := func(config *types.TimerConfig) (map[string]string, error) {
		fields, err := fieldsOf(cdc, config)
		values := map[string]string{}
		flatten("", fields, values)
		return values, err
	}
	before, err := flat(from)
	if err != nil {
		return nil, nil, err
	}
	after, err := flat(to)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if before[name] != after[name] {
			lines = append(lines, fmt.Sprintf("%s: %s -> %s", name, plain.Dec(before[name]), plain.Dec(after[name])))
			names = append(names, name)
		}
	}
	return lines, names, nil
}

// flatten writes the values of an object under their paths.
func flatten(path string, fields map[string]any, into map[string]string) {
	for name, value := range fields {
		name = strings.TrimPrefix(path+"."+name, ".")
		switch v := value.(type) {
		case map[string]any:
			flatten(name, v, into)
		case string:
			into[name] = v
		default:
			into[name] = example(v)
		}
	}
}

func newConfigDiffCmd() *cobra.Command {
	return job.QueryCommand(&cobra.Command{
		Use:     "config-diff [proposal-id]",
		Short:   "Show which parameters a proposal would change",
		Long:    "Show which parameters of the config in force a proposal of x/gov would change, a line for each, and whether the proposal still applies.",
		Example: plain.App() + " query timers config-diff 7",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			clientCtx, err := client.GetClientQueryContext(cmd)
			if err != nil {
				return err
			}
			return printConfigDiff(job.New(cmd, clientCtx), args[0])
		},
	})
}

func printConfigDiff(j *job.Job, id string) error {
	number, err := timespan.ParseCount(id, "number of a proposal")
	if err != nil {
		return err
	}
	found, err := govv1.NewQueryClient(j.Context).Proposal(j.Ctx, &govv1.QueryProposalRequest{ProposalId: number})
	if err != nil {
		return fmt.Errorf("proposal %d: %s", number, plain.ServerSays(err))
	}
	if err := found.Proposal.UnpackInterfaces(j.InterfaceRegistry); err != nil {
		return fmt.Errorf("proposal %d: %w", number, err)
	}
	msgs, err := found.Proposal.GetMsgs()
	if err != nil {
		return err
	}
	from, err := latestConfig(j)
	if err != nil {
		return fmt.Errorf("ask for the chain's config: %s", plain.ServerSays(err))
	}
	for _, msg := range msgs {
		if change, ok := msg.(*types.MsgUpdateTimerConfig); ok {
			return printChange(j, from, change, found.Proposal.Status)
		}
	}
	return fmt.Errorf("proposal %d does not change the config", number)
}

// printChange shows what a message changes, or says that it no longer applies.
func printChange(j *job.Job, from *types.TimerConfig, change *types.MsgUpdateTimerConfig, status govv1.ProposalStatus) error {
	to, err := change.Apply(from)
	if err != nil {
		if status == govv1.StatusPassed {
			j.Notef("it has passed")
		} else {
			j.Notef("it would fail if it passed now: %s", plain.NoPaths(err.Error()))
		}
		// What it was made to change is of interest all the same.
		change.Expected, _ = from.Hash(change.Fields)
		if to, err = change.Apply(from); err != nil {
			return err
		}
	}
	lines, names, err := configDiff(j.Codec, from, &to)
	switch {
	case err != nil:
		return err
	case len(lines) == 0:
		explain(j, &to, change.Fields)
		return j.PrintString("it is the config in force: nothing would change\n")
	}
	explain(j, &to, names)
	notifyHeadroom(j, &to)
	return j.PrintString(strings.Join(lines, "\n") + "\n")
}

// notifyRivals tells which open proposals change the same parameters: the first one that passes makes the others fail.
func notifyRivals(j *job.Job, msg *types.MsgUpdateTimerConfig) {
	if j.Offline {
		return
	}
	gov := govv1.NewQueryClient(j.Context)
	for _, status := range []govv1.ProposalStatus{govv1.StatusDepositPeriod, govv1.StatusVotingPeriod} {
		request := &govv1.QueryProposalsRequest{ProposalStatus: status, Pagination: &sdkquery.PageRequest{}}
		for {
			page, err := gov.Proposals(j.Ctx, request)
			if err != nil {
				return // A chain without x/gov, or a node that does not answer: it is advice alone.
			}
			for _, proposal := range page.Proposals {
				notifyRival(j, msg, proposal)
			}
			if page.Pagination == nil || len(page.Pagination.NextKey) == 0 {
				break
			}
			request.Pagination.Key = page.Pagination.NextKey
		}
	}
}

func notifyRival(j *job.Job, msg *types.MsgUpdateTimerConfig, proposal *govv1.Proposal) {
	if proposal.UnpackInterfaces(j.InterfaceRegistry) != nil {
		return
	}
	others, err := proposal.GetMsgs()
	if err != nil {
		return
	}
	for _, other := range others {
		rival, ok := other.(*types.MsgUpdateTimerConfig)
		if !ok {
			continue
		}
		same := sameFields(msg, rival)
		if same == "" {
			continue
		}
		j.Notef("proposal %d changes %s too: whichever passes first, the other one fails then", proposal.Id, same)
	}
}

// sameFields are the parameters that two messages both change, in words; empty for none.
func sameFields(a, b *types.MsgUpdateTimerConfig) string {
	switch {
	case len(a.Fields) == 0:
		return "the config"
	case len(b.Fields) == 0:
		return "the whole config, and with it these parameters"
	}
	var same []string
	for _, field := range a.Fields {
		if slices.Contains(b.Fields, field) {
			same = append(same, field)
		}
	}
	return strings.Join(same, ", ")
}

// OfferParameters offers the parameters of the config and of the policies that the client knows, and of the policy its values.
func OfferParameters(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	const policy = "policy="
	if strings.HasPrefix(word, policy) {
		var names []string
		for number := range types.Policy_name {
			if number != 0 {
				names = append(names, policy+types.Policy(number).String())
			}
		}
		slices.Sort(names)
		return completion.Beginning(names, word), completion.NoFiles
	}
	names := append(types.ConfigFields.Paths(), policyFields(client.GetClientContextFromCmd(cmd).InterfaceRegistry)...)
	for i := range names {
		names[i] += "="
	}
	slices.Sort(names)
	return completion.Beginning(names, word), completion.GoesOn
}

// policyFields are the parameters of the policies that a client knows.
func policyFields(registry codectypes.InterfaceRegistry) (names []string) {
	if registry == nil {
		return nil
	}
	for _, url := range registry.ListImplementations(types.PolicyParamsName) {
		message, err := registry.Resolve(url)
		if err != nil {
			continue
		}
		for _, path := range types.MaskSchemaOf(message).Paths() {
			names = append(names, types.PolicyName(url)+"."+path)
		}
	}
	return names
}

// plainPolicies is a config in JSON, with the parameters of policies as protobuf's JSON has them: {"@type": URL, ...}. Commands print
// {"type": URL, "value": {...}}.
func plainPolicies(config []byte) ([]byte, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(config, &fields); err != nil {
		return nil, err
	}
	var list []map[string]any
	decoder := json.NewDecoder(bytes.NewReader(fields[policyParams]))
	decoder.UseNumber()
	if decoder.Decode(&list) != nil {
		return config, nil // Absent, or for the codec to refuse.
	}
	for i, entry := range list {
		if value, ok := entry["value"].(map[string]any); ok && entry[typeField] == nil {
			value[typeField] = entry["type"]
			list[i] = value
		}
	}
	raw, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	fields[policyParams] = raw
	return json.Marshal(fields)
}
