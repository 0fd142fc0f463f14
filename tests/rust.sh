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
# The archive: whole, the same each time, and a program builds with it that has nothing else
unset CARGO_TARGET_DIR
version=$(sed -n 's/^#define MACHSYM_VERSION  *"\(.*\)"/\1/p' machsym.h)
sh packaging/crate "$work/archive" >"$work/log" 2>&1
check "the crate is packed" "$work/log"
(umask 077 && sh packaging/crate "$work/again") >"$work/log" 2>&1
cmp "$work/archive/machsym-$version.crate" "$work/again/machsym-$version.crate"
check "packed again it has the same bytes"
mkdir "$work/user"
tar -xzf "$work/archive/machsym-$version.crate" -C "$work/user"
cmp LICENSE "$work/user/machsym-$version/LICENSE" && cmp CHANGELOG.md "$work/user/machsym-$version/CHANGELOG.md"
check "the archive has licence and changes"
mkdir "$work/user/src"
printf '[package]\nname = "user"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nmachsym = { path = "machsym-%s" }\n' "$version" \
    >"$work/user/Cargo.toml"
echo 'fn main() { println!("{}", machsym::version()); }' >"$work/user/src/main.rs"
cargo run --quiet --offline --manifest-path "$work/user/Cargo.toml" >"$work/said" 2>"$work/log"
[ "$(cat "$work/said")" = "$version" ]
check "a program runs with the crate of the archive" "$work/log"
end
