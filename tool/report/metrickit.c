/* MetricKit payloads. */
#include "json_stack.h"
#include "stack.h"
#include "termination.h"

#include <stdlib.h>
#include <string.h>

/* A payload lists no images: every frame makes one up, and those that are alike become one. */
static void add_metric_image(report *r, const json *doc, uint32_t object, uint64_t base)
{
    machsym_uuid uuid;
    report_image *image = report_add_image(r);
    image->base = base;
    image->name = report_json_str(r, doc, json_get(doc, object, "binaryName"));
    image->has_uuid = parse_uuid_str(json_raw(doc, json_get(doc, object, "binaryUUID")), &uuid);
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
    addr = report_plain_addr(r, addr);
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
    frame->addr = frame->given = addr;
    frame->image = r->image_count - 1;
    frame->index = r->threads[frame->thread].count - 1;
    frame->exact = per_thread ? root : sub == JSON_NONE || doc->v[sub].next == sub + 1;
    frame->name = report_json_str(r, doc, json_get(doc, object, "symbol"));
    frame->named = report_is_no_name(frame->name, stack_image_name(r, frame)) ? NAME_NONE : NAME_GIVEN;
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
    termination_parse(r, report_json_str(r, doc, json_get(doc, object, "terminationReason")));
    report_set_fact(r, FACT_OS, report_json_str(r, doc, json_get(doc, object, "osVersion")));
    report_set_fact(r, FACT_HARDWARE, report_json_str(r, doc, json_get(doc, object, "deviceType")));
    report_set_fact(r, FACT_VERSION, report_json_str(r, doc, json_get(doc, object, "appVersion")));
    report_set_fact(r, FACT_IDENTIFIER, report_json_str(r, doc, json_get(doc, object, "bundleIdentifier")));
}

/* One pass over all tokens finds the stacks of every diagnostic of a payload. A crash has its innermost frame
 * at the root; a tree of samples, which is not per thread, its outermost. */
bool report_parse_metric(report *r, uint32_t doc_index)
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
