#!/bin/bash
# Dyld shared caches: those that tests/cache/build.py makes, against what LLVM's tools said of the dylibs in them; every command
# that takes one; files that are missing, other, or cut short.
cd "$(dirname "$0")/.." || exit 1
machsym=${MACHSYM:-build/machsym}
. tests/checks
command -v python3 >/dev/null || {
    skip "it needs python3"
    end
    exit
}
export XDG_CACHE_HOME=$work/index
caches=$work/caches
python3 tests/cache/build.py tests/fixtures/bin/cache "$caches"
check "the caches are built"
python3 tests/cache/check.py "$machsym" "$caches" >"$work/log"
add $? "$work/log" check.py || cat "$work/log"
PYTHONDONTWRITEBYTECODE=1 python3 tests/members/begins.py "$machsym" "$work/begins" "$caches" >"$work/log" 2>&1
check "which files of folders and archives are symbols, caches and reports" "$work/log"

new=$caches/ios17/dyld_shared_cache_arm64e
split=$caches/ios16/dyld_shared_cache_arm64e
zoo=4C4C4497-5555-3144-A1CE-C8376FCBAFC7

# Runs the tool and compares what it prints and its status.
is() # STATUS WHAT EXPECTED ARGUMENT...
{
    local status=$1 what=$2 expected=$3 got
    shift 3
    got=$("$machsym" "$@" 2>"$work/err")
    [ $? -eq "$status" ] && [ "$got" = "$expected" ]
    check "$what: $got" "$work/err"
}

says() # TEXT: the last command said it
{
    grep -qF -e "$1" "$work/err"
    check "said: $1; but" "$work/err"
}

# ---- One image: by entry, by path, by UUID; addresses of the cache, by where it or the image was loaded, by slide ----

is 0 "the cache's own address" "-[Animal work:] (in Zoo) + 4" atos -o "$new" 1800188e0
is 0 "where the cache was loaded" "-[Animal work:] (in Zoo) + 4" atos -o "$new" -l 0x190000000 1900188e0
is 0 "a slide" "-[Animal work:] (in Zoo) + 4" atos -o "$new" -s 0x10000000 1900188e0
is 0 "an entry, where it was loaded" "-[Animal work:] (in Zoo) + 4" atos -o "$new" --entry Zoo -l 0x190018000 1900188e0
is 0 "a path into the cache" "-[Animal work:] (in Zoo) + 4" atos -o "$new/System/Library/Frameworks/Zoo.framework/Zoo" 1800188e0
is 0 "the UUID of an image" "-[Animal work:] (in Zoo) + 4" atos -o "$new" --uuid $zoo 1800188e0
is 0 "a UUID in a folder" "-[Animal work:] (in Zoo) + 4" atos --symbols "$caches/ios17" --uuid $zoo 1800188e0
is 0 "between images" 185000000 atos -o "$new" 185000000
mac=$caches/macos12/dyld_shared_cache_x86_64h
is 0 "no name beyond the next function start" "0x00007ff800014625 (in libbase.dylib) + 5" atos -o "$mac" 7ff800014625
is 0 "--nearest" "0x00007ff800014625 (in libbase.dylib) + 5, nearest name below: base_add + 37" atos -o "$mac" --nearest 7ff800014625
is 1 "no such image" "" symbols --entry Nothing "$new"
says "the shared cache has no image of this name"
is 1 "no such UUID" "" symbols --uuid 00000000-0000-0000-0000-0000000000AA "$new"
says "no image of the shared cache has this UUID"
is 1 "a cache is no image" "" symbols "$new"
says "a shared cache; name one of its images with --entry NAME"
"$machsym" objc --json --entry Farm "$split" >"$work/out" 2>"$work/err" && [ "$(wc -l <"$work/out")" -eq 2 ]
check "objc" "$work/out"
"$machsym" objc --entry Farm "$split" | grep -q 'class Cow : Animal'
check "objc: a class whose superclass is in another file of the cache"
"$machsym" owners --name Zoo --prefix Ani --entry Zoo "$new" 1800188e0 | grep -q '1800188e0 Zoo'
check "owners"
"$machsym" info "$split" >"$work/out"
check "info"
grep -q '  system: iOS 16.3$' "$work/out" && [ "$(grep -c dyld_shared_cache "$work/out")" -eq 5 ]
check "info: system and files"

# ---- Maps, and a report that is named from them, from the cache, and from a folder ----

"$machsym" map build "$new" --store "$work/maps" -j 2 >"$work/out" 2>"$work/err"
check "map build"
says "6 of 6 maps are made"
[ "$(find "$work/maps" -name '*.symmap' | wc -l)" -eq 6 ] && [ "$(wc -l <"$work/out")" -eq 6 ]
check "a map an image"
is 1 "map build without a store" "" map build "$new"
"$machsym" map build "$new" --images '*/lib*.dylib' --store "$work/some" >"$work/out" 2>"$work/err"
check "map build --images"
says "4 of 4 maps are made"
is 1 "nothing fits" "" map build "$new" --images 'Zoo' --store "$work/some"
says "fits the pattern"

cat >"$work/report.crash" <<'END'
Process:             App [100]
Path:                /private/var/containers/Bundle/Application/9B0F/App.app/App
OS Version:          iPhone OS 17.5.1 (21F90)
Report Version:      104

Exception Type:  EXC_CRASH (SIGABRT)
Triggered by Thread:  0

Thread 0 Crashed:
0   libbase.dylib                 	0x00000001a00145a4 0x1a0014000 + 1444
1   Zoo                           	0x00000001a00188c8 0x1a0018000 + 2248
2   Farm                          	0x00000001a001c7f0 0x1a001c000 + 2032

Binary Images:
       0x100000000 -        0x10000ffff App arm64  <00000000000000000000000000000001> /private/var/containers/Bundle/Application/9B0F/App.app/App
       0x1a0014000 -        0x1a0017fff libbase.dylib arm64e  <4C4C443355553144A1DC9BA77128E71E> /usr/lib/libbase.dylib
       0x1a0018000 -        0x1a001bfff Zoo arm64e  <4C4C449755553144A1CEC8376FCBAFC7> /System/Library/Frameworks/Zoo.framework/Zoo
       0x1a001c000 -        0x1a001ffff Farm arm64e  <4C4C446D55553144A119C9535A2996BB> /System/Library/PrivateFrameworks/Farm.framework/Farm
END
"$machsym" crash --missing=text "$work/report.crash" 2>/dev/null >"$work/out"
same - "$work/out" "what is missing of the system" <<'END'
3 frames without a name in 3 images of the system, for which there are no dSYMs: name with -d its shared cache, or maps of it
  iOS 17.5.1 (21F90), arm64e: 3 images, 3 frames in 1 report
END
pack="$work/iOS DeviceSupport/iPhone14,2 17.5.1 (21F90)/Symbols/System/Library/Caches/com.apple.dyld"
mkdir -p "$pack"
cp "$new" "$pack/"
for from in "$new" "$work/maps" "$work/iOS DeviceSupport" "$work/iOS DeviceSupport"; do # the last from its index
    "$machsym" crash -q -d "$from" "$work/report.crash" >"$work/out"
    grep '^[0-2]  ' "$work/out" | sed 's/.*0x[0-9a-f]* //' >"$work/names"
    same - "$work/names" "a report from $from" <<'END'
base_spread + 4
zoo_digest + 4
-[Animal(Farm) milk:] + 8
END
done

# ---- A zip of such a folder: the cache's files are members ----

mkdir -p "$work/pack/iOS DeviceSupport/16.3"
cp "$caches/ios16/"dyld_shared_cache_arm64e* "$work/pack/iOS DeviceSupport/16.3/"
zip_pack() # OUT [FILE TO LEAVE OUT]
{
    python3 - "$work/pack" "$1" "$2" <<'END'
import os, sys, zipfile
with zipfile.ZipFile(sys.argv[2], "w", zipfile.ZIP_DEFLATED) as z:
    for folder, _, names in os.walk(sys.argv[1]):
        for name in sorted(names):
            if name != sys.argv[3]:
                z.write(os.path.join(folder, name), os.path.relpath(os.path.join(folder, name), sys.argv[1]))
END
}
zip_pack "$work/pack.zip" none
member="$work/pack.zip/iOS DeviceSupport/16.3/dyld_shared_cache_arm64e"
"$machsym" map build "$split" --store "$work/unzipped" >/dev/null 2>&1
"$machsym" map build "$work/pack.zip" --store "$work/zipped" >"$work/out" 2>"$work/err"
check "map build of a zip"
says "6 of 6 maps are made"
diff -r "$work/zipped" "$work/unzipped" >"$work/out"
check "the maps are those of the cache itself" "$work/out"
is 0 "an address of a cache in a zip" "-[Animal work:] (in Zoo) + 4" atos -o "$member" 1820108e0
is 0 "an image of it" "-[Animal work:] (in Zoo) + 4" atos -o "$member" --entry Zoo 1820108e0
is 0 "an image by its UUID" "-[Animal work:] (in Zoo) + 4" atos -o "$member" --uuid $zoo 1820108e0
is 0 "an image by its path" "-[Animal work:] (in Zoo) + 4" atos -o "$member/System/Library/Frameworks/Zoo.framework/Zoo" 1820108e0
is 1 "no such path in a cache in a zip" "" symbols "$member/usr/lib/libnothing.dylib"
says "the shared cache has no image of this name"
"$machsym" symbols "$member/usr/lib/libbase.dylib" >"$work/out" 2>"$work/err" && "$machsym" symbols "$split/usr/lib/libbase.dylib" | cmp - "$work/out"
check "symbols of an image of a cache in a zip" "$work/err"
mkdir "$work/packs"
cp "$work/pack.zip" "$work/packs/"
is 0 "the same in a folder" "-[Animal work:] (in Zoo) + 4" atos --symbols "$work/packs" --uuid $zoo 1820108e0
"$machsym" info "$work/pack.zip" >"$work/out"
check "info of a zip"
[ "$(grep -c dyld_shared_cache "$work/out")" -eq 5 ] && ! grep -q missing "$work/out"
check "info: all files" "$work/out"
"$machsym" crash -q -d "$work/pack.zip" "$work/report.crash" >"$work/out" 2>"$work/err"
[ $? -eq 0 ] && [ ! -s "$work/err" ] && grep -q '^1  .*zoo_digest + 4$' "$work/out"
check "a report from a zip" "$work/out"
zip_pack "$work/lacking.zip" dyld_shared_cache_arm64e.01
is 1 "a zip that lacks a file of the cache" "base_add (in libbase.dylib) + 0
1820108e0" atos -o "$work/lacking.zip/iOS DeviceSupport/16.3/dyld_shared_cache_arm64e" 180014570 1820108e0
says "its file dyld_shared_cache_arm64e.01 is missing"

# ---- An image as a file of its own (check.py compares what is in it) ----

"$machsym" cache extract "$split" Zoo -o "$work/Zoo" >"$work/out"
check "cache extract"
if need "pages of an extracted image" llvm-objdump-22; then
    # arm64's pages have 16 KB: dyld maps each segment from a page of the file.
    llvm-objdump-22 --macho --private-headers "$work/Zoo" | awk '/ segname /{ name = $2 } / vmsize /{ size[name] = $2 } / fileoff /{ off[name] = $2 }
        END { for (name in off) { n++; if (off[name] % 16384) print name, off[name] } exit n < 3 }' >"$work/out"
    [ $? -eq 0 ] && [ ! -s "$work/out" ]
    check "each segment of an extracted image begins on a page" "$work/out"
fi
is 0 "the file answers as the cache does" "-[Animal work:] (in Zoo) + 4" atos -o "$work/Zoo" 1820108e0
is 2 "cache extract without -o" "" cache extract "$split" Zoo
is 2 "cache extract without an image" "" cache extract "$split" -o "$work/Zoo"
is 1 "no shared cache" "" cache extract "$work/Zoo" Zoo -o "$work/none"
says "no shared cache"
is 1 "no such image to extract" "" cache extract "$split" Nothing -o "$work/none"
[ ! -e "$work/none" ]
check "nothing is written"

mkdir "$work/bare"
cp "$caches/ios16/"dyld_shared_cache_arm64e* "$work/bare/"
rm "$work/bare/"*.symbols "$work/Zoo"
"$machsym" cache extract "$work/bare/dyld_shared_cache_arm64e" Zoo -o "$work/Zoo" >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && [ -s "$work/Zoo" ]
check "cache extract without the file of local symbols" "$work/err"
says "local functions have no names"

# What no builder writes: work and memory have bounds, and nothing outside of the file is touched.
hostile() # KIND SAID [a file comes of it]
{
    rm -f "$work/none"
    python3 tests/cache/hostile.py "$work/hostile" "$1" &&
        "$machsym" cache extract "$work/hostile" libhostile.dylib -o "$work/none" >"$work/out" 2>"$work/err"
    [ $? -eq 1 ] && { [ -e "$work/none" ] || [ -z "$3" ]; } && { [ ! -e "$work/none" ] || [ -n "$3" ]; }
    check "hostile: $1" "$work/err"
    says "$2"
}
hostile names "the names of its symbols have more than 256 MB"
hostile symtabs "it has two symbol tables"
hostile indirect "it has two tables of indirect symbols"
hostile methods "a section lies outside of its segment" file
rm -f "$work/none"

# A map of each image, not of each name of it; and where images share code and symbols, no more maps than 16 MB and 4 times the
# cache. Each of these maps has 0.4 MB.
python3 tests/cache/hostile.py "$work/hostile" names-of-one 4000
"$machsym" map build "$work/hostile" --store "$work/one" >/dev/null 2>"$work/err"
check "4,000 names of one image" "$work/err"
says "1 of 1 maps are made"
python3 tests/cache/hostile.py "$work/hostile" over-each-other 1000
"$machsym" map build "$work/hostile" --store "$work/over" -j 2 >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && kb=$(du -sk "$work/over" | cut -f 1) && [ "$kb" -gt 16384 ] && [ "$kb" -lt 24576 ]
check "images over each other: $kb KB of maps" "$work/err"
says "its maps have more than 16 MB and 4 times the bytes of the cache"
[ "$(find "$work/over" -name '*.symmap' | wc -l)" -eq "$(wc -l <"$work/out")" ]
check "images over each other: each map is told"
"$machsym" map build "$work/hostile" --images '*/lib000999.dylib' --store "$work/over" >"$work/out" 2>"$work/err"
check "images over each other: the last one, which is chosen" "$work/err"
says "1 of 1 maps are made"
rm -rf "$work/over"

# Kernel collections: images are closed once all have more than a bound, and opened again when an address is for them. The second
# program has a low bound: it has one image of this collection open at a time. Each image is asked, and each again.
closing=$work/closing
mapfile -t objects < <(find tool report -name '*.c' ! -path '*/cmd/atos/targets.c' ! -path report/api.c | sed "s|^|${B:-build}/|; s|c\$|o|")
# shellcheck disable=SC2086
${CC:-cc} -std=c11 -D_GNU_SOURCE $CFLAGS $LDFLAGS -I. -DMACHSYM_IMPLEMENTED -DATOS_OPEN_BYTES=1 -DATOS_OPEN_PER_BYTE=0 -o "$closing" \
    tool/cmd/atos/targets.c "${objects[@]}" -pthread 2>"$work/err"
check "a tool that closes images" "$work/err"
python3 tests/cache/collection.py "$work/kc" "$work/asked" 50
for tool in "$machsym" "$RUN $closing"; do
    # shellcheck disable=SC2086
    python3 tests/cache/ask.py "$work/asked" $tool atos -o "$work/kc" >"$work/out" 2>"$work/err"
    check "images of a collection in turn, and again: $tool" "$work/out"
    [ ! -s "$work/err" ]
    check "... without a word" "$work/err"
done
is 0 "an image alone answers the same" "$(sed -n '8s/[^ ]* //p' "$work/asked")" \
    atos -o "$work/kc" --entry k00007 "$(sed -n '8s/ .*//p' "$work/asked")"

# Images over each other: one of them answers. Where its tables cannot be read that is reported once, with status 1.
python3 tests/cache/collection.py "$work/kc" "$work/asked" 50 over
is 0 "images over each other" "k00003_f3 (in k00049) + 0" atos -o "$work/kc" "$(sed -n '4s/ .*//p' "$work/asked")"
python3 - "$work/kc" 49 <<'END'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
struct.pack_into("<I", data, 32 + 50 * 40 + int(sys.argv[2]) * 224 + 32 + 152 + 8, 0x7fffffff) # where its symbols are
open(sys.argv[1], "wb").write(data)
END
cut -d ' ' -f 1 "$work/asked" >"$work/addresses"
for tool in "$machsym" "$RUN $closing"; do
    # shellcheck disable=SC2086
    $tool atos -o "$work/kc" <"$work/addresses" >"$work/out" 2>"$work/err"
    [ $? -eq 1 ] && [ "$(wc -l <"$work/out")" -eq 100 ] && [ "$(grep -c . "$work/err")" -eq 1 ]
    check "an image over others that is damaged: $tool" "$work/err"
    says "symbol table: 0 of 800 bytes are there"
done

# A report with frames in 300 images of a cache that share their symbols: few are open at a time.
python3 tests/cache/hostile.py "$work/hostile" over-each-other 300
python3 - "$work/shared.ips" <<'END'
import json, sys, uuid
head = {"app_name": "App", "bug_type": "309", "os_version": "iPhone OS 17.5.1 (21F90)", "name": "App"}
base, room, code = 0x1A0000000, 328, (300 * 328 + 0xFFF) & ~0xFFF
frames = [{"imageOffset": code + 16 * i - room * i, "imageIndex": i} for i in range(300)]
images = [{"source": "P", "arch": "arm64", "base": base + room * i, "size": 0x100000, "path": "/usr/lib/lib%06d.dylib" % i,
           "name": "lib%06d.dylib" % i, "uuid": str(uuid.UUID(bytes=b"an image's %5d" % i))} for i in range(300)]
body = {"procName": "App", "pid": 1, "cpuType": "ARM-64", "exception": {"type": "EXC_CRASH", "signal": "SIGABRT"},
        "faultingThread": 0, "threads": [{"triggered": True, "frames": frames}], "usedImages": images}
with open(sys.argv[1], "w") as f:
    f.write(json.dumps(head) + "\n" + json.dumps(body) + "\n")
END
# shellcheck disable=SC2086
python3 - "$work/kb" "$work/out" $RUN "$machsym" crash -q --json -j 2 -d "$work/hostile" "$work/shared.ips" <<'END'
import resource, subprocess, sys
with open(sys.argv[2], "w") as f:
    status = subprocess.call(sys.argv[3:], stdout=f)
with open(sys.argv[1], "w") as f:
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=f)
sys.exit(status)
END
check "a report with 300 images of a cache that share their symbols"
[ "$(grep -o '"calls":.{"name":"f0' "$work/out" | wc -l)" -eq 300 ]
check "... and each answers"
kb=$(cat "$work/kb")
case "$RUN$CFLAGS" in
*-fsanitize* | *--coverage* | ?*qemu*) ;; # these take memory of their own
*)
    [ "$kb" -lt 65536 ]
    check "... with $kb KB of memory"
    ;;
esac

# Swift: a requirement by name, then through a pointer to nowhere, into a name's middle, to itself, to code, and to what is
# next to the requirement. Only what is one has its kind.
meadow() # WHERE THE POINTER LEADS, WHAT THE WITNESS IS CALLED
{
    python3 - "$caches/ios8" "$work/meadow" "$1" <<'END'
import struct, sys
folder, out, where = sys.argv[1:]
truth = [line.rstrip("\n").split("\t") for line in open(folder + "/truth.tsv")]
known = {name: int(address, 16) for _, _, address, name in truth}
requirement = known["_$s4Barn7StabledP5sleepyyFTq"]
data = bytearray(open(folder + "/dyld_shared_cache_arm64", "rb").read())
slot = next(int(a, 16) for kind, _, a, to in truth if kind == "pointer" and to == "%x" % requirement)
mappings, count = struct.unpack_from("<II", data, 0x10)
address, _, off = next(m for m in struct.iter_unpack("<QQQII", data[mappings:mappings + 32 * count])
                       if m[0] <= slot < m[0] + m[1])[:3]
at = slot - address + off
assert struct.unpack_from("<Q", data, at)[0] == requirement
struct.pack_into("<Q", data, at, eval(where, {"requirement": requirement, "slot": slot, "code": known["_barn_fill"]}))
open(out, "wb").write(data)
END
    "$machsym" symbols --source=swift --entry libMeadow.dylib "$work/meadow" >"$work/out" 2>"$work/err" &&
        grep -qF " swift $2 in conformance Meadow.Goat" "$work/out"
    check "Swift: $2 at $1" "$work/out"
}
meadow requirement "protocol witness for Stabled.sleep()"
meadow requirement+8 "protocol witness for Barn.Stabled.getter[1]"
for where in 0 0x7fffffffffff requirement+3 slot code requirement-8 requirement+16 0x180000001; do
    meadow "$where" "protocol witness[0]"
done

# ---- Files that are missing, of another cache, cut short ----

mkdir "$work/alone"
cp "$caches/ios15/dyld_shared_cache_arm64e" "$work/alone/"
is 1 "a missing file costs what lies in it" "base_add (in libbase.dylib) + 0
184010888" atos -o "$work/alone/dyld_shared_cache_arm64e" 180014570 184010888
says "its file dyld_shared_cache_arm64e.1 is missing"
says "its file dyld_shared_cache_arm64e.symbols is missing: local functions have no names"
is 1 "Swift: what is of a file that is missing stays a number" "0x1800184d4 12 swift type metadata accessor for Meadow.Goat
0x1800184e0 12 swift type metadata accessor for Meadow.Pony
0x1800184ec 12 swift Meadow.Pony.override[0]
0x1800184f8 12 swift Meadow.Pony.override[1]
0x180018504 12 swift protocol witness[0] in conformance Meadow.Goat
0x180018510 12 swift protocol witness[1] in conformance Meadow.Goat" symbols --source=swift --entry libMeadow.dylib "$work/alone/dyld_shared_cache_arm64e"
is 1 "an image in a file that is missing" "" cache extract "$work/alone/dyld_shared_cache_arm64e" Zoo -o "$work/none"
says "the image lies in a file of the cache that is missing"
is 1 "maps of a cache without a file" "" map build "$work/alone/dyld_shared_cache_arm64e" --images '*/Zoo' --store "$work/maps"
says "dyld_shared_cache_arm64e/System/Library/Frameworks/Zoo.framework/Zoo: the image lies in a file of the cache that is missing"
cp "$caches/macos12/dyld_shared_cache_x86_64h.1" "$work/alone/dyld_shared_cache_arm64e.1"
head -c 100000 "$caches/ios15/dyld_shared_cache_arm64e.2" >"$work/alone/dyld_shared_cache_arm64e.2"
is 1 "a file of another cache" "base_add (in libbase.dylib) + 0" atos -o "$work/alone/dyld_shared_cache_arm64e" 180014570
says "is of another cache"
rm "$work/alone/dyld_shared_cache_arm64e.1"
if [ "$(id -u)" -eq 0 ]; then # who may read all, but not this
    ln -s /proc/sys/vm/compact_memory "$work/alone/dyld_shared_cache_arm64e.1"
else
    : >"$work/alone/dyld_shared_cache_arm64e.1"
    chmod 0 "$work/alone/dyld_shared_cache_arm64e.1"
fi
is 1 "one of the other files by itself" "" map build "$caches/ios15/dyld_shared_cache_arm64e.1" --store "$work/maps"
says "no image of the shared cache is listed in this file"
is 1 "a file that may not be read" "base_add (in libbase.dylib) + 0" atos -o "$work/alone/dyld_shared_cache_arm64e" 180014570
says "dyld_shared_cache_arm64e.1 is unreadable"

# Names of a development cache: its own files have the ending after their suffix, or are those of the other cache.
mkdir "$work/dev"
for file in "$caches/ios16/"dyld_shared_cache_arm64e*; do
    cp "$file" "$work/dev/${file##*/}"
done
mv "$work/dev/dyld_shared_cache_arm64e" "$work/dev/dyld_shared_cache_arm64e.development"
is 0 "a development cache" "-[Animal work:] (in Zoo) + 4" atos -o "$work/dev/dyld_shared_cache_arm64e.development" 1820108e0
for file in "$caches/ios15/"dyld_shared_cache_arm64e*; do
    name=${file##*/}
    cp "$file" "$work/dev/dyld_shared_cache_arm64e.development${name#dyld_shared_cache_arm64e}"
done
is 0 "an older development cache" "base_add (in libbase.dylib) + 0" atos -o "$work/dev/dyld_shared_cache_arm64e.development" 180014570
dev=$("$machsym" atos -o "$work/dev/dyld_shared_cache_arm64e.development" 184010888)
python3 -m zipfile -c "$work/dev.zip" "$work/dev/"
is 0 "an older development cache in a zip" "$dev" atos -o "$work/dev.zip/dev/dyld_shared_cache_arm64e.development" 184010888
[ "${dev#18}" = "$dev" ]
check "what lies in its second file has a name: $dev"

head -c 3000 "$new" >"$work/cut"
# a list of images without a path: found by random changes
python3 - "$new" "$work/unnamed" <<'END'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
struct.pack_into("<I", data, struct.unpack_from("<I", data, 0x1C0)[0] + 24, 0xFFFFFFF0)
open(sys.argv[2], "wb").write(data)
END
is 0 "an image whose path is gone" "base_add (in libbase.dylib) + 0" atos -o "$work/unnamed" 180014570
is 1 "a cache that is cut short" "" map build "$work/cut" --store "$work/maps"

# ---- Caches below -d that are cut short, or lack a file: a report's frames of the system may wait for them ----

name=dyld_shared_cache_arm64e
below() # STATUS CACHE FILE SIZE TEXT: a report from a copy of a cache; SIZE "missing": without the file
{
    rm -rf "$work/below"
    mkdir "$work/below"
    cp "$caches/$2/$name"* "$work/below/"
    if [ "$4" = missing ]; then
        rm "$work/below/$3"
    else
        truncate -s "$4" "$work/below/$3"
    fi
    touch -t 202001010000 "$work/below/"* # an index trusts no file that changed a moment ago
    for run in 1 2; do # the second has an index of the folder
        "$machsym" crash -q -d "$work/below" "$work/report.crash" >"$work/out" 2>"$work/err"
        [ $? -eq "$1" ] && grep -qF -e "below/$5" "$work/err"
        check "below -d, $run: $2, $3 $4" "$work/err"
    done
}
for size in 0 6; do
    below 1 ios17 $name $size "$name: no shared cache, but called as one"
done
for size in 8 100 300 400; do
    below 1 ios17 $name $size "$name: the shared cache ends inside its header"
done
below 1 ios17 $name 600 "$name: the list of mappings runs past the end of the file"
for size in 4096 65536 100000 181480; do
    below 1 ios17 $name $size "$name: a mapping runs past the end of its file"
done
below 1 ios17 $name 362000 "$name: the local symbols run past the end of the file"
below 0 ios16 $name 131000 "$name: a mapping runs past the end of its file" # all frames have names all the same
for file in 01 25.data; do
    below 1 ios16 $name.$file missing "$name: its file $name.$file is missing: what lies in it has no names; put it beside the first"
    below 1 ios16 $name.$file 0 "$name: its file $name.$file is damaged: what lies in it has no names; copy it again"
    below 1 ios16 $name.$file 300 "$name.$file: the shared cache ends inside its header"
    below 1 ios16 $name.$file 60000 "$name.$file: a mapping runs past the end of its file"
done
for size in 0 300; do
    below 1 ios16 $name.symbols $size "$name: its file $name.symbols is damaged: local functions have no names; copy it again"
done
below 1 ios16 $name.symbols 60000 "$name.symbols: the local symbols run past the end of the file"

rm -rf "$work/below"
mkdir "$work/below"
cp "$split"* "$work/below/"
touch -t 202001010000 "$work/below/"*
for run in whole "without the file of local symbols, which no system has beside it"; do
    "$machsym" crash -q -d "$work/below" "$work/report.crash" >"$work/out" 2>"$work/err"
    [ $? -eq 0 ] && [ ! -s "$work/err" ]
    check "below -d: $run" "$work/err"
    rm -f "$work/below/$name.symbols"
done
# A file that goes away after the folder was looked at: the index knows the main file only.
"$machsym" crash -q -d "$work/below" "$work/report.crash" >/dev/null 2>&1
rm "$work/below/$name.01"
"$machsym" crash -q -d "$work/below" "$work/report.crash" >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && grep -q "its file $name.01 is missing" "$work/err"
check "below -d: a file of a known cache is gone" "$work/err"
cp "$new" "$work/below/whole"
"$machsym" crash -q -d "$work/below" tests/fixtures/reports/demo.crash >"$work/out" 2>"$work/err"
grep -q "its file $name.01 is missing" "$work/err"
check "below -d: a report of another system hears of it" "$work/err"
end
