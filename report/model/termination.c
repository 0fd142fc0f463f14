/* See termination.h. */
#include "termination.h"
#include "../base/digits.h"
#include "../base/text.h"

#include <string.h>

const char *termination_space_name(uint64_t number)
{
    switch (number) {
#define SPACE_NAME(name, number)                                                                             \
    case SPACE_##name: return #name;
        TERMINATION_SPACES(SPACE_NAME)
#undef SPACE_NAME
    default: return NULL;
    }
}

static bool termination_is_upper(char c)
{
    return (c >= 'A' && c <= 'Z') || c == '_';
}

/* The digits at the start of s, with "0x". */
static machsym_str termination_number_at(machsym_str s)
{
    bool hex = s.len > 2 && s.ptr[0] == '0' && (s.ptr[1] | 32) == 'x';
    size_t at = 2 * hex;
    while (at < s.len && ((s.ptr[at] >= '0' && s.ptr[at] <= '9') ||
                          (hex && (s.ptr[at] | 32) >= 'a' && (s.ptr[at] | 32) <= 'f')))
        at++;
    return str_make(s.ptr, at > 2u * hex ? at : 0);
}

/* "<RBSTerminateContext| domain:10 code:0x8BADF00D explanation:..." has the fields that stand before it in
 * other reports. */
static void termination_set_from_context(report *r, machsym_str s)
{
    uint64_t domain;
    machsym_str context = str_after(s, "<RBSTerminateContext|");
    if (context.len == 0)
        return;
    if (str_number_after(context, "domain:", &domain) && domain < SPACE_FIRST_WITHOUT_NUMBER &&
        termination_space_name(domain) != NULL)
        report_set_fact(r, FACT_TERMINATION, str_c(termination_space_name(domain)));
    report_set_fact(r, FACT_TERMINATION_CODE, termination_number_at(str_after(context, "code:")));
}

/* "[Namespace ]NAME[,] [Code ]N[,][ words]" and "NAME, [0xN] words". */
void termination_parse(report *r, machsym_str s)
{
    size_t name = 0;
    s = str_trim_end(str_trim(s));
    machsym_str rest = str_starts(s, "Namespace ") ? str_trim(str_from(s, sizeof "Namespace " - 1)) : s;
    while (name < rest.len && termination_is_upper(rest.ptr[name]))
        name++;
    if (name > 0) {
        machsym_str code = str_from(rest, name);
        while (code.len > 0 && (code.ptr[0] == ',' || code.ptr[0] == ' ' || code.ptr[0] == '['))
            code = str_from(code, 1);
        if (str_starts(code, "Code "))
            code = str_trim(str_from(code, sizeof "Code " - 1));
        machsym_str number = termination_number_at(code);
        report_set_fact(r, FACT_TERMINATION, str_make(rest.ptr, name));
        report_set_fact(r, FACT_TERMINATION_CODE, number);
        rest = str_from(code, number.len);
        rest = str_from(rest, rest.len > 0 && (rest.ptr[0] == ']' || rest.ptr[0] == ',')); /* macOS 26 */
    }
    termination_set_from_context(r, rest);
    report_set_fact(r, FACT_DESCRIPTION, rest);
    report_set_fact(r, FACT_ENDING, rest);
}
