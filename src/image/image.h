#ifndef ms_ROOM_image_image
#define ms_ROOM_image_image
#include "../api/options.h"
#include "../api/api.h"
#include "../base/platform.h"
#include "../base/bytes.h"
#include "../base/memory.h"
#include "../base/segments.h"
#include "../macho/cache.h"
#include "../macho/macho.h"
#include "../macho/files.h"
#include "../macho/symbols.h"
#include "../macho/sources.h"
#include "../dwarf/forms.h"
#include "../symmap/symmap.h"
#include "cachefiles.h"
#include "sections.h"
#include "contradicted.h"

/* ==== >>image ==============================================================================================
 * Job:    opens an image.
 * Offers: machsym_image, ms_im_open, ms_im_close, ms_im_get_info, ms_im_next_section, ms_im_next_platform,
 *         ms_im_next_entry, ms_im_entry_at, ms_im_next_cache_file, ms_im_addr, ms_im_loaded_at,
 *         ms_im_start_dwarf.
 * Never:  changes an image once it is open; reads debug info. */

/* Where to look for the object files of a debug map, and whether their times must match. */
typedef struct ms_im_places {
    const machsym_oso_prefix *prefixes;
    size_t prefix_count;
    const char *const *dirs;
    size_t dir_count;
    uint32_t flags; /* machsym_open_flags */
} ms_im_places;

/* A file, or a pair of files of one UUID, opened. */
struct machsym_image {
    ms_arena arena;
    machsym_map *map; /* that answers in place of all below, when the file is one; else NULL */
    ms_mo mo[2];      /* what was asked for; then the other half */
    ms_file inputs[2];
    const char *called[2];    /* what the caller's bytes are called; NULL for files */
    const ms_cf_cache *cache; /* that the file is, or that the image lies in; else NULL */
    ms_cf_cache *own_cache;   /* the same, if it was opened with this image */
    /* Of a whole cache or collection: which image has an address. Of a cache only __TEXT counts. */
    ms_segs entries;
    uint64_t *entry_places; /* of a collection: by image, where ms_mo_next_entry finds it */
    size_t mo_count;
    ms_sec *sections;     /* of debug info */
    ms_dw dw;             /* what sessions start with: no section is lent yet */
    ms_src_shared *names; /* names outside debug info; NULL: an object file uses its program's */
    machsym_str name;
    bool has_compressed_dwarf;
    bool follows_objects; /* without debug info, the debug map tells where that is, if there is one */
    ms_im_places places;
};

/* The cache that the file is, or that the image lies in; NULL: neither. */
static const ms_cf_cache *ms_im_cache(const machsym_image *image)
{
    return ms_DC_IS_READ != 0 ? image->cache : NULL;
}

/* Prepares for debug info without looking at it: that waits for the first lookup that needs it. */
static void ms_im_start_dwarf(machsym_image *image)
{
    for (size_t m = 0; m < image->mo_count; m++)
        image->has_compressed_dwarf |= ms_sec_is_compressed(&image->mo[m]);
    image->sections = ms_sec_start(image->mo, image->inputs, image->mo_count, &image->dw, &image->arena);
    image->dw.lender.lend = ms_sec_lend;
    image->dw.lender.owner = image->sections;
}

/* ---- Files that are not in memory ---- */

/* Whether a section may have names that neither debug info nor symbols have. Sections of metadata lead to
 * each other, so all of them may. Of code the stubs of selectors may. */
static bool ms_im_has_names(const ms_mo_section *section)
{
    if ((section->flags & ms_S_ATTR_CODE) != 0)
        return ms_str_is(section->name, "__objc_stubs");
    return !ms_str_is(section->segment, "__DWARF");
}

/* A table that load commands lead to. */
typedef struct ms_im_table {
    uint64_t off;
    uint32_t *count;
    uint32_t size; /* of an entry */
} ms_im_table;

enum { ms_IM_TABLES = 7 };

static void ms_im_list_tables(ms_mo *mo, ms_im_table out[ms_IM_TABLES])
{
    ms_mo_loads *l = &mo->loads;
    const ms_im_table tables[ms_IM_TABLES] = {
        {l->sym_off, &l->sym_count, mo->is_64 ? 16u : 12u},
        {l->str_off, &l->str_size, 1},
        {l->indirect_off, &l->indirect_count, 4},
        {l->starts_off, &l->starts_size, 1},
        {l->exports_off, &l->exports_size, 1},
        {l->fixups_off, &l->fixups_size, 1},
        {l->bind_off, &l->bind_size, 1},
    };
    ms_copy(out, tables, sizeof tables);
}

/* Reads the tables that load commands lead to. A table that runs past the end of the slice is read as far as
 * it goes. Returns those that cannot be read, a bit each. */
static uint32_t ms_im_read_tables(ms_file *input, ms_mo *mo)
{
    ms_im_table tables[ms_IM_TABLES];
    uint32_t lost = 0;
    ms_im_list_tables(mo, tables);
    for (unsigned i = 0; i < ms_IM_TABLES; i++) {
        uint64_t len = (uint64_t)*tables[i].count * tables[i].size;
        uint64_t left = tables[i].off < mo->bytes.len ? mo->bytes.len - tables[i].off : 0;
        len = len < left ? len : left;
        if (len != 0 && !ms_file_fill(input, mo->slice.offset + tables[i].off, len))
            lost |= 1u << i;
    }
    return lost;
}

/* Leaves the sections of debug info and metadata to those who ask for them (ms_sec_lend, ms_fx_bytes). Those
 * of metadata are read if the file is one that this image opened by itself. Forgets the others, so that
 * nothing looks at what is not there. */
static void ms_im_leave_sections(ms_file *input, ms_mo *mo, uint32_t lost_tables)
{
    ms_im_table tables[ms_IM_TABLES];
    ms_im_list_tables(mo, tables);
    for (unsigned i = 0; i < ms_IM_TABLES; i++) {
        if ((lost_tables >> i & 1) == 0)
            continue;
        *tables[i].count = 0;
        ms_damage_note(&mo->damage, "a table cannot be read", "load commands",
                       ms_mo_file_offset(mo, tables[i].off));
    }
    uint64_t left =
        mo->bytes.len; /* sections do not share bytes: all together are no longer than the slice */
    for (uint32_t i = 0; i < mo->section_count; i++) {
        ms_mo_section *section = &mo->sections[i];
        uint64_t at = (uint64_t)(section->bytes.len != 0 ? section->bytes.ptr - mo->bytes.ptr : 0);
        bool has_lines = section->bytes.len != 0 && ms_sec_is_one(section);
        bool has_names = section->bytes.len != 0 && !has_lines && ms_im_has_names(section);
        bool needs = has_names && input->reads_itself;
        bool has = needs && section->bytes.len <= left &&
                   ms_file_fill(input, mo->slice.offset + at, section->bytes.len);
        left -= has ? section->bytes.len : 0;
        if (needs && !has)
            ms_damage_note(&mo->damage, "a section cannot be read, or shares its bytes with others",
                           "section", ms_mo_file_offset(mo, at));
        if (has_lines || (has_names && !needs))
            section->unread = section->bytes.len;
        if (!has)
            section->bytes = ms_span_make(NULL, 0);
    }
}

/* ---- Halves ---- */

/* Takes a slice of input into the image. */
static machsym_result ms_im_add_file(machsym_image *image, const machsym_open_desc *desc, ms_file *input,
                                     const char *arch, const machsym_uuid *uuid, machsym_error *err)
{
    ms_mo *mo = &image->mo[image->mo_count];
    uint64_t lost = 0;
    uint32_t lost_tables = 0;
    bool is_read = input->io.read != NULL;
    machsym_result result = ms_file_choose(input, arch, uuid, mo, &lost, err);
    if (result == MACHSYM_OK && is_read)
        result = ms_file_take_slice(input, mo, err);
    if (result != MACHSYM_OK)
        return result;
    machsym_slice slice = mo->slice;
    ms_span bytes = mo->bytes;
    size_t head = mo->head;
    bool is_whole =
        slice.filetype == ms_MH_OBJECT || slice.filetype == ms_MH_FILESET; /* relocations; images */
    if (is_read && is_whole && !ms_file_fill(input, slice.offset, bytes.len))
        return ms_fail(err, MACHSYM_ERR_IO, "the file cannot be read to its end", "file", slice.offset);
    if (is_read && !is_whole)
        lost_tables = ms_im_read_tables(input, mo);
    ms_zero(mo, sizeof *mo);
    mo->bytes = bytes;
    mo->head = is_whole ? 0 : head;
    mo->slice = slice;
    mo->is_loaded = (desc->flags & MACHSYM_OPEN_LOADED) != 0 && image->mo_count == 0; /* a pair is a file */
    result = desc->entry != NULL ? ms_mo_load_entry(mo, ms_str_from_c(desc->entry), &image->arena, err)
                                 : ms_mo_load(mo, &image->arena, err);
    if (result != MACHSYM_OK)
        return result;
    if (is_read && !is_whole)
        ms_im_leave_sections(input, mo, lost_tables);
    if (lost != 0 && arch == NULL && uuid == NULL) /* the whole file would have asked for a choice */
        ms_damage_note_cut(&mo->damage, "another slice lies past the end of the file", "fat header", lost);
    uint64_t load_addr = desc->load_addr != 0 ? desc->load_addr : (uint64_t)(uintptr_t)bytes.ptr;
    mo->slide = mo->is_loaded ? load_addr - mo->text_addr : 0;
    image->inputs[image->mo_count] = *input;
    image->mo_count++;
    return MACHSYM_OK;
}

/* Opens the other half and checks that it is one. */
static machsym_result ms_im_add_pair(machsym_image *image, const machsym_open_desc *desc, const char *path,
                                     machsym_error *err)
{
    ms_file input;
    const machsym_slice *own = &image->mo[0].slice;
    machsym_result result =
        ms_file_open(path, desc->pair_bytes, NULL, desc->flags, image->arena.allocator, &input, err);
    if (result != MACHSYM_OK)
        return result;
    result = ms_im_add_file(image, desc, &input, own->has_uuid ? NULL : own->arch,
                            own->has_uuid ? &own->uuid : NULL, err);
    if (result == MACHSYM_OK)
        return result;
    ms_file_close(&input);
    if (result == MACHSYM_ERR_UUID || result == MACHSYM_ERR_ARCH)
        return ms_fail(err, MACHSYM_ERR_PAIR, "the two files do not belong together: their UUIDs differ",
                       "LC_UUID", 0);
    return result;
}

#ifndef MACHSYM_NO_OS
static machsym_result ms_im_fail_beside(machsym_error *err, int code)
{
    if (code == ENOMEM)
        return ms_fail_memory(err);
    ms_fail(err, MACHSYM_ERR_IO, "the dSYM beside it cannot be read", "", 0);
    if (err != NULL)
        err->os_errno = code;
    return MACHSYM_ERR_IO;
}

/* Tries BUNDLE.dSYM/Contents/Resources/DWARF/NAME for a bundle that may hold the binary. *fits: it is the
 * other half. Fails when memory is out, or the system fails to read what is there: it may be the one that has
 * the answers. */
static machsym_result ms_im_try_dsym(machsym_image *image, const machsym_open_desc *desc, machsym_str bundle,
                                     machsym_str name, bool *fits, machsym_error *err)
{
    machsym_error why;
    bool is_file;
    char *path = ms_file_text(bundle, ".dSYM/Contents/Resources/DWARF/", name, &image->arena.allocator);
    *fits = false;
    if (path == NULL)
        return ms_fail_memory(err);
    int code = ms_os_find_file(path, &is_file);
    machsym_result result = is_file ? ms_im_add_pair(image, desc, path, &why) : MACHSYM_OK;
    ms_os_free_text(&image->arena.allocator, path);
    *fits = is_file && result == MACHSYM_OK;
    if (result == MACHSYM_ERR_MEMORY)
        return ms_fail_memory(err);
    if (result == MACHSYM_ERR_IO)
        code = why.os_errno;
    return ms_os_is_of_path(code) ? MACHSYM_OK : ms_im_fail_beside(err, code);
}

/* Looks for the dSYM beside a binary, and beside the bundles that the binary lies in. */
static machsym_result ms_im_find_dsym(machsym_image *image, const machsym_open_desc *desc, machsym_error *err)
{
    machsym_str path = ms_str_from_c(image->inputs[0].path);
    machsym_str name = ms_os_base_name(path);
    for (unsigned levels = 0; levels < MACHSYM_MAX_DSYM_LEVELS && path.len > 0; levels++) {
        machsym_str last = ms_os_base_name(path);
        bool is_bundle = levels == 0 || ms_str_ends(last, ".app") || ms_str_ends(last, ".framework") ||
                         ms_str_ends(last, ".appex") || ms_str_ends(last, ".xpc") ||
                         ms_str_ends(last, ".bundle") || ms_str_ends(last, ".kext") ||
                         ms_str_ends(last, ".xctest");
        bool fits = false;
        machsym_result result =
            is_bundle && last.len > 0 ? ms_im_try_dsym(image, desc, path, name, &fits, err) : MACHSYM_OK;
        if (fits || result != MACHSYM_OK)
            return result;
        path.len -= last.len;
        while (path.len > 1 && ms_os_is_slash(path.ptr[path.len - 1]))
            path.len--;
    }
    return MACHSYM_OK;
}
#endif

/* ---- Code ---- */

/* Adds the executable segments to order, for an image whose code sections are all empty. Returns how many.
 * seen: dSYMs by Apple's dsymutil of 2008, which kept the sections with size 0. */
static size_t ms_im_list_code_segments(const machsym_image *image, ms_key *order)
{
    size_t count = 0;
    for (size_t m = 0; m < image->mo_count; m++) {
        for (uint32_t i = 0; i < image->mo[m].segment_count; i++) {
            const ms_mo_segment *segment = &image->mo[m].segments[i];
            uint64_t hi;
            if ((segment->initprot & ms_VM_PROT_EXECUTE) == 0 || segment->size == 0 ||
                !ms_add_ok(segment->addr, segment->size, &hi))
                continue;
            order[count].key = segment->addr;
            order[count++].item = hi;
        }
    }
    return count;
}

/* Lists the executable sections of all halves, sorted and joined where they overlap. */
static void ms_im_list_code(machsym_image *image)
{
    size_t most = (size_t)image->mo[0].section_count + image->mo[1].section_count +
                  image->mo[0].segment_count + image->mo[1].segment_count;
    ms_key *order = (ms_key *)ms_arena_alloc(&image->arena, most, sizeof *order);
    ms_range *code = (ms_range *)ms_arena_alloc(&image->arena, most, sizeof *code);
    size_t count = 0;
    size_t kept = 0;
    if (order == NULL || code == NULL)
        return;
    for (size_t m = 0; m < image->mo_count; m++) {
        for (uint32_t i = 0; i < image->mo[m].section_count; i++) {
            const ms_mo_section *section = &image->mo[m].sections[i];
            uint64_t hi;
            if (!section->is_code || section->size == 0 || !ms_add_ok(section->addr, section->size, &hi))
                continue;
            order[count].key = section->addr;
            order[count++].item = hi;
        }
    }
    if (count == 0)
        count = ms_im_list_code_segments(image, order);
    ms_key_heap_sort(order, count);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && order[i].key < code[kept - 1].hi) {
            code[kept - 1].hi = order[i].item > code[kept - 1].hi ? order[i].item : code[kept - 1].hi;
            continue;
        }
        code[kept].lo = order[i].key;
        code[kept++].hi = order[i].item;
    }
    image->dw.code = code;
    image->dw.code_count = kept;
}

/* ---- What the descriptor says besides ---- */

static const char *ms_im_keep_c(machsym_image *image, const char *text)
{
    size_t len = ms_str_from_c(text).len;
    char *copy = (char *)ms_arena_alloc(&image->arena, len + 1, 1);
    if (copy == NULL)
        return NULL;
    ms_copy(copy, text, len);
    copy[len] = 0;
    return copy;
}

/* The path of a half, or what its bytes are called; NULL when it is not known. */
static const char *ms_im_path(const machsym_image *image, size_t half)
{
    return image->inputs[half].path != NULL ? image->inputs[half].path : image->called[half];
}

static void ms_im_set_name(machsym_image *image, const machsym_open_desc *desc)
{
    if ((desc->bytes.ptr != NULL || desc->io.read != NULL) && desc->path != NULL)
        image->called[0] = ms_im_keep_c(image, desc->path);
    if (desc->pair_bytes.ptr != NULL && desc->pair_path != NULL)
        image->called[1] = ms_im_keep_c(image, desc->pair_path);
    if (image->name.len != 0) /* of an image in a cache */
        return;
    image->name = ms_os_base_name(ms_str_from_c(ms_im_path(image, 0)));
    if (ms_str_ends(image->name, ".dSYM"))
        image->name.len -= 5;
    if (desc->entry != NULL)
        image->name = ms_str_from_c(ms_im_keep_c(image, desc->entry));
}

/* Whether and how the image's object files are looked for, if it has a debug map. */
static void ms_im_set_places(machsym_image *image, const machsym_open_desc *desc)
{
    ms_im_places *places = &image->places;
    size_t prefix_count = desc->oso_prefixes != NULL ? desc->oso_prefix_count : 0;
    size_t dir_count = desc->oso_dirs != NULL ? desc->oso_dir_count : 0;
    machsym_oso_prefix *prefixes =
        (machsym_oso_prefix *)ms_arena_alloc(&image->arena, prefix_count, sizeof *prefixes);
    const char **dirs = (const char **)ms_arena_alloc(&image->arena, dir_count, sizeof *dirs);
    if (prefixes == NULL || dirs == NULL)
        return;
    for (size_t i = 0; i < prefix_count; i++) {
        prefixes[i].from = ms_im_keep_c(image, desc->oso_prefixes[i].from);
        prefixes[i].to = ms_im_keep_c(image, desc->oso_prefixes[i].to);
    }
    for (size_t i = 0; i < dir_count; i++)
        dirs[i] = ms_im_keep_c(image, desc->oso_dirs[i]);
    places->prefixes = prefixes;
    places->prefix_count = prefix_count;
    places->dirs = dirs;
    places->dir_count = dir_count;
    places->flags = desc->flags;
    const uint32_t alone = MACHSYM_OPEN_NO_OBJECTS | MACHSYM_OPEN_LOADED;
    image->follows_objects = (desc->flags & alone) == 0 && ms_im_cache(image) == NULL &&
                             (image->inputs[0].path != NULL || prefix_count + dir_count > 0);
}

/* ---- Opening and closing ---- */

/* Takes a symbol map, which needs no other half. The image then says of its slice what the map does. */
static machsym_result ms_im_add_map(machsym_image *image, const machsym_open_desc *desc, machsym_error *err)
{
    machsym_map_desc how;
    ms_mo *mo = &image->mo[0];
    ms_file *input = &image->inputs[0];
    machsym_io io = input->io;
    machsym_result result = MACHSYM_OK;
    ms_zero(&how, sizeof how);
    if (input->reads_itself) { /* lookups would read it long after this */
        result = ms_file_read_begin(input, io.size, err);
        io.read = NULL;
    }
    if (io.read == NULL)
        io.size = input->bytes.len;
    else
        result = ms_file_read_begin(input, ms_map_begin_size(input->bytes, io.size), err);
    how.bytes.ptr = input->bytes.ptr;
    how.bytes.len = input->bytes.len;
    how.flags = (desc->flags & MACHSYM_OPEN_UNCHECKED) != 0 ? (uint32_t)MACHSYM_MAP_UNCHECKED : 0u;
    if (result != MACHSYM_OK)
        return result;
    bool by_pages = (desc->flags & MACHSYM_OPEN_BY_PAGES) != 0 && how.flags == 0;
    if (by_pages || io.read != NULL)
        result = ms_map_open_by_pages(input->bytes, &io, image->arena.allocator, &image->map, err);
    else
        result = ms_map_open(&how, image->arena.allocator, &image->map, err);
    if (result != MACHSYM_OK)
        return result;
    const ms_map_head *head = &image->map->head;
    mo->slice.cputype = head->cputype;
    mo->slice.cpusubtype = head->cpusubtype;
    mo->slice.arch = ms_mo_arch_name(head->cputype, head->cpusubtype);
    mo->slice.uuid = head->uuid;
    for (size_t i = 0; i < sizeof head->uuid.v; i++)
        mo->slice.has_uuid |= head->uuid.v[i] != 0;
    mo->slice.size = head->size;
    mo->is_64 = (head->cputype & ms_CPU_IS_64) != 0;
    mo->text_addr = head->text_addr;
    mo->text_size = head->text_size > head->code_size ? head->text_size : head->code_size;
    mo->text_exec_addr = head->text_exec_addr;
    if (desc->arch != NULL && !ms_str_is(ms_str_from_c(mo->slice.arch), desc->arch))
        return ms_fail(err, MACHSYM_ERR_ARCH, "the map is for another architecture", "map header", 32);
    if (desc->uuid != NULL && !ms_equal(desc->uuid, &head->uuid, sizeof head->uuid))
        return ms_fail(err, MACHSYM_ERR_UUID, "the map has another UUID", "map header", 16);
    return MACHSYM_OK;
}

/* ---- Shared caches ---- */

/* Lists which image has which code. In a cache that does not tell the sizes of images each one ends where the
 * next one begins, and several that begin at one place are links to the first. */
static void ms_im_list_entries(machsym_image *image, ms_arena *scratch)
{
    const ms_dc *dc = &ms_im_cache(image)->dc;
    size_t count = ms_dc_image_count(dc);
    size_t kept = 0;
    uint64_t size;
    ms_piece *pieces = (ms_piece *)ms_arena_alloc(scratch, count, sizeof *pieces);
    ms_key *order = (ms_key *)ms_arena_alloc(scratch, count, sizeof *order);
    image->entries.arena = &image->arena;
    if (pieces == NULL || order == NULL)
        return;
    for (size_t i = 0; i < count; i++) {
        order[i].key = ms_dc_image_addr(dc, i, &size);
        order[i].item = i;
    }
    ms_key_heap_sort(order, count);
    for (size_t i = 0; i < count; i++) {
        ms_piece *piece = &pieces[kept];
        piece->lo = ms_dc_image_addr(dc, (size_t)order[i].item, &size);
        piece->owner = (uint32_t)order[i].item;
        const ms_dc_mapping *mapping = ms_dc_mapping_at(dc, piece->lo);
        size_t next = ms_upper_bound(order, count, sizeof *order, piece->lo);
        piece->hi = mapping != NULL ? mapping->addr + mapping->size : piece->lo;
        if (next < count)
            ms_lower_to(&piece->hi, order[next].key);
        if (size != 0 && !ms_add_ok(piece->lo, size, &piece->hi))
            piece->hi = piece->lo;
        bool is_link = i > 0 && order[i - 1].key == piece->lo;
        kept += !is_link && piece->lo < piece->hi;
    }
    ms_seg_build(pieces, kept, scratch, &image->entries);
}

/* Takes the image of a cache that the descriptor names. Its local symbols, which the cache keeps for all
 * images, are its other half. */
static machsym_result ms_im_add_cached(machsym_image *image, const machsym_open_desc *desc,
                                       machsym_error *err)
{
    const ms_dc *dc = &ms_im_cache(image)->dc;
    ms_mo *mo = &image->mo[0];
    ms_mo *half = &image->mo[1];
    ms_dc_image entry;
    ms_dc_locals locals;
    size_t found = ms_dc_find_image(dc, ms_str_from_c(desc->entry), &entry);
    if (found == 0)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the shared cache has no image of this name",
                       "cache header", 0);
    if (found > 1)
        return ms_fail(err, MACHSYM_ERR_AMBIGUOUS,
                       "the shared cache has several images of this name; give the path of one",
                       "cache header", 0);
    machsym_result result = ms_mo_load_cached(mo, dc, entry.addr, &image->arena, err);
    if (result != MACHSYM_OK)
        return result;
    image->mo_count = 1;
    image->name = ms_dc_base_name(entry.path);
    if (desc->uuid != NULL && !ms_file_same_uuid(&mo->slice, desc->uuid))
        return ms_fail(err, MACHSYM_ERR_UUID, "the image in the shared cache has another UUID", "LC_UUID", 0);
    bool lacks_starts = ms_mo_linkedit(mo, mo->loads.starts_off, mo->loads.starts_size).len == 0;
    if ((mo->loads.starts_size != 0 && lacks_starts) || /* nothing would end a name where a function begins */
        !ms_dc_find_locals(dc, entry.addr, ms_sym_nlist_size(mo), &locals))
        return MACHSYM_OK;
    half->bytes = locals.bytes;
    half->slice = mo->slice;
    half->is_64 = mo->is_64;
    half->loads.sym_off = locals.nlist_off;
    half->loads.sym_count = locals.nlist_count;
    half->loads.str_off = locals.strings_off;
    half->loads.str_size = locals.strings_size;
    if (ms_sym_nlists(half).len / ms_sym_nlist_size(half) != locals.nlist_count ||
        ms_sym_strings(half).len != locals.strings_size)
        ms_damage_note_cut(&half->damage, "the local symbols run past their end", "local symbols",
                           locals.nlist_off);
    image->called[1] = ms_im_cache(image)->locals_path;
    image->mo_count = 2;
    return MACHSYM_OK;
}

/* Takes a shared cache: as a whole, or one image of it. */
static machsym_result ms_im_add_cache(machsym_image *image, const machsym_open_desc *desc, machsym_error *err)
{
    if (desc->arch != NULL && !ms_str_is(ms_im_cache(image)->dc.head.arch, desc->arch))
        return ms_fail(err, MACHSYM_ERR_ARCH, "the shared cache is for another architecture", "cache header",
                       0);
    if (desc->entry != NULL)
        return ms_im_add_cached(image, desc, err);
    ms_mo_describe_cache(&image->mo[0], &ms_im_cache(image)->dc);
    image->mo_count = 1;
    if (desc->uuid != NULL && !ms_file_same_uuid(&image->mo[0].slice, desc->uuid))
        return ms_fail(err, MACHSYM_ERR_UUID, "the shared cache has another UUID", "cache header", 0);
    return MACHSYM_OK;
}

/* Opens the other files of a cache whose main file is image->inputs[0]. */
static machsym_result ms_im_open_cache(machsym_image *image, const machsym_open_desc *desc,
                                       machsym_error *err)
{
    machsym_result result = ms_file_read_begin(&image->inputs[0], image->inputs[0].io.size, err);
    if (result != MACHSYM_OK)
        return result;
    image->own_cache = (ms_cf_cache *)ms_arena_zeroed(&image->arena, 1, sizeof *image->own_cache);
    if (image->own_cache == NULL)
        return ms_fail_memory(err);
    image->cache = image->own_cache;
    result = ms_cf_open(image->own_cache, desc, &image->inputs[0], &image->arena, err);
    return result == MACHSYM_OK ? ms_im_add_cache(image, desc, err) : result;
}

/* Checks that the image of a collection is what the descriptor asks for: by its own UUID or the
 * collection's. */
static machsym_result ms_im_check_from(const machsym_slice *slice, const machsym_slice *whole,
                                       const machsym_open_desc *desc, machsym_error *err)
{
    if (desc->arch != NULL && !ms_str_is(ms_str_from_c(slice->arch), desc->arch))
        return ms_fail(err, MACHSYM_ERR_ARCH, "the kernel collection is for another architecture",
                       "Mach-O header", slice->offset);
    if (desc->uuid != NULL && !ms_file_same_uuid(slice, desc->uuid) && !ms_file_same_uuid(whole, desc->uuid))
        return ms_fail(err, MACHSYM_ERR_UUID, "the image in the kernel collection has another UUID",
                       "LC_UUID", slice->offset);
    return MACHSYM_OK;
}

/* Opens an image of a cache or collection that is open. */
static machsym_result ms_im_open_from(machsym_image *image, const machsym_open_desc *desc, machsym_error *err)
{
    const machsym_image *from = desc->from;
    ms_mo *mo = &image->mo[0];
    if (desc->entry == NULL || (ms_im_cache(from) == NULL && from->mo[0].slice.filetype != ms_MH_FILESET))
        return ms_fail(err, MACHSYM_ERR_ARGUMENT,
                       "to open an image of an open file takes its entry, and a cache or a collection", "",
                       0);
    image->called[0] = ms_im_path(from, 0);
    image->cache = from->cache;
    if (ms_im_cache(from) != NULL)
        return ms_im_add_cache(image, desc, err);
    mo->bytes = from->mo[0].bytes;
    mo->slice = from->mo[0].slice;
    image->mo_count = 1;
    machsym_result result =
        ms_mo_load_entry_of(mo, &from->mo[0], ms_str_from_c(desc->entry), &image->arena, err);
    return result == MACHSYM_OK ? ms_im_check_from(&mo->slice, &from->mo[0].slice, desc, err) : result;
}

/* Opens one half, or both, of what the descriptor names. */
static machsym_result ms_im_open_halves(machsym_image *image, const machsym_open_desc *desc,
                                        machsym_error *err)
{
    ms_file input;
    bool wants_pair = desc->pair_path != NULL || desc->pair_bytes.ptr != NULL;
    if (desc->entry != NULL && (wants_pair || (desc->flags & MACHSYM_OPEN_LOADED) != 0))
        return ms_fail(
            err, MACHSYM_ERR_ARGUMENT,
            "an image of a collection or cache has other addresses than its dSYM: open that by itself", "",
            0);
    if (desc->from != NULL)
        return ms_im_open_from(image, desc, err);
    if (desc->io.read != NULL && (desc->flags & MACHSYM_OPEN_LOADED) != 0)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "what is read is a file, not the memory of an image", "",
                       0);
    machsym_result result =
        ms_file_take(desc->path, desc->bytes, &desc->io, desc->flags, image->arena.allocator, &input, err);
    if (result != MACHSYM_OK)
        return result;
    if (ms_map_is(input.bytes)) {
        image->inputs[0] = input;
        return wants_pair ? ms_fail(err, MACHSYM_ERR_PAIR, "a map has no other half", "", 0)
                          : ms_im_add_map(image, desc, err);
    }
    if (ms_DC_IS_READ != 0 && ms_dc_is(input.bytes)) {
        image->inputs[0] = input;
        return wants_pair ? ms_fail(err, MACHSYM_ERR_PAIR, "a shared cache has no other half", "", 0)
                          : ms_im_open_cache(image, desc, err);
    }
    if (!ms_file_is_mach(input.bytes)) {
        result = ms_file_refuse(input.bytes, err);
        ms_file_close(&input);
        return result;
    }
    result = ms_im_add_file(image, desc, &input, desc->arch, desc->uuid, err);
    if (result != MACHSYM_OK) {
        ms_file_close(&input);
        return result;
    }
    if (wants_pair)
        return ms_im_add_pair(image, desc, desc->pair_path, err);
#ifndef MACHSYM_NO_OS
    if ((desc->flags & MACHSYM_OPEN_NO_PAIR) == 0 && desc->entry == NULL && image->inputs[0].path != NULL &&
        !ms_sec_is_stated(&image->mo[0]))
        return ms_im_find_dsym(image, desc, err);
#endif
    return MACHSYM_OK;
}

/* ---- Kernel collections ---- */

/* Ranges of addresses that grow in number. */
typedef struct ms_im_pieces {
    ms_piece *v;
    size_t count;
    size_t cap;
    ms_arena *arena;
} ms_im_pieces;

/* Adds the segments of an image. All images share __LINKEDIT, which is left out. */
static void ms_im_add_pieces(ms_im_pieces *pieces, const ms_mo *mo, size_t owner)
{
    for (uint32_t i = 0; i < mo->segment_count; i++) {
        const ms_mo_segment *segment = &mo->segments[i];
        uint64_t hi;
        if (segment->size == 0 || !ms_add_ok(segment->addr, segment->size, &hi) ||
            ms_str_is(segment->name, "__LINKEDIT"))
            continue;
        ms_piece *v =
            (ms_piece *)ms_arena_grow(pieces->arena, pieces->v, pieces->count, &pieces->cap, sizeof *v);
        if (v == NULL)
            return;
        pieces->v = v;
        v[pieces->count].lo = segment->addr;
        v[pieces->count].hi = hi;
        v[pieces->count++].owner = (uint32_t)owner;
    }
}

/* Lists which image of a collection has which addresses. The load commands of images lie apart, so that all
 * together are no longer than the collection. */
static void ms_im_list_collection(machsym_image *image, ms_arena *scratch)
{
    const ms_mo *whole = &image->mo[0];
    ms_im_pieces pieces = {NULL, 0, 0, scratch};
    uint64_t left = whole->bytes.len;
    uint64_t at = 0;
    size_t count = 0;
    size_t cap = 0;
    machsym_entry entry;
    for (uint64_t place = 0; left > 0 && ms_mo_next_entry(whole, &at, &entry); place = at) {
        ms_mo mo;
        ms_zero(&mo, sizeof mo);
        mo.bytes = whole->bytes;
        mo.header_off = entry.offset;
        if (entry.offset == 0 || ms_mo_load(&mo, scratch, NULL) != MACHSYM_OK)
            continue;
        left -= mo.commands.len < left ? mo.commands.len : left;
        uint64_t *v = (uint64_t *)ms_arena_grow(&image->arena, image->entry_places, count, &cap, sizeof *v);
        if (v == NULL)
            return;
        image->entry_places = v;
        v[count] = place;
        ms_im_add_pieces(&pieces, &mo, count++);
    }
    image->entries.arena = &image->arena;
    ms_seg_build(pieces.v, pieces.count, scratch, &image->entries);
}

/* Lists what the images of a file have, if it holds images and none was asked for. */
static void ms_im_list_images(machsym_image *image, const machsym_open_desc *desc)
{
    ms_arena scratch = ms_arena_make(image->arena.allocator);
    if (desc->entry == NULL && ms_im_cache(image) != NULL)
        ms_im_list_entries(image, &scratch);
    else if (desc->entry == NULL && image->mo[0].slice.filetype == ms_MH_FILESET)
        ms_im_list_collection(image, &scratch);
    image->arena.oom |= scratch.oom;
    ms_arena_free(&scratch);
}

/* Everything after the image exists; on failure the caller closes it. */
static machsym_result ms_im_fill(machsym_image *image, const machsym_open_desc *desc, machsym_error *err)
{
    machsym_result result = ms_im_open_halves(image, desc, err);
    if (result != MACHSYM_OK)
        return result;
    if (image->map != NULL || ms_im_cache(image) != NULL)
        ms_file_settle(&image->inputs[0]);
    if (image->map != NULL) {
        image->name = ms_map_name_of(image->map);
        return MACHSYM_OK;
    }
    for (size_t i = 0; i < image->mo_count; i++)
        image->mo[i].hide_symtab = (desc->flags & MACHSYM_OPEN_NO_SYMTAB) != 0;
    ms_im_set_name(image, desc);
    ms_im_list_images(image, desc);
    ms_im_list_code(image);
    ms_im_start_dwarf(image);
    image->names = ms_src_start_shared(&image->arena);
    ms_im_set_places(image, desc);
    return image->arena.oom ? ms_fail_memory(err) : MACHSYM_OK;
}

static void ms_im_close(machsym_image *image)
{
    if (image->map != NULL)
        ms_map_close(image->map);
    if (ms_im_cache(image) != NULL && image->own_cache != NULL)
        ms_cf_close(image->own_cache);
    ms_sec_drop(image->sections);
    ms_src_drop(image->names);
    for (size_t i = 0; i < 2; i++)
        ms_file_close(&image->inputs[i]);
    ms_arena arena = image->arena; /* the image lies in its own arena */
    ms_arena_free(&arena);
}

static machsym_result ms_im_open(const machsym_open_desc *desc, machsym_allocator allocator,
                                 machsym_image **out, machsym_error *err)
{
    ms_arena arena = ms_arena_make(allocator);
    machsym_image *image = (machsym_image *)ms_arena_zeroed(&arena, 1, sizeof *image);
    if (image == NULL)
        return ms_fail_memory(err);
    image->arena = arena;
    machsym_result result = ms_im_fill(image, desc, err);
    if (result == MACHSYM_OK)
        *out = image;
    else
        ms_im_close(image);
    return result;
}

/* ---- What an image says of itself ---- */

static void ms_im_get_info(const machsym_image *image, machsym_image_info *out)
{
    const ms_mo *mo = &image->mo[0];
    ms_zero(out, sizeof *out);
    out->slice = mo->slice;
    out->name = image->name;
    out->path = ms_im_path(image, 0);
    out->pair_path = ms_im_path(image, 1);
    out->text_addr = mo->text_addr;
    out->text_size = mo->text_size;
    out->text_exec_addr = mo->text_exec_addr;
    out->address_size = mo->is_64 ? 8 : 4;
    out->platform = mo->platforms[0].platform; /* all zero when there is none */
    out->min_os = mo->platforms[0].min_os;
    out->sdk = mo->platforms[0].sdk;
    out->source_version = mo->source_version;
    out->map = image->map;
    out->has_dwarf = image->map != NULL ? ms_map_has_runs(image->map) : ms_sec_has_info(image->sections);
    out->has_compressed_dwarf = image->has_compressed_dwarf;
    for (size_t i = 0; i < 2; i++) {
        out->read_count += image->inputs[i].reads_itself ? 0 : image->inputs[i].read_count;
        out->read_bytes += image->inputs[i].reads_itself ? 0 : image->inputs[i].read_bytes;
    }
    ms_damage damage;
    ms_zero(&damage, sizeof damage);
    if (image->sections != NULL)
        ms_sec_count_reads(image->sections, &out->read_count, &out->read_bytes);
    for (size_t i = 0; i < image->mo_count; i++) {
        out->symbol_count += (uint32_t)(ms_sym_nlists(&image->mo[i]).len / ms_sym_nlist_size(&image->mo[i]));
        out->has_function_starts |= image->mo[i].loads.starts_size != 0;
        out->is_encrypted |= ms_mo_is_encrypted(&image->mo[i]);
        ms_damage part = image->mo[i].damage;
        part.first.is_pair = part.cut.is_pair = i != 0;
        ms_damage_add(&damage, &part);
    }
    if (image->sections != NULL)
        ms_sec_add_damage(image->sections, &damage);
    if (image->map != NULL && (image->map->head.flags & MACHSYM_MAP_DAMAGED) != 0)
        ms_damage_note(&damage, "the map was made of a damaged file", "map header", 12);
    if (image->map != NULL && image->map->lost_name)
        ms_damage_note(&damage, "the image's name is damaged in the map", "map",
                       image->map->head.tables[ms_MAP_NAME].at);
    out->damage_count = damage.count;
    out->damage = damage.first;
    out->cut = damage.cut;
    if (damage.count == 0)
        out->damage.what = out->damage.where = "";
}

/* The same once all of debug info has been looked at that damage is found in. Returns false when memory is
 * out. */
static bool ms_im_read_info(const machsym_image *image, machsym_image_info *out)
{
    bool has_all = image->sections == NULL || (ms_sec_load(image->sections) && ms_nm_check(image->sections));
    ms_im_get_info(image, out);
    return has_all;
}

static bool ms_im_next_platform(const machsym_image *image, machsym_cursor *at, machsym_platform *out)
{
    const ms_mo *mo = &image->mo[0];
    if (at->a >= mo->platform_count)
        return false;
    *out = mo->platforms[at->a++];
    return true;
}

/* Sections of both halves: cursor a is the half, b the section. */
static bool ms_im_next_section(const machsym_image *image, machsym_cursor *at, machsym_section *out)
{
    while (at->a < image->mo_count && at->b >= image->mo[at->a].section_count) {
        at->a++;
        at->b = 0;
    }
    if (at->a >= image->mo_count)
        return false;
    const ms_mo_section *section = &image->mo[at->a].sections[at->b++];
    out->segment = section->segment;
    out->name = section->name;
    out->addr = section->addr;
    out->size = section->size;
    out->offset = section->off;
    out->bytes.ptr = section->bytes.ptr;
    out->bytes.len = section->bytes.len;
    out->flags = section->flags;
    out->is_code = section->is_code;
    out->is_pair = at->a != 0;
    return true;
}

/* ---- Images in a collection or cache ---- */

static void ms_im_get_cached(const ms_dc *dc, size_t index, machsym_entry *out)
{
    ms_dc_image image;
    ms_dc_get_image(dc, index, &image);
    const ms_dc_mapping *mapping = ms_dc_mapping_at(dc, image.addr);
    ms_zero(out, sizeof *out);
    out->name = image.path;
    out->addr = image.addr;
    out->offset = mapping != NULL ? image.addr - mapping->addr + mapping->off : 0;
    out->size = image.size;
    out->uuid = image.uuid;
    out->has_uuid = image.has_uuid;
}

static bool ms_im_next_entry(const machsym_image *image, machsym_cursor *at, machsym_entry *out)
{
    if (ms_im_cache(image) == NULL) {
        ms_zero(out, sizeof *out);
        return ms_mo_next_entry(&image->mo[0], &at->a, out);
    }
    const ms_dc *dc = &ms_im_cache(image)->dc;
    while (image->entries.arena != NULL && at->a < ms_dc_image_count(dc)) { /* NULL: an image of the cache */
        size_t index = (size_t)at->a++;
        ms_im_get_cached(dc, index, out);
        if (out->has_uuid || ms_seg_owner(image->entries.v, image->entries.count, out->addr) == index)
            return true; /* else it is a link: a list with UUIDs has none */
    }
    return false;
}

/* Which image has an address. */
static bool ms_im_entry_at(const machsym_image *image, uint64_t addr, machsym_entry *out)
{
    uint32_t index = ms_seg_owner(image->entries.v, image->entries.count, addr);
    if (index == ms_SEG_NONE)
        return false;
    if (ms_im_cache(image) == NULL) {
        uint64_t place = image->entry_places[index];
        ms_zero(out, sizeof *out);
        return ms_mo_next_entry(&image->mo[0], &place, out);
    }
    ms_im_get_cached(&ms_im_cache(image)->dc, index, out);
    return true;
}

static bool ms_im_next_cache_file(const machsym_image *image, machsym_cursor *at, machsym_cache_file *out)
{
    return ms_im_cache(image) != NULL && ms_cf_next_file(ms_im_cache(image), at, out);
}

/* ---- Addresses ---- */

/* The address in the file of a runtime address. UINT64_MAX, where no code is, for a runtime address of more
 * than 32 bits in a 32-bit image. */
static uint64_t ms_im_addr(uint32_t cputype, bool is_64, uint64_t text_addr, uint64_t load_addr, uint64_t pc)
{
    if (!is_64 && pc > UINT32_MAX)
        return UINT64_MAX;
    pc = ms_mo_unsigned(cputype, pc);
    if (cputype == ms_CPU_ARM)
        pc &= ~(uint64_t)1; /* Thumb */
    uint64_t addr = pc - load_addr + text_addr;
    return is_64 ? addr : addr & UINT32_MAX;
}

/* Which of a process's images holds a runtime address; NULL when none does. */
static const machsym_loaded *ms_im_loaded_at(const machsym_loaded *images, size_t count, uint64_t pc)
{
    size_t next = ms_upper_bound(images, count, sizeof *images, pc);
    return next > 0 && pc < images[next - 1].hi ? &images[next - 1] : NULL;
}

#endif /* ms_ROOM_image_image */
