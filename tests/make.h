/* Makes inputs by hand: bytes, and Mach-O files of sections. */
#ifndef MACHSYM_MAKE_H
#define MACHSYM_MAKE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes as they grow. */
typedef struct bytes {
    uint8_t *v;
    size_t len;
    size_t cap;
} bytes;

static inline void put(bytes *b, const void *ptr, size_t len)
{
    if (b->cap - b->len < len) {
        b->cap = (b->cap + len) * 2;
        b->v = (uint8_t *)realloc(b->v, b->cap);
        if (b->v == NULL)
            abort();
    }
    if (len != 0)
        memcpy(b->v + b->len, ptr, len);
    b->len += len;
}

/* Little-endian, whatever the host is. */
static inline void put_uint(bytes *b, uint64_t number, unsigned size)
{
    for (unsigned i = 0; i < size; i++) {
        uint8_t byte = (uint8_t)(i < 8 ? number >> (8 * i) : 0);
        put(b, &byte, 1);
    }
}

static inline void put8(bytes *b, uint64_t number)
{
    put_uint(b, number, 1);
}

static inline void put16(bytes *b, uint64_t number)
{
    put_uint(b, number, 2);
}

static inline void put32(bytes *b, uint64_t number)
{
    put_uint(b, number, 4);
}

static inline void put64(bytes *b, uint64_t number)
{
    put_uint(b, number, 8);
}

static inline void put_be32(bytes *b, uint64_t number)
{
    for (unsigned i = 4; i-- > 0;)
        put8(b, number >> (8 * i));
}

static inline void put_be64(bytes *b, uint64_t number)
{
    put_be32(b, number >> 32);
    put_be32(b, number);
}

static inline void put_uleb(bytes *b, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        put8(b, (number & 0x7f) | 0x80);
    put8(b, number);
}

static inline void put_sleb(bytes *b, int64_t number)
{
    for (;;) {
        uint8_t low = (uint8_t)((uint64_t)number & 0x7f);
        number = number < 0 ? -((-(number + 1)) / 128) - 1 : number / 128; /* an arithmetic shift */
        if ((number == 0 && (low & 0x40) == 0) || (number == -1 && (low & 0x40) != 0)) {
            put8(b, low);
            return;
        }
        put8(b, low | 0x80u);
    }
}

/* With its NUL. */
static inline void put_str(bytes *b, const char *text)
{
    put(b, text, strlen(text) + 1);
}

static inline void put_zeros(bytes *b, size_t count)
{
    for (; count > 0; count--)
        put8(b, 0);
}

/* Text in a field of 16 bytes. */
static inline void put_name(bytes *b, const char *name)
{
    size_t len = strlen(name) < 16 ? strlen(name) : 16;
    put(b, name, len);
    put_zeros(b, 16 - len);
}

static inline void put_bytes(bytes *b, const bytes *more)
{
    put(b, more->v, more->len);
}

/* Writes a number over what stands at an offset. */
static inline void patch(bytes *b, size_t at, uint64_t number, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        b->v[at + i] = (uint8_t)(number >> (8 * i));
}

static inline void bytes_free(bytes *b)
{
    free(b->v);
    memset(b, 0, sizeof *b);
}

/* ---- Mach-O ---- */

enum { MAKE_TEXT = 0x1000, MAKE_CODE_SIZE = 0x1000, MAKE_SECTIONS = 16 };

/* A section to come. */
typedef struct make_section {
    const char *segment;
    const char *name;
    uint64_t addr;
    uint64_t size; /* of a section without bytes */
    uint32_t flags;
    const bytes *content; /* NULL: offset 0, no bytes in the file */
    uint32_t reserved1;
    uint32_t reserved2;
} make_section;

/* A symbol to come. */
typedef struct make_symbol {
    const char *name;
    uint8_t type;
    uint8_t section;
    uint64_t value;
} make_symbol;

/* A file to come; zero is an arm64 dSYM of 4 KB code at 0x1000. */
typedef struct make_macho {
    bool is_32;
    uint32_t cputype;
    uint32_t cpusubtype;
    uint32_t filetype;
    uint64_t text_addr;
    bool text_at_zero;
    uint64_t code_size;
    uint8_t uuid; /* its 16 bytes; 0: no LC_UUID */
    make_section sections[MAKE_SECTIONS];
    size_t section_count;
    const make_symbol *symbols;
    size_t symbol_count;
    const bytes *starts;   /* of LC_FUNCTION_STARTS */
    const bytes *indirect; /* entries of the indirect symbol table */
    const bytes *commands; /* more load commands */
    uint32_t command_count;
} make_macho;

static inline void make_add(make_macho *m, const char *name, const bytes *content)
{
    make_section *section = &m->sections[m->section_count++];
    memset(section, 0, sizeof *section);
    section->segment = "__DWARF";
    section->name = name;
    section->content = content;
}

static inline void make_word(bytes *b, const make_macho *m, uint64_t number)
{
    put_uint(b, number, m->is_32 ? 4 : 8);
}

/* A segment to come: what its sections take in memory, and in the file. */
typedef struct make_range {
    uint64_t addr;
    uint64_t size;
    uint64_t off;
    uint64_t file_size;
} make_range;

static inline void make_segment(bytes *b, const make_macho *m, const char *name, const make_range *range,
                                uint32_t sections)
{
    put32(b, m->is_32 ? 1 : 0x19);
    put32(b, m->is_32 ? 56 + 68 * sections : 72 + 80 * sections);
    put_name(b, name);
    make_word(b, m, range->addr);
    make_word(b, m, range->size);
    make_word(b, m, range->off);
    make_word(b, m, range->file_size);
    put32(b, 5);
    put32(b, 5);
    put32(b, sections);
    put32(b, 0);
}

static inline void make_section_header(bytes *b, const make_macho *m, const make_section *section,
                                       uint64_t off)
{
    put_name(b, section->name);
    put_name(b, section->segment);
    make_word(b, m, section->addr);
    make_word(b, m, section->content != NULL ? section->content->len : section->size);
    put32(b, off);
    put32(b, 0);
    put32(b, 0);
    put32(b, 0);
    put32(b, section->flags);
    put32(b, section->reserved1);
    put32(b, section->reserved2);
    if (!m->is_32)
        put32(b, 0);
}

/* LC_SYMTAB, LC_DYSYMTAB and LC_FUNCTION_STARTS, with their data in tail, which will stand at tail_off. */
static inline uint32_t make_linkedit(bytes *b, const make_macho *m, bytes *tail, size_t tail_off)
{
    uint32_t commands = 0;
    bytes strings = {NULL, 0, 0};
    if (m->symbol_count != 0) {
        size_t at = tail_off + tail->len;
        put8(&strings, 0);
        for (size_t i = 0; i < m->symbol_count; i++) {
            put32(tail, strings.len);
            put8(tail, m->symbols[i].type);
            put8(tail, m->symbols[i].section);
            put16(tail, 0);
            make_word(tail, m, m->symbols[i].value);
            put_str(&strings, m->symbols[i].name);
        }
        put32(b, 2);
        put32(b, 24);
        put32(b, at);
        put32(b, m->symbol_count);
        put32(b, tail_off + tail->len);
        put32(b, strings.len);
        put_bytes(tail, &strings);
        commands++;
    }
    if (m->indirect != NULL) {
        put32(b, 0xb);
        put32(b, 80);
        put_zeros(b, 48);
        put32(b, tail_off + tail->len);
        put32(b, m->indirect->len / 4);
        put_zeros(b, 16);
        put_bytes(tail, m->indirect);
        commands++;
    }
    if (m->starts != NULL) {
        put32(b, 0x26);
        put32(b, 16);
        put32(b, tail_off + tail->len);
        put32(b, m->starts->len);
        put_bytes(tail, m->starts);
        commands++;
    }
    bytes_free(&strings);
    return commands;
}

enum { MAKE_DATA = 0x1000, MAKE_DWARF = 0x10000000, MAKE_MOST_GAP = 1 << 16 };

static inline uint64_t make_size(const make_section *section)
{
    return section->content != NULL ? section->content->len : section->size;
}

/* Puts a section's bytes where its address in the segment says, as far as nothing stands there yet. Returns
 * their offset. */
static inline uint64_t make_place(bytes *tail, const make_range *range, const make_section *section)
{
    uint64_t at = range->off - MAKE_DATA + (section->addr - range->addr);
    if (at >= tail->len && at - tail->len <= MAKE_MOST_GAP)
        put_zeros(tail, (size_t)at - tail->len);
    at = MAKE_DATA + tail->len;
    put_bytes(tail, section->content);
    return at;
}

/* A segment with those of the sections that are its own, and their bytes in tail. Sections of __DWARF without
 * an address follow each other. */
static inline void make_put_segment(bytes *b, const make_macho *m, const make_section *sections, size_t count,
                                    bytes *tail)
{
    make_section own[MAKE_SECTIONS + 1];
    bytes headers = {NULL, 0, 0};
    make_range range = {UINT64_MAX, 0, MAKE_DATA + tail->len, 0};
    uint64_t next = MAKE_DWARF;
    uint64_t end = 0;
    uint32_t own_count = 0;
    for (size_t i = 0; i < count; i++) {
        make_section *section = &own[own_count];
        if (strcmp(sections[i].segment, sections[0].segment) != 0)
            continue;
        *section = sections[i];
        own_count++;
        if (section->addr == 0 && strcmp(section->segment, "__DWARF") == 0)
            section->addr = next;
        next = section->addr + make_size(section);
        range.addr = section->addr < range.addr ? section->addr : range.addr;
        end = next > end ? next : end;
    }
    range.size = end - range.addr;
    for (uint32_t i = 0; i < own_count; i++) {
        uint64_t off = own[i].content != NULL ? make_place(tail, &range, &own[i]) : 0;
        make_section_header(&headers, m, &own[i], off);
    }
    range.file_size = MAKE_DATA + tail->len - range.off;
    range.off = range.file_size != 0 ? range.off : 0;
    make_segment(b, m, sections[0].segment, &range, own_count);
    put_bytes(b, &headers);
    bytes_free(&headers);
}

/* The segments, each where its name first stands. Returns how many. */
static inline uint32_t make_segments(bytes *b, const make_macho *m, bytes *tail)
{
    make_section all[MAKE_SECTIONS + 1] = {
        {"__TEXT", "__text", m->text_addr != 0 || m->text_at_zero ? m->text_addr : MAKE_TEXT,
         m->code_size != 0 ? m->code_size : MAKE_CODE_SIZE, 0x80000400u, NULL, 0, 0}};
    uint32_t count = 0;
    memcpy(all + 1, m->sections, m->section_count * sizeof *all);
    for (size_t i = 0; i <= m->section_count; i++) {
        bool is_new = true;
        for (size_t j = 0; j < i; j++)
            is_new &= strcmp(all[i].segment, all[j].segment) != 0;
        if (is_new)
            make_put_segment(b, m, all + i, m->section_count + 1 - i, tail);
        count += is_new;
    }
    return count;
}

/* The file: header, commands, then everything else from offset 0x1000 on. */
static inline bytes make_file(const make_macho *m)
{
    enum { DATA = MAKE_DATA };
    bytes commands = {NULL, 0, 0};
    bytes tail = {NULL, 0, 0};
    bytes file = {NULL, 0, 0};
    uint32_t count = make_segments(&commands, m, &tail) + m->command_count;
    if (m->uuid != 0) {
        put32(&commands, 0x1b);
        put32(&commands, 24);
        for (unsigned i = 0; i < 16; i++)
            put8(&commands, m->uuid);
        count++;
    }
    count += make_linkedit(&commands, m, &tail, DATA);
    if (m->commands != NULL)
        put_bytes(&commands, m->commands);
    put32(&file, m->is_32 ? 0xfeedfaceu : 0xfeedfacfu);
    put32(&file, m->cputype != 0 ? m->cputype : 0x0100000cu);
    put32(&file, m->cpusubtype);
    put32(&file, m->filetype != 0 ? m->filetype : 10);
    put32(&file, count);
    put32(&file, commands.len);
    put_zeros(&file, m->is_32 ? 4 : 8);
    put_bytes(&file, &commands);
    if (file.len > DATA)
        abort();
    put_zeros(&file, DATA - file.len);
    put_bytes(&file, &tail);
    bytes_free(&commands);
    bytes_free(&tail);
    return file;
}

#endif
