package machsym

// #include <stdlib.h>
// #include "flat.h"
import "C"

import (
	"errors"
	"fmt"
	"sort"
	"sync"
	"unsafe"
)

// ReportImage is a program or library that was loaded.
type ReportImage struct {
	Name     string
	Path     string
	Arch     string
	Version  string
	UUID     *UUID
	IsSystem bool
	Base     uint64
	End      uint64 // 0: not known
	Frames   uint32
	Missing  uint32 // frames in it without a name
}

// ReportFrame is one call. Of each frame the innermost inlined call comes first.
type ReportFrame struct {
	Address   uint64
	Thread    uint64
	IsCrashed bool // whether its thread crashed
	IsInline  bool
	Image     string
	Name      string // empty: not known
	Path      string
	Line      uint32 // 0: not known
	Offset    uint64
	// With CheckStack.
	IsInferred bool   // the report lacks this caller
	Doubt      string // why the frame before it cannot have been called from it; empty: nothing speaks against it
}

// Report is one report that was answered.
type Report struct {
	Number     uint32 // in its input, from 1 on; 0: it is the only one
	Kind       string
	FrameCount uint32
	Named      uint32
	Missing    uint32
	CutAt      uint64 // where the input ends inside the report; 0: the report is whole
	Images     []ReportImage
	Frames     []ReportFrame
	Written    map[Form][]byte // by the forms that were asked for
}

// Failure is a report that cannot be answered.
type Failure struct {
	Number uint32
	Why    string
	At     uint64 // its place in the input
}

// Symbolicated is what an input holds.
type Symbolicated struct {
	Reports  []Report
	Failures []Failure
	Same     []byte // the input with names put in, if that was asked for and a report was answered
}

// Form is one that reports are written in. Each is what `machsym crash` writes.
type Form int

// Same is the input with names put in; Apple is what Apple's tools write.
const (
	Text Form = iota
	Apple
	JSON
	Brief
	Summary
	Signature
	Same
)

// ReportOptions says how reports are answered. The zero value is the default everywhere.
type ReportOptions struct {
	Forms     []Form
	Name      string // of the input, in briefs
	Redact    string // words of a key: personal data and identifiers are replaced
	NamedToo  bool   // also look up frames that have a name
	FullPaths bool
	FullNames bool
	NoInline  bool
	NoWalk    bool // reports have no images and frames
	// CheckStack tells which frames cannot have called each other, by the code of the programs among the images, and adds
	// callers that the report lacks. Apple's form has nothing of it.
	CheckStack bool
}

// machsym_report_flags
const (
	reportAll = 1 << iota
	reportFullPaths
	reportFullNames
	reportNoInline
	reportNoFolded
	reportRawAddresses
	reportSame
	reportCheckStack
)

var errSymbols = errors.New("machsym: the symbols are closed")

// Symbols are images that answer reports. Any number of goroutines may use them at once: each call has sessions of its own,
// which are used again. Close them before their images, or after: symbols and images that are not closed stay.
type Symbols struct {
	images []*Image
	locked []*Image // each once, in one order for all symbols, so that calls do not wait for each other in a circle
	mutex  sync.Mutex
	free   map[Lines][]*C.flat_symbols
	closed bool
}

// NewSymbols takes images and maps, which stay the caller's.
func NewSymbols(images ...*Image) *Symbols {
	s := &Symbols{images: images, free: map[Lines][]*C.flat_symbols{}}
	s.locked = append(s.locked, images...)
	sort.Slice(s.locked, func(a, b int) bool {
		return uintptr(unsafe.Pointer(s.locked[a])) < uintptr(unsafe.Pointer(s.locked[b]))
	})
	each := s.locked[:0]
	for i, image := range s.locked {
		if i == 0 || image != each[len(each)-1] {
			each = append(each, image)
		}
	}
	s.locked = each
	for _, image := range s.locked {
		image.mutex.Lock()
		if image.users == nil {
			image.users = map[*Symbols]bool{}
		}
		image.users[s] = true
		image.mutex.Unlock()
	}
	return s
}

// drop frees what no call uses.
func (s *Symbols) drop() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for lines, all := range s.free {
		for _, one := range all {
			C.flat_symbols_close(one)
		}
		delete(s.free, lines)
	}
}

// Close frees the sessions; a second call does nothing.
func (s *Symbols) Close() {
	for _, image := range s.locked {
		image.mutex.Lock()
		delete(image.users, s)
		image.mutex.Unlock()
	}
	s.mutex.Lock()
	s.closed = true
	s.mutex.Unlock()
	s.drop()
}

func (s *Symbols) take(lines Lines) (*C.flat_symbols, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.closed {
		return nil, errSymbols
	}
	if all := s.free[lines]; len(all) > 0 {
		s.free[lines] = all[:len(all)-1]
		return all[len(all)-1], nil
	}
	size := C.size_t(unsafe.Sizeof((*C.flat_image)(nil)))
	array := C.malloc(C.size_t(len(s.images)+1) * size)
	defer C.free(array)
	for i, image := range s.images {
		*(**C.flat_image)(unsafe.Pointer(uintptr(array) + uintptr(i)*uintptr(size))) = image.handle
	}
	var why C.flat_error
	taken := C.flat_symbols_open((**C.flat_image)(array), C.size_t(len(s.images)), C.int32_t(lines)-1, &why)
	if taken == nil {
		return nil, toError(&why)
	}
	return taken, nil
}

func (s *Symbols) give(lines Lines, taken *C.flat_symbols) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.closed {
		C.flat_symbols_close(taken)
		return
	}
	s.free[lines] = append(s.free[lines], taken)
}

// Symbolicate puts names into all reports of an input, of any kind that `machsym crash` reads, in this process. options may
// be nil; without forms a report has images and frames.
func (s *Symbols) Symbolicate(report []byte, options *ReportOptions) (*Symbolicated, error) {
	var o ReportOptions
	if options != nil {
		o = *options
	}
	var usual []Form
	var flags C.uint32_t
	isApple := false
	for form := Text; form <= Same; form++ {
		for _, asked := range o.Forms {
			if asked < Text || asked > Same {
				return nil, fmt.Errorf("machsym: no such form: %d", asked)
			}
			if asked != form {
				continue
			}
			if form == Apple {
				isApple = true
			} else if form == Same {
				flags |= reportSame
			} else {
				usual = append(usual, form)
			}
			break
		}
	}
	for _, one := range []struct {
		is   bool
		flag C.uint32_t
	}{{o.NamedToo, reportAll}, {o.FullPaths, reportFullPaths}, {o.FullNames, reportFullNames}, {o.NoInline, reportNoInline},
		{o.CheckStack, reportCheckStack}} {
		if one.is {
			flags |= one.flag
		}
	}
	if !isApple {
		return s.answer(report, LinesPeople, usual, flags, &o)
	}
	// Apple's tools look other lines and addresses up
	apple, err := s.answer(report, LinesAtos, []Form{Apple}, flags&^(reportSame|reportCheckStack)|reportRawAddresses|reportNoFolded, &o)
	if err != nil || len(usual) == 0 && flags&reportSame == 0 {
		return apple, err
	}
	answer, err := s.answer(report, LinesPeople, usual, flags, &o)
	if err != nil {
		return nil, err
	}
	for i := range answer.Reports {
		if i < len(apple.Reports) {
			answer.Reports[i].Written[Apple] = apple.Reports[i].Written[Apple]
		}
	}
	return answer, nil
}

func (s *Symbols) answer(report []byte, lines Lines, forms []Form, flags C.uint32_t, o *ReportOptions) (*Symbolicated, error) {
	var m memory
	defer m.free()
	for _, image := range s.locked {
		image.mutex.RLock()
		defer image.mutex.RUnlock()
		if image.handle == nil {
			return nil, errClosed
		}
	}
	taken, err := s.take(lines)
	if err != nil {
		return nil, err
	}
	defer s.give(lines, taken)
	desc := (*C.flat_report_desc)(C.calloc(1, C.size_t(unsafe.Sizeof(C.flat_report_desc{}))))
	m = append(m, unsafe.Pointer(desc))
	desc.input = C.CBytes(report)
	m = append(m, desc.input)
	desc.len = C.size_t(len(report))
	desc.name = m.text(o.Name)
	desc.redact = m.text(o.Redact)
	desc.flags = flags
	for _, form := range forms {
		desc.forms |= 1 << uint(form)
	}
	if !o.NoWalk {
		desc.parts = 3
	}
	var why C.flat_error
	var length C.size_t
	found := C.flat_symbolicate(taken, desc, &length, &why)
	if found == nil {
		return nil, toError(&why)
	}
	r := reader{C.GoBytes(unsafe.Pointer(found), C.int(length))}
	return r.symbolicated(forms), nil
}

func (r *reader) symbolicated(forms []Form) *Symbolicated {
	var all Symbolicated
	for {
		switch r.u32() {
		case 1:
			all.Reports = append(all.Reports, r.report(forms))
		case 2:
			failure := Failure{Number: r.u32(), At: r.u64()}
			failure.Why = r.text()
			all.Failures = append(all.Failures, failure)
		default:
			if same := r.text(); len(all.Reports) > 0 {
				all.Same = []byte(same)
			}
			return &all
		}
	}
}

func (r *reader) report(forms []Form) Report {
	one := Report{Number: r.u32(), FrameCount: r.u32(), Named: r.u32(), Missing: r.u32(), CutAt: r.u64(), Kind: r.text(),
		Written: map[Form][]byte{}}
	one.Images = make([]ReportImage, r.u32())
	for i := range one.Images {
		image := &one.Images[i]
		image.Base, image.End = r.u64(), r.u64()
		marks := r.u32()
		image.IsSystem = marks&2 != 0
		image.Frames, image.Missing = r.u32(), r.u32()
		image.UUID = r.uuid(marks&1 != 0)
		image.Name, image.Path, image.Arch, image.Version = r.text(), r.text(), r.text(), r.text()
	}
	one.Frames = make([]ReportFrame, r.u32())
	for i := range one.Frames {
		frame := &one.Frames[i]
		frame.Address, frame.Thread, frame.Offset, frame.Line = r.u64(), r.u64(), r.u64(), r.u32()
		marks := r.u32()
		frame.IsCrashed, frame.IsInline = marks&1 != 0, marks&2 != 0
		frame.IsInferred = marks&4 != 0
		frame.Image, frame.Name, frame.Path, frame.Doubt = r.text(), r.text(), r.text(), r.text()
	}
	for _, form := range forms {
		one.Written[form] = []byte(r.text())
	}
	return one
}
