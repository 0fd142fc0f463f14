package main

import (
	"os"
	"strings"
	"sync"
	"testing"
)

// A server and --new-token may begin at the same time in a folder that is new: both have the name that the folder keeps.
func TestHolderOfNewFolder(t *testing.T) {
	for try := 0; try < 50; try++ {
		data := t.TempDir()
		var all sync.WaitGroup
		names := make([]string, 8)
		for i := range names {
			i := i
			all.Add(1)
			go func() {
				defer all.Done()
				name, err := holderOf(data)
				if err != nil {
					t.Error(err)
				}
				names[i] = name
			}()
		}
		all.Wait()
		kept, err := os.ReadFile(data + "/server")
		must(t, err)
		for _, name := range names {
			if name != strings.TrimSpace(string(kept)) || len(name) != 32 {
				t.Fatalf("a name is %q, the folder keeps %q", name, kept)
			}
		}
		left, err := os.ReadDir(data)
		must(t, err)
		if len(left) != 1 {
			t.Fatal("files are left", left)
		}
	}
}
