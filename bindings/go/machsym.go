// Package machsym answers with function, file, line and inline chain for addresses of iPhone and Mac programs.
//
// The library is compiled into the package by cgo, from the machsym.h beside this file: it needs a C compiler, and nothing
// else. Many addresses are looked up by one call into C, which hands back every text ready: the price of a cgo call is paid
// once a batch, not once an address or a field.
package machsym

// #cgo CFLAGS: -std=c11 -O2 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DFLAT_REPORTS
// #include <stdlib.h>
// #include "flat.h"
import "C"

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"unsafe"
)

// Frame is one function at an address, concrete or inlined.
type Frame struct {
	Name          string // in source form
	LinkageName   string
	File          string
	Line          uint32 // 0: not known
	Column        uint32
	Inline        bool
	FunctionStart uint64
	FunctionSize  uint64
	NameSource    string // "dwarf", "symtab", ...
	LineSource    string
	LacksCallers  bool // calls are left out between this frame and the next: an answer has a limit of them
}

// Lines says which row of the line table answers.
type Lines int32

// The policies of machsym_lines. The zero value is that of a map, and of other files LinesAtos.
const (
	LinesDefault Lines = iota
	LinesAtos
	LinesDwarf
	LinesStmt
	LinesPeople
)

// UUID is that of an image.
type UUID [16]byte

// ParseUUID reads 32 hexadecimal digits, with or without dashes.
func ParseUUID(text string) (UUID, error) {
	var uuid UUID
	raw, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
	if err != nil || len(raw) != len(uuid) {
		return uuid, fmt.Errorf("machsym: not a UUID: %q", text)
	}
	copy(uuid[:], raw)
	return uuid, nil
}

// String writes a UUID as Apple's tools do.
func (u UUID) String() string {
	return strings.ToUpper(fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:]))
}

// Options says what to open and how to answer. The zero value is the default everywhere.
type Options struct {
	Arch        string      // the slice of a fat file
	UUID        *UUID       // the same, by its UUID
	Entry       string      // the image of a kernel collection
	Pair        string      // the other half: the binary to a dSYM, or the dSYM to a binary
	OSOPrefixes [][2]string // object files of a program without a dSYM: paths that begin with [0] have [1] in its place
	OSODirs     []string    // more folders to look for them
	Copy        bool        // read files into memory first: safe when other processes may truncate them
	Lines       Lines
	BestLine    bool // a frame of line 0 takes the line of the nearest frame that has one
	FullNames   bool // Swift names with modules and types
}

// Error is what cannot be opened, built or written.
type Error struct {
	Code   string // the name of the machsym_result, as "ERR_ARCH"
	Offset uint64 // in the file
	text   string
	errno  syscall.Errno
}

func (e *Error) Error() string { return "machsym: " + e.text }

// Unwrap is the system's error that caused it, so that errors.Is(err, os.ErrNotExist) tells a missing file.
func (e *Error) Unwrap() error {
	if e.errno == 0 {
		return nil
	}
	return e.errno
}

var (
	errClosed = errors.New("machsym: the image is closed")
	errMemory = errors.New("machsym: a lookup had no memory")
)

func toError(err *C.flat_error) error {
	return &Error{Code: C.GoString(C.flat_result_name(err.code)), Offset: uint64(err.offset),
		text: C.GoString(&err.text[0]), errno: syscall.Errno(err.os_errno)}
}

// Image is an open Mach-O file, .dSYM bundle or map. Any number of goroutines may use it at once: each lookup has a session
// of its own, and sessions that are free are used again.
type Image struct {
	mutex    sync.RWMutex // held for reading by what uses handle, for writing by Close
	handle   *C.flat_image
	bytes    unsafe.Pointer // of OpenBytes
	lines    Lines
	flags    C.uint32_t
	names    C.uint32_t
	pool     sync.Mutex
	sessions []*C.flat_session // those that are free
	users    map[*Symbols]bool
}

// Open opens a Mach-O file, a .dSYM bundle or a .symmap. options may be nil.
func Open(path string, options *Options) (*Image, error) {
	return open(path, nil, options)
}

// OpenBytes opens a file that is in memory. The bytes are copied.
func OpenBytes(data []byte, options *Options) (*Image, error) {
	return open("", append([]byte{}, data...), options)
}

// memory is what a call into C needs for as long as it runs.
type memory []unsafe.Pointer

func (m *memory) text(s string) *C.char {
	if s == "" {
		return nil
	}
	c := C.CString(s)
	*m = append(*m, unsafe.Pointer(c))
	return c
}

func (m *memory) texts(list []string) **C.char {
	if len(list) == 0 {
		return nil
	}
	array := C.malloc(C.size_t(len(list)) * C.size_t(unsafe.Sizeof((*C.char)(nil))))
	*m = append(*m, array)
	for i, s := range list {
		at := (**C.char)(unsafe.Pointer(uintptr(array) + uintptr(i)*unsafe.Sizeof((*C.char)(nil))))
		*at = C.CString(s)
		*m = append(*m, unsafe.Pointer(*at))
	}
	return (**C.char)(array)
}

func (m *memory) free() {
	for _, p := range *m {
		C.free(p)
	}
}

func open(path string, data []byte, options *Options) (*Image, error) {
	var o Options
	var m memory
	defer m.free()
	if options != nil {
		o = *options
	}
	image := &Image{lines: o.Lines}
	desc := (*C.flat_desc)(C.calloc(1, C.size_t(unsafe.Sizeof(C.flat_desc{}))))
	m = append(m, unsafe.Pointer(desc))
	desc.path = m.text(path)
	if data != nil {
		image.bytes = C.CBytes(data)
		desc.bytes = image.bytes
		desc.len = C.size_t(len(data))
	}
	desc.pair_path = m.text(o.Pair)
	desc.arch = m.text(o.Arch)
	desc.entry = m.text(o.Entry)
	if o.UUID != nil {
		uuid := C.CBytes(o.UUID[:])
		m = append(m, uuid)
		desc.uuid = (*C.uint8_t)(uuid)
	}
	var prefixes []string
	for _, p := range o.OSOPrefixes {
		prefixes = append(prefixes, p[0], p[1])
	}
	desc.prefixes = m.texts(prefixes)
	desc.prefix_count = C.size_t(len(o.OSOPrefixes))
	desc.dirs = m.texts(o.OSODirs)
	desc.dir_count = C.size_t(len(o.OSODirs))
	if o.Copy {
		desc.flags = 1
	}
	if o.BestLine {
		image.flags = 1
	}
	if !o.FullNames {
		image.names = 1
	}
	var err C.flat_error
	image.handle = C.flat_open(desc, &err)
	if image.handle == nil {
		C.free(image.bytes)
		return nil, toError(&err)
	}
	return image.opened()
}

// opened opens a first session, so that a policy that a map does not have is refused at once.
func (i *Image) opened() (*Image, error) {
	session, err := i.take()
	if err != nil {
		i.Close()
		return nil, err
	}
	i.give(session)
	runtime.SetFinalizer(i, (*Image).Close)
	return i, nil
}

// Close frees the image, after all lookups that still run; a second call does nothing.
func (i *Image) Close() {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	for _, session := range i.sessions {
		C.flat_session_close(session)
	}
	i.sessions = nil
	for user := range i.users {
		user.drop()
	}
	C.flat_close(i.handle)
	C.free(i.bytes)
	i.handle, i.bytes = nil, nil
	runtime.SetFinalizer(i, nil)
}

func (i *Image) take() (*C.flat_session, error) {
	i.pool.Lock()
	defer i.pool.Unlock()
	if n := len(i.sessions); n > 0 {
		session := i.sessions[n-1]
		i.sessions = i.sessions[:n-1]
		return session, nil
	}
	var err C.flat_error
	session := C.flat_session_open(i.handle, C.int32_t(i.lines)-1, i.flags, &err)
	if session == nil {
		return nil, toError(&err)
	}
	return session, nil
}

func (i *Image) give(session *C.flat_session) {
	i.pool.Lock()
	i.sessions = append(i.sessions, session)
	i.pool.Unlock()
}

// Lookup returns the frames at an address of the file, the innermost inlined call first; none when nothing is known.
func (i *Image) Lookup(address uint64) ([]Frame, error) {
	all, err := i.lookup(0, 0, []uint64{address})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// LookupAll does the same for many addresses, which is faster than one at a time.
func (i *Image) LookupAll(addresses []uint64) ([][]Frame, error) {
	return i.lookup(0, 0, addresses)
}

// LookupStack does the same for addresses of a process that loaded the image at load. Subtract 1 from return addresses.
func (i *Image) LookupStack(load uint64, addresses []uint64) ([][]Frame, error) {
	return i.lookup(1, load, addresses)
}

func (i *Image) lookup(isRuntime C.int, load uint64, addresses []uint64) ([][]Frame, error) {
	i.mutex.RLock()
	defer i.mutex.RUnlock()
	if i.handle == nil {
		return nil, errClosed
	}
	if len(addresses) == 0 {
		return nil, nil
	}
	session, err := i.take()
	if err != nil {
		return nil, err
	}
	defer i.give(session)
	var length C.size_t
	found := C.flat_lookup(session, isRuntime, C.uint64_t(load), i.names, (*C.uint64_t)(unsafe.Pointer(&addresses[0])),
		C.size_t(len(addresses)), &length)
	if found == nil {
		return nil, errMemory
	}
	return decode(unsafe.Slice((*byte)(unsafe.Pointer(found)), int(length)), len(addresses)), nil
}

// headSize is the size of a frame: two u64, eight u32.
const headSize = 48

var (
	order   = hostOrder()
	sources = sourceNames()
)

func hostOrder() binary.ByteOrder {
	one := uint16(1)
	if *(*byte)(unsafe.Pointer(&one)) == 1 {
		return binary.LittleEndian
	}
	return binary.BigEndian
}

func sourceNames() []string {
	var names []string
	for {
		name := C.GoString(C.flat_source_name(C.int32_t(len(names))))
		if name == "?" {
			return names
		}
		names = append(names, name)
	}
}

// decode reads what flat_lookup wrote.
func decode(in []byte, count int) [][]Frame {
	r := reader{in}
	texts := make([]string, r.u32())
	frames := make([]Frame, r.u32())
	lengths := r.bytes(4 * len(texts))
	counts := r.bytes(4 * count)
	heads := r.bytes(headSize * len(frames))
	all := string(r.in) // every text is a part of this one
	at := 0
	for i := range texts {
		end := at + int(order.Uint32(lengths[4*i:]))
		texts[i] = all[at:end]
		at = end
	}
	for i := range frames {
		head := heads[headSize*i:]
		u32 := func(n int) uint32 { return order.Uint32(head[16+4*n:]) }
		frames[i] = Frame{
			Name: texts[u32(5)], LinkageName: texts[u32(6)], File: texts[u32(7)],
			Line: u32(0), Column: u32(1), Inline: u32(2)&1 != 0, LacksCallers: u32(2)&2 != 0,
			FunctionStart: order.Uint64(head), FunctionSize: order.Uint64(head[8:]),
			NameSource: sources[u32(3)], LineSource: sources[u32(4)],
		}
	}
	answers := make([][]Frame, count)
	at = 0
	for i := range answers {
		end := at + int(order.Uint32(counts[4*i:]))
		answers[i] = frames[at:end:end]
		at = end
	}
	return answers
}

// Info is what is known of an open file.
type Info struct {
	IsMap       bool
	Lines       Lines // of a map: the policy that it was built for
	Arch        string
	UUID        *UUID
	Name        string
	Path        string
	PairPath    string
	Filetype    uint32
	Platform    uint32
	MinOS       uint32
	SDK         uint32
	HasDwarf    bool
	DamageCount uint32
	IsCutShort  bool
	TextAddr    uint64
	TextSize    uint64
}

// reader reads what flat.c wrote.
type reader struct{ in []byte }

func (r *reader) u32() uint32 {
	n := order.Uint32(r.in)
	r.in = r.in[4:]
	return n
}

func (r *reader) u64() uint64 {
	n := order.Uint64(r.in)
	r.in = r.in[8:]
	return n
}

func (r *reader) bytes(n int) []byte {
	part := r.in[:n]
	r.in = r.in[n:]
	return part
}

func (r *reader) text() string {
	return string(r.bytes(int(r.u32())))
}

func (r *reader) uuid(has bool) *UUID {
	var uuid UUID
	copy(uuid[:], r.text())
	if !has {
		return nil
	}
	return &uuid
}

// filled returns what a function writes that tells how much room it needs.
func filled(write func(out *C.char, capacity C.size_t) C.size_t) []byte {
	out := make([]byte, 1024)
	for {
		need := int(write((*C.char)(unsafe.Pointer(&out[0])), C.size_t(len(out))))
		if need < len(out) {
			return out[:need]
		}
		out = make([]byte, need+1)
	}
}

// Info tells what is known of the file.
func (i *Image) Info() (Info, error) {
	i.mutex.RLock()
	defer i.mutex.RUnlock()
	if i.handle == nil {
		return Info{}, errClosed
	}
	r := reader{filled(func(out *C.char, capacity C.size_t) C.size_t { return C.flat_info(i.handle, out, capacity) })}
	info := Info{IsMap: r.u32() != 0}
	info.Lines = Lines(r.u32() + 1)
	if !info.IsMap {
		info.Lines = LinesDefault
	}
	info.Filetype = r.u32()
	hasUUID := r.u32() != 0
	info.Platform, info.MinOS, info.SDK = r.u32(), r.u32(), r.u32()
	info.HasDwarf, info.DamageCount, info.IsCutShort = r.u32() != 0, r.u32(), r.u32() != 0
	info.TextAddr, info.TextSize = r.u64(), r.u64()
	info.UUID = r.uuid(hasUUID)
	info.Arch, info.Name, info.Path, info.PairPath = r.text(), r.text(), r.text(), r.text()
	return info, nil
}

// Slice is one architecture of a file.
type Slice struct {
	Arch     string
	UUID     *UUID
	Filetype uint32
	Offset   uint64
	Size     uint64
}

// Slices lists the architectures of a file.
func Slices(path string) ([]Slice, error) {
	var m memory
	var why C.flat_error
	defer m.free()
	desc := (*C.flat_desc)(C.calloc(1, C.size_t(unsafe.Sizeof(C.flat_desc{}))))
	m = append(m, unsafe.Pointer(desc))
	desc.path = m.text(path)
	r := reader{filled(func(out *C.char, capacity C.size_t) C.size_t { return C.flat_slices(desc, out, capacity, &why) })}
	if len(r.in) == 0 {
		return nil, toError(&why)
	}
	slices := make([]Slice, r.u32())
	for k := range slices {
		s := &slices[k]
		s.Filetype = r.u32()
		hasUUID := r.u32() != 0
		s.Offset, s.Size = r.u64(), r.u64()
		s.UUID = r.uuid(hasUUID)
		s.Arch = r.text()
	}
	return slices, nil
}

// Map is an image that was resolved once; it answers as that image does, and faster.
type Map struct {
	*Image
}

// OpenMap opens a .symmap, and nothing else. options may be nil.
func OpenMap(path string, options *Options) (*Map, error) {
	image, err := Open(path, options)
	if err != nil {
		return nil, err
	}
	info, err := image.Info()
	if err == nil && !info.IsMap {
		err = &Error{Code: "ERR_FORMAT", text: path + ": it is no symbol map"}
	}
	if err != nil {
		image.Close()
		return nil, err
	}
	return &Map{image}, nil
}

// MapOptions says what a map holds. The zero value is the default everywhere.
type MapOptions struct {
	Lines   Lines
	Columns bool
	Damaged bool // take an image that is cut short, which is refused else
}

// BuildMap resolves a whole image, in memory. The map stays when the image is closed. options may be nil.
func (i *Image) BuildMap(options *MapOptions) (*Map, error) {
	var o MapOptions
	if options != nil {
		o = *options
	}
	if o.Lines == LinesDefault {
		o.Lines = LinesAtos
	}
	var flags C.uint32_t
	if o.Columns {
		flags |= 1
	}
	if o.Damaged {
		flags |= 4
	}
	i.mutex.RLock()
	defer i.mutex.RUnlock()
	if i.handle == nil {
		return nil, errClosed
	}
	var why C.flat_error
	handle := C.flat_map_build(i.handle, C.int32_t(o.Lines)-1, flags, &why)
	if handle == nil {
		return nil, toError(&why)
	}
	image, err := (&Image{handle: handle, flags: i.flags, names: i.names}).opened()
	if err != nil {
		return nil, err
	}
	return &Map{image}, nil
}

// Save writes the map to a file: whole, or not at all.
func (m *Map) Save(path string) error {
	m.mutex.RLock()
	defer m.mutex.RUnlock()
	if m.handle == nil {
		return errClosed
	}
	var why C.flat_error
	cPath := C.CString(path)
	defer C.free(unsafe.Pointer(cPath))
	if C.flat_map_save(m.handle, cPath, &why) == 0 {
		return toError(&why)
	}
	return nil
}

// Bytes is a copy of the map as Save writes it.
func (m *Map) Bytes() ([]byte, error) {
	m.mutex.RLock()
	defer m.mutex.RUnlock()
	if m.handle == nil {
		return nil, errClosed
	}
	var length C.size_t
	found := C.flat_map_bytes(m.handle, &length)
	return append([]byte{}, unsafe.Slice((*byte)(found), int(length))...), nil
}

// Demangle returns the source form of a mangled C++, Swift, Rust or D name; any other name as it is. Swift names as crash
// reports print them, or with modules and types.
func Demangle(name string, full bool) string {
	var flags C.uint32_t = 1
	if full {
		flags = 0
	}
	cName := C.CString(name)
	defer C.free(unsafe.Pointer(cName))
	return string(filled(func(out *C.char, capacity C.size_t) C.size_t {
		return C.flat_demangle(cName, C.size_t(len(name)), flags, out, capacity)
	}))
}

// Version is that of the header that the package was compiled with.
func Version() string {
	return C.GoString(C.flat_version())
}
