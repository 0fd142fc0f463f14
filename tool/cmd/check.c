/* ==== >> cmd/check ====
 * Job: the command that tells, before a release or an upload, whether every image has the debug info that its
 * crashes will need.
 * Offers: the command.
 * Never: changes a file.
 *
 * machsym check: has every image its dSYM, whole and with lines? */
#include "machsym.h"
#include "../../report/base/json_put.h"
#include "../../report/base/memory.h"
#include "../../report/base/text.h"
#include "../base/options.h"
#include "../base/out.h"
#include "../base/posix.h"
#include "../base/readfile.h"
#include "../base/say.h"
#include "../base/takes.h"
#include "../files/inside.h"
#include "../symbols/bcsymbolmap.h"
#include "commands.h"
#include "map/build.h"
#include "store/store.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_ALSO = 64, MAX_EXCEPT = 64, MAX_SLICES = 64 };

/* loader.h */
enum { EXECUTE = 2, DYLIB = 6, BUNDLE = 8, DSYM = 10, KEXT = 11 };

static const char in_bundle[] = ".dSYM/Contents/Resources/DWARF/";

typedef struct check_options {
    const char *also[MAX_ALSO];
    size_t also_count;
    const char *except[MAX_EXCEPT];
    size_t except_count;
    build_options how;
    bool json;
} check_options;

typedef enum check_state {
    CHECK_OK = 0,
    CHECK_NO_UUID,
    CHECK_DAMAGED,
    CHECK_ENCRYPTED,
    CHECK_NO_DSYM,
    CHECK_NOT_DSYM,
    CHECK_NO_LINES,
    CHECK_HIDDEN,
    CHECK_STATES
} check_state;

/* For people, and for programs. */
static const char *const state_words[CHECK_STATES][2] = {
    {"ok", "ok"},
    {"no UUID", "no-uuid"},
    {"damaged", "damaged"},
    {"encrypted", "encrypted"},
    {"no dSYM", "no-dsym"},
    {"no dSYM", "not-a-dsym"},
    {"no lines", "no-lines"},
    {"hidden names", "hidden-names"},
};

/* A slice of a file that was found. */
typedef struct check_file {
    const char *path;
    machsym_slice slice;
    bool is_dsym;      /* by its type */
    bool is_in_bundle; /* where a dSYM has its debug info */
} check_file;

typedef struct check_files {
    path_list paths;
    check_file *v; /* by UUID, architecture, path */
    size_t count;
    size_t cap;
} check_files;

/* What one UUID has. */
typedef struct check_row {
    const check_file *image; /* NULL: a dSYM alone */
    const check_file *dsym;  /* NULL: there is none */
    check_state state;
    text why; /* empty: there is no more to say */
} check_row;

/* ---- What there is ---- */

static int check_by_uuid(const void *a, const void *b)
{
    const check_file *x = a;
    const check_file *y = b;
    int by = (int)y->slice.has_uuid - (int)x->slice.has_uuid;
    by = by != 0 ? by : memcmp(&x->slice.uuid, &y->slice.uuid, sizeof x->slice.uuid);
    by = by != 0 ? by : strcmp(x->slice.arch, y->slice.arch);
    return by != 0 ? by : strcmp(x->path, y->path);
}

static bool check_is_image(const machsym_slice *slice)
{
    uint32_t type = slice->filetype;
    return type == EXECUTE || type == DYLIB || type == BUNDLE || type == KEXT;
}

/* Adds the slices of a file that are images or dSYMs. Returns false after a message. */
static bool check_add_file(check_files *files, const char *path)
{
    machsym_slice slices[MAX_SLICES];
    machsym_error err;
    machsym_open_desc desc;
    bool is_bundle = inside_is_bundle(path);
    memset(&desc, 0, sizeof desc);
    desc.path = path;
    size_t count = is_bundle ? inside_list_slices(&desc, slices, MAX_SLICES, &err)
                             : inside_probe(path, slices, MAX_SLICES, &err);
    if (count > MAX_SLICES) {
        say_message("%s: has %zu slices, and %d are looked at", path, count, (int)MAX_SLICES);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        bool is_dsym = slices[i].filetype == DSYM;
        if (!is_dsym && !check_is_image(&slices[i]))
            continue;
        files->v = mem_room(files->v, files->count, &files->cap, sizeof *files->v);
        files->v[files->count++] =
            (check_file){path, slices[i], is_dsym, is_bundle || strstr(path, in_bundle) != NULL};
    }
    return say_slices(path, count, &err);
}

static bool check_is_folder(const char *path)
{
    struct stat st;
    return file_stat(path, &st) && S_ISDIR(st.st_mode) && !inside_is_bundle(path);
}

/* Adds the files that a path stands for. Returns false after a message. */
static bool check_expand(const char *path, check_files *files)
{
    path_list found;
    bool ok = inside_expand(path, INSIDE_ALL, &found);
    if (ok && found.count == 1 && strcmp(found.v[0], path) == 0 && check_is_folder(path)) {
        say_message("%s: no program and no dSYM is in it: name an .xcarchive, an .ipa or a folder with both",
                    path);
        ok = false;
    }
    for (size_t i = 0; ok && i < found.count; i++)
        path_list_add(&files->paths, found.v[i]);
    path_list_free(&found);
    return ok;
}

static bool check_gather(const check_options *o, char **paths, size_t count, check_files *files)
{
    bool ok = true;
    for (size_t i = 0; i < count; i++)
        ok = check_expand(paths[i], files) && ok;
    for (size_t i = 0; i < o->also_count; i++)
        ok = check_expand(o->also[i], files) && ok;
    for (size_t i = 0; i < files->paths.count; i++)
        ok = check_add_file(files, files->paths.v[i]) && ok;
    if (files->count > 0)
        qsort(files->v, files->count, sizeof *files->v, check_by_uuid);
    return ok;
}

/* ---- One image ---- */

static void check_set(check_row *row, check_state state, const char *why)
{
    row->state = state;
    text_c(&row->why, why);
}

static void check_put_error(text *why, const char *path, const machsym_error *err)
{
    text_str(why, str_base_name(str_c(path)));
    text_c(why, ": ");
    text_c(why, err->what != NULL && err->what[0] != 0 ? err->what : "it is damaged");
    if (err->where == NULL || err->where[0] == 0)
        return;
    text_c(why, " (");
    text_c(why, err->where);
    text_c(why, ", offset ");
    text_dec(why, err->offset);
    text_char(why, ')');
}

/* Whether most functions of a dSYM have names that a bitcode build hid, and no map of them lies near by. */
static bool check_hides_names(const check_file *file)
{
    static const char hidden[] = "__hidden#";
    machsym_open_desc desc;
    machsym_image *image;
    machsym_session *session = NULL;
    machsym_session_desc how;
    machsym_cursor at = {0, 0};
    machsym_symbol symbol;
    uint64_t count = 0;
    uint64_t hides = 0;
    bcsymbolmap *names = bcsymbolmap_find(file->path, &file->slice.uuid, NULL, 0);
    memset(&desc, 0, sizeof desc);
    memset(&how, 0, sizeof how);
    desc.path = file->path;
    desc.arch = file->slice.arch;
    desc.uuid = &file->slice.uuid;
    desc.flags = MACHSYM_OPEN_NO_PAIR | MACHSYM_OPEN_NO_OBJECTS;
    if (names == NULL && inside_image_open(&desc, &image, NULL) == MACHSYM_OK) {
        how.image = image;
        if (machsym_session_open(&how, &session, NULL) == MACHSYM_OK) {
            while (machsym_session_next_symbol(session, &at, &symbol)) {
                count++;
                hides += str_starts(symbol.name, hidden) || str_starts(symbol.name, "___hidden#");
            }
            machsym_session_close(session);
        }
        machsym_image_close(image);
    }
    bcsymbolmap_close(names);
    return hides * 2 > count;
}

/* Looks at the dSYM of a row. Returns false after a message when the system fails. */
static bool check_dsym(const check_options *o, check_row *row)
{
    const check_file *file = row->dsym;
    store_worth worth;
    if (!store_cmd_judge(file->path, file->slice.arch, &file->slice.uuid, &o->how, &worth))
        return false;
    if (!worth.opens || worth.damage > 0) {
        row->state = CHECK_DAMAGED;
        check_put_error(&row->why, file->path, &worth.err);
    } else if (!file->is_dsym) {
        check_set(row, CHECK_NOT_DSYM, "a program lies in the place of its debug info");
    } else if (worth.debug_bytes == 0 || !worth.told.has_lines) {
        check_set(row, CHECK_NO_LINES, "its dSYM has no debug info with functions and lines");
    } else if (check_hides_names(file)) {
        check_set(row, CHECK_HIDDEN, "a bitcode build hid its names, and no .bcsymbolmap of it is here");
    }
    return true;
}

/* A dSYM of the image's name is of another build, if it has another UUID. */
static const check_file *check_other_build(const check_files *files, const check_file *image)
{
    machsym_str name = str_base_name(str_c(image->path));
    for (size_t i = 0; i < files->count; i++) {
        const check_file *other = &files->v[i];
        if (other->is_in_bundle && str_equal(str_base_name(str_c(other->path)), name) &&
            strcmp(other->slice.arch, image->slice.arch) == 0)
            return other;
    }
    return NULL;
}

static void check_say_no_dsym(const check_files *files, check_row *row)
{
    const check_file *other = check_other_build(files, row->image);
    check_set(row, CHECK_NO_DSYM, "no dSYM has this UUID");
    if (other == NULL)
        return;
    text_c(&row->why, "; the one of this name is of another build, UUID ");
    text_uuid(&row->why, &other->slice.uuid);
}

/* Decides on a row. Returns false after a message when the system fails. */
static bool check_one(const check_options *o, const check_files *files, check_row *row)
{
    store_worth worth;
    const check_file *image = row->image;
    if (image != NULL && !image->slice.has_uuid) {
        check_set(row, CHECK_NO_UUID, "nothing can be told to be of its build: link it with a UUID");
        return true;
    }
    if (image != NULL) {
        if (!store_cmd_judge(image->path, image->slice.arch, &image->slice.uuid, &o->how, &worth))
            return false;
        if (worth.is_encrypted) {
            check_set(row, CHECK_ENCRYPTED,
                      "an app store encrypted the program: its names outside debug info are lost");
            return true;
        }
        if (!worth.opens || worth.damage > 0) {
            row->state = CHECK_DAMAGED;
            check_put_error(&row->why, image->path, &worth.err);
            return true;
        }
    }
    if (row->dsym != NULL)
        return check_dsym(o, row);
    check_say_no_dsym(files, row);
    return true;
}

/* ---- All of them ---- */

static void check_print(const check_options *o, const check_row *row)
{
    const check_file *any = row->image != NULL ? row->image : row->dsym;
    machsym_str name = str_base_name(str_c(any->path));
    text t = {0};
    text uuid = {0};
    if (o->json) {
        json_begin(&t, "check");
        json_put_uuid(&t, "uuid", any->slice.has_uuid ? &any->slice.uuid : NULL);
        json_put_str(&t, "arch", str_c(any->slice.arch));
        json_put_str(&t, "name", name);
        json_put_str(&t, "state", str_c(state_words[row->state][1]));
        json_put_str(&t, "why", (machsym_str){row->why.v, row->why.len});
        json_put_str(&t, "image", str_c(row->image != NULL ? row->image->path : ""));
        json_put_str(&t, "dsym", str_c(row->dsym != NULL ? row->dsym->path : ""));
        text_c(&t, "}\n");
        out_text(&t);
    } else {
        if (any->slice.has_uuid)
            text_uuid(&uuid, &any->slice.uuid);
        out_line("%-12s  %.*s (%s)%s%s%s%.*s", state_words[row->state][0], (int)name.len, name.ptr,
                 any->slice.arch, uuid.len > 0 ? "  " : "", uuid.len > 0 ? text_z(&uuid) : "",
                 row->why.len > 0 ? ": " : "", (int)row->why.len, row->why.len > 0 ? row->why.v : "");
    }
    text_free(&t);
    text_free(&uuid);
}

static bool check_is_excepted(const check_options *o, const check_row *row)
{
    machsym_str name = str_base_name(str_c(row->image != NULL ? row->image->path : row->dsym->path));
    for (size_t i = 0; i < o->except_count; i++) {
        machsym_str pattern = str_c(o->except[i]);
        bool is_begin = pattern.len > 0 && pattern.ptr[pattern.len - 1] == '*';
        pattern.len -= is_begin;
        if (is_begin ? name.len >= pattern.len && memcmp(name.ptr, pattern.ptr, pattern.len) == 0
                     : str_equal(name, pattern))
            return true;
    }
    return false;
}

/* The row of the files from *at on that have one UUID and architecture; those that have no UUID are a row
 * each. */
static check_row check_next_row(const check_files *files, size_t *at)
{
    check_row row = {0};
    const check_file *first = &files->v[*at];
    do {
        const check_file *file = &files->v[(*at)++];
        bool is_debug = file->is_dsym || file->is_in_bundle;
        if (!is_debug && row.image == NULL)
            row.image = file;
        else if (is_debug && (row.dsym == NULL || (file->is_dsym && !row.dsym->is_dsym)))
            row.dsym = file;
    } while (*at < files->count && first->slice.has_uuid && files->v[*at].slice.has_uuid &&
             memcmp(&first->slice.uuid, &files->v[*at].slice.uuid, sizeof first->slice.uuid) == 0 &&
             strcmp(first->slice.arch, files->v[*at].slice.arch) == 0);
    return row;
}

static bool check_all(const check_options *o, const check_files *files)
{
    size_t counts[2] = {0, 0}; /* good; not */
    size_t excepted = 0;
    bool ok = true;
    for (size_t at = 0; at < files->count && !out_failed();) {
        say_progress("check", at, files->count);
        check_row row = check_next_row(files, &at);
        if (check_is_excepted(o, &row)) {
            excepted++;
        } else if (check_one(o, files, &row)) {
            say_progress_end();
            check_print(o, &row);
            counts[row.state != CHECK_OK]++;
        } else {
            ok = false;
        }
        text_free(&row.why);
    }
    size_t all = counts[0] + counts[1];
    say_progress_end();
    if (!o->json && excepted > 0)
        out_line("%zu image%s: %zu ok, %zu not; %zu left out by --except", all, all == 1 ? "" : "s",
                 counts[0], counts[1], excepted);
    else if (!o->json)
        out_line("%zu image%s: %zu ok, %zu not", all, all == 1 ? "" : "s", counts[0], counts[1]);
    return ok && counts[1] == 0;
}

static int check_run(int argc, char **argv)
{
    static check_options o;
    check_files files = {.v = NULL};
    memset(&o, 0, sizeof o);
    int count = options_parse(&check_command, &o, argc, argv);
    if (count < 0)
        return options_status(count);
    if (count == 0)
        return options_wrong(&check_command, "name an .xcarchive, an .ipa, a zip, a folder or files");
    bool ok = check_gather(&o, argv + 1, (size_t)count, &files);
    if (ok && files.count == 0) {
        say_message("%s: neither a program nor a dSYM: name an .xcarchive, an .ipa or a folder with both",
                    argv[1]);
        ok = false;
    }
    ok = (files.count == 0 || check_all(&o, &files)) && ok;
    free(files.v);
    path_list_free(&files.paths);
    return ok ? TOOL_OK : TOOL_ERROR;
}

static bool check_take(const char **v, size_t *count, size_t most, const char *name, const char *value)
{
    if (*count == most) {
        say_message("at most %zu %s", most, name);
        return false;
    }
    v[(*count)++] = value;
    return true;
}

static bool check_take_also(void *field, const char *value)
{
    check_options *o = field;
    return check_take(o->also, &o->also_count, MAX_ALSO, "-d", value);
}

static bool check_take_except(void *field, const char *value)
{
    check_options *o = field;
    return check_take(o->except, &o->except_count, MAX_EXCEPT, "--except", value);
}

static const option table[] = {
    {"d symbols", "PATH", "more dSYMs: a file, a folder, an archive; may repeat", 0, check_take_also},
    {"except", "NAME", "leave images of this name out, * at its end for all that begin so; may repeat", 0,
     check_take_except},
    {"j", "N", "threads; without it one for each processor that may be used",
     offsetof(check_options, how.jobs), take_jobs},
    {"json", NULL, "one JSON object for each image", offsetof(check_options, json), NULL},
    {0},
};

const command check_command = {
    "check",
    "before a release or an upload: has every image its dSYM, whole and with lines?",
    "[options] PATH...",
    "Tells of each image of an .xcarchive, an .ipa, a zip, a folder or of files whether crashes of it can "
    "be\n"
    "read: whether its dSYM is there, by UUID; is a dSYM, no program in its place; has functions and lines;\n"
    "is whole, since all of it is decoded; and whether names are hidden or the program is encrypted. A dSYM\n"
    "alone is looked at, too. One line for each image, then the total.\n",
    {{table, 0}},
    "exit status: 0 all are well, 1 one is not, or cannot be read, 2 usage\n",
    check_run,
    NULL,
};
