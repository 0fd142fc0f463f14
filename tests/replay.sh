#!/bin/sh
# Runs every seed of fuzz/corpus through its target, without libFuzzer.
. tests/checks
for program in "$B"/replay/*; do
    case $program in *.d | *.o | *.gcda | *.gcno) continue ;; esac
    name=$(basename "$program")
    if out=$($RUN "$program" 2>&1); then
        passed=$((passed + ${out%% *}))
    else
        count 1
        echo "$name: $out"
    fi
done
end
