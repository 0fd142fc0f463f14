#!/bin/sh
# Big-endian (PowerPC) Mach-O: every command that opens a file says what it is, and beside such a slice the others work.
. tests/checks
machsym=${MACHSYM:-build/machsym}
bin=$PWD/tests/fixtures/bin

be32() { # NUMBER: four bytes, the most significant first
    # shellcheck disable=SC2059 # it is a format
    printf "\\$(printf %03o $(($1 >> 24 & 255)))\\$(printf %03o $(($1 >> 16 & 255)))\\$(printf %03o $(($1 >> 8 & 255)))\\$(printf %03o $(($1 & 255)))"
}
numbers() {
    for number in "$@"; do be32 "$number"; done
}
padded() { # SIZE: standard input, with zeros after it
    { cat && head -c "$1" /dev/zero; } | head -c "$1"
}
ppc() { # MAGIC CPUTYPE: a dSYM that has a UUID
    numbers "$1" "$2" 0 10 1 24 0
    [ "$1" = 0xfeedface ] || be32 0
    numbers 0x1b 24 0x11111111 0x22222222 0x33333333 0x44444444
}
x86=$bin/inline-x86_64-d4-22.dwarf
size=$(wc -c <"$x86")
ppc 0xfeedface 18 | padded 4096 >"$work/ppc"
ppc 0xfeedfacf 0x1000012 | padded 4096 >"$work/ppc64"
{
    numbers 0xcafebabe 2 18 0 4096 4096 12 0x1000007 3 8192 "$size" 12 | padded 4096
    cat "$work/ppc" "$x86"
} >"$work/first"
{
    numbers 0xcafebabe 2 0x1000007 3 8192 "$size" 12 0x1000012 0 4096 4096 12 | padded 4096
    cat "$work/ppc64" "$x86"
} >"$work/last"
{
    numbers 0xcafebabe 2 18 0 4096 4096 12 0x1000012 0 8192 4096 12 | padded 4096
    cat "$work/ppc" "$work/ppc64"
} >"$work/both"
mkdir -p "$work/P.dSYM/Contents/Resources/DWARF"
cp "$work/ppc" "$work/P.dSYM/Contents/Resources/DWARF/P"

says() { # WHAT STATUS TEXT COMMAND...: what standard error says
    what=$1
    status=$2
    text=$3
    shift 3
    "$machsym" "$@" >"$work/out" 2>"$work/err" </dev/null
    [ $? -eq "$status" ] && if [ -n "$text" ]; then grep -qF "$text" "$work/err"; else [ ! -s "$work/err" ]; fi
    check "$what: $*" "$work/err"
}
refuses="a big-endian (PowerPC) image; only little-endian ones are read (Mach-O header, offset "
for file in ppc ppc64 both P.dSYM; do
    path=$work/$file
    for command in info "info --quick" "info --json" symbols objc owners "map build -o $work/m.symmap" "map build --all-archs" \
        "store add $work/kept" "map build --store $work/maps"; do
        says "$file" 1 "$path: $refuses" $command "$path" # a command and its options are words
    done
    says "$file" 1 "$path: $refuses" atos -o "$path" 0x1000
    says "$file" 1 "$path: $refuses" atos -arch ppc -o "$path" 0x1000
    says "$file, another architecture" 1 "$path: $refuses" atos -arch arm64 -o "$path" 0x1000
done
[ ! -e "$work/m.symmap" ] && [ -z "$(find "$work/kept" "$work/maps" -type f -name '*.symmap' 2>/dev/null)" ]
check "nothing is written"
left="a slice is left out: $refuses"
want='scan(shape::Box<int> const*, int) (in '
for file in first last; do
    path=$work/$file
    says "the other slice of $file" 0 "" atos -o "$path" 0x1000007f0
    grep -qF "$want" "$work/out"
    check "it answers" "$work/out"
    says "$file, by name" 0 "" atos -arch x86_64 -o "$path" 0x1000007f0
    says "$file, PowerPC" 1 "$path: $refuses" atos -arch "$([ $file = first ] && echo ppc || echo ppc64)" -o "$path" 0x1000007f0
    says "$file, what it has not" 1 "for architecture arm64" atos -arch arm64 -o "$path" 0x1000
    ! grep -q PowerPC "$work/err"
    check "that is not because of PowerPC" "$work/err"
    says "$file, another UUID" 1 "$path: UUID 4C4C44B5-5555-3144-A1BA-79CA685DEC58 was asked for; the file holds" \
        symbols --uuid 4C4C44B555553144A1BA79CA685DEC58 "$path"
    says "$file" 0 "$path: $left" info --quick "$path"
    grep -q '^x86_64 DSYM' "$work/out"
    check "info tells of the other" "$work/out"
    says "$file" 0 "$path: $left" store add "$work/store-$file" "$path"
    says "$file" 0 "$path: $left" map build --all-archs --store "$work/maps-$file" "$path"
    says "$file" 0 "" map build -o "$work/$file.symmap" "$path"
    says "$file" 0 "" symbols "$path"
done
cmp "$work/first.symmap" "$work/last.symmap" >"$work/err" || [ "$("$machsym" map lookup "$work/first.symmap" 0x1000007f0 | cut -d '(' -f 1)" = scan ]
check "its map answers"
end
