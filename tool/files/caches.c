/* See caches.h. */
#include "caches.h"
#include "../../report/base/memory.h"
#include "../base/readfile.h"
#include "../base/say.h"
#include "archive.h"
#include "members.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_FILES = 257 /* of one cache: MACHSYM_MAX_CACHE_FILES, and the main one */ };

/* The files of a cache that lies in an archive, in memory: the main one first. */
typedef struct unpacked_files {
    text *v; /* NULL: the cache lies in no archive */
    size_t count;
    uint64_t size;
} unpacked_files;

/* A cache that is open. */
typedef struct kept_cache {
    char *path;
    machsym_image *image;
    unpacked_files files;
} kept_cache;

static struct {
    pthread_mutex_t lock;
    kept_cache *v;
    size_t count;
    size_t cap;
} kept = {PTHREAD_MUTEX_INITIALIZER, NULL, 0, 0};

/* Whether a path leads to a file of a cache in an archive. */
static bool cache_is_member(const char *path)
{
    text head = {0};
    machsym_error unused;
    bool is = members_end(path) != 0 && members_read(path, 7, &head, &unused) && head.len >= 7 &&
              memcmp(head.v, "dyld_v1", 7) == 0;
    text_free(&head);
    return is;
}

bool cache_is_at(const char *path)
{
    char magic[7];
    if (path != NULL && file_read_begin(path, magic, sizeof magic) == sizeof magic)
        return memcmp(magic, "dyld_v1", sizeof magic) == 0;
    return path != NULL && cache_is_member(path);
}

bool cache_is(const machsym_image *image)
{
    machsym_cursor at = {0, 0};
    machsym_cache_file file;
    machsym_image_info info;
    machsym_image_get_info(image, &info);
    return info.slice.filetype == 0 && info.map == NULL && machsym_image_next_cache_file(image, &at, &file);
}

bool cache_next_entry(const machsym_image *cache, machsym_cursor *at, machsym_entry *out)
{
    enum { MAX_RECORDS = 1 << 14 };
    while (at->a < MAX_RECORDS && machsym_image_next_entry(cache, at, out)) {
        if (out->name.len > 0)
            return true;
    }
    return false;
}

uint64_t cache_bytes(const machsym_image *image)
{
    machsym_cursor at = {0, 0};
    machsym_cache_file file;
    machsym_image_info info;
    uint64_t size = 0;
    while (cache_is(image) && machsym_image_next_cache_file(image, &at, &file))
        size += file.size;
    machsym_image_get_info(image, &info);
    return size > info.slice.size ? size : info.slice.size;
}

bool cache_has_images(const char *path)
{
    machsym_open_desc desc;
    machsym_image *image;
    machsym_cursor at = {0, 0};
    machsym_entry entry;
    memset(&desc, 0, sizeof desc);
    desc.path = path;
    if (machsym_image_open(&desc, &image, NULL) != MACHSYM_OK)
        return false;
    bool has = machsym_image_next_entry(image, &at, &entry);
    machsym_image_close(image);
    return has;
}

/* ---- Caches in archives ---- */

static void cache_files_free(unpacked_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        text_free(&files->v[i]);
    free(files->v);
    memset(files, 0, sizeof *files);
}

/* Unpacks one more file. Returns false with *err. */
static bool cache_files_add(unpacked_files *files, const char *path, machsym_error *err)
{
    text content = {0};
    bool ok = members_read(path, UINT64_MAX, &content, err);
    if (ok && content.len > ARCHIVE_MAX_BYTES - files->size) {
        *err =
            (machsym_error){MACHSYM_ERR_LIMIT, 0,
                            "the files of the shared cache have more than 8 GB; unpack the archive", "", 0};
        ok = false;
    }
    if (!ok) {
        text_free(&content);
        return false;
    }
    files->size += content.len;
    files->v[files->count++] = content;
    return true;
}

/* Opens a cache from its files in memory. */
static machsym_result cache_open_files(const unpacked_files *files, const char *path, uint32_t flags,
                                       machsym_image **out, machsym_error *err)
{
    machsym_bytes parts[MAX_FILES];
    machsym_open_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.path = path;
    desc.flags = flags & MACHSYM_OPEN_COPY;
    if (files->v != NULL)
        desc.bytes = (machsym_bytes){files->v[0].v, files->v[0].len};
    for (size_t i = 1; i < files->count; i++)
        parts[desc.cache_file_count++] = (machsym_bytes){files->v[i].v, files->v[i].len};
    desc.cache_files = parts;
    return machsym_image_open(&desc, out, err);
}

/* Unpacks a file beside the main one. Older development caches append the suffix to the full name, or share a
 * file with the release cache. */
static bool cache_unpack_other(unpacked_files *files, const char *path, machsym_str other, text *name,
                               machsym_error *err)
{
    static const char ending[] = ".development";
    machsym_str base = str_base_name(str_c(path));
    size_t plain = base.len > strlen(ending) ? base.len - strlen(ending) : 0;
    if (plain != 0 && memcmp(base.ptr + plain, ending, strlen(ending)) == 0 && other.len > plain) {
        text_c(name, path);
        text_add(name, other.ptr + plain, other.len - plain);
        bool ok = cache_files_add(files, text_z(name), err);
        if (ok || err->code != MACHSYM_ERR_IO)
            return ok;
    }
    name->len = 0;
    text_add(name, path, strlen(path) - base.len);
    text_str(name, other);
    return cache_files_add(files, text_z(name), err);
}

/* Unpacks the files beside the main one that it names. A damaged file is reported here. A missing one is
 * reported by the cache. */
static void cache_unpack_others(unpacked_files *files, const machsym_image *main, const char *path)
{
    machsym_cursor at = {0, 0};
    machsym_cache_file file;
    while (machsym_image_next_cache_file(main, &at, &file) && files->count < MAX_FILES) {
        text name = {0};
        machsym_error err;
        if (file.status != MACHSYM_CACHE_FILE_FOUND &&
            !cache_unpack_other(files, path, file.name, &name, &err) && err.code != MACHSYM_ERR_IO)
            say_fault(name.v, &err);
        text_free(&name);
    }
}

/* Takes the files of a cache into memory when it lies in an archive. Returns false with *err. */
static bool cache_unpack(unpacked_files *files, const char *path, machsym_error *err)
{
    machsym_image *main;
    memset(files, 0, sizeof *files);
    if (!cache_is_member(path))
        return true;
    files->v = mem_alloc(MAX_FILES * sizeof *files->v);
    bool ok = cache_files_add(files, path, err) && cache_open_files(files, path, 0, &main, err) == MACHSYM_OK;
    if (ok) {
        cache_unpack_others(files, main, path);
        machsym_image_close(main);
    }
    if (!ok)
        cache_files_free(files);
    return ok;
}

machsym_image *cache_open_lists(const char *path, text *content, machsym_error *err)
{
    machsym_open_desc desc;
    machsym_image *image;
    memset(&desc, 0, sizeof desc);
    desc.path = path;
    if (members_end(path) != 0) {
        if (!members_read(path, UINT64_MAX, content, err))
            return NULL;
        desc.bytes = (machsym_bytes){content->v, content->len};
    }
    return machsym_image_open(&desc, &image, err) == MACHSYM_OK ? image : NULL;
}

/* ---- Caches that are open ---- */

static const kept_cache *cache_find_kept(const char *path)
{
    for (size_t i = 0; i < kept.count; i++) {
        if (strcmp(kept.v[i].path, path) == 0)
            return &kept.v[i];
    }
    return NULL;
}

/* The cache at a path, opened if it is not yet; the lock is held. */
static const kept_cache *cache_keep(const char *path, uint32_t flags, machsym_error *err)
{
    const kept_cache *before = cache_find_kept(path);
    kept_cache cache;
    if (before != NULL || !cache_unpack(&cache.files, path, err))
        return before;
    if (cache_open_files(&cache.files, path, flags, &cache.image, err) != MACHSYM_OK) {
        cache_files_free(&cache.files);
        return NULL;
    }
    cache.path = mem_alloc(strlen(path) + 1);
    strcpy(cache.path, path);
    kept.v = mem_room(kept.v, kept.count, &kept.cap, sizeof *kept.v);
    kept.v[kept.count] = cache;
    return &kept.v[kept.count++];
}

const machsym_image *cache_open(const char *path, uint32_t flags, machsym_error *err)
{
    pthread_mutex_lock(&kept.lock);
    const kept_cache *found = cache_keep(path, flags, err);
    const machsym_image *image = found != NULL ? found->image : NULL;
    pthread_mutex_unlock(&kept.lock);
    return image;
}

void cache_forget(void)
{
    pthread_mutex_lock(&kept.lock);
    for (size_t i = 0; i < kept.count; i++) {
        machsym_image_close(kept.v[i].image);
        cache_files_free(&kept.v[i].files);
        free(kept.v[i].path);
    }
    kept.count = 0;
    pthread_mutex_unlock(&kept.lock);
}

/* Opens a cache in an archive once more, as a whole. Returns false when it is not in an archive. */
static bool cache_open_unpacked(const machsym_open_desc *desc, machsym_image **out, machsym_error *err)
{
    *out = NULL;
    if (!cache_is_member(desc->path))
        return false;
    pthread_mutex_lock(&kept.lock);
    const kept_cache *found = cache_keep(desc->path, desc->flags, err);
    if (found != NULL)
        cache_open_files(&found->files, desc->path, desc->flags, out, err);
    pthread_mutex_unlock(&kept.lock);
    return true;
}

/* Where the path of a cache ends in a path that leads to one of its images; 0: there is none. The cache is a
 * file, or a member of an archive. */
static size_t cache_path_end(const char *path)
{
    text prefix = {0};
    size_t end = members_end(path);
    bool is_cache = false;
    while (end != 0 && path[end] != 0 && !is_cache) {
        prefix.len = 0;
        text_add(&prefix, path, end);
        is_cache = cache_is_at(text_z(&prefix));
        if (!is_cache)
            end += 1 + strcspn(path + end + 1, "/");
    }
    text_free(&prefix);
    return is_cache ? end : 0;
}

bool cache_entry_uuid(const machsym_image *cache, const machsym_entry *entry, machsym_uuid *uuid)
{
    machsym_open_desc desc;
    machsym_image_info info;
    machsym_image *image;
    text name = {0};
    *uuid = entry->uuid;
    if (entry->has_uuid)
        return true;
    memset(&desc, 0, sizeof desc);
    text_str(&name, entry->name);
    desc.from = cache;
    desc.entry = text_z(&name);
    bool has = machsym_image_open(&desc, &image, NULL) == MACHSYM_OK;
    if (has) {
        machsym_image_get_info(image, &info);
        *uuid = info.slice.uuid;
        has = info.slice.has_uuid;
        machsym_image_close(image);
    }
    text_free(&name);
    return has;
}

static bool cache_find_uuid(const machsym_image *cache, const machsym_uuid *uuid, machsym_entry *entry)
{
    machsym_cursor at = {0, 0};
    machsym_uuid own;
    while (cache_next_entry(cache, &at, entry)) {
        if (cache_entry_uuid(cache, entry, &own) && memcmp(&own, uuid, sizeof own) == 0)
            return true;
    }
    return false;
}

static bool cache_is_own_uuid(const machsym_image *cache, const machsym_uuid *uuid)
{
    machsym_image_info info;
    machsym_image_get_info(cache, &info);
    return info.slice.has_uuid && memcmp(&info.slice.uuid, uuid, sizeof *uuid) == 0;
}

/* Opens an image of an open cache, by the description's entry or its UUID. */
static void cache_open_entry(const machsym_image *cache, const machsym_open_desc *from,
                             const char *entry_name, machsym_image **out, machsym_error *err)
{
    machsym_open_desc desc = *from;
    machsym_entry entry;
    text name = {0};
    desc.from = cache;
    desc.entry = entry_name;
    if (entry_name == NULL && cache_find_uuid(cache, from->uuid, &entry)) {
        text_str(&name, entry.name);
        desc.entry = text_z(&name);
    }
    if (desc.entry == NULL)
        *err = (machsym_error){MACHSYM_ERR_UUID, 0, "no image of the shared cache has this UUID", "", 0};
    else
        machsym_image_open(&desc, out, err);
    text_free(&name);
}

bool cache_open_image(const machsym_open_desc *desc, machsym_image **out, machsym_error *err)
{
    const machsym_image *cache;
    text path = {0};
    const char *entry = desc->entry;
    if (desc->bytes.ptr != NULL || desc->from != NULL || desc->path == NULL)
        return false;
    size_t end = cache_path_end(desc->path);
    bool is_inside = end > 0 || ((entry != NULL || desc->uuid != NULL) && cache_is_at(desc->path));
    if (!is_inside)
        return cache_open_unpacked(desc, out, err);
    text_add(&path, desc->path, end > 0 ? end : strlen(desc->path));
    entry = end > 0 ? desc->path + end : entry;
    *out = NULL;
    cache = cache_open(text_z(&path), desc->flags, err);
    is_inside = cache == NULL || entry != NULL || !cache_is_own_uuid(cache, desc->uuid);
    if (cache != NULL && is_inside)
        cache_open_entry(cache, desc, entry, out, err);
    text_free(&path);
    return is_inside || cache_open_unpacked(desc, out, err);
}

const char *cache_file_status(machsym_cache_file_status status)
{
    static const char *const names[MACHSYM_CACHE_FILE_STATUS_COUNT] = {"missing", "found", "of another cache",
                                                                       "damaged", "unreadable"};
    return names[status];
}

bool cache_lacks_files(const machsym_image *image)
{
    machsym_cursor at = {0, 0};
    machsym_cache_file file;
    bool lacks = false;
    bool is_whole = cache_is(image);
    while (!lacks && machsym_image_next_cache_file(image, &at, &file))
        lacks = file.status != MACHSYM_CACHE_FILE_FOUND && (is_whole || file.has_symbols);
    return lacks;
}

void cache_say_files(const machsym_image *cache)
{
    static const char *const advice[MACHSYM_CACHE_FILE_STATUS_COUNT] = {
        "put it beside the first", "", "put the one of this cache beside the first", "copy it again",
        "let it be read by you"};
    machsym_cursor at = {0, 0};
    machsym_cache_file file;
    machsym_image_info info;
    machsym_image_get_info(cache, &info);
    while (machsym_image_next_cache_file(cache, &at, &file)) {
        if (file.status != MACHSYM_CACHE_FILE_FOUND)
            say_message("%s: its file %.*s is %s: %s; %s", info.path, (int)file.name.len, file.name.ptr,
                        cache_file_status(file.status),
                        file.has_symbols ? "local functions have no names" : "what lies in it has no names",
                        advice[file.status]);
    }
}
