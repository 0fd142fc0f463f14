#ifndef ms_ROOM_macho_cache
#define ms_ROOM_macho_cache
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "../base/memory.h"

/* ==== >>cache ==============================================================================================
 * Job:    finds what lies at an address of a dyld shared cache.
 * Offers: ms_dc, ms_dc_is, ms_dc_read_header, ms_dc_open, ms_dc_get_sibling, ms_dc_add_file,
 *         ms_dc_set_locals, ms_dc_settle, ms_dc_at, ms_dc_pointer_at, ms_dc_number_at, ms_dc_get_image,
 *         ms_dc_find_image, ms_dc_find_locals.
 * Never:  opens a file; looks inside an image. */

/* dyld_cache_format.h: where the fields of a header lie. A field exists if it lies below mappingOffset, which
 * is where the header ends. */
enum {
    ms_DC_MAPPINGS = 0x10,
    ms_DC_IMAGES_OLD = 0x18,
    ms_DC_SLIDE_OLD = 0x38,
    ms_DC_LOCALS = 0x48,
    ms_DC_UUID = 0x58,
    ms_DC_TEXTS = 0x88,
    ms_DC_PLATFORM = 0xd8,
    ms_DC_REGION = 0xe0,
    ms_DC_SLIDES = 0x138,
    ms_DC_OS_VERSION = 0x16c,
    ms_DC_SIBLINGS = 0x188,
    ms_DC_SYMBOLS_UUID = 0x190,
    ms_DC_IMAGES = 0x1c0,
    ms_DC_SUBTYPE = 0x1c8,
    ms_DC_OBJC = 0x1d0
};

/* Sizes of records. */
enum {
    ms_DC_MAPPING_SIZE = 32,
    ms_DC_SLIDE_SIZE = 56,
    ms_DC_IMAGE_SIZE = 32,
    ms_DC_SIBLING_SIZE = 56,     /* with a suffix of the file's name */
    ms_DC_SIBLING_OLD_SIZE = 24, /* without one: files are called by their number */
    ms_DC_SUFFIX_SIZE = 32,
    ms_DC_LOCALS_SIZE = 16,    /* from symbolFileUUID on: addresses */
    ms_DC_LOCALS_OLD_SIZE = 12 /* offsets in the file */
};

/* Where a header says that records lie. */
typedef struct ms_dc_table {
    uint64_t off;
    uint64_t count;
} ms_dc_table;

/* What a header says; zero for what it lacks. */
typedef struct ms_dc_header {
    machsym_str arch; /* "arm64e" and so on */
    uint64_t size;    /* of the header */
    machsym_uuid uuid;
    bool has_uuid;
    ms_dc_table mappings;
    ms_dc_table slides; /* the mappings again, with their slide info */
    ms_dc_table images;
    ms_dc_table texts; /* the images again, with UUIDs */
    ms_dc_table siblings;
    uint64_t slide_off; /* of the second mapping, in caches without slides */
    uint64_t slide_size;
    uint64_t locals_off;
    uint64_t locals_size;
    uint32_t platform;
    uint32_t os_version;
    uint32_t alt_platform;
    uint32_t alt_os_version;
    uint64_t region_size;
    machsym_uuid symbols_uuid; /* all zero: no file has the local symbols */
    uint64_t objc_off;         /* from the first mapping's address */
} ms_dc_header;

/* A part of a file of the cache, as it is mapped. */
typedef struct ms_dc_mapping {
    uint64_t addr;
    uint64_t size;
    uint64_t off; /* in its file */
    ms_span bytes;
    ms_span slide;          /* what tells where the pointers are */
    uint32_t slide_version; /* how pointers are stored; 0: plain */
    uint64_t delta_mask;    /* bits of a pointer that lead to the next one */
    uint64_t value_add;
} ms_dc_mapping;

/* A cache: all its files that are there. */
typedef struct ms_dc {
    ms_span main; /* the file that lists the images and the other files */
    ms_dc_header head;
    ms_dc_mapping *mappings; /* of all files; by address once settled */
    size_t count;
    size_t cap;
    ms_span images;
    ms_span texts;
    ms_span siblings;
    ms_span locals;         /* what local symbols are counted from */
    unsigned local_size;    /* of an entry */
    uint64_t base;          /* what offsets of addresses count from */
    uint64_t selector_base; /* what selectors of relative method lists count from; 0: from their field */
    uint64_t size;          /* bytes of all files */
    ms_damage damage;
} ms_dc;

/* Another file of the cache. */
typedef struct ms_dc_sibling {
    machsym_uuid uuid;
    uint64_t addr;
    machsym_str suffix; /* of the file's name; empty: a dot and the number */
} ms_dc_sibling;

/* One image. */
typedef struct ms_dc_image {
    machsym_str path;
    uint64_t addr; /* of its Mach-O header */
    uint64_t size; /* of its __TEXT; 0: the cache does not tell */
    machsym_uuid uuid;
    bool has_uuid;
} ms_dc_image;

/* The local symbols of an image; offsets count in bytes. */
typedef struct ms_dc_locals {
    ms_span bytes;
    uint64_t nlist_off;
    uint32_t nlist_count;
    uint64_t strings_off;
    uint32_t strings_size;
} ms_dc_locals;

/* ---- Headers ---- */

/* Whether caches are read. Else no image has one, and the compiler leaves out the code for it. */
#ifdef MACHSYM_NO_CACHE
enum { ms_DC_IS_READ = 0 };
#else
enum { ms_DC_IS_READ = 1 };
#endif

static bool ms_dc_is(ms_span file)
{
    return ms_str_begins(ms_str_make((const char *)file.ptr, file.len), "dyld_v1");
}

static uint32_t ms_dc_u32(ms_span head, uint64_t off)
{
    ms_rd rd = ms_rd_at(head, off);
    return ms_rd_u32(&rd);
}

static uint64_t ms_dc_u64(ms_span head, uint64_t off)
{
    ms_rd rd = ms_rd_at(head, off);
    return ms_rd_u64(&rd);
}

static bool ms_dc_uuid(ms_span head, uint64_t off, machsym_uuid *out)
{
    ms_span bytes = ms_span_sub(head, off, sizeof out->v);
    ms_copy(out->v, bytes.ptr, bytes.len);
    return bytes.len != 0;
}

/* A table whose fields are 32 bits wide. */
static ms_dc_table ms_dc_table_at(ms_span head, uint64_t off)
{
    ms_dc_table table;
    table.off = ms_dc_u32(head, off);
    table.count = ms_dc_u32(head, off + 4);
    return table;
}

/* The records of a table, or as many of them as are really there. */
static ms_span ms_dc_records(ms_span file, ms_dc_table table, size_t size)
{
    ms_span rest = ms_span_from(file, table.off);
    size_t count = rest.len / size;
    return ms_span_sub(rest, 0, (table.count < count ? (size_t)table.count : count) * size);
}

/* What follows "dyld_v1" in the 16 bytes of the magic. */
static machsym_str ms_dc_arch(ms_span file)
{
    ms_span magic = ms_span_sub(file, 7, 9);
    machsym_str arch = ms_str_bounded((const char *)magic.ptr, magic.len);
    while (arch.len > 0 && arch.ptr[0] == ' ')
        arch = ms_str_drop(arch, 1);
    return arch;
}

/* Reads the header of a file of a cache. Returns false when it has none. */
static bool ms_dc_read_header(ms_span file, ms_dc_header *out)
{
    ms_zero(out, sizeof *out);
    uint64_t size = ms_dc_u32(file, ms_DC_MAPPINGS);
    ms_span head = ms_span_sub(file, 0, size);
    if (!ms_dc_is(file) || head.len < ms_DC_IMAGES_OLD)
        return false;
    out->size = size;
    out->arch = ms_dc_arch(file);
    out->has_uuid = ms_dc_uuid(head, ms_DC_UUID, &out->uuid);
    out->mappings = ms_dc_table_at(head, ms_DC_MAPPINGS);
    out->slides = ms_dc_table_at(head, ms_DC_SLIDES);
    out->images = ms_dc_table_at(head, ms_DC_IMAGES);
    if (out->images.count == 0)
        out->images = ms_dc_table_at(head, ms_DC_IMAGES_OLD);
    out->texts.off = ms_dc_u64(head, ms_DC_TEXTS);
    out->texts.count = ms_dc_u64(head, ms_DC_TEXTS + 8);
    out->siblings = ms_dc_table_at(head, ms_DC_SIBLINGS);
    out->slide_off = ms_dc_u64(head, ms_DC_SLIDE_OLD);
    out->slide_size = ms_dc_u64(head, ms_DC_SLIDE_OLD + 8);
    out->locals_off = ms_dc_u64(head, ms_DC_LOCALS);
    out->locals_size = ms_dc_u64(head, ms_DC_LOCALS + 8);
    out->platform = ms_dc_u32(head, ms_DC_PLATFORM);
    out->os_version = ms_dc_u32(head, ms_DC_OS_VERSION);
    out->alt_platform = ms_dc_u32(head, ms_DC_OS_VERSION + 4);
    out->alt_os_version = ms_dc_u32(head, ms_DC_OS_VERSION + 8);
    out->region_size = ms_dc_u64(head, ms_DC_REGION + 8);
    ms_dc_uuid(head, ms_DC_SYMBOLS_UUID, &out->symbols_uuid);
    out->objc_off = ms_dc_u64(head, ms_DC_OBJC);
    return true;
}

/* ---- Mappings ---- */

/* Reads how the pointers of a mapping are stored: dyld_cache_slide_info to dyld_cache_slide_info5. */
static void ms_dc_read_slide(ms_dc *dc, ms_dc_mapping *mapping, ms_span file, uint64_t off, uint64_t size)
{
    ms_span info = ms_span_sub(file, off, size);
    if (size == 0)
        return;
    mapping->slide = info;
    mapping->slide_version = ms_dc_u32(info, 0);
    switch (mapping->slide_version) {
    case 1: break;
    case 2:
    case 4:
        mapping->delta_mask = ms_dc_u64(info, 24);
        mapping->value_add = ms_dc_u64(info, 32);
        break;
    case 3:
    case 5: mapping->value_add = ms_dc_u64(info, 16); break;
    default:
        ms_damage_note(&dc->damage, "the slide info of a mapping is missing or of an unknown version",
                       "slide info", off);
        mapping->slide_version = UINT32_MAX;
        return;
    }
    if (mapping->slide_version == 1 || ms_dc_u32(info, 4) - 1 < MACHSYM_MAX_SLIDE_PAGE)
        return;
    ms_damage_note(&dc->damage, "the pages of a slide info have no size, or one that no cache has",
                   "slide info", off);
    mapping->slide_version = UINT32_MAX;
}

/* Adds the mappings of a file of the cache. */
static void ms_dc_add_file(ms_dc *dc, ms_span file, const ms_dc_header *head, ms_arena *arena)
{
    ms_span records = ms_dc_records(file, head->mappings, ms_DC_MAPPING_SIZE);
    ms_span slides = ms_dc_records(file, head->slides, ms_DC_SLIDE_SIZE);
    size_t count = records.len / ms_DC_MAPPING_SIZE;
    dc->size += file.len;
    if (count != head->mappings.count)
        ms_damage_note_cut(&dc->damage, "the list of mappings runs past the end of the file", "cache header",
                           head->mappings.off);
    if (count > MACHSYM_MAX_CACHE_MAPPINGS)
        ms_damage_note(&dc->damage, "a file has more mappings than MACHSYM_MAX_CACHE_MAPPINGS",
                       "cache header", head->mappings.off);
    for (size_t i = 0; i < count && i < MACHSYM_MAX_CACHE_MAPPINGS; i++) {
        ms_dc_mapping *v =
            (ms_dc_mapping *)ms_arena_grow(arena, dc->mappings, dc->count, &dc->cap, sizeof *v);
        if (v == NULL)
            return;
        dc->mappings = v;
        ms_dc_mapping *mapping = &v[dc->count++];
        ms_zero(mapping, sizeof *mapping);
        ms_rd rd = ms_rd_at(records, i * ms_DC_MAPPING_SIZE);
        mapping->addr = ms_rd_u64(&rd);
        mapping->size = ms_rd_u64(&rd);
        mapping->off = ms_rd_u64(&rd);
        ms_span rest = ms_span_from(file, mapping->off);
        mapping->bytes = ms_span_sub(rest, 0, mapping->size < rest.len ? mapping->size : rest.len);
        if (mapping->bytes.len != mapping->size)
            ms_damage_note_cut(&dc->damage, "a mapping runs past the end of its file", "mapping",
                               mapping->off);
        ms_rd slide = ms_rd_at(slides, i * ms_DC_SLIDE_SIZE);
        if (ms_rd_u64(&slide) == mapping->addr && !slide.failed) {
            ms_rd_skip(&slide, 16); /* size, offset */
            uint64_t off = ms_rd_u64(&slide);
            ms_dc_read_slide(dc, mapping, file, off, ms_rd_u64(&slide));
        } else if (i == 1) {
            ms_dc_read_slide(dc, mapping, file, head->slide_off, head->slide_size);
        }
    }
}

static size_t ms_dc_sibling_size(const ms_dc *dc)
{
    return dc->head.size > ms_DC_SUBTYPE ? ms_DC_SIBLING_SIZE : ms_DC_SIBLING_OLD_SIZE;
}

/* Starts a cache with its main file. Returns false when that has no header. */
static bool ms_dc_open(ms_dc *dc, ms_span file, ms_arena *arena)
{
    ms_zero(dc, sizeof *dc);
    if (!ms_dc_read_header(file, &dc->head))
        return false;
    dc->main = file;
    ms_dc_add_file(dc, file, &dc->head, arena);
    dc->base = dc->count > 0 ? dc->mappings[0].addr : 0;
    dc->texts = ms_dc_records(file, dc->head.texts, ms_DC_IMAGE_SIZE);
    dc->images = ms_dc_records(file, dc->head.images, ms_DC_IMAGE_SIZE);
    dc->siblings = ms_dc_records(file, dc->head.siblings, ms_dc_sibling_size(dc));
    if (dc->texts.len / ms_DC_IMAGE_SIZE != dc->head.texts.count ||
        dc->images.len / ms_DC_IMAGE_SIZE != dc->head.images.count)
        ms_damage_note_cut(&dc->damage, "the list of images runs past the end of the file", "cache header",
                           dc->head.images.off);
    if (dc->siblings.len / ms_dc_sibling_size(dc) != dc->head.siblings.count)
        ms_damage_note_cut(&dc->damage, "the list of the other files runs past the end of the file",
                           "cache header", dc->head.siblings.off);
    else if (dc->head.siblings.count > MACHSYM_MAX_CACHE_FILES)
        ms_damage_note(&dc->damage, "the cache has more files than MACHSYM_MAX_CACHE_FILES", "cache header",
                       dc->head.siblings.off);
    return true;
}

/* The mapping that an address lies in; NULL when there is none. */
static const ms_dc_mapping *ms_dc_mapping_at(const ms_dc *dc, uint64_t addr)
{
    size_t next = ms_upper_bound(dc->mappings, dc->count, sizeof *dc->mappings, addr);
    MACHSYM_COUNT_WORK(1);
    return next > 0 && addr - dc->mappings[next - 1].addr < dc->mappings[next - 1].size
               ? &dc->mappings[next - 1]
               : NULL;
}

/* What lies at an address, and after it in its mapping; empty when no file that is there has it. */
static ms_span ms_dc_at(const ms_dc *dc, uint64_t addr)
{
    const ms_dc_mapping *mapping = ms_dc_mapping_at(dc, addr);
    return mapping == NULL ? ms_span_make(NULL, 0) : ms_span_from(mapping->bytes, addr - mapping->addr);
}

/* Takes the file that has the local symbols: the main one, or one of their own. */
static void ms_dc_set_locals(ms_dc *dc, ms_span file, const ms_dc_header *head)
{
    ms_span rest = ms_span_from(file, head->locals_off);
    bool is_whole = head->locals_size <= rest.len;
    if (head->locals_off == 0 || head->locals_size == 0)
        return;
    dc->locals = ms_span_sub(rest, 0, is_whole ? head->locals_size : rest.len);
    dc->local_size = head->size >= ms_DC_SYMBOLS_UUID ? ms_DC_LOCALS_SIZE : ms_DC_LOCALS_OLD_SIZE;
    if (!is_whole)
        ms_damage_note_cut(&dc->damage, "the local symbols run past the end of the file", "cache header",
                           head->locals_off);
}

/* Makes a cache ready whose files were all added. */
static void ms_dc_settle(ms_dc *dc, ms_arena *arena)
{
    ms_key *order = (ms_key *)ms_arena_alloc(arena, dc->count, sizeof *order);
    ms_dc_mapping *sorted = (ms_dc_mapping *)ms_arena_alloc(arena, dc->count, sizeof *sorted);
    if (order == NULL || sorted == NULL)
        return;
    for (size_t i = 0; i < dc->count; i++) {
        order[i].key = dc->mappings[i].addr;
        order[i].item = i;
    }
    ms_key_heap_sort(order, dc->count);
    for (size_t i = 0; i < dc->count; i++)
        sorted[i] = dc->mappings[order[i].item];
    dc->mappings = sorted;
    /* objc optimisation header: version, flags, five offsets, that of the selectors */
    if (dc->head.objc_off != 0) {
        uint64_t selectors = ms_dc_u64(ms_dc_at(dc, dc->base + dc->head.objc_off), 48);
        dc->selector_base = selectors != 0 ? dc->base + selectors : 0;
    }
}

/* The address that a pointer stands for; 0 for NULL. What tags and signatures it has is left out. */
static uint64_t ms_dc_decode(const ms_dc_mapping *mapping, uint64_t raw)
{
    uint64_t value = raw & ~mapping->delta_mask;
    if (raw == 0)
        return 0;
    switch (mapping->slide_version) {
    case 0:
    case 1: return raw;
    case 2: return value != 0 ? (value & 0xffffffffffffff) + mapping->value_add : 0;
    case 3: return raw >> 63 != 0 ? (raw & 0xffffffff) + mapping->value_add : raw & 0x7ffffffffff;
    case 4:
        if ((value & 0xffff8000) == 0 || (value & 0x3fff8000) == 0x3fff8000) /* a small number */
            return 0;
        return (value + mapping->value_add) & 0xffffffff;
    case 5: return (raw & 0x3ffffffff) + mapping->value_add;
    default: return 0;
    }
}

/* The address that the pointer of size 4 or 8 at an address stands for; 0 for NULL, and where none is. */
static uint64_t ms_dc_pointer_at(const ms_dc *dc, uint64_t addr, unsigned size)
{
    const ms_dc_mapping *mapping = ms_dc_mapping_at(dc, addr);
    ms_span bytes =
        mapping != NULL ? ms_span_sub(mapping->bytes, addr - mapping->addr, size) : ms_span_make(NULL, 0);
    if (bytes.len == 0)
        return 0;
    return ms_dc_decode(mapping, size == 8 ? ms_rd_raw_u64(bytes.ptr) : ms_rd_raw_u32(bytes.ptr));
}

/* The number of 32 bits at an offset of a mapping; 0 where none is. Chains of version 4 run through small
 * numbers too, whose upper bits then lead to the next pointer. Larger numbers are in no chain. */
static uint32_t ms_dc_number_in(const ms_dc_mapping *mapping, uint64_t off)
{
    uint32_t raw = ms_dc_u32(mapping->bytes, off);
    if (mapping->slide_version != 4)
        return raw;
    uint32_t value = raw & ~(uint32_t)mapping->delta_mask;
    if ((value & 0xffff8000) == 0)
        return value;
    return (value & 0x3fff8000) == 0x3fff8000 ? value | 0xc0000000 : raw;
}

/* The same at an address. */
static uint32_t ms_dc_number_at(const ms_dc *dc, uint64_t addr)
{
    const ms_dc_mapping *mapping = ms_dc_mapping_at(dc, addr);
    return mapping != NULL ? ms_dc_number_in(mapping, addr - mapping->addr) : 0;
}

/* ---- Other files ---- */

/* How many other files of the cache the main file names; at most MACHSYM_MAX_CACHE_FILES count. */
static size_t ms_dc_sibling_count(const ms_dc *dc)
{
    size_t count = dc->siblings.len / ms_dc_sibling_size(dc);
    return count < MACHSYM_MAX_CACHE_FILES ? count : (size_t)MACHSYM_MAX_CACHE_FILES;
}

/* Another file of the cache by its number, below ms_dc_sibling_count. */
static void ms_dc_get_sibling(const ms_dc *dc, size_t index, ms_dc_sibling *out)
{
    size_t size = ms_dc_sibling_size(dc);
    ms_span record = ms_span_sub(dc->siblings, (uint64_t)index * size, size);
    ms_dc_uuid(record, 0, &out->uuid);
    out->addr = dc->base + ms_dc_u64(record, sizeof out->uuid.v);
    out->suffix = ms_str_empty();
    if (size == ms_DC_SIBLING_SIZE)
        out->suffix = ms_str_bounded((const char *)record.ptr + ms_DC_SIBLING_OLD_SIZE, ms_DC_SUFFIX_SIZE);
}

/* ---- Images ---- */

/* A path in the main file; empty when it does not end there. */
static machsym_str ms_dc_path(const ms_dc *dc, uint32_t off)
{
    ms_span rest = ms_span_from(dc->main, off);
    size_t most = rest.len < MACHSYM_MAX_OBJECT_PATH ? rest.len : (size_t)MACHSYM_MAX_OBJECT_PATH;
    machsym_str path = ms_str_bounded((const char *)rest.ptr, most);
    return path.len < most ? path : ms_str_empty();
}

static size_t ms_dc_image_count(const ms_dc *dc)
{
    return (dc->texts.len != 0 ? dc->texts.len : dc->images.len) / ms_DC_IMAGE_SIZE;
}

/* Where an image begins, and how long its __TEXT is; 0: the cache does not tell. */
static uint64_t ms_dc_image_addr(const ms_dc *dc, size_t index, uint64_t *size)
{
    uint64_t at = (uint64_t)index * ms_DC_IMAGE_SIZE;
    MACHSYM_COUNT_WORK(1);
    *size = dc->texts.len != 0 ? ms_dc_u32(dc->texts, at + 24) : 0;
    return dc->texts.len != 0 ? ms_dc_u64(dc->texts, at + 16) : ms_dc_u64(dc->images, at);
}

/* An image by its number, below ms_dc_image_count. Caches of today have a list with UUIDs. */
static void ms_dc_get_image(const ms_dc *dc, size_t index, ms_dc_image *out)
{
    uint64_t at = (uint64_t)index * ms_DC_IMAGE_SIZE;
    ms_zero(out, sizeof *out);
    out->addr = ms_dc_image_addr(dc, index, &out->size);
    if (dc->texts.len != 0) {
        out->has_uuid = ms_dc_uuid(dc->texts, at, &out->uuid);
        out->path = ms_dc_path(dc, ms_dc_u32(dc->texts, at + 28));
    } else {
        out->path = ms_dc_path(dc, ms_dc_u32(dc->images, at + 24));
    }
}

/* The part of a path of a cache after its last slash. */
static machsym_str ms_dc_base_name(machsym_str path)
{
    size_t at = path.len;
    while (at > 0 && path.ptr[at - 1] != '/')
        at--;
    return ms_str_drop(path, at);
}

/* Whether a path in the main file is this one, or ends in this name. */
static bool ms_dc_is_called(const ms_dc *dc, uint32_t off, machsym_str name, bool is_path)
{
    ms_span rest = ms_span_from(dc->main, off);
    MACHSYM_COUNT_WORK(1);
    if (is_path)
        return name.len < rest.len && rest.ptr[name.len] == 0 && ms_equal(rest.ptr, name.ptr, name.len);
    return ms_str_equal(ms_dc_base_name(ms_dc_path(dc, off)), name);
}

/* Finds an image by its path, or by the last part of it. Returns how many images the name may mean: several
 * paths that lead to one address are links to one image. */
static size_t ms_dc_find_image(const ms_dc *dc, machsym_str name, ms_dc_image *out)
{
    bool is_path = ms_dc_base_name(name).len != name.len;
    ms_span list = dc->texts.len != 0 ? dc->texts : dc->images;
    uint64_t path_at = dc->texts.len != 0 ? 28 : 24;
    size_t count = 0;
    uint64_t size;
    for (size_t i = 0; i < ms_dc_image_count(dc) && (count == 0 || !is_path); i++) {
        if (!ms_dc_is_called(dc, ms_dc_u32(list, i * ms_DC_IMAGE_SIZE + path_at), name, is_path) ||
            (count != 0 && ms_dc_image_addr(dc, i, &size) == out->addr))
            continue;
        if (count++ == 0)
            ms_dc_get_image(dc, i, out);
    }
    /* The list without UUIDs has links too: other paths of an image. */
    for (uint64_t at = 0; count == 0 && is_path && at < dc->images.len; at += ms_DC_IMAGE_SIZE) {
        if (!ms_dc_is_called(dc, ms_dc_u32(dc->images, at + 24), name, true))
            continue;
        ms_zero(out, sizeof *out);
        out->addr = ms_dc_u64(dc->images, at);
        out->path = ms_dc_path(dc, ms_dc_u32(dc->images, at + 24));
        count++;
    }
    return count;
}

/* Finds the local symbols of the image whose header lies at an address. Their entries name images by the
 * header's distance from the cache's first address, or in older caches by its place in the file. */
static bool ms_dc_find_locals(const ms_dc *dc, uint64_t addr, unsigned nlist_size, ms_dc_locals *out)
{
    const ms_dc_mapping *mapping = ms_dc_mapping_at(dc, addr);
    bool is_old = dc->local_size == ms_DC_LOCALS_OLD_SIZE;
    if (dc->locals.len == 0 || mapping == NULL)
        return false;
    uint64_t want = is_old ? addr - mapping->addr + mapping->off : addr - dc->base;
    ms_zero(out, sizeof *out);
    out->bytes = dc->locals;
    ms_rd info = ms_rd_make(dc->locals);
    out->nlist_off = ms_rd_u32(&info);
    uint32_t nlists = ms_rd_u32(&info);
    out->strings_off = ms_rd_u32(&info);
    out->strings_size = ms_rd_u32(&info);
    ms_dc_table table;
    table.off = ms_rd_u32(&info);
    table.count = ms_rd_u32(&info);
    ms_rd rd = ms_rd_make(ms_dc_records(dc->locals, table, dc->local_size));
    while (ms_rd_left(&rd) > 0) {
        uint64_t at = is_old ? ms_rd_u32(&rd) : ms_rd_u64(&rd);
        uint32_t first = ms_rd_u32(&rd);
        uint32_t count = ms_rd_u32(&rd);
        MACHSYM_COUNT_WORK(1);
        if (at != want || first > nlists)
            continue;
        out->nlist_off += (uint64_t)first * nlist_size;
        out->nlist_count = count < nlists - first ? count : nlists - first;
        return out->nlist_count != 0;
    }
    return false;
}

#endif /* ms_ROOM_macho_cache */
