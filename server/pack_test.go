package main

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"io"
	"math/rand"
	"os"
	"sync"
	"testing"
	"testing/iotest"
)

// Packed data comes back unchanged, also if an older program packed it. Damaged data gives an error or other
// bytes, and never too many.
func TestPack(t *testing.T) {
	chance := rand.New(rand.NewSource(1))
	for _, size := range []int{0, 1, 100, 20000, 1 << 20} {
		data := make([]byte, size)
		chance.Read(data[:size/2])
		back, err := unpack(pack(data))
		must(t, err)
		if !bytes.Equal(back, data) {
			t.Fatal(size, "bytes are others")
		}
	}
	var old bytes.Buffer
	w := gzip.NewWriter(&old)
	w.Write([]byte("a report"))
	w.Close()
	if back, err := unpack(old.Bytes()); err != nil || string(back) != "a report" {
		t.Fatal("gzip", err)
	}
	// made on 2026-11-27; it must always be readable
	const first = "28b52ffd2025dd0000887b226170705f64656d6f227d204d61696e020024e43186ec1501"
	packed, err := hex.DecodeString(first)
	must(t, err)
	if back, err := unpack(packed); err != nil || string(back) != `{"app_name":"demo"} UIApplicationMain` {
		t.Fatalf("the dictionary is another one: %q %v", back, err)
	}
	whole := pack(bytes.Repeat([]byte("a report "), 1000))
	for size := range whole {
		if _, err := unpack(whole[:size]); err == nil {
			t.Fatal("the first", size, "bytes are taken for all")
		}
	}
	for i := 0; i < 2000; i++ {
		damaged := append([]byte(nil), whole...)
		damaged[chance.Intn(len(damaged))] ^= byte(1 + chance.Intn(255))
		unpack(damaged)
	}
	for _, last := range []byte{0x70, 0} { // it says that it has 2^62 bytes, or 2^29
		long := append([]byte{0x28, 0xB5, 0x2F, 0xFD, 0xE0}, 0, 0, 0, 0x20, 0, 0, 0, last)
		var into bytes.Buffer
		if _, err := unpackInto(&into, long); err != errPacked || into.Cap() > 1<<20 {
			t.Fatal("a damaged length", err, into.Cap())
		}
	}
	zeros := make([]byte, 100<<20)
	if back, err := unpack(pack(zeros)); err != nil || len(back) != len(zeros) {
		t.Fatal("what packs best", len(pack(zeros)), err)
	}
}

// A report is packed with the dictionary and small, also by a packer that was used before, at the same time as others.
func TestPackSize(t *testing.T) {
	report, err := os.ReadFile("../tests/fixtures/apple/ios.ips")
	must(t, err)
	most := len(report) * 35 / 100 // without the dictionary it is 43
	var all sync.WaitGroup
	for i := 0; i < 2*cap(packers); i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := 0; i < 10; i++ {
				if n := len(pack(report)); n > most {
					t.Errorf("%d bytes of %d; at most %d", n, len(report), most)
				}
			}
		}()
	}
	all.Wait()
}

// Streams of zstd are read back whole, in pieces of any size. Half a stream is never taken for all.
func TestUnpacking(t *testing.T) {
	data := make([]byte, 3*packAtATime+7)
	rand.New(rand.NewSource(1)).Read(data[:len(data)/2])
	var packed bytes.Buffer
	must(t, packStream(&packed, bytes.NewReader(data)))
	must(t, packStream(&packed, bytes.NewReader([]byte("another frame"))))
	wanted := append(append([]byte(nil), data...), "another frame"...)
	for _, from := range []io.Reader{bytes.NewReader(packed.Bytes()), iotest.OneByteReader(bytes.NewReader(packed.Bytes())),
		iotest.DataErrReader(bytes.NewReader(packed.Bytes()))} {
		reader := newUnpacking(from)
		back, err := io.ReadAll(iotest.HalfReader(reader))
		must(t, err)
		must(t, reader.Close())
		if !bytes.Equal(back, wanted) {
			t.Fatal("other bytes", len(back))
		}
	}
	for _, size := range []int{packed.Len() - 1, packed.Len() - 20, packed.Len() / 2, 3} {
		reader := newUnpacking(bytes.NewReader(packed.Bytes()[:size]))
		if _, err := io.ReadAll(reader); err != io.ErrUnexpectedEOF {
			t.Error("the first", size, "bytes:", err)
		}
		reader.Close()
	}
	damaged := append([]byte(nil), packed.Bytes()...)
	damaged[0]++
	if _, err := io.ReadAll(newUnpacking(bytes.NewReader(damaged))); err != errPackedFile {
		t.Error("no zstd:", err)
	}
	if _, err := io.ReadAll(newUnpacking(iotest.ErrReader(io.ErrClosedPipe))); err != io.ErrClosedPipe {
		t.Error("an error of the file:", err)
	}
}
