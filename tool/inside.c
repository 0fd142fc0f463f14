/* See inside.h. */
#include "inside.h"

#include "archive.h"
#include "caches.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FOLDER_MAX_DEPTH = 32,      /* of folders in folders: real bundles have ten */
    FOLDER_MAX_FILES = 1 << 18, /* that are looked at: an archive of a large program has 20,000 */
    PROBE_BYTES = 1 << 16,      /* of a member: its load commands */
    MAX_INSIDE_SLICES = 16,
    COPY_STEP = 1 << 20,
    MAX_SHOWN = 64 /* files that are listed for a choice */
};

static const char dwarf_folder[] = ".dSYM/Contents/Resources/DWARF/";

/* Members that were read, and the archive that was opened last. */
typedef struct loaded {
    char *path; /* as it was asked for */
    char *name; /* with the member's whole name */
    text content;
} loaded;

static struct {
    pthread_mutex_t lock;
    loaded **v;
    size_t count;
    size_t cap;
    uint64_t bytes;
    archive *last;
    char *last_path;
} kept = {PTHREAD_MUTEX_INITIALIZER, NULL, 0, 0, 0, NULL, NULL};

static bool fail(machsym_error *err, machsym_result code, const char *what)
{
    *err = (machsym_error){code, 0, what, "", 0};
    return false;
}

static char *copy_z(const char *ptr, size_t len)
{
    char *copy = tool_alloc(len + 1);
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

static void add_path(path_list *list, char *path)
{
    list->v = tool_room(list->v, list->count, &list->cap, sizeof *list->v);
    list->v[list->count++] = path;
}

void path_list_add(path_list *list, const char *path)
{
    add_path(list, copy_z(path, strlen(path)));
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* ---- Archives ---- */

/* The archive at a path, until another one is asked for; NULL with err when it is none or damaged. Under the
 * lock. */
static archive *open_kept(const char *path, machsym_error *err)
{
    fail(err, MACHSYM_OK, "no error");
    if (kept.last_path != NULL && strcmp(kept.last_path, path) == 0)
        return kept.last;
    archive *a = archive_open(path, err);
    if (a == NULL)
        return NULL;
    if (kept.last != NULL)
        archive_close(kept.last);
    free(kept.last_path);
    kept.last = a;
    kept.last_path = copy_z(path, strlen(path));
    return a;
}

static bool has_suffix(machsym_str name, const char *suffix)
{
    size_t len = strlen(suffix);
    return name.len >= len && memcmp(name.ptr + name.len - len, suffix, len) == 0;
}

static bool is_in_dsym(machsym_str name)
{
    return str_find(name, dwarf_folder) < name.len;
}

/* Mach-O's magics in both byte orders, and the two of fat files: loader.h, fat.h. */
static bool is_macho(const char *ptr, size_t len)
{
    const uint8_t *p = (const uint8_t *)ptr;
    if (len < 28)
        return false;
    uint32_t magic = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    return magic == 0xfeedface || magic == 0xfeedfacf || magic == 0xcefaedfe || magic == 0xcffaedfe ||
           magic == 0xcafebabf || (magic == 0xcafebabe && p[7] < 40); /* else a Java class */
}

/* Whether a member is a Mach-O file. Files in dSYMs are, so that reading one says what is wrong with it. *err
 * becomes why another one could not be read. */
static bool is_macho_member(const archive *a, const archive_member *member, machsym_error *err)
{
    text head = {0};
    machsym_str base = str_base_name(member->name);
    if (memchr(member->name.ptr, 0, member->name.len) != NULL || str_starts(base, "._") || member->size < 28)
        return false; /* "._NAME" has what only Apple's file systems keep of NAME */
    if (is_in_dsym(member->name))
        return true;
    bool is = archive_read(a, member, 32, &head, err) && is_macho(head.v, head.len);
    text_free(&head);
    return is;
}

/* The member that the rest of a path names: by its whole name, or by that of the bundle that it is in. */
static const archive_member *find_member(const archive *a, machsym_str rest)
{
    for (size_t i = 0; i < archive_count(a); i++) {
        if (str_equal(archive_at(a, i)->name, rest))
            return archive_at(a, i);
    }
    while (rest.len > 0 && rest.ptr[rest.len - 1] == '/')
        rest.len--;
    for (size_t i = 0; i < archive_count(a); i++) {
        machsym_str name = archive_at(a, i)->name;
        if (name.len > rest.len && memcmp(name.ptr, rest.ptr, rest.len) == 0 &&
            str_starts(str_make(name.ptr + rest.len, name.len - rest.len), "/Contents/Resources/DWARF/"))
            return archive_at(a, i);
    }
    return NULL;
}

/* Where the path of an archive ends in a path that leads into it; 0 when it does not. */
static size_t archive_end(const char *path)
{
    struct stat st;
    text prefix = {0};
    size_t end = 0;
    if (stat(path, &st) == 0)
        return 0;
    for (size_t i = 1; path[i] != 0 && end == 0; i++) {
        if (!posix_is_slash(path[i]))
            continue;
        prefix.len = 0;
        text_add(&prefix, path, i);
        if (stat(text_z(&prefix), &st) != 0)
            break;
        end = S_ISREG(st.st_mode) ? i : 0;
    }
    text_free(&prefix);
    return end;
}

static const loaded *find_loaded(const char *path)
{
    for (size_t i = 0; i < kept.count; i++) {
        if (strcmp(kept.v[i]->path, path) == 0)
            return kept.v[i];
    }
    return NULL;
}

/* Reads a member of an archive into memory that stays. Under the lock. */
static const loaded *load(const char *path, size_t end, machsym_error *err)
{
    const loaded *before = find_loaded(path);
    if (before != NULL)
        return before;
    char *archive_path = copy_z(path, end);
    archive *a = open_kept(archive_path, err);
    free(archive_path);
    if (a == NULL) {
        if (err->code == MACHSYM_OK)
            fail(err, MACHSYM_ERR_IO, "a part of its path is no folder and no archive");
        return NULL;
    }
    const archive_member *member = find_member(a, str_c(path + end + 1));
    if (member == NULL) {
        fail(err, MACHSYM_ERR_IO, "the archive has no such member; `machsym info ARCHIVE` lists them");
        return NULL;
    }
    if (kept.bytes + member->size > ARCHIVE_MAX_BYTES) {
        fail(err, MACHSYM_ERR_LIMIT, "the members that were opened have more than 8 GB; unpack the archive");
        return NULL;
    }
    text content = {0};
    if (!archive_read(a, member, UINT64_MAX, &content, err)) {
        text_free(&content);
        return NULL;
    }
    loaded *one = tool_alloc(sizeof *one);
    text name = {0};
    text_add(&name, path, end + 1);
    text_str(&name, member->name);
    one->name = copy_z(name.v, name.len);
    text_free(&name);
    one->path = copy_z(path, strlen(path));
    one->content = content;
    kept.bytes += content.len;
    kept.v = tool_room(kept.v, kept.count, &kept.cap, sizeof *kept.v);
    kept.v[kept.count++] = one;
    return one;
}

/* ---- Folders and archives as lists ---- */

static void join(text *t, const char *folder, const char *name)
{
    t->len = 0;
    text_c(t, folder);
    if (t->len == 0 || !posix_is_slash(t->v[t->len - 1]))
        text_char(t, '/');
    text_c(t, name);
}

/* Whether a file is a Mach-O file, or the main one of a shared cache. */
static bool is_macho_file(const char *path)
{
    char head[32];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, head, sizeof head);
    close(fd);
    return got > 0 && (is_macho(head, (size_t)got) ||
                       (memcmp(head, "dyld", 4) == 0 && cache_is_at(path) && cache_has_images(path)));
}

/* What is looked for in an archive or folder. */
typedef enum wanted { WANT_MACHO, WANT_REPORTS } wanted;

/* Whether a name is that of a report. */
static bool is_report_name(machsym_str name)
{
    static const char *const ends[] = {".crash", ".ips",  ".txt",  ".json", ".log",   ".spindump",
                                       ".hang",  ".diag", ".spin", ".beta", ".panic", ".synced"};
    if (str_starts(str_base_name(name), ".")) /* "._NAME" has what only Apple's file systems keep of NAME */
        return false;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        if (has_suffix(name, ends[i]))
            return true;
    }
    return false;
}

/* Lists the files below a folder. Links are not followed: they may lead outside, or in circles. */
static void list_folder(const char *path, wanted what, unsigned depth, unsigned *left, path_list *out)
{
    DIR *dir = opendir(path);
    text full = {0};
    if (dir == NULL)
        return;
    for (struct dirent *entry = readdir(dir); entry != NULL && *left > 0; entry = readdir(dir)) {
        struct stat st;
        if (entry->d_name[0] == '.')
            continue;
        join(&full, path, entry->d_name);
        if (lstat(text_z(&full), &st) != 0)
            continue;
        --*left;
        if (S_ISDIR(st.st_mode) && depth < FOLDER_MAX_DEPTH)
            list_folder(full.v, what, depth + 1, left, out);
        else if (S_ISREG(st.st_mode) &&
                 (what == WANT_REPORTS ? is_report_name(str_make(full.v, full.len)) : is_macho_file(full.v)))
            add_path(out, copy_z(full.v, full.len));
    }
    closedir(dir);
    text_free(&full);
}

/* Lists the Mach-O files of an archive; those of a static library are all its members. Under the lock. */
static bool list_archive(const char *path, path_list *out, machsym_error *err)
{
    text full = {0};
    bool has_archives = false;
    archive *a = open_kept(path, err);
    if (a == NULL)
        return false;
    for (size_t i = 0; i < archive_count(a); i++) {
        const archive_member *member = archive_at(a, i);
        has_archives |= has_suffix(member->name, ".zip") || has_suffix(member->name, ".gz");
        if (!is_macho_member(a, member, err))
            continue;
        full.len = 0;
        text_c(&full, path);
        text_char(&full, '/');
        text_str(&full, member->name);
        add_path(out, copy_z(full.v, full.len));
    }
    text_free(&full);
    if (out->count == 0 && has_suffix(str_c(path), ".ipsw"))
        return fail(err, MACHSYM_ERR_UNSUPPORTED,
                    "firmware: its programs lie in a disk image inside. Mount that on a Mac, or take the "
                    "shared cache "
                    "out with `ipsw extract --dyld`");
    if (out->count > 0) {
        fail(err, MACHSYM_OK, "no error");
        return true;
    }
    if (err->code == MACHSYM_OK)
        fail(err, MACHSYM_ERR_FORMAT,
             has_archives ? "the archive holds no Mach-O file, but other archives: unpack those"
                          : "the archive holds no Mach-O file");
    return false;
}

static bool is_bundle(const char *path)
{
    struct stat st;
    text inner = {0};
    join(&inner, path, "Contents/Resources/DWARF");
    bool is = stat(text_z(&inner), &st) == 0 && S_ISDIR(st.st_mode);
    text_free(&inner);
    return is;
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode) && !is_bundle(path);
}

/* Keeps the dSYMs, if there are any: a binary says less than its dSYM. */
static void keep_dsyms(path_list *list)
{
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++)
        count += is_in_dsym(str_c(list->v[i]));
    if (count == 0)
        return;
    count = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (is_in_dsym(str_c(list->v[i])))
            list->v[count++] = list->v[i];
        else
            free(list->v[i]);
    }
    list->count = count;
}

/* What a path holds; nothing, with OK, when it is a file of its own. */
static bool list_inside(const char *path, bool all, path_list *out, machsym_error *err)
{
    unsigned left = FOLDER_MAX_FILES;
    bool ok = true;
    fail(err, MACHSYM_OK, "no error");
    memset(out, 0, sizeof *out);
    if (is_folder(path)) {
        list_folder(path, WANT_MACHO, 0, &left, out); /* of an empty one machsym.h says what it lacks */
    } else {
        pthread_mutex_lock(&kept.lock);
        ok = list_archive(path, out, err) || err->code == MACHSYM_OK;
        pthread_mutex_unlock(&kept.lock);
    }
    if (!all)
        keep_dsyms(out);
    if (out->count > 1)
        qsort(out->v, out->count, sizeof *out->v, by_text);
    return ok;
}

bool inside_expand(const char *path, bool all, path_list *out)
{
    machsym_error err;
    if (!list_inside(path, all, out, &err)) {
        path_list_free(out);
        tool_say_error(path, &err);
        return false;
    }
    if (out->count == 0)
        path_list_add(out, path);
    return true;
}

bool inside_is_container(const char *path)
{
    path_list list;
    machsym_error err;
    bool is = path != NULL && list_inside(path, false, &list, &err) && list.count > 1;
    if (path != NULL)
        path_list_free(&list);
    return is;
}

/* ---- Reports ---- */

/* Lists the reports in an archive. One file that gzip compressed is taken whatever its name is. Under the
 * lock. */
static bool list_reports(const char *path, path_list *out, machsym_error *err)
{
    text full = {0};
    archive *a = open_kept(path, err);
    for (size_t i = 0; a != NULL && i < archive_count(a); i++) {
        machsym_str name = archive_at(a, i)->name;
        bool is_alone = has_suffix(str_c(path), ".gz") && archive_count(a) == 1;
        if (memchr(name.ptr, 0, name.len) != NULL || !(is_alone || is_report_name(name)))
            continue;
        full.len = 0;
        text_c(&full, path);
        text_char(&full, '/');
        text_str(&full, name);
        add_path(out, copy_z(full.v, full.len));
    }
    text_free(&full);
    return a != NULL && (out->count > 0 || fail(err, MACHSYM_ERR_FORMAT, "the archive holds no report"));
}

bool inside_expand_reports(const char *path, path_list *out)
{
    unsigned left = FOLDER_MAX_FILES;
    struct stat st;
    path_list found = {NULL, 0, 0};
    machsym_error err;
    fail(&err, MACHSYM_OK, "no error");
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        list_folder(path, WANT_REPORTS, 0, &left, &found);
        if (found.count == 0)
            fail(&err, MACHSYM_ERR_IO, "the folder holds no report");
    } else if (strcmp(path, "-") != 0) {
        pthread_mutex_lock(&kept.lock);
        list_reports(path, &found, &err);
        pthread_mutex_unlock(&kept.lock);
    }
    if (found.count > 1)
        qsort(found.v, found.count, sizeof *found.v, by_text);
    if (found.count == 0 && err.code == MACHSYM_OK)
        path_list_add(out, path);
    for (size_t i = 0; i < found.count; i++)
        add_path(out, found.v[i]);
    free(found.v);
    if (err.code != MACHSYM_OK)
        tool_say_error(path, &err);
    return err.code == MACHSYM_OK;
}

bool inside_read_list(const char *path, path_list *out)
{
    text list = {0};
    machsym_str line;
    const char *why = text_read_file(&list, path);
    machsym_str rest = {list.v, list.len};
    while (why == NULL && str_take_line(&rest, &line)) {
        line = str_trim(line);
        if (line.len > 0)
            add_path(out, copy_z(line.ptr, line.len));
    }
    if (why != NULL)
        tool_say("%s: %s", path, why);
    text_free(&list);
    return why == NULL;
}

const char *inside_read(const char *path, text *out)
{
    machsym_error err;
    size_t end = archive_end(path);
    if (end == 0)
        return text_read_file(out, path);
    char *archive_path = copy_z(path, end);
    pthread_mutex_lock(&kept.lock);
    archive *a = open_kept(archive_path, &err);
    const archive_member *member = a != NULL ? find_member(a, str_c(path + end + 1)) : NULL;
    if (a != NULL && member == NULL)
        fail(&err, MACHSYM_ERR_IO, "the archive has no such member");
    else if (a == NULL && err.code == MACHSYM_OK)
        fail(&err, MACHSYM_ERR_IO, "a part of its path is no folder and no archive");
    else if (a != NULL && member->size > TEXT_FILE_MAX)
        fail(&err, MACHSYM_ERR_LIMIT, "the member has more than 1 GB");
    else if (a != NULL)
        archive_read(a, member, UINT64_MAX, out, &err);
    pthread_mutex_unlock(&kept.lock);
    free(archive_path);
    return err.code == MACHSYM_OK ? NULL : err.what;
}

/* ---- Choosing ---- */

size_t inside_is_member(const char *path)
{
    return archive_end(path);
}

size_t inside_probe(const char *path, machsym_slice *slices, size_t cap, machsym_error *err)
{
    machsym_open_desc desc;
    text head = {0};
    size_t count = 0;
    size_t end = archive_end(path);
    memset(&desc, 0, sizeof desc);
    desc.path = path;
    if (end == 0)
        return machsym_list_slices(&desc, slices, cap, err);
    char *archive_path = copy_z(path, end);
    pthread_mutex_lock(&kept.lock);
    archive *a = open_kept(archive_path, err);
    const archive_member *member = a != NULL ? find_member(a, str_c(path + end + 1)) : NULL;
    bool ok = member != NULL && archive_read(a, member, PROBE_BYTES, &head, err);
    pthread_mutex_unlock(&kept.lock);
    free(archive_path);
    if (ok && (uint8_t)head.v[0] != 0xca) { /* the slices of a fat file lie further behind */
        desc.bytes.ptr = head.v;
        desc.bytes.len = head.len;
        count = machsym_list_slices(&desc, slices, cap, err);
    }
    text_free(&head);
    if (count == 1 && slices[0].has_uuid)
        return count;
    return inside_list_slices(&(machsym_open_desc){.path = path}, slices, cap, err);
}

static bool fits(const machsym_slice *slice, const char *arch, const machsym_uuid *uuid)
{
    return (arch == NULL || strcmp(slice->arch, arch) == 0) &&
           (uuid == NULL || (slice->has_uuid && memcmp(&slice->uuid, uuid, sizeof *uuid) == 0));
}

/* The one file of an archive or folder that is asked for. *choice: its path, from malloc; NULL when the path
 * is a file of its own. */
static bool choose(const machsym_open_desc *desc, const char *path, char **choice, machsym_error *err)
{
    path_list list;
    machsym_slice slices[MAX_INSIDE_SLICES];
    machsym_error unused;
    size_t chosen = 0;
    size_t matches = 0;
    *choice = NULL;
    if (!list_inside(path, false, &list, err)) {
        path_list_free(&list);
        return false;
    }
    for (size_t i = 0; i < list.count && list.count > 1; i++) {
        size_t count = inside_probe(list.v[i], slices, MAX_INSIDE_SLICES, &unused);
        bool is_match = false;
        for (size_t j = 0; j < count && j < MAX_INSIDE_SLICES; j++)
            is_match |= fits(&slices[j], desc->arch, desc->uuid);
        chosen = is_match ? i : chosen;
        matches += is_match;
    }
    bool ok = list.count <= 1 || matches == 1;
    if (ok && list.count > 0)
        *choice = copy_z(list.v[chosen], strlen(list.v[chosen]));
    else if (!ok && matches > 1)
        fail(err, MACHSYM_ERR_AMBIGUOUS, "it holds several files; name one of them");
    else if (!ok && desc->uuid != NULL)
        fail(err, MACHSYM_ERR_UUID, "no file in it has this UUID");
    else if (!ok)
        fail(err, MACHSYM_ERR_ARCH, "no file in it has a slice for this architecture");
    path_list_free(&list);
    return ok;
}

bool inside_list(const char *path, text *out)
{
    path_list list;
    machsym_slice slices[MAX_INSIDE_SLICES];
    machsym_error err;
    bool any = path != NULL && list_inside(path, false, &list, &err) && list.count > 0;
    for (size_t i = 0; any && i < list.count && i < MAX_SHOWN; i++) {
        size_t count = inside_probe(list.v[i], slices, MAX_INSIDE_SLICES, &err);
        for (size_t j = 0; j < count && j < MAX_INSIDE_SLICES; j++) {
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
static bool take_half(const machsym_open_desc *desc, const char *path, machsym_bytes *bytes, char **name,
                      machsym_error *err)
{
    *name = NULL;
    if (path == NULL || bytes->ptr != NULL)
        return true;
    if (!choose(desc, path, name, err))
        return false;
    const char *chosen = *name != NULL ? *name : path;
    size_t end = archive_end(chosen);
    if (end == 0)
        return true;
    pthread_mutex_lock(&kept.lock);
    const loaded *one = load(chosen, end, err);
    pthread_mutex_unlock(&kept.lock);
    if (one == NULL)
        return false;
    free(*name);
    *name = copy_z(one->name, strlen(one->name));
    bytes->ptr = one->content.v != NULL ? one->content.v : "";
    bytes->len = one->content.len;
    return true;
}

/* A description of files of their own and of bytes, which names what it stands for. */
typedef struct inner_desc {
    machsym_open_desc open;
    char *names[2];
} inner_desc;

static void inner_free(inner_desc *inner)
{
    free(inner->names[0]);
    free(inner->names[1]);
}

static bool inner_make(const machsym_open_desc *desc, inner_desc *inner, machsym_error *err)
{
    machsym_error own;
    machsym_error *why = err != NULL ? err : &own;
    memset(inner, 0, sizeof *inner);
    inner->open = *desc;
    bool ok = take_half(desc, desc->path, &inner->open.bytes, &inner->names[0], why) &&
              take_half(desc, desc->pair_path, &inner->open.pair_bytes, &inner->names[1], why);
    if (inner->names[0] != NULL)
        inner->open.path = inner->names[0];
    if (inner->names[1] != NULL)
        inner->open.pair_path = inner->names[1];
    if (!ok)
        inner_free(inner);
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
    if (!inner_make(desc, &inner, why))
        return why->code;
    machsym_result result = machsym_image_open(&inner.open, out, why);
    inner_free(&inner);
    return result;
}

static machsym_slice slice_of(const machsym_image *image)
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
            slices[0] = slice_of(image);
        bool is_open = image != NULL;
        machsym_image_close(image);
        return is_open;
    }
    if (!inner_make(desc, &inner, err))
        return 0;
    size_t count = machsym_list_slices(&inner.open, slices, cap, err);
    inner_free(&inner);
    return count;
}

static const char *copy_file(const char *path, uint64_t off, uint64_t len, outfile *out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
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
    size_t end = archive_end(path);
    if (end == 0)
        return copy_file(path, off, len, out);
    pthread_mutex_lock(&kept.lock);
    const loaded *one = load(path, end, &err);
    bool ok = one != NULL && off <= one->content.len && len <= one->content.len - off;
    text part = {0};
    if (ok)
        text_add(&part, one->content.v + off, (size_t)len);
    pthread_mutex_unlock(&kept.lock);
    outfile_put(out, &part);
    text_free(&part);
    return ok ? NULL : one == NULL ? err.what : "the member is shorter than it was";
}

void inside_forget(void)
{
    pthread_mutex_lock(&kept.lock);
    for (size_t i = 0; i < kept.count; i++) {
        text_free(&kept.v[i]->content);
        free(kept.v[i]->path);
        free(kept.v[i]->name);
        free(kept.v[i]);
    }
    kept.count = 0;
    kept.bytes = 0;
    pthread_mutex_unlock(&kept.lock);
}
