/* The room near: which line a frame has under the people policy, in sessions, in their explanations and in maps.
 * The truth is what tests/fixtures/src/hand/near.s says of each place; tests/people.sh holds the same file, and
 * real ones, against llvm-dwarfdump. */
#include "maps.h"

#define FIXTURE "tests/fixtures/bin/hand-near.dwarf"

/* What is wanted of a frame: a line below 0 is near by. */
typedef struct wanted {
    const char *name;
    const char *file;
    int line;
} wanted;

typedef struct row {
    uint64_t off; /* from the begin of the code; each place has 4 bytes */
    machsym_near kind;
    int frame; /* the innermost one near by; -1: none */
    int distance;
    wanted frames[3];
} row;

#define B "Bundle.swift"
#define C "<compiler-generated>"

static const row rows[] = {
    {0x00, MACHSYM_NEAR_NONE, -1, 0, {{"load", B, 10}}},
    {0x04, MACHSYM_NEAR_NONE, -1, 0, {{"load", B, 12}}},
    {0x08, MACHSYM_NEAR_BEFORE, 0, -4, {{"load", B, -12}}},
    /* a call without a line: where the caller was before */
    {0x0c, MACHSYM_NEAR_AFTER, 0, 4, {{"helper", B, -42}, {"load", B, -12}}},
    {0x10, MACHSYM_NEAR_BEFORE, 1, -12, {{"helper", B, 42}, {"load", B, -12}}},
    /* the last one of the call: not what follows it */
    {0x14, MACHSYM_NEAR_BEFORE, 0, -4, {{"helper", B, -42}, {"load", B, -12}}},
    /* what the compiler made has the line of its call */
    {0x18, MACHSYM_NEAR_CALL, 0, 0, {{"append", B, -14}, {"load", B, 14}}},
    {0x1c, MACHSYM_NEAR_CALL, 0, -4, {{"count", B, -14}, {"load", B, -14}}},
    {0x20, MACHSYM_NEAR_BEFORE, 0, -8, {{"load", B, -14}}},
    {0x24, MACHSYM_NEAR_NONE, -1, 0, {{"load", "Other.swift", 99}}},
    /* neither the other file nor a line before the declaration */
    {0x28, MACHSYM_NEAR_BEFORE, 0, -16, {{"load", B, -14}}},
    {0x2c, MACHSYM_NEAR_NONE, -1, 0, {{"load", B, 9}}},
    {0x30, MACHSYM_NEAR_BEFORE, 0, -24, {{"load", B, -14}}},
    {0x34, MACHSYM_NEAR_AFTER, 0, 4, {{"late", B, -51}}},
    {0x38, MACHSYM_NEAR_NONE, -1, 0, {{"late", B, 51}}},
    {0x3c, MACHSYM_NEAR_NONE, -1, 0, {{"thunk", C, 0}}},
    {0x40, MACHSYM_NEAR_AFTER, 0, 4, {{"helper", B, -42}, {"thunk", B, 0}}},
    {0x44, MACHSYM_NEAR_NONE, -1, 0, {{"helper", B, 42}, {"thunk", B, 0}}},
    {0x48, MACHSYM_NEAR_DECLARATION, 0, 0, {{"helper", B, -40}, {"thunk", B, 0}}},
    {0x4c, MACHSYM_NEAR_NONE, -1, 0, {{"bare", B, 0}}},
    {0x50, MACHSYM_NEAR_NONE, -1, 0, {{"bare", B, 70}}},
    {0x54, MACHSYM_NEAR_NONE, -1, 0, {{"silent", B, 0}}},
    {0x58, MACHSYM_NEAR_NONE, -1, 0, {{"silent", C, 0}}},
    {0x5c, MACHSYM_NEAR_NONE, -1, 0, {{"elsewhere", "Other.swift", 5}}},
    {0x60, MACHSYM_NEAR_DECLARATION, 0, 0, {{"elsewhere", B, -90}}},
    {0x64, MACHSYM_NEAR_NONE, -1, 0, {{"split", B, 61}}},
    {0x68, MACHSYM_NEAR_NONE, -1, 0, {{"between", B, 100}}},
    {0x6c, MACHSYM_NEAR_DECLARATION, 0, 0, {{"split", B, -60}}},
};

enum { ROWS = sizeof rows / sizeof rows[0], ROOM = 4 };

static const uint64_t begin = 0x100001000;

static void check_frames(const row *want, uint64_t addr, const machsym_frame *frames, size_t count)
{
    size_t wanted_count = 0;
    while (wanted_count < 3 && want->frames[wanted_count].name != NULL)
        wanted_count++;
    CHECK_EQ(count, wanted_count);
    for (size_t i = 0; i < wanted_count && i < count; i++) {
        int line = want->frames[i].line;
        CHECK_STR(frames[i].name, want->frames[i].name);
        CHECK_STR(frames[i].file.name, want->frames[i].file);
        CHECK_EQ(frames[i].line, line < 0 ? -line : line);
        CHECK_EQ(frames[i].line_source, line < 0 ? MACHSYM_SOURCE_NEAR : MACHSYM_SOURCE_DWARF);
        CHECK_EQ(frames[i].function_start <= addr, 1);
    }
}

/* Each place at its first byte and its last, which is where a return address is looked up, in this order and the
 * other, with and without an index. */
static void test_places(void)
{
    machsym_image *image = test_open(FIXTURE);
    for (uint32_t flags = 0; flags < 4; flags++) {
        machsym_session *session =
            test_session(image, MACHSYM_LINES_PEOPLE, (flags & 1) != 0 ? (uint32_t)MACHSYM_SESSION_INDEX : 0);
        for (size_t i = 0; i < 2 * (size_t)ROWS; i++) {
            size_t at = (flags & 2) != 0 ? 2 * (size_t)ROWS - 1 - i : i;
            uint64_t addr = begin + rows[at / 2].off + 3 * (at % 2);
            machsym_frame frames[ROOM];
            check_frames(&rows[at / 2], addr, frames,
                         machsym_session_frames_at_addr(session, addr, frames, ROOM));
        }
        machsym_session_close(session);
    }
    machsym_image_close(image);
}

/* What a session kept of other places changes no answer: bytes of all places in no order, with room for all that is decoded
 * and with none. */
static void test_order(void)
{
    machsym_image *image = test_open(FIXTURE);
    for (unsigned small = 0; small < 2; small++) {
        machsym_session_desc how;
        machsym_session *session = NULL;
        uint32_t state = 12345;
        memset(&how, 0, sizeof how);
        how.image = image;
        how.lines = MACHSYM_LINES_PEOPLE;
        how.cache_limit = small ? 1 : 0;
        CHECK_EQ(machsym_session_open(&how, &session, NULL), MACHSYM_OK);
        for (unsigned i = 0; i < 1000; i++) {
            machsym_frame frames[ROOM];
            state = state * 1664525 + 1013904223;
            size_t at = (state >> 16) % (4 * (size_t)ROWS);
            uint64_t addr = begin + rows[at / 4].off + at % 4;
            check_frames(&rows[at / 4], addr, frames,
                         machsym_session_frames_at_addr(session, addr, frames, ROOM));
            if (small && i % 16 == 0)
                machsym_session_trim(session);
        }
        machsym_session_close(session);
    }
    machsym_image_close(image);
}

static void check_same(const machsym_frame *a, size_t a_count, const machsym_frame *b, size_t b_count)
{
    CHECK_EQ(a_count, b_count);
    for (size_t i = 0; i < a_count && i < b_count; i++) {
        CHECK_EQ(a[i].line, b[i].line);
        CHECK_EQ(a[i].line_source, b[i].line_source);
        CHECK(test_same(a[i].name, b[i].name) && test_same(a[i].file.name, b[i].file.name));
    }
}

/* In damaged files, too, an answer does not depend on what was asked before. One bit is flipped, anywhere
 * after the load commands. */
static void test_damage(void)
{
    size_t step = test_is_quick() ? 53 : 13 * test_env("SAMPLE");
    test_file file = test_read(FIXTURE);
    char *copy = (char *)malloc(file.len);
    test_begin();
    for (size_t bit = 8 * 1024; bit < 8 * file.len; bit += step) {
        machsym_open_desc desc;
        machsym_image *image = NULL;
        memcpy(copy, file.ptr, file.len);
        copy[bit / 8] ^= (char)(1 << bit % 8);
        memset(&desc, 0, sizeof desc);
        desc.bytes.ptr = copy;
        desc.bytes.len = file.len;
        if (machsym_image_open(&desc, &image, NULL) != MACHSYM_OK)
            continue;
        machsym_session *warm = test_session(image, MACHSYM_LINES_PEOPLE, 0);
        for (size_t i = 0; i < ROWS; i++) {
            machsym_frame frames[ROOM];
            machsym_frame fresh[ROOM];
            machsym_session *cold = test_session(image, MACHSYM_LINES_PEOPLE, 0);
            uint64_t addr = begin + rows[i].off;
            size_t count = machsym_session_frames_at_addr(warm, addr, frames, ROOM);
            check_same(frames, count, fresh, machsym_session_frames_at_addr(cold, addr, fresh, ROOM));
            machsym_session_close(cold);
        }
        machsym_session_close(warm);
        machsym_image_close(image);
    }
    free(copy);
    free(file.ptr);
    test_end("answers of damaged files in any order");
}

static void test_explanations(void)
{
    machsym_image *image = test_open(FIXTURE);
    for (size_t i = 0; i < ROWS; i++) {
        machsym_session *session = test_session(image, MACHSYM_LINES_PEOPLE, 0);
        machsym_explanation told;
        uint64_t addr = begin + rows[i].off;
        machsym_session_explain_addr(session, addr, &told);
        CHECK_EQ(told.near_kind, rows[i].kind);
        if (rows[i].frame >= 0) {
            CHECK_EQ(told.near_frame, rows[i].frame);
            CHECK_EQ((int64_t)(told.near_addr - addr), rows[i].distance);
        }
        machsym_session_close(session);
    }
    machsym_image_close(image);
}

/* The other policies give what the table has. */
static void test_literal(void)
{
    machsym_image *image = test_open(FIXTURE);
    for (unsigned lines = 0; lines < MACHSYM_LINES_PEOPLE; lines++) {
        machsym_session *session = test_session(image, (machsym_lines)lines, 0);
        for (size_t i = 0; i < ROWS; i++) {
            machsym_frame frames[ROOM];
            machsym_explanation told;
            size_t count = machsym_session_frames_at_addr(session, begin + rows[i].off, frames, ROOM);
            for (size_t k = 0; k < count; k++) {
                CHECK_EQ(frames[k].line_source, MACHSYM_SOURCE_DWARF);
                if (rows[i].frames[k].line < 0 && lines != MACHSYM_LINES_STMT)
                    CHECK_EQ(frames[k].line, 0);
            }
            machsym_session_explain_addr(session, begin + rows[i].off, &told);
            CHECK_EQ(told.near_kind, MACHSYM_NEAR_NONE);
        }
        machsym_session_close(session);
    }
    machsym_image_close(image);
}

/* A map has the same lines and marks, and answers for its own policy alone. */
static void test_map(void)
{
    machsym_image *image = test_open(FIXTURE);
    machsym_map *map = build_map(image, MACHSYM_LINES_PEOPLE, 0);
    CHECK(map != NULL);
    for (size_t i = 0; map != NULL && i < ROWS; i++) {
        machsym_map_frame found[ROOM];
        machsym_frame frames[ROOM];
        char text[4096];
        uint64_t addr = begin + rows[i].off;
        size_t count = machsym_map_frames_at_addr(map, addr, found, ROOM);
        machsym_map_names(map, found, count < ROOM ? count : (size_t)ROOM, frames, text, sizeof text);
        check_frames(&rows[i], addr, frames, count);
    }
    machsym_open_desc opened;
    memset(&opened, 0, sizeof opened);
    opened.bytes = machsym_map_bytes(map);
    machsym_image *on_map = test_open_desc(&opened);
    for (unsigned lines = 0; lines < MACHSYM_LINES_COUNT; lines++) {
        machsym_session_desc how;
        machsym_session *session = NULL;
        memset(&how, 0, sizeof how);
        how.image = on_map;
        how.lines = (machsym_lines)lines;
        machsym_result want = lines == MACHSYM_LINES_PEOPLE ? MACHSYM_OK : MACHSYM_ERR_POLICY;
        CHECK_EQ(machsym_session_open(&how, &session, NULL), want);
        machsym_session_close(session);
    }
    machsym_image_close(on_map);
    machsym_map_close(map);
    machsym_image_close(image);
}

/* A frame near by that a caller hands to a writer is one in the map; a line of more than 31 bits is cut. */
static void test_writer(void)
{
    static const uint32_t lines[] = {0, 1, 58, 0x7fffffff, 0x80000000, UINT32_MAX};
    machsym_map_info info;
    machsym_writer_desc desc;
    machsym_writer *writer = NULL;
    machsym_map *map = NULL;
    memset(&info, 0, sizeof info);
    memset(&desc, 0, sizeof desc);
    info.lines = MACHSYM_LINES_PEOPLE;
    desc.info = &info;
    CHECK_EQ(machsym_writer_open(&desc, &writer, NULL), MACHSYM_OK);
    for (uint64_t i = 0; i < 12; i++) {
        machsym_map_range range = {0x1000 + i * 16, 0x1010 + i * 16, false};
        machsym_frame frame;
        memset(&frame, 0, sizeof frame);
        frame.name = test_str("f");
        frame.file.name = test_str(B);
        frame.function_start = 0x1000;
        frame.line = lines[i / 2];
        frame.name_source = MACHSYM_SOURCE_DWARF;
        frame.line_source = i % 2 == 0 ? MACHSYM_SOURCE_DWARF : MACHSYM_SOURCE_NEAR;
        CHECK_EQ(machsym_writer_add(writer, &range, &frame, 1, NULL), MACHSYM_OK);
    }
    CHECK_EQ(machsym_writer_finish(writer, &map, NULL), MACHSYM_OK);
    for (uint64_t i = 0; map != NULL && i < 12; i++) {
        machsym_map_frame found;
        CHECK_EQ(machsym_map_frames_at_addr(map, 0x1000 + i * 16, &found, 1), 1);
        CHECK_EQ(found.line, lines[i / 2] < 0x7fffffff ? lines[i / 2] : 0x7fffffff);
        CHECK_EQ(found.line_source, i % 2 == 0 ? MACHSYM_SOURCE_DWARF : MACHSYM_SOURCE_NEAR);
    }
    machsym_map_close(map);
}

int main(void)
{
    test_places();
    test_order();
    test_damage();
    test_explanations();
    test_literal();
    test_map();
    test_writer();
    return test_done();
}
