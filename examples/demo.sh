#!/bin/sh
# make demo: the stack of a crash in the program of tests/fixtures/bin/demo.app.dSYM, first as the device wrote it, then as
# machsym answers it. The device names the image and an address, nothing else.
dsym=tests/fixtures/bin/demo.app.dSYM
report=tests/fixtures/reports/demo.crash
tool=${MACHSYM:-build/machsym}

# The frames of the crashed thread.
crashed() { sed -n '/^Thread [0-9]* Crashed:/,/^$/p' | sed '1d;/^$/d'; }

if [ -t 1 ]; then bold=$(printf '\033[1m') plain=$(printf '\033[0m'); else bold='' plain=''; fi
echo "${bold}The crash as it came${plain} ($report):"
crashed <"$report"
echo
echo "${bold}The crash as machsym answers it${plain} (machsym crash -d $dsym $report):"
answer=$($tool crash -q --no-cache -d "$dsym" "$report") || exit 1
printf '%s\n' "$answer" | crashed
