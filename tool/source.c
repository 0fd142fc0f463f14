/* Images and maps behind one face; see source.h. */
#include "source.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_CHUNK = 1 << 16 };

/* ---- Files ---- */

bool symbol_is_map(const char *path)
{
    char magic[8];
    int fd =
        path != NULL ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1; /* of a FIFO nobody may write to */
    if (fd < 0)
        return false;
    bool is_map = read(fd, magic, sizeof magic) == sizeof magic && memcmp(magic, "MACHSYM\n", 8) == 0;
    close(fd);
    return is_map;
}

bool uuid_is_none(const machsym_uuid *uuid)
{
    static const machsym_uuid none;
    return memcmp(uuid, &none, sizeof none) == 0;
}

void store_path(text *out, const char *dir, const machsym_uuid *uuid)
{
    text written = {0};
    text_uuid(&written, uuid);
    text_c(out, dir);
    text_char(out, '/');
    text_add(out, written.v, 2);
    text_char(out, '/');
    text_add(out, written.v, written.len);
    text_c(out, ".symmap");
    text_add(out, "", 1);
    text_free(&written);
}

static machsym_result no_such_map(machsym_result code, const char *what, machsym_error *err)
{
    if (err != NULL)
        *err = (machsym_error){code, 0, what, "map header", 0};
    return code;
}

/* Whether a map is what was asked for. */
static machsym_result check_map(const symbol_desc *desc, const machsym_map_info *info, machsym_error *err)
{
    if (desc->open.arch != NULL && strcmp(desc->open.arch, info->arch) != 0)
        return no_such_map(MACHSYM_ERR_ARCH, "the map is for another architecture", err);
    if (desc->open.uuid != NULL && memcmp(desc->open.uuid, &info->uuid, sizeof info->uuid) != 0)
        return no_such_map(MACHSYM_ERR_UUID, "the map has another UUID", err);
    if (!desc->any_lines && desc->lines != info->lines)
        return no_such_map(MACHSYM_ERR_POLICY, "the map was built for another line policy", err);
    return MACHSYM_OK;
}

static machsym_result open_map(const symbol_desc *desc, symbol_file *out, machsym_error *err)
{
    machsym_map_info info;
    uint32_t flags = desc->map_flags | ((desc->open.flags & MACHSYM_OPEN_COPY) != 0 ? MACHSYM_MAP_COPY : 0u);
    const char *path = desc->open.bytes.ptr == NULL ? desc->open.path : NULL;
    machsym_map_desc map = {.path = path, .bytes = desc->open.bytes, .flags = flags};
    machsym_result result = machsym_map_open(&map, &out->map, err);
    if (result != MACHSYM_OK)
        return result;
    machsym_map_get_info(out->map, &info);
    out->lines = info.lines;
    out->info.name = info.name;
    out->info.path = desc->open.path;
    out->info.arch = info.arch;
    out->info.uuid = info.uuid;
    out->info.has_uuid = !uuid_is_none(&info.uuid);
    out->info.text_addr = info.text_addr;
    out->info.text_size = info.text_size > info.code_size ? info.text_size : info.code_size;
    out->info.text_exec_addr = info.text_exec_addr;
    out->info.address_size = (info.cputype & 0x01000000 /* CPU_ARCH_ABI64 */) != 0 ? 8 : 4;
    out->info.has_dwarf = info.run_count != 0;
    return check_map(desc, &info, err);
}

static machsym_result open_image(const symbol_desc *desc, symbol_file *out, machsym_error *err)
{
    machsym_image_info info;
    machsym_result result = machsym_image_open(&desc->open, &out->image, err);
    if (result != MACHSYM_OK)
        return result;
    machsym_image_get_info(out->image, &info);
    out->lines = desc->lines;
    out->info.name = info.name;
    out->info.path = info.path;
    out->info.arch = info.slice.arch;
    out->info.uuid = info.slice.uuid;
    out->info.has_uuid = info.slice.has_uuid;
    out->info.text_addr = info.text_addr;
    out->info.text_size = info.text_size;
    out->info.text_exec_addr = info.text_exec_addr;
    out->info.address_size = info.address_size;
    out->info.has_dwarf = info.has_dwarf;
    return MACHSYM_OK;
}

static bool is_map(const symbol_desc *desc)
{
    if (desc->open.bytes.ptr != NULL)
        return desc->open.bytes.len >= 8 && memcmp(desc->open.bytes.ptr, "MACHSYM\n", 8) == 0;
    return symbol_is_map(desc->open.path);
}

machsym_result symbol_file_open(const symbol_desc *desc, symbol_file *out, machsym_error *err)
{
    memset(out, 0, sizeof *out);
    bool map = is_map(desc);
    if (map && (desc->open.pair_path != NULL || desc->open.pair_bytes.ptr != NULL))
        return no_such_map(MACHSYM_ERR_PAIR, "a map has no other half", err);
    machsym_result result = map ? open_map(desc, out, err) : open_image(desc, out, err);
    if (result != MACHSYM_OK) {
        machsym_lines lines = out->lines;
        symbol_file_close(out);
        out->lines = lines;
    }
    return result;
}

void symbol_file_close(symbol_file *file)
{
    machsym_image_close(file->image);
    machsym_map_close(file->map);
    memset(file, 0, sizeof *file);
}

bool tool_open_symbols(const symbol_desc *desc, symbol_file *out)
{
    machsym_error err;
    machsym_result result = symbol_file_open(desc, out, &err);
    const char *path = desc->open.path != NULL ? desc->open.path : "standard input";
    if (result == MACHSYM_ERR_POLICY)
        tool_say("%s: the map was built for --lines=%s, not --lines=%s; ask for %s, or build it again", path,
                 lines_name(out->lines), lines_name(desc->lines), lines_name(out->lines));
    else if (result != MACHSYM_OK && is_map(desc))
        tool_say_error(path, &err);
    else if (result != MACHSYM_OK)
        tool_say_open(&desc->open, &err);
    return result == MACHSYM_OK;
}

uint64_t symbol_file_addr(const symbol_file *file, uint64_t load_addr, uint64_t pc)
{
    return file->image != NULL ? machsym_image_addr(file->image, load_addr, pc)
                               : machsym_map_addr(file->map, load_addr, pc);
}

/* ---- Names are made readable once ---- */

enum {
    NAMES_KEPT = 1 << 18,    /* names may be many: about 60 MB when full */
    UNPACKED_KEPT = 32 << 20 /* bytes of a map's text */
};

/* Room for text that stays where it is. */
typedef struct name_chunk {
    struct name_chunk *next;
    size_t len;
    size_t cap;
    char v[];
} name_chunk;

typedef struct name_entry {
    uint64_t ref;      /* where the name stands in memory; 0: free */
    machsym_str shown; /* never empty */
} name_entry;

struct symbol_source {
    const symbol_file *file;
    machsym_session *session; /* NULL: map */
    uint32_t flags;
    name_entry *names; /* by a hash of ref */
    size_t name_count;
    size_t name_cap; /* a power of 2 */
    name_chunk *chunks;
    machsym_names *unpacked;  /* of a map */
    machsym_map_frame *found; /* of a map, before their names are known */
    size_t found_cap;
};

static machsym_str keep_text(symbol_source *s, const char *ptr, size_t len)
{
    name_chunk *chunk = s->chunks;
    if (len == 0)
        return (machsym_str){NULL, 0};
    if (chunk == NULL || chunk->cap - chunk->len < len) {
        size_t cap = len > NAME_CHUNK ? len : NAME_CHUNK;
        chunk = tool_alloc(sizeof *chunk + cap);
        *chunk = (name_chunk){s->chunks, 0, cap};
        s->chunks = chunk;
    }
    char *to = chunk->v + chunk->len;
    memcpy(to, ptr, len);
    chunk->len += len;
    return (machsym_str){to, len};
}

static name_entry *name_slot(name_entry *names, size_t cap, uint64_t ref)
{
    size_t at = (size_t)(ref * 0x9e3779b97f4a7c15u >> 24) & (cap - 1);
    while (names[at].ref != 0 && names[at].ref != ref)
        at = (at + 1) & (cap - 1);
    return &names[at];
}

static void grow_names(symbol_source *s)
{
    size_t cap = s->name_cap == 0 ? 1024 : s->name_cap * 2;
    name_entry *names = tool_alloc(cap * sizeof *names);
    memset(names, 0, cap * sizeof *names); /* calloc's pages, read before they are written, fault twice */
    for (size_t i = 0; i < s->name_cap; i++) {
        if (s->names[i].ref != 0)
            *name_slot(names, cap, s->names[i].ref) = s->names[i];
    }
    free(s->names);
    s->names = names;
    s->name_cap = cap;
}

/* Of names that stand no more where they stood. */
static void forget_names(symbol_source *s)
{
    while (s->chunks != NULL) {
        name_chunk *next = s->chunks->next;
        free(s->chunks);
        s->chunks = next;
    }
    if (s->names != NULL)
        memset(s->names, 0, s->name_cap * sizeof *s->names);
    s->name_count = 0;
}

/* The entry of a reference; a new one has no text yet. Lives until the next call. */
static name_entry *entry_of(symbol_source *s, uint64_t ref)
{
    if (s->name_count * 2 >= s->name_cap)
        grow_names(s);
    name_entry *entry = name_slot(s->names, s->name_cap, ref);
    s->name_count += entry->ref == 0;
    entry->ref = ref;
    return entry;
}

/* Where the readable form of a frame's name is kept; NULL when it is not: object files of a debug map come
 * and go, and their names with them. */
static name_entry *shown_entry(symbol_source *s, const machsym_frame *frame)
{
    machsym_str name = frame->linkage_name.len != 0 ? frame->linkage_name : frame->name;
    bool kept = name.len != 0 && (s->session == NULL || s->file->info.has_dwarf);
    if (!kept || s->name_count >= NAMES_KEPT)
        return NULL;
    return entry_of(s, (uintptr_t)name.ptr);
}

bool symbol_source_name(symbol_source *s, const machsym_frame *frame, const frame_style *style, text *t)
{
    name_entry *entry = shown_entry(s, frame);
    if (entry == NULL)
        return false;
    if (entry->shown.len == 0) {
        text shown = {0};
        frame_style plain = *style;
        plain.source = NULL;
        text_frame_name(&shown, frame, &plain);
        entry->shown = keep_text(s, shown.v, shown.len);
        text_free(&shown);
    }
    text_str(t, entry->shown);
    return true;
}

/* ---- Lookups ---- */

symbol_source *symbol_source_open(const symbol_file *file, uint32_t session_flags, size_t cache_limit)
{
    symbol_source *s = tool_alloc(sizeof *s);
    memset(s, 0, sizeof *s);
    s->file = file;
    s->flags = session_flags;
    machsym_session_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.image = file->image;
    desc.lines = file->lines;
    desc.flags = session_flags;
    desc.cache_limit = cache_limit;
    machsym_error err;
    machsym_names_desc names = {.map = file->map};
    machsym_result result = file->image != NULL ? machsym_session_open(&desc, &s->session, &err)
                                                : machsym_names_open(&names, &s->unpacked, &err);
    if (result != MACHSYM_OK) {
        tool_say("%s", err.what);
        exit(TOOL_ERROR);
    }
    return s;
}

void symbol_source_close(symbol_source *s)
{
    if (s == NULL)
        return;
    tool_session_close(s->session);
    machsym_names_close(s->unpacked);
    forget_names(s);
    free(s->names);
    free(s->found);
    free(s);
}

machsym_session *symbol_source_session(const symbol_source *s)
{
    return s->session;
}

/* MACHSYM_SESSION_BEST_LINE for the frames of a map. */
static void best_lines(machsym_frame *frames, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t from = count;
        for (size_t j = i; j-- > 0 && from == count;)
            from = frames[j].line != 0 ? j : count;
        for (size_t j = i + 1; j < count && from == count; j++)
            from = frames[j].line != 0 ? j : count;
        if (frames[i].line != 0 || from == count)
            continue;
        frames[i].file = frames[from].file;
        frames[i].line = frames[from].line;
        frames[i].column = frames[from].column;
    }
}

static size_t frames_of_map(symbol_source *s, uint64_t addr, machsym_frame *frames, size_t cap)
{
    if (s->found_cap < cap) {
        free(s->found);
        s->found = tool_alloc(cap * sizeof *s->found);
        s->found_cap = cap;
    }
    size_t count = machsym_map_frames(s->file->map, addr, s->found, cap);
    count = count < cap ? count : cap;
    if (machsym_names_trim(s->unpacked, UNPACKED_KEPT))
        forget_names(s);
    if (!machsym_names_get(s->unpacked, s->found, count, frames))
        tool_lacked_memory();
    return count;
}

size_t symbol_source_frames(symbol_source *s, uint64_t addr, machsym_frame *frames, size_t cap)
{
    if (s->session != NULL) {
        size_t found = machsym_session_frames(s->session, addr, frames, cap);
        return found < cap ? found : cap;
    }
    size_t count = frames_of_map(s, addr, frames, cap);
    if ((s->flags & MACHSYM_SESSION_BEST_LINE) != 0)
        best_lines(frames, count);
    return count;
}
