/* See guard.h. */
#include "guard.h"
#include "../base/digits.h"
#include "../model/termination.h"
#include "codes.h"
#include "machsym.h"

#include <string.h>

static bool guard_is(const report *r, const char *name)
{
    machsym_str exception = r->facts[FACT_EXCEPTION];
    return str_find(exception, name) < exception.len;
}

/* ---- EXC_GUARD ---- */

const char *guard_type_name(guard_type type)
{
    static const char *const names[] = {
        "GUARD_TYPE_NONE", "GUARD_TYPE_MACH_PORT",   "GUARD_TYPE_FD",          "GUARD_TYPE_USER",
        "GUARD_TYPE_VN",   "GUARD_TYPE_VIRT_MEMORY", "GUARD_TYPE_REJECTED_SC", "GUARD_TYPE_UNKNOWN"};
    return names[type];
}

/* The violations: xnu's sys/guarded.h (descriptors, files), mach/port.h, mach/vm_statistics.h. Those of
 * descriptors and files are bits, and several may be set. */
static const struct guard_flavor {
    guard_type type;
    uint32_t flavor;
    const char *name;
    const char *words;
} guard_flavors[] = {
    {GUARD_DESCRIPTOR, 1 << 0, "CLOSE", "closed"},
    {GUARD_DESCRIPTOR, 1 << 1, "DUP", "duplicated"},
    {GUARD_DESCRIPTOR, 1 << 2, "NOCLOEXEC", "set to stay open over exec"},
    {GUARD_DESCRIPTOR, 1 << 3, "SOCKET_IPC", "sent through a socket"},
    {GUARD_DESCRIPTOR, 1 << 4, "FILEPORT", "made a file port"},
    {GUARD_DESCRIPTOR, 1 << 5, "MISMATCH", "used with the wrong guard"},
    {GUARD_DESCRIPTOR, 1 << 6, "WRITE", "written to"},
    {GUARD_FILE, 1 << 0, "RENAME_TO", "the target of a rename"},
    {GUARD_FILE, 1 << 1, "RENAME_FROM", "renamed"},
    {GUARD_FILE, 1 << 2, "UNLINK", "deleted"},
    {GUARD_FILE, 1 << 3, "WRITE_OTHER", "written by another process"},
    {GUARD_FILE, 1 << 4, "TRUNC_OTHER", "truncated by another process"},
    {GUARD_FILE, 1 << 5, "LINK", "given another link"},
    {GUARD_FILE, 1 << 6, "EXCHDATA", "exchanged with another file"},
    {GUARD_PORT, 1, "DESTROY", "destroyed"},
    {GUARD_PORT, 2, "MOD_REFS", "given another count of references"},
    {GUARD_PORT, 3, "INVALID_OPTIONS", "made with options that do not go together"},
    {GUARD_PORT, 4, "SET_CONTEXT", "given another context"},
    {GUARD_PORT, 5, "THREAD_SET_STATE", "that of a thread whose registers may not be set"},
    {GUARD_PORT, 6, "EXCEPTION_BEHAVIOR_ENFORCE",
     "made to receive exceptions with a behavior that is not allowed"},
    {GUARD_PORT, 7, "SERVICE_PORT_VIOLATION_FATAL", "a service port that was used against its rules"},
    {GUARD_PORT, 8, "UNGUARDED", "unguarded, though it has no guard"},
    {GUARD_PORT, 9, "KOBJECT_REPLY_PORT_SEMANTICS", "used as reply port of the kernel, which it may not be"},
    {GUARD_PORT, 10, "REQUIRE_REPLY_PORT_SEMANTICS", "used as reply port without being one"},
    {GUARD_PORT, 16, "INCORRECT_GUARD", "used with the wrong guard"},
    {GUARD_PORT, 32, "IMMOVABLE", "moved, though it may not be"},
    {GUARD_PORT, 64, "STRICT_REPLY", "used for a reply against its rules"},
    {GUARD_PORT, 65, "INVALID_NOTIFICATION_REQ", "asked for a notification that it may not have"},
    {GUARD_PORT, 66, "INVALID_MPO_ENTITLEMENT", "made with options that need an entitlement"},
    {GUARD_PORT, 67, "DESCRIPTOR_VIOLATION", "sent in a message of a form that is not allowed"},
    {GUARD_PORT, 128, "MSG_FILTERED", "sent a message that a filter forbids"},
    {GUARD_PORT, 1 << 8, "INVALID_RIGHT", "used with a right that it does not have"},
    {GUARD_PORT, 1 << 9, "INVALID_NAME", "used by a name that stands for no port"},
    {GUARD_PORT, 1 << 10, "INVALID_VALUE", "used with a value that is not valid"},
    {GUARD_PORT, 1 << 11, "INVALID_ARGUMENT", "used with an argument that is not valid"},
    {GUARD_PORT, 1 << 12, "RIGHT_EXISTS", "given a right that it has"},
    {GUARD_PORT, 1 << 13, "KERN_NO_SPACE", "used when there was no space for names of ports"},
    {GUARD_PORT, 1 << 14, "KERN_FAILURE", "used in a call that failed"},
    {GUARD_PORT, 1 << 15, "KERN_RESOURCE", "used when the kernel was short of a resource"},
    {GUARD_PORT, 1 << 16, "SEND_INVALID_REPLY", "sent a message with a reply port that is not valid"},
    {GUARD_PORT, 1 << 17, "SEND_INVALID_VOUCHER", "sent a message with a voucher that is not valid"},
    {GUARD_PORT, 1 << 18, "SEND_INVALID_RIGHT", "sent a message with a right that is not valid"},
    {GUARD_PORT, 1 << 19, "RCV_INVALID_NAME", "received from by a name that is not valid"},
    {GUARD_PORT, 1 << 20, "RCV_GUARDED_DESC", "received in a guarded descriptor"},
    {GUARD_PORT, (1 << 20) + 1, "SERVICE_PORT_VIOLATION_NON_FATAL",
     "a service port that was used against its rules"},
    {GUARD_PORT, (1 << 20) + 2, "PROVISIONAL_REPLY_PORT", "a provisional reply port"},
    {GUARD_PORT, (1 << 20) + 3, "OOL_PORT_ARRAY_CREATION", "sent in an array of ports"},
    {GUARD_PORT, (1 << 20) + 4, "MOVE_PROVISIONAL_REPLY_PORT", "a provisional reply port that was moved"},
    {GUARD_PORT, (1 << 20) + 5, "REPLY_PORT_SINGLE_SO_RIGHT",
     "a reply port with more than one right to send once"},
    {GUARD_PORT, 1 << 21, "MOD_REFS_NON_FATAL", "given another count of references"},
    {GUARD_PORT, 1 << 22, "IMMOVABLE_NON_FATAL", "moved, though it may not be"},
    {GUARD_PORT, 1 << 23, "REQUIRE_REPLY_PORT_SEMANTICS", "used as reply port without being one"},
    {GUARD_PORT, 1 << 24, "EXCEPTION_BEHAVIOR_ENFORCE",
     "made to receive exceptions with a behavior that is not allowed"},
    {GUARD_MEMORY, 1, "DEALLOC_GAP", "memory was freed over a gap in which nothing is mapped"},
    {GUARD_MEMORY, 2, "RECLAIM_COPYIO_FAILURE",
     "the buffer of memory to reclaim could not be read or written"},
    {GUARD_MEMORY, 4, "RECLAIM_INDEX_FAILURE", "an index of the buffer of memory to reclaim was wrong"},
    {GUARD_MEMORY, 8, "RECLAIM_DEALLOCATE_FAILURE",
     "memory of the buffer of memory to reclaim could not be freed"},
    {GUARD_MEMORY, 9, "RECLAIM_ACCOUNTING_FAILURE", "the sizes of memory to reclaim did not add up"},
    {GUARD_MEMORY, 10, "SEC_IOPL_ON_EXEC_PAGE", "a device was to write to a page of code"},
    {GUARD_MEMORY, 11, "SEC_EXEC_ON_IOPL_PAGE", "a page that a device writes to was to become code"},
    {GUARD_MEMORY, 12, "SEC_UPL_WRITE_ON_EXEC_REGION", "a region of code was to be written to"},
    {GUARD_MEMORY, 13, "LARGE_ALLOCATION_TELEMETRY", "a very large piece of memory was asked for"},
    {GUARD_MEMORY, 98, "SEC_ACCESS_FAULT", "memory was used against its policy"},
    {GUARD_MEMORY, 99, "SEC_ASYNC_ACCESS_FAULT", "memory was used against its policy, told after the fact"},
    {GUARD_MEMORY, 100, "SEC_COPY_DENIED", "memory with tags was to be copied to where it may not go"},
    {GUARD_MEMORY, 101, "SEC_SHARING_DENIED", "memory with tags was to be shared, which it may not be"},
    {GUARD_MEMORY, 200, "MTE_SYNC_FAULT",
     "use of freed or overrun memory: the tag of the pointer does not fit the memory's"},
    {GUARD_MEMORY, 201, "MTE_ASYNC_USER_FAULT",
     "use of freed or overrun memory, told after the fact: the stack is of a later moment"},
    {GUARD_MEMORY, 202, "MTE_ASYNC_KERN_FAULT",
     "use of freed or overrun memory by the kernel for the process, told after the fact: the stack is of a "
     "later moment"},
    {GUARD_MEMORY, 203, "GUARD_OBJECT_ASYNC_USER_FAULT",
     "access past the end of a guarded allocation, told after the fact: the stack is of a later moment"},
    {GUARD_MEMORY, 204, "GUARD_OBJECT_ASYNC_KERN_FAULT",
     "access past the end of a guarded allocation by the kernel for the process, told after the fact"},
};

static void guard_decode(uint64_t code, guard *out)
{
    out->type = (guard_type)(code >> 61 & 7);
    out->flavor = (uint32_t)(code >> 32) & 0x1fffffff;
    out->target = (uint32_t)code;
}

/* "GUARD_TYPE_MACH_PORT" and "INVALID_NAME on mach port 78611 (guarded with 0x0)" */
static void guard_of_words(const report *r, guard *out)
{
    machsym_str subtype = codes_subtype(r);
    machsym_str message = str_trim(r->facts[FACT_MESSAGE]);
    machsym_str done = str_make(message.ptr, str_find(message, " on "));
    for (int type = GUARD_PORT; type < GUARD_UNKNOWN; type++) {
        if (str_starts(subtype, guard_type_name((guard_type)type)))
            out->type = (guard_type)type;
    }
    for (size_t i = 0; i < sizeof guard_flavors / sizeof *guard_flavors && out->flavor == 0; i++) {
        if (guard_flavors[i].type == out->type && str_is(done, guard_flavors[i].name))
            out->flavor = guard_flavors[i].flavor;
    }
}

/* In newer reports the exception's code has only the target. Then the termination has the whole code. */
void guard_find(const report *r, guard *out)
{
    exception_codes codes = codes_find(r);
    uint64_t ending = 0;
    memset(out, 0, sizeof *out);
    if (!guard_is(r, "EXC_GUARD") || !codes.has_first)
        return;
    guard_decode(codes.first, out);
    out->id = codes.second;
    if (out->type == GUARD_NONE && str_is(r->facts[FACT_TERMINATION], "GUARD") &&
        str_number_after(r->facts[FACT_TERMINATION_CODE], "", &ending))
        guard_decode(ending, out);
    if (out->type == GUARD_NONE) {
        guard_decode(codes.first, out);
        guard_of_words(r, out);
    }
}

static bool guard_is_bits(guard_type type)
{
    return type == GUARD_DESCRIPTOR || type == GUARD_FILE;
}

const char *guard_flavor_name(const guard *what)
{
    for (size_t i = 0; i < sizeof guard_flavors / sizeof *guard_flavors; i++) {
        if (guard_flavors[i].type == what->type && guard_flavors[i].flavor == what->flavor)
            return guard_flavors[i].name;
    }
    return NULL;
}

/* Writes the violation in words; its number if it has no words. */
static void guard_put_flavor(text *t, const guard *what)
{
    unsigned count = 0;
    for (size_t i = 0; i < sizeof guard_flavors / sizeof *guard_flavors; i++) {
        const struct guard_flavor *one = &guard_flavors[i];
        bool is_it =
            guard_is_bits(what->type) ? (what->flavor & one->flavor) != 0 : what->flavor == one->flavor;
        if (one->type != what->type || !is_it)
            continue;
        text_c(t, count++ > 0 ? " and " : "");
        text_c(t, one->words);
    }
    if (count == 0) {
        text_c(t, "flavor 0x");
        text_hex(t, what->flavor, 1);
    }
}

static void guard_put_user(text *t, const guard *what)
{
    const char *space = termination_space_name(what->target);
    text_c(t, "a check of a library failed, and it asked for this report: namespace ");
    if (space != NULL)
        text_c(t, space);
    else
        text_dec(t, what->target);
    text_c(t, ", code 0x");
    text_hex(t, what->id, 1);
}

/* mach/vm_statistics.h: kGUARD_EXC_MTE_SOFT_MODE. */
static bool guard_is_soft(const guard *what)
{
    enum { MTE_SYNC = 200, MTE_LAST = 204, SOFT_MODE = 0x100000 };
    return what->flavor >= MTE_SYNC && what->flavor <= MTE_LAST && (what->target & SOFT_MODE) != 0;
}

static void guard_put_held(text *t, const guard *what, const char *what_it_is)
{
    text_c(t, what_it_is);
    text_dec(t, what->target);
    text_c(t, " was ");
    guard_put_flavor(t, what);
    text_c(t, " (guard 0x");
    text_hex(t, what->id, 1);
    text_char(t, ')');
}

void guard_put(text *t, const guard *what)
{
    switch (what->type) {
    case GUARD_DESCRIPTOR:
        guard_put_held(t, what, "a guarded file descriptor was misused: descriptor ");
        break;
    case GUARD_PORT: guard_put_held(t, what, "a Mach port was misused: port "); break;
    case GUARD_FILE:
        text_c(t, "a guarded file was misused: it was ");
        guard_put_flavor(t, what);
        text_c(t, ", by process ");
        text_dec(t, what->target);
        break;
    case GUARD_USER: guard_put_user(t, what); break;
    case GUARD_MEMORY:
        guard_put_flavor(t, what);
        text_c(t, ", at 0x");
        text_hex(t, what->id, 1);
        text_c(t, guard_is_soft(what) ? "; in soft mode, so the process went on" : "");
        break;
    case GUARD_SYSCALL:
        text_c(t, what->target != 0 ? "the process may not make this call of Mach: trap "
                                    : "the process may not make this system call: number ");
        text_dec(t, what->id);
        break;
    default: text_c(t, "a guarded resource was misused");
    }
    text_char(t, '\n');
}

/* ---- EXC_RESOURCE ---- */

/* Bits of the codes as kern/exc_resource.h has them. */
static uint64_t guard_bits(uint64_t code, unsigned from, unsigned count)
{
    return code >> from & (((uint64_t)1 << count) - 1);
}

static void guard_put_rate(text *t, const char *what, uint64_t limit, const char *unit, uint64_t seconds,
                           uint64_t seen)
{
    text_c(t, what);
    text_dec(t, limit);
    text_c(t, unit);
    if (seconds > 0) {
        text_c(t, " over ");
        text_dec(t, seconds);
        text_c(t, " s");
    }
    if (seen > 0) {
        text_c(t, "; seen were ");
        text_dec(t, seen);
        text_c(t, unit);
    }
}

bool guard_put_limit(text *t, const report *r)
{
    enum { CPU = 1, WAKEUPS, MEMORY, IO, THREADS, PORTS };
    exception_codes codes = codes_find(r);
    uint64_t first = codes.first;
    uint64_t flavor = guard_bits(first, 58, 3);
    if (!codes.has_first)
        return false;
    switch (guard_bits(first, 61, 3)) {
    case CPU:
        guard_put_rate(t, "more CPU time than the limit of ", guard_bits(first, 0, 7), "%",
                       guard_bits(first, 7, 25), guard_bits(codes.second, 0, 7));
        text_c(t, flavor == 2 ? "; the process was ended" : "");
        break;
    case WAKEUPS:
        guard_put_rate(t, "more wakeups of the processor than the limit of ", guard_bits(first, 0, 20),
                       " a second", guard_bits(first, 20, 12), guard_bits(codes.second, 0, 20));
        break;
    case MEMORY:
        guard_put_rate(t, "more memory than the limit of ", guard_bits(first, 0, 13), " MB", 0, 0);
        break;
    case IO:
        guard_put_rate(t,
                       flavor == 2 ? "more written to files than the limit of "
                                   : "more written to disk than the limit of ",
                       guard_bits(first, 0, 15), " MB", guard_bits(first, 15, 17),
                       guard_bits(codes.second, 0, 15));
        break;
    case THREADS:
        guard_put_rate(t, "more threads than the limit of ", guard_bits(first, 0, 15), "", 0, 0);
        break;
    case PORTS:
        guard_put_rate(t, "no space for more Mach ports: ", guard_bits(first, 0, 24), " are in use", 0, 0);
        break;
    default: return false;
    }
    text_char(t, '\n');
    return true;
}
