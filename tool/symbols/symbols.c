/* Files of one UUID; see symbols.h. */
#include "symbols.h"
#include "../base/posix.h"
#include "../base/readfile.h"
#include "../base/say.h"
#include "layout.h"

#include <string.h>
#include <sys/stat.h>

bool uuid_files_find(const store *s, const machsym_uuid *uuid, machsym_str arch, uuid_files *out)
{
    size_t count = store_find(s, uuid, arch, out->v, MAX_UUID_FILES);
    out->count = count < MAX_UUID_FILES ? count : MAX_UUID_FILES;
    return count > 0;
}

const store_entry *uuid_files_kind(const uuid_files *files, store_kind kind)
{
    for (size_t i = 0; i < files->count; i++) {
        if (files->v[i]->kind == kind)
            return files->v[i];
    }
    return NULL;
}

bool uuid_files_has_macho(const uuid_files *files)
{
    return files->count > 0 && files->v[files->count - 1]->kind != STORE_MAP;
}

/* ---- Which of them answers ---- */

static void uuid_add_bad(uuid_choice *c, const char *path, const char *why)
{
    if (c->bad_count == MAX_UUID_FILES)
        return;
    c->bad[c->bad_count] = path;
    c->why[c->bad_count++] = why;
}

/* A file that the system, or memory, was in the way of may be whole. */
static void uuid_note_unread(uuid_choice *c, const machsym_error *err)
{
    bool is_fault = err->code == MACHSYM_ERR_IO && posix_is_fault(err->os_errno);
    if (err->code == MACHSYM_ERR_MEMORY || is_fault)
        c->unread = err->what;
}

/* Takes a file that opened; a damaged one only in case that nothing else is found. Returns whether the
 * search is over. */
static bool uuid_take_file(uuid_choice *c, const symbol_file *file, const store_entry *entry)
{
    machsym_image_info info;
    if (!open_read_info(file->image, &info))
        c->lacks_memory = true;
    if (info.damage_count == 0) {
        c->file = *file;
        c->used = entry;
        return true;
    }
    if (c->bad_count < MAX_UUID_FILES)
        open_put_damage(&c->damage[c->bad_count], &info);
    uuid_add_bad(c, entry->path, info.damage.what);
    if (c->damaged_entry == NULL) {
        c->damaged = *file;
        c->damaged_entry = entry;
    } else {
        symbol_file unused = *file;
        symbol_file_close(&unused);
    }
    return false;
}

/* A map of another line policy, or without the objects that rules ask for, is only second best. */
static bool uuid_try_map(uuid_choice *c, const store_entry *entry, bool any_lines)
{
    symbol_desc desc;
    symbol_file file;
    machsym_error err;
    memset(&desc, 0, sizeof desc);
    desc.open.path = entry->path;
    desc.open.flags = c->desc->open_flags;
    desc.lines = c->desc->lines;
    desc.any_lines = any_lines;
    if (symbol_file_open(&desc, &file, &err) == MACHSYM_OK)
        return uuid_take_file(c, &file, entry);
    c->lacks_memory |= err.code == MACHSYM_ERR_MEMORY;
    uuid_note_unread(c, &err);
    if (err.code != MACHSYM_ERR_POLICY)
        uuid_add_bad(c, entry->path, err.what);
    return false;
}

/* A dSYM and the binary of the same UUID answer together. */
static bool uuid_try_macho(uuid_choice *c, const store_entry *entry, const store_entry *pair)
{
    symbol_desc desc;
    symbol_file file;
    machsym_error err;
    memset(&desc, 0, sizeof desc);
    desc.open.path = entry->path;
    desc.open.pair_path = pair != NULL ? pair->path : NULL;
    desc.open.uuid = c->desc->uuid;
    desc.open.flags = c->desc->open_flags;
    if (c->desc->objects != NULL)
        object_options_apply(c->desc->objects, &desc.open);
    desc.lines = c->desc->lines;
    if (symbol_file_open(&desc, &file, &err) == MACHSYM_OK)
        return uuid_take_file(c, &file, entry);
    const char *pair_fails = err.what;
    c->lacks_memory |= err.code == MACHSYM_ERR_MEMORY;
    uuid_note_unread(c, &err);
    desc.open.pair_path = NULL;
    if (pair != NULL && symbol_file_open(&desc, &file, &err) == MACHSYM_OK) {
        uuid_add_bad(c, pair->path, pair_fails);
        return uuid_take_file(c, &file, entry);
    }
    c->lacks_memory |= err.code == MACHSYM_ERR_MEMORY;
    uuid_note_unread(c, &err);
    uuid_add_bad(c, entry->path, err.what);
    return false;
}

static bool uuid_try_kind(uuid_choice *c, const uuid_files *files, store_kind kind, bool any_lines)
{
    const store_entry *pair = kind == STORE_DSYM ? uuid_files_kind(files, STORE_BINARY) : NULL;
    for (size_t i = 0; i < files->count; i++) {
        const store_entry *entry = files->v[i];
        if (entry->kind == kind &&
            (kind == STORE_MAP ? uuid_try_map(c, entry, any_lines) : uuid_try_macho(c, entry, pair)))
            return true;
    }
    return false;
}

/* Maps answer fastest. Of a damaged dSYM more is left than a binary has. */
static bool uuid_try_all(uuid_choice *c, const uuid_files *files)
{
    bool has_macho = uuid_files_has_macho(files);
    if (!(c->desc->no_maps && has_macho) &&
        uuid_try_kind(c, files, STORE_MAP, c->desc->any_lines && !has_macho))
        return true;
    if (uuid_try_kind(c, files, STORE_DSYM, false))
        return true;
    return c->damaged_entry == NULL &&
           (uuid_try_kind(c, files, STORE_BINARY, false) || uuid_try_kind(c, files, STORE_CACHE, false));
}

void uuid_choice_open(uuid_choice *c, const uuid_choice_desc *desc, const uuid_files *files)
{
    memset(c, 0, sizeof *c);
    c->desc = desc;
    c->is_whole = uuid_try_all(c, files);
    if (c->is_whole && c->damaged_entry != NULL) {
        symbol_file_close(&c->damaged);
    } else if (!c->is_whole && c->damaged_entry != NULL) {
        c->file = c->damaged;
        c->used = c->damaged_entry;
    }
}

void uuid_choice_end(uuid_choice *c, text *complaints)
{
    for (size_t i = 0; i < c->bad_count; i++) {
        size_t from = complaints->len;
        text_add(complaints, c->damage[i].v, c->damage[i].len);
        if (c->damage[i].len == 0) {
            text_c(complaints, c->bad[i]);
            text_c(complaints, ": ");
            text_c(complaints, c->why[i]);
        }
        text_escape(complaints, from);
        text_free(&c->damage[i]);
        if (c->used != NULL && c->used->path != c->bad[i]) {
            text_c(complaints, "; taken in its place: ");
            text_shown(complaints, str_c(c->used->path));
        }
        text_char(complaints, '\n');
    }
}

/* ---- --symbols ---- */

static bool uuid_take_path(void *field, const char *value)
{
    symbols_options *to = field;
    if (to->path_count == MAX_SYMBOL_PATHS) {
        say_message("at most %d --symbols", (int)MAX_SYMBOL_PATHS);
        return false;
    }
    to->paths[to->path_count++] = value;
    return true;
}

const char *symbols_fault(const symbols_options *from, const image_options *image)
{
    if (from->path_count == 0)
        return NULL;
    if (image->member != NULL)
        return "--member is of a file that is named: not with --symbols";
    return image->uuid.is_set ? NULL : "--symbols needs --uuid: which image to look for";
}

const option symbols_option_table[] = {
    {"symbols", "PATH",
     "find the file by its --uuid: in a folder and all below it, an archive, a\nstore; maps and dSYMs, as "
     "machsym crash -d does; may repeat",
     0, uuid_take_path},
    {"no-cache", NULL, "... look through all folders anew, and remember nothing",
     offsetof(symbols_options, no_cache), NULL},
    {0},
};

void symbols_add_kept(store *s, const char *dir, const machsym_uuid *uuid)
{
    static const char *const endings[] = {LAYOUT_MAP, LAYOUT_DSYM, LAYOUT_BINARY};
    text path = {0};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        struct stat st;
        path.len = 0;
        layout_path(&path, dir, uuid, endings[i]);
        if (file_stat(path.v, &st))
            store_add(s, path.v, false);
    }
    text_free(&path);
}

/* The one UUID in the stores named, or in all that lies below the folders. */
static store *uuid_look(const symbols_options *from, const machsym_uuid *uuid, machsym_str arch, bool all,
                        uuid_files *out)
{
    store_options how = {from->no_cache || !all}; /* of one bundle an index is not worth its file */
    store *s = store_open(&how);
    for (size_t i = 0; i < from->path_count; i++) {
        if (all)
            store_add(s, from->paths[i], false);
        else
            symbols_add_kept(s, from->paths[i], uuid);
    }
    store_finish(s);
    if (uuid_files_find(s, uuid, arch, out))
        return s;
    store_close(s);
    return NULL;
}

/* A file in the UUID's place of a store that has another UUID tells so itself. */
static bool uuid_say_misplaced(const symbols_options *from, const machsym_uuid *uuid)
{
    bool found = false;
    for (size_t i = 0; i < from->path_count && !found; i++) {
        symbol_desc desc;
        symbol_file file;
        struct stat st;
        text path = {0};
        memset(&desc, 0, sizeof desc);
        layout_path(&path, from->paths[i], uuid, LAYOUT_MAP);
        desc.open.path = path.v;
        desc.open.uuid = uuid;
        desc.any_lines = true;
        found = stat(path.v, &st) == 0;
        if (found && symbol_file_open_or_say(&desc, &file))
            symbol_file_close(&file);
        text_free(&path);
    }
    return found;
}

store *symbols_find(const symbols_options *from, const machsym_uuid *uuid, const char *arch, uuid_files *out)
{
    machsym_str wanted = str_c(arch != NULL ? arch : "");
    text written = {0};
    store *s = uuid_look(from, uuid, wanted, false, out);
    if (s == NULL)
        s = uuid_look(from, uuid, wanted, true, out);
    if (s != NULL || uuid_say_misplaced(from, uuid))
        return s;
    text_uuid(&written, uuid);
    say_message("%s%s: no file has UUID %s%s%s", from->paths[0],
                from->path_count > 1 ? " and the others" : "", text_z(&written),
                arch != NULL ? " and architecture " : "", arch != NULL ? arch : "");
    text_free(&written);
    return NULL;
}

/* Whether nothing in a file is damaged; else why, in *why. */
static bool uuid_is_whole(const store_entry *entry, const machsym_uuid *uuid, text *why)
{
    symbol_desc desc;
    symbol_file file;
    machsym_image_info info;
    machsym_error err;
    memset(&desc, 0, sizeof desc);
    desc.open.path = entry->path;
    desc.open.uuid = uuid;
    desc.open.flags = MACHSYM_OPEN_NO_PAIR;
    desc.any_lines = true;
    if (symbol_file_open(&desc, &file, &err) != MACHSYM_OK) {
        text_c(why, entry->path);
        text_c(why, ": ");
        text_c(why, err.what);
        return false;
    }
    open_read_info(file.image, &info);
    open_put_damage(why, &info);
    symbol_file_close(&file);
    return why->len == 0;
}

/* The first of a kind that is whole; the first of all when none is. Says which are passed over. */
static const store_entry *uuid_best_of(const uuid_files *files, const machsym_uuid *uuid, store_kind kind)
{
    const store_entry *first = uuid_files_kind(files, kind);
    const store_entry *best = NULL;
    text why[MAX_UUID_FILES] = {{0}};
    size_t count = 0;
    for (size_t i = 0; i < files->count; i++)
        count += files->v[i]->kind == kind;
    for (size_t i = 0; i < files->count && count > 1 && best == NULL; i++)
        best = files->v[i]->kind == kind && uuid_is_whole(files->v[i], uuid, &why[i]) ? files->v[i] : NULL;
    for (size_t i = 0; i < files->count; i++) {
        if (best != NULL && why[i].len != 0)
            say_message("%s; taken in its place: %s", text_z(&why[i]), best->path);
        text_free(&why[i]);
    }
    return best != NULL ? best : first;
}

store *symbols_find_macho(const symbols_options *from, const machsym_uuid *uuid, const char *arch,
                          const char **path, const char **pair)
{
    uuid_files files;
    store *s = symbols_find(from, uuid, arch, &files);
    if (s == NULL)
        return NULL;
    const store_entry *dsym = uuid_best_of(&files, uuid, STORE_DSYM);
    const store_entry *binary = uuid_best_of(&files, uuid, STORE_BINARY);
    *path = dsym != NULL ? dsym->path : binary != NULL ? binary->path : files.v[0]->path;
    *pair = dsym != NULL && binary != NULL ? binary->path : NULL;
    return s;
}
