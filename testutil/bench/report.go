// Package bench measures what timers cost, and says under which workload: nodes written per timer, store operations of
// blocks, time beside that of a plain message, bytes and gas. Counts are the same on every machine, and tests assert
// them; times are printed beside those of something known, in turns, and nothing asserts them.
package bench

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"
)

// Report is everything that was measured.
type Report struct {
	Machine   Machine     `json:"machine"`
	Lifetimes []Lifetime  `json:"lifetimes"`
	Empties   []Empty     `json:"empty_blocks"`
	Overheads []Overhead  `json:"overheads"`
	Lifecycle *Lifecycle  `json:"lives,omitempty"`
	Storms    []Storm     `json:"storms"`
	Newcomers []Newcomers `json:"newcomers"`
	Sizes     *Sizes      `json:"sizes,omitempty"`
	Contracts *Contracts  `json:"contracts,omitempty"`
}

// Machine is where it was measured.
type Machine struct {
	CPU       string `json:"cpu"`
	Cores     int    `json:"cores"`
	GoVersion string `json:"go_version"`
	Platform  string `json:"platform"`
}

// ThisMachine describes the machine that runs this.
func ThisMachine() Machine {
	return Machine{
		CPU: cpuModel(), Cores: runtime.NumCPU(), GoVersion: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
}

// cpuModel is what Linux calls the processor; other systems don't say where we can read it.
func cpuModel() string {
	file, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown cpu"
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if name, value, found := strings.Cut(lines.Text(), ":"); found && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown cpu"
}

// table is one printed table.
type table struct {
	title   string
	columns []string
	rows    [][]string
	notes   []string
}

func (t *table) row(cells ...any) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		if number, ok := cell.(float64); ok {
			cell = fmt.Sprintf("%.2f", number)
		}
		row[i] = fmt.Sprint(cell)
	}
	t.rows = append(t.rows, row)
}

func (t *table) write(w io.Writer) error {
	if len(t.rows) == 0 {
		return nil
	}
	if _, err := fmt.Fprintf(w, "\n%s\n\n", t.title); err != nil {
		return err
	}
	aligned := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range append([][]string{t.columns}, t.rows...) {
		if _, err := fmt.Fprintln(aligned, strings.Join(row, "\t")+"\t"); err != nil {
			return err
		}
	}
	if err := aligned.Flush(); err != nil {
		return err
	}
	for _, note := range t.notes {
		if _, err := fmt.Fprintf(w, "  %s\n", note); err != nil {
			return err
		}
	}
	return nil
}

// WriteText prints the report as tables.
func (r *Report) WriteText(w io.Writer) error {
	m := r.Machine
	if _, err := fmt.Fprintf(w, "%s, %d cores, %s, %s\n", m.CPU, m.Cores, m.GoVersion, m.Platform); err != nil {
		return err
	}
	tables := append([]*table{r.lifetimeTable(), r.emptyTable(), r.overheadTable()}, r.lifecycleTables()...)
	for _, t := range append(tables, r.stormTable(), r.newcomersTable(), r.gasTable(), r.contractsTable()) {
		if err := t.write(w); err != nil {
			return err
		}
	}
	return nil
}

func (r *Report) lifetimeTable() *table {
	t := &table{
		title: "IAVL nodes written to the timers store per timer lifetime (schedule, fire, 0.1 cancel)",
		columns: []string{
			"pending", "policy", "fires/block", "receipts kept", "nodes", "queue", "runs", "actors", "receipts", "fairness", "rest", "fast nodes",
			"bytes", "record bytes", "floor",
		},
	}
	for _, l := range r.Lifetimes {
		t.row(l.MeanPending, l.Workload.Policy, l.FiresPerBlock, l.Workload.ReceiptBlocks > 0, l.Nodes, l.Queue, l.Runs, l.Actors, l.Receipts,
			l.Fairness, l.Rest, l.FastNodes, int(l.Bytes), l.Worst, l.RecordBytes, l.Floor)
	}
	if len(r.Lifetimes) > 0 {
		w := r.Lifetimes[0].Workload
		t.notes = []string{
			fmt.Sprintf("One commit a block; %d schedules, %d cancels a block; %d blocks after %d of warm-up; %d timers an owner on average,",
				w.Schedules, w.Cancels, w.Blocks, w.Warmup, w.PerOwner),
			fmt.Sprintf("owners drawn at random; %d-byte payloads; due in 1-%d blocks, 1-%d blocks, 1-MAX_TTL blocks, a third each; seed %d.",
				payloadBytes, nearBlocks, hourBlocks, w.Seed),
			"Quota, owner list and lane state are included. Where there are receipts, so is their removal, a few blocks later; under",
			"eip1559, so is the count of fires by actor, and the rewrite of the actor's page when a fire leaves the fairness window.",
			"The floor is one set and one delete in key order on a plain store of as many entries.",
		}
	}
	return t
}

func (r *Report) overheadTable() *table {
	t := &table{
		title:   "Time of a fire that sends coins, without commit, beside the same send through the message router",
		columns: []string{"fires", "rounds", "send us", "fire us", "ratio", "fire us at basefee 0", "its ratio"},
	}
	for _, o := range r.Overheads {
		t.row(o.Fires, o.Rounds, o.SendMicros, o.FireMicros, o.Ratio, o.FreeMicros, o.FreeRatio)
	}
	t.notes = []string{"Medians of rounds that take turns on the same state. A fire moves money twice beside its own send: pre-charge and refund."}
	return t
}
