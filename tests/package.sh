#!/bin/sh
# The examples, the libraries, `make demo` and `make install` do what the README says.
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
passed=0
failed=0

check() { # NAME COMMAND...
    name=$1
    shift
    if "$@" >"$tmp/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$name: $*"
        cat "$tmp/log"
    fi
}

# The README's example is examples/minimal.c, and prints what the README shows. Checked against llvm-symbolizer-22.
printf 'repeat demo/main.mm:6\nmain demo/main.mm:12\n' >"$tmp/want"
check "the example compiles" $CC -std=c11 -Wall -Wextra -Werror $CFLAGS $LDFLAGS -o "$tmp/minimal" examples/minimal.c
$RUN "$tmp/minimal" >"$tmp/got"
check "the example's output" diff "$tmp/want" "$tmp/got"
awk '/^```c$/ { code = 1; next } /^```/ { if (code == 1) { code = 2; next } if (code == 2) { code = 3; next } code += code > 2 }
    code == 1 { print >program } code == 3 { print >output }' program="$tmp/program" output="$tmp/output" README.md
check "README's output" diff "$tmp/want" "$tmp/output"
sed 's/^[ \t]*//' examples/minimal.c | tr -d '\n ' >"$tmp/flat"
while read -r line; do
    case $line in '' | '#include "machsym.h"') continue ;; esac
    check "README's line: $line" grep -qF -- "$(printf '%s' "${line%;}" | tr -d ' ')" "$tmp/flat"
done <"$tmp/program"

# Every line of the demo's stack, as llvm-symbolizer-22 -i answers the same addresses.
check "demo" make B="$B" RUN="$RUN" CC="$CC" demo
cp "$tmp/log" "$tmp/demo"
for text in '-[Player skip:] (in demo) (player.mm:21)' '-[Player play:] (in demo) (player.mm:14)' \
    '__main_block_invoke (in demo) (main.mm:13)' 'repeat(int, void (int) block_pointer) (in demo) (main.mm:6)' \
    'main (in demo) (main.mm:12)'; do
    check "demo prints $text" grep -qF -- "$text" "$tmp/demo"
done

# A static program or one of another host cannot use the shared library; the static one serves all.
check "lib" make B="$B" CC="$CC" CFLAGS="$CFLAGS" LDFLAGS= "$B/libmachsym.a"
cat >"$tmp/user.c" <<END
#include <machsym.h>
#include <string.h>
int main(void)
{
    return strcmp(machsym_version(), MACHSYM_VERSION);
}
END
check "links with the archive" $CC $CFLAGS $LDFLAGS -I. -o "$tmp/user" "$tmp/user.c" "$B/libmachsym.a" -pthread
check "runs with the archive" $RUN "$tmp/user"

if [ -z "$RUN" ] && [ -z "$LDFLAGS" ]; then
    check "install" make B="$B" CC="$CC" CFLAGS="$CFLAGS" DESTDIR="$tmp/root" PREFIX=/opt/machsym install
    prefix=$tmp/root/opt/machsym
    check "installed tool" "$prefix/bin/machsym" --version
    check "installed man page" test -s "$prefix/share/man/man1/machsym.1"
    check "installed header" cmp machsym.h "$prefix/include/machsym.h"
    check "pkg-config file" grep -q "^Version: $("$prefix/bin/machsym" --version)$" "$prefix/lib/pkgconfig/machsym.pc"
    check "pkg-config prefix" grep -q '^prefix=/opt/machsym$' "$prefix/lib/pkgconfig/machsym.pc"
    check "links with the shared library" \
        $CC $CFLAGS -I"$prefix/include" -o "$tmp/shared" "$tmp/user.c" -L"$prefix/lib" -lmachsym
    check "runs with the shared library" env LD_LIBRARY_PATH="$prefix/lib" "$tmp/shared"
    if command -v nm >/dev/null; then
        nm -D --defined-only "$prefix/lib/libmachsym.so" | awk '$2 == "T" && $3 !~ /^machsym_/' >"$tmp/others"
        check "the library exports machsym_* only" test ! -s "$tmp/others"
    fi
else
    echo "skipped: installing what was built for another host"
fi
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
