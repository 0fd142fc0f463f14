/* Minidumps and core files. The samples, which tests/minidump.py and tests/core.py write from the documented
 * layouts, are cut at every byte, and every field of them is changed: reading ends, stays inside the file, and
 * finds no frame in a cut file that the whole one lacks. Stacks by frame pointers are held against chains that
 * are built here. */
#include "test.h"

#include "../report/base/memory.h"
#include "../report/base/text.h"
#include "../report/read/core.h"
#include "../report/read/frame_walk.h"
#include "../report/read/minidump.h"
#include "../report/read/recognise.h"

#include <string.h>

/* What a byte of a file may become: a thread's record has registers, a byte of a text up to four. */
enum { MOST_A_BYTE = 128, HEAD = 4096 };

static const char *const samples[] = {
    "tests/fixtures/services/crashpad.dmp", "tests/fixtures/services/breakpad.dmp",
    "tests/fixtures/services/noted.core", "tests/fixtures/services/linked.core"};

static text read_sample(const char *path)
{
    text t = {0};
    char buffer[4096];
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    if (file == NULL)
        return t;
    for (size_t count; (count = fread(buffer, 1, sizeof buffer, file)) > 0;)
        text_add(&t, buffer, count);
    fclose(file);
    return t;
}

/* Decodes a copy of the bytes that ends with the last one, so that memory checkers see reads past it. Returns
 * where the bytes are damaged. */
static size_t decode(const char *bytes, size_t len, text *out, const char **what)
{
    char *copy = mem_alloc(len > 0 ? len : 1);
    memcpy(copy, bytes, len);
    out->len = 0;
    dump_walks walks = {NULL, NULL, 0, 0};
    size_t at = core_is(str_make(copy, len)) ? core_decode(str_make(copy, len), out, what, &walks)
                                             : minidump_decode(str_make(copy, len), out, what, &walks);
    mem_to_heap(walks.v);
    CHECK((at > 0) == (*what != NULL));
    CHECK(at <= len);
    CHECK(out->len <= HEAD + len * MOST_A_BYTE);
    CHECK(memchr(out->v, 0, out->len) == NULL);
    free(copy);
    return at;
}

/* A frame is "NUMBER   IMAGE   \t0xADDRESS ...". Returns its address, or an empty text for other lines. */
static machsym_str frame_of(machsym_str line)
{
    size_t tab = str_find(line, "\t0x");
    bool is_frame = tab < line.len && line.ptr[0] >= '0' && line.ptr[0] <= '9';
    return is_frame ? str_make(line.ptr + tab, str_find(str_from(line, tab), " ")) : str_make(NULL, 0);
}

static size_t count_frames(const text *t)
{
    machsym_str rest = {t->v, t->len};
    machsym_str line;
    size_t count = 0;
    while (str_take_line(&rest, &line))
        count += frame_of(line).len > 0;
    return count;
}

static bool has_address(const text *whole, machsym_str address)
{
    machsym_str rest = {whole->v, whole->len};
    machsym_str line;
    while (str_take_line(&rest, &line)) {
        if (str_equal(frame_of(line), address))
            return true;
    }
    return false;
}

static void test_cuts(const char *path)
{
    text sample = read_sample(path);
    text whole = {0};
    text out = {0};
    const char *what = NULL;
    test_begin();
    CHECK_EQ(decode(sample.v, sample.len, &whole, &what), 0);
    CHECK(count_frames(&whole) >= 4);
    for (size_t len = 16; len < sample.len; len++) {
        machsym_str line;
        decode(sample.v, len, &out, &what);
        machsym_str rest = {out.v, out.len};
        while (str_take_line(&rest, &line)) {
            machsym_str address = frame_of(line);
            CHECK(address.len == 0 || has_address(&whole, address));
        }
        CHECK(str_find(str_make(out.v, out.len), "\nThe report is damaged at byte ") < out.len ||
              what == NULL);
    }
    /* the last bytes belong to a text or a stream of unknown type: a cut before them is always noticed */
    decode(sample.v, sample.len * 8 / 10, &out, &what);
    CHECK(what != NULL);
    test_end(path);
    text_free(&sample);
    text_free(&whole);
    text_free(&out);
}

static void set_u32(text *t, size_t at, uint32_t value)
{
    for (size_t i = 0; i < 4; i++)
        t->v[at + i] = (char)(value >> 8 * i);
}

static void test_fields(const char *path)
{
    static const uint32_t values[] = {0, 1, 31, 0x7fffffff, 0x80000000, 0xfffffff0, UINT32_MAX};
    text sample = read_sample(path);
    text damaged = {0};
    text out = {0};
    const char *what = NULL;
    test_begin();
    for (size_t at = 16; at + 4 <= sample.len; at += 4) {
        for (size_t i = 0; i < sizeof values / sizeof *values + 2; i++) {
            uint32_t len = (uint32_t)sample.len;
            damaged.len = 0;
            text_add(&damaged, sample.v, sample.len);
            set_u32(&damaged, at,
                    i < sizeof values / sizeof *values ? values[i] : len - (i % 2 == 0 ? 4 : 0));
            decode(damaged.v, damaged.len, &out, &what);
            CHECK(count_frames(&out) <= len / 16 + 3);
        }
    }
    test_end(path);
    text_free(&sample);
    text_free(&damaged);
    text_free(&out);
}

/* Counts of 2^32 where lists are, and the words that say so. */
static void test_counts(void)
{
    text sample = read_sample(samples[0]);
    text out = {0};
    const char *what = NULL;
    set_u32(&sample, 8, UINT32_MAX);
    CHECK_EQ(decode(sample.v, sample.len, &out, &what), 8);
    CHECK(what != NULL && strcmp(what, "the list of streams reaches past the end of the file") == 0);
    CHECK(count_frames(&out) > 0);
    text_free(&sample);
    sample = read_sample(samples[0]);
    for (size_t i = 32; i < 32 + 9 * 12; i += 12) { /* the list of threads */
        uint32_t at = (uint8_t)sample.v[i + 8] | (uint32_t)(uint8_t)sample.v[i + 9] << 8;
        if (sample.v[i] != 3)
            continue;
        set_u32(&sample, at, UINT32_MAX);
        CHECK_EQ(decode(sample.v, sample.len, &out, &what), at);
        CHECK(what != NULL && strcmp(what, "a list is longer than what holds it") == 0);
        CHECK_EQ(count_frames(&out), 7);
    }
    text_free(&sample);
    text_free(&out);
}

/* ---- Stacks ---- */

enum { WORDS = 4096 };
static const uint64_t base = 0x16f000000;

/* A stack of words. Memory outside it cannot be read. */
static bool read_words(void *context, uint64_t addr, void *out, size_t len)
{
    if (addr < base || addr - base > 8 * WORDS || len > 8 * WORDS - (addr - base))
        return false;
    for (size_t i = 0; i < len; i++) /* little endian, as dumps are */
        ((uint8_t *)out)[i] =
            (uint8_t)(((const uint64_t *)context)[(addr - base + i) / 8] >> 8 * ((addr - base + i) % 8));
    return true;
}

/* The frames of a stack whose frame pointer and stack pointer are these. */
static uint32_t walk_stack(const framewalk *walk, uint64_t sp, uint64_t fp, framewalk_frame *out,
                           uint32_t cap)
{
    bool is_x86 = walk->cputype == 0x01000007;
    framewalk one = *walk;
    if (!is_x86)
        one.state.v[32] = 0x100000aec;
    one.state.v[is_x86 ? 7 : 31] = sp;
    one.state.v[is_x86 ? 6 : 29] = fp;
    one.state.known = is_x86 ? 0x100c0 : UINT64_C(0x1a0000000);
    return framewalk_stack(&one, out, cap);
}

static void put_record(uint64_t *stack, size_t at, uint64_t above, uint64_t back)
{
    stack[at] = above;
    stack[at + 1] = back;
}

static uint64_t where(size_t at)
{
    return base + 8 * at;
}

static void test_stacks(void)
{
    static uint64_t stack[WORDS];
    framewalk_frame out[WORDS];
    framewalk walk = {
        read_words, NULL, stack, 0x0100000c, {{0}, 0, 0, MACHSYM_UNWIND_CONTEXT, MACHSYM_UNWIND_GOES_ON}, 0};
    uint64_t sp = where(0), fp = where(2);
    test_begin();
    memset(stack, 0, sizeof stack);
    put_record(stack, 2, where(10), 0x100000b00);
    put_record(stack, 10, where(12) | UINT64_C(1) << 60, UINT64_C(0x0051000100000c00)); /* async; signed */
    put_record(stack, 12, 0, 0x100000d00);
    CHECK_EQ(walk_stack(&walk, sp, fp, out, WORDS), 4);
    CHECK(out[0].pc == 0x100000aec && out[1].pc == 0x100000b00 && out[2].pc == 0x100000c00 &&
          out[3].pc == 0x100000d00);
    CHECK_EQ(walk_stack(&walk, sp, fp, out, 2), 2);
    CHECK_EQ(walk_stack(&walk, sp, fp, out, 0), 0);
    walk.caller = 0x100000ff0;
    CHECK_EQ(walk_stack(&walk, sp, fp, out, WORDS), 5);
    CHECK_EQ(out[1].pc, 0x100000ff0);
    CHECK_EQ(walk_stack(&walk, sp, fp, out, 1), 1);
    walk.caller = 0;
    stack[12] = where(2); /* round */
    CHECK_EQ(walk_stack(&walk, sp, fp, out, WORDS), 4);
    stack[12] = where(12); /* in place */
    CHECK_EQ(walk_stack(&walk, sp, fp, out, WORDS), 4);
    stack[12] = where(13); /* records do not overlap */
    stack[14] = 0x100000e00;
    CHECK_EQ(walk_stack(&walk, sp, fp, out, WORDS), 4);
    stack[12] = where(20) + 4; /* no word begins there */
    CHECK_EQ(walk_stack(&walk, sp, fp, out, WORDS), 4);
    stack[12] = where(WORDS - 1); /* half of it lies past the stack */
    CHECK_EQ(walk_stack(&walk, sp, fp, out, WORDS), 4);
    stack[12] = UINT64_MAX - 7;
    CHECK_EQ(walk_stack(&walk, sp, fp, out, WORDS), 4);
    stack[11] = 0xfff; /* no code lies in the first page */
    CHECK_EQ(walk_stack(&walk, sp, fp, out, WORDS), 2);
    sp = where(3); /* a frame pointer below the stack */
    CHECK_EQ(walk_stack(&walk, sp, fp, out, WORDS), 1);
    sp = 0;
    fp = 0;
    CHECK_EQ(walk_stack(&walk, sp, fp, out, WORDS), 1);
    walk.cputype = 0x01000007; /* addresses of x86_64 have no signature */
    walk.state.v[16] = UINT64_C(0x0051000100000c00);
    CHECK(walk_stack(&walk, sp, fp, out, WORDS) == 1 && out[0].pc == walk.state.v[16]);
    for (size_t i = 0; i < WORDS; i += 2) /* as many as there is room for */
        put_record(stack, i, where(i + 2), 0x100000000 + i);
    fp = sp = where(0);
    CHECK_EQ(walk_stack(&walk, sp, fp, out, 512), 512);
    CHECK_EQ(walk_stack(&walk, sp, fp, out, WORDS), WORDS / 2 + 1);
    test_end("stacks");
}

/* mach-o/loader.h: MH_MAGIC_64, little endian, and MH_CORE as the file's type, in its first 16 bytes. */
/* ---- Unwind tables ---- */

/* The stacks of tests/stacks: an emulator says who called, and lldb finds the same frames. */
static const uint64_t arm64_stack[] = {0x102340418, 0x102340470, 0x1023404e0, 0x102340568, 0x102340630,
                                       0x102340600, 0x102340600, 0x102340600, 0x102340600, 0x1023406e8};
static const uint64_t x86_64_stack[] = {0x1023403ee, 0x10234042c, 0x102340487, 0x102340503, 0x1023405b0,
                                        0x10234057b, 0x10234057b, 0x10234057b, 0x10234057b, 0x102340696};
enum { STACK = 10 };

/* How many files are open, and the one to give. */
typedef struct files {
    machsym_image *image;
    int left;
    int asked;
} files;

static const machsym_image *find_file(void *context, const machsym_uuid *uuid, machsym_str path,
                                      machsym_str arch)
{
    files *f = context;
    machsym_image_info info;
    f->asked++;
    if (f->image == NULL)
        return NULL;
    machsym_image_get_info(f->image, &info);
    CHECK(memcmp(&info.slice.uuid, uuid, sizeof *uuid) == 0 && str_is(str_base_name(path), "calls"));
    CHECK(arch.len == 0 || str_is(arch, "x86_64"));
    return f->image;
}

static void leave_files(void *context)
{
    ((files *)context)->left++;
}

/* Compares the frames of a report with the beginning of a stack. */
static void check_walk(const report *r, const uint64_t *stack, uint32_t count, const char *found_by)
{
    CHECK_EQ(r->frame_count, count);
    for (uint32_t i = 0; i < count && i < r->frame_count; i++) {
        CHECK_EQ(r->frames[i].addr, stack[i]);
        bool is_open_ended = stack[i] == arm64_stack[3]; /* its callee has a frame pointer */
        CHECK(strcmp(r->frames[i].found_by, i == 0 ? "context" : is_open_ended ? "compact" : found_by) == 0);
    }
}

static void test_tables(void)
{
    files f = {test_open("tests/stacks/x86_64.program"), 0, 0};
    report_tables tables = {&f, find_file, leave_files};
    text core = read_sample("tests/stacks/arm64.core"), dmp = read_sample("tests/stacks/x86_64.dmp");
    static const uint64_t by_fp[] = {0x1023403ee, 0x102340503};
    report r;
    test_begin();
    report_open(&r, core.v, core.len, NULL, 0); /* the image lies in the memory of the process */
    check_walk(&r, arm64_stack, STACK, "eh_frame");
    report_close(&r);
    report_open_redacted(NULL, &r, dmp.v, dmp.len, NULL, 0, &tables, NULL);
    check_walk(&r, x86_64_stack, STACK, "compact");
    CHECK(f.left == 1 && f.asked == 1);
    report_close(&r);
    machsym_image_close(f.image);
    f.image = NULL;
    report_open_redacted(NULL, &r, dmp.v, dmp.len, NULL, 0, &tables, NULL);
    check_walk(&r, by_fp, 2, "fp"); /* two functions have no frame pointer */
    report_close(&r);
    f.image = test_open("tests/fixtures/bin/demo"); /* of arm64 */
    machsym_unwind_image image;
    memset(&image, 0, sizeof image);
    CHECK(!tables_of_file(f.image, DUMP_CPU_X86_64, 0x100000000, &image));
    machsym_image_close(f.image);
    text_free(&core);
    text_free(&dmp);
    test_end("stacks by unwind tables");
}

/* Bytes of a core are changed. Every stack ends, and nothing is read outside. */
static void test_changed_tables(void)
{
    text core = read_sample("tests/stacks/arm64.core"), out = {0};
    const char *what;
    test_begin();
    for (size_t i = 0; i < 2500 && core.len > 16000; i++) { /* the header of the image, and its tables */
        size_t at = i < 1000 ? i : core.len - 16000 + 6 * (i - 1000);
        char kept = core.v[at];
        core.v[at] = (char)(kept ^ (1 << i % 8));
        decode(core.v, core.len, &out, &what);
        core.v[at] = (char)~kept;
        decode(core.v, core.len, &out, &what);
        core.v[at] = kept;
    }
    text_free(&core);
    text_free(&out);
    test_end("changed unwind tables");
}

static void test_beginnings(void)
{
    static const struct {
        const char *bytes;
        size_t len;
        bool is;
    } v[] = {
        {"\xcf\xfa\xed\xfe\x0c\0\0\1\0\0\0\0\4\0\0\0", 16, true},
        {"\xcf\xfa\xed\xfe\x0c\0\0\1\0\0\0\0\4\0\0\0", 15, false},
        {"\xcf\xfa\xed\xfe\x0c\0\0\1\0\0\0\0\2\0\0\0", 16, false}, /* a program */
        {"\xcf\xfa\xed\xfe\x0c\0\0\1\0\0\0\0\4\1\0\0", 16, false},
        {"\xce\xfa\xed\xfe\x0c\0\0\1\0\0\0\0\4\0\0\0", 16, false}, /* of 32 bits */
        {"\xfe\xed\xfa\xcf\1\0\0\x0c\0\0\0\0\0\0\0\4", 16, false}, /* big endian */
        {"MDMP\x93\xa7\0\0\0\0\0\0\4\0\0\0", 16, false},
        {"", 0, false},
    };
    test_begin();
    for (size_t i = 0; i < sizeof v / sizeof *v; i++)
        CHECK_EQ(core_is(str_make(v[i].bytes, v[i].len)), v[i].is);
    test_end("how a core file begins");
}

int main(void)
{
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        test_cuts(samples[i]);
        test_fields(samples[i]);
    }
    test_counts();
    test_stacks();
    test_tables();
    test_changed_tables();
    test_beginnings();
    return test_done();
}
