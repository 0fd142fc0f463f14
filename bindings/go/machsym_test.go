package machsym

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

const bin = "../../tests/fixtures/bin/"

// The tool's path, from the environment of tests/go.sh.
var tool = os.Getenv("MACHSYM")

type jsonFrame struct {
	Name        string `json:"name"`
	LinkageName string `json:"linkage_name"`
	File        string `json:"file"`
	Line        uint32 `json:"line"`
	Column      uint32 `json:"column"`
	Inline      bool   `json:"inline"`
	Offset      uint64 `json:"offset"`
	NameSource  string `json:"name_source"`
	LineSource  string `json:"line_source"`
}

// What `machsym atos` says of the same addresses.
func asked(t *testing.T, arguments []string, addresses []uint64) [][]jsonFrame {
	arguments = append([]string{"atos", "--json", "-i"}, arguments...)
	for _, a := range addresses {
		arguments = append(arguments, fmt.Sprintf("0x%x", a))
	}
	out, err := exec.Command(tool, arguments...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var answers [][]jsonFrame
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		var answer struct{ Frames []jsonFrame }
		if err := json.Unmarshal([]byte(line), &answer); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, answer.Frames)
	}
	return answers
}

func told(frames []Frame, address uint64) []jsonFrame {
	all := []jsonFrame{}
	for _, f := range frames {
		all = append(all, jsonFrame{f.Name, f.LinkageName, f.File, f.Line, f.Column, f.Inline,
			address - f.FunctionStart, f.NameSource, f.LineSource})
	}
	return all
}

func compare(t *testing.T, path string, options *Options, arguments []string) {
	image, err := Open(path, options)
	if err != nil {
		t.Fatal(err)
	}
	defer image.Close()
	info, err := image.Info()
	if err != nil {
		t.Fatal(err)
	}
	addresses := []uint64{0, 1 << 63}
	for i := uint64(0); i < 1500; i++ {
		addresses = append(addresses, info.TextAddr+i*14)
	}
	got, err := image.LookupAll(addresses)
	if err != nil {
		t.Fatal(err)
	}
	want := asked(t, append(arguments, "-o", path), addresses)
	known := 0
	for i, a := range addresses {
		here := told(got[i], a)
		known += len(here)
		if !reflect.DeepEqual(here, want[i]) {
			t.Errorf("%s 0x%x:\n got  %v\n want %v", path, a, here, want[i])
		}
	}
	if known == 0 {
		t.Errorf("%s: nothing is known", path)
	}
}

func TestImages(t *testing.T) {
	for _, name := range []string{"demo.app.dSYM", "inline-arm64-d5-22.dSYM", "inline-arm64_32-d4-22.dwarf",
		"symbols-x86_64", "names-x86_64", "zoo-arm64-chained-relative-strip"} {
		t.Run(name, func(t *testing.T) { compare(t, bin+name, nil, nil) })
	}
	t.Run("objects", func(t *testing.T) {
		compare(t, bin+"map-x86_64-d4-O2/program", &Options{OSODirs: []string{bin}}, []string{"--oso-dir", bin})
	})
	t.Run("fat", func(t *testing.T) {
		compare(t, bin+"inline-fat.dwarf", &Options{Arch: "x86_64", Lines: LinesStmt}, []string{"-arch", "x86_64", "--lines=stmt"})
	})
}

func TestMap(t *testing.T) {
	image, err := Open(bin+"demo.app.dSYM", nil)
	if err != nil {
		t.Fatal(err)
	}
	made, err := image.BuildMap(&MapOptions{Lines: LinesDwarf})
	image.Close()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "demo.symmap")
	if err := made.Save(path); err != nil {
		t.Fatal(err)
	}
	bytes, err := made.Bytes()
	saved, _ := os.ReadFile(path)
	if err != nil || string(bytes) != string(saved) {
		t.Errorf("%d bytes, saved %d; %v", len(bytes), len(saved), err)
	}
	made.Close()
	if made.Save(path) == nil {
		t.Error("a closed map is saved")
	}
	compare(t, path, nil, []string{"--lines=dwarf"})
	again, err := OpenMap(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if info, _ := again.Info(); !info.IsMap || info.Lines != LinesDwarf {
		t.Errorf("%+v", info)
	}
	again.Close()
	if _, err := OpenMap(path, &Options{Lines: LinesStmt}); err == nil || !strings.Contains(err.Error(), "policy") {
		t.Errorf("another policy: %v", err)
	}
	if _, err := OpenMap(bin+"demo.app.dSYM", nil); err == nil {
		t.Error("a dSYM is opened as a map")
	}
}

func TestStack(t *testing.T) {
	data, err := os.ReadFile(bin + "demo.app.dSYM/Contents/Resources/DWARF/demo")
	if err != nil {
		t.Fatal(err)
	}
	image, err := OpenBytes(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	stack, err := image.LookupStack(0x102a30000, []uint64{0x102a309b6})
	if err != nil || len(stack) != 1 || len(stack[0]) != 2 || stack[0][1].Name != "main" || stack[0][1].Line != 12 {
		t.Errorf("%v %v", stack, err)
	}
	if none, err := image.LookupAll(nil); none != nil || err != nil {
		t.Errorf("%v %v", none, err)
	}
	image.Close()
	image.Close()
	if _, err := image.Lookup(1); err == nil {
		t.Error("a closed image answers")
	}
}

// Many goroutines ask one image, and it is closed while some still do: they get answers or an error, and the race detector
// sees nothing.
func TestRaces(t *testing.T) {
	image, err := Open(bin+"demo.app.dSYM", nil)
	if err != nil {
		t.Fatal(err)
	}
	var addresses []uint64
	for i := uint64(0); i < 300; i++ {
		addresses = append(addresses, 0x100000900+4*i)
	}
	want, err := image.LookupAll(addresses)
	if err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	var right int32
	for g := 0; g < 8; g++ {
		done.Add(1)
		go func() {
			defer done.Done()
			for i := 0; i < 50; i++ {
				got, err := image.LookupAll(addresses)
				if err == nil && !reflect.DeepEqual(got, want) {
					t.Error("another answer")
				}
				if err == nil {
					atomic.AddInt32(&right, 1)
				} else if err != errClosed {
					t.Error(err)
				}
			}
		}()
	}
	for atomic.LoadInt32(&right) < 20 {
		runtime.Gosched()
	}
	image.Close()
	done.Wait()
}

func TestErrors(t *testing.T) {
	for path, want := range map[string]string{"none": "no such file", "machsym.go": "not a Mach-O file",
		bin + "inline-fat.dwarf": "several slices"} {
		if _, err := Open(path, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := Slices("machsym.go"); err == nil {
		t.Error("slices of a text")
	}
	if _, err := ParseUUID("4C4C44F8"); err == nil {
		t.Error("a short UUID")
	}
	uuid, err := ParseUUID("4C4C44F8-5555-3144-A12C-1279AC5ED114")
	if err != nil || uuid.String() != "4C4C44F8-5555-3144-A12C-1279AC5ED114" {
		t.Error(uuid, err)
	}
	out, err := exec.Command(tool, "--version").Output()
	if err != nil || strings.TrimSpace(string(out)) != Version() {
		t.Errorf("version %s, of the tool %s %v", Version(), out, err)
	}
}

// A stack of 32 addresses, one call.
func BenchmarkStack(b *testing.B) { benchmark(b, 32) }

// One address a call: what a binding that does not batch pays.
func BenchmarkAddress(b *testing.B) { benchmark(b, 1) }

func benchmark(b *testing.B, batch int) {
	image, err := Open(bin+"demo.app.dSYM", nil)
	if err != nil {
		b.Fatal(err)
	}
	defer image.Close()
	var addresses []uint64
	for i := 0; i < 32; i++ {
		addresses = append(addresses, 0x100000960+uint64(i)*12)
	}
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		for at := 0; at < len(addresses); at += batch {
			if _, err := image.LookupAll(addresses[at : at+batch]); err != nil {
				b.Fatal(err)
			}
		}
	}
}
