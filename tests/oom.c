/* Fails allocation number N, for every N that opening, a session and lookups need: an error or fewer
 * answers, never a crash, a leak, or a wrong answer; asked again with memory, or after a trim, the session
 * answers in full. Objects get memory one by one, so that each of them can fail. */
#include "counters.h"

#include "loaded.h"

#include "failer.h"
#include "make_cache.h"

#define LOAD_ADDR 0x200000000u /* of images in memory */

/* What a run saw: how many frames, and a sum over their contents. */
typedef struct answers {
    size_t count;
    uint64_t sum;
    bool lacked_memory;
} answers;

enum { ADDRESSES = 40, ROOM = 64 };

static uint64_t hash_text(uint64_t hash, machsym_str text)
{
    for (size_t i = 0; i < text.len; i++)
        hash = (hash ^ (uint8_t)text.ptr[i]) * 1099511628211u;
    return hash;
}

static uint64_t hash_frame(const machsym_frame *frame)
{
    uint64_t hash = 14695981039346656037u;
    hash = hash_text(hash, frame->linkage_name);
    hash = hash_text(hash, frame->name);
    hash = hash_text(hash, frame->file.name);
    return hash ^ frame->line ^ frame->function_start << 8 ^ (uint64_t)frame->name_source << 50;
}

/* Lookups one by one and at once, and all iterations, over addresses spread over the code. */
static answers use(machsym_session *session, const machsym_image *image)
{
    answers a = {0, 0, false};
    machsym_frame frames[ROOM];
    machsym_answer many[ADDRESSES];
    uint64_t addrs[ADDRESSES];
    machsym_cursor at = {0, 0};
    machsym_section code;
    machsym_function function;
    machsym_line line;
    machsym_symbol symbol;
    machsym_objc item;
    while (machsym_image_next_section(image, &at, &code) && !code.is_code) {
    }
    for (size_t i = 0; i < ADDRESSES; i++) {
        addrs[i] = code.addr + code.size * i / ADDRESSES;
        size_t count = machsym_session_frames_at_addr(session, addrs[i], frames, ROOM);
        bool lacked = machsym_session_lacked_memory(session);
        CHECK(count > 0 || !lacked);
        for (size_t j = 0; j < count && j < ROOM; j++) {
            a.sum += hash_frame(&frames[j]);
            CHECK(frames[j].lacks_memory == lacked);
        }
        a.count += count;
    }
    a.count += machsym_session_frames_at_addrs(session, addrs, ADDRESSES, many, frames, ROOM);
    memset(&at, 0, sizeof at);
    while (machsym_session_next_function(session, &at, &function))
        a.sum += hash_text(function.lo, function.name);
    memset(&at, 0, sizeof at);
    while (machsym_session_next_line(session, &at, &line))
        a.sum += hash_text(line.addr * 31 + line.line, line.file.name);
    memset(&at, 0, sizeof at);
    while (machsym_session_next_symbol(session, &at, &symbol))
        a.sum += hash_text(symbol.lo, symbol.name);
    memset(&at, 0, sizeof at);
    while (machsym_session_next_name(session, &at, &symbol))
        a.sum += hash_text(symbol.lo, symbol.name);
    memset(&at, 0, sizeof at);
    while (machsym_session_next_objc(session, &at, &item))
        a.sum += hash_text(hash_text(item.addr, item.class_name), item.selector);
    return a;
}

/* Whether a frame says no more than that memory ran out. */
static bool is_empty(const machsym_frame *frame)
{
    return frame->lacks_memory && frame->name_source == MACHSYM_SOURCE_NONE &&
           frame->line_source == MACHSYM_SOURCE_NONE;
}

/* What a session says of every address when it is asked again, one by one and at once. */
static answers ask_again(machsym_session *session, const machsym_image *image)
{
    answers a = {0, 0, false};
    machsym_frame frames[ADDRESSES * ROOM];
    machsym_answer many[ADDRESSES];
    uint64_t addrs[ADDRESSES];
    machsym_cursor at = {0, 0};
    machsym_section code;
    machsym_symbol symbol;
    machsym_function function;
    machsym_explanation why;
    while (machsym_image_next_section(image, &at, &code) && !code.is_code) {
    }
    for (size_t i = 0; i < ADDRESSES; i++) {
        addrs[i] = code.addr + code.size * i / ADDRESSES;
        size_t count = machsym_session_frames_at_addr(session, addrs[i], frames, ROOM);
        for (size_t j = 0; j < count && j < ROOM; j++)
            a.sum += is_empty(&frames[j]) ? 0 : hash_frame(&frames[j]);
        machsym_session_explain_addr(session, addrs[i], &why);
        a.sum += why.unit_offset + (why.has_symbol ? hash_text(why.symbol.lo, why.symbol.name) : 0);
    }
    a.count = machsym_session_frames_at_addrs(session, addrs, ADDRESSES, many, frames, ADDRESSES * ROOM);
    for (size_t i = 0; i < a.count && i < ADDRESSES * ROOM; i++)
        a.sum += is_empty(&frames[i]) ? 0 : hash_frame(&frames[i]);
    a.count = 0;
    memset(&at, 0, sizeof at);
    while (machsym_session_next_function(session, &at, &function))
        a.sum += hash_text(function.lo, function.name);
    memset(&at, 0, sizeof at);
    while (machsym_session_next_symbol(session, &at, &symbol))
        a.sum += hash_text(symbol.lo, symbol.name);
    return a;
}

static machsym_allocator allocator_of(failer *f)
{
    machsym_allocator allocator = {failing_alloc, failing_free, f};
    return allocator;
}

static machsym_lines policy = MACHSYM_LINES_ATOS;        /* that sessions are opened with */
static const char *const objects = "tests/fixtures/bin"; /* where those of debug maps are */

static const char *file_path; /* what is opened in place of bytes; NULL: bytes */
static const tiny *cache;     /* whose image is opened; NULL: none */
static uint32_t session_flags;
static uint64_t again; /* what ask_again said when memory had not run out; 0: not known yet */

/* Returns the result of opening; on success *got has the answers and f is told of the session too. */
static machsym_result run(const test_file *file, uint32_t flags, failer *f, answers *got, answers *after_trim)
{
    machsym_open_desc desc;
    machsym_session_desc how;
    machsym_image *image = NULL;
    machsym_session *session = NULL;
    machsym_error err;
    memset(&desc, 0, sizeof desc);
    memset(&how, 0, sizeof how);
    desc.path = file_path;
    desc.bytes.ptr = file_path == NULL ? file->ptr : NULL;
    desc.bytes.len = file->len;
    desc.flags = flags;
    desc.load_addr = LOAD_ADDR;
    desc.oso_dirs = &objects;
    desc.oso_dir_count = 1;
    desc.allocator = allocator_of(f);
    machsym_bytes parts[2];
    if (cache != NULL)
        tiny_describe(cache, &desc, parts);
    machsym_result result = machsym_image_open(&desc, &image, &err);
    CHECK(err.code == result && (image != NULL) == (result == MACHSYM_OK));
    if (result != MACHSYM_OK)
        return result;
    how.image = image;
    how.lines = policy;
    how.flags = session_flags;
    how.allocator = desc.allocator;
    result = machsym_session_open(&how, &session, &err);
    CHECK(err.code == result && (session != NULL) == (result == MACHSYM_OK));
    if (result == MACHSYM_OK) {
        *got = use(session, image);
        got->lacked_memory = machsym_session_lacked_memory(session);
        f->fail_at = 0;
        uint64_t sum = ask_again(session, image).sum;
        again = again == 0 ? sum : again;
        CHECK(sum == again); /* what was found without memory is not remembered */
        CHECK(machsym_session_lacked_memory(session) == got->lacked_memory);
        machsym_session_trim(session);
        CHECK(!machsym_session_lacked_memory(session));
        *after_trim = use(session, image);
    }
    machsym_session_close(session);
    machsym_image_close(image);
    return result;
}

/* Where a walk with every iterator stands. */
typedef struct walk {
    machsym_cursor at[6];
    uint64_t sum;
} walk;

/* One step of each of them. Returns how many had something. */
static size_t step(machsym_session *session, walk *w)
{
    machsym_function function;
    machsym_line line;
    machsym_symbol symbol;
    machsym_object object;
    machsym_objc item;
    size_t more = 0;
    if (machsym_session_next_function(session, &w->at[0], &function) && ++more)
        w->sum += hash_text(function.lo, function.name);
    if (machsym_session_next_line(session, &w->at[1], &line) && ++more)
        w->sum += hash_text(line.addr, line.file.name);
    if (machsym_session_next_symbol(session, &w->at[2], &symbol) && ++more)
        w->sum += hash_text(symbol.lo, symbol.name);
    if (machsym_session_next_name(session, &w->at[3], &symbol) && ++more)
        w->sum += hash_text(symbol.lo, symbol.name);
    if (machsym_session_next_object(session, &w->at[4], &object) && ++more)
        w->sum += hash_text(object.lo, object.path);
    if (machsym_session_next_objc(session, &w->at[5], &item) && ++more)
        w->sum += hash_text(item.addr, item.selector);
    return more;
}

/* A session that is trimmed after some steps of its iterators, and finds no memory when it goes on. */
static void check_steps(const machsym_image *image, size_t steps)
{
    test_begin();
    for (size_t n = 1, calls = 1; n <= calls; n++) {
        failer f = {0, 0, true, 0, 0};
        machsym_session_desc how;
        machsym_session *session = NULL;
        walk w;
        memset(&how, 0, sizeof how);
        memset(&w, 0, sizeof w);
        how.image = image;
        how.allocator = allocator_of(&f);
        CHECK_EQ(machsym_session_open(&how, &session, NULL), MACHSYM_OK);
        for (size_t i = 0; i < steps; i++)
            step(session, &w);
        machsym_session_trim(session);
        f.fail_at = f.calls + n;
        size_t before = f.calls;
        size_t left = 400;
        while (left > 0 && step(session, &w) != 0)
            left--;
        CHECK(f.calls < f.fail_at || machsym_session_lacked_memory(session));
        calls = f.calls - before;
        machsym_session_close(session);
        CHECK_EQ(f.out, 0);
    }
    test_end("iterators without memory after a trim");
}

/* Iterators whose cursor was never zeroed find something or nothing. */
static void check_cursors(const machsym_image *image)
{
    machsym_session *session = test_session(image, policy, 0);
    uint64_t state = 88172645463325252u;
    uint64_t sum = 0;
    for (unsigned i = 0; i < 2000; i++) {
        walk w;
        memset(&w, 0, sizeof w);
        for (unsigned j = 0; j < 12; j++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            uint64_t number = state >> (state & 1 ? 0 : 56) & (state & 2 ? UINT64_MAX : 63);
            *(j % 2 == 0 ? &w.at[j / 2].a : &w.at[j / 2].b) = number;
        }
        step(session, &w);
        step(session, &w);
        sum += w.sum;
    }
    CHECK(sum != 0);
    machsym_session_close(session);
}

static void check_iterators(const test_file *file, uint32_t flags)
{
    static const size_t steps[] = {1, 2, 3, 5, 9, 17, 40};
    machsym_open_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.bytes.ptr = file->ptr;
    desc.bytes.len = file->len;
    desc.flags = flags;
    desc.load_addr = LOAD_ADDR;
    desc.oso_dirs = &objects;
    desc.oso_dir_count = 1;
    machsym_bytes parts[2];
    if (cache != NULL)
        tiny_describe(cache, &desc, parts);
    machsym_image *image = test_open_desc(&desc);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        check_steps(image, steps[i]);
    check_cursors(image);
    machsym_image_close(image);
}

static void check_bytes(const test_file *file, uint32_t flags)
{
    answers want = {0, 0, false};
    answers got = {0, 0, false};
    answers after = {0, 0, false};
    failer f = {0, 0, false, 0, 0};
    again = 0;
    test_begin();
    CHECK_EQ(run(file, flags, &f, &want, &after), MACHSYM_OK);
    test_end("with all memory");
    CHECK(!want.lacked_memory);
    CHECK(want.count > 0 && after.count == want.count && after.sum == want.sum);
    size_t calls = f.calls;
    size_t failed_opens = 0;
    size_t fewer = 0;
    test_begin();
    for (size_t n = 1; n <= calls; n++) {
        for (unsigned kind = 0; kind < 2; kind++) {
            failer g = {0, 0, false, 0, 0};
            g.fail_at = n;
            g.for_good = kind == 1;
            machsym_result result = run(file, flags, &g, &got, &after);
            CHECK(result == MACHSYM_OK || result == MACHSYM_ERR_MEMORY);
            CHECK_EQ(g.out, 0);
            CHECK_EQ(g.bytes_out, 0);
            failed_opens += result == MACHSYM_ERR_MEMORY;
            if (result != MACHSYM_OK)
                continue;
            CHECK(got.count <= want.count);
            bool same = got.count == want.count && got.sum == want.sum;
            CHECK(same || got.lacked_memory); /* what is missing is admitted */
            fewer += !same;
            CHECK(after.count == want.count && after.sum == want.sum);
        }
    }
    test_end("every allocation failed once");
    check_iterators(file, flags);
    CHECK(failed_opens >= 4);               /* the image and the session, at least */
    CHECK(fewer > 0 || session_flags != 0); /* what an index needs is there, or the session is not opened */
}

static void check_file(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "tests/fixtures/bin/%s", name);
    test_file file = test_read(path);
    for (session_flags = 0; session_flags <= MACHSYM_SESSION_INDEX; session_flags += MACHSYM_SESSION_INDEX)
        check_bytes(&file, 0);
    session_flags = 0;
    free(file.ptr);
}

/* The same of a file that is copied into memory, or of a folder with one. */
static void check_path(const char *path, const char *name)
{
    test_file file = test_read(name);
    file_path = path;
    check_bytes(&file, MACHSYM_OPEN_COPY);
    file_path = NULL;
    free(file.ptr);
}

/* The same of an image as it lies in memory. */
static void check_loaded(const char *name)
{
    char path[256];
    loaded l;
    snprintf(path, sizeof path, "tests/fixtures/bin/%s", name);
    machsym_image *image = test_open(path);
    CHECK(image != NULL && loaded_make(&l, image, LOAD_ADDR));
    test_file memory = {l.v, l.len};
    check_bytes(&memory, MACHSYM_OPEN_LOADED);
    free(l.v);
    machsym_image_close(image);
}

/* The same of an image in a shared cache of three files. */
static void check_cache(void)
{
    tiny t = {.slide = 5, .is_split = true};
    tiny_make(&t);
    test_file file = {t.main.v, t.main.len};
    cache = &t;
    check_bytes(&file, 0);
    cache = NULL;
    tiny_free(&t);
}

int main(void)
{
    check_file("inline-arm64-d4-14.dwarf");
    check_file("inline-x86_64-d5-O0-22.dwarf");
    check_file("cross-x86_64-d4-14.dwarf");
    check_file("hand-units.dwarf");
    check_file("hand-lines.dwarf");
    check_file("symbols-x86_64");
    check_file("inline-arm64_32-d4-22.dwarf");
    check_file("zoo-arm64-chained-relative-strip");
    check_file("zoo-arm64-opcodes-strip");
    check_file("zoo-i386-old.o");
    check_file("blocks-arm64-d4-22-strip");
    check_file("stubs-arm64-small-strip");
    check_file("frames-x86_64-strip");
    check_file("exports-x86_64-trie.dylib");
    check_file("map-x86_64-d5-O0/program");
    check_file("map-arm64-d4-O0/program");
    check_path("tests/fixtures/bin/demo.app.dSYM",
               "tests/fixtures/bin/demo.app.dSYM/Contents/Resources/DWARF/demo");
    check_path("tests/fixtures/bin/inline-arm64-d4-14.dwarf", "tests/fixtures/bin/inline-arm64-d4-14.dwarf");
    check_loaded("zoo-x86_64-opcodes-strip");
    check_loaded("exports-x86_64-opcodes-strip-x.dylib");
    check_loaded("frames-x86_64-strip");
    check_cache();
    policy = MACHSYM_LINES_PEOPLE; /* which looks for lines near by, and keeps what it found */
    check_file("hand-near.dwarf");
    check_file("inline-arm64-d4-14.dwarf");
    return test_done();
}
