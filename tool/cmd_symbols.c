/* machsym symbols: every name of a file by address. */
#include "tool.h"

#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: machsym symbols [options] FILE\n"
    "Lists every name that is known of a file's code, sorted by address: address, size, source, name. At "
    "one\n"
    "address the best source comes first; it is the one that answers.\n"
    "\n"
    "  -arch NAME       which slice of a fat file\n"
    "  --uuid UUID      which slice, by its UUID\n"
    "  --entry NAME     which image of a kernel collection\n"
    "  --pair FILE      the other half: the binary to a dSYM, or the dSYM to a binary\n"
    "  --copy           read files into memory first: safe when others may truncate them\n"
    "  --source SOURCE  all (the default), dwarf, symtab, stub, exports, objc, block, swift, "
    "function_starts\n"
    "  --no-symtab      as if LC_SYMTAB had been stripped\n"
    "  --no-demangle    names as the linker knows them\n"
    "  --json           one JSON object a line\n";

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

static void add(entries *to, const machsym_symbol *symbol)
{
    if (to->count == to->cap) {
        to->cap = to->cap == 0 ? 1024 : to->cap * 2;
        to->v = tool_grow(to->v, to->cap * sizeof *to->v);
    }
    to->v[to->count] = (entry){*symbol, to->count};
    to->count++;
}

static int by_address(const void *a, const void *b)
{
    const entry *x = a;
    const entry *y = b;
    if (x->symbol.lo != y->symbol.lo)
        return x->symbol.lo < y->symbol.lo ? -1 : 1;
    if (x->symbol.source != y->symbol.source)
        return x->symbol.source < y->symbol.source ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static void collect(machsym_session *session, unsigned source, entries *to)
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
        add(to, &symbol);
    }
    memset(&at, 0, sizeof at);
    while (source != MACHSYM_SOURCE_DWARF && machsym_session_next_name(session, &at, &symbol)) {
        if (source == 0 || source == symbol.source)
            add(to, &symbol);
    }
    if (to->count > 0)
        qsort(to->v, to->count, sizeof *to->v, by_address);
}

static void print_text(text *out, const machsym_symbol *symbol, bool raw)
{
    const char *source = machsym_source_name(symbol->source);
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
    text_char(out, '\n');
}

static void print_json(text *out, const machsym_symbol *symbol)
{
    text name = {0};
    text_name(&name, symbol->name, MACHSYM_DEMANGLE_SIMPLIFIED);
    text_c(out, "{\"address\":\"0x");
    text_hex(out, symbol->lo, 1);
    text_c(out, "\",\"size\":");
    text_dec(out, symbol->hi - symbol->lo);
    text_c(out, ",\"source\":\"");
    text_c(out, machsym_source_name(symbol->source));
    text_c(out, "\",\"name\":");
    text_json(out, (machsym_str){name.v, name.len});
    text_c(out, ",\"linkage_name\":");
    text_json(out, symbol->name);
    text_c(out, "}\n");
    text_free(&name);
}

static void print_all(const entries *list, bool json, bool raw)
{
    text out = {0};
    for (size_t i = 0; i < list->count; i++) {
        if (json)
            print_json(&out, &list->v[i].symbol);
        else
            print_text(&out, &list->v[i].symbol, raw);
        if (out.len > 1 << 16 || i + 1 == list->count) {
            fwrite(out.v, 1, out.len, stdout);
            out.len = 0;
        }
    }
    text_free(&out);
}

/* Returns false when it is no source's name. 0: all. */
static bool parse_source(const char *written, unsigned *out)
{
    *out = 0;
    if (strcmp(written, "all") == 0)
        return true;
    for (*out = 1; *out < MACHSYM_SOURCE_COUNT; ++*out) {
        if (strcmp(written, machsym_source_name((machsym_source)*out)) == 0)
            return true;
    }
    return false;
}

int cmd_symbols(int argc, char **argv)
{
    options o = {argc, argv, 0, false};
    image_options from = {0};
    const char *name;
    const char *operand;
    unsigned source = 0;
    bool json = false;
    bool raw = false;
    while (options_next(&o, &name, &operand)) {
        if (name != NULL && options_is(&o, name, "json")) {
            json = true;
        } else if (name != NULL && options_is(&o, name, "no-demangle")) {
            raw = true;
        } else if (name != NULL && options_is(&o, name, "no-symtab")) {
            from.flags |= MACHSYM_OPEN_NO_SYMTAB;
        } else if (name != NULL && (options_is(&o, name, "help") || options_is(&o, name, "h"))) {
            fputs(usage, stdout);
            return TOOL_OK;
        } else if (name != NULL && options_is(&o, name, "source")) {
            const char *written = options_value(&o, "source");
            if (!parse_source(written, &source)) {
                tool_say("%s is no source; see machsym symbols --help", written);
                return TOOL_ERROR;
            }
        } else if (!image_option(&from, &o, name, operand)) {
            return TOOL_ERROR;
        }
    }
    if (from.path == NULL) {
        fputs(usage, stderr);
        return TOOL_ERROR;
    }
    machsym_image *image = image_options_open(&from);
    if (image == NULL)
        return TOOL_ERROR;
    machsym_session *session = tool_session(image, MACHSYM_LINES_ATOS, 0);
    entries list = {0};
    collect(session, source, &list);
    print_all(&list, json, raw);
    free(list.v);
    machsym_session_close(session);
    machsym_image_close(image);
    return TOOL_OK;
}
