#ifndef ms_ROOM_macho_fixups
#define ms_ROOM_macho_fixups
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "../base/memory.h"
#include "../base/segments.h"
#include "cache.h"
#include "macho.h"

/* ==== >>fixups =============================================================================================
 * Job:    reads the data of a slice by address, with its pointers decoded.
 * Offers: ms_fx_data, ms_fx_rest, ms_fx_open, ms_fx_bytes, ms_fx_at_addr, ms_fx_u32_at, ms_fx_str_at,
 *         ms_fx_pointer_at, ms_fx_spend.
 * Never:  knows what the data means; reads more than its budget. */

/* fixup-chains.h: how a pointer with a fixup is encoded. The formats of shared caches and firmware are not
 * read. */
enum {
    ms_DYLD_CHAINED_PTR_ARM64E = 1,
    ms_DYLD_CHAINED_PTR_64 = 2,
    ms_DYLD_CHAINED_PTR_32 = 3,
    ms_DYLD_CHAINED_PTR_64_OFFSET = 6,
    ms_DYLD_CHAINED_PTR_ARM64E_KERNEL = 7,
    ms_DYLD_CHAINED_PTR_64_KERNEL_CACHE = 8,
    ms_DYLD_CHAINED_PTR_ARM64E_USERLAND = 9,
    ms_DYLD_CHAINED_PTR_X86_64_KERNEL_CACHE = 11,
    ms_DYLD_CHAINED_PTR_ARM64E_USERLAND24 = 12
};

/* loader.h: the upper half of a byte of bind code, and the types of relocation used. */
enum {
    ms_BIND_OPCODE_DONE = 0x00,
    ms_BIND_OPCODE_SET_DYLIB_ORDINAL_ULEB = 0x20,
    ms_BIND_OPCODE_SET_SYMBOL_TRAILING_FLAGS_IMM = 0x40,
    ms_BIND_OPCODE_SET_ADDEND_SLEB = 0x60,
    ms_BIND_OPCODE_SET_SEGMENT_AND_OFFSET_ULEB = 0x70,
    ms_BIND_OPCODE_ADD_ADDR_ULEB = 0x80,
    ms_BIND_OPCODE_DO_BIND = 0x90,
    ms_BIND_OPCODE_DO_BIND_ADD_ADDR_ULEB = 0xa0,
    ms_BIND_OPCODE_DO_BIND_ADD_ADDR_IMM_SCALED = 0xb0,
    ms_BIND_OPCODE_DO_BIND_ULEB_TIMES_SKIPPING_ULEB = 0xc0,
    ms_BIND_OPCODE_THREADED = 0xd0
};

/* What a pointer stands for; all zero: NULL, or nothing that could be decoded. */
typedef struct ms_fx_pointer {
    uint64_t addr;      /* 0 for an import */
    machsym_str import; /* the symbol in another image, with its underscore */
} ms_fx_pointer;

/* A bit of an item in ms_fx_data.binds: the rest is an address of this image, and no index of a name. */
#define ms_FX_BIND_IS_VALUE ((uint64_t)1 << 63)

/* A section that an image left for sessions to read. */
typedef struct ms_fx_late {
    ms_span bytes; /* empty when they cannot be read */
    bool is_read;
} ms_fx_late;

/* How one session gets the sections of a slice that the image left to it. The image is shared by threads and
 * never changes, so that the session keeps them. */
typedef struct ms_fx_rest {
    machsym_io io; /* read NULL: all sections are there */
    uint64_t left; /* bytes that may still be read: sections do not share bytes */
    ms_fx_late *v; /* by section; NULL: none was asked for yet */
    ms_arena *arena;
    machsym_io_stats *reads;
    uint32_t lost; /* sections that cannot be read */
} ms_fx_rest;

/* A section that was asked for lately, and where it lies. */
typedef struct ms_fx_recent {
    uint64_t lo;
    uint64_t size;
    const ms_mo_section *section;
} ms_fx_recent;

enum { ms_FX_RECENT = 4 }; /* lists of methods, references, names and code are read in turn */

/* Reads the data of one slice by address. */
typedef struct ms_fx_data {
    const ms_mo *mo;
    ms_fx_rest *rest; /* NULL: all sections are there */
    ms_segs sections; /* which section holds an address */
    ms_fx_recent recent[ms_FX_RECENT];
    unsigned recent_at; /* the one that is replaced next */
    ms_span imports;    /* of chained fixups */
    unsigned one;       /* size of an import */
    ms_span names;      /* of imports */
    ms_key *binds;      /* sorted; address, index into bind_names (or ms_FX_BIND_IS_VALUE) */
    size_t bind_count;
    size_t bind_cap;
    machsym_str *bind_names;
    size_t name_count;
    size_t name_cap;
    bool is_threaded; /* the first arm64e files: bind code without chains' headers, pointers as in ARM64E */
    uint64_t budget;  /* bytes and records that may still be read: see MACHSYM_METADATA_WORK */
    bool is_spent;
    uint32_t damage_count;
} ms_fx_data;

/* Every reader of metadata starts with a full budget: then none leaves too little for the next. */
static void ms_fx_refill(ms_fx_data *d)
{
    d->budget = ms_mo_size(d->mo) * MACHSYM_METADATA_WORK_PER_BYTE + MACHSYM_METADATA_WORK;
    d->is_spent = false;
}

/* Takes cost from the budget. Returns false once it is spent. */
static bool ms_fx_spend(ms_fx_data *d, uint64_t cost)
{
    if (cost > d->budget) {
        d->damage_count += !d->is_spent;
        d->is_spent = true;
        d->budget = 0;
        return false;
    }
    d->budget -= cost;
    return true;
}

/* Reads a section that the image left. */
static ms_span ms_fx_read_late(ms_fx_rest *rest, const ms_mo *mo, const ms_mo_section *section)
{
    const uint64_t at = ms_mo_file_offset(mo, section->off);
    ms_span none = ms_span_make(NULL, 0);
    if (section->unread <= rest->left) {
        uint8_t *room = (uint8_t *)ms_arena_alloc(rest->arena, section->unread, 1);
        if (room == NULL)
            return none;
        rest->left -= section->unread;
        rest->reads->count++;
        rest->reads->bytes += section->unread;
        if (rest->io.read(rest->io.user, at, room, section->unread) >= section->unread)
            return ms_span_make(room, section->unread);
    }
    if (rest->reads->lost++ == 0)
        rest->reads->lost_at = at;
    rest->lost++;
    return none;
}

/* The bytes of a section, which are read when they are first asked for. */
static ms_span ms_fx_bytes(ms_fx_data *d, const ms_mo_section *section)
{
    ms_fx_rest *rest = d->rest;
    if (section->unread == 0 || rest == NULL || rest->io.read == NULL)
        return section->bytes;
    if (rest->v == NULL)
        rest->v = (ms_fx_late *)ms_arena_zeroed(rest->arena, d->mo->section_count, sizeof *rest->v);
    if (rest->v == NULL)
        return section->bytes;
    ms_fx_late *late = &rest->v[section - d->mo->sections];
    if (!late->is_read)
        late->bytes = ms_fx_read_late(rest, d->mo, section);
    late->is_read = true;
    return late->bytes;
}

/* The section whose bytes hold an address; NULL when the file has none. */
static const ms_mo_section *ms_fx_section_at(ms_fx_data *d, uint64_t addr)
{
    MACHSYM_COUNT_WORK(1);
    for (unsigned i = 0; i < ms_FX_RECENT; i++) {
        if (addr - d->recent[i].lo < d->recent[i].size)
            return d->recent[i].section;
    }
    size_t at = ms_seg_find(d->sections.v, d->sections.count, addr);
    if (at + 1 >= d->sections.count ||
        d->sections.v[at].owner == ms_SEG_NONE) /* the last segment has no owner */
        return NULL;
    ms_fx_recent *recent = &d->recent[d->recent_at++ % ms_FX_RECENT];
    recent->lo = d->sections.v[at].lo;
    recent->size = d->sections.v[at + 1].lo - recent->lo;
    recent->section = &d->mo->sections[d->sections.v[at].owner];
    return recent->section;
}

/* What is left of the section at an address from there on; empty when the file has no such bytes. Metadata of
 * an image in a cache leads to other images, and to what the cache's builder keeps for all of them. */
static ms_span ms_fx_from_addr(ms_fx_data *d, uint64_t addr)
{
    const ms_mo_section *section = ms_fx_section_at(d, addr);
    if (section != NULL)
        return ms_span_from(ms_fx_bytes(d, section), addr - section->addr);
    return ms_mo_cache(d->mo) != NULL ? ms_dc_at(ms_mo_cache(d->mo), addr) : ms_span_make(NULL, 0);
}

static ms_span ms_fx_at_addr(ms_fx_data *d, uint64_t addr, uint64_t len)
{
    return ms_span_sub(ms_fx_from_addr(d, addr), 0, len);
}

static uint32_t ms_fx_u32_at(ms_fx_data *d, uint64_t addr)
{
    if (ms_mo_cache(d->mo) != NULL)
        return ms_dc_number_at(ms_mo_cache(d->mo), addr);
    ms_span span = ms_fx_at_addr(d, addr, 4);
    return span.len == 4 ? ms_rd_raw_u32(span.ptr) : 0;
}

static unsigned ms_fx_pointer_size(const ms_fx_data *d)
{
    return d->mo->is_64 ? 8 : 4;
}

/* The text at the start of what is left of a section or table, up to its NUL; empty when there is none. It
 * is paid from the budget. */
static machsym_str ms_fx_str_in(ms_fx_data *d, ms_span rest)
{
    if (rest.len > d->budget)
        rest.len = (size_t)d->budget;
    machsym_str str = ms_rd_str_at(rest, 0);
    ms_fx_spend(d, str.ptr != NULL ? str.len + 1 : rest.len);
    return str;
}

static machsym_str ms_fx_str_at(ms_fx_data *d, uint64_t addr)
{
    return ms_fx_str_in(d, ms_fx_from_addr(d, addr));
}

/* An address relative to its own place, 32 bits wide; 0 when it is NULL or missing. */
static uint64_t ms_fx_relative_at(ms_fx_data *d, uint64_t addr)
{
    uint32_t raw = ms_fx_u32_at(d, addr);
    return raw == 0 ? 0 : addr + (uint64_t)(int64_t)(int32_t)raw;
}

/* ---- Imports ---- */

/* The symbol that an import stands for; empty where something is added to its address: what lies there is
 * something else. */
static machsym_str ms_fx_import(ms_fx_data *d, uint64_t ordinal)
{
    if (d->is_threaded)
        return ordinal < d->name_count ? d->bind_names[ordinal] : ms_str_empty();
    if (d->one == 0 || ordinal >= d->imports.len / d->one)
        return ms_str_empty();
    const uint8_t *p = d->imports.ptr + ordinal * d->one;
    if ((d->one == 8 && ms_rd_raw_u32(p + 4) != 0) || (d->one == 16 && ms_rd_raw_u64(p + 8) != 0))
        return ms_str_empty(); /* an addend */
    uint64_t off = d->one == 16 ? ms_rd_raw_u64(p) >> 32 : ms_rd_raw_u32(p) >> 9;
    return ms_fx_str_in(d, ms_span_from(d->names, off));
}

/* dyld_chained_fixups_header: where imports and their names are. */
static void ms_fx_read_imports(ms_fx_data *d)
{
    ms_span fixups = ms_mo_linkedit(d->mo, d->mo->loads.fixups_off, d->mo->loads.fixups_size);
    ms_rd rd = ms_rd_make(fixups);
    ms_rd_skip(&rd, 8); /* version, starts_offset */
    uint32_t imports_off = ms_rd_u32(&rd);
    uint32_t symbols_off = ms_rd_u32(&rd);
    uint32_t count = ms_rd_u32(&rd);
    uint32_t format = ms_rd_u32(&rd); /* 1: 32 bits; 2: with an addend; 3: 64 bits with one */
    uint32_t symbols_format = ms_rd_u32(&rd);
    if (rd.failed || symbols_format != 0 || format < 1 || format > 3) /* 1: zlib, which no linker writes */
        return;
    d->one = format == 1 ? 4 : format == 2 ? 8 : 16;
    d->imports = ms_span_sub(fixups, imports_off, (uint64_t)count * d->one);
    d->names = ms_span_from(fixups, symbols_off);
}

static void ms_fx_add_bind(ms_fx_data *d, uint64_t addr, uint64_t item, ms_arena *arena)
{
    ms_key *v = (ms_key *)ms_arena_grow(arena, d->binds, d->bind_count, &d->bind_cap, sizeof *v);
    if (v == NULL)
        return;
    d->binds = v;
    v[d->bind_count].key = addr;
    v[d->bind_count++].item = item;
}

static void ms_fx_add_bind_name(ms_fx_data *d, machsym_str name, ms_arena *arena)
{
    machsym_str *v =
        (machsym_str *)ms_arena_grow(arena, d->bind_names, d->name_count, &d->name_cap, sizeof *v);
    if (v == NULL)
        return;
    d->bind_names = v;
    v[d->name_count++] = name;
}

/* The state of the machine that runs bind code. */
typedef struct ms_fx_binder {
    uint64_t addr;
    uint64_t times;
    uint64_t skip;
    machsym_str name;
    int64_t addend;
} ms_fx_binder;

/* Makes the binds of one instruction. In threaded files it only adds to the list of imports. With an addend
 * the name is not that of what the pointer leads to. */
static void ms_fx_do_bind(ms_fx_data *d, ms_fx_binder *b, ms_arena *arena)
{
    if (d->is_threaded) {
        ms_fx_add_bind_name(d, b->addend == 0 ? b->name : ms_str_empty(), arena);
        return;
    }
    for (; b->times > 0 && d->name_count > 0 && ms_fx_spend(d, 1) && !arena->oom; b->times--) {
        if (b->addend == 0)
            ms_fx_add_bind(d, b->addr, d->name_count - 1, arena);
        b->addr += b->skip + ms_fx_pointer_size(d);
    }
}

/* Runs the bind code of LC_DYLD_INFO. Lazy binds are not needed: they are of stubs, which have names
 * already. */
static void ms_fx_read_binds(ms_fx_data *d, ms_span code, ms_arena *arena)
{
    ms_rd rd = ms_rd_make(code);
    ms_fx_binder b;
    ms_zero(&b, sizeof b);
    while (ms_rd_left(&rd) > 0 && !arena->oom) {
        uint8_t byte = ms_rd_u8(&rd);
        uint8_t low = byte & 0xf;
        b.times = 1;
        b.skip = 0;
        switch (byte & 0xf0) {
        case ms_BIND_OPCODE_DONE: return;
        case ms_BIND_OPCODE_SET_DYLIB_ORDINAL_ULEB: ms_rd_uleb(&rd); break;
        case ms_BIND_OPCODE_SET_ADDEND_SLEB: b.addend = ms_rd_sleb(&rd); break;
        case ms_BIND_OPCODE_SET_SYMBOL_TRAILING_FLAGS_IMM:
            b.name = ms_rd_str(&rd);
            if (!d->is_threaded)
                ms_fx_add_bind_name(d, b.name, arena);
            break;
        case ms_BIND_OPCODE_SET_SEGMENT_AND_OFFSET_ULEB:
            b.addr = ms_rd_uleb(&rd) + (low < d->mo->segment_count ? d->mo->segments[low].addr : 0);
            break;
        case ms_BIND_OPCODE_ADD_ADDR_ULEB: b.addr += ms_rd_uleb(&rd); break;
        case ms_BIND_OPCODE_DO_BIND: ms_fx_do_bind(d, &b, arena); break;
        case ms_BIND_OPCODE_DO_BIND_ADD_ADDR_ULEB:
            b.skip = ms_rd_uleb(&rd);
            ms_fx_do_bind(d, &b, arena);
            break;
        case ms_BIND_OPCODE_DO_BIND_ADD_ADDR_IMM_SCALED:
            b.skip = (uint64_t)low * ms_fx_pointer_size(d);
            ms_fx_do_bind(d, &b, arena);
            break;
        case ms_BIND_OPCODE_DO_BIND_ULEB_TIMES_SKIPPING_ULEB:
            b.times = ms_rd_uleb(&rd);
            b.skip = ms_rd_uleb(&rd);
            ms_fx_do_bind(d, &b, arena);
            break;
        case ms_BIND_OPCODE_THREADED:
            if (low == 0) { /* the binds that follow fill a table of this many imports; 1 walks the chains */
                ms_rd_uleb(&rd);
                d->is_threaded = true;
                d->name_count = 0;
            }
            break;
        default: break; /* dylib ordinals and types in the low bits */
        }
    }
    d->damage_count += rd.failed;
}

/* ---- Pointers ---- */

static ms_fx_pointer ms_fx_to_import(ms_fx_data *d, uint64_t ordinal, uint64_t addend)
{
    ms_fx_pointer pointer = {0, addend == 0 ? ms_fx_import(d, ordinal) : ms_str_empty()};
    return pointer;
}

/* DYLD_CHAINED_PTR_ARM64E and its kin: bit 63 authenticated, bit 62 an import. */
static ms_fx_pointer ms_fx_decode_arm64e(ms_fx_data *d, unsigned format, uint64_t raw)
{
    ms_fx_pointer pointer = {0, {NULL, 0}};
    bool is_auth = raw >> 63 != 0;
    bool is_24 = format == ms_DYLD_CHAINED_PTR_ARM64E_USERLAND24;
    if ((raw >> 62 & 1) != 0)
        return ms_fx_to_import(d, raw & (is_24 ? 0xffffff : 0xffff), is_auth ? 0 : raw >> 32 & 0x7ffff);
    if (is_auth)
        pointer.addr = d->mo->fixup_base + (raw & 0xffffffff);
    else
        pointer.addr = (raw & 0x7ffffffffff) + (format == ms_DYLD_CHAINED_PTR_ARM64E ? 0 : d->mo->fixup_base);
    return pointer;
}

/* Undoes the encoding of a pointer that is not NULL. */
static ms_fx_pointer ms_fx_decode(ms_fx_data *d, const ms_mo_segment *segment, uint64_t raw)
{
    ms_fx_pointer pointer = {0, {NULL, 0}};
    unsigned format = segment->fixup_format;
    uint64_t base = d->mo->fixup_base;
    switch (format) {
    case 0: pointer.addr = ms_mo_unsigned(d->mo->slice.cputype, raw); break;
    case ms_DYLD_CHAINED_PTR_ARM64E:
    case ms_DYLD_CHAINED_PTR_ARM64E_KERNEL:
    case ms_DYLD_CHAINED_PTR_ARM64E_USERLAND:
    case ms_DYLD_CHAINED_PTR_ARM64E_USERLAND24: return ms_fx_decode_arm64e(d, format, raw);
    case ms_DYLD_CHAINED_PTR_64:
    case ms_DYLD_CHAINED_PTR_64_OFFSET:
        if (raw >> 63 != 0)
            return ms_fx_to_import(d, raw & 0xffffff, raw >> 24 & 0xff);
        pointer.addr = (raw & 0xfffffffff) + (format == ms_DYLD_CHAINED_PTR_64 ? 0 : base);
        break;
    case ms_DYLD_CHAINED_PTR_32:
        if (raw >> 31 != 0)
            return ms_fx_to_import(d, raw & 0xfffff, raw >> 20 & 0x3f);
        if ((raw & 0x3ffffff) <= segment->max_valid_pointer)
            pointer.addr = raw & 0x3ffffff;
        break;
    case ms_DYLD_CHAINED_PTR_64_KERNEL_CACHE:
    case ms_DYLD_CHAINED_PTR_X86_64_KERNEL_CACHE:
        if ((raw >> 30 & 3) == 0) /* other levels are other files of the cache */
            pointer.addr = base + (raw & 0x3fffffff);
        break;
    default: break;
    }
    return pointer;
}

/* What the pointer at an address stands for. */
static ms_fx_pointer ms_fx_pointer_at(ms_fx_data *d, uint64_t addr)
{
    ms_fx_pointer pointer = {0, {NULL, 0}};
    if (ms_mo_cache(d->mo) != NULL) {
        pointer.addr = ms_dc_pointer_at(ms_mo_cache(d->mo), addr, ms_fx_pointer_size(d));
        return pointer;
    }
    const ms_mo_section *section = ms_fx_section_at(d, addr);
    ms_span span = ms_fx_at_addr(d, addr, ms_fx_pointer_size(d));
    if (section == NULL || span.len == 0)
        return pointer;
    uint64_t raw = d->mo->is_64 ? ms_rd_raw_u64(span.ptr) : ms_rd_raw_u32(span.ptr);
    size_t at = ms_upper_bound(d->binds, d->bind_count, sizeof *d->binds, addr);
    if (at > 0 && d->binds[at - 1].key == addr) {
        uint64_t item = d->binds[at - 1].item;
        if ((item & ms_FX_BIND_IS_VALUE) != 0)
            pointer.addr = (item & ~ms_FX_BIND_IS_VALUE) + raw;
        else
            pointer.import = d->bind_names[item];
        return pointer;
    }
    if (raw == 0)
        return pointer;
    if (d->mo->is_loaded) {
        pointer.addr = ms_mo_unsigned(d->mo->slice.cputype, raw) - d->mo->slide;
        return pointer;
    }
    if (d->is_threaded)
        return ms_fx_decode_arm64e(d, ms_DYLD_CHAINED_PTR_ARM64E, raw);
    return ms_fx_decode(d, &d->mo->segments[section->segment_index], raw);
}

/* Reads the relocations of an object file that stand for pointers to symbols. The file itself holds only
 * what is added to the symbol's address. */
static void ms_fx_read_relocations(ms_fx_data *d, const ms_mo_section *section, ms_arena *arena)
{
    const ms_mo *mo = d->mo;
    uint32_t one = mo->is_64 ? 16 : 12; /* nlist.h */
    uint32_t want_length = mo->is_64 ? 3 : 2;
    ms_span nlists = ms_mo_table(mo, mo->loads.sym_off, mo->loads.sym_count, one);
    ms_span strings = ms_mo_table(mo, mo->loads.str_off, mo->loads.str_size, 1);
    ms_rd rd = ms_rd_make(ms_mo_table(mo, section->reloc_off, section->reloc_count, 8));
    while (ms_rd_left(&rd) >= 8 && ms_fx_spend(d, 1) && !arena->oom) {
        uint32_t off = ms_rd_u32(&rd);
        uint32_t bits = ms_rd_u32(&rd); /* reloc.h: symbol 24 bits, pcrel 1, length 2, extern 1, type 4 */
        uint32_t index = bits & 0xffffff;
        bool is_pointer = (bits >> 24 & 1) == 0 && (bits >> 25 & 3) == want_length && bits >> 28 == 0;
        if (off >> 31 != 0 || !is_pointer || (bits >> 27 & 1) == 0 || index >= nlists.len / one)
            continue; /* scattered, or by section: then the file holds the address */
        const uint8_t *p = nlists.ptr + (size_t)index * one;
        uint64_t value = mo->is_64 ? ms_rd_raw_u64(p + 8) : ms_rd_raw_u32(p + 8);
        bool is_undefined = (p[4] & 0x0e) == 0;
        if (is_undefined)
            ms_fx_add_bind_name(d, ms_fx_str_in(d, ms_span_from(strings, ms_rd_raw_u32(p))), arena);
        ms_fx_add_bind(d, section->addr + off, is_undefined ? d->name_count - 1 : ms_FX_BIND_IS_VALUE | value,
                       arena);
    }
}

/* Makes a slice's data readable by address. rest may be NULL. When memory is out, an arena has oom set. */
static void ms_fx_open(ms_fx_data *d, const ms_mo *mo, ms_fx_rest *rest, ms_arena *arena)
{
    ms_zero(d, sizeof *d);
    d->mo = mo;
    d->rest = rest;
    ms_fx_refill(d);
    d->sections.arena = arena;
    ms_piece *pieces = (ms_piece *)ms_arena_alloc(arena, mo->section_count, sizeof *pieces);
    size_t count = 0;
    for (uint32_t i = 0; i < mo->section_count && pieces != NULL; i++) {
        const ms_mo_section *section = &mo->sections[i];
        size_t len = section->unread != 0 ? section->unread : section->bytes.len;
        uint64_t hi;
        if (len == 0 || !ms_add_ok(section->addr, len, &hi))
            continue;
        pieces[count].lo = section->addr;
        pieces[count].hi = hi;
        pieces[count++].owner = i;
    }
    ms_seg_build(pieces, count, arena, &d->sections);
    if (ms_mo_cache(mo) != NULL) /* its builder has bound all imports */
        return;
    ms_fx_read_imports(d);
    ms_fx_read_binds(d, ms_mo_linkedit(mo, mo->loads.bind_off, mo->loads.bind_size), arena);
    for (uint32_t i = 0; i < mo->section_count && mo->slice.filetype == ms_MH_OBJECT; i++) {
        if ((mo->sections[i].flags & ms_S_ATTR_DEBUG) == 0)
            ms_fx_read_relocations(d, &mo->sections[i], arena);
    }
    ms_key_heap_sort(d->binds, d->bind_count);
}

#endif /* ms_ROOM_macho_fixups */
