#ifndef ms_ROOM_map_encode
#define ms_ROOM_map_encode
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "../base/memory.h"
#include "../base/table.h"
#include "pack.h"
#include "symmap.h"

/* ==== >>encode ===========================================================================================
 * Job:    writes the records of a map's DATA, each once. Format: docs/symmap.md.
 * Offers: ms_en, ms_en_init, ms_en_function, ms_en_file, ms_en_root, ms_en_call, ms_en_put_run, ms_en_add,
 *         ms_en_flush, ms_en_end_part.
 * Never:  knows where ranges and names come from. */

/* ---- Writing numbers ---- */

enum { ms_EN_ULEB = 10 }; /* bytes of the longest uleb */

/* Bytes that grow at their end. */
typedef struct ms_en_buf {
    ms_arena *arena; /* holds nothing else, so that the buffer grows where it is */
    uint8_t *v;
    size_t len;
    size_t cap;
} ms_en_buf;

/* Makes room for len bytes. Returns where they go; NULL when memory is out. */
static inline uint8_t *ms_en_room(ms_en_buf *b, size_t len)
{
    while (len > b->cap - b->len) {
        uint8_t *v = (uint8_t *)ms_arena_double(b->arena, b->v, b->len, &b->cap, 1);
        if (v == NULL)
            return NULL;
        b->v = v;
    }
    return b->v + b->len;
}

static inline uint8_t *ms_en_raw_uleb(uint8_t *to, uint64_t number)
{
    while (number >= 0x80) {
        *to++ = (uint8_t)(number | 0x80);
        number >>= 7;
    }
    *to++ = (uint8_t)number;
    return to;
}

static void ms_en_put_bytes(ms_en_buf *b, const void *ptr, size_t len)
{
    uint8_t *to = ms_en_room(b, len);
    if (to == NULL)
        return;
    ms_copy(to, ptr, len);
    b->len += len;
}

static inline void ms_en_put_ulebs(ms_en_buf *b, const uint64_t *numbers, size_t count)
{
    uint8_t *to = ms_en_room(b, ms_EN_ULEB * count);
    if (to == NULL)
        return;
    for (size_t i = 0; i < count; i++)
        to = ms_en_raw_uleb(to, numbers[i]);
    b->len = (size_t)(to - b->v);
}

static void ms_en_put_uleb(ms_en_buf *b, uint64_t number)
{
    ms_en_put_ulebs(b, &number, 1);
}

static void ms_en_put_u32(ms_en_buf *b, uint32_t number)
{
    uint8_t bytes[4];
    for (unsigned i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(number >> 8 * i);
    ms_en_put_bytes(b, bytes, 4);
}

/* Makes numbers that are near 0 small: 0, -1, 1, -2 become 0, 1, 2, 3. */
static uint64_t ms_en_zigzag(int64_t number)
{
    return number < 0 ? ((uint64_t)(-(number + 1)) << 1) | 1 : (uint64_t)number << 1;
}

/* ---- Records ---- */

/* A run that was written: its code, and where it stands. */
typedef struct ms_en_run {
    uint64_t lo;
    uint64_t hi;
    uint32_t at;     /* in the part's data */
    bool only_lines; /* its ranges have lines, but no function */
} ms_en_run;

/* Writes the records of one part. */
typedef struct ms_en {
    ms_en_buf data;
    ms_arena *arena;            /* for what lives as long as the part: runs, the bits of used */
    const ms_pk_spaces *spaces; /* the text that names may refer to; NULL: there is none yet */
    ms_en_buf *texts;           /* without spaces: where names are gathered, to be packed later */
    uint64_t text_addr;
    uint8_t *used;     /* a bit for each block of spaces that a name refers to */
    ms_tab plain;      /* from a text's hash and length to the position of its TEXT record */
    ms_tab kept;       /* from a text's hash and length to its place in texts */
    ms_tab functions;  /* from two refs to the FUNCTION record */
    ms_tab files;      /* from three refs to the file's number */
    uint32_t *file_at; /* positions of the FILE records, by number */
    size_t file_count;
    size_t file_cap;
    ms_en_run *runs;
    size_t run_count;
    size_t run_cap;
    uint64_t text_left; /* bytes of plain text that may still be written */
    bool columns;
    bool overflow; /* something does not fit the format's 32 bits */
} ms_en;

static bool ms_en_plain_is(const ms_en *c, uint32_t at, machsym_str text)
{
    ms_rd rd = ms_rd_at(ms_span_make(c->data.v, c->data.len), at);
    uint64_t len = ms_rd_uleb(&rd);
    return len == text.len && ms_rd_left(&rd) >= len && ms_equal(rd.p, text.ptr, text.len);
}

/* Writes a text into the data, once. Returns its position; 0, which is an empty text, when no more texts
 * may be written. */
static uint32_t ms_en_plain(ms_en *c, machsym_str text)
{
    ms_tab_text search = ms_tab_text_of(text);
    ms_tab_slot *slot = ms_tab_next_text(&c->plain, &search);
    for (; slot != NULL && slot->value != 0; slot = ms_tab_next_text(&c->plain, &search)) {
        if (ms_en_plain_is(c, slot->value - 1, text))
            return slot->value - 1;
    }
    if (text.len > c->text_left)
        return 0;
    c->text_left -= text.len;
    uint32_t at = (uint32_t)c->data.len;
    ms_en_put_uleb(&c->data, text.len);
    ms_en_put_bytes(&c->data, text.ptr, text.len);
    if (slot != NULL)
        slot->value = at + 1;
    return at;
}

/* Adds a name, once, to the text that will be packed. Returns its place; UINT64_MAX when it cannot be
 * packed. */
static uint64_t ms_en_keep(ms_en *c, machsym_str text)
{
    if (text.len > MACHSYM_MAX_TEXT || ms_find_byte(text.ptr, text.len, 0) != NULL ||
        c->texts->len > UINT32_MAX / 2)
        return UINT64_MAX;
    ms_tab_text search = ms_tab_text_of(text);
    ms_tab_slot *slot = ms_tab_next_text(&c->kept, &search);
    for (; slot != NULL && slot->value != 0; slot = ms_tab_next_text(&c->kept, &search)) {
        if (ms_equal(c->texts->v + slot->value - 1, text.ptr, text.len))
            return slot->value - 1;
    }
    uint8_t *to = slot != NULL ? ms_en_room(c->texts, text.len + 1) : NULL;
    if (to == NULL)
        return UINT64_MAX;
    ms_copy(to, text.ptr, text.len);
    to[text.len] = 0;
    slot->value = (uint32_t)c->texts->len + 1;
    c->texts->len += text.len + 1;
    return slot->value - 1;
}

/* The ref of a text. It is not the ref of docs/symmap.md yet: when it is odd, it has the position of the
 * TEXT record in the part's data, not the distance. */
static uint64_t ms_en_ref(ms_en *c, machsym_str text)
{
    if (text.len == 0)
        return 0;
    uint64_t place = c->spaces != NULL  ? ms_pk_place(c->spaces, text)
                     : c->texts != NULL ? ms_en_keep(c, text)
                                        : UINT64_MAX;
    if (place == UINT64_MAX)
        return (uint64_t)ms_en_plain(c, text) << 1 | 1;
    if (c->used == NULL)
        return (place + 1) << 1;
    MACHSYM_COUNT_WORK(text.len / ms_PK_BLOCK);
    for (uint64_t block = place / ms_PK_BLOCK; block <= (place + text.len) / ms_PK_BLOCK; block++)
        c->used[block / 8] |= (uint8_t)(1u << block % 8);
    return (place + 1) << 1;
}

/* Writes a ref of the record that begins at a position. */
static void ms_en_put_ref(ms_en *c, size_t record, uint64_t ref)
{
    if ((ref & 1) != 0)
        ref = (uint64_t)(record - (size_t)(ref >> 1)) << 1 | 1;
    ms_en_put_uleb(&c->data, ref);
}

/* Writes a FUNCTION record, once. Returns its position. */
static uint32_t ms_en_function(ms_en *c, machsym_str linkage_name, machsym_str name)
{
    uint64_t a = ms_en_ref(c, linkage_name);
    uint64_t b = ms_en_ref(c, name);
    ms_tab_slot *slot = ms_tab_get(&c->functions, a, b);
    if (slot == NULL)
        return 0;
    if (slot->value == 0) {
        size_t record = c->data.len;
        slot->value = (uint32_t)record + 1;
        ms_en_put_ref(c, record, a);
        ms_en_put_ref(c, record, b);
    }
    return slot->value - 1;
}

/* Writes a FILE record, once. Returns the file's number, from 1 on; 0 when the path has no name. */
static uint32_t ms_en_file(ms_en *c, const machsym_path *path)
{
    if (path->name.len == 0)
        return 0;
    uint64_t comp_dir = path->comp_dir.len != 0 ? (uint64_t)ms_en_plain(c, path->comp_dir) << 1 | 1 : 0;
    uint64_t dir = path->dir.len != 0 ? (uint64_t)ms_en_plain(c, path->dir) << 1 | 1 : 0;
    uint64_t name = (uint64_t)ms_en_plain(c, path->name) << 1 | 1;
    ms_tab_slot *slot = ms_tab_get(&c->files, comp_dir << 32 | dir, name);
    uint32_t *v = (uint32_t *)ms_arena_grow(c->arena, c->file_at, c->file_count, &c->file_cap, sizeof *v);
    if (slot == NULL || v == NULL)
        return 0;
    c->file_at = v;
    if (slot->value == 0) {
        size_t record = c->data.len;
        v[c->file_count++] = (uint32_t)record;
        slot->value = (uint32_t)c->file_count;
        ms_en_put_ref(c, record, comp_dir);
        ms_en_put_ref(c, record, dir);
        ms_en_put_ref(c, record, name);
    }
    return slot->value;
}

/* Writes the CHAIN record of a concrete function. Returns its position. */
static uint32_t ms_en_root(ms_en *c, machsym_source source, uint32_t function, bool named, uint64_t lo,
                           uint64_t size)
{
    size_t record = c->data.len;
    const uint64_t fields[4] = {(uint64_t)source << 1, named ? record - function : 0, lo - c->text_addr,
                                size};
    ms_en_put_ulebs(&c->data, fields, 4);
    return (uint32_t)record;
}

/* Writes the CHAIN record of an inlined call, whose caller's record stands before it. Returns its
 * position. */
static uint32_t ms_en_call(ms_en *c, uint32_t caller, machsym_source source, uint32_t function,
                           const ms_map_line *call)
{
    size_t record = c->data.len;
    uint64_t what = (uint64_t)(record - caller) << 2 | (source == MACHSYM_SOURCE_SYMTAB ? 2u : 0u) | 1;
    const uint64_t fields[5] = {what, record - function, call->file, call->line, call->column};
    ms_en_put_ulebs(&c->data, fields, c->columns ? 5 : 4);
    return (uint32_t)record;
}

/* A range before it is written. */
typedef struct ms_en_item {
    uint64_t lo;
    uint64_t hi;
    uint32_t chain; /* position of its CHAIN record */
    ms_map_line line;
} ms_en_item;

static bool ms_en_same(const ms_en_item *a, const ms_en_item *b)
{
    return a->chain == b->chain && a->line.file == b->line.file && a->line.line == b->line.line &&
           a->line.column == b->line.column;
}

/* Writes a RUN record, of ranges that follow each other. A range takes five numbers at most. */
static void ms_en_put_run(ms_en *c, const ms_en_item *items, size_t count, bool only_lines)
{
    ms_en_run *runs = (ms_en_run *)ms_arena_grow(c->arena, c->runs, c->run_count, &c->run_cap, sizeof *runs);
    if (runs == NULL)
        return;
    c->runs = runs;
    size_t at = c->data.len;
    runs[c->run_count].lo = items[0].lo;
    runs[c->run_count].hi = items[count - 1].hi;
    runs[c->run_count].at = (uint32_t)at;
    runs[c->run_count].only_lines = only_lines;
    c->run_count++;
    uint8_t *to = ms_en_room(&c->data, ms_EN_ULEB + 5 * ms_EN_ULEB * count);
    if (to == NULL)
        return;
    to = ms_en_raw_uleb(to, count);
    ms_en_item previous;
    ms_zero(&previous, sizeof previous);
    for (size_t i = 0; i < count; i++) {
        const ms_en_item *item = &items[i];
        bool new_chain = i == 0 || item->chain != previous.chain;
        bool new_file = item->line.file != previous.line.file;
        int64_t step = (int64_t)item->line.line - (int64_t)previous.line.line;
        to = ms_en_raw_uleb(to, item->hi - item->lo);
        to = ms_en_raw_uleb(to, ms_en_zigzag(step) << 2 | (new_file ? 2u : 0u) | (new_chain ? 1u : 0u));
        if (new_chain)
            to = ms_en_raw_uleb(to, only_lines ? 0 : at - item->chain);
        if (new_file)
            to = ms_en_raw_uleb(to, item->line.file);
        if (c->columns)
            to = ms_en_raw_uleb(to, item->line.column);
        previous = *item;
    }
    c->data.len = (size_t)(to - c->data.v);
}

/* Ranges that follow each other and are not written yet. */
typedef struct ms_en_queue {
    ms_en_item v[ms_MAP_RUN_MAX];
    size_t count;
    bool only_lines;
} ms_en_queue;

static void ms_en_flush(ms_en *c, ms_en_queue *q)
{
    if (q->count > 0)
        ms_en_put_run(c, q->v, q->count, q->only_lines);
    q->count = 0;
}

/* Adds a range. When the range before ends where it begins and says the same, that one becomes longer
 * instead. */
static void ms_en_add(ms_en *c, ms_en_queue *q, const ms_en_item *item, bool only_lines)
{
    ms_en_item *last = q->count > 0 ? &q->v[q->count - 1] : NULL;
    if (last != NULL && (last->hi != item->lo || q->only_lines != only_lines)) {
        ms_en_flush(c, q);
        last = NULL;
    }
    if (last != NULL && ms_en_same(last, item)) {
        last->hi = item->hi;
        return;
    }
    if (q->count == ms_MAP_RUN_MAX)
        ms_en_flush(c, q);
    q->only_lines = only_lines;
    q->v[q->count++] = *item;
}

/* Ends a part with its file table. Returns the position of the table. */
static uint32_t ms_en_end_part(ms_en *c)
{
    uint32_t at = (uint32_t)c->data.len;
    ms_en_put_u32(&c->data, (uint32_t)c->file_count);
    for (size_t i = 0; i < c->file_count; i++)
        ms_en_put_u32(&c->data, c->file_at[i]);
    c->overflow |= c->data.len > 0x7fffffff;
    return at;
}

static void ms_en_init(ms_en *c, ms_arena *data_arena, ms_arena *arena, ms_arena *tables)
{
    ms_zero(c, sizeof *c);
    c->data.arena = data_arena;
    c->arena = arena;
    c->plain.arena = c->kept.arena = c->functions.arena = c->files.arena = tables;
    c->text_left = UINT64_MAX;
    ms_en_put_uleb(&c->data, 0); /* no record stands at 0, so that a distance of 0 is free to mean none */
}

#endif /* ms_ROOM_map_encode */
