package machsym

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
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

func compare(t *testing.T, path, arch string, lines Lines, arguments []string, base uint64) {
	source, err := Open(path, arch, lines)
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	addresses := []uint64{0, 1 << 63}
	for i := uint64(0); i < 1500; i++ {
		addresses = append(addresses, base+i*14)
	}
	stack, err := source.Lookup(addresses)
	if err != nil {
		t.Fatal(err)
	}
	want := asked(t, append(arguments, "-o", path), addresses)
	known := 0
	for i, a := range addresses {
		got := told(stack[i], a)
		known += len(got)
		if !reflect.DeepEqual(got, want[i]) {
			t.Errorf("%s 0x%x:\n got  %v\n want %v", path, a, got, want[i])
		}
	}
	if known == 0 {
		t.Errorf("%s: nothing is known", path)
	}
}

func TestImages(t *testing.T) {
	for name, base := range map[string]uint64{
		"demo.app.dSYM": 0x100000000, "inline-arm64-d5-22.dSYM": 0x100000000, "inline-arm64_32-d4-22.dwarf": 0x4000,
		"symbols-x86_64": 0x100000000, "names-x86_64": 0x100000000, "zoo-arm64-chained-relative-strip": 0x100000000,
	} {
		t.Run(name, func(t *testing.T) { compare(t, bin+name, "", LinesAtos, nil, base) })
	}
	t.Run("fat", func(t *testing.T) {
		compare(t, bin+"inline-fat.dwarf", "x86_64", LinesStmt, []string{"-arch", "x86_64", "--lines=stmt"}, 0x100000000)
	})
}

func TestMap(t *testing.T) {
	path := filepath.Join(t.TempDir(), "demo.symmap")
	if out, err := exec.Command(tool, "map", "build", "-o", path, bin+"demo.app.dSYM").CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	compare(t, path, "", LinesAtos, nil, 0x100000000)
}

func TestStack(t *testing.T) {
	source, err := Open(bin+"demo.app.dSYM", "", LinesAtos)
	if err != nil {
		t.Fatal(err)
	}
	source.out = source.out[:1] // has to grow
	stack, err := source.Stack(0x102a30000, []uint64{0x102a309b6})
	if err != nil || len(stack) != 1 || len(stack[0]) != 2 || stack[0][1].Name != "main" || stack[0][1].Line != 12 {
		t.Errorf("%v %v", stack, err)
	}
	if none, err := source.Stack(0, nil); none != nil || err != nil {
		t.Errorf("%v %v", none, err)
	}
	source.Close()
	source.Close()
	if _, err := source.Stack(0, []uint64{1}); err == nil {
		t.Error("a closed source answers")
	}
}

func TestErrors(t *testing.T) {
	for path, want := range map[string]string{"none": "No such file", "machsym.go": "not a Mach-O file",
		bin + "inline-fat.dwarf": "several slices"} {
		if _, err := Open(path, "", LinesAtos); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if Version() == "" {
		t.Error("no version")
	}
}

// A stack of 32 addresses, one call.
func BenchmarkStack(b *testing.B) { benchmark(b, 32) }

// One address a call: what a binding that does not batch pays.
func BenchmarkAddress(b *testing.B) { benchmark(b, 1) }

func benchmark(b *testing.B, batch int) {
	source, err := Open(bin+"demo.app.dSYM", "", LinesAtos)
	if err != nil {
		b.Fatal(err)
	}
	defer source.Close()
	var addresses []uint64
	for i := 0; i < 32; i++ {
		addresses = append(addresses, 0x100000960+uint64(i)*12)
	}
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		for at := 0; at < len(addresses); at += batch {
			if _, err := source.Lookup(addresses[at : at+batch]); err != nil {
				b.Fatal(err)
			}
		}
	}
}
