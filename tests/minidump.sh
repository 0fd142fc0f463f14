#!/bin/sh
# Minidumps of Crashpad's and Breakpad's, and core files of macOS: what is told of them, in every form; damage; programs for other systems. Truth: who wrote
# the dumps (tests/minidump.py, tests/core.py), lldb, which reads the same files, and LLVM's yaml2obj and yaml2macho-core, which write them in a way of its own.
# tests/test_minidump.c cuts and changes them at every byte.
. tests/checks
samples=tests/fixtures/services
dsym=tests/fixtures/bin/demo.app.dSYM
export XDG_CACHE_HOME="$work/cache"

run() # ARGUMENT...: into $work/out and $work/err
{
    "$MACHSYM" crash -q --no-cache -d $dsym "$@" >"$work/out" 2>"$work/err"
    check "$*"
}

has() # TEXT...: each is in $work/out
{
    for text in "$@"; do
        grep -qF -e "$text" "$work/out"
        check "$text" || cat "$work/err"
    done
}

# ---- The samples ----

run $samples/crashpad.dmp
has "Incident Identifier: 10111213-1415-1617-1819-1A1B1C1D1E1F" "CrashReporter Key:   20212223-2425-2627-2829-2A2B2C2D2E2F" \
    "Process:             demo [412]" "Version:             1.2" "Code Type:           ARM-64" "Date/Time:           2026-03-14T08:26:53Z" \
    "Launch Time:         2026-03-14T08:26:51Z" "OS Version:          iPhone OS 17.4 (21E219)" \
    "Exception Type:      EXC_BAD_ACCESS (SIGSEGV)" "Exception Subtype:   KERN_INVALID_ADDRESS at 0x0000000000000008" \
    "Triggered by Thread: 1" "dyld: lazy symbol binding failed" "Thread 0 name:  main" "Thread 1 name:  CrPlayer" "Thread 1 Crashed:" \
    "1   demo                          	0x0000000102a30a7c -[Player play:] + 52 (player.mm:14)" \
    "Thread 1 crashed with ARM Thread State (64-bit):" "    pc: 0x0000000102a30aec  cpsr: 0x60001000" \
    "0x0000000102a30000 - 0x0000000102a33fff demo arm64  <4c4c44b555553144a1ba79ca685dec58> /private/var/containers" \
    'Annotation:          user: 7\n0   not 0x0000000102a30aec a frame' "Annotation:          demo: ptype: player"
mv "$work/out" "$work/text.crash"
run "$work/text.crash"
same "$work/text.crash" "$work/out" "the text is a report that has its names"
run --apple $samples/crashpad.dmp
has "Exception Codes:     0x0000000000000001, 0x0000000000000008" "(player.mm:15)"
run --json $samples/crashpad.dmp
has '"format":"minidump"' '"frames":7,' '"app_info":"dyld: lazy symbol binding failed"' '"demo: mode: shuffle"' '"pid":412'
run --brief $samples/crashpad.dmp
has '"what":"access through a null pointer: an access at 0x8"'
run --signature $samples/crashpad.dmp
has "EXC_BAD_ACCESS: -[Player skip:] | -[Player play:] | main"
run --html $samples/crashpad.dmp
has "Player skip:"
run -o "$work/folder/" $samples/crashpad.dmp
same "$work/text.crash" "$work/folder/crashpad.crash" "a folder gets text, by its name too"
run --redact $samples/crashpad.dmp
! grep -q "10111213-1415\|20212223-2425" "$work/out"
check "--redact takes the identifiers out"
run $samples/breakpad.dmp
has "OS Version:          macOS 14.3.1 (23D60)" "Exception Type:      EXC_BAD_ACCESS (SIGBUS)" \
    "Exception Subtype:   KERN_PROTECTION_FAILURE at 0x0000000000000008" \
    "Assertion failed: (item != NULL), function -[Player skip:], file player.mm, line 19." "3   demo                          	0x0000000102a309b8 main + 120"

for name in noted linked; do
    run $samples/$name.core
    has "Process:             demo" "Path:                /Applications/Demo Player.app/Contents/MacOS/demo" "Code Type:           ARM-64" \
        "Exception Type:      EXC_BAD_ACCESS" "Triggered by Thread: 1" "1   demo                          	0x0000000102a30a7c -[Player play:] + 52" \
        "Thread 1 crashed with ARM Thread State (64-bit):" "   far: 0x0000000000000008   esr: 0x92000006" \
        "0x0000000102a30000 - 0x0000000102a33fff demo arm64  <4c4c44b555553144a1ba79ca685dec58>" "dyld arm64  <000102030405060708090a0b0c0d0e0f> /usr/lib/dyld"
    mv "$work/out" "$work/$name.crash"
    run "$work/$name.crash"
    same "$work/$name.crash" "$work/out" "$name: the text is a report that has its names"
    run --summary $samples/$name.core
    has "access through a null pointer: a read at 0x8" "7 frames: 7 named with line"
done
run --json $samples/noted.core
has '"format":"Mach-O core"' '"frames":7,'
run -o "$work/cores/" $samples/noted.core
same "$work/noted.crash" "$work/cores/noted.crash" "a core in a folder becomes text, by its name too"

# ---- Unwind tables: the frames that an emulator and lldb have, of code without frame pointers ----

walked() # FOUND-BY ADDRESS...: these are the frames; all but the first were found so
{
    how=$1
    shift
    sed -n 's/.*"address":"\(0x[0-9a-f]*\)".*"found_by":"\([a-z_]*\)".*/\1 \2/p' "$work/out" >"$work/frames"
    { echo "$1 context" && shift && for address in "$@"; do echo "$address $how"; done; } | sed 's/\(0x102340568\) .*/\1 compact/' >"$work/want" # its callee has a frame pointer
    same "$work/want" "$work/frames" "frames by $how"
}
run --to=json tests/stacks/arm64.core
walked eh_frame 0x102340418 0x102340470 0x1023404e0 0x102340568 0x102340630 0x102340600 0x102340600 0x102340600 0x102340600 0x1023406e8
run --to=json -d tests/stacks/x86_64.program tests/stacks/x86_64.dmp
walked compact 0x1023403ee 0x10234042c 0x102340487 0x102340503 0x1023405b0 0x10234057b 0x10234057b 0x10234057b 0x10234057b 0x102340696
run --to=json tests/stacks/x86_64.dmp
walked fp 0x1023403ee 0x102340503 # the only caller with a frame pointer

# ---- Damage ----

head -c 1300 $samples/linked.core >"$work/cut.core"
"$MACHSYM" crash -q -d $dsym "$work/cut.core" >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && grep -q "^The report is damaged at byte [1-9]" "$work/out" &&
    grep -q "cut.core: the report is damaged: memory lies outside the file; the rest is answered (binary, offset [1-9]" "$work/err"
check "a core that is cut short" "$work/err"

head -c 3000 $samples/breakpad.dmp >"$work/cut.dmp"
"$MACHSYM" crash -q -d $dsym "$work/cut.dmp" >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && grep -q "^The report is damaged at byte [1-9]" "$work/out" &&
    grep -q "cut.dmp: the report is damaged: .*; the rest is answered (binary, offset [1-9]" "$work/err"
check "a dump that is cut short: what is whole, where it is damaged, and status 1" "$work/err"
printf 'MDMP\223\247\000\000\020\000\000\000' >"$work/head.dmp"
"$MACHSYM" crash -q "$work/head.dmp" >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && grep -q "head.dmp: the header is cut short, at byte 12" "$work/err"
check "half a header" "$work/err"

if ! command -v python3 >/dev/null; then
    skip "dumps from a generator: it needs python3"
    end
    exit
fi
export PYTHONDONTWRITEBYTECODE=1

# ---- What else a dump may be of ----

python3 tests/minidump_kinds.py "$work" >"$work/log" 2>&1
check "dumps of other kinds" "$work/log"
told() # NAME TEXT...: the dump of that name says each; a line a frame
{
    name=$1
    shift
    run --no-inline "$work/$name.dmp"
    has "$@"
}
told abort "Exception Type:      EXC_CRASH (SIGABRT)" "Exception Codes:     0x0000000000000000, 0x0000000000000000" "abort() called"
told wrapped "Exception Type:      EXC_BAD_ACCESS (SIGSEGV)" "Exception Codes:     0x0000000000000001, 0x0000000000000010"
told trap "Exception Type:      EXC_BREAKPOINT (SIGTRAP)"
told illegal "Exception Type:      EXC_BAD_INSTRUCTION (SIGILL)" "Thread 0 name:  a😀b"
told arithmetic "Exception Type:      EXC_ARITHMETIC (SIGFPE)"
told intel "Exception Type:      EXC_BAD_ACCESS (SIGSEGV)" "Exception Codes:     0x000000000000000d, 0x0000000000000000"
told resource "Exception Type:      EXC_RESOURCE" "Exception Codes:     0x3000000000000064, 0x0000000000000050"
told guard "Exception Type:      EXC_GUARD" "Exception Codes:     0x4000000100000002, 0x0000000000000007"
told signal "Exception Type:      EXC_SOFTWARE (SIGABRT)"
told simulated "Exception Note:      SIMULATED (this is NOT a crash)"
told thrown "Exception Type:      EXC_CRASH (SIGABRT)" "*** Terminating app due to uncaught exception 'NSRangeException', reason: 'index 7 beyond bounds'"
run --summary "$work/thrown.dmp"
has "uncaught exception NSRangeException: index 7 beyond bounds"
told asked "Thread 1:" "Thread 1 stopped with ARM Thread State"
! grep -q "Crashed:\|Exception Type" "$work/out"
check "a dump without an exception has no thread that crashed"
run --json "$work/asked.dmp"
has '{"name":"pc","value":"0x102a30a7c"'
told nowhere "0   ???                           	0x0000000000000010" "1   demo                          	0x0000000102a30a7c" \
    "2   demo                          	0x0000000102a309fc"
told nowhere-x86 "0   ???                           	0x0000000000000010" "1   demo                          	0x0000000102a30a7c" \
    "crashed with X86 Thread State (64-bit):" "   rip: 0x0000000000000010"
for name in unloaded unloaded-newer; do
    told $name "0   plug in.dylib                 	0x00000001c0001234 0x1c0000000 + 4660" "1   demo                          	0x0000000102a30a7c" \
        "2   demo                          	0x0000000102a309fc" "3   plug in.dylib                 	0x00000001c0000040 0x1c0000000 + 64" \
        "0x00000001c0000000 - 0x00000001c000ffff plug in.dylib arm64 (unloaded) /Applications/plug in.dylib" "last.dylib arm64 (unloaded)"
    [ "$(grep -c "(unloaded)" "$work/out")" -eq 2 ] && ! grep -q "before\|after\|left\|right\|empty" "$work/out"
    check "$name: a library whose place another one shares, or without a name or code, is not listed" "$work/out"
    run --summary "$work/$name.dmp"
    has "use of a library that was unloaded: a jump to 0x1c0001234, in plug in.dylib"
    run --json "$work/$name.dmp"
    has '"fault":{"kind":"unloaded"' '"arch":"arm64","kind":"unloaded"'
done
for name in first end; do
    run --summary "$work/unloaded-$name.dmp"
    has "use of a library that was unloaded: an access at 0x1c000"
done
for name in below past; do
    run --summary "$work/unloaded-$name.dmp"
    has "access to memory that is not there: an access at 0x1"
done
told unloaded-asleep "0   plug in.dylib                 	0x00000001c0001234" "1   demo                          	0x0000000102a30a7c" \
    "2   demo                          	0x0000000102a309fc"
told lost "Thread 2 Crashed:"
told hostile 'in x\nThread 0 Crashed:: Thread 7 Crashed:' 'Thread 0 name:  n\n0   demo 0x0000000102a30a7c 0x102a30000 + 2684'
[ "$(grep -c '^[0-9]* .*	0x' "$work/out")" -eq 4 ]
check "texts make no frames" "$work/out"
told linux "OS Version:          Linux 6.1" "Exception Type:      exception 0x0000000b" "libc.so.6 x86_64 (ELF)"
run --json "$work/linux.dmp"
has '"arch":"x86_64","kind":"ELF"'
run --json "$work/windows.dmp"
has '"process":"app.exe"' '{"name":"app.exe","path":"C:\\app\\app.exe","arch":"x86_64","kind":"PE"' \
    '{"name":"ntdll.dll","path":"C:\\Windows\\ntdll.dll","arch":"x86_64","kind":"PE"' \
    '{"name":"net.dll","path":"\\\\server\\share\\net.dll","arch":"x86_64","kind":"PE"'
told windows "OS Version:          Windows 10.0.19045" "Exception Type:      exception 0xc0000005" "ntdll.dll x86_64 (PE)" 'ab\cd.dll x86_64 (PE)' \
    "0   app.exe                       	0x00007ff600001234 0x7ff600000000 + 4660"
"$MACHSYM" crash -q "$work/i386.dmp" >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && grep -q "registers are damaged, or of a processor that is neither arm64 nor x86_64" "$work/err"
check "a processor whose registers are not read" "$work/err"
told loop "3   demo                          	0x0000000102a309b8"
[ "$(grep -c '^[0-9]* .*	0x' "$work/out")" -eq 6 ]
check "a stack that goes round ends" "$work/out"
told overlap "3   demo                          	0x0000000102a309b8"
told memory64 "3   demo                          	0x0000000102a309b8"
damaged() # FILE WHAT FRAMES: that is reported, and as many frames are found
{
    "$MACHSYM" crash -q --no-inline -d $dsym "$work/$1" >"$work/out" 2>"$work/err"
    [ $? -eq 1 ] && grep -q "$1: the report is damaged: $2; the rest is answered (binary, offset [1-9]" "$work/err" &&
        [ "$(grep -c '^[0-9]* .*	0x' "$work/out")" -eq "$3" ]
    check "$1: $2" "$work/err"
}
damaged last.dmp "memory reaches past the last address" 4
damaged last-image.dmp "an image reaches past the last address" 1
damaged memory64-count.dmp "a list is longer than what holds it" 4
for name in count header record; do
    damaged unloaded-$name.dmp "a list is longer than what holds it" 4
done

# ---- Core files ----

stopped() # NAME TEXT...: the core of that name says each
{
    name=$1
    shift
    run --no-inline "$work/$name.core"
    has "3   ???                           	0x0000000102a309b8" "$@"
}
stopped brk "Exception Type:      EXC_BREAKPOINT" "Triggered by Thread: 1"
stopped state "Exception Type:      EXC_BAD_INSTRUCTION" "Triggered by Thread: 0"
stopped x86-int3 "Exception Type:      EXC_BREAKPOINT" "Triggered by Thread: 1" "X86 Thread State (64-bit):" "  trap: 0x0003"
stopped x86-ud2 "Exception Type:      EXC_BAD_INSTRUCTION" "Triggered by Thread: 0"
stopped x86-gp "Exception Type:      EXC_BAD_ACCESS"
"$MACHSYM" crash -q --json "$work/program.core" >"$work/out" 2>&1
grep -qF '"uuid":"21222324-2526-2728-292A-2B2C2D2E2F30"' "$work/out"
check "a core file whose program only one note tells of" "$work/out"
for name in two none spec; do
    stopped $name "Thread 0 stopped with ARM Thread State"
    ! grep -q "Crashed:\|Exception Type" "$work/out"
    check "$name: which thread crashed is not known"
done
run --no-inline "$work/nowhere.core"
has "0   ???                           	0x0000000000000010" "1   ???                           	0x0000000102a30a7c" "4   ???                           	0x0000000102a309b8"
damaged last.core "memory reaches past the last address" 4
"$MACHSYM" crash -q "$work/processor.core" >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && grep -q "processor.core: the processor is neither arm64 nor x86_64, at byte 4" "$work/err"
check "a core of another processor" "$work/err"

# ---- Budgets ----

told many "Thread 1999:"
[ "$(grep -c '^[0-9]* .*	0x' "$work/out")" -le $((2000 + $(wc -c <"$work/many.dmp") / 16)) ]
check "threads that share a stack of 512 frames: no more than their bytes hold"

# ---- lldb and LLVM ----

suffix=$(for version in -22 -19 -14 ""; do command -v obj2yaml$version yaml2obj$version >/dev/null && echo "x$version" && break; done)
lldb=$(command -v lldb-22 || command -v lldb)
modules=
[ -z "$lldb" ] || modules=$("$lldb" -P 2>/dev/null)
[ -n "$lldb" ] || skip "dumps from a generator, read by lldb: it needs lldb-22"
[ -n "$suffix" ] || skip "dumps from a generator, written anew by LLVM: it needs yaml2obj-22"
mkdir "$work/generated"
python3 tests/minidump_lldb.py "$MACHSYM" "$work/generated" "$modules" ${suffix:+"${suffix#x}"} >"$work/log" 2>&1
check "40 dumps from a generator" "$work/log"
python=$(for one in python3 /usr/bin/python3; do "$one" -c "import unicorn" 2>/dev/null && echo "$one" && break; done)
if [ -z "$python" ] || ! command -v clang-22 >/dev/null || ! command -v ld64.lld-22 >/dev/null; then
    skip "stacks of programs in an emulator: it needs clang-22, ld64.lld-22 and python3-unicorn"
else
    mkdir "$work/stacks"
    "$python" tests/stacks/stacks.py "$MACHSYM" "$work/stacks" "$modules" >"$work/log" 2>/dev/null
    check "500 stacks of programs in an emulator" "$work/log"
fi
yaml2core=$(command -v yaml2macho-core-22 || command -v yaml2macho-core)
[ -n "$yaml2core" ] || skip "core files of LLVM's: it needs yaml2macho-core-22"
python3 tests/core_lldb.py "$MACHSYM" "$work/generated" "$modules" "$yaml2core" >"$work/log" 2>/dev/null
check "40 core files from a generator, 10 of LLVM's" "$work/log"

# lldb writes dumps, too: here of a process of this machine, so that its modules are ELF files. They are named as such, from where lldb says that
# they lie; threads, what their pcs are and registers are those that lldb reads.
cat >"$work/process.c" <<'END'
#include <pthread.h>
#include <unistd.h>
static void *wait_for_it(void *p) { for (;;) usleep(1000); return p; }
int main(int argc, char **argv)
{
    pthread_t thread;
    for (int i = 0; i < 3; i++)
        pthread_create(&thread, 0, wait_for_it, argv);
    usleep(100000);
    return *(volatile int *)(long)(8 * argc);
}
END
if [ -n "$lldb" ] && ${CC:-cc} -g -O1 -o "$work/process" "$work/process.c" -pthread 2>"$work/err" &&
    timeout 60 "$lldb" -b -o run -k "process save-core --plugin-name=minidump --style=full $work/full.dmp" \
        -k "process save-core --plugin-name=minidump --style=stack $work/stack.dmp" -k quit "$work/process" >"$work/log" 2>&1 && [ -s "$work/stack.dmp" ]; then
    for style in full stack; do
        timeout 60 "$lldb" -b -c "$work/$style.dmp" -o "thread backtrace all -c 1" -o "register read rip rsp rbp rdi" -o "image list -h -f" >"$work/said" 2>/dev/null
        "$MACHSYM" crash -q "$work/$style.dmp" >"$work/out" 2>"$work/err"
        sed -n 's/.*frame #0: 0x0*\([0-9a-f]*\) .*/\1/p' "$work/said" >"$work/want"
        sed -n 's/^0 .*	0x0*\([0-9a-f]*\) .*/\1/p' "$work/out" >"$work/got"
        [ "$(wc -l <"$work/got")" -eq 4 ] && cmp -s "$work/want" "$work/got"
        check "$style dump that lldb wrote: 4 threads and their pcs" "$work/out"
        sed -n 's/^ *r\(..\) = 0x0*\([0-9a-f]*\).*/r\1 \2/p' "$work/said" | sort >"$work/want"
        tr -s ' ' '\n' <"$work/out" | awk '/^r(ip|sp|bp|di):$/ { name = substr($0, 1, 3); getline; sub(/^0x0*/, ""); print name, $0 }' | sort >"$work/got"
        [ -s "$work/want" ] && cmp -s "$work/want" "$work/got"
        check "$style dump that lldb wrote: registers" "$work/got"
        sed -n 's/^\[ *[0-9]*\] 0x0*\([0-9a-f]*\) .*/\1/p' "$work/said" | sort -u >"$work/want" # it lists some twice
        sed -n 's/^0x0*\([0-9a-f]*\) - .* x86_64 (ELF) .*/\1/p' "$work/out" | sort >"$work/got"
        [ -s "$work/want" ] && cmp -s "$work/want" "$work/got"
        check "$style dump that lldb wrote: modules, as ELF files" "$work/out"
    done
else
    skip "dumps that lldb writes: it needs lldb-22"
fi
end
