/* The layout of stores; see layout.h. */
#include "layout.h"

void layout_path(text *out, const char *dir, const machsym_uuid *uuid, const char *ending)
{
    text written = {0};
    text_uuid(&written, uuid);
    text_c(out, dir);
    text_char(out, '/');
    text_add(out, written.v, 2);
    text_char(out, '/');
    text_add(out, written.v, written.len);
    text_c(out, ending);
    text_add(out, "", 1);
    text_free(&written);
}
