#!/bin/bash
# Wrong uses of every command, as a new user makes them: each ends with the status that machsym.1 promises (1 failed, 2 the
# command line), and with a message that says what is wrong, where, and what to do next. The truth is the table.
machsym=${MACHSYM:-build/machsym}
. tests/checks
case $machsym in /*) top_machsym=$machsym ;; *) top_machsym=$PWD/$machsym ;; esac
bin=tests/fixtures/bin
export XDG_CACHE_HOME="$work/cache"
cp -R $bin/demo.app.dSYM "$work/App.dSYM"
dwarf=$work/App.dSYM/Contents/Resources/DWARF/demo
cp $bin/demo tests/fixtures/reports/demo.crash "$work/"
$machsym map build --no-progress -o "$work/demo.symmap" "$work/App.dSYM" >"$work/out" 2>&1
check "a map to be wrong with" "$work/out"
mkdir "$work/folder" "$work/kept"
: >"$work/empty"
echo "some text" >"$work/text"
printf '\177ELF\002\001\001\000 and more\n' >"$work/elf"
printf 'MZ\220\000 and more\n' >"$work/exe"
# A dSYM whose load commands are cut off, so that it tells no UUID; a collection and a shared cache of which the head is left.
head -c 100 "$dwarf" >"$work/cut"
head -c 300 $bin/collection-arm64 >"$work/cut.kc"
mkdir "$work/kc"
cp "$work/cut.kc" "$work/kc/"

# COMMAND LINE|STATUS|what standard error has, an extended regular expression. In both, @ is the folder of work.
while IFS='|' read -r line status wanted; do
    case $line in '' | '#'*) continue ;; esac
    (
        cd "$work" || exit 9
        # shellcheck disable=SC2086
        exec "$top_machsym" ${line//@/$work}
    ) >"$work/out" 2>"$work/err" </dev/null
    got=$?
    [ $got -eq "$status" ] && grep -qE -e "${wanted//@/$work}" "$work/err" &&
        ! grep -q 'no error\|resource busy' "$work/err"
    check "machsym $line: status $got, not $status, or it does not say: $wanted" "$work/err"
done <<'END'
# What damaged collections and caches say
crash -q -d @/cut.kc @/demo.crash|1|cut.kc: .*\(.*, offset [0-9]+\)$
crash -q -d @/kc @/demo.crash|1|cut.kc: .*\(.*, offset [0-9]+\)$
crash -q -d @/cut @/demo.crash|1|/cut: cut short: at least [0-9]+ bytes are missing
crash -q -d @/text @/demo.crash|1|/text: no Mach-O file with a UUID, .*; name one

# A folder where a file is wanted, and the reverse
map build App.dSYM -o .|1|^machsym: \.: a folder: name a file
map build App.dSYM -o folder|1|^machsym: folder: a folder: name a file
map build App.dSYM -o folder/|1|^machsym: folder/: a folder: name a file
map export --format=bugly demo.symmap -o .|1|^machsym: \.: a folder: name a file
map info App.dSYM|1|^machsym: App.dSYM: a folder, not a symbol map; .*map build
map info folder|1|^machsym: folder: a folder, not a symbol map; .*map build
map info empty|1|^machsym: empty: not a symbol map .*; name a .symmap; machsym map build makes one$
map info elf|1|^machsym: elf: not a symbol map .*; name a .symmap; machsym map build makes one$
map dump App.dSYM|1|not a symbol map; make one with machsym map build
store list text|1|^machsym: text: no folder; name the folder of a store$
store verify text|1|^machsym: text: no folder; name the folder of a store$

store list App.dSYM|1|^machsym: App.dSYM: a dSYM, not a store; machsym store add DIR App.dSYM adds it
store verify App.dSYM|1|^machsym: App.dSYM: a dSYM, not a store;
crash folder|1|^machsym: folder: the folder holds no report$
atos -o App.dSYM -f folder|1|^machsym: folder: the addresses cannot be read: Is a directory

# A file of another kind
crash empty|1|^machsym: empty: the file is empty; name a crash report$
crash text|1|^machsym: text: no report: neither stacks nor what a report begins with
atos -o text 0x1|1|^machsym: text: not a Mach-O file; name a Mach-O file, a .dSYM or a .symmap
info elf|1|^machsym: elf: an ELF file, not Mach-O; name
info exe|1|^machsym: exe: not a Mach-O file; name
crash App.dSYM|1|^machsym: App.dSYM: the folder holds no report: it is a dSYM; name it with -d
crash demo|1|^machsym: demo: a Mach-O file, not a crash report; name it with -d
crash demo.symmap|1|^machsym: demo.symmap: a symbol map, not a crash report; name it with -d
crash elf|1|^machsym: elf: an ELF file, not a crash report
crash exe|1|^machsym: exe: a program for Windows, not a crash report
objc App.dSYM|1|^machsym: .*App.dSYM.*: a dSYM has no Objective-C metadata; name the binary
objc --json App.dSYM|1|a dSYM has no Objective-C metadata; name the binary
objc demo.symmap|1|a symbol map; name the dSYM or binary
map build demo.symmap -o x|1|a symbol map; name the dSYM or binary
map chunk 0x1|1|^machsym: standard input: it is empty; pass a value that machsym map export --chunks made
map chunk 0x1 --base64|1|^machsym: standard input: it is empty; pass a value that machsym map export --chunks made

# What is missing
atos 0x1|2|^machsym: -o FILE is missing: 
atos -l 0x1000 0x2000|2|^machsym: -o FILE is missing: 
atos demo 0x1|2|^machsym: demo: a file, not an address; name it with -o: -o demo
atos 0x1 demo|2|^machsym: demo: a file, not an address; name it with -o: -o demo
map lookup|2|^machsym: no map is named
map verify demo.symmap|2|^machsym: name a map, then the dSYM or binary that it was made of
map export demo.symmap|2|^machsym: --format is missing: bugly or breakpad
map export demo.symmap --format=xml|2|^machsym: --format is bugly or breakpad

# The wrong order
map lookup 0x100000940 demo.symmap|2|^machsym: the map comes first, then the addresses
map verify App.dSYM demo.symmap|2|^machsym: the map comes first, then what it was made of
map chunk -o demo.symmap 0x1|2|^machsym: no such option: -o; see machsym map chunk --help
map lookup -dedup demo.symmap 0x1|2|^machsym: no such option: -dedup; see machsym map lookup --help
atos -dedup -o demo.symmap 0x1|1|^machsym: demo.symmap: a map does not hold what -dedup needs; name the dSYM
--json info App.dSYM|2|^machsym: --json: options come after a command: machsym COMMAND --json

# Misspelt
-d x|2|^machsym: -d: options come after a command
bild|2|^machsym: no such command: bild; see machsym --help
ato|2|no such command: ato; did you mean atos\?
ATOS|2|no such command: ATOS; did you mean atos\?
map bild|2|^machsym: no such command: map bild; did you mean build\? see machsym map --help
help map bild|2|^machsym: no such command: map bild; did you mean build\?
atos --fullpath 0x1|2|no such option: --fullpath; did you mean .*-fullPath\? see machsym atos --help
map info --jason x|2|no such option: --jason; did you mean --json\?
crash --signatures x|2|no such option: --signatures; did you mean --signature\?
atos --zork 0x1|2|no such option: --zork; see machsym atos --help
atos -o demo -arch arm65 0x1|1|^machsym: demo: no architecture is called arm65; choose one
objc -arch ARM64 demo|1|^machsym: demo: no architecture is called ARM64; choose one
symbols -arch x86_64 demo|1|^machsym: demo: no slice of architecture x86_64; choose one
map build -arch armv7 demo -o x|1|^machsym: demo: no slice of architecture armv7; choose one
atos -o demo -arch armv7 0x1|1|^atos cannot load symbols for the file demo for architecture armv7
atos -o demo -l zz 0x1|2|zz is no hexadecimal address, such as 0x
atos -o App.dSYM -l 4294967296 0x100000940|0|^machsym: 4294967296 is read as hexadecimal; if it is decimal, pass 0x100000000$
atos -o App.dSYM -uuid 4C4C44B5 0x1|2|4C4C44B5 is no UUID: these have 32 hexadecimal digits
store missing kept 4C4C44B5|1|^machsym: 4C4C44B5 is no UUID: .*; nor is there such a report
store gc kept --older 30d|2|30d is no number from 1 to 100000: --older takes days, --newest builds
END

# - is a report on standard input, no part of a UUID.
$machsym store missing "$work/kept" - <"$work/demo.crash" >"$work/out" 2>"$work/err"
[ $? -eq 0 ] && [ ! -s "$work/err" ] && grep -q 4C4C44B5 "$work/out"
check "store missing DIR -" "$work/err"

# What help lists is what a command takes.
for word in dedup nearest owners oso-prefix; do
    ! $machsym map lookup --help | grep -q -e "-$word" && $machsym atos --help | grep -q -e "-$word"
    check "map lookup --help has no -$word, which maps refuse"
done
! $machsym map chunk --help | grep -q '^  -o '
check "map chunk --help has no -o, which names no chunk"

# Where a map goes whose name is not given: the program's name, not that of the dSYM.
(cd "$work/folder" && "$top_machsym" map build --no-progress ../App.dSYM) >"$work/out" 2>"$work/err"
[ -f "$work/folder/demo.symmap" ] && grep -q '^demo.symmap: ' "$work/out"
check "map build App.dSYM says the name that it wrote" "$work/err"
$machsym map build --help | grep -q "the program's, not the dSYM's"
check "and help tells where that comes from"

end
