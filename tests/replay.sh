#!/bin/sh
# Runs every seed of fuzz/corpus through its target, without libFuzzer.
. tests/checks
for program in "$B"/replay/*; do
    case $program in *.d | *.o | *.gcda | *.gcno) continue ;; esac
    name=$(basename "$program")
    out=$($RUN "$program" 2>&1)
    case $?:$out in
    0:[1-9]*' passed, 0 failed'*) passed=$((passed + ${out%% *})) ;;
    *) # failed, or said something
        count 1
        echo "$name: $out"
        ;;
    esac
done
end
