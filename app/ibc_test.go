package app_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	wasmtypes "github.com/CosmWasm/wasmd/x/wasm/types"
	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/cosmos/gogoproto/proto"
	hosttypes "github.com/cosmos/ibc-go/v10/modules/apps/27-interchain-accounts/host/types"
	icatypes "github.com/cosmos/ibc-go/v10/modules/apps/27-interchain-accounts/types"
	transfertypes "github.com/cosmos/ibc-go/v10/modules/apps/transfer/types"
	clienttypes "github.com/cosmos/ibc-go/v10/modules/core/02-client/types"
	channeltypes "github.com/cosmos/ibc-go/v10/modules/core/04-channel/types"
	host "github.com/cosmos/ibc-go/v10/modules/core/24-host"
	ibctesting "github.com/cosmos/ibc-go/v10/testing"
	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/appchain"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// TestAnAccountOfAnotherChainOwnsTimers: an account on B has an interchain account on A, which schedules, pays for, and
// cancels timers there.
func TestAnAccountOfAnotherChainOwnsTimers(t *testing.T) {
	c := newTwoChains(t)
	path, account := c.interchainAccount(c.b, channeltypes.UNORDERED)
	friend, foreign := c.a.address(3), c.b.address(0)
	schedule := func(change func(*types.MsgScheduleTimer)) *types.MsgScheduleTimer {
		msg := &types.MsgScheduleTimer{
			Sender: account.String(), Spec: types.TimerSpec{
				Trigger: types.Trigger{Interval: &types.IntervalTrigger{Every: 3, First: uint64(c.a.ProposedHeader.Height) + 5}},
				Call:    types.TimerCall{Messages: packed(t, banktypes.NewMsgSend(account, friend, utmr(7)))}, GasLimit: 100_000,
			},
		}
		change(msg)
		return msg
	}

	_, ran := c.remotely(path, c.b, schedule(func(m *types.MsgScheduleTimer) { m.Spec.FeePayer = friend.String() }))
	require.False(t, ran, "no one else pays for it")
	_, ran = c.remotely(path, c.b, schedule(func(m *types.MsgScheduleTimer) {
		m.Sender, m.Spec.Call.Messages = c.a.address(0).String(), packed(t, banktypes.NewMsgSend(c.a.address(0), friend, utmr(7)))
	}))
	require.False(t, ran, "it schedules for no other account")

	data, ran := c.remotely(path, c.b, schedule(func(m *types.MsgScheduleTimer) { m.Spec.FeePayer = account.String() }))
	require.True(t, ran)
	var booked types.MsgScheduleTimerResponse
	require.NoError(t, proto.Unmarshal(data.MsgResponses[0].Value, &booked))
	had, got, theirs := c.a.balance(account, app.FeeDenom), c.a.balance(friend, app.FeeDenom), c.b.balance(foreign, app.FeeDenom)
	fired, _ := c.a.fire()
	require.Equal(t, [3]string{booked.Id, account.String(), "true"}, [3]string{fired["id"], fired["actor"], fired["success"]})
	require.Equal(t, got.AddRaw(7), c.a.balance(friend, app.FeeDenom))
	require.Equal(t, had.SubRaw(7+number(t, fired["paid"])), c.a.balance(account, app.FeeDenom), "the account on A pays")
	require.Equal(t, theirs, c.b.balance(foreign, app.FeeDenom), "its owner on B does not")

	exported, err := c.a.app.ExportAppStateAndValidators(false, nil, nil)
	require.NoError(t, err)
	again := appchain.Start(t, exported.AppState, exported.Height, &exported.ConsensusParams)
	require.Equal(t, [3]int{0, 0, 1}, [3]int{fires(again.NextBlock()), fires(again.NextBlock()), fires(again.NextBlock())},
		"a chain that starts from the export goes on")
	found, known := again.App.ICAHost.GetInterchainAccountAddress(again.Ctx(), ibctesting.FirstConnectionID, path.EndpointB.ChannelConfig.PortID)
	require.Equal(t, [2]any{account.String(), true}, [2]any{found, known})

	_, ran = c.remotely(path, c.b, &types.MsgCancelTimer{Sender: account.String(), Id: booked.Id})
	require.True(t, ran)
	require.Empty(t, c.a.timers(account))
}

// TestAnInterchainAccountAsksForAnEstimate: the answer is what a node answers after that block, and costs gas. Lists are not for
// modules.
func TestAnInterchainAccountAsksForAnEstimate(t *testing.T) {
	c := newTwoChains(t)
	path, account := c.interchainAccount(c.b, channeltypes.UNORDERED)
	ask := func(method string, request proto.Message) *hosttypes.MsgModuleQuerySafe {
		t.Helper()
		data, err := proto.Marshal(request)
		require.NoError(t, err)
		return hosttypes.NewMsgModuleQuerySafe(account.String(), []hosttypes.QueryRequest{{Path: "/timers.v1.Query/" + method, Data: data}})
	}
	request := &types.QueryEstimateRequest{Actor: account.String(), GasLimit: 100_000, Tier: types.TierFast}
	data, ran := c.remotely(path, c.b, ask("Estimate", request))
	require.True(t, ran)
	var answers hosttypes.MsgModuleQuerySafeResponse
	require.NoError(t, proto.Unmarshal(data.MsgResponses[0].Value, &answers))
	var got types.QueryEstimateResponse
	require.NoError(t, proto.Unmarshal(answers.Responses[0], &got))
	ctx, err := c.a.app.CreateQueryContext(int64(answers.Height), false)
	require.NoError(t, err)
	want, err := keeper.NewQueryServer(c.a.app.Timers).Estimate(ctx, request)
	require.NoError(t, err)
	require.Equal(t, *want, got)
	require.Greater(t, ctx.GasMeter().GasConsumed(), uint64(10_000))

	_, ran = c.remotely(path, c.b, ask("TimersByActor", &types.QueryTimersByActorRequest{Actor: account.String()}))
	require.False(t, ran)
}

// TestATimerSendsThroughItsInterchainAccount: a repeating timer on A makes the interchain account of its owner on B send
// coins, each time it fires. A relative timeout moves with it.
func TestATimerSendsThroughItsInterchainAccount(t *testing.T) {
	c := newTwoChains(t)
	path, account := c.interchainAccount(c.a, channeltypes.UNORDERED)
	friend := c.b.address(3)
	c.a.schedule(types.Trigger{Interval: &types.IntervalTrigger{Every: 4, First: uint64(c.a.ProposedHeader.Height) + 2}}, &types.Repeat{Remaining: 2},
		c.a.sendTx(time.Minute, banktypes.NewMsgSend(account, friend, utmr(11))))
	var timeouts []uint64
	for range 2 {
		before := c.b.balance(friend, app.FeeDenom)
		fired, packets := c.a.fire()
		require.Equal(t, "true", fired["success"])
		require.Len(t, packets, 1)
		ack := c.relay(path, packets[0])
		require.True(t, ack.Success())
		require.Equal(t, before.AddRaw(11), c.b.balance(friend, app.FeeDenom))
		timeouts = append(timeouts, packets[0].TimeoutTimestamp)
	}
	require.Less(t, timeouts[0], timeouts[1])
	require.Empty(t, c.a.timers(c.a.address(0)))

	// What fails on B is no failure of the fire: the acknowledgement says so, later.
	c.a.schedule(types.Trigger{After: 1}, nil, c.a.sendTx(time.Minute, banktypes.NewMsgSend(account, friend, utmr(1_000_000_000))))
	fired, packets := c.a.fire()
	require.Equal(t, "true", fired["success"])
	ack := c.relay(path, packets[0])
	require.False(t, ack.Success())
	require.True(t, c.a.deliveries(c.a.address(0))[0].Receipt.Success)
}

func (c *twoChains) transferChannel() *ibctesting.Path {
	path := c.channel(channeltypes.UNORDERED, transfertypes.PortID, transfertypes.PortID, transfertypes.V1)
	path.CreateChannels()
	return path
}

// transfer is one of the first account on A to the fourth on B.
func (c *twoChains) transfer(path *ibctesting.Path, height clienttypes.Height, timeout time.Time) *transfertypes.MsgTransfer {
	var nanoseconds uint64
	if !timeout.IsZero() {
		nanoseconds = uint64(timeout.UnixNano())
	}
	return transfertypes.NewMsgTransfer(transfertypes.PortID, path.EndpointA.ChannelID, utmr(500)[0], c.a.address(0).String(),
		c.b.address(3).String(), height, nanoseconds, "")
}

// documentedSearch is the query in the documentation for what ended a packet by its timeout.
func documentedSearch(t *testing.T, packet channeltypes.Packet) string {
	t.Helper()
	docs, err := os.ReadFile("../x/timers/docs/use/other-chains.md")
	require.NoError(t, err)
	_, search, _ := strings.Cut(string(docs), `"query=\"`)
	search, _, ends := strings.Cut(search, `\""`)
	require.True(t, ends)
	for stated, is := range map[string]string{"'channel-0'": "'" + packet.SourceChannel + "'", "'7'": fmt.Sprintf("'%d'", packet.Sequence)} {
		require.Equal(t, 1, strings.Count(search, stated))
		search = strings.Replace(search, stated, is, 1)
	}
	return search
}

// TestATimerSendsATransfer: coins that a timer on A sends arrive on B. One whose timeout passes is returned, which is the
// packet's outcome and not the fire's.
func TestATimerSendsATransfer(t *testing.T) {
	c := newTwoChains(t)
	path := c.transferChannel()
	owner, now := c.a.address(0), func() time.Time { return c.a.Coordinator.CurrentTime }
	voucher := transfertypes.NewDenom(app.FeeDenom, transfertypes.NewHop(transfertypes.PortID, path.EndpointB.ChannelID)).IBCDenom()

	// Every transfer of a repeating timer has the same timeout. One that is far away serves them all.
	c.a.schedule(types.Trigger{Interval: &types.IntervalTrigger{Every: 4, First: uint64(c.a.ProposedHeader.Height) + 2}}, &types.Repeat{Remaining: 2},
		c.transfer(path, clienttypes.ZeroHeight(), now().AddDate(1, 0, 0)))
	for i := range int64(2) {
		before := c.a.balance(owner, app.FeeDenom)
		fired, packets := c.a.fire()
		require.Equal(t, "true", fired["success"])
		require.Equal(t, before.SubRaw(500+number(t, fired["paid"])), c.a.balance(owner, app.FeeDenom))
		ack := c.relay(path, packets[0])
		require.True(t, ack.Success())
		require.Equal(t, 500*(i+1), c.b.balance(c.b.address(3), voucher).Int64())
		search := documentedSearch(t, packets[0])
		require.Len(t, c.a.app.search(strings.ReplaceAll(search, "timeout_packet", "acknowledge_packet")), 1)
		require.Empty(t, c.a.app.search(search), "it arrived")
	}

	// The owner finds the packet by the id of the delivery.
	c.a.schedule(types.Trigger{After: 1}, nil, c.transfer(path, clienttypes.ZeroHeight(), now().Add(time.Minute)))
	fired, packets := c.a.fire()
	delivered := c.a.deliveries(owner)[0]
	require.True(t, delivered.Receipt.Success)
	require.Equal(t, fired["deliver_id"], delivered.Receipt.DeliverId)
	sent := c.a.events(channeltypes.EventTypeSendPacket)
	require.Len(t, sent, 1)
	require.Equal(t, [2]string{fired["id"], fired["deliver_id"]}, [2]string{sent[0]["timer_id"], sent[0]["deliver_id"]})
	underWay := func() []byte {
		return c.a.app.IBC.ChannelKeeper.GetPacketCommitment(c.a.GetContext(), transfertypes.PortID, path.EndpointA.ChannelID, packets[0].Sequence)
	}
	require.NotEmpty(t, underWay())

	// No one relays it. Its timeout is brought back, and the coins are.
	c.a.Coordinator.IncrementTimeBy(2 * time.Minute)
	c.b.NextBlock()
	require.NoError(t, path.EndpointA.UpdateClient())
	before := c.a.balance(owner, app.FeeDenom)
	result, err := path.EndpointA.TimeoutPacketWithResult(packets[0])
	require.NoError(t, err)
	returned := appchain.Events(&abci.ResponseFinalizeBlock{Events: result.Events}, transfertypes.EventTypeTimeout)
	require.Len(t, returned, 1)
	require.Equal(t, owner.String(), returned[0]["receiver"])
	require.Contains(t, returned[0]["refund_tokens"], `"amount":"500"`)
	require.Equal(t, before.AddRaw(500), c.a.balance(owner, app.FeeDenom))
	require.Empty(t, underWay())
	require.Equal(t, delivered, c.a.deliveries(owner)[0], "the receipt is of the fire, and stays")
	ended := c.a.app.search(documentedSearch(t, packets[0]))
	require.Len(t, ended, 1)
	require.Equal(t, result.Events, ended[0].Result.Events)
	require.Equal(t, int64(1000), c.b.balance(c.b.address(3), voucher).Int64())
}

// TestInterchainAccount_OwnsATimerByTime: it fires by the clock of the chain on which the account is.
func TestInterchainAccount_OwnsATimerByTime(t *testing.T) {
	c := newTwoChains(t)
	path, account := c.interchainAccount(c.b, channeltypes.ORDERED)
	_, ran := c.remotely(path, c.b, &types.MsgScheduleTimer{
		Sender: account.String(), Spec: types.TimerSpec{
			Trigger: types.Trigger{Calendar: &types.CalendarTrigger{Every: &types.EveryRule{Seconds: 3_600}}},
			Call:    types.TimerCall{Messages: packed(t, banktypes.NewMsgSend(account, c.a.address(3), utmr(7)))}, GasLimit: 100_000, Repeat: &types.Repeat{Remaining: 2},
		},
	})
	require.True(t, ran)
	before := c.a.balance(c.a.address(3), app.FeeDenom)
	for index := int64(1); index <= 2; index++ {
		c.a.Coordinator.IncrementTimeBy(time.Hour)
		c.a.Coordinator.UpdateTime()
		fired, _ := c.a.fire()
		require.Equal(t, "true", fired["success"])
		require.Equal(t, index, number(t, fired["index"]))
	}
	require.Equal(t, before.AddRaw(14), c.a.balance(c.a.address(3), app.FeeDenom))
}

// TestTheTimersOfAnUnreachableAccountGoOn: while the channel of an interchain account is closed its owner cannot reach it. Its
// timers fire and are paid as before. With a new channel it is the same account, and the owner can cancel them.
func TestTheTimersOfAnUnreachableAccountGoOn(t *testing.T) {
	c := newTwoChains(t)
	path, account := c.interchainAccount(c.b, channeltypes.ORDERED)
	_, ran := c.remotely(path, c.b, &types.MsgScheduleTimer{
		Sender: account.String(), Spec: types.TimerSpec{
			Trigger: types.Trigger{Interval: &types.IntervalTrigger{Every: 4, First: uint64(c.a.ProposedHeader.Height) + 5}},
			Call:    types.TimerCall{Messages: packed(t, banktypes.NewMsgSend(account, c.a.address(3), utmr(7)))}, GasLimit: 100_000,
		},
	})
	require.True(t, ran)
	c.timeOut(path.EndpointB, c.b, c.b.deliver(0, c.b.sendTx(time.Minute, banktypes.NewMsgSend(account, c.a.address(3), utmr(1)))).Events)
	require.Equal(t, channeltypes.CLOSED, path.EndpointB.GetChannel().State)
	_, err := c.b.SendMsgs(c.b.sendTx(time.Minute, &types.MsgCancelTimer{Sender: account.String(), Id: c.a.timers(account)[0].Id}))
	require.ErrorContains(t, err, "failed to retrieve active channel")
	for range 2 {
		fired, _ := c.a.fire()
		require.Equal(t, [2]string{account.String(), "true"}, [2]string{fired["actor"], fired["success"]})
	}

	c.confirmClosed(path.EndpointA)
	c.openInterchainAccount(path, c.b)
	_, ran = c.remotely(path, c.b, &types.MsgCancelTimer{Sender: account.String(), Id: c.a.timers(account)[0].Id})
	require.True(t, ran)
	require.Empty(t, c.a.timers(account))
}

// TestATimerWhoseChannelIsClosed: a repeating timer that sends through a closed channel fails at each fire, is paid for, and
// continues. Once there is a new channel it works again, unchanged: it names the connection.
func TestATimerWhoseChannelIsClosed(t *testing.T) {
	c := newTwoChains(t)
	path, account := c.interchainAccount(c.a, channeltypes.ORDERED)
	owner := c.a.address(0)
	c.a.schedule(types.Trigger{Interval: &types.IntervalTrigger{Every: 10, First: uint64(c.a.ProposedHeader.Height) + 2}}, nil,
		c.a.sendTx(time.Minute, banktypes.NewMsgSend(account, c.b.address(3), utmr(11))))
	_, packets := c.a.fire()
	require.Len(t, packets, 1)
	c.timeOut(path.EndpointA, c.a, c.a.app.last.Events)

	before := c.a.balance(owner, app.FeeDenom)
	fired, packets := c.a.fire()
	require.Equal(t, "false", fired["success"])
	require.Empty(t, packets)
	require.Equal(t, before.SubRaw(number(t, fired["paid"])), c.a.balance(owner, app.FeeDenom))
	receipt := c.a.deliveries(owner)[0].Receipt
	require.Equal(t, [2]any{icatypes.ModuleName, icatypes.ErrActiveChannelNotFound.ABCICode()}, [2]any{receipt.Codespace, receipt.Code})
	require.Len(t, c.a.timers(owner), 1)

	c.confirmClosed(path.EndpointB)
	c.openInterchainAccount(path, c.a)
	fired, packets = c.a.fire()
	require.Equal(t, "true", fired["success"])
	ack := c.relay(path, packets[0])
	require.True(t, ack.Success())
}

// TestATransferThatIsTooLate: a timeout is compared with what the client on A has seen of B. If that is beyond it the fire
// fails and no coins move; if the client is behind, the packet is sent and comes back.
func TestATransferThatIsTooLate(t *testing.T) {
	c := newTwoChains(t)
	path := c.transferChannel()
	owner := c.a.address(0)
	height, ok := path.EndpointA.GetClientLatestHeight().(clienttypes.Height)
	require.True(t, ok)
	until := clienttypes.NewHeight(height.RevisionNumber, height.RevisionHeight+1)
	c.a.schedule(types.Trigger{Interval: &types.IntervalTrigger{Every: 6, First: uint64(c.a.ProposedHeader.Height) + 2}}, nil,
		c.transfer(path, until, time.Time{}))
	for c.b.ProposedHeader.Height < int64(until.RevisionHeight)+2 {
		c.b.NextBlock()
	}
	before := c.a.balance(owner, app.FeeDenom)
	fired, packets := c.a.fire()
	require.Equal(t, "true", fired["success"], "the client on A does not know that it is too late")
	require.Equal(t, before.SubRaw(500+number(t, fired["paid"])), c.a.balance(owner, app.FeeDenom))
	require.NoError(t, path.EndpointA.UpdateClient())
	require.NoError(t, path.EndpointA.TimeoutPacket(packets[0]))
	require.Equal(t, before.SubRaw(number(t, fired["paid"])), c.a.balance(owner, app.FeeDenom))

	before = c.a.balance(owner, app.FeeDenom)
	fired, packets = c.a.fire()
	require.Equal(t, "false", fired["success"])
	require.Empty(t, packets)
	require.Equal(t, before.SubRaw(number(t, fired["paid"])), c.a.balance(owner, app.FeeDenom))
	receipt := c.a.deliveries(owner)[0].Receipt
	require.Equal(t, [2]any{channeltypes.SubModuleName, channeltypes.ErrTimeoutElapsed.ABCICode()}, [2]any{receipt.Codespace, receipt.Code})
}

// TestATimerMayRelay: messages of relayers carry proofs, which their handlers check. No ante handler stands before them, so
// that a timer may run them as a transaction may, and one with a proof that does not hold fails.
func TestATimerMayRelay(t *testing.T) {
	c := newTwoChains(t)
	path := c.transferChannel()
	owner := c.a.address(0).String()
	trusted, ok := path.EndpointA.GetClientLatestHeight().(clienttypes.Height)
	require.True(t, ok)
	c.b.Coordinator.IncrementTime()
	c.b.NextBlock()
	header, err := c.b.IBCClientHeader(c.b.LatestCommittedHeader, trusted)
	require.NoError(t, err)
	update, err := clienttypes.NewMsgUpdateClient(path.EndpointA.ClientID, header, owner)
	require.NoError(t, err)
	c.a.schedule(types.Trigger{After: 1}, nil, update)
	fired, _ := c.a.fire()
	require.Equal(t, "true", fired["success"])
	require.True(t, path.EndpointA.GetClientLatestHeight().GT(trusted))

	header.SignedHeader.Commit.Signatures[0].Signature[0] ^= 1
	forged, err := clienttypes.NewMsgUpdateClient(path.EndpointA.ClientID, header, owner)
	require.NoError(t, err)
	c.a.schedule(types.Trigger{After: 1}, nil, forged)
	fired, _ = c.a.fire()
	require.Equal(t, "false", fired["success"])

	packet := channeltypes.NewPacket([]byte("coins"), 1, transfertypes.PortID, path.EndpointB.ChannelID, transfertypes.PortID, path.EndpointA.ChannelID,
		clienttypes.NewHeight(1, 1_000), 0)
	proof, height := path.EndpointB.QueryProof(host.PacketCommitmentKey(transfertypes.PortID, path.EndpointB.ChannelID, 1))
	c.a.schedule(types.Trigger{After: 1}, nil, channeltypes.NewMsgRecvPacket(packet, proof, height, owner))
	fired, _ = c.a.fire()
	require.Equal(t, "false", fired["success"], "nothing was sent")
}

// callbacks is wasmd's own contract that sends transfers, with a timeout counted from the block, and asks to be told.
func callbacks(t *testing.T) []byte {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/CosmWasm/wasmd").Output()
	require.NoError(t, err)
	bz, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "tests", "e2e", "testdata", "ibc_callbacks.wasm"))
	require.NoError(t, err)
	return bz
}

// instantiateCallbacks makes that contract on a chain.
func (s *side) instantiateCallbacks() sdk.AccAddress {
	s.Helper()
	creator := s.address(0).String()
	var stored wasmtypes.MsgStoreCodeResponse
	s.response(s.deliver(0, &wasmtypes.MsgStoreCode{Sender: creator, WASMByteCode: callbacks(s.app.t)}), &stored)
	var made wasmtypes.MsgInstantiateContractResponse
	s.response(s.deliver(0, &wasmtypes.MsgInstantiateContract{Sender: creator, CodeID: stored.CodeID, Label: "callbacks", Msg: []byte("{}")}), &made)
	return sdk.MustAccAddressFromBech32(made.Address)
}

// TestAContractLearnsWhatBecameOfItsTransfer: a repeating timer makes a contract send, which states a timeout of its own each
// time, and is told of the acknowledgement and of the timeout.
func TestAContractLearnsWhatBecameOfItsTransfer(t *testing.T) {
	c := newTwoChains(t)
	path := c.transferChannel()
	contract, receiver := c.a.instantiateCallbacks(), c.b.instantiateCallbacks()
	call := fmt.Sprintf(`{"transfer":{"to_address":%q,"channel_id":%q,"timeout_seconds":60}}`, receiver.String(), path.EndpointA.ChannelID)
	c.a.schedule(types.Trigger{Interval: &types.IntervalTrigger{Every: 8, First: uint64(c.a.ProposedHeader.Height) + 2}}, nil,
		&wasmtypes.MsgExecuteContract{Sender: c.a.address(0).String(), Contract: contract.String(), Msg: []byte(call), Funds: utmr(500)})
	told := func() [2]int {
		t.Helper()
		var stats struct {
			Acks     []json.RawMessage `json:"ibc_ack_callbacks"`
			Timeouts []json.RawMessage `json:"ibc_timeout_callbacks"`
		}
		bz, err := c.a.app.Wasm.QuerySmart(c.a.GetContext(), contract, []byte(`{"callback_stats":{}}`))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(bz, &stats))
		return [2]int{len(stats.Acks), len(stats.Timeouts)}
	}
	fired, packets := c.a.fire()
	require.Equal(t, "true", fired["success"], fired)
	ack := c.relay(path, packets[0])
	require.True(t, ack.Success(), ack.GetError())
	require.Equal(t, [2]int{1, 0}, told())

	fired, _ = c.a.fire()
	require.Equal(t, "true", fired["success"], fired)
	c.timeOut(path.EndpointA, c.a, c.a.app.last.Events)
	require.Equal(t, [2]int{1, 1}, told())
	require.Equal(t, int64(500), c.a.balance(contract, app.FeeDenom).Int64(), "the coins are the contract's again")
}
