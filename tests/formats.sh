#!/bin/sh
# "Adding a report format" in CONTRIBUTING.md names every file that a format touches: held against formats that are there. Truth: which
# files of the tree mention these.
. tests/checks

section() { # the files that it names
    sed -n '/^## Adding a report format/,/^## Checking/p' CONTRIBUTING.md | sed -n "$1" | grep -o '`[^`]*`' | tr -d '`' | grep '/\|^machsym.1$\|^CHANGELOG.md$'
}
mentions() { # FORMAT
    grep -rilI "$1" src report tool tests docs fuzz bench bindings examples packaging ./*.md machsym.1 Makefile |
        sed 's|^\./||' | grep -v '^docs/drawings/\|^tests/fixtures/\|^tests/vectors/\|^fuzz/corpus/\|^CHANGELOG.md$\|^CONTRIBUTING.md$\|^tests/formats.sh$\|^tests/mutate/last.md$\|^bindings/go/machsym_report.h$' |
        LC_ALL=C sort
}

# a document of JSON: the numbered list, and nothing beside it
section '/^1\./,/^5\./p' | sed 's|report/read/NAME.c|report/read/datadog.c|; s|tests/members/NAME.py|tests/members/datadog.py|' | grep -v '^tests/fixtures/\|^CHANGELOG' | LC_ALL=C sort -u >"$work/said"
mentions datadog >"$work/is"
diff "$work/said" "$work/is" >"$work/diff"
check "files that Datadog's format touches, and those that CONTRIBUTING.md names" "$work/diff"
[ -d tests/fixtures/services ] && grep -qi datadog CHANGELOG.md
check "its samples and its line in CHANGELOG.md"

# one with frames of its own form, and one of text
mentions bugsnag >"$work/is"
for file in report/model/json_stack.c report/write/same.c; do
    grep -qx "$file" "$work/is"
    check "$file knows Bugsnag's frames"
done
grep -q '^ *X(swift)' report/read/lines.h && grep -q '^bool text_parse_swift(' report/read/swift_trace.c && ! grep -q text_parse_swift report/read/text.c
check "a row in lines.h is all that reading needs of the lines of Swift's backtraces"
# what is told by a row is told nowhere else: what finds documents knows no kind by its members
kinds=$(sed -n 's/^ *\(DOCUMENT\|OBJECT\)([A-Z]*, "[^"]*", \([a-z]*\).*/\2/p' report/model/report.h)
[ "$(printf '%s\n' $kinds | wc -l)" -ge 10 ]
check "rows of REPORT_KINDS"
for name in $kinds; do
    grep -q "^bool report_parse_$name(" report/read/*.c
    check "a reader of $name"
    ! grep -q "report_[a-z]*_$name\>" report/read/strings.c report/read/recognise.c report/read/split.c report/read/formats.h
    check "$name is told once"
done
for member in $(sed -n 's/^ *OBJECT(.*, "\([A-Za-z_]*\)").*/\1/p' report/model/report.h); do
    ! grep -q "\"$member" report/read/strings.c report/read/recognise.c
    check "$member is told once"
done
end
