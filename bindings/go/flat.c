/* See flat.h. Two programs may share the work, as in WebAssembly: with FLAT_SHARED the first has no reports, and the second
 * may call its functions; with FLAT_SECOND this is the second, which has reports only. */
#if !defined FLAT_SHARED && !defined FLAT_SECOND
#define MACHSYM_STATIC
#endif
#ifndef FLAT_SECOND
#define MACHSYM_IMPLEMENTATION
#endif
#include "machsym.h"
#ifdef FLAT_REPORTS
#define MACHSYM_REPORT_IMPLEMENTATION
#include "machsym_report.h"
#endif

#include "flat.h"

#include <stdlib.h>
#include <string.h>

struct flat_image {
    machsym_image *image;
    machsym_map *built; /* whose bytes the image lies in */
};

/* Bytes that grow. After a failure they are NULL, and stay so. */
typedef struct flat_text {
    char *v;
    size_t len;
    size_t cap;
} flat_text;

/* ---- Memory ---- */

static void *take(void *user, size_t size)
{
    (void)user;
    return malloc(size);
}

static void give(void *user, void *ptr, size_t size)
{
    (void)user;
    (void)size;
    free(ptr);
}

/* MACHSYM_NO_OS has none of its own. */
static machsym_allocator memory(void)
{
    machsym_allocator allocator = {take, give, NULL};
    return allocator;
}

/* ---- Errors ---- */

/* Returns whether there is one. */
static bool fail(machsym_result result, const machsym_error *from, const machsym_open_desc *desc,
                 flat_error *to)
{
    if (result == MACHSYM_OK)
        return false;
    to->code = (int32_t)result;
    to->os_errno = from->os_errno;
    to->offset = from->offset;
    machsym_error_text(from, desc, to->text, sizeof to->text);
    return true;
}

static void fail_memory(flat_error *to)
{
    machsym_error err;
    memset(&err, 0, sizeof err);
    err.code = MACHSYM_ERR_MEMORY;
    err.what = "the allocator has no memory left";
    err.where = "";
    fail(err.code, &err, NULL, to);
}

/* ---- Images, sessions ---- */

/* A session keeps every name that a map gave. With more than this it forgets them, so that a service may ask for days:
 * what it then has to unpack again are names of a few thousand addresses. */
enum { FLAT_KEEP = 256 << 20 };

static const machsym_map *map_of(const machsym_image *image)
{
    machsym_image_info info;
    machsym_image_get_info(image, &info);
    return info.map;
}

/* lines: -1 for the map's own. */
static machsym_session_desc describe_session(machsym_image *image, int32_t lines)
{
    machsym_session_desc how;
    machsym_map_info info;
    const machsym_map *map = map_of(image);
    memset(&how, 0, sizeof how);
    how.allocator = memory();
    how.image = image;
    how.lines = lines < 0 ? MACHSYM_LINES_ATOS : (machsym_lines)lines;
    if (lines < 0 && map != NULL) {
        machsym_map_get_info(map, &info);
        how.lines = info.lines;
    }
    return how;
}

/* ---- Bytes that grow ---- */

/* Makes room for a number of bytes at the end. Returns where, or NULL: there is no memory. */
static char *room(flat_text *t, size_t len)
{
    if (len > t->cap - t->len) {
        size_t cap = t->len + len + t->cap;
        char *v = (char *)realloc(t->v, cap);
        if (v == NULL)
            return NULL;
        t->v = v;
        t->cap = cap;
    }
    return t->v + t->len;
}

#ifndef FLAT_SECOND
/* What a text is made from. A name and a linkage name lie in of.name. */
typedef struct flat_key {
    enum { FLAT_NAME, FLAT_LINKAGE, FLAT_FILE } kind;
    machsym_path of;
} flat_key;

typedef struct flat_place {
    flat_key key;
    uint32_t number; /* of the text; 0: the place is free */
} flat_place;

struct flat_session {
    const flat_image *image;
    machsym_session *session;
    machsym_frame *frames; /* room that stays between calls */
    size_t frame_cap;
    uint64_t *addrs;
    machsym_answer *answers;
    size_t addr_cap;
    flat_place *places; /* of the texts of one call; a power of two */
    size_t place_count;
    flat_text heads;   /* of frames */
    flat_text lengths; /* of texts */
    flat_text texts;
    flat_text out;
};

const char *flat_version(void)
{
    return machsym_version();
}

const char *flat_result_name(int32_t code)
{
    return machsym_result_name((machsym_result)code);
}

const char *flat_source_name(int32_t source)
{
    return machsym_source_name((machsym_source)source);
}

size_t flat_demangle(const char *name, size_t len, uint32_t flags, char *out, size_t cap)
{
    machsym_str mangled;
    mangled.ptr = name;
    mangled.len = len;
    return machsym_demangle(mangled, flags, out, cap);
}

/* ---- Output that counts on when it is full ---- */

typedef struct flat_sink {
    char *out;
    size_t len;
    size_t cap;
} flat_sink;

static void put(flat_sink *s, const void *ptr, size_t len)
{
    if (len != 0 && s->len <= s->cap && len <= s->cap - s->len)
        memcpy(s->out + s->len, ptr, len);
    s->len += len;
}

static void put32(flat_sink *s, uint64_t number)
{
    uint32_t n = (uint32_t)number;
    put(s, &n, sizeof n);
}

static void put64(flat_sink *s, uint64_t number)
{
    put(s, &number, sizeof number);
}

static void put_text(flat_sink *s, const char *ptr, size_t len)
{
    put32(s, len);
    put(s, ptr, len);
}

static void put_c(flat_sink *s, const char *c_string)
{
    put_text(s, c_string, c_string != NULL ? strlen(c_string) : 0);
}

/* ---- Descriptions ---- */

/* What a description stands for. Its prefixes and its UUID lie in *prefixes, which is to be freed, and in *uuid. */
static bool describe(const flat_desc *from, machsym_open_desc *to, machsym_uuid *uuid,
                     machsym_oso_prefix **prefixes)
{
    memset(to, 0, sizeof *to);
    *prefixes = (machsym_oso_prefix *)calloc(from->prefix_count + 1, sizeof **prefixes);
    if (*prefixes == NULL)
        return false;
    for (size_t i = 0; i < from->prefix_count; i++) {
        (*prefixes)[i].from = from->prefixes[2 * i];
        (*prefixes)[i].to = from->prefixes[2 * i + 1];
    }
    if (from->uuid != NULL) {
        memcpy(uuid->v, from->uuid, sizeof uuid->v);
        to->uuid = uuid;
    }
    to->path = from->path;
    to->bytes.ptr = from->bytes;
    to->bytes.len = from->len;
    to->pair_path = from->pair_path;
    to->arch = from->arch;
    to->entry = from->entry;
    to->flags = (from->flags & 1) != 0 ? (uint32_t)MACHSYM_OPEN_COPY : 0;
    to->allocator = memory();
    to->io.read = from->read;
    to->io.user = from->read_user;
    to->io.size = from->read_size;
    to->oso_prefixes = *prefixes;
    to->oso_prefix_count = from->prefix_count;
    to->oso_dirs = from->dirs;
    to->oso_dir_count = from->dir_count;
    return true;
}

/* ---- Files ---- */

enum { FLAT_SLICES = 256 /* a fat file of more architectures than there are */ };

size_t flat_slices(const flat_desc *desc, char *out, size_t cap, flat_error *err)
{
    flat_sink s = {out, 0, cap};
    machsym_open_desc open;
    machsym_uuid uuid;
    machsym_oso_prefix *prefixes;
    machsym_error why;
    machsym_slice *slices = (machsym_slice *)calloc(FLAT_SLICES, sizeof *slices);
    if (slices == NULL || !describe(desc, &open, &uuid, &prefixes)) {
        free(slices);
        fail_memory(err);
        return 0;
    }
    size_t count = machsym_list_slices(&open, slices, FLAT_SLICES, &why);
    if (count == 0)
        fail(why.code, &why, &open, err);
    count = count < FLAT_SLICES ? count : FLAT_SLICES;
    put32(&s, count);
    for (size_t i = 0; i < count; i++) {
        put32(&s, slices[i].filetype);
        put32(&s, slices[i].has_uuid);
        put64(&s, slices[i].offset);
        put64(&s, slices[i].size);
        put_text(&s, (const char *)slices[i].uuid.v, sizeof slices[i].uuid.v);
        put_c(&s, slices[i].arch);
    }
    free(prefixes);
    free(slices);
    return count == 0 ? 0 : s.len;
}

size_t flat_info(const flat_image *image, char *out, size_t cap)
{
    flat_sink s = {out, 0, cap};
    machsym_image_info info;
    machsym_map_info map;
    memset(&map, 0, sizeof map);
    machsym_image_count_damage(image->image, &info);
    if (info.map != NULL)
        machsym_map_get_info(info.map, &map);
    put32(&s, info.map != NULL);
    put32(&s, (uint32_t)map.lines);
    put32(&s, info.slice.filetype);
    put32(&s, info.slice.has_uuid);
    put32(&s, info.platform);
    put32(&s, info.min_os);
    put32(&s, info.sdk);
    put32(&s, info.has_dwarf);
    put32(&s, info.damage_count);
    put32(&s, info.damage.is_cut_short);
    put64(&s, info.text_addr);
    put64(&s, info.text_size);
    put_text(&s, (const char *)info.slice.uuid.v, sizeof info.slice.uuid.v);
    put_c(&s, info.slice.arch);
    put_text(&s, info.name.ptr, info.name.len);
    put_c(&s, info.path);
    put_c(&s, info.pair_path);
    put64(&s, info.read_count);
    put64(&s, info.read_bytes);
    return s.len;
}

flat_image *flat_open(const flat_desc *desc, flat_error *err)
{
    machsym_open_desc open;
    machsym_uuid uuid;
    machsym_oso_prefix *prefixes = NULL;
    machsym_error why;
    flat_image *image = (flat_image *)calloc(1, sizeof *image);
    if (image == NULL || !describe(desc, &open, &uuid, &prefixes)) {
        free(image);
        fail_memory(err);
        return NULL;
    }
    bool failed = fail(machsym_image_open(&open, &image->image, &why), &why, &open, err);
    free(prefixes);
    if (!failed)
        return image;
    free(image);
    return NULL;
}

void flat_close(flat_image *image)
{
    if (image == NULL)
        return;
    machsym_image_close(image->image);
    machsym_map_close(image->built);
    free(image);
}

uint64_t flat_addr(const flat_image *image, uint64_t load, uint64_t pc)
{
    return machsym_image_addr_of_pc(image->image, load, pc);
}

/* ---- Maps ---- */

flat_image *flat_map_build(const flat_image *from, int32_t lines, uint32_t flags, flat_error *err)
{
    machsym_plan_desc plan;
    machsym_open_desc open;
    machsym_error why;
    flat_image *image = (flat_image *)calloc(1, sizeof *image);
    if (image == NULL) {
        fail_memory(err);
        return NULL;
    }
    memset(&plan, 0, sizeof plan);
    memset(&open, 0, sizeof open);
    plan.allocator = memory();
    plan.image = from->image;
    plan.lines = (machsym_lines)lines;
    plan.flags = flags;
    machsym_result result = machsym_map_build(&plan, &image->built, &why);
    if (result == MACHSYM_OK) {
        open.bytes = machsym_map_bytes(image->built);
        open.flags = MACHSYM_OPEN_UNCHECKED;
        open.allocator = memory();
        result = machsym_image_open(&open, &image->image, &why);
    }
    if (!fail(result, &why, NULL, err))
        return image;
    flat_close(image);
    return NULL;
}

const void *flat_map_bytes(const flat_image *image, size_t *len)
{
    const machsym_map *map = map_of(image->image);
    machsym_bytes bytes = {NULL, 0};
    if (map != NULL)
        bytes = machsym_map_bytes(map);
    *len = bytes.len;
    return bytes.ptr;
}

#ifndef MACHSYM_NO_OS
int flat_map_save(const flat_image *image, const char *path, flat_error *err)
{
    machsym_error why;
    machsym_open_desc to;
    memset(&to, 0, sizeof to);
    to.path = path;
    return !fail(machsym_map_save(map_of(image->image), path, &why), &why, &to, err);
}
#endif

/* ---- Sessions ---- */

flat_session *flat_session_open(const flat_image *image, int32_t lines, uint32_t flags, flat_error *err)
{
    machsym_session_desc how;
    machsym_error why;
    flat_session *s = (flat_session *)calloc(1, sizeof *s);
    if (s == NULL) {
        fail_memory(err);
        return NULL;
    }
    how = describe_session(image->image, lines);
    how.flags = flags;
    s->image = image;
    if (!fail(machsym_session_open(&how, &s->session, &why), &why, NULL, err))
        return s;
    free(s);
    return NULL;
}

void flat_session_close(flat_session *s)
{
    if (s == NULL)
        return;
    machsym_session_close(s->session);
    free(s->frames);
    free(s->addrs);
    free(s->answers);
    free(s->places);
    free(s->heads.v);
    free(s->lengths.v);
    free(s->texts.v);
    free(s->out.v);
    free(s);
}

static bool add32(flat_text *t, uint64_t number)
{
    char *at = room(t, sizeof(uint32_t));
    if (at == NULL)
        return false;
    flat_sink s = {at, 0, sizeof(uint32_t)};
    put32(&s, number);
    t->len += s.len;
    return true;
}

/* ---- Each text of an answer once ---- */

static bool is_same(machsym_str a, machsym_str b)
{
    return a.ptr == b.ptr && a.len == b.len;
}

/* Equal texts may have several keys, but what lies in one place is one text: a session leaves its texts where they are
 * until it is trimmed. */
static bool is_same_key(const flat_key *a, const flat_key *b)
{
    return a->kind == b->kind && is_same(a->of.name, b->of.name) && is_same(a->of.dir, b->of.dir) &&
           is_same(a->of.comp_dir, b->of.comp_dir);
}

static size_t hash_of(const flat_key *key)
{
    uint64_t hash = (uint64_t)(size_t)key->of.name.ptr + (uint64_t)key->of.name.len * 31;
    hash = hash * 31 + (uint64_t)(size_t)key->of.dir.ptr;
    hash = (hash * 31 + (uint64_t)key->kind) * UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)(hash >> 32);
}

/* The place of a key: its own, or a free one. */
static flat_place *place_of(const flat_session *s, const flat_key *key)
{
    size_t at = hash_of(key) & (s->place_count - 1);
    while (s->places[at].number != 0 && !is_same_key(&s->places[at].key, key))
        at = (at + 1) & (s->place_count - 1);
    return &s->places[at];
}

/* Doubles the places. */
static bool add_places(flat_session *s)
{
    enum { FIRST_PLACES = 64 };
    flat_place *old = s->places;
    size_t old_count = s->place_count;
    size_t count = old_count != 0 ? 2 * old_count : FIRST_PLACES;
    flat_place *more = (flat_place *)calloc(count, sizeof *more);
    if (more == NULL)
        return false;
    s->places = more;
    s->place_count = count;
    for (size_t i = 0; i < old_count; i++) {
        if (old[i].number != 0)
            *place_of(s, &old[i].key) = old[i];
    }
    free(old);
    return true;
}

static size_t text_count(const flat_session *s)
{
    return s->lengths.len / sizeof(uint32_t);
}

/* Writes what a key stands for at the end of the texts. */
static bool add_text(flat_session *s, const flat_key *key, uint32_t names)
{
    size_t cap = 512;
    for (;;) {
        size_t len = key->of.name.len;
        char *at = room(&s->texts, cap > len ? cap : len);
        if (at == NULL)
            return false;
        cap = s->texts.cap - s->texts.len;
        if (key->kind == FLAT_NAME)
            len = machsym_demangle(key->of.name, names, at, cap);
        else if (key->kind == FLAT_FILE)
            len = machsym_path_join(&key->of, at, cap);
        else
            memcpy(at, key->of.name.ptr, len);
        if (len < cap || key->kind == FLAT_LINKAGE) {
            s->texts.len += len;
            return add32(&s->lengths, len);
        }
        cap = len + 1; /* with the NUL after it */
    }
}

/* Writes the number of a text, which is made when it is the first of its kind. 0 is the empty text. */
static bool put_number(flat_session *s, const flat_key *key, uint32_t names)
{
    if (key->of.name.len == 0)
        return add32(&s->heads, 0);
    if (text_count(s) >= s->place_count / 2 && !add_places(s))
        return false;
    flat_place *place = place_of(s, key);
    if (place->number == 0) {
        uint32_t number = (uint32_t)text_count(s);
        if (!add_text(s, key, names))
            return false;
        place->key = *key;
        place->number = number;
    }
    return add32(&s->heads, place->number);
}

static bool add_frame(flat_session *s, const machsym_frame *f, uint32_t names)
{
    enum { HEAD = 2 * 8 + 5 * 4 };
    flat_key name = {FLAT_NAME, {{NULL, 0}, {NULL, 0}, {NULL, 0}}};
    flat_key linkage = {FLAT_LINKAGE, {{NULL, 0}, {NULL, 0}, {NULL, 0}}};
    flat_key file = {FLAT_FILE, {{NULL, 0}, {NULL, 0}, {NULL, 0}}};
    char *at = room(&s->heads, HEAD);
    if (at == NULL)
        return false;
    flat_sink head = {at, 0, HEAD};
    put64(&head, f->function_start);
    put64(&head, f->function_size);
    put32(&head, f->line);
    put32(&head, f->column);
    put32(&head, (f->is_inline ? 1u : 0u) | (f->lacks_callers ? 2u : 0u));
    put32(&head, (uint32_t)f->name_source);
    put32(&head, (uint32_t)f->line_source);
    s->heads.len += head.len;
    name.of.name = f->linkage_name.len != 0 ? f->linkage_name : f->name;
    linkage.of.name = f->linkage_name;
    file.of = f->file;
    return put_number(s, &name, names) && put_number(s, &linkage, names) && put_number(s, &file, names);
}

/* Room for a number of frames; what was in it before is gone. */
static bool make_frames(flat_session *s, size_t count)
{
    if (count <= s->frame_cap)
        return true;
    free(s->frames);
    s->frames = (machsym_frame *)malloc(count * sizeof *s->frames);
    s->frame_cap = s->frames != NULL ? count : 0;
    return s->frames != NULL;
}

static bool make_room(flat_session *s, size_t count)
{
    enum { USUAL_FRAMES = 4 /* of an address; more are asked for again */ };
    if (count > SIZE_MAX / (USUAL_FRAMES * sizeof *s->frames))
        return false;
    if (count > s->addr_cap) {
        free(s->answers);
        free(s->addrs);
        s->answers = (machsym_answer *)calloc(count, sizeof *s->answers);
        s->addrs = (uint64_t *)calloc(count, sizeof *s->addrs);
        s->addr_cap = s->answers != NULL && s->addrs != NULL ? count : 0;
    }
    return count <= s->addr_cap && make_frames(s, USUAL_FRAMES * count);
}

/* Fills answers and frames; false when there is no memory. */
static bool look_up(flat_session *s, size_t count)
{
    size_t found;
    while ((found = machsym_session_frames_at_addrs(s->session, s->addrs, count, s->answers, s->frames,
                                                    s->frame_cap)) > s->frame_cap) {
        if (!make_frames(s, found))
            return false;
    }
    return !machsym_session_lacked_memory(s->session);
}

/* Forgets the texts of the call before. Places that a small call would take long to clear are given back. */
static bool begin_texts(flat_session *s, size_t count)
{
    enum { PLACES_OF_ONE = 64 };
    s->heads.len = s->lengths.len = s->texts.len = s->out.len = 0;
    if (s->place_count / PLACES_OF_ONE > count) {
        free(s->places);
        s->places = NULL;
        s->place_count = 0;
    }
    if (s->place_count != 0)
        memset(s->places, 0, s->place_count * sizeof *s->places);
    return add32(&s->lengths, 0);
}

/* Puts the answer together. */
static bool join(flat_session *s, size_t count, size_t frame_count)
{
    size_t counts = count * sizeof(uint32_t);
    size_t need = 2 * sizeof(uint32_t) + s->lengths.len + counts + s->heads.len + s->texts.len;
    char *at = room(&s->out, need);
    if (at == NULL)
        return false;
    flat_sink sink = {at, 0, need};
    put32(&sink, text_count(s));
    put32(&sink, frame_count);
    put(&sink, s->lengths.v, s->lengths.len);
    for (size_t i = 0; i < count; i++)
        put32(&sink, s->answers[i].count);
    put(&sink, s->heads.v, s->heads.len);
    put(&sink, s->texts.v, s->texts.len);
    s->out.len = sink.len;
    return true;
}

const char *flat_lookup(flat_session *s, int is_runtime, uint64_t load, uint32_t names, const uint64_t *addrs,
                        size_t count, size_t *len)
{
    size_t frame_count = 0;
    *len = 0;
    if (machsym_session_memory(s->session) > FLAT_KEEP)
        machsym_session_trim(s->session);
    if (count == 0 || !make_room(s, count) || !begin_texts(s, count))
        return NULL;
    for (size_t i = 0; i < count; i++)
        s->addrs[i] = is_runtime ? machsym_image_addr_of_pc(s->image->image, load, addrs[i]) : addrs[i];
    if (!look_up(s, count)) {
        machsym_session_trim(s->session);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        frame_count += s->answers[i].count;
        for (size_t k = 0; k < s->answers[i].count; k++) {
            if (!add_frame(s, &s->frames[s->answers[i].first + k], names))
                return NULL;
        }
    }
    if (!join(s, count, frame_count))
        return NULL;
    *len = s->out.len;
    return s->out.v;
}
#endif

#ifdef FLAT_REPORTS
/* ---- Reports ---- */

struct flat_symbols {
    machsym_report_files files; /* first: callbacks of machsym_report_of_files get it */
    machsym_report_file *v;     /* sessions are opened when a report needs them */
    int32_t lines;
    bool lacks_memory;
    flat_text out;
    const flat_report_desc *desc;
};

flat_symbols *flat_symbols_open(const flat_image *const *images, size_t count, int32_t lines, flat_error *err)
{
    flat_symbols *s = (flat_symbols *)calloc(1, sizeof *s);
    machsym_report_file *v = (machsym_report_file *)calloc(count + 1, sizeof *v);
    if (s == NULL || v == NULL) {
        free(s);
        free(v);
        fail_memory(err);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        v[i].image = images[i]->image;
    s->v = v;
    s->files.v = v;
    s->files.count = count;
    s->lines = lines;
    return s;
}

void flat_symbols_close(flat_symbols *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->files.count; i++)
        machsym_session_close(s->v[i].session);
    free(s->v);
    free(s->out.v);
    free(s);
}

static bool symbols_find(void *user, const machsym_report_image *image, machsym_report_found *found)
{
    flat_symbols *s = (flat_symbols *)user;
    machsym_error why;
    if (!machsym_report_of_files(&s->files).find(&s->files, image, found))
        return false;
    machsym_report_file *file = &s->v[s->files.at - s->files.v];
    if (file->session != NULL)
        return true;
    int32_t lines = map_of(file->image) != NULL ? -1 : s->lines;
    machsym_session_desc how = describe_session(file->image, lines);
    machsym_result result = machsym_session_open(&how, &file->session, &why);
    s->lacks_memory |= result == MACHSYM_ERR_MEMORY;
    return result == MACHSYM_OK;
}

static void add(flat_symbols *s, const void *ptr, size_t len)
{
    char *at = s->lacks_memory ? NULL : room(&s->out, len);
    if (at == NULL) {
        s->lacks_memory = true;
        return;
    }
    if (len > 0)
        memcpy(at, ptr, len);
    s->out.len += len;
}

static void add_u32(flat_symbols *s, uint64_t number)
{
    uint32_t n = (uint32_t)number;
    add(s, &n, sizeof n);
}

static void add_u64(flat_symbols *s, uint64_t number)
{
    add(s, &number, sizeof number);
}

static void add_str(flat_symbols *s, machsym_str str)
{
    add_u32(s, str.len);
    add(s, str.ptr, str.len);
}

static void add_c(flat_symbols *s, const char *c_string)
{
    machsym_str str;
    str.ptr = c_string;
    str.len = strlen(c_string);
    add_str(s, str);
}

static void add_images(flat_symbols *s, const machsym_report *report)
{
    machsym_cursor at = {0, 0};
    machsym_report_image image;
    machsym_str uuid;
    uint32_t count = 0;
    while (machsym_report_next_image(report, &at, &image))
        count++;
    add_u32(s, count);
    memset(&at, 0, sizeof at);
    while (machsym_report_next_image(report, &at, &image)) {
        add_u64(s, image.base);
        add_u64(s, image.end);
        add_u32(s, (image.has_uuid ? 1u : 0) + (image.is_system ? 2u : 0));
        add_u32(s, image.frames);
        add_u32(s, image.missing);
        uuid.ptr = (const char *)image.uuid.v;
        uuid.len = sizeof image.uuid.v;
        add_str(s, uuid);
        add_str(s, image.name);
        add_str(s, image.path);
        add_str(s, image.arch);
        add_str(s, image.version);
    }
}

static void add_frames(flat_symbols *s, const machsym_report *report)
{
    machsym_cursor at = {0, 0};
    machsym_report_frame frame;
    uint32_t count = 0;
    while (machsym_report_next_frame(report, &at, &frame))
        count++;
    add_u32(s, count);
    memset(&at, 0, sizeof at);
    while (machsym_report_next_frame(report, &at, &frame)) {
        add_u64(s, frame.addr);
        add_u64(s, frame.thread);
        add_u64(s, frame.offset);
        add_u32(s, frame.line);
        add_u32(s, (frame.is_crashed ? 1u : 0) + (frame.is_inline ? 2u : 0) + (frame.is_inferred ? 4u : 0));
        add_str(s, frame.image);
        add_str(s, frame.name);
        add_str(s, frame.path);
        add_str(s, frame.doubt);
    }
}

static bool add_report(void *user, machsym_report *report)
{
    flat_symbols *s = (flat_symbols *)user;
    machsym_report_info info;
    machsym_str written;
    machsym_report_get_info(report, &info);
    add_u32(s, 1);
    add_u32(s, info.number);
    add_u32(s, info.frames);
    add_u32(s, info.named);
    add_u32(s, info.missing);
    add_u64(s, info.cut_at);
    add_c(s, info.kind);
    if (s->desc->parts & FLAT_REPORT_IMAGES)
        add_images(s, report);
    else
        add_u32(s, 0);
    if (s->desc->parts & FLAT_REPORT_FRAMES)
        add_frames(s, report);
    else
        add_u32(s, 0);
    for (int form = 0; form <= (int)MACHSYM_REPORT_AS_SIGNATURE; form++) {
        if ((s->desc->forms & 1u << form) == 0)
            continue;
        if (machsym_report_write(report, (machsym_report_form)form, &written) != MACHSYM_OK)
            s->lacks_memory = true;
        add_str(s, written);
    }
    return true;
}

static void add_failure(void *user, uint32_t number, const char *why, uint64_t at)
{
    flat_symbols *s = (flat_symbols *)user;
    add_u32(s, 2);
    add_u32(s, number);
    add_u64(s, at);
    add_c(s, why);
}

static void trim_symbols(flat_symbols *s)
{
    for (size_t i = 0; i < s->files.count; i++) {
        if (s->v[i].session != NULL && machsym_session_memory(s->v[i].session) > FLAT_KEEP)
            machsym_session_trim(s->v[i].session);
    }
}

const char *flat_symbolicate(flat_symbols *s, const flat_report_desc *desc, size_t *len, flat_error *err)
{
    machsym_reports_desc how;
    machsym_reports *reports = NULL;
    machsym_error why;
    *len = 0;
    trim_symbols(s);
    memset(&how, 0, sizeof how);
    how.allocator = memory();
    how.input.ptr = (const char *)desc->input;
    how.input.len = desc->len;
    how.name = desc->name;
    how.redact = desc->redact;
    how.flags = desc->flags;
    how.symbols = machsym_report_of_files(&s->files);
    how.symbols.find = symbols_find;
    how.user = s;
    how.each = add_report;
    how.fails = add_failure;
    s->desc = desc;
    s->lacks_memory = false;
    s->out.len = 0;
    if (!fail(machsym_reports_open(&how, &reports, &why), &why, NULL, err)) {
        add_u32(s, 3);
        add_str(s, machsym_reports_same(reports));
        machsym_reports_close(reports);
        if (!s->lacks_memory) {
            *len = s->out.len;
            return s->out.v;
        }
        fail_memory(err);
    }
    return NULL;
}
#endif
