/* See access.h. */
#include "access.h"
#include "../base/digits.h"
#include "../model/registers.h"
#include "../model/stack.h"
#include "a64.h"
#include "codes.h"

#include <string.h>

/* Below this address 64-bit Apple systems never map memory. An address near 0 is a field of a null
 * pointer. */
enum { NULL_REACH = 0x1000 };
/* The stack pointer counts as past the stack if it is less than this far (a page) above the guard. */
enum { STACK_REACH = 0x4000 };
/* A field is at most this far after the pointer in a register. */
enum { FIELD_REACH = 0x1000 };

/* ---- Names ---- */

const char *access_kind_name(access_kind kind)
{
    static const char *const names[] = {
#define ACCESS_KIND_NAME(kind, name, words) name,
        ACCESS_KINDS(ACCESS_KIND_NAME)
#undef ACCESS_KIND_NAME
    };
    return names[kind];
}

static const char *access_words(access_kind kind)
{
    static const char *const words[] = {
#define ACCESS_KIND_WORDS(kind, name, words) words,
        ACCESS_KINDS(ACCESS_KIND_WORDS)
#undef ACCESS_KIND_WORDS
    };
    return words[kind];
}

const char *access_name(esr_access access)
{
    static const char *const names[] = {NULL, "read", "write", "execute"};
    return names[access];
}

/* ---- Codes ---- */

/* kern_return.h; mach/arm/exception.h, mach/i386/exception.h. */
static const struct {
    uint64_t code;
    const char *name;
    access_kind kind;
} access_codes_known[] = {
    {1, "KERN_INVALID_ADDRESS", ACCESS_UNMAPPED},
    {1, "SEGV_MAPERR", ACCESS_UNMAPPED},
    {2, "KERN_PROTECTION_FAILURE", ACCESS_PROTECTED},
    {9, "KERN_MEMORY_FAILURE", ACCESS_BACKING},
    {10, "KERN_MEMORY_ERROR", ACCESS_BACKING},
    {13, "EXC_I386_GPFLT", ACCESS_NOT_CANONICAL},
    {50, "KERN_CODESIGN_ERROR", ACCESS_SIGNATURE},
    {57, "KERN_INVALID_GUARD_OBJECT_SLOT", ACCESS_GUARD_OBJECT},
    {0x101, "EXC_ARM_DA_ALIGN", ACCESS_MISALIGNED},
    {0x101, "BUS_ADRALN", ACCESS_MISALIGNED},
    {0x103, "EXC_ARM_SP_ALIGN", ACCESS_MISALIGNED},
    {0x105, "EXC_ARM_PAC_FAIL", ACCESS_POINTER_AUTH},
    {0x106, "EXC_ARM_MTE_TAGCHECK_FAIL", ACCESS_TAG},
    {0x107, "EXC_ARM_MTE_CANONICAL_FAIL", ACCESS_CANONICAL_TAG},
};

/* Searches for the name as a whole word: "KERN_MEMORY_ERROR at 0x10", but not a longer name. */
static bool access_says(machsym_str s, const char *name)
{
    size_t at = str_find(s, name);
    size_t end = at + strlen(name);
    return at < s.len && (end == s.len || s.ptr[end] == ' ' || s.ptr[end] == ',' || s.ptr[end] == ')');
}

/* Finds the code by name, or by number. The kernel adds 0x200 if the pointer may have been signed (xnu:
 * EXC_PTRAUTH_BIT). */
static access_kind access_kind_of_code(const report *r, const exception_codes *codes)
{
    enum { POINTER_AUTH_BIT = 0x200 };
    machsym_str subtype = codes_subtype(r);
    size_t count = sizeof access_codes_known / sizeof *access_codes_known;
    for (size_t i = 0; i < count; i++) {
        if (access_says(subtype, access_codes_known[i].name))
            return access_codes_known[i].kind;
    }
    for (size_t i = 0; codes->has_first && i < count; i++) {
        if (access_codes_known[i].code == (codes->first & ~(uint64_t)POINTER_AUTH_BIT))
            return access_codes_known[i].kind;
    }
    return ACCESS_UNKNOWN;
}

/* ---- Where ---- */

static bool access_is_bad_access(const report *r)
{
    static const char *const names[] = {"EXC_BAD_ACCESS", "SIGSEGV", "SIGBUS"};
    machsym_str exception = r->facts[FACT_EXCEPTION];
    machsym_str signal = r->facts[FACT_SIGNAL];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (str_find(exception, names[i]) < exception.len || str_find(signal, names[i]) < signal.len)
            return true;
    }
    return false;
}

/* Takes "... at 0xADDR", else the second code, else far or cr2. Intel's general protection fault gives no
 * address. */
static void access_find_address(const report *r, const report_thread *thread, const exception_codes *codes,
                                access_fault *out)
{
    machsym_str subtype = codes_subtype(r);
    out->has_address = str_number_after(subtype, " at ", &out->address) ||
                       str_number_after(r->facts[FACT_CODES], " at ", &out->address) ||
                       str_number_after(subtype, "address=", &out->address);
    if (out->kind == ACCESS_NOT_CANONICAL && !out->has_address)
        return;
    if (!out->has_address && codes->has_second && codes->first != 0) {
        out->address = codes->second;
        out->has_address = true;
    }
    if (!out->has_address && thread != NULL)
        out->has_address = registers_value(r, thread, "far", &out->address);
}

/* An access at the address of the instruction is the fetch of it. */
static void access_of_fetch(const report *r, const report_thread *thread, access_fault *out)
{
    static const char *const names[] = {"pc", "rip", "eip"};
    uint64_t pc;
    for (size_t i = 0;
         out->has_address && out->access == ESR_ACCESS_UNKNOWN && i < sizeof names / sizeof *names; i++) {
        if (registers_value(r, thread, names[i], &pc) && pc == out->address)
            out->access = ESR_ACCESS_EXECUTE;
    }
}

/* Finds "START-END" in hexadecimal digits, with or without 0x, as a word of the row. */
static bool access_parse_range(machsym_str row, size_t *at, size_t *end)
{
    for (size_t i = 0; i < row.len;) {
        size_t to = i;
        size_t dash;
        uint64_t value;
        while (to < row.len && row.ptr[to] != ' ' && row.ptr[to] != ';')
            to++;
        machsym_str word = str_make(row.ptr + i, to - i);
        dash = str_find(word, "-");
        if (dash >= 3 && dash + 3 < word.len && parse_hex(word.ptr, dash, &value) &&
            parse_hex(word.ptr + dash + 1, word.len - dash - 1, &value)) {
            *at = i;
            *end = to;
            return true;
        }
        i = to + 1;
    }
    return false;
}

/* Parses "MALLOC_SMALL   104c98000-104caa000 [   80K] rw-/rwx SM=ZER"; the range may come before the name. */
static void access_parse_region(machsym_str row, access_fault *out)
{
    size_t at;
    size_t end;
    if (!access_parse_range(row, &at, &end))
        return;
    out->range = str_make(row.ptr + at, end - at);
    machsym_str rest = str_trim(str_from(row, end));
    out->region = str_trim(str_make(row.ptr, at));
    if (out->region.len == 0) {
        size_t blank = str_find(rest, " ");
        out->region = str_make(rest.ptr, blank);
        rest = str_trim(str_from(rest, blank));
    }
    size_t slash = str_find(rest, "/");
    if (slash >= 3 && slash + 3 < rest.len)
        out->protection = str_make(rest.ptr + slash - 3, 7);
}

/* The row with an arrow is the region of the address. If the arrow has no row, the address is in no
 * region. */
static void access_find_region(const report *r, access_fault *out)
{
    machsym_str info = r->facts[FACT_REGION];
    size_t newline = str_find(info, "\n");
    machsym_str marked = str_after(info, "-->");
    if (str_find(info, "is not in any region") < newline)
        return;
    if (marked.len > 0)
        access_parse_region(str_trim(str_make(marked.ptr, str_find(marked, "\n"))), out);
    else if (str_find(info, " is in ") >= newline)
        access_parse_region(str_trim(str_make(info.ptr, newline)), out);
}

static bool access_is_in_range(machsym_str range, uint64_t address)
{
    size_t dash = str_find(range, "-");
    uint64_t lo;
    uint64_t hi;
    return dash < range.len && parse_hex(range.ptr, dash, &lo) &&
           parse_hex(range.ptr + dash + 1, range.len - dash - 1, &hi) && address >= lo && address < hi;
}

machsym_str access_region_at(const report *r, uint64_t address)
{
    machsym_str rest = r->facts[FACT_REGION];
    machsym_str line;
    while (str_take_line(&rest, &line)) {
        access_fault row;
        memset(&row, 0, sizeof row);
        if (str_find(line, " is in ") < line.len) /* "0x10 is in 0x0-0x20;", before the rows */
            continue;
        access_parse_region(str_trim(str_starts(str_trim(line), "--->") ? str_after(line, "--->") : line),
                            &row);
        if (row.range.len > 0 && access_is_in_range(row.range, address))
            return row.region;
    }
    return str_make(NULL, 0);
}

/* ---- Read or write ---- */

/* Intel's page fault is trap 14. Bit 1 of its error means a write, bit 4 an instruction fetch. */
static void access_of_intel(const report *r, const report_thread *thread, access_fault *out)
{
    enum { PAGE_FAULT = 14, WRITE = 2, FETCH = 16 };
    uint64_t error;
    uint64_t trap;
    if (!registers_value(r, thread, "err", &error) || !registers_value(r, thread, "trap", &trap) ||
        trap != PAGE_FAULT)
        return;
    out->access = (error & FETCH) != 0   ? ESR_ACCESS_EXECUTE
                  : (error & WRITE) != 0 ? ESR_ACCESS_WRITE
                                         : ESR_ACCESS_READ;
}

/* The syndrome seldom has the size. The instruction has it, if the report contains the instruction. */
static unsigned access_size_of_code(const report_thread *thread)
{
    enum { DIGITS = 8 };
    uint32_t instruction = 0;
    if (thread->code_at > thread->code.len / 2 || thread->code.len / 2 - thread->code_at < DIGITS / 2)
        return 0;
    for (unsigned i = 0; i < DIGITS; i += 2) {
        uint64_t byte;
        if (!parse_hex(thread->code.ptr + 2 * thread->code_at + i, 2, &byte))
            return 0;
        instruction |= (uint32_t)byte << (4 * i);
    }
    return a64_access(instruction);
}

/* The processor's reason is more exact than the kernel's code, except for codes that name a kind of their
 * own. */
static void access_of_arm(const report *r, const report_thread *thread, access_fault *out)
{
    uint64_t value;
    if (!registers_value(r, thread, "esr", &value))
        return;
    esr_syndrome esr = esr_decode(value);
    out->access = esr.access;
    out->size = esr.size;
    if (esr.what == ESR_DATA_ABORT && out->size == 0)
        out->size = access_size_of_code(thread);
    if (esr.what == ESR_PC_ALIGNMENT)
        out->access = ESR_ACCESS_EXECUTE;
    if (out->kind != ACCESS_UNKNOWN)
        return;
    switch (esr.fault) {
    case ESR_FAULT_TRANSLATION: out->kind = ACCESS_UNMAPPED; return;
    case ESR_FAULT_PERMISSION: out->kind = ACCESS_PROTECTED; return;
    case ESR_FAULT_ALIGNMENT: out->kind = ACCESS_MISALIGNED; return;
    case ESR_FAULT_TAG: out->kind = ACCESS_TAG; return;
    case ESR_FAULT_EXTERNAL: out->kind = ACCESS_EXTERNAL; return;
    case ESR_FAULT_EXCLUSIVE: out->kind = ACCESS_EXCLUSIVE; return;
    default:
        if (esr.what == ESR_PC_ALIGNMENT || esr.what == ESR_SP_ALIGNMENT)
            out->kind = ACCESS_MISALIGNED;
        else if (esr.what == ESR_POINTER_AUTH)
            out->kind = ACCESS_POINTER_AUTH;
    }
}

/* ---- What the address itself says ---- */

/* If the environment asks for it, malloc fills freed memory with 0x55 and new memory with 0xaa (malloc(3),
 * MallocScribble, MallocPreScribble). A pointer that is read from there has the pattern, or what is left of
 * it: without the top byte, which arm64 ignores, or the 47 bits of an isa. */
static bool access_is_pattern(uint64_t address, uint64_t pattern)
{
    static const uint64_t kept[] = {UINT64_MAX, UINT64_MAX >> 8, UINT64_MAX >> 17};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        uint64_t first = pattern & kept[i] & ~(uint64_t)15;
        if (address >= first && address - first < FIELD_REACH)
            return true;
    }
    return false;
}

static access_kind access_pattern_of(uint64_t address)
{
    if (access_is_pattern(address, 0x5555555555555555))
        return ACCESS_FREED;
    if (access_is_pattern(address, 0xaaaaaaaaaaaaaaaa))
        return ACCESS_UNINITIALIZED;
    return ACCESS_NONE;
}

/* If the report has no address, as after Intel's general protection fault, look for a register with the
 * pattern. */
static access_kind access_find_pattern(const report *r, const report_thread *thread,
                                       const access_fault *fault)
{
    if (fault->has_address)
        return access_pattern_of(fault->address);
    for (uint32_t i = 0; thread != NULL && i < thread->register_count; i++) {
        access_kind kind = access_pattern_of(registers_at(r, thread, i)->value);
        if (kind != ACCESS_NONE)
            return kind;
    }
    return ACCESS_NONE;
}

static bool access_is_messenger(machsym_str name)
{
    static const char *const names[] = {
        "objc_msgSend",  "objc_release",     "objc_retain",   "objc_autorelease", "_objc_msgSend",
        "objc_loadWeak", "objc_storeStrong", "swift_release", "swift_retain",     "CFRelease",
        "CFRetain",      "_objc_release",    "objc_opt_"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (str_starts(name, names[i]))
            return true;
    }
    return false;
}

/* The guard is below a stack. The stack overflowed if the stack pointer is in the guard or near it. */
static void access_check_stack(const report *r, const report_thread *thread, access_fault *out)
{
    uint64_t pointer;
    uint64_t end;
    size_t dash = str_find(out->range, "-");
    if (!str_starts(out->region, "STACK GUARD") && !str_starts(out->region, "Stack Guard"))
        return;
    out->kind = ACCESS_STACK;
    if (thread == NULL || dash == out->range.len ||
        !parse_hex(out->range.ptr + dash + 1, out->range.len - dash - 1, &end))
        return;
    if (!registers_value(r, thread, "sp", &pointer) && !registers_value(r, thread, "rsp", &pointer))
        return;
    if (pointer > end && pointer - end >= STACK_REACH)
        out->kind = ACCESS_OTHER_STACK;
}

/* The tag is bits 56 to 59 of the pointer: of far, or of a register that points at most a little below the
 * address. */
static void access_find_tag(const report *r, const report_thread *thread, access_fault *out)
{
    enum { TAG_AT = 56 };
    const uint64_t plain = ((uint64_t)1 << TAG_AT) - 1;
    for (uint32_t i = 0; thread != NULL && out->has_address && i < thread->register_count; i++) {
        const report_register *one = registers_at(r, thread, i);
        uint64_t below = (out->address & plain) - (one->value & plain);
        unsigned tag = (unsigned)(one->value >> TAG_AT) & 15;
        if (tag == 0 || below >= FIELD_REACH || (out->has_tag && below != 0))
            continue;
        out->has_tag = true;
        out->tag = tag;
        out->tag_register = one->name;
        if (below == 0)
            return;
    }
}

/* ---- All together ---- */

/* The first code of EXC_CRASH holds its origin: signal << 24 | exception << 20 | code. Without an origin the
 * signal came from kill or raise, and no access failed; then returns false. *codes receives those of the bad
 * access. */
static bool access_unpack_crash(const report *r, exception_codes *codes)
{
    enum { BAD_ACCESS = 1 };
    machsym_str exception = r->facts[FACT_EXCEPTION];
    if (str_find(exception, "EXC_CRASH") == exception.len || !codes->has_first ||
        r->facts[FACT_SUBTYPE].len > 0)
        return true;
    if ((codes->first >> 20 & 15) != BAD_ACCESS)
        return false;
    codes->first &= 0xfffff;
    codes->has_second = false;
    return true;
}

/* Returns the name of the image that was unloaded from there; empty: none was, as far as the report tells. */
static machsym_str access_unloaded_at(const report *r, uint64_t address)
{
    for (uint32_t i = 0; i < r->image_count; i++) {
        const report_image *image = &r->images[i];
        if (address >= image->base && address < image->end && str_is(image->version, "unloaded"))
            return image->name;
    }
    return str_make(NULL, 0);
}

static void access_refine(const report *r, const report_thread *thread, access_fault *out)
{
    const report_thread *stack = stack_main(r);
    access_kind pattern = access_find_pattern(r, thread, out);
    bool is_plain = out->kind == ACCESS_UNMAPPED || out->kind == ACCESS_UNKNOWN ||
                    out->kind == ACCESS_PROTECTED || out->kind == ACCESS_NOT_CANONICAL;
    machsym_str subtype = codes_subtype(r);
    machsym_str message = r->facts[FACT_MESSAGE];
    access_check_stack(r, thread, out);
    if (str_find(message, "stack size exceeded") < message.len)
        out->kind = ACCESS_STACK;
    if (out->kind == ACCESS_TAG || out->kind == ACCESS_CANONICAL_TAG)
        access_find_tag(r, thread, out);
    if (!is_plain || out->kind == ACCESS_STACK || out->kind == ACCESS_OTHER_STACK)
        return;
    machsym_str unloaded = out->has_address ? access_unloaded_at(r, out->address) : str_make(NULL, 0);
    if (unloaded.len > 0) {
        out->kind = ACCESS_UNLOADED;
        out->region = out->region.len > 0 ? out->region : unloaded;
    } else if (pattern != ACCESS_NONE)
        out->kind = pattern;
    else if (stack != NULL && access_is_messenger(stack_layer_name(r, stack_frame(r, stack, 0), 0)))
        out->kind = ACCESS_OBJECT;
    else if (out->has_address && out->address < NULL_REACH && out->kind != ACCESS_NOT_CANONICAL)
        out->kind = ACCESS_NULL;
    else if (str_find(subtype, "possible pointer authentication") < subtype.len)
        out->kind = ACCESS_MAYBE_AUTH;
}

void access_find(const report *r, access_fault *out)
{
    const report_thread *thread = registers_thread(r);
    exception_codes codes = codes_find(r);
    memset(out, 0, sizeof *out);
    if (!access_is_bad_access(r) || !access_unpack_crash(r, &codes))
        return;
    out->kind = access_kind_of_code(r, &codes);
    if (thread != NULL) {
        access_of_arm(r, thread, out);
        access_of_intel(r, thread, out);
    }
    access_find_address(r, thread, &codes, out);
    if (thread != NULL)
        access_of_fetch(r, thread, out);
    access_find_region(r, out);
    access_refine(r, thread, out);
}

void access_put(text *t, const access_fault *fault)
{
    static const char *const verbs[] = {"an access", "a read", "a write", "a jump"};
    const char *between = fault->kind == ACCESS_TAG || fault->kind == ACCESS_STACK ? "; " : ": ";
    text_c(t, access_words(fault->kind));
    if (fault->has_address || fault->access != ESR_ACCESS_UNKNOWN) {
        text_c(t, between);
        text_c(t, verbs[fault->access]);
        if (fault->size > 0) {
            text_c(t, " of ");
            text_dec(t, fault->size);
            text_c(t, fault->size == 1 ? " byte" : " bytes");
        }
    }
    if (fault->has_address) {
        text_c(t, fault->access == ESR_ACCESS_EXECUTE ? " to 0x" : " at 0x");
        text_hex(t, fault->address, 1);
    }
    if (fault->region.len > 0) {
        text_c(t, ", in ");
        text_shown(t, fault->region);
    }
    if (fault->has_tag) {
        text_c(t, "; the tag of the pointer in ");
        text_shown(t, fault->tag_register);
        text_c(t, " is ");
        text_dec(t, fault->tag);
    }
    text_char(t, '\n');
}
