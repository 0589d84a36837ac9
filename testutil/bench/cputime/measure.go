package cputime

import (
	"runtime"
	"runtime/debug"
	"time"
)

// Of is the processor time of a call. No garbage is collected meanwhile.
func Of(call func() error) (time.Duration, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	start := Now()
	err := call()
	return Now() - start, err
}
