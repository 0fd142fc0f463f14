#!/bin/sh
# The whole header compiles without a warning where a language is left out, or all are: what nothing calls any more would
# be one. SAMPLE other than 1: all of them only. tests/names_switches.sh asks what is answered then.
: "${CC:=cc}"
. tests/checks
printf '#define MACHSYM_STATIC\n#define MACHSYM_IMPLEMENTATION\n#include "%s/machsym.h"\n' "$(pwd)" >"$work/all.c"
echo 'int main(void) { return 0; }' >>"$work/all.c"

compiles() { # OPTION...
    # gcc -fsyntax-only tells of no function that nothing calls; objects for a linker to compile cost half of -O0
    # shellcheck disable=SC2086 # CC and flags hold several words
    $CC -std=c11 -D_GNU_SOURCE -Wall -Wextra -Wundef -Werror $CFLAGS -flto -c -o "$work/all.o" "$@" \
        "$work/all.c" >"$work/log" 2>&1
    check "the header with $*" "$work/log"
}

compiles -DMACHSYM_NO_SWIFT -DMACHSYM_NO_RUST -DMACHSYM_NO_CXX -DMACHSYM_NO_D
if [ "${SAMPLE:-1}" -eq 1 ]; then
    compiles -DMACHSYM_NO_SWIFT -DMACHSYM_DEMANGLE_STACK=24576
    compiles -DMACHSYM_NO_RUST
    compiles -DMACHSYM_NO_CXX
    compiles -DMACHSYM_NO_D
fi

end
