#!/bin/bash
# Compares what machsym reads from metadata with llvm-objdump 22: methods, exports, function starts, unwind tables, pointers;
# and reports how many of llvm-nm's method names come back from stripped metadata, file by file.
cd "$(dirname "$0")/.." || exit 1
# shellcheck disable=SC2086 # MACHSYM may be an emulator and a program
machsym=${MACHSYM:-build/machsym}
objdump=$(command -v llvm-objdump-22)
nm=$(command -v llvm-nm-22)
. tests/checks
bin=tests/fixtures/bin
corpus=../shared/corpus
compared=no

if need "headers, sections and versions, and which of several files an address is in" python3; then
    PYTHONDONTWRITEBYTECODE=1 python3 tests/members/images.py "$machsym" "$work/images" ${SEED:+"$SEED"} >"$work/out" 2>&1
    check "headers, sections and versions of changed files, and which of several files an address is in" "$work/out"
fi

# check WHAT GOT WANT: two files that must be equal, and not empty.
check()
{
    if [ -s "$3" ] && cmp -s "$2" "$3"; then
        count 0
    else
        count 1
        echo "$1: machsym < > llvm"
        diff "$2" "$3" | head -5
    fi
}

# Addresses without leading zeros, in lower case.
plain_hex() { sed -E 's/\b(0x)?0*([0-9a-fA-F]+)\b/\L\2/'; }

# What the source says (fixtures/src/objc/zoo.m, root.m): classes with what they inherit from, categories, and how a line of each kind begins.
printf '%s\n' "category Animal(Loud)" "category Animal(Quiet)" "category Imported(Extra)" "class Animal : Root" "class Empty : Animal" \
    "class Root" >"$work/want"
# shellcheck disable=SC2086
$machsym objc $bin/zoo-arm64-chained >"$work/all"
grep -v '^  ' "$work/all" | sed -E 's/ 0x[0-9a-f]{9}$//' | LC_ALL=C sort >"$work/got"
check "classes and categories of the zoo" "$work/got" "$work/want"
grep -cE '^  0x[0-9a-f]{9} [-+]\[[A-Za-z]+(\([A-Za-z]+\))? [A-Za-z:]+\]$' "$work/all" >"$work/got"
grep -c '^  ' "$work/all" >"$work/want"
check "its lines of methods" "$work/got" "$work/want"
# shellcheck disable=SC2086
$machsym objc --json $bin/zoo-arm64-chained |
    sed -E 's/.*"kind":"([a-z]*)","class":"([^"]*)","(super|category)":"([^"]*)".*/\1 \2 \3 \4/' | LC_ALL=C sort >"$work/got"
printf '%s\n' "category Animal category Loud" "category Animal category Quiet" "category Imported category Extra" "class Animal super Root" \
    "class Empty super Animal" "class Root super " >"$work/want"
check "the same in JSON" "$work/got" "$work/want"

# `info` counts code addresses by the best source of each, which `symbols` lists first.
for name in demo zoo-arm64-chained exports-arm64-chained.dylib symbols-x86_64; do
    # shellcheck disable=SC2086
    $machsym info $bin/$name | sed -n 's/.*by best source: *//p' | xargs -n 2 | LC_ALL=C sort >"$work/got"
    # shellcheck disable=SC2086
    $machsym symbols $bin/$name | awk '!seen[$1]++ { n[$3]++ } END { for (s in n) print s, n[s] }' | LC_ALL=C sort >"$work/want"
    check "info: the sources of $name" "$work/got" "$work/want"
done

# Method code and its symbol, from the lists of classes and categories (those of protocols have code 0). Relative lists
# show code as "0xDISTANCE (0xOFFSET)", counted from the image's base; 64-bit ones show the symbol alone.
methods()
{
    local base imp offset name
    base=$($machsym info --quick "$1" | sed -n 's/^  text: 0x\([0-9a-f]*\),.*/\1/p')
    "$objdump" --macho --objc-meta-data "$1" 2>/dev/null | tr -d '()' |
        sed -nE 's/^[[:space:]]+imp (0x[0-9a-f]+ )?(0x[0-9a-f]+ )?([-+]\[.*\])[[:space:]]*$/\1|\2|\3/p' |
        while IFS="|" read -r imp offset name; do
            case $imp$offset in
            "") echo "- $name" ;;
            "$imp") printf '%x %s\n' $((imp)) "$name" ;;
            *) printf '%x %s\n' $((0x$base + offset)) "$name" ;;
            esac
        done | sort -u
}

# With a second argument machsym may list more.
compare_methods()
{
    local file=$1
    methods "$file" >"$work/want"
    $machsym objc "$file" | grep '^  ' | sed 's/^  //' | tr -d '()' | plain_hex | sort -u >"$work/got"
    if grep -q '^- ' "$work/want"; then
        sed -i 's/^[0-9a-f]* /- /' "$work/got"
        sort -u -o "$work/got" "$work/got"
    fi
    if [ -n "${2:-}" ]; then
        comm -12 "$work/got" "$work/want" >"$work/both"
        mv "$work/both" "$work/got"
    fi
    check "methods of $1" "$work/got" "$work/want"
}

# Exports that are code of this image: neither re-exports, absolute, nor thread-local. The tool names a resolver too.
compare_exports()
{
    local file=$1
    "$objdump" --macho --exports-trie "$file" | grep -E '^0x' | grep -vE '\[(absolute|per-thread)\]' |
        sed -E 's/^(0x[0-9A-F]+)  _?([^ ]+)(.*)$/\1 \2\3/' >"$work/all"
    sed -nE 's/^0x[0-9A-F]+ ([^ ]+).*\[resolver=(0x[0-9a-fA-F]+)\].*/\2 \1/p' "$work/all" >"$work/resolvers"
    $machsym symbols "$file" | awk '{print $1}' >"$work/code"
    sed -E 's/ \[.*//' "$work/all" | cat - "$work/resolvers" | plain_hex | sort -u >"$work/exports"
    plain_hex <"$work/code" | sort -u >"$work/code2"
    join "$work/exports" "$work/code2" | sort -u >"$work/want" # those in data are no code
    $machsym symbols --no-demangle --source exports "$file" | awk '{print $1, $4}' | plain_hex | sort -u >"$work/got"
    check "exports of $1" "$work/got" "$work/want"
}

compare_starts()
{
    "$objdump" --macho --function-starts "$1" | grep -E '^[0-9a-f]+$' | plain_hex | sort -u >"$work/want"
    $machsym symbols --source function_starts "$1" | awk '{print $1}' | plain_hex | sort -u >"$work/got"
    check "function starts of $1" "$work/got" "$work/want"
}

# The starts of both kinds of second-level pages, and the end that the index names; eh_frame adds its own.
compare_unwind()
{
    local base
    base=$($machsym info --quick "$1" | sed -n 's/^  text: 0x\([0-9a-f]*\),.*/\1/p')
    "$objdump" --macho --unwind-info "$1" | sed -nE 's/.*function offset=(0x[0-9a-f]+), .*/\1/p' |
        while read -r offset; do printf '%x\n' $((0x$base + offset)); done >"$work/compact"
    llvm-dwarfdump-22 --eh-frame "$1" | sed -nE 's/.* FDE .*pc=([0-9a-f]+)\.\.\.([0-9a-f]+).*/\1\n\2/p' |
        plain_hex >"$work/frames"
    sort -u "$work/compact" "$work/frames" >"$work/want"
    $machsym symbols --source function_starts "$1" | awk '{print $1}' | plain_hex | sort -u >"$work/got"
    check "unwind bounds of $1" "$work/got" "$work/want"
}

compare_pointers()
{
    "$objdump" --macho --dyld-info "$1" 2>/dev/null | awk '$5 == "rebase" {print $3, $6} $5 == "bind" {print $3, $8}' \
        >"$work/pointers"
    "$work/pointers.exe" "$1" <"$work/pointers" >"$work/got"
    wc -l <"$work/pointers" | tr -d ' ' >"$work/want"
    [ -s "$work/pointers" ] || : >"$work/want"
    check "pointers of $1" "$work/got" "$work/want"
}

compare_binds()
{
    "$objdump" --macho --bind "$1" 2>/dev/null | awk '$4 == "pointer" {print $3, $7}' >"$work/pointers"
    "$work/pointers.exe" "$1" <"$work/pointers" >"$work/got"
    wc -l <"$work/pointers" | tr -d ' ' >"$work/want"
    [ -s "$work/pointers" ] || : >"$work/want"
    check "binds of $1" "$work/got" "$work/want"
}

# Every method that llvm-nm counts against those that metadata alone gives back.
recovery()
{
    "$nm" "$1" 2>/dev/null | grep ' [tT] [-+]\[' | sed -E 's/ [tT] / /' | plain_hex | sort -u >"$work/real"
    $machsym symbols --no-symtab --no-demangle --source objc "$1" | cut -d' ' -f1,4- | plain_hex | sort -u >"$work/ours"
    local all same
    all=$("$nm" "$1" 2>/dev/null | grep -c ' [tT] [-+]\[')
    same=$(comm -12 "$work/real" "$work/ours" | wc -l)
    echo "recovered: $(awk -v s="$same" -v a="$all" 'BEGIN { printf "%5.1f %%", a ? 100 * s / a : 100 }'), $same of $all, $(basename "$1")"
    check_number "methods of $(basename "$1") that come back" "$same" "${2:-$all}"
}

check_number() # WHAT GOT WANT
{
    echo "$2" >"$work/got"
    echo "$3" >"$work/want"
    check "$1" "$work/got" "$work/want"
}

# What the tool lists of a program's classes; without addresses when the other has its code elsewhere.
same_objc() # FILE FILE [NO-ADDRESSES]
{
    local name
    for name in "$1" "$2"; do
        $machsym objc "$bin/$name" | if [ -n "${3:-}" ]; then sed -E 's/0x[0-9a-f]+//'; else cat; fi >"$work/$name"
    done
    check "machsym objc of $1 and $2" "$work/$1" "$work/$2"
}

# The same program linked in every way, with addresses where only the pointers are encoded in another way. A kernel's
# pointers cannot name a class in another image.
for name in zoo-arm64-chained zoo-arm64-relative zoo-arm64-chained-relative zoo-x86_64-opcodes zoo-x86_64-chained-relative \
    zoo-arm64_32-opcodes; do
    same_objc zoo-arm64-opcodes $name no-addresses
done
for name in 1 6 7 9 12; do
    same_objc zoo-arm64-chained zoo-arm64-fixups-$name
done
same_objc zoo-arm64_32-opcodes zoo-arm64_32-fixups-3
same_objc zoo-arm64-chained-relative zoo-arm64-chained-relative-strip
for name in "zoo-arm64-chained zoo-arm64-fixups-8" "zoo-x86_64-chained-relative zoo-x86_64-fixups-11"; do
    $machsym objc "$bin/${name% *}" | sed 's/Imported/?/' >"$work/want"
    $machsym objc "$bin/${name#* }" >"$work/got"
    check "machsym objc of $name" "$work/got" "$work/want"
done

# LC_ENCRYPTION_INFO_64 of all of __TEXT after the load commands, as app stores hand programs out.
words_at() # OFFSET NUMBER...: writes 32-bit numbers, little-endian, into $work/encrypted
{
    local at=$1 number
    shift
    for number; do
        printf "$(printf '\\%03o' $((number & 255)) $((number >> 8 & 255)) $((number >> 16 & 255)) $((number >> 24 & 255)))"
    done | dd of="$work/encrypted" bs=1 seek="$at" conv=notrunc status=none
}
cp "$bin/zoo-arm64-chained-relative-strip" "$work/encrypted"
chmod u+w "$work/encrypted"
read -r count size < <(od -A n -t u4 -j 16 -N 8 "$work/encrypted")
words_at $((32 + size)) 0x2c 24 0x980 $((0x4000 - 0x980)) 1 0
words_at 16 $((count + 1)) $((size + 24))
say="$work/encrypted: an app store has encrypted __TEXT; ask the program without encryption, or its dSYM"
{
    $machsym objc "$work/encrypted" 2>&1
    echo "exit status $?"
    $machsym info "$work/encrypted" 2>&1 | grep -E '__objc_methname|encrypted by|damaged'
    $machsym info --json --quick "$work/encrypted" | grep -o '"encrypted":[a-z]*'
    $machsym map build --no-progress -o "$work/encrypted.symmap" "$work/encrypted" 2>&1 | head -n 1
    $machsym map info "$work/encrypted.symmap" | grep -c damaged
} >"$work/got"
printf '%s\n' "machsym: $say" "exit status 1" "    __TEXT     __objc_methname   0x000100000c16        124 bytes, encrypted" \
    "  encrypted by an app store: names of metadata are in the program without encryption only" '"encrypted":true' \
    "machsym: ${say%%;*}; the map lacks what could not be read, and says so" 1 >"$work/want"
check "an encrypted program" "$work/got" "$work/want"

if need "what llvm reads of metadata" llvm-objdump-22; then
    # shellcheck disable=SC2086
    ${CC:-cc} -std=c11 -D_GNU_SOURCE $CFLAGS $LDFLAGS -o "$work/pointers.exe" tests/metadata/pointers.c \
        "${B:-build}/tool/machsym.o" || failed=$((failed + 1))
    for name in zoo-arm64-opcodes zoo-arm64-relative zoo-x86_64-opcodes zoo-arm64_32-opcodes tails-arm64-pointers \
        tails-arm64-relative; do
        compare_methods "$bin/$name"
    done
    for name in exports-arm64-chained exports-x86_64-opcodes exports-x86_64-nostarts exports-x86_64-trie \
        exports-x86_64-trie-deep; do
        compare_exports "$bin/$name.dylib"
    done
    for name in blocks-arm64-d4-22 blocks-arm64-d4-22-strip exports-arm64-chained.dylib outline-arm64-d4-22; do
        compare_starts "$bin/$name"
    done
    for name in frames-x86_64 frames-x86_64-strip; do
        compare_unwind "$bin/$name"
    done
    for name in zoo-arm64-chained zoo-arm64-chained-relative zoo-x86_64-chained-relative zoo-arm64-fixups-6; do
        compare_pointers "$bin/$name"
    done
    for name in zoo-arm64-opcodes zoo-x86_64-opcodes zoo-arm64_32-opcodes; do
        compare_binds "$bin/$name"
    done
    # a category merged into its class; a direct method; an imported class that kernel pointers do not name
    for name in "$bin"/zoo-*; do
        [ "$("$nm" "$name" 2>/dev/null | grep -c ' [tT] [-+]\[')" = 0 ] && continue
        case $(basename "$name") in
        *.dwarf) ;;
        *-merged) recovery "$name" 14 ;;
        *-fixups-8 | *-fixups-11) recovery "$name" 13 ;;
        *) recovery "$name" ;;
        esac
    done
    recovery "$bin/blocks-arm64-d4-22" 5
    compared=yes
fi
if [ "$compared" = yes ] && [ -d "$corpus" ]; then
    expo=$corpus/npm-expo-camera-57.0.6/prebuilds
    sdweb=$corpus/npm-expo-image-58.0.4/prebuilds/spm-deps/SDWebImage/release/SDWebImage.xcframework/ios-arm64
    tns=$corpus/npm-nativescript-core-8.0.0/platforms/ios/TNSWidgets.xcframework/ios-arm64
    zxing=$expo/spm-deps/ZXingObjC/release/ZXingObjC.xcframework/ios-arm64
    camera=$expo/output/release/xcframeworks/ExpoCamera/ExpoCamera.xcframework/ios-arm64/ExpoCamera.framework/ExpoCamera
    for file in "$zxing/ZXingObjC.framework/ZXingObjC" "$sdweb/SDWebImage.framework/SDWebImage" \
        "$tns/TNSWidgets.framework/TNSWidgets" "$camera" "$corpus/samply/fixtures/macos-arm64-local/libmozglue.dylib"; do
        compare_exports "$file"
        compare_starts "$file"
    done
    compare_methods "$tns/TNSWidgets.framework/TNSWidgets"
    # llvm-objdump leaves out 248 class methods of this file, whose names are in its symbol table
    compare_methods "$zxing/ZXingObjC.framework/ZXingObjC" all-of-llvm
    compare_pointers "$camera"
    # pieces of methods (.cold.N) and categories that the linker merged are in no list: see NOTES.md
    recovery "$zxing/ZXingObjC.framework/ZXingObjC" 2152
    recovery "$sdweb/SDWebImage.framework/SDWebImage" 1130
    recovery "$tns/TNSWidgets.framework/TNSWidgets"
    recovery "$corpus/debian-llvm-16/llvm/test/DebugInfo/Inputs/dwarfdump-objc.x86_64.o"
    recovery "$corpus/debian-llvm-16/llvm/test/tools/dsymutil/Inputs/objc.macho.x86_64" 1
    recovery "$corpus/debian-llvm-16/llvm/test/tools/dsymutil/Inputs/objc.macho.x86_64.o"
elif [ "$compared" = yes ]; then
    skip "real files, which are not here"
fi
# Units of each version, as llvm-dwarfdump 22 lists them.
$machsym info $bin/hand-lines.dwarf | grep -q 'debug info: 4 units, 1 of DWARF 2, 1 of DWARF 3, 1 of DWARF 4, 1 of DWARF 5$'
count $? || echo "info: versions of DWARF"
end
