#!/bin/sh
# examples/backtrace.c: names a stack through an image in memory; its Apple half compiles against declarations of what
# it uses from there.
CC=${CC:-cc}
. tests/checks

# shellcheck disable=SC2086
$CC -std=c11 -Wall -Wextra -Werror $CFLAGS $LDFLAGS -DMACHSYM_IMPLEMENTED -o "$work/backtrace" examples/backtrace.c "$B/tool/machsym.o"
check "the example compiles with the tool's implementation"
$RUN "$work/backtrace" tests/fixtures/bin/frames-x86_64 | awk '{ print $1, $2, $4, $5, $6 }' >"$work/out"
printf '%s\n' "0 frames-x86_64 main + 1" "1 frames-x86_64 odd_frame + 1" "2 frames-x86_64 odd_frame_too + 1" \
    "3 frames-x86_64 no_frame + 1" | cmp -s - "$work/out"
check "it names a stack of four functions"
$RUN "$work/backtrace" tests/fixtures/bin/exports-arm64-chained-strip.dylib | grep -q 'api_close + 1$'
check "it names the functions of a stripped library by its exports"
! $RUN "$work/backtrace" Makefile >/dev/null 2>&1 && ! $RUN "$work/backtrace" >/dev/null 2>&1
check "it refuses what is no such file"

mkdir -p "$work/apple/mach-o"
cat >"$work/apple/mach-o/loader.h" <<'EOF'
struct mach_header_64 { uint32_t magic; int cputype, cpusubtype; uint32_t filetype, ncmds, sizeofcmds, flags, reserved; };
struct segment_command_64 { uint32_t cmd, cmdsize; char segname[16]; uint64_t vmaddr, vmsize, fileoff, filesize;
    int maxprot, initprot; uint32_t nsects, flags; };
struct mach_header;
#define MH_MAGIC_64 0xfeedfacfu
#define LC_SEGMENT_64 0x19u
EOF
cat >"$work/apple/mach-o/dyld.h" <<'EOF'
#include <pthread.h>
struct mach_header;
uint32_t _dyld_image_count(void);
const struct mach_header *_dyld_get_image_header(uint32_t index);
const char *_dyld_get_image_name(uint32_t index);
void *pthread_get_stackaddr_np(pthread_t thread);
size_t pthread_get_stacksize_np(pthread_t thread);
EOF
$CC -std=gnu11 -Wall -Wextra -Werror -D__APPLE__ -DMACHSYM_IMPLEMENTED -I"$work/apple" -fsyntax-only examples/backtrace.c
check "its Apple half compiles"

end
