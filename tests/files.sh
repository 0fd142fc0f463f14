#!/bin/bash
# Files that are none, or that change: directories, FIFOs, devices, unreadable, empty, damaged and huge ones get a clear
# message and status 1, never a crash or a wait; a file that is cut while it is read costs nothing with --copy.
bin=tests/fixtures/bin
machsym=${MACHSYM:-build/machsym}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
passed=0
failed=0

ok() { # NAME STATUS
    if [ "$2" -eq 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "files: $1 failed: $(head -c 400 "$tmp/err")"
    fi
}

# Runs a command, which must end soon with a status and say a text.
says() { # NAME STATUS TEXT COMMAND...
    local name=$1 want=$2 text=$3
    shift 3
    timeout 60 "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
    local status=$?
    [ $status -eq "$want" ]
    ok "$name: status $status, not $want" $?
    grep -qF -- "$text" "$tmp/err"
    ok "$name: does not say \"$text\"" $?
}

# Every command that opens an image.
all_say() { # NAME FILE TEXT
    local name=$1 file=$2 text=$3
    says "$name, atos" 1 "$text" $machsym atos -o "$file" 0x1000
    says "$name, atos --copy" 1 "$text" $machsym atos --copy -o "$file" 0x1000
    says "$name, info" 1 "$text" $machsym info "$file"
    says "$name, objc" 1 "$text" $machsym objc "$file"
    says "$name, symbols" 1 "$text" $machsym symbols "$file"
    says "$name, owners" 1 "$text" $machsym owners "$file"
    says "$name, map build" 1 "$text" $machsym map build -o "$tmp/x.symmap" "$file"
}

mkdir "$tmp/folder"
mkfifo "$tmp/fifo"
: >"$tmp/empty"
printf 'no Mach-O file at all' >"$tmp/text"
head -c 3 $bin/demo >"$tmp/three"
head -c 20 $bin/demo >"$tmp/head"
# nothing but a hole, and a Mach-O file before one
huge=4400000000
truncate -s $huge "$tmp/hole" 2>/dev/null && cp $bin/inline-arm64-d4-14.dwarf "$tmp/huge" &&
    truncate -s $huge "$tmp/huge" && sparse=yes

all_say folder "$tmp/folder" "folder without Contents/Resources/DWARF"
all_say FIFO "$tmp/fifo" "a FIFO or a device, not a regular file"
all_say device /dev/null "a FIFO or a device, not a regular file"
all_say missing "$tmp/missing" "No such file"
all_say empty "$tmp/empty" "the file is empty"
all_say text "$tmp/text" "not a Mach-O file"
all_say three "$tmp/three" "not a Mach-O file"
all_say head "$tmp/head" "the file ends inside its header"
if [ "$(id -u)" -ne 0 ] || command -v setpriv >/dev/null; then
    cp $bin/demo "$tmp/secret"
    chmod 0 "$tmp/secret"
    chmod 755 "$tmp"
    as=
    [ "$(id -u)" -ne 0 ] || as="setpriv --reuid 65534 --clear-groups --inh-caps=-all"
    program=$machsym
    if [ -n "$as" ] && [ -z "$RUN" ]; then # the tool may lie in a folder that others cannot enter
        cp "$machsym" "$tmp/machsym"
        program=$tmp/machsym
    fi
    says unreadable 1 "Permission denied" $as $program info "$tmp/secret"
fi
if [ "$sparse" = yes ]; then
    says "4 GB of nothing" 1 "not a Mach-O file" $machsym info "$tmp/hole"
    $machsym symbols $bin/inline-arm64-d4-14.dwarf >"$tmp/want" 2>/dev/null
    $machsym symbols "$tmp/huge" >"$tmp/out" 2>"$tmp/err"
    ok "a file with 4 GB of nothing behind it" $?
    cmp "$tmp/want" "$tmp/out"
    ok "a file with 4 GB of nothing behind it: the same answers" $?
fi

# Reports, maps and lists of rules.
says "map: FIFO" 1 "not a regular file" $machsym map info "$tmp/fifo"
for file in folder missing; do
    says "report: $file" 1 "$tmp/$file" $machsym crash -q "$tmp/$file"
    says "map: $file" 1 "$tmp/$file" $machsym map info "$tmp/$file"
    says "import: $file" 1 "$tmp/$file" $machsym map import --format=bugly -o "$tmp/x.symmap" "$tmp/$file"
    says "rules: $file" 1 "$tmp/$file" $machsym owners --rules "$tmp/$file" $bin/demo
done
says "an empty report" 1 "$tmp/empty" $machsym crash -q -o "$tmp/x" "$tmp/empty"

# A dSYM of its own UUID beside a binary: said, and not used. A UUID that a file has not.
says "another UUID" 1 "UUID" $machsym atos -o $bin/demo.app.dSYM --uuid 00000000-0000-0000-0000-000000000001 0x1000
says "a pair of two UUIDs" 1 "do not belong together" $machsym symbols --pair $bin/demo.app.dSYM \
    $bin/inline-arm64-d4-14.dwarf

# Frames without a file, and object files without a path: their base names are empty.
$machsym map build --no-progress -o "$tmp/demo.symmap" $bin/demo.app.dSYM >"$tmp/out" 2>"$tmp/err"
ok "a map of the demo" $?
$machsym map verify "$tmp/demo.symmap" $bin/demo >"$tmp/out" 2>"$tmp/err"
[ $? -eq 1 ]
ok "a map of more than the file knows" $?
cp $bin/map-arm64-d4-O0/program "$tmp/program"
grep -abo '/[a-z0-9/.-]*\.o' "$tmp/program" | cut -d: -f1 | while read -r at; do
    printf '\0' | dd of="$tmp/program" bs=1 seek="$at" conv=notrunc status=none
done
$machsym owners --objects "$tmp/program" >"$tmp/out" 2>"$tmp/err"
ok "object files without a path" $?

# Cut while it is used: the tool has read the first answer when the file is cut, and is asked again.
cp $bin/cross-arm64-d5-22.dwarf "$tmp/cut"
head -c 200000 /dev/zero >>"$tmp/cut" # larger than what is read at once anyway
mkfifo "$tmp/questions"
$machsym atos --copy -o "$tmp/cut" <"$tmp/questions" >"$tmp/answers" 2>"$tmp/err" &
asked=$!
addresses=$($machsym symbols "$tmp/cut" | awk '{ print $1 }' | head -20)
{
    echo "${addresses%%$'\n'*}"
    for _ in $(seq 100); do
        [ -s "$tmp/answers" ] && break
        sleep 0.1
    done
    : >"$tmp/cut"
    echo "$addresses"
} >"$tmp/questions"
wait $asked
ok "a file cut while it is used: the tool ends well" $?
cp $bin/cross-arm64-d5-22.dwarf "$tmp/cut"
# shellcheck disable=SC2086
$machsym atos -o "$tmp/cut" ${addresses%%$'\n'*} $addresses >"$tmp/want"
cmp "$tmp/want" "$tmp/answers"
ok "a file cut while it is used: all answers" $?

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
