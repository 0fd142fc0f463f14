#!/bin/sh
# make floors holds for the header, and fails for a copy into which a violation is planted.
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
passed=0
failed=0

check() { # NAME STATUS
    if [ "$2" -eq 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "floors: $1"
        cat "$tmp/out"
    fi
}

# Puts text behind the banner of a floor.
plant() { # FLOOR TEXT
    awk -v tag=">>$1 " -v text="$2" '
        index($0, "/* ==== ") == 1 && index($0, tag) { here = 1 }
        { print }
        here && /\*\/[ ]*$/ { print text; here = 0; found = 1 }
        END { exit !found }' machsym.h
}

# The copy in $tmp/h must fail, for the reason expected.
must_fail() { # NAME MESSAGE
    if cmp -s machsym.h "$tmp/h"; then
        echo "nothing was planted" >"$tmp/out"
        check "$1" 1
        return
    fi
    awk -f tests/floors.awk "$tmp/h" >"$tmp/out" 2>&1 && check "$1: passes" 1 && return
    grep -q -- "$2" "$tmp/out"
    check "$1" $?
}

awk -f tests/floors.awk machsym.h >"$tmp/out"
check "the header" $?

plant bytes 'static unsigned ms_planted(ms_rd *rd)
{
    return ms_rd_u8(rd);
}' >"$tmp/h"
must_fail "a call to a lower floor" "calls ms_rd_u8 before it is defined"

plant reader 'static int ms_rd_planted(int a)
{
    return ms_rd_later(a);
}
static int ms_rd_later(int a)
{
    return a;
}' >"$tmp/h"
must_fail "a call downward within a floor" "calls ms_rd_later before it is defined"

plant reader 'static int ms_mo_planted(int a)
{
    return a;
}' >"$tmp/h"
must_fail "a prefix on another floor" "its prefix belongs to >>macho"

plant reader 'static int ms_planted(int a)
{
    return a;
}' >"$tmp/h"
must_fail "a function without a prefix" "has no prefix of a floor"

plant macho 'static int machsym_planted(int a)
{
    return a;
}' >"$tmp/h"
must_fail "a public prefix on an inner floor" "machsym_planted is defined on >>macho"

plant lines 'static bool ms_ln_planted(int a,
                          int b);' >"$tmp/h"
must_fail "a static prototype" "a static prototype: ms_ln_planted"

plant lines '/* floors: recursion */
static bool ms_ln_planted(int a);' >"$tmp/h"
must_fail "a recursion mark outside names" "a static prototype: ms_ln_planted"

plant units 'static const char *ms_cu_planted(void)
{
    return machsym_version();
}' >"$tmp/h"
must_fail "a public function called within" "calls the public machsym_version"

sed 's/^ \* Uses:   bytes, reader, memory, forms\./ * Uses:   bytes, memory, forms./' machsym.h >"$tmp/h"
must_fail "a floor that the banner does not name" "of >>reader, which its banner does not name"

sed 's/^ \* Offers: ms_seg,/ * Offers: ms_seg, ms_seg_planted,/' machsym.h >"$tmp/h"
must_fail "an offer that is none" "offers ms_seg_planted, which it does not have"

awk '/^ \* Never:/ && !done { done = 1; print " */"; next } { print }' machsym.h >"$tmp/h"
must_fail "a banner without Never" "is not Job, Uses, Offers, Never"

sed '/^ \*   >>lines /d' machsym.h >"$tmp/h"
must_fail "a floor missing in the contents" "contents and banners differ"

# the marked exception: prototypes inside names, for recursive descent
awk '/==== >>entrance/ {
    print "/* ==== >>names ====\n * Job:    a.\n * Uses:   nothing.\n * Offers: ms_dm_b.\n * Never:  c. */"
    print "/* floors: recursion */\nstatic int ms_dm_b(int a);\nstatic int ms_dm_c(int a)\n{\n    return ms_dm_b(a);\n}"
    print "static int ms_dm_b(int a)\n{\n    return ms_dm_c(a);\n}"
} /^ \*   >>entrance / { print " *   >>names      n" } { print }' machsym.h >"$tmp/h"
grep -q '>>names' machsym.h || awk -f tests/floors.awk "$tmp/h" >"$tmp/out"
check "prototypes for recursion in names" $?

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
