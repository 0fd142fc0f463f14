#!/bin/sh
# The examples, the libraries, `make demo` and `make install` do what the README says.
. tests/checks

check() { # NAME COMMAND...
    name=$1
    shift
    "$@" >"$work/log" 2>&1
    count $? || { echo "$name: $*" && cat "$work/log"; }
}

# Every line of the demo's stack, as llvm-symbolizer-22 -i answers the same addresses.
check "demo" make B="$B" RUN="$RUN" CC="$CC" demo
cp "$work/log" "$work/demo"
for text in '-[Player skip:] (in demo) (player.mm:21)' '-[Player play:] (in demo) (player.mm:14)' \
    '__main_block_invoke (in demo) (main.mm:13)' 'repeat(int, void (int) block_pointer) (in demo) (main.mm:6)' \
    'main (in demo) (main.mm:12)'; do
    check "demo prints $text" grep -qF -- "$text" "$work/demo"
done

# A static program or one of another host cannot use the shared library; the static one serves all.
check "lib" make B="$B" CC="$CC" CFLAGS="$CFLAGS" LDFLAGS= "$B/libmachsym.a"
cat >"$work/user.c" <<END
#include <machsym.h>
#include <string.h>
int main(void)
{
    return strcmp(machsym_version(), MACHSYM_VERSION);
}
END
check "links with the archive" $CC $CFLAGS $LDFLAGS -I. -o "$work/user" "$work/user.c" "$B/libmachsym.a" -pthread
check "runs with the archive" $RUN "$work/user"

if [ -z "$RUN" ] && [ -z "$LDFLAGS" ]; then
    check "install" make B="$B" CC="$CC" CFLAGS="$CFLAGS" DESTDIR="$work/root" PREFIX=/opt/machsym install
    prefix=$work/root/opt/machsym
    check "installed tool" "$prefix/bin/machsym" --version
    check "installed man page" test -s "$prefix/share/man/man1/machsym.1"
    check "installed header" cmp machsym.h "$prefix/include/machsym.h"
    check "pkg-config file" grep -q "^Version: $("$prefix/bin/machsym" --version)$" "$prefix/lib/pkgconfig/machsym.pc"
    check "pkg-config prefix" grep -q '^prefix=/opt/machsym$' "$prefix/lib/pkgconfig/machsym.pc"
    check "links with the shared library" \
        $CC $CFLAGS -I"$prefix/include" -o "$work/shared" "$work/user.c" -L"$prefix/lib" -lmachsym
    check "runs with the shared library" env LD_LIBRARY_PATH="$prefix/lib" "$work/shared"
    # a program that was compiled with another header than the library is told so
    sed 's/^typedef struct machsym_frame {/& int more;/' machsym.h >"$work/machsym.h"
    cat >"$work/skew.c" <<END
#include <machsym.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    machsym_result (*opens)(const machsym_open_desc *, machsym_image **, machsym_error *) = machsym_image_open;
    machsym_open_desc open = {0};
    machsym_session_desc session = {0};
    machsym_plan_desc plan = {0};
    machsym_map_desc map = {0};
    machsym_writer_desc writer = {0};
    void *out[7] = {NULL};
    switch (argc > 1 ? atoi(argv[1]) : 0) {
    case 1: return machsym_list_slices(&open, NULL, 0, NULL) != 0;
    case 2: return machsym_session_open(&session, (machsym_session **)&out[0], NULL) == MACHSYM_OK;
    case 3: return machsym_plan_open(&plan, (machsym_plan **)&out[1], NULL) == MACHSYM_OK;
    case 4: return machsym_map_build(&plan, (machsym_map **)&out[2], NULL) == MACHSYM_OK;
    case 5: return machsym_map_open(&map, (machsym_map **)&out[3], NULL) == MACHSYM_OK;
    case 6: return machsym_writer_open(&writer, (machsym_writer **)&out[5], NULL) == MACHSYM_OK;
    default: return opens(&open, (machsym_image **)&out[6], NULL) == MACHSYM_OK;
    }
}
END
    sed '/^#endif .. MACHSYM_H/q' machsym.h | sed -n 's/^typedef struct \(machsym_[a-z_]*\) {.*/\1/p' >"$work/structs"
    check "public structs" test -s "$work/structs"
    while read -r name; do
        check "$name is compared" grep -q "X($name, [0-9]*)" machsym.h
    done <"$work/structs"
    skew() { # NAME OPTION...
        name=$1
        shift
        check "builds: $name" $CC $CFLAGS -Wall -Wextra -Werror "$@" -o "$work/skew" "$work/skew.c" -L"$prefix/lib" -lmachsym
    }
    run_skew() { LD_LIBRARY_PATH="$prefix/lib" "$work/skew" "$@" 2>"$work/said"; }
    skew "with the library's header" -I"$prefix/include"
    for number in 0 1 2 3 4 5; do
        check "the library's header, $number" run_skew $number
    done
    skew "with another header" -I"$work"
    for number in 0 1 2 3 4 5 6; do
        ! run_skew $number && grep -q 'was built from another machsym.h' "$work/said"
        check "another header is said, $number" test $? -eq 0
    done
    skew "with another header, and a hook" -I"$work" -include stdlib.h "-DMACHSYM_ASSERT(c)=do { if (!(c)) exit(77); } while (0)"
    run_skew 0
    check "the hook stops it" test $? -eq 77
    skew "with another header, a release" -I"$work" -DNDEBUG
    check "a release does not look" run_skew 0
    if command -v nm >/dev/null; then
        nm "$work/skew" | grep -c machsym_abi >"$work/said"
        check "a release has no trace of it" grep -qx 0 "$work/said"
        nm -D --defined-only "$prefix/lib/libmachsym.so" | awk '$2 == "T" && $3 !~ /^machsym_/' >"$work/others"
        check "the library exports machsym_* only" test ! -s "$work/others"
    fi
else
    skip "installing what was built for another host"
fi
end
