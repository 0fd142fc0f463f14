/* Shared images; see images.h. */
#include "images.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_MAX_OPEN = 32, SESSION_CACHE = 16 << 20 };

/* What one thread at a time looks an image up with. */
struct image_seat {
    machsym_session *session; /* NULL for a map */
    owners_image *owned;      /* NULL without rules */
    text names;               /* unpacked from a map */
};

/* An opened file. */
struct shared_image {
    machsym_uuid uuid;
    const char *path;     /* of the store */
    machsym_image *image; /* this or map */
    machsym_image_info info;
    machsym_map *map;
    machsym_map_info map_info;
    bcsymbolmap *names;
    struct image_seat **idle; /* seats nobody uses at the moment */
    unsigned idle_count;
    unsigned borrowed;
    uint64_t last_used;
    bool opening; /* another thread is at it */
    const char *failure;
};

struct image_pool {
    images_options options;
    pthread_mutex_t lock;
    pthread_cond_t opened;
    struct shared_image **v;
    size_t count;
    size_t cap;
    uint64_t clock;
};

image_pool *images_open(const images_options *how)
{
    image_pool *all = tool_alloc(sizeof *all);
    memset(all, 0, sizeof *all);
    all->options = *how;
    if (all->options.max_open == 0)
        all->options.max_open = DEFAULT_MAX_OPEN;
    if (all->options.jobs == 0)
        all->options.jobs = 1;
    pthread_mutex_init(&all->lock, NULL);
    pthread_cond_init(&all->opened, NULL);
    return all;
}

static void close_seat(struct image_seat *seat)
{
    owners_close(seat->owned);
    machsym_session_close(seat->session);
    text_free(&seat->names);
    free(seat);
}

static void close_image(struct shared_image *image)
{
    for (unsigned i = 0; i < image->idle_count; i++)
        close_seat(image->idle[i]);
    machsym_image_close(image->image);
    machsym_map_close(image->map);
    bcsymbolmap_close(image->names);
    free(image->idle);
    free(image);
}

void images_close(image_pool *all)
{
    for (size_t i = 0; i < all->count; i++)
        close_image(all->v[i]);
    pthread_mutex_destroy(&all->lock);
    pthread_cond_destroy(&all->opened);
    free(all->v);
    free(all);
}

/* ---- Which file ---- */

/* A dSYM and the binary of the same UUID answer together; a map answers alone and fastest. */
typedef struct image_files {
    const store_entry *map; /* NULL: none */
    const store_entry *first;
    const store_entry *pair;
} image_files;

static bool files_by_uuid(const store *s, const image_key *key, image_files *files)
{
    const store_entry *entries[8];
    size_t count = store_find(s, &key->uuid, key->arch, entries, 8);
    memset(files, 0, sizeof *files);
    for (size_t i = 0; i < count && i < 8; i++) {
        if (entries[i]->kind == STORE_MAP)
            files->map = files->map != NULL ? files->map : entries[i];
        else if (files->first == NULL)
            files->first = entries[i];
        else if (files->pair == NULL && files->first->kind == STORE_DSYM && entries[i]->kind == STORE_BINARY)
            files->pair = entries[i];
    }
    return files->map != NULL || files->first != NULL;
}

/* What stands for all of them. */
static const store_entry *main_file(const image_files *files)
{
    return files->map != NULL ? files->map : files->first;
}

/* The user said where an image of this name was loaded: the file must be the only one. */
static image_found files_by_name(const store *s, const image_key *key, image_files *files)
{
    const store_entry *entries[32];
    size_t count = store_find_name(s, key->name, entries, 32);
    for (size_t i = 1; i < count && i < 32; i++) {
        if (memcmp(&entries[0]->uuid, &entries[i]->uuid, sizeof entries[0]->uuid) != 0)
            return IMAGE_AMBIGUOUS;
    }
    if (count == 0)
        return IMAGE_MISSING;
    image_key exact = {entries[0]->uuid, true, {NULL, 0}, key->name};
    return files_by_uuid(s, &exact, files) ? IMAGE_FOUND : IMAGE_MISSING;
}

static bool find_files(const store *s, const image_key *key, image_files *files, image_status *status)
{
    const store_entry *other;
    memset(status, 0, sizeof *status);
    if (!key->has_uuid) {
        status->found = files_by_name(s, key, files);
    } else if (files_by_uuid(s, key, files)) {
        status->found = IMAGE_FOUND;
    } else {
        status->found = IMAGE_MISSING;
        if (key->name.len > 0 && store_find_name(s, key->name, &other, 1) > 0) {
            status->found = IMAGE_OTHER_UUID;
            status->path = other->path;
            status->uuid = other->uuid;
        }
    }
    if (status->found != IMAGE_FOUND)
        return false;
    status->path = main_file(files)->path;
    status->kind = main_file(files)->kind;
    return true;
}

/* ---- Opening and closing; the lock is held where not said otherwise ---- */

static struct shared_image *find_open(const image_pool *all, const char *path, const machsym_uuid *uuid)
{
    for (size_t i = 0; i < all->count; i++) {
        if (all->v[i]->path == path && memcmp(&all->v[i]->uuid, uuid, sizeof *uuid) == 0)
            return all->v[i];
    }
    return NULL;
}

static void close_oldest(image_pool *all)
{
    while (all->count >= all->options.max_open) {
        size_t oldest = all->count;
        for (size_t i = 0; i < all->count; i++) {
            if (all->v[i]->borrowed == 0 && !all->v[i]->opening &&
                (oldest == all->count || all->v[i]->last_used < all->v[oldest]->last_used))
                oldest = i;
        }
        if (oldest == all->count)
            return;
        close_image(all->v[oldest]);
        all->v[oldest] = all->v[--all->count];
    }
}

/* A map of another line policy, or without the objects that rules ask for, is only second best. */
static void open_map(const images_options *how, struct shared_image *image, const image_files *files)
{
    machsym_bytes none = {NULL, 0};
    machsym_error err;
    if (how->rules != NULL && files->first != NULL)
        return;
    if (machsym_map_open(files->map->path, none, 0, NULL, &image->map, &err) != MACHSYM_OK) {
        image->failure = err.what;
        return;
    }
    machsym_map_get_info(image->map, &image->map_info);
    if (image->map_info.lines != how->lines && files->first != NULL) {
        machsym_map_close(image->map);
        image->map = NULL;
    }
}

static void open_macho(struct shared_image *image, const image_files *files)
{
    machsym_open_desc desc;
    machsym_error err;
    memset(&desc, 0, sizeof desc);
    desc.path = files->first->path;
    desc.pair_path = files->pair != NULL ? files->pair->path : NULL;
    desc.uuid = &image->uuid;
    if (machsym_image_open(&desc, &image->image, &err) != MACHSYM_OK && desc.pair_path != NULL) {
        desc.pair_path = NULL;
        machsym_image_open(&desc, &image->image, &err);
    }
    if (image->image != NULL)
        machsym_image_get_info(image->image, &image->info);
    else
        image->failure = err.what;
}

/* Without the lock: nobody else touches an image that is being opened. */
static void open_files(const images_options *how, struct shared_image *image, const image_files *files)
{
    if (files->map != NULL)
        open_map(how, image, files);
    if (image->map == NULL && files->first != NULL)
        open_macho(image, files);
    if (image->map != NULL || image->image != NULL)
        image->names = bcsymbolmap_find(main_file(files)->path, &image->uuid, how->map_folders, how->map_folder_count);
}

static struct shared_image *add_image(image_pool *all, const image_files *files)
{
    struct shared_image *image = tool_alloc(sizeof *image);
    memset(image, 0, sizeof *image);
    image->uuid = main_file(files)->uuid;
    image->path = main_file(files)->path;
    image->opening = true;
    image->idle = tool_alloc(all->options.jobs * sizeof *image->idle);
    close_oldest(all);
    if (all->count == all->cap) {
        all->cap = all->cap == 0 ? 64 : all->cap * 2;
        all->v = tool_grow(all->v, all->cap * sizeof(struct shared_image *));
    }
    all->v[all->count++] = image;
    pthread_mutex_unlock(&all->lock);
    open_files(&all->options, image, files);
    pthread_mutex_lock(&all->lock);
    image->opening = false;
    pthread_cond_broadcast(&all->opened);
    return image;
}

static struct image_seat *open_seat(const images_options *how, const struct shared_image *image)
{
    machsym_session_desc desc;
    struct image_seat *seat = tool_alloc(sizeof *seat);
    memset(seat, 0, sizeof *seat);
    memset(&desc, 0, sizeof desc);
    desc.image = image->image;
    desc.lines = how->lines;
    desc.flags = how->session_flags;
    desc.cache_limit = SESSION_CACHE;
    if (image->image != NULL && machsym_session_open(&desc, &seat->session, NULL) != MACHSYM_OK) {
        close_seat(seat);
        return NULL;
    }
    if (seat->session != NULL && how->rules != NULL)
        seat->owned = owners_open(how->rules, image->image, seat->session);
    return seat;
}

bool images_borrow(image_pool *all, const image_key *key, symbol_source *out, image_status *status)
{
    image_files files;
    memset(out, 0, sizeof *out);
    if (!find_files(all->options.store, key, &files, status))
        return false;
    pthread_mutex_lock(&all->lock);
    struct shared_image *image = find_open(all, main_file(&files)->path, &main_file(&files)->uuid);
    if (image == NULL)
        image = add_image(all, &files);
    image->borrowed++; /* before waiting, so that nobody closes it meanwhile */
    while (image->opening)
        pthread_cond_wait(&all->opened, &all->lock);
    image->last_used = ++all->clock;
    if (image->idle_count > 0)
        out->seat = image->idle[--image->idle_count];
    pthread_mutex_unlock(&all->lock);
    out->image = image;
    if (out->seat == NULL && (image->image != NULL || image->map != NULL))
        out->seat = open_seat(&all->options, image);
    status->has_dwarf = image->map != NULL ? image->map_info.run_count > 0 : image->info.has_dwarf;
    status->other_lines = image->map != NULL && image->map_info.lines != all->options.lines;
    if (image->image != NULL)
        status->path = files.first->path;
    if (out->seat != NULL)
        return true;
    status->found = IMAGE_BROKEN;
    status->why = image->failure != NULL ? image->failure : "no memory left";
    images_return(all, out);
    return false;
}

void images_return(image_pool *all, symbol_source *source)
{
    pthread_mutex_lock(&all->lock);
    struct shared_image *image = source->image;
    image->borrowed--;
    if (source->seat != NULL)
        image->idle[image->idle_count++] = source->seat;
    pthread_mutex_unlock(&all->lock);
    memset(source, 0, sizeof *source);
}

/* ---- Looking up ---- */

static void unhide(const bcsymbolmap *names, machsym_frame *frame)
{
    frame->linkage_name = bcsymbolmap_name(names, frame->linkage_name);
    frame->name = bcsymbolmap_name(names, frame->name);
    frame->file.comp_dir = bcsymbolmap_name(names, frame->file.comp_dir);
    frame->file.dir = bcsymbolmap_name(names, frame->file.dir);
    frame->file.name = bcsymbolmap_name(names, frame->file.name);
}

/* What machsym_image_addr does, by the figures that a map keeps. */
static uint64_t map_addr(const machsym_map_info *info, uint64_t base, uint64_t pc)
{
    if (info->cputype == 12 /* CPU_TYPE_ARM */)
        pc &= ~(uint64_t)1; /* the Thumb bit */
    if (strcmp(info->arch, "arm64e") == 0)
        pc &= 0x7fffffffffff; /* pointer authentication */
    return pc - base + info->text_addr;
}

static size_t map_frames(const symbol_source *source, uint64_t addr, machsym_frame *frames, size_t cap)
{
    const machsym_map *map = source->image->map;
    text *names = &source->seat->names;
    size_t count = machsym_map_frames(map, addr, frames, cap);
    count = count < cap ? count : cap;
    size_t need = machsym_map_names(map, frames, count, names->v, names->cap);
    if (need > names->cap) {
        names->v = tool_grow(names->v, need);
        names->cap = need;
        machsym_map_names(map, frames, count, names->v, names->cap);
    }
    return count;
}

/* The one byte before a return address lies in the call, which is what the frame is about. */
size_t source_frames(const symbol_source *source, uint64_t base, bool is_text_exec, uint64_t pc, bool is_return,
                     machsym_frame *frames, size_t cap, uint64_t *file_addr)
{
    const struct shared_image *image = source->image;
    size_t count;
    if (image->map != NULL) {
        *file_addr = map_addr(&image->map_info, base, pc);
        count = map_frames(source, *file_addr - is_return, frames, cap);
    } else {
        if (is_text_exec && image->info.text_exec_addr != 0)
            base += image->info.text_addr - image->info.text_exec_addr;
        *file_addr = machsym_image_addr(image->image, base, pc);
        count = machsym_session_frames(source->seat->session, *file_addr - is_return, frames, cap);
        count = count < cap ? count : cap;
    }
    for (size_t i = 0; image->names != NULL && i < count; i++)
        unhide(image->names, &frames[i]);
    return count;
}

machsym_str source_owner(const symbol_source *source, uint64_t file_addr, const machsym_frame *frame)
{
    if (source->seat->owned == NULL)
        return (machsym_str){NULL, 0};
    return owners_find(source->seat->owned, file_addr, frame);
}
