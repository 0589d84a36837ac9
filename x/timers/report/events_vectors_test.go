package report_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"testing"

	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/cosmos/gogoproto/proto"
	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/report"
	"github.com/cosmos-timers/timers/x/timers/types"
)

var updateEvents = flag.Bool("events.update", false, "write "+eventsFile)

const eventsFile = "testdata/events.json"

// eventVector is an event as nodes report it, and the message that it is, as protobuf: for other implementations.
type eventVector struct {
	Type string `json:"type"`
	// Attributes are pairs of key and value.
	Attributes [][2]string `json:"attributes"`
	Bytes      string      `json:"bytes"`
}

// fill gives each field of a message another value: texts that JSON escapes, the largest numbers and negative ones.
func fill(t *testing.T, message reflect.Value, seed *uint64) {
	t.Helper()
	for i := range message.NumField() {
		field := message.Field(i)
		*seed++
		switch field.Kind() {
		case reflect.String:
			field.SetString(fmt.Sprintf("%d \"<&>\\ é\n\u2028", *seed))
		case reflect.Bool:
			field.SetBool(true)
		case reflect.Uint32:
			field.SetUint(1<<32 - *seed)
		case reflect.Uint64:
			field.SetUint(-*seed)
		case reflect.Int64:
			field.SetInt(-1<<62 - int64(*seed))
		case reflect.Int32:
			field.SetInt(1)
		case reflect.Slice:
			if field.Type().Elem().Kind() == reflect.Uint8 {
				field.SetBytes([]byte{0, 255, byte(*seed)})
				continue
			}
			field.Set(reflect.MakeSlice(field.Type(), 2, 2))
			fill(t, field.Index(0), seed)
		case reflect.Struct:
			// The config, whose values are made elsewhere.
			field.Set(reflect.ValueOf(types.DefaultTimerConfig("stake")))
		default:
			t.Fatalf("a %s, which this test can't fill", field.Kind())
		}
	}
}

func makeEvents(t *testing.T) []eventVector {
	t.Helper()
	var made []eventVector
	seed := uint64(0)
	for _, event := range append(all[:len(all):len(all)], &types.TimerConfigUpdatedByGovernance{}) {
		for _, empty := range []bool{true, false} {
			event.Reset()
			if !empty {
				fill(t, reflect.ValueOf(event).Elem(), &seed)
			} else if config, ok := event.(*types.TimerConfigUpdatedByGovernance); ok {
				config.Config = types.DefaultTimerConfig("stake")
			}
			typed, err := report.TypedEvent(event)
			require.NoError(t, err)
			raw, err := proto.Marshal(event)
			require.NoError(t, err)
			v := eventVector{Type: typed.Type, Attributes: [][2]string{}, Bytes: hex.EncodeToString(raw)}
			for _, a := range typed.Attributes {
				v.Attributes = append(v.Attributes, [2]string{a.Key, a.Value})
			}
			made = append(made, v)
		}
	}
	return made
}

// Each event is written as the vectors say, and read back: those of other implementations read them too.
// Rule: 6-typed
func TestVectors_AreWhatEventsSay(t *testing.T) {
	made := makeEvents(t)
	if *updateEvents {
		var text bytes.Buffer
		for i, v := range made {
			line, err := json.Marshal(v)
			require.NoError(t, err)
			text.WriteString(map[bool]string{true: "[\n", false: ",\n"}[i == 0])
			text.Write(line)
		}
		text.WriteString("\n]\n")
		require.NoError(t, os.WriteFile(eventsFile, text.Bytes(), 0o600))
	}
	file, err := os.ReadFile(eventsFile)
	require.NoError(t, err)
	var kept []eventVector
	require.NoError(t, json.Unmarshal(file, &kept))
	require.Equal(t, made, kept, "run the test with -args -events.update if the change is meant")
	for _, v := range kept {
		event := abci.Event{Type: v.Type}
		for _, a := range v.Attributes {
			event.Attributes = append(event.Attributes, abci.EventAttribute{Key: a[0], Value: a[1]})
		}
		read, err := sdk.ParseTypedEvent(event)
		require.NoError(t, err, v.Type)
		raw, err := proto.Marshal(read)
		require.NoError(t, err)
		require.Equal(t, v.Bytes, hex.EncodeToString(raw), v.Type)
	}
}
