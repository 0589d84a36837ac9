package engine_test

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/math"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/client/metrics"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// measured gives a chain metrics of its own. It returns a function that reads them: by name and labels, as
// name{label=value}. A histogram has its count under name_count and its sum under name_sum.
func measured(chain *lab.Chain) func(*testing.T) map[string]float64 {
	registry := prometheus.NewRegistry()
	chain.Timers.Engine().Reporter = metrics.New(registry)
	return func(t *testing.T) map[string]float64 {
		t.Helper()
		families, err := registry.Gather()
		require.NoError(t, err)
		values := map[string]float64{}
		for _, family := range families {
			for _, metric := range family.GetMetric() {
				var labels []string
				for _, label := range metric.GetLabel() {
					labels = append(labels, label.GetName()+"="+label.GetValue())
				}
				name := family.GetName()
				if len(labels) > 0 {
					name += "{" + strings.Join(labels, ",") + "}"
				}
				if h := metric.GetHistogram(); h != nil {
					values[name+"_count"], values[name+"_sum"] = float64(h.GetSampleCount()), h.GetSampleSum()
					continue
				}
				values[name] = metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
			}
		}
		return values
	}
}

// TestMetricsSayWhatABlockDid compares the metrics of a few blocks with the summaries that the blocks emitted.
//
// Rule: 5.1-record, 5.2-lane-burned, 6-summary
func TestMetricsSayWhatABlockDid(t *testing.T) {
	chain := newChain(t, 5, func(c *types.TimerConfig) { c.MaxFiresPerBlock = 2 })
	read := measured(chain)
	var fired, failed, expired float64
	burned, laneBurned, tips := math.ZeroInt(), math.ZeroInt(), math.ZeroInt()
	var last *types.TimerLaneSummary
	for block := range 4 {
		require.NoError(t, chain.BeginBlock())
		if block == 0 {
			// It sends more than alice has.
			schedule(t, chain, 1_000_000_000, keeper.ScheduleRequest{Actor: alice, Spec: types.TimerSpec{Trigger: types.Trigger{Height: 3}, GasLimit: 100_000}})
			// The others that are due come first, so that it expires.
			schedule(t, chain, 1, keeper.ScheduleRequest{Actor: alice, Spec: types.TimerSpec{Trigger: types.Trigger{Height: 3}, GasLimit: 100_000, ExpiresAt: 3}})
		}
		for _, event := range endBlock(t, chain) {
			if event.Type != "timers.v1.TimerLaneSummary" {
				continue
			}
			parsed, err := sdk.ParseTypedEvent(sdk.Events{event}.ToABCIEvents()[0])
			require.NoError(t, err)
			summary, ok := parsed.(*types.TimerLaneSummary)
			require.True(t, ok)
			last = summary
			fired, failed, expired = fired+float64(summary.Fired), failed+float64(summary.Failed), expired+float64(summary.Expired)
			for sum, text := range map[*math.Int]string{&burned: summary.Burned, &laneBurned: summary.LaneBurned, &tips: summary.Tips} {
				amount, ok := math.NewIntFromString(text)
				require.True(t, ok)
				*sum = sum.Add(amount)
			}
		}
	}
	require.Equal(t, [3]float64{6, 1, 1}, [3]float64{fired, failed, expired}, "what this test is made of")

	values := read(t)
	require.Equal(t, fired-failed, values["timers_fires_total{outcome=success,runtime=account}"])
	require.Equal(t, failed, values["timers_fires_total{outcome=failure,runtime=account}"])
	require.Equal(t, expired, values["timers_removed_total{reason=expired}"])
	require.Equal(t, fired, values["timers_fire_lateness_blocks_count"])
	// Two at height 2, two at 3 that were due at 2, two at 4 that were due at 2 and 3.
	require.Equal(t, 0.0+0+1+1+2+1, values["timers_fire_lateness_blocks_sum"])
	require.Equal(t, burned.String(), math.NewInt(int64(values["timers_burned_total"])).String())
	require.Equal(t, laneBurned.String(), math.NewInt(int64(values["timers_lane_burned_total"])).String())
	require.Equal(t, tips.String(), math.NewInt(int64(values["timers_tips_total"])).String())
	basefee, err := math.LegacyMustNewDecFromStr(last.LaneBasefee).Float64()
	require.NoError(t, err)
	require.Equal(t, basefee, values["timers_lane_basefee"])
	require.Equal(t, float64(last.Height), values["timers_height"])
	require.Equal(t, float64(last.UsedSize), values["timers_lane_used{resource=size}"])
	require.Equal(t, 4.0, values["timers_end_block_duration_seconds_count"])
	require.Positive(t, values["timers_end_block_step_seconds_total{step=execute}"])
	for _, operation := range []string{"read", "write", "delete", "iterate"} {
		require.Positive(t, values["timers_store_operations_total{operation="+operation+"}"], operation)
	}
}

// TestMetricsCountNoQueries: a query runs the steps of the next block too.
func TestMetricsCountNoQueries(t *testing.T) {
	chain := newChain(t, 3, overloaded)
	read := measured(chain)
	before := read(t)
	_, err := keeper.NewQueryServer(chain.Timers).Estimate(chain.Ctx(), &types.QueryEstimateRequest{})
	require.NoError(t, err)
	require.Equal(t, before, read(t))
}

// TestReasonsAreTheWordsOfTheState: series that are made in advance have the labels that events will count under.
func TestReasonsAreTheWordsOfTheState(t *testing.T) {
	var words []string
	for _, reason := range []types.HoldReason{
		types.Quarantined, types.Unrunnable, types.Suspended, types.Unfunded, types.PricedOut, types.NotAdmin,
	} {
		words = append(words, reason.Word())
	}
	require.Equal(t, metrics.HoldReasons, words)
	require.Subset(t, words, metrics.ReleaseReasons)
}

// TestAFailedLaneIsCounted: what the block had done is undone, and is not counted.
func TestAFailedLaneIsCounted(t *testing.T) {
	chain := newChain(t, 2, func(*types.TimerConfig) {})
	read := measured(chain)
	chain.Timers.Engine().Receipts = nil // The last step panics.
	require.NoError(t, chain.BeginBlock())
	_, err := chain.EndBlock()
	require.NoError(t, err)
	values := read(t)
	require.Equal(t, 1.0, values["timers_failures_total{kind=lane}"])
	require.Zero(t, values["timers_fires_total{outcome=success,runtime=account}"])
	require.Zero(t, values["timers_end_block_duration_seconds_count"])
}

// schedule schedules a timer that sends so many coins to bob.
func schedule(t *testing.T, chain *lab.Chain, coins int64, request keeper.ScheduleRequest) {
	t.Helper()
	payload, err := types.NewAccountPayload(banktypes.NewMsgSend(alice, bob, sdk.NewCoins(sdk.NewInt64Coin(chain.FeeDenom, coins))))
	require.NoError(t, err)
	request.Spec.Call.Payload, err = chain.Codec.Marshal(payload)
	require.NoError(t, err)
	_, err = chain.Timers.Schedule(chain.Ctx(), request)
	require.NoError(t, err)
}
