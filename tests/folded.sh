#!/bin/sh
# Functions that share their code. The fixtures' truth is their source, and llvm-gsymutil of those whose functions state
# their rows (bin/*.gsym). Then tests/folded.py makes programs and holds sets, lines and decided names of them.
machsym=${MACHSYM:-build/machsym}
. tests/checks

bin=tests/fixtures/bin
src=tests/fixtures/src/folded

# The line of a text in a source, as NAME.c:LINE.
line() # FILE TEXT
{
    echo "$1:$(grep -n -F -- "$2" $src/"$1" | cut -d : -f 1 | head -n 1)"
}

# Where the body of a function begins, below its head.
body() # FILE HEAD
{
    echo "$1:$(($(grep -n -F -- "$2" $src/"$1" | cut -d : -f 1 | head -n 1) + 1))"
}

# The address of a symbol.
at() # FILE SYMBOL
{
    "$machsym" symbols "$bin/$1" | awk -v name="$2" '$0 ~ "(^|[ \t])" name "($|[ \t])" { print $1; exit }'
}

# What a set prints: NAME FILE:LINE of each, sorted.
set_of() # FILE ADDRESS
{
    "$machsym" atos -dedup --lines=dwarf -o "$bin/$1" "$2" | sed 's/ (in [^)]*)//; s/(//; s/)//' | sort
}

widths="get_depth $(body main.c 'int get_depth(')
get_height $(body shape.c 'int get_height(')
get_width $(body shape.c 'int get_width(')"
zeros=$(for i in a b c d e f; do echo "zero_$i $(line shape.c "ZERO($i)")"; done)
for kind in all thunks stated; do
    file=folded-arm64-$kind.dwarf
    for want in "get_width|$widths" "zero_a|$zeros"; do
        [ "$(set_of $file "$(at $file "${want%%|*}")")" = "${want#*|}" ]
        check "$file: the functions of one body and their own lines, ${want%%|*}"
    done
done

# One body, and the same name twice: another unit has a line of its own, and text names it once.
own=$(at folded-arm64-all.dwarf own)
[ "$(set_of folded-arm64-all.dwarf "$own")" = "own $(body main.c 'int own(')
own $(body shape.c 'int own(')" ]
check "functions of the same name in two units have their own lines"
"$machsym" atos --folded -o $bin/folded-arm64-all.dwarf "$own" >"$work/out"
[ "$(cat "$work/out")" = "own (in folded-arm64-all.dwarf) ($(body shape.c 'int own('))" ]
check "text names a name once" "$work/out"

# Text: up to three others by name, more by number. A function by itself is printed as ever.
for want in "get_width|get_height (or get_depth, get_width: one body) (in folded-arm64-all.dwarf) ($(body shape.c 'int get_height('))" \
    "zero_a|zero_f (or 5 others) (in folded-arm64-all.dwarf) ($(line shape.c 'ZERO(f)'))" \
    "log_value|log_value (in folded-arm64-all.dwarf) ($(line main.c 'sink = value;'))"; do
    "$machsym" atos --folded -o $bin/folded-arm64-all.dwarf "$(at folded-arm64-all.dwarf "${want%%|*}")" >"$work/out"
    [ "$(cat "$work/out")" = "${want#*|}" ]
    check "atos --folded of ${want%%|*}" "$work/out"
done

# Without stabs of the folded functions only symbols tell of them: their names are known, lines are not.
"$machsym" atos -dedup -o $bin/folded-arm64-symbols.dwarf "$(at folded-arm64-symbols.dwarf get_width)" >"$work/out"
[ "$(cat "$work/out")" = "get_width (in folded-arm64-symbols.dwarf) ($(body shape.c 'int get_width('))
get_depth (in folded-arm64-symbols.dwarf) + 0
get_height (in folded-arm64-symbols.dwarf) + 0" ]
check "symbols of one address have names and no lines" "$work/out"

# A stack: callers say which function they called, through inlined calls too, and in a stack of functions that all share
# their code. The innermost frame of thread 2 has no caller in the report, the others' names are known by their callers.
stack() # ADDRESS...
{
    "$machsym" atos --stack -o $bin/folded-arm64-all.dwarf "$@" | sed 's/ (in [^)]*)//' >"$work/out"
}
# the return addresses in main, of the calls of area_a, area_b and zeros: llvm-objdump's bl before each
stack 0x100000450 0x100000480 0x100000578
[ "$(cat "$work/out")" = "get_width (shape.c:5)
area_a ($(line shape.c 'get_width(s) * own(s)'))
main ($(line main.c 'area_a(&s)'))" ]
check "area_a calls get_width" "$work/out"
stack 0x100000450 0x100000480 0x100000584
[ "$(cat "$work/out")" = "get_height (shape.c:12)
area_b ($(line shape.c 'int height = through'))
main ($(line main.c 'area_a(&s)'))" ]
check "area_b calls get_height, through an inlined call" "$work/out"
stack 0x100000450 0x100000590
[ "$(cat "$work/out")" = "get_depth ($(line main.c 's->x * 3'))
main ($(line main.c 'get_depth(&s) +'))" ]
check "main calls get_depth" "$work/out"
stack 0x100000450 0x100000480
[ "$(sed 's/ (or/|(or/; s/|.*body)//' "$work/out" | paste -s -d ' ')" = "get_height (shape.c:12) area_b (shape.c:37)" ] &&
    grep -q '^get_height (or get_depth, get_width: one body)' "$work/out" && grep -q '^area_b (or area_a: one body)' "$work/out"
check "a caller that is not known decides nothing" "$work/out"

# crash does it by itself: text, JSON, signatures; not --apple.
report=tests/fixtures/src/folded/folded.crash
names() # OPTION...
{
    "$machsym" crash -q --no-cache -d $bin/folded-arm64-all.dwarf "$@" $report |
        sed -n 's/^[0-9]*  *folded  *0x[0-9a-f]* *\(.*\) + [0-9]* (.*/\1/p' | paste -s -d ';'
}
[ "$(names)" = "get_width;area_a;main;log_value;zero_e;zeros;main;get_height (or get_depth, get_width: one body);zero_f (or 5 others)" ]
check "crash names what callers called" || names
[ "$(names --apple)" = "get_height;area_b;main;log_value;zero_f;zeros;main;get_height;zero_f" ]
check "crash --apple takes each address by itself" || names --apple
"$machsym" crash -q --no-cache --json -d $bin/folded-arm64-all.dwarf $report >"$work/json"
grep -q '"name":"get_width"[^}]*"folded_by":"call-site"}' "$work/json" &&
    grep -q '"name":"get_height"[^}]*"folded":\["get_depth","get_width"\]}' "$work/json" &&
    grep -q '"name":"zero_f"[^}]*"folded":\["zero_a","zero_b","zero_c","zero_d","zero_e"\]}' "$work/json"
check "crash --json has all names, or who decided"
if need "folded functions by the worker" python3; then
    for options in "" "--names=symtab" "--no-demangle" "--lines=dwarf"; do
        # shellcheck disable=SC2086
        "$machsym" crash -q --no-cache --json $options -d $bin/folded-arm64-all.dwarf $report >"$work/json.want"
        python3 -c 'import json, sys; print(json.dumps({"id": 1, "do": "crash", "report": open(sys.argv[1]).read(), "want": ["json"]}))' $report |
            "$machsym" worker $options -d $bin/folded-arm64-all.dwarf >"$work/json.answer" 2>"$work/err"
        python3 - "$work/json.want" "$work/json.answer" >"$work/differ" 2>&1 <<'END'
import json, sys
want, answer = (json.load(open(path)) for path in sys.argv[1:])
got = answer["reports"][0]["json"]
got = json.loads(got) if isinstance(got, str) else got
assert want["threads"] == got["threads"], (want["threads"], got["threads"])
assert any(call.get("folded") or call.get("folded_by") for thread in got["threads"] for frame in thread["frames"] for call in frame["calls"])
END
        check "the worker has what crash has: $options" "$work/differ"
    done
fi

# The signature of an undecided frame is the sorted set, whichever function answers: here from symbols, with another first.
for kind in all symbols; do
    uuid=$("$machsym" info --json $bin/folded-arm64-$kind.dwarf | sed -n 's/.*"uuid":"\([0-9A-F-]*\)".*/\1/p' | tr -d - | tr A-F a-f)
    sed "s/<[0-9a-f]*>/<$uuid>/; s/^0 .*0x0000000100000450.*/0   folded 0x0000000100000450 0x100000000 + 1104/; /^[12]  *folded.*0x00000001000004[8]/d; /0x0000000100000578/d" \
        $report >"$work/$kind.crash"
    "$machsym" crash -q --group --no-cache -d $bin/folded-arm64-$kind.dwarf "$work/$kind.crash" >"$work/$kind.sig" 2>&1
    grep -q 'get_depth or get_height or get_width' "$work/$kind.sig"
    check "folded-arm64-$kind: the signature has the sorted set" "$work/$kind.sig"
done

# llvm-gsymutil: the names of each function's code, and the rows where it has them.
if need "sets of fixtures and gsymutil's" python3; then
    for kind in all thunks stated symbols cpp; do
        python3 tests/folded.py --gsym "$machsym" $bin/folded-arm64-$kind.dwarf $bin/folded-arm64-$kind.gsym >"$work/out"
        check "folded-arm64-$kind: gsymutil has the same sets" "$work/out"
    done
fi

# A jump that safe_thunks left in place of a function. The caller names it, but the code that runs may be the body that it
# jumps to, or what that body jumps to in its turn: each has the name of its own code, and no call site decides.
if need "a jump in place of a function" clang-22 ld64.lld-22 dsymutil-22 llvm-nm-22 llvm-objdump-22; then
    clang-22 --target=arm64-apple-macos13 -O2 -g -gdwarf-5 -faddrsig -c $src/tail.c -o "$work/tail.o" &&
        ld64.lld-22 -arch arm64 -platform_version macos 13 13 -dylib -undefined dynamic_lookup --icf=safe_thunks "$work/tail.o" -o "$work/tail" &&
        dsymutil-22 --flat "$work/tail" -o "$work/tail.dwarf"
    check "tail.c is made"
    llvm-objdump-22 -d --no-show-raw-insn "$work/tail" >"$work/tail.code"
    returns=$(sed -n 's/^ *\([0-9a-f]*\):.*bl.*<_second>$/\1/p' "$work/tail.code")
    grep -A1 '<_second>:$' "$work/tail.code" | grep -q 'b	.*<_first>$' && grep -q 'b	.*<_other>$' "$work/tail.code" && [ -n "$returns" ]
    check "second is a jump to first, which jumps to other" "$work/tail.code"
    for name in first other; do
        pc=$(llvm-nm-22 "$work/tail" | sed -n "s/ T _$name\$//p")
        "$machsym" atos --stack --json -o "$work/tail.dwarf" "0x$pc" "$(printf '0x%x' $((0x$returns + 4)))" >"$work/out"
        [ "$(grep -o '"name":"[a-z]*"' "$work/out" | paste -s -d ' ')" = "\"name\":\"$name\" \"name\":\"main\"" ] && ! grep -q '"folded' "$work/out"
        check "$name is not called second" "$work/out"
    done
fi

# Functions of one body that end in a tail call. The return address stays that of the call that called the first one, so
# where tail calls may lead to the body again, the frame may be another one's: it stays undecided. An unfolded program
# shows that they do: the code jumps from one to the other.
if need "tail calls that come back" clang-22 ld64.lld-22 dsymutil-22 llvm-nm-22 llvm-objdump-22; then
    for version in 4 5; do
        objects=
        for part in 1 2 3 4 5; do
            clang-22 --target=arm64-apple-macos13 -O2 -g -gdwarf-$version -faddrsig -DPART=$part -c $src/turns.c -o "$work/turns$part.o"
            objects="$objects $work/turns$part.o"
        done
        for how in none all "all --keep-icf-stabs"; do
            # shellcheck disable=SC2086
            ld64.lld-22 -arch arm64 -platform_version macos 13 13 -dylib -undefined dynamic_lookup --icf=$how $objects -o "$work/turns" &&
                llvm-objdump-22 -d --no-show-raw-insn "$work/turns" >"$work/turns.code" && llvm-nm-22 "$work/turns" >"$work/turns.nm"
            if [ "$how" = none ]; then
                jumps=$(sed -n 's/^[0-9a-f]* <_\(.*\)>:$/\1/p; s/.*[[:space:]]b[[:space:]].*<_\(.*\)>$/to \1/p' "$work/turns.code" | paste -s -d ' ')
                case $jumps in *"ping to pong left to between "*"pong to ping right to between "*"between to right done to after_done "*) true ;; *) false ;; esac
                check "turns.c: what jumps to what" "$work/turns.code"
                continue
            fi
            dsymutil-22 --flat "$work/turns" -o "$work/turns.dwarf" &&
                "$machsym" map build --no-progress --columns --lines=dwarf -o "$work/turns.symmap" "$work/turns.dwarf" >"$work/out" 2>&1
            check "turns.c is made, DWARF $version, --icf=$how" "$work/out"
            # shellcheck disable=SC2046
            set -- $(sed -n '/<_main>:$/,$s/^ *\([0-9a-f]*\):.*[[:space:]]bl[[:space:]].*/\1/p' "$work/turns.code")
            for want in "ping (or pong: one body)" "left (or right: one body)" last "by_hook (or by_hook_too: one body)" "leaves (or leaves_too: one body)"; do
                pc=$(sed -n "s/ T _${want%% *}\$//p" "$work/turns.nm")
                for file in dwarf symmap; do
                    "$machsym" atos --stack -o "$work/turns.$file" "0x$pc" "$(printf '0x%x' $((0x$1 + 4)))" >"$work/out"
                    [ "$(sed -n '1s/ (in .*//p' "$work/out")" = "$want" ] && sed -n 2p "$work/out" | grep -q '^main (in'
                    check "called ${want%% *}, DWARF $version, --icf=$how, $file" "$work/out"
                done
                shift
            done
        done
    done
fi

# Programs that no test has: another seed each day.
if need "programs made for the day" python3 clang-22 ld64.lld-22 dsymutil-22 llvm-gsymutil-22 llvm-objdump-22 llvm-dwarfdump-22; then
    seed=${SEED:-$(($(date +%s) / 86400))}
    python3 tests/folded.py "${PROGRAMS:-3}" "$seed" "$machsym" "${STACKS:-20}" >"$work/out"
    check "programs of seed $seed" "$work/out"
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
