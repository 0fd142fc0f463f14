/* What the fuzz targets share: parts of an input, hand-made files around them, and a use of everything that
 * opens. They use public functions only, so that one build of the header serves them all. A target is built
 * by `make fuzz` and run as build/fuzz/NAME fuzz/corpus/NAME; `make fuzz-short` runs all for some seconds each,
 * `make fuzz-replay` runs the seeds without libFuzzer. */
#ifndef MACHSYM_FUZZ_DRIVE_H
#define MACHSYM_FUZZ_DRIVE_H

#include "../tests/room.h"

#include <stdlib.h>
#include <string.h>

#include "../tests/make.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned drive_sum; /* keeps every read */

static inline void drive_text(machsym_str text)
{
    for (size_t i = 0; i < text.len; i++)
        drive_sum += (uint8_t)text.ptr[i];
}

static inline void drive_path(const machsym_path *path)
{
    char buf[64];
    machsym_path_join(path, buf, sizeof buf);
    drive_text(path->name);
}

/* Takes the next part of an input: two bytes say how long it is, the last part is all that is left. */
static inline bytes drive_part(const uint8_t **data, size_t *size, bool last)
{
    bytes part = {NULL, 0, 0};
    size_t len = *size;
    if (!last) {
        if (*size < 2)
            return part;
        len = (size_t)((*data)[0] | (*data)[1] << 8);
        *data += 2;
        *size -= 2;
        len = len < *size ? len : *size;
    }
    put(&part, *data, len);
    *data += len;
    *size -= len;
    return part;
}

static inline void drive_ask(machsym_session *session, uint64_t addr)
{
    machsym_frame frames[8];
    machsym_explanation e;
    size_t count = machsym_session_frames_at_addr(session, addr, frames, 8);
    for (size_t i = 0; i < count && i < 8; i++) {
        drive_text(frames[i].linkage_name);
        drive_text(frames[i].name);
        drive_path(&frames[i].file);
        if (frames[i].is_inline != (i + 1 < count))
            abort(); /* the last frame, and only that, is the function itself */
        if (frames[i].function_size != 0 && addr - frames[i].function_start >= frames[i].function_size)
            abort(); /* a function never answers outside its range */
    }
    machsym_session_explain_addr(session, addr, &e);
    drive_text(e.unit_name);
    drive_text(e.unit_producer);
}

enum { DRIVE_LIMIT = 300 };

/* All iterations, and lookups at what they name. */
static inline void drive_session(machsym_session *session, const machsym_image *image)
{
    machsym_cursor at = {0, 0};
    machsym_section section;
    machsym_function function;
    machsym_line line;
    machsym_symbol symbol;
    machsym_session_counts info;
    for (unsigned i = 0; i < DRIVE_LIMIT && machsym_image_next_section(image, &at, &section); i++) {
        drive_ask(session, section.addr);
        drive_ask(session, section.addr + section.size / 2);
        drive_ask(session, section.addr + section.size - 1);
        drive_text(section.name);
    }
    memset(&at, 0, sizeof at);
    for (unsigned i = 0; i < DRIVE_LIMIT && machsym_session_next_function(session, &at, &function); i++) {
        drive_text(function.linkage_name);
        drive_text(function.name);
        drive_ask(session, function.lo);
        drive_ask(session, function.hi - 1);
    }
    memset(&at, 0, sizeof at);
    for (unsigned i = 0; i < DRIVE_LIMIT && machsym_session_next_line(session, &at, &line); i++) {
        drive_path(&line.file);
        drive_ask(session, line.addr);
    }
    memset(&at, 0, sizeof at);
    for (unsigned i = 0; i < DRIVE_LIMIT && machsym_session_next_symbol(session, &at, &symbol); i++) {
        machsym_cursor alias = {0, 0};
        machsym_str name;
        if (symbol.hi <= symbol.lo)
            abort();
        drive_text(symbol.name);
        for (unsigned j = 0; j < 8 && machsym_session_next_alias_at_addr(session, symbol.lo, &alias, &name);
             j++)
            drive_text(name);
        drive_ask(session, symbol.lo);
    }
    machsym_session_count_all(session, &info);
    drive_sum += info.damaged_units;
}

/* Opens a slice and uses it under every line policy. */
static inline void drive_open(const machsym_open_desc *desc)
{
    machsym_image *image;
    machsym_error err;
    machsym_image_info info;
    if (machsym_image_open(desc, &image, &err) != MACHSYM_OK) {
        drive_sum += (unsigned)(strlen(err.what) + strlen(err.where));
        return;
    }
    machsym_image_get_info(image, &info);
    for (unsigned lines = 0; lines < MACHSYM_LINES_COUNT; lines++) {
        machsym_session *session;
        machsym_session_desc how;
        memset(&how, 0, sizeof how);
        how.image = image;
        how.lines = (machsym_lines)lines;
        how.flags = lines == 0 ? MACHSYM_SESSION_BEST_LINE : 0;
        how.cache_limit = lines == 1 ? 1 : 0;
        if (machsym_session_open(&how, &session, NULL) != MACHSYM_OK)
            abort();
        drive_session(session, image);
        machsym_session_close(session);
    }
    machsym_image_count_damage(image, &info);
    drive_sum += info.damage_count;
    machsym_image_close(image);
}

static inline void drive_file(const void *ptr, size_t len, uint32_t flags)
{
    machsym_open_desc desc;
    machsym_slice slices[3];
    memset(&desc, 0, sizeof desc);
    desc.bytes.ptr = ptr;
    desc.bytes.len = len;
    desc.flags = flags;
    if (len == 0)
        return;
    size_t count = machsym_list_slices(&desc, slices, 3, NULL);
    drive_open(&desc);
    for (size_t i = 0; i < count && i < 3 && count > 1; i++) {
        desc.arch = slices[i].arch;
        drive_open(&desc);
    }
}

/* Makes a file of sections, uses it, and frees it. */
static inline void drive_made(const make_macho *m)
{
    bytes file = make_file(m);
    /* a copy of just that size: reads past its end are seen */
    uint8_t *copy = (uint8_t *)malloc(file.len);
    if (copy == NULL)
        abort();
    memcpy(copy, file.v, file.len);
    drive_file(copy, file.len, 0);
    free(copy);
    bytes_free(&file);
}

#endif
