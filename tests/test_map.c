/* Symbol maps of every slice of every fixture, and of real files: the map answers as a session does, whatever
 * the line policy; it has the same bytes whatever the number of threads and the order of the parts; chunks of
 * it answer as it does. */
#define TEST_ROOM <rooms/src/image/image.h>
#include "maps.h"

#include "../src/symmap/symmap.h"

#include <pthread.h>
#include <unistd.h>

#define BIN    "tests/fixtures/bin"
#define REAL   "tests/real"
#define CORPUS "../shared/corpus"

/* LAST_CHUNK: a range is checked in its first LAST_CHUNK + 1 chunks. A range may have a megabyte, and more
 * chunks of it would show nothing new. */
enum { RANDOM_ADDRESSES = 10000, EMULATED_ADDRESSES = 300, SHOWN = 5, LAST_CHUNK = 3 };

/* What is looked at. */
typedef struct subject {
    const char *path;
    const char *arch;
    machsym_image *image;
    machsym_image_info info;
    machsym_session *on_map; /* on the map at hand, opened as an image */
    uint64_t random;
    size_t checked;
    size_t wrong;
    size_t stride; /* every stride-th range and random address is asked for */
} subject;

static map_answer got;
static map_answer want;
static map_answer kept;
static machsym_frame again[MAPS_FRAMES];
static size_t random_addresses = RANDOM_ADDRESSES;
static size_t compared; /* addresses, in all */

/* ---- A map against a session ---- */

/* Compares the map's answer with that of a session on the map. The session is trimmed now and then, so that
 * it keeps little. */
static const char *kept_names_differ(subject *s, uint64_t addr)
{
    if (s->checked % 64 == 0)
        machsym_session_trim(s->on_map);
    kept.count = machsym_session_frames_at_addr(s->on_map, addr, kept.frames, MAPS_FRAMES);
    size_t count = kept.count < MAPS_FRAMES ? kept.count : MAPS_FRAMES;
    if (machsym_session_frames_at_addr(s->on_map, addr, again, MAPS_FRAMES) != kept.count)
        return "count";
    if (machsym_session_lacked_memory(s->on_map))
        return "memory";
    for (size_t i = 0; i < count; i++) { /* names that are kept stay where they are */
        if (again[i].linkage_name.ptr != kept.frames[i].linkage_name.ptr ||
            again[i].name.ptr != kept.frames[i].name.ptr)
            return "place";
    }
    return frames_differ(&got, &kept, true);
}

static void compare(subject *s, const machsym_map *map, machsym_session *session, bool columns, uint64_t addr)
{
    ask_map(map, addr, &got);
    ask_session(session, addr, &want);
    const char *differs = frames_differ(&got, &want, columns);
    if (differs == NULL && s->checked % 4 == 0)
        differs = kept_names_differ(s, addr);
    s->checked++;
    if (differs != NULL && s->wrong++ < SHOWN)
        printf("%s (%s): 0x%llx: another %s\n", s->path, s->arch, (unsigned long long)addr, differs);
}

static void compare_all(subject *s, const machsym_map *map, machsym_session *session, bool columns)
{
    machsym_cursor at = {0, 0};
    machsym_map_range range;
    uint64_t end = 0;
    uint64_t asked = 0; /* where the range ends that was asked for last */
    size_t disordered = 0;
    for (size_t i = 0; machsym_map_next(map, &at, &range); i++, end = range.hi) {
        disordered += range.lo >= range.hi || range.lo < end;
        if (i % s->stride != 0)
            continue;
        if (i == 0 || range.lo != asked) { /* else the range before has asked for both */
            compare(s, map, session, columns, range.lo - 1);
            compare(s, map, session, columns, range.lo);
        }
        compare(s, map, session, columns, range.hi - 1);
        compare(s, map, session, columns, range.hi);
        asked = range.hi;
    }
    CHECK_EQ(disordered, 0);
    uint64_t first = s->info.text_addr > 100 ? s->info.text_addr - 100 : 0;
    uint64_t span = s->info.text_size + 200;
    /* of a small program one for each instruction of four bytes: with more the same ones are asked again */
    uint64_t enough = span / 4 < random_addresses ? span / 4 : random_addresses;
    for (uint64_t i = 0; i < enough; i += s->stride)
        compare(s, map, session, columns, first + next_random(&s->random) % span);
    /* most of a small program's text is its header: some more where the code is */
    for (size_t i = 0; i < s->image->dw.code_count; i++) {
        const ms_range *code = &s->image->dw.code[i];
        for (size_t k = 0; k < 500 && code->hi > code->lo; k += s->stride)
            compare(s, map, session, columns, code->lo + next_random(&s->random) % (code->hi - code->lo));
    }
}

/* ---- Parts in any order, by any number of threads ---- */

typedef struct crew {
    const machsym_plan *plan;
    machsym_part **parts;
    size_t count;
    size_t next;
    pthread_mutex_t lock;
    bool failed;
} crew;

static void *crew_member(void *user)
{
    crew *c = (crew *)user;
    for (;;) {
        pthread_mutex_lock(&c->lock);
        size_t index = c->next > 0 ? --c->next : c->count; /* backwards: the order must not matter */
        pthread_mutex_unlock(&c->lock);
        if (index == c->count)
            return NULL;
        if (machsym_part_build(c->plan, index, &c->parts[index], NULL) != MACHSYM_OK) {
            pthread_mutex_lock(&c->lock);
            c->failed = true;
            pthread_mutex_unlock(&c->lock);
        }
    }
}

static machsym_map *build_with_threads(const machsym_image *image, uint32_t flags, size_t threads)
{
    pthread_t ids[8];
    machsym_plan_desc desc;
    machsym_plan *plan = NULL;
    machsym_map *map = NULL;
    crew c;
    memset(&desc, 0, sizeof desc);
    memset(&c, 0, sizeof c);
    desc.image = image;
    desc.flags = flags;
    CHECK_EQ(machsym_plan_open(&desc, &plan, NULL), MACHSYM_OK);
    if (plan == NULL)
        return NULL;
    c.plan = plan;
    c.count = c.next = machsym_plan_part_count(plan);
    c.parts = (machsym_part **)calloc(c.count + 1, sizeof(machsym_part *));
    pthread_mutex_init(&c.lock, NULL);
    for (size_t i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, crew_member, &c);
    for (size_t i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    pthread_mutex_destroy(&c.lock);
    CHECK(!c.failed);
    CHECK_EQ(machsym_map_merge(plan, c.parts, c.count, &map, NULL), MACHSYM_OK);
    for (size_t i = 0; i < c.count; i++)
        CHECK(c.parts[i] == NULL);
    free(c.parts);
    machsym_plan_close(plan);
    return map;
}

static void check_threads(const subject *s, const machsym_map *map, uint32_t flags)
{
    static const size_t threads[] = {1, 2, 7};
    for (size_t i = 0; i < 3; i++) {
        machsym_map *other = build_with_threads(s->image, flags, threads[i]);
        CHECK(other != NULL && same_bytes(map, other));
        machsym_map_close(other);
    }
}

/* ---- Chunks ---- */

/* The ranges of a map. A chunk goes through them all, and decoding them each time would be most of the test. */
typedef struct range_list {
    machsym_map_range *v;
    size_t count;
} range_list;

static range_list list_ranges(const machsym_map *map)
{
    range_list ranges = {NULL, 0};
    machsym_map_range range;
    for (int pass = 0; pass < 2; pass++) { /* counts them, then keeps them */
        machsym_cursor at = {0, 0};
        for (ranges.count = 0; machsym_map_next(map, &at, &range); ranges.count++) {
            if (pass != 0)
                ranges.v[ranges.count] = range;
        }
        if (pass == 0)
            ranges.v = (machsym_map_range *)calloc(ranges.count + 1, sizeof *ranges.v);
    }
    return ranges;
}

typedef struct chunk {
    machsym_writer *writer;
    machsym_map *map;
    uint64_t number;
    bool is_symbol;
} chunk;

/* Whether a chunk says of [lo, hi) what the map says, as far as it is asked: range by range. */
static void check_chunk(subject *s, const machsym_map *map, const range_list *ranges, chunk *c, uint64_t size)
{
    machsym_map_info info;
    machsym_cursor at = {0, 0};
    machsym_map_range found;
    CHECK_EQ(machsym_writer_finish(c->writer, &c->map, NULL), MACHSYM_OK);
    c->writer = NULL;
    if (c->map == NULL)
        return;
    machsym_map *opened = reopen_map(c->map, 0);
    machsym_map_get_info(opened, &info);
    CHECK((info.flags & MACHSYM_MAP_CHUNK) != 0);
    uint64_t lo = s->info.text_addr + c->number * size;
    size_t wrong = 0;
    size_t outside = 0;
    for (size_t k = 0; k < ranges->count; k++) {
        const machsym_map_range *range = &ranges->v[k];
        if (range->is_symbol != c->is_symbol || range->hi <= lo || range->lo >= lo + size ||
            c->number > (range->lo - s->info.text_addr) / size + LAST_CHUNK)
            continue;
        uint64_t ends[2] = {range->lo < lo ? lo : range->lo, range->hi - 1};
        for (size_t i = 0; i < 2; i++) {
            ask_map(opened, ends[i], &got);
            ask_map(map, ends[i], &want);
            wrong += frames_differ(&got, &want, true) != NULL;
        }
    }
    while (machsym_map_next(opened, &at, &found))
        outside += found.hi <= lo || found.lo >= lo + size;
    CHECK_EQ(wrong, 0);
    CHECK_EQ(outside, 0); /* exactly the ranges that touch it */
    machsym_map_close(opened);
    machsym_map_close(c->map);
}

static void check_chunks(subject *s, const machsym_map *map, uint64_t size)
{
    machsym_map_info info;
    range_list ranges = list_ranges(map);
    chunk open[2];
    size_t refused = 0;
    memset(open, 0, sizeof open);
    machsym_map_get_info(map, &info);
    info.flags |= MACHSYM_MAP_CHUNK;
    for (size_t i = 0; i < ranges.count; i++) {
        const machsym_map_range *range = &ranges.v[i];
        chunk *c = &open[range->is_symbol];
        uint64_t first = (range->lo - info.text_addr) / size;
        uint64_t last = (range->hi - 1 - info.text_addr) / size;
        last = last > first + LAST_CHUNK ? first + LAST_CHUNK : last;
        for (uint64_t number = first; number <= last; number++) {
            if (number % s->stride != 0)
                continue;
            if (c->writer != NULL && c->number != number)
                check_chunk(s, map, &ranges, c, size);
            if (c->writer == NULL)
                CHECK_EQ(open_writer_of(&info, &c->writer), MACHSYM_OK);
            c->number = number;
            c->is_symbol = range->is_symbol;
            ask_map(map, range->lo, &want);
            refused += machsym_writer_add(c->writer, range, want.frames, want.count, NULL) != MACHSYM_OK;
        }
    }
    for (size_t i = 0; i < 2; i++) {
        if (open[i].writer != NULL)
            check_chunk(s, map, &ranges, &open[i], size);
    }
    free(ranges.v);
    CHECK_EQ(refused, 0);
}

/* ---- All files ---- */

static void check_info(const subject *s, const machsym_map *map, machsym_lines lines, uint32_t flags)
{
    machsym_map_info info;
    machsym_map_get_info(map, &info);
    CHECK(same_str(info.name, s->info.name));
    CHECK(memcmp(&info.uuid, &s->info.slice.uuid, sizeof info.uuid) == 0);
    CHECK_EQ(info.cputype, s->info.slice.cputype);
    CHECK_EQ(info.cpusubtype, s->info.slice.cpusubtype);
    CHECK_EQ(info.text_addr, s->info.text_addr);
    CHECK_EQ(info.text_size, s->info.text_size);
    CHECK_EQ(info.lines, lines);
    CHECK_EQ(info.flags, flags);
    CHECK_EQ(info.size, machsym_map_bytes(map).len);
    CHECK_EQ(machsym_map_addr_of_pc(map, 0x12340000, 0x12345679),
             machsym_image_addr_of_pc(s->image, 0x12340000, 0x12345679));
}

static void check_policy(subject *s, machsym_lines lines, uint32_t flags)
{
    machsym_map *made = build_map(s->image, lines, flags | MACHSYM_MAP_DAMAGED);
    test_begin(); /* a file by a policy is a case */
    CHECK(made != NULL);
    if (made == NULL) {
        test_end(s->path);
        return;
    }
    machsym_map *map = reopen_map(made, 0);
    machsym_session *session = test_session(s->image, lines, 0);
    machsym_session_counts counts;
    machsym_session_count_all(session, &counts);
    bool is_damaged = s->info.damage_count + counts.damaged_units + counts.damaged_metadata != 0;
    machsym_open_desc opened;
    memset(&opened, 0, sizeof opened);
    opened.bytes = machsym_map_bytes(map);
    machsym_image *image = test_open_desc(&opened);
    s->on_map = test_session(image, lines, 0);
    s->checked = s->wrong = 0;
    check_info(s, map, lines, flags | (is_damaged ? (uint32_t)MACHSYM_MAP_DAMAGED : 0u));
    compare_all(s, map, session, flags != 0);
    compared += s->checked;
    CHECK_EQ(s->wrong, 0); /* the addresses of one map and policy are one check */
    if (lines == MACHSYM_LINES_ATOS && flags == 0) {
        check_threads(s, made, MACHSYM_MAP_DAMAGED);
    }
    if ((lines == MACHSYM_LINES_ATOS || lines == MACHSYM_LINES_PEOPLE) && flags == 0 &&
        s->info.text_size < (4 << 20))
        check_chunks(s, map, s->info.text_size < 65536 ? 100 : 10000);
    machsym_session_close(session);
    machsym_session_close(s->on_map);
    machsym_image_close(image);
    machsym_map_close(map);
    machsym_map_close(made);
    test_end(s->path);
}

static void check_slice(const char *path, const machsym_slice *slice)
{
    machsym_open_desc desc;
    subject s;
    memset(&desc, 0, sizeof desc);
    memset(&s, 0, sizeof s);
    desc.path = path;
    desc.arch = slice->arch;
    desc.uuid = slice->has_uuid ? &slice->uuid : NULL;
    s.path = path;
    s.arch = slice->arch;
    s.random = 88172645463325252u;
    s.stride = test_env("SAMPLE");
    if (machsym_image_open(&desc, &s.image, NULL) != MACHSYM_OK)
        return; /* what cannot be opened is the subject of other tests */
    CHECK(machsym_image_count_damage(s.image, &s.info));
    check_policy(&s, MACHSYM_LINES_ATOS, 0);
    check_policy(&s, MACHSYM_LINES_DWARF, 0);
    check_policy(&s, MACHSYM_LINES_STMT, MACHSYM_MAP_COLUMNS);
    check_policy(&s, MACHSYM_LINES_PEOPLE, 0);
    machsym_image_close(s.image);
}

static size_t check_folder(const char *folder)
{
    file_list files;
    size_t slices_seen = 0;
    memset(&files, 0, sizeof files);
    list_files(&files, folder);
    for (size_t i = 0; i < files.count; i++) {
        machsym_slice slices[16];
        machsym_open_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.path = files.v[i];
        size_t count = machsym_list_slices(&desc, slices, 16, NULL);
        for (size_t k = 0; k < count && k < 16; k++)
            check_slice(files.v[i], &slices[k]);
        slices_seen += count;
    }
    free_list(&files);
    return slices_seen;
}

/* ---- Damage ---- */

static machsym_result build_of(const test_file *file, size_t len, uint32_t flags, machsym_map **map,
                               machsym_error *err)
{
    machsym_plan_desc desc;
    machsym_image *image = test_open_bytes(file->ptr, len);
    memset(&desc, 0, sizeof desc);
    desc.image = image;
    desc.flags = flags;
    machsym_result result = machsym_map_build(&desc, map, err);
    machsym_image_close(image);
    return result;
}

/* What a map says of damage, by itself and as an image. */
static bool tells_damage(const machsym_map *map)
{
    machsym_map_info info;
    machsym_image_info image_info;
    machsym_map_get_info(map, &info);
    machsym_image *image = test_open_bytes(machsym_map_bytes(map).ptr, (size_t)info.size);
    machsym_image_get_info(image, &image_info);
    bool is_damaged = (info.flags & MACHSYM_MAP_DAMAGED) != 0;
    CHECK_EQ(image_info.damage_count, is_damaged);
    CHECK_TEXT(image_info.damage.what, is_damaged ? "the map was made of a damaged file" : "");
    CHECK(!image_info.damage.is_cut_short);
    machsym_image_close(image);
    return is_damaged;
}

/* No map is made of a file that is cut short, unless that is asked for. Then the map says so. */
static void check_cut(void)
{
    test_file file = test_read(BIN "/demo.app.dSYM/Contents/Resources/DWARF/demo");
    machsym_error err;
    machsym_map *map = NULL;
    for (size_t i = 1; i <= 30; i++) {
        size_t len = file.len - i * file.len / 40;
        CHECK_EQ(build_of(&file, len, 0, &map, &err), MACHSYM_ERR_DAMAGED);
        CHECK(map == NULL && err.where[0] != 0);
        CHECK_TEXT(err.what,
                   "the file is cut short; with MACHSYM_MAP_DAMAGED a map is made of what is there");
        CHECK_EQ(build_of(&file, len, MACHSYM_MAP_DAMAGED, &map, &err), MACHSYM_OK);
        CHECK(map != NULL && tells_damage(map));
        machsym_map_close(map);
    }
    CHECK_EQ(build_of(&file, file.len, MACHSYM_MAP_DAMAGED, &map, &err), MACHSYM_OK);
    CHECK(!tells_damage(map)); /* of a whole file it does not */
    machsym_map_close(map);
    free(file.ptr);
}

/* A damaged unit costs itself. The map is made without a word, and its flags and its part tell. */
static void check_damaged_unit(void)
{
    test_file file = test_read(BIN "/demo.app.dSYM/Contents/Resources/DWARF/demo");
    machsym_open_desc open;
    machsym_plan_desc desc;
    machsym_section section;
    machsym_cursor at = {0, 0};
    machsym_part_info counts;
    memset(&open, 0, sizeof open);
    memset(&desc, 0, sizeof desc);
    open.bytes.ptr = file.ptr;
    open.bytes.len = file.len;
    machsym_image *image = test_open_desc(&open);
    while (machsym_image_next_section(image, &at, &section) &&
           !test_same(section.name, test_str("__debug_info")))
        continue;
    memset(file.ptr + section.offset + 200, 0xff, 16); /* abbreviation codes that are not declared */
    desc.image = image;
    machsym_plan *plan = NULL;
    machsym_part *parts[8] = {NULL};
    machsym_map *map = NULL;
    CHECK_EQ(machsym_plan_open(&desc, &plan, NULL), MACHSYM_OK);
    size_t count = machsym_plan_part_count(plan);
    uint32_t units = 0;
    uint32_t damaged = 0;
    CHECK(count <= 8);
    for (size_t i = 0; i < count && i < 8; i++) {
        CHECK_EQ(machsym_part_build(plan, i, &parts[i], NULL), MACHSYM_OK);
        machsym_part_get_info(parts[i], &counts);
        units += counts.unit_count;
        damaged += counts.damaged_units;
    }
    CHECK_EQ(units, 2);
    CHECK_EQ(damaged, 1);
    CHECK_EQ(machsym_map_merge(plan, parts, count, &map, NULL), MACHSYM_OK);
    CHECK(tells_damage(map));
    machsym_map_close(map);
    machsym_plan_close(plan);
    machsym_image_close(image);
    free(file.ptr);
}

/* ---- Room ---- */

/* Counts work like snprintf; text that does not fit leaves names empty, and tells how much is needed. */
static void check_room(void)
{
    machsym_image *image = test_open(BIN "/demo.app.dSYM");
    machsym_map *map = build_map(image, MACHSYM_LINES_ATOS, 0);
    machsym_map_frame found[MAPS_FRAMES];
    machsym_frame frames[MAPS_FRAMES];
    char text[512];
    const uint64_t addr = 0x100000aec; /* has inlined calls: see the demo */
    size_t count = machsym_map_frames_at_addr(map, addr, NULL, 0);
    CHECK(count > 1);
    CHECK_EQ(machsym_map_frames_at_addr(map, addr, found, 1), count);
    CHECK_EQ(machsym_map_frames_at_addr(map, addr, found, MAPS_FRAMES), count);
    size_t need = machsym_map_names(map, found, count, frames, NULL, 0);
    CHECK_EQ(frames[0].linkage_name.len, 0); /* there was no room for it */
    CHECK(need > 0 && need < sizeof text);
    memset(text, '#', sizeof text);
    CHECK_EQ(machsym_map_names(map, found, count, frames, text, need), need);
    CHECK(frames[0].linkage_name.len > 0 || frames[0].name.len > 0);
    CHECK_EQ(text[need], '#');
    memset(text, '#', sizeof text);
    CHECK_EQ(machsym_map_names(map, found, count, frames, text, need - 1), need);
    CHECK_EQ(text[need - 1], '#');
    CHECK(frames[0].file.name.len > 0 && frames[0].file.name.ptr >= text); /* paths are in the text too */
    CHECK_EQ(machsym_map_frames_at_addr(map, 0, found, MAPS_FRAMES), 0);
    CHECK_EQ(machsym_map_frames_at_addr(map, UINT64_MAX, found, MAPS_FRAMES), 0);
    machsym_map_close(map);
    machsym_image_close(image);
}

/* The frames of many addresses in one call have what each has in a call of its own, in less text. */
static void check_names_of_many(void)
{
    enum { MOST = 4096, TEXT = 1 << 20 };
    machsym_image *image = test_open(BIN "/demo.app.dSYM");
    machsym_map *map = build_map(image, MACHSYM_LINES_ATOS, 0);
    machsym_map_frame *found = (machsym_map_frame *)calloc(MOST, sizeof *found);
    machsym_frame *frames = (machsym_frame *)calloc(MOST, sizeof *frames);
    char *text = (char *)malloc(TEXT);
    static char alone_text[MAPS_TEXT];
    size_t count = 0;
    size_t sum = 0;
    for (uint64_t addr = 0x100000000; addr < 0x100010000 && count + MAPS_FRAMES <= MOST; addr += 4)
        count += machsym_map_frames_at_addr(map, addr, found + count, MAPS_FRAMES);
    CHECK(count > 100);
    size_t need = machsym_map_names(map, found, count, frames, text, TEXT);
    test_begin();
    for (size_t i = 0; i < count; i++) {
        machsym_frame alone;
        sum += machsym_map_names(map, &found[i], 1, &alone, alone_text, sizeof alone_text);
        CHECK(same_str(frames[i].linkage_name, alone.linkage_name) && same_str(frames[i].name, alone.name));
        CHECK(same_path(&frames[i].file, &alone.file));
        CHECK_EQ(frames[i].line, alone.line);
    }
    test_end("names of many frames, and of each");
    CHECK(need <= TEXT && need < sum / 4);
    CHECK_EQ(machsym_map_names(map, found, count, frames, NULL, 0), need); /* as much as fits, or nothing */
    free(found);
    free(frames);
    free(text);
    machsym_map_close(map);
    machsym_image_close(image);
}

static machsym_result open_as_image(machsym_open_desc *desc, machsym_image **out)
{
    machsym_error err;
    machsym_result result = machsym_image_open(desc, out, &err);
    CHECK_EQ(err.code, result);
    CHECK_EQ(*out != NULL, result == MACHSYM_OK);
    return result;
}

/* What a map that was opened as an image says, and what it refuses. */
static void check_image_of_map(void)
{
    machsym_image *image = test_open("tests/fixtures/bin/demo.app.dSYM");
    machsym_map *map = build_map(image, MACHSYM_LINES_DWARF, 0);
    machsym_image_info info, own;
    machsym_open_desc desc;
    machsym_image *opened;
    machsym_session *session = NULL;
    machsym_plan *plan = NULL;
    machsym_cursor at = {0, 0}, here = {0, 0};
    machsym_section section;
    machsym_function function;
    machsym_map_range range;
    machsym_uuid other;
    machsym_image_get_info(image, &info);
    memset(&desc, 0, sizeof desc);
    memset(&other, 7, sizeof other);
    desc.bytes = machsym_map_bytes(map);
    desc.arch = "x86_64";
    CHECK_EQ(open_as_image(&desc, &opened), MACHSYM_ERR_ARCH);
    desc.arch = NULL;
    desc.uuid = &other;
    CHECK_EQ(open_as_image(&desc, &opened), MACHSYM_ERR_UUID);
    desc.uuid = NULL;
    desc.pair_path = "tests/fixtures/bin/demo";
    CHECK_EQ(open_as_image(&desc, &opened), MACHSYM_ERR_PAIR);
    desc.pair_path = NULL;
    desc.bytes.len--;
    CHECK_EQ(open_as_image(&desc, &opened), MACHSYM_ERR_DAMAGED);
    desc.bytes.len++;
    desc.arch = info.slice.arch;
    desc.uuid = &info.slice.uuid;
    CHECK_EQ(open_as_image(&desc, &opened), MACHSYM_OK);
    machsym_image_get_info(opened, &own);
    CHECK(own.map != NULL && info.map == NULL);
    CHECK(own.has_dwarf && own.slice.has_uuid && own.address_size == info.address_size);
    CHECK_EQ(own.text_addr, info.text_addr);
    CHECK_TEXT(own.slice.arch, info.slice.arch);
    CHECK(own.name.len == info.name.len && memcmp(own.name.ptr, info.name.ptr, info.name.len) == 0);
    CHECK_EQ(machsym_image_addr_of_pc(opened, 0x7000, 0x7123),
             machsym_image_addr_of_pc(image, 0x7000, 0x7123));
    CHECK(!machsym_image_next_section(opened, &at, &section));

    machsym_session_desc how;
    machsym_plan_desc what;
    memset(&how, 0, sizeof how);
    memset(&what, 0, sizeof what);
    how.image = what.image = opened;
    CHECK_EQ(machsym_session_open(&how, &session, NULL), MACHSYM_ERR_POLICY);
    CHECK_EQ(machsym_plan_open(&what, &plan, NULL), MACHSYM_ERR_UNSUPPORTED);
    CHECK(session == NULL && plan == NULL);
    /* lines 0 are filled alike from a map and from a dSYM */
    session = test_session(opened, MACHSYM_LINES_DWARF, MACHSYM_SESSION_BEST_LINE);
    size_t opened_memory = machsym_session_memory(session);
    machsym_session *direct = test_session(image, MACHSYM_LINES_DWARF, MACHSYM_SESSION_BEST_LINE);
    CHECK(!machsym_session_next_function(session, &here, &function));
    for (at.a = at.b = 0; machsym_map_next(map, &at, &range);) {
        ask_session(direct, range.lo, &want);
        ask_session(session, range.lo, &got);
        CHECK(frames_differ(&got, &want, false) == NULL);
    }
    CHECK(machsym_session_memory(session) > opened_memory);
    machsym_session_trim(session);
    CHECK_EQ(machsym_session_memory(session), opened_memory);
    machsym_session_close(session);
    machsym_session_close(direct);
    machsym_image_close(opened);
    machsym_map_close(map);
    machsym_image_close(image);
}

/* A map goes to a file and comes back. */
static void check_file(void)
{
    char path[64];
    machsym_error err;
    machsym_map *again = NULL;
    machsym_image *image = test_open(BIN "/demo.app.dSYM");
    machsym_map *map = build_map(image, MACHSYM_LINES_ATOS, 0);
    snprintf(path, sizeof path, "/tmp/machsym-test-map-%ld", (long)getpid());
    CHECK_EQ(machsym_map_save(map, path, &err), MACHSYM_OK);
    machsym_map_desc desc = desc_of_bytes(NULL, 0, 0);
    desc.path = path;
    for (uint32_t flags = 0; flags <= (MACHSYM_MAP_UNCHECKED | MACHSYM_MAP_COPY);
         flags += MACHSYM_MAP_UNCHECKED) {
        desc.flags = flags;
        CHECK_EQ(machsym_map_open(&desc, &again, &err), MACHSYM_OK);
        CHECK(again != NULL && same_bytes(map, again));
        machsym_map_close(again);
    }
    remove(path);
    CHECK_EQ(machsym_map_open(&desc, &again, &err), MACHSYM_ERR_IO);
    CHECK(again == NULL && err.os_errno != 0);
    CHECK_EQ(machsym_map_save(map, "/nowhere/at/all", &err), MACHSYM_ERR_IO);
    CHECK(err.os_errno != 0);
    machsym_map_close(NULL);
    machsym_map_close(map);
    machsym_image_close(image);
}

/* The lookup in bytes that the manual walks through: when this fails, the manual is out of date too. */
static void check_manual(void)
{
    static const uint8_t head[] = {0x40, 9, 0,  0, 0x6e, 1, 0, 0, 0xf0, 0x0a, 0, 0, 0, 0, 0, 0, 0x40, 9,
                                   0,    0, 36, 0, 7,    0, 6, 0, 3,    0,    1, 1, 2, 0, 4, 2, 1,    2};
    static const uint8_t root[] = {1, 0x7c, 2, 0, 0, 0xa7, 2, 0x5c};
    static const uint8_t file[] = {0x4a, 2, 0, 0};
    static const uint8_t range[] = {0x0e, 3, 6, 0};
    static const uint8_t calls[] = {8,    2, 0x13, 0, 0x9e, 2, 0,    0, 0x0c, 3, 0x13, 0,
                                    0xf8, 1, 0,    0, 0x0d, 3, 0x0d, 0, 0x22, 2, 0,    0};
    machsym_image *image = test_open(BIN "/demo.app.dSYM");
    machsym_map *map = build_map(image, MACHSYM_LINES_ATOS, 0);
    const ms_map_table *tables = map->head.tables;
    ms_span runs = ms_map_table_bytes(map, ms_MAP_RUNS);
    CHECK_EQ(map->head.version, 3);
    CHECK_EQ(tables[ms_MAP_INDEX].at, 0x170);
    CHECK_EQ(tables[ms_MAP_INDEX].a, 7);
    CHECK_EQ(tables[ms_MAP_INDEX].b, 19);
    CHECK_EQ(tables[ms_MAP_RUNS].at, 0x1c0);
    CHECK_EQ(tables[ms_MAP_TEXT].at, 0x338);
    CHECK_EQ(runs.len, 0x16e);
    CHECK(runs.len == 0x16e && memcmp(runs.ptr, head, sizeof head) == 0);
    CHECK(runs.len == 0x16e && memcmp(runs.ptr + 0x9a, root, sizeof root) == 0);
    CHECK(runs.len == 0x16e && memcmp(runs.ptr + 0xaa, file, sizeof file) == 0);
    CHECK(runs.len == 0x16e && memcmp(runs.ptr + 0x13a, range, sizeof range) == 0);
    CHECK(runs.len == 0x16e && memcmp(runs.ptr + 0x156, calls, sizeof calls) == 0);
    machsym_map_close(map);
    machsym_image_close(image);
}

int main(void)
{
    const char *emulator = getenv("RUN");
    bool quick = test_is_quick(); /* the fixtures, fewer addresses */
    if (quick || (emulator != NULL && emulator[0] != 0))
        random_addresses = EMULATED_ADDRESSES;
    check_room();
    check_names_of_many();
    check_file();
    check_image_of_map();
    check_manual();
    check_cut();
    check_damaged_unit();
    CHECK(check_folder(BIN) > 50);
    CHECK(check_folder(REAL) > 10);
    if (!quick && check_folder(CORPUS) == 0)
        test_leave_out(CORPUS, "it is not here");
    printf("%zu addresses compared\n", compared);
    return test_done();
}
