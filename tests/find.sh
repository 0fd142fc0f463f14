#!/bin/bash
# machsym find: the addresses of functions and of lines, with inlined copies. The truth is the reverse: the source of demo.app says
# what is inlined where, and llvm-symbolizer finds at each address that is told the function and the line that was asked for.
. tests/checks
machsym=${MACHSYM:-build/machsym}
bin=tests/fixtures/bin
dsym=$bin/demo.app.dSYM

finds() { # WHAT COUNT WORD [OPTION...]
    what=$1 count=$2 word=$3
    shift 3
    $machsym find "$@" $dsym "$word" >"$work/out" 2>"$work/err"
    got=$(wc -l <"$work/out")
    [ "$got" -eq "$count" ]
    check "$what: $got runs, not $count" "$work/out"
}

finds "a real function" 1 "-[Player skip:]"
grep -qx '0x100000a94-0x100000af0  -\[Player skip:\] (player.mm:19)' "$work/out"
check "a real function: from where to where" "$work/out"
finds "by its last part" 4 at
cp "$work/out" "$work/at"
for word in 'Queue<int>::at' 'Queue<int>::at(int)' _ZN5QueueIiE2atEi 'Queue<int>::a*' queue.hpp:13 demo/queue.hpp:13 /fixtures/demo/queue.hpp:13; do
    finds "$word" 4 "$word"
    cmp -s "$work/at" "$work/out"
    check "$word: the same runs" "$work/out"
done
grep -q 'inlined into -\[Player play:\]' "$work/at" && grep -q 'inlined into -\[Player skip:\]' "$work/at"
check "both callers" "$work/at"
for word in nothing ueue.hpp:13 queue.hpp:1 a 'Queue<int>' 'at('; do
    $machsym find $dsym "$word" >"$work/out" 2>"$work/err"
    [ $? -eq 1 ] && [ ! -s "$work/out" ] && [ -s "$work/err" ]
    check "'$word' is nowhere, and that is reported" "$work/out"
done
# The runs of all that begin so are those of each: a gap in one copy stays a gap while another copy is open.
finds "all of a class" 7 'Queue<int>::*'
sort "$work/out" >"$work/all"
for word in 'Queue<int>::at' 'Queue<int>::drop'; do
    $machsym find $dsym "$word"
done | sort | diff - "$work/all" >"$work/out"
check "all of a class: the runs of its functions" "$work/out"
$machsym find $bin/inline-x86_64-d4-22.dwarf 'm*' | sort >"$work/all"
sed 's/^[^ ]*  //; s/ (.*//' "$work/all" | sort -u >"$work/names"
while IFS= read -r word; do
    $machsym find $bin/inline-x86_64-d4-22.dwarf "$word"
done <"$work/names" | sort | diff - "$work/all" >"$work/out"
[ ! -s "$work/out" ] && [ "$(wc -l <"$work/names")" -gt 1 ]
check "all that begin with m: the runs of each" "$work/out"
finds "JSON of an inlined copy" 4 'Queue<int>::at' --json
[ "$(grep -c '"inline":true,"into":"-\[Player' "$work/out")" -eq 4 ]
check "JSON: what is inlined, into what" "$work/out"
finds "JSON of a function" 1 '-[Player skip:]' --json
grep -q '"inline":false,"into":null' "$work/out"
check "JSON: a function is inlined into none" "$work/out"
# The last part of a name is not what stands in its brackets.
$machsym find tests/real/crash-x86_64.dwarf 'ReadImageInfo<google_breakpad::MachO64>' >"$work/out" 2>"$work/err"
[ $? -eq 0 ] && grep -q 'google_breakpad::ReadImageInfo<' "$work/out"
check "the last part of a template's name" "$work/err"
for word in 'MachO64>' 'MachO64>(google_breakpad::DynamicImages&, unsigned long long)' ages.cc:1; do
    $machsym find tests/real/crash-x86_64.dwarf "$word" >"$work/out" 2>&1
    [ $? -eq 1 ]
    check "'$word' is no name" "$work/out"
done
$machsym map build --no-progress -o "$work/demo.symmap" --lines=dwarf $dsym >/dev/null 2>&1
$machsym find "$work/demo.symmap" at >"$work/out" 2>"$work/err"
cmp -s "$work/at" "$work/out"
check "a map answers alike" "$work/err"
$machsym find $dsym >"$work/out" 2>&1
[ $? -eq 2 ]
check "no name is named"
$machsym find $dsym '' >"$work/out" 2>&1
[ $? -eq 2 ]
check "an empty name"

symbolizer=llvm-symbolizer-22
if ! need "each address that is told, against the symbolizer" $symbolizer python3; then
    end
    exit
fi
# All functions and lines of a file, asked for one by one; at the begin and at the last byte of each run that is told the symbolizer has
# the function, or the line.
cat >"$work/reverse.py" <<'END'
import json, subprocess, sys
tool, symbolizer, file = sys.argv[1:]

def lines(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.splitlines()

ranges = [json.loads(line) for line in lines(tool, 'map', 'dump', '--json', file + '.symmap')]
frames = [frame for one in ranges for frame in one['frames'] if frame['line_source'] == 'dwarf' and frame['file']]
names = sorted({frame['linkage_name'] for frame in frames if frame.get('linkage_name')})[:60]
places = sorted({'%s:%d' % (frame['file'], frame['line']) for frame in frames if frame['line']})[:60]
asked = []
for word in names + places:
    for line in lines(tool, 'find', '--json', file, word):
        found = json.loads(line)
        for address in (int(found['address'], 16), int(found['end'], 16) - 1):
            asked.append((word, address))
truth = subprocess.run([symbolizer, '--obj=' + file, '-i', '--functions=linkage', '--no-demangle', '--output-style=JSON'], text=True,
                       input=''.join('0x%x\n' % address for _, address in asked), stdout=subprocess.PIPE).stdout
answers = [json.loads(line) for line in truth.splitlines() if line]
answers = [one for answer in answers for one in (answer if isinstance(answer, list) else [answer])]
wrong = 0
for (word, address), answer in zip(asked, answers):
    symbols = answer['Symbol']
    has = {s['FunctionName'].lstrip('_') for s in symbols} | {'%s:%d' % (s['FileName'], s['Line']) for s in symbols}
    if word.lstrip('_') not in has:
        wrong += 1
        print('%s at 0x%x: %s' % (word, address, sorted(has)))
print('%d runs asked, %d wrong' % (len(asked) // 2, wrong))
sys.exit(wrong > 0 or len(asked) < 20 or len(answers) != len(asked))
END
for file in demo.app.dSYM/Contents/Resources/DWARF/demo zoo-x86_64-d5-22.dwarf cross-arm64-d5-22.dwarf inline-x86_64-d5-O0-22.dwarf; do
    cp "$bin/$file" "$work/file"
    $machsym map build --no-progress --columns --lines=dwarf -o "$work/file.symmap" "$work/file" >/dev/null 2>&1
    python3 "$work/reverse.py" "$machsym" "$symbolizer" "$work/file" >"$work/out" 2>&1
    check "$file: every run that is told, against the symbolizer" "$work/out"
done
end
