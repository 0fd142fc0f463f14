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

# README's first block of code, and the block of output after it.
awk '/^```c$/ && !code { code = 1; next } /^```/ { if (code == 1) { code = 2; next } if (code == 2) { code = 3; next } code += code > 2 }
    code == 1 { print >program } code == 3 { print >output }' program="$work/program" output="$work/output" README.md
awk '/^#define/ { here = 1 } here' examples/minimal.c >"$work/minimal.c"
check "README's program" diff "$work/minimal.c" "$work/program"
"$work/minimal" >"$work/got"
check "README's output" diff "$work/output" "$work/got"

end
