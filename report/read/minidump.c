/* Minidumps; see minidump.h. Layouts: learn.microsoft.com, minidumpapiset.h; minidump_format.h of Breakpad;
 * minidump_extensions.h of Crashpad. All numbers are little endian. */
#include "minidump.h"
#include "../base/json.h"
#include "../model/report.h"
#include "decoded.h"

#include <string.h>

/* The magic of the format, and its version. */
static const char minidump_magic[] = "MDMP\x93\xa7";
enum { MINIDUMP_HEADER_SIZE = 32, ENTRY_SIZE = 12 };

/* The kinds of streams, and their numbers in a dump. */
enum {
    STREAM_THREADS,
    STREAM_MODULES,
    STREAM_MEMORY,
    STREAM_EXCEPTION,
    STREAM_SYSTEM,
    STREAM_MEMORY64,
    STREAM_UNLOADED,
    STREAM_MISC,
    STREAM_NAMES,
    STREAM_CRASHPAD,
    STREAM_BREAKPAD,
    STREAM_ASSERTION,
    STREAM_COUNT
};
static const uint32_t stream_numbers[STREAM_COUNT] = {3,  4,  5,  6,          7,          9,
                                                      14, 15, 24, 0x43500001, 0x47670001, 0x47670002};

/* Sizes of records. */
enum {
    THREAD_SIZE = 48,
    MODULE_SIZE = 108,
    RANGE_SIZE = 16,
    NAME_SIZE = 12,
    PAIR_SIZE = 8,
    OBJECT_SIZE = 12
};

/* Operating systems by number: Microsoft's, and from 0x8000 on Breakpad's. */
enum {
    PLATFORM_NT = 2,
    PLATFORM_MAC = 0x8101,
    PLATFORM_IOS = 0x8102,
    PLATFORM_LINUX = 0x8201,
    PLATFORM_ANDROID = 0x8203
};

/* Processors by number. The last one is Breakpad's first number for arm64. */
enum { PROCESSOR_AMD64 = 9, PROCESSOR_ARM64 = 12, PROCESSOR_ARM64_OLD = 0x8003, PROCESSOR_UNKNOWN = 0xffff };

/* Mach's exceptions, and two numbers of Crashpad's: a dump without a crash, and an uncaught exception. */
enum {
    MACH_BAD_ACCESS = 1,
    MACH_BAD_INSTRUCTION = 2,
    MACH_ARITHMETIC = 3,
    MACH_SOFTWARE = 5,
    MACH_BREAKPOINT = 6,
    MACH_CRASH = 10,
    MACH_RESOURCE = 11,
    MACH_GUARD = 12,
    CRASHPAD_SIMULATED = 0x43507378,
    CRASHPAD_THROWN = 0x43506e78
};

/* The dump that is read. */
typedef struct minidump {
    machsym_str in;
    machsym_str streams[STREAM_COUNT]; /* empty: absent */
    uint32_t platform;                 /* 0: unknown */
    uint32_t processor;
    machsym_str thrown;
    machsym_str reason;
    machsym_str version;
    dump d;
} minidump;

bool minidump_is(machsym_str input)
{
    return input.len >= sizeof minidump_magic - 1 &&
           memcmp(input.ptr, minidump_magic, sizeof minidump_magic - 1) == 0;
}

/* ---- Values ---- */

/* Reads a number of a record. The caller has checked the length. */
static uint64_t minidump_get(machsym_str s, size_t at, size_t size)
{
    uint64_t value = 0;
    for (size_t i = size; i-- > 0;)
        value = value << 8 | (unsigned char)s.ptr[at + i];
    return value;
}

static uint32_t minidump_u32(machsym_str s, size_t at)
{
    return (uint32_t)minidump_get(s, at, 4);
}

static uint64_t minidump_u64(machsym_str s, size_t at)
{
    return minidump_get(s, at, 8);
}

static size_t minidump_place(const minidump *m, machsym_str s)
{
    return (size_t)(s.ptr - m->in.ptr);
}

/* Returns bytes of the file, without those past its end. field: the record that holds their place. */
static machsym_str minidump_bytes(minidump *m, machsym_str field, uint64_t at, uint64_t size,
                                  const char *what)
{
    uint64_t left = at < m->in.len ? m->in.len - at : 0;
    if (size > left)
        dump_note(&m->d, minidump_place(m, field), what);
    return str_make(m->in.ptr + (left > 0 ? (size_t)at : 0), (size_t)(size < left ? size : left));
}

/* Returns the bytes of a location (a size and an offset) in a record. */
static machsym_str minidump_located(minidump *m, machsym_str record, size_t at, const char *what)
{
    return minidump_bytes(m, str_from(record, at), minidump_u32(record, at + 4), minidump_u32(record, at),
                          what);
}

/* Returns the bytes of a text: a length, and as many bytes. Offset 0 means no text. */
static machsym_str minidump_text_bytes(minidump *m, machsym_str field, uint64_t at)
{
    static const char what[] = "a text lies outside the file";
    machsym_str head = at != 0 ? minidump_bytes(m, field, at, 4, what) : str_make(m->in.ptr, 0);
    return head.len == 4 ? minidump_bytes(m, field, at + 4, minidump_u32(head, 0), what)
                         : str_make(head.ptr, 0);
}

static machsym_str minidump_utf8(minidump *m, machsym_str field, uint64_t at)
{
    return dump_take_text(&m->d, minidump_text_bytes(m, field, at), minidump_place(m, field));
}

/* Converts UTF-16 up to its end or a NUL. An unpaired surrogate becomes U+FFFD. Reading stops once the text
 * is too long to be taken. */
static machsym_str minidump_from_utf16(minidump *m, machsym_str s)
{
    text t = text_in(m->d.memory_source);
    for (size_t at = 0; at + 2 <= s.len && t.len <= m->d.text_left; at += 2) {
        uint32_t c = (uint32_t)minidump_get(s, at, 2);
        uint32_t low =
            c >= 0xd800 && c < 0xdc00 && at + 4 <= s.len ? (uint32_t)minidump_get(s, at + 2, 2) : 0;
        if (c == 0)
            break;
        if (low >= 0xdc00 && low < 0xe000) {
            c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
            at += 2;
        }
        text_utf8(&t, c >= 0xd800 && c < 0xe000 ? 0xfffd : c);
    }
    MACHSYM_COUNT_WORK(1 + t.len / 16);
    machsym_str taken = dump_take_text(&m->d, str_make(t.v, t.len), minidump_place(m, s));
    text_free(&t);
    return taken;
}

static machsym_str minidump_utf16(minidump *m, machsym_str field, uint64_t at)
{
    return minidump_from_utf16(m, minidump_text_bytes(m, field, at));
}

/* In Microsoft's order the first three numbers of a UUID are little endian. */
static machsym_uuid minidump_uuid(machsym_str s, size_t at)
{
    static const uint8_t order[] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
    machsym_uuid uuid;
    for (size_t i = 0; i < sizeof uuid.v; i++)
        uuid.v[i] = (uint8_t)s.ptr[at + order[i]];
    return uuid;
}

static bool minidump_is_apple(const minidump *m)
{
    return m->platform == PLATFORM_MAC || m->platform == PLATFORM_IOS;
}

/* ---- Lists ---- */

/* Records of equal size that lie completely in the file. */
typedef struct minidump_list {
    const char *p;
    size_t size;
    uint32_t count;
} minidump_list;

/* Reads a count and the records after it. In some lists Breakpad aligns the records to eight bytes; such a
 * list is exactly that much longer. */
static minidump_list minidump_list_of(minidump *m, machsym_str s, size_t size)
{
    minidump_list list = {s.ptr, size, 0};
    if (s.len < 4) {
        if (s.len > 0)
            dump_note(&m->d, minidump_place(m, s), "a list is cut short");
        return list;
    }
    uint64_t count = minidump_u32(s, 0);
    size_t first = s.len >= 8 && (uint64_t)(s.len - 8) == count * size ? 8 : 4;
    uint64_t fits = (s.len - first) / size;
    if (count > fits)
        dump_note(&m->d, minidump_place(m, s), "a list is longer than what holds it");
    list.p += first;
    list.count = (uint32_t)(count < fits ? count : fits);
    return list;
}

static machsym_str minidump_record(const minidump_list *list, uint32_t index)
{
    return str_make(list->p + list->size * index, list->size);
}

/* ---- The header ---- */

/* Of several streams of one kind, the first counts. */
static void minidump_find_streams(minidump *m)
{
    machsym_str at = str_from(m->in, 8);
    uint64_t count = minidump_u32(m->in, 8);
    machsym_str all = minidump_bytes(m, at, minidump_u32(m->in, 12), count * ENTRY_SIZE,
                                     "the list of streams reaches past the end of the file");
    for (size_t i = 0; i + ENTRY_SIZE <= all.len; i += ENTRY_SIZE) {
        machsym_str entry = str_make(all.ptr + i, ENTRY_SIZE);
        for (size_t k = 0; k < STREAM_COUNT; k++) {
            if (minidump_u32(entry, 0) == stream_numbers[k] && m->streams[k].len == 0)
                m->streams[k] = minidump_located(m, entry, 4, "a stream reaches past the end of the file");
        }
    }
}

/* Returns a stream with at least `least` bytes; empty if it is absent or shorter. */
static machsym_str minidump_stream(minidump *m, size_t kind, size_t least)
{
    machsym_str s = m->streams[kind];
    if (s.len > 0 && s.len < least)
        dump_note(&m->d, minidump_place(m, s), "a stream is cut short");
    return s.len >= least ? s : str_make(m->in.ptr, 0);
}

static void minidump_put_os(minidump *m, text *t)
{
    static const struct {
        uint32_t platform;
        const char *name;
    } names[] = {{PLATFORM_MAC, "macOS "},
                 {PLATFORM_IOS, "iPhone OS "},
                 {PLATFORM_NT, "Windows "},
                 {PLATFORM_LINUX, "Linux "},
                 {PLATFORM_ANDROID, "Android "}};
    machsym_str s = minidump_stream(m, STREAM_SYSTEM, 28);
    if (s.len == 0)
        return;
    machsym_str build = minidump_utf16(m, str_from(s, 24), minidump_u32(s, 24));
    decoded_put_key(t, "OS Version");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        text_c(t, names[i].platform == m->platform ? names[i].name : "");
    text_dec(t, minidump_u32(s, 8));
    text_char(t, '.');
    text_dec(t, minidump_u32(s, 12));
    if (minidump_u32(s, 16) != 0) {
        text_char(t, '.');
        text_dec(t, minidump_u32(s, 16));
    }
    text_c(t, build.len > 0 ? " (" : "");
    text_shown(t, build);
    text_c(t, build.len > 0 ? ")\n" : "\n");
}

static const char *minidump_arch(const minidump *m)
{
    if (m->processor == PROCESSOR_AMD64)
        return "x86_64";
    return m->processor == PROCESSOR_ARM64 || m->processor == PROCESSOR_ARM64_OLD ? "arm64" : NULL;
}

static void minidump_put_id(text *t, const char *key, machsym_str s, size_t at)
{
    static const machsym_uuid none = {0};
    machsym_uuid uuid = minidump_uuid(s, at);
    if (memcmp(&uuid, &none, sizeof none) == 0)
        return;
    decoded_put_key(t, key);
    text_uuid(t, &uuid);
    text_char(t, '\n');
}

/* The first module is the program. */
static void minidump_put_program(minidump *m, text *t)
{
    enum { HAS_PID = 1, HAS_TIMES = 2 };
    machsym_str misc = minidump_stream(m, STREAM_MISC, 16);
    uint32_t flags = misc.len > 0 ? minidump_u32(misc, 4) : 0;
    machsym_str path = m->d.image_count > 0 ? m->d.images[0].path : str_make(NULL, 0);
    const char *type = decoded_code_type(minidump_arch(m));
    if (path.len > 0) {
        decoded_put_key(t, "Process");
        text_shown(t, str_base_name(path));
        if ((flags & HAS_PID) != 0) {
            text_c(t, " [");
            text_dec(t, minidump_u32(misc, 8));
            text_char(t, ']');
        }
        text_char(t, '\n');
    }
    decoded_put_text(t, "Path", path);
    decoded_put_text(t, "Version", m->version);
    if (type != NULL)
        decoded_put_text(t, "Code Type", str_c(type));
    text_char(t, '\n');
    decoded_put_time(t, "Date/Time", minidump_u32(m->in, 20));
    decoded_put_time(t, "Launch Time", (flags & HAS_TIMES) != 0 ? minidump_u32(misc, 12) : 0);
    minidump_put_os(m, t);
    decoded_put_text(t, "Report Version", str_c("104"));
}

/* ---- Images and memory ---- */

/* The UUID of a Mach-O file is in the record that for Windows programs names the PDB. */
static void minidump_read_identity(minidump *m, machsym_str record, decoded_image *image)
{
    enum { UUID_AT = 4, PDB_SIZE = 24 };
    machsym_str cv = minidump_located(m, record, 76, "the identity of an image lies outside the file");
    bool is_elf = str_starts(cv, "LEpB") || m->platform == PLATFORM_LINUX || m->platform == PLATFORM_ANDROID;
    if (is_elf || m->platform == PLATFORM_NT)
        image->other = is_elf ? "ELF" : "PE";
    else if (cv.len >= PDB_SIZE && str_starts(cv, "RSDS"))
        image->uuid = minidump_uuid(cv, UUID_AT);
}

static void minidump_read_modules(minidump *m)
{
    minidump_list list = minidump_list_of(m, m->streams[STREAM_MODULES], MODULE_SIZE);
    for (uint32_t i = 0; i < list.count; i++) {
        machsym_str record = minidump_record(&list, i);
        decoded_image *image = dump_add_image(&m->d);
        uint64_t size = minidump_u32(record, 8);
        image->base = minidump_u64(record, 0);
        image->end = size <= UINT64_MAX - image->base ? image->base + size : UINT64_MAX;
        if (size > UINT64_MAX - image->base)
            dump_note(&m->d, minidump_place(m, record), "an image reaches past the last address");
        image->path = minidump_utf16(m, str_from(record, 20), minidump_u32(record, 20));
        image->arch = minidump_arch(m);
        minidump_read_identity(m, record, image);
    }
}

/* Modules that were unloaded. The list has a header, whose size it tells, as it tells that of its records. One
 * without a name or without code tells nothing. */
static void minidump_read_unloaded(minidump *m)
{
    enum { HEADER = 12, SIZE = 24 };
    machsym_str s = minidump_stream(m, STREAM_UNLOADED, HEADER);
    size_t first = s.len > 0 ? minidump_u32(s, 0) : 0;
    size_t size = s.len > 0 ? minidump_u32(s, 4) : 0;
    uint64_t count = s.len > 0 ? minidump_u32(s, 8) : 0;
    if (count > 0 && (first < HEADER || first > s.len || size < SIZE || count > (s.len - first) / size)) {
        dump_note(&m->d, minidump_place(m, s), "a list is longer than what holds it");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        machsym_str record = str_make(s.ptr + first + size * i, size);
        uint64_t length = minidump_u32(record, 8);
        machsym_str path = minidump_utf16(m, str_from(record, 20), minidump_u32(record, 20));
        if (path.len == 0 || length == 0)
            continue;
        decoded_image *image = dump_add_image(&m->d);
        image->base = minidump_u64(record, 0);
        image->end = length <= UINT64_MAX - image->base ? image->base + length : UINT64_MAX;
        image->path = path;
        image->arch = minidump_arch(m);
        image->other = "unloaded";
        image->is_unloaded = true;
    }
}

static void minidump_add_memory(minidump *m, machsym_str record, uint64_t base, machsym_str bytes)
{
    if (bytes.len > UINT64_MAX - base) {
        dump_note(&m->d, minidump_place(m, record), "memory reaches past the last address");
        bytes.len = (size_t)(UINT64_MAX - base);
    }
    dump_add_memory(&m->d, base, bytes);
}

/* A record of an address and the location of the memory there. */
static void minidump_read_range(minidump *m, machsym_str record)
{
    minidump_add_memory(m, record, minidump_u64(record, 0),
                        minidump_located(m, record, 8, "memory lies outside the file"));
}

/* Reads ranges whose bytes follow each other from one place of the file on. */
static void minidump_read_memory64(minidump *m)
{
    machsym_str s = minidump_stream(m, STREAM_MEMORY64, 16);
    uint64_t count = s.len > 0 ? minidump_u64(s, 0) : 0;
    uint64_t at = s.len > 0 ? minidump_u64(s, 8) : 0;
    if (s.len > 0 && count > (s.len - 16) / RANGE_SIZE) {
        dump_note(&m->d, minidump_place(m, s), "a list is longer than what holds it");
        count = (s.len - 16) / RANGE_SIZE;
    }
    for (size_t i = 0; i < count; i++) {
        machsym_str record = str_make(s.ptr + 16 + RANGE_SIZE * i, RANGE_SIZE);
        machsym_str bytes =
            minidump_bytes(m, record, at, minidump_u64(record, 8), "memory lies outside the file");
        minidump_add_memory(m, record, minidump_u64(record, 0), bytes);
        at += bytes.len; /* stays in the file */
    }
}

static void minidump_read_memory(minidump *m)
{
    minidump_list list = minidump_list_of(m, m->streams[STREAM_MEMORY], RANGE_SIZE);
    for (uint32_t i = 0; i < list.count; i++)
        minidump_read_range(m, minidump_record(&list, i));
    minidump_read_memory64(m);
}

/* ---- Threads ---- */

#define AMD64(name, at)                                                                                      \
    {                                                                                                        \
        name, at, 8, DUMP_INTEGER                                                                            \
    }
static const dump_register amd64_rows[] = {AMD64("rax", 0x78),
                                           AMD64("rbx", 0x90),
                                           AMD64("rcx", 0x80),
                                           AMD64("rdx", 0x88),
                                           AMD64("rdi", 0xb0),
                                           AMD64("rsi", 0xa8),
                                           AMD64("rbp", 0xa0),
                                           {"rsp", 0x98, 8, DUMP_CONTROL},
                                           AMD64("r8", 0xb8),
                                           AMD64("r9", 0xc0),
                                           AMD64("r10", 0xc8),
                                           AMD64("r11", 0xd0),
                                           AMD64("r12", 0xd8),
                                           AMD64("r13", 0xe0),
                                           AMD64("r14", 0xe8),
                                           AMD64("r15", 0xf0),
                                           {"rip", 0xf8, 8, DUMP_CONTROL},
                                           {"rfl", 0x44, 4, DUMP_CONTROL}};
static const dump_register minidump_arm64_rows[] = {DUMP_ARM64(8, 4)};
static const dump_register arm64_old_rows[] = {DUMP_ARM64(8, 272)};

#define ROWS(v)     v, sizeof v / sizeof *v
#define ARM64_WORDS DUMP_CPU_ARM64, "arm64", "ARM Thread State (64-bit)", "pc", "sp", "fp", "lr"
static const dump_layout amd64_layout = {
    DUMP_CPU_X86_64, "x86_64", "X86 Thread State (64-bit)", "rip", "rsp", "rbp", NULL, ROWS(amd64_rows)};
static const dump_layout minidump_arm64_layout = {ARM64_WORDS, ROWS(minidump_arm64_rows)};
static const dump_layout arm64_old_layout = {ARM64_WORDS, ROWS(arm64_old_rows)};

/* Register contexts, recognised by a bit of their flags. In Breakpad's own arm64 context, the second bit says
 * that all registers are present. */
static const struct {
    const dump_layout *layout;
    size_t flags_at;
    uint32_t flag;
    size_t size; /* up to the last register */
    bool is_whole;
} contexts[] = {{&minidump_arm64_layout, 0, 0x400000, 272, false},
                {&arm64_old_layout, 0, 0x80000000, 276, true},
                {&amd64_layout, 48, 0x100000, 256, false}};

/* Whether a dump may have contexts of a layout. */
static bool minidump_fits(const minidump *m, const dump_layout *layout)
{
    const char *arch = minidump_arch(m);
    return m->processor == PROCESSOR_UNKNOWN || (arch != NULL && strcmp(arch, layout->arch) == 0);
}

static void minidump_read_state(minidump *m, machsym_str record, size_t at, dump_state *state)
{
    machsym_str bytes = minidump_located(m, record, at, "registers lie outside the file");
    for (size_t i = 0; i < sizeof contexts / sizeof *contexts; i++) {
        const dump_layout *layout = contexts[i].layout;
        if (bytes.len < contexts[i].size || !minidump_fits(m, layout))
            continue;
        uint32_t flags = minidump_u32(bytes, contexts[i].flags_at);
        if ((flags & contexts[i].flag) == 0)
            continue;
        state->layout = layout;
        state->bytes = bytes;
        state->groups = !contexts[i].is_whole ? flags & DUMP_ALL : (flags & DUMP_INTEGER) != 0 ? DUMP_ALL : 0;
        m->d.cputype = layout->cputype;
        return;
    }
    if (bytes.len > 0)
        dump_note(&m->d, minidump_place(m, str_from(record, at)),
                  "registers are damaged, or of a processor that is neither arm64 nor x86_64");
}

static void minidump_read_threads(minidump *m)
{
    minidump_list list = minidump_list_of(m, m->streams[STREAM_THREADS], THREAD_SIZE);
    for (uint32_t i = 0; i < list.count; i++) {
        machsym_str record = minidump_record(&list, i);
        dump_thread *thread = dump_add_thread(&m->d);
        thread->id = minidump_u32(record, 0);
        minidump_read_range(m, str_from(record, 24));
        minidump_read_state(m, record, 40, &thread->state);
    }
}

/* Names have a list of their own, in any order. */
static void minidump_read_names(minidump *m)
{
    minidump_list list = minidump_list_of(m, m->streams[STREAM_NAMES], NAME_SIZE);
    for (uint32_t i = 0; i < list.count; i++) {
        machsym_str record = minidump_record(&list, i);
        dump_thread *thread = dump_find_thread(&m->d, minidump_u32(record, 0));
        if (thread != NULL && thread->name.len == 0)
            thread->name = minidump_utf16(m, str_from(record, 4), minidump_u64(record, 4));
    }
}

/* ---- The exception ---- */

typedef struct minidump_event {
    uint32_t type;
    uint64_t signal; /* 0: unknown */
    uint64_t code[2];
} minidump_event;

/* Returns the signal that the kernel makes from a Mach exception. */
static uint64_t minidump_signal_of(const minidump_event *e)
{
    enum { INVALID_ADDRESS = 1, GENERAL_PROTECTION = 13, SOFT_SIGNAL = 0x10003 };
    enum { ILL = 4, TRAPPED = 5, FPE = 8, BUS = 10, SEGV = 11 };
    switch (e->type) {
    case MACH_BAD_ACCESS:
        return e->code[0] == INVALID_ADDRESS || e->code[0] == GENERAL_PROTECTION ? SEGV : BUS;
    case MACH_BAD_INSTRUCTION: return ILL;
    case MACH_ARITHMETIC: return FPE;
    case MACH_SOFTWARE: return e->code[0] == SOFT_SIGNAL ? e->code[1] : 0;
    case MACH_BREAKPOINT: return TRAPPED;
    default: return 0;
    }
}

/* Crashpad keeps the kernel's exception in the parameters: its number and its two codes. Its other fields,
 * and older Breakpads, have the number, the low half of the first code and an address. The first code of
 * EXC_CRASH holds its origin: signal << 24 | exception << 20 | code. */
static minidump_event minidump_event_of(machsym_str s)
{
    enum { ABRT = 6, PARAMETERS_AT = 40 };
    minidump_event e = {minidump_u32(s, 8), 0, {minidump_u32(s, 12), 0}};
    uint32_t count = minidump_u32(s, 32);
    uint64_t first = minidump_u64(s, PARAMETERS_AT);
    bool is_told = count >= 3 && (first == e.type || first == MACH_CRASH);
    if (is_told || count == 2) {
        e.code[0] = minidump_u64(s, PARAMETERS_AT + (is_told ? 8 : 0));
        e.code[1] = minidump_u64(s, PARAMETERS_AT + (is_told ? 16 : 8));
    } else if (e.type == MACH_BAD_ACCESS) {
        e.code[1] = minidump_u64(s, 24);
    }
    if (is_told && first == MACH_CRASH) {
        e.signal = e.code[0] >> 24 & 0xff;
        e.type = (uint32_t)(e.code[0] >> 20 & 0xf);
        e.code[0] = e.type != 0 ? e.code[0] & 0xfffff : 0;
        if (e.type == 0)
            e.type = MACH_CRASH;
    } else if (e.type == CRASHPAD_THROWN) {
        minidump_event aborted = {MACH_CRASH, ABRT, {0, 0}};
        e = aborted;
    } else {
        e.signal = minidump_signal_of(&e);
    }
    return e;
}

static void minidump_put_type(minidump *m, const minidump_event *e)
{
    text *t = &m->d.event;
    const char *name = minidump_is_apple(m) ? report_exception_name(e->type) : NULL;
    const char *signal = name != NULL ? report_signal_name(e->signal) : NULL;
    if (e->type == CRASHPAD_SIMULATED) {
        decoded_put_text(t, "Exception Note", str_c("SIMULATED (this is NOT a crash)"));
        return;
    }
    if (name != NULL) {
        decoded_put_pair(t, "Exception Type", str_c(name), str_c(signal != NULL ? signal : ""));
        return;
    }
    decoded_put_key(t, "Exception Type");
    text_c(t, "exception ");
    decoded_put_hex(t, e->type, 8);
    text_char(t, '\n');
}

static void minidump_put_codes(minidump *m, const minidump_event *e)
{
    enum { INVALID_ADDRESS = 1, PROTECTION_FAILURE = 2 };
    text *t = &m->d.event;
    if (e->type == CRASHPAD_SIMULATED || !minidump_is_apple(m))
        return;
    if (e->type == MACH_BAD_ACCESS && (e->code[0] == INVALID_ADDRESS || e->code[0] == PROTECTION_FAILURE)) {
        decoded_put_key(t, "Exception Subtype");
        text_c(t, e->code[0] == INVALID_ADDRESS ? "KERN_INVALID_ADDRESS at " : "KERN_PROTECTION_FAILURE at ");
        decoded_put_hex(t, e->code[1], 16);
        text_char(t, '\n');
    }
    decoded_put_key(t, "Exception Codes");
    decoded_put_hex(t, e->code[0], 16);
    text_c(t, ", ");
    decoded_put_hex(t, e->code[1], 16);
    text_char(t, '\n');
}

/* The crashed thread gets the registers at the time of the crash. Its own record has those at the time of the
 * dump. */
static void minidump_read_exception(minidump *m)
{
    enum { SIZE = 168 };
    machsym_str s = minidump_stream(m, STREAM_EXCEPTION, SIZE);
    uint64_t pc;
    if (s.len == 0)
        return;
    minidump_event e = minidump_event_of(s);
    dump_thread *thread = dump_find_thread(&m->d, minidump_u32(s, 0));
    dump_state own = {NULL, {NULL, 0}, 0};
    if (thread == NULL)
        thread = dump_add_thread(&m->d);
    minidump_read_state(m, s, 160, &own);
    thread->crashed = true;
    thread->id = minidump_u32(s, 0);
    thread->state = own.layout != NULL ? own : thread->state;
    minidump_put_type(m, &e);
    minidump_put_codes(m, &e);
    if (thread->state.layout != NULL && dump_register_of(&thread->state, thread->state.layout->pc, &pc))
        m->d.has_bad_jump = minidump_is_apple(m) && e.type == MACH_BAD_ACCESS &&
                            machsym_plain_pc(m->d.cputype, pc) == machsym_plain_pc(m->d.cputype, e.code[1]);
}

/* In a dump without a crash, Breakpad names the thread that requested it. */
static void minidump_read_requester(minidump *m)
{
    enum { HAS_REQUESTER = 2 };
    machsym_str s = minidump_stream(m, STREAM_BREAKPAD, 12);
    if (s.len == 0 || m->streams[STREAM_EXCEPTION].len > 0 || (minidump_u32(s, 0) & HAS_REQUESTER) == 0)
        return;
    dump_thread *thread = dump_find_thread(&m->d, minidump_u32(s, 8));
    if (thread != NULL)
        thread->is_asked = true;
}

/* ---- What the process said ---- */

/* An assertion of Breakpad's: three texts of 128 UTF-16 units each, a line, a kind. */
static void minidump_read_assertion(minidump *m)
{
    enum { TEXT_SIZE = 256, SIZE = 3 * TEXT_SIZE + 8 };
    static const char *const words[] = {"Assertion failed: (", "), function ", ", file "};
    machsym_str s = minidump_stream(m, STREAM_ASSERTION, SIZE);
    text t = text_in(m->d.memory_source);
    if (s.len == 0)
        return;
    for (size_t i = 0; i < 3; i++) {
        text_c(&t, words[i]);
        text_str(&t, minidump_from_utf16(m, str_make(s.ptr + TEXT_SIZE * i, TEXT_SIZE)));
    }
    text_c(&t, ", line ");
    text_dec(&t, minidump_u32(s, 3 * TEXT_SIZE));
    text_char(&t, '.');
    dump_put_info(&m->d, str_make(NULL, 0), str_make(t.v, t.len));
    text_free(&t);
}

/* image: the image of the annotation; empty: of the process. */
static void minidump_put_annotation(minidump *m, machsym_str image, machsym_str key, machsym_str value)
{
    text *t = &m->d.tail;
    if (image.len == 0 && (str_is(key, "ver") || str_is(key, "_version")) && m->version.len == 0)
        m->version = value;
    if (str_is(key, "exceptionName"))
        m->thrown = value;
    if (str_is(key, "exceptionReason"))
        m->reason = value;
    decoded_put_key(t, "Annotation");
    text_shown(t, image);
    text_c(t, image.len > 0 ? ": " : "");
    text_shown(t, key);
    text_c(t, ": ");
    text_shown(t, value);
    text_char(t, '\n');
}

/* Reads pairs of texts. */
static void minidump_read_simple(minidump *m, machsym_str s, machsym_str image)
{
    minidump_list list = minidump_list_of(m, s, PAIR_SIZE);
    for (uint32_t i = 0; i < list.count; i++) {
        machsym_str pair = minidump_record(&list, i);
        machsym_str key = minidump_utf8(m, pair, minidump_u32(pair, 0));
        minidump_put_annotation(m, image, key, minidump_utf8(m, str_from(pair, 4), minidump_u32(pair, 4)));
    }
}

/* Reads typed values. Only texts have a public type; the rest is known to the program alone. */
static void minidump_read_objects(minidump *m, machsym_str s, machsym_str image)
{
    enum { TYPE_TEXT = 1 };
    minidump_list list = minidump_list_of(m, s, OBJECT_SIZE);
    for (uint32_t i = 0; i < list.count; i++) {
        machsym_str object = minidump_record(&list, i);
        bool is_text = minidump_get(object, 4, 2) == TYPE_TEXT;
        machsym_str key = minidump_utf8(m, object, minidump_u32(object, 0));
        machsym_str value =
            is_text ? minidump_utf8(m, str_from(object, 8), minidump_u32(object, 8)) : str_c("(no text)");
        minidump_put_annotation(m, image, key, value);
    }
}

/* Reads texts that system libraries leave in their images; Apple calls them Application Specific
 * Information. */
static void minidump_read_messages(minidump *m, machsym_str s, machsym_str image)
{
    minidump_list list = minidump_list_of(m, s, 4);
    for (uint32_t i = 0; i < list.count; i++) {
        machsym_str field = minidump_record(&list, i);
        dump_put_info(&m->d, image, minidump_utf8(m, field, minidump_u32(field, 0)));
    }
}

static void minidump_read_module_info(minidump *m, machsym_str link)
{
    enum { SIZE = 28 };
    uint32_t index = minidump_u32(link, 0);
    machsym_str s = minidump_located(m, link, 4, "annotations lie outside the file");
    machsym_str image = index < m->d.image_count ? str_base_name(m->d.images[index].path) : str_make(NULL, 0);
    if (s.len < SIZE)
        return;
    minidump_read_messages(m, minidump_located(m, s, 4, "annotations lie outside the file"), image);
    minidump_read_simple(m, minidump_located(m, s, 12, "annotations lie outside the file"), image);
    minidump_read_objects(m, minidump_located(m, s, 20, "annotations lie outside the file"), image);
}

/* The program and its images, in the order of the list. */
static void minidump_read_crashpad(minidump *m)
{
    enum { SIZE = 52, LINK_SIZE = 12 };
    machsym_str s = minidump_stream(m, STREAM_CRASHPAD, SIZE);
    if (s.len == 0)
        return;
    minidump_put_id(&m->d.head, "Incident Identifier", s, 4);
    minidump_put_id(&m->d.head, "CrashReporter Key", s, 20);
    minidump_read_simple(m, minidump_located(m, s, 36, "annotations lie outside the file"),
                         str_make(NULL, 0));
    machsym_str modules = minidump_located(m, s, 44, "annotations lie outside the file");
    minidump_list list = minidump_list_of(m, modules, LINK_SIZE);
    for (uint32_t i = 0; i < list.count; i++)
        minidump_read_module_info(m, minidump_record(&list, i));
}

/* Writes an uncaught exception in the system's words. */
static void minidump_put_thrown(minidump *m)
{
    text t = text_in(m->d.memory_source);
    if (m->thrown.len == 0)
        return;
    text_c(&t, "*** Terminating app due to uncaught exception '");
    text_str(&t, m->thrown);
    text_c(&t, "', reason: '");
    text_str(&t, m->reason);
    text_char(&t, '\'');
    dump_put_info(&m->d, str_make(NULL, 0), str_make(t.v, t.len));
    text_free(&t);
}

/* ---- The whole ---- */

static void minidump_read(minidump *m)
{
    minidump_find_streams(m);
    machsym_str system = minidump_stream(m, STREAM_SYSTEM, 28);
    m->processor = system.len > 0 ? (uint32_t)minidump_get(system, 0, 2) : (uint32_t)PROCESSOR_UNKNOWN;
    m->platform = system.len > 0 ? minidump_u32(system, 20) : 0;
    minidump_read_modules(m);
    minidump_read_memory(m);
    minidump_read_threads(m);
    dump_index_threads(&m->d);
    minidump_read_names(m);
    minidump_read_crashpad(m);
    minidump_put_program(m, &m->d.head);
    minidump_put_thrown(m);
    minidump_read_assertion(m);
    minidump_read_exception(m);
    minidump_read_requester(m);
    minidump_read_unloaded(m); /* last: the other streams number the modules that are loaded */
}

size_t minidump_decode(machsym_str input, text *out, const char **what, dump_walks *walks)
{
    minidump m;
    memset(&m, 0, sizeof m);
    m.in = input;
    dump_begin(&m.d, out->memory, walks, input.len,
               input.len < SIZE_MAX / 2 ? 2 * input.len : SIZE_MAX); /* UTF-8 may be longer than UTF-16 */
    if (input.len < MINIDUMP_HEADER_SIZE)
        dump_note(&m.d, input.len, "the header is cut short");
    else
        minidump_read(&m);
    dump_put(&m.d, out);
    *what = m.d.what;
    size_t damaged_at = m.d.damaged_at;
    dump_free(&m.d);
    return damaged_at;
}
