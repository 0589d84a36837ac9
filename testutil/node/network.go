// Package node drives a built timerd as its users do: processes, command line, RPC. System tests and the demo use it.
// It needs the standard library alone, so that it builds in no time.
package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Options describe a network. What is left zero takes its default.
type Options struct {
	// Binary is the path of timerd.
	Binary string
	// Dir is where the homes go; it must not exist.
	Dir string
	// Validators is the number of nodes; 1 by default.
	Validators int
	// Accounts are made and funded beside the validators'.
	Accounts []string
	// TimeoutCommit is the pause after each block; 300 ms by default.
	TimeoutCommit time.Duration
	// Genesis changes the app's state before the first start, if set.
	Genesis func(state map[string]json.RawMessage) error
}

// ChainID of the networks of this package.
const ChainID = "timers-test-1"

// Network is a set of nodes that share a genesis.
type Network struct {
	Nodes []*Node
	ports *ports
}

// New makes the files of a network and claims its ports, which Stop gives back. It starts nothing.
func New(ctx context.Context, o Options) (_ *Network, err error) {
	o.Validators = max(o.Validators, 1)
	if o.TimeoutCommit == 0 {
		o.TimeoutCommit = 300 * time.Millisecond
	}
	claimed, err := claimPorts(o.Validators)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			claimed.release()
		}
	}()
	base := claimed.base
	args := []string{
		"testnet", "init-files", "--v", fmt.Sprint(o.Validators), "--single-host", "--output-dir", o.Dir,
		"--base-port", fmt.Sprint(base), "--chain-id", ChainID, "--timeout-commit", o.TimeoutCommit.String(), "--fast-gov",
		// The command's own home: nothing is read from or written to the user's.
		"--home", filepath.Join(filepath.Dir(o.Dir), "unused-home"),
	}
	if len(o.Accounts) > 0 {
		args = append(args, "--accounts", strings.Join(o.Accounts, ","))
	}
	if out, err := exec.CommandContext(ctx, o.Binary, args...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("timerd %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	n := &Network{ports: claimed}
	for i := range o.Validators {
		home := filepath.Join(o.Dir, fmt.Sprintf("node%d", i))
		n.Nodes = append(n.Nodes, &Node{
			Name: fmt.Sprintf("node%d", i), Home: home, binary: o.Binary,
			RPC: fmt.Sprintf("http://127.0.0.1:%d", base+i*portsPerNode+1),
			API: fmt.Sprintf("http://127.0.0.1:%d", base+i*portsPerNode+2),
			P2P: fmt.Sprintf("127.0.0.1:%d", base+i*portsPerNode),
		})
	}
	if o.Genesis != nil {
		if err := n.ChangeGenesis(o.Genesis); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// ChangeGenesis changes the app's state before the first start, in the files of all nodes.
func (n *Network) ChangeGenesis(change func(state map[string]json.RawMessage) error) error {
	for _, node := range n.Nodes {
		if err := changeGenesis(filepath.Join(node.Home, "config", "genesis.json"), change); err != nil {
			return err
		}
	}
	return nil
}

// Start starts all nodes.
func (n *Network) Start() error {
	var errs []error
	for _, node := range n.Nodes {
		errs = append(errs, node.Start())
	}
	return errors.Join(errs...)
}

// Stop stops all nodes that run, waits for them, and gives the ports back: the network is not started again.
func (n *Network) Stop() {
	for _, node := range n.Nodes {
		node.Stop()
	}
	n.ports.release()
}

// WaitHeight waits until every node has the height; see Node.WaitHeight.
func (n *Network) WaitHeight(ctx context.Context, height int64) error {
	for _, node := range n.Nodes {
		if err := node.WaitHeight(ctx, height); err != nil {
			return err
		}
	}
	return nil
}

// changeGenesis rewrites the app state of a genesis file and leaves the rest as it is.
func changeGenesis(path string, change func(map[string]json.RawMessage) error) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var genesis, state map[string]json.RawMessage
	if err := json.Unmarshal(raw, &genesis); err != nil {
		return err
	}
	if err := json.Unmarshal(genesis["app_state"], &state); err != nil {
		return err
	}
	if err := change(state); err != nil {
		return err
	}
	if genesis["app_state"], err = json.Marshal(state); err != nil {
		return err
	}
	if raw, err = json.Marshal(genesis); err != nil {
		return err
	}
	return os.WriteFile(path, raw, 0o600)
}
