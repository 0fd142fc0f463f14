/* Selection of reports; see filter.h. */
#include "filter.h"
#include "../model/stack.h"
#include "blame.h"

#include <string.h>

static const char *const names[FILTER_COUNT] = {"process", "version", "kind", "image",
                                                "owner",   "since",   "until"};

/* ---- Conditions ---- */

bool only_add(filter *f, const char *value, text *why)
{
    condition one = {FILTER_COUNT, {NULL, 0}, 0};
    for (unsigned i = 0; i < FILTER_COUNT; i++) {
        size_t len = strlen(names[i]);
        if (strncmp(value, names[i], len) == 0 && value[len] == '=' && value[len + 1] != 0) {
            one.what = (filter_what)i;
            one.text = str_c(value + len + 1);
        }
    }
    if (one.what == FILTER_COUNT) {
        text_c(why,
               "wants WHAT=TEXT, where WHAT is process, version, kind, image, owner, since or until, not ");
        text_c(why, value);
        return false;
    }
    one.date = day_of(one.text);
    if (one.what >= FILTER_SINCE && (one.date == 0 || one.text.len != sizeof "2026-03-14" - 1)) {
        text_c(why, names[one.what]);
        text_c(why, " wants a day such as 2026-03-14, not ");
        text_str(why, one.text);
        return false;
    }
    if (f->count == FILTER_MAX) {
        text_c(why, "may be given at most ");
        text_dec(why, FILTER_MAX);
        text_c(why, " times");
        return false;
    }
    f->v[f->count++] = one;
    return true;
}

bool only_has(const filter *f, filter_what what)
{
    for (size_t i = 0; i < f->count; i++) {
        if (f->v[i].what == what)
            return true;
    }
    return false;
}

/* ---- Reports ---- */

static bool only_is_alike(machsym_str s, machsym_str pattern)
{
    bool is_begin = pattern.len > 0 && pattern.ptr[pattern.len - 1] == '*';
    size_t len = pattern.len - is_begin;
    if (is_begin ? s.len < len : s.len != len)
        return false;
    for (size_t i = 0; i < len; i++) {
        char a = s.ptr[i];
        char b = pattern.ptr[i];
        bool is_letter = (a | 32) >= 'a' && (a | 32) <= 'z';
        if (a != b && !(is_letter && (a | 32) == (b | 32)))
            return false;
    }
    return true;
}

static bool only_is_word(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

/* Whether a text, or a word of it, matches: "EXC_CRASH (SIGABRT)". */
static bool only_has_word(machsym_str s, machsym_str pattern)
{
    if (only_is_alike(s, pattern))
        return true;
    for (size_t at = 0; at < s.len;) {
        size_t end = at;
        while (end < s.len && only_is_word(s.ptr[end]))
            end++;
        if (end > at && only_is_alike(str_make(s.ptr + at, end - at), pattern))
            return true;
        at = end + 1;
    }
    return false;
}

static bool only_is_of_kind(const report *r, machsym_str pattern)
{
    static const report_fact facts[] = {FACT_EXCEPTION, FACT_SIGNAL, FACT_EVENT, FACT_BUG_TYPE,
                                        FACT_TERMINATION};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        if (only_has_word(r->facts[facts[i]], pattern))
            return true;
    }
    return only_is_alike(str_c(report_kind_name(r->kind)), pattern);
}

static bool only_has_image(const report *r, machsym_str pattern)
{
    const report_thread *thread = stack_main(r);
    for (uint32_t i = 0; thread != NULL && i < thread->count; i++) {
        if (only_is_alike(stack_image_name(r, stack_frame(r, thread, i)), pattern))
            return true;
    }
    return false;
}

/* Matches "App [123]", or the bundle identifier. */
static bool only_is_of_process(const report *r, machsym_str pattern)
{
    machsym_str process = r->facts[FACT_PROCESS];
    process.len = str_find(process, " [");
    return only_is_alike(process, pattern) || only_is_alike(r->facts[FACT_IDENTIFIER], pattern);
}

/* Matches "1.2 (34)", or its "1.2". */
static bool only_is_of_version(const report *r, machsym_str pattern)
{
    machsym_str version = r->facts[FACT_VERSION];
    machsym_str first = {version.ptr, str_find(version, " ")};
    return only_is_alike(version, pattern) || only_is_alike(first, pattern);
}

static bool only_holds(const condition *c, const report *r)
{
    blame who;
    text place = {0};
    day date = day_of(r->facts[FACT_DATE]);
    switch (c->what) {
    case FILTER_PROCESS: return only_is_of_process(r, c->text);
    case FILTER_VERSION: return only_is_of_version(r, c->text);
    case FILTER_KIND: return only_is_of_kind(r, c->text);
    case FILTER_IMAGE: return only_has_image(r, c->text);
    case FILTER_SINCE: return date != 0 && date >= c->date;
    case FILTER_UNTIL: return date != 0 && date <= c->date;
    default: break;
    }
    bool is_owned = blame_find(r, &who, &place);
    text_free(&place);
    return is_owned && only_is_alike(who.owner, c->text);
}

static bool only_fits_what(const filter *f, const report *r, filter_what what)
{
    bool is_asked = false;
    for (size_t i = 0; i < f->count; i++) {
        if (f->v[i].what != what)
            continue;
        is_asked = true;
        if (only_holds(&f->v[i], r))
            return true;
    }
    return !is_asked;
}

bool only_fits(const filter *f, const report *r)
{
    for (unsigned i = 0; i < FILTER_COUNT && f->count > 0; i++) {
        if (i != FILTER_OWNER && !only_fits_what(f, r, (filter_what)i))
            return false;
    }
    return true;
}

bool only_fits_owner(const filter *f, const report *r)
{
    return f->count == 0 || only_fits_what(f, r, FILTER_OWNER);
}
