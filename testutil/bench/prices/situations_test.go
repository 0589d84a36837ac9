package prices

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	wasmkeeper "github.com/CosmWasm/wasmd/x/wasm/keeper"
	wasmvmtypes "github.com/CosmWasm/wasmvm/v3/types"
	"github.com/stretchr/testify/require"

	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/testutil/bench/realapp"
	"github.com/cosmos-timers/timers/wasmbinding"
	"github.com/cosmos-timers/timers/x/timers/testutil/storecount"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// The price audit in situations: each entrance by which somebody has the module work is counted where it is accepted, where
// its last check refuses it, on a branch that is dropped, amid 20,000 pending timers and in a storm. Work is counted in store
// operations, as for the most expensive block, and compared with what it is charged. The precompile's functions, agents,
// guards, runtimes and settlement are audited where they are (evmapp's TestPrices_InEachSituation, the keeper's and actors'
// TestCharges_…).

// situationLimit is how many times as many store operations for its gas an entrance may do as a bank send.
const situationLimit = 3

// writeWeight is how many reads a write counts for, as in bench/worst.
const writeWeight = 8

// entrance is a message, or a query that a contract may make.
type entrance struct {
	accepted func(*situated) any
	// refused is one that the last check refuses; nil if there is no such, and why says so.
	refused func(*situated) any
	why     string
}

// situated is a chain in a situation, with timers of the account that asks.
type situated struct {
	*crowded
	chain *realapp.Chain
	// beat repeats, held is paused.
	beat, held string
}

// asker owns one timer of the crowd and those above; first, the first account, has as many as it may have.
func asker() string { return realapp.KeyedAccount(1).Address.String() }

func first() string { return realapp.KeyedAccount(0).Address.String() }

// far is the timer of the crowd that the asker owns.
func (s *situated) far() string { return s.ids[1][0] }

// stranger is the id of somebody else's timer.
func (s *situated) stranger() string { return s.ids[2][0] }

func ofSend(sender string) *types.MsgScheduleTimer {
	i := 1
	if sender == first() {
		i = 0
	}
	payload, err := oneSend(i)
	if err != nil {
		panic(err)
	}
	return &types.MsgScheduleTimer{Sender: sender, Spec: types.TimerSpec{Trigger: types.Trigger{Height: far}, Call: types.TimerCall{Payload: payload}}}
}

// dearCall is one whose messages take more to decode than the least gas limit.
func dearCall() *types.TimerCall {
	payload, err := hollow(1, 1_000)
	if err != nil {
		panic(err)
	}
	return &types.TimerCall{Payload: payload}
}

// messageEntrances are all messages but the authority's, by the name of the message server's method.
func messageEntrances() map[string]entrance {
	return map[string]entrance{
		"ScheduleTimer": {
			accepted: func(*situated) any { return ofSend(asker()) },
			refused:  func(*situated) any { return ofSend(first()) }, // It has as many as it may have, which is checked last.
		},
		"UpdateTimer": {
			accepted: func(s *situated) any {
				return &types.MsgUpdateTimer{Sender: asker(), Id: s.far(), Spec: types.TimerSpec{Call: *dearCall(), GasLimit: 200_000}, Fields: []string{"call", "gas_limit"}}
			},
			refused: func(s *situated) any {
				return &types.MsgUpdateTimer{Sender: asker(), Id: s.far(), Spec: types.TimerSpec{Call: *dearCall(), GasLimit: 21_500}, Fields: []string{"call", "gas_limit"}}
			},
		},
		"ExtendTimer": {
			accepted: func(s *situated) any { return &types.MsgExtendTimer{Sender: asker(), Id: s.far(), ExpiresAt: 2 * far} },
			refused:  func(s *situated) any { return &types.MsgExtendTimer{Sender: asker(), Id: s.far(), ExpiresAt: 1} },
		},
		"PauseTimer": {
			accepted: func(s *situated) any { return &types.MsgPauseTimer{Sender: asker(), Id: s.far()} },
			// What is on hold is paused too, and one that an error of the module has quarantined can't be made by messages.
			refused: func(*situated) any {
				return &types.MsgPauseTimer{Sender: asker(), Id: strings.Repeat("0", 2*types.IDBytes)}
			},
		},
		"ResumeTimer": {
			accepted: func(s *situated) any { return &types.MsgResumeTimer{Sender: asker(), Id: s.held} },
			refused:  func(s *situated) any { return &types.MsgResumeTimer{Sender: asker(), Id: s.beat} },
		},
		"SkipTimer": {
			accepted: func(s *situated) any { return &types.MsgSkipTimer{Sender: asker(), Id: s.beat, Count: 1} },
			refused: func(s *situated) any {
				return &types.MsgSkipTimer{Sender: asker(), Id: s.beat, Count: types.MaxSkipped}
			},
		},
		"RunTimer": {
			accepted: func(s *situated) any { return &types.MsgRunTimer{Sender: asker(), Id: s.beat} },
			refused:  func(s *situated) any { return &types.MsgRunTimer{Sender: asker(), Id: s.held} },
		},
		"CancelTimer": {
			accepted: func(s *situated) any { return &types.MsgCancelTimer{Sender: asker(), Id: s.far()} },
			refused:  func(s *situated) any { return &types.MsgCancelTimer{Sender: asker(), Id: s.stranger()} },
		},
		"SetAgent": {
			accepted: func(*situated) any { return &types.MsgSetAgent{Sender: asker()} },
			refused:  func(*situated) any { return &types.MsgSetAgent{Sender: asker(), Agent: first()} }, // An account answers nothing.
		},
	}
}

// queryEntrances are all queries that contracts may make, by their names in JSON.
func queryEntrances() map[string]entrance {
	ask := func(format string, args ...any) string { return fmt.Sprintf(format, args...) }
	return map[string]entrance{
		"params": {
			accepted: func(*situated) any { return `{}` },
			refused:  func(*situated) any { return `{"fields":["lane_timer_cycles","no_such"]}` },
		},
		"timer": {
			accepted: func(s *situated) any { return ask(`{"actor":%q,"id":%q,"verdict":true}`, asker(), s.far()) },
			refused:  func(s *situated) any { return ask(`{"actor":%q,"id":%q}`, asker(), s.stranger()) },
		},
		"timers_by_actor": {
			accepted: func(*situated) any { return ask(`{"actor":%q,"verdict":true}`, asker()) },
			refused:  func(*situated) any { return ask(`{"actor":%q,"pagination":{"key":"AAAA"}}`, first()) },
		},
		"deliveries": {
			accepted: func(*situated) any { return ask(`{"actor":%q}`, asker()) },
			refused:  func(*situated) any { return ask(`{"actor":%q,"pagination":{"key":"AAAA"}}`, asker()) },
		},
		"agent": {
			accepted: func(*situated) any { return ask(`{"actor":%q}`, asker()) },
			refused:  func(*situated) any { return `{"actor":"nobody"}` },
		},
		"lane": {
			accepted: func(*situated) any { return `{}` },
			why:      "it states nothing that a check could refuse",
		},
		"estimate": {
			accepted: func(*situated) any { return `{"gas_limit":"60000"}` },
			refused:  func(*situated) any { return `{"gas_limit":"60000","actor":"nobody"}` },
		},
		"occurrences": {
			accepted: func(s *situated) any { return ask(`{"actor":%q,"id":%q,"limit":100}`, asker(), s.beat) },
			refused:  func(s *situated) any { return ask(`{"actor":%q,"id":%q,"limit":100}`, asker(), s.stranger()) },
		},
	}
}

// situate starts a chain of a crowd, on which the first account has as many timers as it may have.
func situate(t *testing.T, c *crowded) *situated {
	t.Helper()
	s := &situated{crowded: c}
	options, setUp, timers := c.options, c.options.SetUp, c.options.Timers
	options.Timers = func(genesis *types.GenesisState) {
		genesis.Config.MaxTimersPerActor = manyMessages
		if timers != nil {
			timers(genesis)
		}
	}
	options.SetUp = func(chain *realapp.Chain, ctx sdk.Context) error {
		for _, trigger := range []types.Trigger{{Interval: &types.IntervalTrigger{Every: 50, First: far}}, {Height: far}} {
			msg, response := ofSend(asker()), types.MsgScheduleTimerResponse{}
			msg.Spec.Trigger, msg.Spec.ExpiresAt = trigger, 2*far
			if err := chain.Run(ctx, msg, &response); err != nil {
				return err
			}
			s.beat, s.held = s.held, response.Id
		}
		pause := &types.MsgPauseTimer{Sender: asker(), Id: s.held}
		if err := chain.Run(ctx, pause, &types.MsgPauseTimerResponse{}); err != nil {
			return err
		}
		return setUp(chain, ctx)
	}
	chain, err := realapp.New(options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, chain.Close()) })
	s.chain = chain
	return s
}

// spending is what was done and charged.
type spending struct {
	gas    uint64
	weight float64
	err    error
}

// rate is how many store operations a thousand gas pays for.
func (s spending) rate() float64 { return 1_000 * s.weight / float64(s.gas) }

// count runs a function in the measured block, on a branch, and counts.
func (s *situated) count(t *testing.T, before, fn func(sdk.Context) error) spending {
	t.Helper()
	ctx, err := s.chain.Block()
	require.NoError(t, err)
	if before != nil {
		require.NoError(t, before(ctx))
	}
	multi, counts := storecount.WrapMulti(ctx.MultiStore(), nil)
	meter := storetypes.NewGasMeter(realapp.TxGas)
	err = fn(ctx.WithMultiStore(multi).WithGasMeter(meter))
	did := counts.All()
	return spending{meter.GasConsumed(), float64(did.Reads() + writeWeight*did.Writes()), err}
}

// run is a message through the router, as in a transaction behind its ante handler.
func (s *situated) run(msg any) func(sdk.Context) error {
	return func(ctx sdk.Context) error {
		m := msg.(sdk.Msg)
		_, err := s.chain.App.MsgServiceRouter().Handler(m)(ctx, m)
		return err
	}
}

// ask is a query of a contract in JSON.
func (s *situated) ask(name string, body any) func(sdk.Context) error {
	query := wasmbinding.Queries(s.chain.App.AppCodec(), s.chain.App.GRPCQueryRouter())
	return func(ctx sdk.Context) error {
		_, err := query(ctx, json.RawMessage(fmt.Sprintf(`{"timers":{%q:%s}}`, name, body)))
		return err
	}
}

// submessages are messages of a contract in JSON, the asker, that x/wasm's own dispatcher runs, each on a branch, with a gas
// limit of its own if limited. Nothing replies, so that the first that is refused ends them.
func (s *situated) submessages(t *testing.T, limited bool, msgs ...any) func(sdk.Context) error {
	t.Helper()
	cdc := s.chain.App.AppCodec()
	handler := wasmbinding.ChargeMessages(wasmkeeper.NewSDKMessageHandler(
		cdc, s.chain.App.MsgServiceRouter(), wasmkeeper.MessageEncoders{Custom: wasmbinding.Messages(cdc)}))
	var all []wasmvmtypes.SubMsg
	for _, msg := range msgs {
		m := msg.(sdk.Msg)
		contract := sdk.MustAccAddressFromBech32(reflect.ValueOf(msg).Elem().FieldByName("Sender").String())
		require.Equal(t, asker(), contract.String())
		body, err := cdc.MarshalJSON(m)
		require.NoError(t, err)
		var fields map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(body, &fields))
		delete(fields, "sender")
		text, err := json.Marshal(map[string]any{"timers": map[string]any{jsonName(m): fields}})
		require.NoError(t, err)
		sub := wasmvmtypes.SubMsg{Msg: wasmvmtypes.CosmosMsg{Custom: text}, ReplyOn: wasmvmtypes.ReplyNever}
		if limited {
			limit := uint64(10_000_000)
			sub.GasLimit = &limit
		}
		all = append(all, sub)
	}
	return func(ctx sdk.Context) error {
		_, err := wasmkeeper.NewMessageDispatcher(handler, nil).DispatchSubmessages(ctx, realapp.KeyedAccount(1).Address, "", all)
		return err
	}
}

var upper = regexp.MustCompile(`[A-Z]`)

// jsonName is the name of a message in a contract's JSON: that of MsgSetAgent is set_agent, that of MsgScheduleTimer schedule.
func jsonName(msg sdk.Msg) string {
	name := strings.TrimSuffix(strings.TrimPrefix(reflect.TypeOf(msg).Elem().Name(), "Msg"), "Timer")
	return strings.TrimPrefix(upper.ReplaceAllStringFunc(name, func(c string) string { return "_" + strings.ToLower(c) }), "_")
}

// TestSituations_CoverEachEntrance: the tables name each message that is not the authority's, and each message and query that a
// contract may state.
func TestSituations_CoverEachEntrance(t *testing.T) {
	messages, queries := messageEntrances(), queryEntrances()
	server := reflect.TypeFor[types.MsgServer]()
	names := map[string]bool{}
	for i := range server.NumMethod() {
		msg := server.Method(i).Type.In(1)
		if _, governs := msg.Elem().FieldByName("Authority"); governs {
			continue
		}
		require.Contains(t, messages, server.Method(i).Name)
		names[jsonName(reflect.New(msg.Elem()).Interface().(sdk.Msg))] = true
	}
	require.Len(t, messages, len(names))
	accepted := wasmbinding.AcceptedQueries()
	require.Len(t, queries, len(accepted))
	stated := func(err error) []string {
		_, list, found := strings.Cut(err.Error(), "timers: want ")
		require.True(t, found, err)
		list, _, _ = strings.Cut(list, ", not ")
		return strings.FieldsFunc(strings.ReplaceAll(list, " or ", ", "), func(r rune) bool { return r == ' ' || r == ',' })
	}
	chain, err := realapp.New(usual(nil))
	require.NoError(t, err)
	defer func() { require.NoError(t, chain.Close()) }()
	_, err = wasmbinding.Messages(chain.App.AppCodec())(nil, []byte(`{"timers":{"none":{}}}`))
	require.ElementsMatch(t, slices.Collect(maps.Keys(names)), stated(err))
	_, err = wasmbinding.Queries(chain.App.AppCodec(), chain.App.GRPCQueryRouter())(chain.At(realapp.Height), []byte(`{"timers":{"none":{}}}`))
	require.ElementsMatch(t, slices.Collect(maps.Keys(queries)), stated(err))
}

// TestSituations_NothingIsFree: in no situation does an entrance do more than three times as many store operations for its gas as
// a bank send does. On a branch that is dropped it is charged to the unit what it is charged where it is kept, and the same again
// when it is asked again: nothing is remembered of a dropped branch. A contract's messages in JSON are charged what the same
// messages are, and for their text; of a list whose last one is refused all are charged, within a gas limit of their own or not.
//
// None of them fails at a commit: the SDK writes the branch of a transaction, and x/wasm that of a submessage, without an error.
func TestSituations_NothingIsFree(t *testing.T) {
	for _, c := range []*crowded{amid(0), amidPending(), amidReady()} {
		name := strings.TrimPrefix(c.name, ", ")
		t.Run(name, func(t *testing.T) {
			s := situate(t, c)
			send := s.count(t, nil, s.run(sendOf(firstPlain)))
			require.NoError(t, send.err)
			hold := func(entrance string, did spending) {
				ratio := did.rate() / send.rate()
				t.Logf("%-34s %9d gas, %6.0f operations, ratio %.2f", entrance, did.gas, did.weight, ratio)
				require.LessOrEqual(t, ratio, float64(situationLimit), "%s, %s", entrance, name)
			}
			dropped := func(fn func(sdk.Context) error) func(sdk.Context) error {
				return func(ctx sdk.Context) error {
					branch, _ := ctx.CacheContext()
					return fn(branch)
				}
			}
			audit := func(entrance string, e entrance, do func(any) func(sdk.Context) error) (accepted, refused spending) {
				accepted = s.count(t, nil, do(e.accepted(s)))
				require.NoError(t, accepted.err, entrance)
				hold(entrance, accepted)
				drop := s.count(t, nil, dropped(do(e.accepted(s))))
				require.Equal(t, accepted, drop, "%s, on a branch that is dropped", entrance)
				again := s.count(t, dropped(do(e.accepted(s))), do(e.accepted(s)))
				require.Equal(t, accepted, again, "%s, after a branch that was dropped", entrance)
				if e.refused == nil {
					require.NotEmpty(t, e.why, entrance)
					return accepted, refused
				}
				refused = s.count(t, nil, do(e.refused(s)))
				require.Error(t, refused.err, entrance)
				hold(entrance+", refused", refused)
				return accepted, refused
			}
			for _, entrance := range slices.Sorted(maps.Keys(messageEntrances())) {
				e := messageEntrances()[entrance]
				accepted, refused := audit(entrance, e, s.run)
				for _, limited := range []bool{false, true} {
					one := s.count(t, nil, s.submessages(t, limited, e.accepted(s)))
					require.NoError(t, one.err, entrance)
					require.Greater(t, one.gas, accepted.gas, "%s as JSON", entrance)
					hold(entrance+" as JSON", one)
					last := e.refused(s)
					if entrance == "ScheduleTimer" { // The refused one is another account's.
						msg := ofSend(asker())
						msg.Spec.Call.Payload, msg.Spec.GasLimit = dearCall().Payload, 21_500
						last, refused = msg, s.count(t, nil, s.run(msg))
					}
					list := s.count(t, nil, s.submessages(t, limited, ofSend(asker()), last))
					require.Error(t, list.err, entrance)
					alone := s.count(t, nil, s.submessages(t, limited, ofSend(asker())))
					require.Greater(t, list.gas, alone.gas+refused.gas*9/10, "%s, the last of a list", entrance)
					hold(entrance+", the last as JSON", list)
				}
			}
			for _, entrance := range slices.Sorted(maps.Keys(queryEntrances())) {
				audit("query "+entrance, queryEntrances()[entrance], func(body any) func(sdk.Context) error { return s.ask(entrance, body) })
			}
		})
	}
}
