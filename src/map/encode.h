#ifndef ms_ROOM_map_encode
#define ms_ROOM_map_encode
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/memory.h"
#include "../base/table.h"
#include "../symmap/pack.h"
#include "../symmap/symmap.h"

/* ==== >>encode ===========================================================================================
 * Job:    gathers the ranges of a part of a map, then writes them as runs with their text. Format:
 *         docs/symmap.md.
 * Offers: ms_en, ms_en_init, ms_en_reserve, ms_en_function, ms_en_file, ms_en_root, ms_en_call, ms_en_line,
 *         ms_en_add, ms_en_is_full, ms_en_write, ms_en_finish.
 * Never:  knows where ranges and names come from. */

enum {
    /* A run of one part of several goes on after a gap of at most this many bytes: code between functions
     * that fills them up to their alignment. In a larger gap there may be runs of another part. */
    ms_EN_MOST_GAP = 64,
    /* A run with more links takes no gap. Where a gap holds a run of another part, the run is written once
     * more for what follows, and that must not multiply large ones. */
    ms_EN_GAP_LINKS = 256,
    /* A full run goes on while it has more links than this for each range: a long chain is written once
     * for many ranges. Real runs have one for each range at most. */
    ms_EN_LINKS_PER_RANGE = 4,
    /* A run with more links takes no further chains. One chain may have ms_MAP_LINKS more. */
    ms_EN_MOST_LINKS = 8192,
    /* Once this many links or ranges are gathered, their runs are written: they are all in the cache then. */
    ms_EN_GATHERED = 8192,
    ms_EN_MOST_NARROW = 0xffff, /* the largest start that 2 bytes hold */
    ms_EN_MOST_RANGES = 0x7ffe  /* in a run */
};

/* ---- Bytes ---- */

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
        ms_arena_drop_older(b->arena);
    }
    return b->v + b->len;
}

/* Adds a text: its length as a uleb, then its bytes. */
static void ms_en_put_text(ms_en_buf *b, machsym_str text)
{
    uint8_t *to = ms_en_room(b, 10 + text.len); /* a uleb has 10 bytes at most */
    size_t rest = text.len;
    if (to == NULL)
        return;
    for (; rest >= 0x80; rest >>= 7)
        *to++ = (uint8_t)(rest | 0x80);
    *to++ = (uint8_t)rest;
    ms_copy(to, text.ptr, text.len);
    b->len = (size_t)(to - b->v) + text.len;
}

enum { ms_EN_STORED = 8 }; /* bytes that are written for a field; the next one overwrites those it has not */

/* Writes a field of a number of bytes, 4 at most. Returns where the next one begins. */
static inline uint8_t *ms_en_put(uint8_t *to, uint32_t number, unsigned bytes)
{
    ms_map_store_u32(to, number);
    return to + bytes;
}

/* Writes a field of a number of bytes, 8 at most. */
static inline uint8_t *ms_en_put_long(uint8_t *to, uint64_t number, unsigned bytes)
{
    ms_map_store_u32(to, (uint32_t)number); /* in place: ms_map_store_u64 is a call */
    ms_map_store_u32(to + 4, (uint32_t)(number >> 32));
    return to + bytes;
}

/* How many bytes a number has. */
static uint8_t ms_en_width(uint64_t number)
{
    uint8_t width = 0;
    for (; number != 0; number >>= 8)
        width++;
    return width;
}

/* Makes numbers that are near 0 small: 0, -1, 1, -2 become 0, 1, 2, 3. */
static uint64_t ms_en_zigzag(uint64_t number)
{
    return number << 1 ^ (number >> 63 != 0 ? UINT64_MAX : 0);
}

/* ---- What a part has ---- */

/* A link of a chain: an inlined call, or the concrete function that ends the chain. */
typedef struct ms_en_link {
    uint64_t start; /* of the concrete function, from the text base */
    uint64_t size;
    uint32_t caller; /* 0: this is the concrete function */
    uint32_t function;
    ms_map_line call;
    uint32_t source;
    uint32_t run; /* the run that it was numbered in last */
    uint32_t number;
} ms_en_link;

/* A function's names, or a path. */
typedef struct ms_en_text {
    uint64_t place; /* of its texts: in the gathered text; once it is placed, in TEXT */
    uint32_t run;   /* the run that it was numbered in last */
    uint32_t number;
} ms_en_text;

typedef struct ms_en_list {
    ms_en_text *v;
    size_t count;
    size_t cap;
    size_t placed; /* how many have their place in TEXT */
} ms_en_list;

/* A range, with what holds there. */
typedef struct ms_en_item {
    uint64_t lo;
    uint64_t hi;
    uint32_t chain; /* its innermost link; 0: lines, but no function */
    ms_map_line line;
} ms_en_item;

/* A run that was written. */
typedef struct ms_en_run {
    uint32_t at; /* in the part's data */
    uint32_t len;
} ms_en_run;

/* Code without a gap that a run answers for. */
typedef struct ms_en_piece {
    uint64_t lo;
    uint64_t hi;
    uint32_t run;
    bool only_lines; /* its ranges have lines, but no function */
} ms_en_piece;

/* Numbers that grow at their end. */
typedef struct ms_en_numbers {
    uint32_t *v;
    size_t count;
    size_t cap;
} ms_en_numbers;

/* The run that is being gathered: ranges from first on, and what they use, by their numbers in the run. */
typedef struct ms_en_open {
    uint32_t number;
    size_t first;  /* its first item */
    size_t count;  /* items */
    size_t ranges; /* with the gaps between items */
    ms_en_numbers roots;
    ms_en_numbers calls;
    ms_en_numbers files;
    uint8_t bytes[ms_MAP_WIDTHS];
} ms_en_open;

/* Gathers what a part has, then writes it. */
typedef struct ms_en {
    ms_en_buf data;             /* the runs that were written */
    ms_en_buf packed;           /* the packed text */
    ms_en_buf texts;            /* the text before it is packed; what is packed is dropped */
    uint64_t texts_dropped;     /* whole blocks: bytes of text that were gathered before those in texts */
    ms_arena *arena;            /* for what lives as long as the part: runs, pieces */
    ms_arena *tables;           /* for what is dropped when the part is written */
    ms_arena *item_arena;       /* dropped then; holds nothing else */
    const ms_pk_spaces *spaces; /* string tables of the image; NULL: there are none */
    uint64_t text_addr;
    ms_tab texts_seen;     /* from a text's hash and length to its number in contents */
    machsym_str *contents; /* texts that lie in no string table, by number */
    size_t content_count;
    size_t content_cap;
    ms_tab function_numbers; /* from the keys of two names to the function's number */
    ms_tab folders;          /* from the keys of two texts to a number */
    ms_tab file_numbers;     /* from the number of the folder and the key of the name to the file's number */
    ms_en_list functions;    /* by number - 1 */
    ms_en_list files;        /* by number - 1 */
    ms_en_link *links;       /* by number - 1 */
    size_t link_count;
    size_t link_cap;
    ms_en_item *items;
    size_t item_count;
    size_t item_cap;
    ms_en_open open;
    ms_en_run *runs;
    size_t run_count;
    size_t run_cap;
    ms_en_piece *pieces;
    size_t piece_count;
    size_t piece_cap;
    uint64_t *units;    /* of TEXT, by block: where it begins */
    size_t block_count; /* blocks that are packed */
    size_t block_cap;
    uint64_t most_gap;  /* a larger one ends a run */
    uint64_t text_left; /* bytes of text that may still be gathered */
    bool columns;
    bool tells_near; /* a line is stored with a bit that says whether it is one near by */
    bool overflow;   /* something does not fit the format's 32 bits */
    bool lost_text;  /* some was refused: no more could be gathered */
} ms_en;

static void ms_en_init(ms_en *c, ms_arena *arena, ms_arena *tables, ms_arena *item_arena)
{
    ms_zero(c, sizeof *c);
    c->arena = arena;
    c->tables = tables;
    c->item_arena = item_arena;
    c->texts_seen.arena = c->function_numbers.arena = tables;
    c->folders.arena = c->file_numbers.arena = tables;
    c->most_gap = c->text_left = UINT64_MAX;
}

/* Makes room for what a large part gathers before it is written: what grows is copied, and its old places
 * stay in the arena. */
static void ms_en_reserve(ms_en *c)
{
    const size_t count = 2 * ms_EN_GATHERED; /* it is written at the next function's begin */
    c->links = (ms_en_link *)ms_arena_alloc(c->tables, count, sizeof *c->links);
    c->items = (ms_en_item *)ms_arena_alloc(c->item_arena, count, sizeof *c->items);
    c->link_cap = c->links != NULL ? count : 0;
    c->item_cap = c->items != NULL ? count : 0;
    ms_tab_enlarge(&c->function_numbers, count); /* a part has 3,000 to 18,000 */
}

/* ---- Text ---- */

/* Keys of texts that lie in a string table have this bit. */
#define ms_EN_TABLE ((uint64_t)1 << 48)

/* Whether so much more text may be gathered. */
static bool ms_en_spend_text(ms_en *c, uint64_t len)
{
    bool enough = len <= c->text_left;
    c->text_left -= enough ? len : 0;
    c->lost_text |= !enough;
    return enough;
}

/* What tells a text from others: where it lies in the string tables, or the number of its content. 0: it is
 * empty, or cannot be kept. */
static uint64_t ms_en_key(ms_en *c, machsym_str text)
{
    if (text.len == 0 || text.len > MACHSYM_MAX_TEXT)
        return 0;
    uint64_t place = c->spaces != NULL ? ms_pk_place(c->spaces, text) : UINT64_MAX;
    if (place != UINT64_MAX)
        return place | ms_EN_TABLE;
    ms_tab_text search = ms_tab_text_of(text);
    ms_tab_slot *slot = ms_tab_next_text(&c->texts_seen, &search);
    for (; slot != NULL && slot->value != 0; slot = ms_tab_next_text(&c->texts_seen, &search)) {
        machsym_str seen = c->contents[slot->value - 1];
        if (seen.len == text.len && ms_equal(seen.ptr, text.ptr, text.len))
            return slot->value;
    }
    if (slot == NULL || !ms_en_spend_text(c, text.len))
        return 0;
    machsym_str *v =
        (machsym_str *)ms_arena_grow(c->tables, c->contents, c->content_count, &c->content_cap, sizeof *v);
    char *copy = (char *)ms_arena_alloc(c->tables, text.len, 1);
    c->contents = v != NULL ? v : c->contents;
    if (v == NULL || copy == NULL)
        return 0;
    ms_copy(copy, text.ptr, text.len);
    v[c->content_count++] = ms_str_make(copy, text.len);
    slot->value = (uint32_t)c->content_count;
    return slot->value;
}

/* Adds texts to a list, which follow each other. Returns their number there, from 1 on; 0 when memory is out,
 * or no more text may be gathered. */
static uint32_t ms_en_add_texts(ms_en *c, ms_en_list *list, const machsym_str *texts, unsigned count)
{
    uint64_t len = 0;
    for (unsigned i = 0; i < count; i++)
        len += texts[i].len;
    if (!ms_en_spend_text(c, len))
        return 0;
    ms_en_text *v = (ms_en_text *)ms_arena_grow(c->tables, list->v, list->count, &list->cap, sizeof *v);
    if (v == NULL)
        return 0;
    if (c->texts.len == 0 && c->texts_dropped == 0)
        ms_en_put_text(&c->texts, ms_str_empty()); /* place 0 means none */
    list->v = v;
    v += list->count;
    v->place = c->texts_dropped + c->texts.len;
    v->run = v->number = 0;
    for (unsigned i = 0; i < count; i++)
        ms_en_put_text(&c->texts, texts[i]);
    return (uint32_t)++list->count;
}

/* The number of a function, from 1 on; 0: it has no name. */
static uint32_t ms_en_function(ms_en *c, machsym_str linkage_name, machsym_str name)
{
    uint64_t a = ms_en_key(c, linkage_name);
    uint64_t b = ms_en_key(c, name);
    ms_tab_slot *slot = a != 0 || b != 0 ? ms_tab_get(&c->function_numbers, a, b) : NULL;
    if (slot == NULL)
        return 0;
    if (slot->value == 0) {
        machsym_str texts[2] = {a != 0 ? linkage_name : ms_str_empty(), b != 0 ? name : ms_str_empty()};
        slot->value = ms_en_add_texts(c, &c->functions, texts, 2);
    }
    return slot->value;
}

/* The number of a file, from 1 on; 0 when the path has no name. */
static uint32_t ms_en_file(ms_en *c, const machsym_path *path)
{
    uint64_t name = ms_en_key(c, path->name);
    if (name == 0)
        return 0;
    uint64_t comp_dir = ms_en_key(c, path->comp_dir);
    uint64_t dir = ms_en_key(c, path->dir);
    ms_tab_slot *folder = ms_tab_get(&c->folders, comp_dir, dir);
    if (folder == NULL)
        return 0;
    if (folder->value == 0)
        folder->value = (uint32_t)c->folders.count;
    ms_tab_slot *slot = ms_tab_get(&c->file_numbers, folder->value, name);
    if (slot == NULL)
        return 0;
    if (slot->value == 0) {
        machsym_str texts[3] = {comp_dir != 0 ? path->comp_dir : ms_str_empty(),
                                dir != 0 ? path->dir : ms_str_empty(), path->name};
        slot->value = ms_en_add_texts(c, &c->files, texts, 3);
    }
    return slot->value;
}

/* ---- Ranges ---- */

/* A new link; its number is the count of links. NULL when memory is out. */
static inline ms_en_link *ms_en_add_link(ms_en *c)
{
    ms_en_link *v = (ms_en_link *)ms_arena_grow(c->tables, c->links, c->link_count, &c->link_cap, sizeof *v);
    if (v == NULL)
        return NULL;
    c->links = v;
    v += c->link_count++;
    ms_zero(v, sizeof *v);
    return v;
}

/* Adds a concrete function. Returns its number, from 1 on; 0 when memory is out. */
static uint32_t ms_en_root(ms_en *c, machsym_source source, uint32_t function, uint64_t lo, uint64_t size)
{
    ms_en_link *link = ms_en_add_link(c);
    if (link == NULL)
        return 0;
    link->source = (uint32_t)source;
    link->function = function;
    link->start = lo - c->text_addr;
    link->size = size;
    return (uint32_t)c->link_count;
}

/* Adds an inlined call, whose caller was added before it. */
static uint32_t ms_en_call(ms_en *c, uint32_t caller, machsym_source source, uint32_t function,
                           const ms_map_line *call)
{
    ms_en_link *link = ms_en_add_link(c);
    if (link == NULL)
        return 0;
    link->source = (uint32_t)source;
    link->function = function;
    link->caller = caller;
    link->call = *call;
    return (uint32_t)c->link_count;
}

/* The link of a number. */
static inline ms_en_link *ms_en_link_at(const ms_en *c, uint32_t number)
{
    return &c->links[number - 1];
}

/* What is stored for a line. */
static inline uint32_t ms_en_line(const ms_en *c, uint32_t line, bool is_near)
{
    if (!c->tells_near)
        return line;
    return (line <= UINT32_MAX >> 1 ? line : UINT32_MAX >> 1) << 1 | is_near;
}

static bool ms_en_same(const ms_en_item *a, const ms_en_item *b)
{
    return a->chain == b->chain && a->line.file == b->line.file && a->line.line == b->line.line &&
           a->line.column == b->line.column;
}

/* Makes room for more items. Returns false when memory is out. */
static ms_NOINLINE bool ms_en_more_items(ms_en *c)
{
    ms_en_item *v =
        (ms_en_item *)ms_arena_double(c->item_arena, c->items, c->item_count, &c->item_cap, sizeof *v);
    c->items = v != NULL ? v : c->items;
    return v != NULL;
}

/* Adds a range. When the range before ends where it begins and says the same, that one becomes longer
 * instead. */
static inline void ms_en_add(ms_en *c, const ms_en_item *item)
{
    ms_en_item *last = c->item_count > 0 ? &c->items[c->item_count - 1] : NULL;
    if (last != NULL && last->hi == item->lo && ms_en_same(last, item))
        last->hi = item->hi;
    else if (c->item_count < c->item_cap || ms_en_more_items(c))
        c->items[c->item_count++] = *item;
}

/* ---- Packing ---- */

/* Where the next block begins. Returns false when memory is out. */
static bool ms_en_set_unit(ms_en *c)
{
    uint64_t *v = (uint64_t *)ms_arena_grow(c->tables, c->units, c->block_count, &c->block_cap, sizeof *v);
    if (v == NULL)
        return false;
    c->units = v;
    v[c->block_count] = c->packed.len / ms_MAP_UNIT;
    return true;
}

/* Packs a block of the text that was gathered. */
static void ms_en_pack_block(ms_en *c, const ms_pk_dict *dict, const uint8_t *text)
{
    uint8_t packed[2 * ms_PK_BLOCK];
    size_t size = ms_pk_pack(dict, text, ms_PK_BLOCK, packed);
    size_t whole = (2 + size + ms_MAP_UNIT - 1) / ms_MAP_UNIT * ms_MAP_UNIT;
    uint8_t *to = ms_en_room(&c->packed, whole);
    if (to == NULL)
        return;
    ms_map_store_u16(to, (uint32_t)size);
    ms_copy(to + 2, packed, size);
    ms_zero(to + 2 + size, whole - 2 - size);
    c->packed.len += whole;
    c->block_count++;
    ms_en_set_unit(c);
}

/* Turns the places of texts to those in TEXT. They lie in blocks that are packed, or in the next one. */
static void ms_en_place_texts(const ms_en *c, ms_en_list *list)
{
    for (; list->placed < list->count; list->placed++) {
        uint64_t place = list->v[list->placed].place;
        list->v[list->placed].place = c->units[place / ms_PK_BLOCK] << ms_PK_BLOCK_BITS | place % ms_PK_BLOCK;
    }
}

/* Packs the blocks that are full, and places all texts. */
static void ms_en_pack(ms_en *c, const ms_pk_dict *dict)
{
    if (c->block_count == 0 && !ms_en_set_unit(c))
        return;
    size_t done = 0;
    for (; c->texts.len - done >= ms_PK_BLOCK && !c->packed.arena->oom && !c->tables->oom;
         done += ms_PK_BLOCK)
        ms_en_pack_block(c, dict, c->texts.v + done);
    if (c->packed.arena->oom || c->tables->oom)
        return;
    c->texts.len -= done;
    c->texts_dropped += done;
    if (done > 0) /* the rest is shorter than a block: it does not overlap its new place */
        ms_copy(c->texts.v, c->texts.v + done, c->texts.len);
    ms_en_place_texts(c, &c->functions);
    ms_en_place_texts(c, &c->files);
}

/* ---- Runs ---- */

static bool ms_en_list_number(ms_en *c, ms_en_numbers *list, uint32_t number)
{
    uint32_t *v = (uint32_t *)ms_arena_grow(c->tables, list->v, list->count, &list->cap, sizeof *v);
    if (v == NULL)
        return false;
    list->v = v;
    v[list->count++] = number;
    return true;
}

/* Gives a file a number in the open run, unless it has one. */
static void ms_en_use_file(ms_en *c, uint32_t number)
{
    if (number == 0)
        return;
    ms_en_text *file = &c->files.v[number - 1];
    if (file->run == c->open.number || !ms_en_list_number(c, &c->open.files, number))
        return;
    file->run = c->open.number;
    file->number = (uint32_t)c->open.files.count;
}

/* How many links of a chain have no number in the open run. */
static size_t ms_en_new_links(const ms_en *c, uint32_t chain)
{
    size_t count = 0;
    for (; chain != 0 && ms_en_link_at(c, chain)->run != c->open.number;
         chain = ms_en_link_at(c, chain)->caller)
        count++;
    MACHSYM_COUNT_WORK(1 + count);
    return count;
}

/* Gives the first count links of a chain, which have no numbers yet, numbers in the open run, callers
 * first. */
static void ms_en_use_chain(ms_en *c, uint32_t chain, size_t count)
{
    ms_en_open *run = &c->open;
    size_t first = run->calls.count;
    for (size_t i = 0; i < count; i++) {
        if (!ms_en_list_number(c, &run->calls, 0))
            return;
    }
    for (size_t at = first + count; at > first; chain = ms_en_link_at(c, chain)->caller) {
        ms_en_link *link = ms_en_link_at(c, chain);
        link->run = run->number;
        run->calls.v[--at] = chain;
        ms_en_use_file(c, link->call.file);
    }
    if (ms_en_link_at(c, run->calls.v[first])->caller == 0) { /* it belongs to the others of its kind */
        uint32_t root = run->calls.v[first];
        for (size_t i = first + 1; i < run->calls.count; i++)
            run->calls.v[i - 1] = run->calls.v[i];
        run->calls.count--;
        ms_en_list_number(c, &run->roots, root);
    }
}

static uint64_t ms_en_links_of(const ms_en_open *run)
{
    return run->roots.count + run->calls.count;
}

/* Whether the open run, which has items, can take one more, with a number of new links. */
static bool ms_en_fits(const ms_en *c, const ms_en_item *item, size_t new_links)
{
    const ms_en_open *run = &c->open;
    const ms_en_item *last = item - 1;
    uint64_t links = ms_en_links_of(run);
    bool has_gap = item->lo != last->hi;
    if (item->lo < last->hi || item->lo - last->hi > c->most_gap || (has_gap && links > ms_EN_GAP_LINKS))
        return false;
    bool is_full =
        run->ranges + has_gap >= ms_MAP_RUN_MAX || item->lo - c->items[run->first].lo > ms_EN_MOST_NARROW;
    if ((is_full && run->ranges * ms_EN_LINKS_PER_RANGE >= links) ||
        run->ranges + has_gap >= ms_EN_MOST_RANGES)
        return false;
    return links + new_links <= ms_EN_MOST_LINKS;
}

static void ms_en_widen(uint64_t *most, uint64_t number)
{
    *most |= number; /* as many bytes as the largest has */
}

/* What a root's start is counted from in the open run. */
static uint64_t ms_en_base(const ms_en *c)
{
    return c->items[c->open.first].lo - c->text_addr;
}

/* Where the texts of the open run stand. */
typedef struct ms_en_places {
    uint64_t least; /* UINT64_MAX: there are none */
    uint64_t most;
} ms_en_places;

static inline void ms_en_see_place(ms_en_places *places, uint64_t place)
{
    places->least = place < places->least ? place : places->least;
    places->most = place > places->most ? place : places->most;
}

/* Numbers links that were listed, from a number on, and sees what their fields need. */
static void ms_en_number_links(ms_en *c, const ms_en_numbers *list, uint32_t number, uint64_t *most,
                               ms_en_places *out)
{
    const ms_en_text *functions = c->functions.v;
    const uint64_t base = ms_en_base(c);
    ms_en_places places = *out;
    for (size_t i = 0; i < list->count; i++) {
        ms_en_link *link = ms_en_link_at(c, list->v[i]);
        link->number = number++;
        if (link->function != 0)
            ms_en_see_place(&places, functions[link->function - 1].place);
        ms_en_widen(&most[ms_MAP_LINE], link->call.line);
        ms_en_widen(&most[ms_MAP_COLUMN], link->call.column);
        if (link->caller != 0)
            continue;
        ms_en_widen(&most[ms_MAP_START], ms_en_zigzag(base - link->start));
        ms_en_widen(&most[ms_MAP_EXTENT], link->size);
    }
    *out = places;
}

/* The field that tells the names of a link's function; functions are those of the part. */
static inline uint64_t ms_en_name_field(const ms_en_text *functions, const ms_en_link *link, uint64_t text)
{
    bool is_symbol = link->caller != 0 && link->source == (uint32_t)MACHSYM_SOURCE_SYMTAB;
    return (link->function != 0 ? (functions[link->function - 1].place - text) << 1 : 0) | is_symbol;
}

/* The field that tells the path of a file of the open run. */
static inline uint64_t ms_en_file_field(const ms_en *c, size_t i, uint64_t text)
{
    return (c->files.v[c->open.files.v[i] - 1].place - text) << 1;
}

/* Numbers the links of the open run, concrete functions first, and decides how many bytes each field has.
 * Returns what places of texts count from: the unit below the first one. 0 means none, so the first one has
 * more. */
static uint64_t ms_en_set_widths(ms_en *c)
{
    ms_en_open *run = &c->open;
    uint64_t most[ms_MAP_WIDTHS] = {0, 0, 0, 0, 0, 0, 0, 0};
    ms_en_places places = {UINT64_MAX, 0};
    ms_en_widen(&most[ms_MAP_LINK], ms_MAP_FIRST_LINK + ms_en_links_of(run) - 1);
    ms_en_widen(&most[ms_MAP_FILE], run->files.count);
    for (size_t i = 0; i < run->count; i++) {
        ms_en_widen(&most[ms_MAP_LINE], c->items[run->first + i].line.line);
        ms_en_widen(&most[ms_MAP_COLUMN], c->items[run->first + i].line.column);
    }
    ms_en_number_links(c, &run->roots, ms_MAP_FIRST_LINK, most, &places);
    ms_en_number_links(c, &run->calls, ms_MAP_FIRST_LINK + (uint32_t)run->roots.count, most, &places);
    for (size_t i = 0; i < run->files.count; i++)
        ms_en_see_place(&places, c->files.v[run->files.v[i] - 1].place);
    uint64_t text = places.most == 0 ? 0 : (places.least - 1) >> ms_PK_BLOCK_BITS << ms_PK_BLOCK_BITS;
    ms_en_widen(&most[ms_MAP_PLACE], (places.most - text) << 1); /* the lowest bit is a flag */
    for (unsigned i = 0; i < ms_MAP_WIDTHS; i++) {
        uint8_t usual = (uint8_t)(ms_MAP_USUAL >> 8 * i);
        uint8_t need = ms_en_width(most[i]);
        run->bytes[i] = need > usual ? need : usual;
    }
    const ms_en_item *last = &c->items[run->first + run->count - 1];
    run->bytes[ms_MAP_STARTS] = last->lo - c->items[run->first].lo > ms_EN_MOST_NARROW ? 4 : 2;
    return text;
}

/* Writes starts. A gap is a range of its own. Returns where they end, as the next ones do. */
static uint8_t *ms_en_put_starts(const ms_en *c, uint8_t *to)
{
    const ms_en_item *items = c->items + c->open.first;
    unsigned bytes = c->open.bytes[ms_MAP_STARTS];
    for (size_t i = 1; i < c->open.count; i++) {
        if (items[i].lo != items[i - 1].hi)
            to = ms_en_put(to, (uint32_t)(items[i - 1].hi - items[0].lo), bytes);
        to = ms_en_put(to, (uint32_t)(items[i].lo - items[0].lo), bytes);
    }
    return to;
}

static uint8_t *ms_en_put_roots(const ms_en *c, uint64_t text, uint8_t *to)
{
    const uint8_t *bytes = c->open.bytes;
    for (size_t i = 0; i < c->open.roots.count; i++) {
        const ms_en_link *root = ms_en_link_at(c, c->open.roots.v[i]);
        *to++ = (uint8_t)root->source;
        to = ms_en_put_long(to, ms_en_name_field(c->functions.v, root, text), bytes[ms_MAP_PLACE]);
        to = ms_en_put_long(to, ms_en_zigzag(ms_en_base(c) - root->start), bytes[ms_MAP_START]);
        to = ms_en_put_long(to, root->size, bytes[ms_MAP_EXTENT]);
    }
    return to;
}

static uint8_t *ms_en_put_files(const ms_en *c, uint64_t text, uint8_t *to)
{
    for (size_t i = 0; i < c->open.files.count; i++)
        to = ms_en_put_long(to, ms_en_file_field(c, i, text), c->open.bytes[ms_MAP_PLACE]);
    return to;
}

/* What it takes to write lines and calls. The loops below have it in the processor's registers: what they
 * write are bytes, which might else be those of any struct. */
typedef struct ms_en_ink {
    const ms_en_text *functions;
    const ms_en_text *files;
    const ms_en_link *links;
    unsigned link; /* bytes of the fields */
    unsigned file;
    unsigned line;
    unsigned column;
    unsigned place;
} ms_en_ink;

static inline ms_en_ink ms_en_ink_of(const ms_en *c)
{
    const uint8_t *bytes = c->open.bytes;
    ms_en_ink ink;
    ink.functions = c->functions.v;
    ink.files = c->files.v;
    ink.links = c->links;
    ink.link = bytes[ms_MAP_LINK];
    ink.file = bytes[ms_MAP_FILE];
    ink.line = bytes[ms_MAP_LINE];
    ink.column = bytes[ms_MAP_COLUMN];
    ink.place = bytes[ms_MAP_PLACE];
    return ink;
}

/* Writes what ranges and calls begin with: the number of a link, and where code comes from. */
static inline uint8_t *ms_en_put_line(const ms_en_ink *ink, uint32_t link, const ms_map_line *line,
                                      uint8_t *to)
{
    uint32_t file = line->file != 0 ? ink->files[line->file - 1].number : 0;
    uint32_t number = line->line;
    uint32_t column = line->column;
    to = ms_en_put(to, link, ink->link);
    to = ms_en_put(to, file, ink->file);
    to = ms_en_put(to, number, ink->line);
    return ms_en_put(to, column, ink->column);
}

static uint8_t *ms_en_put_ranges(const ms_en *c, uint8_t *to)
{
    const ms_en_ink ink = ms_en_ink_of(c);
    const ms_en_item *item = c->items + c->open.first;
    const ms_en_item *end = item + c->open.count;
    const ms_map_line nowhere = {0, 0, 0};
    for (uint64_t hi = item->lo; item < end; hi = item->hi, item++) {
        uint32_t chain = item->chain;
        if (item->lo != hi)
            to = ms_en_put_line(&ink, ms_MAP_NOTHING, &nowhere, to);
        to = ms_en_put_line(&ink, chain != 0 ? ink.links[chain - 1].number : (uint32_t)ms_MAP_ONLY_LINES,
                            &item->line, to);
    }
    return to;
}

static uint8_t *ms_en_put_calls(const ms_en *c, uint64_t text, uint8_t *to)
{
    const ms_en_ink ink = ms_en_ink_of(c);
    const uint32_t *numbers = c->open.calls.v;
    const size_t count = c->open.calls.count;
    for (size_t i = 0; i < count; i++) {
        const ms_en_link *call = &ink.links[numbers[i] - 1];
        uint64_t name = ms_en_name_field(ink.functions, call, text);
        to = ms_en_put_line(&ink, ink.links[call->caller - 1].number, &call->call, to);
        to = ms_en_put_long(to, name, ink.place);
    }
    return to;
}

/* Adds a run that was written, with the pieces of code that it answers for. */
static bool ms_en_list_run(ms_en *c, uint32_t at, uint32_t len)
{
    ms_en_run *runs = (ms_en_run *)ms_arena_grow(c->arena, c->runs, c->run_count, &c->run_cap, sizeof *runs);
    if (runs == NULL)
        return false;
    c->runs = runs;
    runs[c->run_count].at = at;
    runs[c->run_count].len = len;
    const ms_en_item *item = c->items + c->open.first;
    const ms_en_item *end = item + c->open.count;
    while (item < end) {
        ms_en_piece *v =
            (ms_en_piece *)ms_arena_grow(c->arena, c->pieces, c->piece_count, &c->piece_cap, sizeof *v);
        if (v == NULL)
            return false;
        c->pieces = v;
        ms_en_piece *piece = &v[c->piece_count++];
        bool only_lines = item->chain == 0;
        uint64_t hi = item->lo;
        piece->lo = item->lo;
        for (; item < end && item->lo == hi && only_lines == (item->chain == 0); item++)
            hi = item->hi;
        piece->hi = hi;
        piece->run = (uint32_t)c->run_count;
        piece->only_lines = only_lines;
    }
    c->run_count++;
    return true;
}

/* Writes the open run, unless memory was out: then it lacks links. */
static void ms_en_put_run(ms_en *c)
{
    ms_en_open *run = &c->open;
    const ms_en_item *last = &c->items[run->first + run->count - 1];
    ms_map_run parts;
    if (c->tables->oom || c->packed.arena->oom)
        return;
    uint64_t text = ms_en_set_widths(c);
    ms_zero(&parts, sizeof parts);
    parts.range_count = (uint32_t)run->ranges;
    parts.root_count = (uint32_t)run->roots.count;
    parts.call_count = (uint32_t)run->calls.count;
    parts.file_count = (uint32_t)run->files.count;
    ms_copy(parts.bytes, run->bytes, ms_MAP_WIDTHS);
    uint64_t len = (ms_map_set_parts(&parts) + 1) & ~(uint64_t)1;
    uint8_t *p = ms_en_room(&c->data, (size_t)len + ms_EN_STORED);
    if (p == NULL || !ms_en_list_run(c, (uint32_t)c->data.len, (uint32_t)len))
        return;
    ms_map_store_u32(p, (uint32_t)ms_en_base(c));
    ms_map_store_u32(p + 4, (uint32_t)len);
    ms_map_store_u32(p + 8, (uint32_t)(last->hi - c->text_addr));
    ms_map_store_u32(p + 12, (uint32_t)(text >> ms_PK_BLOCK_BITS));
    ms_map_store_u32(p + 16, (uint32_t)ms_en_base(c));
    ms_map_store_u16(p + 20, parts.range_count);
    ms_map_store_u16(p + 22, parts.root_count);
    ms_map_store_u16(p + 24, parts.call_count);
    ms_map_store_u16(p + 26, parts.file_count);
    ms_copy(p + 28, run->bytes, ms_MAP_WIDTHS);
    uint8_t *to = ms_en_put_starts(c, p + ms_MAP_RUN_HEAD);
    to = ms_en_put_roots(c, text, to);
    to = ms_en_put_files(c, text, to);
    to = ms_en_put_ranges(c, to);
    to = ms_en_put_calls(c, text, to);
    *to = 0; /* what fills it up */
    c->data.len += (size_t)len;
    c->overflow |= c->data.len > UINT32_MAX / 2;
}

/* Begins a run with an item. */
static void ms_en_begin_run(ms_en *c, size_t item)
{
    ms_en_open *run = &c->open;
    run->number++;
    run->first = item;
    run->count = run->ranges = 0;
    run->roots.count = run->calls.count = run->files.count = 0;
}

/* Whether so much was gathered that it should be written. */
static bool ms_en_is_full(const ms_en *c)
{
    return c->link_count >= ms_EN_GATHERED || c->item_count >= ms_EN_GATHERED;
}

/* Writes the runs of what was gathered, and forgets ranges and links: numbers of links do not hold any
 * longer. */
static void ms_en_write(ms_en *c, const ms_pk_dict *dict)
{
    ms_en_open *run = &c->open;
    ms_en_pack(c, dict);
    for (size_t i = 0; i < c->item_count; i++) {
        const ms_en_item *item = &c->items[i];
        size_t new_links = ms_en_new_links(c, item->chain);
        if (i == 0 || !ms_en_fits(c, item, new_links)) {
            if (i > 0)
                ms_en_put_run(c);
            ms_en_begin_run(c, i);
            new_links = ms_en_new_links(c, item->chain);
        }
        run->ranges += run->count > 0 && item->lo != item[-1].hi ? 2 : 1;
        run->count++;
        if (new_links > 0)
            ms_en_use_chain(c, item->chain, new_links);
        ms_en_use_file(c, item->line.file);
    }
    if (c->item_count > 0)
        ms_en_put_run(c);
    c->item_count = c->link_count = 0;
}

/* Writes all that is left, with the last block of text. */
static void ms_en_finish(ms_en *c, const ms_pk_dict *dict)
{
    ms_en_write(c, dict);
    size_t rest = c->texts.len; /* shorter than a block, unless memory is out */
    uint8_t *end = rest != 0 && rest < ms_PK_BLOCK ? ms_en_room(&c->texts, ms_PK_BLOCK) : NULL;
    if (end != NULL) {
        ms_zero(end, ms_PK_BLOCK - rest);
        ms_en_pack_block(c, dict, c->texts.v);
    }
    c->overflow |= c->packed.len / ms_MAP_UNIT > UINT32_MAX;
}

#endif /* ms_ROOM_map_encode */
