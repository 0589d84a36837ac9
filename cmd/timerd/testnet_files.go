package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	cmtcfg "github.com/cometbft/cometbft/config"
	cmttypes "github.com/cometbft/cometbft/types"

	sdkmath "cosmossdk.io/math"

	"github.com/cosmos/cosmos-sdk/client"
	clientconfig "github.com/cosmos/cosmos-sdk/client/config"
	"github.com/cosmos/cosmos-sdk/client/tx"
	"github.com/cosmos/cosmos-sdk/crypto/hd"
	"github.com/cosmos/cosmos-sdk/crypto/keyring"
	cryptotypes "github.com/cosmos/cosmos-sdk/crypto/types"
	serverconfig "github.com/cosmos/cosmos-sdk/server/config"
	sdk "github.com/cosmos/cosmos-sdk/types"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
	"github.com/cosmos/cosmos-sdk/x/genutil"
	genutiltypes "github.com/cosmos/cosmos-sdk/x/genutil/types"
	govtypes "github.com/cosmos/cosmos-sdk/x/gov/types"
	govv1 "github.com/cosmos/cosmos-sdk/x/gov/types/v1"
	stakingtypes "github.com/cosmos/cosmos-sdk/x/staking/types"

	"github.com/cosmos-timers/timers/app"
)

// testnet makes the files of a test network.
type testnet struct {
	plan      testnetPlan
	modules   *app.Description
	clientCtx client.Context
	out       io.Writer

	nodes    []testNode
	balances []banktypes.Balance
	accounts []authtypes.GenesisAccount
	gentxs   []json.RawMessage
}

type testNode struct {
	id      string
	config  *cmtcfg.Config
	pubKey  cryptotypes.PubKey
	keyring keyring.Keyring
}

// make writes everything, or leaves nothing behind.
func (n *testnet) make() (err error) {
	defer func() {
		if err != nil {
			_ = os.RemoveAll(n.plan.output)
		}
	}()
	for i := range n.plan.validators {
		if err := n.addNode(i); err != nil {
			return fmt.Errorf("%s: %w", nodeName(i), err)
		}
	}
	for _, name := range n.plan.accounts {
		if _, err := n.addAccount(n.nodes[0].keyring, name, accountFunds); err != nil {
			return fmt.Errorf("account %q: %w", name, err)
		}
	}
	genesis, err := n.genesis()
	if err != nil {
		return err
	}
	for i := range n.nodes {
		if err := n.writeNode(i, genesis); err != nil {
			return fmt.Errorf("%s: %w", nodeName(i), err)
		}
	}
	return n.report()
}

// addNode makes a validator: its home, its keys, its balance, and the transaction that makes it one.
func (n *testnet) addNode(i int) error {
	config := cometConfig()
	config.SetRoot(n.plan.home(i))
	config.Moniker = nodeName(i)
	if err := os.MkdirAll(filepath.Join(config.RootDir, "config"), 0o755); err != nil {
		return err
	}
	id, pubKey, err := genutil.InitializeNodeValidatorFiles(config)
	if err != nil {
		return err
	}
	ring, err := keyring.New(sdk.KeyringServiceName(), n.plan.keyringBackend, config.RootDir, n.clientCtx.Input, n.clientCtx.Codec)
	if err != nil {
		return err
	}
	n.nodes = append(n.nodes, testNode{id: id, config: config, pubKey: pubKey, keyring: ring})
	address, err := n.addAccount(ring, nodeName(i), validatorFunds)
	if err != nil {
		return err
	}
	gentx, err := n.gentx(i, address)
	n.gentxs = append(n.gentxs, gentx)
	return err
}

// addAccount makes a key and funds its account in genesis.
func (n *testnet) addAccount(ring keyring.Keyring, name string, funds sdk.Coin) (sdk.AccAddress, error) {
	record, _, err := ring.NewMnemonic(name, keyring.English, sdk.GetConfig().GetFullBIP44Path(), "", hd.Secp256k1)
	if err != nil {
		return nil, err
	}
	address, err := record.GetAddress()
	if err != nil {
		return nil, err
	}
	n.accounts = append(n.accounts, authtypes.NewBaseAccount(address, nil, 0, 0))
	n.balances = append(n.balances, banktypes.Balance{Address: address.String(), Coins: sdk.NewCoins(funds)})
	return address, nil
}

func (n *testnet) gentx(i int, address sdk.AccAddress) (json.RawMessage, error) {
	tenPercent := sdkmath.LegacyNewDecWithPrec(1, 1)
	msg, err := stakingtypes.NewMsgCreateValidator(sdk.ValAddress(address).String(), n.nodes[i].pubKey, validatorStake,
		stakingtypes.NewDescription(nodeName(i), "", "", "", ""),
		stakingtypes.NewCommissionRates(tenPercent, sdkmath.LegacyOneDec(), tenPercent), sdkmath.OneInt())
	if err != nil {
		return nil, err
	}
	config := n.modules.TxConfig()
	builder := config.NewTxBuilder()
	if err := builder.SetMsgs(msg); err != nil {
		return nil, err
	}
	memo := n.peer(i)
	builder.SetMemo(memo)
	factory := tx.Factory{}.WithChainID(n.plan.chainID).WithMemo(memo).WithKeybase(n.nodes[i].keyring).WithTxConfig(config)
	if err := tx.Sign(n.clientCtx.CmdContext, factory, nodeName(i), builder, true); err != nil {
		return nil, err
	}
	return config.TxJSONEncoder()(builder.GetTx())
}

func (n *testnet) peer(i int) string {
	return fmt.Sprintf("%s@%s:%d", n.nodes[i].id, n.plan.host(i), n.plan.ports(i).p2p)
}

// genesis is the one that all nodes share.
func (n *testnet) genesis() (*genutiltypes.AppGenesis, error) {
	cdc := n.modules.AppCodec()
	state := n.modules.DefaultGenesis()

	var auth authtypes.GenesisState
	cdc.MustUnmarshalJSON(state[authtypes.ModuleName], &auth)
	accounts, err := authtypes.PackAccounts(n.accounts)
	if err != nil {
		return nil, err
	}
	auth.Accounts = accounts
	state[authtypes.ModuleName] = cdc.MustMarshalJSON(&auth)

	var bank banktypes.GenesisState
	cdc.MustUnmarshalJSON(state[banktypes.ModuleName], &bank)
	bank.Balances = banktypes.SanitizeGenesisBalances(n.balances)
	for _, balance := range bank.Balances {
		bank.Supply = bank.Supply.Add(balance.Coins...)
	}
	state[banktypes.ModuleName] = cdc.MustMarshalJSON(&bank)

	genutiltypes.SetGenesisStateInAppState(cdc, state, genutiltypes.NewGenesisState(n.gentxs))
	if n.plan.fastGov {
		state[govtypes.ModuleName] = fastGov(state[govtypes.ModuleName], n.modules)
	}
	raw, err := json.MarshalIndent(state, "", "  ")
	if err != nil {
		return nil, err
	}
	genesis := genutiltypes.NewAppGenesisWithVersion(n.plan.chainID, raw)
	genesis.GenesisTime = time.Now().UTC()
	genesis.Consensus.Params = cmttypes.DefaultConsensusParams()
	genesis.Consensus.Params.Block.MaxGas = n.plan.blockMaxGas
	return genesis, nil
}

// fastGov makes proposals pass in seconds. The expedited period must be the shorter one.
func fastGov(raw json.RawMessage, modules *app.Description) json.RawMessage {
	var gov govv1.GenesisState
	modules.AppCodec().MustUnmarshalJSON(raw, &gov)
	voting, expedited, deposit := 20*time.Second, 10*time.Second, 60*time.Second
	gov.Params.VotingPeriod, gov.Params.ExpeditedVotingPeriod, gov.Params.MaxDepositPeriod = &voting, &expedited, &deposit
	gov.Params.MinDeposit = sdk.NewCoins(tmr(1))
	gov.Params.ExpeditedMinDeposit = sdk.NewCoins(tmr(5))
	return modules.AppCodec().MustMarshalJSON(&gov)
}

// writeNode writes the genesis and the three configuration files of a node.
func (n *testnet) writeNode(i int, genesis *genutiltypes.AppGenesis) error {
	node, p := n.nodes[i], n.plan.ports(i)
	if err := genesis.SaveAs(node.config.GenesisFile()); err != nil {
		return err
	}
	listen := n.plan.listen()
	config := node.config
	config.Consensus.TimeoutCommit = n.plan.timeoutCommit
	config.P2P.ListenAddress = fmt.Sprintf("tcp://%s:%d", listen, p.p2p)
	config.RPC.ListenAddress = fmt.Sprintf("tcp://%s:%d", listen, p.rpc)
	config.RPC.PprofListenAddress = fmt.Sprintf("127.0.0.1:%d", p.pprof)
	config.Instrumentation.PrometheusListenAddr = fmt.Sprintf("%s:%d", listen, p.metrics)
	config.P2P.PersistentPeers = n.peersOf(i)
	if n.plan.singleHost {
		config.P2P.AddrBookStrict, config.P2P.PexReactor, config.P2P.AllowDuplicateIP = false, false, true
		// Pages on this machine may use a network that only this machine reaches.
		config.RPC.CORSAllowedOrigins = []string{"*"}
	}
	cmtcfg.WriteConfigFile(filepath.Join(config.RootDir, "config", "config.toml"), config)

	server := appConfig()
	server.MinGasPrices = n.plan.minGasPrices
	server.API.Address = fmt.Sprintf("tcp://%s:%d", listen, p.api)
	server.GRPC.Address = fmt.Sprintf("%s:%d", listen, p.grpc)
	server.API.EnableUnsafeCORS, server.API.Swagger = n.plan.singleHost, n.plan.singleHost
	server.Telemetry.Enabled = true
	server.Telemetry.PrometheusRetentionTime = 600
	serverconfig.SetConfigTemplate(appTemplate())
	serverconfig.WriteConfigFile(filepath.Join(config.RootDir, "config", "app.toml"), server)

	return writeClientConfig(filepath.Join(config.RootDir, "config", "client.toml"), clientconfig.ClientConfig{
		ChainID: n.plan.chainID, KeyringBackend: n.plan.keyringBackend, Output: "text",
		Node: fmt.Sprintf("tcp://%s:%d", n.plan.host(i), p.rpc), BroadcastMode: "sync",
	})
}

// writeClientConfig writes client.toml, so that commands with --home alone reach the node.
func writeClientConfig(path string, c clientconfig.ClientConfig) error {
	text := fmt.Sprintf("chain-id = %q\nkeyring-backend = %q\noutput = %q\nnode = %q\nbroadcast-mode = %q\n",
		c.ChainID, c.KeyringBackend, c.Output, c.Node, c.BroadcastMode)
	return os.WriteFile(path, []byte(text), 0o600)
}

func (n *testnet) peersOf(i int) string {
	var peers []string
	for j := range n.nodes {
		if j != i {
			peers = append(peers, n.peer(j))
		}
	}
	return strings.Join(peers, ",")
}

func (n *testnet) report() error {
	table := tabwriter.NewWriter(n.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NODE\tHOME\tP2P\tRPC\tAPI\tGRPC")
	for i := range n.nodes {
		p := n.plan.ports(i)
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\t%d\n", nodeName(i), n.plan.home(i), p.p2p, p.rpc, p.api, p.grpc)
	}
	return table.Flush()
}
