#!/bin/bash
# Each system call and each call for memory of a run fails once: tests/faults.c has the rule that every run is held to, and
# tests/faults.known what does not keep it yet. A sample of the faults is planted; `make soak-faults` plants all (FAULTS_SAMPLE=1)
# and prints a table. FAULTS_ONLY="crash*": rows whose name fits.
bin=$PWD/tests/fixtures/bin
reports=$PWD/tests/fixtures/reports
M=${MACHSYM:-build/machsym}
case $M in /*) ;; *) M=$PWD/$M ;; esac
. tests/checks
export LC_ALL=C HOME=$work/home
uuid=4C4C44B5-5555-3144-A1BA-79CA685DEC58

# What files need is little, and a disk would be asked to be safe for each of them.
w=$work
if [ -w /dev/shm ] && [ -z "$FAULTS_FOLDER" ]; then
    w=$(mktemp -d /dev/shm/faults.XXXXXX)
    trap 'rm -rf "$work" "$w"' EXIT
fi
in=$w/in

# ---- Whether it can be done here ----

why=
[ "$(uname -s)" = Linux ] || why="this is no Linux"
[ -z "$RUN" ] || why="programs run under another"
case "$CFLAGS $LDFLAGS" in *-fsanitize* | *coverage*) why="once is enough, in a plain build" ;; esac
if [ -z "$why" ]; then
    ${CC:-cc} -std=c11 -O1 -o "$w/faults" tests/faults.c 2>"$work/err" &&
        ${CC:-cc} -std=c11 -O1 -shared -fPIC -o "$w/memory.so" tests/faults_memory.c 2>>"$work/err" ||
        why="no compiler, or no headers of Linux 5.5"
fi
if [ -n "$why" ]; then
    skip "faults: $why"
    end
    exit
fi

# ---- That it finds what is wrong ----

rule() { # WAY LINE [SAMPLE]: that a program which is wrong in that way is found
    rm -rf "$w/self"
    mkdir -p "$w/self/seeds/none"
    echo "way|none||$1" >"$w/self/table"
    SAMPLE=${3:-1} JOBS=1 FAULTS_ONLY='' FAULTS_SECONDS=1 "$w/faults" "$w/broken" "$w/memory.so" "$w/self" "$w/self/table" /dev/null >"$work/log" 2>"$work/err"
    status=$?
    [ $status -ge 77 ] || { [ $status -eq 1 ] && grep -q "^broken: way: $2; " "$work/log"; }
    check "a program that is wrong is found: $1" "$work/log"
}
status=0
if ${CC:-cc} -std=c11 -D_GNU_SOURCE -O0 -o "$w/broken" tests/faults_broken.c 2>"$work/err"; then
    rule silent '[a-z0-9]*access[a-z0-9]* EIO: exit 0, other output'
    rule mute '[a-z0-9]*access[a-z0-9]* EIO: it says nothing'
    rule part 'write ENOSPC: a file is there in part'
    rule temporary 'rename[a-z0-9]* EIO: a temporary file stays'
    rule crash 'memory: it crashes'
    rule hang '[a-z0-9]*access[a-z0-9]* EIO: it hangs' 4
    rule poison '[a-z0-9]*access[a-z0-9]* EIO: the next run gives other output'
fi
[ $status -lt 77 ] || skip "faults: the system lets no process answer for it (seccomp)"
[ $status -lt 77 ] || { end; exit; }

# ---- Inputs ----

mkdir -p "$HOME" "$in/symbols/more" "$w/seeds/none" "$w/seeds/state" "$w/seeds/store"
touch -d 2026-01-01 "$w/seeds/none"
cp -r "$bin/demo.app.dSYM" "$in/symbols/"
cp "$bin/inline-arm64-d4-14.dwarf" "$in/symbols/more/"
tar -C "$bin" -cf "$in/symbols/other.tar" inline-arm64-d5-22.dSYM
cp "$bin/demo.app.dSYM/Contents/Resources/DWARF/demo" "$in/dsym"
cp "$bin/demo" "$in/binary"
cp "$bin/zoo-arm64-chained" "$in/zoo"
cp "$bin/inline-fat.dwarf" "$in/fat"
cp "$bin/archive/bsd.a" "$in/library.a"
cp "$reports/demo.crash" "$reports/demo.ips" "$reports/demo-sample.txt" "$reports/demo-metrickit.json" "$in/"
printf '0x100000940 _Z1fv $s4main3fooyyF\n' >"$in/words"
printf '0x100000940\n0x100000aec\n' >"$in/addresses"
printf 'all = Demo\n' >"$in/rules"
printf '%s\n' ../in/demo.crash ../in/demo.ips >"$in/reports"
tar -C "$reports" -cf "$in/report.tar" demo.crash
many=$in/many.dSYM/Contents/Resources/DWARF # its names fill more than one answer of the system
mkdir -p "$many"
cp "$in/dsym" "$many/first"
for i in $(seq 100 249); do ln "$in/symbols/more/inline-arm64-d4-14.dwarf" "$many/$(printf 'long%0240d' "$i")"; done
mkdir -p "$in/app" "$w/seeds/app"
cp "$bin/demo" "$in/app/"
cp -r "$bin/demo.app.dSYM" "$in/app/demo.dSYM"
cp -r "$bin/demo.app.dSYM" "$w/seeds/app/"
printf '%s\n' "{\"id\":1,\"do\":\"frames\",\"uuid\":\"$uuid\",\"offsets\":[\"0xaec\",2768]}" '{"id":2,"do":"demangle","names":["_Z1fv"]}' \
    "{\"id\":3,\"do\":\"crash\",\"path\":\"../in/demo.ips\",\"want\":[\"text\",\"summary\"]}" \
    '{"id":4,"do":"build","path":"../in/dsym","as":"chunks"}' >"$in/requests"
{
    "$M" map build -o "$in/map" "$in/dsym" &&
        "$M" map export --format=bugly "$in/map" >"$in/table" &&
        "$M" map export --chunks=1000000 --format=tsv "$in/map" | sed -n '1s/.*	//p' >"$in/chunk" &&
        "$M" store add "$w/seeds/store/s" "$in/symbols" &&
        "$M" crash -q --group --no-cache -d "$in/dsym" --groups-out "$w/seeds/state/state" "$in/demo.ips" &&
        find "$w/seeds" -type f -exec touch -d 2026-01-01 {} +
} >"$work/out" 2>"$work/err"
check "inputs are made" "$work/err"

# name|seed|standard input|words
cat >"$w/table" <<'END'
atos|none||atos -o ../in/dsym -i 0x100000940 0x100000aec
atos of a binary|none||atos -o ../in/zoo 0x100000940 0x100003f00
atos, addresses from input|none|in/addresses|atos -o ../in/dsym --json
atos --symbols|none||atos --symbols ../in/symbols --uuid 4C4C44B5-5555-3144-A1BA-79CA685DEC58 --no-cache 0x100000940
atos --symbols, again|none||atos --symbols ../in/symbols --uuid 4C4C44B5-5555-3144-A1BA-79CA685DEC58 0x100000940
atos --symbols of a store|store||atos --symbols s --uuid 4C4C44B5-5555-3144-A1BA-79CA685DEC58 --no-cache 0x100000940
atos of a folder|none||atos -o ../in/symbols --uuid 4C4C44B5-5555-3144-A1BA-79CA685DEC58 0x100000940
atos of a bundle|none||atos -o ../in/symbols/demo.app.dSYM -i 0x100000940
atos, dSYM beside|none||atos -o ../in/app/demo -i 0x100000940
atos of a member|none||atos -o ../in/library.a/util.o 0x0
atos --owners|none||atos --owners ../in/rules -o ../in/dsym 0x100000940
info|none||info ../in/dsym ../in/fat
info --json|none||info --json ../in/symbols
info of a library|none||info ../in/library.a
symbols of a dSYM with many files|none||symbols ../in/many.dSYM
symbols|none||symbols ../in/dsym
symbols --json|none||symbols --json ../in/zoo
objc|none||objc ../in/zoo
objc --json|none||objc --json ../in/binary
owners|none||owners --between main main ../in/dsym
demangle|none||demangle _Z1fv $s4main3fooyyF _RNvC5crate3foo
demangle, text|none|in/words|demangle
crash|none||crash -q --no-cache -d ../in/dsym ../in/demo.ips
crash, symbols in a folder|none||crash -q -d ../in/symbols ../in/demo.crash
crash, symbols in a store|store||crash -q --no-cache -d s ../in/demo.crash
crash --files-from|none||crash -q --files-from ../in/reports --no-cache -d ../in/dsym
crash of an archive|none||crash -q --no-cache -d ../in/symbols ../in/report.tar
crash, default symbols|app||crash -q --no-cache ../in/demo.crash
crash --json|none||crash -q --json --no-cache -d ../in/dsym ../in/demo.crash ../in/demo-sample.txt
crash --to=text|none||crash -q --to=text --no-cache -d ../in/symbols ../in/demo.ips
crash --summary|none||crash -q --summary --no-cache -d ../in/dsym ../in/demo.crash
crash --missing|none||crash -q --missing=json --no-cache -d ../in/fat ../in/demo.ips
crash --redact|none||crash -q --redact-key=words --no-cache -d ../in/dsym ../in/demo.crash
crash -o FILE|none||crash -q --no-cache -d ../in/dsym -o out ../in/demo.crash
|||crash -q --no-cache -d ../in/fat -o out ../in/demo.crash
crash -o FOLDER|none||crash -q --force --no-cache -d ../in/dsym -o out/ ../in/demo.crash ../in/demo.ips ../in/demo-metrickit.json
|||crash -q --force --no-cache -d ../in/fat -o out/ ../in/demo.crash ../in/demo.ips ../in/demo-metrickit.json
crash --json-out|none||crash -q --no-cache -d ../in/dsym --json-out out ../in/demo.ips
|||crash -q --no-cache -d ../in/fat --json-out out ../in/demo.ips
crash, groups|state||crash -q --group --no-cache -d ../in/dsym --groups-in state --groups-out next ../in/demo.crash
map build|none||map build -o out ../in/dsym
map build --store|none||map build --store out --all-archs ../in/fat
map lookup|none||map lookup ../in/map -i 0x100000940
map info|none||map info ../in/map
map dump|none||map dump ../in/map
map verify|none||map verify ../in/map ../in/dsym
map export, breakpad|none||map export --format=breakpad -o out ../in/map
map export, chunks|none||map export --chunks=300 --format=resp -o out ../in/map
map import|none||map import -o out ../in/table
map chunk|none|in/chunk|map chunk --base64 0x100000940
store add|none||store add out ../in/symbols
store add, again|store||store add --force s ../in/dsym
store list|store||store list --json s
store missing|store||store missing s 4C4C44B5-5555-3144-A1BA-79CA685DEC58 ../in/demo.crash
store gc|store||store gc --older 1 --yes s
store verify|store||store verify s
worker|none|in/requests|worker -d ../in/symbols --no-cache --paths -j 1
END
if command -v python3 >/dev/null; then
    PYTHONDONTWRITEBYTECODE=1 python3 tests/cache/build.py tests/fixtures/bin/cache "$w/caches" ios14 >"$work/out" 2>&1
    check "a shared cache is built" "$work/out"
    mv "$w/caches/ios14/dyld_shared_cache_arm64e" "$in/cache"
    rm -r "$w/caches"
    cat >>"$w/table" <<'END'
info of a cache|none||info ../in/cache
cache extract|none||cache extract ../in/cache Zoo -o out
map of one in a cache|none||map build --no-progress --entry Zoo -o out ../in/cache
maps of a cache|none||map build --no-progress --store out --images *Zoo* ../in/cache
END
else
    skip "faults in shared caches: it needs python3"
fi

# ---- Faults ----

sed -i "s!^\([^|]*|[^|]*|\)in/!\1$in/!" "$w/table"


# Faults that once broke the rule, all of their kind.
named() { # WHAT ROWS KIND
    rm -rf "$w"/run.* "$w"/log.*
    SAMPLE=1 FAULTS_ONLY=$2 FAULTS_KIND=$3 "$w/faults" "$M" "$w/memory.so" "$w" "$w/table" /dev/null >"$work/log" 2>"$work/err"
    status=$?
    [ $status -ge 77 ] || { [ $status -eq 0 ] && ! grep -q '^0 faults planted' "$work/log"; }
    check "$1" "$work/log"
}
if [ -z "$FAULTS_ONLY$FAULTS_TABLE" ]; then
    named "what lacks something for want of memory is not put in place" '@(map export*|cache extract|crash -o F[IO]L*|crash --json-out)' memory
    named "no file in a folder has this UUID: not for want of memory" 'atos of a folder' memory
    named "a dSYM beside a program: not of another build for want of memory" 'atos, dSYM beside' memory
    named "... nor when it cannot be read" 'atos, dSYM beside' calls
    named "memory that ends a worker, or an answer of it, is reported" worker memory
    rm -rf "$w"/run.* "$w"/log.*
fi
[ "${SAMPLE:-1}" -eq 1 ] && sample=23 || sample=211
SAMPLE=${FAULTS_SAMPLE:-$sample} "$w/faults" ${FAULTS_TABLE:+--table} "$M" "$w/memory.so" "$w" "$w/table" tests/faults.known >"$work/log" 2>"$work/err"
status=$?
if [ $status -eq 77 ]; then
    skip "faults: the system lets no process answer for it (seccomp)"
elif [ $status -eq 78 ]; then
    skip "faults: this build takes no library before its own"
else
    cat "$work/err"
    [ $status -eq 0 ] || grep -a -v '^known: ' "$work/log"
    [ $status -ne 0 ] || [ -z "$FAULTS_TABLE" ] || grep -a '^|\|faults planted' "$work/log"
    add $status "$work/log" faults
fi
end
