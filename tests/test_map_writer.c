/* Writing maps range by range, and maps that lie: cut short, flipped bits under a right checksum, packed text
 * that leads astray. Opening gives a clear error, or lookups stay within bounds (run it under
 * AddressSanitizer) and end. */
#define TEST_ROOM <rooms/src/map/writer.h>
#include "maps.h"
#include "repair.h"

static map_answer got;

static machsym_str str(const char *c_string)
{
    machsym_str out = {c_string, strlen(c_string)};
    return out;
}

static machsym_map_info test_info(void)
{
    machsym_map_info info;
    memset(&info, 0, sizeof info);
    info.name = str("Image");
    info.uuid.v[0] = 0xab;
    info.cputype = 0x0100000c;
    info.text_addr = 0x100000000;
    info.text_size = 0x10000;
    info.lines = MACHSYM_LINES_STMT;
    return info;
}

static machsym_allocator no_allocator(void)
{
    machsym_allocator none;
    memset(&none, 0, sizeof none);
    return none;
}

static machsym_frame test_frame(const char *linkage_name, const char *file, uint32_t line)
{
    machsym_frame frame;
    memset(&frame, 0, sizeof frame);
    frame.linkage_name = str(linkage_name);
    frame.name = str("name");
    frame.file.comp_dir = str("/src");
    frame.file.name = str(file);
    frame.line = line;
    frame.column = 7;
    frame.function_start = 0x100001000;
    frame.function_size = 0x40;
    frame.name_source = MACHSYM_SOURCE_DWARF;
    frame.line_source = MACHSYM_SOURCE_DWARF;
    return frame;
}

static machsym_writer *open_writer(uint32_t flags)
{
    machsym_map_info info = test_info();
    machsym_writer *writer = NULL;
    info.flags = flags;
    CHECK_EQ(open_writer_of(&info, &writer), MACHSYM_OK);
    return writer;
}

/* Two functions, the first with a call inlined into it; a symbol after them. */
static machsym_map *write_map(uint32_t flags)
{
    machsym_writer *writer = open_writer(flags);
    machsym_map *map = NULL;
    machsym_map_range range = {0x100001000, 0x100001010, false};
    machsym_frame frames[2] = {test_frame("_Z5innerv", "in.h", 3), test_frame("_Z5outerv", "out.c", 10)};
    frames[0].is_inline = true;
    CHECK_EQ(machsym_writer_add(writer, &range, frames, 2, NULL), MACHSYM_OK);
    range.lo = 0x100001010;
    range.hi = 0x100001040;
    frames[1].line = 11;
    CHECK_EQ(machsym_writer_add(writer, &range, &frames[1], 1, NULL), MACHSYM_OK);
    range.lo = 0x100002000;
    range.hi = 0x100002100;
    range.is_symbol = true;
    machsym_frame symbol;
    memset(&symbol, 0, sizeof symbol);
    symbol.linkage_name = str("-[Class method:]");
    symbol.function_start = range.lo;
    symbol.function_size = 0x100;
    symbol.name_source = MACHSYM_SOURCE_SYMTAB;
    CHECK_EQ(machsym_writer_add(writer, &range, &symbol, 1, NULL), MACHSYM_OK);
    CHECK_EQ(machsym_writer_finish(writer, &map, NULL), MACHSYM_OK);
    return map;
}

/* ---- What is written can be read ---- */

static void check_contents(uint32_t flags)
{
    machsym_map *made = write_map(flags);
    machsym_map *map = reopen_map(made, 0);
    machsym_map_info info;
    machsym_map_get_info(map, &info);
    CHECK(same_str(info.name, str("Image")));
    CHECK_EQ(info.uuid.v[0], 0xab);
    CHECK_TEXT(info.arch, "arm64");
    CHECK_EQ(info.text_addr, 0x100000000);
    CHECK_EQ(info.lines, MACHSYM_LINES_STMT);
    CHECK_EQ(info.flags, flags);
    ask_map(map, 0x10000100f, &got);
    CHECK_EQ(got.count, 2);
    CHECK_STR(got.frames[0].linkage_name, "_Z5innerv");
    CHECK_STR(got.frames[0].file.name, "in.h");
    CHECK_EQ(got.frames[0].line, 3);
    CHECK_EQ(got.frames[0].column, flags & MACHSYM_MAP_COLUMNS ? 7 : 0);
    CHECK(got.frames[0].is_inline);
    CHECK_STR(got.frames[1].linkage_name, "_Z5outerv");
    CHECK_STR(got.frames[1].name, "name");
    CHECK_STR(got.frames[1].file.comp_dir, "/src");
    CHECK_EQ(got.frames[1].line, 10);
    CHECK_EQ(got.frames[1].function_start, 0x100001000);
    CHECK_EQ(got.frames[1].function_size, 0x40);
    ask_map(map, 0x100001010, &got);
    CHECK_EQ(got.count, 1);
    CHECK_EQ(got.frames[0].line, 11);
    ask_map(map, 0x1000020ff, &got);
    CHECK_EQ(got.count, 1);
    CHECK_STR(got.frames[0].linkage_name, "-[Class method:]");
    CHECK_EQ(got.frames[0].name_source, MACHSYM_SOURCE_SYMTAB);
    CHECK_EQ(got.frames[0].line_source, MACHSYM_SOURCE_NONE);
    static const uint64_t nothing[] = {0x100000fff, 0x100001040, 0x100001fff, 0x100002100};
    for (size_t i = 0; i < 4; i++)
        CHECK_EQ(machsym_map_frames_at_addr(map, nothing[i], NULL, 0), 0);
    machsym_cursor at = {0, 0};
    machsym_map_range range;
    static const uint64_t starts[] = {0x100001000, 0x100001010, 0x100002000};
    for (size_t i = 0; i < 3; i++) {
        CHECK(machsym_map_next(map, &at, &range));
        CHECK_EQ(range.lo, starts[i]);
        CHECK_EQ(range.is_symbol, i == 2);
    }
    CHECK(!machsym_map_next(map, &at, &range));
    machsym_map_close(map);
    machsym_map_close(made);
}

/* Neighbours that say the same become one range; many ranges and functions come back as they were. */
static void check_many(void)
{
    enum { COUNT = 5000 };
    machsym_writer *writer = open_writer(0);
    machsym_map *map = NULL;
    char name[32];
    size_t wrong = 0;
    size_t ranges = 0;
    for (uint64_t i = 0; i < COUNT; i++) {
        machsym_map_range range = {0x100000000 + 8 * i, 0x100000008 + 8 * i, false};
        snprintf(name, sizeof name, "function%u", (unsigned)(i / 7));
        machsym_frame frame = test_frame(name, i % 3 == 0 ? "a.c" : "b.c", (uint32_t)(i % 11 * 100));
        frame.function_start = 0x100000000 + 56 * (i / 7);
        if (machsym_writer_add(writer, &range, &frame, 1, NULL) != MACHSYM_OK)
            wrong++;
    }
    CHECK_EQ(machsym_writer_finish(writer, &map, NULL), MACHSYM_OK);
    for (uint64_t i = 0; i < COUNT; i++) {
        ask_map(map, 0x100000003 + 8 * i, &got);
        snprintf(name, sizeof name, "function%u", (unsigned)(i / 7));
        wrong += got.count != 1 || !same_str(got.frames[0].linkage_name, str(name)) ||
                 !same_str(got.frames[0].file.name, str(i % 3 == 0 ? "a.c" : "b.c")) ||
                 got.frames[0].line != i % 11 * 100;
    }
    machsym_cursor at = {0, 0};
    machsym_map_range range;
    while (machsym_map_next(map, &at, &range))
        ranges++;
    CHECK_EQ(wrong, 0);
    CHECK_EQ(ranges, COUNT);
    machsym_map_close(map);

    writer = open_writer(0);
    for (uint64_t i = 0; i < 100; i++) {
        machsym_map_range same = {0x100000000 + 8 * i, 0x100000008 + 8 * i, false};
        machsym_frame frame = test_frame("f", "a.c", 1);
        CHECK_EQ(machsym_writer_add(writer, &same, &frame, 1, NULL), MACHSYM_OK);
    }
    CHECK_EQ(machsym_writer_finish(writer, &map, NULL), MACHSYM_OK);
    at.a = at.b = 0;
    CHECK(machsym_map_next(map, &at, &range));
    CHECK_EQ(range.hi, 0x100000000 + 800);
    CHECK(!machsym_map_next(map, &at, &range));
    machsym_map_close(map);
}

/* Frame number i of a chain for a run whose fields have other widths than usual: lines and columns of 4 bytes,
 * numbers of files and links of 2, functions far from their code. */
static machsym_frame wide_frame(size_t i, char *file)
{
    snprintf(file, 16, "%u.c", (unsigned)(i % 400));
    machsym_frame frame = test_frame(i % 2 != 0 ? "odd" : "even", file, (uint32_t)(i % 5 * 0x4000000));
    frame.column = (uint32_t)(i % 3 * 0x8000000);
    frame.name_source = i % 7 == 0 ? MACHSYM_SOURCE_SYMTAB : MACHSYM_SOURCE_DWARF;
    frame.function_start = 0xff00000000000000u;
    frame.function_size = (uint64_t)1 << 60;
    frame.is_inline = true;
    return frame;
}

/* A chain of 600 links and code far apart, beside usual runs: lookups, single and in a batch, have what was
 * written. */
static void check_widths(void)
{
    enum { DEPTH = 600, LATER = 200 };
    static char files[DEPTH][16];
    static machsym_frame frames[DEPTH];
    static machsym_map_frame found[2 * DEPTH];
    const size_t told =
        MACHSYM_MAX_INLINE_DEPTH; /* calls; those between them and the function are left out */
    machsym_writer *writer = open_writer(MACHSYM_MAP_COLUMNS);
    machsym_map_range range = {0x100001000, 0x100001010, false};
    machsym_map *map = NULL;
    machsym_answer answers[2];
    size_t wrong = 0;
    for (size_t i = 0; i < DEPTH; i++)
        frames[i] = wide_frame(i, files[i]);
    frames[DEPTH - 1].is_inline = false;
    wrong += machsym_writer_add(writer, &range, frames, DEPTH, NULL) != MACHSYM_OK;
    range.lo = 0x100001010;
    range.hi = 0x100801010; /* the next range starts above 64 KB */
    wrong += machsym_writer_add(writer, &range, frames + DEPTH - 1, 1, NULL) != MACHSYM_OK;
    for (uint64_t i = 0; i < LATER; i++) {
        machsym_map_range usual = {0x100801010 + 8 * i, 0x100801018 + 8 * i, false};
        machsym_frame frame = test_frame("usual", "usual.c", (uint32_t)i);
        frame.column = 0;
        wrong += machsym_writer_add(writer, &usual, &frame, 1, NULL) != MACHSYM_OK;
    }
    CHECK_EQ(machsym_writer_finish(writer, &map, NULL), MACHSYM_OK);
    static const uint64_t asked[] = {0x100001008, 0x100701010};
    CHECK_EQ(machsym_map_frames_at_addrs(map, asked, 2, answers, found, 2 * DEPTH), told + 2);
    CHECK_EQ(answers[0].count, told + 1);
    CHECK_EQ(answers[1].first, told + 1);
    CHECK_EQ(answers[1].count, 1);
    frames[told] = frames[DEPTH - 1];
    for (size_t i = 0; i <= told; i++) {
        const machsym_map_frame *frame = &found[i];
        machsym_frame named;
        char text[64];
        machsym_map_names(map, frame, 1, &named, text, sizeof text);
        wrong += frame->lacks_callers != (i + 1 == told);
        wrong += frame->line != frames[i].line || frame->column != frames[i].column ||
                 frame->name_source != frames[i].name_source || frame->is_inline != frames[i].is_inline ||
                 frame->function_start != frames[i].function_start ||
                 frame->function_size != frames[i].function_size ||
                 !same_str(named.file.name, frames[i].file.name) ||
                 !same_str(named.linkage_name, frames[i].linkage_name);
    }
    CHECK_EQ(found[told + 1].line, frames[DEPTH - 1].line); /* of the second address */
    for (uint64_t i = 0; i < LATER; i++) {
        ask_map(map, 0x100801013 + 8 * i, &got);
        wrong += got.count != 1 || got.frames[0].line != i || !same_str(got.frames[0].name, str("name"));
    }
    CHECK_EQ(wrong, 0);
    machsym_map_close(map);
}

/* Texts that end at every byte around the end of a block, with the last one of the map among them: a session
 * reads them as they were written, and nothing after them (as MSan and valgrind see). */
static void check_block_ends(void)
{
    static char long_name[1100];
    memset(long_name, 'x', sizeof long_name);
    size_t wrong = 0;
    for (size_t len = 900; len < 1060; len++) {
        machsym_writer *writer = open_writer(0);
        machsym_map *map = NULL;
        machsym_map_range range = {0x100001000, 0x100001010, false};
        machsym_frame frame = test_frame("first", "a.c", 1);
        machsym_frame found;
        frame.linkage_name.len = 0;
        wrong += machsym_writer_add(writer, &range, &frame, 1, NULL) != MACHSYM_OK;
        range.lo = 0x100001010;
        range.hi = 0x100001020;
        frame = test_frame("second", "b.c", 2);
        frame.linkage_name.ptr = long_name;
        frame.linkage_name.len = len;
        wrong += machsym_writer_add(writer, &range, &frame, 1, NULL) != MACHSYM_OK;
        CHECK_EQ(machsym_writer_finish(writer, &map, NULL), MACHSYM_OK);
        machsym_open_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.bytes = machsym_map_bytes(map);
        machsym_image *image = test_open_desc(&desc);
        machsym_session *session = test_session(image, MACHSYM_LINES_STMT, 0);
        wrong += machsym_session_frames_at_addr(session, 0x100001010, &found, 1) != 1 ||
                 !same_str(found.linkage_name, frame.linkage_name) || !same_str(found.name, frame.name) ||
                 !same_str(found.file.name, frame.file.name);
        machsym_session_close(session);
        machsym_image_close(image);
        machsym_map_close(map);
    }
    CHECK_EQ(wrong, 0);
}

/* Many runs at one place, and one that is far away: buckets are large, and one leads to a list of runs. */
static void check_crowded(void)
{
    enum { COUNT = 5000 };
    machsym_writer *writer = open_writer(0);
    machsym_map *map = NULL;
    machsym_frame frame = test_frame("f", "a.c", 1);
    machsym_map_range range = {0x1f0000000, 0x1f0000010, false};
    size_t wrong = 0;
    for (uint64_t i = 0; i < COUNT; i++) {
        machsym_map_range one = {0x100000100 + 2 * i, 0x100000101 + 2 * i, false};
        frame.line = (uint32_t)i + 1;
        wrong += machsym_writer_add(writer, &one, &frame, 1, NULL) != MACHSYM_OK;
    }
    wrong += machsym_writer_add(writer, &range, &frame, 1, NULL) != MACHSYM_OK;
    CHECK_EQ(machsym_writer_finish(writer, &map, NULL), MACHSYM_OK);
    CHECK(map->head.tables[ms_MAP_INDEX].len < 4096);
    CHECK(ms_rd_raw_u32(ms_map_table_bytes(map, ms_MAP_INDEX).ptr) > ms_MAP_LAST_RUN);
    for (uint64_t i = 0; i < COUNT; i++) {
        ask_map(map, 0x100000100 + 2 * i, &got);
        wrong += got.count != 1 || got.frames[0].line != i + 1;
        wrong += machsym_map_frames_at_addr(map, 0x100000101 + 2 * i, NULL, 0) != 0;
    }
    CHECK_EQ(machsym_map_frames_at_addr(map, 0x100000000, NULL, 0), 0);
    CHECK_EQ(machsym_map_frames_at_addr(map, 0x1f000000f, NULL, 0), 1);
    CHECK_EQ(machsym_map_frames_at_addr(map, 0x1f0000010, NULL, 0), 0);
    CHECK_EQ(wrong, 0);
    machsym_map_close(map);
}

/* A part of a map with every second one of some ranges of 4 bytes. */
static machsym_part *every_second(uint64_t first, uint64_t count, const ms_pk_dict *dict)
{
    machsym_part *part = ms_mg_new_part(ms_arena_default(no_allocator()));
    ms_en *c = &part->coder;
    c->text_addr = 0x100000000;
    c->most_gap = ms_EN_MOST_GAP;
    for (uint64_t i = first; i < count; i += 2) {
        ms_en_item item = {c->text_addr + 4 * i, c->text_addr + 4 * i + 4, 0, {0, (uint32_t)i + 1, 0}};
        item.chain = ms_en_root(c, MACHSYM_SOURCE_DWARF, ms_en_function(c, str("f"), str("")), item.lo, 4);
        ms_en_add(c, &item);
    }
    CHECK(ms_mg_end_part(part, dict));
    return part;
}

/* Parts whose ranges alternate: the run of each stands in the map once for every gap in the other. */
static void check_alternating(void)
{
    enum { COUNT = 1000 };
    static ms_pk_dict dict;
    ms_mg m;
    ms_map_head head;
    machsym_part *parts[2] = {every_second(0, COUNT, &dict), every_second(1, COUNT, &dict)};
    machsym_map *map = NULL;
    size_t wrong = 0;
    memset(&m, 0, sizeof m);
    memset(&head, 0, sizeof head);
    m.allocator = ms_arena_default(no_allocator());
    m.arena = ms_arena_make(m.allocator);
    m.parts = parts;
    m.part_count = 2;
    m.text_addr = head.text_addr = 0x100000000;
    head.version = ms_MAP_VERSION;
    m.symbols = every_second(0, 0, &dict);
    ms_mg_sort_pieces(&m);
    CHECK_EQ(ms_mg_finish(&m, &head, str("x"), &dict, &map, NULL), MACHSYM_OK);
    ms_mg_close(&m);
    machsym_map *opened = reopen_map(map, 0);
    machsym_cursor at = {0, 0};
    machsym_map_range range;
    for (uint64_t i = 0; i < COUNT; i++) {
        ask_map(opened, 0x100000000 + 4 * i + 3, &got);
        wrong += got.count != 1 || got.frames[0].line != i + 1 ||
                 got.frames[0].function_start != 0x100000000 + 4 * i;
        wrong += !machsym_map_next(opened, &at, &range) || range.lo != 0x100000000 + 4 * i ||
                 range.hi != range.lo + 4;
    }
    CHECK(!machsym_map_next(opened, &at, &range));
    CHECK_EQ(wrong, 0);
    machsym_map_close(opened);
    machsym_map_close(map);
}

/* How many frames of many lookups at once differ from those of each, with room for some in all. */
static size_t wrong_at_once(const machsym_map *map, const uint64_t *addrs, size_t count, size_t room)
{
    enum { COUNT = 100, CAP = 2 };
    machsym_answer answers[COUNT];
    machsym_map_frame all[COUNT * CAP];
    machsym_map_frame one[CAP];
    size_t wrong = 0;
    size_t total = 0;
    memset(all, 0, sizeof all);
    size_t told = machsym_map_frames_at_addrs(map, addrs, count, answers, room != 0 ? all : NULL, room);
    for (size_t i = 0; i < count; i++) {
        size_t found = machsym_map_frames_at_addr(map, addrs[i], one, CAP);
        wrong += answers[i].first != total || answers[i].count != found;
        for (size_t k = 0; k < found && k < CAP; k++, total++) {
            const machsym_map_frame *frame = &all[total];
            wrong += total < room && (frame->name_ref != one[k].name_ref || frame->line != one[k].line ||
                                      frame->file_ref != one[k].file_ref);
            wrong += total >= room && frame->line != 0; /* nothing is written past the room */
        }
    }
    return wrong + (told != total) + (total < 5);
}

/* Many lookups at once say what each says. */
static void check_at_once(void)
{
    enum { COUNT = 100, CAP = 2 };
    machsym_map *map = write_map(MACHSYM_MAP_COLUMNS);
    uint64_t addrs[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        addrs[i] = i == 7 ? 0 : 0x100000ff0 + 47 * i; /* one lies below the image */
    CHECK_EQ(wrong_at_once(map, addrs, COUNT, COUNT * CAP), 0);
    CHECK_EQ(wrong_at_once(map, addrs, COUNT, 1), 0); /* in the middle of an address's frames */
    CHECK_EQ(wrong_at_once(map, addrs, COUNT, 2), 0);
    CHECK_EQ(wrong_at_once(map, addrs, COUNT, 0), 0);
    machsym_map_close(map);
}

static void check_empty(void)
{
    machsym_map *map = NULL;
    CHECK_EQ(machsym_writer_finish(open_writer(0), &map, NULL), MACHSYM_OK);
    machsym_map *opened = reopen_map(map, 0);
    machsym_cursor at = {0, 0};
    machsym_map_range range;
    CHECK(!machsym_map_next(opened, &at, &range));
    CHECK_EQ(machsym_map_frames_at_addr(opened, 0x100000000, NULL, 0), 0);
    const uint64_t addrs[2] = {0x100000000, 0x100001000};
    machsym_answer answers[2] = {{7, 7}, {7, 7}};
    CHECK_EQ(machsym_map_frames_at_addrs(opened, addrs, 2, answers, NULL, 0), 0);
    CHECK_EQ(answers[0].count + answers[1].count, 0);
    machsym_map_close(opened);
    machsym_map_close(map);
}

/* ---- Wrong arguments ---- */

static void refuse(machsym_writer *writer, uint64_t lo, uint64_t hi, size_t count, machsym_result code)
{
    machsym_map_range range = {lo, hi, false};
    machsym_frame frame = test_frame("f", "a.c", 1);
    machsym_error err;
    CHECK_EQ(machsym_writer_add(writer, &range, &frame, count, &err), code);
    CHECK_EQ(err.code, code);
}

static void check_arguments(void)
{
    machsym_writer *writer = open_writer(0);
    machsym_map_info info = test_info();
    machsym_map *map = NULL;
    refuse(writer, 0x100001000, 0x100001010, 1, MACHSYM_OK);
    refuse(writer, 0x10000100f, 0x100001020, 1, MACHSYM_ERR_ARGUMENT); /* overlaps */
    refuse(writer, 0x100001020, 0x100001020, 1, MACHSYM_ERR_ARGUMENT); /* empty */
    refuse(writer, 0x100001020, 0x100001030, 0, MACHSYM_ERR_ARGUMENT);
    refuse(writer, 0x100001020, 0x300000000, 1, MACHSYM_ERR_LIMIT);    /* 4 GB and more */
    refuse(writer, 0x100001020, 0x100001030, 4097, MACHSYM_ERR_LIMIT); /* a chain no lookup would follow */
    refuse(writer, 0x100001020, 0x100001030, 1, MACHSYM_OK);
    CHECK_EQ(machsym_writer_finish(writer, &map, NULL), MACHSYM_OK);
    CHECK_EQ(machsym_map_frames_at_addr(map, 0x10000101f, NULL, 0), 0);
    CHECK_EQ(machsym_map_frames_at_addr(map, 0x100001020, NULL, 0), 1);
    machsym_map_close(map);
    writer = open_writer(0);
    refuse(writer, 0xffff0000, 0x100001010, 1, MACHSYM_ERR_ARGUMENT); /* below the text base */
    machsym_writer_close(writer);
    machsym_writer_close(NULL);
    machsym_map_desc nothing = desc_of_bytes(NULL, 0, 0);
    CHECK_EQ(machsym_writer_open(NULL, &writer, NULL), MACHSYM_ERR_ARGUMENT);
    CHECK_EQ(open_writer_of(NULL, &writer), MACHSYM_ERR_ARGUMENT);
    CHECK_EQ(open_writer_of(&info, NULL), MACHSYM_ERR_ARGUMENT);
    CHECK_EQ(machsym_map_open(NULL, &map, NULL), MACHSYM_ERR_ARGUMENT);
    CHECK_EQ(machsym_map_open(&nothing, &map, NULL), MACHSYM_ERR_ARGUMENT);
    nothing.path = "x";
    CHECK_EQ(machsym_map_open(&nothing, NULL, NULL), MACHSYM_ERR_ARGUMENT);
    machsym_plan *plan;
    machsym_plan_desc desc;
    memset(&desc, 0, sizeof desc);
    CHECK_EQ(machsym_plan_open(&desc, &plan, NULL), MACHSYM_ERR_ARGUMENT);
    machsym_plan_close(NULL);
    machsym_part_close(NULL);
}

/* Names and parts of a path of 64 KB are taken and come back; a byte more is refused, in whichever of them. */
static void check_long_texts(void)
{
    enum { TEXTS = 5 };
    char *text = (char *)malloc(MACHSYM_MAX_TEXT + 1);
    memset(text, 'x', MACHSYM_MAX_TEXT + 1);
    for (size_t i = 0; i < TEXTS; i++) {
        machsym_writer *writer = open_writer(0);
        machsym_map *map = NULL;
        machsym_map_range range = {0x100001000, 0x100001010, false};
        machsym_frame frame = test_frame("f", "a.c", 1);
        machsym_frame back;
        machsym_map_frame found;
        machsym_str *texts[TEXTS] = {&frame.name, &frame.linkage_name, &frame.file.comp_dir, &frame.file.dir,
                                     &frame.file.name};
        const machsym_str *backs[TEXTS] = {&back.name, &back.linkage_name, &back.file.comp_dir,
                                           &back.file.dir, &back.file.name};
        static char room[3 * MACHSYM_MAX_TEXT];
        machsym_error err;
        texts[i]->ptr = text;
        texts[i]->len = MACHSYM_MAX_TEXT + 1;
        CHECK_EQ(machsym_writer_add(writer, &range, &frame, 1, &err), MACHSYM_ERR_LIMIT);
        CHECK_TEXT(err.what, "a map holds names and paths of 64 KB at most");
        texts[i]->len = MACHSYM_MAX_TEXT;
        CHECK_EQ(machsym_writer_add(writer, &range, &frame, 1, &err), MACHSYM_OK);
        CHECK_EQ(machsym_writer_finish(writer, &map, NULL), MACHSYM_OK);
        CHECK_EQ(machsym_map_frames_at_addr(map, 0x100001000, &found, 1), 1);
        machsym_map_names(map, &found, 1, &back, room, sizeof room);
        CHECK(test_same(*backs[i], *texts[i]));
        machsym_map_close(map);
    }
    free(text);
}

static void check_plan_arguments(void)
{
    machsym_plan_desc desc;
    machsym_plan *plan = NULL;
    machsym_part *part = NULL;
    machsym_map *map = NULL;
    memset(&desc, 0, sizeof desc);
    machsym_image *image = test_open("tests/fixtures/bin/demo.app.dSYM");
    desc.image = image;
    desc.lines = MACHSYM_LINES_COUNT;
    CHECK_EQ(machsym_plan_open(&desc, &plan, NULL), MACHSYM_ERR_ARGUMENT);
    desc.lines = MACHSYM_LINES_DWARF;
    CHECK_EQ(machsym_plan_open(&desc, &plan, NULL), MACHSYM_OK);
    size_t count = machsym_plan_part_count(plan);
    CHECK(count > 0);
    CHECK(machsym_plan_part_size(plan, 0) > 0);
    CHECK_EQ(machsym_plan_part_size(plan, count), 0);
    CHECK_EQ(machsym_part_build(plan, count, &part, NULL), MACHSYM_ERR_ARGUMENT);
    CHECK_EQ(machsym_map_merge(plan, &part, count + 1, &map, NULL), MACHSYM_ERR_ARGUMENT);
    CHECK(map == NULL);
    machsym_plan_close(plan);
    machsym_image_close(image);
}

/* ---- Maps that lie ---- */

/* Asks a map everything; the sum keeps the compiler from leaving it out. */
static uint64_t use_map(const machsym_map *map)
{
    machsym_map_info info;
    machsym_cursor at = {0, 0};
    machsym_map_range range;
    uint64_t sum = 0;
    size_t ranges = 0;
    machsym_map_get_info(map, &info);
    sum += info.name.len != 0 ? (uint64_t)info.name.ptr[info.name.len - 1] : 0;
    while (machsym_map_next(map, &at, &range) && ranges++ < 1000) {
        uint64_t addrs[2] = {range.lo, range.hi - 1};
        for (size_t i = 0; i < 2; i++) {
            ask_map(map, addrs[i], &got);
            size_t count = got.count < MAPS_FRAMES ? got.count : MAPS_FRAMES;
            for (size_t k = 0; k < count; k++) {
                const machsym_frame *frame = &got.frames[k];
                for (size_t b = 0; b < frame->linkage_name.len; b++)
                    sum += (uint8_t)frame->linkage_name.ptr[b];
                for (size_t b = 0; b < frame->name.len; b++)
                    sum += (uint8_t)frame->name.ptr[b];
                for (size_t b = 0; b < frame->file.name.len; b++)
                    sum += (uint8_t)frame->file.name.ptr[b];
                for (size_t b = 0; b < frame->file.comp_dir.len + frame->file.dir.len; b++)
                    sum += b < frame->file.dir.len ? (uint8_t)frame->file.dir.ptr[b] : 0;
            }
        }
    }
    return sum;
}

static machsym_result try_bytes(const uint8_t *bytes, size_t len, uint32_t flags)
{
    /* memory of exactly this size, so that a byte past it is noticed */
    uint8_t *exact = (uint8_t *)malloc(len + (len == 0));
    machsym_map *map = NULL;
    machsym_error err;
    memcpy(exact, bytes, len);
    machsym_map_desc desc = desc_of_bytes(exact, len, flags);
    machsym_result result = machsym_map_open(&desc, &map, &err);
    if (result == MACHSYM_OK)
        use_map(map);
    else
        CHECK(err.code == result && err.what[0] != 0 && map == NULL);
    machsym_map_close(map);
    free(exact);
    return result;
}

static size_t stride(void)
{
    return test_is_quick() ? 31 : test_env("SAMPLE");
}

static void check_cut(const uint8_t *bytes, size_t len)
{
    uint8_t *copy = (uint8_t *)malloc(len);
    size_t opened = 0;
    test_begin();
    for (size_t cut = 0; cut < len; cut += stride()) {
        opened += try_bytes(bytes, cut, 0) == MACHSYM_OK;
        opened += try_bytes(bytes, cut, MACHSYM_MAP_UNCHECKED) == MACHSYM_OK;
        memcpy(copy, bytes, cut);
        repair_map(copy, cut);
        try_bytes(copy, cut, 0);
    }
    CHECK_EQ(opened, 0);
    test_end("a map cut short everywhere");
    free(copy);
}

static void check_flips(const uint8_t *bytes, size_t len)
{
    uint8_t *copy = (uint8_t *)malloc(len);
    size_t unnoticed = 0;
    size_t opened = 0;
    memcpy(copy, bytes, len);
    test_begin();
    for (size_t i = 0; i < len; i += stride()) {
        for (unsigned bit = 0; bit < 8; bit++) {
            copy[i] = (uint8_t)(bytes[i] ^ 1u << bit);
            unnoticed += try_bytes(copy, len, 0) == MACHSYM_OK;
            repair_map(copy, len);
            opened += try_bytes(copy, len, 0) == MACHSYM_OK;
            memcpy(copy, bytes, len);
        }
    }
    test_end("a map with each bit flipped");
    CHECK_EQ(unnoticed, 0); /* the checksum finds every one of them */
    CHECK(opened > 0);      /* and without it the damage gets as far as lookups */
    free(copy);
}

/* Several bytes at once, in the tables rather than in the text. */
static void check_scrambled(const uint8_t *bytes, size_t len)
{
    static const uint8_t favourites[] = {0, 1, 2, 0x7f, 0x80, 0xfe, 0xff};
    uint8_t *copy = (uint8_t *)malloc(len);
    uint64_t random = 0x9e3779b97f4a7c15u;
    size_t opened = 0;
    test_begin();
    for (size_t round = 0; round < 20000; round += stride()) {
        memcpy(copy, bytes, len);
        size_t count = 1 + next_random(&random) % 6;
        for (size_t i = 0; i < count; i++) {
            size_t at = (round & 1) != 0 ? 56 + next_random(&random) % 296 : next_random(&random) % len;
            copy[at % len] = favourites[next_random(&random) % sizeof favourites];
        }
        repair_map(copy, len);
        opened += try_bytes(copy, len, 0) == MACHSYM_OK;
    }
    CHECK(opened > 0);
    test_end("maps with several bytes changed");
    free(copy);
}

/* ---- A run whose head is damaged ---- */

enum { RUN_RANGES = 6000, RUN_STEP = 8 };

#define RUN_BASE 0x100001000u

static void patch(uint8_t *bytes, uint64_t at, uint32_t value, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        bytes[at + i] = (uint8_t)(value >> 8 * i);
}

/* A map of many runs, without symbols, which would answer in their place. */
static machsym_map *write_runs(uint32_t flags)
{
    machsym_writer *writer = open_writer(flags);
    machsym_map *map = NULL;
    test_begin();
    for (uint32_t i = 0; i < RUN_RANGES; i++) {
        machsym_map_range range = {RUN_BASE + i * RUN_STEP, RUN_BASE + (i + 1) * RUN_STEP, false};
        machsym_frame frame = test_frame(i % 2 == 0 ? "even" : "odd", "a.c", i + 1);
        frame.function_start = range.lo;
        CHECK_EQ(machsym_writer_add(writer, &range, &frame, 1, NULL), MACHSYM_OK);
    }
    test_end("ranges of a map of many runs");
    CHECK_EQ(machsym_writer_finish(writer, &map, NULL), MACHSYM_OK);
    return map;
}

/* A map that a callback reads. */
static size_t read_bytes(void *user, uint64_t offset, void *out, size_t len)
{
    const machsym_bytes *from = (const machsym_bytes *)user;
    memcpy(out, (const uint8_t *)from->ptr + offset, len);
    return len;
}

enum { BAD_ASKED = 4 }; /* addresses: two in the run that is damaged, and two in others */

static void check_answer(size_t i, const map_answer *want)
{
    if (i < 2)
        CHECK_EQ(got.count, 0);
    else
        CHECK(frames_differ(&got, &want[i], true) == NULL);
}

/* Asks a damaged map: in memory, in memory and checked piece by piece, or read by a callback. */
static void ask_damaged(int way, machsym_bytes *bytes, const uint64_t *addrs, const map_answer *want)
{
    machsym_open_desc desc;
    machsym_image *image = NULL;
    memset(&desc, 0, sizeof desc);
    test_begin();
    if (way == 0) {
        machsym_map_desc given = desc_of_bytes(bytes->ptr, bytes->len, 0);
        machsym_map *map = NULL;
        CHECK_EQ(machsym_map_open(&given, &map, NULL), MACHSYM_OK);
        for (size_t i = 0; i < BAD_ASKED; i++) {
            ask_map(map, addrs[i], &got);
            check_answer(i, want);
        }
        use_map(map); /* it ends, and stays within bounds */
        machsym_map_close(map);
        test_end("a map with a damaged head of a run");
        return;
    }
    desc.flags = MACHSYM_OPEN_BY_PAGES;
    if (way == 1) {
        desc.bytes = *bytes;
    } else {
        desc.io.read = read_bytes;
        desc.io.user = bytes;
        desc.io.size = bytes->len;
    }
    CHECK_EQ(machsym_image_open(&desc, &image, NULL), MACHSYM_OK);
    machsym_session *session = test_session(image, MACHSYM_LINES_STMT, 0);
    for (size_t i = 0; i < BAD_ASKED; i++) {
        ask_session(session, addrs[i], &got);
        check_answer(i, want);
    }
    machsym_session_close(session);
    machsym_image_close(image);
    test_end("a map with a damaged head of a run");
}

/* A number of the head of a run that cannot be: the run answers nothing then, and others what they did. */
static const struct {
    uint8_t at; /* in the head */
    uint8_t bytes;
    bool from_begin; /* the value counts from where the run begins */
    uint32_t value;
} bad_heads[] = {
    {20, 2, false, 0},         /* no ranges */
    {4, 4, false, 0x7fffffff}, /* longer than the table */
    {4, 4, false, 36},         /* shorter than its parts */
    {8, 4, true, 0},           /* ends where it begins */
    {16, 4, true, 1},          /* starts count from after its begin */
    {28, 1, false, 3},         /* widths that no field has */
    {29, 1, false, 3},         {30, 1, false, 5},      {31, 1, false, 5},      {32, 1, false, 7},
    {33, 1, false, 9},         {34, 1, false, 9},      {35, 1, false, 5},      {35, 1, false, 3},
    {35, 1, false, 0},         {35, 1, false, 255},    {26, 2, false, 0xffff}, /* more parts than there is room */
    {24, 2, false, 0xffff},    {22, 2, false, 0xffff}, {20, 2, false, 0xffff},
};

static void check_bad_heads(uint32_t flags)
{
    static map_answer want[BAD_ASKED];
    enum { DAMAGED = 3 }; /* the number of the run */
    machsym_map *map = write_runs(flags);
    machsym_bytes bytes = machsym_map_bytes(map);
    const uint8_t *whole = (const uint8_t *)bytes.ptr;
    uint8_t *copy = (uint8_t *)malloc(bytes.len);
    const ms_map_area *runs = &map->tables[ms_MAP_RUNS];
    uint64_t at = runs->at;
    for (size_t i = 0; i < DAMAGED; i++)
        at += ms_rd_raw_u32(whole + at + 4);
    uint64_t begin = ms_rd_raw_u32(whole + at);
    uint64_t end = ms_rd_raw_u32(whole + at + 8);
    CHECK(at > runs->at && at + ms_rd_raw_u32(whole + at + 4) < runs->at + runs->len && begin < end);
    /* its first and last range, and what lies in the first and the last run */
    uint64_t addrs[BAD_ASKED] = {0x100000000u + begin, 0x100000000u + end - 1, RUN_BASE,
                                 RUN_BASE + RUN_RANGES * RUN_STEP - 1};
    for (size_t i = 0; i < BAD_ASKED; i++) {
        ask_map(map, addrs[i], &want[i]);
        CHECK_EQ(want[i].count, 1);
    }
    for (size_t i = 0; i < sizeof bad_heads / sizeof bad_heads[0]; i++) {
        machsym_bytes given = {copy, bytes.len};
        uint32_t value = bad_heads[i].value + (bad_heads[i].from_begin ? (uint32_t)begin : 0);
        memcpy(copy, whole, bytes.len);
        patch(copy, at + bad_heads[i].at, value, bad_heads[i].bytes);
        repair_map(copy, bytes.len);
        for (int way = 0; way < 3; way++)
            ask_damaged(way, &given, addrs, want);
    }
    free(copy);
    machsym_map_close(map);
}

/* ---- A directory that is damaged ---- */

static machsym_result open_by(int way, machsym_bytes *bytes, machsym_image **out)
{
    machsym_open_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.flags = MACHSYM_OPEN_BY_PAGES;
    desc.bytes = *bytes;
    if (way == 1) {
        desc.bytes.ptr = NULL;
        desc.bytes.len = 0;
        desc.io.read = read_bytes;
        desc.io.user = bytes;
        desc.io.size = bytes->len;
    }
    return machsym_image_open(&desc, out, NULL);
}

static uint8_t *row_of(uint8_t *map, uint32_t kind)
{
    uint8_t *row = map + ms_MAP_HEAD;
    while (ms_rd_raw_u32(row) != kind)
        row += ms_MAP_ROW;
    return row;
}

/* A map is refused if a row of it leads out of the map, or has another checksum than its bytes. Nothing past
 * the map is read for such a row. */
static void check_bad_rows(void)
{
    static const uint32_t kinds[] = {ms_MAP_NAME, ms_MAP_PAGES};
    machsym_map *map = write_map(0);
    machsym_bytes bytes = machsym_map_bytes(map);
    machsym_image *image = NULL;
    uint8_t *copy = (uint8_t *)malloc(bytes.len);
    machsym_bytes given = {copy, bytes.len};
    const uint64_t places[] = {bytes.len + 1, UINT64_MAX - 7};
    for (size_t kind = 0; kind < 2; kind++) {
        for (size_t field = 8; field <= 24; field += 8) { /* where it is, how long; the checksum of PAGES */
            for (size_t i = 0; i < 2; i++) {
                if (field == 24 && kinds[kind] != ms_MAP_PAGES)
                    continue;
                memcpy(copy, bytes.ptr, bytes.len);
                ms_map_store_u64(row_of(copy, kinds[kind]) + field, places[i]);
                ms_map_store_u64(copy + 72,
                                 ms_map_sum_head(ms_span_make(copy, bytes.len), ms_rd_raw_u32(copy + 60)));
                machsym_result want = field == 24 ? MACHSYM_ERR_CHECKSUM : MACHSYM_ERR_DAMAGED;
                CHECK_EQ(try_bytes(copy, bytes.len, 0), want);
                for (int way = 0; way < 2; way++)
                    CHECK_EQ(open_by(way, &given, &image), want);
            }
        }
    }
    free(copy);
    machsym_map_close(map);
}

/* A map that is read piece by piece and whose name is damaged opens without one, and says that it is damaged. */
static void check_lost_name(void)
{
    machsym_map *map = write_runs(0);
    machsym_bytes bytes = machsym_map_bytes(map);
    uint8_t *copy = (uint8_t *)malloc(bytes.len);
    machsym_bytes given = {copy, bytes.len};
    memcpy(copy, bytes.ptr, bytes.len);
    copy[ms_rd_raw_u64(row_of(copy, ms_MAP_NAME) + 8)] ^= 1;
    CHECK_EQ(try_bytes(copy, bytes.len, 0), MACHSYM_ERR_CHECKSUM);
    for (int way = 0; way < 2; way++) {
        machsym_image *image = NULL;
        machsym_image_info info;
        CHECK_EQ(open_by(way, &given, &image), MACHSYM_OK);
        machsym_image_get_info(image, &info);
        CHECK_EQ(info.name.len, 0);
        CHECK(info.damage_count > 0);
        machsym_image_close(image);
    }
    free(copy);
    machsym_map_close(map);
}

static void check_hostile(const machsym_map *map)
{
    machsym_bytes bytes = machsym_map_bytes(map);
    const uint8_t *p = (const uint8_t *)bytes.ptr;
    CHECK_EQ(try_bytes(p, bytes.len, 0), MACHSYM_OK);
    check_cut(p, bytes.len);
    check_flips(p, bytes.len);
    check_scrambled(p, bytes.len);
}

static void check_versions(void)
{
    machsym_map *map = write_map(0);
    machsym_bytes bytes = machsym_map_bytes(map);
    uint8_t *copy = (uint8_t *)malloc(bytes.len);
    memcpy(copy, bytes.ptr, bytes.len);
    copy[0] = 'm';
    CHECK_EQ(try_bytes(copy, bytes.len, 0), MACHSYM_ERR_FORMAT);
    copy[0] = 'M';
    copy[8]++;
    CHECK_EQ(try_bytes(copy, bytes.len, 0), MACHSYM_ERR_VERSION);
    copy[8]--;
    ms_map_store_u64(copy + 40, UINT64_MAX - 1000); /* a text base from which addresses would wrap around */
    repair_map(copy, bytes.len);
    CHECK_EQ(try_bytes(copy, bytes.len, 0), MACHSYM_ERR_DAMAGED);
    memcpy(copy, bytes.ptr, bytes.len);
    copy[bytes.len - 1] ^= 1;
    CHECK_EQ(try_bytes(copy, bytes.len, 0), MACHSYM_ERR_CHECKSUM);
    CHECK_EQ(try_bytes(copy, bytes.len, MACHSYM_MAP_UNCHECKED), MACHSYM_OK);
    free(copy);
    machsym_map_close(map);
}

/* ---- Packed text ---- */

/* A chain of `depth` inlined calls, written past the writer's check. Returns the number of frames that the
 * map has there. */
static size_t frames_of_depth(size_t depth)
{
    machsym_writer *writer = open_writer(0);
    ms_en *c = &writer->parts[0]->coder;
    machsym_map *map = NULL;
    const ms_map_line line = {0, 1, 0};
    uint32_t function = ms_en_function(c, str("f"), str("f"));
    ms_en_item item = {0x100001000, 0x100001010, 0, line};
    item.chain = ms_en_root(c, MACHSYM_SOURCE_DWARF, function, 0x100001000, 16);
    for (size_t i = 0; i < depth; i++)
        item.chain = ms_en_call(c, item.chain, MACHSYM_SOURCE_DWARF, function, &line);
    ms_en_add(c, &item);
    CHECK_EQ(machsym_writer_finish(writer, &map, NULL), MACHSYM_OK);
    size_t count = machsym_map_frames_at_addr(map, 0x100001000, NULL, 0);
    machsym_map_close(map);
    return count;
}

static void check_depth(void)
{
    CHECK_EQ(frames_of_depth(4095), MACHSYM_MAX_INLINE_DEPTH + 1);
    CHECK_EQ(frames_of_depth(4096), 0); /* damage: its walk could take long */
}

/* Unpacks piece by piece, as names are read: each step goes on where the one before stopped. */
static void check_in_steps(ms_span dict, ms_span packed, const uint8_t *whole, size_t len, size_t step)
{
    uint8_t room[ms_PK_BLOCK + 16];
    ms_rd rd = ms_rd_make(packed);
    size_t at = 0;
    for (size_t want = step; want < ms_PK_BLOCK + step; want += step)
        at = ms_pk_unpack(dict, &rd, room, at, want < ms_PK_BLOCK ? want : ms_PK_BLOCK);
    CHECK(at == len && memcmp(room, whole, len) == 0);
}

/* Unpacks hostile bytes into room that is guarded on both sides. */
static size_t unpack(const uint8_t *packed, size_t len)
{
    static const uint8_t dict[64] = "a dictionary";
    struct {
        uint8_t before[64];
        uint8_t room[ms_PK_BLOCK + 16]; /* matches are copied in steps of 8 */
        uint8_t after[64];
    } out;
    memset(&out, 0x55, sizeof out);
    uint8_t *exact = (uint8_t *)malloc(len + (len == 0));
    if (len > 0)
        memcpy(exact, packed, len);
    ms_rd rd = ms_rd_make(ms_span_make(exact, len));
    size_t got_len = ms_pk_unpack(ms_span_make(dict, sizeof dict), &rd, out.room, 0, ms_PK_BLOCK);
    check_in_steps(ms_span_make(dict, sizeof dict), ms_span_make(exact, len), out.room, got_len,
                   1 + len % 97);
    free(exact);
    bool touched = false;
    for (size_t i = 0; i < sizeof out.before; i++)
        touched |= out.before[i] != 0x55 || out.after[i] != 0x55;
    CHECK(!touched);
    return got_len;
}

static void check_unpack(void)
{
    static const uint8_t literals[] = {0x30, 'a', 'b', 'c'};
    static const uint8_t match[] = {0x14, 'a', 1, 0, 0x10, 'b'}; /* a, then 8 more of them, then b */
    static const uint8_t from_dict[] = {0x00, 64, 0, 0x10, '!'};
    static const uint8_t back_zero[] = {0x10, 'a', 0, 0, 0};
    static const uint8_t back_far[] = {0x10, 'a', 0xff, 0xff, 0};
    static const uint8_t no_literals[] = {0xf0, 255, 255, 255, 255, 255, 0};
    static const uint8_t endless[] = {0x1f, 'a', 1, 0, 255, 255, 255, 255, 255, 255, 0};
    static const uint8_t cut[] = {0x1f, 'a', 1};
    CHECK_EQ(unpack(literals, sizeof literals), 3);
    CHECK_EQ(unpack(match, sizeof match), 10);
    CHECK_EQ(unpack(from_dict, sizeof from_dict), 5);
    CHECK_EQ(unpack(back_zero, sizeof back_zero), 1);
    CHECK_EQ(unpack(back_far, sizeof back_far), 1);
    CHECK(unpack(no_literals, sizeof no_literals) <= ms_PK_BLOCK);
    CHECK(unpack(endless, sizeof endless) <= ms_PK_BLOCK);
    CHECK_EQ(unpack(cut, sizeof cut), 1);
    CHECK_EQ(unpack(NULL, 0), 0);
    uint8_t noise[300];
    uint64_t random = 12345;
    test_begin();
    for (size_t round = 0; round < 20000; round += stride()) {
        size_t len = next_random(&random) % sizeof noise;
        for (size_t i = 0; i < len; i++)
            noise[i] = (uint8_t)(next_random(&random) >> (round % 8));
        CHECK(unpack(noise, len) <= ms_PK_BLOCK);
    }
    test_end("noise is unpacked within its room");
}

/* What is packed comes back, for texts that repeat themselves, repeat the dictionary, or do neither. */
static void check_pack(void)
{
    static ms_pk_dict dict;
    uint64_t random = 99;
    test_begin();
    for (size_t round = 0; round < 3000; round++) {
        uint8_t text[ms_PK_BLOCK];
        uint8_t packed[2 * ms_PK_BLOCK];
        uint8_t back[ms_PK_BLOCK + 16];
        unsigned letters = 1 + (unsigned)(round % 40);
        dict.len = round % 3 == 0 ? 0 : 200 + round % 100;
        for (size_t i = 0; i < dict.len; i++)
            dict.text[i] = (uint8_t)('a' + next_random(&random) % letters);
        ms_pk_index_dict(&dict);
        for (size_t i = 0; i < sizeof text; i++) {
            bool from_dict = dict.len > 0 && i % 100 < 50;
            text[i] = from_dict ? dict.text[i % dict.len] : (uint8_t)('a' + next_random(&random) % letters);
        }
        size_t len = ms_pk_pack(&dict, text, sizeof text, packed);
        memset(back, 0, sizeof back);
        ms_span words = ms_span_make(dict.text, dict.len);
        ms_rd rd = ms_rd_make(ms_span_make(packed, len));
        size_t got_len = ms_pk_unpack(words, &rd, back, 0, ms_PK_BLOCK);
        CHECK(got_len == sizeof text && memcmp(text, back, sizeof text) == 0);
        check_in_steps(words, ms_span_make(packed, len), text, sizeof text, 1 + round % 200);
    }
    test_end("what is packed comes back");
}

int main(void)
{
    check_contents(0);
    check_contents(MACHSYM_MAP_COLUMNS);
    check_contents(MACHSYM_MAP_CHUNK | MACHSYM_MAP_DAMAGED); /* a chunk of a map that says so says so too */
    check_contents(MACHSYM_MAP_CHUNK);
    check_many();
    check_widths();
    check_block_ends();
    check_crowded();
    check_alternating();
    check_at_once();
    check_empty();
    check_arguments();
    check_long_texts();
    check_bad_heads(0);
    check_bad_heads(MACHSYM_MAP_COLUMNS);
    check_bad_rows();
    check_lost_name();
    check_plan_arguments();
    check_versions();
    check_depth();
    check_unpack();
    check_pack();
    machsym_map *map = write_map(MACHSYM_MAP_COLUMNS);
    check_hostile(map);
    machsym_map_close(map);
    machsym_image *image = test_open("tests/fixtures/bin/demo.app.dSYM");
    map = build_map(image, MACHSYM_LINES_STMT, 0);
    machsym_image_close(image);
    check_hostile(map);
    machsym_map_close(map);
    return test_done();
}
