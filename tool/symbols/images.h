/* ==== >> symbols/images ====
 * Job: images that are open, shared by all threads.
 * Offers: image_pool, image_loan; images_open, images_borrow, images_return, loan_frames.
 * Never: opens a file twice.
 *
 * Opened images, shared by all threads: each file is opened once, and of images and what was decoded of them
 * the least recently used go again. */
#ifndef MACHSYM_TOOL_IMAGES_H
#define MACHSYM_TOOL_IMAGES_H

#include "machsym.h"
#include "../../report/base/text.h"
#include "../../report/model/status.h"
#include "chunks.h"
#include "objects.h"
#include "owners.h"
#include "source.h"
#include "store.h"

typedef struct image_pool image_pool;

/* How to open and look up. */
typedef struct images_options {
    const store *store;
    machsym_lines lines;
    uint32_t session_flags;
    uint32_t open_flags;            /* machsym_open_flags */
    unsigned jobs;                  /* threads that will ask at once */
    unsigned max_open;              /* images kept open beyond those in use; 0: 32 */
    uint64_t max_bytes;             /* of what is kept decoded of those not in use; 0: four times 256 MB */
    const char *const *map_folders; /* --bcsymbolmap */
    size_t map_folder_count;
    const owners *rules;           /* NULL: none */
    const object_options *objects; /* NULL: as debug maps name them */
    const char *const *folders;    /* where files of a UUID may appear while this runs: stores */
    size_t folder_count;
    chunk_cache *chunks; /* asked for what no file has; NULL: nothing is asked */
} images_options;

/* One thread's loan of an image, a Mach-O file or a map, to look addresses up in. */
typedef struct image_loan {
    struct shared_image *image;
    struct image_seat *seat;
} image_loan;

/* Whom one asks for: by UUID; or, where the user said which file it is, by name. */
typedef struct image_key {
    machsym_uuid uuid;
    bool has_uuid;
    bool any_build;     /* without a UUID: the user vouches that the file of that name is the one */
    bool is_for_tables; /* of a binary and a map, the binary: it has all tables, and code */
    machsym_str arch;
    machsym_str name;
} image_key;

/* How often images were asked for, and what is kept. */
typedef struct images_counts {
    uint64_t asked;     /* of those that there is a file for */
    uint64_t opened;    /* of these, files that were not open */
    uint64_t closed;    /* images that made room for others */
    uint64_t forgotten; /* times that what one thread had decoded of an image made room */
    uint64_t open;
    uint64_t bytes; /* decoded, of images that are not in use */
} images_counts;

image_pool *images_open(const images_options *how);
void images_close(image_pool *all);
/* Threads: any. */
images_counts images_count(image_pool *all);

/* Borrows an image. Returns false with *status when there is none. Threads: any. */
bool images_borrow(image_pool *all, const image_key *key, image_loan *out, image_status *status);
void images_return(image_pool *all, image_loan *loan);

/* Whether a file that was asked for could not be opened or is damaged, and no other file took its place.
 * Adds what was found wrong, one line for each file, sorted: files are opened in an order that threads decide. */
bool images_failed(image_pool *all, text *complaints);

/* Whether a runtime address lies in the image's __TEXT; true where the file does not tell its size. */
bool loan_holds(const image_loan *loan, uint64_t base, bool is_text_exec, uint64_t pc);
/* The frames at a runtime address; *file_addr is the address as printed, in the file. is_return: look one
 * byte before. base is where __TEXT was loaded, or __TEXT_EXEC. Names that a bitcode build hid are put right.
 * Names live until the next call. */
size_t loan_frames(const image_loan *loan, uint64_t base, bool is_text_exec, uint64_t pc, bool is_return,
                   machsym_frame *frames, size_t cap, uint64_t *file_addr);
/* The same, and how many functions share the code. */
size_t loan_shared_frames(const image_loan *loan, uint64_t base, bool is_text_exec, uint64_t pc,
                          bool is_return, machsym_frame *frames, size_t cap, uint64_t *file_addr,
                          size_t *sharing);
/* The address in the file that a runtime address stands for. */
uint64_t loan_addr(const image_loan *loan, uint64_t base, bool is_text_exec, uint64_t pc);
/* Puts right the names of frames that a bitcode build hid. */
void loan_unhide(const image_loan *loan, machsym_frame *frames, size_t count);
/* Whose code it is; empty without rules, and for maps, which know no objects. */
/* Why the last call found nothing, or not all: a chunk could not be had, or memory ran out; NULL: neither.
 * Lives until the next call. */
const char *loan_failure(const image_loan *loan);
/* Whether memory was out for one of the last answers, which then lacks something. The next ones begin
 * anew. */
bool loan_lacked_memory(const image_loan *loan);
machsym_str loan_owner(const image_loan *loan, uint64_t file_addr, const machsym_frame *frame);
/* The Mach-O file that answers; NULL: a map or chunks do. */
const machsym_image *loan_image(const image_loan *loan);
/* The same, or the map that answers; NULL: chunks do. */
const machsym_image *loan_tables(const image_loan *loan);
const symbol_info *loan_info(const image_loan *loan);
/* What frame_style.source wants. */
symbol_source *loan_source(const image_loan *loan);
/* A second source on the same file, for a thread that helps the borrower. Its names live as long as those of
 * loan_source. */
symbol_source *loan_second_source(const image_loan *loan);
/* The file that answers. */
const symbol_file *loan_file(const image_loan *loan);

#endif
