//go:build !noguests

package timers_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cosmos/gogoproto/proto"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/cosmos/cosmos-sdk/codec"
	"github.com/cosmos/cosmos-sdk/types/module/testutil"

	"github.com/cosmos-timers/timers/x/timers"
	"github.com/cosmos-timers/timers/x/timers/contest"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/market"
	"github.com/cosmos-timers/timers/x/timers/policies"
	"github.com/cosmos-timers/timers/x/timers/policies/agents"
	"github.com/cosmos-timers/timers/x/timers/policies/guests"
	"github.com/cosmos-timers/timers/x/timers/state"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// quotedCode is code in Markdown.
var quotedCode = regexp.MustCompile("`([^`]+)`")

// codesIn are the pieces of code in a cell.
func codesIn(cell string) (codes []string) {
	for _, match := range quotedCode.FindAllStringSubmatch(cell, -1) {
		codes = append(codes, match[1])
	}
	return codes
}

// tableRows are the rows of the tables of README.md whose head begins so, as cells.
func tableRows(t *testing.T, head string) (rows [][]string) {
	t.Helper()
	raw, err := os.ReadFile("README.md")
	require.NoError(t, err)
	within := false
	for _, line := range strings.Split(string(raw), "\n") {
		switch {
		case strings.HasPrefix(line, head):
			within = true
		case !strings.HasPrefix(line, "|"):
			within = false
		case within && !strings.HasPrefix(line, "|-"):
			cells := strings.Split(strings.Trim(line, "|"), " | ")
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			rows = append(rows, cells)
		}
	}
	require.NotEmpty(t, rows, head)
	return rows
}

// TestTheTableOfEventsIsTheProto: each event has a row, which names its attributes but for those that all have.
//
// Rule: 6-id-and-actor, 6-typed
func TestTheTableOfEventsIsTheProto(t *testing.T) {
	registry, err := proto.MergedRegistry()
	require.NoError(t, err)
	file, err := registry.FindFileByPath("timers/v1/events.proto")
	require.NoError(t, err)
	// The events of a block, and of an actor, are of no timer.
	ofNoTimer := []string{
		"TimerAgentSet", "TimerConfigUpdatedByGovernance", "TimerBasefeeSourceFailed", "TimerLaneFailed", "TimerLaneSummary",
	}
	documented := map[string]bool{}
	for _, row := range tableRows(t, "| event | emitted when") {
		named := codesIn(row[2])
		known := map[string]bool{}
		for _, event := range codesIn(row[0]) {
			documented[event] = true
			message := file.Messages().ByName(protoreflect.Name(event))
			require.NotNil(t, message, "events.proto has no %s", event)
			fields := map[string]bool{}
			for i := range message.Fields().Len() {
				fields[string(message.Fields().Get(i).Name())] = true
			}
			if !slices.Contains(ofNoTimer, event) {
				require.True(t, fields["id"] && fields["actor"], "%s has no id or no actor", event)
			}
			for field := range fields {
				known[field] = true
				if !slices.Contains([]string{"id", "actor", "name"}, field) {
					require.Contains(t, named, field, "the row of %s in README.md, 6. Events, lacks an attribute", event)
				}
			}
		}
		for _, attribute := range named {
			require.True(t, known[attribute] || attribute == "id", "%v has no attribute %s", codesIn(row[0]), attribute)
		}
	}
	for i := range file.Messages().Len() {
		require.True(t, documented[string(file.Messages().Get(i).Name())], "README.md, 6. Events, has no row for %s", file.Messages().Get(i).Name())
	}
}

// TestTheTableOfErrorsIsTheCode: codes and names.
//
// Rule: 8-table
func TestTheTableOfErrorsIsTheCode(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("types", "testdata", "errors.golden"))
	require.NoError(t, err)
	declared := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		code, rest, _ := strings.Cut(line, " ")
		declared[code], _, _ = strings.Cut(rest, ":")
	}
	documented := map[string]string{}
	for _, row := range tableRows(t, "| code | name |") {
		documented[row[0]] = codesIn(row[1])[0]
	}
	require.Equal(t, declared, documented)
}

// TestTheTableOfBoundsIsTheCode: those that other packages know.
//
// Rule: 5.4-not-fitting, 5.4-index-reads
func TestTheTableOfBoundsIsTheCode(t *testing.T) {
	documented := map[string]string{}
	for _, row := range tableRows(t, "| constant | bound |") {
		words, _, _ := strings.Cut(row[0], ",")
		documented[words] = row[1]
	}
	require.Equal(t, "32", documented["timers that do not fit"])
	require.Equal(t, 32, contest.MaxPassedOver)
	require.Equal(t, "4,096", documented["entries of the ready index read beyond the heads of its lists"])
	require.Equal(t, 4_096, contest.MaxIndexReads)
}

// TestTheTableOfQueriesIsTheService: the methods, which are safe, their paths and their commands.
//
// Rule: 9.2-table, 9.2-safe-queries
func TestTheTableOfQueriesIsTheService(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "proto", "timers", "v1", "query.proto"))
	require.NoError(t, err)
	var service []string
	for _, match := range regexp.MustCompile(`(?s)\n  rpc (\w+)\(.*?\n  }`).FindAllStringSubmatch(string(raw), -1) {
		path := regexp.MustCompile(`get(?: =|:) "([^"]+)"`).FindStringSubmatch(match[0])
		require.NotNil(t, path, match[1])
		command, _, _ := strings.Cut(commands["query"][match[1]].use, " ")
		service = append(service, fmt.Sprint(match[1], strings.Contains(match[0], "module_query_safe) = true"), path[1], command))
	}
	var documented []string
	for _, row := range tableRows(t, "| method | REST path |") {
		documented = append(documented, fmt.Sprint(codesIn(row[0])[0], strings.HasSuffix(row[0], "(safe)"), codesIn(row[1])[0], codesIn(row[2])[0]))
	}
	slices.Sort(service)
	slices.Sort(documented)
	require.Equal(t, service, documented)
}

// TestTheReferenceStatesTheNumbersOfQueries: bounds and gas, which other tests take from the code.
//
// Rule: 9.2-pages, 9.2-offset, 9.2-deliveries-page, 9.2-gas
func TestTheReferenceStatesTheNumbersOfQueries(t *testing.T) {
	raw, err := os.ReadFile("README.md")
	require.NoError(t, err)
	text := strings.Join(strings.Fields(string(raw)), " ")
	for phrase, numbers := range map[string][]int{
		"has at most %s entries":          {keeper.MaxPageEntries},
		"An `offset` is at most %s where": {keeper.MaxPageOffset},
		"looks at %s of their segments, each the fires of one block, %s at most": {keeper.MaxDeliverySegments, state.ReceiptsPerSegment},
		"caller's meter: %s before it reads":                                     {keeper.QueryGas},
		"; %s for each byte of the answer":                                       {keeper.GasPerByte},
		"; %s for each receipt that `Deliveries` looks at":                       {keeper.GasPerReceipt},
		"and %s for each byte of a payload":                                      {keeper.DecodeGasPerByte},
	} {
		var stated []any
		for _, n := range numbers {
			stated = append(stated, withCommas(n))
		}
		require.Contains(t, text, fmt.Sprintf(phrase, stated...))
	}
	require.Contains(t, text, fmt.Sprintf("and %d MiB of them", keeper.MaxPageBytes>>20))
}

// withCommas writes a number below a million as the reference does.
func withCommas(n int) string {
	if n < 1_000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%d,%03d", n/1_000, n%1_000)
}

// withGuests is the default config with the parameters of the guests, and a codec that knows them.
func withGuests(t *testing.T) (types.TimerConfig, codec.Codec) {
	t.Helper()
	encoding, config := testutil.MakeTestEncodingConfig(timers.AppModule{}), types.DefaultTimerConfig("stake")
	guests.RegisterInterfaces(encoding.InterfaceRegistry)
	policies.RegisterInterfaces(encoding.InterfaceRegistry, &agents.Registry{})
	for _, name := range encoding.InterfaceRegistry.ListImplementations(types.PolicyParamsName) {
		params, err := encoding.InterfaceRegistry.Resolve(name)
		require.NoError(t, err)
		config.SetParams(params.(types.PolicyParams).Defaults())
	}
	return config, encoding.Codec
}

// flatConfig is that config in JSON, with the parameters of each policy by their paths.
func flatConfig(t *testing.T) map[string]any {
	t.Helper()
	config, cdc := withGuests(t)
	raw, err := cdc.MarshalJSON(&config)
	require.NoError(t, err)
	var all map[string]any
	require.NoError(t, json.Unmarshal(raw, &all))
	flat := map[string]any{}
	list := all["policy_params"].([]any)
	delete(all, "policy_params")
	for _, entry := range list {
		params := entry.(map[string]any)
		all[types.PolicyName(params["@type"].(string))] = params
		delete(params, "@type")
	}
	for name, value := range all {
		if below, is := value.(map[string]any); is && name != "priority_tiers" {
			for field, value := range below {
				flat[name+"."+field] = value
			}
			continue
		}
		flat[name] = value
	}
	return flat
}

// amount reads a number of the tables: 1,048,576, 0.125, 2^40, 10^-6, 1/16, 2^96 − 1.
func amount(text string) (*big.Rat, bool) {
	text = strings.ReplaceAll(strings.TrimSpace(text), ",", "")
	text, lessOne := strings.CutSuffix(text, " − 1")
	value := new(big.Rat)
	base, exponent, isPower := strings.Cut(text, "^")
	if _, ok := value.SetString(base); !ok {
		return nil, false
	}
	if isPower {
		var n int64
		if _, err := fmt.Sscanf(exponent, "%d", &n); err != nil {
			return nil, false
		}
		power := new(big.Rat).SetInt(new(big.Int).Exp(value.Num(), big.NewInt(max(n, -n)), nil))
		if value = power; n < 0 {
			value = new(big.Rat).Inv(power)
		}
	}
	if lessOne {
		value.Sub(value, big.NewRat(1, 1))
	}
	return value, true
}

// TestTheTablesOfParametersAreTheConfig: every parameter has a row, with its default and its bounds.
//
// Rule: 7.1-table, 7.2-table, 7.3-table, 7.5-table, 7.6-table, 7.7-table, 7.8-table, 7.9-table, 7.10-table
// Rule: 7.11-table, 7-own-message
func TestTheTablesOfParametersAreTheConfig(t *testing.T) {
	defaults := flatConfig(t)
	// What the tables say in words.
	inWords := map[string]string{
		"fee_denom": "the bond denom", "reserved_actors": "none: the authority", "allowed_messages": "`*`", "denied_messages": "none",
		"lane_paused": "false", "priority_tiers": "0.8, 1, 1.5, 2.5",
	}
	require.Equal(t, []any{[]any{"*"}, []any{}, []any{}, false}, []any{
		defaults["allowed_messages"], defaults["denied_messages"], defaults["reserved_actors"], defaults["lane_paused"],
	})
	documented, checked := map[string]bool{}, 0
	for _, row := range tableRows(t, "| parameter | default | bounds") {
		names := codesIn(row[0])
		values := strings.Split(row[1], ", ")
		if each, found := strings.CutSuffix(row[1], " each"); found || len(values) != len(names) {
			values = slices.Repeat([]string{each}, len(names))
		}
		for i, name := range names {
			require.Contains(t, defaults, name)
			require.False(t, documented[name], "%s has two rows", name)
			documented[name] = true
			if words, found := inWords[name]; found {
				require.Equal(t, words, values[i], name)
				continue
			}
			requireValue(t, name, strings.Trim(values[i], "`"), defaults[name])
			checked += requireBounds(t, name, row[2])
		}
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(defaults)), slices.Collect(maps.Keys(documented)))
	require.Greater(t, checked, 50, "parameters whose bounds are numbers")
}

// TestConstants_AreThoseOfTheDocument: no chain sets these numbers, and the document states each.
//
// Rule: 7.4-table
func TestConstants_AreThoseOfTheDocument(t *testing.T) {
	documented := map[string]uint64{}
	for _, row := range tableRows(t, "| constant | value | unit") {
		value, ok := amount(row[1])
		require.True(t, ok, row[1])
		documented[codesIn(row[0])[0]] = value.Num().Uint64()
	}
	require.Equal(t, map[string]uint64{
		"FIRE_BASE_CYCLES": market.FireBaseCycles, "PAYLOAD_CYCLES_PER_BYTE": market.PayloadCyclesPerByte,
		"MESSAGE_CYCLES_PER_BYTE": market.MessageCyclesPerByte, "CALENDAR_CYCLES": market.CalendarCycles, "LAPSE_CYCLES": market.LapseCycles,
		"LOOK_CYCLES":        market.LookCycles,
		"MAX_MESSAGES_BYTES": market.MaxMessagesBytes, "MAX_PAYER_RECORD_BYTES": market.MaxPayerRecordBytes,
		"MAX_RETRIES": uint64(market.MaxRetries), "MAX_WATCH_KEYS": uint64(market.MaxWatchKeys), "MAX_MATCHED_KEYS": uint64(market.MaxMatchedKeys),
	}, documented)
}

// requireValue: the default of a table is that of the config.
func requireValue(t *testing.T, name, documented string, value any) {
	t.Helper()
	want, isNumber := amount(documented)
	got, ok := new(big.Rat).SetString(fmt.Sprint(value))
	if !isNumber || !ok {
		require.Equal(t, documented, fmt.Sprint(value), name)
		return
	}
	require.Zero(t, want.Cmp(got), "the default of %s is %v, not %s", name, value, documented)
}

// bounds are a least and a largest number, which words may follow.
var bounds = regexp.MustCompile(`^(\S+) to (\S+(?: − 1)?)`)

// requireBounds: the config refuses what is just below and just above the bounds of a table, and nothing between them for
// being out of bounds. It returns 1 if the bounds are numbers.
func requireBounds(t *testing.T, name, documented string) int {
	t.Helper()
	match := bounds.FindStringSubmatch(documented)
	if match == nil {
		return 0
	}
	least, ok := amount(match[1])
	largest, alsoOK := amount(strings.TrimRight(match[2], ",;"))
	if !ok || !alsoOK {
		return 0
	}
	value := fmt.Sprint(flatConfig(t)[name])
	step := big.NewRat(1, 1)
	if strings.Contains(value, ".") || strings.Contains(documented, ".") || strings.Contains(documented, "/") || decimals[name] {
		step = new(big.Rat).Inv(new(big.Rat).SetInt64(1_000_000_000_000_000_000))
	}
	for _, c := range []struct {
		value   *big.Rat
		refused bool
	}{
		{new(big.Rat).Sub(least, step), true}, {least, false}, {largest, false}, {new(big.Rat).Add(largest, step), true},
	} {
		if c.value.Sign() < 0 {
			continue // It has no form.
		}
		err := withValue(t, name, c.value, step)
		outOfBounds := err != nil && strings.Contains(err.Error(), name+" is ")
		require.Equal(t, c.refused, outOfBounds, "%s of %s, documented as %s: %v", name, c.value.FloatString(18), documented, err)
	}
	return 1
}

// decimals are the parameters whose values and bounds are whole numbers and that may have others.
var decimals = map[string]bool{
	"tier_tip_cap": true, "weight_min": true, "weight_max": true, "median_smoothing": true, "score.w_age": true, "score.w_bid": true,
	"score.w_fifo": true, "eip1559.lane_fee_multiplier": true, "cycle_basefee": true, "cell_basefee": true, "tip.decay": true,
	"eip1559.min_lane_basefee": true, "tip.weight_max": true, "tip.inactivity_decay": true,
}

// withValue validates the default config with another value of a parameter.
func withValue(t *testing.T, name string, value, step *big.Rat) error {
	t.Helper()
	config, cdc := withGuests(t)
	raw, err := cdc.MarshalJSON(&config)
	require.NoError(t, err)
	var all map[string]any
	require.NoError(t, json.Unmarshal(raw, &all))
	text := value.FloatString(0)
	if step.Cmp(big.NewRat(1, 1)) < 0 {
		text = value.FloatString(18)
	}
	var stated any = text
	if message, field, nested := strings.Cut(name, "."); nested {
		below, _ := all[message].(map[string]any)
		for _, entry := range all["policy_params"].([]any) {
			if params := entry.(map[string]any); types.PolicyName(params["@type"].(string)) == message {
				below = params
			}
		}
		if _, isNumber := below[field].(float64); isNumber {
			stated = json.Number(text)
		}
		below[field] = stated
	} else {
		if _, isNumber := all[name].(float64); isNumber {
			stated = json.Number(text)
		}
		all[name] = stated
	}
	raw, err = json.Marshal(all)
	require.NoError(t, err)
	var changed types.TimerConfig
	require.NoError(t, cdc.UnmarshalJSON(raw, &changed), "%s: %s", name, text)
	return changed.Validate()
}
