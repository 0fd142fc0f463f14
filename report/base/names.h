/* ==== >> base/names ====
 * Job: mangled names in source form.
 * Offers: text_name, text_demangled.
 * Never: decides which name counts. */
#ifndef REPORT_NAMES_H
#define REPORT_NAMES_H

#include "machsym.h"
#include "text.h"

/* Appends a linkage name demangled, or the mangled parts of a name from metadata. */
void text_name(text *t, machsym_str name, uint32_t demangle_flags);
/* Appends a name in source form. Other names are appended unchanged. */
void text_demangled(text *t, machsym_str name, uint32_t demangle_flags);

#endif
