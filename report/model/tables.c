/* Unwind tables of images; see tables.h. Layouts: mach-o/loader.h. */
#include "tables.h"
#include "../base/text.h"

#include <string.h>

/* The address of a file's byte that stands for address 0 of the process, so that adding a slide never
 * overflows for a hostile file: the arithmetic is without sign. */
static uint64_t tables_slide(const machsym_image *file, uint64_t base, uint32_t *cputype)
{
    machsym_image_info info;
    machsym_image_get_info(file, &info);
    *cputype = info.slice.cputype;
    return base - info.text_addr;
}

/* The tables that a map carries. The size of the image stays. */
static bool tables_of_map(const machsym_map *map, uint64_t base, machsym_unwind_image *out)
{
    uint64_t size = out->size;
    machsym_map_get_unwind(map, base, out);
    out->size = size;
    return out->unwind_info.size != 0 || out->eh_frame.size != 0;
}

bool tables_of_file(const machsym_image *file, uint32_t cputype, uint64_t base, machsym_unwind_image *out)
{
    machsym_image_info info;
    machsym_section section;
    machsym_cursor at;
    uint32_t own;
    uint64_t slide = tables_slide(file, base, &own);
    memset(&at, 0, sizeof at);
    out->file_addr = base - slide;
    if (own != cputype)
        return false;
    machsym_image_get_info(file, &info);
    if (info.map != NULL)
        return tables_of_map(info.map, base, out);
    while (machsym_image_next_section(file, &at, &section)) {
        machsym_unwind_section *to = str_is(section.name, "__unwind_info")   ? &out->unwind_info
                                     : str_is(section.name, "__eh_frame")    ? &out->eh_frame
                                     : str_is(section.name, "__debug_frame") ? &out->debug_frame
                                                                             : NULL;
        if (to == NULL || section.bytes.len == 0 || to->size != 0)
            continue;
        to->bytes = section.bytes;
        to->addr = section.addr + slide;
        to->size = section.bytes.len;
    }
    return out->unwind_info.size != 0 || out->eh_frame.size != 0;
}

bool tables_read(const machsym_image *file, uint64_t base, uint64_t addr, void *out, size_t len)
{
    machsym_section section;
    machsym_cursor at;
    uint32_t cputype;
    uint64_t own = addr - tables_slide(file, base, &cputype);
    memset(&at, 0, sizeof at);
    while (machsym_image_next_section(file, &at, &section)) {
        uint64_t off = own - section.addr;
        if (off >= section.bytes.len || len > section.bytes.len - off)
            continue;
        memcpy(out, (const uint8_t *)section.bytes.ptr + off, len);
        return true;
    }
    return false;
}

/* ---- In memory ---- */

enum {
    IN_MEMORY_HEADER = 32,
    IN_MEMORY_COMMAND = 8,
    IN_MEMORY_SEGMENT_64 = 0x19,
    IN_MEMORY_SEGMENT = 72,
    IN_MEMORY_SECTION = 80
};

static uint64_t tables_get(machsym_str s, size_t at, size_t size)
{
    uint64_t value = 0;
    for (size_t i = size; i-- > 0;)
        value = value << 8 | (unsigned char)s.ptr[at + i];
    return value;
}

/* A name of 16 bytes, with NULs after it if it is shorter. */
static bool tables_is_named(machsym_str s, const char *name)
{
    return memcmp(s.ptr, name, strlen(name) + 1) == 0;
}

/* slide: of the image; known from the segment with the header. */
static void tables_take_sections(machsym_str segment, uint64_t slide, machsym_unwind_image *out)
{
    for (size_t at = IN_MEMORY_SEGMENT; at + IN_MEMORY_SECTION <= segment.len; at += IN_MEMORY_SECTION) {
        machsym_str section = str_from(segment, at);
        machsym_unwind_section *to = tables_is_named(section, "__unwind_info") ? &out->unwind_info
                                     : tables_is_named(section, "__eh_frame")  ? &out->eh_frame
                                                                               : NULL;
        MACHSYM_COUNT_WORK(1);
        if (to == NULL || to->size != 0)
            continue;
        to->addr = tables_get(section, 32, 8) + slide;
        to->size = tables_get(section, 40, 8);
    }
}

bool tables_of_header(machsym_str header, machsym_unwind_image *out)
{
    if (header.len < IN_MEMORY_HEADER || memcmp(header.ptr, "\xcf\xfa\xed\xfe", 4) != 0)
        return false;
    uint64_t left = tables_get(header, 20, 4);
    machsym_str rest = str_from(header, IN_MEMORY_HEADER);
    rest.len = left < rest.len ? (size_t)left : rest.len;
    while (rest.len >= IN_MEMORY_COMMAND) {
        uint64_t size = tables_get(rest, 4, 4);
        if (size < IN_MEMORY_COMMAND || size > rest.len)
            break;
        machsym_str command = str_make(rest.ptr, (size_t)size);
        if (tables_get(command, 0, 4) == IN_MEMORY_SEGMENT_64 && size >= IN_MEMORY_SEGMENT &&
            tables_is_named(str_from(command, 8), "__TEXT"))
            tables_take_sections(command, out->load_addr - tables_get(command, 24, 8), out);
        rest = str_from(rest, (size_t)size);
    }
    return out->unwind_info.size != 0 || out->eh_frame.size != 0;
}

const char *tables_how(machsym_unwind_how how)
{
    switch (how) {
    case MACHSYM_UNWIND_CONTEXT: return "context";
    case MACHSYM_UNWIND_COMPACT: return "compact";
    case MACHSYM_UNWIND_FP: return "fp";
    case MACHSYM_UNWIND_CFA: return "eh_frame";
    case MACHSYM_UNWIND_SIGNAL: return "signal";
    default: return "tables";
    }
}
