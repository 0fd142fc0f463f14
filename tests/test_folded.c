/* Stacks and functions of equal code: every address of the fixtures as a stack of its own and with callers, what a full answer and
 * a short one have in common, damaged files, and memory that runs out. The truth of a stack whose callers decide nothing is
 * machsym_session_frames_at_addr; tests/folded.sh holds what they decide against the source. */
#include "counters.h"
#include "failer.h"
#include "variants.h"

#include "machsym.h"

enum { FRAMES = 64, CALLS = 3, MOST = 3000, FLIPS = 60 };

static const char *const files[] = {
    "tests/fixtures/bin/folded-arm64-gnu.dwarf",
    "tests/fixtures/bin/folded-arm64-all.dwarf",
    "tests/fixtures/bin/folded-arm64-stated.dwarf",
    "tests/fixtures/bin/folded-arm64-symbols.dwarf",
    "tests/fixtures/bin/folded-arm64-thunks.dwarf",
    "tests/fixtures/bin/folded-arm64-cpp.dwarf",
    "tests/fixtures/bin/renamed-arm64-d4-22.dwarf",
    "tests/fixtures/bin/zoo-x86_64-d5-22.dwarf",
    "tests/fixtures/bin/cross-arm64-d5-22.dwarf",
    "tests/fixtures/bin/inline-x86_64-d2-14.dwarf",
    "tests/real/TNSWidgets.dwarf",
    "tests/fixtures/bin/inline-arm64-d5-aranges-die.dwarf",
    "tests/fixtures/bin/objc-cold-arm64-d4-22.dwarf",
};

enum { FILES = sizeof files / sizeof files[0], FOLDED = 7, EACH_BYTE = 4 };

static bool same_text(machsym_str a, machsym_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static bool same_frame(const machsym_frame *a, const machsym_frame *b)
{
    return same_text(a->linkage_name, b->linkage_name) && same_text(a->name, b->name) && a->line == b->line &&
           a->function_start == b->function_start && same_text(a->file.name, b->file.name);
}

/* The functions of an address: the first is that of a lookup, and there are no more than the limit. */
static size_t ask_folded(machsym_session *session, uint64_t addr, bool is_sound)
{
    machsym_frame frames[FRAMES];
    machsym_frame first[FRAMES];
    machsym_explanation why;
    machsym_cursor at = {0, 0};
    size_t functions = 0;
    size_t count = machsym_session_frames_at_addr(session, addr, first, FRAMES);
    size_t got;
    machsym_session_explain_addr(session, addr, &why);
    while ((got = machsym_session_next_folded_at_addr(session, addr, &at, frames, FRAMES)) > 0) {
        if (functions == 0 && is_sound) {
            CHECK(got == count);
            for (size_t i = 0; i < got && i < count && i < FRAMES; i++)
                CHECK(same_frame(&frames[i], &first[i]));
        }
        functions++;
        if (functions > MACHSYM_MAX_FOLDED)
            break;
    }
    CHECK(functions <= MACHSYM_MAX_FOLDED);
    CHECK(!is_sound || (functions > 0) == (count > 0));
    return functions;
}

/* A stack: a full answer, one that is too long for its room, and one without room say the same numbers. */
static void ask_stack(machsym_session *session, const machsym_stack_addr *pcs, size_t count, bool is_sound)
{
    machsym_frame frames[CALLS * FRAMES];
    machsym_frame few[2];
    machsym_frame alone[FRAMES];
    machsym_stack_answer calls[CALLS];
    machsym_stack_answer again[CALLS];
    size_t total = machsym_session_frames_of_stack(session, pcs, count, calls, frames, CALLS * FRAMES);
    size_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += calls[i].count;
    CHECK(sum == total);
    CHECK(machsym_session_frames_of_stack(session, pcs, count, again, NULL, 0) == total || !is_sound);
    size_t short_total = machsym_session_frames_of_stack(session, pcs, count, again, few, 2);
    CHECK(short_total == total || !is_sound);
    for (size_t i = 0; i < count && is_sound; i++) {
        CHECK(again[i].count == calls[i].count && again[i].function_count == calls[i].function_count &&
              again[i].is_decided == calls[i].is_decided);
        CHECK(!calls[i].is_decided || calls[i].function_count > 1);
        if (pcs[i].addr == UINT64_MAX) {
            CHECK(calls[i].count == 0 && calls[i].function_count == 0);
            continue;
        }
        size_t got = machsym_session_frames_at_addr(session, pcs[i].addr - pcs[i].is_return, alone, FRAMES);
        CHECK(calls[i].is_decided || got == calls[i].count);
        for (size_t k = 0; k < got && k < FRAMES && !calls[i].is_decided && calls[i].first + k < total; k++)
            CHECK(same_frame(&alone[k], &frames[calls[i].first + k]));
    }
}

static machsym_section code_of(const machsym_image *image)
{
    machsym_section code;
    machsym_cursor at = {0, 0};
    memset(&code, 0, sizeof code);
    while (machsym_image_next_section(image, &at, &code) && !code.is_code) {
    }
    return code;
}

/* Asks for addresses of the code, each innermost, called by the one before and by one elsewhere. */
static size_t ask_all(const machsym_image *image, const machsym_session_desc *how, uint64_t step,
                      bool is_sound)
{
    machsym_session *session = NULL;
    machsym_section code = code_of(image);
    uint64_t before = UINT64_MAX;
    size_t several = 0;
    if (machsym_session_open(how, &session, NULL) != MACHSYM_OK)
        return 0;
    for (uint64_t off = 0; off < code.size && off < step * MOST; off += step) {
        uint64_t addr = code.addr + off;
        machsym_stack_addr pcs[CALLS] = {
            {addr, false}, {before, before != UINT64_MAX}, {code.addr + code.size - off, true}};
        several += ask_folded(session, addr, is_sound) > 1;
        ask_stack(session, pcs, CALLS, is_sound);
        before = off % 64 == 0 ? UINT64_MAX : addr;
    }
    machsym_session_close(session);
    return several;
}

/* Every return address of a caller, over every function with a body that several share. */
static void ask_callers(const machsym_image *image, const machsym_session_desc *how, uint64_t step,
                        bool is_sound)
{
    uint64_t bodies[8];
    size_t count = 0;
    size_t decided = 0;
    machsym_session *session = NULL;
    machsym_section code = code_of(image);
    machsym_frame frames[CALLS * FRAMES];
    machsym_stack_answer calls[CALLS];
    if (machsym_session_open(how, &session, NULL) != MACHSYM_OK)
        return;
    for (uint64_t off = 0; off < code.size && off < 4 * MOST && count < 8; off += 4) {
        if (ask_folded(session, code.addr + off, is_sound) > 1)
            bodies[count++] = code.addr + off;
    }
    for (size_t i = 0; i < count; i++) {
        for (uint64_t off = 4; off < code.size && off < 4 * MOST; off += step) {
            machsym_stack_addr pcs[2] = {{bodies[i], false}, {code.addr + off, true}};
            machsym_session_frames_of_stack(session, pcs, 2, calls, frames, CALLS * FRAMES);
            decided += calls[0].is_decided;
        }
    }
    CHECK(!is_sound || count == 0 || decided > 0);
    machsym_session_close(session);
}

static machsym_image *open_bytes(const void *ptr, size_t len, const machsym_allocator *allocator)
{
    machsym_open_desc desc;
    machsym_image *image = NULL;
    memset(&desc, 0, sizeof desc);
    desc.bytes.ptr = (const uint8_t *)ptr;
    desc.bytes.len = len;
    if (allocator != NULL)
        desc.allocator = *allocator;
    return machsym_image_open(&desc, &image, NULL) == MACHSYM_OK ? image : NULL;
}

static void test_sound(void)
{
    for (size_t i = 0; i < FILES; i++) {
        variant_file file = variant_read(files[i]);
        machsym_image *image = open_bytes(file.ptr, file.len, NULL);
        CHECK(image != NULL);
        size_t several = 0;
        for (int lines = 0; lines < 4; lines++) {
            machsym_session_desc how;
            memset(&how, 0, sizeof how);
            how.image = image;
            how.lines = (machsym_lines)lines;
            several += ask_all(image, &how, i < FOLDED ? 4 : 28, true);
            if (i + 1 < FOLDED && lines == 0)
                ask_callers(image, &how, 4, true);
        }
        CHECK(i + 1 >= FOLDED || several > 0);
        machsym_image_close(image);
        free(file.ptr);
    }
}

static machsym_image *open_program(const char *pair)
{
    static const machsym_oso_prefix prefix = {"map-", "tests/fixtures/bin/map-"};
    machsym_open_desc desc;
    machsym_image *image = NULL;
    memset(&desc, 0, sizeof desc);
    desc.path = "tests/fixtures/bin/map-folded-arm64/program";
    desc.pair_path = pair;
    desc.flags = pair == NULL ? MACHSYM_OPEN_NO_PAIR : 0;
    desc.oso_prefixes = &prefix;
    desc.oso_prefix_count = 1;
    CHECK(machsym_image_open(&desc, &image, NULL) == MACHSYM_OK);
    return image;
}

/* A stack has the same answer from object files as from the dSYM of the same link. */
static size_t compare_stack(machsym_session *objects, machsym_session *dsym, uint64_t addr, uint64_t caller)
{
    machsym_stack_addr pcs[2] = {{addr, false}, {caller, true}};
    machsym_frame got[2 * FRAMES];
    machsym_frame want[2 * FRAMES];
    machsym_stack_answer calls[2];
    machsym_stack_answer wanted[2];
    size_t count = machsym_session_frames_of_stack(objects, pcs, 2, calls, got, 2 * FRAMES);
    machsym_session_frames_of_stack(dsym, pcs, 2, wanted, want, 2 * FRAMES);
    for (int i = 0; i < 2; i++) {
        CHECK(calls[i].function_count <= wanted[i].function_count);
        if (calls[i].function_count < wanted[i].function_count)
            return 0; /* a function of another object file has the code, too */
    }
    CHECK(!calls[0].is_decided || wanted[0].is_decided);
    if (calls[0].is_decided != wanted[0].is_decided)
        return 0; /* the call is in another object file */
    for (size_t i = 0; i < count && i < 2 * FRAMES; i++)
        CHECK(same_frame(&got[i], &want[i]));
    return calls[0].is_decided;
}

/* Functions share their code within an object file here. The dSYM is the truth, but knows those of other object files,
 * too. */
static void test_object_files(void)
{
    machsym_image *program = open_program(NULL);
    machsym_image *pair = open_program("tests/fixtures/bin/map-folded-arm64/program.dwarf");
    machsym_section code = code_of(program);
    size_t decided = 0;
    for (int lines = 0; lines < 4; lines++) {
        machsym_session_desc how;
        machsym_session *objects = NULL;
        machsym_session *dsym = NULL;
        memset(&how, 0, sizeof how);
        how.lines = (machsym_lines)lines;
        how.image = program;
        CHECK(machsym_session_open(&how, &objects, NULL) == MACHSYM_OK);
        how.image = pair;
        CHECK(machsym_session_open(&how, &dsym, NULL) == MACHSYM_OK);
        for (uint64_t off = 0; off < code.size; off += 4) {
            CHECK(ask_folded(objects, code.addr + off, true) <= ask_folded(dsym, code.addr + off, true));
            for (uint64_t caller = 4; caller < code.size; caller += 4)
                decided += compare_stack(objects, dsym, code.addr + off, code.addr + caller);
        }
        machsym_session_close(objects);
        machsym_session_close(dsym);
    }
    CHECK(decided > 0);
    machsym_image_close(program);
    machsym_image_close(pair);
}

/* A function of a set as one text, for comparing. */
typedef struct set_entry {
    char text[512];
} set_entry;

static int by_text(const void *a, const void *b)
{
    return strcmp((const char *)a, (const char *)b);
}

/* The functions of an address with all their frames, sorted. Returns how many there are. */
static size_t read_set(machsym_session *session, uint64_t addr, set_entry *out, size_t cap)
{
    machsym_frame frames[FRAMES];
    machsym_cursor at = {0, 0};
    size_t functions = 0;
    size_t got;
    while ((got = machsym_session_next_folded_at_addr(session, addr, &at, frames, FRAMES)) > 0 &&
           functions < cap) {
        size_t len = 0;
        for (size_t i = 0; i < got && i < FRAMES && len < 400; i++) {
            machsym_str name = frames[i].linkage_name.len != 0 ? frames[i].linkage_name : frames[i].name;
            len += (size_t)snprintf(out[functions].text + len, 512 - len, "%.*s %.*s:%u:%u %llx+%llx;",
                                    (int)(name.len < 60 ? name.len : 60), name.ptr,
                                    (int)frames[i].file.name.len, frames[i].file.name.ptr, frames[i].line,
                                    frames[i].column, (unsigned long long)frames[i].function_start,
                                    (unsigned long long)frames[i].function_size);
        }
        functions++;
    }
    qsort(out, functions, sizeof *out, by_text);
    return functions;
}

/* A map tells the same functions as the file that it was made of. */
static void compare_set(machsym_session *mapped, machsym_session *session, uint64_t addr)
{
    static set_entry got[MOST];
    static set_entry want[MOST];
    size_t count = read_set(mapped, addr, got, MOST);
    CHECK(count == read_set(session, addr, want, MOST));
    for (size_t i = 0; i < count; i++)
        CHECK(strcmp(got[i].text, want[i].text) == 0);
}

/* What a map decides, the file decides in the same way. */
static size_t compare_decided(machsym_session *mapped, machsym_session *session, uint64_t addr,
                              uint64_t caller, size_t *by_file)
{
    machsym_stack_addr pcs[2] = {{addr, false}, {caller, true}};
    machsym_frame got[2 * FRAMES];
    machsym_frame want[2 * FRAMES];
    machsym_stack_answer calls[2];
    machsym_stack_answer wanted[2];
    size_t count = machsym_session_frames_of_stack(mapped, pcs, 2, calls, got, 2 * FRAMES);
    machsym_session_frames_of_stack(session, pcs, 2, wanted, want, 2 * FRAMES);
    for (int i = 0; i < 2; i++)
        CHECK(calls[i].function_count == wanted[i].function_count);
    *by_file += wanted[0].is_decided;
    CHECK(!calls[0].is_decided || wanted[0].is_decided);
    for (size_t i = 0; i < count && i < 2 * FRAMES && calls[0].is_decided; i++)
        CHECK(same_frame(&got[i], &want[i]));
    return calls[0].is_decided;
}

/* Gives bytes of a map to an image that is opened by a callback. */
static size_t read_bytes(void *user, uint64_t offset, void *out, size_t len)
{
    const machsym_bytes *bytes = (const machsym_bytes *)user;
    memcpy(out, bytes->ptr + offset, len);
    return len;
}

/* A map that is read by a callback tells and decides the same as the map in memory. */
static void compare_read(machsym_bytes *bytes, machsym_session *mapped, machsym_section code,
                         machsym_lines lines)
{
    machsym_open_desc desc;
    machsym_session_desc how;
    machsym_session *session = NULL;
    machsym_image *image = NULL;
    size_t decided = 0;
    memset(&desc, 0, sizeof desc);
    memset(&how, 0, sizeof how);
    desc.io.read = read_bytes;
    desc.io.user = bytes;
    desc.io.size = bytes->len;
    CHECK(machsym_image_open(&desc, &image, NULL) == MACHSYM_OK);
    how.image = image;
    how.lines = lines;
    CHECK(machsym_session_open(&how, &session, NULL) == MACHSYM_OK);
    for (uint64_t off = 0; off < code.size; off += 4) {
        compare_set(session, mapped, code.addr + off);
        compare_decided(session, mapped, code.addr + off, code.addr + code.size - off, &decided);
    }
    machsym_session_close(session);
    machsym_image_close(image);
}

static void compare_map(const machsym_image *image, machsym_lines lines)
{
    machsym_plan_desc plan;
    machsym_map *map = NULL;
    memset(&plan, 0, sizeof plan);
    plan.image = image;
    plan.lines = lines;
    plan.flags = MACHSYM_MAP_COLUMNS;
    CHECK(machsym_map_build(&plan, &map, NULL) == MACHSYM_OK);
    machsym_bytes bytes = machsym_map_bytes(map);
    machsym_image *made = open_bytes(bytes.ptr, bytes.len, NULL);
    CHECK(made != NULL);
    machsym_session_desc how;
    memset(&how, 0, sizeof how);
    how.lines = lines;
    how.image = made;
    machsym_session *mapped = NULL;
    machsym_session *session = NULL;
    machsym_section code = code_of(image);
    size_t decided = 0;
    size_t by_file = 0;
    CHECK(machsym_session_open(&how, &mapped, NULL) == MACHSYM_OK);
    how.image = image;
    CHECK(machsym_session_open(&how, &session, NULL) == MACHSYM_OK);
    for (uint64_t off = 0; off < code.size; off += 4) {
        uint64_t addr = code.addr + off;
        machsym_stack_addr pcs[2] = {{addr, false}, {addr, true}};
        compare_set(mapped, session, addr);
        ask_folded(mapped, addr, true);
        ask_stack(mapped, pcs, 2, true);
        for (uint64_t caller = 4;
             caller < code.size && lines == MACHSYM_LINES_DWARF && ask_folded(session, addr, true) > 1;
             caller += 4)
            decided += compare_decided(mapped, session, addr, code.addr + caller, &by_file);
    }
    compare_read(&bytes, mapped, code, lines);
    CHECK(decided == by_file && (decided > 0 || lines != MACHSYM_LINES_DWARF));
    machsym_session_close(mapped);
    machsym_session_close(session);
    machsym_image_close(made);
    machsym_map_close(map);
}

/* A map has the same functions of each body as its file, and its callers decide the same. */
static void test_map(void)
{
    for (size_t i = 0; i < FOLDED; i++) {
        variant_file file = variant_read(files[i]);
        machsym_image *image = open_bytes(file.ptr, file.len, NULL);
        for (int lines = 0; lines < 4; lines++)
            compare_map(image, (machsym_lines)lines);
        machsym_image_close(image);
        free(file.ptr);
    }
}

static uint64_t little_endian(const uint8_t *p, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)p[i] << (8 * i);
    return value;
}

/* Where the table of a kind stands in a map, and its length. */
static size_t table_of(const uint8_t *map, uint64_t kind, size_t *len)
{
    *len = 0;
    for (uint64_t i = 0; i < little_endian(map + 60, 4); i++) {
        const uint8_t *row = map + 96 + 32 * i;
        if (little_endian(row, 4) != kind)
            continue;
        *len = (size_t)little_endian(row + 16, 8);
        return (size_t)little_endian(row + 8, 8);
    }
    return 0;
}

/* Asks a map that is not checked for all its code: whatever it says, numbers stay within their bounds. */
static void ask_unchecked(const uint8_t *bytes, size_t len, machsym_section code)
{
    machsym_open_desc desc;
    machsym_session_desc how;
    machsym_image *image = NULL;
    machsym_session *session = NULL;
    memset(&desc, 0, sizeof desc);
    memset(&how, 0, sizeof how);
    desc.bytes.ptr = bytes;
    desc.bytes.len = len;
    desc.flags = MACHSYM_OPEN_UNCHECKED;
    if (machsym_image_open(&desc, &image, NULL) != MACHSYM_OK)
        return;
    how.image = image;
    how.lines = MACHSYM_LINES_DWARF;
    CHECK(machsym_session_open(&how, &session, NULL) == MACHSYM_OK);
    for (uint64_t off = 0; off < code.size; off += 12) {
        machsym_stack_addr pcs[3] = {
            {code.addr + off, false}, {code.addr + off / 2, true}, {code.addr + code.size - off, true}};
        ask_folded(session, code.addr + off, false);
        ask_stack(session, pcs, 3, false);
    }
    machsym_session_close(session);
    machsym_image_close(image);
}

/* Each number of the tables of functions that share code is another one. */
static void test_damaged_map(void)
{
    static const uint32_t values[] = {0, 1, 0x448, 0x7fffffff, UINT32_MAX};
    variant_file file = variant_read(files[1]);
    machsym_image *image = open_bytes(file.ptr, file.len, NULL);
    machsym_section code = code_of(image);
    machsym_plan_desc plan;
    machsym_map *map = NULL;
    memset(&plan, 0, sizeof plan);
    plan.image = image;
    plan.lines = MACHSYM_LINES_DWARF;
    CHECK(machsym_map_build(&plan, &map, NULL) == MACHSYM_OK);
    machsym_bytes bytes = machsym_map_bytes(map);
    uint8_t *copy = (uint8_t *)malloc(bytes.len);
    size_t changed = 0;
    for (uint32_t kind = 9; kind <= 12; kind++) {
        size_t len;
        size_t at = table_of(bytes.ptr, kind, &len);
        CHECK(len >= 4);
        for (size_t i = 0; i + 4 <= len; i += 4) {
            for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
                memcpy(copy, bytes.ptr, bytes.len);
                for (unsigned byte = 0; byte < 4; byte++)
                    copy[at + i + byte] = (uint8_t)(values[k] >> (8 * byte));
                changed += memcmp(copy, bytes.ptr, bytes.len) != 0;
                ask_unchecked(copy, bytes.len, code);
            }
        }
    }
    CHECK(changed > 200);
    for (size_t k = 0; k < 300; k++) { /* rows in no order */
        memcpy(copy, bytes.ptr, bytes.len);
        for (uint32_t kind = 9; kind <= 12; kind += 3) {
            size_t len;
            size_t at = table_of(bytes.ptr, kind, &len);
            for (size_t i = 0; i + 4 <= len; i += 4) {
                size_t from = 4 * (size_t)variant_roll(len / 4);
                if (variant_roll(3) == 0)
                    memcpy(copy + at + i, bytes.ptr + at + from, 4);
            }
        }
        ask_unchecked(copy, bytes.len, code);
    }
    free(copy);
    machsym_map_close(map);
    machsym_image_close(image);
    free(file.ptr);
}

/* Bits of debug info and symbols are flipped: nothing is read outside the file, and numbers stay within their bounds. */
static void test_damaged(void)
{
    variant_chance = 20261126;
    for (size_t i = 0; i < FILES; i++) {
        variant_file file = variant_read(files[i]);
        uint8_t *copy = (uint8_t *)malloc(file.len);
        for (int k = 0; k < FLIPS; k++) {
            machsym_session_desc how;
            memcpy(copy, file.ptr, file.len);
            for (int flip = 0; flip < 1 + k % 8; flip++)
                copy[0x400 + variant_roll(file.len - 0x400)] ^= (uint8_t)(1u << variant_roll(8));
            machsym_image *image = open_bytes(copy, file.len, NULL);
            memset(&how, 0, sizeof how);
            how.image = image;
            how.lines = (machsym_lines)(k % 4);
            if (image != NULL)
                ask_all(image, &how, i < FOLDED ? 8 + 4 * (uint64_t)(k % 5) : 200, false);
            if (image != NULL && i < FOLDED && k % 6 == 0)
                ask_callers(image, &how, 4, false);
            machsym_image_close(image);
        }
        free(copy);
        free(file.ptr);
    }
    CHECK(true);
}

/* The line of a function at an address that several have; 0: it is not there. */
static uint32_t line_of(const machsym_image *image, uint64_t addr, const char *name)
{
    machsym_session *session = NULL;
    machsym_session_desc how;
    machsym_frame frames[FRAMES];
    machsym_cursor at = {0, 0};
    uint32_t line = 0;
    memset(&how, 0, sizeof how);
    how.image = image;
    how.lines = MACHSYM_LINES_DWARF;
    CHECK(machsym_session_open(&how, &session, NULL) == MACHSYM_OK);
    while (machsym_session_next_folded_at_addr(session, addr, &at, frames, FRAMES) > 0) {
        if (frames[0].name.len == strlen(name) && memcmp(frames[0].name.ptr, name, frames[0].name.len) == 0)
            line = frames[0].line;
    }
    machsym_session_close(session);
    return line;
}

/* Puts a number of four bytes where another one is in debug info. */
static void put_offset(uint8_t *bytes, const machsym_section *info, uint32_t from, uint32_t to)
{
    size_t found = 0;
    for (size_t i = 0; i + 4 <= info->bytes.len; i++) {
        uint8_t *p = bytes + info->offset + i;
        if ((p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24) != from)
            continue;
        for (int k = 0; k < 4; k++)
            p[k] = (uint8_t)(to >> 8 * k);
        found++;
    }
    CHECK(found >= 1);
}

/* A function has the rows that DW_AT_LLVM_stmt_sequence of its entry leads to: two of one body exchange theirs. The lines
 * are those of zero_a and zero_f in tests/fixtures/src/folded/shape.c, the offsets llvm-dwarfdump's. */
static void test_stated(void)
{
    const uint64_t addr = 0x1000004c0;
    variant_file file = variant_read("tests/fixtures/bin/folded-arm64-stated.dwarf");
    uint8_t *copy = (uint8_t *)malloc(file.len);
    machsym_image *image = open_bytes(file.ptr, file.len, NULL);
    machsym_cursor at = {0, 0};
    machsym_section info;
    while (machsym_image_next_section(image, &at, &info) && !test_same(info.name, test_str("__debug_info"))) {
    }
    CHECK(line_of(image, addr, "zero_a") == 45 && line_of(image, addr, "zero_f") == 50);
    memcpy(copy, file.ptr, file.len);
    put_offset(copy, &info, 0x1dc, 0xffffff);
    put_offset(copy, &info, 0x111, 0x1dc);
    put_offset(copy, &info, 0xffffff, 0x111);
    machsym_image *changed = open_bytes(copy, file.len, NULL);
    CHECK(line_of(changed, addr, "zero_a") == 50 && line_of(changed, addr, "zero_f") == 45);
    CHECK(line_of(changed, addr, "zero_b") == 46);
    machsym_image_close(changed);
    machsym_image_close(image);
    free(copy);
    free(file.ptr);
}

/* dsymutil writes 0xffffffff where it does not know the sequence: that leads nowhere, as does an offset in the lines of another
 * unit. Then the rows are those of the function's source. */
static void test_stated_elsewhere(void)
{
    static const uint32_t elsewhere[] = {0xffffffff, 0xfffffff0, 0x300, 0x0, 0x10};
    const uint64_t addr = 0x1000004c0;
    variant_file file = variant_read("tests/fixtures/bin/folded-arm64-stated.dwarf");
    uint8_t *copy = (uint8_t *)malloc(file.len);
    machsym_image *image = open_bytes(file.ptr, file.len, NULL);
    machsym_cursor at = {0, 0};
    machsym_section info;
    while (machsym_image_next_section(image, &at, &info) && !test_same(info.name, test_str("__debug_info"))) {
    }
    for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; i++) {
        memcpy(copy, file.ptr, file.len);
        put_offset(copy, &info, 0x111, elsewhere[i]);
        put_offset(copy, &info, 0x1dc, elsewhere[i]);
        machsym_image *changed = open_bytes(copy, file.len, NULL);
        CHECK_EQ(line_of(changed, addr, "zero_a"), 45);
        CHECK_EQ(line_of(changed, addr, "zero_f"), 50);
        CHECK_EQ(line_of(changed, addr, "zero_b"), 46);
        machsym_image_close(changed);
    }
    machsym_image_close(image);
    free(copy);
    free(file.ptr);
}

/* Sections that say which functions share code, and who calls them. */
static bool is_telling(machsym_str name)
{
    static const char *const names[] = {"__debug_info",   "__debug_abbrev",  "__debug_line",
                                        "__debug_names",  "__debug_addr",    "__apple_names",
                                        "__debug_ranges", "__debug_rnglists"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (name.len == strlen(names[i]) && memcmp(name.ptr, names[i], name.len) == 0)
            return true;
    }
    return false;
}

/* Asks of a file in which one byte is another one. */
static void ask_changed(uint8_t *bytes, size_t len, size_t at, uint8_t to, unsigned turn)
{
    uint8_t was = bytes[at];
    machsym_session_desc how;
    bytes[at] = to;
    machsym_image *image = open_bytes(bytes, len, NULL);
    memset(&how, 0, sizeof how);
    how.image = image;
    how.lines = turn % 2 ? MACHSYM_LINES_PEOPLE : MACHSYM_LINES_DWARF;
    if (image != NULL)
        ask_all(image, &how, turn % 8 == 0 ? 16 : 64, false);
    if (image != NULL && turn % 8 == 4)
        ask_callers(image, &how, 12, false);
    machsym_image_close(image);
    bytes[at] = was;
}

/* Each byte of these sections has another value once. */
static void test_each_byte(void)
{
    unsigned turn = 0;
    variant_chance = 20261127;
    for (size_t i = 0; i < EACH_BYTE; i += 2) {
        variant_file file = variant_read(files[i]);
        uint8_t *copy = (uint8_t *)malloc(file.len);
        machsym_image *image = open_bytes(file.ptr, file.len, NULL);
        machsym_cursor next = {0, 0};
        machsym_section section;
        memcpy(copy, file.ptr, file.len);
        while (machsym_image_next_section(image, &next, &section)) {
            size_t from = (size_t)section.offset;
            for (size_t at = from; is_telling(section.name) && at < from + section.bytes.len; at++) {
                uint8_t flipped = (uint8_t)(copy[at] ^ 1u << variant_roll(8));
                ask_changed(copy, file.len, at, turn % 4 == 0 ? (uint8_t)variant_roll(256) : flipped, turn);
                turn++;
            }
        }
        machsym_image_close(image);
        free(copy);
        free(file.ptr);
    }
    CHECK(turn > 3000);
}

/* Every allocation fails once. What is lost is reported, and nothing leaks. */
static void test_memory(void)
{
    for (size_t i = 0; i < FOLDED; i++) {
        variant_file file = variant_read(files[i]);
        size_t calls = 1;
        for (size_t n = 1; n <= calls; n++) {
            failer f = {0, 0, false, 0, 0};
            machsym_allocator allocator = {failing_alloc, failing_free, &f};
            machsym_session_desc how;
            machsym_image *image = open_bytes(file.ptr, file.len, &allocator);
            memset(&how, 0, sizeof how);
            how.image = image;
            how.lines = MACHSYM_LINES_PEOPLE;
            how.allocator = allocator;
            f.fail_at = n > 1 ? f.calls + n - 1 : 0;
            size_t before = f.calls;
            ask_all(image, &how, 64, n == 1);
            ask_callers(image, &how, 20, false);
            if (n == 1)
                calls = f.calls - before < 900 ? f.calls - before : 900;
            machsym_image_close(image);
            CHECK(f.out == 0);
        }
        free(file.ptr);
    }
}

static size_t functions_at(machsym_session *session, uint64_t addr)
{
    machsym_frame frames[FRAMES];
    machsym_cursor at = {0, 0};
    size_t functions = 0;
    while (machsym_session_next_folded_at_addr(session, addr, &at, frames, FRAMES) > 0)
        functions++;
    return functions;
}

enum { FIRST = 6, SHARED = 64 };

/* Asks a new image for some addresses; each has as many functions as are wanted. */
static void ask_first(const variant_file *file, const uint64_t *addrs, const size_t *wanted, size_t count)
{
    machsym_session_desc how;
    machsym_session *session = NULL;
    machsym_image *image = open_bytes(file->ptr, file->len, NULL);
    memset(&how, 0, sizeof how);
    how.image = image;
    CHECK(machsym_session_open(&how, &session, NULL) == MACHSYM_OK);
    for (size_t i = 0; i < count; i++)
        CHECK_EQ(functions_at(session, addrs[i]), wanted[i]);
    machsym_session_close(session);
    machsym_image_close(image);
}

/* The first questions are answered without a table of the symbols. Their answers are those of a session that has
 * the table, since it was asked for all of the code before. */
static void test_first_questions(void)
{
    for (size_t i = 0; i < FOLDED; i++) {
        variant_file file = variant_read(files[i]);
        machsym_image *image = open_bytes(file.ptr, file.len, NULL);
        machsym_section code = code_of(image);
        machsym_session_desc how;
        machsym_session *session = NULL;
        uint64_t addrs[SHARED];
        size_t wanted[SHARED];
        size_t count = 0;
        memset(&how, 0, sizeof how);
        how.image = image;
        CHECK(machsym_session_open(&how, &session, NULL) == MACHSYM_OK);
        for (uint64_t off = 0; off < code.size; off += 4)
            functions_at(session, code.addr + off);
        for (uint64_t off = 0; off < code.size && count < SHARED; off += 4) {
            addrs[count] = code.addr + off;
            wanted[count] = functions_at(session, addrs[count]);
            count += wanted[count] > 1;
        }
        for (size_t first = 0; first < count; first++)
            ask_first(&file, addrs + first, wanted + first, count - first < FIRST ? count - first : FIRST);
        machsym_session_close(session);
        machsym_image_close(image);
        free(file.ptr);
    }
}

int main(void)
{
    test_begin();
    test_sound();
    test_end("sound");
    test_begin();
    test_first_questions();
    test_end("first questions");
    test_begin();
    test_object_files();
    test_end("object files");
    test_begin();
    test_map();
    test_end("map");
    test_begin();
    test_damaged();
    test_end("damaged");
    test_begin();
    test_damaged_map();
    test_end("damaged map");
    test_begin();
    test_stated();
    test_end("stated rows");
    test_begin();
    test_stated_elsewhere();
    test_end("stated rows that are not there");
    test_begin();
    test_each_byte();
    test_end("each byte");
    test_begin();
    test_memory();
    test_end("memory");
    return test_done();
}
