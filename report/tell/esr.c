/* See esr.h. */
#include "esr.h"

static esr_class esr_class_of(unsigned ec)
{
    switch (ec) {
    case 0x0d: return ESR_BRANCH_TARGET;
    case 0x0e: return ESR_ILLEGAL_STATE;
    case 0x15: return ESR_SYSCALL;
    case 0x1c: return ESR_POINTER_AUTH;
    case 0x20:
    case 0x21: return ESR_INSTRUCTION_ABORT;
    case 0x22: return ESR_PC_ALIGNMENT;
    case 0x24:
    case 0x25: return ESR_DATA_ABORT;
    case 0x26: return ESR_SP_ALIGNMENT;
    case 0x2c: return ESR_FLOAT;
    case 0x3c: return ESR_BRK;
    default: return ESR_OTHER;
    }
}

/* DFSC and IFSC are bits 5 to 0, whose low two bits are a level of the tables. FEAT_LPA2 has levels below 0,
 * with codes of their own: 0x29 address size, 0x2b translation, 0x2c address size at level -2, 0x2a
 * translation at level -2. */
static esr_fault esr_fault_of(unsigned status, bool is_data)
{
    if (status <= 0x03 || status == 0x29 || status == 0x2c)
        return ESR_FAULT_ADDRESS_SIZE;
    if (status <= 0x07 || status == 0x2a || status == 0x2b)
        return ESR_FAULT_TRANSLATION;
    if (status <= 0x0b)
        return ESR_FAULT_ACCESS_FLAG;
    if (status <= 0x0f)
        return ESR_FAULT_PERMISSION;
    if (status == 0x11)
        return is_data ? ESR_FAULT_TAG : ESR_FAULT_OTHER;
    if (status <= 0x1f)
        return status == 0x19 || status == 0x1a ? ESR_FAULT_OTHER : ESR_FAULT_EXTERNAL;
    if (status == 0x21)
        return is_data ? ESR_FAULT_ALIGNMENT : ESR_FAULT_OTHER;
    if (status == 0x30)
        return ESR_FAULT_TLB_CONFLICT;
    if (is_data && status == 0x35)
        return ESR_FAULT_EXCLUSIVE;
    return ESR_FAULT_OTHER;
}

esr_syndrome esr_decode(uint64_t esr)
{
    enum { FNV = 1 << 10, CM = 1 << 8, WNR = 1 << 6, ISV = 1 << 24 };
    esr_syndrome out = {ESR_OTHER, ESR_FAULT_NONE, ESR_ACCESS_UNKNOWN, 0, false, 0};
    uint32_t iss = (uint32_t)esr & 0x1ffffff;
    bool is_data;
    out.what = esr_class_of((unsigned)(esr >> 26) & 0x3f);
    if (out.what == ESR_BRK)
        out.comment = iss & 0xffff;
    is_data = out.what == ESR_DATA_ABORT;
    if (!is_data && out.what != ESR_INSTRUCTION_ABORT)
        return out;
    out.fault = esr_fault_of(iss & 0x3f, is_data);
    out.no_address = (iss & 0x3f) == 0x10 && (iss & FNV) != 0;
    if (!is_data) {
        out.access = ESR_ACCESS_EXECUTE;
        return out;
    }
    /* cache maintenance always has WnR set, though it writes nothing */
    if ((iss & CM) == 0)
        out.access = (iss & WNR) != 0 ? ESR_ACCESS_WRITE : ESR_ACCESS_READ;
    if ((iss & ISV) != 0)
        out.size = 1u << (iss >> 22 & 3);
    return out;
}
