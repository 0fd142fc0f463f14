/* ==== >> tell/esr ====
 * Job: decodes an arm64 exception from the syndrome register, ESR_EL1.
 * Offers: esr_decode.
 * Never: guesses: what the architecture leaves open is unknown here, too.
 *
 * After the Arm Architecture Reference Manual for A-profile, "ESR_EL1, Exception Syndrome Register": EC in
 * bits 31 to 26, ISS in bits 24 to 0. */
#ifndef REPORT_TELL_ESR_H
#define REPORT_TELL_ESR_H

#include <stdbool.h>
#include <stdint.h>

/* The classes of exceptions that occur in crash reports. */
typedef enum esr_class {
    ESR_OTHER = 0,
    ESR_ILLEGAL_STATE,     /* 0x0e */
    ESR_BRANCH_TARGET,     /* 0x0d: a jump to an instruction that is not a branch target */
    ESR_SYSCALL,           /* 0x15 */
    ESR_POINTER_AUTH,      /* 0x1c: with FEAT_FPAC, a failed authentication traps at once */
    ESR_INSTRUCTION_ABORT, /* 0x20, 0x21 */
    ESR_PC_ALIGNMENT,      /* 0x22 */
    ESR_DATA_ABORT,        /* 0x24, 0x25 */
    ESR_SP_ALIGNMENT,      /* 0x26 */
    ESR_FLOAT,             /* 0x2c */
    ESR_BRK                /* 0x3c; 0x30 to 0x35 are a debugger's */
} esr_class;

/* Why an access to memory failed: the fault status code. */
typedef enum esr_fault {
    ESR_FAULT_NONE = 0, /* not an abort */
    ESR_FAULT_OTHER,
    ESR_FAULT_ADDRESS_SIZE,
    ESR_FAULT_TRANSLATION, /* nothing is mapped there */
    ESR_FAULT_ACCESS_FLAG,
    ESR_FAULT_PERMISSION, /* mapped, but without this right */
    ESR_FAULT_TAG,        /* synchronous tag check fault */
    ESR_FAULT_ALIGNMENT,
    ESR_FAULT_EXTERNAL, /* the memory itself answered with an error */
    ESR_FAULT_TLB_CONFLICT,
    ESR_FAULT_EXCLUSIVE /* an atomic or exclusive access that this memory does not support */
} esr_fault;

typedef enum esr_access {
    ESR_ACCESS_UNKNOWN = 0,
    ESR_ACCESS_READ,
    ESR_ACCESS_WRITE,
    ESR_ACCESS_EXECUTE
} esr_access;

/* The fields of a syndrome. */
typedef struct esr_syndrome {
    esr_class what;
    esr_fault fault;
    esr_access access;
    unsigned size;    /* bytes of the access; 0: unknown. It is known only if ISV is set */
    bool no_address;  /* far is invalid */
    uint32_t comment; /* brk: its immediate */
} esr_syndrome;

esr_syndrome esr_decode(uint64_t esr);

#endif
