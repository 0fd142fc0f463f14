/* See names.h. */
#include "names.h"

void text_name(text *t, machsym_str name, uint32_t demangle_flags)
{
    size_t room = 1024;
    size_t len;
    if (name.len == 0)
        return;
    while ((len = machsym_name_text(name, demangle_flags, text_room(t, room), room)) >= room)
        room = len + 1;
    t->len += len;
}

void text_demangled(text *t, machsym_str name, uint32_t demangle_flags)
{
    size_t room = 1024;
    size_t len;
    while ((len = machsym_demangle(name, demangle_flags, text_room(t, room), room)) >= room)
        room = len + 1;
    t->len += len;
}
