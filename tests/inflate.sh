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
end
