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

plant() { # ROOM TEXT: behind its banner
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
must_fail "an include of which nothing is used" "includes src/dwarf/units.h, of which it uses nothing"
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
must_fail "an offer that is none" "offers ms_seg_planted, which it does not have"
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

end
