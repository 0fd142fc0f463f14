/* machsym crash: whole reports in, readable reports out. */
#include "crash.h"
#include "../../../report/base/digits.h"
#include "../../../report/model/links.h"
#include "../../base/posix.h"
#include "../../base/readfile.h"
#include "../../base/say.h"
#include "../commands.h"
#include "../../files/inside.h"
#include "../../files/outfile.h"
#include "../../symbols/context.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Lines of source around one, unless an option says how many. */
enum { CONTEXT_LINES = 3 };

/* ---- Options ---- */

static bool crash_add_path(const char **list, size_t *count, const char *path)
{
    if (*count == MAX_STORES) {
        say_message("at most %d of these", (int)MAX_STORES);
        return false;
    }
    list[(*count)++] = path;
    return true;
}

static bool crash_take_store(void *to, const char *value)
{
    crash_options *o = to;
    return crash_add_path(o->stores, &o->store_count, value);
}

static bool crash_take_map(void *to, const char *value)
{
    crash_options *o = to;
    return crash_add_path(o->maps, &o->map_count, value);
}

/* NAME=ADDR */
static bool crash_take_load(void *to, const char *value)
{
    crash_options *o = to;
    const char *equals = strrchr(value, '=');
    report_load load;
    if (equals == NULL || equals == value || !parse_hex(equals + 1, strlen(equals + 1), &load.base)) {
        say_message("--load wants NAME=ADDRESS, the address in hexadecimal");
        return false;
    }
    if (o->load_count == MAX_LOADS) {
        say_message("at most %d --load", (int)MAX_LOADS);
        return false;
    }
    load.name = str_make(value, (size_t)(equals - value));
    o->loads[o->load_count++] = load;
    return true;
}

static bool crash_take_format(void *field, const char *value)
{
    static const char *const words[] = {"same", "text", "json"};
    unsigned index;
    if (!take_word("--to", value, words, 3, &index))
        return false;
    *(crash_format *)field = (crash_format)index;
    return true;
}

static bool crash_take_colour(void *field, const char *value)
{
    static const char *const words[] = {"auto", "always", "never"};
    unsigned index;
    if (!take_word("--color", value, words, 3, &index))
        return false;
    *(crash_colour *)field = (crash_colour)index;
    return true;
}

/* A number that is not negative, up to a comma or the end; stays where the text has none. Returns after
 * it, NULL when there is something else. */
static const char *crash_take_number(const char *at, double *number)
{
    char *end;
    if (*at == ',' || *at == 0)
        return at;
    if ((*at < '0' || *at > '9') && *at != '.')
        return NULL;
    *number = strtod(at, &end);
    return *end == ',' || *end == 0 ? end : NULL;
}

/* SECONDS,MEGABYTES */
static bool crash_take_limit(void *field, const char *value)
{
    resolve_limit *limit = field;
    double megabytes = -1;
    const char *end = crash_take_number(value, &limit->seconds);
    if (end != NULL && *end == ',')
        end = crash_take_number(end + 1, &megabytes);
    if (end == NULL || *end != 0 || value[0] == 0) {
        say_message("--limit wants SECONDS,MEGABYTES, not %s; either may be left out", value);
        return false;
    }
    if (megabytes >= 0)
        limit->bytes = megabytes > 0 ? megabytes * (1 << 20) : HUGE_VAL;
    return true;
}

static bool crash_take_only(void *field, const char *value)
{
    text why = {0};
    bool ok = only_add(field, value, &why);
    if (!ok)
        say_message("--only %s", text_z(&why));
    text_free(&why);
    return ok;
}

static bool crash_take_machinery(void *field, const char *value)
{
    machinery **list = field;
    text source = {0};
    const char *why = file_read_words(&source, value);
    if (why != NULL) {
        say_message("%s: %s", value, why);
        text_free(&source);
        return false;
    }
    machinery_free(*list);
    *list = machinery_make(&source);
    return true;
}

static bool crash_take_line_map(void *field, const char *value)
{
    return line_map_read(field, value);
}

static bool crash_take_missing(void *field, const char *value)
{
    bool is_json = strcmp(value, "json") == 0;
    *(missing_form *)field = is_json ? MISSING_JSON : MISSING_TEXT;
    if (is_json || strcmp(value, "text") == 0)
        return true;
    say_message("--missing is one of text, json, not %s", value);
    return false;
}

static bool crash_take_json_out(void *field, const char *value)
{
    *(const char **)field = value;
    if (strcmp(value, "-") != 0)
        return true;
    say_message("--json-out wants a file: --json prints JSON on standard output");
    return false;
}

static bool crash_take_link(void *field, const char *value)
{
    const char *why = links_take_template(field, str_c(value));
    if (why != NULL)
        say_message("--link=%s: %s", value, why);
    return why == NULL;
}

static bool crash_take_root(void *field, const char *value)
{
    const char *why = links_add_root(field, str_c(value));
    if (why != NULL)
        say_message("--source-root=%s: %s", value, why);
    return why == NULL;
}

static bool crash_take_commit(void *field, const char *value)
{
    ((link_rules *)field)->commit = str_c(value);
    return true;
}

static bool crash_take_context(void *field, const char *value)
{
    char *end;
    unsigned long lines = strtoul(value, &end, 10);
    bool ok = value[0] >= '0' && value[0] <= '9' && *end == 0 && lines > 0 && lines <= CONTEXT_MAX;
    if (ok)
        *(unsigned *)field = (unsigned)lines;
    else
        say_message("--context wants a number of lines from 1 to %d, not %s", (int)CONTEXT_MAX, value);
    return ok;
}

static bool crash_take_inline(void *field, const char *value)
{
    (void)value;
    *(bool *)field = false;
    return true;
}

const option crash_lookup_table[] = {
    {"d symbols", "PATH",
     "where symbols are: a file, a folder and all below it, a .dSYM, an\n.xcarchive, a zip or tar with "
     "them, a .symmap (made with map build\n--lines=people), a dyld shared cache, a DeviceSupport folder; "
     "may "
     "repeat.\ncrash without it looks beside the report, and in the current folder",
     0, crash_take_store},
    {"bcsymbolmap", "PATH",
     "a folder or archive of .bcsymbolmap files, or one; those beside a dSYM are found\nanyway", 0,
     crash_take_map},
    {"load", "NAME=ADDR", "an image that the report does not list, and where it was loaded; may repeat", 0,
     crash_take_load},
    {"no-uuid", NULL,
     "an image that the report lists without a UUID is the file of its name; without\nthis such images get "
     "no "
     "names, since the file may be of another build",
     offsetof(crash_options, resolve.no_uuid), NULL},
    {"no-cache", NULL, "look through all folders anew, and remember nothing",
     offsetof(crash_options, no_cache), NULL},
    {"copy", NULL, "read files into memory first: safe when others may truncate them",
     offsetof(crash_options, copy), NULL},
    {NULL, NULL, "", 0, NULL},
    {"all", NULL, "look up frames too that have a name already", offsetof(crash_options, resolve.all), NULL},
    {"no-inline", NULL, "only the real function of each frame, as atos without -i",
     offsetof(crash_options, resolve.no_inline), NULL},
    {"inline", NULL, "inlined calls too (default)", offsetof(crash_options, resolve.no_inline),
     crash_take_inline},
    {"full-path fullPath", NULL, "whole paths in place of base names",
     offsetof(crash_options, write.full_path), NULL},
    {"full-names", NULL, "Swift names with modules and types",
     offsetof(crash_options, resolve.style.demangle_flags), take_full_names},
    {"no-demangle", NULL, "names as the linker knows them", offsetof(crash_options, resolve.style.raw_names),
     NULL},
    {"lines", "atos|dwarf|stmt|people",
     "people (default): line 0 in a function that somebody wrote takes a line near\nby; atos, dwarf and "
     "stmt: "
     "what the line table has, as in machsym atos",
     offsetof(crash_options, lines), take_lines},
    {"names", "symtab|dwarf", HELP_NAMES, offsetof(crash_options, session_flags), take_names},
    {"best-line", NULL, "line 0 takes the line of the nearest frame that has one",
     offsetof(crash_options, session_flags), take_best_line},
    {"line-map", "PATH",
     "files and lines of C# in place of the C++ that Unity's il2cpp made of it:\nLineNumberMappings.json, a "
     "C++ "
     "file with source_info comments, or a folder of\nsuch files; may repeat",
     offsetof(crash_options, csharp), crash_take_line_map},
    {"owners", "RULES",
     "whose code it is, by a file of rules: see machsym owners --help. --summary\ntells whose fault it is: "
     "that of the first function that has an owner",
     offsetof(crash_options, rules), owners_take_rules},
    {"link", "TEMPLATE",
     "a link to each line in JSON, the page and briefs:\nhttps://host/blob/{commit}/{path}#L{line}; also "
     "{column}, "
     "and {version} and {build} of the\nreport",
     offsetof(crash_options, resolve.links), crash_take_link},
    {"commit", "WORD", "what {commit} in that is: a commit, branch or tag",
     offsetof(crash_options, resolve.links), crash_take_commit},
    {"source-root", "FROM=TO",
     "paths of debug info that begin with FROM begin with TO in links, and in the\nfolder of --sources; "
     "others get "
     "none then. May repeat: the first that fits",
     offsetof(crash_options, resolve.links), crash_take_root},
    {"sources", "DIR", "a folder with the sources, for --context; nothing outside it is read",
     offsetof(crash_options, resolve.sources.folder), NULL},
    {"context", "N", "N lines of source before and after each line, in JSON (3 with --sources)",
     offsetof(crash_options, context), crash_take_context},
    {"raw-addresses", NULL, "look return addresses up as they are, not one byte before",
     offsetof(crash_options, resolve.raw_addresses), NULL},
    {"check-stack", NULL,
     "whether the frames can have called each other, by the code of the programs that\n-d names: why a "
     "frame cannot is written after it. A caller of the first frame\nthat only lr has is added",
     offsetof(crash_options, resolve.check_stack), NULL},
    {"machinery", "FILE",
     "functions that tell nothing of a crash, a name or IMAGE`NAME a line, * at its\nend for all that begin "
     "so; beside "
     "the built-in lists: abort and its like, and\nwhat panics of Rust, Go, .NET, Kotlin, Unity, Flutter and "
     "Swift go through",
     offsetof(crash_options, machinery), crash_take_machinery},
    {"redact", NULL,
     "take out names of users' folders and devices, identifiers of devices,\nusers and incidents: equal ones "
     "stay "
     "equal",
     offsetof(crash_options, is_redacted), NULL},
    {"redact-key", "WORDS", "the same, with replacements that are equal in every run with these secret words",
     offsetof(crash_options, redact_key), NULL},
    {"limit", "SECONDS,MEGABYTES",
     "what the lookups of one report may take; past it that report fails, and\nthe others go on. 300 "
     "seconds, and 32 "
     "MB of names and 64 times the\nreport's length, without it; 0 is no limit",
     offsetof(crash_options, resolve.limit), crash_take_limit},
    {0},
};

static const option table[] = {
    {NULL, NULL, "", 0, NULL},
    {"only", "WHAT=TEXT",
     "only reports that fit; the others are left out. WHAT is process, version, kind\n(EXC_BAD_ACCESS, "
     "SIGKILL, hang, 309), image (on the stack that tells), owner\n(whose fault it is, with --owners), "
     "since or until (a day, 2026-03-14); TEXT\nmay end in *. May repeat: of each WHAT one must fit",
     offsetof(crash_options, only), crash_take_only},
    {"files-from", "LIST", "a file that names reports, a line each or ended by NULs; - is standard input",
     offsetof(crash_options, files_from), NULL},
    {"j", "N", "reports at a time", offsetof(crash_options, jobs), take_jobs},
    {NULL, NULL, "", 0, NULL},
    {"o", "FILE|DIR", "where to write; a folder when there are several reports; - is standard output",
     offsetof(crash_options, output), NULL},
    {"force", NULL, "replace files that are in that folder already", offsetof(crash_options, force), NULL},
    {"to", "same|text|json", "same: the input's (default); text: Apple's classic text; json: machsym's own",
     offsetof(crash_options, format), crash_take_format},
    {"apple", NULL,
     "what Apple's own tools print: --to=text with lines of the addresses as they\nare "
     "(--lines=atos --raw-addresses) and nothing that is ours",
     offsetof(crash_options, write.is_apple), NULL},
    {"json", NULL, "JSON, one object a line: of the report, or with these of what they print",
     offsetof(crash_options, json), NULL},
    {"html", NULL,
     "a page that needs no other file: what happened, where, the stack; with --redact\nto send to others",
     offsetof(crash_options, html), NULL},
    {"json-out", "FILE", "JSON of each report too, an object a line, by the same lookups",
     offsetof(crash_options, json_out), crash_take_json_out},
    {"q quiet", NULL, "nothing on standard error but errors", offsetof(crash_options, quiet), NULL},
    {"color", "auto|always|never",
     "auto (default): a summary has colours on a terminal, unless NO_COLOR is set",
     offsetof(crash_options, colour), crash_take_colour},
    {"strict check", NULL, "exit with 1 when a frame of an image with a UUID stayed without a name",
     offsetof(crash_options, strict), NULL},
    {NULL, NULL, "", 0, NULL},
    {"summary", NULL, "what happened, in words, in place of the report", offsetof(crash_options, summary),
     NULL},
    {"brief", NULL,
     "the same for programs and agents: at most 1,500 bytes of JSON a report: what, where,\nwhose, what is "
     "missing "
     "and what to do",
     offsetof(crash_options, brief), NULL},
    {"signature", NULL, "hash and text of the app's top frames, the same for every report of a crash",
     offsetof(crash_options, signature), NULL},
    {"group", NULL, "groups of reports with equal, then similar signatures, largest first",
     offsetof(crash_options, group), NULL},
    {"groups-in", "STATE",
     "--group goes on with what an earlier run counted, and tells of each group since\nwhen, in which "
     "versions, and what is new, rising or back",
     offsetof(crash_options, groups_in), NULL},
    {"groups-out", "STATE",
     "--group keeps what was counted for a later run; not when every report failed, when a\nfile of symbols "
     "or another output did, nor when another run has written STATE meanwhile",
     offsetof(crash_options, groups_out), NULL},
    {"missing", "text|json",
     "which images have no debug info, how many frames and reports wait for each,\nmost wanted first: text, "
     "or "
     "json for machines. Without it the table goes\nto standard error",
     offsetof(crash_options, missing), crash_take_missing},
    {0},
};

/* ---- The command ---- */

/* Adds a path that was named, or what is in it. found: a byte a report, 1 when it was not named itself. */
static bool crash_gather_one(const char *named, path_list *out, text *found)
{
    size_t from = out->count;
    bool ok = inside_expand_reports(named, out);
    bool is_itself = out->count == from + 1 && strcmp(out->v[from], named) == 0;
    while (found->len < out->count)
        text_char(found, is_itself ? 0 : 1);
    return ok;
}

/* The reports of the command line and of a list: those in archives and folders too. */
static bool crash_gather(const crash_options *crash, char **named, size_t count, path_list *out, text *found)
{
    path_list list = {NULL, 0, 0};
    bool ok = crash->files_from == NULL || inside_read_list(crash->files_from, &list);
    for (size_t i = 0; i < count; i++)
        ok = crash_gather_one(named[i], out, found) && ok;
    for (size_t i = 0; i < list.count; i++)
        ok = crash_gather_one(list.v[i], out, found) && ok;
    if (ok && count == 0 && list.count == 0 && crash->files_from != NULL)
        say_message("%s: the list names no report", crash->files_from);
    path_list_free(&list);
    return ok;
}

/* Whether no output goes where a report, symbols or a list lie. What symbols are in folders is known
 * later. */
static bool crash_spares_reports(const crash_options *crash, const path_list *reports)
{
    const char *outputs[] = {crash->output, crash->json_out, crash->groups_out};
    outfile_inputs read = {NULL, 0, 0, false};
    const char *path;
    bool ok = true;
    for (size_t i = 0; i < reports->count; i++)
        outfile_inputs_add(&read, reports->v[i]);
    for (size_t i = 0; (path = file_words_path(i)) != NULL; i++)
        outfile_inputs_add(&read, path);
    for (size_t i = 0; i < crash->store_count; i++)
        outfile_inputs_add(&read, crash->stores[i]);
    for (size_t i = 0; i < crash->map_count; i++)
        outfile_inputs_add(&read, crash->maps[i]);
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs && ok; i++)
        ok = outfile_inputs_spare(&read, outputs[i]);
    if (ok && crash->groups_in != NULL) { /* which only the next state may replace */
        outfile_inputs_add(&read, crash->groups_in);
        ok = outfile_inputs_spare(&read, crash->output) && outfile_inputs_spare(&read, crash->json_out);
    }
    outfile_inputs_free(&read);
    return ok;
}

/* What options bring with them. Returns false when two of them write to the same place. */
static bool crash_settle(crash_options *crash)
{
    crash->group |= crash->groups_in != NULL || crash->groups_out != NULL;
    if (crash->write.is_apple) {
        crash->format = FORMAT_TEXT;
        crash->resolve.raw_addresses = true;
        crash->resolve.no_folded = true;
        crash->lines.lines = crash->lines.is_set ? crash->lines.lines : MACHSYM_LINES_ATOS;
    }
    crash->format = crash->html ? FORMAT_HTML : crash->format;
    if (crash->json) {
        crash->format = FORMAT_JSON;
        crash->write.one_line = true;
        crash->missing = crash->missing == MISSING_TEXT ? MISSING_JSON : crash->missing;
    }
    if (crash->output == NULL || strcmp(crash->output, "-") != 0)
        return true;
    crash->output = NULL; /* reports go to standard output without -o, too */
    return !crash_is_answered(crash);
}

/* Whether no two of the files that are written are one. */
static bool crash_outputs_differ(const crash_options *crash)
{
    const char *v[] = {crash->output, crash->json_out, crash->groups_out};
    for (size_t i = 0; i < 3; i++) {
        const char *next = v[(i + 1) % 3];
        if (v[i] != NULL && next != NULL && outfile_is_same(v[i], next))
            return false;
    }
    return true;
}

void crash_options_begin(crash_options *o)
{
    memset(o, 0, sizeof *o);
    o->jobs = 1;
    o->resolve.limit.seconds = RESOLVE_SECONDS;
    o->resolve.style.demangle_flags = MACHSYM_DEMANGLE_SIMPLIFIED;
    /* of rows at one address the last is where the trap or call is written, and line 0 is of no use */
    o->lines.lines = MACHSYM_LINES_PEOPLE;
}

const char *crash_lookups_wrong(const crash_options *o)
{
    if (links_lack_commit(&o->resolve.links))
        return "--link has {commit}: tell it with --commit=WORD";
    if (o->context > 0 && o->resolve.sources.folder == NULL)
        return "--context wants the folder of the sources: --sources=DIR";
    return NULL;
}

static bool crash_settle_sources(crash_options *o)
{
    struct stat st;
    const char *folder = o->resolve.sources.folder;
    o->resolve.sources.links = &o->resolve.links;
    o->resolve.sources.lines = o->context > 0 ? o->context : CONTEXT_LINES;
    if (folder == NULL || (stat(folder, &st) == 0 && S_ISDIR(st.st_mode)))
        return true;
    say_message("%s: no folder of sources", folder);
    return false;
}

bool crash_lookups_begin(crash_options *o)
{
    o->write.all = o->resolve.all;
    o->resolve.csharp = o->csharp;
    o->is_redacted |= o->redact_key != NULL;
    if (o->redact_key != NULL)
        redact_open(&o->redact, o->redact_key);
    else if (o->is_redacted && !posix_random(o->redact.key, sizeof o->redact.key)) {
        say_message("this system gives no random numbers to hide names with: pass --redact-key=WORDS");
        return false;
    }
    if (o->is_redacted)
        o->resolve.redact = &o->redact;
    return crash_settle_sources(o) && owners_are_read(o->rules);
}

void crash_lookups_end(crash_options *o)
{
    owners_free(o->rules);
    machinery_free(o->machinery);
    line_map_free(o->csharp);
}

static int crash_run(int argc, char **argv)
{
    static crash_options crash;
    int status;
    crash_options_begin(&crash);
    int count = options_parse(&crash_command, &crash, argc, argv);
    bool is_clear = crash_settle(&crash);
    path_list reports = {NULL, 0, 0};
    text found = {0};
    bool ok = count < 0 || crash_gather(&crash, argv + 1, (size_t)count, &reports, &found);
    if (count < 0)
        status = options_status(count);
    else if (!is_clear)
        status = options_wrong(&crash_command,
                               "-o - writes reports where another answer goes: name a file or folder");
    else if (!crash_outputs_differ(&crash))
        status = options_wrong(&crash_command,
                               "-o, --json-out and --groups-out name one file twice: name another");
    else if (crash.html && (crash.json || crash.write.is_apple))
        status = options_wrong(&crash_command, "--html is a form of its own: without --json and --apple");
    else if (crash.resolve.check_stack && crash.write.is_apple)
        status =
            options_wrong(&crash_command, "--check-stack says what Apple's tools do not: without --apple");
    else if (crash.html && crash.output == NULL && reports.count > 1 && !crash_is_answered(&crash))
        status = options_wrong(
            &crash_command,
            "--html makes one page for each file, which cannot share standard output: name a folder with -o");
    else if (only_has(&crash.only, FILTER_OWNER) && crash.rules == NULL)
        status =
            options_wrong(&crash_command, "--only owner=... goes by rules: name them with --owners RULES");
    else if (crash.brief && (crash.summary || crash.signature || crash.group))
        status = options_wrong(&crash_command,
                               "--brief is an answer of its own: without --summary, --signature and --group");
    else if (crash_lookups_wrong(&crash) != NULL)
        status = options_wrong(&crash_command, crash_lookups_wrong(&crash));
    else if (count == 0 && crash.files_from == NULL)
        status = options_wrong(&crash_command, "no report is named");
    else if (reports.count == 0 || !crash_spares_reports(&crash, &reports) || !crash_lookups_begin(&crash))
        status = TOOL_ERROR;
    else
        status = crash_run_reports(&crash, reports.v, found.v, reports.count);
    path_list_free(&reports);
    text_free(&found);
    status = status == TOOL_OK && !ok ? TOOL_ERROR : status;
    crash_lookups_end(&crash);
    return status;
}

const command crash_command = {
    "crash",
    "names and lines into crash reports, .ips, sample, hang, MetricKit, pasted stacks",
    "[options] REPORT...",
    "Puts function names and lines into crash reports and their like; everything else stays as it was.\n"
    "REPORT is a file, a .gz, a .zst, a zip, tar, mail, folder or .xccrashpoint with some, or - for standard "
    "input: "
    ".crash, .ips,\n"
    "sample, spindump, hang, cpu and disk reports, panics, stackshots, jetsam reports, leaks, MetricKit,\n"
    "KSCrash, PLCrashReporter, minidumps and cores (as text), Crashlytics, Node, Bugsnag, Sentry and\n"
    "Datadog events, stacks as lldb, Swift, sanitizers, Dart, Mono, Rust and Go print them, log show\n"
    "--style=ndjson, xctrace exports, pasted stacks; also quoted, in a log, or as a string in JSON. The\n"
    "format is detected from the contents; a file may hold several reports, one after the other or in a "
    "document:\n"
    "each is answered, and with --only those that fit are written.\n",
    {{crash_lookup_table, 0}, {object_option_table, offsetof(crash_options, objects)}, {table, 0}},
    "exit status: 0 done, 1 a report or file of symbols failed or is damaged, or --strict, 2 usage\n",
    crash_run,
    NULL,
};
