#ifndef ms_ROOM_macho_macho
#define ms_ROOM_macho_macho
#include "../api/options.h"
#include "../api/api.h"
#include "../base/platform.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "../base/memory.h"
#include "../base/segments.h"

/* ==== >>macho ==============================================================================================
 * Job:    turns fat files and load commands into slices, segments, sections, spans and decoded pointers.
 * Offers: ms_mo_input_open, ms_mo_slice_at, ms_mo_choose, ms_mo_load, ms_mo_load_entry, ms_mo_next_entry,
 *         ms_mo_section_named, ms_mo_linkedit, ms_mo_data_open, ms_mo_at_addr, ms_mo_pointer_at.
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
    uint32_t flags;
    uint32_t reserved1; /* stubs: first index into the indirect symbol table */
    uint32_t reserved2; /* stubs: size of one */
    uint32_t reloc_off;
    uint32_t reloc_count;
    uint32_t segment_index;
    bool is_code;
} ms_mo_section;

/* A segment as it is mapped. */
typedef struct ms_mo_segment {
    machsym_str name;
    uint64_t addr;
    uint64_t size;
    uint64_t off;
    uint64_t file_size;
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
} ms_mo_loads;

/* One slice, parsed. */
typedef struct ms_mo {
    ms_span bytes; /* the slice; with is_loaded, the memory from the header on */
    uint64_t
        header_off; /* in bytes; not 0 for an image of a kernel collection, whose bytes are the collection's */
    ms_span commands;
    machsym_slice slice;
    bool is_64;
    bool is_loaded;
    bool hide_symtab;      /* names of the image's own code in LC_SYMTAB do not count */
    uint64_t slide;        /* with is_loaded: what dyld added to every pointer */
    uint32_t damage_count; /* load commands and sections left out */
    ms_mo_segment *segments;
    uint32_t segment_count;
    ms_mo_section *sections;
    uint32_t section_count;
    uint64_t text_addr;
    uint64_t text_size;
    uint64_t text_exec_addr;
    uint64_t fixup_base; /* what offsets in encoded pointers count from */
    uint32_t platform;
    uint32_t min_os;
    uint32_t sdk;
    uint64_t source_version;
    ms_mo_loads loads;
} ms_mo;

/* A name for cputype and cpusubtype; any subtype when it is all ones. */
typedef struct ms_mo_arch {
    uint32_t cputype;
    uint32_t cpusubtype;
    const char *name;
} ms_mo_arch;

/* More specific ones first: the last line of a cputype takes what is left. */
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

/* ---- Load commands ---- */

/* How many segments of a loaded image are searched, again for every table, and how many slices a fat file may
 * have: real ones have ten. */
enum { ms_MO_LOADED_SEGMENTS = 64, ms_MO_SLICES = 256 };

/* How many segments of a kernel collection and how many bytes of load commands it and its images may have: it
 * is read again for each. Real ones have ten segments, 300 images and 50,000 bytes. */
enum { ms_MO_FILESET_SEGMENTS = 64, ms_MO_FILESET_COMMANDS = 1 << 20 };

/* The memory of a segment of a loaded image, as far as the caller has it. What lies between segments is not
 * touched: it need not be mapped. A segment that nobody may read has none. */
static ms_span ms_mo_segment_bytes(const ms_mo *mo, const ms_mo_segment *segment)
{
    ms_span none = {NULL, 0};
    if (segment->addr < mo->text_addr || (segment->initprot & ms_VM_PROT_READ) == 0)
        return none;
    ms_span rest = ms_span_from(mo->bytes, segment->addr - mo->text_addr);
    return ms_span_sub(rest, 0, segment->size < rest.len ? segment->size : rest.len);
}

/* The bytes of a range of the slice that is no section: symbol tables and the rest of __LINKEDIT. */
static ms_span ms_mo_linkedit(const ms_mo *mo, uint64_t off, uint64_t len)
{
    if (!mo->is_loaded)
        return ms_span_sub(mo->bytes, off, len);
    for (uint32_t i = 0; i < mo->segment_count && i < ms_MO_LOADED_SEGMENTS; i++) {
        const ms_mo_segment *segment = &mo->segments[i];
        MACHSYM_COUNT_WORK(1);
        if (off >= segment->off && off - segment->off < segment->file_size)
            return ms_span_sub(ms_mo_segment_bytes(mo, segment), off - segment->off, len);
    }
    return ms_span_make(NULL, 0);
}

/* A table of count entries: as many as are really there. */
static ms_span ms_mo_table(const ms_mo *mo, uint64_t off, uint32_t count, uint32_t size)
{
    uint64_t len = (uint64_t)count * size;
    ms_span table = ms_mo_linkedit(mo, off, len);
    if (table.len == len || mo->is_loaded)
        return table;
    table = ms_span_from(mo->bytes, off);
    return ms_span_sub(table, 0, table.len - table.len % size);
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

/* section.offset has 32 bits and wraps in files over 4 GB; sections lie in order, so a step back is a
 * carry. */
static uint64_t ms_mo_carry(const ms_mo *mo, uint64_t off, uint64_t previous)
{
    uint64_t carried = (previous & ~(uint64_t)0xffffffff) | off;
    uint64_t len = mo->bytes.len; /* wider than size_t on 32-bit hosts, where the comparison is idle */
    if (len <= 0xffffffff || off == 0)
        return off;
    return carried < previous ? carried + 0x100000000 : carried;
}

static void ms_mo_read_section(ms_mo *mo, ms_rd *rd, uint64_t *previous)
{
    ms_mo_section *section = &mo->sections[mo->section_count];
    ms_zero(section, sizeof *section);
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
    section->reserved2 = ms_rd_u32(rd);
    if (mo->is_64)
        ms_rd_u32(rd); /* reserved3 */
    section->is_code = (section->flags & ms_S_ATTR_CODE) != 0;
    section->segment_index = mo->segment_count - 1;
    mo->section_count++;
    if (section->size == 0 || ms_mo_is_zero_fill(section->flags))
        return;
    if (mo->is_loaded) {
        const ms_mo_segment *segment = &mo->segments[section->segment_index];
        if (section->addr >= segment->addr)
            section->bytes =
                ms_span_sub(ms_mo_segment_bytes(mo, segment), section->addr - segment->addr, section->size);
        mo->damage_count += section->bytes.len == 0;
        return;
    }
    if (off == 0) /* a dSYM names the binary's sections without having their bytes */
        return;
    section->off = ms_mo_carry(mo, off, *previous);
    *previous = section->off;
    section->bytes = ms_span_sub(mo->bytes, section->off, section->size);
    if (section->bytes.len == 0)
        mo->damage_count++;
}

static void ms_mo_read_segment(ms_mo *mo, ms_rd *rd)
{
    ms_mo_segment *segment = &mo->segments[mo->segment_count];
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
    uint64_t previous = segment->off;
    size_t one = mo->is_64 ? 80 : 68;
    for (; count > 0 && ms_rd_left(rd) >= one; count--)
        ms_mo_read_section(mo, rd, &previous);
    if (count > 0)
        mo->damage_count++;
}

static void ms_mo_read_build_version(ms_mo *mo, ms_rd *rd)
{
    mo->platform = ms_rd_u32(rd);
    mo->min_os = ms_rd_u32(rd);
    mo->sdk = ms_rd_u32(rd);
}

static void ms_mo_read_version_min(ms_mo *mo, ms_rd *rd, uint32_t platform)
{
    mo->platform = platform;
    mo->min_os = ms_rd_u32(rd);
    mo->sdk = ms_rd_u32(rd);
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
    case ms_LC_DYLD_INFO: ms_mo_read_dyld_info(mo, rd); break;
    case ms_LC_FUNCTION_STARTS: ms_mo_read_linkedit(rd, &loads->starts_off, &loads->starts_size); break;
    case ms_LC_DYLD_EXPORTS_TRIE: ms_mo_read_linkedit(rd, &loads->exports_off, &loads->exports_size); break;
    case ms_LC_DYLD_CHAINED_FIXUPS: ms_mo_read_linkedit(rd, &loads->fixups_off, &loads->fixups_size); break;
    case ms_LC_SOURCE_VERSION: mo->source_version = ms_rd_u64(rd); break;
    case ms_LC_BUILD_VERSION: ms_mo_read_build_version(mo, rd); break;
    case ms_LC_VERSION_MIN_MACOSX: ms_mo_read_version_min(mo, rd, 1); break;
    case ms_LC_VERSION_MIN_IPHONEOS: ms_mo_read_version_min(mo, rd, 2); break;
    case ms_LC_VERSION_MIN_TVOS: ms_mo_read_version_min(mo, rd, 3); break;
    case ms_LC_VERSION_MIN_WATCHOS: ms_mo_read_version_min(mo, rd, 4); break;
    default: break;
    }
    if (rd->failed)
        mo->damage_count++;
}

/* Room for all segments and sections: no command is smaller than 8 bytes, no segment than 56, no section than
 * 68. */
static bool ms_mo_make_room(ms_mo *mo, ms_arena *arena, size_t commands_size)
{
    mo->segments = (ms_mo_segment *)ms_arena_alloc(arena, commands_size / 56 + 1, sizeof *mo->segments);
    mo->sections = (ms_mo_section *)ms_arena_alloc(arena, commands_size / 68 + 1, sizeof *mo->sections);
    return mo->segments != NULL && mo->sections != NULL;
}

/* In a loaded image __TEXT must be known before any address can be followed. */
static void ms_mo_find_text(ms_mo *mo, ms_rd rd)
{
    while (ms_rd_left(&rd) >= 8) {
        uint32_t command = ms_rd_u32(&rd);
        uint32_t size = ms_rd_u32(&rd);
        ms_rd body = ms_rd_make(ms_rd_span(&rd, size < 8 ? 0 : size - 8));
        if (size < 8)
            return;
        if ((command == ms_LC_SEGMENT || command == ms_LC_SEGMENT_64) &&
            ms_str_is(ms_mo_fixed_name(&body), "__TEXT"))
            mo->text_addr = ms_mo_word(mo, &body);
    }
}

/* Code is where sections say so; a file without a single such flag goes by its segments' protection. */
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
        if (off == 0 || starts.failed || rd.failed) /* 0: a segment without fixups */
            continue;
        mo->segments[i].fixup_format = format;
        mo->segments[i].max_valid_pointer = max_valid_pointer;
    }
}

/* Parses the load commands of one slice, mo->bytes, into mo. */
static machsym_result ms_mo_load(ms_mo *mo, ms_arena *arena, machsym_error *err)
{
    ms_rd rd = ms_rd_at(mo->bytes, mo->header_off);
    uint32_t magic = ms_rd_u32(&rd);
    uint64_t at = mo->slice.offset;
    if (magic == ms_MH_CIGAM || magic == ms_MH_CIGAM_64)
        return ms_fail(err, MACHSYM_ERR_UNSUPPORTED,
                       "a big-endian (PowerPC) image; only little-endian ones are read", "Mach-O header", at);
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
    if ((mo->header_off != 0 || mo->slice.filetype == ms_MH_FILESET) && most > ms_MO_FILESET_COMMANDS)
        most = ms_MO_FILESET_COMMANDS;
    if (size > most) {
        size = (uint32_t)most;
        mo->damage_count++;
    }
    mo->commands = ms_rd_span(&rd, size);
    ms_rd commands = ms_rd_make(mo->commands);
    if (arena != NULL && !ms_mo_make_room(mo, arena, size))
        return ms_fail_memory(err);
    if (mo->is_loaded)
        ms_mo_find_text(mo, commands);
    for (; count > 0 && ms_rd_left(&commands) >= 8; count--) {
        uint32_t command = ms_rd_u32(&commands);
        uint32_t command_size = ms_rd_u32(&commands);
        if (command_size < 8 || command_size - 8 > ms_rd_left(&commands))
            break;
        ms_rd body = ms_rd_make(ms_rd_span(&commands, command_size - 8));
        uint32_t kind = command & ~ms_LC_REQ_DYLD;
        if (arena != NULL || (kind != ms_LC_SEGMENT && kind != ms_LC_SEGMENT_64))
            ms_mo_read_command(mo, command, &body);
    }
    if (count > 0)
        mo->damage_count++;
    if (arena != NULL) {
        ms_mo_mark_code(mo);
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
        uint32_t command = ms_rd_u32(&rd);
        uint32_t size = ms_rd_u32(&rd);
        ms_span body = ms_rd_span(&rd, size < 8 ? 0 : size - 8);
        if (size < 8 || rd.failed)
            return false;
        *at += size;
        if ((command & ~ms_LC_REQ_DYLD) != ms_LC_FILESET_ENTRY)
            continue;
        ms_rd fields = ms_rd_make(body);
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

/* In a collection the pointers of all images are encoded as its own header says, and count from its own
 * __TEXT. */
static void ms_mo_take_fixups(ms_mo *mo, const ms_mo *collection)
{
    mo->fixup_base = collection->text_addr;
    for (uint32_t i = 0; i < mo->segment_count; i++) {
        ms_mo_segment *own = &mo->segments[i];
        for (uint32_t j = 0; j < collection->segment_count && j < ms_MO_FILESET_SEGMENTS; j++) {
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

/* Parses the image of this name in the collection that mo->bytes is. */
static machsym_result ms_mo_load_entry(ms_mo *mo, machsym_str name, ms_arena *arena, machsym_error *err)
{
    ms_mo collection = *mo;
    machsym_entry entry;
    uint64_t at = 0;
    machsym_result result = ms_mo_load(&collection, arena, err);
    if (result != MACHSYM_OK)
        return result;
    if (collection.slice.filetype != ms_MH_FILESET)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "no kernel collection: it has no images by name",
                       "Mach-O header", mo->slice.offset);
    do {
        if (!ms_mo_next_entry(&collection, &at, &entry))
            return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the kernel collection has no image of this name",
                           "load commands", mo->slice.offset);
    } while (!ms_str_equal(entry.name, name) || entry.offset == 0);
    mo->header_off = entry.offset;
    mo->slice.offset += entry.offset;
    mo->slice.size = ms_span_from(mo->bytes, entry.offset).len;
    mo->slice.has_uuid = false;
    result = ms_mo_load(mo, arena, err);
    if (result == MACHSYM_OK)
        ms_mo_take_fixups(mo, &collection);
    return result;
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

/* ---- The image's own data: what lies at an address, what a pointer there stands for ---- */

/* fixup-chains.h: how a pointer with a fixup is encoded. Formats of the shared cache and of firmware are left
 * out. */
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
typedef struct ms_mo_pointer {
    uint64_t addr;      /* 0 for an import */
    machsym_str import; /* the symbol in another image, with its underscore */
} ms_mo_pointer;

/* In ms_mo_data's binds: the item is no index of a name but an address of this image. */
#define ms_MO_BIND_IS_VALUE ((uint64_t)1 << 63)

/* Where a section lies that was asked for lately. */
typedef struct ms_mo_recent {
    uint64_t lo;
    uint64_t size;
    const ms_mo_section *section;
} ms_mo_recent;

enum { ms_MO_RECENT = 4 }; /* lists of methods, references, names and code are read in turn */

/* Reads the data of one slice by address. */
typedef struct ms_mo_data {
    const ms_mo *mo;
    ms_segs sections; /* which section holds an address */
    ms_mo_recent recent[ms_MO_RECENT];
    unsigned recent_at; /* the one that is replaced next */
    ms_span imports;    /* of chained fixups */
    unsigned one;       /* size of an import */
    ms_span names;      /* of imports */
    ms_key *binds;      /* sorted; address, index into bind_names (or ms_MO_BIND_IS_VALUE) */
    size_t bind_count;
    size_t bind_cap;
    machsym_str *bind_names;
    size_t name_count;
    size_t name_cap;
    bool is_threaded; /* the first arm64e files: bind code without chains' headers, pointers as in ARM64E */
    uint64_t
        budget; /* bytes and records that may still be read: what a file repeats without end stops here */
    bool is_spent;
    uint32_t damage_count;
} ms_mo_data;

/* Every reader of metadata starts with a full budget, so that none can starve the next. Real files need less
 * than their size for all of them. */
static void ms_mo_refill(ms_mo_data *d)
{
    d->budget = (uint64_t)d->mo->bytes.len * 4 + 0x1000;
    d->is_spent = false;
}

/* Takes cost from the budget. Returns false once it is spent. */
static bool ms_mo_spend(ms_mo_data *d, uint64_t cost)
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

/* The section whose bytes hold an address; NULL when the file has none. */
static const ms_mo_section *ms_mo_section_at(ms_mo_data *d, uint64_t addr)
{
    MACHSYM_COUNT_WORK(1);
    for (unsigned i = 0; i < ms_MO_RECENT; i++) {
        if (addr - d->recent[i].lo < d->recent[i].size)
            return d->recent[i].section;
    }
    size_t at = ms_seg_find(d->sections.v, d->sections.count, addr);
    if (at + 1 >= d->sections.count ||
        d->sections.v[at].owner == ms_SEG_NONE) /* the last segment is nobody's */
        return NULL;
    ms_mo_recent *recent = &d->recent[d->recent_at++ % ms_MO_RECENT];
    recent->lo = d->sections.v[at].lo;
    recent->size = d->sections.v[at + 1].lo - recent->lo;
    recent->section = &d->mo->sections[d->sections.v[at].owner];
    return recent->section;
}

/* What is left of the section at an address from there on; empty when the file has no such bytes. */
static ms_span ms_mo_from_addr(ms_mo_data *d, uint64_t addr)
{
    const ms_mo_section *section = ms_mo_section_at(d, addr);
    return section == NULL ? ms_span_make(NULL, 0) : ms_span_from(section->bytes, addr - section->addr);
}

static ms_span ms_mo_at_addr(ms_mo_data *d, uint64_t addr, uint64_t len)
{
    return ms_span_sub(ms_mo_from_addr(d, addr), 0, len);
}

static uint32_t ms_mo_u32_at(ms_mo_data *d, uint64_t addr)
{
    ms_span span = ms_mo_at_addr(d, addr, 4);
    return span.len == 4 ? ms_rd_raw_u32(span.ptr) : 0;
}

static unsigned ms_mo_pointer_size(const ms_mo_data *d)
{
    return d->mo->is_64 ? 8 : 4;
}

/* The text up to the NUL in what is left of a section or table; empty when there is none. Paid for. */
static machsym_str ms_mo_str_in(ms_mo_data *d, ms_span rest)
{
    if (rest.len > d->budget)
        rest.len = (size_t)d->budget;
    machsym_str str = ms_rd_str_at(rest, 0);
    ms_mo_spend(d, str.ptr != NULL ? str.len + 1 : rest.len);
    return str;
}

static machsym_str ms_mo_str_at(ms_mo_data *d, uint64_t addr)
{
    return ms_mo_str_in(d, ms_mo_from_addr(d, addr));
}

/* An address relative to its own place, 32 bits wide; 0 when it is NULL or missing. */
static uint64_t ms_mo_relative_at(ms_mo_data *d, uint64_t addr)
{
    uint32_t raw = ms_mo_u32_at(d, addr);
    return raw == 0 ? 0 : addr + (uint64_t)(int64_t)(int32_t)raw;
}

/* ---- Imports ---- */

static machsym_str ms_mo_import(ms_mo_data *d, uint64_t ordinal)
{
    if (d->is_threaded)
        return ordinal < d->name_count ? d->bind_names[ordinal] : ms_str_empty();
    if (d->one == 0 || ordinal >= d->imports.len / d->one)
        return ms_str_empty();
    const uint8_t *p = d->imports.ptr + ordinal * d->one;
    uint64_t off = d->one == 16 ? ms_rd_raw_u64(p) >> 32 : ms_rd_raw_u32(p) >> 9;
    return ms_mo_str_in(d, ms_span_from(d->names, off));
}

/* dyld_chained_fixups_header: where imports and their names are. */
static void ms_mo_read_imports(ms_mo_data *d)
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

static void ms_mo_add_bind(ms_mo_data *d, uint64_t addr, uint64_t item, ms_arena *arena)
{
    ms_key *v = (ms_key *)ms_arena_grow(arena, d->binds, d->bind_count, &d->bind_cap, sizeof *v);
    if (v == NULL)
        return;
    d->binds = v;
    v[d->bind_count].key = addr;
    v[d->bind_count++].item = item;
}

static void ms_mo_add_bind_name(ms_mo_data *d, machsym_str name, ms_arena *arena)
{
    machsym_str *v =
        (machsym_str *)ms_arena_grow(arena, d->bind_names, d->name_count, &d->name_cap, sizeof *v);
    if (v == NULL)
        return;
    d->bind_names = v;
    v[d->name_count++] = name;
}

/* Where bind code stands: the variables of its little machine. */
typedef struct ms_mo_binder {
    uint64_t addr;
    uint64_t times;
    uint64_t skip;
    machsym_str name;
} ms_mo_binder;

/* Binds as often as one instruction says; in threaded files it only adds to the list of imports. */
static void ms_mo_do_bind(ms_mo_data *d, ms_mo_binder *b, ms_arena *arena)
{
    if (d->is_threaded) {
        ms_mo_add_bind_name(d, b->name, arena);
        return;
    }
    for (; b->times > 0 && d->name_count > 0 && ms_mo_spend(d, 1) && !arena->oom; b->times--) {
        ms_mo_add_bind(d, b->addr, d->name_count - 1, arena);
        b->addr += b->skip + ms_mo_pointer_size(d);
    }
}

/* Runs the bind code of LC_DYLD_INFO; lazy binds are of stubs only, which have names already. */
static void ms_mo_read_binds(ms_mo_data *d, ms_span code, ms_arena *arena)
{
    ms_rd rd = ms_rd_make(code);
    ms_mo_binder b;
    ms_zero(&b, sizeof b);
    while (ms_rd_left(&rd) > 0 && !arena->oom) {
        uint8_t byte = ms_rd_u8(&rd);
        uint8_t low = byte & 0xf;
        b.times = 1;
        b.skip = 0;
        switch (byte & 0xf0) {
        case ms_BIND_OPCODE_DONE: return;
        case ms_BIND_OPCODE_SET_DYLIB_ORDINAL_ULEB: ms_rd_uleb(&rd); break;
        case ms_BIND_OPCODE_SET_ADDEND_SLEB: ms_rd_sleb(&rd); break;
        case ms_BIND_OPCODE_SET_SYMBOL_TRAILING_FLAGS_IMM:
            b.name = ms_rd_str(&rd);
            if (!d->is_threaded)
                ms_mo_add_bind_name(d, b.name, arena);
            break;
        case ms_BIND_OPCODE_SET_SEGMENT_AND_OFFSET_ULEB:
            b.addr = ms_rd_uleb(&rd) + (low < d->mo->segment_count ? d->mo->segments[low].addr : 0);
            break;
        case ms_BIND_OPCODE_ADD_ADDR_ULEB: b.addr += ms_rd_uleb(&rd); break;
        case ms_BIND_OPCODE_DO_BIND: ms_mo_do_bind(d, &b, arena); break;
        case ms_BIND_OPCODE_DO_BIND_ADD_ADDR_ULEB:
            b.skip = ms_rd_uleb(&rd);
            ms_mo_do_bind(d, &b, arena);
            break;
        case ms_BIND_OPCODE_DO_BIND_ADD_ADDR_IMM_SCALED:
            b.skip = (uint64_t)low * ms_mo_pointer_size(d);
            ms_mo_do_bind(d, &b, arena);
            break;
        case ms_BIND_OPCODE_DO_BIND_ULEB_TIMES_SKIPPING_ULEB:
            b.times = ms_rd_uleb(&rd);
            b.skip = ms_rd_uleb(&rd);
            ms_mo_do_bind(d, &b, arena);
            break;
        case ms_BIND_OPCODE_THREADED:
            if (low == 0) { /* the binds that follow fill a table of so many imports; 1 walks the chains */
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

/* A plain address without the bits that arm64e signs; bit 55 tells kernel from user space. */
static uint64_t ms_mo_plain(const ms_mo_data *d, uint64_t raw)
{
    if (d->mo->slice.cputype != ms_CPU_ARM64)
        return raw;
    uint64_t low = ((uint64_t)1 << 47) - 1;
    return (raw & ((uint64_t)1 << 55)) == 0 ? raw & low : raw | ~low;
}

static ms_mo_pointer ms_mo_to_import(ms_mo_data *d, uint64_t ordinal)
{
    ms_mo_pointer pointer = {0, ms_mo_import(d, ordinal)};
    return pointer;
}

/* DYLD_CHAINED_PTR_ARM64E and its kin: bit 63 authenticated, bit 62 an import. */
static ms_mo_pointer ms_mo_decode_arm64e(ms_mo_data *d, unsigned format, uint64_t raw)
{
    ms_mo_pointer pointer = {0, {NULL, 0}};
    bool is_auth = raw >> 63 != 0;
    bool is_24 = format == ms_DYLD_CHAINED_PTR_ARM64E_USERLAND24;
    if ((raw >> 62 & 1) != 0)
        return ms_mo_to_import(d, raw & (is_24 ? 0xffffff : 0xffff));
    if (is_auth)
        pointer.addr = d->mo->fixup_base + (raw & 0xffffffff);
    else
        pointer.addr = (raw & 0x7ffffffffff) + (format == ms_DYLD_CHAINED_PTR_ARM64E ? 0 : d->mo->fixup_base);
    return pointer;
}

/* Undoes the encoding of a pointer that is not NULL. */
static ms_mo_pointer ms_mo_decode(ms_mo_data *d, const ms_mo_segment *segment, uint64_t raw)
{
    ms_mo_pointer pointer = {0, {NULL, 0}};
    unsigned format = segment->fixup_format;
    uint64_t base = d->mo->fixup_base;
    switch (format) {
    case 0: pointer.addr = ms_mo_plain(d, raw); break;
    case ms_DYLD_CHAINED_PTR_ARM64E:
    case ms_DYLD_CHAINED_PTR_ARM64E_KERNEL:
    case ms_DYLD_CHAINED_PTR_ARM64E_USERLAND:
    case ms_DYLD_CHAINED_PTR_ARM64E_USERLAND24: return ms_mo_decode_arm64e(d, format, raw);
    case ms_DYLD_CHAINED_PTR_64:
    case ms_DYLD_CHAINED_PTR_64_OFFSET:
        if (raw >> 63 != 0)
            return ms_mo_to_import(d, raw & 0xffffff);
        pointer.addr = (raw & 0xfffffffff) + (format == ms_DYLD_CHAINED_PTR_64 ? 0 : base);
        break;
    case ms_DYLD_CHAINED_PTR_32:
        if (raw >> 31 != 0)
            return ms_mo_to_import(d, raw & 0xfffff);
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
static ms_mo_pointer ms_mo_pointer_at(ms_mo_data *d, uint64_t addr)
{
    ms_mo_pointer pointer = {0, {NULL, 0}};
    const ms_mo_section *section = ms_mo_section_at(d, addr);
    ms_span span = ms_mo_at_addr(d, addr, ms_mo_pointer_size(d));
    if (section == NULL || span.len == 0)
        return pointer;
    uint64_t raw = d->mo->is_64 ? ms_rd_raw_u64(span.ptr) : ms_rd_raw_u32(span.ptr);
    size_t at = ms_upper_bound(d->binds, d->bind_count, addr);
    if (at > 0 && d->binds[at - 1].key == addr) {
        uint64_t item = d->binds[at - 1].item;
        if ((item & ms_MO_BIND_IS_VALUE) != 0)
            pointer.addr = (item & ~ms_MO_BIND_IS_VALUE) + raw;
        else
            pointer.import = d->bind_names[item];
        return pointer;
    }
    if (raw == 0)
        return pointer;
    if (d->mo->is_loaded) {
        pointer.addr = ms_mo_plain(d, raw) - d->mo->slide;
        return pointer;
    }
    if (d->is_threaded)
        return ms_mo_decode_arm64e(d, ms_DYLD_CHAINED_PTR_ARM64E, raw);
    return ms_mo_decode(d, &d->mo->segments[section->segment_index], raw);
}

/* Relocations of an object file: pointers to symbols, which hold only what is added to them. */
static void ms_mo_read_relocations(ms_mo_data *d, const ms_mo_section *section, ms_arena *arena)
{
    const ms_mo *mo = d->mo;
    uint32_t one = mo->is_64 ? 16 : 12; /* nlist.h */
    uint32_t want_length = mo->is_64 ? 3 : 2;
    ms_span nlists = ms_mo_table(mo, mo->loads.sym_off, mo->loads.sym_count, one);
    ms_span strings = ms_mo_table(mo, mo->loads.str_off, mo->loads.str_size, 1);
    ms_rd rd = ms_rd_make(ms_mo_table(mo, section->reloc_off, section->reloc_count, 8));
    while (ms_rd_left(&rd) >= 8 && ms_mo_spend(d, 1) && !arena->oom) {
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
            ms_mo_add_bind_name(d, ms_mo_str_in(d, ms_span_from(strings, ms_rd_raw_u32(p))), arena);
        ms_mo_add_bind(d, section->addr + off, is_undefined ? d->name_count - 1 : ms_MO_BIND_IS_VALUE | value,
                       arena);
    }
}

/* Makes a slice's data readable by address. Failure shows as oom of an arena. */
static void ms_mo_data_open(ms_mo_data *d, const ms_mo *mo, ms_arena *arena)
{
    ms_zero(d, sizeof *d);
    d->mo = mo;
    ms_mo_refill(d);
    d->sections.arena = arena;
    ms_piece *pieces = (ms_piece *)ms_arena_alloc(arena, mo->section_count, sizeof *pieces);
    size_t count = 0;
    for (uint32_t i = 0; i < mo->section_count && pieces != NULL; i++) {
        const ms_mo_section *section = &mo->sections[i];
        uint64_t hi;
        if (section->bytes.len == 0 || !ms_add_ok(section->addr, section->bytes.len, &hi))
            continue;
        pieces[count].lo = section->addr;
        pieces[count].hi = hi;
        pieces[count++].owner = i;
    }
    ms_seg_build(pieces, count, arena, &d->sections);
    ms_mo_read_imports(d);
    ms_mo_read_binds(d, ms_mo_linkedit(mo, mo->loads.bind_off, mo->loads.bind_size), arena);
    for (uint32_t i = 0; i < mo->section_count && mo->slice.filetype == ms_MH_OBJECT; i++) {
        if ((mo->sections[i].flags & ms_S_ATTR_DEBUG) == 0)
            ms_mo_read_relocations(d, &mo->sections[i], arena);
    }
    ms_key_heap_sort(d->binds, d->bind_count);
}

/* ---- Fat files ---- */

/* Reads slice number index of a file from its headers.
 * Returns: false when there is none. *count: how many the file has; a thin file is its own only slice. */
static bool ms_mo_slice_at(ms_span file, uint32_t index, uint32_t *count, ms_span *slice, uint64_t *offset)
{
    ms_rd rd = ms_rd_make(file);
    uint32_t magic = ms_rd_be32(&rd);
    size_t one = magic == ms_FAT_MAGIC_64 ? 32 : 20;
    *count = 1;
    *offset = 0;
    *slice = file;
    if (magic != ms_FAT_MAGIC_32 && magic != ms_FAT_MAGIC_64)
        return index == 0;
    *count = ms_rd_be32(&rd);
    if (*count > ms_rd_left(&rd) / one)
        *count = (uint32_t)(ms_rd_left(&rd) / one);
    if (*count > ms_MO_SLICES)
        *count = ms_MO_SLICES;
    if (index >= *count)
        return false;
    ms_rd_skip(&rd, (uint64_t)index * one + 8);
    *offset = magic == ms_FAT_MAGIC_64 ? ms_rd_be64(&rd) : ms_rd_be32(&rd);
    uint64_t size = magic == ms_FAT_MAGIC_64 ? ms_rd_be64(&rd) : ms_rd_be32(&rd);
    *slice = ms_span_sub(file, *offset, size);
    if (slice->len == 0)
        *slice = ms_span_from(file, *offset); /* cut short: what is left may still answer */
    return true;
}

/* Reads the header, UUID and symbol table commands of a slice, without its sections. */
static machsym_result ms_mo_peek(ms_span slice, uint64_t offset, ms_mo *mo, machsym_error *err)
{
    ms_zero(mo, sizeof *mo);
    mo->bytes = slice;
    mo->slice.offset = offset;
    mo->slice.size = slice.len;
    return ms_mo_load(mo, NULL, err);
}

/* What a file is that is no Mach-O, for the error. */
static machsym_result ms_mo_refuse(ms_span file, machsym_error *err)
{
    machsym_str text = ms_str_make((const char *)file.ptr, file.len);
    if (file.len == 0)
        return ms_fail(err, MACHSYM_ERR_FORMAT, "the file is empty", "", 0);
    if (ms_str_begins(text, "\177ELF"))
        return ms_fail(err, MACHSYM_ERR_FORMAT, "an ELF file, not Mach-O", "", 0);
    if (ms_str_begins(text, "!<arch>\n"))
        return ms_fail(err, MACHSYM_ERR_UNSUPPORTED,
                       "a static library; name a linked file or an object in it", "", 0);
    return ms_fail(err, MACHSYM_ERR_FORMAT, "not a Mach-O file", "", 0);
}

static bool ms_mo_same_uuid(const machsym_slice *slice, const machsym_uuid *uuid)
{
    return slice->has_uuid && ms_equal(slice->uuid.v, uuid->v, sizeof uuid->v);
}

/* Chooses the slice that arch and uuid (each may be NULL) ask for.
 * arm64e is content with arm64, as Apple's tools are; the reverse is not. */
static machsym_result ms_mo_choose(ms_span file, const char *arch, const machsym_uuid *uuid, ms_mo *out,
                                   machsym_error *err)
{
    ms_span slice;
    uint64_t offset = 0;
    uint32_t count = 0;
    uint32_t matches = 0;
    bool uuid_seen = false;
    bool by_name = false;
    ms_mo mo;
    machsym_result first_error = MACHSYM_OK;
    for (uint32_t i = 0; ms_mo_slice_at(file, i, &count, &slice, &offset); i++) {
        machsym_result result = ms_mo_peek(slice, offset, &mo, first_error == MACHSYM_OK ? err : NULL);
        if (result != MACHSYM_OK) {
            first_error = result;
            continue;
        }
        if (uuid != NULL && !ms_mo_same_uuid(&mo.slice, uuid))
            continue;
        uuid_seen = true;
        bool exact = arch == NULL || ms_str_is(ms_str_from_c(arch), mo.slice.arch);
        bool similar = !exact && ms_str_is(ms_str_from_c(arch), "arm64e") &&
                       ms_str_is(ms_str_from_c(mo.slice.arch), "arm64");
        if (!exact && !(similar && !by_name))
            continue;
        if (exact && arch != NULL && by_name)
            continue; /* the first of equals */
        by_name = by_name || (exact && arch != NULL);
        matches++;
        *out = mo;
    }
    if (count == 0)
        return ms_fail(err, MACHSYM_ERR_DAMAGED, "a fat file without slices", "fat header", 4);
    if (matches == 0 && first_error != MACHSYM_OK)
        return first_error;
    if (matches == 0 && uuid != NULL && !uuid_seen)
        return ms_fail(err, MACHSYM_ERR_UUID, "the file has no slice with this UUID", "", 0);
    if (matches == 0)
        return ms_fail(err, MACHSYM_ERR_ARCH, "the file has no slice for this architecture", "", 0);
    if (matches > 1 && arch == NULL && uuid == NULL)
        return ms_fail(err, MACHSYM_ERR_AMBIGUOUS,
                       "the file has several slices; name an architecture or a UUID", "", 0);
    return MACHSYM_OK;
}

/* ---- Files ---- */

/* A whole file, from the caller's bytes or opened by us. */
typedef struct ms_mo_input {
    ms_span bytes;
    char *path; /* malloc'd: what was opened in the end; NULL for the caller's bytes */
#ifndef MACHSYM_NO_OS
    ms_os_file file;
#endif
} ms_mo_input;

static void ms_mo_input_close(ms_mo_input *input)
{
#ifndef MACHSYM_NO_OS
    ms_os_unmap(&input->file);
    free(input->path);
#endif
    input->path = NULL;
    input->bytes = ms_span_make(NULL, 0);
}

#ifndef MACHSYM_NO_OS
static char *ms_mo_text(machsym_str a, const char *b, machsym_str c)
{
    size_t b_len = strlen(b);
    char *text = (char *)malloc(a.len + b_len + c.len + 1);
    if (text == NULL)
        return NULL;
    ms_copy(text, a.ptr, a.len);
    ms_copy(text + a.len, b, b_len);
    ms_copy(text + a.len + b_len, c.ptr, c.len);
    text[a.len + b_len + c.len] = 0;
    return text;
}

static machsym_str ms_mo_without_slashes(const char *path)
{
    machsym_str text = ms_str_from_c(path);
    while (text.len > 1 && text.ptr[text.len - 1] == '/')
        text.len--;
    return text;
}

/* The DWARF file inside a bundle: the one named like the bundle, else the first. malloc'd; NULL when there is
 * none. */
static char *ms_mo_in_bundle(const char *bundle)
{
    machsym_str path = ms_mo_without_slashes(bundle);
    machsym_str name = ms_str_base_name(path);
    if (ms_str_ends(name, ".dSYM"))
        name.len -= 5;
    char *same = ms_mo_text(path, "/Contents/Resources/DWARF/", name);
    if (same != NULL && ms_os_is_file(same))
        return same;
    free(same);
    char *folder = ms_mo_text(path, "/Contents/Resources/DWARF", ms_str_empty());
    char *first = folder != NULL ? ms_os_first_file(folder) : NULL;
    free(folder);
    return first;
}

/* A file that ms_os_map did not open. */
static machsym_result ms_mo_open_path(const char *path, uint32_t flags, ms_mo_input *input,
                                      machsym_error *err)
{
    if (ms_os_is_folder(path)) {
        input->path = ms_mo_in_bundle(path);
        if (input->path == NULL)
            return ms_fail(
                err, MACHSYM_ERR_IO,
                "a folder without Contents/Resources/DWARF/FILE in it; name a Mach-O file or a .dSYM", "", 0);
    } else {
        input->path = ms_mo_text(ms_str_from_c(path), "", ms_str_empty());
        if (input->path == NULL)
            return ms_fail_memory(err);
    }
    int code = ms_os_open(input->path, (flags & MACHSYM_OPEN_COPY) != 0, &input->file);
    if (code != 0)
        return ms_fail_file(err, "the file cannot be read", code);
    input->bytes = ms_span_make(input->file.ptr, input->file.len);
    return MACHSYM_OK;
}
#endif

/* Opens a path, or takes the caller's bytes. */
static machsym_result ms_mo_input_open(const char *path, machsym_bytes bytes, uint32_t flags,
                                       ms_mo_input *input, machsym_error *err)
{
    ms_zero(input, sizeof *input);
    machsym_result result = MACHSYM_OK;
    if (bytes.ptr != NULL)
        input->bytes = ms_span_make(bytes.ptr, bytes.len);
#ifndef MACHSYM_NO_OS
    else if (path != NULL)
        result = ms_mo_open_path(path, flags, input, err);
#endif
    else
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "neither a path nor bytes to open", "", 0);
    (void)path;
    (void)flags;
    if (result == MACHSYM_OK) {
        ms_rd rd = ms_rd_make(input->bytes);
        uint32_t magic = ms_rd_be32(&rd);
        bool is_mach = magic == ms_FAT_MAGIC_32 || magic == ms_FAT_MAGIC_64 || magic == ms_MH_MAGIC ||
                       magic == ms_MH_MAGIC_64 || magic == ms_MH_CIGAM || magic == ms_MH_CIGAM_64;
        if (!is_mach)
            result = ms_mo_refuse(input->bytes, err);
    }
    if (result != MACHSYM_OK)
        ms_mo_input_close(input);
    return result;
}

#endif /* ms_ROOM_macho_macho */
