/* ==== >> read/metrickit ====
 * Job: MetricKit: payloads of diagnostics and of metrics.
 * Offers: its reader, for read/formats.h.
 * Never: joins two diagnostics.
 *
 * Each diagnostic of a payload is a report. */
#include "../base/digits.h"
#include "../base/json.h"
#include "../base/memory.h"
#include "../base/text.h"
#include "../model/json_stack.h"
#include "../model/parts.h"
#include "../model/report.h"
#include "../model/stack.h"
#include "../model/termination.h"
#include "machsym.h"
#include "formats.h"

#include <stdlib.h>
#include <string.h>

/* Payloads have no image list. Each frame names its binary, and equal ones are merged. */
static void metrickit_add_metric_image(report *r, const json *doc, uint32_t object, uint64_t base)
{
    machsym_uuid uuid;
    report_image *image = report_add_image(r);
    image->base = base;
    image->name = report_json_str(r, doc, json_get(doc, object, "binaryName"));
    uint32_t id = fields_either(doc, object, "binaryUUID", "binaryUuid");
    image->has_uuid = parse_uuid_str(json_raw(doc, id), &uuid);
    if (image->has_uuid)
        image->uuid = uuid;
}

/* The offset member sometimes holds the load address. */
static uint64_t metrickit_metric_base(uint64_t addr, uint64_t offset)
{
    return offset > addr / 2 || offset >= (uint64_t)1 << 32 ? offset : addr - offset;
}

static const json_fact metadata_facts[] = {
    {"osVersion", FACT_OS},
    {"deviceType", FACT_HARDWARE},
    {"deviceModel", FACT_HARDWARE},
    {"platformArchitecture", FACT_CODE_TYPE},
    {"bundleIdentifier", FACT_IDENTIFIER},
    {"pid", FACT_PID},
};
enum { METADATA_FACTS = sizeof metadata_facts / sizeof *metadata_facts };

/* The app and device of an object. */
typedef struct metric_app {
    machsym_str version;
    machsym_str build;
    machsym_str facts[METADATA_FACTS];
} metric_app;

/* A payload gives them for all of its diagnostics, in its metadata or beside them. */
typedef struct metric_payload {
    metric_app metadata;
    metric_app own;
} metric_payload;

/* One pass over the tokens of a document. */
typedef struct metric_reader {
    report *r;
    uint32_t doc;
    bool per_thread; /* of the current tree: a stack for each thread; else samples of all threads */
    bool is_crash;
    bool has_binaries;   /* a tree lists its binaries separately */
    uint32_t stacks_end; /* the token after the current frames */
    uint32_t tree_end;   /* the token after the current tree */
    uint32_t payload;    /* the payload that `date` belongs to */
    machsym_str date;
    uint8_t *seen;            /* by object: whether a diagnostic was begun; for a stack, SEEN_... */
    metric_payload *payloads; /* each is searched once, however many diagnostics it has */
    uint32_t payload_count;
    uint32_t payload_cap;
    uint32_t *payload_of; /* by token: its index in payloads plus 1; 0: not searched yet */
} metric_reader;

enum { SEEN_DIAGNOSTIC = 1, SEEN_PLAIN, SEEN_ATTRIBUTED };

/* ---- Frames ---- */

static void metrickit_add_metric_frame(metric_reader *w, uint32_t object)
{
    report *r = w->r;
    const json *doc = &r->docs[w->doc];
    uint64_t addr;
    uint64_t offset;
    uint64_t samples;
    if (!json_u64(doc, json_get(doc, object, "address"), &addr) ||
        !json_u64(doc, json_get(doc, object, "offsetIntoBinaryTextSegment"), &offset))
        return;
    addr = report_plain_addr(r, addr);
    metrickit_add_metric_image(r, doc, object, metrickit_metric_base(addr, offset));
    report_frame *frame = report_add_frame(r);
    frame->form = FORM_METRIC;
    frame->doc = w->doc;
    frame->token = object;
    frame->at = doc->v[object].at;
    frame->end = doc->v[object].end;
    frame->addr = frame->given = addr;
    frame->image = r->image_count - 1;
    if (json_u64(doc, json_get(doc, object, "sampleCount"), &samples))
        frame->samples = samples < UINT32_MAX ? (uint32_t)samples : UINT32_MAX;
    frame->name = report_json_str(r, doc, json_get(doc, object, "symbol"));
    frame->named = report_is_no_name(frame->name, stack_image_name(r, frame)) ? NAME_NONE : NAME_GIVEN;
}

/* ---- Trees ---- */

/* Computes the nesting depth of a thread's frames, and where the frames inside each one end. A frame is
 * inside each earlier frame whose text encloses its own. Returns whether a frame has several children. */
static bool metrickit_measure_tree(const report *r, const report_thread *thread, uint32_t *end)
{
    if (thread->count == 0)
        return false;
    report_frame *frames = &r->frames[thread->first];
    uint32_t *open = (uint32_t *)mem_take(r->memory, thread->count * sizeof *open);
    uint32_t depth = 0;
    bool has_branches = false;
    for (uint32_t i = 0; i < thread->count; i++) {
        uint32_t before = depth;
        while (depth > 0 && frames[open[depth - 1]].end <= frames[i].at)
            end[open[--depth]] = i;
        has_branches |= i > 0 && depth < before;
        frames[i].depth = depth;
        open[depth++] = i;
    }
    while (depth > 0)
        end[open[--depth]] = thread->count;
    mem_give(r->memory, open);
    return has_branches;
}

/* Returns the heaviest frame from lo to hi that is not inside another; the first of equal ones. */
static uint32_t metrickit_heaviest(const report_frame *frames, const uint32_t *end, uint32_t lo, uint32_t hi)
{
    uint32_t best = lo;
    for (uint32_t i = lo; i < hi; i = end[i]) {
        MACHSYM_COUNT_WORK(1);
        if (frames[i].samples > frames[best].samples)
            best = i;
    }
    return best;
}

/* Moves the heaviest path of a tree to the front, so that it reads as a stack. The branches follow, the last
 * one first. Otherwise frames keep their order. */
static void metrickit_order_tree(report *r, report_thread *thread, const uint32_t *end)
{
    if (thread->count == 0)
        return;
    report_frame *frames = &r->frames[thread->first];
    uint32_t count = thread->count;
    report_frame *from = (report_frame *)mem_take(r->memory, count * sizeof *from);
    uint32_t lo = 0;
    uint32_t hi = count;
    uint32_t tail = count;
    memcpy(from, frames, count * sizeof *from);
    thread->path = 0;
    while (lo < hi) {
        uint32_t best = metrickit_heaviest(from, end, lo, hi);
        uint32_t before = best - lo;
        uint32_t after = hi - end[best];
        tail -= before + after;
        memcpy(frames + tail, from + lo, before * sizeof *from);
        memcpy(frames + tail + before, from + end[best], after * sizeof *from);
        frames[thread->path++] = from[best];
        lo = best + 1;
        hi = end[best];
    }
    mem_give(r->memory, from);
}

/* Threads begin in these images, and end in others. */
static bool metrickit_is_start(machsym_str image)
{
    return str_is(image, "dyld") || str_is(image, "libdyld.dylib") ||
           str_is(image, "libsystem_pthread.dylib");
}

/* In a thread's stack the root is the innermost frame; in a tree of samples it is the outermost. Some writers
 * mark a hang as stacks of threads although it is a tree. It is a tree if it branches, or if its root is
 * where threads begin. */
static bool metrickit_is_tree(const metric_reader *w, const report_thread *thread, bool has_branches)
{
    if (!w->per_thread || has_branches)
        return true;
    if (w->is_crash || thread->count < 2)
        return false;
    const report_frame *first = &w->r->frames[thread->first];
    return metrickit_is_start(stack_image_name(w->r, first)) &&
           !metrickit_is_start(stack_image_name(w->r, &first[thread->count - 1]));
}

/* Call it after all frames of the last thread. */
static void metrickit_end_stack(metric_reader *w)
{
    report *r = w->r;
    if (w->stacks_end == 0)
        return;
    w->stacks_end = 0;
    report_thread *thread = &r->threads[r->thread_count - 1];
    uint32_t *end = (uint32_t *)mem_take(w->r->memory, thread->count * sizeof *end);
    bool has_branches = metrickit_measure_tree(r, thread, end);
    thread->callers_first = metrickit_is_tree(w, thread, has_branches);
    for (uint32_t i = 0; i < thread->count; i++) {
        report_frame *frame = &r->frames[thread->first + i];
        frame->exact = thread->callers_first ? end[i] == i + 1 : frame->depth == 0;
        frame->depth = thread->callers_first ? frame->depth : 0;
        frame->samples = thread->callers_first || !w->is_crash ? frame->samples : 0;
    }
    if (thread->callers_first && thread->count > 0)
        metrickit_order_tree(r, thread, end);
    for (uint32_t i = 0; i < thread->count; i++)
        r->frames[thread->first + i].index = i;
    mem_give(w->r->memory, end);
}

static void metrickit_begin_stack(metric_reader *w, uint32_t key)
{
    const json *doc = &w->r->docs[w->doc];
    uint32_t stack = doc->v[key].parent; /* it may have this key many times */
    metrickit_end_stack(w);
    if (w->seen[stack] == 0)
        w->seen[stack] =
            json_true(doc, json_get(doc, stack, "threadAttributed")) ? SEEN_ATTRIBUTED : SEEN_PLAIN;
    report_thread *thread = report_add_thread(w->r);
    thread->crashed = w->seen[stack] == SEEN_ATTRIBUTED;
    w->stacks_end = doc->v[key + 1].next;
    w->r->kind = REPORT_METRIC;
    w->r->main_doc = w->doc;
}

/* ---- Names of binaries ---- */

/* From iOS 27 on, a tree lists its binaries once, by UUID, as Apple documents: CallStackTree.binaryInfo.
 * Swift writes such a dictionary as an array of alternating keys and values, or as an object. We have not yet
 * seen a payload of a device. */

/* Finds an image by its UUID. */
typedef struct named_binary {
    machsym_uuid uuid;
    uint32_t image;
} named_binary;

static int metrickit_by_uuid(const void *a, const void *b)
{
    const named_binary *x = (const named_binary *)a;
    const named_binary *y = (const named_binary *)b;
    int order = memcmp(&x->uuid, &y->uuid, sizeof x->uuid);
    MACHSYM_COUNT_WORK(1);
    return order != 0 ? order : x->image < y->image ? -1 : x->image > y->image;
}

static bool metrickit_uuid_is_before(const void *element, const void *key)
{
    return memcmp(&((const named_binary *)element)->uuid, key, sizeof(machsym_uuid)) < 0;
}

static void metrickit_name_binary(report *r, const json *doc, named_binary *order, uint32_t count,
                                  uint32_t key, uint32_t info)
{
    machsym_uuid uuid;
    uint32_t name = fields_either(doc, info, "binaryName", "name");
    if (!parse_uuid_str(json_raw(doc, key), &uuid) || name == JSON_NONE)
        return;
    for (size_t i = mem_lower_bound(order, count, sizeof *order, &uuid, metrickit_uuid_is_before);
         i < count && memcmp(&order[i].uuid, &uuid, sizeof uuid) == 0; i++) {
        report_image *image = &r->images[order[i].image];
        if (image->name.len > 0)
            break; /* so do the following ones: they were named together */
        image->name = str_base_name(report_json_str(r, doc, name));
    }
}

static void metrickit_name_in(report *r, const json *doc, uint32_t infos, named_binary *order, uint32_t count)
{
    uint32_t at = JSON_NONE;
    uint32_t key = JSON_NONE;
    bool is_object = json_is(doc, infos, JSON_OBJECT);
    if (!is_object && !json_is(doc, infos, JSON_ARRAY))
        return;
    while (json_next(doc, infos, &at)) {
        if (is_object)
            metrickit_name_binary(r, doc, order, count, at, at + 1);
        else if (json_is(doc, at, JSON_STRING))
            key = at;
        else if (key != JSON_NONE)
            metrickit_name_binary(r, doc, order, count, key, at);
    }
}

static void metrickit_name_binaries(metric_reader *w, uint32_t first_image)
{
    report *r = w->r;
    const json *doc = &r->docs[w->doc];
    uint32_t count = 0;
    if (!w->has_binaries)
        return;
    named_binary *order =
        (named_binary *)mem_take(w->r->memory, (r->image_count - first_image + 1) * sizeof *order);
    for (uint32_t i = first_image; i < r->image_count; i++) {
        if (r->images[i].has_uuid && r->images[i].name.len == 0) {
            named_binary one = {r->images[i].uuid, i};
            order[count++] = one;
        }
    }
    qsort(order, count, sizeof *order, metrickit_by_uuid);
    for (uint32_t i = 0; i < doc->count; i++) {
        if (doc->v[i].type == JSON_KEY && json_equals(doc, i, "binaryInfo"))
            metrickit_name_in(r, doc, i + 1, order, count);
    }
    mem_give(w->r->memory, order);
}

/* ---- Diagnostics ---- */

/* What each array of a payload holds, and which member of its diagnostics has the amount: a value with its
 * unit, and the words around it. */
static const struct metric_kind {
    const char *array;
    const char *event;
    const char *amount;
    const char *of;
    const char *whole; /* a second value; may be NULL */
} metric_kinds[] = {
    {"crashDiagnostics", "", NULL, NULL, NULL},
    {"hangDiagnostics", "hang", "hangDuration", "", NULL},
    {"cpuExceptionDiagnostics", "cpu usage", "totalCPUTime", " of CPU time in ", "totalSampledTime"},
    {"diskWriteExceptionDiagnostics", "disk writes", "writesCaused", "", NULL},
    {"appLaunchDiagnostics", "slow launch", "launchDuration", "", NULL},
    {"memoryExceptionDiagnostics", "memory limit", NULL, "", NULL},
};

/* Finds a measurement: a text or number, or an object of value and unit. Some writers put it beside the
 * metadata. */
static bool metrickit_put_measurement(text *t, const json *doc, uint32_t diagnostic, uint32_t metadata,
                                      const char *key)
{
    uint32_t value = json_get(doc, metadata, key);
    value = value != JSON_NONE ? value : json_get(doc, diagnostic, key);
    machsym_str unit = json_raw(doc, json_get(doc, value, "unit"));
    if (json_is(doc, value, JSON_OBJECT))
        value = json_get(doc, value, "value");
    if (!json_is(doc, value, JSON_STRING) && !json_is(doc, value, JSON_NUMBER))
        return false;
    json_unescape(t, json_raw(doc, value));
    text_c(t, unit.len > 0 ? " " : "");
    json_unescape(t, unit);
    return true;
}

static void metrickit_set_amount(report *r, const json *doc, uint32_t diagnostic, uint32_t metadata,
                                 const struct metric_kind *kind)
{
    text t = text_in(r->memory);
    if (kind->amount == NULL || !metrickit_put_measurement(&t, doc, diagnostic, metadata, kind->amount))
        return;
    text_c(&t, kind->of);
    if (kind->whole != NULL && !metrickit_put_measurement(&t, doc, diagnostic, metadata, kind->whole))
        t.len -= sizeof " in " - 1;
    report_set_fact(r, FACT_AMOUNT, pool_copy(&r->strings, t.v, t.len));
    text_free(&t);
}

/* Makes "KERN_INVALID_ADDRESS at 0x8" from the code and "0x8 is not in any region. ..." */
static void metrickit_set_bad_access(report *r, uint64_t code, machsym_str region)
{
    uint64_t addr;
    text t = text_in(r->memory);
    text_c(&t, code == 1 ? "KERN_INVALID_ADDRESS" : "KERN_PROTECTION_FAILURE");
    if (str_number_after(region, "", &addr)) {
        text_c(&t, " at 0x");
        text_hex(&t, addr, 16);
    }
    report_set_fact(r, FACT_SUBTYPE, pool_copy(&r->strings, t.v, t.len));
    text_free(&t);
}

static void metrickit_set_metric_crash(report *r, const json *doc, uint32_t metadata)
{
    enum { BAD_ACCESS = 1 };
    uint64_t number = 0;
    uint64_t code = 0;
    if (json_u64(doc, json_get(doc, metadata, "exceptionType"), &number))
        report_set_exception(r, number);
    if (json_u64(doc, json_get(doc, metadata, "exceptionCode"), &code) && number == BAD_ACCESS &&
        (code == 1 || code == 2))
        metrickit_set_bad_access(r, code, json_raw(doc, json_get(doc, metadata, "virtualMemoryRegionInfo")));
    if (number == BAD_ACCESS)
        report_set_fact(r, FACT_REGION,
                        report_json_str(r, doc, json_get(doc, metadata, "virtualMemoryRegionInfo")));
    if (json_u64(doc, json_get(doc, metadata, "signal"), &number))
        report_set_signal(r, number);
    uint32_t reason = fields_either(doc, metadata, "objectiveCexceptionReason", "exceptionReason");
    report_set_thrown(r, report_json_str(r, doc, json_get(doc, reason, "exceptionName")),
                      report_json_str(r, doc, json_get(doc, reason, "composedMessage")));
    termination_parse(r, report_json_str(r, doc, json_get(doc, metadata, "terminationReason")));
    fields_fact_of(r, doc, json_get(doc, metadata, "terminationCategory"), FACT_DESCRIPTION);
}

/* Finds the time of a payload, which is the document or an element of it. */
static machsym_str metrickit_metric_date(metric_reader *w, uint32_t diagnostic)
{
    const json *doc = &w->r->docs[w->doc];
    uint32_t array = doc->v[diagnostic].parent;
    uint32_t payload = array != JSON_NONE ? doc->v[array].parent : JSON_NONE;
    bool is_element =
        payload != JSON_NONE && payload != 0 && doc->v[payload].parent == 0 && json_is(doc, 0, JSON_ARRAY);
    if (payload != 0 && !is_element)
        return str_make(NULL, 0);
    if (w->payload != payload) {
        w->payload = payload;
        w->date = report_json_str(w->r, doc, fields_either(doc, payload, "timeStampEnd", "timeStampBegin"));
    }
    return w->date;
}

static metric_app metrickit_read_app(report *r, const json *doc, uint32_t object)
{
    metric_app app;
    app.version = fields_text(r, doc, fields_either(doc, object, "appVersion", "applicationVersion"));
    app.build = fields_text(r, doc, fields_either(doc, object, "appBuildVersion", "applicationBuildVersion"));
    for (size_t i = 0; i < METADATA_FACTS; i++)
        app.facts[i] = fields_text(r, doc, json_get(doc, object, metadata_facts[i].key));
    return app;
}

/* Diagnostics of different payloads may be interleaved. */
static metric_payload metrickit_payload(metric_reader *w, uint32_t payload)
{
    const json *doc = &w->r->docs[w->doc];
    if (w->payload_of[payload] == 0) {
        metric_payload *one = (metric_payload *)mem_add(w->r->memory, &w->payloads, &w->payload_count,
                                                        &w->payload_cap, sizeof *one);
        one->metadata = metrickit_read_app(w->r, doc, json_get(doc, payload, "metaData"));
        one->own = metrickit_read_app(w->r, doc, payload);
        w->payload_of[payload] = w->payload_count;
    }
    return w->payloads[w->payload_of[payload] - 1];
}

/* Sets the app and device of a diagnostic. Older writers put them beside the stack, or in the payload for all
 * of its diagnostics. The first value of a fact wins. */
static void metrickit_set_metadata(metric_reader *w, uint32_t diagnostic)
{
    report *r = w->r;
    const json *doc = &r->docs[w->doc];
    uint32_t array = doc->v[diagnostic].parent;
    uint32_t payload = array != JSON_NONE ? doc->v[array].parent : JSON_NONE;
    metric_payload whole;
    memset(&whole, 0, sizeof whole);
    if (payload != JSON_NONE)
        whole = metrickit_payload(w, payload);
    metric_app apps[] = {metrickit_read_app(r, doc, json_get(doc, diagnostic, "diagnosticMetaData")),
                         metrickit_read_app(r, doc, json_get(doc, diagnostic, "metaData")),
                         metrickit_read_app(r, doc, diagnostic), whole.metadata, whole.own};
    machsym_str version = {NULL, 0};
    machsym_str build = {NULL, 0};
    for (size_t i = 0; i < sizeof apps / sizeof *apps; i++) {
        version = version.len > 0 ? version : apps[i].version;
        build = build.len > 0 ? build : apps[i].build;
        for (size_t k = 0; k < METADATA_FACTS; k++)
            report_set_fact(r, metadata_facts[k].fact, apps[i].facts[k]);
    }
    report_set_pair(r, FACT_VERSION, version, build);
}

/* {"memoryException": {"_0": {...}}} is how Swift writes an enumeration case with its value. It measures
 * nothing. */
static bool metrickit_is_memory(const json *doc, uint32_t diagnostic)
{
    for (unsigned up = 0; up < 2 && diagnostic != JSON_NONE && diagnostic > 0; up++) {
        if (json_is(doc, diagnostic - 1, JSON_KEY) &&
            (json_equals(doc, diagnostic - 1, "memoryException") ||
             json_equals(doc, diagnostic - 1, "memoryExceptionDiagnostic")))
            return true;
        diagnostic = doc->v[diagnostic].parent;
    }
    return false;
}

/* The kind of a diagnostic is that of its array; a single one is recognised by what it measures. */
static const struct metric_kind *metrickit_kind_of(const json *doc, uint32_t diagnostic, uint32_t metadata)
{
    uint32_t array = doc->v[diagnostic].parent;
    size_t count = sizeof metric_kinds / sizeof *metric_kinds;
    for (size_t i = 0; array != JSON_NONE && array > 0 && i < count; i++) {
        if (json_equals(doc, array - 1, metric_kinds[i].array))
            return &metric_kinds[i];
    }
    if (metrickit_is_memory(doc, diagnostic))
        return &metric_kinds[count - 1];
    for (size_t i = 1; i < count; i++) {
        if (metric_kinds[i].amount != NULL && json_get(doc, metadata, metric_kinds[i].amount) != JSON_NONE)
            return &metric_kinds[i];
    }
    return &metric_kinds[0];
}

/* A diagnostic begins at its first tree. */
static void metrickit_begin_diagnostic(metric_reader *w, uint32_t key)
{
    report *r = w->r;
    const json *doc = &r->docs[w->doc];
    uint32_t object = doc->v[key].parent;
    metrickit_end_stack(w);
    w->per_thread = json_true(doc, json_get(doc, key + 1, "callStackPerThread"));
    w->tree_end = doc->v[key + 1].next;
    if (w->seen[object] != 0)
        return;
    w->seen[object] = SEEN_DIAGNOSTIC;
    parts_begin(r, w->doc, object);
    r->kind = REPORT_METRIC;
    r->main_doc = w->doc;
    uint32_t metadata = fields_either(doc, object, "diagnosticMetaData", "metaData");
    metadata = metadata != JSON_NONE ? metadata : object;
    const struct metric_kind *kind = metrickit_kind_of(doc, object, metadata);
    w->is_crash = kind->event[0] == 0;
    report_set_fact(r, FACT_EVENT, str_c(kind->event));
    metrickit_set_amount(r, doc, object, metadata, kind);
    metrickit_set_metric_crash(r, doc, metadata);
    report_set_fact(r, FACT_DATE, metrickit_metric_date(w, object));
    metrickit_set_metadata(w, object);
}

/* Finds the stacks of all diagnostics of a payload in one pass over the tokens. */
static bool metrickit_read_diagnostics(report *r, uint32_t doc_index)
{
    const json *doc = &r->docs[doc_index];
    uint32_t first_image = r->image_count;
    uint32_t first_frame = r->frame_count;
    metric_reader w;
    memset(&w, 0, sizeof w);
    w.r = r;
    w.doc = doc_index;
    w.per_thread = w.is_crash = true;
    w.payload = JSON_NONE;
    w.payload_of = (uint32_t *)mem_take(r->memory, doc->count * sizeof *w.payload_of);
    memset(w.payload_of, 0, doc->count * sizeof *w.payload_of);
    w.seen = (uint8_t *)mem_take(r->memory, doc->count);
    memset(w.seen, 0, doc->count);
    for (uint32_t i = 0; i < doc->count; i++) {
        if (i >= w.stacks_end)
            metrickit_end_stack(&w);
        if (doc->v[i].type == JSON_OBJECT && i < w.stacks_end)
            metrickit_add_metric_frame(&w, i);
        if (doc->v[i].type != JSON_KEY)
            continue;
        if (json_equals(doc, i, "callStackTree"))
            metrickit_begin_diagnostic(&w, i);
        else if (json_equals(doc, i, "callStackRootFrames") ||
                 (i < w.tree_end && json_equals(doc, i, "rootFrames")))
            metrickit_begin_stack(&w, i);
        if (json_equals(doc, i, "binaryInfo") && i < w.tree_end)
            w.has_binaries = true;
    }
    metrickit_end_stack(&w);
    metrickit_name_binaries(&w, first_image);
    mem_give(r->memory, w.seen);
    mem_give(r->memory, w.payloads);
    mem_give(r->memory, w.payload_of);
    report_merge_images(r, first_image, first_frame);
    return r->main_doc == doc_index;
}

/* ---- Metrics ---- */

/* "memory resource limit" of "cumulativeMemoryResourceLimitExitCount". */
static void metrickit_put_exit_name(text *t, machsym_str key)
{
    static const char before[] = "cumulative";
    static const char tail[] = "ExitCount";
    size_t at = str_starts(key, before) ? sizeof before - 1 : 0;
    size_t end = key.len >= at + sizeof tail &&
                         memcmp(key.ptr + key.len - (sizeof tail - 1), tail, sizeof tail - 1) == 0
                     ? key.len - (sizeof tail - 1)
                     : key.len;
    for (size_t i = at; i < end; i++) {
        bool is_capital = key.ptr[i] >= 'A' && key.ptr[i] <= 'Z';
        if (is_capital && i > at)
            text_char(t, ' ');
        text_char(t, is_capital ? (char)(key.ptr[i] + 32) : key.ptr[i]);
    }
}

/* Lists how often the app ended for each reason, one on each line. */
static void metrickit_put_exits(text *t, const json *doc, uint32_t exits, const char *where)
{
    uint32_t at = JSON_NONE;
    while (json_next(doc, exits, &at)) {
        uint64_t count;
        if (!json_u64(doc, at + 1, &count) || count == 0)
            continue;
        text_c(t, t->len > 0 ? "\n" : "");
        text_c(t, "ended ");
        text_c(t, where);
        text_c(t, ", ");
        metrickit_put_exit_name(t, json_raw(doc, at));
        text_c(t, ": ");
        text_dec(t, count);
    }
}

/* A payload of metrics has counts and measurements, and no stacks. */
static bool metrickit_read_metrics(report *r, uint32_t doc_index)
{
    const json *doc = &r->docs[doc_index];
    uint32_t metadata = json_get(doc, 0, "metaData");
    uint32_t exits = json_get(doc, 0, "applicationExitMetrics");
    text t = text_in(r->memory);
    if (!json_is(doc, metadata, JSON_OBJECT) || json_get(doc, 0, "timeStampBegin") == JSON_NONE)
        return false;
    parts_begin(r, doc_index, 0);
    if (r->kind == REPORT_UNKNOWN)
        r->kind = REPORT_STACKLESS;
    report_set_fact(r, FACT_EVENT, str_c("MetricKit metrics"));
    report_set_fact(r, FACT_DATE, report_json_str(r, doc, json_get(doc, 0, "timeStampEnd")));
    report_set_fact(r, FACT_VERSION, report_json_str(r, doc, json_get(doc, 0, "appVersion")));
    fields_set_facts(r, doc, metadata, metadata_facts, METADATA_FACTS);
    metrickit_put_exits(&t, doc, json_get(doc, exits, "foregroundExitData"), "in the foreground");
    metrickit_put_exits(&t, doc, json_get(doc, exits, "backgroundExitData"), "in the background");
    report_set_fact(r, FACT_DESCRIPTION, pool_copy(&r->strings, t.v, t.len));
    text_free(&t);
    return true;
}

/* Reads a payload. A diagnostic that lies elsewhere is read with all others of its document. */
bool report_tell_metric(const json *doc, uint32_t object)
{
    for (size_t i = 0; i < sizeof metric_kinds / sizeof *metric_kinds; i++) {
        if (json_is(doc, json_get(doc, object, metric_kinds[i].array), JSON_ARRAY))
            return true;
    }
    return false;
}

bool report_parse_metric(report *r, uint32_t doc_index)
{
    return metrickit_read_diagnostics(r, doc_index) || metrickit_read_metrics(r, doc_index);
}
