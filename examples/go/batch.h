/* What Go calls: one call opens, and one call answers a whole stack, with every text ready, so that the price of a cgo
 * call is paid once a stack. */
#ifndef BATCH_H
#define BATCH_H

#include "../../machsym.h"

/* An image with a session, or a map. */
typedef struct batch batch;

/* Opens a .symmap or a Mach-O file or bundle; arch may be NULL. On failure NULL, and a message in text. */
batch *batch_open(const char *path, const char *arch, int lines, char *text, size_t cap);
void batch_close(batch *b);

/* Looks up count addresses: runtime ones of an image loaded at load when is_runtime, else the file's. Writes into out,
 * in the host's byte order: for each address u32 count of frames; for each frame, innermost first,
 *   u64 function start, u64 function size, u32 line, u32 column, u32 is inlined, u32 name source, u32 line source,
 *   u32 lengths of name (demangled), linkage name, file; then these three texts.
 * Returns: how many bytes that takes, even if more than cap (then nothing of use is in out). */
size_t batch_stack(batch *b, int is_runtime, uint64_t load, const uint64_t *addrs, size_t count, char *out,
                   size_t cap);

#endif
