/* The store of symbols and its index files; see store.h. */
#include "store.h"
#include "../../report/base/memory.h"
#include "../../report/base/text.h"
#include "../base/posix.h"
#include "../base/say.h"
#include "../files/caches.h"
#include "../files/inside.h"
#include "../files/members.h"
#include "../files/zstd.h"
#include "index.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { STORE_MAX_DEPTH = 64, STORE_SAID = 10 /* unreadable files that are reported one by one */ };

struct store {
    store_options options;
    store_entry *v;
    size_t count;
    size_t cap;
    const store_entry **by_name;
    pool strings;
    bool changed;           /* the folder at hand is not as its index says */
    bool has_failed;        /* a file that was named holds no symbols */
    bool has_broken;        /* a file in a folder could not be opened (already reported) */
    bool has_broken_system; /* so it is with a shared cache or a file of one */
    bool is_shallow;        /* of the folder at hand only bundles are gone into */
    size_t unread;          /* files and folders that cannot be read */
};

/* ---- Memory ---- */

static char *store_join_path(pool *list, const char *folder, const char *name)
{
    text t = {0};
    text_c(&t, folder);
    if (t.len > 0 && t.v[t.len - 1] != '/')
        text_char(&t, '/');
    text_c(&t, name);
    char *path = pool_copy_z(list, t.v, t.len);
    text_free(&t);
    return path;
}

/* ---- One file ---- */

static bool store_has_suffix(const char *name, const char *suffix)
{
    size_t len = strlen(name);
    size_t suffix_len = strlen(suffix);
    return len > suffix_len && strcmp(name + len - suffix_len, suffix) == 0;
}

/* Mach-O's magics in both byte orders, and the two of fat files: loader.h, fat.h. */
static bool store_is_macho(const unsigned char *p)
{
    uint32_t magic = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    return magic == 0xfeedface || magic == 0xfeedfacf || magic == 0xcefaedfe || magic == 0xcffaedfe ||
           magic == 0xcafebabe || magic == 0xcafebabf;
}

/* Java's class files have the magic of fat files; where those count their slices, these have a version of 45
 * to 69 so far. */
static bool store_is_java(const unsigned char *p)
{
    uint32_t number = (uint32_t)p[4] << 24 | (uint32_t)p[5] << 16 | (uint32_t)p[6] << 8 | p[7];
    return memcmp(p, "\xca\xfe\xba\xbe", 4) == 0 && number >= 45 && number < 100;
}

static bool store_read_head(const char *path, unsigned char head[8], machsym_error *err)
{
    int fd = posix_open_to_read(path);
    long got = fd >= 0 ? posix_read(fd, head, 8) : -1;
    if (got < 0)
        *err = (machsym_error){MACHSYM_ERR_IO, errno, "it cannot be read", "", 0};
    if (fd >= 0)
        close(fd);
    return got == 8;
}

static bool store_is_map(const unsigned char *p)
{
    return memcmp(p, "MACHSYM\n", 8) == 0;
}

/* Whether a file is damaged so that its UUID or images in it may be missed. */
static void store_find_damage(const char *path, machsym_error *err)
{
    machsym_open_desc desc;
    machsym_image_info info;
    machsym_image *image;
    memset(&desc, 0, sizeof desc);
    desc.path = path;
    desc.flags = MACHSYM_OPEN_NO_PAIR | MACHSYM_OPEN_NO_OBJECTS;
    if (machsym_image_open(&desc, &image, NULL) != MACHSYM_OK)
        return;
    machsym_image_get_info(image, &info);
    if (info.damage_count != 0)
        *err =
            (machsym_error){MACHSYM_ERR_DAMAGED, 0, info.damage.what, info.damage.where, info.damage.offset};
    machsym_image_close(image);
}

/* Adds the slices of a Mach-O file that have a UUID, or a map; member names it if it is one of an archive. */
static void store_probe_slices(store_index *index, index_child *child, const char *path, const char *member,
                               machsym_error *err)
{
    machsym_slice slices[MACHSYM_MAX_SLICES];
    size_t count = inside_probe(path, slices, MACHSYM_MAX_SLICES, err);
    for (size_t i = 0; i < count && i < MACHSYM_MAX_SLICES; i++) {
        if (!slices[i].has_uuid)
            continue;
        index_slice *slice = index_add_slice(index);
        slice->uuid = slices[i].uuid;
        slice->cputype = slices[i].cputype;
        slice->cpusubtype = slices[i].cpusubtype;
        slice->kind = slices[i].filetype == 0                  ? STORE_MAP
                      : slices[i].filetype == 10 /* MH_DSYM */ ? STORE_DSYM
                                                               : STORE_BINARY;
        slice->member = member;
        child->slice_count++;
    }
    if (count == 1 && member[0] == 0 &&
        (slices[0].filetype == 12 /* MH_FILESET: images at its end may be gone */ ||
         (!slices[0].has_uuid && slices[0].filetype != 1 /* MH_OBJECT */)))
        store_find_damage(path, err);
}

/* Says of a shared cache that files of it are missing or damaged; sets *err when one that is there is cut
 * short. A file with local symbols that is not there is not missed: systems have their caches without it. In
 * an archive the other files are members, and were not looked for. */
static void store_check_cache(store *s, const machsym_image *cache, bool is_member, machsym_error *err)
{
    machsym_image_info info;
    machsym_cursor at = {0, 0};
    machsym_cache_file file;
    bool lacks = false;
    while (!is_member && machsym_image_next_cache_file(cache, &at, &file))
        lacks |= file.status != MACHSYM_CACHE_FILE_FOUND &&
                 (file.status != MACHSYM_CACHE_FILE_MISSING || !file.has_symbols);
    if (lacks)
        cache_say_files(cache);
    s->has_broken_system |= lacks;
    machsym_image_get_info(cache, &info);
    if (info.damage.is_cut_short)
        *err =
            (machsym_error){MACHSYM_ERR_DAMAGED, 0, info.damage.what, info.damage.where, info.damage.offset};
}

/* Checks a cache whose images are known from an index: that remembers the time of the main file, not those of
 * the others. */
static void store_check_known_cache(store *s, const char *path, machsym_error *err)
{
    text content = {0};
    machsym_image *cache = cache_open_lists(path, &content, err);
    if (cache != NULL)
        store_check_cache(s, cache, false, err);
    machsym_image_close(cache);
    text_free(&content);
}

/* Adds the images of a shared cache. Its other files list none: the main one lies beside them. */
static void store_probe_cache(store *s, store_index *index, index_child *child, const char *path,
                              const char *member, machsym_error *err)
{
    machsym_image_info info;
    machsym_cursor at = {0, 0};
    machsym_entry entry;
    machsym_uuid uuid;
    text content = {0};
    const uint32_t before = child->slice_count;
    machsym_image *cache = cache_open_lists(path, &content, err);
    if (cache == NULL) {
        text_free(&content);
        return;
    }
    machsym_image_get_info(cache, &info);
    while (cache_next_entry(cache, &at, &entry)) {
        if (!cache_entry_uuid(cache, &entry, &uuid))
            continue;
        index_slice *slice = index_add_slice(index);
        slice->uuid = uuid;
        slice->cputype = info.slice.cputype;
        slice->cpusubtype = info.slice.cpusubtype;
        slice->kind = STORE_CACHE;
        slice->member = member;
        child->slice_count++;
    }
    if (child->slice_count == before && info.damage_count != 0)
        *err =
            (machsym_error){MACHSYM_ERR_DAMAGED, 0, info.damage.what, info.damage.where, info.damage.offset};
    store_check_cache(s, cache, members_end(path) != 0, err);
    machsym_image_close(cache);
    text_free(&content);
}

/* Adds those of a file in an archive. */
static void store_probe_member(store *s, store_index *index, index_child *child, const char *path,
                               const char *member, machsym_error *err)
{
    if (cache_is_at(path))
        store_probe_cache(s, index, child, path, member, err);
    else
        store_probe_slices(index, child, path, member, err);
}

/* Whether a file is the main one of a shared cache, by its name: the others have their number or kind after a
 * dot. */
static bool store_is_cache_name(const char *path)
{
    static const char begin[] = "dyld_shared_cache_";
    machsym_str name = str_base_name(str_c(path));
    if (!str_starts(name, begin))
        return false;
    return str_find(name, ".") == name.len || store_has_suffix(path, ".development");
}

static bool store_is_cache(const char *path)
{
    return store_is_cache_name(path) || cache_is_at(path);
}

/* Says of a file inside a folder or archive that it is damaged: it may be the one that a report waits for.
 * Each run tries it again. */
static void store_say_damaged(store *s, index_child *child, const char *path, const machsym_error *err)
{
    if (store_is_cache(path))
        s->has_broken_system = true;
    else
        s->has_broken = true;
    child->mtime = 0;
    say_error(path, err);
}

static bool store_is_in_dsym(const char *path)
{
    return str_find(str_c(path), ".dSYM/Contents/Resources/DWARF/") < strlen(path);
}

/* Whether what is wrong with a file in an archive keeps back what a report may wait for: damage, or of a dSYM
 * that the archive does not give it, as one with a password. */
static bool store_is_kept_back(const char *path, const machsym_error *err)
{
    bool is_of_archive = err->where != NULL && strcmp(err->where, "zip member") == 0;
    return err->code == MACHSYM_ERR_DAMAGED || (is_of_archive && store_is_in_dsym(path));
}

/* Adds those of all files in an archive. */
static void store_probe_archive(store *s, store_index *index, index_child *child, const char *path,
                                machsym_error *err)
{
    path_list files;
    inside_expand_quietly(path, &files, err);
    for (size_t i = 0; i < files.count; i++) {
        const char *member = files.v[i] + strlen(path) + 1;
        machsym_error why;
        memset(&why, 0, sizeof why);
        store_probe_member(s, index, child, files.v[i], pool_copy_z(&s->strings, member, strlen(member)),
                           &why);
        if (store_is_kept_back(files.v[i], &why))
            store_say_damaged(s, child, files.v[i], &why);
    }
    path_list_free(&files);
}

/* Adds the slices of a file that have a UUID to the index. Of a file that looks like symbols and gives
 * none, *err says why. Stores of symsorter have compressed files without an ending. */
static void store_probe_file(store *s, store_index *index, index_child *child, const char *path,
                             machsym_error *err)
{
    unsigned char head[8];
    child->first_slice = index->slice_count;
    memset(err, 0, sizeof *err);
    if (!store_read_head(path, head, err))
        return;
    if (members_is_archive_name(str_c(path)) || zstd_is((machsym_bytes){head, sizeof head}))
        store_probe_archive(s, index, child, path, err);
    else if ((store_is_macho(head) && !store_is_java(head)) || store_is_map(head))
        store_probe_slices(index, child, path, "", err);
    else if (memcmp(head, "dyld_v1", 7) == 0)
        store_probe_cache(s, index, child, path, "", err);
}

static void store_add_entries(store *s, const store_index *index, const index_child *child, const char *path)
{
    for (uint32_t i = 0; i < child->slice_count; i++) {
        const index_slice *slice = &index->slices[child->first_slice + i];
        s->v = mem_room(s->v, s->count, &s->cap, sizeof *s->v);
        store_entry *entry = &s->v[s->count++];
        entry->uuid = slice->uuid;
        entry->path = slice->member[0] != 0 ? store_join_path(&s->strings, path, slice->member) : path;
        entry->arch = machsym_arch_name(slice->cputype, slice->cpusubtype);
        entry->kind = slice->kind;
    }
}

/* ---- Folders ---- */

/* 0, which no index matches, for what changed a moment ago: another change could carry the same time. */
static int64_t store_mtime_of(const struct stat *st)
{
    if (time(NULL) - st->st_mtime < 2)
        return 0;
    return (int64_t)st->st_mtime * 1000000000 + posix_nanoseconds(st);
}

/* Says of a file or folder inside a folder that it cannot be read: it may be the one that a report waits for.
 * Where the system failed the exit status is 1, whatever is found elsewhere: that may say less. */
static void store_say_unread(store *s, const char *path, int error)
{
    if (error == ENOENT || error == ENOTDIR)
        return; /* removed meanwhile */
    s->has_broken = true;
    if (posix_is_fault(error)) {
        status_note_damage();
        status_note_fault();
    }
    if (s->unread++ < STORE_SAID)
        say_message("%s: cannot be read: %s", path, strerror(error));
}

/* The children of a folder that has changed, or was never seen. Links to folders are not followed: they may
 * lead in circles. Returns false when not all could be looked at: that may change while the folder's time
 * stays. */
static bool store_list_folder(store *s, store_index *index, const char *path)
{
    DIR *dir = opendir(path);
    bool is_whole = true;
    if (dir == NULL) {
        store_say_unread(s, path, errno);
        return false;
    }
    struct dirent *entry;
    while ((entry = posix_next_entry(dir)) != NULL) {
        struct stat st;
        if (entry->d_name[0] == '.')
            continue;
        const int type = posix_type(entry);
        bool is_folder = type == DT_DIR;
        if (type == DT_LNK || type == DT_UNKNOWN) {
            char *full = store_join_path(&s->strings, path, entry->d_name);
            if ((type == DT_LNK ? stat(full, &st) : lstat(full, &st)) != 0) {
                if (posix_is_fault(errno))
                    store_say_unread(s, full, errno);
                is_whole = false;
                continue;
            }
            is_folder = S_ISDIR(st.st_mode);
            if (!(is_folder ? type != DT_LNK : S_ISREG(st.st_mode)))
                continue;
        } else if (!is_folder && type != DT_REG) {
            continue;
        }
        index_child *child = index_add_child(index);
        child->name = pool_copy_z(&s->strings, entry->d_name, strlen(entry->d_name));
        child->is_folder = is_folder;
    }
    if (errno != 0) {
        store_say_unread(s, path, errno);
        is_whole = false;
    }
    closedir(dir);
    return is_whole;
}

static int store_by_child_name(const void *a, const void *b)
{
    return strcmp(((const index_child *)a)->name, ((const index_child *)b)->name);
}

/* Puts the children of a folder into the new index: from the old one when the folder is as it was. */
static void store_take_children(store *s, const store_index *old, const index_folder *known,
                                store_index *index, index_folder *folder)
{
    folder->first_child = index->child_count;
    if (known != NULL && folder->mtime != 0 && known->mtime == folder->mtime) {
        for (uint32_t i = 0; i < known->child_count; i++) {
            index_child *child = index_add_child(index);
            *child = old->children[known->first_child + i];
        }
    } else {
        s->changed = true;
        if (!store_list_folder(s, index, folder->path))
            folder->mtime = 0;
        if (index->child_count > folder->first_child)
            qsort(index->children + folder->first_child, index->child_count - folder->first_child,
                  sizeof *index->children, store_by_child_name);
    }
    folder->child_count = index->child_count - folder->first_child;
}

static bool store_child_is_before(const void *element, const void *name)
{
    return strcmp(((const index_child *)element)->name, name) < 0;
}

static const index_child *store_known_file(const store_index *old, const index_folder *known,
                                           const index_child *child)
{
    if (known == NULL || known->child_count == 0)
        return NULL;
    const index_child *children = &old->children[known->first_child];
    size_t at =
        mem_lower_bound(children, known->child_count, sizeof *children, child->name, store_child_is_before);
    bool found = at < known->child_count && strcmp(children[at].name, child->name) == 0;
    return found && !children[at].is_folder ? &children[at] : NULL;
}

/* Whether what the index says of a file holds: its time and size are the same. */
static bool store_is_current(const index_child *before, const index_child *now)
{
    return before != NULL && now->mtime != 0 && before->mtime == now->mtime && before->size == now->size;
}

/* Whether a file is one of symbols, by its name and place. */
static bool store_is_symbols(const char *path)
{
    return inside_is_map(path) || members_is_archive_name(str_c(path)) || store_is_in_dsym(path);
}

/* Looks into a file of a folder. Folders hold files of all kinds, but one of symbols that is damaged, a map
 * or archive that does not open, and what in a dSYM is no Mach-O file may be what a report waits for: each
 * run tries it, and says why. Unreadable files are reported too; in a folder that the user did not name, only
 * symbol files. */
static void store_say_fault(store *s, index_child *child, const char *path, machsym_error err)
{
    if (err.code == MACHSYM_ERR_IO ||
        err.code == MACHSYM_ERR_MEMORY) /* what others allow changes without the file's time */
        child->mtime = 0;
    if (err.code == MACHSYM_ERR_IO && err.os_errno != 0 && child->slice_count == 0) {
        if (!s->is_shallow || store_is_symbols(path))
            store_say_unread(s, path, err.os_errno);
        return;
    }
    if (err.code == MACHSYM_ERR_MEMORY)
        status_note_memory();
    if (child->slice_count == 0 && err.what == NULL && store_is_in_dsym(path))
        err = (machsym_error){MACHSYM_ERR_DAMAGED, 0, "no Mach-O file, but in a dSYM", "", 0};
    if (child->slice_count == 0 && err.code == MACHSYM_OK && store_is_cache_name(path) && !cache_is_at(path))
        err = (machsym_error){MACHSYM_ERR_DAMAGED, 0, "no shared cache, but called as one", "", 0};
    if (err.code == MACHSYM_OK ||
        (err.code != MACHSYM_ERR_DAMAGED &&
         (child->slice_count > 0 || !(inside_is_map(path) || members_is_archive_name(str_c(path))))))
        return;
    store_say_damaged(s, child, path, &err);
}

static void store_read_slices(store *s, store_index *index, index_child *child, const char *path)
{
    machsym_error err;
    store_probe_file(s, index, child, path, &err);
    store_say_fault(s, child, path, err);
}

/* Looks at one file of a folder. */
static void store_visit_file(store *s, const store_index *old, const index_folder *known, store_index *index,
                             uint32_t child_at, const char *folder_path)
{
    index_child child = index->children[child_at];
    const index_child *before = store_known_file(old, known, &child);
    char *path = store_join_path(&s->strings, folder_path, child.name);
    struct stat st;
    child.slice_count = 0;
    child.first_slice = index->slice_count;
    if (stat(path, &st) != 0) {
        if (!s->is_shallow || store_is_symbols(path))
            store_say_unread(s, path, errno);
        child.mtime = 0;
        index->children[child_at] = child;
        s->changed = true;
        return;
    }
    child.mtime = store_mtime_of(&st);
    child.size = (int64_t)st.st_size;
    if (store_is_current(before, &child)) {
        for (uint32_t i = 0; i < before->slice_count; i++) {
            index_slice *slice = index_add_slice(index);
            *slice = old->slices[before->first_slice + i];
        }
        child.slice_count = before->slice_count;
        if (child.slice_count > 0 && old->slices[before->first_slice].kind == STORE_CACHE) {
            machsym_error err;
            memset(&err, 0, sizeof err);
            store_check_known_cache(s, path, &err);
            store_say_fault(s, &child, path, err);
        }
    } else {
        s->changed = true;
        store_read_slices(s, index, &child, path);
    }
    index->children[child_at] = child;
    store_add_entries(s, index, &child, path);
}

/* Where to go on for a folder inside a folder: of a bundle only the part that holds symbols is of
 * interest. */
static char *store_inner_folder(store *s, const char *folder, const char *name)
{
    struct stat st;
    char *path = store_join_path(&s->strings, folder, name);
    if (!store_has_suffix(name, ".dSYM"))
        return path;
    char *inner = store_join_path(&s->strings, path, "Contents/Resources/DWARF");
    return stat(inner, &st) == 0 && S_ISDIR(st.st_mode) ? inner : path;
}

/* A folder still to be looked at. */
typedef struct folder_task {
    char *path;
    unsigned depth;
} folder_task;

static bool store_goes_into(const char *name, unsigned depth, bool shallow)
{
    if (!shallow)
        return depth < STORE_MAX_DEPTH;
    return store_has_suffix(name, ".dSYM") || store_has_suffix(name, ".xcarchive") ||
           strcmp(name, "dSYMs") == 0 || (depth > 0 && depth < 8);
}

static void store_visit_folder(store *s, const store_index *old, store_index *index, const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        store_say_unread(s, path, errno);
        s->changed = true;
        return;
    }
    index_folder folder;
    memset(&folder, 0, sizeof folder);
    folder.path = path;
    folder.mtime = store_mtime_of(&st);
    const index_folder *known = index_find(old, path);
    store_take_children(s, old, known, index, &folder);
    index_folder *kept = index_add_folder(index);
    *kept = folder;
    for (uint32_t i = 0; i < folder.child_count; i++) {
        if (!index->children[folder.first_child + i].is_folder)
            store_visit_file(s, old, known, index, folder.first_child + i, path);
    }
}

/* Says of a dSYM that it lacks its debug info. */
static void store_check_bundle(store *s, const store_index *index, const index_folder *folder)
{
    bool is_bundle = store_has_suffix(folder->path, ".dSYM");
    bool is_empty = is_bundle || store_has_suffix(folder->path, ".dSYM/Contents/Resources/DWARF");
    for (uint32_t i = 0; i < folder->child_count && is_empty; i++) {
        const index_child *child = &index->children[folder->first_child + i];
        is_empty = is_bundle && child->is_folder && strcmp(child->name, "Contents") == 0;
    }
    if (!is_empty || (is_bundle && inside_is_bundle(folder->path)))
        return;
    s->has_broken = true;
    if (s->unread++ < STORE_SAID)
        say_message("%s: the dSYM has no debug info: %s", folder->path,
                    is_bundle ? "Contents/Resources/DWARF is missing" : "the folder is empty");
}

static void store_visit_tree(store *s, const store_index *old, store_index *index, const char *root,
                             bool shallow)
{
    folder_task *tasks = mem_alloc(sizeof *tasks);
    size_t count = 1;
    size_t cap = 1;
    tasks[0] = (folder_task){pool_copy_z(&s->strings, root, strlen(root)), 0};
    while (count > 0) {
        folder_task task = tasks[--count];
        uint32_t folder_at = index->folder_count;
        store_visit_folder(s, old, index, task.path);
        if (folder_at == index->folder_count)
            continue;
        index_folder folder = index->folders[folder_at];
        store_check_bundle(s, index, &folder);
        for (uint32_t i = folder.child_count; i-- > 0;) {
            const index_child *child = &index->children[folder.first_child + i];
            if (!child->is_folder || !store_goes_into(child->name, task.depth, shallow))
                continue;
            if (count == cap) {
                cap *= 2;
                tasks = mem_grow(tasks, cap * sizeof *tasks);
            }
            tasks[count++] = (folder_task){store_inner_folder(s, task.path, child->name), task.depth + 1};
        }
    }
    free(tasks);
}

static void store_add_folder(store *s, const char *path, bool shallow)
{
    store_index old;
    store_index index;
    text index_file = {0};
    char *content = NULL;
    memset(&old, 0, sizeof old);
    memset(&index, 0, sizeof index);
    s->is_shallow = shallow;
    bool cached = !s->options.no_cache && index_path(path, shallow, &index_file);
    if (cached)
        index_load(&old, index_file.v, &content);
    s->changed = old.folder_count == 0;
    store_visit_tree(s, &old, &index, path, shallow);
    s->changed |= old.folder_count != index.folder_count;
    if (cached && s->changed)
        index_save(&index, index_file.v);
    index_free(&old);
    index_free(&index);
    text_free(&index_file);
    free(content);
}

static void store_add_file(store *s, const char *path)
{
    store_index index;
    index_child child;
    machsym_error err;
    memset(&index, 0, sizeof index);
    memset(&child, 0, sizeof child);
    store_probe_file(s, &index, &child, path, &err);
    s->has_failed |= child.slice_count == 0 || err.code == MACHSYM_ERR_DAMAGED;
    if (err.code == MACHSYM_ERR_MEMORY)
        status_note_memory();
    if (err.code != MACHSYM_OK && (child.slice_count == 0 || err.code == MACHSYM_ERR_DAMAGED))
        say_error(path, &err);
    else if (child.slice_count == 0)
        say_message("%s: no Mach-O file with a UUID, no dSYM and no .symmap; name one, or a folder of them",
                    path);
    store_add_entries(s, &index, &child, pool_copy_z(&s->strings, path, strlen(path)));
    index_free(&index);
}

/* Adds the Mach-O files in an archive. */
static void store_add_archive(store *s, const char *path, const path_list *files)
{
    bool found = false;
    bool is_said = false;
    for (size_t i = 0; i < files->count; i++) {
        store_index index;
        index_child child;
        machsym_error err;
        memset(&index, 0, sizeof index);
        memset(&child, 0, sizeof child);
        memset(&err, 0, sizeof err);
        store_probe_member(s, &index, &child, files->v[i], "", &err);
        found |= child.slice_count > 0;
        if (store_is_kept_back(files->v[i], &err)) {
            store_say_damaged(s, &child, files->v[i], &err);
            is_said = true;
        }
        store_add_entries(s, &index, &child, pool_copy_z(&s->strings, files->v[i], strlen(files->v[i])));
        index_free(&index);
    }
    s->has_failed |= !found;
    if (!found && !is_said)
        say_message(
            "%s: no Mach-O file with a UUID in it; name a dSYM, a .symmap, or a folder or archive of some",
            path);
}

/* ---- The store ---- */

store *store_open(const store_options *how)
{
    store *s = mem_alloc(sizeof *s);
    memset(s, 0, sizeof *s);
    s->options = *how;
    return s;
}

bool store_add(store *s, const char *path, bool shallow)
{
    struct stat st;
    path_list files;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        store_add_folder(s, path, shallow);
        return true;
    }
    if (stat(path, &st) != 0 && members_end(path) == 0) {
        say_message("%s: %s", path, strerror(errno));
        return false;
    }
    if (!inside_expand(path, INSIDE_ALL, &files)) {
        s->has_failed = true;
    } else if (files.count == 1 && strcmp(files.v[0], path) == 0 && members_end(path) == 0) {
        store_add_file(s, path);
    } else {
        store_add_archive(s, path, &files);
    }
    path_list_free(&files);
    return true;
}

static int store_by_uuid(const void *a, const void *b)
{
    const store_entry *x = a;
    const store_entry *y = b;
    int order = memcmp(&x->uuid, &y->uuid, sizeof x->uuid);
    if (order != 0)
        return order;
    if (x->kind != y->kind)
        return x->kind > y->kind ? -1 : 1;
    return strcmp(x->path, y->path);
}

static const char *store_name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static int store_by_name(const void *a, const void *b)
{
    const store_entry *x = *(const store_entry *const *)a;
    const store_entry *y = *(const store_entry *const *)b;
    int order = strcmp(store_name_of(x->path), store_name_of(y->path));
    return order != 0 ? order : x < y ? -1 : x > y;
}

void store_finish(store *s)
{
    if (s->unread > STORE_SAID)
        say_message("%zu more files and folders cannot be read", s->unread - STORE_SAID);
    if (s->count == 0)
        return;
    qsort(s->v, s->count, sizeof *s->v, store_by_uuid);
    s->by_name = mem_alloc(s->count * sizeof *s->by_name);
    for (size_t i = 0; i < s->count; i++)
        s->by_name[i] = &s->v[i];
    qsort(s->by_name, s->count, sizeof *s->by_name, store_by_name);
}

void store_close(store *s)
{
    pool_free(&s->strings);
    free(s->by_name);
    free(s->v);
    free(s);
}

const char *store_path(const store *s, size_t index)
{
    return index < s->count ? s->v[index].path : NULL;
}

bool store_failed(const store *s)
{
    return s->has_failed;
}

bool store_has_broken(const store *s)
{
    return s->has_broken;
}

bool store_has_broken_system(const store *s)
{
    return s->has_broken_system;
}

/* Whether a slice can be what a report calls by this name: "arm64" and "arm64e" may stand for each other,
 * "arm" and unknown names for anything. */
static bool store_arch_fits(const char *have, machsym_str want)
{
    static const char *const families[] = {"arm64", "armv", "x86_64", "i386", "ppc"};
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        size_t len = strlen(families[i]);
        if (want.len >= len && memcmp(want.ptr, families[i], len) == 0)
            return strncmp(have, families[i], len) == 0;
    }
    return true;
}

static bool store_uuid_is_before(const void *element, const void *uuid)
{
    const store_entry *entry = element;
    return memcmp(&entry->uuid, uuid, sizeof entry->uuid) < 0;
}

size_t store_find(const store *s, const machsym_uuid *uuid, machsym_str arch, const store_entry **out,
                  size_t cap)
{
    size_t lo = mem_lower_bound(s->v, s->count, sizeof *s->v, uuid, store_uuid_is_before);
    size_t found = 0;
    for (; lo < s->count && memcmp(&s->v[lo].uuid, uuid, sizeof *uuid) == 0; lo++) {
        if (!store_arch_fits(s->v[lo].arch, arch))
            continue;
        if (found < cap)
            out[found] = &s->v[lo];
        found++;
    }
    return found;
}

static int store_compare_name(const char *name, machsym_str wanted)
{
    size_t len = strlen(name);
    size_t both = len < wanted.len ? len : wanted.len;
    int order = both != 0 ? memcmp(name, wanted.ptr, both) : 0;
    return order != 0 ? order : len < wanted.len ? -1 : len > wanted.len;
}

static bool store_name_is_before(const void *element, const void *name)
{
    const store_entry *const *entry = element;
    return store_compare_name(store_name_of((*entry)->path), *(const machsym_str *)name) < 0;
}

size_t store_find_name(const store *s, machsym_str name, const store_entry **out, size_t cap)
{
    size_t lo = mem_lower_bound(s->by_name, s->count, sizeof *s->by_name, &name, store_name_is_before);
    size_t found = 0;
    for (; lo < s->count && store_compare_name(store_name_of(s->by_name[lo]->path), name) == 0; lo++) {
        if (found < cap)
            out[found] = s->by_name[lo];
        found++;
    }
    return found;
}

const store_entry *store_find_other(const store *s, machsym_str name, machsym_str arch)
{
    enum { LOOKED_AT = 64 }; /* of one name: more are versions of one program, and each tells as much */
    const store_entry *entries[LOOKED_AT];
    const store_entry *best = NULL;
    unsigned best_rank = 0;
    size_t count = name.len > 0 ? store_find_name(s, name, entries, LOOKED_AT) : 0;
    for (size_t i = 0; i < count && i < LOOKED_AT; i++) {
        unsigned rank =
            1u + (store_arch_fits(entries[i]->arch, arch) ? 2 : 0) + (entries[i]->kind == STORE_DSYM);
        if (rank > best_rank) {
            best = entries[i];
            best_rank = rank;
        }
    }
    return best;
}
