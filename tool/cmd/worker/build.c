/* ==== >> cmd/worker/build ====
 * Job: requests for maps.
 * Offers: the kind build.
 * Never: writes outside the store that it is given.
 *
 * machsym worker: maps of the dSYMs that requests bring or name. */
#include "machsym.h"
#include "../../../report/base/digits.h"
#include "../../../report/base/json.h"
#include "../../../report/base/json_put.h"
#include "../../../report/base/text.h"
#include "../../base/machine.h"
#include "../../base/say.h"
#include "../../base/values.h"
#include "../map/build.h"
#include "../map/map.h"
#include "do.h"
#include "../../files/inside.h"
#include "../../files/members.h"
#include "../../files/open.h"
#include "../../files/outfile.h"
#include "../../symbols/chunks.h"
#include "../../symbols/layout.h"
#include "../../symbols/map_chunks.h"
#include "../../symbols/objects.h"
#include "../../symbols/resolve.h"
#include "../../symbols/source.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* A chunk of N bytes of text has a value of about N bytes: a thousand lookups a second of one
 * image then move ten megabytes. */
enum { CHUNK_TEXT = 10000 };

/* What becomes of the maps. */
typedef enum build_as { AS_MAP = 0, AS_CHUNKS, AS_STORE, BUILD_AS } build_as;

/* The memory that a build may take, beyond the file and its answer. */
typedef struct build_memory {
    double left;
    bool is_spent;
} build_memory;

/* What the request says. */
typedef struct build_request {
    build_as as;
    uint64_t chunk;
    machsym_open_desc open; /* but for the bytes and the path */
    char *arch;             /* from malloc; NULL: any */
    char *name;             /* what the image is called that came as base64; from malloc */
    machsym_uuid uuid;
    double until; /* as machine_seconds counts */
    build_memory memory;
} build_request;

/* ---- Memory ---- */

static void *worker_build_alloc(void *user, size_t size)
{
    build_memory *m = user;
    m->is_spent |= (double)size > m->left;
    void *p = m->is_spent ? NULL : malloc(size);
    m->left -= p != NULL ? (double)size : 0;
    return p;
}

static void worker_build_free(void *user, void *p, size_t size)
{
    build_memory *m = user;
    m->left += (double)size;
    free(p);
}

/* What comes as base64 may take as much as the names of a report. A file that the host names is the host's:
 * it may take what it needs, unless --limit says how much. */
static void worker_build_begin_memory(const answering *a, build_request *b, const text *input)
{
    double bytes = a->options->lookups.resolve.limit.bytes;
    if (bytes <= 0)
        bytes =
            input != NULL ? (double)RESOLVE_BYTES + (double)RESOLVE_FACTOR * (double)input->len : HUGE_VAL;
    b->memory = (build_memory){bytes, false};
    b->open.allocator = (machsym_allocator){worker_build_alloc, worker_build_free, &b->memory};
}

/* ---- The request ---- */

/* A member that may be there, and is a text without a NUL then. *to: from malloc. */
static bool worker_build_take_text(answering *a, const char *key, char **to)
{
    uint32_t value = request_member(a, key);
    text t = {0};
    if (value == JSON_NONE)
        return true;
    if (json_is(a->doc, value, JSON_STRING))
        json_unescape(&t, json_raw(a->doc, value));
    if (t.len > 0 && memchr(t.v, 0, t.len) == NULL)
        *to = str_copy_z((machsym_str){t.v, t.len});
    text_free(&t);
    text_c(&a->why, *to == NULL ? key : "");
    return *to != NULL || request_refuse(a, worker_bad_request, " is a text");
}

static bool worker_build_take_request(answering *a, build_request *b)
{
    static const char *const names[] = {"map", "chunks", "store"};
    uint32_t as = request_member(a, "as");
    uint32_t chunk = request_member(a, "chunk");
    uint32_t uuid = request_member(a, "uuid");
    while (as != JSON_NONE && b->as < BUILD_AS && !json_equals(a->doc, as, names[b->as]))
        b->as++;
    if (b->as == BUILD_AS)
        return request_refuse(a, worker_bad_request, "as is one of map, chunks, store");
    if (b->as == AS_STORE && a->options->build_store == NULL)
        return request_refuse(a, worker_bad_request,
                              "as is store: --build-store names where maps are written");
    b->chunk = CHUNK_TEXT;
    bool is_chunk = chunk == JSON_NONE || (b->as == AS_CHUNKS && json_u64(a->doc, chunk, &b->chunk) &&
                                           b->chunk > 0 && b->chunk <= CHUNK_SIZE_MOST);
    if (!is_chunk)
        return request_refuse(a, worker_bad_request,
                              "chunk is how many bytes of text a chunk has, with \"as\":\"chunks\"");
    if (uuid != JSON_NONE &&
        !(json_is(a->doc, uuid, JSON_STRING) && parse_uuid_str(json_raw(a->doc, uuid), &b->uuid)))
        return request_refuse(a, worker_bad_request,
                              "uuid has 32 hexadecimal digits, with or without dashes");
    if (!worker_build_take_text(a, "arch", &b->arch) || !worker_build_take_text(a, "name", &b->name))
        return false;
    if (b->name != NULL && request_member(a, "base64") == JSON_NONE)
        return request_refuse(a, worker_bad_request,
                              "name is what the image of base64 is called; a file has its own");
    b->open.arch = b->arch;
    b->open.uuid = uuid != JSON_NONE ? &b->uuid : NULL;
    if (a->options->lookups.resolve.limit.seconds > 0)
        b->until = machine_seconds() + a->options->lookups.resolve.limit.seconds;
    return true;
}

/* ---- Answers ---- */

/* Where the values of chunks go. */
typedef struct chunk_put {
    text *out;
    const char *between;
} chunk_put;

static uint64_t worker_build_put_value(void *user, machsym_str key, machsym_bytes value)
{
    chunk_put *to = user;
    size_t from = to->out->len;
    text_c(to->out, to->between);
    text_c(to->out, "{\"key\":");
    text_json(to->out, key);
    text_c(to->out, ",\"value\":\"");
    text_base64(to->out, value.ptr, value.len);
    text_c(to->out, "\"}");
    to->between = ",";
    return to->out->len - from;
}

/* The list of chunks comes last: who sets keys in this order has all of them once it is there. */
static bool worker_build_put_chunks(const build_request *b, const symbol_file *map, text *out)
{
    chunk_lists lists;
    chunk_put to = {out, ""};
    text key = {0};
    text list = {0};
    json_put_number(out, "chunk", b->chunk);
    text_c(out, ",\"values\":[");
    bool ok = cut_map(map, b->chunk, worker_build_put_value, &to, &lists) &&
              cut_index(map, b->chunk, &lists, &list);
    if (ok) {
        chunk_list_key(&key, &map->info.uuid);
        worker_build_put_value(&to, (machsym_str){key.v, key.len},
                               (machsym_bytes){(const uint8_t *)list.v, list.len});
    }
    text_char(out, ']');
    cut_lists_free(&lists);
    text_free(&key);
    text_free(&list);
    return ok;
}

static bool worker_build_put_stored(const answering *a, const symbol_file *map, text *out)
{
    text path = {0};
    layout_path(&path, a->options->build_store, &map->info.uuid, LAYOUT_MAP);
    bool ok = outfile_make_folders(path.v);
    if (!ok)
        say_message("%s: %s", path.v, strerror(errno));
    ok = ok && map_write(map->map, path.v);
    json_put_str(out, "file", str_c(path.v));
    text_free(&path);
    return ok;
}

static void worker_build_put_bytes(const symbol_file *map, text *out)
{
    machsym_bytes bytes = machsym_map_bytes(map->map);
    json_put_key(out, "base64");
    text_char(out, '"');
    text_base64(out, bytes.ptr, bytes.len);
    text_char(out, '"');
}

/* Returns false after a message. */
static bool worker_build_put_map(const answering *a, const build_request *b, const symbol_file *map)
{
    machsym_map_info made;
    text *out = a->out;
    machsym_map_get_info(map->map, &made);
    if (b->as != AS_MAP && !map->info.has_uuid) {
        say_message("%s: has no UUID: nothing would find its map", b->open.path);
        return false;
    }
    text_c(out, out->v[out->len - 1] == '[' ? "{\"image\":" : ",{\"image\":");
    text_json(out, made.name);
    json_put_uuid(out, "uuid", map->info.has_uuid ? &map->info.uuid : NULL);
    json_put_str(out, "arch", str_c(made.arch));
    json_put_str(out, "lines", str_c(value_lines_name(made.lines)));
    json_put_bool(out, "damaged", (made.flags & MACHSYM_MAP_DAMAGED) != 0);
    json_put_number(out, "size", made.size);
    bool ok = true;
    if (b->as == AS_CHUNKS)
        ok = worker_build_put_chunks(b, map, out);
    else if (b->as == AS_STORE)
        ok = worker_build_put_stored(a, map, out);
    else
        worker_build_put_bytes(map, out);
    text_char(out, '}');
    return ok;
}

/* ---- Building ---- */

/* Builds the map of an open image. Returns false after a message. */
static bool worker_build_image(answering *a, const build_request *b, const symbol_file *file)
{
    machsym_plan_desc plan = {
        .image = file->image, .lines = a->options->lookups.lines.lines, .allocator = b->open.allocator};
    build_options how = {1, false, b->until, false};
    machsym_image_info info;
    machsym_part_info counts;
    machsym_error err;
    symbol_file built;
    if (open_refuse_collection(file->image))
        return false;
    open_read_info(file->image, &info);
    if (info.damage.is_cut_short || info.damage.is_misleading) {
        text why = {0};
        open_put_damage(&why, &info);
        say_message("%s; no map is made of it: %s", text_z(&why),
                    info.damage.is_cut_short ? "fetch the whole file" : "fetch the file again");
        text_free(&why);
        return false;
    }
    machsym_map *map = build_image(&plan, b->open.path, &how, &counts);
    if (map == NULL)
        return false;
    build_say_lost(b->open.path, &info, &counts, map);
    symbol_desc desc = {.open = {.bytes = machsym_map_bytes(map), .flags = MACHSYM_OPEN_UNCHECKED},
                        .any_lines = true};
    bool ok = symbol_file_open(&desc, &built, &err) == MACHSYM_OK;
    if (!ok)
        say_error(b->open.path, &err);
    ok = ok && worker_build_put_map(a, b, &built);
    symbol_file_close(&built);
    machsym_map_close(map);
    return ok;
}

/* One slice; a file that is a map already is taken as it is. Returns false after a message. */
static bool worker_build_slice(answering *a, const build_request *b)
{
    symbol_desc desc = {.open = b->open, .lines = a->options->lookups.lines.lines};
    symbol_file file;
    machsym_error err;
    if (symbol_file_open(&desc, &file, &err) != MACHSYM_OK) {
        char why[1024];
        machsym_error_text(&err, &desc.open, why, sizeof why);
        say_message("%s", why);
        return false;
    }
    bool ok = file.map != NULL ? worker_build_put_map(a, b, &file) : worker_build_image(a, b, &file);
    symbol_file_close(&file);
    return ok;
}

/* All slices of a file, or that which is asked for. Returns false after a message. */
static bool worker_build_file(answering *a, build_request *b)
{
    machsym_slice slices[MACHSYM_MAX_SLICES];
    machsym_error err;
    machsym_open_desc chosen = b->open;
    bool ok = true;
    if (chosen.arch != NULL || chosen.uuid != NULL)
        return worker_build_slice(a, b);
    size_t count = inside_list_slices(&b->open, slices, MACHSYM_MAX_SLICES, &err);
    if (count < 2) /* a map has none; what is no file of symbols is told when it is opened */
        return worker_build_slice(a, b);
    for (size_t i = 0; i < count && i < MACHSYM_MAX_SLICES && ok; i++) {
        b->open.arch = slices[i].arch;
        b->open.uuid = slices[i].has_uuid ? &slices[i].uuid : NULL;
        ok = worker_build_slice(a, b);
    }
    b->open = chosen;
    return ok;
}

/* A plain file is mapped. A member of an archive is read and freed afterwards. */
static bool worker_build_member(answering *a, build_request *b, const char *path)
{
    text bytes = {0};
    b->open.path = path;
    const char *why = members_end(path) > 0 ? inside_read(path, &bytes) : NULL;
    if (why != NULL)
        say_message("%s: %s", path, why);
    b->open.bytes = (machsym_bytes){(const uint8_t *)bytes.v, bytes.len};
    bool ok = why == NULL && worker_build_file(a, b);
    text_free(&bytes);
    return ok;
}

static bool worker_build_path(answering *a, build_request *b, const char *path)
{
    path_list files;
    if (!inside_expand(path, INSIDE_BEST, &files))
        return false;
    bool ok = files.count > 0;
    if (!ok)
        say_message("%s: holds no file of symbols", path);
    for (size_t i = 0; i < files.count && ok; i++)
        ok = worker_build_member(a, b, files.v[i]);
    path_list_free(&files);
    return ok;
}

/* The messages: the last one says why it failed. */
static bool worker_build_refuse(answering *a, const build_request *b, text *said)
{
    if (b->memory.is_spent)
        return request_refuse(
            a, "limit", "the build takes more memory than is allowed; --limit=SECONDS,MEGABYTES allows more");
    if (said->len > 0)
        said->len--; /* the newline */
    for (size_t i = 0; i < said->len; i++)
        said->v[i] = said->v[i] == '\n' ? ' ' : said->v[i];
    return request_refuse(
        a, str_find((machsym_str){said->v, said->len}, map_took_too_long) < said->len ? "limit" : "no_build",
        text_z(said));
}

/* Of what came as base64 nothing is looked for in the file system: neither its other half nor its object
 * files. */
static bool worker_build_bytes(answering *a, build_request *b, const text *input)
{
    b->open.path = b->name != NULL ? b->name : "image";
    b->open.bytes = (machsym_bytes){(const uint8_t *)input->v, input->len};
    b->open.flags |= MACHSYM_OPEN_NO_PAIR | MACHSYM_OPEN_NO_OBJECTS;
    return worker_build_file(a, b);
}

static bool worker_build_all(answering *a, build_request *b)
{
    text input = {0};
    text said = {0};
    char *path = NULL;
    bool ok = request_take_input(a, "a dSYM", NULL, &input, &path);
    if (ok && path == NULL && input.len == 0)
        ok = request_refuse(a, worker_bad_request, "base64 is empty");
    if (ok) {
        text *before = say_to(&said);
        worker_build_begin_memory(a, b, path == NULL ? &input : NULL);
        text_c(a->out, ",\"maps\":[");
        ok = path != NULL ? worker_build_path(a, b, path) : worker_build_bytes(a, b, &input);
        text_char(a->out, ']');
        say_to(before);
        ok = ok && !b->memory.is_spent; /* of what a part of it lacks */
        if (ok)
            request_put_notes(a->out, &said);
        else
            worker_build_refuse(a, b, &said);
    }
    text_free(&input);
    text_free(&said);
    free(path);
    return ok;
}

static bool worker_build_answer(answering *a)
{
    build_request b;
    memset(&b, 0, sizeof b);
    object_options_apply(&a->options->lookups.objects, &b.open);
    bool ok = worker_build_take_request(a, &b) && worker_build_all(a, &b);
    free(b.arch);
    free(b.name);
    return ok;
}

const request_kind worker_build_kind = {"build", "id do base64 name path arch uuid as chunk",
                                        worker_build_answer};
