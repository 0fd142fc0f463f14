/* Small files cut at every byte, and with every byte flipped, through opening, lookups and iteration: nothing
 * crashes, hangs or reads past the end. The bytes end where a page without access begins, so that a read past
 * them is seen without a sanitizer too. */
#include "loaded.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sys/mman.h>
#include <unistd.h>

#define LOAD_ADDR 0x200000000u /* of images in memory */

/* Room whose end is guarded. */
static uint8_t *guarded_end(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t whole = (size + page - 1) / page * page;
    uint8_t *room =
        (uint8_t *)mmap(NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED || mprotect(room + whole, page, PROT_NONE) != 0) {
        puts("no guarded memory");
        exit(1);
    }
    return room + whole;
}

static void read_text(machsym_str text, unsigned *sum)
{
    for (size_t i = 0; i < text.len; i++)
        *sum += (uint8_t)text.ptr[i];
}

/* Every name and path of the frames is read to its end. */
static void ask(machsym_session *session, uint64_t addr, unsigned *sum)
{
    machsym_frame frames[32];
    size_t count = machsym_session_frames_at_addr(session, addr, frames, 32);
    for (size_t i = 0; i < count && i < 32; i++) {
        read_text(frames[i].linkage_name, sum);
        read_text(frames[i].name, sum);
        read_text(frames[i].file.comp_dir, sum);
        read_text(frames[i].file.dir, sum);
        read_text(frames[i].file.name, sum);
    }
}

static void iterate(machsym_session *session, unsigned *sum)
{
    machsym_cursor at = {0, 0};
    machsym_function function;
    machsym_line line;
    machsym_symbol symbol;
    machsym_objc item;
    machsym_object object;
    while (machsym_session_next_function(session, &at, &function)) {
        read_text(function.linkage_name, sum);
        read_text(function.name, sum);
    }
    memset(&at, 0, sizeof at);
    while (machsym_session_next_line(session, &at, &line))
        read_text(line.file.name, sum);
    memset(&at, 0, sizeof at);
    while (machsym_session_next_symbol(session, &at, &symbol))
        read_text(symbol.name, sum);
    memset(&at, 0, sizeof at);
    while (machsym_session_next_name(session, &at, &symbol))
        read_text(symbol.name, sum);
    memset(&at, 0, sizeof at);
    while (machsym_session_next_objc(session, &at, &item)) {
        read_text(item.class_name, sum);
        read_text(item.selector, sum);
    }
    memset(&at, 0, sizeof at);
    while (machsym_session_next_object(session, &at, &object))
        read_text(object.path, sum);
}

static const char *const objects = "tests/fixtures/bin"; /* where those of debug maps are */

/* Opens every slice and uses it. Returns false when nothing could be opened. */
static bool use(const uint8_t *ptr, size_t len, uint32_t flags, unsigned *sum)
{
    machsym_open_desc desc;
    machsym_slice slices[4];
    bool opened = false;
    memset(&desc, 0, sizeof desc);
    desc.bytes.ptr = ptr;
    desc.bytes.len = len;
    desc.flags = flags;
    desc.load_addr = LOAD_ADDR;
    desc.oso_dirs = &objects;
    desc.oso_dir_count = 1;
    size_t count = machsym_list_slices(&desc, slices, 4, NULL);
    for (size_t i = 0; i < count && i < 4; i++) {
        machsym_image *image = NULL;
        machsym_session *session = NULL;
        machsym_session_desc how;
        machsym_cursor at = {0, 0};
        machsym_section section;
        desc.arch = slices[i].arch;
        if (machsym_image_open(&desc, &image, NULL) != MACHSYM_OK)
            continue;
        memset(&how, 0, sizeof how);
        how.image = image;
        if (machsym_session_open(&how, &session, NULL) != MACHSYM_OK)
            exit(1);
        opened = true;
        while (machsym_image_next_section(image, &at, &section)) {
            for (unsigned j = 0; j < 6 && section.is_code; j++)
                ask(session, section.addr + section.size / 5 * j, sum);
        }
        iterate(session, sum);
        machsym_session_close(session);
        machsym_image_close(image);
    }
    return opened;
}

/* Cuts the bytes at every stride-th one, and flips these in three ways. */
static void check_bytes(const uint8_t *ptr, size_t size, uint32_t flags, size_t stride)
{
    unsigned sum = 0;
    uint8_t *end = guarded_end(size);
    memcpy(end - size, ptr, size);
    CHECK(use(end - size, size, flags, &sum));
    CHECK(sum > 0);
    size_t opened = 0;
    for (size_t len = 0; len < size; len += stride) {
        memcpy(end - len, ptr, len);
        opened += use(end - len, len, flags, &sum);
    }
    CHECK(opened > 0);
    memcpy(end - size, ptr, size);
    opened = 0;
    for (size_t i = 0; i < size; i += stride) {
        uint8_t *byte = end - size + i;
        uint8_t was = *byte;
        static const uint8_t values[] = {0xff, 0x80, 0x01};
        for (unsigned j = 0; j < 3; j++) {
            *byte = (uint8_t)(was ^ values[j]);
            opened += use(end - size, size, flags, &sum);
        }
        *byte = was;
    }
    CHECK(opened > size / stride);
}

static void check_file(const char *name, size_t stride)
{
    char path[256];
    snprintf(path, sizeof path, "tests/fixtures/bin/%s", name);
    test_file file = test_read(path);
    check_bytes(file.ptr, file.len, 0, stride);
    free(file.ptr);
}

/* The same of an image as it lies in memory. */
static void check_loaded(const char *name, size_t stride)
{
    char path[256];
    loaded l;
    snprintf(path, sizeof path, "tests/fixtures/bin/%s", name);
    machsym_image *image = test_open(path);
    bool made = image != NULL && loaded_make(&l, image, LOAD_ADDR);
    CHECK(made);
    if (!made)
        return;
    check_bytes(l.v, l.len, MACHSYM_OPEN_LOADED, stride);
    free(l.v);
    machsym_image_close(image);
}

int main(void)
{
#ifdef __GLIBC__
    mallopt(M_TRIM_THRESHOLD,
            1 << 28); /* memory that goes back to the system each time is a third of the work */
    mallopt(M_MMAP_THRESHOLD, 1 << 28);
#endif
    size_t stride = test_env(getenv("STRIDE") != NULL ? "STRIDE" : "SAMPLE");
    check_file("hand-split4.dwarf", stride);
    check_file("hand-split5.dwarf", stride);
    check_file("hand-lines.dwarf", stride);
    check_file("hand-units.dwarf", stride);
    check_file("hand-forms.dwarf", stride);
    check_file("hand-dwarf64.dwarf", stride);
    check_file("cross-arm64-d5-22.dwarf", stride);
    check_file("plain-armv7-thumb.o", stride);
    check_file("symbols-x86_64", stride);
    check_file("inline-fat.dwarf", 29 * stride);
    check_file("zoo-armv7.o", stride);
    check_file("zoo-i386-old.o", stride);
    check_file("frames-x86_64-strip", stride);
    check_file("zoo-arm64-chained-relative-strip", 3 * stride);
    check_file("zoo-arm64-opcodes-strip", 3 * stride);
    check_file("blocks-arm64-d4-22-strip", 3 * stride);
    check_file("exports-x86_64-trie.dylib", 3 * stride);
    check_file("map-x86_64-d4-O2/program", 7 * stride);
    check_loaded("frames-x86_64-strip", 3 * stride);
    check_loaded("zoo-x86_64-opcodes-strip", 7 * stride);
    check_loaded("exports-x86_64-opcodes-strip-x.dylib", 11 * stride);
    return test_done();
}
