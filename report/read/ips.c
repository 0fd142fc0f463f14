/* ==== >> read/ips ====
 * Job: .ips documents: the metadata line, and the report.
 * Offers: its reader, for read/formats.h.
 * Never: reads stackshots, panics or jetsam reports, which are .ips too. */
#include "../base/digits.h"
#include "../base/json.h"
#include "../base/text.h"
#include "../model/registers.h"
#include "../model/report.h"
#include "../model/stack.h"
#include "../model/termination.h"
#include "machsym.h"
#include "formats.h"

#include <string.h>

/* ---- Facts ---- */

/* Finds a member of doc's root, or of the object in the root's member `in`. */
typedef struct ips_key {
    const char *in;
    const char *key;
    report_fact fact;
} ips_key;

static const ips_key report_keys[] = {
    {NULL, "procName", FACT_PROCESS},
    {NULL, "pid", FACT_PID},
    {NULL, "procPath", FACT_PATH},
    {"bundleInfo", "CFBundleIdentifier", FACT_IDENTIFIER},
    {NULL, "cpuType", FACT_CODE_TYPE},
    {NULL, "procRole", FACT_ROLE},
    {NULL, "parentProc", FACT_PARENT},
    {NULL, "captureTime", FACT_DATE},
    {NULL, "procLaunch", FACT_LAUNCH},
    {NULL, "modelCode", FACT_HARDWARE},
    {NULL, "incident", FACT_INCIDENT},
    {NULL, "crashReporterKey", FACT_REPORTER},
    {NULL, "bug_type", FACT_BUG_TYPE},
    {"exception", "type", FACT_EXCEPTION},
    {"exception", "signal", FACT_SIGNAL},
    {"exception", "subtype", FACT_SUBTYPE},
    {"exception", "codes", FACT_CODES},
    {NULL, "exceptionNote", FACT_NOTE},
    {"termination", "namespace", FACT_TERMINATION},
    {"termination", "code", FACT_TERMINATION_CODE},
    {"exceptionReason", "composed_message", FACT_REASON},
    {"exceptionReason", "name", FACT_THROWN},
    {"exception", "message", FACT_MESSAGE},
    {NULL, "vmRegionInfo", FACT_REGION},
    {NULL, "vmregioninfo", FACT_REGION},
    {NULL, "mteState", FACT_TAGS},
    {NULL, "faultingThread", FACT_CRASHED_THREAD},
};

static const ips_key metadata_keys[] = {
    {NULL, "app_name", FACT_PROCESS},     {NULL, "name", FACT_PROCESS},  {NULL, "bundleID", FACT_IDENTIFIER},
    {NULL, "timestamp", FACT_DATE},       {NULL, "os_version", FACT_OS}, {NULL, "bug_type", FACT_BUG_TYPE},
    {NULL, "incident_id", FACT_INCIDENT},
};

static void ips_put_fact(report *r, report_fact fact, machsym_str value, bool metadata)
{
    if (!metadata && value.len > 0)
        r->facts[fact].len = 0;
    report_set_fact(r, fact, value);
}

/* The report's own values win over the metadata before it. */
static void ips_set_facts(report *r, const json *doc, const ips_key *keys, size_t count, bool metadata)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t object = keys[i].in != NULL ? json_get(doc, 0, keys[i].in) : 0;
        uint32_t value = json_get(doc, object, keys[i].key);
        if (json_is(doc, value, JSON_STRING) || json_is(doc, value, JSON_NUMBER))
            ips_put_fact(r, keys[i].fact, report_json_str(r, doc, value), metadata);
    }
}

/* Sets "A (B)" from two members of an object; only one of them if the other is absent. */
static machsym_str ips_pair(report *r, const json *doc, uint32_t object, const char *a, const char *b)
{
    text t = text_in(r->memory);
    machsym_str first = report_json_str(r, doc, json_get(doc, object, a));
    machsym_str second = report_json_str(r, doc, json_get(doc, object, b));
    if (first.len == 0 || second.len == 0)
        return first.len > 0 ? first : second;
    text_str(&t, first);
    text_c(&t, " (");
    text_str(&t, second);
    text_char(&t, ')');
    machsym_str both = pool_copy(&r->strings, t.v, t.len);
    text_free(&t);
    return both;
}

/* Collects all strings inside a value, one on each line. */
static void ips_put_strings(text *t, const json *doc, uint32_t value)
{
    for (uint32_t i = value; value < doc->count && i < doc->v[value].next; i++) {
        if (doc->v[i].type != JSON_STRING)
            continue;
        if (t->len > 0)
            text_char(t, '\n');
        json_unescape(t, json_raw(doc, i));
    }
}

static void ips_set_strings(report *r, const json *doc, uint32_t value, report_fact fact)
{
    text t = text_in(r->memory);
    ips_put_strings(&t, doc, value);
    if (t.len > 0)
        report_set_fact(r, fact, pool_copy(&r->strings, t.v, t.len));
    text_free(&t);
}

/* Writes what the text form has after namespace and code, in its order. Without a namespace, the first reason
 * gives it. */
static void ips_set_termination(report *r, const json *doc)
{
    static const char *const keys[] = {"indicator", "reasons", "details"};
    uint32_t termination = json_get(doc, 0, "termination");
    text t = text_in(r->memory);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        ips_put_strings(&t, doc, json_get(doc, termination, keys[i]));
    machsym_str all = pool_copy(&r->strings, t.v, t.len);
    text_free(&t);
    if (r->facts[FACT_TERMINATION].len == 0)
        termination_parse(r, all);
    report_set_fact(r, FACT_DESCRIPTION, all);
    report_set_fact(r, FACT_ENDING, all);
}

/* In text, these members are words of the Exception Note. */
static void ips_set_note(report *r, const json *doc)
{
    static const char *const notes[][2] = {{"isSimulated", "SIMULATED (this is NOT a crash)"},
                                           {"isNonFatal", "NON-FATAL CONDITION (this is NOT a crash)"}};
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        uint64_t number = 0;
        uint32_t member = json_get(doc, 0, notes[i][0]);
        if (json_true(doc, member) || (json_u64(doc, member, &number) && number != 0))
            report_set_fact(r, FACT_NOTE, str_c(notes[i][1]));
    }
}

void report_set_ips_facts(report *r, uint32_t doc_index)
{
    const json *doc = &r->docs[doc_index];
    ips_set_facts(r, doc, report_keys, sizeof report_keys / sizeof report_keys[0], false);
    uint32_t bundle = json_get(doc, 0, "bundleInfo");
    ips_put_fact(r, FACT_OS, ips_pair(r, doc, json_get(doc, 0, "osVersion"), "train", "build"), false);
    ips_put_fact(r, FACT_VERSION, ips_pair(r, doc, bundle, "CFBundleShortVersionString", "CFBundleVersion"),
                 false);
    ips_set_note(r, doc);
    ips_set_termination(r, doc);
    ips_set_strings(r, doc, json_get(doc, 0, "asi"), FACT_APP_INFO);
}

/* ---- Images ---- */

static bool ips_uuid(const json *doc, uint32_t token, machsym_uuid *out)
{
    static const machsym_uuid none = {0};
    return parse_uuid_str(json_raw(doc, token), out) && memcmp(out, &none, sizeof none) != 0;
}

static void ips_add_ips_image(report *r, const json *doc, uint32_t object)
{
    report_image *image = report_add_image(r);
    uint64_t size = 0;
    json_u64(doc, json_get(doc, object, "base"), &image->base);
    if (json_u64(doc, json_get(doc, object, "size"), &size) && size <= UINT64_MAX - image->base)
        image->end = image->base + size;
    image->path = report_json_str(r, doc, json_get(doc, object, "path"));
    image->name = report_json_str(r, doc, json_get(doc, object, "name"));
    image->arch = report_json_str(r, doc, json_get(doc, object, "arch"));
    image->is_text_exec = json_equals(doc, json_get(doc, object, "source"), "T");
    image->has_uuid = ips_uuid(doc, json_get(doc, object, "uuid"), &image->uuid);
    image->version = ips_pair(r, doc, object, "CFBundleShortVersionString", "CFBundleVersion");
    image->bundle = report_json_str(r, doc, json_get(doc, object, "CFBundleIdentifier"));
    image->token = object;
    if (image->name.len == 0)
        image->name = str_base_name(image->path);
}

static void ips_set_shared_cache(report *r, const json *doc)
{
    uint32_t cache = json_get(doc, 0, "sharedCache");
    uint64_t size = 0;
    if (json_u64(doc, json_get(doc, cache, "base"), &r->cache_lo) &&
        json_u64(doc, json_get(doc, cache, "size"), &size) && size <= UINT64_MAX - r->cache_lo)
        r->cache_hi = r->cache_lo + size;
}

/* ---- Stacks ---- */

static void ips_set_frame_text(report *r, const json *doc, report_frame *frame, uint32_t object)
{
    uint32_t line = json_get(doc, object, "sourceLine");
    frame->name = report_json_str(r, doc, json_get(doc, object, "symbol"));
    frame->given_folded = report_is_folded_name(frame->name);
    frame->named = report_is_no_name(frame->name, stack_image_name(r, frame)) ? NAME_NONE : NAME_GIVEN;
    frame->given_inline = json_true(doc, json_get(doc, object, "inline"));
    frame->given_start = json_equals(doc, json_get(doc, object, "symbolLocation"), "0");
    if (line == JSON_NONE)
        return;
    text t = text_in(r->memory);
    text_str(&t, report_json_str(r, doc, json_get(doc, object, "sourceFile")));
    text_char(&t, ':');
    text_str(&t, json_raw(doc, line));
    frame->where = pool_copy(&r->strings, t.v, t.len);
    frame->given_line = true;
    text_free(&t);
}

/* Frames outside all images are in an image that begins at 0. Their addresses may be signed. */
static bool ips_is_null_image(const report_image *image)
{
    return image->base == 0 && !image->has_uuid && !image->is_offset;
}

/* A cut report may name images by numbers without an entry. They are added; only their numbers are known. */
static void ips_add_lost_images(report *r, const json *doc, uint64_t index, uint32_t first_image)
{
    enum { MOST_IMAGES = 4096 }; /* a process has some hundreds */
    while (doc->is_cut && index < MOST_IMAGES && index >= r->image_count - first_image) {
        text name = text_in(r->memory);
        uint32_t number = r->image_count - first_image;
        report_image *image = report_add_image(r);
        text_c(&name, "image ");
        text_dec(&name, number);
        image->name = pool_copy(&r->strings, name.v, name.len);
        image->is_offset = true;
        text_free(&name);
    }
}

static void ips_add_frames(report *r, uint32_t doc_index, uint32_t array, uint32_t first_image)
{
    const json *doc = &r->docs[doc_index];
    uint32_t index = 0;
    uint32_t at = JSON_NONE;
    while (json_next(doc, array, &at)) {
        uint64_t image;
        uint64_t offset;
        if (!json_is(doc, at, JSON_OBJECT))
            continue;
        report_frame *frame = report_add_frame(r);
        frame->form = FORM_IPS;
        frame->doc = doc_index;
        frame->token = at;
        frame->at = doc->v[at].at;
        frame->end = doc->v[at].end;
        frame->index = index;
        frame->exact = index == 0;
        bool has_index = json_u64(doc, json_get(doc, at, "imageIndex"), &image);
        if (has_index)
            ips_add_lost_images(r, doc, image, first_image);
        if (has_index && image < r->image_count - first_image &&
            !ips_is_null_image(&r->images[first_image + (uint32_t)image]))
            frame->image = first_image + (uint32_t)image;
        if (json_u64(doc, json_get(doc, at, "imageOffset"), &offset))
            frame->addr = offset + (frame->image != REPORT_NONE ? r->images[frame->image].base : 0);
        ips_set_frame_text(r, doc, frame, at);
        index += !frame->given_inline;
    }
}

/* Adds the meaning of the processor's error to the trap. Text has it after the error's code. */
static void ips_add_registers(report *r, const json *doc, uint32_t object, report_thread *thread)
{
    uint32_t state = json_get(doc, object, "threadState");
    registers_of_json(r, thread, doc, state);
    registers_of_json(r, thread, doc, json_get(doc, state, "rosetta"));
    for (uint32_t i = 0; i + 1 < thread->register_count; i++) {
        report_register *error = &r->registers[thread->first_register + i];
        if (str_is(error->name, "err") && str_is(error[1].name, "trap") && error->note.len == 0) {
            error->note = error[1].note;
            error[1].note.len = 0;
        }
    }
}

/* Returns the bytes of an array, or of base64, as digits. */
static void ips_put_code(text *t, const json *doc, uint32_t token)
{
    text bytes = text_in(t->memory);
    uint32_t at = JSON_NONE;
    uint64_t byte;
    while (json_next(doc, token, &at) && t->len < 2 * CODE_BYTES) {
        if (json_u64(doc, at, &byte))
            text_hex(t, byte & 0xff, 2);
    }
    if (json_is(doc, token, JSON_STRING) && json_raw(doc, token).len < 4 * CODE_BYTES)
        json_unescape(&bytes, json_raw(doc, token));
    bool is_base64 = text_from_base64(&bytes);
    for (size_t i = 0; is_base64 && i < bytes.len && t->len < 2 * CODE_BYTES; i++)
        text_hex(t, (uint8_t)bytes.v[i], 2);
    text_free(&bytes);
}

/* Reads the instructions around a thread's pc: of any thread on Intel, of the crashed one on Apple
 * silicon. */
static void ips_add_code(report *r, const json *doc, uint32_t object, report_thread *thread)
{
    uint32_t stream = json_get(doc, json_get(doc, object, "instructionState"), "instructionStream");
    uint32_t around = thread->crashed ? json_get(doc, 0, "instructionByteStream") : JSON_NONE;
    uint64_t at;
    text t = text_in(r->memory);
    ips_put_code(&t, doc, json_get(doc, stream, "bytes"));
    thread->code_at =
        json_u64(doc, json_get(doc, stream, "offset"), &at) && at < t.len / 2 ? (size_t)at : SIZE_MAX;
    if (t.len == 0) {
        ips_put_code(&t, doc, json_get(doc, around, "beforePC"));
        thread->code_at = t.len / 2;
        ips_put_code(&t, doc, json_get(doc, around, "atPC"));
    }
    thread->code = pool_copy(&r->strings, t.v, t.len);
    text_free(&t);
}

static void ips_add_threads(report *r, uint32_t doc_index, uint32_t first_image)
{
    const json *doc = &r->docs[doc_index];
    uint32_t threads = json_get(doc, 0, "threads");
    uint64_t faulting = UINT64_MAX;
    uint64_t number = 0;
    uint32_t at = JSON_NONE;
    json_u64(doc, json_get(doc, 0, "faultingThread"), &faulting);
    while (json_next(doc, threads, &at)) {
        report_thread *thread = report_add_thread(r);
        thread->number = number;
        thread->token = at;
        thread->crashed = json_true(doc, json_get(doc, at, "triggered")) || number == faulting;
        thread->name = report_json_str(r, doc, json_get(doc, at, "name"));
        thread->queue = report_json_str(r, doc, json_get(doc, at, "queue"));
        if (thread->crashed)
            ips_add_registers(r, doc, at, thread);
        ips_add_code(r, doc, at, thread);
        ips_add_frames(r, doc_index, json_get(doc, at, "frames"), first_image);
        number++;
    }
}

/* Reads stacks in Apple's text form, one in each string. */
static void ips_add_backtraces(report *r, uint32_t doc_index, uint32_t array)
{
    const json *doc = &r->docs[doc_index];
    uint64_t number = 0;
    uint32_t at = JSON_NONE;
    while (json_next(doc, array, &at)) {
        uint32_t first = r->thread_count;
        if (!json_is(doc, at, JSON_STRING))
            continue;
        report_parse_string(r, doc_index, at);
        for (uint32_t i = first; i < r->thread_count; i++) {
            r->threads[i].kind = THREAD_SPECIFIC;
            r->threads[i].number = number++;
        }
    }
}

static void ips_add_exception(report *r, uint32_t doc_index, uint32_t first_image)
{
    uint32_t frames = json_get(&r->docs[doc_index], 0, "lastExceptionBacktrace");
    if (frames == JSON_NONE)
        return;
    report_add_thread(r)->kind = THREAD_EXCEPTION;
    ips_add_frames(r, doc_index, frames, first_image);
}

static bool ips_is_metadata(const json *doc)
{
    return json_get(doc, 0, "bug_type") != JSON_NONE &&
           (json_get(doc, 0, "os_version") != JSON_NONE || json_get(doc, 0, "timestamp") != JSON_NONE);
}

bool report_tell_ips(const json *doc, uint32_t object)
{
    uint32_t images = json_get(doc, object, "usedImages");
    bool is_cut = doc->is_cut && object == 0 && json_get(doc, object, "procName") != JSON_NONE;
    return json_is(doc, json_get(doc, object, "threads"), JSON_ARRAY) &&
           (json_is(doc, images, JSON_ARRAY) || (is_cut && images == JSON_NONE)); /* the images come last */
}

bool report_parse_ips(report *r, uint32_t doc_index)
{
    const json *doc = &r->docs[doc_index];
    uint32_t images = json_get(doc, 0, "usedImages");
    uint32_t first_image = r->image_count;
    uint32_t first_frame = r->frame_count;
    uint32_t at = JSON_NONE;
    bool metadata = ips_is_metadata(doc);
    if (metadata)
        ips_set_facts(r, doc, metadata_keys, sizeof metadata_keys / sizeof metadata_keys[0], true);
    if (metadata && images == JSON_NONE)
        r->meta_doc = doc_index;
    if (!report_tell_ips(doc, 0))
        return metadata;
    r->kind = REPORT_IPS;
    r->main_doc = doc_index;
    r->main_image = first_image;
    r->main_thread = r->thread_count;
    report_set_ips_facts(r, doc_index);
    ips_set_shared_cache(r, doc);
    while (json_next(doc, images, &at))
        ips_add_ips_image(r, doc, at);
    ips_add_exception(r, doc_index, first_image);
    ips_add_threads(r, doc_index, first_image);
    ips_add_backtraces(r, doc_index, json_get(doc, 0, "asiBacktraces"));
    report_place_frames(r, first_frame, first_image);
    return true;
}
