package prices

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/cometbft/cometbft/crypto"
	"github.com/cometbft/cometbft/crypto/ed25519"
	"github.com/cometbft/cometbft/crypto/secp256k1"
	cmtproto "github.com/cometbft/cometbft/proto/tendermint/types"
	cmtversion "github.com/cometbft/cometbft/proto/tendermint/version"
	cmttypes "github.com/cometbft/cometbft/types"
	"github.com/cometbft/cometbft/version"
	"github.com/cosmos/gogoproto/proto"
	controllertypes "github.com/cosmos/ibc-go/v10/modules/apps/27-interchain-accounts/controller/types"
	icatypes "github.com/cosmos/ibc-go/v10/modules/apps/27-interchain-accounts/types"
	transfertypes "github.com/cosmos/ibc-go/v10/modules/apps/transfer/types"
	clienttypes "github.com/cosmos/ibc-go/v10/modules/core/02-client/types"
	connectiontypes "github.com/cosmos/ibc-go/v10/modules/core/03-connection/types"
	channeltypes "github.com/cosmos/ibc-go/v10/modules/core/04-channel/types"
	commitmenttypes "github.com/cosmos/ibc-go/v10/modules/core/23-commitment/types"
	host "github.com/cosmos/ibc-go/v10/modules/core/24-host"
	ibcexported "github.com/cosmos/ibc-go/v10/modules/core/exported"
	ibctm "github.com/cosmos/ibc-go/v10/modules/light-clients/07-tendermint"

	storetypes "cosmossdk.io/store/types"

	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/testutil/bench/realapp"
	"github.com/cosmos-timers/timers/testutil/bench/workload"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	otherChain = "other"
	// connection to the other chain, and its only channel for coins; those of interchain accounts follow it.
	connection, coins = "connection-0", "channel-0"
	// never is a timeout beyond all that is measured, in nanoseconds since 1970.
	never = 2_000_000_000_000_000_000
)

// seen is the height at which the client knows the other chain: its state is the one after the block before.
var seen = clienttypes.NewHeight(0, realapp.Height)

// connected opens the ends of channels that this chain has, over a client that knows the other chain by what its header
// states. Their handshakes are no one's work here.
func connected(c *realapp.Chain, ctx sdk.Context, state *ibctm.ConsensusState) error {
	client, err := c.App.AppCodec().Marshal(ibctm.NewClientState(otherChain, ibctm.DefaultTrustLevel, 14*24*time.Hour, 21*24*time.Hour, time.Minute,
		seen, commitmenttypes.GetSDKSpecs(), []string{"upgrade", "upgradedIBCState"}))
	if err != nil {
		return err
	}
	consensus, err := c.App.AppCodec().Marshal(state)
	if err != nil {
		return err
	}
	id, err := c.App.IBC.ClientKeeper.CreateClient(ctx, ibcexported.Tendermint, client, consensus)
	if err != nil {
		return err
	}
	c.App.IBC.ConnectionKeeper.SetConnection(ctx, connection, connectiontypes.NewConnectionEnd(connectiontypes.OPEN, id,
		connectiontypes.NewCounterparty(id, connection, commitmenttypes.NewMerklePrefix([]byte(ibcexported.StoreKey))),
		connectiontypes.GetCompatibleVersions(), 0))
	open(c, ctx, transfertypes.PortID, coins, transfertypes.PortID, transfertypes.V1)
	metadata := icatypes.NewDefaultMetadataString(connection, connection)
	for i := range units {
		open(c, ctx, controllerOf(i), channelOf(i), icatypes.HostPortID, metadata)
		c.App.ICAController.SetActiveChannelID(ctx, connection, controllerOf(i), channelOf(i))
		open(c, ctx, icatypes.HostPortID, channelOf(i), controllerOf(i), metadata)
		c.App.ICAHost.SetActiveChannelID(ctx, connection, controllerOf(i), channelOf(i))
		c.App.ICAHost.SetInterchainAccountAddress(ctx, connection, controllerOf(i), interchainAccount(i).String())
		account := icatypes.NewInterchainAccount(authtypes.NewBaseAccountWithAddress(interchainAccount(i)), controllerOf(i))
		c.App.Accounts.SetAccount(ctx, c.App.Accounts.NewAccount(ctx, account))
		if err := c.App.Bank.SendCoins(ctx, realapp.KeyedAccount(i).Address, interchainAccount(i), coin(workload.OwnerFunds/4)); err != nil {
			return err
		}
	}
	return nil
}

// open is one end of a channel, whose other end has the same number.
func open(c *realapp.Chain, ctx sdk.Context, port, channel, counterparty, version string) {
	channels := c.App.IBC.ChannelKeeper
	channels.SetChannel(ctx, port, channel, channeltypes.NewChannel(channeltypes.OPEN, channeltypes.UNORDERED,
		channeltypes.NewCounterparty(counterparty, channel), []string{connection}, version))
	channels.SetNextSequenceSend(ctx, port, channel, 1)
}

// Both chains have the same keyed accounts, and the i-th one's interchain account is the same address on both.
func interchainAccount(i int) sdk.AccAddress { return workload.Owner(i) }

func channelOf(i int) string { return fmt.Sprintf("channel-%d", i+1) }

func controllerOf(i int) string {
	return icatypes.ControllerPortPrefix + realapp.KeyedAccount(i).Address.String()
}

// unproven is a chain whose packets no one brings, so that its state may be any.
func unproven(c *realapp.Chain, ctx sdk.Context) error {
	return connected(c, ctx, stateOf(ctx, make([]byte, 32), make([]byte, 32)))
}

func stateOf(ctx sdk.Context, root, validators []byte) *ibctm.ConsensusState {
	return ibctm.NewConsensusState(ctx.BlockTime(), commitmenttypes.NewMerkleRoot(root), validators)
}

// byInterchain is what the interchain account of the i-th keyed account is to run.
func byInterchain(c *realapp.Chain, msgs ...proto.Message) (icatypes.InterchainAccountPacketData, error) {
	data, err := icatypes.SerializeCosmosTx(c.App.AppCodec(), msgs, icatypes.EncodingProtobuf)
	return icatypes.InterchainAccountPacketData{Type: icatypes.EXECUTE_TX, Data: data}, err
}

// running are timers of the keyed accounts that run a message each in the measured block.
func running(n int, msg func(c *realapp.Chain, i int) (sdk.Msg, error)) func(*realapp.Chain, sdk.Context) error {
	return func(c *realapp.Chain, ctx sdk.Context) error {
		return each(n, due(func(i int) ([]byte, error) {
			m, err := msg(c, i)
			if err != nil {
				return nil, err
			}
			return workload.SendPayload(m)
		}, 250_000, 0))(c, ctx)
	}
}

func transfer(_ *realapp.Chain, i int) (sdk.Msg, error) { return transferBefore(never, i), nil }

func transferBefore(timeout uint64, i int) sdk.Msg {
	from := realapp.KeyedAccount(i).Address.String()
	return transfertypes.NewMsgTransfer(transfertypes.PortID, coins, coin(1)[0], from, from, clienttypes.ZeroHeight(), timeout, "")
}

// lateTransfer has timed out, as far as the client knows.
func lateTransfer(_ *realapp.Chain, i int) (sdk.Msg, error) { return transferBefore(1, i), nil }

// sendTx has the interchain account on the other chain send a coin.
func sendTx(c *realapp.Chain, i int) (sdk.Msg, error) {
	data, err := byInterchain(c, banktypes.NewMsgSend(interchainAccount(i), realapp.KeyedAccount(i).Address, coin(1)))
	return controllertypes.NewMsgSendTx(realapp.KeyedAccount(i).Address.String(), connection, uint64(time.Hour), data), err
}

// ofInterchain are timers of interchain accounts, each of which sends a coin.
func ofInterchain(n int) func(*realapp.Chain, sdk.Context) error {
	return func(c *realapp.Chain, ctx sdk.Context) error {
		for i := range n {
			msg, err := interchainSchedule(i, types.Trigger{Height: realapp.Height})
			if err != nil {
				return err
			}
			if err := c.Run(ctx, msg, &types.MsgScheduleTimerResponse{}); err != nil {
				return err
			}
		}
		return nil
	}
}

func interchainSchedule(i int, trigger types.Trigger) (*types.MsgScheduleTimer, error) {
	send, err := codectypes.NewAnyWithValue(banktypes.NewMsgSend(interchainAccount(i), realapp.KeyedAccount(i).Address, coin(1)))
	return &types.MsgScheduleTimer{
		Sender: interchainAccount(i).String(), Spec: types.TimerSpec{Trigger: trigger, Call: types.TimerCall{Messages: []*codectypes.Any{send}}, GasLimit: 100_000},
	}, err
}

// packets are brought to this chain, with the proof that the other chain sent them.
type packets struct {
	all    []channeltypes.Packet
	proofs [][]byte
}

// setUp makes the other chain, which sends the packets, and connects this one to it. Each packet has an interchain account
// schedule a timer.
func (p *packets) setUp(c *realapp.Chain, ctx sdk.Context) error {
	p.all, p.proofs = nil, nil
	other, err := realapp.New(usual(p.send))
	if err != nil {
		return err
	}
	defer func() { _ = other.Close() }()
	store, ok := other.App.CommitMultiStore().(storetypes.Queryable)
	if !ok {
		return fmt.Errorf("%T answers no queries", other.App.CommitMultiStore())
	}
	for _, packet := range p.all {
		found, err := store.Query(&storetypes.RequestQuery{
			Path:   "/" + ibcexported.StoreKey + "/key",
			Data:   host.PacketCommitmentKey(packet.SourcePort, packet.SourceChannel, packet.Sequence),
			Height: other.App.LastBlockHeight(), Prove: true,
		})
		if err != nil {
			return err
		}
		proof, err := commitmenttypes.ConvertProofs(found.ProofOps)
		if err != nil {
			return err
		}
		bz, err := c.App.AppCodec().Marshal(&proof)
		if err != nil {
			return err
		}
		p.proofs = append(p.proofs, bz)
	}
	return connected(c, ctx, stateOf(ctx, other.App.LastCommitID().Hash, make([]byte, 32)))
}

func (p *packets) send(c *realapp.Chain, ctx sdk.Context) error {
	for i := range units {
		msg, err := interchainSchedule(i, types.Trigger{After: far})
		if err != nil {
			return err
		}
		data, err := byInterchain(c, msg)
		if err != nil {
			return err
		}
		packet := channeltypes.NewPacket(data.GetBytes(), 1, controllerOf(i), channelOf(i), icatypes.HostPortID, channelOf(i),
			clienttypes.ZeroHeight(), never)
		c.App.IBC.ChannelKeeper.SetPacketCommitment(ctx, packet.SourcePort, packet.SourceChannel, packet.Sequence,
			channeltypes.CommitPacket(packet))
		p.all = append(p.all, packet)
	}
	return nil
}

// scheduleByPacket are transactions of relayers, each of which brings a packet.
func scheduleByPacket() kind {
	p := &packets{}
	k := transaction("schedule a send, in a packet to an interchain account", units, p.setUp, nil)
	k.subject = checked(0, units, func(i int) ([]sdk.Msg, error) {
		return []sdk.Msg{channeltypes.NewMsgRecvPacket(p.all[i], p.proofs[i], seen, realapp.KeyedAccount(i).Address.String())}, nil
	}, func(c *realapp.Chain, ctx sdk.Context) error {
		// The transaction succeeds even if what is in the packet fails.
		for i := range units {
			timers, err := c.App.Timers.TimersOf(ctx, interchainAccount(i))
			if err != nil || len(timers) != 1 {
				return fmt.Errorf("a packet scheduled %d timers: %w", len(timers), err)
			}
		}
		return nil
	})
	return k
}

// validators of the other chain, who sign its header.
const validators = 50

// updating are timers that tell the client of a header again and again. Whether it is new is asked after its signatures.
func updating(n int, keyOf func(secret []byte) crypto.PrivKey) func(*realapp.Chain, sdk.Context) error {
	return func(c *realapp.Chain, ctx sdk.Context) error {
		signers := make([]cmttypes.PrivValidator, validators)
		all := make([]*cmttypes.Validator, validators)
		for i := range signers {
			key := keyOf(fmt.Appendf(nil, "validator %d", i))
			signers[i], all[i] = cmttypes.NewMockPVWithParams(key, false, false), cmttypes.NewValidator(key.PubKey(), 1)
		}
		set := cmttypes.NewValidatorSet(all)
		slices.SortFunc(signers, func(a, b cmttypes.PrivValidator) int { return bytes.Compare(addressOf(a), addressOf(b)) })
		if err := connected(c, ctx, stateOf(ctx, make([]byte, 32), set.Hash())); err != nil {
			return err
		}
		header, err := signedHeader(ctx, set, signers)
		if err != nil {
			return err
		}
		return running(n, func(_ *realapp.Chain, i int) (sdk.Msg, error) {
			return clienttypes.NewMsgUpdateClient("07-tendermint-0", header, realapp.KeyedAccount(i).Address.String())
		})(c, ctx)
	}
}

func addressOf(v cmttypes.PrivValidator) []byte {
	key, err := v.GetPubKey()
	if err != nil {
		return nil
	}
	return key.Address()
}

// signedHeader is two heights above what the client has seen, so that the validators it trusts are counted too.
func signedHeader(ctx sdk.Context, set *cmttypes.ValidatorSet, signers []cmttypes.PrivValidator) (*ibctm.Header, error) {
	hash := make([]byte, 32)
	header := cmttypes.Header{
		Version: cmtversion.Consensus{Block: version.BlockProtocol}, ChainID: otherChain, Height: int64(seen.RevisionHeight) + 2,
		Time: ctx.BlockTime().Add(time.Second), LastBlockID: cmttypes.BlockID{Hash: hash, PartSetHeader: cmttypes.PartSetHeader{Total: 1, Hash: hash}},
		LastCommitHash: hash, DataHash: hash, ValidatorsHash: set.Hash(), NextValidatorsHash: set.Hash(), ConsensusHash: hash, AppHash: hash,
		LastResultsHash: hash, EvidenceHash: hash, ProposerAddress: set.Validators[0].Address,
	}
	votes := cmttypes.NewVoteSet(otherChain, header.Height, 1, cmtproto.PrecommitType, set)
	id := cmttypes.BlockID{Hash: header.Hash(), PartSetHeader: cmttypes.PartSetHeader{Total: 1, Hash: hash}}
	commit, err := cmttypes.MakeExtCommit(id, header.Height, 1, votes, signers, header.Time, false)
	if err != nil {
		return nil, err
	}
	known, err := set.ToProto()
	if err != nil {
		return nil, err
	}
	known.TotalVotingPower = set.TotalVotingPower()
	return &ibctm.Header{
		SignedHeader: &cmtproto.SignedHeader{Header: header.ToProto(), Commit: commit.ToCommit().ToProto()},
		ValidatorSet: known, TrustedHeight: seen, TrustedValidators: known,
	}, nil
}

// packetKinds are what accounts of other chains cause here, and what timers send to other chains.
func packetKinds() []kind {
	usualKey := func(secret []byte) crypto.PrivKey { return ed25519.GenPrivKeyFromSecret(secret) }
	slowKey := func(secret []byte) crypto.PrivKey { return secp256k1.GenPrivKeySecp256k1(secret) }
	slow := firing("a client's update by 50 validators with slow keys", 4, true, updating(4, slowKey)).
		remarked("IBC's own price: it charges no gas for signatures; the lane bounds it")
	return []kind{
		scheduleByPacket(),
		firing("an interchain account that sends", units, true, then(unproven, ofInterchain(units))),
		firing("a transfer to another chain", units, true, then(unproven, running(units, transfer))),
		firing("a transfer that is too late", units, false, then(unproven, running(units, lateTransfer))),
		firing("a packet to an interchain account", units, true, then(unproven, running(units, sendTx))),
		firing("a client's update by 50 validators", 4, true, updating(4, usualKey)),
		slow,
	}
}
