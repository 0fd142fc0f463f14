package main

// While SQLite or zstd work, Go wakes a thread every 20 microseconds, which sees whether another goroutine waits for
// the processor. With this slack the kernel wakes it up to a millisecond later: a report takes a tenth less CPU. Every
// wait for a time may end that much later.

// #ifdef __linux__
// #include <sys/prctl.h>
//
// // Runs before Go makes a thread, which has the slack of the one that makes it. In nanoseconds.
// __attribute__((constructor)) static void wake_late(void)
// {
//     prctl(PR_SET_TIMERSLACK, 1000000UL);
// }
// #endif
import "C"

import (
	"os"
	"runtime"
)

// haveSpareThread lets other goroutines run while SQLite or zstd work, where there is one core.
func haveSpareThread() {
	if os.Getenv("GOMAXPROCS") == "" && runtime.NumCPU() == 1 {
		runtime.GOMAXPROCS(2)
	}
}
