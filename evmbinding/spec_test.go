package evmbinding

import (
	"maps"
	gomath "math"
	"math/big"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cosmos/gogoproto/proto"
	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos/cosmos-sdk/codec/address"

	"github.com/cosmos-timers/timers/x/timers/decimal"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// renamed are the rows of the message that contracts name otherwise, or not at all, and why. A row that is here alone under its
// message's name has no member in the interface.
var renamed = map[string]struct{ member, why string }{
	"TimerCall.handler":                    {"handler", "an enumeration: contracts know two handlers"},
	"TimerSpec.cell_limit":                 {"byteLimit", "a cell is a byte that the EVM writes"},
	"Trigger.after":                        {"afterBlocks", "Solidity has reserved the word"},
	"EveryRule.seconds":                    {"period", "a unit of Solidity"},
	"CronRule.minutes":                     {"minuteSet", "a unit of Solidity"},
	"CronRule.hours":                       {"hourSet", "a unit of Solidity"},
	"CronRule.days":                        {"daySet", "a unit of Solidity"},
	"CronRule.months":                      {"monthSet", "as minuteSet"},
	"CronRule.weekdays":                    {"weekdaySet", "as minuteSet"},
	"CronRule.nth":                         {"nthSet", "as minuteSet"},
	"Bid.static":                           {"staticBid", "Solidity has reserved the word"},
	"StaticBid.max_fee_per_cycle":          {"maxFeePerGas", "a cycle is a unit of gas"},
	"StaticBid.max_priority_fee_per_cycle": {"maxPriorityFeePerGas", "a cycle is a unit of gas"},
	"Retry.after":                          {"delay", "Solidity has reserved the word"},
	"WatchKey.store":                       {"", "source, or name where that is Raw"},
	"WatchKey.prefix":                      {"", "target, slot and name by source, or key where that is Raw"},
	"TimerCall.messages":                   {"", "contracts make calls, and pack no messages of the SDK"},
}

// added are members that the message states otherwise.
var added = map[string]string{
	"TimerCall.to": "in the payload", "TimerCall.value": "in the payload", "WatchKey.source": "in store and prefix",
	"WatchKey.target": "in the prefix", "WatchKey.slot": "in the prefix", "WatchKey.name": "in store or the prefix", "WatchKey.key": "the prefix",
}

// members are what the ABI has for a row that is one value. Amounts, prices and addresses are text in messages, and times are signed.
func members(row protoreflect.FieldDescriptor) []string {
	switch kind := row.Kind(); {
	case kind == protoreflect.StringKind:
		if row.FullName() == "timers.v1.TimerCall.handler" {
			return []string{"uint8"}
		}
		return []string{"string", "address", "uint256"}
	case kind == protoreflect.EnumKind:
		return []string{"uint8"}
	case kind == protoreflect.Int64Kind, row.Message() != nil:
		return []string{"uint64"}
	default:
		return []string{kind.String()}
	}
}

func messageOf(t *testing.T, name string) protoreflect.MessageDescriptor {
	t.Helper()
	found, err := proto.HybridResolver.FindDescriptorByName(protoreflect.FullName("timers.v1." + name))
	require.NoError(t, err)
	return found.(protoreflect.MessageDescriptor)
}

// TestTimerSpec_IsThatOfTheMessage: each row of the message, whole and nested, has its member in the interface, in its order, or is
// among the exceptions, each of which is one; and each enumeration of Solidity has the values of protobuf's.
func TestTimerSpec_IsThatOfTheMessage(t *testing.T) {
	source, err := os.ReadFile("contracts/ITimers.sol")
	require.NoError(t, err)
	enums := map[string]int{}
	for _, found := range regexp.MustCompile(`(?s)enum (\w+) \{(.*?)\n\}`).FindAllStringSubmatch(string(source), -1) {
		values := regexp.MustCompile(`//.*`).ReplaceAllString(found[2], "")
		enums[found[1]] = len(strings.Split(values, ","))
	}
	used, seen := map[string]bool{}, map[string]bool{}
	var check func(message protoreflect.MessageDescriptor, of abi.Type)
	check = func(message protoreflect.MessageDescriptor, of abi.Type) {
		name := string(message.Name())
		require.Equal(t, name, of.TupleRawName)
		var want, got []string
		for i := range message.Fields().Len() {
			row := message.Fields().Get(i)
			member := row.JSONName()
			if other, is := renamed[name+"."+string(row.Name())]; is {
				used[name+"."+string(row.Name())] = true
				if member = other.member; member == "" {
					require.NotContains(t, of.TupleRawNames, row.JSONName(), name)
					continue
				}
			}
			want = append(want, member)
			at := slices.Index(of.TupleRawNames, member)
			require.GreaterOrEqual(t, at, 0, "%s.%s has no member %s in ITimers.sol", name, row.Name(), member)
			inner := *of.TupleElems[at]
			require.Equal(t, row.IsList(), inner.T == abi.SliceTy, "%s.%s", name, row.Name())
			if row.IsList() {
				inner = *inner.Elem
			}
			if row.Enum() != nil {
				enum := string(row.Enum().Name())
				require.Equal(t, row.Enum().Values().Len(), enums[enum], "enum %s", enum)
			}
			if inner.T == abi.TupleTy {
				seen[inner.TupleRawName] = true
				check(row.Message(), inner)
				continue
			}
			require.Contains(t, members(row), inner.String(), "%s.%s", name, row.Name())
		}
		for _, member := range of.TupleRawNames {
			if _, is := added[name+"."+member]; is {
				used[name+"."+member] = true
				continue
			}
			got = append(got, member)
		}
		require.Equal(t, want, got, "the rows of %s in their order", name)
	}
	check(messageOf(t, "TimerSpec"), ABI.Methods["schedule"].Inputs[0].Type)
	require.Subset(t, slices.Collect(maps.Keys(seen)), []string{"Trigger", "CalendarTrigger", "WatchCondition", "Repeat", "TimerCall", "Retry"})
	for name, exception := range renamed {
		require.True(t, used[name], "%s (%s) is no exception", name, exception.why)
	}
	for name := range added {
		require.True(t, used[name], "%s is no exception", name)
	}
}

// plain gives a spec the numbers of the EVM that it leaves out.
func plain(s TimerSpec) TimerSpec {
	for _, n := range []**big.Int{&s.MaxCharge, &s.Call.Value, &s.Bid.Price, &s.Bid.StaticBid.MaxFeePerGas, &s.Bid.StaticBid.MaxPriorityFeePerGas} {
		if *n == nil {
			*n = new(big.Int)
		}
	}
	return s
}

// anySpec draws each member of a struct, in the bounds that have a meaning.
func anySpec(t *rapid.T) (s TimerSpec) {
	var draw func(name string, v reflect.Value)
	draw = func(name string, v reflect.Value) {
		if v.Kind() != reflect.Struct && v.Type() != reflect.TypeFor[*big.Int]() && rapid.Bool().Draw(t, name+" is empty") {
			return
		}
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				draw(v.Type().Field(i).Name, v.Field(i))
			}
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), rapid.IntRange(1, 3).Draw(t, name), 3))
			for i := range v.Len() {
				draw(name, v.Index(i))
			}
		case reflect.Array:
			for i := range v.Len() {
				draw(name, v.Index(i))
			}
		case reflect.Pointer:
			v.Set(reflect.ValueOf(new(big.Int).SetUint64(rapid.Uint64().Draw(t, name))))
		case reflect.String:
			v.SetString(rapid.StringMatching(`[a-z]{3,9}`).Draw(t, name))
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Int32:
			v.SetInt(int64(rapid.Int32().Draw(t, name)))
		case reflect.Uint8:
			v.SetUint(uint64(rapid.Uint8Range(1, 3).Draw(t, name)))
		case reflect.Uint32:
			v.SetUint(uint64(rapid.Uint32().Draw(t, name)))
		default:
			v.SetUint(rapid.Uint64Max(gomath.MaxInt64).Draw(t, name))
		}
	}
	draw("spec", reflect.ValueOf(&s).Elem())
	for _, keys := range [][]WatchKey{s.OnlyIf, s.Trigger.Watch.Keys} {
		for i, key := range keys {
			stated := WatchKey{Source: key.Source, Name: key.Name, Target: key.Target, When: key.When}
			switch key.Source {
			case sourceSlot:
				stated.Slot, stated.Name = key.Slot, ""
			case sourceBalance:
				stated.Name = ""
			case sourceCoin:
				stated.Name = "coin" + key.Name
			case sourceRaw:
				stated.Key, stated.Target = key.Key, common.Address{}
			}
			if stated.When.Op < uint8(types.ConditionEqual) {
				stated.When.Value = new(big.Int)
			}
			keys[i] = stated
		}
	}
	if s.Call.Handler &= Call; s.Call.Handler == Callback {
		s.Call.To, s.Call.Value = common.Address{}, new(big.Int)
	}
	return s
}

// TestTimerSpec_OfItsMessageIsTheSame: what a contract states comes back as it stands, whatever it is, by way of the ABI.
func TestTimerSpec_OfItsMessageIsTheSame(t *testing.T) {
	addresses := address.NewBech32Codec("cosmos")
	packed := func(t require.TestingT, s TimerSpec) []byte {
		bz, err := ABI.Methods["schedule"].Inputs.Pack(s)
		require.NoError(t, err)
		return bz
	}
	rapid.Check(t, func(t *rapid.T) {
		s := anySpec(t)
		message, err := s.message(addresses)
		require.NoError(t, err)
		again, err := specOf(addresses, &message)
		require.NoError(t, err)
		require.Equal(t, packed(t, s), packed(t, again))
		// But for places, one for each list and string, and padding.
		counted := encodedBytes(reflect.ValueOf(s))
		require.LessOrEqual(t, counted, uint64(len(packed(t, s))))
		require.GreaterOrEqual(t, 3*counted, 2*uint64(len(packed(t, s))))
	})
}

// TestTimerSpec_OfWhatNoContractStates: what runs messages, or a call of HIP-1215, is shown as the chain has it; a number or an
// address that the EVM does not have is refused.
func TestTimerSpec_OfWhatNoContractStates(t *testing.T) {
	addresses := address.NewBech32Codec("cosmos")
	for _, handler := range []string{"", HandlerBooked, HandlerCall} {
		s, err := specOf(addresses, &types.TimerSpec{Call: types.TimerCall{Handler: handler, Payload: []byte{7}}})
		require.NoError(t, err)
		require.Equal(t, TimerCall{Handler: OtherHandler, Value: new(big.Int), Payload: []byte{7}}, s.Call)
		_, err = s.message(addresses)
		require.ErrorContains(t, err, "handler 2: want Callback or Call")
	}
	for _, value := range []string{"0.5", "-1", "0xff", new(big.Int).Lsh(big.NewInt(1), 256).String()} {
		key := types.WatchKey{Store: "bank", Prefix: []byte{1}, When: &types.WatchCondition{Op: types.ConditionEqual, Value: value}}
		_, err := specOf(addresses, &types.TimerSpec{OnlyIf: []types.WatchKey{key}})
		require.ErrorIs(t, err, types.ErrInvalidWatch, value)
	}
	long, err := addresses.BytesToString(make([]byte, 32))
	require.NoError(t, err)
	_, err = specOf(addresses, &types.TimerSpec{FeePayer: long})
	require.ErrorContains(t, err, "has 32 bytes")
	_, err = specOf(addresses, &types.TimerSpec{Bid: &types.Bid{Agent: long}})
	require.ErrorContains(t, err, "has 32 bytes")
	fine := decimal.Of(math.LegacySmallestDec())
	s, err := specOf(addresses, &types.TimerSpec{Bid: &types.Bid{Static: &types.StaticBid{MaxFeePerCycle: fine, MaxPriorityFeePerCycle: fine}}})
	require.NoError(t, err)
	require.Equal(t, StaticBid{big.NewInt(1), big.NewInt(1)}, s.Bid.StaticBid)
}

// TestTimerSpec_RefusesWhatMeansNothing: what a callback, an operator or a source does not use.
func TestTimerSpec_RefusesWhatMeansNothing(t *testing.T) {
	for want, change := range map[string]func(*TimerSpec){
		"to or value are stated for a Callback": func(s *TimerSpec) { s.Call.To = Address },
		"a value is stated for Any":             func(s *TimerSpec) { s.OnlyIf = []WatchKey{{When: WatchCondition{Value: big.NewInt(1)}}} },
		"handler 3: want":                       func(s *TimerSpec) { s.Call.Handler = 3 },
		"retry.on[0].codespace is 5000 bytes":   func(s *TimerSpec) { s.Retry.On = []ErrorCode{{Codespace: strings.Repeat("a", 5_000)}} },
		"second 9223372036854775808":            func(s *TimerSpec) { s.ExpiresTime = 1 << 63 },
		"a price of":                            func(s *TimerSpec) { s.Bid.StaticBid.MaxFeePerGas = new(big.Int).Lsh(big.NewInt(1), 200) },
	} {
		s := plain(TimerSpec{})
		change(&s)
		_, err := s.message(address.NewBech32Codec("cosmos"))
		require.ErrorContains(t, err, want)
	}
}
