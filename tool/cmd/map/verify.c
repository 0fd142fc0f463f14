/* ==== >> cmd/map/verify ====
 * Job: the command that compares a map with its image.
 * Offers: the command.
 * Never: writes a map.
 *
 * machsym map verify: whether a map says what its image says. */
#include "machsym.h"
#include "../../../report/base/json_put.h"
#include "../../../report/base/memory.h"
#include "../../../report/base/text.h"
#include "../../base/options.h"
#include "../../base/out.h"
#include "../../base/say.h"
#include "../../base/takes.h"
#include "build.h"
#include "map.h"
#include "../../files/inside.h"
#include "../../files/open.h"
#include "../../symbols/frames.h"
#include "../../symbols/map_budget.h"
#include "../../symbols/source.h"

#include <stdlib.h>
#include <string.h>

enum {
    SHOWN_DIFFERENCES = 20,
    ASKED = 10,       /* addresses of each range, in the map and in one that is made anew */
    SHOWN_TEXT = 4096 /* bytes of a difference; a hostile map could have megabytes of names at one address */
};

/* A map, and the image it should be of. */
typedef struct verify {
    const char *map_path; /* as it was named: in an archive, too */
    symbol_file map_file;
    symbol_file image_file;
    symbol_source *map;
    symbol_source *image;
    machsym_frame *got;
    machsym_frame *want;
    bool columns;
    bool unwind;
    map_budget budget;
    uint64_t compared;
    uint64_t different;
    bool json;
} verify;

static bool verify_same_path(const machsym_path *a, const machsym_path *b)
{
    return str_equal(a->comp_dir, b->comp_dir) && str_equal(a->dir, b->dir) && str_equal(a->name, b->name);
}

static const char *verify_frame_difference(const verify *v, const machsym_frame *a, const machsym_frame *b)
{
    if (!str_equal(a->linkage_name, b->linkage_name) || !str_equal(a->name, b->name))
        return "name";
    if (a->line != b->line)
        return "line";
    if (a->file.name.len != b->file.name.len || !verify_same_path(&a->file, &b->file))
        return "file";
    if (v->columns && a->column != b->column)
        return "column";
    if (a->function_start != b->function_start || a->function_size != b->function_size)
        return "bounds of the function";
    if (a->name_source != b->name_source || a->line_source != b->line_source || a->is_inline != b->is_inline)
        return "source";
    if (a->lacks_callers != b->lacks_callers)
        return "calls that are left out";
    return NULL;
}

static void verify_text_frames(text *t, const machsym_frame *frames, size_t count)
{
    static const frame_style style = {true, true, 0, NULL};
    size_t from = t->len;
    text_c(t, count == 0 ? "nothing" : "");
    for (size_t i = 0; i < count && t->len - from < SHOWN_TEXT; i++) {
        text_c(t, i > 0 ? " < " : "");
        frame_put_name(t, &frames[i], &style);
        text_char(t, ' ');
        frame_put_file(t, &frames[i], false);
        text_char(t, ':');
        text_dec(t, frames[i].line);
    }
    if (t->len - from > SHOWN_TEXT) {
        t->len = from + SHOWN_TEXT;
        text_c(t, " ...");
    }
    text_end_line(t, from);
}

static void verify_compare_addr(verify *v, uint64_t addr)
{
    size_t got = budget_frames(&v->budget, v->map, addr, v->got);
    if (v->budget.is_spent)
        return;
    size_t want = symbol_source_frames(v->image, addr, v->want, MAP_MAX_FRAMES);
    const char *what = got != want ? "number of frames" : NULL;
    for (size_t i = 0; i < got && what == NULL; i++)
        what = verify_frame_difference(v, &v->got[i], &v->want[i]);
    v->compared++;
    if (what == NULL || v->different++ >= SHOWN_DIFFERENCES || v->json)
        return;
    text t = {0};
    text_c(&t, "0x");
    text_hex(&t, addr, 1);
    text_c(&t, ": another ");
    text_c(&t, what);
    text_c(&t, "\n  map:   ");
    verify_text_frames(&t, v->got, got);
    text_c(&t, "  image: ");
    verify_text_frames(&t, v->want, want);
    out_text(&t);
    text_free(&t);
}

/* Compares both ends of every range of a map, and the bytes beside them. */
static void verify_compare_ranges(verify *v, const machsym_map *map)
{
    machsym_cursor at = {0, 0};
    machsym_map_range range;
    uint64_t end = 0;
    while (!v->budget.is_spent && machsym_map_next(map, &at, &range)) {
        if (range.lo > end && end != 0)
            verify_compare_addr(v, end); /* in the gap */
        if (range.lo > end)
            verify_compare_addr(v, range.lo - 1);
        verify_compare_addr(v, range.lo);
        if (range.hi - range.lo > 1)
            verify_compare_addr(v, range.hi - 1);
        end = range.hi;
    }
    if (end != 0)
        verify_compare_addr(v, end);
}

/* Compares the bytes with those of a map made anew. Returns whether they are the same. */
static bool verify_compare_bytes(const verify *v, const machsym_map *made)
{
    machsym_bytes a = machsym_map_bytes(v->map_file.map);
    machsym_bytes b = machsym_map_bytes(made);
    const unsigned char *x = a.ptr;
    const unsigned char *y = b.ptr;
    size_t at = 0;
    size_t least = a.len < b.len ? a.len : b.len;
    size_t count = 0;
    if (a.len == b.len && memcmp(x, y, a.len) == 0)
        return true;
    if (v->json)
        return false;
    while (at < least && x[at] == y[at])
        at++;
    for (size_t i = at; i < least; i++)
        count += x[i] != y[i];
    out_format("the bytes differ from those of a map made anew, first at offset %zu (%zu and %zu bytes", at,
               a.len, b.len);
    out_format(a.len == b.len ? ", %zu of them differ)\n" : ")\n", count);
    return false;
}

static bool verify_open(verify *v, const char *map_path, const char *image_path, const char *pair)
{
    symbol_desc desc;
    machsym_map_info info;
    memset(&desc, 0, sizeof desc);
    desc.open.path = v->map_path = map_path;
    desc.any_lines = true;
    if (!map_open_source(&desc, &v->map_file))
        return false;
    machsym_map_get_info(v->map_file.map, &info);
    v->columns = (info.flags & MACHSYM_MAP_COLUMNS) != 0;
    v->unwind = (info.flags & MACHSYM_MAP_UNWIND) != 0;
    desc.open.path = image_path;
    desc.open.pair_path = pair;
    desc.open.uuid = v->map_file.info.has_uuid ? &v->map_file.info.uuid : NULL;
    desc.open.arch = v->map_file.info.arch;
    desc.lines = info.lines;
    if (!symbol_file_open_or_say(&desc, &v->image_file))
        return false;
    if (v->image_file.map != NULL) {
        say_message("%s: a map; name the dSYM or binary that %s was made of", image_path, map_path);
        return false;
    }
    v->map = symbol_source_open(&v->map_file, 0, 0);
    v->image = symbol_source_open(&v->image_file, 0, 0);
    return true;
}

/* A map of a truncated file equals a rebuild from the same truncated file, so equality proves nothing here.
 * Returns whether all is whole. */
static bool verify_tell_damage(const verify *v, const char *image_path, const machsym_part_info *counts)
{
    text what = {0};
    if (counts->damaged_units != 0)
        open_put_misleading(&what, "are damaged", &counts->damage);
    if (counts->damaged_units != 0)
        say_message("%s: %u of %u units of the debug info %s", image_path, counts->damaged_units,
                    counts->unit_count, text_z(&what));
    if (v->map_file.info.is_damaged)
        say_message("%s: the map was made of a damaged file; names, lines and ranges may be missing",
                    v->map_path);
    text_free(&what);
    return counts->damaged_units == 0 && !v->map_file.info.is_damaged && !v->image_file.info.is_damaged;
}

static void verify_tell_json(const verify *v, bool same)
{
    text t = {0};
    json_begin(&t, "map-verify");
    json_put_str(&t, "file", str_c(v->map_path));
    json_put_bool(&t, "same_bytes", same);
    json_put_number(&t, "addresses", v->compared);
    json_put_number(&t, "different", v->different);
    json_put_bool(&t, "damaged", v->map_file.info.is_damaged);
    text_c(&t, "}\n");
    out_text(&t);
    text_free(&t);
}

static bool verify_run(verify *v, const char *image_path, const build_options *how)
{
    machsym_plan_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.image = v->image_file.image;
    desc.lines = v->map_file.lines;
    desc.flags =
        (v->columns ? MACHSYM_MAP_COLUMNS : 0u) | (v->unwind ? MACHSYM_MAP_UNWIND : 0u) | MACHSYM_MAP_DAMAGED;
    machsym_part_info counts;
    machsym_map *made = build_image(&desc, image_path, how, &counts);
    if (made == NULL)
        return false;
    bool same = verify_compare_bytes(v, made);
    v->budget = budget_of(&v->map_file, ASKED);
    verify_compare_ranges(v, v->map_file.map);
    if (!same)
        verify_compare_ranges(v, made); /* the map may have lost some */
    machsym_map_close(made);
    if (v->different > SHOWN_DIFFERENCES && !v->json)
        out_format("... and %llu more\n", (unsigned long long)(v->different - SHOWN_DIFFERENCES));
    if (v->budget.is_spent)
        return false;
    if (v->json)
        verify_tell_json(v, same);
    else if (same && v->different == 0)
        out_line("%s: the same bytes, and the same answers at %llu addresses", v->map_path,
                 (unsigned long long)v->compared);
    else
        out_line("%s: other bytes, or other answers: %llu of %llu addresses differ", v->map_path,
                 (unsigned long long)v->different, (unsigned long long)v->compared);
    return verify_tell_damage(v, image_path, &counts) && same && v->different == 0;
}

typedef struct verify_options {
    const char *pair;
    bool json;
    build_options how;
} verify_options;

static int verify_run_command(int argc, char **argv)
{
    verify_options o;
    verify v;
    memset(&o, 0, sizeof o);
    memset(&v, 0, sizeof v);
    int count = options_parse(&map_verify_command, &o, argc, argv);
    if (count < 0)
        return options_status(count);
    if (count != 2)
        return options_wrong(&map_verify_command, "name a map, then the dSYM or binary that it was made of");
    if (!inside_is_map(argv[1]) && inside_is_map(argv[2]))
        return options_wrong(&map_verify_command, "the map comes first, then what it was made of");
    v.json = o.json;
    v.got = mem_alloc(MAP_MAX_FRAMES * sizeof *v.got);
    v.want = mem_alloc(MAP_MAX_FRAMES * sizeof *v.want);
    bool ok = verify_open(&v, argv[1], argv[2], o.pair) && verify_run(&v, argv[2], &o.how);
    symbol_source_close(v.map);
    symbol_source_close(v.image);
    symbol_file_close(&v.map_file);
    symbol_file_close(&v.image_file);
    free(v.got);
    free(v.want);
    return ok ? TOOL_OK : TOOL_ERROR;
}

static const option table[] = {
    {"pair", "FILE", "the other half: the binary to a dSYM, or the dSYM to a binary",
     offsetof(verify_options, pair), NULL},
    {"j", "N", "threads; without it one for each processor that may be used",
     offsetof(verify_options, how.jobs), take_jobs},
    {"json", NULL, "one JSON object, in place of lines", offsetof(verify_options, json), NULL},
    {0},
};

const command map_verify_command = {
    "map verify",
    "builds the map again and compares every range",
    "[options] FILE.symmap FILE.dSYM",
    "Builds the map of an image again and compares every range with those of a map.\n",
    {{table, 0}},
    NULL,
    verify_run_command,
    NULL,
};
