/* Maps in chunks; see chunks.h. */
#include "chunks.h"
#include "../../report/base/json.h"
#include "../../report/base/memory.h"
#include "../files/open.h"

#include <pthread.h>
#include <stdlib.h>

enum {
    BUCKETS = 1 << 14,     /* a gigabyte of chunks has about as many */
    OPEN_COST = 2048,      /* about what an open chunk takes beside its bytes and its key */
    MOST_ROWS = 1 << 22,   /* of a list: 4 GB of text have 400,000 chunks of 10,000 bytes */
    MOST_FAILURE = 1 << 10 /* of what a host tells */
};

/* One chunk. All but the bytes and what is opened of them is guarded by the lock of the cache. */
typedef struct chunk {
    struct chunk *next;  /* of the bucket */
    struct chunk *older; /* of those not in use */
    struct chunk *newer;
    text key;
    text value;
    machsym_image *image; /* NULL: it is being fetched, or failed */
    text failure;
    uint64_t hash;
    uint64_t cost;
    unsigned users;
    bool is_fetching;
    bool is_gone; /* it cannot be found any more */
} chunk;

struct chunk_cache {
    chunk_host host;
    uint64_t max_bytes;
    pthread_mutex_t lock;
    pthread_cond_t fetched;
    chunk *buckets[BUCKETS];
    chunk *oldest; /* of those not in use */
    chunk *newest;
    chunk_counts counts;
};

/* The chunks of one table, in rows. */
typedef struct chunk_rows {
    uint64_t *v; /* pairs: the first of a row, and how many follow each other */
    size_t count;
} chunk_rows;

struct chunked {
    chunk_cache *cache;
    machsym_uuid uuid;
    text map;
    text name;
    uint64_t chunk_size;
    uint64_t text_addr;
    chunk_rows rows[2];
};

static const char *const tables[] = {"dwarf", "symbol_table"};

/* The chunk that was used last, of each table: addresses are asked in their order. */
struct chunk_seat {
    chunked *image;
    machsym_lines lines;
    uint32_t flags;
    chunk *chunks[2];
    uint64_t indexes[2];
    machsym_session *sessions[2];
    text failure;
};

/* ---- Keys ---- */

/* Bytes that would end a part of the key, choose its slot in a Redis Cluster or act on a terminal become
 * %XX. */
static void chunk_text_key_part(text *t, machsym_str part)
{
    for (size_t i = 0, end = 0; i < part.len; i++) {
        char c = part.ptr[i];
        if (i >= end)
            end = i + str_control(str_make(part.ptr + i, part.len - i));
        if (i < end || strchr(" :{}%\"\\", c) != NULL) {
            text_char(t, '%');
            text_char(t, "0123456789ABCDEF"[(unsigned char)c >> 4]);
            text_char(t, "0123456789ABCDEF"[c & 15]);
        } else {
            text_char(t, c);
        }
    }
}

void chunk_key(text *out, const char *table, machsym_str image, const machsym_uuid *uuid, uint64_t index)
{
    text_c(out, table);
    text_char(out, ':');
    chunk_text_key_part(out, image);
    text_char(out, ':');
    text_uuid(out, uuid);
    text_char(out, ':');
    text_dec(out, index);
}

void chunk_list_key(text *out, const machsym_uuid *uuid)
{
    text_c(out, "image:");
    text_uuid(out, uuid);
}

/* ---- The cache; the lock is held where not said otherwise ---- */

chunk_cache *chunk_cache_open(const chunk_host *host, uint64_t max_bytes)
{
    chunk_cache *cache = mem_alloc(sizeof *cache);
    memset(cache, 0, sizeof *cache);
    cache->host = *host;
    cache->max_bytes = max_bytes;
    pthread_mutex_init(&cache->lock, NULL);
    pthread_cond_init(&cache->fetched, NULL);
    return cache;
}

static void chunk_free(chunk *c)
{
    machsym_image_close(c->image);
    text_free(&c->key);
    text_free(&c->value);
    text_free(&c->failure);
    free(c);
}

void chunk_cache_close(chunk_cache *cache)
{
    if (cache == NULL)
        return;
    while (cache->oldest != NULL) {
        chunk *next = cache->oldest->newer;
        chunk_free(cache->oldest);
        cache->oldest = next;
    }
    pthread_mutex_destroy(&cache->lock);
    pthread_cond_destroy(&cache->fetched);
    free(cache);
}

chunk_counts chunk_cache_count(chunk_cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    chunk_counts counts = cache->counts;
    pthread_mutex_unlock(&cache->lock);
    return counts;
}

static void chunk_leave_idle(chunk_cache *cache, chunk *c)
{
    *(c->older != NULL ? &c->older->newer : &cache->oldest) = c->newer;
    *(c->newer != NULL ? &c->newer->older : &cache->newest) = c->older;
    c->older = c->newer = NULL;
}

static void chunk_join_idle(chunk_cache *cache, chunk *c)
{
    c->older = cache->newest;
    c->newer = NULL;
    *(cache->newest != NULL ? &cache->newest->newer : &cache->oldest) = c;
    cache->newest = c;
}

/* It cannot be found any more. */
static void chunk_leave_bucket(chunk_cache *cache, chunk *c)
{
    chunk **at = &cache->buckets[c->hash % BUCKETS];
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    c->is_gone = true;
    cache->counts.count--;
    cache->counts.bytes -= c->is_fetching ? 0 : c->cost;
}

static void chunk_forget_idle(chunk_cache *cache, chunk *c)
{
    chunk_leave_idle(cache, c);
    chunk_leave_bucket(cache, c);
    chunk_free(c);
    cache->counts.forgotten++;
}

void chunk_cache_forget(chunk_cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    while (cache->oldest != NULL)
        chunk_forget_idle(cache, cache->oldest);
    for (size_t i = 0; i < BUCKETS; i++) {
        while (cache->buckets[i] != NULL) /* in use: who has it last frees it */
            chunk_leave_bucket(cache, cache->buckets[i]);
    }
    pthread_mutex_unlock(&cache->lock);
}

static void chunk_release(chunk_cache *cache, chunk *c)
{
    pthread_mutex_lock(&cache->lock);
    c->users--;
    if (c->users == 0 && c->is_gone)
        chunk_free(c);
    else if (c->users == 0)
        chunk_join_idle(cache, c);
    while (cache->counts.bytes > cache->max_bytes && cache->oldest != NULL)
        chunk_forget_idle(cache, cache->oldest);
    pthread_mutex_unlock(&cache->lock);
}

/* Without the lock. A host that gives the chunk of another image would give another program's names. */
static void chunk_open(chunk *c, const machsym_uuid *uuid)
{
    machsym_open_desc desc;
    machsym_image_info info;
    machsym_error err;
    memset(&desc, 0, sizeof desc);
    desc.bytes = (machsym_bytes){(const uint8_t *)c->value.v, c->value.len};
    desc.flags = MACHSYM_OPEN_NO_PAIR | MACHSYM_OPEN_NO_OBJECTS;
    if (c->value.len == 0 || machsym_image_open(&desc, &c->image, &err) != MACHSYM_OK) {
        text_c(&c->failure, c->value.len == 0 ? "the value is empty" : err.what);
        c->image = NULL;
        return;
    }
    machsym_image_get_info(c->image, &info);
    if (info.map != NULL && memcmp(&info.slice.uuid, uuid, sizeof *uuid) == 0)
        return;
    text_c(&c->failure, "the value is no chunk of this image");
    machsym_image_close(c->image);
    c->image = NULL;
}

/* Without the lock. */
static void chunk_fetch(chunk_cache *cache, chunk *c, const machsym_uuid *uuid)
{
    text why = {0};
    chunk_got got = cache->host.get(cache->host.user, (machsym_str){c->key.v, c->key.len}, &c->value, &why);
    if (got == CHUNK_GOT)
        chunk_open(c, uuid);
    else if (got == CHUNK_NOT_THERE)
        text_c(&c->failure,
               "it is not there, though the list of the image's chunks has it; build them again");
    else
        text_add(&c->failure, why.v, why.len < MOST_FAILURE ? why.len : MOST_FAILURE);
    c->cost = sizeof *c + c->key.cap + c->value.cap + OPEN_COST;
    text_free(&why);
}

static chunk *chunk_find(const chunk_cache *cache, machsym_str key, uint64_t hash)
{
    chunk *c = cache->buckets[hash % BUCKETS];
    while (c != NULL && !(c->hash == hash && str_equal((machsym_str){c->key.v, c->key.len}, key)))
        c = c->next;
    return c;
}

static chunk *chunk_add(chunk_cache *cache, machsym_str key, uint64_t hash, const machsym_uuid *uuid)
{
    chunk *c = mem_alloc(sizeof *c);
    memset(c, 0, sizeof *c);
    text_str(&c->key, key);
    c->hash = hash;
    c->users = 1;
    c->is_fetching = true;
    c->next = cache->buckets[hash % BUCKETS];
    cache->buckets[hash % BUCKETS] = c;
    cache->counts.count++;
    cache->counts.fetched++;
    pthread_mutex_unlock(&cache->lock);
    chunk_fetch(cache, c, uuid);
    pthread_mutex_lock(&cache->lock);
    c->is_fetching = false;
    cache->counts.bytes += c->is_gone ? 0 : c->cost;
    if (c->image == NULL && !c->is_gone) /* the next one who asks tries again */
        chunk_leave_bucket(cache, c);
    pthread_cond_broadcast(&cache->fetched);
    return c;
}

/* A chunk to look up in, until it is released; NULL with *why. Without the lock. */
static chunk *chunk_borrow(chunk_cache *cache, const text *key, const machsym_uuid *uuid, text *why)
{
    machsym_str name = {key->v, key->len};
    uint64_t hash = str_hash(name);
    pthread_mutex_lock(&cache->lock);
    chunk *c = chunk_find(cache, name, hash);
    cache->counts.asked++;
    if (c == NULL) {
        c = chunk_add(cache, name, hash, uuid);
    } else {
        if (c->users == 0)
            chunk_leave_idle(cache, c);
        c->users++;
        while (c->is_fetching)
            pthread_cond_wait(&cache->fetched, &cache->lock);
    }
    pthread_mutex_unlock(&cache->lock);
    if (c->image != NULL)
        return c;
    text_shown(why, name);
    text_c(why, ": ");
    text_add(why, c->failure.v, c->failure.len);
    chunk_release(cache, c);
    return NULL;
}

/* ---- Lists of chunks ---- */

/* Takes the rows of a table. Returns false when they are not such rows. */
static bool chunk_take_rows(const json *doc, const char *table, chunk_rows *rows)
{
    uint32_t list = json_get(doc, 0, table);
    uint32_t at = JSON_NONE;
    size_t cap = 0;
    uint64_t end = 0;
    if (!json_is(doc, list, JSON_ARRAY))
        return false;
    while (json_next(doc, list, &at)) {
        uint64_t number;
        bool is_first = rows->count % 2 == 0;
        bool ok = json_u64(doc, at, &number) && rows->count < MOST_ROWS;
        if (!ok || (is_first ? number < end : number == 0 || number > UINT64_MAX - end))
            return false;
        end = is_first ? number : end + number;
        rows->v = mem_room(rows->v, rows->count, &cap, sizeof *rows->v);
        rows->v[rows->count++] = number;
    }
    return rows->count % 2 == 0;
}

/* Whether there is a chunk. */
static bool chunk_has_row(const chunk_rows *rows, uint64_t index)
{
    size_t lo = 0;
    size_t hi = rows->count / 2;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (rows->v[2 * middle] <= index)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo > 0 && index - rows->v[2 * lo - 2] < rows->v[2 * lo - 1];
}

/* Takes the map that the list has. Returns false when it is of another image. */
static bool chunk_take_map(chunked *image, const json *doc)
{
    machsym_map *map;
    machsym_map_info info;
    uint32_t value = json_get(doc, 0, "map");
    if (!json_is(doc, value, JSON_STRING))
        return false;
    text_str(&image->map, json_raw(doc, value)); /* base64 has no escapes */
    machsym_map_desc desc = {.path = NULL};
    if (!text_from_base64(&image->map) || image->map.len == 0)
        return false;
    desc.bytes = chunked_map(image);
    if (machsym_map_open(&desc, &map, NULL) != MACHSYM_OK)
        return false;
    machsym_map_get_info(map, &info);
    image->text_addr = info.text_addr;
    text_str(&image->name, info.name);
    machsym_map_close(map);
    return memcmp(&info.uuid, &image->uuid, sizeof info.uuid) == 0;
}

static bool chunk_take_list(chunked *image, const text *value)
{
    json doc = {0};
    json_error err;
    bool ok = json_parse(NULL, &doc, value->v, value->len, 0, &err) && json_is(&doc, 0, JSON_OBJECT) &&
              json_u64(&doc, json_get(&doc, 0, "chunk"), &image->chunk_size) && image->chunk_size > 0 &&
              chunk_take_rows(&doc, tables[0], &image->rows[0]) &&
              chunk_take_rows(&doc, tables[1], &image->rows[1]) && chunk_take_map(image, &doc);
    json_free(&doc);
    return ok;
}

chunked *chunked_open(chunk_cache *cache, const machsym_uuid *uuid, chunk_got *got, text *why)
{
    text key = {0};
    text value = {0};
    text reason = {0};
    chunked *image = mem_alloc(sizeof *image);
    memset(image, 0, sizeof *image);
    image->cache = cache;
    image->uuid = *uuid;
    chunk_list_key(&key, uuid);
    *got = cache->host.get(cache->host.user, (machsym_str){key.v, key.len}, &value, &reason);
    if (*got == CHUNK_GOT && !chunk_take_list(image, &value)) {
        *got = CHUNK_FAILED;
        text_c(&reason, "the value is no list of this image's chunks; build them again");
    }
    if (*got == CHUNK_FAILED) {
        text_str(why, (machsym_str){key.v, key.len});
        text_c(why, ": ");
        text_add(why, reason.v, reason.len < MOST_FAILURE ? reason.len : MOST_FAILURE);
    }
    text_free(&key);
    text_free(&value);
    text_free(&reason);
    if (*got == CHUNK_GOT)
        return image;
    chunked_close(image);
    return NULL;
}

void chunked_close(chunked *image)
{
    if (image == NULL)
        return;
    free(image->rows[0].v);
    free(image->rows[1].v);
    text_free(&image->map);
    text_free(&image->name);
    free(image);
}

machsym_bytes chunked_map(const chunked *image)
{
    return (machsym_bytes){(const uint8_t *)image->map.v, image->map.len};
}

bool chunked_has_dwarf(const chunked *image)
{
    return image->rows[0].count > 0;
}

/* ---- Lookups ---- */

chunk_seat *chunk_seat_open(chunked *image, machsym_lines lines, uint32_t session_flags)
{
    chunk_seat *seat = mem_alloc(sizeof *seat);
    memset(seat, 0, sizeof *seat);
    seat->image = image;
    seat->lines = lines;
    seat->flags = session_flags;
    return seat;
}

static void chunk_leave(chunk_seat *seat, size_t table)
{
    if (seat->chunks[table] == NULL)
        return;
    open_session_close(seat->sessions[table]);
    chunk_release(seat->image->cache, seat->chunks[table]);
    seat->chunks[table] = NULL;
}

void chunk_seat_close(chunk_seat *seat)
{
    if (seat == NULL)
        return;
    chunk_leave(seat, 0);
    chunk_leave(seat, 1);
    text_free(&seat->failure);
    free(seat);
}

/* Returns false when the chunk cannot be had. */
static bool chunk_enter(chunk_seat *seat, size_t table, uint64_t index)
{
    text key = {0};
    const chunked *image = seat->image;
    if (seat->chunks[table] != NULL && seat->indexes[table] == index)
        return true;
    chunk_leave(seat, table);
    chunk_key(&key, tables[table], (machsym_str){image->name.v, image->name.len}, &image->uuid, index);
    chunk *c = chunk_borrow(image->cache, &key, &image->uuid, &seat->failure);
    text_free(&key);
    if (c == NULL)
        return false;
    machsym_session_desc desc = {.image = c->image, .lines = seat->lines, .flags = seat->flags};
    machsym_error err;
    if (machsym_session_open(&desc, &seat->sessions[table], &err) != MACHSYM_OK) {
        text_c(&seat->failure, err.what);
        chunk_release(image->cache, c);
        return false;
    }
    seat->chunks[table] = c;
    seat->indexes[table] = index;
    return true;
}

size_t chunk_seat_frames(chunk_seat *seat, uint64_t addr, machsym_frame *frames, size_t cap)
{
    const chunked *image = seat->image;
    uint64_t index = (addr - image->text_addr) / image->chunk_size;
    size_t count = 0;
    seat->failure.len = 0;
    if (addr < image->text_addr)
        return 0;
    for (size_t table = 0; table < 2 && count == 0; table++) {
        if (!chunk_has_row(&image->rows[table], index))
            continue;
        if (!chunk_enter(seat, table, index))
            return 0;
        count = machsym_session_frames_at_addr(seat->sessions[table], addr, frames, cap);
    }
    return count < cap ? count : cap;
}

const char *chunk_seat_failure(chunk_seat *seat)
{
    return seat->failure.len > 0 ? text_z(&seat->failure) : NULL;
}
