#ifndef ms_ROOM_map_merge
#define ms_ROOM_map_merge
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "../base/memory.h"
#include "../symmap/pack.h"
#include "../symmap/pages.h"
#include "../symmap/symmap.h"
#include "../symmap/twins.h"
#include "encode.h"
#include "unwound.h"

/* ==== >>merge ============================================================================================
 * Job:    puts the parts of a map together into one file in memory.
 * Offers: machsym_part, ms_mg_function, ms_mg_site, ms_mg_folds, ms_mg, ms_mg_new_part, ms_mg_free_part,
 *         ms_mg_end_part, ms_mg_sort_pieces, ms_mg_is_covered, ms_mg_bare_until, ms_mg_finish, ms_mg_close.
 * Never:  knows where ranges and names come from. */

enum {
    /* An index has at most ms_MG_BUCKETS buckets, and ms_MG_PER_RUN more for each run: 16 bytes, of the 850
     * that a run has on average. */
    ms_MG_BUCKETS = 16,
    ms_MG_PER_RUN = 4,
    /* A bucket has at least 1 << 5 bytes of code. */
    ms_MG_LEAST_SHIFT = 5
};

/* ---- Parts ---- */

/* A function that may share its code. One that another unit has in RUNS has ranges of its own. */
typedef struct ms_mg_function {
    uint32_t lo; /* from the text base */
    uint32_t size;
    uint32_t at;     /* where its ranges begin in TWIN RUNS; ms_TW_CUT: there was no room for them */
    uint32_t number; /* in its body, once all parts are there; UINT32_MAX: it is not told of */
    bool is_first;   /* RUNS has it */
    bool is_visible; /* to other units */
    bool comes_back; /* RUNS has it, and its tail calls may lead to its body again */
    uint64_t name;   /* what >>folds makes of its linkage name; 0: not known */
    uint64_t entry;  /* of it in .debug_info; 0: it is a symbol */
} ms_mg_function;

/* A call whose callee may share its code. */
typedef struct ms_mg_site {
    uint32_t return_off;
    uint32_t body;   /* where the callee's code begins; UINT32_MAX: only its name is known */
    uint64_t callee; /* its name, as above */
    uint64_t target; /* the entry that the call names */
    uint64_t caller; /* the entry of the function that has the call; 0: it has its code for itself */
} ms_mg_site;

/* What a part knows of functions that share code. */
typedef struct ms_mg_folds {
    ms_arena arena;     /* of the lists */
    machsym_part *part; /* the ranges of functions that RUNS does not have; NULL: there are none */
    uint64_t size;      /* how many bytes of TWIN RUNS those stand for, from 0 on */
    ms_mg_function *functions;
    size_t function_count;
    size_t function_cap;
    ms_mg_site *sites;
    size_t site_count;
    size_t site_cap;
} ms_mg_folds;

/* A part of a map: runs with their packed text. */
struct machsym_part {
    ms_arena arena;        /* holds the part itself, and nothing else */
    ms_arena data_arena;   /* coder.data alone; with lists once the part is whole */
    ms_arena packed_arena; /* coder.packed */
    ms_arena lists;        /* the coder's runs and pieces; it and those below are emptied then */
    ms_arena text_arena;   /* coder.texts */
    ms_arena item_arena;   /* coder.items */
    ms_arena tables;       /* the coder's tables */
    ms_en coder;
    ms_mg_folds folds;
    machsym_part_info info;
};

static bool ms_mg_part_failed(const machsym_part *part)
{
    return part->data_arena.failed || part->packed_arena.failed || part->text_arena.failed ||
           part->item_arena.failed || part->tables.failed || part->lists.failed || part->folds.arena.failed;
}

static void ms_mg_free_part(machsym_part *part)
{
    ms_arena_free(&part->data_arena);
    ms_arena_free(&part->packed_arena);
    ms_arena_free(&part->lists);
    ms_arena_free(&part->text_arena);
    ms_arena_free(&part->item_arena);
    ms_arena_free(&part->tables);
    ms_arena_free(&part->folds.arena);
    if (part->folds.part != NULL) /* which has none of its own */
        ms_mg_free_part(part->folds.part);
    ms_arena arena = part->arena; /* the part lies in its own arena */
    ms_arena_free(&arena);
}

static machsym_part *ms_mg_new_part(machsym_allocator allocator)
{
    ms_arena arena = ms_arena_make(allocator);
    machsym_part *part = NULL;
    if (ms_arena_reserve(&arena, ms_arena_size(1, sizeof *part)))
        part = (machsym_part *)ms_arena_zeroed(&arena, 1, sizeof *part);
    if (part == NULL)
        return NULL;
    part->arena = arena;
    part->data_arena = part->packed_arena = part->text_arena = ms_arena_make(allocator);
    part->lists = part->item_arena = part->tables = part->folds.arena = ms_arena_make(allocator);
    ms_en_init(&part->coder, &part->lists, &part->tables, &part->item_arena);
    part->coder.data.arena = &part->data_arena;
    part->coder.packed.arena = &part->packed_arena;
    part->coder.texts.arena = &part->text_arena;
    return part;
}

/* Moves what stays of a part to memory of just its size. The memory that it grew in goes back to the
 * allocator, where the next part finds it. Parts stay until the last one is built. Returns false when memory
 * is out. */
static bool ms_mg_settle(machsym_part *part)
{
    ms_en *c = &part->coder;
    ms_arena data = ms_arena_make(part->arena.allocator);
    ms_arena packed = data;
    bool ok =
        ms_arena_reserve(&packed, ms_arena_size(c->packed.len, 1)) &&
        ms_arena_reserve(&data, ms_arena_size(c->data.len, 1) + ms_arena_size(c->run_count, sizeof *c->runs) +
                                    ms_arena_size(c->piece_count, sizeof *c->pieces));
    if (ok) {
        c->packed.v = (uint8_t *)ms_arena_keep(&packed, c->packed.v, c->packed.len, 1);
        c->data.v = (uint8_t *)ms_arena_keep(&data, c->data.v, c->data.len, 1);
        c->runs = (ms_en_run *)ms_arena_keep(&data, c->runs, c->run_count, sizeof *c->runs);
        c->pieces = (ms_en_piece *)ms_arena_keep(&data, c->pieces, c->piece_count, sizeof *c->pieces);
    }
    ms_arena_free(&part->data_arena);
    ms_arena_free(&part->packed_arena);
    part->data_arena = data;
    part->packed_arena = packed;
    return !data.failed && !packed.failed;
}

/* Writes what the part has gathered. Returns false when memory was short. */
static bool ms_mg_end_part(machsym_part *part, const ms_pk_dict *dict)
{
    if (ms_mg_part_failed(part))
        return false;
    ms_en_finish(&part->coder, dict);
    bool ok = !ms_mg_part_failed(part) && ms_mg_settle(part);
    ms_arena_free(&part->lists);
    ms_arena_free(&part->text_arena);
    ms_arena_free(&part->item_arena);
    ms_arena_free(&part->tables);
    return ok;
}

/* ---- Putting the parts together ---- */

/* A run's place in the table of runs. A run stands there once more when another one answers for a gap in
 * it. */
typedef struct ms_mg_place {
    uint32_t begin; /* offset of the code from which on it answers */
    uint32_t part;
    uint32_t run;
    uint64_t at; /* in the table */
} ms_mg_place;

/* A table of runs as it is put together. */
typedef struct ms_mg_runs {
    ms_mg_place *v;
    size_t count;
    uint64_t size; /* bytes of the table, without its margin */
    uint32_t shift;
    uint32_t bucket_count;
    uint64_t list_size; /* u32 that the lists of crowded buckets take */
} ms_mg_runs;

/* A piece of a part. */
typedef struct ms_mg_piece {
    const ms_en_piece *piece;
    uint32_t part;
} ms_mg_piece;

/* A map while it is put together. */
typedef struct ms_mg {
    machsym_allocator allocator;
    ms_arena arena;
    machsym_part **parts;
    size_t part_count;
    machsym_part *symbols; /* the part that holds the runs of symbols */
    machsym_part **twins;  /* the parts that the folds of these parts have */
    size_t twin_count;
    uint64_t *texts; /* by ms_mg_part_at: the unit of TEXT where its text begins */
    size_t *waiting; /* by ms_mg_part_at: how many places have not been written */
    uint64_t text_size;
    uint64_t block_count;
    uint64_t text_addr;
    ms_mg_piece *order; /* pieces of the parts with debug info, by address */
    size_t order_count;
    ms_mg_runs runs;
    ms_mg_runs symbol_runs;
    ms_mg_runs twin_runs;
    ms_mg_folds folds; /* of the parts that >>settle took; part is not used */
    ms_tw_row *rows;   /* of TWINS */
    size_t row_count;
    ms_tw_call *calls; /* of CALLS */
    size_t call_count;
    ms_mu_tables unwind; /* zero: the map carries none */
    bool too_large;      /* something does not fit the format's 32 bits */
    bool is_damaged;     /* a part is */
} ms_mg;

/* Gathers the pieces of some parts, and sorts them by address. Returns NULL when memory is out. */
static ms_mg_piece *ms_mg_sort(ms_mg *m, machsym_part **parts, size_t part_count, size_t *total)
{
    size_t count = 0;
    for (size_t i = 0; i < part_count; i++)
        count += parts[i]->coder.piece_count;
    ms_key *keys = (ms_key *)ms_arena_alloc(&m->arena, count, sizeof *keys);
    ms_key *room = (ms_key *)ms_arena_alloc(&m->arena, count, sizeof *keys);
    ms_mg_piece *order = (ms_mg_piece *)ms_arena_alloc(&m->arena, count, sizeof *order);
    *total = 0;
    if (keys == NULL || room == NULL || order == NULL)
        return NULL;
    count = 0;
    for (size_t i = 0; i < part_count; i++) {
        for (size_t j = 0; j < parts[i]->coder.piece_count; j++) {
            keys[count].key = parts[i]->coder.pieces[j].lo;
            keys[count++].item = (uint64_t)i << 32 | j;
        }
    }
    ms_sort(keys, count, room);
    for (size_t i = 0; i < count; i++) {
        order[i].part = (uint32_t)(keys[i].item >> 32);
        order[i].piece = &parts[order[i].part]->coder.pieces[keys[i].item & 0xffffffff];
        m->too_large |= order[i].piece->hi - m->text_addr > UINT32_MAX;
    }
    *total = count;
    return order;
}

/* Sorts the pieces of all parts but symbols. */
static void ms_mg_sort_pieces(ms_mg *m)
{
    m->order = ms_mg_sort(m, m->parts, m->part_count, &m->order_count);
}

/* Whether functions of the debug info cover [lo, hi). The ranges that are asked about must ascend: *at,
 * which begins as 0, moves on through the pieces. */
static bool ms_mg_is_covered(const ms_mg *m, size_t *at, uint64_t lo, uint64_t hi)
{
    while (*at < m->order_count && m->order[*at].piece->hi <= lo)
        ++*at;
    for (size_t i = *at; i < m->order_count; i++) {
        const ms_en_piece *piece = m->order[i].piece;
        if (piece->lo > lo || piece->only_lines)
            return false;
        MACHSYM_COUNT_WORK(1);
        lo = piece->hi > lo ? piece->hi : lo;
        if (lo >= hi)
            return true;
    }
    return false;
}

/* Up to where no function of the debug info has the code from lo on, which ends at hi; lo when one has it
 * there. at: as ms_mg_is_covered left it for the same lo. */
static uint64_t ms_mg_bare_until(const ms_mg *m, size_t at, uint64_t lo, uint64_t hi)
{
    for (size_t i = at; i < m->order_count && m->order[i].piece->lo < hi; i++) {
        const ms_en_piece *piece = m->order[i].piece;
        MACHSYM_COUNT_WORK(1);
        if (!piece->only_lines && piece->hi > lo)
            return piece->lo > lo ? piece->lo : lo;
    }
    return hi;
}

/* Decides where runs stand: in the order of their pieces. */
static void ms_mg_place_runs(ms_mg *m, ms_mg_runs *runs, const ms_mg_piece *order, size_t count,
                             machsym_part **parts)
{
    runs->v = (ms_mg_place *)ms_arena_alloc(&m->arena, count, sizeof *runs->v);
    for (size_t i = 0; i < count && runs->v != NULL; i++) {
        const ms_mg_place *last = runs->count > 0 ? &runs->v[runs->count - 1] : NULL;
        if (last != NULL && last->part == order[i].part && last->run == order[i].piece->run)
            continue;
        ms_mg_place *place = &runs->v[runs->count++];
        place->begin = (uint32_t)(order[i].piece->lo - m->text_addr);
        place->part = order[i].part;
        place->run = order[i].piece->run;
        place->at = runs->size;
        runs->size += parts[place->part]->coder.runs[place->run].len;
    }
    m->too_large |= runs->size / 2 > ms_MAP_LAST_RUN;
}

/* All parts: those with debug info, that of symbols, and those that have the ranges of functions that share
 * code. */
static machsym_part *ms_mg_part_at(const ms_mg *m, size_t i)
{
    if (i < m->part_count)
        return m->parts[i];
    return i == m->part_count ? m->symbols : m->twins[i - m->part_count - 1];
}

static size_t ms_mg_part_total(const ms_mg *m)
{
    return m->part_count + 1 + m->twin_count;
}

/* Decides where the text of each part begins. */
static void ms_mg_place_text(ms_mg *m)
{
    size_t total = ms_mg_part_total(m);
    m->texts = (uint64_t *)ms_arena_zeroed(&m->arena, total, sizeof *m->texts);
    m->waiting = (size_t *)ms_arena_zeroed(&m->arena, total, sizeof *m->waiting);
    for (size_t i = 0; i < total && m->waiting != NULL && m->texts != NULL; i++) {
        const machsym_part *part = ms_mg_part_at(m, i);
        m->texts[i] = m->text_size / ms_MAP_UNIT;
        m->text_size += part->coder.packed.len;
        m->block_count += part->coder.block_count;
        m->is_damaged |= part->info.damaged_units != 0 || part->coder.lost_text;
        m->too_large |= part->coder.overflow;
    }
    m->too_large |= m->text_size / ms_MAP_UNIT > UINT32_MAX || m->block_count > UINT32_MAX;
}

/* ---- Index ---- */

/* How many runs begin in a bucket, after its first byte. *next, which begins as 0, moves on through the
 * places: it is the first that begins after the bucket's first byte. */
static size_t ms_mg_count_in(const ms_mg_runs *runs, uint32_t bucket, size_t *next)
{
    uint64_t lo = (uint64_t)bucket << runs->shift;
    uint64_t hi = lo + ((uint64_t)1 << runs->shift);
    while (*next < runs->count && runs->v[*next].begin <= lo)
        ++*next;
    size_t end = *next;
    while (end < runs->count && runs->v[end].begin < hi)
        end++;
    MACHSYM_COUNT_WORK(1 + end - *next);
    return end - *next;
}

/* Decides how many buckets there are, and how large the lists of those are that have too many runs. */
static void ms_mg_size_index(ms_mg_runs *runs)
{
    size_t next = 0;
    if (runs->count == 0)
        return;
    uint64_t last = runs->v[runs->count - 1].begin;
    uint64_t most = ms_MG_BUCKETS + (uint64_t)ms_MG_PER_RUN * runs->count;
    runs->shift = ms_MG_LEAST_SHIFT;
    while ((last >> runs->shift) + 1 > most)
        runs->shift++;
    runs->bucket_count = (uint32_t)(last >> runs->shift) + 1;
    for (uint32_t i = 0; i < runs->bucket_count; i++) {
        size_t count = ms_mg_count_in(runs, i, &next);
        runs->list_size += count > ms_MAP_STEPS ? 1 + 2 * (count + (next > 0)) : 0;
    }
}

/* Writes the list of a bucket: the run before those that begin in it, and them. */
static uint8_t *ms_mg_write_list(const ms_mg_runs *runs, size_t first, size_t count, uint8_t *p)
{
    ms_map_store_u32(p, (uint32_t)count);
    p += 4;
    for (size_t i = first; i < first + count; i++, p += 8) {
        ms_map_store_u32(p, runs->v[i].begin);
        ms_map_store_u32(p + 4, (uint32_t)(runs->v[i].at / 2));
    }
    return p;
}

static void ms_mg_write_index(const ms_mg_runs *runs, uint8_t *p)
{
    uint8_t *list = p + 4 * (size_t)runs->bucket_count;
    size_t next = 0;
    for (uint32_t i = 0; i < runs->bucket_count; i++) {
        size_t count = ms_mg_count_in(runs, i, &next);
        size_t first = next > 0 ? next - 1 : 0;
        uint32_t number = (uint32_t)(runs->v[first].at / 2);
        if (count > ms_MAP_STEPS) {
            number = (uint32_t)((size_t)(list - p) / 4) | ((uint32_t)ms_MAP_LAST_RUN + 1);
            list = ms_mg_write_list(runs, first, count + (next - first), list);
        }
        ms_map_store_u32(p + 4 * (size_t)i, number);
    }
}

/* ---- The file ---- */

static uint64_t ms_mg_align(uint64_t at)
{
    return (at + 7) & ~(uint64_t)7;
}

/* What a map says of its image, written here alone. */
static void ms_mg_set_head(const machsym_map_info *info, ms_map_head *head)
{
    ms_zero(head, sizeof *head);
    head->version = ms_MAP_VERSION;
    head->flags = info->flags & (MACHSYM_MAP_COLUMNS | MACHSYM_MAP_CHUNK | MACHSYM_MAP_DAMAGED);
    head->uuid = info->uuid;
    head->cputype = info->cputype;
    head->cpusubtype = info->cpusubtype;
    head->text_addr = info->text_addr;
    head->text_size = info->text_size;
    head->text_exec_addr = info->text_exec_addr;
    head->code_size = info->code_size;
    head->lines = (uint32_t)info->lines;
}

/* Decides where a table stands: after the ones before. */
static void ms_mg_set_table(ms_map_head *head, unsigned kind, uint64_t len, uint64_t a, uint64_t b)
{
    ms_map_table *table = &head->tables[kind];
    table->at = head->size;
    table->len = len;
    table->a = (uint32_t)a;
    table->b = (uint32_t)b;
    head->size = ms_mg_align(head->size + len);
}

static void ms_mg_set_runs(ms_map_head *head, unsigned index, const ms_mg_runs *runs)
{
    uint64_t margin = runs->count > 0 ? ms_MAP_MARGIN : 0;
    ms_mg_set_table(head, index, 4 * (runs->bucket_count + runs->list_size), runs->shift, runs->bucket_count);
    ms_mg_set_table(head, index + 1, runs->size + margin, runs->count, 0);
}

/* Decides where the tables of functions that share code stand. Readers that do not know them go on. */
static void ms_mg_set_folds(const ms_mg *m, ms_map_head *head)
{
    ms_mg_set_table(head, ms_MAP_TWINS, m->row_count * ms_TW_ROW_BYTES, m->row_count, 0);
    ms_mg_set_runs(head, ms_MAP_TWIN_INDEX, &m->twin_runs);
    ms_mg_set_table(head, ms_MAP_CALLS, m->call_count * ms_TW_CALL_BYTES, m->call_count, 0);
    for (unsigned kind = ms_MAP_TWINS; kind <= ms_MAP_CALLS; kind++)
        head->tables[kind].flags = ms_MAP_MAY_IGNORE;
}

/* Decides where unwind tables stand: last, so that lookups need none of their pages. */
static void ms_mg_set_unwind(const ms_mg *m, ms_map_head *head)
{
    for (unsigned i = 0; i < ms_MU_SECTIONS; i++) {
        const ms_mu_section *section = &m->unwind.v[i];
        if (section->bytes.len == 0)
            continue;
        ms_mg_set_table(head, ms_MAP_UNWIND_INFO + i, section->bytes.len, section->addr, section->addr >> 32);
        head->tables[ms_MAP_UNWIND_INFO + i].flags = ms_MAP_MAY_IGNORE;
    }
    if (m->unwind.frame_count == 0)
        return;
    ms_mg_set_table(head, ms_MAP_LARGE_FRAMES, m->unwind.frame_count * ms_MU_ROW_BYTES, m->unwind.frame_count,
                    0);
    head->tables[ms_MAP_LARGE_FRAMES].flags = ms_MAP_MAY_IGNORE;
}

/* Decides where all tables stand. The checksums come first, since they are of what follows them. */
static void ms_mg_set_tables(const ms_mg *m, ms_map_head *head, machsym_str name, const ms_pk_dict *dict)
{
    head->size = 0;
    ms_mg_set_table(head, ms_MAP_NAME, name.len, 0, 0);
    ms_mg_set_runs(head, ms_MAP_INDEX, &m->runs);
    ms_mg_set_runs(head, ms_MAP_SYMBOL_INDEX, &m->symbol_runs);
    ms_mg_set_table(head, ms_MAP_DICT, dict->len, 0, 0);
    ms_mg_set_table(head, ms_MAP_TEXT, m->text_size, m->block_count, 0);
    if (m->row_count != 0)
        ms_mg_set_folds(m, head);
    ms_mg_set_unwind(m, head);
    head->row_count = 0;
    for (unsigned kind = 1; kind < ms_MAP_KINDS; kind++)
        head->row_count += ms_map_has_row(head, kind) ? 1u : 0;
    uint64_t size = head->size;
    head->size = ms_MAP_HEAD + (uint64_t)head->row_count * ms_MAP_ROW;
    ms_mg_set_table(head, ms_MAP_PAGES, 8 * ((size + ms_PG_BYTES - 1) / ms_PG_BYTES), 0, 0);
    for (unsigned kind = 1; kind < ms_MAP_KINDS; kind++)
        head->tables[kind].at += kind != ms_MAP_PAGES && ms_map_has_row(head, kind) ? head->size : 0;
    head->size += size;
}

/* Writes the runs of parts into their table. A part is freed as soon as all of it is there. */
static void ms_mg_write_runs(ms_mg *m, const ms_mg_runs *runs, machsym_part **parts, size_t first, uint8_t *p)
{
    for (size_t i = 0; i < runs->count; i++)
        m->waiting[first + runs->v[i].part]++;
    for (size_t i = 0; i < runs->count; i++) {
        const ms_mg_place *place = &runs->v[i];
        machsym_part *part = parts[place->part];
        const ms_en_run *run = &part->coder.runs[place->run];
        uint8_t *to = p + place->at;
        ms_copy(to, part->coder.data.v + run->at, run->len);
        ms_map_store_u32(to, place->begin);
        ms_map_store_u32(to + 12, ms_rd_raw_u32(to + 12) + (uint32_t)m->texts[first + place->part]);
        if (--m->waiting[first + place->part] == 0)
            ms_arena_free(&part->data_arena);
    }
}

static void ms_mg_write_text(ms_mg *m, uint8_t *p)
{
    for (size_t i = 0; i < ms_mg_part_total(m); i++) {
        machsym_part *part = ms_mg_part_at(m, i);
        ms_copy(p + m->texts[i] * ms_MAP_UNIT, part->coder.packed.v, part->coder.packed.len);
        ms_arena_free(&part->packed_arena);
    }
}

static void ms_mg_write_folds(ms_mg *m, const ms_map_table *tables, uint8_t *p)
{
    for (size_t i = 0; i < m->row_count; i++)
        ms_tw_store_row(&m->rows[i], p + tables[ms_MAP_TWINS].at + i * ms_TW_ROW_BYTES);
    for (size_t i = 0; i < m->call_count; i++)
        ms_tw_store_call(&m->calls[i], p + tables[ms_MAP_CALLS].at + i * ms_TW_CALL_BYTES);
    ms_mg_write_index(&m->twin_runs, p + tables[ms_MAP_TWIN_INDEX].at);
    ms_mg_write_runs(m, &m->twin_runs, m->twins, m->part_count + 1, p + tables[ms_MAP_TWIN_RUNS].at);
    ms_zero(p + tables[ms_MAP_TWIN_RUNS].at + m->twin_runs.size, m->twin_runs.count > 0 ? ms_MAP_MARGIN : 0);
}

/* Writes what the tables hold into the memory of the file, which is zero between them. */
static void ms_mg_write_tables(ms_mg *m, const ms_map_head *head, machsym_str name, const ms_pk_dict *dict,
                               uint8_t *p)
{
    const ms_map_table *tables = head->tables;
    for (unsigned kind = 1; kind < ms_MAP_KINDS; kind++) {
        uint64_t end = tables[kind].at + tables[kind].len;
        ms_zero(p + end, (size_t)(ms_mg_align(end) - end));
    }
    ms_copy(p + tables[ms_MAP_NAME].at, name.ptr, name.len);
    ms_copy(p + tables[ms_MAP_DICT].at, dict->text, dict->len);
    ms_mg_write_text(m, p + tables[ms_MAP_TEXT].at);
    ms_mg_write_index(&m->runs, p + tables[ms_MAP_INDEX].at);
    ms_mg_write_index(&m->symbol_runs, p + tables[ms_MAP_SYMBOL_INDEX].at);
    ms_mg_write_runs(m, &m->runs, m->parts, 0, p + tables[ms_MAP_RUNS].at);
    ms_mg_write_runs(m, &m->symbol_runs, &m->symbols, m->part_count, p + tables[ms_MAP_SYMBOL_RUNS].at);
    if (m->row_count != 0)
        ms_mg_write_folds(m, tables, p);
    for (unsigned i = 0; i < ms_MU_SECTIONS; i++)
        ms_copy(p + tables[ms_MAP_UNWIND_INFO + i].at, m->unwind.v[i].bytes.ptr, m->unwind.v[i].bytes.len);
    ms_copy(p + tables[ms_MAP_LARGE_FRAMES].at, m->unwind.frames, m->unwind.frame_count * ms_MU_ROW_BYTES);
    ms_zero(p + tables[ms_MAP_RUNS].at + m->runs.size, m->runs.count > 0 ? ms_MAP_MARGIN : 0);
    ms_zero(p + tables[ms_MAP_SYMBOL_RUNS].at + m->symbol_runs.size,
            m->symbol_runs.count > 0 ? ms_MAP_MARGIN : 0);
}

/* Writes the checksums, of pages first. */
static void ms_mg_write_sums(machsym_map *map, uint8_t *p)
{
    ms_map_head *head = &map->head;
    ms_map_table *pages = &head->tables[ms_MAP_PAGES];
    ms_span all = ms_map_pages(map);
    for (uint64_t i = 0; i < pages->len / 8; i++)
        ms_map_store_u64(p + pages->at + 8 * i, ms_pg_sum_at(all, i));
    uint64_t sum = ms_pg_sum(ms_span_make(p + pages->at, (size_t)pages->len));
    pages->a = (uint32_t)sum;
    pages->b = (uint32_t)(sum >> 32);
    head->checksum = 0;
    ms_map_store_head(head, p);
    head->checksum = ms_map_sum_head(map->bytes, head->row_count);
    ms_map_store_u64(p + 72, head->checksum);
}

/* Writes the whole file into one piece of memory. */
static machsym_map *ms_mg_write(ms_mg *m, ms_map_head *head, machsym_str name, const ms_pk_dict *dict)
{
    ms_mg_set_tables(m, head, name, dict);
    machsym_map *map = (machsym_map *)m->allocator.alloc(m->allocator.user, sizeof *map);
    uint8_t *memory = (uint8_t *)m->allocator.alloc(m->allocator.user, (size_t)head->size);
    if (map == NULL || memory == NULL) {
        if (map != NULL)
            m->allocator.free(m->allocator.user, map, sizeof *map);
        if (memory != NULL)
            m->allocator.free(m->allocator.user, memory, (size_t)head->size);
        return NULL;
    }
    ms_mg_write_tables(m, head, name, dict, memory);
    ms_zero(map, sizeof *map);
    map->allocator = m->allocator;
    map->memory = memory;
    map->memory_size = (size_t)head->size;
    map->bytes = ms_span_make(memory, (size_t)head->size);
    map->head = *head;
    ms_mg_write_sums(map, memory);
    for (unsigned kind = 1; kind < ms_MAP_KINDS; kind++)
        ms_map_set_table(map, kind);
    return map;
}

/* Makes the map. ms_mg_sort_pieces must have been called before, and all parts must be whole. */
static machsym_result ms_mg_finish(ms_mg *m, ms_map_head *head, machsym_str name, const ms_pk_dict *dict,
                                   machsym_map **out, machsym_error *err)
{
    size_t count;
    size_t twin_count;
    ms_mg_place_text(m);
    ms_mg_piece *symbols = ms_mg_sort(m, &m->symbols, 1, &count);
    ms_mg_piece *twins = ms_mg_sort(m, m->twins, m->twin_count, &twin_count);
    ms_mg_place_runs(m, &m->runs, m->order, m->order_count, m->parts);
    ms_mg_place_runs(m, &m->symbol_runs, symbols, count, &m->symbols);
    ms_mg_place_runs(m, &m->twin_runs, twins, twin_count, m->twins);
    if (m->arena.oom)
        return ms_fail_memory(err);
    if (m->too_large)
        return ms_fail(err, MACHSYM_ERR_LIMIT, "a map holds 4 GB of code and of ranges at most", "", 0);
    ms_mg_size_index(&m->runs);
    ms_mg_size_index(&m->symbol_runs);
    ms_mg_size_index(&m->twin_runs);
    if (m->is_damaged)
        head->flags |= MACHSYM_MAP_DAMAGED;
    *out = ms_mg_write(m, head, name, dict);
    return *out != NULL ? MACHSYM_OK : ms_fail_memory(err);
}

/* Frees the parts, and what the merge holds. */
static void ms_mg_close(ms_mg *m)
{
    if (m->symbols != NULL)
        ms_mg_free_part(m->symbols);
    for (size_t i = 0; i < m->part_count; i++) {
        if (m->parts[i] != NULL)
            ms_mg_free_part(m->parts[i]);
        m->parts[i] = NULL;
    }
    ms_arena_free(&m->arena);
}

#endif /* ms_ROOM_map_merge */
