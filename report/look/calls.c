/* Calls and jumps in code; see calls.h. Encodings: Arm ARM C6.2, Intel SDM 2. */
#include "calls.h"
#include "../base/text.h"

#include <string.h>

enum { CALLS_ARM64 = 0x0100000c, CALLS_ARM64_32 = 0x0200000c, CALLS_X86_64 = 0x01000007 };

static bool calls_is_arm64(const calls_image *image)
{
    return image->cputype != CALLS_X86_64;
}

void calls_image_of(const machsym_image *file, calls_image *out)
{
    machsym_image_info info;
    memset(out, 0, sizeof *out);
    if (file == NULL)
        return;
    machsym_image_get_info(file, &info);
    uint32_t cputype = info.slice.cputype;
    if (info.is_encrypted || info.map != NULL ||
        (cputype != CALLS_ARM64 && cputype != CALLS_ARM64_32 && cputype != CALLS_X86_64))
        return;
    out->file = file;
    out->cputype = cputype;
}

/* What a file has of a section: all that it states, or the bytes that are at hand. A dSYM beside its program states
 * the same sections once more, without bytes. */
typedef enum calls_part { CALLS_STATED, CALLS_AT_HAND } calls_part;

/* The section of code that has an address in one of its parts; NULL: any address. */
static bool calls_find(const calls_image *image, const uint64_t *addr, calls_part part, machsym_section *out)
{
    machsym_cursor at;
    memset(&at, 0, sizeof at);
    while (image->file != NULL && machsym_image_next_section(image->file, &at, out)) {
        uint64_t len = part == CALLS_STATED ? out->size : out->bytes.len;
        bool has_it = addr == NULL ? len > 0 : *addr >= out->addr && *addr - out->addr < len;
        if (out->is_code && has_it)
            return true;
    }
    return false;
}

bool calls_has_code(const calls_image *image)
{
    machsym_section section;
    return calls_find(image, NULL, CALLS_AT_HAND, &section);
}

/* The section of code that has an address; bytes from there to its end are at hand. */
static bool calls_section(const calls_image *image, uint64_t addr, machsym_section *out)
{
    return calls_find(image, &addr, CALLS_AT_HAND, out);
}

static const uint8_t *calls_bytes(const machsym_section *section)
{
    return (const uint8_t *)section->bytes.ptr;
}

static uint32_t calls_word(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* A signed number of some bits. */
static uint64_t calls_signed(uint64_t value, unsigned bits)
{
    uint64_t top = UINT64_C(1) << (bits - 1);
    value &= top * 2 - 1;
    return (value ^ top) - top;
}

/* ---- Calls ---- */

/* BL; BLR, BLRAA and their kin. */
static calls_kind calls_arm64(const uint8_t *end, uint64_t addr, uint64_t *target)
{
    uint32_t word = calls_word(end - 4);
    *target = addr - 4 + calls_signed((uint64_t)word << 2, 28);
    if ((word & 0xfc000000) == 0x94000000)
        return CALLS_TARGET;
    bool is_plain = (word & 0xfffffc1f) == 0xd63f0000;
    bool is_signed = (word & 0xfefff800) == 0xd63f0800;
    return is_plain || is_signed ? CALLS_SOMEWHERE : CALLS_NOTHING;
}

/* ff /2 with ModRM, SIB and displacement, which takes 2 to 7 bytes; e8. Bytes may look like both. */
static calls_kind calls_x86_64(const uint8_t *end, size_t before, uint64_t addr, uint64_t *target)
{
    for (size_t len = 2; len <= 7 && len <= before; len++) {
        if (end[-(ptrdiff_t)len] == 0xff && (end[1 - (ptrdiff_t)len] & 0x38) == 0x10)
            return CALLS_SOMEWHERE;
    }
    if (before < 5 || end[-5] != 0xe8)
        return CALLS_NOTHING;
    *target = addr + calls_signed(calls_word(end - 4), 32);
    return CALLS_TARGET;
}

calls_kind calls_end_at(const calls_image *image, uint64_t addr, uint64_t *target)
{
    machsym_section section;
    const uint64_t before_end = addr - 1;
    if (!calls_section(image, before_end, &section))
        return calls_find(image, &before_end, CALLS_STATED, &section) ? CALLS_UNKNOWN : CALLS_NO_CODE;
    size_t before = (size_t)(addr - section.addr);
    const uint8_t *end = calls_bytes(&section) + before;
    if (!calls_is_arm64(image))
        return calls_x86_64(end, before, addr, target);
    return before < 4 || addr % 4 != 0 ? CALLS_NOTHING : calls_arm64(end, addr, target);
}

bool calls_is_stub(const calls_image *image, uint64_t addr)
{
    enum { TYPE = 0xff, SYMBOL_STUBS = 8 }; /* loader.h: SECTION_TYPE, S_SYMBOL_STUBS */
    machsym_section section;
    return calls_section(image, addr, &section) &&
           ((section.flags & TYPE) == SYMBOL_STUBS || str_find(section.name, "stub") < section.name.len);
}

bool calls_function(const calls_image *image, uint64_t addr, machsym_frame *out)
{
    machsym_frame frames[MACHSYM_MAX_INLINE_DEPTH + 1];
    if (image->frames == NULL)
        return false;
    size_t count = image->frames(image->context, image->index, addr, frames, MACHSYM_MAX_INLINE_DEPTH + 1);
    if (count == 0 || frames[count - 1].lacks_memory)
        return false;
    *out = frames[count - 1];
    return true;
}

/* ---- Jumps ---- */

/* A search for a way from function to function. */
typedef struct calls_search {
    const calls_image *image;
    uint64_t v[CALLS_FUNCTIONS]; /* where functions begin */
    unsigned count;
    uint64_t to;
    bool found; /* or it cannot be known */
} calls_search;

/* A way leads to an address. */
static void calls_go(calls_search *s, uint64_t addr)
{
    machsym_section section;
    machsym_frame function;
    if (!calls_section(s->image, addr, &section))
        return;
    if (calls_is_stub(s->image, addr) || !calls_function(s->image, addr, &function)) {
        s->found = true;
        return;
    }
    uint64_t start = function.function_start;
    s->found |= start == s->to || function.function_size == 0;
    for (unsigned i = 0; i < s->count; i++) {
        if (s->v[i] == start)
            return;
    }
    if (s->count == CALLS_FUNCTIONS)
        s->found = true;
    else
        s->v[s->count++] = start;
}

/* A jump out of a function. */
static void calls_jump(calls_search *s, uint64_t lo, uint64_t hi, uint64_t target)
{
    if (target < lo || target >= hi)
        calls_go(s, target);
}

/* B, B.cond, CBZ, TBZ and their kin; BR and its kin. Returns whether the next instruction is reached. */
static bool calls_scan_arm64(calls_search *s, const uint8_t *p, uint64_t addr, uint64_t lo, uint64_t hi)
{
    uint32_t word = calls_word(p);
    bool is_branch = (word & 0xfffffc1f) == 0xd61f0000 || (word & 0xfefff800) == 0xd61f0800;
    if ((word & 0xfc000000) == 0x14000000)
        calls_jump(s, lo, hi, addr + calls_signed((uint64_t)word << 2, 28));
    else if ((word & 0xff000000) == 0x54000000 || (word & 0x7e000000) == 0x34000000)
        calls_jump(s, lo, hi, addr + calls_signed((uint64_t)(word >> 5) << 2, 21));
    else if ((word & 0x7e000000) == 0x36000000)
        calls_jump(s, lo, hi, addr + calls_signed((uint64_t)(word >> 5) << 2, 16));
    s->found |= is_branch;
    bool returns = (word & 0xfffffc1f) == 0xd65f0000 || (word & 0xfffffbff) == 0xd65f0bff;
    bool traps = (word & 0xffe0001f) == 0xd4200000 || word >> 16 == 0;
    return !((word & 0xfc000000) == 0x14000000 || returns || traps || is_branch);
}

/* An instruction may begin at any byte, so every byte is read as if one did. That finds jumps that are not there,
 * and misses none. */
static void calls_scan_x86_64(calls_search *s, const uint8_t *p, size_t len, uint64_t lo, uint64_t hi)
{
    for (size_t i = 0; i + 1 < len && !s->found; i++) {
        uint64_t addr = lo + i;
        bool is_short = (p[i] & 0xf0) == 0x70 || p[i] == 0xeb;
        bool is_long = p[i] == 0x0f && (p[i + 1] & 0xf0) == 0x80;
        if (is_short)
            calls_jump(s, lo, hi, addr + 2 + calls_signed(p[i + 1], 8));
        else if (p[i] == 0xe9 && i + 5 <= len)
            calls_jump(s, lo, hi, addr + 5 + calls_signed(calls_word(p + i + 1), 32));
        else if (is_long && i + 6 <= len)
            calls_jump(s, lo, hi, addr + 6 + calls_signed(calls_word(p + i + 2), 32));
        else if (p[i] == 0xff && (p[i + 1] & 0x38) == 0x20)
            s->found = true;
    }
}

/* Whether code runs on after the last of these bytes: it is neither a return, a jump, a trap, a call that may
 * not return, nor what fills the gap to the next function. */
static bool calls_runs_on(const uint8_t *p, size_t len)
{
    size_t from = len;
    while (from > 0 && (p[from - 1] == 0x90 || p[from - 1] == 0xcc || p[from - 1] == 0))
        from--;
    bool returns = from >= 1 && p[from - 1] == 0xc3;
    bool jumps = len >= 5 && (p[len - 5] == 0xe9 || p[len - 5] == 0xe8);
    bool is_short = len >= 2 && (p[len - 2] == 0xeb || (p[len - 2] == 0x0f && p[len - 1] == 0x0b));
    return !(from < len || returns || jumps || is_short);
}

/* Follows the jumps of a function. */
static void calls_scan(calls_search *s, uint64_t start, uint64_t *left)
{
    machsym_section section;
    machsym_frame function;
    if (!calls_section(s->image, start, &section) || !calls_function(s->image, start, &function)) {
        s->found = true;
        return;
    }
    uint64_t lo = function.function_start, len = function.function_size;
    size_t at = (size_t)(lo - section.addr);
    if (lo < section.addr || at > section.bytes.len || len > section.bytes.len - at || len > *left) {
        s->found = true;
        return;
    }
    *left -= len;
    const uint8_t *p = calls_bytes(&section) + at;
    bool runs_on = true;
    if (calls_is_arm64(s->image)) {
        for (uint64_t i = 0; i + 4 <= len && !s->found; i += 4)
            runs_on = calls_scan_arm64(s, p + i, lo + i, lo, lo + len);
    } else {
        calls_scan_x86_64(s, p, (size_t)len, lo, lo + len);
        runs_on = calls_runs_on(p, (size_t)len);
    }
    if (runs_on && !s->found)
        calls_go(s, lo + len);
}

bool calls_may_reach(const calls_image *image, uint64_t from, uint64_t to, uint64_t *left)
{
    calls_search s;
    machsym_section section;
    memset(&s, 0, sizeof s);
    s.image = image;
    s.to = to;
    if (!calls_section(image, from, &section))
        return true;
    calls_go(&s, from);
    for (unsigned i = 0; i < s.count && !s.found; i++)
        calls_scan(&s, s.v[i], left);
    return s.found;
}
