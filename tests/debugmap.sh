#!/bin/bash
# Debug maps from outside: what the tool says of object files, maps built from them, and fresh links by each linker
# that is installed: the map from the object files must be the map from the dSYM that dsymutil makes of the same link.
MACHSYM=$(realpath "${MACHSYM:-build/machsym}")
top=$(pwd)
bin=$top/tests/fixtures/bin
. tests/checks

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
check "a missing object is reported once, and the symbol table answers"

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

uuid=$("$MACHSYM" info --quick "$program" | sed -n 's/.*EXECUTE, \([0-9A-F-]*\),.*/\1/p')
printf 'Thread 0:\n0   program 0x100000448 0x100000000 + 1\n\nBinary Images:\n0x100000000 - 0x100003fff program arm64 <%s> /program\n' \
    "$uuid" >"$work/objects.crash"
crash() { "$MACHSYM" crash --no-cache -d "$program" "$@" "$work/objects.crash" >"$work/out" 2>"$work/err"; }
crash --oso-dir "$work" && grep -q 'main + 0 (main.c:12)$' "$work/out"
check "crash --oso-dir"
crash --oso-dir "$work" --no-objects && grep -q 'main + 0$' "$work/out" && grep -q 'program UUID .* has no debug info' "$work/err"
check "crash --no-objects"
crash --oso-prefix map-="$work/map-" && grep -q 'main + 0 (main.c:12)$' "$work/out"
check "crash --oso-prefix"
crash && grep -q 'main + 0$' "$work/out"
check "crash without the object files"

# What a binary names as its object file may be anything: a FIFO and a device neither hang it nor are read.
for kind in fifo zero folder; do
    rm -rf "$work/trap"
    mkdir -p "$work/trap/map-arm64-d5-O2"
    case $kind in
    fifo) mkfifo "$work/trap/map-arm64-d5-O2/main.o" ;;
    zero) ln -s /dev/zero "$work/trap/map-arm64-d5-O2/main.o" ;;
    folder) mkdir "$work/trap/map-arm64-d5-O2/main.o" ;;
    esac
    timeout 10 "$MACHSYM" atos -o "$program" --oso-dir "$work/trap" 0x100000448 >"$work/out" 2>"$work/err" &&
        grep -q '^main (in program) + 0$' "$work/out" && grep -q 'main.o: ' "$work/err"
    check "an object file that is a $kind"
done

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
check "a newer object is reported, and the symbol table answers"
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
check "map build without the objects: all three are reported, symbols answer"

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

made=0
links=0
every=19 # SAMPLE other than 1: one of how many links; no loop below has that many
[ "${SAMPLE:-1}" -ne 1 ] || every=1

# one_link LLD ARCH KIND "FLAGS" "LINKER FLAGS" SOURCE...: all but the first source in an archive if KIND is that. An
# object is compiled once and linked many times.
one_link()
{
    local lld=$1 arch=$2 kind=$3 flags=$4 more=$5 dir=$work/link platform="macos 11.0 11.0" os=macos11 o made_of objects=()
    shift 5
    links=$((links + 1))
    [ $((links % every)) -eq 0 ] || return 0
    rm -rf "$dir"
    mkdir -p "$dir/apart"
    [ "$arch" != arm64_32 ] || { platform="watchos 7.0 7.0" && os=watchos7; }
    made_of="$work/objects $arch ${flags//\//_}"
    mkdir -p "$made_of"
    for o in "$@"; do
        objects+=("$made_of/${o##*/}.o")
        [ ! -f "${objects[-1]}" ] || continue
        # shellcheck disable=SC2086
        clang-22 -target "$arch-apple-$os" -fno-exceptions -g $flags -nostdinc++ -fno-stack-protector \
            -c "$top/tests/fixtures/src/$o" -o "${objects[-1]}" 2>"$dir/log" || return
    done
    if [ "$kind" = archive ]; then
        llvm-ar-22 --format=darwin rcs "$dir/librest.a" "${objects[@]:1}" || return
        objects=("${objects[0]}" "$dir/librest.a")
    fi
    # shellcheck disable=SC2086
    "ld64.lld-$lld" -arch "$arch" -platform_version $platform -L"$top/tests/fixtures/src/stub" -lSystem -lobjc \
        "${objects[@]}" $more -o "$dir/program" 2>"$dir/log" || return
    dsymutil-22 --flat "$dir/program" -o "$dir/apart/program.dwarf" 2>"$dir/log" || return
    made=$((made + 1))
    same_maps "lld $lld, $arch, $kind, $flags $more, $1: the objects' map is the dSYM's" "$dir/program" \
        "$dir/apart/program.dwarf"
}

# A session keeps 64 object files open, and closes all of them for one more. What it told of them has to stay: the
# answers of many addresses are printed at the end.
many_objects()
{
    local i dir=$work/many
    mkdir "$dir" && cd "$dir" || return
    for i in {100..165}; do
        echo "int f$i(int x) { return x * $i; }" >"in$i.c"
    done
    echo "int main(void) { return 0; }" >main.c
    clang-22 -target arm64-apple-macos11 -g -c ./*.c 2>log &&
        ld64.lld-22 -arch arm64 -platform_version macos 11.0 11.0 -L"$top/tests/fixtures/src/stub" -lSystem ./*.o -o many 2>log &&
        llvm-nm-22 many | sed -n 's/^\([0-9a-f]*\) T _f\([0-9]*\)/0x\1 f\2 (in many) (in\2.c:1)/p' >all || return
    [ "$(wc -l <all)" = 66 ] || return
    for i in {1..60}; do cat all; done >wanted
    cut -d' ' -f1 wanted | "$MACHSYM" atos -o many >raw 2>log && cut -d' ' -f2- wanted | cmp -s - raw && [ ! -s log ] || return
    cut -d' ' -f1 wanted | "$MACHSYM" atos --no-demangle -o many 2>log | sed 's/^_//' | cmp -s - raw && [ ! -s log ]
}
if need "links of today" clang-22 ld64.lld-22 llvm-ar-22; then
    split="-mllvm -hot-cold-split -mllvm -hotcoldsplit-threshold=0"
    for lld in 14 19 22; do
        command -v "ld64.lld-$lld" >/dev/null || continue
        for arch in arm64 x86_64 arm64_32; do
            for dwarf in 4 5; do
                for opt in -O0 -O2; do
                    for kind in objects archive; do
                        one_link $lld $arch $kind "-std=c++17 $opt -gdwarf-$dwarf" -dead_strip inline/main.cpp inline/scan.cpp
                    done
                    one_link $lld $arch objects "$opt -gdwarf-$dwarf" "" map/main.c map/util.c map/util_with_a_long_name.c
                    one_link $lld $arch objects "$opt -gdwarf-$dwarf" "-dead_strip --icf=all" map/main.c map/util.c \
                        map/util_with_a_long_name.c
                done
                one_link $lld $arch objects "-O2 $split -gdwarf-$dwarf" "" plain/cold.c
                one_link $lld $arch objects "-Oz -gdwarf-$dwarf -mllvm -enable-machine-outliner" "" outline/outline.c
                [ $arch = arm64_32 ] || one_link $lld $arch objects "-O1 -gdwarf-$dwarf -fblocks" -dead_strip objc/zoo.m \
                    objc/root.m
            done
        done
    done
    echo "$made links"
    [ $made -gt 0 ]
    check "some links could be made"
    (many_objects)
    check "answers from more object files than a session keeps open"
fi

# ---- Object files by themselves, as llvm-symbolizer reads them ----

if need "object files as llvm-symbolizer reads them" llvm-symbolizer-22 python3; then
    for o in "$bin"/map-*/main.o "$bin"/archive/*.o "$bin"/plain-*.o; do
        MACHSYM=$MACHSYM bash tests/differential/run.sh "$o" >"$work/out" 2>&1
        # the address after the code is named by a data symbol there
        ! grep -E '^  [a-z-]+ +[0-9]+ ' "$work/out" | grep -v '^  outside-code ' && grep -q 'addresses' "$work/out"
        check "llvm-symbolizer agrees on ${o#"$bin"/}"
    done
fi

# Crystal states the plain name as the linkage name, too. Then the symbol has more, as llvm-symbolizer prints it.
if need "a linkage name that is the plain one" clang-22 llvm-symbolizer-22; then
    echo 'namespace n { int clear(int a) { return a + 1; } }' | clang-22 --target=arm64-apple-macos13 -g -O1 -S -emit-llvm -x c++ - -o - |
        sed 's/linkageName: "_ZN1n5clearEi"/linkageName: "clear"/; s/@_ZN1n5clearEi/@"*Slice#clear:Nil"/' >"$work/plain.ll"
    grep -q 'linkageName: "clear"' "$work/plain.ll" && clang-22 --target=arm64-apple-macos13 -c "$work/plain.ll" -o "$work/plain.o"
    check "plain.o is made"
    llvm-symbolizer-22 --obj="$work/plain.o" 0x0 | head -n 1 >"$work/want"
    "$MACHSYM" atos -o "$work/plain.o" 0x0 | sed 's/ (in .*//' >"$work/out"
    [ "$(cat "$work/want")" = '*Slice#clear:Nil' ] && cmp -s "$work/want" "$work/out"
    check "the symbol has more of the name" "$work/out"
    "$MACHSYM" atos --names=dwarf -o "$work/plain.o" 0x0 | sed 's/ (in .*//' >"$work/out"
    [ "$(cat "$work/out")" = clear ]
    check "--names=dwarf takes the name of the debug info" "$work/out"
fi

end
