/* machsym_report.h: what it refuses, what it gives back, and what becomes of it when memory runs out, at each of its
 * allocations. That its answers are machsym crash's, tests/report_header.sh shows. */
#include "test.h"

#define MACHSYM_REPORT_IMPLEMENTATION
#include "machsym_report.h"

/* Every kind of report, binary ones and such that carry others among them. */
static const char *const inputs[] = {
    "tests/fixtures/reports/demo.crash",
    "tests/fixtures/reports/demo.ips",
    "tests/fixtures/reports/demo-utf16.crash",
    "tests/fixtures/reports/demo-sample.txt",
    "tests/fixtures/reports/demo-text-in-ips.ips",
    "tests/fixtures/services/metrickit-all.json",
    "tests/fixtures/services/breakpad.dmp",
    "tests/fixtures/services/noted.core",
    "tests/fixtures/services/thrown.plcrash",
    "tests/fixtures/services/sentry-envelope.txt",
    "tests/fixtures/services/kscrash-several.json",
    "tests/fixtures/services/crashlytics-crashed.txt",
    "tests/fixtures/services/bugsnag-event.json",
    "tests/fixtures/services/sentry-api.json",
    "tests/fixtures/services/node.json",
    "tests/fixtures/stacks/xctrace.xml",
    "tests/fixtures/stacks/tracker.json",
    "tests/fixtures/stacks/log.ndjson",
    "tests/fixtures/stacks/stackshot.txt",
    "tests/fixtures/stacks/lldb.txt",
    "tests/fixtures/stacks/asan.txt",
    "tests/fixtures/stacks/mail.txt",
    "tests/fixtures/stacks/swift.txt",
    "tests/fixtures/stacks/umeng.txt",
    "tests/stacks/x86_64.dmp", /* its stacks are found by what program_read reads */
};
enum { INPUTS = sizeof inputs / sizeof *inputs };

/* ---- Memory that runs out ---- */

typedef struct heap {
    size_t asked;
    size_t fails_at; /* the number of the request from which on none is met; 0: all are */
    bool fails_once; /* later ones are met */
    size_t live;
} heap;

static void *heap_alloc(void *user, size_t size)
{
    heap *h = (heap *)user;
    h->asked++;
    if (h->fails_at > 0 && (h->fails_once ? h->asked == h->fails_at : h->asked >= h->fails_at))
        return NULL;
    h->live += size;
    return malloc(size);
}

static void heap_free(void *user, void *memory, size_t size)
{
    ((heap *)user)->live -= size;
    free(memory);
}

/* ---- One input ---- */

typedef struct run {
    heap memory;
    uint64_t hash; /* of all that was written */
    size_t written;
    size_t calls;
    uint32_t images;
    uint32_t failed;
    uint32_t found;  /* images with symbols */
    uint32_t gone;   /* those that were left again */
    uint32_t doubts; /* frames that were not called from the next one */
    uint32_t inferred;
    bool lost;       /* writing failed */
    bool not_wanted; /* no report is */
    bool left_out;   /* all are */
    const char *why;
} run;

static machsym_report_file file;
static machsym_report_files files = {&file, 1, NULL};

static void run_add(run *r, machsym_str s)
{
    for (size_t i = 0; i < s.len; i++)
        r->hash = (r->hash ^ (unsigned char)s.ptr[i]) * 0x100000001b3u;
    r->written += s.len;
}

static bool run_begin(void *user, machsym_report *report)
{
    run *r = (run *)user;
    machsym_cursor at = {0, 0};
    machsym_report_image image;
    machsym_str out;
    while (machsym_report_next_image(report, &at, &image))
        r->images++;
    CHECK(machsym_report_write(report, MACHSYM_REPORT_AS_TEXT, &out) == MACHSYM_ERR_ARGUMENT);
    return !r->not_wanted;
}

static bool run_each(void *user, machsym_report *report)
{
    run *r = (run *)user;
    machsym_cursor at = {0, 0};
    machsym_report_frame frame;
    machsym_report_info info;
    machsym_str out;
    r->calls++;
    machsym_report_get_info(report, &info);
    CHECK(info.kind != NULL && info.named + info.missing <= info.frames);
    for (int form = 0; form <= (int)MACHSYM_REPORT_AS_SIGNATURE; form++) {
        machsym_result result = machsym_report_write(report, (machsym_report_form)form, &out);
        r->lost |= result != MACHSYM_OK;
        CHECK(result == MACHSYM_OK ? out.len > 0 : result == MACHSYM_ERR_MEMORY && out.len == 0);
        run_add(r, out);
    }
    while (machsym_report_next_frame(report, &at, &frame)) {
        run_add(r, frame.name);
        run_add(r, frame.doubt);
        r->doubts += frame.doubt.len > 0;
        r->inferred += frame.is_inferred;
    }
    return !r->left_out;
}

static void run_fails(void *user, uint32_t number, const char *why, uint64_t at)
{
    run *r = (run *)user;
    (void)number;
    (void)at;
    r->failed++;
    r->why = why;
}

/* The files' own callbacks, counted. */
static bool run_find(void *user, const machsym_report_image *image, machsym_report_found *found)
{
    run *r = (run *)user;
    bool is_there = machsym_report_of_files(&files).find(&files, image, found);
    CHECK_EQ(r->found, r->gone);
    r->found += is_there;
    return is_there;
}

static void run_leave(void *user)
{
    run *r = (run *)user;
    r->gone++;
    CHECK_EQ(r->found, r->gone);
}

static uint64_t run_addr(void *user, const machsym_report_image *image, uint64_t pc, bool *holds)
{
    (void)user;
    return machsym_report_of_files(&files).addr(&files, image, pc, holds);
}

static size_t run_stack(void *user, const machsym_stack_addr *pcs, size_t count, machsym_stack_answer *calls,
                        machsym_frame *frames, size_t cap)
{
    (void)user;
    return machsym_report_of_files(&files).stack(&files, pcs, count, calls, frames, cap);
}

/* The program of tests/stacks/x86_64.dmp as it lies in memory: its only segments are those of its file. */
static test_file program;

static bool program_read(void *user, const machsym_report_image *image, uint64_t addr, void *out, size_t len)
{
    uint64_t off = addr - image->base;
    (void)user;
    if (!image->has_uuid || !msr_str_starts(image->arch, "x86_64") || off >= program.len ||
        len > program.len - off)
        return false;
    memcpy(out, program.ptr + off, len);
    return true;
}

/* Programs that stacks are checked by. */
static machsym_report_file programs[2];
static machsym_report_files program_files = {programs, 2, NULL};

static const machsym_image *run_file(void *user, const machsym_report_image *image)
{
    (void)user;
    return machsym_report_of_files(&program_files).file(&program_files, image);
}

static machsym_result run_input(run *r, machsym_str input, uint32_t flags, uint64_t max_bytes)
{
    machsym_reports_desc desc;
    machsym_reports *reports = NULL;
    machsym_error err;
    memset(&desc, 0, sizeof desc);
    desc.allocator.alloc = heap_alloc;
    desc.allocator.free = heap_free;
    desc.allocator.user = &r->memory;
    desc.input = input;
    desc.flags = flags;
    desc.max_bytes = max_bytes;
    desc.redact = flags & MACHSYM_REPORT_FULL_PATHS ? "a key" : NULL;
    desc.symbols.user = r;
    desc.symbols.find = run_find;
    desc.symbols.leave = run_leave;
    desc.symbols.addr = run_addr;
    desc.symbols.stack = run_stack;
    desc.symbols.read = program_read;
    if (flags & MACHSYM_REPORT_CHECK_STACK)
        desc.symbols.file = run_file;
    desc.user = r;
    desc.begin = run_begin;
    desc.each = run_each;
    desc.fails = run_fails;
    machsym_result result = machsym_reports_open(&desc, &reports, &err);
    CHECK((result == MACHSYM_OK) == (reports != NULL) && err.code == result);
    if (reports != NULL)
        run_add(r, machsym_reports_same(reports));
    machsym_reports_close(reports);
    CHECK_EQ(r->memory.live, 0);
    CHECK_EQ(r->found, r->gone);
    return result;
}

/* An input with each of its requests for memory refused, from some number on: it is whole, or ERR_MEMORY. */
static void check_input_without_memory(const char *name, machsym_str input, uint32_t flags)
{
    run whole;
    memset(&whole, 0, sizeof whole);
    test_begin();
    CHECK(run_input(&whole, input, flags, 0) == MACHSYM_OK && whole.memory.asked > 2);
    CHECK(whole.calls + whole.failed > 0 && !whole.lost);
    size_t step = test_env("SAMPLE") > 1 ? 1 + whole.memory.asked / 400 : 1; /* some ask thousands of times */
    for (size_t at = 1; at <= whole.memory.asked; at += at < 200 ? 1 : step) {
        run part;
        memset(&part, 0, sizeof part);
        part.memory.fails_at = at;
        CHECK(run_input(&part, input, flags, 0) == MACHSYM_ERR_MEMORY);
        CHECK(part.calls <= whole.calls && part.written <= whole.written);
    }
    /* What a session keeps for later may be missing: then the answer is the same. */
    for (size_t at = 1; at <= whole.memory.asked && (flags & MACHSYM_REPORT_CHECK_STACK) != 0; at++) {
        run part;
        memset(&part, 0, sizeof part);
        part.memory.fails_at = at;
        part.memory.fails_once = true;
        machsym_result result = run_input(&part, input, flags, 0);
        CHECK(result == MACHSYM_ERR_MEMORY || (result == MACHSYM_OK && part.hash == whole.hash));
    }
    run again;
    memset(&again, 0, sizeof again);
    again.memory.fails_at = whole.memory.asked + 1;
    CHECK(run_input(&again, input, flags, 0) == MACHSYM_OK);
    CHECK_EQ(again.hash, whole.hash);
    test_end(name);
}

static void check_without_memory(const char *path, uint32_t flags)
{
    test_file loaded = test_read(path);
    const machsym_str input = {(const char *)loaded.ptr, loaded.len};
    check_input_without_memory(path, input, flags);
    free(loaded.ptr);
}

/* Stacks that are checked, in memory that runs out. Two inputs have a return address that no call ends at; one lacks
 * a caller that bytes of its stack have. */
static void check_stacks_without_memory(void)
{
    static const struct {
        const char *path, *from, *to;
        uint32_t doubts, inferred;
    } v[] = {{"tests/fixtures/reports/demo.ips", "\"imageOffset\":2684", "\"imageOffset\":2688", 1, 0},
             {"tests/fixtures/reports/demo.crash", "0x0000000102a30a7c 0x", "0x0000000102a30a80 0x", 1, 0},
             {"tests/stacks/x86_64.json", "", "", 0, 1}};
    for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
        test_file loaded = test_read(v[i].path);
        const machsym_str input = {(const char *)loaded.ptr, loaded.len};
        run plain, checked;
        memset(&plain, 0, sizeof plain);
        memset(&checked, 0, sizeof checked);
        size_t at = msr_str_find(input, v[i].from);
        CHECK(at < input.len);
        memcpy((char *)loaded.ptr + at, v[i].to, strlen(v[i].to));
        CHECK(run_input(&plain, input, 0, 0) == MACHSYM_OK && plain.doubts + plain.inferred == 0);
        CHECK(run_input(&checked, input, MACHSYM_REPORT_CHECK_STACK, 0) == MACHSYM_OK);
        CHECK_EQ(checked.doubts, v[i].doubts);
        CHECK_EQ(checked.inferred, v[i].inferred);
        check_input_without_memory(v[i].path, input, MACHSYM_REPORT_CHECK_STACK);
        check_input_without_memory(v[i].path, input, MACHSYM_REPORT_CHECK_STACK | MACHSYM_REPORT_FULL_PATHS);
        free(loaded.ptr);
    }
}

/* ---- What is refused, wanted, bounded ---- */

static void check_arguments(void)
{
    machsym_reports_desc desc;
    machsym_reports *reports = NULL;
    machsym_error err;
    memset(&desc, 0, sizeof desc);
    CHECK(machsym_reports_open(NULL, &reports, &err) == MACHSYM_ERR_ARGUMENT);
    CHECK(machsym_reports_open(&desc, NULL, &err) == MACHSYM_ERR_ARGUMENT);
    desc.input.len = 1;
    CHECK(machsym_reports_open(&desc, &reports, NULL) == MACHSYM_ERR_ARGUMENT && reports == NULL);
    desc.input.len = 0;
    desc.symbols.find = machsym_report_of_files(&files).find;
    CHECK(machsym_reports_open(&desc, &reports, &err) == MACHSYM_ERR_ARGUMENT);
    desc.symbols.find = NULL;
    uint32_t failed = 0;
    CHECK(machsym_reports_open(&desc, &reports, &err) == MACHSYM_OK); /* of nothing */
    CHECK(machsym_reports_count(reports, &failed) == 0 && failed == 1);
    machsym_reports_close(reports);
    machsym_reports_close(NULL);
}

/* Structs of another size have another number. */
static void check_abi(void)
{
    CHECK_EQ(machsym_report_abi(), MACHSYM_REPORT_ABI);
    CHECK(machsym_report_abi() != machsym_abi());
    CHECK(machsym_report_abi() != MACHSYM_REPORT_ABI + 8 * UINT64_C(31)); /* a larger frame */
}

static void check_choices(void)
{
    test_file loaded = test_read("tests/fixtures/services/metrickit-all.json");
    const machsym_str input = {(const char *)loaded.ptr, loaded.len};
    run all, none, out;
    memset(&all, 0, sizeof all);
    memset(&none, 0, sizeof none);
    memset(&out, 0, sizeof out);
    CHECK(run_input(&all, input, 0, 0) == MACHSYM_OK && all.calls > 1 && all.images > 0);
    none.not_wanted = true;
    CHECK(run_input(&none, input, 0, 0) == MACHSYM_OK && none.calls == 0);
    out.left_out = true;
    CHECK(run_input(&out, input, MACHSYM_REPORT_SAME, 0) == MACHSYM_OK && out.calls == all.calls);
    CHECK_EQ(out.hash, all.hash); /* there is no input with names in it */
    free(loaded.ptr);
}

/* Names past the bound fail the report, and no memory is out. */
static void check_bound(void)
{
    test_file loaded = test_read("tests/fixtures/reports/demo.crash");
    const machsym_str input = {(const char *)loaded.ptr, loaded.len};
    run r;
    memset(&r, 0, sizeof r);
    CHECK(run_input(&r, input, 0, 100) == MACHSYM_OK && r.calls == 0 && r.failed == 1);
    CHECK(r.why != NULL && strstr(r.why, "memory") != NULL);
    free(loaded.ptr);
}

/* A session that has no memory gives an answer that is not all: the reports fail as without memory of their own. */
static void check_session_without_memory(void)
{
    test_file loaded = test_read("tests/fixtures/reports/demo.crash");
    const machsym_str input = {(const char *)loaded.ptr, loaded.len};
    machsym_session *usual = file.session;
    size_t refused = 0;
    test_begin();
    for (size_t at = 2; at < 40; at++) {
        heap memory = {0, at, false, 0};
        machsym_session_desc desc;
        machsym_error err;
        run r;
        memset(&desc, 0, sizeof desc);
        memset(&r, 0, sizeof r);
        desc.image = file.image;
        desc.lines = MACHSYM_LINES_PEOPLE;
        desc.allocator.alloc = heap_alloc;
        desc.allocator.free = heap_free;
        desc.allocator.user = &memory;
        if (machsym_session_open(&desc, &file.session, &err) != MACHSYM_OK)
            continue;
        machsym_result result = run_input(&r, input, 0, 0);
        CHECK(result == MACHSYM_OK ? r.calls == 1 : result == MACHSYM_ERR_MEMORY && r.calls == 0);
        refused += result != MACHSYM_OK;
        machsym_session_close(file.session);
    }
    CHECK(refused > 0);
    test_end("sessions without memory");
    file.session = usual;
    free(loaded.ptr);
}

static bool silent_find(void *user, const machsym_report_image *image, machsym_report_found *found)
{
    (void)user;
    found->lack = MACHSYM_REPORT_OTHER_UUID; /* of no file, where images of the system are asked for */
    found->path = image->is_system ? NULL : "/dSYMs/demo";
    return !image->is_system;
}

static uint64_t silent_addr(void *user, const machsym_report_image *image, uint64_t pc, bool *holds)
{
    (void)user;
    *holds = true;
    return pc - image->base;
}

/* A single address has a function that shares its code. A stack has no function, though its caller may tell
 * more. */
static size_t silent_stack(void *user, const machsym_stack_addr *pcs, size_t count,
                           machsym_stack_answer *calls, machsym_frame *frames, size_t cap)
{
    (void)user;
    memset(calls, 0, count * sizeof *calls);
    if (count > 1 || pcs[0].is_return)
        return 0;
    calls[0].count = 1;
    calls[0].function_count = 2;
    if (cap > 0) {
        memset(frames, 0, sizeof *frames);
        frames->name.ptr = "play";
        frames->name.len = 4;
        frames->name_source = MACHSYM_SOURCE_DWARF;
    }
    return 1;
}

/* Symbols that contradict themselves: no frame is read that they did not write. */
static void check_silent(void)
{
    test_file loaded = test_read("tests/fixtures/reports/demo.crash");
    machsym_reports_desc desc;
    machsym_reports *reports;
    run r;
    memset(&desc, 0, sizeof desc);
    memset(&r, 0, sizeof r);
    desc.input.ptr = (const char *)loaded.ptr;
    desc.input.len = loaded.len;
    desc.symbols.find = silent_find;
    desc.symbols.addr = silent_addr;
    desc.symbols.stack = silent_stack;
    desc.user = &r;
    desc.each = run_each;
    CHECK(machsym_reports_open(&desc, &reports, NULL) == MACHSYM_OK);
    CHECK(r.calls == 1 && !r.lost);
    machsym_reports_close(reports);
    free(loaded.ptr);
}

/* ---- What a report has, and what its stacks are asked for ---- */

static void note(char *to, size_t cap, machsym_str text)
{
    size_t len = strlen(to);
    snprintf(to + len, cap - len, "%.*s ", (int)text.len, text.ptr);
}

static bool walk_each(void *user, machsym_report *report)
{
    machsym_cursor at = {0, 0};
    machsym_report_thread thread;
    machsym_report_register one;
    machsym_report_fact fact;
    char names[256] = "";
    char facts[1024] = "";
    CHECK(machsym_report_next_thread(report, &at, &thread) && thread.is_crashed && thread.number == 0);
    CHECK(thread.registers == 9 && thread.frames == 5 && msr_str_is(thread.queue, "com.apple.main-thread"));
    CHECK(machsym_report_next_thread(report, &at, &thread) && !thread.is_crashed && thread.number == 1);
    CHECK(thread.registers == 0 && thread.frames == 1 && thread.queue.len == 0);
    CHECK(!machsym_report_next_thread(report, &at, &thread));
    memset(&at, 0, sizeof at);
    while (machsym_report_next_register(report, &at, &one)) {
        note(names, sizeof names, one.name);
        CHECK(one.thread == 0 && (!msr_str_is(one.name, "pc") || one.value == 0x102a30aec));
    }
    CHECK(strcmp(names, "x0 x1 x2 x3 fp lr sp pc cpsr ") == 0);
    memset(&at, 0, sizeof at);
    while (machsym_report_next_fact(report, &at, &fact)) {
        const machsym_str name = {fact.name, strlen(fact.name)};
        note(facts, sizeof facts, name);
        note(facts, sizeof facts, fact.value);
    }
    CHECK(strstr(facts, "process demo [412] ") != NULL &&
          strstr(facts, "os iPhone OS 17.4 (21E219) ") != NULL);
    CHECK(strstr(facts, "exception EXC_BREAKPOINT (SIGTRAP) ") != NULL && strstr(facts, "reason") == NULL);
    ++*(int *)user;
    return true;
}

typedef struct asking {
    char said[1024]; /* thread, frame and registers of each */
    size_t count;
} asking;

static void note_asked(void *user, const machsym_report *report, const machsym_report_asked *asked)
{
    asking *a = (asking *)user;
    machsym_cursor at = asked->first_register;
    machsym_report_register one;
    size_t len = strlen(a->said);
    snprintf(a->said + len, sizeof a->said - len, "%u.%u%s%s:", (unsigned)asked->thread,
             (unsigned)asked->frame, asked->is_exact ? "!" : "", asked->is_crashed ? "*" : "");
    for (uint32_t i = 0; i < asked->registers && machsym_report_next_register(report, &at, &one); i++) {
        CHECK_EQ(one.thread, asked->thread);
        note(a->said, sizeof a->said, one.name);
    }
    a->count++;
}

/* A name for every address. */
static size_t plain_stack(void *user, const machsym_stack_addr *pcs, size_t count,
                          machsym_stack_answer *calls, machsym_frame *frames, size_t cap)
{
    const machsym_stack_addr exact = {pcs[0].addr, false};
    size_t found = silent_stack(user, &exact, 1, calls, frames, cap);
    CHECK_EQ(count, 1);
    calls[0].function_count = 1;
    return found;
}

static bool nothing_found(void *user, const machsym_report_image *image, machsym_report_found *found)
{
    (void)user;
    (void)found;
    return !image->is_system;
}

static void check_asked(machsym_str input, const char *want)
{
    machsym_reports_desc desc;
    machsym_reports *reports;
    asking a;
    memset(&desc, 0, sizeof desc);
    memset(&a, 0, sizeof a);
    desc.input = input;
    desc.symbols.user = &a;
    desc.symbols.find = nothing_found;
    desc.symbols.addr = silent_addr;
    desc.symbols.stack = plain_stack;
    desc.symbols.asks = note_asked;
    CHECK(machsym_reports_open(&desc, &reports, NULL) == MACHSYM_OK);
    CHECK(strstr(a.said, want) != NULL);
    machsym_reports_close(reports);
}

static void check_walks(void)
{
    static const char two[] =
        "Thread 0 Crashed:\n0   demo  0x0000000102a30aec 0x102a30000 + 2796\n\n"
        "Thread 1:\n0   demo  0x0000000102a30aec 0x102a30000 + 2796\n\nBinary Images:\n"
        "0x102a30000 - 0x102a33fff demo arm64  <4c4c44b555553144a1ba79ca685dec58> /demo\n";
    test_file loaded = test_read("tests/fixtures/reports/demo.crash");
    const machsym_str input = {(const char *)loaded.ptr, loaded.len};
    const machsym_str same = {two, sizeof two - 1};
    machsym_reports_desc desc;
    machsym_reports *reports;
    int calls = 0;
    test_begin();
    memset(&desc, 0, sizeof desc);
    desc.input = input;
    desc.user = &calls;
    desc.each = walk_each;
    CHECK(machsym_reports_open(&desc, &reports, NULL) == MACHSYM_OK && calls == 1);
    machsym_reports_close(reports);
    check_asked(input, "0.0!*:x0 x1 x2 x3 fp lr sp pc cpsr ");
    check_asked(input, "0.1*:x0 x1 x2 x3 fp lr sp pc cpsr ");
    check_asked(same, "0.0!*:"); /* both, though the address is one */
    check_asked(same, "1.0!:");
    test_end("threads, registers, facts");
    free(loaded.ptr);
}

/* ---- Stacks of dumps ---- */

typedef struct stack {
    uint64_t pcs[32];
    size_t count;
} stack;

static bool stack_each(void *user, machsym_report *report)
{
    stack *s = (stack *)user;
    machsym_cursor at = {0, 0};
    machsym_report_frame frame;
    while (s->count < 32 && machsym_report_next_frame(report, &at, &frame)) {
        if (!frame.is_inline)
            s->pcs[s->count++] = frame.addr;
    }
    return true;
}

static void check_dump_with(machsym_str input, const machsym_report_symbols *symbols, const uint64_t *want,
                            size_t count)
{
    machsym_reports_desc desc;
    machsym_reports *reports;
    stack got;
    memset(&desc, 0, sizeof desc);
    memset(&got, 0, sizeof got);
    desc.input = input;
    desc.symbols = *symbols;
    desc.user = &got;
    desc.each = stack_each;
    CHECK(machsym_reports_open(&desc, &reports, NULL) == MACHSYM_OK);
    CHECK_EQ(got.count, count);
    for (size_t i = 0; i < count && i < got.count; i++)
        CHECK_EQ(got.pcs[i], want[i]);
    machsym_reports_close(reports);
}

/* The frames that an emulator and lldb have of code without frame pointers, as in tests/minidump.sh. */
static void check_dump(void)
{
    static const uint64_t want[] = {0x1023403ee, 0x10234042c, 0x102340487, 0x102340503, 0x1023405b0,
                                    0x10234057b, 0x10234057b, 0x10234057b, 0x10234057b, 0x102340696};
    static const uint64_t by_pointers[] = {0x1023403ee, 0x102340503};
    test_file loaded = test_read("tests/stacks/x86_64.dmp");
    const machsym_str input = {(const char *)loaded.ptr, loaded.len};
    machsym_report_file v[2];
    machsym_report_files both = {v, 2, NULL};
    machsym_report_symbols symbols = machsym_report_of_files(&both);
    machsym_open_desc open;
    test_begin();
    memset(&open, 0, sizeof open);
    open.path = "tests/stacks/x86_64.program";
    memset(v, 0, sizeof v);
    v[0] = file;
    CHECK(machsym_image_open(&open, &v[1].image, NULL) == MACHSYM_OK);
    symbols.addr = silent_addr;
    symbols.find = nothing_found; /* only tables are asked of it */
    symbols.stack = silent_stack;
    check_dump_with(input, &symbols, want, sizeof want / sizeof *want);
    symbols.file = NULL;
    check_dump_with(input, &symbols, by_pointers, 2);
    symbols.read = program_read;
    check_dump_with(input, &symbols, want, sizeof want / sizeof *want);
    memset(&symbols, 0, sizeof symbols);
    check_dump_with(input, &symbols, by_pointers, 2);
    machsym_image_close(v[1].image);
    test_end("stacks of dumps");
    free(loaded.ptr);
}

int main(void)
{
    machsym_open_desc open;
    machsym_session_desc how;
    machsym_error err;
    memset(&open, 0, sizeof open);
    memset(&how, 0, sizeof how);
    open.path = "tests/fixtures/bin/demo.app.dSYM";
    CHECK(machsym_image_open(&open, &file.image, &err) == MACHSYM_OK);
    how.image = file.image;
    how.lines = MACHSYM_LINES_PEOPLE;
    CHECK(machsym_session_open(&how, &file.session, &err) == MACHSYM_OK);
    program = test_read("tests/stacks/x86_64.program");
    open.path = "tests/fixtures/bin/demo";
    CHECK(machsym_image_open(&open, &programs[0].image, &err) == MACHSYM_OK);
    open.path = "tests/stacks/x86_64.program";
    CHECK(machsym_image_open(&open, &programs[1].image, &err) == MACHSYM_OK);
    check_arguments();
    check_abi();
    check_walks();
    check_dump();
    check_choices();
    check_bound();
    check_silent();
    check_session_without_memory();
    for (size_t i = 0; i < INPUTS; i++)
        check_without_memory(inputs[i], i % 2 == 0 ? MACHSYM_REPORT_SAME
                                                   : MACHSYM_REPORT_SAME | MACHSYM_REPORT_FULL_PATHS);
    check_stacks_without_memory();
    free(program.ptr);
    machsym_image_close(programs[0].image);
    machsym_image_close(programs[1].image);
    machsym_session_close(file.session);
    machsym_image_close(file.image);
    return test_done();
}
