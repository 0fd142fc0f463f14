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
echo "MACHSYM: some text" >"$work/machsym.txt" # not what a map begins with
printf '\177ELF\002\001\001\000 and more\n' >"$work/elf"
printf 'MZ\220\000 and more\n' >"$work/exe"
# A dSYM whose load commands are cut off, so that it tells no UUID; a collection and a shared cache cut to their heads.
head -c 100 "$dwarf" >"$work/cut"
head -c 300 $bin/collection-arm64 >"$work/cut.kc"
mkdir "$work/kc"
cp "$work/cut.kc" "$work/kc/"
cp $bin/collection-arm64 "$work/collection"
mkdir "$work/half"
head -c 100000 $bin/collection-arm64 >"$work/half/half.kc"
cp $bin/zoo-arm64-chained "$work/zoo"

mkfifo "$work/fifo"
printf '\312\376\272\276\0\0\0\075\0\035\012\0\006\0\017\011 and more of a class\n' >"$work/Main.class"

# How files of other kinds begin: the published formats, RFC 1952 and 8878, mach-o/loader.h and fat.h, dyld_cache_format.h.
mkdir "$work/kinds"
while read -r name bytes; do
    printf "$bytes" >"$work/kinds/$name"
done <<'END'
thin32 \316\372\355\376%8s
thin64 \317\372\355\376%8s
fat \312\376\272\276\0\0\0\054%8s
class45 \312\376\272\276\0\0\0\055%8s
fat-head \312\376\272\276\0\0\0
cache dyld_v1%9s
cache-cut dyld_v
mz MZ
zip PK\003\004%8s
gzip \037\213%8s
zstd \050\265\057\375%8s
xz \3757zXZ%8s
bzip2 BZh%8s
END

# Rows of standard input: COMMAND LINE|STATUS|what standard error has, an extended regular expression. In both, @ is the folder
# of work; in the expression % is "name a Mach-O file, a .dSYM or a .symmap".
rows() { # COMMAND...: what runs the command lines
    while IFS='|' read -r line status wanted; do
        case $line in '' | '#'*) continue ;; esac
        wanted=${wanted//%/name a Mach-O file, a \.dSYM or a \.symmap}
        (
            cd "$work" || exit 9
            # shellcheck disable=SC2086
            exec "$@" ${line//@/$work}
        ) >"$work/out" 2>"$work/err" </dev/null
        got=$?
        [ $got -eq "$status" ] && grep -qE -e "${wanted//@/$work}" "$work/err" &&
            ! grep -q 'no error\|resource busy' "$work/err"
        check "machsym $line: status $got, not $status, or it does not say: $wanted" "$work/err"
    done
}

rows "$top_machsym" <<'END'
# What damaged collections and caches say
crash -q -d @/cut.kc @/demo.crash|1|cut.kc: .*\(.*, offset [0-9]+\)$
crash -q -d @/kc @/demo.crash|1|cut.kc: .*\(.*, offset [0-9]+\)$
crash -q -d @/half/half.kc @/demo.crash|1|half.kc: a segment runs past the end of the file \(.*, offset [0-9]+\)$
crash -q --no-cache -d @/half @/demo.crash|1|half.kc: a segment runs past the end of the file \(.*, offset [0-9]+\)$
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
crash folder|1|^machsym: folder: the folder holds no report; name a crash report, or a folder or archive of some$
atos -o App.dSYM -f folder|1|^machsym: folder: the addresses cannot be read: Is a directory

info folder|1|^machsym: folder: a folder without Contents/Resources/DWARF/FILE in it; name a Mach-O file or a .dSYM$
symbols folder|1|^machsym: folder: a folder without Contents/Resources/DWARF/FILE in it; name
objc folder|1|^machsym: folder: a folder without Contents/Resources/DWARF/FILE in it; name
owners folder|1|^machsym: folder: a folder without Contents/Resources/DWARF/FILE in it; name
atos -o folder 0x1|1|^machsym: folder: a folder without Contents/Resources/DWARF/FILE in it; name
map build -o x folder|1|^machsym: folder: a folder without Contents/Resources/DWARF/FILE in it; name
store add kept folder|1|^machsym: folder: a folder without Contents/Resources/DWARF/FILE in it; name
info --member foo App.dSYM|1|^machsym: App.dSYM: a folder, and --member is for archives: name the file in it$
map build --store text App.dSYM|1|^machsym: text/4C/.*: Not a directory: a part of its path is a file$
store add text App.dSYM|1|^machsym: text/4C/.*: Not a directory: a part of its path is a file$

# A FIFO without a writer
info fifo|1|^machsym: fifo: a FIFO or a device, not a regular file; copy what it gives to a file$
atos -o fifo 0x1|1|^machsym: fifo: a FIFO or a device, not a regular file; copy
symbols fifo|1|^machsym: fifo: a FIFO or a device, not a regular file; copy
objc fifo|1|^machsym: fifo: a FIFO or a device, not a regular file; copy
owners fifo|1|^machsym: fifo: a FIFO or a device, not a regular file; copy
map build -o x fifo|1|^machsym: fifo: a FIFO or a device, not a regular file; copy
map info fifo|1|^machsym: fifo: a FIFO or a device, not a regular file; copy
map lookup fifo 0x1|1|^machsym: fifo: a FIFO or a device, not a regular file; copy
map verify demo.symmap fifo|1|^machsym: fifo: a FIFO or a device, not a regular file; copy
store add kept fifo|1|^machsym: fifo: a FIFO or a device, not a regular file; copy
crash fifo|1|^machsym: fifo: a FIFO or a device, not a regular file; - reads standard input$
map import -o x fifo|1|^machsym: fifo: a FIFO or a device, not a regular file; - reads standard input$
crash -q -d fifo demo.crash|1|^machsym: fifo: no Mach-O file with a UUID, no dSYM and no .symmap; name one

# An empty file
info empty|1|^machsym: empty: the file is empty; %$
atos -o empty 0x1|1|^machsym: empty: the file is empty; %$
symbols empty|1|^machsym: empty: the file is empty; %$
objc empty|1|^machsym: empty: the file is empty; %$
owners empty|1|^machsym: empty: the file is empty; %$
map build -o x empty|1|^machsym: empty: the file is empty; %$
map lookup empty 0x1|1|^machsym: empty: the file is empty; %$
map verify demo.symmap empty|1|^machsym: empty: the file is empty; %$
store add kept empty|1|^machsym: empty: the file is empty; %$
symbols --pair empty App.dSYM|1|^machsym: empty: the file is empty; %$
crash -q -d empty demo.crash|1|^machsym: empty: no Mach-O file with a UUID, no dSYM and no .symmap; name one
map import -o x empty|1|^machsym: empty: no row of start, end, function and file:line, separated by tabs$

# What is not there
info none|1|^machsym: none: the file cannot be read: No such file or directory$
info --pair none App.dSYM|1|^machsym: none: the file cannot be read: No such file or directory$
atos -o none 0x1|1|^machsym: none: the file cannot be read: No such file or directory$
atos -o demo -f none|1|^machsym: none: No such file or directory$
symbols none|1|^machsym: none: the file cannot be read: No such file or directory$
objc none|1|^machsym: none: the file cannot be read: No such file or directory$
owners none|1|^machsym: none: the file cannot be read: No such file or directory$
map build -o x none|1|^machsym: none: the file cannot be read: No such file or directory$
map info none|1|^machsym: none: the file cannot be read: No such file or directory$
map dump none|1|^machsym: none: the file cannot be read: No such file or directory$
map verify none App.dSYM|1|^machsym: none: the file cannot be read: No such file or directory$
map import -o x none|1|^machsym: none: No such file or directory$
map export --format=bugly none|1|^machsym: none: the file cannot be read: No such file or directory$
store add kept none|1|^machsym: none: the file cannot be read: No such file or directory$
store list none|1|^machsym: none: No such file or directory$
store verify none|1|^machsym: none: No such file or directory$
store gc none --older 3|1|^machsym: none: No such file or directory$
crash none|1|^machsym: none: No such file or directory$
crash -q -d none demo.crash|1|^machsym: none: No such file or directory$
crash -q -o none/x demo.crash|1|^machsym: demo.crash: none/x: No such file or directory: make its folder first$
crash -q --html demo.crash demo.crash|2|--html makes one page for each file, .*: name a folder with -o;
crash -q --html --json demo.crash|2|--html is a form of its own: without --json and --apple;
crash -q --json-out none/x demo.crash|1|^machsym: none/x: No such file or directory: make its folder first$
crash -q --group --groups-out none/x demo.crash|1|^machsym: none/x: No such file or directory: make its folder first$
map build -o none/x App.dSYM|1|^machsym: none/x: No such file or directory: make its folder first$
map export --format=bugly -o none/x demo.symmap|1|^machsym: none/x: No such file or directory: make its folder first$
map build -o text/x App.dSYM|1|^machsym: text/x: Not a directory: a part of its path is a file$
info --member foo demo|1|^machsym: demo/foo: a part of its path is a file, but no zip, tar or static library; machsym info says

# Another UUID, another image
atos -o App.dSYM -uuid 4C4C44B555553144A1BA79CA685DEC59 0x1|1|^machsym: App.dSYM: UUID 4C4C44B5-.*-79CA685DEC59 was asked for; the file holds$
atos -o demo.symmap -uuid 4C4C44B555553144A1BA79CA685DEC59 0x1|1|^machsym: demo.symmap: UUID .*-79CA685DEC59 was asked for; the file holds$
symbols --uuid 4C4C44B555553144A1BA79CA685DEC59 demo|1|^machsym: demo: UUID .* was asked for; the file holds$
objc --uuid 4C4C44B555553144A1BA79CA685DEC59 demo|1|^machsym: demo: UUID .* was asked for; the file holds$
owners --uuid 4C4C44B555553144A1BA79CA685DEC59 demo|1|^machsym: demo: UUID .* was asked for; the file holds$
map build -o x --uuid 4C4C44B555553144A1BA79CA685DEC59 demo|1|^machsym: demo: UUID .* was asked for; the file holds$
info --uuid 4C4C44B555553144A1BA79CA685DEC59 demo|1|^machsym: demo: there is no slice with UUID .*; `machsym info FILE` lists what it holds$
map verify demo.symmap zoo|1|^machsym: zoo: UUID .*-79CA685DEC58 was asked for; the file holds$
symbols --pair zoo App.dSYM|1|^machsym: App.dSYM: the two files do not belong together: .*; --pair is for a dSYM and the binary of the same UUID$
info --entry foo App.dSYM|1|no kernel collection: it has no images by name .*; leave --entry out, or name a kernel collection or a shared cache$
atos --entry foo -o App.dSYM 0x1|1|no kernel collection: it has no images by name .*; leave --entry out, or name a kernel collection or a shared cache$
info --entry foo @/collection|1|collection: the kernel collection has no image of this name .*; `machsym info FILE` lists its images$

# A Java class, which begins as universal files do
info Main.class|1|^machsym: Main.class: a Java class file, not Mach-O; %$
atos -o Main.class 0x1|1|^machsym: Main.class: a Java class file, not Mach-O; %$
store add kept Main.class|1|^machsym: Main.class: a Java class file, not Mach-O; %$
crash Main.class|1|^machsym: Main.class: a Java class file, not a crash report$

# A file in place of names
demangle text|0|^machsym: text: no mangled name, but there is such a file; for the names in it: machsym demangle <FILE$
demangle _Z1fv demo.crash|0|^machsym: demo.crash: no mangled name, but there is such a file;

# A file of another kind
crash empty|1|^machsym: empty: the file is empty; name a crash report$
crash text|1|^machsym: text: no report: neither stacks nor what a report begins with
atos -o text 0x1|1|^machsym: text: not a Mach-O file; name a Mach-O file, a .dSYM or a .symmap
info elf|1|^machsym: elf: an ELF file, not Mach-O; name
info exe|1|^machsym: exe: not a Mach-O file; name
crash App.dSYM|1|^machsym: App.dSYM: the folder holds no report: it is a dSYM; name it with -d
crash demo|1|^machsym: demo: a Mach-O file, not a crash report; name it with -d
crash demo.symmap|1|^machsym: demo.symmap: a symbol map, not a crash report; name it with -d
crash machsym.txt|1|^machsym: machsym.txt: no report: neither stacks nor what a report begins with
crash elf|1|^machsym: elf: an ELF file, not a crash report
crash exe|1|^machsym: exe: a program for Windows, not a crash report
crash kinds/thin32|1|^machsym: kinds/thin32: a Mach-O file, not a crash report; name it with -d
crash kinds/thin64|1|^machsym: kinds/thin64: a Mach-O file, not a crash report; name it with -d
crash kinds/fat|1|^machsym: kinds/fat: a Mach-O file, not a crash report; name it with -d
crash kinds/class45|1|^machsym: kinds/class45: a Java class file, not a crash report$
crash kinds/fat-head|1|^machsym: kinds/fat-head: a Mach-O file, not a crash report; name it with -d
crash kinds/cache|1|^machsym: kinds/cache: a shared cache, not a crash report; name it with -d
crash kinds/cache-cut|1|^machsym: kinds/cache-cut: no report: neither stacks nor what a report begins with
crash kinds/mz|1|^machsym: kinds/mz: a program for Windows, not a crash report$
crash kinds/zip|1|^machsym: kinds/zip: the zip has no end record
crash kinds/gzip|1|^machsym: kinds/gzip: not a gzip member, or its header is cut short
crash kinds/zstd|1|^machsym: kinds/zstd: the compressed bytes are damaged or cut short
crash kinds/xz|1|^machsym: kinds/xz: compressed by xz, which is not read here; unpack it with `unxz`
crash kinds/bzip2|1|^machsym: kinds/bzip2: compressed by bzip2, which is not read here; unpack it with `bunzip2`$
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
atos --nearest -o demo.symmap 0x1|1|^machsym: demo.symmap: a map does not hold what --nearest needs; name the dSYM
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

$machsym crash -q --no-cache -d "$work/collection" "$work/demo.crash" >"$work/out" 2>"$work/err" && [ ! -s "$work/err" ]
check "a whole collection below -d" "$work/err"

# A folder of a name, as names of code are, is no file of names.
(cd "$work" && "$top_machsym" demangle folder main _Z1fv) >"$work/out" 2>"$work/err" && [ ! -s "$work/err" ]
check "demangle of names" "$work/err"

# Archives of wrong kinds
if need "zips" python3; then
    python3 - "$work" <<'END'
import sys, zipfile
work = sys.argv[1] + "/"
dwarf = open(work + "App.dSYM/Contents/Resources/DWARF/demo", "rb").read()
def write(name, member, data):
    with zipfile.ZipFile(work + name, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr(member, data)
    return open(work + name, "rb").read()
write("none.zip", "readme.txt", b"hello")
good = write("good.zip", "App.dSYM/Contents/Resources/DWARF/demo", dwarf)
write("zips.zip", "App.zip", good)
open(work + "cut.zip", "wb").write(good[:len(good) // 2])
middle = len(good) // 3
open(work + "damaged.zip", "wb").write(good[:middle] + bytes(b ^ 255 for b in good[middle:middle + 9]) + good[middle + 9:])
secret, at = bytearray(good), good.find(b"PK\1\2")
secret[6] |= 1  # the flag of a password, in both headers
secret[at + 8] |= 1
open(work + "secret.zip", "wb").write(secret)
END
    mkdir "$work/zips"
    cp "$work/secret.zip" "$work/zips/"
    for command in info symbols objc owners "atos 0x1 -o" "map build -o x" "store add kept" "map verify demo.symmap"; do
        rows "$top_machsym" <<END
$command none.zip|1|^machsym: none.zip: the archive holds no Mach-O file; %$
$command cut.zip|1|^machsym: cut.zip: the zip has no end record: it is cut short; copy it again
$command damaged.zip|1|^machsym: damaged.zip.*: .* \(zip member, offset [0-9]+\)(; copy the archive again)?$
$command secret.zip|1|^machsym: secret.zip.*: the member is encrypted; unpack it first
END
    done
    rows "$top_machsym" <<'END'
crash -q -d none.zip demo.crash|1|^machsym: none.zip: the archive holds no Mach-O file; %$
crash -q -d cut.zip demo.crash|1|^machsym: cut.zip: the zip has no end record: it is cut short; copy it again
crash -q -d damaged.zip demo.crash|1|^machsym: damaged.zip/App.dSYM/.*/demo: .* \(zip member, offset [0-9]+\)(; copy the archive again)?$
crash -q -d secret.zip demo.crash|1|^machsym: secret.zip/App.dSYM/.*/demo: the member is encrypted; unpack it first
crash -q --no-cache -d zips demo.crash|1|^machsym: zips/secret.zip/App.dSYM/.*/demo: the member is encrypted; unpack it first
crash -q none.zip -d kept|1|^machsym: none.zip/readme.txt: no report: neither stacks nor what a report begins with; name a crash report$
map info none.zip|1|^machsym: none.zip: the archive holds no symbol map; name a .symmap; machsym map build makes one$
store list none.zip|1|^machsym: none.zip: no folder; name the folder of a store$
atos -o good.zip --member foo 0x1|1|^machsym: good.zip/foo: the archive has no such member; `machsym info ARCHIVE` lists them$
END
fi

# What others keep closed
if need_nobody "what may not be read"; then
    mkdir -p "$work/closed/kept" "$work/closed/folder"
    cp "$work/demo" "$work/demo.crash" "$work/demo.symmap" "$work/closed/"
    cp -R "$work/App.dSYM" "$work/closed/"
    cp "$top_machsym" "$work/tool"
    chmod 755 "$work/tool" "$work"
    chmod 0 "$work"/closed/demo* "$work/closed/App.dSYM/Contents/Resources/DWARF/demo" "$work/closed/kept" "$work/closed/folder"
    chmod a-w "$work/closed"
    # shellcheck disable=SC2086
    rows env XDG_CACHE_HOME="$work/none" $nobody "$work/tool" <<'END'
info closed/demo|1|^machsym: closed/demo: the file cannot be read: Permission denied$
info closed/App.dSYM|1|^machsym: closed/App.dSYM: the file cannot be read: Permission denied$
info closed/folder|1|^machsym: closed/folder: the folder cannot be read: Permission denied$
info --pair closed/demo App.dSYM|1|^machsym: closed/demo: the file cannot be read: Permission denied$
atos -o closed/demo 0x1|1|^machsym: closed/demo: the file cannot be read: Permission denied$
atos -o demo -f closed/demo|1|^machsym: closed/demo: Permission denied$
symbols closed/demo|1|^machsym: closed/demo: the file cannot be read: Permission denied$
objc closed/demo|1|^machsym: closed/demo: the file cannot be read: Permission denied$
owners closed/demo|1|^machsym: closed/demo: the file cannot be read: Permission denied$
map info closed/demo.symmap|1|^machsym: closed/demo.symmap: the file cannot be read: Permission denied$
map lookup closed/demo.symmap 0x1|1|^machsym: closed/demo.symmap: the file cannot be read: Permission denied$
map verify demo.symmap closed/demo|1|^machsym: closed/demo: the file cannot be read: Permission denied$
map import -o x closed/demo|1|^machsym: closed/demo: Permission denied$
map build -o closed/x demo|1|^machsym: closed/x: Permission denied: name a place that you may write to$
crash closed/demo.crash|1|^machsym: closed/demo.crash: Permission denied$
crash -q -d closed/demo demo.crash|1|^machsym: closed/demo: it cannot be read: Permission denied$
crash -q -d closed/folder demo.crash|1|^machsym: closed/folder: cannot be read: Permission denied$
crash -q -d closed/App.dSYM demo.crash|1|^machsym: closed/App.dSYM/.*/demo: cannot be read: Permission denied$
crash -q -o closed/x demo.crash|1|^machsym: demo.crash: closed/x: Permission denied: name a place that you may write to$
store list closed/kept|1|^machsym: closed/kept: cannot be read: Permission denied$
store verify closed/kept|1|^machsym: closed/kept: cannot be read: Permission denied$
store gc closed/kept --older 3|1|^machsym: closed/kept: cannot be read: Permission denied$
END
    [ "$(wc -l <"$work/err")" -eq 1 ]
    check "a store that is closed is reported once" "$work/err"
    chmod 755 "$work/closed"
fi

# What begins as a compressed file does, from standard input.
while IFS='|' read -r begin words; do
    printf "$begin and more" | $machsym crash - >"$work/out" 2>"$work/err"
    [ $? -eq 1 ] && [ ! -s "$work/out" ] && grep -qxF "machsym: -: compressed by $words" "$work/err"
    check "crash - of what is ${words%%,*}"
done <<'END'
\037\213|gzip, which is read from files only; unpack it with `gunzip`
PK\003\004|zip, which is read from files only; unpack it with `unzip -p`
\050\265\057\375|zstd, which is read from files only; unpack it with `unzstd`
\3757zXZ|xz, which is not read here; unpack it with `unxz`
BZh|bzip2, which is not read here; unpack it with `bunzip2`
END
# - is a report on standard input, no part of a UUID.
$machsym store missing "$work/kept" - <"$work/demo.crash" >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && [ ! -s "$work/err" ] && grep -q 4C4C44B5 "$work/out"
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
