#!/bin/sh
# Tables of reports and of the tool, row by row, second part (tables.sh has the first): kinds without stacks, members of panics,
# entities, redacted fields, lists of a user's own, groups. The truths: kinds of reports as tools publish them, HTML's entities, the
# input of each case; PLCrashReport.proto by plcrash_text.py.
machsym=${MACHSYM:-build/machsym}
. tests/checks
export XDG_CACHE_HOME="$work/cache" PYTHONDONTWRITEBYTECODE=1

tell() { $machsym crash -q --no-cache "$@" 2>"$work/err" >"$work/out"; }

# ---- Kinds without stacks, by bug_type ----

while IFS='|' read -r number event; do
    printf '{"bug_type":"%s","os_version":"iPhone OS 17.4 (21E219)"}\n{"a":1}\n' "$number" >"$work/kind.ips"
    tell --json "$work/kind.ips"
    grep -qF "\"bug_type\":\"$number\",\"event\":\"$event\"" "$work/out" && grep -q '"format":"no stacks"' "$work/out"
    check "kind $number: $event" "$work/out"
done <<'END'
11|a spin
12|a hang
13|a connection that failed
14|message tracing
17|a stall while shutting down
18|a violated assumption
20|XProtect: malware that was found
21|the GPU was started anew
22|a limit of CPU, memory or wakeups that a process went above
23|samples of processes (microstackshots)
24|sleep or wake that failed
25|a process woke up too often
26|ping
27|diagnostics of wireless networks
28|the system's watchdog: it did not answer in time
29|the system's watchdog: a service did not answer
30|memory that a process used
31|the bridge processor (T1, T2)
32|integrity of the firmware
33|analytics
34|what AutoBugCapture gathered
35|integrity of the EFI firmware
36|statistics of the system
37|anonymous statistics of the system
44|writes to disk
45|a spin
50|differential privacy
58|DuetKnowledgeCollector: how the device is used
83|a restore of the bridge processor (T2)
98|jetsam
100|LDCM
101|heat
115|reset counter: why the device started anew
116|the system
117|Wi-Fi
118|Bluetooth
119|general diagnostics
120|low battery
140|settings
141|power sources
142|wakeups of the CPU
143|motion
144|writes to disk
145|writes to disk
146|honeybee: a payload
147|honeybee: a sign of life
148|honeybee: an issue
149|firmware of the touch screen
150|differential privacy
151|a forced restart: somebody held the buttons
152|a snapshot of memory
153|reserved
154|a memory graph
155|use of the network
156|CoreTime
157|samples of the CPU (microstackshots)
158|knowledge of how the device is used
159|a crash of the baseband
160|a count of steps
161|the state of motion
162|Natalies
163|Siri: what it missed
164|a sign of life for the diagnostics service
165|storage
166|how exact the keyboard is
167|privacy settings
168|an event of the home screen of a watch
169|Siri: a transaction
170|reserved
171|reserved
172|an error of memory (ECC)
173|reserved
174|samples of processes (microstackshots)
175|the database of how the device is used
176|the flash storage
177|automation of user interfaces
178|power
179|a session
180|reserved
181|reserved
182|an update of an accessory
183|an update of the system
184|the GPU was started anew
185|a limit of CPU, memory or wakeups that a process went above
186|a trace of the kernel
187|the sandbox: what a process may not do
188|a stackshot
189|iMessage
191|FaceTime
192|the battery gauge
193|aggregated statistics
194|a restore after an update
195|statistics of the baseband
197|MACorrelation
198|jetsam
199|the modem
201|Siri
202|use of the CPU
203|Siri: predictions of apps
204|what AutoBugCapture gathered
205|statistics of panics
206|use of the CPU that ended a process
207|a hang
209|a crash of Wi-Fi
211|analytics
212|Bluetooth
213|Rosetta
214|Rhodes
215|Siri: which app it chose
216|Rosetta
217|Portrait
218|audio of several channels
219|Siri: predictions of actions
220|samples of power (microstackshots)
221|a crash of Wi-Fi
222|a hang
223|a hang
224|transparency: calls
225|transparency: the App Store
226|transparency: security
227|a limit of threads that a process went above
228|a hang of an app
229|transparency: notifications of Siri
230|power
231|handwriting
233|transparency: maps
234|Biome
235|Wi-Fi sensing
236|transparency: keys
237|SKAdNetwork: where installs came from
238|how an app was launched
239|a hang: how a workflow responds
240|calls and conferences
241|AMT: a stream that stalled, and its network
243|a hang of a client of the compositor
248|HotStop: the launch of an app
278|power
284|an event of the GPU
288|a stackshot
298|jetsam
301|the system's memory was reset
302|a spin
303|transparency: ProactiveEventTracker
304|federated learning
305|an audio accessory
310|a hang
311|analytics of the home
312|diagnostics that were asked for
313|Siri: feedback on searches
327|a limit of threads that a process went above
328|a hang of an app, for its developer
385|a limit of CPU, memory or wakeups that a process went above
409|the system's watchdog: a service did not answer
509|a stackshot of a process that was ended
chw|handwriting
diff_privacy|differential privacy
metriclog|metrics
powerlog|power
system_profile|the system
999|bug_type 999
END

# ---- Members of a panic ----

# One at a time, so that none takes the place of another.
while read -r key member; do
    printf '{"bug_type":"210"}\n{"%s":"a word","panicString":"panic(cpu 0): why"}\n' "$key" >"$work/panic.ips"
    tell --json "$work/panic.ips"
    [ "$(grep -o '"[a-z_]*":"a word"' "$work/out")" = "${member:+\"$member\":\"a word\"}" ]
    check "a panic's $key is ${member:-not told}" "$work/out"
done <<'END'
build os
product hardware
date date
incident incident
crashReporterKey
END

# ---- Entities ----

while read -r entity char; do
    [ "$char" = blank ] && char=' '
    printf 'Process: a&%s;b\nVersion: 1\n\nThread 0 Crashed:\n0   demo  0x0000000102a30aec fetch + 4\n\n' "$entity" >"$work/entity.crash"
    tell --json "$work/entity.crash"
    grep -qF "\"process\":\"a$char" "$work/out"
    check "&$entity; is read as $char" "$work/out"
    tell "$work/entity.crash"
    same "$work/entity.crash" "$work/out" "&$entity; is written as it was"
done <<'END'
lt <
gt >
amp &
quot \"
nbsp blank
#39 '
#x27 '
#039 '
apos '
#34 \"
END

# ---- Modules of sanitizers: PATH, then :ARCH unless the symbolizer knows none, then +OFFSET ----

while IFS='|' read -r module path arch; do
    printf '    #0 0x102a30838 in f+0x10 (%s)\n' "$module" >"$work/module.txt"
    tell --json "$work/module.txt"
    grep -qF "\"path\":\"$path\",\"arch\":$arch,\"uuid\":null,\"base\":\"0x102a30000\"" "$work/out"
    check "module $module" "$work/out"
done <<'END'
/path/demo+0x838|/path/demo|null
/path/demo:arm64+0x838|/path/demo|"arm64"
/path/a:b/demo+0x838|/path/a:b/demo|null
/path/a:b/demo:x86_64+0x838|/path/a:b/demo|"x86_64"
demo:arm64e+0x838|demo|"arm64e"
demo+0x838|demo|null
END

# ---- Days of the calendar, by Python's ----

if need "days of the calendar" python3; then
    python3 - >"$work/days" <<'END'
import calendar
for year in (1, 4, 100, 400, 1896, 1900, 1996, 1999, 2000, 2023, 2024, 2100, 2200, 2400, 9999):
    for month in range(1, 13):
        last = calendar.monthrange(year, month)[1]
        print("%04d-%02d-%02d 0" % (year, month, last))
        print("%04d-%02d-%02d 2" % (year, month, last + 1))
END
    while read -r date status; do
        tell --only=since="$date" --signature "$work/entity.crash"
        [ $? -eq "$status" ]
        check "the day $date" "$work/err"
    done <"$work/days"
fi

# ---- Redacted fields: all rows ----

# What stands around the field, its key, and a value that must go.
while read -r around key; do
    open= close=
    [ "$around" = - ] || { open="\"$around\":{" && close="}"; }
    for value in zzyzx 71839; do
        printf '{"bug_type":"309"}\n{%s"%s":"%s","other":"%sx"%s,"usedImages":[],"threads":[]}\n' "$open" "$key" $value $value "$close" >"$work/field.ips"
        tell --redact "$work/field.ips"
        ! grep -q "\"$value\"" "$work/out" && grep -q "\"other\":\"${value}x\"" "$work/out"
        check "--redact: $around $key $value" "$work/out"
    done
done <<'END'
- incident
- incident_id
- incidentIdentifier
- crashReporterKey
- anonymousUUID
- betaIdentifier
- deviceIdentifierForVendor
- deviceIdentifier
- device_app_hash
- deviceName
- computerName
- hostName
- server_name
- serialNumber
- udid
- systemId
- hardwareUUID
- sleepWakeUUID
- bootSessionUUID
- session
- sessionID
session id
- event_id
- userName
- userID
device name
device id
report id
user id
user name
user email
user ip_address
usr id
usr name
usr email
END
# The same keys stay elsewhere.
for pair in 'app id' 'app name' 'binary email' 'binary ip_address'; do
    printf '{"bug_type":"309"}\n{"%s":{"%s":"zzyzx"},"usedImages":[],"threads":[]}\n' ${pair} >"$work/field.ips"
    tell --redact "$work/field.ips"
    same "$work/field.ips" "$work/out" "--redact: $pair stays"
done
# A number stays a number of as many digits, and does not begin with 0, whatever the key.
n=0
: >"$work/numbers"
while [ $n -lt 60 ]; do
    n=$((n + 1))
    printf '{"userID":"%s"}\n' $((7000000 + n)) >>"$work/numbers"
    printf '{"userID":"%s"}\n' "12345678901234567890$n" >>"$work/numbers"
done
{ cat "$work/entity.crash"; cat "$work/numbers"; } >"$work/numbers.crash"
tell --redact --redact-key words "$work/numbers.crash"
grep '"userID":' "$work/out" | sed 's/[0-9]/9/g' >"$work/got"
sed 's/[0-9]/9/g' "$work/numbers" >"$work/want"
same "$work/want" "$work/got" "--redact: numbers keep their digits"
! grep -q '"userID":"0' "$work/out"
check "--redact: no number begins with 0"
[ "$(grep -o '"userID":"[0-9]*' "$work/out" | sort -u | wc -l)" -eq 120 ]
check "--redact: different numbers stay different"
grep -o '"userID":"[0-9]*' "$work/out" | cut -c11 | sort -u | tr -d '\n' >"$work/first"
[ "$(cat "$work/first")" = 123456789 ]
check "--redact: every first digit is used" "$work/first"

# ---- Machinery of a user's own ----

crashed() { # NAME...: a report of these frames
    printf 'Process: demo [1]\nVersion: 1\nException Type:  EXC_CRASH (SIGABRT)\n\nThread 0 Crashed:\n'
    n=0
    for name; do
        printf '%d   demo  0x%016x %s + 4\n' $n $((0x102a30aec + n * 64)) "$name"
        n=$((n + 1))
    done
    echo
}
crashed a b a#c fetch >"$work/one.crash"
while IFS="@" read -r list want; do
    # shellcheck disable=SC2059
    printf "$list" >"$work/list"
    tell --signature --machinery "$work/list" "$work/one.crash"
    [ "$(cut -c18- "$work/out" | sed 's/  [^ ]*$//')" = " SIGABRT: $want" ]
    check "--machinery $list" "$work/out"
done <<'END'
a\nb\na#c\n@fetch
a\n\n  \nb@a#c | fetch
# a\nb\n@a | a#c | fetch
  a\t\nb\na*\n@fetch
*@a | b | a#c | fetch
END

# ---- What was thrown ----

while IFS='@' read -r info want; do
    # shellcheck disable=SC2059
    { printf 'Process: demo [1]\nVersion: 1\nException Type:  EXC_CRASH (SIGABRT)\n\nApplication Specific Information:\n'; printf "$info";
        printf '\n\nThread 0 Crashed:\n0   demo  0x0000000102a30aec fetch + 4\n\n'; } >"$work/thrown.crash"
    tell --summary "$work/thrown.crash"
    sed -n '3p' "$work/out" | grep -qxF "  $want"
    check "thrown: $info" "$work/out"
done <<'END'
*** Terminating app due to uncaught exception 'X', reason: 'why'@uncaught exception X: why
*** Terminating app due to uncaught exception 'X'@uncaught exception X
uncaught exception 'NSRangeException', reason: 'a b@uncaught exception NSRangeException: a b
*** Terminating app due to uncaught exception 'X', reason: 'why'\nterminating@uncaught exception X: why
*** Terminating app due to uncaught exception 'X', reason: ''@uncaught exception X
END

# ---- Swift's backtraces, line by line ----

traced() # LINE...: into $work/swift.txt
{
    printf 'Fatal error\n\nThread 0 crashed:\n\n' >"$work/swift.txt"
    printf '%s\n' "$@" >>"$work/swift.txt"
    tell --json --all "$work/swift.txt"
}
while IFS='|' read -r line given place return; do
    traced "$line"
    grep -qF "\"return_address\":$return,\"image\":null,\"given\":$given,\"given_place\":$place," "$work/out"
    check "Swift: $line" "$work/out"
done <<'END'
0 0x0000000102a30aec f + 4 in demo at /a.swift:1:2|"f"|"/a.swift:1:2"|false
0 [ra] 0x0000000102a30aec closure #1 in f + 4 in demo at /a.swift:1:2|"closure #1 in f"|"/a.swift:1:2"|true
0 [ra] [system] 0x0000000102a30aec a in b in c in demo|"a in b in c"|null|true
0 [inlined] [system] 0x0000000102a30aec f in demo|"f"|null|false
0 [system] 0x0000000102a30aec f + 12 in demo|"f"|null|false
0 0x0000000102a30aec <unknown> in demo|null|null|false
0 0x0000000102a30aec in demo|null|null|false
0 0x0000000102a30aec f+4 in demo|"f+4"|null|false
0 0x0000000102a30aec + 4 in demo|"+ 4"|null|false
0 0x0000000102a30aec f1 in demo at b.swift:3|"f1"|"b.swift:3"|false
END
# Frame 0 begins a stack, unless what stands before it was inlined into it.
traced "0 0x102a30aec f in demo" "1 [ra] 0x102a30bec g in demo" "0 0x102a30cec h in demo"
[ "$(grep -o '"kind":"thread"' "$work/out" | wc -l)" -eq 2 ]
check "Swift: two stacks" "$work/out"
traced "0 [inlined] 0x102a30aec f in demo" "0 0x102a30aec g in demo" "1 [ra] 0x102a30bec h in demo"
[ "$(grep -o '"kind":"thread"' "$work/out" | wc -l)" -eq 1 ]
check "Swift: an inlined call is of the same stack" "$work/out"
while IFS='|' read -r line want; do
    traced "0 0x0000000102a30aec f in demo" "" "Images (1):" "" "$line"
    grep -qF "\"images\":[$want" "$work/out"
    check "Swift: the image $line" "$work/out"
done <<'END'
0x0000000102a30000–0x0000000102a34000 4c4c44b555553144a1ba79ca685dec58 demo /private/demo|{"name":"demo","path":"/private/demo","arch":null,"uuid":"4C4C44B5-5555-3144-A1BA-79CA685DEC58","base":"0x102a30000","frames":1,
0x0000000102a30000–0x0000000102a34000 <no build ID> demo /private/demo|{"name":"demo","path":"/private/demo","arch":null,"uuid":null,"base":"0x102a30000","frames":1,
0x0000000102a30000–0x0000000102a30aec <no build ID> demo /private/demo|{"name":"demo","path":"/private/demo","arch":null,"uuid":null,"base":"0x102a30000","frames":0,
0x0000000102a30000–0x0000000102a30aed <no build ID> a b /x/a b|{"name":"a b","path":"/x/a b","arch":null,"uuid":null,"base":"0x102a30000","frames":1,
END

# ---- The time of a MetricKit payload ----

diagnostic='{"diagnosticMetaData":{"appVersion":"1"},"callStackTree":{"callStackPerThread":true,"callStacks":[{"threadAttributed":true,"callStackRootFrames":[{"binaryName":"demo","address":4339206892,"offsetIntoBinaryTextSegment":2796}]}]}}'
while IFS='|' read -r text want; do
    printf '%s\n' "$text" | sed "s/@/$diagnostic/g" >"$work/metric.json"
    tell --json "$work/metric.json"
    [ "$(grep -o '"date":"[^"]*"' "$work/out" | cut -d'"' -f4 | tr '\n' ' ')" = "$want" ]
    check "MetricKit's time: $text" "$work/out"
done <<'END'
{"timeStampEnd":"e","timeStampBegin":"b","crashDiagnostics":[@]}|e 
{"timeStampBegin":"b","crashDiagnostics":[@]}|b 
[{"timeStampEnd":"e","crashDiagnostics":[@]},{"timeStampEnd":"f","hangDiagnostics":[@,@]}]|e f f 
[{"timeStampEnd":"e","crashDiagnostics":[@]},{"hangDiagnostics":[@]}]|e 
{"crashDiagnostics":[@]}|
END

# ---- Lines of images ----

listed() # LINE: what --json says of the image in it, up to how many frames it has
{
    printf 'Process: demo [1]\nVersion: 1\n\nThread 0 Crashed:\n0   demo  0x0000000102a30aec 0x102a30000 + 2796\n\n' >"$work/listed.crash"
    printf 'Binary Images:\n%s\n' "$1" >>"$work/listed.crash"
    tell --json --all "$work/listed.crash"
    sed 's/.*"images"://; s/,"missing".*//; s/4C4C44B5-5555-3144-A1BA-79CA685DEC58/UUID/' "$work/out"
}
while IFS='|' read -r line name path arch uuid; do
    line=$(printf '%s' "$line" | sed 's/UUID/4c4c44b5-5555-3144-a1ba-79ca685dec58/')
    [ "$(listed "$line")" = "[{\"name\":\"$name\",\"path\":$path,\"arch\":$arch,\"uuid\":$uuid,\"base\":\"0x102a30000\",\"frames\":1" ]
    check "image: $line" "$work/out"
done <<'END'
0x102a30000 - 0x102a33fff demo arm64  <UUID> /Applications/demo|demo|"/Applications/demo"|"arm64"|"UUID"
0x102a30000 - 0x102a33fff +org.example.demo (1.2 - 34) <UUID> /Applications/demo|org.example.demo|"/Applications/demo"|null|"UUID"
0x102a30000 - 0x102a33fff *demo arm64e (1.2) <UUID> /Applications/demo|demo|"/Applications/demo"|"arm64e"|"UUID"
0x102a30000 - 0x102a33fff a b (c) arm64 (*) <UUID> /x/demo|a b (c)|"/x/demo"|"arm64"|"UUID"
0x102a30000 - 0x102a33fff a(b) <UUID> /x/demo|a(b)|"/x/demo"|null|"UUID"
0x102a30000 - 0x102a33fff arm64 <UUID> /x/demo|arm64|"/x/demo"|null|"UUID"
0x102a30000 - ??? demo arm64 /Applications/demo|demo|"/Applications/demo"|"arm64"|null
0x102a30000 - 0x102a30000 demo arm64 /Applications/demo|demo|"/Applications/demo"|"arm64"|null
0x102a30000 - 0x102a30aec demo arm64 /Applications/demo|demo|"/Applications/demo"|"arm64"|null
0x102a30000 - 0xffffffffffffffff demo arm64 <(null)> /Applications/demo|demo|"/Applications/demo"|"arm64"|null
*0x102a30000 - 0x102a33fff demo arm64 <(null) > /Applications/demo|demo|"/Applications/demo"|"arm64"|null
0x102a30000-0x102a33fff ??? (*) <UUID> /Applications/de mo|de mo|"/Applications/de mo"|null|"UUID"
0x102a30000 - 0x102a33fff demo|demo|null|null|null
0x102a30000 - 0x102a33fff demo armv7 <nothing> /x/demo|demo armv7 <nothing>|"/x/demo"|null|null
[  0] UUID 0x0000000102a30000 /private/demo|demo|"/private/demo"|null|"UUID"
[ 10] UUID     0x102a30000   /x/de mo |de mo|"/x/de mo"|null|"UUID"
END
for arch in arm64 arm64e arm64_32 armv7 armv7s armv7k armv7f armv6 arm x86_64 x86_64h i386 ppc ppc64 armv6m armv7m; do
    listed "0x102a30000 - 0x102a33fff demo $arch <4c4c44b555553144a1ba79ca685dec58> /x/demo" | grep -q "\"name\":\"demo\",.*\"arch\":\"$arch\""
    check "image: $arch" "$work/out"
done
while read -r line; do
    [ "$(listed "$line" | cut -c1-2)" = "[]" ]
    check "no image: $line" "$work/out"
done <<'END'
0x102a30000 - 0x102a33fff
0x102a30000 - demo
0x102a30000 demo
0x102a30000 - ?? demo arm64 /x/demo
[  0] 4c4c44b5-5555-3144-a1ba-79ca685dec58
[  0] 4c4c44b5-5555-3144-a1ba-79ca685dec58 demo
[  0] 4c4c44b5-5555-3144-a1ba-79ca685dec5 0x102a30000 demo
0] 4c4c44b5-5555-3144-a1ba-79ca685dec58 0x0000000102a30000 /private/demo
END

# ---- Names that a report has, and what stands after them ----

while IFS='|' read -r text given place; do
    printf 'Process: demo [1]\nVersion: 1\n\nThread 0 Crashed:\n0   demo  0x0000000102a30aec %s\n\n' "$text" >"$work/given.crash"
    tell --json "$work/given.crash"
    grep -qF "\"given\":\"$given\",\"given_place\":$place," "$work/out"
    check "a name: $text" "$work/out"
done <<'END'
f + 12|f|null
f + 0|f|null
f + 12 (a.m:34)|f|"a.m:34"
f (a.m:34)|f|"a.m:34"
f (a.m)|f (a.m)|null
f(int) (a.m:34)|f(int)|"a.m:34"
f(a:b)|f(a:b)|null
f + 12  a.m:34|f|"a.m:34"
f + 12 (a.m:34) [inlined]|f|"a.m:34"
f (a.m:34) [inlined]|f|"a.m:34"
f + 12 [ours]|f|null
f + 12 (a.m:34) [ours]|f|"a.m:34"
f + 12 [ours] [callers left out]|f|null
f + 12 (a.m:34) [ours] [callers left out]|f|"a.m:34"
f (a.m:34) [callers left out]|f|"a.m:34"
-[A b] [ours]|-[A b] [ours]|null
-[A b] + 4|-[A b]|null
operator+ + 4|operator+|null
operator[]|operator[]|null
a + b + 3|a + b|null
f + 12x|f + 12x|null
f + x|f + x|null
f [ours]|f [ours]|null
END

# ---- Stacks of sanitizers and of Dart ----

hashed() # LINE...: index, address, name and place of each frame, a line each, threads apart
{
    printf '%s\n' "$@" >"$work/hash.txt"
    tell --json --all "$work/hash.txt"
    sed 's/"images":.*//; s/{"kind":"/\n&/g' "$work/out" | sed -n 's/^{"kind".*"name":\([^,]*\),"queue".*"crashed":\([a-z]*\),/\1 \2&/p' |
        while IFS= read -r thread; do
            printf '%s' "$thread" | sed 's/{"kind".*//; s/$/\n/'
            printf '%s\n' "$thread" | grep -o '"index":[0-9]*,"address":"[^"]*"\|"given":[^,]*,"given_place":[^,]*' | paste -d' ' - - |
                sed 's/"index":\([0-9]*\),"address":"\([^"]*\)" "given":\(.*\),"given_place":/\1 \2 \3 /'
        done
}
hashed '==12==ERROR: AddressSanitizer: heap-use-after-free on address 0x1 at' '    #0 0x102a30aec in f /a/b.c:3:5' \
    '    #1 0x102a30bec in g+0x12 (demo:arm64+0x100000bec)' '    #2 0x102a30cec  (/x/demo+0xcec) (BuildId: 4c4c44b555553144a1ba79ca685dec58)' '' \
    'freed by thread T0 here:' '    #0 0x102a30aec in free (libclang_rt.dylib:arm64+0xaec)' '    #1 0x102a30bec in <null> <null>' >"$work/got"
cat >"$work/want" <<'END'
"==12==ERROR: AddressSanitizer: heap-use-after-free on address 0x1 at" true
0 0x102a30aec "f" "/a/b.c:3:5"
1 0x102a30bec "g" null
2 0x102a30cec null null
"freed by thread T0 here:" false
0 0x102a30aec "free" null
1 0x102a30bec null null
END
same "$work/want" "$work/got" "a report of a sanitizer"
hashed 'Unhandled exception' "build_id: '4c4c44b555553144a1ba79ca685dec58'" 'isolate_dso_base: 102a30000, vm_dso_base: 102a30000' \
    '    #00 abs 0000000102a30aec virt 0000000000000aec _kDartIsolateSnapshotInstructions+0x240337' \
    '    #01 abs 0000000102a30bec virt 0000000000000bec f + 4' '    #02 abs 0000000102a30cec' '    #00 abs 0000000102a30dec virt 1 g' >"$work/got"
cat >"$work/want" <<'END'
null false
0 0x102a30aec null null
1 0x102a30bec "f" null
2 0x102a30cec null null
null false
0 0x102a30dec "g" null
END
same "$work/want" "$work/got" "a stack of Dart"
grep -q '"name":"App","path":"App","arch":null,"uuid":"4C4C44B5-5555-3144-A1BA-79CA685DEC58","base":"0x102a30000","frames":4,' "$work/out"
check "the image of Dart's stack" "$work/out"

# What happened, by the line that says it.
while IFS='|' read -r line want; do
    printf '%s\n    #0 0x102a30aec in f /a/b.c:3:5\n\n' "$line" >"$work/error.txt"
    tell --json "$work/error.txt"
    [ "$(grep -o '"exception":"[^"]*"' "$work/out" | cut -d'"' -f4)" = "$want" ]
    check "happened: $line" "$work/out"
done <<'END'
==12==ERROR: AddressSanitizer: heap-use-after-free on address 0x1 at|AddressSanitizer: heap-use-after-free
==12==ERROR: AddressSanitizer: stack-overflow (pc 0x1)|AddressSanitizer: stack-overflow
WARNING: ThreadSanitizer: data race (pid=1)|ThreadSanitizer: data race
a.c:3:5: runtime error: signed integer overflow: 1 + 2|runtime error: signed integer overflow: 1 + 2
*** Program crashed: Bad pointer dereference at 0x4 ***|Bad pointer dereference
Program crashed: Illegal instruction at 0x4|Illegal instruction
a.c:3:5: warning: signed integer overflow|
==12==ERROR: Sanitized: nothing|
END

# ---- Apple's text, member by member ----

if need "Apple's text without one member" python3; then
    mkdir "$work/members"
    python3 tests/apple_members.py "$machsym" "$work/members" tests/fixtures/apple/*.ips >"$work/out" 2>&1
    check "Apple's text without one member" "$work/out"
fi
# Flags are numbers or words; the first that is set tells the note.
flagged() # TEXT OF MEMBERS
{
    sed "s/\"isCorpse\" *: *[0-9a-z]*,//; s/\"translated\" *: *[0-9a-z]*,//; 1!s/\"pid\" *:/$1,&/" tests/fixtures/apple/ios.ips >"$work/flags.ips"
    tell --to=text "$work/flags.ips"
}
while IFS='|' read -r members line is; do
    flagged "$members"
    [ "$(grep -cxF -e "$line" "$work/out")" -eq "$is" ]
    check "Apple's text, $members: $line: $is" "$work/out"
done <<'END'
"isBeta":1|Beta:                YES|1
"isBeta":true|Beta:                YES|1
"isBeta":0|Beta:                YES|0
"isBeta":false|Beta:                YES|0
"isBeta":"x"|Beta:                YES|0
"translated":true|Code Type:           ARM-64 (Translated)|1
"translated":1|Code Type:           ARM-64 (Translated)|1
"translated":0|Code Type:           ARM-64 (Native)|1
"translated":false|Code Type:           ARM-64 (Native)|1
"isSimulated":1|Exception Note:  SIMULATED (this is NOT a crash)|1
"isSimulated":0|Exception Note:  SIMULATED (this is NOT a crash)|0
"isNonFatal":1|Exception Note:  NON-FATAL CONDITION (this is NOT a crash)|1
"isNonFatal":0|Exception Note:  NON-FATAL CONDITION (this is NOT a crash)|0
"isSimulated":1,"isNonFatal":1|Exception Note:  SIMULATED (this is NOT a crash)|1
"exceptionNote":"said","isNonFatal":1|Exception Note:  said|1
END
# ---- lldb's lines ----

bt() # LINE...: into $work/out
{
    printf '%s\n' "* thread #1, queue = 'main', stop reason = EXC_BREAKPOINT (code=1, subcode=0x1)" "$@" >"$work/bt.txt"
    tell --json --all "$work/bt.txt"
}
while IFS='|' read -r line given place exact; do
    bt "$line"
    grep -qF "\"address\":\"0x102a30aec\",\"return_address\":$exact,\"image\":null,\"given\":$given,\"given_place\":$place," "$work/out"
    check "lldb: $line" "$work/out"
done <<'END'
  * frame #0: 0x0000000102a30aec demo`f + 88|"f"|null|false
    frame #0: 0x0000000102a30aec demo`f at a.m:12:5|"f"|"a.m:12:5"|false
    frame #1: 0x0000000102a30aec demo`f at a.m:12:5|"f"|"a.m:12:5"|true
    frame #1: 0x0000000102a30aec demo`f + 88 at a.m:12|"f"|"a.m:12"|true
    frame #1: 0x0000000102a30aec demo`f + 88 at a.m:12 [opt]|"f"|"a.m:12"|true
    frame #1: 0x0000000102a30aec demo`f(int) [opt] [artificial]|"f(int)"|null|true
    frame #1: 0x0000000102a30aec demo`f [inlined] g at a.m:12|"g"|"a.m:12"|true
    frame #1: 0x0000000102a30aec demo`g at a.m:12 [inlined]|"g"|"a.m:12"|true
    frame #1: 0x0000000102a30aec demo`look at me + 4|"look at me"|null|true
    frame #1: 0x0000000102a30aec demo`look at me at a.m:3|"look at me"|"a.m:3"|true
    frame #1: 0x0000000102a30aec demo`-[A b] + 4|"-[A b]"|null|true
    frame #1: 0x0000000102a30aec demo`f+4|"f+4"|null|true
    frame #1: 0x0000000102a30aec demo`___lldb_unnamed_symbol12 + 4|null|null|true
    frame #1: 0x0000000102a30aec demo|null|null|true
    frame #1: 0x0000000102a30aec|null|null|true
END
while IFS='|' read -r line name queue number crashed exception codes; do
    printf '%s\n    frame #0: 0x0000000102a30aec demo`f + 88\n' "$line" >"$work/bt.txt"
    tell --json --all "$work/bt.txt"
    grep -qF "\"number\":$number,\"name\":$name,\"queue\":$queue,\"crashed\":$crashed," "$work/out" &&
        [ "$(grep -o '"exception":"[^"]*"\|"codes":"[^"]*"' "$work/out" | cut -d'"' -f4 | tr '\n' ' ')" = "$exception$codes" ]
    check "lldb: $line" "$work/out"
done <<'END'
* thread #1, queue = 'main', stop reason = EXC_BAD_ACCESS (code=1, address=0x10)|null|"main"|1|true|EXC_BAD_ACCESS |code=1, address=0x10 
* thread #7, name = 'n', stop reason = signal SIGABRT|"n"|null|7|true|SIGABRT |
* thread #7, name = 'n', queue = 'q', stop reason = breakpoint 1.1|"n"|"q"|7|true||
  thread #2, name = 'n', stop reason = signal SIGABRT|"n"|null|2|false||
* thread #1, stop reason = EXC_CRASH|null|null|1|true|EXC_CRASH |
* thread #1, stop reason = signal SIGABRT (code=0, x)|null|null|1|true|SIGABRT |code=0, x 
* thread #1, stop reason = signal X ()|null|null|1|true|X |
END
# One address: the frame after an inlined one is the same place, and frame 0 begins a stack.
bt "    frame #1: 0x102a30aec demo\`g at a.m:1 [inlined]" "    frame #2: 0x102a30aec demo\`f at a.m:2" "    frame #0: 0x102a30bec demo\`h at a.m:3"
[ "$(grep -o '"return_address":[a-z]*' "$work/out" | cut -d: -f2 | tr '\n' ' ')" = "true true false " ] &&
    [ "$(grep -o '"kind":"thread"' "$work/out" | wc -l)" -eq 2 ]
check "lldb: inlined calls and stacks" "$work/out"

# A frame whose line is known is code of the app's, though its image be called as one of the system.
for pair in 'f at a.m:1|"place":"a.m:1"}' 'f + 4|"own":false}'; do
    bt "    frame #0: 0x180000aec Foundation\`${pair%|*}"
    tell --brief "$work/bt.txt"
    grep -qF "{\"name\":\"f\",\"image\":\"Foundation\",${pair#*|}" "$work/out"
    check "lldb: whose code ${pair%|*} is" "$work/out"
done

# ---- Lines of panics ----

panicked() # LINE...
{
    printf 'panic(cpu 2 caller 0xfffffe0057271718): what @file.c:12\n' >"$work/panic.txt"
    printf '%s\n' "$@" >>"$work/panic.txt"
    tell --json --all "$work/panic.txt"
}
while IFS='@' read -r line want; do
    panicked "$line"
    grep -qF -e "$want" "$work/out"
    check "a panic: $line" "$work/out"
done <<'END'
OS version: 21E219@"os":"21E219"
System model name: Mac15,3 (Mac15)@"hardware":"Mac15,3 (Mac15)"
Panicked task 0xf4fffe2402035c88: 0 pages, 623 threads: pid 0: kernel_task@"process":"kernel_task [0]"
Panicked task 0xf4fffe2402035c88: 0 pages, 623 threads: pid 412: a b@"process":"a b [412]"
BSD process name corresponding to current thread: kernel_task@"process":"kernel_task"
Process name corresponding to current thread (0x1): demo@"process":"demo"
Boot args: -v@"event":"what @file.c:12"
END
grep -q '"event":"what @file.c:12"' "$work/out" && grep -q '"format":"kernel panic"' "$work/out"
check "a panic's reason stands after who called" "$work/out"
while IFS='|' read -r line address given; do
    panicked 'Panicked thread: 0xf4fffe186a31e560, backtrace: 0xfffffebfcc0076d0, tid: 562' "$line"
    [ "$(grep -o '"address":"[^"]*"\|"given":[^,]*,"given_place"' "$work/out" | cut -d: -f2 | tr -d '\n')" = "${address:+\"$address\"$given,\"given_place\"}" ] &&
        grep -q '"number":562,"name":null,"queue":null,"crashed":true' "$work/out"
    check "a panic's frame: $line" "$work/out"
done <<'END'
		  lr: 0xfffffe0011d54ae0  fp: 0xfffffe647feeb750|0xfffffe0011d54ae0|null
		  lr: 0xfffffe0011d54ae0  fp: 0xfffffe647feeb750 _panic + 4|0xfffffe0011d54ae0|"_panic"
0xffffff80727fba80 : 0xffffff7f983a8e5a com.apple.iokit.IOUSBFamily : __ZN3Foo3barEv + 0x190|0xffffff7f983a8e5a|"__ZN3Foo3barEv"
0xffffff80727fba80 : 0xffffff7f983a8e5a mach_kernel : _panic|0xffffff7f983a8e5a|"_panic"
0xffffff80727fba80 : 0xffffff7f983a8e5a|0xffffff7f983a8e5a|null
		  lr: 0xfffffe0011d54ae0  sp: 0xfffffe647feeb750||
		  lr: 0xfffffe0011d54ae0||
0xffffff80727fba80 - 0xffffff7f983a8e5a||
END
while IFS='|' read -r line want; do
    panicked 'Kernel UUID: 4C4C44B5-5555-3144-A1BA-79CA685DEC58' 'Kernel text base:      0xfffffe0011000000' "$line"
    grep -qF "\"images\":[$want" "$work/out"
    check "a panic's image: $line" "$work/out"
done <<'END'
Kernel slide: 0x0|{"name":"kernel","path":null,"arch":null,"uuid":"4C4C44B5-5555-3144-A1BA-79CA685DEC58","base":"0xfffffe0011000000"
Kernel text exec base:  0xfffffe0011100000|{"name":"kernel","path":null,"arch":null,"uuid":"4C4C44B5-5555-3144-A1BA-79CA685DEC58","base":"0xfffffe0011100000"
END
kext='com.apple.iokit.IOPCIFamily(2.9)[7E6672DD-F880-3B24-A0F9-C39A7F79FA46]@0xfffffe0014677640->0xfffffe0014698763'
for line in "$kext" "   dependency: $kext" "${kext%-*}"; do
    panicked 'Panicked thread: 0xf4fffe186a31e560, backtrace: 0xfffffebfcc0076d0, tid: 562' '		  lr: 0xfffffe0014677644  fp: 0xfffffe647feeb750' "$line"
    grep -qF '"images":[{"name":"com.apple.iokit.IOPCIFamily","path":"com.apple.iokit.IOPCIFamily","arch":null,"uuid":"7E6672DD-F880-3B24-A0F9-C39A7F79FA46","base":"0xfffffe0014677640"' "$work/out"
    check "a panic's image: $line" "$work/out"
done
for line in "${kext%%@*}" "${kext#*(}" 'com.apple.x(2.9)[7E6672DD-F880-3B24-A0F9]@0xfffffe0014677640' 'com.apple.x[7E6672DD-F880-3B24-A0F9-C39A7F79FA46]@0xfffffe0014677640'; do
    panicked "$line"
    grep -q '"images":\[\]' "$work/out"
    check "no image of a panic: $line" "$work/out"
done
# ---- Headers of threads ----

while IFS='@' read -r header want; do
    # shellcheck disable=SC2059
    { printf 'Process: demo [1]\nVersion: 1\n\n'; printf "$header"; printf '\n0   demo  0x0000000102a30aec f + 4\n\n'; } >"$work/head.crash"
    tell --json --all "$work/head.crash"
    [ "$(sed 's/,"process":"[^"]*","crashed"/,"crashed"/' "$work/out" | grep -o '"kind":"[a-z ]*","number":[^,]*,"name":[^,]*,"queue":[^,]*,"crashed":[a-z]*,"callers_first":[a-z]*' | cut -d: -f2- | tr '\n' ' ')" = "$want " ]
    check "a thread: $header" "$work/out"
done <<'END'
Thread 5 Crashed:@"thread","number":5,"name":null,"queue":null,"crashed":true,"callers_first":false
Thread 5:@"thread","number":5,"name":null,"queue":null,"crashed":false,"callers_first":false
Thread 5 Crashed:: n  Dispatch queue: q w@"thread","number":5,"name":"n","queue":"q w","crashed":true,"callers_first":false
Thread 5:: n@"thread","number":5,"name":"n","queue":null,"crashed":false,"callers_first":false
Thread 5 Crashed:  Dispatch queue: q@"thread","number":5,"name":null,"queue":"q","crashed":true,"callers_first":false
Thread 5 Highlighted:@"thread","number":5,"name":null,"queue":null,"crashed":true,"callers_first":false
Thread 5 Attributed:@"thread","number":5,"name":null,"queue":null,"crashed":true,"callers_first":false
Thread 5 name:  n\nThread 5 Crashed:@"thread","number":5,"name":"n","queue":null,"crashed":true,"callers_first":false
Thread 5 name:  Dispatch queue: q\nThread 5:@"thread","number":5,"name":null,"queue":"q","crashed":false,"callers_first":false
Thread 4 name:  n\nThread 5:@"thread","number":5,"name":null,"queue":null,"crashed":false,"callers_first":false
Last Exception Backtrace:@"last exception","number":0,"name":null,"queue":null,"crashed":false,"callers_first":false
Application Specific Backtrace 3:@"application specific","number":3,"name":null,"queue":null,"crashed":false,"callers_first":false
Application Specific Backtrace:@"application specific","number":0,"name":null,"queue":null,"crashed":false,"callers_first":false
Thread 0x1f  Thread name "n"  1 sample@"thread","number":0,"name":"Thread 0x1f  Thread name \"n\"  1 sample","queue":null,"crashed":false,"callers_first":true
Heaviest stack for the target process:@"thread","number":0,"name":"Heaviest stack for the target process:","queue":null,"crashed":false,"callers_first":true
STACK OF 1 INSTANCE OF 'ROOT LEAK: <x>':@"thread","number":0,"name":"STACK OF 1 INSTANCE OF 'ROOT LEAK: <x>':","queue":null,"crashed":false,"callers_first":true
END

# ---- Lines of call trees ----

tree() # LINE...
{
    printf 'Analysis of sampling demo (pid 412) every 1 millisecond\nProcess:         demo [412]\n\nCall graph:\n    12 Thread_1   DispatchQueue_1: main  (serial)\n' >"$work/tree.txt"
    printf '%s\n' "$@" >>"$work/tree.txt"
    tell --json --all "$work/tree.txt"
}
while IFS='@' read -r line given place; do
    tree "$line"
    grep -qF "\"address\":\"0x102a30a7c\"," "$work/out" && grep -qF "\"given\":$given,\"given_place\":$place," "$work/out"
    check "a tree: $line" "$work/out"
done <<'END'
    + 12 f  (in demo) + 247  [0x102a30a7c]@"f"@null
    + ! : | * 12 -[A b]  (in demo) + 247  [0x102a30a7c]@"-[A b]"@null
    12 f  (in demo) + 247  [0x102a30a7c]  a.m:12@"f"@"a.m:12"
    12 ???  (in demo)  load address 0x102a30000 + 0xa7c  [0x102a30a7c]@null@null
  12  f + 247 (demo + 2684) [0x102a30a7c]@"f"@null
  12  f + 247 (a.m:5 in demo + 2684) [0x102a30a7c]@"f"@"a.m:5"
  12  f + 247 (a.m:5) [0x102a30a7c]@"f"@"a.m:5"
  12  a + b + 247 (demo + 2684) [0x102a30a7c]@"a + b"@null
  12  f(int) + 247 (demo + 2684) [0x102a30a7c]@"f(int)"@null
  12  ??? (demo + 2684) [0x102a30a7c]@null@null
  *12  f + 247 (demo + 2684) [0x102a30a7c]@"f"@null
END
tree '    + 12 f  (in demo) + 247  [0x102a30a7c]' '    +   9 g  (in demo) + 1  [0x102a30b7c]' '    +   3 h  (in demo) + 1  [0x102a30c7c]' '    +     3 i  (in demo) + 1  [0x102a30d7c]'
[ "$(grep -o '"return_address":[a-z]*' "$work/out" | cut -d: -f2 | tr '\n' ' ')" = "true false true false " ]
check "a tree: what a deeper line follows has a return address" "$work/out"
tree '  12  ??? (<4C4C44B5-5555-3144-A1BA-79CA685DEC58> + 2684) [0x102a30a7c]'
grep -q '"uuid":"4C4C44B5-5555-3144-A1BA-79CA685DEC58","base":"0x102a30000","frames":1,' "$work/out"
check "a tree: an image by its UUID" "$work/out"
tree '  12  ??? (<4C4C44B5-5555-3144-A1BA-79CA685DEC58> + 4341299836) [0x102a30a7c]' && ! grep -q '"uuid":"4C4C' "$work/out"
check "a tree: no image that begins below zero" "$work/out"
for line in '  f + 247 (demo + 2684) [0x102a30a7c]' '  12f + 247 (demo + 2684) [0x102a30a7c]' '  12  f + 247 (demo + 2684) [102a30a7c]'; do
    tree "$line"
    ! grep -q '"address"' "$work/out"
    check "no line of a tree: $line" "$work/out"
done

# ---- Events of a log ----

logged() # MEMBERS OF THE EVENT, MEMBERS OF ITS FRAME
{
    printf '{"eventMessage":"m",%s"backtrace":{"frames":[{"imageOffset":2684,"imageUUID":"4C4C44B5-5555-3144-A1BA-79CA685DEC58"%s}]}}\n' "$1" "$2" >"$work/log.ndjson"
    tell --json --all "$work/log.ndjson"
}
while IFS='@' read -r event frame want; do
    logged "$event" "$frame"
    grep -qF -e "$want" "$work/out"
    check "a log: $event $frame" "$work/out"
done <<'END'
"processImagePath":"/x/demo","processImageUUID":"4C4C44B5-5555-3144-A1BA-79CA685DEC58",@@"images":[{"name":"demo","path":"/x/demo"
"senderImagePath":"/x/lib","senderImageUUID":"4C4C44B5-5555-3144-A1BA-79CA685DEC58",@@"images":[{"name":"lib","path":"/x/lib"
"senderImagePath":"/x/lib","senderImageUUID":"5C4C44B5-5555-3144-A1BA-79CA685DEC58",@@"images":[{"name":"4C4C44B5-5555-3144-A1BA-79CA685DEC58"
"processImagePath":"/x/demo",@@"process":"demo"
"senderImagePath":"/x/demo","timestamp":"t",@@"date":"t"
"threadID":77,@@"number":77,"name":"m"
@,"symbol":"f"@"given":"f"
@@"given":null
END
printf '[{"eventMessage":"m","backtrace":{"frames":[]}},{"backtrace":{"frames":[]}},{"eventMessage":"n","backtrace":{"frames":[]}}]\n' >"$work/log.json"
tell --json --all "$work/log.json"
[ "$(grep -o '"name":"[mn]"' "$work/out" | tr -d '\n')" = '"name":"m""name":"n"' ]
check "a log: events with a message and a stack" "$work/out"

# ---- What a process held when memory was short ----

ended() # MEMBERS OF THE DOCUMENT, OF THE PROCESS
{
    printf '{"bug_type":"298"}\n{%s"processes":[{"name":"demo","pid":7,"reason":"highwater"%s},{"name":"big","pid":8,"rpages":160}]}\n' "$1" "$2" >"$work/short.ips"
    tell --summary "$work/short.ips"
}
while IFS='@' read -r document process want; do
    ended "$document" "$process"
    grep -qF -e "$want" "$work/out"
    check "memory: $document $process" "$work/out"
done <<'END'
"memoryStatus":{"pageSize":16384},@,"rpages":32@it held 1 MB (32 pages)
"memoryStatus":{"pageSize":16384},@,"rpages":31@it held 0 MB (31 pages)
"memoryStatus":{"pageSize":16384},@,"rpages":95@it held 1 MB (95 pages)
"memoryStatus":{"pageSize":16384},@,"rpages":96@it held 2 MB (96 pages)
"memoryStatus":{"pageSize":4096},"pageSize":16384,@,"rpages":256@it held 1 MB (256 pages)
"memoryStatus":{},"pageSize":16384,@,"rpages":64@it held 1 MB (64 pages)
"memoryStatus":{},@,"rpages":64@it held 64 pages
"memoryStatus":{"pageSize":16384},@,"rpages":64,"lifetimeMax":128@it held 1 MB (64 pages), at most 2 MB (128 pages)
"memoryStatus":{"pageSize":16384},@,"states":["frontmost","x"]@ frontmost and x
"memoryStatus":{"pageSize":16384},"largestProcess":"big",@@the largest process: big, 3 MB (160 pages)
"memoryStatus":{"pageSize":16384},"largestProcess":"no",@@the largest process: no
"memoryStatus":{"pageSize":16384,"memoryPages":{"free":640}},@@free memory of the machine: 10 MB (640 pages)
END
# ---- What a signature begins with: one crash is a Mach exception to one writer and a signal to another ----

while IFS='|' read -r type code want; do
    printf 'Process: demo [1]\nVersion: 1\nCode Type: %s\nException Type: %s\n\nThread 0 Crashed:\n0   demo  0x0000000102a30aec fetch + 4\n\n' "$code" "$type" >"$work/kind.crash"
    tell --signature "$work/kind.crash"
    cut -c18- "$work/out" | grep -q "^ $want: fetch "
    check "a signature of $type on $code begins with $want" "$work/out"
done <<'END'
EXC_BAD_ACCESS (SIGSEGV)|ARM-64|EXC_BAD_ACCESS
EXC_BAD_ACCESS|ARM-64|EXC_BAD_ACCESS
SIGSEGV|ARM-64|EXC_BAD_ACCESS
SIGBUS|ARM-64|EXC_BAD_ACCESS
EXC_BREAKPOINT|ARM-64|EXC_BREAKPOINT
SIGTRAP|ARM-64|EXC_BREAKPOINT
EXC_BAD_INSTRUCTION|ARM-64|EXC_BAD_INSTRUCTION
SIGILL|ARM-64|EXC_BAD_INSTRUCTION
EXC_BAD_INSTRUCTION|X86-64|EXC_BREAKPOINT
SIGILL|x86_64|EXC_BREAKPOINT
SIGILL|i386|EXC_BREAKPOINT
SIGSEGV|X86-64|EXC_BAD_ACCESS
EXC_ARITHMETIC|ARM-64|EXC_ARITHMETIC
SIGFPE|ARM-64|EXC_ARITHMETIC
EXC_RESOURCE|ARM-64|EXC_RESOURCE
EXC_GUARD|ARM-64|EXC_GUARD
SIGKILL|ARM-64|SIGKILL
EXC_CRASH (SIGKILL)|ARM-64|SIGKILL
SIGQUIT|ARM-64|SIGQUIT
EXC_CRASH (SIGQUIT)|ARM-64|SIGQUIT
SIGABRT|ARM-64|SIGABRT
EXC_CRASH|ARM-64|SIGABRT
NSException|ARM-64|SIGABRT
EXC_RPC_ALERT|ARM-64|EXC_RPC_ALERT
END

# ---- Reasons of terminations, in the forms of all versions ----

while IFS='@' read -r reason name code words; do
    printf 'Process: demo [1]\nVersion: 1\nException Type: EXC_CRASH (SIGKILL)\nTermination Reason: %s\n\nThread 0 Crashed:\n0   demo  0x0000000102a30aec fetch + 4\n\n' "$reason" >"$work/ended.crash"
    tell --json "$work/ended.crash"
    [ "$(grep -o '"termination":"[^"]*"\|"termination_code":"[^"]*"\|"description":"[^"]*"' "$work/out" | cut -d'"' -f4 | tr '\n' '@')" = "$name@$code@${words:+$words@}" ]
    check "ended: $reason" "$work/out"
done <<'END'
Namespace SIGNAL, Code 11 Segmentation fault: 11@SIGNAL@11@Segmentation fault: 11
Namespace SIGNAL, Code 0xb@SIGNAL@0xb@
SIGNAL 11 Segmentation fault: 11@SIGNAL@11@Segmentation fault: 11
FRONTBOARD 2343432205@FRONTBOARD@2343432205@
SPRINGBOARD, [0x8badf00d] failed to launch@SPRINGBOARD@0x8badf00d@failed to launch
SPRINGBOARD, Code 0x8badf00d failed@SPRINGBOARD@0x8badf00d@failed
DYLD, [0x1] Library missing@DYLD@0x1@Library missing
Namespace SIGNAL, Code 11, Segmentation fault: 11@SIGNAL@11@Segmentation fault: 11
SPRINGBOARD, [0x8badf00d]failed@SPRINGBOARD@0x8badf00d@failed
DYLD 1:odd@DYLD@1@:odd
END
# ---- Columns of numbers: four, and one more for each digit beyond three ----

for pair in 1:4 999:4 1000:4 1001:5 10000:5 10001:6; do
    frames=$(yes '{"imageOffset":2796,"imageIndex":0}' | head -n "${pair%:*}" | paste -s -d, -)
    printf '{"bug_type":"309","os_version":"macOS 14.4.1 (23E224)"}\n{"usedImages":[{"base":4339204096,"size":16384,"name":"demo","path":"/x/demo"}],' >"$work/deep.ips"
    printf '"threads":[{"triggered":true,"frames":[%s]}]}\n' "$frames" >>"$work/deep.ips"
    tell --to=text "$work/deep.ips"
    [ "$(sed -n 's/^\(0  *\)demo.*/\1/p' "$work/out" | head -n 1 | wc -c)" -eq $((${pair#*:} + 1)) ]
    check "${pair%:*} frames: a column of ${pair#*:}" "$work/out"
done

# ---- Simulators run on a Mac and have the text of the device: PLATFORM_* of mach-o/loader.h ----

text_of() { # PLATFORM
    printf '{"bug_type":"309","platform":%s,"os_version":"macOS 14.4.1 (23E224)"}\n{"usedImages":[{"base":4339204096,"size":16384,"name":"demo","path":"/x/demo"}],' "$1" >"$work/platform.ips"
    printf '"threads":[{"triggered":true,"frames":[{"imageOffset":2796,"imageIndex":0}]}]}\n' >>"$work/platform.ips"
    tell --to=text "$work/platform.ips"
    cp "$work/out" "$work/platform.$1"
}
text_of 1
text_of 7
! cmp -s "$work/platform.1" "$work/platform.7"
check "a Mac and a simulator differ"
while read -r number like; do
    text_of "$number"
    same "$work/platform.$like" "$work/platform.$number" "the text of platform $number"
done <<'END'
2 1
3 1
4 1
5 1
6 1
8 7
9 7
10 1
11 1
12 7
END
# ---- Characters of UTF-16, at the edges of their lengths ----

if need "characters of UTF-16" python3; then
    edges='\177 \302\200 \337\277 \340\240\200 \357\277\277 \360\220\200\200 \364\217\277\277'
    # shellcheck disable=SC2059
    sed "s/^Incident Identifier:.*/&$(printf "$edges")/" tests/fixtures/reports/demo.crash >"$work/edges.crash"
    $machsym crash -q --no-cache -d tests/fixtures/bin/demo.app.dSYM "$work/edges.crash" >"$work/want"
    ! cmp -s "$work/edges.crash" "$work/want"
    check "characters: the report gets names"
    for form in utf-16-le utf-16-be; do
        recode() { python3 -c 'import sys; sys.stdout.buffer.write(sys.stdin.buffer.read().decode(sys.argv[1]).encode(sys.argv[2]))' "$@"; }
        { printf '\357\273\277'; cat "$work/edges.crash"; } | recode utf-8 $form >"$work/wide.crash"
        $machsym crash -q --no-cache -d tests/fixtures/bin/demo.app.dSYM "$work/wide.crash" | recode $form utf-8 | sed '1s/^\xef\xbb\xbf//' >"$work/got"
        same "$work/want" "$work/got" "characters in $form"
    done
fi
end
