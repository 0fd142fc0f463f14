#!/bin/bash
# Zips, tars, gzip files, static libraries and folders wherever a Mach-O file is taken: they answer as the dSYM in them
# does, damaged ones are refused with what is wrong, and nothing is unpacked to the disk. tests/archives.py makes them with
# Python's zipfile, tarfile and gzip.
. tests/checks
if ! command -v python3 >/dev/null; then
    skip "it needs python3"
    end
    exit
fi
machsym=${MACHSYM:-build/machsym}
case $machsym in /* | *' '*) ;; *) machsym=$(pwd)/$machsym ;; esac
bin=$(pwd)/tests/fixtures/bin
one=$bin/inline-arm64-d5-22.dSYM
two=$bin/demo.app.dSYM
dwarf=Contents/Resources/DWARF
made=$work/made
mkdir "$made"
uuid=$($machsym info --quick "$one" | grep -oE '[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}')
PYTHONDONTWRITEBYTECODE=1 python3 tests/archives.py "$one" "$two" "$made" "$uuid"
check "the archives are made"
cd "$made" || exit 1
find . -type f | sort >"$work/before"

# says NAME STATUS TEXT COMMAND...: what it prints holds the text
says() {
    local name=$1 want=$2 text=$3
    shift 3
    timeout 60 "$@" >"$work/said" 2>&1 </dev/null
    local status=$?
    [ $status -eq "$want" ] && grep -qF -- "$text" "$work/said"
    check "$name: status $status" "$work/said"
}

# same NAME FILE: answers as the dSYM
$machsym atos -o "$one" 0x100000718 0x100000740 >"$work/want"
same() {
    $machsym atos -o "$2" 0x100000718 0x100000740 >"$work/got" 2>&1
    cmp -s "$work/want" "$work/got"
    check "$1" "$work/got"
}

for file in good-* *.gz; do
    case $file in bad-* | good-among-bad.zip) continue ;; esac
    same "$file" "$file"
done
says "good-among-bad.zip answers" 1 "(scan.cpp:7)" $machsym atos -o good-among-bad.zip 0x100000718
says "good-among-bad.zip: what is bad is reported" 1 "good-among-bad.zip/bad.zip: the zip has no end record" \
    $machsym atos -o good-among-bad.zip 0x100000718
for file in sorted*; do # where a file is called debuginfo
    [ -e "$file" ] || continue # zstd is not there
    $machsym atos -o "$file" 0x100000718 0x100000740 2>&1 | sed 's/(in debuginfo)/(in inline-arm64-d5-22)/' >"$work/got"
    cmp -s "$work/want" "$work/got"
    check "$file" "$work/got"
done
for file in bad-*.says; do
    says "${file%.says}" 1 "$(cat "$file")" $machsym atos -o "${file%.says}" 0x100000718
    says "${file%.says}: the file is named" 1 "machsym: ${file%.says}" $machsym atos -o "${file%.says}" 0x100000718
done

# Of several dSYMs one is chosen by its UUID, or by its name in the archive.
says "several dSYMs" 1 "two.zip/demo.app.dSYM/$dwarf/demo" $machsym atos -o two.zip 0x100000718
says "several dSYMs: UUIDs" 1 "$uuid  two.zip/inline-arm64-d5-22.dSYM/$dwarf" $machsym atos -o two.zip 0x100000718
says "a UUID that no file has" 1 "two.zip/demo.app.dSYM/$dwarf/demo" \
    $machsym atos --uuid 00000000-0000-0000-0000-000000000001 -o two.zip 0x1000
$machsym atos -o two.zip --uuid "$uuid" 0x100000718 0x100000740 | cmp -s "$work/want" -
check "by its UUID"
same "by its name" two.zip/inline-arm64-d5-22.dSYM
same "by its whole name" two.zip/inline-arm64-d5-22.dSYM/$dwarf/inline-arm64-d5-22
same "by its name, where the zip has its folders, too, as zip -r writes them" folders.zip/inline-arm64-d5-22.dSYM
says "a name that is not there" 1 "no such member" $machsym atos -o two.zip/none.dSYM 0x1000
says "info lists all" 0 "two.zip/inline-arm64-d5-22.dSYM/$dwarf/inline-arm64-d5-22" $machsym info --quick two.zip
says "symbols" 0 "scan" $machsym symbols good-pax.tar
mkdir "$work/maps"
(cd "$work/maps" && $machsym map build --no-progress "$made/two.zip" >"$work/said" 2>&1)
[ -s "$work/maps/demo.symmap" ] && [ -s "$work/maps/inline-arm64-d5-22.symmap" ]
check "map build: a map of each dSYM"
$machsym map build --no-progress -o "$work/plain.symmap" "$one" >/dev/null 2>&1
cmp -s "$work/plain.symmap" "$work/maps/inline-arm64-d5-22.symmap"
check "map build: the map is that of the dSYM"

# Maps in archives, and archives in folders, which are looked into once.
python3 -m zipfile -c maps.zip "$work/maps"
says "a map in a zip" 0 "(scan.cpp:7)" $machsym atos -o maps.zip --uuid "$uuid" 0x100000718
says "a map in a zip, by its name" 0 "(scan.cpp:7)" $machsym atos -o maps.zip/maps/inline-arm64-d5-22.symmap 0x100000718
says "info of maps in a zip" 0 "lines: atos" $machsym info maps.zip
says "map verify of a map in a zip" 0 "maps.zip/maps/inline-arm64-d5-22.symmap: the same bytes" \
    $machsym map verify maps.zip/maps/inline-arm64-d5-22.symmap two.zip
says "map info of a map that is not in the zip" 1 "no such member" $machsym map info maps.zip/none.symmap
says "map info of a map in a damaged zip" 1 "no end record" $machsym map info bad-cut.zip/none.symmap
says "map info of the maps in a zip: the first" 0 "maps.zip/maps/demo.symmap" $machsym map info maps.zip
says "map info of the maps in a zip: the second" 0 "maps.zip/maps/inline-arm64-d5-22.symmap" $machsym map info maps.zip
says "map info of a folder" 0 "maps/demo.symmap" $machsym map info "$work/maps"
says "map info of a cut zip" 1 "bad-cut.zip: the zip has no end record" $machsym map info bad-cut.zip
says "map info of a zip without maps" 1 "two.zip: the archive holds no symbol map" $machsym map info two.zip
says "map info of a map in a zip" 0 "lines: atos" $machsym map info maps.zip/maps/demo.symmap
mkdir -p "$work/zips/deep"
cp two.zip maps.zip "$work/zips/deep"
find "$work/zips" -exec touch -d 2020-01-01 {} +
for how in anew "by the index"; do
    XDG_CACHE_HOME=$work/cache $machsym atos --symbols "$work/zips" --uuid "$uuid" 0x100000718 0x100000740 >"$work/got" 2>&1
    cmp -s "$work/want" "$work/got"
    check "zips in a folder, $how" "$work/got"
done
mkdir "$work/later"
ln -s "$work/target.symmap" "$work/later/link.symmap"
touch -d 2020-01-01 "$work/later"
says "a link that leads nowhere yet" 1 "$uuid" env XDG_CACHE_HOME="$work/cache" $machsym atos --symbols "$work/later" --uuid "$uuid" 0x100000718
cp "$work/plain.symmap" "$work/target.symmap"
XDG_CACHE_HOME=$work/cache $machsym atos --symbols "$work/later" --uuid "$uuid" 0x100000718 0x100000740 >"$work/got" 2>&1
cmp -s "$work/want" "$work/got"
check "what a link leads to is found once it is there" "$work/got"
says "atos -o of a folder of zips" 0 "(scan.cpp:7)" $machsym atos -o "$work/zips" --uuid "$uuid" 0x100000718
cp good-comment.zip "$work/zips/cut.zip"
head -c 5000 good-comment.zip >"$work/zips/cut.zip"
says "a damaged zip in a folder" 0 "zips/cut.zip: the zip has no end record" \
    $machsym atos --symbols "$work/zips" --uuid "$uuid" --no-cache 0x100000718
rm maps.zip

# Names that a bitcode build hid: the archive's BCSymbolMaps give them back, unpacked and zipped, and in a store.
printf '0   App  0x100000718 0x100000000 + 0\n1   App  0x100000744 0x100000000 + 0\nBinary Images:\n%s <%s> /App\n' \
    '0x100000000 - 0x1000fffff App arm64' "${uuid//-/}" >"$work/hidden.crash"
$machsym crash -q -d "$one" "$work/hidden.crash" >"$work/plain.crash"
grep -q 'scan(shape::Box<int> const\*, int)' "$work/plain.crash"
check "the names that are hidden" "$work/plain.crash"
for what in App.xcarchive hidden.xcarchive.zip; do
    $machsym crash -q -d $what "$work/hidden.crash" >"$work/got" 2>&1
    cmp -s "$work/plain.crash" "$work/got"
    check "crash: hidden names in $what" "$work/got"
    same "atos: hidden names in $what" $what
    $machsym store add "$work/kept-$what" $what >"$work/said" 2>&1
    $machsym crash -q -d "$work/kept-$what" "$work/hidden.crash" >"$work/got" 2>&1
    cmp -s "$work/plain.crash" "$work/got"
    check "store add: hidden names in $what" "$work/got"
done
mkdir "$work/alone"
cp -R App.xcarchive/dSYMs "$work/alone/"
says "hidden names without a map" 0 "__hidden#" $machsym crash -q -d "$work/alone" "$work/hidden.crash"
says "check: hidden names without a map" 1 "hidden names  " $machsym check "$work/alone"
says "check: hidden names with their map" 0 "1 image: 1 ok, 0 not" $machsym check App.xcarchive
for what in symbolmaps.zip App.xcarchive App.xcarchive/BCSymbolMaps/*; do
    $machsym crash -q -d "$work/alone" --bcsymbolmap $what "$work/hidden.crash" >"$work/got" 2>&1
    cmp -s "$work/plain.crash" "$work/got"
    check "--bcsymbolmap $what" "$work/got"
done

# A zip of 30,000 libraries takes a second, not a time that grows with their square.
(ulimit -t 5 && $machsym info --quick --no-cache --symbols many.zip --uuid 11223344-5566-7788-0000-00000000752F) >"$work/said" 2>&1
grep -q 'many.zip/lib29999.dylib' "$work/said"
check "one of 30,000" "$work/said"

# All slices of a universal file are told, or it is reported that some are not.
$machsym info --quick slices-200 >"$work/said" 2>&1
[ $? -eq 0 ] && [ "$(grep -c '11223344-5566-7788-0000-' "$work/said")" -eq 200 ]
check "info: 200 slices" "$work/said"
$machsym store add "$work/kept-slices" slices-200 >"$work/said" 2>&1
[ $? -eq 0 ] && [ "$($machsym store list "$work/kept-slices" | grep -c '11223344-5566-7788-0000-')" -eq 200 ]
check "store add: 200 slices" "$work/said"
mkdir "$work/fat"
cp slices-200 "$work/fat"
says "a UUID of 200 slices in a folder" 0 00000000000000C7 sh -c \
    '"$1" info --quick --no-cache --symbols "$2" --uuid 11223344-5566-7788-0000-0000000000C7 | tr -d -- -' - $machsym "$work/fat"
says "info: 300 slices" 1 "slices past MACHSYM_MAX_SLICES are left out" $machsym info --quick slices-300
says "info: 300 slices, one for PowerPC" 1 "slices past MACHSYM_MAX_SLICES are left out" $machsym info --quick slices-300-ppc
says "store add: 300 slices" 1 "slices past MACHSYM_MAX_SLICES are left out" $machsym store add "$work/kept-300" slices-300
says "atos: a slice past those looked at" 1 "past MACHSYM_MAX_SLICES" \
    $machsym atos -o slices-300 --uuid 11223344-5566-7788-0000-00000000012B 0x1000

# Folders: an archive of Xcode, and links that lead outside or in circles.
mkdir -p "$work/App.xcarchive/dSYMs" "$work/outside"
cp -r "$two" "$work/outside/"
cp -r "$one" "$work/App.xcarchive/dSYMs/"
ln -s "$work/outside" "$work/App.xcarchive/dSYMs/link"
ln -s .. "$work/App.xcarchive/dSYMs/circle"
same "an .xcarchive" "$work/App.xcarchive"
mkdir -p "$work/App.xcframework/ios-arm64/App.framework/Versions/A"
cp "$one/$dwarf/inline-arm64-d5-22" "$work/App.xcframework/ios-arm64/App.framework/Versions/A/inline-arm64-d5-22"
ln -s A "$work/App.xcframework/ios-arm64/App.framework/Versions/Current"
same "an .xcframework" "$work/App.xcframework"

# Static libraries.
for library in bsd darwin gnu fat/arm64; do
    file=$bin/archive/${library%/*}.a
    slash=${library#*/}
    [ "$slash" = "$library" ] && slash= || slash=$slash/
    says "$library.a is listed" 0 "util_with_a_long_name.o" $machsym info --quick "$file"
    $machsym symbols "$bin/archive/util.o" | sed 's/ (.*//' >"$work/object" 2>/dev/null
    $machsym symbols "$file/${slash}util.o" | sed 's/ (.*//' | cmp -s "$work/object" -
    check "a member of $library.a"
done

# The members of a thin one are files beside it: below its folder, and nowhere else.
says "thin.a is listed" 0 "util_with_a_long_name.o" $machsym info --quick "$bin/archive/thin.a"
$machsym symbols "$bin/archive/util.o" | sed 's/ (.*//' >"$work/object" 2>/dev/null
$machsym symbols "$bin/archive/thin.a" --member util.o | sed 's/ (.*//' | cmp -s "$work/object" -
check "a member of thin.a"
mkdir -p "$work/thin/below"
cp "$bin/archive/thin.a" "$work/thin/below/thin.a"
cp "$bin/archive/util.o" "$work/thin/util.o"
outside="no file below the library's folder that can be read; name the file itself"
says "a thin library without its files" 1 "$outside" $machsym symbols "$work/thin/below/thin.a" --member util.o
ln -s ../util.o "$work/thin/below/util.o"
says "a thin library whose file is a link to the outside" 1 "$outside" \
    $machsym symbols "$work/thin/below/thin.a" --member util.o
rm "$work/thin/below/util.o"
sed 's,^util.o/,../u.o/,' "$bin/archive/thin.a" >"$work/thin/below/up.a"
cp "$bin/archive/util.o" "$work/thin/u.o"
says "a thin library with a name that leads up" 1 "$outside" $machsym symbols "$work/thin/below/up.a" --member ../u.o
head -c 3000 "$bin/archive/util.o" >"$work/thin/below/util.o"
says "a thin library whose file changed" 1 "the member's file has another size than the thin static library says" \
    $machsym symbols "$work/thin/below/thin.a" --member util.o
# --member NAME is FILE/NAME, in the answer and in what is reported.
member() { # STATUS FILE NAME COMMAND... (with FILE for the file)
    local want=$1 file=$2 name=$3 status
    shift 3
    timeout 60 $machsym "${@/#FILE/$file/$name}" >"$work/want" 2>"$work/said" </dev/null
    timeout 60 $machsym "${@/#FILE/$file}" --member "$name" >"$work/got" 2>"$work/said-got" </dev/null
    status=$?
    [ $status -eq "$want" ] && cmp -s "$work/want" "$work/got" && cmp -s "$work/said" "$work/said-got"
    check "--member $name of $file: $1: status $status" "$work/said-got"
}
inner=inline-arm64-d5-22.dSYM
member 0 two.zip $inner atos -o FILE 0x100000718
grep -qF "(scan.cpp:7)" "$work/got"
check "atos --member answers" "$work/got"
member 0 good-pax.tar "$($machsym info --quick good-pax.tar | sed -n 's,^good-pax.tar/,,p')" atos -o FILE 0x100000718
member 0 two.zip $inner/$dwarf/inline-arm64-d5-22 info FILE
member 0 two.zip $inner map build --no-progress -o "$work/member.symmap" FILE
cmp -s "$work/plain.symmap" "$work/member.symmap"
check "map build --member makes the map of the dSYM"
member 0 "$bin/archive/fat.a" arm64/util.o symbols FILE
[ -s "$work/got" ]
check "symbols --member answers" "$work/got"
member 0 "$bin/archive/bsd.a" util.o objc FILE
member 0 two.zip $inner owners --prefix=s FILE 0x100000718
member 1 two.zip none.dSYM info FILE
grep -qF "two.zip/none.dSYM: the archive has no such member" "$work/said-got"
check "a --member that is not there is named" "$work/said-got"
member 1 bad-cut.zip $inner symbols FILE
says "--member beside --symbols" 2 "--member is of a file that is named" \
    $machsym atos --symbols two.zip --uuid "$uuid" --member $inner 0x100000718

# A report, with its dSYM in a zip beside another.
report=$bin/../reports/demo-crlf.crash
$machsym crash -q -d "$two" "$report" >"$work/want" 2>/dev/null
$machsym crash -q -d two.zip "$report" >"$work/got" 2>"$work/said"
mkdir "$work/nothing"
cmp -s "$work/want" "$work/got" && ! (cd "$work/nothing" && $machsym crash -q "$report") 2>/dev/null | cmp -s "$work/got" -
check "crash -d ZIP" "$work/said"
says "crash -d with a damaged zip" 1 "no end record" $machsym crash -q -d bad-cut.zip "$report"

# Reports in archives and folders, and lists of them.
mkdir -p "$work/reports/empty" "$work/reports/folder" "$work/reports/zipped" "$work/written"
cp "$report" "$work/reports/one.crash"
cp "$bin/../reports/demo-cr.crash" "$work/reports/two.crash"
echo "no report" >"$work/reports/readme.md"
cp "$work/reports"/*.* "$work/reports/folder"
points=$work/reports/A.xccrashpoint/Filters/Filter_1
mkdir -p "$points/Logs" "$points/LocallySymbolicated" "$work/reports/A.xccrashpoint/DistributionInfos"
cp "$work/reports"/*.crash "$points/Logs"
cp "$work/reports"/*.crash "$points/LocallySymbolicated"
echo '{}' >"$work/reports/A.xccrashpoint/DistributionInfos/all.json"
(cd "$work/reports" && python3 -m zipfile -c all.zip one.crash two.crash readme.md && tar czf all.tar.gz one.crash two.crash &&
    python3 -c 'import gzip; gzip.open("one.crash.gz", "wb").write(open("one.crash", "rb").read())')
$machsym crash -q -d "$two" "$work/reports/one.crash" "$work/reports/two.crash" >"$work/want" 2>/dev/null
[ -s "$work/want" ]
check "two reports"
cp "$work/reports/all.zip" "$work/reports/zipped"
(cd "$work/reports" && python3 -m zipfile -c points.zip A.xccrashpoint && python3 -m zipfile -c deep.zip all.zip)
for what in all.zip all.tar.gz folder zipped A.xccrashpoint points.zip deep.zip; do
    $machsym crash -q -d "$two" "$work/reports/$what" >"$work/got" 2>"$work/said"
    cmp -s "$work/want" "$work/got"
    check "reports in $what" "$work/said"
done
$machsym crash -q -d "$two" "$work/reports/one.crash.gz" 2>"$work/said" |
    cmp -s - <($machsym crash -q -d "$two" "$work/reports/one.crash" 2>/dev/null)
check "a report that gzip compressed" "$work/said"

# Mails as Python's email writes them: each part is answered as the file that Python takes out of it.
mkdir -p "$work/mails" "$work/taken"
python3 - "$report" "$bin/../reports/demo.ips" "$work/mails" "$work/taken" <<'END'
import email, mailbox, os, re, sys
from email.message import EmailMessage
from email.policy import SMTP

crash, ips = (open(path, "rb").read() for path in sys.argv[1:3])
mails, taken = sys.argv[3:5]


def mail(text, **how):
    m = EmailMessage(policy=SMTP)
    m["From"], m["To"], m["Subject"] = "a@example.org", "b@example.org", "A crash, again and again " * 9
    m.set_content(text, **how)
    return m


text = crash.decode().replace("\r\n", "\n")
attached = mail("See the report.\n")
attached.add_attachment(ips, maintype="application", subtype="octet-stream", filename="demo.ips")
attached.add_attachment(crash, maintype="text", subtype="plain", filename="../../sub/demo.crash", cte="quoted-printable")
attached.add_attachment(ips, maintype="application", subtype="x", filename="demo.ips")
attached.add_attachment(ips, maintype="application", subtype="x", filename="größer; \"1\".ips")
forward = mail("See below.\n")
forward.add_attachment(mail("Ärger\n" + text, cte="quoted-printable"))
made = {"attached": attached, "quoted": mail("Ärger = 1\t \n" + text, cte="quoted-printable"), "base64": mail(text, cte="base64"), "forward": forward}
made["lower"] = made["quoted"]  # mailers that write small letters
for name, m in made.items():
    data = m.as_bytes()
    if name == "lower":
        data = re.sub(b"=[0-9A-F]{2}", lambda found: found.group().lower(), data)
    if name == "quoted":
        data = b"From a@example.org Thu Mar 14 08:26:53 2026\n" + data.replace(b"\r\n", b"\n")
    open(os.path.join(mails, name + ".eml"), "wb").write(data)
    for i, part in enumerate(p for p in email.message_from_bytes(data).walk() if not p.is_multipart()):
        open(os.path.join(taken, "%s-%d" % (name, i)), "wb").write(part.get_payload(decode=True))
open(os.path.join(mails, "plain.eml"), "wb").write(mail(text, cte="7bit").as_bytes())
box = mailbox.mbox(os.path.join(mails, "box"))
for m in (attached, mail("From here on: 1\n\nFrom nowhere\n" + text, cte="quoted-printable"), mail(text, cte="7bit"), mail(text, cte="base64")):
    box.add(m.as_bytes())
box.close()
data = attached.as_bytes()
for i in range(1, 10):
    open(os.path.join(mails, "cut%d" % i), "wb").write(data[:len(data) * i // 10])
open(os.path.join(mails, "many"), "wb").write(
    b"MIME-Version: 1.0\nContent-Transfer-Encoding: base64\nContent-Type: multipart/mixed; boundary=x\n\n" + b"--x\n\n" * 100000 + b"--x--")
END
count=0
for pair in "attached.eml/demo.ips attached-1" "attached.eml/demo.crash attached-2" "attached.eml/2/demo.ips attached-3" \
    'attached.eml/größer;_"1".ips attached-4' "quoted.eml/part_1.txt quoted-0" "lower.eml/part_1.txt lower-0" "base64.eml/part_1.txt base64-0" "forward.eml/part_2.txt forward-1"; do
    member=${pair% *}
    $machsym crash -q -d "$two" "$work/taken/${pair#* }" >"$work/want.part"
    $machsym crash -q -d "$two" "$work/mails/$(printf '%s' "$member" | tr _ ' ')" >"$work/got" 2>"$work/said"
    [ -s "$work/got" ] && cmp -s "$work/want.part" "$work/got"
    check "a part of a mail: $member" "$work/said"
    count=$((count + 1))
done
says "a mail that nothing in is encoded" 0 "queue.hpp" $machsym crash -q -d "$two" "$work/mails/plain.eml"
rm -f "$work/mails"/*.out
$machsym crash -q --signature -d "$two" "$work/mails" >"$work/got" 2>"$work/said"
[ $? -eq 0 ] && [ "$(wc -l <"$work/got")" -eq $((count + 1)) ] && [ "$(cut -c 1-16 "$work/got" | sort -u | wc -l)" -eq 1 ]
check "a folder of mails, with each report in them" "$work/got"
$machsym crash -q --signature -d "$two" "$work/mails/box" >"$work/got" 2>"$work/said"
[ $? -eq 0 ] && [ "$(wc -l <"$work/got")" -eq 7 ] && [ "$(cut -c 1-16 "$work/got" | sort -u | wc -l)" -eq 1 ]
check "a mailbox of four mails, with each report in them" "$work/got"
(cd "$work/mails" && python3 -m zipfile -c mails.zip attached.eml quoted.eml plain.eml)
$machsym crash -q --signature -d "$two" "$work/mails/mails.zip" >"$work/got" 2>"$work/said"
[ $? -eq 0 ] && [ "$(wc -l <"$work/got")" -eq 6 ] && grep -q 'mails.zip/attached.eml/2/demo.ips$' "$work/got" && grep -q 'mails.zip/plain.eml$' "$work/got"
check "mails in a zip" "$work/got"
$machsym crash -q -d "$two" "$work/mails/mails.zip/quoted.eml/part 1.txt" 2>"$work/said" | cmp -s - <($machsym crash -q -d "$two" "$work/taken/quoted-0")
check "a part of a mail in a zip" "$work/said"
for i in 1 2 3 4 5 6 7 8 9; do
    $machsym crash -q -d "$two" "$work/mails/cut$i" >"$work/got" 2>"$work/said"
    [ $? -eq 1 ] && [ ! -s "$work/got" ] && [ -s "$work/said" ]
    check "a mail that is cut short at $i tenths is refused" "$work/said"
done
says "a mail of many parts" 1 "more than 4096 parts" $machsym crash -q -d "$two" "$work/mails/many"

# Zstandard, at levels and sizes beside those of tests/test_zstd.c: reports grow by lines that are no frames.
for tool in bzip2 xz; do
    if need "$tool is named" $tool; then
        $tool -k "$work/reports/one.crash"
        says "a report that $tool compressed" 1 "compressed by $tool, which is not read here; unpack it with \`" $machsym crash -q "$work/reports"/one.crash.[bx]z*
        rm "$work/reports"/one.crash.[bx]z*
    fi
done
if need "reports and symbols that zstd compressed" zstd; then
    size=0
    for level in 1 2 3 5 7 9 12 15 17 19 "-ultra -22" "-fast=3" "-no-check" "-long=25"; do
        size=$((size * 3 + 1))
        lines=$((size % 60000))
        { cat "$report" && yes "a line of $level $size" | head -n $lines; } >"$work/sized.crash"
        # shellcheck disable=SC2086
        zstd -q -f -$level "$work/sized.crash" -o "$work/sized.crash.zst"
        $machsym crash -q -d "$two" "$work/sized.crash" >"$work/want.sized" 2>/dev/null
        $machsym crash -q -d "$two" "$work/sized.crash.zst" >"$work/got" 2>"$work/said"
        [ -s "$work/got" ] && cmp -s "$work/want.sized" "$work/got"
        check "zstd -$level, $lines lines more" "$work/said"
    done
    $machsym crash -q -d "$two" "$work/reports/one.crash" >"$work/want.one" 2>/dev/null
    mkdir -p "$work/sorted/4c/4c44b555553144a1ba79ca685dec58" "$work/ended"
    packed=$bin/demo.app.dSYM/Contents/Resources/DWARF/demo
    zstd -q "$packed" -o "$work/sorted/4c/4c44b555553144a1ba79ca685dec58/debuginfo"
    zstd -q "$packed" -o "$work/ended/demo.dwarf.zst"
    $machsym crash -q -d "$bin/demo.app.dSYM" "$report" >"$work/want.one"
    for symbols in sorted ended ended/demo.dwarf.zst; do
        $machsym crash -q -d "$work/$symbols" "$report" >"$work/got" 2>"$work/said"
        cmp -s "$work/want.one" "$work/got"
        check "symbols in $symbols" "$work/said"
        $machsym store add "$work/kept-$symbols" "$work/$symbols" >"$work/said" 2>&1
        $machsym crash -q -d "$work/kept-$symbols" "$report" >"$work/got" 2>>"$work/said"
        cmp -s "$work/want.one" "$work/got"
        check "store add of $symbols" "$work/said"
    done
    (cd "$work/reports" && tar cf - one.crash two.crash | zstd -q >all.tar.zst)
    $machsym crash -q -d "$two" "$work/reports/all.tar.zst" >"$work/got" 2>"$work/said"
    cmp -s "$work/want" "$work/got"
    check "reports in all.tar.zst" "$work/said"
    rm "$work/reports/all.tar.zst"
    head -c 300 "$work/sized.crash.zst" >"$work/cut.crash.zst"
    says "half a zstd file" 1 "damaged or cut short; copy the file again" $machsym crash -q "$work/cut.crash.zst"
    head -c 100000000 /dev/zero | zstd -q >"$work/bomb.crash.zst"
    says "a bomb" 1 "more than 256 times its size" $machsym crash -q "$work/bomb.crash.zst"
fi
printf '%s\n\n%s\n' "$work/reports/one.crash" "$work/reports/all.zip/two.crash" >"$work/list"
$machsym crash -q -d "$two" --files-from "$work/list" >"$work/got" 2>"$work/said"
cmp -s "$work/want" "$work/got"
check "--files-from" "$work/said"
$machsym crash -q -d "$two" --files-from - <"$work/list" | cmp -s "$work/want" -
check "--files-from -"
tr '\n' '\0' <"$work/list" | $machsym crash -q -d "$two" --files-from - | cmp -s "$work/want" -
check "--files-from of names that NULs end"
: >"$work/nothing-named"
says "--files-from: an empty list" 1 "named: the list names no report" $machsym crash -q -d "$two" --files-from "$work/nothing-named"
python3 - "$work" "$report" <<'END'
import io, os, sys, zipfile
work, report = sys.argv[1:]
with zipfile.ZipFile(work + "/turns.zip", "w") as outer:
    for name in "ab":
        inner = io.BytesIO()
        with zipfile.ZipFile(inner, "w") as made:
            made.write(report, "one.crash")
            made.writestr("noise", os.urandom(200000))
        outer.writestr(name + ".zip", inner.getvalue())
with open(work + "/turns", "w") as turns:
    turns.writelines("%s/turns.zip/%s.zip/one.crash\n" % (work, "ab"[i % 2]) for i in range(640))
END
$machsym crash -q --signature -d "$work/nothing" --files-from "$work/turns" >"$work/got" 2>"$work/said"
[ $? -eq 0 ] && [ "$(wc -l <"$work/got")" -eq 640 ]
check "reports of two archives in an archive, in turn" "$work/said"
(cd "$work/reports" && python3 -m zipfile -c single.zip one.crash)
(cd "$work/maps" && python3 -m zipfile -c ../own.zip demo.symmap && cp ../own.zip ../own)
cp "$work/reports/single.zip" "$work/single"
own="is the input, which would be gone: name another output"
says "an archive is not replaced by its report" 1 "$own" $machsym crash -q -o "$work/single" "$work/single"
says "nor by groups of its reports" 1 "$own" $machsym crash -q --group --groups-out "$work/single" "$work/single"
says "nor by a table of its map" 1 "$own" $machsym map export --format bugly -o "$work/own" "$work/own/demo.symmap"
cmp "$work/reports/single.zip" "$work/single" && cmp "$work/own.zip" "$work/own"
check "archives stay as they were"
says "several reports into a file" 1 "list: no folder, which several reports want" \
    $machsym crash -q -d "$two" -o "$work/list" "$report" "$report"
says "chunks without a format" 2 "--chunks wants --format=resp, tsv or jsonl" $machsym map export --chunks=10000 "$work/list"
says "--files-from: no such list" 1 "none: " $machsym crash -q -d "$two" --files-from none
deep=$work/deepest$(printf '/d%.0s' $(seq 34))
mkdir -p "$deep"
cp "$report" "$deep"
cp "$report" "$work/deepest"
says "reports that lie too deep are not left out without a word" 1 "/d: the folder lies 32 folders deep" \
    $machsym crash -q -d "$two" "$work/deepest"
if need_nobody "what may not be read"; then
    mkdir "$work/closed"
    mkdir -m 0 "$work/closed/in"
    mkdir -m 777 "$work/kept-closed"
    cp "$report" "$work/closed"
    cp -r "$two" "$work/closed"
    cp "$machsym" "$work/tool"
    chmod 755 "$work" "$work/tool" "$work/closed"
    chmod 0 "$work/closed/demo.app.dSYM/$dwarf/demo"
    nobody="$nobody $work/tool"
    says "a folder of reports that may not be read" 1 "closed/in: the folder cannot be read: Permission denied" \
        $nobody crash -q --no-cache "$work/closed"
    says "a dSYM that may not be read" 1 "$dwarf/demo: cannot be read: Permission denied" $nobody store add "$work/kept-closed" "$work/closed"
    waiting="crash -q --no-cache -o /dev/null $work/closed/$(basename "$report")"
    says "a report waits for a dSYM that may not be read" 1 "$dwarf/demo: cannot be read: Permission denied" $nobody $waiting -d "$work/closed"
    says "a report waits, and a folder of symbols may not be read" 1 "closed/in: cannot be read: Permission denied" \
        $nobody $waiting -d "$work/closed/in"
    mkdir "$work/many-closed"
    (cd "$work/many-closed" && touch $(seq 13) && chmod 0 $(seq 13) && cp -r "$two" .)
    says "of many the number is reported; the report waits for none" 0 "3 more files and folders cannot be read" \
        $nobody $waiting -d "$work/many-closed"
    [ "$($nobody $waiting -d "$work/many-closed" 2>&1 | grep -c 'closed/[0-9]*: cannot be read')" -eq 10 ]
    check "ten of them are reported one by one"
fi
says "a folder without reports" 1 "the folder holds no report" $machsym crash -q -d "$two" "$work/reports/empty"
says "a zip without reports" 1 "the archive holds no report" $machsym crash -q -d "$two" two.zip
says "a damaged zip of reports" 1 "no end record" $machsym crash -q -d "$two" bad-cut.zip
cp -r "$two" "$work/reports/"
(cd "$work" && $machsym crash -q "reports/all.zip" >"$work/got" 2>/dev/null)
cmp -s "$work/want" "$work/got"
check "the dSYM beside the zip of reports is found"
$machsym crash -q -d "$two" -o "$work/written" "$work/reports/all.zip" 2>"$work/said"
[ -s "$work/written/one.crash" ] && [ -s "$work/written/two.crash" ]
check "crash -o: a file for each report"

find . -type f | sort | cmp -s "$work/before" -
check "nothing is unpacked"
[ ! -e /tmp/outside ]
check "nothing is unpacked where names lead"
end
