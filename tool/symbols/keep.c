/* See keep.h. */
#include "keep.h"
#include "../../report/base/digits.h"
#include "../../report/base/memory.h"
#include "../base/posix.h"
#include "../base/readfile.h"
#include "../base/say.h"
#include "../files/inside.h"
#include "../files/outfile.h"
#include "../files/plist.h"
#include "layout.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

enum {
    UUID_LENGTH = 36,
    HOLD_STEP = 20,       /* milliseconds between two looks at a place that another run holds */
    HOLD_LOOKS = 60 * 50, /* a minute: a run holds a place while the disk makes its files safe */
    MAX_PLIST = 1 << 24   /* bytes: those of large apps have 20,000 */
};

static const char dwarf_folder[] = "/Contents/Resources/DWARF";

/* ---- Versions ---- */

/* A key of the root's dictionary, or of the one in which archives tell of their app. */
static bool kept_read_key(machsym_str plist, const char *key, text *out, machsym_error *err)
{
    plist_found found = plist_text(plist, NULL, key, out, err);
    if (found == PLIST_NONE)
        found = plist_text(plist, "ApplicationProperties", key, out, err);
    return found != PLIST_BAD;
}

bool kept_version(machsym_str plist, text *version, text *build, machsym_error *err)
{
    return kept_read_key(plist, "CFBundleShortVersionString", version, err) &&
           kept_read_key(plist, "CFBundleVersion", build, err);
}

/* Adds the folder some levels above a path, with a name in it. */
static bool kept_beside(text *t, const char *path, unsigned up, const char *name)
{
    size_t len = strlen(path);
    for (; up > 0; up--) {
        while (len > 0 && !posix_is_slash(path[len - 1]))
            len--;
        if (len == 0)
            break;
        len -= up > 1;
    }
    t->len = 0;
    text_add(t, path, len);
    text_c(t, name);
    text_z(t);
    return up == 0 || (up == 1 && len == 0);
}

static bool kept_read_plist(const char *path, text *out, machsym_error *err)
{
    const char *why = inside_read(path, out);
    if (why == NULL && out->len > MAX_PLIST)
        why = "has more than 16 MB: no Info.plist is as large";
    *err = (machsym_error){MACHSYM_ERR_IO, 0, why, "", 0};
    return why == NULL;
}

bool kept_find_plist(const char *image_path, text *out, text *path, machsym_error *err)
{
    /* X.dSYM/Contents/Resources/DWARF/X, in an archive's dSYMs; X.app/X, X.framework/X;
     * X.app/Contents/MacOS/X; X.framework/Versions/A/X */
    static const struct {
        unsigned up;
        const char *name;
        bool of_dsym;
    } places[] = {{3, "Info.plist", true},
                  {6, "Info.plist", true},
                  {1, "Info.plist", false},
                  {2, "Info.plist", false},
                  {1, "Resources/Info.plist", false}};
    bool is_dsym = strstr(image_path, ".dSYM/Contents/Resources/DWARF/") != NULL;
    text version = {0};
    text build = {0};
    bool ok = true;
    bool found = false;
    for (size_t i = 0; i < sizeof places / sizeof places[0] && ok && !found; i++) {
        out->len = version.len = build.len = 0;
        if (places[i].of_dsym != is_dsym || !kept_beside(path, image_path, places[i].up, places[i].name) ||
            !inside_has(path->v))
            continue;
        ok = kept_read_plist(path->v, out, err) &&
             kept_version(str_make(out->v, out->len), &version, &build, err);
        found = ok && version.len + build.len > 0;
    }
    if (!found)
        out->len = 0;
    text_free(&version);
    text_free(&build);
    return ok;
}

/* ---- Folders ---- */

static const char *kept_join(pool *strings, const char *folder, const char *name)
{
    text t = {0};
    text_c(&t, folder);
    text_char(&t, '/');
    text_c(&t, name);
    const char *path = pool_copy_z(strings, t.v, t.len);
    text_free(&t);
    return path;
}

static bool kept_say_unread(const char *path)
{
    say_message("%s: cannot be read: %s", path, strerror(errno));
    return false;
}

static int kept_by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Adds the names of what lies in a folder, sorted; nothing when there is none. Returns false after a message
 * when it cannot be read, with what was read of it. */
static bool kept_read_names(const char *folder, path_list *names)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    if (dir == NULL)
        return errno == ENOENT || errno == ENOTDIR || kept_say_unread(folder);
    while ((entry = posix_next_entry(dir)) != NULL)
        path_list_add(names, entry->d_name);
    bool ok = errno == 0 || kept_say_unread(folder);
    closedir(dir);
    if (names->count > 1)
        qsort(names->v, names->count, sizeof *names->v, kept_by_text);
    return ok;
}

/* The paths of the files in a folder that are no hidden ones, from a pool. What killed runs left goes to
 * left, unless that is NULL. */
static bool kept_read_files(const char *folder, pool *strings, path_list *files, path_list *left)
{
    path_list names = {NULL, 0, 0};
    bool ok = kept_read_names(folder, &names);
    for (size_t i = 0; i < names.count; i++) {
        const char *path = kept_join(strings, folder, names.v[i]);
        if (names.v[i][0] != '.')
            path_list_add(files, path);
        else if (left != NULL && outfile_is_temporary(names.v[i]) && posix_is_abandoned(path))
            path_list_add(left, path);
    }
    path_list_free(&names);
    return ok;
}

/* ---- The files of one UUID ---- */

void kept_files_free(kept_files *files)
{
    text_free(&files->dsym);
    text_free(&files->binary);
    text_free(&files->other);
}

static void kept_set_path(text *to, const char *path)
{
    to->len = 0;
    text_add(to, path, strlen(path) + 1);
}

/* Puts a file of a bundle where it belongs: version 0.1 kept a binary without a dSYM in the place of one.
 * What is no Mach-O file is a dSYM that is damaged. */
static bool kept_take_bundled(const char *path, kept_files *out)
{
    machsym_open_desc desc;
    machsym_slice slice;
    machsym_error err;
    memset(&desc, 0, sizeof desc);
    desc.path = path;
    size_t count = machsym_list_slices(&desc, &slice, 1, &err);
    if (count == 0 && (err.code == MACHSYM_ERR_MEMORY || posix_is_fault(err.os_errno))) {
        say_error(path, &err);
        return false;
    }
    bool is_binary = count == 1 && slice.filetype != 10; /* MH_DSYM */
    text *to = is_binary ? &out->binary : &out->dsym;
    bool is_used = to->len == 0;
    kept_set_path(is_used ? to : &out->other, path);
    out->is_old |= is_binary && is_used;
    return true;
}

/* The same, with what killed runs left beside them. */
static bool kept_find_files(const char *dir, const machsym_uuid *uuid, kept_files *out, path_list *left)
{
    pool strings = {0};
    path_list bundled = {NULL, 0, 0};
    path_list binaries = {NULL, 0, 0};
    text folder = {0};
    memset(out, 0, sizeof *out);
    layout_path(&folder, dir, uuid, LAYOUT_DSYM);
    folder.len--;
    text_c(&folder, dwarf_folder);
    bool ok = kept_read_files(text_z(&folder), &strings, &bundled, left);
    folder.len = 0;
    layout_path(&folder, dir, uuid, LAYOUT_BINARY);
    ok = kept_read_files(folder.v, &strings, &binaries, left) && ok;
    if (binaries.count > 0)
        kept_set_path(&out->binary, binaries.v[0]);
    for (size_t i = 0; i < bundled.count && ok; i++)
        ok = kept_take_bundled(bundled.v[i], out);
    path_list_free(&bundled);
    path_list_free(&binaries);
    text_free(&folder);
    pool_free(&strings);
    return ok;
}

bool kept_find(const char *dir, const machsym_uuid *uuid, kept_files *out)
{
    if (kept_find_files(dir, uuid, out, NULL))
        return true;
    kept_files_free(out);
    return false;
}

static void kept_read_stamp(const char *path, uint64_t *out)
{
    struct stat st;
    if (path == NULL || stat(path, &st) != 0)
        return;
    out[0] = 1;
    out[1] = (uint64_t)st.st_ino;
    out[2] = (uint64_t)st.st_size;
    out[3] = (uint64_t)st.st_mtime;
    out[4] = (uint64_t)posix_nanoseconds(&st);
}

void kept_stamp_take(const char *dir, const machsym_uuid *uuid, const kept_files *files, kept_stamp *out)
{
    static const char *const endings[] = {LAYOUT_MAP, LAYOUT_PLIST, LAYOUT_NAMES};
    text path = {0};
    memset(out, 0, sizeof *out);
    kept_read_stamp(files->dsym.len > 0 ? files->dsym.v : NULL, out->v[3]);
    kept_read_stamp(files->binary.len > 0 ? files->binary.v : NULL, out->v[4]);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        path.len = 0;
        layout_path(&path, dir, uuid, endings[i]);
        kept_read_stamp(path.v, out->v[i]);
    }
    text_free(&path);
}

/* The folder of a UUID's place is what is held. It may go while one waits: gc removes empty ones. */
int kept_hold(const char *dir, const machsym_uuid *uuid)
{
    text path = {0};
    int held = -1;
    int failure = EAGAIN;
    layout_path(&path, dir, uuid, "");
    path.len = file_folder_len(path.v) - 1;
    text_z(&path);
    for (unsigned i = 0; i < HOLD_LOOKS && held < 0; i++) {
        struct timespec step = {0, HOLD_STEP * 1000000L};
        errno = 0;
        held = posix_hold_file(path.v);
        failure = errno;
        if (held >= 0 || (failure != 0 && failure != EAGAIN && failure != EWOULDBLOCK && failure != EINTR))
            break;
        nanosleep(&step, NULL);
    }
    if (held < 0 && (failure == 0 || failure == EAGAIN || failure == EWOULDBLOCK))
        say_message("%s: another run has held it for a minute: it may have been stopped", path.v);
    else if (held < 0)
        say_message("%s: %s", path.v, strerror(failure));
    text_free(&path);
    return held;
}

static void kept_remove_left(const path_list *left)
{
    for (size_t i = 0; i < left->count; i++)
        posix_remove_abandoned(left->v[i]);
}

void kept_sweep(const char *dir, const machsym_uuid *uuid)
{
    kept_files files;
    pool strings = {0};
    path_list left = {NULL, 0, 0};
    path_list others = {NULL, 0, 0};
    text folder = {0};
    kept_find_files(dir, uuid, &files, &left);
    layout_path(&folder, dir, uuid, "");
    folder.len = file_folder_len(folder.v) - 1;
    kept_read_files(text_z(&folder), &strings, &others, &left);
    kept_remove_left(&left);
    path_list_free(&left);
    path_list_free(&others);
    text_free(&folder);
    pool_free(&strings);
    kept_files_free(&files);
}

/* ---- Listing ---- */

/* A UUID that a folder of the store has something of. */
typedef struct kept_place {
    machsym_uuid uuid;
    const char *path;
    bool is_map;
} kept_place;

typedef struct kept_places {
    kept_place *v;
    size_t count;
    size_t cap;
} kept_places;

/* Whether a file lies where the layout has it: only there it is found by its UUID, and removed. */
static bool kept_is_in_place(const char *dir, const machsym_uuid *uuid, const char *ending, const char *path)
{
    text place = {0};
    layout_path(&place, dir, uuid, ending);
    bool is = strcmp(place.v, path) == 0;
    text_free(&place);
    return is;
}

static void kept_add_left(kept_list *out, const char *path)
{
    out->left = mem_room(out->left, out->left_count, &out->left_cap, sizeof *out->left);
    out->left[out->left_count++] = path;
}

static void kept_take_entry(const char *store, const char *folder, const char *name, kept_list *out,
                            kept_places *places)
{
    static const char *const endings[] = {LAYOUT_MAP, LAYOUT_DSYM, LAYOUT_BINARY};
    machsym_uuid uuid;
    if (strlen(name) < UUID_LENGTH || !parse_uuid_str(str_make(name, UUID_LENGTH), &uuid))
        return;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (strcmp(name + UUID_LENGTH, endings[i]) != 0)
            continue;
        places->v = mem_room(places->v, places->count, &places->cap, sizeof *places->v);
        const char *path = kept_join(&out->strings, folder, name);
        places->v[places->count] = (kept_place){uuid, path, i == 0};
        places->count += kept_is_in_place(store, &uuid, endings[i], path);
    }
}

static void kept_read_folder(const char *store, const char *folder, kept_list *out, kept_places *places)
{
    path_list names = {NULL, 0, 0};
    if (!kept_read_names(folder, &names))
        out->has_failed = true;
    for (size_t i = 0; i < names.count; i++) {
        const char *path = kept_join(&out->strings, folder, names.v[i]);
        if (outfile_is_temporary(names.v[i]) && posix_is_abandoned(path))
            kept_add_left(out, path);
        kept_take_entry(store, folder, names.v[i], out, places);
    }
    path_list_free(&names);
}

static int kept_by_uuid(const void *a, const void *b)
{
    const kept_place *x = a;
    const kept_place *y = b;
    int order = memcmp(&x->uuid, &y->uuid, sizeof x->uuid);
    return order != 0 ? order : strcmp(x->path, y->path);
}

static uint64_t kept_size_of(const char *path, kept_image *image)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        image->has_failed |= errno != ENOENT && !kept_say_unread(path);
        return 0;
    }
    image->date = (int64_t)st.st_mtime > image->date ? (int64_t)st.st_mtime : image->date;
    return (uint64_t)st.st_size;
}

/* Notes that a file does not open because the system failed: what it holds is not known. */
static void kept_note_fault(const char *path, const machsym_error *err, kept_image *image)
{
    if (err->code != MACHSYM_ERR_MEMORY && (err->code != MACHSYM_ERR_IO || err->os_errno == 0))
        return;
    say_error(path, err);
    image->has_failed = true;
}

static void kept_take_map(const char *path, pool *strings, kept_image *image)
{
    machsym_map_desc desc = {.path = path, .flags = MACHSYM_MAP_UNCHECKED};
    machsym_map_info info;
    machsym_map *map;
    machsym_error err;
    image->map = path;
    image->map_size = kept_size_of(path, image);
    if (machsym_map_open(&desc, &map, &err) != MACHSYM_OK) {
        kept_note_fault(path, &err, image);
        return;
    }
    machsym_map_get_info(map, &info);
    image->arch = info.arch;
    image->name = pool_copy_z(strings, info.name.ptr, info.name.len);
    machsym_map_close(map);
}

/* A Mach-O file of a UUID. Returns where it stays. */
static const char *kept_take_macho(const text *path, uint64_t *size, pool *strings, kept_image *image)
{
    machsym_open_desc desc;
    machsym_slice slice;
    machsym_error err;
    if (path->len == 0)
        return NULL;
    const char *kept = pool_copy_z(strings, path->v, path->len - 1);
    machsym_str name = str_base_name(str_c(kept));
    *size = kept_size_of(kept, image);
    image->name = pool_copy_z(strings, name.ptr, name.len);
    memset(&desc, 0, sizeof desc);
    desc.path = kept;
    if (machsym_list_slices(&desc, &slice, 1, &err) == 1)
        image->arch = slice.arch;
    else
        kept_note_fault(kept, &err, image);
    return kept;
}

/* The name is that of the dSYM, if there is one. */
static void kept_take_machos(const char *dir, kept_list *out, kept_image *image)
{
    kept_files files;
    path_list left = {NULL, 0, 0};
    image->has_failed |= !kept_find_files(dir, &image->uuid, &files, &left);
    image->binary = kept_take_macho(&files.binary, &image->binary_size, &out->strings, image);
    image->dsym = kept_take_macho(&files.dsym, &image->dsym_size, &out->strings, image);
    if (files.other.len > 0)
        image->other = pool_copy_z(&out->strings, files.other.v, files.other.len - 1);
    for (size_t i = 0; i < left.count; i++)
        kept_add_left(out, pool_copy_z(&out->strings, left.v[i], strlen(left.v[i])));
    path_list_free(&left);
    kept_files_free(&files);
}

static void kept_take_version(const char *dir, pool *strings, kept_image *image)
{
    struct stat st;
    text path = {0};
    text plist = {0};
    text version = {0};
    text build = {0};
    machsym_error err;
    layout_path(&path, dir, &image->uuid, LAYOUT_PLIST);
    bool is_there = stat(path.v, &st) == 0 || (errno != ENOENT && errno != ENOTDIR);
    const char *why = is_there ? file_read(&plist, path.v) : NULL;
    if (why != NULL) {
        say_message("%s: %s", path.v, why);
        image->has_failed = true;
    } else if (is_there && kept_version(str_make(plist.v, plist.len), &version, &build, &err)) {
        image->version = pool_copy_z(strings, version.v, version.len);
        image->build = pool_copy_z(strings, build.v, build.len);
    }
    text_free(&path);
    text_free(&plist);
    text_free(&version);
    text_free(&build);
}

static void kept_take_places(const char *dir, const kept_places *places, kept_list *out)
{
    for (size_t i = 0; i < places->count;) {
        kept_image image = {.uuid = places->v[i].uuid, .name = "", .version = "", .build = "", .arch = ""};
        for (; i < places->count && memcmp(&places->v[i].uuid, &image.uuid, sizeof image.uuid) == 0; i++) {
            if (places->v[i].is_map)
                kept_take_map(places->v[i].path, &out->strings, &image);
        }
        kept_take_machos(dir, out, &image);
        if (image.map == NULL && image.dsym == NULL && image.binary == NULL && !image.has_failed) {
            image.incomplete = places->v[i - 1].path;
            kept_size_of(image.incomplete, &image);
        }
        kept_take_version(dir, &out->strings, &image);
        out->has_failed |= image.has_failed;
        out->v = mem_room(out->v, out->count, &out->cap, sizeof *out->v);
        out->v[out->count++] = image;
    }
}

/* Whether a folder may be entered; said once, not of each of the 256 folders in it. */
static bool kept_may_enter(const char *dir)
{
    struct stat st;
    text inside = {0};
    text_c(&inside, dir);
    text_c(&inside, "/.");
    bool ok = stat(text_z(&inside), &st) == 0 || errno != EACCES;
    text_free(&inside);
    return ok || kept_say_unread(dir);
}

bool kept_is_folder(const char *dir)
{
    struct stat st;
    bool is_there = stat(dir, &st) == 0;
    if (is_there && S_ISDIR(st.st_mode) && !inside_is_bundle(dir))
        return kept_may_enter(dir);
    if (is_there && S_ISDIR(st.st_mode)) {
        say_message("%s: a dSYM, not a store; machsym store add DIR %s adds it to one", dir, dir);
        return false;
    }
    say_message("%s: %s", dir, is_there ? "no folder; name the folder of a store" : strerror(errno));
    return false;
}

/* The folder of UUIDs with these first two digits. */
static const char *kept_folder_of(const char *dir, unsigned i, pool *strings)
{
    static const char digits[] = "0123456789ABCDEF";
    const char name[3] = {digits[i >> 4], digits[i & 15], 0};
    return kept_join(strings, dir, name);
}

bool kept_read(const char *dir, kept_list *out)
{
    kept_places places = {NULL, 0, 0};
    memset(out, 0, sizeof *out);
    if (!kept_is_folder(dir))
        return false;
    for (unsigned i = 0; i < 256; i++)
        kept_read_folder(dir, kept_folder_of(dir, i, &out->strings), out, &places);
    if (places.count > 0)
        qsort(places.v, places.count, sizeof *places.v, kept_by_uuid);
    kept_take_places(dir, &places, out);
    free(places.v);
    return true;
}

void kept_free(kept_list *list)
{
    free(list->v);
    free(list->left);
    pool_free(&list->strings);
    memset(list, 0, sizeof *list);
}

/* ---- Removing ---- */

static bool kept_remove_file(const char *path)
{
    if (unlink(path) == 0 || errno == ENOENT)
        return true;
    say_message("%s: %s", path, strerror(errno));
    return false;
}

/* From within. The first is where the files lie. */
static const char *const bundle_folders[] = {"/Contents/Resources/DWARF", "/Contents/Resources", "/Contents",
                                             "", NULL};
static const char *const binary_folders[] = {"", NULL};

/* A link in the place of a bundle or of one of its folders goes: what it leads to is not the store's. */
static bool kept_remove_links(const char *bundle, const char *const *folders)
{
    struct stat st;
    text path = {0};
    size_t count = 0;
    bool ok = true;
    while (folders[count] != NULL)
        count++;
    for (size_t i = count; i-- > 0 && ok;) {
        path.len = 0;
        text_c(&path, bundle);
        text_c(&path, folders[i]);
        if (lstat(text_z(&path), &st) == 0 && !S_ISDIR(st.st_mode))
            ok = kept_remove_file(path.v);
    }
    text_free(&path);
    return ok;
}

/* The files first, then the folders of the bundle from within. Nothing else of it is touched: what else
 * somebody put there keeps its folder. */
static bool kept_remove_bundle(const char *bundle, const char *const *folders)
{
    pool strings = {0};
    path_list files = {NULL, 0, 0};
    path_list left = {NULL, 0, 0};
    text path = {0};
    text_c(&path, bundle);
    text_c(&path, folders[0]);
    bool ok = kept_remove_links(bundle, folders) && kept_read_files(text_z(&path), &strings, &files, &left);
    for (size_t i = 0; i < files.count && ok; i++)
        ok = kept_remove_file(files.v[i]);
    kept_remove_left(&left);
    for (size_t i = 0; folders[i] != NULL && ok; i++) {
        path.len = 0;
        text_c(&path, bundle);
        text_c(&path, folders[i]);
        ok = rmdir(text_z(&path)) == 0 || errno == ENOENT;
        if (!ok)
            say_message("%s: %s", path.v, strerror(errno));
    }
    path_list_free(&files);
    path_list_free(&left);
    text_free(&path);
    pool_free(&strings);
    return ok;
}

/* The symbols go last: what a killed run leaves is still listed, and goes with the next one. */
static bool kept_remove_all(const char *dir, const machsym_uuid *uuid)
{
    static const char *const endings[] = {LAYOUT_PLIST, LAYOUT_NAMES, LAYOUT_MAP};
    text path = {0};
    bool ok = true;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0] && ok; i++) {
        path.len = 0;
        layout_path(&path, dir, uuid, endings[i]);
        ok = kept_remove_file(path.v);
    }
    path.len = 0;
    layout_path(&path, dir, uuid, LAYOUT_BINARY);
    ok = ok && kept_remove_bundle(path.v, binary_folders);
    path.len = 0;
    layout_path(&path, dir, uuid, LAYOUT_DSYM);
    ok = ok && kept_remove_bundle(path.v, bundle_folders);
    text_free(&path);
    return ok;
}

bool kept_remove(const char *dir, const kept_image *image)
{
    int held = kept_hold(dir, &image->uuid);
    bool ok = held >= 0 && kept_remove_all(dir, &image->uuid);
    if (held >= 0)
        posix_let_go(held);
    return ok;
}

bool kept_remove_empty(const char *dir)
{
    bool ok = true;
    for (unsigned i = 0; i < 256; i++) {
        pool strings = {0};
        const char *folder = kept_folder_of(dir, i, &strings);
        path_list names = {NULL, 0, 0};
        bool is_read = kept_read_names(folder, &names);
        bool is_empty = is_read && names.count == 2; /* "." and ".." */
        if (is_empty && rmdir(folder) != 0 && errno != ENOENT && errno != ENOTEMPTY && errno != EEXIST) {
            say_message("%s: %s", folder, strerror(errno));
            ok = false;
        }
        path_list_free(&names);
        pool_free(&strings);
    }
    return ok;
}
