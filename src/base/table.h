#ifndef ms_ROOM_base_table
#define ms_ROOM_base_table
#include "../api/options.h"
#include "../api/api.h"
#include "bytes.h"
#include "memory.h"

/* ==== >>table ==============================================================================================
 * Job:    maps pairs of numbers to a number, with a bound on each search.
 * Offers: ms_tab, ms_tab_get, ms_tab_first, ms_tab_has, ms_tab_enlarge, ms_tab_text_of, ms_tab_next_text.
 * Never:  removes a key; looks at more than MACHSYM_MAX_PROBES slots for one. */

/* A pair with its number. */
typedef struct ms_tab_slot {
    uint64_t a;
    uint64_t b;
    uint32_t value; /* 0: it was not set yet */
} ms_tab_slot;

/* Where a slot is found by the hash of its pair. */
typedef struct ms_tab_place {
    uint32_t hash;
    uint32_t number; /* of the slot, from 1 on; 0: the place is free */
} ms_tab_place;

/* Open addressing with linear probes. The slots stand in the order in which they came, and a search goes
 * through the places, which are small: most pairs are new, and those of a large table are not in the cache.
 * Zero but for the arena is an empty table. */
typedef struct ms_tab {
    ms_arena *arena;
    ms_tab_place *places;
    size_t cap;     /* places: a power of 2 */
    ms_tab_slot *v; /* room for ms_tab_room */
    size_t count;
    ms_tab_slot spill; /* what a search that ended without a slot returns; its value is forgotten at once */
} ms_tab;

/* Numbers that follow each other are frequent keys: after one multiplication they would still lie close
 * together, and a search would try six to thirty places. */
static uint32_t ms_tab_hash(uint64_t a, uint64_t b)
{
    uint64_t h = (a ^ b * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
    h = (h ^ h >> 32) * 0xff51afd7ed558ccdu;
    return (uint32_t)(h ^ h >> 32);
}

/* How many slots a table of that many places has: a quarter of the places stays free. */
static size_t ms_tab_room(size_t cap)
{
    return cap / 4 * 3;
}

/* The place of a pair, or a free one for it; NULL when too many others are in the way. */
static ms_tab_place *ms_tab_find(const ms_tab *t, uint32_t hash, uint64_t a, uint64_t b)
{
    size_t at = hash & (t->cap - 1);
    for (unsigned probes = 0; probes < MACHSYM_MAX_PROBES; probes++) {
        ms_tab_place *place = &t->places[at];
        MACHSYM_COUNT_WORK(1);
        if (place->number == 0)
            return place;
        const ms_tab_slot *slot = &t->v[place->number - 1];
        if (place->hash == hash && slot->a == a && slot->b == b)
            return place;
        at = (at + 1) & (t->cap - 1);
    }
    return NULL;
}

/* Makes a table larger: cap is a power of 2, and more than it has. Returns false when memory is out. */
static bool ms_tab_enlarge(ms_tab *t, size_t cap)
{
    ms_tab bigger = *t;
    bigger.cap = cap;
    bigger.places = (ms_tab_place *)ms_arena_zeroed(t->arena, bigger.cap, sizeof *t->places);
    bigger.v = (ms_tab_slot *)ms_arena_alloc(t->arena, ms_tab_room(bigger.cap), sizeof *t->v);
    if (bigger.places == NULL || bigger.v == NULL || bigger.cap > UINT32_MAX)
        return false;
    ms_copy(bigger.v, t->v, t->count * sizeof *t->v);
    for (size_t i = 0; i < t->cap; i++) {
        const ms_tab_place *place = &t->places[i];
        const ms_tab_slot *slot = place->number != 0 ? &t->v[place->number - 1] : NULL;
        ms_tab_place *moved = slot != NULL ? ms_tab_find(&bigger, place->hash, slot->a, slot->b) : NULL;
        if (moved != NULL)
            *moved = *place;
    }
    *t = bigger;
    return true;
}

/* The slot of a pair, up to the next call. A new slot has value 0, and the caller sets the value. NULL when
 * memory is out. Where keys were made to collide, the pair may get the spill slot, which forgets it:
 * ms_tab_has is false then. */
static ms_tab_slot *ms_tab_get(ms_tab *t, uint64_t a, uint64_t b)
{
    if (t->count >= ms_tab_room(t->cap) && !ms_tab_enlarge(t, t->cap == 0 ? 256 : t->cap * 2))
        return NULL;
    uint32_t hash = ms_tab_hash(a, b);
    ms_tab_place *place = ms_tab_find(t, hash, a, b);
    ms_tab_slot *slot = &t->spill;
    if (place != NULL && place->number != 0)
        return &t->v[place->number - 1];
    if (place != NULL) {
        slot = &t->v[t->count++];
        place->hash = hash;
        place->number = (uint32_t)t->count;
    }
    slot->a = a;
    slot->b = b;
    slot->value = 0;
    return slot;
}

/* The place that a search for a pair looks at first, of a table that is not empty. */
static inline const ms_tab_place *ms_tab_first(const ms_tab *t, uint64_t a, uint64_t b)
{
    return &t->places[ms_tab_hash(a, b) & (t->cap - 1)];
}

/* Whether a slot from ms_tab_get stays in the table. */
static bool ms_tab_has(const ms_tab *t, const ms_tab_slot *slot)
{
    return slot != NULL && slot != &t->spill;
}

/* ---- Texts ---- */

/* A search for a text among those of its hash. */
typedef struct ms_tab_text {
    machsym_str text;
    uint64_t hash;
    unsigned tried; /* texts of this hash that were looked at */
} ms_tab_text;

static ms_tab_text ms_tab_text_of(machsym_str text)
{
    ms_tab_text search;
    search.text = text;
    search.hash = ms_str_hash(text);
    search.tried = 0;
    return search;
}

/* FNV-1a over all bytes of a text. It is used only for a text that has the length and the ends of another
 * one. Two such texts in one string table share no bytes, so all calls take no more steps than the input
 * has bytes. */
static uint64_t ms_tab_hash_all(machsym_str text)
{
    uint64_t h = 0x84222325cbf29ce4u;
    MACHSYM_COUNT_WORK(text.len / 64);
    for (size_t i = 0; i < text.len; i++)
        h = (h ^ (unsigned char)text.ptr[i]) * 0x100000001b3u;
    return h;
}

/* The next slot that may be the text's. If its value is 0, it is free and the caller may take it. Otherwise
 * it belongs to this text or to another one with the same hash, and the caller compares. NULL when too many
 * texts have that hash, or memory is out. */
static ms_tab_slot *ms_tab_next_text(ms_tab *t, ms_tab_text *search)
{
    if (search->tried >= MACHSYM_MAX_EQUAL_HASHES)
        return NULL;
    if (search->tried == 1)
        search->hash = ms_tab_hash_all(search->text);
    ms_tab_slot *slot =
        ms_tab_get(t, search->hash, (uint64_t)search->text.len | (uint64_t)search->tried++ << 40);
    return ms_tab_has(t, slot) ? slot : NULL;
}

#endif /* ms_ROOM_base_table */
