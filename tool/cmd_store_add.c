/* machsym store add: takes files into a store. */
#include "cmd_map.h"
#include "cmd_store.h"
#include "inside.h"
#include "outfile.h"
#include "source.h"
#include "store/bcsymbolmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_NAME_MAPS = 64, MAX_STORED_NAME = 200 };

typedef enum keep_what { KEEP_BOTH = 0, KEEP_DSYMS, KEEP_MAPS } keep_what;

typedef struct add_command {
    const char *dir;
    keep_what keep;
    lines_option lines;
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
    bool is_new; /* a part of it was not in the store */
} addition;

/* ---- Writing ---- */

/* Opens a file of the store, in folders that are made. Says why it cannot, and returns false. */
static bool begin(outfile *out, const char *path)
{
    if (!outfile_make_folders(path))
        tool_say("%s: %s", path, strerror(errno));
    else if (!outfile_begin(out, path, OUTFILE_OWN))
        tool_say("%s: %s", path, outfile_error(out->failure));
    else
        return true;
    return false;
}

static bool write_bytes(const char *path, const void *ptr, size_t len)
{
    outfile out;
    text bytes = {0};
    if (!begin(&out, path))
        return false;
    text_add(&bytes, ptr, len);
    return outfile_end(&out, &bytes, true);
}

/* Writes a file beside the symbols unless it is there. */
static bool put_beside(const addition *a, const char *ending, machsym_str bytes)
{
    struct stat st;
    text path = {0};
    layout_path(&path, a->c->dir, &a->uuid, ending);
    bool ok = bytes.len == 0 || (!a->c->force && stat(path.v, &st) == 0) ||
              write_bytes(path.v, bytes.ptr, bytes.len);
    text_free(&path);
    return ok;
}

/* The Info.plist, and the names that a bitcode build hid. */
static bool put_extras(addition *a, const char *image_path)
{
    text plist = {0};
    text plist_path = {0};
    machsym_error err;
    if (!kept_find_plist(image_path, &plist, &plist_path, &err)) {
        tool_say_error(plist_path.v, &err);
        tool_note_damage();
    }
    machsym_str bytes = str_make(plist.v, plist.len);
    bool ok = plist.len == 0 || kept_version(bytes, &a->version, &a->build, &err);
    ok = ok && put_beside(a, LAYOUT_PLIST, bytes);
    bcsymbolmap *names = bcsymbolmap_find(image_path, &a->uuid, a->c->name_maps, a->c->name_map_count);
    if (names != NULL && ok)
        ok = put_beside(a, LAYOUT_NAMES, bcsymbolmap_text(names));
    bcsymbolmap_close(names);
    text_free(&plist);
    text_free(&plist_path);
    return ok;
}

/* The file name of an image in the store: what a terminal or a file system could take for something else
 * is replaced. */
static void put_file_name(text *t, machsym_str name)
{
    for (size_t i = 0; i < name.len && i < MAX_STORED_NAME; i++) {
        char c = name.ptr[i];
        bool is_odd = (unsigned char)c < ' ' || c == 127 || strchr("/\\:", c) != NULL || (i == 0 && c == '.');
        text_char(t, is_odd ? '_' : c);
    }
    text_c(t, name.len == 0 ? "image" : "");
    text_z(t);
}

static bool put_dsym(addition *a, const char *image_path, const machsym_slice *slice)
{
    outfile out;
    text path = {0};
    text rest = {0};
    if (!kept_dsym(a->c->dir, &a->uuid, &path)) { /* else the new file takes its place, and its name */
        layout_path(&path, a->c->dir, &a->uuid, LAYOUT_DSYM);
        path.len--;
        text_c(&path, "/Contents/Resources/DWARF/");
        put_file_name(&path, str_c(a->name));
    }
    bool ok = begin(&out, path.v);
    if (ok) {
        const char *why = inside_copy(image_path, slice->offset, slice->size, &out);
        if (why != NULL)
            tool_say("%s: %s", image_path, why);
        ok = outfile_end(&out, &rest, why == NULL);
    }
    text_free(&path);
    a->is_new |= ok;
    return ok;
}

static bool put_map(addition *a, const machsym_map *map)
{
    text path = {0};
    machsym_bytes bytes = machsym_map_bytes(map);
    layout_path(&path, a->c->dir, &a->uuid, LAYOUT_MAP);
    bool ok = write_bytes(path.v, bytes.ptr, bytes.len);
    text_free(&path);
    a->is_new |= ok;
    return ok;
}

/* ---- What is there already ---- */

/* Whether the store has the file: a dSYM takes the place of a binary. */
static bool has_dsym(const addition *a, const machsym_slice *slice)
{
    machsym_open_desc desc;
    machsym_slice kept;
    text path = {0};
    memset(&desc, 0, sizeof desc);
    bool has = kept_dsym(a->c->dir, &a->uuid, &path);
    desc.path = path.v;
    has = has && machsym_list_slices(&desc, &kept, 1, NULL) == 1 &&
          (kept.filetype == 10 /* MH_DSYM */ || slice->filetype != 10);
    text_free(&path);
    return has;
}

/* Whether the store has a map of the policy: one with debug info takes the place of one without. */
static bool has_map(const addition *a, machsym_lines lines, bool has_dwarf)
{
    machsym_map_desc desc = {.flags = MACHSYM_MAP_UNCHECKED};
    machsym_map_info info;
    machsym_map *map;
    text path = {0};
    layout_path(&path, a->c->dir, &a->uuid, LAYOUT_MAP);
    desc.path = path.v;
    bool has = machsym_map_open(&desc, &map, NULL) == MACHSYM_OK;
    if (has) {
        machsym_map_get_info(map, &info);
        has = info.lines == lines && memcmp(&info.uuid, &a->uuid, sizeof a->uuid) == 0 &&
              (info.run_count > 0 || !has_dwarf);
        machsym_map_close(map);
    }
    text_free(&path);
    return has;
}

/* ---- One image ---- */

static void tell_added(addition *a)
{
    text t = {0};
    if (a->c->json) {
        json_begin(&t, "store-add");
        store_put_json(&t, &a->uuid, a->arch, a->name, text_z(&a->version), text_z(&a->build));
        json_put_str(&t, "file", str_c(a->path));
        json_put_bool(&t, "added", a->is_new);
        text_c(&t, "}\n");
        out_text(&t);
    } else {
        text_uuid(&t, &a->uuid);
        text_c(&t, "  ");
        store_put_name(&t, a->name, text_z(&a->version), text_z(&a->build));
        out_line("%s  %s, %s", a->is_new ? "added" : "kept ", text_z(&t), a->arch);
    }
    text_free(&t);
}

/* Says why an image is not for a store. */
static bool refuse(const char *path, const machsym_image_info *info)
{
    text t = {0};
    bool cut = info->damage.is_cut_short;
    text_damage(&t, info);
    if (!info->slice.has_uuid)
        tool_say("%s: has no UUID: a store has no place for it", path);
    else if (cut)
        tool_say("%.*s; it is not added: fetch the whole file", (int)t.len, t.v);
    text_free(&t);
    return cut || !info->slice.has_uuid;
}

/* Files that say more come first, the one by which the image is known to be there last. */
static bool put_image(addition *a, const machsym_image *image, const machsym_image_info *info)
{
    const add_command *c = a->c;
    machsym_plan_desc desc;
    machsym_part_info counts;
    machsym_lines lines = c->lines.lines;
    bool ok = put_extras(a, info->path);
    if (ok && c->keep != KEEP_MAPS && (c->force || !has_dsym(a, &info->slice)))
        ok = put_dsym(a, info->path, &info->slice);
    if (!ok || c->keep == KEEP_DSYMS || (!c->force && has_map(a, lines, info->has_dwarf)))
        return ok;
    memset(&desc, 0, sizeof desc);
    desc.image = image;
    desc.lines = lines;
    desc.flags = MACHSYM_MAP_DAMAGED;
    machsym_map *map = map_build_image(&desc, info->path, &c->how, &counts);
    ok = map != NULL && put_map(a, map);
    machsym_map_close(map);
    return ok;
}

static void addition_free(addition *a)
{
    text_free(&a->version);
    text_free(&a->build);
}

static bool add_slice(const add_command *c, const char *path, const machsym_slice *slice)
{
    machsym_open_desc desc;
    machsym_image_info info;
    text name = {0};
    memset(&desc, 0, sizeof desc);
    desc.path = path;
    desc.arch = slice->arch;
    desc.uuid = slice->has_uuid ? &slice->uuid : NULL;
    desc.flags = MACHSYM_OPEN_NO_PAIR;
    machsym_image *image = tool_open_damaged(&desc);
    bool ok = image != NULL && !tool_refuse_collection(image);
    if (ok) {
        tool_read_info(image, &info);
        ok = !refuse(path, &info);
    }
    if (ok) {
        tool_say_damage(image);
        text_str(&name, info.name);
        addition a = {c, path, info.slice.uuid, text_z(&name), info.slice.arch, {0}, {0}, false};
        ok = put_image(&a, image, &info);
        if (ok)
            tell_added(&a);
        addition_free(&a);
    }
    text_free(&name);
    machsym_image_close(image);
    return ok;
}

static bool add_map(const add_command *c, const char *path)
{
    symbol_desc desc;
    symbol_file file;
    machsym_map_info info;
    memset(&desc, 0, sizeof desc);
    desc.open.path = path;
    desc.any_lines = true;
    if (!tool_open_symbols(&desc, &file))
        return false;
    machsym_map_get_info(file.map, &info);
    text name = {0};
    text_str(&name, info.name);
    addition a = {c, path, info.uuid, text_z(&name), info.arch, {0}, {0}, false};
    bool ok = !uuid_is_none(&info.uuid);
    if (!ok)
        tool_say("%s: has no UUID: a store has no place for it", path);
    if (ok && (c->force || !has_map(&a, info.lines, info.run_count > 0)))
        ok = put_map(&a, file.map);
    if (ok)
        tell_added(&a);
    addition_free(&a);
    text_free(&name);
    symbol_file_close(&file);
    return ok;
}

/* ---- The command ---- */

static bool add_file(const add_command *c, const char *path)
{
    machsym_slice slices[MACHSYM_MAX_SLICES];
    machsym_open_desc desc;
    machsym_error err;
    bool ok = true;
    if (inside_is_map(path))
        return add_map(c, path);
    memset(&desc, 0, sizeof desc);
    desc.path = path;
    size_t count = inside_list_slices(&desc, slices, MACHSYM_MAX_SLICES, &err);
    if (count == 0 || err.code != MACHSYM_OK) {
        tool_say_error(path, &err);
        ok = false;
    }
    for (size_t i = 0; i < count && i < MACHSYM_MAX_SLICES; i++)
        ok = add_slice(c, path, &slices[i]) && ok;
    return ok;
}

static bool add_path(const add_command *c, const char *path)
{
    path_list files;
    bool ok = inside_expand(path, INSIDE_KEPT, &files);
    for (size_t i = 0; i < files.count; i++) {
        ok = add_file(c, files.v[i]) && ok;
        members_forget();
    }
    path_list_free(&files);
    return ok;
}

static int run_add(int argc, char **argv)
{
    static add_command c;
    bool ok = true;
    memset(&c, 0, sizeof c);
    c.lines.lines = MACHSYM_LINES_DWARF;
    int count = options_parse(&store_add_command, &c, argc, argv);
    if (count < 0)
        return options_status(count);
    if (count < 2)
        return options_wrong(&store_add_command,
                             count == 0 ? "no store is named" : "no file is named to be added");
    c.dir = argv[1];
    for (int i = 2; i <= count; i++)
        ok = add_path(&c, argv[i]) && ok;
    return ok ? TOOL_OK : TOOL_ERROR;
}

static bool take_keep(void *field, const char *value)
{
    static const char *const names[] = {"both", "dsyms", "maps"};
    for (unsigned i = 0; i < 3; i++) {
        if (strcmp(value, names[i]) == 0) {
            *(keep_what *)field = (keep_what)i;
            return true;
        }
    }
    tool_say("--keep is one of both, dsyms, maps, not %s", value);
    return false;
}

static bool take_name_maps(void *to, const char *value)
{
    add_command *c = to;
    bool ok = c->name_map_count < MAX_NAME_MAPS;
    if (ok)
        c->name_maps[c->name_map_count++] = value;
    else
        tool_say("at most %d --bcsymbolmap", (int)MAX_NAME_MAPS);
    return ok;
}

static const option table[] = {
    {"keep", "both|dsyms|maps",
     "what is kept of each image: its file, which knows all; a map, which is\nsmall and answers at once; "
     "both "
     "(default)",
     offsetof(add_command, keep), take_keep},
    {"lines", "atos|dwarf|stmt",
     "the policy of the maps: dwarf (default), which machsym crash prefers, atos or stmt",
     offsetof(add_command, lines), take_lines},
    {"bcsymbolmap", "PATH",
     "a folder or archive of .bcsymbolmap files, or one; those beside a dSYM are found\nanyway", 0,
     take_name_maps},
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
    run_add,
    NULL,
};
