#!/bin/bash
# One rule for the options of all commands: each that help tells of takes its value after "=" and as the next
# argument, with one dash or two; what is no option is never taken for a file or an address. Exit status 2: the
# command line.
bin=tests/fixtures/bin
dsym=$bin/demo.app.dSYM
M=${MACHSYM:-build/machsym}
. tests/checks

ok() { # NAME STATUS
    count "$2" || echo "options: $1 failed: $(head -c 300 "$work/err")"
}

# Runs a command, which must end with a status and say a text.
says() { # NAME STATUS TEXT ARGUMENT...
    local name=$1 want=$2 text=$3
    shift 3
    $M "$@" >"$work/out" 2>"$work/err" </dev/null
    local status=$? said
    IFS= read -r -d '' said <"$work/err"
    [ $status -eq "$want" ] && [[ $said == *"$text"* ]]
    ok "$name: status $status" $?
}

commands="atos info crash worker mcp objc symbols owners demangle map-build map-lookup map-info map-dump map-verify
map-export map-import map-chunk store-add store-list store-missing store-gc store-verify"
for command in $commands; do
    words=${command/-/ }
    # shellcheck disable=SC2086
    $M $words --help >"$work/help" 2>"$work/err"
    [ $? -eq 0 ] && [ ! -s "$work/err" ] && grep -q "^usage: machsym $words " "$work/help"
    ok "$words --help" $?
    # shellcheck disable=SC2086
    $M help $words >"$work/out" 2>"$work/err" && cmp -s "$work/help" "$work/out"
    ok "help $words" $?
    # shellcheck disable=SC2086
    says "$words --bogus" 2 "machsym: no such option: --bogus; see machsym $words --help" $words --bogus
    # shellcheck disable=SC2086
    says "$words -bogus=x" 2 "machsym: no such option: -bogus;" $words -bogus=x
    # Every option: without its value it is refused, so it takes one; a flag refuses a value.
    sed -n 's/^  \(-[^ ].*\)/\1/p' "$work/help" | sed 's/  .*//; s/, /\n/g' >"$work/options"
    [ -s "$work/options" ] || [ "$command" = none ]
    ok "$words has options" $?
    while read -r written; do
        name=${written%%[ =]*}
        # shellcheck disable=SC2086
        case $written in
        *[\ =]*) says "$words $name without a value" 2 "$name needs a value" $words "$name" ;;
        *) grep -q -- "$name[ =]" "$work/options" || grep -q -- ", $name[ =]\|$name,.*[a-z]=[A-Z]" "$work/help" ||
            says "$words $name with a value" 2 "$name takes no value" $words "$name=1" ;;
        esac
    done <"$work/options"
done

# Both ways to write a value, one dash or two, and in any order with operands.
$M atos -o $dsym -arch arm64 --lines atos 0x100000940 >"$work/want" 2>"$work/err"
for line in "-o=$dsym -arch=arm64 --lines=atos 0x100000940" "0x100000940 --o $dsym --arch arm64 -lines=atos" \
    "--o=$dsym --arch=arm64 -lines atos -- 0x100000940"; do
    # shellcheck disable=SC2086
    $M atos $line >"$work/out" 2>"$work/err" && [ -s "$work/out" ] && cmp -s "$work/want" "$work/out"
    ok "atos $line" $?
done
$M map build -o "$work/demo.symmap" $dsym >"$work/out" 2>"$work/err"
for jobs in -j2 "-j 2" -j=2 --j=2; do
    # shellcheck disable=SC2086
    $M map build $jobs -o "$work/2.symmap" $dsym >"$work/out" 2>"$work/err" &&
        cmp -s "$work/demo.symmap" "$work/2.symmap"
    ok "map build $jobs" $?
done
# A value that was forgotten does not take the option after it; after "=" it may be called so.
says "a forgotten value" 2 "-o needs a value, FILE;" atos -o -i 0x1000
says "a forgotten value before --name=value" 2 "--arch needs a value, NAME;" atos --arch --o=$dsym 0x1000
says "the second of two values is forgotten" 2 "--between needs a value" owners --between main --json $bin/demo
$M atos -o $dsym -d=-i -i 0x100000aec >"$work/out" 2>"$work/err" && grep -q ')-iQueue' "$work/out"
ok "a value that is the name of an option, after =" $?
$M atos -o $dsym -s -0x1000 0xffffeaec >"$work/out" 2>"$work/err" && grep -q . "$work/out"
ok "a negative number is a value" $?
says "an option of another command" 2 "no such option: --summary" map info --summary "$work/demo.symmap"
says "a slice that is not there" 1 "architecture x86_64" atos --arch=x86_64 -o $dsym 0x100000940
$M info --copy $dsym -- -none >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && grep -q '^machsym: -none: ' "$work/err"
ok "after -- all are files" $?
says "no command" 2 "usage: machsym COMMAND"
says "no such command" 2 "no such command: none" none
says "no such command of map" 2 "no such command: map none" map none
says "help of no command of map" 2 "no such command: map none" help map none
$M help help >"$work/out" 2>"$work/err" && $M --help | cmp -s - "$work/out"
ok "help help" $?
says "help of no command" 2 "no such command: none" help none
says "a process" 2 "-p 12 looks into a running macOS process" atos -p 12
$M -V >"$work/out" && $M --version | cmp -s - "$work/out" && grep -q '^[0-9.]*$' "$work/out"
ok "-V" $?

end
