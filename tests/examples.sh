#!/bin/sh
# The examples compile as they stand, with all warnings, and print what they should. Their lines were compared with what
# llvm-symbolizer-22 --inlines answers for the same addresses. README's program is examples/minimal.c, to the letter.
CC=${CC:-cc}
. tests/checks

check() { # NAME COMMAND...
    name=$1
    shift
    "$@" >"$work/log" 2>&1
    count $? || { echo "$name: $*" && cat "$work/log"; }
}

# Compiles and runs one, which prints standard input. Its argument is a file that it may write. bytes is built as it
# stands, since its implementation has no OS, where SAMPLE is not 1 without the languages, which it asks nothing of: half
# of the time. The others are linked with the tool's, which takes a tenth of it, and go through the compiler as they stand
# where SAMPLE is 1.
example() { # NAME FLAG...
    example=$1
    shift
    cat >"$work/want"
    strict="-std=c99 -D_GNU_SOURCE -Wall -Wextra -Werror -I."
    linked=
    [ "${SAMPLE:-1}" -eq 1 ] || linked="-DMACHSYM_NO_SWIFT -DMACHSYM_NO_RUST -DMACHSYM_NO_CXX -DMACHSYM_NO_D"
    if [ "$example" != bytes ]; then
        [ "${SAMPLE:-1}" -ne 1 ] || check "$example compiles as it stands" $CC $strict $CFLAGS -fsyntax-only "examples/$example.c"
        check "$example has an implementation" grep -qx '#define MACHSYM_IMPLEMENTATION' "examples/$example.c"
        linked="-DMACHSYM_IMPLEMENTED $B/tool/machsym.o"
    fi
    check "$example compiles" $CC $strict $CFLAGS $LDFLAGS -o "$work/$example" "examples/$example.c" $linked "$@"
    $RUN "$work/$example" "$work/$example.symmap" >"$work/got"
    check "$example succeeds" test $? -eq 0
    check "$example's output" diff "$work/want" "$work/got"
}

example minimal <<END
repeat(int, void (int) block_pointer) (demo/main.mm:6)
main (demo/main.mm:12)
END
example batch <<END
0x102a30aec -[Player skip:]
0x102a30a7b -[Player play:]
0x102a309fb __main_block_invoke
0x102a309b7 repeat(int, void (int) block_pointer) < main
END
example threads -pthread <<END
92 addresses, 184 frames
END
example map <<END
repeat(int, void (int) block_pointer) (demo/main.mm:6)
main (demo/main.mm:12)
END
example bytes <<END
-[Player skip:]:21
END

# The stacks of a dead process. Truth: the emulator's calls (tests/stacks/stacks.py), and who wrote the core (tests/core.py).
corpse() # CORE ADDRESS...: all frames, of all threads
{
    core=$1
    shift
    $RUN "$work/corpse" "$core" >"$work/got"
    check "corpse reads $core" test $? -eq 0
    sed -n 's/^[0-9]* *\(0x[0-9a-f]*\) .*/\1/p' "$work/got" >"$work/addresses"
    printf '%s\n' "$@" >"$work/want"
    check "the stacks of $core" diff "$work/want" "$work/addresses"
}
strict="-std=c99 -D_GNU_SOURCE -Wall -Wextra -Werror -I."
check "corpse compiles as it stands" $CC $strict $CFLAGS $LDFLAGS -o "$work/corpse" examples/corpse.c
corpse tests/stacks/arm64.core 0x102340418 0x102340470 0x1023404e0 0x102340568 0x102340630 0x102340600 0x102340600 0x102340600 \
    0x102340600 0x1023406e8
check "without a frame pointer, by the tables in memory" test "$(grep -c '(eh_frame)' "$work/got")" -eq 8
corpse tests/fixtures/services/noted.core 0x102a30a7c 0x102a309fc 0x102a309b8 0x102a30aec 0x102a30a7c 0x102a309fc 0x102a309b8
at=0
while [ $at -lt 12000 ]; do
    head -c $at tests/stacks/arm64.core >"$work/cut.core"
    $RUN "$work/corpse" "$work/cut.core" >"$work/got" 2>"$work/log"
    case $? in 0 | 2) ;; *) echo "cut at $at: $?" ;; esac
    at=$((at + 331))
done >"$work/bad"
check "a core that is cut short" test ! -s "$work/bad"

# README's first block of code, and the block of output after it.
awk '/^```c$/ && !code { code = 1; next } /^```/ { if (code == 1) { code = 2; next } if (code == 2) { code = 3; next } code += code > 2 }
    code == 1 { print >program } code == 3 { print >output }' program="$work/program" output="$work/output" README.md
awk '/^#define/ { here = 1 } here' examples/minimal.c >"$work/minimal.c"
check "README's program" diff "$work/minimal.c" "$work/program"
"$work/minimal" >"$work/got"
check "README's output" diff "$work/output" "$work/got"

end
