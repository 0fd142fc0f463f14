/* Shared images; see images.h. */
#include "images.h"
#include "../../report/base/memory.h"
#include "../../report/look/look.h"
#include "../base/machine.h"
#include "../base/say.h"
#include "../base/values.h"
#include "bcsymbolmap.h"
#include "symbols.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Decoded units are worth much: reports that share an image share most units. A seat may grow to
 * SESSION_CACHE. Without a limit of the caller's, unused seats keep as much as four full ones
 * have, or one for each thread where there are more: reports of one app and its ten frameworks find all
 * that was decoded. */
enum { DEFAULT_MAX_OPEN = 32, SESSION_CACHE = 256 << 20, MIN_FULL_SEATS = 4 };

/* Duplicate complaints are removed each time they have grown by this many bytes. A file that was evicted and
 * reopened complains again. */
enum { SORT_COMPLAINTS = 1 << 20 };

/* Most images of a report are the system's, whose symbols are rare. An image that was not found is not
 * searched again for a second. This many such images are remembered. */
enum { MISSING_SECONDS = 1, MISSING_SLOTS = 4096 };

/* The path that images from chunks have in messages. */
static const char chunks_path[] = "chunks";

/* What one thread at a time looks an image up with. */
struct image_seat {
    symbol_source *source;
    symbol_source *second; /* of a thread that helps; NULL: none did */
    owners_image *owned;   /* NULL without rules */
    size_t cache;          /* how a source of it is opened */
    uint32_t flags;
    uint64_t bytes; /* that it kept when it was last used */
};

/* An opened file. */
struct shared_image {
    machsym_uuid uuid;
    const char *path; /* of the store: of the best of several files */
    symbol_file file;
    const store_entry *used; /* the file that answers; NULL: none opened */
    store_entry from_chunks; /* that entry of an image in chunks */
    image_found found;       /* of chunks: whether there are any */
    text why;                /* of chunks: why that is not known */
    bool is_gone;            /* it cannot be found any more; its last borrower closes it */
    bcsymbolmap *names;
    struct image_seat **idle; /* unused seats */
    size_t idle_count;
    size_t idle_cap;
    unsigned borrowed;
    uint64_t last_used;
    const char
        *unread; /* why a file could not be read that may be whole: it is opened anew for the next one */
    bool lacks_memory;   /* for opening a file: only those that ask now find it */
    bool opening;        /* another thread is at it */
    const char *failure; /* why the file could not be opened, or what is damaged in it; NULL: nothing */
};

/* Files of a UUID that appeared in a store after the pool was opened. */
typedef struct late_files {
    machsym_uuid uuid;
    store *files;
} late_files;

/* A UUID that was looked for in vain. */
typedef struct missing_uuid {
    machsym_uuid uuid;
    double until;
} missing_uuid;

struct image_pool {
    images_options options;
    pthread_mutex_t lock;
    pthread_cond_t opened;
    struct shared_image **v;
    size_t count;
    size_t cap;
    uint64_t clock;
    images_counts counts; /* but for those of open images */
    text complaints;      /* a line each */
    size_t sort_at;       /* the length of complaints from which on equal lines are left out */
    bool has_failed;      /* a file could not be opened, or is damaged, and no other took its place */
    late_files *late;     /* by UUID */
    size_t late_count;
    size_t late_cap;
    missing_uuid *missing; /* MISSING_SLOTS */
};

image_pool *images_open(const images_options *how)
{
    image_pool *all = mem_alloc(sizeof *all);
    memset(all, 0, sizeof *all);
    all->options = *how;
    if (all->options.max_open == 0)
        all->options.max_open = DEFAULT_MAX_OPEN;
    if (all->options.jobs == 0)
        all->options.jobs = 1;
    if (all->options.max_bytes == 0) {
        uint64_t full = all->options.jobs > MIN_FULL_SEATS ? all->options.jobs : MIN_FULL_SEATS;
        all->options.max_bytes = full * SESSION_CACHE;
    }
    all->missing = mem_alloc(MISSING_SLOTS * sizeof *all->missing);
    memset(all->missing, 0, MISSING_SLOTS * sizeof *all->missing);
    pthread_mutex_init(&all->lock, NULL);
    pthread_cond_init(&all->opened, NULL);
    return all;
}

static void images_close_seat(struct image_seat *seat)
{
    owners_close(seat->owned);
    symbol_source_close(seat->source);
    symbol_source_close(seat->second);
    free(seat);
}

static void images_close_image(struct shared_image *image)
{
    for (size_t i = 0; i < image->idle_count; i++)
        images_close_seat(image->idle[i]);
    chunked *chunks = image->file.chunks;
    if (image->used != NULL)
        symbol_file_close(&image->file);
    chunked_close(chunks);
    text_free(&image->why);
    bcsymbolmap_close(image->names);
    free(image->idle);
    free(image);
}

void images_close(image_pool *all)
{
    for (size_t i = 0; i < all->count; i++)
        images_close_image(all->v[i]);
    pthread_mutex_destroy(&all->lock);
    pthread_cond_destroy(&all->opened);
    for (size_t i = 0; i < all->late_count; i++)
        store_close(all->late[i].files);
    text_free(&all->complaints);
    free(all->missing);
    free(all->late);
    free(all->v);
    free(all);
}

/* ---- Which file ---- */

/* The user said where an image of this name was loaded: the file must be the only one. */
static image_found images_files_by_name(const store *s, const image_key *key, uuid_files *files)
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

static bool images_find_files(const store *s, const image_key *key, uuid_files *files, image_status *status)
{
    memset(status, 0, sizeof *status);
    if (!key->has_uuid) {
        status->found = images_files_by_name(s, key, files);
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

/* ---- Files that appear ---- */

static missing_uuid *images_missing_slot(image_pool *all, const machsym_uuid *uuid)
{
    return &all->missing[str_hash(str_make((const char *)uuid->v, sizeof uuid->v)) % MISSING_SLOTS];
}

/* The lock is held. */
static void images_note_missing(image_pool *all, const machsym_uuid *uuid)
{
    *images_missing_slot(all, uuid) = (missing_uuid){*uuid, machine_seconds() + (double)MISSING_SECONDS};
}

static bool images_is_before_late(const void *element, const void *uuid)
{
    return memcmp(&((const late_files *)element)->uuid, uuid, sizeof(machsym_uuid)) < 0;
}

/* The lock is held. */
static bool images_find_late(const image_pool *all, const image_key *key, uuid_files *files)
{
    size_t at =
        mem_lower_bound(all->late, all->late_count, sizeof *all->late, &key->uuid, images_is_before_late);
    return at < all->late_count && memcmp(&all->late[at].uuid, &key->uuid, sizeof key->uuid) == 0 &&
           uuid_files_find(all->late[at].files, &key->uuid, key->arch, files);
}

/* The lock is held. */
static void images_add_late(image_pool *all, const machsym_uuid *uuid, store *files)
{
    size_t at = mem_lower_bound(all->late, all->late_count, sizeof *all->late, uuid, images_is_before_late);
    if (at < all->late_count && memcmp(&all->late[at].uuid, uuid, sizeof *uuid) == 0) {
        store_close(files); /* another thread was faster */
        return;
    }
    all->late = mem_room(all->late, all->late_count, &all->late_cap, sizeof *all->late);
    memmove(all->late + at + 1, all->late + at, (all->late_count - at) * sizeof *all->late);
    all->late[at] = (late_files){*uuid, files};
    all->late_count++;
}

/* Looks at the UUID's place in the folders. */
static bool images_find_in_folders(image_pool *all, const image_key *key, uuid_files *files)
{
    store_options how = {true};
    store *s = store_open(&how);
    for (size_t i = 0; i < all->options.folder_count; i++)
        symbols_add_kept(s, all->options.folders[i], &key->uuid);
    store_finish(s);
    if (!uuid_files_find(s, &key->uuid, key->arch, files)) {
        store_close(s);
        return false;
    }
    pthread_mutex_lock(&all->lock);
    images_add_late(all, &key->uuid, s);
    bool found = images_find_late(all, key, files);
    pthread_mutex_unlock(&all->lock);
    return found;
}

/* Where an image may be found that the store does not have. */
typedef enum second_look { LOOK_NOWHERE = 0, LOOK_FILES, LOOK_CHUNKS } second_look;

static second_look images_look_again(image_pool *all, const image_key *key, uuid_files *files,
                                     image_status *status)
{
    bool has_chunks = all->options.chunks != NULL;
    if (!key->has_uuid || (all->options.folder_count == 0 && !has_chunks))
        return LOOK_NOWHERE;
    pthread_mutex_lock(&all->lock);
    const missing_uuid *missing = images_missing_slot(all, &key->uuid);
    bool is_missing =
        memcmp(&missing->uuid, &key->uuid, sizeof key->uuid) == 0 && machine_seconds() < missing->until;
    bool found = images_find_late(all, key, files);
    pthread_mutex_unlock(&all->lock);
    if (!found && is_missing)
        return LOOK_NOWHERE;
    found = found || images_find_in_folders(all, key, files);
    if (!found && has_chunks)
        return LOOK_CHUNKS;
    if (!found) {
        pthread_mutex_lock(&all->lock);
        images_note_missing(all, &key->uuid);
        pthread_mutex_unlock(&all->lock);
        return LOOK_NOWHERE;
    }
    status->found = IMAGE_FOUND;
    status->path = files->v[0]->path;
    status->kind = files->v[0]->kind;
    return LOOK_FILES;
}

/* ---- Opening and closing; the lock is held where not said otherwise ---- */

static struct shared_image *images_find_open(const image_pool *all, const char *path,
                                             const machsym_uuid *uuid)
{
    for (size_t i = 0; i < all->count; i++) {
        if (all->v[i]->path == path && memcmp(&all->v[i]->uuid, uuid, sizeof *uuid) == 0)
            return all->v[i];
    }
    return NULL;
}

static struct image_seat *images_take_seat(image_pool *all, struct shared_image *image)
{
    struct image_seat *seat = image->idle[--image->idle_count];
    all->counts.bytes -= seat->bytes;
    return seat;
}

static void images_close_oldest(image_pool *all)
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
            images_close_seat(images_take_seat(all, all->v[oldest]));
        images_close_image(all->v[oldest]);
        all->v[oldest] = all->v[--all->count];
        all->counts.closed++;
    }
}

/* Without the lock: no other thread touches an image that is being opened. */
static void images_open_files(image_pool *all, struct shared_image *image, const uuid_files *files)
{
    const images_options *how = &all->options;
    uuid_choice_desc desc = {&image->uuid, how->lines,         how->open_flags,
                             how->objects, how->rules != NULL, true};
    uuid_choice c;
    uuid_choice_open(&c, &desc, files);
    image->file = c.file;
    image->used = c.used;
    image->unread = c.unread;
    image->lacks_memory = c.lacks_memory;
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
static void images_close_oldest_seat(image_pool *all)
{
    struct shared_image *oldest = NULL;
    for (size_t i = 0; i < all->count; i++) {
        struct shared_image *image = all->v[i];
        if (image->idle_count > 0 && (oldest == NULL || image->last_used < oldest->last_used))
            oldest = image;
    }
    images_close_seat(images_take_seat(all, oldest));
    all->counts.forgotten++;
}

static void images_close_surplus(image_pool *all)
{
    while (all->counts.bytes > all->options.max_bytes)
        images_close_oldest_seat(all);
}

/* Without the lock, as open_files. */
static void images_open_chunks(const image_pool *all, struct shared_image *image)
{
    chunk_got got;
    machsym_error err;
    chunked *chunks = chunked_open(all->options.chunks, &image->uuid, &got, &image->why);
    image->found = got == CHUNK_NOT_THERE ? IMAGE_MISSING : IMAGE_UNREACHED;
    if (chunks == NULL)
        return;
    symbol_desc desc = {
        .open = {.bytes = chunked_map(chunks)}, .lines = all->options.lines, .any_lines = true};
    if (symbol_file_open(&desc, &image->file, &err) != MACHSYM_OK) {
        text_c(&image->why, err.what);
        chunked_close(chunks);
        return;
    }
    image->file.chunks = chunks;
    image->file.info.has_dwarf = chunked_has_dwarf(chunks);
    image->from_chunks = (store_entry){image->uuid, chunks_path, image->file.info.arch, STORE_MAP};
    image->used = &image->from_chunks;
    image->found = IMAGE_FOUND;
}

/* It cannot be found from here on. */
static void images_forget(image_pool *all, struct shared_image *image)
{
    for (size_t i = 0; i < all->count && !image->is_gone; i++) {
        if (all->v[i] == image) {
            all->v[i] = all->v[--all->count];
            image->is_gone = true;
        }
    }
}

/* files: NULL: it is in chunks. */
static struct shared_image *images_add(image_pool *all, const machsym_uuid *uuid, const char *path,
                                       const uuid_files *files)
{
    struct shared_image *image = mem_alloc(sizeof *image);
    memset(image, 0, sizeof *image);
    image->uuid = *uuid;
    image->path = path;
    image->opening = true;
    images_close_oldest(all);
    all->v = mem_room(all->v, all->count, &all->cap, sizeof(struct shared_image *));
    all->v[all->count++] = image;
    pthread_mutex_unlock(&all->lock);
    if (files != NULL)
        images_open_files(all, image, files);
    else
        images_open_chunks(all, image);
    pthread_mutex_lock(&all->lock);
    all->has_failed |= image->failure != NULL;
    image->opening = false;
    if (image->found == IMAGE_MISSING)
        images_note_missing(all, uuid);
    if (image->found != IMAGE_FOUND || image->lacks_memory || image->unread != NULL)
        images_forget(all, image);
    pthread_cond_broadcast(&all->opened);
    return image;
}

static struct image_seat *images_open_seat(const images_options *how, const struct shared_image *image)
{
    struct image_seat *seat = mem_alloc(sizeof *seat);
    uint64_t cache = how->max_bytes / how->jobs;
    cache = cache < SESSION_CACHE ? cache : SESSION_CACHE;
    seat->cache = cache > 0 ? (size_t)cache : 1;
    seat->flags = how->session_flags;
    seat->source = symbol_source_open(&image->file, seat->flags, seat->cache);
    seat->second = NULL;
    seat->owned = NULL;
    seat->bytes = 0;
    machsym_session *session = symbol_source_session(seat->source);
    if (session != NULL && how->rules != NULL)
        seat->owned = owners_open(how->rules, image->file.image, session);
    return seat;
}

static uint64_t images_seat_memory(const struct image_seat *seat)
{
    return symbol_source_memory(seat->source) +
           (seat->second != NULL ? symbol_source_memory(seat->second) : 0);
}

void images_return(image_pool *all, image_loan *loan)
{
    if (loan->seat != NULL)
        loan->seat->bytes = images_seat_memory(loan->seat);
    pthread_mutex_lock(&all->lock);
    struct shared_image *image = loan->image;
    if (loan->seat != NULL && symbol_source_failure(loan->seat->source) != NULL)
        images_forget(all,
                      image); /* its chunks may have been built again: the next one asks for their list */
    image->borrowed--;
    if (loan->seat != NULL) {
        image->idle = mem_room(image->idle, image->idle_count, &image->idle_cap, sizeof(struct image_seat *));
        image->idle[image->idle_count++] = loan->seat;
        all->counts.bytes += loan->seat->bytes;
        while (image->is_gone && image->idle_count > 0)
            images_close_seat(images_take_seat(all, image));
        images_close_surplus(all);
    }
    if (image->is_gone && image->borrowed == 0)
        images_close_image(image);
    pthread_mutex_unlock(&all->lock);
    memset(loan, 0, sizeof *loan);
}

/* The image is open; the lock is not held. */
static bool images_fill_loan(image_pool *all, image_loan *out, image_status *status)
{
    struct shared_image *image = out->image;
    status->why = image->failure;
    status->unread = image->unread;
    if (image->lacks_memory) {
        status_note_memory();
        status->found = IMAGE_UNREACHED;
        strcpy(status->failure, symbol_no_memory);
        images_return(all, out);
        return false;
    }
    if (image->found == IMAGE_UNREACHED) {
        size_t len = image->why.len < IMAGE_FAILURE - 1 ? image->why.len : IMAGE_FAILURE - 1;
        memcpy(status->failure, image->why.v, len);
        status->failure[len] = 0;
        status->found = IMAGE_UNREACHED;
    } else if (image->found == IMAGE_FOUND && image->used == NULL) {
        status->found = IMAGE_BROKEN;
    }
    if (image->used == NULL) {
        images_return(all, out);
        return false;
    }
    if (out->seat == NULL)
        out->seat = images_open_seat(&all->options, image);
    status->found = IMAGE_FOUND;
    status->path = image->used->path;
    status->kind = image->used->kind;
    status->has_dwarf = image->file.info.has_dwarf;
    status->other_lines = image->file.lines != all->options.lines;
    status->lines = value_lines_name(image->file.lines);
    status->wanted_lines = value_lines_name(all->options.lines);
    return true;
}

/* Leaves out the maps of an image whose binary is there. */
static void images_leave_out_maps(uuid_files *files)
{
    size_t count = 0;
    if (uuid_files_kind(files, STORE_BINARY) == NULL)
        return;
    for (size_t i = 0; i < files->count; i++) {
        if (files->v[i]->kind != STORE_MAP)
            files->v[count++] = files->v[i];
    }
    files->count = count;
}

bool images_borrow(image_pool *all, const image_key *key, image_loan *out, image_status *status)
{
    uuid_files files;
    memset(out, 0, sizeof *out);
    bool in_files = images_find_files(all->options.store, key, &files, status);
    second_look look = in_files ? LOOK_FILES : images_look_again(all, key, &files, status);
    if (look == LOOK_NOWHERE)
        return false;
    if (look == LOOK_FILES && key->is_for_tables)
        images_leave_out_maps(&files);
    const char *path = look == LOOK_FILES ? files.v[0]->path : chunks_path;
    const machsym_uuid *uuid = look == LOOK_FILES ? &files.v[0]->uuid : &key->uuid;
    pthread_mutex_lock(&all->lock);
    struct shared_image *image = images_find_open(all, path, uuid);
    bool is_new = image == NULL;
    if (is_new)
        image = images_add(all, uuid, path, look == LOOK_FILES ? &files : NULL);
    image->borrowed++; /* before waiting, so that no other thread closes it meanwhile */
    while (image->opening)
        pthread_cond_wait(&all->opened, &all->lock);
    all->counts.asked += image->found == IMAGE_FOUND;
    all->counts.opened += is_new && image->found == IMAGE_FOUND;
    image->last_used = ++all->clock;
    if (image->idle_count > 0)
        out->seat = images_take_seat(all, image);
    pthread_mutex_unlock(&all->lock);
    out->image = image;
    return images_fill_loan(all, out, status);
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

/* ---- Looking up ---- */

bool loan_holds(const image_loan *loan, uint64_t base, bool is_text_exec, uint64_t pc)
{
    const symbol_info *info = &loan->image->file.info;
    uint64_t addr = loan_addr(loan, base, is_text_exec, pc);
    return look_text_holds(addr, is_text_exec, info->text_addr, info->text_size);
}

/* The one byte before a return address lies in the call, which is what the frame is about. */
uint64_t loan_addr(const image_loan *loan, uint64_t base, bool is_text_exec, uint64_t pc)
{
    const symbol_file *file = &loan->image->file;
    base = look_text_base(base, is_text_exec, file->info.text_addr, file->info.text_exec_addr);
    return symbol_file_addr(file, base, pc);
}

void loan_unhide(const image_loan *loan, machsym_frame *frames, size_t count)
{
    const bcsymbolmap *names = loan->image->names;
    for (size_t i = 0; names != NULL && i < count; i++)
        bcsymbolmap_unhide(names, &frames[i]);
}

size_t loan_frames(const image_loan *loan, uint64_t base, bool is_text_exec, uint64_t pc, bool is_return,
                   machsym_frame *frames, size_t cap, uint64_t *file_addr)
{
    *file_addr = loan_addr(loan, base, is_text_exec, pc);
    size_t count = symbol_source_frames(loan->seat->source, *file_addr - is_return, frames, cap);
    loan_unhide(loan, frames, count);
    return count;
}

size_t loan_shared_frames(const image_loan *loan, uint64_t base, bool is_text_exec, uint64_t pc,
                          bool is_return, machsym_frame *frames, size_t cap, uint64_t *file_addr,
                          size_t *sharing)
{
    *file_addr = loan_addr(loan, base, is_text_exec, pc);
    size_t count =
        symbol_source_shared_frames(loan->seat->source, *file_addr - is_return, frames, cap, sharing);
    loan_unhide(loan, frames, count);
    return count;
}

const char *loan_failure(const image_loan *loan)
{
    return symbol_source_failure(loan->seat->source);
}

bool loan_lacked_memory(const image_loan *loan)
{
    return symbol_source_lacked_memory(loan->seat->source);
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

symbol_source *loan_second_source(const image_loan *loan)
{
    struct image_seat *seat = loan->seat;
    if (seat->second == NULL)
        seat->second = symbol_source_open(&loan->image->file, seat->flags, seat->cache);
    return seat->second;
}

const symbol_file *loan_file(const image_loan *loan)
{
    return &loan->image->file;
}

const machsym_image *loan_image(const image_loan *loan)
{
    const symbol_file *file = &loan->image->file;
    return file->map == NULL && file->chunks == NULL ? file->image : NULL;
}

const machsym_image *loan_tables(const image_loan *loan)
{
    const symbol_file *file = &loan->image->file;
    return file->chunks == NULL ? file->image : NULL;
}
