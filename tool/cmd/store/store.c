/* machsym store: symbols kept by UUID: list, missing, gc, verify; add.c adds. */
#include "store.h"
#include "../../../report/base/digits.h"
#include "../../../report/base/json_put.h"
#include "../../base/out.h"
#include "../../base/posix.h"
#include "../../base/readfile.h"
#include "../../base/say.h"
#include "../crash/crash.h"
#include "../../files/inside.h"
#include "../../symbols/keep.h"
#include "../../symbols/layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum {
    DAY = 24 * 60 * 60,
    MAX_DAYS = 100000, /* what --older takes: more days than there are files */
    DATE_LENGTH = 32
};

/* ---- What is printed of an image ---- */

void store_cmd_put_name(text *t, const char *name, const char *version, const char *build)
{
    text_c(t, name[0] != 0 ? name : "(no name)");
    text_c(t, version[0] != 0 ? " " : "");
    text_c(t, version);
    if (build[0] == 0)
        return;
    text_c(t, " (");
    text_c(t, build);
    text_char(t, ')');
}

void store_cmd_put_json(text *t, const machsym_uuid *uuid, const char *arch, const char *name,
                        const char *version, const char *build)
{
    json_put_uuid(t, "uuid", uuid);
    json_put_str(t, "name", str_c(name));
    json_put_str(t, "version", str_c(version));
    json_put_str(t, "build", str_c(build));
    json_put_str(t, "arch", str_c(arch));
}

static void store_cmd_put_date(int64_t seconds, const char *format, char *out)
{
    time_t when = (time_t)seconds;
    struct tm parts;
    out[0] = 0;
    if (gmtime_r(&when, &parts) != NULL)
        strftime(out, DATE_LENGTH, format, &parts);
}

static void store_cmd_put_size(text *t, uint64_t bytes)
{
    char written[32];
    if (bytes < 1000000)
        snprintf(written, sizeof written, "%.1f KB", (double)bytes / 1e3);
    else
        snprintf(written, sizeof written, bytes < 1000000000 ? "%.1f MB" : "%.2f GB",
                 (double)bytes / (bytes < 1000000000 ? 1e6 : 1e9));
    text_c(t, written);
}

static const char *store_cmd_kept_kind(const kept_image *image)
{
    /* by dSYM, binary, map */
    static const char *const kinds[] = {"incomplete", "map",  "binary", "binary+map",
                                        "dsym",       "both", "pair",   "all"};
    unsigned at = (image->dsym != NULL ? 4u : 0) + (image->binary != NULL ? 2u : 0) + (image->map != NULL);
    return at == 0 && image->incomplete == NULL ? "unread" : kinds[at];
}

static uint64_t store_cmd_kept_size(const kept_image *image)
{
    return image->dsym_size + image->binary_size + image->map_size;
}

static void store_cmd_pad(text *t, size_t from, size_t column)
{
    do
        text_char(t, ' ');
    while (t->len - from < column);
}

/* One image as a line of a table, or as JSON up to its closing bracket. */
static void store_cmd_put_image(text *t, const kept_image *image)
{
    char date[DATE_LENGTH];
    text size = {0};
    size_t from = t->len;
    store_cmd_put_date(image->date, "%Y-%m-%d", date);
    store_cmd_put_size(&size, store_cmd_kept_size(image));
    text_uuid(t, &image->uuid);
    store_cmd_pad(t, from, 38);
    text_c(t, image->arch);
    store_cmd_pad(t, from, 47);
    text_c(t, date);
    for (size_t i = size.len; i < 11; i++)
        text_char(t, ' ');
    text_add(t, size.v, size.len);
    text_c(t, "  ");
    text_c(t, store_cmd_kept_kind(image));
    store_cmd_pad(t, from, 76);
    store_cmd_put_name(t, image->name, image->version, image->build);
    text_free(&size);
}

static void store_cmd_put_image_json(text *t, const char *schema, const kept_image *image)
{
    char date[DATE_LENGTH];
    store_cmd_put_date(image->date, "%Y-%m-%dT%H:%M:%SZ", date);
    json_begin(t, schema);
    store_cmd_put_json(t, &image->uuid, image->arch, image->name, image->version, image->build);
    json_put_str(t, "kept", str_c(store_cmd_kept_kind(image)));
    json_put_str(t, "date", str_c(date));
    json_put_number(t, "dsym_size", image->dsym_size);
    json_put_number(t, "binary_size", image->binary_size);
    json_put_number(t, "map_size", image->map_size);
}

/* ---- list ---- */

typedef struct list_options {
    bool json;
} list_options;

static int store_cmd_by_name(const void *a, const void *b)
{
    const kept_image *x = a;
    const kept_image *y = b;
    int order = strcmp(x->name, y->name);
    if (order == 0)
        order = strcmp(x->arch, y->arch);
    if (order != 0)
        return order;
    if (x->date != y->date)
        return x->date > y->date ? -1 : 1;
    return memcmp(&x->uuid, &y->uuid, sizeof x->uuid);
}

/* Reads a store: its images by name and architecture, the newest of each first. */
static bool store_cmd_read_by_name(const char *dir, kept_list *out)
{
    if (!kept_read(dir, out))
        return false;
    if (out->count > 0)
        qsort(out->v, out->count, sizeof *out->v, store_cmd_by_name);
    return true;
}

static int store_cmd_run_list(int argc, char **argv)
{
    list_options o = {false};
    kept_list list;
    text t = {0};
    int count = options_parse(&store_list_command, &o, argc, argv);
    if (count < 0)
        return options_status(count);
    if (count != 1)
        return options_wrong(&store_list_command, count == 0 ? "no store is named" : "one store at a time");
    if (!store_cmd_read_by_name(argv[1], &list))
        return TOOL_ERROR;
    for (size_t i = 0; i < list.count && !out_failed(); i++) {
        size_t from = t.len;
        if (o.json)
            store_cmd_put_image_json(&t, "store-list", &list.v[i]);
        else
            store_cmd_put_image(&t, &list.v[i]);
        if (o.json)
            text_c(&t, "}\n");
        else
            text_end_line(&t, from);
        out_text(&t);
    }
    text_free(&t);
    bool ok = !list.has_failed;
    kept_free(&list);
    return ok ? TOOL_OK : TOOL_ERROR;
}

static const option list_table[] = {
    {"json", NULL, "one JSON object an image", offsetof(list_options, json), NULL},
    {0},
};

const command store_list_command = {
    "store list",
    "what a store has: UUID, architecture, date, size, name, version",
    "[options] DIR",
    "Prints a line for each image of a store, by name, the newest first: UUID, architecture, when it was "
    "added, size,\n"
    "what is kept of it, name, version and build. Kept are: dsym, binary, map; both: a dSYM and a map; pair: "
    "a dSYM\n"
    "and its binary; all: these three; incomplete: what a killed run left.\n",
    {{list_table, 0}},
    NULL,
    store_cmd_run_list,
    NULL,
};

/* ---- missing ---- */

typedef struct missing_options {
    const char *files_from;
    bool json;
} missing_options;

/* A UUID of the command line. Prints it if the store lacks it. Returns false when it does, or after a message
 * when that is not known. */
static bool store_cmd_print_missing_uuid(const char *dir, const machsym_uuid *uuid, bool is_json)
{
    struct stat st;
    kept_files files;
    text path = {0};
    text t = {0};
    layout_path(&path, dir, uuid, LAYOUT_MAP);
    bool has = stat(path.v, &st) == 0;
    bool ok = has || errno == ENOENT || errno == ENOTDIR;
    if (!ok)
        say_message("%s: %s", path.v, strerror(errno));
    ok = ok && kept_find(dir, uuid, &files);
    if (ok) {
        has = has || files.dsym.len > 0 || files.binary.len > 0;
        kept_files_free(&files);
    }
    if (ok && !has && is_json) {
        json_begin(&t, "store-missing");
        json_put_uuid(&t, "uuid", uuid);
        text_c(&t, "}\n");
    } else if (ok && !has) {
        text_uuid(&t, uuid);
        text_char(&t, '\n');
    }
    out_text(&t);
    text_free(&path);
    text_free(&t);
    return ok && has;
}

/* Whether a file begins with a UUID: a list of what is wanted, which --files-from takes. Says so. */
static bool store_cmd_is_list(const char *path)
{
    char head[64];
    size_t len = file_read_begin(path, head, sizeof head);
    machsym_str rest = str_make(head, len);
    machsym_str line;
    machsym_uuid uuid;
    bool is = len > 0 && str_take_line(&rest, &line) && parse_uuid_str(str_trim(line), &uuid);
    if (is)
        say_message("%s: a list of UUIDs, not a report: pass it with --files-from", path);
    return is;
}

/* What the reports want, as machsym crash tells it. */
static int store_cmd_print_missing_reports(const char *dir, const path_list *reports, bool is_json)
{
    static crash_options crash;
    crash_options_begin(&crash);
    crash.stores[crash.store_count++] = dir;
    crash.missing = is_json ? MISSING_JSON : MISSING_TEXT;
    crash.json = is_json;
    crash.quiet = true;
    crash.fails_missing = true;
    return crash_run_reports(&crash, reports->v, NULL, reports->count);
}

/* Says of a word that it is a part of a UUID, if it is one and no file. */
static bool store_cmd_is_part_of_uuid(const char *word)
{
    struct stat st;
    size_t len = strspn(word, "0123456789abcdefABCDEF-");
    if (hex_digit(word[0]) < 0 || word[len] != 0 || stat(word, &st) == 0)
        return false;
    say_message(
        "%s is no UUID: these have 32 hexadecimal digits, with or without dashes; nor is there such a report",
        word);
    return true;
}

static int store_cmd_run_missing(int argc, char **argv)
{
    missing_options o = {NULL, false};
    path_list wanted = {NULL, 0, 0};
    path_list reports = {NULL, 0, 0};
    int status = TOOL_OK;
    int count = options_parse(&store_missing_command, &o, argc, argv);
    if (count < 0)
        return options_status(count);
    if (count == 0 || (count == 1 && o.files_from == NULL))
        return options_wrong(&store_missing_command,
                             count == 0 ? "no store is named" : "no UUID and no report is named");
    if (!kept_is_folder(argv[1]))
        return TOOL_ERROR;
    if (o.files_from != NULL && !inside_read_list(o.files_from, &wanted))
        status = TOOL_ERROR;
    for (int i = 2; i <= count; i++)
        path_list_add(&wanted, argv[i]);
    for (size_t i = 0; i < wanted.count; i++) {
        machsym_uuid uuid;
        bool ok = parse_uuid(wanted.v[i], &uuid)
                      ? store_cmd_print_missing_uuid(argv[1], &uuid, o.json)
                      : !store_cmd_is_part_of_uuid(wanted.v[i]) && !store_cmd_is_list(wanted.v[i]) &&
                            inside_expand_reports(wanted.v[i], &reports);
        status = ok ? status : TOOL_ERROR;
    }
    if (reports.count > 0 && store_cmd_print_missing_reports(argv[1], &reports, o.json) != TOOL_OK)
        status = TOOL_ERROR;
    path_list_free(&wanted);
    path_list_free(&reports);
    return status;
}

static const option missing_table[] = {
    {"files-from", "LIST",
     "a file that names UUIDs and reports, a line each or ended by NULs; - is standard input",
     offsetof(missing_options, files_from), NULL},
    {"json", NULL, "one JSON object a UUID, and one for all reports", offsetof(missing_options, json), NULL},
    {0},
};

const command store_missing_command = {
    "store missing",
    "which of the images of reports, or of UUIDs, a store lacks",
    "[options] DIR UUID|REPORT ...",
    "Prints those of the UUIDs that a store lacks, and the images that reports want and it lacks, most "
    "wanted first.\n",
    {{missing_table, 0}},
    "exit status: 0 nothing is missing, 1 something is, or cannot be looked at, 2 usage\n",
    store_cmd_run_missing,
    NULL,
};

/* ---- gc ---- */

typedef struct gc_options {
    unsigned older; /* days; 0: of any age */
    unsigned keep;  /* 0: however many there are */
    bool yes;
    bool json;
} gc_options;

/* What is not whole may still be written, but not after a day. */
static bool store_cmd_is_garbage(const gc_options *o, const kept_image *image, unsigned rank, int64_t now)
{
    if (image->has_failed)
        return false; /* its age is not known */
    if (image->incomplete != NULL)
        return now - image->date > DAY;
    return (o->older == 0 || (now - image->date) / DAY >= (int64_t)o->older) &&
           (o->keep == 0 || rank >= o->keep);
}

static void store_cmd_tell_removed(const gc_options *o, const kept_image *image)
{
    text t = {0};
    if (o->json) {
        store_cmd_put_image_json(&t, "store-gc", image);
        json_put_bool(&t, "removed", o->yes);
        text_c(&t, "}\n");
    } else {
        store_cmd_put_image(&t, image);
        text_end_line(&t, 0);
    }
    out_text(&t);
    text_free(&t);
}

/* What killed runs left goes, whatever its age: no run writes it any more. The folders that are empty then go
 * too. */
static bool store_cmd_remove_left(const gc_options *o, const char *dir, const kept_list *list)
{
    size_t removed = 0;
    bool ok = true;
    for (size_t i = 0; i < list->left_count; i++) {
        bool is_gone = !o->yes || posix_remove_abandoned(list->left[i]);
        if (!is_gone && posix_is_abandoned(list->left[i])) {
            say_message("%s: cannot be removed", list->left[i]);
            ok = false;
        }
        removed += is_gone;
    }
    if (list->left_count > 0)
        say_plain("%zu files that killed runs left: %s", removed, o->yes ? "removed" : "would be removed");
    return (!o->yes || kept_remove_empty(dir)) && ok;
}

static bool store_cmd_collect(const gc_options *o, const char *dir, const kept_list *list)
{
    int64_t now = (int64_t)time(NULL);
    uint64_t bytes = 0;
    size_t removed = 0;
    unsigned rank = 0;
    bool ok = true;
    text t = {0};
    for (size_t i = 0; i < list->count; i++) {
        const kept_image *image = &list->v[i];
        bool is_first =
            i == 0 || strcmp(image->name, image[-1].name) != 0 || strcmp(image->arch, image[-1].arch) != 0;
        rank = is_first ? 0 : rank + 1;
        if (!store_cmd_is_garbage(o, image, rank, now))
            continue;
        if (o->yes && !kept_remove(dir, image)) {
            ok = false;
            continue;
        }
        store_cmd_tell_removed(o, image);
        removed++;
        bytes += store_cmd_kept_size(image);
    }
    store_cmd_put_size(&t, bytes);
    say_plain("%zu of %zu images, %s: %s", removed, list->count, text_z(&t),
              o->yes ? "removed" : "would be removed; --yes removes them");
    text_free(&t);
    return ok;
}

static int store_cmd_run_gc(int argc, char **argv)
{
    gc_options o = {0, 0, false, false};
    kept_list list;
    int count = options_parse(&store_gc_command, &o, argc, argv);
    if (count < 0)
        return options_status(count);
    if (count != 1)
        return options_wrong(&store_gc_command, count == 0 ? "no store is named" : "one store at a time");
    if (o.older == 0 && o.keep == 0)
        return options_wrong(&store_gc_command, "what may go is not said: pass --older, --newest or both");
    if (!store_cmd_read_by_name(argv[1], &list))
        return TOOL_ERROR;
    bool ok = store_cmd_collect(&o, argv[1], &list) && !list.has_failed;
    ok = store_cmd_remove_left(&o, argv[1], &list) && ok;
    kept_free(&list);
    return ok ? TOOL_OK : TOOL_ERROR;
}

/* A number from 1 on. */
static bool store_cmd_take_count(void *field, const char *value)
{
    char *end;
    unsigned long number = strtoul(value, &end, 10);
    bool ok = value[0] >= '0' && value[0] <= '9' && *end == 0 && number > 0 && number <= MAX_DAYS;
    if (ok)
        *(unsigned *)field = (unsigned)number;
    else
        say_message("%s is no number from 1 to %d: --older takes days, --newest builds", value,
                    (int)MAX_DAYS);
    return ok;
}

static const option gc_table[] = {
    {"older", "DAYS", "what was added at least DAYS days ago", offsetof(gc_options, older),
     store_cmd_take_count},
    {"newest", "N", "what is not among the N that were added last of its name and architecture",
     offsetof(gc_options, keep), store_cmd_take_count},
    {"yes", NULL, "remove it; without this it is only shown", offsetof(gc_options, yes), NULL},
    {"json", NULL, "one JSON object an image", offsetof(gc_options, json), NULL},
    {0},
};

const command store_gc_command = {
    "store gc",
    "removes what is old, or all but the newest of an app",
    "[options] DIR",
    "Shows what could go from a store by --older or --newest, of both only what both name; with --yes "
    "removes it. What\n"
    "killed runs left incomplete goes after a day, their temporary files and empty folders at once.\n",
    {{gc_table, 0}},
    NULL,
    store_cmd_run_gc,
    NULL,
};

/* ---- verify ---- */

/* Why a map is no good; NULL when it is. */
static const char *store_cmd_check_map(const kept_image *image, machsym_error *err)
{
    machsym_map_desc desc = {.path = image->map};
    machsym_map_info info;
    machsym_map *map;
    if (machsym_map_open(&desc, &map, err) != MACHSYM_OK)
        return err->what;
    machsym_map_get_info(map, &info);
    bool is_other = memcmp(&info.uuid, &image->uuid, sizeof info.uuid) != 0;
    machsym_map_close(map);
    return is_other ? "the map is of another UUID than its name says" : NULL;
}

/* Why a Mach-O file is no good; NULL when it is. Decodes all of it. */
static const char *store_cmd_check_macho(const kept_image *image, const char *path, machsym_error *err)
{
    static const build_options how;
    store_worth worth;
    if (!store_cmd_judge(path, NULL, &image->uuid, &how, &worth))
        return "it could not be looked at";
    *err = worth.err;
    return !worth.opens || worth.damage > 0 ? err->what : NULL;
}

/* Why an Info.plist is no good; NULL when it is, or there is none. */
static const char *store_cmd_check_plist(const char *path, machsym_error *err)
{
    struct stat st;
    text plist = {0};
    text version = {0};
    text build = {0};
    if (stat(path, &st) != 0 && errno == ENOENT)
        return NULL;
    const char *why = file_read(&plist, path);
    if (why == NULL && !kept_version(str_make(plist.v, plist.len), &version, &build, err))
        why = err->what;
    text_free(&plist);
    text_free(&version);
    text_free(&build);
    return why;
}

/* Reports one file; image is NULL if it belongs to no image. Returns whether it is good. */
static bool store_cmd_tell_checked(const kept_image *image, const char *path, const char *why,
                                   const machsym_error *err, bool is_json)
{
    say_progress_end();
    text t = {0};
    if (is_json) {
        json_begin(&t, "store-verify");
        if (image != NULL)
            json_put_uuid(&t, "uuid", &image->uuid);
        else
            json_put_str(&t, "uuid", str_c(""));
        json_put_str(&t, "file", str_c(path));
        json_put_bool(&t, "good", why == NULL);
        json_put_str(&t, "why", str_c(why != NULL ? why : ""));
        text_c(&t, "}\n");
        out_text(&t);
    } else if (why != NULL && err->what == why) {
        say_error(path, err);
    } else if (why != NULL) {
        say_message("%s: %s", path, why);
    }
    text_free(&t);
    return why == NULL;
}

static bool store_cmd_verify_image(const char *dir, const kept_image *image, bool is_json)
{
    const struct {
        const char *path;
        bool is_map;
    } files[] = {{image->map, true}, {image->dsym, false}, {image->binary, false}, {image->other, false}};
    text plist = {0};
    bool good = !image->has_failed;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        machsym_error err = {MACHSYM_OK, 0, NULL, NULL, 0};
        if (files[i].path == NULL)
            continue;
        const char *why = files[i].is_map ? store_cmd_check_map(image, &err)
                                          : store_cmd_check_macho(image, files[i].path, &err);
        good = store_cmd_tell_checked(image, files[i].path, why, &err, is_json) && good;
    }
    machsym_error err = {MACHSYM_OK, 0, NULL, NULL, 0};
    layout_path(&plist, dir, &image->uuid, LAYOUT_PLIST);
    const char *why = store_cmd_check_plist(plist.v, &err);
    if (why != NULL)
        good = store_cmd_tell_checked(image, plist.v, why, &err, is_json) && good;
    if (image->incomplete != NULL)
        good = store_cmd_tell_checked(image, image->incomplete, "incomplete: a run that added it was killed",
                                      &err, is_json) &&
               good;
    text_free(&plist);
    return good;
}

static int store_cmd_run_verify(int argc, char **argv)
{
    list_options o = {false};
    kept_list list;
    size_t bad = 0;
    int count = options_parse(&store_verify_command, &o, argc, argv);
    if (count < 0)
        return options_status(count);
    if (count != 1)
        return options_wrong(&store_verify_command, count == 0 ? "no store is named" : "one store at a time");
    if (!store_cmd_read_by_name(argv[1], &list))
        return TOOL_ERROR;
    for (size_t i = 0; i < list.count; i++) {
        say_progress("verify", i, list.count);
        bad += !store_cmd_verify_image(argv[1], &list.v[i], o.json);
    }
    say_progress_end();
    for (size_t i = 0; i < list.left_count; i++) {
        machsym_error err = {MACHSYM_OK, 0, NULL, NULL, 0};
        store_cmd_tell_checked(NULL, list.left[i], "a killed run left it; machsym store gc --yes removes it",
                               &err, o.json);
    }
    say_plain("%zu images are good, %zu are not%s", list.count - bad, bad,
              bad > 0 ? "; machsym store add --force writes them anew" : "");
    bool ok = bad == 0 && list.left_count == 0 && !list.has_failed;
    if (list.has_failed)
        say_plain("not all of the store could be looked at");
    kept_free(&list);
    return ok ? TOOL_OK : TOOL_ERROR;
}

static const option verify_table[] = {
    {"json", NULL, "one JSON object a file", offsetof(list_options, json), NULL},
    {0},
};

const command store_verify_command = {
    "store verify",
    "whether all that a store has is whole",
    "[options] DIR",
    "Reads every file of a store: maps against their checksums; dSYMs and binaries whole, as for a map; all "
    "for the "
    "UUID\n"
    "that their names say. Names what killed runs left.\n",
    {{verify_table, 0}},
    "exit status: 0 all is good, 1 something is not, 2 usage\n",
    store_cmd_run_verify,
    NULL,
};

/* ---- All of them ---- */

static const command *const below[] = {&store_add_command, &store_list_command,   &store_missing_command,
                                       &store_gc_command,  &store_verify_command, NULL};

const command store_command = {
    "store",
    "symbols kept by UUID: add, list, missing, gc, verify",
    "COMMAND ...",
    "Keeps symbols in a folder by their UUIDs, where atos --symbols, crash -d and others find them.\n",
    {{NULL, 0}},
    NULL,
    NULL,
    below,
};
