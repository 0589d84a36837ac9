// Package prices measures what each kind of work that a user can cause takes in processor time, for what is billed for it,
// relative to a bank send through the same application. Floor and subject take turns in one run, and the least time of each
// counts, so that a loaded machine gives the same ratios.
package prices

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	storetypes "cosmossdk.io/store/types"

	sdk "github.com/cosmos/cosmos-sdk/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/app"
	"github.com/cosmos-timers/timers/testutil/bench/cputime"
	"github.com/cosmos-timers/timers/testutil/bench/figure"
	"github.com/cosmos-timers/timers/testutil/bench/realapp"
	"github.com/cosmos-timers/timers/testutil/bench/workload"
)

// Price is one kind of work.
type Price struct {
	Kind string `json:"kind"`
	// Unit is what N of were measured together.
	Unit string `json:"unit"`
	N    int    `json:"n"`
	// Gas that one of them is billed, cells included; 0 for what no one is billed for.
	Gas float64 `json:"gas"`
	// Micros of one, in the fastest round.
	Micros float64 `json:"us"`
	// Ratio is its time by billed unit to that of a send. For what no one is billed for it is the time of as many as one
	// block does at most, to that of a block of sends that fill the lane.
	Ratio float64 `json:"ratio"`
	// Committed is the same with the commit of the block, for both.
	Committed float64 `json:"committed"`
	// Metered is what the meter of the block counts for what Ratio is of, in lanes of cycles; 0 for what is billed. A weight
	// that is too low makes it less than Ratio.
	Metered float64 `json:"metered,omitempty"`
	// Remark says what bounds it.
	Remark string `json:"remark,omitempty"`
}

// Prices are all kinds.
type Prices struct {
	Rounds int     `json:"rounds"`
	Rows   []Price `json:"rows"`
}

// work is what a round did.
type work struct {
	// n is how many units, gas what all of them were billed.
	n   int
	gas uint64
	// overhead is what the block's meter counted for all of them.
	overhead uint64
}

// kind is one kind of work, and how it is caused.
type kind struct {
	name, unit, remark string
	// free is how many of it one block does at most, where no one is billed.
	free int
	// options of the chain, whose SetUp prepares it.
	options realapp.Options
	// floor and subject make a round on the chain, after what prepare made for it. Only their work is timed.
	floor, subject func(*realapp.Chain) (round, error)
}

// remarked is the kind with a remark on its price.
func (k kind) remarked(remark string) kind {
	k.remark = remark
	return k
}

// round is one measurement that is ready to run: its work is all that is timed.
type round struct {
	// ctx is the branch of the block that it runs in.
	ctx  sdk.Context
	run  func() error
	done func() (work, error)
}

const (
	// units of most kinds are measured together.
	units = 24
	// cellGas is what the store charges for a byte.
	cellGas = 30
)

// spent is the time of a round's work, and of the same with the commit of its block.
type spent struct{ run, committed time.Duration }

// measure times rounds of the floor and of the subject in turns, after one that warms caches.
func (k *kind) measure(rounds int) (Price, error) {
	chain, err := realapp.New(k.options)
	if err != nil {
		return Price{}, err
	}
	defer func() { _ = chain.Close() }()
	var least [2]spent
	var did [2]work
	for i := range rounds + 1 {
		for at, prepare := range []func(*realapp.Chain) (round, error){k.floor, k.subject} {
			var took spent
			if took, did[at], err = once(chain, prepare); err != nil {
				return Price{}, err
			}
			// The first round warms caches: its time counts if there is no other.
			if i < 2 {
				least[at] = took
			}
			least[at] = spent{min(least[at].run, took.run), min(least[at].committed, took.committed)}
		}
	}
	return k.price(least, did)
}

// once times a round, and leaves the chain as it was. The round runs twice, each time on a branch of its own: what the first
// run reads is in memory for the second, which is timed.
func once(chain *realapp.Chain, prepare func(*realapp.Chain) (round, error)) (took spent, did work, err error) {
	var r round
	for range 2 {
		if r, err = prepare(chain); err != nil {
			return took, did, err
		}
		if took.run, err = cputime.Of(r.run); err != nil {
			return took, did, err
		}
		if did, err = r.done(); err != nil {
			return took, did, err
		}
	}
	committing, err := cputime.Of(func() error { return chain.Commit(r.ctx) })
	took.committed = took.run + committing
	return took, did, errors.Join(err, chain.Undo())
}

func (k *kind) price(took [2]spent, did [2]work) (Price, error) {
	if did[0].gas == 0 || did[1].n == 0 {
		return Price{}, fmt.Errorf("a round did nothing: %+v", did)
	}
	n, sends := float64(did[1].n), float64(did[0].n)
	p := Price{
		Kind: k.name, Unit: k.unit, N: did[1].n, Remark: k.remark,
		Gas: float64(did[1].gas) / n, Micros: float64(took[1].run.Nanoseconds()) / 1_000 / n,
	}
	// share is how much of what is compared a round's subject is, to how much of it the floor is.
	var share float64
	switch {
	case k.free > 0:
		share = n / float64(k.free) / (sends / laneSends)
		p.Metered = float64(did[1].overhead) / n * float64(k.free) / laneCycles
		p.Gas = 0
	case did[1].gas == 0:
		return Price{}, fmt.Errorf("nothing was billed")
	default:
		share = float64(did[1].gas) / float64(did[0].gas)
	}
	p.Ratio = float64(took[1].run) / float64(took[0].run) / share
	p.Committed = float64(took[1].committed) / float64(took[0].committed) / share
	return p, nil
}

const (
	// laneSends is how many sends LANE_TIMER_CYCLES of the default config hold, at the cycles of one to a known account.
	laneSends  = laneCycles / 15_771
	laneCycles = 2_000_000
)

// sends is the floor of what fires do: sends through the router, each in a branch of its own.
func sends(c *realapp.Chain) (round, error) { return send(c, units) }

// fullLane is the floor of what the end of a block does for no one's money: as many sends as the lane's cycles hold.
func fullLane(c *realapp.Chain) (round, error) { return send(c, laneSends) }

func send(c *realapp.Chain, n int) (round, error) {
	ctx, err := c.Block()
	if err != nil {
		return round{}, err
	}
	did := work{n: n}
	return round{
		ctx: ctx,
		run: func() error {
			for i := range n {
				msg := sendOf(firstPlain + i)
				branch, commit := ctx.CacheContext()
				meter := storetypes.NewGasMeter(workload.SendGasLimit)
				if _, err := c.App.MsgServiceRouter().Handler(msg)(branch.WithGasMeter(meter), msg); err != nil {
					return err
				}
				commit()
				did.gas += meter.GasConsumed()
			}
			return nil
		},
		done: func() (work, error) { return did, nil },
	}, nil
}

// sendOf is a coin from the i-th keyed account to the next.
func sendOf(i int) sdk.Msg {
	return banktypes.NewMsgSend(realapp.KeyedAccount(i).Address, realapp.KeyedAccount(i+1).Address, coin(1))
}

func coin(n int64) sdk.Coins { return sdk.NewCoins(sdk.NewInt64Coin(app.FeeDenom, n)) }

// transactions are rounds of a block of signed transactions, one for each of n keyed accounts from the first.
func transactions(first, n int, msgs func(i int) ([]sdk.Msg, error)) func(*realapp.Chain) (round, error) {
	return checked(first, n, msgs, func(*realapp.Chain, sdk.Context) error { return nil })
}

// checked are such rounds, of whose state something must be true afterwards.
func checked(
	first, n int, msgs func(i int) ([]sdk.Msg, error), check func(*realapp.Chain, sdk.Context) error,
) func(*realapp.Chain) (round, error) {
	var txs [][]byte
	return func(c *realapp.Chain) (round, error) {
		for i := first + len(txs); i < first+n; i++ {
			of, err := msgs(i)
			if err != nil {
				return round{}, err
			}
			tx, err := c.Sign(i, of...)
			if err != nil {
				return round{}, err
			}
			txs = append(txs, tx)
		}
		ctx, err := c.Block()
		if err != nil {
			return round{}, err
		}
		did := work{n: n}
		return round{
			ctx: ctx,
			run: func() error {
				for _, tx := range txs {
					gas, err := c.Deliver(ctx, tx)
					if err != nil {
						return err
					}
					did.gas += gas
				}
				return nil
			},
			done: func() (work, error) { return did, check(c, ctx) },
		}, nil
	}
}

// endOfBlock is the end of the measured block; read says what it did.
func endOfBlock(read func(sdk.Context) (work, error)) func(*realapp.Chain) (round, error) {
	return func(c *realapp.Chain) (round, error) {
		ctx, err := c.Block()
		if err != nil {
			return round{}, err
		}
		return round{
			ctx:  ctx,
			run:  func() error { return c.App.Timers.EndBlock(ctx) },
			done: func() (work, error) { return read(ctx) },
		}, nil
	}
}

// samples are the kinds that are measured if little time is given: some of each sort.
var samples = []string{
	"schedule a send", "cancel", "fire: an account that sends", "fire: a contract, pinned", "query of a contract: an estimate", "expiry",
	"reading 6,000 ready timers, under eip1559", "4000 unfunded timers, 1 a payer who has 1, under eip1559",
}

// Measure measures all kinds, or samples of them.
func Measure(opts figure.Options) (*Prices, error) {
	p := &Prices{Rounds: 5}
	if opts.Quick {
		p.Rounds = 4
	}
	for _, k := range kinds() {
		if !strings.Contains(k.name, opts.Kind) || opts.Quick && opts.Kind == "" && !slices.Contains(samples, k.name) {
			continue
		}
		opts.Tell("prices: %s", k.name)
		price, err := k.measure(p.Rounds)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.name, err)
		}
		p.Rows = append(p.Rows, price)
	}
	return p, nil
}

// Limit is the ratio above which a kind is a defect, or has a bound that its remark names.
const Limit = 3

// Table prints them.
func (p *Prices) Table() *figure.Table {
	t := &figure.Table{
		Title:   "What each kind of work takes for what is billed, relative to a bank send",
		Columns: []string{"kind", "unit", "n", "gas", "us", "ratio", "committed", "metered", "bound"},
		Notes: []string{
			fmt.Sprintf("Processor time, the least of %d rounds that take turns with sends through the same application. Transactions are", p.Rounds),
			"compared with signed sends, the rest with sends through the message router. Gas counts 30 for each cell. Where no one is billed (gas 0)",
			"the ratio is that of as many as one block does at most, to sends that fill the default lane's cycles. Committed is the ratio with the",
			"commit of the block, for both; metered is what the weights of the overhead make of the same.",
		},
	}
	for _, r := range p.Rows {
		t.Row(r.Kind, r.Unit, r.N, int(r.Gas), r.Micros, r.Ratio, r.Committed, r.Metered, r.Remark)
	}
	return t
}
