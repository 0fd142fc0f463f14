/* Entries of debug info as they stand; see entries.h. */
#include "entries.h"
#include "../../report/base/memory.h"
#include "../../report/base/text.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_UNITS = 256,     /* that one lookup reads: references lead to some, in a hostile file to all */
    MAX_STEPS = 1 << 24, /* attributes, entries and 4 bytes of names that one lookup reads: some seconds */
    MAX_ALONG = 16,      /* copies of copies */
    MAX_DEPTH = 256      /* entries in entries */
};

/* DWARF5 7.5.6 and the vendors' own */
enum {
    FORM_ADDR = 0x01,
    FORM_BLOCK2 = 0x03,
    FORM_BLOCK4 = 0x04,
    FORM_DATA2 = 0x05,
    FORM_DATA4 = 0x06,
    FORM_DATA8 = 0x07,
    FORM_STRING = 0x08,
    FORM_BLOCK = 0x09,
    FORM_BLOCK1 = 0x0a,
    FORM_DATA1 = 0x0b,
    FORM_FLAG = 0x0c,
    FORM_SDATA = 0x0d,
    FORM_STRP = 0x0e,
    FORM_UDATA = 0x0f,
    FORM_REF_ADDR = 0x10,
    FORM_REF1 = 0x11,
    FORM_REF2 = 0x12,
    FORM_REF4 = 0x13,
    FORM_REF8 = 0x14,
    FORM_REF_UDATA = 0x15,
    FORM_INDIRECT = 0x16,
    FORM_SEC_OFFSET = 0x17,
    FORM_EXPRLOC = 0x18,
    FORM_FLAG_PRESENT = 0x19,
    FORM_STRX = 0x1a,
    FORM_ADDRX = 0x1b,
    FORM_REF_SUP4 = 0x1c,
    FORM_STRP_SUP = 0x1d,
    FORM_DATA16 = 0x1e,
    FORM_LINE_STRP = 0x1f,
    FORM_REF_SIG8 = 0x20,
    FORM_IMPLICIT_CONST = 0x21,
    FORM_LOCLISTX = 0x22,
    FORM_RNGLISTX = 0x23,
    FORM_REF_SUP8 = 0x24,
    FORM_STRX1 = 0x25,
    FORM_STRX4 = 0x28,
    FORM_ADDRX1 = 0x29,
    FORM_ADDRX4 = 0x2c,
    FORM_GNU_ADDR_INDEX = 0x1f01,
    FORM_GNU_STR_INDEX = 0x1f02,
    FORM_GNU_REF_ALT = 0x1f20,
    FORM_GNU_STRP_ALT = 0x1f21,
    FORM_LLVM_ADDRX_OFFSET = 0x2001 /* an indexed address, and 4 bytes that are added to it */
};

/* DWARF5 7.25 */
enum {
    LIST_END = 0,
    LIST_BASE_INDEX = 1,
    LIST_INDEXES = 2,
    LIST_INDEX_LENGTH = 3,
    LIST_OFFSETS = 4,
    LIST_BASE = 5,
    LIST_ADDRESSES = 6,
    LIST_ADDRESS_LENGTH = 7
};

enum { UNIT_TYPE = 2, UNIT_SKELETON = 4, UNIT_SPLIT = 5, UNIT_SPLIT_TYPE = 6 }; /* DWARF5 7.5.1 */

typedef enum entry_section {
    IN_INFO = 0,
    IN_ABBREV,
    IN_STR,
    IN_LINE,
    IN_LINE_STR,
    IN_STR_OFFSETS,
    IN_ADDR,
    IN_RANGES,
    IN_RNGLISTS,
    IN_SECTIONS
} entry_section;

/* Mach-O has room for 16 bytes of a name. */
static const char *const section_names[IN_SECTIONS] = {
    "__debug_info",     "__debug_abbrev", "__debug_str",    "__debug_line",    "__debug_line_str",
    "__debug_str_offs", "__debug_addr",   "__debug_ranges", "__debug_rnglists"};

typedef struct entry_abbrev {
    uint64_t code;
    uint32_t tag;
    bool has_children;
    entry_bytes specs;
} entry_abbrev;

struct entries {
    machsym_bytes sections[IN_SECTIONS];
    entry_unit *units[MAX_UNITS];
    size_t unit_count;
    size_t tries; /* units that were looked for */
    size_t steps;
};

/* ---- Bytes ---- */

static entry_bytes entry_bytes_of(machsym_bytes all, uint64_t lo, uint64_t hi)
{
    static const uint8_t nothing[1] = {0};
    const uint8_t *begin = all.ptr != NULL ? all.ptr : nothing;
    hi = hi < all.len ? hi : all.len;
    return lo > hi ? (entry_bytes){begin, begin, true} : (entry_bytes){begin + lo, begin + hi, false};
}

/* Whether that many bytes are left; otherwise the reader fails, and has none left. */
static bool entry_has(entry_bytes *b, uint64_t count)
{
    if (count <= (uint64_t)(b->end - b->p))
        return true;
    b->p = b->end;
    b->has_failed = true;
    return false;
}

/* A number of 1 to 8 bytes; 0 after a failure. */
static uint64_t entry_uint(entry_bytes *b, unsigned size)
{
    uint64_t number = 0;
    if (!entry_has(b, size))
        return 0;
    for (unsigned i = size; i-- > 0;)
        number = number << 8 | b->p[i];
    b->p += size;
    return number;
}

/* LEB128. Bits beyond 64 are dropped. */
static uint64_t entry_leb(entry_bytes *b, bool is_signed)
{
    uint64_t number = 0;
    unsigned shift = 0;
    uint8_t byte = 0x80;
    while (byte >= 0x80 && entry_has(b, 1)) {
        byte = *b->p++;
        if (shift < 64)
            number |= (uint64_t)(byte & 0x7f) << shift;
        shift += shift < 64 ? 7 : 0;
    }
    if (is_signed && shift < 64 && (byte & 0x40) != 0)
        number |= ~(uint64_t)0 << shift;
    return b->has_failed ? 0 : number;
}

static uint64_t entry_uleb(entry_bytes *b)
{
    return entry_leb(b, false);
}

static void entry_skip(entry_bytes *b, uint64_t count)
{
    if (entry_has(b, count))
        b->p += count;
}

/* A text that ends with a NUL. */
static machsym_str entry_text(entry_bytes *b)
{
    size_t left = (size_t)(b->end - b->p);
    const uint8_t *nul = left > 0 ? memchr(b->p, 0, left) : NULL;
    machsym_str out = {NULL, 0};
    if (nul == NULL) {
        entry_has(b, (uint64_t)left + 1);
        return out;
    }
    out = str_make((const char *)b->p, (size_t)(nul - b->p));
    b->p = nul + 1;
    return out;
}

/* ---- Values ---- */

/* Takes a step, of as much work as one is worth. Returns false when all are taken. */
static bool entry_take(entries *all, size_t count)
{
    all->steps = count < MAX_STEPS - all->steps ? all->steps + count : MAX_STEPS;
    return all->steps < MAX_STEPS;
}

static bool entry_step(entries *all)
{
    return entry_take(all, 1);
}

bool entries_are_tired(const entries *all)
{
    return all->steps >= MAX_STEPS;
}

static void entry_set(entry_value *v, entry_kind kind, uint64_t number, unsigned size)
{
    v->kind = kind;
    v->number = number;
    v->size = size;
}

static void entry_set_text(const entries *all, entry_section in, uint64_t offset, entry_value *v)
{
    entry_bytes b = entry_bytes_of(all->sections[in], offset, UINT64_MAX);
    machsym_str found = entry_text(&b);
    v->kind = ENTRY_TEXT;
    v->ptr = (const uint8_t *)found.ptr;
    v->len = found.len;
}

static void entry_set_indexed_text(const entries *all, const entry_unit *u, uint64_t index, entry_value *v)
{
    v->kind = ENTRY_TEXT;
    if (index > UINT32_MAX || u->str_offsets_base == 0)
        return;
    entry_bytes b = entry_bytes_of(all->sections[IN_STR_OFFSETS],
                                   u->str_offsets_base + index * u->offset_size, UINT64_MAX);
    uint64_t offset = entry_uint(&b, u->offset_size);
    if (!b.has_failed)
        entry_set_text(all, IN_STR, offset, v);
}

static bool entry_indexed_address(const entries *all, const entry_unit *u, uint64_t index, uint64_t *out)
{
    if (index > UINT32_MAX)
        return false;
    entry_bytes b = entry_bytes_of(all->sections[IN_ADDR], u->addr_base + index * u->addr_size, UINT64_MAX);
    *out = entry_uint(&b, u->addr_size);
    return !b.has_failed;
}

static void entry_set_indexed_address(const entries *all, const entry_unit *u, uint64_t index, entry_value *v)
{
    uint64_t address = 0;
    bool is_there = entry_indexed_address(all, u, index, &address);
    entry_set(v, is_there ? ENTRY_ADDRESS : ENTRY_NO_ADDRESS, is_there ? address : index, u->addr_size);
}

static void entry_set_block(entry_bytes *b, entry_kind kind, uint64_t len, unsigned size, entry_value *v)
{
    entry_set(v, kind, 0, size);
    if (!entry_has(b, len))
        return;
    v->ptr = b->p;
    v->len = (size_t)len;
    b->p += len;
}

/* Texts, and what leads to them. Returns false for other forms. */
static bool entry_read_text(const entries *all, const entry_unit *u, entry_bytes *b, entry_value *v)
{
    uint32_t form = v->form;
    machsym_str found;
    switch (form) {
    case FORM_STRING:
        found = entry_text(b);
        entry_set(v, ENTRY_TEXT, 0, 0);
        v->ptr = (const uint8_t *)found.ptr;
        v->len = found.len;
        return true;
    case FORM_STRP: entry_set_text(all, IN_STR, entry_uint(b, u->offset_size), v); return true;
    case FORM_LINE_STRP: entry_set_text(all, IN_LINE_STR, entry_uint(b, u->offset_size), v); return true;
    case FORM_STRX:
    case FORM_GNU_STR_INDEX: entry_set_indexed_text(all, u, entry_uleb(b), v); return true;
    default: break;
    }
    if (form < FORM_STRX1 || form > FORM_STRX4)
        return false;
    entry_set_indexed_text(all, u, entry_uint(b, form - FORM_STRX1 + 1), v);
    return true;
}

/* Addresses and what leads to entries and lists. Returns false for other forms. */
static bool entry_read_place(const entries *all, const entry_unit *u, entry_bytes *b, entry_value *v)
{
    uint32_t form = v->form;
    switch (form) {
    case FORM_ADDR: entry_set(v, ENTRY_ADDRESS, entry_uint(b, u->addr_size), u->addr_size); return true;
    case FORM_ADDRX:
    case FORM_GNU_ADDR_INDEX: entry_set_indexed_address(all, u, entry_uleb(b), v); return true;
    case FORM_LLVM_ADDRX_OFFSET: {
        entry_set_indexed_address(all, u, entry_uleb(b), v);
        uint64_t more = entry_uint(b, 4);
        v->number += v->kind == ENTRY_ADDRESS ? more : 0;
        return true;
    }
    case FORM_REF_ADDR:
        entry_set(v, ENTRY_REFERENCE, entry_uint(b, u->version <= 2 ? u->addr_size : u->offset_size), 8);
        return true;
    case FORM_REF1:
    case FORM_REF2:
        entry_set(v, ENTRY_REFERENCE, u->offset + entry_uint(b, form - FORM_REF1 + 1), 4);
        return true;
    case FORM_REF4: entry_set(v, ENTRY_REFERENCE, u->offset + entry_uint(b, 4), 4); return true;
    case FORM_REF8: entry_set(v, ENTRY_REFERENCE, u->offset + entry_uint(b, 8), 4); return true;
    case FORM_REF_UDATA: entry_set(v, ENTRY_REFERENCE, u->offset + entry_uleb(b), 4); return true;
    case FORM_SEC_OFFSET:
        entry_set(v, ENTRY_OFFSET, entry_uint(b, u->offset_size), u->offset_size);
        return true;
    case FORM_RNGLISTX: entry_set(v, ENTRY_RANGE_LIST, entry_uleb(b), 0); return true;
    case FORM_LOCLISTX: entry_set(v, ENTRY_LOCATION_LIST, entry_uleb(b), 0); return true;
    default: break;
    }
    if (form < FORM_ADDRX1 || form > FORM_ADDRX4)
        return false;
    entry_set_indexed_address(all, u, entry_uint(b, form - FORM_ADDRX1 + 1), v);
    return true;
}

/* Numbers and blocks. An unknown form fails: where the next value begins is not known. */
static void entry_read_number(const entry_unit *u, entry_bytes *b, entry_value *v)
{
    switch (v->form) {
    case FORM_DATA1:
    case FORM_FLAG: entry_set(v, ENTRY_NUMBER, entry_uint(b, 1), 1); break;
    case FORM_DATA2: entry_set(v, ENTRY_NUMBER, entry_uint(b, 2), 2); break;
    case FORM_DATA4: entry_set(v, ENTRY_NUMBER, entry_uint(b, 4), 4); break;
    case FORM_DATA8:
    case FORM_REF_SIG8: entry_set(v, ENTRY_NUMBER, entry_uint(b, 8), 8); break;
    case FORM_DATA16: entry_set_block(b, ENTRY_BYTES, 16, 16, v); break;
    case FORM_SDATA: entry_set(v, ENTRY_SIGNED, entry_leb(b, true), 0); break;
    case FORM_UDATA: entry_set(v, ENTRY_DECIMAL, entry_uleb(b), 0); break;
    case FORM_FLAG_PRESENT: entry_set(v, ENTRY_TRUE, 1, 0); break;
    case FORM_BLOCK1: entry_set_block(b, ENTRY_BYTES, entry_uint(b, 1), 1, v); break;
    case FORM_BLOCK2: entry_set_block(b, ENTRY_BYTES, entry_uint(b, 2), 2, v); break;
    case FORM_BLOCK4: entry_set_block(b, ENTRY_BYTES, entry_uint(b, 4), 4, v); break;
    case FORM_BLOCK: entry_set_block(b, ENTRY_BYTES, entry_uleb(b), 0, v); break;
    case FORM_EXPRLOC: entry_set_block(b, ENTRY_EXPRESSION, entry_uleb(b), 0, v); break;
    case FORM_REF_SUP4: entry_set(v, ENTRY_ELSEWHERE, entry_uint(b, 4), 4); break;
    case FORM_REF_SUP8: entry_set(v, ENTRY_ELSEWHERE, entry_uint(b, 8), 8); break;
    case FORM_GNU_STRP_ALT: entry_set(v, ENTRY_TEXT, entry_uint(b, u->offset_size), 0); break;
    case FORM_STRP_SUP:
    case FORM_GNU_REF_ALT:
        entry_set(v, ENTRY_ELSEWHERE, entry_uint(b, u->offset_size), u->offset_size);
        break;
    default: b->has_failed = true;
    }
}

static void entry_read(const entries *all, const entry_unit *u, entry_bytes *b, entry_value *v)
{
    if (v->form == FORM_INDIRECT)
        v->form = (uint32_t)entry_uleb(b);
    if (!entry_read_text(all, u, b, v) && !entry_read_place(all, u, b, v))
        entry_read_number(u, b, v);
}

/* ---- Units ---- */

static int entry_by_code(const void *a, const void *b)
{
    const entry_abbrev *x = a;
    const entry_abbrev *y = b;
    if (x->code != y->code)
        return x->code < y->code ? -1 : 1;
    return (x->specs.p > y->specs.p) - (x->specs.p < y->specs.p);
}

/* Takes one attribute of a kind of entry; *number is what stands in the kind. Returns false at their end. */
static bool entry_next_spec(entry_bytes *specs, entry_value *v)
{
    memset(v, 0, sizeof *v);
    v->name = (uint32_t)entry_uleb(specs);
    v->form = (uint32_t)entry_uleb(specs);
    if (v->form == FORM_IMPLICIT_CONST)
        entry_set(v, ENTRY_SIGNED, entry_leb(specs, true), 0);
    return !specs->has_failed && (v->name != 0 || v->form != 0);
}

/* Ends with the bytes of the section. */
static void entry_read_abbrevs(const entries *all, entry_unit *u)
{
    entry_bytes b = entry_bytes_of(all->sections[IN_ABBREV], u->abbrev_offset, UINT64_MAX);
    size_t cap = 0;
    for (;;) {
        entry_abbrev one = {0};
        entry_value v;
        one.code = entry_uleb(&b);
        one.tag = (uint32_t)entry_uleb(&b);
        one.has_children = entry_uint(&b, 1) != 0;
        if (b.has_failed || one.code == 0)
            break;
        one.specs = b;
        while (entry_next_spec(&b, &v))
            continue;
        u->abbrevs = mem_room(u->abbrevs, u->abbrev_count, &cap, sizeof *u->abbrevs);
        u->abbrevs[u->abbrev_count++] = one;
    }
    if (u->abbrev_count > 0)
        qsort(u->abbrevs, u->abbrev_count, sizeof *u->abbrevs, entry_by_code);
}

static bool entry_is_before(const void *element, const void *key)
{
    return ((const entry_abbrev *)element)->code < *(const uint64_t *)key;
}

static const entry_abbrev *entry_abbrev_of(const entry_unit *u, uint64_t code)
{
    size_t i = mem_lower_bound(u->abbrevs, u->abbrev_count, sizeof *u->abbrevs, &code, entry_is_before);
    return i < u->abbrev_count && u->abbrevs[i].code == code ? &u->abbrevs[i] : NULL;
}

/* Reads the length of a unit. Returns false when none is there. */
static bool entry_read_length(entry_bytes *b, uint64_t *length, uint8_t *offset_size)
{
    *length = entry_uint(b, 4);
    *offset_size = *length == UINT32_MAX ? 8 : 4;
    if (*offset_size == 8)
        *length = entry_uint(b, 8);
    return !b->has_failed && *length <= (uint64_t)(b->end - b->p);
}

/* Reads a header. Returns false when it is damaged. */
static bool entry_read_header(const entries *all, uint64_t offset, entry_unit *u)
{
    entry_bytes b = entry_bytes_of(all->sections[IN_INFO], offset, UINT64_MAX);
    const uint8_t *begin = b.p;
    if (!entry_read_length(&b, &u->length, &u->offset_size))
        return false;
    u->offset = offset;
    u->end = offset + (uint64_t)(b.p - begin) + u->length;
    u->version = (uint16_t)entry_uint(&b, 2);
    if (u->version >= 5) {
        u->type = (uint8_t)entry_uint(&b, 1);
        u->addr_size = (uint8_t)entry_uint(&b, 1);
    }
    u->abbrev_offset = entry_uint(&b, u->offset_size);
    if (u->version < 5)
        u->addr_size = (uint8_t)entry_uint(&b, 1);
    if (u->type == UNIT_SKELETON || u->type == UNIT_SPLIT)
        u->dwo_id = entry_uint(&b, 8);
    if (u->type == UNIT_TYPE || u->type == UNIT_SPLIT_TYPE)
        entry_skip(&b, 8 + (uint64_t)u->offset_size);
    u->root = offset + (uint64_t)(b.p - begin);
    return !b.has_failed && u->version >= 2 && u->version <= 5 && (u->addr_size == 4 || u->addr_size == 8);
}

/* Takes what all values of a unit need out of its first entry. Bases come before what needs them: the entry
 * is read twice. */
static void entry_read_root(entries *all, entry_unit *u)
{
    for (int turn = 0; turn < 2; turn++) {
        uint64_t entry_pc = 0;
        entry_cursor root;
        entry_value v;
        if (!entry_open(all, u->root, &root))
            return;
        root.unit = u;
        while (entry_next(all, &root, &v)) {
            switch (v.name) {
            case ENTRY_AT_STR_OFFSETS_BASE: u->str_offsets_base = v.number; break;
            case ENTRY_AT_ADDR_BASE: u->addr_base = v.number; break;
            case ENTRY_AT_RNGLISTS_BASE: u->rnglists_base = v.number; break;
            case ENTRY_AT_LOW_PC: u->low_pc = v.kind == ENTRY_ADDRESS ? v.number : 0; break;
            case ENTRY_AT_ENTRY_PC: entry_pc = v.kind == ENTRY_ADDRESS ? v.number : 0; break;
            case ENTRY_AT_COMP_DIR: u->comp_dir = str_make((const char *)v.ptr, v.len); break;
            case ENTRY_AT_STMT_LIST:
                u->has_lines = true;
                u->lines = v.number;
                break;
            default: break;
            }
        }
        u->low_pc = u->low_pc != 0 ? u->low_pc : entry_pc;
    }
}

static const entry_unit *entry_take_unit(entries *all, const entry_unit *header)
{
    if (all->unit_count == MAX_UNITS)
        return NULL;
    entry_unit *u = mem_alloc(sizeof *u);
    *u = *header;
    all->units[all->unit_count++] = u;
    entry_read_abbrevs(all, u);
    entry_read_root(all, u);
    return u;
}

const entry_unit *entries_unit(entries *all, uint64_t offset)
{
    for (size_t i = 0; i < all->unit_count; i++) {
        if (offset >= all->units[i]->offset && offset < all->units[i]->end)
            return all->units[i];
    }
    if (all->tries++ >= MAX_UNITS)
        return NULL;
    for (uint64_t at = 0; at <= offset;) { /* each unit is longer than nothing */
        entry_unit u;
        memset(&u, 0, sizeof u);
        bool is_whole = entry_read_header(all, at, &u);
        if (u.end <= at || (offset < u.end && !is_whole))
            return NULL;
        if (offset < u.end)
            return entry_take_unit(all, &u);
        at = u.end;
    }
    return NULL;
}

entries *entries_open(const machsym_image *image)
{
    machsym_cursor at = {0, 0};
    machsym_section section;
    entries *all = mem_alloc(sizeof *all);
    memset(all, 0, sizeof *all);
    while (machsym_image_next_section(image, &at, &section)) {
        for (int i = 0; i < IN_SECTIONS; i++) {
            if (all->sections[i].len == 0 && str_is(section.name, section_names[i]))
                all->sections[i] = section.bytes;
        }
    }
    return all;
}

void entries_close(entries *all)
{
    for (size_t i = 0; i < all->unit_count; i++) {
        free(all->units[i]->abbrevs);
        free(all->units[i]);
    }
    free(all);
}

/* ---- Entries ---- */

/* Begins the entry that stands next; an entry of code 0 ends a list, and has no tag. */
static bool entry_begin(entries *all, const entry_unit *u, entry_bytes *b, entry_cursor *out)
{
    const uint8_t *info = all->sections[IN_INFO].ptr;
    memset(out, 0, sizeof *out);
    out->unit = u;
    out->offset = (uint64_t)(b->p - info);
    uint64_t code = entry_uleb(b);
    const entry_abbrev *kind = code != 0 ? entry_abbrev_of(u, code) : NULL;
    out->values = *b;
    if (b->has_failed || (code != 0 && kind == NULL) || !entry_step(all))
        return false;
    if (kind != NULL) {
        out->tag = kind->tag;
        out->has_children = kind->has_children;
        out->specs = kind->specs;
    }
    return true;
}

bool entry_open(entries *all, uint64_t offset, entry_cursor *out)
{
    const entry_unit *u = entries_unit(all, offset);
    if (u == NULL || offset < u->root)
        return false;
    entry_bytes b = entry_bytes_of(all->sections[IN_INFO], offset, u->end);
    return !b.has_failed && entry_begin(all, u, &b, out) && out->tag != 0;
}

bool entry_next(entries *all, entry_cursor *one, entry_value *out)
{
    if (one->specs.p == NULL || !entry_next_spec(&one->specs, out))
        return false;
    if (out->form != FORM_IMPLICIT_CONST)
        entry_read(all, one->unit, &one->values, out);
    size_t len = out->kind == ENTRY_TEXT ? out->len : 0;
    if (one->values.has_failed || !entry_take(all, 1 + len / 4)) { /* of long names no more is printed, too */
        one->values.has_failed = true;
        return false;
    }
    return true;
}

bool entry_find(entries *all, uint64_t offset, uint32_t name, entry_value *out)
{
    entry_cursor one;
    if (!entry_open(all, offset, &one))
        return false;
    while (entry_next(all, &one, out)) {
        if (out->name == name)
            return true;
    }
    return false;
}

uint64_t entry_refers_to(entries *all, const entry_value *value)
{
    const entry_unit *u = value->kind == ENTRY_REFERENCE ? entries_unit(all, value->number) : NULL;
    return u != NULL && value->number >= u->root ? value->number : 0;
}

bool entry_find_along(entries *all, uint64_t offset, uint32_t name, entry_value *out, uint64_t *of)
{
    for (int i = 0; i < MAX_ALONG && offset != 0; i++) {
        entry_value next;
        *of = offset;
        if (entry_find(all, offset, name, out))
            return true;
        bool leads = entry_find(all, offset, ENTRY_AT_ORIGIN, &next) ||
                     entry_find(all, offset, ENTRY_AT_SPECIFICATION, &next);
        offset = leads ? entry_refers_to(all, &next) : 0;
    }
    return false;
}

/* ---- Code ---- */

bool entry_list_offset(const entries *all, const entry_unit *unit, const entry_value *value, uint64_t *out)
{
    *out = value->number;
    if (value->kind != ENTRY_RANGE_LIST)
        return true;
    if (value->number > UINT32_MAX || unit->rnglists_base == 0)
        return false;
    entry_bytes b = entry_bytes_of(all->sections[IN_RNGLISTS],
                                   unit->rnglists_base + value->number * unit->offset_size, UINT64_MAX);
    *out = unit->rnglists_base + entry_uint(&b, unit->offset_size);
    return !b.has_failed;
}

/* Takes an entry of .debug_ranges. Returns false at the end of the list. */
static bool entry_next_pair(const entry_unit *u, entry_ranges *at, entry_range *out)
{
    const uint64_t most = u->addr_size == 8 ? UINT64_MAX : UINT32_MAX;
    for (;;) {
        uint64_t lo = entry_uint(&at->rest, u->addr_size);
        uint64_t hi = entry_uint(&at->rest, u->addr_size);
        if (at->rest.has_failed || (lo == 0 && hi == 0))
            return false;
        if (lo == most) {
            at->base = hi;
            continue;
        }
        *out = (entry_range){at->base + lo, at->base + hi};
        return true;
    }
}

/* The same of .debug_rnglists. */
static bool entry_next_listed(const entries *all, const entry_unit *u, entry_ranges *at, entry_range *out)
{
    entry_bytes *b = &at->rest;
    for (;;) {
        uint64_t kind = entry_uint(b, 1);
        bool is_there = true;
        out->lo = at->base;
        switch (kind) {
        case LIST_BASE_INDEX: is_there = entry_indexed_address(all, u, entry_uleb(b), &at->base); break;
        case LIST_BASE: at->base = entry_uint(b, u->addr_size); break;
        case LIST_INDEXES:
            is_there = entry_indexed_address(all, u, entry_uleb(b), &out->lo);
            is_there = entry_indexed_address(all, u, entry_uleb(b), &out->hi) && is_there;
            break;
        case LIST_INDEX_LENGTH:
            is_there = entry_indexed_address(all, u, entry_uleb(b), &out->lo);
            out->hi = out->lo + entry_uleb(b);
            break;
        case LIST_OFFSETS:
            out->lo = at->base + entry_uleb(b);
            out->hi = at->base + entry_uleb(b);
            break;
        case LIST_ADDRESSES:
            out->lo = entry_uint(b, u->addr_size);
            out->hi = entry_uint(b, u->addr_size);
            break;
        case LIST_ADDRESS_LENGTH:
            out->lo = entry_uint(b, u->addr_size);
            out->hi = out->lo + entry_uleb(b);
            break;
        default: return false; /* the end, or no kind that is known */
        }
        if (b->has_failed || !is_there)
            return false;
        if (kind != LIST_BASE_INDEX && kind != LIST_BASE)
            return true;
    }
}

bool entry_next_range(entries *all, const entry_unit *unit, const entry_value *value, entry_ranges *at,
                      entry_range *out)
{
    entry_section in = unit->version >= 5 ? IN_RNGLISTS : IN_RANGES;
    if (!at->is_begun) {
        if (!entry_list_offset(all, unit, value, &at->offset))
            return false;
        at->is_begun = true;
        at->base = unit->low_pc;
        at->rest = entry_bytes_of(all->sections[in], at->offset, UINT64_MAX);
    }
    return entry_step(all) &&
           (in == IN_RNGLISTS ? entry_next_listed(all, unit, at, out) : entry_next_pair(unit, at, out));
}

bool entry_code(entries *all, uint64_t offset, entry_range *out)
{
    entry_value lo;
    entry_value hi;
    if (!entry_find(all, offset, ENTRY_AT_LOW_PC, &lo) || !entry_find(all, offset, ENTRY_AT_HIGH_PC, &hi) ||
        lo.kind != ENTRY_ADDRESS)
        return false;
    out->lo = lo.number;
    out->hi = hi.kind == ENTRY_ADDRESS ? hi.number : lo.number + hi.number;
    return true;
}

static bool entry_has_address(entries *all, uint64_t offset, uint64_t addr)
{
    entry_value ranges;
    entry_ranges at = {0};
    entry_range one;
    if (entry_code(all, offset, &one) && addr >= one.lo && addr < one.hi)
        return true;
    if (!entry_find(all, offset, ENTRY_AT_RANGES, &ranges))
        return false;
    while (entry_next_range(all, entries_unit(all, offset), &ranges, &at, &one)) {
        if (addr >= one.lo && addr < one.hi)
            return true;
    }
    return false;
}

/* Goes to the entry after one. *depth changes where it has children, and where a list of children ends.
 * Returns false at the end of the unit, and where it is damaged. */
static bool entry_walk(entries *all, entry_cursor *one, unsigned *depth)
{
    entry_value v;
    while (entry_next(all, one, &v))
        continue;
    entry_bytes b = one->values;
    if (b.has_failed)
        return false;
    *depth += one->tag != 0 && one->has_children;
    *depth -= one->tag == 0 && *depth > 0;
    return entry_begin(all, one->unit, &b, one);
}

uint64_t entry_block_at(entries *all, uint64_t offset, uint64_t addr)
{
    uint64_t found = 0;
    unsigned found_depth = 0; /* what is below the last one that was found is not asked */
    unsigned depth = 0;
    entry_cursor one;
    if (!entry_open(all, offset, &one))
        return 0;
    while (entry_walk(all, &one, &depth) && depth > 0) {
        if (found != 0 && depth <= found_depth)
            found_depth = 0;
        if (one.tag != ENTRY_TAG_LEXICAL_BLOCK || found_depth != 0 ||
            !entry_has_address(all, one.offset, addr))
            continue;
        found = one.offset;
        found_depth = depth;
    }
    return found;
}

bool entry_next_child(entries *all, entry_cursor *one, unsigned *depth)
{
    if (*depth == 0 && !one->has_children)
        return false;
    while (entry_walk(all, one, depth) && *depth > 0) {
        if (*depth == 1 && one->tag != 0)
            return true;
    }
    return false;
}

size_t entry_path_to(entries *all, uint64_t offset, uint64_t *path, size_t cap)
{
    const entry_unit *u = entries_unit(all, offset);
    unsigned depth = 0;
    entry_cursor one;
    if (u == NULL || !entry_open(all, u->root, &one))
        return 0;
    while (one.offset < offset) {
        if (depth < cap)
            path[depth] = one.offset;
        if (!entry_walk(all, &one, &depth))
            return 0;
    }
    return one.offset == offset && depth <= cap ? depth : 0;
}

/* ---- Files ---- */

/* What a line table states of its directories and files. */
typedef struct entry_lines {
    entry_unit how; /* sizes of values, and bases */
    entry_bytes rest;
} entry_lines;

static bool entry_lines_open(const entries *all, const entry_unit *unit, entry_lines *out)
{
    uint64_t length;
    entry_bytes b = entry_bytes_of(all->sections[IN_LINE], unit->lines, UINT64_MAX);
    out->how = *unit;
    if (!unit->has_lines || !entry_read_length(&b, &length, &out->how.offset_size))
        return false;
    b.end = b.p + length;
    out->how.version = (uint16_t)entry_uint(&b, 2);
    if (out->how.version >= 5)
        entry_skip(&b, 2); /* sizes of addresses and selectors */
    uint64_t header = entry_uint(&b, out->how.offset_size);
    if (!entry_has(&b, header))
        return false;
    b.end = b.p + header;
    entry_skip(&b, out->how.version >= 4 ? 5 : 4);
    uint64_t opcodes = entry_uint(&b, 1);
    entry_skip(&b, opcodes > 0 ? opcodes - 1 : 0);
    out->rest = b;
    return !b.has_failed && out->how.version >= 2 && out->how.version <= 5;
}

/* A directory or file of a table. */
typedef struct entry_listed {
    machsym_str name;
    uint64_t dir;
} entry_listed;

/* Passes a list of DWARF 5, and keeps what has an index. Returns whether it is there. */
static bool entry_pass_list(entries *all, entry_lines *lines, uint64_t index, entry_listed *out)
{
    enum { CONTENT_PATH = 1, CONTENT_DIRECTORY = 2 };
    entry_bytes *b = &lines->rest;
    uint64_t kinds = entry_uint(b, 1);
    entry_bytes format = *b;
    bool is_there = false;
    for (uint64_t i = 0; i < 2 * kinds; i++)
        entry_uleb(b);
    uint64_t count = entry_uleb(b);
    for (uint64_t i = 0; i < count && !b->has_failed && entry_step(all); i++) {
        entry_listed one = {{NULL, 0}, 0};
        entry_bytes specs = format;
        for (uint64_t k = 0; k < kinds; k++) {
            entry_value v;
            uint64_t content = entry_uleb(&specs);
            memset(&v, 0, sizeof v);
            v.form = (uint32_t)entry_uleb(&specs);
            entry_read(all, &lines->how, b, &v);
            if (content == CONTENT_PATH)
                one.name = str_make((const char *)v.ptr, v.len);
            else if (content == CONTENT_DIRECTORY)
                one.dir = v.number;
        }
        if (i == index && !b->has_failed) {
            *out = one;
            is_there = true;
        }
    }
    return is_there;
}

/* The same before DWARF 5, of a list that counts from 1. */
static bool entry_pass_old_list(entries *all, entry_lines *lines, bool are_files, uint64_t index,
                                entry_listed *out)
{
    entry_bytes *b = &lines->rest;
    bool is_there = false;
    for (uint64_t i = 1; entry_step(all); i++) {
        entry_listed one = {entry_text(b), 0};
        if (b->has_failed || one.name.len == 0)
            break;
        if (are_files) {
            one.dir = entry_uleb(b);
            entry_uleb(b); /* its time */
            entry_uleb(b); /* its size */
        }
        if (i == index) {
            *out = one;
            is_there = true;
        }
    }
    return is_there;
}

static bool entry_listed_at(entries *all, const entry_unit *unit, bool is_file, uint64_t index,
                            entry_listed *out)
{
    entry_lines lines;
    entry_listed none;
    if (!entry_lines_open(all, unit, &lines))
        return false;
    bool is_new = lines.how.version >= 5;
    if (!is_file)
        return is_new ? entry_pass_list(all, &lines, index, out)
                      : entry_pass_old_list(all, &lines, false, index, out);
    if (is_new) {
        entry_pass_list(all, &lines, UINT64_MAX, &none);
        return entry_pass_list(all, &lines, index, out);
    }
    entry_pass_old_list(all, &lines, false, UINT64_MAX, &none);
    return entry_pass_old_list(all, &lines, true, index, out);
}

bool entry_file(entries *all, const entry_unit *unit, uint64_t index, machsym_path *out)
{
    entry_listed file;
    entry_listed dir = {{NULL, 0}, 0};
    entry_lines lines;
    if (!entry_lines_open(all, unit, &lines) || !entry_listed_at(all, unit, true, index, &file) ||
        file.name.ptr == NULL)
        return false;
    bool is_new = lines.how.version >= 5;
    if (is_new || file.dir > 0)
        entry_listed_at(all, unit, false, file.dir, &dir);
    out->comp_dir = is_new && file.dir == 0 ? str_make(NULL, 0) : unit->comp_dir;
    out->dir = dir.name;
    out->name = file.name;
    return true;
}
