/* Images and maps with one interface; see source.h. */
#include "source.h"
#include "../../report/base/memory.h"
#include "../../report/base/names.h"
#include "../base/say.h"
#include "../base/values.h"
#include "../files/inside.h"
#include "../files/open.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_CHUNK = 1 << 16, NAME_CHUNK_OF_MANY = 1 << 18 };

/* ---- Files ---- */

bool symbol_uuid_is_none(const machsym_uuid *uuid)
{
    static const machsym_uuid none;
    return memcmp(uuid, &none, sizeof none) == 0;
}

/* What is known of an open file. */
static void symbol_set_info(symbol_file *file, bool asks_one)
{
    machsym_image_info info;
    machsym_map_info map;
    if (asks_one)
        machsym_image_get_info(file->image, &info);
    else
        open_read_info(file->image, &info);
    file->map = info.map;
    if (file->map != NULL) {
        machsym_map_get_info(file->map, &map);
        file->lines = map.lines;
    }
    file->info.name = info.name;
    file->info.path = info.path;
    file->info.arch = info.slice.arch;
    file->info.uuid = info.slice.uuid;
    file->info.has_uuid = info.slice.has_uuid;
    file->info.text_addr = info.text_addr;
    file->info.text_size = info.text_size;
    file->info.text_exec_addr = info.text_exec_addr;
    file->info.address_size = info.address_size;
    file->info.has_dwarf = info.has_dwarf;
    file->info.is_damaged = info.damage_count != 0;
}

machsym_result symbol_file_open(const symbol_desc *desc, symbol_file *out, machsym_error *err)
{
    memset(out, 0, sizeof *out);
    out->lines = desc->lines;
    machsym_result result = inside_image_open(&desc->open, &out->image, err);
    if (result != MACHSYM_OK)
        return result;
    symbol_set_info(out, desc->asks_one);
    if (desc->any_lines || out->lines == desc->lines)
        return MACHSYM_OK;
    machsym_lines lines = out->lines;
    symbol_file_close(out);
    out->lines = lines;
    if (err != NULL)
        *err = (machsym_error){MACHSYM_ERR_POLICY, 0, "the map was built for another line policy",
                               "map header", 56};
    return MACHSYM_ERR_POLICY;
}

void symbol_file_close(symbol_file *file)
{
    machsym_image_close(file->image);
    memset(file, 0, sizeof *file);
}

static bool symbol_is_map(const symbol_desc *desc)
{
    if (desc->open.bytes.ptr != NULL)
        return desc->open.bytes.len >= 8 && memcmp(desc->open.bytes.ptr, "MACHSYM\n", 8) == 0;
    return inside_is_map(desc->open.path);
}

bool symbol_file_open_or_say(const symbol_desc *desc, symbol_file *out)
{
    machsym_error err;
    machsym_result result = symbol_file_open(desc, out, &err);
    const char *path = desc->open.path != NULL ? desc->open.path : "standard input";
    if (result == MACHSYM_ERR_POLICY)
        say_message("%s: the map was built for --lines=%s, not --lines=%s; ask for %s, or build it again",
                    path, value_lines_name(out->lines), value_lines_name(desc->lines),
                    value_lines_name(out->lines));
    else if (result != MACHSYM_OK && result != MACHSYM_ERR_UUID && symbol_is_map(desc))
        say_error(path, &err);
    else if (result != MACHSYM_OK)
        open_say_failure(&desc->open, &err);
    else if (!desc->asks_one)
        open_say_damage(out->image);
    return result == MACHSYM_OK;
}

uint64_t symbol_file_addr(const symbol_file *file, uint64_t load_addr, uint64_t pc)
{
    return machsym_image_addr_of_pc(file->image, load_addr, pc);
}

uint64_t symbol_file_info_bytes(const symbol_file *file)
{
    machsym_cursor at = {0, 0};
    machsym_section section;
    uint64_t bytes = 0;
    while (file->map == NULL && machsym_image_next_section(file->image, &at, &section)) {
        if (str_is(section.name, "__debug_info") || str_is(section.name, "__zdebug_info"))
            bytes += section.bytes.len;
    }
    return bytes;
}

/* ---- Names are made readable once ---- */

enum {
    FIRST_NAMES = 64,           /* slots, when the first name is shown: often it is the only one */
    NAMES_KEPT = 1 << 18,       /* names may be many: about 60 MB when full */
    NAME_BYTES_KEPT = 64 << 20, /* and long: a string of 64 KB holds a name at every byte */
    UNPACKED_KEPT = 32 << 20,   /* bytes of a map's text, beside what the first lookup needed */
    /* The same of many lookups, whose addresses are sorted: names lie near those before. To unpack a block
     * again takes less than memory that is touched for the first time. */
    UNPACKED_KEPT_OF_MANY = 1 << 19
};

/* Room for text that stays where it is. */
typedef struct name_chunk {
    struct name_chunk *next;
    size_t len;
    size_t cap;
    char v[];
} name_chunk;

typedef struct name_entry {
    uint64_t ref;      /* where the name stands in memory; 0: free */
    machsym_str shown; /* never empty */
} name_entry;

struct symbol_source {
    const symbol_file *file;
    machsym_session *session;
    chunk_seat *seat;  /* NULL: the map is not in chunks */
    name_entry *names; /* by a hash of ref */
    size_t name_count;
    size_t name_cap; /* a power of 2 */
    name_chunk *chunks;
    size_t chunk_bytes; /* of all of them */
    size_t least; /* bytes of the session after its first lookup since it was trimmed; 0: there was none */
    unsigned trims;
    bool is_many;      /* lookups */
    room *memory;      /* for them; may be NULL */
    text spelled;      /* a name that is shown for the first time */
    bool lacks_memory; /* for an answer that was given */
};

static machsym_str symbol_keep_text(symbol_source *s, const char *ptr, size_t len)
{
    name_chunk *chunk = s->chunks;
    if (len == 0)
        return (machsym_str){NULL, 0};
    if (chunk == NULL || chunk->cap - chunk->len < len) {
        size_t cap = s->is_many ? NAME_CHUNK_OF_MANY : NAME_CHUNK;
        cap = len > cap ? len : cap;
        chunk = room_take(s->memory, sizeof *chunk + cap);
        *chunk = (name_chunk){s->chunks, 0, cap};
        s->chunks = chunk;
        s->chunk_bytes += cap;
    }
    char *to = chunk->v + chunk->len;
    memcpy(to, ptr, len);
    chunk->len += len;
    return (machsym_str){to, len};
}

static name_entry *symbol_name_slot(name_entry *names, size_t cap, uint64_t ref)
{
    size_t at = (size_t)(ref * 0x9e3779b97f4a7c15u >> 24) & (cap - 1);
    while (names[at].ref != 0 && names[at].ref != ref)
        at = (at + 1) & (cap - 1);
    return &names[at];
}

static void symbol_grow_names(symbol_source *s)
{
    size_t cap = s->name_cap == 0 ? FIRST_NAMES : s->name_cap * 2;
    name_entry *names = room_take(s->memory, cap * sizeof *names);
    memset(names, 0, cap * sizeof *names); /* calloc's pages, read before they are written, fault twice */
    for (size_t i = 0; i < s->name_cap; i++) {
        if (s->names[i].ref != 0)
            *symbol_name_slot(names, cap, s->names[i].ref) = s->names[i];
    }
    room_give(s->memory, s->names, s->name_cap * sizeof *s->names);
    s->names = names;
    s->name_cap = cap;
}

static void symbol_free_chunks(symbol_source *s)
{
    while (s->chunks != NULL) {
        name_chunk *next = s->chunks->next;
        room_give(s->memory, s->chunks, sizeof *s->chunks + s->chunks->cap);
        s->chunks = next;
    }
}

/* Of names that stand no more where they stood. */
static void symbol_forget_names(symbol_source *s)
{
    if (!s->is_many)
        symbol_free_chunks(s);
    if (s->names != NULL)
        memset(s->names, 0, s->name_cap * sizeof *s->names);
    s->name_count = 0;
    s->chunk_bytes = 0;
}

/* The entry of a reference; a new one has no text yet. Lives until the next call. */
static name_entry *symbol_entry_of(symbol_source *s, uint64_t ref)
{
    if (s->name_count * 2 >= s->name_cap)
        symbol_grow_names(s);
    name_entry *entry = symbol_name_slot(s->names, s->name_cap, ref);
    s->name_count += entry->ref == 0;
    entry->ref = ref;
    return entry;
}

/* Where the readable form of a frame's name is kept; NULL when it is not: chunks come and go, and their names
 * with them. Object files of a debug map do, too, but the session keeps their names. */
static name_entry *symbol_shown_entry(symbol_source *s, const machsym_frame *frame)
{
    machsym_str name = frame->linkage_name.len != 0 ? frame->linkage_name : frame->name;
    if (name.len == 0 || s->seat != NULL || s->name_count >= NAMES_KEPT)
        return NULL;
    return symbol_entry_of(s, (uintptr_t)name.ptr);
}

void symbol_spell(text *t, const machsym_frame *frame, const frame_style *style)
{
    machsym_str name = frame->linkage_name.len != 0 ? frame->linkage_name : frame->name;
    if (style->raw_names)
        text_str(t, name);
    else
        text_name(t, name, style->demangle_flags);
}

machsym_str symbol_source_shown(symbol_source *s, const machsym_frame *frame, const frame_style *style)
{
    name_entry *entry = symbol_shown_entry(s, frame);
    if (entry == NULL)
        return (machsym_str){NULL, 0};
    if (entry->shown.len == 0) {
        s->spelled.len = 0;
        symbol_spell(&s->spelled, frame, style);
        entry->shown = symbol_keep_text(s, s->spelled.v, s->spelled.len);
    }
    return entry->shown;
}

bool symbol_source_name(symbol_source *s, const machsym_frame *frame, const frame_style *style, text *t)
{
    machsym_str shown = symbol_source_shown(s, frame, style);
    text_str(t, shown);
    return shown.len != 0;
}

bool symbol_source_is_for_many(const symbol_source *s)
{
    return s->is_many;
}

/* ---- Lookups ---- */

static symbol_source *symbol_open_with(const symbol_file *file, uint32_t session_flags, size_t cache_limit,
                                       room *memory)
{
    symbol_source *s = mem_alloc(sizeof *s);
    memset(s, 0, sizeof *s);
    s->file = file;
    machsym_session_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.image = file->image;
    desc.lines = file->lines;
    desc.flags = session_flags;
    desc.cache_limit = cache_limit;
    if (memory != NULL)
        desc.allocator = room_allocator(memory);
    machsym_error err;
    if (machsym_session_open(&desc, &s->session, &err) != MACHSYM_OK)
        say_and_die(err.what);
    if (file->chunks != NULL)
        s->seat = chunk_seat_open(file->chunks, file->lines, session_flags);
    return s;
}

symbol_source *symbol_source_open(const symbol_file *file, uint32_t session_flags, size_t cache_limit)
{
    return symbol_open_with(file, session_flags, cache_limit, NULL);
}

symbol_source *symbol_source_open_many(const symbol_file *file, uint32_t session_flags, size_t cache_limit,
                                       struct room *memory)
{
    symbol_source *s = symbol_open_with(file, session_flags, cache_limit, memory);
    s->is_many = true;
    s->memory = memory;
    return s;
}

void symbol_source_close(symbol_source *s)
{
    if (s == NULL)
        return;
    open_say_lost(s->file->info.path, s->session);
    open_session_close(s->session);
    chunk_seat_close(s->seat);
    symbol_free_chunks(s);
    room_give(s->memory, s->names, s->name_cap * sizeof *s->names);
    text_free(&s->spelled);
    free(s);
}

machsym_session *symbol_source_session(const symbol_source *s)
{
    return s->file->map == NULL ? s->session : NULL;
}

const machsym_map *symbol_source_map(const symbol_source *s)
{
    return s->file->chunks == NULL ? s->file->map : NULL;
}

/* A map's names are kept by the session until it is trimmed. What was shown of them goes too, since it is
 * found by where they stand. */
static void symbol_trim_map(symbol_source *s)
{
    size_t most = s->is_many ? UNPACKED_KEPT_OF_MANY : UNPACKED_KEPT;
    if (s->file->map == NULL || s->least == 0 || machsym_session_memory(s->session) <= s->least + most)
        return;
    if (machsym_session_lacked_memory(s->session))
        status_note_memory();
    machsym_session_trim(s->session);
    s->trims++;
    s->least = 0;
    symbol_forget_names(s);
}

bool symbol_source_lacked_memory(symbol_source *s)
{
    if (s->session == NULL || !machsym_session_lacked_memory(s->session))
        return false;
    machsym_session_trim(s->session);
    s->trims++;
    s->least = 0;
    symbol_forget_names(s);
    return true;
}

size_t symbol_source_memory(const symbol_source *s)
{
    return machsym_session_memory(s->session) + s->chunk_bytes + s->name_cap * sizeof *s->names;
}

unsigned symbol_source_trims(const symbol_source *s)
{
    return s->trims;
}

const char symbol_unread[] = "symbols that it waits for could not be read: ";
const char symbol_no_memory[] = "memory ran out while names were looked up; ask again when there is more";

/* Every frame of such an answer is marked. */
static size_t symbol_note_memory(symbol_source *s, const machsym_frame *frames, size_t count, size_t cap)
{
    s->lacks_memory |= count > 0 && cap > 0 && frames[0].lacks_memory;
    return count < cap ? count : cap;
}

size_t symbol_source_frames(symbol_source *s, uint64_t addr, machsym_frame *frames, size_t cap)
{
    if (s->seat != NULL)
        return symbol_note_memory(s, frames, chunk_seat_frames(s->seat, addr, frames, cap), cap);
    symbol_trim_map(s);
    if (s->chunk_bytes > NAME_BYTES_KEPT)
        symbol_forget_names(s);
    size_t count = machsym_session_frames_at_addr(s->session, addr, frames, cap);
    if (s->least == 0)
        s->least = machsym_session_memory(s->session);
    return symbol_note_memory(s, frames, count, cap);
}

size_t symbol_source_next_folded(symbol_source *s, uint64_t addr, machsym_cursor *at, machsym_frame *frames,
                                 size_t cap)
{
    if (s->seat != NULL)
        return 0;
    size_t count = machsym_session_next_folded_at_addr(s->session, addr, at, frames, cap);
    return symbol_note_memory(s, frames, count, cap);
}

size_t symbol_source_shared_frames(symbol_source *s, uint64_t addr, machsym_frame *frames, size_t cap,
                                   size_t *sharing)
{
    const machsym_stack_addr pc = {addr, false};
    machsym_stack_answer call = {0, 0, 1, false};
    *sharing = 1;
    if (s->seat != NULL)
        return symbol_source_frames(s, addr, frames, cap);
    if (s->chunk_bytes > NAME_BYTES_KEPT)
        symbol_forget_names(s);
    size_t count = machsym_session_frames_of_stack(s->session, &pc, 1, &call, frames, cap);
    *sharing = call.function_count;
    return symbol_note_memory(s, frames, count, cap);
}

size_t symbol_source_stack(symbol_source *s, const machsym_stack_addr *pcs, size_t count,
                           machsym_stack_answer *calls, machsym_frame *frames, size_t cap)
{
    memset(calls, 0, count * sizeof *calls);
    if (s->seat != NULL)
        return 0;
    size_t total = machsym_session_frames_of_stack(s->session, pcs, count, calls, frames, cap);
    symbol_note_memory(s, frames, total, cap);
    return total;
}

const char *symbol_source_failure(const symbol_source *s)
{
    if (s->lacks_memory)
        return symbol_no_memory;
    return s->seat != NULL ? chunk_seat_failure(s->seat) : NULL;
}
