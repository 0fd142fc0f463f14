/* ==== >> symbols/bcsymbolmap ====
 * Job: the names that bitcode builds hid.
 * Offers: bcsymbolmap_open, bcsymbolmap_find, bcsymbolmap_name.
 * Never: guesses a name.
 *
 * BCSymbolMap: a text file whose line N is the name that bitcode builds replaced by "__hidden#N_". */
#ifndef MACHSYM_TOOL_BCSYMBOLMAP_H
#define MACHSYM_TOOL_BCSYMBOLMAP_H

#include "machsym.h"

typedef struct bcsymbolmap bcsymbolmap;

/* Reads a map. Returns NULL for other files. Never changes after: any number of threads may ask. */
bcsymbolmap *bcsymbolmap_open(const char *path);
void bcsymbolmap_close(bcsymbolmap *map);
/* Finds and reads the map of an image: named by its UUID, or by the one that the plist of its dSYM gives
 * as the original, in one of the folders (archives, or the files themselves), beside the dSYM, or in the
 * archive's BCSymbolMaps. Returns NULL when there is none. */
bcsymbolmap *bcsymbolmap_find(const char *image_path, const machsym_uuid *uuid, const char *const *folders,
                              size_t folder_count);
/* The file. */
machsym_str bcsymbolmap_text(const bcsymbolmap *map);
/* Whether a name of a frame is hidden: for others no map has to be found. */
bool bcsymbolmap_hides(const machsym_frame *frame);
/* The name after a hidden one; any other name as it is. */
machsym_str bcsymbolmap_name(const bcsymbolmap *map, machsym_str name);
/* The same of all names of a frame. */
void bcsymbolmap_unhide(const bcsymbolmap *map, machsym_frame *frame);

#endif
