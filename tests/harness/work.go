package harness

import (
	"runtime"
	"syscall"
	"time"
)

// perThread is Linux's RUSAGE_THREAD, which package syscall does not name.
const perThread = 1

// Worked is how long something took of a processor: what else the machine does makes no test fail. Where the system
// does not count that for a thread, it is how long it took.
func Worked(do func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := time.Now()
	before, counts := threadTime()
	do()
	after, _ := threadTime()
	if !counts {
		return time.Since(began)
	}
	return after - before
}

func threadTime() (time.Duration, bool) {
	var used syscall.Rusage
	if runtime.GOOS != "linux" || syscall.Getrusage(perThread, &used) != nil {
		return 0, false
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()), true
}
