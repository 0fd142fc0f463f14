/* PLCrashReporter's reports; see plcrash.h. Fields and their numbers: PLCrashReport.proto of
 * github.com/microsoft/plcrashreporter. */
#include "plcrash.h"
#include "../base/memory.h"
#include "../base/protobuf.h"
#include "../model/report.h"
#include "decoded.h"

#include <stdlib.h>
#include <string.h>

/* The magic of the format, then a byte for its version. Only one version exists. */
static const char plcrash_magic[] = "plcrash";
enum { PLCRASH_HEADER_SIZE = sizeof plcrash_magic };

/* Field numbers of the report. */
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

/* The report that is read. */
typedef struct plcrash {
    proto in;
    text *t;
    decoded_image *images; /* sorted by base */
    uint32_t image_count;
    uint32_t image_cap;
} plcrash;

bool plcrash_is(machsym_str input)
{
    return input.len > PLCRASH_HEADER_SIZE && memcmp(input.ptr, plcrash_magic, sizeof plcrash_magic - 1) == 0;
}

/* ---- Values ---- */

static void plcrash_put_uuid(plcrash *p, machsym_str bytes)
{
    machsym_uuid uuid;
    if (bytes.len != sizeof uuid.v)
        return;
    memcpy(uuid.v, bytes.ptr, sizeof uuid.v);
    decoded_put_key(p->t, "Incident Identifier");
    text_uuid(p->t, &uuid);
    text_char(p->t, '\n');
}

/* Type and subtype of a processor, if they are Mach's. */
static const char *plcrash_arch_of(plcrash *p, machsym_str processor)
{
    enum { ENCODING_MACH = 1 };
    if (proto_get(&p->in, processor, 1).value != ENCODING_MACH)
        return NULL;
    return machsym_arch_name((uint32_t)proto_get(&p->in, processor, 2).value,
                             (uint32_t)proto_get(&p->in, processor, 3).value);
}

/* ---- The header ---- */

static void plcrash_put_program(plcrash *p)
{
    machsym_str process = proto_get(&p->in, p->in.all, REPORT_PROCESS).bytes;
    machsym_str machine = proto_get(&p->in, p->in.all, REPORT_MACHINE).bytes;
    machsym_str application = proto_get(&p->in, p->in.all, REPORT_APPLICATION).bytes;
    const char *type = decoded_code_type(plcrash_arch_of(p, proto_get(&p->in, machine, 2).bytes));
    machsym_str name = proto_get(&p->in, process, 1).bytes;
    decoded_put_text(p->t, "Hardware Model", proto_get(&p->in, machine, 1).bytes);
    if (name.len > 0) {
        decoded_put_key(p->t, "Process");
        text_shown(p->t, name);
        text_c(p->t, " [");
        text_dec(p->t, proto_get(&p->in, process, 2).value);
        text_c(p->t, "]\n");
    }
    decoded_put_text(p->t, "Path", proto_get(&p->in, process, 3).bytes);
    decoded_put_text(p->t, "Identifier", proto_get(&p->in, application, 1).bytes);
    decoded_put_pair(p->t, "Version", proto_get(&p->in, application, 3).bytes,
                     proto_get(&p->in, application, 2).bytes);
    if (type != NULL) {
        decoded_put_key(p->t, "Code Type");
        text_c(p->t, type);
        text_c(p->t, process.len > 0 && proto_get(&p->in, process, 6).value == 0 ? " (Translated)\n"
                                                                                 : " (Native)\n");
    }
    if (proto_get(&p->in, process, 4).bytes.len > 0) {
        decoded_put_key(p->t, "Parent Process");
        text_shown(p->t, proto_get(&p->in, process, 4).bytes);
        text_c(p->t, " [");
        text_dec(p->t, proto_get(&p->in, process, 5).value);
        text_c(p->t, "]\n");
    }
}

static void plcrash_put_system(plcrash *p)
{
    static const char *const names[] = {"Mac OS X ", "iPhone OS ", "iPhone Simulator ", "", "tvOS "};
    machsym_str system = proto_get(&p->in, p->in.all, REPORT_SYSTEM).bytes;
    machsym_str build = proto_get(&p->in, system, 5).bytes;
    uint64_t number = proto_get(&p->in, system, 1).value;
    text_char(p->t, '\n');
    decoded_put_time(p->t, "Date/Time", proto_get(&p->in, system, 4).value);
    decoded_put_time(p->t, "Launch Time",
                     proto_get(&p->in, proto_get(&p->in, p->in.all, REPORT_PROCESS).bytes, 7).value);
    decoded_put_key(p->t, "OS Version");
    text_c(p->t, number < sizeof names / sizeof *names ? names[number] : "");
    text_shown(p->t, proto_get(&p->in, system, 2).bytes);
    text_c(p->t, build.len > 0 ? " (" : "");
    text_shown(p->t, build);
    text_c(p->t, build.len > 0 ? ")\n" : "\n");
    decoded_put_key(p->t, "Report Version");
    text_c(p->t, "104\n\n");
}

/* The codes of a Mach exception, in file order. */
static void plcrash_put_codes(plcrash *p, machsym_str mach)
{
    proto_field field;
    size_t at = 0;
    bool is_first = true;
    while (proto_next(&p->in, mach, &at, &field)) {
        if (field.number != 2)
            continue;
        if (is_first)
            decoded_put_key(p->t, "Exception Codes");
        text_c(p->t, is_first ? "" : ", ");
        decoded_put_hex(p->t, field.value, 16);
        is_first = false;
    }
    text_c(p->t, is_first ? "" : "\n");
}

/* In EXC_BAD_ACCESS the first code is the reason, the second the address. */
static void plcrash_put_bad_access(plcrash *p, machsym_str mach, uint64_t address)
{
    enum { INVALID_ADDRESS = 1, PROTECTION_FAILURE = 2 };
    proto_field field = {0, 0, {NULL, 0}};
    size_t at = 0;
    while (proto_next(&p->in, mach, &at, &field) && field.number != 2)
        continue;
    if (field.number != 2 || (field.value != INVALID_ADDRESS && field.value != PROTECTION_FAILURE))
        return;
    decoded_put_key(p->t, "Exception Subtype");
    text_c(p->t, field.value == INVALID_ADDRESS ? "KERN_INVALID_ADDRESS at " : "KERN_PROTECTION_FAILURE at ");
    decoded_put_hex(p->t, address, 16);
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
        decoded_put_pair(p->t, "Exception Type", str_c(name), proto_get(&p->in, sent, 1).bytes);
        if (type == BAD_ACCESS)
            plcrash_put_bad_access(p, mach, address);
        plcrash_put_codes(p, mach);
    } else {
        decoded_put_text(p->t, "Exception Type", proto_get(&p->in, sent, 1).bytes);
        decoded_put_key(p->t, "Exception Codes");
        text_shown(p->t, proto_get(&p->in, sent, 2).bytes);
        text_c(p->t, " at ");
        decoded_put_hex(p->t, address, 16);
        text_char(p->t, '\n');
    }
    if (proto_get(&p->in, proto_get(&p->in, p->in.all, REPORT_INFO).bytes, 1).value != 0)
        decoded_put_text(p->t, "Exception Note", str_c("SIMULATED (this is NOT a crash)"));
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

static void plcrash_read_image(plcrash *p, machsym_str message)
{
    decoded_image *image =
        (decoded_image *)mem_add(p->t->memory, &p->images, &p->image_count, &p->image_cap, sizeof *image);
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
    decoded_sort_images(p->images, p->image_count);
}

/* ---- Stacks ---- */

static void plcrash_put_frame(plcrash *p, machsym_str frame, uint64_t number)
{
    uint64_t pc = proto_get(&p->in, frame, 3).value;
    machsym_str symbol = proto_get(&p->in, frame, 6).bytes;
    uint64_t plain = machsym_plain_pc(0x0100000c, pc);
    decoded_put_frame(p->t, decoded_find_image(p->images, p->image_count, plain), number, pc, plain,
                      proto_get(&p->in, symbol, 1).bytes, proto_get(&p->in, symbol, 2).value);
}

/* The frames of a thread or an exception are the fields with the given number. */
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

/* Number of digits of a register. */
static unsigned plcrash_digits(plcrash *p)
{
    machsym_str machine = proto_get(&p->in, p->in.all, REPORT_MACHINE).bytes;
    const char *arch = plcrash_arch_of(p, proto_get(&p->in, machine, 2).bytes);
    return arch != NULL && strstr(arch, "64") == NULL ? 8 : 16;
}

/* Writes registers, four on a line, of threads that have some. */
static void plcrash_put_registers(plcrash *p, machsym_str thread, unsigned digits)
{
    proto_field field;
    size_t at = 0;
    uint32_t count = 0;
    while (proto_next(&p->in, thread, &at, &field)) {
        if (field.number != 4)
            continue;
        if (count == 0) {
            text_c(p->t, "Thread ");
            text_dec(p->t, proto_get(&p->in, thread, 1).value);
            text_c(p->t, " crashed with Thread State:\n");
        }
        decoded_put_register(p->t, count++, proto_get(&p->in, field.bytes, 1).bytes,
                             proto_get(&p->in, field.bytes, 2).value, digits);
    }
    decoded_end_registers(p->t, count);
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
    plcrash p = {
        {{input.ptr + PLCRASH_HEADER_SIZE, input.len - PLCRASH_HEADER_SIZE}, false, 0}, out, NULL, 0, 0};
    plcrash_read_images(&p);
    plcrash_put_uuid(&p, proto_get(&p.in, proto_get(&p.in, p.in.all, REPORT_INFO).bytes, 2).bytes);
    plcrash_put_program(&p);
    plcrash_put_system(&p);
    plcrash_put_exception(&p);
    plcrash_put_thrown(&p);
    plcrash_put_threads(&p);
    plcrash_put_states(&p);
    decoded_put_images(out, p.images, p.image_count);
    text_char(out, '\n');
    decoded_put_text(out, "Custom Data", proto_get(&p.in, p.in.all, REPORT_CUSTOM).bytes);
    if (p.in.is_damaged) {
        text_c(out, "The report is damaged at byte ");
        text_dec(out, PLCRASH_HEADER_SIZE + p.in.damaged_at);
        text_c(out, ": what follows there is lost\n");
    }
    mem_give(out->memory, p.images);
    return p.in.is_damaged ? PLCRASH_HEADER_SIZE + p.in.damaged_at : 0;
}
