#!/bin/bash
# Makes the benchmark's inputs in build/bench (or $BENCH_DIR): linked images and their dSYMs, arm64-apple-macos.
#   bench/inputs.sh mid4 mid5 big5     about 50 MB of DWARF 4 and 5, about 600 MB of DWARF 5
# A few dozen units are compiled; each is then repeated under other names (rename.c), so that the big one takes
# minutes instead of hours. Needs clang, ld64.lld and dsymutil (the newest that are installed).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${BENCH_DIR:-$here/../build/bench}
jobs=${BENCH_JOBS:-1}
. "$here/tools.sh"

seeds=40

compile_seeds() # version
{
    local version=$1 seed level
    mkdir -p "$dir/seeds$version"
    cd "$dir/seeds$version"
    for ((seed = 1; seed <= seeds; seed++)); do
        printf '%d\n' "$seed"
    done | xargs -P "$jobs" -I SEED bash -c '
        [ -e seed$1.o ] && exit 0
        "$2/generate" $1 6 ns0000 > ns0000_$1.cpp
        level=-O2; [ $(($1 % 3)) = 0 ] && level=-Os
        "$3" -target arm64-apple-macos12 -std=c++17 $level -g -gdwarf-$4 -ffreestanding -nostdinc -fno-exceptions \
            -fno-rtti -I "$5" -fdebug-compilation-dir=/bench -ffile-prefix-map="$5"=/bench/source \
            -c ns0000_$1.cpp -o part$1.o
        mv part$1.o seed$1.o' _ SEED "$dir" "$clangxx" "$version" "$here/source"
}

# The clones of every seed, linked and run through dsymutil.
make_image() # name version units
{
    local name=$1 version=$2 units=$3 unit seed
    [ -e "$dir/$name.dSYM" ] && return
    echo "bench/inputs.sh: making $name: $units units of DWARF $version" >&2
    compile_seeds "$version"
    rm -rf "$dir/objects"
    mkdir -p "$dir/objects"
    cd "$dir/objects"
    for ((unit = 0; unit < units; unit++)); do
        seed=$((unit % seeds + 1))
        "$dir/rename" "$(printf 'ns0000=ns%04d' $((unit + 1)))" < "$dir/seeds$version/seed$seed.o" > "$unit.o"
        printf '%s\n' "$dir/objects/$unit.o"
    done > list
    "$lld" -arch arm64 -platform_version macos 12 12 -dylib -undefined dynamic_lookup -filelist list \
        -install_name "/usr/lib/$name" -o "$dir/$name"
    "$dsymutil" -j 2 "$dir/$name" -o "$dir/$name.part.dSYM"
    rm -rf "$dir/objects"
    mv "$dir/$name.part.dSYM" "$dir/$name.dSYM"
}

mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
clangxx=$(need clang++) lld=$(need ld64.lld) dsymutil=$(need dsymutil)
cc -std=gnu11 -O2 -Wall -Wextra -o "$dir/generate" "$here/generate.c"
cc -std=gnu11 -O2 -Wall -Wextra -o "$dir/rename" "$here/rename.c"
for name in "${@:-mid5}"; do
    case $name in
    mid4) make_image mid4 4 65 ;;
    mid5) make_image mid5 5 65 ;;
    big5) make_image big5 5 850 ;;
    *) echo "bench/inputs.sh: no input is called $name: mid4, mid5, big5" >&2; exit 1 ;;
    esac
done
