/* ==== >> cmd/symbols ====
 * Job: the command that lists the names of a file by address.
 * Offers: the command.
 * Never: demangles.
 *
 * machsym symbols: every name of a file by address. */
#include "machsym.h"
#include "../../report/base/json_put.h"
#include "../../report/base/memory.h"
#include "../../report/base/names.h"
#include "../../report/base/text.h"
#include "../base/options.h"
#include "../base/out.h"
#include "../base/say.h"
#include "commands.h"
#include "../files/open.h"

#include <stdlib.h>
#include <string.h>

/* A line of the list. */
typedef struct entry {
    machsym_symbol symbol;
    size_t index; /* in the order found: the last tie-break */
} entry;

typedef struct entries {
    entry *v;
    size_t count;
    size_t cap;
} entries;

static void symbols_cmd_add(entries *to, const machsym_symbol *symbol)
{
    to->v = mem_room(to->v, to->count, &to->cap, sizeof *to->v);
    to->v[to->count] = (entry){*symbol, to->count};
    to->count++;
}

static int symbols_cmd_by_address(const void *a, const void *b)
{
    const entry *x = a;
    const entry *y = b;
    if (x->symbol.lo != y->symbol.lo)
        return x->symbol.lo < y->symbol.lo ? -1 : 1;
    if (x->symbol.source != y->symbol.source)
        return x->symbol.source < y->symbol.source ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static void symbols_cmd_collect(machsym_session *session, unsigned source, entries *to)
{
    machsym_cursor at = {0, 0};
    machsym_function f;
    machsym_symbol symbol;
    while ((source == 0 || source == MACHSYM_SOURCE_DWARF) &&
           machsym_session_next_function(session, &at, &f)) {
        symbol.lo = f.lo;
        symbol.hi = f.hi;
        symbol.name = f.linkage_name.len != 0 ? f.linkage_name : f.name;
        symbol.source = MACHSYM_SOURCE_DWARF;
        symbols_cmd_add(to, &symbol);
    }
    memset(&at, 0, sizeof at);
    while (source != MACHSYM_SOURCE_DWARF && machsym_session_next_name(session, &at, &symbol)) {
        if (source == 0 || source == symbol.source)
            symbols_cmd_add(to, &symbol);
    }
    if (to->count > 0)
        qsort(to->v, to->count, sizeof *to->v, symbols_cmd_by_address);
}

static void symbols_cmd_print_text(text *out, const machsym_symbol *symbol, bool raw)
{
    const char *source = machsym_source_name(symbol->source);
    size_t from = out->len;
    text_c(out, "0x");
    text_hex(out, symbol->lo, 8);
    text_char(out, ' ');
    text_dec(out, symbol->hi - symbol->lo);
    text_char(out, ' ');
    text_c(out, source);
    text_c(out, symbol->name.len != 0 ? " " : "");
    if (raw)
        text_str(out, symbol->name);
    else
        text_name(out, symbol->name, MACHSYM_DEMANGLE_SIMPLIFIED);
    text_end_line(out, from);
}

static void symbols_cmd_print_json(text *out, const machsym_symbol *symbol)
{
    text name = {0};
    text_name(&name, symbol->name, MACHSYM_DEMANGLE_SIMPLIFIED);
    json_begin(out, "symbols");
    json_put_hex(out, "address", symbol->lo);
    json_put_number(out, "size", symbol->hi - symbol->lo);
    json_put_str(out, "source", str_c(machsym_source_name(symbol->source)));
    json_put_key(out, "name");
    text_json(out, (machsym_str){name.v, name.len});
    json_put_key(out, "linkage_name");
    text_json(out, symbol->name);
    text_c(out, "}\n");
    text_free(&name);
}

static void symbols_cmd_print_all(const entries *list, bool json, bool raw)
{
    text out = {0};
    for (size_t i = 0; i < list->count; i++) {
        if (json)
            symbols_cmd_print_json(&out, &list->v[i].symbol);
        else
            symbols_cmd_print_text(&out, &list->v[i].symbol, raw);
        if (out.len > 1 << 16 || i + 1 == list->count) {
            out_text(&out);
        }
    }
    text_free(&out);
}

typedef struct symbols_options {
    image_options from;
    unsigned source; /* 0: all */
    bool json;
    bool raw;
} symbols_options;

static bool symbols_cmd_take_source(void *to, const char *value)
{
    symbols_options *o = to;
    o->source = 0;
    o->from.no_dwarf = false;
    if (strcmp(value, "all") == 0)
        return true;
    for (o->source = 1; o->source < MACHSYM_SOURCE_COUNT; ++o->source) {
        o->from.no_dwarf = o->source != MACHSYM_SOURCE_DWARF;
        if (strcmp(value, machsym_source_name((machsym_source)o->source)) == 0)
            return true;
    }
    say_message("%s is no source; see machsym symbols --help", value);
    return false;
}

static int symbols_cmd_run(int argc, char **argv)
{
    symbols_options o = {0};
    machsym_session *session;
    machsym_image *image;
    int status = open_for_command(&symbols_command, &o.from, argc, argv, &o, &image, &session);
    if (image == NULL)
        return status;
    entries list = {0};
    symbols_cmd_collect(session, o.source, &list);
    symbols_cmd_print_all(&list, o.json, o.raw);
    free(list.v);
    open_session_close(session);
    machsym_image_close(image);
    return TOOL_OK;
}

static const option table[] = {
    {"source", "all|dwarf|symtab|stub|exports|objc|block|swift|function_starts",
     "names of one source only, or (the default) of all", 0, symbols_cmd_take_source},
    {"no-symtab", NULL, "as if LC_SYMTAB had been stripped", offsetof(symbols_options, from.no_symtab), NULL},
    {"no-demangle", NULL, "names as the linker knows them", offsetof(symbols_options, raw), NULL},
    {"json", NULL, "one JSON object a line", offsetof(symbols_options, json), NULL},
    {0},
};

const command symbols_command = {
    "symbols",
    "every name that is known of a file, by address, with its source",
    "[options] FILE",
    "Lists every name that is known of a file's code, sorted by address: address, size, source, name. At "
    "one\n"
    "address the best source comes first; it is the one that answers.\n",
    {{table, 0}, {image_option_table, offsetof(symbols_options, from)}},
    NULL,
    symbols_cmd_run,
    NULL,
};
