/* What the fuzz targets of metadata share: a slice made of sections at small addresses, so that inputs can
 * point. */
#ifndef FUZZ_METADATA_H
#define FUZZ_METADATA_H

#define TEST_ROOM <src/macho/sources.h>
#include "../tests/room.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    FUZZ_TEXT = 0x1000,
    FUZZ_CODE_SIZE = 0x1000,
    FUZZ_DATA = 0x4000,
    FUZZ_LISTS = 0x100,
    FUZZ_MAX = 1 << 16
};

static volatile unsigned fuzz_sum; /* keeps every read */

static inline void fuzz_text(machsym_str text)
{
    for (size_t i = 0; i < text.len; i++)
        fuzz_sum += (uint8_t)text.ptr[i];
}

/* A slice, and the table that its metadata goes into. */
typedef struct fuzz_slice {
    ms_mo mo;
    ms_mo_segment segment;
    ms_mo_section sections[8];
    ms_range code;
    ms_arena arena;
    ms_sym_table table;
    ms_fx_data data;
} fuzz_slice;

static inline void fuzz_begin(fuzz_slice *f, bool is_64, const uint8_t *bytes, size_t len)
{
    machsym_allocator none = {NULL, NULL, NULL};
    memset(f, 0, sizeof *f);
    f->arena = ms_arena_make(ms_arena_default(none));
    f->mo.bytes = ms_span_make(bytes, len);
    f->mo.is_64 = is_64;
    f->mo.slice.cputype = is_64 ? ms_CPU_ARM64 : ms_CPU_ARM;
    f->mo.text_addr = FUZZ_TEXT;
    f->mo.fixup_base = FUZZ_TEXT;
    f->mo.segments = &f->segment;
    f->mo.segment_count = 1;
    f->segment.addr = FUZZ_DATA;
    f->segment.size = FUZZ_MAX;
    f->mo.sections = f->sections;
    f->code.lo = FUZZ_TEXT;
    f->code.hi = FUZZ_TEXT + FUZZ_CODE_SIZE;
    f->table.arena = &f->arena;
    f->table.mo = &f->mo;
    f->table.mo_count = 1;
    f->table.code = &f->code;
    f->table.code_count = 1;
}

static inline void fuzz_section(fuzz_slice *f, const char *segment, const char *name, uint64_t addr,
                                ms_span bytes)
{
    ms_mo_section *section = &f->sections[f->mo.section_count++];
    section->segment = ms_str_from_c(segment);
    section->name = ms_str_from_c(name);
    section->addr = addr;
    section->size = bytes.len;
    section->bytes = bytes;
}

/* Looks at all that came out, and checks what must hold of a table. */
static inline void fuzz_end(fuzz_slice *f)
{
    ms_sym_sort(&f->table, &f->arena);
    ms_oc_name_blocks(&f->table, &f->data);
    for (size_t i = 0; i < f->table.count; i++) {
        machsym_symbol symbol;
        ms_sym_get(&f->table, i, &symbol);
        if (symbol.lo < f->code.lo || symbol.hi > f->code.hi || symbol.lo >= symbol.hi ||
            (i > 0 && !ms_key_less(&f->table.v[i - 1], &f->table.v[i])))
            abort();
        fuzz_text(symbol.name);
    }
    ms_arena_free(&f->arena);
}

#endif
