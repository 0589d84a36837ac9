// Command demo shows timers at work on a real node: it starts one in a temporary home, deploys a contract that
// schedules itself, schedules timers that live and leave in every way, shows block by block what happens, and ends with
// a table of their lives.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/cosmos-timers/timers/testutil/node"
)

// limit is how long the demo may take on the slowest machine; what waits for a stuck chain gives up before, see
// node.Patience.
const limit = 30 * time.Minute

// pause after each block by default: long enough to read what a block did.
const pause = 600 * time.Millisecond

func main() {
	binary := flag.String("timerd", "build/timerd", "the built binary")
	var o options
	flag.DurationVar(&o.pause, "pause", pause, "the pause after each block; a shorter one shows the same in less time")
	flag.BoolVar(&o.keep, "keep", false, "keep the node's home, to look at afterwards")
	flag.BoolVar(&o.dashboard, "dashboard", false, "serve the node's dashboard, and let both run until Ctrl-C")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := run(ctx, *binary, o); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// options are what the flags ask for.
type options struct {
	// pause after each block.
	pause           time.Duration
	keep, dashboard bool
}

func run(ctx context.Context, binary string, o options) (err error) {
	dir, err := os.MkdirTemp("", "timers-demo-")
	if err != nil {
		return err
	}
	defer func() {
		if o.keep || err != nil {
			fmt.Println("the node's home and log stay in", dir)
			return
		}
		err = os.RemoveAll(dir)
	}()
	network, err := node.New(ctx, node.Options{
		Binary: binary, Dir: filepath.Join(dir, "net"), Accounts: []string{"alice", "bob", "carol", "poor"},
		TimeoutCommit: o.pause, Genesis: onePerActor,
	})
	if err != nil {
		return err
	}
	fmt.Print(terms, "starting a node ")
	if err := network.Start(); err != nil {
		return err
	}
	defer network.Stop()
	d := &demo{node: network.Nodes[0], dir: dir, pause: o.pause}
	if err := waiting(ctx, func(ctx context.Context) error { return d.node.WaitHeight(ctx, 2) }); err != nil {
		return err
	}
	if d.begun, err = d.node.Status(ctx); err != nil {
		return err
	}
	if o.dashboard {
		address, stop, err := d.node.Dashboard(ctx)
		if err != nil {
			return err
		}
		defer stop()
		fmt.Printf("the dashboard shows what follows, open it now: %s\n\n", address)
	}
	for _, step := range []func(context.Context) error{d.deploy, d.schedule, d.follow, d.stopBeating} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if err := d.table(); err != nil {
		return err
	}
	fmt.Print(next)
	if o.dashboard {
		fmt.Printf("\nnode and dashboard run until Ctrl-C, %s after the start at most\n", limit)
		<-ctx.Done()
	}
	return nil
}

// terms are explained before they are shown.
const terms = `words:
  timer      work that the chain does later in your name, without a signature then; it has an id
  due        from this height on it may fire; a timer that watches is due when what it watches changes
  fire       the chain runs the timer's messages at the end of a block, all or none
  lane       the part of a block's gas that is for fires
  cycles     gas of a fire that is not for writing; cells are the bytes that it writes
  basefee    the lane's price of a cycle; it rises when the lane is full
  bid        the most that a timer pays: the basefee, and a tip to go first; --tier fast tips a multiple of the usual tip
  paid       basefee and tip for what a fire used; it is charged for its limits before, and refunded the rest
  watch      a key of the state, such as a balance; --when states a condition on its value
  expires    the last height at which it may fire; what is unfunded leaves, too: its payer can't cover the charge

`

// next is what to type after the demo.
const next = `
next, on a network of your own, in this directory:

  make localnet && eval "$(scripts/localnet.sh env)"
  timerd tx timers schedule send bob 5utmr --after 10s --gas-limit auto --from alice --wait --yes
  timerd query timers monitor alice
  make dashboard

Ctrl-C ends the monitor, and the dashboard, a page in the browser. make localnet-stop ends the network.
make demo DEMOFLAGS=-dashboard shows this demo in the browser too.
`

// waiting shows that something continues while fn does.
func waiting(ctx context.Context, fn func(context.Context) error) error {
	done := make(chan error, 1)
	go func() { done <- fn(ctx) }()
	for {
		select {
		case err := <-done:
			fmt.Println()
			return err
		case <-time.After(300 * time.Millisecond):
			fmt.Print(".")
		}
	}
}

// demo is the node and the timers on it.
type demo struct {
	node   *node.Node
	dir    string
	pause  time.Duration
	alice  string
	bob    string
	timers []*timer
	heart  heartbeat
	// begun is the height before the first transaction.
	begun int64
}

// timer is one timer's life, as the table shows it.
type timer struct {
	name, owner, id         string
	scheduled               int64
	due, expires            string
	left                    string
	late, gas, paid, refund string
	height                  int64
	fires                   int
}

func (t *timer) gone() bool { return t.left != "" }

// find returns the timer with an id, or nil.
func (d *demo) find(id string) *timer {
	for _, t := range d.timers {
		if t.id == id {
			return t
		}
	}
	return nil
}

func (d *demo) open() int {
	n := 0
	for _, t := range d.timers {
		if !t.gone() {
			n++
		}
	}
	return n
}

// follow shows every block that fires something until all timers are gone and the contract has beaten often
// enough, those of the time of scheduling first.
func (d *demo) follow(ctx context.Context) error {
	fmt.Println("\nblock by block, since the first of them was scheduled:")
	for height := d.begun; d.open() > 0 || d.heart.beats < leastBeats; height++ {
		if err := d.node.WaitHeight(ctx, height); err != nil {
			return err
		}
		events, err := d.node.BlockEvents(ctx, height)
		if err != nil {
			return err
		}
		said, err := d.read(ctx, height, events)
		if err != nil {
			return err
		}
		if len(said) > 0 {
			fmt.Printf("  %4d  %s\n", height, strings.Join(said, "\n        "))
		}
	}
	return nil
}

// read applies a block's events to the table of timers, and returns a line for each event to print.
func (d *demo) read(ctx context.Context, height int64, events []node.Event) ([]string, error) {
	var said []string
	for _, event := range events {
		a := event.Attributes
		kind, ours := strings.CutPrefix(event.Type, "timers.v1.")
		if !ours {
			continue
		}
		if beat, its, err := d.readBeat(ctx, height, kind, a); err != nil {
			return nil, err
		} else if its {
			said = append(said, beat)
			continue
		}
		if kind == "TimerScheduled" {
			t := &timer{name: "planted by a timer", owner: "alice"}
			t.scheduled, t.id, t.due, t.expires = height, a["id"], heightOrTime(a["due"], a["due_time"]), heightOrTime(a["expires_at"], a["expires_time"])
			d.timers = append(d.timers, t)
			said = append(said, fmt.Sprintf("a firing timer scheduled %s for height %s", short(t.id), t.due))
			continue
		}
		t := d.find(a["id"])
		if t == nil {
			continue
		}
		t.height = height
		switch kind {
		case "TimerFired":
			t.left = "fired"
			if a["success"] != "true" {
				t.left = fmt.Sprintf("fired, failed (%s/%s)", a["codespace"], a["code"])
			}
			t.gas, t.paid, t.refund, t.late = a["cycles"], a["paid"], a["refunded"], a["late"]
			text := fmt.Sprintf("%q of %s %s: %s cycles, paid %s, refunded %s", t.name, t.owner, t.left, t.gas, t.paid, t.refund)
			t.fires++
			if next := a["next_due"]; next != "0" {
				t.left = ""
				text += ", due again at " + next
			} else if t.fires > 1 {
				t.left = fmt.Sprintf("fired (%d times)", t.fires)
			}
			if matched := a["matched"]; matched != "" && matched != "[]" {
				text += ": carol had too little"
				t.left += " (watched)"
			}
			said = append(said, text)
		case "TimerExpired":
			t.left = "expired"
			said = append(said, fmt.Sprintf("%q of %s expired: it could fire until height %s", t.name, t.owner, a["expires_at"]))
		case "TimerCancelledInsufficientFunds":
			t.left = "unfunded"
			said = append(said, fmt.Sprintf("%q of %s left unfunded: %s required, %s available", t.name, t.owner, a["required"], a["available"]))
		}
	}
	return said, nil
}

// table ends the demo; it fails if a timer did not leave as it should.
func (d *demo) table() error {
	fmt.Println("\nthe timers from scheduling to their end:")
	const row = "  %-24s %-6s %-8s %9s %8s %10s %5s  %-26s %7s %5s %8s\n"
	fmt.Printf(row, "TIMER", "OWNER", "ID", "SCHEDULED", "DUE", "EXPIRES", "LEFT", "HOW", "CYCLES", "PAID", "REFUNDED")
	ways := map[string]int{}
	repeated, watched := false, false
	for _, t := range d.timers {
		repeated, watched = repeated || t.fires > 1, watched || strings.HasSuffix(t.left, "(watched)")
		fmt.Printf(row, t.name, t.owner, short(t.id), fmt.Sprint(t.scheduled), t.due, t.expires, fmt.Sprint(t.height), t.left, t.gas, t.paid, t.refund)
		ways[strings.SplitN(t.left, " (", 2)[0]]++
	}
	fmt.Println("\n  amounts in utmr; what a timer paid is burned, the rest of its pre-charge was refunded")
	if !repeated || !watched {
		return errors.New("no timer repeated, or none fired for a change, which the demo means to show")
	}
	for _, way := range []string{"fired", "fired, failed", "expired", "unfunded", "cancelled"} {
		if ways[way] == 0 {
			return errors.New("no timer left as " + way + ", which the demo means to show")
		}
	}
	return nil
}

func short(id string) string { return id[:min(8, len(id))] }
