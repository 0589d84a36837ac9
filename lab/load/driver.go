package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

const (
	// idleBlocks are observed before anything is sent.
	idleBlocks = 5
	// pollEvery is the pause between two questions for the next block.
	pollEvery = 50 * time.Millisecond
	// patience is for how long the chain may make no block.
	patience = 3 * time.Minute
	// catchUp is how many blocks may be unread when something is sent.
	catchUp = 3
	// lostAfter is after how many blocks a transaction that is in none of them is given up.
	lostAfter = 40
	// The filling ends after fillSlack times the blocks that it should take, and fillBlocks.
	fillSlack, fillBlocks = 4, 100
	// progressEvery is after how many blocks a line of progress is printed.
	progressEvery = 10
)

// Chain is what the driver needs of a running node.
type Chain interface {
	// Height of the latest block whose results can be asked for.
	Height(ctx context.Context) (int64, error)
	// Block reads what a block says of the run's transactions and timers.
	Block(ctx context.Context, height int64) (Block, error)
	// Schedule sends a transaction of a worker that schedules timers due at these heights; Transfer one that sends a coin.
	// They return its hash.
	Schedule(ctx context.Context, worker int, due []uint64) (hash string, err error)
	Transfer(ctx context.Context, worker int) (hash string, err error)
	// Resync reads the sequence of a worker again, after a transaction of it was lost or refused.
	Resync(ctx context.Context, worker int) error
}

// driver keeps a chain loaded. One transaction of each worker is under way at a time, so that its sequence is known.
type driver struct {
	options  Options
	chain    Chain
	progress io.Writer
	plan     plan
	// free workers, in the order in which they became so; and those with a transaction under way, by its hash.
	free  []int
	busy  map[string]sent
	at    int64
	live  int
	fires int
	poll  time.Duration
}

// sent is a transaction under way.
type sent struct {
	worker, timers int
	height         int64
}

func newDriver(o Options, chain Chain, workers, fires int, progress io.Writer) *driver {
	d := &driver{options: o, chain: chain, progress: progress, fires: fires, poll: pollEvery, busy: map[string]sent{}, plan: plan{perBlock: fires}}
	for i := range workers {
		d.free = append(d.free, i)
	}
	return d
}

// run runs the phases and returns the report, whole or as far as it came, with the error that ended it.
func (d *driver) run(ctx context.Context) (*Report, error) {
	report := &Report{}
	at, err := d.chain.Height(ctx)
	if err != nil {
		return report, err
	}
	d.at = at
	err = d.phases(ctx, report)
	report.Pending = d.live
	if errors.Is(err, context.Canceled) {
		report.Note, err = "interrupted: the table shows what was done until then", nil
	}
	return report, err
}

func (d *driver) phases(ctx context.Context, report *Report) error {
	never := time.Time{}
	idle := func(blocks int) bool { return blocks >= idleBlocks }
	if err := d.phase(ctx, report, phaseIdle, never, idle, nil); err != nil {
		return err
	}
	until := func() time.Time { return time.Now().Add(d.options.Duration) }
	if err := d.phase(ctx, report, phaseSends, until(), nil, d.sendTransfers); err != nil {
		return err
	}
	planned := d.options.Pending/(d.options.Txs*d.options.Batch) + 1
	d.plan.postpone(uint64(d.at), planned)
	first, end := d.plan.next, fillSlack*planned+fillBlocks
	full := func(blocks int) bool {
		return d.isFull() && uint64(d.at) >= first || blocks >= end
	}
	err := d.phase(ctx, report, phaseFill, never, full, d.sendSchedules)
	for i, fill := 0, report.Phases[len(report.Phases)-1]; i < len(fill.Blocks); i++ {
		report.Filled += fill.Blocks[i].Scheduled
	}
	if err != nil {
		return err
	}
	if !d.isFull() {
		report.Note = fmt.Sprintf("only %d of %d timers were pending after %d blocks: the blocks hold no more", d.live, d.options.Pending, end)
	}
	return d.phase(ctx, report, phaseHold, until(), nil, d.sendSchedules)
}

// isFull reports whether as many timers are pending as there should be, or will be when those that the latest block fired
// are replaced.
func (d *driver) isFull() bool { return d.live+d.fires >= d.options.Pending }

// phase follows the chain block by block, and sends after each one, until enough blocks are over, the time is up or the
// context ends. The report has the phase in any case.
func (d *driver) phase(
	ctx context.Context, report *Report, name string, end time.Time, enough func(blocks int) bool, send func(context.Context) error,
) error {
	p := &Phase{Name: name, Start: d.options.sample(ctx)}
	report.Phases = append(report.Phases, p)
	// What the machine says at the end is read although the run was interrupted.
	defer func() { p.End = d.options.sample(context.WithoutCancel(ctx)) }()
	for end.IsZero() || time.Now().Before(end) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if enough != nil && enough(len(p.Blocks)) {
			return nil
		}
		block, err := d.nextBlock(ctx)
		if err != nil {
			return err
		}
		p.Blocks = append(p.Blocks, block)
		p.PeakRSS = max(p.PeakRSS, d.options.rss())
		if len(p.Blocks)%progressEvery == 0 {
			fmt.Fprintf(d.progress, "%s: height %d, %d pending, %d scheduled and %d fired in it\n",
				name, block.Height, d.live, block.Scheduled, block.Fired)
		}
		// Who is far behind catches up before sending.
		latest, err := d.chain.Height(ctx)
		if err != nil {
			return err
		}
		if send == nil || latest > d.at+catchUp {
			continue
		}
		if err := send(ctx); err != nil {
			return err
		}
	}
	return nil
}

// nextBlock waits for the block after the last one that was read, and takes in what it says.
func (d *driver) nextBlock(ctx context.Context) (Block, error) {
	for since := time.Now(); ; {
		latest, err := d.chain.Height(ctx)
		if err != nil {
			return Block{}, err
		}
		if latest > d.at {
			break
		}
		if time.Since(since) > patience {
			return Block{}, fmt.Errorf("no block after height %d for %s", d.at, patience)
		}
		select {
		case <-ctx.Done():
			return Block{}, ctx.Err()
		case <-time.After(d.poll):
		}
	}
	block, err := d.chain.Block(ctx, d.at+1)
	if err != nil {
		return Block{}, err
	}
	d.at++
	d.live += block.Scheduled - block.Fired - block.Left
	return block, d.settle(ctx, &block)
}

// settle frees the workers whose transactions are in a block, and gives those up that are in none. It drops the
// transactions of others from the block.
func (d *driver) settle(ctx context.Context, block *Block) error {
	for hash, ok := range block.Txs {
		s, found := d.busy[hash]
		if !found {
			delete(block.Txs, hash)
			continue
		}
		delete(d.busy, hash)
		if err := d.release(ctx, s.worker, ok); err != nil {
			return err
		}
	}
	for hash, s := range d.busy {
		if s.height+lostAfter > d.at {
			continue
		}
		delete(d.busy, hash)
		if err := d.release(ctx, s.worker, false); err != nil {
			return err
		}
	}
	return nil
}

func (d *driver) release(ctx context.Context, worker int, ok bool) error {
	d.free = append(d.free, worker)
	if ok {
		return nil
	}
	return d.chain.Resync(ctx, worker)
}

// underWay is how many timers are in transactions that are in no block yet.
func (d *driver) underWay() (timers int) {
	for _, s := range d.busy {
		timers += s.timers
	}
	return timers
}

// sendSchedules sends what is missing, at most the options' transactions for one block.
func (d *driver) sendSchedules(ctx context.Context) error {
	missing := d.options.Pending - d.live - d.underWay()
	for txs := 0; missing > 0 && txs < d.options.Txs; txs++ {
		due := make([]uint64, min(missing, d.options.Batch))
		for i := range due {
			due[i] = d.plan.take(uint64(d.at))
		}
		missing -= len(due)
		sent, err := d.send(len(due), func(worker int) (string, error) { return d.chain.Schedule(ctx, worker, due) })
		if err != nil || !sent {
			return err
		}
	}
	return nil
}

// sendTransfers sends as many coin transfers for the next block as timers will fire in one.
func (d *driver) sendTransfers(ctx context.Context) error {
	for len(d.busy) < d.fires {
		sent, err := d.send(0, func(worker int) (string, error) { return d.chain.Transfer(ctx, worker) })
		if err != nil || !sent {
			return err
		}
	}
	return nil
}

// send has the worker that was idle longest send a transaction; false if none is idle.
func (d *driver) send(timers int, do func(worker int) (string, error)) (bool, error) {
	if len(d.free) == 0 {
		return false, nil
	}
	worker := d.free[0]
	hash, err := do(worker)
	if err != nil {
		return false, err
	}
	d.free = d.free[1:]
	d.busy[hash] = sent{worker: worker, timers: timers, height: d.at}
	return true, nil
}
