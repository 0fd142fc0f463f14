/* Maps into chunks; see map_chunks.h. */
#include "map_chunks.h"
#include "../../report/base/json_put.h"
#include "../../report/base/memory.h"
#include "../base/say.h"
#include "chunks.h"
#include "map_budget.h"

#include <stdlib.h>
#include <string.h>

/* Minimum cost of a chunk: 440 bytes for an empty map, plus one range and one frame. */
enum { CHUNK_LEAST = 440 + 2 * MAP_FRAME_TEXT };

/* One of the two tables while it is cut into chunks. */
typedef struct chunk_table {
    machsym_writer *writer; /* NULL: no chunk is open */
    uint64_t chunk;
} chunk_table;

typedef struct chunk_cut {
    machsym_map_info info;
    uint64_t chunk_size;
    chunk_call put;
    void *user;
    chunk_table tables[2];
    chunk_lists *lists;
    map_budget budget;
} chunk_cut;

/* ---- Lists ---- */

/* Notes a chunk after those that are noted. */
static void cut_list_chunk(chunk_list *list, uint64_t chunk, uint64_t bytes)
{
    list->chunks++;
    list->bytes += bytes;
    if (list->count > 0 && list->v[list->count - 2] + list->v[list->count - 1] == chunk) {
        list->v[list->count - 1]++;
        return;
    }
    for (unsigned i = 0; i < 2; i++) {
        list->v = mem_room(list->v, list->count, &list->cap, sizeof *list->v);
        list->v[list->count++] = i == 0 ? chunk : 1;
    }
}

void cut_lists_free(chunk_lists *lists)
{
    free(lists->v[0].v);
    free(lists->v[1].v);
}

static void cut_put_list(text *out, const chunk_list *list)
{
    json_put_key(out, list->name);
    text_char(out, '[');
    for (size_t i = 0; i < list->count; i++) {
        text_c(out, i > 0 ? "," : "");
        text_dec(out, list->v[i]);
    }
    text_char(out, ']');
}

/* The map without its ranges tells the rest: which image it is of, where its text lies, the line policy. */
bool cut_index(const symbol_file *file, uint64_t chunk_size, const chunk_lists *lists, text *out)
{
    machsym_map_info info;
    machsym_writer *writer;
    machsym_map *empty;
    machsym_error err;
    machsym_writer_desc desc = {.info = &info};
    machsym_map_get_info(file->map, &info);
    info.flags |= MACHSYM_MAP_CHUNK;
    if (machsym_writer_open(&desc, &writer, &err) != MACHSYM_OK ||
        machsym_writer_finish(writer, &empty, &err) != MACHSYM_OK) {
        say_message("the list of chunks: %s", err.what);
        return false;
    }
    machsym_bytes bytes = machsym_map_bytes(empty);
    json_begin(out, "chunks");
    json_put_number(out, "chunk", chunk_size);
    cut_put_list(out, &lists->v[0]);
    cut_put_list(out, &lists->v[1]);
    json_put_key(out, "map");
    text_char(out, '"');
    text_base64(out, bytes.ptr, bytes.len);
    text_c(out, "\"}");
    machsym_map_close(empty);
    return true;
}

/* ---- Cutting ---- */

static uint64_t cut_chunk_of(const chunk_cut *e, uint64_t addr)
{
    return (addr - e->info.text_addr) / e->chunk_size;
}

/* Counts the chunks before one is made. Returns false when their headers alone would be too much. */
static bool cut_count_chunks(const chunk_cut *e, const symbol_file *file)
{
    machsym_cursor at = {0, 0};
    machsym_map_range range;
    uint64_t next[2] = {0, 0}; /* of each table: the first chunk that is not counted yet */
    uint64_t count = 0;
    while (machsym_map_next(file->map, &at, &range)) {
        uint64_t first = cut_chunk_of(e, range.lo);
        uint64_t end = cut_chunk_of(e, range.hi - 1) + 1;
        first = first > next[range.is_symbol] ? first : next[range.is_symbol];
        count += end > first ? end - first : 0;
        next[range.is_symbol] = end;
    }
    if (count <= e->budget.left / CHUNK_LEAST)
        return true;
    say_message(
        "%s: refused: %llu chunks of %llu bytes of text would come of a map of %llu bytes; take larger "
        "chunks",
        file->info.path, (unsigned long long)count, (unsigned long long)e->chunk_size,
        (unsigned long long)e->info.size);
    return false;
}

/* Makes the value of a chunk that is open. Returns false after a message. */
static bool cut_end_chunk(chunk_cut *e, size_t which)
{
    machsym_map *map;
    machsym_error err;
    text key = {0};
    chunk_table *table = &e->tables[which];
    machsym_writer *writer = table->writer;
    if (writer == NULL)
        return true;
    table->writer = NULL;
    if (machsym_writer_finish(writer, &map, &err) != MACHSYM_OK) {
        say_message("chunk %llu: %s", (unsigned long long)table->chunk, err.what);
        return false;
    }
    machsym_bytes value = machsym_map_bytes(map);
    chunk_key(&key, e->lists->v[which].name, e->info.name, &e->info.uuid, table->chunk);
    uint64_t made = e->put(e->user, (machsym_str){key.v, key.len}, value);
    cut_list_chunk(&e->lists->v[which], table->chunk, value.len);
    machsym_map_close(map);
    text_free(&key);
    return budget_spend(&e->budget, made); /* keys count too: an image may have a long name */
}

/* Adds a range to the chunk that is open, or opens it. Returns false after a message. */
static bool cut_add_to_chunk(chunk_cut *e, chunk_table *table, const machsym_map_range *range,
                             const machsym_frame *frames, size_t count)
{
    machsym_error err;
    machsym_writer_desc desc = {.info = &e->info};
    if ((table->writer != NULL || machsym_writer_open(&desc, &table->writer, &err) == MACHSYM_OK) &&
        machsym_writer_add(table->writer, range, frames, count, &err) == MACHSYM_OK)
        return true;
    say_message("chunk %llu: %s", (unsigned long long)table->chunk, err.what);
    return false;
}

/* Adds a range to every chunk that it touches; to the last one more may come. Returns false after a
 * message. */
static bool cut_add_to_chunks(chunk_cut *e, const machsym_map_range *range, const machsym_frame *frames,
                              size_t count)
{
    chunk_table *table = &e->tables[range->is_symbol];
    uint64_t last = cut_chunk_of(e, range->hi - 1);
    uint64_t cost = budget_frames_cost(frames, count);
    for (uint64_t chunk = cut_chunk_of(e, range->lo); chunk <= last; chunk++) {
        if (table->chunk != chunk && !cut_end_chunk(e, range->is_symbol))
            return false;
        table->chunk = chunk;
        if (!budget_spend(&e->budget, cost) || !cut_add_to_chunk(e, table, range, frames, count))
            return false;
    }
    return true;
}

bool cut_map(const symbol_file *file, uint64_t chunk_size, chunk_call put, void *user, chunk_lists *lists)
{
    machsym_cursor at = {0, 0};
    machsym_map_range range;
    chunk_cut e;
    memset(&e, 0, sizeof e);
    memset(lists, 0, sizeof *lists);
    lists->v[0].name = "dwarf";
    lists->v[1].name = "symbol_table";
    e.chunk_size = chunk_size;
    e.put = put;
    e.user = user;
    e.lists = lists;
    machsym_map_get_info(file->map, &e.info);
    e.budget = budget_of(file, 1);
    if (!cut_count_chunks(&e, file))
        return false;
    machsym_frame *frames = mem_alloc(MAP_MAX_FRAMES * sizeof *frames);
    symbol_source *source = symbol_source_open(file, 0, 0);
    e.info.flags |= MACHSYM_MAP_CHUNK;
    bool ok = true;
    while (ok && machsym_map_next(file->map, &at, &range)) {
        size_t count = symbol_source_frames(source, range.lo, frames, MAP_MAX_FRAMES);
        ok = count == 0 || cut_add_to_chunks(&e, &range, frames, count);
    }
    for (size_t i = 0; i < 2; i++) {
        ok = ok && cut_end_chunk(&e, i);
        machsym_writer_close(e.tables[i].writer); /* still open after a failure */
    }
    symbol_source_close(source);
    free(frames);
    return ok;
}
