#!/bin/bash
# The table and the chart of bench/run, and its tool that renames copies; what they show is not measured here.
. tests/checks

{
    printf 'fast\t1\tllvm\t8\ts\t>=4\n'
    printf 'slow\t3\tllvm\t8\ts\t>=4\n'
    printf 'small\t100\tllvm\t1000\tKB\t<=0.2\n'
    printf 'alone\t0.0000002\t\t\ts\t<0.0000001\n'
    printf 'fast\t1\tother\t-\ts\t>=2\n'
    printf 'fast\t1\tthird\t?\ts\t>=2\n'
} > "$work/rows.tsv"

equal() # WHAT VALUE EXPECTED
{
    [ "$2" = "$3" ]
    check "$1: $2"
}

table() # awk-options
{
    awk "$@" -f bench/table.awk "$work/rows.tsv" | tr -s ' '
}

equal "a row has both times and how many times faster" "$(table | sed -n 2p)" "fast 1.00 s llvm 8.00 s 8.00"
equal "a peer that is missing is reported" "$(table | sed -n 6p)" "fast 1.00 s other not installed"
equal "one that answers nothing too" "$(table | sed -n 7p)" "fast 1.00 s third no answers"
equal "without --goals there are none" "$(table | grep -c -e '>=' -e yes -e NO)" 0
equal "with --goals one that is met" "$(table -v goals=1 | sed -n 2p)" "fast 1.00 s llvm 8.00 s 8.00 >=4 yes"
equal "one that is not" "$(table -v goals=1 | sed -n 3p)" "slow 3.00 s llvm 8.00 s 2.66 >=4 NO"
equal "one of at most" "$(table -v goals=1 | sed -n 4p)" "small 100 KB llvm 1000 KB 0.10 <=0.2 yes"
equal "one of our own value" "$(table -v goals=1 | sed -n 5p)" "alone 200 ns under 100 ns NO"

equal "as HTML" "$(table -v html=1 -v goals=1 | sed -n 3p)" '<tr><td class="text">slow</td><td class="number">3.00 s</td>'\
'<td class="text">llvm</td><td class="number">8.00 s</td><td class="number">2.66</td><td class="text">>=4</td><td class="text">NO</td><td class="text"></td></tr>'

printf 'fast\t1\tllvm\t8\ts\t>=4\nless\t40\tllvm\t90\tKB\t<=0.5\nalone\t5\t\t\ts\t-\n' > "$work/rows.1.tsv"
printf 'fast\t2\tllvm\t9\ts\t>=4\nless\t30\tllvm\t90\tKB\t<=0.5\nalone\t7\t\t\ts\t-\n' > "$work/rows.2.tsv"
printf 'fast\t4\tllvm\t7\ts\t>=4\nless\t41\tllvm\t90\tKB\t<=0.5\nalone\t6\t\t\ts\t-\n' > "$work/rows.3.tsv"
runs()
{
    awk -f bench/runs.awk "$work"/rows.[123].tsv | awk -f bench/table.awk | tr -s ' '
}
equal "of separate runs there are medians, and the lowest and highest ratio" "$(runs | sed -n 2p)" \
    "fast 2.00 s llvm 8.00 s 4.00 1.75 to 8.00"
equal "ratios are rounded against us" "$(runs | sed -n 3p)" "less 40 KB llvm 90 KB 0.45 0.34 to 0.46"
equal "values without a peer have a median only" "$(runs | sed -n 4p)" "alone 6.00 s"

chart=$(awk -v keep=fast -v caption="LLVM 22, 2 cores" -f bench/chart.awk "$work/rows.tsv")
equal "the chart says what it was measured with" "$(grep -c 'LLVM 22, 2 cores' <<< "$chart")" 1
equal "bars are in proportion, the longest is 245 wide" \
    "$(sed -n 's/.* width="\([0-9.]*\)" height="11".*/\1/p' <<< "$chart" | tr '\n' ' ')" "30.6 245.0 "

${CC:-cc} -o "$work/rename" bench/rename.c
equal "a copy under other names" "$(printf 'ab_one_ab_two' | "$work/rename" one=uno two=due)" "ab_uno_ab_due"
printf 'x' | "$work/rename" one=three > "$work/out" 2> "$work/err"
equal "names of two lengths are refused" "$?" 1

# The stack that is made longer has 40 frames for another reader of core files, too.
${CC:-cc} -o "$work/unwind" bench/unwind.c
"$work/unwind" tests/stacks/arm64.core "$work/64.core" > "$work/out"
equal "what bench/unwind measures" "$(sed 's/[0-9]*\.[0-9]*/N/g; s/[0-9]* KB/N KB/' "$work/out")" \
    "64 threads of 40 frames: N ms of CPU, N microseconds a frame, N KB of memory more"
equal "its core file has 64 threads of 40 frames" \
    "$("$MACHSYM" crash -q --no-cache --to=json "$work/64.core" | grep -c '"found_by":"\(context\|compact\|eh_frame\)"')" 2560

# bench/plan.py counts the machines of many servers, and simulates them.
if need "bench/plan.py" python3; then
    PYTHONDONTWRITEBYTECODE=1 python3 tests/plan.py > "$work/out" 2>&1
    check "bench/plan.py counts and simulates as theory does" "$work/out"
fi

# The page is one file, with what a reader must know of its figures.
page()
{
    (here=bench dir=$work goals=1 && . bench/page.sh && draw_page "2 cores <fast>, 3 runs")
}
printf '%s\n' "$chart" > "$work/chart.svg"
printf 'large5: is not there\nlarge4: a & b\n' > "$work/left-out"
page > "$work/page.html"
equal "the page has the machine" "$(grep -c '<pre>2 cores &lt;fast>, 3 runs</pre>' "$work/page.html")" 1
equal "the chart" "$(grep -c '^<svg' "$work/page.html")" 1
equal "all rows" "$(grep -c '^<tr><td\|<table><tr><th' "$work/page.html")" 7
equal "and what is left out" "$(sed -n '/<h2>Left out/,$p' "$work/page.html" | tr '\n' ' ')" \
    '<h2>Left out</h2><pre>large4: a &amp; b large5: is not there</pre> </html> '
equal "it asks for no other file" "$(grep -c 'src=\|href=\|url(' "$work/page.html")" 0

mkdir "$work/without" # a compiler that finds no zlib.h
printf '#!/bin/sh\nexit 1\n' > "$work/without/cc"
chmod +x "$work/without/cc"
equal "without zlib.h it is reported what to install" "$(PATH=$work/without:$PATH bench/inflate 2>&1; echo $?)" \
    "bench/inflate: zlib.h is not installed: apt-get install zlib1g-dev
1"
end
