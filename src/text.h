#ifndef ms_ROOM_text
#define ms_ROOM_text
#include "api/api.h"
#include "base/platform.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "macho/files.h"
#include "names/core.h"
#include "names/language.h"

/* ==== >>text ===============================================================================================
 * Job:    writes what is known for people: paths, names to show, errors as sentences.
 * Offers: ms_txt_path, ms_txt_demangle, ms_txt_name, ms_txt_error.
 * Never:  writes past the room it is given; leaves a text without its closing NUL. */

/* Text that is written as snprintf does: what does not fit is counted and left out. */
typedef struct ms_txt {
    char *buf;
    size_t cap; /* with the closing NUL */
    size_t len; /* of the whole text, without the NUL */
} ms_txt;

static ms_txt ms_txt_begin(char *buf, size_t cap)
{
    ms_txt t;
    t.buf = buf;
    t.cap = cap;
    t.len = 0;
    return t;
}

/* How many characters still fit before the NUL. */
static size_t ms_txt_room(const ms_txt *t)
{
    return t->len + 1 < t->cap ? t->cap - 1 - t->len : 0;
}

static void ms_txt_put(ms_txt *t, machsym_str s)
{
    size_t room = ms_txt_room(t);
    if (room > 0 && s.len > 0)
        ms_copy(t->buf + t->len, s.ptr, s.len < room ? s.len : room);
    t->len += s.len;
}

static void ms_txt_put_c(ms_txt *t, const char *s)
{
    if (s != NULL)
        ms_txt_put(t, ms_str_from_c(s));
}

static void ms_txt_put_number(ms_txt *t, uint64_t number)
{
    char digits[20];
    size_t at = sizeof digits;
    machsym_str s;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    s.ptr = digits + at;
    s.len = sizeof digits - at;
    ms_txt_put(t, s);
}

/* Returns: the length of the whole. */
static size_t ms_txt_end(ms_txt *t)
{
    if (t->cap > 0)
        t->buf[t->len < t->cap ? t->len : t->cap - 1] = 0;
    return t->len;
}

/* ---- Paths ---- */

static bool ms_txt_is_absolute(machsym_str path)
{
    return path.len > 0 && path.ptr[0] == '/';
}

/* comp_dir/dir/name; an absolute later part drops the earlier ones. */
static void ms_txt_path(ms_txt *t, const machsym_path *path)
{
    const machsym_str parts[3] = {path->comp_dir, path->dir, path->name};
    size_t first = ms_txt_is_absolute(path->name) ? 2 : ms_txt_is_absolute(path->dir) ? 1 : 0;
    char last = '/';
    if (path->name.len == 0)
        return;
    for (size_t i = first; i < 3; i++) {
        if (parts[i].len == 0)
            continue;
        if (last != '/')
            ms_txt_put_c(t, "/");
        ms_txt_put(t, parts[i]);
        last = parts[i].ptr[parts[i].len - 1];
    }
}

/* ---- Names ---- */

/* A mangled name in source form; any other name as it is. */
static void ms_txt_demangle(ms_txt *t, machsym_str mangled, uint32_t flags)
{
    ms_dm d;
    size_t room = ms_txt_room(t);
    ms_zero(&d, sizeof d);
    d.s = mangled.ptr;
    d.len = mangled.len;
    d.flags = flags & (MACHSYM_DEMANGLE_SIMPLIFIED | MACHSYM_DEMANGLE_RUST_HASH | MACHSYM_DEMANGLE_IN_TEXT);
    d.out = room > 0 ? t->buf + t->len : NULL;
    d.cap = room;
    if (ms_dml_run(&d))
        t->len += d.out_len;
    else
        ms_txt_put(t, mangled);
}

static bool ms_txt_is_name_char(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c == '$';
}

/* The length of the mangled Swift name that a text begins with; 0: it begins with none. */
static size_t ms_txt_swift_part(machsym_str s)
{
    size_t len = 0;
    if (!(s.len > 2 && ms_str_begins(s, "$s")) && !(s.len > 3 && ms_str_begins(s, "_Tt")))
        return 0;
    while (len < s.len && ms_txt_is_name_char(s.ptr[len]))
        len++;
    return len;
}

/* Whether a mangled name may follow a character. */
static bool ms_txt_ends_word(char c)
{
    return c == ' ' || c == '[';
}

/* How many characters of a text come before the next mangled name may. */
static size_t ms_txt_word(machsym_str s)
{
    size_t len = 1;
    while (len < s.len && !ms_txt_ends_word(s.ptr[len - 1]))
        len++;
    return len;
}

/* A name as it is shown. Names that were put together from metadata have spaces and are not mangled, but hold
 * mangled names: the Swift class of an Objective-C method, the type that a guess is about. */
static void ms_txt_name(ms_txt *t, machsym_str name, uint32_t flags)
{
    bool starts_word = true;
    if (name.len == 0 || ms_find_byte(name.ptr, name.len, ' ') == NULL) {
        ms_txt_demangle(t, name, flags);
        return;
    }
    while (name.len > 0) {
        machsym_str part = name;
        part.len = starts_word ? ms_txt_swift_part(name) : 0;
        if (part.len != 0) {
            ms_txt_demangle(t, part, flags);
        } else {
            part.len = ms_txt_word(name);
            ms_txt_put(t, part);
        }
        starts_word = ms_txt_ends_word(part.ptr[part.len - 1]);
        name.ptr += part.len;
        name.len -= part.len;
    }
}

/* ---- Errors ---- */

/* One architecture of a file: "arm64 67E7E8C9-...". */
static void ms_txt_slice(ms_txt *t, const machsym_slice *slice)
{
    machsym_str digit;
    ms_txt_put_c(t, slice->arch);
    if (!slice->has_uuid)
        return;
    ms_txt_put_c(t, " ");
    for (unsigned i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            ms_txt_put_c(t, "-");
        digit.len = 1;
        digit.ptr = &"0123456789ABCDEF"[slice->uuid.v[i] >> 4];
        ms_txt_put(t, digit);
        digit.ptr = &"0123456789ABCDEF"[slice->uuid.v[i] & 15];
        ms_txt_put(t, digit);
    }
}

/* Whether another slice of the file might have been opened. */
static bool ms_txt_is_choice(machsym_result code)
{
    return code == MACHSYM_ERR_ARCH || code == MACHSYM_ERR_UUID || code == MACHSYM_ERR_AMBIGUOUS;
}

enum { ms_TXT_SLICES = 16 }; /* that an error lists; real files have at most 5 */

/* "; the file has arm64 67E7..., x86_64 09AB... and 3 more". */
static void ms_txt_slices(ms_txt *t, const machsym_open_desc *desc)
{
    machsym_slice slices[ms_TXT_SLICES];
    machsym_allocator allocator = ms_arena_default(desc->allocator);
    if (allocator.alloc == NULL || allocator.free == NULL)
        return;
    size_t count = ms_file_list_slices(desc, allocator, slices, ms_TXT_SLICES, NULL);
    for (size_t i = 0; i < count && i < ms_TXT_SLICES; i++) {
        ms_txt_put_c(t, i == 0 ? "; the file has " : ", ");
        ms_txt_slice(t, &slices[i]);
    }
    if (count > ms_TXT_SLICES) {
        ms_txt_put_c(t, " and ");
        ms_txt_put_number(t, count - ms_TXT_SLICES);
        ms_txt_put_c(t, " more");
    }
}

static const char *ms_txt_advice(machsym_result code)
{
    switch (code) {
    case MACHSYM_ERR_FORMAT: return "; name a Mach-O file, a .dSYM or a .symmap";
    case MACHSYM_ERR_VERSION: return "; build the map again";
    case MACHSYM_ERR_CHECKSUM: return "; build the map again";
    default: return "";
    }
}

/* "App.dSYM: not a Mach-O file (Mach-O header, offset 0); name a Mach-O file, ...". When another slice should
 * have been asked for, the text lists those that the descriptor's file has. */
static void ms_txt_error(ms_txt *t, const machsym_error *err, const machsym_open_desc *desc)
{
    if (desc != NULL && desc->path != NULL) {
        ms_txt_put_c(t, desc->path);
        ms_txt_put_c(t, ": ");
    }
    ms_txt_put_c(t, err->what);
    if (err->where != NULL && err->where[0] != 0) {
        ms_txt_put_c(t, " (");
        ms_txt_put_c(t, err->where);
        ms_txt_put_c(t, ", offset ");
        ms_txt_put_number(t, err->offset);
        ms_txt_put_c(t, ")");
    }
    if (err->os_errno != 0) {
        const char *known = ms_os_error_text(err->os_errno);
        ms_txt_put_c(t, ": ");
        ms_txt_put_c(t, known != NULL ? known : "system error ");
        if (known == NULL)
            ms_txt_put_number(t, (uint64_t)err->os_errno);
    }
    ms_txt_put_c(t, ms_txt_advice(err->code));
    if (desc != NULL && ms_txt_is_choice(err->code))
        ms_txt_slices(t, desc);
}

#endif /* ms_ROOM_text */
