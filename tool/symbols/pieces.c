/* Which object file code came from; see pieces.h. */
#include "pieces.h"
#include "../../report/base/digits.h"
#include "../../report/base/memory.h"
#include "../base/readfile.h"
#include "../base/say.h"

#include <stdlib.h>
#include <string.h>

/* What to show for an object file: libsdk.a(member.o), or its base name. */
static machsym_str pieces_show_object(pieces *to, machsym_str path, machsym_str member)
{
    text shown = {0};
    text_base_name(&shown, path);
    if (member.len != 0) {
        text_char(&shown, '(');
        text_str(&shown, member);
        text_char(&shown, ')');
    }
    machsym_str kept = pool_copy(&to->strings, shown.v, shown.len);
    text_free(&shown);
    return kept;
}

static void pieces_add(pieces *to, uint64_t lo, uint64_t hi, machsym_str path, machsym_str owner)
{
    if (lo >= hi)
        return;
    to->v = mem_room(to->v, to->count, &to->cap, sizeof *to->v);
    to->v[to->count++] = (piece){lo, hi, path, owner};
}

static int pieces_by_address(const void *a, const void *b)
{
    const piece *x = a;
    const piece *y = b;
    if (x->lo != y->lo)
        return x->lo < y->lo ? -1 : 1;
    return x->hi < y->hi ? -1 : x->hi > y->hi;
}

static bool pieces_begins_by(const void *element, const void *addr)
{
    return ((const piece *)element)->lo <= *(const uint64_t *)addr;
}

const piece *pieces_find(const pieces *in, uint64_t addr)
{
    size_t after = mem_lower_bound(in->v, in->count, sizeof *in->v, &addr, pieces_begins_by);
    return after > 0 && addr < in->v[after - 1].hi ? &in->v[after - 1] : NULL;
}

/* The path of an object file as the linker writes it: archive(member). */
static machsym_str pieces_keep_whole(pieces *to, const machsym_object *object)
{
    text whole = {0};
    text_str(&whole, object->path);
    text_c(&whole, object->member.len != 0 ? "(" : "");
    text_str(&whole, object->member);
    text_c(&whole, object->member.len != 0 ? ")" : "");
    machsym_str kept = pool_copy(&to->strings, whole.v, whole.len);
    text_free(&whole);
    return kept;
}

/* The debug map in the file. */
void pieces_read_objects(pieces *to, machsym_session *session)
{
    machsym_cursor at = {0, 0};
    machsym_object object;
    machsym_object last = {0};
    machsym_str shown = {0};
    machsym_str path = {0};
    while (machsym_session_next_object(session, &at, &object)) {
        if (object.path.ptr != last.path.ptr ||
            shown.len == 0) { /* a view: each object file has its own string */
            shown = pieces_show_object(to, object.path, object.member);
            path = pieces_keep_whole(to, &object);
        }
        last = object;
        pieces_add(to, object.lo, object.hi, path, shown);
    }
}

/* An object file of a link map. */
typedef struct map_object {
    machsym_str path;
    machsym_str shown;
} map_object;

typedef struct map_objects {
    map_object *v;
    size_t count;
    size_t cap;
} map_objects;

/* Splits libsdk.a(member.o). Apple's newer linker numbers members: libsdk.a[3](member.o). */
static machsym_str pieces_split_member(machsym_str *path)
{
    size_t open = path->len;
    if (path->len == 0 || path->ptr[path->len - 1] != ')')
        return str_make(NULL, 0);
    while (open > 0 && path->ptr[open - 1] != '(')
        open--;
    if (open < 2)
        return str_make(NULL, 0);
    machsym_str member = str_make(path->ptr + open, path->len - open - 1);
    path->len = open - 1;
    if (path->ptr[path->len - 1] == ']') {
        size_t number = path->len;
        while (number > 0 && path->ptr[number - 1] != '[')
            number--;
        path->len = number > 1 ? number - 1 : path->len;
    }
    return member;
}

/* Reads "[ 12] rest". Returns false when the line has no such beginning. */
static bool pieces_map_index(machsym_str line, size_t *index, machsym_str *rest)
{
    size_t at = 1;
    *index = 0;
    if (line.len < 3 || line.ptr[0] != '[')
        return false;
    while (at < line.len && line.ptr[at] == ' ')
        at++;
    for (; at < line.len && line.ptr[at] >= '0' && line.ptr[at] <= '9' && *index < 100000000; at++)
        *index = *index * 10 + (size_t)(line.ptr[at] - '0');
    if (at >= line.len || line.ptr[at] != ']')
        return false;
    *rest = str_trim(str_make(line.ptr + at + 1, line.len - at - 1));
    return true;
}

/* Numbers count up from 0; a number that is larger than the size of the file is refused. */
static void pieces_read_map_object(pieces *to, machsym_str line, size_t file_size, map_objects *objects)
{
    size_t index;
    machsym_str path;
    if (!pieces_map_index(line, &index, &path) || index > file_size)
        return;
    while (objects->count <= index) {
        MACHSYM_COUNT_WORK(1);
        objects->v = mem_room(objects->v, objects->count, &objects->cap, sizeof *objects->v);
        memset(&objects->v[objects->count++], 0, sizeof *objects->v);
    }
    objects->v[index].path = pool_copy(&to->strings, path.ptr, path.len);
    machsym_str member = pieces_split_member(&path);
    objects->v[index].shown = pieces_show_object(to, path, member);
}

/* Reads "0xADDRESS<tab>0xSIZE<tab>[ 12] name". */
static void pieces_read_map_symbol(machsym_str line, const map_objects *objects, pieces *to)
{
    uint64_t numbers[2];
    size_t index;
    machsym_str name;
    for (unsigned i = 0; i < 2; i++) {
        size_t len = 0;
        while (len < line.len && line.ptr[len] != '\t' && line.ptr[len] != ' ')
            len++;
        if (!parse_hex(line.ptr, len, &numbers[i]))
            return;
        line = str_trim(str_make(line.ptr + len, line.len - len));
    }
    if (pieces_map_index(line, &index, &name) && index < objects->count)
        pieces_add(to, numbers[0], numbers[0] + numbers[1], objects->v[index].path, objects->v[index].shown);
}

/* A link map of ld64 or lld: object files with numbers, then symbols with the number of theirs. */
bool pieces_read_linkmap(pieces *to, const char *path)
{
    text file = {0};
    map_objects objects = {0};
    machsym_str line;
    enum { OTHER, OBJECTS, SYMBOLS } part = OTHER;
    const char *why = file_read_words(&file, path);
    if (why != NULL) {
        say_message("%s: %s", path, why);
        text_free(&file);
        return false;
    }
    machsym_str rest = str_make(file.v, file.len);
    while (str_take_line(&rest, &line)) {
        if (str_starts(line, "# Object files:"))
            part = OBJECTS;
        else if (str_starts(line, "# Symbols:"))
            part = SYMBOLS;
        else if (str_starts(line, "# Sections:") || str_starts(line, "# Dead Stripped"))
            part = OTHER;
        else if (part == OBJECTS)
            pieces_read_map_object(to, line, file.len, &objects);
        else if (part == SYMBOLS)
            pieces_read_map_symbol(line, &objects, to);
    }
    if (to->count == 0)
        say_message("%s: no symbols in it; is it a link map (-map of ld64 or lld)?", path);
    free(objects.v);
    text_free(&file);
    return to->count > 0;
}

void pieces_finish(pieces *of)
{
    if (of->count > 0)
        qsort(of->v, of->count, sizeof *of->v, pieces_by_address);
}

void pieces_free(pieces *of)
{
    free(of->v);
    pool_free(&of->strings);
    memset(of, 0, sizeof *of);
}
