/* machsym_report.h: reports of any bytes, walked and written in every form. The first eight bytes say how: flags; what callbacks
 * do; the words of the redaction's key and the bound of names; which forms; the number of the request for memory that fails, of
 * the reader and of the session; a seed for made-up symbols. Symbols are those of a dSYM, or made up.
 * Guarded: memory ends in ERR_MEMORY and is all given back; find and leave come in pairs; JSON stays JSON; without symbols the
 * input comes back byte for byte; what is written keeps to the stated size.
 * Run: build/fuzz/report_api -dict=fuzz/report.dict fuzz/corpus/report_api */
#define MACHSYM_REPORT_IMPLEMENTATION
#include "../machsym_report.h"

#include "one_json.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 8 };

/* The second byte. */
enum {
    IS_REDACTED = 1 << 0,
    IS_BOUNDED = 1 << 1,
    LEAVES_OUT = 1 << 2,  /* begin and each do not want every report */
    IS_SILENT = 1 << 3,   /* no callbacks but each */
    FAILS_ONCE = 1 << 4,  /* later requests for memory are met */
    HAS_MADE_UP = 1 << 5, /* symbols */
    HAS_NO_SYMBOLS = 1 << 6,
    HAS_POOR_SESSION = 1 << 7
};

/* ---- Memory ---- */

typedef struct heap {
    size_t asked;
    size_t fails_at; /* number of the request that fails; 0: none */
    bool fails_once;
    bool has_failed;
    size_t live;
} heap;

static void *heap_alloc(void *user, size_t size)
{
    heap *h = (heap *)user;
    h->asked++;
    if (h->fails_at > 0 && (h->fails_once ? h->asked == h->fails_at : h->asked >= h->fails_at)) {
        h->has_failed = true;
        return NULL;
    }
    h->live += size;
    return malloc(size);
}

static void heap_free(void *user, void *memory, size_t size)
{
    heap *h = (heap *)user;
    if (memory == NULL || size > h->live)
        abort();
    h->live -= size;
    memset(memory, 0xa5, size); /* the size is that of the request, or ASan sees it */
    free(memory);
}

static machsym_allocator heap_of(heap *h)
{
    machsym_allocator allocator;
    memset(&allocator, 0, sizeof allocator);
    allocator.alloc = heap_alloc;
    allocator.free = heap_free;
    allocator.user = h;
    return allocator;
}

/* ---- One input ---- */

typedef struct run {
    heap memory;
    machsym_str input;
    const uint8_t *head;
    uint64_t most; /* bytes that a report or the whole may have when it is written */
    uint32_t seed; /* of made-up symbols */
    unsigned found;
    unsigned left;
    unsigned next; /* reports so far */
    bool has_left_out;
    machsym_report_symbols files;
} run;

static volatile unsigned sum; /* keeps every read */

static void use(machsym_str text)
{
    for (size_t i = 0; i < text.len; i++)
        sum += (uint8_t)text.ptr[i];
}

static bool is_wanted(run *r)
{
    bool is = (r->head[1] & LEAVES_OUT) == 0 || (r->head[3] >> r->next % 8 & 1) == 0;
    r->has_left_out |= !is;
    return is;
}

static bool begin(void *user, machsym_report *report)
{
    run *r = (run *)user;
    machsym_cursor at = {0, 0};
    machsym_report_image image;
    machsym_str out;
    while (machsym_report_next_image(report, &at, &image)) {
        use(image.name);
        use(image.path);
        use(image.arch);
        use(image.version);
    }
    if (machsym_report_write(report, MACHSYM_REPORT_AS_JSON, &out) != MACHSYM_ERR_ARGUMENT)
        abort();
    return (r->head[1] & LEAVES_OUT) == 0 || r->head[3] < 128 || is_wanted(r);
}

static void walk(const machsym_report *report)
{
    machsym_cursor at = {0, 0};
    machsym_report_image image;
    machsym_report_frame frame;
    machsym_report_info info;
    machsym_report_get_info(report, &info);
    if ((uint64_t)info.named + info.missing > info.frames)
        abort();
    while (machsym_report_next_image(report, &at, &image))
        if (image.missing > image.frames)
            abort();
    memset(&at, 0, sizeof at);
    while (machsym_report_next_frame(report, &at, &frame)) {
        use(frame.image);
        use(frame.name);
        use(frame.path);
        use(frame.doubt);
        sum += (unsigned)(frame.is_inferred + frame.addr + frame.thread + frame.line + frame.offset +
                          frame.is_inline);
    }
}

/* The forms whose bits are not set, and at least the one after the last of them. */
static bool each(void *user, machsym_report *report)
{
    run *r = (run *)user;
    for (int form = 0; form <= (int)MACHSYM_REPORT_AS_SIGNATURE; form++) {
        bool is_json_form = form == (int)MACHSYM_REPORT_AS_JSON || form == (int)MACHSYM_REPORT_AS_BRIEF;
        machsym_str out;
        if ((r->head[4] >> form & 1) != 0)
            continue;
        machsym_result result = machsym_report_write(report, (machsym_report_form)form, &out);
        if (result != MACHSYM_OK && (!r->memory.has_failed || result != MACHSYM_ERR_MEMORY || out.len > 0))
            abort();
        use(out);
        if (out.len > r->most || (result == MACHSYM_OK && is_json_form && !is_json(out.ptr, out.len)))
            abort();
    }
    walk(report);
    r->next++;
    return is_wanted(r);
}

static void fails(void *user, uint32_t number, const char *why, uint64_t at)
{
    const run *r = (const run *)user;
    if (at > r->input.len)
        abort();
    sum += number + (unsigned)strlen(why);
}

/* ---- Symbols ---- */

static unsigned chance(run *r, unsigned below)
{
    r->seed = r->seed * 1664525u + 1013904223u;
    return (r->seed >> 8) % below;
}

static machsym_str piece(run *r, unsigned most)
{
    machsym_str s = r->input;
    if (s.len == 0)
        return s;
    size_t at = chance(r, (unsigned)s.len);
    size_t len = chance(r, most);
    s.ptr += at;
    s.len = len < s.len - at ? len : s.len - at;
    return s;
}

static bool find(void *user, const machsym_report_image *image, machsym_report_found *found)
{
    run *r = (run *)user;
    bool is_there;
    if (r->found != r->left)
        abort(); /* images are asked one at a time */
    use(image->name);
    if ((r->head[1] & HAS_MADE_UP) == 0) {
        is_there = r->files.find(r->files.user, image, found);
    } else {
        is_there = chance(r, 8) != 0;
        found->path = chance(r, 2) != 0 ? "/Users/somebody/dSYMs/demo" : NULL;
        found->lack = (machsym_report_lack)chance(r, 3);
        found->has_dwarf = chance(r, 2) != 0;
    }
    r->found += is_there;
    return is_there;
}

static void leave(void *user)
{
    run *r = (run *)user;
    if (++r->left != r->found)
        abort();
}

static uint64_t addr(void *user, const machsym_report_image *image, uint64_t pc, bool *holds)
{
    run *r = (run *)user;
    if (r->found == r->left)
        abort();
    if ((r->head[1] & HAS_MADE_UP) == 0)
        return r->files.addr(r->files.user, image, pc, holds);
    *holds = chance(r, 4) != 0;
    return chance(r, 4) != 0 ? pc - image->base : (uint64_t)chance(r, 0x10000) << chance(r, 60);
}

static void make_up(run *r, machsym_frame *frame, bool is_inline)
{
    static const char *const mangled[] = {"_ZN4demo4playEi", "$s4demo3fooyyF", "_RNvC4demo3bar",
                                          "-[Demo play:]"};
    memset(frame, 0, sizeof *frame);
    if (chance(r, 2) != 0) {
        frame->linkage_name.ptr = mangled[chance(r, 4)];
        frame->linkage_name.len = strlen(frame->linkage_name.ptr);
    }
    frame->name = piece(r, 40);
    frame->file.comp_dir = piece(r, 20);
    frame->file.dir = piece(r, 40);
    frame->file.name = piece(r, 20);
    frame->line = chance(r, 3) != 0 ? chance(r, 100) : 0xffffffff;
    frame->column = chance(r, 100);
    frame->function_start = (uint64_t)chance(r, 0x10000) << chance(r, 48);
    frame->name_source = (machsym_source)chance(r, 3);
    frame->line_source = (machsym_source)chance(r, 3);
    frame->is_inline = is_inline;
    frame->lacks_callers = chance(r, 16) == 0;
}

/* Answers are well-formed, but those of one address differ from time to time. */
static size_t stack(void *user, const machsym_stack_addr *pcs, size_t count, machsym_stack_answer *calls,
                    machsym_frame *frames, size_t cap)
{
    run *r = (run *)user;
    size_t total = 0;
    if (r->found == r->left)
        abort();
    if ((r->head[1] & HAS_MADE_UP) == 0)
        return r->files.stack(r->files.user, pcs, count, calls, frames, cap);
    memset(calls, 0, count * sizeof *calls);
    for (size_t i = 0; i < count; i++) {
        calls[i].first = total;
        calls[i].count = chance(r, 4);
        calls[i].function_count = chance(r, 3);
        calls[i].is_decided = chance(r, 2) != 0;
        total += calls[i].count;
        for (size_t j = calls[i].first; j < total && j < cap; j++)
            make_up(r, &frames[j], j + 1 < total);
    }
    return total;
}

static size_t next_folded(void *user, uint64_t at_addr, machsym_cursor *at, machsym_frame *frames, size_t cap)
{
    run *r = (run *)user;
    if ((r->head[1] & HAS_MADE_UP) == 0)
        return r->files.next_folded(r->files.user, at_addr, at, frames, cap);
    size_t count = at->a++ < 5 ? chance(r, 3) : 0;
    for (size_t i = 0; i < count && i < cap; i++)
        make_up(r, &frames[i], i + 1 < count);
    return count;
}

enum { DEMO_DSYM, DEMO_PROGRAM, DEMO_COUNT };

static machsym_image *open_demo(unsigned which)
{
    static const char *const paths[DEMO_COUNT] = {"tests/fixtures/bin/demo.app.dSYM",
                                                  "tests/fixtures/bin/demo"};
    static machsym_image *images[DEMO_COUNT];
    static bool was_tried[DEMO_COUNT]; /* outside a checkout there is no such file */
    machsym_open_desc open;
    memset(&open, 0, sizeof open);
    open.path = paths[which];
    if (!was_tried[which])
        machsym_image_open(&open, &images[which], NULL);
    was_tried[which] = true;
    return images[which];
}

/* Tables and code, of an image that may be another one. */
static const machsym_image *file(void *user, const machsym_report_image *image)
{
    run *r = (run *)user;
    use(image->name);
    return chance(r, 4) != 0 ? open_demo(DEMO_PROGRAM) : NULL;
}

/* ---- All of it ---- */

/* Whether an input is of a kind that comes back as text, though it may be too damaged for a report. */
static bool is_binary(machsym_str s)
{
    static const char *const magics[] = {"plcrash", "MDMP", "\xcf\xfa\xed\xfe"};
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
        size_t len = strlen(magics[i]);
        if (s.len >= len && memcmp(s.ptr, magics[i], len) == 0)
            return true;
    }
    return false;
}

static void read_reports(run *r, const heap *session)
{
    static const char *const keys[] = {"", "words", "a key"};
    machsym_reports_desc desc;
    machsym_reports *reports = NULL;
    machsym_error err;
    const uint8_t how = r->head[1];
    memset(&desc, 0, sizeof desc);
    desc.allocator = heap_of(&r->memory);
    desc.input = r->input;
    desc.name = (how & IS_SILENT) != 0 ? NULL : "a.ips";
    desc.flags = r->head[0];
    desc.redact = (how & IS_REDACTED) != 0 ? keys[r->head[2] % 3] : NULL;
    desc.max_bytes = (how & IS_BOUNDED) != 0 ? (uint64_t)1 << (r->head[2] / 8 % 24) : 0;
    r->most = (desc.max_bytes != 0 ? desc.max_bytes : 33554432) + 65536 + 128 * (uint64_t)r->input.len;
    if ((how & HAS_NO_SYMBOLS) == 0 && ((how & HAS_MADE_UP) != 0 || r->files.user != NULL)) {
        const machsym_report_symbols symbols = {r, find, leave, addr, stack, next_folded, NULL, file, NULL};
        desc.symbols = symbols;
    }
    desc.user = r;
    desc.begin = (how & IS_SILENT) != 0 ? NULL : begin;
    desc.each = each;
    desc.fails = (how & IS_SILENT) != 0 ? NULL : fails;
    machsym_result result = machsym_reports_open(&desc, &reports, &err);
    if (err.code != result || (result == MACHSYM_OK) != (reports != NULL) || r->found != r->left)
        abort();
    if (result != MACHSYM_OK ? !r->memory.has_failed && !session->has_failed : r->memory.has_failed)
        abort();
    if (reports != NULL) {
        machsym_str same = machsym_reports_same(reports);
        uint32_t failed;
        use(same);
        if (same.len > r->most || machsym_reports_count(reports, &failed) > r->next)
            abort();
        if ((desc.flags & MACHSYM_REPORT_SAME) != 0 && desc.symbols.find == NULL && desc.redact == NULL &&
            !is_binary(r->input) && !r->has_left_out &&
            (same.len != r->input.len || memcmp(same.ptr, r->input.ptr, same.len) != 0))
            abort();
    }
    machsym_reports_close(reports);
    if (r->memory.live != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    machsym_session_desc how;
    machsym_report_file dsym = {open_demo(DEMO_DSYM), NULL};
    machsym_report_files files = {&dsym, 1, NULL};
    heap session_memory;
    run r;
    if (size < HEAD)
        return 0;
    memset(&how, 0, sizeof how);
    memset(&r, 0, sizeof r);
    memset(&session_memory, 0, sizeof session_memory);
    char *copy = (char *)malloc(size - HEAD + (size == HEAD)); /* exactly as long: a byte too far is seen */
    if (copy == NULL)
        abort();
    memcpy(copy, data + HEAD, size - HEAD);
    r.input.ptr = copy;
    r.input.len = size - HEAD;
    r.head = data;
    r.seed = (uint32_t)(data[7] << 8 | data[3]);
    r.memory.fails_at = (size_t)(data[5] | data[6] << 8);
    r.memory.fails_once = (data[1] & FAILS_ONCE) != 0;
    how.image = dsym.image;
    how.lines = MACHSYM_LINES_PEOPLE;
    how.allocator = heap_of(&session_memory);
    session_memory.fails_at = (data[1] & HAS_POOR_SESSION) != 0 ? data[7] : 0;
    if (dsym.image != NULL && machsym_session_open(&how, &dsym.session, NULL) == MACHSYM_OK)
        r.files = machsym_report_of_files(&files);
    read_reports(&r, &session_memory);
    machsym_session_close(dsym.session);
    if (session_memory.live != 0)
        abort();
    free(copy);
    return 0;
}
