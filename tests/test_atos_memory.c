/* The memory of the tool that looks up 100,000 addresses in a dSYM of 2,000 units with long names: at most 48 MB,
 * 200 bytes a unit, and the file, which is mapped. In its map the same takes at most MAP_KB and the file. Of a
 * kernel collection whose images share tables, all together take no more than a file of its size may. */
#include "dwarf.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    UNITS = 2000,
    FUNCTIONS = 10, /* of a unit */
    ROWS = 16,      /* of a function; the calls in its second half are inlined */
    STEP = 4,       /* bytes from row to row */
    SIZE = ROWS * STEP,
    NAME = 700, /* bytes of a name */
    LINE_BASE = -5,
    LINE_RANGE = 14,
    OPCODE_BASE = 13,
    ADDRESSES = 100000,
    SYMBOLS = UNITS * FUNCTIONS * ROWS,
    MOST_KB = 48 << 10,
    MAP_KB = 32 << 10,
    UNIT_BYTES = 200,
    COLLECTION_KB = 60 << 10 /* a sixth of what a file of its 536 KB may take */
};

#define START ((uint64_t)MAKE_TEXT)

static char folder[] = "/tmp/machsym-memory-XXXXXX";

static void path_in_folder(char path[64], const char *name)
{
    snprintf(path, 64, "%s/%s", folder, name);
}

/* ---- The dSYM ---- */

static size_t add_name(program *p, char kind, unsigned number)
{
    char name[NAME + 1];
    memset(name, 'n', NAME);
    name[NAME] = 0;
    name[snprintf(name, NAME, "%c%u", kind, number)] = '_';
    return add_text(&p->str, name);
}

static void add_line_program(program *p, uint64_t lo)
{
    static const uint8_t lengths[12] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
    size_t length_at = begin_length(p, &p->line);
    put16(&p->line, 4);
    size_t header_at = p->line.len;
    put32(&p->line, 0);
    put8(&p->line, 1); /* byte at least in an instruction */
    put8(&p->line, 1); /* operation in it */
    put8(&p->line, 1); /* rows are statements */
    put8(&p->line, (uint8_t)LINE_BASE);
    put8(&p->line, LINE_RANGE);
    put8(&p->line, OPCODE_BASE);
    put(&p->line, lengths, sizeof lengths);
    put8(&p->line, 0);
    put_str(&p->line, "many.c");
    put_zeros(&p->line, 4);
    patch(&p->line, header_at, p->line.len - header_at - 4, 4);
    put8(&p->line, 0);
    put8(&p->line, 9);
    put8(&p->line, 2);
    put64(&p->line, lo);
    for (unsigned i = 0; i < FUNCTIONS * ROWS; i++)
        put8(&p->line, OPCODE_BASE + 1 - LINE_BASE + LINE_RANGE * (i == 0 ? 0 : STEP)); /* a line on */
    put8(&p->line, 2);
    put8(&p->line, STEP);
    put8(&p->line, 0);
    put8(&p->line, 1);
    put8(&p->line, 1);
    end_length(p, &p->line, length_at);
}

static void add_unit(program *p, unsigned unit)
{
    uint64_t lo = START + (uint64_t)unit * FUNCTIONS * SIZE;
    unit_begin(p, dwarf4, 1, 0);
    die(p, 1);
    put32(&p->info, p->line.len);
    put64(&p->info, lo);
    put32(&p->info, FUNCTIONS * SIZE);
    size_t abstract = die(p, 2);
    put32(&p->info, add_name(p, 'a', unit));
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        die(p, 3);
        put32(&p->info, add_name(p, 'f', unit * FUNCTIONS + i));
        put64(&p->info, lo + i * SIZE);
        put32(&p->info, SIZE);
        die(p, 4);
        put32(&p->info, local(p, abstract));
        put64(&p->info, lo + i * SIZE + SIZE / 2);
        put32(&p->info, SIZE / 2);
        put8(&p->info, 1);
        put8(&p->info, 7);
        put8(&p->info, 0);
    }
    put8(&p->info, 0);
    unit_end(p);
    add_line_program(p, lo);
}

static bool write_file(const char *name, const bytes *b)
{
    char path[64];
    path_in_folder(path, name);
    FILE *file = fopen(path, "wb");
    bool ok = file != NULL && fwrite(b->v, 1, b->len, file) == b->len;
    return (file == NULL || fclose(file) == 0) && ok;
}

static bool write_dsym(void)
{
    static make_symbol symbols[SYMBOLS];
    program p = {0};
    ABBREV(&p, 1, TAG_compile_unit, 1, AT_stmt_list, FORM_sec_offset, AT_low_pc, FORM_addr, AT_high_pc,
           FORM_data4, 0);
    ABBREV(&p, 2, TAG_subprogram, 0, AT_linkage_name, FORM_strp, 0);
    ABBREV(&p, 3, TAG_subprogram, 1, AT_linkage_name, FORM_strp, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4,
           0);
    ABBREV(&p, 4, TAG_inlined_subroutine, 0, AT_abstract_origin, FORM_ref4, AT_low_pc, FORM_addr, AT_high_pc,
           FORM_data4, AT_call_file, FORM_data1, AT_call_line, FORM_data1, 0);
    abbrev_end(&p);
    for (unsigned i = 0; i < UNITS; i++)
        add_unit(&p, i);
    for (unsigned i = 0; i < SYMBOLS; i++) /* also between the functions: not in order */
        symbols[i] = (make_symbol){"_s", 0x0f, 1, START + (uint64_t)i * 7919 % SYMBOLS * STEP};
    p.macho.code_size = (uint64_t)UNITS * FUNCTIONS * SIZE;
    p.macho.symbols = symbols;
    p.macho.symbol_count = SYMBOLS;
    machsym_image_close(program_open(&p));
    return write_file("many.dwarf", &p.file);
}

/* Returns how many lines their answers have: each call is one, and there is an empty one. */
static size_t write_addresses(void)
{
    bytes b = {NULL, 0, 0};
    size_t lines = 0;
    for (uint64_t i = 0; i < ADDRESSES; i++) {
        char word[24];
        uint64_t at = i * 104729 % ((uint64_t)UNITS * FUNCTIONS * ROWS);
        put(&b, word,
            (size_t)snprintf(word, sizeof word, "0x%llx\n", (unsigned long long)(START + at * STEP)));
        lines += at % ROWS < ROWS / 2 ? 2 : 3;
    }
    bool ok = write_file("addresses", &b);
    bytes_free(&b);
    return ok ? lines : 0;
}

/* ---- A kernel collection ---- */

static void add_image_segment(bytes *b, const char *name, uint64_t addr, uint64_t size)
{
    char names[32] = "__text";
    memcpy(names + 16, name, strlen(name));
    put32(b, 0x19); /* LC_SEGMENT_64 */
    put32(b, 152);
    put(b, names + 16, 16);
    put64(b, addr);
    put64(b, size);
    put_zeros(b, 24);
    put32(b, 1); /* section */
    put32(b, 0);
    put(b, names, 32);
    put64(b, addr);
    put64(b, size);
    put_zeros(b, 16);
    put32(b, 0x80000400);
    put_zeros(b, 12);
}

/* IMAGES images, each with code of its own, a segment that is all images', and one table of symbols for all of them.
 * Every image is asked for. Returns how many addresses there are; 0: the files cannot be written. */
static size_t write_collection(void)
{
    enum { IMAGES = 1000, IMAGE_SYMBOLS = 8000, COMMAND = 48, IMAGE = 32 + 2 * 152 + 24, ASKED = 40 };
    const uint64_t base = 0xfffffe0007000000, big = base + 0x100000000;
    const unsigned symbols_at = 32 + IMAGES * (COMMAND + IMAGE);
    bytes b = {0};
    char text[24] = {0};
    const uint32_t head[] = {0xfeedfacf, 0x100000c, 0, 12, IMAGES, IMAGES * COMMAND, 0, 0};
    for (unsigned i = 0; i < 8; i++)
        put32(&b, head[i]);
    for (unsigned i = 0; i < IMAGES; i++) {
        put32(&b, 0x80000035); /* LC_FILESET_ENTRY */
        put32(&b, COMMAND);
        put64(&b, base + i * 0x1000);
        put64(&b, 32 + IMAGES * COMMAND + i * IMAGE);
        put32(&b, 32);
        put32(&b, 0);
        snprintf(text, sizeof text, "k%06u", i);
        put(&b, text, 16);
    }
    const uint32_t inner[] = {0xfeedfacf, 0x100000c, 0, 11, 3, IMAGE - 32, 0, 0};
    const uint32_t symtab[] = {2, 24, symbols_at, IMAGE_SYMBOLS, symbols_at + 16 * IMAGE_SYMBOLS, 4};
    for (unsigned i = 0; i < IMAGES; i++) {
        for (unsigned j = 0; j < 8; j++)
            put32(&b, inner[j]);
        add_image_segment(&b, "__TEXT", base + i * 0x1000, 0x1000);
        add_image_segment(&b, "__ALL", big, 16 * IMAGE_SYMBOLS);
        for (unsigned j = 0; j < 6; j++)
            put32(&b, symtab[j]);
    }
    for (unsigned i = 0; i < IMAGE_SYMBOLS; i++) {
        put32(&b, 1);
        put8(&b, 0x0f);
        put8(&b, 2);
        put16(&b, 0);
        put64(&b, big + 16 * i);
    }
    put(&b, "\0_f\0", 4);
    bool ok = write_file("collection", &b);
    b.len = 0;
    for (unsigned i = 0; i < IMAGES * ASKED; i++) {
        int len = snprintf(text, sizeof text, "0x%llx\n",
                           (unsigned long long)(base + i / ASKED * 0x1000 + i % ASKED * 4));
        put(&b, text, (size_t)len);
    }
    ok = write_file("addresses", &b) && ok;
    bytes_free(&b);
    return ok ? IMAGES * ASKED : 0;
}

/* ---- The tool ---- */

/* The tool that was built with this test. */
static bool find_tool(char *path, size_t cap)
{
    ssize_t len = readlink("/proc/self/exe", path, cap - 16);
    path[len > 0 ? len : 0] = 0;
    char *name = strstr(path, "/tests/test_atos_memory");
    if (name == NULL)
        return false;
    memcpy(name, "/machsym", 9);
    return access(path, X_OK) == 0;
}

/* A child of this process: the tool with words of a command line; those that begin with a slash are files of the
 * folder. It has the addresses on its standard input. */
static pid_t start_tool(const char *tool, const char *const *words)
{
    char paths[8][64];
    char *args[9] = {(char *)(uintptr_t)tool};
    pid_t child = fork();
    if (child != 0)
        return child;
    for (unsigned i = 0; words[i] != NULL; i++) {
        snprintf(paths[i], sizeof paths[i], "%s", words[i]);
        if (words[i][0] == '/')
            path_in_folder(paths[i], words[i] + 1);
        args[i + 1] = paths[i];
    }
    char in_path[64];
    char out_path[64];
    path_in_folder(in_path, "addresses");
    path_in_folder(out_path, "answers");
    int in = open(in_path, O_RDONLY);
    int out = open(out_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (in >= 0 && out >= 0 && dup2(in, 0) == 0 && dup2(out, 1) == 1)
        execv(tool, args);
    _exit(127);
}

/* Whether a child of this process ends well; *kb is the most memory that it had at a time. */
static bool ends_well(pid_t child, long *kb)
{
    struct rusage used;
    int status = 0;
    bool ok = child > 0 && wait4(child, &status, 0, &used) == child && WIFEXITED(status) &&
              WEXITSTATUS(status) == 0;
    *kb = ok ? used.ru_maxrss : 0;
    return ok;
}

/* Looks up the addresses in a file, and checks how much memory that takes and how many lines it prints. */
static void check_lookups(const char *tool, const char *name, const char *const *words, long most,
                          size_t lines)
{
    char path[64];
    long kb;
    CHECK(ends_well(start_tool(tool, words), &kb));
    path_in_folder(path, name);
    test_file file = test_read(path);
    most += (long)(file.len / 1024);
    CHECK(kb > 0 && kb <= most);
    if (kb > most || getenv("VERBOSE") != NULL)
        printf("100,000 addresses, %s: %ld KB, at most %ld\n", name, kb, most);
    free(file.ptr);
    path_in_folder(path, "answers");
    file = test_read(path);
    size_t count = 0;
    for (size_t i = 0; i < file.len; i++)
        count += ((const char *)file.ptr)[i] == '\n';
    CHECK(lines != 0);
    CHECK_EQ(count, lines);
    free(file.ptr);
}

static void check_memory(const char *tool)
{
    static const char *const of_dwarf[] = {"atos", "-o", "/many.dwarf", "-i", "--no-demangle", NULL};
    static const char *const build[] = {"map", "build", "/many.dwarf", "-o", "/many.symmap", NULL};
    static const char *const of_map[] = {"map", "lookup", "/many.symmap", "-i", "--no-demangle", NULL};
    long kb;
    /* the peak of a program begins with that of the process which starts it: another one makes the file */
    pid_t maker = fork();
    if (maker == 0)
        _exit(write_dsym() ? 0 : 1);
    CHECK(ends_well(maker, &kb));
    size_t lines = write_addresses();
    check_lookups(tool, "many.dwarf", of_dwarf, MOST_KB + UNITS * UNIT_BYTES / 1024, lines);
    CHECK(ends_well(start_tool(tool, build), &kb));
    check_lookups(tool, "many.symmap", of_map, MAP_KB, lines);
    static const char *const of_collection[] = {"atos", "-o", "/collection", NULL};
    lines = write_collection();
    check_lookups(tool, "collection", of_collection, COLLECTION_KB, lines);
}

int main(void)
{
    char tool[512];
#if !defined(__linux__)
    test_leave_out("test_atos_memory", "the peak is counted in other units");
    return test_done();
#endif
    if (test_is_sanitized()) {
        test_leave_out("test_atos_memory", "a sanitizer takes memory of its own");
        return test_done();
    }
    const char *emulator = getenv("RUN");
    if ((emulator != NULL && emulator[0] != 0) || !find_tool(tool, sizeof tool) || mkdtemp(folder) == NULL) {
        test_leave_out("test_atos_memory", "the tool is not built beside it");
        return test_done();
    }
    check_memory(tool);
    static const char *const names[] = {"many.dwarf", "many.symmap", "collection",
                                        "addresses",  "answers",     ""};
    for (unsigned i = 0; i < 6; i++) {
        char path[64];
        path_in_folder(path, names[i]);
        remove(path);
    }
    return test_done();
}
