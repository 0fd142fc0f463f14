/* ==== >> cmd/store/add ====
 * Job: the command that takes files into a store.
 * Offers: the command.
 * Never: removes what is better.
 *
 * machsym store add: takes files into a store. */
#include "machsym.h"
#include "../../../report/base/digits.h"
#include "../../../report/base/json_put.h"
#include "../../../report/base/text.h"
#include "../../base/options.h"
#include "../../base/out.h"
#include "../../base/posix.h"
#include "../../base/readfile.h"
#include "../../base/say.h"
#include "../../base/takes.h"
#include "../map/build.h"
#include "store.h"
#include "../../files/inside.h"
#include "../../files/members.h"
#include "../../files/open.h"
#include "../../files/outfile.h"
#include "../../symbols/bcsymbolmap.h"
#include "../../symbols/keep.h"
#include "../../symbols/layout.h"
#include "../../symbols/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_NAME_MAPS = 64, MAX_STORED_NAME = 200 };

typedef enum keep_what { KEEP_BOTH = 0, KEEP_DSYMS, KEEP_MAPS } keep_what;

typedef struct add_command {
    const char *dir;
    keep_what keep;
    lines_option lines;
    uint32_t names;
    const char *name_maps[MAX_NAME_MAPS];
    size_t name_map_count;
    bool force;
    bool json;
    build_options how;
} add_command;

/* What is being added. */
typedef struct addition {
    const add_command *c;
    const char *path; /* as it was named */
    machsym_uuid uuid;
    const char *name; /* of the image */
    const char *arch;
    text version;
    text build;
    bool is_new;      /* a part of it was not in the store */
    bool is_replaced; /* a file took the place of another one of its kind */
    const char *why;  /* what that has, or the one that stays; empty: the files are the same */
} addition;

/* The files that an addition writes, in this order: those that say more first, so that no map stays that says
 * less than the file beside it. */
enum { NEW_PLIST = 0, NEW_NAMES, NEW_MAP, NEW_FILE, NEW_COUNT };

typedef struct addition_file {
    text path; /* in the store; empty: nothing is written */
    outfile out;
    bool is_begun;
} addition_file;

/* An image on its way into the store. */
typedef struct adding {
    addition *a;
    const machsym_image *image; /* NULL: a map was named */
    const machsym_image_info *info;
    bool is_dsym;
    bool is_judged;
    store_worth worth; /* of the file, once it is judged */
    text plist;
    bcsymbolmap *hidden; /* the names that a bitcode build hid */
    kept_files there;
    kept_stamp stamp;
    addition_file files[NEW_COUNT];
} adding;

/* ---- Writing ---- */

/* Opens a file of the store, in folders that are made. Says why it cannot, and returns false. */
static bool adding_begin(outfile *out, const char *path)
{
    if (!outfile_make_folders(path))
        say_message("%s: %s", path, outfile_error(errno));
    else if (!outfile_begin(out, path, OUTFILE_OWN))
        say_message("%s: %s", path, outfile_error(out->failure));
    else
        return true;
    return false;
}

static bool adding_begin_bytes(addition_file *file, const void *ptr, size_t len)
{
    text bytes = {0};
    text_add(&bytes, ptr, len);
    file->is_begun = adding_begin(&file->out, file->path.v);
    if (file->is_begun)
        outfile_put(&file->out, &bytes);
    text_free(&bytes);
    return file->is_begun;
}

static bool adding_begin_copy(addition_file *file, const char *path, const machsym_slice *slice)
{
    file->is_begun = adding_begin(&file->out, file->path.v);
    const char *why = file->is_begun ? inside_copy(path, slice->offset, slice->size, &file->out) : NULL;
    if (why != NULL)
        say_message("%s: %s", path, why);
    return file->is_begun && why == NULL;
}

/* Gives the file its name, or drops it. */
static bool adding_end_file(addition_file *file, bool ok)
{
    text rest = {0};
    if (file->is_begun)
        ok = outfile_end(&file->out, &rest, ok) && ok;
    file->is_begun = false;
    file->path.len = 0;
    return ok;
}

/* The file name of an image in the store: what a terminal or a file system could take for something else
 * is replaced. */
static void adding_put_file_name(text *t, machsym_str name)
{
    for (size_t i = 0; i < name.len && i < MAX_STORED_NAME; i++) {
        char c = name.ptr[i];
        bool is_odd = (unsigned char)c < ' ' || c == 127 || strchr("/\\:", c) != NULL || (i == 0 && c == '.');
        text_char(t, is_odd ? '_' : c);
    }
    text_c(t, name.len == 0 ? "image" : "");
    text_z(t);
}

/* ---- What lies beside the symbols ---- */

/* Reads a file of the store, if it is there. Returns false after a message. */
static bool adding_read_kept(const char *path, text *out)
{
    struct stat st;
    if (!file_stat(path, &st))
        return !posix_is_fault(errno);
    const char *why = file_read(out, path);
    if (why != NULL)
        say_message("%s: %s", path, why);
    return why == NULL;
}

/* How many of version and build an Info.plist tells. */
static unsigned adding_plist_tells(const text *plist)
{
    text version = {0};
    text build = {0};
    machsym_error err;
    bool ok = kept_version(str_make(plist->v, plist->len), &version, &build, &err);
    unsigned count = ok ? (unsigned)(version.len > 0) + (build.len > 0) : 0;
    text_free(&version);
    text_free(&build);
    return count;
}

/* Whether bytes take the place of others: the longer ones do, of equal length those that sort later. So two
 * Info.plists of a UUID leave the same one in whatever order they come. */
static bool adding_is_more(const text *is, machsym_str bytes)
{
    if (is->len != bytes.len)
        return bytes.len > is->len;
    return bytes.len > 0 && memcmp(bytes.ptr, is->v, bytes.len) > 0;
}

/* Decides on a file beside the symbols: its path is set if it is to be written. */
static bool adding_decide_beside(adding *w, int which, const char *ending, machsym_str bytes)
{
    text is = {0};
    text *path = &w->files[which].path;
    if (bytes.len == 0)
        return true;
    layout_path(path, w->a->c->dir, &w->a->uuid, ending);
    bool ok = adding_read_kept(path->v, &is);
    unsigned before = which == NEW_PLIST ? adding_plist_tells(&is) : 0;
    unsigned now = which == NEW_PLIST ? adding_plist_tells(&w->plist) : 0;
    bool is_better = is.len == 0 || (now != before ? now > before : adding_is_more(&is, bytes));
    if (!ok || !(w->a->c->force || is_better))
        path->len = 0;
    text_free(&is);
    return ok;
}

/* The Info.plist, and the names that a bitcode build hid. */
static void adding_read_extras(adding *w)
{
    addition *a = w->a;
    text path = {0};
    machsym_error err;
    bool ok = kept_find_plist(w->info->path, &w->plist, &path, &err);
    ok = ok && (w->plist.len == 0 ||
                kept_version(str_make(w->plist.v, w->plist.len), &a->version, &a->build, &err));
    if (!ok) {
        say_error(path.v, &err);
        status_note_damage();
    }
    w->hidden = bcsymbolmap_find(w->info->path, &a->uuid, a->c->name_maps, a->c->name_map_count);
    text_free(&path);
}

/* ---- Which file stays ---- */

/* The Mach-O file that the store has of the same kind. */
static const text *adding_same_kind(const adding *w)
{
    return w->is_dsym ? &w->there.dsym : &w->there.binary;
}

/* Compares a slice with a file of the store. Returns 1 when they are equal, 0 when not, -1 after a
 * message. */
static int adding_compare_bytes(const char *path, const machsym_slice *slice, const char *kept)
{
    enum { STEP = 1 << 20 };
    struct stat st;
    text a = {0};
    text b = {0};
    int same = stat(kept, &st) == 0 && (uint64_t)st.st_size == slice->size;
    for (uint64_t at = 0; same == 1 && at < slice->size; at += STEP) {
        uint64_t len = slice->size - at < STEP ? slice->size - at : STEP;
        a.len = b.len = 0;
        if (!store_cmd_read_part(path, slice->offset + at, len, &a) ||
            !store_cmd_read_part(kept, at, len, &b)) {
            say_message("%s: cannot be compared with %s: %s", path, kept, strerror(errno));
            same = -1;
        } else {
            same = a.len == len && b.len == len && memcmp(a.v, b.v, a.len) == 0;
        }
    }
    text_free(&a);
    text_free(&b);
    return same;
}

static bool adding_judge_new(adding *w)
{
    const machsym_image_info *info = w->info;
    if (w->is_judged)
        return true;
    w->is_judged = store_cmd_judge(info->path, info->slice.arch, &w->a->uuid, &w->a->c->how, &w->worth);
    return w->is_judged;
}

/* Decides on the file: of its kind the better one stays. */
static bool adding_decide_file(adding *w)
{
    addition *a = w->a;
    const text *kept = adding_same_kind(w);
    store_worth before;
    bool is_put = true;
    a->why = "";
    a->is_replaced = false;
    if (a->c->keep == KEEP_MAPS)
        return true;
    int same = kept->len > 0 ? adding_compare_bytes(w->info->path, &w->info->slice, kept->v) : 0;
    if (same < 0)
        return false;
    if (kept->len > 0 && !a->c->force && same == 1) {
        is_put = false;
    } else if (kept->len > 0 && !a->c->force) {
        if (!adding_judge_new(w) || !store_cmd_judge(kept->v, NULL, &a->uuid, &a->c->how, &before))
            return false;
        is_put = store_cmd_compare_worth(&w->worth, &before, &a->why) > 0;
        a->is_replaced = is_put;
    }
    if (!is_put)
        return true;
    text *path = &w->files[NEW_FILE].path;
    if (kept->len > 0 && !(w->there.is_old && !w->is_dsym)) { /* the new file takes its place, and its name */
        text_add(path, kept->v, kept->len);
        return true;
    }
    layout_path(path, a->c->dir, &a->uuid, w->is_dsym ? LAYOUT_DSYM : LAYOUT_BINARY);
    path->len--;
    text_c(path, w->is_dsym ? "/Contents/Resources/DWARF/" : "/");
    adding_put_file_name(path, kept->len > 0 ? str_base_name(str_c(kept->v)) : str_c(a->name));
    text_add(path, "", 1);
    return true;
}

/* ---- Maps ---- */

/* What is known of the map that the store has. */
typedef struct map_there {
    bool is; /* a whole one, of this UUID */
    machsym_lines lines;
    store_told told;
    machsym_map *map;
} map_there;

/* Returns false after a message when the system fails to read it. */
static bool adding_open_there(const addition *a, map_there *out)
{
    machsym_map_desc desc = {.flags = 0};
    machsym_map_info info;
    machsym_error err;
    text path = {0};
    memset(out, 0, sizeof *out);
    layout_path(&path, a->c->dir, &a->uuid, LAYOUT_MAP);
    desc.path = path.v;
    bool ok = true;
    if (machsym_map_open(&desc, &out->map, &err) == MACHSYM_OK) {
        machsym_map_get_info(out->map, &info);
        out->is = memcmp(&info.uuid, &a->uuid, sizeof a->uuid) == 0;
        out->lines = info.lines;
        out->told = store_cmd_told_of(out->map);
    } else if (err.code == MACHSYM_ERR_MEMORY || posix_is_fault(err.os_errno)) {
        say_error(path.v, &err);
        ok = false;
    }
    text_free(&path);
    return ok;
}

/* Builds the map of a dSYM, of a binary, or of both. Returns NULL after a message. */
static machsym_map *adding_build_map(const adding *w, const char *path, const char *pair, machsym_lines lines,
                                     machsym_part_info *counts, bool says)
{
    machsym_open_desc open;
    machsym_plan_desc desc;
    machsym_image_info info;
    machsym_image *image;
    machsym_error err;
    memset(&open, 0, sizeof open);
    memset(&desc, 0, sizeof desc);
    open.path = path;
    open.pair_path = pair;
    open.uuid = &w->a->uuid;
    open.arch = w->info->slice.arch;
    open.flags = pair == NULL ? MACHSYM_OPEN_NO_PAIR : 0;
    if (inside_image_open(&open, &image, &err) != MACHSYM_OK) {
        if (pair != NULL && err.code != MACHSYM_ERR_MEMORY && !posix_is_fault(err.os_errno))
            return adding_build_map(w, path, NULL, lines, counts, says); /* the other half is no good */
        say_error(path, &err);
        return NULL;
    }
    desc.image = image;
    desc.lines = lines;
    desc.names = w->a->c->names;
    desc.flags = MACHSYM_MAP_DAMAGED | MACHSYM_MAP_UNWIND;
    machsym_map *map = build_image(&desc, path, &w->a->c->how, counts);
    open_read_info(image, &info);
    bool is_damaged = map != NULL && store_cmd_told_of(map).is_damaged;
    if (is_damaged && pair != NULL) { /* what is damaged may be in the other half */
        machsym_map *alone = adding_build_map(w, path, NULL, lines, counts, says);
        store_told both = store_cmd_told_of(map);
        store_told one = alone != NULL ? store_cmd_told_of(alone) : both;
        bool is_better = alone != NULL && store_cmd_compare_told(&one, &both) > 0;
        machsym_map_close(is_better ? map : alone);
        map = is_better ? alone : map;
    } else if (is_damaged && says) {
        build_say_lost(path, &info, counts, map);
    }
    machsym_image_close(image);
    return map;
}

/* The map of what the store will have: of the dSYM and the binary. One of them may be new. */
static machsym_map *adding_build_new(adding *w, machsym_lines lines)
{
    machsym_part_info counts;
    bool is_new = w->files[NEW_FILE].path.len > 0 || w->a->c->keep == KEEP_MAPS;
    const char *own = is_new ? w->info->path : adding_same_kind(w)->v;
    const char *dsym = w->is_dsym ? own : w->there.dsym.len > 0 ? w->there.dsym.v : NULL;
    const char *binary = !w->is_dsym ? own : w->there.binary.len > 0 ? w->there.binary.v : NULL;
    return dsym != NULL ? adding_build_map(w, dsym, binary, lines, &counts, true)
                        : adding_build_map(w, binary, NULL, lines, &counts, true);
}

/* Whether a map takes the place of another: not one with lines by one without, nor a whole one by a damaged
 * one; but another policy does, and what is made of better files. */
static bool adding_takes_place(const adding *w, const map_there *there, machsym_lines lines,
                               const machsym_map *map)
{
    store_told now = store_cmd_told_of(map);
    machsym_bytes a = machsym_map_bytes(map);
    bool is_of_files = w->image != NULL && w->a->c->keep != KEEP_MAPS; /* of the store */
    if (!there->is || w->a->c->force)
        return true;
    if (now.has_lines != there->told.has_lines)
        return now.has_lines;
    if (now.is_damaged != there->told.is_damaged)
        return !now.is_damaged;
    if (there->lines != lines)
        return true;
    int by = store_cmd_compare_told(&now, &there->told);
    machsym_bytes b = machsym_map_bytes(there->map);
    return by > 0 || (by == 0 && is_of_files && (a.len != b.len || memcmp(a.ptr, b.ptr, a.len) != 0));
}

static bool adding_begin_map(adding *w, const machsym_map *map)
{
    machsym_bytes bytes = machsym_map_bytes(map);
    layout_path(&w->files[NEW_MAP].path, w->a->c->dir, &w->a->uuid, LAYOUT_MAP);
    return adding_begin_bytes(&w->files[NEW_MAP], bytes.ptr, bytes.len);
}

/* Decides on the map, and writes it if it is to be. A store of maps alone cannot tell what the one that is
 * there was made of: it is made each time. */
static bool adding_make_map(adding *w)
{
    const add_command *c = w->a->c;
    map_there there;
    bool has_new = w->files[NEW_FILE].path.len > 0;
    if (!adding_open_there(w->a, &there))
        return false;
    machsym_lines lines = c->keep == KEEP_DSYMS ? there.lines : c->lines.lines;
    bool fits = there.is && there.lines == lines && !there.told.is_damaged &&
                (there.told.has_lines || !w->info->has_dwarf);
    bool wants =
        c->keep == KEEP_DSYMS ? there.is && has_new : c->force || has_new || c->keep == KEEP_MAPS || !fits;
    machsym_map *map = wants ? adding_build_new(w, lines) : NULL;
    bool ok = map != NULL || !wants;
    if (map != NULL && adding_takes_place(w, &there, lines, map))
        ok = adding_begin_map(w, map);
    machsym_map_close(map);
    machsym_map_close(there.map);
    return ok;
}

/* ---- One image ---- */

static void adding_tell_added(addition *a)
{
    text t = {0};
    if (a->c->json) {
        json_begin(&t, "store-add");
        store_cmd_put_json(&t, &a->uuid, a->arch, a->name, text_z(&a->version), text_z(&a->build));
        json_put_str(&t, "file", str_c(a->path));
        json_put_bool(&t, "added", a->is_new);
        json_put_bool(&t, "replaced", a->is_replaced);
        json_put_str(&t, "why", str_c(a->why));
        text_c(&t, "}\n");
        out_text(&t);
    } else {
        text_uuid(&t, &a->uuid);
        text_c(&t, "  ");
        store_cmd_put_name(&t, a->name, text_z(&a->version), text_z(&a->build));
        text_c(&t, ", ");
        text_c(&t, a->arch);
        if (a->why[0] != 0) {
            text_c(&t, a->is_replaced ? "; it takes the place of another file: it "
                                      : "; the file that is there ");
            text_c(&t, a->why);
        }
        out_line("%s  %s", a->is_new ? "added" : "kept ", text_z(&t));
    }
    text_free(&t);
}

/* Says why an image is not for a store. */
static bool adding_refuse(const char *path, const machsym_image_info *info)
{
    text t = {0};
    bool cut = info->damage.is_cut_short;
    open_put_damage(&t, info);
    if (!info->slice.has_uuid)
        say_message("%s: has no UUID: a store has no place for it", path);
    else if (cut)
        say_message("%.*s; it is not added: fetch the whole file", (int)t.len, t.v);
    text_free(&t);
    return cut || !info->slice.has_uuid;
}

/* Reports damage of a file that goes into the store, if no map of it does. */
static bool adding_say_worth(adding *w)
{
    machsym_error err;
    bool is_deep = w->a->c->keep == KEEP_DSYMS && w->files[NEW_FILE].path.len > 0;
    if (is_deep && !adding_judge_new(w))
        return false;
    if (w->is_judged && w->worth.damage > 0) {
        say_fault(w->info->path, &w->worth.err);
        return true;
    }
    if (!store_cmd_is_written(w->image, &err))
        say_fault(w->info->path, &err);
    return true;
}

/* What version 0.1 kept in the dSYM's bundle goes to its own place, when a dSYM comes, or a better binary. */
static bool adding_move_old(const adding *w)
{
    text path = {0};
    bool ok = true;
    if (!w->there.is_old)
        return true;
    if (w->is_dsym) {
        layout_path(&path, w->a->c->dir, &w->a->uuid, LAYOUT_BINARY);
        path.len--;
        text_char(&path, '/');
        text_str(&path, str_base_name(str_c(w->there.binary.v)));
        ok = outfile_make_folders(text_z(&path)) && rename(w->there.binary.v, path.v) == 0;
    }
    if (!ok)
        say_message("%s: %s", w->there.binary.v, strerror(errno));
    text_free(&path);
    return ok;
}

/* Decides and writes, but gives no file its name. */
static bool adding_prepare(adding *w)
{
    const add_command *c = w->a->c;
    machsym_str hidden = w->hidden != NULL ? bcsymbolmap_text(w->hidden) : str_make(NULL, 0);
    bool ok = adding_decide_beside(w, NEW_PLIST, LAYOUT_PLIST, str_make(w->plist.v, w->plist.len)) &&
              adding_decide_beside(w, NEW_NAMES, LAYOUT_NAMES, hidden) && adding_decide_file(w) &&
              adding_say_worth(w) && adding_make_map(w);
    if (ok && w->files[NEW_PLIST].path.len > 0)
        ok = adding_begin_bytes(&w->files[NEW_PLIST], w->plist.v, w->plist.len);
    if (ok && w->files[NEW_NAMES].path.len > 0)
        ok = adding_begin_bytes(&w->files[NEW_NAMES], hidden.ptr, hidden.len);
    if (ok && c->keep != KEEP_MAPS && w->files[NEW_FILE].path.len > 0)
        ok = adding_begin_copy(&w->files[NEW_FILE], w->info->path, &w->info->slice);
    return ok;
}

static bool adding_has_files(const adding *w)
{
    bool has = false;
    for (int i = 0; i < NEW_COUNT; i++)
        has |= w->files[i].is_begun;
    return has;
}

static void adding_drop(adding *w)
{
    for (int i = 0; i < NEW_COUNT; i++)
        adding_end_file(&w->files[i], false);
}

/* Gives the files their names, if the store is as it was when that was decided. Returns 1 when it did, 0 when
 * another run changed the store, -1 after a message. */
static int adding_commit(adding *w)
{
    kept_files now;
    kept_stamp stamp;
    addition *a = w->a;
    bool ok = true;
    int held = kept_hold(a->c->dir, &a->uuid);
    if (held < 0 || !kept_find(a->c->dir, &a->uuid, &now)) {
        if (held >= 0)
            posix_let_go(held);
        return -1;
    }
    kept_stamp_take(a->c->dir, &a->uuid, &now, &stamp);
    bool is_same = memcmp(&stamp, &w->stamp, sizeof stamp) == 0;
    if (is_same) {
        a->is_new |= w->files[NEW_MAP].is_begun || w->files[NEW_FILE].is_begun;
        bool is_file = w->files[NEW_FILE].is_begun;
        for (int i = 0; i < NEW_FILE; i++)
            ok = adding_end_file(&w->files[i], ok) && ok;
        ok = ok && (!is_file || adding_move_old(w));
        ok = adding_end_file(&w->files[NEW_FILE], ok) && ok;
        if (ok && is_file && w->there.is_old && !w->is_dsym && unlink(w->there.binary.v) != 0) {
            say_message("%s: %s", w->there.binary.v, strerror(errno));
            ok = false;
        }
    }
    kept_files_free(&now);
    posix_let_go(held);
    return !is_same ? 0 : ok ? 1 : -1;
}

/* Decides, writes, and begins again when another run was faster. */
static bool adding_put_image(adding *w)
{
    enum { MAX_TRIES = 100 };
    const addition *a = w->a;
    int done = 0;
    for (int i = 0; i < MAX_TRIES && done == 0; i++) {
        if (!kept_find(a->c->dir, &a->uuid, &w->there))
            return false;
        kept_stamp_take(a->c->dir, &a->uuid, &w->there, &w->stamp);
        done = !adding_prepare(w) ? -1 : adding_has_files(w) ? adding_commit(w) : 1;
        adding_drop(w);
        kept_files_free(&w->there);
    }
    if (done == 0)
        say_message("%s: other runs change the store all the time", a->c->dir);
    kept_sweep(a->c->dir, &a->uuid);
    return done > 0;
}

static void adding_free(adding *w)
{
    for (int i = 0; i < NEW_COUNT; i++)
        text_free(&w->files[i].path);
    bcsymbolmap_close(w->hidden);
    text_free(&w->plist);
}

static void adding_free_addition(addition *a)
{
    text_free(&a->version);
    text_free(&a->build);
}

static bool adding_add_image(const add_command *c, const char *path, const machsym_image *image,
                             const machsym_image_info *info)
{
    text name = {0};
    text_str(&name, info->name);
    addition a = {.c = c,
                  .path = path,
                  .uuid = info->slice.uuid,
                  .name = text_z(&name),
                  .arch = info->slice.arch,
                  .why = ""};
    adding w;
    memset(&w, 0, sizeof w);
    w.a = &a;
    w.image = image;
    w.info = info;
    w.is_dsym = info->slice.filetype == 10; /* MH_DSYM */
    adding_read_extras(&w);
    bool ok = adding_put_image(&w);
    if (ok)
        adding_tell_added(&a);
    adding_free(&w);
    adding_free_addition(&a);
    text_free(&name);
    return ok;
}

static bool adding_add_slice(const add_command *c, const char *path, const machsym_slice *slice)
{
    machsym_open_desc desc;
    machsym_image_info info;
    memset(&desc, 0, sizeof desc);
    desc.path = path;
    desc.arch = slice->arch;
    desc.uuid = slice->has_uuid ? &slice->uuid : NULL;
    desc.flags = MACHSYM_OPEN_NO_PAIR;
    machsym_image *image = open_damaged(&desc);
    bool ok = image != NULL && !open_refuse_collection(image);
    if (ok) {
        open_read_info(image, &info);
        ok = !adding_refuse(path, &info);
    }
    if (ok) {
        open_say_damage(image);
        ok = adding_add_image(c, path, image, &info);
    }
    machsym_image_close(image);
    return ok;
}

/* A map that was named. */
static bool adding_put_map(addition *a, const machsym_map *map, machsym_lines lines)
{
    adding w;
    int done = 0;
    memset(&w, 0, sizeof w);
    w.a = a;
    for (int i = 0; i < 100 && done == 0; i++) { /* as put_image */
        map_there there;
        if (!kept_find(a->c->dir, &a->uuid, &w.there))
            return false;
        kept_stamp_take(a->c->dir, &a->uuid, &w.there, &w.stamp);
        bool ok = adding_open_there(a, &there);
        if (ok && adding_takes_place(&w, &there, lines, map))
            ok = adding_begin_map(&w, map);
        machsym_map_close(there.map);
        done = !ok ? -1 : adding_has_files(&w) ? adding_commit(&w) : 1;
        adding_drop(&w);
        kept_files_free(&w.there);
    }
    kept_sweep(a->c->dir, &a->uuid);
    adding_free(&w);
    return done > 0;
}

static bool adding_add_map(const add_command *c, const char *path)
{
    symbol_desc desc;
    symbol_file file;
    machsym_map_info info;
    memset(&desc, 0, sizeof desc);
    desc.open.path = path;
    desc.any_lines = true;
    if (!symbol_file_open_or_say(&desc, &file))
        return false;
    machsym_map_get_info(file.map, &info);
    text name = {0};
    text_str(&name, info.name);
    addition a = {
        .c = c, .path = path, .uuid = info.uuid, .name = text_z(&name), .arch = info.arch, .why = ""};
    bool ok = !symbol_uuid_is_none(&info.uuid);
    if (!ok)
        say_message("%s: has no UUID: a store has no place for it", path);
    if (ok)
        ok = adding_put_map(&a, file.map, info.lines);
    if (ok)
        adding_tell_added(&a);
    adding_free_addition(&a);
    text_free(&name);
    symbol_file_close(&file);
    return ok;
}

/* ---- The command ---- */

static bool adding_add_file(const add_command *c, const char *path)
{
    machsym_slice slices[MACHSYM_MAX_SLICES];
    machsym_open_desc desc;
    machsym_error err;
    if (inside_is_map(path))
        return adding_add_map(c, path);
    memset(&desc, 0, sizeof desc);
    desc.path = path;
    size_t count = inside_list_slices(&desc, slices, MACHSYM_MAX_SLICES, &err);
    bool ok = say_slices(path, count, &err);
    for (size_t i = 0; i < count && i < MACHSYM_MAX_SLICES; i++)
        ok = adding_add_slice(c, path, &slices[i]) && ok;
    return ok;
}

static bool adding_add_path(const add_command *c, const char *path)
{
    path_list files;
    bool ok = inside_expand(path, INSIDE_KEPT, &files);
    for (size_t i = 0; i < files.count; i++) {
        ok = adding_add_file(c, files.v[i]) && ok;
        members_forget();
    }
    path_list_free(&files);
    return ok;
}

/* Whether a folder has something that no store has: a store's folders have two digits for a name. */
static bool adding_has_others(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    bool has = false;
    while (dir != NULL && !has && (entry = posix_next_entry(dir)) != NULL) {
        const char *name = entry->d_name;
        has = name[0] != '.' && !(strlen(name) == 2 && hex_digit(name[0]) >= 0 && hex_digit(name[1]) >= 0);
    }
    if (dir != NULL)
        closedir(dir);
    return has;
}

/* Whether a path leads into a bundle of Apple's: then the arguments were swapped. */
static bool adding_is_in_bundle(const char *path)
{
    static const char *const ends[] = {".dSYM",      ".app",    ".appex", ".framework",
                                       ".xcarchive", ".bundle", ".kext"};
    for (size_t from = 0; path[from] != 0;) {
        size_t len = 0;
        while (path[from + len] != 0 && !posix_is_slash(path[from + len]))
            len++;
        for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
            size_t end = strlen(ends[i]);
            if (len <= end || memcmp(path + from + len - end, ends[i], end) != 0)
                continue;
            char *bundle = str_copy_z(str_make(path, from + len));
            bool is = adding_has_others(bundle);
            free(bundle);
            if (is)
                return true;
        }
        from += len + (path[from + len] != 0);
    }
    return false;
}

static int adding_run(int argc, char **argv)
{
    static add_command c;
    bool ok = true;
    memset(&c, 0, sizeof c);
    c.lines.lines = MACHSYM_LINES_PEOPLE;
    int count = options_parse(&store_add_command, &c, argc, argv);
    if (count < 0)
        return options_status(count);
    if (count < 2)
        return options_wrong(&store_add_command,
                             count == 0 ? "no store is named" : "no file is named to be added");
    if (adding_is_in_bundle(argv[1]))
        return options_wrong(&store_add_command,
                             "the store lies in a bundle; the store comes first, then what is added");
    c.dir = argv[1];
    c.how.progress = isatty(STDERR_FILENO) == 1;
    for (int i = 2; i <= count; i++)
        ok = adding_add_path(&c, argv[i]) && ok;
    return ok ? TOOL_OK : TOOL_ERROR;
}

static bool adding_take_keep(void *field, const char *value)
{
    static const char *const words[] = {"both", "dsyms", "maps"};
    unsigned index;
    if (!take_word("--keep", value, words, 3, &index))
        return false;
    *(keep_what *)field = (keep_what)index;
    return true;
}

static bool adding_take_name_maps(void *to, const char *value)
{
    add_command *c = to;
    bool ok = c->name_map_count < MAX_NAME_MAPS;
    if (ok)
        c->name_maps[c->name_map_count++] = value;
    else
        say_message("at most %d --bcsymbolmap", (int)MAX_NAME_MAPS);
    return ok;
}

static const option table[] = {
    {"keep", "both|dsyms|maps",
     "what is kept of each image: its file, which knows all; a map, which is\nsmall and answers at once; "
     "both "
     "(default)",
     offsetof(add_command, keep), adding_take_keep},
    {"lines", "atos|dwarf|stmt|people",
     "the policy of the maps: people (default), which machsym crash prefers, atos, dwarf or\nstmt",
     offsetof(add_command, lines), take_lines},
    {"names", "symtab|dwarf", HELP_NAMES, offsetof(add_command, names), take_names},
    {"bcsymbolmap", "PATH",
     "a folder or archive of .bcsymbolmap files, or one; those beside a dSYM are found\nanyway", 0,
     adding_take_name_maps},
    {"force", NULL, "write anew what is there already", offsetof(add_command, force), NULL},
    {"j", "N", "threads that make maps; without it one for each processor that may be used",
     offsetof(add_command, how.jobs), take_jobs},
    {"json", NULL, "one JSON object an image", offsetof(add_command, json), NULL},
    {0},
};

const command store_add_command = {
    "store add",
    "takes dSYMs, binaries and maps into a store",
    "[options] DIR FILE ...",
    "Takes the dSYMs of files, archives and folders into the store DIR, which is made when it is not there; "
    "of those\n"
    "without dSYMs their programs. What is there already stays. Each file is written whole or not at all, "
    "and several\n"
    "may add at once.\n",
    {{table, 0}},
    "exit status: 0 all is in the store, 1 a file is damaged or could not be added, 2 usage\n",
    adding_run,
    NULL,
};
