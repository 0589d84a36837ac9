package engine

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

// Fields are drawn by reflection, so that one that is added to the event and forgotten in typedFired fails here.
//
// Rule: 6-fired, 6-typed
func TestFiredEventIsTheTypedEvent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fired := &types.TimerFired{}
		fields := reflect.ValueOf(fired).Elem()
		for i := range fields.NumField() {
			field, name := fields.Field(i), fields.Type().Field(i).Name
			switch field.Kind() {
			case reflect.String:
				field.SetString(rapid.String().Draw(t, name))
			case reflect.Bool:
				field.SetBool(rapid.Bool().Draw(t, name))
			case reflect.Uint32:
				field.SetUint(uint64(rapid.Uint32().Draw(t, name)))
			case reflect.Slice:
				keys := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) types.WatchedKey {
					return types.WatchedKey{Store: rapid.String().Draw(t, "store"), Key: rapid.SliceOf(rapid.Byte()).Draw(t, "key")}
				}), 0, 3).Draw(t, name)
				field.Set(reflect.ValueOf(keys))
			case reflect.Uint64:
				field.SetUint(rapid.Uint64().Draw(t, name))
			default:
				t.Fatalf("field %s is a %s, which this test can't draw", name, field.Kind())
			}
		}
		want, err := sdk.TypedEventToEvent(fired)
		require.NoError(t, err)
		require.Equal(t, want, typedFired(fired))
	})
}
