package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Node is one timerd and its home.
type Node struct {
	Name string
	Home string
	// RPC and API are the addresses of CometBFT's RPC and of the REST API.
	RPC, API string
	// P2P is the address, host and port, at which peers reach it.
	P2P string

	binary  string
	process *exec.Cmd
	exited  chan struct{}
	// taking is true once the node takes transactions; see waitTaking.
	taking atomic.Bool
	// patience of those who wait for a block; Patience if it is zero.
	patience time.Duration
	// addresses of the key ring by names of keys, once they are asked for.
	addresses map[string]string
	// env are variables, NAME=value each, that the process gets beside those of this one.
	env []string
}

// Start starts the process. Its log goes to node.log in the home.
func (n *Node) Start() error {
	log, err := os.OpenFile(n.LogFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	cmd := exec.Command(n.binary, "start", "--home", n.Home, "--log_no_color")
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(os.Environ(), n.env...)
	// The node dies with whoever started it, whatever kills that.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return errors.Join(err, log.Close())
	}
	n.process, n.exited = cmd, make(chan struct{})
	n.taking.Store(false)
	go func(exited chan struct{}) {
		_ = cmd.Wait()
		_ = log.Close()
		close(exited)
	}(n.exited)
	return nil
}

// Swap has the node run another binary from its next start on, as operators do for an upgrade.
func (n *Node) Swap(binary string) { n.binary = binary }

// WaitUpgrade waits until the node has stopped at the height of an upgrade for which its binary has no handler: its process
// ends, or makes no more blocks.
func (n *Node) WaitUpgrade(ctx context.Context, plan string, height int64) error {
	needed := fmt.Sprintf("UPGRADE \"%s\" NEEDED at height: %d", plan, height)
	for p := n.newProgress(); ; {
		at, waiting := n.poll(ctx, p)
		if waiting == nil && at < height-1 {
			continue
		}
		log, err := os.ReadFile(n.LogFile())
		switch {
		case strings.Contains(strings.ReplaceAll(string(log), `\"`, `"`), needed):
			return nil
		case waiting != nil || err != nil:
			return fmt.Errorf("%s: waiting for %s: %w", n.Name, needed, errors.Join(waiting, err))
		}
	}
}

// LogFile is where the node's log goes.
func (n *Node) LogFile() string { return filepath.Join(n.Home, "node.log") }

// stopping is how long a node may take to end in good order.
const stopping = 2 * time.Minute

// Stop ends the process in good order, or kills it if that takes too long.
func (n *Node) Stop() {
	if n.process == nil {
		return
	}
	_ = n.process.Process.Signal(syscall.SIGTERM)
	select {
	case <-n.exited:
	case <-time.After(stopping):
		_ = n.process.Process.Kill()
		<-n.exited
	}
	n.process = nil
}

// Kill ends the process with SIGKILL, as a power cut would.
func (n *Node) Kill() {
	if n.process != nil {
		_ = n.process.Process.Kill()
		<-n.exited
		n.process = nil
	}
}

// CLI runs a command against the node and returns what it printed to standard output.
func (n *Node) CLI(ctx context.Context, args ...string) ([]byte, error) {
	stdout, _, err := n.Run(ctx, args...)
	return stdout, err
}

// Run is CLI that returns what was printed to standard error, too: what people are told on the way.
func (n *Node) Run(ctx context.Context, args ...string) (stdout, stderr []byte, err error) {
	cmd := exec.CommandContext(ctx, n.binary, append(args, "--home", n.Home)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return out.Bytes(), errs.Bytes(), fmt.Errorf("timerd %s: %w\n%s%s", strings.Join(args, " "), err, errs.Bytes(), out.Bytes())
	}
	return out.Bytes(), errs.Bytes(), nil
}

// Address of a key that was in the node's key ring when an address was first asked for.
func (n *Node) Address(ctx context.Context, key string) (string, error) {
	if n.addresses == nil {
		out, err := n.CLI(ctx, "keys", "list", "--output", "json")
		if err != nil {
			return "", err
		}
		var keys []struct{ Name, Address string }
		if err := json.Unmarshal(out, &keys); err != nil {
			return "", fmt.Errorf("reading the key ring: %w\n%s", err, out)
		}
		n.addresses = map[string]string{}
		for _, k := range keys {
			n.addresses[k.Name] = k.Address
		}
	}
	address, found := n.addresses[key]
	if !found {
		return "", fmt.Errorf("%s has no key %q", n.Name, key)
	}
	return address, nil
}

// TxResult is a transaction that is in a block.
type TxResult struct {
	Hash      string
	Height    int64
	Code      uint32
	Codespace string
	Log       string
	Events    []Event
}

// Event of a block or transaction.
type Event struct {
	Type       string
	Attributes map[string]string
}

// What a transaction of Tx states: gas that suffices for each of them, and what that costs at the price of gas of a network of
// testnet init-files, in utmr.
const (
	txGas = 4_000_000
	TxFee = txGas / gasPerCoin
)

// gasPerCoin is how much gas 1 utmr buys.
const gasPerCoin = 1_000

// Tx signs and sends a transaction from a key, which pays TxFee, and waits until it is in a block. A transaction that fails is no error;
// one that is refused before it gets into a block is.
func (n *Node) Tx(ctx context.Context, from string, args ...string) (TxResult, error) {
	if err := n.waitTaking(ctx); err != nil {
		return TxResult{}, err
	}
	args = append(append([]string{"tx"}, args...), "--from", from, "--gas", fmt.Sprint(txGas), "--fees", fmt.Sprintf("%dutmr", TxFee),
		"--yes", "--output", "json")
	out, err := n.CLI(ctx, args...)
	if err != nil {
		return TxResult{}, err
	}
	return n.sent(ctx, out)
}

// waitTaking waits until the node has caught up and committed a block since its start. Before that the command line refuses
// distances from its latest block, and baseapp checks signatures as of genesis, where every account has the number 0.
func (n *Node) waitTaking(ctx context.Context) error {
	first := int64(-1)
	for p := n.newProgress(); !n.taking.Load(); {
		var status struct {
			Sync struct {
				CatchingUp bool `json:"catching_up"`
			} `json:"sync_info"`
		}
		behind := n.rpc(ctx, "/status", &status) != nil || status.Sync.CatchingUp
		at, err := n.poll(ctx, p)
		switch {
		case err != nil:
			return fmt.Errorf("%s: waiting until it takes transactions: %w", n.Name, err)
		case at > 0 && first < 0:
			first = at
		}
		n.taking.Store(!behind && first > 0 && at > first)
	}
	return nil
}

// sent reads what the command line printed of a transaction and waits for it.
func (n *Node) sent(ctx context.Context, out []byte) (TxResult, error) {
	var sent struct {
		Code   uint32 `json:"code"`
		RawLog string `json:"raw_log"`
		Hash   string `json:"txhash"`
	}
	if err := json.Unmarshal(lastLine(out), &sent); err != nil {
		return TxResult{}, fmt.Errorf("reading the answer to a transaction: %w\n%s", err, out)
	}
	if sent.Code != 0 {
		return TxResult{}, fmt.Errorf("the transaction was refused: %s", sent.RawLog)
	}
	return n.waitTx(ctx, sent.Hash)
}

func lastLine(out []byte) []byte {
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	return lines[len(lines)-1]
}

// waitTx waits until a transaction is in a block. It gives up if the chain is stuck, or has made many blocks without it.
func (n *Node) waitTx(ctx context.Context, hash string) (TxResult, error) {
	p, from := n.newProgress(), int64(0)
	for {
		var found struct {
			Height string `json:"height"`
			Result struct {
				Code      uint32     `json:"code"`
				Codespace string     `json:"codespace"`
				Log       string     `json:"log"`
				Events    []rpcEvent `json:"events"`
			} `json:"tx_result"`
		}
		if err := n.rpc(ctx, "/tx?hash=0x"+hash, &found); err == nil {
			height, err := strconv.ParseInt(found.Height, 10, 64)
			return TxResult{
				Hash: hash, Height: height, Code: found.Result.Code, Codespace: found.Result.Codespace,
				Log: found.Result.Log, Events: eventsOf(found.Result.Events),
			}, err
		}
		at, err := n.poll(ctx, p)
		if err != nil {
			return TxResult{}, fmt.Errorf("%s: waiting for transaction %s: %w", n.Name, hash, err)
		}
		if from == 0 {
			from = at
		}
		if from > 0 && at > from+txBlocks {
			return TxResult{}, fmt.Errorf("transaction %s is in none of the blocks %d to %d", hash, from, at)
		}
	}
}

// Status returns the height of the latest block that the application has committed; its results can be asked for.
func (n *Node) Status(ctx context.Context) (height int64, err error) {
	var info struct {
		Response struct {
			LastBlockHeight string `json:"last_block_height"`
		} `json:"response"`
	}
	if err := n.rpc(ctx, "/abci_info", &info); err != nil {
		return 0, err
	}
	return strconv.ParseInt(info.Response.LastBlockHeight, 10, 64)
}

// WaitHeight waits until the node has the height, however long its blocks take. It gives up if the process ends or the chain
// is stuck.
func (n *Node) WaitHeight(ctx context.Context, height int64) error {
	for p := n.newProgress(); ; {
		if at, err := n.Status(ctx); err == nil && at >= height {
			return nil
		}
		if _, err := n.poll(ctx, p); err != nil {
			return fmt.Errorf("%s: waiting for height %d: %w", n.Name, height, err)
		}
	}
}

// AppHash returns the hash of the state after a block: the header of the next one has it.
func (n *Node) AppHash(ctx context.Context, height int64) (string, error) {
	h, err := n.header(ctx, height+1)
	return h.AppHash, err
}

// header is what is read of a block's header.
type header struct {
	AppHash string    `json:"app_hash"`
	Time    time.Time `json:"time"`
}

func (n *Node) header(ctx context.Context, height int64) (header, error) {
	var block struct {
		Block struct {
			Header header `json:"header"`
		} `json:"block"`
	}
	err := n.rpc(ctx, fmt.Sprintf("/block?height=%d", height), &block)
	return block.Block.Header, err
}

// EarliestBlock returns the height of the first block that the node has.
func (n *Node) EarliestBlock(ctx context.Context) (int64, error) {
	var status struct {
		SyncInfo struct {
			Earliest string `json:"earliest_block_height"`
		} `json:"sync_info"`
	}
	if err := n.rpc(ctx, "/status", &status); err != nil {
		return 0, err
	}
	return strconv.ParseInt(status.SyncInfo.Earliest, 10, 64)
}

// ConsensusAddress returns the address with which the node's validator signs blocks.
func (n *Node) ConsensusAddress(ctx context.Context) (string, error) {
	var status struct {
		Validator struct {
			Address string `json:"address"`
		} `json:"validator_info"`
	}
	err := n.rpc(ctx, "/status", &status)
	return status.Validator.Address, err
}

// BlockHash returns the hash of a block.
func (n *Node) BlockHash(ctx context.Context, height int64) (string, error) {
	var block struct {
		ID struct {
			Hash string `json:"hash"`
		} `json:"block_id"`
	}
	err := n.rpc(ctx, fmt.Sprintf("/block?height=%d", height), &block)
	return block.ID.Hash, err
}

// Signers returns the addresses of the validators that signed a block.
func (n *Node) Signers(ctx context.Context, height int64) (map[string]bool, error) {
	var commit struct {
		Header struct {
			Commit struct {
				Signatures []struct {
					Flag    int    `json:"block_id_flag"`
					Address string `json:"validator_address"`
				} `json:"signatures"`
			} `json:"commit"`
		} `json:"signed_header"`
	}
	if err := n.rpc(ctx, fmt.Sprintf("/commit?height=%d", height), &commit); err != nil {
		return nil, err
	}
	const forTheBlock = 2
	signers := map[string]bool{}
	for _, s := range commit.Header.Commit.Signatures {
		if s.Flag == forTheBlock {
			signers[s.Address] = true
		}
	}
	return signers, nil
}

// BlockEvents returns the events of a block outside its transactions: those of the timers among them.
func (n *Node) BlockEvents(ctx context.Context, height int64) ([]Event, error) {
	var results struct {
		Events []rpcEvent `json:"finalize_block_events"`
	}
	err := n.rpc(ctx, fmt.Sprintf("/block_results?height=%d", height), &results)
	return eventsOf(results.Events), err
}

// AppVersion is what the binary that runs says of itself: what "timerd version" prints.
func (n *Node) AppVersion(ctx context.Context) (string, error) {
	var info struct {
		App struct {
			Version string `json:"version"`
		} `json:"application_version"`
	}
	err := n.Get(ctx, "/cosmos/base/tendermint/v1beta1/node_info", &info)
	return info.App.Version, err
}

// Get reads JSON from the REST API.
func (n *Node) Get(ctx context.Context, path string, into any) error {
	return getJSON(ctx, n.API+path, into)
}

type rpcEvent struct {
	Type       string `json:"type"`
	Attributes []struct {
		Key   string `json:"key"`
		Value string `json:"value"`
	} `json:"attributes"`
}

// eventsOf drops the quotes that typed events put around strings.
func eventsOf(raw []rpcEvent) []Event {
	events := make([]Event, len(raw))
	for i, r := range raw {
		events[i] = Event{Type: r.Type, Attributes: map[string]string{}}
		for _, a := range r.Attributes {
			events[i].Attributes[a.Key] = strings.Trim(a.Value, `"`)
		}
	}
	return events
}

func (n *Node) rpc(ctx context.Context, path string, into any) error {
	var answer struct {
		Result json.RawMessage `json:"result"`
		Error  *struct {
			Data string `json:"data"`
		} `json:"error"`
	}
	if err := getJSON(ctx, n.RPC+path, &answer); err != nil {
		return err
	}
	if answer.Error != nil {
		return fmt.Errorf("%s: %s", path, answer.Error.Data)
	}
	return json.Unmarshal(answer.Result, into)
}

func getJSON(ctx context.Context, url string, into any) error {
	// A node that takes a question and never answers it is stuck, too.
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%s: %w: %.200s", url, err, body)
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
