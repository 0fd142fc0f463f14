/* machsym atos: Apple's atos, and more. */
#include "store/objects.h"
#include "owners.h"
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MAX_FRAMES = MACHSYM_MAX_INLINE_DEPTH + 1,
    READ_SIZE = 1 << 16,
    BATCH_BYTES = 8 << 20,
    MAX_THREADS = 16,
    MAX_ENTRIES = 4096, /* of a kernel collection: real ones have 300 */
    PRINT_BYTES = 1 << 18,
    THREAD_WORTH = 4096,  /* addresses: fewer are answered before a thread has started to help */
    BATCH_CACHE = 4 << 20 /* bytes of decoded units that a helping thread keeps: its addresses are sorted */
};

/* What the given addresses count from. */
typedef enum address_kind {
    ADDRESS_FILE = 0,
    ADDRESS_LOAD,
    ADDRESS_SLIDE,
    ADDRESS_OFFSET,
    ADDRESS_TEXT_EXEC
} address_kind;

/* One -o, or an image of a kernel collection. */
typedef struct target {
    symbol_file file;
    uint64_t text_addr; /* what a load address stands for: a collection's own for all its images */
    uint64_t text_exec_addr;
    symbol_source *source;
    owners_image *owned;    /* NULL without --owners */
    machsym_cursor objects; /* those of the debug map that were spoken of */
} target;

/* What the options say. */
typedef struct atos {
    const char *paths[64];
    size_t path_count;
    target *targets;
    size_t target_count;
    const char *arch;
    const char *entry; /* of a kernel collection; NULL: all */
    machsym_uuid uuid;
    bool has_uuid;
    address_kind kind;
    uint64_t base;
    bool inline_frames;
    bool dedup;
    bool json;
    bool explain;
    bool check;
    bool copy;
    const char *delimiter;
    const char *input;
    owners *rules; /* NULL without --owners */
    const char *store;
    machsym_bytes bytes; /* a map, in place of -o */
    machsym_lines lines;
    bool has_lines;
    uint32_t map_flags;
    uint32_t session_flags;
    frame_style style;
    object_options objects;
    bool unresolved; /* an address stayed without a name */
    machsym_frame frames[MAX_FRAMES];
} atos;

static const char usage[] =
    "usage: machsym atos -o FILE [options] [address ...]\n"
    "Prints function, file and line for addresses of a Mach-O file, as Apple's atos does.\n"
    "Without addresses they are read from standard input and answered line by line.\n"
    "\n"
    "  -o FILE             a Mach-O file, the DWARF file of a dSYM, a .dSYM bundle, or a .symmap; may "
    "repeat\n"
    "  -arch NAME          which slice of a fat file: arm64, x86_64, ...\n"
    "  --uuid UUID         which slice, by its UUID\n"
    "  --entry NAME        which image of a kernel collection; without it the one that has the address\n"
    "  -l ADDRESS          the addresses are runtime ones and the image was loaded here (hex)\n"
    "  -s SLIDE            the addresses are runtime ones and the image slid by this much (hex)\n"
    "  -offset             the addresses are offsets into the image\n"
    "  -textExecAddress A  the addresses are a kernel's, its __TEXT_EXEC stands at A\n"
    "  -f FILE             read the addresses from FILE\n"
    "  -i, -inlineFrames   print inlined calls too, innermost first, and an empty line after each address\n"
    "  -d DELIMITER        what separates the lines of one address; a newline without it\n"
    "  -fullPath           whole paths in place of base names\n"
    "  -dedup              all functions that share an address\n"
    "  -printHeader, -p    accepted; there is no live process to look at here\n"
    "\n"
    "  --store DIR         take the map of --uuid from a store; see machsym map --help\n"
    "  --lines=POLICY      atos: the row as it is, first of equals; dwarf: last of equals, as "
    "llvm-symbolizer;\n"
    "                      stmt: only rows that begin a statement\n"
    "  --best-line         line 0 takes the line of the nearest frame that has one\n"
    "  --no-demangle       names as the linker knows them\n"
    "  --full-names        Swift names with modules and types\n"
    "  --json              one JSON object a line: address, image, uuid, arch, frames (innermost first)\n"
    "  --explain           how each answer came about\n"
    "  --copy              read files into memory first: safe when others may truncate them\n"
    "  --check             exit with 2 when an address stayed without a name\n"
    "  --owners RULES      whose code it is, by a file of rules: see machsym owners --help\n" OBJECT_USAGE
    "\n"
    "exit status: 0 ran, 1 usage or a file that cannot be opened, 2 with --check\n";

/* ---- Targets ---- */

/* Tells whether a map can do what the options ask for. */
static bool map_can(const atos *a, const target *t)
{
    const char *what = a->dedup ? "-dedup" : a->rules != NULL ? "--owners" : NULL;
    if (t->file.map == NULL || what == NULL)
        return true;
    tool_say("%s: a map does not hold what %s needs; name the dSYM", t->file.info.path, what);
    return false;
}

/* Room for one more target, which is empty. */
static target *next_target(atos *a)
{
    a->targets = tool_grow(a->targets, (a->target_count + 1) * sizeof *a->targets);
    memset(&a->targets[a->target_count], 0, sizeof *a->targets);
    return &a->targets[a->target_count];
}

/* Opens what a description names, as the next target; with pair_path only if the two are halves. */
static bool open_target(atos *a, const symbol_desc *desc)
{
    target *t = next_target(a);
    if (desc->open.pair_path != NULL && symbol_file_open(desc, &t->file, NULL) != MACHSYM_OK)
        return false;
    if (desc->open.pair_path == NULL && !tool_open_symbols(desc, &t->file))
        return false;
    t->text_addr = t->file.info.text_addr;
    t->text_exec_addr = t->file.info.text_exec_addr;
    a->target_count++;
    return true;
}

/* If the last target is a kernel collection, its images become targets before it. They count from where it
 * begins, and from the kernel's __TEXT_EXEC. */
static bool open_entries(atos *a, symbol_desc desc)
{
    size_t own = a->target_count - 1;
    target whole = a->targets[own];
    machsym_cursor at = {0, 0};
    machsym_entry entry;
    if (whole.file.image == NULL)
        return true;
    for (size_t i = 0; i < MAX_ENTRIES && machsym_image_next_entry(whole.file.image, &at, &entry); i++) {
        text name = {0};
        text_str(&name, entry.name);
        text_add(&name, "", 1);
        desc.open.entry = name.v;
        bool ok = open_target(a, &desc);
        if (ok && strcmp(name.v, "com.apple.kernel") == 0)
            whole.text_exec_addr = a->targets[a->target_count - 1].text_exec_addr;
        text_free(&name);
        if (!ok)
            return false;
    }
    memmove(&a->targets[own], &a->targets[own + 1], (a->target_count - 1 - own) * sizeof whole);
    a->targets[a->target_count - 1] = whole;
    for (size_t i = own; i < a->target_count; i++) {
        a->targets[i].text_addr = whole.text_addr;
        a->targets[i].text_exec_addr = whole.text_exec_addr;
    }
    return true;
}

/* Makes ready what looks addresses up, once no target moves any more. */
static bool open_sources(atos *a)
{
    for (size_t i = 0; i < a->target_count; i++) {
        target *t = &a->targets[i];
        t->source = symbol_source_open(&t->file, a->session_flags, 0);
        if (!map_can(a, t))
            return false;
        if (a->rules != NULL)
            t->owned = owners_open(a->rules, t->file.image, symbol_source_session(t->source));
        if (a->rules != NULL && t->owned == NULL)
            return false;
    }
    return true;
}

/* A second -o of the same UUID is the other half of the first: dSYM and binary answer together. */
static bool open_targets(atos *a)
{
    symbol_desc desc;
    text store = {0};
    memset(&desc, 0, sizeof desc);
    desc.open.arch = a->arch;
    desc.open.entry = a->entry;
    desc.open.uuid = a->has_uuid ? &a->uuid : NULL;
    desc.open.flags = a->copy ? MACHSYM_OPEN_COPY : 0;
    object_options_apply(&a->objects, &desc.open);
    desc.open.bytes = a->bytes;
    desc.lines = a->lines;
    desc.any_lines = !a->has_lines;
    desc.map_flags = a->map_flags;
    bool ok = a->bytes.ptr == NULL || open_target(a, &desc);
    if (a->store != NULL) {
        store_path(&store, a->store, &a->uuid);
        desc.open.path = store.v;
        ok = open_target(a, &desc);
    }
    for (size_t i = 0; i < a->path_count && ok; i++) {
        desc.open.path = a->paths[i];
        desc.open.pair_path = i + 1 < a->path_count && a->entry == NULL ? a->paths[i + 1] : NULL;
        if (desc.open.pair_path != NULL && open_target(a, &desc)) {
            i++;
            continue;
        }
        desc.open.pair_path = NULL;
        ok = open_target(a, &desc) && open_entries(a, desc);
    }
    text_free(&store);
    return ok && open_sources(a);
}

static void close_targets(atos *a)
{
    for (size_t i = 0; i < a->target_count; i++) {
        owners_close(a->targets[i].owned);
        symbol_source_close(a->targets[i].source);
        symbol_file_close(&a->targets[i].file);
    }
    free(a->targets);
}

/* The address in the file that a given one stands for. */
static uint64_t file_address(const atos *a, const target *t, uint64_t given)
{
    uint64_t in_collection = t->file.info.text_addr - t->text_addr;
    switch (a->kind) {
    case ADDRESS_LOAD: return symbol_file_addr(&t->file, a->base + in_collection, given);
    case ADDRESS_SLIDE: return symbol_file_addr(&t->file, t->file.info.text_addr + a->base, given);
    case ADDRESS_OFFSET: return symbol_file_addr(&t->file, in_collection, given);
    case ADDRESS_TEXT_EXEC: return given - a->base + t->text_exec_addr;
    default: return symbol_file_addr(&t->file, t->file.info.text_addr, given);
    }
}

/* Whether an address lies in what the program maps: any section but those of the debug info. */
static bool is_inside(const target *t, uint64_t addr)
{
    machsym_cursor at = {0, 0};
    machsym_section section;
    if (addr >= t->file.info.text_addr && addr - t->file.info.text_addr < t->file.info.text_size)
        return true;
    while (t->file.image != NULL && machsym_image_next_section(t->file.image, &at, &section)) {
        bool debug = section.segment.len == 7 && memcmp(section.segment.ptr, "__DWARF", 7) == 0;
        if (!debug && addr >= section.addr && addr - section.addr < section.size)
            return true;
    }
    return false;
}

static target *target_of(atos *a, uint64_t given, uint64_t *addr)
{
    for (size_t i = 0; i < a->target_count; i++) {
        *addr = file_address(a, &a->targets[i], given);
        if (is_inside(&a->targets[i], *addr))
            return &a->targets[i];
    }
    return NULL;
}

/* ---- Answers in atos's format ---- */

static void print_in_image(text *out, const target *t)
{
    text_c(out, " (in ");
    text_str(out, t->file.info.name);
    text_char(out, ')');
}

static void print_offset(text *out, uint64_t addr, const machsym_frame *frame)
{
    text_c(out, " + ");
    text_dec(out, addr - frame->function_start);
}

/* No name: the address itself, and how far it is from the start of its function when that is known. */
static void print_bare(text *out, const target *t, uint64_t given, uint64_t addr, const machsym_frame *frame)
{
    text_c(out, "0x");
    text_hex(out, given, t->file.info.address_size * 2);
    print_in_image(out, t);
    if (frame != NULL && frame->name_source == MACHSYM_SOURCE_FUNCTION_STARTS)
        print_offset(out, addr, frame);
}

/* Whose code it is, where a rule knows. */
static void print_owner(text *out, const target *t, uint64_t addr, const machsym_frame *frame)
{
    machsym_str owner = t->owned != NULL ? owners_find(t->owned, addr, frame) : (machsym_str){NULL, 0};
    if (owner.len == 0)
        return;
    text_c(out, " [");
    text_str(out, owner);
    text_char(out, ']');
}

static void print_frame(const atos *a, text *out, const target *t, uint64_t given, uint64_t addr,
                        const machsym_frame *frame)
{
    if (frame->linkage_name.len == 0 && frame->name.len == 0) {
        print_bare(out, t, given, addr, frame);
    } else {
        if (frame->name_source == MACHSYM_SOURCE_STUB)
            text_c(out, "DYLD-STUB$$");
        text_frame_name(out, frame, &a->style);
        print_in_image(out, t);
        if (!frame_has_line(frame))
            print_offset(out, addr, frame);
    }
    if (frame_has_line(frame)) {
        text_c(out, " (");
        text_frame_file(out, frame, a->style.full_path);
        text_char(out, ':');
        text_dec(out, frame->line);
        text_char(out, ')');
    }
    print_owner(out, t, addr, frame);
}

/* The other names of a function that the linker folded with those of the same code. */
static void print_folded(const atos *a, text *out, const target *t, uint64_t given, uint64_t addr,
                         const machsym_frame *frame)
{
    machsym_cursor at = {0, 0};
    machsym_str name;
    machsym_frame other = *frame;
    machsym_str own = frame->linkage_name.len != 0 ? frame->linkage_name : frame->name;
    while (machsym_session_next_alias(symbol_source_session(t->source), frame->function_start, &at, &name)) {
        if (name.len == own.len && (own.len == 0 || memcmp(name.ptr, own.ptr, own.len) == 0))
            continue;
        text_c(out, a->delimiter);
        other.linkage_name = name;
        print_frame(a, out, t, given, addr, &other);
    }
}

static void print_text(const atos *a, text *out, const target *t, uint64_t given, uint64_t addr, size_t count)
{
    if (count == 0) {
        print_bare(out, t, given, addr, NULL);
        print_owner(out, t, addr, NULL);
    }
    for (size_t i = a->inline_frames || count == 0 ? 0 : count - 1; i < count; i++) {
        print_frame(a, out, t, given, addr, &a->frames[i]);
        if (i + 1 < count)
            text_c(out, a->delimiter);
    }
    if (a->dedup && count > 0)
        print_folded(a, out, t, given, addr, &a->frames[count - 1]);
    text_char(out, '\n');
    if (a->inline_frames)
        text_char(out, '\n');
}

/* ---- JSON ---- */

static void print_json(const atos *a, text *out, const target *t, uint64_t given, uint64_t addr, size_t count)
{
    text_c(out, "{\"address\":\"0x");
    text_hex(out, given, 1);
    text_c(out, "\",\"image\":");
    text_json(out, t->file.info.name);
    text_c(out, ",\"uuid\":");
    if (t->file.info.has_uuid) {
        text_char(out, '"');
        text_uuid(out, &t->file.info.uuid);
        text_char(out, '"');
    } else {
        text_c(out, "null");
    }
    text_c(out, ",\"arch\":\"");
    text_c(out, t->file.info.arch);
    text_char(out, '"');
    machsym_str owner = {NULL, 0};
    if (t->owned != NULL)
        owner = owners_find(t->owned, addr, count > 0 ? &a->frames[0] : NULL);
    if (owner.len != 0) {
        text_c(out, ",\"owner\":");
        text_json(out, owner);
    }
    text_c(out, ",\"frames\":[");
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            text_char(out, ',');
        text_frame_json(out, &a->frames[i], addr, &a->style);
    }
    text_c(out, "]}\n");
}

static void print_unknown(const atos *a, text *out, const char *token, size_t len)
{
    if (a->json) {
        text_c(out, "{\"address\":");
        text_json(out, (machsym_str){token, len});
        text_c(out, ",\"image\":null,\"uuid\":null,\"arch\":null,\"frames\":[]}");
    } else {
        text_add(out, token, len);
    }
    text_char(out, '\n');
    if (a->inline_frames && !a->json)
        text_char(out, '\n');
}

/* ---- Explanation ---- */

static void explain_row(text *out, const machsym_line *row, bool used)
{
    text_c(out, used ? "  > 0x" : "    0x");
    text_hex(out, row->addr, 1);
    text_char(out, ' ');
    text_path(out, &row->file);
    text_char(out, ':');
    text_dec(out, row->line);
    text_char(out, ':');
    text_dec(out, row->column);
    text_c(out, row->is_stmt ? " is_stmt" : "");
    text_c(out, row->end_sequence ? " end_sequence" : "");
    text_char(out, '\n');
}

static void explain_unit(text *out, const machsym_explanation *e)
{
    static const char *const how[] = {"no unit covers it", "found by .debug_aranges",
                                      "found by the unit's own ranges",
                                      "found by its functions: it states no range, or another unit has it"};
    text_c(out, "  unit: ");
    text_c(out, how[e->unit_source]);
    if (e->unit_source != MACHSYM_UNIT_NONE) {
        text_c(out, ", .debug_info+0x");
        text_hex(out, e->unit_offset, 1);
        text_c(out, ", DWARF ");
        text_dec(out, e->unit_version);
        text_c(out, ", ");
        text_str(out, e->unit_name);
        text_c(out, "\n  producer: ");
        text_str(out, e->unit_producer);
    }
    if (e->object_path.len != 0) {
        text_c(out, "\n  object: ");
        text_str(out, e->object_path);
        text_c(out, e->object_member.len != 0 ? ", member " : "");
        text_str(out, e->object_member);
    }
    text_char(out, '\n');
}

static void explain_frame(const atos *a, text *out, const machsym_frame *frame)
{
    text_c(out, frame->is_inline ? "  inlined: " : "  function: ");
    text_frame_name(out, frame, &a->style);
    if (frame->die_offset != 0) {
        text_c(out, ", entry at .debug_info+0x");
        text_hex(out, frame->die_offset, 1);
    }
    text_c(out, ", 0x");
    text_hex(out, frame->function_start, 1);
    text_c(out, " + ");
    text_dec(out, frame->function_size);
    text_c(out, " bytes, name from ");
    text_c(out, machsym_source_name(frame->name_source));
    text_c(out, ", line from ");
    text_c(out, machsym_source_name(frame->line_source));
    text_char(out, '\n');
}

/* What in the file speaks against the answer. */
static void explain_doubts(text *out, const machsym_explanation *e)
{
    if (e->symbol_differs)
        text_c(out, "  doubt: the symbol table has another name or another start for this function\n");
    if (e->rival_count > 0) {
        text_c(out, "  doubt: other units have a function here too: ");
        text_dec(out, e->rival_count);
        text_c(out, "; the first one answers\n");
    }
    if (e->is_damaged)
        text_c(out, "  doubt: the unit is damaged; what could not be read of it is missing\n");
}

static void print_explanation(const atos *a, text *out, const target *t, uint64_t addr, size_t count)
{
    machsym_explanation e;
    text_c(out, "  slice: ");
    text_c(out, t->file.info.arch);
    text_c(out, " of ");
    text_c(out, t->file.info.path != NULL ? t->file.info.path : "memory");
    text_c(out, ", file address 0x");
    text_hex(out, addr, 1);
    text_char(out, '\n');
    if (t->file.map == NULL) {
        machsym_session_explain(symbol_source_session(t->source), addr, &e);
        explain_unit(out, &e);
    }
    for (size_t i = 0; i < count; i++)
        explain_frame(a, out, &a->frames[i]);
    if (t->file.map != NULL)
        return;
    text_c(out, e.row_count > 0 ? "  line rows:\n" : "  line rows: none at this address\n");
    for (unsigned i = 0; i < e.row_count; i++)
        explain_row(out, &e.rows[i], i == e.row_used);
    text_c(out, "  nearest symbol: ");
    if (e.has_symbol) {
        text_str(out, e.symbol.name);
        text_c(out, " 0x");
        text_hex(out, e.symbol.lo, 1);
        text_c(out, " to 0x");
        text_hex(out, e.symbol.hi, 1);
        text_c(out, ", from ");
        text_c(out, machsym_source_name(e.symbol.source));
    } else {
        text_c(out, "none");
    }
    text_char(out, '\n');
    explain_doubts(out, &e);
}

/* ---- One address ---- */

/* A word of the input, and where its answer lies. */
typedef struct token {
    size_t at;
    size_t len;
    uint64_t number;
    bool is_number;
    const text *answers;
    size_t answer_at;
    size_t answer_len;
} token;

/* Answers for a word of the input. */
static void answer(atos *a, text *out, const token *word, const char *written)
{
    uint64_t given = word->number;
    uint64_t addr = 0;
    target *t = word->is_number ? target_of(a, given, &addr) : NULL;
    if (t == NULL) {
        a->unresolved = true;
        print_unknown(a, out, written, word->len);
        return;
    }
    size_t count = symbol_source_frames(t->source, addr, a->frames, MAX_FRAMES);
    a->style.source = t->source;
    object_say_new(symbol_source_session(t->source), &t->objects);
    bool named =
        count > 0 && (a->frames[count - 1].linkage_name.len != 0 || a->frames[count - 1].name.len != 0);
    a->unresolved |= !named;
    if (a->json)
        print_json(a, out, t, given, addr, count);
    else
        print_text(a, out, t, given, addr, count);
    if (a->explain)
        print_explanation(a, out, t, addr, count);
}

/* ---- Many addresses ---- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

static size_t split(const char *input, size_t len, token **tokens)
{
    size_t count = 0;
    size_t cap = 0;
    for (size_t i = 0; i < len;) {
        size_t start;
        while (i < len && is_space(input[i]))
            i++;
        for (start = i; i < len && !is_space(input[i]);)
            i++;
        if (i == start)
            break;
        if (count == cap) {
            cap = cap == 0 ? 64 : cap * 2;
            *tokens = tool_grow(*tokens, cap * sizeof **tokens);
        }
        token *t = &(*tokens)[count++];
        t->at = start;
        t->len = i - start;
        t->number = 0;
        t->is_number = parse_hex(input + start, t->len, &t->number);
    }
    return count;
}

/* Sorts by number, 11 bits at a time from the lowest; room holds as many. Addresses agree in most bits, which
 * takes no pass: several times faster than qsort. */
static void sort_by_number(token **v, size_t count, token **room)
{
    enum { BITS = 11, DIGITS = 1 << BITS };
    uint64_t differ = 0;
    for (size_t i = 0; i < count; i++)
        differ |= v[i]->number ^ v[0]->number;
    for (unsigned shift = 0; shift < 64; shift += BITS) {
        size_t starts[DIGITS + 1] = {0};
        if ((differ >> shift & (DIGITS - 1)) == 0)
            continue;
        for (size_t i = 0; i < count; i++)
            starts[(v[i]->number >> shift & (DIGITS - 1)) + 1]++;
        for (size_t i = 0; i < DIGITS; i++)
            starts[i + 1] += starts[i];
        for (size_t i = 0; i < count; i++)
            room[starts[v[i]->number >> shift & (DIGITS - 1)]++] = v[i];
        memcpy(v, room, count * sizeof *v);
    }
}

/* What one thread answers of many addresses. */
typedef struct share {
    atos *a;
    const char *input;
    token **order;
    size_t count;
    text answers;
    pthread_t thread;
} share;

static void *answer_share(void *argument)
{
    share *s = argument;
    for (size_t i = 0; i < s->count; i++) {
        token *t = s->order[i];
        t->answers = &s->answers;
        t->answer_at = s->answers.len;
        answer(s->a, &s->answers, t, s->input + t->at);
        t->answer_len = s->answers.len - t->answer_at;
    }
    return NULL;
}

/* What the options say, for another thread: with lookups of its own. */
static atos *clone_atos(const atos *a)
{
    atos *copy = tool_alloc(sizeof *copy);
    *copy = *a;
    copy->targets = tool_alloc(a->target_count * sizeof *copy->targets);
    memcpy(copy->targets, a->targets, a->target_count * sizeof *copy->targets);
    for (size_t i = 0; i < a->target_count; i++)
        copy->targets[i].source = symbol_source_open(&copy->targets[i].file, a->session_flags, BATCH_CACHE);
    return copy;
}

static void close_clone(atos *a, atos *copy)
{
    a->unresolved |= copy->unresolved;
    for (size_t i = 0; i < a->target_count; i++)
        symbol_source_close(copy->targets[i].source);
    free(copy->targets);
    free(copy);
}

/* How many threads are worth it. Owners, explanations and object files keep state of their own: one. */
static size_t thread_count(const atos *a, size_t count)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t most = cores < 1 ? 1 : cores > MAX_THREADS ? MAX_THREADS : (size_t)cores;
    for (size_t i = 0; i < a->target_count; i++) {
        if (a->targets[i].file.image != NULL && !a->targets[i].file.info.has_dwarf)
            most = 1;
    }
    return a->rules != NULL || a->explain || count < THREAD_WORTH ? 1 : most;
}

/* Many at a time: a call of the system for every 4 KB, which stdout gathers, would take a tenth as long as answering. */
static void print_answers(const token *tokens, size_t count)
{
    text out = {0};
    for (size_t i = 0; i < count; i++) {
        text_add(&out, tokens[i].answers->v + tokens[i].answer_at, tokens[i].answer_len);
        if (out.len >= PRINT_BYTES || i + 1 == count) {
            fwrite(out.v, 1, out.len, stdout);
            out.len = 0;
        }
    }
    fflush(stdout);
    text_free(&out);
}

/* Answers the words of input in the order of their addresses, so that every unit is decoded once, and prints
 * them in the order given. Of many, each thread takes those that follow each other. */
static void answer_all(atos *a, const char *input, size_t len)
{
    token *tokens = NULL;
    share shares[MAX_THREADS];
    size_t count = split(input, len, &tokens);
    size_t threads = thread_count(a, count);
    token **order = tool_alloc(2 * count * sizeof *order);
    for (size_t i = 0; i < count; i++)
        order[i] = &tokens[i];
    sort_by_number(order, count, order + count);
    memset(shares, 0, sizeof shares);
    for (size_t i = 0; i < threads; i++) {
        size_t first = count * i / threads;
        shares[i] = (share){.a = i == 0 ? a : clone_atos(a),
                            .input = input,
                            .order = order + first,
                            .count = count * (i + 1) / threads - first};
    }
    for (size_t i = 1; i < threads; i++) {
        if (pthread_create(&shares[i].thread, NULL, answer_share, &shares[i]) != 0) {
            tool_say("no thread can be made");
            exit(TOOL_ERROR);
        }
    }
    answer_share(&shares[0]);
    for (size_t i = 1; i < threads; i++) {
        pthread_join(shares[i].thread, NULL);
        close_clone(a, shares[i].a);
    }
    print_answers(tokens, count);
    for (size_t i = 0; i < threads; i++)
        text_free(&shares[i].answers);
    free(order);
    free(tokens);
}

static bool more_soon(int fd)
{
    struct pollfd wait = {fd, POLLIN, 0};
    return poll(&wait, 1, 5) > 0;
}

/* Answers whole lines as they come. A writer that fills the pipe is given a moment to go on: many addresses
 * at once are cheaper. One that asks a line at a time gets its answer at once. */
static int answer_stream(atos *a, int fd)
{
    text input = {0};
    char *chunk = tool_alloc(READ_SIZE);
    ssize_t got;
    while ((got = read(fd, chunk, READ_SIZE)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            tool_say("the addresses cannot be read: %s", strerror(errno));
            break;
        }
        text_add(&input, chunk, (size_t)got);
        if (got >= 4096 && input.len < BATCH_BYTES && more_soon(fd))
            continue;
        size_t whole = input.len;
        while (whole > 0 && input.v[whole - 1] != '\n')
            whole--;
        answer_all(a, input.v, whole);
        memmove(input.v, input.v + whole, input.len - whole);
        input.len -= whole;
    }
    answer_all(a, input.v, input.len);
    text_free(&input);
    free(chunk);
    return got < 0 ? TOOL_ERROR : TOOL_OK;
}

/* ---- Options ---- */

/* Returns false after a message when a second way to count addresses is named, or the number is none. */
static bool set_kind(atos *a, address_kind kind, const char *number)
{
    bool negative = number != NULL && number[0] == '-';
    if (a->kind != ADDRESS_FILE) {
        fputs("Only one of -s, -l, -textExecAddress or -offset can be passed\n", stderr);
        return false;
    }
    a->kind = kind;
    if (number != NULL && !parse_hex(number + negative, strlen(number + negative), &a->base)) {
        tool_say("%s is no hexadecimal address", number);
        return false;
    }
    if (negative)
        a->base = 0 - a->base;
    return true;
}

typedef struct flag_option {
    const char *name;
    size_t at; /* of a bool in atos */
} flag_option;

static bool set_flag(atos *a, const options *o, const char *name)
{
    static const flag_option flags[] = {
        {"i", offsetof(atos, inline_frames)},
        {"inlineFrames", offsetof(atos, inline_frames)},
        {"dedup", offsetof(atos, dedup)},
        {"json", offsetof(atos, json)},
        {"explain", offsetof(atos, explain)},
        {"check", offsetof(atos, check)},
        {"copy", offsetof(atos, copy)},
        {"fullPath", offsetof(atos, style.full_path)},
        {"full-path", offsetof(atos, style.full_path)},
        {"no-demangle", offsetof(atos, style.raw_names)},
    };
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        if (options_is(o, name, flags[i].name)) {
            bool yes = true;
            memcpy((char *)a + flags[i].at, &yes, sizeof yes);
            return true;
        }
    }
    return false;
}

/* Takes one option. Returns false after a message. */
static bool set_option(atos *a, options *o, const char *name)
{
    bool ok;
    if (set_flag(a, o, name) || options_is(o, name, "printHeader"))
        return true;
    if (object_option(&a->objects, o, name, &ok))
        return ok;
    if (options_is(o, name, "o")) {
        if (a->path_count == sizeof a->paths / sizeof a->paths[0]) {
            tool_say("at most %zu -o", a->path_count);
            return false;
        }
        a->paths[a->path_count++] = options_value(o, "o");
        return true;
    }
    if (options_is(o, name, "l"))
        return set_kind(a, ADDRESS_LOAD, options_value(o, "l"));
    if (options_is(o, name, "s"))
        return set_kind(a, ADDRESS_SLIDE, options_value(o, "s"));
    if (options_is(o, name, "textExecAddress"))
        return set_kind(a, ADDRESS_TEXT_EXEC, options_value(o, "textExecAddress"));
    if (options_is(o, name, "offset"))
        return set_kind(a, ADDRESS_OFFSET, NULL);
    if (options_is(o, name, "p")) {
        options_value(o, "p");
        tool_say("-p looks into a running macOS process, which this system has none of; name its file with "
                 "-o and where "
                 "it was loaded with -l");
        return false;
    }
    if (options_is(o, name, "arch"))
        a->arch = options_value(o, "arch");
    else if (options_is(o, name, "d"))
        a->delimiter = options_value(o, "d");
    else if (options_is(o, name, "entry"))
        a->entry = options_value(o, "entry");
    else if (options_is(o, name, "store"))
        a->store = options_value(o, "store");
    else if (options_is(o, name, "f"))
        a->input = options_value(o, "f");
    else if (options_is(o, name, "owners")) {
        a->rules = a->rules != NULL ? a->rules : owners_new();
        return owners_read(a->rules, options_value(o, "owners"));
    } else if (options_is(o, name, "best-line"))
        a->session_flags |= MACHSYM_SESSION_BEST_LINE;
    else if (options_is(o, name, "full-names"))
        a->style.demangle_flags &= ~(uint32_t)MACHSYM_DEMANGLE_SIMPLIFIED;
    else if (options_is(o, name, "uuid")) {
        a->has_uuid = parse_uuid(options_value(o, "uuid"), &a->uuid);
        if (!a->has_uuid)
            tool_say("--uuid wants 32 hexadecimal digits, with or without dashes");
        return a->has_uuid;
    } else if (options_is(o, name, "lines")) {
        a->has_lines = parse_lines(options_value(o, "lines"), &a->lines);
        if (!a->has_lines)
            tool_say("--lines is one of atos, dwarf, stmt");
        return a->has_lines;
    } else {
        tool_say("no such option: -%s; see machsym atos --help", name);
        return false;
    }
    return true;
}

static int run(atos *a, char **addresses, size_t address_count)
{
    text out = {0};
    if (address_count > 0) {
        for (size_t i = 0; i < address_count; i++) {
            token word = {.len = strlen(addresses[i])};
            word.is_number = parse_hex(addresses[i], word.len, &word.number);
            answer(a, &out, &word, addresses[i]);
        }
        fwrite(out.v, 1, out.len, stdout);
        text_free(&out);
        return TOOL_OK;
    }
    int fd = a->input != NULL ? open(a->input, O_RDONLY) : STDIN_FILENO;
    if (fd < 0) {
        tool_say("%s: %s", a->input, strerror(errno));
        return TOOL_ERROR;
    }
    int status = answer_stream(a, fd);
    if (a->input != NULL)
        close(fd);
    return status;
}

int atos_main(int argc, char **argv, bool file_first, machsym_bytes bytes)
{
    static atos a;
    options o = {argc, argv, 0, false};
    const char *name;
    const char *operand;
    char **addresses = tool_alloc((size_t)argc * sizeof *addresses);
    size_t address_count = 0;
    int status = TOOL_ERROR;
    memset(&a, 0, sizeof a);
    a.bytes = bytes;
    a.delimiter = "\n";
    a.style.demangle_flags = MACHSYM_DEMANGLE_SIMPLIFIED;
    while (options_next(&o, &name, &operand)) {
        if (operand != NULL && file_first && a.path_count == 0) {
            a.paths[a.path_count++] = operand;
        } else if (operand != NULL) {
            addresses[address_count++] = argv[o.at];
        } else if (options_is(&o, name, "help") || options_is(&o, name, "h")) {
            fputs(usage, stdout);
            free(addresses);
            return TOOL_OK;
        } else if (!set_option(&a, &o, name)) {
            free(addresses);
            return TOOL_ERROR;
        }
    }
    a.map_flags =
        address_count > 0 ? MACHSYM_MAP_UNCHECKED : 0; /* reading it all would take longer than to answer */
    if (a.store != NULL && !a.has_uuid)
        tool_say("--store needs --uuid: which image to look for");
    else if (a.path_count == 0 && a.bytes.ptr == NULL && a.store == NULL)
        fputs(usage, stderr);
    else if (open_targets(&a))
        status = run(&a, addresses, address_count);
    close_targets(&a);
    owners_free(a.rules);
    free(addresses);
    return status == TOOL_OK && a.check && a.unresolved ? TOOL_UNRESOLVED : status;
}

int cmd_atos(int argc, char **argv)
{
    return atos_main(argc, argv, false, (machsym_bytes){NULL, 0});
}
