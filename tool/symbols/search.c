/* See search.h. */
#include "search.h"
#include "../../report/base/memory.h"
#include "../../report/base/names.h"
#include "../../report/base/text.h"

#include <stdlib.h>

/* Names between two looks at the clock. */
enum { SEARCH_STEP = 256 };

/* One search. */
typedef struct search {
    machsym_str wanted;
    resolve_budget *left;
    search_result *out;
    text name; /* in source form */
    size_t seen;
} search;

static char search_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool search_begins(const char *at, machsym_str wanted)
{
    size_t i = 0;
    while (i < wanted.len && search_lower(at[i]) == search_lower(wanted.ptr[i]))
        i++;
    return i == wanted.len;
}

static bool search_holds(machsym_str name, machsym_str wanted)
{
    for (size_t i = 0; i + wanted.len <= name.len; i++) {
        if (search_begins(name.ptr + i, wanted))
            return true;
    }
    return false;
}

/* Looks at one name. Returns false when the budget is spent. */
static bool search_look(search *s, uint64_t addr, machsym_str linkage_name)
{
    bool fits = search_holds(linkage_name, s->wanted);
    if (!fits) {
        s->name.len = 0;
        text_name(&s->name, linkage_name, MACHSYM_DEMANGLE_SIMPLIFIED);
        fits = search_holds(str_make(s->name.v, s->name.len), s->wanted);
    }
    if (fits) {
        s->out->v = mem_room(s->out->v, s->out->count, &s->out->cap, sizeof *s->out->v);
        s->out->v[s->out->count++] = addr;
    }
    return ++s->seen % SEARCH_STEP != 0 || resolve_budget_in_time(s->left);
}

static void search_session(search *s, machsym_session *session)
{
    machsym_cursor at = {0, 0};
    machsym_function f;
    machsym_symbol symbol;
    bool more = true;
    while (more && machsym_session_next_function(session, &at, &f))
        more = search_look(s, f.lo, f.linkage_name.len != 0 ? f.linkage_name : f.name);
    at = (machsym_cursor){0, 0};
    while (more && machsym_session_next_symbol(session, &at, &symbol))
        more = symbol.name.len == 0 || search_look(s, symbol.lo, symbol.name);
}

/* A map has ranges: a function begins where the range does whose real function begins there. */
static void search_map(search *s, symbol_source *source, const machsym_map *map)
{
    machsym_cursor at = {0, 0};
    machsym_map_range range;
    machsym_frame frames[MACHSYM_MAX_INLINE_DEPTH + 1];
    bool more = true;
    while (more && machsym_map_next(map, &at, &range)) {
        size_t count = symbol_source_frames(source, range.lo, frames, MACHSYM_MAX_INLINE_DEPTH + 1);
        const machsym_frame *real = &frames[count - (count > 0)];
        if (count > 0 && real->function_start == range.lo)
            more = search_look(s, range.lo, real->linkage_name.len != 0 ? real->linkage_name : real->name);
    }
}

static int search_by_address(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

void search_names(symbol_source *source, machsym_str wanted, resolve_budget *left, search_result *out)
{
    search s = {wanted, left, out, {0}, 0};
    size_t kept = 0;
    *out = (search_result){NULL, 0, 0};
    if (symbol_source_map(source) != NULL)
        search_map(&s, source, symbol_source_map(source));
    else if (symbol_source_session(source) != NULL)
        search_session(&s, symbol_source_session(source));
    if (out->count > 0)
        qsort(out->v, out->count, sizeof *out->v, search_by_address);
    for (size_t i = 0; i < out->count; i++) {
        if (kept == 0 || out->v[kept - 1] != out->v[i])
            out->v[kept++] = out->v[i];
    }
    out->count = kept;
    text_free(&s.name);
}
