#!/bin/sh
# Threads of the tool: many reports by eight of them, many addresses by as many as there are. They print what one prints;
# under ThreadSanitizer (make tsan) they share nothing that they should not.
MACHSYM=${MACHSYM:-build/machsym}
bin=tests/fixtures/bin
reports=tests/fixtures/reports
. tests/checks
export XDG_CACHE_HOME="$work/cache"

both() # WHAT COMMAND...: the same from eight threads as from one, and no race
{
    what=$1
    shift
    "$@" -j 1 >"$work/one" 2>"$work/err.one"
    one=$?
    "$@" -j 8 >"$work/eight" 2>"$work/err.eight"
    [ $? -eq $one ] && cmp -s "$work/one" "$work/eight" && cmp -s "$work/err.one" "$work/err.eight" && [ -s "$work/eight" ]
    check "$what"
    ! grep -q Sanitizer "$work/err.eight" || head -n 30 "$work/err.eight"
}

# ---- crash ----

mkdir "$work/in" "$work/wrong" "$work/maps" "$work/half"
for i in 1 2 3; do
    for report in "$reports"/*; do
        cp "$report" "$work/in/$i-$(basename "$report")"
    done
done
echo '{"threads":[' >"$work/in/2-broken.ips"
$MACHSYM map build --no-progress --lines=people -o "$work/maps/demo.symmap" $bin/demo.app.dSYM 2>/dev/null
cp "$work/maps/demo.symmap" "$work/half/demo.symmap"
printf x | dd of="$work/half/demo.symmap" bs=1 seek=700 conv=notrunc 2>/dev/null
cp $bin/inline-arm64-d5-22 "$work/wrong/demo"
printf 'prefix Player = Player SDK\n' >"$work/rules"
dsym="-d $bin/demo.app.dSYM -d $bin/demo"
both "reports by dSYM and binary" $MACHSYM crash --no-cache $dsym "$work"/in/*
both "reports by a map" $MACHSYM crash --no-cache -d "$work/maps" "$work"/in/*
both "reports by a damaged map and a dSYM" $MACHSYM crash --no-cache -d "$work/half" $dsym "$work"/in/*
both "reports without their dSYM" $MACHSYM crash --no-cache -d "$work/wrong" --missing=json "$work"/in/*
both "owners, redacted" $MACHSYM crash --no-cache $dsym --owners "$work/rules" --redact-key words "$work"/in/*
both "groups" $MACHSYM crash --no-cache $dsym --group "$work"/in/*
both "summaries past a limit" $MACHSYM crash --no-cache $dsym --summary --limit ,0.004 "$work"/in/*
rm -rf "$work/d1" "$work/d8"
$MACHSYM crash -q --no-cache $dsym -j 1 -o "$work/d1" "$work"/in/* 2>/dev/null
$MACHSYM crash -q --no-cache $dsym -j 8 -o "$work/d8" "$work"/in/* 2>"$work/err"
diff -r "$work/d1" "$work/d8" >/dev/null && ! grep -q Sanitizer "$work/err"
check "a folder of reports"

# ---- atos ----

# Enough addresses for several threads. Some are no addresses.
for file in $bin/demo.app.dSYM "$work/maps/demo.symmap" $bin/inline-arm64-d5-22; do
    seq 0 19999 | awk '{ printf $1 % 997 == 5 ? "zork%d\n" : "0x10000%04x\n", ($1 * 7) % 16384 }' >"$work/addresses"
    $MACHSYM atos -o "$file" -i <"$work/addresses" >"$work/many" 2>"$work/err"
    check "addresses of $file by threads"
    ! grep -q Sanitizer "$work/err"
    check "no race" "$work/err"
    # a thread's stack is larger than all that the process may have; sanitizers take more than that themselves
    if { (ulimit -s 16000000 && ulimit -v 8000000 && $MACHSYM --version) >"$work/log" 2>&1; } 2>/dev/null; then
        (ulimit -s 16000000 && ulimit -v 8000000 && $MACHSYM atos -o "$file" -i <"$work/addresses") 2>"$work/err" |
            cmp -s - "$work/many" && [ ! -s "$work/err" ]
        check "the same where no thread can be made" "$work/err"
    else
        skip "little memory: this build does not start with it"
    fi
    split -l 4000 "$work/addresses" "$work/part."
    for part in "$work"/part.*; do
        $MACHSYM atos -o "$file" -i -f "$part"
    done >"$work/few" 2>/dev/null
    cmp -s "$work/few" "$work/many" && [ "$(wc -l <"$work/many")" -gt 20000 ]
    check "and by one"
    rm -f "$work"/part.*
done

end
