/* ==== >> tell/a64 ====
 * Job: how many bytes an instruction of arm64 reads from memory or writes to it.
 * Offers: a64_access.
 * Never: guesses: what it does not know has no size.
 *
 * After the Arm Architecture Reference Manual for A-profile, "Loads and stores". */
#ifndef REPORT_TELL_A64_H
#define REPORT_TELL_A64_H

#include <stdint.h>

/* Returns the bytes of the access, including both registers of a pair; 0: neither load nor store, or
 * unknown. */
unsigned a64_access(uint32_t instruction);

#endif
