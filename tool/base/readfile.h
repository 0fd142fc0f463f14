/* ==== >> readfile ====
 * Job: reads files whole, and tells what the system says of them.
 * Offers: file_read, file_read_words, file_read_most, file_words_path, file_folder_len; file_read_begin,
 *          file_stat.
 * Never: waits for what never ends; looks into archives. */
#ifndef MACHSYM_TOOL_READFILE_H
#define MACHSYM_TOOL_READFILE_H

#include "machsym.h"
#include "../../report/base/text.h"
#include "posix.h"

/* The most that is read of a file or of standard input: reports and tables of real programs have a few
 * hundred megabytes at most, and a device may never end. */
enum { TEXT_FILE_MAX = 1 << 30 };

/* Appends a whole file; "-" is standard input. Nothing but a regular file is read, and nothing waits; but
 * for what the shell has opened, /dev/fd/N and /dev/stdin. Returns NULL, or why it cannot be read. */
const char *file_read(text *t, const char *path);
/* The same of what people write: a byte order mark, which editors put ahead, is left out. */
const char *file_read_words(text *t, const char *path);
/* The path of one of the files that were read so; NULL past the last one. */
const char *file_words_path(size_t index);
/* The same of a file that has no more bytes than most. What was read of a longer one is more than that. */
const char *file_read_most(text *t, const char *path, uint64_t most);
/* The length of a path's folder on this system, with its slash; 0: it names none. */
size_t file_folder_len(const char *path);

/* Reads the first bytes of a file, which tell its kind. Returns how many: 0 if it cannot be opened or read.
 * A failure of the system is reported by say_fault; another reason is left to the caller that opens the
 * file. Threads: any. */
size_t file_read_begin(const char *path, void *out, size_t len);
struct stat;
/* As stat, which returned 0. A failure of the system is reported by say_fault. errno
 * stays. Threads: any. */
bool file_stat(const char *path, struct stat *st);

#endif
