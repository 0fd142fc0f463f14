#!/bin/sh
# A program that was compiled with the header of one minor version, and the shared library of the next one, whose frames are
# larger: the loader refuses, or takes the program's own library, which lies beside the new one. Nothing is written past the
# program's array. The next version is this one with other numbers and a longer struct.
. tests/checks

check() { # NAME COMMAND...
    name=$1
    shift
    "$@" >"$work/log" 2>&1
    count $? || { echo "$name: $*" && cat "$work/log"; }
}

case "$RUN$LDFLAGS$CFLAGS" in
*-static* | *-fsanitize* | *qemu*)
    skip "the shared library belongs to this host, without sanitizers"
    end
    exit
    ;;
esac
: "${CC:=cc}"
case $($CC -dumpmachine) in
*linux*) ;;
*)
    skip "it needs a host with ELF"
    end
    exit
    ;;
esac

version=$(sed -n 's/^#define MACHSYM_VERSION  *"\(.*\)"/\1/p' machsym.h)
major=${version%%.*}
minor=${version#*.}
minor=${minor%%.*}
next=$major.$((minor + 1))
# names are not what this is about, and are half of the header
light="-O0 -w -DMACHSYM_NO_SWIFT -DMACHSYM_NO_CXX -DMACHSYM_NO_RUST -DMACHSYM_NO_D -DMACHSYM_NO_INFLATE"

for tree in old new; do
    mkdir -p "$work/$tree/tool"
    cp Makefile machsym.h machsym_report.h "$work/$tree"
    cp tool/machsym.c "$work/$tree/tool"
done
sed "s/^\(#define MACHSYM_VERSION_MINOR\).*/\1 $((minor + 1))/; s/^\(#define MACHSYM_VERSION  *\)\".*\"/\1\"$next.0\"/
    s/^} machsym_frame;/    char grown[256];\n&/" machsym.h >"$work/new/machsym.h"
for tree in old new; do
    check "the $tree library" make -C "$work/$tree" B="$work/$tree" CC="$CC" CFLAGS="$light" CPPFLAGS= LDFLAGS= lib
    mkdir "$work/$tree/lib"
    cp -P "$work/$tree"/libmachsym.so* "$work/$tree/lib"
done
mkdir "$work/both" "$work/forced"
cp -P "$work/old/lib"/* "$work/both"
cp -P "$work/new/lib"/* "$work/both" # as make install of the next version does

cat >"$work/user.c" <<'END_C'
#include <machsym.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    static struct {
        machsym_frame frames[8];
        unsigned char beyond[4096];
    } room;
    machsym_open_desc file = {0};
    machsym_session_desc how = {0};
    machsym_image *image = NULL;
    machsym_session *session = NULL;

    memset(room.beyond, 0x5a, sizeof room.beyond);
    file.path = argv[argc - 1];
    if (machsym_image_open(&file, &image, NULL) != MACHSYM_OK)
        return 2;
    how.image = image;
    if (machsym_session_open(&how, &session, NULL) != MACHSYM_OK)
        return 2;
    size_t count = machsym_session_frames_at_addr(session, 0x100000aef, room.frames, 8);
    for (size_t i = 0; i < sizeof room.beyond; i++)
        if (room.beyond[i] != 0x5a)
            return 66; /* the library wrote past the array */
    printf("%s %d %u\n", machsym_version(), (int)count, room.frames[count - 1].line);
    return count == 0;
}
END_C
dsym=tests/fixtures/bin/demo.app.dSYM
check "a program of $version" $CC -O1 -w -DNDEBUG -I"$work/old" -o "$work/user" "$work/user.c" -L"$work/old/lib" -lmachsym
check "a program of $next.0" $CC -O1 -w -DNDEBUG -I"$work/new" -o "$work/later" "$work/user.c" -L"$work/new/lib" -lmachsym
runs() { # FOLDER PROGRAM
    LD_LIBRARY_PATH="$work/$1" "$work/$2" "$dsym" 2>&1
}
says() { # TEXT COMMAND...
    wanted=$1
    shift
    answer=$("$@")
    status=$?
    echo "$status: $answer"
    case $answer in *"$wanted"*) return $status ;; esac
    return 99
}
refused() { # FOLDER PROGRAM SERIES: the loader says which library is missing
    says "libmachsym.so.$3" runs "$1" "$2"
    [ $? -eq 127 ]
}
check "each with its own" says "$version 4 19" runs old/lib user
check "each with its own, the later one" says "$next.0 4 19" runs new/lib later
check "the old program with the new library alone is refused" refused new/lib user "$major.$minor"
check "the new program with the old library alone is refused" refused old/lib later "$next"
check "side by side: the old program" says "$version 4 19" runs both user
check "side by side: the new program" says "$next.0 4 19" runs both later

# That is needed: under the name of the old one the new library writes past the program's array.
ln -s "$work/new/lib/libmachsym.so" "$work/forced/libmachsym.so.$major.$minor"
(runs forced user) >"$work/said" 2>&1
check "without it, the array overflows" test $? -eq 66
# Where somebody forces it nevertheless, a debug build ends before.
check "a debug build of $version" $CC -O1 -w -I"$work/old" -o "$work/debug" "$work/user.c" -L"$work/old/lib" -lmachsym
(runs forced debug) >"$work/said" 2>&1
check "a debug build says so" grep -q "was built from another machsym.h" "$work/said"
end
