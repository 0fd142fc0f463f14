/* Writes the seeds in fuzz/corpus from the fixtures: whole small files, their headers, their sections as the
 * targets take them, and entries written by hand for the fixed abbreviations. cc -I. -o build/seeds
 * fuzz/seeds.c && build/seeds tests/fixtures/bin/hand-*.dwarf ... */
#define MACHSYM_IMPLEMENTATION
#include "units.h"

#include "../tests/loaded.h"
#include "../tests/make_cache.h"

#include <stdio.h>

static void write_seed(const char *target, const char *name, const bytes *content)
{
    char path[512];
    snprintf(path, sizeof path, "fuzz/corpus/%s/%s", target, name);
    FILE *out = fopen(path, "wb");
    if (out == NULL || fwrite(content->v, 1, content->len, out) != content->len || fclose(out) != 0) {
        printf("%s: cannot be written\n", path);
        exit(1);
    }
}

static bytes section_of(const machsym_image *image, const char *name)
{
    machsym_cursor at = {0, 0};
    machsym_section section;
    bytes content = {NULL, 0, 0};
    while (machsym_image_next_section(image, &at, &section)) {
        bool same = section.name.len == strlen(name) && memcmp(section.name.ptr, name, section.name.len) == 0;
        if (same && content.len == 0)
            put(&content, section.bytes.ptr, section.bytes.len);
    }
    return content;
}

static void put_part(bytes *b, const bytes *part, size_t max)
{
    size_t len = part->len < max ? part->len : max;
    put16(b, len);
    put(b, part->v, len);
}

/* The sections of one file as inputs of the targets that take sections. */
static void write_sections(const machsym_image *image, const char *name)
{
    enum { MOST = 3000 };
    bytes info = section_of(image, "__debug_info");
    bytes abbrev = section_of(image, "__debug_abbrev");
    bytes aranges = section_of(image, "__debug_aranges");
    bytes line = section_of(image, "__debug_line");
    bytes seed = {NULL, 0, 0};
    if (line.len != 0 && line.len < MOST)
        write_seed("lines", name, &line);
    if (info.len > 16 && abbrev.len < MOST) {
        put_part(&seed, &abbrev, MOST);
        put(&seed, info.v + 11, (info.len < MOST ? info.len : MOST) - 11);
        write_seed("abbrev", name, &seed);
        seed.len = 0;
        put_part(&seed, &info, MOST);
        put(&seed, aranges.v, aranges.len < 500 ? aranges.len : 500);
        write_seed("units", name, &seed);
    }
    bytes_free(&info);
    bytes_free(&abbrev);
    bytes_free(&aranges);
    bytes_free(&line);
    bytes_free(&seed);
}

/* The map of one file. */
static void write_maps(const machsym_image *image, const char *name)
{
    enum { MOST = 6000 };
    machsym_plan_desc desc;
    machsym_map *map;
    bytes seed = {NULL, 0, 0};
    memset(&desc, 0, sizeof desc);
    desc.image = image;
    desc.flags = (name[0] % 2 != 0 ? MACHSYM_MAP_COLUMNS : 0u) | MACHSYM_MAP_UNWIND;
    if (machsym_map_build(&desc, &map, NULL) != MACHSYM_OK)
        return;
    put(&seed, machsym_map_bytes(map).ptr, machsym_map_bytes(map).len);
    if (seed.len < MOST)
        write_seed("map", name, &seed);
    machsym_map_close(map);
    bytes_free(&seed);
}

static void put_file(bytes *b, const char *path)
{
    test_file file = test_read(path);
    put(b, file.ptr, file.len);
    free(file.ptr);
}

static void write_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    machsym_open_desc desc;
    machsym_image *image;
    bytes content = {NULL, 0, 0};
    put_file(&content, path);
    if (content.len < 13000) {
        write_seed("lookup", name, &content);
        write_seed("agree", name, &content);
    }
    content.len = content.len < 2500 ? content.len : 2500;
    write_seed("macho", name, &content);
    bytes_free(&content);
    memset(&desc, 0, sizeof desc);
    desc.path = path;
    desc.flags = MACHSYM_OPEN_NO_PAIR;
    if (machsym_image_open(&desc, &image, NULL) != MACHSYM_OK)
        return;
    write_sections(image, name);
    write_maps(image, name);
    machsym_image_close(image);
}

/* A function with calls inlined into it, in the fixed abbreviations of units.h. */
static void put_tree(bytes *b, unsigned addr_size)
{
    put8(b, 1);
    put_str(b, "unit.c");
    put8(b, 0);
    put_uint(b, 0x1000, addr_size);
    put16(b, 0x1000);
    put8(b, 8);
    put_str(b, "abstract");
    put_str(b, "_Zabstract");
    put8(b, 0);
    put8(b, 3);
    put_str(b, "f");
    put_uint(b, 0x1000, addr_size);
    put8(b, 0x80);
    for (unsigned i = 0; i < 3; i++) {
        put8(b, 6);
        put8(b, 30);
        put_uint(b, 0x1000 + 8 * i, addr_size);
        put8(b, 0x40 - 0x10 * i);
        put8(b, 1);
        put8(b, 5 + i);
        put_sleb(b, 3);
    }
    put_zeros(b, 4);
    put8(b, 4);
    put8(b, 30);
    put8(b, 0);
    put8(b, 0);
    put8(b, 0);
}

static void write_functions(void)
{
    for (unsigned addr_size = 4; addr_size <= 8; addr_size += 4) {
        bytes ranges = {NULL, 0, 0};
        bytes seed = {NULL, 0, 0};
        for (unsigned i = 0; i < 3; i++) {
            put_uint(&ranges, 0x100 * i, addr_size);
            put_uint(&ranges, 0x100 * i + 0x40, addr_size);
        }
        put_zeros(&ranges, 16);
        put(&ranges, "\4\20\40\7", 4);
        put_uint(&ranges, 0x1400, addr_size);
        put8(&ranges, 0x20);
        put8(&ranges, 0);
        put_part(&seed, &ranges, 500);
        put_tree(&seed, addr_size);
        write_seed("functions", addr_size == 4 ? "tree-4" : "tree-8", &seed);
        bytes_free(&seed);
        bytes_free(&ranges);
    }
}

static void write_symbols(void)
{
    for (unsigned is_32 = 0; is_32 < 2; is_32++) {
        bytes seed = {NULL, 0, 0};
        bytes entries = {NULL, 0, 0};
        bytes texts = {NULL, 0, 0};
        bytes indirect = {NULL, 0, 0};
        put8(&texts, 0);
        for (unsigned i = 0; i < 4; i++) {
            static const char *const names[] = {"_main", "__ZN1a1bEv", "ltmp0", "_malloc"};
            put32(&entries, texts.len);
            put8(&entries, i == 3 ? 1 : 0x0e + (i & 1));
            put8(&entries, i == 3 ? 0 : 1);
            put16(&entries, 0);
            put_uint(&entries, 0x1000 + 0x40 * i, is_32 == 1 ? 4 : 8);
            put_str(&texts, names[i]);
        }
        put32(&indirect, 3);
        put8(&seed, is_32);
        put_part(&seed, &entries, 1000);
        put_part(&seed, &texts, 1000);
        put_part(&seed, &indirect, 1000);
        put_uleb(&seed, 0x40);
        put_uleb(&seed, 0x240);
        put8(&seed, 0);
        write_seed("symbols", is_32 == 1 ? "table-32" : "table-64", &seed);
        bytes_free(&seed);
        bytes_free(&entries);
        bytes_free(&texts);
        bytes_free(&indirect);
    }
}

/* A program, then what stands for its object files. */
static void write_debugmap(const char *program, const char *object, const char *name)
{
    bytes seed = {NULL, 0, 0};
    bytes part = {NULL, 0, 0};
    put_file(&part, program);
    put_part(&seed, &part, 0xffff);
    put_file(&seed, object);
    write_seed("debugmap", name, &seed);
    bytes_free(&seed);
    bytes_free(&part);
}

static void write_debugmaps(void)
{
#define BIN "tests/fixtures/bin/"
    write_debugmap(BIN "map-x86_64-d4-O2/program", BIN "map-x86_64-d4-O2/main.o", "object-4");
    write_debugmap(BIN "map-x86_64-d5-O0/program", BIN "map-x86_64-d5-O0/main.o", "object-5");
    write_debugmap(BIN "map-x86_64-d4-O2/program", BIN "map-x86_64-d4-O2/libutil.a", "archive-4");
    write_debugmap(BIN "map-x86_64-d5-O0/program", BIN "map-x86_64-d5-O0/libutil.a", "archive-5");
    write_debugmap(BIN "map-x86_64-d4-O2/program", BIN "archive/fat.a", "fat");
    write_debugmap(BIN "map-x86_64-d4-O2/program", BIN "archive/gnu.a", "gnu");
    write_debugmap(BIN "map-x86_64-d4-O2/program", BIN "archive/thin.a", "thin");
}

static void write_loaded(const char *path, const char *name)
{
    machsym_image *image = test_open(path);
    loaded l;
    if (image != NULL && loaded_make(&l, image, 0x200000000)) {
        bytes seed = {NULL, 0, 0};
        put(&seed, l.v, l.len);
        write_seed("loaded", name, &seed);
        bytes_free(&seed);
        free(l.v);
    }
    machsym_image_close(image);
}

static void write_all_loaded(void)
{
    write_loaded(BIN "frames-x86_64-strip", "frames");
    write_loaded(BIN "exports-x86_64-opcodes-strip-x.dylib", "exports");
    write_loaded(BIN "zoo-x86_64-opcodes-strip", "objc");
    write_loaded(BIN "zoo-x86_64-chained-relative", "relative");
#undef BIN
}

static void write_caches(void)
{
    static const tiny kinds[] = {
        {.slide = 1}, {.slide = 2}, {.slide = 3, .is_old = true}, {.slide = 3, .is_split = true},
        {.slide = 4}, {.slide = 5}};
    static const char *const names[] = {"slide-1", "slide-2", "old", "split", "slide-4", "slide-5"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        tiny t = kinds[i];
        bytes seed = {NULL, 0, 0};
        tiny_make(&t);
        put_part(&seed, &t.main, 0xffff);
        put_part(&seed, &t.sibling, 0xffff);
        put_bytes(&seed, &t.symbols);
        write_seed("cache", names[i], &seed);
        bytes_free(&seed);
        tiny_free(&t);
    }
}

/* Stubs and islands: what they jump to is another image's. */
static void write_jumps(void)
{
    for (unsigned i = 0; i < 2; i++) {
        jumping j = {.images = 2, .jumps = 4, .symbols = 2, .is_x86_64 = i != 0};
        bytes seed = {NULL, 0, 0};
        jumping_make(&j);
        put_part(&seed, &j.file, 0xffff);
        write_seed("cache", i != 0 ? "jumps-x86_64" : "jumps-arm64", &seed);
        bytes_free(&seed);
        bytes_free(&j.file);
    }
}

/* A CIE, and the FDE of all code, with a CFA expression of the frame pointer, on x86_64; then the stack. */
static void write_frame_step(void)
{
    static const uint8_t frames[] = {
        28,   0, 0,    0, 0,    0,    0,    0,    1, 'z',  'R', 0,    1,  0x78, 16, 1, 0x03, 12, 6, 16,
        0x90, 1, 0x86, 2, 0,    0,    0,    0,    0, 0,    0,   0,    24, 0,    0,  0, 36,   0,  0, 0,
        0,    0, 0,    0, 0xff, 0xff, 0xff, 0x7f, 0, 0x0f, 2,   0x76, 16, 0x16, 3,  2, 0x23, 8,  0, 0};
    bytes b = {NULL, 0, 0};
    put8(&b, 1 | 4 | 8);
    for (unsigned i = 0; i < 8; i++)
        put8(&b, 12);
    put(&b, frames, sizeof frames);
    put_zeros(&b, 9 + 96 - b.len);
    for (unsigned i = 0; i < 32; i++)
        put64(&b, i % 2 == 0 ? 96 + 16 * (i + 2) : 64);
    write_seed("step", "x86_64-frames", &b);
    b.v[0] = 1 | 4 | 8 | 64;
    write_seed("step", "x86_64-frames-changing", &b);
    b.v[0] = 1 | 4 | 8 | 128;
    write_seed("step", "x86_64-frames-failing", &b);
    b.v[0] = 1 | 4 | 8 | 16;
    patch(&b, 9 + 4, 0xffffffff, 4); /* the CIE of a __debug_frame, and its offset */
    patch(&b, 9 + 36, 0, 4);
    write_seed("step", "x86_64-debug_frame", &b);
    bytes_free(&b);
}

/* A table of two functions with a frame and without one, and a stack of three frames after it: for each
 * processor, read from memory and from a file. */
static void write_steps(void)
{
    static const char *const names[] = {"arm64", "x86_64", "i386", "arm64_32"};
    static const uint32_t encodings[4][2] = {{0x04000005, 0x02002001},
                                             {0x01010001, 0x02050800},
                                             {0x01010001, 0x02050800},
                                             {0x04000005, 0x02002001}};
    for (unsigned kind = 0; kind < 8; kind++) {
        const uint32_t head[] = {1,
                                 28,
                                 0,
                                 28,
                                 0,
                                 28,
                                 2,
                                 0,
                                 52,
                                 0,
                                 64,
                                 0,
                                 0,
                                 2,
                                 8 | 2 << 16,
                                 0,
                                 encodings[kind & 3][0],
                                 1 << 5,
                                 encodings[kind & 3][1]};
        bytes b = {NULL, 0, 0};
        put8(&b, kind);
        for (unsigned i = 0; i < 8; i++)
            put8(&b, i == 6
                         ? 4
                         : 12); /* pc 32 is number 0 of 8; sp 31 is 7, sp 7 is 7, fp 29 is 5 and fp 6 is 6 */
        for (size_t i = 0; i < sizeof head / sizeof head[0]; i++)
            put32(&b, head[i]);
        while (b.len < 9 + 96)
            put8(&b, 0);
        for (unsigned i = 0; i < 32; i++)
            put_uint(&b, i % 2 == 0 ? 96 + 16 * (i + 2) : 8 * i % 64, (kind & 3) == 2 ? 4 : 8);
        char name[32];
        snprintf(name, sizeof name, "%s-%s", names[kind & 3], kind < 4 ? "memory" : "file");
        write_seed("step", name, &b);
        b.v[0] = (uint8_t)(kind | 32 | 128);
        snprintf(name, sizeof name, "%s-failing", names[kind & 3]);
        if (kind < 2)
            write_seed("step", name, &b);
        b.v[0] = 32; /* the first frame is of an async function: its context is before the frame pointer */
        patch(&b, 9 + 88, 112, 8);
        patch(&b, 9 + 96 + 7, 0x10, 1);
        if (kind == 0)
            write_seed("step", "arm64-awaiting", &b);
        bytes_free(&b);
    }
    write_frame_step();
}

/* Reports of every kind after the eight bytes of report_api: each way to read them has some. */
static void write_reports(void)
{
    static const char *const names[] = {"reports/demo.crash",
                                        "reports/demo.ips",
                                        "reports/demo-utf16.crash",
                                        "reports/demo-sample.txt",
                                        "reports/demo-kscrash.json",
                                        "reports/demo-metrickit.json",
                                        "reports/demo-leb.crash",
                                        "reports/jetsam.ips",
                                        "reports/demo-text-in-ips.ips",
                                        "reports/demo-exceptions.ips",
                                        "services/breakpad.dmp",
                                        "services/noted.core",
                                        "services/thrown.plcrash",
                                        "services/node.json",
                                        "services/sentry-envelope.txt",
                                        "services/bugsnag-event.json",
                                        "services/crash.plcrash",
                                        "services/crashlytics-crashed.txt",
                                        "services/kscrash-several.json",
                                        "services/metrickit-27.json",
                                        "stacks/xctrace.xml",
                                        "stacks/tracker.json",
                                        "stacks/log.ndjson",
                                        "stacks/stackshot.txt",
                                        "stacks/lldb.txt",
                                        "stacks/asan.txt",
                                        "stacks/swift.txt",
                                        "stacks/umeng.txt",
                                        "stacks/mail.txt",
                                        "apple/mac26.ips"};
    /* files, files redacted, made up, none, made up and redacted, files with a poor session */
    static const uint8_t ways[] = {0, 1, 32, 64, 33, 128};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bytes seed = {NULL, 0, 0};
        char path[128];
        snprintf(path, sizeof path, "tests/fixtures/%s", names[i]);
        put8(&seed, i % 2 == 0 ? 64 : i * 37 & 127); /* machsym_report_flags */
        put8(&seed, ways[i % sizeof ways]);
        put8(&seed, i);
        put8(&seed, 0);
        put8(&seed, 0);
        put16(&seed, i % 5 == 4 ? 30 * i : 0);
        put8(&seed, 3 + i);
        put_file(&seed, path);
        write_seed("report_api", strrchr(path, '/') + 1, &seed);
        bytes_free(&seed);
    }
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        write_file(argv[i]);
    write_functions();
    write_symbols();
    write_debugmaps();
    write_all_loaded();
    write_caches();
    write_jumps();
    write_steps();
    write_reports();
    return 0;
}
