#ifndef ms_ROOM_image_cachefiles
#define ms_ROOM_image_cachefiles
#include "../api/options.h"
#include "../api/api.h"
#include "../base/platform.h"
#include "../base/bytes.h"
#include "../base/memory.h"
#include "../macho/cache.h"
#include "../macho/macho.h"
#include "../macho/files.h"

/* ==== >>cachefiles =========================================================================================
 * Job:    finds the files of a split shared cache.
 * Offers: ms_cf_cache, ms_cf_open, ms_cf_close, ms_cf_next_file.
 * Never:  takes a file whose UUID is not the one that the main file names. */

/* One file besides the main one. */
typedef struct ms_cf_file {
    machsym_cache_file info;
    ms_file input; /* bytes are NULL when it was not found */
} ms_cf_file;

/* A cache with its files. */
typedef struct ms_cf_cache {
    ms_dc dc;
    machsym_cache_file main;
    ms_cf_file *files;
    size_t count;
    const char *locals_path; /* of the file with local symbols; NULL: the main file, or bytes */
} ms_cf_cache;

/* A file of a cache that is looked for. */
typedef struct ms_cf_search {
    const machsym_open_desc *desc;
    const ms_file *main;
    machsym_str suffix; /* of its name, after that of the main file */
    ms_arena *arena;
} ms_cf_search;

static bool ms_cf_same_uuid(const machsym_uuid *a, const machsym_uuid *b)
{
    return ms_equal(a->v, b->v, sizeof a->v);
}

/* Takes a file if it is the right one. */
static void ms_cf_judge(ms_cf_file *file, ms_span bytes, ms_dc_header *head)
{
    if (!ms_dc_read_header(bytes, head))
        file->info.status = MACHSYM_CACHE_FILE_DAMAGED;
    else if (!ms_cf_same_uuid(&head->uuid, &file->info.uuid))
        file->info.status = MACHSYM_CACHE_FILE_OTHER;
    else
        file->info.status = MACHSYM_CACHE_FILE_FOUND;
    if (file->info.status == MACHSYM_CACHE_FILE_FOUND)
        file->input.bytes = bytes;
}

/* Looks for a file among those that the caller gave. */
static void ms_cf_find_given(const ms_cf_search *search, ms_cf_file *file, ms_dc_header *head)
{
    for (size_t i = 0; i < search->desc->cache_file_count && i < MACHSYM_MAX_CACHE_FILES; i++) {
        const machsym_bytes *given = &search->desc->cache_files[i];
        ms_cf_judge(file, ms_span_make(given->ptr, given->len), head);
        if (file->info.status == MACHSYM_CACHE_FILE_FOUND)
            return;
    }
    file->info.status = MACHSYM_CACHE_FILE_MISSING; /* the others are other files of the cache */
}

/* The names of two parts as one, kept in the arena with a NUL. */
static char *ms_cf_join(machsym_str a, machsym_str b, ms_arena *arena)
{
    char *text = (char *)ms_arena_alloc(arena, a.len + b.len + 1, 1);
    if (text == NULL)
        return NULL;
    ms_copy(text, a.ptr, a.len);
    ms_copy(text + a.len, b.ptr, b.len);
    text[a.len + b.len] = 0;
    return text;
}

#ifndef MACHSYM_NO_OS
/* Takes the file at a path if it is the right one. On systems that do not map files only its begin is there
 * at first. */
static machsym_result ms_cf_take(const ms_cf_search *search, const char *path, ms_cf_file *file,
                                 ms_dc_header *head)
{
    machsym_bytes none = {NULL, 0};
    ms_file input;
    machsym_result result =
        ms_file_take(path, none, NULL, search->desc->flags, search->arena->allocator, &input, NULL);
    if (result != MACHSYM_OK) {
        file->info.status = MACHSYM_CACHE_FILE_UNREADABLE;
        return result;
    }
    ms_cf_judge(file, input.bytes, head);
    bool is_right = file->info.status == MACHSYM_CACHE_FILE_FOUND;
    if (is_right)
        result = ms_file_read_begin(&input, input.io.size, NULL);
    ms_os_settle(&input.file);
    if (is_right && result == MACHSYM_OK) {
        ms_cf_judge(file, input.bytes, head);
        file->input = input;
        return result;
    }
    if (is_right) { /* it cannot be read to its end */
        file->info.status = MACHSYM_CACHE_FILE_DAMAGED;
        file->input.bytes = ms_span_make(NULL, 0);
    }
    ms_file_close(&input);
    return result;
}
#endif

/* Looks for a file beside the main one, whose name it begins with. Returns false when memory is out. */
static bool ms_cf_find_beside(const ms_cf_search *search, machsym_str main, ms_cf_file *file,
                              ms_dc_header *head)
{
    char *path = ms_cf_join(main, search->suffix, search->arena);
    if (path == NULL)
        return false;
    file->info.name = ms_os_base_name(ms_str_from_c(path));
#ifndef MACHSYM_NO_OS
    bool is_beside = search->main->path != NULL && ms_os_base_name(search->suffix).len == search->suffix.len;
    if (file->info.status != MACHSYM_CACHE_FILE_FOUND && is_beside && ms_os_is_file(path))
        search->arena->oom |= ms_cf_take(search, path, file, head) == MACHSYM_ERR_MEMORY;
#else
    (void)head;
#endif
    return true;
}

/* Looks for a file: among those that were given, then beside the main file. When the main file is called
 * NAME.development, the others are called NAME and their suffix, which ends in .development too, or does not
 * when two caches share the file (dyld: DyldSharedCache::mapCacheFiles). */
static void ms_cf_find(const ms_cf_search *search, ms_cf_file *file, ms_dc_header *head)
{
    machsym_str ending = ms_str_from_c(".development");
    machsym_str main = ms_str_from_c(search->main->path != NULL ? search->main->path : search->desc->path);
    machsym_str base = ms_str_make(main.ptr, main.len > ending.len ? main.len - ending.len : 0);
    ms_zero(head, sizeof *head);
    ms_cf_find_given(search, file, head);
    if (!ms_cf_find_beside(search, main, file, head) || file->info.status != MACHSYM_CACHE_FILE_MISSING)
        return;
    if (base.len != 0 && ms_str_equal(ms_str_drop(main, base.len), ending))
        ms_cf_find_beside(search, base, file, head);
}

/* The name of a file of an older cache: a dot and its number, from 1 on. */
static machsym_str ms_cf_number(size_t number, char room[8])
{
    size_t at = 8;
    for (; number > 0 && at > 1; number /= 10)
        room[--at] = (char)('0' + number % 10);
    room[--at] = '.';
    return ms_str_make(room + at, 8 - at);
}

/* Whether a file of this UUID was added before. A cache that names one twice would count its bytes twice. */
static bool ms_cf_is_again(const ms_cf_cache *cache, const machsym_uuid *uuid)
{
    bool is_again = ms_cf_same_uuid(&cache->main.uuid, uuid);
    for (size_t i = 0; i < cache->count && !is_again; i++)
        is_again = ms_cf_same_uuid(&cache->files[i].info.uuid, uuid);
    return is_again;
}

/* Finds the files that hold mappings. */
static void ms_cf_find_siblings(ms_cf_cache *cache, ms_cf_search *search)
{
    ms_dc_sibling sibling;
    ms_dc_header head;
    char room[8];
    for (size_t i = 0; i < ms_dc_sibling_count(&cache->dc); i++) {
        ms_dc_get_sibling(&cache->dc, i, &sibling);
        ms_cf_file *file = &cache->files[cache->count];
        bool is_again = ms_cf_is_again(cache, &sibling.uuid);
        cache->count++;
        file->info.uuid = sibling.uuid;
        file->info.addr = sibling.addr;
        search->suffix = sibling.suffix.len != 0 ? sibling.suffix : ms_cf_number(i + 1, room);
        if (!is_again)
            ms_cf_find(search, file, &head);
        file->info.size = file->input.bytes.len;
        if (file->info.status == MACHSYM_CACHE_FILE_FOUND)
            ms_dc_add_file(&cache->dc, file->input.bytes, &head, search->arena);
        else
            ms_damage_note(&cache->dc.damage, "a file of the split cache was not found", "cache header",
                           cache->dc.head.siblings.off);
    }
}

/* Finds the local symbols: in a file of their own if the main file names one, else in the main file. */
static void ms_cf_find_symbols(ms_cf_cache *cache, ms_cf_search *search)
{
    static const machsym_uuid none = {{0}};
    ms_dc_header head;
    if (ms_cf_same_uuid(&cache->dc.head.symbols_uuid, &none)) {
        ms_dc_set_locals(&cache->dc, cache->dc.main, &cache->dc.head);
        return;
    }
    ms_cf_file *file = &cache->files[cache->count++];
    file->info.uuid = cache->dc.head.symbols_uuid;
    file->info.has_symbols = true;
    search->suffix = ms_str_from_c(".symbols");
    ms_cf_find(search, file, &head);
    file->info.size = file->input.bytes.len;
    if (file->info.status != MACHSYM_CACHE_FILE_FOUND)
        return;
    ms_dc_set_locals(&cache->dc, file->input.bytes, &head);
    cache->locals_path = file->input.path;
}

/* Finds what selectors count from in caches of the years before their header told: libobjc's __objc_opt_ro
 * (objc-shared-cache.h: objc_opt_t) says it from version 16 on. */
static void ms_cf_find_selectors(ms_dc *dc, ms_arena *scratch)
{
    ms_dc_image image;
    ms_mo mo;
    machsym_str name = ms_str_from_c("/usr/lib/libobjc.A.dylib");
    if (dc->head.objc_off != 0 || ms_dc_find_image(dc, name, &image) == 0 ||
        ms_mo_load_cached(&mo, dc, image.addr, scratch, NULL) != MACHSYM_OK)
        return;
    const ms_mo_section *section = ms_mo_section_named(&mo, "__TEXT", "__objc_opt_ro");
    if (section != NULL && ms_dc_u32(section->bytes, 0) >= 16 && ms_dc_u64(section->bytes, 40) != 0)
        dc->selector_base = section->addr + ms_dc_u64(section->bytes, 40);
}

static void ms_cf_close(ms_cf_cache *cache)
{
    for (size_t i = 0; i < cache->count; i++)
        ms_file_close(&cache->files[i].input);
}

/* Opens a cache whose main file is there. What is kept comes from arena. */
static machsym_result ms_cf_open(ms_cf_cache *cache, const machsym_open_desc *desc, const ms_file *main,
                                 ms_arena *arena, machsym_error *err)
{
    ms_cf_search search = {desc, main, {NULL, 0}, arena};
    if (!ms_dc_open(&cache->dc, main->bytes, arena))
        return ms_fail(err, MACHSYM_ERR_DAMAGED, "the shared cache ends inside its header", "cache header",
                       0);
    cache->main.name = ms_os_base_name(ms_str_from_c(main->path != NULL ? main->path : desc->path));
    cache->main.uuid = cache->dc.head.uuid;
    cache->main.addr = cache->dc.base;
    cache->main.size = main->bytes.len;
    cache->main.status = MACHSYM_CACHE_FILE_FOUND;
    cache->main.has_symbols = cache->dc.head.locals_size != 0;
    cache->files =
        (ms_cf_file *)ms_arena_zeroed(arena, ms_dc_sibling_count(&cache->dc) + 1, sizeof *cache->files);
    if (cache->files == NULL)
        return ms_fail_memory(err);
    ms_cf_find_siblings(cache, &search);
    ms_cf_find_symbols(cache, &search);
    ms_dc_settle(&cache->dc, arena);
    ms_arena scratch = ms_arena_make(arena->allocator);
    ms_cf_find_selectors(&cache->dc, &scratch);
    bool is_out = arena->oom || scratch.oom;
    ms_arena_free(&scratch);
    return is_out ? ms_fail_memory(err) : MACHSYM_OK;
}

/* The files of a cache: the main one, then the others. */
static bool ms_cf_next_file(const ms_cf_cache *cache, machsym_cursor *at, machsym_cache_file *out)
{
    if (at->a > cache->count)
        return false;
    *out = at->a == 0 ? cache->main : cache->files[at->a - 1].info;
    at->a++;
    return true;
}

#endif /* ms_ROOM_image_cachefiles */
