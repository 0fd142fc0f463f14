/* machsym map: whole images resolved once; lookups, checks and copies of the result for other stores. */
#include "cmd_map.h"
#include "store/objects.h"
#include "source.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: machsym map build [options] FILE ...      makes NAME.symmap of dSYMs and binaries\n"
    "       machsym map lookup FILE.symmap [ADDR ...]  as machsym atos, and with its options\n"
    "       machsym map info FILE.symmap ...           what a map says of itself\n"
    "       machsym map dump FILE.symmap               a row a range: start, end, function, file:line, "
    "callers\n"
    "       machsym map verify FILE.symmap FILE.dSYM   builds the map again and compares every range\n"
    "       machsym map export FILE.symmap             chunks for a key-value store, or another format\n"
    "       machsym map import FILE                    a map from a text symbol table\n"
    "       machsym map chunk [ADDR ...] < VALUE       answers from one chunk, with the options of machsym "
    "atos\n"
    "\n"
    "build:\n"
    "  -o OUT              the file to write; NAME.symmap in this folder without it\n"
    "  --store DIR         write DIR/XX/UUID.symmap: machsym atos --store DIR --uuid UUID finds it\n"
    "  -j N                threads; all processors without it\n"
    "  -arch NAME, --uuid U, --all-archs\n"
    "                      which slices of a fat file\n"
    "  --pair FILE         the other half: the binary to a dSYM, or the dSYM to a binary\n"
    "  --copy              read files into memory first: safe when others may truncate them\n"
    "  --lines=POLICY      atos (default), dwarf or stmt; a map answers for one policy. machsym crash "
    "prefers dwarf\n"
    "  --columns           keep columns: about a tenth larger\n"
    "  --no-progress       no progress line on a terminal\n" OBJECT_USAGE "verify:\n"
    "  --pair FILE, -j N   as for build\n"
    "export:\n"
    "  --chunks=N          chunks of N bytes of text: key TABLE:IMAGE:UUID:CHUNK, value a small map\n"
    "  --format=FORMAT     of chunks: resp (redis-cli --pipe), tsv (base64; HBase ImportTsv), jsonl "
    "(base64);\n"
    "                      of the whole: bugly (text table), breakpad (.sym)\n"
    "  --expire=SECONDS    resp: keys that nobody renews end after so long\n"
    "  -o OUT              a file; standard output without it\n"
    "  --no-demangle       names as the linker knows them\n"
    "import:\n"
    "  --format=bugly      rows of start, end (inclusive), function, file:line, separated by tabs\n"
    "  -arch NAME, --uuid U, --name NAME, --text=ADDR\n"
    "                      what the table does not tell; ADDR is what the rows count from\n"
    "  -o OUT              the file to write; NAME.symmap in this folder without it\n"
    "chunk:\n"
    "  --base64            the value is base64\n"
    "\n"
    "exit status: 0 done, 1 failed, or verify found a difference\n";

int map_usage(FILE *out)
{
    fputs(usage, out);
    return out == stdout ? TOOL_OK : TOOL_ERROR;
}

machsym_map *map_open(const char *path, uint32_t flags)
{
    machsym_map *map;
    machsym_error err;
    if (machsym_map_open(path, (machsym_bytes){NULL, 0}, flags, NULL, &map, &err) == MACHSYM_OK)
        return map;
    tool_say_error(path, &err);
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
    machsym_error err;
    if (machsym_map_save(map, path, &err) == MACHSYM_OK)
        return true;
    tool_say_error(path, &err);
    return false;
}

bool output_begin(output *out, const char *path)
{
    memset(out, 0, sizeof *out);
    out->path = path;
    out->file = stdout;
    if (path == NULL)
        return true;
    text_c(&out->beside, path);
    text_char(&out->beside, '.');
    text_dec(&out->beside, (uint64_t)getpid()); /* of several writers each has its own */
    text_c(&out->beside, ".tmp");
    text_add(&out->beside, "", 1);
    out->file = fopen(out->beside.v, "wb");
    if (out->file == NULL)
        tool_say("%s: cannot be written", path);
    return out->file != NULL;
}

void output_flush(output *out, text *t)
{
    if (t->len < OUTPUT_BLOCK)
        return;
    out->failed |= fwrite(t->v, 1, t->len, out->file) != t->len;
    t->len = 0;
}

bool output_end(output *out, text *t, bool ok)
{
    if (out->file != NULL) {
        out->failed |= fwrite(t->v, 1, t->len, out->file) != t->len;
        out->failed |= fflush(out->file) != 0;
        if (out->path != NULL)
            out->failed |= fclose(out->file) != 0;
    }
    text_free(t);
    if (out->failed)
        tool_say("%s: cannot be written", out->path != NULL ? out->path : "standard output");
    ok = ok && !out->failed && out->file != NULL;
    if (out->path != NULL && ok && rename(out->beside.v, out->path) != 0) {
        tool_say("%s: cannot be written", out->path);
        ok = false;
    }
    if (out->path != NULL && !ok)
        remove(out->beside.v);
    text_free(&out->beside);
    return ok;
}

int cmd_map(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(int argc, char **argv);
    } commands[] = {
        {"build", map_build},   {"lookup", map_lookup}, {"info", map_info},     {"dump", map_dump},
        {"verify", map_verify}, {"export", map_export}, {"import", map_import}, {"chunk", map_chunk},
    };
    if (argc < 2)
        return map_usage(stderr);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(argv[1], commands[i].name) == 0) {
            argv[1] = argv[0]; /* messages name the command whose help to read */
            return commands[i].run(argc - 1, argv + 1);
        }
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return map_usage(stdout);
    tool_say("no such command: map %s; see machsym map --help", argv[1]);
    return TOOL_ERROR;
}

int map_lookup(int argc, char **argv)
{
    return atos_main(argc, argv, true, (machsym_bytes){NULL, 0});
}

/* ---- info ---- */

static void print_info(const char *path, const machsym_map *map)
{
    machsym_map_info info;
    text t = {0};
    machsym_map_get_info(map, &info);
    text_c(&t, path);
    text_c(&t, "\n  image: ");
    text_str(&t, info.name);
    text_c(&t, ", ");
    text_c(&t, info.arch);
    text_c(&t, ", ");
    if (uuid_is_none(&info.uuid))
        text_c(&t, "no UUID");
    else
        text_uuid(&t, &info.uuid);
    text_c(&t, "\n  text: 0x");
    text_hex(&t, info.text_addr, 1);
    text_c(&t, ", ");
    text_dec(&t, info.text_size);
    text_c(&t, " bytes\n  lines: ");
    text_c(&t, lines_name(info.lines));
    text_c(&t, (info.flags & MACHSYM_MAP_COLUMNS) != 0 ? ", with columns" : ", without columns");
    text_c(&t, (info.flags & MACHSYM_MAP_CHUNK) != 0 ? ", a chunk of a map\n" : "\n");
    printf("%.*s  format: version %u, %llu bytes\n", (int)t.len, t.v, info.version,
           (unsigned long long)info.size);
    printf("  runs of ranges: %llu from debug info, %llu from symbols\n", (unsigned long long)info.run_count,
           (unsigned long long)info.symbol_run_count);
    printf("  names: %llu bytes, packed into %llu; the rest: %llu bytes\n",
           (unsigned long long)info.text_bytes, (unsigned long long)info.packed_bytes,
           (unsigned long long)info.data_bytes);
    text_free(&t);
}

int map_info(int argc, char **argv)
{
    int status = argc > 1 ? TOOL_OK : map_usage(stderr);
    for (int i = 1; i < argc; i++) {
        machsym_map *map = map_open(argv[i], 0);
        if (map != NULL)
            print_info(argv[i], map);
        else
            status = TOOL_ERROR;
        machsym_map_close(map);
    }
    return status;
}

/* ---- dump ---- */

static void text_place(text *t, const machsym_frame *frame, const frame_style *style)
{
    if (!frame_has_line(frame))
        return;
    text_frame_file(t, frame, style->full_path);
    text_char(t, ':');
    text_dec(t, frame->line);
    if (frame->column != 0) {
        text_char(t, ':');
        text_dec(t, frame->column);
    }
}

/* start, end, function, place; then function and place of each caller that it is inlined into. */
static void dump_range(text *t, symbol_source *source, const machsym_map_range *range, machsym_frame *frames,
                       const frame_style *style)
{
    size_t count = symbol_source_frames(source, range->lo, frames, MAP_MAX_FRAMES);
    text_c(t, "0x");
    text_hex(t, range->lo, 1);
    text_c(t, "\t0x");
    text_hex(t, range->hi, 1);
    for (size_t i = 0; i < count; i++) {
        text_char(t, '\t');
        text_frame_name(t, &frames[i], style);
        text_char(t, '\t');
        text_place(t, &frames[i], style);
    }
    text_char(t, '\n');
}

int map_dump(int argc, char **argv)
{
    options o = {argc, argv, 0, false};
    const char *name;
    symbol_desc desc;
    symbol_file file;
    frame_style style = {true, false, MACHSYM_DEMANGLE_SIMPLIFIED, NULL};
    output out;
    text t = {0};
    machsym_cursor at = {0, 0};
    machsym_map_range range;
    const char *operand;
    memset(&desc, 0, sizeof desc);
    desc.any_lines = true;
    while (options_next(&o, &name, &operand)) {
        if (operand != NULL && desc.open.path == NULL)
            desc.open.path = operand;
        else if (operand == NULL && options_is(&o, name, "no-demangle"))
            style.raw_names = true;
        else
            return map_usage(stderr);
    }
    if (desc.open.path == NULL)
        return map_usage(stderr);
    if (!map_open_source(&desc, &file))
        return TOOL_ERROR;
    machsym_frame *frames = tool_alloc(MAP_MAX_FRAMES * sizeof *frames);
    symbol_source *source = symbol_source_open(&file, 0, 0);
    style.source = source;
    output_begin(&out, NULL);
    while (machsym_map_next(file.map, &at, &range)) {
        dump_range(&t, source, &range, frames, &style);
        output_flush(&out, &t);
    }
    symbol_source_close(source);
    symbol_file_close(&file);
    free(frames);
    return output_end(&out, &t, true) ? TOOL_OK : TOOL_ERROR;
}

bool map_open_source(const symbol_desc *desc, symbol_file *file)
{
    if (!tool_open_symbols(desc, file))
        return false;
    if (file->map != NULL)
        return true;
    tool_say("%s: not a symbol map; make one with machsym map build", desc->open.path);
    symbol_file_close(file);
    return false;
}
