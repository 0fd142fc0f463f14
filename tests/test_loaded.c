/* Images as dyld lays them out in memory: names are those that the file gives. */
#include "loaded.h"

#include <dirent.h>
#include <sys/stat.h>

static uint64_t random_state = 0x9e3779b97f4a7c15u;

/* xorshift: the same slides every time. */
static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static size_t image_count;
static size_t name_count;
static size_t
    import_count; /* names that only the file knows: of classes in other images, bound by a chained fixup */

static bool same(machsym_str a, machsym_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* The witness of a type in another image, which only the chain names: in memory, where dyld wrote over it, nothing
 * tells what the function is for. */
static bool is_of_foreign_type(const machsym_symbol *x)
{
    static const char mark[] = " in conformance $s";
    bool found = false;
    for (size_t i = 0; i + sizeof mark - 1 <= x->name.len; i++)
        found |= memcmp(x->name.ptr + i, mark, sizeof mark - 1) == 0;
    return found && x->source == MACHSYM_SOURCE_SWIFT;
}

/* -[? sel], -[?(Cat) sel], and T.override[3] for T.override of f: dyld wrote over the chain that named the
 * class, the method or the requirement in another image. */
static bool is_foreign(machsym_str name)
{
    bool found = name.len > 3 && (name.ptr[0] == '-' || name.ptr[0] == '+') && name.ptr[1] == '[' &&
                 name.ptr[2] == '?';
    for (size_t i = 1; i < name.len; i++)
        found |= name.ptr[i - 1] == '[' && name.ptr[i] >= '0' && name.ptr[i] <= '9';
    return found;
}

static void compare_names(const machsym_image *file, const machsym_image *memory, const char *what)
{
    machsym_session *a = test_session(file, MACHSYM_LINES_ATOS, 0);
    machsym_session *b = test_session(memory, MACHSYM_LINES_ATOS, 0);
    machsym_cursor at_a = {0, 0};
    machsym_cursor at_b = {0, 0};
    machsym_symbol x;
    machsym_symbol y;
    size_t different = 0;
    bool more = true;
    while (more && different == 0) {
        bool also = machsym_session_next_name(b, &at_b, &y);
        more = machsym_session_next_name(a, &at_a, &x);
        if (more && is_of_foreign_type(&x) && file->mo[0].loads.fixups_size != 0) {
            CHECK(!also || x.lo != y.lo || x.source != y.source);
            import_count++;
            more = machsym_session_next_name(a, &at_a, &x);
        }
        if (!more && !also)
            break;
        bool equal = more && also && x.lo == y.lo && x.hi == y.hi && x.source == y.source;
        if (equal && !same(x.name, y.name) && is_foreign(y.name) && file->mo[0].loads.fixups_size != 0)
            import_count++;
        else
            equal = equal && same(x.name, y.name);
        name_count += equal;
        if (!equal && different++ == 0)
            printf("%s: 0x%llx %s %.*s in the file, 0x%llx %s %.*s in memory\n", what,
                   more ? (unsigned long long)x.lo : 0, more ? machsym_source_name(x.source) : "none",
                   more ? (int)x.name.len : 0, more ? x.name.ptr : "", also ? (unsigned long long)y.lo : 0,
                   also ? machsym_source_name(y.source) : "none", also ? (int)y.name.len : 0,
                   also ? y.name.ptr : "");
    }
    CHECK_EQ(different, 0);
    machsym_session_close(a);
    machsym_session_close(b);
}

/* What a process asks: a pc, and the image that it is in. */
static void check_lookups(const machsym_image *file, const machsym_image *memory, const loaded *l)
{
    machsym_session *a = test_session(file, MACHSYM_LINES_ATOS, 0);
    machsym_session *b = test_session(memory, MACHSYM_LINES_ATOS, 0);
    size_t wrong = 0;
    for (int i = 0; i < 200; i++) {
        machsym_frame x;
        machsym_frame y;
        uint64_t pc = l->addr + next_random() % (l->mo->text_size != 0 ? l->mo->text_size : 1);
        uint64_t addr = machsym_image_addr_of_pc(memory, l->addr, pc);
        memset(&x, 0, sizeof x);
        memset(&y, 0, sizeof y);
        size_t count = machsym_session_frames_at_addr(a, addr, &x, 1);
        wrong += machsym_session_frames_at_addr(b, addr, &y, 1) != count ||
                 x.function_start != y.function_start ||
                 (count != 0 && !same(x.linkage_name, y.linkage_name) && !is_foreign(y.linkage_name));
    }
    CHECK_EQ(wrong, 0); /* of 200 addresses, which are one check */
    machsym_session_close(a);
    machsym_session_close(b);
}

static void check_image(const machsym_image *file, const char *what)
{
    bool at_memory = (next_random() & 1) != 0;
    uint64_t addr = (next_random() & 0x3ffff) << 14; /* any page, below 4 GB for 32-bit images */
    loaded l;
    if (file->mo[0].is_64)
        addr |= (next_random() & 0x7f) << 40;
    at_memory = at_memory && file->mo[0].is_64;
    if (!loaded_make(&l, file, at_memory ? 0 : addr != 0 ? addr : 0x4000))
        return;
    if (loaded_get(&l, 0, 4) != (file->mo[0].is_64 ? ms_MH_MAGIC_64 : ms_MH_MAGIC)) {
        free(l.v); /* hand-made files whose __TEXT has no bytes: nothing that could be loaded */
        return;
    }
    machsym_image *memory = loaded_open(&l, l.len, at_memory);
    CHECK(memory != NULL);
    if (memory != NULL) {
        CHECK_EQ(memory->mo[0].slide, l.slide);
        compare_names(file, memory, what);
        machsym_image_info info;
        machsym_image_get_info(file, &info);
        if (!info.has_dwarf)
            check_lookups(file, memory, &l);
        image_count++;
    }
    machsym_image_close(memory);
    free(l.v);
}

/* Executables, dylibs, bundles, the dynamic linker, kernel extensions: what is ever loaded. */
static bool is_loadable(uint32_t filetype)
{
    return filetype == 2 || filetype == 6 || filetype == 7 || filetype == 8 || filetype == 11;
}

static void check_file(const char *path)
{
    machsym_open_desc desc;
    machsym_slice slices[16];
    memset(&desc, 0, sizeof desc);
    desc.path = path;
    desc.flags = MACHSYM_OPEN_NO_PAIR | MACHSYM_OPEN_NO_OBJECTS;
    size_t count = machsym_list_slices(&desc, slices, 16, NULL);
    for (size_t i = 0; i < count && i < 16; i++) {
        machsym_image *image = NULL;
        desc.arch = slices[i].arch;
        desc.uuid = slices[i].has_uuid ? &slices[i].uuid : NULL;
        if (is_loadable(slices[i].filetype) && machsym_image_open(&desc, &image, NULL) == MACHSYM_OK)
            check_image(image, path);
        machsym_image_close(image);
    }
}

/* In the order of their names, so that a file gets the same slides everywhere. */
static void check_tree(const char *folder, unsigned depth)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char path[2048];
        struct stat st;
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && lstat(path, &st) == 0) {
            if (S_ISDIR(st.st_mode) && depth < 32)
                check_tree(path, depth + 1);
            else if (S_ISREG(st.st_mode))
                check_file(path);
        }
        free(entries[i]);
    }
    free(entries);
}

static size_t count_blocks(const loaded *l)
{
    machsym_image *image = loaded_open(l, l->len, false);
    size_t count = test_count_names(image, MACHSYM_SOURCE_BLOCK);
    machsym_image_close(image);
    return count;
}

/* A table of functions is no block, wherever it lies: below 4 GB an address may look like a block's flags. */
static void test_no_block(void)
{
    machsym_image *file = test_open("tests/real/cxx_eh_probe-arm64-stripped");
    size_t blocks = 0;
    test_begin();
    for (uint64_t addr = 0x10000000; addr < 0x10010000; addr += 4) {
        loaded l;
        CHECK(loaded_make(&l, file, addr));
        blocks += count_blocks(&l);
        free(l.v);
    }
    test_end("an image at 16,384 addresses");
    CHECK_EQ(blocks, 0);
    machsym_image_close(file);
}

/* Descriptors that begin with the size, which shares its word with a bit. */
static void test_small_descriptors(uint64_t size)
{
    machsym_image *file = test_open("tests/fixtures/bin/blocks-arm64-d4-22-strip");
    loaded l;
    CHECK(loaded_make(&l, file, 0x104000000));
    size_t blocks = count_blocks(&l);
    size_t changed = 0;
    CHECK(blocks > 1);
    for (uint64_t at = 0; at + 32 <= l.len; at += 8) {
        uint64_t descriptor = loaded_get(&l, at + 24, 8) - l.addr;
        if (loaded_get(&l, at + 8, 8) != 0x50000000)
            continue;
        loaded_set(&l, at + 8, 4, 0x50400000);
        loaded_set(&l, descriptor, 8, size);
        loaded_set(&l, descriptor + 8, 8, 0);
        changed++;
    }
    CHECK_EQ(changed, blocks);
    CHECK_EQ(count_blocks(&l), (size & 0x7fffffff) == 32 ? blocks : 0);
    free(l.v);
    machsym_image_close(file);
}

/* Memory that ends before the image does, at any place: less is known, and nothing outside is read. */
static void test_cut_short(void)
{
    static const char *const paths[] = {"tests/fixtures/bin/exports-arm64-chained.dylib",
                                        "tests/fixtures/bin/zoo-arm64-chained"};
    for (size_t i = 0; i < 2; i++) {
        machsym_image *file = test_open(paths[i]);
        loaded l;
        CHECK(loaded_make(&l, file, 0));
        for (size_t len = 0; len < l.len; len += 997) {
            uint8_t *end =
                (uint8_t *)malloc(len != 0 ? len : 1); /* its own, so that a sanitizer sees a step too far */
            loaded part = l;
            memcpy(end, l.v, len);
            part.v = end;
            machsym_image *image = loaded_open(&part, len, false);
            if (image != NULL) {
                machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, 0);
                machsym_cursor at = {0, 0};
                machsym_symbol symbol;
                while (machsym_session_next_name(session, &at, &symbol))
                    continue;
                machsym_session_close(session);
            }
            machsym_image_close(image);
            free(end);
        }
        free(l.v);
        machsym_image_close(file);
    }
}

/* A segment without permission to read is left alone, and so is one in front of the header. */
static void test_unreadable(void)
{
    machsym_image *file = test_open("tests/fixtures/bin/zoo-arm64-opcodes");
    loaded l;
    CHECK(loaded_make(&l, file, 0));
    uint64_t off = 32;
    for (uint64_t count = loaded_get(&l, 16, 4); count > 0; count--) {
        if (loaded_get(&l, off, 4) == 0x19 && memcmp(l.v + off + 8, "__LINKEDIT", 10) == 0)
            loaded_set(&l, off + 60, 4, 0); /* initprot */
        off += loaded_get(&l, off + 4, 4);
    }
    machsym_image *image = loaded_open(&l, l.len, true);
    CHECK(image != NULL);
    machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, 0);
    machsym_cursor at = {0, 0};
    machsym_symbol symbol;
    size_t objc = 0;
    while (machsym_session_next_name(session, &at, &symbol)) {
        CHECK(symbol.source != MACHSYM_SOURCE_SYMTAB && symbol.source != MACHSYM_SOURCE_FUNCTION_STARTS);
        objc += symbol.source == MACHSYM_SOURCE_OBJC;
    }
    CHECK(objc > 5);
    machsym_session_close(session);
    machsym_image_close(image);
    machsym_image_close(file);
    free(l.v);
}

/* A dSYM beside a loaded image is a file, not memory. */
static void test_pair(void)
{
    machsym_image *file = test_open("tests/fixtures/bin/inline-arm64-d5-22");
    loaded l;
    CHECK(loaded_make(&l, file, 0x7f0000004000));
    machsym_open_desc desc;
    machsym_image *image = NULL;
    memset(&desc, 0, sizeof desc);
    desc.bytes.ptr = l.v;
    desc.bytes.len = l.len;
    desc.flags = MACHSYM_OPEN_LOADED;
    desc.load_addr = l.addr;
    desc.pair_path = "tests/fixtures/bin/inline-arm64-d5-22.dSYM";
    CHECK(machsym_image_open(&desc, &image, NULL) == MACHSYM_OK);
    machsym_session *session = test_session(image, MACHSYM_LINES_ATOS, 0);
    machsym_session *by_file = test_session(file, MACHSYM_LINES_ATOS, 0);
    size_t lines = 0;
    test_begin();
    for (uint64_t off = 0; off < l.mo->text_size; off += 4) {
        machsym_frame a;
        machsym_frame b;
        memset(&a, 0, sizeof a);
        memset(&b, 0, sizeof b);
        machsym_session_frames_at_addr(session, machsym_image_addr_of_pc(image, l.addr, l.addr + off), &a, 1);
        machsym_session_frames_at_addr(by_file, l.mo->text_addr + off, &b, 1);
        CHECK(same(a.linkage_name, b.linkage_name) && a.line == b.line);
        lines += a.line != 0;
    }
    test_end("a loaded image and its file");
    CHECK(lines > 100);
    machsym_session_close(session);
    machsym_session_close(by_file);
    machsym_image_close(image);
    machsym_image_close(file);
    free(l.v);
}

int main(void)
{
    check_tree("tests/fixtures/bin", 0);
    check_tree("tests/real", 0);
    CHECK(image_count > 30);
    size_t fixtures = image_count;
    check_tree("../shared/corpus", 0);
    if (image_count == fixtures)
        test_leave_out("../shared/corpus", "it is not here");
    printf("%zu images, %zu names equal; %zu of classes in other images\n", image_count, name_count,
           import_count);
    test_no_block();
    test_small_descriptors(32);
    test_small_descriptors(0x80000020);
    test_small_descriptors(40); /* of a block that captures: not a literal */
    test_cut_short();
    test_unreadable();
    test_pair();
    return test_done();
}
