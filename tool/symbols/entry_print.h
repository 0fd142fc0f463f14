/* ==== >> symbols/entry_print ====
 * Job: prints entries of debug info the way llvm-dwarfdump prints them.
 * Offers: entry_put_unit, entry_put_one, entry_put_line.
 * Never: chooses what is printed. */
#ifndef MACHSYM_TOOL_ENTRY_PRINT_H
#define MACHSYM_TOOL_ENTRY_PRINT_H

#include "../../report/base/text.h"
#include "entries.h"
#include "machsym.h"

/* The header of a unit, and its first entry. */
void entry_put_unit(text *t, entries *all, const entry_unit *unit);
/* An entry, indented by a number of columns. */
void entry_put_one(text *t, entries *all, uint64_t offset, unsigned indent);
/* The row of a line table, and where a function is declared. row is NULL and function 0 when there is none;
 * without both no line is printed. */
void entry_put_line(text *t, entries *all, const machsym_line *row, uint64_t function);

#endif
