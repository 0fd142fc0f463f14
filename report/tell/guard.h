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

/* A violated guard. */
typedef struct guard {
    guard_type type; /* GUARD_NONE: the report is not about EXC_GUARD, or has no codes */
    uint32_t flavor; /* the violation */
    uint32_t target; /* the descriptor, port, process or namespace */
    uint64_t id;     /* value of the guard; for memory the offset, for a system call its number */
} guard;

void guard_find(const report *r, guard *out);
/* Writes the violation and the guarded object on one line. */
void guard_put(text *t, const guard *what);
/* Returns the kernel's name: GUARD_TYPE_FD and so on. */
const char *guard_type_name(guard_type type);
/* Returns the kernel's name of the flavor without kGUARD_EXC_ or VNG_; NULL: several at once, or unknown. */
const char *guard_flavor_name(const guard *what);
/* Writes which limit of EXC_RESOURCE was exceeded and by how much, on one line. Returns false if the codes do
 * not say. */
bool guard_put_limit(text *t, const report *r);

#endif
