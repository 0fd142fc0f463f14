/* Entries of debug info, as llvm-dwarfdump prints them; see entry_print.h. */
#include "entry_print.h"

#include <string.h>

enum {
    COLUMNS_OFFSET = 12,  /* what an offset and its colon take */
    MAX_TYPE = 32,        /* types of types */
    MAX_TYPE_NAME = 4096, /* bytes: functions of functions have names without end */
    MAX_SCOPES = 32       /* around a type */
};

typedef struct entry_word {
    uint32_t number;
    const char *word;
} entry_word;

/* DWARF5 7.5.4, and what Apple's and LLVM's compilers and GCC add: those that units, functions, calls and blocks
 * have. */
static const entry_word attributes[] = {
    {0x01, "sibling"},
    {0x02, "location"},
    {0x03, "name"},
    {0x09, "ordering"},
    {0x0b, "byte_size"},
    {0x10, "stmt_list"},
    {0x11, "low_pc"},
    {0x12, "high_pc"},
    {0x13, "language"},
    {0x17, "visibility"},
    {0x18, "import"},
    {0x1b, "comp_dir"},
    {0x1c, "const_value"},
    {0x1d, "containing_type"},
    {0x20, "inline"},
    {0x25, "producer"},
    {0x27, "prototyped"},
    {0x2a, "return_addr"},
    {0x2c, "start_scope"},
    {0x31, "abstract_origin"},
    {0x32, "accessibility"},
    {0x33, "address_class"},
    {0x34, "artificial"},
    {0x35, "base_types"},
    {0x36, "calling_convention"},
    {0x39, "decl_column"},
    {0x3a, "decl_file"},
    {0x3b, "decl_line"},
    {0x3c, "declaration"},
    {0x3f, "external"},
    {0x40, "frame_base"},
    {0x42, "identifier_case"},
    {0x43, "macro_info"},
    {0x46, "segment"},
    {0x47, "specification"},
    {0x48, "static_link"},
    {0x49, "type"},
    {0x4a, "use_location"},
    {0x4c, "virtuality"},
    {0x4d, "vtable_elem_location"},
    {0x52, "entry_pc"},
    {0x53, "use_UTF8"},
    {0x54, "extension"},
    {0x55, "ranges"},
    {0x56, "trampoline"},
    {0x57, "call_column"},
    {0x58, "call_file"},
    {0x59, "call_line"},
    {0x5a, "description"},
    {0x63, "explicit"},
    {0x64, "object_pointer"},
    {0x66, "elemental"},
    {0x67, "pure"},
    {0x68, "recursive"},
    {0x6a, "main_subprogram"},
    {0x6e, "linkage_name"},
    {0x72, "str_offsets_base"},
    {0x73, "addr_base"},
    {0x74, "rnglists_base"},
    {0x76, "dwo_name"},
    {0x77, "reference"},
    {0x78, "rvalue_reference"},
    {0x79, "macros"},
    {0x7a, "call_all_calls"},
    {0x7b, "call_all_source_calls"},
    {0x7c, "call_all_tail_calls"},
    {0x7d, "call_return_pc"},
    {0x81, "call_pc"},
    {0x82, "call_tail_call"},
    {0x87, "noreturn"},
    {0x8a, "deleted"},
    {0x8b, "defaulted"},
    {0x8c, "loclists_base"},
    {0x2007, "MIPS_linkage_name"},
    {0x2111, "GNU_call_site_value"},
    {0x2115, "GNU_tail_call"},
    {0x2116, "GNU_all_tail_call_sites"},
    {0x2117, "GNU_all_call_sites"},
    {0x2118, "GNU_all_source_call_sites"},
    {0x2119, "GNU_macros"},
    {0x2130, "GNU_dwo_name"},
    {0x2131, "GNU_dwo_id"},
    {0x2132, "GNU_ranges_base"},
    {0x2133, "GNU_addr_base"},
    {0x2134, "GNU_pubnames"},
    {0x2136, "GNU_discriminator"},
    {0x3e00, "LLVM_include_path"},
    {0x3e01, "LLVM_config_macros"},
    {0x3e02, "LLVM_sysroot"},
    {0x3e07, "LLVM_apinotes"},
    {0x3e0c, "LLVM_stmt_sequence"},
    {0x3fe1, "APPLE_optimized"},
    {0x3fe2, "APPLE_flags"},
    {0x3fe3, "APPLE_isa"},
    {0x3fe4, "APPLE_block"},
    {0x3fe5, "APPLE_major_runtime_vers"},
    {0x3fe6, "APPLE_runtime_class"},
    {0x3fe7, "APPLE_omit_frame_ptr"},
    {0x3fef, "APPLE_sdk"},
    {0, NULL},
};

/* DWARF5 7.12, and its web page */
static const entry_word languages[] = {
    {0x01, "C89"},
    {0x02, "C"},
    {0x03, "Ada83"},
    {0x04, "C_plus_plus"},
    {0x05, "Cobol74"},
    {0x06, "Cobol85"},
    {0x07, "Fortran77"},
    {0x08, "Fortran90"},
    {0x09, "Pascal83"},
    {0x0a, "Modula2"},
    {0x0b, "Java"},
    {0x0c, "C99"},
    {0x0d, "Ada95"},
    {0x0e, "Fortran95"},
    {0x0f, "PLI"},
    {0x10, "ObjC"},
    {0x11, "ObjC_plus_plus"},
    {0x12, "UPC"},
    {0x13, "D"},
    {0x14, "Python"},
    {0x15, "OpenCL"},
    {0x16, "Go"},
    {0x17, "Modula3"},
    {0x18, "Haskell"},
    {0x19, "C_plus_plus_03"},
    {0x1a, "C_plus_plus_11"},
    {0x1b, "OCaml"},
    {0x1c, "Rust"},
    {0x1d, "C11"},
    {0x1e, "Swift"},
    {0x1f, "Julia"},
    {0x20, "Dylan"},
    {0x21, "C_plus_plus_14"},
    {0x22, "Fortran03"},
    {0x23, "Fortran08"},
    {0x24, "RenderScript"},
    {0x25, "BLISS"},
    {0x26, "Kotlin"},
    {0x27, "Zig"},
    {0x28, "Crystal"},
    {0x2a, "C_plus_plus_17"},
    {0x2b, "C_plus_plus_20"},
    {0x2c, "C17"},
    {0x2d, "Fortran18"},
    {0x2e, "Ada2005"},
    {0x2f, "Ada2012"},
    {0x30, "HIP"},
    {0x31, "Assembly"},
    {0x32, "C_sharp"},
    {0x33, "Mojo"},
    {0x34, "GLSL"},
    {0x35, "GLSL_ES"},
    {0x36, "HLSL"},
    {0x37, "OpenCL_CPP"},
    {0x38, "CPP_for_OpenCL"},
    {0x39, "SYCL"},
    {0x3d, "Metal"},
    {0x40, "Ruby"},
    {0x41, "Move"},
    {0x42, "Hylo"},
    {0x8001, "Mips_Assembler"},
    {0x8e57, "GOOGLE_RenderScript"},
    {0xb000, "BORLAND_Delphi"},
    {0, NULL},
};

static const entry_word accessibilities[] = {{1, "public"}, {2, "protected"}, {3, "private"}, {0, NULL}};
static const entry_word inlines[] = {
    {0, "not_inlined"}, {1, "inlined"}, {2, "declared_not_inlined"}, {3, "declared_inlined"}, {0, NULL}};
static const entry_word orderings[] = {{0, "row_major"}, {1, "col_major"}, {0, NULL}};
static const entry_word visibilities[] = {{1, "local"}, {2, "exported"}, {3, "qualified"}, {0, NULL}};
static const entry_word cases[] = {
    {0, "case_sensitive"}, {1, "up_case"}, {2, "down_case"}, {3, "case_insensitive"}, {0, NULL}};
static const entry_word virtualities[] = {{0, "none"}, {1, "virtual"}, {2, "pure_virtual"}, {0, NULL}};
static const entry_word defaults[] = {{0, "no"}, {1, "in_class"}, {2, "out_of_class"}, {0, NULL}};

/* DWARF5 7.15; those of vendors are what compilers write. */
static const entry_word conventions[] = {
    {0x01, "normal"},
    {0x02, "program"},
    {0x03, "nocall"},
    {0x04, "pass_by_reference"},
    {0x05, "pass_by_value"},
    {0x40, "GNU_renesas_sh"},
    {0x41, "GNU_borland_fastcall_i386"},
    {0xb0, "BORLAND_safecall"},
    {0xb1, "BORLAND_stdcall"},
    {0xb2, "BORLAND_pascal"},
    {0xb3, "BORLAND_msfastcall"},
    {0xb4, "BORLAND_msreturn"},
    {0xb5, "BORLAND_thiscall"},
    {0xb6, "BORLAND_fastcall"},
    {0xc0, "LLVM_vectorcall"},
    {0xc1, "LLVM_Win64"},
    {0xc2, "LLVM_X86_64SysV"},
    {0xc3, "LLVM_AAPCS"},
    {0xc4, "LLVM_AAPCS_VFP"},
    {0xc5, "LLVM_IntelOclBicc"},
    {0xc6, "LLVM_SpirFunction"},
    {0xc7, "LLVM_DeviceKernel"},
    {0xc8, "LLVM_Swift"},
    {0xc9, "LLVM_PreserveMost"},
    {0xca, "LLVM_PreserveAll"},
    {0xcb, "LLVM_X86RegCall"},
    {0xcc, "LLVM_M68kRTD"},
    {0xcd, "LLVM_PreserveNone"},
    {0xce, "LLVM_RISCVVectorCall"},
    {0xcf, "LLVM_SwiftTail"},
    {0xd0, "LLVM_RISCVVLSCall"},
    {0xff, "GDB_IBM_OpenCL"},
    {0, NULL},
};

static const entry_word tags[] = {
    {ENTRY_TAG_COMPILE_UNIT, "compile_unit"},   {ENTRY_TAG_FUNCTION, "subprogram"},
    {ENTRY_TAG_INLINED, "inlined_subroutine"},  {ENTRY_TAG_LEXICAL_BLOCK, "lexical_block"},
    {ENTRY_TAG_SKELETON_UNIT, "skeleton_unit"}, {0, NULL}};
static const char *const unit_types[] = {NULL,       "compile",       "type",      "partial",
                                         "skeleton", "split_compile", "split_type"};

/* Adds a word of a table after its prefix. Returns false when it has none. */
static bool entry_put_word(text *t, const char *prefix, const entry_word *table, uint64_t number)
{
    for (; table->word != NULL; table++) {
        if (table->number == number) {
            text_c(t, prefix);
            text_c(t, table->word);
            return true;
        }
    }
    return false;
}

/* ---- Numbers and texts ---- */

static void entry_put_hex(text *t, uint64_t number, unsigned bytes)
{
    text_c(t, "0x");
    text_hex(t, number, 2 * bytes);
}

static void entry_put_signed(text *t, uint64_t number)
{
    if (number > INT64_MAX)
        text_char(t, '-');
    text_dec(t, number > INT64_MAX ? 0 - number : number);
}

static void entry_put_indent(text *t, size_t columns)
{
    for (size_t i = 0; i < columns; i++)
        text_char(t, ' ');
}

/* In quotes; what is no printable ASCII as three octal digits. */
static void entry_put_quoted(text *t, machsym_str s)
{
    text_char(t, '"');
    for (size_t i = 0; i < s.len; i++) {
        uint8_t c = (uint8_t)s.ptr[i];
        if (c == '"' || c == '\\' || c == '\t' || c == '\n') {
            text_char(t, '\\');
            text_char(t, c == '\t' ? 't' : c == '\n' ? 'n' : (char)c);
        } else if (c >= ' ' && c < 0x7f) {
            text_char(t, (char)c);
        } else {
            text_char(t, '\\');
            text_char(t, (char)('0' + (c >> 6)));
            text_char(t, (char)('0' + (c >> 3 & 7)));
            text_char(t, (char)('0' + (c & 7)));
        }
    }
    text_char(t, '"');
}

static machsym_str entry_text_of(const entry_value *v)
{
    return v->kind == ENTRY_TEXT ? str_make((const char *)v->ptr, v->len) : str_make(NULL, 0);
}

static void entry_put_block(text *t, const entry_value *v)
{
    if (v->size == 16) { /* DW_FORM_data16 */
        for (size_t i = 0; i < v->len; i++)
            text_hex(t, v->ptr[i], 2);
        return;
    }
    text_char(t, '<');
    entry_put_hex(t, v->len, v->size > 0 ? v->size : 1);
    text_c(t, "> ");
    for (size_t i = 0; i < v->len; i++) {
        text_hex(t, v->ptr[i], 2);
        text_char(t, ' ');
    }
}

/* Where a frame lies is a register in nearly all programs; other expressions are shown as bytes. */
static void entry_put_expression(text *t, const entry_value *v)
{
    enum { OP_REG0 = 0x50, OP_REG31 = 0x6f, OP_CALL_FRAME_CFA = 0x9c };
    uint8_t op = v->len == 1 ? v->ptr[0] : 0;
    if (op >= OP_REG0 && op <= OP_REG31) {
        text_c(t, "DW_OP_reg");
        text_dec(t, op - OP_REG0);
    } else if (op == OP_CALL_FRAME_CFA) {
        text_c(t, "DW_OP_call_frame_cfa");
    } else {
        entry_put_block(t, v);
    }
}

/* ---- What references lead to ---- */

/* The linker's name of an entry, else its own. Returns false when it has none. */
static bool entry_find_name(entries *all, uint64_t offset, entry_value *out)
{
    uint64_t of;
    return offset != 0 && (entry_find_along(all, offset, ENTRY_AT_MIPS_LINKAGE_NAME, out, &of) ||
                           entry_find_along(all, offset, ENTRY_AT_LINKAGE_NAME, out, &of) ||
                           entry_find_along(all, offset, ENTRY_AT_NAME, out, &of));
}

static void entry_put_linked(text *t, entries *all, const entry_value *v)
{
    entry_value name;
    if (!entry_find_name(all, entry_refers_to(all, v), &name))
        return;
    text_c(t, " \"");
    text_shown(t, entry_text_of(&name));
    text_char(t, '"');
}

/* A type's name as it is put together from those of the types that it is made of. */
typedef struct entry_type {
    text *t;
    entries *all;
    bool ends_in_word; /* what comes next needs a blank before */
    bool is_known;     /* false: a part of it is of a kind that is not written here */
} entry_type;

/* What a type is of; 0: void. */
static uint64_t entry_type_of(entries *all, uint64_t offset)
{
    entry_value v;
    return entry_find(all, offset, ENTRY_AT_TYPE, &v) ? entry_refers_to(all, &v) : 0;
}

static uint32_t entry_tag_of(entries *all, uint64_t offset)
{
    entry_cursor one;
    return offset != 0 && entry_open(all, offset, &one) ? one.tag : 0;
}

/* The name of an entry alone, or what stands for a missing one. */
static void entry_put_own_name(entry_type *to, uint64_t offset, uint32_t tag)
{
    entry_value v;
    bool has_name = entry_find(to->all, offset, ENTRY_AT_NAME, &v);
    if (has_name)
        text_shown(to->t, entry_text_of(&v));
    else if (tag == ENTRY_TAG_NAMESPACE)
        text_c(to->t, "(anonymous namespace)");
    else
        text_c(to->t, tag == ENTRY_TAG_STRUCTURE     ? "structure "
                      : tag == ENTRY_TAG_CLASS       ? "class "
                      : tag == ENTRY_TAG_UNION       ? "union "
                      : tag == ENTRY_TAG_ENUMERATION ? "enumeration "
                                                     : "");
    to->ends_in_word = has_name || to->ends_in_word;
}

/* The namespaces and types around a type. */
static void entry_put_scopes(entry_type *to, uint64_t offset)
{
    uint64_t path[MAX_SCOPES];
    size_t count = entry_path_to(to->all, offset, path, MAX_SCOPES);
    size_t first = count;
    while (first > 1) { /* the first is the unit */
        uint32_t tag = entry_tag_of(to->all, path[first - 1]);
        if (tag == ENTRY_TAG_FUNCTION || tag == ENTRY_TAG_LEXICAL_BLOCK)
            break;
        first--;
    }
    for (size_t i = first; i < count; i++) {
        entry_put_own_name(to, path[i], entry_tag_of(to->all, path[i]));
        text_c(to->t, "::");
    }
}

static bool entry_is_scoped(uint32_t tag)
{
    return tag == ENTRY_TAG_STRUCTURE || tag == ENTRY_TAG_CLASS || tag == ENTRY_TAG_UNION ||
           tag == ENTRY_TAG_ENUMERATION || tag == ENTRY_TAG_TYPEDEF;
}

static bool entry_is_pointer(uint32_t tag)
{
    return tag == ENTRY_TAG_POINTER || tag == ENTRY_TAG_REFERENCE || tag == ENTRY_TAG_RVALUE_REFERENCE;
}

static bool entry_is_qualifier(uint32_t tag)
{
    return tag == ENTRY_TAG_CONST || tag == ENTRY_TAG_VOLATILE;
}

/* const and volatile stand before what they qualify, and after a pointer. */
static void entry_put_qualifiers(entry_type *to, bool is_const, bool is_volatile, bool is_before)
{
    text_c(to->t, is_const ? "const" : "");
    text_c(to->t, is_const && (is_before || is_volatile) ? " " : "");
    text_c(to->t, is_volatile ? "volatile" : "");
    text_c(to->t, is_volatile && is_before ? " " : "");
    to->ends_in_word = to->ends_in_word || (!is_before && (is_const || is_volatile));
}

/* A type without its qualifiers. */
typedef struct entry_plain {
    uint64_t offset; /* 0: void */
    uint32_t tag;
    unsigned depth; /* below how many types it lies */
    bool is_const;
    bool is_volatile;
} entry_plain;

/* Returns false when there are too many types of types, or one is of a kind that is not written here. */
static bool entry_plain_of(entry_type *to, uint64_t offset, unsigned depth, entry_plain *out)
{
    memset(out, 0, sizeof *out);
    out->offset = offset;
    out->tag = entry_tag_of(to->all, offset);
    out->depth = depth + 1;
    for (; entry_is_qualifier(out->tag) && out->depth < MAX_TYPE; out->depth++) {
        out->is_const |= out->tag == ENTRY_TAG_CONST;
        out->is_volatile |= out->tag == ENTRY_TAG_VOLATILE;
        out->offset = entry_type_of(to->all, out->offset);
        out->tag = entry_tag_of(to->all, out->offset);
    }
    if (out->tag == 0) /* no entry is there */
        out->offset = 0;
    to->is_known = to->is_known && out->depth < MAX_TYPE && to->t->len < MAX_TYPE_NAME &&
                   out->tag != ENTRY_TAG_MEMBER_POINTER;
    return to->is_known;
}

static bool entry_is_outside(uint32_t tag)
{
    return tag == ENTRY_TAG_ARRAY || tag == ENTRY_TAG_SUBROUTINE;
}

/* Whether the name of what a pointer points to stands on both sides of it. */
static bool entry_points_outside(entry_type *to, const entry_plain *pointer)
{
    entry_plain inner;
    return entry_plain_of(to, entry_type_of(to->all, pointer->offset), pointer->depth, &inner) &&
           entry_is_outside(inner.tag);
}

/* What stands before the place of a variable's name: "int (*" of a pointer to a function. */
static void entry_put_before(entry_type *to, uint64_t offset, unsigned depth)
{
    entry_plain type;
    if (!entry_plain_of(to, offset, depth, &type))
        return;
    if (!entry_is_pointer(type.tag))
        entry_put_qualifiers(to, type.is_const, type.is_volatile, true);
    if (type.offset == 0) {
        text_c(to->t, "void");
        to->ends_in_word = true;
    } else if (entry_is_outside(type.tag)) {
        entry_put_before(to, entry_type_of(to->all, type.offset), type.depth);
        if (type.tag == ENTRY_TAG_SUBROUTINE) {
            text_c(to->t, to->ends_in_word ? " " : "");
            to->ends_in_word = false;
        }
    } else if (entry_is_pointer(type.tag)) {
        entry_put_before(to, entry_type_of(to->all, type.offset), type.depth);
        text_c(to->t, to->ends_in_word ? " " : "");
        text_c(to->t, entry_points_outside(to, &type) ? "(" : "");
        text_c(to->t, type.tag == ENTRY_TAG_POINTER ? "*" : type.tag == ENTRY_TAG_REFERENCE ? "&" : "&&");
        to->ends_in_word = false;
        entry_put_qualifiers(to, type.is_const, type.is_volatile, false);
    } else {
        if (entry_is_scoped(type.tag))
            entry_put_scopes(to, type.offset);
        entry_put_own_name(to, type.offset, type.tag);
    }
}

/* "[8]" for each dimension, "[]" for one whose size is not known. */
static void entry_put_dimensions(entry_type *to, const entry_plain *type)
{
    entry_cursor at;
    unsigned below = 0;
    if (!entry_open(to->all, type->offset, &at))
        return;
    while (entry_next_child(to->all, &at, &below)) {
        entry_value v;
        if (at.tag != ENTRY_TAG_SUBRANGE)
            continue;
        text_char(to->t, '[');
        if (entry_find(to->all, at.offset, ENTRY_AT_LOWER_BOUND, &v) && v.number != 0)
            to->is_known = false;
        else if (entry_find(to->all, at.offset, ENTRY_AT_COUNT, &v))
            text_dec(to->t, v.number);
        else if (entry_find(to->all, at.offset, ENTRY_AT_UPPER_BOUND, &v))
            text_dec(to->t, v.number + 1);
        text_char(to->t, ']');
    }
}

/* What stands after it: ")(int)" of a pointer to a function. */
static void entry_put_after(entry_type *to, uint64_t offset, unsigned depth)
{
    entry_plain type;
    entry_cursor at;
    unsigned below = 0;
    const char *between = "";
    if (!entry_plain_of(to, offset, depth, &type) || type.offset == 0)
        return;
    if (entry_is_pointer(type.tag)) {
        text_c(to->t, entry_points_outside(to, &type) ? ")" : "");
    } else if (type.tag == ENTRY_TAG_ARRAY) {
        entry_put_dimensions(to, &type);
    } else if (type.tag == ENTRY_TAG_SUBROUTINE && entry_open(to->all, type.offset, &at)) {
        text_char(to->t, '(');
        while (to->is_known && entry_next_child(to->all, &at, &below)) {
            bool is_one = at.tag == ENTRY_TAG_PARAMETER;
            if (!is_one && at.tag != ENTRY_TAG_MORE_PARAMETERS)
                continue;
            text_c(to->t, between);
            between = ", ";
            text_c(to->t, is_one ? "" : "...");
            if (is_one) {
                entry_put_before(to, entry_type_of(to->all, at.offset), type.depth);
                entry_put_after(to, entry_type_of(to->all, at.offset), type.depth);
            }
        }
        text_char(to->t, ')');
    } else {
        return;
    }
    entry_put_after(to, entry_type_of(to->all, type.offset), type.depth);
}

static void entry_put_type_name(text *t, entries *all, const entry_value *v)
{
    text name = {0};
    entry_type to = {&name, all, true, true};
    uint64_t type = entry_refers_to(all, v);
    if (type != 0) {
        entry_put_before(&to, type, 0);
        entry_put_after(&to, type, 0);
    }
    if (type != 0 && to.is_known) {
        text_c(t, " \"");
        text_add(t, name.v, name.len);
        text_char(t, '"');
    }
    text_free(&name);
}

static void entry_put_ranges(text *t, entries *all, const entry_unit *unit, const entry_value *v,
                             unsigned indent)
{
    entry_ranges at = {0};
    entry_range one;
    uint64_t offset;
    if (v->kind == ENTRY_RANGE_LIST && entry_list_offset(all, unit, v, &offset))
        entry_put_hex(t, offset, 4);
    while (entry_next_range(all, unit, v, &at, &one)) {
        text_char(t, '\n');
        entry_put_indent(t, COLUMNS_OFFSET + 1 + indent + 4);
        text_char(t, '[');
        entry_put_hex(t, one.lo, unit->addr_size);
        text_c(t, ", ");
        entry_put_hex(t, one.hi, unit->addr_size);
        text_char(t, ')');
    }
}

/* ---- Attributes ---- */

/* A value as its form has it. */
static void entry_put_value(text *t, const entry_unit *unit, const entry_value *v)
{
    switch (v->kind) {
    case ENTRY_NUMBER: entry_put_hex(t, v->number, v->size); break;
    case ENTRY_DECIMAL: text_dec(t, v->number); break;
    case ENTRY_SIGNED: entry_put_signed(t, v->number); break;
    case ENTRY_TRUE: text_c(t, "true"); break;
    case ENTRY_ADDRESS: entry_put_hex(t, v->number, unit->addr_size); break;
    case ENTRY_NO_ADDRESS:
        text_c(t, "indexed (");
        text_hex(t, v->number, 8);
        text_c(t, ") address = <unresolved>");
        break;
    case ENTRY_TEXT:
        if (v->ptr != NULL)
            entry_put_quoted(t, entry_text_of(v));
        break;
    case ENTRY_REFERENCE: entry_put_hex(t, v->number, v->size); break;
    case ENTRY_OFFSET: entry_put_hex(t, v->number, v->size); break;
    case ENTRY_BYTES:
        if (v->name != ENTRY_AT_FRAME_BASE) {
            entry_put_block(t, v);
            break;
        }
        /* fall through */
    case ENTRY_EXPRESSION: entry_put_expression(t, v); break;
    case ENTRY_RANGE_LIST:
    case ENTRY_LOCATION_LIST:
        text_c(t, "indexed (0x");
        text_hex(t, v->number, 1);
        text_c(t, v->kind == ENTRY_RANGE_LIST ? ") rangelist = " : ") loclist = ");
        break;
    case ENTRY_ELSEWHERE:
        text_c(t, v->form > UINT8_MAX ? "<alt 0x" : "DW_FORM(0x");
        text_hex(t, v->form > UINT8_MAX ? v->number : v->form, v->form > UINT8_MAX ? 1 : 4);
        text_char(t, v->form > UINT8_MAX ? '>' : ')');
        break;
    default: break;
    }
}

static bool entry_is_constant(const entry_value *v)
{
    return v->kind == ENTRY_NUMBER || v->kind == ENTRY_DECIMAL || v->kind == ENTRY_SIGNED;
}

/* What a constant stands for. Returns false when it is shown as it is. */
static bool entry_put_meaning(text *t, entries *all, const entry_cursor *one, const entry_value *v)
{
    machsym_path file;
    entry_range code;
    if (!entry_is_constant(v))
        return false;
    switch (v->name) {
    case ENTRY_AT_DECL_FILE:
    case ENTRY_AT_CALL_FILE:
        if (!entry_file(all, one->unit, v->number, &file))
            return false;
        text_char(t, '"');
        size_t from = t->len;
        text_path(t, &file);
        text_escape(t, from);
        text_char(t, '"');
        return true;
    case ENTRY_AT_DECL_LINE:
    case ENTRY_AT_DECL_COLUMN:
    case ENTRY_AT_CALL_LINE:
    case ENTRY_AT_CALL_COLUMN: text_dec(t, v->number); return true;
    case ENTRY_AT_HIGH_PC:
        if (!entry_code(all, one->offset, &code))
            return false;
        entry_put_hex(t, code.hi, one->unit->addr_size);
        return true;
    case ENTRY_AT_LANGUAGE: return entry_put_word(t, "DW_LANG_", languages, v->number);
    case ENTRY_AT_INLINE: return entry_put_word(t, "DW_INL_", inlines, v->number);
    case ENTRY_AT_ACCESSIBILITY: return entry_put_word(t, "DW_ACCESS_", accessibilities, v->number);
    case ENTRY_AT_ORDERING: return entry_put_word(t, "DW_ORD_", orderings, v->number);
    case ENTRY_AT_VISIBILITY: return entry_put_word(t, "DW_VIS_", visibilities, v->number);
    case ENTRY_AT_CALLING_CONVENTION: return entry_put_word(t, "DW_CC_", conventions, v->number);
    case ENTRY_AT_IDENTIFIER_CASE: return entry_put_word(t, "DW_ID_", cases, v->number);
    case ENTRY_AT_VIRTUALITY: return entry_put_word(t, "DW_VIRTUALITY_", virtualities, v->number);
    case ENTRY_AT_DEFAULTED: return entry_put_word(t, "DW_DEFAULTED_", defaults, v->number);
    case ENTRY_AT_RUNTIME_CLASS: return entry_put_word(t, "DW_LANG_", languages, v->number);
    default: return false;
    }
}

static void entry_put_attribute(text *t, entries *all, const entry_cursor *one, const entry_value *v,
                                unsigned indent)
{
    entry_put_indent(t, COLUMNS_OFFSET + indent + 2);
    if (!entry_put_word(t, "DW_AT_", attributes, v->name)) {
        text_c(t, "DW_AT_unknown_");
        text_hex(t, v->name, 1);
    }
    text_c(t, "\t(");
    if (!entry_put_meaning(t, all, one, v))
        entry_put_value(t, one->unit, v);
    if (v->name == ENTRY_AT_SPECIFICATION || v->name == ENTRY_AT_ORIGIN)
        entry_put_linked(t, all, v);
    else if (v->name == ENTRY_AT_TYPE || v->name == ENTRY_AT_CONTAINING_TYPE)
        entry_put_type_name(t, all, v);
    else if (v->name == ENTRY_AT_RANGES)
        entry_put_ranges(t, all, one->unit, v, indent);
    text_c(t, ")\n");
}

void entry_put_one(text *t, entries *all, uint64_t offset, unsigned indent)
{
    entry_cursor one;
    entry_value v;
    if (!entry_open(all, offset, &one))
        return;
    text_c(t, "\n0x");
    text_hex(t, offset, 8);
    text_c(t, ": ");
    entry_put_indent(t, indent);
    if (!entry_put_word(t, "DW_TAG_", tags, one.tag)) {
        text_c(t, "DW_TAG_unknown_");
        text_hex(t, one.tag, 1);
    }
    text_char(t, '\n');
    while (entry_next(all, &one, &v))
        entry_put_attribute(t, all, &one, &v, indent);
}

void entry_put_unit(text *t, entries *all, const entry_unit *u)
{
    entry_put_hex(t, u->offset, 4);
    text_c(t, ": Compile Unit: length = ");
    entry_put_hex(t, u->length, u->offset_size);
    text_c(t, u->offset_size == 8 ? ", format = DWARF64, version = " : ", format = DWARF32, version = ");
    entry_put_hex(t, u->version, 2);
    if (u->type != 0 && u->type < sizeof unit_types / sizeof *unit_types) {
        text_c(t, ", unit_type = DW_UT_");
        text_c(t, unit_types[u->type]);
    }
    text_c(t, ", abbr_offset = ");
    entry_put_hex(t, u->abbrev_offset, 2);
    text_c(t, ", addr_size = ");
    entry_put_hex(t, u->addr_size, 1);
    if (u->dwo_id != 0) {
        text_c(t, ", DWO_id = ");
        entry_put_hex(t, u->dwo_id, 8);
    }
    text_c(t, " (next unit at ");
    entry_put_hex(t, u->end, 4);
    text_c(t, ")\n");
    entry_put_one(t, all, u->root, 0);
}

static void entry_put_file(text *t, const char *before, machsym_str name)
{
    text_c(t, before);
    text_c(t, "'");
    text_shown(t, name);
    text_c(t, "', ");
}

void entry_put_line(text *t, entries *all, const machsym_line *row, uint64_t function)
{
    entry_value file;
    entry_value line;
    machsym_path path;
    uint64_t of;
    bool has_line = function != 0 && entry_find_along(all, function, ENTRY_AT_DECL_LINE, &line, &of);
    if (row == NULL && !has_line)
        return;
    text_c(t, "Line info: ");
    if (row != NULL)
        entry_put_file(t, "file ", row->file.name);
    text_c(t, "line ");
    text_dec(t, row != NULL ? row->line : 0);
    text_c(t, ", column ");
    text_dec(t, row != NULL ? row->column : 0);
    text_c(t, ", ");
    if (function != 0 && entry_find_along(all, function, ENTRY_AT_DECL_FILE, &file, &of) &&
        entry_file(all, entries_unit(all, of), file.number, &path))
        entry_put_file(t, "start file ", path.name);
    text_c(t, "start line ");
    text_dec(t, has_line ? line.number : 0);
    text_char(t, '\n');
}
