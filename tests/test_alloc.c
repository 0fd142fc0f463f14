/* Warm lookups allocate nothing: over all addresses of a program whose units were seen once, also in other
 * policies. All memory comes from the descriptor's allocator, that for files and paths too. */
#include "counters.h"

#include "test.h"

#include <unistd.h>

/* Counts the calls of an allocator. */
typedef struct counter {
    size_t calls;
    size_t out;
} counter;

static void *counted_alloc(void *user, size_t size)
{
    counter *c = (counter *)user;
    void *memory = malloc(size);
    c->calls++;
    c->out += memory != NULL;
    return memory;
}

static void counted_free(void *user, void *ptr, size_t size)
{
    counter *c = (counter *)user;
    (void)size;
    c->out--;
    free(ptr);
}

/* Asks every address of every function, every step bytes, from first on. Returns how many frames there
 * were. */
static size_t ask_all(machsym_session *session, const machsym_image *image, uint64_t first, uint64_t step)
{
    machsym_cursor at = {0, 0};
    machsym_section section;
    machsym_frame frames[64];
    size_t found = 0;
    while (machsym_image_next_section(image, &at, &section)) {
        for (uint64_t i = first; section.is_code && i < section.size; i += step)
            found += machsym_session_frames_at_addr(session, section.addr + i, frames, 64);
    }
    return found;
}

static void check_file(const char *name, machsym_lines lines)
{
    char path[256];
    counter image_counter = {0, 0};
    counter session_counter = {0, 0};
    machsym_open_desc desc;
    machsym_session_desc how;
    machsym_image *image = NULL;
    machsym_session *session = NULL;
    snprintf(path, sizeof path, "tests/fixtures/bin/%s", name);
    memset(&desc, 0, sizeof desc);
    memset(&how, 0, sizeof how);
    desc.path = path;
    desc.allocator.alloc = counted_alloc;
    desc.allocator.free = counted_free;
    desc.allocator.user = &image_counter;
    CHECK_EQ(machsym_image_open(&desc, &image, NULL), MACHSYM_OK);
    how.image = image;
    how.lines = lines;
    how.allocator = desc.allocator;
    how.allocator.user = &session_counter;
    CHECK_EQ(machsym_session_open(&how, &session, NULL), MACHSYM_OK);
    CHECK_EQ(session_counter.calls, 1); /* a session costs nothing before it is asked */
    /* warms every unit, and the tables that several lookups are worth */
    CHECK(ask_all(session, image, 0, 2) > 0);
    CHECK(ask_all(session, image, 0, 2) > 0); /* the first functions were read alone: now with their units */
    size_t shared = image_counter.calls;      /* with what the first session made for all */
    size_t warm = session_counter.calls;
    CHECK(warm > 1);
    CHECK(ask_all(session, image, 1, 3) > 10); /* other addresses */
    CHECK(ask_all(session, image, 0, 1) > 30);
    if (session_counter.calls != warm)
        printf("%s\n", path);
    CHECK_EQ(session_counter.calls, warm);
    machsym_session_trim(session);
    CHECK_EQ(session_counter.out, 1);
    CHECK(ask_all(session, image, 0, 2) > 0);
    CHECK_EQ(image_counter.calls, shared);
    machsym_session_close(session);
    machsym_image_close(image);
    CHECK_EQ(session_counter.out, 0);
    CHECK_EQ(image_counter.out, 0);
}

static machsym_allocator allocator_of(counter *c)
{
    machsym_allocator allocator = {counted_alloc, counted_free, c};
    return allocator;
}

/* A map from an image, written and read again. */
static void check_map(const machsym_image *image, counter *c)
{
    const char *path = "/tmp/machsym-test-alloc.symmap";
    machsym_plan_desc plan;
    machsym_map_desc desc;
    machsym_map *map = NULL;
    memset(&plan, 0, sizeof plan);
    memset(&desc, 0, sizeof desc);
    plan.image = image;
    plan.allocator = desc.allocator = allocator_of(c);
    desc.path = path;
    desc.flags = MACHSYM_MAP_COPY;
    CHECK_EQ(machsym_map_build(&plan, &map, NULL), MACHSYM_OK);
    CHECK_EQ(machsym_map_save(map, path, NULL), MACHSYM_OK);
    machsym_map_close(map);
    CHECK_EQ(machsym_map_open(&desc, &map, NULL), MACHSYM_OK);
    machsym_map_close(map);
    unlink(path);
}

/* Everything from a path on. */
static void check_path(const char *path, uint32_t flags)
{
    const char *objects = "tests/fixtures/bin";
    counter c = {0, 0};
    machsym_open_desc desc;
    machsym_session_desc how;
    machsym_image *image = NULL;
    machsym_session *session = NULL;
    machsym_slice slices[4];
    memset(&desc, 0, sizeof desc);
    memset(&how, 0, sizeof how);
    desc.path = path;
    desc.flags = flags;
    desc.oso_dirs = &objects;
    desc.oso_dir_count = 1;
    desc.allocator = allocator_of(&c);
    mallocs = 0;
    CHECK(machsym_list_slices(&desc, slices, 4, NULL) > 0);
    CHECK(c.calls > 0 && c.out == 0);
    CHECK_EQ(machsym_image_open(&desc, &image, NULL), MACHSYM_OK);
    how.image = image;
    how.allocator = desc.allocator;
    CHECK_EQ(machsym_session_open(&how, &session, NULL), MACHSYM_OK);
    CHECK(ask_all(session, image, 0, 16) > 0);
    machsym_session_close(session);
    check_map(image, &c);
    machsym_image_close(image);
    CHECK_EQ(c.out, 0);
    CHECK_EQ(mallocs, 0);
}

int main(void)
{
    static const char *const files[] = {"inline-arm64-d4-14.dwarf",    "inline-x86_64-d5-O0-22.dwarf",
                                        "cross-x86_64-d4-14.dwarf",    "hand-units.dwarf",
                                        "hand-split5.dwarf",           "inline-x86_64-d4-noaranges.dwarf",
                                        "inline-arm64-d5-22",          "symbols-x86_64",
                                        "exports-arm64-chained.dylib", "zoo-x86_64-d5-22.dwarf"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        for (unsigned lines = 0; lines < MACHSYM_LINES_COUNT; lines++)
            check_file(files[i], (machsym_lines)lines);
    }
    for (uint32_t copy = 0; copy < 2; copy++) {
        uint32_t flags = copy != 0 ? MACHSYM_OPEN_COPY : 0;
        check_path("tests/fixtures/bin/demo", flags); /* with the dSYM beside it */
        check_path("tests/fixtures/bin/demo.app.dSYM", flags);
        check_path("tests/fixtures/bin/map-x86_64-d5-O0/program", flags);
    }
    return test_done();
}
