/* ==== >> symbols/folded ====
 * Job: the functions that share the code of a frame, asked of a source.
 * Offers: folded_find, folded_put_json.
 * Never: chooses one of them. */
#ifndef MACHSYM_TOOL_FOLDED_H
#define MACHSYM_TOOL_FOLDED_H

#include "machsym.h"
#include "../../report/base/text.h"
#include "../../report/look/shared.h"
#include "source.h"

/* Fills the list with the functions that share the code at an address with the one of a frame. Lives until
 * the next lookup. */
void folded_find(symbol_source *source, uint64_t addr, const machsym_frame *own, const frame_style *style,
                 shared_list *list);
/* Puts the member "folded", unless the list is empty. */
void folded_put_json(text *t, const shared_list *list, uint64_t addr, const frame_style *style);

#endif
