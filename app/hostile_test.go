package app_test

import (
	"fmt"
	"strconv"
	"testing"

	wasmkeeper "github.com/CosmWasm/wasmd/x/wasm/keeper"
	wasmtypes "github.com/CosmWasm/wasmd/x/wasm/types"
	"github.com/stretchr/testify/require"

	errorsmod "cosmossdk.io/errors"

	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkerrors "github.com/cosmos/cosmos-sdk/types/errors"

	"github.com/cosmos-timers/timers/testutil/appchain"
	"github.com/cosmos-timers/timers/testutil/contracts"
	timerskeeper "github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// stage is a chain on which a hostile contract's timers fire beside a peaceful one's.
type stage struct {
	*appchain.Chain
	t                  *testing.T
	hostile, heartbeat sdk.AccAddress
	code               uint64
}

func newStage(t *testing.T) *stage {
	t.Helper()
	c := appchain.NewUnder(t, inOrder, "alice", "mallory")
	s := &stage{Chain: c, t: t}
	s.code = c.StoreCode("mallory", contracts.Hostile)
	s.hostile = c.Instantiate("mallory", s.code, `{}`, 100_000_000)
	s.heartbeat = c.Instantiate("alice", c.StoreCode("alice", contracts.Heartbeat), `{"every":1}`, 100_000_000)
	return s
}

// fired is what a fire came to.
type fired struct {
	success       bool
	codespace     string
	code          uint32
	cycles, cells uint64
}

func readFired(t *testing.T, event map[string]string) fired {
	t.Helper()
	number := func(name string) uint64 {
		n, err := strconv.ParseUint(event[name], 10, 64)
		require.NoError(t, err, event)
		return n
	}
	return fired{
		success: event["success"] == "true", codespace: event["codespace"], code: uint32(number("code")),
		cycles: number("cycles"), cells: number("cells"),
	}
}

// fire schedules a timer of the hostile contract before one of the peaceful one's, and returns what came of it. The
// peaceful one fires whatever the other does.
func (s *stage) fire(handler, payload string, gasLimit uint64) fired {
	s.t.Helper()
	due := s.App.LastBlockHeight() + 2
	schedule := fmt.Sprintf(`{"schedule":{"height":%d,"handler":%q,"gas_limit":%d,"payload":%s}}`, due, handler, gasLimit, payload)
	response := s.NextBlock(
		s.Sign("mallory", s.ExecuteMsg("mallory", s.hostile, schedule)),
		s.Sign("alice", s.ExecuteMsg("alice", s.heartbeat, `{"start":{}}`)))
	for _, result := range response.TxResults {
		require.Zero(s.t, result.Code, result.Log)
	}
	events := appchain.Events(s.NextBlock(), "timers.v1.TimerFired")
	require.Len(s.t, events, 2)
	require.Equal(s.t, s.hostile.String(), events[0]["actor"])
	require.Equal(s.t, s.heartbeat.String(), events[1]["actor"])
	require.Equal(s.t, "true", events[1]["success"], events[1])
	s.stopHeartbeat()
	got := readFired(s.t, events[0])
	config, err := s.App.Timers.Config(s.Ctx())
	require.NoError(s.t, err)
	require.LessOrEqual(s.t, got.cycles, gasLimit)
	require.LessOrEqual(s.t, got.cells, config.MaxCellsPerFire)
	return got
}

// stopHeartbeat cancels the beat that the last one scheduled, so that each fire of a test stands alone.
func (s *stage) stopHeartbeat() {
	s.t.Helper()
	result := s.Execute("alice", s.heartbeat, `{"stop":{}}`)
	require.Zero(s.t, result.Code, result.Log)
}

// kept is what the hostile contract's state holds under one of the names that it tells.
func (s *stage) kept(name string) string {
	s.t.Helper()
	var text string
	s.QueryContract(s.hostile, fmt.Sprintf(`{%q:{}}`, name), &text)
	return text
}

func codeOf(err *errorsmod.Error) (string, uint32) { return err.Codespace(), err.ABCICode() }

func TestAHostileContractIsContained(t *testing.T) {
	s := newStage(t)
	const limit = 500_000
	me := s.hostile.String()
	for _, c := range []struct {
		name, handler, payload string
		want                   *errorsmod.Error
		// spent says that all cycles or all cells of the fire are gone.
		spentCycles, spentCells bool
	}{
		{"loops for ever", "loop", `{}`, types.ErrOutOfCycles, true, false},
		{"takes all memory", "hog", `{}`, wasmtypes.ErrVMError, false, false},
		{"panics", "panic", `{}`, wasmtypes.ErrVMError, false, false},
		{"recurses for ever", "recurse", `{}`, wasmtypes.ErrVMError, false, false},
		{"refuses", "refuse", `{}`, wasmtypes.ErrExecuteFailed, false, false},
		{"has no such handler", "no_such_handler", `{}`, wasmtypes.ErrExecuteFailed, false, false},
		{"floods storage with small values", "flood", `{"bytes":1}`, types.ErrOutOfCycles, true, false},
		{"floods storage with large values", "flood", `{"bytes":100000}`, types.ErrOutOfCells, false, true},
		{"calls itself ever deeper", "deep", `{"left":1000000}`, types.ErrOutOfCycles, true, false},
		{"catches its submessage's out-of-gas", "catch", `{"msg":{"loop":{}}}`, types.ErrOutOfCycles, true, false},
		{"catches its submessage's flood", "catch", `{"msg":{"flood":{"bytes":100000}}}`, types.ErrOutOfCells, false, true},
		{"loops within a query", "ask", `{"msg":{"loop":{}}}`, types.ErrOutOfCycles, true, false},
		{"schedules a thousand", "many", `{"count":1000}`, types.ErrOutOfCycles, true, false},
		{"schedules for the running block", "schedule", `{"height":1}`, types.ErrHeightNotInFuture, false, false},
		{"schedules for another", "schedule", fmt.Sprintf(`{"height":99999,"sender":%q}`, address("alice")), sdkerrors.ErrUnauthorized, false, false},
		{"cancels as another", "cancel", fmt.Sprintf(`{"sender":%q,"id":"%064d"}`, address("alice"), 1), sdkerrors.ErrUnauthorized, false, false},
		{"cancels what is not there", "cancel", fmt.Sprintf(`{"sender":%q,"id":"%064d"}`, me, 1), types.ErrTimerNotFound, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.t = t
			got := s.fire(c.handler, c.payload, limit)
			require.False(t, got.success)
			codespace, code := codeOf(c.want)
			require.Equal(t, [2]any{codespace, code}, [2]any{got.codespace, got.code}, got)
			require.Empty(t, s.kept("mark"), "a failed fire's writes are dropped")
			require.Equal(t, c.spentCycles, got.cycles == limit, got)
			require.Equal(t, c.spentCells, got.cells == types.DefaultTimerConfig("").DefaultCellLimit, got)
			require.Greater(t, got.cycles, uint64(80_000), "setting up a contract and the fire itself are charged: %v", got)
			var timers types.QueryTimersByActorResponse
			s.timersOf(s.hostile, &timers)
			require.Empty(t, timers.Timers)
		})
	}
	s.t = t
	require.True(t, s.fire("handle_timer", `null`, limit).success)
	require.Equal(t, "written", s.kept("mark"))
	s.Replay()
}

func (s *stage) timersOf(actor sdk.AccAddress, response *types.QueryTimersByActorResponse) {
	s.t.Helper()
	listed, err := timerskeeper.NewQueryServer(s.App.Timers).TimersByActor(s.Ctx(), &types.QueryTimersByActorRequest{Actor: actor.String()})
	require.NoError(s.t, err)
	*response = *listed
}

// entry is the cells of one entry of a contract's state: the store's prefix, the contract's address, key and value.
func entry(key string, value int) uint64 { return uint64(1 + 32 + len(key) + value) }

// Rule: 1.1-cell
func TestAContractsWritesAreCellsToTheByte(t *testing.T) {
	s := newStage(t)
	mark := entry("mark", len("written"))
	require.Equal(t, mark, s.fire("nothing", `{}`, 500_000).cells)
	small, large := s.fire("write", `{"bytes":100}`, 500_000), s.fire("write", `{"bytes":900}`, 500_000)
	require.True(t, small.success && large.success)
	require.Equal(t, mark+entry("blob", 100), small.cells)
	require.Equal(t, mark+entry("blob", 900), large.cells)
	require.Less(t, large.cycles-small.cycles, uint64(100), "bytes are no cycles")
}

// A submessage may have a gas limit of its own, for which wasmd gives it a plain meter.
func TestASubmessagesGasLimitHidesNothing(t *testing.T) {
	s := newStage(t)
	plain := s.fire("catch", `{"msg":{"write":{"bytes":900}}}`, 500_000)
	limited := s.fire("catch", `{"gas":200000,"msg":{"write":{"bytes":900}}}`, 500_000)
	require.True(t, plain.success && limited.success)
	require.Equal(t, "ok", s.kept("reply"))
	want := 2*entry("mark", len("written")) + entry("blob", 900) + entry("reply", len("ok"))
	require.Equal(t, want, plain.cells)
	require.Equal(t, want, limited.cells, "bytes are cells within a limit too")
	require.InDelta(t, float64(plain.cycles), float64(limited.cycles), 200, "and no cycles")

	// Limits within limits.
	nested := s.fire("catch", `{"gas":300000,"msg":{"catch":{"gas":150000,"msg":{"write":{"bytes":900}}}}}`, 500_000)
	require.True(t, nested.success)
	require.Equal(t, want+entry("mark", len("written"))+entry("reply", len("ok")), nested.cells)

	// Within a limit, bytes count against it as the store prices them: what runs out of it is caught, and charged whole.
	caught := s.fire("catch", `{"gas":100000,"msg":{"loop":{}}}`, 500_000)
	require.True(t, caught.success)
	require.Equal(t, "codespace: sdk, code: 11", s.kept("reply"))
	require.Greater(t, caught.cycles, uint64(100_000+80_000))
	caught = s.fire("catch", `{"gas":100000,"msg":{"write":{"bytes":5000}}}`, 500_000)
	require.True(t, caught.success)
	require.Equal(t, "codespace: sdk, code: 11", s.kept("reply"))
	require.Equal(t, entry("mark", len("written"))+entry("reply", len(s.kept("reply"))), caught.cells)

	// A fire that is out of cells fails, whatever its contract catches.
	s.setConfig(func(config *types.TimerConfig) { config.MaxCellsPerFire = 2_000 })
	over := s.fire("catch", `{"gas":200000,"msg":{"write":{"bytes":3000}}}`, 500_000)
	require.False(t, over.success)
	codespace, code := codeOf(types.ErrOutOfCells)
	require.Equal(t, [2]any{codespace, code}, [2]any{over.codespace, over.code})
	require.Equal(t, uint64(2_000), over.cells)
}

// setConfig changes the config as governance would.
func (s *stage) setConfig(change func(*types.TimerConfig)) {
	s.t.Helper()
	ctx := s.Ctx()
	config, err := s.App.Timers.Config(ctx)
	require.NoError(s.t, err)
	change(&config)
	msg, err := s.App.Timers.ReplaceConfig(ctx, config)
	require.NoError(s.t, err)
	_, err = timerskeeper.NewMsgServer(s.App.Timers).UpdateTimerConfig(ctx, msg)
	require.NoError(s.t, err)
	s.NextBlock()
}

func TestAQueryCannotWrite(t *testing.T) {
	s := newStage(t)
	got := s.fire("ask", `{"msg":{"write":{}}}`, 500_000)
	require.True(t, got.success, "the contract is told, and goes on")
	require.Equal(t, "written", s.kept("mark"), "by itself, not by its query")
}

func TestPinningMakesAFireCheaper(t *testing.T) {
	s := newStage(t)
	before := s.fire("nothing", `{}`, 500_000)
	ctx := s.Ctx()
	require.NoError(t, wasmkeeper.NewDefaultPermissionKeeper(s.App.Wasm).PinCode(ctx, s.code))
	pinned := s.fire("nothing", `{}`, 500_000)
	require.InDelta(t, 58_000, before.cycles-pinned.cycles, 1, "but for rounding")
	deep := s.fire("deep", `{"left":1000000}`, 550_000)
	require.False(t, deep.success)
	require.Equal(t, uint64(550_000), deep.cycles, "a cheap call is no way around the limit")
	require.NoError(t, wasmkeeper.NewDefaultPermissionKeeper(s.App.Wasm).UnpinCode(s.Ctx(), s.code))
	require.InDelta(t, before.cycles, s.fire("nothing", `{}`, 500_000).cycles, 1)
}

// inOrder puts policy fifo in force: what contracts are charged is then what the chain's own prices make of it, and a fire
// may use twice the gas.
func inOrder(c *types.TimerConfig) { c.Policy = types.PolicyFIFO }
