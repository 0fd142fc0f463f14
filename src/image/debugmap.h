#ifndef ms_ROOM_image_debugmap
#define ms_ROOM_image_debugmap
#include "../api/options.h"
#include "../api/api.h"
#include "../base/platform.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "../base/memory.h"
#include "../base/segments.h"
#include "../base/table.h"
#include "../macho/macho.h"
#include "../macho/files.h"
#include "../macho/symbols.h"
#include "../dwarf/forms.h"
#include "../dwarf/units.h"
#include "image.h"
#include "sections.h"

/* ==== >>debugmap ===========================================================================================
 * Job:    finds a program's debug info in the object files that its debug map names.
 * Offers: ms_om_map, ms_om_list, ms_om_find, ms_om_open, ms_om_next_function.
 * Never:  answers; keeps an object open that the caller does not hold. */

/* stab.h. N_FUN has all that is needed of code: N_BNSYM and N_ENSYM stand around it and repeat it. N_STSYM
 * and N_GSYM are of data. */
enum { ms_N_FUN = 0x24, ms_N_SO = 0x64, ms_N_OSO = 0x66 };

/* ---- Stabs ---- */

/* An object file that the debug map names. */
typedef struct ms_om_object {
    uint32_t first; /* its N_OSO in LC_SYMTAB; its functions follow */
    uint32_t end;
    uint64_t time; /* when the file had last changed as the linker read it; 0: not recorded */
    machsym_str path;
    machsym_str member; /* in the archive; empty for a file of its own */
} ms_om_object;

/* The debug map of a program. */
typedef struct ms_om_map {
    const ms_mo *mo;
    ms_span nlists;
    ms_span strings;
    ms_om_object *v;
    size_t count;
    size_t cap;
    ms_segs segs; /* linked address to object; empty until ms_om_index */
    bool is_indexed;
    uint32_t scans; /* lookups that have read all stabs */
} ms_om_map;

/* A function as the debug map has it. */
typedef struct ms_om_function {
    uint32_t strx;
    uint64_t lo; /* in the program */
    uint64_t size;
} ms_om_function;

/* The next function between two entries. It is two of them: its name and address, then no name and its
 * size. */
static bool ms_om_next(const ms_mo *mo, ms_span nlists, size_t *at, size_t end, ms_om_function *out)
{
    const uint32_t one = ms_sym_nlist_size(mo);
    for (; *at + 1 < end; ++*at) {
        if (nlists.ptr[*at * one + 4] != ms_N_FUN || nlists.ptr[(*at + 1) * one + 4] != ms_N_FUN)
            continue;
        ms_sym_nlist name = ms_sym_nlist_at(mo, nlists, *at);
        const uint8_t *size = nlists.ptr + (*at + 1) * one + 8; /* unlike an address, it has no Thumb bit */
        uint64_t hi;
        out->strx = name.strx;
        out->lo = name.value;
        out->size = mo->is_64 ? ms_rd_raw_u64(size) : ms_rd_raw_u32(size);
        if (out->size != 0 && ms_add_ok(out->lo, out->size, &hi)) {
            *at += 2;
            return true;
        }
        ++*at; /* a function without code: the second entry is its size, no function's name */
    }
    return false;
}

/* The path that an N_OSO names: "libx.a(member.o)" in its two parts. */
static void ms_om_read_path(ms_span strings, uint32_t strx, machsym_str *path, machsym_str *member)
{
    ms_span rest = ms_span_from(strings, strx);
    *path = ms_rd_str_at(
        ms_span_sub(rest, 0, rest.len < MACHSYM_MAX_OBJECT_PATH ? rest.len : (size_t)MACHSYM_MAX_OBJECT_PATH),
        0);
    size_t open = path->len;
    MACHSYM_COUNT_WORK(path->len / 64);
    *member = ms_str_empty();
    while (open > 0 && ms_str_ends(*path, ")") && path->ptr[open - 1] != '(')
        open--;
    if (open > 0 && open < path->len) {
        *member = ms_str_make(path->ptr + open, path->len - open - 1);
        path->len = open - 1;
    }
}

/* The next function of the debug map of one half at or past entry *at; *oso: entry of its object file plus
 * 1. */
static bool ms_om_next_function(const ms_mo *mo, uint64_t *at, uint64_t *oso, machsym_object *out)
{
    ms_span nlists = ms_sym_nlists(mo);
    ms_span strings = ms_sym_strings(mo);
    const uint32_t one = ms_sym_nlist_size(mo);
    size_t count = mo->hide_symtab ? 0 : nlists.len / one;
    for (; *at < count; ++*at) {
        uint8_t type = nlists.ptr[(size_t)*at * one + 4];
        ms_om_function function;
        size_t next = (size_t)*at;
        if (type == ms_N_OSO)
            *oso = *at + 1;
        else if (type == ms_N_SO)
            *oso = 0; /* the object file follows its source file */
        if (type != ms_N_FUN || *oso == 0 || *at + 1 >= count ||
            !ms_om_next(mo, nlists, &next, next + 2, &function))
            continue;
        *at = next;
        out->lo = function.lo;
        out->hi = function.lo + function.size;
        ms_om_read_path(strings, ms_sym_nlist_at(mo, nlists, (size_t)*oso - 1).strx, &out->path,
                        &out->member);
        return true;
    }
    return false;
}

static void ms_om_add_object(ms_om_map *m, size_t entry, ms_arena *arena)
{
    ms_om_object *v = (ms_om_object *)ms_arena_grow(arena, m->v, m->count, &m->cap, sizeof *v);
    if (v == NULL)
        return;
    ms_sym_nlist oso = ms_sym_nlist_at(m->mo, m->nlists, entry);
    const uint8_t *value = m->nlists.ptr + entry * ms_sym_nlist_size(m->mo) + 8;
    m->v = v;
    v += m->count++;
    v->first = v->end = (uint32_t)entry;
    v->time = m->mo->is_64 ? ms_rd_raw_u64(value) : ms_rd_raw_u32(value);
    ms_om_read_path(m->strings, oso.strx, &v->path, &v->member);
}

/* Lists the object files of a program's debug map, in its order. */
static void ms_om_list(ms_om_map *m, const ms_mo *mo, ms_arena *arena)
{
    ms_zero(m, sizeof *m);
    m->mo = mo;
    m->nlists = ms_sym_nlists(mo);
    m->strings = ms_sym_strings(mo);
    const uint32_t one = ms_sym_nlist_size(mo);
    size_t count = mo->hide_symtab ? 0 : m->nlists.len / one;
    bool open = false;
    MACHSYM_COUNT_WORK(count);
    for (size_t i = 0; i < count; i++) {
        uint8_t type = m->nlists.ptr[i * one + 4];
        if ((type & ms_N_STAB) == 0 ? !open : type != ms_N_SO && type != ms_N_OSO)
            continue; /* a symbol outside of the stabs, or a stab inside of an object: nearly all */
        if (open)
            m->v[m->count - 1].end = (uint32_t)i;
        open = false;
        if (type != ms_N_OSO)
            continue;
        size_t before = m->count;
        ms_om_add_object(m, i, arena);
        open = m->count > before;
    }
    if (open)
        m->v[m->count - 1].end = (uint32_t)count;
}

/* The object that has a linked address, by reading all stabs: for a first, cold lookup. count when none
 * has. */
static size_t ms_om_scan(const ms_om_map *m, uint64_t addr)
{
    for (size_t i = 0; i < m->count; i++) {
        ms_om_function function;
        for (size_t at = m->v[i].first; ms_om_next(m->mo, m->nlists, &at, m->v[i].end, &function);) {
            if (addr >= function.lo && addr - function.lo < function.size)
                return i;
        }
    }
    return m->count;
}

/* The whole debug map as segments: for many lookups. Of objects that claim the same code (the linker folds
 * equal functions) the first has it, so they are painted last. */
static void ms_om_index(ms_om_map *m, ms_arena *scratch, ms_arena *arena)
{
    ms_cu_pieces pieces = {scratch, NULL, 0, 0};
    if (m->is_indexed)
        return;
    ms_arena_reset(scratch);
    m->is_indexed = true;
    m->segs.arena = arena;
    for (size_t i = 0; i < m->count; i++) {
        ms_om_function function;
        for (size_t at = m->v[i].first; ms_om_next(m->mo, m->nlists, &at, m->v[i].end, &function);)
            ms_cu_add_piece(&pieces, function.lo, function.lo + function.size, i);
    }
    ms_cu_build_segments(&pieces, scratch, &m->segs);
}

static size_t ms_om_find(const ms_om_map *m, uint64_t addr)
{
    uint32_t owner = ms_seg_owner(m->segs.v, m->segs.count, addr);
    return owner == ms_SEG_NONE ? m->count : owner;
}

/* The object that has a linked address; count when none has. The first few lookups read the stabs. */
static size_t ms_om_object_at(ms_om_map *m, uint64_t addr, ms_arena *scratch, ms_arena *arena)
{
    if (!m->is_indexed && m->scans++ < MACHSYM_SCANS)
        return ms_om_scan(m, addr);
    ms_om_index(m, scratch, arena);
    return ms_om_find(m, addr);
}

/* ---- What may be read again ---- */

/* Which files were read, and how much may be read again. */
typedef struct ms_om_quota {
    ms_tab seen;   /* what was read: a hash of its file and place, its length */
    uint64_t left; /* bytes */
    uint64_t read; /* bytes that were new, the program's among them */
} ms_om_quota;

static void ms_om_start_quota(ms_om_quota *quota, uint64_t program, ms_arena *arena)
{
    ms_zero(&quota->seen, sizeof quota->seen);
    quota->seen.arena = arena;
    quota->read = program;
    quota->left = MACHSYM_READ_AGAIN + MACHSYM_READ_AGAIN_PER_BYTE * program;
}

#ifndef MACHSYM_NO_OS
/* Takes bytes from what may be read again. */
static void ms_om_pay(ms_om_quota *quota, uint64_t bytes)
{
    MACHSYM_COUNT_WORK(bytes / 64);
    if (quota != NULL)
        quota->left = bytes < quota->left ? quota->left - bytes : 0;
}

static bool ms_om_is_spent(const ms_om_quota *quota)
{
    return quota != NULL && quota->left == 0;
}

/* Whether a part of a file is read for the first time. A file is known by its time and its length, since
 * links differ from copies in these on every system. If two files have both in common by chance, that costs
 * only a little. */
static bool ms_om_is_new(ms_om_quota *quota, const ms_os_file *file, ms_span part)
{
    uint64_t place = part.ptr != NULL ? (uint64_t)(part.ptr - (const uint8_t *)file->ptr) : 0;
    uint64_t key[3] = {file->time, file->len, place};
    if (quota == NULL)
        return true;
    ms_tab_slot *slot =
        ms_tab_get(&quota->seen, ms_str_hash(ms_str_make((const char *)key, sizeof key)), part.len);
    if (!ms_tab_has(&quota->seen, slot) || slot->value != 0)
        return false;
    slot->value = 1;
    quota->left += MACHSYM_READ_AGAIN_PER_BYTE * (uint64_t)part.len;
    quota->read += part.len;
    return true;
}

/* ---- Archives ---- */

/* The part after the last slash of a path that a program or an archive holds. */
static machsym_str ms_om_base_name(machsym_str path)
{
    size_t at = path.len;
    while (at > 0 && path.ptr[at - 1] != '/')
        at--;
    return at == 0 ? path : ms_str_make(path.ptr + at, path.len - at); /* NULL + 0 is undefined */
}

/* A member of an archive, as its header tells. */
typedef struct ms_om_member {
    machsym_str name;
    uint64_t time;
    ms_span bytes; /* empty in a thin archive: the name is a path then */
} ms_om_member;

/* An archive, and what it takes to read it from front to back. */
typedef struct ms_om_archive {
    ms_rd rd;
    bool is_thin;
    ms_span long_names; /* of the GNU kind */
} ms_om_archive;

/* A field of a header: at most 16 decimal digits, then spaces. */
static uint64_t ms_om_decimal(machsym_str text)
{
    uint64_t number = 0;
    for (size_t i = 0; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++)
        number = number * 10 + (uint64_t)(text.ptr[i] - '0');
    return number;
}

static machsym_str ms_om_field(ms_rd *rd, size_t len)
{
    ms_span span = ms_rd_span(rd, len);
    return ms_str_make((const char *)span.ptr, span.len);
}

static bool ms_om_archive_open(ms_om_archive *a, ms_span file)
{
    machsym_str text = ms_str_make((const char *)file.ptr, file.len);
    ms_zero(a, sizeof *a);
    a->rd = ms_rd_at(file, file.len < 8 ? file.len : 8);
    a->is_thin = ms_str_begins(text, "!<thin>\n");
    return a->is_thin || ms_str_begins(text, "!<arch>\n");
}

/* The name in a header: BSD's "#1/N" stands before the bytes, N long; GNU's "/N" at N of the table of long
 * names; short ones end in a slash or in spaces. */
static machsym_str ms_om_name(const ms_om_archive *a, machsym_str field, ms_span *body)
{
    if (ms_str_begins(field, "#1/")) {
        uint64_t len = ms_om_decimal(ms_str_drop(field, 3));
        ms_span name = ms_span_sub(*body, 0, len);
        *body = ms_span_from(*body, len);
        return ms_str_bounded((const char *)name.ptr, name.len);
    }
    if (field.ptr[0] == '/' && field.ptr[1] >= '0' && field.ptr[1] <= '9') {
        ms_span rest = ms_span_from(a->long_names, ms_om_decimal(ms_str_drop(field, 1)));
        const uint8_t *end = (const uint8_t *)ms_find_byte(rest.ptr, rest.len, '\n');
        machsym_str name =
            ms_str_make((const char *)rest.ptr, end != NULL ? (size_t)(end - rest.ptr) : rest.len);
        if (ms_str_ends(name, "/"))
            name.len--;
        return name;
    }
    while (field.len > 0 && field.ptr[field.len - 1] == ' ')
        field.len--;
    if (field.len > 1 && field.ptr[0] != '/' && ms_str_ends(field, "/"))
        field.len--;
    return field;
}

/* Reads the next member: a header of 60 bytes (ar.h), then its bytes, on even offsets. Tables of symbols, of
 * 32 and of 64 bits, are members with names that no object has. */
static bool ms_om_next_member(ms_om_archive *a, ms_om_member *out)
{
    while (ms_rd_left(&a->rd) >= 60) {
        machsym_str field = ms_om_field(&a->rd, 16);
        out->time = ms_om_decimal(ms_om_field(&a->rd, 12));
        ms_rd_skip(&a->rd, 20); /* owner, group, mode */
        uint64_t size = ms_om_decimal(ms_om_field(&a->rd, 10));
        ms_rd_skip(&a->rd, 2);
        bool is_table = field.ptr[0] == '/' && (field.ptr[1] < '0' || field.ptr[1] > '9');
        if (size > ms_rd_left(&a->rd) && (!a->is_thin || is_table))
            size = ms_rd_left(&a->rd);
        out->bytes = ms_span_make(NULL, 0);
        if (!a->is_thin || is_table) {
            out->bytes = ms_rd_span(&a->rd, size);
            if ((size & 1) != 0 && ms_rd_left(&a->rd) > 0)
                ms_rd_skip(&a->rd, 1);
        }
        if (field.ptr[0] == '/' && field.ptr[1] == '/')
            a->long_names = out->bytes;
        out->name = ms_om_name(a, field, &out->bytes);
        if (!is_table)
            return true;
    }
    return false;
}

/* Finds a member by its name. An archive may hold several of one name: time chooses, else the first is
 * taken. Ends where the quota does. */
static bool ms_om_find_member(ms_span file, machsym_str name, uint64_t time, ms_om_quota *quota,
                              ms_om_member *out)
{
    ms_om_archive archive;
    ms_om_member member;
    bool found = false;
    if (!ms_om_archive_open(&archive, file))
        return false;
    while (ms_om_next_member(&archive, &member) && !ms_om_is_spent(quota)) {
        ms_om_pay(quota, 60);
        bool same = ms_str_equal(archive.is_thin ? ms_om_base_name(member.name) : member.name, name) ||
                    ms_str_equal(member.name, name);
        if (!same || (found && member.time != time))
            continue;
        *out = member;
        found = true;
        if (time == 0 || member.time == time)
            break;
    }
    return found;
}

/* The slice of a fat file, of objects or of archives, for the program's architecture; a thin file itself. */
static ms_span ms_om_slice(ms_span file, const ms_mo *program)
{
    ms_span best = ms_span_make(NULL, 0);
    ms_span slice;
    uint64_t offset;
    uint32_t count;
    ms_rd rd = ms_rd_make(file);
    uint32_t magic = ms_rd_be32(&rd);
    if (magic != ms_FAT_MAGIC_32 && magic != ms_FAT_MAGIC_64)
        return file;
    for (uint32_t i = 0; ms_file_slice_at(file, i, &count, &slice, &offset); i++) {
        ms_rd entry = ms_rd_at(file, 8 + (uint64_t)i * (magic == ms_FAT_MAGIC_64 ? 32 : 20));
        uint32_t cputype = ms_rd_be32(&entry);
        uint32_t cpusubtype = ms_rd_be32(&entry);
        bool exact = ((cpusubtype ^ program->slice.cpusubtype) & ms_CPU_SUBTYPE) == 0;
        if (cputype == program->slice.cputype && (exact || best.len == 0))
            best = slice;
    }
    return best;
}
#endif

#ifndef MACHSYM_NO_OS
/* ---- Where the linker put the object's code ---- */

/* Functions of the debug map or symbols of the object, by the hash of their names. */
typedef struct ms_om_names {
    ms_key *v; /* hash, entry */
    size_t count;
} ms_om_names;

/* Takes the cost of a name from the budget. Returns false once the budget is spent. */
static bool ms_om_spend(uint64_t *budget, machsym_str name)
{
    uint64_t cost = name.ptr != NULL ? name.len + 1 : MACHSYM_MAX_TEXT; /* looked for its end in vain */
    *budget = cost < *budget ? *budget - cost : 0;
    return *budget != 0;
}

static void ms_om_sort_names(ms_om_names *names, ms_arena *scratch)
{
    ms_key *room = (ms_key *)ms_arena_alloc(scratch, names->count, sizeof *room);
    ms_sort(names->v, names->count, room);
}

static ms_om_names ms_om_function_names(const ms_om_map *m, const ms_om_object *object, ms_arena *scratch)
{
    ms_om_names names = {NULL, 0};
    ms_om_function function;
    uint64_t budget = MACHSYM_MAX_TEXT + (uint64_t)MACHSYM_OBJECT_NAME * (object->end - object->first);
    names.v = (ms_key *)ms_arena_alloc(scratch, (object->end - object->first) / 2 + 1, sizeof *names.v);
    if (names.v == NULL)
        return names;
    for (size_t at = object->first; ms_om_next(m->mo, m->nlists, &at, object->end, &function);) {
        machsym_str name = ms_sym_name_at(m->strings, function.strx);
        if (!ms_om_spend(&budget, name))
            break;
        names.v[names.count].key = ms_str_hash(name);
        names.v[names.count++].item = at - 2;
    }
    ms_om_sort_names(&names, scratch);
    return names;
}

static ms_om_names ms_om_symbol_names(const ms_mo *mo, ms_arena *scratch)
{
    ms_om_names names = {NULL, 0};
    ms_span nlists = ms_sym_nlists(mo);
    ms_span strings = ms_sym_strings(mo);
    size_t count = nlists.len / ms_sym_nlist_size(mo);
    uint64_t budget = MACHSYM_MAX_TEXT + (uint64_t)MACHSYM_OBJECT_NAME * count;
    names.v = (ms_key *)ms_arena_alloc(scratch, count + 1, sizeof *names.v);
    if (names.v == NULL)
        return names;
    for (size_t i = 0; i < count; i++) {
        ms_sym_nlist entry = ms_sym_nlist_at(mo, nlists, i);
        if (!ms_sym_is_defined(&entry))
            continue;
        machsym_str name = ms_sym_name_at(strings, entry.strx);
        if (!ms_om_spend(&budget, name))
            break;
        names.v[names.count].key = ms_str_hash(name);
        names.v[names.count++].item = i;
    }
    ms_om_sort_names(&names, scratch);
    return names;
}

/* Sorts moves by the object's addresses, cuts overlaps, and joins those that moved together. */
static size_t ms_om_join_moves(ms_dw_move *moves, size_t count, ms_arena *scratch)
{
    ms_key *order = (ms_key *)ms_arena_alloc(scratch, count, sizeof *order);
    ms_key *room = (ms_key *)ms_arena_alloc(scratch, count, sizeof *order);
    ms_dw_move *sorted = (ms_dw_move *)ms_arena_alloc(scratch, count, sizeof *sorted);
    size_t kept = 0;
    if (order == NULL || room == NULL || sorted == NULL)
        return 0;
    for (size_t i = 0; i < count; i++) {
        order[i].key = moves[i].lo;
        order[i].item = i;
    }
    ms_sort(order, count, room);
    for (size_t i = 0; i < count; i++)
        sorted[i] = moves[order[i].item];
    for (size_t i = 0; i < count; i++) {
        ms_dw_move move = sorted[i];
        if (i + 1 < count && move.hi > sorted[i + 1].lo)
            move.hi = sorted[i + 1].lo;
        if (move.lo >= move.hi)
            continue;
        ms_dw_move *last = kept > 0 ? &moves[kept - 1] : NULL;
        if (last != NULL && last->hi == move.lo && last->to - last->lo == move.to - move.lo)
            last->hi = move.hi;
        else
            moves[kept++] = move;
    }
    return kept;
}

/* Moves as they are collected. */
typedef struct ms_om_moves {
    ms_arena *arena;
    ms_dw_move *v;
    size_t count;
    size_t cap;
    size_t left; /* pieces that functions may still be cut into */
} ms_om_moves;

static void ms_om_add_move(ms_om_moves *moves, uint64_t lo, uint64_t len, uint64_t to)
{
    ms_dw_move *v = (ms_dw_move *)ms_arena_grow(moves->arena, moves->v, moves->count, &moves->cap, sizeof *v);
    if (v == NULL)
        return;
    moves->v = v;
    v += moves->count++;
    v->lo = lo;
    v->hi = lo + len;
    v->to = to;
}

/* Adds the code that the object has of a function. Once the map is indexed, code is left out that another
 * object has too and answers for. */
static void ms_om_add_owned(const ms_om_map *m, size_t index, uint64_t addr, const ms_om_function *function,
                            ms_om_moves *moves)
{
    uint64_t until;
    if (m->segs.count == 0) {
        ms_om_add_move(moves, addr, function->size, function->lo);
        return;
    }
    for (uint64_t off = 0; off < function->size && moves->left > 0; off = until - function->lo) {
        MACHSYM_COUNT_WORK(1);
        moves->left--;
        until = function->lo + function->size;
        if (ms_seg_at(m->segs.v, m->segs.count, function->lo + off, &until) == index)
            ms_om_add_move(moves, addr + off, until - function->lo - off, function->lo + off);
    }
}

/* Matches the functions of the debug map with the symbols of the object, by name. Where several have one
 * name, they are matched in order. */
static void ms_om_read_moves(const ms_om_map *m, const ms_om_object *object, const ms_mo *mo, ms_arena *arena,
                             ms_arena *scratch, ms_dw *dw)
{
    ms_om_names functions = ms_om_function_names(m, object, scratch);
    ms_om_names symbols = ms_om_symbol_names(mo, scratch);
    ms_span nlists = ms_sym_nlists(mo);
    ms_span strings = ms_sym_strings(mo);
    ms_om_moves moves = {scratch, NULL, 0, 0, MACHSYM_MAX_PIECES * functions.count};
    if (functions.v == NULL || symbols.v == NULL)
        return;
    for (size_t i = 0, j = 0; i < functions.count && j < symbols.count;) {
        if (functions.v[i].key != symbols.v[j].key) {
            if (functions.v[i].key < symbols.v[j].key)
                i++;
            else
                j++;
            continue;
        }
        ms_om_function function;
        uint64_t end;
        size_t at = (size_t)functions.v[i++].item;
        ms_sym_nlist symbol = ms_sym_nlist_at(mo, nlists, (size_t)symbols.v[j++].item);
        if (ms_om_next(m->mo, m->nlists, &at, at + 2, &function) &&
            ms_str_equal(ms_sym_name_at(m->strings, function.strx), ms_sym_name_at(strings, symbol.strx)) &&
            ms_add_ok(symbol.value, function.size, &end))
            ms_om_add_owned(m, (size_t)(object - m->v), symbol.value, &function, &moves);
    }
    size_t count = ms_om_join_moves(moves.v, moves.count, scratch);
    ms_dw_move *kept = (ms_dw_move *)ms_arena_alloc(arena, count + 1, sizeof *kept);
    if (kept == NULL)
        return;
    ms_copy(kept, moves.v, count * sizeof *kept);
    dw->moves = kept;
    dw->move_count = count;
}
#endif

/* ---- Opening an object ---- */

/* An object file of a debug map, opened: its debug info with the program's addresses. */
typedef struct ms_om_file {
    machsym_image image; /* of one half */
    uint64_t time;       /* of the file, or of the member */
#ifndef MACHSYM_NO_OS
    ms_os_file files[2]; /* the file; then what a thin archive names */
#endif
} ms_om_file;

static void ms_om_close(ms_om_file *file)
{
#ifndef MACHSYM_NO_OS
    ms_os_unmap(&file->files[0]);
    ms_os_unmap(&file->files[1]);
#endif
    ms_sec_drop(file->image.sections);
    ms_arena_free(&file->image.arena);
}

#ifndef MACHSYM_NO_OS
/* a, then b, as text of the program. */
static const char *ms_om_path(machsym_str a, const char *between, machsym_str b, ms_arena *scratch)
{
    machsym_str middle = ms_str_from_c(between);
    MACHSYM_COUNT_WORK(1 + (a.len + b.len) / 64);
    char *path = (char *)ms_arena_alloc(scratch, a.len + middle.len + b.len + 1, 1);
    if (path == NULL)
        return NULL;
    ms_copy(path, a.ptr, a.len);
    ms_copy(path + a.len, middle.ptr, middle.len);
    ms_copy(path + a.len + middle.len, b.ptr, b.len);
    path[a.len + middle.len + b.len] = 0;
    return path;
}

/* Where a file of the debug map could be, by number. First come the places that oso_prefixes give, then the
 * path as it is, then the folders of oso_dirs, each with the longest end of the path first. Returns false
 * at the end. *path is NULL when this number gives no place. */
static bool ms_om_candidate(const ms_im_places *places, machsym_str path, size_t number, ms_arena *scratch,
                            const char **out)
{
    *out = NULL;
    if (number < places->prefix_count) {
        const machsym_oso_prefix *prefix = &places->prefixes[number];
        if (ms_str_begins(path, prefix->from))
            *out = ms_om_path(ms_str_from_c(prefix->to), "",
                              ms_str_drop(path, ms_str_from_c(prefix->from).len), scratch);
        return true;
    }
    number -= places->prefix_count;
    if (number == 0) {
        *out = ms_om_path(path, "", ms_str_empty(), scratch);
        return true;
    }
    number--;
    size_t ends = 1; /* of the path: one a slash, and the whole of a relative one */
    for (size_t i = 1; i < path.len; i++)
        ends += path.ptr[i] == '/';
    if (ends > MACHSYM_MAX_PATH_ENDS || number >= places->dir_count * ends)
        return false;
    size_t drop = path.len > 0 && path.ptr[0] == '/' ? 1 : 0;
    for (size_t skip = number % ends; skip > 0; drop++)
        skip -= path.ptr[drop] == '/';
    *out = ms_om_path(ms_str_from_c(places->dirs[number / ends]), "/", ms_str_drop(path, drop), scratch);
    return true;
}

/* The file that a thin archive names, relative to where the archive lies. */
static ms_span ms_om_thin_member(const char *archive, machsym_str name, bool copy, ms_om_file *file,
                                 ms_arena *scratch)
{
    machsym_str folder = ms_str_from_c(archive);
    folder.len -= ms_om_base_name(folder).len;
    if (name.len > 0 && name.ptr[0] == '/')
        folder.len = 0;
    const char *path = ms_om_path(folder, "", name, scratch);
    if (path == NULL || ms_os_map(path, copy, file->image.arena.allocator, &file->files[1]) != 0)
        return ms_span_make(NULL, 0);
    return ms_span_make(file->files[1].ptr, file->files[1].len);
}

/* Opens what lies at a path, and finds the object in it. */
static machsym_object_status ms_om_open_at(const ms_om_map *m, const ms_om_object *object, const char *path,
                                           const ms_im_places *places, ms_om_quota *quota, ms_om_file *file,
                                           ms_arena *scratch, ms_span *bytes)
{
    ms_om_member member;
    bool copy = (places->flags & MACHSYM_OPEN_COPY) != 0;
    int code = ms_os_map(path, copy, file->image.arena.allocator, &file->files[0]);
    if (code != 0)
        return code == ENOMEM ? MACHSYM_OBJECT_UNTRIED : MACHSYM_OBJECT_MISSING;
    ms_os_file *outer = &file->files[0];
    bool fits = object->time == 0 || object->time == outer->time;
    file->time = outer->time;
    *bytes = ms_om_slice(ms_span_make(outer->ptr, outer->len), m->mo);
    ms_span looked_at = ms_span_sub(*bytes, 0, object->member.len != 0 ? bytes->len : 0);
    if (!ms_om_is_new(quota, outer, looked_at) && !outer->mapped)
        ms_om_pay(quota, outer->len / 16); /* copying is cheap beside reading */
    if (object->member.len != 0) {
        if (!ms_om_find_member(*bytes, object->member, object->time, quota, &member))
            return ms_om_is_spent(quota) ? MACHSYM_OBJECT_OVER_BUDGET : MACHSYM_OBJECT_NO_MEMBER;
        *bytes = member.bytes;
        if (member.bytes.len == 0)
            *bytes = ms_om_thin_member(path, member.name, copy, file, scratch);
        /* an archive made without times has 0 in its headers: then its own time counts */
        if (member.time != 0)
            file->time = member.time;
        fits = fits || object->time == file->time;
    }
    return fits || (places->flags & MACHSYM_OPEN_ANY_TIME) != 0 ? MACHSYM_OBJECT_FOUND
                                                                : MACHSYM_OBJECT_CHANGED;
}

/* Reads the debug info of an object whose bytes are there. */
static machsym_object_status ms_om_read(const ms_om_map *m, const ms_om_object *object, ms_span bytes,
                                        ms_om_quota *quota, ms_om_file *file, ms_arena *scratch)
{
    const ms_os_file *os_file = &file->files[file->files[1].ptr != NULL ? 1 : 0];
    if (!ms_om_is_new(quota, os_file, bytes))
        ms_om_pay(quota, bytes.len);
    if (ms_om_is_spent(quota))
        return MACHSYM_OBJECT_OVER_BUDGET;
    machsym_image *image = &file->image;
    ms_mo *mo = &image->mo[0];
    mo->bytes = bytes;
    image->mo_count = 1;
    if (ms_mo_load(mo, &image->arena, NULL) != MACHSYM_OK || mo->slice.filetype != ms_MH_OBJECT ||
        mo->slice.cputype != m->mo->slice.cputype)
        return MACHSYM_OBJECT_NO_OBJECT;
    if (mo->damage.first.is_cut_short) /* its relocations and symbols lie after its debug info */
        return MACHSYM_OBJECT_CUT_SHORT;
    ms_im_start_dwarf(image);
    if (image->arena.oom || !ms_dw_need(&image->dw, ms_NEEDS_UNITS))
        return MACHSYM_OBJECT_UNTRIED;
    if (image->dw.info.len == 0)
        return MACHSYM_OBJECT_NO_DWARF;
    image->dw.lent |= ms_NEEDS_ARANGES; /* in the object's addresses, and rare: the roots' ranges do */
    ms_om_read_moves(m, object, mo, &image->arena, scratch, &image->dw);
    return image->dw.moves != NULL ? MACHSYM_OBJECT_FOUND : MACHSYM_OBJECT_MISSING;
}
#endif

/* Finds and opens an object file of a debug map. quota is NULL when it was opened before. Returns
 * MACHSYM_OBJECT_FOUND, and a file to close; else why it cannot answer, and MACHSYM_OBJECT_UNTRIED when
 * memory is out. */
static machsym_object_status ms_om_open(const ms_om_map *m, const ms_om_object *object,
                                        const ms_im_places *places, ms_om_quota *quota,
                                        machsym_allocator allocator, ms_om_file *file)
{
    machsym_object_status best = MACHSYM_OBJECT_MISSING;
    uint64_t best_time = 0;
    ms_arena scratch = ms_arena_make(allocator);
    ms_zero(file, sizeof *file);
    file->image.arena = ms_arena_make(allocator);
#ifdef MACHSYM_NO_OS
    (void)m;
    (void)object;
    (void)places;
    (void)quota;
#else
    const char *path;
    if (ms_om_is_spent(quota))
        best = MACHSYM_OBJECT_OVER_BUDGET;
    for (size_t i = 0; !ms_om_is_spent(quota) && ms_om_candidate(places, object->path, i, &scratch, &path);
         i++) {
        ms_span bytes;
        if (path == NULL)
            continue;
        machsym_object_status status = ms_om_open_at(m, object, path, places, quota, file, &scratch, &bytes);
        if (status == MACHSYM_OBJECT_FOUND)
            status = ms_om_read(m, object, bytes, quota, file, &scratch);
        if (file->image.arena.failed || scratch.failed)
            best = status = MACHSYM_OBJECT_UNTRIED;
        if (status == MACHSYM_OBJECT_FOUND) {
            ms_arena_free(&scratch);
            return status;
        }
        if (best == MACHSYM_OBJECT_MISSING && status != MACHSYM_OBJECT_MISSING) {
            best = status;
            best_time = file->time;
        }
        ms_om_close(file);
        ms_zero(file, sizeof *file);
        file->image.arena = ms_arena_make(allocator);
        ms_arena_reset(&scratch);
        if (best == MACHSYM_OBJECT_UNTRIED)
            break;
    }
    if (scratch.failed)
        best = MACHSYM_OBJECT_UNTRIED;
#endif
    ms_arena_free(&scratch);
    file->time = best_time;
    return best;
}

#endif /* ms_ROOM_image_debugmap */
