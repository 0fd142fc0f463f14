#!/bin/sh
# machsym crash --redact: nothing of a person or a device comes out, in any format; equal values stay equal; nothing else
# changes.
MACHSYM=${MACHSYM:-build/machsym}
reports=tests/fixtures/reports
dsym=tests/fixtures/bin/demo.app.dSYM
. tests/checks
export XDG_CACHE_HOME="$work/cache"

keyed() # ARGUMENT...: with words, so that it is the same in every run
{
    $MACHSYM crash -q --redact-key "some words" -d $dsym "$@"
}

# What must not come out: each word of it is in the reports below.
secrets='alice|Alice|zoe|bob|jenkins|0B2C3D4E|0123456789abcdef0123|aaaa1111|bbbb2222|cccc3333|dddd4444|eeee5555|192\.168|718394650287|0a1b2c3d'

cat >"$work/case.crash" <<'END'
Incident Identifier: 0B2C3D4E-AAAA-BBBB-CCCC-0123456789AB
CrashReporter Key:   0123456789abcdef0123456789abcdef01234567
Anonymous UUID:      AAAA1111-0000-0000-0000-000000000000
Sleep/Wake UUID:     BBBB2222-0000-0000-0000-000000000000
Device Name: Alice's "iPhone
User ID:   718394650287
Process:         demo [1]
Path:            /Users/alice smith/Library/App.app/demo
Version:         1.2 (7)
Application Specific Information:
cannot open /Users/zoe: see /home/bob/x, /Users/Shared/y, file:///Users/alice%20smith/z and (/Users/alice)

Thread 0 name: Users
Thread 0 Crashed:
0   demo  0x102a30aec 0x102a30000 + 1
1   libfoo  0x112a30aec 0x112a30000 + 1

Binary Images:
0x102a30000 - 0x102a33fff demo arm64  <4c4c44b555553144a1ba79ca685dec58> /Users/alice smith/Library/App.app/demo
0x112a30000 - 0x112a33fff libfoo arm64  <4c4c44b555553144a1ba79ca685dec59> /home/bob/libfoo
END
cat >"$work/case.ips" <<'END'
{"app_name":"demo","timestamp":"2024-05-01 10:00:00.00 +0000","slice_uuid":"4c4c44b5-5555-3144-a1ba-79ca685dec58","incident_id":"0B2C3D4E-AAAA-BBBB-CCCC-0123456789AB","bug_type":"309","name":"demo","os_version":"iPhone OS 17.4"}
{
  "incident" : "0B2C3D4E-AAAA-BBBB-CCCC-0123456789AB", "usedID" : 12, "userID" : 718394650287,
  "crashReporterKey":"0123456789abcdef0123456789abcdef01234567",
  "storeInfo":{"deviceIdentifierForVendor":"CCCC3333-0000-0000-0000-000000000000","itemID":"12"},
  "sleepWakeUUID":"BBBB2222-0000-0000-0000-000000000000","bootSessionUUID":"DDDD4444-0000-0000-0000-000000000000",
  "procName":"demo","procPath":"\/Users\/alice smith\/App.app\/demo","bundleInfo":{"CFBundleIdentifier":"com.demo"},
  "usedImages":[{"base":4339204096,"size":16384,"uuid":"4c4c44b5-5555-3144-a1ba-79ca685dec58","arch":"arm64",
  "path":"\/Users\/alice smith\/App.app\/demo","name":"demo"},
  {"base":4639204096,"size":16384,"uuid":"4c4c44b5-5555-3144-a1ba-79ca685dec59","name":"\/home\/bob\/libfoo","path":"\/home\/bob\/libfoo"}],
  "threads":[{"triggered":true,"name":"\u2019{\"device\":{\"name\":","frames":[{"imageIndex":0,"imageOffset":2796},{"imageIndex":1,"imageOffset":2796}]}],
  "asi":{"libc":["\/Users\/zo\u00e9 zoe\/x is missing"]}, "device":{"name":"Alice\u2019s iPhone","model":"iPhone12,1"}
}
END
cat >"$work/case.json" <<'END'
{"event_id":"aaaa1111000000000000000000000000","name":"demo","user":{"id":"718394650287","email":"alice@example.org","ip_address":"192.168.1.1","username":"zoe"},
"contexts":{"device":{"screens":[{"dpi":2}, {"dpi":3}],"name":"Alice's iPhone","model":"iPhone12,1","device_app_hash":"eeee5555eeee"},"app":{"name":"demo"}},"server_name":"bob",
"debug_meta":{"images":[{"debug_id":"4C4C44B5-5555-3144-A1BA-79CA685DEC58","image_addr":"0x102a30000","image_size":16384,"code_file":"/Users/alice/demo","arch":"arm64"}]},
"threads":{"values":[{"stacktrace":{"frames":[{"instruction_addr":"0x102a30aec"}]}}]}}
END
cat >"$work/case-bugsnag.json" <<'END'
{"exceptions":[{"errorClass":"SIGABRT","stacktrace":[{"frameAddress":"0x102a30aec","machoLoadAddress":"0x102a30000","machoFile":"/Users/alice/demo",
"machoUUID":"4C4C44B5-5555-3144-A1BA-79CA685DEC58"}]}],"device":{"model":"iPhone12,1","id":"cccc3333aaaa"},"session":{"id":"0a1b2c3d"},"user":{"id":"718394650287","name":"zoe","email":"bob@example.org"}}
END
cp tests/fixtures/services/crashlytics-crashed.txt "$work/case-crashlytics.txt"
cat >"$work/case-datadog.json" <<'END'
{"usr":{"id":"718394650287","name":"zoe","email":"bob@example.org"},"error":{"stack":"0   demo  0x0000000102a30aec 0x102a30000 + 2796\n","binary_images":
[{"uuid":"4C4C44B5-5555-3144-A1BA-79CA685DEC58","name":"demo","load_address":"0x102a30000","max_address":"0x102a34000","arch":"arm64"}]}}
END
if command -v python3 >/dev/null; then
    PYTHONDONTWRITEBYTECODE=1 python3 - "$work/case.dmp" <<'END'
import sys
sys.path.insert(0, "tests")
import minidump as md
dump = md.Dump(6)
dump.system(md.ARM64, md.MAC, (14, 3, 1), "23D60")
dump.modules([dump.module(md.LOAD, 0x4000, "/Users/alice smith/App.app/demo", md.UUID)])
stack, fp = md.frames(md.STACK[1:])
context = md.arm64({"pc": md.STACK[0], "sp": md.STACK_BASE, "fp": fp})
dump.threads([dump.thread(1, context, (md.STACK_BASE, stack))])
dump.exception(1, 1, 1, 8, [1, 1, 8], context)
dump.crashpad("0B2C3D4E-AAAA-BBBB-CCCC-0123456789AB", "AAAA1111-0000-0000-0000-000000000000",
              [("guid", "bbbb2222-0000"), ("client_id", "cccc3333"), ("User ID", "718394650287"), ("log", "/home/bob/log")],
              [(0, ["cannot open /Users/zoe/x"], [("session-id", "0a1b2c3d")], [("guid", 1, "dddd4444")])])
open(sys.argv[1], "wb").write(bytes(dump.data))
END
else
    skip "a minidump: it needs python3"
fi
for form in crash ips json; do # quoted, in a log, each line in a record
    sed 's/^/> /' "$work/case.$form" >"$work/case-quoted.$form"
    sed 's/^/2026-03-14 08:26:53.123 demo[412:9] /' "$work/case.$form" >"$work/case-log.$form"
    sed 's/[\\"]/\\&/g; s/.*/{"log":"&","stream":"stderr"}/' "$work/case.$form" >"$work/case-records.$form"
done
printf '\377\376' >"$work/case16.crash"
if command -v iconv >/dev/null; then
    iconv -f UTF-8 -t UTF-16LE "$work/case.crash" >>"$work/case16.crash"
else
    rm "$work/case16.crash"
    skip "UTF-16: it needs iconv"
fi

for report in "$work"/case*; do
    name=$(basename "$report")
    for how in --to=same --to=text --to=json --summary --signature --group --missing=text --missing=json; do
        $MACHSYM crash --redact $how -d $dsym "$report" >"$work/out" 2>"$work/err"
        tr -d '\0' <"$work/out" | grep -aE "$secrets" >"$work/leak"
        [ $? -eq 1 ] && [ -s "$work/out" -o $how = --missing=text ]
        check "$name $how: nothing of a person comes out" "$work/leak"
        sed "s|$work[^ ]*:||" "$work/err" | grep -aE "$secrets" >"$work/leak"
        [ $? -eq 1 ]
        check "$name $how: nor to standard error" "$work/leak"
    done
done

# Equal values stay equal, in all formats and runs with the same words; others become others.
keyed "$work/case.crash" >"$work/one"
keyed "$work/case.crash" >"$work/two"
same "$work/one" "$work/two" "the same words give the same replacements"
keyed "$work/case.ips" >"$work/ips"
incident=$(sed -n 's/^Incident Identifier: //p' "$work/one")
reporter=$(sed -n 's/^CrashReporter Key:   //p' "$work/one")
[ ${#incident} -eq 36 ] && [ ${#reporter} -eq 40 ] && [ "$(grep -c "$incident" "$work/ips")" -eq 2 ] && grep -q "$reporter" "$work/ips"
check "an identifier keeps its form, and is the same in text and JSON"
user=$(sed -n 's|^Path: */Users/\([^/]*\)/.*|\1|p' "$work/one")
[ "$(grep -c "$user/" "$work/one")" -eq 2 ] && grep -qF "$user" "$work/ips"
check "the same user is the same one everywhere: $user"
[ "$(grep -ao 'user-[0-9a-f]*' "$work/one" | sort -u | wc -l)" -eq 5 ]
check "different users stay different"
grep -q '/Users/Shared/y' "$work/one" && grep -q '"model":"iPhone12,1"' "$work/ips" && grep -q '"name":"demo"' "$work/ips"
check "what tells of no person stays"
$MACHSYM crash -q --redact-key other -d $dsym "$work/case.crash" | cmp -s - "$work/one"
[ $? -eq 1 ]
check "other words give other replacements"
$MACHSYM crash -q --redact -d $dsym "$work/case.crash" >"$work/a"
$MACHSYM crash -q --redact -d $dsym "$work/case.crash" | cmp -s - "$work/a"
[ $? -eq 1 ]
check "without words each run has its own replacements"
$MACHSYM crash -q --redact -d $dsym "$work/case.crash" "$work/case.crash" "$work/case.ips" >"$work/a"
[ "$(sed -n 's/^Incident Identifier: //p' "$work/a" | sort -u | wc -l)" -eq 1 ]
check "in one run equal values stay equal"

# Where a name ends: JSON stays JSON, a blank belongs to a name only when a slash follows it.
cat >"$work/ends.ips" <<'END'
{"bug_type":"309","timestamp":"x","a":"/Users/zoe\"b","c":"\/Users\/zo\u00e9\/d","e":"/Users/zoe\\","f":"/home/zoe /x /Users/zoe b/c"}
END
cat >"$work/want" <<'END'
{"bug_type":"309","timestamp":"x","a":"/Users/U\"b","c":"\/Users\/U\/d","e":"/Users/U\\","f":"/home/U /x /Users/U/c"}
END
keyed --to=same "$work/ends.ips" | sed 's/user-[0-9a-f]*/U/g' >"$work/out"
same "$work/want" "$work/out" "where names end"

# Only values change: with the replacements put back every line is the report's.
for report in "$work/case.crash" "$work/case.ips"; do
    keyed "$report" >"$work/out"
    $MACHSYM crash -q -d $dsym "$report" >"$work/want"
    [ "$(wc -l <"$work/out")" -eq "$(wc -l <"$work/want")" ]
    check "as many lines as without --redact: $report"
done
for report in $reports/demo*; do
    case $report in
    *utf16*) continue ;;
    esac
    keyed --all "$report" >"$work/out"
    $MACHSYM crash -q --all -d $dsym "$report" >"$work/want"
    diff -a "$work/want" "$work/out" | grep -a '^[<>]' |
        grep -avi 'incident\|crashreporter key\|event_id\|uuid"\?:\|/Users/\|/home/\|"id":' >"$work/differs"
    [ ! -s "$work/differs" ]
    check "$report: nothing else changes" "$work/differs"
done

# A place that a message tells is one in the input, whatever was replaced before it.
printf '{"bug_type":"309","timestamp":"x"}\n{"a":"/Users/\303\274/b","procPath":"/Users/alice smith/demo", "c" "d"}\n' >"$work/broken.ips"
grep -bo '"d"' "$work/broken.ips" | sed 's/:.*//' >"$work/place"
$MACHSYM crash "$work/broken.ips" 2>"$work/plain" >/dev/null
keyed "$work/broken.ips" 2>"$work/err" >/dev/null
same "$work/plain" "$work/err" "the same place with and without --redact"
grep -q "at byte $(cat "$work/place")\$" "$work/plain"
check "which is that in the file" "$work/plain"
if command -v iconv >/dev/null; then
    iconv -f UTF-8 -t UTF-16 "$work/broken.ips" >"$work/broken16.ips" # with a byte order mark of 2 bytes
    units=$(head -c "$(cat "$work/place")" "$work/broken.ips" | iconv -f UTF-8 -t UTF-16LE | wc -c)
    keyed "$work/broken16.ips" 2>"$work/err" >/dev/null
    grep -q "at byte $((units + 2))\$" "$work/err"
    check "in UTF-16, too" "$work/err"
fi

# Names of users in a dSYM: file names of a build machine, and where the dSYM lies.
mkdir -p "$work/home/jenkins/symbols"
cp -R $dsym "$work/home/jenkins/symbols/"
sed 's|/fixtures/demo|/home/jenkins|g' $dsym/Contents/Resources/DWARF/demo \
    >"$work/home/jenkins/symbols/demo.app.dSYM/Contents/Resources/DWARF/demo"
$MACHSYM crash --full-path --to=json -d "$work/home/jenkins" $reports/demo.crash >"$work/out" 2>/dev/null
grep -q jenkins "$work/out"
check "the dSYM tells where it was built"
for how in --to=same --to=json --summary --missing=json; do
    $MACHSYM crash -q --redact --full-path $how -d "$work/home/jenkins" $reports/demo.crash >"$work/out"
    ! grep -q jenkins "$work/out"
    check "$how: not who built it"
done

# What has no form of its own becomes a word, a dash and ten digits; what has one keeps it.
while IFS='|' read -r key value form; do
    printf 'Process: demo [1]\n%s: %s\n\nThread 0 Crashed:\n0   demo  0x102a30aec 0x102a30000 + 1\n' "$key" "$value" >"$work/form.crash"
    keyed "$work/form.crash" >"$work/out"
    grep -q "^$key: $form\$" "$work/out" && ! grep -qF "$value" "$work/out"
    check "$key: $value becomes $form" "$work/out"
done <<'END'
Device Name|Alice's iPhone|device-[0-9a-f]\{10\}
Hostname|pluto|device-[0-9a-f]\{10\}
User Name|zoe|user-[0-9a-f]\{10\}
Incident Identifier|not-hex|incident-[0-9a-f]\{10\}
CrashReporter Key|xyz|reporter-[0-9a-f]\{10\}
Session|s-1|session-[0-9a-f]\{10\}
CrashReporter Key|0123456789abcdef|[0-9a-f]\{16\}
Incident Identifier|AAAA1111-CCCC-DDDD-EEEE-FFFFFFFFFFFF|[0-9A-F]\{8\}-[0-9A-F]\{4\}-[0-9A-F]\{4\}-[0-9A-F]\{4\}-[0-9A-F]\{12\}
Incident Identifier|abcd-12|incident-[0-9a-f]\{10\}
Incident Identifier|abcd-1234|[0-9a-f]\{4\}-[0-9a-f]\{4\}
User ID|501|[0-9]\{3\}
END
end
