package main

import (
	"encoding/json"
	"math"
	"math/rand"
	"testing"
	"time"
)

// Every address of a small space has the module that a search of all of them finds.
func TestAddressSpace(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for round := 0; round < 2000; round++ {
		modules := make([]askedModule, random.Intn(6))
		for i := range modules {
			addr, size := hexNumber(random.Intn(20)), hexNumber(random.Intn(12)+1)
			modules[i] = askedModule{Addr: &addr, Size: &size}
		}
		space := spaceOf(modules)
		for at := uint64(0); at < 40; at++ {
			if seen, wanted := space.find(at), search(modules, at); seen != wanted {
				t.Fatalf("round %d, address %d: module %d, not %d", round, at, seen, wanted)
			}
		}
	}
}

// search looks at every module: the one that begins last, of equals the first of the list.
func search(modules []askedModule, at uint64) int {
	best := -1
	for i, m := range modules {
		from := uint64(*m.Addr)
		if at >= from && at-from < uint64(*m.Size) && (best < 0 || from > uint64(*modules[best].Addr)) {
			best = i
		}
	}
	return best
}

// A module at the end of all addresses, and modules without a size.
func TestAddressSpaceEnds(t *testing.T) {
	end, size, begin, zero := hexNumber(math.MaxUint64-15), hexNumber(1<<40), hexNumber(0x100), hexNumber(0)
	space := spaceOf([]askedModule{{Addr: &end, Size: &size}, {Addr: &begin}, {Size: &size}, {Addr: &end, Size: &zero}})
	for at, wanted := range map[uint64]int{0: -1, 0xff: -1, 0x100: 1, math.MaxUint64 - 16: 1, math.MaxUint64 - 15: 0, math.MaxUint64: 0} {
		if seen := space.find(at); seen != wanted {
			t.Errorf("%#x: module %d, not %d", at, seen, wanted)
		}
	}
}

func TestHexNumber(t *testing.T) {
	for text, wanted := range map[string]uint64{`"0x10"`: 16, `"16"`: 16, `16`: 16, `"0XfF"`: 255, `"0xffffffffffffffff"`: math.MaxUint64} {
		var h hexNumber
		if err := json.Unmarshal([]byte(text), &h); err != nil || uint64(h) != wanted {
			t.Error(text, err, h)
		}
	}
	for _, text := range []string{`"0x10000000000000000"`, `-1`, `"-1"`, `""`, `"0x"`, `1.5`, `1e3`, `true`, `[]`, `"0x-1"`, `"0x1_0"`} {
		if err := json.Unmarshal([]byte(text), new(hexNumber)); err == nil {
			t.Error(text, "is taken")
		}
	}
}

// Requests in work are limited in number; answers in number, bytes and time.
func TestJobs(t *testing.T) {
	var j jobs
	hold := make(chan struct{})
	var waiting []*job
	for i := 0; i < mostRunning; i++ {
		_, one, err := j.begin("p", func() ([]byte, error) { <-hold; return make([]byte, 2<<20), nil })
		must(t, err)
		waiting = append(waiting, one)
	}
	if _, _, err := j.begin("p", nil); err != errBusy {
		t.Error("more requests are in work than may be", err)
	}
	close(hold)
	for _, one := range waiting {
		<-one.done
	}
	if j.bytes > mostJobBytes || len(j.byID) != mostJobBytes/(2<<20) {
		t.Error("the answers are too many:", len(j.byID), j.bytes)
	}
	for i := 0; i < mostJobs+100; i++ {
		_, one, err := j.begin("p", func() ([]byte, error) { return []byte("x"), nil })
		must(t, err)
		<-one.done
	}
	if len(j.byID) > mostJobs || len(j.order) != len(j.byID) {
		t.Error("the answers are too many:", len(j.byID), len(j.order))
	}
	name, one, err := j.begin("p", func() ([]byte, error) { return []byte("x"), nil })
	must(t, err)
	<-one.done
	if j.find("p", name) == nil || j.find("other", name) != nil {
		t.Error("an answer is its project's")
	}
	one.ended = time.Now().Add(-jobStays - time.Second)
	if j.find("p", name) != nil {
		t.Error("an old answer is kept")
	}
}
