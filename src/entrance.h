#ifndef ms_ROOM_entrance
#define ms_ROOM_entrance
#include "api/options.h"
#include "api/api.h"
#include "base/platform.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "base/segments.h"
#include "macho/macho.h"
#include "macho/files.h"
#include "macho/symbols.h"
#include "dwarf/forms.h"
#include "dwarf/units.h"
#include "image/debugmap.h"
#include "macho/sources.h"
#include "answer/session.h"
#include "answer/engine.h"
#include "answer/answer.h"
#include "answer/iterate.h"
#include "answer/explain.h"
#include "map/symmap.h"
#include "map/merge.h"
#include "map/build.h"
#include "map/writer.h"
#include "text.h"

/* ==== >>entrance ===========================================================================================
 * Job:    the public functions: check arguments, call down, fill the error.
 * Offers: machsym_*.
 * Never:  decides anything about formats. */

#ifdef MACHSYM_CHECKS_ABI /* by an include before this one */
#undef machsym_list_slices
#undef machsym_image_open
#undef machsym_session_open
#undef machsym_plan_open
#undef machsym_map_build
#undef machsym_map_open
#undef machsym_names_open
#undef machsym_writer_open
#endif

MACHSYM_API const char *machsym_version(void)
{
    return MACHSYM_VERSION;
}

MACHSYM_API uint64_t machsym_abi(void)
{
    return MACHSYM_ABI;
}

MACHSYM_API const char *machsym_result_name(machsym_result result)
{
    static const char *const names[] = {
#define MACHSYM_X(name, text) #name,
        MACHSYM_RESULTS(MACHSYM_X)
#undef MACHSYM_X
    };
    return (unsigned)result < MACHSYM_RESULT_COUNT ? names[result] : "?";
}

MACHSYM_API const char *machsym_source_name(machsym_source source)
{
    static const char *const names[] = {
#define MACHSYM_X(name, text) text,
        MACHSYM_SOURCES(MACHSYM_X)
#undef MACHSYM_X
    };
    return (unsigned)source < MACHSYM_SOURCE_COUNT ? names[source] : "?";
}

MACHSYM_API const char *machsym_arch_name(uint32_t cputype, uint32_t cpusubtype)
{
    return ms_mo_arch_name(cputype, cpusubtype);
}

/* ---- Text ---- */

MACHSYM_API size_t machsym_path_join(const machsym_path *path, char *buf, size_t cap)
{
    ms_txt t = ms_txt_begin(buf, cap);
    ms_txt_path(&t, path);
    return ms_txt_end(&t);
}

/* ---- Image ---- */

MACHSYM_API size_t machsym_list_slices(const machsym_open_desc *desc, machsym_slice *slices, size_t cap,
                                       machsym_error *err)
{
    ms_file input;
    ms_span slice;
    uint64_t offset;
    uint32_t count = 0;
    size_t listed = 0;
    if (desc == NULL) {
        ms_fail(err, MACHSYM_ERR_ARGUMENT, "the descriptor is NULL", "", 0);
        return 0;
    }
    if (ms_file_open(desc->path, desc->bytes, desc->flags, &input, err) != MACHSYM_OK)
        return 0;
    for (uint32_t i = 0; ms_file_slice_at(input.bytes, i, &count, &slice, &offset); i++) {
        ms_mo mo;
        if (ms_file_peek(slice, offset, &mo, err) != MACHSYM_OK)
            continue;
        if (listed < cap)
            slices[listed] = mo.slice;
        listed++;
    }
    if (count == 0)
        ms_fail(err, MACHSYM_ERR_DAMAGED, "a fat file without slices", "fat header", 4);
    else if (listed > 0)
        ms_fail(err, MACHSYM_OK, "no error", "", 0); /* a damaged slice among good ones is left out */
    ms_file_close(&input);
    return listed;
}

/* Takes a slice of input into the image. */
static machsym_result machsym_add_file(machsym_image *image, const machsym_open_desc *desc,
                                       const ms_file *input, const char *arch, const machsym_uuid *uuid,
                                       machsym_error *err)
{
    ms_mo *mo = &image->mo[image->mo_count];
    machsym_result result = ms_file_choose(input->bytes, arch, uuid, mo, err);
    if (result != MACHSYM_OK)
        return result;
    machsym_slice slice = mo->slice;
    ms_span bytes = mo->bytes;
    ms_zero(mo, sizeof *mo);
    mo->bytes = bytes;
    mo->slice = slice;
    mo->is_loaded = (desc->flags & MACHSYM_OPEN_LOADED) != 0 && image->mo_count == 0; /* a pair is a file */
    result = desc->entry != NULL ? ms_mo_load_entry(mo, ms_str_from_c(desc->entry), &image->arena, err)
                                 : ms_mo_load(mo, &image->arena, err);
    if (result != MACHSYM_OK)
        return result;
    uint64_t load_addr = desc->load_addr != 0 ? desc->load_addr : (uint64_t)(uintptr_t)bytes.ptr;
    mo->slide = mo->is_loaded ? load_addr - mo->text_addr : 0;
    image->inputs[image->mo_count] = *input;
    image->mo_count++;
    return MACHSYM_OK;
}

/* Opens the other half and checks that it is one. */
static machsym_result machsym_add_pair(machsym_image *image, const machsym_open_desc *desc, const char *path,
                                       machsym_error *err)
{
    ms_file input;
    const machsym_slice *own = &image->mo[0].slice;
    machsym_result result = ms_file_open(path, desc->pair_bytes, desc->flags, &input, err);
    if (result != MACHSYM_OK)
        return result;
    result = machsym_add_file(image, desc, &input, own->has_uuid ? NULL : own->arch,
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
static bool machsym_has_dwarf(const ms_mo *mo)
{
    return ms_mo_section_named(mo, NULL, "__debug_info") != NULL ||
           ms_mo_section_named(mo, NULL, "__zdebug_info") != NULL;
}

/* Tries BUNDLE.dSYM/Contents/Resources/DWARF/NAME for a bundle that may hold the binary. Returns true when it
 * fits. */
static bool machsym_try_dsym(machsym_image *image, const machsym_open_desc *desc, machsym_str bundle,
                             machsym_str name)
{
    char *path = ms_file_text(bundle, ".dSYM/Contents/Resources/DWARF/", name);
    bool fits =
        path != NULL && ms_os_is_file(path) && machsym_add_pair(image, desc, path, NULL) == MACHSYM_OK;
    free(path);
    return fits;
}

/* Looks for the dSYM beside a binary, and beside the bundles that the binary lies in. */
static void machsym_find_dsym(machsym_image *image, const machsym_open_desc *desc)
{
    machsym_str path = ms_str_from_c(image->inputs[0].path);
    machsym_str name = ms_str_base_name(path);
    for (unsigned levels = 0; levels < 6 && path.len > 1; levels++) {
        machsym_str last = ms_str_base_name(path);
        bool is_bundle = levels == 0 || ms_str_ends(last, ".app") || ms_str_ends(last, ".framework") ||
                         ms_str_ends(last, ".appex") || ms_str_ends(last, ".xpc") ||
                         ms_str_ends(last, ".bundle") || ms_str_ends(last, ".kext") ||
                         ms_str_ends(last, ".xctest");
        if (is_bundle && last.len > 0 && machsym_try_dsym(image, desc, path, name))
            return;
        path.len -= last.len;
        while (path.len > 1 && path.ptr[path.len - 1] == '/')
            path.len--;
    }
}
#endif

/* Executable segments, for an image whose code sections are all empty.
 * seen: dSYMs by Apple's dsymutil of 2008, which kept the sections with size 0. */
static size_t machsym_list_code_segments(const machsym_image *image, ms_key *order)
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

/* The executable sections of all halves, sorted and joined where they touch or overlap. */
static void machsym_list_code(machsym_image *image)
{
    size_t max = (size_t)image->mo[0].section_count + image->mo[1].section_count +
                 image->mo[0].segment_count + image->mo[1].segment_count;
    ms_key *order = (ms_key *)ms_arena_alloc(&image->arena, max, sizeof *order);
    ms_range *code = (ms_range *)ms_arena_alloc(&image->arena, max, sizeof *code);
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
        count = machsym_list_code_segments(image, order);
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

/* Takes the debug info of the first half that has some. */
static void machsym_find_dwarf(machsym_image *image)
{
    ms_dw *dw = &image->dw;
    const struct ms_os_file *file = NULL;
    for (size_t m = 0; m < image->mo_count && dw->info.len == 0; m++) {
        const ms_mo *mo = &image->mo[m];
        image->has_compressed_dwarf |= ms_mo_section_named(mo, NULL, "__zdebug_info") != NULL;
        ms_om_read_dwarf(mo, &image->arena, dw);
#ifndef MACHSYM_NO_OS
        file = &image->inputs[m].file;
#endif
    }
    image->cus = ms_cu_index(dw, file, &image->arena, &image->cu_count, &image->damage_count);
}

static const char *machsym_keep_c(machsym_image *image, const char *text)
{
    size_t len = ms_str_from_c(text).len;
    char *copy = (char *)ms_arena_alloc(&image->arena, len + 1, 1);
    if (copy == NULL)
        return NULL;
    ms_copy(copy, text, len);
    copy[len] = 0;
    return copy;
}

static void machsym_set_name(machsym_image *image, const machsym_open_desc *desc)
{
    image->name = ms_str_base_name(ms_str_from_c(image->inputs[0].path));
    if (ms_str_ends(image->name, ".dSYM"))
        image->name.len -= 5;
    if (desc->entry != NULL)
        image->name = ms_str_from_c(machsym_keep_c(image, desc->entry));
}

/* Whether and how the image's object files are looked for, if it has a debug map. */
static void machsym_set_places(machsym_image *image, const machsym_open_desc *desc)
{
    ms_om_places *places = &image->places;
    size_t prefix_count = desc->oso_prefixes != NULL ? desc->oso_prefix_count : 0;
    size_t dir_count = desc->oso_dirs != NULL ? desc->oso_dir_count : 0;
    machsym_oso_prefix *prefixes =
        (machsym_oso_prefix *)ms_arena_alloc(&image->arena, prefix_count, sizeof *prefixes);
    const char **dirs = (const char **)ms_arena_alloc(&image->arena, dir_count, sizeof *dirs);
    if (prefixes == NULL || dirs == NULL)
        return;
    for (size_t i = 0; i < prefix_count; i++) {
        prefixes[i].from = machsym_keep_c(image, desc->oso_prefixes[i].from);
        prefixes[i].to = machsym_keep_c(image, desc->oso_prefixes[i].to);
    }
    for (size_t i = 0; i < dir_count; i++)
        dirs[i] = machsym_keep_c(image, desc->oso_dirs[i]);
    places->prefixes = prefixes;
    places->prefix_count = prefix_count;
    places->dirs = dirs;
    places->dir_count = dir_count;
    places->flags = desc->flags;
    image->follows_objects = (desc->flags & (MACHSYM_OPEN_NO_OBJECTS | MACHSYM_OPEN_LOADED)) == 0 &&
                             (image->inputs[0].path != NULL || prefix_count + dir_count > 0) &&
                             image->dw.info.len == 0;
}

/* Everything after the image exists; on failure the caller closes it. */
static machsym_result machsym_image_fill(machsym_image *image, const machsym_open_desc *desc,
                                         machsym_error *err)
{
    ms_file input;
    bool wants_pair = desc->pair_path != NULL || desc->pair_bytes.ptr != NULL;
    if (desc->entry != NULL && (wants_pair || (desc->flags & MACHSYM_OPEN_LOADED) != 0))
        return ms_fail(
            err, MACHSYM_ERR_ARGUMENT,
            "an image of a kernel collection has other addresses than its dSYM: open that by itself", "", 0);
    machsym_result result = ms_file_open(desc->path, desc->bytes, desc->flags, &input, err);
    if (result != MACHSYM_OK)
        return result;
    result = machsym_add_file(image, desc, &input, desc->arch, desc->uuid, err);
    if (result != MACHSYM_OK) {
        ms_file_close(&input);
        return result;
    }
    if (wants_pair)
        result = machsym_add_pair(image, desc, desc->pair_path, err);
#ifndef MACHSYM_NO_OS
    else if ((desc->flags & MACHSYM_OPEN_NO_PAIR) == 0 && desc->entry == NULL &&
             image->inputs[0].path != NULL && !machsym_has_dwarf(&image->mo[0]))
        machsym_find_dsym(image, desc);
#endif
    if (result != MACHSYM_OK)
        return result;
    if ((desc->flags & MACHSYM_OPEN_NO_SYMTAB) != 0) {
        for (size_t i = 0; i < image->mo_count; i++)
            image->mo[i].hide_symtab = true;
    }
    machsym_set_name(image, desc);
    machsym_list_code(image);
    machsym_find_dwarf(image);
    machsym_set_places(image, desc);
#ifndef MACHSYM_NO_OS
    for (size_t i = 0; i < image->mo_count; i++)
        ms_os_settle(&image->inputs[i].file);
#endif
    return image->arena.oom ? ms_fail_memory(err) : MACHSYM_OK;
}

MACHSYM_API machsym_result machsym_image_open(const machsym_open_desc *desc, machsym_image **out,
                                              machsym_error *err)
{
    ms_fail(err, MACHSYM_OK, "no error", "", 0);
    if (out != NULL)
        *out = NULL;
    if (out == NULL || desc == NULL)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the descriptor or the place for the image is NULL", "", 0);
    ms_arena arena = ms_arena_make(ms_arena_default(desc->allocator));
    if (arena.allocator.alloc == NULL || arena.allocator.free == NULL)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the allocator lacks a function", "", 0);
    machsym_image *image = (machsym_image *)ms_arena_zeroed(&arena, 1, sizeof *image);
    if (image == NULL)
        return ms_fail_memory(err);
    image->arena = arena;
    machsym_result result = machsym_image_fill(image, desc, err);
    if (result == MACHSYM_OK)
        *out = image;
    else
        machsym_image_close(image);
    return result;
}

MACHSYM_API void machsym_image_close(machsym_image *image)
{
    if (image == NULL)
        return;
    for (size_t i = 0; i < 2; i++)
        ms_file_close(&image->inputs[i]);
    ms_arena arena = image->arena; /* the image lies in its own arena */
    ms_arena_free(&arena);
}

MACHSYM_API void machsym_image_get_info(const machsym_image *image, machsym_image_info *out)
{
    const ms_mo *mo = &image->mo[0];
    ms_zero(out, sizeof *out);
    out->slice = mo->slice;
    out->name = image->name;
    out->path = image->inputs[0].path;
    out->pair_path = image->inputs[1].path;
    out->text_addr = mo->text_addr;
    out->text_size = mo->text_size;
    out->text_exec_addr = mo->text_exec_addr;
    out->address_size = mo->is_64 ? 8 : 4;
    out->platform = mo->platform;
    out->min_os = mo->min_os;
    out->sdk = mo->sdk;
    out->source_version = mo->source_version;
    out->has_dwarf = image->dw.info.len != 0;
    out->has_compressed_dwarf = image->has_compressed_dwarf;
    out->damage_count = image->damage_count;
    for (size_t i = 0; i < image->mo_count; i++) {
        out->symbol_count += (uint32_t)(ms_sym_nlists(&image->mo[i]).len / ms_sym_nlist_size(&image->mo[i]));
        out->has_function_starts |= image->mo[i].loads.starts_size != 0;
        out->damage_count += image->mo[i].damage_count;
    }
}

MACHSYM_API bool machsym_image_next_section(const machsym_image *image, machsym_cursor *at,
                                            machsym_section *out)
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

MACHSYM_API bool machsym_image_next_entry(const machsym_image *image, machsym_cursor *at, machsym_entry *out)
{
    return ms_mo_next_entry(&image->mo[0], &at->a, out);
}

static uint64_t machsym_addr_in(uint32_t cputype, bool is_64, uint64_t text_addr, uint64_t load_addr,
                                uint64_t pc)
{
    if (cputype == ms_CPU_ARM64 && (pc & ((uint64_t)1 << 55)) == 0)
        pc &= ((uint64_t)1 << 47) - 1; /* user space: the bits above hold pointer authentication */
    if (cputype == ms_CPU_ARM)
        pc &= ~(uint64_t)1; /* Thumb */
    uint64_t addr = pc - load_addr + text_addr;
    return is_64 ? addr : addr & 0xffffffff;
}

MACHSYM_API uint64_t machsym_image_addr(const machsym_image *image, uint64_t load_addr, uint64_t pc)
{
    const ms_mo *mo = &image->mo[0];
    return machsym_addr_in(mo->slice.cputype, mo->is_64, mo->text_addr, load_addr, pc);
}

MACHSYM_API const machsym_loaded *machsym_loaded_from_pc(const machsym_loaded *images, size_t count,
                                                         uint64_t pc)
{
    size_t lo = 0;
    while (count > 0) {
        size_t half = count / 2;
        if (images[lo + half].lo <= pc) {
            lo += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return lo > 0 && pc < images[lo - 1].hi ? &images[lo - 1] : NULL;
}

/* ---- Session ---- */

MACHSYM_API machsym_result machsym_session_open(const machsym_session_desc *desc, machsym_session **out,
                                                machsym_error *err)
{
    ms_fail(err, MACHSYM_OK, "no error", "", 0);
    if (out != NULL)
        *out = NULL;
    if (out == NULL || desc == NULL || desc->image == NULL || (unsigned)desc->lines >= MACHSYM_LINES_COUNT)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the image is missing or the line policy is none", "", 0);
    machsym_allocator allocator = ms_arena_default(desc->allocator);
    if (allocator.alloc == NULL || allocator.free == NULL)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the allocator lacks a function", "", 0);
    machsym_session *session =
        ms_ses_open(desc->image, desc->lines, desc->flags, desc->cache_limit, allocator);
    if (session == NULL)
        return ms_fail_memory(err);
    if ((desc->flags & MACHSYM_SESSION_INDEX) != 0)
        ms_eng_index(session);
    if (ms_ses_failed(session)) {
        ms_ses_close(session);
        return ms_fail_memory(err);
    }
    *out = session;
    return MACHSYM_OK;
}

MACHSYM_API void machsym_session_trim(machsym_session *session)
{
    ms_ses_forget(session);
}

MACHSYM_API bool machsym_session_lacked_memory(const machsym_session *session)
{
    return ms_ses_failed(session);
}

MACHSYM_API void machsym_session_close(machsym_session *session)
{
    if (session != NULL)
        ms_ses_close(session);
}

MACHSYM_API size_t machsym_session_frames(machsym_session *session, uint64_t addr, machsym_frame *frames,
                                          size_t cap)
{
    return ms_ans_frames(session, addr, frames, cap);
}

MACHSYM_API size_t machsym_session_lookup(machsym_session *session, const uint64_t *addrs, size_t count,
                                          machsym_answer *answers, machsym_frame *frames, size_t cap)
{
    return ms_ans_many(session, addrs, count, answers, frames, cap);
}

MACHSYM_API bool machsym_session_next_function(machsym_session *session, machsym_cursor *at,
                                               machsym_function *out)
{
    return ms_it_next_function(session, at, out);
}

MACHSYM_API bool machsym_session_next_line(machsym_session *session, machsym_cursor *at, machsym_line *out)
{
    return ms_it_next_line(session, at, out);
}

MACHSYM_API bool machsym_session_next_symbol(machsym_session *session, machsym_cursor *at,
                                             machsym_symbol *out)
{
    const ms_sym_table *t = ms_src_table(ms_ses_symbols(session));
    if (at->a >= t->count)
        return false;
    ms_sym_get(t, (size_t)at->a, out);
    at->a = ms_sym_next(t, (size_t)at->a);
    return true;
}

MACHSYM_API bool machsym_session_next_alias(machsym_session *session, uint64_t addr, machsym_cursor *at,
                                            machsym_str *out)
{
    const ms_sym_table *t = ms_src_table(ms_ses_symbols(session));
    size_t first = ms_sym_first(t, addr);
    for (size_t index = first + (size_t)at->a++; index < t->count && t->v[index].key == addr;
         index++, at->a++) {
        *out = ms_sym_name(t, t->v[index].item);
        if (out->len != 0 && ms_sym_is_new(t, first, index))
            return true;
    }
    return false;
}

MACHSYM_API bool machsym_session_next_name(machsym_session *session, machsym_cursor *at, machsym_symbol *out)
{
    const ms_sym_table *t = ms_src_table(ms_ses_symbols(session));
    if (at->a >= t->count)
        return false;
    ms_sym_get(t, (size_t)at->a++, out);
    return true;
}

MACHSYM_API bool machsym_session_next_objc(machsym_session *session, machsym_cursor *at, machsym_objc *out)
{
    return ms_it_next_objc(session, at, out);
}

MACHSYM_API bool machsym_session_next_object(machsym_session *session, machsym_cursor *at,
                                             machsym_object *out)
{
    return ms_it_next_object(session, at, out);
}

MACHSYM_API bool machsym_session_next_object_file(const machsym_session *session, machsym_cursor *at,
                                                  machsym_object_file *out)
{
    const ms_ses_objects *o = session->objects;
    if (o == NULL || at->a >= o->tried_count)
        return false;
    ms_ses_get_object(o, o->tried[at->a++], out);
    return true;
}

MACHSYM_API void machsym_session_explain(machsym_session *session, uint64_t addr, machsym_explanation *out)
{
    ms_ex_explain(session, addr, out);
}

MACHSYM_API void machsym_session_read_info(machsym_session *session, machsym_session_info *out)
{
    ms_it_count(session, out);
}

/* ---- Map ---- */

/* The descriptor's allocator, or the C library's. Returns false when it lacks a function. */
static bool ms_in_allocator(const machsym_allocator *from, machsym_allocator *out)
{
    *out = ms_arena_default(*from);
    return out->alloc != NULL && out->free != NULL;
}

MACHSYM_API machsym_result machsym_plan_open(const machsym_plan_desc *desc, machsym_plan **out,
                                             machsym_error *err)
{
    machsym_allocator allocator;
    ms_fail(err, MACHSYM_OK, "no error", "", 0);
    if (out != NULL)
        *out = NULL;
    if (out == NULL || desc == NULL || desc->image == NULL || (unsigned)desc->lines >= MACHSYM_LINES_COUNT)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the image is missing or the line policy is none", "", 0);
    if (!ms_in_allocator(&desc->allocator, &allocator))
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the allocator lacks a function", "", 0);
    return ms_mb_open(desc, allocator, out, err);
}

MACHSYM_API void machsym_plan_close(machsym_plan *plan)
{
    if (plan != NULL)
        ms_mb_close(plan);
}

MACHSYM_API size_t machsym_plan_part_count(const machsym_plan *plan)
{
    return plan->count;
}

MACHSYM_API uint64_t machsym_plan_part_size(const machsym_plan *plan, size_t index)
{
    return index < plan->count ? plan->tasks[index].size : 0;
}

MACHSYM_API bool machsym_plan_next_object_file(const machsym_plan *plan, machsym_cursor *at,
                                               machsym_object_file *out)
{
    return ms_mb_next_object_file(plan, at, out);
}

MACHSYM_API machsym_result machsym_part_build(const machsym_plan *plan, size_t index, machsym_part **out,
                                              machsym_error *err)
{
    ms_fail(err, MACHSYM_OK, "no error", "", 0);
    if (out != NULL)
        *out = NULL;
    if (plan == NULL || out == NULL || index >= plan->count)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the plan has no such part", "", 0);
    *out = ms_mb_build_part(plan, index);
    return *out != NULL ? MACHSYM_OK : ms_fail_memory(err);
}

MACHSYM_API void machsym_part_close(machsym_part *part)
{
    if (part != NULL)
        ms_mg_free_part(part);
}

MACHSYM_API machsym_result machsym_map_merge(const machsym_plan *plan, machsym_part **parts, size_t count,
                                             machsym_map **out, machsym_error *err)
{
    ms_fail(err, MACHSYM_OK, "no error", "", 0);
    if (out != NULL)
        *out = NULL;
    bool whole = plan != NULL && parts != NULL && out != NULL && count == plan->count;
    for (size_t i = 0; i < count && whole; i++)
        whole = parts[i] != NULL;
    if (!whole)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "all parts of the plan are needed", "", 0);
    return ms_mb_merge(plan, parts, count, out, err);
}

MACHSYM_API machsym_result machsym_map_build(const machsym_plan_desc *desc, machsym_map **out,
                                             machsym_error *err)
{
    machsym_plan *plan;
    if (out == NULL)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the place for the map is NULL", "", 0);
    *out = NULL;
    machsym_result result = machsym_plan_open(desc, &plan, err);
    if (result != MACHSYM_OK)
        return result;
    result = ms_mb_build(plan, out, err);
    ms_mb_close(plan);
    return result;
}

MACHSYM_API machsym_result machsym_map_open(const machsym_map_desc *desc, machsym_map **out,
                                            machsym_error *err)
{
    machsym_allocator allocator;
    ms_fail(err, MACHSYM_OK, "no error", "", 0);
    if (out != NULL)
        *out = NULL;
    if (out == NULL || desc == NULL)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the descriptor or the place for the map is NULL", "", 0);
    if (!ms_in_allocator(&desc->allocator, &allocator) || (desc->path == NULL && desc->bytes.ptr == NULL))
        return ms_fail(err, MACHSYM_ERR_ARGUMENT,
                       "neither a path nor bytes to open, or an allocator that lacks a function", "", 0);
    return ms_map_open(desc, allocator, out, err);
}

MACHSYM_API void machsym_map_close(machsym_map *map)
{
    if (map != NULL)
        ms_map_close(map);
}

MACHSYM_API machsym_bytes machsym_map_bytes(const machsym_map *map)
{
    machsym_bytes bytes = {map->bytes.ptr, map->bytes.len};
    return bytes;
}

MACHSYM_API machsym_result machsym_map_save(const machsym_map *map, const char *path, machsym_error *err)
{
    ms_fail(err, MACHSYM_OK, "no error", "", 0);
#ifdef MACHSYM_NO_OS
    (void)map;
    (void)path;
    return ms_fail(err, MACHSYM_ERR_UNSUPPORTED, "this build opens and writes no files", "", 0);
#else
    if (map == NULL || path == NULL)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the map or the path is missing", "", 0);
    int code = ms_os_write(path, map->bytes.ptr, map->bytes.len);
    if (code == 0)
        return MACHSYM_OK;
    ms_fail(err, MACHSYM_ERR_IO, "the file cannot be written", "", 0);
    if (err != NULL)
        err->os_errno = code;
    return MACHSYM_ERR_IO;
#endif
}

MACHSYM_API void machsym_map_get_info(const machsym_map *map, machsym_map_info *out)
{
    ms_map_get_info(map, out);
    out->arch = ms_mo_arch_name(out->cputype, out->cpusubtype);
}

MACHSYM_API uint64_t machsym_map_addr(const machsym_map *map, uint64_t load_addr, uint64_t pc)
{
    bool is_64 = (map->head.cputype & ms_CPU_IS_64) != 0;
    return machsym_addr_in(map->head.cputype, is_64, map->head.text_addr, load_addr, pc);
}

MACHSYM_API size_t machsym_map_frames(const machsym_map *map, uint64_t addr, machsym_map_frame *frames,
                                      size_t cap)
{
    return ms_map_frames(map, addr, frames, cap);
}

MACHSYM_API size_t machsym_map_names(const machsym_map *map, const machsym_map_frame *from, size_t count,
                                     machsym_frame *frames, char *text, size_t cap)
{
    return ms_map_names(map, from, count, frames, text, cap);
}

MACHSYM_API machsym_result machsym_names_open(const machsym_names_desc *desc, machsym_names **out,
                                              machsym_error *err)
{
    machsym_allocator allocator;
    ms_fail(err, MACHSYM_OK, "no error", "", 0);
    if (out != NULL)
        *out = NULL;
    if (out == NULL || desc == NULL || desc->map == NULL || !ms_in_allocator(&desc->allocator, &allocator))
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the map is missing, or the allocator lacks a function", "",
                       0);
    *out = ms_map_open_names(desc->map, allocator);
    return *out != NULL ? MACHSYM_OK : ms_fail_memory(err);
}

MACHSYM_API void machsym_names_close(machsym_names *names)
{
    if (names != NULL)
        ms_map_close_names(names);
}

MACHSYM_API bool machsym_names_trim(machsym_names *names, size_t limit)
{
    return ms_map_trim_names(names, limit);
}

MACHSYM_API bool machsym_names_get(machsym_names *names, const machsym_map_frame *from, size_t count,
                                   machsym_frame *frames)
{
    return ms_map_get_names(names, from, count, frames);
}

MACHSYM_API bool machsym_map_next(const machsym_map *map, machsym_cursor *at, machsym_map_range *out)
{
    return ms_map_next(map, at, out);
}

MACHSYM_API machsym_result machsym_writer_open(const machsym_writer_desc *desc, machsym_writer **out,
                                               machsym_error *err)
{
    machsym_allocator allocator;
    ms_fail(err, MACHSYM_OK, "no error", "", 0);
    if (out != NULL)
        *out = NULL;
    if (desc == NULL || desc->info == NULL || out == NULL || !ms_in_allocator(&desc->allocator, &allocator))
        return ms_fail(err, MACHSYM_ERR_ARGUMENT,
                       "the info, the place for the writer or the allocator is missing", "", 0);
    *out = ms_mw_open(desc->info, allocator);
    return *out != NULL ? MACHSYM_OK : ms_fail_memory(err);
}

MACHSYM_API void machsym_writer_close(machsym_writer *writer)
{
    if (writer != NULL)
        ms_mw_close(writer);
}

MACHSYM_API machsym_result machsym_writer_add(machsym_writer *writer, const machsym_map_range *range,
                                              const machsym_frame *frames, size_t count, machsym_error *err)
{
    ms_fail(err, MACHSYM_OK, "no error", "", 0);
    if (writer == NULL || range == NULL || (frames == NULL && count != 0))
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the writer, the range or the frames are missing", "", 0);
    return ms_mw_add(writer, range, frames, count, err);
}

MACHSYM_API machsym_result machsym_writer_finish(machsym_writer *writer, machsym_map **out,
                                                 machsym_error *err)
{
    ms_fail(err, MACHSYM_OK, "no error", "", 0);
    if (out != NULL)
        *out = NULL;
    if (writer == NULL || out == NULL) {
        machsym_writer_close(writer);
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the writer or the place for the map is missing", "", 0);
    }
    return ms_mw_finish(writer, out, err);
}

MACHSYM_API size_t machsym_demangle(machsym_str mangled, uint32_t flags, char *buf, size_t cap)
{
    ms_txt t = ms_txt_begin(buf, cap);
    ms_txt_demangle(&t, mangled, flags);
    return ms_txt_end(&t);
}

MACHSYM_API size_t machsym_name_text(machsym_str name, uint32_t flags, char *buf, size_t cap)
{
    ms_txt t = ms_txt_begin(buf, cap);
    ms_txt_name(&t, name, flags);
    return ms_txt_end(&t);
}

MACHSYM_API size_t machsym_frame_name(const machsym_frame *frame, uint32_t flags, char *buf, size_t cap)
{
    return machsym_name_text(frame->linkage_name.len != 0 ? frame->linkage_name : frame->name, flags, buf,
                             cap);
}

MACHSYM_API size_t machsym_error_text(const machsym_error *err, const machsym_open_desc *desc, char *buf,
                                      size_t cap)
{
    machsym_slice slices[16];
    ms_txt t = ms_txt_begin(buf, cap);
    ms_txt_error(&t, err, desc != NULL ? desc->path : NULL);
    bool is_choice =
        err->code == MACHSYM_ERR_ARCH || err->code == MACHSYM_ERR_UUID || err->code == MACHSYM_ERR_AMBIGUOUS;
    if (desc != NULL && is_choice)
        ms_txt_slices(&t, slices, 16, machsym_list_slices(desc, slices, 16, NULL));
    return ms_txt_end(&t);
}

#endif /* ms_ROOM_entrance */
