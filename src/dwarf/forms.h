#ifndef ms_ROOM_dwarf_forms
#define ms_ROOM_dwarf_forms
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "../base/memory.h"
#include "../base/segments.h"

/* ==== >>forms ==============================================================================================
 * Job:    reads the values of DWARF entries.
 * Offers: ms_dw, ms_dw_need, ms_dw_abbrevs, ms_dw_abbrevs_later, ms_dw_make_rest, ms_dw_skip_die,
 *         ms_dw_read_die, ms_dw_string, ms_dw_address, ms_dw_ranges.
 * Never:  knows what a unit or a function is for. */

/* DWARF5 7.5.3 to 7.5.6 and the vendors' own */
enum {
    ms_DW_TAG_compile_unit = 0x11,
    ms_DW_TAG_inlined_subroutine = 0x1d,
    ms_DW_TAG_subprogram = 0x2e,
    ms_DW_TAG_partial_unit = 0x3c,
    ms_DW_TAG_type_unit = 0x41,
    ms_DW_TAG_call_site = 0x48,
    ms_DW_TAG_skeleton_unit = 0x4a,
    ms_DW_TAG_GNU_call_site = 0x4109,

    ms_DW_AT_name = 0x03,
    ms_DW_AT_stmt_list = 0x10,
    ms_DW_AT_low_pc = 0x11,
    ms_DW_AT_high_pc = 0x12,
    ms_DW_AT_comp_dir = 0x1b,
    ms_DW_AT_producer = 0x25,
    ms_DW_AT_abstract_origin = 0x31,
    ms_DW_AT_artificial = 0x34,
    ms_DW_AT_decl_file = 0x3a,
    ms_DW_AT_decl_line = 0x3b,
    ms_DW_AT_external = 0x3f,
    ms_DW_AT_specification = 0x47,
    ms_DW_AT_entry_pc = 0x52,
    ms_DW_AT_ranges = 0x55,
    ms_DW_AT_call_column = 0x57,
    ms_DW_AT_call_file = 0x58,
    ms_DW_AT_call_line = 0x59,
    ms_DW_AT_linkage_name = 0x6e,
    ms_DW_AT_str_offsets_base = 0x72,
    ms_DW_AT_addr_base = 0x73,
    ms_DW_AT_rnglists_base = 0x74,
    ms_DW_AT_call_all_calls = 0x7a,
    ms_DW_AT_call_all_tail_calls = 0x7c,
    ms_DW_AT_call_return_pc = 0x7d,
    ms_DW_AT_call_origin = 0x7f,
    ms_DW_AT_call_tail_call = 0x82,
    ms_DW_AT_MIPS_linkage_name = 0x2007,
    ms_DW_AT_GNU_tail_call = 0x2115,
    ms_DW_AT_GNU_all_tail_call_sites = 0x2116,
    ms_DW_AT_GNU_all_call_sites = 0x2117,
    ms_DW_AT_GNU_ranges_base = 0x2132,
    ms_DW_AT_GNU_addr_base = 0x2133,
    ms_DW_AT_LLVM_stmt_sequence = 0x3e0c,

    ms_DW_FORM_addr = 0x01,
    ms_DW_FORM_block2 = 0x03,
    ms_DW_FORM_block4 = 0x04,
    ms_DW_FORM_data2 = 0x05,
    ms_DW_FORM_data4 = 0x06,
    ms_DW_FORM_data8 = 0x07,
    ms_DW_FORM_string = 0x08,
    ms_DW_FORM_block = 0x09,
    ms_DW_FORM_block1 = 0x0a,
    ms_DW_FORM_data1 = 0x0b,
    ms_DW_FORM_flag = 0x0c,
    ms_DW_FORM_sdata = 0x0d,
    ms_DW_FORM_strp = 0x0e,
    ms_DW_FORM_udata = 0x0f,
    ms_DW_FORM_ref_addr = 0x10,
    ms_DW_FORM_ref1 = 0x11,
    ms_DW_FORM_ref2 = 0x12,
    ms_DW_FORM_ref4 = 0x13,
    ms_DW_FORM_ref8 = 0x14,
    ms_DW_FORM_ref_udata = 0x15,
    ms_DW_FORM_indirect = 0x16,
    ms_DW_FORM_sec_offset = 0x17,
    ms_DW_FORM_exprloc = 0x18,
    ms_DW_FORM_flag_present = 0x19,
    ms_DW_FORM_strx = 0x1a,
    ms_DW_FORM_addrx = 0x1b,
    ms_DW_FORM_ref_sup4 = 0x1c,
    ms_DW_FORM_strp_sup = 0x1d,
    ms_DW_FORM_data16 = 0x1e,
    ms_DW_FORM_line_strp = 0x1f,
    ms_DW_FORM_ref_sig8 = 0x20,
    ms_DW_FORM_implicit_const = 0x21,
    ms_DW_FORM_loclistx = 0x22,
    ms_DW_FORM_rnglistx = 0x23,
    ms_DW_FORM_ref_sup8 = 0x24,
    ms_DW_FORM_strx1 = 0x25,
    ms_DW_FORM_strx2 = 0x26,
    ms_DW_FORM_strx3 = 0x27,
    ms_DW_FORM_strx4 = 0x28,
    ms_DW_FORM_addrx1 = 0x29,
    ms_DW_FORM_addrx2 = 0x2a,
    ms_DW_FORM_addrx3 = 0x2b,
    ms_DW_FORM_addrx4 = 0x2c,
    ms_DW_FORM_GNU_addr_index = 0x1f01,
    ms_DW_FORM_GNU_str_index = 0x1f02,
    ms_DW_FORM_GNU_ref_alt = 0x1f20,
    ms_DW_FORM_GNU_strp_alt = 0x1f21,
    ms_DW_FORM_LLVM_addrx_offset = 0x2001,

    ms_DW_RLE_end_of_list = 0x00,
    ms_DW_RLE_base_addressx = 0x01,
    ms_DW_RLE_startx_endx = 0x02,
    ms_DW_RLE_startx_length = 0x03,
    ms_DW_RLE_offset_pair = 0x04,
    ms_DW_RLE_base_address = 0x05,
    ms_DW_RLE_start_end = 0x06,
    ms_DW_RLE_start_length = 0x07
};

/* A piece of code that the linker moved: what an object file has at lo is at to in the program. */
typedef struct ms_dw_move {
    uint64_t lo;
    uint64_t hi;
    uint64_t to;
} ms_dw_move;

/* The sections that are read. */
typedef enum ms_dw_section {
    ms_DW_INFO = 0,
    ms_DW_ABBREV,
    ms_DW_STR,
    ms_DW_LINE,
    ms_DW_LINE_STR,
    ms_DW_STR_OFFSETS,
    ms_DW_ADDR,
    ms_DW_RANGES,
    ms_DW_RNGLISTS,
    ms_DW_ARANGES,
    ms_DW_NAMES,
    ms_DW_APPLE_NAMES,
    ms_DW_SECTIONS
} ms_dw_section;

/* Sections, a bit each. */
enum {
    ms_NEEDS_UNITS = 1u << ms_DW_INFO | 1u << ms_DW_ABBREV,
    ms_NEEDS_STR = 1u << ms_DW_STR,
    ms_NEEDS_LINE = 1u << ms_DW_LINE,
    ms_NEEDS_LINE_STR = 1u << ms_DW_LINE_STR,
    ms_NEEDS_STRX = 1u << ms_DW_STR_OFFSETS | 1u << ms_DW_STR,
    ms_NEEDS_ADDR = 1u << ms_DW_ADDR,
    ms_NEEDS_RANGES = 1u << ms_DW_RANGES,
    ms_NEEDS_RNGLISTS = 1u << ms_DW_RNGLISTS | 1u << ms_DW_ADDR,
    ms_NEEDS_ARANGES = 1u << ms_DW_ARANGES,
    ms_NEEDS_NAMES = 1u << ms_DW_NAMES | 1u << ms_DW_APPLE_NAMES | 1u << ms_DW_STR,
    ms_NEEDS_ALL = (1u << ms_DW_SECTIONS) - 1
};

/* Who has the sections. */
typedef struct ms_dw_lender {
    /* Gives a section, empty when there is none. Returns false when memory is out. NULL: sections are not
     * lent. */
    bool (*lend)(void *owner, ms_dw_section which, ms_span *out);
    void *owner;
} ms_dw_lender;

/* The debug info of one program: its sections, which are lent when they are first needed, and the ranges of
 * its code. It belongs to one thread. */
typedef struct ms_dw {
    ms_dw_lender lender;
    uint32_t lent; /* sections that need not be asked for any more, a bit each */
    ms_span info;
    ms_span abbrev;
    ms_span str;
    ms_span line;
    ms_span line_str;
    ms_span str_offsets;
    ms_span addr;
    ms_span ranges;
    ms_span rnglists;
    ms_span aranges;
    ms_span names;
    ms_span apple_names;
    /* Executable sections, sorted and apart. An address elsewhere is a tombstone of stripped code. */
    const ms_range *code;
    size_t code_count;
    /* Where the linker put a debug map's object, sorted and apart. NULL: addresses are the program's. */
    const ms_dw_move *moves;
    size_t move_count;
} ms_dw;

/* Makes sure that the sections whose bits are set are there. Returns false when memory is out: the next call
 * tries again. */
static ms_NOINLINE bool ms_dw_borrow(ms_dw *dw, uint32_t needs)
{
    ms_span *const places[ms_DW_SECTIONS] = {&dw->info,     &dw->abbrev,      &dw->str,   &dw->line,
                                             &dw->line_str, &dw->str_offsets, &dw->addr,  &dw->ranges,
                                             &dw->rnglists, &dw->aranges,     &dw->names, &dw->apple_names};
    for (unsigned i = 0; i < ms_DW_SECTIONS && dw->lender.lend != NULL; i++) {
        if ((needs & ~dw->lent & (1u << i)) == 0)
            continue;
        if (!dw->lender.lend(dw->lender.owner, (ms_dw_section)i, places[i]))
            return false;
        dw->lent |= 1u << i;
    }
    return true;
}

/* The same, fast where the sections are there already. */
static inline bool ms_dw_need(ms_dw *dw, uint32_t needs)
{
    return (needs & ~dw->lent) == 0 || ms_dw_borrow(dw, needs);
}

/* How a unit encodes its values. */
typedef struct ms_dw_enc {
    uint64_t unit_off; /* of the unit header in .debug_info: what local references count from */
    uint64_t unit_end;
    uint16_t version;
    uint8_t addr_size;
    uint8_t offset_size;       /* 4, or 8 in 64-bit DWARF */
    uint64_t str_offsets_base; /* the three bases: 0 until the unit's entry has been read */
    uint64_t addr_base;
    uint64_t rnglists_base;
    uint64_t ranges_base; /* GNU split DWARF */
    uint64_t low_pc;      /* what ranges count from; DW_AT_entry_pc where there is no DW_AT_low_pc */
} ms_dw_enc;

/* ---- Abbreviations ---- */

/* The attributes that are read; all others are skipped. */
typedef enum ms_dw_slot {
    ms_SLOT_NONE = 0,
    ms_SLOT_NAME,
    ms_SLOT_LINKAGE_NAME,
    ms_SLOT_ORIGIN,
    ms_SLOT_SPECIFICATION,
    ms_SLOT_LOW_PC,
    ms_SLOT_HIGH_PC,
    ms_SLOT_ENTRY_PC, /* of units only */
    ms_SLOT_RANGES,
    ms_SLOT_CALL_FILE,
    ms_SLOT_CALL_LINE,
    ms_SLOT_CALL_COLUMN,
    ms_SLOT_STMT_LIST,
    ms_SLOT_COMP_DIR,
    ms_SLOT_PRODUCER,
    ms_SLOT_STR_OFFSETS_BASE,
    ms_SLOT_ADDR_BASE,
    ms_SLOT_RNGLISTS_BASE,
    ms_SLOT_RANGES_BASE,
    ms_SLOT_DECL_FILE, /* of functions and calls only, as the next two */
    ms_SLOT_DECL_LINE,
    ms_SLOT_ARTIFICIAL,
    ms_SLOT_COUNT
} ms_dw_slot;

/* How a step finds the end of its value. */
typedef enum ms_dw_how {
    ms_HOW_END = 0, /* no value: only the skip */
    ms_HOW_CONST,   /* the value stands in the abbreviation */
    ms_HOW_FIXED,   /* 1 to 8 bytes */
    ms_HOW_ULEB,
    ms_HOW_SLEB,
    ms_HOW_BLOCK, /* ULEB length, then that many bytes */
    ms_HOW_FORM   /* by its form, the long way */
} ms_dw_how;

/* Skip some bytes, then skip or read one value. */
typedef struct ms_dw_step {
    uint16_t skip;
    uint16_t form;
    uint8_t how;
    uint8_t slot;  /* ms_SLOT_NONE: skip the value too */
    uint8_t size;  /* with ms_HOW_FIXED */
    uint64_t bits; /* with ms_HOW_CONST the value; with ms_HOW_FIXED a mask of as many bits as it has */
} ms_dw_step;

/* The values of a call that are read. */
typedef enum ms_dw_call_value {
    ms_CALL_ORIGIN = 0,
    ms_CALL_LOW_PC,
    ms_CALL_HIGH_PC,
    ms_CALL_RANGES,
    ms_CALL_FILE,
    ms_CALL_LINE,
    ms_CALL_COLUMN,
    ms_CALL_COUNT
} ms_dw_call_value;

/* Where a call has its values, when all of them have a fixed size: calls are the commonest entries that are
 * read, and this way takes a quarter of the time. Where its code begins may be an index (DW_FORM_addrx), as
 * in DWARF 5: what comes after it stands further on by the bytes of the index. */
typedef struct ms_dw_layout {
    uint32_t number[3]; /* of file, line and column, when it stands in the abbreviation */
    uint8_t form[ms_CALL_COUNT];
    uint8_t at[ms_CALL_COUNT];    /* bytes from the first value on */
    uint8_t size[ms_CALL_COUNT];  /* 0: it stands in the abbreviation, or is absent */
    uint8_t after[ms_CALL_COUNT]; /* 0xff: it comes after the index; else 0 */
    bool is_indexed;
    bool is_plain;   /* its code is an address and a size; all numbers fit their fields */
    bool is_in_unit; /* its origin counts from the begin of the unit */
} ms_dw_layout;

/* What the walk does with an entry. */
typedef enum ms_dw_kind {
    ms_KIND_OTHER = 0, /* skips it */
    ms_KIND_FUNCTION,
    ms_KIND_INLINE,
    ms_KIND_UNIT
} ms_dw_kind;

/* One kind of entry, compiled to steps. */
typedef struct ms_dw_abbrev {
    uint32_t skip_first; /* steps that skip an entry, up to its last value of varying size */
    uint16_t skip_count;
    uint16_t read_count; /* steps after those that read one; 0 for ms_KIND_OTHER */
    uint32_t skip_tail;  /* bytes after the last step that skips */
    uint32_t skip_max;   /* ms_dw_most_bytes of the steps that skip */
    uint32_t read_max;   /* the same of those that read */
    uint32_t slots;      /* a bit for each slot that the steps that read set */
    uint32_t specs;      /* where its attributes are listed, from the begin of the table; below 4 GB */
    uint8_t layout;      /* number of a call's layout, from 1 on; 0: it has none */
    uint16_t tag;
    uint8_t kind;
    uint8_t has_children;
    bool has_code; /* a function or call that may state where its code lies, or a call around such ones */
    bool is_made;  /* its steps are there; else they are made when such an entry is met first */
} ms_dw_abbrev;

enum {
    ms_BRIEF_LONG = 1,   /* there is more to do than to skip it, or more to skip than a brief can tell */
    ms_BRIEF_CALL = 2,   /* an inlined call that may state where its code lies, or stand around such ones */
    ms_BRIEF_NUMBER = 4, /* after the bytes to skip stands a number of varying size */
    ms_BRIEF_BLOCK = 8,  /* after the bytes to skip stands a block */
    ms_BRIEF_END = 16    /* no entry, but the 0 that ends a list of them */
};

/* How to skip one kind of entry fast: fixed bytes, at most one value of varying size, fixed bytes. Most kinds
 * have no value of varying size, and no flags. */
typedef struct ms_dw_brief {
    uint16_t skip;
    uint16_t tail; /* after the value of varying size */
    uint16_t flags;
    uint16_t has_children;
} ms_dw_brief;

/* A table of abbreviations as the units of one encoding see it. */
typedef struct ms_dw_abbrevs {
    struct ms_dw_abbrevs *next; /* in the cache */
    uint64_t off;
    uint8_t encoding; /* ms_dw_encoding_of */
    uint32_t needs;   /* sections that values lead to: ms_NEEDS_RANGES stands for lists of either kind */
    bool dense;       /* codes are 1, 2, 3, ...: v[code - 1] */
    const ms_dw_abbrev *v;
    size_t count;
    const ms_key *by_code; /* when not dense: code, index into v */
    const ms_dw_step *steps;
    const ms_dw_layout *layouts;
    const ms_dw_brief *briefs; /* by code, from 0 on; when not dense, only that of 0 */
    size_t brief_count;        /* without that of 0: at most ms_DW_MOST_BRIEFS */
    uint32_t brief_max;       /* no entry, its code included, takes more bytes than this to skip by a brief */
    struct ms_dw_table *rest; /* what the kinds that are not made are made of; NULL: all are made */
} ms_dw_abbrevs;

/* The part of a unit's encoding that decides how many bytes forms take, as one of 8 numbers. */
static unsigned ms_dw_encoding_of(unsigned version, unsigned addr_size, unsigned offset_size)
{
    return (version <= 2 ? 4u : 0u) + (addr_size == 8 ? 2u : 0u) + (offset_size == 8 ? 1u : 0u);
}

/* Sizes of values that are not a number of bytes. */
enum {
    ms_SIZE_VARIES = -1, /* it is in the data */
    ms_SIZE_ADDR = -2,   /* an address */
    ms_SIZE_OFFSET = -3, /* an offset into a section */
    ms_SIZE_REF = -4,    /* a reference into .debug_info: DWARF2 7.5.4 differs from later ones */
    ms_SIZE_UNKNOWN = -5 /* the form is unknown */
};

/* The size of vendors' forms, as below. */
static int ms_dw_vendor_form_size(uint32_t form)
{
    switch (form) {
    case ms_DW_FORM_GNU_ref_alt:
    case ms_DW_FORM_GNU_strp_alt: return ms_SIZE_OFFSET;
    case ms_DW_FORM_GNU_addr_index:
    case ms_DW_FORM_GNU_str_index:
    case ms_DW_FORM_LLVM_addrx_offset: return ms_SIZE_VARIES;
    default: return ms_SIZE_UNKNOWN;
    }
}

/* How many bytes a value of this form takes, or one of the above. It is asked of every attribute of every
 * table. The standard's forms follow each other, so compilers make a table of them. */
static int ms_dw_form_class(uint32_t form)
{
    switch (form) {
    case ms_DW_FORM_flag_present:
    case ms_DW_FORM_implicit_const: return 0;
    case ms_DW_FORM_data1:
    case ms_DW_FORM_flag:
    case ms_DW_FORM_ref1:
    case ms_DW_FORM_strx1:
    case ms_DW_FORM_addrx1: return 1;
    case ms_DW_FORM_data2:
    case ms_DW_FORM_ref2:
    case ms_DW_FORM_strx2:
    case ms_DW_FORM_addrx2: return 2;
    case ms_DW_FORM_strx3:
    case ms_DW_FORM_addrx3: return 3;
    case ms_DW_FORM_data4:
    case ms_DW_FORM_ref4:
    case ms_DW_FORM_ref_sup4:
    case ms_DW_FORM_strx4:
    case ms_DW_FORM_addrx4: return 4;
    case ms_DW_FORM_data8:
    case ms_DW_FORM_ref8:
    case ms_DW_FORM_ref_sig8:
    case ms_DW_FORM_ref_sup8: return 8;
    case ms_DW_FORM_data16: return 16;
    case ms_DW_FORM_addr: return ms_SIZE_ADDR;
    case ms_DW_FORM_ref_addr: return ms_SIZE_REF;
    case ms_DW_FORM_strp:
    case ms_DW_FORM_strp_sup:
    case ms_DW_FORM_sec_offset:
    case ms_DW_FORM_line_strp: return ms_SIZE_OFFSET;
    case ms_DW_FORM_block:
    case ms_DW_FORM_block1:
    case ms_DW_FORM_block2:
    case ms_DW_FORM_block4:
    case ms_DW_FORM_exprloc:
    case ms_DW_FORM_string:
    case ms_DW_FORM_sdata:
    case ms_DW_FORM_udata:
    case ms_DW_FORM_ref_udata:
    case ms_DW_FORM_indirect:
    case ms_DW_FORM_strx:
    case ms_DW_FORM_addrx:
    case ms_DW_FORM_loclistx:
    case ms_DW_FORM_rnglistx: return ms_SIZE_VARIES;
    default: return ms_SIZE_UNKNOWN;
    }
}

/* Bytes that a value of this form takes in a unit. ms_SIZE_VARIES when that is in the data; ms_SIZE_UNKNOWN
 * when the form is unknown. */
static inline int ms_dw_form_size(uint32_t form, const ms_dw_enc *enc)
{
    int size = form < ms_DW_FORM_GNU_addr_index ? ms_dw_form_class(form) : ms_dw_vendor_form_size(form);
    switch (size) {
    case ms_SIZE_ADDR: return enc->addr_size;
    case ms_SIZE_OFFSET: return enc->offset_size;
    case ms_SIZE_REF: return enc->version <= 2 ? enc->addr_size : enc->offset_size;
    default: return size;
    }
}

static ms_dw_slot ms_dw_slot_of(uint64_t attribute, ms_dw_kind kind)
{
    switch (attribute) {
    case ms_DW_AT_name: return ms_SLOT_NAME;
    case ms_DW_AT_linkage_name:
    case ms_DW_AT_MIPS_linkage_name: return ms_SLOT_LINKAGE_NAME;
    case ms_DW_AT_abstract_origin: return ms_SLOT_ORIGIN;
    case ms_DW_AT_specification: return ms_SLOT_SPECIFICATION;
    case ms_DW_AT_low_pc: return ms_SLOT_LOW_PC;
    case ms_DW_AT_high_pc: return ms_SLOT_HIGH_PC;
    case ms_DW_AT_entry_pc: return kind == ms_KIND_UNIT ? ms_SLOT_ENTRY_PC : ms_SLOT_NONE;
    case ms_DW_AT_ranges: return ms_SLOT_RANGES;
    case ms_DW_AT_call_file: return ms_SLOT_CALL_FILE;
    case ms_DW_AT_call_line: return ms_SLOT_CALL_LINE;
    case ms_DW_AT_call_column: return ms_SLOT_CALL_COLUMN;
    case ms_DW_AT_stmt_list: return ms_SLOT_STMT_LIST;
    case ms_DW_AT_comp_dir: return ms_SLOT_COMP_DIR;
    case ms_DW_AT_producer: return ms_SLOT_PRODUCER;
    case ms_DW_AT_str_offsets_base: return ms_SLOT_STR_OFFSETS_BASE;
    case ms_DW_AT_addr_base:
    case ms_DW_AT_GNU_addr_base: return ms_SLOT_ADDR_BASE;
    case ms_DW_AT_rnglists_base: return ms_SLOT_RNGLISTS_BASE;
    case ms_DW_AT_GNU_ranges_base: return ms_SLOT_RANGES_BASE;
    case ms_DW_AT_decl_file: return kind != ms_KIND_UNIT ? ms_SLOT_DECL_FILE : ms_SLOT_NONE;
    case ms_DW_AT_decl_line: return kind != ms_KIND_UNIT ? ms_SLOT_DECL_LINE : ms_SLOT_NONE;
    case ms_DW_AT_artificial: return kind != ms_KIND_UNIT ? ms_SLOT_ARTIFICIAL : ms_SLOT_NONE;
    default: return ms_SLOT_NONE;
    }
}

static ms_dw_kind ms_dw_kind_of(uint64_t tag)
{
    switch (tag) {
    case ms_DW_TAG_subprogram: return ms_KIND_FUNCTION;
    case ms_DW_TAG_inlined_subroutine: return ms_KIND_INLINE;
    case ms_DW_TAG_compile_unit:
    case ms_DW_TAG_partial_unit:
    case ms_DW_TAG_type_unit:
    case ms_DW_TAG_skeleton_unit: return ms_KIND_UNIT;
    default: return ms_KIND_OTHER;
    }
}

/* The two step lists of one kind of entry while they grow. */
typedef struct ms_dw_compiler {
    ms_arena *arena;
    ms_dw_step *v;
    size_t count;
    size_t cap;
    uint32_t run;   /* fixed bytes not yet put into a step */
    uint32_t needs; /* sections that values of the entries lead to */
} ms_dw_compiler;

static ms_dw_how ms_dw_how_of(uint32_t form, const ms_dw_enc *enc)
{
    switch (form) {
    case 0: return ms_HOW_END;
    case ms_DW_FORM_implicit_const:
    case ms_DW_FORM_flag_present: return ms_HOW_CONST;
    case ms_DW_FORM_udata:
    case ms_DW_FORM_ref_udata:
    case ms_DW_FORM_strx:
    case ms_DW_FORM_addrx:
    case ms_DW_FORM_loclistx:
    case ms_DW_FORM_rnglistx:
    case ms_DW_FORM_GNU_addr_index:
    case ms_DW_FORM_GNU_str_index: return ms_HOW_ULEB;
    case ms_DW_FORM_sdata: return ms_HOW_SLEB;
    case ms_DW_FORM_block:
    case ms_DW_FORM_exprloc: return ms_HOW_BLOCK;
    default: break;
    }
    int size = ms_dw_form_size(form, enc);
    return size >= 1 && size <= 8 ? ms_HOW_FIXED : ms_HOW_FORM;
}

static void ms_dw_emit(ms_dw_compiler *c, const ms_dw_enc *enc, uint32_t form, uint32_t slot,
                       int64_t implicit)
{
    bool done = false;
    while (!done) {
        ms_dw_step *grown = (ms_dw_step *)ms_arena_grow(c->arena, c->v, c->count, &c->cap, sizeof *c->v);
        if (grown == NULL)
            return;
        c->v = grown;
        ms_dw_step *step = &c->v[c->count++];
        uint32_t part = c->run < 0xffff ? c->run : 0xffff;
        c->run -= part;
        done = c->run == 0;
        step->skip = (uint16_t)part;
        step->form = (uint16_t)(done ? form : 0);
        step->slot = (uint8_t)(done ? slot : (uint32_t)ms_SLOT_NONE);
        step->how = (uint8_t)ms_dw_how_of(step->form, enc);
        step->size = (uint8_t)(step->how == ms_HOW_FIXED ? ms_dw_form_size(step->form, enc) : 0);
        step->bits = form == ms_DW_FORM_flag_present ? 1 : (uint64_t)implicit;
        if (step->how == ms_HOW_FIXED)
            step->bits = ~(uint64_t)0 >> (64 - 8 * step->size);
    }
}

/* The sections that a value of this form leads to, lists of ranges apart. */
static uint32_t ms_dw_form_needs(uint32_t form)
{
    switch (form) {
    case ms_DW_FORM_strp: return ms_NEEDS_STR;
    case ms_DW_FORM_line_strp: return ms_NEEDS_LINE_STR;
    case ms_DW_FORM_strx:
    case ms_DW_FORM_strx1:
    case ms_DW_FORM_strx2:
    case ms_DW_FORM_strx3:
    case ms_DW_FORM_strx4:
    case ms_DW_FORM_GNU_str_index: return ms_NEEDS_STRX;
    case ms_DW_FORM_addrx:
    case ms_DW_FORM_addrx1:
    case ms_DW_FORM_addrx2:
    case ms_DW_FORM_addrx3:
    case ms_DW_FORM_addrx4:
    case ms_DW_FORM_GNU_addr_index: return ms_NEEDS_ADDR;
    case ms_DW_FORM_indirect: return ms_NEEDS_ALL & ~(uint32_t)(ms_NEEDS_LINE | ms_NEEDS_ARANGES);
    default: return 0;
    }
}

/* Reads the attribute specifications of one abbreviation twice: once to skip such an entry, once to read it.
 * Returns false at an unknown form: nothing after it can be found. */
static bool ms_dw_compile(ms_dw_compiler *c, const ms_dw_enc *enc, ms_rd *rd, ms_dw_abbrev *abbrev,
                          bool reading)
{
    uint32_t seen = 0; /* slots; of an attribute that is given twice the first counts: it may take no bytes */
    for (;;) {
        uint64_t attribute = ms_rd_uleb(rd);
        uint64_t form = ms_rd_uleb(rd);
        int64_t implicit = form == ms_DW_FORM_implicit_const ? ms_rd_sleb(rd) : 0;
        if (rd->failed)
            return false;
        if (attribute == 0 && form == 0)
            break;
        int size = form <= 0xffff ? ms_dw_form_size((uint32_t)form, enc) : (int)ms_SIZE_UNKNOWN;
        if (size == ms_SIZE_UNKNOWN)
            return false;
        bool is_code = attribute == ms_DW_AT_high_pc || attribute == ms_DW_AT_ranges;
        bool is_around = attribute == ms_DW_AT_abstract_origin && form != ms_DW_FORM_implicit_const &&
                         abbrev->has_children; /* of a call: its own code may be told by those inside */
        abbrev->has_code |= (is_code && abbrev->kind == ms_KIND_FUNCTION) ||
                            ((is_code || is_around) && abbrev->kind == ms_KIND_INLINE);
        ms_dw_slot slot = reading ? ms_dw_slot_of(attribute, (ms_dw_kind)abbrev->kind) : ms_SLOT_NONE;
        if ((seen >> slot & 1) != 0)
            slot = ms_SLOT_NONE;
        if (slot != ms_SLOT_NONE)
            c->needs |=
                ms_dw_form_needs((uint32_t)form) | (slot == ms_SLOT_RANGES ? (uint32_t)ms_NEEDS_RANGES : 0u);
        if (slot == ms_SLOT_NONE && size >= 0 && c->run < 0x7fffff)
            c->run += (uint32_t)size;
        else
            ms_dw_emit(c, enc, (uint32_t)form, (uint32_t)slot, implicit);
        seen |= 1u << slot;
    }
    abbrev->slots = seen & ~(1u << ms_SLOT_NONE);
    return true;
}

/* An abbreviation table as it grows. */
typedef struct ms_dw_table {
    ms_dw_compiler steps;
    ms_dw_abbrev *v;
    ms_key *codes;
    size_t count;
    size_t cap;
    size_t code_cap;
    size_t most_specs;    /* of a table whose kinds are made later: the most attributes that one has */
    ms_span specs;        /* of such a table: its bytes */
    ms_dw_enc enc;        /* the same: how it encodes */
    ms_dw_abbrevs *owner; /* the same */
    ms_dw_brief *briefs;  /* the same: by code */
} ms_dw_table;

enum {
    ms_DW_MOST_BYTES = 0x7fffffff
}; /* the parts of known size take no more in any entry: else it is damage */

/* How many bytes the steps first ... end - 1 may touch when every value takes its most. Blocks are checked
 * where they occur. UINT32_MAX: the form of a value gives no bound. Other numbers above ms_DW_MOST_BYTES:
 * damage. */
static uint32_t ms_dw_most_bytes(const ms_dw_compiler *steps, size_t first, size_t end, uint32_t tail)
{
    static const uint8_t most[] = {0, 0, 8, 10, 10, 10, 0}; /* a fixed size is read as 8 bytes */
    uint32_t sum = tail;
    bool is_bounded = true;
    for (size_t i = first; i < end && sum <= ms_DW_MOST_BYTES; i++) {
        is_bounded = is_bounded && steps->v[i].how != ms_HOW_FORM;
        sum += steps->v[i].skip + (uint32_t)most[steps->v[i].how];
    }
    return sum > ms_DW_MOST_BYTES || is_bounded ? sum : UINT32_MAX;
}

/* Makes the steps of an abbreviation; rd is where its attributes are listed. Returns false at damage, or when
 * memory is out. */
static bool ms_dw_add_steps(ms_dw_table *t, const ms_dw_enc *enc, ms_rd *rd, ms_dw_abbrev *abbrev)
{
    ms_rd again = *rd;
    size_t first = t->steps.count;
    if (!ms_dw_compile(&t->steps, enc, rd, abbrev, false))
        return false;
    abbrev->skip_first = (uint32_t)first;
    abbrev->skip_tail = t->steps.run;
    t->steps.run = 0;
    size_t mid = t->steps.count;
    if (abbrev->kind != ms_KIND_OTHER) {
        if (!ms_dw_compile(&t->steps, enc, &again, abbrev, true))
            return false;
        ms_dw_emit(&t->steps, enc, 0, 0, 0);
    }
    if (t->steps.count - first > 0xffff)
        return false;
    abbrev->skip_count = (uint16_t)(mid - first);
    abbrev->skip_max = ms_dw_most_bytes(&t->steps, first, mid, abbrev->skip_tail);
    abbrev->read_count = (uint16_t)(t->steps.count - mid);
    abbrev->read_max = ms_dw_most_bytes(&t->steps, mid, t->steps.count, 0);
    abbrev->is_made = (abbrev->skip_max <= ms_DW_MOST_BYTES || abbrev->skip_max == UINT32_MAX) &&
                      (abbrev->read_max <= ms_DW_MOST_BYTES || abbrev->read_max == UINT32_MAX);
    return abbrev->is_made;
}

/* Adds an abbreviation but for its steps; NULL when memory is out. */
static ms_dw_abbrev *ms_dw_add_kind(ms_dw_table *t, ms_rd *rd)
{
    uint64_t tag = ms_rd_uleb(rd);
    uint8_t children = ms_rd_u8(rd);
    ms_dw_abbrev *v = (ms_dw_abbrev *)ms_arena_grow(t->steps.arena, t->v, t->count, &t->cap, sizeof *v);
    if (v == NULL)
        return NULL;
    t->v = v;
    ms_dw_abbrev *abbrev = &v[t->count];
    ms_zero(abbrev, sizeof *abbrev);
    abbrev->tag = (uint16_t)(tag > 0xffff ? 0xffff : tag);
    abbrev->kind = (uint8_t)ms_dw_kind_of(tag);
    abbrev->has_children = children != 0;
    abbrev->specs = ms_rd_offset(rd) <= UINT32_MAX ? (uint32_t)ms_rd_offset(rd) : UINT32_MAX;
    return abbrev;
}

static bool ms_dw_add_abbrev(ms_dw_table *t, const ms_dw_enc *enc, ms_rd *rd, uint64_t code)
{
    ms_dw_abbrev *abbrev = ms_dw_add_kind(t, rd);
    ms_key *codes = (ms_key *)ms_arena_grow(t->steps.arena, t->codes, t->count, &t->code_cap, sizeof *codes);
    t->codes = codes != NULL ? codes : t->codes;
    if (abbrev == NULL || codes == NULL)
        return false;
    if (!ms_dw_add_steps(t, enc, rd, abbrev))
        return false;
    codes[t->count].key = code;
    codes[t->count].item = t->count;
    t->count++;
    return true;
}

/* The brief of one kind of entry. */
static ms_dw_brief ms_dw_brief_of(const ms_dw_abbrev *abbrev, const ms_dw_step *steps)
{
    ms_dw_brief brief;
    const ms_dw_step *step = abbrev->skip_count == 1 ? &steps[abbrev->skip_first] : NULL;
    bool is_number = step != NULL && (step->how == ms_HOW_ULEB || step->how == ms_HOW_SLEB);
    bool is_block = step != NULL && step->how == ms_HOW_BLOCK;
    ms_zero(&brief, sizeof brief);
    brief.has_children = abbrev->has_children;
    brief.flags = abbrev->has_code ? (abbrev->kind == ms_KIND_INLINE ? ms_BRIEF_CALL : ms_BRIEF_LONG) : 0;
    if (abbrev->skip_count > 1 || abbrev->skip_tail > 0x7fff || (step != NULL && !is_number && !is_block)) {
        brief.flags |= ms_BRIEF_LONG;
        return brief;
    }
    brief.skip = step != NULL ? step->skip : (uint16_t)abbrev->skip_tail;
    brief.tail = step != NULL ? (uint16_t)abbrev->skip_tail : 0;
    brief.flags |= is_number ? ms_BRIEF_NUMBER : is_block ? ms_BRIEF_BLOCK : 0;
    return brief;
}

static ms_dw_call_value ms_dw_call_value_of(unsigned slot)
{
    switch (slot) {
    case ms_SLOT_ORIGIN: return ms_CALL_ORIGIN;
    case ms_SLOT_LOW_PC: return ms_CALL_LOW_PC;
    case ms_SLOT_HIGH_PC: return ms_CALL_HIGH_PC;
    case ms_SLOT_RANGES: return ms_CALL_RANGES;
    case ms_SLOT_CALL_FILE: return ms_CALL_FILE;
    case ms_SLOT_CALL_LINE: return ms_CALL_LINE;
    case ms_SLOT_CALL_COLUMN: return ms_CALL_COLUMN;
    default: return ms_CALL_COUNT;
    }
}

/* Whether a value of this form is an offset in its unit, of a fixed size. */
static bool ms_dw_is_unit_reference(unsigned form)
{
    return form == ms_DW_FORM_ref1 || form == ms_DW_FORM_ref2 || form == ms_DW_FORM_ref4 ||
           form == ms_DW_FORM_ref8;
}

/* Decides whether a call of this layout is plain: nearly all calls with one range are. */
static void ms_dw_set_plain(ms_dw_layout *layout)
{
    unsigned origin = layout->form[ms_CALL_ORIGIN];
    unsigned high = layout->form[ms_CALL_HIGH_PC];
    bool is_sized = high == ms_DW_FORM_data1 || high == ms_DW_FORM_data2 || high == ms_DW_FORM_data4 ||
                    high == ms_DW_FORM_data8;
    layout->is_in_unit = ms_dw_is_unit_reference(origin);
    layout->is_plain = (layout->is_in_unit || origin == ms_DW_FORM_ref_addr) && is_sized &&
                       (layout->is_indexed || layout->form[ms_CALL_LOW_PC] == ms_DW_FORM_addr) &&
                       layout->form[ms_CALL_RANGES] == 0 && layout->size[ms_CALL_FILE] <= 4 &&
                       layout->size[ms_CALL_LINE] <= 4 && layout->size[ms_CALL_COLUMN] <= 4;
}

/* Makes the layout of a call. Returns false when a value has no fixed size, but for an index in a plain one,
 * or does not fit. */
static bool ms_dw_set_layout(const ms_dw_abbrev *abbrev, const ms_dw_step *steps, ms_dw_layout *layout)
{
    const ms_dw_step *step = &steps[abbrev->skip_first + abbrev->skip_count];
    const ms_dw_step *stop = step + abbrev->read_count;
    uint32_t at = 0;
    ms_zero(layout, sizeof *layout);
    for (; step < stop; step++) {
        ms_dw_call_value value = ms_dw_call_value_of(step->slot);
        bool is_const = step->how == ms_HOW_CONST;
        bool is_index = value == ms_CALL_LOW_PC && step->form == ms_DW_FORM_addrx;
        at += step->skip;
        if (step->how != ms_HOW_FIXED && !is_const && step->how != ms_HOW_END && !is_index)
            return false;
        if (at > UINT8_MAX || (value < ms_CALL_COUNT && step->form > UINT8_MAX))
            return false;
        if (is_const && (value < ms_CALL_FILE || step->bits > UINT32_MAX))
            return false;
        if (is_const && value < ms_CALL_COUNT)
            layout->number[value - ms_CALL_FILE] = (uint32_t)step->bits;
        if (value < ms_CALL_COUNT) {
            layout->at[value] = (uint8_t)at;
            layout->size[value] = step->size;
            layout->form[value] = (uint8_t)step->form;
            layout->after[value] = layout->is_indexed ? 0xff : 0;
        }
        layout->is_indexed |= is_index;
        at += step->size;
    }
    ms_dw_set_plain(layout);
    return layout->is_plain || !layout->is_indexed;
}

enum { ms_DW_MOST_LAYOUTS = 64 }; /* of a table: compilers make 10 to 40 kinds of calls */

/* Makes the layouts of calls; v has the table's abbreviations. */
static void ms_dw_add_layouts(ms_dw_abbrevs *table, ms_dw_abbrev *v, ms_arena *arena)
{
    size_t count = 0;
    uint8_t made = 0;
    for (size_t i = 0; i < table->count; i++)
        count += v[i].kind == ms_KIND_INLINE && v[i].has_code;
    count = count < ms_DW_MOST_LAYOUTS ? count : (size_t)ms_DW_MOST_LAYOUTS;
    ms_dw_layout *layouts = (ms_dw_layout *)ms_arena_alloc(arena, count, sizeof *layouts);
    for (size_t i = 0; i < table->count && layouts != NULL && made < count; i++) {
        if (v[i].kind == ms_KIND_INLINE && v[i].has_code &&
            ms_dw_set_layout(&v[i], table->steps, &layouts[made]))
            v[i].layout = ++made;
    }
    table->layouts = layouts;
}

enum { ms_DW_MOST_BRIEFS = 0x3fff }; /* whose codes take two bytes: others are rare */

static void ms_dw_add_briefs(ms_dw_abbrevs *table, ms_arena *arena)
{
    size_t count = table->dense ? table->count : 0;
    count = count < ms_DW_MOST_BRIEFS ? count : (size_t)ms_DW_MOST_BRIEFS;
    ms_dw_brief *briefs = (ms_dw_brief *)ms_arena_zeroed(arena, count + 1, sizeof *briefs);
    if (briefs == NULL)
        return;
    briefs[0].flags = ms_BRIEF_END;
    for (size_t i = 0; i < count; i++) {
        ms_dw_brief *brief = &briefs[i + 1];
        *brief = ms_dw_brief_of(&table->v[i], table->steps);
        uint32_t most = 4u + brief->skip + brief->tail + 0x7fu;
        table->brief_max = table->brief_max < most ? most : table->brief_max;
    }
    table->briefs = briefs;
    table->brief_count = count;
}

/* Decodes the table at an offset of .debug_abbrev. A damaged table keeps what came before the damage. */
static ms_dw_abbrevs *ms_dw_abbrevs_make(const ms_dw *dw, const ms_dw_enc *enc, uint64_t off, ms_arena *arena)
{
    ms_rd rd = ms_rd_at(dw->abbrev, off);
    ms_dw_table t;
    ms_zero(&t, sizeof t);
    t.steps.arena = arena;
    t.steps.v = (ms_dw_step *)ms_arena_grow(arena, NULL, 0, &t.steps.cap, sizeof *t.steps.v);
    if (t.steps.v == NULL) /* never NULL below: tables without a step are indexed too */
        return NULL;
    bool dense = true;
    for (uint64_t code = ms_rd_uleb(&rd); code != 0 && !rd.failed; code = ms_rd_uleb(&rd)) {
        if (!ms_dw_add_abbrev(&t, enc, &rd, code))
            break;
        dense = dense && code == t.count;
    }
    ms_dw_abbrevs *table = (ms_dw_abbrevs *)ms_arena_zeroed(arena, 1, sizeof *table);
    if (table == NULL)
        return NULL;
    if (!dense)
        ms_sort(t.codes, t.count, (ms_key *)ms_arena_alloc(arena, t.count, sizeof *t.codes));
    if (arena->oom)
        return NULL;
    table->off = off;
    table->encoding = (uint8_t)ms_dw_encoding_of(enc->version, enc->addr_size, enc->offset_size);
    table->dense = dense;
    table->v = t.v;
    table->count = t.count;
    table->by_code = t.codes;
    table->steps = t.steps.v;
    table->needs = t.steps.needs;
    ms_dw_add_layouts(table, t.v, arena);
    ms_dw_add_briefs(table, arena);
    return arena->oom ? NULL : table;
}

/* ---- Abbreviations that are made when they are first met ---- */

enum { ms_DW_MOST_SPECS = 1024 }; /* attributes of an abbreviation that is made later: so its steps fit */

/* Passes the attributes of an abbreviation; notes which sections their values lead to. Returns false when one
 * cannot be known. */
static bool ms_dw_pass_specs(ms_dw_table *t, const ms_dw_enc *enc, ms_rd *rd, ms_dw_kind kind)
{
    const uint8_t *p = rd->p;
    uint32_t seen = 1u << ms_SLOT_NONE;
    size_t count = 0;
    for (;; count++) {
        uint64_t attribute = p != rd->end ? p[0] : 0x80;
        uint64_t form = attribute < 0x80 && p + 1 != rd->end ? p[1] : 0x80;
        MACHSYM_COUNT_WORK(1);
        if (form < 0x80 && form != ms_DW_FORM_implicit_const) { /* nearly always */
            p += 2;
        } else {
            rd->p = p;
            attribute = ms_rd_uleb(rd);
            form = ms_rd_uleb(rd);
            if (form == ms_DW_FORM_implicit_const)
                ms_rd_sleb(rd);
            if (rd->failed || form > 0xffff)
                return false;
            p = rd->p;
        }
        if (count > ms_DW_MOST_SPECS)
            return false;
        if (attribute == 0 && form == 0)
            break;
        bool is_usual = form - ms_DW_FORM_block2 <= (uint64_t)ms_DW_FORM_addrx4 - ms_DW_FORM_block2;
        if (!is_usual && ms_dw_form_size((uint32_t)form, enc) == ms_SIZE_UNKNOWN)
            return false;
        ms_dw_slot slot = kind != ms_KIND_OTHER ? ms_dw_slot_of(attribute, kind) : ms_SLOT_NONE;
        if ((seen >> slot & 1) == 0)
            t->steps.needs |=
                ms_dw_form_needs((uint32_t)form) | (slot == ms_SLOT_RANGES ? (uint32_t)ms_NEEDS_RANGES : 0u);
        seen |= 1u << slot;
    }
    rd->p = p;
    t->most_specs = count > t->most_specs ? count : t->most_specs;
    return true;
}

/* Lists the abbreviations of a table without their steps. Returns false unless all of it is as compilers
 * write it. */
static bool ms_dw_list_kinds(const ms_dw *dw, const ms_dw_enc *enc, uint64_t off, ms_dw_table *t)
{
    ms_rd rd = ms_rd_at(dw->abbrev, off);
    for (uint64_t code = ms_rd_uleb(&rd); code != 0; code = ms_rd_uleb(&rd)) {
        ms_dw_abbrev *abbrev = code == t->count + 1 ? ms_dw_add_kind(t, &rd) : NULL;
        if (abbrev == NULL || abbrev->specs == UINT32_MAX || t->count == ms_DW_MOST_BRIEFS ||
            !ms_dw_pass_specs(t, enc, &rd, (ms_dw_kind)abbrev->kind))
            return false;
        t->count++;
    }
    return !rd.failed;
}

/* Decodes the table at an offset of .debug_abbrev, but makes the steps of each kind of entry when such an
 * entry is first met: one answer meets few. NULL: the table is damaged or uncommon, or memory is out. */
static ms_dw_abbrevs *ms_dw_abbrevs_later(const ms_dw *dw, const ms_dw_enc *enc, uint64_t off,
                                          ms_arena *arena)
{
    ms_dw_table *t = (ms_dw_table *)ms_arena_zeroed(arena, 1, sizeof *t);
    ms_dw_abbrevs *table = (ms_dw_abbrevs *)ms_arena_zeroed(arena, 1, sizeof *table);
    if (t == NULL || table == NULL)
        return NULL;
    t->steps.arena = arena;
    t->specs = ms_span_from(dw->abbrev, off);
    t->enc = *enc;
    t->owner = table;
    if (!ms_dw_list_kinds(dw, enc, off, t))
        return NULL;
    t->briefs = (ms_dw_brief *)ms_arena_zeroed(arena, t->count + 1, sizeof *t->briefs);
    t->steps.v = (ms_dw_step *)ms_arena_grow(arena, NULL, 0, &t->steps.cap, sizeof *t->steps.v);
    if (t->briefs == NULL || t->steps.v == NULL)
        return NULL;
    t->briefs[0].flags = ms_BRIEF_END;
    for (size_t i = 1; i <= t->count; i++)
        t->briefs[i].flags = ms_BRIEF_LONG;
    table->off = off;
    table->encoding = (uint8_t)ms_dw_encoding_of(enc->version, enc->addr_size, enc->offset_size);
    table->dense = true;
    table->v = t->v;
    table->count = t->count;
    table->needs = t->steps.needs;
    table->briefs = t->briefs;
    table->brief_count = t->count;
    table->brief_max = 4u + (uint32_t)(16 * t->most_specs) + 0x7fu; /* no value of a known size has more */
    table->steps = t->steps.v;
    table->rest = t;
    return table;
}

/* Makes one kind of entry; NULL when memory is out. */
static ms_NOINLINE const ms_dw_abbrev *ms_dw_make_kind(const ms_dw_abbrevs *table, size_t index)
{
    ms_dw_table *t = table->rest;
    ms_dw_abbrev *abbrev = &t->v[index];
    ms_rd rd = ms_rd_at(t->specs, abbrev->specs);
    bool is_made = ms_dw_add_steps(t, &t->enc, &rd, abbrev) && !t->steps.arena->oom;
    t->owner->steps = t->steps.v;
    if (!is_made) {
        abbrev->is_made = false;
        return NULL;
    }
    t->briefs[index + 1] = ms_dw_brief_of(abbrev, t->steps.v);
    return abbrev;
}

/* Makes all kinds of entries that are not made, for walks over a whole unit. Returns false when memory is
 * out. */
static bool ms_dw_make_rest(const ms_dw_abbrevs *table)
{
    ms_dw_table *t = table->rest;
    if (t == NULL)
        return true;
    for (size_t i = 0; i < t->count; i++) {
        if (!t->v[i].is_made && ms_dw_make_kind(table, i) == NULL)
            return false;
    }
    ms_dw_add_layouts(t->owner, t->v, t->steps.arena);
    t->owner->rest = NULL;
    return !t->steps.arena->oom;
}

static inline const ms_dw_abbrev *ms_dw_abbrev_from_code(const ms_dw_abbrevs *table, uint64_t code)
{
    if (code - 1 < table->count && table->dense)
        return table->v[code - 1].is_made ? &table->v[code - 1] : ms_dw_make_kind(table, (size_t)code - 1);
    if (table->dense)
        return NULL;
    size_t at = ms_lower_bound(table->by_code, table->count, sizeof *table->by_code, code);
    if (at == table->count || table->by_code[at].key != code)
        return NULL;
    return &table->v[table->by_code[at].item];
}

/* ---- Values ---- */

/* Skips a value whose size is in the data. */
static void ms_dw_skip_value(ms_rd *rd, uint32_t form, const ms_dw_enc *enc)
{
    for (unsigned budget = 4; budget > 0; budget--) {
        switch (form) {
        case 0: return;
        case ms_DW_FORM_block1: ms_rd_skip(rd, ms_rd_u8(rd)); return;
        case ms_DW_FORM_block2: ms_rd_skip(rd, ms_rd_u16(rd)); return;
        case ms_DW_FORM_block4: ms_rd_skip(rd, ms_rd_u32(rd)); return;
        case ms_DW_FORM_block:
        case ms_DW_FORM_exprloc: ms_rd_skip(rd, ms_rd_uleb(rd)); return;
        case ms_DW_FORM_string: ms_rd_str(rd); return;
        case ms_DW_FORM_sdata: ms_rd_sleb(rd); return;
        case ms_DW_FORM_udata:
        case ms_DW_FORM_ref_udata:
        case ms_DW_FORM_strx:
        case ms_DW_FORM_addrx:
        case ms_DW_FORM_loclistx:
        case ms_DW_FORM_rnglistx:
        case ms_DW_FORM_GNU_addr_index:
        case ms_DW_FORM_GNU_str_index: ms_rd_uleb(rd); return;
        case ms_DW_FORM_LLVM_addrx_offset:
            ms_rd_uleb(rd);
            ms_rd_skip(rd, 4);
            return;
        case ms_DW_FORM_indirect: {
            uint64_t actual = ms_rd_uleb(rd);
            form = actual > 0xffff || actual == 0 ? 0xffffu : (uint32_t)actual;
            break;
        }
        default: {
            int size = ms_dw_form_size(form, enc);
            if (size < 0 ||
                form == ms_DW_FORM_implicit_const) /* an indirect form cannot bring its constant along */
                ms_rd_fail(rd);
            else
                ms_rd_skip(rd, (uint64_t)size);
            return;
        }
        }
    }
    ms_rd_fail(rd);
}

/* Skips values from a step on; each is checked against the end of the unit. Returns NULL when the unit ends
 * before. */
static const uint8_t *ms_dw_skip_slowly(const ms_dw_abbrev *abbrev, const ms_dw_step *step,
                                        const ms_dw_step *stop, const uint8_t *p, const uint8_t *end,
                                        const ms_dw_enc *enc)
{
    ms_rd rd = ms_rd_make(ms_span_make(p, (size_t)(end - p)));
    for (; step < stop && !rd.failed; step++) {
        ms_rd_skip(&rd, step->skip);
        ms_dw_skip_value(&rd, step->form, enc);
    }
    ms_rd_skip(&rd, abbrev->skip_tail);
    return rd.failed ? NULL : rd.p;
}

/* Skips the values of an entry. Returns NULL when the unit ends before they do. One check covers all
 * numbers of up to 10 bytes. A block is checked where it ends. Everything else is skipped the long way. */
static inline const uint8_t *ms_dw_skip_die(const ms_dw_abbrevs *table, const ms_dw_abbrev *abbrev,
                                            const uint8_t *p, const uint8_t *end, const ms_dw_enc *enc)
{
    const ms_dw_step *step = &table->steps[abbrev->skip_first];
    const ms_dw_step *stop = step + abbrev->skip_count;
    if (abbrev->skip_max > (size_t)(end - p))
        return ms_dw_skip_slowly(abbrev, step, stop, p, end, enc);
    for (; step < stop; step++) {
        MACHSYM_COUNT_WORK(1);
        p += step->skip;
        const uint8_t *value = p;
        while (*p >= 0x80 && p - value < 9)
            p++;
        uint8_t first = *value;
        if (*p++ >= 0x80) /* padded, or too large */
            return ms_dw_skip_slowly(abbrev, step, stop, value - step->skip, end, enc);
        if (step->how == ms_HOW_ULEB || step->how == ms_HOW_SLEB)
            continue;
        if (step->how != ms_HOW_BLOCK || first >= 0x80 || first > end - p ||
            abbrev->skip_max > (size_t)(end - p) - first)
            return ms_dw_skip_slowly(abbrev, step, stop, value - step->skip, end, enc);
        p += first;
    }
    return p + abbrev->skip_tail;
}

/* Skips the value of varying size of an entry, and what stands after it, by the entry's brief. At least
 * brief_max bytes must be left after the entry's begin. Returns NULL when the long way must be taken. It
 * branches instead of computing: branches are predicted, so the processor goes on with the next entry before
 * the bytes of this one have arrived. */
static inline const uint8_t *ms_dw_skip_varying(const ms_dw_brief *brief, const uint8_t *p)
{
    if ((brief->flags & ms_BRIEF_NUMBER) != 0) {
        if (*p++ >= 0x80 && *p++ >= 0x80 && *p++ >= 0x80)
            return NULL;
    } else if ((brief->flags & ms_BRIEF_BLOCK) != 0) {
        size_t len = *p++;
        if (len >= 0x80)
            return NULL;
        p += len;
    }
    return p + brief->tail;
}

/* An attribute's value as stored. */
typedef struct ms_dw_value {
    uint64_t u;       /* number, offset, index, or signed number */
    const char *text; /* of DW_FORM_string */
    uint32_t text_len;
    uint32_t form; /* 0: the entry has no such attribute */
} ms_dw_value;

static ms_dw_value ms_dw_read_value(ms_rd *rd, uint32_t form, int64_t implicit, const ms_dw_enc *enc)
{
    ms_dw_value value;
    value.u = 0;
    value.text = NULL;
    value.text_len = 0;
    if (form == ms_DW_FORM_indirect) {
        uint64_t actual = ms_rd_uleb(rd);
        form = actual > 0xffff ? 0 : (uint32_t)actual;
        if (form == 0 || form == ms_DW_FORM_indirect || form == ms_DW_FORM_implicit_const)
            ms_rd_fail(rd);
    }
    value.form = form;
    switch (form) {
    case ms_DW_FORM_flag_present: value.u = 1; break;
    case ms_DW_FORM_implicit_const: value.u = (uint64_t)implicit; break;
    case ms_DW_FORM_sdata: value.u = (uint64_t)ms_rd_sleb(rd); break;
    case ms_DW_FORM_udata:
    case ms_DW_FORM_ref_udata:
    case ms_DW_FORM_strx:
    case ms_DW_FORM_addrx:
    case ms_DW_FORM_rnglistx:
    case ms_DW_FORM_GNU_addr_index:
    case ms_DW_FORM_GNU_str_index: value.u = ms_rd_uleb(rd); break;
    case ms_DW_FORM_string: {
        machsym_str text = ms_rd_str(rd);
        value.text = text.ptr;
        value.text_len = text.len > UINT32_MAX ? UINT32_MAX : (uint32_t)text.len;
        break;
    }
    case ms_DW_FORM_data16: ms_rd_skip(rd, 16); break;
    default: {
        int size = ms_dw_form_size(form, enc);
        if (size >= 0)
            value.u = ms_rd_uint(rd, (unsigned)size);
        else
            ms_dw_skip_value(rd, form, enc);
        break;
    }
    }
    return value;
}

/* The attributes of an entry that matter, by slot. */
typedef struct ms_dw_die {
    uint32_t present; /* one bit for every slot that is set */
    ms_dw_value v[ms_SLOT_COUNT];
} ms_dw_die;

/* An attribute of an entry; a value of form 0 when the entry does not have it. */
static inline const ms_dw_value *ms_dw_get(const ms_dw_die *die, ms_dw_slot slot)
{
    static const ms_dw_value absent = {0, NULL, 0, 0};
    return (die->present >> slot & 1) != 0 ? &die->v[slot] : &absent;
}

static void ms_dw_read_slowly(const ms_dw_step *step, size_t count, ms_rd *rd, const ms_dw_enc *enc,
                              ms_dw_die *die)
{
    die->present = 0;
    for (; count > 0 && !rd->failed; step++, count--) {
        MACHSYM_COUNT_WORK(1);
        ms_rd_skip(rd, step->skip);
        if (step->slot == ms_SLOT_NONE)
            ms_dw_skip_value(rd, step->form, enc);
        else
            die->v[step->slot] = ms_dw_read_value(rd, step->form, (int64_t)step->bits, enc);
        die->present |= 1u << step->slot;
    }
}

/* Reads attributes that few entries are asked for, so that the steps skip them: those of a list of count,
 * into v in its order, from the values of an entry at rd. Returns false when the unit ends before. */
static bool ms_dw_read_listed(const ms_dw *dw, const ms_dw_abbrevs *table, const ms_dw_abbrev *abbrev,
                              ms_rd *rd, const ms_dw_enc *enc, const uint16_t *list, size_t count,
                              ms_dw_value *v)
{
    ms_rd specs = ms_rd_at(dw->abbrev, table->off);
    ms_zero(v, count * sizeof *v);
    ms_rd_skip(&specs, abbrev->specs);
    while (!specs.failed && !rd->failed) {
        uint64_t attribute = ms_rd_uleb(&specs);
        uint32_t form = (uint32_t)ms_rd_uleb(&specs); /* one that is known: the table was decoded */
        int64_t implicit = form == ms_DW_FORM_implicit_const ? ms_rd_sleb(&specs) : 0;
        size_t at = 0;
        MACHSYM_COUNT_WORK(1);
        if (attribute == 0 && form == 0)
            return true;
        while (at < count && list[at] != attribute)
            at++;
        if (at < count && v[at].form == 0)
            v[at] = ms_dw_read_value(rd, form, implicit, enc);
        else
            ms_dw_skip_value(rd, form, enc);
    }
    return false;
}

/* A ULEB128 number in a window of 10 bytes. Returns NULL when it is longer. */
static inline const uint8_t *ms_dw_raw_uleb(const uint8_t *p, uint64_t *out)
{
    uint64_t value = *p & 0x7f;
    if (*p++ < 0x80) {
        *out = value;
        return p;
    }
    for (unsigned shift = 7; shift < 63; shift += 7) {
        value |= (uint64_t)(*p & 0x7f) << shift;
        if (*p++ < 0x80) {
            *out = value;
            return p;
        }
    }
    return NULL;
}

/* The same of an SLEB128 number. Most have one byte or two, and either sign: there is no branch for it. */
static inline const uint8_t *ms_dw_raw_sleb(const uint8_t *p, uint64_t *out)
{
    if (p[0] < 0x80) {
        *out = ((uint64_t)p[0] ^ 0x40) - 0x40;
        return p + 1;
    }
    if (p[1] < 0x80) {
        *out = (((p[0] & 0x7fu) | (uint64_t)p[1] << 7) ^ 0x2000) - 0x2000;
        return p + 2;
    }
    const uint8_t *next = ms_dw_raw_uleb(p, out);
    unsigned bits = next != NULL ? (unsigned)(next - p) * 7u : 64u;
    if (bits < 64 && (next[-1] & 0x40) != 0)
        *out |= ~(uint64_t)0 << bits;
    return next;
}

/* Reads an entry inside a window that was checked once. most bytes are there at p, and no value but a block
 * takes more than ms_dw_most_bytes counted. Returns NULL where that does not hold, and the caller reads the
 * entry the long way. */
static inline const uint8_t *ms_dw_read_window(const ms_dw_step *step, const ms_dw_step *stop,
                                               const uint8_t *p, const uint8_t *end, size_t most,
                                               ms_dw_die *die)
{
    for (; step < stop; step++) {
        MACHSYM_COUNT_WORK(1);
        uint64_t u = step->bits;
        p += step->skip;
        if (step->how == ms_HOW_FIXED) {
            u &= ms_rd_raw_u64(p);
            p += step->size;
        } else if (step->how == ms_HOW_ULEB || step->how == ms_HOW_BLOCK) {
            p = ms_dw_raw_uleb(p, &u);
        } else if (step->how == ms_HOW_SLEB) {
            p = ms_dw_raw_sleb(p, &u);
        } else if (step->how == ms_HOW_FORM) { /* no bound, but a unit of 4 GB has room for that number */
            return NULL;
        }
        if (p == NULL)
            return NULL;
        if (step->how == ms_HOW_BLOCK) {
            if (u > (size_t)(end - p) || (size_t)(end - p) - u < most)
                return NULL;
            p += u;
        }
        die->v[step->slot].u = u; /* skipped values land in slot 0, which is never read */
        die->v[step->slot].form = step->form;
    }
    return p;
}

/* Reads the values of an entry whose kind is not ms_KIND_OTHER, from p on. Returns where they end; NULL when
 * the unit ends before. */
static inline const uint8_t *ms_dw_read_values(const ms_dw_abbrevs *table, const ms_dw_abbrev *abbrev,
                                               const uint8_t *p, const uint8_t *end, const ms_dw_enc *enc,
                                               ms_dw_die *die)
{
    const ms_dw_step *steps = &table->steps[abbrev->skip_first + abbrev->skip_count];
    const uint8_t *next = NULL;
    if (abbrev->read_max <= (size_t)(end - p))
        next = ms_dw_read_window(steps, steps + abbrev->read_count, p, end, abbrev->read_max, die);
    die->present = abbrev->slots;
    if (next != NULL)
        return next;
    ms_rd rd = ms_rd_make(ms_span_make(p, (size_t)(end - p)));
    ms_dw_read_slowly(steps, abbrev->read_count, &rd, enc, die);
    return rd.failed ? NULL : rd.p;
}

enum {
    ms_DW_INDEX_BYTES = 9, /* of an index, at most: see ms_dw_raw_uleb */
    ms_DW_LAYOUT_BYTES =
        UINT8_MAX + 8 + ms_DW_INDEX_BYTES /* that must be there to read a value of a layout */
};

/* The number of a call's value by the call's layout; p is where the first value stands, index_bytes
 * the width of an index. */
static inline uint64_t ms_dw_laid_number(const ms_dw_layout *layout, const uint8_t *p, uint8_t index_bytes,
                                         ms_dw_call_value which)
{
    static const uint64_t masks[] = {
        0, 0xff, 0xffff, 0xffffff, UINT32_MAX, 0xffffffffffu, 0xffffffffffffu, 0xffffffffffffffu, UINT64_MAX};
    p += layout->at[which] + (layout->after[which] & index_bytes);
    uint64_t number = ms_rd_raw_u64(p) & masks[layout->size[which]];
    return which >= ms_CALL_FILE ? number | layout->number[which - ms_CALL_FILE] : number;
}

/* The whole value; the layout has no index. */
static inline ms_dw_value ms_dw_laid_value(const ms_dw_layout *layout, const uint8_t *p,
                                           ms_dw_call_value which)
{
    ms_dw_value value;
    value.u = ms_dw_laid_number(layout, p, 0, which);
    value.text = NULL;
    value.text_len = 0;
    value.form = layout->form[which];
    return value;
}

/* The same from where a reader is. */
static void ms_dw_read_die(const ms_dw_abbrevs *table, const ms_dw_abbrev *abbrev, ms_rd *rd,
                           const ms_dw_enc *enc, ms_dw_die *die)
{
    const uint8_t *next = ms_dw_read_values(table, abbrev, rd->p, rd->end, enc, die);
    if (next != NULL)
        rd->p = next;
    else
        ms_rd_fail(rd);
}

/* The n-th entry of .debug_str_offsets, from this unit's base on. DWARF5 7.26 */
static machsym_str ms_dw_string_indexed(const ms_dw *dw, const ms_dw_enc *enc, uint64_t index)
{
    uint64_t at;
    if (index > dw->str_offsets.len || !ms_add_ok(enc->str_offsets_base, index * enc->offset_size, &at))
        return ms_str_empty();
    ms_rd rd = ms_rd_at(dw->str_offsets, at);
    uint64_t off = ms_rd_uint(&rd, enc->offset_size);
    return rd.failed ? ms_str_empty() : ms_rd_str_at(dw->str, off);
}

/* The text that a value stands for; empty when it is no text, or is damaged. */
static machsym_str ms_dw_string(const ms_dw *dw, const ms_dw_enc *enc, const ms_dw_value *value)
{
    switch (value->form) {
    case ms_DW_FORM_string:
        return value->text_len < MACHSYM_MAX_TEXT ? ms_str_make(value->text, value->text_len)
                                                  : ms_str_empty();
    case ms_DW_FORM_strp: return ms_rd_str_at(dw->str, value->u);
    case ms_DW_FORM_line_strp: return ms_rd_str_at(dw->line_str, value->u);
    case ms_DW_FORM_strx:
    case ms_DW_FORM_strx1:
    case ms_DW_FORM_strx2:
    case ms_DW_FORM_strx3:
    case ms_DW_FORM_strx4:
    case ms_DW_FORM_GNU_str_index: return ms_dw_string_indexed(dw, enc, value->u);
    default: return ms_str_empty();
    }
}

static bool ms_dw_address_indexed(const ms_dw *dw, const ms_dw_enc *enc, uint64_t index, uint64_t *out)
{
    uint64_t at;
    if (index > dw->addr.len || !ms_add_ok(enc->addr_base, index * enc->addr_size, &at) ||
        at > dw->addr.len || dw->addr.len - at < enc->addr_size)
        return false;
    *out = enc->addr_size == 8 ? ms_rd_raw_u64(dw->addr.ptr + at) : ms_rd_raw_u32(dw->addr.ptr + at);
    return true;
}

/* The address that a value stands for. Returns false when it is no address. */
static inline bool ms_dw_address(const ms_dw *dw, const ms_dw_enc *enc, const ms_dw_value *value,
                                 uint64_t *out)
{
    switch (value->form) {
    case ms_DW_FORM_addr: *out = value->u; return true;
    case ms_DW_FORM_addrx:
    case ms_DW_FORM_addrx1:
    case ms_DW_FORM_addrx2:
    case ms_DW_FORM_addrx3:
    case ms_DW_FORM_addrx4:
    case ms_DW_FORM_GNU_addr_index: return ms_dw_address_indexed(dw, enc, value->u, out);
    default: return false;
    }
}

/* The offset in .debug_info that a reference stands for. Returns false when it is no reference, or leaves its
 * unit. */
static inline bool ms_dw_reference(const ms_dw_enc *enc, const ms_dw_value *value, uint64_t *out)
{
    switch (value->form) {
    case ms_DW_FORM_ref_addr: *out = value->u; return true;
    case ms_DW_FORM_ref1:
    case ms_DW_FORM_ref2:
    case ms_DW_FORM_ref4:
    case ms_DW_FORM_ref8:
    case ms_DW_FORM_ref_udata:
        *out = enc->unit_off + value->u;
        return value->u < enc->unit_end - enc->unit_off;
    default: return false;
    }
}

/* ---- Ranges ---- */

/* A growing list, in the order found. */
typedef struct ms_ranges {
    ms_arena *arena;
    ms_range *v;
    size_t count;
    size_t cap;
    uint64_t budget; /* list entries that may still be read: lists may overlap in a hostile file */
    /* A range ends before it begins, or leaves its section of code: no compiler writes that. */
    bool is_wrong;
} ms_ranges;

/* Which executable section holds an address; NULL when none does. Nearly all code is in the first one. */
static inline const ms_range *ms_dw_code_at(const ms_dw *dw, uint64_t addr)
{
    if (dw->code_count > 0 && dw->code->lo <= addr && addr < dw->code->hi)
        return dw->code;
    return ms_seg_range_at(dw->code, dw->code_count, addr);
}

/* The end of the addresses for which ms_dw_code_at gives the same answer. */
static uint64_t ms_dw_code_until(const ms_dw *dw, uint64_t addr)
{
    size_t next = ms_upper_bound(dw->code, dw->code_count, sizeof *dw->code, addr);
    if (next > 0 && addr < dw->code[next - 1].hi)
        return dw->code[next - 1].hi;
    return next < dw->code_count ? dw->code[next].lo : UINT64_MAX;
}

/* The first move that ends above an object's address; move_count when none does. */
static size_t ms_dw_move_at(const ms_dw *dw, uint64_t addr)
{
    return dw->move_count == 0 ? 0 : ms_upper_bound(&dw->moves->hi, dw->move_count, sizeof *dw->moves, addr);
}

/* Turns an object's range, as far as it moved as one piece, into the program's. Returns false for what the
 * linker left out. */
static bool ms_dw_move_range(const ms_dw *dw, uint64_t *lo, uint64_t *hi)
{
    size_t at = ms_dw_move_at(dw, *lo);
    if (at == dw->move_count || *lo < dw->moves[at].lo)
        return false;
    const ms_dw_move *move = &dw->moves[at];
    uint64_t end = *hi < move->hi ? *hi : move->hi;
    *hi = move->to + (end - move->lo);
    *lo = move->to + (*lo - move->lo);
    return true;
}

/* Makes [lo, hi) a range of code; ends of sections cut it. Returns false when it is empty. */
static inline bool ms_dw_code_range(const ms_dw *dw, uint64_t lo, uint64_t hi, ms_range *out)
{
    if (dw->moves != NULL && (lo >= hi || !ms_dw_move_range(dw, &lo, &hi)))
        return false;
    const ms_range *code = lo < hi ? ms_dw_code_at(dw, lo) : NULL;
    if (code == NULL)
        return false;
    out->lo = lo;
    out->hi = hi < code->hi ? hi : code->hi;
    return true;
}

static void ms_dw_add_piece(const ms_dw *dw, ms_ranges *list, uint64_t lo, uint64_t hi)
{
    ms_range range;
    if (!ms_dw_code_range(dw, lo, hi, &range)) {
        list->is_wrong |= dw->moves == NULL && lo < hi && ms_dw_code_at(dw, hi - 1) != NULL;
        return;
    }
    list->is_wrong |= dw->moves == NULL && range.hi != hi;
    ms_range *v = (ms_range *)ms_arena_grow(list->arena, list->v, list->count, &list->cap, sizeof *v);
    if (v == NULL)
        return;
    list->v = v;
    v[list->count++] = range;
}

/* Adds [lo, hi). In an object file, each piece that moved by itself is added by itself. */
static void ms_dw_add_range(const ms_dw *dw, ms_ranges *list, uint64_t lo, uint64_t hi)
{
    if (dw->moves == NULL) {
        ms_dw_add_piece(dw, list, lo, hi);
        return;
    }
    for (size_t i = ms_dw_move_at(dw, lo); i < dw->move_count && dw->moves[i].lo < hi; i++) {
        ms_dw_add_piece(dw, list, dw->moves[i].lo > lo ? dw->moves[i].lo : lo, hi);
        if (list->budget == 0)
            return;
        list->budget--;
    }
}

static uint64_t ms_dw_all_ones(const ms_dw_enc *enc)
{
    return enc->addr_size >= 8 ? ~(uint64_t)0 : ((uint64_t)1 << (8 * enc->addr_size)) - 1;
}

/* .debug_ranges, DWARF4 2.17.3. *end is where reading ended. */
static bool ms_dw_ranges_4(const ms_dw *dw, const ms_dw_enc *enc, uint64_t off, ms_ranges *list,
                           uint64_t *end)
{
    ms_rd rd = ms_rd_at(dw->ranges, off);
    uint64_t base = enc->low_pc;
    uint64_t escape = ms_dw_all_ones(enc);
    for (; !rd.failed && list->budget > 0;
         list->budget -= list->budget > 0) { /* a moved range takes more than one */
        MACHSYM_COUNT_WORK(1);
        uint64_t lo = ms_rd_uint(&rd, enc->addr_size);
        uint64_t hi = ms_rd_uint(&rd, enc->addr_size);
        if (rd.failed || (lo == 0 && hi == 0))
            break;
        list->is_wrong |= lo > hi && lo != escape;
        if (lo == escape)
            base = hi;
        else
            ms_dw_add_range(dw, list, (base + lo) & escape, (base + hi) & escape);
    }
    *end = (uint64_t)(rd.p - rd.start);
    return !rd.failed && list->budget > 0;
}

/* One entry of a .debug_rnglists list. Returns false at the end of the list, or at damage, which fails rd. */
static bool ms_dw_range_entry(const ms_dw *dw, const ms_dw_enc *enc, ms_rd *rd, uint64_t *base,
                              ms_ranges *list)
{
    uint64_t lo = 0;
    uint64_t hi = 0;
    bool known = true;
    switch (ms_rd_u8(rd)) {
    case ms_DW_RLE_end_of_list: return false;
    case ms_DW_RLE_base_addressx:
        if (!ms_dw_address_indexed(dw, enc, ms_rd_uleb(rd), base))
            *base = 0;
        return true;
    case ms_DW_RLE_base_address: *base = ms_rd_uint(rd, enc->addr_size); return true;
    case ms_DW_RLE_startx_endx:
        known = ms_dw_address_indexed(dw, enc, ms_rd_uleb(rd), &lo);
        known = ms_dw_address_indexed(dw, enc, ms_rd_uleb(rd), &hi) && known;
        break;
    case ms_DW_RLE_startx_length:
        known = ms_dw_address_indexed(dw, enc, ms_rd_uleb(rd), &lo);
        hi = lo + ms_rd_uleb(rd);
        break;
    case ms_DW_RLE_offset_pair:
        lo = ms_rd_uleb(rd);
        hi = ms_rd_uleb(rd);
        list->is_wrong |= lo > hi;
        lo += *base;
        hi += *base;
        break;
    case ms_DW_RLE_start_end:
        lo = ms_rd_uint(rd, enc->addr_size);
        hi = ms_rd_uint(rd, enc->addr_size);
        list->is_wrong |= lo > hi;
        break;
    case ms_DW_RLE_start_length:
        lo = ms_rd_uint(rd, enc->addr_size);
        hi = lo + ms_rd_uleb(rd);
        break;
    default: ms_rd_fail(rd); return false;
    }
    if (known && !rd->failed)
        ms_dw_add_range(dw, list, lo, hi);
    return true;
}

/* .debug_rnglists, DWARF5 2.17.3. *end is where reading ended. */
static bool ms_dw_ranges_5(const ms_dw *dw, const ms_dw_enc *enc, uint64_t off, ms_ranges *list,
                           uint64_t *end)
{
    ms_rd rd = ms_rd_at(dw->rnglists, off);
    uint64_t base = enc->low_pc;
    while (!rd.failed && list->budget > 0 && ms_dw_range_entry(dw, enc, &rd, &base, list)) {
        MACHSYM_COUNT_WORK(1);
        list->budget -= list->budget > 0;
    }
    *end = (uint64_t)(rd.p - rd.start);
    return !rd.failed && list->budget > 0;
}

/* Where the list of a DW_AT_ranges value begins in its section. Returns false when the value is damaged. */
static bool ms_dw_list_off(const ms_dw *dw, const ms_dw_enc *enc, const ms_dw_value *value, uint64_t *off)
{
    *off = enc->version < 5 ? enc->ranges_base + value->u : value->u;
    if (enc->version < 5 || value->form != ms_DW_FORM_rnglistx)
        return true;
    uint64_t at;
    if (value->u > dw->rnglists.len || !ms_add_ok(enc->rnglists_base, value->u * enc->offset_size, &at))
        return false;
    ms_rd rd = ms_rd_at(dw->rnglists, at);
    *off = enc->rnglists_base + ms_rd_uint(&rd, enc->offset_size);
    return !rd.failed;
}

/* Adds the ranges of the list at off. Returns false when it is damaged, or the budget is spent. *end is where
 * reading ended. */
static bool ms_dw_ranges_at(const ms_dw *dw, const ms_dw_enc *enc, uint64_t off, ms_ranges *list,
                            uint64_t *end)
{
    return enc->version < 5 ? ms_dw_ranges_4(dw, enc, off, list, end)
                            : ms_dw_ranges_5(dw, enc, off, list, end);
}

/* Adds the ranges that a DW_AT_ranges value stands for. Returns false when the list is damaged or missing. */
static bool ms_dw_ranges(const ms_dw *dw, const ms_dw_enc *enc, const ms_dw_value *value, ms_ranges *list)
{
    uint64_t off;
    uint64_t end;
    return ms_dw_list_off(dw, enc, value, &off) && ms_dw_ranges_at(dw, enc, off, list, &end);
}

/* The code of an entry by low_pc and high_pc. high_pc is an address or a size (DWARF4 2.17.2). Returns
 * false when the entry has no code that is alive. */
static inline bool ms_dw_low_high(const ms_dw *dw, const ms_dw_enc *enc, const ms_dw_value *low,
                                  const ms_dw_value *high, ms_range *out)
{
    uint64_t lo;
    uint64_t hi;
    if (low->form == 0 || high->form == 0 || !ms_dw_address(dw, enc, low, &lo))
        return false;
    if (!ms_dw_address(dw, enc, high, &hi))
        hi = lo + high->u;
    return ms_dw_code_range(dw, lo, hi, out);
}

/* Adds the code of an entry by low_pc and high_pc; it may have moved in several pieces. */
static void ms_dw_add_low_high(const ms_dw *dw, const ms_dw_enc *enc, const ms_dw_value *low,
                               const ms_dw_value *high, ms_ranges *list)
{
    uint64_t lo;
    uint64_t hi;
    if (low->form == 0 || high->form == 0 || !ms_dw_address(dw, enc, low, &lo))
        return;
    if (!ms_dw_address(dw, enc, high, &hi))
        hi = lo + high->u;
    if (lo < hi)
        ms_dw_add_range(dw, list, lo, hi);
}

#endif /* ms_ROOM_dwarf_forms */
