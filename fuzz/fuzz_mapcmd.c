/* Fuzzes the commands of machsym map: the input is a map, whose size and checksum are made right first, so
 * that the damage gets as far as rows, exports and chunks; or a table of text, or the value of a chunk.
 * What is written has no control character but tabs and line ends, and is no more than MAP_TEXT allows.
 * Run: build/fuzz/mapcmd -dict=fuzz/map.dict fuzz/corpus/mapcmd */
#include "mutate.h"

#include "../tool/base/options.h"
#include "../tool/base/out.h"
#include "../tool/base/posix.h"
#include "../tool/base/say.h"
#include "../tool/cmd/map/map.h"
#include "../tool/symbols/map_budget.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD = 96, ROW = 32, KINDS = 8, LEAST = HEAD + KINDS * ROW, PAGE = 16384, WORDS = 12 };

/* ---- A map that opens ---- */

static uint64_t load(const uint8_t *p)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < 8; i++)
        number |= (uint64_t)p[i] << 8 * i;
    return number;
}

static void store(uint8_t *p, uint64_t number)
{
    for (unsigned i = 0; i < 8; i++)
        p[i] = (uint8_t)(number >> 8 * i);
}

/* The checksum of docs/symmap.md over n bytes. */
static uint64_t sum_of(const uint8_t *p, size_t n)
{
    const uint64_t k = 0x9e3779b97f4a7c15u;
    uint64_t lanes[4] = {1, 2, 3, n};
    uint64_t sum = 0;
    uint8_t tail[32] = {0};
    size_t at = 0;
    for (; at + 32 <= n; at += 32) {
        for (unsigned i = 0; i < 4; i++) {
            lanes[i] = (lanes[i] ^ load(p + at + 8 * i)) * k;
            lanes[i] ^= lanes[i] >> 29;
        }
    }
    if (at < n)
        memcpy(tail, p + at, n - at);
    for (unsigned i = 0; i < 4; i++) {
        lanes[i] = (lanes[i] ^ load(tail + 8 * i)) * k;
        sum = (sum ^ lanes[i] ^ lanes[i] >> 32) * k;
    }
    return sum ^ sum >> 29;
}

/* Makes right what the commands refuse a map for: they would not look at the rest. The directory has a row for
 * each kind, the checksums as many as the file needs. */
static void repair(uint8_t *v, size_t len)
{
    size_t begin = LEAST;
    size_t count = (len - begin + PAGE - 1) / PAGE;
    memcpy(v, "MACHSYM\n\3\0\0\0", 12);
    v[56] %= 3;
    memset(v + 57, 0, 3);
    memcpy(v + 60, "\10\0\0\0", 4);
    v[47] = 0; /* the text base leaves room for 4 GB */
    store(v + 64, len);
    while (count > 0 && (len - begin < 8 * count || (len - begin - 8 * count + PAGE - 1) / PAGE < count))
        count--;
    for (unsigned i = 0; i < KINDS; i++) {
        uint8_t *row = v + HEAD + ROW * i;
        store(row, i + 1);
        store(row + 8, load(row + 8) % (len + 1));
        store(row + 16, load(row + 16) % (len + 1 - load(row + 8)));
        if (i == 2 || i == 4) {
            row[24] &= 31;
            memset(row + 25, 0, 3);
            store(row + 24, (load(row + 24) & 31) | (load(row + 24) >> 32) % (load(row + 16) / 4 + 1) << 32);
        }
    }
    uint8_t *pages = v + HEAD + ROW;
    store(pages + 8, begin);
    store(pages + 16, 8 * count);
    for (size_t i = 0; i < count; i++) {
        size_t at = begin + 8 * count + i * PAGE;
        store(v + begin + 8 * i, sum_of(v + at, len - at < PAGE ? len - at : PAGE));
    }
    store(pages + 24, sum_of(v + begin, 8 * count));
    store(v + 72, 0);
    store(v + 72, sum_of(v, HEAD) ^ sum_of(v + HEAD, KINDS * ROW));
}

static bool is_map(const uint8_t *data, size_t size)
{
    return size >= LEAST && memcmp(data, "MACHSYM\n", 8) == 0;
}

/* Changes one table in the way of its kind, or anything. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    static const uint8_t likely[] = {2, 3, 3, 3, 3, 4, 5, 5, 6, 7, 7, 0}; /* most of a map is runs */
    mutation m = mutate_begin(data, size, max, seed);
    bool in_table = is_map(data, size) && mutate_random(&m, 8) != 0;
    uint8_t *row = data + HEAD + ROW * likely[mutate_random(&m, sizeof likely)];
    uint64_t lo = in_table ? load(row + 8) : size;
    uint64_t len = in_table && lo < size ? load(row + 16) : 0;
    if (len == 0 || len > size - lo) {
        mutate_plain(&m, 0, size, true);
    } else if ((load(row) & 0xff) == 3 || (load(row) & 0xff) == 5) {
        uint8_t *v = m.v + lo + mutate_random(&m, (size_t)(len / 4 + 1)) * 4;
        m.lo = (size_t)lo;
        m.hi = (size_t)(lo + len - len % 4);
        uint64_t number = mutate_number(&m, v < m.v + m.hi ? v[0] : 0);
        for (unsigned i = 0; i < 4 && v + i < m.v + m.hi; i++)
            v[i] = (uint8_t)(number >> 8 * i);
    } else {
        mutate_plain(&m, (size_t)lo, (size_t)len, false);
    }
    if (is_map(m.v, m.len))
        repair(m.v, m.len);
    return m.len;
}

/* ---- Commands ---- */

static char folder[32];
static char in_path[sizeof folder + 8];
static char out_path[sizeof folder + 8];

static void remove_files(void)
{
    unlink(in_path);
    unlink(out_path);
    rmdir(folder);
}

static void make_files(void)
{
    if (in_path[0] != 0)
        return;
    /* in memory where that can be: tens of files are written for every input */
    snprintf(folder, sizeof folder, "%s/mapcmd.XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (mkdtemp(folder) == NULL)
        abort();
    snprintf(in_path, sizeof in_path, "%s/in", folder);
    snprintf(out_path, sizeof out_path, "%s/out", folder);
    atexit(remove_files);
}

static void save(const uint8_t *ptr, size_t len)
{
    FILE *file = fopen(in_path, "wb");
    if (file == NULL || fwrite(ptr, 1, len, file) != len || fclose(file) != 0)
        abort();
}

/* Puts a file in the place of a descriptor. Returns a copy of what was there. */
static int redirect(int fd, const char *path, int flags)
{
    int keep = dup(fd);
    int file = open(path, flags, 0600);
    if (file < 0 || dup2(file, fd) < 0)
        abort();
    close(file);
    return keep;
}

static void put_back(int fd, int keep)
{
    if (keep >= 0)
        dup2(keep, fd);
    else
        close(fd);
    close(keep);
}

void __sanitizer_set_report_fd(void *fd) __attribute__((weak));

/* Runs a command: {} is the input, OUT the output, which standard output is too unless the command names
 * it. Standard input is the input. */
static int run(const command *c, const char *line)
{
    char words[WORDS][64];
    char *argv[WORDS + 1];
    int argc = 0;
    for (const char *at = line; *at != 0 && argc < WORDS; argc++) {
        size_t len = strcspn(at, " ");
        snprintf(words[argc], sizeof words[argc], "%.*s", (int)len, at);
        argv[argc] = words[argc];
        if (strcmp(words[argc], "{}") == 0)
            argv[argc] = in_path;
        if (strcmp(words[argc], "OUT") == 0)
            argv[argc] = out_path;
        at += len + (at[len] == ' ');
    }
    argv[argc] = NULL;
    fflush(stdout);
    fflush(stderr);
    int keep[3] = {redirect(0, in_path, O_RDONLY), redirect(1, out_path, O_WRONLY | O_CREAT | O_TRUNC),
                   redirect(2, "/dev/null", O_WRONLY)};
    if (__sanitizer_set_report_fd != NULL)
        __sanitizer_set_report_fd((void *)(intptr_t)keep[2]);
    int status = c->run(argc, argv);
    out_flush();
    fflush(stderr);
    if (__sanitizer_set_report_fd != NULL)
        __sanitizer_set_report_fd((void *)(intptr_t)2);
    for (int i = 0; i < 3; i++)
        put_back(i, keep[i]);
    if (status != TOOL_OK && status != TOOL_ERROR)
        abort();
    return status;
}

/* What was written is text, a line a row, and no more than is allowed of a map of that size. */
static void check_output(size_t size, bool is_text)
{
    struct stat st;
    if (stat(out_path, &st) != 0)
        return;
    if ((uint64_t)st.st_size > (uint64_t)MAP_TEXT + (uint64_t)MAP_TEXT_PER_BYTE * size)
        abort();
    FILE *file = fopen(out_path, "rb");
    for (int c; is_text && file != NULL && (c = getc(file)) != EOF;) {
        if ((c < ' ' && c != '\t' && c != '\n') || c == 0x7f)
            abort();
    }
    if (file != NULL)
        fclose(file);
}

static void drive_map(size_t size, const char *text_addr)
{
    char lookup[128];
    run(&map_info_command, "info {}");
    run(&map_dump_command, "dump {}");
    check_output(size, true);
    run(&map_export_command, "export --format=breakpad {}");
    check_output(size, true);
    run(&map_export_command, "export --chunks=500 --format=resp {}");
    check_output(size, false);
    run(&map_export_command, "export --chunks=70000 --format=jsonl {}");
    check_output(2 * size + HEAD, true); /* base64 */
    bool ok = run(&map_export_command, "export --format=bugly {}") == TOOL_OK;
    check_output(size, true);
    if (ok && rename(out_path, in_path) == 0)
        run(&map_import_command, "import --name x -o OUT {}");
    snprintf(lookup, sizeof lookup, "chunk -i --json %s 0x100000aec 0x0", text_addr);
    run(&map_chunk_command, lookup);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    make_files();
    uint8_t *copy = (uint8_t *)malloc(size + 1);
    if (copy == NULL)
        return 0;
    memcpy(copy, data, size);
    if (is_map(data, size)) {
        char text_addr[32];
        repair(copy, size);
        save(copy, size);
        snprintf(text_addr, sizeof text_addr, "0x%llx", (unsigned long long)load(copy + 40));
        run(&map_lookup_command, "lookup {} -i --explain 0x100000aec 0x100000940 0x0");
        run(&map_verify_command, "verify -j 1 {} tests/fixtures/bin/demo.app.dSYM");
        check_output(10 * size, true);
        drive_map(size, text_addr);
    } else {
        save(copy, size);
        run(&map_import_command, "import --format=bugly --name x -o OUT {}");
        run(&map_chunk_command, "chunk --base64 -i 0x100000aec 0x0");
        run(&map_chunk_command, "chunk 0x1000");
    }
    free(copy);
    return 0;
}
