package app_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	abci "github.com/cometbft/cometbft/abci/types"
	cmtconfig "github.com/cometbft/cometbft/config"
	"github.com/cometbft/cometbft/libs/pubsub/query"
	cmtproto "github.com/cometbft/cometbft/proto/tendermint/types"
	"github.com/cometbft/cometbft/state/txindex/kv"
	dbm "github.com/cosmos/cosmos-db"
	"github.com/cosmos/gogoproto/proto"
	controllertypes "github.com/cosmos/ibc-go/v10/modules/apps/27-interchain-accounts/controller/types"
	icatypes "github.com/cosmos/ibc-go/v10/modules/apps/27-interchain-accounts/types"
	channeltypes "github.com/cosmos/ibc-go/v10/modules/core/04-channel/types"
	host "github.com/cosmos/ibc-go/v10/modules/core/24-host"
	ibckeeper "github.com/cosmos/ibc-go/v10/modules/core/keeper"
	ibctesting "github.com/cosmos/ibc-go/v10/testing"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/log"
	sdkmath "cosmossdk.io/math"
	storetypes "cosmossdk.io/store/types"

	"github.com/cosmos/cosmos-sdk/baseapp"
	"github.com/cosmos/cosmos-sdk/client"
	simtestutil "github.com/cosmos/cosmos-sdk/testutil/sims"
	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/appchain"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// ibcApp is the application as ibc-go's testing package wants it. It keeps what the last block answered, and checks the
// timers' invariants after each.
type ibcApp struct {
	*app.App
	t    *testing.T
	last *abci.ResponseFinalizeBlock
	// txs is the index in which a node's tx_search looks.
	txs *kv.TxIndex
}

func newIBCApp(t *testing.T) *ibcApp {
	t.Helper()
	node := cmtconfig.DefaultConfig()
	node.DBBackend = string(dbm.MemDBBackend)
	index, err := cmtconfig.DefaultDBProvider(&cmtconfig.DBContext{ID: "tx_index", Config: node})
	require.NoError(t, err)
	a := &ibcApp{t: t, txs: kv.NewTxIndex(index)}
	listen := func(base *baseapp.BaseApp) {
		base.SetStreamingManager(storetypes.StreamingManager{ABCIListeners: []storetypes.ABCIListener{a}, StopNodeOnErr: true})
	}
	a.App = app.New(log.NewNopLogger(), dbm.NewMemDB(), nil, true, simtestutil.NewAppOptionsWithFlagHome(t.TempDir()),
		baseapp.SetIAVLSyncPruning(true), listen)
	return a
}

func (a *ibcApp) GetIBCKeeper() *ibckeeper.Keeper { return a.IBC }

func (a *ibcApp) GetTxConfig() client.TxConfig { return a.TxConfig() }

// ListenFinalizeBlock implements storetypes.ABCIListener.
func (a *ibcApp) ListenFinalizeBlock(_ context.Context, request abci.RequestFinalizeBlock, response abci.ResponseFinalizeBlock) error {
	a.last = &response
	for i, tx := range request.Txs {
		require.NoError(a.t, a.txs.Index(&abci.TxResult{Height: request.Height, Index: uint32(i), Tx: tx, Result: *response.TxResults[i]}))
	}
	return nil
}

// search does what tx_search of a node does.
func (a *ibcApp) search(text string) []*abci.TxResult {
	a.t.Helper()
	q, err := query.New(text)
	require.NoError(a.t, err)
	found, err := a.txs.Search(context.Background(), q)
	require.NoError(a.t, err)
	return found
}

// ListenCommit implements storetypes.ABCIListener.
func (a *ibcApp) ListenCommit(context.Context, abci.ResponseCommit, []*storetypes.StoreKVPair) error {
	require.NoError(a.t, a.Timers.CheckInvariants(a.NewUncachedContext(false, cmtproto.Header{Height: a.LastBlockHeight()})))
	return nil
}

// side is one of two chains.
type side struct {
	*ibctesting.TestChain
	app *ibcApp
}

// twoChains are two of timerd's, of which each has a client of the other and a connection to it.
type twoChains struct {
	t    *testing.T
	a, b *side
	path *ibctesting.Path
}

func newTwoChains(t *testing.T) *twoChains {
	t.Helper()
	coordinator := ibctesting.NewCustomAppCoordinator(t, 2, func() (ibctesting.TestingApp, map[string]json.RawMessage) {
		a := newIBCApp(t)
		return a, a.DefaultGenesis()
	})
	sideOf := func(i int) *side {
		chain := coordinator.GetChain(ibctesting.GetChainID(i))
		return &side{chain, chain.App.(*ibcApp)}
	}
	c := &twoChains{t: t, a: sideOf(1), b: sideOf(2)}
	c.path = ibctesting.NewPath(c.a.TestChain, c.b.TestChain)
	c.path.SetupConnections()
	return c
}

// channel is a path over the connection, whose ends have no channel yet.
func (c *twoChains) channel(order channeltypes.Order, portA, portB, version string) *ibctesting.Path {
	path := ibctesting.NewPath(c.a.TestChain, c.b.TestChain)
	for end, of := range map[*ibctesting.Endpoint]*ibctesting.Endpoint{path.EndpointA: c.path.EndpointA, path.EndpointB: c.path.EndpointB} {
		end.ClientID, end.ConnectionID = of.ClientID, of.ConnectionID
		end.ChannelConfig.Order, end.ChannelConfig.Version = order, version
	}
	path.EndpointA.ChannelConfig.PortID, path.EndpointB.ChannelConfig.PortID = portA, portB
	return path
}

// interchainAccount opens a channel for an interchain account that the account who owns as sends from one end, and returns
// its path and address on the other chain.
func (c *twoChains) interchainAccount(owner *side, order channeltypes.Order) (*ibctesting.Path, sdk.AccAddress) {
	c.t.Helper()
	port, err := icatypes.NewControllerPortID(owner.address(0).String())
	require.NoError(c.t, err)
	ports := map[*side][2]string{c.a: {port, icatypes.HostPortID}, c.b: {icatypes.HostPortID, port}}[owner]
	path := c.channel(order, ports[0], ports[1], "")
	c.openInterchainAccount(path, owner)
	on := c.hostOf(owner)
	address, found := on.app.ICAHost.GetInterchainAccountAddress(on.GetContext(), ibctesting.FirstConnectionID, port)
	require.True(c.t, found)
	account, err := sdk.AccAddressFromBech32(address)
	require.NoError(c.t, err)
	on.deliver(0, banktypes.NewMsgSend(on.address(0), account, utmr(1_000_000)))
	return path, account
}

// openInterchainAccount opens the channel of a path, by the message that owners send. It opens a new one after the last was
// closed.
func (c *twoChains) openInterchainAccount(path *ibctesting.Path, owner *side) {
	c.t.Helper()
	controller := path.EndpointA
	if owner == c.b {
		controller = path.EndpointB
	}
	counterparty := controller.Counterparty
	controller.ChannelID, counterparty.ChannelID = "", ""
	controller.IncrementNextChannelSequence()
	result := owner.deliver(0, controllertypes.NewMsgRegisterInterchainAccount(controller.ConnectionID, owner.address(0).String(), "",
		controller.ChannelConfig.Order))
	id, err := ibctesting.ParseChannelIDFromEvents(result.Events)
	require.NoError(c.t, err)
	controller.ChannelID = id
	controller.ChannelConfig.Version = controller.GetChannel().Version
	counterparty.ChannelConfig.Version = controller.ChannelConfig.Version
	require.NoError(c.t, counterparty.ChanOpenTry())
	require.NoError(c.t, controller.ChanOpenAck())
	require.NoError(c.t, counterparty.ChanOpenConfirm())
}

func (c *twoChains) hostOf(controller *side) *side {
	if controller == c.a {
		return c.b
	}
	return c.a
}

// relay brings a packet to the other chain and its acknowledgement back, which it returns.
func (c *twoChains) relay(path *ibctesting.Path, packet channeltypes.Packet) channeltypes.Acknowledgement {
	c.t.Helper()
	_, bz, err := path.RelayPacketWithResults(packet)
	require.NoError(c.t, err)
	var ack channeltypes.Acknowledgement
	require.NoError(c.t, channeltypes.SubModuleCdc.UnmarshalJSON(bz, &ack))
	return ack
}

// remotely makes an interchain account run messages: its owner sends them, they are relayed. It returns their responses, or
// false if they failed.
func (c *twoChains) remotely(path *ibctesting.Path, owner *side, msgs ...proto.Message) (*sdk.TxMsgData, bool) {
	c.t.Helper()
	result := owner.deliver(0, owner.sendTx(time.Hour, msgs...))
	packet, err := ibctesting.ParseV1PacketFromEvents(result.Events)
	require.NoError(c.t, err)
	ack := c.relay(path, packet)
	if !ack.Success() {
		return nil, false
	}
	var data sdk.TxMsgData
	require.NoError(c.t, proto.Unmarshal(ack.GetResult(), &data))
	return &data, true
}

// timeOut lets the packet of these events pass its timeout, of a minute, and brings that back to the end that sent it.
func (c *twoChains) timeOut(from *ibctesting.Endpoint, sender *side, events []abci.Event) {
	c.t.Helper()
	packet, err := ibctesting.ParseV1PacketFromEvents(events)
	require.NoError(c.t, err)
	sender.Coordinator.IncrementTimeBy(2 * time.Minute)
	from.Counterparty.Chain.NextBlock()
	require.NoError(c.t, from.UpdateClient())
	require.NoError(c.t, from.TimeoutPacket(packet))
}

// confirmClosed tells one end that the other end of the channel is closed.
func (c *twoChains) confirmClosed(end *ibctesting.Endpoint) {
	c.t.Helper()
	other := end.Counterparty
	require.NoError(c.t, end.UpdateClient())
	proof, height := other.QueryProof(host.ChannelKey(other.ChannelConfig.PortID, other.ChannelID))
	_, err := end.Chain.SendMsgs(channeltypes.NewMsgChannelCloseConfirm(end.ChannelConfig.PortID, end.ChannelID, proof, height,
		end.Chain.SenderAccount.GetAddress().String()))
	require.NoError(c.t, err)
}

func utmr(amount int64) sdk.Coins { return sdk.NewCoins(sdk.NewInt64Coin(app.FeeDenom, amount)) }

// address of the i-th account.
func (s *side) address(i int) sdk.AccAddress { return s.SenderAccounts[i].SenderAccount.GetAddress() }

// deliver runs a block with one transaction of the i-th account, which must succeed.
func (s *side) deliver(i int, msgs ...sdk.Msg) *abci.ExecTxResult {
	s.Helper()
	result, err := s.SendMsgsWithSender(s.SenderAccounts[i], msgs...)
	require.NoError(s.TB, err)
	return result
}

// sendTx is the message by which the first account makes its interchain account run messages.
func (s *side) sendTx(timeout time.Duration, msgs ...proto.Message) *controllertypes.MsgSendTx {
	s.Helper()
	data, err := icatypes.SerializeCosmosTx(s.Codec, msgs, icatypes.EncodingProtobuf)
	require.NoError(s.TB, err)
	return controllertypes.NewMsgSendTx(s.address(0).String(), ibctesting.FirstConnectionID, uint64(timeout.Nanoseconds()),
		icatypes.InterchainAccountPacketData{Type: icatypes.EXECUTE_TX, Data: data})
}

// schedule books a timer of the first account.
func (s *side) schedule(trigger types.Trigger, repeat *types.Repeat, msgs ...sdk.Msg) string {
	s.Helper()
	var booked types.MsgScheduleTimerResponse
	result := s.deliver(0, &types.MsgScheduleTimer{
		Sender: s.address(0).String(), Spec: types.TimerSpec{Trigger: trigger, Repeat: repeat, Call: types.TimerCall{Messages: packed(s.app.t, msgs...)}, GasLimit: 240_000},
	})
	s.response(result, &booked)
	return booked.Id
}

func (s *side) response(result *abci.ExecTxResult, response proto.Message) {
	s.Helper()
	var data sdk.TxMsgData
	require.NoError(s.TB, proto.Unmarshal(result.Data, &data))
	require.NoError(s.TB, proto.Unmarshal(data.MsgResponses[0].Value, response))
}

// fire runs blocks until a timer fires, and returns its event and the packets that it sent.
func (s *side) fire() (map[string]string, []channeltypes.Packet) {
	s.Helper()
	for range 24 {
		s.Coordinator.IncrementTime()
		s.NextBlock()
		fired := appchain.Events(s.app.last, "timers.v1.TimerFired")
		if len(fired) == 0 {
			continue
		}
		require.Len(s.TB, fired, 1)
		if packets, err := ibctesting.ParseIBCV1Packets(channeltypes.EventTypeSendPacket, s.app.last.Events); err == nil {
			return fired[0], packets
		}
		return fired[0], nil
	}
	require.Fail(s.TB, "no timer fires")
	return nil, nil
}

// events are those of one type in the last block, as maps of attributes.
func (s *side) events(name string) []map[string]string { return appchain.Events(s.app.last, name) }

func (s *side) balance(of sdk.AccAddress, denom string) sdkmath.Int {
	return s.app.Bank.GetBalance(s.GetContext(), of, denom).Amount
}

// deliveries of an actor's timers, the last one first.
func (s *side) deliveries(actor sdk.AccAddress) []types.DeliveryInfo {
	s.Helper()
	response, err := keeper.NewQueryServer(s.app.Timers).Deliveries(s.GetContext(), &types.QueryDeliveriesRequest{Actor: actor.String()})
	require.NoError(s.TB, err)
	return response.Deliveries
}

func (s *side) timers(actor sdk.AccAddress) []types.TimerInfo {
	s.Helper()
	response, err := keeper.NewQueryServer(s.app.Timers).TimersByActor(s.GetContext(), &types.QueryTimersByActorRequest{Actor: actor.String()})
	require.NoError(s.TB, err)
	return response.Timers
}
