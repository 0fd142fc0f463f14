/* ==== >> files/mail ====
 * Job: takes a mail apart (RFC 5322, 2045 to 2047, 2231): its text and what is attached, decoded.
 * Offers: mail_may_begin, mail_is, mail_is_encoded, mail_take_apart.
 * Never: reads a file; takes a name in a mail for a path. */
#ifndef MACHSYM_TOOL_MAIL_H
#define MACHSYM_TOOL_MAIL_H

#include "../../report/base/text.h"
#include "machsym.h"

enum {
    MAIL_HEAD = 1 << 16, /* bytes that the fields ahead of a mail's body may have */
    MAIL_MAX_PARTS = 4096,
    MAIL_MAX_DEPTH = 8 /* parts in parts: an answer to an answer has two or three */
};

/* Whether more bytes may show a mail: there are only fields so far. */
bool mail_may_begin(machsym_str head);
/* Whether bytes begin as a mail does: with fields, and one is MIME-Version. */
bool mail_is(machsym_str begin);
/* Whether a part of a mail is written as base64 or quoted-printable. */
bool mail_is_encoded(machsym_str mail);
/* Appends the contents of all parts, of each mail of a mailbox, and shows where each stands in out. name:
 * without folders, of the part or made up; it holds as long as the call of add. Returns false when the end of
 * the parts is missing, or add says so. */
bool mail_take_apart(machsym_str mail, text *out,
                     bool (*add)(void *user, machsym_str name, size_t at, size_t len), void *user);

#endif
