package machsym_test

import (
	"errors"
	"fmt"
	"log"
	"os"

	machsym "machsym.invalid/bindings/go"
)

const demo = "../../tests/fixtures/bin/demo.app.dSYM"

// A stack of a process that loaded the program at 0x102a30000: each address is one before the return address.
func Example() {
	app, err := machsym.Open(demo, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer app.Close()
	stack, err := app.LookupStack(0x102a30000, []uint64{0x102a309b6, 0x102a30aef})
	if err != nil {
		log.Fatal(err)
	}
	for _, frames := range stack {
		for _, f := range frames {
			fmt.Printf("%s %s:%d\n", f.Name, f.File, f.Line)
		}
	}
	// Output:
	// repeat(int, void (int) block_pointer) /fixtures/demo/main.mm:6
	// main /fixtures/demo/main.mm:12
	// require(bool) /fixtures/demo/queue.hpp:6
	// Queue<int>::at(int) /fixtures/demo/queue.hpp:13
	// Queue<int>::drop(int) /fixtures/demo/queue.hpp:19
	// -[Player skip:] /fixtures/demo/player.mm:19
}

func ExampleImage_Lookup() {
	app, err := machsym.Open(demo, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer app.Close()
	frames, err := app.Lookup(0x1000009b6)
	fmt.Println(len(frames), frames[1].Name, err)
	// Output: 2 main <nil>
}

// A whole image resolved once: the map answers without the dSYM.
func ExampleImage_BuildMap() {
	app, err := machsym.Open(demo, nil)
	if err != nil {
		log.Fatal(err)
	}
	made, err := app.BuildMap(nil)
	app.Close()
	if err != nil {
		log.Fatal(err)
	}
	defer made.Close()
	all, err := made.LookupAll([]uint64{0x1000009b6, 1})
	fmt.Println(len(all[0]), len(all[1]), err)
	// Output: 2 0 <nil>
}

// A fat file: which slices it has, and one of them by its UUID.
func ExampleSlices() {
	path := "../../tests/fixtures/bin/inline-fat.dwarf"
	slices, err := machsym.Slices(path)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range slices {
		fmt.Println(s.Arch, s.UUID)
	}
	image, err := machsym.Open(path, &machsym.Options{UUID: slices[1].UUID})
	if err != nil {
		log.Fatal(err)
	}
	defer image.Close()
	info, _ := image.Info()
	fmt.Println(info.Arch)
	// Output:
	// x86_64 4C4C44F8-5555-3144-A12C-1279AC5ED114
	// arm64 4C4C4437-5555-3144-A176-523D550379D0
	// arm64
}

func ExampleError() {
	_, err := machsym.Open("none", nil)
	fmt.Println(errors.Is(err, os.ErrNotExist))
	_, err = machsym.Open("../../tests/fixtures/bin/inline-fat.dwarf", &machsym.Options{Arch: "ppc"})
	var failed *machsym.Error
	fmt.Println(errors.As(err, &failed), failed.Code)
	// Output:
	// true
	// true ERR_ARCH
}

func ExampleDemangle() {
	fmt.Println(machsym.Demangle("_ZN5QueueIiE2atEi", false))
	// Output: Queue<int>::at(int)
}
