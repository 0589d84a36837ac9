package app_test

import (
	"context"
	"encoding/json"
	"flag"
	"math/rand"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/cosmos/gogoproto/proto"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	storetypes "cosmossdk.io/store/types"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"
	txtypes "github.com/cosmos/cosmos-sdk/types/tx"
	"github.com/cosmos/cosmos-sdk/x/authz"
	govv1 "github.com/cosmos/cosmos-sdk/x/gov/types/v1"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/appchain"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// wire takes bytes as the application does from outside: each message of the module in a transaction, within authz, within a
// proposal and as its handler gets it, and each query.
type wire struct {
	*appchain.Chain
	messages, queries []string
	// timer is the id of one of alice's.
	timer string
	// signed is a transaction of alice's, of which the messages are replaced.
	signed []byte
	// taken counts the messages that their handlers took.
	taken int
}

// The ways that a message comes.
const (
	inTransaction = iota
	withinAuthz
	withinProposal
	ofItsSigner
	ways
)

func newWire(tb testing.TB) *wire {
	tb.Helper()
	w := &wire{Chain: appchain.New(tb, "alice", "bob")}
	var booked types.MsgScheduleTimerResponse
	w.Response(w.Deliver("alice", w.schedule(tb)).TxResults[0], &booked)
	w.timer, w.signed = booked.Id, w.Sign("alice", send("alice", "bob", 1))
	for _, url := range w.App.InterfaceRegistry().ListImplementations(sdk.MsgInterfaceProtoName) {
		if strings.HasPrefix(url, "/timers.v1.") {
			w.messages = append(w.messages, url)
		}
	}
	slices.Sort(w.messages)
	for _, method := range types.Query_serviceDesc.Methods {
		w.queries = append(w.queries, "/timers.v1.Query/"+method.MethodName)
	}
	require.Greater(tb, len(w.messages), 9)
	require.Greater(tb, len(w.queries), 9)
	return w
}

// schedule is a message with most of its fields.
func (w *wire) schedule(tb testing.TB) *types.MsgScheduleTimer {
	tb.Helper()
	message, err := codectypes.NewAnyWithValue(send("alice", "bob", 1))
	require.NoError(tb, err)
	msg := watch(tb, w.Chain, "alice", 3, "bank:balance:"+address("bob")+":"+app.FeeDenom)
	msg.Spec.Call.Payload, msg.Spec.Call.Messages = nil, []*codectypes.Any{message}
	msg.Spec.Name, msg.Spec.MaxCharge, msg.Spec.OnUnfunded = "a watch", "9000", types.OnUnfundedSuspend
	msg.Spec.Trigger.Watch.Cooldown = 2
	return msg
}

// FuzzWire: whatever the bytes, nothing panics, no invariant breaks in the blocks that follow, what is exported then is
// valid, the same bytes do the same twice, and memory stays within a bound.
func FuzzWire(f *testing.F) {
	w := newWire(f)
	for route, seed := range w.seeds(f) {
		f.Add(uint16(route), seed)
	}
	f.Fuzz(func(t *testing.T, route uint16, raw []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		w.try(t, int(route), raw)
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(256<<20), "bytes allocated")
	})
}

func (w *wire) try(t *testing.T, route int, raw []byte) {
	t.Helper()
	route %= ways*len(w.messages) + len(w.queries)
	if route >= ways*len(w.messages) {
		w.query(t, w.queries[route-ways*len(w.messages)], raw)
		return
	}
	url := w.messages[route/ways]
	switch route % ways {
	case inTransaction:
		w.transaction(t, &codectypes.Any{TypeUrl: url, Value: raw})
	case withinAuthz:
		nested, err := (&authz.MsgExec{Grantee: address("alice"), Msgs: []*codectypes.Any{{TypeUrl: url, Value: raw}}}).Marshal()
		require.NoError(t, err)
		w.transaction(t, &codectypes.Any{TypeUrl: sdk.MsgTypeURL(&authz.MsgExec{}), Value: nested})
	case withinProposal:
		w.transaction(t, proposal(t, &codectypes.Any{TypeUrl: url, Value: raw}))
	case ofItsSigner:
		first, second := w.handle(t, url, raw), w.handle(t, url, raw)
		require.Equal(t, first, second)
	}
}

// proposal is alice's of one message.
func proposal(t *testing.T, message *codectypes.Any) *codectypes.Any {
	t.Helper()
	raw, err := (&govv1.MsgSubmitProposal{
		Messages: []*codectypes.Any{message}, Proposer: address("alice"), Title: "t", Summary: "s",
		InitialDeposit: sdk.NewCoins(sdk.NewInt64Coin(app.FeeDenom, 10_000_000)),
	}).Marshal()
	require.NoError(t, err)
	return &codectypes.Any{TypeUrl: sdk.MsgTypeURL(&govv1.MsgSubmitProposal{}), Value: raw}
}

// transaction checks and simulates one.
func (w *wire) transaction(t *testing.T, message *codectypes.Any) {
	t.Helper()
	bz := w.raw(t, message)
	checked, err := w.App.CheckTx(&abci.RequestCheckTx{Tx: bz, Type: abci.CheckTxType_New})
	if err == nil {
		require.NotContains(t, checked.Log, "panic")
	}
	if _, _, err := w.App.Simulate(bz); err != nil {
		require.NotContains(t, err.Error(), "panic")
	}
}

// raw is a transaction of alice, whose messages need not be of any form.
func (w *wire) raw(t *testing.T, message *codectypes.Any) []byte {
	t.Helper()
	var tx txtypes.TxRaw
	require.NoError(t, tx.Unmarshal(w.signed))
	var body txtypes.TxBody
	require.NoError(t, body.Unmarshal(tx.BodyBytes))
	body.Messages = []*codectypes.Any{message}
	var err error
	tx.BodyBytes, err = body.Marshal()
	require.NoError(t, err)
	bz, err := tx.Marshal()
	require.NoError(t, err)
	return bz
}

// handle gives a message to its handler as that of an account or of the authority, runs some ends of blocks, and returns
// what is then exported. All of it is dropped.
func (w *wire) handle(t *testing.T, url string, raw []byte) string {
	t.Helper()
	msg := empty(t, url)
	if proto.Unmarshal(raw, msg) != nil || codectypes.UnpackInterfaces(msg, w.App.InterfaceRegistry()) != nil {
		return ""
	}
	fill(msg, w.signers())
	height := w.App.LastBlockHeight() + 1
	ctx, _ := w.Ctx().WithBlockHeight(height).CacheContext()
	if !w.accepted(ctx, msg) {
		return ""
	}
	w.taken++
	for range 4 {
		require.NoError(t, w.App.Timers.BeginBlock(ctx))
		require.NoError(t, w.App.Timers.EndBlock(ctx))
		require.NoError(t, w.App.Timers.CheckInvariants(ctx))
		ctx = ctx.WithBlockHeight(ctx.BlockHeight() + 1)
	}
	genesis, err := w.App.Timers.ExportGenesis(ctx)
	require.NoError(t, err)
	require.NoError(t, w.App.Timers.ValidateGenesis(genesis))
	bz, err := w.App.AppCodec().MarshalJSON(genesis)
	require.NoError(t, err)
	events, err := json.Marshal(ctx.EventManager().ABCIEvents())
	require.NoError(t, err)
	return string(bz) + string(events)
}

// accepted reports whether the handler took the message, within the gas of a block. Out of gas it panics, as handlers do.
func (w *wire) accepted(ctx sdk.Context, msg sdk.Msg) (accepted bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, is := r.(storetypes.ErrorOutOfGas); !is {
				panic(r)
			}
		}
	}()
	branch, write := ctx.CacheContext()
	_, err := w.App.MsgServiceRouter().Handler(msg)(branch.WithGasMeter(storetypes.NewGasMeter(30_000_000)), msg)
	if err == nil {
		write()
	}
	return err == nil
}

// empty is a message of a type, without values.
func empty(tb testing.TB, url string) sdk.Msg {
	tb.Helper()
	kind := proto.MessageType(strings.TrimPrefix(url, "/"))
	require.NotNil(tb, kind, url)
	msg, is := reflect.New(kind.Elem()).Interface().(sdk.Msg)
	require.True(tb, is, url)
	return msg
}

// fill sets the text fields of a message that have these names.
func fill(msg sdk.Msg, texts map[string]string) {
	for name, text := range texts {
		if field := reflect.ValueOf(msg).Elem().FieldByName(name); field.IsValid() && field.Kind() == reflect.String {
			field.SetString(text)
		}
	}
}

func (w *wire) query(t *testing.T, path string, raw []byte) {
	t.Helper()
	response, err := w.App.Query(context.Background(), &abci.RequestQuery{Path: path, Data: raw})
	require.NoError(t, err)
	require.NotContains(t, response.Log, "panic", path)
	require.Less(t, len(response.Value), 4<<20, "bytes of the answer")
}

// seeds are valid messages and requests, by route.
func (w *wire) seeds(tb testing.TB) map[int][]byte {
	tb.Helper()
	seeds := map[int][]byte{}
	for i, url := range w.messages {
		msg := empty(tb, url)
		switch whole := msg.(type) {
		case *types.MsgScheduleTimer:
			*whole = *w.schedule(tb)
			whole.Spec.Name = "another watch"
		case *types.MsgUpdateTimerConfig:
			change, err := w.App.Timers.ReplaceConfig(w.Ctx(), types.DefaultTimerConfig(app.FeeDenom))
			require.NoError(tb, err)
			whole.Config, whole.Expected = change.Config, change.Expected
		case *types.MsgUpdateTimer:
			whole.Spec.GasLimit, whole.Fields = 90_000, []string{"gas_limit"}
		case *types.MsgExtendTimer:
			whole.ExpiresAt = 5_000
		case *types.MsgSysExtendTimer:
			whole.ExpiresAt = 6_000
		}
		fill(msg, w.signers())
		fill(msg, map[string]string{"Id": w.timer, "Actor": address("alice")})
		bz, err := proto.Marshal(msg)
		require.NoError(tb, err)
		for way := range ways {
			seeds[ways*i+way] = bz
		}
	}
	for i := range w.queries {
		// Most requests begin with an actor.
		seeds[ways*len(w.messages)+i] = protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), address("alice"))
	}
	return seeds
}

// signers are the fields of messages that name who sends them.
func (w *wire) signers() map[string]string {
	return map[string]string{"Sender": address("alice"), "Authority": w.App.Timers.Authority(w.Ctx())}
}

// TestWireReachesTheHandlers: most of the fuzz target's first inputs are taken, so that what grows from them goes deep.
func TestWireReachesTheHandlers(t *testing.T) {
	w := newWire(t)
	seeds, taken := w.seeds(t), []string{}
	for i, url := range w.messages {
		if w.handle(t, url, seeds[ways*i]) != "" {
			taken = append(taken, strings.TrimPrefix(url, "/timers.v1.Msg"))
		}
	}
	require.Subset(t, taken, []string{
		"ScheduleTimer", "UpdateTimer", "ExtendTimer", "PauseTimer", "CancelTimer", "SetAgent",
		"SysCancelTimer", "SysExtendTimer", "UpdateTimerConfig",
	})
	config := slices.Index(w.messages, sdk.MsgTypeURL(&types.MsgUpdateTimerConfig{}))
	_, _, err := w.App.Simulate(w.raw(t, proposal(t, &codectypes.Any{TypeUrl: w.messages[config], Value: seeds[ways*config]})))
	require.NoError(t, err)
}

var wireRounds = flag.Int("wire.rounds", 3, "how often TestWireTakesWhatIsMangled takes each input")

// TestWireTakesWhatIsMangled is the fuzz target for a short time, without its instruments: after a round of the inputs as
// they are, their bytes are changed, removed, doubled and exchanged with those of others.
func TestWireTakesWhatIsMangled(t *testing.T) {
	w, random := newWire(t), rand.New(rand.NewSource(1))
	seeds := w.seeds(t)
	for round := range *wireRounds {
		for route := range len(seeds) {
			raw := slices.Clone(seeds[route])
			for range min(round, 1+random.Intn(4)) {
				raw = mangled(random, raw, seeds[random.Intn(len(seeds))])
			}
			w.try(t, route, raw)
			if t.Failed() {
				t.Fatalf("route %d, %x", route, raw)
			}
		}
	}
	require.Positive(t, w.taken)
	t.Logf("%d inputs, of which handlers took %d", *wireRounds*len(seeds), w.taken/2)
}

func mangled(random *rand.Rand, raw, other []byte) []byte {
	if len(raw) == 0 {
		return other
	}
	at, kind := random.Intn(len(raw)), random.Intn(5)
	end := min(len(raw), at+1+random.Intn(8))
	switch kind {
	case 0:
		raw[at] ^= 1 << random.Intn(8)
		return raw
	case 1:
		raw[at] = []byte{0, 1, 0x7f, 0x80, 0xff}[random.Intn(5)]
		return raw
	case 2:
		return slices.Delete(raw, at, end)
	case 3:
		return slices.Insert(raw, at, slices.Clone(raw[at:end])...)
	default:
		from := random.Intn(len(other) + 1)
		return slices.Insert(raw, at, other[from:]...)
	}
}
