/* ==== >> symbols/layout ====
 * Job: where a store has its files.
 * Offers: layout_path.
 * Never: looks whether they are there.
 *
 * Where a store that machsym keeps has its files: docs/store.md. */
#ifndef MACHSYM_TOOL_LAYOUT_H
#define MACHSYM_TOOL_LAYOUT_H

#include "machsym.h"
#include "../../report/base/text.h"

/* What a store keeps of a UUID lies at DIR/XX/UUID and an ending, XX the UUID's first two digits. */
#define LAYOUT_MAP    ".symmap"
#define LAYOUT_DSYM   ".dSYM"        /* a bundle of one slice: the file in it keeps the image's name */
#define LAYOUT_BINARY ".binary"      /* a folder with one slice of the program, which keeps its name too */
#define LAYOUT_PLIST  ".plist"       /* the Info.plist that tells the version */
#define LAYOUT_NAMES  ".bcsymbolmap" /* names that bitcode builds hid */

/* Appends the path of a UUID with an ending, and a NUL. */
void layout_path(text *out, const char *dir, const machsym_uuid *uuid, const char *ending);

#endif
