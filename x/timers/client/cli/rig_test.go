package cli_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	abci "github.com/cometbft/cometbft/abci/types"
	cmtbytes "github.com/cometbft/cometbft/libs/bytes"
	rpcclient "github.com/cometbft/cometbft/rpc/client"
	coretypes "github.com/cometbft/cometbft/rpc/core/types"
	cmttypes "github.com/cometbft/cometbft/types"
	"github.com/spf13/cobra"
	"github.com/spf13/viper"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"cosmossdk.io/client/v2/autocli"
	"cosmossdk.io/core/appmodule"
	"cosmossdk.io/math"

	"github.com/cosmos/cosmos-sdk/baseapp"
	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/codec/address"
	"github.com/cosmos/cosmos-sdk/crypto/hd"
	"github.com/cosmos/cosmos-sdk/crypto/keyring"
	sdk "github.com/cosmos/cosmos-sdk/types"
	sdkerrors "github.com/cosmos/cosmos-sdk/types/errors"
	"github.com/cosmos/cosmos-sdk/version"
	authkeeper "github.com/cosmos/cosmos-sdk/x/auth/keeper"
	authtx "github.com/cosmos/cosmos-sdk/x/auth/tx"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	bankkeeper "github.com/cosmos/cosmos-sdk/x/bank/keeper"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
	govv1 "github.com/cosmos/cosmos-sdk/x/gov/types/v1"

	"github.com/cosmos-timers/timers/x/timers"
	"github.com/cosmos-timers/timers/x/timers/lab"
	"github.com/cosmos-timers/timers/x/timers/query"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// node answers the RPC of a chain of the lab: the network is left out, and all behind it is real.
type node struct {
	client.CometRPC
	rig *rig
	// blockTime is how far apart its headers say that blocks are.
	blockTime time.Duration
	earliest  int64
	catching  bool
	// asked counts the requests of any kind.
	asked int
	// down makes every request fail.
	down bool
	// refuse makes the node refuse every transaction.
	refuse bool

	// resultsFrom is the first height whose results are kept.
	resultsFrom int64
	// noQueries: the module is not part of the chain.
	noQueries bool
	// onLook is called when the node is asked for its height.
	onLook func()

	sent  map[string]cmttypes.Tx
	polls int
	index *eventIndex
}

func (n *node) ask() error {
	n.asked++
	if n.down {
		return fmt.Errorf("connection refused")
	}
	return nil
}

func (n *node) timeOf(height int64) time.Time {
	return time.Unix(1_700_000_000, 0).UTC().Add(time.Duration(height) * n.blockTime)
}

func (n *node) Status(context.Context) (*coretypes.ResultStatus, error) {
	height := int64(n.rig.chain.Height())
	return &coretypes.ResultStatus{SyncInfo: coretypes.SyncInfo{
		LatestBlockHeight: height, LatestBlockTime: n.timeOf(height), EarliestBlockHeight: n.earliest, CatchingUp: n.catching,
	}}, n.ask()
}

func (n *node) ABCIInfo(context.Context) (*coretypes.ResultABCIInfo, error) {
	if n.onLook != nil {
		n.onLook()
	}
	return &coretypes.ResultABCIInfo{Response: abci.ResponseInfo{LastBlockHeight: int64(n.rig.chain.Height())}}, n.ask()
}

func (n *node) BlockchainInfo(_ context.Context, from, to int64) (*coretypes.ResultBlockchainInfo, error) {
	var metas []*cmttypes.BlockMeta
	for height := to; height >= from; height-- {
		metas = append(metas, &cmttypes.BlockMeta{Header: cmttypes.Header{Height: height, Time: n.timeOf(height)}})
	}
	return &coretypes.ResultBlockchainInfo{LastHeight: int64(n.rig.chain.Height()), BlockMetas: metas}, n.ask()
}

func (n *node) ABCIQueryWithOptions(
	_ context.Context, path string, data cmtbytes.HexBytes, _ rpcclient.ABCIQueryOptions,
) (*coretypes.ResultABCIQuery, error) {
	if err := n.ask(); err != nil {
		return nil, err
	}
	handler := n.rig.queries.Route(path)
	if handler == nil || n.noQueries {
		return nil, fmt.Errorf("unknown query path %s", path)
	}
	response, err := handler(n.rig.chain.Ctx(), &abci.RequestQuery{Path: path, Data: data})
	if err != nil {
		// As baseapp turns an answer of gRPC into one of ABCI.
		kind := sdkerrors.ErrUnknownRequest
		switch status.Code(err) {
		case codes.NotFound:
			kind = sdkerrors.ErrKeyNotFound
		case codes.InvalidArgument:
			kind = sdkerrors.ErrInvalidRequest
		default: // the rest stays unknown
		}
		response = sdkerrors.QueryResult(kind.Wrap(err.Error()), false)
	}
	return &coretypes.ResultABCIQuery{Response: *response}, nil
}

func (n *node) BroadcastTxSync(_ context.Context, tx cmttypes.Tx) (*coretypes.ResultBroadcastTx, error) {
	hash := sha256.Sum256(tx)
	if n.refuse {
		return &coretypes.ResultBroadcastTx{Hash: hash[:], Code: 13, Codespace: "sdk", Log: "insufficient fee"}, n.ask()
	}
	n.sent[string(hash[:])] = tx
	return &coretypes.ResultBroadcastTx{Hash: hash[:]}, n.ask()
}

// Tx includes the transaction in a block when it is asked for a second time.
func (n *node) Tx(_ context.Context, hash []byte, _ bool) (*coretypes.ResultTx, error) {
	n.polls++
	if n.polls == 1 {
		return nil, fmt.Errorf("tx (%X) not found", hash)
	}
	decoded, err := n.rig.ctx.TxConfig.TxDecoder()(n.sent[string(hash)])
	require.NoError(n.rig.t, err)
	require.NoError(n.rig.t, n.rig.chain.BeginBlock())
	result := &coretypes.ResultTx{Hash: hash, Height: int64(n.rig.chain.Height())}
	results, _, err := n.rig.chain.Tx(decoded.GetMsgs()...)
	if err != nil {
		result.TxResult.Codespace, result.TxResult.Code, result.TxResult.Log = abciInfo(err)
	}
	for _, one := range results {
		result.TxResult.Events = append(result.TxResult.Events, one.Events...)
	}
	return result, n.rig.end()
}

func abciInfo(err error) (string, uint32, string) {
	info := sdkerrors.ResponseExecTxResultWithEvents(err, 0, 0, nil, false)
	return info.Codespace, info.Code, info.Log
}

// rig is a command line before a chain of the lab.
type rig struct {
	t       *testing.T
	chain   *lab.Chain
	queries *baseapp.GRPCQueryRouter
	node    *node
	ctx     client.Context
	alice   string
	bob     string
	dir     string
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir()}
	var keys keyring.Keyring
	// The codec of a chain is made with it, and a key with a codec: so the chain starts without accounts.
	chain, err := lab.NewChain(lab.ChainOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, chain.Check()) })
	r.chain = chain
	registry := chain.Codec.InterfaceRegistry()
	govv1.RegisterInterfaces(registry)
	keys = keyring.NewInMemory(chain.Codec)
	require.NoError(t, chain.BeginBlock())
	for _, name := range []string{"alice", "bob"} {
		record, _, err := keys.NewMnemonic(name, keyring.English, sdk.FullFundraiserPath, "", hd.Secp256k1)
		require.NoError(t, err)
		addr, err := record.GetAddress()
		require.NoError(t, err)
		require.NoError(t, chain.Fund(lab.Balance{Address: addr, Amount: math.NewInt(10_000_000)}))
		if name == "alice" {
			r.alice = addr.String()
		} else {
			r.bob = addr.String()
		}
	}
	require.NoError(r.t, r.end())
	r.queries = baseapp.NewGRPCQueryRouter()
	r.queries.SetInterfaceRegistry(registry)
	types.RegisterQueryServer(r.queries, query.NewServer(chain.Timers))
	authtypes.RegisterQueryServer(r.queries, authkeeper.NewQueryServer(chain.Accounts))
	banktypes.RegisterQueryServer(r.queries, bankkeeper.NewQuerier(&chain.Bank))
	r.node = &node{rig: r, blockTime: time.Second, earliest: 1, sent: map[string]cmttypes.Tx{}, index: newEventIndex()}
	r.ctx = client.Context{
		Codec: chain.Codec, InterfaceRegistry: registry, TxConfig: authtx.NewTxConfig(chain.Codec, authtx.DefaultSignModes),
		Keyring: keys, AccountRetriever: authtypes.AccountRetriever{}, ChainID: "lab", Client: r.node, HomeDir: r.dir,
		BroadcastMode: "sync",
	}
	r.blocks(9)
	return r
}

// blocks lets empty blocks go by.
func (r *rig) blocks(n int) {
	for range n {
		require.NoError(r.t, r.chain.BeginBlock())
		require.NoError(r.t, r.end())
	}
}

// run runs a command line as the binary does.
func (r *rig) run(line ...string) (stdout, notes string, err error) { return r.runWith("", line...) }

func (r *rig) runWith(stdin string, line ...string) (stdout, notes string, err error) {
	root := &cobra.Command{Use: "chaind", SilenceErrors: true}
	version.AppName = "chaind"
	options := autocli.AppOptions{
		Modules:               map[string]appmodule.AppModule{"timers": timers.AppModule{}},
		AddressCodec:          r.ctx.InterfaceRegistry.SigningContext().AddressCodec(),
		ValidatorAddressCodec: address.NewBech32Codec("cosmosvaloper"),
		ConsensusAddressCodec: address.NewBech32Codec("cosmosvalcons"),
		ClientCtx:             r.ctx,
	}
	require.NoError(r.t, options.EnhanceRootCommand(root))
	var out, errs bytes.Buffer
	root.SetIn(strings.NewReader(stdin))
	root.SetOut(&out)
	root.SetErr(&errs)
	root.SetArgs(line)
	clientCtx := r.ctx.WithViper("")
	clientCtx.Viper = viper.New()
	if slices.Contains(line, "--offline") {
		// The SDK refuses a chain id with what is printed offline: who signs states it.
		clientCtx = clientCtx.WithChainID("")
	}
	err = root.ExecuteContext(context.WithValue(context.Background(), client.ClientContextKey, &clientCtx))
	return out.String(), errs.String(), err
}

// tx reads the messages of a printed transaction.
func (r *rig) tx(printed string) []sdk.Msg {
	r.t.Helper()
	decoded, err := r.ctx.TxConfig.TxJSONDecoder()([]byte(printed))
	require.NoError(r.t, err, printed)
	return decoded.GetMsgs()
}

func (r *rig) send(from, to string, amount int64) *banktypes.MsgSend {
	return &banktypes.MsgSend{
		FromAddress: from, ToAddress: to, Amount: sdk.NewCoins(sdk.NewInt64Coin(r.chain.FeeDenom, amount)),
	}
}

// json writes a message as people write it.
func (r *rig) json(msg sdk.Msg) string {
	text, err := r.chain.Codec.MarshalInterfaceJSON(msg)
	require.NoError(r.t, err)
	return string(text)
}

// schedule schedules a transfer of alice's on the chain and returns the timer's id.
func (r *rig) schedule(height uint64, amount int64) string {
	payload, err := types.NewAccountPayload(r.send(r.alice, r.bob, amount))
	require.NoError(r.t, err)
	raw, err := r.chain.Codec.Marshal(payload)
	require.NoError(r.t, err)
	msg := &types.MsgScheduleTimer{Sender: r.alice, Trigger: types.Trigger{Height: height}, Payload: raw}
	require.NoError(r.t, r.chain.BeginBlock())
	results, _, err := r.chain.Tx(msg)
	require.NoError(r.t, err)
	require.NoError(r.t, r.end())
	response, ok := results[0].MsgResponses[0].GetCachedValue().(*types.MsgScheduleTimerResponse)
	require.True(r.t, ok)
	return response.Id
}

// configure replaces the config, in force when it returns.
func (r *rig) configure(change func(*types.TimerConfig)) {
	r.t.Helper()
	config := types.DefaultTimerConfig(r.chain.FeeDenom)
	change(&config)
	require.NoError(r.t, r.chain.BeginBlock())
	_, _, err := r.chain.Tx(&types.MsgUpdateTimerConfig{Authority: r.chain.Authority, Config: config})
	require.NoError(r.t, err)
	require.NoError(r.t, r.end())
	r.blocks(1)
}
