#ifndef ms_ROOM_macho_macho
#define ms_ROOM_macho_macho
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "../base/memory.h"
#include "cache.h"

/* ==== >>macho ==============================================================================================
 * Job:    turns load commands into segments, sections and spans.
 * Offers: ms_mo_load, ms_mo_load_entry, ms_mo_load_entry_of, ms_mo_load_cached, ms_mo_next_entry,
 *         ms_mo_section_named, ms_mo_linkedit, ms_mo_table, ms_mo_size, ms_mo_unsigned.
 * Never:  looks inside debug info or symbols; trusts a count or an offset. */

/* loader.h, machine.h, fat.h */
enum {
    ms_MH_OBJECT = 1,
    ms_MH_DSYM = 10,
    ms_MH_FILESET = 12,
    ms_LC_SEGMENT = 0x1,
    ms_LC_SYMTAB = 0x2,
    ms_LC_DYSYMTAB = 0xb,
    ms_LC_SEGMENT_64 = 0x19,
    ms_LC_UUID = 0x1b,
    ms_LC_ENCRYPTION_INFO = 0x21,
    ms_LC_ENCRYPTION_INFO_64 = 0x2c,
    ms_LC_DYLD_INFO = 0x22,
    ms_LC_VERSION_MIN_MACOSX = 0x24,
    ms_LC_VERSION_MIN_IPHONEOS = 0x25,
    ms_LC_FUNCTION_STARTS = 0x26,
    ms_LC_SOURCE_VERSION = 0x2a,
    ms_LC_VERSION_MIN_TVOS = 0x2f,
    ms_LC_VERSION_MIN_WATCHOS = 0x30,
    ms_LC_BUILD_VERSION = 0x32,
    ms_LC_DYLD_EXPORTS_TRIE = 0x33,
    ms_LC_DYLD_CHAINED_FIXUPS = 0x34,
    ms_LC_FILESET_ENTRY = 0x35,
    ms_LC_CODE_SIGNATURE = 0x1d,
    ms_LC_SEGMENT_SPLIT_INFO = 0x1e,
    ms_LC_DATA_IN_CODE = 0x29,
    ms_LC_LINKER_OPTIMIZATION_HINT = 0x2e,
    ms_LC_LAST = 0x60, /* the highest kind is 0x39 so far */
    ms_CPU_ARM = 12,
    ms_SECTION_TYPE = 0xff,
    ms_S_ZEROFILL = 0x1,
    ms_S_SYMBOL_STUBS = 0x8,
    ms_S_GB_ZEROFILL = 0xc,
    ms_S_THREAD_LOCAL_ZEROFILL = 0x12,
    ms_VM_PROT_READ = 1,
    ms_VM_PROT_EXECUTE = 4
};

#define ms_FAT_MAGIC_32 0xcafebabeu
#define ms_FAT_MAGIC_64 0xcafebabfu
#define ms_MH_MAGIC     0xfeedfaceu
#define ms_MH_MAGIC_64  0xfeedfacfu
#define ms_MH_CIGAM     0xcefaedfeu
#define ms_MH_CIGAM_64  0xcffaedfeu
#define ms_LC_REQ_DYLD  0x80000000u
#define ms_CPU_ARM64    0x0100000cu
#define ms_CPU_ARM64_32 0x0200000cu
#define ms_CPU_X86_64   0x01000007u
#define ms_CPU_IS_64    0x01000000u /* CPU_ARCH_ABI64; arm64_32 has another bit */
#define ms_CPU_SUBTYPE  0x00ffffffu /* without capability bits: arm64e's ABI version, LIB64 */
#define ms_S_ATTR_DEBUG 0x02000000u
#define ms_S_ATTR_CODE  0x80000400u /* S_ATTR_PURE_INSTRUCTIONS, S_ATTR_SOME_INSTRUCTIONS */

/* A section with its bytes, if the file has them. */
typedef struct ms_mo_section {
    machsym_str segment;
    machsym_str name; /* at most 16 bytes: longer names are cut by their producers */
    uint64_t addr;
    uint64_t size;
    uint64_t off;
    ms_span bytes;
    size_t unread; /* of a file by a reader: bytes at off that are left for sessions to read; else 0 */
    uint32_t flags;
    uint32_t reserved1; /* stubs: first index into the indirect symbol table */
    uint32_t reserved2; /* stubs: size of one */
    uint32_t reloc_off;
    uint32_t reloc_count;
    uint32_t segment_index;
    uint64_t command_off; /* in the file: where the load commands describe it */
    bool is_code;
} ms_mo_section;

/* A segment as it is mapped. */
typedef struct ms_mo_segment {
    machsym_str name;
    uint64_t addr;
    uint64_t size;
    uint64_t off;
    uint64_t file_size;
    uint64_t command_off; /* in the file: where the load commands describe it */
    uint32_t initprot;
    uint16_t fixup_format;      /* DYLD_CHAINED_PTR_*; 0: pointers are plain */
    uint32_t max_valid_pointer; /* of DYLD_CHAINED_PTR_32: chains run through integers above it too */
} ms_mo_segment;

/* Where LC_* say their data lies, offsets in the slice. */
typedef struct ms_mo_loads {
    uint64_t sym_off;
    uint32_t sym_count;
    uint64_t str_off;
    uint32_t str_size;
    uint64_t indirect_off;
    uint32_t indirect_count;
    uint64_t starts_off;
    uint32_t starts_size;
    uint64_t exports_off;
    uint32_t exports_size;
    uint64_t fixups_off;
    uint32_t fixups_size;
    uint64_t bind_off; /* LC_DYLD_INFO: rebase opcodes are not needed, file pointers hold their targets */
    uint32_t bind_size;
    uint64_t lazy_bind_off;
    uint32_t lazy_bind_size;
    uint64_t crypt_off; /* LC_ENCRYPTION_INFO: bytes of __TEXT that an app store has encrypted */
    uint32_t crypt_size;
} ms_mo_loads;

/* One slice, parsed. */
typedef struct ms_mo {
    ms_span bytes;      /* the slice; with is_loaded, the memory from the header on; with cache, its __TEXT */
    const ms_dc *cache; /* that the image lies in, with all its segments; else NULL */
    /* The header's place in bytes. Not 0 for an image of a kernel collection: its bytes are the
     * collection's. */
    uint64_t header_off;
    size_t head; /* load commands lie in this many bytes from the header on; 0: in all that follows */
    ms_span commands;
    machsym_slice slice;
    bool is_64;
    bool is_loaded;
    bool hide_symtab; /* names of the image's own code in LC_SYMTAB do not count */
    uint64_t slide;   /* with is_loaded: what dyld added to every pointer */
    ms_damage damage; /* load commands, segments and sections */
    ms_mo_segment *segments;
    uint32_t segment_count;
    ms_mo_section *sections;
    uint32_t section_count;
    uint64_t text_addr;
    uint64_t text_size;
    uint64_t text_exec_addr;
    uint64_t fixup_base; /* what offsets in encoded pointers count from */
    machsym_platform platforms[MACHSYM_MAX_PLATFORMS];
    uint32_t platform_count;
    uint64_t source_version;
    ms_mo_loads loads;
} ms_mo;

/* The name of an architecture. cpusubtype is all ones where it does not matter. */
typedef struct ms_mo_arch {
    uint32_t cputype;
    uint32_t cpusubtype;
    const char *name;
} ms_mo_arch;

/* The first line that fits is taken, so the line for any subtype comes last. */
static const ms_mo_arch ms_mo_archs[] = {
    {0x0100000cu, 2, "arm64e"},
    {0x0100000cu, 1, "arm64v8"},
    {0x0100000cu, ~0u, "arm64"},
    {0x0200000cu, ~0u, "arm64_32"},
    {12, 5, "armv4t"},
    {12, 6, "armv6"},
    {12, 7, "armv5"},
    {12, 8, "xscale"},
    {12, 9, "armv7"},
    {12, 10, "armv7f"},
    {12, 11, "armv7s"},
    {12, 12, "armv7k"},
    {12, 13, "armv8"},
    {12, 14, "armv6m"},
    {12, 15, "armv7m"},
    {12, 16, "armv7em"},
    {12, ~0u, "arm"},
    {0x01000007u, 8, "x86_64h"},
    {0x01000007u, ~0u, "x86_64"},
    {7, ~0u, "i386"},
    {0x01000012u, ~0u, "ppc64"},
    {18, ~0u, "ppc"},
};

static const char *ms_mo_arch_name(uint32_t cputype, uint32_t cpusubtype)
{
    for (size_t i = 0; i < sizeof ms_mo_archs / sizeof ms_mo_archs[0]; i++) {
        const ms_mo_arch *arch = &ms_mo_archs[i];
        if (arch->cputype == cputype &&
            (arch->cpusubtype == ~0u || arch->cpusubtype == (cpusubtype & ms_CPU_SUBTYPE)))
            return arch->name;
    }
    return "unknown";
}

/* An address without its signature (arm64e's pointer authentication). Bit 55 is never part of the
 * signature. It tells a kernel's address from a program's, so the bits of the signature were copies of
 * it. */
static uint64_t ms_mo_unsigned(uint32_t cputype, uint64_t raw)
{
    const uint64_t low = ((uint64_t)1 << 47) - 1;
    if (cputype != ms_CPU_ARM64)
        return raw;
    return (raw & ((uint64_t)1 << 55)) == 0 ? raw & low : raw | ~low;
}

/* ---- Load commands ---- */

/* The cache that an image lies in; NULL: none. */
static const ms_dc *ms_mo_cache(const ms_mo *mo)
{
    return ms_DC_IS_READ != 0 ? mo->cache : NULL;
}

/* Whether segments are found by their addresses, since their offsets do not count in bytes. */
static bool ms_mo_is_mapped(const ms_mo *mo)
{
    return mo->is_loaded || ms_mo_cache(mo) != NULL;
}

/* The bytes of a segment that is found by its address, as far as the caller has them. Of a loaded image there
 * are none when the segment may not be read. What lies between its segments is not touched, since it need not
 * be mapped. */
static ms_span ms_mo_segment_bytes(const ms_mo *mo, const ms_mo_segment *segment)
{
    ms_span rest = {NULL, 0};
    if (ms_mo_cache(mo) != NULL)
        rest = ms_dc_at(ms_mo_cache(mo), segment->addr);
    else if (segment->addr >= mo->text_addr && (segment->initprot & ms_VM_PROT_READ) != 0)
        rest = ms_span_from(mo->bytes, segment->addr - mo->text_addr);
    return ms_span_sub(rest, 0, segment->size < rest.len ? segment->size : rest.len);
}

/* What lies at an offset that load commands name, and after it: symbol tables and the rest of __LINKEDIT.
 * Segments of an image in a cache lie in several files, so offsets of different segments may be equal. Those
 * of tables count in the file that has __LINKEDIT. */
static ms_span ms_mo_rest(const ms_mo *mo, uint64_t off)
{
    if (!ms_mo_is_mapped(mo))
        return ms_span_from(mo->bytes, off);
    for (uint32_t i = 0; i < mo->segment_count && i < MACHSYM_MAX_LOADED_SEGMENTS; i++) {
        const ms_mo_segment *segment = &mo->segments[i];
        MACHSYM_COUNT_WORK(1);
        if (off >= segment->off && off - segment->off < segment->file_size &&
            (ms_mo_cache(mo) == NULL || ms_str_is(segment->name, "__LINKEDIT")))
            return ms_span_from(ms_mo_segment_bytes(mo, segment), off - segment->off);
    }
    return ms_span_make(NULL, 0);
}

/* The bytes of a range that is no section. */
static ms_span ms_mo_linkedit(const ms_mo *mo, uint64_t off, uint64_t len)
{
    return ms_span_sub(ms_mo_rest(mo, off), 0, len);
}

/* A table of count entries, or as many of them as are really there. */
static ms_span ms_mo_table(const ms_mo *mo, uint64_t off, uint32_t count, uint32_t size)
{
    uint64_t len = (uint64_t)count * size;
    ms_span rest = ms_mo_rest(mo, off);
    return ms_span_sub(rest, 0, len < rest.len ? len : rest.len - rest.len % size);
}

/* How many bytes the image has, which budgets are counted from. An image in a cache has those of its
 * segments, where all images share __LINKEDIT, and of its tables. */
static uint64_t ms_mo_size(const ms_mo *mo)
{
    const ms_mo_loads *loads = &mo->loads;
    uint64_t size = (uint64_t)loads->sym_count * 16 + loads->indirect_count * (uint64_t)4 +
                    loads->starts_size + loads->exports_size;
    if (ms_mo_cache(mo) == NULL)
        return mo->bytes.len;
    for (uint32_t i = 0; i < mo->segment_count && size < ms_mo_cache(mo)->size; i++) {
        if (!ms_str_is(mo->segments[i].name, "__LINKEDIT"))
            size += ms_mo_segment_bytes(mo, &mo->segments[i]).len;
    }
    return size < ms_mo_cache(mo)->size ? size : ms_mo_cache(mo)->size;
}

static machsym_str ms_mo_fixed_name(ms_rd *rd)
{
    ms_span span = ms_rd_span(rd, 16);
    return ms_str_bounded((const char *)span.ptr, span.len);
}

static bool ms_mo_is_zero_fill(uint32_t flags)
{
    uint32_t type = flags & ms_SECTION_TYPE;
    return type == ms_S_ZEROFILL || type == ms_S_GB_ZEROFILL || type == ms_S_THREAD_LOCAL_ZEROFILL;
}

static uint64_t ms_mo_word(const ms_mo *mo, ms_rd *rd)
{
    return mo->is_64 ? ms_rd_u64(rd) : ms_rd_u32(rd);
}

/* The offset of a section in 64 bits. The field has 32 and wraps in files over 4 GB. Sections lie in order,
 * so an offset below the one before it has wrapped once more. */
static uint64_t ms_mo_carry(const ms_mo *mo, uint64_t off, uint64_t previous)
{
    uint64_t carried = (previous & ~(uint64_t)0xffffffff) | off;
    uint64_t len = mo->bytes.len; /* wider than size_t on 32-bit hosts, where the comparison is idle */
    if (len <= 0xffffffff || off == 0)
        return off;
    return carried < previous ? carried + 0x100000000 : carried;
}

/* Where an offset of mo->bytes is in the file. */
static uint64_t ms_mo_file_offset(const ms_mo *mo, uint64_t off)
{
    return mo->slice.offset - mo->header_off + off;
}

/* Where in the file a reader over the load commands stands. */
static uint64_t ms_mo_command_offset(const ms_mo *mo, const ms_rd *rd)
{
    return ms_mo_file_offset(mo, (uint64_t)(rd->p - mo->bytes.ptr));
}

/* Keeps how much is missing of a part of the slice that runs past its end. */
static void ms_mo_keep_cut(ms_mo *mo, machsym_str name, uint64_t off, uint64_t size)
{
    uint64_t len = mo->bytes.len;
    machsym_cut cut;
    uint64_t end;
    ms_zero(&cut, sizeof cut);
    cut.name = name;
    cut.size = size;
    cut.present = off < len ? len - off : 0;
    cut.missing = (ms_add_ok(off, size, &end) ? end : UINT64_MAX) - len;
    ms_damage_keep_cut(&mo->damage, &cut);
}

/* Counts a part of the slice that runs past its end. */
static void ms_mo_check_part(ms_mo *mo, const char *what, const char *where, machsym_str name, uint64_t off,
                             uint64_t size)
{
    if (ms_mo_is_mapped(mo) || (off <= mo->bytes.len && size <= mo->bytes.len - off))
        return;
    ms_mo_keep_cut(mo, name, off, size);
    ms_damage_note_cut(&mo->damage, what, where, ms_mo_file_offset(mo, off));
}

/* The size of one stub. Go's linker states 6 everywhere, which no stub of arm64 has: it has three
 * instructions there, as every other linker's that does not sign pointers. */
static uint32_t ms_mo_stub_size(const ms_mo *mo, const ms_mo_section *section, uint32_t stated)
{
    bool is_arm64 = mo->slice.cputype == ms_CPU_ARM64 || mo->slice.cputype == ms_CPU_ARM64_32;
    if (!is_arm64 || stated % 4 == 0 || (section->flags & ms_SECTION_TYPE) != ms_S_SYMBOL_STUBS)
        return stated;
    return section->size % 12 == 0 ? 12 : 0;
}

static void ms_mo_read_section(ms_mo *mo, ms_rd *rd, uint64_t *previous)
{
    ms_mo_section *section = &mo->sections[mo->section_count];
    ms_zero(section, sizeof *section);
    section->command_off = ms_mo_command_offset(mo, rd);
    section->name = ms_mo_fixed_name(rd);
    section->segment = ms_mo_fixed_name(rd);
    section->addr = ms_mo_word(mo, rd);
    section->size = ms_mo_word(mo, rd);
    uint32_t off = ms_rd_u32(rd);
    ms_rd_u32(rd); /* align */
    section->reloc_off = ms_rd_u32(rd);
    section->reloc_count = ms_rd_u32(rd);
    section->flags = ms_rd_u32(rd);
    section->reserved1 = ms_rd_u32(rd);
    section->reserved2 = ms_mo_stub_size(mo, section, ms_rd_u32(rd));
    if (mo->is_64)
        ms_rd_u32(rd); /* reserved3 */
    section->is_code = (section->flags & ms_S_ATTR_CODE) != 0;
    section->segment_index = mo->segment_count - 1;
    mo->section_count++;
    if (section->size == 0 || ms_mo_is_zero_fill(section->flags))
        return;
    if (ms_mo_is_mapped(mo)) {
        const ms_mo_segment *segment = &mo->segments[section->segment_index];
        ms_span bytes = ms_mo_segment_bytes(mo, segment);
        section->off = off;
        if (section->addr >= segment->addr)
            section->bytes = ms_span_sub(bytes, section->addr - segment->addr, section->size);
        if (section->bytes.len == 0 && (mo->is_loaded || bytes.len != 0)) /* else the segment is missing */
            ms_damage_note(&mo->damage, "a section lies outside of its segment", "section", section->addr);
        return;
    }
    if (off == 0) /* a dSYM names the binary's sections without having their bytes */
        return;
    section->off = ms_mo_carry(mo, off, *previous);
    *previous = section->off;
    ms_span rest = ms_span_from(mo->bytes, section->off);
    section->bytes = ms_span_sub(rest, 0, section->size < rest.len ? section->size : rest.len);
    ms_mo_check_part(mo, "a section runs past the end of the file", "section", section->name, section->off,
                     section->size);
}

static void ms_mo_read_segment(ms_mo *mo, ms_rd *rd)
{
    ms_mo_segment *segment = &mo->segments[mo->segment_count];
    segment->command_off = ms_mo_command_offset(mo, rd);
    segment->name = ms_mo_fixed_name(rd);
    segment->addr = ms_mo_word(mo, rd);
    segment->size = ms_mo_word(mo, rd);
    segment->off = ms_mo_word(mo, rd);
    segment->file_size = ms_mo_word(mo, rd);
    ms_rd_u32(rd); /* maxprot */
    segment->initprot = ms_rd_u32(rd);
    segment->fixup_format = 0;
    segment->max_valid_pointer = 0;
    uint32_t count = ms_rd_u32(rd);
    ms_rd_u32(rd); /* flags */
    if (rd->failed)
        return;
    mo->segment_count++;
    bool is_object =
        mo->slice.filetype == ms_MH_OBJECT; /* all its sections are in one segment without a name */
    if (ms_str_is(segment->name, "__TEXT") || (is_object && mo->segment_count == 1)) {
        mo->text_addr = segment->addr;
        mo->text_size = segment->size;
    }
    if (ms_str_is(segment->name, "__TEXT_EXEC"))
        mo->text_exec_addr = segment->addr;
    if (ms_mo_cache(mo) != NULL && segment->file_size != 0 && ms_mo_segment_bytes(mo, segment).len == 0)
        ms_damage_note(&mo->damage, "a segment lies in no file of the cache that is there", "segment",
                       segment->off);
    uint64_t previous = segment->off;
    size_t one = mo->is_64 ? 80 : 68;
    for (; count > 0 && ms_rd_left(rd) >= one; count--)
        ms_mo_read_section(mo, rd, &previous);
    if (count > 0)
        ms_damage_note(&mo->damage, "a segment has more sections than its command has room for",
                       "load commands", ms_mo_command_offset(mo, rd));
    ms_mo_check_part(mo, "a segment runs past the end of the file", "segment", segment->name, segment->off,
                     segment->file_size);
}

static void ms_mo_add_platform(ms_mo *mo, uint32_t number, ms_rd *rd)
{
    machsym_platform platform;
    platform.platform = number;
    platform.min_os = ms_rd_u32(rd);
    platform.sdk = ms_rd_u32(rd);
    if (!rd->failed && mo->platform_count < MACHSYM_MAX_PLATFORMS)
        mo->platforms[mo->platform_count++] = platform;
}

static void ms_mo_read_linkedit(ms_rd *rd, uint64_t *off, uint32_t *size)
{
    *off = ms_rd_u32(rd);
    *size = ms_rd_u32(rd);
}

static void ms_mo_read_dyld_info(ms_mo *mo, ms_rd *rd)
{
    ms_rd_skip(rd, 8); /* rebase */
    ms_mo_read_linkedit(rd, &mo->loads.bind_off, &mo->loads.bind_size);
    ms_rd_skip(rd, 8); /* weak bind */
    ms_mo_read_linkedit(rd, &mo->loads.lazy_bind_off, &mo->loads.lazy_bind_size);
    ms_mo_read_linkedit(rd, &mo->loads.exports_off, &mo->loads.exports_size);
}

static void ms_mo_read_command(ms_mo *mo, uint32_t command, ms_rd *rd)
{
    ms_mo_loads *loads = &mo->loads;
    switch (command & ~ms_LC_REQ_DYLD) {
    case ms_LC_SEGMENT:
    case ms_LC_SEGMENT_64: ms_mo_read_segment(mo, rd); break;
    case ms_LC_SYMTAB:
        ms_mo_read_linkedit(rd, &loads->sym_off, &loads->sym_count);
        ms_mo_read_linkedit(rd, &loads->str_off, &loads->str_size);
        break;
    case ms_LC_DYSYMTAB:
        ms_rd_skip(rd, 48);
        ms_mo_read_linkedit(rd, &loads->indirect_off, &loads->indirect_count);
        break;
    case ms_LC_UUID: {
        ms_span uuid = ms_rd_span(rd, 16);
        ms_copy(mo->slice.uuid.v, uuid.ptr, uuid.len);
        mo->slice.has_uuid = uuid.len == 16;
        break;
    }
    case ms_LC_ENCRYPTION_INFO:
    case ms_LC_ENCRYPTION_INFO_64:
        ms_mo_read_linkedit(rd, &loads->crypt_off, &loads->crypt_size);
        loads->crypt_size = ms_rd_u32(rd) != 0 ? loads->crypt_size : 0; /* cryptid 0: they are plain */
        break;
    case ms_LC_DYLD_INFO: ms_mo_read_dyld_info(mo, rd); break;
    case ms_LC_FUNCTION_STARTS: ms_mo_read_linkedit(rd, &loads->starts_off, &loads->starts_size); break;
    case ms_LC_DYLD_EXPORTS_TRIE: ms_mo_read_linkedit(rd, &loads->exports_off, &loads->exports_size); break;
    case ms_LC_DYLD_CHAINED_FIXUPS: ms_mo_read_linkedit(rd, &loads->fixups_off, &loads->fixups_size); break;
    case ms_LC_SOURCE_VERSION: mo->source_version = ms_rd_u64(rd); break;
    case ms_LC_BUILD_VERSION: ms_mo_add_platform(mo, ms_rd_u32(rd), rd); break;
    case ms_LC_VERSION_MIN_MACOSX: ms_mo_add_platform(mo, 1, rd); break;
    case ms_LC_VERSION_MIN_IPHONEOS: ms_mo_add_platform(mo, 2, rd); break;
    case ms_LC_VERSION_MIN_TVOS: ms_mo_add_platform(mo, 3, rd); break;
    case ms_LC_VERSION_MIN_WATCHOS: ms_mo_add_platform(mo, 4, rd); break;
    default: break;
    }
    if (rd->failed)
        ms_damage_note(&mo->damage, "a load command is too short for its kind", "load commands",
                       ms_mo_command_offset(mo, rd));
}

/* Room for all segments and sections: no command is smaller than 8 bytes, no segment than 56, no section than
 * 68. */
static bool ms_mo_make_room(ms_mo *mo, ms_arena *arena, size_t commands_size)
{
    mo->segments = (ms_mo_segment *)ms_arena_alloc(arena, commands_size / 56 + 1, sizeof *mo->segments);
    mo->sections = (ms_mo_section *)ms_arena_alloc(arena, commands_size / 68 + 1, sizeof *mo->sections);
    return mo->segments != NULL && mo->sections != NULL;
}

/* Whether a load command may begin here: its kind is one of loader.h's, its size stays inside. */
static bool ms_mo_is_command(ms_rd rd)
{
    uint64_t left = ms_rd_left(&rd);
    uint32_t command = ms_rd_u32(&rd) & ~ms_LC_REQ_DYLD;
    uint32_t size = ms_rd_u32(&rd);
    return !rd.failed && command >= 1 && command <= ms_LC_LAST && size >= 8 && size % 4 == 0 && size <= left;
}

/* Whether load commands lead from here to the end of rd, each with a kind and a size that are right. */
static bool ms_mo_leads_on(ms_rd rd)
{
    for (unsigned links = MACHSYM_MAX_COMMAND_LINKS; links > 0 && ms_rd_left(&rd) > 0; links--) {
        if (!ms_mo_is_command(rd))
            return false;
        MACHSYM_COUNT_WORK(1);
        rd.p += ms_rd_raw_u32(rd.p + 4);
    }
    return true;
}

/* Whether a command that ends here has the right size. It has if a command follows, or one whose kind alone
 * is damaged. */
static bool ms_mo_is_end(ms_rd rd)
{
    if (ms_rd_left(&rd) == 0 || ms_mo_is_command(rd))
        return true;
    uint64_t left = ms_rd_left(&rd);
    ms_rd_u32(&rd);
    uint32_t size = ms_rd_u32(&rd);
    if (rd.failed || size < 8 || size > left)
        return false;
    rd.p += size - 8;
    return ms_rd_left(&rd) == 0 || ms_mo_is_command(rd);
}

/* The size that a command must have by its kind, or by its number of sections; 0 when neither tells. rd
 * stands at the command. */
static uint64_t ms_mo_own_size(ms_rd rd)
{
    uint32_t command = ms_rd_u32(&rd) & ~ms_LC_REQ_DYLD;
    ms_rd_u32(&rd);
    switch (command) {
    case ms_LC_SEGMENT: ms_rd_skip(&rd, 40); return 56 + (uint64_t)68 * ms_rd_u32(&rd);
    case ms_LC_SEGMENT_64: ms_rd_skip(&rd, 56); return 72 + (uint64_t)80 * ms_rd_u32(&rd);
    case ms_LC_SYMTAB:
    case ms_LC_UUID: return 24;
    case ms_LC_DYSYMTAB: return 80;
    case ms_LC_DYLD_INFO: return 48;
    case ms_LC_BUILD_VERSION: ms_rd_skip(&rd, 12); return 24 + (uint64_t)8 * ms_rd_u32(&rd);
    case ms_LC_VERSION_MIN_MACOSX:
    case ms_LC_VERSION_MIN_IPHONEOS:
    case ms_LC_VERSION_MIN_TVOS:
    case ms_LC_VERSION_MIN_WATCHOS:
    case ms_LC_SOURCE_VERSION:
    case ms_LC_FUNCTION_STARTS:
    case ms_LC_CODE_SIGNATURE:
    case ms_LC_SEGMENT_SPLIT_INFO:
    case ms_LC_DATA_IN_CODE:
    case ms_LC_LINKER_OPTIMIZATION_HINT:
    case ms_LC_DYLD_EXPORTS_TRIE:
    case ms_LC_DYLD_CHAINED_FIXUPS: return 16;
    default: return 0;
    }
}

/* Takes the next load command. If its size is damaged, it ends where the next right command is found.
 * Returns false at the end. */
static bool ms_mo_next_command(ms_rd *rd, uint32_t *command, ms_rd *body, bool *is_damaged)
{
    ms_rd next = *rd;
    uint64_t own_size = ms_mo_own_size(*rd);
    if (ms_rd_left(rd) < 8)
        return false;
    *command = ms_rd_u32(rd);
    uint32_t size = ms_rd_u32(rd);
    ms_rd_skip(&next, size);
    *is_damaged = size < 8 || next.failed || (size != own_size && !ms_mo_is_end(next));
    if (*is_damaged) {
        next = *rd;
        while (ms_rd_left(&next) >= 8 && (!ms_mo_is_command(next) || !ms_mo_leads_on(next)))
            next.p += 4;
        if (ms_rd_left(&next) < 8)
            next.p = next.end;
    }
    *body = ms_rd_make(ms_rd_span(rd, (size_t)(next.p - rd->p)));
    return true;
}

/* How many bytes of load commands there are, at most those of rd. The header gives their size and their
 * count. If one of the two is damaged, the other one is used. */
static size_t ms_mo_commands_size(ms_rd rd, uint32_t size, uint32_t count)
{
    ms_rd by_size = rd;
    ms_rd by_count = rd;
    if (size < ms_rd_left(&by_size))
        by_size.end = by_size.p + size;
    for (; count > 0 && ms_mo_is_command(by_count); count--)
        by_count.p += ms_rd_raw_u32(by_count.p + 4);
    if (count > 0)
        return ms_rd_left(&by_size);
    ms_rd rest = by_size;
    rest.p = by_count.p;
    bool is_shorter = by_count.p < by_size.end && size <= ms_rd_left(&rd) && ms_mo_leads_on(rest);
    return is_shorter ? ms_rd_left(&by_size) : (size_t)(by_count.p - rd.p);
}

/* Finds __TEXT of a loaded image. It must be known before any address can be followed. */
static void ms_mo_find_text(ms_mo *mo, ms_rd rd)
{
    uint32_t command;
    bool is_damaged; /* is counted when the commands are read */
    ms_rd body;
    while (ms_mo_next_command(&rd, &command, &body, &is_damaged)) {
        if ((command == ms_LC_SEGMENT || command == ms_LC_SEGMENT_64) &&
            ms_str_is(ms_mo_fixed_name(&body), "__TEXT"))
            mo->text_addr = ms_mo_word(mo, &body);
    }
}

/* Marks sections of code. Their flags tell; if no section of a file has such a flag, the protection of
 * segments does. */
static void ms_mo_mark_code(ms_mo *mo)
{
    for (uint32_t i = 0; i < mo->section_count; i++) {
        if (mo->sections[i].is_code)
            return;
    }
    for (uint32_t i = 0; i < mo->section_count; i++) {
        const ms_mo_segment *segment = &mo->segments[mo->sections[i].segment_index];
        mo->sections[i].is_code = ms_str_equal(mo->sections[i].segment, segment->name) &&
                                  (segment->initprot & ms_VM_PROT_EXECUTE) != 0;
    }
}

/* LC_DYLD_CHAINED_FIXUPS says for each segment how its pointers are encoded (fixup-chains.h:
 * dyld_chained_fixups_header, dyld_chained_starts_in_image, dyld_chained_starts_in_segment). The chains
 * themselves need not be walked: a pointer is decoded where it is read. */
static void ms_mo_read_fixup_formats(ms_mo *mo)
{
    ms_span fixups = ms_mo_linkedit(mo, mo->loads.fixups_off, mo->loads.fixups_size);
    ms_rd header = ms_rd_make(fixups);
    ms_rd_u32(&header); /* version */
    uint32_t starts_off = ms_rd_u32(&header);
    ms_rd starts = ms_rd_at(fixups, starts_off);
    uint32_t count = ms_rd_u32(&starts);
    for (uint32_t i = 0; i < count && i < mo->segment_count && !header.failed; i++) {
        uint32_t off = ms_rd_u32(&starts);
        ms_rd rd = ms_rd_at(fixups, (uint64_t)starts_off + off);
        ms_rd_skip(&rd, 6); /* size, page_size */
        uint16_t format = ms_rd_u16(&rd);
        ms_rd_u64(&rd); /* segment_offset */
        uint32_t max_valid_pointer = ms_rd_u32(&rd);
        if (off == 0 || rd.failed) /* 0: a segment without fixups, or nothing is left of the table */
            continue;
        mo->segments[i].fixup_format = format;
        mo->segments[i].max_valid_pointer = max_valid_pointer;
    }
}

/* A table that load commands lead to. */
typedef struct ms_mo_part {
    const char *name;
    uint64_t off;
    uint64_t size;
} ms_mo_part;

enum { ms_MO_TABLES = 8, ms_MO_TABLES_IN_CACHE = 5 /* the builder of a cache uses up the last three */ };

static void ms_mo_list_tables(const ms_mo *mo, ms_mo_part out[ms_MO_TABLES])
{
    const ms_mo_loads *loads = &mo->loads;
    const ms_mo_part tables[ms_MO_TABLES] = {
        {"symbol table", loads->sym_off, (uint64_t)loads->sym_count * (mo->is_64 ? 16 : 12)},
        {"string table", loads->str_off, loads->str_size},
        {"indirect symbols", loads->indirect_off, (uint64_t)loads->indirect_count * 4},
        {"function starts", loads->starts_off, loads->starts_size},
        {"exports trie", loads->exports_off, loads->exports_size},
        {"chained fixups", loads->fixups_off, loads->fixups_size},
        {"binds", loads->bind_off, loads->bind_size},
        {"lazy binds", loads->lazy_bind_off, loads->lazy_bind_size},
    };
    ms_copy(out, tables, sizeof tables);
}

/* Counts the tables of symbols and of __LINKEDIT that run past the end: no segment of an object file has
 * them. */
static void ms_mo_check_tables(ms_mo *mo)
{
    ms_mo_part tables[ms_MO_TABLES];
    const char *what = "a table runs past the end of the file";
    ms_mo_list_tables(mo, tables);
    for (size_t i = 0; i < ms_MO_TABLES; i++) {
        if (tables[i].size != 0)
            ms_mo_check_part(mo, what, "load commands", ms_str_from_c(tables[i].name), tables[i].off,
                             tables[i].size);
        if (i < ms_MO_TABLES_IN_CACHE && ms_mo_cache(mo) != NULL &&
            ms_mo_rest(mo, tables[i].off).len < tables[i].size)
            ms_damage_note(&mo->damage, "a table runs past __LINKEDIT", "load commands", tables[i].off);
    }
    for (uint32_t i = 0; i < mo->section_count && mo->slice.filetype == ms_MH_OBJECT; i++) {
        const ms_mo_section *section = &mo->sections[i];
        if (section->reloc_count != 0)
            ms_mo_check_part(mo, what, "section", ms_str_from_c("relocations"), section->reloc_off,
                             (uint64_t)section->reloc_count * 8);
    }
}

/* ---- Load commands that contradict each other ---- */

/* Whether a range lies in another one, all of it. */
static bool ms_mo_is_within(uint64_t off, uint64_t size, uint64_t lo, uint64_t len)
{
    return off >= lo && off - lo <= len && size <= len - (off - lo);
}

/* Whether a section's bytes lie in the file where its address says. In a dSYM only __DWARF was laid out anew:
 * other sections have the addresses of the binary. Offsets of 32 bits wrap in large files. */
static bool ms_mo_is_placed(const ms_mo *mo, const ms_mo_segment *segment, const ms_mo_section *section)
{
    bool has_place = mo->slice.filetype != ms_MH_OBJECT &&
                     (mo->slice.filetype != ms_MH_DSYM || ms_str_is(segment->name, "__DWARF"));
    uint64_t off = section->off;
    if (section->size == 0 || off == 0)
        return true;
    return ms_mo_is_within(off, section->size, segment->off, segment->file_size) &&
           (!has_place || (uint32_t)(off - segment->off) == (uint32_t)(section->addr - segment->addr));
}

/* Counts sections that are not where their segment is. Segments that are not mapped have a size of 0.
 * seen: __DWARF in programs by Go, whose sections have addresses all the same. */
static void ms_mo_check_places(ms_mo *mo)
{
    for (uint32_t i = 0; i < mo->section_count; i++) {
        const ms_mo_section *section = &mo->sections[i];
        const ms_mo_segment *segment = &mo->segments[section->segment_index];
        if (section->size != 0 && segment->size != 0 &&
            !ms_mo_is_within(section->addr, section->size, segment->addr, segment->size))
            ms_damage_note_wrong(&mo->damage, "a section lies outside of its segment", "load commands",
                                 section->command_off);
        else if (!ms_mo_is_placed(mo, segment, section))
            ms_damage_note_wrong(&mo->damage, "a section's bytes are not where its segment has them",
                                 "load commands", section->command_off);
    }
}

/* Counts sections that share addresses. order has room for all. Variables of threads have addresses in a
 * block that each thread gets. */
static void ms_mo_check_sections(ms_mo *mo, ms_key *order)
{
    size_t count = 0;
    uint64_t end = 0;
    for (uint32_t i = 0; i < mo->section_count; i++) {
        const ms_mo_section *section = &mo->sections[i];
        if (section->size == 0 || (section->flags & ms_SECTION_TYPE) == ms_S_THREAD_LOCAL_ZEROFILL)
            continue;
        order[count].key = section->addr;
        order[count++].item = i;
    }
    ms_key_heap_sort(order, count);
    for (size_t i = 0; i < count; i++) {
        const ms_mo_section *section = &mo->sections[order[i].item];
        uint64_t hi;
        if (section->addr < end)
            ms_damage_note_wrong(&mo->damage, "two sections share addresses", "load commands",
                                 section->command_off);
        end = ms_add_ok(section->addr, section->size, &hi) && hi > end ? hi : end;
    }
}

/* Counts segments that share addresses. order has room for all. */
static void ms_mo_check_segments(ms_mo *mo, ms_key *order)
{
    size_t count = 0;
    uint64_t end = 0;
    for (uint32_t i = 0; i < mo->segment_count; i++) {
        if (mo->segments[i].size == 0)
            continue;
        order[count].key = mo->segments[i].addr;
        order[count++].item = i;
    }
    ms_key_heap_sort(order, count);
    for (size_t i = 0; i < count; i++) {
        const ms_mo_segment *segment = &mo->segments[order[i].item];
        uint64_t hi;
        if (segment->addr < end)
            ms_damage_note_wrong(&mo->damage, "two segments share addresses", "load commands",
                                 segment->command_off);
        end = ms_add_ok(segment->addr, segment->size, &hi) && hi > end ? hi : end;
    }
}

/* Counts tables that lie outside of __LINKEDIT, or share bytes. Those past the end of the file are counted as
 * cut short. */
static void ms_mo_check_linkedit(ms_mo *mo)
{
    ms_mo_part tables[ms_MO_TABLES];
    const ms_mo_segment *linkedit = NULL;
    ms_mo_list_tables(mo, tables);
    for (uint32_t i = 0; i < mo->segment_count; i++) {
        if (ms_str_is(mo->segments[i].name, "__LINKEDIT"))
            linkedit = &mo->segments[i];
    }
    for (size_t i = 0; i < ms_MO_TABLES; i++) {
        const ms_mo_part *table = &tables[i];
        bool is_there = table->size != 0 && ms_mo_is_within(table->off, table->size, 0, mo->bytes.len);
        uint64_t at = ms_mo_file_offset(mo, table->off);
        if (is_there && linkedit != NULL &&
            !ms_mo_is_within(table->off, table->size, linkedit->off, linkedit->file_size))
            ms_damage_note_wrong(&mo->damage, "a table lies outside of __LINKEDIT", "load commands", at);
        for (size_t j = 0; j < i && is_there; j++) {
            const ms_mo_part *other = &tables[j];
            if (other->size != 0 && table->off < other->off + other->size &&
                other->off < table->off + table->size)
                ms_damage_note_wrong(&mo->damage, "two tables share bytes", "load commands", at);
        }
    }
}

/* Counts what cannot be right together. In memory and in caches segments lie elsewhere than their commands
 * say; images of a kernel collection share segments and tables. */
static void ms_mo_check_layout(ms_mo *mo, ms_arena *arena)
{
    size_t most = mo->section_count > mo->segment_count ? mo->section_count : mo->segment_count;
    bool is_own = mo->header_off == 0 && mo->slice.filetype != ms_MH_FILESET;
    if (ms_mo_is_mapped(mo))
        return;
    ms_mo_check_places(mo);
    ms_key *order = (ms_key *)ms_arena_alloc(arena, most, sizeof *order);
    if (order == NULL)
        return;
    ms_mo_check_sections(mo, order);
    if (is_own && mo->slice.filetype != ms_MH_OBJECT)
        ms_mo_check_segments(mo, order);
    if (is_own)
        ms_mo_check_linkedit(mo);
}

/* Whether there is such a kind of load command. Kinds that dyld must know have LC_REQ_DYLD, the others never
 * have it. Some are older than files of 64 bits. Kinds that are newer than this list may have it or not. */
static bool ms_mo_is_kind(const ms_mo *mo, uint32_t command)
{
    uint32_t kind = command & ~ms_LC_REQ_DYLD;
    bool is_required = kind != command;
    switch (kind) {
    case 0: return false;
    case 0x3: /* LC_SYMSEG */
    case 0x6: /* LC_LOADFVMLIB, LC_IDFVMLIB, LC_IDENT, LC_FVMFILE, LC_PREPAGE */
    case 0x7:
    case 0x8:
    case 0x9:
    case 0xa: return !mo->is_64 && !is_required;
    case 0x18: /* LC_LOAD_WEAK_DYLIB */
    case 0x1c: /* LC_RPATH */
    case 0x1f: /* LC_REEXPORT_DYLIB */
    case 0x23: /* LC_LOAD_UPWARD_DYLIB */
    case 0x28: /* LC_MAIN */
    case ms_LC_DYLD_EXPORTS_TRIE:
    case ms_LC_DYLD_CHAINED_FIXUPS:
    case ms_LC_FILESET_ENTRY: return is_required;
    case ms_LC_DYLD_INFO: return true; /* LC_DYLD_INFO_ONLY */
    default: return kind <= ms_LC_LAST && (!is_required || kind > ms_LC_FILESET_ENTRY);
    }
}

static void ms_mo_read_commands(ms_mo *mo, bool with_segments, uint32_t count, ms_rd rd)
{
    uint32_t found = 0;
    uint32_t command;
    ms_rd at = rd;
    ms_rd body;
    bool is_damaged;
    for (; ms_mo_next_command(&rd, &command, &body, &is_damaged); found++) {
        uint32_t kind = command & ~ms_LC_REQ_DYLD;
        bool is_segment = kind == ms_LC_SEGMENT || kind == ms_LC_SEGMENT_64;
        uint64_t own_size = is_segment ? 0 : ms_mo_own_size(at);
        if (!ms_mo_is_kind(mo, command))
            ms_damage_note_wrong(&mo->damage, "a load command is of a kind that does not exist",
                                 "load commands", ms_mo_command_offset(mo, &at));
        else if (is_damaged)
            ms_damage_note(&mo->damage, "a load command's size leads to no other one", "load commands",
                           ms_mo_command_offset(mo, &at));
        if (own_size != 0 && own_size != 8 + ms_rd_left(&body))
            ms_damage_note(&mo->damage, "a load command's size is not that of its kind", "load commands",
                           ms_mo_command_offset(mo, &at));
        else if (with_segments || !is_segment)
            ms_mo_read_command(mo, command, &body);
        at = rd;
    }
    if (found != count)
        ms_damage_note(&mo->damage, "the header has another number of load commands", "Mach-O header",
                       mo->slice.offset);
}

/* Whether an app store has encrypted the file. The kernel decrypts it in memory, where the command still says
 * that it is encrypted. */
static bool ms_mo_is_encrypted(const ms_mo *mo)
{
    return mo->loads.crypt_size != 0 && !ms_mo_is_mapped(mo);
}

/* Takes the bytes of encrypted sections away: noise would be read as metadata. */
static void ms_mo_drop_encrypted(ms_mo *mo)
{
    const uint64_t lo = mo->loads.crypt_off;
    const uint64_t hi = lo + mo->loads.crypt_size;
    for (uint32_t i = 0; i < mo->section_count && ms_mo_is_encrypted(mo); i++) {
        ms_mo_section *section = &mo->sections[i];
        if (section->off < hi && section->off + section->bytes.len > lo)
            section->bytes = ms_span_make(NULL, 0);
    }
}

/* Parses the load commands of one slice, mo->bytes, into mo. */
static machsym_result ms_mo_load(ms_mo *mo, ms_arena *arena, machsym_error *err)
{
    ms_rd rd = ms_rd_at(mo->bytes, mo->header_off);
    uint32_t magic = ms_rd_u32(&rd);
    uint64_t at = mo->slice.offset;
    if (magic == ms_MH_CIGAM || magic == ms_MH_CIGAM_64) {
        mo->slice.cputype = ms_rd_be32(&rd);
        mo->slice.cpusubtype = ms_rd_be32(&rd);
        mo->slice.arch = ms_mo_arch_name(mo->slice.cputype, mo->slice.cpusubtype);
        return ms_fail(err, MACHSYM_ERR_UNSUPPORTED,
                       "a big-endian (PowerPC) image; only little-endian ones are read", "Mach-O header", at);
    }
    if (magic != ms_MH_MAGIC && magic != ms_MH_MAGIC_64)
        return ms_fail(err, MACHSYM_ERR_FORMAT, "not a Mach-O file", "Mach-O header", at);
    mo->is_64 = magic == ms_MH_MAGIC_64;
    mo->slice.cputype = ms_rd_u32(&rd);
    mo->slice.cpusubtype = ms_rd_u32(&rd);
    mo->slice.arch = ms_mo_arch_name(mo->slice.cputype, mo->slice.cpusubtype);
    mo->slice.filetype = ms_rd_u32(&rd);
    uint32_t count = ms_rd_u32(&rd);
    uint32_t size = ms_rd_u32(&rd);
    ms_rd_skip(&rd, mo->is_64 ? 8 : 4);
    if (rd.failed)
        return ms_fail(err, MACHSYM_ERR_DAMAGED, "the file ends inside its header", "Mach-O header", at);
    size_t most = ms_rd_left(&rd);
    if (mo->header_off != 0 && most > MACHSYM_MAX_ENTRY_COMMANDS)
        most = MACHSYM_MAX_ENTRY_COMMANDS;
    else if (mo->slice.filetype == ms_MH_FILESET && most > MACHSYM_MAX_COLLECTION_COMMANDS)
        most = MACHSYM_MAX_COLLECTION_COMMANDS;
    if (mo->head != 0 && most > mo->head - ms_rd_offset(&rd))
        most = mo->head - ms_rd_offset(&rd);
    ms_rd commands = rd;
    commands.end = commands.p + most;
    size_t len = ms_mo_commands_size(commands, size, count);
    if (size > ms_rd_left(&rd))
        ms_mo_keep_cut(mo, ms_str_from_c("load commands"), (uint64_t)(rd.p - mo->bytes.ptr), size);
    if (size > most)
        ms_damage_note_cut(&mo->damage, "the load commands run past the end of the file", "Mach-O header",
                           at);
    else if (len != size)
        ms_damage_note(&mo->damage, "the header has another size of load commands", "Mach-O header", at);
    mo->commands = ms_rd_span(&rd, len);
    commands = ms_rd_make(mo->commands);
    if (arena != NULL && !ms_mo_make_room(mo, arena, len))
        return ms_fail_memory(err);
    if (mo->is_loaded)
        ms_mo_find_text(mo, commands);
    ms_mo_read_commands(mo, arena != NULL, count, commands);
    if (arena != NULL) {
        ms_mo_check_tables(mo);
        ms_mo_check_layout(mo, arena);
        ms_mo_mark_code(mo);
        ms_mo_drop_encrypted(mo);
        if (ms_mo_cache(mo) == NULL)
            ms_mo_read_fixup_formats(mo);
    }
    mo->fixup_base = mo->text_addr;
    return MACHSYM_OK;
}

/* ---- Kernel collections ---- */

/* Reads the next LC_FILESET_ENTRY; *at: where to go on in the load commands. */
static bool ms_mo_next_entry(const ms_mo *mo, uint64_t *at, machsym_entry *out)
{
    while (mo->slice.filetype == ms_MH_FILESET && *at < mo->commands.len) {
        ms_rd rd = ms_rd_at(mo->commands, *at);
        uint32_t command;
        bool is_damaged; /* was counted when the commands were read */
        ms_rd fields;
        if (!ms_mo_next_command(&rd, &command, &fields, &is_damaged))
            return false;
        ms_span body = ms_span_make(fields.p, ms_rd_left(&fields));
        *at = ms_rd_offset(&rd);
        if ((command & ~ms_LC_REQ_DYLD) != ms_LC_FILESET_ENTRY)
            continue;
        out->addr = ms_rd_u64(&fields);
        out->offset = ms_rd_u64(&fields);
        uint32_t name = ms_rd_u32(&fields); /* counted from the begin of the command */
        ms_span rest = ms_span_from(body, name < 8 ? body.len : name - 8);
        out->name = ms_str_bounded((const char *)rest.ptr, rest.len);
        if (!fields.failed)
            return true;
    }
    return false;
}

/* Takes over how pointers are encoded in a collection: as the collection's own header says for all images.
 * They count from the collection's __TEXT. */
static void ms_mo_take_fixups(ms_mo *mo, const ms_mo *collection)
{
    mo->fixup_base = collection->text_addr;
    for (uint32_t i = 0; i < mo->segment_count; i++) {
        ms_mo_segment *own = &mo->segments[i];
        for (uint32_t j = 0; j < collection->segment_count && j < MACHSYM_MAX_COLLECTION_SEGMENTS; j++) {
            const ms_mo_segment *segment = &collection->segments[j];
            MACHSYM_COUNT_WORK(1);
            if (own->addr < segment->addr || own->addr - segment->addr >= segment->size ||
                segment->fixup_format == 0)
                continue;
            own->fixup_format = segment->fixup_format;
            own->max_valid_pointer = segment->max_valid_pointer;
        }
    }
}

/* Parses the image of this name in a collection that was parsed. mo->bytes and slice are the collection's. */
static machsym_result ms_mo_load_entry_of(ms_mo *mo, const ms_mo *collection, machsym_str name,
                                          ms_arena *arena, machsym_error *err)
{
    machsym_entry entry;
    uint64_t at = 0;
    if (collection->slice.filetype != ms_MH_FILESET)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "no kernel collection: it has no images by name",
                       "Mach-O header", mo->slice.offset);
    do {
        if (!ms_mo_next_entry(collection, &at, &entry))
            return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the kernel collection has no image of this name",
                           "load commands", mo->slice.offset);
    } while (!ms_str_equal(entry.name, name) || entry.offset == 0);
    mo->header_off = entry.offset;
    mo->slice.offset += entry.offset;
    mo->slice.size = ms_span_from(mo->bytes, entry.offset).len;
    mo->slice.has_uuid = false;
    machsym_result result = ms_mo_load(mo, arena, err);
    if (result == MACHSYM_OK)
        ms_mo_take_fixups(mo, collection);
    return result;
}

/* The same of a collection that was not parsed. */
static machsym_result ms_mo_load_entry(ms_mo *mo, machsym_str name, ms_arena *arena, machsym_error *err)
{
    ms_mo collection = *mo;
    machsym_result result = ms_mo_load(&collection, arena, err);
    return result == MACHSYM_OK ? ms_mo_load_entry_of(mo, &collection, name, arena, err) : result;
}

/* ---- Shared caches ---- */

/* What Mach-O calls the architecture of a cache; NULL when it is not known. */
static const ms_mo_arch *ms_mo_find_arch(machsym_str name)
{
    for (size_t i = 0; i < sizeof ms_mo_archs / sizeof ms_mo_archs[0]; i++) {
        if (ms_str_is(name, ms_mo_archs[i].name))
            return &ms_mo_archs[i];
    }
    return NULL;
}

/* Parses the image of a cache whose header lies at an address. */
static machsym_result ms_mo_load_cached(ms_mo *mo, const ms_dc *cache, uint64_t addr, ms_arena *arena,
                                        machsym_error *err)
{
    const ms_dc_mapping *mapping = ms_dc_mapping_at(cache, addr);
    ms_zero(mo, sizeof *mo);
    mo->cache = cache;
    mo->bytes = ms_dc_at(cache, addr);
    if (mapping == NULL || mo->bytes.len == 0)
        return ms_fail(err, MACHSYM_ERR_DAMAGED,
                       "the image lies in a file of the cache that is missing or cut short", "cache header",
                       0);
    mo->head = mo->bytes.len < MACHSYM_MAX_COLLECTION_COMMANDS ? mo->bytes.len
                                                               : (size_t)MACHSYM_MAX_COLLECTION_COMMANDS;
    mo->slice.offset = addr - mapping->addr + mapping->off;
    machsym_result result = ms_mo_load(mo, arena, err);
    if (mo->text_size < mo->bytes.len)
        mo->bytes = ms_span_sub(mo->bytes, 0, mo->text_size);
    mo->slice.size = mo->bytes.len;
    return result;
}

/* Describes a cache as a whole, which has no segments. */
static void ms_mo_describe_cache(ms_mo *mo, const ms_dc *cache)
{
    const ms_dc_header *head = &cache->head;
    const ms_mo_arch *arch = ms_mo_find_arch(head->arch);
    const ms_dc_mapping *last = cache->count > 0 ? &cache->mappings[cache->count - 1] : NULL;
    ms_zero(mo, sizeof *mo);
    mo->bytes = cache->main;
    mo->slice.arch = "unknown";
    if (arch != NULL) {
        mo->slice.cputype = arch->cputype;
        mo->slice.cpusubtype = arch->cpusubtype != ~0u ? arch->cpusubtype : 0;
        mo->slice.arch = arch->name;
    }
    mo->is_64 = (mo->slice.cputype & ms_CPU_IS_64) != 0;
    mo->slice.uuid = head->uuid;
    mo->slice.has_uuid = head->has_uuid;
    mo->slice.size = cache->main.len;
    mo->text_addr = cache->base;
    mo->text_size =
        head->region_size != 0 || last == NULL ? head->region_size : last->addr + last->size - cache->base;
    mo->damage = cache->damage;
    machsym_platform platform = {head->platform, head->os_version, 0};
    machsym_platform other = {head->alt_platform, head->alt_os_version, 0};
    if (platform.platform != 0)
        mo->platforms[mo->platform_count++] = platform;
    if (other.platform != 0)
        mo->platforms[mo->platform_count++] = other;
}

static const ms_mo_section *ms_mo_section_named(const ms_mo *mo, const char *segment, const char *name)
{
    for (uint32_t i = 0; i < mo->section_count; i++) {
        const ms_mo_section *section = &mo->sections[i];
        MACHSYM_COUNT_WORK(1);
        if (ms_str_is(section->name, name) && (segment == NULL || ms_str_is(section->segment, segment)))
            return section;
    }
    return NULL;
}

#endif /* ms_ROOM_macho_macho */
