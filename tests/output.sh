#!/bin/bash
# Output that is lost is reported: every command on a full disk, and into a pipe whose reader is gone. Files
# that a command writes are whole or not there, whatever ends it; no two inputs share one.
bin=tests/fixtures/bin
dsym=$bin/demo.app.dSYM
reports=tests/fixtures/reports
M=${MACHSYM:-build/machsym}
case $M in /*) ;; *) M=$PWD/$M ;; esac
. tests/checks

ok() { # NAME STATUS
    count "$2" || echo "output: $1 failed: $(head -c 300 "$work/err")"
}

$M map build -o "$work/demo.symmap" $dsym >"$work/built" 2>"$work/err" || cat "$work/err"
$M map export --format=bugly "$work/demo.symmap" >"$work/table" 2>"$work/err"
$M map export --chunks=1000000 --format=jsonl "$work/demo.symmap" 2>"$work/err" |
    sed -n '1s/.*"value":"\([^"]*\)".*/\1/p' >"$work/chunk"
printf '0x100000940 _Z1fv\n' >"$work/in"

# ---- Every command ----

# A name, what it reads, the command line.
commands="atos|in|atos -o $dsym 0x100000940
atos from input|in|atos -o $dsym
atos json|in|atos -o $dsym --json -i 0x100000940
info|in|info $dsym
symbols|in|symbols $dsym
symbols json|in|symbols --json $dsym
objc|in|objc $bin/demo
objc json|in|objc --json $bin/demo
demangle|in|demangle _Z1fv
demangle from input|in|demangle
owners|in|owners --objects $bin/map-arm64-d4-O0/program
owners of addresses|in|owners --between main main $bin/symbols-x86_64 0x1000003f0
map build|in|map build -o $work/new.symmap $dsym
map lookup|in|map lookup $work/demo.symmap 0x100000940
map info|in|map info $work/demo.symmap
map dump|in|map dump $work/demo.symmap
map verify|in|map verify $work/demo.symmap $dsym
map export bugly|in|map export --format=bugly $work/demo.symmap
map export breakpad|in|map export --format=breakpad $work/demo.symmap
map export chunks|in|map export --chunks=1000 --format=tsv $work/demo.symmap
map import|table|map import -o $work/imported.symmap $work/table
map chunk|chunk|map chunk --base64 0x100000940
crash|in|crash -q -d $dsym $reports/demo.crash
crash summary|in|crash --summary -d $dsym $reports/demo.crash
crash signature|in|crash --signature -d $dsym $reports/demo.crash
crash group|in|crash -q --group -d $dsym $reports/demo.crash
help|in|--help
help of a command|in|help atos
version|in|--version"

while IFS='|' read -r name input line; do
    # shellcheck disable=SC2086
    $M $line <"$work/$input" >"$work/out" 2>"$work/err"
    usual=$?
    [ $usual -eq 0 ] && [ -s "$work/out" ]
    ok "$name: runs and prints" $?
    if [ -w /dev/full ]; then
        # shellcheck disable=SC2086
        $M $line <"$work/$input" >/dev/full 2>"$work/err"
        [ $? -eq 1 ] && grep -q '^machsym: standard output: No space left on device$' "$work/err"
        ok "$name on a full disk" $?
    fi
    # The reader is gone before the first byte; the signal is ignored, as under many services.
    # shellcheck disable=SC2086
    (trap '' PIPE; sleep 0.1; $M $line <"$work/$input" 2>"$work/err"; echo $? >"$work/status") | :
    [ "$(cat "$work/status")" = $usual ] && ! grep -q 'standard output' "$work/err"
    ok "$name into a closed pipe, the signal ignored" $?
done <<EOF
$commands
EOF
($M symbols $dsym 2>"$work/err"; echo $? >"$work/status") | head -c 1 >/dev/null
[ ! -s "$work/err" ]
ok "into a closed pipe: quiet" $?
$M atos -o $dsym 0x100000940 >&- 2>"$work/err"
[ $? -eq 1 ] && grep -q 'standard output' "$work/err"
ok "standard output is closed" $?

# ---- Memory ----

# Whatever memory there is: all of the answer, or a message and a status that is not 0.
starts=0
(ulimit -v 20000; $M --version) >"$work/out" 2>&1 || {
    starts=1
    skip "little memory: this build does not start with it"
}
[ $starts -ne 0 ] || for line in "atos -o $dsym -i 0x100000940" "symbols $dsym" "info $dsym" \
    "crash -q --no-cache -d $dsym $reports/demo.crash" \
    "map build -o $work/little.symmap $dsym" "map lookup $work/demo.symmap -i 0x100000940"; do
    # shellcheck disable=SC2086
    $M $line >"$work/want" 2>"$work/err"
    silent=
    for ((limit = 6000; limit < 20000; limit += 250)); do
        # shellcheck disable=SC2086
        (ulimit -v $limit; $M $line >"$work/out" 2>"$work/err") 2>"$work/shell"
        status=$?
        [ $status -eq 0 ] && cmp -s "$work/want" "$work/out" && continue
        [ $status -ne 0 ] && [ $status -lt 128 ] && [ -s "$work/err" ] && continue
        silent="$silent $limit:$status"
    done
    [ -z "$silent" ]
    ok "$line with little memory:$silent" $?
done

# ---- Much ----

# Names of 65,000 characters come out whole, and a line each. Maps hold no longer ones, and say so.
long_rows() { # LENGTH
    awk -v wanted="$1" 'BEGIN {
        name = "n"
        while (length(name) < wanted)
            name = name name
        name = substr(name, 1, wanted)
        for (i = 0; i < 8; i++)
            printf "%x\t%x\t%s%d\t%s.c:%d\n", 4096 + 16 * i, 4111 + 16 * i, name, i, name, i + 1
    }'
}
long_rows 100000 >"$work/long"
$M map import -o "$work/long.symmap" "$work/long" >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && [ ! -e "$work/long.symmap" ] && grep -q 'long:1: a map holds names and paths of 64 KB at most' "$work/err"
ok "names of 100,000 characters: refused" $?
long_rows 65000 >"$work/long"
$M map import -o "$work/long.symmap" "$work/long" >"$work/out" 2>"$work/err" &&
    $M map export --format=bugly "$work/long.symmap" 2>"$work/err" | cmp -s - "$work/long"
ok "names of 65,000 characters: import and export" $?
for line in "map dump" "map export --format=breakpad" "atos -i -o" "atos --json -o"; do
    # shellcheck disable=SC2086
    printf '0x1000\n0x1071\n' | $M $line "$work/long.symmap" >"$work/out" 2>"$work/err" &&
        [ "$(awk 'length > 65000' "$work/out" | wc -l)" -ge 2 ]
    ok "names of 65,000 characters: $line" $?
done
for name in "_ZN$(printf '1a%.0s' {1..50000})Ev" "\$s4main$(printf '1aV%.0s' {1..33000})" "_R$(printf 'Nv%.0s' {1..50000})C1a"; do
    printf '%s\n' "$name" | timeout 20 $M demangle >"$work/out" 2>"$work/err" && [ "$(wc -l <"$work/out")" -eq 1 ]
    ok "a mangled name of ${#name} characters: ${name:0:8}" $?
done

# Memory does not grow with the input, and every line has its answer.
yes '0x100000940 _Z1fv' | head -n 300000 >"$work/many"
$M demangle <"$work/many" >"$work/out" 2>"$work/err" && [ "$(grep -c '^0x100000940 f()$' "$work/out")" -eq 300000 ]
ok "300,000 lines: demangle" $?
[ $starts -ne 0 ] || {
    (ulimit -v 24000; $M demangle <"$work/many" 2>"$work/err") | cmp -s - "$work/out"
    ok "300,000 lines in little memory: demangle" $?
}
for line in "atos -o $dsym" "map lookup $work/demo.symmap"; do
    # shellcheck disable=SC2086
    $M $line <"$work/many" >"$work/out" 2>"$work/err" && [ "$(wc -l <"$work/out")" -eq 600000 ] &&
        [ "$(sort -u "$work/out" | wc -l)" -eq 2 ]
    ok "300,000 lines: $line" $?
done

# ---- Files ----

crash() { # ARGUMENT...
    $M crash -q -d $dsym "$@" >"$work/out" 2>"$work/err"
}

mkdir "$work/d1" "$work/d2" "$work/o"
for name in d1/a.crash d2/a.crash d1/a-2.crash d2/A.crash; do cp $reports/demo.crash "$work/$name"; done
cp $reports/demo.ips "$work/d1/a.ips"
crash -o "$work/o" "$work/d1/a.crash" "$work/d2/a.crash" "$work/d1/a-2.crash" "$work/d2/A.crash"
[ $? -eq 0 ] && [ "$(ls "$work/o" | wc -l)" -eq 4 ] &&
    [ "$(ls "$work/o" | tr A-Z a-z | sort -u | wc -l)" -eq 4 ]
ok "reports of one name, also in other letters, get files of their own" $?
crash -o "$work/o2" --to=text "$work/d1/a.ips" "$work/d1/a.crash"
[ $? -eq 0 ] && [ -s "$work/o2/a.crash" ] && [ -s "$work/o2/a-2.crash" ]
ok "reports that get one name by their format get files of their own" $?

mkdir "$work/o3"
echo mine >"$work/o3/a.crash"
crash -o "$work/o3" "$work/d1/a.crash" "$work/d1/a.ips"
[ $? -eq 1 ] && grep -q 'a.crash: is there already; --force replaces it' "$work/err" &&
    [ "$(cat "$work/o3/a.crash")" = mine ] && [ -s "$work/o3/a.ips" ]
ok "a file that is there already stays, the others are written" $?
ln -s "$work/nowhere" "$work/o3/a-2.crash"
crash -o "$work/o3" --force "$work/d1/a.crash" "$work/d2/a.crash"
[ $? -eq 0 ] && grep -q drop "$work/o3/a.crash" && [ ! -L "$work/o3/a-2.crash" ] && [ ! -e "$work/nowhere" ]
ok "--force replaces it, and a link itself" $?
echo mine >"$work/named"
crash -o "$work/named" "$work/d1/a.crash"
[ $? -eq 0 ] && grep -q drop "$work/named"
ok "a named file is replaced" $?
crash -o /dev/null "$work/d1/a.crash"
[ $? -eq 0 ] && [ -c /dev/null ]
ok "a device is written to, not replaced" $?

# A name that somebody else could have put a link at is not followed.
ln -s "$work/elsewhere" "$work/named.part"
crash -o "$work/named" "$work/d1/a.crash"
[ $? -eq 0 ] && [ ! -e "$work/elsewhere" ]
ok "no link beside the output is written through" $?

pids=
for i in 1 2 3 4 5 6; do
    $M crash -q -d $dsym -o "$work/shared" "$work/d1/a.crash" 2>"$work/err.$i" &
    pids="$pids $!"
done
good=0
for pid in $pids; do wait "$pid" && good=$((good + 1)); done
[ $good -eq 6 ] && cmp -s "$work/shared" "$work/named"
ok "six at once into one file" $?

# "-" is standard output, never a file of that name.
dash() { # NAME FILE COMMAND...: prints what FILE holds, and makes no file
    name=$1
    same=$2
    shift 2
    "$@" >"$work/out" 2>"$work/err" && cmp -s "$work/out" "$same" && [ ! -e ./- ]
    ok "$name -o -" $?
}
$M crash -q --no-cache -d $dsym "$work/d1/a.crash" >"$work/plain" 2>"$work/err"
$M map export --format=bugly "$work/demo.symmap" >"$work/table" 2>"$work/err"
$M map import --format=bugly -arch arm64 -o "$work/imported.symmap" "$work/table" >"$work/out" 2>"$work/err"
dash crash "$work/plain" $M crash -q --no-cache -d $dsym -o - "$work/d1/a.crash"
dash "map build" "$work/demo.symmap" $M map build -o - $dsym
dash "map export" "$work/table" $M map export --format=bugly -o - "$work/demo.symmap"
dash "map import" "$work/imported.symmap" $M map import --format=bugly -arch arm64 -o - "$work/table"
$M crash -q -o - --summary -d $dsym "$work/d1/a.crash" >"$work/out" 2>"$work/err"
[ $? -eq 2 ] && [ ! -s "$work/out" ]
ok "two answers for standard output are refused" $?

# Killed at any time: no half file, and no temporary file after a signal that can be caught.
crash -o "$work/whole" "$work/d1/a.crash"
mkdir "$work/k"
for i in 1 2 3 4 5 6 7 8 9; do
    timeout -s TERM 0.00$i "$M" map build -o "$work/k/$i.symmap" $dsym >"$work/out" 2>&1
done
halves=0
for file in "$work"/k/.m* "$work"/k/*; do
    [ ! -e "$file" ] || cmp -s "$file" "$work/demo.symmap" || halves=$((halves + 1))
done
[ $halves -eq 0 ]
ok "killed builds leave nothing that is not whole" $?
if [ -w /dev/full ]; then
    large=$bin/inline-arm64-d4-14.dwarf # its map has more than 1 KB
    (ulimit -f 1; trap '' XFSZ; $M map build -o "$work/limited.symmap" $large >"$work/out" 2>"$work/err")
    [ $? -eq 1 ] && [ ! -e "$work/limited.symmap" ] && [ -z "$(find "$work" -name '.machsym-*')" ]
    ok "a file too large for the limit: said, and nothing is left" $?
    (ulimit -f 1; $M map build -o "$work/limited.symmap" $large >"$work/out" 2>"$work/err")
    [ $? -eq 1 ] && grep -q 'File too large' "$work/err" && [ -z "$(find "$work" -name '.machsym-*')" ]
    ok "the same, the signal not ignored before" $?
fi

# ---- No output goes where something is read, or where another output goes ----

mkdir -p "$work/own/folder"
cp "$work/d1/a.crash" "$work/own/a.crash"
cp -r $dsym "$work/own/demo.app.dSYM"
cp "$work/own/demo.app.dSYM/Contents/Resources/DWARF/demo" "$work/own/folder/demo.dwarf"
ln "$work/own/a.crash" "$work/own/hard.crash"
ln -s a.crash "$work/own/soft.crash"
ln -s ../own "$work/own/way"
echo 'all = Demo' >"$work/own/rules"
(cd "$work/own" && find . -type f -exec sha256sum {} + | sort) >"$work/own.before"
refuses() # TEXT OPTION...: nothing that is there is touched
{
    text=$1
    shift
    (cd "$work/own" && $M crash -q --no-cache "$@") >"$work/out" 2>"$work/err"
    [ $? -ne 0 ] && grep -qF "$text" "$work/err" && (cd "$work/own" && find . -type f -exec sha256sum {} + | sort) | cmp -s - "$work/own.before"
    ok "refused: crash $*" $?
}
input="is the input, which would be gone: name another output"
for name in a.crash ./a.crash way/a.crash hard.crash soft.crash "$work/own/a.crash"; do
    refuses "$input" -o "$name" a.crash
    refuses "$input" --json-out "$name" a.crash
    refuses "$input" --group --groups-out "$name" a.crash
done
bundle=demo.app.dSYM/Contents/Resources/DWARF/demo
for option in -o --json-out; do
    refuses "$input" $option folder/demo.dwarf -d folder a.crash
    refuses "$input" $option folder/demo.dwarf -d folder/demo.dwarf a.crash
    refuses "lies in a bundle of symbols" $option $bundle -d demo.app.dSYM a.crash
    refuses "lies in a bundle of symbols" $option $bundle a.crash
    refuses "lies in a bundle of symbols" $option way/demo.app.dSYM/new -d . a.crash
    refuses "$input" $option rules --owners rules a.crash
    refuses "$input" $option rules --files-from rules a.crash
done
refuses "$input" --group --groups-out rules --owners rules a.crash
refuses "name one file twice" -o out --json-out ./out a.crash
refuses "name one file twice" -o out --json-out OUT a.crash
refuses "name one file twice" -o out --json-out way/out a.crash
refuses "name one file twice" --json-out out --group --groups-out "$work/own/out" a.crash
refuses "is the file of another output, too" -o folder/ --json-out folder/A.CRASH a.crash
refuses "$input" --force -o . a.crash soft.crash
touch "$work/own/state"
(cd "$work/own" && find . -type f -exec sha256sum {} + | sort) >"$work/own.before"
refuses "" --groups-in state --json-out state a.crash
refuses "" --groups-in state -o ./state --group a.crash
rm "$work/own/state"
(cd "$work/own" && $M crash -q --no-cache -d . -o new.crash --json-out new.json a.crash) && [ -s "$work/own/new.crash" ] && [ -s "$work/own/new.json" ]
ok "a folder of symbols takes outputs all the same" $?
(cd "$work/own" && $M crash -q --no-cache -d . -o new.crash --json-out new.json a.crash)
ok "and a second time" $?
(cd "$work/own" && $M crash -q --no-cache -d . -o /dev/null --json-out /dev/null a.crash)
ok "a device takes two outputs" $?

# ---- Who may read what replaces a file ----

mode_of() { stat -c %a "$1" 2>/dev/null || stat -f %Lp "$1"; }
for mode in 600 640 400 664 666; do
    echo old >"$work/mode"
    chmod $mode "$work/mode"
    crash -o "$work/mode" "$work/d1/a.crash"
    [ "$(mode_of "$work/mode")" = $mode ] && grep -q drop "$work/mode"
    ok "a file that is replaced keeps its mode $mode" $?
    rm -f "$work/mode"
done
mkdir -p "$work/o5"
echo old >"$work/o5/a.crash"
chmod 600 "$work/o5/a.crash"
crash -o "$work/o5" --force "$work/d1/a.crash"
[ "$(mode_of "$work/o5/a.crash")" = 600 ]
ok "in a folder, too" $?
echo mine >"$work/secret"
chmod 600 "$work/secret"
ln -s secret "$work/link"
(umask 022 && $M crash -q -d $dsym -o "$work/link" "$work/d1/a.crash")
[ ! -L "$work/link" ] && [ "$(mode_of "$work/link")" = 644 ] && [ "$(cat "$work/secret")" = mine ]
ok "a link is replaced itself, as if nothing were there" $?
if [ "$(id -u)" -eq 0 ]; then
    echo old >"$work/theirs"
    chown 65534:65533 "$work/theirs"
    chmod 640 "$work/theirs"
    crash -o "$work/theirs" "$work/d1/a.crash"
    [ "$(stat -c '%u:%g %a' "$work/theirs" 2>/dev/null || stat -f '%u:%g %Lp' "$work/theirs")" = "65534:65533 640" ]
    ok "root leaves a file to its owner" $?
fi
if command -v setfacl >/dev/null && echo old >"$work/list" && chmod 600 "$work/list" && setfacl -m u:65534:r "$work/list" 2>/dev/null; then
    getfacl -cp "$work/list" >"$work/list.before"
    crash -o "$work/list" "$work/d1/a.crash"
    getfacl -cp "$work/list" | cmp -s - "$work/list.before"
    ok "an access list stays" $?
else
    skip "access lists: setfacl is missing, or the file system has none"
fi

# ---- Where the cache lies ----

for home in "" relative; do
    mkdir -p "$work/cwd"
    (cd "$work/cwd" && env -u XDG_CACHE_HOME HOME="$home" $M crash -q -d "$work/own/folder" "$work/own/a.crash") >/dev/null
    (cd "$work/cwd" && env XDG_CACHE_HOME="$home" HOME="$home" $M crash -q -d "$work/own/folder" "$work/own/a.crash") >/dev/null
    [ -z "$(ls -A "$work/cwd")" ] && [ ! -e /.cache/machsym ]
    ok "HOME and XDG_CACHE_HOME \"$home\" are no cache folder" $?
done
env XDG_CACHE_HOME=relative HOME="$work/cwd" $M crash -q -d "$work/own/folder" "$work/own/a.crash" >/dev/null
[ -n "$(ls "$work/cwd/.cache/machsym")" ] && [ ! -e relative ]
ok "a relative XDG_CACHE_HOME counts as none" $?

# ---- Colours ----

# For terminals, unless NO_COLOR is set and not empty, and where --color asks for them (no-color.org).
coloured() { grep -c "$(printf '\033')\[" "$work/out"; }
summary() { "$@" "$M" crash -q --no-cache --summary -d $dsym "$reports/demo.crash" >"$work/out" 2>"$work/err"; }
for case in "auto 0" "always 1" "never 0"; do
    "$M" crash -q --no-cache --summary --color="${case% *}" -d $dsym "$reports/demo.crash" >"$work/out" 2>"$work/err"
    status=$?
    [ $status -eq 0 ] && [ $(($(coloured) > 0)) -eq "${case#* }" ]
    ok "--color=${case% *} to a pipe" $?
done
summary env
[ "$(coloured)" -eq 0 ]
ok "a pipe gets no colours by itself" $?
if need "colours on a terminal" python3; then
    cat >"$work/terminal.py" <<'END'
import os, pty, sys
out = b""
def read(fd):
    global out
    data = os.read(fd, 65536)
    out += data
    return data
status = pty.spawn(sys.argv[2:], read)
open(sys.argv[1], "wb").write(out)
sys.exit(os.waitstatus_to_exitcode(status))
END
    for case in "1 env -u NO_COLOR" "1 env NO_COLOR=" "0 env NO_COLOR=1"; do
        # shellcheck disable=SC2086
        python3 "$work/terminal.py" "$work/out" ${case#* } "$M" crash -q --no-cache --summary -d $dsym "$reports/demo.crash" </dev/null >"$work/err" 2>&1
        status=$?
        [ $status -eq 0 ] && grep -q 'player.mm:19' "$work/out" && [ $(($(coloured) > 0)) -eq "${case%% *}" ]
        ok "a terminal: ${case#* }" $?
    done
fi
"$M" crash --color=red "$reports/demo.crash" >"$work/out" 2>"$work/err"
[ $? -eq 2 ] && grep -q -- '--color is one of auto, always, never, not red' "$work/err"
ok "another word for --color" $?

# ---- The memory that a long log takes ----

# docs/reports.md states it: addresses for five times its length, and 64 MB beside the symbols.
case "$CFLAGS $LDFLAGS" in
*-fsanitize* | *coverage*) skip "little memory: a sanitizer takes more" ;;
*)
    awk 'BEGIN { for (i = 0; i < 400000; i++) printf "2026-03-14 08:26:53.%06d demo[412:9] [net] request %d took %d ms: connection reused\n", i, i, i % 991 }' >"$work/long.log"
    cat "$reports/demo.crash" >>"$work/long.log"
    bound=$(($(wc -c <"$work/long.log") * 5 / 1024 + 65536))
    (ulimit -v $bound && $M crash -q --no-cache -d $dsym -o "$work/long.out" "$work/long.log" 2>"$work/err") && grep -q 'player.mm:19' "$work/long.out"
    ok "a long log with one report within $bound KB" $?
    ;;
esac

# ---- A path that is too long ----

# Longer than any system takes: said, and nothing is written, in place of a name that was cut.
folder=$(printf 'd%.0s' $(seq 200))
long=
for _ in $(seq 21); do long=$long$folder/; done
(cd "$work" && mkdir longest && cd longest && for _ in 1 2 3; do mkdir "$folder" && cd "$folder" || exit; done)
(cd "$work/longest" && $M map build -o "${long}x.symmap" "$OLDPWD/$dsym") >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && grep -q 'too long' "$work/err" && [ -z "$(find "$work/longest" -type f)" ]
ok "an output path of 4200 bytes is refused" $?

end
