#ifndef ms_ROOM_map_merge
#define ms_ROOM_map_merge
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/memory.h"
#include "pack.h"
#include "symmap.h"
#include "encode.h"

/* ==== >>merge ============================================================================================
 * Job:    puts the parts of a map together into one file in memory.
 * Offers: machsym_part, ms_mg, ms_mg_new_part, ms_mg_free_part, ms_mg_build_text, ms_mg_sort_runs,
 *         ms_mg_is_covered, ms_mg_finish, ms_mg_close.
 * Never:  knows where ranges and names come from. */

enum {
    /* Blocks of text in a part, 4 MB: small parts let threads end at about the same time. */
    ms_MG_TEXT_BLOCKS = (4 << 20) / (int)ms_PK_BLOCK,
    /* A bucket has about so many runs: the search in it takes two or three steps. */
    ms_MG_PER_BUCKET = 4,
    /* A bucket has at least 1 << 6 bytes of text. */
    ms_MG_LEAST_SHIFT = 6
};

/* ---- Parts ---- */

typedef enum ms_mg_kind {
    ms_MG_RECORDS = 0, /* functions, chains, runs, files */
    ms_MG_TEXT         /* packed blocks of text */
} ms_mg_kind;

/* A part of a map: records, or packed blocks of text one behind the other. */
struct machsym_part {
    ms_mg_kind kind;
    ms_arena data_arena; /* holds coder.data, and nothing else */
    ms_arena arena;
    ms_arena tables; /* holds the coder's tables; it is emptied when the part is whole */
    ms_en coder;
    uint32_t files_at;     /* position of the file table in coder.data */
    uint32_t *block_sizes; /* of the packed blocks */
    machsym_part_info info;
};

static bool ms_mg_part_failed(const machsym_part *part)
{
    return part->data_arena.oom || part->arena.oom || part->tables.oom;
}

/* Packs blocks lo to hi of the text. Returns false when memory is out. */
static bool ms_mg_build_text(const ms_pk_spaces *spaces, const ms_pk_dict *dict, uint64_t lo, uint64_t hi,
                             machsym_part *part)
{
    uint8_t raw[ms_PK_BLOCK];
    uint8_t packed[2 * ms_PK_BLOCK];
    size_t count = (size_t)(hi - lo);
    part->block_sizes = (uint32_t *)ms_arena_alloc(&part->arena, count, sizeof *part->block_sizes);
    for (size_t i = 0; i < count && part->block_sizes != NULL; i++) {
        ms_pk_raw_block(spaces, lo + i, raw);
        size_t size = ms_pk_pack(dict, raw, ms_PK_BLOCK, packed);
        part->block_sizes[i] = (uint32_t)size;
        ms_en_put_bytes(&part->coder.data, packed, size);
    }
    return part->block_sizes != NULL && !part->data_arena.oom;
}

static void ms_mg_free_part(machsym_part *part)
{
    ms_arena_free(&part->data_arena);
    ms_arena_free(&part->tables);
    ms_arena arena = part->arena; /* the part lies in its own arena */
    ms_arena_free(&arena);
}

static machsym_part *ms_mg_new_part(machsym_allocator allocator, ms_mg_kind kind)
{
    ms_arena arena = ms_arena_make(allocator);
    machsym_part *part = (machsym_part *)ms_arena_zeroed(&arena, 1, sizeof *part);
    if (part == NULL)
        return NULL;
    part->arena = arena;
    part->data_arena = ms_arena_make(allocator);
    part->tables = ms_arena_make(allocator);
    part->kind = kind;
    ms_en_init(&part->coder, &part->data_arena, &part->arena, &part->tables);
    if (kind == ms_MG_TEXT)
        part->coder.data.len = 0;
    return part;
}

/* ---- Putting the parts together ---- */

/* A table of runs, by address, as it is put together. */
typedef struct ms_mg_index {
    uint32_t *starts; /* offsets from the text base */
    uint32_t *at;     /* positions in DATA */
    size_t count;
} ms_mg_index;

/* A map while it is put together. */
typedef struct ms_mg {
    machsym_allocator allocator;
    ms_arena arena;
    machsym_part **parts;
    size_t part_count;
    machsym_part *symbols; /* the part that holds the runs of symbols; its data comes last */
    uint64_t *bases; /* by part: the position in DATA where its data begins; that of symbols is the last */
    uint64_t data_size;
    uint64_t text_addr;
    ms_en_run **order;    /* runs with debug info, by address */
    uint32_t *order_part; /* and the part of each */
    size_t order_count;
    ms_mg_index runs;
    ms_mg_index symbol_runs;
    uint8_t *used; /* a bit for each block of text that a part refers to */
    uint64_t block_count;
    uint64_t text_size; /* bytes of the packed blocks that are used */
    bool too_large;     /* something does not fit the format's 32 bits */
    bool is_damaged;    /* a part is */
} ms_mg;

/* Gathers the runs of all parts but symbols, and sorts them by address. */
static void ms_mg_sort_runs(ms_mg *m)
{
    size_t total = 0;
    for (size_t i = 0; i < m->part_count; i++)
        total += m->parts[i]->coder.run_count;
    ms_key *keys = (ms_key *)ms_arena_alloc(&m->arena, total, sizeof *keys);
    ms_key *room = (ms_key *)ms_arena_alloc(&m->arena, total, sizeof *keys);
    m->order = (ms_en_run **)ms_arena_alloc(&m->arena, total, sizeof *m->order);
    m->order_part = (uint32_t *)ms_arena_alloc(&m->arena, total, sizeof *m->order_part);
    if (keys == NULL || room == NULL || m->order == NULL || m->order_part == NULL)
        return;
    size_t count = 0;
    for (size_t i = 0; i < m->part_count; i++) {
        for (size_t j = 0; j < m->parts[i]->coder.run_count; j++) {
            keys[count].key = m->parts[i]->coder.runs[j].lo;
            keys[count++].item = (uint64_t)i << 32 | j;
        }
    }
    ms_sort(keys, count, room);
    for (size_t i = 0; i < count; i++) {
        size_t part = (size_t)(keys[i].item >> 32);
        ms_en_run *run = &m->parts[part]->coder.runs[keys[i].item & 0xffffffff];
        m->too_large |= run->hi - m->text_addr > UINT32_MAX;
        m->order[m->order_count] = run;
        m->order_part[m->order_count++] = (uint32_t)part;
    }
}

/* Whether functions of the debug info cover [lo, hi). The ranges that are asked about must ascend: *at,
 * which begins as 0, moves on through the runs. */
static bool ms_mg_is_covered(const ms_mg *m, size_t *at, uint64_t lo, uint64_t hi)
{
    while (*at < m->order_count && m->order[*at]->hi <= lo)
        ++*at;
    for (size_t i = *at; i < m->order_count && m->order[i]->lo <= lo && !m->order[i]->only_lines; i++) {
        MACHSYM_COUNT_WORK(1);
        lo = m->order[i]->hi > lo ? m->order[i]->hi : lo;
        if (lo >= hi)
            return true;
    }
    return false;
}

/* Decides where the data of each part begins, and gathers which blocks of text are used. */
static void ms_mg_lay_out(ms_mg *m)
{
    size_t used_len = (size_t)(m->block_count / 8 + 1);
    m->used = (uint8_t *)ms_arena_zeroed(&m->arena, used_len, 1);
    m->bases = (uint64_t *)ms_arena_zeroed(&m->arena, m->part_count + 1, sizeof *m->bases);
    if (m->used == NULL || m->bases == NULL)
        return;
    for (size_t i = 0; i <= m->part_count; i++) {
        const machsym_part *part = i < m->part_count ? m->parts[i] : m->symbols;
        if (part->kind != ms_MG_RECORDS)
            continue;
        m->bases[i] = m->data_size;
        m->data_size += part->coder.data.len;
        m->is_damaged |= part->info.damaged_units != 0;
        m->too_large |= part->coder.overflow;
        for (size_t j = 0; j < used_len && part->coder.used != NULL; j++)
            m->used[j] |= part->coder.used[j];
    }
    m->too_large |= m->data_size > UINT32_MAX - ms_MAP_MARGIN;
}

static void ms_mg_index_alloc(ms_mg *m, ms_mg_index *index, size_t count)
{
    index->starts = (uint32_t *)ms_arena_alloc(&m->arena, count + 1, sizeof *index->starts);
    index->at = (uint32_t *)ms_arena_alloc(&m->arena, count + 1, sizeof *index->at);
    index->count = index->starts != NULL && index->at != NULL ? count : 0;
}

static void ms_mg_index_runs(ms_mg *m)
{
    const ms_en *c = &m->symbols->coder;
    ms_mg_index_alloc(m, &m->runs, m->order_count);
    ms_mg_index_alloc(m, &m->symbol_runs, c->run_count);
    if (m->bases == NULL || m->arena.oom)
        return;
    for (size_t i = 0; i < m->runs.count; i++) {
        m->runs.starts[i] = (uint32_t)(m->order[i]->lo - m->text_addr);
        m->runs.at[i] = (uint32_t)(m->order[i]->at + m->bases[m->order_part[i]]);
    }
    for (size_t i = 0; i < m->symbol_runs.count; i++) {
        m->symbol_runs.starts[i] = (uint32_t)(c->runs[i].lo - m->text_addr);
        m->symbol_runs.at[i] = (uint32_t)(c->runs[i].at + m->bases[m->part_count]);
    }
}

/* ---- The file ---- */

/* A map file as it is written, table by table. */
typedef struct ms_mg_file {
    uint8_t *v;
    size_t len;
    ms_map_head *head;
} ms_mg_file;

static uint64_t ms_mg_align(uint64_t at)
{
    return (at + 7) & ~(uint64_t)7;
}

/* Takes room for a table. Returns where it goes; what fills it up to a multiple of 8 is zero. */
static uint8_t *ms_mg_begin_table(ms_mg_file *out, unsigned table, uint64_t size)
{
    out->head->tables[table].lo = out->len;
    out->head->tables[table].hi = out->len + size;
    uint8_t *at = out->v + out->len;
    out->len = (size_t)ms_mg_align(out->len + size);
    ms_zero(at + size, out->len - (size_t)out->head->tables[table].hi);
    return at;
}

static uint32_t ms_mg_bucket_count(const ms_mg_index *index, uint32_t shift)
{
    return index->count == 0 ? 0 : (index->starts[index->count - 1] >> shift) + 2;
}

/* The bucket shift with which a bucket has about ms_MG_PER_BUCKET runs. */
static uint32_t ms_mg_bucket_shift(const ms_mg_index *index)
{
    uint32_t shift = ms_MG_LEAST_SHIFT;
    size_t most = index->count / ms_MG_PER_BUCKET;
    while (shift < ms_MAP_MOST_SHIFT && index->count > 0 && index->starts[index->count - 1] >> shift > most)
        shift++;
    return shift;
}

static void ms_mg_write_index(ms_mg_file *out, unsigned runs, const ms_mg_index *index, uint32_t shift)
{
    uint8_t *p = ms_mg_begin_table(out, runs, (uint64_t)index->count * 8);
    for (size_t i = 0; i < index->count; i++) {
        ms_map_store_u32(p + 8 * i, index->starts[i]);
        ms_map_store_u32(p + 8 * i + 4, index->at[i]);
    }
    uint32_t buckets = ms_mg_bucket_count(index, shift);
    p = ms_mg_begin_table(out, runs + 1, (uint64_t)buckets * 4);
    for (uint32_t bucket = 0, run = 0; bucket < buckets; bucket++) {
        while (run < index->count && index->starts[run] >> shift < bucket)
            run++;
        ms_map_store_u32(p + 4 * (size_t)bucket, run);
    }
}

static void ms_mg_write_data(ms_mg *m, ms_mg_file *out)
{
    size_t units = 0;
    for (size_t i = 0; i < m->part_count; i++)
        units += m->parts[i]->kind == ms_MG_RECORDS;
    uint8_t *table = ms_mg_begin_table(out, ms_MAP_PARTS, (uint64_t)(units + 1) * 8);
    uint8_t *data = ms_mg_begin_table(out, ms_MAP_DATA, m->data_size + ms_MAP_MARGIN);
    ms_zero(data + m->data_size, ms_MAP_MARGIN);
    for (size_t i = 0; i <= m->part_count; i++) {
        machsym_part *part = i < m->part_count ? m->parts[i] : m->symbols;
        if (part->kind != ms_MG_RECORDS)
            continue;
        ms_map_store_u32(table, (uint32_t)m->bases[i]);
        ms_map_store_u32(table + 4, (uint32_t)(m->bases[i] + part->files_at));
        table += 8;
        ms_copy(data + m->bases[i], part->coder.data.v, part->coder.data.len);
        ms_mg_free_part(part);
        if (i < m->part_count)
            m->parts[i] = NULL;
        else
            m->symbols = NULL;
    }
}

static bool ms_mg_block_used(const ms_mg *m, uint64_t block)
{
    return (m->used[block / 8] >> block % 8 & 1) != 0;
}

/* Writes the packed blocks that are used. The others have no bytes. */
static void ms_mg_write_text(ms_mg *m, ms_mg_file *out)
{
    uint8_t *blocks = ms_mg_begin_table(out, ms_MAP_BLOCKS, (m->block_count + 1) * 4);
    uint8_t *text = ms_mg_begin_table(out, ms_MAP_TEXT, m->text_size);
    uint64_t block = 0;
    uint32_t to = 0;
    for (size_t i = 0; i < m->part_count; i++) {
        const machsym_part *part = m->parts[i];
        if (part == NULL || part->kind != ms_MG_TEXT)
            continue;
        size_t from = 0;
        size_t step = ms_MG_TEXT_BLOCKS;
        for (size_t j = 0; j < step && block < m->block_count; j++, block++) {
            ms_map_store_u32(blocks + 4 * block, to);
            if (ms_mg_block_used(m, block)) {
                ms_copy(text + to, part->coder.data.v + from, part->block_sizes[j]);
                to += part->block_sizes[j];
            }
            from += part->block_sizes[j];
        }
    }
    ms_map_store_u32(blocks + 4 * block, to);
}

/* Adds up the sizes of the packed blocks that are used. */
static void ms_mg_size_text(ms_mg *m)
{
    uint64_t block = 0;
    for (size_t i = 0; i < m->part_count; i++) {
        const machsym_part *part = m->parts[i];
        size_t step = ms_MG_TEXT_BLOCKS;
        for (size_t j = 0; part->kind == ms_MG_TEXT && j < step && block < m->block_count; j++, block++)
            m->text_size += ms_mg_block_used(m, block) ? part->block_sizes[j] : 0;
    }
    m->too_large |= m->text_size > UINT32_MAX;
}

/* Writes the whole file into one piece of memory. Each part with records is freed as soon as its data is
 * copied. */
static machsym_map *ms_mg_write(ms_mg *m, ms_map_head *head, machsym_str name, const ms_pk_dict *dict)
{
    uint64_t size = ms_MAP_HEAD + ms_mg_align(name.len) + ms_mg_align((uint64_t)(m->part_count + 1) * 8);
    head->bucket_shift = ms_mg_bucket_shift(m->runs.count > 0 ? &m->runs : &m->symbol_runs);
    size += ms_mg_align((uint64_t)m->runs.count * 8) + ms_mg_align((uint64_t)m->symbol_runs.count * 8);
    size += ms_mg_align((uint64_t)ms_mg_bucket_count(&m->runs, head->bucket_shift) * 4);
    size += ms_mg_align((uint64_t)ms_mg_bucket_count(&m->symbol_runs, head->bucket_shift) * 4);
    size += ms_mg_align(dict->len) + ms_mg_align((m->block_count + 1) * 4);
    size += ms_mg_align(m->data_size + ms_MAP_MARGIN) + ms_mg_align(m->text_size);
    machsym_map *map = (machsym_map *)m->allocator.alloc(m->allocator.user, sizeof *map);
    uint8_t *memory = (uint8_t *)m->allocator.alloc(m->allocator.user, (size_t)size);
    if (map == NULL || memory == NULL) {
        if (map != NULL)
            m->allocator.free(m->allocator.user, map, sizeof *map);
        if (memory != NULL)
            m->allocator.free(m->allocator.user, memory, (size_t)size);
        return NULL;
    }
    ms_mg_file out = {memory, ms_MAP_HEAD, head};
    ms_zero(map, sizeof *map);
    ms_copy(ms_mg_begin_table(&out, ms_MAP_NAME, name.len), name.ptr, name.len);
    ms_mg_write_index(&out, ms_MAP_RUNS, &m->runs, head->bucket_shift);
    ms_mg_write_index(&out, ms_MAP_SYMBOL_RUNS, &m->symbol_runs, head->bucket_shift);
    ms_copy(ms_mg_begin_table(&out, ms_MAP_DICT, dict->len), dict->text, dict->len);
    ms_mg_write_text(m, &out);
    ms_mg_write_data(m, &out);
    head->size = out.len;
    head->checksum = 0;
    ms_map_store_head(head, memory);
    head->checksum = ms_map_sum_of(ms_span_make(memory, out.len));
    ms_map_store_head(head, memory);
    map->allocator = m->allocator;
    map->memory = memory;
    map->memory_size = (size_t)size;
    map->bytes = ms_span_make(memory, out.len);
    map->head = *head;
    ms_map_set_tables(map);
    return map;
}

/* Makes the map. ms_mg_sort_runs must have been called before, and the part of symbols must be whole. */
static machsym_result ms_mg_finish(ms_mg *m, ms_map_head *head, machsym_str name, const ms_pk_dict *dict,
                                   machsym_map **out, machsym_error *err)
{
    ms_mg_lay_out(m);
    if (!m->arena.oom) {
        ms_mg_size_text(m);
        ms_mg_index_runs(m);
    }
    if (m->too_large)
        return ms_fail(err, MACHSYM_ERR_LIMIT, "a map holds 4 GB of text and of data at most", "", 0);
    if (m->arena.oom || ms_mg_part_failed(m->symbols))
        return ms_fail_memory(err);
    if (m->is_damaged)
        head->flags |= MACHSYM_MAP_DAMAGED;
    *out = ms_mg_write(m, head, name, dict);
    return *out != NULL ? MACHSYM_OK : ms_fail_memory(err);
}

/* Frees the parts that are left, and what the merge holds. */
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
