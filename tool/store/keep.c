/* See keep.h. */
#include "keep.h"

#include "../inside.h"
#include "../plist.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

enum {
    UUID_LENGTH = 36,
    MAX_PLIST = 1 << 20 /* bytes: those of large apps have 20,000 */
};

static const char dwarf_folder[] = "/Contents/Resources/DWARF";

/* ---- Versions ---- */

/* A key of the root's dictionary, or of the one in which archives tell of their app. */
static bool read_key(machsym_str plist, const char *key, text *out, machsym_error *err)
{
    plist_found found = plist_text(plist, NULL, key, out, err);
    if (found == PLIST_NONE)
        found = plist_text(plist, "ApplicationProperties", key, out, err);
    return found != PLIST_BAD;
}

bool kept_version(machsym_str plist, text *version, text *build, machsym_error *err)
{
    return read_key(plist, "CFBundleShortVersionString", version, err) &&
           read_key(plist, "CFBundleVersion", build, err);
}

/* Adds the folder so many levels above a path, with a name in it. */
static bool beside(text *t, const char *path, unsigned up, const char *name)
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

bool kept_find_plist(const char *image_path, text *out, text *path, machsym_error *err)
{
    /* X.dSYM/Contents/Resources/DWARF/X, in an archive's dSYMs; X.app/X, X.framework/X; X.app/Contents/MacOS/X;
     * X.framework/Versions/A/X */
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
        if (places[i].of_dsym != is_dsym || !beside(path, image_path, places[i].up, places[i].name) ||
            inside_read(path->v, out) != NULL || out->len > MAX_PLIST)
            continue;
        ok = kept_version(str_make(out->v, out->len), &version, &build, err);
        found = ok && version.len + build.len > 0;
    }
    if (!found)
        out->len = 0;
    text_free(&version);
    text_free(&build);
    return ok;
}

/* ---- Listing ---- */

/* A file or bundle of a store's folder. */
typedef struct kept_file {
    machsym_uuid uuid;
    const char *path;
    bool is_map;
} kept_file;

typedef struct kept_files {
    kept_file *v;
    size_t count;
    size_t cap;
} kept_files;

static const char *join(pool *strings, const char *folder, const char *name)
{
    text t = {0};
    text_c(&t, folder);
    text_char(&t, '/');
    text_c(&t, name);
    const char *path = pool_copy_z(strings, t.v, t.len);
    text_free(&t);
    return path;
}

/* Whether a file lies where the layout has it: only there it is found by its UUID, and removed. */
static bool is_in_place(const char *dir, const kept_file *file)
{
    text place = {0};
    layout_path(&place, dir, &file->uuid, file->is_map ? LAYOUT_MAP : LAYOUT_DSYM);
    bool is = strcmp(place.v, file->path) == 0;
    text_free(&place);
    return is;
}

static void read_folder(const char *store, const char *folder, pool *strings, kept_files *files)
{
    DIR *dir = opendir(folder);
    for (struct dirent *entry = dir != NULL ? readdir(dir) : NULL; entry != NULL; entry = readdir(dir)) {
        machsym_uuid uuid;
        const char *name = entry->d_name;
        if (strlen(name) < UUID_LENGTH || !parse_uuid_str(str_make(name, UUID_LENGTH), &uuid))
            continue;
        bool is_map = strcmp(name + UUID_LENGTH, LAYOUT_MAP) == 0;
        if (!is_map && strcmp(name + UUID_LENGTH, LAYOUT_DSYM) != 0)
            continue;
        files->v = tool_room(files->v, files->count, &files->cap, sizeof *files->v);
        files->v[files->count] = (kept_file){uuid, join(strings, folder, name), is_map};
        files->count += is_in_place(store, &files->v[files->count]);
    }
    if (dir != NULL)
        closedir(dir);
}

static int by_uuid(const void *a, const void *b)
{
    const kept_file *x = a;
    const kept_file *y = b;
    int order = memcmp(&x->uuid, &y->uuid, sizeof x->uuid);
    return order != 0 ? order : strcmp(x->path, y->path);
}

static uint64_t size_of(const char *path, int64_t *date)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return 0;
    *date = (int64_t)st.st_mtime > *date ? (int64_t)st.st_mtime : *date;
    return (uint64_t)st.st_size;
}

static void take_map(const char *path, pool *strings, kept_image *image)
{
    machsym_map_desc desc = {.path = path, .flags = MACHSYM_MAP_UNCHECKED};
    machsym_map_info info;
    machsym_map *map;
    image->map = path;
    image->map_size = size_of(path, &image->date);
    if (machsym_map_open(&desc, &map, NULL) != MACHSYM_OK)
        return;
    machsym_map_get_info(map, &info);
    image->arch = info.arch;
    image->name = pool_copy_z(strings, info.name.ptr, info.name.len);
    machsym_map_close(map);
}

/* The file of a bundle's DWARF folder, of several the first by name; NULL when there is none. */
static const char *find_dwarf(const char *bundle, pool *strings)
{
    const char *folder = join(strings, bundle, dwarf_folder + 1);
    const char *found = NULL;
    DIR *dir = opendir(folder);
    for (struct dirent *entry = dir != NULL ? readdir(dir) : NULL; entry != NULL; entry = readdir(dir)) {
        if (entry->d_name[0] != '.' && (found == NULL || strcmp(entry->d_name, found) < 0))
            found = pool_copy_z(strings, entry->d_name, strlen(entry->d_name));
    }
    if (dir != NULL)
        closedir(dir);
    return found != NULL ? join(strings, folder, found) : NULL;
}

/* A bundle without its file is what a killed run left. */
static void take_dsym(const char *bundle, pool *strings, kept_image *image)
{
    machsym_open_desc desc;
    machsym_slice slice;
    image->dsym = find_dwarf(bundle, strings);
    if (image->dsym == NULL)
        return;
    image->dsym_size = size_of(image->dsym, &image->date);
    machsym_str name = str_base_name(str_c(image->dsym));
    image->name = pool_copy_z(strings, name.ptr, name.len);
    memset(&desc, 0, sizeof desc);
    desc.path = image->dsym;
    if (machsym_list_slices(&desc, &slice, 1, NULL) == 1)
        image->arch = slice.arch;
}

static void take_version(const char *dir, pool *strings, kept_image *image)
{
    text path = {0};
    text plist = {0};
    text version = {0};
    text build = {0};
    machsym_error err;
    layout_path(&path, dir, &image->uuid, LAYOUT_PLIST);
    if (text_read_file(&plist, path.v) == NULL &&
        kept_version(str_make(plist.v, plist.len), &version, &build, &err)) {
        image->version = pool_copy_z(strings, version.v, version.len);
        image->build = pool_copy_z(strings, build.v, build.len);
    }
    text_free(&path);
    text_free(&plist);
    text_free(&version);
    text_free(&build);
}

static void take_files(const char *dir, const kept_files *files, kept_list *out)
{
    for (size_t i = 0; i < files->count;) {
        kept_image image = {files->v[i].uuid, "", "", "", "", NULL, NULL, NULL, 0, 0, 0};
        for (; i < files->count && memcmp(&files->v[i].uuid, &image.uuid, sizeof image.uuid) == 0; i++)
            (files->v[i].is_map ? take_map : take_dsym)(files->v[i].path, &out->strings, &image);
        if (image.map == NULL && image.dsym == NULL) {
            image.incomplete = files->v[i - 1].path;
            size_of(image.incomplete, &image.date);
        }
        take_version(dir, &out->strings, &image);
        out->v = tool_room(out->v, out->count, &out->cap, sizeof *out->v);
        out->v[out->count++] = image;
    }
}

bool kept_is_folder(const char *dir)
{
    struct stat st;
    bool is_there = stat(dir, &st) == 0;
    if (is_there && S_ISDIR(st.st_mode))
        return true;
    tool_say("%s: %s", dir, is_there ? "no folder" : strerror(errno));
    return false;
}

bool kept_read(const char *dir, kept_list *out)
{
    static const char digits[] = "0123456789ABCDEF";
    kept_files files = {NULL, 0, 0};
    memset(out, 0, sizeof *out);
    if (!kept_is_folder(dir))
        return false;
    for (unsigned i = 0; i < 256; i++) {
        char name[3] = {digits[i >> 4], digits[i & 15], 0};
        read_folder(dir, join(&out->strings, dir, name), &out->strings, &files);
    }
    if (files.count > 0)
        qsort(files.v, files.count, sizeof *files.v, by_uuid);
    take_files(dir, &files, out);
    free(files.v);
    return true;
}

void kept_free(kept_list *list)
{
    free(list->v);
    pool_free(&list->strings);
    memset(list, 0, sizeof *list);
}

bool kept_dsym(const char *dir, const machsym_uuid *uuid, text *out)
{
    pool strings = {NULL};
    text bundle = {0};
    layout_path(&bundle, dir, uuid, LAYOUT_DSYM);
    const char *found = find_dwarf(bundle.v, &strings);
    if (found != NULL)
        text_add(out, found, strlen(found) + 1);
    text_free(&bundle);
    pool_free(&strings);
    return found != NULL;
}

/* ---- Removing ---- */

static bool remove_file(const char *path)
{
    if (unlink(path) == 0 || errno == ENOENT)
        return true;
    tool_say("%s: %s", path, strerror(errno));
    return false;
}

static const char *const bundle_folders[] = {"/Contents/Resources/DWARF", "/Contents/Resources", "/Contents",
                                             ""};
enum { BUNDLE_FOLDERS = sizeof bundle_folders / sizeof bundle_folders[0] };

/* A link in the place of a bundle or of one of its folders goes: what it leads to is not the store's. */
static bool remove_links(const char *bundle)
{
    struct stat st;
    text path = {0};
    bool ok = true;
    for (size_t i = BUNDLE_FOLDERS; i-- > 0 && ok;) {
        path.len = 0;
        text_c(&path, bundle);
        text_c(&path, bundle_folders[i]);
        if (lstat(text_z(&path), &st) == 0 && !S_ISDIR(st.st_mode))
            ok = remove_file(path.v);
    }
    text_free(&path);
    return ok;
}

/* The files first, then the folders of the bundle from within. Nothing else of it is touched: what else
 * somebody put there keeps its folder. */
static bool remove_bundle(const char *bundle)
{
    pool strings = {NULL};
    text path = {0};
    bool ok = remove_links(bundle);
    for (const char *file = find_dwarf(bundle, &strings); file != NULL && ok;
         file = find_dwarf(bundle, &strings))
        ok = remove_file(file);
    for (size_t i = 0; i < BUNDLE_FOLDERS && ok; i++) {
        path.len = 0;
        text_c(&path, bundle);
        text_c(&path, bundle_folders[i]);
        ok = rmdir(text_z(&path)) == 0 || errno == ENOENT;
        if (!ok)
            tool_say("%s: %s", path.v, strerror(errno));
    }
    text_free(&path);
    pool_free(&strings);
    return ok;
}

/* The symbols go last: what a killed run leaves is still listed, and goes with the next one. */
bool kept_remove(const char *dir, const kept_image *image)
{
    static const char *const endings[] = {LAYOUT_PLIST, LAYOUT_NAMES, LAYOUT_MAP};
    text path = {0};
    bool ok = true;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0] && ok; i++) {
        path.len = 0;
        layout_path(&path, dir, &image->uuid, endings[i]);
        ok = remove_file(path.v);
    }
    path.len = 0;
    layout_path(&path, dir, &image->uuid, LAYOUT_DSYM);
    ok = ok && remove_bundle(path.v);
    text_free(&path);
    return ok;
}
