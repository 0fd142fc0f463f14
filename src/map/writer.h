#ifndef ms_ROOM_map_writer
#define ms_ROOM_map_writer
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/memory.h"
#include "../base/table.h"
#include "../symmap/pack.h"
#include "../symmap/symmap.h"
#include "encode.h"
#include "merge.h"

/* ==== >>writer ===========================================================================================
 * Job:    makes a map of ranges that the caller hands over.
 * Offers: machsym_writer, ms_mw_open, ms_mw_close, ms_mw_add, ms_mw_finish.
 * Never:  reads a Mach-O file or debug info. */

struct machsym_writer {
    machsym_allocator allocator;
    machsym_part *parts[2]; /* with debug info; symbols */
    machsym_map_info info;
    uint64_t end[2]; /* of the last range of each */
    ms_tab chains;   /* caller's link and site, or function and start, to their link */
    ms_tab sites;    /* called function, file, line and column to a number */
    ms_arena arena;
};

static void ms_mw_close(machsym_writer *w)
{
    for (size_t i = 0; i < 2; i++) {
        if (w->parts[i] != NULL)
            ms_mg_free_part(w->parts[i]);
    }
    ms_arena arena = w->arena; /* the writer lies in its own arena */
    ms_arena_free(&arena);
}

static machsym_writer *ms_mw_open(const machsym_map_info *info, machsym_allocator allocator)
{
    ms_arena arena = ms_arena_make(allocator);
    machsym_writer *w = (machsym_writer *)ms_arena_zeroed(&arena, 1, sizeof *w);
    if (w == NULL) {
        ms_arena_free(&arena);
        return NULL;
    }
    w->allocator = allocator;
    w->arena = arena;
    w->info = *info;
    w->chains.arena = w->sites.arena = &w->arena;
    for (size_t i = 0; i < 2; i++) {
        w->parts[i] = ms_mg_new_part(allocator);
        if (w->parts[i] == NULL) {
            ms_mw_close(w);
            return NULL;
        }
        w->parts[i]->coder.text_addr = info->text_addr;
        w->parts[i]->coder.columns = (info->flags & MACHSYM_MAP_COLUMNS) != 0;
        w->parts[i]->coder.tells_near = info->lines == MACHSYM_LINES_PEOPLE;
    }
    return w;
}

/* The link of a concrete function, added once for every start. Returns 0 when memory is out. */
static uint32_t ms_mw_root(machsym_writer *w, ms_en *c, const machsym_frame *frame)
{
    uint32_t function = ms_en_function(c, frame->linkage_name, frame->name);
    uint64_t kind = (c == &w->parts[1]->coder ? (uint64_t)1 << 33 : 0) | (uint64_t)1 << 32;
    ms_tab_slot *slot = ms_tab_get(&w->chains, kind | function, frame->function_start);
    if (slot != NULL && slot->value == 0)
        slot->value =
            ms_en_root(c, frame->name_source, function, frame->function_start, frame->function_size);
    return slot == NULL ? 0 : slot->value;
}

/* The link of a call from the frame after it, from. */
static uint32_t ms_mw_call(machsym_writer *w, ms_en *c, const machsym_frame *frame, const machsym_frame *from,
                           uint32_t caller)
{
    ms_map_line call = {ms_en_file(c, &from->file),
                        ms_en_line(c, from->line, from->line_source == MACHSYM_SOURCE_NEAR),
                        c->columns ? from->column : 0};
    uint32_t function = ms_en_function(c, frame->linkage_name, frame->name);
    ms_tab_slot *site =
        ms_tab_get(&w->sites, (uint64_t)call.file << 32 | call.line, (uint64_t)call.column << 32 | function);
    if (site == NULL)
        return 0;
    if (site->value == 0)
        site->value = (uint32_t)w->sites.count;
    ms_tab_slot *slot = ms_tab_get(&w->chains, site->value, caller);
    if (slot != NULL && slot->value == 0)
        slot->value = ms_en_call(c, caller, frame->name_source, function, &call);
    return slot == NULL ? 0 : slot->value;
}

/* Whether names and path of a frame are short enough for readers to take them. */
static bool ms_mw_has_room(const machsym_frame *frame)
{
    const machsym_path *file = &frame->file;
    return frame->name.len <= MACHSYM_MAX_TEXT && frame->linkage_name.len <= MACHSYM_MAX_TEXT &&
           file->comp_dir.len <= MACHSYM_MAX_TEXT && file->dir.len <= MACHSYM_MAX_TEXT &&
           file->name.len <= MACHSYM_MAX_TEXT;
}

static machsym_result ms_mw_add(machsym_writer *w, const machsym_map_range *range,
                                const machsym_frame *frames, size_t count, machsym_error *err)
{
    unsigned which = range->is_symbol ? 1 : 0;
    ms_en *c = &w->parts[which]->coder;
    ms_en_item item;
    machsym_frame missing; /* one call stands for those that the frames lack: so a lookup lacks them again */
    ms_zero(&missing, sizeof missing);
    if (range->lo >= range->hi || range->lo < w->end[which] || range->lo < w->info.text_addr || count == 0)
        return ms_fail(err, MACHSYM_ERR_ARGUMENT,
                       "ranges must ascend, lie above the text base and have a frame", "", range->lo);
    if (count > ms_MAP_LINKS)
        return ms_fail(err, MACHSYM_ERR_LIMIT, "a map holds chains of 4096 frames at most", "", range->lo);
    for (size_t i = 0; i < count; i++) {
        if (!ms_mw_has_room(&frames[i]))
            return ms_fail(err, MACHSYM_ERR_LIMIT, "a map holds names and paths of 64 KB at most", "",
                           range->lo);
    }
    if (range->hi - w->info.text_addr > UINT32_MAX)
        return ms_fail(err, MACHSYM_ERR_LIMIT, "a map holds 4 GB of text and of data at most", "", range->lo);
    ms_zero(&item, sizeof item);
    item.lo = range->lo;
    item.hi = w->end[which] = range->hi;
    item.line.file = ms_en_file(c, &frames[0].file);
    item.line.line = ms_en_line(c, frames[0].line, frames[0].line_source == MACHSYM_SOURCE_NEAR);
    item.line.column = c->columns ? frames[0].column : 0;
    item.chain = ms_mw_root(w, c, &frames[count - 1]);
    for (size_t i = count - 1; i-- > 0;) {
        const machsym_frame *from = &frames[i + 1];
        if (frames[i].lacks_callers && i + 1 == MACHSYM_MAX_INLINE_DEPTH) {
            item.chain = ms_mw_call(w, c, &missing, from, item.chain);
            from = &missing;
        }
        item.chain = ms_mw_call(w, c, &frames[i], from, item.chain);
    }
    if (w->arena.oom || ms_mg_part_failed(w->parts[which]))
        return ms_fail_memory(err);
    ms_en_add(c, &item);
    return MACHSYM_OK;
}

/* Makes the dictionary of the text of both parts, writes them, and hands them over to a merge. Returns false
 * when memory is out. */
static bool ms_mw_end_parts(machsym_writer *w, ms_mg *m, ms_pk_dict *dict)
{
    ms_pk_spaces spaces;
    uint64_t len = 0;
    ms_zero(&spaces, sizeof spaces);
    for (size_t i = 0; i < 2; i++) {
        const ms_en_buf *texts = &w->parts[i]->coder.texts;
        ms_pk_add_space(&spaces, i, ms_span_make(texts->v, texts->len));
        len += texts->len;
    }
    uint64_t pieces = len / ms_PK_PER_SAMPLE;
    uint64_t most = ms_PK_DICT / ms_PK_SAMPLE;
    ms_pk_fill_dict(&spaces, pieces < most ? pieces : most, dict);
    m->parts = (machsym_part **)ms_arena_zeroed(&m->arena, 1, sizeof(machsym_part *));
    if (m->parts == NULL)
        return false;
    bool ok = ms_mg_end_part(w->parts[0], dict) && ms_mg_end_part(w->parts[1], dict);
    m->parts[m->part_count++] = w->parts[0];
    m->symbols = w->parts[1];
    w->parts[0] = w->parts[1] = NULL; /* the merge has them */
    return ok;
}

/* Makes the map and closes the writer. */
static machsym_result ms_mw_finish(machsym_writer *w, machsym_map **out, machsym_error *err)
{
    ms_mg m;
    ms_map_head head;
    ms_pk_dict *dict = (ms_pk_dict *)ms_arena_zeroed(&w->arena, 1, sizeof *dict);
    machsym_result result = MACHSYM_ERR_MEMORY;
    ms_zero(&m, sizeof m);
    m.allocator = w->allocator;
    m.arena = ms_arena_make(w->allocator);
    m.text_addr = w->info.text_addr;
    ms_mg_set_head(&w->info, &head);
    if (dict != NULL && ms_mw_end_parts(w, &m, dict)) {
        ms_mg_sort_pieces(&m);
        result = ms_mg_finish(&m, &head, w->info.name, dict, out, err);
    }
    ms_mg_close(&m);
    ms_mw_close(w);
    return result == MACHSYM_ERR_MEMORY ? ms_fail_memory(err) : result;
}

#endif /* ms_ROOM_map_writer */
