#!/bin/sh
# Unwind tables of every image of the fixtures, entry by entry: compact encodings as llvm-objdump 22 has them, the rows of
# CFA programs as llvm-dwarfdump 22 does.
: "${CC:=cc}"
. tests/checks

program() # NAME: compiles tests/unwind/NAME.c
{
    # shellcheck disable=SC2086 # CC and flags hold several words
    $CC -std=c11 -D_GNU_SOURCE -Wno-unused-function $CFLAGS $LDFLAGS -o "$work/$1" "tests/unwind/$1.c" >"$work/log" 2>&1
    check "tests/unwind/$1.c compiles" "$work/log"
}

if need "unwind tables" python3 llvm-objdump-22 llvm-dwarfdump-22; then
    program encodings
    python3 tests/unwind/compact.py "$RUN $work/encodings" tests/fixtures/bin >"$work/log"
    check "compact encodings" "$work/log"
    program rows
    python3 tests/unwind/frames.py "$RUN $work/rows" tests/fixtures/bin >"$work/log"
    check "rows of CFA programs" "$work/log"
fi
end
