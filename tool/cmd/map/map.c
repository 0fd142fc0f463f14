/* machsym map: whole images resolved once; lookups, checks and copies of the result for other stores. */
#include "map.h"
#include "../../../report/base/json_put.h"
#include "../../../report/base/memory.h"
#include "../../base/out.h"
#include "../../base/say.h"
#include "../../base/values.h"
#include "../atos/answer.h"
#include "../atos/atos.h"
#include "../../files/inside.h"
#include "../../files/members.h"
#include "../../files/open.h"
#include "../../files/outfile.h"
#include "../../symbols/frames.h"
#include "../../symbols/map_budget.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

machsym_map *map_open(const char *path, uint32_t flags)
{
    machsym_map *map;
    machsym_error err;
    machsym_map_desc desc = {.path = path, .flags = flags};
    if (inside_map_open(&desc, &map, &err) == MACHSYM_OK)
        return map;
    if (err.os_errno == EISDIR)
        say_message("%s: a folder, not a symbol map; name a .symmap; machsym map build makes one", path);
    else
        say_error(path, &err);
    return NULL;
}

void map_default_name(text *out, machsym_str name, const char *arch)
{
    text_str(out, name.len != 0 ? name : (machsym_str){"out", 3});
    if (arch != NULL) {
        text_char(out, '-');
        text_c(out, arch);
    }
    text_c(out, ".symmap");
    text_add(out, "", 1);
}

bool map_write(const machsym_map *map, const char *path)
{
    machsym_bytes bytes = machsym_map_bytes(map);
    int failure = outfile_write(path, bytes.ptr, bytes.len, OUTFILE_REPLACE);
    if (failure != 0)
        say_message("%s: %s", path, outfile_error(failure));
    return failure == 0;
}

/* ---- lookup and chunk: machsym atos with other inputs ---- */

static int map_run_lookup(int argc, char **argv)
{
    return atos_run(&map_lookup_command, ATOS_FIRST_IS_FILE, argc, argv);
}

const command map_lookup_command = {
    "map lookup",
    "as machsym atos, with those of its options that maps answer",
    "FILE.symmap [options] [address ...]",
    "Prints function, file and line for addresses of a map, as machsym atos does.\n",
    {{atos_file_option_table, 0}, {atos_option_table, 0}, {slice_option_table, offsetof(atos, image)}},
    NULL,
    map_run_lookup,
    NULL,
};

static int map_run_chunk(int argc, char **argv)
{
    return atos_run(&map_chunk_command, ATOS_CHUNK, argc, argv);
}

static const option chunk_table[] = {
    {"base64", NULL, "the value is base64", offsetof(atos, base64), NULL},
    {0},
};

const command map_chunk_command = {
    "map chunk",
    "answers from one chunk, as machsym map lookup does",
    "[options] ADDRESS ... < VALUE",
    "Prints function, file and line for addresses, from one value that map export --chunks made.\n",
    {{chunk_table, 0}, {atos_option_table, 0}, {slice_option_table, offsetof(atos, image)}},
    NULL,
    map_run_chunk,
    NULL,
};

/* ---- info ---- */

/* Returns whether what the map was made of was whole. */
static bool map_print_info_text(const char *path, const machsym_map *map)
{
    machsym_map_info info;
    text t = {0};
    machsym_map_get_info(map, &info);
    text_shown(&t, str_c(path));
    text_c(&t, "\n  image: ");
    text_shown(&t, info.name);
    text_c(&t, ", ");
    text_c(&t, info.arch);
    text_c(&t, ", ");
    if (symbol_uuid_is_none(&info.uuid))
        text_c(&t, "no UUID");
    else
        text_uuid(&t, &info.uuid);
    text_c(&t, "\n  text: 0x");
    text_hex(&t, info.text_addr, 1);
    text_c(&t, ", ");
    text_dec(&t, info.text_size);
    text_c(&t, " bytes\n  lines: ");
    text_c(&t, value_lines_name(info.lines));
    text_c(&t, (info.flags & MACHSYM_MAP_COLUMNS) != 0 ? ", with columns" : ", without columns");
    text_c(&t, (info.flags & MACHSYM_MAP_CHUNK) != 0 ? ", a chunk of a map\n" : "\n");
    out_format("%.*s  format: version %u, %llu bytes\n", (int)t.len, t.v, info.version,
               (unsigned long long)info.size);
    out_format("  runs of ranges: %llu from debug info, %llu from symbols\n",
               (unsigned long long)info.run_count, (unsigned long long)info.symbol_run_count);
    out_format("  names: %llu bytes, packed into %llu; the rest: %llu bytes\n",
               (unsigned long long)info.text_bytes, (unsigned long long)info.packed_bytes,
               (unsigned long long)info.data_bytes);
    if (info.unwind_bytes != 0)
        out_format("  unwind tables: %llu bytes\n", (unsigned long long)info.unwind_bytes);
    bool is_damaged = (info.flags & MACHSYM_MAP_DAMAGED) != 0;
    if (is_damaged)
        out_c("  damaged: made of a damaged file; names, lines and ranges may be missing\n");
    text_free(&t);
    return !is_damaged;
}

static bool map_print_info_json(const char *path, const machsym_map *map)
{
    machsym_map_info info;
    text t = {0};
    machsym_map_get_info(map, &info);
    bool is_damaged = (info.flags & MACHSYM_MAP_DAMAGED) != 0;
    json_begin(&t, "map-info");
    json_put_str(&t, "file", str_c(path));
    json_put_str(&t, "image", info.name);
    json_put_str(&t, "arch", str_c(info.arch));
    json_put_uuid(&t, "uuid", symbol_uuid_is_none(&info.uuid) ? NULL : &info.uuid);
    json_put_hex(&t, "text_address", info.text_addr);
    json_put_number(&t, "text_size", info.text_size);
    json_put_str(&t, "lines", str_c(value_lines_name(info.lines)));
    json_put_bool(&t, "columns", (info.flags & MACHSYM_MAP_COLUMNS) != 0);
    json_put_bool(&t, "chunk", (info.flags & MACHSYM_MAP_CHUNK) != 0);
    json_put_bool(&t, "damaged", is_damaged);
    json_put_number(&t, "unwind_bytes", info.unwind_bytes);
    json_put_number(&t, "format", info.version);
    json_put_number(&t, "size", info.size);
    text_c(&t, "}\n");
    out_text(&t);
    text_free(&t);
    return !is_damaged;
}

bool map_print_info(const char *path, uint32_t flags, bool is_json)
{
    machsym_map *map = map_open(path, flags);
    bool ok = map != NULL && (is_json ? map_print_info_json : map_print_info_text)(path, map);
    machsym_map_close(map);
    return ok;
}

typedef struct map_info_options {
    bool copy;
    bool json;
} map_info_options;

static int map_run_info(int argc, char **argv)
{
    map_info_options o = {false, false};
    int count = options_parse(&map_info_command, &o, argc, argv);
    int status = TOOL_OK;
    if (count < 0)
        return options_status(count);
    if (count == 0)
        return options_wrong(&map_info_command, "no map is named");
    for (int i = 1; i <= count; i++) {
        path_list files;
        bool ok = inside_expand(argv[i], INSIDE_MAPS, &files);
        for (size_t j = 0; j < files.count; j++) {
            ok = map_print_info(files.v[j], o.copy ? MACHSYM_MAP_COPY : 0, o.json) && ok;
            members_forget();
        }
        path_list_free(&files);
        status = ok ? status : TOOL_ERROR;
    }
    return status;
}

static const option info_table[] = {
    {"copy", NULL, "read files into memory first: safe when others may truncate them",
     offsetof(map_info_options, copy), NULL},
    {"json", NULL, "one JSON object a map", offsetof(map_info_options, json), NULL},
    {0},
};

const command map_info_command = {
    "map info",
    "what a map says of itself",
    "[options] FILE.symmap ...",
    "Prints the image, size and contents that a map names; of a zip, tar or folder those of each map in "
    "it.\n",
    {{info_table, 0}},
    NULL,
    map_run_info,
    NULL,
};

/* ---- dump ---- */

static void map_text_place(text *t, const machsym_frame *frame, const frame_style *style)
{
    if (!frame_has_line(frame))
        return;
    frame_put_file(t, frame, style->full_path);
    text_char(t, ':');
    text_dec(t, frame->line);
    if (frame->column != 0) {
        text_char(t, ':');
        text_dec(t, frame->column);
    }
}

/* start, end, function, place; then function and place of each caller that it is inlined into. */
static void map_dump_range(text *t, map_budget *budget, symbol_source *source, const machsym_map_range *range,
                           machsym_frame *frames, const frame_style *style)
{
    size_t count = budget_frames(budget, source, range->lo, frames);
    text_c(t, "0x");
    text_hex(t, range->lo, 1);
    text_c(t, "\t0x");
    text_hex(t, range->hi, 1);
    for (size_t i = 0; i < count && !budget->is_spent; i++) {
        size_t before = t->len;
        text_char(t, '\t');
        size_t from = t->len;
        frame_put_name(t, &frames[i], style);
        text_escape(t, from);
        text_char(t, '\t');
        from = t->len;
        map_text_place(t, &frames[i], style);
        text_escape(t, from);
        budget_spend(budget, t->len - before);
    }
    text_char(t, '\n');
}

static void map_dump_range_json(text *t, map_budget *budget, symbol_source *source,
                                const machsym_map_range *range, machsym_frame *frames,
                                const frame_style *style)
{
    size_t from = t->len;
    size_t count = budget_frames(budget, source, range->lo, frames);
    json_begin(t, "map-dump");
    json_put_hex(t, "lo", range->lo);
    json_put_hex(t, "hi", range->hi);
    text_c(t, ",\"frames\":[");
    for (size_t i = 0; i < count; i++) {
        text_c(t, i > 0 ? "," : "");
        frame_put_json(t, &frames[i], range->lo, style);
    }
    text_c(t, "]}\n");
    budget_spend(budget, t->len - from);
}

typedef struct dump_options {
    symbol_desc desc;
    frame_style style;
    bool json;
} dump_options;

static int map_run_dump(int argc, char **argv)
{
    dump_options o;
    symbol_file file;
    outfile out;
    text t = {0};
    machsym_cursor at = {0, 0};
    machsym_map_range range;
    memset(&o, 0, sizeof o);
    o.desc.any_lines = true;
    o.style = (frame_style){true, false, MACHSYM_DEMANGLE_SIMPLIFIED, NULL};
    int count = options_parse(&map_dump_command, &o, argc, argv);
    if (count < 0)
        return options_status(count);
    if (count != 1)
        return options_wrong(&map_dump_command, count == 0 ? "no map is named" : "one map at a time");
    o.desc.open.path = argv[1];
    if (!map_open_source(&o.desc, &file))
        return TOOL_ERROR;
    machsym_frame *frames = mem_alloc(MAP_MAX_FRAMES * sizeof *frames);
    symbol_source *source = symbol_source_open(&file, 0, 0);
    o.style.source = source;
    map_budget budget = budget_of(&file, 1);
    outfile_begin(&out, NULL, OUTFILE_REPLACE);
    while (!out_failed() && !budget.is_spent && machsym_map_next(file.map, &at, &range)) {
        (o.json ? map_dump_range_json : map_dump_range)(&t, &budget, source, &range, frames, &o.style);
        outfile_flush(&out, &t);
    }
    symbol_source_close(source);
    symbol_file_close(&file);
    free(frames);
    return outfile_end(&out, &t, !budget.is_spent) ? TOOL_OK : TOOL_ERROR;
}

static const option dump_table[] = {
    {"no-demangle", NULL, "names as the linker knows them", offsetof(dump_options, style.raw_names), NULL},
    {"json", NULL, "one JSON object a range", offsetof(dump_options, json), NULL},
    {0},
};

const command map_dump_command = {
    "map dump",
    "one row for each range: start, end, function, file:line, callers",
    "[options] FILE.symmap",
    "Prints a row for each range: start, end, function, file:line; then the same of each caller that it is "
    "inlined\n"
    "into.\n",
    {{dump_table, 0}},
    NULL,
    map_run_dump,
    NULL,
};

bool map_open_source(const symbol_desc *desc, symbol_file *file)
{
    if (!symbol_file_open_or_say(desc, file))
        return false;
    if (file->map != NULL)
        return true;
    say_message("%s: not a symbol map; make one with machsym map build", desc->open.path);
    symbol_file_close(file);
    return false;
}

/* ---- All of them ---- */

static const command *const below[] = {&map_build_command,  &map_lookup_command, &map_info_command,
                                       &map_dump_command,   &map_verify_command, &map_export_command,
                                       &map_import_command, &map_chunk_command,  NULL};

const command map_command = {
    "map",         "whole images resolved once: build, lookups, chunks for stores, other formats",
    "COMMAND ...", "Works on symbol maps: an image resolved once, for many lookups.\n",
    {{NULL, 0}},   "exit status: 0 done, 1 failed, or verify found a difference, 2 usage\n",
    NULL,          below,
};
