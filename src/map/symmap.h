#ifndef ms_ROOM_map_symmap
#define ms_ROOM_map_symmap
#include "../api/options.h"
#include "../api/api.h"
#include "../base/platform.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "../base/memory.h"
#include "../base/table.h"
#include "../base/segments.h"
#include "pack.h"

/* ==== >>symmap ===========================================================================================
 * Job:    reads a symbol map in place. Format: docs/symmap.md.
 * Offers: machsym_map, ms_map_kept, ms_map_open, ms_map_frames, ms_map_names, ms_map_kept_names,
 *         ms_map_next.
 * Never:  knows DWARF or Mach-O; trusts a number in a map: every read is checked. */

enum {
    ms_MAP_VERSION = 1,
    ms_MAP_HEAD = 256, /* bytes of the header */
    /* Zeros that end DATA. The numbers of a record, and of a range in a run, are five at most, of 10 bytes
     * each: they are read without a look at where DATA ends. */
    ms_MAP_MARGIN = 64,
    /* Ranges in a run: a lookup decodes so many at most. 24 would save half a percent of a map. */
    ms_MAP_RUN_MAX = 16,
    /* CHAIN records in a chain. */
    ms_MAP_LINKS = MACHSYM_MAX_INLINE_DEPTH < 4096 ? 4096 : MACHSYM_MAX_INLINE_DEPTH + 1,
    ms_MAP_MOST_SHIFT = 31, /* the largest bucket shift */
    /* Cache lines that are fetched before a run: nine of ten chains stand there. */
    ms_MAP_FETCHED = 4,
    /* Bytes of a block that are unpacked for a name at first: most names end within them. */
    ms_MAP_AHEAD = 128,
    /* A cache of names keeps 1 << 8 files, by a hash. */
    ms_MAP_FILE_BITS = 8
};

#define ms_MAP_MAGIC "MACHSYM\n"

/* The tables of a map, in the order of the header. */
enum {
    ms_MAP_NAME = 0,    /* the image's name */
    ms_MAP_PARTS,       /* {u32 first byte in DATA, u32 its file table in DATA}, by first byte */
    ms_MAP_RUNS,        /* {u32 start, u32 at}: offset from the text base, where the run stands in DATA */
    ms_MAP_BUCKETS,     /* u32: number i is how many runs begin below i << bucket_shift */
    ms_MAP_SYMBOL_RUNS, /* the same for ranges without debug info */
    ms_MAP_SYMBOL_BUCKETS,
    ms_MAP_DICT,   /* the text that blocks may refer to, as it is */
    ms_MAP_BLOCKS, /* u32: where packed block i begins in TEXT; one more ends the last */
    ms_MAP_DATA,   /* functions, chains, runs, file tables */
    ms_MAP_TEXT,   /* packed names */
    ms_MAP_TABLES
};

/* The fixed part of a map file. */
typedef struct ms_map_head {
    uint32_t version;
    uint32_t flags;
    machsym_uuid uuid;
    uint32_t cputype;
    uint32_t cpusubtype;
    uint64_t text_addr;
    uint64_t text_size;
    uint32_t lines;
    uint32_t bucket_shift;
    uint64_t size;
    uint64_t checksum;
    uint64_t text_exec_addr;
    uint64_t code_size;
    ms_range tables[ms_MAP_TABLES]; /* lo: offset in the file, hi: first byte past it */
} ms_map_head;

struct machsym_map {
    machsym_allocator allocator;
    ms_span bytes;
    void *memory; /* from the allocator, when the map was built here */
    size_t memory_size;
    ms_map_head head;
    ms_span tables[ms_MAP_TABLES];
    ms_span records; /* DATA without its margin */
#ifndef MACHSYM_NO_OS
    ms_os_file file;
#endif
};

/* ---- Numbers and the header ---- */

static int64_t ms_map_unzigzag(uint64_t number)
{
    return (int64_t)(number >> 1) ^ -(int64_t)(number & 1);
}

static void ms_map_store_u32(uint8_t *p, uint32_t number)
{
    for (unsigned i = 0; i < 4; i++)
        p[i] = (uint8_t)(number >> 8 * i);
}

static void ms_map_store_u64(uint8_t *p, uint64_t number)
{
    ms_map_store_u32(p, (uint32_t)number);
    ms_map_store_u32(p + 4, (uint32_t)(number >> 32));
}

/* Four lanes of multiply and rotate over 32 bytes at a time; the tail is padded with zeros. Finds damage,
 * proves nothing against an attacker: lookups do not rely on it. */
static uint64_t ms_map_checksum(ms_span bytes)
{
    const uint64_t odd = 0x9e3779b97f4a7c15u;
    uint64_t lane[4] = {1, 2, 3, bytes.len};
    size_t at = 0;
    for (; at + 32 <= bytes.len; at += 32) {
        for (unsigned i = 0; i < 4; i++) {
            lane[i] = (lane[i] ^ ms_rd_raw_u64(bytes.ptr + at + 8 * i)) * odd;
            lane[i] ^= lane[i] >> 29;
        }
    }
    uint8_t tail[32];
    ms_zero(tail, sizeof tail);
    if (at < bytes.len) /* of no bytes at all there is no pointer to add to */
        ms_copy(tail, bytes.ptr + at, bytes.len - at);
    uint64_t sum = 0;
    for (unsigned i = 0; i < 4; i++) {
        lane[i] = (lane[i] ^ ms_rd_raw_u64(tail + 8 * i)) * odd;
        sum = (sum ^ lane[i] ^ lane[i] >> 32) * odd;
    }
    return sum ^ sum >> 29;
}

static void ms_map_store_head(const ms_map_head *head, uint8_t *p)
{
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
    ms_map_store_u32(p + 60, head->bucket_shift);
    ms_map_store_u64(p + 64, head->size);
    ms_map_store_u64(p + 72, head->checksum);
    for (unsigned i = 0; i < ms_MAP_TABLES; i++) {
        ms_map_store_u64(p + 80 + 16 * i, head->tables[i].lo);
        ms_map_store_u64(p + 88 + 16 * i, head->tables[i].hi);
    }
    ms_map_store_u64(p + 240, head->text_exec_addr);
    ms_map_store_u64(p + 248, head->code_size);
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
    head->bucket_shift = ms_rd_raw_u32(p + 60);
    head->size = ms_rd_raw_u64(p + 64);
    head->checksum = ms_rd_raw_u64(p + 72);
    for (unsigned i = 0; i < ms_MAP_TABLES; i++) {
        head->tables[i].lo = ms_rd_raw_u64(p + 80 + 16 * i);
        head->tables[i].hi = ms_rd_raw_u64(p + 88 + 16 * i);
    }
    head->text_exec_addr = ms_rd_raw_u64(p + 240);
    head->code_size = ms_rd_raw_u64(p + 248);
}

/* The checksum counts its own field as zero. */
static uint64_t ms_map_sum_of(ms_span bytes)
{
    uint8_t head[ms_MAP_HEAD];
    ms_copy(head, bytes.ptr, ms_MAP_HEAD);
    ms_map_store_u64(head + 72, 0);
    uint64_t sum = ms_map_checksum(ms_span_make(head, ms_MAP_HEAD));
    return sum ^ ms_map_checksum(ms_span_from(bytes, ms_MAP_HEAD));
}

static void ms_map_set_tables(machsym_map *map)
{
    for (unsigned i = 0; i < ms_MAP_TABLES; i++)
        map->tables[i] =
            ms_span_sub(map->bytes, map->head.tables[i].lo, map->head.tables[i].hi - map->head.tables[i].lo);
    ms_span data = map->tables[ms_MAP_DATA];
    map->records = ms_span_make(data.ptr, data.len < ms_MAP_MARGIN ? 0 : data.len - ms_MAP_MARGIN);
}

/* ---- Opening ---- */

/* Whether a file begins as a map does. */
static bool ms_map_is(ms_span bytes)
{
    return bytes.len >= 8 && ms_equal(bytes.ptr, ms_MAP_MAGIC, 8);
}

/* Checks what a map file says of itself. */
static machsym_result ms_map_check(machsym_map *map, uint32_t flags, machsym_error *err)
{
    ms_map_head *head = &map->head;
    if (map->bytes.len < ms_MAP_HEAD || !ms_map_is(map->bytes))
        return ms_fail(err, MACHSYM_ERR_FORMAT, "not a symbol map", "map header", 0);
    ms_map_load_head(map->bytes.ptr, head);
    if (head->version != ms_MAP_VERSION)
        return ms_fail(err, MACHSYM_ERR_VERSION,
                       "the map was written in another format version; build it again", "map header", 8);
    if (head->size != map->bytes.len)
        return ms_fail(err, MACHSYM_ERR_DAMAGED, "the map is cut short or has grown", "map header", 64);
    if (head->bucket_shift > ms_MAP_MOST_SHIFT || head->lines >= MACHSYM_LINES_COUNT ||
        head->text_addr > UINT64_MAX - UINT32_MAX)
        return ms_fail(err, MACHSYM_ERR_DAMAGED, "a number in the header is out of bounds", "map header", 56);
    for (unsigned i = 0; i < ms_MAP_TABLES; i++) {
        if (head->tables[i].lo > head->tables[i].hi || head->tables[i].hi > map->bytes.len)
            return ms_fail(err, MACHSYM_ERR_DAMAGED, "a table lies outside the map", "map header",
                           80 + 16 * (uint64_t)i);
    }
    if ((flags & MACHSYM_MAP_UNCHECKED) == 0 && ms_map_sum_of(map->bytes) != head->checksum)
        return ms_fail(err, MACHSYM_ERR_CHECKSUM,
                       "the map's checksum does not match its bytes; build it again", "map header", 72);
    ms_map_set_tables(map);
    return MACHSYM_OK;
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
        result = ms_map_check(map, desc->flags, err);
    if (result == MACHSYM_OK)
        *out = map;
    else
        ms_map_close(map);
    return result;
}

static machsym_str ms_map_name_of(const machsym_map *map)
{
    return ms_str_make((const char *)map->tables[ms_MAP_NAME].ptr, map->tables[ms_MAP_NAME].len);
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
    out->size = map->bytes.len;
    out->run_count = map->tables[ms_MAP_RUNS].len / 8;
    out->symbol_run_count = map->tables[ms_MAP_SYMBOL_RUNS].len / 8;
    out->text_bytes = map->tables[ms_MAP_BLOCKS].len / 4 * ms_PK_BLOCK;
    out->packed_bytes = map->tables[ms_MAP_TEXT].len;
    out->data_bytes = map->tables[ms_MAP_DATA].len;
}

/* ---- Lookup ---- */

/* Where code comes from. */
typedef struct ms_map_line {
    uint32_t file; /* number in the part's file table */
    uint32_t line;
    uint32_t column;
} ms_map_line;

static uint32_t ms_map_u32_at(ms_span table, uint64_t index)
{
    return ms_rd_raw_u32(table.ptr + 4 * index);
}

/* Reads a uleb of a record. It reads ten bytes at most, which are there: ms_MAP_MARGIN bytes follow the
 * last record. Lookups spend most of their time here. */
static inline uint64_t ms_map_get(const uint8_t **at)
{
    const uint8_t *p = *at;
    MACHSYM_COUNT_WORK(1);
    uint64_t number = p[0] & 0x7fu;
    if (p[0] < 0x80) {
        *at = p + 1;
        return number;
    }
    number |= (uint64_t)(p[1] & 0x7fu) << 7;
    if (p[1] < 0x80) {
        *at = p + 2;
        return number;
    }
    size_t len = 2;
    do {
        number |= (uint64_t)(p[len] & 0x7fu) << 7 * len;
    } while (p[len++] >= 0x80 && len < 10);
    *at = p + len;
    return number;
}

/* Has a run, and the chains that stand before it, come into the processor's cache. */
static void ms_map_fetch_record(const machsym_map *map, uint64_t at)
{
    ms_span data = map->tables[ms_MAP_DATA];
    for (unsigned line = 0; line < ms_MAP_FETCHED && at < data.len && 64 * line <= at; line++)
        ms_fetch(data.ptr + (at - 64 * line));
}

/* A range found, and what it says. */
typedef struct ms_map_hit {
    uint64_t lo; /* from the text base */
    uint64_t hi;
    uint32_t chain; /* in DATA; 0: lines only */
    ms_map_line line;
    uint64_t run; /* its run's place in DATA */
} ms_map_hit;

/* Of the entries [lo, hi) of a table, which are pairs of u32 sorted by the first: the first one above key; hi
 * when none is. */
static inline uint64_t ms_map_above(ms_span pairs, uint64_t lo, uint64_t hi, uint64_t key)
{
    for (uint64_t left = lo < hi ? hi - lo : 0; left > 0;) { /* without branches that nobody can predict */
        uint64_t half = left / 2;
        bool is_below = ms_map_u32_at(pairs, 2 * (lo + half)) <= key;
        lo += is_below ? half + 1 : 0;
        left = is_below ? left - half - 1 : half;
    }
    return lo;
}

/* The last run that starts at or below off; the number of runs when there is none. */
static uint64_t ms_map_run_at(const machsym_map *map, unsigned runs, uint64_t off)
{
    ms_span table = map->tables[runs];
    ms_span buckets = map->tables[runs + 1];
    uint64_t count = table.len / 8;
    uint64_t bucket_count = buckets.len / 4;
    uint64_t bucket = off >> map->head.bucket_shift;
    if (count == 0 || bucket_count < 2)
        return count;
    if (bucket > bucket_count - 2)
        bucket = bucket_count - 2;
    uint64_t lo = ms_map_u32_at(buckets, bucket);
    uint64_t hi = ms_map_u32_at(buckets, bucket + 1);
    if (bucket == bucket_count - 2 || hi > count)
        hi = count;
    lo = ms_map_above(table, lo, hi, off);
    return lo == 0 || lo > count ? count : lo - 1;
}

/* Decodes the run until the range that holds off. Returns false when the run ends before, or is damaged. */
static bool ms_map_in_run(const machsym_map *map, uint64_t start, uint64_t at, uint64_t off, ms_map_hit *hit)
{
    if (at >= map->records.len)
        return false;
    const uint8_t *p = map->records.ptr + at;
    const uint8_t *end = map->records.ptr + map->records.len;
    bool columns = (map->head.flags & MACHSYM_MAP_COLUMNS) != 0;
    uint64_t count = ms_map_get(&p);
    uint64_t lo = start;
    uint64_t distance = 0;
    uint64_t file = 0;
    uint64_t line = 0;
    uint64_t column = 0;
    ms_lower_to(&count, ms_MAP_RUN_MAX);
    for (uint64_t left = count; left > 0 && p < end; left--) {
        MACHSYM_COUNT_WORK(1);
        uint64_t hi = lo + ms_map_get(&p);
        uint64_t what = ms_map_get(&p);
        line += (uint64_t)ms_map_unzigzag(what >> 2);
        if ((what & 1) != 0)
            distance = ms_map_get(&p);
        if ((what & 2) != 0)
            file = ms_map_get(&p);
        if (columns)
            column = ms_map_get(&p);
        if (off < hi) {
            hit->lo = lo;
            hit->hi = hi;
            hit->chain = distance == 0 || distance > at ? 0 : (uint32_t)(at - distance);
            hit->line.file = (uint32_t)file;
            hit->line.line = (uint32_t)line;
            hit->line.column = (uint32_t)column;
            hit->run = at;
            return hi <= UINT32_MAX;
        }
        if (hi < lo)
            return false;
        lo = hi;
    }
    return false;
}

static bool ms_map_find(const machsym_map *map, unsigned runs, uint64_t off, ms_map_hit *hit)
{
    uint64_t run = ms_map_run_at(map, runs, off);
    ms_span table = map->tables[runs];
    if (run >= table.len / 8)
        return false;
    uint64_t start = ms_map_u32_at(table, 2 * run);
    uint64_t at = ms_map_u32_at(table, 2 * run + 1);
    ms_map_fetch_record(map, at);
    return start <= off && ms_map_in_run(map, start, at, off, hit);
}

/* Plain text: its length, then its bytes. */
static machsym_str ms_map_plain_at(ms_span data, uint64_t at)
{
    ms_rd rd = ms_rd_at(data, at);
    ms_span text = ms_rd_span(&rd, ms_rd_uleb(&rd));
    return ms_str_make((const char *)text.ptr, text.len);
}

static machsym_str ms_map_plain_ref(ms_span data, uint64_t record, uint64_t ref)
{
    return (ref & 1) == 0 || ref >> 1 > record ? ms_str_empty() : ms_map_plain_at(data, record - (ref >> 1));
}

/* The file table of a part. */
typedef struct ms_map_files {
    uint64_t base;    /* of the part, in DATA */
    const uint8_t *v; /* u32: file i at v + 4 * i */
    uint64_t count;
} ms_map_files;

/* The files of the part that a record lies in. */
static ms_map_files ms_map_files_of(const machsym_map *map, uint64_t record)
{
    ms_span parts = map->tables[ms_MAP_PARTS];
    ms_span data = map->records;
    ms_map_files files = {0, NULL, 0};
    uint64_t next = ms_map_above(parts, 0, parts.len / 8, record);
    if (next == 0)
        return files;
    uint64_t at = ms_map_u32_at(parts, 2 * next - 1);
    if (at >= data.len)
        return files;
    files.base = ms_map_u32_at(parts, 2 * next - 2);
    files.v = data.ptr + at;
    files.count = ms_rd_raw_u32(files.v);
    if (files.count > (data.len - at) / 4) /* the margin makes up for the count itself */
        files.count = (data.len - at) / 4;
    return files;
}

/* Sets a frame's line, and where its FILE record stands. */
static inline void ms_map_set_line(const ms_map_files *files, const ms_map_line *line,
                                   machsym_map_frame *frame)
{
    frame->line = line->line;
    frame->column = line->column;
    frame->file_ref = 0;
    if ((uint64_t)line->file - 1 < files->count)
        frame->file_ref = (uint32_t)(files->base + ms_rd_raw_u32(files->v + 4 * (uint64_t)line->file));
    if (line->line != 0 || frame->file_ref != 0)
        frame->line_source = MACHSYM_SOURCE_DWARF;
}

/* The file of a FILE record. */
static machsym_path ms_map_file(const machsym_map *map, uint32_t record)
{
    machsym_path path;
    ms_span data = map->tables[ms_MAP_DATA];
    ms_rd rd = ms_rd_at(data, record);
    path.comp_dir = ms_map_plain_ref(data, record, ms_rd_uleb(&rd));
    path.dir = ms_map_plain_ref(data, record, ms_rd_uleb(&rd));
    path.name = ms_map_plain_ref(data, record, ms_rd_uleb(&rd));
    return path;
}

/* A CHAIN record. */
typedef struct ms_map_link {
    uint64_t caller; /* 0: this is the concrete function */
    uint32_t function;
    machsym_source source;
    ms_map_line call;
    uint64_t start; /* of the concrete function, from the text base */
    uint64_t size;
} ms_map_link;

static bool ms_map_read_link(const machsym_map *map, uint64_t at, ms_map_link *link)
{
    if (at >= map->records.len)
        return false;
    const uint8_t *p = map->records.ptr + at;
    uint64_t what = ms_map_get(&p);
    uint64_t function = ms_map_get(&p);
    uint64_t a = ms_map_get(&p);
    uint64_t b = ms_map_get(&p);
    link->function = function == 0 || function > at ? 0 : (uint32_t)(at - function);
    if ((what & 1) != 0) {
        uint64_t distance = what >> 2;
        link->caller = distance == 0 || distance >= at ? 0 : at - distance;
        link->source = (what & 2) != 0 ? MACHSYM_SOURCE_SYMTAB : MACHSYM_SOURCE_DWARF;
        link->call.file = (uint32_t)a;
        link->call.line = (uint32_t)b;
        link->call.column = (map->head.flags & MACHSYM_MAP_COLUMNS) != 0 ? (uint32_t)ms_map_get(&p) : 0;
        link->start = link->size = 0;
        return link->caller != 0;
    }
    link->caller = 0;
    link->call.file = link->call.line = link->call.column = 0;
    link->source = (machsym_source)(what >> 1 < MACHSYM_SOURCE_COUNT ? what >> 1 : 0);
    link->start = a;
    link->size = b;
    return true;
}

/* The frames of a chain. A caller's record stands before the record of the call, so the walk ends. Returns
 * 0 when the chain has more than ms_MAP_LINKS records. */
static size_t ms_map_chain_frames(const machsym_map *map, const ms_map_hit *hit, machsym_map_frame *frames,
                                  size_t cap)
{
    ms_map_link link;
    ms_map_line line = hit->line;
    size_t count = 0;
    uint64_t at = hit->chain;
    machsym_map_frame blank; /* copying one is several times faster than clearing one */
    ms_zero(&blank, sizeof blank);
    ms_map_files files = ms_map_files_of(map, hit->run);
    do {
        MACHSYM_COUNT_WORK(1);
        if (count == ms_MAP_LINKS || !ms_map_read_link(map, at, &link))
            return 0;
        if (count < cap) {
            machsym_map_frame *frame = &frames[count];
            *frame = blank;
            frame->is_inline = link.caller != 0;
            frame->name_ref = link.function;
            frame->name_source = link.source;
            ms_map_set_line(&files, &line, frame);
        }
        line = link.call;
        at = link.caller;
        count++;
    } while (at != 0);
    for (size_t i = 0; i < count && i < cap; i++) {
        frames[i].function_start = map->head.text_addr + link.start;
        frames[i].function_size = link.size;
    }
    return count;
}

static size_t ms_map_frames(const machsym_map *map, uint64_t addr, machsym_map_frame *frames, size_t cap)
{
    ms_map_hit hit;
    ms_map_hit symbol;
    uint64_t off = addr - map->head.text_addr;
    if (addr < map->head.text_addr || off > UINT32_MAX)
        return 0;
    bool found = ms_map_find(map, ms_MAP_RUNS, off, &hit);
    if (found && hit.chain != 0)
        return ms_map_chain_frames(map, &hit, frames, cap);
    size_t count = ms_map_find(map, ms_MAP_SYMBOL_RUNS, off, &symbol) && symbol.chain != 0
                       ? ms_map_chain_frames(map, &symbol, frames, cap)
                       : 0;
    if (!found)
        return count;
    ms_map_files files = ms_map_files_of(map, hit.run);
    if (cap > 0 && count == 0)
        ms_zero(frames, sizeof *frames);
    if (cap > 0)
        ms_map_set_line(&files, &hit.line, frames);
    return 1;
}

/* ---- Names ---- */

/* ---- Names ---- */

/* The block of text unpacked last, or its beginning. */
typedef struct ms_map_page {
    uint64_t block; /* number + 1; 0: none */
    size_t len;
    uint8_t v[ms_PK_BLOCK + 16];
} ms_map_page;

/* Unpacks a block so far that want bytes of it are there. Returns false when they are not. */
static bool ms_map_turn_to(const machsym_map *map, uint64_t block, size_t want, ms_map_page *page)
{
    ms_span blocks = map->tables[ms_MAP_BLOCKS];
    if (page->block == block + 1 && page->len >= want)
        return true;
    if (block >= blocks.len / 4 || block + 1 >= blocks.len / 4)
        return false;
    uint32_t lo = ms_map_u32_at(blocks, block);
    uint32_t hi = ms_map_u32_at(blocks, block + 1);
    ms_span packed = hi > lo ? ms_span_sub(map->tables[ms_MAP_TEXT], lo, hi - lo) : ms_span_make(NULL, 0);
    page->block = block + 1;
    page->len = ms_pk_unpack(map->tables[ms_MAP_DICT], packed, page->v, want);
    return page->len >= want;
}

/* Copies the packed text at a place to out, as far as it fits. Returns its length, even if that is more
 * than cap; 0 when it is longer than MACHSYM_MAX_TEXT. */
static size_t ms_map_packed_text(const machsym_map *map, uint64_t place, ms_map_page *page, char *out,
                                 size_t cap)
{
    size_t len = 0;
    bool ended = false;
    size_t ahead = ms_MAP_AHEAD;
    while (!ended && len <= MACHSYM_MAX_TEXT) {
        size_t at = (size_t)(place % ms_PK_BLOCK);
        size_t want = ahead < ms_PK_BLOCK - at ? at + ahead : (size_t)ms_PK_BLOCK;
        if (!ms_map_turn_to(map, place / ms_PK_BLOCK, want, page))
            break;
        MACHSYM_COUNT_WORK(1 + want / 64);
        machsym_str piece = ms_str_bounded((const char *)page->v + at, page->len - at);
        ended = at + piece.len < page->len;
        ahead = ms_PK_BLOCK;
        if (!ended && page->len < ms_PK_BLOCK)
            continue;
        if (len < cap)
            ms_copy(out + len, piece.ptr, piece.len < cap - len ? piece.len : cap - len);
        len += piece.len;
        place += piece.len;
        if (len > MACHSYM_MAX_TEXT)
            return 0;
    }
    return len <= MACHSYM_MAX_TEXT ? len : 0;
}

/* The refs of a FUNCTION record; 0 where there is no text. */
typedef struct ms_map_refs {
    uint64_t linkage_name;
    uint64_t name;
} ms_map_refs;

static inline ms_map_refs ms_map_refs_of(const machsym_map *map, uint64_t record)
{
    ms_map_refs refs = {0, 0};
    if (record == 0 || record >= map->records.len)
        return refs;
    const uint8_t *p = map->records.ptr + record;
    refs.linkage_name = ms_map_get(&p);
    refs.name = ms_map_get(&p);
    return refs;
}

/* One name of a FUNCTION record: a view of the map, or a copy in text behind *used bytes, which then are
 * more. */
static machsym_str ms_map_name(const machsym_map *map, uint64_t record, uint64_t ref, ms_map_page *page,
                               char *text, size_t cap, size_t *used)
{
    if ((ref & 1) != 0)
        return ms_map_plain_ref(map->tables[ms_MAP_DATA], record, ref);
    size_t room = *used < cap ? cap - *used : 0;
    char *to = room > 0 ? text + *used : NULL;
    size_t len = ms_map_packed_text(map, (ref >> 1) - 1, page, to, room);
    *used += len;
    return len <= room ? ms_str_make(to, len) : ms_str_empty();
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
}

static size_t ms_map_names(const machsym_map *map, const machsym_map_frame *from, size_t count,
                           machsym_frame *frames, char *text, size_t cap)
{
    /* Names that follow each other lie together, but apart from their linkage names: each kind has its
     * page. */
    ms_map_page linkage_page;
    ms_map_page page;
    size_t used = 0;
    linkage_page.block = page.block = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t record = from[i].name_ref;
        ms_map_refs refs = ms_map_refs_of(map, record);
        ms_map_begin_frame(&from[i], &frames[i]);
        if (from[i].file_ref != 0)
            frames[i].file = ms_map_file(map, from[i].file_ref);
        if (refs.linkage_name != 0)
            frames[i].linkage_name =
                ms_map_name(map, record, refs.linkage_name, &linkage_page, text, cap, &used);
        if (refs.name != 0)
            frames[i].name = ms_map_name(map, record, refs.name, &page, text, cap, &used);
    }
    return used;
}

/* ---- Names that were unpacked before ---- */

/* ---- Names that were unpacked before ---- */

typedef struct ms_map_kept {
    const machsym_map *map;
    ms_arena arena;      /* of this and of pages */
    ms_arena cache;      /* of what can be dropped */
    ms_map_page **pages; /* by block; NULL: not unpacked */
    size_t page_count;
    ms_tab long_texts;  /* place of a text that runs on into other blocks: its number + 1 */
    machsym_str *longs; /* by number; in cache */
    size_t long_count;
    size_t long_cap;
    uint32_t file_refs[1 << ms_MAP_FILE_BITS]; /* by a hash of it, what a FILE record says; 0: none */
    machsym_path files[1 << ms_MAP_FILE_BITS];
} ms_map_kept;

static machsym_path ms_map_kept_file(ms_map_kept *names, uint32_t ref)
{
    size_t slot = (ref * 2654435761u) >> (32 - ms_MAP_FILE_BITS);
    if (names->file_refs[slot] != ref) {
        names->files[slot] = ms_map_file(names->map, ref);
        names->file_refs[slot] = ref;
    }
    return names->files[slot];
}

static ms_map_kept *ms_map_open_kept(const machsym_map *map, machsym_allocator allocator)
{
    ms_arena arena = ms_arena_make(allocator);
    ms_map_kept *names = (ms_map_kept *)ms_arena_zeroed(&arena, 1, sizeof *names);
    size_t page_count = map->tables[ms_MAP_BLOCKS].len / 4;
    ms_map_page **pages = (ms_map_page **)ms_arena_zeroed(&arena, page_count, sizeof *pages);
    if (names == NULL || pages == NULL) {
        ms_arena_free(&arena);
        return NULL;
    }
    names->map = map;
    names->pages = pages;
    names->page_count = page_count;
    names->cache = ms_arena_make(allocator);
    names->long_texts.arena = &names->cache;
    names->arena = arena;
    return names;
}

static void ms_map_close_kept(ms_map_kept *names)
{
    ms_arena arena = names->arena; /* the object lies in it */
    ms_arena_free(&names->cache);
    ms_arena_free(&arena);
}

/* The text of a block from a byte on, unpacked once. Empty when the block is damaged or there is no such
 * block. */
static machsym_str ms_map_unpacked(ms_map_kept *names, uint64_t block, size_t at)
{
    if (block >= names->page_count)
        return ms_str_empty();
    ms_map_page *page = names->pages[block];
    if (page == NULL) {
        page = (ms_map_page *)ms_arena_alloc(&names->cache, 1, sizeof *page);
        if (page == NULL)
            return ms_str_empty();
        page->block = page->len = 0;
        ms_map_turn_to(names->map, block, ms_PK_BLOCK, page);
        names->pages[block] = page;
    }
    return page->len <= at ? ms_str_empty() : ms_str_make((const char *)page->v + at, page->len - at);
}

/* Copies a text that runs on into other blocks. */
static machsym_str ms_map_copy_long(ms_map_kept *names, uint64_t place)
{
    size_t len = 0;
    size_t cap = 0;
    char *v = NULL;
    while (len <= MACHSYM_MAX_TEXT) {
        machsym_str rest = ms_map_unpacked(names, place / ms_PK_BLOCK, (size_t)(place % ms_PK_BLOCK));
        machsym_str piece = ms_str_bounded(rest.ptr, rest.len);
        if (piece.len == 0)
            return ms_str_make(v, len);
        while (piece.len > cap - len) {
            char *more = (char *)ms_arena_double(&names->cache, v, len, &cap, 1);
            if (more == NULL)
                return ms_str_empty();
            v = more;
        }
        ms_copy(v + len, piece.ptr, piece.len);
        len += piece.len;
        place += piece.len;
        if (piece.len < rest.len)
            return ms_str_make(v, len);
    }
    return ms_str_empty();
}

/* A text that runs on into other blocks, copied when it is first asked for. */
static machsym_str ms_map_long_text(ms_map_kept *names, uint64_t place)
{
    ms_tab_slot *slot = ms_tab_get(&names->long_texts, place, 0);
    if (slot != NULL && slot->value != 0)
        return names->longs[slot->value - 1];
    machsym_str text = ms_map_copy_long(names, place);
    machsym_str *v = (machsym_str *)ms_arena_grow(&names->cache, names->longs, names->long_count,
                                                  &names->long_cap, sizeof *v);
    if (slot == NULL || v == NULL || names->cache.oom)
        return text;
    names->longs = v;
    v[names->long_count++] = text;
    slot->value = (uint32_t)names->long_count;
    return text;
}

static machsym_str ms_map_kept_name(ms_map_kept *names, uint64_t record, uint64_t ref)
{
    if ((ref & 1) != 0)
        return ms_map_plain_ref(names->map->tables[ms_MAP_DATA], record, ref);
    uint64_t place = (ref >> 1) - 1;
    machsym_str rest = ms_map_unpacked(names, place / ms_PK_BLOCK, (size_t)(place % ms_PK_BLOCK));
    machsym_str text = ms_str_bounded(rest.ptr, rest.len);
    return text.len < rest.len ? text : ms_map_long_text(names, place);
}

static bool ms_map_kept_names(ms_map_kept *names, const machsym_map_frame *from, size_t count,
                              machsym_frame *frames)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t record = from[i].name_ref;
        ms_map_refs refs = ms_map_refs_of(names->map, record);
        ms_map_begin_frame(&from[i], &frames[i]);
        if (from[i].file_ref != 0)
            frames[i].file = ms_map_kept_file(names, from[i].file_ref);
        if (refs.linkage_name != 0)
            frames[i].linkage_name = ms_map_kept_name(names, record, refs.linkage_name);
        if (refs.name != 0)
            frames[i].name = ms_map_kept_name(names, record, refs.name);
    }
    bool ok = !names->cache.oom;
    names->cache.oom = false;
    return ok;
}

/* ---- Ranges ---- */

/* ---- Ranges ---- */

/* Where the next run starts; UINT64_MAX behind the last. */
static uint64_t ms_map_next_start(const machsym_map *map, unsigned runs, uint64_t off)
{
    ms_span table = map->tables[runs];
    uint64_t run = ms_map_run_at(map, runs, off);
    run = run == table.len / 8 ? 0 : run + 1;
    uint64_t start = run < table.len / 8 ? ms_map_u32_at(table, 2 * run) : UINT64_MAX;
    return start > off ? start : UINT64_MAX; /* a table out of order ends here */
}

static bool ms_map_next(const machsym_map *map, machsym_cursor *at, machsym_map_range *out)
{
    ms_map_hit hit;
    while (at->a <= UINT32_MAX) {
        uint64_t off = at->a;
        uint64_t next = ms_map_next_start(map, ms_MAP_RUNS, off);
        bool found = ms_map_find(map, ms_MAP_RUNS, off, &hit);
        out->is_symbol = !found;
        if (!found && ms_map_find(map, ms_MAP_SYMBOL_RUNS, off, &hit)) {
            found = true;
            hit.hi = hit.hi < next ? hit.hi : next;
        }
        if (found) {
            out->lo = map->head.text_addr + off;
            out->hi = map->head.text_addr + hit.hi;
            at->a = hit.hi;
            return true;
        }
        uint64_t symbol = ms_map_next_start(map, ms_MAP_SYMBOL_RUNS, off);
        at->a = next < symbol ? next : symbol;
    }
    return false;
}

#endif /* ms_ROOM_map_symmap */
