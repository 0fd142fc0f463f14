#!/bin/sh
# Unwind tables of every image of the fixtures and of ../shared/corpus, entry by entry: compact encodings as llvm-objdump 22
# has them, the rows of CFA programs as llvm-dwarfdump 22 does. Callers at every instruction, as an emulator's call log has
# them.
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
    program rows
    corpus=${CORPUS:-../shared/corpus}
    [ -d "$corpus" ] || skip "tables of real images: ../shared/corpus is missing"
    for images in tests/fixtures tests/real "$corpus"; do
        [ -d "$images" ] || continue
        python3 tests/unwind/compact.py "$RUN $work/encodings" "$work" "$images" >"$work/log"
        check "compact encodings of $images" "$work/log"
        python3 tests/unwind/frames.py "$RUN $work/rows" "$work" "$images" >"$work/log"
        check "rows of CFA programs of $images" "$work/log"
    done
    [ "${SAMPLE:-1}" -eq 1 ] && programs=2000 || programs=100
    mkdir "$work/programs"
    python3 tests/unwind/programs.py "$work/programs" "$programs" 1 >"$work/log" 2>&1
    check "random CFA programs are written" "$work/log"
    python3 tests/unwind/frames.py "$RUN $work/rows" "$work" "$work/programs" >"$work/log" 2>&1
    check "rows of random CFA programs" "$work/log"
fi

# Callers at every instruction of functions that an emulator runs: `make soak-unwind` runs 1,000. The first column
# is the least number of functions: pieces of prologues are rare.
python=$(for one in python3 /usr/bin/python3; do "$one" -c "import unicorn" 2>/dev/null && echo "$one" && break; done)
if need "callers at every instruction" python3 clang-22 ld64.lld-22 llvm-nm-22; then
    program steps
    while read -r least arch flags; do
        functions=${STEPS:-30}
        [ "$functions" -ge "$least" ] || functions=$least
        # shellcheck disable=SC2086 # flags are several words
        "${python:-python3}" tests/unwind/steps.py "$functions" 3 "$work" "$arch" $flags >"$work/made" 2>&1
        status=$?
        if [ $status -eq 77 ]; then
            skip "callers at every instruction: it needs python3-unicorn"
            break
        fi
        count $status || cat "$work/made"
        $RUN "$work/steps" "$work/trace" >"$work/log"
        check "callers at every instruction: $arch $flags" "$work/log"
    done <<'FLAGS'
30 x86_64 -O0
30 x86_64 -Os
30 x86_64 -O2 -fomit-frame-pointer
30 arm64 -O0
30 arm64 -O1
30 arm64 -Oz
30 arm64 -O2 -mbranch-protection=pac-ret+b-key
200 arm64 -Oz -mllvm -enable-machine-outliner
200 arm64 -Oz -fomit-frame-pointer -mllvm -enable-machine-outliner
100 arm64 -Oz -mllvm -homogeneous-prolog-epilog=true -mllvm -enable-machine-outliner
100 arm64 -Oz -fomit-frame-pointer -mllvm -homogeneous-prolog-epilog=true
FLAGS
fi

# Stacks of generated programs at any of their instructions, as minidumps and core files. `make soak-unwind` makes 1,000.
modules= suffix=
lldb=$(command -v lldb-22)
[ -z "$lldb" ] || modules=$("$lldb" -P 2>/dev/null)
[ -n "$lldb" ] || skip "generated stacks, read by lldb: it needs lldb-22"
command -v yaml2macho-core-22 >/dev/null && command -v yaml2obj-22 >/dev/null && suffix=-22
[ -n "$suffix" ] || skip "generated stacks, written by LLVM: it needs yaml2obj-22 and yaml2macho-core-22"
if [ -z "$python" ]; then
    skip "generated stacks: it needs python3-unicorn"
elif need "generated stacks" clang-22 ld64.lld-22 llvm-nm-22 llvm-objdump-22; then
    mkdir "$work/stacks"
    "$python" tests/stacks/generated.py "$MACHSYM" "$work/stacks" "$modules" "${suffix:--}" "${STACKS:-36}" >"$work/log" 2>"$work/err"
    count $? || cat "$work/log" "$work/err"
    [ -z "$STACKS" ] || cat "$work/log"
fi

# Stacks of programs for Linux that a kernel runs, and gcc makes: `make soak-unwind` takes 300 of each processor.
twins() # ARCH
{
    mkdir "$work/$1"
    python3 tests/stacks/twins.py "$MACHSYM" "$work/$1" "$1" "${TWINS:-8}" >"$work/log" 2>"$work/err"
    status=$?
    if [ $status -eq 77 ]; then
        skip "stacks of programs that run, $1: the system lets no process follow another"
        return
    fi
    count $status || cat "$work/log" "$work/err"
    [ -z "$TWINS" ] || cat "$work/log"
}
if [ "$(uname -m)" = x86_64 ]; then
    ! need "stacks of programs that run, x86_64" python3 x86_64-linux-gnu-g++ || twins x86_64
else
    skip "stacks of programs that run, x86_64: this is another processor"
fi
! need "stacks of programs that run, arm64" python3 aarch64-linux-gnu-g++ qemu-aarch64 || twins arm64

# What machsym_unwind_next adds to a program: at most 25 KB at -Os.
printf '#define MACHSYM_IMPLEMENTATION\n#include "machsym.h"\n' >"$work/size.c"
text_of() # FLAG...: bytes of text, by size (binutils)
{
    # shellcheck disable=SC2086 # CC holds several words
    $CC -std=c11 -Os -I. "$@" -c -o "$work/size.o" "$work/size.c" 2>"$work/log" && size "$work/size.o" | awk 'NR == 2 { print $1 }'
}
if [ "$(echo __x86_64__ | $CC -E -P - 2>/dev/null)" = 1 ] && need "the size of machsym_unwind_next" size; then
    with=$(text_of) && without=$(text_of -DMACHSYM_NO_UNWIND)
    takes=$((${with:-0} - ${without:-0}))
    [ "$takes" -gt 0 ] && [ "$takes" -le 25600 ]
    check "machsym_unwind_next takes $takes bytes at -Os" "$work/log"
    # src/api/options.h says how many, of gcc 12
    if [ "$($CC -dumpversion)" = 12 ] && ! $CC --version | grep -q clang; then
        said=$(sed -n '/MACHSYM_NO_UNWIND:/s/.*Saves \([0-9]*\),\([0-9]*\) bytes at -Os.*/\1\2/p' src/api/options.h)
        echo "it says ${said:-nothing}" >"$work/log"
        [ "$((takes - ${said:-0}))" -le 300 ] && [ "$((${said:-0} - takes))" -le 300 ]
        check "options.h says what machsym_unwind_next takes, to 300 bytes: $takes" "$work/log"
        # README's table: lines and KB of the object, to 20 KB
        bare=$(text_of -DMACHSYM_NO_CXX -DMACHSYM_NO_SWIFT -DMACHSYM_NO_RUST -DMACHSYM_NO_D)
        grep '^| machsym.h |' README.md >"$work/log"
        lines=$(sed 's/^| machsym.h | about \([0-9]*\),\([0-9]*\) |.*/\1\2/' "$work/log")
        [ $(($(wc -l <machsym.h) / 1000)) -eq $((${lines:-0} / 1000)) ]
        check "README says how many lines machsym.h has" "$work/log"
        all=$(sed 's/.* \([0-9]*\) KB, \([0-9]*\) KB without.*/\1/' "$work/log")
        some=$(sed 's/.* \([0-9]*\) KB, \([0-9]*\) KB without.*/\2/' "$work/log")
        [ "$with" -le "${all}000" ] && [ "$with" -gt "$((all - 20))000" ] && [ "$bare" -le "${some}000" ] && [ "$bare" -gt "$((some - 20))000" ]
        check "README says what its object takes: $with and $bare bytes of text" "$work/log"
    fi
fi
end
