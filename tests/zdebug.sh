#!/bin/sh
# Go programs have compressed debug info (__zdebug_*): machsym answers every row of their line tables, and the entry of
# every function, as Go's own reader (debug/dwarf) does. tests/test_compressed.c has the streams that lie.
. tests/checks
why=
command -v go >/dev/null || why="it needs go"
case "$RUN$CFLAGS" in *-fsanitize* | *--coverage* | ?*qemu*) why="once is enough, without sanitizers" ;; esac
if [ -n "$why" ]; then
    skip "$why"
    end
    exit
fi
machsym=${MACHSYM:-build/machsym}
export GOTOOLCHAIN=local GOCACHE="${GOCACHE:-$work/cache}" GOPATH="$work/path" GO111MODULE=off GOFLAGS=

# No package but runtime: that has 30,000 rows.
cat >"$work/program.go" <<END
package main

func double(n int) int { return n + n }

func main() {
	for i := 0; i < 3; i++ {
		println(double(i))
	}
}
END
# Prints "ADDRESS FILE:LINE" for each address that a row begins, with the last row there, and "ADDRESS NAME" for functions.
cat >"$work/reader.go" <<END
package main

import (
	"debug/dwarf"
	"debug/macho"
	"fmt"
	"os"
)

func rows(data *dwarf.Data, unit *dwarf.Entry, out *os.File) {
	lines, err := data.LineReader(unit)
	if err != nil || lines == nil {
		return
	}
	var row, next dwarf.LineEntry
	for more := lines.Next(&row) == nil; more; row = next {
		more = lines.Next(&next) == nil
		if !row.EndSequence && more && next.Address != row.Address {
			fmt.Fprintf(out, "%#x %s:%d\n", row.Address, row.File.Name, row.Line)
		}
	}
}

func main() {
	file, err := macho.Open(os.Args[1])
	if err != nil {
		panic(err)
	}
	data, err := file.DWARF()
	if err != nil {
		panic(err)
	}
	rowsOut, _ := os.Create(os.Args[2])
	names, _ := os.Create(os.Args[3])
	entries := data.Reader()
	for entry, _ := entries.Next(); entry != nil; entry, _ = entries.Next() {
		if entry.Tag == dwarf.TagCompileUnit {
			rows(data, entry, rowsOut)
		}
		name, _ := entry.Val(dwarf.AttrName).(string)
		if low, ok := entry.Val(dwarf.AttrLowpc).(uint64); ok && entry.Tag == dwarf.TagSubprogram {
			if origin, ok := entry.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); ok {
				r := data.Reader()
				r.Seek(origin)
				abstract, _ := r.Next()
				name, _ = abstract.Val(dwarf.AttrName).(string)
			}
			fmt.Fprintf(names, "%#x %s\n", low, name)
		}
	}
}
END
go build -o "$work/reader" "$work/reader.go"
check "Go's reader builds"

program=$work/program
GOOS=darwin GOARCH=arm64 go build -o "$program" "$work/program.go" && "$work/reader" "$program" "$work/rows" "$work/names"
check "a program"
$machsym info --quick "$program" | grep -q 'compressed debug info'
check "its debug info is compressed"
cut -d ' ' -f 1 "$work/rows" | $machsym atos -o "$program" --lines=dwarf --fullPath -i -d '|' |
    sed '/^$/d; s/|.*//; s/.*(\(.*\)).*/\1/; s|^\./||' >"$work/got" # of the innermost frame
cut -d ' ' -f 2- "$work/rows" | diff - "$work/got" >"$work/diff"
check "rows" "$work/diff"
[ "$(wc -l <"$work/rows")" -gt 10000 ]
check "there are many rows"
cut -d ' ' -f 1 "$work/names" | $machsym atos -o "$program" -i -d '|' --no-demangle |
    sed '/^$/d; s/.*|//; s/ (in .*//; s/\.abi0$//' >"$work/got" # of the outermost one, which the symbol table names too
cut -d ' ' -f 2- "$work/names" | diff - "$work/got" >"$work/diff"
check "names" "$work/diff"
[ "$(wc -l <"$work/names")" -gt 500 ]
check "there are many functions"
end
