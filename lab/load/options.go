package load

import (
	"fmt"
	"net"
	"net/url"
	"time"

	"cosmossdk.io/math"
)

// Bounds of a run.
const (
	MaxPending  = 1_000_000
	MaxDuration = 24 * time.Hour
	// maxTxs and maxBatch bound what is sent at once.
	maxTxs, maxBatch = 1_000, 200
)

const flagRemote = "remote"

// Options of a run.
type Options struct {
	// Pending is how many timers are kept pending, 1 to MaxPending.
	Pending int
	// Fires is how many become due in each block; 0 for what fills half of the lane.
	Fires int
	// Duration of each of the phases with sends and with timers, at most MaxDuration. The filling in between is bounded in
	// blocks.
	Duration time.Duration
	// Txs is how many transactions are sent for a block, Batch how many timers each schedules.
	Txs, Batch int
	// GasPrice of the transactions, in the fee denom.
	GasPrice math.LegacyDec
	// Fund is what each of the workers gets, in the fee denom.
	Fund math.Int
	// PIDs are the processes whose memory is reported, Data the directories whose size is, Metrics the addresses of nodes'
	// Prometheus metrics.
	PIDs    []int
	Data    []string
	Metrics []string
	// Remote allows addresses that are not on loopback.
	Remote bool
}

// Validate checks the bounds.
func (o *Options) Validate() error {
	for _, bound := range []struct {
		name             string
		value, low, high int64
	}{
		{"pending", int64(o.Pending), 1, MaxPending},
		{"fires", int64(o.Fires), 0, MaxPending},
		{"txs", int64(o.Txs), 1, maxTxs},
		{"batch", int64(o.Batch), 1, maxBatch},
		{"duration in seconds", int64(o.Duration / time.Second), 1, int64(MaxDuration / time.Second)},
	} {
		if bound.value < bound.low || bound.value > bound.high {
			return fmt.Errorf("%s is %d, want %d to %d", bound.name, bound.value, bound.low, bound.high)
		}
	}
	if o.GasPrice.IsNil() || o.GasPrice.IsNegative() || o.Fund.IsNil() || !o.Fund.IsPositive() {
		return fmt.Errorf("gas-price %s and fund %s, want at least 0 and above 0", o.GasPrice, o.Fund)
	}
	return nil
}

// CheckLoopback refuses an address that is not on this machine. A name counts by what it says, localhost: it is not looked
// up, since the answer may change.
func CheckLoopback(address string) error {
	parsed, err := url.Parse(address)
	if err != nil {
		return err
	}
	host := parsed.Hostname()
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("%s is not on loopback: the run spends coins and fills blocks; --%s allows it", address, flagRemote)
}
