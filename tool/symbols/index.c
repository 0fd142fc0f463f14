/* Index files of folders; see index.h. */
#include "index.h"
#include "../../report/base/digits.h"
#include "../../report/base/memory.h"
#include "../base/posix.h"
#include "../base/readfile.h"
#include "../files/outfile.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Lines end with a NUL, which no name holds. */
static const char index_title[] = "machsym store index 5";

index_slice *index_add_slice(store_index *index)
{
    return mem_push(&index->slices, &index->slice_count, &index->slice_cap, sizeof *index->slices);
}

index_child *index_add_child(store_index *index)
{
    return mem_push(&index->children, &index->child_count, &index->child_cap, sizeof *index->children);
}

index_folder *index_add_folder(store_index *index)
{
    return mem_push(&index->folders, &index->folder_count, &index->folder_cap, sizeof *index->folders);
}

void index_free(store_index *index)
{
    free(index->folders);
    free(index->children);
    free(index->slices);
    free(index->table);
    memset(index, 0, sizeof *index);
}

static void index_build_table(store_index *index)
{
    index->table_size = 64;
    while (index->table_size < index->folder_count * 2)
        index->table_size *= 2;
    index->table = mem_alloc(index->table_size * sizeof *index->table);
    memset(index->table, 0, index->table_size * sizeof *index->table);
    for (uint32_t i = 0; i < index->folder_count; i++) {
        uint32_t at = (uint32_t)str_hash(str_c(index->folders[i].path)) & (index->table_size - 1);
        while (index->table[at] != 0)
            at = (at + 1) & (index->table_size - 1);
        index->table[at] = i + 1;
    }
}

const index_folder *index_find(const store_index *index, const char *path)
{
    if (index->table == NULL)
        return NULL;
    uint32_t at = (uint32_t)str_hash(str_c(path)) & (index->table_size - 1);
    for (; index->table[at] != 0; at = (at + 1) & (index->table_size - 1)) {
        if (strcmp(index->folders[index->table[at] - 1].path, path) == 0)
            return &index->folders[index->table[at] - 1];
    }
    return NULL;
}

/* A relative path would be another folder wherever the tool runs, so it is ignored, as the XDG Base Directory
 * Specification has it. */
static bool index_is_whole_path(const char *path)
{
#ifdef _WIN32
    if (path != NULL && path[0] != 0 && path[1] == ':')
        return true;
#endif
    return path != NULL && posix_is_slash(path[0]) && path[0] != ':';
}

/* The index file of a folder; false when there is no place for one. */
bool index_path(const char *folder, bool shallow, text *out)
{
    const char *base = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    char *real = realpath(folder, NULL);
    if (real == NULL || (!index_is_whole_path(base) && !index_is_whole_path(home))) {
        free(real);
        return false;
    }
    text_c(out, index_is_whole_path(base) ? base : home);
    text_c(out, index_is_whole_path(base) ? "/machsym/" : "/.cache/machsym/");
    text_hex(out, str_hash(str_c(real)), 16);
    text_c(out, shallow ? ".shallow" : ".index");
    text_add(out, "", 1);
    free(real);
    return true;
}

/* The last field of a line. */
static void index_put_name(text *t, const char *name)
{
    text_char(t, ' ');
    text_c(t, name);
    text_char(t, 0);
}

static void index_put_folder(text *t, const store_index *index, const index_folder *folder)
{
    text_c(t, "D ");
    text_dec(t, (uint64_t)folder->mtime);
    index_put_name(t, folder->path);
    for (uint32_t i = 0; i < folder->child_count; i++) {
        const index_child *child = &index->children[folder->first_child + i];
        if (child->is_folder) {
            text_char(t, 'd');
            index_put_name(t, child->name);
            continue;
        }
        text_c(t, "F ");
        text_dec(t, (uint64_t)child->mtime);
        text_char(t, ' ');
        text_dec(t, (uint64_t)child->size);
        index_put_name(t, child->name);
        for (uint32_t k = 0; k < child->slice_count; k++) {
            const index_slice *slice = &index->slices[child->first_slice + k];
            text_c(t, "S ");
            text_uuid(t, &slice->uuid);
            text_char(t, ' ');
            text_dec(t, slice->cputype);
            text_char(t, ' ');
            text_dec(t, slice->cpusubtype);
            text_char(t, ' ');
            text_dec(t, (uint64_t)slice->kind);
            index_put_name(t, slice->member);
        }
    }
}

/* The last line: a hash of all before it, so that a damaged file is not believed. */
static void index_put_end(text *t)
{
    uint64_t hash = str_hash(str_make(t->v, t->len));
    text_c(t, "end ");
    text_hex(t, hash, 16);
    text_char(t, 0);
}

void index_save(const store_index *index, const char *path)
{
    text t = {0};
    text_add(&t, index_title, sizeof index_title);
    for (uint32_t i = 0; i < index->folder_count; i++)
        index_put_folder(&t, index, &index->folders[i]);
    index_put_end(&t);
    if (outfile_make_folders(path)) /* without the file the next run looks through the folder anew */
        outfile_write(path, t.v, t.len, OUTFILE_OWN);
    text_free(&t);
}

/* Reads a decimal number and the blank after it. */
static uint64_t index_take_number(char **at)
{
    uint64_t number = strtoull(*at, at, 10);
    if (**at == ' ')
        (*at)++;
    return number;
}

/* One line of an index file; false when it makes no sense. */
static bool index_line(store_index *index, char *line)
{
    index_child *child = index->child_count > 0 ? &index->children[index->child_count - 1] : NULL;
    char *at = line + 2;
    if (line[0] == 0 || line[1] != ' ')
        return false;
    if (line[0] == 'D') {
        index_folder *folder = index_add_folder(index);
        folder->mtime = (int64_t)index_take_number(&at);
        folder->path = at;
        folder->first_child = index->child_count;
        return true;
    }
    if (line[0] == 'S') {
        index_slice slice;
        char *uuid = at;
        if (child == NULL || strlen(at) < 38)
            return false;
        at[36] = 0;
        at += 37;
        slice.cputype = (uint32_t)index_take_number(&at);
        slice.cpusubtype = (uint32_t)index_take_number(&at);
        slice.kind = (store_kind)index_take_number(&at);
        slice.member = at;
        if (!parse_uuid(uuid, &slice.uuid) || slice.kind > STORE_MAP)
            return false;
        *index_add_slice(index) = slice;
        child->slice_count++;
        return true;
    }
    if (index->folder_count == 0 || (line[0] != 'F' && line[0] != 'd'))
        return false;
    child = index_add_child(index);
    child->is_folder = line[0] == 'd';
    if (!child->is_folder) {
        child->mtime = (int64_t)index_take_number(&at);
        child->size = (int64_t)index_take_number(&at);
    }
    child->name = at;
    child->first_slice = index->slice_count;
    index->folders[index->folder_count - 1].child_count++;
    return true;
}

/* Whether a file has its first and its last line as index_save writes them. The last line is cut off. */
static bool index_is_whole(text *t)
{
    enum { END_LEN = sizeof "end 0123456789abcdef" };
    text body = {0};
    size_t title = sizeof index_title;
    if (t->len < title + END_LEN || memcmp(t->v, index_title, title) != 0)
        return false;
    size_t len = t->len - END_LEN;
    text_add(&body, t->v, len);
    index_put_end(&body);
    bool same = body.len == t->len && memcmp(body.v, t->v, t->len) == 0;
    text_free(&body);
    t->len = len;
    return same;
}

void index_load(store_index *index, const char *path, char **content)
{
    text t = {0};
    *content = NULL;
    bool ok = file_read(&t, path) == NULL && index_is_whole(&t);
    size_t at = sizeof index_title;
    while (ok && at < t.len) {
        const char *end = memchr(t.v + at, 0, t.len - at);
        ok = end != NULL && index_line(index, t.v + at);
        at = end != NULL ? (size_t)(end - t.v) + 1 : t.len;
    }
    if (!ok)
        index_free(index);
    else
        index_build_table(index);
    *content = t.v;
}
