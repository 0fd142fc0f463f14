#!/bin/bash
# machsym crash --summary and the member "facts": what happened, in words. A row a code or a message; the truth of the codes are Apple's
# public headers (docs/facts.md names each), of the messages the public sources and reports that print them.
machsym=${MACHSYM:-build/machsym}
. tests/checks

reports=tests/fixtures/facts
tell() { $machsym crash -q --no-cache "$@" 2>"$work/err" >"$work/out"; }
crash() { # HEAD [INFO [STATE]]: lines ahead of the stack, Application Specific Information, the thread's state
    printf 'Process:             demo [1]\n%b\n\n' "$1"
    [ -z "$2" ] || printf 'Application Specific Information:\n%b\n\n' "$2"
    printf 'Thread 0 Crashed:\n0   demo                          \t0x0000000102a30aec 0x102a30000 + 2796\n\n'
    [ -z "$3" ] || printf 'Thread 0 crashed with ARM Thread State (64-bit):\n%b\n\n' "$3"
    printf 'Binary Images:\n0x102a30000 - 0x102a33fff demo arm64  <4c4c44b555553144a1ba79ca685dec58> /a/demo.app/demo\n'
}
row() { # WANT HEAD [INFO [STATE]]: the summary has the line once
    want=$1
    shift
    crash "$@" >"$work/one.crash"
    tell --summary "$work/one.crash"
    [ "$(grep -cxF -e "  $want" "$work/out")" -eq 1 ]
    check "$want" "$work/out"
}

# ---- What libraries say, ahead of what the signal means ----

abort='Exception Type:  EXC_CRASH (SIGABRT)\nException Codes: 0x0000000000000000, 0x0000000000000000'
trap='Exception Type:  EXC_BREAKPOINT (SIGTRAP)\nException Codes: 0x0000000000000001, 0x0000000102a30aec'
while IFS='|' read -r kind head info want; do
    row "$want" "${!head}" "$info"
    tell --json "$work/one.crash"
    grep -q "\"said\":{\"kind\":\"$kind\"" "$work/out"
    check "$want: it is $kind" "$work/out"
    ! grep -q 'the program called abort\|"a trap: ' "$work/out"
    check "$want: the signal adds nothing" "$work/out"
done <<'END'
client_bug|trap|BUG IN CLIENT OF LIBDISPATCH: dispatch_sync called on queue already owned by current thread|a library was misused, LIBDISPATCH: dispatch_sync called on queue already owned by current thread
client_bug|trap|Performing @selector(go:)\nBUG IN CLIENT OF LIBPLATFORM: Trying to recursively lock an os_unfair_lock\nAbort Cause 258|a library was misused, LIBPLATFORM: Trying to recursively lock an os_unfair_lock
library_bug|trap|BUG IN LIBDISPATCH: Duplicate thread in kqueue|a library found a bug of its own, LIBDISPATCH: Duplicate thread in kqueue
exception|trap|Crashing on exception: *** -[__NSArrayM objectAtIndex:]: index 5 beyond bounds [0 .. 2]|uncaught exception: *** -[__NSArrayM objectAtIndex:]: index 5 beyond bounds [0 .. 2]
exception|abort|*** Terminating app due to uncaught exception 'NSRangeException', reason: 'the key 'a' is lost'\nabort() called|uncaught exception NSRangeException: the key 'a' is lost
cxx_exception|abort|abort() called\nterminating due to uncaught exception of type std::out_of_range: vector|uncaught C++ exception std::out_of_range: vector
cxx_exception|abort|libc++abi: terminating with uncaught exception of type int|uncaught C++ exception int
malloc|abort|abort() called\ndemo(412,0x1f0a2c0c0) malloc: *** error for object 0x600000c00010: pointer being freed was not allocated|malloc found the heap or a pointer wrong: error for object 0x600000c00010: pointer being freed was not allocated
malloc|trap|Heap corruption detected, free list is damaged at 0x600002f40060\n*** Incorrect guard value: 0|malloc found the heap or a pointer wrong: Heap corruption detected, free list is damaged at 0x600002f40060
zombie|trap|*** -[CFString release]: message sent to deallocated instance 0x600000c00010|message to a freed object: -[CFString release]: message sent to deallocated instance 0x600000c00010
null_object|trap|*** CFRelease() called with NULL ***|a null object was retained or released: CFRelease() called with NULL
swift|trap|dyld3 mode\ndemo/main.swift:12: Fatal error: Unexpectedly found nil while unwrapping an Optional value|Swift runtime failure: Fatal error: Unexpectedly found nil while unwrapping an Optional value (demo/main.swift:12)
swift|trap|Fatal error: Index out of range: file Swift/ContiguousArrayBuffer.swift, line 600\ndyld3 mode|Swift runtime failure: Fatal error: Index out of range (Swift/ContiguousArrayBuffer.swift:600)
swift|trap|demo/A.swift:3: Precondition failed: count|Swift runtime failure: Precondition failed: count (demo/A.swift:3)
assertion|abort|Assertion failed: (count > 0), function pop, file queue.c, line 12.\nabort() called|an assertion failed: (count > 0), function pop (queue.c:12)
objc|trap|Attempt to use unknown class 0x600000c00010.|the Objective-C runtime found something wrong: Attempt to use unknown class 0x600000c00010.
overflow|abort|stack buffer overflow|a buffer overflowed: stack buffer overflow
END
row "a library said: the cat is out" "$abort" 'abort() called\nthe cat is out'
row "the program called abort: an uncaught exception, a failed assertion, or a library's own check" "$abort" 'abort() called\ndyld4 config: DYLD_LIBRARY_PATH=/a'

# ---- What kind of thing happened ----

printf '{"bug_type":"210"}\n{"build":"iPhone OS 17.4 (21E219)","panicString":"panic(cpu 0 caller 0x1): Attempt to use freed memory"}\n' >"$work/panic.ips"
while IFS='|' read -r cause file; do
    tell --json "${file/@/$work}"
    [ "$(head -n 1 "$work/out" | grep -o '"cause":"[a-z]*"')" = "\"cause\":\"$cause\"" ]
    check "$file: $cause" "$work/out"
done <<'END'
panic|@/panic.ips
trap|tests/fixtures/reports/demo.ips
exception|tests/fixtures/reports/demo-exceptions.ips
termination|tests/fixtures/reports/watchdog.ips
event|tests/fixtures/reports/jetsam.ips
event|tests/fixtures/reports/demo-sample.txt
event|tests/fixtures/stacks/stackshot.txt
event|tests/fixtures/services/metrickit-metrics.json
access|tests/fixtures/services/crashlytics-crashed.txt
END

# An .ips with the exception that nothing caught: its name, and the words that it was made with
sed 's/"exception"/"exceptionReason":{"type":"objc-exception","name":"NSRangeException","composed_message":"index 7 beyond bounds"},&/' \
    tests/fixtures/reports/demo.ips >"$work/thrown.ips"
tell --json "$work/thrown.ips"
grep -q '"facts":{"cause":"exception","sentence":"uncaught exception NSRangeException: index 7 beyond bounds","said":{"kind":"exception","name":"NSRangeException",' "$work/out"
check "exceptionReason of an .ips" "$work/out"
sed -i 's/"name":"NSRangeException",//' "$work/thrown.ips"
tell --json "$work/thrown.ips"
! grep -q NSRangeException "$work/out" && grep -q 'index 7 beyond bounds' "$work/out"
check "exceptionReason of an .ips without a name" "$work/out"

# ---- The access that failed ----

bad='Exception Type:  EXC_BAD_ACCESS (SIGSEGV)'
region() { # NAME
    printf '%s' "VM Region Info: 0x16f0effe0 is in 0x16b8ec000-0x16f0f0000;  bytes after start: 1\n      REGION TYPE    START - END\n"
    printf '%s' "      MALLOC_NANO    600000000000-600020000000 [512.0M] rw-/rwx SM=PRV\n--->  $1    16b8ec000-16f0f0000 [ 56.0M] ---/rwx SM=NUL\n"
}
while IFS='|' read -r kind codes want; do
    crash "$bad\nException Codes: $codes" >"$work/one.crash"
    tell --json "$work/one.crash"
    grep -q "\"facts\":{\"cause\":\"access\",\"sentence\":\"$want" "$work/out" && grep -q "\"fault\":{\"kind\":\"$kind\"" "$work/out"
    check "$codes: $want" "$work/out"
    [ "$kind" = unmapped ] || ! grep -q 'memory that is not there' "$work/out"
    check "$codes: memory that is there is not called missing" "$work/out"
done <<'END'
unmapped|0x0000000000000001, 0x0000000000001000|access to memory that is not there: an access at 0x1000
null|0x0000000000000001, 0x0000000000000fff|access through a null pointer: an access at 0xfff
protected|0x0000000000000002, 0x0000000102a30000|access to memory that may not be read or written so: an access at 0x102a30000
backing_store|0x0000000000000009, 0x0000000102a30000|a page could not be read from where it is kept
backing_store|0x000000000000000a, 0x0000000102a30000|a page could not be read from where it is kept
code_signature|0x0000000000000032, 0x0000000102a30000|a page does not match its signature, or is not signed: an access at 0x102a30000
guard_object|0x0000000000000039, 0x0000000102a30000|access past the end of a guarded allocation
misaligned|0x0000000000000101, 0x0000000102a30001|access to an address that is not aligned as the instruction needs
misaligned|0x0000000000000103, 0x0000000102a30001|access to an address that is not aligned as the instruction needs
pointer_authentication|0x0000000000000105, 0x0020000102a30001|a pointer whose authentication failed was used
memory_tag|0x0000000000000106, 0x0000000d6514c3d8|use of freed or overrun memory: the tag of the pointer does not fit the memory's; an access at 0xd6514c3d8
canonical_tag|0x0000000000000107, 0x0000000d6514c3d8|a pointer with a tag was used for memory that has no tags
non_canonical|EXC_I386_GPFLT|access through a value that is no address"
non_canonical|0x000000000000000d, 0x0000000000000000|access through a value that is no address"
unmapped|0x0000000000000201, 0x0000000102a30000|access to memory that is not there
freed_pattern|0x0000000000000001, 0x5555555555555565|use of freed memory: the pointer was read from memory filled with 0x55
freed_pattern|0x0000000000000001, 0x0055555555555560|use of freed memory
freed_pattern|0x0000000000000001, 0x0000555555555570|use of freed memory
uninitialized_pattern|0x0000000000000001, 0xaaaaaaaaaaaaaaaa|use of memory that was never set
uninitialized_pattern|0x0000000000000001, 0x00002aaaaaaaaab0|use of memory that was never set
unmapped|0x0000000000000001, 0x0000555455555570|access to memory that is not there
unknown|0x00000000000000ff, 0x0000000102a30000|an access to memory failed: an access at 0x102a30000
unmapped|SEGV_MAPERR at 0x0000000102a30001|access to memory that is not there: an access at 0x102a30001
unknown|SEGV_ACCERR at 0x0000000102a30001|an access to memory failed: an access at 0x102a30001
pointer_authentication_possible|KERN_INVALID_ADDRESS at 0x0020000102a30001 -> 0x0000000102a30001 (possible pointer authentication failure)|a damaged pointer was used: its authentication may have failed: an access at 0x20000102a30001
misaligned|BUS_ADRALN at 0x0000000102a30001|access to an address that is not aligned
protected|KERN_PROTECTION_FAILURE at 0x0000000102a30001|access to memory that may not be read or written so: an access at 0x102a30001
backing_store|KERN_MEMORY_FAILURE at 0x0000000102a30001|a page could not be read from where it is kept
backing_store|KERN_MEMORY_ERROR at 0x0000000102a30001|a page could not be read from where it is kept
code_signature|KERN_CODESIGN_ERROR at 0x0000000102a30001|a page does not match its signature, or is not signed: an access at 0x102a30001
guard_object|KERN_INVALID_GUARD_OBJECT_SLOT at 0x0000000102a30001|access past the end of a guarded allocation
misaligned|EXC_ARM_DA_ALIGN at 0x0000000102a30001|access to an address that is not aligned
misaligned|EXC_ARM_SP_ALIGN at 0x0000000102a30001|access to an address that is not aligned
pointer_authentication|EXC_ARM_PAC_FAIL at 0x0000000102a30001|a pointer whose authentication failed was used
memory_tag|EXC_ARM_MTE_TAGCHECK_FAIL at 0x0000000d6514c3d8|use of freed or overrun memory
canonical_tag|EXC_ARM_MTE_CANONICAL_FAIL at 0x0000000d6514c3d8|a pointer with a tag was used for memory that has no tags
unknown|KERN_MEMORY_ERRORS at 0x0000000102a30001|an access to memory failed: an access at 0x102a30001
END
row "the process was sent the signal: no access to memory failed" 'Exception Type:  EXC_CRASH (SIGSEGV)\nException Codes: 0x0000000000000000, 0x0000000000000000'
row "access to memory that may not be read or written so" 'Exception Type:  EXC_CRASH (SIGSEGV)\nException Codes: 0x000000000b100002, 0x0000000000000000'
row "the process was sent the signal: no access to memory failed" 'Exception Type:  EXC_CRASH (SIGSEGV)\nException Codes: 0x000000000b600002, 0x0000000000000000'
# Swift's checks are inlined functions with a name each
crash "$trap" | sed 's/0x102a30000 + 2796/Swift runtime failure: arithmetic overflow + 0/' >"$work/one.crash"
tell --summary "$work/one.crash"
grep -qx "  Swift runtime failure: arithmetic overflow" "$work/out" && ! grep -q "a trap" "$work/out"
check "the name of a check of Swift's" "$work/out"
# a guard below a stack, by where the stack pointer is
guarded="$bad\nException Codes: 0x0000000000000002, 0x000000016f0effe0\n$(region 'STACK GUARD')"
row "the stack overflowed: the access hit the guard below the thread's stack; a write at 0x16f0effe0, in STACK GUARD" "$guarded" "" \
    '    sp: 0x000000016f0effd0   far: 0x000000016f0effe0  esr: 0x92000047 (Data Abort) byte write Translation fault'
row "access to the guard below the stack of a thread: a write at 0x16f0effe0, in STACK GUARD" "$guarded" "" \
    '    sp: 0x000000017f0effd0   far: 0x000000016f0effe0  esr: 0x92000047 (Data Abort) byte write Translation fault'
row "access to memory that may not be read or written so: a read at 0x16f0effe0, in MALLOC_SMALL" \
    "$bad\nException Codes: 0x0000000000000002, 0x000000016f0effe0\n$(region MALLOC_SMALL)" "" '   esr: 0x9200000f (Data Abort) byte read Permission fault'
row "access to memory that is not there: a jump to 0x12345678" "$bad\nException Codes: 0x0000000000000001, 0x0000000012345678" "" \
    '   far: 0x0000000012345678  esr: 0x82000006 (Instruction Abort) Translation fault'
# the form of macOS 10.7 to 12
row "the stack overflowed: the access hit the guard below the thread's stack; an access at 0x7fff57dd9fd8, in STACK GUARD" \
    "$bad\nException Codes: KERN_PROTECTION_FAILURE at 0x00007fff57dd9fd8\n\nVM Regions Near 0x7fff57dd9fd8:\n    MALLOC_TINY   00007fd766800000-00007fd769a00000 [ 50.0M] rw-/rwx SM=PRV\n--> STACK GUARD   00007fff545da000-00007fff57dda000 [ 56.0M] ---/rwx SM=NUL  stack guard for thread 0"
row "the stack overflowed: the access hit the guard below the thread's stack; an access at 0x16b21bf70" \
    "$bad\nException Subtype: KERN_PROTECTION_FAILURE at 0x000000016b21bf70\nException Message: Thread stack size exceeded due to excessive recursion\nException Codes: 0x0000000000000002, 0x000000016b21bf70"
row "access to memory that is not there: an access at 0x16dcae878" \
    "$bad\nException Codes: 0x0000000000000001, 0x000000016dcae878\nVM Region Info: 0x16dcae878 is not in any region.  Bytes after previous region: 551033\n      Stack    16dba0000-16dc28000 [  544K] rw-/rwx SM=PRV  thread 3\n--->  GAP OF 0x8c000 BYTES\n      Stack Guard    16dcb4000-16dcb8000 [   16K] ---/rwx SM=NUL"
# the processor alone
row "an atomic instruction was used on memory that does not support it: a write at 0x1000" "$bad" "" \
    '   far: 0x0000000000001000  esr: 0x92000075 (Data Abort)'
row "access to memory that is not there: a read of 8 bytes at 0x1000" "$bad" "" '   far: 0x0000000000001000  esr: 0x93c00006 (Data Abort)'
# Intel's error: bit 1 a write, bit 4 a fetch; of another trap nothing is reported
while read -r trap_number error verb; do
    row "access to memory that is not there: $verb" "$bad\nException Codes: 0x0000000000000001, 0x0000000000001000" "" \
        "  rip: 0x0000000102a30aec  rfl: 0x0000000000000246  cr2: 0x0000000000001000\n\nLogical CPU:     0\nError Code:      $error (user)\nTrap Number:     $trap_number"
done <<'END'
14 0x00000004 a read at 0x1000
14 0x00000006 a write at 0x1000
14 00000007 a write at 0x1000
14 0x00000014 a jump to 0x1000
133 0x00000006 an access at 0x1000
END
# the tag: a register that points there, or a little below; bits 56 to 59
for register in '0x090000d6514c3d8 x' '0x0900000d6514c3d8 9' '0x0f00000d6514c3c0 15' '0x0900000d6514c3e0 x' '0x0000000d6514c3d8 x'; do
    value=${register% *}
    tag=${register#* }
    crash "$bad\nException Codes: 0x0000000000000106, 0x0000000d6514c3d8" "" "    x0: 0x0000000000000000   x1: $value" >"$work/one.crash"
    tell --json "$work/one.crash"
    if [ "$tag" = x ]; then ! grep -q '"tag":' "$work/out"; else grep -q "\"tag\":$tag}" "$work/out"; fi
    check "a register of $value: the tag is $tag" "$work/out"
done

# ---- EXC_GUARD and EXC_RESOURCE, by their bits ----

while IFS='|' read -r codes want; do
    row "$want" "Exception Type:  EXC_GUARD\nException Codes: $codes"
done <<'END'
0x4000000100000007, 0x08fd4dbfade2dead|a guarded file descriptor was misused: descriptor 7 was closed (guard 0x8fd4dbfade2dead)
0x4000004200000007, 0x0000000000000001|a guarded file descriptor was misused: descriptor 7 was duplicated and written to (guard 0x1)
0x4000010000000007, 0x0000000000000001|a guarded file descriptor was misused: descriptor 7 was flavor 0x100 (guard 0x1)
0x2000000200001003, 0x0000000000000000|a Mach port was misused: port 4099 was given another count of references (guard 0x0)
0x2000002000001003, 0x0000000000000000|a Mach port was misused: port 4099 was moved, though it may not be (guard 0x0)
0x6000001200000005, 0x0000000000000007|a check of a library failed, and it asked for this report: namespace TEST, code 0x7
0x8000000400000f0f, 0x0000000000000001|a guarded file was misused: it was deleted, by process 3855
0xa000000100000000, 0x0000000102a30000|memory was freed over a gap in which nothing is mapped, at 0x102a30000
0xa00000c800000000, 0x0000000d6514c3d8|use of freed or overrun memory: the tag of the pointer does not fit the memory's, at 0xd6514c3d8
0xa00000c900000000, 0x0000000d6514c3d8|use of freed or overrun memory, told after the fact: the stack is of a later moment, at 0xd6514c3d8
0xa00000c800100106, 0x0000000d6514c3d8|use of freed or overrun memory: the tag of the pointer does not fit the memory's, at 0xd6514c3d8; in soft mode, so the process went on
0xa000006400000000, 0x0000000d6514c3d8|memory with tags was to be copied to where it may not go, at 0xd6514c3d8
0xc000000000000000, 0x0000000000000015|the process may not make this system call: number 21
0xc00000000000001a, 0x000000000000001a|the process may not make this call of Mach: trap 26
END
# newer reports: the target alone, the whole code in the termination; or words only
row "a Mach port was misused: port 78611 was used by a name that stands for no port (guard 0x0)" \
    'Exception Type:  EXC_GUARD (SIGKILL)\nException Subtype: GUARD_TYPE_MACH_PORT\nException Message:  INVALID_NAME on mach port 78611 (guarded with 0x0000000000000000)\nException Codes: 0x0000000000013313, 0x0000000000000000\nTermination Reason: GUARD 2305845208237028115'
row "a Mach port was misused: port 78611 was used by a name that stands for no port (guard 0x0)" \
    'Exception Type:  EXC_GUARD\nException Subtype: GUARD_TYPE_MACH_PORT\nException Message:  INVALID_NAME on mach port 78611 (guarded with 0x0000000000000000)\nException Codes: 0x0000000000013313, 0x0000000000000000'
row "a guarded resource was misused: CLOSE on file descriptor 7" 'Exception Type:  EXC_GUARD\nException Message: CLOSE on file descriptor 7'
while IFS='|' read -r codes want; do
    row "$want" "Exception Type:  EXC_RESOURCE\nException Codes: $codes"
done <<'END'
0x2400000000001e50, 0x000000000000005f|more CPU time than the limit of 80% over 60 s; seen were 95%
0x2800000000001e50, 0x000000000000005f|more CPU time than the limit of 80% over 60 s; seen were 95%; the process was ended
0x4400000012c00096, 0x0000000000003039|more wakeups of the processor than the limit of 150 a second over 300 s; seen were 12345 a second
0x6400000000000400, 0x0000000000000000|more memory than the limit of 1024 MB
0x8400000000640400, 0x0000000000000801|more written to disk than the limit of 1024 MB over 200 s; seen were 2049 MB
0x8800000000640400, 0x0000000000000801|more written to files than the limit of 1024 MB over 200 s; seen were 2049 MB
0xa400000000000200, 0x0000000000000000|more threads than the limit of 512
0xc400000000010000, 0x0000000000000000|no space for more Mach ports: 65536 are in use
END
row "a limit of CPU, memory, wakeups or disk writes was exceeded: WAKEUPS" 'Exception Type:  EXC_RESOURCE\nException Subtype: WAKEUPS'

row "not a crash: the report was made while the process went on" 'Exception Type:  EXC_RESOURCE\nException Subtype: CPU\nException Message: (Limit 50%) Observed 52% over 180 secs\nException Note:  NON-FATAL CONDITION (this is NOT a crash)'
tell --summary $reports/resource.ips
grep -qx "  not a crash: the report was made while the process went on" "$work/out"
check "isNonFatal of an .ips" "$work/out"

# ---- Every namespace of xnu's sys/reason.h has words; those of a signal are the signal's ----

for namespace in JETSAM CODESIGNING HANGTRACER TEST DYLD LIBXPC OBJC EXEC SPRINGBOARD TCC REPORTCRASH COREANIMATION AGGREGATED RUNNINGBOARD SKYWALK \
    SETTINGS LIBSYSTEM FOUNDATION WATCHDOG METAL WATCHKIT GUARD ANALYTICS SANDBOX SECURITY ENDPOINTSECURITY PAC_EXCEPTION BLUETOOTH_CHIP PORT_SPACE \
    WEBKIT BACKLIGHTSERVICES MEDIA ROSETTA LIBIGNITION BOOTMOUNT REALITYKIT AUDIO WAKEBOARD CORERC SELF_RESTRICT ARKIT CAMERA BACKBOARD \
    POWEREXCEPTIONS SECINIT FRONTBOARD MTE_FAIL SECURITY_SOFT_TRAPS; do
    crash "Exception Type:  EXC_CRASH (SIGKILL)\nTermination Reason: Namespace $namespace, Code 0x4d2" >"$work/one.crash"
    tell --json --summary "$work/one.crash"
    grep -q '"cause":"termination"' "$work/out" && ! grep -q 'the system killed the process' "$work/out" &&
        [ "$(sed 's/.*"explanation":\[\([^]]*\)\].*/\1/' "$work/out" | grep -o '","' | wc -l)" -eq 1 ]
    check "ended by $namespace" "$work/out"
done

row "the report says: force quit by the user" 'Exception Type:  EXC_CRASH (SIGKILL)\nTermination Reason: FRONTBOARD 3735943697 \n<RBSTerminateContext| domain:10 code:0xDEADFA11 explanation:force quit by the user\nProcessVisibility: Foreground\nreportType:None maxTerminationResistance:Absolute>'
tell --json "$work/one.crash"
grep -qF '"termination":{"namespace":"FRONTBOARD","code":"0xdeadfa11","why":"force quit by the user"}' "$work/out"
check "RBSTerminateContext: namespace, code and reason" "$work/out"

# ---- Own frames ----

crash "$bad" >"$work/one.crash"
tell --summary "$work/one.crash"
grep -q "crashed in thread 0, the app's own frames:" "$work/out"
check "own frames are headed so" "$work/out"
sed 's|/a/demo.app/demo|/usr/lib/system/demo|; s|^Process: .*|Process: other [1]|' "$work/one.crash" >"$work/system.crash"
tell --summary "$work/system.crash"
grep -q "crashed in thread 0, no frame of the app's own; the top of the stack:" "$work/out" && ! grep -q "own frames" "$work/out"
check "frames of the system are not" "$work/out"

# ---- docs/facts.md ----

if ! need "every row of docs/facts.md, and no sentence against the fields" python3; then
    end
    exit
fi
python3 tests/facts_page.py "$machsym" "$work" >"$work/log" 2>&1
check "every row of docs/facts.md, and no other" "$work/log"

# ---- The same facts from .ips and from text, and no sentence against the fields ----

corpus=
[ ! -d ../shared/corpus ] || corpus=../shared/corpus
# shellcheck disable=SC2086
python3 tests/facts.py "$machsym" "$work" tests/fixtures tests/real $corpus >"$work/log" 2>&1
check "facts of .ips and text are equal, and no sentence contradicts a field" "$work/log"
tail -n 1 "$work/log"
end
