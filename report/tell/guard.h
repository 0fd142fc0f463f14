/* ==== >> tell/guard ====
 * Job: the codes of EXC_GUARD and EXC_RESOURCE: which guard or limit, of what, and what was done.
 * Offers: guard_find, guard_put, guard_type_name, guard_put_limit.
 * Never: decodes the codes of other exceptions. */
#ifndef REPORT_TELL_GUARD_H
#define REPORT_TELL_GUARD_H

#include "../base/text.h"
#include "../model/report.h"

/* kern/exc_guard.h: bits 63 to 61 of the first code. */
typedef enum guard_type {
    GUARD_NONE = 0,
    GUARD_PORT,
    GUARD_DESCRIPTOR,
    GUARD_USER,
    GUARD_FILE, /* a vnode */
    GUARD_MEMORY,
    GUARD_SYSCALL,
    GUARD_UNKNOWN
} guard_type;

/* A guard that was violated. */
typedef struct guard {
    guard_type type; /* GUARD_NONE: the report is of no EXC_GUARD, or has no codes */
    uint32_t flavor; /* what was done */
    uint32_t target; /* the descriptor, port, process or namespace */
    uint64_t id;     /* the guard's value; of memory the offset, of a system call its number */
} guard;

void guard_find(const report *r, guard *out);
/* What was done to what, a line. */
void guard_put(text *t, const guard *what);
/* GUARD_TYPE_FD and so on, as the kernel calls them. */
const char *guard_type_name(guard_type type);
/* The flavor as the kernel calls it, without kGUARD_EXC_ or VNG_; NULL: several at once, or none that is
 * known. */
const char *guard_flavor_name(const guard *what);
/* EXC_RESOURCE: which limit and by how much, a line. Returns false where the codes do not tell. */
bool guard_put_limit(text *t, const report *r);

#endif
