#!/bin/bash
# Makes the benchmark's inputs in build/bench (or $BENCH_DIR): arm64-apple-macos images and their dSYMs.
#   bench/inputs.sh mid4 mid5 big5     about 50 MB of DWARF 4 and 5, about 700 MB of DWARF 5
#   bench/inputs.sh objc               a stripped program of about 70 MB with Objective-C metadata
#   bench/inputs.sh debugmap           a program of 300 objects that still lie beside it, and its dSYM
#   bench/inputs.sh real4 large5 ...   real C++ from Debian's source packages: see bench/real.sh
# Of the first three a few dozen units are compiled; each is then repeated under other names (rename.c), so
# that the big one takes minutes instead of hours. Needs clang, ld64.lld and dsymutil; it takes the
# newest.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${BENCH_DIR:-$here/../build/bench}
jobs=${BENCH_JOBS:-1}
. "$here/tools.sh"

seeds=40 objc_seeds=6

compile_seeds() # version
{
    mkdir -p "$dir/seeds$1"
    cd "$dir/seeds$1"
    # shellcheck disable=SC2016 # the inner shell expands these
    seq "$seeds" | xargs -P "$jobs" -I SEED bash -c '
        [ -e seedSEED.o ] && exit 0
        "$1/generate" SEED 6 ns0000 > ns0000_SEED.cpp
        level=-O2; [ $((SEED % 3)) = 0 ] && level=-Os
        "$2" -target arm64-apple-macos12 -std=c++17 $level -g "-gdwarf-$3" -ffreestanding -nostdinc \
            -fno-exceptions -fno-rtti -I "$4" -fdebug-compilation-dir=/bench \
            -ffile-prefix-map="$4"=/bench/source -c ns0000_SEED.cpp -o partSEED.o
        mv partSEED.o seedSEED.o' _ "$dir" "$clangxx" "$1" "$here/source"
}

compile_objc_seeds()
{
    mkdir -p "$dir/seedsobjc"
    cd "$dir/seedsobjc"
    # shellcheck disable=SC2016
    seq "$objc_seeds" | xargs -P "$jobs" -I SEED bash -c '
        [ -e seedSEED.o ] && exit 0
        awk -v seed=SEED -v prefix=ns0000 -f "$1/generate_objc.awk" > ns0000_SEED.m
        "$2" -target arm64-apple-macos12 -O1 -c ns0000_SEED.m -o partSEED.o
        mv partSEED.o seedSEED.o' _ "$here" "$(need clang)"
}

# The seeds' objects under as many names as asked, listed in DIR/list.
clone_objects() # seeds-folder seed-count units DIR
{
    local unit
    rm -rf "$4"
    mkdir -p "$4"
    for ((unit = 0; unit < $3; unit++)); do
        "$dir/rename" "$(printf 'ns0000=ns%04d' $((unit + 1)))" < "$1/seed$((unit % $2 + 1)).o" > "$4/$unit.o"
        printf '%s\n' "$4/$unit.o"
    done > "$4/list"
}

link_image() # list output [linker-option]
{
    "$lld" -arch arm64 -platform_version macos 12 12 -dylib -undefined dynamic_lookup -filelist "$1" \
        -install_name "/usr/lib/$(basename "$2")" ${3:+"$3"} -o "$2"
}

make_image() # name DWARF-version units objects-folder
{
    local name=$1
    [ -e "$dir/$name.dSYM" ] && return
    echo "bench/inputs.sh: making $name: $3 units of DWARF $2" >&2
    compile_seeds "$2"
    clone_objects "$dir/seeds$2" "$seeds" "$3" "$4"
    link_image "$4/list" "$dir/$name"
    "$dsymutil" -j 2 "$dir/$name" -o "$dir/$name.part.dSYM"
    mv "$dir/$name.part.dSYM" "$dir/$name.dSYM"
}

make_objc()
{
    [ -e "$dir/objc" ] && return
    echo "bench/inputs.sh: making objc: 90 units of Objective-C" >&2
    compile_objc_seeds
    clone_objects "$dir/seedsobjc" "$objc_seeds" 90 "$dir/objects"
    link_image "$dir/objects/list" "$dir/objc.full" -fixup_chains
    "$(need llvm-strip)" -o "$dir/objc.part" "$dir/objc.full"
    mv "$dir/objc.part" "$dir/objc"
}

mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
case ${1:-} in
real? | large? | copies? | unity? | unities?) exec "$here/real.sh" "$@" ;;
esac
clangxx=$(need clang++) lld=$(need ld64.lld) dsymutil=$(need dsymutil)
cc -std=gnu11 -O2 -Wall -Wextra -o "$dir/generate" "$here/generate.c"
cc -std=gnu11 -O2 -Wall -Wextra -o "$dir/rename" "$here/rename.c"
for name in "${@:-mid5}"; do
    case $name in
    mid4) make_image mid4 4 65 "$dir/objects" ;;
    mid5) make_image mid5 5 65 "$dir/objects" ;;
    big5) make_image big5 5 850 "$dir/objects" ;;
    debugmap) make_image debugmap 5 300 "$dir/debugmap.objects" ;;
    objc) make_objc ;;
    *)
        echo "bench/inputs.sh: no input is called $name: mid4, mid5, big5, objc, debugmap;" \
            "or, without any of these, those of bench/real.sh" >&2
        exit 2
        ;;
    esac
done
rm -rf "$dir/objects"
