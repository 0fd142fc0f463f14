/* ==== >> cmd/find ====
 * Job: the command that tells at which addresses a function or a line of source has code.
 * Offers: the command.
 * Never: knows debug info: it reads the map of the file.
 *
 * machsym find: from a name or a line back to addresses, with all inlined copies. */
#include "machsym.h"
#include "../../report/base/json_put.h"
#include "../../report/base/memory.h"
#include "../../report/base/text.h"
#include "../base/options.h"
#include "../base/out.h"
#include "../base/say.h"
#include "../base/takes.h"
#include "../files/open.h"
#include "../symbols/frames.h"
#include "../symbols/map_budget.h"
#include "../symbols/source.h"
#include "commands.h"
#include "map/build.h"

#include <stdlib.h>
#include <string.h>

typedef struct find_options {
    image_options from;
    lines_option lines;
    build_options how;
    bool json;
    uint32_t names;
} find_options;

/* What is looked for. */
typedef struct find_wanted {
    machsym_str text; /* a name, or the end of a path */
    bool is_begin;    /* of a name: all that begin so */
    uint32_t line;    /* 0: a name is wanted */
} find_wanted;

/* A run of addresses at which one copy of it stands. */
typedef struct find_match {
    uint64_t lo;
    uint64_t hi;
    text key; /* equal for ranges of one copy: the function, and where each caller calls */
    text shown;
} find_match;

typedef struct find_matches {
    find_match *v; /* as their first ranges ascend */
    size_t count;
    size_t cap;
    size_t open; /* the first that the next range may go on */
} find_matches;

/* ---- What fits ---- */

/* FILE:LINE, or a name, * at its end for all that begin so. */
static find_wanted find_cmd_take(const char *word)
{
    find_wanted wanted = {str_c(word), false, 0};
    const char *colon = strrchr(word, ':');
    char *end = NULL;
    unsigned long line =
        colon != NULL && colon[1] >= '1' && colon[1] <= '9' ? strtoul(colon + 1, &end, 10) : 0;
    if (line > 0 && *end == 0 && line <= UINT32_MAX && colon > word && colon[-1] != ':') {
        wanted.text.len = (size_t)(colon - word);
        wanted.line = (uint32_t)line;
    } else if (wanted.text.len > 1 && word[wanted.text.len - 1] == '*') {
        wanted.text.len--;
        wanted.is_begin = true;
    }
    return wanted;
}

/* A name without its parameters: up to the bracket that the last one closes. */
static machsym_str find_cmd_without_parameters(machsym_str name)
{
    size_t end = name.len;
    size_t depth = 0;
    while (end > 0 && name.ptr[end - 1] != ')')
        end--;
    for (size_t i = end; i > 0; i--) {
        depth += name.ptr[i - 1] == ')';
        depth -= name.ptr[i - 1] == '(';
        if (depth == 0 && i > 1)
            return str_make(name.ptr, i - 1);
        if (depth == 0)
            break;
    }
    return name;
}

/* The last part of a name: after :: or a dot that stand in no brackets. */
static machsym_str find_cmd_last_part(machsym_str name)
{
    size_t depth = 0;
    for (size_t i = name.len; i > 0; i--) {
        char c = name.ptr[i - 1];
        depth += c == ')' || c == '>' || c == ']';
        if ((c == '(' || c == '<' || c == '[') && depth > 0)
            depth--;
        else if (depth == 0 && (c == ':' || c == '.') && i < name.len)
            return str_make(name.ptr + i, name.len - i);
    }
    return name;
}

static bool find_cmd_is_name(const find_wanted *wanted, machsym_str name)
{
    if (!wanted->is_begin)
        return str_equal(name, wanted->text);
    return name.len >= wanted->text.len && memcmp(name.ptr, wanted->text.ptr, wanted->text.len) == 0;
}

static bool find_cmd_fits_name(const find_wanted *wanted, const machsym_frame *frame,
                               const frame_style *style)
{
    text t = {0};
    if (find_cmd_is_name(wanted, frame->linkage_name) || find_cmd_is_name(wanted, frame->name))
        return true;
    frame_put_name(&t, frame, style);
    machsym_str shown = {t.v, t.len};
    machsym_str plain = find_cmd_without_parameters(shown);
    bool fits = find_cmd_is_name(wanted, shown) || find_cmd_is_name(wanted, plain) ||
                find_cmd_is_name(wanted, find_cmd_last_part(plain));
    text_free(&t);
    return fits;
}

/* Whether a path ends in what is wanted, at a whole component. */
static bool find_cmd_fits_line(const find_wanted *wanted, const machsym_frame *frame)
{
    text path = {0};
    if (frame->line != wanted->line)
        return false;
    text_path(&path, &frame->file);
    size_t len = wanted->text.len;
    bool fits = path.len >= len && memcmp(path.v + path.len - len, wanted->text.ptr, len) == 0 &&
                (path.len == len || path.v[path.len - len - 1] == '/' || path.v[path.len - len - 1] == '\\');
    text_free(&path);
    return fits;
}

/* ---- Matches ---- */

/* Which copy a frame is of: its function, and where each of its callers calls. */
static void find_cmd_put_key(text *key, const machsym_frame *frames, size_t i, size_t count)
{
    text_str(key, frames[i].linkage_name.len > 0 ? frames[i].linkage_name : frames[i].name);
    for (size_t caller = i + 1; caller < count; caller++) {
        text_char(key, '\n');
        text_str(key,
                 frames[caller].linkage_name.len > 0 ? frames[caller].linkage_name : frames[caller].name);
        text_char(key, ' ');
        text_dec(key, frames[caller].line);
        text_char(key, ' ');
        text_dec(key, frames[caller].column);
    }
}

static void find_cmd_put_shown(text *t, const machsym_frame *frames, size_t i, size_t count,
                               const frame_style *style)
{
    const machsym_frame *outer = &frames[count - 1];
    frame_put_name(t, &frames[i], style);
    if (frame_has_line(&frames[i])) {
        text_c(t, " (");
        frame_put_file(t, &frames[i], false);
        text_char(t, ':');
        text_dec(t, frames[i].line);
        text_char(t, ')');
    }
    if (i + 1 == count)
        return;
    text_c(t, " inlined into ");
    frame_put_name(t, outer, style);
}

static void find_cmd_put_members(text *t, const machsym_frame *frames, size_t i, size_t count,
                                 const frame_style *style)
{
    text part = {0};
    frame_put_name(&part, &frames[i], style);
    json_put_str(t, "name", (machsym_str){part.v, part.len});
    json_put_str(t, "linkage_name", frames[i].linkage_name);
    part.len = 0;
    if (frame_has_line(&frames[i]))
        text_path(&part, &frames[i].file);
    json_put_str(t, "file", (machsym_str){part.v, part.len});
    json_put_number(t, "line", frames[i].line);
    json_put_number(t, "column", frames[i].column);
    json_put_bool(t, "inline", i + 1 < count);
    part.len = 0;
    if (i + 1 < count)
        frame_put_name(&part, &frames[count - 1], style);
    json_put_str(t, "into", (machsym_str){part.v, part.len});
    text_free(&part);
}

/* The match that ends where a range begins, and is of the same copy; NULL: there is none. */
static find_match *find_cmd_open_match(find_matches *to, uint64_t lo, const text *key)
{
    for (size_t i = to->open; i < to->count; i++) {
        find_match *m = &to->v[i];
        if (m->hi == lo && m->key.len == key->len && memcmp(m->key.v, key->v, key->len) == 0)
            return m;
    }
    return NULL;
}

static void find_cmd_add(find_matches *to, const machsym_map_range *range, const machsym_frame *frames,
                         size_t i, size_t count, bool json, const frame_style *style)
{
    text key = {0};
    find_cmd_put_key(&key, frames, i, count);
    text_z(&key);
    find_match *before = find_cmd_open_match(to, range->lo, &key);
    if (before != NULL) {
        before->hi = range->hi;
        text_free(&key);
        return;
    }
    to->v = mem_room(to->v, to->count, &to->cap, sizeof *to->v);
    find_match *m = &to->v[to->count++];
    memset(m, 0, sizeof *m);
    m->lo = range->lo;
    m->hi = range->hi;
    m->key = key;
    (json ? find_cmd_put_members : find_cmd_put_shown)(&m->shown, frames, i, count, style);
}

/* Looks through all ranges of debug info, then those of symbols where nothing was found. */
static bool find_cmd_all(const find_options *o, const find_wanted *wanted, const symbol_file *file,
                         const frame_style *style, find_matches *out)
{
    machsym_cursor at = {0, 0};
    machsym_map_range range;
    machsym_frame *frames = mem_alloc(MAP_MAX_FRAMES * sizeof *frames);
    symbol_source *source = symbol_source_open(file, 0, 0);
    map_budget budget = budget_of(file, 1);
    frame_style own = *style;
    own.source = source;
    while (!budget.is_spent && machsym_map_next(file->map, &at, &range)) {
        size_t count = budget_frames(&budget, source, range.lo, frames);
        while (out->open < out->count && out->v[out->open].hi < range.lo)
            out->open++;
        for (size_t i = 0; i < count; i++) {
            if (wanted->line > 0 ? find_cmd_fits_line(wanted, &frames[i])
                                 : find_cmd_fits_name(wanted, &frames[i], &own))
                find_cmd_add(out, &range, frames, i, count, o->json, &own);
        }
    }
    symbol_source_close(source);
    free(frames);
    return !budget.is_spent;
}

static void find_cmd_print(const find_options *o, const find_match *m)
{
    text t = {0};
    if (o->json) {
        json_begin(&t, "find");
        json_put_hex(&t, "address", m->lo);
        json_put_hex(&t, "end", m->hi);
        text_add(&t, m->shown.v, m->shown.len);
        text_c(&t, "}\n");
        out_text(&t);
    } else {
        out_line("0x%llx-0x%llx  %.*s", (unsigned long long)m->lo, (unsigned long long)m->hi,
                 (int)m->shown.len, m->shown.v);
    }
    text_free(&t);
}

/* ---- The file ---- */

/* Makes the map of an image, whose bytes the symbol file reads. Returns NULL after a message. */
static machsym_map *find_cmd_build(const find_options *o, const machsym_image *image)
{
    machsym_plan_desc desc;
    machsym_part_info counts;
    memset(&desc, 0, sizeof desc);
    desc.image = image;
    desc.lines = o->lines.lines;
    desc.names = o->names;
    desc.flags = MACHSYM_MAP_DAMAGED | MACHSYM_MAP_COLUMNS;
    return build_image(&desc, o->from.path, &o->how, &counts);
}

static int find_cmd_in(const find_options *o, const char *word, const symbol_file *file)
{
    static const frame_style style = {false, false, MACHSYM_DEMANGLE_SIMPLIFIED, NULL};
    find_wanted wanted = find_cmd_take(word);
    find_matches found = {NULL, 0, 0, 0};
    bool ok = find_cmd_all(o, &wanted, file, &style, &found);
    for (size_t i = 0; i < found.count && ok; i++)
        find_cmd_print(o, &found.v[i]);
    if (found.count == 0 && ok)
        say_message(wanted.line > 0 ? "%s: no code is of %s: name a file and a line as debug info has them"
                                    : "%s: no function is called %s: machsym symbols lists them",
                    o->from.path, word);
    for (size_t i = 0; i < found.count; i++) {
        text_free(&found.v[i].key);
        text_free(&found.v[i].shown);
    }
    ok = ok && found.count > 0;
    free(found.v);
    return ok ? TOOL_OK : TOOL_ERROR;
}

/* Looks in the map of an image, which is made for it. */
static int find_cmd_in_image(const find_options *o, const char *word, const machsym_image *image)
{
    symbol_desc desc;
    symbol_file file;
    int status = TOOL_ERROR;
    machsym_map *map = find_cmd_build(o, image);
    if (map == NULL)
        return status;
    memset(&desc, 0, sizeof desc);
    desc.open.bytes = machsym_map_bytes(map);
    desc.open.path = o->from.path;
    desc.any_lines = true;
    if (symbol_file_open_or_say(&desc, &file)) {
        status = find_cmd_in(o, word, &file);
        symbol_file_close(&file);
    }
    machsym_map_close(map);
    return status;
}

static int find_cmd_run(int argc, char **argv)
{
    find_options o;
    symbol_desc desc;
    symbol_file file;
    memset(&o, 0, sizeof o);
    memset(&desc, 0, sizeof desc);
    o.lines.lines = MACHSYM_LINES_DWARF;
    int count = options_parse(&find_command, &o, argc, argv);
    if (count < 0)
        return options_status(count);
    if (count != 2 || argv[2][0] == 0)
        return options_wrong(&find_command, "name a file, then a function or FILE:LINE");
    o.from.path = image_options_path(&o.from, argv[1]);
    image_options_apply(&o.from, &desc.open);
    desc.any_lines = true;
    if (!symbol_file_open_or_say(&desc, &file))
        return TOOL_ERROR;
    int status = open_refuse_collection(file.image) ? TOOL_ERROR
                 : file.map != NULL                 ? find_cmd_in(&o, argv[2], &file)
                                                    : find_cmd_in_image(&o, argv[2], file.image);
    symbol_file_close(&file);
    return status;
}

static const option table[] = {
    {"lines", "atos|dwarf|stmt|people", "the policy of lines: dwarf (default), atos, stmt or people",
     offsetof(find_options, lines), take_lines},
    {"names", "symtab|dwarf", HELP_NAMES, offsetof(find_options, names), take_names},
    {"json", NULL, "one JSON object a run of addresses", offsetof(find_options, json), NULL},
    {0},
};

const command find_command = {
    "find",
    "the addresses of a function or a line of source, with inlined copies",
    "[options] FILE NAME|FILE:LINE",
    "Prints where a function, or a line of source, has code: one run of addresses on each line, one for\n"
    "each copy that was inlined and each piece of it. NAME is a name as it is shown, with or without "
    "parameters, the last\n"
    "part of it, or the linker's; with * at its end all that begin so. FILE:LINE is a line of a file whose\n"
    "path ends so.\n",
    {{table, 0}, {image_option_table, offsetof(find_options, from)}},
    "exit status: 0 found, 1 no function or line of that name, or the file is damaged, 2 usage\n",
    find_cmd_run,
    NULL,
};
