package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cosmossdk.io/math"

	"github.com/cosmos-timers/timers/x/timers/types"
)

func someOptions() Options {
	return Options{
		Pending: 200, Fires: 4, Duration: time.Second, Txs: 3, Batch: 5, GasPrice: math.LegacyZeroDec(), Fund: math.OneInt(),
	}
}

func TestOptionsAreBounded(t *testing.T) {
	o := someOptions()
	require.NoError(t, o.Validate())
	for want, change := range map[string]func(*Options){
		"pending is 0":         func(o *Options) { o.Pending = 0 },
		"pending is 1000001":   func(o *Options) { o.Pending = MaxPending + 1 },
		"fires is -1":          func(o *Options) { o.Fires = -1 },
		"txs is 0":             func(o *Options) { o.Txs = 0 },
		"batch is 201":         func(o *Options) { o.Batch = 201 },
		"duration in seconds":  func(o *Options) { o.Duration = 25 * time.Hour },
		"gas-price -1":         func(o *Options) { o.GasPrice = math.LegacyNewDec(-1) },
		"and fund 0, want":     func(o *Options) { o.Fund = math.ZeroInt() },
		"duration in seconds ": func(o *Options) { o.Duration = time.Millisecond },
	} {
		o := someOptions()
		change(&o)
		require.ErrorContains(t, o.Validate(), want)
	}
}

func TestOnlyLoopbackIsAllowed(t *testing.T) {
	for _, address := range []string{"tcp://127.0.0.1:26657", "http://localhost:1/metrics", "tcp://[::1]:26657", "http://127.9.9.9"} {
		require.NoError(t, CheckLoopback(address), address)
	}
	for _, address := range []string{
		"tcp://192.168.0.1:26657", "http://example.org", "https://localhost.example.org", "http://127.0.0.1.example.org", "127.0.0.1:26657", "",
	} {
		require.Error(t, CheckLoopback(address), address)
	}
}

// Every height gets as many timers as are to fire, none too early, none before another.
func TestPlanFillsHeightsInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := plan{perBlock: rapid.IntRange(1, 9).Draw(t, "fires")}
		latest, last, counts := uint64(rapid.IntRange(0, 1_000).Draw(t, "height")), uint64(0), map[uint64]int{}
		p.postpone(latest, rapid.IntRange(0, 50).Draw(t, "blocks"))
		for range 200 {
			latest += uint64(rapid.IntRange(0, 1).Draw(t, "blocks"))
			due := p.take(latest)
			require.GreaterOrEqual(t, due, latest+lead)
			require.GreaterOrEqual(t, due, last)
			last = due
			counts[due]++
			require.LessOrEqual(t, counts[due], p.perBlock)
		}
	})
}

// fakeChain makes a block whenever it is asked for the height, from what was sent before.
type fakeChain struct {
	t       *testing.T
	height  int64
	pool    map[string][]uint64
	dueAt   map[uint64]int
	blocks  map[int64]Block
	sent    int
	asked   int
	by      map[string]int
	resyncs int
	// drop loses each so-manieth transaction, fail lets one fail in its block; 0 for none.
	drop, fail int
	// stop ends the run's context at a height.
	stop   int64
	cancel context.CancelFunc
	err    error
}

func newFakeChain(t *testing.T) *fakeChain {
	t.Helper()
	return &fakeChain{
		t: t, height: 100, pool: map[string][]uint64{}, dueAt: map[uint64]int{}, blocks: map[int64]Block{}, by: map[string]int{},
	}
}

func (c *fakeChain) Height(context.Context) (int64, error) {
	// The chain makes a block for every other question.
	if c.asked++; c.asked%2 == 0 {
		return c.height, c.err
	}
	c.height++
	if c.stop > 0 && c.height >= c.stop {
		c.cancel()
	}
	b := Block{Height: c.height, Time: time.Unix(c.height, 0), Txs: map[string]bool{"of another": true}}
	for hash, due := range c.pool {
		ok := c.fail == 0 || c.by[hash]%c.fail != 0
		b.Txs[hash] = ok
		for _, height := range due {
			if ok {
				require.Greater(c.t, height, uint64(c.height))
				c.dueAt[height]++
				b.Scheduled++
			}
		}
	}
	c.pool = map[string][]uint64{}
	b.Fired = c.dueAt[uint64(c.height)]
	c.blocks[c.height] = b
	return c.height, c.err
}

func (c *fakeChain) Block(_ context.Context, height int64) (Block, error) {
	return c.blocks[height], nil
}

func (c *fakeChain) Schedule(_ context.Context, worker int, due []uint64) (string, error) {
	c.sent++
	hash := fmt.Sprint("tx ", c.sent)
	c.by[hash] = c.sent
	if c.drop == 0 || c.sent%c.drop != 0 {
		c.pool[hash] = due
	}
	return hash, nil
}

func (c *fakeChain) Transfer(ctx context.Context, worker int) (string, error) {
	return c.Schedule(ctx, worker, nil)
}

func (c *fakeChain) Resync(context.Context, int) error {
	c.resyncs++
	return nil
}

func runFake(t *testing.T, c *fakeChain, o Options) (*Report, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c.cancel = cancel
	d := newDriver(o, c, 20, o.Fires, io.Discard)
	d.poll = time.Millisecond
	return d.run(ctx)
}

func TestARunKeepsTimersPending(t *testing.T) {
	for _, c := range []*fakeChain{newFakeChain(t), {t: t, drop: 50}, {t: t, fail: 5}} {
		fresh := newFakeChain(t)
		fresh.drop, fresh.fail = c.drop, c.fail
		report, err := runFake(t, fresh, someOptions())
		require.NoError(t, err)
		var names []string
		for _, p := range report.Phases {
			names = append(names, p.Name)
		}
		require.Equal(t, []string{phaseIdle, phaseSends, phaseFill, phaseHold}, names)
		require.Empty(t, report.Note)
		require.Equal(t, fresh.drop+fresh.fail > 0, fresh.resyncs > 0)
		hold := report.Phases[3]
		if fresh.drop+fresh.fail == 0 {
			require.GreaterOrEqual(t, report.Filled, 200)
			require.InDelta(t, 4, hold.perBlock(func(b *Block) int { return b.Fired }), 1)
		}
		require.InDelta(t, 200, report.Pending, 30)
		require.NotContains(t, hold.Blocks[0].Txs, "of another")
	}
}

func TestAnInterruptedRunReportsWhatItDid(t *testing.T) {
	c := newFakeChain(t)
	c.stop = 150
	report, err := runFake(t, c, someOptions())
	require.NoError(t, err)
	require.Contains(t, report.Note, "interrupted")
	require.Equal(t, phaseSends, report.Phases[len(report.Phases)-1].Name)
	var out bytes.Buffer
	require.NoError(t, report.Print(&out))
	require.Contains(t, out.String(), "interrupted")
	require.Contains(t, out.String(), "idle")

	c = newFakeChain(t)
	c.err = errors.New("the node is gone")
	_, err = runFake(t, c, someOptions())
	require.ErrorContains(t, err, "the node is gone")
}

// A chain whose blocks hold too little never gets full: the filling ends nevertheless, and the report says so.
func TestFillingIsBounded(t *testing.T) {
	c, o := newFakeChain(t), someOptions()
	c.drop, o.Pending = 1, 10
	report, err := runFake(t, c, o)
	require.NoError(t, err)
	require.Contains(t, report.Note, "only 0 of 10 timers were pending after 104 blocks")
}

func TestTheReportIsATable(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	blocks := []Block{
		{Time: at, Fired: 2, Scheduled: 4, Txs: map[string]bool{"a": true}},
		{Time: at.Add(time.Second), Fired: 4, Late: 1},
		{Time: at.Add(4 * time.Second)},
	}
	r := Report{Pending: 9, Filled: 100, Phases: []*Phase{
		{Name: phaseIdle},
		{
			Name: phaseFill, Blocks: blocks, PeakRSS: 2_500_000,
			Start: Sample{DataBytes: 1_000, Finalized: 1, FinalizeSeconds: 1}, End: Sample{DataBytes: 201_000, Finalized: 5, FinalizeSeconds: 1.1},
		},
	}}
	var out bytes.Buffer
	require.NoError(t, r.Print(&out))
	require.Equal(t, strings.Join([]string{
		"  phase  blocks  interval  longest      txs  schedules    fires  late  finalize  memory  data",
		"                   median           a block    a block  a block              ms      MB    MB",
		"   idle       0         -        -      0.0        0.0      0.0     0         -       -     -",
		"   fill       3        3s       3s      0.3        1.3      2.0     1      25.0     2.5   0.2",
		"disk: 2.00 kB for each of 100 timers, with the blocks that schedule them",
		"pending at the end: 9", "",
	}, "\n"), out.String())
}

func TestWhatAMachineSays(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "a"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a", "b"), make([]byte, 700), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "status"), []byte("Name:\tx\nVmRSS:\t    12 kB\n"), 0o600))
	require.Equal(t, int64(12<<10), rssBytes(filepath.Join(dir, "status")))
	require.Zero(t, rssBytes(filepath.Join(dir, "none")))
	require.Zero(t, dirBytes(filepath.Join(dir, "none")))
	const text = "# HELP x\ncometbft_abci_connection_method_timing_seconds_bucket{method=\"finalize_block\",le=\"1\"} 3\n" +
		"cometbft_abci_connection_method_timing_seconds_sum{chain_id=\"a\",method=\"finalize_block\",type=\"sync\"} 0.5\n" +
		"cometbft_abci_connection_method_timing_seconds_count{chain_id=\"a\",method=\"finalize_block\",type=\"sync\"} 20\n" +
		"cometbft_abci_connection_method_timing_seconds_count{chain_id=\"a\",method=\"commit\",type=\"sync\"} 21\n"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }))
	defer server.Close()
	o := Options{PIDs: []int{os.Getpid()}, Data: []string{dir}, Metrics: []string{server.URL, "http://127.0.0.1:1"}}
	s := o.sample(context.Background())
	require.Positive(t, s.RSSBytes)
	require.Equal(t, int64(700+len("Name:\tx\nVmRSS:\t    12 kB\n")), s.DataBytes)
	require.InDelta(t, 20, s.Finalized, 0)
	require.InDelta(t, 0.5, s.FinalizeSeconds, 0)
	for _, bad := range []string{"", "abci_connection_method_timing_seconds_sum{method=\"finalize_block\"} x\n"} {
		_, _, err := readMetrics(strings.NewReader(bad))
		require.Error(t, err)
	}
}

func TestFiresAndWorkersFollowTheConfig(t *testing.T) {
	o, config := someOptions(), types.DefaultTimerConfig("stake")
	o.Pending, o.Fires = 100_000, 0
	fires := firesOf(&o, &config)
	require.Equal(t, int(config.LaneTimerCycles/cyclesPerFire/2), fires)
	require.GreaterOrEqual(t, workersOf(&o, fires, int(config.MaxTimersPerActor))*int(config.MaxTimersPerActor), o.Pending*4/3)
	config.MaxFiresPerBlock = 3
	require.Equal(t, 3, firesOf(&o, &config))
	o.Pending = 2*2*lead + 1
	require.Equal(t, 2, firesOf(&o, &config), "timers wait long enough to be that many")
	o.Pending = 1
	require.Equal(t, 1, firesOf(&o, &config))
}

func TestFlagsAreRead(t *testing.T) {
	cmd := NewCommand()
	require.NoError(t, cmd.ParseFlags([]string{"--pending", "7", "--pid", "1,2", "--gas-price", "0.5", "--duration", "2s", "--remote"}))
	o, err := readOptions(cmd)
	require.NoError(t, err)
	require.Equal(t, []int{1, 2}, o.PIDs)
	require.Equal(t, "0.500000000000000000", o.GasPrice.String())
	require.True(t, o.Remote)
	for _, args := range [][]string{{"--fund", "x"}, {"--gas-price", "x"}, {"--pending", "0"}} {
		cmd := NewCommand()
		require.NoError(t, cmd.ParseFlags(args))
		_, err := readOptions(cmd)
		require.Error(t, err)
	}
}
