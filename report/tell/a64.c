/* See a64.h. */
#include "a64.h"

#include <stdbool.h>

static uint32_t a64_bits(uint32_t instruction, unsigned from, unsigned count)
{
    return instruction >> from & ((1u << count) - 1);
}

/* LDR, STR and similar, with one register; opc is bits 23 and 22. In vectors, bit 23 is part of the size. */
static unsigned a64_one(uint32_t instruction)
{
    enum { PREFETCH = 2, REGISTER_OFFSET = 2 };
    uint32_t size = a64_bits(instruction, 30, 2);
    uint32_t opc = a64_bits(instruction, 22, 2);
    bool is_vector = a64_bits(instruction, 26, 1) != 0;
    bool is_immediate = a64_bits(instruction, 24, 1) != 0;
    bool is_other = !is_immediate && a64_bits(instruction, 21, 1) != 0;
    if (is_vector)
        return is_other && a64_bits(instruction, 10, 2) != REGISTER_OFFSET ? 0
               : opc < 2                                                   ? 1u << size
               : size == 0                                                 ? 16
                                                                           : 0;
    if (is_other && a64_bits(instruction, 10, 2) == 0) /* LDADD, SWP and other atomics */
        return 1u << size;
    if (is_other && a64_bits(instruction, 10, 2) != REGISTER_OFFSET) /* LDRAA and LDRAB access 8 bytes */
        return size == 3 ? 8 : 0;
    if ((size == 3 && opc >= PREFETCH) || (size == 2 && opc == 3))
        return 0;
    return 1u << size;
}

/* LDP, STP, LDNP, STNP, LDPSW */
static unsigned a64_pair(uint32_t instruction)
{
    uint32_t opc = a64_bits(instruction, 30, 2);
    bool is_load = a64_bits(instruction, 22, 1) != 0;
    if (opc == 3)
        return 0;
    if (a64_bits(instruction, 26, 1) != 0)
        return 8u << opc;
    if (opc == 1) /* LDPSW reads two words; STGP writes 16 bytes and a tag */
        return is_load ? 8 : 16;
    return opc == 0 ? 8 : 16;
}

/* LDR (literal) */
static unsigned a64_literal(uint32_t instruction)
{
    uint32_t opc = a64_bits(instruction, 30, 2);
    if (opc == 3)
        return 0;
    if (a64_bits(instruction, 26, 1) != 0)
        return 4u << opc;
    return opc == 1 ? 8 : 4;
}

/* LDXR, STLR, CAS and similar: bit 23 means ordered or compare, bit 21 a pair or compare */
static unsigned a64_exclusive(uint32_t instruction)
{
    uint32_t size = a64_bits(instruction, 30, 2);
    bool is_ordered = a64_bits(instruction, 23, 1) != 0;
    bool is_pair = a64_bits(instruction, 21, 1) != 0;
    if (!is_pair || is_ordered)
        return 1u << size;
    return size < 2 ? 8u << size : 2u << size; /* CASP accesses two words or doublewords; LDXP, STXP */
}

unsigned a64_access(uint32_t instruction)
{
    uint32_t group = a64_bits(instruction, 24, 6) & 0x3b; /* without V, bit 26 */
    bool is_vector = a64_bits(instruction, 26, 1) != 0;
    switch (group) {
    case 0x38:
    case 0x39: return a64_one(instruction);
    case 0x28:
    case 0x29: return a64_pair(instruction);
    case 0x18: return a64_literal(instruction);
    case 0x19: /* LDAPUR, STLUR */
        return !is_vector && a64_bits(instruction, 21, 1) == 0 && a64_bits(instruction, 10, 2) == 0
                   ? 1u << a64_bits(instruction, 30, 2)
                   : 0;
    case 0x08: return is_vector ? 0 : a64_exclusive(instruction);
    default: return 0;
    }
}
