#!/bin/sh
# The whole header compiles without a warning where a part is left out, or all are: what nothing calls any more would be
# one. SAMPLE other than 1: all of them only. What is asked of a part that is left out says so; of languages
# tests/names_switches.sh asks that.
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

compiles -DMACHSYM_NO_SWIFT -DMACHSYM_NO_RUST -DMACHSYM_NO_CXX -DMACHSYM_NO_D -DMACHSYM_NO_INFLATE -DMACHSYM_NO_CACHE \
    -DMACHSYM_NO_UNWIND
cat >"$work/without.c" <<END
#define MACHSYM_STATIC
#define MACHSYM_IMPLEMENTATION
#include "$(pwd)/machsym.h"
#include <stdio.h>
#include <string.h>
int main(void)
{
    machsym_open_desc cache = {.bytes = {"dyld_v1  arm64e", 16}};
    machsym_open_desc program = {.path = "tests/fixtures/bin/demo.app.dSYM"};
    machsym_bytes none = {"", 0};
    machsym_image *image = NULL;
    machsym_slice slice;
    machsym_error err;
    char text[256];
    size_t len;
    if (machsym_inflate(MACHSYM_DEFLATE_RAW, none, text, 1, &len, NULL, NULL) == MACHSYM_ERR_UNSUPPORTED)
        puts("inflate is left out");
    if (machsym_image_open(&cache, &image, &err) == MACHSYM_ERR_UNSUPPORTED && image == NULL) {
        machsym_error_text(&err, &cache, text, sizeof text);
        puts(text);
    }
    if (machsym_list_slices(&cache, &slice, 1, &err) == 0)
        puts(err.what);
    machsym_unwind_state stack = {.known = ~UINT64_C(0)};
    if (!machsym_unwind_next(NULL, &stack) && stack.end == MACHSYM_UNWIND_LEFT_OUT)
        puts("unwinding is left out");
    if (machsym_image_open(&program, &image, &err) == MACHSYM_OK)
        puts("other files open");
    machsym_image_close(image);
    return 0;
}
END
cat >"$work/expected" <<END
inflate is left out
a shared cache, and the library was built with MACHSYM_NO_CACHE
a shared cache, and the library was built with MACHSYM_NO_CACHE
unwinding is left out
other files open
END
# shellcheck disable=SC2086 # CC, RUN and flags hold several words
$CC -std=c11 -D_GNU_SOURCE $CFLAGS -g0 -DMACHSYM_NO_SWIFT -DMACHSYM_NO_RUST -DMACHSYM_NO_CXX -DMACHSYM_NO_D \
    -DMACHSYM_NO_INFLATE -DMACHSYM_NO_CACHE -DMACHSYM_NO_UNWIND $LDFLAGS -o "$work/without" "$work/without.c" >"$work/out" 2>&1 &&
    $RUN "$work/without" >"$work/out" 2>&1
cmp -s "$work/out" "$work/expected"
check "what is asked of a part that is left out" "$work/out"
if [ "${SAMPLE:-1}" -eq 1 ]; then
    compiles -DMACHSYM_NO_SWIFT -DMACHSYM_DEMANGLE_STACK=24576
    compiles -DMACHSYM_NO_RUST
    compiles -DMACHSYM_NO_CXX
    compiles -DMACHSYM_NO_D
    compiles -DMACHSYM_NO_CACHE
    compiles -DMACHSYM_NO_UNWIND
fi

end
