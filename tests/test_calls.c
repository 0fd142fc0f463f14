/* Calls and jumps in code, as report/look/calls.c reads them: each instruction of tests/stacks/instructions.tsv,
 * which LLVM disassembled; functions that jump to each other; sections with and without code. */
#include "test.h"

#include "../report/look/calls.h"
#include "make.h"

enum {
    ARM64 = 0x0100000c,
    ARM64_32 = 0x0200000c,
    X86_64 = 0x01000007,
    CODE = 0x100000,  /* the address of code */
    SIZE = 0x40000,   /* of code */
    AT = 0x20000,     /* where the instruction stands in it */
    FAR_AWAY = 0x3000 /* as far from it no function is reached */
};

/* Functions of `step` bytes, but for one of `size` at AT. From `unknown` on there are none; from `without_size`
 * on they have no size. */
typedef struct functions {
    uint64_t step, size;
    uint64_t unknown, without_size;
    bool lacks_memory;
} functions;

static size_t function_at(void *context, uint32_t index, uint64_t addr, machsym_frame *frames, size_t cap)
{
    const functions *f = (const functions *)context;
    uint64_t off = addr - CODE;
    CHECK_EQ(index, 7);
    CHECK(cap > 0);
    if (f->unknown != 0 && off >= f->unknown)
        return 0;
    memset(frames, 0, sizeof *frames);
    bool is_probe = off - AT < f->size;
    frames->function_start = is_probe ? (uint64_t)CODE + AT : addr - off % f->step;
    frames->function_size = is_probe ? f->size : f->step;
    if (f->without_size != 0 && off >= f->without_size)
        frames->function_size = 0;
    frames->lacks_memory = f->lacks_memory;
    return 1;
}

/* A file of code. The section __text of make.h is elsewhere, and has no bytes. */
static bytes put_code_file(uint32_t cputype, const bytes *code, const char *name, uint32_t flags)
{
    make_macho m;
    memset(&m, 0, sizeof m);
    m.cputype = cputype;
    m.is_32 = (cputype & 0x01000000) == 0;
    m.filetype = 2;
    m.text_addr = CODE - 0x2000;
    make_add(&m, name, code);
    m.sections[0].segment = "__TEXT";
    m.sections[0].addr = CODE;
    m.sections[0].flags = flags;
    return make_file(&m);
}

static bytes fill(uint32_t cputype)
{
    bytes code = {NULL, 0, 0};
    for (size_t i = 0; i < SIZE; i += 4)
        put32(&code, cputype == X86_64 ? 0xc3c3c3c3u : 0xd65f03c0u); /* ret */
    return code;
}

/* Where the bytes of code stand in the file. */
static uint8_t *code_in(bytes *file, const bytes *code)
{
    return file->v + (file->len - code->len);
}

static bool reaches(const calls_image *image, uint64_t from, uint64_t to)
{
    uint64_t left = CALLS_BYTES;
    return calls_may_reach(image, CODE + from, CODE + to, &left);
}

/* ---- Each instruction ---- */

/* A column: "-", "*", or an offset. */
static char column(const char *text, int64_t *off)
{
    *off = strtoll(text, NULL, 10);
    return text[0] == '-' && text[1] == 0 ? '-' : text[0] == '*' ? '*' : '0';
}

static void check_instruction(const calls_image *image, char *fields[6], size_t len)
{
    int64_t call_off, jump_off;
    uint64_t target = 0;
    const uint64_t end = AT + len;
    char call = column(fields[2], &call_off), jump = column(fields[3], &jump_off);
    calls_kind kind = calls_end_at(image, CODE + end, &target);
    CHECK_EQ(kind, call == '-' ? CALLS_NOTHING : call == '*' ? CALLS_SOMEWHERE : CALLS_TARGET);
    if (kind == CALLS_TARGET)
        CHECK_EQ(target, (uint64_t)((int64_t)CODE + AT + call_off));
    uint64_t to = (uint64_t)(AT + jump_off);
    if (jump == '0')
        CHECK_EQ(reaches(image, AT, to), to < SIZE);
    if (jump != '0' || (to != AT + FAR_AWAY && to != AT - FAR_AWAY)) {
        CHECK_EQ(reaches(image, AT, AT + FAR_AWAY), jump == '*');
        CHECK_EQ(reaches(image, AT, AT - FAR_AWAY), jump == '*');
    }
    /* On x86_64 a function's last byte may be taken for what fills the gap after it, or for a return, and a
     * call may never return. */
    const char *last = fields[1] + 2 * len - 2;
    bool is_like_end = strcmp(last, "00") == 0 || strcmp(last, "90") == 0 || strcmp(last, "cc") == 0 ||
                       strcmp(last, "c3") == 0;
    bool is_told = image->cputype != X86_64 || (call == '-' && (fields[4][0] == '0' || !is_like_end));
    if (is_told && to != end)
        CHECK_EQ(reaches(image, AT, end), fields[4][0] == '1' || jump == '*');
}

static void check_instructions(uint32_t cputype, const char *name)
{
    test_file file = test_read("tests/stacks/instructions.tsv");
    bytes code = fill(cputype), made = put_code_file(cputype, &code, "__code", 0x80000400u);
    machsym_image *opened = test_open_bytes(made.v, made.len);
    functions all = {cputype == X86_64 ? 1u : 4u, 0, 0, 0, false};
    calls_image image;
    uint8_t *at = code_in(&made, &code) + AT;
    size_t rows = 0;
    calls_image_of(opened, &image);
    image.index = 7;
    image.frames = function_at;
    image.context = &all;
    char *text = (char *)malloc(file.len + 1);
    memcpy(text, file.ptr, file.len);
    text[file.len] = 0;
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        char *fields[6];
        size_t count = 0;
        for (char *p = line; p != NULL && count < 6; count++) {
            fields[count] = p;
            p = strchr(p, '\t');
            if (p != NULL)
                *p++ = 0;
        }
        if (count != 6 || strcmp(fields[0], name) != 0)
            continue;
        size_t len = strlen(fields[1]) / 2;
        for (size_t i = 0; i < len; i++) {
            char digits[3] = {fields[1][2 * i], fields[1][2 * i + 1], 0};
            at[i] = (uint8_t)strtoul(digits, NULL, 16);
        }
        all.size = len;
        test_begin();
        check_instruction(&image, fields, len);
        test_end(fields[5]);
        memcpy(at, code.v + AT, len);
        rows++;
    }
    CHECK(rows > 300);
    machsym_image_close(opened);
    bytes_free(&made);
    bytes_free(&code);
    free(text);
    free(file.ptr);
}

/* ---- Functions that jump to each other ---- */

/* Functions of one word each, that jump to the next but one; those at odd places return. */
static void check_chain(void)
{
    bytes code = fill(ARM64), made = put_code_file(ARM64, &code, "__code", 0x80000400u);
    machsym_image *opened = test_open_bytes(made.v, made.len);
    functions all = {4, 0, 0, 0, false};
    calls_image image;
    uint64_t left;
    uint8_t *at = code_in(&made, &code);
    calls_image_of(opened, &image);
    image.index = 7;
    image.frames = function_at;
    image.context = &all;
    for (size_t i = 0; i < 200; i++)
        at[8 * i] = 2, at[8 * i + 1] = at[8 * i + 2] = 0, at[8 * i + 3] = 0x14; /* b .+8 */
    for (uint64_t i = 1; i < CALLS_FUNCTIONS; i++) {
        CHECK(reaches(&image, 0, 8 * i));
        CHECK(!reaches(&image, 8 * (200 - i), 8 * (199 - i))); /* not back */
        CHECK(!reaches(&image, 8 * (200 - i), 8 * (200 - i) + 4));
    }
    CHECK(reaches(&image, 0, 0x8000)); /* too many functions to know */
    CHECK(reaches(&image, 8 * (200 - CALLS_FUNCTIONS), 0x8000));
    CHECK(!reaches(&image, 8 * (201 - CALLS_FUNCTIONS), 0x8000));
    /* as many bytes as there are left */
    left = 4 * 50;
    CHECK(!calls_may_reach(&image, CODE + 8 * 151, CODE + 0x8000, &left));
    CHECK_EQ(left, 0);
    left = 4 * 50 - 1;
    CHECK(calls_may_reach(&image, CODE + 8 * 151, CODE + 0x8000, &left));
    CHECK_EQ(left, 3);
    /* two that jump to each other */
    at[8] = 0xfe, at[9] = at[10] = 0xff, at[11] = 0x17; /* b .-8 */
    CHECK(reaches(&image, 0, 8));
    CHECK(reaches(&image, 8, 0));
    CHECK(!reaches(&image, 0, 16));
    /* what cannot be known */
    CHECK(reaches(&image, SIZE, 0));
    all.unknown = 8;
    CHECK(reaches(&image, 0, 0x8000));
    all.unknown = 0;
    all.without_size = 8;
    CHECK(reaches(&image, 0, 0x8000));
    all.without_size = 0;
    all.lacks_memory = true;
    CHECK(reaches(&image, 0, 0x8000));
    all.lacks_memory = false;
    all.step = 2 * SIZE; /* a function past the end of its section */
    CHECK(reaches(&image, 0, 0x8000));
    all.step = 4;
    CHECK(!reaches(&image, 0, 0x8000));
    image.frames = NULL;
    CHECK(reaches(&image, 0, 0x8000));
    machsym_image_close(opened);
    bytes_free(&made);
    bytes_free(&code);
}

/* The last instruction of one function runs on into the next. */
static void check_runs_on(void)
{
    static const struct {
        const char *code; /* of x86_64 */
        size_t len;
        bool runs_on;
    } rows[] = {
        {"\x55\x5d\xc3", 3, false},
        {"\x55\x5d", 2, true},
        {"\xc3\x90\x90", 3, false},
        {"\x55\x90", 2, false},
        {"\x55\xcc", 2, false},
        {"\x0f\x0b", 2, false},
        {"\x55\xe8\x41\x42\x43\x44", 6, false},
        {"\x55\xe9\x41\x42\x43\x14", 6, false},
        {"\xe8\x41\x42\x43\x44\x55", 6, true},
        {"\x55\xeb\x41", 3, false},
        {"\xeb\x41\x55", 3, true},
        {"\x0f\x0b\x55", 3, true},
        {"\x0b\x0f\x55", 3, true},
        {"\x0f\xb6\xc0", 3, true},
        {"\x55\x0f\x0b\x90", 4, false},
        {"\xc3\x55", 2, true},
        {"\xc3", 1, false},
        {"\x55", 1, true},
        {"\x55\0\0", 3, false},
        {"\x55\x40", 2, true},
    };
    bytes code = fill(X86_64), made = put_code_file(X86_64, &code, "__code", 0x80000400u);
    machsym_image *opened = test_open_bytes(made.v, made.len);
    functions all = {1, 0, 0, 0, false};
    calls_image image;
    uint8_t *at = code_in(&made, &code) + AT;
    calls_image_of(opened, &image);
    image.index = 7;
    image.frames = function_at;
    image.context = &all;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        memcpy(at, rows[i].code, rows[i].len);
        all.size = rows[i].len;
        CHECK_EQ(reaches(&image, AT, AT + rows[i].len), rows[i].runs_on);
        memcpy(at, code.v + AT, rows[i].len);
    }
    machsym_image_close(opened);
    bytes_free(&made);
    bytes_free(&code);
}

/* ---- Sections ---- */

static void check_sections(void)
{
    static const struct {
        const char *name;
        uint32_t flags;
        bool is_code, is_stub;
    } rows[] = {
        {"__code", 0x80000400u, true, false},
        {"__code", 0x400, true, false},
        {"__code", 0x80000000u, true, false},
        {"__code", 0x80000408u, true, true},
        {"__code", 0x80000407u, true, false},
        {"__stubs", 0x80000400u, true, true},
        {"__auth_stubs", 0x80000400u, true, true},
        {"__objc_stubs", 0x80000400u, true, true},
        {"__stu", 0x80000400u, true, false},
        {"__const", 0, false, false},
        {"__stubs", 8, false, false},
    };
    static const struct {
        uint32_t cputype;
        bool is_read;
    } cpus[] = {{ARM64, true}, {ARM64_32, true}, {X86_64, true},
                {7, false},    {12, false},      {0x01000012, false}};
    bytes code = fill(ARM64);
    uint64_t target;
    calls_image image;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bytes made = put_code_file(ARM64, &code, rows[i].name, rows[i].flags);
        machsym_image *opened = test_open_bytes(made.v, made.len);
        calls_image_of(opened, &image);
        test_begin();
        CHECK_EQ(calls_has_code(&image), rows[i].is_code);
        CHECK_EQ(calls_is_stub(&image, CODE), rows[i].is_stub);
        CHECK_EQ(calls_is_stub(&image, CODE + SIZE - 1), rows[i].is_stub);
        CHECK(!calls_is_stub(&image, CODE + SIZE));
        CHECK(!calls_is_stub(&image, CODE - 1));
        calls_kind inside = rows[i].is_code ? CALLS_NOTHING : CALLS_NO_CODE;
        CHECK_EQ(calls_end_at(&image, CODE + 4, &target), inside);
        CHECK_EQ(calls_end_at(&image, CODE + SIZE, &target), inside);
        CHECK_EQ(calls_end_at(&image, CODE, &target), CALLS_NO_CODE);
        CHECK_EQ(calls_end_at(&image, CODE + SIZE + 1, &target), CALLS_NO_CODE);
        CHECK_EQ(calls_end_at(&image, CODE - 0x2000 + 8, &target), CALLS_UNKNOWN); /* __text, without bytes */
        test_end(rows[i].name);
        machsym_image_close(opened);
        bytes_free(&made);
    }
    for (size_t i = 0; i < sizeof cpus / sizeof cpus[0]; i++) {
        bytes made = put_code_file(cpus[i].cputype, &code, "__code", 0x80000400u);
        machsym_image *opened = test_open_bytes(made.v, made.len);
        calls_image_of(opened, &image);
        CHECK_EQ(image.file != NULL, cpus[i].is_read);
        CHECK_EQ(calls_has_code(&image), cpus[i].is_read);
        machsym_image_close(opened);
        bytes_free(&made);
    }
    calls_image_of(NULL, &image);
    CHECK(!calls_has_code(&image));
    CHECK_EQ(calls_end_at(&image, CODE + 4, &target), CALLS_NO_CODE);
    bytes_free(&code);
}

/* A call at the first bytes of its section, and addresses between instructions. */
static void check_edges(void)
{
    static const struct {
        uint32_t cputype;
        const char *code;
        size_t len, end;
        calls_kind kind;
    } rows[] = {
        {ARM64, "\x10\0\0\x94", 4, 4, CALLS_TARGET},
        {ARM64, "\x10\0\0\x94", 4, 3, CALLS_NOTHING},
        {ARM64, "\x10\0\0\x94\0\0\0\0", 8, 6, CALLS_NOTHING},
        {ARM64, "\x1f\x20\x03\xd5\x10\0\0\x94", 8, 8, CALLS_TARGET},
        {ARM64_32, "\x10\0\0\x94", 4, 4, CALLS_TARGET},
        {X86_64, "\xe8\x41\0\0\0", 5, 5, CALLS_TARGET},
        {X86_64, "\xe8\x41\0\0\0", 5, 4, CALLS_NOTHING},
        {X86_64, "\xff\xd0", 2, 2, CALLS_SOMEWHERE},
        {X86_64, "\xff\xd0", 2, 1, CALLS_NOTHING},
        {X86_64, "\x41\xff\xd0", 3, 3, CALLS_SOMEWHERE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t target = 0;
        calls_image image;
        bytes code = fill(rows[i].cputype);
        memcpy(code.v, rows[i].code, rows[i].len);
        bytes made = put_code_file(rows[i].cputype, &code, "__code", 0x80000400u);
        machsym_image *opened = test_open_bytes(made.v, made.len);
        calls_image_of(opened, &image);
        CHECK_EQ(calls_end_at(&image, CODE + rows[i].end, &target), rows[i].kind);
        machsym_image_close(opened);
        bytes_free(&made);
        bytes_free(&code);
    }
}

int main(void)
{
    check_instructions(ARM64, "arm64");
    check_instructions(X86_64, "x86_64");
    check_chain();
    check_runs_on();
    check_sections();
    check_edges();
    return test_done();
}
