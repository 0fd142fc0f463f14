/* ==== >> symbols/source ====
 * Job: looks addresses up in a Mach-O file, a map or chunks alike.
 * Offers: symbol_file, symbol_source, frame_style; symbol_file_open, symbol_source_open,
 * symbol_source_frames.
 * Never: looks for a file.
 *
 * What addresses are looked up in: a Mach-O file with its debug info, or a symbol map. Both answer alike. */
#ifndef MACHSYM_TOOL_SOURCE_H
#define MACHSYM_TOOL_SOURCE_H

#include "machsym.h"
#include "../../report/base/text.h"
#include "../base/room.h"
#include "chunks.h"

/* What is known of either. */
typedef struct symbol_info {
    machsym_str name;
    const char *path; /* of the file that was opened; NULL for bytes */
    const char *arch; /* static */
    machsym_uuid uuid;
    bool has_uuid;
    uint64_t text_addr;
    uint64_t text_size;      /* of a map: up to the end of the last code */
    uint64_t text_exec_addr; /* kernels only, else 0 */
    unsigned address_size;   /* 4 or 8 */
    bool has_dwarf;
    bool is_damaged; /* the file; of a map: what it was made of */
} symbol_info;

/* How to open one. A map answers for the line policy it was built for, and no other. */
typedef struct symbol_desc {
    machsym_open_desc open;
    machsym_lines lines;
    bool any_lines; /* take a map whatever its policy is */
    /* One address is asked for: debug info is not searched for damage, which would take longer than the
     * answer. Call open_say_met_damage afterwards. */
    bool asks_one;
} symbol_desc;

/* One of the two. Never changes after it is open: any number of threads may share it. */
typedef struct symbol_file {
    machsym_image *image;
    const machsym_map *map; /* that answers; NULL: the image is a Mach-O file */
    struct chunked *chunks; /* that have the map's ranges; NULL: the map has them itself */
    machsym_lines lines;
    symbol_info info;
} symbol_file;

bool symbol_uuid_is_none(const machsym_uuid *uuid); /* all zeros */

/* Opens either. On ERR_POLICY out->lines tells what the map was built for. Damage is not said: call
 * open_say_damage of out->image if the file is to answer. */
machsym_result symbol_file_open(const symbol_desc *desc, symbol_file *out, machsym_error *err);
/* The same, and says why it failed, or what is damaged unless one address is asked for. */
bool symbol_file_open_or_say(const symbol_desc *desc, symbol_file *out);
void symbol_file_close(symbol_file *file);
/* Bytes of .debug_info: what there is to decode of a file; 0 of a map. */
uint64_t symbol_file_info_bytes(const symbol_file *file);
/* The address in the file that a runtime address stands for. */
uint64_t symbol_file_addr(const symbol_file *file, uint64_t load_addr, uint64_t pc);

typedef struct symbol_source symbol_source;

/* How a frame is printed. */
typedef struct frame_style {
    bool full_path;
    bool raw_names; /* do not demangle */
    uint32_t demangle_flags;
    symbol_source *source; /* keeps the shown names of a map; may be NULL */
} frame_style;

/* One thread's lookups. Borrows the file. */
symbol_source *symbol_source_open(const symbol_file *file, uint32_t session_flags, size_t cache_limit);
struct room; /* see room.h */
/* The same for many lookups, with memory of a room; NULL: the C library's. Borrows the room. */
symbol_source *symbol_source_open_many(const symbol_file *file, uint32_t session_flags, size_t cache_limit,
                                       struct room *memory);
void symbol_source_close(symbol_source *source);
machsym_session *symbol_source_session(const symbol_source *source); /* NULL: a map answers */
/* NULL: no map answers, or its ranges lie in chunks. */
const machsym_map *symbol_source_map(const symbol_source *source);
/* The frames at an address of the file, innermost first. Returns how many; never more than cap.
 * Names and paths live until the next call, at least. */
size_t symbol_source_frames(symbol_source *source, uint64_t addr, machsym_frame *frames, size_t cap);
/* The frames of the next function that shares the code at an address, as machsym_session_next_folded_at_addr
 * tells them. Returns how many; never more than cap; 0 at the end, and at once for chunks. */
size_t symbol_source_next_folded(symbol_source *source, uint64_t addr, machsym_cursor *at,
                                 machsym_frame *frames, size_t cap);
/* The same, and how many functions share the code; 1 where that cannot be known. */
size_t symbol_source_shared_frames(symbol_source *source, uint64_t addr, machsym_frame *frames, size_t cap,
                                   size_t *sharing);
/* machsym_session_frames_of_stack; of chunks nothing. */
size_t symbol_source_stack(symbol_source *source, const machsym_stack_addr *pcs, size_t count,
                           machsym_stack_answer *calls, machsym_frame *frames, size_t cap);
/* How the failure begins of an answer that lacks what a file has; why the system could not read it
 * follows. */
extern const char symbol_unread[];
/* Why the last call found no frames, or not all that is known of them: a chunk could not be had, or memory
 * ran out (symbol_no_memory), then or before; NULL: neither. Lives until the next call. */
extern const char symbol_no_memory[];
const char *symbol_source_failure(const symbol_source *source);
/* Whether memory was out since it was asked last; then it forgets what it keeps. */
bool symbol_source_lacked_memory(symbol_source *source);
/* Bytes that it keeps: decoded units, and names as they were shown. */
size_t symbol_source_memory(const symbol_source *source);
/* How often names of a map's frames have gone; those of other files stay as long as the source. */
unsigned symbol_source_trims(const symbol_source *source);
/* The name of a frame as the style has it: in source form, or raw. */
void symbol_spell(text *t, const machsym_frame *frame, const frame_style *style);
/* The name of a frame as it is shown: names are made readable once. Empty when this one is not kept. Borrows:
 * of a source for many lookups, until it is closed; else until the next lookup. */
machsym_str symbol_source_shown(symbol_source *source, const machsym_frame *frame, const frame_style *style);
/* Adds that. Returns false, and adds nothing, when it is not kept. */
bool symbol_source_name(symbol_source *source, const machsym_frame *frame, const frame_style *style, text *t);
bool symbol_source_is_for_many(const symbol_source *source);

#endif
