package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	slashpath "path"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"
)

// hexNumber is an address: "0x..." or a number, at most 64 bits.
type hexNumber uint64

func (h hexNumber) MarshalJSON() ([]byte, error) {
	return []byte(fmt.Sprintf(`"0x%x"`, uint64(h))), nil
}

func (h *hexNumber) UnmarshalJSON(data []byte) error {
	text := strings.Trim(string(data), `"`)
	var n uint64
	var err error
	if digits := strings.TrimPrefix(strings.TrimPrefix(text, "0x"), "0X"); digits != text {
		n, err = strconv.ParseUint(digits, 16, 64)
	} else {
		n, err = strconv.ParseUint(text, 10, 64)
	}
	if err != nil {
		return fmt.Errorf("%.40s is no address: a number or \"0x...\", with 64 bits at most", data)
	}
	*h = hexNumber(n)
	return nil
}

// stacksOptions are Symbolicator's options that mean something here.
type stacksOptions struct {
	Candidates bool `json:"dif_candidates"`
}

// stacksRequest is what POST /symbolicate takes. Other members are ignored, as Symbolicator does.
type stacksRequest struct {
	Platform string            `json:"platform"`
	Signal   *uint32           `json:"signal"`
	Sources  []json.RawMessage `json:"sources"`
	Options  stacksOptions     `json:"options"`
	Modules  []askedModule     `json:"modules"`
	Threads  []askedStack      `json:"threads"`
	Stacks   []askedStack      `json:"stacktraces"` // the older name of threads
}

type askedModule struct {
	Type      string     `json:"type"`
	DebugID   string     `json:"debug_id"`
	CodeID    string     `json:"code_id"`
	DebugFile string     `json:"debug_file"`
	CodeFile  string     `json:"code_file"`
	Addr      *hexNumber `json:"image_addr"`
	Size      *hexNumber `json:"image_size"`
}

type askedStack struct {
	stackHead
	Frames []askedFrame `json:"frames"`
}

// stackHead is what an answer repeats of a stack.
type stackHead struct {
	ID         *uint64              `json:"thread_id,omitempty"`
	Name       string               `json:"thread_name,omitempty"`
	Requesting *bool                `json:"is_requesting,omitempty"`
	Registers  map[string]hexNumber `json:"registers,omitempty"`
}

type askedFrame struct {
	Addr    *hexNumber `json:"instruction_addr"`
	Mode    addrMode   `json:"addr_mode"`
	Package string     `json:"package"`
	Adjust  adjustment `json:"adjust_instruction_addr"`

	isReturn bool // of a report: where the tool would look
	placed   bool // of a report: Mode says the module, and Addr is absolute
}

// addrMode is abs, or rel:N for offsets into module N.
type addrMode struct {
	relative bool
	module   int
}

func (m *addrMode) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	if text == "abs" || text == "" {
		return nil
	}
	number := strings.TrimPrefix(text, "rel:")
	n, err := strconv.ParseUint(number, 10, 31)
	if err != nil || number == text {
		return fmt.Errorf("addr_mode %.40q: it is abs or rel:N", text)
	}
	*m = addrMode{true, int(n)}
	return nil
}

// adjustment says whether an address is a return address: true, false, or auto.
type adjustment string

func (a *adjustment) UnmarshalJSON(data []byte) error {
	switch text := strings.Trim(string(data), `"`); text {
	case "true", "yes":
		*a = "yes"
	case "false", "no":
		*a = "no"
	case "auto", "null":
		*a = ""
	default:
		return fmt.Errorf("adjust_instruction_addr %.40s: it is true, false or auto", data)
	}
	return nil
}

// readStacks reads the body of POST /symbolicate.
func readStacks(body []byte) (*stacksRequest, error) {
	asked := new(stacksRequest)
	if err := json.Unmarshal(body, asked); err != nil {
		return nil, err
	}
	if asked.Threads != nil && asked.Stacks != nil {
		return nil, errors.New("threads and stacktraces are one member with two names: send one")
	}
	if asked.Threads == nil {
		asked.Threads = asked.Stacks
	}
	return asked, asked.check()
}

func (a *stacksRequest) check() error {
	if len(a.Modules) > mostModules {
		return fmt.Errorf("%d modules: at most %d", len(a.Modules), mostModules)
	}
	frames := 0
	for i, stack := range a.Threads {
		for j, frame := range stack.Frames {
			if frame.Addr == nil {
				return fmt.Errorf("frame %d of stack %d has no instruction_addr", j, i)
			}
		}
		frames += len(stack.Frames)
	}
	if frames > mostFrames {
		return fmt.Errorf("%d frames: at most %d", frames, mostFrames)
	}
	return nil
}

// symbolicated is an answer.
type symbolicated struct {
	Status string `json:"status"`
	aboutReport
	Stacks  []toldStack  `json:"stacktraces"`
	Modules []toldModule `json:"modules"`
}

// aboutReport is what /applecrashreport adds.
type aboutReport struct {
	Timestamp *int64      `json:"timestamp,omitempty"`
	System    *systemInfo `json:"system_info,omitempty"`
	Crashed   *bool       `json:"crashed,omitempty"`
	Reason    string      `json:"crash_reason,omitempty"`
	Details   string      `json:"crash_details,omitempty"`
}

type systemInfo struct {
	Name    string `json:"os_name"`
	Version string `json:"os_version"`
	Build   string `json:"os_build"`
	Arch    string `json:"cpu_arch"`
	Model   string `json:"device_model"`
}

type toldStack struct {
	stackHead
	Frames []toldFrame `json:"frames"`
}

type toldFrame struct {
	Status   string     `json:"status"`
	Index    int        `json:"original_index"`
	Addr     hexNumber  `json:"instruction_addr"`
	Mode     string     `json:"addr_mode,omitempty"` // rel:N, if the module's address is not known
	Package  string     `json:"package,omitempty"`
	Lang     string     `json:"lang,omitempty"`
	Symbol   string     `json:"symbol,omitempty"`
	SymAddr  *hexNumber `json:"sym_addr,omitempty"`
	Function string     `json:"function,omitempty"`
	Filename string     `json:"filename,omitempty"`
	AbsPath  string     `json:"abs_path,omitempty"`
	Line     *int       `json:"lineno,omitempty"`
}

type features struct {
	DebugInfo  bool `json:"has_debug_info"`
	UnwindInfo bool `json:"has_unwind_info"`
	Symbols    bool `json:"has_symbols"`
	Sources    bool `json:"has_sources"`
}

type toldModule struct {
	Status     string      `json:"debug_status"`
	Features   features    `json:"features"`
	Arch       string      `json:"arch"`
	Type       string      `json:"type,omitempty"`
	CodeID     string      `json:"code_id,omitempty"`
	CodeFile   string      `json:"code_file,omitempty"`
	DebugID    string      `json:"debug_id,omitempty"`
	DebugFile  string      `json:"debug_file,omitempty"`
	Addr       hexNumber   `json:"image_addr"`
	Size       *uint64     `json:"image_size,omitempty"`
	Candidates []candidate `json:"candidates,omitempty"`
}

// candidate is a file that was looked for.
type candidate struct {
	Source   string      `json:"source"`
	Location string      `json:"location"`
	Download download    `json:"download"`
	Debug    *fileStatus `json:"debug,omitempty"`
}

type download struct {
	Status   string    `json:"status"` // ok, notfound, error
	Details  string    `json:"details,omitempty"`
	Features *features `json:"features,omitempty"`
}

type fileStatus struct {
	Status string `json:"status"` // ok, malformed
}

// ---- Modules by address ----

// addressSpace finds the module that holds an address. Of modules that overlap, the one that begins last
// counts; of those that begin at one address, the first of the list.
type addressSpace struct {
	from   []uint64
	module []int // -1: none
}

func spaceOf(modules []askedModule) *addressSpace {
	order := []int{}
	for i, m := range modules {
		if m.Addr != nil {
			order = append(order, i)
		}
	}
	begin := func(i int) uint64 { return uint64(*modules[order[i]].Addr) }
	sort.SliceStable(order, func(i, j int) bool { // modules that begin last are placed last, over the others
		if a, b := begin(i), begin(j); a != b {
			return a < b
		}
		return order[i] > order[j]
	})
	space := &addressSpace{}
	type open struct {
		module int
		last   uint64
	}
	var stack []open // those that begin last are on top
	closeUntil := func(at uint64, all bool) {
		for len(stack) > 0 && (all || stack[len(stack)-1].last < at) {
			end := stack[len(stack)-1].last
			for len(stack) > 0 && stack[len(stack)-1].last <= end {
				stack = stack[:len(stack)-1]
			}
			if end == math.MaxUint64 {
				return
			}
			next := -1
			if len(stack) > 0 {
				next = stack[len(stack)-1].module
			}
			space.add(end+1, next)
		}
	}
	for i, m := range order {
		from := begin(i)
		closeUntil(from, false)
		last := lastOf(modules[m], from)
		if modules[m].Size == nil || *modules[m].Size == 0 {
			for next := i + 1; next < len(order); next++ {
				if begin(next) > from {
					last = begin(next) - 1
					break
				}
			}
		}
		stack = append(stack, open{m, last})
		space.add(from, m)
	}
	closeUntil(0, true)
	return space
}

// lastOf returns the last address of a module. Without a size it reaches as far as there are addresses.
func lastOf(m askedModule, from uint64) uint64 {
	if m.Size == nil || *m.Size == 0 || uint64(*m.Size)-1 > math.MaxUint64-from {
		return math.MaxUint64
	}
	return from + uint64(*m.Size) - 1
}

func (s *addressSpace) add(from uint64, module int) {
	if n := len(s.from); n > 0 && s.from[n-1] == from {
		s.module[n-1] = module
		return
	}
	s.from, s.module = append(s.from, from), append(s.module, module)
}

// find returns -1 if no module holds the address.
func (s *addressSpace) find(addr uint64) int {
	i := sort.Search(len(s.from), func(i int) bool { return s.from[i] > addr })
	if i == 0 {
		return -1
	}
	return s.module[i-1]
}

// ---- Looking up ----

// lookup is one question to the worker.
type lookup struct {
	offset   uint64
	isReturn bool
}

// spot is where a frame is.
type spot struct {
	module int // -1: in none
	addr   uint64
	lookup
}

// workerFrame is one of the calls that the worker says, as in atos/1.
type workerFrame struct {
	Name     string `json:"name"`
	Linkage  string `json:"linkage_name"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Inline   bool   `json:"inline"`
	Offset   uint64 `json:"offset"`
	LineFrom string `json:"line_source"`
}

// found is what the worker says of a module.
type found struct {
	status    string
	arch      string
	debugInfo bool
	calls     map[lookup][]workerFrame
	tried     []candidate // of sources
}

// lookUp answers a request.
func (s *server) lookUp(project string, asked *stacksRequest) (*symbolicated, error) {
	space := spaceOf(asked.Modules)
	places := make([][]spot, len(asked.Threads))
	wants := make([]map[lookup]bool, len(asked.Modules))
	for i, stack := range asked.Threads {
		for j := range stack.Frames {
			at := placeOf(asked, space, stack, j)
			places[i] = append(places[i], at)
			if at.module >= 0 {
				if wants[at.module] == nil {
					wants[at.module] = map[lookup]bool{}
				}
				wants[at.module][at.lookup] = true
			}
		}
	}
	modules := make([]found, len(asked.Modules))
	for i, m := range asked.Modules {
		var err error
		if modules[i], err = s.lookUpModule(project, m, wants[i]); err != nil {
			return nil, err
		}
	}
	told := &symbolicated{Status: "completed", Stacks: []toldStack{}, Modules: []toldModule{}}
	for i, stack := range asked.Threads {
		told.Stacks = append(told.Stacks, tellStack(asked, stack, places[i], modules))
	}
	for i, m := range asked.Modules {
		told.Modules = append(told.Modules, s.tellModule(m, modules[i], asked.Options.Candidates))
	}
	return told, nil
}

// placeOf finds the module of a frame, and where in it to look.
func placeOf(asked *stacksRequest, space *addressSpace, stack askedStack, index int) spot {
	frame := stack.Frames[index]
	at := spot{module: -1, addr: uint64(*frame.Addr)}
	switch {
	case frame.placed:
		at.module = frame.Mode.module
	case !frame.Mode.relative:
		at.module = space.find(at.addr)
	case frame.Mode.module < len(asked.Modules):
		if base := baseOf(asked.Modules[frame.Mode.module]); at.addr <= math.MaxUint64-base {
			at.module = frame.Mode.module
			at.addr += base
		}
	}
	if at.module >= 0 {
		base := baseOf(asked.Modules[at.module])
		if at.addr < base {
			at.module = -1
			return at
		}
		at.offset = at.addr - base
	}
	at.isReturn = frame.Adjust == "yes" || frame.Adjust == "" && (frame.isReturn || !frame.placed && isReturnAddress(asked, stack, index))
	at.isReturn = at.isReturn && at.offset > 0
	return at
}

func baseOf(m askedModule) uint64 {
	if m.Addr == nil {
		return 0
	}
	return uint64(*m.Addr)
}

// Signals that a wrong access, or a wrong instruction, raises: SIGILL, SIGBUS of Linux and of Apple's systems,
// SIGSEGV.
var crashSignals = map[uint32]bool{4: true, 7: true, 10: true, 11: true}

// isReturnAddress: all frames but the first of a stack. The first one, too, after such a signal if the
// instruction pointer has another value: then the reporter left the top of the stack out.
func isReturnAddress(asked *stacksRequest, stack askedStack, index int) bool {
	if index > 0 {
		return true
	}
	if asked.Signal == nil || !crashSignals[*asked.Signal] {
		return false
	}
	for _, name := range []string{"rip", "eip", "pc"} {
		if value, ok := stack.Registers[name]; ok {
			return value != *stack.Frames[0].Addr
		}
	}
	return false
}

// Kinds of modules that are not Mach-O files. Symbolicator ignores other kinds that it does not know.
var foreign = map[string]bool{"elf": true, "pe": true, "pe_dotnet": true, "wasm": true, "portable_pdb": true, "sourcemap": true, "proguard": true}

// Dashes are optional. After the UUID stands what Mach-O files do not use: an age.
var isDebugID = regexp.MustCompile(`^[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}(-?[0-9a-fA-F]{1,8})?$`)

// uuidOf returns the UUID that a module is looked for by; empty: it names none.
func uuidOf(m askedModule) string {
	for _, id := range []string{m.DebugID, m.CodeID} {
		if isDebugID.MatchString(id) {
			if uuid, err := uuidBytes(strings.ReplaceAll(id, "-", "")[:32]); err == nil {
				return uuidText(uuid)
			}
		}
	}
	return ""
}

// lookUpModule asks for all frames of a module. What is not in the store may come from a source.
func (s *server) lookUpModule(project string, m askedModule, wants map[lookup]bool) (found, error) {
	f, err := s.lookUpStored(project, m, wants)
	uuid := uuidOf(m)
	if err != nil || f.status != "missing" || uuid == "" || s.fetch == nil {
		return f, err
	}
	name := m.DebugFile
	if name == "" {
		name = m.CodeFile
	}
	asked := s.fetch.get(context.Background(), wish{uuid, name})
	if asked.found {
		f, err = s.lookUpStored(project, m, wants)
	}
	f.tried = asked.tried
	return f, err
}

// lookUpStored sends at most two requests to a worker.
func (s *server) lookUpStored(project string, m askedModule, wants map[lookup]bool) (found, error) {
	uuid := uuidOf(m)
	switch {
	case foreign[m.Type]:
		return found{status: "unsupported"}, nil
	case len(wants) == 0:
		return found{status: "unused"}, nil
	case uuid == "":
		return found{status: "missing"}, nil
	}
	f := found{status: "found", calls: map[lookup][]workerFrame{}}
	for _, isReturn := range []bool{false, true} {
		offsets := []string{}
		for w := range wants {
			if w.isReturn == isReturn {
				offsets = append(offsets, fmt.Sprintf("0x%x", w.offset))
			}
		}
		if len(offsets) == 0 {
			continue
		}
		sort.Strings(offsets)
		var said struct {
			Arch      string          `json:"arch"`
			DebugInfo bool            `json:"has_debug_info"`
			Frames    [][]workerFrame `json:"frames"`
		}
		err := s.askInto(project, map[string]any{"do": "frames", "uuid": uuid, "offsets": offsets, "return_addresses": isReturn}, &said)
		var failed *answerError
		if errors.As(err, &failed) && failed.Kind == "no_image" {
			return found{status: "missing"}, nil
		}
		if errors.As(err, &failed) && failed.Kind == "damaged_image" {
			return found{status: "malformed"}, nil
		}
		if err != nil {
			return f, err
		}
		if len(said.Frames) != len(offsets) {
			return f, errors.New("the worker left frames out")
		}
		f.arch, f.debugInfo = said.Arch, said.DebugInfo
		for i, text := range offsets {
			offset, _ := strconv.ParseUint(text[2:], 16, 64)
			f.calls[lookup{offset, isReturn}] = said.Frames[i]
		}
	}
	return f, nil
}

// ---- Answers ----

func tellStack(asked *stacksRequest, stack askedStack, places []spot, modules []found) toldStack {
	told := toldStack{stack.stackHead, []toldFrame{}}
	for i, at := range places {
		frame := toldFrame{Index: i, Addr: hexNumber(at.addr), Package: stack.Frames[i].Package}
		if at.module < 0 {
			frame.Status = "unknown_image"
			if stack.Frames[i].Mode.relative && !stack.Frames[i].placed {
				frame.Mode = "rel:" + strconv.Itoa(stack.Frames[i].Mode.module)
			}
			told.Frames = append(told.Frames, frame)
			continue
		}
		m := asked.Modules[at.module]
		frame.Package = m.CodeFile
		if m.Addr == nil && stack.Frames[i].Mode.relative && !stack.Frames[i].placed {
			frame.Mode = "rel:" + strconv.Itoa(at.module)
		}
		told.Frames = append(told.Frames, tellCalls(frame, at, modules[at.module])...)
	}
	return told
}

// tellCalls makes a frame of each call, the innermost inlined one first.
func tellCalls(frame toldFrame, at spot, of found) []toldFrame {
	calls := of.calls[at.lookup]
	switch {
	case of.status == "malformed":
		frame.Status = "malformed"
	case of.status != "found":
		frame.Status = "missing"
	case len(calls) == 0:
		frame.Status = "missing_symbol"
	}
	if frame.Status != "" {
		return []toldFrame{frame}
	}
	told := []toldFrame{}
	lang := langOf(calls[len(calls)-1])
	for _, call := range calls {
		one := frame
		one.Status, one.Lang = "symbolicated", lang
		one.Function, one.Symbol = call.Name, call.Linkage
		if one.Symbol == "" {
			one.Symbol = call.Name
		}
		if !call.Inline && call.Offset <= at.addr {
			start := hexNumber(at.addr - call.Offset)
			one.SymAddr = &start
		}
		if call.File != "" && call.LineFrom != "none" {
			line := call.Line
			one.Filename, one.AbsPath, one.Line = slashpath.Base(call.File), call.File, &line
		}
		told = append(told, one)
	}
	return told
}

// Languages by how a compiler calls a function, and by the file that it is in.
var (
	langOfPrefix = []struct{ prefix, lang string }{{"$s", "swift"}, {"_$s", "swift"}, {"$S", "swift"}, {"_T0", "swift"}, {"_R", "rust"}, {"_Z", "cpp"}, {"-[", "objc"}, {"+[", "objc"}}
	langOfEnding = map[string]string{".c": "c", ".m": "objc", ".mm": "objcpp", ".swift": "swift", ".rs": "rust", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".C": "cpp", ".d": "d"}
)

// langOf tells the language of a function by its file's ending, else by its name. Empty: neither says it.
func langOf(call workerFrame) string {
	if lang := langOfEnding[slashpath.Ext(call.File)]; lang != "" {
		return lang
	}
	name := call.Linkage
	if name == "" {
		name = call.Name
	}
	for _, one := range langOfPrefix {
		if strings.HasPrefix(name, one.prefix) {
			return one.lang
		}
	}
	return ""
}

func (s *server) tellModule(m askedModule, of found, candidates bool) toldModule {
	told := toldModule{Status: of.status, Arch: "unknown", Type: m.Type, CodeID: m.CodeID, CodeFile: m.CodeFile, DebugID: m.DebugID, DebugFile: m.DebugFile,
		Addr: hexNumber(baseOf(m)), Size: (*uint64)(m.Size)}
	if of.status == "found" {
		told.Features = features{DebugInfo: of.debugInfo, Symbols: true}
		if of.arch != "" {
			told.Arch = of.arch
		}
	}
	if candidates && of.status != "unused" && of.status != "unsupported" {
		told.Candidates = append(s.candidatesOf(m, told), of.tried...)
	}
	return told
}

// candidatesOf lists the files of the store that a module was looked for in, by the paths that /symbols serves.
// Maps are not served.
func (s *server) candidatesOf(m askedModule, told toldModule) []candidate {
	const source = "machsym"
	uuid := uuidOf(m)
	if uuid == "" {
		return []candidate{{Source: source, Location: "No object files listed on this source", Download: download{Status: "notfound"}}}
	}
	list := []candidate{}
	low := strings.ToLower(strings.ReplaceAll(uuid, "-", ""))
	for _, kind := range []struct{ name, pattern string }{{"debuginfo", ".dSYM/Contents/Resources/DWARF/[^.]*"}, {"executable", ".binary/[^.]*"}} {
		one := candidate{Source: source, Location: "symbols/" + low[:2] + "/" + low[2:] + "/" + kind.name, Download: download{Status: "notfound"}}
		if has, _ := filepath.Glob(s.symbols.tool.store() + "/" + uuid[:2] + "/" + uuid + kind.pattern); len(has) > 0 {
			one.Download = download{Status: "ok", Features: &told.Features}
			one.Debug = &fileStatus{map[string]string{"found": "ok", "malformed": "malformed"}[told.Status]}
			if one.Debug.Status == "" {
				one.Debug = nil
			}
		}
		list = append(list, one)
	}
	if _, err := os.Stat(s.symbols.tool.store() + "/" + uuid[:2] + "/" + uuid + ".symmap"); err == nil {
		list = append(list, candidate{source, uuid + ".symmap", download{Status: "ok", Features: &told.Features}, nil})
	}
	return list
}

// ---- Reports ----

// reportStacks is the worker's form stacks: docs/json.md.
type reportStacks struct {
	Facts   map[string]string `json:"facts"`
	Threads []struct {
		Kind    string  `json:"kind"`
		Number  uint64  `json:"number"`
		Name    *string `json:"name"`
		Crashed bool    `json:"crashed"`
		Frames  []struct {
			Addr     hexNumber `json:"address"`
			IsReturn bool      `json:"return_address"`
			Image    *int      `json:"image"`
			Module   string    `json:"module"`
		} `json:"frames"`
		Registers map[string]hexNumber `json:"registers"`
	} `json:"threads"`
	Images []struct {
		Name string    `json:"name"`
		Path *string   `json:"path"`
		Arch *string   `json:"arch"`
		UUID *string   `json:"uuid"`
		Base hexNumber `json:"base"`
		Size uint64    `json:"size"`
	} `json:"images"`
}

// stacksOf reads a crash report.
func (s *server) stacksOf(project string, report []byte) (*stacksRequest, aboutReport, error) {
	var said struct {
		Reports []struct{ Stacks reportStacks }
	}
	err := s.askInto(project, map[string]any{"do": "crash", "want": []string{"stacks"}, "base64": report}, &said)
	if err != nil {
		return nil, aboutReport{}, err
	}
	if len(said.Reports) != 1 {
		return nil, aboutReport{}, &answerError{"no_report", fmt.Sprintf("%d reports: send each alone", len(said.Reports))}
	}
	of := &said.Reports[0].Stacks
	asked := &stacksRequest{Modules: []askedModule{}}
	for i := range of.Images {
		asked.Modules = append(asked.Modules, of.moduleOf(i))
	}
	for i := range of.Threads {
		asked.Threads = append(asked.Threads, of.stackOf(i, len(of.Images)))
	}
	if err := asked.check(); err != nil {
		return nil, aboutReport{}, &answerError{"bad_request", err.Error()}
	}
	return asked, of.about(), nil
}

func (r *reportStacks) moduleOf(i int) askedModule {
	of := &r.Images[i]
	m := askedModule{Type: "macho", CodeFile: of.Name, Addr: &of.Base}
	if of.Path != nil {
		m.CodeFile = *of.Path
	}
	m.DebugFile = m.CodeFile
	if of.UUID != nil {
		m.DebugID = strings.ToLower(*of.UUID)
		m.CodeID = strings.ReplaceAll(m.DebugID, "-", "")
	}
	if of.Size > 0 { // Symbolicator says the last address less the first
		size := hexNumber(of.Size - 1)
		m.Size = &size
	}
	return m
}

func (r *reportStacks) stackOf(i, images int) askedStack {
	of := &r.Threads[i]
	stack := askedStack{stackHead{Requesting: &of.Crashed, Registers: of.Registers}, nil}
	if of.Name != nil {
		stack.Name = *of.Name
	}
	if of.Kind == "thread" {
		stack.ID = &of.Number
	} else if stack.Name == "" {
		stack.Name = of.Kind
	}
	for j := range of.Frames {
		one := &of.Frames[j]
		frame := askedFrame{Addr: &one.Addr, Package: one.Module, isReturn: one.IsReturn, placed: true, Mode: addrMode{false, -1}}
		if frame.Package == "???" {
			frame.Package = ""
		}
		if one.Image != nil && *one.Image >= 0 && *one.Image < images {
			frame.Mode.module = *one.Image
		}
		stack.Frames = append(stack.Frames, frame)
	}
	return stack
}

// Dates as reports write them.
var reportDates = []string{"2006-01-02 15:04:05 -0700", "2006-01-02T15:04:05Z07:00", "2006-01-02 15:04:05", "2006-01-02"}

func (r *reportStacks) about() (about aboutReport) {
	crashed := r.Facts["exception"] != "" || r.Facts["signal"] != ""
	arch := ""
	for _, thread := range r.Threads {
		crashed = crashed || thread.Crashed
	}
	for _, image := range r.Images {
		if arch == "" && image.Arch != nil {
			arch = *image.Arch
		}
	}
	about.Crashed = &crashed
	about.Reason, about.Details = r.Facts["exception"], r.Facts["app_info"]
	if signal := r.Facts["signal"]; signal != "" && !strings.Contains(about.Reason, signal) {
		about.Reason = strings.TrimSpace(about.Reason + " (" + signal + ")")
	}
	for _, layout := range reportDates {
		if date, err := time.Parse(layout, r.Facts["date"]); err == nil {
			seconds := date.Unix()
			about.Timestamp = &seconds
			break
		}
	}
	about.System = systemOf(r.Facts["os"])
	about.System.Arch, about.System.Model = arch, r.Facts["hardware"]
	return about
}

var osWords = regexp.MustCompile(`^(.*?) ?([0-9][0-9.]*)?(?: \(([^)]*)\))?$`)

// systemOf takes "Mac OS X 10.14.0 (18A391)" apart.
func systemOf(os string) *systemInfo {
	words := osWords.FindStringSubmatch(strings.TrimSpace(os))
	if words == nil {
		return &systemInfo{Name: os}
	}
	if words[1] == "Mac OS X" {
		words[1] = "macOS"
	}
	return &systemInfo{Name: words[1], Version: words[2], Build: words[3]}
}
