#ifndef ms_ROOM_answer_objects
#define ms_ROOM_answer_objects
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/memory.h"
#include "../base/table.h"
#include "../dwarf/forms.h"
#include "../image/debugmap.h"
#include "session.h"

/* ==== >>objects ============================================================================================
 * Job:    object files of a program without a dSYM, opened when an address is asked for that they have.
 * Offers: ms_obj_map_of, ms_obj_of, ms_obj_at, ms_obj_count, ms_obj_get, ms_obj_keep_frames.
 * Never:  says what an object file answers: it is an image with a session of its own. */

/* The debug map, read once; NULL when the image has debug info of its own, or no map that is to be
 * followed. */
static ms_ses_objects *ms_obj_map_of(machsym_session *s)
{
    uint64_t size = 0;
    if (s->has_objects || !s->image->follows_objects || !ms_ses_need(s, ms_NEEDS_UNITS))
        return s->objects;
    s->has_objects = true;
    if (s->dw.info.len != 0)
        return NULL;
    ms_ses_objects *o = (ms_ses_objects *)ms_arena_zeroed(&s->keep, 1, sizeof *o);
    for (size_t i = 0; i < s->image->mo_count && o != NULL && o->map.count == 0; i++) {
        ms_om_list(&o->map, &s->image->mo[i], &s->keep);
        size = s->image->mo[i].bytes.len;
    }
    if (o == NULL || o->map.count == 0)
        return NULL;
    size_t count = o->map.count;
    o->opened = (ms_ses_object **)ms_arena_zeroed(&s->keep, count, sizeof *o->opened);
    o->statuses = (uint8_t *)ms_arena_zeroed(&s->keep, count, 1);
    o->times = (uint64_t *)ms_arena_zeroed(&s->keep, count, sizeof *o->times);
    o->tried = (uint32_t *)ms_arena_alloc(&s->keep, count, sizeof *o->tried);
    ms_om_start_quota(&o->quota, size, &s->keep);
    o->texts.slots.arena = &s->keep;
    if (!s->keep.oom)
        s->objects = o;
    return s->objects;
}

/* Opens an object file for itself. Returns NULL, and why in *status, when it cannot answer. */
static ms_ses_object *ms_obj_new(machsym_session *program, size_t index, ms_om_quota *quota,
                                 machsym_allocator allocator, machsym_object_status *status, uint64_t *time)
{
    const ms_om_map *map = &program->objects->map;
    *status = MACHSYM_OBJECT_UNTRIED;
    ms_ses_object *object = (ms_ses_object *)allocator.alloc(allocator.user, sizeof *object);
    if (object == NULL)
        return NULL;
    ms_zero(object, sizeof *object);
    object->index = index;
    *status = ms_om_open(map, &map->v[index], &program->image->places, quota, allocator, &object->file);
    *time = object->file.time;
    if (*status != MACHSYM_OBJECT_FOUND) {
        ms_om_close(&object->file);
        allocator.free(allocator.user, object, sizeof *object);
        return NULL;
    }
    ms_dw *dw = &object->file.image.dw;
    dw->code = program->image->dw.code;
    dw->code_count = program->image->dw.code_count;
    ms_ses_start(&object->session, &object->file.image, program->lines, program->flags, program->cache_limit,
                 allocator);
    object->session.program = program;
    return object;
}

/* What an open object takes, without the empty rest of chunks that it has anyway. */
static size_t ms_obj_bytes(const ms_ses_object *object)
{
    const machsym_session *s = &object->session;
    return object->file.image.arena.live + s->keep.live + s->cache.live + s->scratch.live;
}

/* Counts the memory that an object has taken since it was last counted. If the object ran out of memory, so
 * did the program's session. */
static void ms_obj_count(ms_ses_objects *o, ms_ses_object *object)
{
    size_t live = ms_obj_bytes(object);
    o->live = o->live - object->live + live;
    object->live = live;
    ms_arena_admit(&object->session.program->keep, ms_ses_failed(&object->session));
}

/* An object of the debug map, opened if it can be. It stays open until the next ms_ses_trim, or the next
 * call. */
static ms_ses_object *ms_obj_of(machsym_session *s, size_t index)
{
    ms_ses_objects *o = s->objects;
    if (o->opened[index] != NULL)
        return o->opened[index];
    bool is_new = o->statuses[index] == MACHSYM_OBJECT_UNTRIED;
    if (!is_new && o->statuses[index] != MACHSYM_OBJECT_FOUND)
        return NULL;
    if (o->open_count >= MACHSYM_MAX_OBJECTS)
        ms_ses_close_objects(s);
    machsym_object_status status;
    ms_ses_object *object =
        ms_obj_new(s, index, is_new ? &o->quota : NULL, s->allocator, &status, &o->times[index]);
    o->statuses[index] = (uint8_t)status;
    ms_arena_admit(&s->keep, status == MACHSYM_OBJECT_UNTRIED);
    if (is_new && status != MACHSYM_OBJECT_UNTRIED)
        o->tried[o->tried_count++] = (uint32_t)index;
    if (object == NULL) {
        ms_arena_admit(&s->keep, status == MACHSYM_OBJECT_UNTRIED); /* memory is out */
        return NULL;
    }
    object->next = o->first;
    o->first = object;
    o->opened[index] = object;
    o->open_count++;
    ms_obj_count(o, object);
    return object;
}

/* The object that has a linked address; NULL when none has, or it cannot be opened. */
static ms_ses_object *ms_obj_at(machsym_session *s, uint64_t addr)
{
    if (s->has_objects && s->objects == NULL) /* asked by each lookup */
        return NULL;
    ms_ses_objects *o = ms_dw_code_at(&s->dw, addr) != NULL ? ms_obj_map_of(s) : NULL;
    if (o == NULL)
        return NULL;
    size_t index = ms_om_object_at(&o->map, addr, &s->scratch, &s->keep);
    return index < o->map.count ? ms_obj_of(s, index) : NULL;
}

/* What is known of an object of the debug map. */
static void ms_obj_get(const ms_ses_objects *o, size_t index, machsym_object_file *out)
{
    const ms_om_object *object = &o->map.v[index];
    out->path = object->path;
    out->member = object->member;
    out->time = object->time;
    out->found_time = o->times[index];
    out->status = (machsym_object_status)o->statuses[index];
}

/* ---- Texts that outlive their object file ---- */

/* Copies a text to the end of the list. Returns false when there is too much already, or memory is out. */
static bool ms_obj_add_text(ms_ses_objects *o, machsym_str text, ms_arena *arena)
{
    ms_ses_texts *texts = &o->texts;
    if (text.len > MACHSYM_KEPT_TEXT_AHEAD + MACHSYM_KEPT_TEXT * o->quota.read - texts->bytes)
        return false;
    machsym_str *v = (machsym_str *)ms_arena_grow(arena, texts->v, texts->count, &texts->cap, sizeof *v);
    char *copy = (char *)ms_arena_keep(arena, text.ptr, text.len, 1);
    texts->v = v != NULL ? v : texts->v;
    if (v == NULL || copy == NULL)
        return false;
    texts->bytes += text.len;
    v[texts->count++] = ms_str_make(copy, text.len);
    return true;
}

/* Makes a text live as long as the session's names do; empty when memory is out, or a limit is reached. */
static void ms_obj_keep_text(machsym_session *s, machsym_str *text)
{
    ms_ses_texts *texts = &s->objects->texts;
    ms_tab_text search = ms_tab_text_of(*text);
    *text = ms_str_empty();
    if (search.text.len == 0)
        return;
    for (ms_tab_slot *slot; (slot = ms_tab_next_text(&texts->slots, &search)) != NULL;) {
        if (slot->value == 0 && !ms_obj_add_text(s->objects, search.text, &s->keep))
            return;
        if (slot->value == 0)
            slot->value = (uint32_t)texts->count;
        *text = texts->v[slot->value - 1];
        if (ms_str_equal(*text, search.text))
            return;
        *text = ms_str_empty();
    }
}

static void ms_obj_keep_path(machsym_session *s, machsym_path *path)
{
    ms_obj_keep_text(s, &path->comp_dir);
    ms_obj_keep_text(s, &path->dir);
    ms_obj_keep_text(s, &path->name);
}

static void ms_obj_keep_frames(machsym_session *s, machsym_frame *frames, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ms_obj_keep_text(s, &frames[i].linkage_name);
        ms_obj_keep_text(s, &frames[i].name);
        ms_obj_keep_path(s, &frames[i].file);
    }
}

#endif /* ms_ROOM_answer_objects */
