#!/bin/sh
# Runs every seed of fuzz/corpus through its target, without libFuzzer.
passed=0
failed=0
for program in "$B"/replay/*; do
    case $program in *.d | *.o | *.gcda | *.gcno) continue ;; esac
    name=$(basename "$program")
    if out=$($RUN "$program" 2>&1); then
        passed=$((passed + ${out%% *}))
    else
        failed=$((failed + 1))
        echo "$name: $out"
    fi
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
