package workload

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// MaxTraced bounds the jobs of all traces of a file together.
const MaxTraced = 1_000_000

// Traced is a job that a trace states, instead of one that is drawn.
type Traced struct {
	// Agent is the index of the job's agent in its group.
	Agent              int
	Due, Cycles, Cells uint64
	// Patience is how many blocks after its due height it may still fire.
	Patience uint64
	// Worth of the fire per unit of its size, in addition to the chain's own prices.
	Worth float64
}

// columns of a trace, in any order. The first four must be there; what the others do not state is as the group says.
var columns = []string{"due", "agent", "cycles", "worth", "cells", "patience"}

const requiredColumns = 4

// ReadTrace reads the jobs of a group, most at the most, from CSV whose first line names the columns. What a line does not
// state is as the group says. It returns the names of the agents in the order in which they come. Errors name the line.
func (g *Group) ReadTrace(r io.Reader, most int) (agents []string, err error) {
	lines := csv.NewReader(r)
	head, err := lines.Read()
	if err != nil {
		return nil, fmt.Errorf("the line of columns: %w", err)
	}
	at, err := placesOf(head)
	if err != nil {
		return nil, err
	}
	if _, stated := at["patience"]; !stated && g.Patience == 0 {
		return nil, errors.New("column patience is missing, and the group states none")
	}
	numbers := map[string]int{}
	for {
		record, err := lines.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		line, _ := lines.FieldPos(0)
		if len(g.Traced) >= most {
			return nil, fmt.Errorf("line %d: more than %d jobs, of the %d that all traces together may have", line, most, MaxTraced)
		}
		job, err := g.traced(record, at)
		if err != nil {
			return nil, fmt.Errorf("line %d, %w", line, err)
		}
		name := record[at["agent"]]
		number, known := numbers[name]
		if !known {
			number = len(agents)
			numbers[name] = number
			agents = append(agents, name)
		}
		job.Agent = number
		g.Traced = append(g.Traced, job)
	}
	if len(g.Traced) == 0 {
		return nil, errors.New("no job")
	}
	return agents, nil
}

func placesOf(head []string) (map[string]int, error) {
	at := map[string]int{}
	for i, name := range head {
		if !slices.Contains(columns, name) {
			return nil, fmt.Errorf("column %.40q is unknown: want %s", name, strings.Join(columns, ", "))
		}
		if _, stated := at[name]; stated {
			return nil, fmt.Errorf("column %s is stated twice", name)
		}
		at[name] = i
	}
	for _, name := range columns[:requiredColumns] {
		if _, stated := at[name]; !stated {
			return nil, fmt.Errorf("column %s is missing", name)
		}
	}
	return at, nil
}

// traced is the job of a line, of which the agent is not set.
func (g *Group) traced(record []string, at map[string]int) (Traced, error) {
	job := Traced{Cells: g.Cells, Patience: g.Patience}
	for _, field := range []struct {
		name        string
		into        *uint64
		least, most uint64
	}{
		{"due", &job.Due, 2, 1 << 40}, {"cycles", &job.Cycles, leastCycles, 1e9}, {"cells", &job.Cells, 0, 1e9}, {"patience", &job.Patience, 1, 1e6},
	} {
		i, stated := at[field.name]
		if !stated {
			continue
		}
		value, err := strconv.ParseUint(record[i], 10, 64)
		if err != nil || value < field.least || value > field.most {
			return job, fmt.Errorf("%s: want a whole number from %d to %d, not %.40q", field.name, field.least, field.most, record[i])
		}
		*field.into = value
	}
	worth, err := strconv.ParseFloat(record[at["worth"]], 64)
	if err != nil || math.IsNaN(worth) || worth < 0 || worth > 1e6 {
		return job, fmt.Errorf("worth: want 0 to 1000000, not %.40q", record[at["worth"]])
	}
	job.Worth = worth
	return job, nil
}
