#!/bin/sh
# bindings/rust answers as `machsym atos` does: its own tests, built by cargo, which has no network and no crates.
. tests/checks
case "$CFLAGS" in *-fsanitize* | *--coverage*) skip "once is enough, without sanitizers" && end && exit ;; esac
[ -z "$RUN$LDFLAGS" ] || { skip "rust runs on this host only" && end && exit; }
need "the crate" cargo rustc || { end; exit; }
MACHSYM=$(realpath "$MACHSYM")
export MACHSYM CARGO_HOME="$work/cargo" CARGO_TARGET_DIR="$work/target" CC="${CC:-cc}" CFLAGS="$CFLAGS -O0"
mkdir -p "$work/bindings" "$work/tests"
cp -R bindings/rust "$work/bindings/rust" # cargo writes a lock file beside the manifest
cp bindings/flat.c bindings/flat.h "$work/bindings"
cp machsym.h "$work"
ln -s "$PWD/tests/fixtures" "$work/tests/fixtures"
cargo test --offline --manifest-path "$work/bindings/rust/Cargo.toml" >"$work/log" 2>&1
status=$?
passed=$((passed + $(grep -c '^test .* ok$' "$work/log")))
failed=$((failed + $(grep -c '^test .* FAILED$' "$work/log")))
[ $status -eq 0 ] || [ "$failed" -ne 0 ] || failed=1
[ "$failed" -eq 0 ] || cat "$work/log"
! grep -q '^warning' "$work/log"
check "the compiler has nothing to say" "$work/log"
end
