/* PLCrashReporter's reports; see plcrash.h. Fields and their numbers: PLCrashReport.proto of
 * github.com/microsoft/plcrashreporter. */
#include "plcrash.h"
#include "../base/memory.h"
#include "../base/protobuf.h"
#include "../model/report.h"

#include <stdlib.h>
#include <string.h>

/* The format's name, then a byte for its version, of which there is one. */
static const char magic[] = "plcrash";
enum { HEADER_SIZE = sizeof magic };

/* Fields of the report, by their numbers. */
enum {
    REPORT_SYSTEM = 1,
    REPORT_APPLICATION = 2,
    REPORT_THREAD = 3,
    REPORT_IMAGE = 4,
    REPORT_THROWN = 5,
    REPORT_SIGNAL = 6,
    REPORT_PROCESS = 7,
    REPORT_MACHINE = 8,
    REPORT_INFO = 9,
    REPORT_CUSTOM = 10
};

/* Every frame is written with the name of its image, which longer ones would make much larger than it is
 * in the report. */
enum { MAX_NAME = 64 };

typedef struct plcrash_image {
    uint64_t base;
    uint64_t end;
    uint32_t index; /* in the report */
    machsym_str path;
    machsym_uuid uuid;
    const char *arch; /* NULL: not told */
} plcrash_image;

/* The report at hand. */
typedef struct plcrash {
    proto in;
    text *t;
    plcrash_image *images; /* by base */
    uint32_t image_count;
    uint32_t image_cap;
} plcrash;

bool plcrash_is(machsym_str input)
{
    return input.len > HEADER_SIZE && memcmp(input.ptr, magic, sizeof magic - 1) == 0;
}

/* ---- Values ---- */

static void plcrash_put_key(plcrash *p, const char *key)
{
    size_t at = p->t->len;
    text_c(p->t, key);
    text_char(p->t, ':');
    do
        text_char(p->t, ' ');
    while (p->t->len - at < sizeof "Incident Identifier:");
}

static void plcrash_put_text(plcrash *p, const char *key, machsym_str value)
{
    if (value.len == 0)
        return;
    plcrash_put_key(p, key);
    text_shown(p->t, value);
    text_char(p->t, '\n');
}

static void plcrash_put_hex(plcrash *p, uint64_t number, unsigned digits)
{
    text_c(p->t, "0x");
    text_hex(p->t, number, digits);
}

/* "A (B)" */
static void plcrash_put_pair(plcrash *p, const char *key, machsym_str a, machsym_str b)
{
    if (a.len == 0) {
        plcrash_put_text(p, key, b);
        return;
    }
    plcrash_put_key(p, key);
    text_shown(p->t, a);
    if (b.len > 0) {
        text_c(p->t, " (");
        text_shown(p->t, b);
        text_char(p->t, ')');
    }
    text_char(p->t, '\n');
}

static void plcrash_put_uuid(plcrash *p, machsym_str bytes)
{
    machsym_uuid uuid;
    if (bytes.len != sizeof uuid.v)
        return;
    memcpy(uuid.v, bytes.ptr, sizeof uuid.v);
    plcrash_put_key(p, "Incident Identifier");
    text_uuid(p->t, &uuid);
    text_char(p->t, '\n');
}

/* A processor's type and subtype, where they are Mach's. */
static const char *plcrash_arch_of(plcrash *p, machsym_str processor)
{
    enum { ENCODING_MACH = 1 };
    if (proto_get(&p->in, processor, 1).value != ENCODING_MACH)
        return NULL;
    return machsym_arch_name((uint32_t)proto_get(&p->in, processor, 2).value,
                             (uint32_t)proto_get(&p->in, processor, 3).value);
}

/* ---- The header ---- */

/* Apple's words for a type of processor. */
static const char *plcrash_code_type(const char *arch)
{
    static const char *const words[][2] = {
        {"arm64", "ARM-64"}, {"x86_64", "X86-64"}, {"arm", "ARM"}, {"i386", "X86"}, {"ppc", "PPC"}};
    for (size_t i = 0; arch != NULL && i < sizeof words / sizeof *words; i++) {
        if (strncmp(arch, words[i][0], strlen(words[i][0])) == 0)
            return words[i][1];
    }
    return arch;
}

static void plcrash_put_program(plcrash *p)
{
    machsym_str process = proto_get(&p->in, p->in.all, REPORT_PROCESS).bytes;
    machsym_str machine = proto_get(&p->in, p->in.all, REPORT_MACHINE).bytes;
    machsym_str application = proto_get(&p->in, p->in.all, REPORT_APPLICATION).bytes;
    const char *type = plcrash_code_type(plcrash_arch_of(p, proto_get(&p->in, machine, 2).bytes));
    machsym_str name = proto_get(&p->in, process, 1).bytes;
    plcrash_put_text(p, "Hardware Model", proto_get(&p->in, machine, 1).bytes);
    if (name.len > 0) {
        plcrash_put_key(p, "Process");
        text_shown(p->t, name);
        text_c(p->t, " [");
        text_dec(p->t, proto_get(&p->in, process, 2).value);
        text_c(p->t, "]\n");
    }
    plcrash_put_text(p, "Path", proto_get(&p->in, process, 3).bytes);
    plcrash_put_text(p, "Identifier", proto_get(&p->in, application, 1).bytes);
    plcrash_put_pair(p, "Version", proto_get(&p->in, application, 3).bytes,
                     proto_get(&p->in, application, 2).bytes);
    if (type != NULL) {
        plcrash_put_key(p, "Code Type");
        text_c(p->t, type);
        text_c(p->t, process.len > 0 && proto_get(&p->in, process, 6).value == 0 ? " (Translated)\n"
                                                                                 : " (Native)\n");
    }
    if (proto_get(&p->in, process, 4).bytes.len > 0) {
        plcrash_put_key(p, "Parent Process");
        text_shown(p->t, proto_get(&p->in, process, 4).bytes);
        text_c(p->t, " [");
        text_dec(p->t, proto_get(&p->in, process, 5).value);
        text_c(p->t, "]\n");
    }
}

static void plcrash_put_time(plcrash *p, const char *key, uint64_t seconds)
{
    if (seconds == 0)
        return;
    plcrash_put_key(p, key);
    report_text_time(p->t, seconds);
    text_char(p->t, '\n');
}

static void plcrash_put_system(plcrash *p)
{
    static const char *const names[] = {"Mac OS X ", "iPhone OS ", "iPhone Simulator ", "", "tvOS "};
    machsym_str system = proto_get(&p->in, p->in.all, REPORT_SYSTEM).bytes;
    machsym_str build = proto_get(&p->in, system, 5).bytes;
    uint64_t number = proto_get(&p->in, system, 1).value;
    text_char(p->t, '\n');
    plcrash_put_time(p, "Date/Time", proto_get(&p->in, system, 4).value);
    plcrash_put_time(p, "Launch Time",
                     proto_get(&p->in, proto_get(&p->in, p->in.all, REPORT_PROCESS).bytes, 7).value);
    plcrash_put_key(p, "OS Version");
    text_c(p->t, number < sizeof names / sizeof *names ? names[number] : "");
    text_shown(p->t, proto_get(&p->in, system, 2).bytes);
    text_c(p->t, build.len > 0 ? " (" : "");
    text_shown(p->t, build);
    text_c(p->t, build.len > 0 ? ")\n" : "\n");
    plcrash_put_key(p, "Report Version");
    text_c(p->t, "104\n\n");
}

/* The codes of a Mach exception in the order in which they come. */
static void plcrash_put_codes(plcrash *p, machsym_str mach)
{
    proto_field field;
    size_t at = 0;
    bool is_first = true;
    while (proto_next(&p->in, mach, &at, &field)) {
        if (field.number != 2)
            continue;
        if (is_first)
            plcrash_put_key(p, "Exception Codes");
        text_c(p->t, is_first ? "" : ", ");
        plcrash_put_hex(p, field.value, 16);
        is_first = false;
    }
    text_c(p->t, is_first ? "" : "\n");
}

/* The first code says of EXC_BAD_ACCESS why, the second where. */
static void plcrash_put_bad_access(plcrash *p, machsym_str mach, uint64_t address)
{
    enum { INVALID_ADDRESS = 1, PROTECTION_FAILURE = 2 };
    proto_field field = {0, 0, {NULL, 0}};
    size_t at = 0;
    while (proto_next(&p->in, mach, &at, &field) && field.number != 2)
        continue;
    if (field.number != 2 || (field.value != INVALID_ADDRESS && field.value != PROTECTION_FAILURE))
        return;
    plcrash_put_key(p, "Exception Subtype");
    text_c(p->t, field.value == INVALID_ADDRESS ? "KERN_INVALID_ADDRESS at " : "KERN_PROTECTION_FAILURE at ");
    plcrash_put_hex(p, address, 16);
    text_char(p->t, '\n');
}

static void plcrash_put_exception(plcrash *p)
{
    enum { BAD_ACCESS = 1 };
    machsym_str sent = proto_get(&p->in, p->in.all, REPORT_SIGNAL).bytes;
    machsym_str mach = proto_get(&p->in, sent, 4).bytes;
    uint64_t type = proto_get(&p->in, mach, 1).value;
    uint64_t address = proto_get(&p->in, sent, 3).value;
    const char *name = report_exception_name(type);
    if (name != NULL) {
        plcrash_put_pair(p, "Exception Type", str_c(name), proto_get(&p->in, sent, 1).bytes);
        if (type == BAD_ACCESS)
            plcrash_put_bad_access(p, mach, address);
        plcrash_put_codes(p, mach);
    } else {
        plcrash_put_text(p, "Exception Type", proto_get(&p->in, sent, 1).bytes);
        plcrash_put_key(p, "Exception Codes");
        text_shown(p->t, proto_get(&p->in, sent, 2).bytes);
        text_c(p->t, " at ");
        plcrash_put_hex(p, address, 16);
        text_char(p->t, '\n');
    }
    if (proto_get(&p->in, proto_get(&p->in, p->in.all, REPORT_INFO).bytes, 1).value != 0)
        plcrash_put_text(p, "Exception Note", str_c("SIMULATED (this is NOT a crash)"));
}

static void plcrash_put_thrown(plcrash *p)
{
    machsym_str thrown = proto_get(&p->in, p->in.all, REPORT_THROWN).bytes;
    if (thrown.len == 0)
        return;
    text_c(p->t, "\nApplication Specific Information:\n*** Terminating app due to uncaught exception '");
    text_shown(p->t, proto_get(&p->in, thrown, 1).bytes);
    text_c(p->t, "', reason: '");
    text_shown(p->t, proto_get(&p->in, thrown, 2).bytes);
    text_c(p->t, "'\n");
}

/* ---- Images ---- */

static int plcrash_by_base(const void *a, const void *b)
{
    const plcrash_image *x = a;
    const plcrash_image *y = b;
    MACHSYM_COUNT_WORK(1);
    if (x->base != y->base)
        return x->base < y->base ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static void plcrash_read_image(plcrash *p, machsym_str message)
{
    plcrash_image *image = mem_push(&p->images, &p->image_count, &p->image_cap, sizeof *image);
    uint64_t size = proto_get(&p->in, message, 2).value;
    machsym_str uuid = proto_get(&p->in, message, 4).bytes;
    memset(image, 0, sizeof *image);
    image->index = p->image_count - 1;
    image->base = proto_get(&p->in, message, 1).value;
    image->end = size <= UINT64_MAX - image->base ? image->base + size : UINT64_MAX;
    image->path = proto_get(&p->in, message, 3).bytes;
    image->arch = plcrash_arch_of(p, proto_get(&p->in, message, 5).bytes);
    if (uuid.len == sizeof image->uuid.v)
        memcpy(image->uuid.v, uuid.ptr, uuid.len);
}

static void plcrash_read_images(plcrash *p)
{
    proto_field field;
    size_t at = 0;
    while (proto_next(&p->in, p->in.all, &at, &field)) {
        if (field.number == REPORT_IMAGE)
            plcrash_read_image(p, field.bytes);
    }
    if (p->image_count > 0)
        qsort(p->images, p->image_count, sizeof *p->images, plcrash_by_base);
}

static machsym_str plcrash_name_of(const plcrash_image *image)
{
    machsym_str name = str_base_name(image->path);
    name.len = name.len > MAX_NAME ? MAX_NAME : name.len;
    return name.len > 0 ? name : str_c("???");
}

static void plcrash_put_images(plcrash *p)
{
    static const machsym_uuid none;
    text_c(p->t, "Binary Images:\n");
    for (uint32_t i = 0; i < p->image_count; i++) {
        const plcrash_image *image = &p->images[i];
        plcrash_put_hex(p, image->base, 16);
        text_c(p->t, " - ");
        plcrash_put_hex(p, image->end - (image->end > image->base), 16);
        text_char(p->t, ' ');
        text_shown(p->t, plcrash_name_of(image));
        text_char(p->t, ' ');
        text_c(p->t, image->arch != NULL ? image->arch : "unknown-arch");
        if (memcmp(&image->uuid, &none, sizeof none) != 0) {
            text_c(p->t, "  <");
            for (size_t k = 0; k < sizeof image->uuid.v; k++)
                text_hex(p->t, image->uuid.v[k], 2);
            text_char(p->t, '>');
        }
        text_char(p->t, ' ');
        text_shown(p->t, image->path);
        text_char(p->t, '\n');
    }
}

/* ---- Stacks ---- */

static bool plcrash_begins_by(const void *element, const void *address)
{
    return ((const plcrash_image *)element)->base <= *(const uint64_t *)address;
}

/* "3   demo                          \t0x0000000102a309b8 0x102a30000 + 2488 (main + 120)": the name is
 * the nearest that the device found, and stands where a better one is to go. */
static void plcrash_put_frame(plcrash *p, machsym_str frame, uint64_t number)
{
    uint64_t pc = proto_get(&p->in, frame, 3).value;
    machsym_str symbol = proto_get(&p->in, frame, 6).bytes;
    uint64_t start = proto_get(&p->in, symbol, 2).value;
    uint64_t plain = machsym_plain_pc(0x0100000c, pc);
    size_t behind = mem_lower_bound(p->images, p->image_count, sizeof *p->images, &plain, plcrash_begins_by);
    const plcrash_image *image =
        behind > 0 && plain < p->images[behind - 1].end ? &p->images[behind - 1] : NULL;
    size_t at = p->t->len;
    text_dec(p->t, number);
    do
        text_char(p->t, ' ');
    while (p->t->len - at < 4);
    text_shown(p->t, image != NULL ? plcrash_name_of(image) : str_c("???"));
    while (p->t->len - at < 34)
        text_char(p->t, ' ');
    text_char(p->t, '\t');
    plcrash_put_hex(p, pc, 16);
    text_char(p->t, ' ');
    plcrash_put_hex(p, image != NULL ? image->base : 0, 1);
    text_c(p->t, " + ");
    text_dec(p->t, image != NULL ? plain - image->base : plain);
    if (image != NULL && proto_get(&p->in, symbol, 1).bytes.len > 0 && start <= plain) {
        text_c(p->t, " (");
        text_shown(p->t, proto_get(&p->in, symbol, 1).bytes);
        text_c(p->t, " + ");
        text_dec(p->t, plain - start);
        text_char(p->t, ')');
    }
    text_char(p->t, '\n');
}

/* The frames of a thread or an exception are fields of the given number. */
static void plcrash_put_frames(plcrash *p, machsym_str message, uint32_t number)
{
    proto_field field;
    size_t at = 0;
    uint64_t count = 0;
    while (proto_next(&p->in, message, &at, &field)) {
        if (field.number == number)
            plcrash_put_frame(p, field.bytes, count++);
    }
    text_char(p->t, '\n');
}

static void plcrash_put_threads(plcrash *p)
{
    machsym_str thrown = proto_get(&p->in, p->in.all, REPORT_THROWN).bytes;
    proto_field field;
    size_t at = 0;
    text_char(p->t, '\n');
    if (thrown.len > 0 && proto_get(&p->in, thrown, 3).bytes.len > 0) {
        text_c(p->t, "Last Exception Backtrace:\n");
        plcrash_put_frames(p, thrown, 3);
    }
    while (proto_next(&p->in, p->in.all, &at, &field)) {
        if (field.number != REPORT_THREAD)
            continue;
        text_c(p->t, "Thread ");
        text_dec(p->t, proto_get(&p->in, field.bytes, 1).value);
        text_c(p->t, proto_get(&p->in, field.bytes, 3).value != 0 ? " Crashed:\n" : ":\n");
        plcrash_put_frames(p, field.bytes, 2);
    }
}

/* How many digits a register has. */
static unsigned plcrash_digits(plcrash *p)
{
    machsym_str machine = proto_get(&p->in, p->in.all, REPORT_MACHINE).bytes;
    const char *arch = plcrash_arch_of(p, proto_get(&p->in, machine, 2).bytes);
    return arch != NULL && strstr(arch, "64") == NULL ? 8 : 16;
}

/* Registers, four a line, of threads that have some. */
static void plcrash_put_registers(plcrash *p, machsym_str thread, unsigned digits)
{
    proto_field field;
    size_t at = 0;
    unsigned count = 0;
    while (proto_next(&p->in, thread, &at, &field)) {
        if (field.number != 4)
            continue;
        if (count == 0) {
            text_c(p->t, "Thread ");
            text_dec(p->t, proto_get(&p->in, thread, 1).value);
            text_c(p->t, " crashed with Thread State:\n");
        }
        machsym_str name = proto_get(&p->in, field.bytes, 1).bytes;
        for (size_t i = name.len; i < 6; i++)
            text_char(p->t, ' ');
        text_shown(p->t, name);
        text_c(p->t, ": ");
        plcrash_put_hex(p, proto_get(&p->in, field.bytes, 2).value, digits);
        text_c(p->t, ++count % 4 == 0 ? "\n" : "");
    }
    text_c(p->t, count % 4 != 0 ? "\n\n" : count > 0 ? "\n" : "");
}

static void plcrash_put_states(plcrash *p)
{
    proto_field field;
    size_t at = 0;
    unsigned digits = plcrash_digits(p);
    while (proto_next(&p->in, p->in.all, &at, &field)) {
        if (field.number == REPORT_THREAD)
            plcrash_put_registers(p, field.bytes, digits);
    }
}

size_t plcrash_decode(machsym_str input, text *out)
{
    plcrash p = {{{input.ptr + HEADER_SIZE, input.len - HEADER_SIZE}, false, 0}, out, NULL, 0, 0};
    plcrash_read_images(&p);
    plcrash_put_uuid(&p, proto_get(&p.in, proto_get(&p.in, p.in.all, REPORT_INFO).bytes, 2).bytes);
    plcrash_put_program(&p);
    plcrash_put_system(&p);
    plcrash_put_exception(&p);
    plcrash_put_thrown(&p);
    plcrash_put_threads(&p);
    plcrash_put_states(&p);
    plcrash_put_images(&p);
    text_char(out, '\n');
    plcrash_put_text(&p, "Custom Data", proto_get(&p.in, p.in.all, REPORT_CUSTOM).bytes);
    if (p.in.is_damaged) {
        text_c(out, "The report is damaged at byte ");
        text_dec(out, HEADER_SIZE + p.in.damaged_at);
        text_c(out, ": what follows there is lost\n");
    }
    free(p.images);
    return p.in.is_damaged ? HEADER_SIZE + p.in.damaged_at : 0;
}
