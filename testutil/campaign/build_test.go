package campaign

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"strconv"
	"strings"
	"time"

	wasmdata "github.com/CosmWasm/wasmd/x/wasm/keeper/testdata"
	wasmtypes "github.com/CosmWasm/wasmd/x/wasm/types"
	wasmvmtypes "github.com/CosmWasm/wasmvm/v3/types"
	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/cosmos/gogoproto/proto"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/x/feegrant"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	simtestutil "github.com/cosmos/cosmos-sdk/testutil/sims"
	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
	govv1 "github.com/cosmos/cosmos-sdk/x/gov/types/v1"
	stakingtypes "github.com/cosmos/cosmos-sdk/x/staking/types"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/appchain"
	"github.com/cosmos-timers/timers/testutil/ledger"
	timerskeeper "github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// apply does an op: most put a transaction into the block that is being made.
func (w *world) apply(o op) error {
	d := o.draws()
	w.done[o.kind]++
	switch o.kind {
	case "block":
		return w.endBlock(d)
	case "restart", "export":
		if err := w.endBlock(d); err != nil {
			return err
		}
		if o.kind == "export" {
			return w.export(d)
		}
		w.restart(d)
	case "fault":
		w.fault(d)
	case "sabotage":
		w.env.balances = "mints"
	case "query":
		return w.query(d)
	case "schedule", "schedule module", "schedule by contract", "schedule as admin", "schedule by reflect":
		w.schedule(o, d)
	case "schedule remotely", "remote", "transfer", "handshake":
		w.remotely(o, d)
	case "relay":
		w.relay(o, d)
	case "config", "sys cancel", "sys extend", "sys release":
		w.asAuthority(o, w.govern(o, d))
	case "propose":
		return w.propose(o, d)
	case "update", "extend", "pause", "resume", "skip", "run", "cancel":
		w.change(o, d)
	default:
		w.other(o, d)
	}
	return nil
}

// call has something done at the beginning of the block.
func (w *world) call(o op, i inner) {
	w.block.first, w.block.firstOf = append(w.block.first, &i), append(w.block.firstOf, o.number)
}

func (w *world) asAuthority(o op, msg sdk.Msg) { w.call(o, inner{msg: msg}) }

// sign puts a transaction into the block.
func (w *world) sign(o op, by appchain.Account, msgs ...sdk.Msg) {
	w.block.txs, w.block.numbers = append(w.block.txs, w.signed(by, msgs...)), append(w.block.numbers, o.number)
}

func (w *world) signed(by appchain.Account, msgs ...sdk.Msg) []byte {
	known := w.app().Accounts.GetAccount(w.ctx(), by.Address)
	if w.block.sequences == nil {
		w.block.sequences = map[string]uint64{}
	}
	name := string(by.Address)
	sequence := known.GetSequence() + w.block.sequences[name]
	w.block.sequences[name]++
	config := w.app().TxConfig()
	tx, err := simtestutil.GenSignedMockTx(rand.New(rand.NewSource(1)), config, msgs, nil, appchain.TxGas, appchain.ChainID,
		[]uint64{known.GetAccountNumber()}, []uint64{sequence}, by.Key)
	require.NoError(w.tb, err)
	bz, err := config.TxEncoder()(tx)
	require.NoError(w.tb, err)
	return bz
}

// fault changes how a neighbour behaves.
func (w *world) fault(d draws) {
	switch neighbour := pick(d, "market", "balances", "tips", "feegrant"); neighbour {
	case "market":
		w.env.market = pick(d, faults[neighbour]...)
	case "balances":
		w.env.balances = pick(d, faults[neighbour]...)
		w.env.victim = pick(d, rich.Address, richer.Address, poor.Address, w.hostile, moduleAddress(modules[0]))
	case "tips":
		w.env.tips = pick(d, faults[neighbour]...)
	case "feegrant":
		w.env.feegrant = pick(d, faults[neighbour]...)
	}
}

// query asks the first application alone what its next block will do: that must leave no trace.
func (w *world) query(d draws) error {
	if w.height() == 0 {
		return nil
	}
	ctx, server := w.ctx(), timerskeeper.NewQueryServer(w.app().Timers)
	var err error
	switch d.IntN(4) {
	case 0:
		_, err = server.Ready(ctx, &types.QueryReadyRequest{})
	case 1:
		_, err = server.Estimate(ctx, &types.QueryEstimateRequest{Actor: pick(d, owners...).Address.String(), GasLimit: d.between(40_000, 300_000)})
	case 2:
		_, err = server.Lane(ctx, &types.QueryLaneRequest{})
	default:
		_, err = server.TimersByActor(ctx, &types.QueryTimersByActorRequest{Actor: pick(d, owners...).Address.String()})
	}
	if err != nil {
		w.done["refused query"]++
	}
	return nil
}

// propose has governance do something in three blocks.
func (w *world) propose(o op, d draws) error {
	what := o
	what.kind = pick(d, "config", "sys cancel", "sys extend", "sys release")
	number, err := w.app().Gov.ProposalID.Peek(w.ctx())
	if err != nil {
		return err
	}
	proposal, err := govv1.NewMsgSubmitProposal([]sdk.Msg{w.govern(what, d)}, utmr(1), alice.Address.String(), "", "campaign", "campaign", false)
	if err != nil {
		return err
	}
	w.sign(o, alice, proposal, govv1.NewMsgVote(alice.Address, number+w.block.proposals, govv1.OptionYes, ""))
	w.block.proposals++
	return nil
}

// other are the ops that are not about a timer.
func (w *world) other(o op, d draws) {
	by := pick(d, owners...)
	switch o.kind {
	case "agent":
		agent := pick(d, "", moduleAddress(bidder).String(), w.agent.String(), w.hostile.String(), rich.Address.String())
		w.sign(o, by, &types.MsgSetAgent{Sender: by.Address.String(), Agent: agent})
	case "send":
		to := pick(d, alice.Address, rich.Address, poor.Address, broke.Address, w.hostile, moduleAddress(pick(d, modules...)),
			w.remotes[0].address, w.remotes[1].address)
		w.sign(o, by, banktypes.NewMsgSend(by.Address, to, utmr(pick[int64](d, 1, 700, 5_000, 20_000))))
	case "drain":
		by = pick(d, poor, broke)
		if all := w.app().Bank.SpendableCoins(w.ctx(), by.Address); !all.IsZero() {
			w.sign(o, by, banktypes.NewMsgSend(by.Address, alice.Address, all))
		}
	case "grant":
		limit := feegrant.BasicAllowance{SpendLimit: utmr(pick[int64](d, 1, 2_000, 50_000, 1_000_000))}
		allowance, err := feegrant.NewAllowedMsgAllowance(&limit, []string{sdk.MsgTypeURL(&types.MsgScheduleTimer{})})
		require.NoError(w.tb, err)
		msg, err := feegrant.NewMsgGrantAllowance(allowance, granter.Address, w.grantee(d))
		require.NoError(w.tb, err)
		w.sign(o, granter, msg)
	case "revoke":
		msg := feegrant.NewMsgRevokeAllowance(granter.Address, w.grantee(d))
		w.sign(o, granter, &msg)
	case "beat":
		last := w.height() + d.between(1, 60)
		w.execute(o, rich, w.heartbeat, pick(d, `{"start":{}}`, `{"start":{}}`, `{"stop":{}}`, `{"be_agent":{}}`,
			fmt.Sprintf(`{"extend":{"expires_at":%d}}`, last), fmt.Sprintf(`{"update":{"gas_limit":%d}}`, d.between(100_000, 300_000))))
	case "contract":
		answer := pick(d, `{"max_fee_per_cycle":"0.02","max_priority_fee_per_cycle":"0.001","max_fee_per_cell":"1"}`, `nonsense`,
			`{"max_fee_per_cycle":"-1","max_priority_fee_per_cycle":"0","max_fee_per_cell":"1"}`)
		bid, err := json.Marshal(map[string]any{"bid": map[string]string{"do": pick(d, "", "", "loop", "hog", "panic", "recurse", "refuse", "write"), "answer": answer}})
		require.NoError(w.tb, err)
		w.execute(o, by, w.agent, string(bid))
	case "admin":
		from, to := pick(d, admins...), pick(d, admins...)
		w.sign(o, from, &wasmtypes.MsgUpdateAdmin{Sender: from.Address.String(), NewAdmin: to.Address.String(), Contract: w.hostile.String()})
	case "delegate":
		w.sign(o, by, w.delegation(by.Address, int64(d.between(1, 3_000))))
	case "check":
		w.checkTx(o, by, d)
	case "garbage":
		w.block.txs, w.block.numbers = append(w.block.txs, w.mangled(by, d)), append(w.block.numbers, o.number)
	default:
		panic("no such op: " + o.kind)
	}
}

func (w *world) grantee(d draws) sdk.AccAddress {
	return pick(d, poor.Address, broke.Address, richer.Address, w.remotes[0].address)
}

// checkTx has the first application check and simulate a transaction that comes into no block.
func (w *world) checkTx(o op, by appchain.Account, d draws) {
	tx := w.signed(by, w.scheduleMsg(by, d))
	w.block.sequences[string(by.Address)]--
	_, _, simulated := w.app().Simulate(tx)
	checked, err := w.app().CheckTx(&abci.RequestCheckTx{Tx: tx, Type: abci.CheckTxType_New})
	require.NoError(w.tb, err)
	if simulated != nil || checked.Code != 0 {
		w.done["refused check"]++
	}
}

// mangled is a transaction that is no good: bytes of it are others.
func (w *world) mangled(by appchain.Account, d draws) []byte {
	tx := w.signed(by, w.scheduleMsg(by, d))
	w.block.sequences[string(by.Address)]--
	for range d.between(1, 4) {
		tx[d.IntN(len(tx))] = byte(d.IntN(256))
	}
	return tx[:len(tx)-d.IntN(2)]
}

func (w *world) delegation(by sdk.AccAddress, amount int64) sdk.Msg {
	validators, err := w.app().Staking.GetAllValidators(w.ctx())
	require.NoError(w.tb, err)
	return stakingtypes.NewMsgDelegate(by.String(), validators[0].OperatorAddress, sdk.NewInt64Coin(app.FeeDenom, amount))
}

func (w *world) execute(o op, by appchain.Account, contract sdk.AccAddress, msg string) {
	w.sign(o, by, &wasmtypes.MsgExecuteContract{Sender: by.Address.String(), Contract: contract.String(), Msg: []byte(msg)})
}

// schedule schedules a timer, of an account, a module or a contract.
func (w *world) schedule(o op, d draws) {
	switch o.kind {
	case "schedule":
		by := pick(d, owners...)
		w.sign(o, by, w.scheduleMsg(by, d))
	case "schedule module":
		w.call(o, inner{schedule: w.moduleRequest(d)})
	case "schedule by contract":
		call, gas, height := hostileCall(d), d.between(60_000, 500_000), w.height()+d.between(2, 12)
		w.execute(o, pick(d, rich, richer), w.hostile, fmt.Sprintf(`{"schedule":{"height":%d,"handler":%q,"gas_limit":%d,"payload":%s}}`,
			height, call.handler, gas, call.payload))
	case "schedule as admin":
		by, call := pick(d, admins...), hostileCall(d)
		msg := w.scheduleMsg(by, d)
		msg.Actor, msg.Spec.Call.Messages, msg.Spec.Call.Handler, msg.Spec.Call.Payload = w.hostile.String(), nil, call.handler, []byte(call.payload)
		msg.Spec.GasLimit = d.between(60_000, 500_000)
		w.sign(o, by, msg)
	case "schedule by reflect":
		msg := w.scheduleMsg(rich, d)
		msg.Sender, msg.Spec.FeePayer = w.reflect.String(), ""
		msg.Spec.Call.Messages, msg.Spec.Call.Payload = w.packed(banktypes.NewMsgSend(w.reflect, alice.Address, utmr(int64(d.between(1, 500))))), nil
		w.sign(o, rich, w.reflected(msg))
	}
}

// reflected has the reflecting contract send a message.
func (w *world) reflected(msg sdk.Msg) sdk.Msg {
	packed := w.packed(msg)[0]
	raw, err := json.Marshal(wasmdata.ReflectHandleMsg{Reflect: &wasmdata.ReflectPayload{Msgs: []wasmvmtypes.CosmosMsg{
		{Any: &wasmvmtypes.AnyMsg{TypeURL: packed.TypeUrl, Value: packed.Value}},
	}}})
	require.NoError(w.tb, err)
	return &wasmtypes.MsgExecuteContract{Sender: rich.Address.String(), Contract: w.reflect.String(), Msg: raw}
}

func (w *world) packed(msgs ...sdk.Msg) []*codectypes.Any {
	packed, err := timerskeeper.NewMessages(msgs...)
	require.NoError(w.tb, err)
	return packed
}

type contractCall struct{ handler, payload string }

// hostileCall is something that a hostile contract does when it fires.
func hostileCall(d draws) contractCall {
	return pick(d,
		contractCall{"nothing", `{}`}, contractCall{"nothing", `{}`}, contractCall{"write", `{"bytes":300}`}, contractCall{"many", `{"count":3}`},
		contractCall{"loop", `{}`}, contractCall{"panic", `{}`}, contractCall{"recurse", `{}`}, contractCall{"refuse", `{}`},
		contractCall{"no_such_handler", `{}`}, contractCall{"flood", `{"bytes":1000}`}, contractCall{"deep", `{"left":9}`},
		contractCall{"catch", `{"msg":{"loop":{}}}`}, contractCall{"catch", `{"gas":50000,"msg":{"many":{"count":2}}}`},
		contractCall{"ask", `{"msg":{"write":{}}}`}, contractCall{"hog", `{}`}, contractCall{"cancel", fmt.Sprintf(`{"sender":%q,"id":%q}`, rich.Address, none)},
	)
}

// moduleRequest is a timer of a Go module.
func (w *world) moduleRequest(d draws) *timerskeeper.ScheduleRequest {
	request := &timerskeeper.ScheduleRequest{
		Actor: moduleAddress(pick(d, modules...)), Spec: types.TimerSpec{
			GasLimit: d.between(40_000, 300_000),
			Call:     types.TimerCall{Payload: work{d.between(0, 120_000), d.between(0, 500), pick(d, ends...)}.payload()}, ExpiresAt: w.height() + d.between(1, 60),
			Bid: w.bid(d), Retry: retry(d), OnUnfunded: types.OnUnfunded(d.IntN(3)), Name: name(d),
		},
	}
	request.Spec.Trigger, request.Spec.Repeat = w.trigger(d)
	if d.one(5) {
		request.Spec.CellLimit = d.between(100, 3_000)
	}
	if d.one(20) {
		request.Spec.FeePayer = granter.Address.String()
	}
	return request
}

// scheduleMsg is a timer of an account.
func (w *world) scheduleMsg(by appchain.Account, d draws) *types.MsgScheduleTimer {
	msg := &types.MsgScheduleTimer{
		Sender: by.Address.String(), Spec: types.TimerSpec{
			GasLimit: d.between(60_000, 250_000), Call: types.TimerCall{Messages: w.packed(w.messages(by, d)...)},
			ExpiresAt: w.height() + d.between(1, 60), Bid: w.bid(d), Retry: retry(d), OnUnfunded: types.OnUnfunded(d.IntN(3)),
			MaxCharge: pick(d, "", "", "", "", "0", "700", "3000", "100000"), Name: name(d), OnlyIf: w.onlyIf(d),
		},
	}
	msg.Spec.Trigger, msg.Spec.Repeat = w.trigger(d)
	if d.one(4) {
		msg.Spec.OnUnfunded = types.OnUnfundedSkip
	}
	if d.one(4) {
		msg.Spec.FeePayer = granter.Address.String()
	}
	if d.one(4) {
		payload, err := proto.Marshal(&types.AccountPayload{Messages: msg.Spec.Call.Messages})
		require.NoError(w.tb, err)
		msg.Spec.Call.Messages, msg.Spec.Call.Payload = nil, payload
	}
	switch d.IntN(30) {
	case 0:
		msg.Spec.GasLimit = pick[uint64](d, 0, 1, 39_999, 1<<60)
	case 1:
		msg.Spec.ExpiresAt = pick[uint64](d, 0, 1, w.height(), ^uint64(0))
	case 2:
		msg.Spec.CellLimit = pick[uint64](d, 1, 50, 1<<40)
	case 3:
		msg.Spec.Call.Messages, msg.Spec.Call.Payload = nil, make([]byte, d.between(0, 3_000))
	}
	return msg
}

// messages of an account's timer, which may fail when it fires.
func (w *world) messages(by appchain.Account, d draws) []sdk.Msg {
	send := banktypes.NewMsgSend(by.Address, pick(d, owners...).Address, utmr(pick[int64](d, 1, 10, 1_000, 20_000, 1<<60)))
	switch d.IntN(14) {
	case 0:
		return []sdk.Msg{w.delegation(by.Address, int64(d.between(1, 500)))}
	case 1:
		// It continues by itself.
		return []sdk.Msg{send, &types.MsgScheduleTimer{
			Sender: by.Address.String(), Spec: types.TimerSpec{Trigger: types.Trigger{After: d.between(1, 9)}, GasLimit: 90_000, Call: types.TimerCall{Messages: w.packed(send)}},
		}}
	case 2:
		return []sdk.Msg{&types.MsgCancelTimer{Sender: by.Address.String(), Id: w.anyOf(by.Address.String(), d)}, send}
	case 3:
		return []sdk.Msg{&types.MsgPauseTimer{Sender: by.Address.String(), Id: w.anyOf(by.Address.String(), d)}}
	case 4:
		return []sdk.Msg{&wasmtypes.MsgExecuteContract{Sender: by.Address.String(), Contract: w.hostile.String(), Msg: []byte(`{"nothing":{}}`)}}
	case 5:
		return []sdk.Msg{send, send, send}
	case 6:
		return []sdk.Msg{w.transfer(by.Address, d)}
	case 7:
		r := pick(d, w.remotes...)
		return []sdk.Msg{w.sendTx(by.Address, d, pick[proto.Message](d, banktypes.NewMsgSend(r.address, by.Address, utmr(3)), &types.MsgScheduleTimer{
			Sender: r.address.String(), Spec: types.TimerSpec{
				Trigger: types.Trigger{After: d.between(1, 9)}, GasLimit: 90_000,
				Call: types.TimerCall{Messages: w.packed(banktypes.NewMsgSend(r.address, by.Address, utmr(2)))},
			},
		}))}
	default:
		return []sdk.Msg{send}
	}
}

// anyOf is some live timer of an actor.
func (w *world) anyOf(actor string, d draws) string {
	var ids []string
	for _, t := range w.ledger.Live() {
		if t.Actor == actor {
			ids = append(ids, t.ID)
		}
	}
	return pick(d, append(ids, none)...)
}

func retry(d draws) *types.Retry {
	if !d.one(3) {
		return nil
	}
	return &types.Retry{Max: uint32(d.between(1, 3)), After: d.between(1, 5)}
}

// trigger is one of each kind.
func (w *world) trigger(d draws) (t types.Trigger, r *types.Repeat) {
	due := w.height() + d.between(2, 12)
	switch d.IntN(10) {
	case 0, 1, 2:
		t.Height = due
	case 3:
		t.Height = w.height() + d.between(0, 80)
	case 4:
		t.After = d.between(1, 10)
	case 5, 6:
		t.Interval = &types.IntervalTrigger{
			Every: d.between(1, 7), First: pick(d, 0, due),
		}
		r = repeat(d)
		if d.one(3) {
			t.Interval.From = types.FromSchedule
			terms(d, r, 3)
		}
	case 7:
		now := w.last.Time.Unix()
		if d.one(3) {
			at := time.Unix(now+int64(d.between(0, 20)), 0).UTC()
			return types.Trigger{Time: &at}, nil
		}
		t.Calendar = &types.CalendarTrigger{
			Every: &types.EveryRule{Seconds: pick[uint64](d, 59, 60, 61, 90), Anchor: pick(d, 0, now+int64(d.between(1, 9)))},
		}
		if d.one(3) { // Each minute of some days.
			t.Calendar = &types.CalendarTrigger{Cron: &types.CronRule{
				Minutes: 1<<60 - 1, Hours: 1<<24 - 1, Days: 1<<32 - 2, Months: 1<<13 - 2,
				Weekdays: uint32(d.between(1, 127)), Nth: pick[uint32](d, 0, 1<<11-2, uint32(d.between(1, 1<<10-1)<<1)),
			}}
		}
		r = repeat(d)
		terms(d, r, 5)
	default:
		r = &types.Repeat{Remaining: d.between(0, 4)}
		t.Watch = &types.WatchTrigger{Cooldown: pick[uint64](d, 0, 0, 1, 4)}
		texts := []string{
			"bank:balance:" + rich.Address.String() + ":" + app.FeeDenom, "bank:balance:" + poor.Address.String() + ":" + app.FeeDenom,
			"bank:balances:" + alice.Address.String(), "bank:supply:" + app.FeeDenom, "wasm:contract:" + w.hostile.String(),
			"staking:delegations:" + rich.Address.String(), "bank:balance:" + w.remotes[1].address.String() + ":" + app.FeeDenom,
		}
		from := d.IntN(len(texts))
		for i := range d.between(1, 3) {
			t.Watch.Keys = append(t.Watch.Keys, w.key(texts[(from+int(i))%len(texts)], d))
		}
		t.Watch.Level = d.one(3) // Refused without a condition, or without a cooldown.
	}
	return t, r
}

// repeat is what is stated of repetitions.
func repeat(d draws) *types.Repeat {
	return &types.Repeat{Remaining: d.between(0, 5), OnFailure: types.OnFailure(d.IntN(4)), MaxFailures: uint32(d.between(0, 2))}
}

// terms are those of occurrences, in the seconds or blocks that a window and a jitter have.
func terms(d draws, r *types.Repeat, most uint64) {
	if !d.one(2) {
		r.Missed, r.Window, r.Jitter = types.Missed(d.IntN(3)), d.between(0, most), d.between(0, most)
	}
}

// onlyIf are conditions on balances.
func (w *world) onlyIf(d draws) (conditions []types.WatchKey) {
	if !d.one(5) {
		return nil
	}
	for range d.between(1, 2) {
		key := w.key("bank:balance:"+pick(d, rich, poor).Address.String()+":"+app.FeeDenom, d)
		if key.When == nil {
			key.When = &types.WatchCondition{Op: types.ConditionExists}
		}
		conditions = append(conditions, key)
	}
	return conditions
}

// key is a watched key, some with a condition.
func (w *world) key(text string, d draws) types.WatchKey {
	response, err := timerskeeper.NewQueryServer(w.app().Timers).WatchKey(w.ctx(), &types.QueryWatchKeyRequest{Text: text})
	require.NoError(w.tb, err)
	key := response.Key
	if strings.HasPrefix(text, "bank:balance:") && d.one(2) {
		around := w.app().Bank.GetBalance(w.ctx(), pick(d, rich, poor).Address, app.FeeDenom).Amount
		key.When = &types.WatchCondition{Op: types.ConditionOp(d.between(1, 7))}
		if key.When.Op > types.ConditionAbsent {
			key.When.Value = around.AddRaw(pick[int64](d, -1_000, 0, 1, 1_000)).String()
		}
	}
	return key
}

// bid is one of each kind, and some that can't pay.
func (w *world) bid(d draws) *types.Bid {
	switch d.IntN(12) {
	case 0, 1:
		return &types.Bid{Price: fmt.Sprint(pick(d, 0, 1, 300, 5_000, 90_000))}
	case 2, 3:
		return &types.Bid{Tier: types.PriorityTier(d.between(1, 4))}
	case 4, 5:
		return &types.Bid{Static: &types.StaticBid{
			MaxFeePerCycle: price(d, "0.0001", "0.003", "0.01", "1000"), MaxPriorityFeePerCycle: price(d, "0", "0.0001", "0.002", "0.5"),
		}}
	case 6:
		return &types.Bid{Agent: pick(d, moduleAddress(bidder), w.agent, w.heartbeat, rich.Address).String()}
	default:
		return nil
	}
}

// target is the timer that an op acts on: that of an earlier op, or any that lives.
func (w *world) target(o op, d draws) ledger.Timer {
	if d.one(4) {
		if live := w.ledger.Live(); len(live) > 0 {
			return pick(d, live...)
		}
	}
	if t, live := w.ledger.Find(w.named[o.target]); live {
		return t
	}
	return ledger.Timer{ID: none, Actor: rich.Address.String(), Owner: rich.Address.String()}
}

// name is of few, so that one is taken at times; most timers have none.
func name(d draws) string {
	if !d.one(3) {
		return ""
	}
	return "rent of month " + strconv.Itoa(1+d.IntN(12))
}

// change is an op of an owner on a timer, or of somebody who takes it for his.
func (w *world) change(o op, d draws) {
	t := w.target(o, d)
	by := t.Owner
	if d.one(30) {
		by = pick(d, owners...).Address.String()
	}
	actor := ""
	if t.Actor != by {
		actor = t.Actor
	}
	id, named := t.ID, name(d)
	if named != "" && d.one(2) {
		id = ""
	}
	if id != "" && !d.one(4) {
		named = ""
	}
	var msg sdk.Msg
	switch o.kind {
	case "pause":
		msg = &types.MsgPauseTimer{Sender: by, Id: id, Name: named, Actor: actor}
	case "resume":
		msg = &types.MsgResumeTimer{Sender: by, Id: id, Name: named, Actor: actor, At: types.ResumeAt(d.IntN(3))}
	case "cancel":
		msg = &types.MsgCancelTimer{Sender: by, Id: id, Name: named, Actor: actor}
	case "extend":
		msg = &types.MsgExtendTimer{Sender: by, Id: id, Name: named, Actor: actor, ExpiresAt: w.height() + d.between(0, 80)}
	case "skip":
		msg = &types.MsgSkipTimer{Sender: by, Id: id, Name: named, Actor: actor, Count: uint32(d.between(0, 4))}
	case "run":
		msg = &types.MsgRunTimer{Sender: by, Id: id, Name: named, Actor: actor}
	default:
		update := &types.MsgUpdateTimer{Sender: by, Id: id, Name: named, Actor: actor, Spec: types.TimerSpec{Bid: w.bid(d), MaxCharge: pick(d, "", "", "0", "2000")}, Fields: []string{"bid", "max_charge"}}
		if d.one(2) {
			update.Spec.GasLimit, update.Fields = d.between(40_000, 300_000), append(update.Fields, "gas_limit")
		}
		if d.one(4) {
			update.Spec.Trigger, update.Spec.Repeat = w.trigger(d)
			update.Fields = append(update.Fields, "trigger")
			for _, field := range types.SpecFields() {
				if strings.HasPrefix(field, "repeat.") && (update.Spec.Repeat != nil || d.one(4)) {
					update.Fields = append(update.Fields, field)
				}
			}
		}
		if d.one(4) {
			update.Spec.Retry, update.Spec.OnUnfunded, update.Spec.OnlyIf = retry(d), types.OnUnfunded(d.IntN(4)), w.onlyIf(d)
			update.Fields = append(update.Fields, "retry", "on_unfunded", "only_if")
		}
		if account, is := accountBy(by); is && d.one(2) && actor == "" {
			update.Spec.Call, update.Fields = types.TimerCall{Messages: w.packed(w.messages(account, d)...)}, append(update.Fields, "call")
		}
		if d.one(8) {
			update.Spec.Name, update.Fields = name(d), append(update.Fields, "name")
		}
		if d.one(8) {
			update.Fields = append(update.Fields, pick(d, "expires_at", "expires_time", "fee_payer", "bid", "nothing"))
		}
		msg = update
	}
	w.send(o, by, msg)
}

// send has an actor of whatever kind send a message.
func (w *world) send(o op, by string, msg sdk.Msg) {
	if account, is := accountBy(by); is {
		w.sign(o, account, msg)
		return
	}
	if by == w.reflect.String() {
		w.sign(o, rich, w.reflected(msg))
		return
	}
	if r, is := w.remoteBy(by); is {
		w.sign(o, r.owner, w.sendTx(r.owner.Address, o.draws(), msg))
		return
	}
	// A module, or a contract that would send it as a message of its own.
	w.call(o, inner{msg: msg})
}

func accountBy(address string) (appchain.Account, bool) {
	for _, name := range accountNames {
		if a := account(name); a.Address.String() == address {
			return a, true
		}
	}
	return appchain.Account{}, false
}

// govern is a message of the authority.
func (w *world) govern(o op, d draws) sdk.Msg {
	authority, t := w.app().Timers.Authority(w.ctx()), w.target(o, d)
	switch o.kind {
	case "sys cancel":
		return &types.MsgSysCancelTimer{Authority: authority, Actor: t.Actor, Id: t.ID}
	case "sys extend":
		return &types.MsgSysExtendTimer{Authority: authority, Actor: t.Actor, Id: t.ID, ExpiresAt: w.height() + d.between(0, 80)}
	case "sys release":
		return &types.MsgSysReleaseTimer{Authority: authority, Actor: t.Actor, Id: t.ID}
	default:
		msg, err := w.app().Timers.ReplaceConfig(w.ctx(), w.drawConfig(d))
		if err != nil {
			panic(err)
		}
		return msg
	}
}
