/* See members.h. */
#include "members.h"
#include "../../report/base/memory.h"
#include "../base/posix.h"
#include "../base/readfile.h"
#include "zstd.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>

/* A member that is kept. */
typedef struct loaded {
    char *path; /* as it was asked for */
    char *name; /* with the member's whole name */
    text content;
} loaded;

/* An archive that was opened last at its depth. */
typedef struct opened {
    archive *a; /* NULL: none */
    char *path;
} opened;

static struct {
    pthread_mutex_t lock;
    loaded **v;
    size_t count;
    size_t cap;
    uint64_t bytes;
    opened open[MEMBERS_MAX_DEPTH + 1]; /* the file itself, the archive in it, and so on */
    uint64_t unpacked; /* bytes of archives in the file's that one member, or one walk, asked for */
} kept = {PTHREAD_MUTEX_INITIALIZER, NULL, 0, 0, 0, {{NULL, NULL}}, 0};

static bool members_fail(machsym_error *err, machsym_result code, const char *what)
{
    *err = (machsym_error){code, 0, what, "", 0};
    return false;
}

static char *members_copy_z(const char *ptr, size_t len)
{
    char *copy = mem_alloc(len + 1);
    memcpy(copy, ptr, len);
    copy[len] = 0;
    return copy;
}

static bool members_has_suffix(machsym_str name, const char *suffix)
{
    size_t len = strlen(suffix);
    return name.len >= len && memcmp(name.ptr + name.len - len, suffix, len) == 0;
}

bool members_is_archive_name(machsym_str name)
{
    static const char *const ends[] = {".zip", ".tar", ".tgz", ".gz", ".zst", ".ipa"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        if (members_has_suffix(name, ends[i]))
            return !str_starts(str_base_name(name),
                               "._"); /* has what only Apple's file systems keep of NAME */
    }
    return false;
}

/* Whether a name is that of a file in a store of symsorter, which compresses files without a new name. */
static bool members_is_sorted_name(machsym_str name)
{
    machsym_str base = str_base_name(name);
    return str_is(base, "debuginfo") || str_is(base, "executable");
}

/* Whether a member may be an archive, in which others lie, by its name. A mail is one if a part of it is
 * encoded. */
static bool members_may_hold(machsym_str name)
{
    return members_is_archive_name(name) || members_has_suffix(name, ".eml") || members_is_sorted_name(name);
}

size_t members_end(const char *path)
{
    struct stat st;
    text prefix = {0};
    size_t end = 0;
    if (path[0] == 0 || file_stat(path, &st))
        return 0;
    for (size_t i = 1; path[i] != 0 && end == 0; i++) {
        if (!posix_is_slash(path[i]))
            continue;
        prefix.len = 0;
        text_add(&prefix, path, i);
        if (!file_stat(text_z(&prefix), &st))
            break;
        end = S_ISREG(st.st_mode) ? i : 0;
    }
    text_free(&prefix);
    return end;
}

/* ---- Archives; all below is under the lock ---- */

/* Whether a member may be an archive. Of names that do not say it, its first bytes do. */
static bool members_holds(const archive *a, const archive_member *member)
{
    machsym_error err;
    text head = {0};
    bool holds = members_may_hold(member->name);
    if (holds && members_is_sorted_name(member->name))
        holds = archive_read(a, member, 8, &head, &err) && zstd_is((machsym_bytes){head.v, head.len});
    text_free(&head);
    return holds;
}

static bool members_is_open(unsigned depth, const char *path, size_t len)
{
    const opened *slot = &kept.open[depth];
    return slot->a != NULL && strncmp(slot->path, path, len) == 0 && slot->path[len] == 0;
}

static archive *members_take_slot(unsigned depth, const char *path, size_t len, archive *a)
{
    opened *slot = &kept.open[depth];
    if (a == NULL)
        return NULL;
    if (slot->a != NULL)
        archive_close(slot->a);
    free(slot->path);
    slot->a = a;
    slot->path = members_copy_z(path, len);
    return a;
}

/* The archive that is a file, until another one is asked for; NULL with *err when there is no whole one. */
static archive *members_open_file(const char *path, size_t len, machsym_error *err)
{
    members_fail(err, MACHSYM_OK, "no error");
    if (members_is_open(0, path, len))
        return kept.open[0].a;
    char *name = members_copy_z(path, len);
    archive *a = archive_open(name, err);
    free(name);
    kept.unpacked = 0;
    return members_take_slot(0, path, len, a);
}

/* The archive that is a member of another; the path ends with its name. */
static archive *members_open(unsigned depth, const char *path, size_t len, const archive *outer,
                             const archive_member *member, machsym_error *err)
{
    text content = {0};
    members_fail(err, MACHSYM_OK, "no error");
    if (members_is_open(depth, path, len))
        return kept.open[depth].a;
    kept.unpacked += member->size;
    if (archive_is_bomb(kept.open[0].a, kept.unpacked)) {
        members_fail(err, MACHSYM_ERR_LIMIT,
                     "the archives in the file would become more than 256 times its size; unpack it first");
        return NULL;
    }
    char *name = members_copy_z(path, len);
    archive *a = archive_read(outer, member, UINT64_MAX, &content, err)
                     ? archive_open_text(name, &content, err)
                     : NULL;
    text_free(&content);
    free(name);
    return members_take_slot(depth, path, len, a);
}

/* The member that the rest of a path names: by its whole name, or by that of the bundle that it is in. */
static const archive_member *members_find(const archive *a, machsym_str rest)
{
    const archive_member *member = archive_find(a, rest);
    text inner = {0};
    while (rest.len > 0 && rest.ptr[rest.len - 1] == '/')
        rest.len--;
    text_str(&inner, rest);
    text_c(&inner, "/Contents/Resources/DWARF/");
    if (member == NULL)
        member = archive_find_below(a, str_make(inner.v, inner.len));
    text_free(&inner);
    return member;
}

/* The member that is an archive, and in which the rest of a path goes on. */
static const archive_member *members_find_archive(const archive *a, machsym_str rest)
{
    const archive_member *member = NULL;
    for (size_t i = 1; i < rest.len && member == NULL; i++) {
        if (rest.ptr[i] == '/' && members_may_hold(str_make(rest.ptr, i)))
            member = archive_find(a, str_make(rest.ptr, i));
    }
    return member;
}

/* A member, and the archive that it is in. */
typedef struct place {
    const archive *a;
    const archive_member *member;
    unsigned depth; /* of the archive */
    size_t at;      /* where the member's name begins in the path */
} place;

static bool members_find_place(const char *path, size_t end, place *out, machsym_error *err)
{
    archive *a = members_open_file(path, end, err);
    unsigned depth = 0;
    size_t at = end + 1;
    kept.unpacked = 0;
    while (a != NULL) {
        machsym_str rest = str_c(path + at);
        const archive_member *member = members_find(a, rest);
        if (member != NULL) {
            *out = (place){a, member, depth, at};
            return true;
        }
        member = depth < MEMBERS_MAX_DEPTH ? members_find_archive(a, rest) : NULL;
        if (member == NULL)
            return members_fail(err, MACHSYM_ERR_IO,
                                "the archive has no such member; `machsym info ARCHIVE` lists them");
        at += member->name.len + 1;
        a = members_open(++depth, path, at - 1, a, member, err);
    }
    return err->code == MACHSYM_OK
               ? members_fail(err, MACHSYM_ERR_IO,
                              "a part of its path is a file, but no zip, tar or static library; "
                              "machsym info says what it is")
               : false;
}

/* ---- Reading ---- */

static bool members_read_member(const char *path, uint64_t max, text *out, machsym_error *err)
{
    place at;
    size_t end = members_end(path);
    if (end == 0)
        return members_fail(err, MACHSYM_ERR_IO, "there is no such file");
    return members_find_place(path, end, &at, err) && archive_read(at.a, at.member, max, out, err);
}

bool members_has(const char *path)
{
    place at;
    machsym_error err;
    pthread_mutex_lock(&kept.lock);
    size_t end = members_end(path);
    bool has = end != 0 && members_find_place(path, end, &at, &err);
    pthread_mutex_unlock(&kept.lock);
    return has;
}

bool members_read(const char *path, uint64_t max, text *out, machsym_error *err)
{
    pthread_mutex_lock(&kept.lock);
    bool ok = members_read_member(path, max, out, err);
    pthread_mutex_unlock(&kept.lock);
    return ok;
}

static const loaded *members_find_loaded(const char *path)
{
    for (size_t i = 0; i < kept.count; i++) {
        if (strcmp(kept.v[i]->path, path) == 0)
            return kept.v[i];
    }
    return NULL;
}

static const loaded *members_load(const char *path, machsym_error *err)
{
    const loaded *before = members_find_loaded(path);
    place at;
    text content = {0};
    text name = {0};
    if (before != NULL)
        return before;
    if (!members_find_place(path, members_end(path), &at, err))
        return NULL;
    if (kept.bytes + at.member->size > ARCHIVE_MAX_BYTES) {
        members_fail(err, MACHSYM_ERR_LIMIT,
                     "the members that were opened have more than 8 GB; unpack the archive");
        return NULL;
    }
    if (!archive_read(at.a, at.member, UINT64_MAX, &content, err)) {
        text_free(&content);
        return NULL;
    }
    loaded *one = mem_alloc(sizeof *one);
    text_add(&name, path, at.at);
    text_str(&name, at.member->name);
    one->name = members_copy_z(name.v, name.len);
    text_free(&name);
    one->path = members_copy_z(path, strlen(path));
    one->content = content;
    kept.bytes += content.len;
    kept.v = mem_room(kept.v, kept.count, &kept.cap, sizeof *kept.v);
    kept.v[kept.count++] = one;
    return one;
}

bool members_keep(const char *path, machsym_bytes *bytes, char **name, machsym_error *err)
{
    pthread_mutex_lock(&kept.lock);
    const loaded *one = members_load(path, err);
    if (one != NULL) {
        *name = members_copy_z(one->name, strlen(one->name));
        bytes->ptr = one->content.v != NULL ? one->content.v : "";
        bytes->len = one->content.len;
    }
    pthread_mutex_unlock(&kept.lock);
    return one != NULL;
}

void members_forget(void)
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

/* ---- Walking ---- */

/* One walk. */
typedef struct walking {
    void (*visit)(void *user, const member_found *found, machsym_error *err);
    void *user;
    member_walk *walk;
    text path; /* of the member at hand */
} walking;

static void members_note_fault(walking *w, const machsym_error *err)
{
    w->walk->fault = *err;
    w->walk->fault_path.len = 0;
    text_add(&w->walk->fault_path, w->path.v, w->path.len);
    text_z(&w->walk->fault_path);
}

/* An archive that is open, and those in it: as deep as there are slots. */
static void members_walk_archive(walking *w, const archive *a,
                                 unsigned depth) /* at most MEMBERS_MAX_DEPTH calls deep */
{
    size_t from = w->path.len;
    for (size_t i = 0; i < archive_count(a); i++) {
        const archive_member *member = archive_at(a, i);
        machsym_error err = {MACHSYM_OK, 0, "no error", "", 0};
        if (memchr(member->name.ptr, 0, member->name.len) != NULL)
            continue;
        w->path.len = from;
        text_char(&w->path, '/');
        text_str(&w->path, member->name);
        bool is_archive = members_holds(a, member);
        const archive *inner = NULL;
        if (is_archive && depth == MEMBERS_MAX_DEPTH)
            w->walk->is_deep = true;
        else if (is_archive)
            inner = members_open(depth + 1, text_z(&w->path), w->path.len, a, member, &err);
        if (inner != NULL)
            members_walk_archive(w, inner, depth + 1);
        if (inner != NULL && members_has_suffix(member->name, ".eml")) /* what it holds is what it says */
            continue;
        member_found found = {text_z(&w->path), a, member};
        w->visit(w->user, &found, &err);
        w->walk->count++;
        if (err.code != MACHSYM_OK)
            members_note_fault(w, &err);
    }
    w->path.len = from;
}

bool members_walk(const char *path, void (*visit)(void *user, const member_found *found, machsym_error *err),
                  void *user, member_walk *walk, machsym_error *err)
{
    walking w = {visit, user, walk, {0}};
    place at;
    size_t end = members_end(path);
    unsigned depth = 0;
    archive *a = NULL;
    memset(walk, 0, sizeof *walk);
    walk->fault.code = MACHSYM_OK;
    pthread_mutex_lock(&kept.lock);
    kept.unpacked = 0;
    text_c(&w.path, path);
    if (end == 0) {
        a = members_open_file(path, strlen(path), err);
    } else if (members_find_place(path, end, &at, err)) {
        depth = at.depth + 1;
        if (depth <= MEMBERS_MAX_DEPTH && members_holds(at.a, at.member))
            a = members_open(depth, path, strlen(path), at.a, at.member, err);
    }
    if (a != NULL)
        members_walk_archive(&w, a, depth);
    pthread_mutex_unlock(&kept.lock);
    text_free(&w.path);
    return a != NULL;
}
