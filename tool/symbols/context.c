/* See context.h. */
#include "context.h"
#include "../base/posix.h"
#include "../base/readfile.h"

#include <stdlib.h>
#include <string.h>

/* Sources that people write are smaller; of a longer line the beginning is told. */
enum { CONTEXT_FILE_BYTES = 4 << 20, CONTEXT_LINE_BYTES = 240 };

/* The path without links, when it lies in the folder; from malloc. */
static char *context_real_path(const char *folder, const char *path)
{
    char *real_folder = realpath(folder, NULL);
    char *real = real_folder != NULL ? realpath(path, NULL) : NULL;
    size_t len = real_folder != NULL ? strlen(real_folder) : 0;
    while (len > 1 && posix_is_slash(real_folder[len - 1]))
        len--;
    bool is_below = real != NULL && strncmp(real, real_folder, len) == 0 &&
                    (posix_is_slash(real[len]) || (len == 1 && posix_is_slash(real[0])));
    free(real_folder);
    if (is_below)
        return real;
    free(real);
    return NULL;
}

/* Where the folder has a file of the build; NULL: it has none. Without rules for roots the whole path may lie
 * below the folder, or be one in it. */
static char *context_place(const context_rules *rules, machsym_str path)
{
    text at = {0};
    text_c(&at, rules->folder);
    text_char(&at, '/');
    char *real = links_path(rules->links, path, &at) ? context_real_path(rules->folder, text_z(&at)) : NULL;
    if (real == NULL && rules->links->root_count == 0) {
        at.len = 0;
        text_str(&at, path);
        real = context_real_path(rules->folder, text_z(&at));
    }
    text_free(&at);
    return real;
}

static void context_read(const context_rules *rules, machsym_str path, context_cache *cache)
{
    cache->path.len = cache->file.len = 0;
    text_str(&cache->path, path);
    char *real = memchr(path.ptr, 0, path.len) == NULL ? context_place(rules, path) : NULL;
    cache->is_there = real != NULL && file_read_most(&cache->file, real, CONTEXT_FILE_BYTES) == NULL &&
                      cache->file.len <= CONTEXT_FILE_BYTES;
    free(real);
}

/* A line without what exceeds the limit, cut where a character ends. */
static machsym_str context_cut(machsym_str line)
{
    if (line.len <= CONTEXT_LINE_BYTES)
        return line;
    line.len = CONTEXT_LINE_BYTES;
    while (line.len > 0 && ((uint8_t)line.ptr[line.len] & 0xc0) == 0x80)
        line.len--;
    return line;
}

bool context_find(const context_rules *rules, machsym_str path, uint32_t line, context_cache *cache,
                  text *out, uint32_t *first)
{
    size_t from = out->len;
    uint32_t number = 0;
    machsym_str one;
    if (path.len == 0 || line == 0)
        return false;
    if (!str_equal(path, (machsym_str){cache->path.v, cache->path.len}))
        context_read(rules, path, cache);
    machsym_str rest = {cache->file.v, cache->is_there ? cache->file.len : 0};
    *first = line > rules->lines ? line - rules->lines : 1;
    while (number < line + rules->lines && str_take_line(&rest, &one)) {
        number++;
        if (number < *first)
            continue;
        text_c(out, number > *first ? "\n" : "");
        text_str(out, context_cut(one));
    }
    bool has_line = number >= line;
    out->len = has_line ? out->len : from;
    return has_line;
}

void context_close(context_cache *cache)
{
    text_free(&cache->path);
    text_free(&cache->file);
}
