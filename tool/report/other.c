/* Other JSON reports: MetricKit payloads, KSCrash reports, Sentry events. */
#include "report.h"

#include <stdlib.h>
#include <string.h>

/* ---- What they share ---- */

static bool other_uuid(machsym_str raw, machsym_uuid *out)
{
    char written[40];
    raw.len = raw.len > 36 ? 36 : raw.len; /* Sentry's debug_id may go on with an age */
    memcpy(written, raw.ptr != NULL ? raw.ptr : "", raw.len);
    written[raw.len] = 0;
    return parse_uuid(written, out);
}

/* The first member of an object that goes by one of two names. */
static uint32_t either(const json *doc, uint32_t object, const char *a, const char *b)
{
    uint32_t value = json_get(doc, object, a);
    return value != JSON_NONE ? value : json_get(doc, object, b);
}

/* An image of KSCrash or Sentry: the same fields under nearly the same names. */
static void add_binary_image(report *r, const json *doc, uint32_t object)
{
    uint64_t size = 0;
    uint64_t cpu;
    uint64_t sub = 0;
    report_image *image = report_add_image(r);
    json_u64(doc, json_get(doc, object, "image_addr"), &image->base);
    if (json_u64(doc, json_get(doc, object, "image_size"), &size) && size <= UINT64_MAX - image->base)
        image->end = image->base + size;
    image->path = report_json_str(r, doc, either(doc, object, "code_file", "name"));
    image->name = str_base_name(image->path);
    image->has_uuid = other_uuid(json_raw(doc, either(doc, object, "uuid", "debug_id")), &image->uuid);
    image->arch = report_json_str(r, doc, json_get(doc, object, "arch"));
    if (json_u64(doc, json_get(doc, object, "cpu_type"), &cpu)) {
        json_u64(doc, json_get(doc, object, "cpu_subtype"), &sub);
        image->arch = str_c(machsym_arch_name((uint32_t)cpu, (uint32_t)sub));
    }
}

static void add_binary_images(report *r, const json *doc, uint32_t array)
{
    uint32_t at = JSON_NONE;
    while (json_next(doc, array, &at))
        add_binary_image(r, doc, at);
}

/* Where a frame already has a line of source: "File.m:12". */
static void set_where(report *r, report_frame *frame, machsym_str path, machsym_str line)
{
    text t = {0};
    text_str(&t, str_base_name(path));
    text_char(&t, ':');
    text_str(&t, line);
    frame->where = pool_copy(&r->strings, t.v, t.len);
    frame->given_line = true;
    text_free(&t);
}

/* The frames of an array. A name without a line was looked up on the device, among exported symbols only. */
static void add_stack(report *r, uint32_t doc_index, uint32_t array, frame_form form)
{
    const json *doc = &r->docs[doc_index];
    report_thread *thread = &r->threads[r->thread_count - 1];
    uint32_t at = JSON_NONE;
    thread->callers_first = form == FORM_SENTRY;
    while (json_next(doc, array, &at)) {
        uint64_t addr;
        if (!json_u64(doc, json_get(doc, at, "instruction_addr"), &addr))
            continue;
        report_frame *frame = report_add_frame(r);
        frame->addr = addr;
        frame->form = (uint8_t)form;
        frame->doc = doc_index;
        frame->token = at;
        frame->at = doc->v[at].at;
        frame->end = doc->v[at].end;
        frame->name = report_json_str(r, doc, either(doc, at, "function", "symbol_name"));
        frame->given_inline = json_true(doc, json_get(doc, at, "inline"));
        uint32_t line = either(doc, at, "lineno", "source_line");
        if (line != JSON_NONE)
            set_where(r, frame, report_json_str(r, doc, either(doc, at, "filename", "source_file")),
                      json_raw(doc, line));
        if (frame->name.len > 0 && !str_is(frame->name, "<redacted>"))
            frame->named = line != JSON_NONE ? NAME_GIVEN : NAME_WEAK;
    }
    uint32_t index = 0;
    for (uint32_t i = 0; i < thread->count; i++) {
        report_frame *frame = &r->frames[thread->first + (thread->callers_first ? thread->count - 1 - i : i)];
        frame->index = index;
        frame->exact = index == 0;
        index += !frame->given_inline;
    }
}

/* ---- KSCrash ---- */

static void set_kscrash_facts(report *r, const json *doc, uint32_t crash)
{
    uint32_t error = json_get(doc, crash, "error");
    uint32_t system = json_get(doc, 0, "system");
    uint32_t mach = json_get(doc, error, "mach");
    uint32_t thrown = json_get(doc, error, "nsexception");
    report_set_fact(r, FACT_PROCESS, report_json_str(r, doc, json_get(doc, system, "process_name")));
    report_set_fact(r, FACT_IDENTIFIER, report_json_str(r, doc, json_get(doc, system, "CFBundleIdentifier")));
    report_set_fact(r, FACT_VERSION,
                    report_json_str(r, doc, json_get(doc, system, "CFBundleShortVersionString")));
    report_set_fact(r, FACT_OS, report_json_str(r, doc, json_get(doc, system, "system_version")));
    report_set_fact(r, FACT_HARDWARE, report_json_str(r, doc, json_get(doc, system, "machine")));
    report_set_fact(r, FACT_EXCEPTION, report_json_str(r, doc, json_get(doc, mach, "exception_name")));
    report_set_fact(r, FACT_SUBTYPE, report_json_str(r, doc, json_get(doc, mach, "code_name")));
    report_set_fact(r, FACT_SIGNAL,
                    report_json_str(r, doc, json_get(doc, json_get(doc, error, "signal"), "name")));
    report_set_fact(r, FACT_REASON, report_json_str(r, doc, json_get(doc, thrown, "reason")));
    report_set_fact(r, FACT_REASON, report_json_str(r, doc, json_get(doc, error, "reason")));
    report_set_fact(r, FACT_DESCRIPTION, report_json_str(r, doc, json_get(doc, crash, "diagnosis")));
}

static bool parse_kscrash(report *r, uint32_t doc_index)
{
    const json *doc = &r->docs[doc_index];
    uint32_t crash = json_get(doc, 0, "crash");
    uint32_t threads = json_get(doc, crash, "threads");
    uint32_t images = json_get(doc, 0, "binary_images");
    uint32_t at = JSON_NONE;
    if (!json_is(doc, threads, JSON_ARRAY) || !json_is(doc, images, JSON_ARRAY))
        return false;
    r->kind = REPORT_KSCRASH;
    set_kscrash_facts(r, doc, crash);
    add_binary_images(r, doc, images);
    while (json_next(doc, threads, &at)) {
        report_thread *thread = report_add_thread(r);
        json_u64(doc, json_get(doc, at, "index"), &thread->number);
        thread->crashed = json_true(doc, json_get(doc, at, "crashed"));
        thread->name = report_json_str(r, doc, json_get(doc, at, "name"));
        thread->queue = report_json_str(r, doc, json_get(doc, at, "dispatch_queue"));
        add_stack(r, doc_index, json_get(doc, json_get(doc, at, "backtrace"), "contents"), FORM_KSCRASH);
    }
    return true;
}

/* ---- Sentry ---- */

/* The stacks of threads.values or exception.values; an exception's is the one that crashed. */
static void add_sentry_stacks(report *r, uint32_t doc_index, const char *key)
{
    const json *doc = &r->docs[doc_index];
    uint32_t container = json_get(doc, 0, key);
    uint32_t values = json_is(doc, container, JSON_ARRAY) ? container : json_get(doc, container, "values");
    bool exception = strcmp(key, "exception") == 0;
    uint32_t at = JSON_NONE;
    while (json_next(doc, values, &at)) {
        uint32_t frames = json_get(doc, json_get(doc, at, "stacktrace"), "frames");
        if (!json_is(doc, frames, JSON_ARRAY))
            continue;
        report_thread *thread = report_add_thread(r);
        json_u64(doc, either(doc, at, "thread_id", "id"), &thread->number);
        thread->crashed = exception || json_true(doc, json_get(doc, at, "crashed"));
        thread->name = report_json_str(r, doc, json_get(doc, at, "name"));
        if (exception) {
            report_set_fact(r, FACT_EXCEPTION, report_json_str(r, doc, json_get(doc, at, "type")));
            report_set_fact(r, FACT_DESCRIPTION, report_json_str(r, doc, json_get(doc, at, "value")));
        }
        add_stack(r, doc_index, frames, FORM_SENTRY);
    }
}

static bool parse_sentry(report *r, uint32_t doc_index)
{
    const json *doc = &r->docs[doc_index];
    uint32_t images = json_get(doc, json_get(doc, 0, "debug_meta"), "images");
    if (!json_is(doc, images, JSON_ARRAY))
        return false;
    r->kind = REPORT_SENTRY;
    report_set_fact(r, FACT_INCIDENT, report_json_str(r, doc, json_get(doc, 0, "event_id")));
    report_set_fact(r, FACT_DATE, report_json_str(r, doc, json_get(doc, 0, "timestamp")));
    add_binary_images(r, doc, images);
    add_sentry_stacks(r, doc_index, "threads");
    add_sentry_stacks(r, doc_index, "exception");
    return true;
}

/* ---- MetricKit ---- */

/* A payload lists no images: every frame makes one up, and those that are alike become one. */
static void add_metric_image(report *r, const json *doc, uint32_t object, uint64_t base)
{
    machsym_uuid uuid;
    report_image *image = report_add_image(r);
    image->base = base;
    image->name = report_json_str(r, doc, json_get(doc, object, "binaryName"));
    image->has_uuid = other_uuid(json_raw(doc, json_get(doc, object, "binaryUUID")), &uuid);
    if (image->has_uuid)
        image->uuid = uuid;
}

/* What tells images that were made up apart. */
typedef struct metric_key {
    uint64_t base;
    machsym_uuid uuid;
    uint32_t index;
} metric_key;

static int by_metric_key(const void *a, const void *b)
{
    const metric_key *x = a;
    const metric_key *y = b;
    int order = memcmp(&x->uuid, &y->uuid, sizeof x->uuid);
    MACHSYM_COUNT_WORK(1);
    if (x->base != y->base)
        return x->base < y->base ? -1 : 1;
    return order != 0 ? order : x->index < y->index ? -1 : x->index > y->index;
}

/* The images and frames from the given ones on are the payload's. The first of those that are alike stays. */
static void merge_metric_images(report *r, uint32_t first, uint32_t first_frame)
{
    uint32_t count = r->image_count - first;
    metric_key *keys = tool_alloc(count * sizeof *keys);
    uint32_t *to = tool_alloc(count * sizeof *to);
    for (uint32_t i = 0; i < count; i++)
        keys[i] = (metric_key){r->images[first + i].base, r->images[first + i].uuid, i};
    qsort(keys, count, sizeof *keys, by_metric_key);
    for (uint32_t i = 0; i < count; i++) {
        bool alike = i > 0 && keys[i].base == keys[i - 1].base &&
                     memcmp(&keys[i].uuid, &keys[i - 1].uuid, sizeof keys[i].uuid) == 0;
        to[keys[i].index] = alike ? to[keys[i - 1].index] : keys[i].index;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (to[i] == i)
            r->images[first + kept] = r->images[first + i];
        to[i] = to[i] == i ? kept++ : to[to[i]];
    }
    r->image_count = first + kept;
    for (uint32_t i = first_frame; i < r->frame_count; i++)
        r->frames[i].image = first + to[r->frames[i].image - first];
    free(keys);
    free(to);
}

/* The offset sometimes holds the load address. */
static uint64_t metric_base(uint64_t addr, uint64_t offset)
{
    return offset > addr / 2 || offset >= (uint64_t)1 << 32 ? offset : addr - offset;
}

static void add_metric_frame(report *r, uint32_t doc_index, uint32_t object, bool per_thread)
{
    const json *doc = &r->docs[doc_index];
    uint64_t addr;
    uint64_t offset;
    if (!json_u64(doc, json_get(doc, object, "address"), &addr) ||
        !json_u64(doc, json_get(doc, object, "offsetIntoBinaryTextSegment"), &offset))
        return;
    add_metric_image(r, doc, object, metric_base(addr, offset));
    uint32_t sub = json_get(doc, object, "subFrames");
    uint32_t array = doc->v[object].parent;
    bool root = array != JSON_NONE && array > 0 && !json_equals(doc, array - 1, "subFrames");
    report_frame *frame = report_add_frame(r);
    frame->form = FORM_METRIC;
    frame->doc = doc_index;
    frame->token = object;
    frame->at = doc->v[object].at;
    frame->end = doc->v[object].end;
    frame->addr = addr;
    frame->image = r->image_count - 1;
    frame->index = r->threads[frame->thread].count - 1;
    frame->exact = per_thread ? root : sub == JSON_NONE || doc->v[sub].next == sub + 1;
    frame->name = report_json_str(r, doc, json_get(doc, object, "symbol"));
    frame->named = frame->name.len > 0 ? NAME_GIVEN : NAME_NONE;
}

/* What MetricKit says of a diagnostic; the first one's stands for the payload. */
static void set_metric_facts(report *r, const json *doc, uint32_t object)
{
    static const char *const exceptions[] = {NULL,
                                             "EXC_BAD_ACCESS",
                                             "EXC_BAD_INSTRUCTION",
                                             "EXC_ARITHMETIC",
                                             NULL,
                                             "EXC_SOFTWARE",
                                             "EXC_BREAKPOINT",
                                             NULL,
                                             NULL,
                                             NULL,
                                             "EXC_CRASH",
                                             "EXC_RESOURCE",
                                             "EXC_GUARD"};
    static const char *const signals[] = {NULL,      NULL,      NULL,     "SIGQUIT", "SIGILL",
                                          "SIGTRAP", "SIGABRT", NULL,     "SIGFPE",  "SIGKILL",
                                          "SIGBUS",  "SIGSEGV", "SIGSYS", "SIGPIPE"};
    uint64_t number;
    if (json_u64(doc, json_get(doc, object, "exceptionType"), &number) && number < 13 &&
        exceptions[number] != NULL)
        report_set_fact(r, FACT_EXCEPTION, str_c(exceptions[number]));
    if (json_u64(doc, json_get(doc, object, "signal"), &number) && number < 14 && signals[number] != NULL)
        report_set_fact(r, FACT_SIGNAL, str_c(signals[number]));
    report_set_fact(r, FACT_TERMINATION, report_json_str(r, doc, json_get(doc, object, "terminationReason")));
    report_set_fact(r, FACT_OS, report_json_str(r, doc, json_get(doc, object, "osVersion")));
    report_set_fact(r, FACT_HARDWARE, report_json_str(r, doc, json_get(doc, object, "deviceType")));
    report_set_fact(r, FACT_VERSION, report_json_str(r, doc, json_get(doc, object, "appVersion")));
    report_set_fact(r, FACT_IDENTIFIER, report_json_str(r, doc, json_get(doc, object, "bundleIdentifier")));
}

/* One pass over all tokens finds the stacks of every diagnostic of a payload. A crash has its innermost frame
 * at the root; a tree of samples, which is not per thread, its outermost. */
static bool parse_metric(report *r, uint32_t doc_index)
{
    const json *doc = &r->docs[doc_index];
    uint32_t first_image = r->image_count;
    uint32_t first_frame = r->frame_count;
    bool per_thread = true;
    uint32_t stacks_end = 0;
    uint8_t *attributed = tool_alloc(doc->count); /* by object: 0 not asked yet, 1 no, 2 yes */
    memset(attributed, 0, doc->count);
    for (uint32_t i = 0; i < doc->count; i++) {
        if (doc->v[i].type == JSON_OBJECT && i < stacks_end)
            add_metric_frame(r, doc_index, i, per_thread);
        if (doc->v[i].type != JSON_KEY)
            continue;
        if (json_equals(doc, i, "callStackTree"))
            per_thread = json_true(doc, json_get(doc, i + 1, "callStackPerThread"));
        if (json_equals(doc, i, "diagnosticMetaData"))
            set_metric_facts(r, doc, i + 1);
        if (!json_equals(doc, i, "callStackRootFrames"))
            continue;
        uint32_t stack = doc->v[i].parent; /* which may have this key many times */
        if (attributed[stack] == 0)
            attributed[stack] = json_true(doc, json_get(doc, stack, "threadAttributed")) ? 2 : 1;
        report_thread *thread = report_add_thread(r);
        thread->crashed = attributed[stack] == 2;
        thread->callers_first = !per_thread;
        stacks_end = doc->v[i + 1].next;
        r->kind = REPORT_METRIC;
        r->main_doc = doc_index;
    }
    free(attributed);
    merge_metric_images(r, first_image, first_frame);
    return r->main_doc == doc_index;
}

bool report_parse_other_json(report *r, uint32_t doc_index)
{
    bool found = parse_kscrash(r, doc_index) || parse_sentry(r, doc_index) || parse_metric(r, doc_index);
    if (found)
        r->main_doc = doc_index;
    return found;
}
