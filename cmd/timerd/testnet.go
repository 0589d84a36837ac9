package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	sdkmath "cosmossdk.io/math"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/client/flags"
	"github.com/cosmos/cosmos-sdk/crypto/keyring"
	sdk "github.com/cosmos/cosmos-sdk/types"

	"github.com/cosmos-timers/timers/app"
)

const (
	flagValidators   = "v"
	flagOutput       = "output-dir"
	flagStartIP      = "starting-ip-address"
	flagSingleHost   = "single-host"
	flagBasePort     = "base-port"
	flagMinGasPrices = "minimum-gas-prices"
	flagTimeout      = "timeout-commit"
	flagBlockMaxGas  = "block-max-gas"
	flagFastGov      = "fast-gov"
	flagAccounts     = "accounts"

	// maxValidators bounds a testnet of files; a single host's ports bound it as well.
	maxValidators = 64
	// portsPerNode is the distance between the ports of two nodes of a single host.
	portsPerNode = 10
)

// testnetPlan is what the flags of `testnet init-files` ask for.
type testnetPlan struct {
	validators     int
	output         string
	chainID        string
	startIP        string
	singleHost     bool
	basePort       int
	keyringBackend string
	minGasPrices   string
	timeoutCommit  time.Duration
	// blockMaxGas is the gas limit of a block, -1 for none.
	blockMaxGas int64
	fastGov     bool
	// accounts are names of further accounts that are made and funded.
	accounts []string
}

func newTestnetCmd(modules *app.Description) *cobra.Command {
	cmd := &cobra.Command{
		Use: "testnet", Short: "Make the files of a test network", RunE: client.ValidateCmd, SuggestionsMinimumDistance: 2,
	}
	cmd.AddCommand(newInitFilesCmd(modules))
	return cmd
}

func newInitFilesCmd(modules *app.Description) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "init-files",
		Short: "Make homes, keys and a common genesis for the validators of a test network",
		Long: `Make one home per validator, node0, node1, … under the output directory, with a genesis that all share.
Each home's key ring holds the validator's key under the name of the node; node0's holds the further accounts too.
With --single-host all nodes listen on 127.0.0.1 only, each on ports of its own, which are printed.`,
		Example: "timerd testnet init-files --v 4 --single-host --output-dir ./net --chain-id local-1 --fast-gov --accounts alice,bob",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			plan, err := readTestnetPlan(cmd)
			if err != nil {
				return err
			}
			clientCtx, err := client.GetClientQueryContext(cmd)
			if err != nil {
				return err
			}
			net := &testnet{plan: plan, modules: modules, clientCtx: clientCtx, out: cmd.OutOrStdout()}
			return net.make()
		},
	}
	f := cmd.Flags()
	f.Int(flagValidators, 4, "number of validators")
	f.String(flagOutput, "./testnet", "directory for the homes; must not exist yet")
	f.String(flags.FlagChainID, "timers-local-1", "chain id")
	f.String(flagStartIP, "192.168.0.1", "address of the first node, without --single-host")
	f.Bool(flagSingleHost, false, "all nodes on 127.0.0.1, on ports of their own")
	f.Int(flagBasePort, 27000, "first port with --single-host: p2p, then rpc, api, grpc, pprof, metrics")
	f.String(flags.FlagKeyringBackend, keyring.BackendTest, "key ring of the homes (test|file|os)")
	f.String(flagMinGasPrices, "0.001"+app.FeeDenom, "lowest gas price that the nodes accept")
	f.Duration(flagTimeout, time.Second, "pause after each block")
	f.Int64(flagBlockMaxGas, -1, "gas limit of a block's transactions, the timer lane not included; -1 for none")
	f.Bool(flagFastGov, false, "voting periods of seconds, for trying governance")
	f.StringSlice(flagAccounts, nil, "names of further accounts to make and fund")
	return cmd
}

func readTestnetPlan(cmd *cobra.Command) (testnetPlan, error) {
	f := cmd.Flags()
	var p testnetPlan
	var errs []error
	read := func(err error) { errs = append(errs, err) }
	var err error
	p.validators, err = f.GetInt(flagValidators)
	read(err)
	p.output, err = f.GetString(flagOutput)
	read(err)
	p.chainID, err = f.GetString(flags.FlagChainID)
	read(err)
	p.startIP, err = f.GetString(flagStartIP)
	read(err)
	p.singleHost, err = f.GetBool(flagSingleHost)
	read(err)
	p.basePort, err = f.GetInt(flagBasePort)
	read(err)
	p.keyringBackend, err = f.GetString(flags.FlagKeyringBackend)
	read(err)
	p.minGasPrices, err = f.GetString(flagMinGasPrices)
	read(err)
	p.timeoutCommit, err = f.GetDuration(flagTimeout)
	read(err)
	p.blockMaxGas, err = f.GetInt64(flagBlockMaxGas)
	read(err)
	p.fastGov, err = f.GetBool(flagFastGov)
	read(err)
	p.accounts, err = f.GetStringSlice(flagAccounts)
	read(err)
	return p, errors.Join(append(errs, p.validate())...)
}

func (p *testnetPlan) validate() error {
	if p.validators < 1 || p.validators > maxValidators {
		return fmt.Errorf("--%s is %d, want 1 to %d", flagValidators, p.validators, maxValidators)
	}
	if p.timeoutCommit < 0 {
		return fmt.Errorf("--%s is %s, want a duration that is not negative", flagTimeout, p.timeoutCommit)
	}
	if p.blockMaxGas < -1 || p.blockMaxGas == 0 {
		return fmt.Errorf("--%s is %d, want a limit above 0, or -1 for none", flagBlockMaxGas, p.blockMaxGas)
	}
	if _, err := sdk.ParseDecCoins(p.minGasPrices); err != nil {
		return fmt.Errorf("--%s %q: %w", flagMinGasPrices, p.minGasPrices, err)
	}
	if p.singleHost {
		if last := p.basePort + p.validators*portsPerNode; p.basePort < 1024 || last > 65535 {
			return fmt.Errorf("--%s is %d, want 1024 to %d for %d nodes", flagBasePort, p.basePort, 65535-p.validators*portsPerNode, p.validators)
		}
	} else if ip := net.ParseIP(p.startIP).To4(); ip == nil {
		return fmt.Errorf("--%s is %q, want an IPv4 address", flagStartIP, p.startIP)
	}
	if _, err := os.Stat(p.output); err == nil {
		return fmt.Errorf("--%s %s exists already: remove it or name another directory", flagOutput, p.output)
	}
	return nil
}

func (p *testnetPlan) home(node int) string { return filepath.Join(p.output, nodeName(node)) }

func nodeName(node int) string { return fmt.Sprintf("node%d", node) }

// ports of a node on a single host; without it every node uses the usual ones.
type ports struct{ p2p, rpc, api, grpc, pprof, metrics int }

func (p *testnetPlan) ports(node int) ports {
	if !p.singleHost {
		return ports{26656, 26657, 1317, 9090, 6060, 26660}
	}
	base := p.basePort + node*portsPerNode
	return ports{base, base + 1, base + 2, base + 3, base + 4, base + 5}
}

// host is the address at which other nodes find a node.
func (p *testnetPlan) host(node int) string {
	if p.singleHost {
		return "127.0.0.1"
	}
	ip := net.ParseIP(p.startIP).To4()
	ip[3] += byte(node)
	return ip.String()
}

// listen is the interface on which a node listens: none but loopback on a single host.
func (p *testnetPlan) listen() string {
	if p.singleHost {
		return "127.0.0.1"
	}
	return "0.0.0.0"
}

// Funds of a test network, in whole coins.
var (
	validatorFunds = tmr(1_000_000)
	validatorStake = tmr(100_000)
	accountFunds   = tmr(10_000)
)

func tmr(n int64) sdk.Coin {
	unit := sdkmath.NewIntWithDecimal(1, app.DisplayExponent)
	return sdk.NewCoin(app.FeeDenom, sdkmath.NewInt(n).Mul(unit))
}
