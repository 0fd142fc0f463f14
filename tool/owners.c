/* Whose code it is; see owners.h. */
#include "owners.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef enum rule_kind { RULE_LINKMAP, RULE_OBJECTS, RULE_OBJECT, RULE_BETWEEN, RULE_PREFIX } rule_kind;

/* What the raw addresses of a rule count from. */
typedef enum base_kind { BASE_FILE, BASE_LOAD, BASE_SLIDE } base_kind;

/* A line of rules. */
typedef struct rule {
    rule_kind kind;
    char *what; /* file, text, or A */
    char *last; /* B */
    char *owner;
    char *image; /* NULL: any */
    base_kind base;
    uint64_t base_addr;
} rule;

struct owners {
    rule *v;
    size_t count;
    size_t cap;
    /* What the lines so far say about those that follow. */
    char *image;
    base_kind base;
    uint64_t base_addr;
};

/* Code that came from one object file. */
typedef struct piece {
    uint64_t lo;
    uint64_t hi;
    machsym_str path;  /* whole, for `object` */
    machsym_str owner; /* as it is shown */
} piece;

typedef struct pieces {
    piece *v;
    size_t count;
    size_t cap;
} pieces;

/* A rule in one image. */
typedef struct ready {
    const rule *rule;
    pieces pieces; /* of a map */
    uint64_t lo;   /* of `between` */
    uint64_t hi;
} ready;

struct owners_image {
    ready *v;
    size_t count;
    char **strings; /* that pieces point into */
    size_t string_count;
    size_t string_cap;
    text path; /* room for a source path */
};

/* ---- Text ---- */

static char *copy_text(const char *ptr, size_t len)
{
    char *copy = tool_alloc(len + 1);
    if (len > 0) /* memcpy must not see NULL */
        memcpy(copy, ptr, len);
    copy[len] = 0;
    return copy;
}

static machsym_str str_make(const char *ptr, size_t len)
{
    return (machsym_str){ptr, len};
}

static machsym_str str_trim(machsym_str s)
{
    while (s.len > 0 && (s.ptr[0] == ' ' || s.ptr[0] == '\t'))
        s = str_make(s.ptr + 1, s.len - 1);
    while (s.len > 0 && memchr(" \t\r\n", s.ptr[s.len - 1], 4) != NULL)
        s.len--;
    return s;
}

/* Where needle begins in s, or s.len. */
static size_t str_find(machsym_str s, machsym_str needle)
{
    for (size_t at = 0; needle.len > 0 && needle.len <= s.len && at <= s.len - needle.len; at++) {
        if (memcmp(s.ptr + at, needle.ptr, needle.len) == 0)
            return at;
    }
    return s.len;
}

static machsym_str str_c(const char *c_string)
{
    return str_make(c_string, strlen(c_string));
}

static bool str_begins(machsym_str s, machsym_str with)
{
    return s.len >= with.len && (with.len == 0 || memcmp(s.ptr, with.ptr, with.len) == 0);
}

static bool read_file(const char *path, text *out)
{
    FILE *file = fopen(path, "rb");
    char chunk[1 << 14];
    size_t got;
    if (file == NULL) {
        tool_say("%s: %s", path, strerror(errno));
        return false;
    }
    while ((got = fread(chunk, 1, sizeof chunk, file)) > 0)
        text_add(out, chunk, got);
    bool failed = ferror(file) != 0;
    if (failed)
        tool_say("%s: %s", path, strerror(errno));
    fclose(file);
    return !failed;
}

/* Takes a line off the front of rest. Returns false at the end. */
static bool next_line(machsym_str *rest, machsym_str *line)
{
    if (rest->len == 0)
        return false;
    const char *end = memchr(rest->ptr, '\n', rest->len);
    size_t len = end != NULL ? (size_t)(end - rest->ptr) : rest->len;
    size_t skip = len < rest->len ? len + 1 : len;
    *line = str_make(rest->ptr, len);
    *rest = str_make(rest->ptr + skip, rest->len - skip);
    return true;
}

/* ---- Rules ---- */

owners *owners_new(void)
{
    owners *all = tool_alloc(sizeof *all);
    memset(all, 0, sizeof *all);
    return all;
}

void owners_free(owners *all)
{
    if (all == NULL)
        return;
    for (size_t i = 0; i < all->count; i++) {
        free(all->v[i].what);
        free(all->v[i].last);
        free(all->v[i].owner);
        free(all->v[i].image);
    }
    free(all->v);
    free(all->image);
    free(all);
}

static rule *add_rule(owners *all, rule_kind kind, machsym_str what)
{
    if (all->count == all->cap) {
        all->cap = all->cap == 0 ? 16 : all->cap * 2;
        all->v = tool_grow(all->v, all->cap * sizeof *all->v);
    }
    rule *r = &all->v[all->count++];
    memset(r, 0, sizeof *r);
    r->kind = kind;
    r->what = copy_text(what.ptr, what.len);
    r->image = all->image != NULL ? copy_text(all->image, strlen(all->image)) : NULL;
    r->base = all->base;
    r->base_addr = all->base_addr;
    return r;
}

/* Splits "WHAT = OWNER". Returns false when a side is missing. */
static bool split_owner(machsym_str rest, machsym_str *what, machsym_str *owner)
{
    size_t at = str_find(rest, str_c(" = "));
    if (at == rest.len)
        return false;
    *what = str_trim(str_make(rest.ptr, at));
    *owner = str_trim(str_make(rest.ptr + at + 3, rest.len - at - 3));
    return what->len != 0 && owner->len != 0;
}

static bool add_owned(owners *all, rule_kind kind, machsym_str rest)
{
    machsym_str what;
    machsym_str owner;
    if (!split_owner(rest, &what, &owner))
        return false;
    if (kind != RULE_BETWEEN) {
        rule *r = add_rule(all, kind, what);
        r->owner = copy_text(owner.ptr, owner.len);
        return true;
    }
    size_t at = str_find(what, str_c(" .. "));
    if (at == what.len)
        return false;
    rule *r = add_rule(all, kind, str_trim(str_make(what.ptr, at)));
    machsym_str last = str_trim(str_make(what.ptr + at + 4, what.len - at - 4));
    r->last = copy_text(last.ptr, last.len);
    r->owner = copy_text(owner.ptr, owner.len);
    return true;
}

static bool set_base(owners *all, base_kind kind, machsym_str written)
{
    all->base = kind;
    return parse_hex(written.ptr, written.len, &all->base_addr);
}

static void set_image(owners *all, machsym_str name)
{
    free(all->image);
    all->image = name.len == 1 && name.ptr[0] == '*' ? NULL : copy_text(name.ptr, name.len);
}

/* Adds the file of a link map, seen from the folder that the rules lie in. */
static void add_linkmap(owners *all, machsym_str folder, machsym_str path)
{
    rule *r = add_rule(all, RULE_LINKMAP, path);
    if (path.ptr[0] == '/' || folder.len == 0)
        return;
    text whole = {0};
    text_str(&whole, folder);
    text_str(&whole, path);
    free(r->what);
    r->what = copy_text(whole.v, whole.len);
    text_free(&whole);
}

/* Adds a line. Returns false when it is none. */
static bool add_line(owners *all, machsym_str folder, machsym_str line)
{
    line = str_trim(line);
    size_t len = 0;
    if (line.len == 0 || line.ptr[0] == '#')
        return true;
    while (len < line.len && line.ptr[len] != ' ' && line.ptr[len] != '\t')
        len++;
    machsym_str word = str_make(line.ptr, len);
    machsym_str rest = str_trim(str_make(line.ptr + len, line.len - len));
    if (word.len == 7 && str_begins(word, str_c("objects")) && rest.len == 0)
        return add_rule(all, RULE_OBJECTS, rest) != NULL;
    if (rest.len == 0)
        return false;
    if (word.len == 7 && str_begins(word, str_c("linkmap")))
        add_linkmap(all, folder, rest);
    else if (word.len == 6 && str_begins(word, str_c("object")))
        return add_owned(all, RULE_OBJECT, rest);
    else if (word.len == 7 && str_begins(word, str_c("between")))
        return add_owned(all, RULE_BETWEEN, rest);
    else if (word.len == 6 && str_begins(word, str_c("prefix")))
        return add_owned(all, RULE_PREFIX, rest);
    else if (word.len == 2 && str_begins(word, str_c("at")))
        return set_base(all, BASE_LOAD, rest);
    else if (word.len == 5 && str_begins(word, str_c("slide")))
        return set_base(all, BASE_SLIDE, rest);
    else if (word.len == 5 && str_begins(word, str_c("image")))
        set_image(all, rest);
    else
        return false;
    return true;
}

bool owners_add(owners *all, const char *line)
{
    if (add_line(all, str_make(NULL, 0), str_c(line)))
        return true;
    tool_say("no rule: %s", line);
    return false;
}

bool owners_read(owners *all, const char *path)
{
    text file = {0};
    bool ok = read_file(path, &file);
    machsym_str rest = str_make(file.v, file.len);
    machsym_str line;
    machsym_str folder = str_c(path);
    while (folder.len > 0 && folder.ptr[folder.len - 1] != '/')
        folder.len--;
    for (size_t number = 1; ok && next_line(&rest, &line); number++) {
        ok = add_line(all, folder, line);
        if (!ok)
            tool_say("%s:%zu: no rule: %.*s; `machsym owners --help` has them", path, number, (int)line.len,
                     line.ptr);
    }
    text_free(&file);
    return ok;
}

/* ---- Maps ---- */

/* Keeps a string until the image is closed. */
static machsym_str keep(owners_image *image, const char *ptr, size_t len)
{
    if (image->string_count == image->string_cap) {
        image->string_cap = image->string_cap == 0 ? 64 : image->string_cap * 2;
        image->strings = tool_grow(image->strings, image->string_cap * sizeof *image->strings);
    }
    char *copy = copy_text(ptr, len);
    image->strings[image->string_count++] = copy;
    return str_make(copy, len);
}

/* What to show for an object file: libsdk.a(member.o), or its base name. */
static machsym_str show_object(owners_image *image, machsym_str path, machsym_str member)
{
    text shown = {0};
    text_base_name(&shown, path);
    if (member.len != 0) {
        text_char(&shown, '(');
        text_str(&shown, member);
        text_char(&shown, ')');
    }
    machsym_str kept = keep(image, shown.v, shown.len);
    text_free(&shown);
    return kept;
}

static void add_piece(pieces *to, uint64_t lo, uint64_t hi, machsym_str path, machsym_str owner)
{
    if (lo >= hi)
        return;
    if (to->count == to->cap) {
        to->cap = to->cap == 0 ? 256 : to->cap * 2;
        to->v = tool_grow(to->v, to->cap * sizeof *to->v);
    }
    to->v[to->count++] = (piece){lo, hi, path, owner};
}

static int by_address(const void *a, const void *b)
{
    const piece *x = a;
    const piece *y = b;
    if (x->lo != y->lo)
        return x->lo < y->lo ? -1 : 1;
    return x->hi < y->hi ? -1 : x->hi > y->hi;
}

static const piece *find_piece(const pieces *in, uint64_t addr)
{
    size_t lo = 0;
    size_t left = in->count;
    while (left > 0) {
        size_t half = left / 2;
        if (in->v[lo + half].lo <= addr) {
            lo += half + 1;
            left -= half + 1;
        } else {
            left = half;
        }
    }
    return lo > 0 && addr < in->v[lo - 1].hi ? &in->v[lo - 1] : NULL;
}

/* The path of an object file as the linker writes it: archive(member). */
static machsym_str keep_whole(owners_image *image, const machsym_object *object)
{
    text whole = {0};
    text_str(&whole, object->path);
    text_c(&whole, object->member.len != 0 ? "(" : "");
    text_str(&whole, object->member);
    text_c(&whole, object->member.len != 0 ? ")" : "");
    machsym_str kept = keep(image, whole.v, whole.len);
    text_free(&whole);
    return kept;
}

/* The debug map in the file. */
static void read_objects(owners_image *image, machsym_session *session, pieces *to)
{
    machsym_cursor at = {0, 0};
    machsym_object object;
    machsym_object last = {0};
    machsym_str shown = {0};
    machsym_str path = {0};
    while (machsym_session_next_object(session, &at, &object)) {
        if (object.path.ptr != last.path.ptr ||
            shown.len == 0) { /* a view: each object file has its own string */
            shown = show_object(image, object.path, object.member);
            path = keep_whole(image, &object);
        }
        last = object;
        add_piece(to, object.lo, object.hi, path, shown);
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
} map_objects;

/* Splits libsdk.a(member.o). Apple's newer linker numbers members: libsdk.a[3](member.o). */
static machsym_str split_member(machsym_str *path)
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
static bool map_index(machsym_str line, size_t *index, machsym_str *rest)
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

static void read_map_object(owners_image *image, machsym_str line, map_objects *objects)
{
    size_t index;
    machsym_str path;
    if (!map_index(line, &index, &path) || index > objects->count + 1000000)
        return;
    while (objects->count <= index) {
        objects->v = tool_grow(objects->v, (objects->count + 1) * sizeof *objects->v);
        memset(&objects->v[objects->count++], 0, sizeof *objects->v);
    }
    objects->v[index].path = keep(image, path.ptr, path.len);
    machsym_str member = split_member(&path);
    objects->v[index].shown = show_object(image, path, member);
}

/* Reads "0xADDRESS<tab>0xSIZE<tab>[ 12] name". */
static void read_map_symbol(machsym_str line, const map_objects *objects, pieces *to)
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
    if (map_index(line, &index, &name) && index < objects->count)
        add_piece(to, numbers[0], numbers[0] + numbers[1], objects->v[index].path, objects->v[index].shown);
}

/* A link map of ld64 or lld: object files with numbers, then symbols with the number of theirs. */
static bool read_linkmap(owners_image *image, const char *path, pieces *to)
{
    text file = {0};
    map_objects objects = {0};
    machsym_str line;
    enum { OTHER, OBJECTS, SYMBOLS } part = OTHER;
    if (!read_file(path, &file)) {
        text_free(&file);
        return false;
    }
    machsym_str rest = str_make(file.v, file.len);
    while (next_line(&rest, &line)) {
        if (str_begins(line, str_c("# Object files:")))
            part = OBJECTS;
        else if (str_begins(line, str_c("# Symbols:")))
            part = SYMBOLS;
        else if (str_begins(line, str_c("# Sections:")) || str_begins(line, str_c("# Dead Stripped")))
            part = OTHER;
        else if (part == OBJECTS)
            read_map_object(image, line, &objects);
        else if (part == SYMBOLS)
            read_map_symbol(line, &objects, to);
    }
    if (to->count == 0)
        tool_say("%s: no symbols in it; is it a link map (-map of ld64 or lld)?", path);
    free(objects.v);
    text_free(&file);
    return to->count > 0;
}

/* ---- An image ---- */

static bool same_name(machsym_str name, const char *wanted)
{
    size_t len = strlen(wanted);
    if (name.len == 0)
        return false;
    if (wanted[0] == '_' && name.len == len - 1 && memcmp(name.ptr, wanted + 1, len - 1) == 0)
        return true; /* as the linker writes C names */
    return name.len == len && memcmp(name.ptr, wanted, len) == 0;
}

/* The function with a name. Returns false when there is none. */
static bool find_named(machsym_session *session, const char *wanted, uint64_t *lo, uint64_t *hi)
{
    machsym_cursor at = {0, 0};
    machsym_symbol symbol;
    machsym_function f;
    while (machsym_session_next_name(session, &at, &symbol)) {
        if (same_name(symbol.name, wanted)) {
            *lo = symbol.lo;
            *hi = symbol.hi;
            return true;
        }
    }
    memset(&at, 0, sizeof at);
    while (machsym_session_next_function(session, &at, &f)) {
        if (same_name(f.linkage_name, wanted) || same_name(f.name, wanted)) {
            *lo = f.lo;
            *hi = f.hi;
            return true;
        }
    }
    return false;
}

/* One end of `between`: a number is an address, else it is a name. Returns false after a message. */
static bool find_end(const rule *r, const char *written, const machsym_image *image, machsym_session *session,
                     uint64_t *lo, uint64_t *hi)
{
    machsym_image_info info;
    machsym_frame frames[1];
    bool is_number = written[0] == '0' && (written[1] == 'x' || written[1] == 'X');
    if (!is_number || !parse_hex(written, strlen(written), lo)) {
        bool found = find_named(session, written, lo, hi);
        if (!found)
            tool_say("between: no function is named %s", written);
        return found;
    }
    machsym_image_get_info(image, &info);
    if (r->base == BASE_LOAD)
        *lo = machsym_image_addr(image, r->base_addr, *lo);
    else if (r->base == BASE_SLIDE)
        *lo = machsym_image_addr(image, info.text_addr + r->base_addr, *lo);
    *hi = *lo + 1;
    if (machsym_session_frames(session, *lo, frames, 1) == 1 && frames[0].function_size != 0)
        *hi = frames[0].function_start + frames[0].function_size;
    return true;
}

static bool make_between(ready *to, const machsym_image *image, machsym_session *session)
{
    uint64_t lo[2];
    uint64_t hi[2];
    if (!find_end(to->rule, to->rule->what, image, session, &lo[0], &hi[0]) ||
        !find_end(to->rule, to->rule->last, image, session, &lo[1], &hi[1]))
        return false;
    to->lo = lo[0] < lo[1] ? lo[0] : lo[1];
    to->hi = hi[0] > hi[1] ? hi[0] : hi[1];
    return true;
}

static bool make_ready(owners_image *made, ready *to, const machsym_image *image, machsym_session *session)
{
    switch (to->rule->kind) {
    case RULE_LINKMAP:
        if (!read_linkmap(made, to->rule->what, &to->pieces))
            return false;
        break;
    case RULE_OBJECTS: read_objects(made, session, &to->pieces); break;
    case RULE_BETWEEN: return make_between(to, image, session);
    case RULE_OBJECT:
    case RULE_PREFIX: return true;
    }
    if (to->pieces.count > 0)
        qsort(to->pieces.v, to->pieces.count, sizeof *to->pieces.v, by_address);
    return true;
}

owners_image *owners_open(const owners *all, const machsym_image *image, machsym_session *session)
{
    owners_image *made = tool_alloc(sizeof *made);
    machsym_image_info info;
    bool ok = true;
    memset(made, 0, sizeof *made);
    machsym_image_get_info(image, &info);
    made->v = tool_alloc(all->count * sizeof *made->v);
    for (size_t i = 0; ok && i < all->count; i++) {
        const rule *r = &all->v[i];
        if (r->image != NULL && !same_name(info.name, r->image))
            continue;
        ready *to = &made->v[made->count++];
        memset(to, 0, sizeof *to);
        to->rule = r;
        ok = make_ready(made, to, image, session);
    }
    if (ok)
        return made;
    owners_close(made);
    return NULL;
}

void owners_close(owners_image *image)
{
    if (image == NULL)
        return;
    for (size_t i = 0; i < image->count; i++)
        free(image->v[i].pieces.v);
    for (size_t i = 0; i < image->string_count; i++)
        free(image->strings[i]);
    free(image->strings);
    free(image->v);
    text_free(&image->path);
    free(image);
}

/* ---- Answers ---- */

/* The class in the name of a method, or of a block: "-[Class sel]", "__12-[Class(Category)
 * sel]_block_invoke". */
static machsym_str class_of(machsym_str name)
{
    size_t at = 0;
    while (at + 1 < name.len && !((name.ptr[at] == '-' || name.ptr[at] == '+') && name.ptr[at + 1] == '['))
        at++;
    if (at + 2 > name.len)
        return str_make(NULL, 0);
    machsym_str rest = str_make(name.ptr + at + 2, name.len - at - 2);
    size_t len = 0;
    while (len < rest.len && rest.ptr[len] != ' ' && rest.ptr[len] != '(')
        len++;
    return str_make(rest.ptr, len);
}

static bool has_prefix(owners_image *image, const char *prefix, const machsym_frame *frame)
{
    machsym_str wanted = str_c(prefix);
    if (strchr(prefix, '/') == NULL) {
        machsym_str own = class_of(frame->linkage_name);
        machsym_str source = class_of(frame->name);
        return str_begins(own, wanted) || str_begins(source, wanted);
    }
    image->path.len = 0;
    text_path(&image->path, &frame->file);
    machsym_str path = str_make(image->path.v, image->path.len);
    if (str_begins(path, wanted))
        return true;
    for (size_t at = 0; at < path.len && prefix[0] != '/'; at++) {
        if (path.ptr[at] == '/' && str_begins(str_make(path.ptr + at + 1, path.len - at - 1), wanted))
            return true;
    }
    return false;
}

/* Whether an object file that has TEXT in its path holds an address. */
static bool in_object(const owners_image *image, const char *wanted, uint64_t addr)
{
    for (size_t i = 0; i < image->count; i++) {
        const piece *p = find_piece(&image->v[i].pieces, addr);
        if (p != NULL && str_find(p->path, str_c(wanted)) < p->path.len)
            return true;
    }
    return false;
}

static bool fits(owners_image *image, const ready *r, uint64_t addr, const machsym_frame *frame,
                 machsym_str *owner)
{
    const piece *p;
    if (r->rule->owner != NULL)
        *owner = str_c(r->rule->owner);
    switch (r->rule->kind) {
    case RULE_LINKMAP:
    case RULE_OBJECTS:
        p = find_piece(&r->pieces, addr);
        if (p != NULL)
            *owner = p->owner;
        return p != NULL;
    case RULE_OBJECT: return in_object(image, r->rule->what, addr);
    case RULE_BETWEEN: return addr >= r->lo && addr < r->hi;
    case RULE_PREFIX: return frame != NULL && has_prefix(image, r->rule->what, frame);
    }
    return false;
}

machsym_str owners_find(owners_image *image, uint64_t addr, const machsym_frame *frame)
{
    machsym_str owner = {0};
    for (size_t i = 0; i < image->count; i++) {
        if (fits(image, &image->v[i], addr, frame, &owner))
            return owner;
    }
    return str_make(NULL, 0);
}
