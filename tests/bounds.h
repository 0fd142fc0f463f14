/* What programs use that show that work and memory are bounded: a hostile file is opened, asked, iterated
 * over and made a map of, while steps and memory are counted. */
#ifndef MACHSYM_BOUNDS_H
#define MACHSYM_BOUNDS_H

#include "counters.h"

#include "dwarf.h"

#include <unistd.h>

enum { LOOKUPS = 1000 };

static char folder[] = "/tmp/machsym-bounds-XXXXXX"; /* for the object files of debug maps */

/* ---- What is measured ---- */

static inline void look_up(machsym_session *session, uint64_t lo, uint64_t size)
{
    machsym_frame frames[16];
    for (uint64_t i = 0; i < LOOKUPS; i++)
        machsym_session_frames_at_addr(session, lo + size * i / LOOKUPS, frames, 16);
}

static inline void iterate(machsym_session *session)
{
    machsym_session_counts info;
    machsym_function function;
    machsym_line line;
    machsym_symbol symbol;
    machsym_object object;
    machsym_objc objc;
    machsym_cursor at[5];
    memset(at, 0, sizeof at);
    while (machsym_session_next_function(session, &at[0], &function))
        continue;
    while (machsym_session_next_line(session, &at[1], &line))
        continue;
    while (machsym_session_next_symbol(session, &at[2], &symbol))
        continue;
    while (machsym_session_next_object(session, &at[3], &object))
        continue;
    while (machsym_session_next_objc(session, &at[4], &objc))
        continue;
    machsym_session_count_all(session, &info);
}

static inline void look_into(const machsym_map *map, uint64_t lo, uint64_t size)
{
    char text[4096];
    machsym_map_frame found[16];
    machsym_frame frames[16];
    machsym_map_range range;
    machsym_cursor at = {0, 0};
    for (uint64_t i = 0; i < LOOKUPS; i++) {
        size_t count = machsym_map_frames_at_addr(map, lo + size * i / LOOKUPS, found, 16);
        machsym_map_names(map, found, count < 16 ? count : 16, frames, text, sizeof text);
    }
    while (machsym_map_next(map, &at, &range))
        continue;
}

/* ---- Memory ---- */

static size_t live;
static size_t peak;

static inline void *count_alloc(void *user, size_t size)
{
    (void)user;
    live += size;
    peak = live > peak ? live : peak;
    return malloc(size);
}

static inline void count_free(void *user, void *ptr, size_t size)
{
    (void)user;
    live -= size;
    free(ptr);
}

static const machsym_allocator counting = {count_alloc, count_free, NULL};

static inline machsym_session *open_session(const machsym_image *image, machsym_lines lines,
                                            size_t cache_limit)
{
    machsym_session_desc desc;
    machsym_session *session = NULL;
    memset(&desc, 0, sizeof desc);
    desc.image = image;
    desc.lines = lines;
    desc.cache_limit = cache_limit;
    desc.allocator = counting;
    CHECK_EQ(machsym_session_open(&desc, &session, NULL), MACHSYM_OK);
    return session;
}

/* A hostile file to come. */
typedef struct trap {
    program p; /* what make_* writes */
    bytes file;
    const char *entry; /* the image of the file that is opened; NULL: it is one */
    uint64_t lo;       /* where its code begins; 0: at MAKE_TEXT */
    uint32_t flags;    /* of opening */
    bool is_map;
    size_t beside; /* bytes of the object file */
} trap;

/* Everything that a program does with a map. Returns the work. */
static inline unsigned long long use_map(const trap *t, uint64_t lo, uint64_t size)
{
    machsym_map_desc given;
    machsym_map *map = NULL;
    memset(&given, 0, sizeof given);
    given.bytes.ptr = t->file.v;
    given.bytes.len = t->file.len;
    given.flags = t->flags;
    given.allocator = counting;
    work = 0;
    CHECK_EQ(machsym_map_open(&given, &map, NULL), MACHSYM_OK);
    if (map != NULL)
        look_into(map, lo, size);
    machsym_map_close(map);
    return work;
}

/* Everything that a program does with a file, under one line policy after another. Returns the work of the
 * dearest. */
static unsigned long long use(const trap *t, uint64_t lo, uint64_t size)
{
    const char *dir = folder;
    machsym_open_desc desc;
    machsym_image *image = NULL;
    machsym_slice slice;
    memset(&desc, 0, sizeof desc);
    desc.bytes.ptr = t->file.v;
    desc.bytes.len = t->file.len;
    desc.entry = t->entry;
    desc.flags = t->flags;
    desc.allocator = counting;
    desc.oso_dirs = &dir;
    desc.oso_dir_count = 1;
    work = 0;
    machsym_list_slices(&desc, &slice, 1, NULL);
    unsigned long long most = work;
    for (int lines = 0; lines < MACHSYM_LINES_COUNT; lines += lines == 0 ? 2 : 1) { /* atos, stmt, people */
        machsym_plan_desc plan;
        machsym_map *map = NULL;
        work = 0;
        if (machsym_image_open(&desc, &image, NULL) != MACHSYM_OK)
            return work > most ? work : most;
        machsym_session *session = open_session(image, (machsym_lines)lines, 0);
        look_up(session, lo, size);
        iterate(session);
        machsym_session_close(session);
        memset(&plan, 0, sizeof plan);
        plan.image = image;
        plan.lines = (machsym_lines)lines;
        plan.flags = MACHSYM_MAP_DAMAGED;
        plan.allocator = counting;
        CHECK_EQ(machsym_map_build(&plan, &map, NULL), MACHSYM_OK);
        if (map != NULL)
            look_into(map, lo, size);
        machsym_map_close(map);
        machsym_image_close(image);
        most = work > most ? work : most;
    }
    return most;
}

/* What a trap cost. */
typedef struct cost {
    unsigned long long work;
    size_t memory; /* at its peak */
    size_t size;   /* of the file */
} cost;

/* Builds the file of a trap, n of its repeated parts, and uses it. */
static inline cost spring(void (*set)(trap *t, size_t n), size_t n)
{
    cost c;
    trap t;
    memset(&t, 0, sizeof t);
    set(&t, n);
    if (t.file.len == 0) {
        machsym_image_close(program_open(&t.p));
        put_bytes(&t.file, &t.p.file);
    }
    uint64_t code = t.p.macho.code_size != 0 ? t.p.macho.code_size : (uint64_t)MAKE_CODE_SIZE;
    live = peak = 0;
    c.size = t.file.len + t.beside;
    c.work = (t.is_map ? use_map : use)(&t, t.lo != 0 ? t.lo : (uint64_t)MAKE_TEXT, code);
    c.memory = peak;
    CHECK_EQ(live, 0);
    bytes_free(&t.file);
    program_free(&t.p);
    return c;
}

/* The budget that the manual states. */
static inline bool within_budget(const cost *c)
{
    return c->work <= 2048 * (unsigned long long)c->size + 4000000 &&
           c->memory <= 640 * c->size + (16u << 20);
}

/* ---- Entries ---- */

/* An entry with DW_AT_low_pc and DW_AT_high_pc: a root, a function, a block. */
static inline void put_entry(program *p, unsigned code, uint64_t lo, uint64_t size)
{
    die(p, code);
    put_addr(p, &p->info, lo);
    put_uint(&p->info, size, 4);
}

/* ---- Texts ---- */

/* A section of text, n times 16 bytes long, that is one string. */
static inline void put_long_text(bytes *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put(b, "a_very_long_name", 16);
    put8(b, 0);
}

/* ---- Mach-O by hand ---- */

/* A file whose load commands and data are given; data begins at the returned offset. */
static inline void put_header(bytes *b, uint32_t filetype, uint32_t count, size_t size)
{
    put32(b, 0xfeedfacfu);
    put32(b, 0x0100000cu);
    put32(b, 0);
    put32(b, filetype);
    put32(b, count);
    put32(b, size);
    put64(b, 0);
}

static inline void put_segment(bytes *b, const char *name, uint64_t addr, uint64_t size, uint64_t off,
                               uint64_t len, uint32_t sections)
{
    put32(b, 0x19);
    put32(b, 72 + 80 * sections);
    put_name(b, name);
    put64(b, addr);
    put64(b, size);
    put64(b, off);
    put64(b, len);
    put32(b, 5);
    put32(b, 5);
    put32(b, sections);
    put32(b, 0);
}

static inline void put_section(bytes *b, const char *segment, const char *name, uint64_t addr, uint64_t size,
                               uint32_t off, uint32_t flags, uint32_t reserved1, uint32_t reserved2)
{
    put_name(b, name);
    put_name(b, segment);
    put64(b, addr);
    put64(b, size);
    put32(b, off);
    put32(b, 0);
    put32(b, 0);
    put32(b, 0);
    put32(b, flags);
    put32(b, reserved1);
    put32(b, reserved2);
    put32(b, 0);
}

/* LC_SYMTAB: symbols at off, their names after them. */
static inline void put_symtab(bytes *b, size_t off, size_t count, size_t names)
{
    put32(b, 2);
    put32(b, 24);
    put32(b, off);
    put32(b, count);
    put32(b, off + 16 * count);
    put32(b, names);
}

/* ---- Object files ---- */

static inline void put_nlist(bytes *b, uint32_t strx, uint8_t type, uint8_t section, uint64_t value)
{
    put32(b, strx);
    put8(b, type);
    put8(b, section);
    put16(b, 0);
    put64(b, value);
}

/* Writes what debug maps name. */
static inline void jsonframe_object(const bytes *object)
{
    char path[64];
    snprintf(path, sizeof path, "%s/o.o", folder);
    FILE *out = fopen(path, "wb");
    CHECK(out != NULL && fwrite(object->v, 1, object->len, out) == object->len && fclose(out) == 0);
}

#endif
