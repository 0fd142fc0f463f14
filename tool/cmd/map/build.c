/* machsym map build: resolves images with all processors, and writes maps. */
#include "build.h"
#include "../../../report/base/json_put.h"
#include "../../../report/base/memory.h"
#include "../../base/machine.h"
#include "../../base/options.h"
#include "../../base/out.h"
#include "../../base/room.h"
#include "../../base/say.h"
#include "../../base/takes.h"
#include "../../base/values.h"
#include "map.h"
#include "../../files/caches.h"
#include "../../files/inside.h"
#include "../../files/members.h"
#include "../../files/open.h"
#include "../../files/outfile.h"
#include "../../symbols/layout.h"
#include "../../symbols/objects.h"
#include "../../symbols/source.h"
#include "../../symbols/store.h"
#include "../../symbols/symbols.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

const char map_took_too_long[] = "it took longer than is allowed; --limit=SECONDS allows more";

/* ---- Threads ---- */

/* What the threads of a build share; the lock guards what is below it. */
typedef struct build {
    const machsym_plan *plan;
    machsym_part **parts;
    size_t count;
    uint64_t total; /* bytes of input */
    double until;   /* as build_options has it */
    pthread_mutex_t lock;
    pthread_cond_t moved;
    size_t next;
    size_t done;
    uint64_t done_bytes;
    machsym_error error; /* the first one */
} build;

/* The parts are small, so the time is looked at between them. */
static bool build_is_too_late(build *b)
{
    bool is_late = b->until > 0 && machine_seconds() > b->until;
    if (is_late)
        b->error = (machsym_error){.code = MACHSYM_ERR_LIMIT, .what = map_took_too_long};
    return is_late;
}

static void *build_thread(void *user)
{
    build *b = user;
    pthread_mutex_lock(&b->lock);
    while (b->next < b->count && b->error.code == MACHSYM_OK && !build_is_too_late(b)) {
        size_t index = b->next++;
        machsym_error err;
        pthread_mutex_unlock(&b->lock);
        machsym_result result = machsym_part_build(b->plan, index, &b->parts[index], &err);
        pthread_mutex_lock(&b->lock);
        if (result != MACHSYM_OK && b->error.code == MACHSYM_OK)
            b->error = err;
        b->done++;
        b->done_bytes += machsym_plan_part_size(b->plan, index);
        pthread_cond_signal(&b->moved);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

static void build_show_progress(const char *path, const build *b, double since)
{
    double share = b->total > 0 ? (double)b->done_bytes / (double)b->total : 1;
    double took = machine_seconds() - since;
    double rate = took > 0 ? (double)b->done_bytes / took : 0;
    double left = rate > 0 ? (double)(b->total - b->done_bytes) / rate : 0;
    text name = {0};
    text_shown(&name, str_c(path));
    fprintf(stderr, "\r%.*s: %3.0f %%, %.0f MB/s, %.0f s left\033[K", (int)name.len, name.v, share * 100,
            rate / 1e6, left);
    text_free(&name);
}

/* Waits for the threads, and tells now and then how far they are. The lock is held. */
static void build_watch(const char *path, build *b)
{
    double since = machine_seconds();
    while (b->done < b->count && b->error.code == MACHSYM_OK) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 200000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        while (b->done < b->count && b->error.code == MACHSYM_OK &&
               pthread_cond_timedwait(&b->moved, &b->lock, &until) != ETIMEDOUT)
            continue;
        build_show_progress(path, b, since);
    }
    fputs("\r\033[K", stderr);
}

static void build_parts(build *b, const char *path, const build_options *how)
{
    pthread_t threads[MAX_JOBS];
    size_t wanted = machine_threads(how->jobs, b->count);
    size_t started = 0;
    for (size_t i = 0; i < b->count; i++)
        b->total += machsym_plan_part_size(b->plan, i);
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->moved, NULL);
    /* without a progress line to draw, this thread is one of them */
    size_t others = how->progress ? wanted : wanted - 1;
    while (started < others && pthread_create(&threads[started], NULL, build_thread, b) == 0)
        started++;
    if (how->progress && started > 0) {
        pthread_mutex_lock(&b->lock);
        build_watch(path, b);
        pthread_mutex_unlock(&b->lock);
    } else {
        build_thread(b);
    }
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    pthread_cond_destroy(&b->moved);
    pthread_mutex_destroy(&b->lock);
}

static void build_add_counts(const machsym_part *part, machsym_part_info *counts)
{
    machsym_part_info one;
    if (part == NULL)
        return;
    machsym_part_get_info(part, &one);
    if (counts->damaged_units == 0 || (one.damage.is_misleading && !counts->damage.is_misleading))
        counts->damage = one.damage;
    counts->unit_count += one.unit_count;
    counts->damaged_units += one.damaged_units;
}

/* Says why no map was made. */
static void build_say_unmade(const char *path, const machsym_error *err, const build_options *how)
{
    text t = {0};
    machsym_damage damage = {
        .what = err->what, .where = err->where, .offset = err->offset, .is_misleading = true};
    if (err->code != MACHSYM_ERR_DAMAGED) {
        say_error(path, err);
        return;
    }
    open_put_misleading(&t, "damaged", &damage);
    say_message("%s: %s; no map is made of it: fetch the file again%s", path, text_z(&t),
                how->can_force ? ", or pass --damaged for a map of what is there" : "");
    text_free(&t);
}

/* Builds with the memory that the description names. */
static machsym_map *build_with(const machsym_plan_desc *desc, const char *path, const build_options *how,
                               machsym_part_info *counts)
{
    machsym_plan *plan;
    machsym_map *map = NULL;
    machsym_error err;
    build b;
    memset(&b, 0, sizeof b);
    memset(counts, 0, sizeof *counts);
    if (machsym_plan_open(desc, &plan, &err) != MACHSYM_OK) {
        say_error(path, &err);
        return NULL;
    }
    object_say_plan(plan);
    b.plan = plan;
    b.until = how->until;
    b.count = machsym_plan_part_count(plan);
    b.parts = mem_alloc(b.count * sizeof(machsym_part *));
    for (size_t i = 0; i < b.count; i++)
        b.parts[i] = NULL;
    build_parts(&b, path, how);
    for (size_t i = 0; i < b.count; i++)
        build_add_counts(b.parts[i], counts);
    err = b.error;
    if (err.code == MACHSYM_OK)
        machsym_map_merge(plan, b.parts, b.count, &map, &err);
    if (map == NULL)
        build_say_unmade(path, &err, how);
    for (size_t i = 0; i < b.count; i++)
        machsym_part_close(b.parts[i]);
    free(b.parts);
    machsym_plan_close(plan);
    return map;
}

machsym_map *build_image(const machsym_plan_desc *desc, const char *path, const build_options *how,
                         machsym_part_info *counts)
{
    enum { LEAST_CODE = 1 << 20 }; /* a smaller image needs little memory */
    machsym_plan_desc own = *desc;
    machsym_image_info info;
    open_read_info(desc->image, &info);
    room *r = info.text_size >= LEAST_CODE ? room_open() : NULL;
    if (r != NULL)
        own.allocator = room_allocator(r);
    machsym_map *map = build_with(&own, path, how, counts);
    room_leave(r); /* the map lies in it */
    return map;
}

/* ---- Which images, and where the maps go ---- */

typedef struct build_command {
    image_options image;
    object_options objects;
    const char *out;
    const char *store;
    const char *images; /* of a cache: a pattern of their paths; NULL: all */
    symbols_options symbols;
    bool all_archs;
    bool columns;
    bool unwind;  /* unwind tables, too */
    bool damaged; /* a file that is cut short or contradicts itself is taken too */
    bool no_progress;
    bool json;
    lines_option lines;
    uint32_t names;
    build_options how;
    atomic_bool *is_full; /* of a cache: a full disk is reported once; NULL: each time */
} build_command;

/* Says why a map or its folder could not be written. */
static void build_say_unwritten(const build_command *c, const char *path, int failure)
{
    if (c->is_full == NULL || !outfile_is_full(failure) || !atomic_exchange(c->is_full, true))
        say_message("%s: %s", path, outfile_error(failure));
}

/* Where the map of an image goes; empty after a message. */
static void build_output_path(const build_command *c, const machsym_image_info *info, text *path)
{
    if (c->store != NULL && !info->slice.has_uuid) {
        say_message("%s: has no UUID: a store has no place for it; use -o", info->path);
    } else if (c->store != NULL) {
        layout_path(path, c->store, &info->slice.uuid, LAYOUT_MAP);
        if (!outfile_make_folders(path->v)) {
            build_say_unwritten(c, path->v, errno);
            path->len = 0;
        }
    } else if (c->out != NULL && outfile_spares(c->out, info->path)) {
        text_c(path, c->out);
        text_add(path, "", 1);
    } else if (c->out == NULL) {
        map_default_name(path, info->name, c->all_archs ? info->slice.arch : NULL);
    }
}

/* Refuses a file that is cut short or contradicts itself, unless it is wanted all the same. */
static bool build_refuse_bad(const build_command *c, const machsym_image_info *info)
{
    text t = {0};
    if (c->damaged || !(info->damage.is_cut_short || info->damage.is_misleading))
        return false;
    open_put_damage(&t, info);
    say_message("%.*s; no map is made of it: %s, or pass --damaged for a map of what is there", (int)t.len,
                t.v, info->damage.is_cut_short ? "fetch the whole file" : "fetch the file again");
    text_free(&t);
    return true;
}

void build_say_lost(const char *path, const machsym_image_info *info, const machsym_part_info *counts,
                    const machsym_map *map)
{
    text t = {0};
    machsym_map_info made;
    machsym_map_get_info(map, &made);
    if ((made.flags & MACHSYM_MAP_DAMAGED) == 0)
        return;
    open_put_damage(&t, info);
    if (t.len == 0)
        text_c(&t, path);
    if (counts->damaged_units != 0) {
        text_c(&t, info->damage_count != 0 ? "; " : ": ");
        text_dec(&t, counts->damaged_units);
        text_c(&t, " of ");
        text_dec(&t, counts->unit_count);
        open_put_misleading(&t, " units of the debug info are damaged", &counts->damage);
    } else if (info->damage_count == 0) {
        text_c(&t, info->is_encrypted ? ": an app store has encrypted __TEXT"
                                      : ": parts of the exports trie, binds, unwind info, Objective-C or "
                                        "Swift metadata are damaged, or names are too long");
    }
    say_message("%.*s; the map lacks what could not be read, and says so", (int)t.len, t.v);
    status_note_damage();
    text_free(&t);
}

/* Says that a map lacks the unwind tables that were asked for. */
static void build_say_no_unwind(const build_command *c, const char *path, const machsym_map *map)
{
    machsym_map_info made;
    machsym_map_get_info(map, &made);
    if (!c->unwind || made.unwind_bytes != 0)
        return;
    say_message(
        "%s: has no unwind tables, so the map has none; a dSYM lacks them: pass the binary with --pair",
        path);
    status_note_damage();
}

/* Adds a line for a map. */
static void build_tell_built(const build_command *c, const char *path, const machsym_map *map, text *told)
{
    machsym_map_info made;
    size_t from = told->len;
    machsym_map_get_info(map, &made);
    if (c->out != NULL && strcmp(c->out, "-") == 0) {
        say_plain("standard output: %s, %llu bytes", made.arch, (unsigned long long)made.size);
        return;
    }
    if (!c->json) {
        text_c(told, path);
        text_c(told, ": ");
        text_c(told, made.arch);
        text_c(told, ", ");
        text_dec(told, made.size);
        text_c(told, " bytes");
        text_end_line(told, from);
        return;
    }
    json_begin(told, "map-build");
    json_put_str(told, "file", str_c(path));
    json_put_str(told, "image", made.name);
    json_put_str(told, "arch", str_c(made.arch));
    json_put_uuid(told, "uuid", symbol_uuid_is_none(&made.uuid) ? NULL : &made.uuid);
    json_put_str(told, "lines", str_c(value_lines_name(made.lines)));
    json_put_bool(told, "damaged", (made.flags & MACHSYM_MAP_DAMAGED) != 0);
    json_put_number(told, "size", made.size);
    text_c(told, "}\n");
}

/* Writes a map; its name it gets from end_built. */
static bool build_begin_built(const machsym_map *map, const char *path, outfile *out)
{
    machsym_bytes bytes = machsym_map_bytes(map);
    outfile_begin_with(out, path, bytes.ptr, bytes.len, OUTFILE_REPLACE);
    return out->failure == 0;
}

static bool build_end_built(const build_command *c, outfile *out, const char *path)
{
    outfile_end_all(out, 1);
    if (out->failure != 0)
        build_say_unwritten(c, path, out->failure);
    return out->failure == 0;
}

static void *build_close_image(void *image)
{
    machsym_image_close(image);
    return NULL;
}

/* Closes the image that a map was made of, while another thread writes the map: to unmap a large file takes
 * as long as to write a tenth of it. Returns false when it has to be closed after that. */
static bool build_begin_closing(const build_command *c, machsym_image *image, pthread_t *thread)
{
    return machine_threads(c->how.jobs, 2) > 1 && pthread_create(thread, NULL, build_close_image, image) == 0;
}

/* Builds a map and adds a line to what is told. *size: its bytes. Threads: any. */
static bool build_slice(const build_command *c, const machsym_open_desc *open, text *told, uint64_t *size)
{
    machsym_plan_desc desc;
    machsym_image_info info;
    machsym_part_info counts;
    text path = {0};
    outfile out;
    pthread_t closing;
    machsym_map *map = NULL;
    size_t from = told->len;
    *size = 0;
    memset(&desc, 0, sizeof desc);
    machsym_image *image = open_damaged(open);
    if (image == NULL || open_refuse_collection(image)) {
        machsym_image_close(image);
        return false;
    }
    desc.image = image;
    desc.lines = c->lines.lines;
    desc.names = c->names;
    desc.flags = (c->columns ? MACHSYM_MAP_COLUMNS : 0u) | (c->unwind ? MACHSYM_MAP_UNWIND : 0u) |
                 (c->damaged ? MACHSYM_MAP_DAMAGED : 0u);
    open_read_info(image, &info);
    if (!build_refuse_bad(c, &info))
        build_output_path(c, &info, &path);
    if (path.len > 0)
        map = build_image(&desc, open->path, &c->how, &counts);
    bool is_made = map != NULL;
    *size = is_made ? machsym_map_bytes(map).len : 0;
    if (is_made)
        build_say_lost(open->path, &info, &counts, map);
    if (is_made)
        build_say_no_unwind(c, open->path, map);
    bool is_closing = is_made && build_begin_closing(c, image, &closing);
    if (is_made && build_begin_built(map, path.v, &out))
        build_tell_built(c, path.v, map, told);
    if (is_closing)
        pthread_join(closing, NULL);
    else
        machsym_image_close(image);
    machsym_map_close(map); /* while the disk writes */
    bool ok = is_made && build_end_built(c, &out, path.v);
    if (!ok)
        told->len = from;
    text_free(&path);
    return ok;
}

static bool build_one(const build_command *c, const machsym_open_desc *open)
{
    text told = {0};
    uint64_t size;
    bool ok = build_slice(c, open, &told, &size);
    out_text(&told);
    text_free(&told);
    return ok;
}

/* One image of a cache, which one thread makes. */
static bool build_cached(const void *user, const machsym_open_desc *open, text *told, uint64_t *size)
{
    build_command c = *(const build_command *)user;
    c.how = (build_options){1, false, 0, true};
    return build_slice(&c, open, told, size);
}

/* Builds the maps of a cache's images. */
static bool build_cache(const build_command *c, const machsym_open_desc *open)
{
    atomic_bool is_full = false;
    build_command each = *c;
    if (c->store == NULL) {
        say_message("%s: a shared cache has many images: --store DIR takes their maps, --entry chooses one",
                    open->path);
        return false;
    }
    each.is_full = &is_full;
    return build_each_image(open, c->images, c->how.jobs, build_cached, &each, &is_full);
}

static bool build_file(const build_command *c, const char *file)
{
    machsym_slice slices[MACHSYM_MAX_SLICES];
    machsym_open_desc desc;
    machsym_error err;
    bool ok = true;
    memset(&desc, 0, sizeof desc);
    image_options_apply(&c->image, &desc);
    desc.path = file;
    object_options_apply(&c->objects, &desc);
    if (!outfile_spares(c->out, file)) /* an archive: its image has another path */
        return false;
    if (desc.entry == NULL && desc.uuid == NULL && cache_is_at(file))
        return build_cache(c, &desc);
    if (!c->all_archs)
        return build_one(c, &desc);
    size_t count = inside_list_slices(&desc, slices, MACHSYM_MAX_SLICES, &err);
    ok = say_slices(file, count, &err);
    for (size_t i = 0; i < count && i < MACHSYM_MAX_SLICES; i++) {
        desc.arch = slices[i].arch;
        desc.uuid = slices[i].has_uuid ? &slices[i].uuid : NULL;
        ok = build_one(c, &desc) && ok;
    }
    return ok;
}

/* Builds the map of a file, or those of all files that an archive or a folder holds. */
static bool build_path(const build_command *c, const char *path)
{
    path_list files;
    bool ok = true;
    bool one = c->image.arch != NULL || c->image.uuid.is_set || c->out != NULL;
    if (one) /* that the arguments choose */
        return build_file(c, path);
    if (!inside_expand(path, INSIDE_BEST, &files))
        return false;
    for (size_t i = 0; i < files.count; i++) {
        ok = build_file(c, files.v[i]) && ok;
        cache_forget();
        members_forget();
    }
    path_list_free(&files);
    return ok;
}

/* Builds the map of the file that --symbols and --uuid find. */
static bool build_found(build_command *c)
{
    const char *path;
    const char *pair;
    store *s = symbols_find_macho(&c->symbols, &c->image.uuid.uuid, c->image.arch, &path, &pair);
    if (s == NULL)
        return false;
    c->image.pair = c->image.pair != NULL ? c->image.pair : pair;
    bool ok = build_file(c, path);
    store_close(s);
    return ok;
}

/* What is wrong with the command line; NULL: nothing. */
static const char *build_find_fault(const build_command *c, int count)
{
    bool finds = c->symbols.path_count > 0;
    if (count == 0 && !finds)
        return "no file is named";
    const char *fault = symbols_fault(&c->symbols, &c->image);
    if (fault != NULL)
        return fault;
    if (finds && count > 0)
        return "a file is named that --symbols would look for: pass one of them";
    if (c->out != NULL && (c->store != NULL || c->all_archs || count > 1))
        return "-o names one file: not with --store, --all-archs or several files";
    if (c->out != NULL && strcmp(c->out, "-") == 0 && c->json)
        return "-o - writes the map where --json goes: name a file";
    return NULL;
}

static int build_run(int argc, char **argv)
{
    build_command c;
    bool ok = true;
    memset(&c, 0, sizeof c);
    int count = options_parse(&map_build_command, &c, argc, argv);
    if (count < 0)
        return options_status(count);
    const char *fault = build_find_fault(&c, count);
    if (fault != NULL)
        return options_wrong(&map_build_command, fault);
    c.how.progress = !c.no_progress && isatty(STDERR_FILENO) == 1;
    c.how.can_force = true;
    if (c.symbols.path_count > 0)
        ok = build_found(&c);
    for (int i = 1; i <= count; i++)
        ok = build_path(&c, image_options_path(&c.image, argv[i])) && ok;
    return ok ? TOOL_OK : TOOL_ERROR;
}

static const option table[] = {
    {"o", "OUT",
     "the file to write, - is standard output; without it NAME.symmap in this\nfolder, where NAME is the "
     "program's, not the dSYM's: it is printed",
     offsetof(build_command, out), NULL},
    {"store", "DIR", "write DIR/XX/UUID.symmap: machsym atos --symbols DIR --uuid UUID finds it",
     offsetof(build_command, store), NULL},
    {"j", "N", "threads; without it one for each processor that may be used",
     offsetof(build_command, how.jobs), take_jobs},
    {"images", "GLOB",
     "of a shared cache only images whose path fits: \"*/UIKit*\", * and ? stand for\nany characters and any "
     "one",
     offsetof(build_command, images), NULL},
    {"all-archs", NULL, "a map of each slice of a fat file", offsetof(build_command, all_archs), NULL},
    {"lines", "atos|dwarf|stmt|people",
     "atos (default), dwarf, stmt or people; a map answers for one policy. machsym\ncrash prefers people",
     offsetof(build_command, lines), take_lines},
    {"names", "symtab|dwarf", HELP_NAMES, offsetof(build_command, names), take_names},
    {"damaged", NULL, "take a file that is cut short or contradicts itself too; the map says so",
     offsetof(build_command, damaged), NULL},
    {"columns", NULL, "keep columns: 8 to 15 percent larger", offsetof(build_command, columns), NULL},
    {"unwind", NULL,
     "carry the unwind tables of a binary: machsym crash needs them for minidumps and\ncores. A dSYM has "
     "none: "
     "pass --pair with it",
     offsetof(build_command, unwind), NULL},
    {"no-progress", NULL, "no progress line on a terminal", offsetof(build_command, no_progress), NULL},
    {"json", NULL, "one JSON object a map, in place of a line", offsetof(build_command, json), NULL},
    {0},
};

const command map_build_command = {
    "map build",
    "makes NAME.symmap of dSYMs and binaries",
    "[options] FILE ... | --symbols PATH --uuid UUID",
    "Resolves all addresses of an image and writes a map of them; of a dyld shared cache a map of each "
    "image,\nwith --store. A cache in a zip is unpacked into memory, up to 8 GB; unpack the zip where there "
    "is less.\nMaps of a cache may have 16 MB and 4 times its bytes together; real ones have half. Where "
    "images share\ntheir "
    "code and symbols to have more, no more are begun, and the exit status is 1.\n",
    {{table, 0},
     {symbols_option_table, offsetof(build_command, symbols)},
     {image_option_table, offsetof(build_command, image)},
     {object_option_table, offsetof(build_command, objects)}},
    NULL,
    build_run,
    NULL,
};
