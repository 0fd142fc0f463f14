#!/bin/bash
# The table of surroundings: every command on a full disk, into a closed pipe, on half a file, of a wrong UUID, without
# permission or memory, killed at every step, twice at once, beside files that are traps. What each cell expects is the
# rule of machsym.1: 0 all that was asked is done, 1 something failed and is reported, and an output is whole or not there.
# With --table it prints the cells, too. Where SAMPLE is not 1, it tries a third of the limits of memory and of the steps
# to be killed at.
show=$1
bin=$PWD/tests/fixtures/bin
reports=$PWD/tests/fixtures/reports
M=${MACHSYM:-build/machsym}
case $M in /*) ;; *) M=$PWD/$M ;; esac
. tests/checks
shopt -s nullglob dotglob
export LC_ALL=C HOME=$work/home
every=1
[ "${SAMPLE:-1}" -eq 1 ] || every=3
mkdir "$HOME" "$work/in" "$work/symbols"

# A copy that any user may read: the checkout may lie below a folder that only its owner may enter.
dsym=$work/symbols/demo.app.dSYM
cp -r "$bin"/demo.app.dSYM "$dsym"
chmod -R a+rX "$work/symbols"

# Of each command: its name; its input: dsym, binary, map, table, report, ips, chunk, word or cache; the command line, with @I for
# the input, @O for the output and @D for $dsym; of a cache, what is written of it. A command without @I reads standard input.
commands="atos|dsym|atos -o @I 0x100000940
atos, addresses from input|word|atos -o @D
info|dsym|info @I
symbols|dsym|symbols @I
objc|binary|objc @I
owners|binary|owners --between main main @I 0x100000940
demangle|word|demangle
crash|ips|crash -q --no-cache -d @D @I
crash -o FILE|report|crash -q --no-cache -d @D -o @O @I
crash -o FOLDER|report|crash -q --no-cache -d @D -o @O/ @I
crash --summary|ips|crash -q --summary --no-cache -d @D @I
crash --group|ips|crash -q --group --no-cache -d @D @I
map build|dsym|map build -o @O @I
map build --store|dsym|map build --store @O @I
add to a store|dsym|store add @O @I
map lookup|map|map lookup @I 0x100000940
map info|map|map info @I
map dump|map|map dump @I
map verify|map|map verify @I @D
map export|map|map export --format=breakpad @I
map export -o|map|map export --format=breakpad -o @O @I
map import|table|map import -o @O @I
map chunk|chunk|map chunk --base64 0x100000940
keep groups|ips|crash -q --group --no-cache -d @D --groups-out @O @I
json beside a report|ips|crash -q --no-cache -d @D --json-out @O @I"
caches="extract from a cache|cache|cache extract @I Zoo -o @O
map of one in a cache|cache|map build --no-progress --entry Zoo -o @O @I
maps of a cache, a store|cache|map build --no-progress --store @O @I"
if command -v python3 >/dev/null; then
    PYTHONDONTWRITEBYTECODE=1 python3 tests/cache/build.py tests/fixtures/bin/cache "$work/caches" >"$work/out" 2>&1
    check "a shared cache is built" "$work/out"
    mv "$work/caches/ios14/dyld_shared_cache_arm64e" "$work/in/cache"
    rm -r "$work/caches"
    commands="$commands
$caches"
else
    skip "shared caches: it needs python3"
fi

# Not demo.app.dSYM, whose bundle is a folder: surroundings change files.
cp "$dsym/Contents/Resources/DWARF/demo" "$work/in/dsym"
cp "$bin/demo" "$work/in/binary"
cp "$reports/demo.crash" "$work/in/report"
cp "$reports/demo.ips" "$work/in/ips"
echo '0x100000940 _Z1fv' >"$work/in/word"
"$M" map build -o "$work/in/map" "$dsym" >"$work/out" 2>"$work/err" &&
    "$M" map export --format=bugly "$work/in/map" >"$work/in/table" 2>"$work/err" &&
    "$M" map export --chunks=1000000 --format=tsv "$work/in/map" 2>"$work/err" | sed -n '1s/.*	//p' >"$work/in/chunk"
check "inputs are made"
chmod -R a+rX "$work/in"

# ---- Cells ----

# Sets $words to the command line of a row.
words() { # LINE INPUT OUTPUT
    local word
    words=()
    for word in $1; do
        word=${word//@I/$2}
        word=${word//@D/$dsym}
        words+=("${word//@O/$3}")
    done
}

# Runs a command in an empty folder of its own, with what is put before it. Sets $status. $guard ends one that hangs, as a
# trap among its files could make it; $limit is the memory that it gets, in KB.
guard="timeout 20"
limit=
run() { # LINE INPUT OUTPUT COMMAND...
    words "$1" "$2" "$3"
    local stdin=/dev/null
    case $1 in *@I*) ;; *) stdin=$2 ;; esac
    shift 3
    {
        (
            cd "$work/o" || exit
            [ -z "$limit" ] || ulimit -v "$limit"
            # shellcheck disable=SC2086
            exec $guard "$@" "$M" "${words[@]}" <"$stdin"
        ) >"$work/out" 2>"$work/err"
    } 2>/dev/null
    status=$?
}

mkdir "$work/o"
fresh() {
    ! is_left || rm -rf "$work/o"/*
}

# One cell: what came of a run, and what should have. SAID is a regular expression for the first line of standard error;
# empty: nothing is reported.
cell() { # ROW COLUMN STATUS SAID
    local first
    IFS= read -r first <"$work/err"
    first=${first//"$work/"/}
    first=${first//"$PWD/"/}
    [[ $first != *": 6 of 6 maps are made" ]] || first= # what a run over many says in the end
    [ -z "$show" ] || printf '| %-28s | %-28s | %s | %s\n' "$1" "$2" "$status" "${first:0:140}"
    if [ -n "$4" ]; then
        [ "$status" -eq "$3" ] && [[ $first =~ $4 ]]
    else
        [ "$status" -eq "$3" ] && [ -z "$first" ]
    fi
    count $? || echo "failed: $1, $2: status $status, said \"$first\"; not $3, \"$4\""
}

is_left() { # is anything in the folder of outputs?
    local there=("$work/o"/*)
    [ ${#there[@]} -gt 0 ]
}

# No part of an output is there, and nothing that a run left beside it.
nothing_left() { # ROW COLUMN
    local there=
    case "$1, $2" in
    "keep groups, input "* | "keep groups, half"*) return ;; # a state is written of the reports that could be read
    "map"*" cache"*", half a file") return ;;                # of images that the half has whole
    "json beside a report, half a file") return ;;           # cut_at tells where the report ends
    esac
    ! is_left || there=$(find "$work/o" ! -type d | head -n 3)
    [ -z "$there" ]
    check "$1, $2: nothing is left: $there"
}

rows() { # FUNCTION: called for each row with its name, kind of input, line
    local name kind line
    while IFS='|' read -r name kind line; do
        "$1" "$name" "$kind" "$line"
    done <<END
$commands
END
}

has_output() {
    case $1 in *@O*) return 0 ;; *) return 1 ;; esac
}

# ---- Where output goes ----

usual() {
    fresh
    run "$3" "$work/in/$2" out
    cell "$1" "usual" 0 ''
    ! has_output "$3" || [ -n "$(find "$work/o" -type f)" ]
    check "$1: writes its output"
}
rows usual

full() {
    has_output "$3" && return
    fresh
    (cd "$work/o" && words "$3" "$work/in/$2" out && exec "$M" "${words[@]}" <"$work/in/$2") >/dev/full 2>"$work/err"
    status=$?
    cell "$1" "full disk" 1 '^machsym: standard output: No space left on device$'
}
if [ -w /dev/full ]; then
    rows full
else
    skip "a full disk: no /dev/full"
fi

# A disk that is full for outputs, too, where one can be mounted.
full_output() {
    has_output "$3" || return
    run "$3" "$work/in/$2" "$work/full/out"
    cell "$1" "full disk" 1 '^machsym: .*No space left on device$'
    [ -z "$(find "$work/full" -type f ! -name filler)" ]
    check "$1, full disk: nothing is left"
    [[ $1 != "maps of a cache"* ]] || { [ "$(wc -l <"$work/err")" -eq 2 ] && grep -q 'the disk is full: 6 of 6 images have no map$' "$work/err"; }
    check "$1, full disk: it is reported once" "$work/err"
}
mkdir "$work/full"
if mount -t tmpfs -o size=16k,nr_inodes=20 none "$work/full" 2>"$work/err"; then
    trap 'umount "$work/full"; rm -rf "$work"' EXIT
    head -c 65536 /dev/zero >"$work/full/filler" 2>/dev/null
    fresh
    rows full_output
else
    skip "a full disk: no tmpfs can be mounted"
fi

# The limit goes for standard error as well if that is a file.
limited() {
    fresh
    local stdin=/dev/null
    case $3 in *@I*) ;; *) stdin=$work/in/$2 ;; esac
    words "$3" "$work/in/$2" out
    (cd "$work/o" && ulimit -f 0 && { "$M" "${words[@]}" 2>&1 >"$work/limited" <"$stdin"; echo "status $?"; }) |
        cat >"$work/err"
    status=$(sed -n 's/^status //p' "$work/err")
    sed -i '/^status /d' "$work/err"
    cell "$1" "file size limit" 1 '^machsym: .*File too large$'
    nothing_left "$1" "file size limit"
}
: >"$work/limited"
rows limited

closed() {
    fresh
    words "$3" "$work/in/$2" out
    (cd "$work/o" && trap '' PIPE && sleep 0.05 && "$M" "${words[@]}" <"$work/in/$2" 2>"$work/err"
        echo $? >"$work/status") | :
    status=$(cat "$work/status")
    cell "$1" "closed pipe" 0 ''
}
rows closed

# ---- What input is ----

trap_of() { # COLUMN FILE STATUS SAID: a row whose input is that file
    column=$1 file=$2 want=$3 said=$4
    rows trap_row
}

trap_row() {
    case $3 in *@I*) ;; *) return ;; esac
    fresh
    run "$3" "$file" out
    cell "$1" "$column" "$want" "$said"
    nothing_left "$1" "$column"
}
mkfifo "$work/fifo"
ln -s /dev/zero "$work/zero"
mkdir "$work/folder"
trap_of "input is a FIFO" "$work/fifo" 1 '^machsym: fifo: a FIFO or a device, not a regular file'
trap_of "input is a link to /dev/zero" "$work/zero" 1 '^machsym: zero: a FIFO or a device, not a regular file'
trap_of "input is a folder" "$work/folder" 1 '^machsym: folder: '
trap_of "input is not there" "$work/none" 1 '^machsym: none: .*No such file or directory'

# Half an upload. A text report or table has no end that could be missing, and passes as a shorter one.
half() {
    case $2 in word | report | table) return ;; esac
    head -c $(($(wc -c <"$work/in/$2") / 2)) "$work/in/$2" >"$work/half"
    fresh
    run "$3" "$work/half" out
    cell "$1" "half a file" 1 '^machsym: (half|standard input): '
    nothing_left "$1" "half a file"
}
rows half

half_symbols() {
    case $1 in crash*) ;; *) return ;; esac
    fresh
    local dsym=$work/half
    run "$3" "$work/in/$2" out
    cell "$1" "half a dSYM" 1 '^machsym: half: cut short: at least [0-9]* bytes are missing'
}
head -c $(($(wc -c <"$work/in/dsym") / 2)) "$work/in/dsym" >"$work/half"
rows half_symbols

# A dSYM of another build where the command line asks for one by its UUID, or the report does.
other=00000000-0000-0000-0000-000000000001
another() {
    local line=$3 dsym=$work/other
    case $1 in
    crash* | 'map verify') ;;
    atos* | info | symbols | objc | owners | 'map build'* | 'map lookup') line="$3 --uuid $other" ;;
    *) return ;;
    esac
    case $line in *@I*) ;; *) return ;; esac
    fresh
    run "${line/ -q/}" "$work/in/$2" out
    case $1 in
    # what has no symbols is reported, and no failure
    crash*) cell "$1" "wrong UUID" 0 'other|missing' && grep -q '4C4C44B5-5555-3144-A1BA-79CA685DEC58' "$work/err" "$work/out" ;;
    *) cell "$1" "wrong UUID" 1 '^machsym: .*UUID' ;;
    esac
    check "$1: names the UUID"
}
cp "$bin/inline-arm64-d4-14.dwarf" "$work/other"
rows another

# Whatever memory there is: all of the answer, or a message and a status that is not 0.
memory() {
    local limits=(6000 7000 8000 8500 9000 9500 10000 10500 11000 12000 13000 14000 16000) i silent=
    fresh
    run "$3" "$work/in/$2" out
    cp "$work/out" "$work/want"
    for ((i = 0; i < ${#limits[@]}; i += every)); do
        limit=${limits[i]}
        fresh
        run "$3" "$work/in/$2" out
        [ $status -eq 0 ] && cmp -s "$work/want" "$work/out" && continue
        [ $status -ne 0 ] && [ $status -lt 124 ] && [ -s "$work/err" ] && continue
        silent="$silent $limit:$status"
    done
    limit=
    status=0
    printf '%s' "${silent:+silent, or killed, at $silent}" >"$work/err"
    cell "$1" "all, or said: 6 to 16 MB" 0 ''
}
if { (ulimit -v 20000; "$M" --version) >"$work/out" 2>&1; } 2>/dev/null; then
    guard= # nothing to wait for
    rows memory
    guard="timeout 20"
else
    skip "little memory: this build does not start with it"
fi

# ---- What lies beside the input ----

# A binary whose dSYM, and a program whose object file, is a trap. Answers come from the file itself.
beside() {
    case $2 in binary | dsym) ;; *) return ;; esac
    local trap
    fresh
    mkdir "$work/beside"
    cp "$work/in/binary" "$work/beside/demo"
    run "$3" "$work/beside/demo" out
    cp "$work/out" "$work/want"
    for trap in fifo zero folder; do
        fresh
        cp -P -r "$work/$trap" "$work/beside/demo.dSYM" 2>"$work/err" || mkfifo "$work/beside/demo.dSYM"
        run "$3" "$work/beside/demo" out
        cell "$1" "$trap in the dSYM's place" 0 ''
        cmp "$work/want" "$work/out"
        check "$1, $trap in the dSYM's place: the same answers"
        rm -r "$work/beside/demo.dSYM"
    done
    rm -r "$work/beside"
}
rows beside

objects() {
    local trap
    [ "$2" = dsym ] || return
    mkdir "$work/beside"
    cp "$bin/map-arm64-d4-O0/program" "$work/beside/"
    for trap in fifo zero folder; do
        fresh
        mkdir "$work/o/map-arm64-d4-O0"
        cp -P -r "$work/$trap" "$work/o/map-arm64-d4-O0/main.o" 2>"$work/err" ||
            mkfifo "$work/o/map-arm64-d4-O0/main.o"
        cp "$bin/map-arm64-d4-O0/libutil.a" "$work/o/map-arm64-d4-O0/"
        run "${3/0x100000940/0x100000448}" "$work/beside/program" out
        case $1 in
        atos | 'map build'* | *store) cell "$1" "$trap in an object file's place" 0 'main.o: ' ;;
        *) cell "$1" "$trap in an object file's place" 0 '' ;;
        esac
    done
    rm -r "$work/beside"
}
rows objects

# Folders of symbols with traps in them, and an index in the cache that is one.
store() {
    case $1 in crash*) ;; *) return ;; esac
    local dsym=$work/store line=$3 trap
    fresh
    rm -rf "$work/store" "$work/cache"
    mkdir -p "$work/store/folder.dSYM" "$work/store/a/b" "$work/cache/machsym"
    cp -r "$work/symbols/demo.app.dSYM" "$work/store/a/b"
    for trap in one.dSYM two.symmap three.dwarf four.bcsymbolmap five 00000000-0000-0000-0000-000000000001; do
        mkfifo "$work/store/$trap"
        ln -s /dev/zero "$work/store/z$trap"
    done
    ln -s .. "$work/store/a/b/up"
    ln -s self "$work/store/self"
    echo trap >"$work/store/x.symmap"
    head -c 4000 "$work/in/dsym" >"$work/store/half.dwarf"
    run "$line" "$work/in/$2" out
    local empty='^machsym: store/folder.dSYM: the dSYM has no debug info: Contents/Resources/DWARF is missing$'
    cell "$1" "traps in the store" 0 "$empty"
    cp "$work/out" "$work/want"
    for trap in none fifo zero folder; do
        fresh
        export XDG_CACHE_HOME=$work/cache
        run "${line/--no-cache /}" "$work/in/$2" out
        unset XDG_CACHE_HOME
        cell "$1" "$trap in the index's place" 0 "$empty"
        cmp "$work/want" "$work/out"
        check "$1, $trap in the index's place: the same answers"
        index=$(find "$work/cache/machsym" ! -type d | head -n 1)
        [ -f "$index" ] || [ $trap = folder ]
        check "$1: an index is written"
        rm -r "$work/cache/machsym"
        mkdir "$work/cache/machsym"
        case $trap in
        none) mkfifo "$index" ;;
        fifo) ln -s /dev/zero "$index" ;;
        zero) mkdir "$index" ;;
        esac
    done
}
rows store

# What another user (of root: an account without rights) may not read or write.
forbidden() {
    fresh
    chmod 777 "$work/o"
    # shellcheck disable=SC2086
    run "$3" "$work/secret" out $nobody
    case $3 in
    *@I*) cell "$1" "input of another user" 1 '^machsym: secret: .*Permission denied' ;;
    esac
    nothing_left "$1" "input of another user"
}
# All that the report asks for is found beside a file that cannot be read: that is reported, and nothing has failed.
forbidden_symbols() {
    case $1 in crash*) ;; *) return ;; esac
    local dsym=$work/store
    fresh
    chmod 777 "$work/o"
    # shellcheck disable=SC2086
    run "$3" "$work/in/$2" out $nobody
    cell "$1" "symbols of another user" 0 '^machsym: store/x.symmap: cannot be read: Permission denied$'
}
forbidden_output() {
    has_output "$3" || return
    fresh
    chmod 755 "$work/o"
    # shellcheck disable=SC2086
    run "$3" "$work/in/$2" out $nobody
    cell "$1" "folder of another user" 1 '^machsym: .*Permission denied: name a place that you may write to$'
    nothing_left "$1" "folder of another user"
}
# In a folder for all, as /tmp is, no user replaces another's file.
others_output() {
    has_output "$3" || return
    case $1 in *FOLDER | *store) return ;; esac
    fresh
    echo mine >"$work/o/out"
    chmod 1777 "$work/o"
    # shellcheck disable=SC2086
    run "$3" "$work/in/$2" out $nobody
    cell "$1" "output of another user" 1 '^machsym: (in/report: )?out: Operation not permitted$'
    [ "$(cat "$work/o/out")" = mine ] && [ "$(find "$work/o" -type f)" = "$work/o/out" ]
    check "$1, output of another user: stays, and nothing is left"
}
if need_nobody "no permission"; then
    cp "$work/in/dsym" "$work/secret"
    rm -rf "$work/store"
    mkdir -p "$work/store"
    cp -r "$dsym" "$work/store"
    echo secret >"$work/store/x.symmap"
    chmod 0 "$work/secret" "$work/store/x.symmap"
    plain=$M
    cp "$M" "$work/machsym"
    M=$work/machsym
    rows forbidden
    rows forbidden_symbols
    if [ -n "$nobody" ]; then # others' folders and files, which only root can make
        rows forbidden_output
        rows others_output
    fi
    chmod 755 "$work/o"
    M=$plain
fi

# ---- Outputs whose name is taken ----

taken() {
    has_output "$3" || return
    case $1 in *FOLDER | *store) return ;; esac
    fresh
    mkdir "$work/o/out"
    run "$3" "$work/in/$2" out
    case $1 in
    crash*) cell "$1" "output is a folder" 0 '' ;; # the report goes into it
    *) cell "$1" "output is a folder" 1 '^machsym: out: a folder: name a file, which may lie in it$' ;;
    esac
    fresh
    mkfifo "$work/o/out"
    run "$3" "$work/in/$2" out
    cell "$1" "output is a FIFO" 1 '^machsym: (in/report: )?out: a pipe that has no reader$'
    fresh
    ln -s /dev/full "$work/o/out"
    run "$3" "$work/in/$2" out
    cell "$1" "output is a link to /dev/full" 1 '^machsym: (in/report: )?out: No space left on device$'
    fresh
    echo mine >"$work/o/other"
    ln -s other "$work/o/out"
    run "$3" "$work/in/$2" out
    cell "$1" "output is a link to a file" 0 ''
    [ "$(cat "$work/o/other")" = mine ] && [ ! -L "$work/o/out" ]
    check "$1: a link is replaced, not written through"
}
rows taken

# Where the output is the input, the input stays.
own_input() {
    case $1 in *FOLDER | *store) return ;; esac
    case $3 in *@I*@O* | *@O*@I*) ;; *) return ;; esac
    fresh
    cp "$work/in/$2" "$work/o/out"
    run "$3" "$work/o/out" out
    cell "$1" "output is the input" 1 '^machsym: out: is the input, which would be gone: name another output$'
    cmp "$work/in/$2" "$work/o/out"
    check "$1: the input is as it was"
}
rows own_input

# Names in the output's folder as temporary files have them. They are neither written through nor removed.
temporary() {
    has_output "$3" || return
    fresh
    mkdir -p "$work/o/out/.machsym-3-1.tmp"
    case $1 in *FOLDER) ;; *) rmdir "$work/o/out/.machsym-3-1.tmp" "$work/o/out" ;; esac
    mkfifo "$work/o/.machsym-1-1.tmp"
    ln -s /dev/zero "$work/o/.machsym-2-1.tmp"
    mkdir "$work/o/.machsym-3-1.tmp"
    run "$3" "$work/in/$2" out
    cell "$1" "traps as temporary files" 0 ''
    [ "$(find "$work/o" -maxdepth 1 -name '.machsym-*' | wc -l)" -eq 3 ]
    check "$1: traps as temporary files stay as they are"
}
rows temporary

# ---- Twice at once; killed ----

# What a command writes when nothing happens to it, in $work/whole.
make_whole() {
    fresh
    run "$3" "$work/in/$2" out
    rm -rf "$work/whole"
    cp -r "$work/o" "$work/whole"
}

twice() {
    has_output "$3" || return
    make_whole "$@"
    fresh
    words "$3" "$work/in/$2" out
    case $1 in *FOLDER) words+=(--force) ;; esac
    pids=
    for i in 1 2 3 4; do
        (cd "$work/o" && exec "$M" "${words[@]}") >"$work/out.$i" 2>"$work/err.$i" &
        pids="$pids $!"
    done
    status=0
    for pid in $pids; do wait "$pid" || status=$?; done
    cat "$work"/err.[1-4] >"$work/err"
    cell "$1" "four at once" 0 ''
    diff -r "$work/whole" "$work/o"
    check "$1: four at once write one whole output"
}
rows twice

killed() {
    has_output "$3" || return
    make_whole "$@"
    local old at broken=
    case $1 in *FOLDER) set -- "$1" "$2" "$3 --force" ;; esac
    for old in no yes; do
        for ((at = 1; at < 200; at += every)); do
            fresh
            [ -d "$work/o/${written%/*}" ] || mkdir -p "$work/o/${written%/*}"
            [ $old = no ] || echo old >"$work/o/$written"
            KILL_AT=$at LD_PRELOAD=$work/killer.so run "$3" "$work/in/$2" out
            [ $status -eq 0 ] && break
            if [ -e "$work/o/$written" ] && ! cmp -s "$work/o/$written" "$work/whole/$written"; then
                [ $old = yes ] && [ "$(<"$work/o/$written")" = old ] || broken="$broken $old:$at"
            fi
            [ $old = no ] || [ -e "$work/o/$written" ] || broken="$broken gone:$at"
            run "$3" "$work/in/$2" out
            [ $status -eq 0 ] && diff -r "$work/whole" "$work/o" >"$work/diff" || broken="$broken after:$at"
        done
        [ $at -gt 10 ] && [ $at -lt 200 ]
        check "$1, killed: $at steps"
    done
    printf '%s' "${broken:+not whole, or left something, at$broken}" >"$work/err"
    cell "$1" "killed at each of $((at - 1)) steps" 0 ''
}
killed_row() {
    has_output "$3" || return
    make_whole "$@"
    written=$(cd "$work/o" && find . -type f | sort | head -n 1)
    killed "$@"
}
fresh
${CC:-cc} -shared -fPIC -o "$work/killer.so" tests/killer.c -ldl 2>"$work/err"
{ KILL_AT=1 LD_PRELOAD=$work/killer.so "$M" map build -o "$work/o/out" "$dsym" >"$work/out" 2>&1; } 2>"$work/err"
if [ $? -eq 137 ]; then
    guard= # nothing to wait for
    rows killed_row
else
    skip "killed at every step: this build takes no library before its own"
fi

# ---- Power cuts ----

# A file is safe after its own fsync, and its name after one of its folder (fsync(2)): the first comes before the name, the second
# after it.
is_safe() # WHAT OUTPUT OPTION...: of a map, written as -o OUTPUT in the folder $work/safe
{
    what=$1
    output=$2
    shift 2
    rm -f "$work/log"
    (cd "$work/safe" && SYNC_LOG=$work/log LD_PRELOAD=$work/killer.so "$M" map build "$@" -o "$output" "$dsym") >"$work/out" 2>&1
    awk '{ path = $0; sub(/^[a-z]* /, "", path) }
        $1 == "fsync" { synced[path] = NR }
        $1 == "rename" && synced[path] == 0 { print path " has its name before it is safe" }
        $1 == "is" { folder = path; sub(/\/[^\/]*$/, "", folder); named[path] = NR; of[path] = folder }
        END {
            for (path in named) {
                count++
                if (synced[of[path]] < named[path]) print "the folder of " path " is not safe"
            }
            if (count != 1) print count + 0 " files got their names"
        }' "$work/log" >"$work/err" 2>&1
    [ ! -s "$work/err" ]
    check "a power cut: $what" "$work/err"
}
mkdir -p "$work/safe/a b/c"
(cd "$work/safe" && SYNC_LOG=$work/log LD_PRELOAD=$work/killer.so "$M" map build -o first "$dsym") >"$work/out" 2>&1
if [ -s "$work/log" ]; then
    is_safe "a file here" x.symmap
    is_safe "a file in a folder" "a b/x.symmap"
    is_safe "a file in a folder of a folder" "a b/c/x.symmap"
    is_safe "a path from the top" "$work/safe/y.symmap"
    is_safe "a file that was there" x.symmap
else
    skip "killed at every step: power cuts, too: this build takes no library before its own"
fi

end
