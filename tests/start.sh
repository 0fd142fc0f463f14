#!/bin/bash
# docs/start.md: every block is pasted into a shell, in the order of the page, and must succeed; what some of them write is looked
# into. The truth is the source of demo.app.
. tests/checks
machsym=${MACHSYM:-build/machsym}
case $machsym in /*) ;; *) machsym=$PWD/$machsym ;; esac
mkdir -p "$work/bin" "$work/here/App.xcarchive/Products/Applications/demo.app" "$work/here/App.xcarchive/dSYMs" "$work/here/reports"
printf '#!/bin/sh\nexec %s "%s" "$@"\n' "${RUN:-}" "$machsym" >"$work/bin/machsym"
chmod +x "$work/bin/machsym"
cp tests/fixtures/bin/demo "$work/here/App.xcarchive/Products/Applications/demo.app/"
cp -R tests/fixtures/bin/demo.app.dSYM "$work/here/App.xcarchive/dSYMs/"
cp tests/fixtures/reports/demo.ips "$work/here/report.ips"
cp tests/fixtures/reports/demo.crash tests/fixtures/reports/watchdog.ips "$work/here/reports/"
cp machsym.h "$work/here/"
# Without the languages that the program does not need, the header takes half as long; tests/examples.sh compiles it whole.
cat >"$work/cc" <<END
cc() { command ${CC:-cc} -O0 -D_GNU_SOURCE -DMACHSYM_NO_SWIFT -DMACHSYM_NO_RUST -DMACHSYM_NO_D ${CFLAGS:-} "\$@"; }
END

awk -v to="$work/block" '/^```sh$/ { n++; on = 1; next } /^```$/ { on = 0 } on { print >(to n) }' docs/start.md
blocks=$(find "$work" -maxdepth 1 -name 'block*' | wc -l)
[ "$blocks" -eq 7 ]
check "the page has seven blocks"
for ((i = 1; i <= blocks; i++)); do
    if grep -q '^cc ' "$work/block$i" && [ -n "${RUN:-}" ]; then
        skip "the program in C, under an emulator"
        continue
    fi
    (cd "$work/here" && cat "$work/cc" "$work/block$i" >"$work/script" &&
        PATH="$work/bin:$PATH" XDG_CACHE_HOME="$work/cache" timeout 300 bash -e "$work/script" </dev/null) >"$work/out$i" 2>"$work/err$i"
    check "block $i succeeds" "$work/err$i"
done
said() { # BLOCK TEXT
    grep -qF -e "$2" "$work/out$1"
    check "block $1 prints $2" "$work/out$1"
}
said 1 'ok            demo (arm64)'
said 2 'a trap: a check in the code or the compiler failed'
grep -q 'queue.hpp:13' "$work/here/report.crash" && grep -q 'queue.hpp' "$work/here/report.html"
check "the report as text and as a page"
! grep -q '0123456789abcdef0123456789abcdef01234567\|7A9B6C1E' "$work/here/report.html"
check "the page is redacted"
grep -q '"id":1' "$work/here/answers.jsonl" && grep -q '"signature":"EXC_BREAKPOINT' "$work/here/answers.jsonl"
check "the worker's answer"
[ "$(wc -l <"$work/here/groups.jsonl")" -eq 2 ]
check "two groups"
! grep -q 'dSYMs are missing' "$work/out3"
check "nothing is missing"
said 4 'Queue<int>::at(int)'
said 5 '0x100000aec-0x100000af0  Queue<int>::at(int) (queue.hpp:13) inlined into -[Player skip:]'
[ -n "${RUN:-}" ] || said 6 'require(bool) line 6'
said 7 '-[Player skip:]'
end
