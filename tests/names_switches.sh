#!/bin/sh
# Leaves out each language, and all: names of that language come back as they are and the others do not. So do names
# too large for a small MACHSYM_DEMANGLE_STACK. SAMPLE other than 1: of nine combinations the four that leave out most.
# tests/switches.sh compiles the whole header without them.
: "${CC:=cc}" "${B:=build}"
. tests/checks
tmp=$work
warn="-Wall -Wextra -Wundef -Werror"
here=$(pwd)

# The room that chooses a language is what machsym_demangle calls.
cat >"$tmp/one.c" <<END
#define TEST_ROOM "$here/src/text.h"
#include "$here/tests/room.h"
#include <stdio.h>

/* A parameter list longer than the small frame takes. */
static void add_long(char *name)
{
    char *at = name + sprintf(name, "_Z1fI");
    for (int i = 0; i < 1000; i++)
        at += sprintf(at, "PKc");
    sprintf(at, "Evv");
}

int main(void)
{
    static char long_name[4096];
    const char *names[] = {"\$s4Farm3CowCMa", "_RNvC1a1b", "_ZN1a1bEv", "_D3foo3bari", long_name};
    static char out[65536];
    add_long(long_name);
    for (int i = 0; i < 5; i++) {
        machsym_str name = {names[i], strlen(names[i])};
        ms_txt text = ms_txt_begin(out, sizeof out);
        ms_txt_demangle(&text, name, 0);
        ms_txt_end(&text);
        printf("%s%s", i == 0 ? "" : " ", strcmp(out, names[i]) == 0 ? "-" : "yes");
    }
    printf("\n");
    return 0;
}
END

expect() { # ANSWERS OPTION...
    want=$1
    shift
    # shellcheck disable=SC2086 # CC and flags hold several words
    if $CC -std=c11 -D_GNU_SOURCE $warn $CFLAGS -g0 $LDFLAGS "$@" -o "$tmp/one" "$tmp/one.c" >"$tmp/log" 2>&1 &&
        $RUN "$tmp/one" >"$tmp/log" && [ "$(cat "$tmp/log")" = "$want" ]; then
        count 0
    else
        count 1
        echo "names_switches: $*: wanted $want, got"
        head -n 20 "$tmp/log"
    fi
}

# Swift, Rust, C++, D, a long C++ name
expect "- yes yes yes -" -DMACHSYM_NO_SWIFT -DMACHSYM_DEMANGLE_STACK=24576
expect "yes - - - -" -DMACHSYM_NO_RUST -DMACHSYM_NO_CXX -DMACHSYM_NO_D
expect "- - - yes -" -DMACHSYM_NO_SWIFT -DMACHSYM_NO_RUST -DMACHSYM_NO_CXX
expect "- - - - -" -DMACHSYM_NO_SWIFT -DMACHSYM_NO_RUST -DMACHSYM_NO_CXX -DMACHSYM_NO_D
if [ "${SAMPLE:-1}" -eq 1 ]; then
    expect "yes yes yes yes yes"
    expect "yes - yes yes yes" -DMACHSYM_NO_RUST
    expect "yes yes - yes -" -DMACHSYM_NO_CXX
    expect "yes yes yes - yes" -DMACHSYM_NO_D
    expect "- - yes yes yes" -DMACHSYM_NO_SWIFT -DMACHSYM_NO_RUST
fi

end
