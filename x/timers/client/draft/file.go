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
		if f.Name != flagFile && f.Name != flagActor && d.Flags.Changed(f.Name) {
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
	msg := &types.MsgScheduleTimer{Sender: d.Signer.Text}
	if msg.Spec, err = ParseSpec(d.Codec, bytes.TrimSpace(text)); err != nil {
		return nil, fmt.Errorf("--%s %.200s: %w", flagFile, name, err)
	}
	for i, packed := range msg.Spec.Call.Messages {
		message, ok := packed.GetCachedValue().(sdk.Msg)
		if !ok {
			return nil, fmt.Errorf("--%s %.200s: message %d is none", flagFile, name, i)
		}
		d.Messages = append(d.Messages, message)
	}
	if msg.Spec.Call.Messages, err = packMessages(d.Codec, d.Signer, d.Messages); err != nil {
		return nil, fmt.Errorf("--%s %.200s: %w", flagFile, name, err)
	}
	actor, _ := d.Stated(flagActor)
	msg.Actor, err = d.accountOf(flagActor, actor)
	return msg, err
}
