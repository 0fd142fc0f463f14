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
end
