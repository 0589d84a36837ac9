package draft

import (
	"fmt"
	"unicode/utf8"

	"github.com/spf13/pflag"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"

	"github.com/cosmos-timers/timers/x/timers/client/bids"
	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const agentUsage = "contract or module that is asked for the bid in each block in which the timer competes"

func addCallFlags(f *pflag.FlagSet) {
	f.String(flagMsgs, "", `JSON file with the messages to run: an array, an object {"messages": [...]}, or an unsigned transaction; "-" reads the standard input`)
	f.String(flagPayload, "", "payload in hexadecimal or base64, instead of messages")
	f.String(flagPayloadFile, "", `file with the payload as it is; "-" reads the standard input`)
	f.String(flagHandler, "", fmt.Sprintf("handler to call (default %q; an account has no other)", types.DefaultHandler))
	f.String(bids.FlagAgent, "", agentUsage)
	bids.AddFlags(f)
}

// call is what a timer does when it fires: the messages taken from an Action, or from --msgs, --payload or --payload-file.
// It is nil if none was given and none is needed.
func (d *Draft) call(needed bool) (*types.TimerCall, error) {
	if d.take != nil {
		if err := d.take(); err != nil {
			return nil, err
		}
		messages, err := packMessages(d.Codec, d.Signer, d.Messages)
		return &types.TimerCall{Messages: messages}, err
	}
	flag, value, err := d.OneOf("what the timer does", needed, flagMsgs, flagPayloadFile, flagPayload)
	if err != nil {
		return nil, err
	}
	handler, hasHandler := d.Stated(flagHandler)
	if flag == "" {
		if hasHandler {
			return nil, fmt.Errorf("--%s %q replaces the payload with the handler: want one of %s beside it",
				flagHandler, handler, job.ListFlags([]string{flagMsgs, flagPayloadFile, flagPayload}))
		}
		return nil, nil
	}
	if err := checkHandler(handler, flag == flagMsgs); err != nil {
		return nil, err
	}
	if flag == flagMsgs {
		messages, err := d.messages(value)
		if err != nil {
			return nil, fmt.Errorf("--%s %.200s: %w", flag, value, err)
		}
		return &types.TimerCall{Messages: messages}, nil
	}
	payload, err := d.payload(flag, value)
	if err != nil {
		return nil, fmt.Errorf("--%s %.200s: %w", flag, value, err)
	}
	if named, _, wrapped := types.UnwrapPayload(payload); wrapped && handler != "" {
		return nil, fmt.Errorf("--%s %q is stated beside a payload that names the handler %q (_handler): want one of them",
			flagHandler, handler, named)
	}
	return &types.TimerCall{Handler: handler, Payload: payload}, nil
}

func checkHandler(handler string, ofAccount bool) error {
	switch {
	case ofAccount && handler != "" && handler != types.DefaultHandler:
		return fmt.Errorf("--%s %.80q: messages are run by the handler %q, the only one that an account has",
			flagHandler, handler, types.DefaultHandler)
	case len(handler) > types.MaxHandlerBytes:
		return fmt.Errorf("--%s has %d bytes, want at most %d", flagHandler, len(handler), types.MaxHandlerBytes)
	case !utf8.ValidString(handler):
		return fmt.Errorf("--%s %.80q is not UTF-8", flagHandler, handler)
	}
	return nil
}

func (d *Draft) payload(flag, value string) ([]byte, error) {
	if flag == flagPayload {
		return parseBytes(value)
	}
	return d.ReadFile(value)
}

// messages reads the messages that the timer runs.
func (d *Draft) messages(file string) ([]*codectypes.Any, error) {
	content, err := d.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if d.Messages, err = parseMessages(d.Codec, content); err != nil {
		return nil, err
	}
	return packMessages(d.Codec, d.Signer, d.Messages)
}
