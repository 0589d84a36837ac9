// Package cputime reads how much processor time the calling thread has had, so that what else a machine does falls out of
// a measurement.
package cputime

import (
	"time"

	"golang.org/x/sys/unix"
)

// Now is the processor time of the calling thread. The caller has locked its goroutine to it.
func Now() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return time.Duration(time.Now().UnixNano())
	}
	return time.Duration(t.Nano())
}
