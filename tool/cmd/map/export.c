/* machsym map export: chunks for a key-value store, and text tables. */
#include "formats.h"
#include "../../../report/base/memory.h"
#include "../../base/options.h"
#include "../../base/say.h"
#include "map.h"
#include "../../symbols/frames.h"
#include "../../symbols/map_budget.h"
#include "../../symbols/map_chunks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How keys and values are written. */
typedef enum chunk_format { CHUNK_RESP = 0, CHUNK_TSV, CHUNK_JSONL } chunk_format;

typedef struct chunk_export {
    uint64_t chunk_size;
    chunk_format format;
    const char *expire; /* seconds; NULL: never */
    outfile *out;
    text *t;
} chunk_export;

/* ---- Keys and values ---- */

/* A bulk string of Redis' protocol: $LENGTH CRLF BYTES CRLF. */
static void export_resp_bulk(text *t, const void *ptr, size_t len)
{
    text_char(t, '$');
    text_dec(t, len);
    text_c(t, "\r\n");
    text_add(t, ptr, len);
    text_c(t, "\r\n");
}

static void export_put_resp(const chunk_export *e, machsym_str key, machsym_bytes value)
{
    text_c(e->t, e->expire != NULL ? "*5\r\n" : "*3\r\n");
    export_resp_bulk(e->t, "SET", 3);
    export_resp_bulk(e->t, key.ptr, key.len);
    export_resp_bulk(e->t, value.ptr, value.len);
    if (e->expire != NULL) {
        export_resp_bulk(e->t, "EX", 2);
        export_resp_bulk(e->t, e->expire, strlen(e->expire));
    }
}

static uint64_t export_put_chunk(void *user, machsym_str key, machsym_bytes value)
{
    const chunk_export *e = user;
    size_t from = e->t->len;
    if (e->format == CHUNK_RESP) {
        export_put_resp(e, key, value);
    } else if (e->format == CHUNK_TSV) {
        text_str(e->t, key);
        text_char(e->t, '\t');
        text_base64(e->t, value.ptr, value.len);
        text_char(e->t, '\n');
    } else {
        text_c(e->t, "{\"key\":");
        text_json(e->t, key);
        text_c(e->t, ",\"value\":\"");
        text_base64(e->t, value.ptr, value.len);
        text_c(e->t, "\"}\n");
    }
    uint64_t made = e->t->len - from;
    outfile_flush(e->out, e->t);
    return made;
}

/* Returns false after a message. */
static bool export_chunks(chunk_export *e, const symbol_file *file)
{
    chunk_lists lists;
    bool ok = cut_map(file, e->chunk_size, export_put_chunk, e, &lists);
    for (size_t i = 0; i < 2 && ok; i++)
        fprintf(stderr, "%s: %llu chunks, %llu bytes\n", lists.v[i].name,
                (unsigned long long)lists.v[i].chunks, (unsigned long long)lists.v[i].bytes);
    cut_lists_free(&lists);
    return ok;
}

/* ---- A text table ---- */

/* What a row says of its range: function, tab, file:line. */
static void export_text_row(text *t, const machsym_frame *frame, const frame_style *style)
{
    size_t from = t->len;
    frame_put_name(t, frame, style);
    text_escape(t, from);
    if (frame_has_line(frame)) {
        text_char(t, '\t');
        from = t->len;
        frame_put_file(t, frame, false);
        text_escape(t, from);
        text_char(t, ':');
        text_dec(t, frame->line);
    }
}

static void export_put_row(text *t, const machsym_map_range *range, const text *row)
{
    if (range->lo == range->hi)
        return;
    text_hex(t, range->lo, 1);
    text_char(t, '\t');
    text_hex(t, range->hi - 1, 1);
    text_char(t, '\t');
    text_add(t, row->v, row->len);
    text_char(t, '\n');
}

/* The table knows no inlined calls: a row is what atos prints without -i, the function that the code lies in
 * and the line there. Ranges that differ only further in become one. Returns false after a message. */
static bool export_bugly(const symbol_file *file, const frame_style *how, outfile *out, text *t)
{
    machsym_cursor at = {0, 0};
    machsym_map_range range;
    machsym_map_range open = {0, 0, false};
    text row = {0};
    text next = {0};
    machsym_frame *frames = mem_alloc(MAP_MAX_FRAMES * sizeof *frames);
    symbol_source *source = symbol_source_open(file, 0, 0);
    frame_style style = *how;
    map_budget budget = budget_of(file, 1);
    style.source = source;
    if (file->info.is_damaged)
        text_c(t, MAP_DAMAGED_HEADING ":\tyes\n");
    while (!budget.is_spent && machsym_map_next(file->map, &at, &range)) {
        size_t count = budget_frames(&budget, source, range.lo, frames);
        next.len = 0;
        if (count > 0)
            export_text_row(&next, &frames[count - 1], &style);
        budget_spend(&budget, next.len);
        bool same = str_equal((machsym_str){row.v, row.len}, (machsym_str){next.v, next.len});
        if (open.hi == range.lo && same) {
            open.hi = range.hi;
            continue;
        }
        export_put_row(t, &open, &row);
        text swap = row;
        row = next;
        next = swap;
        open = range;
        outfile_flush(out, t);
    }
    export_put_row(t, &open, &row);
    symbol_source_close(source);
    text_free(&row);
    text_free(&next);
    free(frames);
    return !budget.is_spent;
}

/* ---- The command ---- */

typedef struct export_command {
    symbol_desc desc;
    const char *chunks;
    const char *format;
    const char *expire;
    const char *out;
    frame_style style;
} export_command;

/* Reads a decimal number; 0 when the text is no number. */
static uint64_t export_parse_number(const char *written)
{
    char *end;
    unsigned long long number = written[0] >= '0' && written[0] <= '9' ? strtoull(written, &end, 10) : 0;
    return number != 0 && *end == 0 ? number : 0;
}

static bool export_set_chunks(const export_command *c, chunk_export *e)
{
    static const char *const formats[] = {"resp", "tsv", "jsonl"};
    memset(e, 0, sizeof *e);
    e->chunk_size = export_parse_number(c->chunks);
    e->expire = c->expire;
    if (e->chunk_size == 0 || e->chunk_size > CHUNK_SIZE_MOST) {
        say_message("--chunks wants a number of bytes, such as 10000");
        return false;
    }
    if (c->expire != NULL && export_parse_number(c->expire) == 0) {
        say_message("--expire wants a number of seconds");
        return false;
    }
    for (unsigned i = 0; i < 3; i++) {
        if (strcmp(c->format, formats[i]) == 0) {
            e->format = (chunk_format)i;
            return true;
        }
    }
    say_message("--chunks wants --format=resp, tsv or jsonl%s%s", c->format[0] != 0 ? ", not " : "",
                c->format);
    return false;
}

/* Returns an exit status. */
static int export_run_export(const export_command *c)
{
    symbol_file file;
    outfile out;
    text t = {0};
    chunk_export e;
    bool bugly = strcmp(c->format, "bugly") == 0;
    if (c->chunks != NULL && !export_set_chunks(c, &e))
        return TOOL_USAGE;
    if (c->chunks == NULL && !bugly && strcmp(c->format, "breakpad") != 0) {
        say_message(c->format[0] == 0
                        ? "--format is missing: bugly or breakpad; with --chunks=N resp, tsv or jsonl"
                        : "--format is bugly or breakpad; with --chunks=N resp, tsv or jsonl");
        return TOOL_USAGE;
    }
    if (!outfile_spares(c->out, c->desc.open.path) || !map_open_source(&c->desc, &file))
        return TOOL_ERROR;
    bool ok = outfile_begin(&out, c->out, OUTFILE_REPLACE);
    e.t = &t;
    e.out = &out;
    if (ok && c->chunks != NULL && !file.info.has_uuid) {
        say_message("%s: has no UUID: its chunks would have no key of their own", c->desc.open.path);
        ok = false;
    } else if (ok && c->chunks != NULL)
        ok = export_chunks(&e, &file);
    else if (ok && bugly)
        ok = export_bugly(&file, &c->style, &out, &t);
    else if (ok)
        ok = export_breakpad(&file, &c->style, &out, &t);
    symbol_file_close(&file);
    ok = ok && status_had_memory(c->out);
    return outfile_end(&out, &t, ok) ? TOOL_OK : TOOL_ERROR;
}

static int export_run(int argc, char **argv)
{
    export_command c;
    memset(&c, 0, sizeof c);
    c.format = "";
    c.style.full_path = true;
    c.style.demangle_flags = MACHSYM_DEMANGLE_SIMPLIFIED;
    c.desc.any_lines = true;
    int count = options_parse(&map_export_command, &c, argc, argv);
    if (count < 0)
        return options_status(count);
    if (count != 1)
        return options_wrong(&map_export_command, count == 0 ? "no map is named" : "one map at a time");
    c.desc.open.path = argv[1];
    return export_run_export(&c);
}

static const option table[] = {
    {"chunks", "N", "chunks of N bytes of text: key TABLE:IMAGE:UUID:CHUNK, value a small map",
     offsetof(export_command, chunks), NULL},
    {"format", "resp|tsv|jsonl|bugly|breakpad",
     "of chunks: resp (redis-cli --pipe), tsv (base64; HBase ImportTsv), jsonl\n(base64); of the whole: "
     "bugly (text "
     "table), breakpad (.sym)",
     offsetof(export_command, format), NULL},
    {"expire", "SECONDS", "resp: keys that are not renewed end after this time",
     offsetof(export_command, expire), NULL},
    {"o", "OUT", "a file; standard output without it", offsetof(export_command, out), NULL},
    {"no-demangle", NULL, "names as the linker knows them", offsetof(export_command, style.raw_names), NULL},
    {0},
};

const command map_export_command = {
    "map export",
    "chunks for a key-value store, or another format",
    "[options] FILE.symmap",
    "Writes a map as chunks for a key-value store, or in another format.\n",
    {{table, 0}},
    NULL,
    export_run,
    NULL,
};
