#!/bin/bash
# Tables of numbers and words, row by row: exceptions, signals, namespaces of terminations. The truth of each is a public list:
# mach/exception_types.h, sys/signal.h (the same numbers as in Go's syscall package for darwin), sys/reason.h as of 2026.
machsym=${MACHSYM:-build/machsym}
. tests/checks

report() { # TYPE CODE REASON
    printf 'Process:             demo [1]\nException Type:  %s\nException Codes: %s, 0x0000000000000000\nTermination Reason: %s\n\n' "$1" "$2" "$3"
    printf 'Thread 0 Crashed:\n0   demo                          \t0x0000000102a30aec 0x102a30000 + 2796\n\n'
}
tell() { $machsym crash -q --no-cache "$@" 2>"$work/err" >"$work/out"; }

exceptions="EXC_BAD_ACCESS EXC_BAD_INSTRUCTION EXC_ARITHMETIC EXC_EMULATION EXC_SOFTWARE EXC_BREAKPOINT EXC_SYSCALL
    EXC_MACH_SYSCALL EXC_RPC_ALERT EXC_CRASH EXC_RESOURCE EXC_GUARD EXC_CORPSE_NOTIFY"
signals="SIGHUP SIGINT SIGQUIT SIGILL SIGTRAP SIGABRT SIGEMT SIGFPE SIGKILL SIGBUS SIGSEGV SIGSYS SIGPIPE SIGALRM SIGTERM"
namespaces="JETSAM SIGNAL CODESIGNING HANGTRACER TEST DYLD LIBXPC OBJC EXEC SPRINGBOARD TCC REPORTCRASH COREANIMATION AGGREGATED
    RUNNINGBOARD SKYWALK SETTINGS LIBSYSTEM FOUNDATION WATCHDOG METAL WATCHKIT GUARD ANALYTICS SANDBOX SECURITY
    ENDPOINTSECURITY PAC_EXCEPTION BLUETOOTH_CHIP PORT_SPACE WEBKIT BACKLIGHTSERVICES MEDIA ROSETTA LIBIGNITION BOOTMOUNT -
    REALITYKIT AUDIO WAKEBOARD CORERC SELF_RESTRICT ARKIT CAMERA BACKBOARD POWEREXCEPTIONS SECINIT"

# EXC_CRASH keeps the signal, the exception that it came from and its code in the first code.
s=0
for signal in $signals; do
    s=$((s + 1))
    e=0
    for exception in $exceptions; do
        e=$((e + 1))
        report "EXC_CRASH ($signal)" "$(printf '0x%016x' $((s << 24 | e << 20 | 0x1234)))" x >>"$work/all"
        echo "  EXC_CRASH code: $signal from $exception, code 0x1234" >>"$work/want"
    done
    report "EXC_CRASH ($signal)" "$(printf '0x%016x' $((s << 24)))" x >>"$work/all"
    echo "  EXC_CRASH code: $signal" >>"$work/want"
done
tell --summary "$work/all"
grep 'EXC_CRASH code:' "$work/out" >"$work/got"
same "$work/want" "$work/got" "EXC_CRASH: every signal and every exception"
[ "$(wc -l <"$work/want")" -eq 210 ]
check "EXC_CRASH: 15 signals, 13 exceptions and none"

# Numbers alone, as MetricKit has them; those that no list has are numbers still.
number_of() { # NAME LIST
    local n=0 name
    for name in $2; do
        n=$((n + 1))
        [ "$name" != "$1" ] || echo $n
    done
}
metric() { # EXCEPTION SIGNAL
    printf '{"crashDiagnostics":[{"version":"1.0.0","diagnosticMetaData":{"appVersion":"1","exceptionType":%d,"signal":%d},' "$1" "$2"
    printf '"callStackTree":{"callStacks":[{"threadAttributed":true,"callStackRootFrames":[{"binaryName":"demo","address":4339206892,'
    printf '"offsetIntoBinaryTextSegment":2796,"binaryUUID":"4C4C44B5-5555-3144-A1BA-79CA685DEC58"}]}]}}]}\n'
}
for exception in $exceptions; do
    metric "$(number_of $exception "$exceptions")" 9 >"$work/one.json"
    tell --json "$work/one.json"
    grep -q "\"exception\":\"$exception\"" "$work/out" && grep -q '"signal":"SIGKILL"' "$work/out"
    check "MetricKit: $exception" "$work/out"
done
for signal in $signals; do
    metric 1 "$(number_of $signal "$signals")" >"$work/one.json"
    tell --json "$work/one.json"
    grep -q "\"signal\":\"$signal\"" "$work/out"
    check "MetricKit: $signal" "$work/out"
done
metric 14 16 >"$work/one.json"
tell --json "$work/one.json"
grep -q '"exception":"exception 14"' "$work/out" && grep -q '"signal":"signal 16"' "$work/out"
check "MetricKit: numbers that no list has" "$work/out"

# The number of a namespace, where RunningBoard tells no name.
n=0
for namespace in $namespaces; do
    n=$((n + 1))
    report "EXC_CRASH (SIGKILL)" 0x0 "<RBSTerminateContext| domain:$n code:0x7 explanation:why ProcessVisibility: Foreground>" >"$work/one.crash"
    tell --json "$work/one.crash"
    if [ "$namespace" = - ]; then
        ! grep -q '"termination":"' "$work/out"
    else
        grep -q "\"termination\":\"$namespace\",\"termination_code\":\"0x7\"" "$work/out"
    fi
    check "namespace $n is $namespace" "$work/out"
done

# What a panic says is explained by its words, each by its own. The words are those of Apple's kernel (xnu, as published).
said=
while IFS='|' read -r words meaning; do
    printf '{"bug_type":"210","os_version":"Bridge OS 6.2 (19P744)"}\n{"panicString":"panic(cpu 0): %s","macOSPanicString":"not yet set"}\n' "$words" >"$work/panic.ips"
    tell --summary "$work/panic.ips"
    [ "$(grep -v "kernel panic:" "$work/out" | grep -c "$meaning")" -eq 1 ]
    check "a panic: $words" "$work/out"
    # no other row's meaning
    for other in "did not in time" "hardware's watchdog" "going to sleep" "not there" "holds no code" "after it was freed" launchd "ran out of memory" "a check in"; do
        [ "$other" = "$meaning" ] || ! grep -v "kernel panic:" "$work/out" | grep -q "$other" || said="$said $words/$other"
    done
done <<'END'
userspace watchdog timeout: no successful checkins from com.apple.WindowServer|did not in time
Unexpected SoC (system) watchdog reset occurred|hardware's watchdog
Sleep transition timed out after 180 seconds|going to sleep
Kernel trap at 0x1, type 14=page fault, registers|not there
Kernel data abort.|not there
Kernel instruction fetch abort.|holds no code
a freed zone element has been modified after free|after it was freed
initproc failed to start|launchd
launchd exited|launchd
zalloc: zone map exhausted|ran out of memory
assertion failed: x == 1|a check in
END
[ -z "$said" ]
check "a panic has the meaning of its own words only:$said"

# What compilers and tools put around a name changes no signature; what belongs to it does.
named() { # NAME
    printf 'Process:             demo [1]\nException Type:  EXC_CRASH (SIGABRT)\n\nThread 0 Crashed:\n'
    printf '0   demo                          \t0x0000000102a30aec %s + 4\n1   demo \t0x0000000102a30bec main + 8\n\n' "$1"
}
signature_of() {
    named "$1" >"$work/named.crash"
    tell --signature "$work/named.crash"
    grep -o '[0-9a-f]\{16,\}' "$work/out" | head -n 1
}
plain=$(signature_of fetch)
[ -n "$plain" ]
check "a signature"
while read -r name; do
    [ "$(signature_of "$name")" = "$plain" ]
    check "the signature of $name is that of fetch"
done <<'END'
fetch.llvm.8124577
fetch.cold
fetch.cold.1
fetch (.cold.2)
fetch.resume.0
fetch.destroy.0
fetch.isra.0
fetch.constprop.0
fetch.constprop.0.isra.3
fetch.lto_priv.1
fetch.part.0
fetch [clone .part.0]
fetch partial apply
merged fetch
dynamic fetch
specialized fetch
@objc fetch
@nonobjc fetch
partial apply for fetch
partial apply forwarder for fetch
non-virtual thunk to fetch
virtual thunk to fetch
invocation function for block in fetch
__5fetch_block_invoke
__5fetch_block_invoke_2.108
fetch -> Swift.Int
fetch : Swift.Int
fetch (in demo)
END
while read -r name; do
    [ "$(signature_of "$name")" != "$plain" ]
    check "the signature of $name is another"
done <<'END'
fetched
fetch2
fetch.partition
fetch.isra
prefetch
merge fetch
END

# ---- Why the system ended a process ----

ended() { # NAMESPACE CODE [LINE...]: the summary of such a report into $work/out
    printf 'Process:             demo [1]\nException Type:  EXC_CRASH (SIGKILL)\nTermination Reason: Namespace %s, Code %s\n' "$1" "$2"
    shift 2
    [ $# -eq 0 ] || printf '%s\n' "$@"
    printf '\nThread 0 Crashed:\n0   demo                          \t0x0000000102a30aec 0x102a30000 + 2796\n\n'
}
# Codes that Apple explains ("Understanding the exception types in a crash report", "Addressing watchdog terminations"), and those
# of xnu's bsd/sys/reason.h and bsd/sys/kern_memorystatus.h, dyld's mach-o/dyld_priv.h; a code that no list has gets its namespace.
cat >"$work/endings" <<'END'
SPRINGBOARD|0xdeadfa11|the user forced the app to quit
SPRINGBOARD|0xc00010ff|too hot
SPRINGBOARD|0xbaaaaaad|a stackshot of the whole system
SPRINGBOARD|0xbaadca11|not reporting a call
SPRINGBOARD|0xbad22222|a VoIP app
SPRINGBOARD|0xc51bad01|too much CPU time in the background
SPRINGBOARD|0xc51bad02|did not finish a background task in time
SPRINGBOARD|0xc51bad03|the system was busy
SPRINGBOARD|0x8badf00d|watchdog: the app did not answer
RUNNINGBOARD|0xdead10cc|held a file lock or database
JETSAM|2|above the memory mark
JETSAM|3|no more vnodes
JETSAM|4|the system had no more free memory
JETSAM|5|moved memory of processes in and out
JETSAM|6|read files anew
JETSAM|7|more memory than one process may
JETSAM|8|no more space on disk
JETSAM|9|the process was idle, and
JETSAM|10|the kernel had no more memory
JETSAM|11|compressed and decompressed
JETSAM|12|no more space for compressed memory
JETSAM|13|hardly any space to swap
JETSAM|14|short of memory for too long
JETSAM|15|could not write memory out
JETSAM|16|memory of its conclave
JETSAM|17|idle for long
JETSAM|100|more CPU time than it may
JETSAM|77|short of memory and ended
CODESIGNING|1|no valid signature
CODESIGNING|2|a page of memory does not match
CODESIGNING|3|the task port of another
CODESIGNING|4|a launch constraint
CODESIGNING|77|the signature does not allow what was done
DYLD|1|needs is missing
DYLD|2|not for this architecture
DYLD|3|older than the program needs
DYLD|4|lacks a symbol
DYLD|5|the signature of a library does not allow
DYLD|6|the sandbox does not allow to open
DYLD|7|is malformed
DYLD|77|the program could not be loaded
OBJC|77|the Objective-C runtime found
LIBSYSTEM|1|owned a workloop
LIBSYSTEM|3|could not be set up
LIBSYSTEM|4|the list of threads is damaged
LIBSYSTEM|77|libsystem found something wrong
LIBXPC|77|misused XPC
EXEC|1|no Mach-O file that may run
EXEC|2|the user or group
EXEC|3|the first thread could not be set up
EXEC|4|memory for the stack
EXEC|5|the kernel's own strings
EXEC|6|the arguments could not be copied
EXEC|7|the path of dyld
EXEC|8|a security policy
EXEC|9|the check of the signature
EXEC|10|encrypted by an app store
EXEC|11|is encrypted, and could not
EXEC|12|a packer
EXEC|13|programs of 32 bits
EXEC|14|for another platform
EXEC|15|no descriptor
EXEC|16|what Rosetta needs
EXEC|17|dyld's information
EXEC|18|the first thread could not be made
EXEC|19|posix_spawn
EXEC|77|could not start the program
TCC|77|a usage description
GUARD|1|a guarded file was
GUARD|2|guarded memory was
GUARD|3|a guarded Mach port was
GUARD|77|a guarded file descriptor
SANDBOX|77|the sandbox does not allow what was done
PAC_EXCEPTION|77|whose authentication failed
HANGTRACER|77|did not answer for too long
WATCHDOG|77|the watchdog of the system
METAL|77|the GPU or its driver
RUNNINGBOARD|77|RunningBoard, which decides
FRONTBOARD|77|what shows apps on the screen
SPRINGBOARD|77|what shows apps on the screen
END
while IFS='|' read -r namespace code words; do
    ended "$namespace" "$code" >"$work/one.crash"
    tell --summary "$work/one.crash"
    [ "$(grep -cF -e "$words" "$work/out")" -eq 1 ]
    check "ended: $namespace $code: $words" "$work/out"
done <"$work/endings"
# Each code that docs/facts.md lists is one of these rows: what is told of another code of its namespace are other words.
sed -n 's/^| \([A-Z_]*\) | \([0-9]*\) | .*/\1|\2|/p' docs/facts.md | grep -v ^GUARD_TYPE >"$work/codes"
[ "$(wc -l <"$work/codes")" -gt 40 ] && while read -r row; do
    grep -qF "$row" "$work/endings" || echo "$row"
done <"$work/codes" >"$work/lacks"
[ ! -s "$work/lacks" ]
check "every code of docs/facts.md has a row here" "$work/lacks"

# What the app was doing, by the report's own word; and its share of a processor, at the edges of the words for it.
while IFS='|' read -r event words; do
    ended FRONTBOARD 0x8badf00d "WatchdogEvent: $event" >"$work/one.crash"
    tell --summary "$work/one.crash"
    grep -qF "($words)" "$work/out"
    check "the watchdog: $event" "$work/out"
done <<'END'
scene-create|launching: 20 s
launch|launching: 20 s
resume|resuming: 10 s
suspend|suspending: 10 s
process-exit|quitting: 6 s
scene-update|updating the scene: 10 s
END
while IFS='|' read -r percent words; do
    ended FRONTBOARD 0x8badf00d "Elapsed application CPU time (seconds): 0.367, $percent% CPU" >"$work/one.crash"
    tell --summary "$work/one.crash"
    grep -q "the app used 0.367 s of CPU time ($percent%)$words" "$work/out"
    check "the watchdog: $percent% of a processor" "$work/out"
done <<'END'
0|: it waited
9|: it waited
10|$
49|$
50|: it computed
100|: it computed
END

# ---- Lines ahead of the stacks, each by its key ----

while IFS='|' read -r key member; do
    printf 'Code Type:       ARM-64\n%s:   a word\n\nThread 0 Crashed:\n0   demo   0x0000000102a30aec 0x102a30000 + 2796\n\n' "$key" >"$work/one.crash"
    tell --json "$work/one.crash"
    [ "$(sed 's/"facts":{.*"counts"//' "$work/out" | grep -o '"[a-z_]*":"a word"')" = "\"$member\":\"a word\"" ]
    check "$key: is told as $member" "$work/out"
done <<'END'
Process|process
Command|process
Identifier|identifier
Version|version
Date/Time|date
OS Version|os
Hardware Model|hardware
Hardware model|hardware
Incident Identifier|incident
Exception Type|exception
Exception Subtype|subtype
Exception Codes|codes
Exception Message|description
Exception Reason|reason
Termination Description|description
Termination Details|description
Event|event
Analysis Tool|event
CrashDoctor Diagnosis|description
END

# ---- What an exception means, by its own words ----

thrown() { # TYPE CODES FRAME...
    printf 'Process:             demo [1]\nException Type:  %s\nException Codes: %s\n\nThread 0 Crashed:\n' "$1" "$2"
    shift 2
    n=0
    for frame; do
        printf '%d   demo                          \t0x%016x %s + 4\n' $n $((0x102a30aec + n * 64)) "$frame"
        n=$((n + 1))
    done
    echo
}
while IFS='|' read -r type codes top words; do
    thrown "$type" "$codes" "$top" main >"$work/one.crash"
    tell --summary "$work/one.crash"
    [ "$(grep -cF -e "$words" "$work/out")" -eq 1 ]
    check "$type at $codes in $top: $words" "$work/out"
done <<'END'
EXC_BREAKPOINT (SIGTRAP)|0x1|fetch|  a trap: a check
SIGTRAP|0x1|fetch|  a trap: a check
SIGTRAP|0x1|swift_fail|Swift runtime failure: a trap
SIGILL|0x1|fetch|an illegal instruction
EXC_BAD_INSTRUCTION|0x1|swift_fail|Swift runtime failure: a trap
EXC_BAD_INSTRUCTION|0x1|fetch|an illegal instruction
SIGABRT|0x0|fetch|the program called abort
SIGQUIT|0x0|fetch|another process asked for the end
SIGKILL|0x0|fetch|the system killed the process
SIGFPE|0x0|fetch|an arithmetic error
EXC_ARITHMETIC|0x0|fetch|an arithmetic error
SIGSYS|0x0|fetch|a system call that does not exist
SIGPIPE|0x0|fetch|a write to a pipe
EXC_RESOURCE|0x0|fetch|a limit of CPU
EXC_GUARD|0x0|fetch|a guarded resource
SIGSEGV|KERN_INVALID_ADDRESS at 0x0|fetch|access through a null pointer
SIGBUS|KERN_INVALID_ADDRESS at 0xfff|fetch|access through a null pointer
EXC_BAD_ACCESS|KERN_INVALID_ADDRESS at 0x1000|fetch|access to memory that is not there
EXC_BAD_ACCESS|KERN_PROTECTION_FAILURE at 0x1000|fetch|may not be read or written so
EXC_BAD_ACCESS|0x1|objc_msgSend|message to a freed or damaged object
EXC_BAD_ACCESS|0x1|objc_release|message to a freed or damaged object
EXC_BAD_ACCESS|0x1|objc_retain|message to a freed or damaged object
EXC_BAD_ACCESS|0x1|objc_autoreleaseReturnValue|message to a freed or damaged object
EXC_BAD_ACCESS|0x1|objc_loadWeakRetained|message to a freed or damaged object
EXC_BAD_ACCESS|0x1|objc_storeStrong|message to a freed or damaged object
EXC_BAD_ACCESS|0x1|swift_release|message to a freed or damaged object
EXC_BAD_ACCESS|0x1|swift_retain|message to a freed or damaged object
EXC_BAD_ACCESS|0x1|CFRelease|message to a freed or damaged object
EXC_BAD_ACCESS|0x1|CFRetain|message to a freed or damaged object
EXC_BAD_ACCESS|0x1|objc_opt_respondsToSelector|message to a freed or damaged object
EXC_BAD_ACCESS|0x1|objc_copy|access to memory that is not there
END
for count in 19 20; do
    # shellcheck disable=SC2046
    thrown EXC_BAD_ACCESS 0x1 $(yes deeper | head -n $count) >"$work/one.crash"
    tell --summary "$work/one.crash"
    [ "$(grep -c "the stack overflowed" "$work/out")" -eq $((count == 20)) ]
    check "a stack of $count frames of one function" "$work/out"
done

# ---- Frames that no signature has ----

# Every row, in one file: a report of each function and of a name that is like it. A stack is told by fetch where the function that it
# called says nothing.
grep -v '^#' tests/machinery.txt | grep . | awk -F'|' '{
    is_alone = sub(/~$/, "")
    whole = $0
    sub(/[|]/, "", whole)
    print "nothing\t" whole
    if (!is_alone) print "something\t" (NF > 1 ? substr($1, 1, length($1) - 1) "Q" : $0 "Q")
}' >"$work/names"
awk -F'\t' '{
    image = sub(/^in /, "", $2) ? $2 : "demo"
    printf "Process: demo [1]\nException Type: EXC_CRASH (SIGABRT)\nTriggered by Thread: 0\n\nThread 0 Crashed:\n" \
        "0   %s  0x200001000 %s + 4\n1   demo  0x100002000 fetch + 4\n\nBinary Images:\n" \
        "0x100000000 - 0x10000ffff demo arm64 <4c4c44b555553144a1ba79ca685dec58> /Applications/Demo.app/demo\n", image, image == "demo" ? $2 : "Inner"
    if (image != "demo")
        printf "0x200000000 - 0x20000ffff %s arm64 <4c4c44b655553144a1ba79ca685dec58> /Applications/Demo.app/Frameworks/%s\n", image, image
    print ""
}' "$work/names" >"$work/all.crash"
tell --signature "$work/all.crash"
cut -c18- "$work/out" | sed 's/  [^ ]*$//' | paste "$work/names" - | awk -F'\t' '
    $1 != ($3 == " SIGABRT: fetch" ? "nothing" : $3 ~ /^ SIGABRT: / ? "something" : "") { print }' >"$work/log"
[ ! -s "$work/log" ] && [ "$(wc -l <"$work/out")" -gt 700 ]
check "machinery, row by row" "$work/log"

# The machinery of the system, of exceptions and of threads, by the names that Apple's reports have: a stack is told by what it ran.
machinery_on() { # NAME
    thrown "EXC_CRASH (SIGABRT)" 0x0 "$1" fetch >"$work/one.crash"
    tell --signature "$work/one.crash"
    cut -c18- "$work/out" | sed 's/  [^ ]*$//'
}
while read -r name; do
    [ "$(machinery_on "$name")" = " SIGABRT: fetch" ]
    check "no signature has $name" "$work/out"
done <<'END'
__pthread_kill
pthread_kill
kill
raise
abort
abort_message
__assert_rtn
_sigtramp
demangling_terminate_handler()
demangling_unexpected_handler()
default_terminate_handler()
default_unexpected_handler()
_objc_terminate()
std::terminate()
std::__terminate(void (*)())
__cxa_throw
__cxa_rethrow
objc_exception_throw
objc_exception_rethrow
__exceptionPreprocess
+[NSException raise:format:]
-[NSException raise]
-[NSAssertionHandler handleFailureInMethod:object:file:lineNumber:description:]
swift_runtime_on_report
swift_unexpectedError
swift_fatalErrorWithMessage
Swift runtime failure: arithmetic overflow
_assertionFailure(_:_:file:line:flags:)
_fatalErrorMessage(_:_:file:line:flags:)
CFRunLoopRunSpecific
__CFRunLoopRun
__CFRUNLOOP_IS_CALLING_OUT_TO_A_BLOCK__
GSEventRunModal
UIApplicationMain
NSApplicationMain
-[UIApplication _run]
-[NSApplication run]
start
start_sim
thread_start
start_wqthread
_pthread_start
_pthread_body
_pthread_wqthread
__NSThread__start__
_dispatch_call_block_and_release
swift_task_switch
_swift_runtime_on_report
thunk for @escaping @callee_guaranteed () -> ()
completeTaskWithClosure(swift::AsyncContext*, swift::SwiftError*)
preconditionFailure(_:file:line:)
closure #1 in closure #1 in _assertionFailure(_:_:file:line:flags:)
reabstraction thunk helper from @escaping @callee_guaranteed () -> ()
rust_begin_unwind
core::panicking::panic_fmt::h0123456789abcdef
alloc::raw_vec::capacity_overflow
std::panicking::rust_panic_with_hook::h0123456789abcdef
core::option::unwrap_failed
runtime.gopanic
crosscall2
x_cgo_thread_start
mono_handle_exception
xamarin_unhandled_exception_handler
monoeg_assertion_message
wrapper_runtime_invoke_object_runtime_invoke_dynamic
native_to_managed_trampoline_42
llvm_throw_corlib_exception_abs_trampoline
do_icall
interp_exec_method
log_callback(char const*, char const*, char const*, int, void*)
throw_exception
ves_icall_System_Environment_FailFast_raw
System_Environment_FailFast_string
rethrow_exception
RhpThrowEx
PalRaiseFailFastException
S_P_CoreLib_System_ThrowHelper__ThrowArgumentNullException
__managed__Main
konan::abort()
kfun:kotlin.IllegalStateException#<init>(kotlin.String?){}
kfun:kotlin.coroutines.native.internal.BaseContinuationImpl#resumeWith(kotlin.Result<kotlin.Any?>){}
objc2kotlin_kfun:com.demo.Model#load(){}
(anonymous namespace)::terminateWithUnhandledException(ObjHeader*)
TerminateWithUnhandledException
ThrowNullPointerException
ExceptionObjHolder::Throw(ObjHeader*)
ProcessUnhandledException(ObjHeader*)
KonanTerminateHandler()
Init_and_run_start
il2cpp::vm::Exception::Raise(Il2CppException*, MethodInfo*)
RuntimeInvoker_TrueVoid_t4861ACF8F4594C3437BB48B6E56783494B843915
scripting_method_invoke(ScriptingMethodPtr)
MonoBehaviour::CallUpdateMethod(int)
ScriptingInvocation::Invoke(ScriptingExceptionPtr*, bool)
NullCheck(void*)
PlayerLoop()
ExecutePlayerLoop(NativePlayerLoopSystem*)
UnityPlayerLoopImpl(bool)
InitPlayerLoopCallbacks()
BehaviourManager::Update()
AwakeFromLoadQueue::InvokeAwakeFromLoad()
Coroutine::Run(bool*)
DelayedCallManager::Update(int)
FixedBehaviourManager::Update()
GC_start_routine
LateBehaviourManager::Update()
-[UnityAppController repaint]
void BaseBehaviourManager::CommonUpdate<BehaviourManager>()
dart::Isolate::Run()
Dart_Invoke
flutter::Shell::Run()
__Unwind_Resume
-[NSException raise:format:]
END
while read -r name; do
    [ "$(machinery_on "$name")" != " SIGABRT: fetch" ]
    check "a signature has $name" "$work/out"
done <<'END'
killer
runtime.mapassign_faststr
kfun:com.demo.Model#load(){}
Player_Update_m0123456789ABCDEF0123456789ABCDEF01234567
core::fmt::write
monotone
Coroutine::Resume()
restart
starter
-[UIApplication run]
-[NSException razed]
GSEvent
END

# A crash is one whether its writer tells the exception or the signal; another one is another.
while read -r kind type; do
    thrown "$type" 0x0 fetch >"$work/one.crash"
    tell --signature "$work/one.crash"
    grep -q "^[0-9a-f]*  $kind: fetch  " "$work/out"
    check "the signature of $type" "$work/out"
done <<'END'
EXC_BAD_ACCESS EXC_BAD_ACCESS
EXC_BAD_ACCESS SIGSEGV
EXC_BAD_ACCESS SIGBUS
EXC_BREAKPOINT EXC_BREAKPOINT
EXC_BREAKPOINT SIGTRAP
EXC_BAD_INSTRUCTION EXC_BAD_INSTRUCTION
EXC_BAD_INSTRUCTION SIGILL
EXC_ARITHMETIC EXC_ARITHMETIC
EXC_ARITHMETIC SIGFPE
EXC_RESOURCE EXC_RESOURCE
EXC_GUARD EXC_GUARD
SIGKILL EXC_CRASH (SIGKILL)
SIGQUIT EXC_CRASH (SIGQUIT)
SIGABRT EXC_CRASH (SIGABRT)
SIGABRT EXC_CRASH
END
# Five frames tell a crash; a sixth makes no other one of it.
thrown SIGABRT 0x0 a1 b2 c3 d4 e5 f6 >"$work/one.crash"
tell --signature "$work/one.crash"
grep -q "  SIGABRT: a1 | b2 | c3 | d4 | e5  " "$work/out"
check "five frames of six" "$work/out"
# A name that is all of what is taken off names stays.
for name in .llvm. .part. _block_invoke; do
    thrown SIGABRT 0x0 "$name" main >"$work/one.crash"
    tell --signature "$work/one.crash"
    grep -qF -e "  SIGABRT: ${name#_} | main  " "$work/out"
    check "a function called $name" "$work/out"
done

# ---- Why memory was taken ----

# The reasons of xnu's bsd/kern/kern_memorystatus.c (memorystatus_kill_cause_name).
while IFS='|' read -r reason words; do
    printf '{"bug_type":"298"}\n{"memoryStatus":{"pageSize":16384,"memoryPages":{"free":3}},"largestProcess":"big","processes":[%s,%s]}\n' \
        "{\"name\":\"small\",\"pid\":3,\"rpages\":32,\"reason\":\"$reason\"}" '{"name":"big","pid":4,"rpages":160}' >"$work/jetsam.ips"
    tell --summary "$work/jetsam.ips"
    grep -qxF "  ended: small [3], $reason: $words; it held 1 MB (32 pages)" "$work/out" &&
        grep -qxF "  the largest process: big, 3 MB (160 pages)" "$work/out"
    check "jetsam: $reason" "$work/out"
done <<'END'
per-process-limit|it used more memory than one process may
vm-pageshortage|the system had no more free memory, and it was the least important
vm-compressor-space-shortage|the system had no more space for compressed memory
vm-compressor-thrashing|the system only compressed and decompressed memory, and it was the least important
fc-thrashing|the system only read files anew that it had to forget, and it was the least important
vnode-limit|the system had no more vnodes: too many files were open
highwater|it went above the memory mark set for it, while memory was short
jettisoned|memory was wanted for something else
zone-map-exhaustion|the kernel had no more memory of its own
disk-space-shortage|the system had no more space on disk
idle-exit|it was idle, and its memory was wanted
END
six=$(for n in 1 2 3 4 5 6; do printf '{"name":"p","pid":%d,"reason":"highwater"},' $n; done)
printf '{"bug_type":"298"}\n{"memoryStatus":{},"processes":[%s]}\n' "${six%,}" >"$work/jetsam.ips"
tell --summary "$work/jetsam.ips"
[ "$(grep -c '  ended: p ' "$work/out")" -eq 4 ] && grep -qx '  and 2 more were ended' "$work/out"
check "jetsam: four of six are named" "$work/out"
end
