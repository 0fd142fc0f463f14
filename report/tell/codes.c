/* See codes.h. */
#include "codes.h"
#include "../base/digits.h"
#include "../base/text.h"

exception_codes codes_find(const report *r)
{
    static const report_fact facts[] = {FACT_RAW_CODES, FACT_CODES};
    exception_codes out = {false, false, 0, 0};
    for (size_t i = 0; i < sizeof facts / sizeof *facts && !out.has_first; i++) {
        machsym_str codes = r->facts[facts[i]];
        out.has_first = str_number_after(codes, "", &out.first);
        out.has_second = out.has_first && str_number_after(codes, ",", &out.second);
    }
    return out;
}

machsym_str codes_subtype(const report *r)
{
    if (r->facts[FACT_SUBTYPE].len > 0)
        return r->facts[FACT_SUBTYPE];
    return str_starts(r->facts[FACT_CODES], "0x") ? str_make(NULL, 0) : r->facts[FACT_CODES];
}
