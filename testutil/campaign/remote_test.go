package campaign

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"testing"
	"time"

	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/cosmos/gogoproto/proto"
	controllertypes "github.com/cosmos/ibc-go/v10/modules/apps/27-interchain-accounts/controller/types"
	hosttypes "github.com/cosmos/ibc-go/v10/modules/apps/27-interchain-accounts/host/types"
	icatypes "github.com/cosmos/ibc-go/v10/modules/apps/27-interchain-accounts/types"
	transfertypes "github.com/cosmos/ibc-go/v10/modules/apps/transfer/types"
	clienttypes "github.com/cosmos/ibc-go/v10/modules/core/02-client/types"
	channeltypes "github.com/cosmos/ibc-go/v10/modules/core/04-channel/types"
	ibcexported "github.com/cosmos/ibc-go/v10/modules/core/exported"
	localhost "github.com/cosmos/ibc-go/v10/modules/light-clients/09-localhost"
	ibctesting "github.com/cosmos/ibc-go/v10/testing"
	"github.com/stretchr/testify/require"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/appchain"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// The chain is its own other chain: IBC's localhost client connects it to itself. Handshakes, packets, acknowledgements and
// timeouts are messages of relayers as between two chains, but for the proofs, which are IBC's own business.

// remote is an owner, and the interchain account by which it acts on the chain as if it were on another one.
type remote struct {
	name    string
	owner   appchain.Account
	port    string
	order   channeltypes.Order
	address sdk.AccAddress
}

// transferChannel is the end of the channel for coins from which they are sent.
const transferChannel = "channel-0"

// proven is what relayers state in place of a proof and its height.
var proven, provenAt = localhost.SentinelProof, clienttypes.NewHeight(0, 1)

func newRemotes(tb testing.TB, c *appchain.Chain) []*remote {
	tb.Helper()
	for _, step := range []sdk.Msg{
		channeltypes.NewMsgChannelOpenInit(transfertypes.PortID, transfertypes.V1, channeltypes.UNORDERED, hops, transfertypes.PortID, relayer),
		channeltypes.NewMsgChannelOpenTry(transfertypes.PortID, transfertypes.V1, channeltypes.UNORDERED, hops, transfertypes.PortID,
			transferChannel, transfertypes.V1, proven, provenAt, relayer),
		channeltypes.NewMsgChannelOpenAck(transfertypes.PortID, transferChannel, "channel-1", transfertypes.V1, proven, provenAt, relayer),
		channeltypes.NewMsgChannelOpenConfirm(transfertypes.PortID, "channel-1", proven, provenAt, relayer),
	} {
		c.Deliver("alice", step)
	}
	remotes := []*remote{{name: "richer", order: channeltypes.UNORDERED}, {name: "poor", order: channeltypes.ORDERED}}
	for i, funds := range []int64{10_000_000, 150_000} {
		r := remotes[i]
		r.owner = account(r.name)
		r.port = icatypes.ControllerPortPrefix + r.owner.Address.String()
		for step := r.handshake(c.Ctx(), c.App); step != nil; step = r.handshake(c.Ctx(), c.App) {
			c.Deliver(r.signer(step), step)
		}
		address, found := c.App.ICAHost.GetInterchainAccountAddress(c.Ctx(), ibcexported.LocalhostConnectionID, r.port)
		require.True(tb, found)
		r.address = sdk.MustAccAddressFromBech32(address)
		c.Deliver("alice", banktypes.NewMsgSend(alice.Address, r.address, utmr(funds)))
	}
	return remotes
}

// hops of every channel; the relayer is no one special.
var (
	hops    = []string{ibcexported.LocalhostConnectionID}
	relayer = alice.Address.String()
)

// ends are the last channel that the owner has opened: its end, and that of the host, if there is one.
func (r *remote) ends(ctx sdk.Context, a *app.App) (controller, atHost *channeltypes.IdentifiedChannel) {
	channels := a.IBC.ChannelKeeper
	var last uint64
	for _, channel := range channels.GetAllChannelsWithPortPrefix(ctx, r.port) {
		number, err := channeltypes.ParseChannelSequence(channel.ChannelId)
		if err == nil && (controller == nil || number > last) {
			last, controller = number, &channel
		}
	}
	if controller == nil {
		return nil, nil
	}
	for _, channel := range channels.GetAllChannelsWithPortPrefix(ctx, icatypes.HostPortID) {
		if channel.Counterparty.PortId == r.port && channel.Counterparty.ChannelId == controller.ChannelId {
			return controller, &channel
		}
	}
	return controller, nil
}

// handshake is the next message that it takes until the interchain account can be reached; nil if it can be.
func (r *remote) handshake(ctx sdk.Context, a *app.App) sdk.Msg {
	controller, atHost := r.ends(ctx, a)
	switch {
	case controller == nil, controller.State == channeltypes.CLOSED && (atHost == nil || atHost.State == channeltypes.CLOSED):
		return controllertypes.NewMsgRegisterInterchainAccount(ibcexported.LocalhostConnectionID, r.owner.Address.String(), "", r.order)
	case controller.State == channeltypes.CLOSED:
		return channeltypes.NewMsgChannelCloseConfirm(atHost.PortId, atHost.ChannelId, proven, provenAt, relayer)
	case atHost == nil:
		return channeltypes.NewMsgChannelOpenTry(icatypes.HostPortID, controller.Version, r.order, hops, r.port, controller.ChannelId,
			controller.Version, proven, provenAt, relayer)
	case controller.State == channeltypes.INIT:
		return channeltypes.NewMsgChannelOpenAck(r.port, controller.ChannelId, atHost.ChannelId, atHost.Version, proven, provenAt, relayer)
	case atHost.State == channeltypes.TRYOPEN:
		return channeltypes.NewMsgChannelOpenConfirm(atHost.PortId, atHost.ChannelId, proven, provenAt, relayer)
	default:
		return nil
	}
}

// signer of a message of the handshake.
func (r *remote) signer(step sdk.Msg) string {
	if _, own := step.(*controllertypes.MsgRegisterInterchainAccount); own {
		return r.name
	}
	return "alice"
}

// sendTx has the interchain account run messages, as soon as somebody relays the packet.
func (w *world) sendTx(owner sdk.AccAddress, d draws, msgs ...proto.Message) *controllertypes.MsgSendTx {
	data, err := icatypes.SerializeCosmosTx(w.app().AppCodec(), msgs, icatypes.EncodingProtobuf)
	require.NoError(w.tb, err)
	return controllertypes.NewMsgSendTx(owner.String(), ibcexported.LocalhostConnectionID, uint64(w.timeout(d)),
		icatypes.InterchainAccountPacketData{Type: icatypes.EXECUTE_TX, Data: data})
}

// timeout of a packet; some come too late.
func (w *world) timeout(d draws) time.Duration {
	return pick(d, time.Hour, time.Hour, time.Hour, time.Hour, time.Hour, 2*time.Second)
}

// transfer sends coins to an account by the channel for coins.
func (w *world) transfer(by sdk.AccAddress, d draws) sdk.Msg {
	until := w.last.Time.Add(w.timeout(d) + time.Duration(d.between(0, 9))*time.Second)
	return transfertypes.NewMsgTransfer(transfertypes.PortID, transferChannel, utmr(pick[int64](d, 1, 50, 3_000, 1<<60))[0], by.String(),
		pick(d, owners...).Address.String(), clienttypes.ZeroHeight(), uint64(until.UnixNano()), "")
}

// remoteBy is the interchain account of this address.
func (w *world) remoteBy(address string) (*remote, bool) {
	for _, r := range w.remotes {
		if r.address.String() == address {
			return r, true
		}
	}
	return nil, false
}

// parcel is a packet under way, and its acknowledgement once it has one.
type parcel struct {
	packet channeltypes.Packet
	ack    []byte
	// number of the op that sent it, or 0 if a timer did.
	number int
}

// relay brings up to so many packets, acknowledgements and timeouts.
func (w *world) relay(o op, d draws) {
	for range min(len(w.parcels), int(d.between(1, 6))) {
		p := w.parcels[0]
		w.parcels = w.parcels[1:]
		msg, number := sdk.Msg(channeltypes.NewMsgRecvPacket(p.packet, proven, provenAt, relayer)), p.number
		switch {
		case p.ack != nil:
			msg, number = channeltypes.NewMsgAcknowledgement(p.packet, p.ack, proven, provenAt, relayer), o.number
		case p.packet.TimeoutTimestamp <= uint64(w.request().Time.UnixNano()):
			next, _ := w.app().IBC.ChannelKeeper.GetNextSequenceRecv(w.ctx(), p.packet.DestinationPort, p.packet.DestinationChannel)
			msg, number = channeltypes.NewMsgTimeout(p.packet, next, proven, provenAt, relayer), o.number
			w.done["packets too late"]++
		}
		w.block.txs, w.block.numbers = append(w.block.txs, w.signed(alice, msg)), append(w.block.numbers, number)
	}
}

// collect notes the packets that a block sent, and the acknowledgements that it wrote.
func (w *world) collect(response *abci.ResponseFinalizeBlock) {
	for i, result := range response.TxResults {
		if result.IsOK() {
			w.collectFrom(result.Events, w.block.numbers[i])
		}
	}
	w.collectFrom(response.Events, 0)
	for _, fired := range appchain.Events(response, "timers.v1.TimerFired") {
		if _, is := w.remoteBy(fired["actor"]); is {
			w.done["fires of interchain accounts"]++
		}
	}
}

func (w *world) collectFrom(events []abci.Event, number int) {
	for _, event := range events {
		if event.Type != channeltypes.EventTypeSendPacket && event.Type != channeltypes.EventTypeWriteAck {
			continue
		}
		found, err := ibctesting.ParseIBCV1Packets(event.Type, []abci.Event{event})
		require.NoError(w.tb, err)
		p := parcel{packet: found[0], number: number}
		if event.Type == channeltypes.EventTypeWriteAck {
			p.ack, err = hex.DecodeString(attribute(event, channeltypes.AttributeKeyAckHex))
			require.NoError(w.tb, err)
			w.done["packets"]++
			if bytes.Contains(p.ack, []byte(`"error"`)) {
				w.done["packets that failed"]++
			}
		}
		if number == 0 {
			w.done["packets of fires"]++
		}
		w.parcels = append(w.parcels, p)
	}
}

// remotely does an op of an interchain account, through its owner.
func (w *world) remotely(o op, d draws) {
	r := pick(d, w.remotes...)
	self := appchain.Account{Address: r.address}
	switch o.kind {
	case "schedule remotely":
		w.sign(o, r.owner, w.sendTx(r.owner.Address, d, w.scheduleMsg(self, d)))
	case "remote":
		w.sign(o, r.owner, w.sendTx(r.owner.Address, d, pick[proto.Message](d,
			banktypes.NewMsgSend(r.address, rich.Address, utmr(int64(d.between(1, 2_000)))),
			&types.MsgSetAgent{Sender: r.address.String(), Agent: pick(d, "", w.agent.String(), rich.Address.String())},
			&types.MsgScheduleTimer{Sender: rich.Address.String(), Spec: types.TimerSpec{Trigger: types.Trigger{After: 3}}},
			w.estimate(r, d),
		)))
	case "transfer":
		by := pick(d, owners...)
		w.sign(o, by, w.transfer(by.Address, d))
	case "handshake":
		if step := r.handshake(w.ctx(), w.app()); step != nil {
			w.done["steps of handshakes"]++
			w.sign(o, account(r.signer(step)), step)
		}
	}
}

// estimate asks what a fire would cost.
func (w *world) estimate(r *remote, d draws) *hosttypes.MsgModuleQuerySafe {
	data, err := proto.Marshal(&types.QueryEstimateRequest{Actor: r.address.String(), GasLimit: d.between(30_000, 300_000)})
	require.NoError(w.tb, err)
	return hosttypes.NewMsgModuleQuerySafe(r.address.String(), []hosttypes.QueryRequest{{Path: "/timers.v1.Query/Estimate", Data: data}})
}

// Histories of nothing else reach what the drawn ones reach seldom: interchain accounts' timers fire, timers send packets,
// packets fail, come too late and close channels, which are opened again.
func TestInterchainAccountsTakePart(t *testing.T) {
	done := map[string]int{}
	for seed := range uint64(2) {
		d := draws{rand.New(rand.NewPCG(seed, 2))}
		var ops []op
		for number := range 400 {
			ops = append(ops, op{
				kind:   pick(d, "schedule remotely", "relay", "handshake", "remote", "transfer", "block", "relay", "block"),
				number: number, dice: d.Uint64(),
			})
		}
		w, err := play(t, seed, ops)
		require.NoError(t, err)
		for what, n := range w.done {
			done[what] += n
		}
	}
	t.Log(done)
	for _, what := range []string{
		"fires of interchain accounts", "packets of fires", "packets", "packets that failed", "packets too late", "steps of handshakes",
	} {
		require.Positive(t, done[what], what)
	}
}
