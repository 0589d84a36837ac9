// Package eventtest walks the events of the module, for tests of those who tell them.
package eventtest

import (
	"reflect"
	"testing"

	gogoproto "github.com/cosmos/gogoproto/proto"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Each calls fn with an empty message of every event of the module.
func Each(t *testing.T, fn func(name protoreflect.FullName, event gogoproto.Message)) {
	t.Helper()
	file, err := gogoproto.HybridResolver.FindFileByPath("timers/v1/events.proto")
	require.NoError(t, err)
	messages := file.Messages()
	require.Greater(t, messages.Len(), 20)
	for i := range messages.Len() {
		name := messages.Get(i).FullName()
		kind := gogoproto.MessageType(string(name))
		require.NotNil(t, kind, name)
		event, ok := reflect.New(kind.Elem()).Interface().(gogoproto.Message)
		require.True(t, ok, name)
		fn(name, event)
	}
}
