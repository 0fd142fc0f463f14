/* ==== >> read/crashlytics ====
 * Job: Crashlytics' stacks, as its console hands them out.
 * Offers: its reader, for read/lines.h.
 * Never: reads its JSON.
 *
 * An address in such a stack is an offset in its image. The image's UUID is given if symbols are missing. Older
 * stacks have run-time addresses without images. */
#include "../base/digits.h"
#include "../base/memory.h"
#include "../base/text.h"
#include "../model/report.h"
#include "../model/scan.h"
#include "machsym.h"
#include "lines.h"

#include <stdlib.h>
#include <string.h>

/* ---- Frames ---- */

/* No image is as large as the memory below a 64-bit program's first load address. */
#define LOWEST_ADDRESS ((uint64_t)1 << 32)

/* "(Missing UUID 4c4c...)", "(Missing)"; the words are in the language of the reader. */
bool text_parse_missing(text_parser *p, report_frame *frame, machsym_str s)
{
    static const char uuid[] = " UUID ";
    machsym_uuid id;
    if (s.len < 2 || s.ptr[0] != '(' || s.ptr[s.len - 1] != ')')
        return false;
    size_t at = str_find(s, uuid) + sizeof uuid - 1;
    bool has_uuid = at < s.len && parse_uuid_str(str_make(s.ptr + at, s.len - at - 1), &id);
    if (!has_uuid && !str_is(s, "(Missing)"))
        return false;
    frame->name.len = 0;
    p->r->kind = REPORT_CRASHLYTICS;
    if (!has_uuid || frame->addr >= LOWEST_ADDRESS)
        return true;
    report_image *image = report_add_image(p->r);
    image->is_offset = image->has_uuid = true;
    image->uuid = id;
    image->name = frame->image_name;
    frame->image = p->r->image_count - 1;
    return true;
}

typedef struct image_name {
    machsym_str name;
    uint32_t image;
} image_name;

static int crashlytics_name_order(machsym_str a, machsym_str b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    int order = len > 0 ? memcmp(a.ptr, b.ptr, len) : 0;
    return order != 0 ? order : a.len < b.len ? -1 : a.len > b.len;
}

static int crashlytics_by_name(const void *a, const void *b)
{
    const image_name *x = (const image_name *)a;
    const image_name *y = (const image_name *)b;
    int order = crashlytics_name_order(x->name, y->name);
    MACHSYM_COUNT_WORK(1);
    return order != 0 ? order : x->image < y->image ? -1 : x->image > y->image;
}

static bool crashlytics_is_before(const void *element, const void *name)
{
    return crashlytics_name_order(((const image_name *)element)->name, *(const machsym_str *)name) < 0;
}

/* Frames with a name have no UUID. Their image is found by its name, if another frame has the UUID. */
void text_place_missing(report *r, uint32_t first_frame, uint32_t first_image)
{
    uint32_t count = 0;
    report_merge_images(r, first_image, first_frame);
    image_name *names = (image_name *)mem_take(r->memory, (r->image_count - first_image) * sizeof *names);
    for (uint32_t i = first_image; i < r->image_count; i++) {
        if (r->images[i].is_offset) {
            image_name one = {r->images[i].name, i};
            names[count++] = one;
        }
    }
    qsort(names, count, sizeof *names, crashlytics_by_name);
    for (uint32_t i = first_frame; i < r->frame_count; i++) {
        report_frame *frame = &r->frames[i];
        if (frame->image != REPORT_NONE || frame->addr >= LOWEST_ADDRESS)
            continue;
        size_t at = mem_lower_bound(names, count, sizeof *names, &frame->image_name, crashlytics_is_before);
        if (at < count && str_equal(names[at].name, frame->image_name))
            frame->image = names[at].image;
    }
    mem_give(r->memory, names);
}

/* ---- Lines ---- */

static machsym_str crashlytics_rest_after(machsym_str s, size_t count)
{
    return str_trim(str_make(s.ptr + count, s.len - count));
}

/* "# Version: 1.2 (34)" */
static bool crashlytics_parse_header(text_parser *p, machsym_str s)
{
    static const struct {
        const char *key;
        report_fact fact;
    } keys[] = {
        {"Application", FACT_IDENTIFIER}, {"Bundle Identifier", FACT_IDENTIFIER},
        {"Version", FACT_VERSION},        {"Issue", FACT_REPORTER},
        {"Issue ID", FACT_REPORTER},      {"Session", FACT_INCIDENT},
        {"Session ID", FACT_INCIDENT},    {"Date", FACT_DATE},
        {"OS Version", FACT_OS},          {"Device", FACT_HARDWARE},
    };
    machsym_str line = crashlytics_rest_after(s, 1);
    size_t colon = str_find(line, ":");
    if (!str_starts(s, "# ") || colon >= line.len)
        return false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (str_is(str_make(line.ptr, colon), keys[i].key))
            report_set_fact(p->r, keys[i].fact, crashlytics_rest_after(line, colon + 1));
    }
    return true;
}

/* "EXC_BAD_ACCESS KERN_INVALID_ADDRESS 0x0000000000000008" */
static bool crashlytics_parse_exception(text_parser *p, machsym_str s)
{
    size_t name = str_find(s, " ");
    if (!str_starts(s, "EXC_") && !str_starts(s, "SIG"))
        return false;
    machsym_str rest = name < s.len ? crashlytics_rest_after(s, name) : str_make(s.ptr, 0);
    size_t word = str_find(rest, " ");
    report_set_fact(p->r, str_starts(s, "EXC_") ? FACT_EXCEPTION : FACT_SIGNAL, str_make(s.ptr, name));
    if (str_starts(rest, "KERN_") && word < rest.len) {
        text t = text_in(p->r->memory);
        text_add(&t, rest.ptr, word);
        text_c(&t, " at ");
        text_str(&t, crashlytics_rest_after(rest, word));
        report_set_fact(p->r, FACT_SUBTYPE, pool_copy(&p->r->strings, t.v, t.len));
        text_free(&t);
    } else {
        report_set_fact(p->r, FACT_CODES, rest);
    }
    return true;
}

/* "NSRangeException: the reason" */
static void crashlytics_set_thrown(text_parser *p, machsym_str s)
{
    size_t colon = str_find(s, ": ");
    report_set_thrown(p->r, str_make(s.ptr, colon),
                      colon < s.len ? crashlytics_rest_after(s, colon + 1) : str_make(s.ptr, 0));
}

/* "#0. Crashed: com.apple.main-thread": title of the next thread. */
static void crashlytics_open_title(text_parser *p, machsym_str s)
{
    static const char fatal[] = "Fatal Exception:";
    static const char crashed[] = "Crashed:";
    size_t dot = str_find(s, ". ");
    if (s.ptr[0] == '#' && dot < s.len)
        s = crashlytics_rest_after(s, dot + 1);
    report_thread *thread = scan_open_thread(p);
    thread->crashed = str_starts(s, crashed);
    if (str_starts(s, fatal)) {
        thread->kind = THREAD_EXCEPTION;
        crashlytics_set_thrown(p, crashlytics_rest_after(s, sizeof fatal - 1));
        return;
    }
    thread->name = thread->crashed ? crashlytics_rest_after(s, sizeof crashed - 1) : s;
    if (str_is(thread->name, "Thread"))
        thread->name.len = 0;
}

bool text_parse_crashlytics(text_parser *p, machsym_str s)
{
    static const char again[] = "Thread : ";
    bool is_first = str_starts(s, "# Crashlytics ");
    if (is_first || str_starts(s, "Fatal Exception: ") || str_starts(s, "Crashed: ")) {
        p->crashlytics = true;
        p->r->kind = REPORT_CRASHLYTICS;
        if (is_first)
            return true;
    }
    if (!p->crashlytics || s.len == 0 || scan_is_digit(s.ptr[0]) || crashlytics_parse_header(p, s) ||
        crashlytics_parse_exception(p, s) || str_is(s, "--"))
        return p->crashlytics && s.len > 0 && !scan_is_digit(s.ptr[0]);
    /* A title follows an empty line, and may be repeated above its frames. Any other line continues the
     * reason of an exception. */
    bool is_first_line = p->open && p->r->threads[p->r->thread_count - 1].count == 0;
    if (str_starts(s, again)) {
        if (!is_first_line)
            crashlytics_open_title(p, crashlytics_rest_after(s, sizeof again - 1));
    } else if (is_first_line)
        report_set_fact(p->r, FACT_REASON, s);
    else
        crashlytics_open_title(p, s);
    return true;
}
