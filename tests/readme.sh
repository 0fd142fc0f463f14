#!/bin/bash
# README.md and docs/: every command that stands after "$ " is pasted into a shell, in the order of the page, in a folder that has the
# files it names; what the page says it prints is what it prints. docs/start.md has start.sh, the program in C examples.sh. Commands that ask a
# server ($URL) are pasted by server.py.
. tests/checks
if [ -n "${RUN:-}" ]; then
    skip "redis-server would run here, and the tool under $RUN"
    end
    exit
fi
need "the commands of README.md and docs/" python3 redis-server redis-cli || { end; exit; }
machsym=${MACHSYM:-build/machsym}
case $machsym in /*) ;; *) machsym=$PWD/$machsym ;; esac
top=$PWD
here=$work/here
dsym=tests/fixtures/bin/demo.app.dSYM
mkdir -p "$work/bin" "$work/home/dsyms" "$here/reports" "$here/build" "$here/App.xcarchive/dSYMs" "$here/checkout/demo" "$here/maps"
printf '#!/bin/sh\nexec "%s" "$@"\n' "$machsym" >"$work/bin/machsym"
printf '#!/bin/sh\nexec "%s" -s "%s" "$@"\n' "$(command -v redis-cli)" "$work/redis" >"$work/bin/redis-cli"
chmod +x "$work/bin/machsym" "$work/bin/redis-cli"
cp -R $dsym "$work/home/dsyms/"
cp -R $dsym "$here/App.xcarchive/dSYMs/"
cp tests/fixtures/bin/demo "$here/build/"
cp -R $dsym "$here/App.dSYM"
mv "$here/App.dSYM/Contents/Resources/DWARF/demo" "$here/App.dSYM/Contents/Resources/DWARF/App"
mkdir -p "$here/folded.dSYM/Contents/Resources/DWARF"
cp tests/fixtures/bin/folded-arm64-all.dwarf "$here/folded.dSYM/Contents/Resources/DWARF/folded"
ln -s "$top/tests" "$here/tests"
for name in report.ips MyApp-2024-05-01.ips reports/one.ips; do
    cp tests/fixtures/reports/demo.ips "$here/$name"
done
cp tests/fixtures/src/demo/* "$here/checkout/demo/"
echo '{"id":1,"do":"stats"}' >"$here/requests.jsonl"
(cd tests/fixtures/bin && python3 -m zipfile -c "$here/appDsyms.zip" demo.app.dSYM)
PYTHONDONTWRITEBYTECODE=1 python3 tests/cache/build.py tests/fixtures/bin/cache "$work/caches" >/dev/null
redis-server --port 0 --unixsocket "$work/redis" --save '' --dir "$work" >/dev/null 2>&1 &
redis=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do
    [ -S "$work/redis" ] && break
    sleep 0.2
done

# A command, with the lines that continue it, in a file of its own; what the page says it prints in another.
cat >"$work/take.py" <<'END'
import re, sys
folder, page = sys.argv[1:]
count, inside = 0, False
for line in open(page, encoding="utf-8"):
    if line.startswith("```"):
        inside, command = not inside, None
        continue
    if inside and line.startswith("$ ") and "$URL" in line:
        command = None  # of tests/server.py
        continue
    if inside and line.startswith("$ "):
        count += 1
        command, goes_on, line = count, True, line[2:]
    if not inside or command is None:
        continue
    kind = "sh" if goes_on else "says"
    open("%s/%d.%s" % (folder, command, kind), "a", encoding="utf-8").write(line)
    goes_on = goes_on and re.sub(r"\s+#.*", "", line).rstrip("\n").endswith("\\")
print(count)
END

# What stands for something of the reader's own, and what is here for it.
uuid=4c4c44b555553144a1ba79ca685dec58
cache=$(find "$work/caches" -name 'dyld_shared_cache_arm64e' | sort | head -n 1)
library=$(awk '$1 == "image" { print $2; exit }' "${cache%/*}/truth.tsv")
place=$(awk '$1 == "export" { print "0x" $3; exit }' "${cache%/*}/truth.tsv")
ours() {
    sed "s,dwarf:App:UUID:58,$key,; s,dyld_shared_cache_arm64e/usr/lib/libobjc.A.dylib,CACHE$library,; s,dyld_shared_cache_arm64e,$cache,g
        s,CACHE,$cache,; s,-l 0x1a0b54000 0x1a2b3c4d8,$place,; s,/Users/ci/app=,/fixtures=," "$1"
}
# What differs from day to day, and what the page leaves out: "..." at an end, or all but a member.
plain() { sed 's/[0-9]\{4\}-[0-9][0-9]-[0-9][0-9]/DATE/; s/ *[0-9.]* KB/ SIZE/' "$1"; }
prints() # SAYS OUT: each line of the page is a line there, or a part of one where the page says so
{
    plain "$1" >"$1.plain"
    plain "$2" >"$2.plain"
    if ! grep -q '\.\.\.\|^"' "$1"; then
        diff "$1.plain" "$2.plain"
        return
    fi
    while IFS= read -r line; do
        for part in "${line%%...*}" "${line#*...}"; do
            part=${part%\}}
            grep -qF -e "$part" "$2.plain" || { echo "not there: $part" && return 1; }
        done
    done <"$1.plain"
}

paste_page() # PAGE LEAST: LEAST is the number of commands that must be there
{
    folder=$work/page-$(basename "$1" .md)
    mkdir -p "$folder"
    count=$(python3 "$work/take.py" "$folder" "$1")
    [ "$count" -ge "$2" ]
    check "$1 has its commands"
    for ((i = 1; i <= count; i++)); do
        key=$(redis-cli -s "$work/redis" --raw keys 'dwarf:*' | sort | head -n 1)
        ours "$folder/$i.sh" >"$folder/$i.pasted"
        title="$1: $(head -n 1 "$folder/$i.pasted")"
        (cd "$here" && HOME=$work/home PATH="$work/bin:$PATH" XDG_CACHE_HOME="$work/cache" timeout 120 bash -o pipefail "$folder/$i.pasted" \
            </dev/null) >"$folder/$i.out" 2>"$folder/$i.err"
        check "$title" "$folder/$i.err"
        [ -f "$folder/$i.says" ] || continue
        if grep -q 'broken here' "$folder/$i.sh"; then
            tr -d '\n' <"$folder/$i.says" >"$folder/$i.line" && echo >>"$folder/$i.line" && mv "$folder/$i.line" "$folder/$i.says"
        fi
        prints "$folder/$i.says" "$folder/$i.out" >"$folder/$i.diff"
        check "$title: what it prints" "$folder/$i.diff"
    done
}
paste_page README.md 18
paste_page docs/server.md 2
paste_page docs/sources.md 3
paste_page docs/store.md 5

# The first lines of README.md: what the device wrote, and the names in their order.
awk '/^What the device wrote:$/ { on = 1 } /^What .machsym crash/ { exit } on && /^[0-9]/' README.md >"$work/device"
[ "$(wc -l <"$work/device")" -eq 2 ]
check "README.md has two lines of a device"
awk '/^What .machsym crash/ { on = 1 } on && /^[0-9]/ { found = 1; print $3, $4, $5 } found && /^```$/ { exit }' README.md |
    sed 's/ *$//' >"$work/promised"
(printf 'Thread 0 Crashed:\n'; cat "$work/device"; printf '\nBinary Images:\n0x102a30000 - 0x102a33fff demo arm64 <%s> /demo\n' "$uuid") >"$work/device.crash"
$machsym crash -q -d $dsym "$work/device.crash" | awk '$2 == "demo" { $1 = $2 = $3 = ""; print substr($0, 4), "" }' | cut -d ' ' -f 1-3 | sed 's/ *$//' |
    head -n "$(wc -l <"$work/promised")" >"$work/kept"
diff "$work/promised" "$work/kept" >"$work/differ"
[ "$(wc -l <"$work/promised")" -eq 5 ] && [ ! -s "$work/differ" ]
check "README.md's first lines" "$work/differ"

kill "$redis"
wait "$redis" 2>/dev/null
end
