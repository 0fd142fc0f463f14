# shellcheck shell=bash
# The groups of rows that bench/run prints: each measures some contenders in turn and writes rows.tsv.

# One contender of the next measurement: LABEL, standard input, program and arguments.
contender()
{
    local IFS=$'\t'
    printf '%s\n' "$*" >> "$dir/contenders"
}

declare -A wall cpu anon
measure() # rounds repeats
{
    local label w c kb status
    while IFS=$'\t' read -r label w c _ kb status; do
        [ "$clock" = wall ] || w=$c
        wall[$label]=$w cpu[$label]=$c anon[$label]=$kb
        [ "$status" = 0 ] || left_out "$label: exit status $status: its row may be of no worth"
    done < <("$dir/measure" "$1" "$2" < "$dir/contenders")
    rm "$dir/contenders"
}

# One row of the table; the peer's value is - where it is not installed, ? where it has no answers. Goals:
# '>=N' peer / ours, '<=N' ours / peer, '<N' and '>N' our own value, '-' none.
row() # name ours peer-name peer unit goal
{
    local IFS=$'\t'
    printf '%s\n' "$*" >> "$dir/rows.tsv"
}

mean() # label-prefix
{
    local i all=
    for i in 1 2 3 4 5; do
        all="$all ${wall[$1.$i]:-}"
    done
    [ -z "${all// /}" ] && echo - && return
    echo "$all" | awk '{ printf "%.6f", ($1 + $2 + $3 + $4 + $5) / 5 }'
}

# An image's name in the table, with the size of its DWARF file.
title() # image
{
    echo "$1 ($(stat -L -c %s "$dir/$1.dwarf" | awk '{ printf "%.0f", $1 / 1e6 }') MB)"
}

# What the project wants of a row, by kind of image: - where nothing is wanted.
goal() # row image
{
    case $1:$2 in
    bulk-llvm:large* | bulk-llvm:copies*) echo '>=10' ;;
    bulk-llvm:LightningDevKit | bulk-llvm:NativeScript) echo '>=8' ;;
    bulk-addr2line:large* | bulk-addr2line:copies*) echo '>=4' ;;
    bulk-addr2line:real*) echo '>=3' ;;
    build-1:large* | build-1:copies* | build-1:real* | build-1:mid*) echo '>=6' ;;
    build-2:large* | build-2:copies*) echo '>=10' ;;
    build-2:real* | build-2:mid*) echo '>=8' ;;
    build-1:hermes) echo '>=8' ;;
    build-2:hermes) echo '>=9' ;;
    scaling:LightningDevKit | scaling:NativeScript | scaling:shipped) echo - ;;
    scaling:*) echo '>=1.8' ;;
    lookup:large* | lookup:copies* | lookup:big*) echo '<0.00000025' ;;
    lookup:*) echo '<0.0000001' ;;
    *) echo - ;;
    esac
}

# Five addresses far apart, one process each.
one_address() # image
{
    local file=$dir/$1.dwarf i=0 addr name
    for addr in $(head -5 "$dir/$1.addrs"); do
        i=$((i + 1))
        contender "us.$i" - "$us" atos -o "$file" -i "$addr"
        contender "map.$i" - "$dir/probes" map "$file"
        [ -z "$symbolizer" ] || contender "llvm.$i" - "$symbolizer" -e "$file" "$addr"
    done
    measure "$rounds" 5
    name="one address, $(title "$1")"
    row "$name" "$(mean us)" llvm-symbolizer "$(mean llvm)" s -
    row "  beside a program that only maps the file" "$(mean us)" "map and exit" "$(mean map)" s '<=2.5'
}

# One report of a number of frames, all of one image, which is loaded where it was linked.
make_report() # image frames
{
    local uuid
    uuid=$("$us" info "$dir/$1.dwarf" | grep -oiE '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}' | sed -n 1p | tr -d -)
    head -"$2" "$dir/$1.addrs" | awk -v uuid="$uuid" '
        BEGIN { printf "Process:             app [1]\n\nException Type:  EXC_BAD_ACCESS (SIGSEGV)\n\nThread 0 Crashed:\n" }
        {
            addr = substr($1, 3)
            addr = substr("0000000000000000", 1, 16 - length(addr)) addr
            if (NR == 1)
                base = substr(addr, 1, 8) "00000000"
            printf "%-4d%-30s\t0x%s 0x%s + 0\n", NR - 1, "app", addr, base
        }
        END { printf "\nBinary Images:\n0x%s - 0x%sffffffff app arm64  <%s> /app\n", base, substr(base, 1, 8), uuid }'
}

# What a person waits for: a few addresses, and one report.
few_addresses() # image
{
    local file=$dir/$1.dwarf count name
    wall=() cpu=()
    make_report "$1" 80 > "$dir/$1.crash"
    contender report - "$us" crash -q -d "$file" "$dir/$1.crash"
    for count in 20 200 3000; do
        head -$count "$dir/$1.addrs" > "$dir/$1.$count"
        contender "us.$count" "$dir/$1.$count" "$us" atos -o "$file" -i
        [ -z "$symbolizer" ] || contender "llvm.$count" "$dir/$1.$count" "$symbolizer" -e "$file"
    done
    measure "$rounds" 3
    name=$(title "$1")
    row "one report of 80 frames, $name" "${wall[report]}" "" "" s -
    [ "$clock" = cpu ] || row "  CPU" "${cpu[report]}" "" "" s -
    for count in 20 200 3000; do
        row "$count addresses, $name" "${wall[us.$count]}" llvm-symbolizer "${wall[llvm.$count]:--}" s -
    done
}

# A peer that answers less than another was not made for the file: its time says nothing.
answers() # label addresses program...
{
    local label=$1 addresses=$2 named
    shift 2
    named=$(head -1000 "$addresses" | "$@" 2> "$dir/answers.log" | grep -c '^[^?]' || true)
    [ "$named" -ge 500 ] && return
    left_out "$label: names $named lines of 1,000 addresses of ${addresses##*/}: not measured"
    return 1
}

many_addresses() # image
{
    local file=$dir/$1.dwarf addrs=$dir/$1.addrs name units limit peer silent=
    cpu=() anon=() wall=()
    contender us "$addrs" "$us" atos -o "$file" -i --no-demangle
    [ -z "$symbolizer" ] || contender llvm-symbolizer "$addrs" "$symbolizer" --no-demangle -e "$file"
    for peer in addr2line libbacktrace; do
        [ -x "$dir/peers/$peer" ] || continue
        if answers $peer "$addrs" "$dir/peers/$peer" "$file"; then
            contender $peer "$addrs" "$dir/peers/$peer" "$file"
        else
            silent="$silent $peer"
        fi
    done
    measure "$rounds" 1
    for peer in $silent; do
        cpu[$peer]="?" wall[$peer]="?" anon[$peer]="?"
    done
    name="100,000 addresses, $(title "$1")"
    for peer in llvm-symbolizer addr2line libbacktrace; do
        row "$name, CPU" "${cpu[us]}" $peer "${cpu[$peer]:--}" s "$(goal "bulk-${peer%-symbolizer}" "$1")"
    done
    for peer in llvm-symbolizer addr2line libbacktrace; do
        [ "$clock" = cpu ] || row "  elapsed" "${wall[us]}" $peer "${wall[$peer]:--}" s -
    done
    units=$("$dir/probes" walk "$file" 1 | sed 's/units \([0-9]*\).*/\1/')
    limit="<$((48 * 1024 + 200 * units / 1024))"
    for peer in llvm-symbolizer addr2line libbacktrace; do
        row "  memory" "${anon[us]}" $peer "${anon[$peer]:--}" KB "$limit"
        limit=-
    done
}

# What memory and a careless reader can do; the rows have no value of ours.
limits()
{
    local threads image name
    for image in $images; do
        name=$(title "$image")
        for threads in 1 2; do
            contender "read.$threads" - "$dir/probes" read "$dir/$image.dwarf" "$threads"
            contender "walk.$threads" - "$dir/probes" walk "$dir/$image.dwarf" "$threads"
        done
        measure "$rounds" 1
        for threads in 1 2; do
            row "limit: read info, line, str once, $name" - "-j $threads" "${wall[read.$threads]}" s -
            row "limit: unchecked walk of the DIEs, $name" - "-j $threads" "${wall[walk.$threads]}" s -
        done
    done
}

map_build() # image
{
    local file=$dir/$1.dwarf map=$dir/$1.symmap gsym=$dir/$1.gsym threads name size=-
    cpu=() anon=() wall=()
    for threads in 1 2; do
        contender "us.$threads" - "$us" map build "$file" -o "$map" -j "$threads"
        [ -z "$gsymutil" ] ||
            contender "gsym.$threads" - "$gsymutil" "--convert=$file" "--num-threads=$threads" -o "$gsym"
    done
    measure "$rounds" 1
    name=$(title "$1")
    for threads in 1 2; do
        # processor time of two threads tells nothing of what the second is good for
        [ "$threads$clock" != 2cpu ] || continue
        row "map build -j $threads, $name" "${wall[us.$threads]}" llvm-gsymutil \
            "${wall[gsym.$threads]:--}" s "$(goal "build-$threads" "$1")"
    done
    [ "$clock" = cpu ] ||
        row "  two threads beside one" "${wall[us.2]}" "map build -j 1" "${wall[us.1]}" s \
            "$(goal scaling "$1")"
    row "  memory -j 2" "${anon[us.2]}" llvm-gsymutil "${anon[gsym.2]:--}" KB '<=0.15'
    [ -z "$gsymutil" ] || size=$(stat -c %s "$gsym")
    row "  map size" "$(stat -c %s "$map")" llvm-gsymutil "$size" B '<=0.75'
}

map_lookup() # image
{
    local map=$dir/$1.symmap gsym=$dir/$1.gsym name mean median p99 batch
    cpu=() anon=() wall=()
    # another format's map or another build's: both are made again
    "$us" map build "$dir/$1.dwarf" -o "$map" > "$dir/build.log"
    contender us "$dir/$1.addrs" "$us" map lookup "$map" -i
    contender raw "$dir/$1.addrs" "$us" map lookup "$map" -i --no-demangle
    contender one - "$us" map lookup "$map" -i "$(head -1 "$dir/$1.addrs")"
    contender bare - "$dir/probes" map "$dir/$1.dwarf"
    if [ -n "$gsymutil" ]; then
        [ -e "$gsym" ] || "$gsymutil" "--convert=$dir/$1.dwarf" -o "$gsym" > "$dir/build.log"
        sed "s|\$| $gsym|" "$dir/$1.addrs" > "$dir/$1.gsym-addrs"
        contender gsym "$dir/$1.gsym-addrs" "$gsymutil" --addresses-from-stdin
    fi
    measure "$rounds" 1
    name=$(title "$1")
    row "map: 100,000 addresses, raw names, $name" "${wall[raw]}" llvm-gsymutil "${wall[gsym]:--}" s '>=10'
    row "  demangled" "${wall[us]}" "our raw names" "${wall[raw]}" s '<=1.6'
    row "map: one address, $name" "${wall[one]}" "map and exit" "${wall[bare]}" s -
    read -r mean median p99 batch _ < <("$dir/lookups" "$map" "$dir/$1.addrs")
    row "map: one lookup in process, $name" "$mean" "" "" s "$(goal lookup "$1")"
    row "  median" "$median" "" "" s -
    row "  p99" "$p99" "" "" s '<0.0000005'
    row "  in batches of 64" "$batch" "" "" /s '>12000000'
}

# A stripped program with Objective-C metadata: answers come from the classes. No peer names anything there.
stripped()
{
    local file=$dir/objc i=0 addr
    [ -e "$file" ] || return 0
    ln -sf "$file" "$file.dwarf"
    "$dir/probes" addresses "$file" 100000 1 > "$file.addrs"
    for addr in $(head -5 "$file.addrs"); do
        i=$((i + 1))
        contender "us.$i" - "$us" atos -o "$file" "$addr"
    done
    contender us "$file.addrs" "$us" atos -o "$file"
    measure "$rounds" 3
    row "stripped, one address, $(title objc)" "$(mean us)" "" "" s -
    row "stripped, 100,000 addresses, $(title objc)" "${wall[us]}" "" "" s -
    row "  memory" "${anon[us]}" "" "" KB -
}

# One cold address through the objects that lie beside the program, and through its dSYM.
debug_map()
{
    local file=$dir/debugmap i=0 addr
    [ -e "$file" ] || return 0
    ln -sf "$file.dSYM/Contents/Resources/DWARF/debugmap" "$file.dwarf"
    mkdir -p "$dir/alone"
    ln -f "$file" "$dir/alone/debugmap"
    for addr in $("$dir/probes" addresses "$file.dwarf" 5 1); do
        i=$((i + 1))
        contender "us.$i" - "$us" atos -o "$dir/alone/debugmap" -i "$addr"
        contender "dsym.$i" - "$us" atos -o "$file.dwarf" -i "$addr"
    done
    measure "$rounds" 5
    row "one address by debug map, 300 objects" "$(mean us)" "by its dSYM" "$(mean dsym)" s '<=3'
}

other()
{
    limits
    stripped
    debug_map
}

# 1,000 reports of 80 frames each over all the images.
crash_reports()
{
    local image i=0 threads store
    rm -rf "$dir/reports" "$dir/store" "$dir/maps"
    mkdir -p "$dir/reports" "$dir/store" "$dir/maps" "$dir/out"
    for image in $images; do
        # a copy of its own name, since crash follows no links in a folder
        cp -L "$dir/$image.dwarf" "$dir/store/$image"
        "$us" map build --lines=people --store "$dir/maps" "$dir/store/$image" > "$dir/build.log"
    done
    while [ $i -lt 1000 ]; do
        for image in $images; do
            i=$((i + 1))
            [ $i -gt 1000 ] || "$dir/probes" report "$dir/$image.dwarf" 20 $i > "$dir/reports/$i.ips"
        done
    done
    for store in store maps; do
        for threads in 1 2; do
            contender "$store.$threads" - "$us" crash "$dir"/reports/*.ips -d "$dir/$store" -j "$threads" \
                --force -o "$dir/out"
        done
    done
    measure "$rounds" 1
    for store in store maps; do
        for threads in 1 2; do
            row "1,000 crash reports -j $threads, $([ $store = maps ] && echo maps || echo dSYMs)" \
                "${wall[$store.$threads]}" "" "" s -
        done
    done
    rm -rf "$dir/store"
}

# The median of what node takes for a command that it ran before in the same process.
again() # STDIN FILES COMMAND...
{
    node "$root/bench/again.mjs" "$root/build/js/machsym" 8 "$@"
}

# The tool in WebAssembly under node beside the native one, each with what one thread of its own can do: whole processes, and
# what a program pays that keeps the package loaded.
in_node() # image
{
    local file=$dir/$1.dwarf addrs=$dir/$1.addrs i name label tool node reports
    cpu=() anon=() wall=()
    name=$(title "$1")
    rm -rf "$dir/reports" "$dir/store"
    mkdir -p "$dir/reports" "$dir/store" "$dir/out"
    cp -L "$file" "$dir/store/$1"
    for i in $(seq 100); do
        "$dir/probes" report "$file" 20 "$i" > "$dir/reports/$i.ips"
    done
    for label in us node; do
        tool=$us
        [ $label = us ] || tool=$dir/in-node
        contender "start.$label" - "$tool" --version
        contender "lookup.$label" "$addrs" "$tool" atos -o "$file" -i --no-demangle
        contender "build.$label" - "$tool" map build "$file" -o "$dir/$1.symmap" -j 1
        contender "reports.$label" - "$tool" crash -q "$dir"/reports/*.ips -d "$dir/store" -j 1 --force -o "$dir/out"
    done
    measure "$rounds" 1
    row "in node: the start, in all rows below, CPU" "${cpu[start.node]}" native "${cpu[start.us]}" s -
    row "  100,000 addresses, $name" "${cpu[lookup.node]}" native "${cpu[lookup.us]}" s '<=2.5'
    row "  map build" "${cpu[build.node]}" native "${cpu[build.us]}" s '<=2.5'
    row "  100 crash reports" "${cpu[reports.node]}" native "${cpu[reports.us]}" s '<=2.5'
    node=$(again "$addrs" "$file" atos -o "/$1.dwarf" -i --no-demangle)
    row "  again in one process: 100,000 addresses" "$node" native "${cpu[lookup.us]}" s '<=2.5'
    node=$(again - "$file" map build "/$1.dwarf" -o /map -j 1)
    row "  again: map build" "$node" native "${cpu[build.us]}" s '<=2.5'
    reports=("$dir"/reports/*.ips)
    node=$(again - "$file,$(printf '%s,' "${reports[@]}")" crash -q "${reports[@]/#*\//\/}" -d "/$1.dwarf" -j 1 --force -o /out)
    row "  again: 100 crash reports" "$node" native "${cpu[reports.us]}" s '<=2.5'
    rm -rf "$dir/store"
}

# Makes the npm package, and a command for its tool.
prepare_node()
{
    command -v node > /dev/null && make -s -C "$root" wasm >> "$dir/left-out" 2>&1 || return 1
    printf '#!/bin/sh\nexec node "%s/build/js/machsym/cli.js" "$@"\n' "$root" > "$dir/in-node"
    chmod +x "$dir/in-node"
}

# A shared cache of 2 GB that is mostly holes, with 1,000 images: tests/cache makes it.
shared_cache()
{
    local caches=$dir/caches/large i=0 addr rate
    local cache=$caches/dyld_shared_cache_arm64e
    [ -e "$cache" ] || python3 "$root/tests/cache/build.py" "$root/tests/fixtures/bin/cache" "$dir/caches" large
    awk -F '\t' '$1 == "start" { v[n++] = $3 } END { srand(1); for (i = 0; i < 100000; i++) print v[int(rand() * n)] }' \
        "$caches/truth.tsv" > "$dir/cache.addrs"
    for addr in $(head -5 "$dir/cache.addrs"); do
        i=$((i + 1))
        contender "us.$i" - "$us" atos -o "$cache" "$addr"
        contender "map.$i" - "$dir/probes" map "$cache"
    done
    measure "$rounds" 5
    row "one address, shared cache of 2 GB" "$(mean us)" "map and exit" "$(mean map)" s '<=3'
    contender us "$dir/cache.addrs" "$us" atos -o "$cache"
    contender maps - "$us" map build "$cache" --store "$dir/caches/maps"
    measure "$rounds" 1
    rate=$(awk -v s="${wall[us]}" 'BEGIN { printf "%.0f", 100000 / s }')
    row "100,000 addresses of 1,000 images in a shared cache" "$rate" "" "" /s '>300000'
    row "maps of 1,000 images in a shared cache" "${wall[maps]}" "" "" s -
}

# Real names of one language, 70 to 130 bytes long, the list over and over to 200,000 lines.
names_of() # table pattern
{
    awk -F '\t' -v start="^$2" '$1 ~ start && length($1) >= 70 && length($1) <= 130 { v[n++] = $1 }
        END { for (i = 0; n && i < 200000; i++) print v[i % n] }' "$1" > "$dir/names"
    [ -s "$dir/names" ]
}

# Filters over the same names, processor time: LABEL then its program, separated by --. A run takes 0.1 s, and
# a busy moment of the machine is as long: five runs a round, and their median.
filters() # language goal-of-first label program... [-- label program...]
{
    local language=$1 goal=$2 label labels=
    shift 2
    cpu=()
    contender us "$dir/names" "$us" demangle
    while [ $# -gt 0 ]; do
        label=$1 labels="$labels $1"
        shift
        local command=()
        while [ $# -gt 0 ] && [ "$1" != -- ]; do
            command+=("$1")
            shift
        done
        [ $# -eq 0 ] || shift
        [ ! -x "${command[0]:-}" ] || contender "$label" "$dir/names" "${command[@]}"
    done
    measure "$rounds" 5
    for label in $labels; do
        row "demangle 200,000 $language names, CPU" "${cpu[us]}" "$label" "${cpu[$label]:--}" s "$goal"
        goal=-
    done
}

demangle()
{
    local rate
    names_of "$vectors/cxx.tsv" '_*Z' && filters C++ '>=3' llvm-cxxfilt "$cxxfilt" -- c++filt "$libiberty"
    names_of "$vectors/rust.tsv" '_R' && filters "Rust v0" '>=4' llvm-cxxfilt "$cxxfilt" \
        -- rustc-demangle "$dir/peers/rustc-demangle" -- c++filt "$libiberty"
    names_of "$vectors/rust.tsv" '_ZN' && filters "Rust legacy" '>=1' \
        rustc-demangle "$dir/peers/rustc-demangle"
    names_of "$vectors/d.tsv" '_D' && filters D '>=3' c++filt "$libiberty" -s dlang -- llvm-cxxfilt "$cxxfilt"
    if names_of "$vectors/swift.tsv" '[_$]'; then
        contender us "$dir/names" "$us" demangle
        measure "$rounds" 5
        rate=$(awk -v s="${cpu[us]}" 'BEGIN { printf "%.0f", 200000 / s }')
        row "demangle Swift names, CPU" "$rate" "" "" /s '>1500000'
    fi
}

# The seconds that lldb takes for callers, without its start; - where it is not installed, ? where it finds other frames.
lldb_callers() # frames mode program file...
{
    local wanted=$1 lldb modules seconds frames
    shift
    lldb=$(find_tool lldb)
    modules=$([ -z "$lldb" ] || "$lldb" -P 2> "$dir/lldb.log")
    if [ -z "$modules" ] || ! /usr/bin/python3 "$here/unwind_lldb.py" "$modules" "$@" > "$dir/lldb.out" 2> "$dir/lldb.log"; then
        echo -
        return
    fi
    read -r seconds frames _ < "$dir/lldb.out"
    [ "$frames" = "$wanted" ] && echo "$seconds" && return
    left_out "lldb: $frames frames of $wanted for $1: not measured"
    echo "?"
}

# The program of tests/stacks/arm64.core, with the symbols that lldb wants; nothing where LLVM is not installed.
callers_program()
{
    local clang linker
    clang=$(find_tool clang) linker=$(find_tool ld64.lld)
    [ -n "$clang" ] && [ -n "$linker" ] || return 0
    "$clang" -target arm64-apple-macos11 -g -funwind-tables -Oz -moutline -fomit-frame-pointer -ffreestanding \
        -fno-stack-protector -c "$root/tests/stacks/calls.c" -o "$dir/calls.o" &&
        "$linker" -arch arm64 -platform_version macos 11 11 -e _main -o "$dir/calls" "$dir/calls.o" && echo "$dir/calls"
}

# Callers: of the threads of a dead process, by __eh_frame in its memory, and of minidumps by a map alone.
callers()
{
    local ms per kb i program peer=- dumps=()
    cpu=()
    cc -std=gnu11 -O2 -Wall -Wextra -o "$dir/callers" "$here/unwind.c"
    "$dir/callers" "$root/tests/stacks/arm64.core" "$dir/64.core" > "$dir/callers.out"
    read -r ms per kb < <(sed 's/.*: \([0-9.]*\) ms of CPU, \([0-9.]*\) microseconds a frame, \([0-9]*\) KB.*/\1 \2 \3/' "$dir/callers.out")
    program=$(callers_program 2> "$dir/callers.log" || true)
    [ -z "$program" ] || peer=$(lldb_callers 2560 core "$program" "$dir/64.core")
    row "callers of 64 threads of 40 frames, warm, CPU" "$(seconds "$ms" 1e3)" lldb "$peer" s '<0.02'
    case $peer in - | \?) ;; *) peer=$(seconds "$peer" 2560) ;; esac
    row "  a frame" "$(seconds "$per" 1e6)" lldb "$peer" s '<0.000002'
    row "  memory beyond the core" "$kb" "" "" KB '<256'

    mkdir -p "$dir/dumps"
    for i in $(seq 200); do
        cp "$root/tests/stacks/x86_64.dmp" "$dir/dumps/$i.dmp"
        dumps+=("$dir/dumps/$i.dmp")
    done
    "$us" map build --unwind -o "$dir/callers.symmap" "$root/tests/stacks/x86_64.program" > "$dir/build.log"
    contender start - "$us" --version
    contender maps - "$us" crash -q --no-cache -j 1 --force -o "$dir/out" -d "$dir/callers.symmap" "${dumps[@]}"
    measure "$rounds" 1
    peer=$(lldb_callers 2000 dumps "$root/tests/stacks/x86_64.program" "${dumps[@]}")
    row "200 minidumps by a map, with the start, CPU" "${cpu[maps]}" "lldb, its program" "$peer" s '<2'
    row "  the start" "${cpu[start]}" "" "" s -
}

# A number in parts of a second, or of as many things.
seconds() # number parts
{
    awk -v n="$1" -v parts="$2" 'BEGIN { printf "%.9f", n / parts }'
}
