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

# The example prints the inline chain of the demo's crash. Checked against llvm-symbolizer-22.
cat >"$tmp/want" <<END
require at queue.hpp:8
at at queue.hpp:15
drop at queue.hpp:21
-[Player skip:] at player.mm:19
END
check "the example compiles" $CC -std=c11 -Wall -Wextra -Werror $CFLAGS $LDFLAGS -o "$tmp/minimal" examples/minimal.c
$RUN "$tmp/minimal" >"$tmp/got"
check "the example's output" diff "$tmp/want" "$tmp/got"
lines=$(sed -n '/^int main/,$p' examples/minimal.c | grep -c ';$')
check "the example is short" test "$lines" -le 12

# Every function name of the stack; checked against llvm-symbolizer-22 -i on the same addresses.
check "demo" make B="$B" RUN="$RUN" CC="$CC" demo
cp "$tmp/log" "$tmp/demo"
for text in 'requir' '(queue.hpp:8)' '(queue.hpp:15)' '(queue.hpp:21)' '-\[Player skip:\] (in demo) (player.mm:19)' \
    '-\[Player play:\] (in demo) (player.mm:14)' '__main_block_invoke (in demo) (main.mm:13)' 'main (in demo) (main.mm:12)'; do
    check "demo prints $text" grep -q -- "$text" "$tmp/demo"
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
