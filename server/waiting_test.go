package main

import (
	"errors"
	"sync"
	"testing"
)

// As many callers as there may be workers are served at a time, and no more. One caller after another has the same worker.
func TestWaiting(t *testing.T) {
	const most = 3
	w := newWaiting(Tool{}, most)
	var lock sync.Mutex
	var all sync.WaitGroup
	now, highest, seen := 0, 0, map[*Askers]bool{}
	full := make(chan struct{})
	for i := 0; i < 8*most; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			w.use(func(one *Askers) error {
				lock.Lock()
				now++
				seen[one] = true
				if now > highest {
					highest = now
				}
				if now == most && highest == most && len(seen) == most {
					select {
					case <-full:
					default:
						close(full)
					}
				}
				lock.Unlock()
				<-full
				lock.Lock()
				now--
				lock.Unlock()
				return nil
			})
		}()
	}
	all.Wait()
	if highest != most || len(seen) != most || len(w.free) != most {
		t.Fatal(highest, "callers had", len(seen), "workers at a time;", len(w.free), "are free")
	}
	var last *Askers
	for i := 0; i < 9; i++ {
		failed := errors.New("it fails")
		if err := w.use(func(one *Askers) error {
			if last != nil && last != one {
				t.Error("another worker")
			}
			last = one
			return failed
		}); err != failed {
			t.Fatal(err)
		}
	}
}
