package draft

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/cosmos/gogoproto/jsonpb"
	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"

	"github.com/cosmos/cosmos-sdk/codec"
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// This file reads and writes what an owner states of a timer as a file.

// SpecYAML is a spec as --file takes it: what is stated, as YAML.
func SpecYAML(spec *types.TimerSpec) ([]byte, error) {
	marshaler := &jsonpb.Marshaler{OrigName: true}
	if err := codectypes.UnpackInterfaces(spec, codectypes.ProtoJSONPacker{JSONPBMarshaler: marshaler}); err != nil {
		return nil, err
	}
	text, err := marshaler.MarshalToString(spec)
	if err != nil {
		return nil, err
	}
	return yaml.JSONToYAML([]byte(text))
}

// ParseSpec reads a spec as YAML or JSON. What no spec has is refused.
func ParseSpec(cdc codec.Codec, text []byte) (spec types.TimerSpec, err error) {
	fields := map[string]any{}
	if err := yaml.UnmarshalStrict(text, &fields); err != nil {
		return spec, fmt.Errorf("it is no YAML of a spec: %w", err)
	}
	switch _, status := fields["status"]; {
	case len(fields) == 0:
		return spec, errors.New("it states nothing: want the fields of a spec, such as trigger and call")
	case status || fields["timer"] != nil:
		return spec, errors.New("it states a status, which is the chain's: want a spec alone, as query timers timer --output yaml prints it")
	}
	text, err = yaml.YAMLToJSONStrict(text)
	if err == nil {
		err = cdc.UnmarshalJSON(text, &spec)
	}
	if err != nil {
		return spec, fmt.Errorf("it is no spec: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return spec, nil
}

// fromFile reads a timer that is scheduled from a file, which states the whole of its spec.
func (d *Draft) fromFile(name, payer string) (*types.MsgScheduleTimer, error) {
	beside := ""
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	own.String(FlagPayer, "", "") // It is the SDK's.
	AddScheduleFlags(own)
	own.VisitAll(func(f *pflag.Flag) {
		if f.Name != flagFile && f.Name != FlagActor && d.Flags.Changed(f.Name) {
			beside = f.Name
		}
	})
	if payer != "" {
		beside = FlagPayer
	}
	if beside != "" {
		return nil, fmt.Errorf("--%s is stated beside --%s, which states the whole spec: want one of them", beside, flagFile)
	}
	text, err := d.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", flagFile, err)
	}
	msg, err := d.OfSpec(text)
	if err != nil {
		return nil, fmt.Errorf("--%s %.200s: %w", flagFile, name, err)
	}
	actor, _ := d.Stated(FlagActor)
	msg.Actor, err = d.accountOf(FlagActor, actor)
	return msg, err
}

// FileFlags are the flags that a file of several timers states of one. Of the others that the command has, instead says what to
// state there.
func FileFlags() (known *pflag.FlagSet, instead map[string]string) {
	known = pflag.NewFlagSet("", pflag.ContinueOnError)
	known.String(FlagPayer, "", "")
	AddScheduleFlags(known)
	for _, action := range Actions() {
		if action.Flags != nil {
			action.Flags(known)
		}
	}
	const date, height = "a file is read again: state a date with " + flagAt, "a file is read again: state a height with " + flagAt
	const end = "a file is read again: state a date with " + flagExpiresAt
	return known, map[string]string{
		flagFile: "state the spec itself", flagName: "the name is above",
		flagIn: height, flagAfter: date, flagAfterBlocks: height, flagExpiresIn: end, FlagFor: end,
	}
}

// OfSpec schedules what a spec states, as YAML or JSON.
func (d *Draft) OfSpec(text []byte) (*types.MsgScheduleTimer, error) {
	spec, err := ParseSpec(d.Codec, bytes.TrimSpace(text))
	if err != nil {
		return nil, err
	}
	d.Messages = nil
	for i, packed := range spec.Call.Messages {
		message, ok := packed.GetCachedValue().(sdk.Msg)
		if !ok {
			return nil, fmt.Errorf("message %d is none", i)
		}
		d.Messages = append(d.Messages, message)
	}
	spec.Call.Messages, err = packMessages(d.Codec, d.Signer, d.Messages)
	return &types.MsgScheduleTimer{Sender: d.Signer.Text, Spec: spec}, err
}
