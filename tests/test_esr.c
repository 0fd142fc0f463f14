/* The syndrome of an arm64 exception over its whole space, against tables as the Arm Architecture Reference Manual has
 * them ("ESR_EL1, Exception Syndrome Register": EC, and the ISS encodings of instruction and data aborts). */
#include "test.h"

#include "../report/tell/esr.h"

#include <string.h>

/* EC, by value: a letter a class. U: unallocated, or a class that no crash report of a process has. */
static const char classes[64 + 1] =
    /* 0x00 */
    "UUUUUUUUUUUUUTIU"            /* 0x0d branch target, 0x0e illegal execution state */
    /* 0x10 */ "UUUUUSUUUUUUFUUU" /* 0x15 svc, 0x1c a pointer authentication instruction failed (FEAT_FPAC) */
                                  /* 0x20 */
    "AAPUDDKUUUUUEUUU" /* 0x20, 0x21 instruction abort, 0x22 pc alignment, 0x24, 0x25 data abort, 0x26 sp
                                      alignment, 0x2c floating point */
    /* 0x30 */ "UUUUUUUUUUUUBUUU" /* 0x3c brk */;

static esr_class class_of(char letter)
{
    switch (letter) {
    case 'T': return ESR_BRANCH_TARGET;
    case 'I': return ESR_ILLEGAL_STATE;
    case 'S': return ESR_SYSCALL;
    case 'F': return ESR_POINTER_AUTH;
    case 'A': return ESR_INSTRUCTION_ABORT;
    case 'P': return ESR_PC_ALIGNMENT;
    case 'D': return ESR_DATA_ABORT;
    case 'K': return ESR_SP_ALIGNMENT;
    case 'E': return ESR_FLOAT;
    case 'B': return ESR_BRK;
    default: return ESR_OTHER;
    }
}

/* DFSC, bits 5 to 0, in binary as the manual writes it. Codes that are not here are reserved, or are granule protection
 * faults, hardware updates and implementation defined, which no process of a user sees. */
static const struct {
    const char *bits;
    esr_fault fault;
    bool is_data_only;
} codes[] = {
    {"000000", ESR_FAULT_ADDRESS_SIZE, false}, /* level 0, or the base register of the tables */
    {"000001", ESR_FAULT_ADDRESS_SIZE, false},
    {"000010", ESR_FAULT_ADDRESS_SIZE, false},
    {"000011", ESR_FAULT_ADDRESS_SIZE, false},
    {"000100", ESR_FAULT_TRANSLATION, false},
    {"000101", ESR_FAULT_TRANSLATION, false},
    {"000110", ESR_FAULT_TRANSLATION, false},
    {"000111", ESR_FAULT_TRANSLATION, false},
    {"001000", ESR_FAULT_ACCESS_FLAG, false}, /* level 0: FEAT_LPA2 */
    {"001001", ESR_FAULT_ACCESS_FLAG, false},
    {"001010", ESR_FAULT_ACCESS_FLAG, false},
    {"001011", ESR_FAULT_ACCESS_FLAG, false},
    {"001100", ESR_FAULT_PERMISSION, false}, /* level 0: FEAT_LPA2 */
    {"001101", ESR_FAULT_PERMISSION, false},
    {"001110", ESR_FAULT_PERMISSION, false},
    {"001111", ESR_FAULT_PERMISSION, false},
    {"010000", ESR_FAULT_EXTERNAL, false}, /* not on a walk of the tables */
    {"010001", ESR_FAULT_TAG, true},       /* FEAT_MTE2 */
    {"010010", ESR_FAULT_EXTERNAL, false}, /* on a walk, level -2 */
    {"010011", ESR_FAULT_EXTERNAL, false}, /* on a walk, level -1 */
    {"010100", ESR_FAULT_EXTERNAL, false},
    {"010101", ESR_FAULT_EXTERNAL, false},
    {"010110", ESR_FAULT_EXTERNAL, false},
    {"010111", ESR_FAULT_EXTERNAL, false},
    {"011000", ESR_FAULT_EXTERNAL, false}, /* parity or ECC, not on a walk */
    {"011011", ESR_FAULT_EXTERNAL, false}, /* parity or ECC on a walk, level -1 */
    {"011100", ESR_FAULT_EXTERNAL, false},
    {"011101", ESR_FAULT_EXTERNAL, false},
    {"011110", ESR_FAULT_EXTERNAL, false},
    {"011111", ESR_FAULT_EXTERNAL, false},
    {"100001", ESR_FAULT_ALIGNMENT, true},
    {"101001", ESR_FAULT_ADDRESS_SIZE, false}, /* level -1 */
    {"101010", ESR_FAULT_TRANSLATION, false},  /* level -2 */
    {"101011", ESR_FAULT_TRANSLATION, false},  /* level -1 */
    {"101100", ESR_FAULT_ADDRESS_SIZE, false}, /* level -2 */
    {"110000", ESR_FAULT_TLB_CONFLICT, false},
    {"110101", ESR_FAULT_EXCLUSIVE, true},
};

static esr_fault fault_of(unsigned status, bool is_data)
{
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        unsigned value = 0;
        for (const char *bit = codes[i].bits; *bit != '\0'; bit++)
            value = value * 2 + (unsigned)(*bit - '0');
        if (value == status && (is_data || !codes[i].is_data_only))
            return codes[i].fault;
    }
    return ESR_FAULT_OTHER;
}

/* Every class with every value of the fields that mean something, and the bits between them set and clear. */
static void test_space(void)
{
    static const unsigned sizes[] = {1, 2, 4, 8};
    test_begin();
    for (uint32_t ec = 0; ec < 64; ec++) {
        esr_class what = class_of(classes[ec]);
        bool is_data = what == ESR_DATA_ABORT;
        bool is_abort = is_data || what == ESR_INSTRUCTION_ABORT;
        for (uint32_t iss = 0; iss < 1 << 12; iss++) {
            /* bits 0 to 6, 8 and 10 as they are counted; 22 and 23, 24 by the highest three */
            uint32_t low = (iss & 0x7f) | (iss >> 7 & 1) << 8 | (iss >> 8 & 1) << 10;
            uint32_t esr = ec << 26 | (uint32_t)1 << 25 | (iss >> 9 & 3) << 22 | (iss >> 11 & 1) << 24 | low;
            bool is_write = (esr & 0x40) != 0;
            bool is_maintenance = (esr & 0x100) != 0;
            bool has_size = (esr & 0x1000000) != 0;
            esr_syndrome got = esr_decode(esr);
            CHECK_EQ(got.what, what);
            CHECK_EQ(got.fault, is_abort ? fault_of(esr & 0x3f, is_data) : ESR_FAULT_NONE);
            CHECK_EQ(got.access, !is_abort        ? ESR_ACCESS_UNKNOWN
                                 : !is_data       ? ESR_ACCESS_EXECUTE
                                 : is_maintenance ? ESR_ACCESS_UNKNOWN
                                 : is_write       ? ESR_ACCESS_WRITE
                                                  : ESR_ACCESS_READ);
            CHECK_EQ(got.size, is_data && has_size ? sizes[esr >> 22 & 3] : 0);
            CHECK_EQ(got.no_address, is_abort && (esr & 0x3f) == 0x10 && (esr & 0x400) != 0);
            /* what other fields hold changes nothing */
            esr_syndrome other = esr_decode(esr ^ 0x3e80u);
            CHECK_EQ(other.access, got.access);
            CHECK_EQ(other.fault, got.fault);
            CHECK_EQ(other.size, got.size);
            other = esr_decode((uint64_t)0x1f << 32 | esr);
            CHECK_EQ(other.what, got.what);
            CHECK_EQ(other.access, got.access);
        }
    }
    test_end("every class, fault, direction and size");
}

/* Syndromes that reports of Apple print, with their words for them. */
static void test_printed(void)
{
    esr_syndrome esr = esr_decode(0x92000006); /* (Data Abort) byte read Translation fault */
    CHECK_EQ(esr.what, ESR_DATA_ABORT);
    CHECK_EQ(esr.fault, ESR_FAULT_TRANSLATION);
    CHECK_EQ(esr.access, ESR_ACCESS_READ);
    CHECK_EQ(esr.size, 0);
    esr = esr_decode(0x9200004f); /* (Data Abort) byte write Permission fault */
    CHECK_EQ(esr.fault, ESR_FAULT_PERMISSION);
    CHECK_EQ(esr.access, ESR_ACCESS_WRITE);
    esr = esr_decode(0x92000011); /* (Data Abort) byte read Synchronous Tag Check Fault */
    CHECK_EQ(esr.fault, ESR_FAULT_TAG);
    esr = esr_decode(0x82000006); /* (Instruction Abort) Translation fault */
    CHECK_EQ(esr.what, ESR_INSTRUCTION_ABORT);
    CHECK_EQ(esr.access, ESR_ACCESS_EXECUTE);
    esr = esr_decode(0xf2000001); /* (Breakpoint) brk 1 */
    CHECK_EQ(esr.what, ESR_BRK);
    CHECK_EQ(esr.comment, 1);
    esr = esr_decode(0x56000080); /* Address size fault: a system call */
    CHECK_EQ(esr.what, ESR_SYSCALL);
    CHECK_EQ(esr.fault, ESR_FAULT_NONE);
}

int main(void)
{
    test_space();
    test_printed();
    return test_done();
}
