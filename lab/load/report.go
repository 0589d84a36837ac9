package load

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// Names of the phases.
const phaseIdle, phaseSends, phaseFill, phaseHold = "idle", "sends", "fill", "hold"

// Block is what a block says of the load.
type Block struct {
	Height int64
	Time   time.Time
	// Txs are the run's own transactions in it by hash, true for those that succeeded.
	Txs map[string]bool
	// Scheduled, Fired and Left count timers of the workers: Left are those that are gone without a fire.
	Scheduled, Fired, Late, Left int
}

// Sample is what a machine says at one moment; what is not known is 0.
type Sample struct {
	RSSBytes, DataBytes int64
	// Finalized is how many blocks the nodes have executed so far, and FinalizeSeconds how long that took.
	Finalized, FinalizeSeconds float64
}

// Phase is one part of a run.
type Phase struct {
	Name       string
	Blocks     []Block
	Start, End Sample
	PeakRSS    int64
}

// intervals are the times between the blocks, ascending.
func (p *Phase) intervals() []time.Duration {
	var found []time.Duration
	for i := 1; i < len(p.Blocks); i++ {
		found = append(found, p.Blocks[i].Time.Sub(p.Blocks[i-1].Time))
	}
	slices.Sort(found)
	return found
}

// perBlock is the mean of a count over the phase's blocks.
func (p *Phase) perBlock(count func(*Block) int) float64 {
	if len(p.Blocks) == 0 {
		return 0
	}
	sum := 0
	for i := range p.Blocks {
		sum += count(&p.Blocks[i])
	}
	return float64(sum) / float64(len(p.Blocks))
}

// Report is the result of a run, as far as it came.
type Report struct {
	Phases []*Phase
	// Pending is how many timers were pending at the end.
	Pending int
	// Filled is how many timers the filling scheduled.
	Filled int
	// Note says why the run ended early, if it did.
	Note string
}

// Print writes the report as a table.
func (r *Report) Print(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "phase\tblocks\tinterval\tlongest\ttxs\tschedules\tfires\tlate\tfinalize\tmemory\tdata\t")
	fmt.Fprintln(table, "\t\tmedian\t\ta block\ta block\ta block\t\tms\tMB\tMB\t")
	for _, p := range r.Phases {
		median, longest := "-", "-"
		if in := p.intervals(); len(in) > 0 {
			median = fmt.Sprint(in[len(in)/2].Round(time.Millisecond))
			longest = fmt.Sprint(in[len(in)-1].Round(time.Millisecond))
		}
		late := 0
		for i := range p.Blocks {
			late += p.Blocks[i].Late
		}
		fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%.1f\t%.1f\t%.1f\t%d\t%s\t%s\t%s\t\n", p.Name, len(p.Blocks), median, longest,
			p.perBlock(func(b *Block) int { return len(b.Txs) }), p.perBlock(func(b *Block) int { return b.Scheduled }),
			p.perBlock(func(b *Block) int { return b.Fired }), late, p.finalize(), megabytes(p.PeakRSS), megabytes(p.End.DataBytes))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if grown, found := r.perTimer(); found {
		fmt.Fprintf(w, "disk: %.2f kB for each of %d timers, with the blocks that schedule them\n", grown/1_000, r.Filled)
	}
	fmt.Fprintf(w, "pending at the end: %d\n", r.Pending)
	if r.Note != "" {
		fmt.Fprintln(w, r.Note)
	}
	return nil
}

// finalize is the mean time in which a node executed a block, in milliseconds.
func (p *Phase) finalize() string {
	blocks := p.End.Finalized - p.Start.Finalized
	if blocks <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", (p.End.FinalizeSeconds-p.Start.FinalizeSeconds)/blocks*1_000)
}

// perTimer is by how many bytes the data grew for each timer while they were filled in.
func (r *Report) perTimer() (float64, bool) {
	for _, p := range r.Phases {
		if p.Name == phaseFill && r.Filled > 0 && p.End.DataBytes > p.Start.DataBytes {
			return float64(p.End.DataBytes-p.Start.DataBytes) / float64(r.Filled), true
		}
	}
	return 0, false
}

func megabytes(bytes int64) string {
	if bytes == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", float64(bytes)/1e6)
}
