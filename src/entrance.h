#ifndef ms_ROOM_entrance
#define ms_ROOM_entrance
#include "api/options.h"
#include "api/api.h"
#include "base/platform.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "macho/macho.h"
#include "macho/files.h"
#include "macho/symbols.h"
#include "image/image.h"
#include "answer/answer.h"
#include "map/map.h"
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
    if (desc == NULL) {
        ms_fail(err, MACHSYM_ERR_ARGUMENT, "the descriptor is NULL", "", 0);
        return 0;
    }
    return ms_file_list_slices(desc, slices, cap, err);
}

MACHSYM_API machsym_result machsym_image_open(const machsym_open_desc *desc, machsym_image **out,
                                              machsym_error *err)
{
    ms_fail(err, MACHSYM_OK, "no error", "", 0);
    if (out != NULL)
        *out = NULL;
    if (out == NULL || desc == NULL)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the descriptor or the place for the image is NULL", "", 0);
    machsym_allocator allocator = ms_arena_default(desc->allocator);
    if (allocator.alloc == NULL || allocator.free == NULL)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the allocator lacks a function", "", 0);
    return ms_im_open(desc, allocator, out, err);
}

MACHSYM_API void machsym_image_close(machsym_image *image)
{
    if (image != NULL)
        ms_im_close(image);
}

MACHSYM_API void machsym_image_get_info(const machsym_image *image, machsym_image_info *out)
{
    ms_im_get_info(image, out);
}

MACHSYM_API bool machsym_image_next_section(const machsym_image *image, machsym_cursor *at,
                                            machsym_section *out)
{
    return ms_im_next_section(image, at, out);
}

MACHSYM_API bool machsym_image_next_entry(const machsym_image *image, machsym_cursor *at, machsym_entry *out)
{
    return ms_mo_next_entry(&image->mo[0], &at->a, out);
}

MACHSYM_API uint64_t machsym_image_addr(const machsym_image *image, uint64_t load_addr, uint64_t pc)
{
    const ms_mo *mo = &image->mo[0];
    return ms_im_addr(mo->slice.cputype, mo->is_64, mo->text_addr, load_addr, pc);
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
        ms_ans_open(desc->image, desc->lines, desc->flags, desc->cache_limit, allocator);
    if (session == NULL)
        return ms_fail_memory(err);
    if ((desc->flags & MACHSYM_SESSION_INDEX) != 0)
        ms_ans_index(session);
    if (ms_ans_failed(session)) {
        ms_ans_close(session);
        return ms_fail_memory(err);
    }
    *out = session;
    return MACHSYM_OK;
}

MACHSYM_API void machsym_session_trim(machsym_session *session)
{
    ms_ans_forget(session);
}

MACHSYM_API bool machsym_session_lacked_memory(const machsym_session *session)
{
    return ms_ans_failed(session);
}

MACHSYM_API void machsym_session_close(machsym_session *session)
{
    if (session != NULL)
        ms_ans_close(session);
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
    return ms_ans_next_function(session, at, out);
}

MACHSYM_API bool machsym_session_next_line(machsym_session *session, machsym_cursor *at, machsym_line *out)
{
    return ms_ans_next_line(session, at, out);
}

MACHSYM_API bool machsym_session_next_symbol(machsym_session *session, machsym_cursor *at,
                                             machsym_symbol *out)
{
    const ms_sym_table *t = ms_ans_symbols(session);
    if (at->a >= t->count)
        return false;
    ms_sym_get(t, (size_t)at->a, out);
    at->a = ms_sym_next(t, (size_t)at->a);
    return true;
}

MACHSYM_API bool machsym_session_next_alias(machsym_session *session, uint64_t addr, machsym_cursor *at,
                                            machsym_str *out)
{
    const ms_sym_table *t = ms_ans_symbols(session);
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
    const ms_sym_table *t = ms_ans_symbols(session);
    if (at->a >= t->count)
        return false;
    ms_sym_get(t, (size_t)at->a++, out);
    return true;
}

MACHSYM_API bool machsym_session_next_objc(machsym_session *session, machsym_cursor *at, machsym_objc *out)
{
    return ms_ans_next_objc(session, at, out);
}

MACHSYM_API bool machsym_session_next_object(machsym_session *session, machsym_cursor *at,
                                             machsym_object *out)
{
    return ms_ans_next_object(session, at, out);
}

MACHSYM_API bool machsym_session_next_object_file(const machsym_session *session, machsym_cursor *at,
                                                  machsym_object_file *out)
{
    const ms_ans_objects *o = session->objects;
    if (o == NULL || at->a >= o->tried_count)
        return false;
    ms_ans_get_object(o, o->tried[at->a++], out);
    return true;
}

MACHSYM_API void machsym_session_explain(machsym_session *session, uint64_t addr, machsym_explanation *out)
{
    ms_ans_explain(session, addr, out);
}

MACHSYM_API void machsym_session_read_info(machsym_session *session, machsym_session_info *out)
{
    ms_ans_count(session, out);
}

/* ---- Map ---- */

static machsym_result machsym_plan_fill(machsym_plan *plan, const machsym_plan_desc *desc, machsym_error *err)
{
    plan->image = desc->image;
    plan->lines = desc->lines;
    plan->flags = desc->flags & MACHSYM_MAP_COLUMNS;
    machsym_session *session = ms_map_session(plan);
    plan->dict = (ms_map_dict *)ms_arena_zeroed(&plan->arena, 1, sizeof *plan->dict);
    plan->session = session;
    if (session == NULL || plan->dict == NULL)
        return ms_fail_memory(err);
    ms_ans_index(session);
    ms_map_set_spaces(plan->image, &plan->spaces);
    ms_map_fill_dict(&plan->spaces, ms_MAP_DICT / ms_MAP_SAMPLE, plan->dict);
    ms_map_cut_tasks(plan);
    return plan->arena.oom || ms_ans_failed(session) ? ms_fail_memory(err) : MACHSYM_OK;
}

MACHSYM_API machsym_result machsym_plan_open(const machsym_plan_desc *desc, machsym_plan **out,
                                             machsym_error *err)
{
    ms_fail(err, MACHSYM_OK, "no error", "", 0);
    if (out != NULL)
        *out = NULL;
    if (out == NULL || desc == NULL || desc->image == NULL || (unsigned)desc->lines >= MACHSYM_LINES_COUNT)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the image is missing or the line policy is none", "", 0);
    ms_arena arena = ms_arena_make(ms_arena_default(desc->allocator));
    if (arena.allocator.alloc == NULL || arena.allocator.free == NULL)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the allocator lacks a function", "", 0);
    machsym_plan *plan = (machsym_plan *)ms_arena_zeroed(&arena, 1, sizeof *plan);
    if (plan == NULL) {
        ms_arena_free(&arena);
        return ms_fail_memory(err);
    }
    plan->arena = arena;
    plan->allocator = arena.allocator;
    machsym_result result = machsym_plan_fill(plan, desc, err);
    if (result == MACHSYM_OK)
        *out = plan;
    else
        machsym_plan_close(plan);
    return result;
}

MACHSYM_API void machsym_plan_close(machsym_plan *plan)
{
    if (plan == NULL)
        return;
    if (plan->session != NULL)
        ms_ans_close(plan->session);
    ms_arena arena = plan->arena; /* the plan lies in its own arena */
    ms_arena_free(&arena);
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
    const ms_ans_objects *o = plan->session->objects;
    if (o == NULL || at->a >= o->map.count)
        return false;
    ms_ans_get_object(o, (size_t)at->a++, out);
    return true;
}

MACHSYM_API machsym_result machsym_part_build(const machsym_plan *plan, size_t index, machsym_part **out,
                                              machsym_error *err)
{
    ms_fail(err, MACHSYM_OK, "no error", "", 0);
    if (out != NULL)
        *out = NULL;
    if (plan == NULL || out == NULL || index >= plan->count)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the plan has no such part", "", 0);
    *out = ms_map_build_part(plan, index);
    return *out != NULL ? MACHSYM_OK : ms_fail_memory(err);
}

MACHSYM_API void machsym_part_close(machsym_part *part)
{
    if (part != NULL)
        ms_map_free_part(part);
}

static void machsym_close_parts(machsym_part **parts, size_t count)
{
    for (size_t i = 0; i < count && parts != NULL; i++) {
        machsym_part_close(parts[i]);
        parts[i] = NULL;
    }
}

static void machsym_set_head(ms_map_head *head, const machsym_image *image, const machsym_plan *plan)
{
    const ms_mo *mo = &image->mo[0];
    ms_zero(head, sizeof *head);
    head->version = ms_MAP_VERSION;
    head->flags = plan->flags;
    head->uuid = mo->slice.uuid;
    head->cputype = mo->slice.cputype;
    head->cpusubtype = mo->slice.cpusubtype;
    head->text_addr = mo->text_addr;
    head->text_size = mo->text_size;
    head->text_exec_addr = mo->text_exec_addr;
    for (size_t i = 0; i < image->dw.code_count; i++) {
        uint64_t hi = image->dw.code[i].hi;
        if (hi > mo->text_addr && hi - mo->text_addr > head->code_size)
            head->code_size = hi - mo->text_addr;
    }
    head->lines = (uint32_t)plan->lines;
}

MACHSYM_API machsym_result machsym_map_merge(const machsym_plan *plan, machsym_part **parts, size_t count,
                                             machsym_map **out, machsym_error *err)
{
    ms_map_merge m;
    ms_map_head head;
    ms_fail(err, MACHSYM_OK, "no error", "", 0);
    if (out != NULL)
        *out = NULL;
    bool whole = plan != NULL && parts != NULL && out != NULL && count == plan->count;
    for (size_t i = 0; i < count && whole; i++)
        whole = parts[i] != NULL;
    if (!whole)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "all parts of the plan are needed", "", 0);
    ms_zero(&m, sizeof m);
    m.allocator = plan->allocator;
    m.arena = ms_arena_make(plan->allocator);
    m.parts = parts;
    m.part_count = count;
    m.text_addr = plan->image->mo[0].text_addr;
    m.block_count = plan->spaces.total / ms_MAP_BLOCK;
    m.symbols = ms_map_new_part(plan->allocator, ms_MAP_UNITS);
    machsym_result result = ms_fail_memory(err);
    if (m.symbols != NULL) {
        ms_map_coder *c = &m.symbols->coder;
        c->spaces = &plan->spaces;
        c->text_addr = m.text_addr;
        c->columns = (plan->flags & MACHSYM_MAP_COLUMNS) != 0;
        c->used = (uint8_t *)ms_arena_zeroed(&m.symbols->arena, (size_t)(m.block_count / 8 + 1), 1);
        machsym_set_head(&head, plan->image, plan);
        if (c->used != NULL)
            result =
                ms_map_finish(&m, &head, plan->image->name, plan->dict, &plan->session->symbols, out, err);
    }
    if (m.symbols != NULL)
        ms_map_free_part(m.symbols);
    machsym_close_parts(parts, count);
    ms_arena_free(&m.arena);
    if (result == MACHSYM_OK)
        ms_fail(err, MACHSYM_OK, "no error", "", 0);
    return result;
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
    machsym_part **parts =
        (machsym_part **)ms_arena_zeroed(&plan->arena, plan->count, sizeof(machsym_part *));
    if (parts == NULL)
        result = ms_fail_memory(err);
    for (size_t i = 0; i < plan->count && result == MACHSYM_OK; i++)
        result = machsym_part_build(plan, i, &parts[i], err);
    if (result == MACHSYM_OK)
        result = machsym_map_merge(plan, parts, plan->count, out, err);
    machsym_close_parts(parts, plan->count);
    machsym_plan_close(plan);
    return result;
}

/* Checks what a map file says of itself. */
static machsym_result machsym_check_map(machsym_map *map, uint32_t flags, machsym_error *err)
{
    ms_map_head *head = &map->head;
    if (map->bytes.len < ms_MAP_HEAD || !ms_equal(map->bytes.ptr, ms_MAP_MAGIC, 8))
        return ms_fail(err, MACHSYM_ERR_FORMAT, "not a symbol map", "map header", 0);
    ms_map_load_head(map->bytes.ptr, head);
    if (head->version != ms_MAP_VERSION)
        return ms_fail(err, MACHSYM_ERR_VERSION,
                       "the map was written in another format version; build it again", "map header", 8);
    if (head->size != map->bytes.len)
        return ms_fail(err, MACHSYM_ERR_DAMAGED, "the map is cut short or has grown", "map header", 64);
    if (head->bucket_shift > 31 || head->lines >= MACHSYM_LINES_COUNT ||
        head->text_addr > UINT64_MAX - UINT32_MAX)
        return ms_fail(err, MACHSYM_ERR_DAMAGED, "a number in the header is out of bounds", "map header", 56);
    for (unsigned i = 0; i < ms_TABLE_COUNT; i++) {
        if (head->tables[i].lo > head->tables[i].hi || head->tables[i].hi > map->bytes.len)
            return ms_fail(err, MACHSYM_ERR_DAMAGED, "a table lies outside the map", "map header",
                           80 + 16 * (uint64_t)i);
    }
    if ((flags & MACHSYM_MAP_UNCHECKED) == 0 && ms_map_sum_of(map->bytes) != head->checksum)
        return ms_fail(err, MACHSYM_ERR_CHECKSUM,
                       "the map's checksum does not match its bytes; build it again", "map header", 72);
    ms_map_set_tables(map);
    return MACHSYM_OK;
}

MACHSYM_API machsym_result machsym_map_open(const char *path, machsym_bytes bytes, uint32_t flags,
                                            const machsym_allocator *allocator, machsym_map **out,
                                            machsym_error *err)
{
    machsym_allocator none = {NULL, NULL, NULL};
    ms_fail(err, MACHSYM_OK, "no error", "", 0);
    if (out == NULL)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the place for the map is NULL", "", 0);
    *out = NULL;
    machsym_allocator own = ms_arena_default(allocator != NULL ? *allocator : none);
    if (own.alloc == NULL || own.free == NULL || (path == NULL && bytes.ptr == NULL))
        return ms_fail(err, MACHSYM_ERR_ARGUMENT,
                       "neither a path nor bytes to open, or an allocator that lacks a function", "", 0);
    machsym_map *map = (machsym_map *)own.alloc(own.user, sizeof *map);
    if (map == NULL)
        return ms_fail_memory(err);
    ms_zero(map, sizeof *map);
    map->allocator = own;
    map->bytes = ms_span_make(bytes.ptr, bytes.len);
    machsym_result result = MACHSYM_OK;
#ifndef MACHSYM_NO_OS
    if (bytes.ptr == NULL) {
        int code = ms_os_map(path, (flags & MACHSYM_MAP_COPY) != 0, &map->file);
        map->bytes = ms_span_make(map->file.ptr, map->file.len);
        if (code != 0)
            result = ms_os_fail(err, code);
    }
#endif
    if (result == MACHSYM_OK)
        result = machsym_check_map(map, flags, err);
    if (result == MACHSYM_OK)
        *out = map;
    else
        machsym_map_close(map);
    return result;
}

MACHSYM_API void machsym_map_close(machsym_map *map)
{
    if (map == NULL)
        return;
#ifndef MACHSYM_NO_OS
    ms_os_unmap(&map->file);
#endif
    if (map->memory != NULL)
        map->allocator.free(map->allocator.user, map->memory, map->memory_size);
    map->allocator.free(map->allocator.user, map, sizeof *map);
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
    const ms_map_head *head = &map->head;
    ms_zero(out, sizeof *out);
    out->name = ms_str_make((const char *)map->tables[ms_TABLE_NAME].ptr, map->tables[ms_TABLE_NAME].len);
    out->uuid = head->uuid;
    out->cputype = head->cputype;
    out->cpusubtype = head->cpusubtype;
    out->arch = ms_mo_arch_name(head->cputype, head->cpusubtype);
    out->text_addr = head->text_addr;
    out->text_size = head->text_size;
    out->text_exec_addr = head->text_exec_addr;
    out->code_size = head->code_size;
    out->lines = (machsym_lines)head->lines;
    out->flags = head->flags;
    out->version = head->version;
    out->size = map->bytes.len;
    out->run_count = map->tables[ms_TABLE_RUNS].len / 8;
    out->symbol_run_count = map->tables[ms_TABLE_SYMBOL_RUNS].len / 8;
    out->text_bytes = map->tables[ms_TABLE_BLOCKS].len / 4 * ms_MAP_BLOCK;
    out->packed_bytes = map->tables[ms_TABLE_TEXT].len;
    out->data_bytes = map->tables[ms_TABLE_DATA].len;
}

MACHSYM_API uint64_t machsym_map_addr(const machsym_map *map, uint64_t load_addr, uint64_t pc)
{
    bool is_64 = (map->head.cputype & ms_CPU_IS_64) != 0;
    return ms_im_addr(map->head.cputype, is_64, map->head.text_addr, load_addr, pc);
}

MACHSYM_API size_t machsym_map_frames(const machsym_map *map, uint64_t addr, machsym_frame *frames,
                                      size_t cap)
{
    return ms_map_frames(map, addr, frames, cap);
}

MACHSYM_API size_t machsym_map_names(const machsym_map *map, machsym_frame *frames, size_t count, char *text,
                                     size_t cap)
{
    return ms_map_names(map, frames, count, text, cap);
}

MACHSYM_API machsym_result machsym_names_open(const machsym_map *map, const machsym_allocator *allocator,
                                              machsym_names **out, machsym_error *err)
{
    machsym_allocator none = {NULL, NULL, NULL};
    ms_fail(err, MACHSYM_OK, "no error", "", 0);
    if (out != NULL)
        *out = NULL;
    machsym_allocator own = ms_arena_default(allocator != NULL ? *allocator : none);
    if (out == NULL || map == NULL || own.alloc == NULL || own.free == NULL)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the map is missing, or the allocator lacks a function", "",
                       0);
    *out = ms_map_open_names(map, own);
    return *out != NULL ? MACHSYM_OK : ms_fail_memory(err);
}

MACHSYM_API void machsym_names_close(machsym_names *names)
{
    if (names != NULL)
        ms_map_close_names(names);
}

MACHSYM_API void machsym_names_trim(machsym_names *names, size_t limit)
{
    ms_map_trim_names(names, limit);
}

MACHSYM_API bool machsym_names_get(machsym_names *names, machsym_frame *frames, size_t count)
{
    return ms_map_get_names(names, frames, count);
}

MACHSYM_API bool machsym_map_next(const machsym_map *map, machsym_cursor *at, machsym_map_range *out)
{
    return ms_map_next(map, at, out);
}

MACHSYM_API machsym_result machsym_writer_open(const machsym_map_info *info,
                                               const machsym_allocator *allocator, machsym_writer **out,
                                               machsym_error *err)
{
    machsym_allocator none = {NULL, NULL, NULL};
    ms_fail(err, MACHSYM_OK, "no error", "", 0);
    machsym_allocator own = ms_arena_default(allocator != NULL ? *allocator : none);
    if (out != NULL)
        *out = NULL;
    if (info == NULL || out == NULL || own.alloc == NULL || own.free == NULL)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT,
                       "the info, the place for the writer or the allocator is missing", "", 0);
    ms_arena arena = ms_arena_make(own);
    machsym_writer *w = (machsym_writer *)ms_arena_zeroed(&arena, 1, sizeof *w);
    if (w == NULL) {
        ms_arena_free(&arena);
        return ms_fail_memory(err);
    }
    w->allocator = own;
    w->arena = arena;
    w->info = *info;
    w->chains.arena = w->sites.arena = &w->arena;
    w->text_arena = ms_arena_make(own);
    w->texts.arena = &w->text_arena;
    for (size_t i = 0; i < 2; i++) {
        w->parts[i] = ms_map_new_part(own, ms_MAP_UNITS);
        if (w->parts[i] == NULL) {
            machsym_writer_close(w);
            return ms_fail_memory(err);
        }
        w->parts[i]->coder.texts = &w->texts;
        w->parts[i]->coder.text_addr = info->text_addr;
        w->parts[i]->coder.columns = (info->flags & MACHSYM_MAP_COLUMNS) != 0;
    }
    *out = w;
    return MACHSYM_OK;
}

MACHSYM_API void machsym_writer_close(machsym_writer *writer)
{
    if (writer == NULL)
        return;
    machsym_part_close(writer->parts[0]);
    machsym_part_close(writer->parts[1]);
    ms_arena_free(&writer->text_arena);
    ms_arena arena = writer->arena; /* the writer lies in its own arena */
    ms_arena_free(&arena);
}

MACHSYM_API machsym_result machsym_writer_add(machsym_writer *writer, const machsym_map_range *range,
                                              const machsym_frame *frames, size_t count, machsym_error *err)
{
    ms_fail(err, MACHSYM_OK, "no error", "", 0);
    if (writer == NULL || range == NULL || (frames == NULL && count != 0))
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the writer, the range or the frames are missing", "", 0);
    return ms_map_writer_add(writer, range, frames, count, err);
}

MACHSYM_API machsym_result machsym_writer_finish(machsym_writer *writer, machsym_map **out,
                                                 machsym_error *err)
{
    ms_map_merge m;
    ms_map_head head;
    if (out != NULL)
        *out = NULL;
    if (writer == NULL || out == NULL) {
        machsym_writer_close(writer);
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the writer or the place for the map is missing", "", 0);
    }
    ms_map_dict *dict = (ms_map_dict *)ms_arena_zeroed(&writer->arena, 1, sizeof *dict);
    machsym_result result = ms_fail_memory(err);
    ms_zero(&m, sizeof m);
    ms_zero(&head, sizeof head);
    ms_map_flush(&writer->parts[0]->coder, &writer->queue);
    for (size_t i = 0; i < 2; i++)
        writer->parts[i]->files_at = ms_map_end_part(&writer->parts[i]->coder);
    m.allocator = writer->allocator;
    m.arena = ms_arena_make(writer->allocator);
    m.text_addr = writer->info.text_addr;
    head.version = ms_MAP_VERSION;
    head.flags = writer->info.flags & (MACHSYM_MAP_COLUMNS | MACHSYM_MAP_CHUNK);
    head.uuid = writer->info.uuid;
    head.cputype = writer->info.cputype;
    head.cpusubtype = writer->info.cpusubtype;
    head.text_addr = writer->info.text_addr;
    head.text_size = writer->info.text_size;
    head.text_exec_addr = writer->info.text_exec_addr;
    head.code_size = writer->info.code_size;
    head.lines = (uint32_t)writer->info.lines;
    bool ok = dict != NULL && !writer->parts[0]->data_arena.oom && !writer->text_arena.oom;
    if (ok && ms_map_writer_pack(writer, &m, dict))
        result = ms_map_finish(&m, &head, writer->info.name, dict, NULL, out, err);
    machsym_part_close(m.symbols);
    for (size_t i = 0; i < m.part_count; i++)
        machsym_part_close(m.parts[i]);
    ms_arena_free(&m.arena);
    machsym_writer_close(writer);
    if (result == MACHSYM_OK)
        ms_fail(err, MACHSYM_OK, "no error", "", 0);
    return result;
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
