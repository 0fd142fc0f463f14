#!/bin/bash
# Debug maps from outside: what the tool says of object files, maps built from them, and fresh links by each linker
# that is installed: the map from the object files must be the map from the dSYM that dsymutil makes of the same link.
MACHSYM=$(realpath "${MACHSYM:-build/machsym}")
top=$(pwd)
bin=$top/tests/fixtures/bin
passed=0
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

check() # WHAT, after a command
{
    if [ $? -eq 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "failed: $1"
    fi
}

# ---- What it says of object files ----

cp -r "$bin/map-arm64-d5-O2" "$work/"
rm "$work/map-arm64-d5-O2/program.dwarf"
program=$work/map-arm64-d5-O2/program
cd "$work" || exit 1
"$MACHSYM" atos -o "$program" -i 0x1000004e8 0x100000448 >out 2>err
grep -q '^clamp (in program) (util.h:8)$' out && grep -q '^util_mix (in program) (util_with_a_long_name.c:5)$' out &&
    grep -q '^main (in program) (main.c:12)$' out && [ ! -s err ]
check "atos follows the debug map by itself, relative to the current folder"

cd "$top" || exit 1
"$MACHSYM" atos -o "$program" 0x100000448 0x10000044c 0x100000484 >"$work/out" 2>"$work/err"
grep -q '^main (in program) + 0$' "$work/out" && grep -q '^main (in program) + 4$' "$work/out" &&
    [ "$(grep -c 'main.o: this object file.*not there.*--oso-prefix.*--oso-dir' "$work/err")" = 1 ] &&
    [ "$(grep -c 'libutil.a(util.o): ' "$work/err")" = 1 ] && [ "$(wc -l <"$work/err")" = 2 ]
check "a missing object is said once, and the symbol table answers"

printf '0x100000448\n0x10000044c\n' | "$MACHSYM" atos -o "$program" >"$work/out" 2>"$work/err"
[ "$(wc -l <"$work/err")" = 1 ] && [ "$(wc -l <"$work/out")" = 2 ]
check "the same of addresses from standard input"

for how in "--oso-prefix map-=$work/map-" "--oso-prefix=map-arm64-d5-O2/=$work/map-arm64-d5-O2/" \
    "--oso-prefix nowhere=there --oso-prefix map-=$work/map-" "--oso-dir $work" "--oso-dir=$work/map-arm64-d5-O2" \
    "--oso-dir $work/none --oso-dir $work"; do
    # shellcheck disable=SC2086
    "$MACHSYM" atos -o "$program" $how 0x100000448 >"$work/out" 2>"$work/err"
    grep -q '^main (in program) (main.c:12)$' "$work/out" && [ ! -s "$work/err" ]
    check "atos $how"
done
"$MACHSYM" atos -o "$program" --oso-dir "$work" --no-objects 0x100000448 >"$work/out" 2>"$work/err"
grep -q '^main (in program) + 0$' "$work/out" && [ ! -s "$work/err" ]
check "atos --no-objects"
"$MACHSYM" atos -o "$program" --oso-prefix nothing 0x100000448 2>&1 | grep -q 'wants FROM=TO'
check "a prefix without = is refused"
"$MACHSYM" atos -o "$program" --oso-dir "$work" --explain 0x1000004e8 |
    grep -q '^  object: map-arm64-d5-O2/libutil.a, member util_with_a_long_name.o$'
check "atos --explain names the object"
"$MACHSYM" info "$program" | grep -q 'debug map: 3 object files, 3 of them cannot answer'
check "info counts the objects"

cp -r "$bin/map-x86_64-times" "$work/"
rm "$work/map-x86_64-times/program.dwarf"
times=$work/map-x86_64-times
TZ=UTC touch -d @1600000000 "$times/main.o"
"$MACHSYM" atos -o "$times/program" --oso-dir "$work" 0x100000440 0x100000470 >"$work/out" 2>"$work/err"
grep -q '^main (in program) (main.c:12)$' "$work/out" && grep -q '^util_sum .*(util.c:12)$' "$work/out" && [ ! -s "$work/err" ]
check "objects as old as the linker saw them answer"
TZ=UTC touch -d @1600000060 "$times/main.o"
"$MACHSYM" atos -o "$times/program" --oso-dir "$work" 0x100000440 0x100000470 >"$work/out" 2>"$work/err"
grep -q '^main (in program) + 0$' "$work/out" && grep -q '^util_sum .*(util.c:12)$' "$work/out" &&
    grep -q 'main.o: changed after the program was linked (2020-09-13 12:27:40 UTC, linked was 2020-09-13 12:26:40)' "$work/err" &&
    grep -q -e '--oso-any-time' "$work/err"
check "a newer object is said, and the symbol table answers"
"$MACHSYM" atos -o "$times/program" --oso-dir "$work" --oso-any-time 0x100000440 2>&1 | grep -q '^main .*(main.c:12)$'
check "atos --oso-any-time"

# ---- Maps ----

for j in 1 4; do
    "$MACHSYM" map build -j $j --columns --oso-dir "$work" -o "$work/$j.symmap" "$program" >"$work/out" 2>"$work/err"
    [ ! -s "$work/err" ]
    check "map build -j $j"
done
cmp -s "$work/1.symmap" "$work/4.symmap"
check "any number of threads builds the same map"
(cd "$work" && "$MACHSYM" map verify 1.symmap "$program" >out 2>err)
check "map verify against the object files"
"$MACHSYM" map build -o "$work/none.symmap" "$program" >/dev/null 2>"$work/err"
[ "$(wc -l <"$work/err")" = 3 ] && "$MACHSYM" atos -o "$work/none.symmap" 0x100000448 | grep -q '^main (in program) + 0$'
check "map build without the objects: all three are said, symbols answer"

# ---- Fresh links ----

# same_maps WHAT PROGRAM DSYM: the two maps, range by range
same_maps()
{
    "$MACHSYM" map build --columns -o "$work/a.symmap" "$2" >/dev/null 2>"$work/err" &&
        "$MACHSYM" map build --columns --pair "$2" -o "$work/b.symmap" "$3" >/dev/null 2>>"$work/err" &&
        "$MACHSYM" map dump "$work/a.symmap" >"$work/a" && "$MACHSYM" map dump "$work/b.symmap" >"$work/b" &&
        [ -s "$work/a" ] && cmp -s "$work/a" "$work/b" && [ ! -s "$work/err" ]
    check "$1"
    cmp -s "$work/a" "$work/b" || diff "$work/a" "$work/b" | head -n 6
}

# one_link VERSION CLANG DSYMUTIL ARCH DWARF OPT KIND
one_link()
{
    local v=$1 clang=$2 arch=$4 dir=$work/link o objects=()
    rm -rf "$dir"
    mkdir "$dir"
    for o in main scan; do
        "$clang" -target "$arch-apple-macos11" -std=c++17 -fno-exceptions -g -gdwarf-"$5" "$6" -nostdinc++ \
            -fno-stack-protector -c "$top/tests/fixtures/src/inline/$o.cpp" -o "$dir/$o.o" 2>"$dir/log" || return 2
        objects+=("$dir/$o.o")
    done
    if [ "$7" = archive ]; then
        llvm-ar-22 --format=darwin rcs "$dir/libscan.a" "$dir/scan.o" || return 2
        rm "$dir/scan.o"
        objects=("$dir/main.o" "$dir/libscan.a")
    fi
    "ld64.lld-$v" -arch "$arch" -platform_version macos 11.0 11.0 -L"$top/tests/fixtures/src/stub" -lSystem \
        "${objects[@]}" -dead_strip -o "$dir/program" 2>"$dir/log" || return 2
    "$3" --flat "$dir/program" -o "$dir/program.dwarf" 2>"$dir/log" || return 2
    mkdir "$dir/apart" && mv "$dir/program.dwarf" "$dir/apart/"
    same_maps "lld $v, $arch, DWARF $5, $6, $7: the objects' map is the dSYM's" "$dir/program" "$dir/apart/program.dwarf"
}

made=0
for v in 14 19 22; do
    command -v "ld64.lld-$v" >/dev/null || continue
    for arch in arm64 x86_64; do
        for dwarf in 4 5; do
            clang=clang-22
            command -v clang-22 >/dev/null || clang=clang
            for opt in -O0 -O2; do
                for kind in objects archive; do
                    one_link $v $clang dsymutil-22 $arch $dwarf $opt $kind
                    [ $? -ne 2 ] && made=$((made + 1))
                done
            done
        done
    done
done
[ $made -gt 0 ] || echo "skipped: ld64.lld, clang, dsymutil-22 or llvm-ar-22 is not installed"

# ---- Object files by themselves, as llvm-symbolizer reads them ----

if command -v llvm-symbolizer-22 >/dev/null && command -v python3 >/dev/null; then
    for o in "$bin"/map-*/main.o "$bin"/archive/*.o "$bin"/plain-*.o; do
        MACHSYM=$MACHSYM bash tests/differential/run.sh "$o" >"$work/out" 2>&1
        # the address behind the code is named by a data symbol there
        ! grep -E '^  [a-z-]+ +[0-9]+ ' "$work/out" | grep -v '^  outside-code ' && grep -q 'addresses' "$work/out"
        check "llvm-symbolizer agrees on ${o#"$bin"/}"
    done
else
    echo "skipped: llvm-symbolizer-22 or python3 is not installed"
fi

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
