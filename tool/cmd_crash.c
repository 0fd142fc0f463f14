/* machsym crash: whole reports in, readable reports out. */
#include "report/write.h"
#include "report/summary.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_STORES = 256, MAX_LOADS = 256, MAX_JOBS = 256 };

typedef enum crash_format { FORMAT_SAME = 0, FORMAT_TEXT, FORMAT_JSON } crash_format;

/* What the options say. */
typedef struct crash_options {
    const char *stores[MAX_STORES];
    size_t store_count;
    const char *maps[MAX_STORES];
    size_t map_count;
    report_load loads[MAX_LOADS];
    size_t load_count;
    owners *rules; /* NULL without --owners */
    const char *output;
    crash_format format;
    machsym_lines lines;
    uint32_t session_flags;
    resolve_options resolve;
    write_options write;
    unsigned jobs;
    bool no_cache;
    bool copy;
    bool summary;   /* in place of the report */
    bool signature; /* the same */
    bool group;     /* the same, for all */
    bool quiet;
    bool check;
} crash_options;

static const char usage[] =
    "usage: machsym crash [options] REPORT...\n"
    "Puts function names and lines into crash reports and their like; everything else stays as it was.\n"
    "REPORT is a file or - for standard input: .crash, .ips, sample, spindump, hang, cpu and disk reports, "
    "leaks,\n"
    "MetricKit, KSCrash, PLCrashReporter, Sentry events, pasted stacks. The format is told by the contents.\n"
    "\n"
    "  -d PATH             where symbols are: a file, a folder and all below it, a .dSYM, an .xcarchive,\n"
    "                      a .symmap (made with map build --lines=dwarf); may repeat. Without it: beside "
    "the\n"
    "                      report, and in the current folder\n"
    "  --bcsymbolmap PATH  a folder of .bcsymbolmap files, or one; those beside a dSYM are found anyway\n"
    "  --load NAME=ADDR    an image that the report does not list, and where it was loaded; may repeat\n"
    "  --no-cache          look through all folders anew, and remember nothing\n"
    "  --copy              read files into memory first: safe when others may truncate them\n"
    "\n"
    "  -o FILE|DIR         where to write; a folder when there are several reports\n"
    "  --to=FORMAT         same: the input's (default); text: Apple's classic text; json: machsym's own\n"
    "  --all               look up frames too that have a name already\n"
    "  --no-inline         only the real function of each frame, as atos without -i\n"
    "  --full-path         whole paths in place of base names\n"
    "  --full-names        Swift names with modules and types\n"
    "  --no-demangle       names as the linker knows them\n"
    "  --lines=POLICY      dwarf (default), atos or stmt, as in machsym atos\n"
    "  --best-line         line 0 takes the line of the nearest frame that has one\n"
    "  --owners RULES      whose code it is, by a file of rules: see machsym owners --help\n"
    "  --raw-addresses     look return addresses up as they are, not one byte before\n"
    "\n"
    "  --summary           what happened, in words, in place of the report\n"
    "  --signature         hash and text of the app's top frames, the same for every report of a crash\n"
    "  --group             groups of reports with equal, then similar signatures, largest first\n"
    "  -j N                reports at a time\n"
    "  -q, --quiet         no summary, progress and table on standard error\n"
    "  --check             exit with 2 when a frame of an image with a UUID stayed without a name\n"
    "\n"
    "exit status: 0 done, 1 usage or a report that could not be read or written, 2 with --check\n";

/* What became of one report. */
typedef struct crash_result {
    const char *path;
    char *output_path; /* NULL: standard output */
    text output;
    text summary;
    text failure; /* why it failed; empty when it did not */
    signature signature;
    resolve_counts counts;
    bool unresolved;
    bool done;
} crash_result;

/* One run over all reports. */
typedef struct crash_run {
    const crash_options *options;
    image_pool *images;
    crash_result *results;
    size_t count;
    pthread_mutex_t lock;
    size_t next;    /* to be taken */
    size_t emitted; /* printed, in the order given */
    bool progress;
    bool colour;
    bool tell; /* summaries to standard error */
} crash_run;

/* ---- One report ---- */

/* Whole or not at all. */
static bool write_output(const char *path, const text *output)
{
    text temporary = {0};
    text_c(&temporary, path);
    text_c(&temporary, ".part");
    text_add(&temporary, "", 1);
    FILE *file = fopen(temporary.v, "wb");
    bool ok = file != NULL && fwrite(output->v, 1, output->len, file) == output->len;
    if (file != NULL)
        ok = fclose(file) == 0 && ok;
    ok = ok && rename(temporary.v, path) == 0;
    if (!ok && file != NULL)
        unlink(temporary.v);
    text_free(&temporary);
    return ok;
}

static void fail(crash_result *result, const char *what)
{
    text_c(&result->failure, what);
}

/* Why a report without frames is passed on or refused. */
static bool explain_no_frames(const report *r, crash_result *result)
{
    if (r->failure != NULL) {
        fail(result, r->failure);
        text_c(&result->failure, ", at byte ");
        text_dec(&result->failure, r->failed_at);
        return false;
    }
    if (r->kind != REPORT_STACKLESS && r->facts[FACT_BUG_TYPE].len == 0 && r->facts[FACT_INCIDENT].len == 0 &&
        r->facts[FACT_EXCEPTION].len == 0 && r->facts[FACT_PROCESS].len == 0) {
        fail(result, r->len == 0 ? "empty" : "no report: neither stacks nor what a report begins with");
        return false;
    }
    return true;
}

static void write_report(const crash_options *o, const report *r, crash_result *result)
{
    if (o->format == FORMAT_TEXT)
        report_write_text(r, &o->write, &result->output);
    else if (o->format == FORMAT_JSON)
        report_write_json(r, &o->write, &result->counts, &result->output);
    else
        report_write_same(r, &o->write, &result->output);
}

static bool has_unresolved(const report *r)
{
    for (uint32_t i = 0; i < r->image_count; i++) {
        if (r->images[i].missing > 0 && r->images[i].has_uuid)
            return true;
    }
    return false;
}

static void do_report(const crash_run *run, crash_result *result)
{
    const crash_options *o = run->options;
    text input = {0};
    report r;
    if (!text_read_file(&input, result->path)) {
        fail(result, strerror(errno));
        text_free(&input);
        return;
    }
    report_open(&r, input.v, input.len, o->loads, o->load_count);
    if (r.frame_count > 0 || explain_no_frames(&r, result)) {
        report_resolve(&r, run->images, &o->resolve, &result->counts);
        result->unresolved = has_unresolved(&r);
        if (!o->summary && !o->signature && !o->group)
            write_report(o, &r, result);
        else if (o->output != NULL)
            write_report(o, &r, result);
        if (o->summary || run->tell)
            text_summary(&result->summary, &r, &result->counts, run->colour);
        if (o->signature || o->group)
            report_signature(&r, &result->signature);
        if (result->output_path != NULL && !write_output(result->output_path, &result->output)) {
            text_c(&result->failure, result->output_path);
            text_c(&result->failure, ": ");
            fail(result, strerror(errno));
        }
    }
    report_close(&r);
    text_free(&input);
}

/* ---- All reports ---- */

static void print_signature(const crash_result *result)
{
    printf("%016llx  ", (unsigned long long)result->signature.hash);
    fwrite(result->signature.text.v, 1, result->signature.text.len, stdout);
    printf("  %s\n", result->path);
}

/* Prints what is finished, in the order of the command line. */
static void emit(const crash_run *run, crash_result *result)
{
    const crash_options *o = run->options;
    if (result->failure.len > 0) {
        tool_say("%s: %.*s", result->path, (int)result->failure.len, result->failure.v);
    } else if (o->summary) {
        if (run->count > 1)
            printf("== %s\n", result->path);
        fwrite(result->summary.v, 1, result->summary.len, stdout);
    } else if (o->signature) {
        print_signature(result);
    } else if (result->output_path == NULL && !o->group) {
        fwrite(result->output.v, 1, result->output.len, stdout);
    }
    if (run->tell && result->failure.len == 0) {
        fflush(stdout);
        if (run->count > 1)
            fprintf(stderr, "== %s\n", result->path);
        fwrite(result->summary.v, 1, result->summary.len, stderr);
    }
    text_free(&result->output);
    text_free(&result->summary);
}

static void *work(void *argument)
{
    crash_run *run = argument;
    pthread_mutex_lock(&run->lock);
    while (run->next < run->count) {
        crash_result *result = &run->results[run->next++];
        pthread_mutex_unlock(&run->lock);
        do_report(run, result);
        pthread_mutex_lock(&run->lock);
        result->done = true;
        while (run->emitted < run->count && run->results[run->emitted].done)
            emit(run, &run->results[run->emitted++]);
        if (run->progress)
            fprintf(stderr, "\r%zu of %zu reports%s", run->emitted, run->count,
                    run->emitted == run->count ? "\n" : "");
    }
    pthread_mutex_unlock(&run->lock);
    return NULL;
}

/* The first job is this thread's. */
static void run_jobs(crash_run *run)
{
    pthread_t threads[MAX_JOBS];
    unsigned started = 0;
    while (started + 1 < run->options->jobs && pthread_create(&threads[started], NULL, work, run) == 0)
        started++;
    work(run);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    fflush(stdout);
}

/* The final table: totals, and which reports failed and why. */
static void print_table(const crash_run *run)
{
    size_t failed = 0;
    unsigned long long frames = 0;
    unsigned long long named = 0;
    unsigned long long missing = 0;
    for (size_t i = 0; i < run->count; i++) {
        const crash_result *result = &run->results[i];
        failed += result->failure.len > 0;
        frames += result->counts.frames;
        named += (unsigned long long)result->counts.dwarf + result->counts.symbols;
        missing += result->counts.missing;
    }
    fprintf(stderr, "%zu reports: %zu done, %zu failed; %llu frames: %llu named now, %llu without a name\n",
            run->count, run->count - failed, failed, frames, named, missing);
    for (size_t i = 0; i < run->count && failed > 0; i++) {
        if (run->results[i].failure.len > 0)
            fprintf(stderr, "  failed  %s: %.*s\n", run->results[i].path, (int)run->results[i].failure.len,
                    run->results[i].failure.v);
    }
}

/* ---- Where to look and where to write ---- */

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t len = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
    char *folder = tool_alloc(len + 2);
    memcpy(folder, path, len);
    folder[len] = 0;
    if (len == 0)
        strcpy(folder, ".");
    return folder;
}

/* Without -d: the folders of the reports and the current one, each once when reports come folder by folder. */
static void add_default_stores(store *s, char **reports, size_t count)
{
    char *last = NULL;
    store_add(s, ".", true);
    for (size_t i = 0; i < count; i++) {
        char *folder = strcmp(reports[i], "-") == 0 ? folder_of("") : folder_of(reports[i]);
        if (strcmp(folder, ".") != 0 && (last == NULL || strcmp(folder, last) != 0) &&
            access(folder, R_OK) == 0)
            store_add(s, folder, true);
        free(last);
        last = folder;
    }
    free(last);
}

static bool add_stores(const crash_options *o, store *s, char **reports, size_t count)
{
    bool ok = true;
    for (size_t i = 0; i < o->store_count; i++)
        ok = store_add(s, o->stores[i], false) && ok;
    if (o->store_count == 0)
        add_default_stores(s, reports, count);
    store_finish(s);
    return ok;
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strcmp(path, "-") == 0 ? "stdin" : slash != NULL ? slash + 1 : path;
}

static char *output_name(const crash_options *o, const char *report_path, unsigned again)
{
    static const char *const endings[] = {NULL, ".crash", ".json"};
    const char *base = base_name(report_path);
    const char *dot = strrchr(base, '.');
    size_t stem = dot != NULL && dot != base ? (size_t)(dot - base) : strlen(base);
    text t = {0};
    text_c(&t, o->output);
    text_char(&t, '/');
    text_add(&t, base, stem);
    if (again > 0) {
        text_char(&t, '-');
        text_dec(&t, again + 1);
    }
    text_c(&t, endings[o->format] != NULL ? endings[o->format] : base + stem);
    text_add(&t, "", 1);
    return t.v;
}

static int by_base_name(const void *a, const void *b)
{
    const crash_result *x = *(crash_result *const *)a;
    const crash_result *y = *(crash_result *const *)b;
    int order = strcmp(base_name(x->path), base_name(y->path));
    return order != 0 ? order : x < y ? -1 : x > y;
}

/* Two reports of one name get two files: NAME.ips and NAME-2.ips. */
static void name_outputs(const crash_run *run)
{
    crash_result **order = tool_alloc(run->count * sizeof *order);
    unsigned again = 0;
    for (size_t i = 0; i < run->count; i++)
        order[i] = &run->results[i];
    qsort(order, run->count, sizeof(crash_result *), by_base_name);
    for (size_t i = 0; i < run->count; i++) {
        bool same = i > 0 && strcmp(base_name(order[i]->path), base_name(order[i - 1]->path)) == 0;
        again = same ? again + 1 : 0;
        order[i]->output_path = output_name(run->options, order[i]->path, again);
    }
    free(order);
}

static bool prepare_output(const crash_run *run)
{
    const crash_options *o = run->options;
    if (o->output == NULL)
        return true;
    size_t len = strlen(o->output);
    bool folder = is_folder(o->output) || run->count > 1 || (len > 0 && o->output[len - 1] == '/');
    if (!folder) {
        run->results[0].output_path = tool_alloc(len + 1);
        memcpy(run->results[0].output_path, o->output, len + 1);
        return true;
    }
    if (!is_folder(o->output) && mkdir(o->output, 0777) != 0) {
        tool_say("%s: %s", o->output, strerror(errno));
        return false;
    }
    name_outputs(run);
    return true;
}

/* ---- Options ---- */

static bool add_path(const char **list, size_t *count, const char *path)
{
    if (*count == MAX_STORES) {
        tool_say("at most %d of these", (int)MAX_STORES);
        return false;
    }
    list[(*count)++] = path;
    return true;
}

/* NAME=ADDR */
static bool add_load(crash_options *o, const char *written)
{
    const char *equals = strrchr(written, '=');
    report_load load;
    if (equals == NULL || equals == written || !parse_hex(equals + 1, strlen(equals + 1), &load.base)) {
        tool_say("--load wants NAME=ADDRESS, the address in hexadecimal");
        return false;
    }
    if (o->load_count == MAX_LOADS) {
        tool_say("at most %d --load", (int)MAX_LOADS);
        return false;
    }
    load.name = (machsym_str){written, (size_t)(equals - written)};
    o->loads[o->load_count++] = load;
    return true;
}

static bool set_format(crash_options *o, const char *value)
{
    static const char *const names[] = {"same", "text", "json"};
    for (unsigned i = 0; i < 3; i++) {
        if (strcmp(value, names[i]) == 0) {
            o->format = (crash_format)i;
            return true;
        }
    }
    tool_say("--to is one of same, text, json");
    return false;
}

static bool set_jobs(crash_options *o, const char *value)
{
    char *end;
    unsigned long jobs = strtoul(value, &end, 10);
    if (*end != 0 || jobs == 0 || jobs > MAX_JOBS) {
        tool_say("-j wants a number from 1 to %d", (int)MAX_JOBS);
        return false;
    }
    o->jobs = (unsigned)jobs;
    return true;
}

typedef struct crash_flag {
    const char *name;
    size_t at; /* of a bool in crash_options */
    bool value;
} crash_flag;

static bool set_flag(crash_options *crash, const options *o, const char *name)
{
    static const crash_flag flags[] = {
        {"all", offsetof(crash_options, resolve.all), true},
        {"inline", offsetof(crash_options, resolve.no_inline), false},
        {"no-inline", offsetof(crash_options, resolve.no_inline), true},
        {"raw-addresses", offsetof(crash_options, resolve.raw_addresses), true},
        {"no-demangle", offsetof(crash_options, resolve.style.raw_names), true},
        {"full-path", offsetof(crash_options, write.full_path), true},
        {"fullPath", offsetof(crash_options, write.full_path), true},
        {"no-cache", offsetof(crash_options, no_cache), true},
        {"copy", offsetof(crash_options, copy), true},
        {"summary", offsetof(crash_options, summary), true},
        {"signature", offsetof(crash_options, signature), true},
        {"group", offsetof(crash_options, group), true},
        {"quiet", offsetof(crash_options, quiet), true},
        {"q", offsetof(crash_options, quiet), true},
        {"check", offsetof(crash_options, check), true},
    };
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        if (options_is(o, name, flags[i].name)) {
            memcpy((char *)crash + flags[i].at, &flags[i].value, sizeof(bool));
            return true;
        }
    }
    return false;
}

static bool set_option(crash_options *crash, options *o, const char *name)
{
    if (set_flag(crash, o, name))
        return true;
    if (options_is(o, name, "d"))
        return add_path(crash->stores, &crash->store_count, options_value(o, "d"));
    if (options_is(o, name, "bcsymbolmap"))
        return add_path(crash->maps, &crash->map_count, options_value(o, "bcsymbolmap"));
    if (options_is(o, name, "owners")) {
        crash->rules = crash->rules != NULL ? crash->rules : owners_new();
        return owners_read(crash->rules, options_value(o, "owners"));
    }
    if (options_is(o, name, "load"))
        return add_load(crash, options_value(o, "load"));
    if (options_is(o, name, "to"))
        return set_format(crash, options_value(o, "to"));
    if (options_is(o, name, "j"))
        return set_jobs(crash, options_value(o, "j"));
    if (name[0] == 'j' && name[1] >= '0' && name[1] <= '9')
        return set_jobs(crash, name + 1);
    if (options_is(o, name, "o")) {
        crash->output = options_value(o, "o");
    } else if (options_is(o, name, "best-line")) {
        crash->session_flags |= MACHSYM_SESSION_BEST_LINE;
    } else if (options_is(o, name, "full-names")) {
        crash->resolve.style.demangle_flags &= ~(uint32_t)MACHSYM_DEMANGLE_SIMPLIFIED;
    } else if (options_is(o, name, "lines")) {
        bool known = parse_lines(options_value(o, "lines"), &crash->lines);
        if (!known)
            tool_say("--lines is one of atos, dwarf, stmt");
        return known;
    } else {
        tool_say("no such option: -%s; see machsym crash --help", name);
        return false;
    }
    return true;
}

/* ---- The command ---- */

static void print_groups(const crash_run *run)
{
    group_list *groups = groups_open();
    text out = {0};
    for (size_t i = 0; i < run->count; i++) {
        if (run->results[i].failure.len == 0)
            groups_add(groups, run->results[i].path, &run->results[i].signature);
    }
    groups_print(groups, &out);
    fwrite(out.v, 1, out.len, stdout);
    text_free(&out);
    groups_close(groups);
}

static int finish(crash_run *run)
{
    int status = TOOL_OK;
    if (run->options->group)
        print_groups(run);
    if (run->count > 1 && !run->options->quiet)
        print_table(run);
    for (size_t i = 0; i < run->count; i++) {
        crash_result *result = &run->results[i];
        if (result->failure.len > 0)
            status = TOOL_ERROR;
        else if (status == TOOL_OK && run->options->check && result->unresolved)
            status = TOOL_UNRESOLVED;
        text_free(&result->failure);
        text_free(&result->signature.text);
        free(result->output_path);
    }
    return status;
}

static int run_reports(const crash_options *o, char **reports, size_t count)
{
    store_options store_how = {o->no_cache};
    store *s = store_open(&store_how);
    crash_run run;
    images_options images_how;
    int status = TOOL_ERROR;
    memset(&run, 0, sizeof run);
    memset(&images_how, 0, sizeof images_how);
    run.options = o;
    run.count = count;
    run.results = tool_alloc(count * sizeof *run.results);
    memset(run.results, 0, count * sizeof *run.results);
    for (size_t i = 0; i < count; i++)
        run.results[i].path = reports[i];
    run.tell = !o->quiet && !o->summary && !o->signature && !o->group && isatty(STDERR_FILENO) && count < 10;
    run.progress = !o->quiet && count > 1 && isatty(STDERR_FILENO) && !run.tell;
    run.colour = isatty(o->summary ? STDOUT_FILENO : STDERR_FILENO) && getenv("NO_COLOR") == NULL;
    if (add_stores(o, s, reports, count) && prepare_output(&run)) {
        images_how.store = s;
        images_how.lines = o->lines;
        images_how.session_flags = o->session_flags;
        images_how.open_flags = o->copy ? MACHSYM_OPEN_COPY : 0;
        images_how.jobs = o->jobs;
        images_how.rules = o->rules;
        images_how.map_folders = o->maps;
        images_how.map_folder_count = o->map_count;
        run.images = images_open(&images_how);
        pthread_mutex_init(&run.lock, NULL);
        run_jobs(&run);
        pthread_mutex_destroy(&run.lock);
        images_close(run.images);
        status = finish(&run);
    }
    free(run.results);
    store_close(s);
    return status;
}

int cmd_crash(int argc, char **argv)
{
    static crash_options crash;
    options o = {argc, argv, 0, false};
    const char *name;
    const char *operand;
    char **reports = tool_alloc((size_t)argc * sizeof *reports);
    size_t count = 0;
    int status = TOOL_OK;
    bool help = false;
    memset(&crash, 0, sizeof crash);
    crash.jobs = 1;
    crash.resolve.style.demangle_flags = MACHSYM_DEMANGLE_SIMPLIFIED;
    crash.lines =
        MACHSYM_LINES_DWARF; /* of rows at one address the last is where the trap or call is written */
    while (status == TOOL_OK && !help && options_next(&o, &name, &operand)) {
        if (operand != NULL)
            reports[count++] = argv[o.at];
        else if (options_is(&o, name, "help") || options_is(&o, name, "h"))
            help = true;
        else if (!set_option(&crash, &o, name))
            status = TOOL_ERROR;
    }
    crash.write.all = crash.resolve.all;
    if (help) {
        fputs(usage, stdout);
    } else if (status == TOOL_OK && count == 0) {
        fputs(usage, stderr);
        status = TOOL_ERROR;
    } else if (status == TOOL_OK) {
        status = run_reports(&crash, reports, count);
    }
    owners_free(crash.rules);
    free(reports);
    return status;
}
