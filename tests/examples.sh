#!/bin/sh
# The examples compile as they stand, with all warnings, and print what they should. Their lines were compared with what
# llvm-symbolizer-22 --inlines answers for the same addresses. README's program is examples/minimal.c, to the letter.
CC=${CC:-cc}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
passed=0
failed=0

check() { # NAME COMMAND...
    name=$1
    shift
    if "$@" >"$tmp/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$name: $*"
        cat "$tmp/log"
    fi
}

# Compiles and runs one, which prints standard input.
example() { # NAME FLAG...
    example=$1
    shift
    cat >"$tmp/want"
    check "$example compiles" $CC -std=c99 -D_GNU_SOURCE -Wall -Wextra -Werror -I. $CFLAGS $LDFLAGS -o "$tmp/$example" \
        "examples/$example.c" "$@"
    $RUN "$tmp/$example" >"$tmp/got"
    check "$example succeeds" test $? -eq 0
    check "$example's output" diff "$tmp/want" "$tmp/got"
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
example bytes <<END
-[Player skip:]:21
END

# README's first block of code, and the block of output behind it.
awk '/^```c$/ { code = 1; next } /^```/ { if (code == 1) { code = 2; next } if (code == 2) { code = 3; next } code += code > 2 }
    code == 1 { print >program } code == 3 { print >output }' program="$tmp/program" output="$tmp/output" README.md
awk '/^#define/ { here = 1 } here' examples/minimal.c >"$tmp/minimal.c"
check "README's program" diff "$tmp/minimal.c" "$tmp/program"
"$tmp/minimal" >"$tmp/got"
check "README's output" diff "$tmp/output" "$tmp/got"

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
