/* ==== >> files/plist ====
 * Job: the text of one key of a property list.
 * Offers: plist_text.
 * Never: opens a file.
 *
 * Property lists, XML and binary: the text of one key. */
#ifndef MACHSYM_TOOL_PLIST_H
#define MACHSYM_TOOL_PLIST_H

#include "machsym.h"
#include "../../report/base/text.h"

typedef enum plist_found {
    PLIST_FOUND = 0,
    PLIST_NONE, /* the dictionary lacks the key, or has something else than text or a whole number there */
    PLIST_BAD   /* no property list, or a damaged one */
} plist_found;

/* Appends the text of a key, in UTF-8. dict names the dictionary in the root's that has it; NULL: the root's
 * has. Of equal keys the first counts. With PLIST_BAD *err says what is wrong and where. Linear in the
 * length. */
plist_found plist_text(machsym_str plist, const char *dict, const char *key, text *out, machsym_error *err);

#endif
