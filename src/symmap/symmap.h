#ifndef ms_ROOM_symmap_symmap
#define ms_ROOM_symmap_symmap
#include "../api/options.h"
#include "../api/api.h"
#include "../base/platform.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "../base/memory.h"
#include "../base/table.h"
#include "pack.h"
#include "pages.h"

/* ==== >>symmap ===========================================================================================
 * Job:    reads a symbol map in place. Format: docs/symmap.md.
 * Offers: machsym_map, ms_map_kept, ms_map_open, ms_map_open_by_pages, ms_map_frames, ms_map_many,
 *         ms_map_find, ms_map_chain_frames, ms_map_names, ms_map_kept_names, ms_map_next,
 *         ms_map_get_unwind.
 * Never:  knows DWARF or Mach-O; trusts a number in a map: every read is checked. */

enum {
    ms_MAP_VERSION = 3,
    ms_MAP_HEAD = 96, /* bytes of the header */
    ms_MAP_ROW = 32,  /* bytes of a row of the directory */
    /* Rows of the directory that a reader takes. There are sixteen kinds of tables today. */
    ms_MAP_MOST_ROWS = 64,
    /* Zeros that end a table of runs: fields are read as 4 or 8 bytes, however many they have. */
    ms_MAP_MARGIN = 8,
    ms_MAP_RUN_HEAD = 36, /* bytes of the head of a run */
    /* Ranges of a full run. With 32, maps are a tenth larger, and lookups alone no faster. */
    ms_MAP_RUN_MAX = 64,
    /* Links in a chain. */
    ms_MAP_LINKS = MACHSYM_MAX_INLINE_DEPTH < 1024 ? 4096 : 4 * MACHSYM_MAX_INLINE_DEPTH,
    /* Runs that may begin in a bucket. A bucket that would have more leads to a list of them. */
    ms_MAP_STEPS = 8,
    ms_MAP_MOST_SHIFT = 31,       /* the largest bucket shift */
    ms_MAP_LAST_RUN = 0x7fffffff, /* the number of a bucket that leads to a list is above it */
    ms_MAP_UNIT = 8, /* bytes of TEXT that places count in; packed blocks begin at multiples of it */
    /* Cache lines that are fetched from where a run begins, before it is read. 12 are all of most runs. A
     * lookup alone waits for what was not fetched, so it takes more; in a batch that would keep others
     * waiting. Multiples of 4. */
    ms_MAP_FETCHED = 16,
    ms_MAP_FETCHED_OF_MANY = 12,
    /* Prefetch distances of a batch, in lookups: from bucket to run, and from run to answer. More than ten
     * misses are seldom under way at once, and a run takes ms_MAP_FETCHED_OF_MANY. */
    ms_MAP_UNTIL_RUN = 6,
    ms_MAP_UNTIL_ANSWER = 9,
    ms_MAP_UNDER_WAY = 16, /* a power of two: lookups whose position is kept */
    /* Bytes of a block that are unpacked beyond those that are asked for: lengths stand alone. */
    ms_MAP_AHEAD = 16,
    /* Texts of each kind that a session finds without a look into their block. */
    ms_MAP_RECENT = 64
};

#define ms_MAP_MAGIC "MACHSYM\n"

/* The kinds of tables. */
enum {
    ms_MAP_NAME = 1,     /* the image's name */
    ms_MAP_PAGES,        /* u64: the checksums of the pages after this table */
    ms_MAP_INDEX,        /* u32: from a bucket of code to a run */
    ms_MAP_RUNS,         /* runs of ranges from debug info, by address */
    ms_MAP_SYMBOL_INDEX, /* the same for ranges from symbols */
    ms_MAP_SYMBOL_RUNS,
    ms_MAP_DICT, /* the text that blocks may refer to, as it is */
    ms_MAP_TEXT, /* packed blocks of names and paths */
    /* What >>twins reads. A map has these rows if functions share code. */
    ms_MAP_TWINS,
    ms_MAP_TWIN_INDEX,
    ms_MAP_TWIN_RUNS,
    ms_MAP_CALLS,
    /* Unwind tables of the image, each as its file has it. A map has a row for each that it carries. */
    ms_MAP_UNWIND_INFO,
    ms_MAP_EH_FRAME,
    ms_MAP_DEBUG_FRAME,
    ms_MAP_LARGE_FRAMES, /* {u32 function, u32 bytes}: what "sub rsp" has of x86 frames */
    ms_MAP_KINDS
};

enum { ms_MAP_MAY_IGNORE = 1 }; /* flag of a table that a reader need not know */

/* A row of the directory. */
typedef struct ms_map_table {
    uint32_t flags;
    uint64_t at;
    uint64_t len;
    /* INDEX: bucket shift; RUNS, TWINS, CALLS, LARGE FRAMES: how many; TEXT: how many blocks; PAGES: low half
     * of its checksum; other unwind tables: low half of the address in the file */
    uint32_t a;
    uint32_t b; /* INDEX: how many buckets; PAGES and unwind tables: the high half */
} ms_map_table;

/* The fixed part of a map file, with the directory. */
typedef struct ms_map_head {
    uint32_t version;
    uint32_t flags;
    machsym_uuid uuid;
    uint32_t cputype;
    uint32_t cpusubtype;
    uint64_t text_addr;
    uint64_t text_size;
    uint32_t lines;
    uint32_t row_count;
    uint64_t size;
    uint64_t checksum; /* of header and directory */
    uint64_t text_exec_addr;
    uint64_t code_size;
    ms_map_table tables[ms_MAP_KINDS]; /* by kind */
} ms_map_head;

/* Where a table stands in the file. */
typedef struct ms_map_area {
    uint64_t at;
    uint64_t len;
} ms_map_area;

struct machsym_map {
    machsym_allocator allocator;
    ms_span bytes; /* the file; of one that is read piece by piece, its begin */
    machsym_io io; /* how the rest is got, and the size of the file */
    bool by_pages; /* sessions compare pages with their checksums when they need them */
    bool lost_name;
    void *memory; /* from the allocator, when the map was built here */
    size_t memory_size;
    ms_map_head head;
    ms_map_area tables[ms_MAP_KINDS]; /* by kind; those of runs without their margin */
#ifndef MACHSYM_NO_OS
    ms_os_file file;
#endif
};

/* ---- Numbers and the header ---- */

static int64_t ms_map_unzigzag(uint64_t number)
{
    return (int64_t)(number >> 1) ^ -(int64_t)(number & 1);
}

static void ms_map_store_u16(uint8_t *p, uint32_t number)
{
    p[0] = (uint8_t)number;
    p[1] = (uint8_t)(number >> 8);
}

static void ms_map_store_u32(uint8_t *p, uint32_t number)
{
    ms_map_store_u16(p, number);
    ms_map_store_u16(p + 2, number >> 16);
}

static ms_NOINLINE void ms_map_store_u64(uint8_t *p, uint64_t number)
{
    ms_map_store_u32(p, (uint32_t)number);
    ms_map_store_u32(p + 4, (uint32_t)(number >> 32));
}

/* Whether the directory has a row for a kind. Optional tables have one where they were set. */
static bool ms_map_has_row(const ms_map_head *head, unsigned kind)
{
    return kind <= ms_MAP_TEXT || head->tables[kind].flags != 0;
}

static void ms_map_store_head(const ms_map_head *head, uint8_t *p)
{
    uint8_t *row = p + ms_MAP_HEAD;
    ms_zero(p, ms_MAP_HEAD);
    ms_copy(p, ms_MAP_MAGIC, 8);
    ms_map_store_u32(p + 8, head->version);
    ms_map_store_u32(p + 12, head->flags);
    ms_copy(p + 16, head->uuid.v, 16);
    ms_map_store_u32(p + 32, head->cputype);
    ms_map_store_u32(p + 36, head->cpusubtype);
    ms_map_store_u64(p + 40, head->text_addr);
    ms_map_store_u64(p + 48, head->text_size);
    ms_map_store_u32(p + 56, head->lines);
    ms_map_store_u32(p + 60, head->row_count);
    ms_map_store_u64(p + 64, head->size);
    ms_map_store_u64(p + 72, head->checksum);
    ms_map_store_u64(p + 80, head->text_exec_addr);
    ms_map_store_u64(p + 88, head->code_size);
    for (uint32_t kind = 1; kind < ms_MAP_KINDS; kind++) {
        const ms_map_table *table = &head->tables[kind];
        if (!ms_map_has_row(head, kind))
            continue;
        ms_map_store_u32(row, kind);
        ms_map_store_u32(row + 4, table->flags);
        ms_map_store_u64(row + 8, table->at);
        ms_map_store_u64(row + 16, table->len);
        ms_map_store_u32(row + 24, table->a);
        ms_map_store_u32(row + 28, table->b);
        row += ms_MAP_ROW;
    }
}

static void ms_map_load_head(const uint8_t *p, ms_map_head *head)
{
    head->version = ms_rd_raw_u32(p + 8);
    head->flags = ms_rd_raw_u32(p + 12);
    ms_copy(head->uuid.v, p + 16, 16);
    head->cputype = ms_rd_raw_u32(p + 32);
    head->cpusubtype = ms_rd_raw_u32(p + 36);
    head->text_addr = ms_rd_raw_u64(p + 40);
    head->text_size = ms_rd_raw_u64(p + 48);
    head->lines = ms_rd_raw_u32(p + 56);
    head->row_count = ms_rd_raw_u32(p + 60);
    head->size = ms_rd_raw_u64(p + 64);
    head->checksum = ms_rd_raw_u64(p + 72);
    head->text_exec_addr = ms_rd_raw_u64(p + 80);
    head->code_size = ms_rd_raw_u64(p + 88);
}

/* The checksum of header and directory counts its own field as zero. */
static uint64_t ms_map_sum_head(ms_span bytes, uint32_t row_count)
{
    uint8_t head[ms_MAP_HEAD];
    ms_copy(head, bytes.ptr, ms_MAP_HEAD);
    ms_map_store_u64(head + 72, 0);
    uint64_t sum = ms_pg_sum(ms_span_make(head, ms_MAP_HEAD));
    return sum ^ ms_pg_sum(ms_span_sub(bytes, ms_MAP_HEAD, (uint64_t)row_count * ms_MAP_ROW));
}

/* What the pages divide: all after the table of their checksums. */
static ms_span ms_map_pages(const machsym_map *map)
{
    const ms_map_table *table = &map->head.tables[ms_MAP_PAGES];
    return ms_span_from(map->bytes, table->at + table->len);
}

/* The bytes of a table that lies in memory. */
static ms_span ms_map_table_bytes(const machsym_map *map, uint32_t kind)
{
    return ms_span_sub(map->bytes, map->tables[kind].at, map->tables[kind].len);
}

/* ---- Opening ---- */

/* Whether a file begins as a map does. */
static bool ms_map_is(ms_span bytes)
{
    return bytes.len >= 8 && ms_equal(bytes.ptr, ms_MAP_MAGIC, 8);
}

static machsym_result ms_map_fail_damaged(machsym_error *err, const char *what, uint64_t at)
{
    return ms_fail(err, MACHSYM_ERR_DAMAGED, what, "map header", at);
}

/* Sets where a table stands whose row lies inside the map. */
static void ms_map_set_table(machsym_map *map, uint32_t kind)
{
    const ms_map_table *table = &map->head.tables[kind];
    ms_map_area *area = &map->tables[kind];
    area->at = table->at;
    area->len = table->len;
    if (kind == ms_MAP_RUNS || kind == ms_MAP_SYMBOL_RUNS || kind == ms_MAP_TWIN_RUNS)
        area->len -= area->len < ms_MAP_MARGIN ? area->len : (uint64_t)ms_MAP_MARGIN;
}

/* Reads a row of the directory. A table of a kind that this reader does not know is refused unless it may be
 * ignored. */
static machsym_result ms_map_check_row(machsym_map *map, uint64_t at, machsym_error *err)
{
    const uint8_t *p = map->bytes.ptr + at;
    uint32_t kind = ms_rd_raw_u32(p);
    ms_map_table table;
    table.flags = ms_rd_raw_u32(p + 4);
    table.at = ms_rd_raw_u64(p + 8);
    table.len = ms_rd_raw_u64(p + 16);
    table.a = ms_rd_raw_u32(p + 24);
    table.b = ms_rd_raw_u32(p + 28);
    if (table.at > map->head.size || table.len > map->head.size - table.at)
        return ms_map_fail_damaged(err, "a table lies outside the map", at);
    if (kind == 0 || kind >= ms_MAP_KINDS) {
        if ((table.flags & ms_MAP_MAY_IGNORE) != 0)
            return MACHSYM_OK;
        return ms_fail(err, MACHSYM_ERR_VERSION,
                       "the map has a table that this version does not know; build it again", "map header",
                       at);
    }
    bool is_index = kind == ms_MAP_INDEX || kind == ms_MAP_SYMBOL_INDEX || kind == ms_MAP_TWIN_INDEX;
    if (is_index && (table.a > ms_MAP_MOST_SHIFT || table.b > table.len / 4))
        return ms_map_fail_damaged(err, "a number of an index is out of bounds", at);
    map->head.tables[kind] = table;
    ms_map_set_table(map, kind);
    return MACHSYM_OK;
}

static machsym_result ms_map_fail_sum(machsym_error *err, const char *where, uint64_t at)
{
    return ms_fail(err, MACHSYM_ERR_CHECKSUM, "the map's checksum does not match its bytes; build it again",
                   where, at);
}

/* Compares the checksums of header, directory, and the table of checksums, which have to be there. */
static machsym_result ms_map_check_begin(const machsym_map *map, machsym_error *err)
{
    const ms_map_table *table = &map->head.tables[ms_MAP_PAGES];
    uint64_t begin = table->at + table->len;
    uint64_t left = map->head.size - begin;
    if (ms_map_sum_head(map->bytes, map->head.row_count) != map->head.checksum)
        return ms_map_fail_sum(err, "map header", 72);
    if (table->at != ms_MAP_HEAD + (uint64_t)map->head.row_count * ms_MAP_ROW || begin > map->bytes.len ||
        table->len % 8 != 0 || table->len / 8 != left / ms_PG_BYTES + (left % ms_PG_BYTES != 0))
        return ms_map_fail_damaged(err, "the checksums are not those of the whole map", table->at);
    if (ms_pg_sum(ms_map_table_bytes(map, ms_MAP_PAGES)) != ((uint64_t)table->b << 32 | table->a))
        return ms_map_fail_sum(err, "map checksums", table->at);
    return MACHSYM_OK;
}

/* Compares the checksums of all pages. */
static machsym_result ms_map_check_pages(const machsym_map *map, machsym_error *err)
{
    ms_span all = ms_map_pages(map);
    ms_span sums = ms_map_table_bytes(map, ms_MAP_PAGES);
    for (uint64_t i = 0; i < sums.len / 8; i++) {
        if (ms_pg_sum_at(all, i) != ms_rd_raw_u64(sums.ptr + 8 * i))
            return ms_map_fail_sum(err, "map", map->head.size - all.len + i * ms_PG_BYTES);
    }
    return MACHSYM_OK;
}

/* Begins to hand out a map's bytes by pages. Returns false when memory is out. */
static bool ms_map_open_pages(const machsym_map *map, machsym_allocator allocator, machsym_io_stats *reads,
                              ms_pg *pages)
{
    const ms_map_table *table = &map->head.tables[ms_MAP_PAGES];
    machsym_io io = map->io;
    uint64_t base = table->at + table->len;
    uint64_t in_memory = map->bytes.len;
    io.size = map->head.size;
    if (in_memory < io.size) /* whole pages only */
        in_memory -= (in_memory - base) % ms_PG_BYTES;
    return ms_pg_open(pages, ms_span_sub(map->bytes, 0, in_memory), &io, base,
                      ms_map_table_bytes(map, ms_MAP_PAGES), allocator, reads);
}

/* Decides whether the image's name is the one that was written. It is told as long as the map is open, so it
 * has to lie in the part that is in memory. */
static machsym_result ms_map_check_name(machsym_map *map, machsym_error *err)
{
    ms_map_area *name = &map->tables[ms_MAP_NAME];
    machsym_io_stats reads;
    ms_pg pages;
    ms_zero(&reads, sizeof reads);
    if (name->len == 0)
        return MACHSYM_OK;
    if (!ms_map_open_pages(map, map->allocator, &reads, &pages))
        return ms_fail_memory(err);
    uint64_t end = name->at + name->len;
    map->lost_name = end > pages.bytes.len || ms_pg_at(&pages, name->at, name->len) == NULL;
    name->len = map->lost_name ? 0 : name->len;
    ms_arena_free(&pages.arena);
    return MACHSYM_OK;
}

/* Compares checksums: of all, or of what a session does not compare. */
static machsym_result ms_map_check_sums(machsym_map *map, machsym_error *err)
{
    machsym_result result = ms_map_check_begin(map, err);
    if (result != MACHSYM_OK)
        return result;
    return map->by_pages ? ms_map_check_name(map, err) : ms_map_check_pages(map, err);
}

/* How many bytes of a map's begin have to be there for it to be opened: those up to the end of the pages
 * that hold the image's name. bytes: as many as there are. */
static uint64_t ms_map_begin_size(ms_span bytes, uint64_t size)
{
    uint64_t rows = bytes.len < ms_MAP_HEAD ? 0 : ms_rd_raw_u32(bytes.ptr + 60);
    uint64_t begin = ms_MAP_HEAD + (rows < ms_MAP_MOST_ROWS ? rows : (uint64_t)ms_MAP_MOST_ROWS) * ms_MAP_ROW;
    uint64_t need = begin;
    uint64_t name_end = 0;
    for (uint64_t at = ms_MAP_HEAD; at < begin && at + ms_MAP_ROW <= bytes.len; at += ms_MAP_ROW) {
        uint32_t kind = ms_rd_raw_u32(bytes.ptr + at);
        uint64_t from = ms_rd_raw_u64(bytes.ptr + at + 8);
        uint64_t len = ms_rd_raw_u64(bytes.ptr + at + 16);
        if (from > size || len > size - from)
            continue;
        if (kind == ms_MAP_PAGES && len / 8 <= size / ms_PG_BYTES + 1)
            need = from + len;
        if (kind == ms_MAP_NAME && len <= MACHSYM_MAX_TEXT)
            name_end = from + len;
    }
    if (name_end > need && name_end - need <= 2 * MACHSYM_MAX_TEXT)
        need += (name_end - need + ms_PG_BYTES - 1) / ms_PG_BYTES * ms_PG_BYTES;
    return need < size ? need : size;
}

/* Checks what a map file of size bytes says of itself. */
static machsym_result ms_map_check(machsym_map *map, uint64_t size, uint32_t flags, machsym_error *err)
{
    ms_map_head *head = &map->head;
    machsym_result result = MACHSYM_OK;
    if (map->bytes.len < ms_MAP_HEAD || !ms_map_is(map->bytes))
        return ms_fail(err, MACHSYM_ERR_FORMAT, "not a symbol map", "map header", 0);
    ms_map_load_head(map->bytes.ptr, head);
    if (head->version != ms_MAP_VERSION)
        return ms_fail(err, MACHSYM_ERR_VERSION,
                       "the map was written in another format version; build it again", "map header", 8);
    if (head->size != size)
        return ms_map_fail_damaged(err, "the map is cut short or has grown", 64);
    if (head->lines >= MACHSYM_LINES_COUNT || head->text_addr > UINT64_MAX - UINT32_MAX)
        return ms_map_fail_damaged(err, "a number in the header is out of bounds", 56);
    if (head->row_count > ms_MAP_MOST_ROWS || head->row_count > (map->bytes.len - ms_MAP_HEAD) / ms_MAP_ROW)
        return ms_map_fail_damaged(err, "the directory has too many rows", 60);
    for (uint32_t i = 0; i < head->row_count && result == MACHSYM_OK; i++)
        result = ms_map_check_row(map, ms_MAP_HEAD + (uint64_t)i * ms_MAP_ROW, err);
    if (result == MACHSYM_OK && (flags & MACHSYM_MAP_UNCHECKED) == 0)
        result = ms_map_check_sums(map, err);
    return result;
}

static void ms_map_close(machsym_map *map)
{
#ifndef MACHSYM_NO_OS
    ms_os_unmap(&map->file);
#endif
    if (map->memory != NULL)
        map->allocator.free(map->allocator.user, map->memory, map->memory_size);
    map->allocator.free(map->allocator.user, map, sizeof *map);
}

static machsym_result ms_map_open(const machsym_map_desc *desc, machsym_allocator allocator,
                                  machsym_map **out, machsym_error *err)
{
    machsym_map *map = (machsym_map *)allocator.alloc(allocator.user, sizeof *map);
    if (map == NULL)
        return ms_fail_memory(err);
    ms_zero(map, sizeof *map);
    map->allocator = allocator;
    map->bytes = ms_span_make(desc->bytes.ptr, desc->bytes.len);
    machsym_result result = MACHSYM_OK;
#ifndef MACHSYM_NO_OS
    if (desc->bytes.ptr == NULL) {
        int code = ms_os_map(desc->path, (desc->flags & MACHSYM_MAP_COPY) != 0, allocator, &map->file);
        map->bytes = ms_span_make(map->file.ptr, map->file.len);
        if (code != 0)
            result = ms_os_fail(err, code);
    }
#endif
    if (result == MACHSYM_OK)
        result = ms_map_check(map, map->bytes.len, desc->flags, err);
    if (result == MACHSYM_OK)
        *out = map;
    else
        ms_map_close(map);
    return result;
}

/* Opens a map whose pages sessions compare with their checksums when they need them. io.size is that of
 * the file. bytes is all of it, or ms_map_begin_size when io.read gives the rest. */
static machsym_result ms_map_open_by_pages(ms_span bytes, const machsym_io *io, machsym_allocator allocator,
                                           machsym_map **out, machsym_error *err)
{
    machsym_map *map = (machsym_map *)allocator.alloc(allocator.user, sizeof *map);
    if (map == NULL)
        return ms_fail_memory(err);
    ms_zero(map, sizeof *map);
    map->allocator = allocator;
    map->bytes = bytes;
    map->io = *io;
    map->by_pages = true;
    machsym_result result = ms_map_check(map, io->size, 0, err);
    if (result == MACHSYM_OK)
        *out = map;
    else
        ms_map_close(map);
    return result;
}

static machsym_str ms_map_name_of(const machsym_map *map)
{
    ms_span name = ms_map_table_bytes(map, ms_MAP_NAME);
    return ms_str_make((const char *)name.ptr, name.len);
}

/* Whether all bytes of a map are in memory. */
static bool ms_map_is_here(const machsym_map *map)
{
    return map->bytes.len == map->head.size;
}

/* Whether the map has ranges from debug info. */
static bool ms_map_has_runs(const machsym_map *map)
{
    return map->tables[ms_MAP_RUNS].len != 0;
}

/* All but the name of the architecture. */
static void ms_map_get_info(const machsym_map *map, machsym_map_info *out)
{
    const ms_map_head *head = &map->head;
    ms_zero(out, sizeof *out);
    out->name = ms_map_name_of(map);
    out->uuid = head->uuid;
    out->cputype = head->cputype;
    out->cpusubtype = head->cpusubtype;
    out->text_addr = head->text_addr;
    out->text_size = head->text_size;
    out->text_exec_addr = head->text_exec_addr;
    out->code_size = head->code_size;
    out->lines = (machsym_lines)head->lines;
    out->flags = head->flags;
    out->version = head->version;
    out->size = head->size;
    out->run_count = head->tables[ms_MAP_RUNS].a;
    out->symbol_run_count = head->tables[ms_MAP_SYMBOL_RUNS].a;
    out->text_bytes = (uint64_t)head->tables[ms_MAP_TEXT].a * ms_PK_BLOCK;
    out->packed_bytes = map->tables[ms_MAP_TEXT].len;
    out->data_bytes = map->tables[ms_MAP_RUNS].len + map->tables[ms_MAP_SYMBOL_RUNS].len;
    for (unsigned kind = ms_MAP_UNWIND_INFO; kind <= ms_MAP_LARGE_FRAMES; kind++)
        out->unwind_bytes += map->tables[kind].len;
    if (out->unwind_bytes != 0)
        out->flags |= MACHSYM_MAP_UNWIND;
}

/* The bytes of a table for which no session answers. Returns: nothing if some are damaged, or are not in
 * memory. */
static ms_span ms_map_whole_table(const machsym_map *map, uint32_t kind)
{
    const ms_map_area *area = &map->tables[kind];
    ms_span all = ms_map_pages(map), sums = ms_map_table_bytes(map, ms_MAP_PAGES);
    uint64_t base = map->head.size - all.len, end = area->at + area->len;
    if (area->len == 0 || end > map->bytes.len)
        return ms_span_make(NULL, 0);
    if (map->by_pages && (map->bytes.len != map->head.size || area->at < base))
        return ms_span_make(NULL, 0);
    for (uint64_t i = (area->at - base) / ms_PG_BYTES; map->by_pages && base + i * ms_PG_BYTES < end; i++) {
        if (i >= sums.len / 8 || ms_pg_sum_at(all, i) != ms_rd_raw_u64(sums.ptr + 8 * i))
            return ms_span_make(NULL, 0);
    }
    return ms_map_table_bytes(map, kind);
}

/* Gives a section of the image: address in the process, and bytes. */
static void ms_map_get_section(const machsym_map *map, uint32_t kind, uint64_t slide,
                               machsym_unwind_section *out)
{
    const ms_map_table *table = &map->head.tables[kind];
    ms_span bytes = ms_map_whole_table(map, kind);
    out->bytes.ptr = bytes.ptr;
    out->bytes.len = bytes.len;
    out->size = bytes.len;
    out->addr = bytes.ptr != NULL ? ((uint64_t)table->b << 32 | table->a) + slide : 0;
}

static bool ms_map_get_unwind(const machsym_map *map, uint64_t load_addr, machsym_unwind_image *out)
{
    ms_span large = ms_map_whole_table(map, ms_MAP_LARGE_FRAMES);
    uint64_t slide = load_addr - map->head.text_addr;
    ms_zero(out, sizeof *out);
    out->load_addr = load_addr;
    out->size = map->head.text_size;
    out->file_addr = map->head.text_addr;
    out->large_frames.ptr = large.ptr;
    out->large_frames.len = large.len;
    ms_map_get_section(map, ms_MAP_UNWIND_INFO, slide, &out->unwind_info);
    ms_map_get_section(map, ms_MAP_EH_FRAME, slide, &out->eh_frame);
    ms_map_get_section(map, ms_MAP_DEBUG_FRAME, slide, &out->debug_frame);
    return out->unwind_info.size != 0 || out->eh_frame.size != 0 || out->debug_frame.size != 0;
}

/* ---- Runs ---- */

/* The numbers of bytes that fields have in a run, in the order of its head. */
enum {
    ms_MAP_LINK = 0, /* number of a link */
    ms_MAP_FILE,     /* number of a file */
    ms_MAP_LINE,
    ms_MAP_COLUMN,
    ms_MAP_PLACE,  /* where a text stands in TEXT, with a flag */
    ms_MAP_START,  /* of a function */
    ms_MAP_EXTENT, /* of a function */
    ms_MAP_STARTS, /* of ranges: 2 or 4 */
    ms_MAP_WIDTHS
};

enum {
    ms_MAP_NOTHING = 0, /* number of a link: nothing is known */
    ms_MAP_ONLY_LINES,  /* lines, but no function */
    ms_MAP_FIRST_LINK
};

/* A run that is being read. Its parts follow each other: starts, concrete functions, files, ranges, calls. */
typedef struct ms_map_run {
    const uint8_t *v;
    uint64_t base; /* offset that starts count from */
    uint64_t end;  /* offset where its last range ends */
    uint64_t text; /* what places count from */
    uint32_t range_count;
    uint32_t root_count;
    uint32_t call_count;
    uint32_t file_count;
    uint8_t bytes[ms_MAP_WIDTHS];
    uint32_t line_at; /* bytes of a range or call before its line */
    uint32_t column_at;
    uint32_t range_bytes; /* of each range, and so on */
    uint32_t root_bytes;
    uint32_t call_bytes;
    uint64_t roots; /* bytes from v on, and so on */
    uint64_t files;
    uint64_t ranges;
    uint64_t calls;
} ms_map_run;

/* Whether none of 8 widths, a byte each, is above the most that its field may have: 2, 2, 4, 4, 6, 8, 8 and
 * 4 bytes. The sum of a width and the constant's byte has the high bit when it is. */
static inline bool ms_map_widths_fit(const uint8_t *widths)
{
    uint64_t all = ms_rd_raw_u64(widths);
    return ((all | (all + 0x7b7777797b7b7d7du)) & 0x8080808080808080u) == 0;
}

/* What most runs have for 8 widths, but for those of START and SIZE, which are 0 here. Writers give no field
 * less. */
#define ms_MAP_USUAL      0x0200000400020101u
#define ms_MAP_USUAL_MASK 0xff0000ffffffffffu

/* Whether a run has the usual widths. Then it takes them over as constants: a lookup that compilers make for
 * them has two thirds of the instructions. */
static ms_INLINE bool ms_map_take_usual(const uint8_t *widths, ms_map_run *run)
{
    run->bytes[ms_MAP_LINK] = run->bytes[ms_MAP_FILE] = 1;
    run->bytes[ms_MAP_LINE] = run->bytes[ms_MAP_STARTS] = 2;
    run->bytes[ms_MAP_COLUMN] = 0;
    run->bytes[ms_MAP_PLACE] = 4;
    run->bytes[ms_MAP_START] = widths[ms_MAP_START];
    run->bytes[ms_MAP_EXTENT] = widths[ms_MAP_EXTENT];
    return (ms_rd_raw_u64(widths) & ms_MAP_USUAL_MASK) == ms_MAP_USUAL;
}

/* The masks of fields, by their bytes. */
static const uint64_t ms_map_masks[9] = {
    0, 0xff, 0xffff, 0xffffff, 0xffffffff, 0xffffffffff, 0xffffffffffff, 0xffffffffffffff, UINT64_MAX};

/* A field of a number of bytes, 4 at most. It reads 4 bytes, which are there: a margin follows the last
 * run. */
static inline uint32_t ms_map_field(const uint8_t *p, unsigned bytes)
{
    MACHSYM_COUNT_WORK(1);
    return ms_rd_raw_u32(p) & (uint32_t)ms_map_masks[bytes];
}

/* A field of a number of bytes, 8 at most. */
static ms_INLINE uint64_t ms_map_long_field(const uint8_t *p, unsigned bytes)
{
    uint64_t number = (uint64_t)ms_rd_raw_u32(p) | (uint64_t)ms_rd_raw_u32(p + 4) << 32;
    return number & ms_map_masks[bytes];
}

/* Decides where the parts of a run begin. Returns its length in bytes. */
static ms_INLINE uint64_t ms_map_set_parts(ms_map_run *run)
{
    const uint8_t *bytes = run->bytes;
    run->line_at = 0u + bytes[ms_MAP_LINK] + bytes[ms_MAP_FILE];
    run->column_at = run->line_at + bytes[ms_MAP_LINE];
    run->range_bytes = run->column_at + bytes[ms_MAP_COLUMN];
    run->call_bytes = run->range_bytes + bytes[ms_MAP_PLACE];
    run->root_bytes = 1u + bytes[ms_MAP_PLACE] + bytes[ms_MAP_START] + bytes[ms_MAP_EXTENT];
    run->roots = ms_MAP_RUN_HEAD + (uint64_t)bytes[ms_MAP_STARTS] * (run->range_count - 1);
    run->files = run->roots + (uint64_t)run->root_bytes * run->root_count;
    run->ranges = run->files + (uint64_t)bytes[ms_MAP_PLACE] * run->file_count;
    run->calls = run->ranges + (uint64_t)run->range_bytes * run->range_count;
    return run->calls + (uint64_t)run->call_bytes * run->call_count;
}

/* Bytes of the file: of a map that is in memory and checked as they are, else from pages, until the next
 * call. NULL when those are damaged or cannot be read. */
static inline const uint8_t *ms_map_at(const machsym_map *map, ms_pg *pages, uint64_t at, uint64_t len)
{
    return pages == NULL ? map->bytes.ptr + at : ms_pg_at(pages, at, len);
}

/* Reads a run of a table whose head is at p. at: its position; usual: only one with the usual widths. Returns
 * false when it is another one, or a number of it is out of bounds; *is_lost when it cannot be read. */
static ms_INLINE bool ms_map_open_run(ms_pg *pages, const ms_map_area *runs, uint64_t at, const uint8_t *p,
                                      bool usual, ms_map_run *run, bool *is_lost)
{
    uint64_t begin = ms_rd_raw_u32(p); /* the offset of code from which on it answers */
    uint64_t len = ms_rd_raw_u32(p + 4);
    run->v = p;
    run->end = ms_rd_raw_u32(p + 8);
    run->text = (uint64_t)ms_rd_raw_u32(p + 12) << ms_PK_BLOCK_BITS;
    run->base = ms_rd_raw_u32(p + 16);
    run->range_count = ms_rd_raw_u16(p + 20);
    run->root_count = ms_rd_raw_u16(p + 22);
    run->call_count = ms_rd_raw_u16(p + 24);
    run->file_count = ms_rd_raw_u16(p + 26);
    if (run->range_count == 0 || len > runs->len - at || run->base > begin || begin >= run->end ||
        !ms_map_widths_fit(p + 28))
        return false;
    if (!usual)
        ms_copy(run->bytes, p + 28, ms_MAP_WIDTHS);
    else if (!ms_map_take_usual(p + 28, run))
        return false;
    if (run->bytes[ms_MAP_STARTS] != 2 && run->bytes[ms_MAP_STARTS] != 4)
        return false;
    uint64_t need = ms_map_set_parts(run);
    if (need > len)
        return false;
    if (pages != NULL)
        run->v = ms_pg_at(pages, runs->at + at, need + ms_MAP_MARGIN);
    *is_lost = run->v == NULL;
    return run->v != NULL;
}

/* ---- What a session keeps of a map ---- */

/* A block of text that is unpacked, or its beginning. */
typedef struct ms_map_block {
    uint64_t unit; /* number + 1; 0: none */
    uint64_t next; /* the unit where the next block begins */
    size_t len;    /* bytes that are unpacked */
    ms_rd rest;    /* the packed bytes of what is not; of a map in pages they do not stay */
    uint8_t v[ms_PK_BLOCK + 16];
} ms_map_block;

/* The texts at a place. */
typedef struct ms_map_recent {
    uint64_t place; /* 0: none */
    machsym_path texts;
} ms_map_recent;

/* Names that were unpacked before. */
typedef struct ms_map_kept {
    const machsym_map *map;
    ms_pg pages;  /* of a map whose pages are compared when they are needed */
    ms_span dict; /* of such a map; its ptr NULL: it was not needed yet */
    bool dict_is_lost;
    ms_arena arena;        /* of this */
    ms_arena cache;        /* of what can be dropped */
    ms_tab block_numbers;  /* unit to the number of its block, from 1 on */
    ms_map_block **blocks; /* by number; in cache */
    size_t block_count;
    size_t block_cap;
    ms_map_block *names; /* where the last names stood; NULL: nowhere yet */
    ms_map_block *paths; /* the same of paths */
    ms_tab text_numbers; /* place and kind to the number of texts that no block has alone, from 1 on */
    machsym_path *texts; /* by number; in cache */
    size_t text_count;
    size_t text_cap;
    ms_map_recent recent_names[ms_MAP_RECENT]; /* by the end of their place */
    ms_map_recent recent_paths[ms_MAP_RECENT];
} ms_map_kept;

static ms_map_kept *ms_map_open_kept(const machsym_map *map, machsym_allocator allocator,
                                     machsym_io_stats *reads)
{
    ms_arena arena = ms_arena_make(allocator);
    ms_map_kept *kept = (ms_map_kept *)ms_arena_zeroed(&arena, 1, sizeof *kept);
    if (kept == NULL)
        return NULL;
    if (map->by_pages && !ms_map_open_pages(map, allocator, reads, &kept->pages)) {
        ms_arena_free(&arena);
        return NULL;
    }
    kept->map = map;
    kept->cache = ms_arena_make(allocator);
    kept->block_numbers.arena = kept->text_numbers.arena = &kept->cache;
    kept->arena = arena;
    return kept;
}

static void ms_map_close_kept(ms_map_kept *kept)
{
    ms_arena arena = kept->arena; /* the object lies in it */
    ms_arena_free(&kept->cache);
    ms_arena_free(&kept->pages.arena);
    ms_arena_free(&arena);
}

/* Hands over what answers may show of it to another arena, and closes it. */
static void ms_map_hold_kept(ms_map_kept *kept, ms_arena *held)
{
    ms_arena arena = kept->arena;
    ms_arena_take_all(held, &kept->cache);
    ms_arena_free(&kept->pages.arena);
    ms_arena_free(&arena);
}

static size_t ms_map_kept_memory(const ms_map_kept *kept)
{
    return kept->arena.total + kept->cache.total + kept->pages.arena.total;
}

/* Whether memory ever ran out for what a session keeps: pages and the dictionary are missing as names
 * are. */
static bool ms_map_kept_failed(const ms_map_kept *kept)
{
    return kept->arena.failed || kept->cache.failed || kept->pages.arena.failed;
}

/* Where a session gets bytes of its map; NULL: the map is checked. */
static ms_pg *ms_map_kept_pages(ms_map_kept *kept)
{
    return kept != NULL && kept->map->by_pages ? &kept->pages : NULL;
}

/* ---- Lookup ---- */

/* Where code comes from. */
typedef struct ms_map_line {
    uint32_t file; /* number in the run; in a writer, in the part */
    uint32_t line;
    uint32_t column;
} ms_map_line;

/* A range found, and what it says. */
typedef struct ms_map_hit {
    uint64_t hi; /* from the text base; of a range that is not known: where the next one begins that may be */
    bool is_lost; /* what would tell is damaged, or cannot be read */
    uint32_t link;
    ms_map_line line;
    ms_map_run run;
} ms_map_hit;

/* Of count entries, which are pairs of u32 sorted by the first, the number of those whose first is at or
 * below key. */
static uint64_t ms_map_count_below(const uint8_t *pairs, uint64_t count, uint64_t key)
{
    uint64_t lo = 0;
    for (uint64_t left = count; left > 0;) {
        uint64_t half = left / 2;
        bool is_below = ms_rd_raw_u32(pairs + 8 * (lo + half)) <= key;
        lo += is_below ? half + 1 : 0;
        left = is_below ? left - half - 1 : half;
    }
    return lo;
}

/* The position of the run that a list of runs leads to. */
static uint64_t ms_map_run_of_list(const machsym_map *map, ms_pg *pages, unsigned index, uint64_t at,
                                   uint64_t off, bool *is_lost)
{
    const ms_map_area *area = &map->tables[index];
    if (at >= area->len / 4)
        return UINT64_MAX;
    const uint8_t *list = ms_map_at(map, pages, area->at + 4 * at, 4);
    uint64_t count = list != NULL ? ms_rd_raw_u32(list) : 0;
    ms_lower_to(&count, (area->len / 4 - at - 1) / 2);
    if (list != NULL && count != 0)
        list = ms_map_at(map, pages, area->at + 4 * at, 4 + 8 * count);
    *is_lost = list == NULL;
    if (list == NULL || count == 0)
        return UINT64_MAX;
    uint64_t below = ms_map_count_below(list + 4, count, off);
    return 2 * (uint64_t)ms_rd_raw_u32(list + 8 * (below > 0 ? below : 1));
}

/* Where the number of a bucket stands in the file, of an index that has buckets. */
static inline uint64_t ms_map_bucket(const machsym_map *map, unsigned index, uint64_t off)
{
    const ms_map_table *table = &map->head.tables[index];
    uint64_t bucket = off >> table->a;
    return table->at + 4 * (bucket < table->b ? bucket : table->b - 1);
}

/* The position of the run from which on a lookup steps forward: none after it begins at or below off but a
 * few. */
static ms_INLINE uint64_t ms_map_first_run(const machsym_map *map, ms_pg *pages, unsigned index, uint64_t off,
                                           bool *is_lost)
{
    if (map->head.tables[index].b == 0)
        return UINT64_MAX;
    const uint8_t *bucket = ms_map_at(map, pages, ms_map_bucket(map, index, off), 4);
    *is_lost = bucket == NULL;
    if (bucket == NULL)
        return UINT64_MAX;
    uint32_t number = ms_rd_raw_u32(bucket);
    if (number <= ms_MAP_LAST_RUN)
        return 2 * (uint64_t)number;
    return ms_map_run_of_list(map, pages, index, number & ms_MAP_LAST_RUN, off, is_lost);
}

/* Start number i, of starts with that many bytes each. */
static ms_INLINE uint32_t ms_map_start(const uint8_t *starts, uint32_t size, uint32_t i)
{
    const uint8_t *p = starts + (size_t)size * i;
    return size == 4 ? ms_rd_raw_u32(p) : ms_rd_raw_u16(p);
}

/* How many of count starts are at or below an offset from base. */
static ms_INLINE uint32_t ms_map_count_starts(const uint8_t *starts, uint32_t size, uint32_t count,
                                              uint64_t from)
{
    uint32_t lo = 0;
    while (count > 1) { /* without branches that cannot be predicted */
        uint32_t half = count / 2;
        uint32_t above = lo + half;
        lo = ms_map_start(starts, size, above - 1) <= from ? above : lo;
        count -= half;
    }
    return lo + (count == 1 && ms_map_start(starts, size, lo) <= from);
}

/* The number of the range that may hold an offset from base: the last one that starts at or below it. */
static ms_INLINE uint32_t ms_map_range_at(const ms_map_run *run, uint64_t from)
{
    const uint8_t *starts = run->v + ms_MAP_RUN_HEAD;
    MACHSYM_COUNT_WORK(1);
    return run->bytes[ms_MAP_STARTS] == 4 ? ms_map_count_starts(starts, 4, run->range_count - 1, from)
                                          : ms_map_count_starts(starts, 2, run->range_count - 1, from);
}

/* Where a range ends, as an offset of code. */
static inline uint64_t ms_map_end_of(const ms_map_run *run, uint32_t range)
{
    const uint8_t *starts = run->v + ms_MAP_RUN_HEAD;
    if (range + 1 == run->range_count)
        return run->end;
    return run->base + ms_map_start(starts, run->bytes[ms_MAP_STARTS], range);
}

/* Reads file, line and column of a range or call. */
static ms_INLINE void ms_map_read_line(const ms_map_run *run, const uint8_t *p, ms_map_line *line)
{
    line->file = ms_map_field(p + run->bytes[ms_MAP_LINK], run->bytes[ms_MAP_FILE]);
    line->line = ms_map_field(p + run->line_at, run->bytes[ms_MAP_LINE]);
    line->column = ms_map_field(p + run->column_at, run->bytes[ms_MAP_COLUMN]);
}

/* Looks for off in a run that begins at or below it, and ends after it. Returns whether a range of the
 * run is known there; if not, hit->hi tells where its next one begins. */
static ms_INLINE bool ms_map_in_run(uint64_t off, ms_map_hit *hit)
{
    const ms_map_run *run = &hit->run;
    uint32_t range = ms_map_range_at(run, off - run->base);
    const uint8_t *p = run->v + run->ranges + (size_t)range * run->range_bytes;
    hit->hi = ms_map_end_of(run, range);
    if (hit->hi <= off) { /* starts that do not ascend */
        hit->hi = UINT64_MAX;
        return false;
    }
    hit->link = ms_map_field(p, run->bytes[ms_MAP_LINK]);
    ms_map_read_line(run, p, &hit->line);
    return hit->link != ms_MAP_NOTHING;
}

/* Fetches a number of cache lines of a run into the processor's cache. */
static inline void ms_map_fetch_run(const machsym_map *map, unsigned kind, uint64_t at, unsigned lines)
{
    const ms_map_area *runs = &map->tables[kind];
    if (runs->len < 64 * lines || at > runs->len - 64 * lines)
        return; /* near the end of the table */
    const uint8_t *p = map->bytes.ptr + runs->at + at;
    for (unsigned line = 0; line < lines; line += 4, p += 256) {
        ms_fetch(p);
        ms_fetch(p + 64);
        ms_fetch(p + 128);
        ms_fetch(p + 192);
    }
}

/* Looks for off in the runs of a table from a position on. usual: only in runs that have the usual widths. */
static ms_INLINE bool ms_map_find_from(const machsym_map *map, ms_pg *pages, unsigned kind, uint64_t at,
                                       uint64_t off, bool usual, ms_map_hit *hit)
{
    const ms_map_area *runs = &map->tables[kind];
    hit->is_lost = false;
    hit->hi = UINT64_MAX;
    for (unsigned step = 0; runs->len >= ms_MAP_RUN_HEAD && at <= runs->len - ms_MAP_RUN_HEAD; step++) {
        if (step > 0 && pages == NULL)
            ms_map_fetch_run(map, kind, at, ms_MAP_FETCHED);
        const uint8_t *p = ms_map_at(map, pages, runs->at + at, ms_MAP_RUN_HEAD);
        MACHSYM_COUNT_WORK(1);
        hit->is_lost = p == NULL;
        uint64_t begin = p != NULL ? ms_rd_raw_u32(p) : UINT64_MAX;
        if (off < begin) {
            ms_lower_to(&hit->hi, begin);
            return false;
        }
        hit->hi = UINT64_MAX;
        if (step > ms_MAP_STEPS) /* the index leads to a place too far before */
            return false;
        at += ms_rd_raw_u32(p + 4);
        if (off >= ms_rd_raw_u32(p + 8))
            continue;
        if (!ms_map_open_run(pages, runs, at - ms_rd_raw_u32(p + 4), p, usual, &hit->run, &hit->is_lost))
            return false;
        if (ms_map_in_run(off, hit))
            return true;
    }
    return false;
}

/* Looks for off in the runs that an index leads to. */
static bool ms_map_find(const machsym_map *map, ms_pg *pages, unsigned index, uint64_t off, ms_map_hit *hit)
{
    bool is_lost = false;
    uint64_t at = ms_map_first_run(map, pages, index, off, &is_lost);
    bool found = ms_map_find_from(map, pages, index + 1, at, off, false, hit);
    hit->is_lost |= is_lost;
    return found;
}

/* Where a text stands in TEXT, of a field that tells it; 0 when there is none. */
static inline uint64_t ms_map_place(const ms_map_run *run, uint64_t field)
{
    uint64_t place = field >> 1;
    return place != 0 ? run->text + place : 0;
}

/* Sets a frame's line, and where its file stands in TEXT. */
static ms_INLINE void ms_map_set_line(const ms_map_run *run, const ms_map_line *line,
                                      machsym_map_frame *frame)
{
    unsigned bytes = run->bytes[ms_MAP_PLACE];
    uint64_t file = 0;
    if (line->file - 1 < run->file_count) /* false also for 0, which is no file */
        file = ms_map_place(run,
                            ms_map_long_field(run->v + run->files + (size_t)(line->file - 1) * bytes, bytes));
    frame->file_ref = file;
    frame->line = line->line;
    frame->column = line->column;
    frame->line_source = (line->line | file) != 0 ? MACHSYM_SOURCE_DWARF : MACHSYM_SOURCE_NONE;
}

/* Reads the concrete function that ends a chain into its frame, which may be NULL. Tells where the function
 * begins, from the text base, and how large it is. */
static ms_INLINE void ms_map_root_frame(const ms_map_run *run, uint32_t root, const ms_map_line *line,
                                        machsym_map_frame *frame, uint64_t *begin, uint64_t *size)
{
    const uint8_t *p = run->v + run->roots + (size_t)root * run->root_bytes;
    const uint8_t *start = p + 1 + run->bytes[ms_MAP_PLACE];
    *begin = run->base - (uint64_t)ms_map_unzigzag(ms_map_long_field(start, run->bytes[ms_MAP_START]));
    *size = ms_map_long_field(start + run->bytes[ms_MAP_START], run->bytes[ms_MAP_EXTENT]);
    if (frame == NULL)
        return;
    frame->name_ref = ms_map_place(run, ms_map_long_field(p + 1, run->bytes[ms_MAP_PLACE]));
    frame->name_source = (machsym_source)(p[0] < MACHSYM_SOURCE_COUNT ? p[0] : 0);
    frame->is_inline = false;
    frame->lacks_callers = false;
    ms_map_set_line(run, line, frame);
}

/* The frames of the inlined calls of a chain, the innermost first, MACHSYM_MAX_INLINE_DEPTH at most. *number
 * is the innermost link, and becomes the concrete function. *line is where the code comes from, and becomes
 * where the concrete function has the outermost call. Returns how many calls there are; more than
 * ms_MAP_LINKS when the chain is damaged. The number of a caller is smaller, so the walk ends. */
static ms_INLINE size_t ms_map_call_frames(const ms_map_run *run, uint32_t *number, ms_map_line *line,
                                           machsym_map_frame *frames, size_t cap)
{
    uint32_t first = ms_MAP_FIRST_LINK + run->root_count;
    const uint8_t *calls = run->v + run->calls;
    size_t count = 0;
    for (; *number - first < run->call_count; count++) { /* false also when the number is smaller */
        const uint8_t *p = calls + (size_t)(*number - first) * run->call_bytes;
        uint32_t caller = ms_map_field(p, run->bytes[ms_MAP_LINK]);
        if (caller >= *number || count == ms_MAP_LINKS)
            return (size_t)ms_MAP_LINKS + 1;
        if (count < cap) {
            uint64_t name = ms_map_long_field(p + run->range_bytes, run->bytes[ms_MAP_PLACE]);
            frames[count].name_ref = ms_map_place(run, name);
            frames[count].name_source = (name & 1) != 0 ? MACHSYM_SOURCE_SYMTAB : MACHSYM_SOURCE_DWARF;
            frames[count].is_inline = true;
            frames[count].lacks_callers = false;
            ms_map_set_line(run, line, &frames[count]);
        }
        ms_map_read_line(run, p, line);
        *number = caller;
    }
    return count;
}

/* Takes the bit from a frame's line that says whether it is one near by, if the map has such bits. */
static inline void ms_map_take_near(const machsym_map *map, machsym_map_frame *frame)
{
    if (map->head.lines != MACHSYM_LINES_PEOPLE)
        return;
    if ((frame->line & 1) != 0)
        frame->line_source = MACHSYM_SOURCE_NEAR;
    frame->line >>= 1;
}

/* The frames of a chain. Returns 0 when the chain is damaged, or has more than ms_MAP_LINKS links. */
static ms_INLINE size_t ms_map_chain_frames(const machsym_map *map, const ms_map_hit *hit,
                                            machsym_map_frame *frames, size_t cap)
{
    const ms_map_run *run = &hit->run;
    ms_map_line line = hit->line;
    uint32_t number = hit->link;
    uint64_t begin;
    uint64_t size;
    size_t most = cap < (size_t)MACHSYM_MAX_INLINE_DEPTH ? cap : (size_t)MACHSYM_MAX_INLINE_DEPTH;
    size_t calls = ms_map_call_frames(run, &number, &line, frames, most);
    if (calls >= ms_MAP_LINKS || number - ms_MAP_FIRST_LINK >= run->root_count)
        return 0;
    if (calls > (size_t)MACHSYM_MAX_INLINE_DEPTH) {
        calls = (size_t)MACHSYM_MAX_INLINE_DEPTH;
        if (cap >= calls)
            frames[calls - 1].lacks_callers = true;
    }
    size_t told = calls < cap ? calls + 1 : cap;
    ms_map_root_frame(run, number - ms_MAP_FIRST_LINK, &line, calls < cap ? &frames[calls] : NULL, &begin,
                      &size);
    begin += map->head.text_addr;
    for (size_t i = 0; i < told; i++) { /* frames may be NULL, to which not even 0 may be added */
        frames[i].function_start = begin;
        frames[i].function_size = size;
        ms_map_take_near(map, &frames[i]);
    }
    return calls + 1;
}

/* The frames of the symbol at an offset from the text base. Returns 0 when there is none. */
static size_t ms_map_symbol_frames(const machsym_map *map, ms_pg *pages, uint64_t off,
                                   machsym_map_frame *frames, size_t cap)
{
    ms_map_hit hit;
    bool found = ms_map_find(map, pages, ms_MAP_SYMBOL_INDEX, off, &hit) && hit.link != ms_MAP_ONLY_LINES;
    return found ? ms_map_chain_frames(map, &hit, frames, cap) : 0;
}

/* The frame of a range that has a line but no function: the line, in the symbol that is there. */
static size_t ms_map_line_frames(const machsym_map *map, ms_pg *pages, uint64_t off, const ms_map_hit *hit,
                                 machsym_map_frame *frames, size_t cap)
{
    machsym_map_frame line;
    ms_map_set_line(&hit->run, &hit->line, &line); /* the run's bytes may be gone after the next search */
    ms_map_take_near(map, &line);
    size_t count = ms_map_symbol_frames(map, pages, off, frames, cap);
    if (cap == 0)
        return 1;
    if (count == 0)
        ms_zero(frames, sizeof *frames);
    frames->line = line.line;
    frames->column = line.column;
    frames->file_ref = line.file_ref;
    if (line.line_source != MACHSYM_SOURCE_NONE)
        frames->line_source = line.line_source;
    return 1;
}

/* The frames at an offset of 32 bits from the text base: those that the runs from debug info tell of, or
 * else those of symbols. at: the position of the run that its search begins with. */
static ms_NOINLINE size_t ms_map_frames_from(const machsym_map *map, ms_pg *pages, uint64_t at, uint64_t off,
                                             machsym_map_frame *frames, size_t cap)
{
    ms_map_hit hit;
    bool found = ms_map_find_from(map, pages, ms_MAP_RUNS, at, off, false, &hit);
    if (!found) /* of what is lost, a symbol would be the wrong answer */
        return hit.is_lost ? 0 : ms_map_symbol_frames(map, pages, off, frames, cap);
    if (hit.link == ms_MAP_ONLY_LINES)
        return ms_map_line_frames(map, pages, off, &hit, frames, cap);
    return ms_map_chain_frames(map, &hit, frames, cap);
}

/* Whether the runs that a search went through, from a position to the end of the one that it found, are as
 * they were written. */
static inline bool ms_map_are_right(const machsym_map *map, ms_pg *pages, uint64_t at, const ms_map_run *run)
{
    const ms_map_area *runs = &map->tables[ms_MAP_RUNS];
    const uint8_t *first = map->bytes.ptr + runs->at + at;
    return ms_pg_at(pages, runs->at + at,
                    (uint64_t)(run->v - first) + ms_rd_raw_u32(run->v + 4) + ms_MAP_MARGIN) != NULL;
}

/* The same in a map that is in memory. Most lookups end in a chain of a run with the usual widths, and that
 * is right; others are begun again. */
static ms_NOINLINE size_t ms_map_frames_here(const machsym_map *map, ms_pg *pages, uint64_t at, uint64_t off,
                                             machsym_map_frame *frames, size_t cap)
{
    ms_map_hit hit;
    if (!ms_SMALL_CODE && ms_map_find_from(map, NULL, ms_MAP_RUNS, at, off, true, &hit) &&
        hit.link != ms_MAP_ONLY_LINES && (pages == NULL || ms_map_are_right(map, pages, at, &hit.run)))
        return ms_map_chain_frames(map, &hit, frames, cap);
    return ms_map_frames_from(map, pages, at, off, frames, cap);
}

/* The frames at an address. */
static size_t ms_map_frames(const machsym_map *map, ms_pg *pages, uint64_t addr, machsym_map_frame *frames,
                            size_t cap)
{
    uint64_t off = addr - map->head.text_addr; /* of an address below the text base, above 32 bits */
    bool is_lost = false;
    if (off > UINT32_MAX || (pages == NULL && !ms_map_is_here(map)))
        return 0;
    if (pages == NULL) {
        uint64_t at = ms_map_first_run(map, NULL, ms_MAP_INDEX, off, &is_lost);
        ms_map_fetch_run(map, ms_MAP_RUNS, at, ms_MAP_FETCHED);
        return ms_map_frames_here(map, NULL, at, off, frames, cap);
    }
    uint64_t at = ms_map_first_run(map, pages, ms_MAP_INDEX, off, &is_lost);
    if (is_lost)
        return 0;
    return !ms_SMALL_CODE && ms_map_is_here(map) ? ms_map_frames_here(map, pages, at, off, frames, cap)
                                                 : ms_map_frames_from(map, pages, at, off, frames, cap);
}

/* Fetches the number of the bucket of an offset into the processor's cache. */
static inline void ms_map_fetch_bucket(const machsym_map *map, uint64_t off)
{
    if (map->head.tables[ms_MAP_INDEX].b != 0)
        ms_fetch(map->bytes.ptr + ms_map_bucket(map, ms_MAP_INDEX, off));
}

/* The frames at count addresses, those of one after those of the other, as many as fit into cap. While one
 * address is looked up, the processor fetches what the next ones need. Returns how many frames all have. */
static size_t ms_map_many(const machsym_map *map, const uint64_t *addrs, size_t count,
                          machsym_answer *answers, machsym_map_frame *frames, size_t cap)
{
    uint64_t at[ms_MAP_UNDER_WAY]; /* where the search of a lookup begins, by its number's rest */
    uint64_t base = map->head.text_addr;
    bool is_here = ms_map_is_here(map);
    bool is_lost = false; /* of a map that is in memory, nothing is */
    size_t total = 0;
    for (size_t i = 0; i < count + ms_MAP_UNTIL_ANSWER; i++) {
        size_t run = i - ms_MAP_UNTIL_RUN; /* before there is one, a number above all */
        size_t answer = i - ms_MAP_UNTIL_ANSWER;
        if (i < count && is_here)
            ms_map_fetch_bucket(map, addrs[i] - base);
        if (run < count && is_here) {
            uint64_t place = ms_map_first_run(map, NULL, ms_MAP_INDEX, addrs[run] - base, &is_lost);
            ms_map_fetch_run(map, ms_MAP_RUNS, place, ms_MAP_FETCHED_OF_MANY);
            at[run % ms_MAP_UNDER_WAY] = place;
        }
        if (answer < count) {
            size_t room = total < cap ? cap - total : 0;
            bool is_inside = is_here && addrs[answer] - base <= UINT32_MAX;
            answers[answer].first = total;
            answers[answer].count =
                is_inside ? ms_map_frames_here(map, NULL, at[answer % ms_MAP_UNDER_WAY], addrs[answer] - base,
                                               room != 0 ? frames + total : NULL, room)
                          : 0;
            total += answers[answer].count;
        }
    }
    return total;
}

/* ---- Names ---- */

/* The text that packed blocks refer to. Of one that is longer, no match reaches more than its end. A session
 * copies it, since bytes of a page do not stay. */
static ms_span ms_map_dict(const machsym_map *map, ms_map_kept *kept)
{
    const ms_map_area *dict = &map->tables[ms_MAP_DICT];
    ms_pg *pages = ms_map_kept_pages(kept);
    if (pages == NULL)
        return ms_map_table_bytes(map, ms_MAP_DICT);
    size_t len = dict->len < UINT16_MAX ? (size_t)dict->len : (size_t)UINT16_MAX;
    if (kept->dict.ptr != NULL || kept->dict_is_lost)
        return kept->dict;
    uint8_t *copy = (uint8_t *)ms_arena_alloc(&kept->arena, len + 1, 1);
    const uint8_t *bytes = len != 0 ? ms_pg_at(pages, dict->at + dict->len - len, len) : NULL;
    kept->dict_is_lost = copy == NULL || (bytes == NULL && len != 0);
    if (kept->dict_is_lost)
        return kept->dict;
    if (len != 0)
        ms_copy(copy, bytes, len);
    kept->dict = ms_span_make(copy, len);
    return kept->dict;
}

/* Unpacks the block at a unit of TEXT so far that want bytes of it are there. Returns false when they are
 * not. */
static bool ms_map_turn_to(const machsym_map *map, ms_map_kept *kept, uint64_t unit, size_t want,
                           ms_map_block *block)
{
    const ms_map_area *text = &map->tables[ms_MAP_TEXT];
    ms_pg *pages = ms_map_kept_pages(kept);
    if (block->unit == unit + 1 && block->len >= want)
        return true;
    if (block->unit == unit + 1 && pages == NULL) {
        block->len = ms_pk_unpack(ms_map_dict(map, kept), &block->rest, block->v, block->len, want);
        return block->len >= want;
    }
    if (unit >= text->len / ms_MAP_UNIT || (pages == NULL && !ms_map_is_here(map)))
        return false;
    ms_span dict = ms_map_dict(map, kept);
    uint64_t at = unit * ms_MAP_UNIT;
    const uint8_t *p = ms_map_at(map, pages, text->at + at, 2);
    uint64_t size = p != NULL ? ms_rd_raw_u16(p) : UINT64_MAX;
    if (size > ms_PK_BLOCK || size > text->len - at - 2 || (kept != NULL && kept->dict_is_lost))
        return false;
    p = ms_map_at(map, pages, text->at + at, 2 + size);
    if (p == NULL)
        return false;
    block->unit = unit + 1;
    block->next = unit + (2 + size + ms_MAP_UNIT - 1) / ms_MAP_UNIT;
    block->rest = ms_rd_make(ms_span_make(p + 2, (size_t)size));
    block->len = ms_pk_unpack(dict, &block->rest, block->v, 0, want);
    return block->len >= want;
}

/* Reads texts that follow each other in TEXT. */
typedef struct ms_map_texts {
    const machsym_map *map;
    ms_map_kept *kept;   /* NULL: only block is there to unpack into */
    ms_map_block *block; /* the block that was read last */
    uint64_t unit;       /* where the next byte stands */
    size_t at;
} ms_map_texts;

static ms_map_texts ms_map_texts_at(const machsym_map *map, ms_map_kept *kept, ms_map_block *block,
                                    uint64_t place)
{
    ms_map_texts t;
    t.map = map;
    t.kept = kept;
    t.block = block;
    t.unit = place >> ms_PK_BLOCK_BITS;
    t.at = (size_t)(place & (ms_PK_BLOCK - 1));
    return t;
}

/* A block of text that a session keeps, unpacked once. NULL when memory is out. */
static ms_map_block *ms_map_kept_block(ms_map_kept *kept, uint64_t unit)
{
    ms_tab_slot *slot = ms_tab_get(&kept->block_numbers, unit, 0);
    if (slot != NULL && slot->value != 0)
        return kept->blocks[slot->value - 1];
    ms_map_block **v = (ms_map_block **)ms_arena_grow(&kept->cache, kept->blocks, kept->block_count,
                                                      &kept->block_cap, sizeof *v);
    ms_map_block *block = (ms_map_block *)ms_arena_alloc(&kept->cache, 1, sizeof *block);
    kept->blocks = v != NULL ? v : kept->blocks;
    if (slot == NULL || v == NULL || block == NULL)
        return NULL;
    block->unit = 0;
    v[kept->block_count++] = block;
    slot->value = (uint32_t)kept->block_count;
    return block;
}

/* Has the block hold len bytes of the text from where it is, or up to the end of its block. Returns how
 * many there are; 0 when none are. */
static size_t ms_map_turn_page(ms_map_texts *t, size_t len)
{
    size_t left = ms_PK_BLOCK - t->at;
    if (t->kept != NULL) {
        if (t->block == NULL || t->block->unit != t->unit + 1) /* else the block is the one before */
            t->block = ms_map_kept_block(t->kept, t->unit);
        if (t->block == NULL || !ms_map_turn_to(t->map, t->kept, t->unit, ms_PK_BLOCK, t->block))
            return 0;
        return len < left ? len : left;
    }
    size_t ahead = len + ms_MAP_AHEAD;
    if (!ms_map_turn_to(t->map, t->kept, t->unit, ahead < left ? t->at + ahead : (size_t)ms_PK_BLOCK,
                        t->block))
        return 0;
    return len < left ? len : left;
}

/* Reads len bytes; out may be NULL. Returns false when they are not there. */
static bool ms_map_take(ms_map_texts *t, char *out, size_t len)
{
    while (len > 0) {
        size_t count = ms_map_turn_page(t, len);
        MACHSYM_COUNT_WORK(1 + count / 64);
        if (count == 0)
            return false;
        if (out != NULL) {
            ms_copy(out, t->block->v + t->at, count);
            out += count;
        }
        len -= count;
        t->at += count;
        if (t->at == ms_PK_BLOCK) {
            t->unit = t->block->next;
            t->at = 0;
        }
    }
    return true;
}

/* Reads the length that stands before a text. Returns false when it is not there, or too long. */
static bool ms_map_take_length(ms_map_texts *t, size_t *len)
{
    char byte = 0;
    *len = 0;
    for (unsigned shift = 0; shift < 21; shift += 7) {
        if (!ms_map_take(t, &byte, 1))
            return false;
        *len |= (size_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0)
            return *len <= MACHSYM_MAX_TEXT;
    }
    return false;
}

/* Reads texts into text after *used bytes, which then are more. A text that does not fit, or that cannot be
 * read, is empty. */
static void ms_map_read_texts(ms_map_texts *t, unsigned count, machsym_str **out, char *text, size_t cap,
                              size_t *used)
{
    size_t len;
    for (unsigned i = 0; i < count && ms_map_take_length(t, &len); i++) {
        char *to = *used <= cap && len <= cap - *used && len > 0 ? text + *used : NULL;
        if (!ms_map_take(t, to, len))
            return;
        *used += len;
        if (to != NULL)
            *out[i] = ms_str_make(to, len);
    }
}

/* A frame with what the map's frame says, but for names and file. */
static void ms_map_begin_frame(const machsym_map_frame *from, machsym_frame *frame)
{
    ms_zero(frame, sizeof *frame);
    frame->line = from->line;
    frame->column = from->column;
    frame->function_start = from->function_start;
    frame->function_size = from->function_size;
    frame->name_source = from->name_source;
    frame->line_source = from->line_source;
    frame->is_inline = from->is_inline;
    frame->lacks_callers = from->lacks_callers;
}

enum { ms_MAP_NAMED = 16 };

/* The frames of a call of machsym_map_names whose names or file were unpacked last. */
typedef struct ms_map_named {
    size_t v[ms_MAP_NAMED]; /* the number of a frame, plus 1 */
} ms_map_named;

/* Where a frame with this reference is noted. */
static size_t *ms_map_named_place(ms_map_named *recent, uint64_t ref)
{
    return &recent->v[(ref ^ ref >> ms_PK_BLOCK_BITS) % ms_MAP_NAMED];
}

/* Frames of neighbours have few files between them, and often one function: what a frame shortly before has
 * is not unpacked again. */
static size_t ms_map_names(const machsym_map *map, const machsym_map_frame *from, size_t count,
                           machsym_frame *frames, char *text, size_t cap)
{
    /* Names of callers lie near those of calls, and files near files: each kind has its block. */
    ms_map_block names;
    ms_map_block paths;
    ms_map_named functions;
    ms_map_named files;
    size_t used = 0;
    names.unit = paths.unit = 0;
    ms_zero(&functions, sizeof functions);
    ms_zero(&files, sizeof files);
    for (size_t i = 0; i < count; i++) {
        machsym_frame *frame = &frames[i];
        machsym_str *of_function[2] = {&frame->linkage_name, &frame->name};
        machsym_str *of_file[3] = {&frame->file.comp_dir, &frame->file.dir, &frame->file.name};
        size_t *function = ms_map_named_place(&functions, from[i].name_ref);
        size_t *file = ms_map_named_place(&files, from[i].file_ref);
        ms_map_begin_frame(&from[i], frame);
        ms_map_texts t = ms_map_texts_at(map, NULL, &names, from[i].name_ref);
        if (*function != 0 && from[*function - 1].name_ref == from[i].name_ref) {
            frame->linkage_name = frames[*function - 1].linkage_name;
            frame->name = frames[*function - 1].name;
        } else if (from[i].name_ref != 0) {
            ms_map_read_texts(&t, 2, of_function, text, cap, &used);
            *function = i + 1;
        }
        t = ms_map_texts_at(map, NULL, &paths, from[i].file_ref);
        if (*file != 0 && from[*file - 1].file_ref == from[i].file_ref) {
            frame->file = frames[*file - 1].file;
        } else if (from[i].file_ref != 0) {
            ms_map_read_texts(&t, 3, of_file, text, cap, &used);
            *file = i + 1;
        }
    }
    return used;
}

/* Reads a text that a session keeps: a view of a block, or a copy of a text that goes on in other blocks. */
static bool ms_map_keep_text(ms_map_texts *t, machsym_str *out)
{
    size_t len;
    if (!ms_map_take_length(t, &len))
        return false;
    if (len == 0)
        return true;
    if (ms_map_turn_page(t, len) == len) {
        *out = ms_str_make((const char *)t->block->v + t->at, len);
        return ms_map_take(t, NULL, len);
    }
    char *copy = (char *)ms_arena_alloc(&t->kept->cache, len, 1);
    if (copy == NULL || !ms_map_take(t, copy, len))
        return false;
    *out = ms_str_make(copy, len);
    return true;
}

/* The texts at a place where a block has only their beginning. They are put together when they are first
 * asked for. */
static ms_NOINLINE machsym_path ms_map_joined_texts(ms_map_kept *kept, uint64_t place, unsigned count)
{
    machsym_path texts;
    ms_zero(&texts, sizeof texts);
    ms_tab_slot *slot = ms_tab_get(&kept->text_numbers, place, count);
    if (slot != NULL && slot->value != 0)
        return kept->texts[slot->value - 1];
    ms_map_texts t = ms_map_texts_at(kept->map, kept, NULL, place);
    machsym_str *all[3] = {&texts.comp_dir, &texts.dir, &texts.name};
    for (unsigned i = 0; i < count && ms_map_keep_text(&t, all[i]); i++)
        continue;
    machsym_path *v = (machsym_path *)ms_arena_grow(&kept->cache, kept->texts, kept->text_count,
                                                    &kept->text_cap, sizeof *v);
    kept->texts = v != NULL ? v : kept->texts;
    if (slot == NULL || v == NULL || kept->cache.oom)
        return texts;
    v[kept->text_count++] = texts;
    slot->value = (uint32_t)kept->text_count;
    return texts;
}

/* Finds texts that stand one after the other in a block, from a position on. Returns false when they go on
 * after it. */
static inline bool ms_map_texts_in(const ms_map_block *block, size_t at, unsigned count,
                                   machsym_str *const *out)
{
    for (unsigned i = 0; i < count; i++) {
        if (at >= ms_PK_BLOCK) /* the one before ends with the block */
            return false;
        size_t len = block->v[at];
        size_t bytes = len < 0x80 ? 1 : 2;
        MACHSYM_COUNT_WORK(1);
        if (bytes == 2)
            len = (len & 0x7f) | (size_t)block->v[at + 1] << 7; /* of more bytes it is more than a block */
        at += bytes;
        if (at > ms_PK_BLOCK || len > ms_PK_BLOCK - at)
            return false;
        *out[i] = len != 0 ? ms_str_make((const char *)block->v + at, len) : ms_str_empty();
        at += len;
    }
    return true;
}

/* The texts at a place: the two names of a function, or the three pieces of a path. Blocks are unpacked when
 * they are first asked for. last: the block where such texts stood last. */
static machsym_path ms_map_kept_texts(ms_map_kept *kept, uint64_t place, unsigned count, ms_map_block **last)
{
    machsym_path texts;
    machsym_str *const all[3] = {&texts.comp_dir, &texts.dir, &texts.name};
    uint64_t unit = place >> ms_PK_BLOCK_BITS;
    ms_map_block *block = *last;
    if (ms_SMALL_CODE)
        return ms_map_joined_texts(kept, place, count);
    ms_zero(&texts, sizeof texts);
    if (block == NULL || block->unit != unit + 1) {
        block = ms_map_kept_block(kept, unit);
        if (block == NULL || !ms_map_turn_to(kept->map, kept, unit, ms_PK_BLOCK, block))
            return ms_map_joined_texts(kept, place, count);
        *last = block;
    }
    if (ms_map_texts_in(block, (size_t)(place & (ms_PK_BLOCK - 1)), count, all))
        return texts;
    return ms_map_joined_texts(kept, place, count);
}

/* The same. Addresses that follow each other have most texts in common. */
static inline machsym_path ms_map_recent_texts(ms_map_kept *kept, uint64_t place, unsigned count,
                                               ms_map_recent *recents, ms_map_block **last)
{
    ms_map_recent *r = &recents[(place ^ place >> 8) % ms_MAP_RECENT];
    if (ms_SMALL_CODE)
        return ms_map_kept_texts(kept, place, count, last);
    if (r->place != place) {
        r->texts = ms_map_kept_texts(kept, place, count, last);
        r->place = kept->cache.oom ? 0 : place;
    }
    return r->texts;
}

/* Texts of an answer that are looked for among what a session keeps. */
typedef struct ms_map_wanted {
    uint64_t v[2 * ms_MAP_NAMED]; /* their places */
    const ms_tab_place *found[2 * ms_MAP_NAMED];
    size_t count;
} ms_map_wanted;

static inline void ms_map_want(ms_map_kept *kept, uint64_t place, const ms_map_recent *recents,
                               ms_map_wanted *wanted)
{
    if (place == 0 || recents[(place ^ place >> 8) % ms_MAP_RECENT].place == place)
        return;
    const ms_tab_place *found = ms_tab_first(&kept->block_numbers, place >> ms_PK_BLOCK_BITS, 0);
    ms_fetch(found);
    wanted->found[wanted->count] = found;
    wanted->v[wanted->count++] = place;
}

/* Fetches what leads to the texts of frames into the processor's cache, step by step for all of them: an
 * answer has three or four frames, and each step to each text would else be waited for. Only the first place
 * of the table is looked at, since most are there; a guess that is wrong costs nothing but time. */
static void ms_map_fetch_kept(ms_map_kept *kept, const machsym_map_frame *from, size_t count)
{
    ms_map_wanted wanted;
    wanted.count = 0;
    if (kept->block_count == 0)
        return;
    for (size_t i = 0; i < count && i < ms_MAP_NAMED; i++) {
        ms_map_want(kept, from[i].file_ref, kept->recent_paths, &wanted);
        ms_map_want(kept, from[i].name_ref, kept->recent_names, &wanted);
    }
    for (size_t i = 0; i < wanted.count; i++) {
        size_t number = wanted.found[i]->number; /* slots and blocks are numbered alike */
        if (number == 0 || number > kept->block_count) {
            wanted.count = i; /* a new block: to unpack it takes longer than to wait for the rest */
            break;
        }
        ms_fetch(&kept->block_numbers.v[number - 1]);
        ms_fetch(&kept->blocks[number - 1]);
    }
    for (size_t i = 0; i < wanted.count; i++) {
        const ms_map_block *block = kept->blocks[wanted.found[i]->number - 1];
        ms_fetch(block);
        ms_fetch(block->v + (wanted.v[i] & (ms_PK_BLOCK - 1)));
    }
}

/* Makes frames with names, which the session keeps. Returns false when memory was short. */
static bool ms_map_kept_names(ms_map_kept *kept, const machsym_map_frame *from, size_t count,
                              machsym_frame *frames)
{
    if (!ms_SMALL_CODE)
        ms_map_fetch_kept(kept, from, count);
    for (size_t i = 0; i < count; i++) {
        ms_map_begin_frame(&from[i], &frames[i]);
        if (from[i].file_ref != 0)
            frames[i].file = ms_map_recent_texts(kept, from[i].file_ref, 3, kept->recent_paths, &kept->paths);
        if (from[i].name_ref != 0) {
            machsym_path names =
                ms_map_recent_texts(kept, from[i].name_ref, 2, kept->recent_names, &kept->names);
            frames[i].linkage_name = names.comp_dir;
            frames[i].name = names.dir;
        }
    }
    bool ok = !kept->cache.oom;
    kept->cache.oom = false;
    return ok;
}

/* ---- Ranges ---- */

static bool ms_map_next(const machsym_map *map, machsym_cursor *at, machsym_map_range *out)
{
    ms_map_hit hit;
    ms_map_hit symbol;
    while (at->a <= UINT32_MAX && ms_map_is_here(map)) {
        uint64_t off = at->a;
        bool found = ms_map_find(map, NULL, ms_MAP_INDEX, off, &hit);
        out->is_symbol = !found;
        if (!found) {
            found = ms_map_find(map, NULL, ms_MAP_SYMBOL_INDEX, off, &symbol);
            ms_lower_to(&hit.hi, symbol.hi);
        }
        at->a = hit.hi;
        if (found) {
            out->lo = map->head.text_addr + off;
            out->hi = map->head.text_addr + hit.hi;
            return true;
        }
    }
    return false;
}

#endif /* ms_ROOM_symmap_symmap */
