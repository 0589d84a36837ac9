package draft

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/cosmos/cosmos-sdk/codec"
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// parseBytes reads bytes in hexadecimal or base64. Text that reads as both is hexadecimal, and so is all that begins
// with 0x; a file leaves no doubt.
func parseBytes(text string) ([]byte, error) {
	digits, marked := strings.CutPrefix(text, "0x")
	if decoded, err := hex.DecodeString(digits); err == nil {
		return decoded, nil
	}
	if decoded, err := base64.StdEncoding.Strict().DecodeString(text); err == nil && !marked {
		return decoded, nil
	}
	return nil, fmt.Errorf("%.80q is neither hexadecimal nor base64", text)
}

// parseMessages reads messages from JSON: an array of messages, each with its "@type"; an object with such an array as
// "messages"; or a transaction as --generate-only prints it, of which the messages alone are taken.
func parseMessages(cdc codec.Codec, content []byte) ([]sdk.Msg, error) {
	raw, err := rawMessages(content)
	if err != nil {
		return nil, err
	}
	if len(raw) == 0 {
		return nil, errors.New("there are no messages in it: want at least one")
	}
	msgs := make([]sdk.Msg, len(raw))
	for i, one := range raw {
		var head struct {
			Type string `json:"@type"`
		}
		if err := json.Unmarshal(one, &head); err != nil || head.Type == "" {
			return nil, fmt.Errorf(`message %d has no "@type" such as "/cosmos.bank.v1beta1.MsgSend"`, i)
		}
		if err := cdc.UnmarshalInterfaceJSON(one, &msgs[i]); err != nil {
			field := numberForText(one, func(raw []byte) bool {
				var msg sdk.Msg
				return cdc.UnmarshalInterfaceJSON(raw, &msg) == nil
			})
			if field != "" {
				return nil, fmt.Errorf("message %d, %.120s: %s", i, head.Type, field)
			}
			return nil, fmt.Errorf("message %d, %.120s: %w", i, head.Type, err)
		}
		if msgs[i] == nil {
			return nil, fmt.Errorf("message %d, %.120s: is no message", i, head.Type)
		}
	}
	return msgs, nil
}

func rawMessages(content []byte) ([]json.RawMessage, error) {
	const want = `want a JSON array of messages, or an object {"messages": [...]}`
	content = bytes.TrimSpace(content)
	if len(content) == 0 {
		return nil, errors.New("it is empty: " + want)
	}
	var list []json.RawMessage
	switch content[0] {
	case '[':
		if err := json.Unmarshal(content, &list); err != nil {
			return nil, fmt.Errorf("%s: %w", want, err)
		}
		return list, nil
	case '{':
		var object struct {
			Messages []json.RawMessage `json:"messages"`
			Body     struct {
				Messages []json.RawMessage `json:"messages"`
			} `json:"body"`
		}
		if err := json.Unmarshal(content, &object); err != nil {
			return nil, fmt.Errorf("%s: %w", want, err)
		}
		if len(object.Messages) > 0 && len(object.Body.Messages) > 0 {
			return nil, errors.New(`it has messages both at its top and in "body": ` + want)
		}
		return append(object.Messages, object.Body.Messages...), nil
	default:
		return nil, fmt.Errorf("it begins with %q: %s", content[0], want)
	}
}

// packMessages packs the messages of an account's timer. It refuses what the chain would refuse after the
// transaction's fee was paid: a message whose only signer is not the account, or that fails its own checks
// (x/timers/README.md, "3.1 MsgScheduleTimer").
func packMessages(cdc codec.Codec, actor job.Account, msgs []sdk.Msg) ([]*codectypes.Any, error) {
	for i, msg := range msgs {
		signers, _, err := cdc.GetMsgV1Signers(msg)
		if err != nil {
			return nil, fmt.Errorf("message %d, %s: who signs it? %w", i, sdk.MsgTypeURL(msg), err)
		}
		if len(signers) != 1 || !bytes.Equal(actor.Bytes, signers[0]) {
			return nil, fmt.Errorf("message %d, %s: its only signer must be --from, %s: a timer runs as its owner",
				i, sdk.MsgTypeURL(msg), actor.Text)
		}
		if basic, ok := msg.(sdk.HasValidateBasic); ok {
			if err := basic.ValidateBasic(); err != nil {
				return nil, fmt.Errorf("message %d, %s: %w", i, sdk.MsgTypeURL(msg), err)
			}
		}
	}
	payload, err := types.NewAccountPayload(msgs...)
	return payload.GetMessages(), err
}
