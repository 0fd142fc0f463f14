/* A function of SQL: SELECT symbolicate(uuid, offset) answers from the maps of a store (machsym store add).
 *
 * cc -O2 -fPIC -shared -I. -o symbolicate.so examples/sqlite/symbolicate.c
 * sqlite3> .load ./symbolicate
 * sqlite3> SELECT symbols('symbols/');
 * sqlite3> SELECT symbolicate(uuid, offset), count(*) FROM frames GROUP BY 1 ORDER BY 2 DESC; */
#define MACHSYM_STATIC
#define MACHSYM_IMPLEMENTATION
#include "machsym.h"

#include <sqlite3ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
SQLITE_EXTENSION_INIT1

/* MAPS: maps that are open at once, a place for each by its UUID. FRAMES: innermost calls that a row tells. */
enum { MAPS = 256, FRAMES = 16, TEXT = 16384, UUID_LEN = 36 };

typedef struct opened {
    char uuid[UUID_LEN + 1];
    machsym_map *map; /* NULL: the store has none */
} opened;

/* What a connection has open. */
typedef struct symbols {
    char *folder;
    opened v[MAPS];
} symbols;

static void forget(symbols *s)
{
    for (size_t i = 0; i < MAPS; i++)
        machsym_map_close(s->v[i].map);
    memset(s->v, 0, sizeof s->v);
}

static void close_symbols(void *p)
{
    symbols *s = (symbols *)p;
    forget(s);
    free(s->folder);
    free(s);
}

/* symbols(folder): where the maps are. Gives the folder. */
static void set_folder(sqlite3_context *context, int count, sqlite3_value **values)
{
    symbols *s = (symbols *)sqlite3_user_data(context);
    const char *folder = (const char *)sqlite3_value_text(values[0]);
    (void)count;
    forget(s);
    free(s->folder);
    s->folder = folder != NULL ? strdup(folder) : NULL;
    sqlite3_result_value(context, values[0]);
}

/* The map of a UUID, upper case with dashes, in XX/UUID.symmap of the folder. *err: why it does not open. */
static machsym_map *find_map(symbols *s, const char *uuid, machsym_error *err)
{
    opened *place = &s->v[strtoul((char[]){uuid[6], uuid[7], 0}, NULL, 16) % MAPS];
    char path[4096];
    machsym_map_desc desc = {0};
    if (strcmp(place->uuid, uuid) == 0)
        return place->map;
    machsym_map_close(place->map);
    memset(place, 0, sizeof *place);
    snprintf(path, sizeof path, "%s/%.2s/%s.symmap", s->folder, uuid, uuid);
    desc.path = path;
    if (machsym_map_open(&desc, &place->map, err) != MACHSYM_OK)
        place->map = NULL;
    if (place->map != NULL || err->os_errno == 2 /* ENOENT: the store has no such map */)
        strcpy(place->uuid, uuid);
    return place->map;
}

/* The last part of a path. */
static machsym_str base_name(machsym_str path)
{
    for (size_t i = path.len; i > 0; i--) {
        if (path.ptr[i - 1] == '/')
            return (machsym_str){path.ptr + i, path.len - i};
    }
    return path;
}

/* "name (file:line) < caller (file:line) < ..." of an address. Returns its length; 0: nothing is known. */
static size_t answer(const machsym_map *map, uint64_t addr, char *text, size_t cap)
{
    machsym_map_frame found[FRAMES];
    machsym_frame frames[FRAMES];
    char unpacked[TEXT];
    char name[1024];
    size_t len = 0;
    size_t count = machsym_map_frames_at_addr(map, addr, found, FRAMES);
    count = count < FRAMES ? count : FRAMES;
    machsym_map_names(map, found, count, frames, unpacked, sizeof unpacked);
    for (size_t i = 0; i < count && len < cap; i++) {
        machsym_str file = base_name(frames[i].file.name);
        machsym_frame_name(&frames[i], MACHSYM_DEMANGLE_SIMPLIFIED, name, sizeof name);
        len += (size_t)snprintf(text + len, cap - len, "%s%s", i > 0 ? " < " : "", name);
        if (file.len > 0 && len < cap)
            len += (size_t)snprintf(text + len, cap - len, " (%.*s:%u)", (int)file.len, file.ptr,
                                    frames[i].line);
    }
    return len < cap ? len : cap - 1;
}

/* symbolicate(uuid, offset): NULL where nothing is known. */
static void symbolicate(sqlite3_context *context, int count, sqlite3_value **values)
{
    symbols *s = (symbols *)sqlite3_user_data(context);
    const char *uuid = (const char *)sqlite3_value_text(values[0]);
    machsym_error err = {0};
    char text[TEXT];
    (void)count;
    if (s->folder == NULL) {
        sqlite3_result_error(context, "no folder of symbols: SELECT symbols('FOLDER') first", -1);
        return;
    }
    if (uuid == NULL || strlen(uuid) != UUID_LEN || strspn(uuid, "0123456789ABCDEF-") != UUID_LEN)
        return;
    const machsym_map *map = find_map(s, uuid, &err);
    if (map == NULL && err.code != MACHSYM_OK && err.os_errno != 2) {
        machsym_error_text(&err, NULL, text, sizeof text);
        sqlite3_result_error(context, text, -1);
    } else if (map != NULL) {
        uint64_t addr = machsym_map_addr_of_pc(map, 0, (uint64_t)sqlite3_value_int64(values[1]));
        size_t len = answer(map, addr, text, sizeof text);
        if (len > 0)
            sqlite3_result_text(context, text, (int)len, SQLITE_TRANSIENT);
    }
}

int sqlite3_symbolicate_init(sqlite3 *db, char **message, const sqlite3_api_routines *api)
{
    SQLITE_EXTENSION_INIT2(api);
    symbols *s = (symbols *)calloc(1, sizeof *s);
    (void)message;
    if (s == NULL)
        return SQLITE_NOMEM;
    int status = sqlite3_create_function(db, "symbols", 1, SQLITE_UTF8, s, set_folder, NULL, NULL);
    if (status != SQLITE_OK) {
        close_symbols(s);
        return status;
    }
    return sqlite3_create_function_v2(db, "symbolicate", 2, SQLITE_UTF8, s, symbolicate, NULL, NULL,
                                      close_symbols);
}
