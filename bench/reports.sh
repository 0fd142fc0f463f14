#!/bin/bash
# Reports per second: 1,000 crash reports against a store of dSYMs, the same in one process by machsym_report.h, against a store of
# maps, and only parsed, with 1 and 2 jobs; then how well groups part labelled reports.
#   bench/reports.sh [DSYM [ADDRESSES]]
# DSYM is a dSYM with one slice (the demo of the tests without it); ADDRESSES a file of addresses in it, a line each,
# hexadecimal (made from `machsym symbols` without it). Each report has 10 threads of 20 frames, half of them of the
# image; every report is different. Those that are only parsed have 4 such threads: they get their signature, and no
# symbols. Prints "STORE JOBS REPORTS/S MB/S" rows, MB of reports, and pair precision and recall as tests/groups.sh does.
# Environment: MACHSYM, BENCH_DIR, BENCH_ROUNDS.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/.." && pwd)
dir=${BENCH_DIR:-$root/build/bench}/reports
us=${MACHSYM:-$root/build/machsym}
dsym=${1:-$root/tests/fixtures/bin/demo.app.dSYM}
count=1000

rm -rf "$dir/out"
mkdir -p "$dir/in" "$dir/maps" "$dir/short" "$dir/none" "$dir/out"
dir=$(cd "$dir" && pwd)
export XDG_CACHE_HOME=$dir/cache

addresses() # a line each, hexadecimal without 0x
{
    if [ $# -gt 1 ]; then
        sed 's/^0x//' "$2"
    else
        "$us" symbols "$dsym" | sed -n 's/^0x\([0-9a-f]*\) .*/\1/p'
    fi
}

# The image is loaded where it was linked, at 0 or a multiple of 4 GB, so that addresses need no sum.
make_reports() # folder threads [dsym [addresses]]
{
    local info uuid base in=$1 threads=$2
    shift 2
    info=$("$us" info "$dsym")
    uuid=$(echo "$info" | grep -oiE '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}' | sed -n 1p)
    base=$(addresses "$@" | sed -n 1p | sed 's/.\{0,8\}$/00000000/')
    addresses "$@" | awk -v dir="$in" -v threads="$threads" -v uuid="$(echo "$uuid" | tr -d -)" -v base="$base" -v count="$count" '
        { all[NR - 1] = $1 }
        END {
            seed = 1
            for (r = 0; r < count; r++) {
                file = dir "/" r ".crash"
                printf "Process:             app [%d]\nOS Version:          iPhone OS 17.4 (21E219)\n\n", r > file
                printf "Exception Type:  EXC_BAD_ACCESS (SIGSEGV)\n\n" > file
                for (t = 0; t < threads; t++) {
                    printf "Thread %d%s:\n", t, t == 0 ? " Crashed" : "" > file
                    for (f = 0; f < 20; f++) {
                        seed = (seed * 1103515245 + 12345) % 2147483648
                        if (f % 2 == 0) {
                            addr = all[int(seed / 64) % NR]
                            addr = substr("0000000000000000", 1, 16 - length(addr)) addr
                            printf "%-4d%-30s\t0x%s 0x%s + 0\n", f, "app", addr, base > file
                        } else {
                            printf "%-4d%-30s\t0x00000001d4a51558 objc_msgSend + 56\n", f, "libobjc.A.dylib" > file
                        }
                    }
                    printf "\n" > file
                }
                printf "Binary Images:\n0x%s - 0x%s app arm64  <%s> /var/containers/app\n", base, "1ffffffff", uuid > file
                printf "0x1d4a50000 - 0x1d4a57fff libobjc.A.dylib arm64  <00000000000000000000000000000001> /usr/lib/libobjc\n" > file
                close(file)
            }
        }'
}

# The best of some rounds: the machine may be busy with other things. Every round has a new folder for the outputs:
# ext4 steps over each inode that was freed in the last minutes, which takes longer than the reports.
measure() # name jobs folder command...
{
    local name=$1 jobs=$2 in=$3 best= start end round bytes outputs
    shift 3
    for round in $(seq "${BENCH_ROUNDS:-3}"); do
        outputs=()
        [ "$name" = parsed ] || outputs=(-o "$dir/out/$name-$jobs-$round")
        start=$(date +%s%N)
        "$us" crash -q -j "$jobs" "$@" "${outputs[@]}" "$in"/*.crash >"$dir/printed"
        end=$(date +%s%N)
        [ -n "$best" ] && [ $((end - start)) -ge "$best" ] || best=$((end - start))
    done
    bytes=$(cat "$in"/*.crash | wc -c)
    awk -v name="$name" -v jobs="$jobs" -v ns="$best" -v count="$count" -v bytes="$bytes" \
        'BEGIN { printf "%s\t%d\t%.0f\t%.1f\n", name, jobs, count * 1e9 / ns, bytes * 1e3 / ns }'
}

# The same reports by machsym_report.h, in threads; the best of some rounds.
measure_in_process() # jobs
{
    local best= start end round out
    for round in $(seq "${BENCH_ROUNDS:-3}"); do
        out=$dir/out/in-process-$1-$round
        mkdir -p "$out"
        start=$(date +%s%N)
        "$dir/in_process" "$1" "$dsym" "$out" "$dir"/in/*.crash
        end=$(date +%s%N)
        [ -n "$best" ] && [ $((end - start)) -ge "$best" ] || best=$((end - start))
    done
    diff -r "$dir/out/dsyms-$1-1" "$out"
    cat "$dir"/in/*.crash | wc -c | awk -v jobs="$1" -v ns="$best" -v count="$count" \
        '{ printf "in process\t%d\t%.0f\t%.1f\n", jobs, count * 1e9 / ns, $1 * 1e3 / ns }'
}

"${CC:-cc}" -std=c11 -O2 -D_GNU_SOURCE -I"$root" -o "$dir/in_process" "$root/bench/in_process.c" "$root/build/tool/machsym.o" -pthread
make_reports "$dir/in" 10 "$@"
make_reports "$dir/short" 4 "$@"
mkdir -p "$dir/dsyms"
rm -rf "$dir/dsyms/app.dSYM" # a link would not be followed below a store
cp -R "$dsym" "$dir/dsyms/app.dSYM"
"$us" map build --no-progress --lines=people -o "$dir/maps/app.symmap" "$dsym" >/dev/null 2>&1
for jobs in 1 2; do
    measure dsyms "$jobs" "$dir/in" -d "$dir/dsyms"
    measure_in_process "$jobs"
    measure maps "$jobs" "$dir/in" -d "$dir/maps"
    measure parsed "$jobs" "$dir/short" -d "$dir/none" --no-cache --signature
done
cd "$root"
MACHSYM=$us sh tests/groups.sh | grep 'precision'
