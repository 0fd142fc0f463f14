/* See caches.h. */
#include "caches.h"

#include "members.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* Caches that are open. */
static struct {
    pthread_mutex_t lock;
    char **paths;
    machsym_image **v;
    size_t count;
    size_t path_cap;
    size_t cap;
} kept = {PTHREAD_MUTEX_INITIALIZER, NULL, NULL, 0, 0, 0};

bool cache_is_at(const char *path)
{
    char magic[7];
    int fd =
        path != NULL ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1; /* of a FIFO nobody may write to */
    if (fd < 0)
        return false;
    bool is = read(fd, magic, sizeof magic) == sizeof magic && memcmp(magic, "dyld_v1", sizeof magic) == 0;
    close(fd);
    return is;
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

static const machsym_image *find_kept(const char *path)
{
    for (size_t i = 0; i < kept.count; i++) {
        if (strcmp(kept.paths[i], path) == 0)
            return kept.v[i];
    }
    return NULL;
}

const machsym_image *cache_open(const char *path, uint32_t flags, machsym_error *err)
{
    machsym_open_desc desc;
    machsym_image *image;
    memset(&desc, 0, sizeof desc);
    desc.path = path;
    desc.flags = flags & MACHSYM_OPEN_COPY;
    pthread_mutex_lock(&kept.lock);
    const machsym_image *found = find_kept(path);
    if (found == NULL && machsym_image_open(&desc, &image, err) == MACHSYM_OK) {
        size_t count = kept.count;
        kept.paths = tool_room(kept.paths, count, &kept.path_cap, sizeof *kept.paths);
        kept.v = tool_room(kept.v, count, &kept.cap, sizeof *kept.v);
        kept.paths[count] = tool_alloc(strlen(path) + 1);
        strcpy(kept.paths[count], path);
        found = kept.v[count] = image;
        kept.count++;
    }
    pthread_mutex_unlock(&kept.lock);
    return found;
}

/* Where the path of a cache ends in a path that leads to one of its images; 0: there is none. */
static size_t path_end(const char *path)
{
    text prefix = {0};
    size_t end = members_end(path);
    text_add(&prefix, path, end);
    if (end != 0 && !cache_is_at(text_z(&prefix)))
        end = 0;
    text_free(&prefix);
    return end;
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

static bool find_uuid(const machsym_image *cache, const machsym_uuid *uuid, machsym_entry *entry)
{
    machsym_cursor at = {0, 0};
    machsym_uuid own;
    while (cache_next_entry(cache, &at, entry)) {
        if (cache_entry_uuid(cache, entry, &own) && memcmp(&own, uuid, sizeof own) == 0)
            return true;
    }
    return false;
}

static bool is_own_uuid(const machsym_image *cache, const machsym_uuid *uuid)
{
    machsym_image_info info;
    machsym_image_get_info(cache, &info);
    return info.slice.has_uuid && memcmp(&info.slice.uuid, uuid, sizeof *uuid) == 0;
}

/* Opens an image of an open cache, by the description's entry or its UUID. */
static void open_entry(const machsym_image *cache, const machsym_open_desc *from, const char *entry_name,
                       machsym_image **out, machsym_error *err)
{
    machsym_open_desc desc = *from;
    machsym_entry entry;
    text name = {0};
    desc.from = cache;
    desc.entry = entry_name;
    if (entry_name == NULL && find_uuid(cache, from->uuid, &entry)) {
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
    size_t end = path_end(desc->path);
    bool is_inside = end > 0 || ((entry != NULL || desc->uuid != NULL) && cache_is_at(desc->path));
    if (!is_inside)
        return false;
    text_add(&path, desc->path, end > 0 ? end : strlen(desc->path));
    entry = end > 0 ? desc->path + end : entry;
    *out = NULL;
    cache = cache_open(text_z(&path), desc->flags, err);
    is_inside = cache == NULL || entry != NULL || !is_own_uuid(cache, desc->uuid);
    if (cache != NULL && is_inside)
        open_entry(cache, desc, entry, out, err);
    text_free(&path);
    return is_inside;
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
            tool_say("%s: its file %.*s is %s: %s; %s", info.path, (int)file.name.len, file.name.ptr,
                     cache_file_status(file.status),
                     file.has_symbols ? "local functions have no names" : "what lies in it has no names",
                     advice[file.status]);
    }
}
