/* Symbols whose names the debug info contradicts. Real dSYMs are sound, renamed, aliased, stripped or mixed up.
 * Mixed-up names are reported. What tools do on purpose is not. Truth: what was done to the file. */
#include "test.h"

typedef struct symtab {
    size_t symbols;
    size_t count;
    size_t strings;
    size_t size;
} symtab;

static uint32_t get_u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static symtab symtab_of(const test_file *file)
{
    symtab t = {0, 0, 0, 0};
    size_t at = 32;
    for (uint32_t left = get_u32(file->ptr + 16); left > 0; left--) {
        const uint8_t *p = file->ptr + at;
        if (get_u32(p) == 2) { /* LC_SYMTAB */
            t.symbols = get_u32(p + 8);
            t.count = get_u32(p + 12);
            t.strings = get_u32(p + 16);
            t.size = get_u32(p + 20);
        }
        at += get_u32(p + 4);
    }
    if (t.count <= 32 || t.size > file->len || t.strings > file->len - t.size) {
        puts("no symbols");
        exit(1);
    }
    return t;
}

/* What is wrong with the names, "" when nothing is. */
static const char *fault_of(const test_file *file)
{
    machsym_image_info info;
    machsym_image *image = test_open_bytes(file->ptr, file->len);
    CHECK(machsym_image_count_damage(image, &info));
    bool is_misleading = info.damage.is_misleading;
    CHECK(is_misleading == (info.damage_count != 0));
    CHECK(!is_misleading || strcmp(info.damage.where, "symbol table") == 0 ||
          strcmp(info.damage.where, "string table") == 0);
    machsym_plan_desc desc;
    machsym_plan *plan = NULL;
    machsym_error err;
    memset(&desc, 0, sizeof desc);
    desc.image = image;
    CHECK_EQ(machsym_plan_open(&desc, &plan, &err), is_misleading ? MACHSYM_ERR_DAMAGED : MACHSYM_OK);
    CHECK(!is_misleading || strcmp(err.what, info.damage.what) == 0);
    machsym_plan_close(plan);
    machsym_image_close(image);
    return info.damage.what;
}

static const char other_names[] = "symbols give most functions other names than the debug info does";
static const char past_end[] = "names of symbols lie past the end of the string table";
static const char inside_others[] = "most names of symbols begin inside of others";

/* Takes of_ten of every ten symbols, and gives each of these the name of the next one. */
static void mix_up(test_file *file, const symtab *t, size_t of_ten)
{
    uint8_t first[4];
    uint8_t *last = NULL;
    for (size_t i = 0; i < t->count; i++) {
        uint8_t *p = file->ptr + t->symbols + 16 * i;
        if (i * 7 % 10 >= of_ten)
            continue;
        if (last == NULL)
            memcpy(first, p, 4);
        else
            memcpy(last, p, 4);
        last = p;
    }
    if (last != NULL)
        memcpy(last, first, 4);
}

/* Each letter of every name becomes another one, as if all symbols had been renamed. */
static void rename_all(test_file *file, const symtab *t)
{
    for (size_t i = t->strings; i < t->strings + t->size; i++) {
        uint8_t c = file->ptr[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (is_letter)
            file->ptr[i] = c == 'z' || c == 'Z' ? (uint8_t)(c - 25) : (uint8_t)(c + 1);
    }
}

/* Every second symbol moves to the address of the one before it. */
static void put_aliases(test_file *file, const symtab *t)
{
    for (size_t i = 1; i < t->count; i += 2) {
        uint8_t *p = file->ptr + t->symbols + 16 * i;
        memcpy(p + 8, p - 8, 8);
    }
}

/* The string table begins `by` bytes too late. */
static void shift(test_file *file, const symtab *t, size_t by)
{
    memmove(file->ptr + t->strings, file->ptr + t->strings + by, t->size - by);
    memset(file->ptr + t->strings + t->size - by, 0, by);
}

/* One case: a file has this fault. */
static void check_fault(const test_file *file, const char *what)
{
    test_begin();
    CHECK_STR(test_str(fault_of(file)), what);
    test_end(what);
}

/* A name that cannot be there is damage, but no contradiction: all else is answered. */
static void check_lost(const test_file *file)
{
    machsym_image_info info;
    machsym_image *image = test_open_bytes(file->ptr, file->len);
    test_begin();
    CHECK(machsym_image_count_damage(image, &info));
    CHECK_STR(test_str(info.damage.what), past_end);
    CHECK(info.damage_count != 0 && !info.damage.is_misleading);
    test_end(past_end);
    machsym_image_close(image);
}

static void check_file(const char *path)
{
    test_file sound = test_read(path);
    test_file file = test_read(path);
    symtab t = symtab_of(&sound);
    check_fault(&file, "");

    for (size_t i = 0; i < t.count; i += t.count - 1) { /* the first name and the last */
        memcpy(file.ptr, sound.ptr, sound.len);
        for (unsigned k = 0; k < 4; k++)
            file.ptr[t.symbols + 16 * i + k] = (uint8_t)(t.size >> 8 * k);
        check_lost(&file);
    }

    static const struct {
        size_t of_ten;
        const char *what;
    } mixed[] = {{2, ""}, {3, ""}, {8, other_names}, {10, other_names}};
    for (size_t i = 0; i < sizeof mixed / sizeof mixed[0]; i++) {
        memcpy(file.ptr, sound.ptr, sound.len);
        mix_up(&file, &t, mixed[i].of_ten);
        check_fault(&file, mixed[i].what);
    }

    memcpy(file.ptr, sound.ptr, sound.len);
    rename_all(&file, &t);
    check_fault(&file, "");
    memcpy(file.ptr, sound.ptr, sound.len);
    put_aliases(&file, &t);
    check_fault(&file, "");

    test_begin();
    for (size_t by = 1; by < 70; by++) { /* names begin in the middle, or others are named */
        memcpy(file.ptr, sound.ptr, sound.len);
        shift(&file, &t, by);
        const char *what = fault_of(&file);
        CHECK(strcmp(what, other_names) == 0 || strcmp(what, inside_others) == 0);
    }
    test_end(path);
    free(sound.ptr);
    free(file.ptr);
}

/* Where .debug_info lies in a file. */
static machsym_section info_of(const test_file *file)
{
    machsym_image *image = test_open_bytes(file->ptr, file->len);
    machsym_cursor at = {0, 0};
    machsym_section section;
    while (machsym_image_next_section(image, &at, &section) &&
           strncmp(section.name.ptr, "__debug_info", section.name.len) != 0)
        continue;
    machsym_image_close(image);
    return section;
}

/* How many units are damaged, and what is wrong with the first. */
static uint32_t damaged_units(const test_file *file, char *what, size_t size)
{
    machsym_session_desc desc;
    machsym_session *session = NULL;
    machsym_session_counts info;
    machsym_image *image = test_open_bytes(file->ptr, file->len);
    memset(&desc, 0, sizeof desc);
    memset(&info, 0, sizeof info);
    desc.image = image;
    CHECK(machsym_session_open(&desc, &session, NULL) == MACHSYM_OK);
    machsym_session_count_all(session, &info);
    snprintf(what, size, "%s", info.damage.what);
    machsym_session_close(session);
    machsym_image_close(image);
    return info.damaged_units;
}

/* Zeros past those that close the entries of the last unit: they were never written. unit: bytes of the last one. */
static void check_unwritten(const char *path, size_t unit)
{
    static const char ends_before[] = "entries of a unit end before the unit does";
    char what[100];
    test_file sound = test_read(path);
    test_file file = test_read(path);
    machsym_section info = info_of(&sound);
    size_t end = (size_t)info.offset + info.bytes.len;
    size_t zeros = 0;
    size_t tried = 0;
    size_t ended = 0;
    while (zeros < end && file.ptr[end - zeros - 1] == 0)
        zeros++;
    test_begin();
    CHECK_EQ(damaged_units(&sound, what, sizeof what), 0);
    for (size_t count = zeros + 20; count + 60 < unit; count += 50) {
        memcpy(file.ptr, sound.ptr, sound.len);
        memset(file.ptr + end - count, 0, count);
        CHECK_EQ(damaged_units(&file, what, sizeof what), 1);
        ended += strcmp(what, ends_before) == 0; /* or zeros in the last entry contradict others */
        tried++;
    }
    CHECK(tried > 10 && ended * 4 > tried * 3);
    test_end(path);
    free(sound.ptr);
    free(file.ptr);
}

/* Code that was folded has a sequence of rows for each function, and those overlap. Where the functions end before the
 * sequences do, that is a contradiction. size: of the functions that become 4 bytes shorter. */
static void check_folded(const char *path, uint8_t size)
{
    char what[100];
    test_file file = test_read(path);
    machsym_section info = info_of(&file);
    size_t changed = 0;
    test_begin();
    CHECK_EQ(damaged_units(&file, what, sizeof what), 0);
    for (size_t i = 0; i + 4 <= info.bytes.len; i++) {
        uint8_t *p = file.ptr + info.offset + i; /* DW_AT_high_pc */
        if (get_u32(p) == size) {
            *p = (uint8_t)(size - 4);
            changed++;
        }
    }
    CHECK(changed >= 2);
    CHECK(damaged_units(&file, what, sizeof what) > 0);
    CHECK_STR(test_str(what), "sequences of a line program share addresses");
    test_end(path);
    free(file.ptr);
}

int main(void)
{
    check_folded("tests/fixtures/bin/folded-arm64-all.dwarf", 0x18);
    check_folded("tests/fixtures/bin/folded-arm64-thunks.dwarf", 0x18);
    check_unwritten("tests/fixtures/bin/deep-arm64-d4.dwarf", 0x449d);
    check_unwritten("tests/real/crashprobe/CrashLibiOS.dwarf", 0x90d);
    check_file("tests/real/crashprobe/CrashProbeiOS.dwarf");
    check_file("tests/real/crashprobe/CrashLibiOS.dwarf");
    return test_done();
}
