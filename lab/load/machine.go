package load

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// maxMetricsBytes bounds what is read of a node's metrics, metricsTimeout how long they may take.
const (
	maxMetricsBytes = 16 << 20
	metricsTimeout  = 5 * time.Second
)

// sample reads memory, disk and metrics. What can't be read counts as nothing: a node may be restarting, and files come and
// go while it runs.
func (o *Options) sample(ctx context.Context) (s Sample) {
	s.RSSBytes = o.rss()
	for _, dir := range o.Data {
		s.DataBytes += dirBytes(dir)
	}
	for _, address := range o.Metrics {
		count, seconds, err := finalizeMetrics(ctx, address)
		if err == nil {
			s.Finalized, s.FinalizeSeconds = s.Finalized+count, s.FinalizeSeconds+seconds
		}
	}
	return s
}

// rss is the memory of all processes together.
func (o *Options) rss() (sum int64) {
	for _, pid := range o.PIDs {
		sum += rssBytes(fmt.Sprintf("/proc/%d/status", pid))
	}
	return sum
}

// rssBytes reads the resident memory of a process as Linux states it.
func rssBytes(path string) int64 {
	raw, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(raw), "\n") {
		fields := strings.Fields(line)
		if len(fields) >= 2 && fields[0] == "VmRSS:" {
			kilobytes, _ := strconv.ParseInt(fields[1], 10, 64)
			return kilobytes << 10
		}
	}
	return 0
}

func dirBytes(dir string) (sum int64) {
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil //nolint:nilerr // the node removes files while they are counted
		}
		if info, err := entry.Info(); err == nil {
			sum += info.Size()
		}
		return nil
	})
	return sum
}

// finalizeMetrics reads how many blocks a node has executed, and in how many seconds.
func finalizeMetrics(ctx context.Context, address string) (count, seconds float64, err error) {
	ctx, cancel := context.WithTimeout(ctx, metricsTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, 0, err
	}
	defer response.Body.Close()
	return readMetrics(io.LimitReader(response.Body, maxMetricsBytes))
}

// readMetrics finds CometBFT's timing of FinalizeBlock among metrics in Prometheus' text form.
func readMetrics(r io.Reader) (count, seconds float64, err error) {
	const name = "abci_connection_method_timing_seconds_"
	lines, found := bufio.NewScanner(r), false
	for lines.Scan() {
		metric, value, ok := strings.Cut(lines.Text(), "} ")
		if !ok || !strings.Contains(metric, name) || !strings.Contains(metric, `method="finalize_block"`) {
			continue
		}
		number, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return 0, 0, err
		}
		switch {
		case strings.Contains(metric, name+"count"):
			count, found = count+number, true
		case strings.Contains(metric, name+"sum"):
			seconds += number
		}
	}
	if err := lines.Err(); err != nil {
		return 0, 0, err
	}
	if !found {
		return 0, 0, errors.New("no timing of finalize_block")
	}
	return count, seconds, nil
}
