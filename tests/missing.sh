#!/bin/sh
# What machsym crash and atos say of symbols that they did not find: a line a report, the table of missing dSYMs, files of
# another UUID, damaged files that hide good ones, exit statuses.
MACHSYM=${MACHSYM:-build/machsym}
reports=tests/fixtures/reports
bin=tests/fixtures/bin
dsym=$bin/demo.app.dSYM
inside=Contents/Resources/DWARF
. tests/checks
export XDG_CACHE_HOME="$work/cache"
mkdir "$work/empty"

told() # STATUS ARGUMENT...: its standard error into $work/err
{
    wanted=$1
    shift
    $MACHSYM "$@" >"$work/out" 2>"$work/err"
    got=$?
    [ $got -eq "$wanted" ]
    check "exit status $wanted, not $got, of: $*"
}

err_has() # TEXT
{
    grep -qF -e "$1" "$work/err"
    check "said: $1"
}

# ---- One report ----

told 0 crash -d $dsym $reports/demo.crash
same - "$work/err" "what was named, by which file, and the system in a line" <<END
machsym: $reports/demo.crash: 5 of 6 frames named, 4 of them now; demo by $dsym; missing: the system (1)
1 frame without a name in 1 image of the system, for which there are no dSYMs: name with -d its shared cache, or maps of it
  iOS 17.4 (21E219), arm64e: 1 image, 1 frame in 1 report
END
# The header of the program is no function: no file has a name for it, so none is asked for.
sed 's/0x0000000102a309fc 0x102a30000 + 2556/0x0000000102a30010 0x102a30000 + 16/' $reports/demo.crash >"$work/header.crash"
told 0 crash -d $dsym "$work/header.crash"
same - "$work/err" "an address that no function has is not missing in a file that is there" <<END
machsym: $work/header.crash: 4 of 6 frames named, 3 of them now; demo by $dsym; missing: demo (1), the system (1)
1 frame without a name in 1 image of the system, for which there are no dSYMs: name with -d its shared cache, or maps of it
  iOS 17.4 (21E219), arm64e: 1 image, 1 frame in 1 report
END
told 1 crash --strict -d $dsym $reports/demo.crash
grep -v 'dyld\|libsystem' $reports/demo.crash >"$work/own.crash" # what the dSYM names
told 0 crash --strict -d $dsym "$work/own.crash"
told 1 crash --check -d $dsym $reports/demo.crash
told 0 crash -q -d "$work/empty" $reports/demo.crash
[ ! -s "$work/err" ]
check "-q says nothing of what is missing"
told 0 crash -d "$work/empty" $reports/jetsam.ips
err_has "jetsam.ips: no stacks"

# ---- The table ----

sed 's/4c4c44b5/4c4c44b6/; s/demo arm64\(.*\)demo/tiny arm64\1tiny/; s/^\([0-9] *\)demo /\1tiny /' $reports/demo.crash >"$work/tiny.crash"
mkdir -p "$work/wrong/tiny.dSYM/$inside"
cp $bin/inline-arm64-d5-22 "$work/wrong/tiny.dSYM/$inside/tiny"
told 0 crash -d "$work/wrong" "$work/tiny.crash" $reports/demo.crash $reports/demo.ips
grep -v 'frames named\|reports: ' "$work/err" >"$work/table"
same - "$work/table" "the table of missing dSYMs, most wanted first" <<END
missing debug info, most wanted first:
  frames  reports  image
       8        2  demo 1.2 (7) UUID 4C4C44B5-5555-3144-A1BA-79CA685DEC58 arm64: no file has this UUID
       4        1  tiny UUID 4C4C44B6-5555-3144-A1BA-79CA685DEC58 arm64: tiny.dSYM in $work/wrong has UUID 4C4C4465-5555-3144-A185-EBD523938759
3 frames without a name in 1 image of the system, for which there are no dSYMs: name with -d its shared cache, or maps of it
  iOS 17.4 (21E219), arm64e: 1 image, 3 frames in 3 reports
END
told 0 crash -q --missing=text -j 4 -d "$work/wrong" $reports/demo.crash "$work/tiny.crash" $reports/demo.ips
same "$work/table" "$work/out" "--missing=text prints it in place of the reports, whatever their order, by several threads"
told 0 crash -q --missing=json -d "$work/wrong" "$work/tiny.crash" $reports/demo.crash $reports/demo.ips
same - "$work/out" "--missing=json" <<END
{"schema":"crash-missing/1","machsym":"$($MACHSYM --version)","reports":3,"missing":[
{"image":"demo","version":"1.2 (7)","uuid":"4C4C44B5-5555-3144-A1BA-79CA685DEC58","arch":"arm64","frames":8,"reports":2,"why":"no file","file":null},
{"image":"tiny","version":null,"uuid":"4C4C44B6-5555-3144-A1BA-79CA685DEC58","arch":"arm64","frames":4,"reports":1,"why":"other uuid","file":"$work/wrong/tiny.dSYM/$inside/tiny","file_uuid":"4C4C4465-5555-3144-A185-EBD523938759"}],
"system":{"images":1,"frames":3,"systems":[{"os":"iPhone OS 17.4 (21E219)","arch":"arm64e","images":1,"frames":3,"reports":3}]}}
END
[ ! -s "$work/err" ]
check "--missing=json -q says nothing else"
told 0 crash --missing=json -o "$work/written.d/" -d $dsym $reports/demo.crash
cmp -s "$work/written.d/demo.crash" $reports/demo.crash
[ $? -eq 1 ]
check "--missing=json -o writes the reports too"
told 2 crash --missing=xml $reports/demo.crash

# Many reports that each want other images: all are listed, none twice.
for i in 1 2 3 4; do
    awk -v first=$i 'BEGIN {
        print "Process: x [1]\n\nThread 0:"
        for (i = 0; i < 900; i++) printf "%d   lib 0x%x 0x1 + 1\n", i, 16777216 + i * 4096 + 8
        print "\nBinary Images:"
        for (i = 0; i < 900; i++)
            printf "0x%x - 0x%x lib%d arm64 <%032x> /l\n", 16777216 + i * 4096, 16777216 + i * 4096 + 4095, i, first * 300 + i
    }' >"$work/many$i.crash"
done
told 0 crash -q --missing=text -d "$work/empty" "$work"/many?.crash
[ "$(sed 1,2d "$work/out" | wc -l)" -eq 1800 ] && [ "$(sed 1,2d "$work/out" | grep -c ' 3        3 ')" -eq 600 ]
check "images of many reports, each listed once"

# MetricKit tells no paths: what lies where the kernel puts the shared cache is the system's.
cat >"$work/kit.json" <<'END'
{"crashDiagnostics":[{"callStackTree":{"callStackPerThread":true,"callStacks":[{"threadAttributed":true,"callStackRootFrames":[
{"binaryUUID":"70B89F27-1634-3580-A695-57CDB41D7743","offsetIntoBinaryTextSegment":165304,"binaryName":"MyApp","address":4370000000,"subFrames":[
{"binaryUUID":"80B89F27-1634-3580-A695-57CDB41D7743","offsetIntoBinaryTextSegment":65304,"binaryName":"UIKitCore","address":7170766264}]}]}]}}]}
END
told 0 crash -d "$work/empty" "$work/kit.json"
err_has "missing: MyApp (1), the system (1)"
sed 's|\\/usr\\/lib|\\/x|; s|libsystem_kernel|libother|' $reports/demo.ips >"$work/nopath.ips"
told 0 crash -d $dsym "$work/nopath.ips"
cp "$work/err" "$work/before"
sed 's|"usedImages"|"sharedCache":{"base":7862550528,"size":32768},"usedImages"|' "$work/nopath.ips" >"$work/cache.ips"
told 0 crash -d $dsym "$work/cache.ips"
err_has "missing: the system (1)"
grep -q "missing debug info" "$work/before"
check "without sharedCache the same image is wanted"

# ---- Damaged files ----

mkdir -p "$work/a" "$work/b" "$work/d1" "$work/d2"
$MACHSYM map build --no-progress --lines=people -o "$work/b/demo.symmap" $dsym 2>/dev/null
cp "$work/b/demo.symmap" "$work/a/demo.symmap"
printf x | dd of="$work/a/demo.symmap" bs=1 seek=700 conv=notrunc 2>/dev/null
told 0 crash -q -d $dsym $reports/demo.crash
cp "$work/out" "$work/want"
told 0 crash -d "$work/a" -d "$work/b" $reports/demo.crash
same "$work/want" "$work/out" "a damaged map hides no good one"
err_has "a/demo.symmap: the map's checksum does not match its bytes; build it again; taken in its place: $work/b/demo.symmap"
told 0 crash -q -d "$work/a" -d $dsym $reports/demo.crash
same "$work/want" "$work/out" "nor a dSYM"
err_has "a/demo.symmap: the map's checksum"
told 1 crash -q -d "$work/a" $reports/demo.crash
err_has "a/demo.symmap: the map's checksum"
told 1 crash -d "$work/a" $reports/demo.crash
err_has "demo.symmap in $work/a cannot be opened: the map's checksum"
cp -R $dsym "$work/d1/"
cp -R $dsym "$work/d2/"
head -c 9000 $dsym/$inside/demo >"$work/d1/demo.app.dSYM/$inside/demo"
told 0 crash -q -d "$work/d1" -d "$work/d2" $reports/demo.crash
same "$work/want" "$work/out" "a dSYM that is cut short hides no whole one"
err_has "d1/demo.app.dSYM/$inside/demo: cut short: at least 4264 bytes are missing at its end"
err_has "; taken in its place: $work/d2/demo.app.dSYM"
told 1 crash -d "$work/d1" $reports/demo.crash
err_has "d1/demo.app.dSYM/$inside/demo: cut short: "
err_has "demo.app.dSYM in $work/d1 is damaged: a section runs past"
told 1 crash -q --json -d "$work/d1" $reports/demo.crash
grep -q '"status":"found".*"damage":"a section runs past' "$work/out"
check "JSON says what is damaged in a file that was found"
told 0 crash -q --json -d "$work/b" $reports/demo.crash
grep -q '"status":"found".*"has_debug_info":true}' "$work/out" && ! grep -q '"damage"' "$work/out"
check "of a whole one it says nothing"
# What JSON says of an image, by what was found for it.
mkdir -p "$work/named" "$work/two/1" "$work/two/2"
cp -R $bin/inline-arm64-d5-22.dSYM "$work/named/demo.dSYM"
mv "$work/named/demo.dSYM/$inside/"* "$work/named/demo.dSYM/$inside/demo"
cp -R $dsym "$work/two/1/"
cp -R "$work/named/demo.dSYM" "$work/two/2/"
sed 's/ <4c4c44b5[0-9a-f]*>//' $reports/demo.crash >"$work/unproven.crash"
while IFS='|' read -r state folder report; do
    # shellcheck disable=SC2086
    $MACHSYM crash -q --json --no-cache -d $folder "$report" >"$work/out" 2>"$work/err"
    sed 's/{"name":/\n&/g' "$work/out" | grep '^{"name":"demo",' | grep -qF "\"status\":\"$state\""
    check "JSON: $state" "$work/out"
    sed 's/{"name":/\n&/g' "$work/out" | grep '^{"name":"libsystem_c.dylib",' | grep -q '"status":"not needed","symbols":null}'
    check "JSON: an image without frames is not needed" "$work/out"
done <<END
found|$dsym|$reports/demo.crash
no file has this UUID|$work/empty|$reports/demo.crash
a file of this name has another UUID|$work/named|$reports/demo.crash
the file cannot be opened|$work/a|$reports/demo.crash
no UUID; a file of this name may be of another build|$dsym|$work/unproven.crash
several files of this name|$work/two --no-uuid|$work/unproven.crash
END
head -c 300 "$work/b/demo.symmap" >"$work/cut.symmap"
told 1 crash -q -d "$work/cut.symmap" $reports/demo.crash
err_has "cut.symmap: the map is cut short"
told 1 crash -q -d Makefile $reports/demo.crash
told 1 crash -q -d "$work/nowhere" $reports/demo.crash

# ---- atos ----

other=4C4C44B5-5555-3144-A1BA-79CA685DEC59
mkdir -p "$work/store/4C"
cp "$work/b/demo.symmap" "$work/store/4C/$other.symmap"
for file in "-o $dsym" "-o $work/b/demo.symmap" "--symbols $work/store"; do
    told 1 atos $file --uuid $other 0x100000aec
    err_has "UUID $other was asked for; the file holds"
    err_has "  arm64  4C4C44B5-5555-3144-A1BA-79CA685DEC58"
done
cp $bin/demo "$work/demo"
mkdir -p "$work/demo.dSYM/$inside"
cp $bin/inline-arm64-d5-22 "$work/demo.dSYM/$inside/demo"
told 0 atos -o "$work/demo" 0x100000aec
err_has "demo has UUID 4C4C44B5-5555-3144-A1BA-79CA685DEC58, the dSYM beside it 4C4C4465-5555-3144-A185-EBD523938759: it does not answer"
cp $dsym/$inside/demo "$work/demo.dSYM/$inside/demo"
told 0 atos -o "$work/demo" 0x100000aec
[ ! -s "$work/err" ]
check "no message about a dSYM that answers"
mkdir -p "$work/short/d.dSYM/$inside"
cp $bin/demo "$work/short/d"
cp $dsym/$inside/demo "$work/short/d.dSYM/$inside/d"
case $MACHSYM in /* | *' '*) tool=$MACHSYM ;; *) tool=$PWD/$MACHSYM ;; esac
(cd "$work/short" && $tool atos -o d 0x100000aec) >"$work/out" 2>"$work/err"
[ ! -s "$work/err" ] && grep -q ' (in d) (.*:[0-9]*)$' "$work/out"
check "a program whose name has one letter finds its dSYM"
told 0 atos -o $dsym 0x1
told 1 atos --strict -o $dsym 0x1
told 2 atos 0x1

end
