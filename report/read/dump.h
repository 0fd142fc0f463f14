/* ==== >> read/dump ====
 * Job: the remains of a dead process, as the text of a crash report.
 * Offers: dump_register_of, dump_add_image, dump_add_thread, dump_index_threads, dump_find_thread,
 * dump_add_memory, dump_note, dump_take_text, dump_sort_memory, dump_bytes_at, dump_put_info, dump_put,
 * dump_free.
 * Never: knows the format of a file.
 *
 * Minidumps and core files have the same parts: threads with registers, memory, and images with addresses.
 * Their readers fill a dump, which is written when it is complete. */
#ifndef MACHSYM_TOOL_DUMP_H
#define MACHSYM_TOOL_DUMP_H

#include "../base/text.h"
#include "../base/memory.h"
#include "../model/tables.h"
#include "decoded.h"
#include "machsym.h"

/* Processor types, in Mach-O's numbering. */
enum { DUMP_CPU_X86_64 = 0x01000007, DUMP_CPU_ARM64 = 0x0100000c };

/* ---- Registers ---- */

/* Which registers a state contains. */
enum { DUMP_CONTROL = 1 /* the program counter and the like */, DUMP_INTEGER = 2, DUMP_ALL = 3 };

/* The place of a register in the bytes of a state. */
typedef struct dump_register {
    const char *name; /* as in Apple's text */
    uint16_t at;
    uint8_t size; /* 4 or 8 */
    uint8_t group;
} dump_register;

/* The layout of a processor's registers in a state. */
typedef struct dump_layout {
    uint32_t cputype;
    const char *arch;
    const char *title; /* in Apple's words: ARM Thread State (64-bit) */
    const char *pc;
    const char *sp;
    const char *fp;
    const char *lr; /* NULL: a call puts the return address on the stack */
    const dump_register *v;
    uint32_t count;
} dump_layout;

/* The rows of arm64's registers, which have the same order everywhere. */
#define DUMP_ARM64_X(first, i)                                                                               \
    {                                                                                                        \
        "x" #i, (first) + 8 * (i), 8, DUMP_INTEGER                                                           \
    }
#define DUMP_ARM64(first, cpsr_at)                                                                           \
    DUMP_ARM64_X(first, 0), DUMP_ARM64_X(first, 1), DUMP_ARM64_X(first, 2), DUMP_ARM64_X(first, 3),          \
        DUMP_ARM64_X(first, 4), DUMP_ARM64_X(first, 5), DUMP_ARM64_X(first, 6), DUMP_ARM64_X(first, 7),      \
        DUMP_ARM64_X(first, 8), DUMP_ARM64_X(first, 9), DUMP_ARM64_X(first, 10), DUMP_ARM64_X(first, 11),    \
        DUMP_ARM64_X(first, 12), DUMP_ARM64_X(first, 13), DUMP_ARM64_X(first, 14), DUMP_ARM64_X(first, 15),  \
        DUMP_ARM64_X(first, 16), DUMP_ARM64_X(first, 17), DUMP_ARM64_X(first, 18), DUMP_ARM64_X(first, 19),  \
        DUMP_ARM64_X(first, 20), DUMP_ARM64_X(first, 21), DUMP_ARM64_X(first, 22), DUMP_ARM64_X(first, 23),  \
        DUMP_ARM64_X(first, 24), DUMP_ARM64_X(first, 25), DUMP_ARM64_X(first, 26), DUMP_ARM64_X(first, 27),  \
        DUMP_ARM64_X(first, 28), {"fp", (first) + 232, 8, DUMP_CONTROL},                                     \
        {"lr", (first) + 240, 8, DUMP_CONTROL}, {"sp", (first) + 248, 8, DUMP_CONTROL},                      \
        {"pc", (first) + 256, 8, DUMP_CONTROL},                                                              \
    {                                                                                                        \
        "cpsr", cpsr_at, 4, DUMP_CONTROL                                                                     \
    }

typedef struct dump_state {
    const dump_layout *layout; /* NULL: the registers are unknown */
    machsym_str bytes;         /* at least as long as the layout needs */
    unsigned groups;
} dump_state;

/* Returns false if the state lacks the register. */
bool dump_register_of(const dump_state *state, const char *name, uint64_t *out);

/* ---- A dead process ---- */

typedef struct dump_thread {
    uint64_t id;
    machsym_str name;
    dump_state state;
    dump_state trap; /* the registers with the reason why it stopped */
    bool crashed;
    bool is_asked; /* it asked for a dump without a crash: its registers are written */
} dump_thread;

/* The index of a thread, by its number. */
typedef struct dump_number {
    uint64_t id;
    uint32_t index;
} dump_number;

/* Memory at an address. */
typedef struct dump_memory {
    uint64_t base;
    machsym_str bytes;
    uint32_t index; /* in the file */
} dump_memory;

/* How the frames of a dump were found, in the order in which dump_put writes them. */
typedef struct dump_walks {
    const report_tables *tables; /* NULL: no files of images */
    const char **v;              /* static words */
    uint32_t count;
    uint32_t cap;
} dump_walks;

/* The tables of an image. */
typedef struct dump_tables {
    machsym_unwind_image unwind;
    const machsym_image *file; /* NULL: none */
    bool is_asked;
    bool has_some;
} dump_tables;

typedef struct dump {
    mem_source *memory_source; /* NULL: the heap */
    size_t file_len;           /* the output is bounded in proportion to it */
    size_t text_left;          /* bytes of names and texts that may still be taken */
    const char *what;          /* the first damage; NULL: no damage */
    size_t damaged_at;
    text head;  /* lines before the exception */
    text event; /* lines of the exception */
    text info;  /* lines of Application Specific Information */
    text tail;  /* lines after the images */
    pool strings;
    uint32_t cputype;  /* 0: unknown */
    bool has_bad_jump; /* the process died while it fetched the instruction at its pc */
    decoded_image *images;
    uint32_t image_count;
    uint32_t image_cap;
    dump_walks *walks;         /* NULL: tables are not used, and frame pointers find all frames */
    dump_tables *tables;       /* for each image, once the images are sorted */
    uint64_t table_left;       /* bytes of tables that may still be searched */
    machsym_unwind_image bare; /* of an image whose tables are unknown: where it lies */
    dump_thread *threads;
    uint32_t thread_count;
    uint32_t thread_cap;
    dump_number *numbers; /* the threads by number, as of dump_index_threads */
    uint32_t number_count;
    dump_memory *memory;
    uint32_t memory_count;
    uint32_t memory_cap;
} dump;

/* Initializes an empty dump. walks: with the files of images; may be NULL. file_len: the output is bounded in proportion to it. text_left: bytes of names
 * and texts that may be taken. */
void dump_begin(dump *d, mem_source *memory, dump_walks *walks, size_t file_len, size_t text_left);
decoded_image *dump_add_image(dump *d);
dump_thread *dump_add_thread(dump *d);
/* dump_index_threads sorts the numbers of the threads. dump_find_thread then returns the first thread with a
 * number; NULL: no such thread. */
void dump_index_threads(dump *d);
dump_thread *dump_find_thread(dump *d, uint64_t id);
void dump_add_memory(dump *d, uint64_t base, machsym_str bytes);
/* Notes damage at a byte of the file. Only the first is reported. */
void dump_note(dump *d, size_t at, const char *what);
/* Copies a name or text of the file; it lives as long as the dump. Texts of the file may overlap, so their
 * total is bounded by text_left. at: the place of this one. */
machsym_str dump_take_text(dump *d, machsym_str plain, size_t at);
/* dump_sort_memory sorts the memory. dump_bytes_at then returns the bytes from an address on; empty if there
 * are none. */
void dump_sort_memory(dump *d);
machsym_str dump_bytes_at(const dump *d, uint64_t addr);
/* Adds an escaped line of Application Specific Information. source: the library that wrote the message. */
void dump_put_info(dump *d, machsym_str source, machsym_str message);
/* Writes the report. Sorts the images and the memory. */
void dump_put(dump *d, text *out);
void dump_free(dump *d);

#endif
