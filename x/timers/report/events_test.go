package report_test

import (
	"reflect"
	"testing"

	"github.com/cosmos/gogoproto/proto"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/report"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// all are the events that the module emits.
var all = []proto.Message{
	&types.TimerScheduled{}, &types.TimerUpdated{}, &types.TimerExtended{}, &types.TimerCancelled{}, &types.TimerCancelledNotAdmin{},
	&types.TimerCancelledByGovernance{}, &types.TimerExtendedByGovernance{}, &types.TimerFired{}, &types.TimerExpired{},
	&types.TimerCancelledInsufficientFunds{}, &types.TimerDeferredInsufficientFunds{}, &types.TimerHeld{}, &types.TimerReleased{},
	&types.TimerPriorityClampedAtSchedule{}, &types.TimerBidIgnored{}, &types.TimerAgentFailed{}, &types.TimerAgentBilled{},
	&types.TimerAgentSet{}, &types.TimerBidLocked{}, &types.TimerBidSettled{}, &types.TimerLaneFailed{}, &types.TimerBasefeeSourceFailed{},
	&types.TimerLaneSummary{}, &types.TimerOccurrencesSkipped{},
}

// draw fills a message by reflection, so that a field that is added later is held too.
func draw(t *rapid.T, message reflect.Value) {
	for i := range message.NumField() {
		field, name := message.Field(i), message.Type().Field(i).Name
		switch field.Kind() {
		case reflect.String:
			field.SetString(rapid.String().Draw(t, name))
		case reflect.Bool:
			field.SetBool(rapid.Bool().Draw(t, name))
		case reflect.Uint32:
			field.SetUint(uint64(rapid.Uint32().Draw(t, name)))
		case reflect.Int64:
			field.SetInt(rapid.Int64().Draw(t, name))
		case reflect.Uint64:
			field.SetUint(rapid.Uint64().Draw(t, name))
		case reflect.Int32:
			field.SetInt(int64(rapid.Int32Range(-2, 12).Draw(t, name)))
		case reflect.Slice:
			if field.Type().Elem().Kind() == reflect.Uint8 {
				field.SetBytes(rapid.SliceOf(rapid.Byte()).Draw(t, name))
				continue
			}
			n := rapid.IntRange(0, 3).Draw(t, name)
			field.Set(reflect.MakeSlice(field.Type(), n, n))
			for j := range n {
				draw(t, field.Index(j))
			}
		default:
			t.Fatalf("field %s is a %s, which this test can't draw", name, field.Kind())
		}
	}
}

// Rule: 6-fired, 6-typed
func TestTypedIsWhatTheSDKWrites(t *testing.T) {
	for _, event := range all {
		t.Run(proto.MessageName(event), func(t *testing.T) {
			require.Less(t, testing.AllocsPerRun(10, func() { _, _ = report.TypedEvent(event) }), 8.0, "the SDK's way takes hundreds")
			rapid.Check(t, func(t *rapid.T) {
				event.Reset()
				draw(t, reflect.ValueOf(event).Elem())
				want, err := sdk.TypedEventToEvent(event)
				require.NoError(t, err)
				got, err := report.TypedEvent(event)
				require.NoError(t, err)
				require.Equal(t, want, got)
			})
		})
	}
}

// What has a field of another kind, the config here, is written by the SDK.
func TestOtherFieldsGoTheSDKsWay(t *testing.T) {
	event := &types.TimerConfigUpdatedByGovernance{Config: types.DefaultTimerConfig("stake"), Opcode: 3}
	want, err := sdk.TypedEventToEvent(event)
	require.NoError(t, err)
	got, err := report.TypedEvent(event)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestEveryEventIsHeld(t *testing.T) {
	held := map[string]bool{"timers.v1.TimerConfigUpdatedByGovernance": true}
	for _, event := range all {
		held[proto.MessageName(event)] = true
	}
	file, err := proto.HybridResolver.FindFileByPath("timers/v1/events.proto")
	require.NoError(t, err)
	for i := range file.Messages().Len() {
		require.True(t, held[string(file.Messages().Get(i).FullName())], file.Messages().Get(i).FullName())
	}
}
