/* BCSymbolMap files; see bcsymbolmap.h. */
#include "bcsymbolmap.h"
#include "../../report/base/digits.h"
#include "../../report/base/memory.h"
#include "../../report/base/text.h"
#include "../base/posix.h"
#include "../base/say.h"
#include "../files/inside.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <string.h>

struct bcsymbolmap {
    char *content;
    size_t len;
    machsym_str *lines;
    size_t count;
};

static const char map_title[] = "BCSymbolMap Version:";

/* Only plain files are maps. A damaged member is reported as damage of its archive. */
static bool bcsymbolmap_is_file(const char *path)
{
    int failure = errno;
    struct stat st;
    bool is = stat(path, &st) == 0 && S_ISREG(st.st_mode);
    errno = failure;
    return is;
}

/* A whole file, or member of an archive, with a NUL after it; NULL when it cannot be read. */
static char *bcsymbolmap_read_text(const char *path, size_t *len)
{
    text t = {0};
    if (inside_read(path, &t) != NULL) {
        int failure = errno;
        machsym_error err = {MACHSYM_ERR_IO, failure, "cannot be read", "", 0};
        if (bcsymbolmap_is_file(path) && (failure == EACCES || (failure != EFBIG && posix_is_fault(failure))))
            say_fault(path, &err);
        text_free(&t);
        return NULL;
    }
    *len = t.len;
    text_z(&t);
    return t.v;
}

bcsymbolmap *bcsymbolmap_open(const char *path)
{
    size_t len;
    char *content = bcsymbolmap_read_text(path, &len);
    if (content == NULL || strncmp(content, map_title, sizeof map_title - 1) != 0) {
        free(content);
        return NULL;
    }
    bcsymbolmap *map = mem_alloc(sizeof *map);
    size_t cap = 1;
    for (size_t i = 0; i < len; i++)
        cap += content[i] == '\n';
    map->content = content;
    map->len = len;
    map->lines = mem_alloc(cap * sizeof *map->lines);
    map->count = 0;
    const char *at = memchr(content, '\n', len);
    for (at = at != NULL ? at + 1 : content + len; at < content + len;) {
        const char *newline = memchr(at, '\n', (size_t)(content + len - at));
        const char *end = newline != NULL ? newline : content + len;
        size_t line_len = (size_t)(end - at);
        if (line_len > 0 && end[-1] == '\r')
            line_len--;
        map->lines[map->count++] = (machsym_str){at, line_len};
        at = end + 1;
    }
    return map;
}

void bcsymbolmap_close(bcsymbolmap *map)
{
    if (map == NULL)
        return;
    free(map->content);
    free(map->lines);
    free(map);
}

/* ---- Finding one ---- */

/* FOLDER/UUID.bcsymbolmap, with the UUID in upper and in lower case. */
static bcsymbolmap *bcsymbolmap_open_named(const char *folder, const machsym_uuid *uuid)
{
    bcsymbolmap *map = NULL;
    for (int lower = 0; lower < 2 && map == NULL; lower++) {
        text t = {0};
        text_c(&t, folder);
        text_char(&t, '/');
        size_t at = t.len;
        text_uuid(&t, uuid);
        for (; lower && at < t.len; at++)
            t.v[at] = (char)(t.v[at] >= 'A' && t.v[at] <= 'F' ? t.v[at] + 32 : t.v[at]);
        text_c(&t, ".bcsymbolmap");
        text_z(&t);
        map = bcsymbolmap_open(t.v);
        text_free(&t);
    }
    return map;
}

/* The same in the folder or archive itself, and where an .xcarchive has them. */
static bcsymbolmap *bcsymbolmap_open_within(const char *folder, const machsym_uuid *uuid)
{
    text inner = {0};
    bcsymbolmap *map = bcsymbolmap_open_named(folder, uuid);
    text_c(&inner, folder);
    text_c(&inner, "/BCSymbolMaps");
    if (map == NULL)
        map = bcsymbolmap_open_named(text_z(&inner), uuid);
    text_free(&inner);
    return map;
}

/* The folder that lies `up` levels above a path, with a name after it. */
static void bcsymbolmap_beside(text *t, const char *path, unsigned up, const char *name)
{
    size_t len = strlen(path);
    t->len = 0;
    for (; up > 0 && len > 0; up--) {
        while (len > 0 && path[len - 1] != '/')
            len--;
        len -= len > 0;
    }
    text_add(t, path, len);
    text_c(t, len == 0 ? "." : "");
    text_char(t, '/');
    text_c(t, name);
    text_z(t);
}

/* X.dSYM/Contents/Resources/UUID.plist holds <key>DBGOriginalUUID</key><string>UUID</string>. */
static bool bcsymbolmap_original_uuid(const char *image_path, const machsym_uuid *uuid, machsym_uuid *out)
{
    text name = {0};
    text path = {0};
    size_t len = 0;
    bool found = false;
    text_uuid(&name, uuid);
    text_c(&name, ".plist");
    text_z(&name);
    bcsymbolmap_beside(&path, image_path, 2, name.v);
    char *content = bcsymbolmap_read_text(path.v, &len);
    char *key = content != NULL ? strstr(content, "DBGOriginalUUID") : NULL;
    char *value = key != NULL ? strstr(key, "<string>") : NULL;
    char *end = value != NULL ? strchr(value + 8, '<') : NULL;
    if (end != NULL) {
        *end = 0;
        found = parse_uuid(value + 8, out);
    }
    free(content);
    text_free(&name);
    text_free(&path);
    return found;
}

static bcsymbolmap *bcsymbolmap_find_beside(const char *image_path, const machsym_uuid *uuid)
{
    /* X.dSYM/Contents/Resources/DWARF/X: the folder of the bundle is 5 levels up, the archive's 6. */
    static const struct {
        unsigned up;
        const char *name;
    } places[] = {{1, "."}, {5, "."}, {5, "BCSymbolMaps"}, {6, "BCSymbolMaps"}};
    bcsymbolmap *map = NULL;
    text folder = {0};
    for (size_t i = 0; i < sizeof places / sizeof places[0] && map == NULL; i++) {
        bcsymbolmap_beside(&folder, image_path, places[i].up, places[i].name);
        map = bcsymbolmap_open_named(folder.v, uuid);
    }
    text_free(&folder);
    return map;
}

bcsymbolmap *bcsymbolmap_find(const char *image_path, const machsym_uuid *uuid, const char *const *folders,
                              size_t folder_count)
{
    machsym_uuid original = *uuid;
    bcsymbolmap *map = NULL;
    bool other = bcsymbolmap_original_uuid(image_path, uuid, &original);
    for (size_t i = 0; i < folder_count && map == NULL; i++) {
        map = bcsymbolmap_open(folders[i]);
        if (map == NULL && other)
            map = bcsymbolmap_open_within(folders[i], &original);
        if (map == NULL)
            map = bcsymbolmap_open_within(folders[i], uuid);
    }
    if (map == NULL && other)
        map = bcsymbolmap_find_beside(image_path, &original);
    return map != NULL ? map : bcsymbolmap_find_beside(image_path, uuid);
}

machsym_str bcsymbolmap_text(const bcsymbolmap *map)
{
    return str_make(map->content, map->len);
}

/* Where the number stands in a hidden name: "_hidden#12_" in the symbol table, which has lost one of the two
 * underscores; 0: the name is not hidden. */
static size_t bcsymbolmap_number_at(machsym_str name)
{
    static const char hidden[] = "_hidden#";
    size_t lead = name.len > 1 && name.ptr[1] == '_' ? 1 : 0;
    size_t at = lead + sizeof hidden - 1;
    return name.len > at && memcmp(name.ptr + lead, hidden, sizeof hidden - 1) == 0 ? at : 0;
}

bool bcsymbolmap_hides(const machsym_frame *frame)
{
    return bcsymbolmap_number_at(frame->linkage_name) != 0 || bcsymbolmap_number_at(frame->name) != 0 ||
           bcsymbolmap_number_at(frame->file.comp_dir) != 0 || bcsymbolmap_number_at(frame->file.dir) != 0 ||
           bcsymbolmap_number_at(frame->file.name) != 0;
}

/* A name that has lost an underscore must lose it in the map, too. */
machsym_str bcsymbolmap_name(const bcsymbolmap *map, machsym_str name)
{
    size_t at = bcsymbolmap_number_at(name);
    size_t number = 0;
    if (map == NULL || at == 0)
        return name;
    bool lost_underscore = name.ptr[1] != '_';
    size_t first = at;
    while (at < name.len && name.ptr[at] >= '0' && name.ptr[at] <= '9' && number < map->count)
        number = number * 10 + (size_t)(name.ptr[at++] - '0');
    if (at == first || number >= map->count)
        return name;
    machsym_str line = map->lines[number];
    if (lost_underscore && line.len > 0 && line.ptr[0] == '_')
        line = (machsym_str){line.ptr + 1, line.len - 1};
    return line;
}

void bcsymbolmap_unhide(const bcsymbolmap *map, machsym_frame *frame)
{
    frame->linkage_name = bcsymbolmap_name(map, frame->linkage_name);
    frame->name = bcsymbolmap_name(map, frame->name);
    frame->file.comp_dir = bcsymbolmap_name(map, frame->file.comp_dir);
    frame->file.dir = bcsymbolmap_name(map, frame->file.dir);
    frame->file.name = bcsymbolmap_name(map, frame->file.name);
}
