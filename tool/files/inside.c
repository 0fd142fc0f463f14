/* See inside.h. */
#include "inside.h"
#include "../../report/base/memory.h"
#include "../base/posix.h"
#include "../base/readfile.h"
#include "../base/say.h"
#include "archive.h"
#include "caches.h"
#include "members.h"
#include "zstd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FOLDER_MAX_DEPTH = 32,      /* of folders in folders: real bundles have ten */
    FOLDER_MAX_FILES = 1 << 18, /* that are looked at: an archive of a large program has 20,000 */
    PROBE_BYTES = 1 << 16,      /* of a member: its load commands */
    CACHE_HEAD = 0x1c8,         /* of a shared cache: up to the number of its images */
    COPY_STEP = 1 << 20,
    MAX_SHOWN = 64 /* files that are listed for a choice */
};

static const char dwarf_folder[] = ".dSYM/Contents/Resources/DWARF/";

static bool inside_fail(machsym_error *err, machsym_result code, const char *what)
{
    *err = (machsym_error){code, 0, what, "", 0};
    return false;
}

static char *inside_copy_z(const char *ptr, size_t len)
{
    char *copy = mem_alloc(len + 1);
    if (len != 0)
        memcpy(copy, ptr, len);
    copy[len] = 0;
    return copy;
}

void path_list_free(path_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->v[i]);
    free(list->v);
    memset(list, 0, sizeof *list);
}

static void inside_add_path(path_list *list, char *path)
{
    list->v = mem_room(list->v, list->count, &list->cap, sizeof *list->v);
    list->v[list->count++] = path;
}

void path_list_add(path_list *list, const char *path)
{
    inside_add_path(list, inside_copy_z(path, strlen(path)));
}

static int inside_by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* ---- What is looked for ---- */

static bool inside_has_suffix(machsym_str name, const char *suffix)
{
    size_t len = strlen(suffix);
    return name.len >= len && memcmp(name.ptr + name.len - len, suffix, len) == 0;
}

static bool inside_is_in_dsym(machsym_str name)
{
    return str_find(name, dwarf_folder) < name.len;
}

/* Mach-O's magics in both byte orders, and the two of fat files: loader.h, fat.h. */
static bool inside_is_macho(const char *ptr, size_t len)
{
    const uint8_t *p = (const uint8_t *)ptr;
    if (len < 28)
        return false;
    uint32_t magic = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    return magic == 0xfeedface || magic == 0xfeedfacf || magic == 0xcefaedfe || magic == 0xcffaedfe ||
           magic == 0xcafebabf || (magic == 0xcafebabe && p[7] < 40); /* else a Java class */
}

static bool inside_begins_as_map(const char *ptr, size_t len)
{
    return len >= 8 && memcmp(ptr, "MACHSYM\n", 8) == 0;
}

static uint32_t inside_get_le32(const char *p)
{
    const uint8_t *v = (const uint8_t *)p;
    return (uint32_t)v[0] | (uint32_t)v[1] << 8 | (uint32_t)v[2] << 16 | (uint32_t)v[3] << 24;
}

/* Whether a file is the main one of a shared cache: its header counts images, in one of two fields
 * (dyld_cache_format.h). The second is there when the header, which ends where its mappings begin, is long
 * enough. */
static bool inside_is_cache(const char *ptr, size_t len)
{
    if (len < 0x20 || memcmp(ptr, "dyld_v1", 7) != 0)
        return false;
    return inside_get_le32(ptr + 0x1c) != 0 ||
           (len >= CACHE_HEAD && inside_get_le32(ptr + 0x10) >= CACHE_HEAD &&
            inside_get_le32(ptr + 0x1c4) != 0);
}

/* What is looked for in an archive or folder. */
typedef enum wanted { WANT_SYMBOLS /* Mach-O files and maps */, WANT_MAPS, WANT_REPORTS } wanted;

/* Whether a name is that of a report. In Xcode's .xccrashpoint bundles the reports lie in folders Logs;
 * with what else is there, and the copies that Xcode symbolicated, they would count twice. */
static bool inside_is_report_name(machsym_str path)
{
    static const char *const ends[] = {".crash",  ".ips",  ".txt",  ".json", ".log",    ".spindump",
                                       ".hang",   ".diag", ".spin", ".beta", ".panic",  ".synced",
                                       ".ndjson", ".eml",  ".dmp",  ".core", ".plcrash"};
    size_t bundle = str_find(path, ".xccrashpoint/");
    machsym_str inner = str_make(path.ptr + bundle, path.len - bundle);
    if (str_starts(str_base_name(path), ".")) /* "._NAME" has what only Apple's file systems keep of NAME */
        return false;
    if (inner.len > 0 &&
        (str_find(inner, "/Logs/") == inner.len || str_find(inner, "/LocallySymbolicated/") < inner.len))
        return false;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        if (inside_has_suffix(path, ends[i]))
            return true;
    }
    return false;
}

/* Whether a member is wanted. Files in dSYMs are, so that reading one says what is wrong with it. *err
 * becomes why another one could not be read. */
static bool inside_is_wanted_member(wanted what, const member_found *found, machsym_error *err)
{
    text head = {0};
    const archive_member *member = found->member;
    if (what == WANT_REPORTS)
        return inside_is_report_name(str_c(found->path));
    if (str_starts(str_base_name(member->name), "._") || member->size < 28)
        return false; /* "._NAME" has what only Apple's file systems keep of NAME */
    if (what == WANT_SYMBOLS && inside_is_in_dsym(str_c(found->path)) &&
        !members_is_archive_name(member->name))
        return true;
    bool is = archive_read(found->archive, member, CACHE_HEAD, &head, err);
    if (is && what == WANT_MAPS)
        is = inside_begins_as_map(head.v, head.len);
    else if (is)
        is = inside_is_macho(head.v, head.len) || inside_begins_as_map(head.v, head.len) ||
             inside_is_cache(head.v, head.len);
    text_free(&head);
    return is;
}

/* ---- Folders and archives as lists ---- */

static void inside_join(text *t, const char *folder, const char *name)
{
    t->len = 0;
    text_c(t, folder);
    if (t->len == 0 || !posix_is_slash(t->v[t->len - 1]))
        text_char(t, '/');
    text_c(t, name);
}

/* Says why a part of a folder or archive that was named is left out. The exit status is 1 from then on. */
static void inside_say_left_out(const char *path, machsym_result code, const char *what)
{
    machsym_error err = {code, code == MACHSYM_ERR_IO ? errno : 0, what, "", 0};
    say_fault(path, &err);
}

/* Whether a file that begins so is wanted: of shared caches the main one. */
static bool inside_is_wanted_file(wanted what, const char *path, machsym_bytes head)
{
    if (head.len == 0)
        return false;
    if (what == WANT_MAPS)
        return inside_begins_as_map(head.ptr, head.len);
    return inside_is_macho(head.ptr, head.len) || inside_begins_as_map(head.ptr, head.len) ||
           (memcmp(head.ptr, "dyld", 4) == 0 && cache_is_at(path) && cache_has_images(path));
}

/* A list that is being made. */
typedef struct listing {
    wanted what;
    path_list *out;
    unsigned left;    /* files that may still be looked at */
    const char *root; /* what was named */
    const char
        *gz; /* the file, if gzip compressed it: what is alone in it is a report, whatever it is called */
} listing;

static void inside_list_member(void *user, const member_found *found, machsym_error *err)
{
    listing *to = user;
    bool is_alone = to->gz != NULL && archive_count(found->archive) == 1;
    if (inside_is_wanted_member(to->what, found, err) || (to->what == WANT_REPORTS && is_alone))
        path_list_add(to->out, found->path);
}

/* Lists an archive. Returns false with *err when it is no archive (MACHSYM_OK) or damaged. Free the walk. */
static bool inside_list_archive(const char *path, listing *to, member_walk *walk, machsym_error *err)
{
    to->gz = to->what == WANT_REPORTS &&
                     (inside_has_suffix(str_c(path), ".gz") || inside_has_suffix(str_c(path), ".zst"))
                 ? path
                 : NULL;
    return members_walk(path, inside_list_member, to, walk, err);
}

/* Lists an archive that lies in a folder: says what is damaged in it. Returns whether the file is an
 * archive. */
static bool inside_list_beside(const char *path, listing *to)
{
    member_walk walk;
    machsym_error err;
    bool ok = inside_list_archive(path, to, &walk, &err);
    if (!ok && err.code != MACHSYM_OK)
        say_fault(path, &err);
    else if (ok && walk.fault.code != MACHSYM_OK && walk.fault.code != MACHSYM_ERR_UNSUPPORTED)
        say_fault(walk.fault_path.v, &walk.fault);
    text_free(&walk.fault_path);
    return ok || err.code != MACHSYM_OK;
}

/* Lists a mail: what its parts hold, or the mail itself when nothing in it is encoded. */
static void inside_list_mail(const char *path, listing *to)
{
    if (!inside_list_beside(path, to))
        path_list_add(to->out, path);
}

/* Lists a file of a folder whose name is not that of an archive. Stores of symsorter have files that zstd
 * compressed without a new name. */
static void inside_list_file(const char *path, listing *to)
{
    char head[32];
    if (to->what == WANT_REPORTS) {
        if (inside_is_report_name(str_c(path)))
            path_list_add(to->out, path);
        return;
    }
    int fd = posix_open_to_read(path);
    long got = fd >= 0 ? posix_read(fd, head, sizeof head) : -1;
    if (got < 0)
        inside_say_left_out(path, MACHSYM_ERR_IO, "cannot be read");
    if (fd >= 0)
        close(fd);
    machsym_bytes begin = {head, got > 0 ? (size_t)got : 0};
    if (zstd_is(begin))
        inside_list_beside(path, to);
    else if (inside_is_wanted_file(to->what, path, begin))
        path_list_add(to->out, path);
}

/* Lists the files below a folder. Links are not followed: they may lead outside, or in circles. */
static void inside_list_folder(const char *path, unsigned depth, listing *to)
{
    DIR *dir = opendir(path);
    text full = {0};
    if (dir == NULL) {
        inside_say_left_out(path, MACHSYM_ERR_IO, "the folder cannot be read");
        return;
    }
    struct dirent *entry;
    bool is_full = false;
    while (!is_full && (entry = posix_next_entry(dir)) != NULL) {
        struct stat st;
        if (entry->d_name[0] == '.')
            continue;
        inside_join(&full, path, entry->d_name);
        if (lstat(text_z(&full), &st) != 0) {
            if (errno != ENOENT) /* else it was removed meanwhile */
                inside_say_left_out(full.v, MACHSYM_ERR_IO, "cannot be read");
            continue;
        }
        if (to->left == 0) {
            inside_say_left_out(to->root, MACHSYM_ERR_LIMIT,
                                "the folder has more than 262144 files; name the folders in it");
            is_full = true;
            continue;
        }
        to->left--;
        if (S_ISDIR(st.st_mode) && depth == FOLDER_MAX_DEPTH) {
            inside_say_left_out(full.v, MACHSYM_ERR_LIMIT,
                                "the folder lies 32 folders deep; name it to have what is in it");
        } else if (S_ISDIR(st.st_mode)) {
            inside_list_folder(full.v, depth + 1, to);
        } else if (S_ISREG(st.st_mode) && members_is_archive_name(str_c(entry->d_name))) {
            inside_list_beside(full.v, to);
        } else if (S_ISREG(st.st_mode) && to->what == WANT_REPORTS &&
                   inside_has_suffix(str_c(full.v), ".eml")) {
            inside_list_mail(full.v, to);
        } else if (S_ISREG(st.st_mode)) {
            inside_list_file(full.v, to);
        }
    }
    if (!is_full && errno != 0)
        inside_say_left_out(path, MACHSYM_ERR_IO, "the folder cannot be read");
    closedir(dir);
    text_free(&full);
}

/* Lists an archive that was named. Returns false with *err when it is damaged, or holds nothing that is
 * wanted. */
static bool inside_list_named(const char *path, listing *to, machsym_error *err)
{
    member_walk walk;
    bool is_archive = inside_list_archive(path, to, &walk, err);
    bool is_none = !is_archive && err->code == MACHSYM_OK;
    if (is_archive && walk.fault.code != MACHSYM_OK)
        say_fault(walk.fault_path.v, &walk.fault);
    if (is_archive && walk.is_deep && to->out->count > 0)
        inside_say_left_out(
            path, MACHSYM_ERR_LIMIT,
            "archives in archives in archives are left out: unpack those to have what is in them");
    text_free(&walk.fault_path);
    if (is_none || (is_archive && to->out->count > 0))
        return true;
    if (inside_has_suffix(str_c(path), ".ipsw"))
        return inside_fail(
            err, MACHSYM_ERR_UNSUPPORTED,
            "firmware: its programs lie in a disk image inside. Mount that on a Mac, or take the "
            "shared cache out with `ipsw extract --dyld`");
    if (!is_archive)
        return false;
    return inside_fail(err, MACHSYM_ERR_FORMAT,
                       walk.is_deep ? "the archive holds archives in archives in archives: unpack those"
                       : to->what == WANT_REPORTS ? "the archive holds no report"
                       : to->what == WANT_MAPS    ? "the archive holds no symbol map"
                                                  : "the archive holds no Mach-O file");
}

bool inside_is_bundle(const char *path)
{
    struct stat st;
    text inner = {0};
    inside_join(&inner, path, "Contents/Resources/DWARF");
    bool is = file_stat(text_z(&inner), &st) && S_ISDIR(st.st_mode);
    text_free(&inner);
    return is;
}

static bool inside_is_folder(const char *path)
{
    struct stat st;
    return file_stat(path, &st) && S_ISDIR(st.st_mode) && !inside_is_bundle(path);
}

bool inside_is_map(const char *path)
{
    machsym_error err;
    text head = {0};
    bool is = false;
    if (path != NULL && members_end(path) != 0) {
        is = members_read(path, 8, &head, &err) && inside_begins_as_map(head.v, head.len);
    } else if (path != NULL) {
        char magic[8];
        is = file_read_begin(path, magic, sizeof magic) == sizeof magic &&
             inside_begins_as_map(magic, sizeof magic);
    }
    text_free(&head);
    return is;
}

/* How much a file says: a binary less than its dSYM. */
static unsigned inside_rank_of(const char *path)
{
    return inside_is_in_dsym(str_c(path)) ? 2 : inside_is_map(path) ? 0 : 1;
}

static void inside_keep_best(path_list *list)
{
    unsigned best = 0;
    size_t count = 0;
    for (size_t i = 0; i < list->count && best < 2; i++)
        best = inside_rank_of(list->v[i]) > best ? inside_rank_of(list->v[i]) : best;
    for (size_t i = 0; i < list->count; i++) {
        if (inside_rank_of(list->v[i]) == best)
            list->v[count++] = list->v[i];
        else
            free(list->v[i]);
    }
    list->count = count;
}

/* ---- What is worth keeping ---- */

/* The UUIDs of dSYMs. */
typedef struct inside_uuids {
    machsym_uuid *v;
    size_t count;
    size_t cap;
} inside_uuids;

static int inside_by_uuid(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(machsym_uuid));
}

static void inside_add_uuids(const char *path, inside_uuids *to)
{
    machsym_slice slices[MACHSYM_MAX_SLICES];
    machsym_error err;
    size_t count = inside_probe(path, slices, MACHSYM_MAX_SLICES, &err);
    for (size_t i = 0; i < count && i < MACHSYM_MAX_SLICES; i++) {
        to->v = mem_room(to->v, to->count, &to->cap, sizeof *to->v);
        to->v[to->count++] = slices[i].uuid;
    }
}

/* Whether a program or library has a slice without a dSYM. */
static bool inside_lacks_dsym(const char *path, const inside_uuids *dsyms)
{
    enum { EXECUTE = 2, DYLIB = 6, BUNDLE = 8, KEXT = 11 }; /* mach-o/loader.h */
    machsym_slice slices[MACHSYM_MAX_SLICES];
    machsym_error err;
    size_t count = inside_probe(path, slices, MACHSYM_MAX_SLICES, &err);
    for (size_t i = 0; i < count && i < MACHSYM_MAX_SLICES; i++) {
        uint32_t type = slices[i].filetype;
        bool is_image = type == EXECUTE || type == DYLIB || type == BUNDLE || type == KEXT;
        if (is_image && slices[i].has_uuid &&
            bsearch(&slices[i].uuid, dsyms->v, dsyms->count, sizeof *dsyms->v, inside_by_uuid) == NULL)
            return true;
    }
    return false;
}

/* Leaves out what says no more than a dSYM beside it; of files without any all are worth keeping. */
static void inside_keep_worthy(path_list *list)
{
    inside_uuids dsyms = {NULL, 0, 0};
    size_t count = 0;
    bool has_dsyms = false;
    for (size_t i = 0; i < list->count; i++) {
        if (inside_rank_of(list->v[i]) < 2)
            continue;
        has_dsyms = true;
        inside_add_uuids(list->v[i], &dsyms);
    }
    if (dsyms.count > 1)
        qsort(dsyms.v, dsyms.count, sizeof *dsyms.v, inside_by_uuid);
    for (size_t i = 0; i < list->count; i++) {
        if (!has_dsyms || inside_rank_of(list->v[i]) != 1 ||
            (dsyms.count > 0 && inside_lacks_dsym(list->v[i], &dsyms)))
            list->v[count++] = list->v[i];
        else
            free(list->v[i]);
    }
    list->count = count;
    free(dsyms.v);
}

/* What a path holds; nothing, with OK, when it is a file of its own. */
static bool inside_list_inside(const char *path, inside_kind kind, path_list *out, machsym_error *err)
{
    listing to = {kind == INSIDE_MAPS ? WANT_MAPS : WANT_SYMBOLS, out, FOLDER_MAX_FILES, path, NULL};
    bool ok = true;
    inside_fail(err, MACHSYM_OK, "no error");
    memset(out, 0, sizeof *out);
    if (inside_is_folder(path))
        inside_list_folder(path, 0, &to); /* of an empty one machsym.h says what it lacks */
    else
        ok = inside_list_named(path, &to, err);
    if (kind == INSIDE_BEST)
        inside_keep_best(out);
    else if (kind == INSIDE_KEPT)
        inside_keep_worthy(out);
    if (out->count > 1)
        qsort(out->v, out->count, sizeof *out->v, inside_by_text);
    return ok;
}

bool inside_expand(const char *path, inside_kind kind, path_list *out)
{
    machsym_error err;
    if (!inside_list_inside(path, kind, out, &err)) {
        path_list_free(out);
        say_error(path, &err);
        return false;
    }
    if (out->count == 0)
        path_list_add(out, path);
    return true;
}

bool inside_expand_quietly(const char *path, path_list *out, machsym_error *err)
{
    listing to = {WANT_SYMBOLS, out, FOLDER_MAX_FILES, path, NULL};
    member_walk walk;
    memset(out, 0, sizeof *out);
    bool is_archive = inside_list_archive(path, &to, &walk, err);
    bool is_damaged = is_archive ? walk.fault.code != MACHSYM_OK && walk.fault.code != MACHSYM_ERR_UNSUPPORTED
                                 : err->code != MACHSYM_OK;
    if (is_archive && is_damaged)
        *err = walk.fault;
    if (!is_damaged)
        memset(err, 0, sizeof *err);
    text_free(&walk.fault_path);
    return !is_damaged;
}

bool inside_is_container(const char *path)
{
    path_list list;
    machsym_error err;
    bool is = path != NULL && inside_list_inside(path, INSIDE_BEST, &list, &err) && list.count > 1;
    if (path != NULL)
        path_list_free(&list);
    return is;
}

/* ---- Reports ---- */

bool inside_expand_reports(const char *path, path_list *out)
{
    struct stat st;
    path_list found = {NULL, 0, 0};
    listing to = {WANT_REPORTS, &found, FOLDER_MAX_FILES, path, NULL};
    machsym_error err;
    inside_fail(&err, MACHSYM_OK, "no error");
    if (file_stat(path, &st) && S_ISDIR(st.st_mode)) {
        inside_list_folder(path, 0, &to);
        if (found.count == 0)
            inside_fail(
                &err, MACHSYM_ERR_IO,
                inside_is_bundle(path)
                    ? "the folder holds no report: it is a dSYM; name it with -d, and the reports after it"
                    : "the folder holds no report; name a crash report, or a folder or archive of some");
    } else if (strcmp(path, "-") != 0) {
        inside_list_named(path, &to, &err);
    }
    if (found.count > 1)
        qsort(found.v, found.count, sizeof *found.v, inside_by_text);
    if (found.count == 0 && err.code == MACHSYM_OK)
        path_list_add(out, path);
    for (size_t i = 0; i < found.count; i++)
        inside_add_path(out, found.v[i]);
    free(found.v);
    if (err.code != MACHSYM_OK)
        say_error(path, &err);
    return err.code == MACHSYM_OK;
}

static bool inside_take_to_nul(machsym_str *rest, machsym_str *name)
{
    if (rest->len == 0)
        return false;
    const char *end = memchr(rest->ptr, 0, rest->len);
    size_t len = end != NULL ? (size_t)(end - rest->ptr) : rest->len;
    size_t skip = end != NULL ? len + 1 : len;
    *name = str_make(rest->ptr, len);
    *rest = str_make(rest->ptr + skip, rest->len - skip);
    return true;
}

bool inside_read_list(const char *path, path_list *out)
{
    text list = {0};
    machsym_str line;
    const char *why = file_read_words(&list, path);
    machsym_str rest = {list.v, list.len};
    bool has_nul = list.len > 0 && memchr(list.v, 0, list.len) != NULL; /* as find -print0 ends names */
    while (why == NULL && (has_nul ? inside_take_to_nul(&rest, &line) : str_take_line(&rest, &line))) {
        line = has_nul ? line : str_trim(line);
        if (line.len > 0)
            inside_add_path(out, inside_copy_z(line.ptr, line.len));
    }
    if (why != NULL)
        say_message("%s: %s", path, why);
    text_free(&list);
    return why == NULL;
}

const char *inside_read(const char *path, text *out)
{
    machsym_error err;
    if (members_end(path) == 0)
        return file_read(out, path);
    size_t from = out->len;
    if (!members_read(path, (uint64_t)TEXT_FILE_MAX + 1, out, &err))
        return err.what;
    return out->len - from > TEXT_FILE_MAX ? "the member has more than 1 GB" : NULL;
}

bool inside_has(const char *path)
{
    struct stat st;
    return members_end(path) != 0 ? members_has(path) : file_stat(path, &st);
}

/* ---- Choosing ---- */

machsym_result inside_map_open(const machsym_map_desc *desc, machsym_map **out, machsym_error *err)
{
    machsym_map_desc inner = *desc;
    machsym_error own;
    machsym_error *why = err != NULL ? err : &own;
    char *name = NULL;
    *out = NULL;
    if (desc->path != NULL && desc->bytes.ptr == NULL && members_end(desc->path) != 0) {
        if (!members_keep(desc->path, &inner.bytes, &name, why))
            return why->code;
        free(name);
    }
    return machsym_map_open(&inner, out, why);
}

static size_t inside_probe_map(const char *path, machsym_slice *slice, machsym_error *err)
{
    machsym_map_desc desc = {.path = path, .flags = MACHSYM_MAP_UNCHECKED};
    machsym_map_info info;
    machsym_map *map;
    if (inside_map_open(&desc, &map, err) != MACHSYM_OK)
        return 0;
    machsym_map_get_info(map, &info);
    memset(slice, 0, sizeof *slice);
    slice->uuid = info.uuid;
    slice->has_uuid = true;
    slice->cputype = info.cputype;
    slice->cpusubtype = info.cpusubtype;
    slice->arch = machsym_arch_name(info.cputype, info.cpusubtype);
    slice->size = info.size;
    machsym_map_close(map);
    return 1;
}

size_t inside_probe(const char *path, machsym_slice *slices, size_t cap, machsym_error *err)
{
    machsym_open_desc desc;
    text head = {0};
    size_t count = 0;
    memset(&desc, 0, sizeof desc);
    desc.path = path;
    if (inside_is_map(path))
        return cap > 0 ? inside_probe_map(path, slices, err) : 1;
    if (members_end(path) == 0)
        return machsym_list_slices(&desc, slices, cap, err);
    bool ok = members_read(path, PROBE_BYTES, &head, err);
    if (ok && head.len > 0 && (uint8_t)head.v[0] != 0xca) { /* the slices of a fat file lie further on */
        desc.bytes.ptr = head.v;
        desc.bytes.len = head.len;
        count = machsym_list_slices(&desc, slices, cap, err);
    }
    text_free(&head);
    if (count == 1 && slices[0].has_uuid)
        return count;
    return inside_list_slices(&(machsym_open_desc){.path = path}, slices, cap, err);
}

static bool inside_fits(const machsym_slice *slice, const char *arch, const machsym_uuid *uuid)
{
    return (arch == NULL || strcmp(slice->arch, arch) == 0) &&
           (uuid == NULL || (slice->has_uuid && memcmp(&slice->uuid, uuid, sizeof *uuid) == 0));
}

/* Whether an error says that nothing is known of a file: memory ran out, or the system failed to read it. */
static bool inside_is_unknown(const machsym_error *err)
{
    return err->code == MACHSYM_ERR_MEMORY || (err->code == MACHSYM_ERR_IO && posix_is_fault(err->os_errno));
}

/* The one file of an archive or folder that is asked for. *choice: its path, from malloc; NULL when the path
 * is a file of its own. */
static bool inside_choose(const machsym_open_desc *desc, const char *path, char **choice, machsym_error *err)
{
    path_list list;
    machsym_slice slices[MACHSYM_MAX_SLICES];
    machsym_error unknown = {MACHSYM_OK, 0, "no error", "", 0};
    size_t chosen = 0;
    size_t matches = 0;
    *choice = NULL;
    if (!inside_list_inside(path, INSIDE_BEST, &list, err)) {
        path_list_free(&list);
        return false;
    }
    for (size_t i = 0; i < list.count && list.count > 1; i++) {
        machsym_error why = unknown;
        size_t count = inside_probe(list.v[i], slices, MACHSYM_MAX_SLICES, &why);
        bool is_match = false;
        if (inside_is_unknown(&why))
            unknown = why;
        for (size_t j = 0; j < count && j < MACHSYM_MAX_SLICES; j++)
            is_match |= inside_fits(&slices[j], desc->arch, desc->uuid);
        chosen = is_match ? i : chosen;
        matches += is_match;
    }
    bool ok = list.count <= 1 || matches == 1;
    /* one of no known slices may be the one, or fit as well as another */
    if (unknown.code != MACHSYM_OK && (matches == 0 || desc->uuid == NULL)) {
        *err = unknown;
        path_list_free(&list);
        return false;
    }
    if (ok && list.count > 0)
        *choice = inside_copy_z(list.v[chosen], strlen(list.v[chosen]));
    else if (!ok && matches > 1)
        inside_fail(err, MACHSYM_ERR_AMBIGUOUS, "it holds several files; name one of them");
    else if (!ok && desc->uuid != NULL)
        inside_fail(err, MACHSYM_ERR_UUID, "no file in it has this UUID");
    else if (!ok)
        inside_fail(err, MACHSYM_ERR_ARCH, "no file in it has a slice for this architecture");
    path_list_free(&list);
    return ok;
}

bool inside_list(const char *path, text *out)
{
    path_list list;
    machsym_slice slices[MACHSYM_MAX_SLICES];
    machsym_error err;
    bool any = path != NULL && inside_list_inside(path, INSIDE_BEST, &list, &err) && list.count > 0;
    for (size_t i = 0; any && i < list.count && i < MAX_SHOWN; i++) {
        size_t count = inside_probe(list.v[i], slices, MACHSYM_MAX_SLICES, &err);
        for (size_t j = 0; j < count && j < MACHSYM_MAX_SLICES; j++) {
            size_t from = out->len;
            text_c(out, "  ");
            text_c(out, slices[j].arch);
            text_c(out, "  ");
            if (slices[j].has_uuid)
                text_uuid(out, &slices[j].uuid);
            else
                text_c(out, "(no UUID)");
            text_c(out, "  ");
            text_c(out, list.v[i]);
            text_end_line(out, from);
        }
    }
    if (path != NULL)
        path_list_free(&list);
    return any;
}

/* ---- Opening ---- */

/* One half of a description. *name: what the file is called, from malloc, when that is not *path; *bytes:
 * of a member of an archive. */
static bool inside_take_half(const machsym_open_desc *desc, const char *path, machsym_bytes *bytes,
                             char **name, machsym_error *err)
{
    *name = NULL;
    if (path == NULL || bytes->ptr != NULL)
        return true;
    if (!inside_choose(desc, path, name, err))
        return false;
    const char *chosen = *name != NULL ? *name : path;
    char *whole = NULL;
    if (members_end(chosen) == 0)
        return true;
    if (!members_keep(chosen, bytes, &whole, err))
        return false;
    free(*name);
    *name = whole;
    return true;
}

/* A description of files of their own and of bytes, which names what it stands for. */
typedef struct inner_desc {
    machsym_open_desc open;
    char *names[2];
} inner_desc;

static void inside_inner_free(inner_desc *inner)
{
    free(inner->names[0]);
    free(inner->names[1]);
}

static bool inside_inner_make(const machsym_open_desc *desc, inner_desc *inner, machsym_error *err)
{
    machsym_error own;
    machsym_error *why = err != NULL ? err : &own;
    memset(inner, 0, sizeof *inner);
    inner->open = *desc;
    bool ok = inside_take_half(desc, desc->path, &inner->open.bytes, &inner->names[0], why) &&
              inside_take_half(desc, desc->pair_path, &inner->open.pair_bytes, &inner->names[1], why);
    if (inner->names[0] != NULL)
        inner->open.path = inner->names[0];
    if (inner->names[1] != NULL)
        inner->open.pair_path = inner->names[1];
    if (!ok)
        inside_inner_free(inner);
    return ok;
}

machsym_result inside_image_open(const machsym_open_desc *desc, machsym_image **out, machsym_error *err)
{
    inner_desc inner;
    machsym_error own;
    machsym_error *why = err != NULL ? err : &own;
    *out = NULL;
    if (cache_open_image(desc, out, why))
        return *out != NULL ? MACHSYM_OK : why->code;
    if (!inside_inner_make(desc, &inner, why))
        return why->code;
    machsym_result result = machsym_image_open(&inner.open, out, why);
    inside_inner_free(&inner);
    return result;
}

static machsym_slice inside_slice_of(const machsym_image *image)
{
    machsym_image_info info;
    machsym_image_get_info(image, &info);
    return info.slice;
}

size_t inside_list_slices(const machsym_open_desc *desc, machsym_slice *slices, size_t cap,
                          machsym_error *err)
{
    inner_desc inner;
    machsym_image *image;
    if (cache_open_image(desc, &image, err)) {
        if (image != NULL && cap > 0)
            slices[0] = inside_slice_of(image);
        bool is_open = image != NULL;
        machsym_image_close(image);
        return is_open;
    }
    if (!inside_inner_make(desc, &inner, err))
        return 0;
    size_t count = machsym_list_slices(&inner.open, slices, cap, err);
    inside_inner_free(&inner);
    return count;
}

static const char *inside_copy_file(const char *path, uint64_t off, uint64_t len, outfile *out)
{
    int fd = posix_open_to_read(path);
    const char *why = fd < 0 || lseek(fd, (off_t)off, SEEK_SET) < 0 ? strerror(errno) : NULL;
    text part = {0};
    while (len > 0 && why == NULL) {
        size_t step = len < COPY_STEP ? (size_t)len : COPY_STEP;
        part.len = 0;
        ssize_t got = read(fd, text_room(&part, step), (unsigned)step);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            why = got < 0 ? strerror(errno) : "the file became shorter while it was read";
            break;
        }
        part.len = (size_t)got;
        len -= part.len;
        outfile_put(out, &part);
    }
    if (fd >= 0)
        close(fd);
    text_free(&part);
    return why;
}

const char *inside_copy(const char *path, uint64_t off, uint64_t len, outfile *out)
{
    machsym_error err;
    machsym_bytes bytes;
    char *name = NULL;
    text part = {0};
    if (members_end(path) == 0)
        return inside_copy_file(path, off, len, out);
    if (!members_keep(path, &bytes, &name, &err))
        return err.what;
    free(name);
    if (off > bytes.len || len > bytes.len - off)
        return "the member is shorter than it was";
    for (uint64_t done = 0; done < len;) {
        size_t step = len - done < COPY_STEP ? (size_t)(len - done) : COPY_STEP;
        text_add(&part, (const char *)bytes.ptr + off + done, step);
        outfile_put(out, &part);
        done += step;
    }
    text_free(&part);
    return NULL;
}
