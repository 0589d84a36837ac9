// Package clienttest is a command line before a chain of the lab, for tests of the commands.
package clienttest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	cmttypes "github.com/cometbft/cometbft/types"
	"github.com/spf13/cobra"
	"github.com/spf13/viper"
	"github.com/stretchr/testify/require"

	"cosmossdk.io/client/v2/autocli"
	"cosmossdk.io/core/appmodule"
	"cosmossdk.io/math"
	"cosmossdk.io/x/feegrant"

	"github.com/cosmos/cosmos-sdk/baseapp"
	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/codec/address"
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	"github.com/cosmos/cosmos-sdk/crypto/hd"
	"github.com/cosmos/cosmos-sdk/crypto/keyring"
	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/version"
	authkeeper "github.com/cosmos/cosmos-sdk/x/auth/keeper"
	authtx "github.com/cosmos/cosmos-sdk/x/auth/tx"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	bankkeeper "github.com/cosmos/cosmos-sdk/x/bank/keeper"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
	distrtypes "github.com/cosmos/cosmos-sdk/x/distribution/types"
	govv1 "github.com/cosmos/cosmos-sdk/x/gov/types/v1"
	stakingtypes "github.com/cosmos/cosmos-sdk/x/staking/types"

	"github.com/cosmos-timers/timers/x/timers"
	"github.com/cosmos-timers/timers/x/timers/client/timespan"
	"github.com/cosmos-timers/timers/x/timers/keeper"
	"github.com/cosmos-timers/timers/x/timers/testutil/lab"
	"github.com/cosmos-timers/timers/x/timers/types"
)

// Rig is a command line before a chain of the lab.
type Rig struct {
	T       *testing.T
	Chain   *lab.Chain
	queries *baseapp.GRPCQueryRouter
	Node    *Node
	Ctx     client.Context
	Alice   string
	Bob     string
	// SimulatedFee is that of the transaction that the node simulated last.
	SimulatedFee sdk.Coins
	// Pending is the sequence that the node wants where transactions of the signer's are in no block yet; 0 if it takes any.
	Pending uint64
	// Late is how long ago the latest block was made, as the clock of the machine says; TZ its zone.
	Late time.Duration
	TZ   string
	dir  string
}

// New starts a chain with two funded accounts, at height 10. The runtimes come before its own.
func New(t *testing.T, runtimes ...types.Runtime) *Rig {
	t.Helper()
	return newRig(t, lab.ChainOptions{Runtimes: runtimes})
}

// NewUnwatched is New with a chain on which nothing can be watched.
func NewUnwatched(t *testing.T) *Rig {
	t.Helper()
	return newRig(t, lab.ChainOptions{Unwatched: true})
}

func newRig(t *testing.T, options lab.ChainOptions) *Rig {
	t.Helper()
	r := &Rig{T: t, dir: t.TempDir()}
	var keys keyring.Keyring
	// The codec of a chain is made with it, and a key with a codec: so the chain starts without accounts.
	chain, err := lab.NewChain(options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, chain.Check()) })
	r.Chain = chain
	registry := chain.Codec.InterfaceRegistry()
	govv1.RegisterInterfaces(registry)
	stakingtypes.RegisterInterfaces(registry)
	distrtypes.RegisterInterfaces(registry)
	keys = keyring.NewInMemory(chain.Codec)
	require.NoError(t, chain.BeginBlock())
	for _, name := range []string{"alice", "bob"} {
		record, _, err := keys.NewMnemonic(name, keyring.English, sdk.FullFundraiserPath, "", hd.Secp256k1)
		require.NoError(t, err)
		addr, err := record.GetAddress()
		require.NoError(t, err)
		require.NoError(t, chain.Fund(lab.Balance{Address: addr, Amount: math.NewInt(10_000_000)}))
		if name == "alice" {
			r.Alice = addr.String()
		} else {
			r.Bob = addr.String()
		}
	}
	require.NoError(r.T, r.End())
	r.queries = baseapp.NewGRPCQueryRouter()
	r.queries.SetInterfaceRegistry(registry)
	types.RegisterQueryServer(r.queries, keeper.NewQueryServer(chain.Timers))
	authtypes.RegisterQueryServer(r.queries, authkeeper.NewQueryServer(chain.Accounts))
	feegrant.RegisterQueryServer(r.queries, chain.Feegrant)
	banktypes.RegisterQueryServer(r.queries, bankkeeper.NewQuerier(&chain.Bank))
	r.Node = &Node{rig: r, BlockTime: time.Second, Earliest: 1, Sent: map[string]cmttypes.Tx{}, Index: newEventIndex()}
	r.Ctx = client.Context{
		Codec: chain.Codec, InterfaceRegistry: registry, TxConfig: authtx.NewTxConfig(chain.Codec, authtx.DefaultSignModes),
		Keyring: keys, AccountRetriever: authtypes.AccountRetriever{}, ChainID: "lab", Client: r.Node, HomeDir: r.dir,
		BroadcastMode: "sync",
	}
	r.Blocks(9)
	return r
}

// Blocks lets empty blocks go by.
func (r *Rig) Blocks(n int) {
	for range n {
		require.NoError(r.T, r.Chain.BeginBlock())
		require.NoError(r.T, r.End())
	}
}

// Run runs a command line as the binary does.
func (r *Rig) Run(line ...string) (stdout, notes string, err error) { return r.RunWith("", line...) }

// RunWith runs a command line with a standard input.
func (r *Rig) RunWith(stdin string, line ...string) (stdout, notes string, err error) {
	root := &cobra.Command{Use: "chaind", SilenceErrors: true}
	version.AppName = "chaind"
	options := autocli.AppOptions{
		Modules:               map[string]appmodule.AppModule{"timers": timers.AppModule{}},
		AddressCodec:          r.Ctx.InterfaceRegistry.SigningContext().AddressCodec(),
		ValidatorAddressCodec: address.NewBech32Codec("cosmosvaloper"),
		ConsensusAddressCodec: address.NewBech32Codec("cosmosvalcons"),
		ClientCtx:             r.Ctx,
	}
	require.NoError(r.T, options.EnhanceRootCommand(root))
	var out, errs bytes.Buffer
	root.SetIn(strings.NewReader(stdin))
	root.SetOut(&out)
	root.SetErr(&errs)
	root.SetArgs(line)
	clientCtx := r.Ctx.WithViper("")
	clientCtx.Viper = viper.New()
	if slices.Contains(line, "--offline") {
		// The SDK refuses a chain id with what is printed offline: who signs states it.
		clientCtx = clientCtx.WithChainID("")
	}
	ctx := timespan.OnMachine(context.Background(), timespan.Machine{Now: r.Now, TZ: r.TZ, HasTZ: true})
	err = root.ExecuteContext(context.WithValue(ctx, client.ClientContextKey, &clientCtx))
	return out.String(), errs.String(), err
}

// Now is what the clock of the machine says.
func (r *Rig) Now() time.Time { return r.Node.timeOf(int64(r.Chain.Height())).Add(r.Late) }

// Tx reads the messages of a printed transaction.
func (r *Rig) Tx(printed string) []sdk.Msg {
	r.T.Helper()
	decoded, err := r.Ctx.TxConfig.TxJSONDecoder()([]byte(printed))
	require.NoError(r.T, err, printed)
	return decoded.GetMsgs()
}

// Send is a transfer in the fee denom.
func (r *Rig) Send(from, to string, amount int64) *banktypes.MsgSend {
	return &banktypes.MsgSend{
		FromAddress: from, ToAddress: to, Amount: sdk.NewCoins(sdk.NewInt64Coin(r.Chain.FeeDenom, amount)),
	}
}

// JSON writes a message as people write it.
func (r *Rig) JSON(msg sdk.Msg) string {
	text, err := r.Chain.Codec.MarshalInterfaceJSON(msg)
	require.NoError(r.T, err)
	return string(text)
}

// Schedule schedules a transfer of alice's on the chain and returns the timer's id.
func (r *Rig) Schedule(height uint64, amount int64) string {
	payload, err := types.NewAccountPayload(r.Send(r.Alice, r.Bob, amount))
	require.NoError(r.T, err)
	raw, err := r.Chain.Codec.Marshal(payload)
	require.NoError(r.T, err)
	msg := &types.MsgScheduleTimer{Sender: r.Alice, Spec: types.TimerSpec{Trigger: types.Trigger{Height: height}, Call: types.TimerCall{Payload: raw}}}
	require.NoError(r.T, r.Chain.BeginBlock())
	results, _, err := r.Chain.Tx(msg)
	require.NoError(r.T, err)
	require.NoError(r.T, r.End())
	response, ok := results[0].MsgResponses[0].GetCachedValue().(*types.MsgScheduleTimerResponse)
	require.True(r.T, ok)
	return response.Id
}

// Configure replaces the config, in force when it returns.
func (r *Rig) Configure(change func(*types.TimerConfig)) {
	r.T.Helper()
	config := types.DefaultTimerConfig(r.Chain.FeeDenom)
	change(&config)
	lab.SkipWithout(r.T, config.Policy)
	require.NoError(r.T, r.Chain.BeginBlock())
	msg, err := r.Chain.Timers.ReplaceConfig(r.Chain.Ctx(), config)
	require.NoError(r.T, err)
	_, _, err = r.Chain.Tx(msg)
	require.NoError(r.T, err)
	require.NoError(r.T, r.End())
	r.Blocks(1)
}

// Printed runs a transaction's command with --generate-only and returns its one message.
func (r *Rig) Printed(line ...string) (sdk.Msg, string) {
	r.T.Helper()
	out, notes, err := r.Run(append([]string{"tx", "timers"}, append(line, "--from", r.Alice, "--generate-only")...)...)
	require.NoError(r.T, err)
	msgs := r.Tx(out)
	require.Len(r.T, msgs, 1)
	return msgs[0], notes
}

// Refused runs a transaction's command, which must fail and print nothing, and returns its error.
func (r *Rig) Refused(line ...string) error {
	r.T.Helper()
	out, _, err := r.Run(append([]string{"tx", "timers"}, append(line, "--from", r.Alice, "--generate-only")...)...)
	require.Error(r.T, err)
	require.Empty(r.T, out)
	return err
}

// File writes a file and returns its path.
func (r *Rig) File(name, content string) string {
	path := filepath.Join(r.dir, name)
	require.NoError(r.T, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// Payload packs messages as the payload of an account's timer.
func (r *Rig) Payload(msgs ...sdk.Msg) []byte {
	payload, err := types.NewAccountPayload(msgs...)
	require.NoError(r.T, err)
	raw, err := r.Chain.Codec.Marshal(payload)
	require.NoError(r.T, err)
	return raw
}

// Messages packs messages as a message states them.
func (r *Rig) Messages(msgs ...sdk.Msg) []*codectypes.Any {
	payload, err := types.NewAccountPayload(msgs...)
	require.NoError(r.T, err)
	return payload.Messages
}

// Crowd makes n timers of alice's due in the next block, each as large as the lane lets it be.
func (r *Rig) Crowd(n int) {
	due := r.Chain.Height() + uint64(n) + 1
	for range n {
		r.Schedule(due, 1)
	}
	require.Equal(r.T, due-1, r.Chain.Height())
}

// Sends moves coins in a block of its own.
func (r *Rig) Sends(from, to string, amount int64) {
	r.T.Helper()
	require.NoError(r.T, r.Chain.BeginBlock())
	_, _, err := r.Chain.Tx(r.Send(from, to, amount))
	require.NoError(r.T, err)
	require.NoError(r.T, r.End())
}
