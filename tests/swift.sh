#!/bin/sh
# Package.swift: its module in C is compiled and imported as its settings say; with swift, all is built.
. tests/checks
case "$CFLAGS" in *-fsanitize* | *--coverage*) skip "once is enough, without sanitizers" && end && exit ;; esac
need "the module in C" clang || { end; exit; }
here=bindings/swift
clang -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -fsyntax-only "-I$here/CMachsym/../../.." "$here/CMachsym/flat.c" 2>"$work/log"
check "the C target compiles with the settings of Package.swift" "$work/log"
mkdir "$work/map"
printf 'module CMachsym { umbrella header "%s" export * }\n' "$PWD/$here/CMachsym/include/CMachsym.h" >"$work/map/module.modulemap"
# every function that the Swift calls is one of the module
grep -o 'flat_[a-z_]*(' "$here/Machsym/Machsym.swift" | tr -d '(' | sort -u | grep -vx 'flat_desc\|flat_error' >"$work/names"
{
    echo '@import CMachsym;'
    echo 'flat_desc desc; flat_error err;'
    echo 'void *all[] = {'
    sed 's/.*/(void *)&,/' "$work/names"
    echo '};'
} >"$work/user.m"
[ -s "$work/names" ] && clang -fmodules "-fmodules-cache-path=$work/cache" "-fmodule-map-file=$work/map/module.modulemap" \
    -Werror -fsyntax-only "$work/user.m" 2>"$work/log"
check "clang imports the module, with all that Machsym.swift calls" "$work/log"
if need "the package" swift; then
    swift build --package-path . --scratch-path "$work/swift" >"$work/log" 2>&1
    check "swift builds the package" "$work/log"
fi
end
