/* Options that several commands have; see takes.h. */
#include "takes.h"
#include "../../report/base/digits.h"
#include "../../report/base/text.h"
#include "machine.h"
#include "say.h"
#include "values.h"

#include <stdlib.h>
#include <string.h>

bool take_uuid(void *field, const char *value)
{
    uuid_option *to = field;
    to->is_set = parse_uuid(value, &to->uuid);
    if (!to->is_set)
        say_message("%s is no UUID: these have 32 hexadecimal digits, with or without dashes", value);
    return to->is_set;
}

bool take_lines(void *field, const char *value)
{
    lines_option *to = field;
    to->is_set = value_parse_lines(value, &to->lines);
    if (!to->is_set)
        say_message("--lines is one of atos, dwarf, stmt, people, not %s", value);
    return to->is_set;
}

bool take_jobs(void *field, const char *value)
{
    char *end;
    unsigned long jobs = strtoul(value, &end, 10);
    bool ok = value[0] >= '0' && value[0] <= '9' && *end == 0 && jobs > 0 && jobs <= MAX_JOBS;
    if (ok)
        *(unsigned *)field = (unsigned)jobs;
    else
        say_message("-j wants a number of threads from 1 to %d, not %s", MAX_JOBS, value);
    return ok;
}

bool take_full_names(void *field, const char *value)
{
    (void)value;
    *(uint32_t *)field &= ~(uint32_t)MACHSYM_DEMANGLE_SIMPLIFIED;
    return true;
}

bool take_best_line(void *field, const char *value)
{
    (void)value;
    *(uint32_t *)field |= MACHSYM_SESSION_BEST_LINE;
    return true;
}

bool take_names(void *field, const char *value)
{
    uint32_t *flags = field;
    bool is_symtab = strcmp(value, "symtab") == 0;
    *flags &= ~(uint32_t)(MACHSYM_SESSION_NAMES_SYMTAB | MACHSYM_SESSION_NAMES_DWARF);
    *flags |= (uint32_t)(is_symtab ? MACHSYM_SESSION_NAMES_SYMTAB : MACHSYM_SESSION_NAMES_DWARF);
    if (is_symtab || strcmp(value, "dwarf") == 0)
        return true;
    say_message("--names is one of symtab, dwarf, not %s", value);
    return false;
}

bool take_word(const char *option, const char *value, const char *const *words, unsigned count,
               unsigned *index)
{
    text list = {0};
    for (*index = 0; *index < count; ++*index) {
        if (strcmp(value, words[*index]) == 0)
            return true;
    }
    for (unsigned i = 0; i < count; i++) {
        text_c(&list, i > 0 ? ", " : "");
        text_c(&list, words[i]);
    }
    say_message("%s is one of %.*s, not %s", option, (int)list.len, list.v, value);
    text_free(&list);
    return false;
}
