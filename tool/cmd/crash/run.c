/* machsym crash: one run over reports: where symbols and outputs lie, what becomes of each report. */
#include "crash.h"
#include "../../../report/base/json_put.h"
#include "../../../report/base/memory.h"
#include "../../../report/model/parts.h"
#include "../../../report/model/status.h"
#include "../../../report/tell/groups.h"
#include "../../../report/tell/missing.h"
#include "../../../report/tell/signature.h"
#include "../../../report/tell/summary.h"
#include "../../../report/walk.h"
#include "../../../report/write/brief.h"
#include "../../../report/write/html.h"
#include "../../../report/write/write.h"
#include "../../base/machine.h"
#include "../../base/out.h"
#include "../../base/posix.h"
#include "../../base/readfile.h"
#include "../../base/say.h"
#include "../../files/inside.h"
#include "../../files/members.h"
#include "../../files/outfile.h"
#include "../../files/state.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* What tells a report from others, of each that a file holds. */
typedef struct crash_answer {
    const char *label;
    signature signature;
} crash_answer;

/* What became of one file. */
typedef struct crash_result {
    const char *path;
    const char *label;       /* the path as standard output has it */
    const char *output_path; /* NULL: standard output */
    text output;
    text json;             /* with --json-out */
    text summary;          /* or the line that stands for it on standard error */
    text failure;          /* why it failed; empty when it did not */
    text broken;           /* one line for each of its reports that failed, if others succeeded */
    crash_answer *answers; /* with --signature or --group */
    uint32_t answer_cap;
    uint32_t report_count; /* of those that are answered */
    uint32_t held_count;   /* of all in the file */
    pool labels;
    resolve_counts counts;
    missing_list missing;
    size_t damaged_at;  /* of a report whose rest is answered; 0: it is whole */
    const char *damage; /* of a dump or a core: what is damaged there; NULL: of another kind */
    bool is_cut;        /* there, the input ends inside a report */
    bool is_found;      /* in a folder or archive, not named */
    bool is_no_report;  /* failure says what else it is */
    bool unresolved;
    bool done;
} crash_result;

/* Reports that are done wait in memory for those before them: at most this many for each thread. */
enum { AHEAD = 4 };

/* Output files are renamed in batches. All threads keep at most MAX_FILES open: some systems let a program
 * have 256 files open. */
enum { BATCH = 16, MAX_FILES = 64 };

/* Reports of one thread that are done but for their files' names. */
typedef struct crash_batch {
    crash_result *v[BATCH];
    outfile files[BATCH];
    size_t count;
} crash_batch;

/* One run over all reports. What it holds of them in memory follows the number of threads; for each report it
 * keeps the path, and the name of its output. */
typedef struct crash_run {
    const crash_options *options;
    image_pool *images;
    char **paths;
    const char *found;   /* a byte a path: see crash_run_reports */
    char **output_names; /* in a folder, of each; else NULL */
    size_t count;
    pthread_mutex_t lock;
    pthread_cond_t printed;
    crash_result *ring; /* of the reports between next and emitted */
    size_t ring_size;
    size_t batch;     /* files of a thread that get their names together */
    unsigned threads; /* no more than --jobs of them work; the others wait for the disk */
    unsigned working;
    size_t next;       /* to be taken */
    size_t emitted;    /* printed, in the order given */
    size_t left_out;   /* by --only */
    size_t passed;     /* files in folders and archives that are no reports */
    size_t failed;     /* reports */
    size_t unresolved; /* the same */
    text failures;     /* a line of the table for each that failed */
    unsigned long long frames;
    unsigned long long named;
    unsigned long long nameless;
    group_list *groups; /* with --group; else NULL */
    state_place state;  /* with --groups-out */
    size_t grouped;     /* reports */
    pool labels;        /* that groups keep */
    missing_list missing;
    outfile json;    /* with --json-out */
    text json_waits; /* what is not written to it yet */
    bool has_json;   /* without a report there is no file */
    bool progress;
    bool colour;
    bool tell;     /* summaries to standard error */
    bool brief;    /* one line for each report to standard error */
    bool in_place; /* something else is printed in place of the reports */
    bool in_folder;
    bool has_failed; /* a file of symbols is no good */
} crash_run;

/* ---- One report ---- */

static void crash_fail(crash_result *result, const char *what)
{
    text_c(&result->failure, what);
}

/* What a minidump begins with, and its version. An envelope of Sentry's may hold one. */
static const char minidump[] = "MDMP\x93\xa7";

/* The attribute in which Embrace's SDK for Apple platforms sends a report of KSCrash's or MetricKit's. */
static const char embrace_payload[] = "\"emb.payload\"";

/* Of standard input: files that are packed so were unpacked before. */
#define PACKED(by, how) "compressed by " by ", which is read from files only; unpack it with `" how "`"

/* What a file is that is a program or has its symbols, or is packed, and no report; NULL: another kind. */
static const char *crash_name_other(const report *r)
{
    static const struct {
        const char *begin;
        size_t len;
        const char *what;
    } v[] = {
        {"\x7f"
         "ELF",
         4, "an ELF file, not a crash report"},
        {"\xcf\xfa\xed\xfe", 4,
         "a Mach-O file, not a crash report; name it with -d, and the reports after it"},
        {"\xce\xfa\xed\xfe", 4,
         "a Mach-O file, not a crash report; name it with -d, and the reports after it"},
        {"\xca\xfe\xba\xbe", 4,
         "a Mach-O file, not a crash report; name it with -d, and the reports after it"},
        {"MACHSYM\n", 8, "a symbol map, not a crash report; name it with -d, and the reports after it"},
        {"dyld_v1", 7, "a shared cache, not a crash report; name it with -d, and the reports after it"},
        {"MZ", 2, "a program for Windows, not a crash report"},
        {"PK\x03\x04", 4, PACKED("zip", "unzip -p")},
        {"\x1f\x8b", 2, PACKED("gzip", "gunzip")},
        {"\x28\xb5\x2f\xfd", 4, PACKED("zstd", "unzstd")},
        {"\xfd"
         "7zXZ",
         5, "compressed by xz, which is not read here; unpack it with `unxz`"},
        {"BZh", 3, "compressed by bzip2, which is not read here; unpack it with `bunzip2`"},
    };
    /* Java's class files begin as universal files do, and have a version of 45 or more where those count
     * slices. */
    if (r->input.len >= 8 && memcmp(r->input.ptr, "\xca\xfe\xba\xbe", 4) == 0 &&
        (uint8_t)r->input.ptr[7] >= 45)
        return "a Java class file, not a crash report";
    for (size_t i = 0; i < sizeof v / sizeof v[0]; i++) {
        if (r->input.len >= v[i].len && memcmp(r->input.ptr, v[i].begin, v[i].len) == 0)
            return v[i].what;
    }
    return NULL;
}

crash_without crash_explain_no_frames(const report *r, text *why)
{
    const char *other = crash_name_other(r);
    if (other != NULL && !report_is_binary(r)) {
        text_c(why, other);
        return WITHOUT_REPORT;
    }
    if (!report_is_binary(r) && str_find(r->input, minidump) < r->input.len) {
        text_c(
            why,
            "a minidump inside another file, which is not read there: write its bytes, from MDMP on, into a "
            "file of their own, and name that");
        return WITHOUT_END;
    }
    if (r->failure != NULL) {
        text_c(why, r->failure);
        text_c(why, ", at byte ");
        text_dec(why, r->failed_at);
        return WITHOUT_END;
    }
    if (str_find(r->input, embrace_payload) < r->input.len) {
        text_c(why, "a log of Embrace's, whose report, the JSON in the string emb.payload, has no stacks");
        return WITHOUT_END;
    }
    if (r->kind == REPORT_UNKNOWN && r->facts[FACT_BUG_TYPE].len == 0 && r->facts[FACT_INCIDENT].len == 0 &&
        r->facts[FACT_EXCEPTION].len == 0 && r->facts[FACT_PROCESS].len == 0) {
        text_c(why, r->len == 0
                        ? "the file is empty; name a crash report"
                        : "no report: neither stacks nor what a report begins with; name a crash report");
        return r->len == 0 ? WITHOUT_END : WITHOUT_REPORT;
    }
    return WITHOUT_FRAMES;
}

size_t crash_damaged_at(const report *r)
{
    return report_is_binary(r) ? r->failed_at : r->cut_at;
}

static void crash_write_report(const crash_options *o, const report *r, const resolve_counts *counts,
                               const char *label, crash_result *result)
{
    if (o->format == FORMAT_HTML && result->output.len == 0)
        html_begin(&result->output);
    if (o->format == FORMAT_HTML)
        html_add(r, &o->write, counts, label, o->machinery, &result->output);
    else if (o->format == FORMAT_TEXT)
        write_text(r, &o->write, &result->output);
    else if (o->format == FORMAT_JSON)
        write_json(r, &o->write, counts, &result->output);
}

/* A line for --json-out. */
static void crash_add_json(const crash_options *o, const report *r, const resolve_counts *counts,
                           crash_result *result)
{
    write_options how = o->write;
    how.one_line = true;
    if (o->json_out != NULL)
        write_json(r, &how, counts, &result->json);
}

static bool crash_has_unresolved(const report *r)
{
    for (uint32_t i = 0; i < r->image_count; i++) {
        const report_image *image = &r->images[i];
        if (image->missing > 0 && (image->has_uuid || image->status.found == IMAGE_UNPROVEN))
            return true;
    }
    return false;
}

/* The name of a report: "FILE#2" of a file that holds several. */
static const char *crash_label_of(crash_result *result, const report *r)
{
    text label = {0};
    if (r->number == 0)
        return result->label;
    text_c(&label, result->label);
    text_char(&label, '#');
    text_dec(&label, r->number);
    const char *name = pool_copy_z(&result->labels, label.v, label.len);
    text_free(&label);
    return name;
}

/* What is printed of each report that a file holds. */
static void crash_answer_one(const crash_run *run, const report *r, const resolve_counts *counts,
                             crash_result *result)
{
    const crash_options *o = run->options;
    const char *label = crash_label_of(result, r);
    missing_add_report(&result->missing, r);
    if (!run->in_place || o->output != NULL)
        crash_write_report(o, r, counts, label, result);
    crash_add_json(o, r, counts, result);
    if (o->brief) {
        brief_put(r, counts, str_c(label), o->machinery, &result->summary);
    } else if (o->summary && o->json) {
        write_summary_json(r, label, counts, &result->summary);
    } else if (o->summary || run->tell) {
        if (r->number > 0) {
            text_c(&result->summary, "== ");
            text_c(&result->summary, label);
            text_char(&result->summary, '\n');
        }
        summary_put(&result->summary, r, counts, run->colour);
    }
    if (o->signature || o->group) {
        uint32_t count = result->report_count;
        crash_answer *answer = mem_push(&result->answers, &count, &result->answer_cap, sizeof *answer);
        answer->label = label;
        signature_of(r, o->machinery, &answer->signature);
    }
    result->report_count++;
}

/* A line a report to standard error, without the file's name. */
static void crash_answer_brief(const report *r, const resolve_counts *counts, crash_result *result)
{
    size_t from = result->summary.len;
    if (r->number > 0) {
        text_char(&result->summary, '#');
        text_dec(&result->summary, r->number);
        text_c(&result->summary, ": ");
    }
    summary_put_brief(&result->summary, r, counts);
    text_end_line(&result->summary, from);
}

static void crash_add_counts(resolve_counts *to, const resolve_counts *counts)
{
    to->frames += counts->frames;
    to->given += counts->given;
    to->dwarf += counts->dwarf;
    to->symbols += counts->symbols;
    to->missing += counts->missing;
}

/* What is known while the reports of a file are answered. */
typedef struct crash_file {
    const crash_run *run;
    crash_result *result;
    resolve_budget budget; /* of all its reports */
} crash_file;

/* A report that cannot be answered: it costs no other. */
static walk_step crash_keep_broken(crash_file *file, const report *r, const char *why)
{
    text *to = r->number == 0 ? &file->result->failure : &file->result->broken;
    if (r->number > 0) {
        text_char(to, '#');
        text_dec(to, r->number);
        text_c(to, ": ");
    }
    text_c(to, why);
    text_c(to, r->number > 0 ? "\n" : "");
    return WALK_BROKEN;
}

static walk_step crash_look_up(void *context, report *r, resolve_counts *counts)
{
    crash_file *file = context;
    const crash_options *o = file->run->options;
    resolve_options how = o->resolve;
    text why = {0};
    crash_without without = r->frame_count == 0 ? crash_explain_no_frames(r, &why) : WITHOUT_FRAMES;
    if (without != WITHOUT_FRAMES) {
        walk_step step = crash_keep_broken(file, r, text_z(&why));
        file->result->is_no_report = without == WITHOUT_REPORT && r->number == 0;
        text_free(&why);
        return step;
    }
    if (file->result->damaged_at == 0) {
        file->result->damaged_at = crash_damaged_at(r);
        file->result->damage = r->damage;
    }
    file->result->is_cut |= r->cut_at > 0;
    if (parts_count(r) == 1 && !only_fits(&o->only, r))
        return WALK_LEFT_OUT;
    how.shared = &file->budget;
    how.has_helper = file->run->count == 1; /* else threads have reports of their own */
    const char *over = resolve_report(r, file->run->images, &how, counts);
    if (over == NULL || !counts->is_unread)
        return over != NULL ? crash_keep_broken(file, r, over) : WALK_ANSWER;
    crash_fail(file->result, over); /* the file as a whole: it may be read again, and get more */
    return WALK_STOP;
}

/* Reports that --only leaves out are not answered. */
static bool crash_answer_if_wanted(void *context, report *one, const resolve_counts *counts)
{
    crash_file *file = context;
    const filter *only = &file->run->options->only;
    if ((one->part > 0 && !only_fits(only, one)) || !only_fits_owner(only, one))
        return false;
    crash_answer_one(file->run, one, counts, file->result);
    return true;
}

static void crash_end_document(void *context, const report *r, const resolve_counts *counts)
{
    crash_file *file = context;
    crash_add_counts(&file->result->counts, counts);
    file->result->unresolved |= crash_has_unresolved(r);
    if (file->run->brief)
        crash_answer_brief(r, counts, file->result);
}

/* Looks a file's reports up, and prints them into memory. */
static void crash_do_report(const crash_run *run, crash_result *result)
{
    const crash_options *o = run->options;
    crash_file file = {.run = run, .result = result};
    report_walk walk = {.loads = o->loads,
                        .load_count = o->load_count,
                        .redact = o->resolve.redact,
                        .rules = owners_rules(o->rules),
                        .context = &file,
                        .look_up = crash_look_up,
                        .answer = crash_answer_if_wanted,
                        .end = crash_end_document};
    text input = {0};
    resolve_files files;
    resolve_files_begin(&files, run->images, &o->resolve);
    walk.tables = &files.tables;
    const char *why = inside_read(result->path, &input);
    if (why != NULL) {
        crash_fail(result, why);
    } else {
        bool is_same = o->format == FORMAT_SAME && (!run->in_place || o->output != NULL);
        walk.same = is_same ? &o->write : NULL;
        resolve_budget_begin(&file.budget, &o->resolve.limit, input.len);
        walk_all(&walk, str_make(text_z(&input), input.len), &result->output);
    }
    if (o->format == FORMAT_HTML && result->output.len > 0)
        html_end(&result->output);
    result->held_count = walk.held;
    if (result->failure.len == 0 && status_lacked_memory())
        crash_fail(result, "memory ran out: names or lines would be missing");
    if (result->failure.len == 0 && status_has_fault() && missing_waits(&result->missing))
        crash_fail(result, "it may wait for symbols that could not be read");
    if (result->failure.len > 0)
        result->json.len = 0;
    text_free(&input);
}

/* ---- Files ---- */

/* Writes what a report has for its file, whose name it gets later. */
static void crash_write_output(const crash_run *run, crash_result *result, outfile *file)
{
    outfile_rule rule = !run->in_folder ? OUTFILE_REPLACE : run->options->force ? OUTFILE_OWN : OUTFILE_KEEP;
    memset(file, 0, sizeof *file);
    file->fd = -1;
    if (result->output_path == NULL)
        return;
    if (result->failure.len == 0 && result->report_count > 0)
        outfile_begin_with(file, result->output_path, result->output.v, result->output.len, rule);
    text_free(&result->output);
}

static void crash_say_failure(crash_result *result, const outfile *file)
{
    if (file->failure == 0)
        return;
    text_c(&result->failure, result->output_path);
    text_c(&result->failure, ": ");
    crash_fail(result, file->failure == EEXIST ? "is there already; --force replaces it"
                                               : outfile_error(file->failure));
}

/* ---- All reports ---- */

static void crash_print_signature(const crash_answer *answer, bool is_json)
{
    const signature *s = &answer->signature;
    if (is_json) {
        text t = {0};
        json_begin(&t, "crash-signature");
        json_put_str(&t, "report", str_c(answer->label));
        json_put_hash(&t, "hash", s->hash);
        json_put_str(&t, "signature", (machsym_str){s->words.v, s->words.len});
        text_c(&t, "}\n");
        out_text(&t);
        text_free(&t);
        return;
    }
    out_line("%016llx  %.*s  %s", (unsigned long long)s->hash, (int)s->words.len, s->words.v, answer->label);
}

bool crash_say_complaints(image_pool *images)
{
    text t = {0};
    machsym_str line;
    bool has_failed = images_failed(images, &t);
    machsym_str rest = {t.v, t.len};
    while (str_take_line(&rest, &line))
        say_message("%.*s", (int)line.len, line.ptr);
    text_free(&t);
    return has_failed;
}

/* What standard error is told of a report. */
static void crash_say_report(const crash_run *run, const crash_result *result)
{
    machsym_str rest = {result->summary.v, result->summary.len};
    machsym_str line;
    while (run->brief && str_take_line(&rest, &line))
        say_message("%s%s%.*s", result->path, line.ptr[0] == '#' ? "" : ": ", (int)line.len, line.ptr);
    if (!run->tell)
        return;
    out_flush();
    if (run->count > 1 && result->held_count == 1)
        say_plain("== %s", result->path);
    if (result->summary.len > 0)
        fwrite(result->summary.v, 1, result->summary.len, stderr);
}

/* Groups outlive the results: what is only in a result's memory is copied. */
static void crash_group_answers(crash_run *run, crash_result *result)
{
    for (uint32_t i = 0; i < result->report_count && result->failure.len == 0; i++) {
        crash_answer *answer = &result->answers[i];
        const char *label = answer->label;
        if (label != result->path)
            label = pool_copy_z(&run->labels, label, strlen(label));
        groups_add(run->groups, label, &answer->signature);
        run->grouped++;
    }
}

/* A line of the final table. */
static void crash_add_failure(crash_run *run, const char *path, const char *between, machsym_str what)
{
    size_t from = run->failures.len;
    text_c(&run->failures, "  failed  ");
    text_c(&run->failures, path);
    text_c(&run->failures, between);
    text_str(&run->failures, what);
    text_end_line(&run->failures, from);
}

/* Whether a file may be passed over: it lies beside reports, and is no report. */
static bool crash_is_passed(const crash_result *result)
{
    return result->is_found && result->is_no_report;
}

/* Adds a report to what the end of the run tells, and frees it. */
static void crash_count_result(crash_run *run, crash_result *result)
{
    machsym_str rest = {result->broken.v, result->broken.len};
    machsym_str line;
    bool is_passed = crash_is_passed(result);
    run->passed += is_passed;
    run->failed += !is_passed && (result->failure.len > 0 || result->broken.len > 0);
    if (result->failure.len > 0 && !is_passed)
        crash_add_failure(run, result->path, ": ", (machsym_str){result->failure.v, result->failure.len});
    while (str_take_line(&rest, &line))
        crash_add_failure(run, result->path, "", line);
    run->unresolved += result->failure.len == 0 && result->unresolved;
    run->frames += result->counts.frames;
    run->named += (unsigned long long)result->counts.dwarf + result->counts.symbols;
    run->nameless += result->counts.missing;
    if (run->groups != NULL)
        crash_group_answers(run, result);
    missing_add_list(&run->missing, &result->missing);
    missing_free(&result->missing);
    for (uint32_t i = 0; i < result->report_count && result->answers != NULL; i++)
        text_free(&result->answers[i].signature.words);
    free(result->answers);
    pool_free(&result->labels);
    if (run->options->json_out != NULL) {
        run->has_json |= result->json.len > 0;
        text_add(&run->json_waits, result->json.v, result->json.len);
        outfile_flush(&run->json, &run->json_waits);
    }
    text_free(&result->output);
    text_free(&result->json);
    text_free(&result->summary);
    text_free(&result->failure);
    text_free(&result->broken);
}

/* What is printed of a report need not tell of it. */
static void crash_say_damage(const crash_result *result)
{
    machsym_error err = {MACHSYM_ERR_DAMAGED, 0, "the report is damaged: what follows there is lost",
                         "protobuf", result->damaged_at};
    if (result->is_cut) {
        err.what = "the report is cut short: what was whole is answered; fetch the file again";
        err.where = "JSON";
    }
    text what = {0};
    if (result->damage != NULL) {
        text_c(&what, "the report is damaged: ");
        text_c(&what, result->damage);
        text_c(&what, "; the rest is answered");
        err.what = text_z(&what);
        err.where = "binary";
    }
    if (result->damaged_at > 0 && result->failure.len == 0)
        say_fault(result->path, &err);
    text_free(&what);
}

/* Says why a file has no answer. What is passed over needs no advice, and no word when all is to be quiet. */
static void crash_say_failed(const crash_result *result, bool is_quiet)
{
    machsym_str why = {result->failure.v, result->failure.len};
    size_t what = str_find(why, "; ");
    if (!crash_is_passed(result))
        say_message("%s: %.*s", result->path, (int)why.len, why.ptr);
    else if (!is_quiet)
        say_message("%s: passed over: %.*s", result->path, (int)what, why.ptr);
}

/* Prints what is finished, in the order of the command line. */
static void crash_emit(crash_run *run, crash_result *result)
{
    const crash_options *o = run->options;
    machsym_str broken = {result->broken.v, result->broken.len};
    machsym_str line;
    run->left_out += result->failure.len == 0 && broken.len == 0 && result->report_count == 0;
    while (str_take_line(&broken, &line))
        say_message("%s%.*s", result->path, (int)line.len, line.ptr);
    if (result->failure.len > 0) {
        crash_say_failed(result, o->quiet);
    } else if (o->summary || o->brief) {
        if (run->count > 1 && result->report_count == 1 && !o->json && !o->brief)
            out_line("== %s", result->label);
        out_write(result->summary.v, result->summary.len);
    } else if (o->signature) {
        for (uint32_t i = 0; i < result->report_count; i++)
            crash_print_signature(&result->answers[i], o->json);
    } else if (result->output_path == NULL && !run->in_place) {
        out_write(result->output.v, result->output.len);
    }
    crash_say_damage(result);
    if (result->failure.len == 0 && result->report_count > 0)
        crash_say_report(run, result);
    crash_count_result(run, result);
}

/* Renames a thread's temporary files to their final names. The lock is held when it returns. */
static void crash_end_batch(crash_run *run, crash_batch *batch)
{
    outfile_end_all(batch->files, batch->count);
    for (size_t i = 0; i < batch->count; i++)
        crash_say_failure(batch->v[i], &batch->files[i]);
    pthread_mutex_lock(&run->lock);
    for (size_t i = 0; i < batch->count; i++)
        batch->v[i]->done = true;
    batch->count = 0;
    while (run->emitted < run->next && run->ring[run->emitted % run->ring_size].done)
        crash_emit(run, &run->ring[run->emitted++ % run->ring_size]);
    pthread_cond_broadcast(&run->printed);
    if (run->progress)
        fprintf(stderr, "\r%zu of %zu reports%s", run->emitted, run->count,
                run->emitted == run->count ? "\n" : "");
}

static void crash_name_report(const crash_run *run, crash_result *result, size_t index)
{
    const crash_options *o = run->options;
    text label = {0};
    result->path = result->label = run->paths[index];
    result->is_found = run->found != NULL && run->found[index] != 0;
    result->output_path = run->output_names != NULL ? run->output_names[index] : o->output;
    if (o->resolve.redact == NULL)
        return;
    redact_users(o->resolve.redact, str_c(result->path), &label);
    result->label = pool_copy_z(&result->labels, label.v, label.len);
    text_free(&label);
}

/* Takes the next report; NULL: there is none, or too many wait already. */
static crash_result *crash_take_report(crash_run *run)
{
    if (run->next == run->count || run->next - run->emitted == run->ring_size)
        return NULL;
    crash_result *result = &run->ring[run->next % run->ring_size];
    memset(result, 0, sizeof *result);
    crash_name_report(run, result, run->next++);
    return result;
}

/* Processes reports until a batch of files is full or no report is left. The lock is held before and
 * after. */
static void crash_fill_batch(crash_run *run, crash_batch *batch)
{
    crash_result *result;
    batch->count = 0;
    while (batch->count < run->batch && (result = crash_take_report(run)) != NULL) {
        pthread_mutex_unlock(&run->lock);
        crash_do_report(run, result);
        batch->v[batch->count] = result;
        crash_write_output(run, result, &batch->files[batch->count++]);
        pthread_mutex_lock(&run->lock);
    }
}

/* While one thread's files are made safe from a power cut, another one does reports. */
static void *crash_work(void *argument)
{
    crash_run *run = argument;
    crash_batch batch;
    pthread_mutex_lock(&run->lock);
    while (run->next < run->count) {
        if (run->working == run->options->jobs || run->next - run->emitted == run->ring_size) {
            pthread_cond_wait(&run->printed, &run->lock);
            continue;
        }
        run->working++;
        crash_fill_batch(run, &batch);
        run->working--;
        pthread_cond_broadcast(&run->printed);
        pthread_mutex_unlock(&run->lock);
        crash_end_batch(run, &batch);
    }
    pthread_mutex_unlock(&run->lock);
    return NULL;
}

/* The first thread is this one. */
static void crash_run_jobs(crash_run *run)
{
    pthread_t threads[MAX_JOBS];
    unsigned started = 0;
    while (started + 1 < run->threads && pthread_create(&threads[started], NULL, crash_work, run) == 0)
        started++;
    crash_work(run);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    out_flush();
}

/* The final table: totals, and which reports failed and why. */
static void crash_print_table(const crash_run *run)
{
    fprintf(stderr, "%zu report%s: %zu done, %zu failed", run->count, run->count == 1 ? "" : "s",
            run->count - run->failed - run->left_out - run->passed, run->failed);
    if (run->passed > 0)
        fprintf(stderr, ", %zu passed over", run->passed);
    if (run->options->only.count > 0)
        fprintf(stderr, ", %zu left out by --only", run->left_out);
    fprintf(stderr, "; %llu frames: %llu named now, %llu without a name\n", run->frames, run->named,
            run->nameless);
    if (run->failures.len > 0)
        fwrite(run->failures.v, 1, run->failures.len, stderr);
}

/* ---- Where to look and where to write ---- */

static char *crash_folder_of(const char *path)
{
    size_t archive_len = members_end(path);
    size_t len = 0;
    for (size_t i = 0; i < archive_len; i++) /* the folder of the archive */
        len = posix_is_slash(path[i]) ? i + 1 : len;
    if (archive_len == 0)
        len = file_folder_len(path);
    len -= len > 1 && path[len - 1] != ':'; /* the slash; C: is one of Windows's folders */
    char *folder = mem_alloc(len + 2);
    memcpy(folder, path, len);
    folder[len] = 0;
    if (len == 0)
        strcpy(folder, ".");
    return folder;
}

/* Without -d: the folders of the reports and the current one, each once when reports come folder by
 * folder. */
static void crash_add_default_stores(store *s, char **reports, size_t count)
{
    char *last = NULL;
    store_add(s, ".", true);
    for (size_t i = 0; i < count; i++) {
        char *folder = strcmp(reports[i], "-") == 0 ? crash_folder_of("") : crash_folder_of(reports[i]);
        if (strcmp(folder, ".") != 0 && (last == NULL || strcmp(folder, last) != 0) &&
            access(folder, R_OK) == 0)
            store_add(s, folder, true);
        free(last);
        last = folder;
    }
    free(last);
}

bool crash_add_named(const crash_options *o, store *s)
{
    bool ok = true;
    for (size_t i = 0; i < o->store_count; i++)
        ok = store_add(s, o->stores[i], false) && ok;
    return ok;
}

static bool crash_add_stores(const crash_options *o, store *s, char **reports, size_t count)
{
    bool ok = crash_add_named(o, s);
    if (o->store_count == 0)
        crash_add_default_stores(s, reports, count);
    store_finish(s);
    return ok;
}

static bool crash_is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static const char *crash_base_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "stdin" : path + file_folder_len(path);
}

static char *crash_output_name(const crash_options *o, const char *report_path, unsigned number)
{
    static const char *const endings[] = {NULL, ".crash", ".json", ".html"};
    const char *base = crash_base_name(report_path);
    const char *dot = strrchr(base, '.');
    size_t stem = dot != NULL && dot != base ? (size_t)(dot - base) : strlen(base);
    text t = {0};
    text_c(&t, o->output);
    text_char(&t, '/');
    text_add(&t, base, stem);
    if (number > 1) {
        text_char(&t, '-');
        text_dec(&t, number);
    }
    bool is_binary = strcmp(base + stem, ".plcrash") == 0 || strcmp(base + stem, ".dmp") == 0 ||
                     strcmp(base + stem, ".core") == 0;
    const char *ending = is_binary ? ".crash" : base + stem; /* it comes out as text */
    text_c(&t, endings[o->format] != NULL ? endings[o->format] : ending);
    text_add(&t, "", 1);
    return t.v;
}

/* A name that reports want for their outputs. */
typedef struct wanted_name {
    char *name;    /* without a number */
    unsigned last; /* the number that was tried last, 1: none but the name itself; 0: that is free */
} wanted_name;

/* Without their case, which some file systems do not tell apart. */
static int crash_by_name(const void *a, const void *b)
{
    return strcasecmp(((const wanted_name *)a)->name, ((const wanted_name *)b)->name);
}

static bool crash_is_before_name(const void *element, const void *name)
{
    return strcasecmp(((const wanted_name *)element)->name, name) < 0;
}

/* Who wants a name; NULL: no one does. */
static wanted_name *crash_find_wanted(wanted_name *v, size_t count, const char *name)
{
    size_t at = mem_lower_bound(v, count, sizeof *v, name, crash_is_before_name);
    return at < count && strcasecmp(v[at].name, name) == 0 ? &v[at] : NULL;
}

/* All names that reports want, sorted, each once. */
static wanted_name *crash_list_wanted(const crash_run *run, size_t *count)
{
    wanted_name *v = mem_alloc(run->count * sizeof *v);
    *count = 0;
    for (size_t i = 0; i < run->count; i++)
        v[i] = (wanted_name){crash_output_name(run->options, run->paths[i], 1), 0};
    qsort(v, run->count, sizeof *v, crash_by_name);
    for (size_t i = 0; i < run->count; i++) {
        if (*count > 0 && strcasecmp(v[*count - 1].name, v[i].name) == 0)
            free(v[i].name);
        else
            v[(*count)++] = v[i];
    }
    return v;
}

/* No two reports share an output: those of one name become NAME.ips, NAME-2.ips and so on, in the order
 * given. A name with a number is no other name's with a number, so only names without one can be in its
 * way. */
static void crash_name_outputs(crash_run *run)
{
    size_t count;
    wanted_name *wanted = crash_list_wanted(run, &count);
    run->output_names = mem_alloc(run->count * sizeof *run->output_names);
    for (size_t i = 0; i < run->count; i++) {
        char *name = crash_output_name(run->options, run->paths[i], 1);
        wanted_name *own = crash_find_wanted(wanted, count, name);
        wanted_name *other = own;
        while (other != NULL && other->last > 0) {
            free(name);
            name = crash_output_name(run->options, run->paths[i], ++own->last);
            other = crash_find_wanted(wanted, count, name);
        }
        if (other != NULL)
            other->last = 1;
        run->output_names[i] = name;
    }
    for (size_t i = 0; i < count; i++)
        free(wanted[i].name);
    free(wanted);
}

static bool crash_prepare_output(crash_run *run)
{
    const crash_options *o = run->options;
    if (o->output == NULL)
        return true;
    size_t len = strlen(o->output);
    bool folder =
        crash_is_folder(o->output) || run->count > 1 || (len > 0 && file_folder_len(o->output) == len);
    if (!folder)
        return true;
    int failure = mkdir(o->output, 0777) != 0 ? errno : 0;
    if (failure != 0 && !crash_is_folder(o->output)) { /* another run may make it meanwhile */
        say_message("%s: %s", o->output,
                    failure == EEXIST ? "no folder, which several reports want" : outfile_error(failure));
        return false;
    }
    run->in_folder = true;
    crash_name_outputs(run);
    return true;
}

/* Adds what is read, once it is known that an output may replace a file. */
static void crash_add_inputs(const crash_run *run, const store *s, outfile_inputs *read)
{
    const char *path;
    for (size_t i = 0; i < run->count; i++)
        outfile_inputs_add(read, run->paths[i]);
    for (size_t i = 0; (path = store_path(s, i)) != NULL; i++)
        outfile_inputs_add(read, path);
    for (size_t i = 0; (path = file_words_path(i)) != NULL; i++)
        outfile_inputs_add(read, path);
}

/* Whether another output is the file of a report in the folder. */
static bool crash_has_name(const char *other, const char *name)
{
    return other != NULL && strcasecmp(crash_base_name(other), crash_base_name(name)) == 0 &&
           outfile_is_same(other, name);
}

/* Whether no output takes the place of symbols, and none in a folder that of what is read. */
static bool crash_spares_inputs(const crash_run *run, const store *s)
{
    const crash_options *o = run->options;
    const char *named[] = {o->json_out, o->groups_out, run->in_folder ? NULL : o->output};
    outfile_inputs symbols = {NULL, 0, 0, false};
    outfile_inputs read = {NULL, 0, 0, false};
    const char *path;
    bool ok = true;
    for (size_t i = 0; (path = store_path(s, i)) != NULL; i++)
        outfile_inputs_add(&symbols, path);
    for (size_t i = 0; i < sizeof named / sizeof *named && ok; i++)
        ok = outfile_inputs_spare(&symbols, named[i]);
    for (size_t i = 0; i < run->count && ok && run->in_folder; i++) {
        const char *name = run->output_names[i];
        if (crash_has_name(o->json_out, name) || crash_has_name(o->groups_out, name)) {
            say_message("%s: is the file of another output, too: name another one", name);
            ok = false;
        }
        if (access(name, F_OK) != 0 || !o->force)
            continue;
        if (read.count == 0)
            crash_add_inputs(run, s, &read);
        ok = ok && outfile_inputs_spare(&read, name);
    }
    outfile_inputs_free(&symbols);
    outfile_inputs_free(&read);
    return ok;
}

/* ---- One run ---- */

/* Why a run leaves the state as it was: then it may be run again without counting a report twice. NULL: it
 * does not. A report that failed was not counted. If every report failed, no state is written: it would
 * look like a day without crashes. */
static const char *crash_why_no_state(const crash_run *run, int status)
{
    if (run->grouped == 0 && run->failed > 0)
        return "every report failed";
    if (run->has_failed)
        return "a file of symbols failed, and reports may be of other groups with it";
    if (status_lacked_memory())
        return "memory ran out, and reports may be of other groups";
    if (say_is_output_lost())
        return "standard output failed";
    if (run->options->json_out != NULL && run->json.failure != 0)
        return "the file of --json-out is not";
    if (run->options->strict && run->unresolved > 0 && status != TOOL_OK)
        return "--strict wants names that are missing";
    return NULL;
}

/* The last thing that a run does. */
static int crash_keep_groups(const crash_run *run, int status)
{
    const char *why = crash_why_no_state(run, status);
    if (run->options->groups_out == NULL)
        return status;
    if (why == NULL)
        return state_write(run->groups, &run->state) ? status : TOOL_ERROR;
    say_message("%s: is not written, since %s", run->options->groups_out, why);
    return TOOL_ERROR;
}

static void crash_print_groups(const crash_run *run)
{
    text out = {0};
    groups_print(run->groups, run->options->json, &out);
    out_text(&out);
    text_free(&out);
}

/* What is missing: where it was asked for, else where it is seen. A summary that was told has it already. */
static void crash_print_missing(crash_run *run)
{
    const crash_options *o = run->options;
    text t = {0};
    bool seen = run->tell && run->count == 1;
    if (o->missing == MISSING_JSON) {
        missing_put_json(&run->missing, &t);
        if (o->json)
            json_one_line(&t, 0);
    } else if (o->missing == MISSING_TEXT || (!o->quiet && !seen)) {
        missing_put_text(&run->missing, &t);
    }
    if (o->missing != MISSING_SAID)
        out_text(&t);
    else if (t.len > 0)
        fwrite(t.v, 1, t.len, stderr);
    text_free(&t);
}

static int crash_finish(crash_run *run)
{
    bool has_none = run->passed > 0 && run->passed == run->count;
    int status = run->has_failed || run->failed > 0 || has_none ? TOOL_ERROR : TOOL_OK;
    if (run->groups != NULL)
        crash_print_groups(run);
    out_flush();
    if (has_none)
        say_message("none of these %zu files is a report; name a crash report", run->count);
    crash_print_missing(run);
    if ((run->count > 1 || run->left_out > 0) && !run->options->quiet)
        crash_print_table(run);
    if (run->options->fails_missing && missing_waits(&run->missing))
        return TOOL_ERROR;
    return run->options->strict && run->unresolved > 0 ? TOOL_ERROR : status;
}

bool crash_is_answered(const crash_options *o)
{
    return o->summary || o->brief || o->signature || o->group || o->missing != MISSING_SAID;
}

images_options crash_images_how(const crash_options *o, const store *s)
{
    images_options how;
    memset(&how, 0, sizeof how);
    how.store = s;
    how.lines = o->lines.lines;
    how.session_flags = o->session_flags;
    how.open_flags = o->copy ? MACHSYM_OPEN_COPY : 0;
    how.jobs = o->jobs;
    how.rules = o->rules;
    how.objects = &o->objects;
    how.map_folders = o->maps;
    how.map_folder_count = o->map_count;
    return how;
}

/* What is there for all reports of a run. */
static void crash_open_run(crash_run *run, const crash_options *o, const store *s)
{
    images_options images_how = crash_images_how(o, s);
    run->images = images_open(&images_how);
    run->threads = run->in_folder && o->jobs <= MAX_FILES / 2 ? 2 * o->jobs : o->jobs;
    run->batch = !run->in_folder || run->threads >= MAX_FILES ? 1 : MAX_FILES / run->threads;
    run->batch = run->batch < BATCH ? run->batch : BATCH;
    run->ring_size = (size_t)run->threads * (run->batch > 1 ? 2 * run->batch : AHEAD);
    run->ring = mem_alloc(run->ring_size * sizeof *run->ring);
    pthread_mutex_init(&run->lock, NULL);
    pthread_cond_init(&run->printed, NULL);
}

static void crash_close_run(crash_run *run)
{
    pthread_mutex_destroy(&run->lock);
    pthread_cond_destroy(&run->printed);
    images_close(run->images);
    free(run->ring);
}

/* Whether memory was enough to look at all files of symbols: files of reports that lack names for it are not
 * written. */
static bool crash_has_memory(const crash_options *o)
{
    return status_had_memory(o->output) && status_had_memory(o->json_out) && status_had_memory(o->groups_out);
}

/* A state that is no good is told before anything else is done. */
static bool crash_open_groups(crash_run *run)
{
    if (!run->options->group)
        return true;
    run->groups = groups_open();
    if (run->options->groups_out != NULL)
        run->state = state_look_at(run->options->groups_out);
    return run->options->groups_in == NULL || state_read(run->groups, run->options->groups_in);
}

/* Colours are for terminals, and for users who ask for them. NO_COLOR counts unless it is empty. */
static bool crash_has_colour(const crash_options *o)
{
    const char *no = getenv("NO_COLOR");
    if (o->colour != COLOUR_AUTO)
        return o->colour == COLOUR_ALWAYS;
    return isatty(o->summary ? STDOUT_FILENO : STDERR_FILENO) && (no == NULL || no[0] == 0);
}

int crash_run_reports(const crash_options *o, char **reports, const char *found, size_t count)
{
    store_options store_how = {o->no_cache};
    store *s = store_open(&store_how);
    crash_run run;
    int status = TOOL_ERROR;
    memset(&run, 0, sizeof run);
    run.options = o;
    run.paths = reports;
    run.found = count > 1 ? found : NULL; /* nothing is beside the only one */
    run.count = count;
    run.in_place = crash_is_answered(o);
    run.tell = !o->quiet && !run.in_place && isatty(STDERR_FILENO) && count < 10;
    run.progress = !o->quiet && count > 1 && isatty(STDERR_FILENO) && !run.tell;
    run.brief = !o->quiet && !o->summary && !o->brief && !run.tell && !run.progress;
    run.colour = crash_has_colour(o);
    bool has_run = false;
    bool is_ready = crash_open_groups(&run) && crash_add_stores(o, s, reports, count) &&
                    crash_has_memory(o) && crash_prepare_output(&run) && crash_spares_inputs(&run, s);
    if (is_ready && (o->json_out == NULL || outfile_begin(&run.json, o->json_out, OUTFILE_REPLACE))) {
        crash_open_run(&run, o, s);
        crash_run_jobs(&run);
        run.has_failed |= crash_say_complaints(run.images); /* even when nothing else is told */
        crash_close_run(&run);
        run.has_failed |= store_failed(s) || (store_has_broken(s) && missing_waits(&run.missing)) ||
                          (store_has_broken_system(s) && missing_waits_for_system(&run.missing));
        status = crash_finish(&run);
        has_run = true;
    }
    if (o->json_out != NULL && is_ready) {
        outfile_end(&run.json, &run.json_waits, run.has_json);
        status = run.json.failure != 0 ? TOOL_ERROR : status;
    }
    if (has_run && run.groups != NULL)
        status = crash_keep_groups(&run, status);
    for (size_t i = 0; i < count && run.output_names != NULL; i++)
        free(run.output_names[i]);
    free(run.output_names);
    if (run.groups != NULL)
        groups_close(run.groups);
    missing_free(&run.missing);
    text_free(&run.failures);
    pool_free(&run.labels);
    store_close(s);
    return status;
}
