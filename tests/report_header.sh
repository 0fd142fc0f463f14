#!/bin/sh
# machsym_report.h as a program has it: compilers and languages, its size, its names; examples/report.c and what README prints
# of it. What it writes is what machsym crash writes, byte for byte: each form of each report of tests/fixtures, and of the
# published ones of ../shared/corpus where they lie beside the checkout.
. tests/checks
MACHSYM=${MACHSYM:-build/machsym}
CC=${CC:-cc}
export XDG_CACHE_HOME="$work/cache"
header=$work/machsym_report.h
report/join "$header"
cmp "$header" machsym_report.h
check "machsym_report.h is what report/join writes"

# ---- Compilers ----

printf '#define MACHSYM_REPORT_IMPLEMENTATION\n#include "machsym_report.h"\n#include "machsym_report.h"\n' >"$work/impl.c"
cat >"$work/user.c" <<END
#include "machsym_report.h"
#include "machsym_report.h"
int main(void)
{
    machsym_reports *reports;
    return machsym_reports_open(0, &reports, 0) == MACHSYM_ERR_ARGUMENT ? 0 : 1;
}
END
for compiler in "gcc -x c -std=c99" "g++ -x c++ -std=c++11" "clang -x c -std=c99" \
    "clang -x c++ -std=c++11"; do
    command -v "${compiler%% *}" >/dev/null || { skip "$compiler: it needs ${compiler%% *}"; continue; }
    for file in impl user; do
        # shellcheck disable=SC2086
        $compiler -D_GNU_SOURCE -I"$work" -I. -Wall -Wextra -pedantic -Wshadow -Wconversion -Wsign-conversion -Wundef -Wcast-qual -Werror -fsyntax-only "$work/$file.c" >"$work/log" 2>&1
        check "$file.c: $compiler" "$work/log"
    done
done

# Each switch of api.h's table, and all of them.
sed -n 's/^ \* *\(MACHSYM_REPORT_NO_[A-Z]*\)  *\([0-9]*\) KB .*/\1 \2/p' report/api.h >"$work/switches"
all=
while read -r switch kb; do
    all="$all -D$switch"
done <"$work/switches"
echo "all $(sed -n 's/^ \*     all six  *\([0-9]*\) KB$/\1/p' report/api.h)" >>"$work/switches"
[ "$(wc -l <"$work/switches")" -eq 7 ]
check "switches that api.h lists" "$work/switches"
while read -r switch kb; do
    [ "$switch" != all ] && one=-D$switch || one=$all
    # shellcheck disable=SC2086
    $CC -std=c99 -D_GNU_SOURCE $one -I"$work" -I. -Wall -Wextra -pedantic -Werror -fsyntax-only "$work/impl.c" >"$work/log" 2>&1
    check "$switch" "$work/log"
done <"$work/switches"

# A program may use the names of all rooms itself: here it does.
{
    cat "$work/impl.c"
    for room in report/*/*.h; do
        echo "#include \"$room\""
    done
} >"$work/rooms.c"
$CC -std=c99 -D_GNU_SOURCE -I"$work" -I. -Wno-unused-function -fsyntax-only "$work/rooms.c" >"$work/log" 2>&1
check "private names that are also a program's" "$work/log"

# ---- Names, and size ----

# Without sanitizers, which bring names of their own.
if [ "${SAMPLE:-1}" -ne 1 ]; then
    : # CI compiles it so
elif command -v nm >/dev/null && command -v size >/dev/null && [ "$(uname -m)" = x86_64 ]; then
    for compiler in gcc clang; do
        command -v $compiler >/dev/null || { skip "size: it needs $compiler"; continue; }
        $compiler -std=c99 -Os -D_GNU_SOURCE -I"$work" -I. -c -o "$work/impl.o" "$work/impl.c"
        check "-Os: $compiler"
        text=$(size "$work/impl.o" | awk 'NR == 2 { print $1 }')
        [ "$text" -le 350000 ]
        check "$compiler: $text bytes of text at -Os, more than 350,000"
    done
    # What the switches save is what api.h states, but for a tenth and 2 KB: compilers differ.
    if command -v gcc >/dev/null; then
        gcc -std=c99 -Os -D_GNU_SOURCE -I"$work" -I. -c -o "$work/impl.o" "$work/impl.c"
        whole=$(size "$work/impl.o" | awk 'NR == 2 { print $1 }')
        while read -r switch kb; do
            [ "$switch" != all ] && one=-D$switch || one=$all
            # shellcheck disable=SC2086
            gcc -std=c99 -Os -D_GNU_SOURCE $one -I"$work" -I. -c -o "$work/less.o" "$work/impl.c"
            text=$(size "$work/less.o" | awk 'NR == 2 { print $1 }')
            saved=$((whole - text))
            awk -v saved=$saved -v kb="$kb" 'BEGIN { d = saved / 1000 - kb; exit d * d > (kb / 10 + 2) ^ 2 }'
            check "$switch saves $saved bytes, not $kb KB"
        done <"$work/switches"
    fi
    ! nm "$work/impl.o" | grep ' [A-TV-Z] ' | grep -v ' machsym_report' >"$work/log"
    check "names that a program may have itself" "$work/log"
    ! nm "$work/impl.o" | grep -v ' U ' | grep -v '[.]' | grep -v ' machsym_report\| msr_' >"$work/log"
    check "private names without a prefix" "$work/log"
else
    skip "size: it needs binutils (on x86_64)"
fi

# ---- What it writes ----

demo=tests/fixtures/bin/demo.app.dSYM
# shellcheck disable=SC2086
$CC -std=c99 -D_GNU_SOURCE $CFLAGS -I"$work" -I. $LDFLAGS -o "$work/forms" tests/report_forms.c "${B:-build}/tool/machsym.o" >"$work/log" 2>&1
check "report_forms" "$work/log"

stacks= # check: stacks are checked, too
same_reports() # WHAT SYMBOLS REPORT...
{
    what=$1$stacks
    symbols=$2
    [ ! -d "$symbols" ] || [ "$symbols" = $demo ] || symbols=$(echo "$symbols"/*)
    folder=$2
    shift 2
    for form in same text apple json brief summary signature redact; do
        [ -z "$stacks" ] || [ $form != apple ] || continue # Apple's tools check no stacks: crash refuses both together
        option=--$form
        [ $form != same ] || option=--to=same
        [ $form != redact ] || option=--redact-key=words
        [ $form != text ] || option=--to=text
        # shellcheck disable=SC2086 # files
        "$MACHSYM" crash --no-cache ${stacks:+--check-stack} $option -d "$folder" ${program:+-d $program} "$@" >"$work/want" 2>"$work/err"
        # shellcheck disable=SC2086 # files
        $RUN "$work/forms" $stacks $form $symbols $program -- "$@" >"$work/got" 2>"$work/log"
        check "$what: $form: report_forms fails" "$work/log"
        case $form in
        signature) sed -i 's|  [^ ]*$||' "$work/want" ;; # the file's name
        summary) sed -i '/^== /d' "$work/want" ;;
        esac
        [ -s "$work/want" ]
        check "$what: $form: machsym crash writes nothing" "$work/err"
        same "$work/want" "$work/got" "$what: $form"
    done
}

for folder in reports services stacks apple system; do
    files=$(find tests/fixtures/$folder -type f ! -name SOURCES | LC_ALL=C sort)
    # shellcheck disable=SC2086
    same_reports $folder $demo $files
done

# Frames that only the unwind tables of the program find.
same_reports dumps tests/stacks/x86_64.program tests/stacks/x86_64.dmp

# Stacks that are checked by the code of the program, true and wrong ones.
stacks=check
same_reports stacks tests/stacks/x86_64.program tests/stacks/x86_64.dmp tests/stacks/x86_64.json tests/stacks/arm64.core
program=tests/fixtures/bin/demo
sed 's/"imageOffset":2684/"imageOffset":2688/' tests/fixtures/reports/demo.ips >"$work/off.ips"
sed 's/0x0000000102a30a7c/0x0000000102a30a80/' tests/fixtures/reports/demo.crash >"$work/off.crash"
files=$(find tests/fixtures/reports tests/fixtures/services tests/fixtures/apple -type f ! -name SOURCES | LC_ALL=C sort)
# shellcheck disable=SC2086
same_reports checked $demo "$work/off.ips" "$work/off.crash" $files
"$MACHSYM" crash --no-cache --check-stack --json -d $demo -d $program "$work/off.ips" "$work/off.crash" tests/stacks/x86_64.json >"$work/got" 2>"$work/err"
[ "$(grep -c '"doubt":"no call ends here' "$work/got")" -eq 2 ]
check "stacks that cannot be true" "$work/got"
# Several images whose code is at hand, and calls from one to another.
. tests/stacks/several
program=
mkdir "$work/programs" "$work/dylibs"
cp tests/fixtures/bin/map-arm64-d4-O0/program tests/fixtures/bin/outline-arm64-d4-22 "$work/programs"
for name in Zoo Farm libbase.dylib libobjc.A.dylib; do cp tests/fixtures/bin/cache/arm64/$name "$work/dylibs"; done
# shellcheck disable=SC2154 # of tests/stacks/several
{
several "$several_programs" "$several_true" >"$work/true.crash"
sed 's/4a4 /4a8 /; s/538 /53c /' "$work/true.crash" >"$work/moved.crash"
several "$several_dylibs" "$several_imports" >"$work/imports.crash"
several "$several_dylibs" "$several_wrong" >"$work/wrong.crash"
}
same_reports programs "$work/programs" "$work/true.crash" "$work/moved.crash"
same_reports imports "$work/dylibs" "$work/imports.crash" "$work/wrong.crash"
stacks=

corpus=${CORPUS:-../shared/corpus}
if [ -d "$corpus" ]; then # by names without blanks
    mkdir "$work/dsyms" "$work/real"
    find "$corpus" -type f -path '*.dSYM/Contents/Resources/DWARF/*' | LC_ALL=C sort >"$work/list"
    while read -r file; do
        n=$((n + 1))
        cp "$file" "$work/dsyms/$n"
    done <"$work/list"
    find "$corpus" -type f \( -name '*.crash' -o -name '*.ips' -o -name '*.txt' -o -name '*.json' -o -name '*.dmp' \) | LC_ALL=C sort >"$work/list"
    while read -r file; do
        n=$((n + 1))
        cp "$file" "$work/real/$n.${file##*.}"
    done <"$work/list"
    same_reports corpus "$work/dsyms" "$work/real"/*
else
    skip "real reports, ../shared/corpus is missing"
fi

# ---- Each task of docs/report-header.md ----

# Its code in C and C++, then run: what each task writes is what machsym crash writes.
awk '/^```c$/ { inside = 1; next } /^```/ { inside = 0 } inside' docs/report-header.md | grep -v '^#define MACHSYM_IMPLEMENTATION' >"$work/tasks.c"
cat tests/report_tasks.c >>"$work/tasks.c"
for compiler in "gcc -x c -std=c99" "g++ -x c++ -std=c++11"; do
    command -v "${compiler%% *}" >/dev/null || { skip "$compiler: it needs ${compiler%% *}"; continue; }
    # shellcheck disable=SC2086
    $compiler -D_GNU_SOURCE -I"$work" -I. -Wall -Wextra -Werror -fsyntax-only "$work/tasks.c" >"$work/log" 2>&1
    check "the code of docs/report-header.md: $compiler" "$work/log"
done
# shellcheck disable=SC2086
$CC -std=c99 -D_GNU_SOURCE $CFLAGS -I"$work" -I. $LDFLAGS -o "$work/tasks" "$work/tasks.c" "${B:-build}/tool/machsym.o" >"$work/log" 2>&1
check "the program of docs/report-header.md" "$work/log"
crash=tests/fixtures/reports/demo.crash
task() # NAME: what it writes is in $work/want
{
    $RUN "$work/tasks" $demo $crash "$1" >"$work/got"
    same "$work/want" "$work/got" "docs/report-header.md: $1"
}
echo "4C4C44B555553144A1BA79CA685DEC58 arm64 demo" >"$work/want" # as its list of images has it
task wanted
"$MACHSYM" crash --no-cache --to=text -d $demo $crash >"$work/want" 2>"$work/err"
task text
# Its stack, function by function: frames of files, and start, which the report names.
printf '%s\n' "require(bool) (inlined)" "Queue<int>::at(int) (inlined)" "Queue<int>::drop(int) (inlined)" "-[Player skip:]" "-[Player play:]" \
    __main_block_invoke "repeat(int, void (int) block_pointer) (inlined)" main start >"$work/want"
task walk
# Facts and registers as the report's lines have them.
{ printf '%s: %s\n' process "demo [412]" identifier org.example.demo version "1.2 (7)" os "iPhone OS 17.4 (21E219)" \
    hardware iPhone14,5 date "2026-03-14 09:26:53.589 +0100" incident 7A9B6C1E-0000-4000-8000-000000000001 \
    exception "EXC_BREAKPOINT (SIGTRAP)" codes "0x0000000000000001, 0x0000000102a30aec" termination SIGNAL termination_code 5 \
    description "Trace/BPT trap: 5"
    printf '%s = 0x%x\n' x0 0 x1 0 x2 0 x3 0 fp 0x16d3cf3a0 lr 0x102a30a7c sp 0x16d3cf380 pc 0x102a30aec cpsr 0x40001000; } >"$work/want"
task registers
"$MACHSYM" crash --no-cache --to=same --redact-key=words $crash >"$work/want" 2>"$work/err"
task redact
printf '%s\n' somewhere somewhere somewhere somewhere start >"$work/want" # one name for the app's frames
task own

# ---- Kinds that are left out ----

# Without a family its reports are not read as they are with it, and those of the others are.
fewer() # SWITCHES PROGRAM
{
    # shellcheck disable=SC2086
    $CC -std=c99 -D_GNU_SOURCE $CFLAGS $1 -I"$work" -I. $LDFLAGS -o "$work/$2" tests/report_forms.c "${B:-build}/tool/machsym.o" >"$work/log" 2>&1
    check "report_forms with $1" "$work/log"
}
reports=tests/fixtures/reports
family() # SWITCH: files of its family
{
    case $1 in
    *_DUMPS) echo tests/fixtures/services/*.dmp tests/fixtures/services/*.core tests/stacks/x86_64.dmp ;;
    *_SERVICES) echo tests/fixtures/services/*.plcrash tests/fixtures/services/kscrash-1.json tests/fixtures/services/sentry-api.json \
        tests/fixtures/services/bugsnag-event.json tests/fixtures/services/crashlytics-crashed.txt tests/fixtures/services/*-error.json ;;
    *_PROFILES) echo $reports/demo-metrickit.json $reports/demo-sample.txt $reports/demo-spindump.txt tests/fixtures/stacks/xctrace.xml ;;
    *_SYSTEM) echo $reports/jetsam.ips tests/fixtures/system/panic-full.ips tests/fixtures/system/stackshot.ips tests/fixtures/stacks/log.ndjson ;;
    *_STACKS) echo tests/fixtures/stacks/lldb.txt tests/fixtures/stacks/asan.txt tests/fixtures/stacks/swift.txt tests/fixtures/stacks/dart.txt \
        tests/fixtures/services/node.json ;;
    *_CHECKS) ;; # no kind: see below
    *) echo $reports/demo.crash $reports/demo.ips tests/fixtures/apple/mac26.ips $reports/demo-leaks.txt $reports/demo-addresses.txt ;;
    esac
}
$RUN "$work/forms" json $demo -- $reports/demo.crash >"$work/want"
check "the reports with all kinds"
# Builds that are slow leave out all families at once only.
for switch in $(awk -v quick="$QUICK" 'quick == "" || $1 == "all" { print $1 }' "$work/switches"); do
    [ "$switch" = all ] && one=$all || one=-D$switch
    fewer "$one" few
    case $switch in
    *_CHECKS | all)
        ! $RUN "$work/few" check json $demo -- $reports/demo.crash >"$work/got" 2>"$work/err" && [ ! -s "$work/got" ] &&
            grep -q 'stacks are not checked: MACHSYM_REPORT_NO_CHECKS' "$work/err"
        check "$switch: checks of stacks are refused" "$work/err" ;;
    esac
    for other in $(awk '{ print $1 }' "$work/switches") ; do
        [ "$other" != all ] || other=always
        for file in $(family "$other"); do
            $RUN "$work/forms" json $demo -- "$file" >"$work/want" 2>"$work/err"
            $RUN "$work/few" json $demo -- "$file" >"$work/got" 2>>"$work/err"
            if [ "$other" = "$switch" ] || { [ "$switch" = all ] && [ "$other" != always ]; }; then
                [ -s "$work/want" ] && ! cmp -s "$work/want" "$work/got"
                check "$switch: $file is left out" "$work/got"
            else
                same "$work/want" "$work/got" "$switch: $file is read"
            fi
        done
    done
done

# ---- The example ----

# shellcheck disable=SC2086
$CC -std=c99 -D_GNU_SOURCE -Wall -Wextra -Werror $CFLAGS -I"$work" -I. $LDFLAGS -o "$work/example" examples/report.c \
    -DMACHSYM_IMPLEMENTED "${B:-build}/tool/machsym.o" >"$work/log" 2>&1
check "examples/report.c" "$work/log"
mkdir "$work/symbols"
cp -R $demo "$work/symbols"
$RUN "$work/example" "$work/symbols" tests/fixtures/reports/demo.crash >"$work/got"
check "the example succeeds"
"$MACHSYM" crash --no-cache --to=text -d "$work/symbols" tests/fixtures/reports/demo.crash >"$work/want" 2>"$work/err"
same "$work/want" "$work/got" "the example's output"
grep -q 'require(bool) (queue.hpp:6)' "$work/got"
check "the example finds the dSYM"
# README's second block of code, and the block of output after it.
awk '/^```c$/ { code++; inside = code == 2; next } /^```/ { if (inside) { inside = 0; after = 1; next } if (after == 1) { after = 2; next } after += after == 2 }
    inside { print >program } after == 2 { print >output }' program="$work/program" output="$work/output" README.md
awk '/^#define/ { here = 1 } here' examples/report.c >"$work/report.c"
same "$work/report.c" "$work/program" "README's program is examples/report.c"
sed -n '/Crashed:$/,/^$/p' "$work/got" | sed '/^$/d' | expand >"$work/part"
same "$work/part" "$work/output" "README's output"
! $RUN "$work/example" "$work/symbols" LICENSE >/dev/null
check "the example of what is no report"

end
