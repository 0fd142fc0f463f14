#!/bin/sh
# The examples, the libraries, `make demo` and `make install` do what the README says.
. tests/checks

check() { # NAME COMMAND...
    name=$1
    shift
    "$@" >"$work/log" 2>&1
    count $? || { echo "$name: $*" && cat "$work/log"; }
}

# Every line of the demo's stack, as llvm-symbolizer -i answers the same addresses; before it the crash as it came.
check "demo" make B="$B" RUN="$RUN" CC="$CC" demo
cp "$work/log" "$work/demo"
for text in 'require(bool) (queue.hpp:6)' 'Queue<int>::at(int) (queue.hpp:13)' 'Queue<int>::drop(int) (queue.hpp:19)' \
    '-[Player skip:] + 88 (player.mm:19)' '-[Player play:] + 52 (player.mm:14)' '__main_block_invoke + 36 (main.mm:13)' \
    'repeat(int, void (int) block_pointer) (main.mm:6)' 'main + 120 (main.mm:12)' '0x0000000102a30aec 0x102a30000 + 2796'; do
    check "demo prints $text" grep -qF -- "$text" "$work/demo"
done
sed -n '/^0 .* 0x102a30000 + 2796$/q; /require(bool)/p' "$work/demo" >"$work/early"
check "the crash as it came stands first" test ! -s "$work/early"
check "demo is short" test "$(wc -l <"$work/demo")" -lt 20
# what the last make said of what it built, a compiler of others included, is known to be current
make B="$B" CC="$CC" CFLAGS="$CFLAGS" LDFLAGS="$LDFLAGS" -n all >"$work/again" 2>&1
check "make again has nothing to do" sh -c '! grep -v "Nothing to be done" "$1"' - "$work/again"

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
    root="$work/a root" home="/opt/mach sym"
    makes() { # TARGET
        make B="$B" CC="$CC" CFLAGS="$CFLAGS" DESTDIR="$root" PREFIX="$home" LIBDIR="$home/lib/my host" "$1"
    }
    check "install" makes install
    prefix=$root$home
    libdir="$prefix/lib/my host"
    check "installed tool" "$prefix/bin/machsym" --version
    check "installed man page" test -s "$prefix/share/man/man1/machsym.1"
    check "installed header" cmp machsym.h "$prefix/include/machsym.h"
    check "installed header of reports" cmp machsym_report.h "$prefix/include/machsym_report.h"
    version=$("$prefix/bin/machsym" --version)
    check "the library by its version" test -f "$libdir/libmachsym.so.$version"
    pc="$libdir/pkgconfig/machsym.pc"
    check "pkg-config file" grep -q "^Version: $version$" "$pc"
    check "pkg-config licence" grep -qx "License: $(sed -n 's/^license = //p' packaging/project)" "$pc"
    mkdir "$work/filled" # with an address, which the project has none of yet
    cp -R packaging machsym.h machsym_report.h machsym.1 LICENSE "$work/filled"
    sed 's#^homepage =.*#homepage = https://a.example/#' packaging/project >"$work/filled/packaging/project"
    case $B in /*) built=$B ;; *) built=$PWD/$B ;; esac
    check "install with an address" sh -c 'cd "$1/filled" && DESTDIR=$1/filled PREFIX=/p LIBDIR=/p/lib B=$2 VERSION=$3 STRIP=: \
        SHARED="libmachsym.so.$3" sh packaging/install install' - "$work" "$built" "$version"
    sed 1,3d "$pc" >"$work/pc"
    sed '1,3d; /^URL: https:..a.example.$/d' "$work/filled/p/lib/pkgconfig/machsym.pc" >"$work/pc.less"
    check "pkg-config: the address and nothing else" diff "$work/pc" "$work/pc.less"
    check "pkg-config: the address" grep -qx 'URL: https://a.example/' "$work/filled/p/lib/pkgconfig/machsym.pc"
    check "the licence is installed" cmp LICENSE "$prefix/share/doc/machsym/LICENSE"
    check "pkg-config prefix" grep -qx 'prefix=/opt/mach\\ sym' "$pc"
    check "pkg-config libdir" grep -qx 'libdir=${prefix}/lib/my\\ host' "$pc"
    if need "links by pkg-config" pkg-config; then
        flags=$(PKG_CONFIG_PATH="${pc%/*}" pkg-config --define-variable=prefix="$(printf %s "$prefix" | sed 's/ /\\ /g')" \
            --cflags --libs machsym)
        check "links by pkg-config" eval "$CC $CFLAGS" '-o "$work/shared" "$work/user.c"' "$flags"
    else
        check "links with the shared library" \
            $CC $CFLAGS -I"$prefix/include" -o "$work/shared" "$work/user.c" -L"$libdir" -lmachsym
    fi
    check "runs with the shared library" env LD_LIBRARY_PATH="$libdir" "$work/shared"
    # whole reports by the installed library and headers: as the tool writes them
    sed '/_IMPLEMENTATION$/d' examples/report.c >"$work/report.c"
    check "examples/report.c with the shared library" $CC $CFLAGS -D_GNU_SOURCE -I"$prefix/include" -o "$work/report" \
        "$work/report.c" -L"$libdir" -lmachsym
    mkdir "$work/symbols"
    cp -R tests/fixtures/bin/demo.app.dSYM "$work/symbols"
    check "it answers" env LD_LIBRARY_PATH="$libdir" sh -c '"$0/report" "$0/symbols" tests/fixtures/reports/demo.crash >"$0/got"' "$work"
    check "the tool answers" sh -c '"$0" crash --no-cache -q --to=text -d tests/fixtures/bin/demo.app.dSYM tests/fixtures/reports/demo.crash >"$1/want"' \
        "$prefix/bin/machsym" "$work"
    check "both say the same" cmp "$work/want" "$work/got"
    if need "no debug info is installed" readelf; then
        for file in "$prefix/bin/machsym" "$libdir/libmachsym.so"; do
            ! readelf -SW "$file" | grep -q ' \.debug_info '
            check "without debug info: ${file##*/}" test $? -eq 0
            # what runs on files of strangers has canaries, and nothing that is written once is written later
            readelf -hlW "$file" >"$work/seen"
            readelf -dW --dyn-syms "$file" >>"$work/seen"
            for what in '^  Type:.* DYN' GNU_RELRO BIND_NOW __stack_chk_fail 'GNU_STACK.* RW '; do
                check "${file##*/} has $what" grep -q "$what" "$work/seen"
            done
        done
        readelf -dW "$prefix/bin/machsym" >"$work/seen"
        check "the tool lies anywhere" grep -q 'FLAGS_1.*PIE' "$work/seen"
        makes_text() { make B="$work/$1" CC="$CC" CFLAGS=-O2 HARDEN="$1" "$work/$1/tool/base/out.o"; }
        check "a module, with FORTIFY" makes_text yes
        readelf -sW "$work/yes/tool/base/out.o" >"$work/seen"
        check "FORTIFY" grep -q '__vsnprintf_chk' "$work/seen"
        check "a module that is not protected" makes_text ""
        readelf -sW "$work//tool/base/out.o" >"$work/seen"
        check "HARDEN= leaves it out" test -z "$(grep _chk "$work/seen")"
    fi
    # what is installed is what goes, and nothing else
    echo mine >"$libdir/other"
    cp -R "$root" "$work/kept"
    check "uninstall" makes uninstall
    find "$root" ! -type d >"$work/left"
    check "uninstall takes all but what is not ours" test "$(cat "$work/left")" = "$libdir/other"
    check "uninstall again" makes uninstall
    check "a folder that is not from the root" sh -c '! make B="$1" DESTDIR=/tmp PREFIX=here install' - "$B"
    rm -rf "$root"
    mv "$work/kept" "$root"
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
        check "builds: $name" $CC $CFLAGS -Wall -Wextra -Werror "$@" -o "$work/skew" "$work/skew.c" -L"$libdir" -lmachsym
    }
    run_skew() { LD_LIBRARY_PATH="$libdir" "$work/skew" "$@" 2>"$work/said"; }
    skew "with the library's header" -I"$prefix/include"
    for number in 0 1 2 3 4 5; do
        check "the library's header, $number" run_skew $number
    done
    skew "with another header" -I"$work"
    for number in 0 1 2 3 4 5 6; do
        ! run_skew $number && grep -q 'was built from another machsym.h' "$work/said"
        check "another header is reported, $number" test $? -eq 0
    done
    skew "with another header, and a hook" -I"$work" -include stdlib.h "-DMACHSYM_ASSERT(c)=do { if (!(c)) exit(77); } while (0)"
    run_skew 0
    check "the hook stops it" test $? -eq 77
    skew "with another header, a release" -I"$work" -DNDEBUG
    check "a release does not look" run_skew 0
    if need "what the library exports" nm; then
        nm "$work/skew" | grep -c machsym_abi >"$work/said"
        check "a release has no trace of it" grep -qx 0 "$work/said"
        nm -D --defined-only "$libdir/libmachsym.so" | awk '$2 == "T" && $3 !~ /^machsym_/' >"$work/others"
        check "the library exports machsym_* only" test ! -s "$work/others"
        # every function that a header declares, under its own name
        for header in machsym.h machsym_report.h; do
            awk '/^MACHSYM_API/ { on = 1 } on; /[;{]/ { on = 0 }' "$prefix/include/$header" | grep -o 'machsym_[a-z_0-9]*(' | tr -d '(' | sort -u >"$work/declared"
            nm -D --defined-only "$libdir/libmachsym.so" | awk '{ print $3 }' | sort -u | comm -23 "$work/declared" - >"$work/lacks"
            check "the library has what $header declares" test -s "$work/declared" -a ! -s "$work/lacks"
        done
    fi
    # whole reports by the library, in C and in C++; another header, as above
    sed '/MACHSYM_REPORT_IMPLEMENTATION) /q' machsym_report.h | sed -n 's/^typedef struct \(machsym_report[a-z_]*\) {.*/\1/p' >"$work/structs"
    check "public structs of reports" test "$(wc -l <"$work/structs")" -ge 12
    while read -r name; do
        check "$name is compared" grep -q "X($name, [0-9]*)" machsym_report.h
    done <"$work/structs"
    cat >"$work/reports.c" <<END
#include <machsym_report.h>
#include <stdio.h>
int main(void)
{
    machsym_reports_desc desc;
    machsym_reports *reports;
    uint32_t failed;
    memset(&desc, 0, sizeof desc);
    if (machsym_reports_open(&desc, &reports, NULL) != MACHSYM_OK)
        return 1;
    printf("%u\n", machsym_reports_count(reports, &failed));
    machsym_reports_close(reports);
    return failed != 1;
}
END
    for language in c c++; do
        need "whole reports in $language" g++ || continue
        check "whole reports in $language" g++ $CFLAGS -x $language -D_GNU_SOURCE -include string.h -Wall -Wextra -Werror -I"$prefix/include" -o "$work/reports" "$work/reports.c" -L"$libdir" -lmachsym
        check "whole reports in $language, by the library" env LD_LIBRARY_PATH="$libdir" "$work/reports"
    done
    mkdir "$work/skewed"
    sed 's/^typedef struct machsym_report_frame {/& int more;/' machsym_report.h >"$work/skewed/machsym_report.h"
    check "another machsym_report.h" $CC $CFLAGS -include string.h -I"$work/skewed" -I"$prefix/include" -o "$work/reports" "$work/reports.c" -L"$libdir" -lmachsym
    ! LD_LIBRARY_PATH="$libdir" "$work/reports" 2>"$work/said" && grep -q 'was built from another machsym_report.h' "$work/said"
    check "another machsym_report.h is reported" test $? -eq 0
else
    skip "installing what was built for another host"
fi

# A Mac's shared library: its users find it by the path in it. The system's own headers are not here, so it is the mode
# for bytes only.
mac="clang-22 --target=arm64-apple-macos11"
if [ -n "$RUN$LDFLAGS" ]; then
    skip "a Mac's library: this build is for another host"
elif need "a Mac's library" clang-22 ld64.lld-22 llvm-ar-22; then
    makes_mac() { # LIBDIR
        make B="$work/mac" CC="$mac" AR=llvm-ar-22 LIB_REPORT= LIBDIR="$1" CPPFLAGS=-DMACHSYM_NO_OS \
            CFLAGS="-O0 -w -nostdinc -isystem $(clang-22 -print-resource-dir)/include" \
            LDFLAGS="-fuse-ld=lld -nostdlib -Wl,-undefined,dynamic_lookup" lib
    }
    for libdir in "/opt/mach sym/lib" /usr/local/lib; do
        check "a Mac's library in $libdir" makes_mac "$libdir"
        llvm-objdump-22 --macho --dylib-id "$work/mac/libmachsym.dylib" | tail -n 1 >"$work/id"
        check "its install name" test "$(cat "$work/id")" = "$libdir/libmachsym.${version%.*}.dylib"
    done
    llvm-nm-22 -gUj "$work/mac/libmachsym.dylib" | grep -v '^_machsym_' >"$work/others"
    check "it exports machsym_* only" test ! -s "$work/others"
fi
end
