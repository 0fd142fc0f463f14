/* Reports: encodings, recognition, and the model's memory; see report.h. */
#include "../read/plcrash.h"
#include "report.h"
#include "stack.h"

#include <stdlib.h>
#include <string.h>

/* ---- Memory ---- */

report_image *report_add_image(report *r)
{
    return mem_push(&r->images, &r->image_count, &r->image_cap, sizeof *r->images);
}

enum {
    RECENT_IMAGES = 16
}; /* frames in turn are of few images; an image that comes back later is listed twice */

uint32_t report_image_at(report *r, uint32_t first, uint64_t base, machsym_str path, const machsym_uuid *uuid)
{
    uint32_t last = r->image_count;
    for (uint32_t i = last; i > first && last - i < RECENT_IMAGES; i--) {
        const report_image *image = &r->images[i - 1];
        bool alike = image->has_uuid == (uuid != NULL) &&
                     (uuid == NULL || memcmp(&image->uuid, uuid, sizeof *uuid) == 0);
        if (image->base == base && alike && str_equal(image->path, path))
            return i - 1;
    }
    report_image *image = report_add_image(r);
    image->base = base;
    image->path = path;
    image->name = str_base_name(path);
    image->has_uuid = uuid != NULL;
    if (uuid != NULL)
        image->uuid = *uuid;
    return last;
}

report_thread *report_add_thread(report *r)
{
    report_thread *thread = mem_push(&r->threads, &r->thread_count, &r->thread_cap, sizeof *thread);
    thread->first = r->frame_count;
    thread->number = r->thread_count - 1;
    return thread;
}

report_frame *report_add_frame(report *r)
{
    report_frame *frame = mem_push(&r->frames, &r->frame_count, &r->frame_cap, sizeof *frame);
    frame->image = REPORT_NONE;
    frame->thread = r->thread_count - 1;
    r->threads[frame->thread].count++;
    return frame;
}

report_call *report_add_call(report *r)
{
    return mem_push(&r->calls, &r->call_count, &r->call_cap, sizeof *r->calls);
}

void report_set_fact(report *r, report_fact fact, machsym_str value)
{
    value = str_trim(value);
    if (r->facts[fact].len == 0)
        r->facts[fact] = value;
}

machsym_str report_json_str(report *r, const json *doc, uint32_t token)
{
    machsym_str raw = json_raw(doc, token);
    text plain = {0};
    if (raw.len == 0 || memchr(raw.ptr, '\\', raw.len) == NULL)
        return raw;
    json_unescape(&plain, raw);
    raw = pool_copy(&r->strings, plain.v, plain.len);
    text_free(&plain);
    return raw;
}

void report_count_frames(report *r, resolve_counts *counts)
{
    memset(counts, 0, sizeof *counts);
    for (uint32_t i = 0; i < r->image_count; i++)
        r->images[i].frame_count = r->images[i].missing = r->images[i].waiting = 0;
    for (uint32_t i = 0; i < r->frame_count; i++) {
        const report_frame *frame = &r->frames[i];
        if (r->threads[frame->thread].is_echo)
            continue;
        counts->frames++;
        report_image *image = frame->image != REPORT_NONE ? &r->images[frame->image] : NULL;
        bool has_line = frame->call_count > 0 && r->calls[frame->call + frame->call_count - 1].has_line;
        bool is_missing = frame->call_count == 0 && frame->named == NAME_NONE;
        if (has_line)
            counts->dwarf++;
        else if (frame->call_count > 0)
            counts->symbols++;
        else if (!is_missing)
            counts->given++;
        else
            counts->missing++;
        if (image == NULL)
            continue;
        image->frame_count++;
        image->missing += is_missing;
        image->waiting += !has_line && !frame->given_inline && frame->named != NAME_GIVEN;
    }
}

/* ---- Encodings ---- */

static report_encoding find_encoding(machsym_str s)
{
    const unsigned char *p = (const unsigned char *)s.ptr;
    if (s.len < 4)
        return ENCODING_BYTES;
    if (plcrash_is(s))
        return ENCODING_PLCRASH;
    if (p[0] == 0xff && p[1] == 0xfe)
        return ENCODING_UTF16LE;
    if (p[0] == 0xfe && p[1] == 0xff)
        return ENCODING_UTF16BE;
    if (p[0] != 0 && p[1] == 0 && p[2] != 0 && p[3] == 0)
        return ENCODING_UTF16LE;
    return p[0] == 0 && p[1] != 0 && p[2] == 0 && p[3] != 0 ? ENCODING_UTF16BE : ENCODING_BYTES;
}

static uint32_t utf16_unit(machsym_str s, size_t i, report_encoding encoding)
{
    const unsigned char *p = (const unsigned char *)s.ptr + 2 * i;
    return encoding == ENCODING_UTF16LE ? (uint32_t)(p[1] << 8 | p[0]) : (uint32_t)(p[0] << 8 | p[1]);
}

/* A surrogate that stands alone gets three bytes of its own, so that nothing is lost on the way back. */
static void decode_utf16(report *r)
{
    size_t count = r->input.len / 2;
    for (size_t i = 0; i < count; i++) {
        uint32_t c = utf16_unit(r->input, i, r->encoding);
        if (c >= 0xd800 && c < 0xdc00 && i + 1 < count) {
            uint32_t low = utf16_unit(r->input, i + 1, r->encoding);
            if (low >= 0xdc00 && low < 0xe000) {
                c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
                i++;
            }
        }
        text_utf8(&r->changed, c);
    }
}

/* An entity that mailers and web pages write, and its length; 0 when there is none. */
static size_t entity_at(const char *p, size_t left, char *c)
{
    static const struct {
        const char *name;
        char c;
    } entities[] = {{"&lt;", '<'},   {"&gt;", '>'},   {"&amp;", '&'},
                    {"&quot;", '"'}, {"&nbsp;", ' '}, {"&#39;", '\''}};
    for (size_t i = 0; i < sizeof entities / sizeof entities[0]; i++) {
        size_t len = strlen(entities[i].name);
        if (left >= len && memcmp(p, entities[i].name, len) == 0) {
            *c = entities[i].c;
            return len;
        }
    }
    return 0;
}

/* The next byte of a kind that make_shadow looks at; NULL: there is none. */
static const char *next_byte(const char *at, const char *end, int byte)
{
    return at < end ? memchr(at, byte, (size_t)(end - at)) : NULL;
}

/* An entity becomes its character and spaces. */
static void shadow_entities(report *r)
{
    const char *end = r->body + r->len;
    for (const char *at = r->body; (at = next_byte(at, end, '&')) != NULL;) {
        char plain;
        size_t len = entity_at(at, (size_t)(end - at), &plain);
        if (len > 0) {
            memset(r->shadow + (at - r->body), ' ', len);
            r->shadow[at - r->body] = plain;
            r->has_entities |= plain == '<' || plain == '>';
        }
        at += len > 0 ? len : 1;
    }
}

/* What the text parsers read: the body with NUL, no-break spaces and a byte order mark as spaces, and
 * entities as their character and spaces. Every byte keeps its place. */
static void make_shadow(report *r)
{
    const char *end = r->body + r->len;
    r->shadow = mem_alloc(r->len + 1);
    if (r->len > 0) /* memcpy must not see NULL */
        memcpy(r->shadow, r->body, r->len);
    r->shadow[r->len] = 0;
    if (r->len >= 3 && memcmp(r->body, "\xef\xbb\xbf", 3) == 0)
        memset(r->shadow, ' ', 3);
    for (const char *at = r->body; (at = next_byte(at, end, 0)) != NULL; at++)
        r->shadow[at - r->body] = ' ';
    for (const char *at = r->body; (at = next_byte(at, end, 0xc2)) != NULL; at++) {
        if (at + 1 < end && (unsigned char)at[1] == 0xa0)
            memset(r->shadow + (at - r->body), ' ', 2);
    }
    shadow_entities(r);
}

/* ---- Images ---- */

typedef struct image_order {
    uint64_t base;
    uint32_t index;
} image_order;

static int by_base(const void *a, const void *b)
{
    const image_order *x = a;
    const image_order *y = b;
    MACHSYM_COUNT_WORK(1);
    if (x->base != y->base)
        return x->base < y->base ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* An image whose end the report does not tell reaches to the next one, but no farther than this: the code of
 * no image is larger, since branches of arm64 reach 128 MB and programs that outgrow them are split. */
#define MAX_OPEN_IMAGE ((uint64_t)1 << 31)

static image_order *sort_images(report *r, uint32_t first, uint32_t *placed)
{
    image_order *order = mem_alloc((r->image_count - first) * sizeof *order);
    uint32_t count = 0;
    for (uint32_t i = first; i < r->image_count; i++) {
        r->images[i].is_open |= r->images[i].is_offset;
        if (!r->images[i].is_offset)
            order[count++] = (image_order){r->images[i].base, i};
    }
    *placed = count;
    qsort(order, count, sizeof *order, by_base);
    for (uint32_t i = 0; i < count; i++) {
        report_image *image = &r->images[order[i].index];
        if (image->end <= image->base) {
            image->is_open = true;
            image->end = i + 1 < count && order[i + 1].base > image->base ? order[i + 1].base : UINT64_MAX;
        }
    }
    return order;
}

static bool begins_by(const void *element, const void *addr)
{
    return ((const image_order *)element)->base <= *(const uint64_t *)addr;
}

static uint32_t image_of(const report *r, const image_order *order, uint32_t count, uint64_t addr)
{
    size_t behind = mem_lower_bound(order, count, sizeof *order, &addr, begins_by);
    if (behind == 0)
        return REPORT_NONE;
    const report_image *image = &r->images[order[behind - 1].index];
    if (addr >= image->end || (image->is_open && addr - image->base >= MAX_OPEN_IMAGE))
        return REPORT_NONE;
    return order[behind - 1].index;
}

/* Libraries of the system, of a simulator's system, and of the language. */
static bool has_system_path(const report_image *image)
{
    static const char *const folders[] = {"/System/",
                                          "/usr/lib/",
                                          "/Library/Apple/",
                                          "/Developer/",
                                          "/RuntimeRoot/",
                                          "/Contents/Developer/",
                                          "/Preboot/Cryptexes/",
                                          "/usr/libexec/",
                                          "/sbin/",
                                          "/Library/MobileSubstrate/"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        size_t at = str_find(image->path, folders[i]);
        if (at < image->path.len && (at == 0 || i == 4 || i == 5 || i == 6))
            return true;
    }
    return false;
}

/* Where the kernel puts the shared cache: xnu, osfmk/mach/shared_region.h, for arm64 and x86_64. Programs and
 * their frameworks lie below it. */
static bool is_in_shared_region(const report_image *image)
{
    return (image->base >= 0x180000000 && image->base < 0x300000000) ||
           (image->base >= 0x7fff00000000 && image->base < 0x7fffffe00000);
}

/* No dSYM of it is to be had. MetricKit tells no paths. */
static bool is_system(const report *r, const report_image *image)
{
    if (has_system_path(image) || (image->base >= r->cache_lo && image->base < r->cache_hi))
        return true;
    if (image->path.len == 0 && image->has_uuid && is_in_shared_region(image))
        return true;
    if (image->is_offset && stack_has_system_name(image->name))
        return true;
    return str_starts(image->name, "libswift") || str_starts(image->name, "com.apple.") ||
           str_is(image->name, "dyld") || str_is(image->name, "dyld_sim") ||
           str_starts(image->name, "libsystem_");
}

/* Reports of Intel processes say so ahead of their stacks. */
uint64_t report_plain_addr(const report *r, uint64_t addr)
{
    enum { CPU_ARM64 = 0x0100000c };
    machsym_str cpu = r->facts[FACT_CODE_TYPE];
    bool is_intel = str_starts(cpu, "X86") || str_starts(cpu, "x86") || str_starts(cpu, "i386");
    return is_intel ? addr : machsym_plain_pc(CPU_ARM64, addr);
}

void report_place_frames(report *r, uint32_t first_frame, uint32_t first_image)
{
    uint32_t count;
    image_order *order = sort_images(r, first_image, &count);
    for (uint32_t i = first_frame; i < r->frame_count; i++) {
        report_frame *frame = &r->frames[i];
        frame->given = frame->given != 0 ? frame->given : frame->addr;
        frame->addr = report_plain_addr(r, frame->addr);
        bool is_kernel = frame->addr >> 63 != 0; /* which is at one place for all processes */
        if (frame->image == REPORT_NONE && (!frame->is_placed || is_kernel))
            frame->image = image_of(r, order, count, frame->addr);
        frame->is_placed |= first_image < r->image_count;
    }
    free(order);
}

/* What the user says was loaded is there for all reports of a document. */
static void place_in_loads(report *r, const report_load *loads, size_t load_count)
{
    uint32_t count;
    uint32_t first = r->image_count;
    for (size_t i = 0; i < load_count; i++) {
        report_image *image = report_add_image(r);
        image->base = loads[i].base;
        image->name = loads[i].name;
        image->is_named = true;
    }
    report_place_frames(r, 0, 0);
    image_order *order = sort_images(r, first, &count);
    for (uint32_t i = 0; i < r->frame_count && count > 0; i++) {
        if (r->frames[i].image == REPORT_NONE)
            r->frames[i].image = image_of(r, order, count, r->frames[i].addr);
    }
    free(order);
}

bool report_arch_is_arm32(machsym_str arch)
{
    return str_starts(arch, "armv") || str_is(arch, "arm") || str_is(arch, "ARM");
}

/* "<   redacted>": in the shadow an entity is its character and blanks. Returns the name without these. */
static machsym_str without_blanks(machsym_str name, char *room, size_t cap)
{
    if (name.len < 2 || name.len > cap || name.ptr[0] != '<' || name.ptr[1] != ' ')
        return name;
    machsym_str rest = str_trim((machsym_str){name.ptr + 1, name.len - 1});
    room[0] = '<';
    memcpy(room + 1, rest.ptr, rest.len);
    return (machsym_str){room, rest.len + 1};
}

bool report_is_no_name(machsym_str name, machsym_str image)
{
    char room[64]; /* none of those below is longer */
    static const char *const begins[] = {"<redacted>", "<deduplicated_symbol>", "___lldb_unnamed_symbol"};
    static const char *const wholes[] = {
        "???", "<unknown>", "<null>", "Unknown", "_mh_execute_header", "__mh_execute_header", "0"};
    if (name.len > 0 && memchr("<_?U0", name.ptr[0], 5) == NULL)
        return str_equal(name, image);
    name = without_blanks(name, room, sizeof room);
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        if (str_starts(name, begins[i]))
            return true;
    }
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++) {
        if (str_is(name, wholes[i]))
            return true;
    }
    return name.len == 0 || str_equal(name, image);
}

/* ---- Recognition ---- */

/* The kinds that are a JSON document, one a line, tried in this order. Each tells by the members whether a
 * document is of its kind, and reads it if so. */
static bool (*const document_kinds[])(report *r, uint32_t doc) = {
    report_parse_mixed,     /* which holds documents of several kinds */
    report_parse_panic,     /* which may hold a stackshot */
    report_parse_stackshot, /* both are .ips without images */
    report_parse_jetsam,    /* too */
    report_parse_ips,       /* the usual one */
    report_parse_kscrash,   /* by report and system */
    report_parse_sentry,    /* by debug_meta */
    report_parse_bugsnag,   /* by frameAddress */
    report_parse_datadog,   /* by error and its images */
    report_parse_metric,    /* by callStackRootFrames */
    report_parse_log,       /* by backtrace and eventMessage */
    report_parse_strings,   /* what is none of these: its strings may be reports */
};

static bool is_of_a_kind(report *r, uint32_t doc)
{
    for (size_t i = 0; i < sizeof document_kinds / sizeof *document_kinds; i++) {
        if (document_kinds[i](r, doc))
            return true;
    }
    return false;
}

/* Takes the document that begins at `at`. Returns where it ends, or 0 when there is none; err->at then is how
 * far it was read. An object that is no report is passed over: what looks like text in it is JSON all the
 * same. An array may be the head of a line of text. */
static size_t add_document(report *r, size_t at, json_error *err)
{
    json doc;
    if (!json_parse(&doc, r->body, r->len, at, err))
        return 0;
    size_t end = doc.v[0].end;
    *(json *)mem_push(&r->docs, &r->doc_count, &r->doc_cap, sizeof doc) = doc;
    uint32_t index = r->doc_count - 1;
    if (is_of_a_kind(r, index)) {
        r->has_json = true;
        return end;
    }
    json_free(&r->docs[--r->doc_count]);
    err->what = NULL;
    err->at = end;
    return r->body[at] == '{' ? end : 0;
}

static size_t line_start_after(const report *r, size_t at)
{
    size_t end = at + str_line_len(str_make(r->shadow + at, r->len - at));
    return end < r->len ? end + 1 : end;
}

/* Whether a string begins at an offset and ends its line: text may have quotes in it that only look so. */
static bool is_string_line(const report *r, size_t at)
{
    size_t end = at + str_line_len(str_make(r->body + at, r->len - at));
    MACHSYM_COUNT_WORK((end - at) / 64);
    while (end > at + 1 && (r->body[end - 1] == ' ' || r->body[end - 1] == '\t'))
        end--;
    return end > at + 2 && r->body[end - 1] == '"';
}

/* The next of each byte that a JSON document begins with; the report's length: there is none. */
typedef struct openings {
    size_t brace;
    size_t bracket;
    size_t quote;
} openings;

static size_t next_in_shadow(const report *r, size_t at, int byte)
{
    const char *found = next_byte(r->shadow + at, r->shadow + r->len, byte);
    size_t to = found != NULL ? (size_t)(found - r->shadow) : r->len;
    MACHSYM_COUNT_WORK(1 + (to - at) / 64);
    return to;
}

/* Where the next line begins with such a byte, blanks aside; a line begins at lo. */
static size_t next_opening(const report *r, size_t lo, openings *next)
{
    for (size_t at = lo;;) {
        if (next->brace < at)
            next->brace = next_in_shadow(r, at, '{');
        if (next->bracket < at)
            next->bracket = next_in_shadow(r, at, '[');
        if (next->quote < at)
            next->quote = next_in_shadow(r, at, '"');
        size_t first = next->brace < next->bracket ? next->brace : next->bracket;
        first = first < next->quote ? first : next->quote;
        size_t begin = first;
        while (first < r->len && begin > lo && (r->shadow[begin - 1] == ' ' || r->shadow[begin - 1] == '\t'))
            begin--;
        MACHSYM_COUNT_WORK((first - begin) / 64);
        if (first == r->len || begin == lo || r->shadow[begin - 1] == '\n' || r->shadow[begin - 1] == '\r')
            return first;
        at = first + 1;
    }
}

/* A report is text, JSON documents that begin a line, or both in turn. Where a document is broken, text is
 * read on and no other document is tried before the place that broke: so the whole stays linear. */
static void parse_parts(report *r)
{
    size_t text_at = 0;
    size_t no_json_before = 0;
    openings next = {next_in_shadow(r, 0, '{'), next_in_shadow(r, 0, '['), next_in_shadow(r, 0, '"')};
    size_t at = 0;
    size_t first;
    if (report_parse_xctrace(r))
        return;
    while ((first = next_opening(r, at, &next)) < r->len) {
        json_error err;
        if (first >= no_json_before && (r->shadow[first] != '"' || is_string_line(r, first))) {
            size_t end = add_document(r, first, &err);
            if (end != 0) {
                report_parse_text(r, text_at, first, ESCAPE_NONE);
                text_at = at = end;
                continue;
            }
            no_json_before = err.at + 1;
            if (r->failure == NULL && err.what != NULL && (r->shadow[first] == '{' || first == 0)) {
                r->failure = err.what;
                r->failed_at = err.at;
            }
        }
        at = line_start_after(r, first);
    }
    report_parse_text(r, text_at, r->len, ESCAPE_NONE);
}

/* No file system has longer names; every frame of an image may be written with it. The program's version
 * may be that of many images. */
enum { MAX_IMAGE_NAME = 255 };

/* The program itself: "demo" of "demo [123]". */
static bool is_program(const report *r, const report_image *image)
{
    machsym_str process = r->facts[FACT_PROCESS];
    process.len = str_find(process, " [");
    return image->name.len > 0 &&
           (str_equal(image->name, process) || str_equal(image->path, r->facts[FACT_PATH]));
}

static void finish_images(report *r)
{
    for (uint32_t i = 0; i < r->image_count; i++) {
        report_image *image = &r->images[i];
        image->is_system = is_system(r, image);
        if (image->version.len == 0 && is_program(r, image))
            image->version = r->facts[FACT_VERSION];
        if (image->name.len > MAX_IMAGE_NAME)
            image->name.len = MAX_IMAGE_NAME;
        if (image->version.len > MAX_IMAGE_NAME)
            image->version.len = MAX_IMAGE_NAME;
        if (image->bundle.len > MAX_IMAGE_NAME)
            image->bundle.len = MAX_IMAGE_NAME;
    }
}

/* ---- Reports that are there twice ---- */

static bool is_same_stack(const report *r, const report_thread *a, const report_thread *b)
{
    MACHSYM_COUNT_WORK(1);
    if (a->kind != b->kind || a->number != b->number)
        return false;
    return a->count == 0 || (b->count > 0 && r->frames[a->first].addr == r->frames[b->first].addr);
}

/* Whether the text ahead of an .ips is its translation: its stacks follow as JSON in the same order, of which
 * the text may lack some. */
static bool is_translation(const report *r)
{
    uint32_t at = r->main_thread;
    for (uint32_t i = 0; i < r->main_thread; i++) {
        while (at < r->thread_count && !is_same_stack(r, &r->threads[i], &r->threads[at]))
            at++;
        if (at++ == r->thread_count)
            return false;
    }
    return r->main_thread > 0;
}

/* A report that is translated is counted once. The images of the text go; its frames are placed anew. */
static void drop_echo(report *r)
{
    uint32_t images = r->main_image;
    if (r->kind != REPORT_IPS || !is_translation(r))
        return;
    for (uint32_t i = 0; i < r->main_thread; i++)
        r->threads[i].is_echo = true;
    for (uint32_t i = 0; i < r->frame_count; i++) {
        uint32_t image = r->frames[i].image;
        if (image != REPORT_NONE)
            r->frames[i].image = image >= images ? image - images : REPORT_NONE;
        if (r->frames[i].thread < r->main_thread)
            r->frames[i].is_placed = false;
    }
    r->image_count -= images;
    memmove(r->images, r->images + images, r->image_count * sizeof *r->images);
    r->main_image = 0;
}

/* Kinds of Apple's that hold no stacks, by bug_type. */
static const struct {
    const char *bug_type;
    const char *event;
} stackless[] = {
    {"98", "jetsam"},
    {"198", "jetsam"},
    {"298", "jetsam"},
    {"225", "sleep or wake"},
    {"211", "analytics"},
    {"188", "analytics"},
    {"226", "analytics of the keychain and its services"},
    {"115", "reset counter: why the device started anew"},
    {"140", "settings"},
    {"151", "logs"},
    {"183", "an update of the system"},
    {"195", "differential privacy"},
    {"187", "device"},
    {"228", "storage"},
    {"284", "an event of the GPU"},
    {"313", "heat"},
    {"385", "a limit of CPU, memory or wakeups that a process went above"},
    {"409", "the system's watchdog: a service did not answer"},
};

/* A kind without stacks that has no name here is told by its number. */
static void name_unknown(report *r)
{
    text t = {0};
    if (r->kind != REPORT_UNKNOWN || r->frame_count > 0 || r->meta_doc == REPORT_NONE ||
        r->facts[FACT_EVENT].len > 0 || r->failure != NULL)
        return;
    text_c(&t, "bug_type ");
    text_str(&t, r->facts[FACT_BUG_TYPE]);
    r->kind = REPORT_STACKLESS;
    report_set_fact(r, FACT_EVENT, pool_copy(&r->strings, t.v, t.len));
    text_free(&t);
}

static void name_kind(report *r)
{
    if (r->encoding == ENCODING_PLCRASH)
        r->kind = REPORT_PLCRASH;
    if (r->kind == REPORT_UNKNOWN && r->frame_count > 0)
        r->kind = REPORT_TEXT;
    if (r->frame_count > 0)
        r->failure =
            r->has_text ? NULL : r->failure; /* broken JSON inside a text is the text's own business */
    for (size_t i = 0; i < sizeof stackless / sizeof stackless[0] && r->frame_count == 0; i++) {
        if (str_is(r->facts[FACT_BUG_TYPE], stackless[i].bug_type)) {
            r->kind = REPORT_STACKLESS;
            r->failure = NULL;
            report_set_fact(r, FACT_EVENT, str_c(stackless[i].event));
        }
    }
    machsym_str event = r->facts[FACT_EVENT];
    if (str_starts(event, "jetsam") && r->frame_count == 0)
        r->kind = REPORT_STACKLESS;
    name_unknown(r);
}

static void redact(report *r, const redactor *how)
{
    text plain = {0};
    redact_report(how, (machsym_str){r->body, r->len}, &plain);
    text_free(&r->changed);
    r->changed = plain;
    r->body = plain.len > 0 ? plain.v : "";
    r->len = plain.len;
    r->is_redacted = true;
}

void report_open(report *r, const char *input, size_t len, const report_load *loads, size_t load_count)
{
    report_open_redacted(r, input, len, loads, load_count, NULL);
}

static void begin(report *r, machsym_str input, unsigned depth)
{
    memset(r, 0, sizeof *r);
    r->main_doc = REPORT_NONE;
    r->meta_doc = REPORT_NONE;
    r->input = input;
    r->body = input.ptr;
    r->len = input.len;
    r->depth = depth;
}

static void parse(report *r, const report_load *loads, size_t load_count, const redactor *how)
{
    if (how != NULL)
        redact(r, how);
    if (r->len >= UINT32_MAX) {
        r->failure = "longer than 4 GB";
        r->len = 0;
    }
    make_shadow(r);
    parse_parts(r);
    report_end_parts(r);
    if (r->part_count > 1)
        memcpy(r->facts, r->parts[0].facts, sizeof r->facts);
    name_kind(r);
    report_settle_version(r);
    drop_echo(r);
    place_in_loads(r, loads, load_count);
    report_settle_lldb(r);
    finish_images(r);
}

void report_open_carried(report *r, machsym_str input, unsigned depth, const report_load *loads,
                         size_t load_count, const redactor *how)
{
    begin(r, input, depth);
    parse(r, loads, load_count, how);
}

void report_open_redacted(report *r, const char *input, size_t len, const report_load *loads,
                          size_t load_count, const redactor *how)
{
    begin(r, str_make(input, len), 0);
    r->encoding = find_encoding(r->input);
    if (r->encoding != ENCODING_BYTES) {
        if (r->encoding == ENCODING_PLCRASH)
            r->failed_at = plcrash_decode(r->input, &r->changed);
        else
            decode_utf16(r);
        r->failure = r->failed_at > 0 ? "the protobuf is damaged" : NULL;
        r->body = r->changed.v;
        r->len = r->changed.len;
    }
    parse(r, loads, load_count, how);
}

bool report_is_one(const report *r)
{
    return r->frame_count > 0 || r->kind != REPORT_UNKNOWN || r->facts[FACT_INCIDENT].len > 0 ||
           r->facts[FACT_EXCEPTION].len > 0 || r->facts[FACT_BUG_TYPE].len > 0;
}

void report_close(report *r)
{
    for (uint32_t i = 0; i < r->doc_count; i++)
        json_free(&r->docs[i]);
    free(r->docs);
    free(r->images);
    free(r->threads);
    free(r->frames);
    free(r->calls);
    free(r->parts);
    for (uint32_t i = 0; i < r->carried_count; i++) {
        free(r->carried[i].edits.v);
        text_free(&r->carried[i].edits.added);
    }
    free(r->carried);
    free(r->carried_strings);
    free(r->shadow);
    text_free(&r->changed);
    pool_free(&r->strings);
    memset(r, 0, sizeof *r);
}

const char *report_kind_name(report_kind kind)
{
    static const char *const names[REPORT_KIND_COUNT] = {
        "unknown",          /* REPORT_UNKNOWN */
        "crash text",       /* REPORT_TEXT */
        "sample",           /* REPORT_SAMPLE */
        "spindump",         /* REPORT_SPIN */
        "leaks",            /* REPORT_LEAKS */
        "lldb backtrace",   /* REPORT_LLDB */
        "Swift backtrace",  /* REPORT_SWIFT */
        "sanitizer report", /* REPORT_SANITIZER */
        "Dart stack",       /* REPORT_DART */
        "xctrace export",   /* REPORT_XCTRACE */
        "Crashlytics text", /* REPORT_CRASHLYTICS */
        "ips",              /* REPORT_IPS */
        "MetricKit",        /* REPORT_METRIC */
        "KSCrash JSON",     /* REPORT_KSCRASH */
        "Sentry event",     /* REPORT_SENTRY */
        "Bugsnag event",    /* REPORT_BUGSNAG */
        "PLCrashReporter",  /* REPORT_PLCRASH */
        "Datadog event",    /* REPORT_DATADOG */
        "no stacks",        /* REPORT_STACKLESS */
        "log",              /* REPORT_LOG */
        "kernel panic",     /* REPORT_PANIC */
        "stackshot",        /* REPORT_STACKSHOT */
    };
    return names[kind];
}
