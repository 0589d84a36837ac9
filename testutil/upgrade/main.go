// Command upgrade tries the upgrade v2 on a real node. The binary of the first format starts from a state of that format, a
// proposal of governance plans the upgrade, the binary stops at its height, and today's goes on with the data. It holds that no timer
// is lost or changed, that balances move by what events say, and that timers fire on.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/cosmos-timers/timers/testutil/ledger"
	"github.com/cosmos-timers/timers/testutil/node"
)

const (
	// plan is the upgrade's name, as the app states it.
	plan = "v2"
	// blockTime is the pause after a block. Few blocks before the upgrade leave much of the storm to it.
	blockTime = 1500 * time.Millisecond
	// ahead is how many blocks after the proposal the upgrade is: time for the vote.
	ahead = 16
	// after is how many blocks today's binary runs.
	after = 40
	// limit is how long all of it may take on the slowest machine.
	limit = 30 * time.Minute
)

func main() {
	oldBinary := flag.String("old", "", "the binary of the first format")
	newBinary := flag.String("new", "build/timerd", "today's binary")
	dir := flag.String("state", "x/timers/testdata/state/v1/storm", "the state from which the chain starts")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := run(ctx, *oldBinary, *newBinary, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "upgrade:", err)
		os.Exit(1)
	}
}

// trial is an upgrade that is tried.
type trial struct {
	node *node.Node
	// height is the upgrade's.
	height int64
	before *state
}

func run(ctx context.Context, oldBinary, newBinary, dir string) (err error) {
	if oldBinary == "" {
		return errors.New("state the binary of the first format with -old")
	}
	f, err := readFixture(dir)
	if err != nil {
		return err
	}
	home, err := os.MkdirTemp("", "timers-upgrade-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			fmt.Println("the node's home and log stay in", home)
			return
		}
		err = os.RemoveAll(home)
	}()
	network, err := node.New(ctx, node.Options{Binary: oldBinary, Dir: filepath.Join(home, "net"), TimeoutCommit: blockTime})
	if err != nil {
		return err
	}
	defer network.Stop()
	t := &trial{node: network.Nodes[0]}
	if err := errors.Join(f.validateWith(t.node), f.voteFor("10s", "5s"), f.write(t.node), t.addKeys(ctx, "validator", "alice")); err != nil {
		return err
	}
	fmt.Printf("the old binary starts at height %d from %s\n", f.height+1, dir)
	if err := t.node.Start(); err != nil {
		return err
	}
	if err := t.propose(ctx, home); err != nil {
		return err
	}
	if err := t.halt(ctx); err != nil {
		return err
	}
	t.node.Swap(newBinary)
	fmt.Println("the new binary starts with the same data")
	if err := t.node.Start(); err != nil {
		return err
	}
	return t.goOn(ctx)
}

// addKeys adds keys of accounts of the state to the node's key ring.
func (t *trial) addKeys(ctx context.Context, names ...string) error {
	for _, name := range names {
		if _, err := t.node.CLI(ctx, "keys", "import-hex", name, keyOf(name)); err != nil {
			return err
		}
	}
	return nil
}

// propose plans the upgrade by governance.
func (t *trial) propose(ctx context.Context, dir string) error {
	now, err := t.firstBlock(ctx)
	if err != nil {
		return err
	}
	t.height = now + ahead
	authority, err := t.authority(ctx)
	if err != nil {
		return err
	}
	proposal, err := json.Marshal(map[string]any{
		"messages": []any{map[string]any{
			"@type": "/cosmos.upgrade.v1beta1.MsgSoftwareUpgrade", "authority": authority,
			"plan": map[string]any{"name": plan, "height": fmt.Sprint(t.height)},
		}},
		"deposit": "1" + denom, "title": plan, "summary": "the next format of timers", "metadata": "",
	})
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "proposal.json")
	if err := os.WriteFile(path, proposal, 0o600); err != nil {
		return err
	}
	submitted, err := t.tx(ctx, "validator", "gov", "submit-proposal", path)
	if err != nil {
		return err
	}
	for _, event := range submitted.Events {
		if id := event.Attributes["proposal_id"]; event.Type == "submit_proposal" && id != "" {
			_, err = t.tx(ctx, "validator", "gov", "vote", id, "yes")
			fmt.Printf("proposal %s plans the upgrade %q for height %d\n", id, plan, t.height)
			return err
		}
	}
	return errors.New("no proposal was made")
}

// firstBlock waits until the chain makes blocks, and returns the height of one.
func (t *trial) firstBlock(ctx context.Context) (int64, error) {
	if err := t.node.WaitHeight(ctx, 1); err != nil {
		return 0, err
	}
	return t.node.Status(ctx)
}

// authority is the address of governance.
func (t *trial) authority(ctx context.Context) (string, error) {
	raw, err := t.node.CLI(ctx, "query", "auth", "module-account", "gov", "--output", "json")
	if err != nil {
		return "", err
	}
	var answer struct {
		Account struct {
			Value struct {
				Address string `json:"address"`
			} `json:"value"`
		} `json:"account"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return "", fmt.Errorf("the account of governance: %w: %s", err, raw)
	}
	return answer.Account.Value.Address, nil
}

// tx sends a transaction that must succeed.
func (t *trial) tx(ctx context.Context, from string, args ...string) (node.TxResult, error) {
	result, err := t.node.Tx(ctx, from, args...)
	if err == nil && result.Code != 0 {
		err = fmt.Errorf("%s: %s", strings.Join(args, " "), result.Log)
	}
	return result, err
}

// halt waits until the old binary stops before the upgrade's block, and keeps its state.
func (t *trial) halt(ctx context.Context) error {
	if err := t.node.WaitUpgrade(ctx, plan, t.height); err != nil {
		return err
	}
	t.node.Kill()
	var err error
	if t.before, err = export(ctx, t.node); err != nil {
		return err
	}
	fmt.Printf("the old binary stopped after block %d with %d timers, and asks for the upgrade\n", t.height-1, len(t.before.timers))
	return nil
}

// goOn accounts for what happens from the upgrade's block on.
func (t *trial) goOn(ctx context.Context) error {
	live, err := t.before.live()
	if err != nil {
		return err
	}
	book := ledger.From(uint64(t.height-1), live)
	told, fires := map[string]bool{}, []string{}
	var first []node.Event
	for height := t.height; height <= t.height+after; height++ {
		if err := t.node.WaitHeight(ctx, height); err != nil {
			return err
		}
		events, err := t.node.AllEvents(ctx, height)
		if err != nil {
			return err
		}
		entered := make([]ledger.Event, len(events))
		for i, event := range events {
			entered[i] = ledger.Event(event)
			if height == t.height {
				told[event.Attributes["id"]] = true
			}
		}
		before := book.Counts.Fired
		if err := book.Block(uint64(height), entered); err != nil {
			return err
		}
		fires = append(fires, fmt.Sprint(book.Counts.Fired-before))
		if height == t.height {
			first = events
		}
	}
	fmt.Printf("fires of blocks %d to %d: %s\n", t.height, t.height+after, strings.Join(fires, " "))
	fmt.Printf("in them: %+v\n", book.Counts)
	if book.Counts.Fired == 0 || book.Counts.Fired == book.Counts.Failed {
		return errors.New("no timer fires")
	}
	if err := t.newTimer(ctx); err != nil {
		return err
	}
	t.node.Stop()
	return t.compare(ctx, first, told, &book)
}

// newTimer schedules one with today's binary, and waits for its fire.
func (t *trial) newTimer(ctx context.Context) error {
	sink, err := t.node.Address(ctx, "node0")
	if err != nil {
		return err
	}
	alice, err := t.node.Address(ctx, "alice")
	if err != nil {
		return err
	}
	message := fmt.Sprintf(`[{"@type":"/cosmos.bank.v1beta1.MsgSend","from_address":%q,"to_address":%q,"amount":[{"denom":%q,"amount":"7"}]}]`,
		alice, sink, denom)
	path := filepath.Join(t.node.Home, "msgs.json")
	if err := os.WriteFile(path, []byte(message), 0o600); err != nil {
		return err
	}
	scheduled, err := t.tx(ctx, "alice", "timers", "schedule", "--in", "20", "--gas-limit", "100000", "--msgs", path)
	if err != nil {
		return err
	}
	for height := scheduled.Height; height < scheduled.Height+1_000; height++ {
		if err := t.node.WaitHeight(ctx, height); err != nil {
			return err
		}
		events, err := t.node.AllEvents(ctx, height)
		if err != nil {
			return err
		}
		for _, event := range events {
			if event.Type == "coin_received" && event.Attributes["receiver"] == sink && event.Attributes["amount"] == "7"+denom {
				fmt.Printf("a timer scheduled at %d with the new binary fired at %d\n", scheduled.Height, height)
				return nil
			}
		}
	}
	return errors.New("the new timer did not fire")
}

// compare compares the states before and after the upgrade's block, and the last one with the account.
func (t *trial) compare(ctx context.Context, events []node.Event, told map[string]bool, book *ledger.Ledger) error {
	now, err := export(ctx, t.node, "--height", fmt.Sprint(t.height))
	if err != nil {
		return err
	}
	same, err := sameTimers(t.before, now, told)
	if err != nil {
		return err
	}
	if err := sameBalances(t.before, now, events); err != nil {
		return err
	}
	fmt.Printf("after block %d: %d of %d timers are as they were, events tell of the others; %d balances and the supply add up\n",
		t.height, same, len(t.before.timers), len(now.balances))
	last, err := export(ctx, t.node, "--height", fmt.Sprint(t.height+after))
	if err != nil {
		return err
	}
	if err := book.Is(slices.Collect(maps.Keys(last.timers))); err != nil {
		return err
	}
	fmt.Printf("after block %d: the state has the %d timers that the events leave\n", t.height+after, len(last.timers))
	return nil
}
