/* Shared images; see images.h. */
#include "images.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Decoded units are worth much: reports that share an image share most units. A seat of a large file may grow
 * to SESSION_CACHE, so few of those are kept for later; seats of smaller files stay small by themselves. */
enum { DEFAULT_MAX_OPEN = 32, SESSION_CACHE = 256 << 20, LARGE_FILE = 32 << 20, MAX_LARGE_IDLE = 4 };

/* How much more of complaints may gather before equal ones are left out: a damaged file that is opened
 * again, since others took its place, is complained of again. */
enum { SORT_COMPLAINTS = 1 << 20 };

/* What one thread at a time looks an image up with. */
struct image_seat {
    symbol_source *source;
    owners_image *owned; /* NULL without rules */
    uint64_t bytes;      /* that it kept when it was last used */
};

/* An opened file. */
struct shared_image {
    machsym_uuid uuid;
    const char *path; /* of the store: of the best of several files */
    symbol_file file;
    const store_entry *used; /* the file that answers; NULL: none opened */
    bcsymbolmap *names;
    struct image_seat **idle; /* seats nobody uses at the moment */
    unsigned idle_count;
    unsigned borrowed;
    uint64_t last_used;
    bool opening; /* another thread is at it */
    bool is_large;
    const char *failure; /* why the file could not be opened, or what is damaged in it; NULL: nothing */
};

struct image_pool {
    images_options options;
    pthread_mutex_t lock;
    pthread_cond_t opened;
    struct shared_image **v;
    size_t count;
    size_t cap;
    uint64_t clock;
    unsigned large_idle;  /* idle seats of large files */
    images_counts counts; /* but for those of open images */
    text complaints;      /* a line each */
    size_t sort_at;       /* the length of complaints from which on equal lines are left out */
    bool has_failed;      /* a file could not be opened, or is damaged, and no other took its place */
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
    symbol_source_close(seat->source);
    free(seat);
}

static void close_image(struct shared_image *image)
{
    for (unsigned i = 0; i < image->idle_count; i++)
        close_seat(image->idle[i]);
    if (image->used != NULL)
        symbol_file_close(&image->file);
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
    text_free(&all->complaints);
    free(all->v);
    free(all);
}

/* ---- Which file ---- */

/* The user said where an image of this name was loaded: the file must be the only one. */
static image_found files_by_name(const store *s, const image_key *key, uuid_files *files)
{
    const store_entry *entries[32];
    size_t count = store_find_name(s, key->name, entries, 32);
    for (size_t i = 1; i < count && i < 32; i++) {
        if (memcmp(&entries[0]->uuid, &entries[i]->uuid, sizeof entries[0]->uuid) != 0)
            return IMAGE_AMBIGUOUS;
    }
    if (count == 0)
        return IMAGE_MISSING;
    return uuid_files_find(s, &entries[0]->uuid, str_make(NULL, 0), files) ? IMAGE_FOUND : IMAGE_MISSING;
}

static bool find_files(const store *s, const image_key *key, uuid_files *files, image_status *status)
{
    memset(status, 0, sizeof *status);
    if (!key->has_uuid) {
        status->found = files_by_name(s, key, files);
        if (status->found == IMAGE_FOUND && !key->any_build) {
            status->found = IMAGE_UNPROVEN;
            status->path = files->v[0]->path;
            status->uuid = files->v[0]->uuid;
        }
    } else if (uuid_files_find(s, &key->uuid, key->arch, files)) {
        status->found = IMAGE_FOUND;
    } else {
        status->found = IMAGE_MISSING;
        const store_entry *other = store_find_other(s, key->name, key->arch);
        if (other != NULL) {
            status->found = IMAGE_OTHER_UUID;
            status->path = other->path;
            status->uuid = other->uuid;
        }
    }
    if (status->found != IMAGE_FOUND)
        return false;
    status->path = files->v[0]->path;
    status->kind = files->v[0]->kind;
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

static struct image_seat *take_seat(image_pool *all, struct shared_image *image)
{
    struct image_seat *seat = image->idle[--image->idle_count];
    all->large_idle -= image->is_large;
    all->counts.bytes -= seat->bytes;
    return seat;
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
        while (all->v[oldest]->idle_count > 0)
            close_seat(take_seat(all, all->v[oldest]));
        close_image(all->v[oldest]);
        all->v[oldest] = all->v[--all->count];
        all->counts.closed++;
    }
}

/* Without the lock: nobody else touches an image that is being opened. */
static void open_files(image_pool *all, struct shared_image *image, const uuid_files *files)
{
    const images_options *how = &all->options;
    uuid_choice_desc desc = {&image->uuid, how->lines,         how->open_flags,
                             how->objects, how->rules != NULL, true};
    uuid_choice c;
    uuid_choice_open(&c, &desc, files);
    image->file = c.file;
    image->used = c.used;
    if (!c.is_whole)
        image->failure = c.bad_count > 0 ? c.why[0] : "it cannot be opened";
    pthread_mutex_lock(&all->lock);
    uuid_choice_end(&c, &all->complaints);
    if (all->complaints.len > all->sort_at) {
        text_sort_lines(&all->complaints);
        all->sort_at = SORT_COMPLAINTS + 2 * all->complaints.len;
    }
    pthread_mutex_unlock(&all->lock);
    if (image->used != NULL)
        image->names =
            bcsymbolmap_find(image->used->path, &image->uuid, how->map_folders, how->map_folder_count);
}

/* Closes a seat of the image that was used the longest ago, of those that have an idle one. */
static void close_oldest_seat(image_pool *all, bool of_large)
{
    struct shared_image *oldest = NULL;
    for (size_t i = 0; i < all->count; i++) {
        struct shared_image *image = all->v[i];
        if ((image->is_large || !of_large) && image->idle_count > 0 &&
            (oldest == NULL || image->last_used < oldest->last_used))
            oldest = image;
    }
    close_seat(take_seat(all, oldest));
    all->counts.forgotten++;
}

static void close_surplus(image_pool *all)
{
    while (all->options.max_bytes == 0 && all->large_idle > MAX_LARGE_IDLE)
        close_oldest_seat(all, true);
    while (all->options.max_bytes > 0 && all->counts.bytes > all->options.max_bytes)
        close_oldest_seat(all, false);
}

static bool is_large(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && st.st_size > LARGE_FILE;
}

static struct shared_image *add_image(image_pool *all, const uuid_files *files)
{
    struct shared_image *image = tool_alloc(sizeof *image);
    memset(image, 0, sizeof *image);
    image->uuid = files->v[0]->uuid;
    image->path = files->v[0]->path;
    image->opening = true;
    const store_entry *dsym = uuid_files_kind(files, STORE_DSYM);
    image->is_large = uuid_files_has_macho(files) && files->v[files->count - 1]->kind != STORE_CACHE &&
                      is_large((dsym != NULL ? dsym : files->v[files->count - 1])->path);
    image->idle = tool_alloc(all->options.jobs * sizeof *image->idle);
    close_oldest(all);
    all->v = tool_room(all->v, all->count, &all->cap, sizeof(struct shared_image *));
    all->v[all->count++] = image;
    pthread_mutex_unlock(&all->lock);
    open_files(all, image, files);
    pthread_mutex_lock(&all->lock);
    all->has_failed |= image->failure != NULL;
    image->opening = false;
    pthread_cond_broadcast(&all->opened);
    return image;
}

static struct image_seat *open_seat(const images_options *how, const struct shared_image *image)
{
    struct image_seat *seat = tool_alloc(sizeof *seat);
    uint64_t cache = how->max_bytes > 0 ? how->max_bytes / how->jobs : SESSION_CACHE;
    cache = cache < SESSION_CACHE ? cache : SESSION_CACHE;
    seat->source = symbol_source_open(&image->file, how->session_flags, cache > 0 ? (size_t)cache : 1);
    seat->owned = NULL;
    seat->bytes = 0;
    machsym_session *session = symbol_source_session(seat->source);
    if (session != NULL && how->rules != NULL)
        seat->owned = owners_open(how->rules, image->file.image, session);
    return seat;
}

bool images_borrow(image_pool *all, const image_key *key, image_loan *out, image_status *status)
{
    uuid_files files;
    memset(out, 0, sizeof *out);
    if (!find_files(all->options.store, key, &files, status))
        return false;
    pthread_mutex_lock(&all->lock);
    struct shared_image *image = find_open(all, files.v[0]->path, &files.v[0]->uuid);
    all->counts.asked++;
    all->counts.opened += image == NULL;
    if (image == NULL)
        image = add_image(all, &files);
    image->borrowed++; /* before waiting, so that nobody closes it meanwhile */
    while (image->opening)
        pthread_cond_wait(&all->opened, &all->lock);
    image->last_used = ++all->clock;
    if (image->idle_count > 0)
        out->seat = take_seat(all, image);
    pthread_mutex_unlock(&all->lock);
    out->image = image;
    status->why = image->failure;
    if (image->used == NULL) {
        status->found = IMAGE_BROKEN;
        images_return(all, out);
        return false;
    }
    if (out->seat == NULL)
        out->seat = open_seat(&all->options, image);
    status->path = image->used->path;
    status->kind = image->used->kind;
    status->has_dwarf = image->file.info.has_dwarf;
    status->other_lines = image->file.lines != all->options.lines;
    status->lines = lines_name(image->file.lines);
    status->wanted_lines = lines_name(all->options.lines);
    return true;
}

bool images_failed(image_pool *all, text *complaints)
{
    pthread_mutex_lock(&all->lock);
    text_sort_lines(&all->complaints);
    text_add(complaints, all->complaints.v, all->complaints.len);
    bool failed = all->has_failed;
    pthread_mutex_unlock(&all->lock);
    return failed;
}

images_counts images_count(image_pool *all)
{
    pthread_mutex_lock(&all->lock);
    images_counts counts = all->counts;
    counts.open = all->count;
    pthread_mutex_unlock(&all->lock);
    return counts;
}

void images_return(image_pool *all, image_loan *loan)
{
    if (loan->seat != NULL)
        loan->seat->bytes = symbol_source_memory(loan->seat->source);
    pthread_mutex_lock(&all->lock);
    struct shared_image *image = loan->image;
    image->borrowed--;
    if (loan->seat != NULL) {
        image->idle[image->idle_count++] = loan->seat;
        all->large_idle += image->is_large;
        all->counts.bytes += loan->seat->bytes;
        close_surplus(all);
    }
    pthread_mutex_unlock(&all->lock);
    memset(loan, 0, sizeof *loan);
}

/* ---- Looking up ---- */

/* Kernels have their code outside __TEXT. */
bool loan_holds(const image_loan *loan, uint64_t base, bool is_text_exec, uint64_t pc)
{
    const symbol_file *file = &loan->image->file;
    if (is_text_exec || file->info.text_size == 0)
        return true;
    return symbol_file_addr(file, base, pc) - file->info.text_addr < file->info.text_size;
}

/* The one byte before a return address lies in the call, which is what the frame is about. */
size_t loan_frames(const image_loan *loan, uint64_t base, bool is_text_exec, uint64_t pc, bool is_return,
                   machsym_frame *frames, size_t cap, uint64_t *file_addr)
{
    const symbol_file *file = &loan->image->file;
    const bcsymbolmap *names = loan->image->names;
    if (is_text_exec && file->info.text_exec_addr != 0)
        base += file->info.text_addr - file->info.text_exec_addr;
    *file_addr = symbol_file_addr(file, base, pc);
    size_t count = symbol_source_frames(loan->seat->source, *file_addr - is_return, frames, cap);
    for (size_t i = 0; names != NULL && i < count; i++)
        bcsymbolmap_unhide(names, &frames[i]);
    return count;
}

machsym_str loan_owner(const image_loan *loan, uint64_t file_addr, const machsym_frame *frame)
{
    if (loan->seat->owned == NULL)
        return (machsym_str){NULL, 0};
    return owners_find(loan->seat->owned, file_addr, frame);
}

const symbol_info *loan_info(const image_loan *loan)
{
    return &loan->image->file.info;
}

symbol_source *loan_source(const image_loan *loan)
{
    return loan->seat->source;
}
