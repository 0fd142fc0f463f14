// Package machsym answers with function, file, line and inline chain for addresses of iPhone and Mac programs.
//
// A stack is looked up by one call into C, which hands back every text ready: the price of a cgo call is paid once a
// stack, not once an address or a field.
package machsym

// #cgo CFLAGS: -std=c11 -O2 -D_GNU_SOURCE
// #include <stdlib.h>
// #include "batch.h"
import "C"

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"
)

// Frame is one function at an address, concrete or inlined.
type Frame struct {
	Name          string // demangled
	LinkageName   string
	File          string
	Line          uint32
	Column        uint32
	Inline        bool
	FunctionStart uint64
	FunctionSize  uint64
	NameSource    string // "dwarf", "symtab", ...
	LineSource    string
}

// Lines says which row of the line table answers.
type Lines int

// The policies of machsym_lines.
const (
	LinesAtos Lines = iota
	LinesDwarf
	LinesStmt
)

// Source is an open image or map. It belongs to one goroutine at a time.
type Source struct {
	batch *C.batch
	out   []byte // stays between calls
}

// headerSize is what stands before a frame's texts: two u64, eight u32.
const headerSize = 48

var sources = sourceNames()

func sourceNames() []string {
	names := make([]string, C.MACHSYM_SOURCE_COUNT)
	for i := range names {
		names[i] = C.GoString(C.machsym_source_name(C.machsym_source(i)))
	}
	return names
}

// Open opens a Mach-O file, a .dSYM bundle or a .symmap. arch chooses the slice of a fat file, else it is "".
func Open(path, arch string, lines Lines) (*Source, error) {
	var message [512]byte
	cPath := C.CString(path)
	defer C.free(unsafe.Pointer(cPath))
	var cArch *C.char
	if arch != "" {
		cArch = C.CString(arch)
		defer C.free(unsafe.Pointer(cArch))
	}
	text := (*C.char)(unsafe.Pointer(&message[0]))
	batch := C.batch_open(cPath, cArch, C.int(lines), text, C.size_t(len(message)))
	if batch == nil {
		return nil, errors.New(C.GoString(text))
	}
	return &Source{batch: batch, out: make([]byte, 16<<10)}, nil
}

// Close frees the image or map; a second call does nothing.
func (s *Source) Close() {
	C.batch_close(s.batch)
	s.batch = nil
}

// Lookup returns the frames at each address of the file, innermost inlined call first.
func (s *Source) Lookup(addresses []uint64) ([][]Frame, error) {
	return s.stack(0, 0, addresses)
}

// Stack does the same for runtime addresses of an image that was loaded at load. Subtract 1 from return addresses.
func (s *Source) Stack(load uint64, addresses []uint64) ([][]Frame, error) {
	return s.stack(1, load, addresses)
}

func (s *Source) stack(isRuntime C.int, load uint64, addresses []uint64) ([][]Frame, error) {
	if s.batch == nil {
		return nil, errors.New("machsym: the source is closed")
	}
	if len(addresses) == 0 {
		return nil, nil
	}
	for {
		need := int(C.batch_stack(s.batch, isRuntime, C.uint64_t(load), (*C.uint64_t)(unsafe.Pointer(&addresses[0])),
			C.size_t(len(addresses)), (*C.char)(unsafe.Pointer(&s.out[0])), C.size_t(len(s.out))))
		if need == 0 {
			return nil, errors.New("machsym: no memory")
		}
		if need < len(s.out) {
			return decode(s.out[:need], len(addresses))
		}
		s.out = make([]byte, need+need/2+1)
	}
}

// decode reads what batch_stack wrote.
func decode(in []byte, count int) ([][]Frame, error) {
	order := hostOrder()
	all := string(in) // every text is a part of this one
	stack := make([][]Frame, count)
	at := 0
	for i := range stack {
		frames := make([]Frame, order.Uint32(in[at:]))
		at += 4
		for k := range frames {
			head := in[at : at+headerSize]
			u32 := func(n int) uint32 { return order.Uint32(head[16+4*n:]) }
			name := at + headerSize
			linkage := name + int(u32(5))
			file := linkage + int(u32(6))
			at = file + int(u32(7))
			frames[k] = Frame{
				Name: all[name:linkage], LinkageName: all[linkage:file], File: all[file:at],
				Line: u32(0), Column: u32(1), Inline: u32(2) != 0,
				FunctionStart: order.Uint64(head), FunctionSize: order.Uint64(head[8:]),
				NameSource: sources[u32(3)], LineSource: sources[u32(4)],
			}
		}
		stack[i] = frames
	}
	if at != len(in) {
		return nil, fmt.Errorf("machsym: %d bytes of %d", at, len(in))
	}
	return stack, nil
}

func hostOrder() binary.ByteOrder {
	one := uint16(1)
	if *(*byte)(unsafe.Pointer(&one)) == 1 {
		return binary.LittleEndian
	}
	return binary.BigEndian
}

// Version is that of the header that the package was compiled with.
func Version() string {
	return C.GoString(C.machsym_version())
}
