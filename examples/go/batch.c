#include "batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct batch {
    machsym_image *image;
    machsym_session *session;
    machsym_map *map;
    machsym_frame *frames; /* room that stays between calls */
    size_t frame_cap;
    machsym_map_frame *found; /* of a map, before their names are known */
    size_t found_cap;
    machsym_answer *answers;
    uint64_t *addrs;
    size_t addr_cap;
    char *text; /* of a map's names */
    size_t text_cap;
};

/* Grows an array that need not keep its contents. */
static void *room_for(void *array, size_t *cap, size_t count, size_t size)
{
    if (count <= *cap)
        return array;
    free(array);
    *cap = count;
    return malloc(count * size);
}

static bool is_map(const char *path)
{
    char magic[8] = "";
    FILE *in = fopen(path, "rb");
    size_t got = in != NULL ? fread(magic, 1, sizeof magic, in) : 0;
    if (in != NULL)
        fclose(in);
    return got == 8 && memcmp(magic, "MACHSYM\n", 8) == 0;
}

static machsym_result open_image(batch *b, const char *path, const char *arch, int lines, machsym_error *err)
{
    machsym_open_desc desc = {.path = path, .arch = arch};
    machsym_session_desc how = {.lines = (machsym_lines)lines};
    machsym_result result = machsym_image_open(&desc, &b->image, err);
    if (result != MACHSYM_OK)
        return result;
    how.image = b->image;
    return machsym_session_open(&how, &b->session, err);
}

batch *batch_open(const char *path, const char *arch, int lines, char *text, size_t cap)
{
    machsym_map_desc map = {.path = path};
    machsym_error err;
    batch *b = calloc(1, sizeof *b);
    if (b == NULL) {
        snprintf(text, cap, "%s: no memory", path);
        return NULL;
    }
    machsym_result result =
        is_map(path) ? machsym_map_open(&map, &b->map, &err) : open_image(b, path, arch, lines, &err);
    if (result == MACHSYM_OK)
        return b;
    snprintf(text, cap, "%s: %s%s%s", path, err.what, err.os_errno != 0 ? ": " : "",
             err.os_errno != 0 ? strerror(err.os_errno) : "");
    batch_close(b);
    return NULL;
}

void batch_close(batch *b)
{
    if (b == NULL)
        return;
    if (b->session != NULL)
        machsym_session_close(b->session);
    machsym_image_close(b->image);
    if (b->map != NULL)
        machsym_map_close(b->map);
    free(b->frames);
    free(b->found);
    free(b->answers);
    free(b->addrs);
    free(b->text);
    free(b);
}

/* Output that counts on when it is full. */
typedef struct sink {
    char *out;
    size_t len;
    size_t cap;
} sink;

static void put(sink *s, const void *ptr, size_t len)
{
    if (len != 0 && s->len <= s->cap && len <= s->cap - s->len)
        memcpy(s->out + s->len, ptr, len);
    s->len += len;
}

static void put32(sink *s, size_t number)
{
    uint32_t n = (uint32_t)number;
    put(s, &n, sizeof n);
}

static size_t left(const sink *s)
{
    return s->len < s->cap ? s->cap - s->len : 0;
}

/* Each text is made where it will stand: its NUL is overwritten by what follows. */
static void put_frame(sink *s, const machsym_frame *f)
{
    uint64_t range[2] = {f->function_start, f->function_size};
    uint32_t numbers[5] = {f->line, f->column, f->is_inline, f->name_source, f->line_source};
    uint32_t lengths[3];
    machsym_str name = f->linkage_name.len != 0 ? f->linkage_name : f->name;
    put(s, range, sizeof range);
    put(s, numbers, sizeof numbers);
    size_t lengths_at = s->len;
    put(s, lengths, sizeof lengths);
    size_t at = s->len;
    s->len +=
        machsym_demangle(name, MACHSYM_DEMANGLE_SIMPLIFIED, left(s) > 0 ? s->out + s->len : NULL, left(s));
    lengths[0] = (uint32_t)(s->len - at);
    lengths[1] = (uint32_t)f->linkage_name.len;
    put(s, f->linkage_name.ptr, f->linkage_name.len);
    at = s->len;
    s->len += machsym_path_join(&f->file, left(s) > 0 ? s->out + s->len : NULL, left(s));
    lengths[2] = (uint32_t)(s->len - at);
    if (s->len <= s->cap)
        memcpy(s->out + lengths_at, lengths, sizeof lengths);
}

static bool map_stack(batch *b, const uint64_t *addrs, size_t count, sink *s)
{
    for (size_t i = 0; i < count; i++) {
        size_t found = machsym_map_frames(b->map, addrs[i], NULL, 0);
        b->frames = room_for(b->frames, &b->frame_cap, found, sizeof *b->frames);
        b->found = room_for(b->found, &b->found_cap, found, sizeof *b->found);
        if (found != 0 && (b->frames == NULL || b->found == NULL))
            return false;
        machsym_map_frames(b->map, addrs[i], b->found, found);
        size_t need = machsym_map_names(b->map, b->found, found, b->frames, b->text, b->text_cap);
        if (need > b->text_cap) {
            b->text = room_for(b->text, &b->text_cap, need, 1);
            if (b->text == NULL)
                return false;
            machsym_map_names(b->map, b->found, found, b->frames, b->text, b->text_cap);
        }
        put32(s, found);
        for (size_t k = 0; k < found; k++)
            put_frame(s, &b->frames[k]);
    }
    return true;
}

static bool session_stack(batch *b, const uint64_t *addrs, size_t count, sink *s)
{
    size_t found = machsym_session_lookup(b->session, addrs, count, b->answers, b->frames, b->frame_cap);
    if (found > b->frame_cap) {
        b->frames = room_for(b->frames, &b->frame_cap, found, sizeof *b->frames);
        if (b->frames == NULL)
            return false;
        machsym_session_lookup(b->session, addrs, count, b->answers, b->frames, b->frame_cap);
    }
    for (size_t i = 0; i < count; i++) {
        put32(s, b->answers[i].count);
        for (size_t k = 0; k < b->answers[i].count; k++)
            put_frame(s, &b->frames[b->answers[i].first + k]);
    }
    return true;
}

/* Room for the addresses of a stack; false when there is no memory. */
static bool make_room(batch *b, size_t count)
{
    size_t cap = b->addr_cap;
    b->answers = room_for(b->answers, &cap, count, sizeof *b->answers);
    b->addrs = room_for(b->addrs, &b->addr_cap, count, sizeof *b->addrs);
    if (b->answers != NULL && b->addrs != NULL)
        return true;
    b->addr_cap = 0;
    return false;
}

size_t batch_stack(batch *b, int is_runtime, uint64_t load, const uint64_t *addrs, size_t count, char *out,
                   size_t cap)
{
    sink s = {out, 0, cap};
    if (count == 0 || !make_room(b, count))
        return 0;
    for (size_t i = 0; i < count; i++) {
        b->addrs[i] = addrs[i];
        if (is_runtime != 0)
            b->addrs[i] = b->map != NULL ? machsym_map_addr(b->map, load, addrs[i])
                                         : machsym_image_addr(b->image, load, addrs[i]);
    }
    if (!(b->map != NULL ? map_stack(b, b->addrs, count, &s) : session_stack(b, b->addrs, count, &s))) {
        b->frame_cap = b->frames != NULL ? b->frame_cap : 0;
        b->text_cap = b->text != NULL ? b->text_cap : 0;
        return 0;
    }
    return s.len;
}
