package machsym

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const fixtures = "../../tests/fixtures/"

var forms = map[Form]string{Same: "--to=same", Text: "--to=text", Apple: "--apple", JSON: "--json", Brief: "--brief",
	Summary: "--summary", Signature: "--signature"}

func openDemo(t *testing.T) (*Image, *Symbols) {
	image, err := Open(bin+"demo.app.dSYM", nil)
	if err != nil {
		t.Fatal(err)
	}
	return image, NewSymbols(image)
}

// What `machsym crash` writes of reports; after a signature it has the name of the file, before a summary, too.
func crash(t *testing.T, paths []string, folder string, form Form, more ...string) []byte {
	arguments := append([]string{"crash", "-q", "--no-cache", forms[form], "-d", folder}, more...)
	out, err := exec.Command(tool, append(arguments, paths...)...).Output()
	if _, isExit := err.(*exec.ExitError); err != nil && !isExit {
		t.Fatal(err)
	}
	var kept []byte
	for _, line := range bytes.SplitAfter(out, []byte("\n")) {
		if form == Signature && len(line) > 0 {
			line = append(line[:bytes.LastIndex(line, []byte("  ")):len(line)], '\n')
		}
		if form != Summary || !bytes.HasPrefix(line, []byte("== ")) {
			kept = append(kept, line...)
		}
	}
	return kept
}

// sameAsTool holds each form of reports against what the tool writes with the symbols of a folder.
func sameAsTool(t *testing.T, paths []string, symbols *Symbols, folder string) {
	t.Helper()
	got := map[Form][]byte{}
	var redacted []byte
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all := []Form{Same, Text, Apple, JSON, Brief, Summary, Signature}
		answer, err := symbols.Symbolicate(data, &ReportOptions{Forms: all, Name: path, NoWalk: true})
		if err != nil {
			t.Fatal(err)
		}
		got[Same] = append(got[Same], answer.Same...)
		for _, report := range answer.Reports {
			for form, written := range report.Written {
				got[form] = append(got[form], written...)
			}
		}
		answer, err = symbols.Symbolicate(data, &ReportOptions{Forms: []Form{Same}, Redact: "words"})
		if err != nil {
			t.Fatal(err)
		}
		redacted = append(redacted, answer.Same...)
	}
	for form, option := range forms {
		want := crash(t, paths, folder, form)
		if len(want) == 0 || !bytes.Equal(got[form], want) {
			t.Errorf("%s: %d bytes, the tool has %d", option, len(got[form]), len(want))
		}
	}
	if want := crash(t, paths, folder, Same, "--redact-key=words"); !bytes.Equal(redacted, want) {
		t.Errorf("redacted: %d bytes, the tool has %d", len(redacted), len(want))
	}
}

// filesBelow lists the files below a folder that are wanted.
func filesBelow(t *testing.T, folder string, wanted func(path string) bool) []string {
	t.Helper()
	var paths []string
	err := filepath.Walk(folder, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() && wanted(path) {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil || len(paths) == 0 {
		t.Fatal(folder, err)
	}
	return paths
}

// Each form of each report of the fixtures is what the tool writes.
func TestReports(t *testing.T) {
	image, symbols := openDemo(t)
	defer image.Close()
	defer symbols.Close()
	for _, folder := range []string{"reports", "services", "stacks", "apple", "system"} {
		t.Run(folder, func(t *testing.T) {
			paths := filesBelow(t, fixtures+folder, func(path string) bool { return filepath.Base(path) != "SOURCES" })
			sameAsTool(t, paths, symbols, bin+"demo.app.dSYM")
		})
	}
}

// Frames that only the unwind tables of the program find.
func TestDumps(t *testing.T) {
	const program = "../../tests/stacks/x86_64.program"
	image, err := Open(program, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer image.Close()
	symbols := NewSymbols(image)
	defer symbols.Close()
	sameAsTool(t, []string{"../../tests/stacks/x86_64.dmp"}, symbols, program)
}

// A return address that no call ends at, and a caller that only bytes of the stack have: as crash --check-stack tells.
func TestCheckedStacks(t *testing.T) {
	const calls = "../../tests/stacks/x86_64.program"
	var images []*Image
	for _, path := range []string{bin + "demo.app.dSYM", bin + "demo", calls} {
		image, err := Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer image.Close()
		images = append(images, image)
	}
	symbols := NewSymbols(images...)
	defer symbols.Close()
	data, err := os.ReadFile(fixtures + "reports/demo.ips")
	if err != nil {
		t.Fatal(err)
	}
	wrong := filepath.Join(t.TempDir(), "off.ips")
	data = bytes.Replace(data, []byte("\"imageOffset\":2684"), []byte("\"imageOffset\":2688"), 1)
	if err := os.WriteFile(wrong, data, 0o600); err != nil {
		t.Fatal(err)
	}
	doubts, inferred := 0, 0
	for _, path := range []string{wrong, "../../tests/stacks/x86_64.json"} {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all := []Form{Same, Text, Apple, JSON, Brief, Summary, Signature}
		answer, err := symbols.Symbolicate(data, &ReportOptions{Forms: all, Name: path, CheckStack: true})
		if err != nil || len(answer.Reports) != 1 {
			t.Fatal(answer, err)
		}
		report := answer.Reports[0]
		report.Written[Same] = answer.Same
		for form, option := range forms {
			more := []string{"-d", bin + "demo", "-d", calls}
			if form != Apple { // the tool refuses both together
				more = append(more, "--check-stack")
			}
			if want := crash(t, []string{path}, bin+"demo.app.dSYM", form, more...); len(want) == 0 || !bytes.Equal(report.Written[form], want) {
				t.Errorf("%s, %s: %d bytes, the tool has %d", path, option, len(report.Written[form]), len(want))
			}
		}
		for _, frame := range report.Frames {
			if strings.HasPrefix(frame.Doubt, "no call ends here: ") && frame.Address == 0x102a30a80 {
				doubts++
			}
			if frame.IsInferred && frame.Address == 0x10234042c {
				inferred++
			}
		}
	}
	if doubts != 1 || inferred != 1 {
		t.Error(doubts, inferred)
	}
}

// openAll opens every slice of the files of a folder that are Mach-O files.
func openAll(t *testing.T, folder string) []*Image {
	t.Helper()
	var images []*Image
	for _, path := range filesBelow(t, folder, func(string) bool { return true }) {
		slices, err := Slices(path)
		if err != nil {
			continue
		}
		for i := range slices {
			image, err := Open(path, &Options{UUID: slices[i].UUID})
			if err != nil {
				t.Fatal(path, err)
			}
			images = append(images, image)
		}
	}
	return images
}

// The same of published reports, with published dSYMs.
func TestPublishedReports(t *testing.T) {
	corpus := os.Getenv("CORPUS")
	if corpus == "" {
		corpus = "../../../shared/corpus"
	}
	if _, err := os.Stat(corpus); err != nil {
		t.Skip("../shared/corpus is missing")
	}
	folder := t.TempDir()
	for i, path := range filesBelow(t, corpus, func(path string) bool { return strings.Contains(path, ".dSYM/Contents/Resources/DWARF/") }) {
		data, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, strconv.Itoa(i)), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	images := openAll(t, folder)
	for _, image := range images {
		defer image.Close()
	}
	symbols := NewSymbols(images...)
	defer symbols.Close()
	sameAsTool(t, filesBelow(t, corpus, func(path string) bool {
		switch filepath.Ext(path) {
		case ".crash", ".ips", ".txt", ".json", ".dmp":
			return true
		}
		return false
	}), symbols, folder)
}

func TestReportObjects(t *testing.T) {
	image, symbols := openDemo(t)
	data, err := os.ReadFile(fixtures + "reports/demo.crash")
	if err != nil {
		t.Fatal(err)
	}
	answer, err := symbols.Symbolicate(data, nil)
	if err != nil || len(answer.Reports) != 1 || len(answer.Failures) != 0 {
		t.Fatal(answer, err)
	}
	report := answer.Reports[0]
	frame := report.Frames[0]
	if report.Kind != "crash text" || frame.Name != "require(bool)" || frame.Line != 6 || !frame.IsInline || !frame.IsCrashed {
		t.Errorf("%+v", report)
	}
	if report.Images[0].Name != "demo" || report.Images[0].UUID.String() != "4C4C44B5-5555-3144-A1BA-79CA685DEC58" {
		t.Errorf("%+v", report.Images[0])
	}
	answer, err = symbols.Symbolicate([]byte("nothing"), nil)
	if err != nil || len(answer.Reports) != 0 || !strings.Contains(answer.Failures[0].Why, "no report") {
		t.Error(answer, err)
	}
	if _, err = symbols.Symbolicate(data, &ReportOptions{Forms: []Form{9}}); err == nil {
		t.Error("a form of that number")
	}
	image.Close()
	if _, err = symbols.Symbolicate(data, nil); err != errClosed {
		t.Error(err)
	}
	symbols.Close()
	symbols.Close()
	if _, err = NewSymbols().Symbolicate(nil, nil); err != nil {
		t.Error(err)
	}
}

// Many goroutines share symbols, and an image is closed while some still ask.
func TestReportRaces(t *testing.T) {
	image, symbols := openDemo(t)
	defer symbols.Close()
	data, _ := os.ReadFile(fixtures + "reports/demo.ips")
	options := &ReportOptions{Forms: []Form{Same}}
	want, err := symbols.Symbolicate(data, options)
	if err != nil || len(want.Same) == 0 {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	for g := 0; g < 8; g++ {
		done.Add(1)
		go func() {
			defer done.Done()
			for i := 0; i < 30; i++ {
				got, err := symbols.Symbolicate(data, options)
				if err == nil && !bytes.Equal(got.Same, want.Same) {
					t.Error("another answer")
				} else if err != nil && err != errClosed {
					t.Error(err)
				}
			}
		}()
	}
	image.Close()
	done.Wait()
}
