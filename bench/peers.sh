#!/bin/bash
# Builds the peers that Debian ships as sources only in build/bench/peers (or $BENCH_DIR/peers), each with
# its version in a file beside it; nothing is installed. What cannot be built is reported and left out.
#   addr2line        gimli's, from librust-addr2line-dev; needs cargo
#   rustc-demangle   from librust-rustc-demangle-dev; needs cargo
#   libbacktrace     gcc's, from gcc-12-source
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${BENCH_DIR:-$here/../build/bench}
mkdir -p "$dir/peers"
dir=$(cd "$dir" && pwd)
. "$here/tools.sh"

# A program of one file and the crates that it names, from Debian's packages instead of a registry.
build_rust() # name dependencies package...
{
    local name=$1 dependencies=$2 work=$dir/peers/$1.work
    shift 2
    [ -e "$dir/peers/$name" ] && return 0
    command -v cargo > /dev/null || { echo "cargo is not installed (apt-get install cargo)" >&2; exit 1; }
    rm -rf "$work"
    mkdir -p "$work/src" "$work/.cargo"
    unpack_debs "$work/debian" "$@"
    cp "$here/peers/$name.rs" "$work/src/main.rs"
    printf '[package]\nname = "peer"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n%s\n' \
        "$dependencies" > "$work/Cargo.toml"
    printf '[source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory = "%s"\n' \
        "$work/debian/usr/share/cargo/registry" > "$work/.cargo/config.toml"
    (cd "$work" && cargo build -q --release --offline -j 1)
    basename "$work/debian/usr/share/cargo/registry/$name"-* | sed 's/.*-//' > "$dir/peers/$name.version"
    mv "$work/target/release/peer" "$dir/peers/$name"
}

# Built for Mach-O, which gcc's own build on Linux leaves out.
build_libbacktrace()
{
    local work=$dir/peers/libbacktrace.work source name
    [ -e "$dir/peers/libbacktrace" ] && return 0
    rm -rf "$work"
    mkdir -p "$work"
    unpack_debs "$work/debian" gcc-12-source
    tar xJf "$work"/debian/usr/src/gcc-12/gcc-*.tar.xz -C "$work" --wildcards --no-wildcards-match-slash \
        'gcc-*/libbacktrace/*.[ch]*' 'gcc-*/include/*.[hd]*'
    source=$(echo "$work"/gcc-*/libbacktrace)
    sed 's/@[A-Z_]*@/1/' "$source/backtrace-supported.h.in" > "$work/backtrace-supported.h"
    for name in ATOMIC_FUNCTIONS SYNC_FUNCTIONS DECL_STRNLEN DECL_GETPAGESIZE FCNTL LSTAT READLINK; do
        echo "#define HAVE_$name 1"
    done > "$work/config.h"
    # shellcheck disable=SC2046,SC2059 # the sources are words
    cc -O2 -w -D_GNU_SOURCE -I "$work" -I "$source" -I "$source/../include" -o "$work/peer" \
        "$here/peers/libbacktrace.c" \
        $(printf "$source/%s.c " atomic dwarf fileline posix state sort mmap mmapio macho)
    basename "$(dirname "$source")" > "$dir/peers/libbacktrace.version"
    rm -rf "$work/debian"
    mv "$work/peer" "$dir/peers/libbacktrace"
}

case ${1:-all} in
addr2line)
    build_rust addr2line 'addr2line = { version = "*", default-features = false, features = ["std"] }
gimli = { version = "*", default-features = false, features = ["read", "std"] }' librust-addr2line-dev \
        librust-gimli-dev librust-smallvec-dev librust-fallible-iterator-dev librust-stable-deref-trait-dev
    ;;
rustc-demangle) build_rust rustc-demangle 'rustc-demangle = "*"' librust-rustc-demangle-dev ;;
libbacktrace) build_libbacktrace ;;
all)
    for name in addr2line rustc-demangle libbacktrace; do
        "$0" $name 2> "$dir/peers/$name.log" ||
            echo "bench/peers.sh: $name could not be built: $(tail -1 "$dir/peers/$name.log")" >&2
    done
    ;;
*) echo "bench/peers.sh: no peer is called $1: addr2line, rustc-demangle, libbacktrace" >&2; exit 2 ;;
esac
