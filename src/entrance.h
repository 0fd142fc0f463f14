#ifndef ms_ROOM_entrance
#define ms_ROOM_entrance
#include "api/options.h"
#include "api/api.h"
#include "base/platform.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "base/inflate.h"
#include "macho/slide.h"
#include "macho/macho.h"
#include "macho/files.h"
#include "image/image.h"
#include "answer/session.h"
#include "answer/engine.h"
#include "answer/answer.h"
#include "answer/folded.h"
#include "answer/stack.h"
#include "answer/iterate.h"
#include "answer/explain.h"
#include "symmap/symmap.h"
#include "map/merge.h"
#include "map/build.h"
#include "map/writer.h"
#include "text.h"
#include "unwind/step.h"

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

/* The descriptor's allocator, or the C library's. Returns false when it lacks a function. */
static bool ms_in_allocator(const machsym_allocator *from, machsym_allocator *out)
{
    *out = ms_arena_default(*from);
    return out->alloc != NULL && out->free != NULL;
}

MACHSYM_API size_t machsym_list_slices(const machsym_open_desc *desc, machsym_slice *slices, size_t cap,
                                       machsym_error *err)
{
    if (desc == NULL) {
        ms_fail(err, MACHSYM_ERR_ARGUMENT, "the descriptor is NULL", "", 0);
        return 0;
    }
    machsym_allocator allocator;
    if (!ms_in_allocator(&desc->allocator, &allocator)) {
        ms_fail(err, MACHSYM_ERR_ARGUMENT, "the allocator lacks a function", "", 0);
        return 0;
    }
    return ms_file_list_slices(desc, allocator, slices, cap, err);
}

MACHSYM_API machsym_result machsym_image_open(const machsym_open_desc *desc, machsym_image **out,
                                              machsym_error *err)
{
    ms_fail(err, MACHSYM_OK, "no error", "", 0);
    if (out != NULL)
        *out = NULL;
    if (out == NULL || desc == NULL)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the descriptor or the place for the image is NULL", "", 0);
    machsym_allocator allocator;
    if (!ms_in_allocator(&desc->allocator, &allocator))
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

MACHSYM_API bool machsym_image_count_damage(const machsym_image *image, machsym_image_info *out)
{
    return ms_im_read_info(image, out);
}

MACHSYM_API bool machsym_image_next_section(const machsym_image *image, machsym_cursor *at,
                                            machsym_section *out)
{
    return ms_im_next_section(image, at, out);
}

MACHSYM_API bool machsym_image_next_platform(const machsym_image *image, machsym_cursor *at,
                                             machsym_platform *out)
{
    return ms_im_next_platform(image, at, out);
}

MACHSYM_API bool machsym_image_next_entry(const machsym_image *image, machsym_cursor *at, machsym_entry *out)
{
    return ms_im_next_entry(image, at, out);
}

MACHSYM_API bool machsym_image_entry_at_addr(const machsym_image *image, uint64_t addr, machsym_entry *out)
{
    return ms_im_entry_at(image, addr, out);
}

MACHSYM_API size_t machsym_image_read_cache_at_addr(const machsym_image *image, uint64_t addr, void *to,
                                                    size_t len)
{
    return ms_im_cache(image) != NULL ? ms_sl_read(&ms_im_cache(image)->dc, addr, (uint8_t *)to, len) : 0;
}

MACHSYM_API bool machsym_image_next_cache_file(const machsym_image *image, machsym_cursor *at,
                                               machsym_cache_file *out)
{
    return ms_im_next_cache_file(image, at, out);
}

MACHSYM_API uint64_t machsym_image_addr_of_pc(const machsym_image *image, uint64_t load_addr, uint64_t pc)
{
    const ms_mo *mo = &image->mo[0];
    return ms_im_addr(mo->slice.cputype, mo->is_64, mo->text_addr, load_addr, pc);
}

MACHSYM_API uint64_t machsym_plain_pc(uint32_t cputype, uint64_t pc)
{
    return ms_mo_unsigned(cputype, pc);
}

MACHSYM_API const machsym_loaded *machsym_loaded_from_pc(const machsym_loaded *images, size_t count,
                                                         uint64_t pc)
{
    return ms_im_loaded_at(images, count, pc);
}

/* ---- Session ---- */

MACHSYM_API machsym_result machsym_session_open(const machsym_session_desc *desc, machsym_session **out,
                                                machsym_error *err)
{
    ms_fail(err, MACHSYM_OK, "no error", "", 0);
    if (out != NULL)
        *out = NULL;
    if (out == NULL || desc == NULL || desc->image == NULL || (unsigned)desc->lines >= MACHSYM_LINES_COUNT)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "no image is named, or the line policy is unknown", "", 0);
    machsym_allocator allocator;
    if (!ms_in_allocator(&desc->allocator, &allocator))
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "the allocator lacks a function", "", 0);
    if (desc->image->map != NULL && desc->image->map->head.lines != (uint32_t)desc->lines)
        return ms_fail(err, MACHSYM_ERR_POLICY, "the map was built for another line policy", "map header",
                       56);
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
    return ms_ses_lacked_memory(session);
}

MACHSYM_API void machsym_session_get_io_stats(const machsym_session *session, machsym_io_stats *out)
{
    *out = session->reads;
}

MACHSYM_API size_t machsym_session_memory(const machsym_session *session)
{
    return ms_ses_memory(session);
}

MACHSYM_API void machsym_session_close(machsym_session *session)
{
    if (session != NULL)
        ms_ses_close(session);
}

MACHSYM_API size_t machsym_session_frames_at_addr(machsym_session *session, uint64_t addr,
                                                  machsym_frame *frames, size_t cap)
{
    return ms_ans_frames(session, addr, frames, cap);
}

MACHSYM_API size_t machsym_session_frames_at_addrs(machsym_session *session, const uint64_t *addrs,
                                                   size_t count, machsym_answer *answers,
                                                   machsym_frame *frames, size_t cap)
{
    return ms_ans_many(session, addrs, count, answers, frames, cap);
}

MACHSYM_API size_t machsym_session_next_folded_at_addr(machsym_session *session, uint64_t addr,
                                                       machsym_cursor *at, machsym_frame *frames, size_t cap)
{
    return ms_fold_next(session, addr, at, frames, cap);
}

MACHSYM_API size_t machsym_session_frames_of_stack(machsym_session *session, const machsym_stack_addr *pcs,
                                                   size_t count, machsym_stack_answer *calls,
                                                   machsym_frame *frames, size_t cap)
{
    return ms_stk_lookup(session, pcs, count, calls, frames, cap);
}

/* Makes a session ready for an iteration, when it begins. */
static void ms_in_begin(machsym_session *session, const machsym_cursor *at)
{
    if (at->a == 0 && at->b == 0)
        ms_ses_begin(session);
}

MACHSYM_API bool machsym_session_next_function(machsym_session *session, machsym_cursor *at,
                                               machsym_function *out)
{
    ms_in_begin(session, at);
    return ms_it_next_function(session, at, out);
}

MACHSYM_API bool machsym_session_next_line(machsym_session *session, machsym_cursor *at, machsym_line *out)
{
    ms_in_begin(session, at);
    return ms_it_next_line(session, at, out);
}

MACHSYM_API bool machsym_session_next_symbol(machsym_session *session, machsym_cursor *at,
                                             machsym_symbol *out)
{
    ms_in_begin(session, at);
    return ms_it_next_symbol(session, at, out);
}

MACHSYM_API bool machsym_session_next_alias_at_addr(machsym_session *session, uint64_t addr,
                                                    machsym_cursor *at, machsym_str *out)
{
    ms_in_begin(session, at);
    return ms_it_next_alias(session, addr, at, out);
}

MACHSYM_API bool machsym_session_next_name(machsym_session *session, machsym_cursor *at, machsym_symbol *out)
{
    ms_in_begin(session, at);
    return ms_it_next_name(session, at, out);
}

MACHSYM_API bool machsym_session_next_objc(machsym_session *session, machsym_cursor *at, machsym_objc *out)
{
    ms_in_begin(session, at);
    return ms_it_next_objc(session, at, out);
}

MACHSYM_API bool machsym_session_next_object(machsym_session *session, machsym_cursor *at,
                                             machsym_object *out)
{
    ms_in_begin(session, at);
    return ms_it_next_object(session, at, out);
}

MACHSYM_API bool machsym_session_next_object_file(const machsym_session *session, machsym_cursor *at,
                                                  machsym_object_file *out)
{
    return ms_it_next_object_file(session, at, out);
}

MACHSYM_API void machsym_session_explain_addr(machsym_session *session, uint64_t addr,
                                              machsym_explanation *out)
{
    ms_ex_explain(session, addr, out);
}

MACHSYM_API void machsym_session_count_all(machsym_session *session, machsym_session_counts *out)
{
    ms_ses_begin(session);
    ms_it_count(session, out);
}

/* ---- Map ---- */

MACHSYM_API machsym_result machsym_plan_open(const machsym_plan_desc *desc, machsym_plan **out,
                                             machsym_error *err)
{
    machsym_allocator allocator;
    ms_fail(err, MACHSYM_OK, "no error", "", 0);
    if (out != NULL)
        *out = NULL;
    if (out == NULL || desc == NULL || desc->image == NULL || (unsigned)desc->lines >= MACHSYM_LINES_COUNT)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "no image is named, or the line policy is unknown", "", 0);
    if (desc->image->map != NULL)
        return ms_fail(err, MACHSYM_ERR_UNSUPPORTED, "the image is a map already", "map header", 0);
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

MACHSYM_API void machsym_part_get_info(const machsym_part *part, machsym_part_info *out)
{
    *out = part->info;
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
    if (plan == NULL || parts == NULL || out == NULL || !ms_mb_has_all(plan, parts, count))
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
    machsym_bytes none = {NULL, 0};
    machsym_bytes bytes = {map->bytes.ptr, map->bytes.len};
    return ms_map_is_here(map) ? bytes : none;
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
    if (!ms_map_is_here(map))
        return ms_fail(err, MACHSYM_ERR_UNSUPPORTED, "a map that is read piece by piece; copy its file", "",
                       0);
    int code = ms_os_write(path, map->bytes.ptr, map->bytes.len, &map->allocator);
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

MACHSYM_API uint64_t machsym_map_addr_of_pc(const machsym_map *map, uint64_t load_addr, uint64_t pc)
{
    bool is_64 = (map->head.cputype & ms_CPU_IS_64) != 0;
    return ms_im_addr(map->head.cputype, is_64, map->head.text_addr, load_addr, pc);
}

MACHSYM_API size_t machsym_map_frames_at_addr(const machsym_map *map, uint64_t addr,
                                              machsym_map_frame *frames, size_t cap)
{
    return ms_map_frames(map, NULL, addr, frames, cap);
}

MACHSYM_API size_t machsym_map_frames_at_addrs(const machsym_map *map, const uint64_t *addrs, size_t count,
                                               machsym_answer *answers, machsym_map_frame *frames, size_t cap)
{
    return ms_map_many(map, addrs, count, answers, frames, cap);
}

MACHSYM_API size_t machsym_map_names(const machsym_map *map, const machsym_map_frame *from, size_t count,
                                     machsym_frame *frames, char *text, size_t cap)
{
    return ms_map_names(map, from, count, frames, text, cap);
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

MACHSYM_API machsym_result machsym_inflate(machsym_deflate kind, machsym_bytes in, void *out, size_t cap,
                                           size_t *len, size_t *used, machsym_error *err)
{
    ms_fail(err, MACHSYM_OK, "no error", "", 0);
    if (len == NULL || (out == NULL && cap != 0) || (unsigned)kind > MACHSYM_DEFLATE_ZLIB)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "there is no such kind, or no place for the bytes", "", 0);
    *len = 0;
#ifdef MACHSYM_NO_INFLATE
    (void)in;
    (void)used;
    return ms_fail(err, MACHSYM_ERR_UNSUPPORTED, "the library was built with MACHSYM_NO_INFLATE", "", 0);
#else
    size_t taken = 0;
    ms_span span = ms_span_make(in.ptr, in.len);
    ms_inf_end end = kind == MACHSYM_DEFLATE_ZLIB ? ms_inf_zlib(span, (uint8_t *)out, cap, len, &taken)
                                                  : ms_inf_raw(span, (uint8_t *)out, cap, len, &taken);
    if (used != NULL)
        *used = taken;
    switch (end) {
    case ms_INF_OK: return MACHSYM_OK;
    case ms_INF_FULL:
        return ms_fail(err, MACHSYM_ERR_LIMIT, "there are more bytes than there is room for",
                       "deflate stream", taken);
    case ms_INF_SHORT:
        return ms_fail(err, MACHSYM_ERR_DAMAGED, "the compressed bytes are cut short", "deflate stream",
                       taken);
    default:
        return ms_fail(err, MACHSYM_ERR_DAMAGED, "the compressed bytes are damaged", "deflate stream", taken);
    }
#endif
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
    ms_txt t = ms_txt_begin(buf, cap);
    ms_txt_error(&t, err, desc);
    return ms_txt_end(&t);
}

MACHSYM_API bool machsym_unwind_next(const machsym_unwind_desc *desc, machsym_unwind_state *state)
{
    if (state == NULL)
        return false;
#ifdef MACHSYM_NO_UNWIND
    (void)desc;
    state->end = MACHSYM_UNWIND_LEFT_OUT;
    return false;
#else
    if (desc == NULL)
        state->end = MACHSYM_UNWIND_ARGUMENT;
    return desc != NULL && ms_uns_next(desc, state);
#endif
}

MACHSYM_API bool machsym_map_get_unwind(const machsym_map *map, uint64_t load_addr, machsym_unwind_image *out)
{
    return ms_map_get_unwind(map, load_addr, out);
}

#endif /* ms_ROOM_entrance */
