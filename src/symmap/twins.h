#ifndef ms_ROOM_symmap_twins
#define ms_ROOM_symmap_twins
#include "../api/options.h"
#include "../api/api.h"
#include "../base/reader.h"
#include "pages.h"
#include "symmap.h"

/* ==== >>twins ============================================================================================
 * Job:    tells which functions of a map share code, and which one of them a call calls.
 * Offers: ms_tw_row, ms_tw_call, ms_tw_body, ms_tw_at, ms_tw_frames, ms_tw_callee, ms_tw_store_row,
 *         ms_tw_store_call, ms_TW_CUT.
 * Never:  trusts a number in a map: every read is checked.
 *
 * The first function of a body is the one that RUNS has. The others have their ranges in TWIN RUNS. Those do
 * not count from the text base: each function has as many bytes of them as its body has. */

enum {
    ms_TW_ROW_BYTES = 12, /* of a row of TWINS */
    ms_TW_CALL_BYTES = 16 /* of a row of CALLS */
};

#define ms_TW_CUT UINT32_MAX /* where ranges begin, in a row that says that a body has more functions */

/* A function that shares its code with the one that RUNS has. */
typedef struct ms_tw_row {
    uint32_t lo; /* from the text base */
    uint32_t size;
    uint32_t at; /* where its ranges begin in TWIN RUNS */
} ms_tw_row;

/* A call of a function that shares its code. Functions of a body have numbers: 0 is the one that RUNS has,
 * the others follow in the order of TWINS. */
typedef struct ms_tw_call {
    uint32_t return_off; /* where it returns to, from the text base */
    uint32_t caller;     /* the number of the function that has the call, in its body */
    uint32_t body;       /* the begin of the callee's body */
    uint32_t callee;     /* its number there */
} ms_tw_call;

/* Code that functions share. */
typedef struct ms_tw_body {
    uint32_t lo; /* from the text base */
    uint64_t first;
    uint32_t count; /* its rows are first + 0 ... count - 1 of TWINS */
    bool is_cut;    /* there are more functions */
} ms_tw_body;

/* ---- Rows ---- */

static void ms_tw_store_row(const ms_tw_row *row, uint8_t *p)
{
    ms_map_store_u32(p, row->lo);
    ms_map_store_u32(p + 4, row->size);
    ms_map_store_u32(p + 8, row->at);
}

static void ms_tw_store_call(const ms_tw_call *call, uint8_t *p)
{
    ms_map_store_u32(p, call->return_off);
    ms_map_store_u32(p + 4, call->caller);
    ms_map_store_u32(p + 8, call->body);
    ms_map_store_u32(p + 12, call->callee);
}

/* A table of rows that begin with numbers that ascend. */
typedef struct ms_tw_table {
    const machsym_map *map;
    ms_pg *pages;
    uint64_t at;
    uint64_t bytes; /* of a row */
    uint64_t count;
} ms_tw_table;

static ms_tw_table ms_tw_table_of(const machsym_map *map, ms_pg *pages, unsigned kind, uint64_t bytes)
{
    bool is_here = pages != NULL || ms_map_is_here(map);
    ms_tw_table t = {map, pages, map->tables[kind].at, bytes, is_here ? map->tables[kind].len / bytes : 0};
    return t;
}

/* A row of a table; NULL when it is not there, or cannot be read. */
static const uint8_t *ms_tw_row_at(const ms_tw_table *t, uint64_t i)
{
    return i < t->count ? ms_map_at(t->map, t->pages, t->at + i * t->bytes, t->bytes) : NULL;
}

/* How many rows begin below two numbers. */
static uint64_t ms_tw_count_below(const ms_tw_table *t, uint32_t first, uint32_t second)
{
    uint64_t key = (uint64_t)first << 32 | second;
    uint64_t lo = 0;
    for (uint64_t left = t->count; left > 0;) {
        uint64_t half = left / 2;
        const uint8_t *row = ms_tw_row_at(t, lo + half);
        bool is_below = row != NULL && ((uint64_t)ms_rd_raw_u32(row) << 32 | ms_rd_raw_u32(row + 4)) < key;
        MACHSYM_COUNT_WORK(1);
        lo += is_below ? half + 1 : 0;
        left = is_below ? left - half - 1 : half;
    }
    return lo;
}

/* ---- Lookup ---- */

static ms_tw_table ms_tw_twins(const machsym_map *map, ms_pg *pages)
{
    return ms_tw_table_of(map, pages, ms_MAP_TWINS, ms_TW_ROW_BYTES);
}

/* The body that holds an offset of code. Returns false when one function has that code for itself. */
static bool ms_tw_at(const machsym_map *map, ms_pg *pages, uint32_t off, ms_tw_body *body)
{
    ms_tw_table t = ms_tw_twins(map, pages);
    uint64_t end = ms_tw_count_below(&t, off, UINT32_MAX); /* no code has a size of 4 GB */
    const uint8_t *row = end > 0 ? ms_tw_row_at(&t, end - 1) : NULL;
    if (row == NULL || off - ms_rd_raw_u32(row) >= ms_rd_raw_u32(row + 4))
        return false;
    body->lo = ms_rd_raw_u32(row);
    body->is_cut = ms_rd_raw_u32(row + 8) == ms_TW_CUT;
    body->first = ms_tw_count_below(&t, body->lo, 0);
    if (body->first >= end) /* the rows do not ascend */
        return false;
    uint64_t count = end - body->first - (body->is_cut ? 1 : 0);
    if (count >= MACHSYM_MAX_FOLDED) {
        body->is_cut = true;
        count = MACHSYM_MAX_FOLDED - 1;
    }
    body->count = (uint32_t)count;
    return true;
}

/* The frames at an offset of a body if the code is that of its function with a number, from 1 on. Returns 0
 * when the map does not tell. */
static size_t ms_tw_frames(const machsym_map *map, ms_pg *pages, const ms_tw_body *body, uint32_t number,
                           uint32_t off, machsym_map_frame *frames, size_t cap)
{
    ms_tw_table t = ms_tw_twins(map, pages);
    ms_map_hit hit;
    const uint8_t *row = number - 1 < body->count ? ms_tw_row_at(&t, body->first + (number - 1)) : NULL;
    uint32_t inside = off - body->lo;
    if (row == NULL || ms_rd_raw_u32(row) != body->lo || inside >= ms_rd_raw_u32(row + 4))
        return 0;
    uint32_t size = ms_rd_raw_u32(row + 4);
    uint64_t at = (uint64_t)ms_rd_raw_u32(row + 8) + inside;
    if (at > UINT32_MAX || !ms_map_find(map, pages, ms_MAP_TWIN_INDEX, at, &hit))
        return 0;
    size_t count = ms_map_chain_frames(map, &hit, frames, cap);
    for (size_t i = 0; i < count && i < cap; i++) {
        frames[i].function_start = map->head.text_addr + body->lo;
        frames[i].function_size = size;
    }
    return count;
}

/* Which function of a body is called by the call that returns to an offset, if a function with a number in
 * its own body makes it. Returns the callee's number; UINT32_MAX when the map does not tell. */
static uint32_t ms_tw_callee(const machsym_map *map, ms_pg *pages, uint32_t return_off, uint32_t caller,
                             uint32_t body)
{
    ms_tw_table t = ms_tw_table_of(map, pages, ms_MAP_CALLS, ms_TW_CALL_BYTES);
    const uint8_t *row = ms_tw_row_at(&t, ms_tw_count_below(&t, return_off, caller));
    if (row == NULL || ms_rd_raw_u32(row) != return_off || ms_rd_raw_u32(row + 4) != caller ||
        ms_rd_raw_u32(row + 8) != body)
        return UINT32_MAX;
    return ms_rd_raw_u32(row + 12);
}

#endif /* ms_ROOM_symmap_twins */
