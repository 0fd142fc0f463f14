/* The body of the demangler targets. The input is a name. It must end within its budgets, read nothing
 * outside the name and its scratch, and print the same whatever the room: FUZZ_ENTRY by itself, with every
 * style, and the public function. FUZZ_STYLES are the flags to try; FUZZ_PREFIX goes in front of what does
 * not begin with an underscore or a dollar sign. */
#include "../tests/room.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One try with blocks of their own for scratch and output, so that a byte too far is seen. Returns the
 * length, or SIZE_MAX when the name is not taken; *no_mem says that a larger frame is asked for. */
static size_t try_once(const char *name, size_t len, uint32_t flags, size_t mem_len, char *out, size_t cap,
                       bool *no_mem)
{
    unsigned char *mem = (unsigned char *)malloc(mem_len);
    ms_dm d;
    memset(&d, 0, sizeof d);
    d.s = name;
    d.len = len;
    d.flags = flags;
    d.out = out;
    d.cap = cap;
    ms_dm_start(&d);
    d.mem = mem;
    d.mem_len = mem_len;
    bool ok = FUZZ_ENTRY(&d);
    free(mem);
    if (ok && d.out_len > d.out_limit)
        abort();
    *no_mem = d.no_mem;
    return ok ? d.out_len : SIZE_MAX;
}

/* The whole result, half of it, none of it; the small frame may only ask for the large one. */
static void check_style(const char *name, size_t len, uint32_t flags)
{
    bool no_mem;
    size_t want = try_once(name, len, flags, MACHSYM_DEMANGLE_STACK, NULL, 0, &no_mem);
    size_t room = want == SIZE_MAX ? 16 : want;
    char *whole = (char *)malloc(room + 1);
    char *part = (char *)malloc(room / 2 + 1);
    if (try_once(name, len, flags, MACHSYM_DEMANGLE_STACK, whole, room, &no_mem) != want)
        abort();
    size_t small = try_once(name, len, flags, MACHSYM_DEMANGLE_SMALL_STACK, part, room / 2, &no_mem);
    if (small != want && !no_mem)
        abort();
    if (small == want && want != SIZE_MAX && memcmp(whole, part, room / 2) != 0)
        abort();
    free(part);
    free(whole);
}

static void check_public(const char *name, size_t len, uint32_t flags)
{
    machsym_str mangled = {name, len};
    size_t want = machsym_demangle(mangled, flags, NULL, 0);
    char *whole = (char *)malloc(want + 1);
    char one;
    if (machsym_demangle(mangled, flags, whole, want + 1) != want || whole[want] != '\0')
        abort();
    if (machsym_demangle(mangled, flags, &one, 1) != want || one != '\0')
        abort();
    free(whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t styles[] = {FUZZ_STYLES};
    size_t lead =
        size != 0 && (data[0] == '_' || data[0] == '$' || data[0] == '@') ? 0 : sizeof FUZZ_PREFIX - 1;
    size_t len = lead + size;
    char *name = (char *)malloc(len + (len == 0));
    memcpy(name, FUZZ_PREFIX, lead);
    if (size > 0)
        memcpy(name + lead, data, size);
    for (size_t i = 0; i < sizeof styles / sizeof styles[0]; i++)
        check_style(name, len, styles[i]);
    check_public(name, len, styles[0]);
    free(name);
    return 0;
}
