package keeper_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// mostGas bounds what a query may cost on a chain with a handful of timers, whatever the config: to follow the basefee takes
// 500,000, and a page of deliveries some hundred thousands.
const mostGas = 2_000_000

// steps are values between which the bounds of each parameter lie.
var (
	wholeSteps = func() (steps []uint64) {
		for shift := range 64 {
			steps = append(steps, 1<<shift-1, 1<<shift)
		}
		return append(steps, largest)
	}()
	decSteps = []string{
		"0", "0.000000000000000001", "0.000001", "0.01", "0.0625", "0.1", "0.5", "0.9", "0.99", "1", "2", "4", "10", "64", "1000", "1000000",
		"1000000000000000000",
	}
)

// parameters calls fn with the path of each numeric parameter of a config.
func parameters(of reflect.Type, path []int, name string, fn func(path []int, name string)) {
	for i := range of.NumField() {
		field := of.Field(i)
		at, full := append(path[:len(path):len(path)], i), strings.TrimPrefix(name+"."+field.Name, ".")
		switch {
		case field.Type == reflect.TypeFor[decimal.Dec](), field.Type.Kind() == reflect.Uint64, field.Type.Kind() == reflect.Uint32:
			fn(at, full)
		case field.Type.Kind() == reflect.Struct && field.Type.PkgPath() == of.PkgPath():
			parameters(field.Type, at, full, fn)
		}
	}
}

// ends are the configs in which one parameter has the least and the largest of the steps that are valid.
func ends(base types.TimerConfig, path []int) (configs []types.TimerConfig) {
	try := func(set func(reflect.Value)) bool {
		config := base
		set(reflect.ValueOf(&config).Elem().FieldByIndex(path))
		if config.Validate() != nil {
			return false
		}
		configs = append(configs, config)
		return true
	}
	var sets []func(reflect.Value)
	if reflect.ValueOf(base).FieldByIndex(path).Kind() == reflect.Struct {
		for _, step := range decSteps {
			sets = append(sets, func(v reflect.Value) { v.Set(reflect.ValueOf(decimal.Of(dec(step)))) })
		}
	} else {
		for _, step := range wholeSteps {
			sets = append(sets, func(v reflect.Value) { v.SetUint(step) })
		}
	}
	// The first of a ladder that is accepted, from either end.
	_ = slices.ContainsFunc(sets, try)
	slices.Reverse(sets)
	_ = slices.ContainsFunc(sets, try)
	return configs
}

// queries are all that the query server answers, by the names of their methods. Estimates are of a timer that can pay, and of
// some that are priced out, at every floor.
func queries(owner sdk.AccAddress, id string) map[string][]any {
	actor := owner.String()
	return map[string][]any{
		"Params": {&types.QueryParamsRequest{}}, "Lane": {&types.QueryLaneRequest{}}, "OnHold": {&types.QueryOnHoldRequest{}},
		"Timer":         {&types.QueryTimerRequest{Actor: actor, Id: id}, &types.QueryTimerRequest{Actor: actor, Id: id[:2]}},
		"TimersByActor": {&types.QueryTimersByActorRequest{Actor: actor}}, "Ready": {&types.QueryReadyRequest{}},
		"Due": {&types.QueryDueRequest{Height: 1 << 40, Until: true}}, "Fairness": {&types.QueryFairnessRequest{Actor: actor}},
		"Receipts": {&types.QueryReceiptsRequest{Height: 2}}, "Deliveries": {&types.QueryDeliveriesRequest{Actor: actor}},
		"Occurrences": {
			&types.QueryOccurrencesRequest{Spec: &types.TimerSpec{Trigger: types.Trigger{After: 1}}}, &types.QueryOccurrencesRequest{Actor: actor, Id: id},
			&types.QueryOccurrencesRequest{Spec: &types.TimerSpec{Trigger: types.Trigger{Calendar: &types.CalendarTrigger{Every: &types.EveryRule{Seconds: 60}}}}, Limit: 100},
		},
		"Agent":     {&types.QueryAgentRequest{Actor: actor}},
		"Watches":   {&types.QueryWatchesRequest{Actor: actor}, &types.QueryWatchesRequest{Store: "bank"}},
		"Watchable": {&types.QueryWatchableRequest{}}, "WatchKey": {&types.QueryWatchKeyRequest{Text: "bank:00"}},
		"Estimate": {
			&types.QueryEstimateRequest{}, &types.QueryEstimateRequest{Actor: actor}, &types.QueryEstimateRequest{MaxFee: "0.0000000000000001"},
			&types.QueryEstimateRequest{MaxFee: "0.0000000000000001", MaxPriority: "0.0000000000000001"},
			&types.QueryEstimateRequest{MaxCharge: "1"}, &types.QueryEstimateRequest{Bid: "5"},
		},
	}
}

// TestQueries_AreBoundedAtBothEndsOfEachParameter asks everything under configs in which one parameter is at an end of its
// bounds, on a chain whose basefee is high.
//
// Rule: 9.2-basefee-followed
func TestQueries_AreBoundedAtBothEndsOfEachParameter(t *testing.T) {
	for _, policy := range lab.Policies(types.PolicyEIP1559, types.PolicyTip, types.PolicyAuction, types.PolicyScore, types.PolicyFIFO) {
		base := types.DefaultTimerConfig("stake")
		base.Policy = policy
		// A floor of nothing: what falls to it falls by single units in the end.
		base.Eip1559.MinLaneBasefee = decimal.Of(math.LegacyZeroDec())
		parameters(reflect.TypeFor[types.TimerConfig](), nil, "", func(path []int, name string) {
			configs := ends(base, path)
			// Shares of a whole have no other value without the others.
			require.True(t, len(configs) > 0 || strings.HasPrefix(name, "Tip.Share"), name)
			for _, config := range configs {
				askEverything(t, fmt.Sprintf("%s, %s = %v", policy, name, reflect.ValueOf(config).FieldByIndex(path)), config)
			}
		})
	}
}

func askEverything(t *testing.T, name string, config types.TimerConfig) {
	t.Helper()
	f := newFixture(t, withoutHeadroom, func(opts *lab.ChainOptions) {
		high := math.LegacyNewDec(1_000_000)
		opts.Genesis.Config, opts.Genesis.Lane.LaneBasefee = config, &high
	})
	results, _, err := f.Tx(scheduleMsg(robot, 2, f.noop(), limited(0)))
	id := strings.Repeat("0", 64)
	if err == nil {
		var response types.MsgScheduleTimerResponse
		require.NoError(t, f.Codec.Unmarshal(results[0].MsgResponses[0].Value, &response))
		id = response.Id
	}
	f.NextBlock()
	server, asked := reflect.ValueOf(f.query()), queries(robot, id)
	for i := range reflect.TypeFor[types.QueryServer]().NumMethod() {
		method := reflect.TypeFor[types.QueryServer]().Method(i).Name
		require.NotEmpty(t, asked[method], "how is %s asked?", method)
		for _, request := range asked[method] {
			meter := storetypes.NewInfiniteGasMeter()
			ctx := f.Ctx().WithGasMeter(meter)
			answer := server.MethodByName(method).Call([]reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(request)})
			require.LessOrEqual(t, meter.GasConsumed(), uint64(mostGas), "%s: %s%v: %v", name, method, request, answer[1])
		}
	}
}

// TestEstimate_EndsWhereTheBasefeeFallsSlowly: at a max_change of a millionth the basefee takes 20 million blocks to its floor.
// The estimate looks at 1,000, says so, and stops earlier where its gas ends.
//
// Rule: 9.2-basefee-followed
func TestEstimate_EndsWhereTheBasefeeFallsSlowly(t *testing.T) {
	f := newFixture(t, func(opts *lab.ChainOptions) {
		high := math.LegacyNewDec(1_000_000)
		inMarket(&opts.Genesis.Config)
		opts.Genesis.Config.Eip1559.MaxChange, opts.Genesis.Lane.LaneBasefee = decimal.Of(dec("0.000001")), &high
	})
	ask := func(limit uint64) error {
		_, err := f.query().Estimate(f.Ctx().WithGasMeter(storetypes.NewGasMeter(limit)), &types.QueryEstimateRequest{MaxFee: "0.002"})
		return err
	}
	err := ask(mostGas)
	require.Equal(t, codes.OutOfRange, status.Code(err))
	require.ErrorContains(t, err, "waits for more than 1000 blocks")
	require.Panics(t, func() { _ = ask(100_000) })
}
