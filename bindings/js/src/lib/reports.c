/* Whole reports in WebAssembly: a second program, which lies in the memory of the library and calls its functions. A page that
 * only looks addresses up loads neither its code nor its tables. The host gives it a stack below that of the library. */
#include "flat.h"
#include "machsym.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT(name) __attribute__((export_name(#name)))

flat_error *lib_error(void);

EXPORT(version) const char *lib_version(void)
{
    return MACHSYM_VERSION;
}

static bool lacked_memory;

/* What ran out of memory never goes on. */
void longjmp(jmp_buf home, int value)
{
    (void)home;
    (void)value;
    lacked_memory = true;
    __builtin_trap();
}

/* Whether the instance was stopped by longjmp. */
EXPORT(lacked_memory) int lib_lacked_memory(void)
{
    return lacked_memory;
}

EXPORT(symbols) flat_symbols *lib_symbols(const flat_image *const *images, size_t count, int32_t lines)
{
    return flat_symbols_open(images, count, lines, lib_error());
}

EXPORT(symbols_close) void lib_symbols_close(flat_symbols *symbols)
{
    flat_symbols_close(symbols);
}

/* flat_symbolicate. name and redact may be NULL. */
EXPORT(symbolicate)
const char *lib_symbolicate(flat_symbols *symbols, const void *input, size_t input_len, const char *name,
                            const char *redact, uint32_t flags, uint32_t forms, uint32_t parts, size_t *len)
{
    flat_report_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.input = input;
    desc.len = input_len;
    desc.name = name;
    desc.redact = redact;
    desc.flags = flags;
    desc.forms = forms;
    desc.parts = parts;
    return flat_symbolicate(symbols, &desc, len, lib_error());
}
