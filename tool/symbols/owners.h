/* ==== >> symbols/owners ====
 * Job: whose code an address is, by rules.
 * Offers: owners, owners_image; owners_read, owners_find.
 * Never: knows a library.
 *
 * Whose code it is: a static library linked into a program has no image of its own, so rules tell its code
 * apart.
 *
 * A file of rules is text, one rule a line; the first rule that fits an address names its owner. Blank
 * lines and lines that begin with # count for nothing. Words are separated by blanks; OWNER is the rest of
 * the line after " = ".
 *
 *   linkmap FILE            what the linker's map (-map) says: libsdk.a(member.o), or a base name
 *   objects                 what the debug map (N_OSO) in the file itself says, named likewise
 *   object TEXT = OWNER     code whose object file or archive, by linkmap or objects, has TEXT in its path
 *   between A .. B = OWNER  the code from function A to function B, both included; symbols or addresses
 *   at ADDRESS              addresses in the `between` that follow are runtime ones of an image loaded here
 *   slide ADDRESS           the same, told by how far it slid; `slide 0`: addresses are the file's own
 *   prefix TEXT = OWNER     methods of Objective-C classes and functions whose name begins with TEXT; with a
 *                           slash in TEXT: code whose source path begins with TEXT, or has /TEXT in it
 *   all = OWNER             everything: below `image NAME` all of that image
 *   image NAME              the rules that follow are for this image only; `image *`: for all
 *
 * `object` goes by the maps of the same file of rules, before or after it. A relative FILE is taken from
 * where the rules lie. */
#ifndef MACHSYM_OWNERS_H
#define MACHSYM_OWNERS_H

#include "machsym.h"
#include "../../report/model/report.h"

typedef struct owners owners;
typedef struct owners_image owners_image;

owners *owners_new(void);
/* Adds the rules of a file, or one rule as a line of such a file has it. Returns false after a message. */
bool owners_read(owners *all, const char *path);
bool owners_add(owners *all, const char *rule);
/* For tables of options: reads rules from a file into the owners * that the field is, and makes them first.
 * If the file cannot be read, the command line is right all the same: owners_are_read tells of it. */
bool owners_take_rules(void *field, const char *path);
bool owners_are_read(const owners *all); /* true for no rules, too */
void owners_free(owners *all);

/* Makes the rules ready for an image: reads link maps, finds symbols. Returns NULL after a message. The
 * session and all must outlive it. */
owners_image *owners_open(const owners *all, const machsym_image *image, machsym_session *session);
void owners_close(owners_image *image);

/* The owner of an address; frame (may be NULL) is the function there. Empty when no rule fits. Lives until
 * close. */
machsym_str owners_find(owners_image *image, uint64_t addr, const machsym_frame *frame);
/* The same by what a report tells, for code whose file is not there: `prefix` and `all` can tell. */
report_rules owners_rules(const owners *all);

#endif
