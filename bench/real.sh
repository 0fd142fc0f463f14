#!/bin/bash
# Makes inputs of real C++ in build/bench (or $BENCH_DIR): source packages of Debian, compiled by clang-22 for
# arm64-apple-macos11 with -O2 -g, linked by ld64.lld and run through dsymutil.
#   bench/real.sh real4 real5       DWARF 4 and DWARF 5 of the packages marked real in real.tsv
#   bench/real.sh large4 large5     several hundred MB: those marked large
#   bench/real.sh copies4 copies5   as large, in minutes: ten copies of real, their namespaces renamed
#   bench/real.sh unity4 unity5     large units: a database engine, marked unity, a dozen files a unit
#   bench/real.sh unities4 unities5 six copies of that, about 300 MB
# Sources and headers come by apt-get into folders of their own: nothing of the system changes. The C headers
# are Debian's for aarch64, since Apple allows no one to ship Apple's: the objects only have to compile, they never run.
# Needs clang-22, lld-22, llvm-22 and a Debian with these packages. BENCH_JOBS: how many compilers at once.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${BENCH_DIR:-$here/../build/bench}
jobs=${BENCH_JOBS:-1}
. "$here/tools.sh"

headers="libc++-22-dev libc6-dev-arm64-cross linux-libc-dev-arm64-cross"

# The upstream sources, as they were released: the figures are of this version and no other.
fetch_source() # package version
{
    local tar
    [ -e "$dir/source/$1" ] && return
    prepare_apt
    mkdir -p "$dir/source/$1.part"
    (cd "$dir/apt" && own_apt source --download-only "$1" > "$1.log")
    tar=$(echo "$dir/apt/$1_$2".orig.tar.*)
    if [ ! -e "$tar" ]; then
        echo "bench/real.sh: Debian no longer has $1 $2: set the version of today in bench/real.tsv" >&2
        exit 1
    fi
    tar xf "$tar" -C "$dir/source/$1.part" --strip-components=1
    [ "$1" != z3 ] || (cd "$dir/source/$1.part" && python3 scripts/mk_make.py --staticlib > configure.log)
    mv "$dir/source/$1.part" "$dir/source/$1"
}

# What is in a package's folders, but tests and programs. FOLDERS are words, patterns of files among them.
sources_of() # package folders
{
    cd "$dir/source/$1"
    # shellcheck disable=SC2086
    find $2 -name '*.cc' -o -name '*.cpp' |
        grep -viE '(test|bench|mock|fuzz|windows|win32|/win/|example|shell)' |
        # no file with a main is a failure for grep
        { xargs grep -LE '^int (ROCKSDB_NAMESPACE::)?main ?\(' || true; } | LC_ALL=C sort -u
}

# Sources that include others of a package, as projects do which build in few large units: a dozen each.
unite() # package folders
{
    local number=0 list
    rm -f "$dir/source/$1"/unity_*.cc
    sources_of "$1" "$2" | xargs -n 12 echo | while read -r list; do
        number=$((number + 1))
        printf '#include "%s"\n' $list > "$dir/source/$1/$(printf 'unity_%02d.cc' "$number")"
    done
}

# The preprocessor is told that this is Linux, since the C headers are: the compiler still writes Mach-O.
compile_package() # DWARF-version package folders options
{
    local objects=$dir/objects$1/$2 include=$dir/headers/usr
    mkdir -p "$objects"
    # shellcheck disable=SC2086,SC2016 # options are words; the inner shell expands
    sources_of "$2" "$3" | (cd "$dir/source/$2" && xargs -P "$jobs" -I FILE bash -c '
        object=$1/$(echo FILE | tr / _).o
        [ -e "$object" ] || [ -e "$object.failed" ] && exit 0
        shift
        if "$@" -c FILE -o "$object.part" 2> "$object.failed"; then
            mv "$object.part" "$object"
            rm "$object.failed"
        fi' _ "$objects" "$clangxx" -target arm64-apple-macos11 -std=c++17 -O2 -g "-gdwarf-$1" -w \
        -fdebug-compilation-dir=/bench -ffile-prefix-map="$dir"=/bench -nostdinc -nostdinc++ \
        -isystem "$include/lib/llvm-22/include/c++/v1" -isystem "$("$clangxx" -print-resource-dir)/include" \
        -isystem "$include/aarch64-linux-gnu/include" -U__APPLE__ -U__nonnull -U__nullable \
        -U__null_unspecified -D__linux__ -D__gnu_linux__ -D__unix__ -D_GNU_SOURCE $4)
}

# Compiles what is marked KIND and lists it in NAME.list.
compile_all() # name DWARF-version kind
{
    local package version inputs folders options
    # shellcheck disable=SC2086 # the packages are words
    [ -e "$dir/headers" ] || unpack_debs "$dir/headers" $headers
    : > "$dir/$1.list"
    while IFS=$'\t' read -r package version inputs folders options; do
        case " $inputs " in *" $3 "*) ;; *) continue ;; esac
        fetch_source "$package" "$version"
        if [ "$3" = unity ]; then
            unite "$package" "$folders"
            folders="unity_*.cc"
        fi
        echo "bench/real.sh: $1: compiling $package $version for DWARF $2" >&2
        compile_package "$2" "$package" "$folders" "$options"
        sources_of "$package" "$folders" | tr / _ | sed "s|.*|$dir/objects$2/$package/&.o|" >> "$dir/$1.list"
    done < <(grep -v '^#' "$here/real.tsv")
    xargs ls -d < "$dir/$1.list" > "$dir/$1.objects" 2> "$dir/$1.missing" || true
    echo "bench/real.sh: $1: $(wc -l < "$dir/$1.objects") files compiled," \
        "$(wc -l < "$dir/$1.missing") did not" >&2
}

link_real() # name
{
    "$lld" -arch arm64 -platform_version macos 11 11 -dylib -undefined dynamic_lookup \
        -filelist "$dir/$1.objects" -install_name "/usr/lib/$1" -o "$dir/$1"
    "$dsymutil" -j 2 "$dir/$1" -o "$dir/$1.part.dSYM"
    mv "$dir/$1.part.dSYM" "$dir/$1.dSYM"
}

# Packages without a namespace of six bytes or more are there once: a shorter word occurs by chance.
make_copies() # name DWARF-version kind copies
{
    local object copy
    compile_all "$1" "$2" "$3"
    rm -rf "$dir/$1.copies"
    mkdir "$dir/$1.copies"
    cc -std=gnu11 -O2 -Wall -Wextra -o "$dir/rename" "$here/rename.c"
    while read -r object; do
        for ((copy = 0; copy < $4; copy++)); do
            case $object in */re2/*) [ $copy = 0 ] || continue ;; esac
            "$dir/rename" "rocksdb=rocksd$copy" "leveldb=leveld$copy" "google=googl$copy" < "$object" \
                > "$dir/$1.copies/$copy.${object##*/}"
        done
    done < "$dir/$1.objects"
    ls -d "$dir/$1.copies"/* > "$dir/$1.objects"
    link_real "$1"
    rm -rf "$dir/$1.copies"
}

mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
if ! clangxx=$(command -v clang++-22); then
    echo "bench/real.sh: clang++-22 is not installed: apt-get install clang-22 lld-22 llvm-22" >&2
    exit 1
fi
lld=$(need ld64.lld) dsymutil=$(need dsymutil)
for name in "${@:-real4}"; do
    [ ! -e "$dir/$name.dSYM" ] || continue
    case $name in
    real[45] | large[45] | unity[45]) compile_all "$name" "${name: -1}" "${name%?}"; link_real "$name" ;;
    copies[45]) make_copies "$name" "${name: -1}" real 10 ;;
    unities[45]) make_copies "$name" "${name: -1}" unity 6 ;;
    *)
        echo "bench/real.sh: no input is called $name: real4 real5 large4 large5 copies4" \
            "copies5 unity4 unity5 unities4 unities5" >&2
        exit 2
        ;;
    esac
done
