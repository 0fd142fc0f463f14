#!/bin/sh
# make rooms holds, and fails for a copy of the house into which a violation is planted. A stale machsym.h is found too.
. tests/checks

check() { # NAME STATUS
    count "$2" || { echo "rooms: $1" && cat "$work/out"; }
}

law() { # in $work/house
    # shellcheck disable=SC2046
    (cd "$work/house" && awk -f tests/rooms_code.awk -f tests/rooms.awk $(src/join --list)) >"$work/out" 2>&1
}

fresh() {
    rm -rf "$work/house"
    mkdir -p "$work/house/tests"
    cp -R src docs machsym.h "$work/house"
    mkdir "$work/house/examples"
    cp examples/minimal.c "$work/house/examples"
    cp tests/rooms.awk tests/rooms_code.awk tests/rooms.storeys tests/rooms.prefixes "$work/house/tests"
}

# The house with a change must fail, for the reason expected.
must_fail() { # NAME MESSAGE
    if diff -r src "$work/house/src" >/dev/null; then
        echo "nothing was planted" >"$work/out"
        check "$1" 1
    else
        law && check "$1: passes" 1 && return
        grep -q -- "$2" "$work/out"
        check "$1" $?
    fi
    fresh
}

plant() { # ROOM TEXT: after its banner
    awk -v text="$2" '
        /^\/\* ==== >>/ { here = 1 }
        { print }
        here && /\*\/[ ]*$/ { print text; here = 0 }' "src/$1" >"$work/house/src/$1"
}

edit() { # ROOM SED-COMMAND
    sed "$2" "src/$1" >"$work/house/src/$1"
}

fresh
law
check "the house" $?

edit dwarf/lines.h 's|^#include "forms.h"|&\n#include "units.h"|'
must_fail "an include that is not used" "includes src/dwarf/units.h, but uses nothing of it"
edit dwarf/lines.h '/^#include "..\/base\/reader.h"/d'
must_fail "a missing include" "uses .* of src/base/reader.h, which it does not include"
plant dwarf/lines.h '#include "../macho/macho.h"
static bool ms_ln_planted(const ms_mo *mo)
{
    return mo != NULL;
}'
must_fail "a storey that may not be used" "may not use src/macho/macho.h"
plant base/reader.h 'static int ms_mo_planted(int a)
{
    return a;
}'
must_fail "a prefix in another room" "its prefix belongs to src/macho/macho.h"
plant base/reader.h 'static int ms_planted(int a)
{
    return a;
}'
must_fail "a function without a prefix" "has no prefix of a room"
plant macho/macho.h 'static int machsym_planted(int a)
{
    return a;
}'
must_fail "a private function with a public name" "is private and has a public name"
plant dwarf/lines.h 'static bool ms_ln_planted(int a,
                          int b);'
must_fail "a static prototype" "a static prototype: ms_ln_planted"
plant dwarf/units.h 'static const char *ms_cu_planted(void)
{
    return machsym_version();
}'
must_fail "a public function called within" "calls the public machsym_version"
edit base/segments.h 's/^ \* Offers: ms_seg,/ * Offers: ms_seg, ms_seg_planted,/'
must_fail "an offer that is not there" "offers ms_seg_planted, which it does not have"
edit base/reader.h '/^ \* Never:/d'
must_fail "a banner without Never" "has no banner of Job, Offers, Never"
plant base/reader.h "$(awk 'BEGIN { for (i = 0; i < 2000; i++) print "/* x */" }')"
must_fail "a large room" "lines, more than 2000"
plant base/reader.h "/* $(printf '%0110d' 0) */"
must_fail "a wide line" "more than 110 bytes"

plant base/reader.h '/* planted */'
(cd "$work/house" && src/join --check) >"$work/out" 2>&1
[ $? -ne 0 ] && grep -q 'machsym.h is stale' "$work/out"
check "a stale header is found" $?
(cd "$work/house" && src/join && src/join --check) >"$work/out" 2>&1
check "and joined again" $?
fresh
edit base/bytes.h 's|^#define ms_ROOM_base_bytes|&\n#include "reader.h"|'
(cd "$work/house" && src/join --check) >"$work/out" 2>&1
grep -q 'includes go around in a circle' "$work/out"
check "a circle" $?


# ---- report/ and tool/ ----

law_tool() { # in $work/house
    # shellcheck disable=SC2046
    (cd "$work/house" && files=$(find report tool -name '*.[ch]' ! -path tool/machsym.c | LC_ALL=C sort) &&
        awk -f tests/rooms_code.awk -f tests/rooms_tool.awk pass=1 $files pass=2 $files) >"$work/out" 2>&1
}

fresh_tool() {
    rm -rf "$work/house/report" "$work/house/tool"
    cp -R report tool "$work/house"
    cp tests/rooms_tool.awk tests/rooms_tool.prefixes "$work/house/tests"
}

# FILE: the file is changed in the house; the law must fail, for the reason expected.
must_fail_tool() { # NAME FILE MESSAGE
    if cmp -s "$2" "$work/house/$2"; then
        echo "nothing was planted" >"$work/out"
        check "$1" 1
    else
        law_tool && check "$1: passes" 1 && return
        grep -q -- "$3" "$work/out"
        check "$1" $?
    fi
    fresh_tool
}

# After the last include.
plant_tool() { # FILE TEXT
    awk -v text="$2" '
        /^#include/ { seen = 1 }
        seen && !/^#/ && !done { print text; done = 1 }
        { print }' "$1" >"$work/house/$1"
}

edit_tool() { # FILE SED-COMMAND
    sed "$2" "$1" >"$work/house/$1"
}

fresh_tool
law_tool
check "the house of report/ and tool/" $?
grep -q ' 0 arrows up, 0 circles' "$work/out"
check "... is told in figures" $?

plant_tool tool/files/plist.c '#include "../symbols/layout.h"
static void plist_planted(text *t)
{
    layout_path(t, "", NULL, "");
}'
must_fail_tool "an arrow up in tool/" tool/files/plist.c "may not use tool/symbols/layout.h"
plant_tool report/model/days.c '#include "../write/write.h"
static write_options days_planted;'
must_fail_tool "an arrow up in report/" report/model/days.c "may not use report/write/write.h"
plant_tool report/base/text.c '#include "../../tool/base/say.h"
static void text_planted(void)
{
    say_message("no");
}'
must_fail_tool "a report that speaks" report/base/text.c "may not use tool/base/say.h"
plant_tool tool/base/values.h '#include "takes.h"
static inline bool value_planted(void *field)
{
    return take_uuid(field, "");
}'
cp tool/base/takes.h "$work/house/tool/base/takes.h"
plant_tool tool/base/takes.c '#include "values.h"
static const char *take_planted(void)
{
    return value_platform_name(1);
}'
must_fail_tool "a circle in tool/" tool/base/values.h "a circle: .*tool/base/"
edit_tool tool/symbols/nearest.c 's|^#include "nearest.h"|&\n#include "../base/takes.h"|'
must_fail_tool "an include of tool/ that is not used" tool/symbols/nearest.c "includes tool/base/takes.h, but uses nothing of it"
edit_tool report/model/days.c '/^#include "..\/base\/json_put.h"/d; /^#include "..\/base\/text.h"/d; /^#include "..\/base\/digits.h"/d'
must_fail_tool "an include of report/ that is missing" report/model/days.c "which it does not include"
plant_tool tool/symbols/nearest.c 'static int owners_planted(int a)
{
    return a;
}'
must_fail_tool "the prefix of another room" tool/symbols/nearest.c "its prefix belongs to tool/symbols/owners.h"
plant_tool tool/symbols/nearest.c 'static int planted(int a)
{
    return a;
}'
must_fail_tool "a function of tool/ without a prefix" tool/symbols/nearest.c "planted has no prefix of a room"
plant_tool tool/symbols/nearest.c 'static int nearest_planted(int a);'
must_fail_tool "a static prototype in tool/" tool/symbols/nearest.c "a static prototype: nearest_planted"
plant_tool tool/symbols/layout.h 'void layout_planted(void);'
plant_tool tool/symbols/nearest.c 'void layout_planted(void)
{
}'
must_fail_tool "a function that another room's header offers" tool/symbols/layout.h "layout_planted is offered by tool/symbols/layout.h and defined in"
plant_tool report/model/days.c '#include <stdio.h>'
must_fail_tool "stdio in report/" report/model/days.c "report/ includes <stdio.h>"
plant_tool report/model/days.c 'static void days_planted(void)
{
    exit(1);
}'
must_fail_tool "a report that ends the program" report/model/days.c "report/ exits"
edit_tool tool/symbols/nearest.h '/^ \* Never:/d'
must_fail_tool "a banner of tool/ without Never" tool/symbols/nearest.h "has no banner of Job, Offers, Never"
edit_tool tool/symbols/nearest.h 's/^ \* Offers: nearest_open,/ * Offers: nearest_planted,/'
must_fail_tool "an offer of tool/ that is not there" tool/symbols/nearest.h "offers nearest_planted, which it does not have"

# ---- Public functions say whether they take a file address or a pc, and public structs are in the list of sizes ----

unnamed() { # HEADER: functions that do not, structs that are not
    tr '\n' ' ' <"$1" | tr -s ' ' | grep -oE 'MACHSYM_API [^;{]*\([^;]*\);' | while read -r declaration; do
        name=$(echo "$declaration" | sed -E 's/^[^(]*(machsym_[a-z0-9_]+)\(.*/\1/')
        case $declaration in
        *'uint64_t pc)'* | *'uint64_t pc,'*) echo "$name" | grep -q '_pc' || echo "$name takes a pc" ;;
        *'uint64_t addr)'* | *'uint64_t addr,'* | *'*addrs,'*) echo "$name" | grep -q '_addr' || echo "$name takes a file address" ;;
        esac
    done
    grep -oE '^typedef struct machsym_[a-z_]+ \{' "$1" | while read -r _ _ name _; do
        grep -q "X($name, " "$1" || echo "$name is not in MACHSYM_STRUCTS"
    done
}
unnamed src/api/api.h >"$work/out"
[ ! -s "$work/out" ]
check "public functions say which address they take; all structs are weighed" $?
[ "$(grep -c 'MACHSYM_API.*machsym_' src/api/api.h)" -gt 60 ]
check "the functions are found" $?
sed 's/machsym_map_frames_at_addrs(/machsym_map_frames_many(/; s/machsym_plain_pc(/machsym_plain(/; /X(machsym_cut, /d' src/api/api.h >"$work/api.h"
unnamed "$work/api.h" | LC_ALL=C sort | tr '\n' ',' >"$work/out"
[ "$(cat "$work/out")" = "machsym_cut is not in MACHSYM_STRUCTS,machsym_map_frames_many takes a file address,machsym_plain takes a pc," ]
check "planted names are found" $?

end
