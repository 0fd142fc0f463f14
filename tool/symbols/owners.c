/* Whose code it is; see owners.h. */
#include "owners.h"
#include "../../report/base/digits.h"
#include "../../report/base/memory.h"
#include "../../report/base/text.h"
#include "../base/readfile.h"
#include "../base/say.h"
#include "pieces.h"

#include <stdlib.h>
#include <string.h>

typedef enum rule_kind {
    RULE_LINKMAP,
    RULE_OBJECTS,
    RULE_OBJECT,
    RULE_BETWEEN,
    RULE_PREFIX,
    RULE_ALL
} rule_kind;

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
    bool failed; /* a file of rules could not be read */
    /* What the lines so far say about those that follow. */
    char *image;
    base_kind base;
    uint64_t base_addr;
};

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
    text path; /* room for a source path */
};

static char *owners_copy_text(const char *ptr, size_t len)
{
    char *copy = mem_alloc(len + 1);
    if (len > 0) /* memcpy must not see NULL */
        memcpy(copy, ptr, len);
    copy[len] = 0;
    return copy;
}

/* ---- Rules ---- */

owners *owners_new(void)
{
    owners *all = mem_alloc(sizeof *all);
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

static rule *owners_add_rule(owners *all, rule_kind kind, machsym_str what)
{
    all->v = mem_room(all->v, all->count, &all->cap, sizeof *all->v);
    rule *r = &all->v[all->count++];
    memset(r, 0, sizeof *r);
    r->kind = kind;
    r->what = owners_copy_text(what.ptr, what.len);
    r->image = all->image != NULL ? owners_copy_text(all->image, strlen(all->image)) : NULL;
    r->base = all->base;
    r->base_addr = all->base_addr;
    return r;
}

/* Splits "WHAT = OWNER". Returns false when a side is missing. */
static bool owners_split(machsym_str rest, machsym_str *what, machsym_str *owner)
{
    size_t at = str_find(rest, " = ");
    if (at == rest.len)
        return false;
    *what = str_trim(str_make(rest.ptr, at));
    *owner = str_trim(str_make(rest.ptr + at + 3, rest.len - at - 3));
    return what->len != 0 && owner->len != 0;
}

static bool owners_add_owned(owners *all, rule_kind kind, machsym_str rest)
{
    machsym_str what;
    machsym_str owner;
    if (!owners_split(rest, &what, &owner))
        return false;
    if (kind != RULE_BETWEEN) {
        rule *r = owners_add_rule(all, kind, what);
        r->owner = owners_copy_text(owner.ptr, owner.len);
        return true;
    }
    size_t at = str_find(what, " .. ");
    if (at == what.len)
        return false;
    rule *r = owners_add_rule(all, kind, str_trim(str_make(what.ptr, at)));
    machsym_str last = str_trim(str_make(what.ptr + at + 4, what.len - at - 4));
    r->last = owners_copy_text(last.ptr, last.len);
    r->owner = owners_copy_text(owner.ptr, owner.len);
    return true;
}

static bool owners_set_base(owners *all, base_kind kind, machsym_str written)
{
    all->base = kind;
    return parse_hex(written.ptr, written.len, &all->base_addr);
}

static void owners_set_image(owners *all, machsym_str name)
{
    free(all->image);
    all->image = name.len == 1 && name.ptr[0] == '*' ? NULL : owners_copy_text(name.ptr, name.len);
}

/* Adds the file of a link map, seen from the folder that the rules lie in. */
static void owners_add_linkmap(owners *all, machsym_str folder, machsym_str path)
{
    rule *r = owners_add_rule(all, RULE_LINKMAP, path);
    if (path.ptr[0] == '/' || folder.len == 0)
        return;
    text whole = {0};
    text_str(&whole, folder);
    text_str(&whole, path);
    free(r->what);
    r->what = owners_copy_text(whole.v, whole.len);
    text_free(&whole);
}

/* "= OWNER" */
static bool owners_add_all(owners *all, machsym_str rest)
{
    if (!str_starts(rest, "= "))
        return false;
    machsym_str owner = str_trim(str_make(rest.ptr + 2, rest.len - 2));
    rule *r = owners_add_rule(all, RULE_ALL, str_make(NULL, 0));
    r->owner = owners_copy_text(owner.ptr, owner.len);
    return true;
}

/* Adds a line. Returns false when it is not a rule. */
static bool owners_add_line(owners *all, machsym_str folder, machsym_str line)
{
    line = str_trim(line);
    size_t len = 0;
    if (line.len == 0 || line.ptr[0] == '#')
        return true;
    while (len < line.len && line.ptr[len] != ' ' && line.ptr[len] != '\t')
        len++;
    machsym_str word = str_make(line.ptr, len);
    machsym_str rest = str_trim(str_make(line.ptr + len, line.len - len));
    if (str_is(word, "objects") && rest.len == 0)
        return owners_add_rule(all, RULE_OBJECTS, rest) != NULL;
    if (rest.len == 0)
        return false;
    if (str_is(word, "linkmap"))
        owners_add_linkmap(all, folder, rest);
    else if (str_is(word, "object"))
        return owners_add_owned(all, RULE_OBJECT, rest);
    else if (str_is(word, "between"))
        return owners_add_owned(all, RULE_BETWEEN, rest);
    else if (str_is(word, "prefix"))
        return owners_add_owned(all, RULE_PREFIX, rest);
    else if (str_is(word, "all"))
        return owners_add_all(all, rest);
    else if (str_is(word, "at"))
        return owners_set_base(all, BASE_LOAD, rest);
    else if (str_is(word, "slide"))
        return owners_set_base(all, BASE_SLIDE, rest);
    else if (str_is(word, "image"))
        owners_set_image(all, rest);
    else
        return false;
    return true;
}

bool owners_add(owners *all, const char *line)
{
    if (owners_add_line(all, str_make(NULL, 0), str_c(line)))
        return true;
    say_message("no rule: %s", line);
    return false;
}

bool owners_read(owners *all, const char *path)
{
    text file = {0};
    const char *why = file_read_words(&file, path);
    bool ok = why == NULL;
    if (!ok)
        say_message("%s: %s", path, why);
    machsym_str rest = str_make(file.v, file.len);
    machsym_str line;
    machsym_str folder = str_c(path);
    while (folder.len > 0 && folder.ptr[folder.len - 1] != '/')
        folder.len--;
    for (size_t number = 1; ok && str_take_line(&rest, &line); number++) {
        ok = owners_add_line(all, folder, line);
        if (!ok)
            say_message("%s:%zu: no rule: %.*s; `machsym owners --help` has them", path, number,
                        (int)line.len, line.ptr);
    }
    text_free(&file);
    return ok;
}

bool owners_take_rules(void *field, const char *path)
{
    owners **all = field;
    if (*all == NULL)
        *all = owners_new();
    (*all)->failed |= !owners_read(*all, path);
    return true;
}

bool owners_are_read(const owners *all)
{
    return all == NULL || !all->failed;
}

/* ---- An image ---- */

static bool owners_same_name(machsym_str name, const char *wanted)
{
    size_t len = strlen(wanted);
    if (name.len == 0)
        return false;
    if (wanted[0] == '_' && name.len == len - 1 && memcmp(name.ptr, wanted + 1, len - 1) == 0)
        return true; /* as the linker writes C names */
    return name.len == len && memcmp(name.ptr, wanted, len) == 0;
}

/* The function with a name. Returns false when there is none. */
static bool owners_find_named(machsym_session *session, const char *wanted, uint64_t *lo, uint64_t *hi)
{
    machsym_cursor at = {0, 0};
    machsym_symbol symbol;
    machsym_function f;
    while (machsym_session_next_name(session, &at, &symbol)) {
        if (owners_same_name(symbol.name, wanted)) {
            *lo = symbol.lo;
            *hi = symbol.hi;
            return true;
        }
    }
    memset(&at, 0, sizeof at);
    while (machsym_session_next_function(session, &at, &f)) {
        if (owners_same_name(f.linkage_name, wanted) || owners_same_name(f.name, wanted)) {
            *lo = f.lo;
            *hi = f.hi;
            return true;
        }
    }
    return false;
}

/* One end of `between`: a number is an address, else it is a name. Returns false after a message. */
static bool owners_find_end(const rule *r, const char *written, const machsym_image *image,
                            machsym_session *session, uint64_t *lo, uint64_t *hi)
{
    machsym_image_info info;
    machsym_frame frames[1];
    bool is_number = written[0] == '0' && (written[1] == 'x' || written[1] == 'X');
    if (!is_number || !parse_hex(written, strlen(written), lo)) {
        bool found = owners_find_named(session, written, lo, hi);
        if (!found)
            say_message("between: no function is named %s", written);
        return found;
    }
    machsym_image_get_info(image, &info);
    if (r->base == BASE_LOAD)
        *lo = machsym_image_addr_of_pc(image, r->base_addr, *lo);
    else if (r->base == BASE_SLIDE)
        *lo = machsym_image_addr_of_pc(image, info.text_addr + r->base_addr, *lo);
    *hi = *lo + 1;
    if (machsym_session_frames_at_addr(session, *lo, frames, 1) == 1 && frames[0].function_size != 0)
        *hi = frames[0].function_start + frames[0].function_size;
    return true;
}

static bool owners_make_between(ready *to, const machsym_image *image, machsym_session *session)
{
    uint64_t lo[2];
    uint64_t hi[2];
    if (!owners_find_end(to->rule, to->rule->what, image, session, &lo[0], &hi[0]) ||
        !owners_find_end(to->rule, to->rule->last, image, session, &lo[1], &hi[1]))
        return false;
    to->lo = lo[0] < lo[1] ? lo[0] : lo[1];
    to->hi = hi[0] > hi[1] ? hi[0] : hi[1];
    return true;
}

static bool owners_make_ready(ready *to, const machsym_image *image, machsym_session *session)
{
    switch (to->rule->kind) {
    case RULE_LINKMAP:
        if (!pieces_read_linkmap(&to->pieces, to->rule->what))
            return false;
        break;
    case RULE_OBJECTS: pieces_read_objects(&to->pieces, session); break;
    case RULE_BETWEEN: return owners_make_between(to, image, session);
    case RULE_OBJECT:
    case RULE_PREFIX:
    case RULE_ALL: return true;
    }
    pieces_finish(&to->pieces);
    return true;
}

owners_image *owners_open(const owners *all, const machsym_image *image, machsym_session *session)
{
    owners_image *made = mem_alloc(sizeof *made);
    machsym_image_info info;
    bool ok = true;
    memset(made, 0, sizeof *made);
    machsym_image_get_info(image, &info);
    made->v = mem_alloc(all->count * sizeof *made->v);
    for (size_t i = 0; ok && i < all->count; i++) {
        const rule *r = &all->v[i];
        if (r->image != NULL && !owners_same_name(info.name, r->image))
            continue;
        ready *to = &made->v[made->count++];
        memset(to, 0, sizeof *to);
        to->rule = r;
        ok = owners_make_ready(to, image, session);
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
        pieces_free(&image->v[i].pieces);
    free(image->v);
    text_free(&image->path);
    free(image);
}

/* ---- Answers ---- */

/* The class in the name of a method, or of a block: "-[Class sel]", "__12-[Class(Category)
 * sel]_block_invoke". */
static machsym_str owners_class_of(machsym_str name)
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

/* Whether a method is of a class whose name begins so, or a function's name does. */
static bool owners_name_has_prefix(machsym_str name, const char *prefix)
{
    machsym_str class_name = owners_class_of(name);
    if (class_name.len > 0 || str_starts(name, prefix))
        return str_starts(class_name.len > 0 ? class_name : name, prefix);
    return name.len > 1 && name.ptr[0] == '_' && str_starts(str_make(name.ptr + 1, name.len - 1), prefix);
}

static bool owners_path_has_prefix(machsym_str path, const char *prefix)
{
    if (str_starts(path, prefix))
        return true;
    for (size_t at = 0; at < path.len && prefix[0] != '/'; at++) {
        if (path.ptr[at] == '/' && str_starts(str_make(path.ptr + at + 1, path.len - at - 1), prefix))
            return true;
    }
    return false;
}

static bool owners_has_prefix(owners_image *image, const char *prefix, const machsym_frame *frame)
{
    if (strchr(prefix, '/') == NULL)
        return owners_name_has_prefix(frame->linkage_name, prefix) ||
               owners_name_has_prefix(frame->name, prefix);
    image->path.len = 0;
    text_path(&image->path, &frame->file);
    return owners_path_has_prefix(str_make(image->path.v, image->path.len), prefix);
}

/* Whether an object file that has TEXT in its path holds an address. */
static bool owners_in_object(const owners_image *image, const char *wanted, uint64_t addr)
{
    for (size_t i = 0; i < image->count; i++) {
        const piece *p = pieces_find(&image->v[i].pieces, addr);
        if (p != NULL && str_find(p->path, wanted) < p->path.len)
            return true;
    }
    return false;
}

static bool owners_fits(owners_image *image, const ready *r, uint64_t addr, const machsym_frame *frame,
                        machsym_str *owner)
{
    const piece *p;
    if (r->rule->owner != NULL)
        *owner = str_c(r->rule->owner);
    switch (r->rule->kind) {
    case RULE_LINKMAP:
    case RULE_OBJECTS:
        p = pieces_find(&r->pieces, addr);
        if (p != NULL)
            *owner = p->owner;
        return p != NULL;
    case RULE_OBJECT: return owners_in_object(image, r->rule->what, addr);
    case RULE_BETWEEN: return addr >= r->lo && addr < r->hi;
    case RULE_PREFIX: return frame != NULL && owners_has_prefix(image, r->rule->what, frame);
    case RULE_ALL: return true;
    }
    return false;
}

machsym_str owners_find(owners_image *image, uint64_t addr, const machsym_frame *frame)
{
    machsym_str owner = {0};
    for (size_t i = 0; i < image->count; i++) {
        if (owners_fits(image, &image->v[i], addr, frame, &owner))
            return owner;
    }
    return str_make(NULL, 0);
}

/* By what a report tells, for code whose file is not there: `prefix` and `all` can tell. */
static machsym_str owners_of_name(const void *rules, machsym_str image, machsym_str name, machsym_str path)
{
    const owners *all = rules;
    for (size_t i = 0; i < all->count; i++) {
        const rule *r = &all->v[i];
        if (r->image != NULL && !owners_same_name(image, r->image))
            continue;
        bool is_path = r->kind == RULE_PREFIX && strchr(r->what, '/') != NULL;
        if (r->kind == RULE_ALL || (is_path && owners_path_has_prefix(path, r->what)) ||
            (r->kind == RULE_PREFIX && !is_path && owners_name_has_prefix(name, r->what)))
            return str_c(r->owner);
    }
    return str_make(NULL, 0);
}

report_rules owners_rules(const owners *all)
{
    return (report_rules){all, all != NULL ? owners_of_name : NULL};
}
