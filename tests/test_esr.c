/* The sizes of loads and stores, against llvm-mc; the syndrome of an arm64 exception over its whole space, against tables as the Arm Architecture Reference Manual has
 * them ("ESR_EL1, Exception Syndrome Register": EC, and the ISS encodings of instruction and data aborts). */
#include "test.h"

#include "../report/tell/a64.h"
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

/* Instructions, and the bytes that each reads or writes by its name and its registers, as llvm-mc 22 prints them:
 * echo '0x08, 0x02, 0x40, 0xf9' | llvm-mc-22 --disassemble -triple=arm64-apple-macos -mattr=+v8.5a,+mte */
static const struct {
    uint32_t instruction;
    unsigned size;
} accesses[] = {
    {0x88a07cbe, 4},  /* cas w0, w30, [x5] */
    {0xc8fe7e9c, 8},  /* casa x30, x28, [x20] */
    {0x88e8fff8, 4},  /* casal w8, w24, [sp] */
    {0x48fefce8, 2},  /* casalh w30, w8, [x7] */
    {0x88a0fd6e, 4},  /* casl w0, w14, [x11] */
    {0x48bffcee, 2},  /* caslh wzr, w14, [x7] */
    {0x0cd48b2f, 0},  /* ld2 { v15.2s, v16.2s }, [x25], x20 */
    {0x0dc5e113, 0},  /* ld3r { v19.8b, v20.8b, v21.8b }, [x8], x5 */
    {0xb82a006c, 4},  /* ldadd w10, w12, [x3] */
    {0x38bf03f4, 1},  /* ldaddab wzr, w20, [sp] */
    {0xf86a0169, 8},  /* ldaddl x10, x9, [x11] */
    {0x1988f294, 1},  /* ldapursb x20, [x20, #143] */
    {0x08c48815, 1},  /* ldarb w21, [x0] */
    {0xc868b299, 16}, /* ldaxp x25, x12, [x20] */
    {0x0851dc57, 1},  /* ldaxrb w23, [x2] */
    {0xf82b1261, 8},  /* ldclr x11, x1, [x19] */
    {0x3826116c, 1},  /* ldclrb w6, w12, [x11] */
    {0x38671083, 1},  /* ldclrlb w7, w3, [x4] */
    {0xf8e4230a, 8},  /* ldeoral x4, x10, [x24] */
    {0x783921fa, 2},  /* ldeorh w25, w26, [x15] */
    {0xd961033c, 0},  /* ldg x28, [x25, #256] */
    {0x08d9798f, 1},  /* ldlarb w15, [x12] */
    {0xac6d6491, 32}, /* ldnp q17, q25, [x4, #-608] */
    {0xa8598b42, 16}, /* ldnp x2, x2, [x26, #408] */
    {0x2ce6ed4e, 8},  /* ldp s14, s27, [x10], #-204 */
    {0x68dadeed, 8},  /* ldpsw x13, x23, [x23], #212 */
    {0x7c552ce2, 2},  /* ldr h2, [x7, #-174]! */
    {0x18098a7f, 4},  /* ldr wzr, #78156 */
    {0xf8aed664, 8},  /* ldrab x4, [x19, #1896] */
    {0x38d63410, 1},  /* ldrsb w16, [x0], #-157 */
    {0x78a3f9e9, 2},  /* ldrsh x9, [x15, x3, sxtx #1] */
    {0xf837336a, 8},  /* ldset x23, x10, [x27] */
    {0x38293257, 1},  /* ldsetb w9, w23, [x18] */
    {0x386631ad, 1},  /* ldsetlb w6, w13, [x13] */
    {0x38295047, 1},  /* ldsminb w9, w7, [x2] */
    {0xf84fc8a4, 8},  /* ldtr x4, [x5, #252] */
    {0x38c0281b, 1},  /* ldtrsb w27, [x0, #2] */
    {0x788e9830, 2},  /* ldtrsh x16, [x1, #233] */
    {0x38286105, 1},  /* ldumaxb w8, w5, [x8] */
    {0x7c584264, 2},  /* ldur h4, [x19, #-124] */
    {0xb85c9312, 4},  /* ldur w18, [x24, #-55] */
    {0x785941d1, 2},  /* ldurh w17, [x14, #-108] */
    {0x78d6615e, 2},  /* ldursh w30, [x10, #-154] */
    {0x88741c1e, 8},  /* ldxp w30, w7, [x0] */
    {0xc8436f1e, 8},  /* ldxr x30, [x24] */
    {0xd8ba3b9a, 0},  /* prfm #26, #-571536 */
    {0xf890f2ed, 0},  /* prfum plil3strm, [x23, #-241] */
    {0x0c967a5f, 0},  /* st1 { v31.2s }, [x18], x22 */
    {0xd9bd4502, 0},  /* st2g x2, [x8], #-704 */
    {0x782210df, 2},  /* stclrh w2, [x6] */
    {0xf875223f, 8},  /* steorl x21, [x17] */
    {0x68beac02, 16}, /* stgp x2, x11, [x0], #-48 */
    {0x08851013, 1},  /* stllrb w19, [x0] */
    {0xc887bdb8, 8},  /* stlr x24, [x13] */
    {0x990c73e7, 4},  /* stlur w7, [sp, #199] */
    {0x591270c0, 2},  /* stlurh w0, [x6, #-217] */
    {0x080693b7, 1},  /* stlxrb w6, w23, [x29] */
    {0xac277b58, 32}, /* stnp q24, q30, [x26, #-800] */
    {0xa8233f2c, 16}, /* stnp x12, x15, [x25, #-464] */
    {0x2ca6a217, 8},  /* stp s23, s8, [x16], #-204 */
    {0x3c02dd3d, 1},  /* str b29, [x9, #45]! */
    {0x3c9df7a2, 16}, /* str q2, [x29], #-33 */
    {0xf80eaf5a, 8},  /* str x26, [x26, #234]! */
    {0x386641bf, 1},  /* stsmaxlb w6, [x13] */
    {0xf80c5a73, 8},  /* sttr x19, [x19, #197] */
    {0x7835735f, 2},  /* stuminh w21, [x26] */
    {0x7c12b1c2, 2},  /* stur h2, [x14, #-213] */
    {0xb81ac012, 4},  /* stur w18, [x0, #-84] */
    {0x78085240, 2},  /* sturh w0, [x18, #133] */
    {0x0810367e, 1},  /* stxrb w16, w30, [x19] */
    {0xd9f82f36, 0},  /* stz2g x22, [x25, #-2016]! */
    {0xb8378034, 4},  /* swp w23, w20, [x1] */
    {0xf8a28125, 8},  /* swpa x2, x5, [x9] */
    {0xb8ee821b, 4},  /* swpal w14, w27, [x16] */
    {0x78eb817f,
     2}, /* swpalh w11, wzr, [x11]                 ; acquire semantics dropped since destination is zero */
    {0xb86e8204, 4}, /* swpl w14, w4, [x16] */
    {0x786a8363, 2}, /* swplh w10, w3, [x27] */
    {0xd65f03c0, 0}, /* ret */
    {0x91000000, 0}, /* add x0, x0, #0 */
    {0xd4200020, 0}, /* brk #0x1 */
};

static void test_sizes(void)
{
    for (size_t i = 0; i < sizeof accesses / sizeof *accesses; i++)
        CHECK_EQ(a64_access(accesses[i].instruction), accesses[i].size);
}

int main(void)
{
    test_sizes();
    test_space();
    test_printed();
    return test_done();
}
