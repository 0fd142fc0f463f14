#!/bin/sh
# tests/run itself, of small tests in a checkout whose name has blanks and quotes and which others may not enter: what it
# counts, what it says of tools that lack, and the paths that tests get. And that make writes nothing to the checkout.
. tests/checks
place="$work/it's \"a place\""
mkdir "$place" "$place/tests" "$place/build"
cp tests/run tests/counts tests/helps tests/checks "$place/tests"
printf '#!/bin/sh\necho tool\n' >"$place/build/machsym"
chmod +x "$place/build/machsym"

script() { # NAME: a test of the lines on standard input
    { printf '#!/bin/sh\n. tests/checks\n' && cat && echo end; } >"$place/tests/$1.sh"
}
script one <<'END'
need "first" no-such-tool && echo never
need "second" sh no-such-tool && echo never
need "third" sh && check "which is there"
echo "steps: 12"
END
script two <<'END'
need "first" other-tool no-such-tool third-tool
skip "it needs other-tool (of long ago)"
skip "a full disk: it needs a disk: rare"
skip "nothing would help"
END
script paths <<'END'
for path in "$PWD" "$MACHSYM"; do
    case $path in *[\ \'\"]*) false ;; esac
    check "$path is one word"
done
[ "$($MACHSYM)" = tool ] && [ -f $PWD/tests/paths.sh ] && [ "$PWD" -ef . ]
check "the paths lead to the checkout"
END
script closed <<'END'
cp tests/run "$work/copy"
chmod 0 "$work/copy"
if need_nobody "what others may not read"; then
    ! $nobody cat "$work/copy" >"$work/out" 2>&1
    check "a closed file" "$work/out"
    echo text >"$work/open"
    [ "$($nobody cat "$work/open")" = text ]
    check "an open one"
fi
END
script bad <<'END'
need "first" no-such-tool
false
check "which fails"
END
runs() { # TEST...: into $work/out
    (unset TIMES && cd "$place" && umask 077 && chmod 700 . && B=build RUN='' TMPDIR="${temporary:-${TMPDIR:-/tmp}}" sh tests/run "$@") >"$work/out" 2>"$work/err"
    status=$?
}
says() { # LINE WHAT: the last but one
    [ "$(tail -n 2 "$work/out" | head -n 1)" = "$1" ]
    check "$2" "$work/out"
}
ends() { # STATUS LINE WHAT
    [ "$status" -eq "$1" ] && [ "$(tail -n 1 "$work/out")" = "$2" ]
    check "$3" "$work/out"
}

runs tests/one.sh tests/two.sh
ends 0 "1 passed, 0 failed, 6 skipped" "what is counted of skips"
grep -q '^one.sh  *1 passed, 0 failed, 2 skipped, 12 steps$' "$work/out"
check "how many steps its cases had" "$work/out"
says "6 skipped; with no-such-tool 2 more run; with other-tool 1; with other-tool, no-such-tool and third-tool 1" "which tools would help"
runs tests/paths.sh
ends 0 "3 passed, 0 failed, 0 skipped" "paths in a folder with blanks and quotes"
[ "$(wc -l <"$work/out")" -eq 2 ]
check "no message about help where nothing is skipped" "$work/out"
mkdir "$work/for a while"
temporary="$work/for a while"
runs tests/paths.sh
ends 0 "3 passed, 0 failed, 0 skipped" "temporary files in a folder with blanks"
unset temporary
if need_nobody "a closed checkout"; then
    runs tests/closed.sh
    ends 0 "2 passed, 0 failed, 0 skipped" "a closed checkout, and a mask that closes all"
fi
runs tests/one.sh tests/bad.sh
ends 1 "1 passed, 1 failed, 3 skipped" "what fails beside what is skipped"
says "3 skipped; with no-such-tool 3 more run" "the same where something failed"
mkdir "$work/closed"
chmod 700 "$work/closed"
temporary=$work/closed
runs tests/closed.sh
if [ "$(id -u)" -eq 0 ]; then
    ends 0 "0 passed, 0 failed, 1 skipped" "temporary files that others may not reach"
else
    ends 0 "2 passed, 0 failed, 0 skipped" "temporary files that others may not reach"
fi

# A checkout that is read only: make writes to B alone.
if need_nobody "a checkout that is read only" && need "a checkout that is read only" make; then
    mkdir -p "$work/tree/docs" "$work/tree/examples" "$work/built"
    cp -R src report Makefile machsym.h machsym_report.h "$work/tree/"
    cp docs/symmap.md "$work/tree/docs/"
    cp examples/minimal.c "$work/tree/examples/"
    chmod -R a-w "$work/tree"
    chmod 777 "$work/built"
    # shellcheck disable=SC2086
    (cd "$work/tree" && exec env -u MAKEFLAGS -u MAKEOVERRIDES $nobody make B="$work/built" "$work/built/joined.mk") >"$work/out" 2>&1 &&
        cmp -s machsym.h "$work/tree/machsym.h" && [ -s "$work/built/include/machsym.h" ]
    check "the header is joined in a checkout that is read only" "$work/out"
    chmod -R u+w "$work/tree"
fi
end
