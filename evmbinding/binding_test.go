package evmbinding

import (
	"crypto/sha256"
	"encoding/hex"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	evmtypes "github.com/cosmos/evm/x/vm/types"
	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/x/timers/types"
)

func TestMain(m *testing.M) {
	// x/vm keeps the denom in a package variable, which a chain sets from its state.
	evmtypes.SetDefaultEvmCoinInfo(evmtypes.EvmCoinInfo{Denom: "aexample", ExtendedDenom: "aexample", DisplayDenom: "example", Decimals: 18})
	if err := evmtypes.SetChainConfig(evmtypes.DefaultChainConfig(4_242)); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// TestABI_IsWhatGoHas: each function of the interface has a method, and no other has; the structs have the fields of
// the Solidity ones, in order, so that encoding and decoding agree.
func TestABI_IsWhatGoHas(t *testing.T) {
	for name := range ABI.Methods {
		require.Contains(t, methods, name)
	}
	require.Len(t, methods, len(ABI.Methods))
	for name := range HRC1215.Methods {
		require.Contains(t, hrc1215Methods, name)
	}
	require.Len(t, hrc1215Methods, len(HRC1215.Methods))
	for name := range Facade.Methods {
		require.Contains(t, facadeMethods, name)
	}
	require.Len(t, facadeMethods, len(Facade.Methods))
	same := func(of abi.Type, value any) {
		t.Helper()
		goType := reflect.TypeOf(value)
		require.Equal(t, goType.NumField(), len(of.TupleElems), "%s", goType)
		for i, name := range of.TupleRawNames {
			require.Equal(t, abi.ToCamelCase(name), goType.Field(i).Name)
			if kind := of.TupleElems[i].GetType().Kind(); kind != reflect.Struct && kind != reflect.Slice {
				require.Equal(t, of.TupleElems[i].GetType(), goType.Field(i).Type, "%s.%s", goType, name)
			}
		}
	}
	var whole func(of abi.Type, goType reflect.Type)
	whole = func(of abi.Type, goType reflect.Type) {
		if of.T == abi.SliceTy {
			of, goType = *of.Elem, goType.Elem()
		}
		if of.T != abi.TupleTy {
			return
		}
		same(of, reflect.Zero(goType).Interface())
		for i, elem := range of.TupleElems {
			whole(*elem, goType.Field(i).Type)
		}
	}
	whole(ABI.Methods["schedule"].Inputs[0].Type, reflect.TypeFor[TimerSpec]())
	same(ABI.Methods["timer"].Outputs[0].Type, info{})
	same(ABI.Methods["estimate"].Outputs[0].Type, quote{})
	same(ABI.Methods["lane"].Outputs[0].Type, lane{})
	same(Receiver.Methods["onTimer"].Inputs[0].Type, delivery{})
	same(*Receiver.Methods["onTimer"].Inputs[0].Type.TupleElems[7].Elem, changed{})
}

// TestDocumentedWiring_IsThatOfTheTests: each line of the documents' code for Go is in the chain of the tests, and in its
// node.
func TestDocumentedWiring_IsThatOfTheTests(t *testing.T) {
	for document, sources := range map[string][]string{
		"README.md": {"app.go"}, "docs/evm.md": {"cmd/evmappd/main.go", "cmd/evmappd/init.go"},
	} {
		text, err := os.ReadFile(document)
		require.NoError(t, err)
		var code strings.Builder
		for _, source := range sources {
			raw, err := os.ReadFile(filepath.Join("testutil/evmapp", source))
			require.NoError(t, err)
			code.Write(raw)
		}
		checked := 0
		for _, block := range strings.Split(string(text), "```go\n")[1:] {
			shown, _, _ := strings.Cut(block, "```")
			for _, line := range strings.Split(shown, "\n") {
				if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "//") {
					continue
				}
				require.Contains(t, code.String(), line, document)
				checked++
			}
		}
		require.Greater(t, checked, 5, document)
	}
}

// TestContracts_AreThoseOfTheChecksums: sources and what solc made of them were committed together. `make
// evm-contracts` compiles them again and compares.
func TestContracts_AreThoseOfTheChecksums(t *testing.T) {
	raw, err := os.ReadFile("contracts/SHA256SUMS")
	require.NoError(t, err)
	var listed []string
	for _, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		sum, name, found := strings.Cut(line, "  ")
		require.True(t, found, line)
		if strings.HasPrefix(name, "solc ") {
			continue
		}
		file := filepath.Join("contracts", name)
		if inTests, found := strings.CutPrefix(name, "tests/"); found || name == "compiled.json" {
			file = filepath.Join("testutil/evmapp/contracts", inTests)
		}
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		got := sha256.Sum256(content)
		require.Equal(t, sum, hex.EncodeToString(got[:]), name)
		listed = append(listed, file)
	}
	for _, dir := range []string{"contracts", "contracts/examples", "testutil/evmapp/contracts"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.[sj]*"))
		require.NoError(t, err)
		for _, file := range files {
			if ext := filepath.Ext(file); ext == ".sol" || ext == ".json" {
				require.Contains(t, listed, file)
			}
		}
	}
}

// TestModule_NeedsXTimersAlone: a chain that imports the binding gets x/timers with it and nothing else of this repository.
func TestModule_NeedsXTimersAlone(t *testing.T) {
	list := exec.Command("go", "list", "-m", "all")
	list.Env = append(list.Environ(), "GOWORK=off")
	out, err := list.CombinedOutput()
	require.NoError(t, err, string(out))
	var ours []string
	for _, line := range strings.Split(string(out), "\n") {
		if path, _, _ := strings.Cut(line, " "); strings.HasPrefix(path, "github.com/cosmos-timers/") {
			ours = append(ours, path)
		}
	}
	require.Equal(t, []string{"github.com/cosmos-timers/timers/evmbinding", "github.com/cosmos-timers/timers/x/timers"}, ours)
}

// TestDecodeCall_IsTheInverseOfEncodeCall, and refuses other bytes: one call has one payload.
func TestDecodeCall_IsTheInverseOfEncodeCall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		to := common.BytesToAddress(rapid.SliceOfN(rapid.Byte(), 20, 20).Draw(t, "to"))
		value := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 32).Draw(t, "value"))
		data := rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "data")
		payload, err := EncodeCall(to, value, data)
		require.NoError(t, err)
		gotTo, gotValue, gotData, err := decodeCall(payload)
		require.NoError(t, err)
		require.Equal(t, to, gotTo)
		require.Zero(t, value.Cmp(gotValue))
		require.Equal(t, len(data), len(gotData))
		require.True(t, slices.Equal(data, gotData))

		at := rapid.IntRange(0, len(payload)-1).Draw(t, "at")
		for _, other := range [][]byte{append(slices.Clone(payload), 0), payload[:at], flipped(payload, at)} {
			toOther, valueOther, dataOther, err := decodeCall(other)
			if err != nil {
				require.ErrorIs(t, err, types.ErrInvalidPayload)
				continue
			}
			again, err := EncodeCall(toOther, valueOther, dataOther)
			require.NoError(t, err)
			require.Equal(t, other, again)
		}
	})
	_, err := EncodeCall(common.Address{}, big.NewInt(-1), nil)
	require.ErrorIs(t, err, types.ErrInvalidPayload)
	_, err = EncodeCall(common.Address{}, new(big.Int).Lsh(big.NewInt(1), 256), nil)
	require.ErrorIs(t, err, types.ErrInvalidPayload)
}

func flipped(bz []byte, at int) []byte {
	other := slices.Clone(bz)
	other[at] ^= 1
	return other
}

// TestCellMeter_BooksBytesAsCells, and all else on the meter below.
func TestCellMeter_BooksBytesAsCells(t *testing.T) {
	cells := uint64(0)
	below := storetypes.NewGasMeter(100)
	m := cellMeter{below, &cells, 30}
	m.ConsumeGas(65, storetypes.GasWritePerByteDesc)
	require.Equal(t, uint64(2), cells)
	require.Equal(t, uint64(5), below.GasConsumed())
	m.ConsumeGas(40, storetypes.GasWriteCostFlatDesc)
	require.Equal(t, uint64(45), m.GasConsumed())
	require.Panics(t, func() { m.ConsumeGas(60, storetypes.GasReadCostFlatDesc) })
}

// TestChangedOf_IsTheInverseOfKeyOf: a key that a contract names is named the same to it when it changed.
func TestChangedOf_IsTheInverseOfKeyOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := WatchKey{Source: uint8(rapid.IntRange(0, 3).Draw(t, "source")), When: WatchCondition{Value: new(big.Int)}}
		if w.Source != sourceRaw {
			w.Target = common.BytesToAddress(rapid.SliceOfN(rapid.Byte(), 20, 20).Draw(t, "target"))
		}
		switch w.Source {
		case sourceSlot:
			w.Slot = common.BytesToHash(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "slot"))
		case sourceCoin:
			w.Name = rapid.StringMatching(`[a-z]{3}[a-z0-9/]{0,80}`).Draw(t, "denom")
		case sourceRaw:
			w.Name, w.Key = "staking", rapid.SliceOf(rapid.Byte()).Draw(t, "key")
		}
		key, err := w.keyOf()
		require.NoError(t, err)
		got := changedOf([]types.WatchedKey{{Store: key.Store, Key: key.Prefix}})
		require.Equal(t, []changed{{w.Source, w.Target, w.Slot, w.Name, w.Key}}, got)
	})
	for _, other := range []types.WatchedKey{
		{Store: banktypes.StoreKey, Key: []byte{2}},
		{Store: evmtypes.StoreKey, Key: []byte{2}},
		// A balance of an address of 32 bytes.
		{Store: banktypes.StoreKey, Key: append([]byte{2, 32}, make([]byte, 40)...)},
	} {
		require.Equal(t, []changed{{Source: sourceRaw, Name: other.Store, Key: other.Key}}, changedOf([]types.WatchedKey{other}))
	}
	_, err := (&WatchKey{Source: 4, When: WatchCondition{Value: new(big.Int)}}).keyOf()
	require.ErrorContains(t, err, "source 4: want Slot, Balance, Coin or Raw")
	// The native coin has one name.
	native := changedOf([]types.WatchedKey{{Store: banktypes.StoreKey, Key: coinKey(Address, "aexample")}})
	require.Equal(t, []changed{{Source: sourceBalance, Target: Address}}, native)
}

// TestScheduleAddress_NamesATimer: the address has the beginning of its id, and no other address has one.
func TestScheduleAddress_NamesATimer(t *testing.T) {
	id := make([]byte, 32)
	for i := range id {
		id[i] = byte(i + 1)
	}
	at := scheduleAddress(id)
	require.Equal(t, common.HexToAddress("0x0000000000000000000012150102030405060708"), at)
	require.Equal(t, id[:8], idWithin(at))
	require.Equal(t, make([]byte, 8), idWithin(scheduleAddress(make([]byte, 32))))
	for _, other := range []common.Address{Address, HRC1215Address, PRNGAddress, {}, common.BytesToAddress(id)} {
		require.Nil(t, idWithin(other))
	}
	// Before Wire there is no facade, and x/erc20 may be missing.
	_, found, err := new(Seconds).Facades(nil).GetERC20PrecompileInstance(sdk.Context{}, at)
	require.NoError(t, err)
	require.False(t, found)
}

// TestSlotStore_NamesSlots as people write them.
func TestSlotStore_NamesSlots(t *testing.T) {
	form := SlotStore().Forms[0]
	key, err := form.Build([]string{Address.Hex(), "0x1"})
	require.NoError(t, err)
	require.True(t, SlotStore().Whole(key))
	require.Equal(t, slotKey(Address, common.BigToHash(big.NewInt(1))), key)
	for _, bad := range [][]string{{"0x12", "1"}, {Address.Hex(), "-1"}, {Address.Hex(), "x"}, {Address.Hex(), "0x1" + strings.Repeat("0", 64)}} {
		_, err := form.Build(bad)
		require.ErrorIs(t, err, types.ErrInvalidWatch)
	}
	number, is := SlotStore().Reading(key).Number([]byte{1, 0})
	require.True(t, is)
	require.Equal(t, "256", number)
	number, _ = SlotStore().Reading(key).Number(nil)
	require.Equal(t, "0", number)
}

// TestUnits_OfAmountsAndPrices: bounds are rounded down, quotes up.
func TestUnits_OfAmountsAndPrices(t *testing.T) {
	require.Equal(t, "7", unitsOf(big.NewInt(7)).String())
	price, err := priceOf(big.NewInt(3))
	require.NoError(t, err)
	require.Equal(t, "3.000000000000000000", price.String())
	_, err = priceOf(new(big.Int).Lsh(big.NewInt(1), 200))
	require.ErrorIs(t, err, types.ErrInvalidBid)
	wei, err := weiPriceOf("0.000000000000000001")
	require.NoError(t, err)
	require.Equal(t, big.NewInt(1), wei)
	wei, err = weiOf("")
	require.NoError(t, err)
	require.Zero(t, wei.Sign())
	_, err = weiOf("x")
	require.ErrorIs(t, err, types.ErrInternal)
}

// TestUnits_OfADenomWithSixDecimals: a unit is 10^12 wei.
func TestUnits_OfADenomWithSixDecimals(t *testing.T) {
	before := evmtypes.GetEVMCoinDecimals()
	set := func(decimals evmtypes.Decimals) {
		evmtypes.SetDefaultEvmCoinInfo(evmtypes.EvmCoinInfo{
			Denom: "aexample", ExtendedDenom: "aexample", DisplayDenom: "example", Decimals: decimals.Uint32(),
		})
	}
	set(evmtypes.SixDecimals)
	defer set(before)
	unit := int64(1_000_000_000_000)
	require.Equal(t, "1", unitsOf(big.NewInt(unit*2-1)).String())
	price, err := priceOf(big.NewInt(unit / 2))
	require.NoError(t, err)
	require.Equal(t, "0.500000000000000000", price.String())
	wei, err := weiPriceOf("0.5")
	require.NoError(t, err)
	require.Equal(t, big.NewInt(unit/2), wei)
	wei, err = weiOf("3")
	require.NoError(t, err)
	require.Equal(t, big.NewInt(3*unit), wei)

	balance := WatchKey{Source: sourceBalance, When: WatchCondition{uint8(types.ConditionLess), big.NewInt(7 * unit)}}
	key, err := balance.keyOf()
	require.NoError(t, err)
	require.Equal(t, "7", key.When.Value)
	again, err := statedKeys([]types.WatchKey{key})
	require.NoError(t, err)
	require.Equal(t, []WatchKey{balance}, again)
	balance.When.Value = big.NewInt(7*unit + 1)
	_, err = balance.keyOf()
	require.ErrorIs(t, err, types.ErrInvalidWatch)
	_, err = wholeUnits("maxCharge", big.NewInt(unit-1))
	require.ErrorIs(t, err, types.ErrInvalidBid)
}

// TestHandlers_EmitNoEventsOfFires: what a handler emits is kept, but for events that are the runtime's own.
func TestHandlers_EmitNoEventsOfFires(t *testing.T) {
	fire := sdk.Context{}.WithEventManager(sdk.NewEventManager())
	handler := sdk.Context{}.WithEventManager(sdk.NewEventManager())
	for _, kind := range []string{"first", EventFire, EventFailed, EventFire + "2", "last"} {
		handler.EventManager().EmitEvent(sdk.NewEvent(kind))
	}
	emitOthers(fire, handler)
	var kinds []string
	for _, event := range fire.EventManager().Events() {
		kinds = append(kinds, event.Type)
	}
	require.Equal(t, []string{"first", EventFire + "2", "last"}, kinds)
}
