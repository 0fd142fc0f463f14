/* Work on maps is bounded by their size: for each trap that a hostile map or table may set, such a file at
 * one size and at four times that size goes through a command of machsym map. The larger one may take 4.4
 * times the work (bytes and records visited), and twice the text that machsym.1 states at most; what is
 * written is at most that text. tests/test_bounds.c does the same for files. */
#include "counters.h"

#include "test.h"

#include "../report/base/text.h"
#include "../tool/base/options.h"
#include "../tool/base/out.h"
#include "../tool/base/posix.h"
#include "../tool/cmd/map/map.h"
#include "../tool/symbols/map_budget.h"
#include "../tool/symbols/pieces.h"

#include <fcntl.h>
#include <sys/stat.h>

#define BASE 0x100000000u

static char in_path[] = "/tmp/map_bounds.XXXXXX";
static char out_path[sizeof in_path + 4];
static size_t refused; /* ranges that the writer did not take */
static int null_fd;

static uint64_t size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static void save(const void *ptr, size_t len)
{
    FILE *file = fopen(in_path, "wb");
    CHECK(file != NULL && fwrite(ptr, 1, len, file) == len && fclose(file) == 0);
}

/* ---- Maps ---- */

static machsym_writer *begin_map(void)
{
    machsym_writer *writer = NULL;
    machsym_map_info info;
    machsym_writer_desc desc;
    memset(&info, 0, sizeof info);
    memset(&desc, 0, sizeof desc);
    info.name = test_str("x");
    info.uuid.v[0] = 1;
    info.cputype = 0x0100000c;
    info.text_addr = BASE;
    desc.info = &info;
    CHECK_EQ(machsym_writer_open(&desc, &writer, NULL), MACHSYM_OK);
    return writer;
}

static void add_range(machsym_writer *writer, uint64_t lo, uint64_t hi, machsym_frame *frames, size_t count)
{
    machsym_map_range range = {BASE + lo, BASE + hi, false};
    for (size_t i = 0; i < count; i++) {
        frames[i].function_start = BASE;
        frames[i].function_size = hi;
        frames[i].is_inline = i + 1 < count;
        frames[i].name_source = frames[i].line_source = MACHSYM_SOURCE_DWARF;
    }
    refused += machsym_writer_add(writer, &range, frames, count, NULL) != MACHSYM_OK;
}

static void end_map(machsym_writer *writer)
{
    machsym_map *map = NULL;
    CHECK_EQ(machsym_writer_finish(writer, &map, NULL), MACHSYM_OK);
    if (map != NULL)
        save(machsym_map_bytes(map).ptr, machsym_map_bytes(map).len);
    machsym_map_close(map);
}

/* Every range has one long name. */
static void long_name(size_t n)
{
    machsym_writer *writer = begin_map();
    machsym_frame frame;
    char *name = (char *)malloc(n);
    memset(name, 'a', n);
    memset(&frame, 0, sizeof frame);
    frame.name.ptr = name;
    frame.name.len = n;
    frame.file.name = test_str("f.c");
    for (size_t i = 0; i < n; i++) {
        frame.line = (uint32_t)i + 1;
        add_range(writer, 4 * i, 4 * i + 4, &frame, 1);
    }
    end_map(writer);
    free(name);
}

/* Every range lies in the same inlined calls. */
static void deep_chain(size_t n)
{
    enum { DEPTH = MACHSYM_MAX_INLINE_DEPTH };
    static machsym_frame frames[DEPTH];
    machsym_writer *writer = begin_map();
    memset(frames, 0, sizeof frames);
    for (size_t i = 0; i < DEPTH; i++) {
        frames[i].name = test_str("some_function");
        frames[i].file.name = test_str("some_file.c");
        frames[i].line = (uint32_t)i + 1;
    }
    for (size_t i = 0; i < n; i++) {
        frames[0].line = (uint32_t)i + 1;
        add_range(writer, 4 * i, 4 * i + 4, frames, DEPTH);
    }
    end_map(writer);
}

/* Writes the next name whose place in the table of names is the first one. */
static void next_colliding(unsigned long *number, char name[9])
{
    uint64_t hash;
    do {
        unsigned long rest = ++*number;
        for (size_t i = 0; i < 8; i++, rest >>= 4)
            name[i] = (char)('a' + (rest & 15));
        hash = str_hash(str_make(name, 8));
    } while (((hash ^ hash >> 32) & 0x3fff) != 0);
}

/* Another call in every range, and all names of one place in the table of names. */
static void colliding_names(size_t n)
{
    machsym_writer *writer = begin_map();
    machsym_frame frames[2];
    char name[9] = "";
    unsigned long number = 0;
    memset(frames, 0, sizeof frames);
    frames[1].name = test_str("f");
    for (size_t i = 0; i < n; i++) {
        next_colliding(&number, name);
        frames[0].name = test_str(name);
        add_range(writer, 4 * i, 4 * i + 4, frames, 2);
    }
    end_map(writer);
}

/* One range over all chunks there can be. */
static void wide_range(size_t n)
{
    machsym_writer *writer = begin_map();
    machsym_frame frame;
    memset(&frame, 0, sizeof frame);
    frame.name = test_str("f");
    frame.file.name = test_str("f.c");
    for (size_t i = 0; i + 1 < n; i++) {
        frame.line = (uint32_t)i + 1;
        add_range(writer, 4 * i, 4 * i + 4, &frame, 1);
    }
    add_range(writer, 4 * n, UINT32_MAX, &frame, 1);
    end_map(writer);
}

/* ---- Tables and link maps ---- */

static void put_row(text *t, uint64_t lo, uint64_t hi, const char *name, size_t name_len)
{
    char line[64];
    snprintf(line, sizeof line, "%llx\t%llx\t", (unsigned long long)lo, (unsigned long long)hi);
    text_c(t, line);
    text_add(t, name, name_len);
    text_c(t, "\tf.c:1\n");
}

static void rows_at_one_address(size_t n)
{
    text t = {0};
    for (size_t i = 0; i < n; i++)
        put_row(&t, 0x1000, 0x1000 + i, "f", 1);
    save(t.v, t.len);
    text_free(&t);
}

static void rows_of_many_names(size_t n)
{
    text t = {0};
    char name[32];
    for (size_t i = 0; i < n; i++) {
        int len = snprintf(name, sizeof name, "name%zu", i);
        put_row(&t, 0x1000 + 4 * i, 0x1003 + 4 * i, name, (size_t)len);
    }
    save(t.v, t.len);
    text_free(&t);
}

/* Up to the longest name that a map holds. */
static void one_long_row(size_t n)
{
    text t = {0};
    char *name = (char *)malloc(n);
    memset(name, ':', n);
    put_row(&t, 0x1000, 0x1003, name, n);
    for (size_t i = 0; i < n; i++)
        text_c(&t, "\t\t\n");
    save(t.v, t.len);
    free(name);
    text_free(&t);
}

static void far_numbers(size_t n)
{
    text t = {0};
    char line[64];
    text_c(&t, "# Object files:\n");
    for (size_t i = 1; i <= n; i++) {
        snprintf(line, sizeof line, "[%zu] a.o\n[%zu] a.o\n", i, i * 999999);
        text_c(&t, line);
    }
    save(t.v, t.len);
    text_free(&t);
}

/* ---- What is measured ---- */

typedef enum way { DUMP = 0, BREAKPAD, BUGLY, CHUNKS, IMPORT, LINKMAP, WAYS } way;

static int run_words(const command *c, char **words)
{
    int count = 0;
    while (words[count] != NULL)
        count++;
    return c->run(count, words);
}

/* Runs a command on the file, with standard output and messages dropped. Returns its status. */
static int run_way(way how)
{
    static char dump[] = "dump", name[] = "x", o[] = "-o", breakpad[] = "--format=breakpad",
                named[] = "--name", bugly[] = "--format=bugly", chunks[] = "--chunks=100",
                resp[] = "--format=resp";
    char *const words[][7] = {{dump, in_path},
                              {name, breakpad, o, out_path, in_path},
                              {name, bugly, o, out_path, in_path},
                              {name, chunks, resp, o, out_path, in_path},
                              {name, named, name, o, out_path, in_path}};
    const command *commands[] = {&map_dump_command, &map_export_command, &map_export_command,
                                 &map_export_command, &map_import_command};
    char *given[7];
    pieces all;
    if (how == LINKMAP) {
        memset(&all, 0, sizeof all);
        bool ok = pieces_read_linkmap(&all, in_path);
        pieces_free(&all);
        return !ok;
    }
    memcpy(given, words[how], sizeof given);
    return run_words(commands[how], given);
}

static int use(way how, unsigned long long *cost)
{
    unlink(out_path);
    fflush(stdout);
    fflush(stderr);
    int keep[2] = {dup(1), dup(2)};
    dup2(null_fd, 1);
    dup2(null_fd, 2);
    work = 0;
    int status = run_way(how);
    out_flush();
    *cost = work;
    for (int i = 0; i < 2; i++) {
        dup2(keep[i], i + 1);
        close(keep[i]);
    }
    return status;
}

/* What costs the same at any size is no part of what grows. */
static void check_growth(const char *name, way how, const unsigned long long *cost, bool fits)
{
    static const char *const names[] = {"dump", "breakpad", "bugly", "chunks", "import", "link map"};
    unsigned long long one = cost[1] - cost[0];
    unsigned long long four = cost[2] - cost[0];
    bool linear = cost[1] > cost[0] && four * 10 <= one * 44;
    test_count(linear);
    test_count(fits);
    if (!linear || !fits || getenv("VERBOSE") != NULL)
        printf("%s, %s: work %llu, at four times the size %llu: %.2f times; the budget %s\n", name,
               names[how], one, four, (double)four / (double)one, fits ? "holds" : "does not hold");
    fflush(stdout);
}

/* Sets a trap for some of the ways. Those of a bit in fails are to refuse it. */
static void check_trap(const char *name, void (*set)(size_t n), size_t n, unsigned ways, unsigned fails)
{
    unsigned long long cost[WAYS][3];
    bool fits[WAYS];
    memset(fits, 1, sizeof fits);
    bool grows = test_measures_growth();
    for (int i = 0; i < (grows ? 3 : 2); i++) {
        refused = 0;
        set(i == 0 ? 1 : i == 1 ? n : 4 * n);
        CHECK_EQ(refused, 0);
        for (unsigned how = 0; how < WAYS; how++) {
            if ((ways >> how & 1) == 0)
                continue;
            int status = use((way)how, &cost[how][i]);
            if (i > 0)
                CHECK_EQ(status, (int)(fails >> how & 1));
            uint64_t most = (uint64_t)MAP_TEXT + MAP_TEXT_PER_BYTE * size_of(in_path);
            fits[how] &= size_of(out_path) <= most && cost[how][i] <= 2 * most;
        }
    }
    for (unsigned how = 0; how < WAYS; how++) {
        if ((ways >> how & 1) != 0 && !grows)
            CHECK(fits[how]);
        else if ((ways >> how & 1) != 0)
            check_growth(name, (way)how, cost[how], fits[how]);
    }
}

/* A name on the command line runs that trap alone. */
#define TRAP(set, n, ways, fails)                                                                            \
    if (argc < 2 || strcmp(argv[1], #set) == 0)                                                              \
    check_trap(#set, set, n, ways, fails)

int main(int argc, char **argv)
{
    int fd = mkstemp(in_path);
    null_fd = open("/dev/null", O_WRONLY);
    if (fd < 0 || null_fd < 0)
        return 1;
    close(fd);
    snprintf(out_path, sizeof out_path, "%s.out", in_path);
    const unsigned exports = 1u << DUMP | 1u << BREAKPAD | 1u << BUGLY | 1u << CHUNKS;
    TRAP(long_name, 8000, exports, exports);
    TRAP(deep_chain, 3000, exports, exports);
    TRAP(colliding_names, 1500, 1u << BREAKPAD, 0);
    TRAP(wide_range, 2000, exports, 1u << CHUNKS);
    TRAP(rows_at_one_address, 2000, 1u << IMPORT, 0);
    TRAP(rows_of_many_names, 3000, 1u << IMPORT, 0);
    TRAP(one_long_row, MACHSYM_MAX_TEXT / 4, 1u << IMPORT, 0);
    TRAP(far_numbers, 5000, 1u << LINKMAP, 1u << LINKMAP);
    unlink(in_path);
    unlink(out_path);
    return test_done();
}
