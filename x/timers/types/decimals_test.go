package types_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/cosmos/gogoproto/proto"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestNoInterfaceHasAnIntegerForADecimal: the SDK's decimal is an integer of 18 more digits in protobuf. State may have it;
// what clients send, ask for and are told may not.
func TestNoInterfaceHasAnIntegerForADecimal(t *testing.T) {
	var messages []protoreflect.MessageDescriptor
	for _, service := range []protoreflect.Name{"Msg", "Query"} {
		methods := timersService(t, service).Methods()
		for i := range methods.Len() {
			messages = append(messages, methods.Get(i).Input(), methods.Get(i).Output())
		}
	}
	file, err := proto.HybridResolver.FindFileByPath("timers/v1/events.proto")
	require.NoError(t, err)
	for i := range file.Messages().Len() {
		messages = append(messages, file.Messages().Get(i))
	}
	require.Greater(t, len(messages), 60)
	seen := map[reflect.Type]bool{}
	for _, message := range messages {
		requirePlainDecimals(t, proto.MessageType(string(message.FullName())), seen)
	}
	require.True(t, seen[reflect.TypeOf(types.TimerConfig{})], "the walk reaches what messages contain")

	// The walk finds one where it is.
	require.True(t, hasDecimal(reflect.TypeOf(types.LaneState{})))
}

func requirePlainDecimals(t *testing.T, of reflect.Type, seen map[reflect.Type]bool) {
	t.Helper()
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || seen[of] || !strings.HasPrefix(of.PkgPath(), "github.com/cosmos-timers/timers/x/timers/types") {
		return
	}
	seen[of] = true
	require.False(t, hasDecimal(of), "%s", of)
	for i := range of.NumField() {
		requirePlainDecimals(t, of.Field(i).Type, seen)
	}
}

// hasDecimal reports whether a field is a decimal of the SDK.
func hasDecimal(of reflect.Type) bool {
	decimal := reflect.TypeOf(math.LegacyDec{})
	for i := range of.NumField() {
		if field := of.Field(i).Type; field == decimal || field == reflect.PointerTo(decimal) {
			return true
		}
	}
	return false
}
