#!/bin/sh
# What Python's zlib compressed, of 1,000 pieces of files, is decompressed to the same bytes; of a damaged copy of each,
# zlib and machsym say the same. Every setting of zlib occurs, and so every kind of block.
. tests/checks
if ! command -v python3 >/dev/null; then
    skip "it needs python3"
    end
    exit
fi
: "${B:=build}"
PYTHONDONTWRITEBYTECODE=1 python3 tests/inflate.py "$work/cases" machsym.h tests/fixtures/bin/*.dwarf docs/symmap.md
check "the streams are written"
# shellcheck disable=SC2086 # RUN may hold several words
$RUN "$B/tests/test_inflate" "$work/cases" >"$work/log" 2>&1
add $? "$work/log" test_inflate || head -n 20 "$work/log"
[ "$passed" -gt 6000 ] # three checks a stream
check "2,000 streams were compared"

# Without the room the header compiles, and says that it lacks it.
cat >"$work/without.c" <<END
#define MACHSYM_STATIC
#define MACHSYM_IMPLEMENTATION
#include "$(pwd)/machsym.h"
int main(void)
{
    machsym_bytes in = {"", 0};
    char out[1];
    size_t len;
    return machsym_inflate(MACHSYM_DEFLATE_RAW, in, out, 1, &len, NULL, NULL) == MACHSYM_ERR_UNSUPPORTED ? 0 : 1;
}
END
# shellcheck disable=SC2086 # flags hold several words
${CC:-cc} -std=c11 -Wall -Wextra -Wundef -Werror $CFLAGS $SMALL_CFLAGS -g0 -DMACHSYM_NO_SWIFT -DMACHSYM_NO_CXX -DMACHSYM_NO_RUST \
    -DMACHSYM_NO_D -DMACHSYM_NO_INFLATE $LDFLAGS -o "$work/without" "$work/without.c" && $RUN "$work/without"
check "MACHSYM_NO_INFLATE"
end
