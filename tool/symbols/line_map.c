/* Lines of C#; see line_map.h. */
#include "line_map.h"
#include "../../report/base/json.h"
#include "../../report/base/memory.h"
#include "../../report/base/text.h"
#include "../base/posix.h"
#include "../base/readfile.h"
#include "../base/say.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A line of C++ that begins what a line of C# became. */
typedef struct line_from {
    machsym_str cpp; /* the file's base name */
    machsym_str path;
    uint32_t cpp_line;
    uint32_t line;
} line_from;

struct line_map {
    pool strings;
    line_from *v; /* sorted once all is read */
    size_t count;
    size_t cap;
};

/* What a line of C# became is short: a line farther on is of something that has no C#, as calls that
 * il2cpp adds at the begin of a function. */
enum { LINES_AFTER = 5 };

static int line_map_name_order(machsym_str a, machsym_str b)
{
    if (a.len != b.len)
        return a.len < b.len ? -1 : 1;
    return a.len > 0 ? memcmp(a.ptr, b.ptr, a.len) : 0;
}

static int line_map_by_line(const void *a, const void *b)
{
    const line_from *x = a;
    const line_from *y = b;
    int order = line_map_name_order(x->cpp, y->cpp);
    if (order != 0)
        return order;
    if (x->cpp_line != y->cpp_line)
        return x->cpp_line < y->cpp_line ? -1 : 1;
    order = line_map_name_order(x->path, y->path);
    return order != 0 ? order : x->line < y->line ? -1 : x->line > y->line;
}

static void line_map_add(line_map *map, machsym_str cpp, uint64_t cpp_line, machsym_str path, uint64_t line)
{
    if (cpp_line == 0 || cpp_line > UINT32_MAX || line == 0 || line > UINT32_MAX)
        return;
    map->v = mem_room(map->v, map->count, &map->cap, sizeof *map->v);
    map->v[map->count++] = (line_from){cpp, path, (uint32_t)cpp_line, (uint32_t)line};
}

/* ---- LineNumberMappings.json: {"/build/Game.cpp": {"/src/Player.cs": {"120": 14, ...}}} ---- */

static machsym_str line_map_plain(line_map *map, const json *doc, uint32_t token)
{
    text t = {0};
    json_unescape(&t, json_raw(doc, token));
    machsym_str s = pool_copy(&map->strings, t.v, t.len);
    text_free(&t);
    return s;
}

static bool line_map_decimal(machsym_str s, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] < '0' || s.ptr[i] > '9' || *out > UINT32_MAX)
            return false;
        *out = *out * 10 + (uint64_t)(s.ptr[i] - '0');
    }
    return s.len > 0;
}

static void line_map_add_document(line_map *map, const json *doc)
{
    uint32_t file = JSON_NONE;
    while (json_next(doc, 0, &file)) {
        machsym_str cpp = str_base_name(line_map_plain(map, doc, file));
        uint32_t source = JSON_NONE;
        while (json_is(doc, file + 1, JSON_OBJECT) && json_next(doc, file + 1, &source)) {
            machsym_str path = line_map_plain(map, doc, source);
            uint32_t at = JSON_NONE;
            uint64_t cpp_line;
            uint64_t line;
            while (json_is(doc, source + 1, JSON_OBJECT) && json_next(doc, source + 1, &at)) {
                if (line_map_decimal(json_raw(doc, at), &cpp_line) && json_u64(doc, at + 1, &line))
                    line_map_add(map, cpp, cpp_line, path, line);
            }
        }
    }
}

/* ---- C++ with "//<source_info:/src/Player.cs:14>" ahead of what each line became ---- */

static void line_map_add_source(line_map *map, machsym_str name, machsym_str source)
{
    static const char mark[] = "//<source_info:";
    machsym_str line;
    machsym_str cpp = pool_copy(&map->strings, name.ptr, name.len);
    machsym_str path = {NULL, 0};
    uint64_t number = 0;
    for (uint64_t cpp_line = 1; str_take_line(&source, &line); cpp_line++) {
        line = str_trim(line);
        if (!str_starts(line, mark) || line.ptr[line.len - 1] != '>')
            continue;
        size_t colon = line.len - 1;
        while (colon > sizeof mark && line.ptr[colon - 1] != ':')
            colon--;
        machsym_str digits = {line.ptr + colon, line.len - 1 - colon};
        machsym_str where = {line.ptr + sizeof mark - 1, colon - sizeof mark};
        if (colon <= sizeof mark || !line_map_decimal(digits, &number) || where.ptr[0] == '<')
            continue; /* <no-source> */
        if (!str_equal(where, path))
            path = pool_copy(&map->strings, where.ptr, where.len);
        line_map_add(map, cpp, cpp_line, path, number);
    }
}

/* ---- Files ---- */

static bool line_map_read_file(line_map *map, const char *path)
{
    text source = {0};
    json doc;
    json_error err;
    bool ok = true;
    const char *why = file_read_words(&source, path);
    if (why != NULL) {
        say_message("%s: %s", path, why);
        return false;
    }
    machsym_str begin = str_trim((machsym_str){source.v, source.len});
    if (begin.len > 0 && begin.ptr[0] == '{') {
        ok = source.len < UINT32_MAX && json_parse(NULL, &doc, source.v, source.len, 0, &err);
        if (ok) {
            line_map_add_document(map, &doc);
            json_free(&doc);
        } else {
            say_message("%s: no LineNumberMappings.json: %s, at byte %zu", path,
                        source.len < UINT32_MAX ? err.what : "longer than 4 GB",
                        source.len < UINT32_MAX ? err.at : 0);
        }
    } else {
        line_map_add_source(map, str_base_name(str_c(path)), (machsym_str){source.v, source.len});
    }
    text_free(&source);
    return ok;
}

static bool line_map_is_source(const char *name)
{
    size_t len = strlen(name);
    return (len > 4 && strcmp(name + len - 4, ".cpp") == 0) || (len > 2 && strcmp(name + len - 2, ".h") == 0);
}

static bool line_map_read_folder(line_map *map, const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    bool ok = dir != NULL;
    if (dir == NULL)
        say_message("%s: cannot be read: %s", path, strerror(errno));
    while (dir != NULL && (entry = posix_next_entry(dir)) != NULL) {
        text name = {0};
        if (!line_map_is_source(entry->d_name))
            continue;
        text_c(&name, path);
        text_char(&name, '/');
        text_c(&name, entry->d_name);
        text_add(&name, "", 1);
        ok = line_map_read_file(map, name.v) && ok;
        text_free(&name);
    }
    if (dir != NULL && errno != 0) {
        say_message("%s: cannot be read: %s", path, strerror(errno));
        ok = false;
    }
    if (dir != NULL)
        closedir(dir);
    return ok;
}

bool line_map_read(line_map **map, const char *path)
{
    struct stat st;
    if (*map == NULL) {
        *map = mem_alloc(sizeof **map);
        memset(*map, 0, sizeof **map);
    }
    size_t before = (*map)->count;
    bool is_folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    if (!(is_folder ? line_map_read_folder : line_map_read_file)(*map, path))
        return false;
    if ((*map)->count == before) {
        say_message(
            "%s: no lines of C#: name Unity's LineNumberMappings.json, or C++ with source_info comments",
            path);
        return false;
    }
    qsort((*map)->v, (*map)->count, sizeof *(*map)->v, line_map_by_line);
    return true;
}

/* ---- Lookup ---- */

static bool line_map_is_not_after(const void *element, const void *key)
{
    const line_from *x = element;
    const line_from *y = key;
    int order = line_map_name_order(x->cpp, y->cpp);
    return order < 0 || (order == 0 && x->cpp_line <= y->cpp_line);
}

bool line_map_find(const line_map *map, machsym_str cpp_path, uint32_t cpp_line, machsym_str *path,
                   uint32_t *line)
{
    line_from key = {str_base_name(cpp_path), {NULL, 0}, cpp_line, 0};
    size_t after = mem_lower_bound(map->v, map->count, sizeof *map->v, &key, line_map_is_not_after);
    if (after == 0)
        return false;
    const line_from *found = &map->v[after - 1];
    if (!str_equal(found->cpp, key.cpp) || cpp_line - found->cpp_line > LINES_AFTER)
        return false;
    *path = found->path;
    *line = found->line;
    return true;
}

void line_map_free(line_map *map)
{
    if (map == NULL)
        return;
    pool_free(&map->strings);
    free(map->v);
    free(map);
}
