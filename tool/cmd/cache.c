/* ==== >> cmd/cache ====
 * Job: the command that makes a Mach-O file of an image of a shared cache.
 * Offers: the command.
 * Never: changes the cache.
 *
 * machsym cache extract: an image of a shared cache as a Mach-O file of its own. */
#include "machsym.h"
#include "../../report/base/json_put.h"
#include "../../report/base/memory.h"
#include "../../report/base/text.h"
#include "../base/options.h"
#include "../base/out.h"
#include "../base/say.h"
#include "commands.h"
#include "../files/caches.h"
#include "../files/open.h"
#include "../files/outfile.h"

#include <stdlib.h>
#include <string.h>

/* loader.h */
enum {
    LC_SEGMENT_32 = 0x1,
    LC_SYMTAB = 0x2,
    LC_DYSYMTAB = 0xb,
    LC_SEGMENT_64 = 0x19,
    LC_CODE_SIGNATURE = 0x1d,
    LC_SPLIT_INFO = 0x1e,
    LC_DYLD_INFO = 0x22, /* its upper bit says that dyld must know it */
    LC_FUNCTION_STARTS = 0x26,
    LC_DATA_IN_CODE = 0x29,
    LC_EXPORTS_TRIE = 0x33, /* with the same bit */
    MUST_KNOW = 0x7fffffff,
    STABS = 0xe0,
    KIND = 0x0e,
    EXTERNAL = 0x01,
    DEFINED = 0x0e,
    SECTION_TYPE = 0xff,
    SYMBOL_STUBS = 0x8,
    INDIRECT_NONE = 0x40000000 /* and above: no symbol */
};
static const uint32_t in_cache = 0x80000000u; /* MH_DYLIB_IN_CACHE */

/* What is taken of one image: the largest of real caches have 100 MB, a load command area of 50 KB and
 * 300,000 symbols. It bounds the memory for a cache that is made up. */
enum {
    MAX_COMMANDS = 1 << 20,
    MAX_SYMBOLS = 4 << 20,
    MAX_TABLE = 256 << 20,
    MAX_SECTIONS = 255,
    FILE_PAGE = 0x4000
};
static const uint64_t max_file = (uint64_t)1 << 30;

static const char too_many[] = "the image has more than four million symbols";

/* A symbol on its way into the file. */
typedef struct kept_symbol {
    uint32_t name; /* offset in the strings */
    uint8_t type;
    uint8_t section;
    uint16_t desc;
    uint64_t value;
    uint32_t number; /* in the cache's table of the image; UINT32_MAX: it was not there */
} kept_symbol;

typedef struct section_range {
    uint64_t lo, hi;
    uint32_t first_stub; /* number of the indirect symbol of its first stub */
    uint32_t stub_size;  /* 0: it has none */
} section_range;

typedef struct extraction {
    const machsym_image *image;
    bool is_64;
    uint64_t text_addr;
    text head; /* header and load commands */
    text file;
    uint64_t linkedit_addr; /* and the offset in the cache's file that it stands for */
    uint64_t linkedit_off;
    section_range sections[MAX_SECTIONS];
    unsigned section_count;
    kept_symbol *symbols;
    size_t symbol_count;
    size_t symbol_cap;
    text strings;
    text indirect; /* the indirect symbols of the cache */
    bool has_indirect;
    const char *failure;
} extraction;

static bool cache_cmd_fail(extraction *x, const char *why)
{
    x->failure = why;
    return false;
}

static uint32_t cache_cmd_get_32(const text *t, size_t at)
{
    const uint8_t *p = (const uint8_t *)t->v + at;
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t cache_cmd_get_word(const extraction *x, const text *t, size_t at)
{
    return x->is_64 ? cache_cmd_get_32(t, at) | (uint64_t)cache_cmd_get_32(t, at + 4) << 32
                    : cache_cmd_get_32(t, at);
}

static void cache_cmd_set_32(text *t, size_t at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        t->v[at + i] = (char)(value >> 8 * i);
}

static void cache_cmd_set_word(const extraction *x, text *t, size_t at, uint64_t value)
{
    cache_cmd_set_32(t, at, (uint32_t)value);
    if (x->is_64)
        cache_cmd_set_32(t, at + 4, (uint32_t)(value >> 32));
}

static void cache_cmd_add_32(text *t, uint32_t value)
{
    text_add(t, "\0\0\0", 4);
    cache_cmd_set_32(t, t->len - 4, value);
}

/* Pads the file, and returns where it goes on. */
static size_t cache_cmd_align_file(extraction *x, size_t to)
{
    while (x->file.len % to != 0)
        text_char(&x->file, 0);
    return x->file.len;
}

/* Appends what lies at an address of the cache. */
static bool cache_cmd_add_bytes(extraction *x, text *t, uint64_t addr, uint64_t size)
{
    if (size > max_file || t->len > max_file - size)
        return cache_cmd_fail(x, "the image has more than 1 GB");
    if (size == 0)
        return true;
    size_t got = machsym_image_read_cache_at_addr(x->image, addr, text_room(t, (size_t)size), (size_t)size);
    t->len += got;
    return got == size ||
           cache_cmd_fail(x, "a part of the image lies in a file of the cache that is not there, or has "
                             "pointers of an unknown kind");
}

/* Appends a table of the cache's __LINKEDIT. */
static bool cache_cmd_add_table(extraction *x, text *t, uint64_t off, uint64_t size)
{
    if (size > MAX_TABLE)
        return cache_cmd_fail(x, "a table of the image has more than 256 MB");
    return cache_cmd_add_bytes(x, t, x->linkedit_addr + (off - x->linkedit_off), size);
}

/* ---- Segments ---- */

static bool cache_cmd_read_head(extraction *x, uint64_t addr)
{
    if (!cache_cmd_add_bytes(x, &x->head, addr, 28))
        return false;
    x->is_64 = cache_cmd_get_32(&x->head, 0) == 0xfeedfacf;
    uint32_t size = cache_cmd_get_32(&x->head, 20);
    if (size > MAX_COMMANDS)
        return cache_cmd_fail(x, "the load commands have more than 1 MB");
    return cache_cmd_add_bytes(x, &x->head, addr + 28, size + (x->is_64 ? 4 : 0));
}

/* Calls a function for each load command, with its offset. */
static bool cache_cmd_each_command(extraction *x,
                                   bool (*call)(extraction *x, size_t at, uint32_t cmd, uint32_t size))
{
    size_t at = x->is_64 ? 32 : 28;
    for (uint32_t left = cache_cmd_get_32(&x->head, 16); left > 0; left--) {
        uint32_t size = x->head.len - at < 8 ? 0 : cache_cmd_get_32(&x->head, at + 4);
        if (size < 8 || size > x->head.len - at)
            return cache_cmd_fail(x, "its load commands are damaged");
        if (!call(x, at, cache_cmd_get_32(&x->head, at) & MUST_KNOW, size))
            return false;
        at += size;
    }
    return true;
}

static bool cache_cmd_place_sections(extraction *x, size_t at, uint32_t size, uint64_t addr, uint64_t off)
{
    size_t first = x->is_64 ? 72 : 56;
    size_t step = x->is_64 ? 80 : 68;
    size_t words = x->is_64 ? 8 : 4;
    uint32_t count = cache_cmd_get_32(&x->head, at + (x->is_64 ? 64 : 48));
    if (count > (size - first) / step)
        return cache_cmd_fail(x, "its load commands are damaged");
    for (uint32_t i = 0; i < count; i++) {
        size_t section = at + first + i * step + 32;
        uint64_t lo = cache_cmd_get_word(x, &x->head, section);
        uint64_t length = cache_cmd_get_word(x, &x->head, section + words);
        if (cache_cmd_get_32(&x->head, section + 2 * words) != 0)
            cache_cmd_set_32(&x->head, section + 2 * words, (uint32_t)(off + (lo - addr)));
        size_t flags = section + 2 * words + 16;
        bool has_stubs = (cache_cmd_get_32(&x->head, flags) & SECTION_TYPE) == SYMBOL_STUBS;
        if (x->section_count < MAX_SECTIONS)
            x->sections[x->section_count++] =
                (section_range){lo, lo + length, cache_cmd_get_32(&x->head, flags + 4),
                                has_stubs ? cache_cmd_get_32(&x->head, flags + 8) : 0};
    }
    return true;
}

/* Copies a segment after those before it; of __LINKEDIT it notes where the cache has it. */
static bool cache_cmd_place_segment(extraction *x, size_t at, uint32_t cmd, uint32_t size)
{
    size_t word = x->is_64 ? 8 : 4;
    if (cmd != (x->is_64 ? LC_SEGMENT_64 : LC_SEGMENT_32))
        return true;
    if (size < (x->is_64 ? 72u : 56u))
        return cache_cmd_fail(x, "its load commands are damaged");
    uint64_t addr = cache_cmd_get_word(x, &x->head, at + 24);
    uint64_t length = cache_cmd_get_word(x, &x->head, at + 24 + 3 * word);
    if (strncmp(x->head.v + at + 8, "__LINKEDIT", 16) == 0) {
        x->linkedit_addr = addr;
        x->linkedit_off = cache_cmd_get_word(x, &x->head, at + 24 + 2 * word);
        return true;
    }
    size_t off = cache_cmd_align_file(x, FILE_PAGE);
    if (off == 0 && addr != x->text_addr)
        return cache_cmd_fail(x, "its header does not lie in its first segment");
    if (!cache_cmd_add_bytes(x, &x->file, addr, length))
        return false;
    cache_cmd_set_word(x, &x->head, at + 24 + 2 * word, off);
    return cache_cmd_place_sections(x, at, size, addr, off);
}

/* Selectors of these lists count from a place that only the cache has: they are left empty, and their
 * methods have symbols. */
static void cache_cmd_empty_direct_lists(extraction *x)
{
    enum { SMALL = 0x80000000u >> 1 }; /* of the flags only the one of direct selectors is asked for */
    machsym_cursor at = {0, 0};
    machsym_section section = {0};
    while (machsym_image_next_section(x->image, &at, &section) && !str_is(section.name, "__objc_methlist"))
        continue;
    uint64_t off = section.addr - x->text_addr; /* __TEXT is first in the file */
    if (!str_is(section.name, "__objc_methlist") || section.addr < x->text_addr || off >= x->file.len)
        return;
    uint64_t size = section.size < x->file.len - off ? section.size : x->file.len - off;
    for (uint64_t i = 0; i + 8 <= size;) {
        uint32_t flags = cache_cmd_get_32(&x->file, (size_t)(off + i));
        uint32_t count = cache_cmd_get_32(&x->file, (size_t)(off + i + 4));
        if ((flags & 0xfffc) != 12) {
            i += 4; /* what fills up to the next list */
            continue;
        }
        if ((flags & SMALL) != 0)
            cache_cmd_set_32(&x->file, (size_t)(off + i + 4), 0);
        i += 8 + (uint64_t)count * 12;
    }
}

/* ---- Symbols ---- */

/* Adds a symbol, zeroed but for its name. Many may share one long name in the cache; here each has its own.
 * Returns NULL when that would be too much. */
static kept_symbol *cache_cmd_add_symbol(extraction *x, machsym_str prefix, machsym_str name)
{
    if (x->symbol_count >= MAX_SYMBOLS || x->strings.len + name.len > MAX_TABLE) {
        cache_cmd_fail(x, x->symbol_count >= MAX_SYMBOLS ? too_many
                                                         : "the names of its symbols have more than 256 MB");
        return NULL;
    }
    x->symbols = mem_room(x->symbols, x->symbol_count, &x->symbol_cap, sizeof *x->symbols);
    kept_symbol *s = &x->symbols[x->symbol_count++];
    memset(s, 0, sizeof *s);
    s->name = (uint32_t)x->strings.len;
    text_str(&x->strings, prefix);
    text_str(&x->strings, name);
    text_char(&x->strings, 0);
    return s;
}

/* How many bytes of strings come before their last NUL, and that: a name that begins there has an end. */
static size_t cache_cmd_ended_strings(const text *strings)
{
    size_t len = strings->len;
    while (len > 0 && strings->v[len - 1] != 0)
        len--;
    return len;
}

/* The symbols that the image has in the cache, without those whose names were taken away. */
static bool cache_cmd_read_symbols(extraction *x, size_t at)
{
    size_t step = x->is_64 ? 16 : 12;
    uint32_t count = cache_cmd_get_32(&x->head, at + 12);
    uint32_t strings_size = cache_cmd_get_32(&x->head, at + 20);
    text table = {0};
    text strings = {0};
    bool ok = count <= MAX_SYMBOLS || cache_cmd_fail(x, too_many);
    ok = ok && cache_cmd_add_table(x, &table, cache_cmd_get_32(&x->head, at + 8), (uint64_t)count * step) &&
         cache_cmd_add_table(x, &strings, cache_cmd_get_32(&x->head, at + 16), strings_size);
    size_t ended = cache_cmd_ended_strings(&strings);
    for (uint32_t i = 0; ok && i < count; i++) {
        uint32_t name_at = cache_cmd_get_32(&table, i * step);
        uint8_t type = (uint8_t)table.v[i * step + 4];
        if ((type & STABS) != 0)
            continue;
        machsym_str name = str_c(name_at < ended ? strings.v + name_at : "");
        if (str_is(name, "<redacted>"))
            continue;
        kept_symbol *s = cache_cmd_add_symbol(x, str_c(""), name);
        ok = s != NULL;
        if (!ok)
            break;
        s->type = type;
        s->section = (uint8_t)table.v[i * step + 5];
        s->desc = (uint16_t)(cache_cmd_get_32(&table, i * step + 4) >> 16);
        s->value = cache_cmd_get_word(x, &table, i * step + 8);
        s->number = i;
    }
    text_free(&table);
    text_free(&strings);
    return ok;
}

static int cache_cmd_by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static unsigned cache_cmd_section_of(const extraction *x, uint64_t addr)
{
    for (unsigned i = 0; i < x->section_count; i++) {
        if (addr >= x->sections[i].lo && addr < x->sections[i].hi)
            return i + 1;
    }
    return 0;
}

/* Whether an indirect symbol names the stub at an address. */
static bool cache_cmd_has_indirect_name(const extraction *x, uint64_t addr)
{
    unsigned number = cache_cmd_section_of(x, addr);
    const section_range *s = number != 0 ? &x->sections[number - 1] : NULL;
    if (s == NULL || s->stub_size == 0)
        return false;
    uint64_t at = s->first_stub + (addr - s->lo) / s->stub_size;
    return at < x->indirect.len / 4 && cache_cmd_get_32(&x->indirect, (size_t)at * 4) < INDIRECT_NONE;
}

/* Whether a name is to be a symbol of the file, since nothing else in it would tell it. */
static bool cache_cmd_is_wanted(const extraction *x, const machsym_symbol *symbol)
{
    if (symbol->name.len == 0 || cache_cmd_section_of(x, symbol->lo) == 0)
        return false;
    return symbol->source == MACHSYM_SOURCE_SYMTAB || symbol->source == MACHSYM_SOURCE_OBJC ||
           (symbol->source == MACHSYM_SOURCE_STUB && !cache_cmd_has_indirect_name(x, symbol->lo));
}

/* Adds the names that machsym knows beside these: local functions, methods, stubs that only their code tells
 * of. An address that has a symbol gets no other. */
static bool cache_cmd_add_names(extraction *x)
{
    machsym_session *session = open_session(x->image, MACHSYM_LINES_ATOS, 0);
    machsym_cursor at = {0, 0};
    machsym_symbol symbol;
    size_t count = 0;
    bool ok = true;
    uint64_t *known = mem_alloc((x->symbol_count + 1) * sizeof *known);
    for (size_t i = 0; i < x->symbol_count; i++) {
        if ((x->symbols[i].type & KIND) == DEFINED)
            known[count++] = x->symbols[i].value;
    }
    if (count > 1)
        qsort(known, count, sizeof *known, cache_cmd_by_value);
    while (ok && machsym_session_next_symbol(session, &at, &symbol)) {
        if (!cache_cmd_is_wanted(x, &symbol) ||
            (count > 0 && bsearch(&symbol.lo, known, count, sizeof *known, cache_cmd_by_value) != NULL))
            continue;
        bool is_method = str_starts(symbol.name, "-[") || str_starts(symbol.name, "+[");
        kept_symbol *s = cache_cmd_add_symbol(x, str_c(is_method ? "" : "_"), symbol.name);
        ok = s != NULL;
        if (!ok)
            break;
        s->type = DEFINED;
        s->section = (uint8_t)cache_cmd_section_of(x, symbol.lo);
        s->value = symbol.lo;
        s->number = UINT32_MAX;
    }
    free(known);
    open_session_close(session);
    return ok;
}

/* LC_DYSYMTAB wants local symbols first, then those that are defined for others, then those of others. */
static unsigned cache_cmd_group_of(const kept_symbol *s)
{
    return (s->type & EXTERNAL) == 0 ? 0 : (s->type & KIND) != 0 ? 1 : 2;
}

static int cache_cmd_by_group(const void *a, const void *b)
{
    const kept_symbol *x = a;
    const kept_symbol *y = b;
    unsigned first = cache_cmd_group_of(x);
    unsigned second = cache_cmd_group_of(y);
    if (first != second)
        return first < second ? -1 : 1;
    return x->number != y->number ? (x->number < y->number ? -1 : 1)
           : x->name < y->name    ? -1
                                  : x->name > y->name;
}

static bool cache_cmd_read_indirect(extraction *x, size_t at, uint32_t cmd, uint32_t size)
{
    if (cmd != LC_DYSYMTAB || size < 80)
        return true;
    if (x->has_indirect)
        return cache_cmd_fail(x, "it has two tables of indirect symbols");
    x->has_indirect = true;
    return cache_cmd_add_table(x, &x->indirect, cache_cmd_get_32(&x->head, at + 56),
                               (uint64_t)cache_cmd_get_32(&x->head, at + 60) * 4);
}

static bool cache_cmd_find_symbols(extraction *x, size_t at, uint32_t cmd, uint32_t size)
{
    if (cmd != LC_SYMTAB || size < 24)
        return true;
    if (x->strings.len != 0)
        return cache_cmd_fail(x, "it has two symbol tables");
    text_char(&x->strings, 0);
    bool ok = cache_cmd_read_symbols(x, at) && cache_cmd_add_names(x);
    if (x->symbol_count > 1)
        qsort(x->symbols, x->symbol_count, sizeof *x->symbols, cache_cmd_by_group);
    return ok;
}

/* ---- __LINKEDIT ---- */

static void cache_cmd_put_symbols(extraction *x, size_t at)
{
    cache_cmd_set_32(&x->head, at + 8, (uint32_t)cache_cmd_align_file(x, 8));
    cache_cmd_set_32(&x->head, at + 12, (uint32_t)x->symbol_count);
    for (size_t i = 0; i < x->symbol_count; i++) {
        const kept_symbol *s = &x->symbols[i];
        cache_cmd_add_32(&x->file, s->name);
        cache_cmd_add_32(&x->file, (uint32_t)s->type | (uint32_t)s->section << 8 | (uint32_t)s->desc << 16);
        cache_cmd_add_32(&x->file, (uint32_t)s->value);
        if (x->is_64)
            cache_cmd_add_32(&x->file, (uint32_t)(s->value >> 32));
    }
    cache_cmd_set_32(&x->head, at + 16, (uint32_t)x->file.len);
    cache_cmd_set_32(&x->head, at + 20, (uint32_t)x->strings.len);
    text_add(&x->file, x->strings.v, x->strings.len);
}

/* The indirect symbols, which name stubs by the numbers of symbols. */
static void cache_cmd_put_indirect(extraction *x, size_t at)
{
    uint32_t most = 0;
    uint32_t count = (uint32_t)(x->indirect.len / 4);
    for (size_t i = 0; i < x->symbol_count; i++) {
        if (x->symbols[i].number != UINT32_MAX && x->symbols[i].number >= most)
            most = x->symbols[i].number + 1;
    }
    uint32_t *now = mem_alloc(((size_t)most + 1) * sizeof *now);
    for (uint32_t i = 0; i < most; i++)
        now[i] = 0x80000000u; /* INDIRECT_SYMBOL_LOCAL: its symbol was taken away */
    for (size_t i = 0; i < x->symbol_count; i++) {
        if (x->symbols[i].number != UINT32_MAX)
            now[x->symbols[i].number] = (uint32_t)i;
    }
    cache_cmd_set_32(&x->head, at + 56, (uint32_t)cache_cmd_align_file(x, 8));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = cache_cmd_get_32(&x->indirect, (size_t)i * 4);
        cache_cmd_add_32(&x->file, number >= INDIRECT_NONE ? number
                                   : number < most         ? now[number]
                                                           : 0x80000000u);
    }
    free(now);
}

static void cache_cmd_put_dynamic(extraction *x, size_t at)
{
    uint32_t counts[3] = {0, 0, 0};
    for (size_t i = 0; i < x->symbol_count; i++)
        counts[cache_cmd_group_of(&x->symbols[i])]++;
    for (uint32_t i = 0, first = 0; i < 3; first += counts[i++]) {
        cache_cmd_set_32(&x->head, at + 8 + 8 * i, first);
        cache_cmd_set_32(&x->head, at + 12 + 8 * i, counts[i]);
    }
    for (size_t i = 32; i < 80; i += 4) {
        if (i != 56 && i != 60) /* of tables that no image of a cache has */
            cache_cmd_set_32(&x->head, at + i, 0);
    }
    cache_cmd_put_indirect(x, at);
}

/* Moves a table that a load command names by offset and size. */
static bool cache_cmd_move_table(extraction *x, size_t at)
{
    uint32_t off = cache_cmd_get_32(&x->head, at);
    uint32_t size = cache_cmd_get_32(&x->head, at + 4);
    cache_cmd_set_32(&x->head, at, size != 0 ? (uint32_t)cache_cmd_align_file(x, 8) : 0);
    return size == 0 || cache_cmd_add_table(x, &x->file, off, size);
}

static bool cache_cmd_put_table(extraction *x, size_t at, uint32_t cmd, uint32_t size)
{
    if (cmd == LC_SYMTAB && size >= 24) {
        cache_cmd_put_symbols(x, at);
    } else if (cmd == LC_DYSYMTAB && size >= 80) {
        cache_cmd_put_dynamic(x, at);
    } else if (cmd == LC_DYLD_INFO && size >= 48) {
        for (size_t i = 8; i < 40; i += 4)
            cache_cmd_set_32(&x->head, at + i, 0);
        return cache_cmd_move_table(x, at + 40);
    } else if (size >= 16 &&
               (cmd == LC_EXPORTS_TRIE || cmd == LC_FUNCTION_STARTS || cmd == LC_DATA_IN_CODE)) {
        return cache_cmd_move_table(x, at + 8);
    } else if (size >= 16 && (cmd == LC_CODE_SIGNATURE || cmd == LC_SPLIT_INFO)) {
        cache_cmd_set_32(&x->head, at + 8, 0);
        cache_cmd_set_32(&x->head, at + 12, 0);
    }
    return true;
}

static bool cache_cmd_close_linkedit(extraction *x, size_t at, uint32_t cmd, uint32_t size)
{
    size_t word = x->is_64 ? 8 : 4;
    if (cmd != (x->is_64 ? LC_SEGMENT_64 : LC_SEGMENT_32) || size < 56 ||
        strncmp(x->head.v + at + 8, "__LINKEDIT", 16) != 0)
        return true;
    uint64_t off = cache_cmd_get_word(x, &x->head, at + 24 + 2 * word);
    uint64_t length = x->file.len - off;
    cache_cmd_set_word(x, &x->head, at + 24 + 3 * word, length);
    cache_cmd_set_word(x, &x->head, at + 24 + word, (length + FILE_PAGE - 1) / FILE_PAGE * FILE_PAGE);
    return true;
}

static bool cache_cmd_open_linkedit(extraction *x, size_t at, uint32_t cmd, uint32_t size)
{
    size_t word = x->is_64 ? 8 : 4;
    if (cmd == (x->is_64 ? LC_SEGMENT_64 : LC_SEGMENT_32) && size >= 56 &&
        strncmp(x->head.v + at + 8, "__LINKEDIT", 16) == 0)
        cache_cmd_set_word(x, &x->head, at + 24 + 2 * word, cache_cmd_align_file(x, FILE_PAGE));
    return true;
}

static bool cache_cmd_extract(extraction *x)
{
    machsym_image_info info;
    machsym_image_get_info(x->image, &info);
    x->text_addr = info.text_addr;
    if (!cache_cmd_read_head(x, info.text_addr) || !cache_cmd_each_command(x, cache_cmd_place_segment))
        return false;
    if (x->file.len < x->head.len)
        return cache_cmd_fail(x, "its load commands are damaged");
    cache_cmd_empty_direct_lists(x);
    if (!cache_cmd_each_command(x, cache_cmd_read_indirect) ||
        !cache_cmd_each_command(x, cache_cmd_find_symbols) ||
        !cache_cmd_each_command(x, cache_cmd_open_linkedit) ||
        !cache_cmd_each_command(x, cache_cmd_put_table) ||
        !cache_cmd_each_command(x, cache_cmd_close_linkedit))
        return false;
    cache_cmd_set_32(&x->head, 24, cache_cmd_get_32(&x->head, 24) & ~in_cache);
    memcpy(x->file.v, x->head.v, x->head.len);
    return true;
}

/* ---- The command ---- */

typedef struct extract_options {
    const char *out;
    bool json;
} extract_options;

static void cache_cmd_tell_extracted(const extract_options *o, const machsym_image *image, size_t size)
{
    machsym_image_info info;
    text t = {0};
    machsym_image_get_info(image, &info);
    if (strcmp(o->out, "-") == 0) {
        say_plain("standard output: %s, %llu bytes", info.slice.arch, (unsigned long long)size);
        return;
    }
    if (!o->json) {
        out_line("%s: %s, %llu bytes", o->out, info.slice.arch, (unsigned long long)size);
        return;
    }
    json_begin(&t, "cache-extract");
    json_put_str(&t, "file", str_c(o->out));
    json_put_str(&t, "image", info.name);
    json_put_str(&t, "arch", str_c(info.slice.arch));
    json_put_uuid(&t, "uuid", info.slice.has_uuid ? &info.slice.uuid : NULL);
    json_put_number(&t, "size", size);
    text_c(&t, "}\n");
    out_text(&t);
    text_free(&t);
}

static machsym_image *cache_cmd_open_image(const char *cache, const char *name)
{
    machsym_open_desc desc;
    machsym_error err;
    memset(&desc, 0, sizeof desc);
    desc.path = cache;
    desc.entry = name;
    if (!cache_is_at(cache) && machsym_list_slices(&desc, NULL, 0, &err) == 0 && err.code == MACHSYM_ERR_IO) {
        say_error(cache, &err);
        return NULL;
    }
    if (!cache_is_at(cache)) {
        say_message("%s: no shared cache; name the first of its files, like dyld_shared_cache_arm64e", cache);
        return NULL;
    }
    return open_image(&desc);
}

static int cache_cmd_run_extract(int argc, char **argv)
{
    extract_options o = {0};
    extraction x;
    outfile out;
    int count = options_parse(&cache_extract_command, &o, argc, argv);
    if (count < 0)
        return options_status(count);
    if (count == 2 && o.out != NULL && strcmp(o.out, "-") == 0 && o.json)
        return options_wrong(&cache_extract_command, "-o - writes the image where --json goes: name a file");
    if (count != 2 || o.out == NULL)
        return options_wrong(&cache_extract_command,
                             count != 2 ? "name a cache, and an image of it" : "-o is missing");
    if (!outfile_spares(o.out, argv[1]))
        return TOOL_ERROR;
    machsym_image *image = cache_cmd_open_image(argv[1], argv[2]);
    if (image == NULL)
        return TOOL_ERROR;
    memset(&x, 0, sizeof x);
    x.image = image;
    bool ok = cache_cmd_extract(&x);
    size_t size = x.file.len;
    if (!ok)
        say_message("%s: %s: %s; nothing is written", argv[1], argv[2], x.failure);
    else
        ok = status_had_memory(o.out) &&
             outfile_end(&out, &x.file, outfile_begin(&out, o.out, OUTFILE_REPLACE));
    if (ok)
        cache_cmd_tell_extracted(&o, image, size);
    machsym_image_close(image);
    text_free(&x.head);
    text_free(&x.file);
    text_free(&x.strings);
    text_free(&x.indirect);
    free(x.symbols);
    return ok ? TOOL_OK : TOOL_ERROR;
}

static const option table[] = {
    {"o", "OUT", "the file to write, - is standard output", offsetof(extract_options, out), NULL},
    {"json", NULL, "one JSON object, in place of a line", offsetof(extract_options, json), NULL},
    {0},
};

const command cache_extract_command = {
    "cache extract",
    "an image of a dyld shared cache as a Mach-O file of its own",
    "CACHE IMAGE -o OUT",
    "Writes an image, named by its path or the last part of it, as a Mach-O file that other tools read: "
    "segments at "
    "the\naddresses of the cache with pointers that hold, and symbols, exports and function starts of its "
    "own. "
    "Names that the\ncache keeps elsewhere become local symbols, those of methods too: their lists are left "
    "empty, "
    "since their\nselectors lie in the cache. Swift functions that are known by a descriptor of another "
    "image are "
    "numbers in the\nfile: override[0].\n",
    {{table, 0}},
    NULL,
    cache_cmd_run_extract,
    NULL,
};

static const command *const below[] = {&cache_extract_command, NULL};

const command cache_command = {
    "cache",
    "dyld shared caches: extract an image",
    "COMMAND ...",
    "Works on dyld shared caches. atos, info, map build, symbols, objc, owners and crash -d take them too.\n",
    {{NULL, 0}},
    "exit status: 0 done, 1 failed, 2 usage\n",
    NULL,
    below,
};
