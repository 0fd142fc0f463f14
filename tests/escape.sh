#!/bin/bash
# Names that act on a terminal or hold a newline: a program whose functions, classes, files, sections, folders and report
# fields are all named so, through every command. No such byte is printed, and there are as many lines as for a twin with
# plain names.
bin=tests/fixtures/bin
reports=tests/fixtures/reports
M=${MACHSYM:-build/machsym}
case $M in /*) ;; *) M=$PWD/$M ;; esac
. tests/checks
export LC_ALL=C

ok() { # NAME STATUS
    count "$2" || echo "escape: $1 failed"
}

# Puts three bytes, written for sed, into the names of a file; no length changes, so that a Mach-O file stays one.
rename() { # BYTES FILE
    sed "s/Player/Pl$1r/g; s/player/pl$1r/g; s/queue/q$1e/g; s/skip:/s$1:/g; s/fixtures/fix$1es/g
         s/require/req$1e/g; s/drop/d$1/g; s/main\.mm/m$1.mm/g; s/__main_block/__m$1_block/g
         s/__stub_helper/__st$1helper/g; s/__debug_names/__debug_n$1s/g; s/dyld/d$1/g; s/launchd/l$1chd/g" "$2"
}

# The files of one twin: FOLDER has the bytes in its own name too.
make_twin() { # FOLDER SED-BYTES IN-JSON IN-TEXT IN-OBJECTIVE-C NAME
    mkdir -p "$1/$6.dSYM/Contents/Resources/DWARF"
    rename "$2" $bin/demo.app.dSYM/Contents/Resources/DWARF/demo >"$1/$6.dSYM/Contents/Resources/DWARF/$6"
    rename "$5" $bin/demo >"$1/$6"
    rename "$3" $reports/demo.ips >"$1/$6.ips"
    rename "$4" $reports/demo.crash >"$1/$6.crash"
    cp $reports/demo.crash "$1/plain.crash"
    cp $reports/demo-html.crash "$1/html.crash"
    rename "$4" - <<<'0x100000aec Player _Z1fv' >"$1/in"
    rename "$4" - <<<'prefix Pl = Player' >"$1/rules"
    (
        cd "$1" && "$M" map build -o "$6.symmap" "$6.dSYM" &&
            "$M" map build --lines=dwarf -o "$6-dwarf.symmap" "$6.dSYM" &&
            "$M" map export --chunks=1000000 --format=tsv "$6.symmap" | sed -n '1s/.*	//p' >chunk &&
            "$M" map export --format=bugly "$6.symmap" >table
    ) >"$work/out" 2>"$work/err"
}

# What it reads, the command line; NAME is what the twin's files are called.
commands="in|atos -o NAME.dSYM -l 0x100000000 -i 0x100000aec 0x100000a7c NAME
in|atos -o NAME.dSYM -fullPath --explain --owners rules 0x100000aec
in|atos -o NAME.dSYM --explain -dedup 0x100000aec 0x100000940
in|atos -o NAME.dSYM --json -i 0x100000aec NAME
in|atos -o NAME.dSYM
in|info NAME.dSYM NAME
in|symbols NAME
in|symbols NAME.dSYM
in|symbols --no-demangle NAME.dSYM
in|symbols --json NAME
in|objc NAME
in|objc --json NAME
in|demangle NAME
in|owners --rules rules NAME
in|owners --rules rules --json NAME 0x100000aec NAME
in|owners --rules rules --ranges NAME
in|map build -o new-NAME.symmap NAME.dSYM
in|map lookup NAME.symmap -i 0x100000aec NAME
in|map lookup NAME.symmap -i --json 0x100000aec NAME
in|map info NAME.symmap
in|map dump NAME.symmap
in|map verify NAME.symmap NAME.dSYM
in|map verify NAME-dwarf.symmap NAME
in|map export --format=bugly NAME.symmap
in|map export --format=breakpad NAME.symmap
in|map export --chunks=1000 --format=tsv NAME.symmap
in|map export --chunks=1000 --format=jsonl NAME.symmap
table|map import -o new-NAME.symmap table
chunk|map chunk --base64 -i 0x100000aec NAME
in|crash --no-cache -d . plain.crash
in|crash --no-cache -d . -full-path html.crash
in|crash --no-cache -d . --owners rules NAME.ips
in|crash --no-cache -d . --to=text NAME.ips
in|crash --no-cache -d . --to=json NAME.ips NAME.crash
in|crash --no-cache -d . --summary NAME.ips NAME.crash
in|crash --no-cache -d rules --summary NAME.ips NAME.crash
in|crash --no-cache -d . --signature NAME.ips NAME.crash
in|crash --no-cache -d . --group NAME.ips NAME.crash
in|crash --no-cache -d rules --missing=text NAME.ips NAME.crash
in|crash --no-cache -d none -o NAME.none/NAME NAME.ips
in|crash --no-cache -d NAME.none NAME.ips
in|atos -o NAME.none 0x1000
in|atos -o NAME -arch NAME 0x1000
in|atos -f NAME.none -o NAME
in|atos -o NAME --lines=NAME 0x1000
in|atos --symbols NAME --uuid 4c4c44b5555531 0x1000
in|info NAME.ips NAME.none
in|symbols NAME.none
in|symbols --source=NAME NAME
in|objc NAME.ips
in|owners --rules NAME.none NAME
in|owners --between NAME main NAME
in|map build -o NAME.none/NAME NAME.dSYM
in|map import -o NAME.none/NAME NAME.none
in|map info NAME.ips
in|map verify NAME.symmap NAME.symmap
in|--NAME
in|NAME
in|help NAME
in|map NAME
in|atos --NAME=NAME
in|info --uuid=NAME NAME"

run_all() { # TWIN NAME FOLDER
    local n=0 input line word words
    while IFS='|' read -r input line; do
        words=()
        for word in $line; do words+=("${word//NAME/$2}"); done
        n=$((n + 1))
        (cd "$3" && "$M" "${words[@]}" <"$input" >"$work/$1.$n.out" 2>"$work/$1.$n.err"
            echo $? >"$work/$1.$n.status")
    done <<END
$commands
END
}

each() { # TWIN STREAM COMMAND...: one command over the outputs of all commands, in their order
    local twin=$1 stream=$2 n files=()
    shift 2
    for ((n = 1; n <= count_of_commands; n++)); do files+=("$twin.$n.$stream"); done
    "$@" "${files[@]}"
}

numbers() { # TWIN STREAM: how many lines each has; of a status what it is
    if [ "$2" = status ]; then each "$1" "$2" cat; else each "$1" "$2" wc -l | awk '$2 != "total" { print $1 }'; fi
}

acting() { # TWIN STREAM: in how many lines of each there is a byte that acts on a terminal
    each "$1" "$2" grep -a -c \
        $'[\x01-\x08\x0b-\x1f\x7f\x9b]\|\xc2[\x80-\x9f]\|\xe2\x80[\xa8-\xae]\|\xe2\x81[\xa6-\xa9]' | sed 's/.*://'
}

cd "$work" || exit 1
for tree in tests; do ln -s "$OLDPWD/$tree" "$tree"; done
make_twin plain xyz xyz xyz xyz Nxyz
ok "plain: made" $?
run_all plain Nxyz plain
count_of_commands=$(printf '%s\n' "$commands" | wc -l)

# A name; the bytes for sed; as JSON writes them; for a text report, where a newline would be the report's own; for
# Objective-C, whose names have no C0 characters or are damage; for a file's name, since a store finds no name with a
# newline.
while IFS='|' read -r name raw json text objc file; do
    file=$(printf "$file.")
    file=${file%.}
    make_twin "$name" "$raw" "$json" "$text" "$objc" "N$file"
    ok "$name: made" $?
    run_all "$name" "N$file" "$name"
    for stream in status out err; do
        n=0
        while read -r -u 3 want && read -r -u 4 got && read -r -u 5 acts && read -r -u 6 line; do
            n=$((n + 1))
            if [ $stream = status ]; then
                [ "$want" = "$got" ]
                ok "$name: $line: status $got, not $want" $?
                continue
            fi
            [ "$want" -eq "$got" ]
            ok "$name: $line: as many lines ($stream)" $?
            [ "$acts" = 0 ]
            ok "$name: $line: no byte that acts on a terminal ($stream)" $?
        done 3< <(numbers plain $stream) 4< <(numbers "$name" $stream) 5< <(acting "$name" $stream) 6<<<"$commands"
        [ $n -eq "$count_of_commands" ]
        ok "$name: all commands were compared ($stream)" $?
    done
done <<'END'
escape|\x1b[m|\\u001b[m|\x1b[m|\xc2\x85m|\033[m
newline|\nb\t|\\nb\\t|\x01b\x7f|\xc2\x80m|\rb\t
override|\xe2\x80\xae|\\u202e|\xe2\x80\xae|\xe2\x80\xae|\342\200\256
invalid|\r\x07\x9b|\\r\\u0007\\u009b|\x08\x07\x9b|a\x9bb|\r\007\233
END

# A newline in the name of a file that is not there.
run_all none $'N\nb' plain
printf '%s\n' "$commands" | grep -n 'NAME\.none' >lines
while IFS=: read -r n line; do
    [ "$(wc -l <"plain.$n.err")" -eq "$(wc -l <"none.$n.err")" ]
    ok "no such file: $line: as many lines" $?
done <lines

# A newline in the name of a folder of symbols: what crash says of a report stays one line.
mkdir -p $'folder/N\nb'
cp -r plain/Nxyz.dSYM $'folder/N\nb/N.dSYM'
"$M" crash --no-cache -d folder -o kept plain/plain.crash 2>err
[ "$(grep -cF 'machsym: ' err)" -eq 1 ] && grep -qF 'by folder/N\nb/N.dSYM' err
ok "crash: a folder's name has a newline" $?

# What is shown is what was there, and JSON has it in full.
grep -q '^-\[Pl\\x1b\[mr s\\x1b\[m:\] (in ' escape.1.out && grep -q 'q\\nb\\te.hpp:' newline.1.out &&
    grep -q 'Pl\\u202er' override.1.out && grep -q 'Pl\\r\\x07\\x9br' invalid.1.out
ok "shown: \\x1b, \\n, \\t, \\u202e, \\x9b" $?
grep -q '"name":"-\[Pl\\u001b\[mr' escape.4.out && grep -q '"name":"-\[Pl\\u000ab\\u0009r' newline.4.out
ok "JSON: \\u001b, \\u000a" $?
# A report keeps its own bytes.
$M crash -q --no-cache -d plain/rules -o kept escape/N*.crash 2>err
cmp -s kept escape/N*.crash && [ "$(tr -cd '\033' <kept | wc -c)" -gt 0 ]
ok "a report keeps its own bytes" $?
# Which characters: C0, DEL, C1, the separators of lines and paragraphs, overrides and isolates; no others.
while read -r written shown; do
    [ "$("$M" demangle -- "a$(printf "$written")b")" = "a${shown:-$(printf "$written")}b" ]
    ok "$written is shown as ${shown:-it is}" $?
done <<'END'
\001 \x01
\037 \x1f
\177 \x7f
\302\200 \u0080
\302\237 \u009f
\302\240
\200 \x80
\237 \x9f
\240
\377
\342\200\247
\342\200\250 \u2028
\342\200\251 \u2029
\342\200\252 \u202a
\342\200\256 \u202e
\342\200\257
\342\201\245
\342\201\246 \u2066
\342\201\251 \u2069
\342\201\252
\320\230\320\274\321\217
\345\220\215\345\211\215
\360\237\231\202
END

end
