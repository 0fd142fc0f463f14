#!/bin/sh
# The real files of tests/real against what others say of them: llvm-symbolizer's chains, llvm-nm's names and starts, and
# what the sources of the programs say. tests/real/README.md has where each is from.
MACHSYM=${MACHSYM:-build/machsym}
real=tests/real
. tests/checks
export XDG_CACHE_HOME="$work/cache"
mkdir "$work/empty"

says() # TEXT COMMAND...
{
    text=$1
    shift
    "$@" >"$work/said" 2>&1
    grep -qF -e "$text" "$work/said"
    check "$* says: $text"
}

# Every chain of function, file and line, innermost first, as llvm-symbolizer has it.
for truth in "$real"/*.llvm "$real"/*/*.llvm; do
    file=${truth%.llvm}
    grep '^0x' "$truth" >"$work/addresses"
    $MACHSYM atos --lines=dwarf --no-demangle -fullPath -i -o "$file" -f "$work/addresses" 2>"$work/err" |
        sed "s/ (in $(basename "$file"))//" >"$work/chains"
    awk 'FNR == NR { address[++count] = $0; next } FNR == 1 || before == "" { print ""; print address[++at] }
        { before = $0 } $0 != ""' "$work/addresses" "$work/chains" >"$work/got"
    sed 1d "$truth" | diff - "$work/got" >"$work/differs"
    check "addresses of $file" "$work/differs"
done

# Methods of a stripped program, as its dSYM's symbols have them.
$MACHSYM objc "$real/TNSWidgets-stripped" | sed -n 's/^ *0x0*\([0-9a-f]*\) \([-+].*\)/0x\1 \2/p' | sort -u >"$work/got"
sort -u "$real/TNSWidgets-stripped.nm" | comm -23 - "$work/got" >"$work/missing"
[ ! -s "$work/missing" ]
check "methods of a stripped program that do not come back" "$work/missing"

# Names of C++ and Rust functions from symbol tables, one of those at an address; and the starts of the same program's functions when it is stripped.
for nm in cxx_eh_probe-arm64-symtab libsamply_mac_preload_arm64e.dylib; do
    cut -d' ' -f1 "$real/$nm.nm" >"$work/addresses"
    $MACHSYM atos --no-demangle -o "$real/$nm" -f "$work/addresses" | sed "s/ (in $nm) + 0$//" |
        paste -d' ' "$work/addresses" - | sort -u >"$work/got"
    sort "$real/$nm.nm" | comm -13 - "$work/got" >"$work/differs"
    [ -s "$work/got" ] && [ ! -s "$work/differs" ]
    check "names of $nm" "$work/differs"
done
$MACHSYM symbols --source=function_starts "$real/cxx_eh_probe-arm64-stripped" | cut -d' ' -f1 | sort >"$work/got"
cut -d' ' -f1 "$real/cxx_eh_probe-arm64-symtab.nm" | sort -u | comm -23 - "$work/got" >"$work/missing"
[ ! -s "$work/missing" ]
check "starts of functions that a stripped program does not give" "$work/missing"

# Object files by the debug map: the dSYM's answers, but for the image's name.
grep '^0x' "$real/simple/main.dwarf.llvm" >"$work/addresses"
for file in main main.dwarf; do
    $MACHSYM atos -i --oso-dir "$real/simple" --oso-any-time -o "$real/simple/$file" -f "$work/addresses" 2>"$work/err" |
        sed 's/ (in [^)]*)//' >"$work/$file"
done
diff "$work/main.dwarf" "$work/main" >"$work/differs"
check "the debug map and the dSYM" "$work/differs"

# Reports of CrashProbe: each function, file and line as its published source has them.
probe="$MACHSYM crash --no-demangle --summary -d $real/crashprobe"
says "-[CRLCrashAbort crash]  CRLCrashAbort.m:37" $probe "$real/crashprobe/abort.json"
says "_TFC11CrashLibiOS13CRLCrashSwift5crashfT_T_  CRLCrashSwift.swift:36  (inlined)" $probe "$real/crashprobe/Swift.json"
for report in abort Swift; do
    says "-[CRLDetailViewController doCrash]  CRLDetailViewController.m:53" $probe "$real/crashprobe/$report.json"
    says "main  main.m:16" $probe "$real/crashprobe/$report.json"
done

# Names that only the BCSymbolMap has: a hidden one is line N of it.
printf '0   Sentry  0x100005a90 0x100000000 + 23184\nBinary Images:\n%s\n' \
    '0x100000000 - 0x1000fffff Sentry arm64 <2d10c42f591d3265b14778ba0868073f> /Sentry' >"$work/hidden.crash"
says "__hidden#0_ + 28" $MACHSYM crash -q -d "$real/hidden/Sentry.dwarf" "$work/hidden.crash"
says "$(sed -n 2p "$real"/hidden/*.bcsymbolmap) + 28 (SentryMessage.m:" $MACHSYM crash -q -d "$real/hidden/Sentry.dwarf" \
    --bcsymbolmap "$real/hidden/c8374b6d-6e96-34d8-ae38-efaa5fec424f.bcsymbolmap" "$work/hidden.crash"

# Reports whose lines Apple's tools and KSCrash printed come back byte for byte, and Apple's lines stand in the text made of one.
for report in kscrash-abort.txt xctest.ips; do
    $MACHSYM crash -q -d "$work/empty" "$real/$report" >"$work/out"
    cmp "$real/$report" "$work/out"
    check "$report comes back as it was"
done
says "-[TpxUnitTests testExample1] + 48 (TpxUnitTests.m:15)" $MACHSYM crash -q -d "$work/empty" --to=text "$real/xctest.ips"
end
