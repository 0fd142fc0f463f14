/* ==== >> symbols/entries ====
 * Job: reads entries of debug info as they stand in the file, attribute by attribute.
 * Offers: entries_open, entries_close, entries_are_tired, entries_unit, entry_open, entry_next, entry_find,
 *         entry_find_along, entry_refers_to, entry_code, entry_next_range, entry_file, entry_block_at,
 *         entry_next_child, entry_path_to.
 * Never: says which entry answers an address: that is asked of machsym.h.
 *
 * DWARF 2 to 5, of one image. What a value refers to may be in another unit, which is read then. */
#ifndef MACHSYM_TOOL_ENTRIES_H
#define MACHSYM_TOOL_ENTRIES_H

#include "machsym.h"

/* DWARF5 7.5.3 to 7.5.5 */
enum {
    ENTRY_TAG_ARRAY = 0x01,
    ENTRY_TAG_CLASS = 0x02,
    ENTRY_TAG_ENUMERATION = 0x04,
    ENTRY_TAG_PARAMETER = 0x05,
    ENTRY_TAG_LEXICAL_BLOCK = 0x0b,
    ENTRY_TAG_POINTER = 0x0f,
    ENTRY_TAG_REFERENCE = 0x10,
    ENTRY_TAG_COMPILE_UNIT = 0x11,
    ENTRY_TAG_STRUCTURE = 0x13,
    ENTRY_TAG_SUBROUTINE = 0x15,
    ENTRY_TAG_TYPEDEF = 0x16,
    ENTRY_TAG_UNION = 0x17,
    ENTRY_TAG_MORE_PARAMETERS = 0x18,
    ENTRY_TAG_INLINED = 0x1d,
    ENTRY_TAG_MODULE = 0x1e,
    ENTRY_TAG_MEMBER_POINTER = 0x1f,
    ENTRY_TAG_SUBRANGE = 0x21,
    ENTRY_TAG_CONST = 0x26,
    ENTRY_TAG_FUNCTION = 0x2e,
    ENTRY_TAG_VOLATILE = 0x35,
    ENTRY_TAG_NAMESPACE = 0x39,
    ENTRY_TAG_UNSPECIFIED = 0x3b,
    ENTRY_TAG_RVALUE_REFERENCE = 0x42,
    ENTRY_TAG_SKELETON_UNIT = 0x4a,

    ENTRY_AT_NAME = 0x03,
    ENTRY_AT_STMT_LIST = 0x10,
    ENTRY_AT_LOW_PC = 0x11,
    ENTRY_AT_HIGH_PC = 0x12,
    ENTRY_AT_LANGUAGE = 0x13,
    ENTRY_AT_COMP_DIR = 0x1b,
    ENTRY_AT_CONTAINING_TYPE = 0x1d,
    ENTRY_AT_ORDERING = 0x09,
    ENTRY_AT_VISIBILITY = 0x17,
    ENTRY_AT_INLINE = 0x20,
    ENTRY_AT_LOWER_BOUND = 0x22,
    ENTRY_AT_UPPER_BOUND = 0x2f,
    ENTRY_AT_ORIGIN = 0x31,
    ENTRY_AT_ACCESSIBILITY = 0x32,
    ENTRY_AT_CALLING_CONVENTION = 0x36,
    ENTRY_AT_IDENTIFIER_CASE = 0x42,
    ENTRY_AT_VIRTUALITY = 0x4c,
    ENTRY_AT_DEFAULTED = 0x8b,
    ENTRY_AT_RUNTIME_CLASS = 0x3fe6,
    ENTRY_AT_COUNT = 0x37,
    ENTRY_AT_DECL_COLUMN = 0x39,
    ENTRY_AT_DECL_FILE = 0x3a,
    ENTRY_AT_DECL_LINE = 0x3b,
    ENTRY_AT_FRAME_BASE = 0x40,
    ENTRY_AT_SPECIFICATION = 0x47,
    ENTRY_AT_TYPE = 0x49,
    ENTRY_AT_ENTRY_PC = 0x52,
    ENTRY_AT_RANGES = 0x55,
    ENTRY_AT_CALL_COLUMN = 0x57,
    ENTRY_AT_CALL_FILE = 0x58,
    ENTRY_AT_CALL_LINE = 0x59,
    ENTRY_AT_LINKAGE_NAME = 0x6e,
    ENTRY_AT_STR_OFFSETS_BASE = 0x72,
    ENTRY_AT_ADDR_BASE = 0x73,
    ENTRY_AT_RNGLISTS_BASE = 0x74,
    ENTRY_AT_MIPS_LINKAGE_NAME = 0x2007
};

/* What a value is; which also tells how it is written. */
typedef enum entry_kind {
    ENTRY_NUMBER, /* of size bytes */
    ENTRY_DECIMAL,
    ENTRY_SIGNED,
    ENTRY_TRUE, /* there is no value: the attribute says it */
    ENTRY_ADDRESS,
    ENTRY_NO_ADDRESS, /* an index that leads nowhere */
    ENTRY_TEXT,       /* ptr, len; NULL: it lies outside its section */
    ENTRY_REFERENCE,  /* number: an offset in .debug_info, written with size bytes */
    ENTRY_OFFSET,     /* into another section */
    ENTRY_BYTES,
    ENTRY_EXPRESSION,
    ENTRY_RANGE_LIST,    /* number: an index into the table of lists */
    ENTRY_LOCATION_LIST, /* the same */
    ENTRY_ELSEWHERE      /* in another file */
} entry_kind;

typedef struct entry_value {
    uint32_t name; /* of the attribute: DW_AT_... */
    uint32_t form;
    entry_kind kind;
    unsigned size; /* bytes of a number, an offset, the length of a block */
    uint64_t number;
    const uint8_t *ptr;
    size_t len;
} entry_value;

/* What is read byte by byte, and stays empty after a failure. */
typedef struct entry_bytes {
    const uint8_t *p;
    const uint8_t *end;
    bool has_failed;
} entry_bytes;

/* A unit, as its header and its first entry have it. */
typedef struct entry_unit {
    uint64_t offset; /* in .debug_info */
    uint64_t length; /* as the header states it */
    uint64_t end;
    uint64_t root; /* of its first entry */
    uint64_t abbrev_offset;
    uint64_t dwo_id;
    uint16_t version;
    uint8_t type; /* DW_UT_...; 0 before DWARF 5 */
    uint8_t addr_size;
    uint8_t offset_size;
    bool has_lines;
    uint64_t lines; /* in .debug_line */
    uint64_t low_pc;
    uint64_t str_offsets_base;
    uint64_t addr_base;
    uint64_t rnglists_base;
    machsym_str comp_dir;
    struct entry_abbrev *abbrevs; /* by code */
    size_t abbrev_count;
} entry_unit;

/* An entry whose attributes are read in their order. */
typedef struct entry_cursor {
    const entry_unit *unit;
    uint64_t offset;
    uint32_t tag;
    bool has_children;
    entry_bytes specs;  /* what of its kind is not read yet */
    entry_bytes values; /* the same of it; after the last attribute the next entry */
} entry_cursor;

typedef struct entries entries;

/* Borrows the image. */
entries *entries_open(const machsym_image *image);
void entries_close(entries *all);
/* Whether so much was read that the rest is left out: more would be hostile. */
bool entries_are_tired(const entries *all);
/* The unit that an offset in .debug_info lies in; NULL: there is none, or it is damaged. */
const entry_unit *entries_unit(entries *all, uint64_t offset);

/* Begins an entry. Returns false when none is there. */
bool entry_open(entries *all, uint64_t offset, entry_cursor *out);
bool entry_next(entries *all, entry_cursor *one, entry_value *out);
/* An attribute of the entry at an offset. */
bool entry_find(entries *all, uint64_t offset, uint32_t name, entry_value *out);
/* The same, or of the entry that it is a copy or the definition of. *of is the entry that has it. */
bool entry_find_along(entries *all, uint64_t offset, uint32_t name, entry_value *out, uint64_t *of);
/* The offset of the entry that a reference leads to; 0: it is no reference. */
uint64_t entry_refers_to(entries *all, const entry_value *value);

/* One after the other the ranges of a DW_AT_ranges; *at is 0 at first. Returns false at their end. */
typedef struct entry_range {
    uint64_t lo;
    uint64_t hi;
} entry_range;
typedef struct entry_ranges {
    uint64_t offset; /* of the list; 0 before its begin is known */
    uint64_t base;
    entry_bytes rest;
    bool is_begun;
} entry_ranges;
bool entry_next_range(entries *all, const entry_unit *unit, const entry_value *value, entry_ranges *at,
                      entry_range *out);
/* Where a list of an index begins in .debug_rnglists. */
bool entry_list_offset(const entries *all, const entry_unit *unit, const entry_value *value, uint64_t *out);
/* From where to where the code of an entry lies that is in one piece. */
bool entry_code(entries *all, uint64_t offset, entry_range *out);

/* The file of an index, as the line table of a unit has it. */
bool entry_file(entries *all, const entry_unit *unit, uint64_t index, machsym_path *out);

/* The lexical block below an entry that has an address: the outermost one; 0: there is none. */
uint64_t entry_block_at(entries *all, uint64_t offset, uint64_t addr);

/* Goes from an entry to the first one below it, and from there to the next on the same level. *depth is 0 at
 * first. Returns false when there are no more. */
bool entry_next_child(entries *all, entry_cursor *one, unsigned *depth);

/* The entries around an entry, the first one of the unit first. Returns how many there are; 0 when they are
 * more than cap. */
size_t entry_path_to(entries *all, uint64_t offset, uint64_t *path, size_t cap);

#endif
