#!/bin/bash
# Files that are no regular files, or that change: directories, FIFOs, devices, unreadable, empty, damaged and huge ones get a clear
# message and status 1, never a crash or a wait; a file that is cut while it is read costs nothing with --copy.
bin=tests/fixtures/bin
machsym=${MACHSYM:-build/machsym}
. tests/checks

ok() { # NAME STATUS
    count "$2" || echo "files: $1 failed: $(head -c 400 "$work/err")"
}

# Runs a command, which must end soon with a status and say a text.
says() { # NAME STATUS TEXT COMMAND...
    local name=$1 want=$2 text=$3
    shift 3
    timeout 60 "$@" >"$work/out" 2>"$work/err" </dev/null
    local status=$?
    [ $status -eq "$want" ]
    ok "$name: status $status, not $want" $?
    grep -qF -- "$text" "$work/err"
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
    says "$name, map build" 1 "$text" $machsym map build -o "$work/x.symmap" "$file"
}

mkdir "$work/folder"
mkfifo "$work/fifo"
: >"$work/empty"
printf 'no Mach-O file at all' >"$work/text"
head -c 3 $bin/demo >"$work/three"
head -c 20 $bin/demo >"$work/head"
# nothing but a hole, and a Mach-O file before one
huge=4400000000
truncate -s $huge "$work/hole" 2>/dev/null && cp $bin/inline-arm64-d4-14.dwarf "$work/huge" &&
    truncate -s $huge "$work/huge" && sparse=yes

all_say folder "$work/folder" "folder without Contents/Resources/DWARF"
all_say FIFO "$work/fifo" "a FIFO or a device, not a regular file"
all_say device /dev/null "a FIFO or a device, not a regular file"
all_say missing "$work/missing" "No such file"
all_say empty "$work/empty" "the file is empty"
all_say text "$work/text" "not a Mach-O file"
all_say three "$work/three" "not a Mach-O file"
all_say head "$work/head" "the file ends inside its header"
if need_nobody "a file that may not be read"; then
    cp $bin/demo "$work/secret"
    chmod 0 "$work/secret"
    cp "$machsym" "$work/machsym"
    says unreadable 1 "Permission denied" $nobody "$work/machsym" info "$work/secret"
fi
if [ "$sparse" = yes ]; then
    says "4 GB of nothing" 1 "not a Mach-O file" $machsym info "$work/hole"
    $machsym symbols $bin/inline-arm64-d4-14.dwarf >"$work/want" 2>/dev/null
    $machsym symbols "$work/huge" >"$work/out" 2>"$work/err"
    ok "a file with 4 GB of nothing after it" $?
    cmp "$work/want" "$work/out"
    ok "a file with 4 GB of nothing after it: the same answers" $?
fi

# Reports, maps and lists of rules.
says "map: FIFO" 1 "not a regular file" $machsym map info "$work/fifo"
for file in folder missing; do
    says "report: $file" 1 "$work/$file" $machsym crash -q "$work/$file"
    says "map: $file" 1 "$work/$file" $machsym map info "$work/$file"
    says "import: $file" 1 "$work/$file" $machsym map import --format=bugly -o "$work/x.symmap" "$work/$file"
    says "rules: $file" 1 "$work/$file" $machsym owners --rules "$work/$file" $bin/demo
done
says "an empty report" 1 "$work/empty" $machsym crash -q -o "$work/x" "$work/empty"

# A byte order mark, which editors put ahead, costs no first line.
printf '\xef\xbb\xbf' >"$work/mark"
marked() { # NAME FILE COMMAND...: the command, with @ for the file, answers of the file with a mark as without it
    local name=$1 file=$2
    shift 2
    "${@//@/$file}" >"$work/want" 2>"$work/err" </dev/null
    ok "$name without a mark" $?
    cat "$work/mark" "$file" >"$file.marked"
    "${@//@/$file.marked}" >"$work/out" 2>"$work/err" </dev/null
    cmp "$work/want" "$work/out"
    ok "$name with a byte order mark" $?
}
crash=tests/fixtures/reports/demo.crash
demo="-d $bin/demo.app.dSYM"
printf '0x100000aec\n0x100000a7c\n' >"$work/addresses"
marked "atos -f" "$work/addresses" $machsym atos -o $bin/demo.app.dSYM -f @
{ for part in '\xef' '\xbb' '\xbf0x10'; do printf "$part" && sleep 0.05; done && echo 0000aec; } |
    $machsym atos -o $bin/demo.app.dSYM >"$work/out"
$machsym atos -o $bin/demo.app.dSYM 0x100000aec | cmp - "$work/out"
ok "a byte order mark in pieces" $?
echo $crash >"$work/list"
marked "--files-from" "$work/list" $machsym crash -q $demo --files-from @
printf '%s\n' main '__main*' >"$work/machinery"
marked "--machinery" "$work/machinery" $machsym crash -q --signature --machinery @ $demo $crash
echo 'prefix main = Main' >"$work/rules"
marked "rules" "$work/rules" $machsym owners --rules @ $bin/demo 0x100000940
$machsym map build --no-progress -o "$work/x.symmap" $bin/demo.app.dSYM 2>"$work/err"
$machsym map export --format=bugly -o "$work/table" "$work/x.symmap" 2>"$work/err"
marked "map import" "$work/table" $machsym map import --format=bugly --name=demo -o - @
echo '{"/fixtures/demo/queue.hpp":{"Game.cs":{"6":600}}}' >"$work/lines"
marked "--line-map" "$work/lines" $machsym crash -q $demo --line-map @ $crash
says "addresses in a folder" 1 "$work/folder: the addresses cannot be read" $machsym atos -o $bin/demo -f "$work/folder"

# A dSYM of its own UUID beside a binary: said, and not used. A UUID that a file has not.
says "another UUID" 1 "UUID" $machsym atos -o $bin/demo.app.dSYM --uuid 00000000-0000-0000-0000-000000000001 0x1000
says "a pair of two UUIDs" 1 "do not belong together" $machsym symbols --pair $bin/demo.app.dSYM \
    $bin/inline-arm64-d4-14.dwarf

# Frames without a file, and object files without a path: their base names are empty.
$machsym map build --no-progress -o "$work/demo.symmap" $bin/demo.app.dSYM >"$work/out" 2>"$work/err"
ok "a map of the demo" $?
$machsym map verify "$work/demo.symmap" $bin/demo >"$work/out" 2>"$work/err"
[ $? -eq 1 ]
ok "a map of more than the file knows" $?
cp $bin/map-arm64-d4-O0/program "$work/program"
grep -abo '/[a-z0-9/.-]*\.o' "$work/program" | cut -d: -f1 | while read -r at; do
    printf '\0' | dd of="$work/program" bs=1 seek="$at" conv=notrunc status=none
done
$machsym owners --objects "$work/program" >"$work/out" 2>"$work/err"
ok "object files without a path" $?

# Cut while it is used: the tool has read the first answer when the file is cut, and is asked again.
cp $bin/cross-arm64-d5-22.dwarf "$work/cut"
head -c 200000 /dev/zero >>"$work/cut" # larger than what is read at once anyway
mkfifo "$work/questions"
$machsym atos --copy -o "$work/cut" <"$work/questions" >"$work/answers" 2>"$work/err" &
asked=$!
addresses=$($machsym symbols "$work/cut" | awk '{ print $1 }' | head -20)
{
    echo "${addresses%%$'\n'*}"
    for _ in $(seq 100); do
        [ -s "$work/answers" ] && break
        sleep 0.1
    done
    : >"$work/cut"
    echo "$addresses"
} >"$work/questions"
wait $asked
ok "a file cut while it is used: the tool ends well" $?
cp $bin/cross-arm64-d5-22.dwarf "$work/cut"
# shellcheck disable=SC2086
$machsym atos -o "$work/cut" ${addresses%%$'\n'*} $addresses >"$work/want"
cmp "$work/want" "$work/answers"
ok "a file cut while it is used: all answers" $?

end
