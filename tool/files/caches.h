/* ==== >> files/caches ====
 * Job: opens dyld shared caches once, also in archives.
 * Offers: cache_open, cache_open_image, cache_next_entry, cache_forget.
 * Never: looks an address up.
 *
 * Dyld shared caches, also in archives, where all files of one are unpacked into memory when it is opened.
 * Wherever the tool takes a Mach-O file it also takes an image of a cache: CACHE and --entry, or
 * CACHE/usr/lib/libobjc.A.dylib, or CACHE and the UUID of the image. A cache stays open until the program
 * ends or cache_forget: so its files are opened once, however many of its images are. */
#ifndef MACHSYM_TOOL_CACHES_H
#define MACHSYM_TOOL_CACHES_H

#include "machsym.h"
#include "../../report/base/text.h"

/* Whether a file begins as the files of a shared cache do. */
bool cache_is_at(const char *path);
/* The open cache at a path; NULL when it does not open, with err why. Threads: any. */
const machsym_image *cache_open(const char *path, uint32_t flags, machsym_error *err);
/* Closes all caches that cache_open opened, once nothing uses them any more. */
void cache_forget(void);
/* Opens a cache for its list of images alone, without its other files in an archive. *content, which is
 * empty before, is to be freed after the image. Returns NULL with *err. */
machsym_image *cache_open_lists(const char *path, text *content, machsym_error *err);
/* Whether an open image is a cache as a whole, which has a UUID and a list of images, and answers nothing. */
bool cache_is(const machsym_image *image);
/* The next image of a cache that has a name. No more than 16,384 records are looked at: real caches have
 * 3,500, and finding each by its name compares it with all. */
bool cache_next_entry(const machsym_image *cache, machsym_cursor *at, machsym_entry *out);

/* The bytes of all files of a cache; of any other image those of its file. */
uint64_t cache_bytes(const machsym_image *image);
/* Whether a file is the main one of a cache: the others list no images. */
bool cache_has_images(const char *path);
/* The UUID of an image of a cache; old caches do not tell it, their images do. Returns false when there is
 * none. */
bool cache_entry_uuid(const machsym_image *cache, const machsym_entry *entry, machsym_uuid *uuid);
/* Opens the image of a cache that a description is about. Returns false when it is about none. Threads:
 * any. */
bool cache_open_image(const machsym_open_desc *desc, machsym_image **out, machsym_error *err);
/* Whether a file of a cache is not there; of one image of it only the file with local symbols counts, as
 * its own damage tells of what else it lacks. */
bool cache_lacks_files(const machsym_image *image);
/* Says of each such file what is lacking for it. */
void cache_say_files(const machsym_image *cache);
/* What a status means for people: "found", "missing" and so on. */
const char *cache_file_status(machsym_cache_file_status status);

#endif
